"""Number of players."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["PlayerRange"]


class PlayerRange(Struct, frozen=True):
    """Allowed numbers of players. ``otherwise`` is the reason why other numbers are not allowed.

    ``overlays`` are the overlays that games with some numbers of players need, and ``because`` is the reason.
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
        """Smallest number of players that needs no overlay."""
        needed = dict(self.overlays)
        return next((number for number in range(self.low, self.high + 1) if number not in needed), self.low)
