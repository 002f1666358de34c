"""Layout of the driver of games in a module (``driver.wat``, ``measures.wat``): its memory, and the rows of games.

A *record* is one measured number with a key (:mod:`interpreter.compiler.codegen.measure_functions`). A *sum* aggregates
the records of many games under a key: see :data:`interpreter.simulate.measurements.Head`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import asdict

from interpreter.compiler.codegen.measure_functions import MEASURE, ROUND, ROUND_BITS, parts_if_any
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import NO_NUMBER, WORD, halves
from interpreter.kernel.chance import name_hash
from interpreter.language.model import Measure
from interpreter.lowering.constants import MAXIMUM_STILL
from interpreter.plain.machine import SPECIALS

__all__ = [
    "BOT_STREAM",
    "CURVE",
    "ENTRY",
    "FINAL",
    "FRAMES_KEPT",
    "FUEL",
    "KIND",
    "LONG",
    "MET",
    "MOST_AHEAD",
    "MOST_GAMES",
    "NOTE",
    "PLACES",
    "TABLE",
    "TURN_HEAD",
    "UNDO_BYTES",
    "Rows",
    "driver_numbers",
    "wanted",
]

LONG = 8
FUEL = 500_000
"""Budget of steps for one decision; the module traps when it is used up."""
OPTIONS_WORDS = 2 * 1024 * 1024
ARENA_WORDS = 4 * 1024 * 1024
UNDO_BYTES, MOST_UNDONE = 512 * 1024, 1_024
"""Memory for undo states, and their maximum number."""
FRAMES_KEPT = 2_048
"""Maximum number of words of frames in an undo state, or in a row."""
MOST_AHEAD = 16
"""Maximum number of choices in one step."""
TURN_HEAD, MOST_TOLD = 16, 256
"""Size of a report before its option, and maximum size of a report, in bytes. A longer option is not chosen ahead."""

RECORDS, RECORD = 32 * 1024, 16
HASH_BITS = 14
MOST_KNOWN, ENTRY = (1 << HASH_BITS) * 3 // 4, 9 * LONG
MOST_GAMES = 1_024
"""Maximum number of whole games in one call."""
NOTE = MOST_TOLD
"""Distance of notes, in bytes. A game is noted up to an option that has no room in a report."""
PLACES = 24
"""Size of a row before its places, in bytes: see ``driver.wat``."""

CURVE, FINAL, TABLE, MET = range(4)
"""Kinds of sums.

``CURVE``: the last value (or total) for a thing in a round. ``FINAL``: the same for a game. ``TABLE``: each record of a
thing, or the total of a game and seat if the measure sums. ``MET``: in how many games a thing occurred, for any owner.
"""
KIND = 62

BOT_STREAM = "bot seat {}"
"""Name of a seat's stream: see :func:`interpreter.play.match.streams_for`."""


def wanted(measure: Measure) -> tuple[bool, bool, bool]:
    """Return the sums that a summary needs of a measure: by round, at the end, by subject of an event."""
    keys = len(measure.keys)
    final = "end of game" in measure.when and (keys == 0 or (keys == 1 and measure.seat is not None))
    return measure.recurs, final, measure.event is not None or not (measure.recurs or final)


