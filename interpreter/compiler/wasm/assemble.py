"""Assembly of a module as WebAssembly text: hand-written parts, the functions of a ruleset, tables and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain

from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.build.shapes import WORD, halves
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.passes import optimised
from interpreter.compiler.passes.context import Context
from interpreter.compiler.wasm.emit import text_of
from interpreter.compiler.wasm.instance import PAGE
from interpreter.compiler.wasm.runtime import graph_cache_words, written
from interpreter.compiler.wasm.runtime_inliner import inliner
from interpreter.compiler.wasm.whole_layout import reserve, whole_text
from interpreter.language.types import NODE

__all__ = ["FUEL", "Plan", "assembled", "built"]

FUEL = 500_000
"""Budget of steps for one decision; the module traps when it is used up."""
OPTIONS_WORDS = 2 * 1024 * 1024
ARENA_WORDS = 4 * 1024 * 1024
FEWEST_SLOTS, MOST_SLOTS = 4, 64
CACHE_WORDS = 256 * 1024
"""Size of the distance cache, in words, unless the minimum number of slots of a large graph needs more."""
GAP = 64
UNDO_BYTES, MOST_UNDONE = 512 * 1024, 1_024
"""Memory for undo states, and their maximum number."""
FRAMES_KEPT = 2_048
"""Maximum number of words of frames in an undo state."""
MOST_AHEAD = 16
"""Maximum number of choices in one step."""
TURN_HEAD, MOST_TOLD = 16, 256
"""Size of a report before its option, and maximum size of a report, in bytes. A longer option is not chosen ahead."""


class Plan:
    """Memory addresses behind the constants.

    These are: the report of a decision (``turn``), the ``reports`` of a step (``made`` has their number and the maximum
    number), the bots that are asked ``ahead``, the undo states (``undone`` has their number and the next ``slot``), the
    first state, the options, the arena. ``numbers`` has values for the placeholders in hand-written text.
    """

    def __init__(self, builder: ModuleBuilder, first: bytes, undo_bytes: int) -> None:
        self.whole = reserve(builder)
        self.stream = _long(builder.memory.end)
        self.turn = self.stream + 16
        strides = (builder.decisions.stride(index) * WORD for index in builder.decisions.asks)
        self.turn_size = _long(min(MOST_TOLD, TURN_HEAD + max(strides, default=WORD)))
        self.reports = self.turn + self.turn_size
        self.made = self.reports + MOST_AHEAD * self.turn_size
        self.ahead = self.made + 2 * WORD
        self.undone = self.ahead + _long(len(builder.constants.seats) * WORD)
        self.undo = self.undone + 2 * WORD
        self.slot = _long(builder.memory.frames - STATE + FRAMES_KEPT * WORD)
        self.slots = max(1, min(MOST_UNDONE, undo_bytes // self.slot))
        self.first = self.undo + self.slots * self.slot
        self.options = self.first + _long(len(first))
        self.arena = self.options + OPTIONS_WORDS * WORD
        self.end = self.arena + ARENA_WORDS * WORD
        self.numbers: dict[str, int] = {}


def _long(size: int) -> int:
    return (size + 7) // 8 * 8


Bots = Sequence[Mapping[int, str]]
"""For each kind of bot, the function that chooses, by decision."""


def built(
    builder: ModuleBuilder, bots: Bots = (), further: Iterable[str] = ()
) -> tuple[dict[str, dict[int, str]], Context]:
    """Build all functions. Return the names of those of each decision, and the context of passes.

    ``further`` names functions that are also called from outside.
    """
    of_rules = map(builder.stretches.stretch, range(len(builder.program.stretches)))
    stretches = [builder.add(function) for function in chain(of_rules, builder.phases.stretches())]
    for function in builder.phases.helpers():
        builder.add(function)
    decisions = {
        kind: {index: getattr(builder.decisions, kind)(index) for index in builder.decisions.asks}
        for kind in ("options", "take", "actor", "free")
    }
    rank = builder.add(Steps(builder).rank())
    builder.finish()
    chosen = chain.from_iterable(names.values() for names in (*decisions.values(), *bots))
    roots = frozenset((*stretches, *chosen, rank, *further))
    model, memory, seats = builder.constants.model, builder.memory, len(builder.constants.seats)
    of_seats = frozenset(name for name, group in model.groups.items() if group.owner == "seat")
    owners = memory.words(builder.constants.statics["piece.owner"]) if "piece" in memory.groups else 0
    wholes = builder.shapes.count(NODE)
    return decisions, Context(memory, of_seats, owners, seats, roots, tuple(stretches), wholes)


def assembled(
    builder: ModuleBuilder,
    first: bytes,
    bots: Bots = (),
    further: Iterable[str] = (),
    face: Callable[[Plan], str] = lambda plan: "",
    undo_bytes: int = UNDO_BYTES,
) -> tuple[str, Plan]:
    """Return the text of the module and its memory plan.

    ``first`` is the state with which games begin. ``further`` names functions that the text ``face`` calls, which is
    added to that of every module. Undo states take ``undo_bytes``.
    """
    decisions, context = built(builder, bots, further)
    stretches = context.stretches
    memory, decided, seats = builder.memory, builder.decisions, len(builder.constants.seats)
    streams, kinds = memory.reserve_long(2 * seats), memory.reserve(seats)
    sizes = decided.table(lambda index: memory.words([size * WORD for size in decided.sizes(index)]))
    functions = optimised(builder.functions, context)
    touched = list(_touched(builder, context))
    graph = _graph(builder)
    holders = builder.holders
    plan = Plan(builder, first, undo_bytes)
    runtime = inliner(written("runtime.wat") + written("effects.wat"))
    lines = ["(module", *_head(builder, plan, holders, graph), runtime.text]
    lines.extend(text_of(function, runtime) for function in functions.values())
    lines.extend(touched)
    tables = {f"{kind}_of": [functions_] for kind, functions_ in decisions.items()}
    for table, rows in {"stretches": [dict(enumerate(stretches))], **tables, "bots": bots}.items():
        lines.extend(_table(table, rows, len(stretches)))
    plan.numbers = {
        **{name: value for name, value in vars(plan).items() if isinstance(value, int)},
        "size": len(first),
        "state": STATE,
        "frames": builder.memory.frames,
        "start": builder.stretches.special("start"),
        "fuel": FUEL,
        "streams": streams,
        "kinds": kinds,
        "told": plan.turn + TURN_HEAD,
        "room": plan.turn_size - TURN_HEAD,
        "most": plan.made + WORD,
        "last_top": STATE + plan.slot,
        "undo_slots": plan.slots,
        "before": plan.slots - 1,
        "seats": seats,
        "sizes": sizes,
        "stretches": len(stretches),
        "asked": STATE + WORD,
        "top": STATE + 2 * WORD,
        "seed": STATE + 4 * WORD,
    }
    clear = "\n".join(
        f"  (i64.store (i32.const {at}) (i64.const 0))" for at in range(plan.turn, plan.turn + plan.turn_size, 8)
    )
    driver = written("driver.wat").format(clear=clear, **plan.numbers)
    lines.extend((driver, whole_text(builder, plan.whole, plan.numbers)))
    data = dict(builder.memory.data)
    data[plan.first] = first
    lines.extend((*_data(data), face(plan), ")"))
    return "\n".join(lines), plan


def _touched(builder: ModuleBuilder, context: Context) -> Iterator[str]:
    """Build the invalidation of caches by the number of a cell: a table gives the dirty bits."""
    words: list[int] = []
    places = builder.constants.statics.get("node.places", ())
    wholes = {place: node for node, parts in enumerate(places) for place in parts}
    own_piece = context.touched["piece"].own_row if "piece" in context.touched else 0
    for name, group in builder.memory.groups.items():
        touched = context.touched[name]
        owned = name in context.of_seats
        for number in range(group.count):
            everywhere = touched.all_rows if owned or name == "piece" else touched.all_rows | touched.own_row
            own, row = (touched.own_row, context.dirty + 8 * number) if owned else (0, context.dirty)
            if touched.whole:
                own, row = touched.whole, context.dirty_parts + 8 * wholes[number]
            words += [half for mask in (touched.alone, everywhere, own) for half in halves(mask)] + [row, 0]
    yield written("touched.wat").format(
        table=builder.memory.words(words),
        alone=context.dirty + 8 * context.seats,
        dirty=context.dirty,
        bytes=8 * (context.seats + 1),
        parts=context.dirty_parts,
        parts_bytes=8 * context.wholes,
        rows="\n".join(
            f"  (i64.store (i32.const {row}) (i64.or (i64.load (i32.const {row})) (local.get $mask)))"
            for row in range(context.dirty, context.dirty + 8 * context.seats, 8)
        ),
        owners=context.owners,
        own_piece=own_piece,
    )


def _head(builder: ModuleBuilder, plan: Plan, holders: int, graph: Mapping[str, int]) -> Iterator[str]:
    groups = builder.memory.groups
    pages = (plan.end + PAGE - 1) // PAGE
    yield f'(memory $memory (export "memory") {pages})'
    yield "(type $stretch (func (param i32) (result i32)))"
    yield "(type $listing (func (param i32)))"
    yield "(type $taking (func (param i32 i32) (result i32)))"
    variables = {"arena": plan.arena, "frame": 0, "top": builder.memory.frames, "fuel": FUEL, "options_end": 0}
    for name, value in variables.items():
        yield f'(global ${name} (export "{name}") (mut i32) (i32.const {value}))'
    constants = {
        "arena_start": plan.arena,
        "arena_end": plan.end,
        "options": plan.options,
        "options_limit": plan.arena,
        "holders": holders,
        "location": groups["location"].address,
        "location_cell": groups["location"].base,
        "piece_cell": groups["piece"].base if "piece" in groups else 0,
        "piece": groups["piece"].address if "piece" in groups else 0,
        "pending": groups["pending"].address,
        "seed": STATE + 4 * WORD,
        **graph,
    }
    for name, value in constants.items():
        yield f"(global ${name} i32 (i32.const {value}))"


def _graph(builder: ModuleBuilder) -> dict[str, int]:
    """Return the numbers of the graph by their names in hand-written text."""
    graph, memory = builder.constants.graph, builder.memory
    if graph is None:
        return dict.fromkeys(("graph_nodes", "graph_adjacent", "graph_leading", "graph_cache", "graph_slots"), 0)
    words = graph_cache_words(graph.node_count)
    slots = max(FEWEST_SLOTS, min(MOST_SLOTS, CACHE_WORDS // words))

    def rows(links: Sequence[Sequence[tuple[int, int]]]) -> int:
        starts = accumulate(map(len, links), initial=0)
        return memory.words([*starts, *chain.from_iterable(chain.from_iterable(links))])

    return {
        "graph_nodes": graph.node_count,
        "graph_adjacent": rows(graph._adjacent),
        "graph_leading": rows(graph._leading_here),
        "graph_cache": memory.reserve(slots * words),
        "graph_slots": slots,
    }


def _table(table: str, rows: Sequence[Mapping[int, str]], width: int) -> Iterator[str]:
    yield f"(table ${table} {max(1, len(rows) * width)} funcref)"
    for row, names in enumerate(rows):
        for index, name in names.items():
            yield f"(elem (table ${table}) (i32.const {row * width + index}) func ${name})"


def _data(data: dict[int, bytes]) -> Iterator[str]:
    """Yield the segments of constant data; short gaps between them are filled."""
    segments: dict[int, bytes] = {}
    start, end = 0, -GAP - 1
    for address, part in sorted(data.items()):
        if address - end > GAP:
            start = end = address
            segments[start] = b""
        segments[start] += bytes(address - end) + part
        end = address + len(part)
    for start, content in segments.items():
        yield f'(data (i32.const {start}) "{"".join(f"{chr(92)}{byte:02x}" for byte in content)}")'
