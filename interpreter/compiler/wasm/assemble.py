"""Assembly of a module as WebAssembly text: hand-written parts, the functions of a ruleset, tables and constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain

from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import halves
from interpreter.compiler.codegen.steps import Steps
from interpreter.compiler.passes import optimised
from interpreter.compiler.passes.context import Context
from interpreter.compiler.wasm.driver import FUEL, UNDO_BYTES, Rows, driver_numbers
from interpreter.compiler.wasm.emit import text_of
from interpreter.compiler.wasm.runtime import graph_cache_words, written
from interpreter.compiler.wasm.runtime_inliner import inliner
from interpreter.language.types import NODE, SEAT

__all__ = ["Bots", "assembled", "built"]

FEWEST_SLOTS, MOST_SLOTS = 4, 64
CACHE_WORDS = 256 * 1024
"""Size of the distance cache, in words, unless the minimum number of slots of a large graph needs more."""
PAGE = 64 * 1024
"""Bytes of a page of WebAssembly memory."""
GAP = 64

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
        for kind in ("options", "shown", "take", "actor", "free")
    }
    ranks = [builder.add(function) for function in (Steps(builder).rank(), Steps(builder).ranking())]
    builder.finish()
    chosen = chain.from_iterable(names.values() for names in (*decisions.values(), *bots))
    roots = frozenset((*stretches, *chosen, *ranks, *further))
    model, memory, seats = builder.constants.model, builder.memory, len(builder.constants.seats)
    of_seats = frozenset(name for name, group in model.groups.items() if group.owner == SEAT)
    owners = memory.words(builder.constants.statics["piece.owner"]) if "piece" in memory.groups else 0
    wholes = builder.shapes.count(NODE)
    return decisions, Context(memory, of_seats, owners, seats, roots, tuple(stretches), wholes)


def assembled(
    builder: ModuleBuilder,
    first: bytes,
    bots: Bots = (),
    further: Iterable[str] = (),
    face: str = "",
    numbers: Mapping[str, int] | None = None,
    rows: Rows | None = None,
    undo_bytes: int = UNDO_BYTES,
) -> tuple[str, dict[str, int]]:
    """Return the text of the module, and the numbers in its hand-written parts: addresses, sizes and constants.

    ``first`` is the state with which games begin. ``further`` names functions that the text ``face`` calls, which is
    added to that of every module; ``numbers`` are those in it. Undo states take ``undo_bytes``.
    """
    decisions, context = built(builder, bots, further)
    stretches = context.stretches
    functions = optimised(builder.functions, context)
    touched = list(_touched(builder, context))
    graph = _graph(builder)
    known = {**driver_numbers(builder, rows or Rows.of(builder), first, undo_bytes), **(numbers or {})}
    runtime = inliner(written("runtime.wat") + written("effects.wat"))
    lines = ["(module", *_head(builder, known, graph), runtime.text]
    lines.extend(text_of(function, runtime) for function in functions.values())
    lines.extend(touched)
    tables = {f"{kind}_of": [functions_] for kind, functions_ in decisions.items()}
    for table, kinds in {"stretches": [dict(enumerate(stretches))], **tables, "bots": bots}.items():
        lines.extend(_table(table, kinds, len(stretches)))
    driver = inliner(written("driver.wat") + written("measures.wat") + face, runtime)
    lines.extend((driver.text.format(**known), *_data(builder.memory.data | {known["first"]: first}), ")"))
    return "\n".join(lines), known


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
            if touched.own_whole:
                own, row = touched.own_whole, context.dirty_parts + 8 * wholes[number]
            masks = touched.alone, everywhere, own, touched.all_wholes
            words += [half for mask in masks for half in halves(mask)] + [row]
    yield inliner(written("touched.wat")).text.format(
        table=builder.memory.words(words),
        alone=context.dirty + 8 * context.seats,
        dirty=context.dirty,
        bytes=8 * (context.seats + 1 + context.wholes),
        parts=context.dirty_parts,
        parts_end=context.dirty_parts + 8 * context.wholes,
        owners=context.owners,
        own_piece=own_piece,
    )


def _head(builder: ModuleBuilder, known: Mapping[str, int], graph: Mapping[str, int]) -> Iterator[str]:
    groups = builder.memory.groups
    yield f'(memory $memory (export "memory") {(builder.memory.end + PAGE - 1) // PAGE})'
    yield "(type $stretch (func (param i32) (result i32))) (type $listing (func (param i32)))"
    yield "(type $taking (func (param i32 i32) (result i32)))"
    arena, top = known["arena"], builder.memory.frames
    variables = {"arena": arena, "frame": 0, "top": top, "fuel": FUEL, "options_end": 0, "seat": -1}
    for name, value in variables.items():
        yield f'(global ${name} (export "{name}") (mut i32) (i32.const {value}))'
    constants = {
        **{name: known[name] for name in ("options", "arena_end", "holders", "seed")},
        **dict.fromkeys(("arena_start", "options_limit"), arena),
        "location": groups["location"].address,
        "location_cell": groups["location"].base,
        "piece_cell": groups["piece"].base if "piece" in groups else 0,
        "piece": groups["piece"].address if "piece" in groups else 0,
        "pending": groups["pending"].address,
        **graph,
    }
    for name, value in constants.items():
        yield f"(global ${name} i32 (i32.const {value}))"


def _graph(builder: ModuleBuilder) -> dict[str, int]:
    """Return the numbers of the graph by their names in hand-written text."""
    graph, memory = builder.constants.graph, builder.memory
    if not graph.node_count:
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
    """Yield a table of functions. Its size is fixed, so that a call need not load it."""
    size = max(1, len(rows) * width)
    yield f"(table ${table} {size} {size} funcref)"
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
        if content:
            yield f'(data (i32.const {start}) "{chr(92)}{content.hex(chr(92))}")'
