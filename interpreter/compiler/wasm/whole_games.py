"""Whole games in a module: calls, and their results as rows, records and sums.

The functions are written by hand in ``whole.wat``. A *record* is one measured number with a key
(:mod:`interpreter.compiler.build.measure_functions`). A *sum* aggregates the records of many games under a key: see
:data:`Head`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpreter.base.frozen import dataclass as frozen
from interpreter.compiler.build.measure_functions import MEASURE, OF_BITS, ROUND, ROUND_BITS, KeyPart, key_parts
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, Unsupported, halves, signed
from interpreter.compiler.wasm.runtime import written
from interpreter.kernel.chance import Draws, name_hash
from interpreter.language.model import Measure

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder
    from interpreter.compiler.wasm.compiled_machine import Code
    from interpreter.compiler.wasm.module import Compiled

__all__ = [
    "BOT_STREAM",
    "CURVE",
    "FINAL",
    "GAMES_ALONE",
    "MEASURED",
    "MET",
    "MOST_GAMES",
    "SUMMED",
    "TABLE",
    "Facts",
    "Games",
    "Head",
    "Whole",
    "reserve",
    "whole_text",
]

LONG = 8
RECORDS, RECORD = 32 * 1024, 16
HASH_BITS = 14
MOST_KNOWN, ENTRY = (1 << HASH_BITS) * 3 // 4, 8 * LONG
MOST_GAMES = 1_024
"""Maximum number of games in one call."""
ROW = 24
"""Size of a row before its places, in bytes: the seed, the number of decisions, of free decisions, the round."""

CURVE, FINAL, TABLE, MET = range(4)
"""Kinds of sums.

``CURVE``: the last value (or total) for a thing in a round. ``FINAL``: the same for a game. ``TABLE``: each record, or
the total for a game if the measure sums. ``MET``: in how many games a thing occurred, for any owner.
"""
KIND = 62

Head = tuple[int, str, int, tuple[Any, ...]]
"""Subject of a sum: the kind, the measure, the round, and the thing. In a table whose things belong to seats, the round
is a bit mask of the winners.
"""

GAMES_ALONE, MEASURED, SUMMED = range(3)
"""Modes of playing games: without measurements, with records, with records and sums."""
BOT_STREAM = "bot seat {}"
"""Name of a seat's stream: see :func:`interpreter.play.match.streams_for`."""


def wanted(measure: Measure) -> tuple[bool, bool, bool]:
    """Return the sums that a summary needs of a measure: by round, at the end, by subject of an event."""
    keys = len(measure.keys)
    final = "end of game" in measure.when and (keys == 0 or (keys == 1 and measure.seat is not None))
    return measure.recurs, final, measure.event is not None or not (measure.recurs or final)


@frozen(frozen=True, slots=True)
class Areas:
    """Addresses of the memory of whole games."""

    records: int
    rows: int
    slots: int
    entries: int
    met: int
    plans: int
    hashes: int
    players: int
    """Four words: the number of bots, of finished games, the end of the records, and the number of sums."""


def _places(builder: ModuleBuilder) -> tuple[int, int, int]:
    """Return the layout of a row: where the ranks begin, their length, and the length of the row."""
    seats = len(builder.constants.seats)
    ranks, width = (ROW + seats * WORD + LONG - 1) // LONG * LONG, len(builder.constants.model.ranking) * LONG
    return ranks, width, ranks + seats * width


