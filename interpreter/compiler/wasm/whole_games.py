"""Whole games in a module: calls, and their results as rows, records and sums.

See :mod:`interpreter.compiler.wasm.whole_layout` for records and sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct

from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.shapes import WORD, Unsupported, signed
from interpreter.compiler.wasm.instance import Trap
from interpreter.compiler.wasm.module import Compiled
from interpreter.compiler.wasm.whole_layout import ENTRY, LONG, ROW, places
from interpreter.kernel.chance import Draws
from interpreter.plain.machine import Code

__all__ = ["GAMES_ALONE", "MEASURED", "SUMMED", "Games", "Playout", "Whole"]

GAMES_ALONE, MEASURED, SUMMED = range(3)
"""Modes of playing games: without measurements, with records, with records and sums."""


class Playout(Struct, frozen=True):
    """Result of a playout: the ranking keys of the seats, or None if it hit the limit of decisions."""

    keys: tuple[tuple[int, ...], ...] | None


@dataclass(slots=True)
class Games:
    """Whole games in parallel lists.

    ``keys`` has for each seat its ranking keys. ``sums`` aggregate all games, except the last if ``is_left_out``.
    """

    decisions: list[int]
    free: list[int]
    rounds: list[int]
    places: list[tuple[int, ...]]
    keys: list[list[list[int]]]
    sums: memoryview
    is_left_out: bool

    def __len__(self) -> int:
        return len(self.decisions)

    def totals(self) -> Iterator[tuple[int, int, int, int, int, int, int]]:
        """Return the sums: key, additions, values other than none, total, minimum, maximum, sum of squares."""
        words, size = self.sums, ENTRY // LONG
        squares = words.cast("B").cast("d")[8::size]
        return zip(words[::size], *(words[at::size] for at in range(3, 8)), map(int, squares), strict=True)


class Whole:
    """Plays whole games in a module. The bots stay seated between calls."""

    def __init__(self, built: Compiled) -> None:
        self.built = built
        instance = built.instance
        self._games, self._rest = instance.function("games", long=True), instance.function("rest", long=True)
        self._playout = instance.function("playout", long=True)
        self._calm, self._seat = instance.function("calm"), instance.function("seat")
        self._words, self._longs, self._bytes = instance.words, instance.longs, instance.bytes
        areas = built.whole
        self._rows, self._entries, self._records = areas["rows"] // LONG, areas["entries"], areas["records"]
        self._out = areas["players"] // WORD
        self._asked = STATE // WORD + 1
        self._options = built.addresses["options"]
        self._seats = len(built.builder.constants.seats)
        self._ranks, self._width, self._row = (size // LONG for size in places(built.builder))
        self._seated: tuple[int, ...] = ()

    def seat(self, bots: Sequence[int]) -> None:
        """Put bots on the first seats; no other seat may decide."""
        if self._seated != tuple(bots):
            for seat, bot in enumerate(bots):
                self._seat(seat, bot, 0)
            self._words[self._out] = len(bots)
            self._seated = tuple(bots)

    def games(self, seeds: Sequence[int], bots: Sequence[int], limit: int, what: int = MEASURED) -> Games:
        """Play a game for each of these seeds, at most :data:`MOST_GAMES`.

        Stop before a game in which the module traps or, with sums, for which there is no room.
        """
        self.built.leave()
        self.seat(bots)
        for number, seed in enumerate(seeds):
            self._longs[self._rows + number * self._row] = signed(seed)
        return self._played(lambda: self._games(len(seeds), limit, what))

    def rest(self, data: bytes, seed: int, bots: Sequence[int], limit: int) -> Games:
        """Play the rest of a game from a state, by bots whose streams begin with a seed."""
        self._lay(data, bots)
        return self._played(lambda: self._rest(signed(seed), limit))

    def _played(self, play: Callable[[], int]) -> Games:
        is_all = 1
        self._words[self._out + 1] = self._words[self._out + 3] = 0
        try:
            is_all = play()
        except Trap:
            self._calm()
        _, done, _, known = self._words[self._out : self._out + 4].tolist()
        first, end = self._rows, self._rows + done * self._row
        longs, words = self._longs[first:end], self._words[2 * first : 2 * end]
        decisions, free, rounds, *places = (
            words[at :: 2 * self._row].tolist() for at in (2, 3, 4, *range(ROW // WORD, ROW // WORD + self._seats))
        )
        keys = [
            [longs[at :: self._row].tolist() for at in range(seat, seat + self._width)]
            for seat in range(self._ranks, self._ranks + self._seats * self._width, self._width or 1)
        ] or [[] for _ in range(self._seats)]
        sums = memoryview(self._bytes[self._entries : self._entries + known * ENTRY].tobytes()).cast("q")
        return Games(decisions, free, rounds, list(zip(*places, strict=True)), keys, sums, not is_all)

    @property
    def records(self) -> bytes:
        return self._bytes[self._records : self._words[self._out + 2]].tobytes()

    def _lay(self, data: bytes, bots: Sequence[int]) -> None:
        self.built.leave()
        self.built.restore(data)
        self.seat(bots)

    def keys(self) -> tuple[tuple[int, ...], ...]:
        """Return the ranking keys of the seats after a single game."""
        start, width = self._rows + self._ranks, self._width
        return tuple(tuple(self._longs[start + at * width :][:width].tolist()) for at in range(self._seats))

    def playout(self, data: bytes, first: Code, stream: Draws, bots: Sequence[int], limit: int) -> Playout | None:
        """Apply a choice to a state, then let bots with one stream play to the end; return None if the module traps."""
        self._lay(data, bots)
        try:
            option = self.built.record(self._words[self._asked], first)
            self._bytes[self._options : self._options + len(option)] = option
            decisions = self._playout(self._options, stream.signed_origin, stream.used, limit)
        except (Trap, Unsupported):
            return None
        return Playout(self.keys() if decisions < limit else None)
