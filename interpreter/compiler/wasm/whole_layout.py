"""Layout of whole games in a module: areas of memory, and the hand-written functions that fill them (``whole.wat``).

A *record* is one measured number with a key (:mod:`interpreter.compiler.build.measure_functions`). A *sum* aggregates
the records of many games under a key: see :data:`interpreter.simulate.measurements.Head`.
"""

from __future__ import annotations

from interpreter.compiler.build.measure_functions import MEASURE, ROUND, ROUND_BITS, parts_if_any
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, halves
from interpreter.compiler.wasm.runtime import written
from interpreter.kernel.chance import name_hash
from interpreter.language.model import Measure
from interpreter.lowering.constants import MAXIMUM_STILL

__all__ = [
    "BOT_STREAM",
    "CURVE",
    "ENTRY",
    "FINAL",
    "KIND",
    "LONG",
    "MET",
    "MOST_GAMES",
    "ROW",
    "TABLE",
    "places",
    "reserve",
    "wanted",
    "whole_text",
]

LONG = 8
RECORDS, RECORD = 32 * 1024, 16
HASH_BITS = 14
MOST_KNOWN, ENTRY = (1 << HASH_BITS) * 3 // 4, 9 * LONG
MOST_GAMES = 1_024
"""Maximum number of games in one call."""
ROW = 24
"""Size of a row before its places, in bytes: the seed, the number of decisions, of free decisions, the round."""

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


def places(builder: ModuleBuilder) -> tuple[int, int, int]:
    """Return the layout of a row: where the ranks begin, their length, and the length of the row."""
    seats = len(builder.constants.seats)
    ranks, width = (ROW + seats * WORD + LONG - 1) // LONG * LONG, len(builder.constants.model.ranking) * LONG
    return ranks, width, ranks + seats * width


def reserve(builder: ModuleBuilder) -> dict[str, int]:
    """Reserve memory, and write the plan of each measure there. Return addresses by the placeholders of ``whole.wat``.

    ``players`` are four words: the number of bots, of finished games, the end of the records, and the number of sums.
    """
    memory, model = builder.memory, builder.constants.model
    seats = len(builder.constants.seats)
    plans = []
    for measure in model.measures:
        curve, final, table = wanted(measure)
        mask, shift = (1 << MEASURE + 8) - 1, 0
        parts = parts_if_any(builder.shapes, measure)
        if parts and measure.seat is not None:
            shift = parts[measure.seat].shift
            mask &= ~(parts[measure.seat].mask << shift)
        flags = curve | final << 1 | table << 2 | measure.sums << 3 | (measure.seat is not None) << 4
        plans += [flags, shift, *halves(mask)]
    hashes = [half for seat in range(seats) for half in halves(name_hash(BOT_STREAM.format(seat)))]
    return {
        "records": memory.reserve_long(RECORDS * RECORD // LONG),
        "rows": memory.reserve_long(MOST_GAMES * places(builder)[2] // LONG),
        "slots": memory.reserve(1 << HASH_BITS),
        "entries": memory.reserve_long(MOST_KNOWN * ENTRY // LONG),
        "met": memory.reserve(MOST_KNOWN),
        "plans": memory.words([*plans, 0, 0]),
        "hashes": memory.words([*hashes, 0, 0]),
        "players": memory.reserve_long(2),
    }


def whole_text(builder: ModuleBuilder, areas: dict[str, int], numbers: dict[str, int]) -> str:
    """Return the functions as WebAssembly text. ``numbers`` are the placeholders of the driver."""
    seats, counts = len(builder.constants.seats), builder.constants.statics["seat.counts"]
    ranks, rank_bytes, row_bytes = places(builder)
    return written("whole.wat").format(
        **{**numbers, **areas},
        records_limit=areas["records"] + RECORDS * RECORD,
        row_bytes=row_bytes,
        places=ROW,
        ranks=ranks,
        rank_bytes=rank_bytes,
        counting=sum(1 << seat for seat, counted in enumerate(counts) if counted),
        entry_bytes=ENTRY,
        slots_bytes=WORD << HASH_BITS,
        hash_shift=64 - HASH_BITS,
        hash_mask=(1 << HASH_BITS) - 1,
        most_known=MOST_KNOWN if seats < 8 * LONG else -1,  # winners are the bits of a number
        **{"none": NO_NUMBER, "greatest": 2**63 - 1, "smallest": -(2**63)},
        **{"round": ROUND, "measure": MEASURE, "no_round": (1 << 64) - 1 - ((1 << ROUND_BITS) - 1 << ROUND)},
        **{"curve": 1, "final": 2, "table": 4, "sums": 8, "owned": 16},
        **{"kind_1": FINAL << KIND, "kind_2": TABLE << KIND, "kind_3": MET << KIND},
        round_cell=builder.memory.groups["round"].address,
        most_still=MAXIMUM_STILL,
    )