def reserve(builder: ModuleBuilder) -> Areas:
    """Reserve memory, and write the plan of each measure there."""
    memory, model = builder.memory, builder.constants.model
    seats = len(builder.constants.seats)
    plans = []
    for measure in model.measures:
        curve, final, table = wanted(measure)
        mask = (1 << MEASURE + 8) - 1
        try:
            parts = key_parts(builder.shapes, measure)
        except Unsupported:  # the failure is reported when it is measured
            parts = ()
        if parts and measure.seat is not None:
            mask &= ~(parts[measure.seat].mask << parts[measure.seat].shift)
        flags = curve | final << 1 | table << 2 | measure.sums << 3 | (measure.seat is not None) << 4
        plans += [flags, 0, *halves(mask)]
    hashes = [half for seat in range(seats) for half in halves(name_hash(BOT_STREAM.format(seat)))]
    return Areas(
        memory.reserve_long(RECORDS * RECORD // LONG),
        memory.reserve_long(MOST_GAMES * _places(builder)[2] // LONG),
        memory.reserve(1 << HASH_BITS),
        memory.reserve_long(MOST_KNOWN * ENTRY // LONG),
        memory.reserve(MOST_KNOWN),
        memory.words([*plans, 0, 0]),
        memory.words([*hashes, 0, 0]),
        memory.reserve_long(2),
    )


def whole_text(builder: ModuleBuilder, areas: Areas, numbers: dict[str, int]) -> str:
    """Return the functions as WebAssembly text. ``numbers`` are the placeholders of the driver."""
    seats, counts = len(builder.constants.seats), builder.constants.statics["seat.counts"]
    ranks, rank_bytes, row_bytes = _places(builder)
    return written("whole.wat").format(
        **numbers,
        records=areas.records,
        records_limit=areas.records + RECORDS * RECORD,
        rows=areas.rows,
        row_bytes=row_bytes,
        places=ROW,
        ranks=ranks,
        rank_bytes=rank_bytes,
        counting=sum(1 << seat for seat, counted in enumerate(counts) if counted),
        slots=areas.slots,
        slots_bytes=WORD << HASH_BITS,
        entries=areas.entries,
        met=areas.met,
        plans=areas.plans,
        hashes=areas.hashes,
        players=areas.players,
        hash_shift=64 - HASH_BITS,
        hash_mask=(1 << HASH_BITS) - 1,
        most_known=MOST_KNOWN if seats <= ROUND_BITS else -1,  # winners are stored in the bits of the round
        none=NO_NUMBER,
        greatest=2**63 - 1,
        smallest=-(2**63),
        round=ROUND,
        measure=MEASURE,
        no_round=(1 << 64) - 1 - ((1 << ROUND_BITS) - 1 << ROUND),
        curve=1,
        final=2,
        table=4,
        sums=8,
        owned=16,
        kind_1=FINAL << KIND,
        kind_2=TABLE << KIND,
        kind_3=MET << KIND,
        round_cell=builder.memory.groups["round"].address,
    )


# --- results


@dataclass(eq=False)
class Facts:
    """Layout of records and sums.

    ``parts`` has the parts of each measure's keys: shift, mask, the value that 0 stands for, and the public name of
    each value (None: the value itself).
    """

    names: tuple[str, ...]
    parts: tuple[tuple[tuple[int, int, int, tuple[object, ...] | None], ...], ...]
    _heads: dict[int, Head] = field(default_factory=dict, init=False)

    def __reduce__(self) -> Any:
        return Facts, (self.names, self.parts)

    def of(self, measure: int, thing: int) -> tuple[object, ...]:
        """Return the subjects of a number by their public names."""
        subjects: list[object] = []
        for shift, mask, low, names in self.parts[measure]:
            digit = thing >> shift & mask
            if names is None:
                subjects.append(None if digit == 0 else digit + low)
            else:
                subjects.append(names[digit])
        return tuple(subjects)

    def records(self, data: bytes) -> list[tuple[int, int, tuple[object, ...], int | None]]:
        """Return all records: the measure, the round, the subjects and the value."""
        words = memoryview(data).cast("q")
        of: dict[int, tuple[object, ...]] = {}
        records = []
        for at in range(0, len(words), 2):
            key, value = words[at], words[at + 1]
            measure, round_ = key >> MEASURE, key >> ROUND & (1 << ROUND_BITS) - 1
            thing = key ^ round_ << ROUND
            things = of.get(thing)
            if things is None:
                things = of[thing] = self.of(measure, thing & (1 << OF_BITS) - 1)
            records.append((measure, round_, things, None if value == NO_NUMBER else value))
        return records

    def head(self, key: int) -> Head:
        """Return the subjects of the sum under a key."""
        head = self._heads.get(key)
        if head is None:
            kind, measure = key >> KIND & 3, key >> MEASURE & 255
            round_, thing = key >> ROUND & (1 << ROUND_BITS) - 1, key & (1 << OF_BITS) - 1
            head = self._heads[key] = kind, self.names[measure], round_, self.of(measure, thing)
        return head


@frozen(frozen=True, slots=True)
class Playout:
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

    def totals(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Return the sums: key, number of additions, number of values other than none, total, minimum, maximum."""
        words = self.sums
        return zip(words[::8], *(words[at::8] for at in range(3, 8)), strict=True)


class Whole:
    """Plays whole games in a module. The bots stay seated between calls."""

    def __init__(self, built: Compiled) -> None:
        self.built = built
        instance, self.areas = built.instance, Areas(*built.addresses["whole"])
        self._games, self._rest = instance.function("games", long=True), instance.function("rest", long=True)
        self._playout = instance.function("playout", long=True)
        self._calm, self._seat = instance.function("calm"), instance.function("seat")
        self._words, self._longs, self._bytes = instance.words, instance.longs, instance.bytes
        self._out = self.areas.players // WORD
        self._asked = STATE // WORD + 1
        self._options: int = built.addresses["options"]
        self._seats = len(built.builder.constants.seats)
        self._ranks, self._width, self._row = (size // LONG for size in _places(built.builder))
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
        first = self.areas.rows // LONG
        for number, seed in enumerate(seeds):
            self._longs[first + number * self._row] = signed(seed)
        return self._played(lambda: self._games(len(seeds), limit, what))

    def rest(self, data: bytes, seed: int, bots: Sequence[int], limit: int) -> Games:
        """Play the rest of a game from a state, by bots whose streams begin with a seed."""
        self._lay(data, bots)
        return self._played(lambda: self._rest(signed(seed), limit))

    def _played(self, play: Callable[[], int]) -> Games:
        from interpreter.compiler.wasm.instance import Trap

        is_all = 1
        self._words[self._out + 1] = self._words[self._out + 3] = 0
        try:
            is_all = play()
        except Trap:
            self._calm()
        _, done, _, known = self._words[self._out : self._out + 4].tolist()
        first, end = self.areas.rows // LONG, self.areas.rows // LONG + done * self._row
        longs, words = self._longs[first:end], self._words[2 * first : 2 * end]
        decisions, free, rounds, *places = (
            words[at :: 2 * self._row].tolist() for at in (2, 3, 4, *range(ROW // WORD, ROW // WORD + self._seats))
        )
        keys = [
            [longs[at :: self._row].tolist() for at in range(seat, seat + self._width)]
            for seat in range(self._ranks, self._ranks + self._seats * self._width, self._width or 1)
        ] or [[] for _ in range(self._seats)]
        entries = self.areas.entries
        sums = memoryview(self._bytes[entries : entries + known * ENTRY].tobytes()).cast("q")
        return Games(decisions, free, rounds, list(zip(*places, strict=True)), keys, sums, not is_all)

    @property
    def records(self) -> bytes:
        """The records of the last game."""
        return self._bytes[self.areas.records : self._words[self._out + 2]].tobytes()

    def _lay(self, data: bytes, bots: Sequence[int]) -> None:
        """Load a state into memory that belongs to no game of the machine."""
        self.built.leave()
        self.built.restore(data)
        self.seat(bots)

    def keys(self) -> tuple[tuple[int, ...], ...]:
        """Return the ranking keys of the seats after a single game."""
        start, width = self.areas.rows // LONG + self._ranks, self._width
        flat = self._longs[start : start + self._seats * width].tolist()
        return tuple(tuple(flat[at * width : (at + 1) * width]) for at in range(self._seats))

    def playout(self, data: bytes, first: Code, stream: Draws, bots: Sequence[int], limit: int) -> Playout | None:
        """Apply a choice to a state, then let bots that share one stream play to the end. Return None if the module
        traps."""
        from interpreter.compiler.wasm.instance import Trap

        self._lay(data, bots)
        try:
            option = self.built.record(self._words[self._asked], first)
            self._bytes[self._options : self._options + len(option)] = option
            decisions = self._playout(self._options, stream.signed_origin, stream.used, limit)
        except (Trap, Unsupported):
            return None
        return Playout(self.keys() if decisions < limit else None)

    def parts(self, measure: Measure) -> tuple[KeyPart, ...]:
        """Return the layout of the keys of a measure; empty if its subjects cannot be encoded."""
        try:
            return key_parts(self.built.builder.shapes, measure)
        except Unsupported:
            return ()

    def domain(self, part: KeyPart) -> int:
        """Return the number of values of a part of a key, without none."""
        return self.built.builder.shapes.domain(part.type)
