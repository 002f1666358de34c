"""Whole games in a module: calls, and their results as rows, records and sums.

See :mod:`interpreter.compiler.wasm.driver` for records and sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec import Struct

from interpreter.compiler.codegen.shapes import WORD, Unsupported, signed
from interpreter.compiler.wasm.driver import BOT_STREAM, ENTRY, LONG, NOTE, PLACES
from interpreter.compiler.wasm.instance import Trap
from interpreter.compiler.wasm.module import ASKED, Compiled
from interpreter.kernel.chance import Draws
from interpreter.lowering.constants import MAXIMUM_STILL
from interpreter.plain.machine import Code

__all__ = ["GAMES_ALONE", "MEASURED", "SUMMED", "Games", "Playout", "Whole"]

GAMES_ALONE, MEASURED, SUMMED = range(3)
"""Modes of playing games: without measurements, with records, with records and sums."""
NEVER = 2**31 - 1
MOST_GIVEN_UP = 4
"""A module is no longer used once it has given up more games than this, and more than it has played."""


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
    """Plays whole games in a module, by a bot on each of the first seats; no other seat may decide."""

    def __init__(self, built: Compiled) -> None:
        self.built = built
        instance, numbers = built.instance, built.numbers
        self._games, self._play_out = (instance.function(name, long=True) for name in ("games", "play_out"))
        self._calm, self._note, self._follow = map(instance.function, ("calm", "note", "follow"))
        self._words, self._longs, self._bytes = instance.words, instance.longs, instance.bytes
        self._seats = len(built.builder.constants.seats)
        self._rows, self._row, self._ranks, self._width = (
            numbers[name] // LONG for name in ("rows", "row_bytes", "ranks", "rank_bytes")
        )
        self._count, self._made = 2 * self._rows + 2, numbers["made"] // WORD
        """Where the choices of the first row are counted, and those that followed notes."""
        self._done = self._given_up = 0
        """Numbers of games that are done, and of calls in which the first game trapped."""
        self._finished, self._known, self._records_end = (
            numbers[name] // WORD for name in ("finished", "known", "records_end")
        )

    @property
    def gives_up(self) -> bool:
        """Return whether the module has trapped in too many games to be of use."""
        return self._given_up > max(MOST_GIVEN_UP, self._done)

    def games(self, seeds: Sequence[int], bots: Sequence[int], limit: int, what: int = MEASURED) -> Games:
        """Play a game for each of these seeds, at most :data:`MOST_GAMES`.

        Stop before a game in which the module traps or, with sums, for which there is no room.
        """
        self.built.leave()
        for number, seed in enumerate(seeds):
            self._longs[self._rows + number * self._row] = signed(seed)
        is_all = self._played(bots, lambda: self._games(len(seeds), limit, what))
        return self._told(is_left_out=is_all == 0)

    def rest(self, data: bytes, seed: int, bots: Sequence[int], limit: int) -> Games:
        """Play the rest of a game from a state, by bots whose streams begin with a seed."""
        self._lay(data)
        for seat in range(self._seats):
            self.built.begin_stream(seat, Draws(seed, BOT_STREAM.format(seat)))
        self._played(bots, lambda: self._play_out(0, limit, MAXIMUM_STILL, 1))
        return self._told()

    def noted(self, seed: int, bots: Sequence[int], limit: int, called: bytes) -> bytes:
        """Play a game, at most to a number of choices: fewer if the module traps. Return notes of its decisions.

        ``called`` are hashes of how the decisions are called, by stretch (:attr:`Table.called`).
        """
        self._play(seed, bots, called, lambda: self._note(limit))
        records = self.built.numbers["records"]
        return self._bytes[records : records + self._words[self._count] * NOTE].tobytes()

    def choice(self, notes: bytes, number: int, index: int) -> Code | None:
        """Return the choice of a note, at a decision of the stretch ``index``; None if there is no such note."""
        note = notes[number * NOTE : (number + 1) * NOTE]
        return self.built.code_in(note, LONG, index) if note else None

    def followed(self, seed: int, notes: bytes, called: bytes, limit: int) -> int:
        """Make the choices of a game with the same seed in this one, as long as the decisions are as noted, at most to
        a number of choices. Return their number."""
        records = self.built.numbers["records"]
        notes = notes[: limit * NOTE]
        self._bytes[records : records + len(notes)] = notes
        self._play(seed, (), called, lambda: self._follow(len(notes) // NOTE))
        return self._words[self._made]

    def _play(self, seed: int, bots: Sequence[int], called: bytes, play: Callable[[], int]) -> None:
        at = self.built.numbers["called"]
        self._bytes[at : at + len(called)] = called
        self._words[self._count] = self._words[self._made] = 0
        with suppress(Trap):
            self.built.start(seed)
            self._played(bots, play)

    def _lay(self, data: bytes) -> None:
        self.built.leave()
        self.built.restore(data)

    def _played(self, bots: Sequence[int], play: Callable[[], int]) -> int | None:
        """Play with bots on the first seats. Return None if the module traps."""
        self._words[self._finished] = self._words[self._known] = 0
        for seat, bot in enumerate(bots):
            self.built.sit(seat, bot)
        try:
            return play()
        except Trap:
            self._calm()
            return None
        finally:
            for seat in range(len(bots)):
                self.built.sit(seat, None)

    def _told(self, *, is_left_out: bool = False) -> Games:
        first, end = self._rows, self._rows + self._words[self._finished] * self._row
        self._done += self._words[self._finished]
        self._given_up += not self._words[self._finished]
        longs, words, known = self._longs[first:end], self._words[2 * first : 2 * end], self._words[self._known]
        decisions, free, rounds, *of_seats = (
            words[at :: 2 * self._row].tolist()
            for at in (2, 3, 4, *range(PLACES // WORD, PLACES // WORD + self._seats))
        )
        keys = [
            [longs[at :: self._row].tolist() for at in range(seat, seat + self._width)]
            for seat in range(self._ranks, self._ranks + self._seats * self._width, self._width or 1)
        ] or [[] for _ in range(self._seats)]
        entries = self.built.numbers["entries"]
        sums = memoryview(self._bytes[entries : entries + known * ENTRY].tobytes()).cast("q")
        return Games(decisions, free, rounds, list(zip(*of_seats, strict=True)), keys, sums, is_left_out)

    @property
    def records(self) -> bytes:
        return self._bytes[self.built.numbers["records"] : self._words[self._records_end]].tobytes()

    def playout(self, data: bytes, first: Code, stream: Draws, bots: Sequence[int], limit: int) -> Playout | None:
        """Apply a choice to a state, then let bots with one stream play to the end; return None if the module traps."""
        self._lay(data)
        self.built.begin_stream(0, stream)
        try:
            option = self.built.write(self._words[ASKED], first)
        except Unsupported:
            return None
        if self._played(bots, lambda: self._play_out(option, limit, NEVER, 0)) is None:
            return None
        if self._words[self._count] >= limit:
            return Playout(None)
        if not self._words[self._finished]:  # somebody else decides
            return None
        starts = (self._rows + self._ranks + seat * self._width for seat in range(self._seats))
        return Playout(tuple(tuple(self._longs[at : at + self._width]) for at in starts))
