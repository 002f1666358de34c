"""Numbers of players."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.yaml_values import Mapping, Value, word

__all__ = ["MAXIMUM_PLAYERS", "PlayerRange", "player_range"]

MAXIMUM_PLAYERS = 12
_RANGE = re.compile(r"(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")


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

    @property
    def text(self) -> str:
        """The text from which :func:`player_range` reads it, without overlays."""
        return f"{self.low}..{self.high}" if self.low != self.high else str(self.low)

    def __contains__(self, players: int) -> bool:
        return self.low <= players <= self.high

    def __and__(self, other: PlayerRange) -> PlayerRange:
        """Return the numbers that both allow; reasons and overlays of ``other`` override those of this one."""
        low, high, overlays = max(self.low, other.low), min(self.high, other.high), dict(self.overlays + other.overlays)
        return PlayerRange(
            low,
            high,
            other.otherwise or self.otherwise,
            tuple((number, overlay) for number, overlay in overlays.items() if low <= number <= high),
            other.because or self.because,
        )

    @property
    def usual(self) -> int:
        """Smallest number of players that needs no overlay."""
        needed = dict(self.overlays)
        return next((number for number in range(self.low, self.high + 1) if number not in needed), self.low)


def player_range(value: Value | None) -> PlayerRange | None:
    """Read ``3``, ``3..6`` or a mapping with ``range``, ``otherwise``, ``with`` and ``because``."""
    if isinstance(value, Mapping):
        from interpreter.sections.atoms import PlayersKeys  # a game from the cache needs the ranges alone

        keys = PlayersKeys(value)
        overlays = tuple((int(number.text), word(overlay)) for number, overlay in keys.with_)
        limits = player_range(keys.range)
        return limits and replace(limits, otherwise=keys.otherwise, overlays=overlays, because=keys.because)
    match = _RANGE.fullmatch(word(value))
    return PlayerRange(int(match[1]), int(match[2] or match[1])) if match else None
