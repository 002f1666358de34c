"""Number of players."""

from __future__ import annotations

from interpreter.base.frozen import dataclass

__all__ = ["PlayerRange"]


@dataclass(frozen=True, slots=True)
class PlayerRange:
    """Allowed number of players, and why others are not.

    ``overlays`` says which overlay a game of so many takes in, and ``because`` why it does.
    """

    low: int
    high: int
    otherwise: str = ""
    overlays: tuple[tuple[int, str], ...] = ()
    because: str = ""

    def __str__(self) -> str:
        return f"{self.low} to {self.high}" if self.low != self.high else str(self.low)

    def __contains__(self, players: int) -> bool:
        return self.low <= players <= self.high

    @property
    def usual(self) -> int:
        """The fewest who play without an overlay for their number."""
        taking = dict(self.overlays)
        return next((number for number in range(self.low, self.high + 1) if number not in taking), self.low)