class Rows(Struct, frozen=True):
    """Rows of games: where they begin, and in bytes where the keys of the first seat begin in a row, the size of those
    of a seat, and the size of a row."""

    rows: int
    ranks: int
    rank_bytes: int
    row_bytes: int

    @classmethod
    def of(cls, builder: ModuleBuilder, count: int = MOST_GAMES, more: int = 0) -> Rows:
        """Reserve memory for rows, with ``more`` bytes each behind the keys."""
        seats, width = len(builder.constants.seats), len(builder.constants.model.ranking) * LONG
        ranks = _long(PLACES + seats * WORD)
        size = ranks + seats * width + _long(more)
        return cls(builder.memory.reserve_long(count * size // LONG), ranks, width, size)


def driver_numbers(builder: ModuleBuilder, rows: Rows, first: bytes, undo_bytes: int) -> dict[str, int]:
    """Reserve the memory of the driver. Return addresses, sizes and constants by the placeholders of its text.

    The report of a decision is at ``turn``, those of a step at ``reports``: ``made`` counts them, up to ``most``, and
    the choices that follow notes. ``undone`` are two words: the number of undo states, and the next slot for one.
    ``called`` are hashes of how decisions are called, by stretch.
    """
    memory, decided = builder.memory, builder.decisions
    seats, counts = len(builder.constants.seats), builder.constants.statics["seat.counts"]
    strides = (decided.stride(index) * WORD for index in decided.asks)
    turn_size = _long(min(MOST_TOLD, TURN_HEAD + max(strides, default=WORD)))
    slot = _long(memory.frames - STATE + FRAMES_KEPT * WORD)
    slots = max(1, min(MOST_UNDONE, undo_bytes // slot))
    hashes = [half for seat in range(seats) for half in halves(name_hash(BOT_STREAM.format(seat)))]
    sizes = {
        "streams": 2 * seats * LONG,
        "bots": seats * WORD,
        "called": len(builder.program.stretches) * LONG,
        "turn": turn_size,
        "reports": MOST_AHEAD * turn_size,
        "made": WORD,
        "most": WORD,
        "undone": 2 * WORD,
        "undo": slots * slot,
        "first": len(first),
        "records": RECORDS * RECORD,
        "records_end": WORD,
        "finished": WORD,
        "known": WORD,
        "buckets": WORD << HASH_BITS,
        "entries": MOST_KNOWN * ENTRY,
        "met": MOST_KNOWN * WORD,
        "options": OPTIONS_WORDS * WORD,
        "arena": ARENA_WORDS * WORD,
    }
    areas = {name: memory.reserve_long(_long(size) // LONG) for name, size in sizes.items()}
    return {
        **asdict(rows),
        **areas,
        "places": PLACES,
        "holders": builder.holders,
        "hashes": memory.words([*hashes, 0, 0]),
        "counting": memory.words([int(bool(counted)) for counted in counts]),
        "sizes": decided.table(lambda index: memory.words([size * WORD for size in decided.sizes(index)])),
        "strides": decided.table(lambda index: decided.stride(index) * WORD),
        "plans": memory.words([*_plans(builder), 0, 0]),
        "size": len(first),
        "state": STATE,
        "asked": STATE + WORD,
        "top": STATE + 2 * WORD,
        "seed": STATE + 4 * WORD,
        "frames": memory.frames,
        "round_cell": memory.groups["round"].address,
        "start": builder.stretches.special("start"),
        "stretches": len(builder.program.stretches) + len(SPECIALS),
        "fuel": FUEL,
        "seats": seats,
        "turn_size": turn_size,
        "note": NOTE,
        "turn_words": turn_size // WORD,
        "told": areas["turn"] + TURN_HEAD,
        "room": turn_size - TURN_HEAD,
        "slot": slot,
        "last_top": STATE + slot,
        "undo_slots": slots,
        "before": slots - 1,
        "arena_end": areas["arena"] + ARENA_WORDS * WORD,
        "most_still": MAXIMUM_STILL,
        "records_limit": areas["records"] + RECORDS * RECORD,
        "entry_bytes": ENTRY,
        "buckets_bytes": WORD << HASH_BITS,
        "hash_shift": 64 - HASH_BITS,
        "hash_mask": (1 << HASH_BITS) - 1,
        "most_known": MOST_KNOWN if seats < 8 * LONG else -1,  # winners are the bits of a number
        **{"none": NO_NUMBER, "greatest": 2**63 - 1, "smallest": -(2**63)},
        **{"round": ROUND, "measure": MEASURE, "no_round": (1 << 64) - 1 - ((1 << ROUND_BITS) - 1 << ROUND)},
        **{"curve": 1, "final": 2, "table": 4, "sums": 8, "owned": 16},
        **{"kind_1": FINAL << KIND, "kind_2": TABLE << KIND, "kind_3": MET << KIND},
    }


def _plans(builder: ModuleBuilder) -> Iterator[int]:
    """Yield the plan of each measure: which sums it has, where its keys have a seat, and a key without the seat."""
    for measure in builder.constants.model.measures:
        curve, final, table = wanted(measure)
        mask, shift = (1 << MEASURE + 8) - 1, 0
        parts = parts_if_any(builder.shapes, measure)
        if parts and measure.seat is not None:
            shift = parts[measure.seat].shift
            mask &= ~(parts[measure.seat].mask << shift)
        yield curve | final << 1 | table << 2 | measure.sums << 3 | (measure.seat is not None) << 4
        yield from (shift, *halves(mask))


def _long(size: int) -> int:
    return (size + LONG - 1) // LONG * LONG
