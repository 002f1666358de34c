"""How many people may play."""

from __future__ import annotations

from interpreter.base.frozen import dataclass

__all__ = ["PlayerRange"]


@dataclass(frozen=True, slots=True)
class PlayerRange:
    """How many people may play, and why not another number."""

    low: int
    high: int
    otherwise: str = ""

    def __contains__(self, players: int) -> bool:
        return self.low <= players <= self.high
