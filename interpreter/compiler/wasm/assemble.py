"""A whole module as WebAssembly text: what is written by hand, the functions of a ruleset, tables and constants."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module import ModuleBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir.effects import Cells
from interpreter.compiler.passes import optimised
from interpreter.compiler.passes.context import Context
from interpreter.compiler.wasm.emit import text_of
from interpreter.compiler.wasm.runtime import graph_cache_words, runtime_text
from interpreter.compiler.wasm.runtime_inliner import inliner
from interpreter.compiler.wasm.whole import Areas, reserve, whole_text

__all__ = ["FUEL", "Plan", "assembled", "build", "context_of"]

FUEL = 500_000
"""The steps that a module may take for one decision before it gives up."""
OPTIONS_WORDS = 256 * 1024
ARENA_WORDS = 4 * 1024 * 1024
PAGE = 64 * 1024
FEWEST_SLOTS, MOST_SLOTS = 4, 64
CACHE_WORDS = 256 * 1024
"""The size of the cache of distances, unless the graph is so large that the fewest slots take more."""
GAP = 64


class Plan:
    """Addresses behind the constants: the first state, the options, the arena."""

    def __init__(self, builder: ModuleBuilder, first: bytes, whole: Areas) -> None:
        self.whole = whole
        self.stream = (builder.memory.end + 7) // 8 * 8
        at = self.stream + 16
        self.first, self.first_size = at, len(first)
        self.options = at + (len(first) + 7) // 8 * 8
        self.options_end = self.options + OPTIONS_WORDS * WORD
        self.arena = self.options_end
        self.arena_end = self.arena + ARENA_WORDS * WORD
        self.size = self.arena_end


Bots = Sequence[Mapping[int, str]]
"""For each kind of bot the function by which it chooses at each decision."""


def build(builder: ModuleBuilder) -> tuple[list[str], dict[str, dict[int, str]]]:
    """Builds all functions: the names of the stretches in order, and of the functions of each decision."""
    stretches = []
    for index in range(len(builder.program.stretches)):
        function = builder.stretches.function(index)
        builder.functions[function.name] = function
        stretches.append(function.name)
    for function in builder.phases.functions():
        builder.functions[function.name] = function
        if function.name.startswith("g."):
            stretches.append(function.name)
    asked = {
        kind: {index: getattr(builder.decisions, kind)(index) for index in builder.decisions.asks}
        for kind in ("options", "take", "actor", "free")
    }
    rank = builder.rank()
    builder.functions[rank.name] = rank
    builder.finish()
    return stretches, asked


def built(
    builder: ModuleBuilder, bots: Bots = (), further: Iterable[str] = ()
) -> tuple[list[str], dict[str, dict[int, str]], Context]:
    """Builds all functions, for passes to work on. ``further`` are called from outside, too."""
    stretches, asked = build(builder)
    context = context_of(builder, stretches, [*asked.values(), *bots], further)
    return stretches, asked, context


def assembled(builder: ModuleBuilder, first: bytes, bots: Bots = (), further: Iterable[str] = ()) -> tuple[str, Plan]:
    """The text of the module, and where things lie in its memory. ``first`` is the state that games begin with, and
    ``further`` are functions that are called from outside beside those that every module has."""
    stretches, asked, context = built(builder, bots, further)
    seats = len(builder.constants.seats)
    streams, kinds = builder.memory.reserve_long(2 * seats), builder.memory.reserve(seats)
    functions = optimised(builder.functions, context)
    touched = list(_touched(builder, context))
    graph = list(_graph(builder))
    holders = builder.holders
    plan = Plan(builder, first, reserve(builder))
    runtime = inliner(runtime_text() + effects_text())
    lines = ["(module", *_head(builder, plan, holders, graph), runtime.text]
    lines.extend(text_of(function, runtime) for function in functions.values())
    lines.extend(touched)
    lines.extend(_tables(builder, stretches, asked))
    lines.append(f"(table $bots {max(1, len(bots) * len(stretches))} funcref)")
    for number, bot in enumerate(bots):
        for index, name in bot.items():
            lines.append(f"(elem (table $bots) (i32.const {number * len(stretches) + index}) func ${name})")
    numbers = {
        "first": plan.first,
        "size": plan.first_size,
        "state": STATE,
        "frames": builder.memory.frames,
        "options": plan.options,
        "start": builder.stretches.special("start"),
        "fuel": FUEL,
        "streams": streams,
        "stream": plan.stream,
        "kinds": kinds,
        "stretches": len(stretches),
        "asked": STATE + WORD,
        "top": STATE + 2 * WORD,
        "seed": STATE + 4 * WORD,
    }
    seated = ONLY_BOT if len(bots) == 1 else SEATED_BOT.format(kinds=kinds, state=STATE)
    lines.extend((DRIVER.format(bot=seated, **numbers), whole_text(builder, plan.whole, numbers)))
    data = dict(builder.memory.data)
    data[plan.first] = first
    lines.extend(_data(data))
    lines.append(")")
    return "\n".join(lines), plan


def context_of(
    builder: ModuleBuilder, stretches: Sequence[str], tables: Sequence[Mapping[int, str]], further: Iterable[str] = ()
) -> Context:
    """What passes know beside the functions. ``tables`` name those that the machine calls by number, ``further`` are
    called from outside by their names."""
    model, groups = builder.constants.model, builder.memory.groups
    of_seats = frozenset(name for name, group in model.groups.items() if group.owner == "seat")
    owners, parts = {}, {}
    places = builder.memory.known_table("node.places")
    if "piece" in groups and places is not None:
        parts["piece"] = places
    if "piece" in groups:
        kinds, pieces = max(1, len(builder.constants.pieces)), builder.shapes.domains["piece"]
        owners["piece"] = builder.memory.words([piece // kinds for piece in range(pieces)])
    cells = Cells(groups, of_seats, owners, parts)
    roots = frozenset((*stretches, *(name for names in tables for name in names.values()), "rank", *further))
    wholes = builder.shapes.domains["node"]
    return Context(builder.memory, cells, len(builder.constants.seats), roots, tuple(stretches), wholes)


def _touched(builder: ModuleBuilder, context: Context) -> Iterator[str]:
    """What drops answers where a cell changes, of which the machine knows no more than its number: a table says which
    dirty bits are set."""
    words: list[int] = []
    places = builder.constants.statics.get("node.places", ())
    wholes = {place: node for node, parts in enumerate(places) for place in parts}
    own_piece = context.touched["piece"].own_row if "piece" in context.touched else 0
    for name, group in builder.memory.groups.items():
        touched = context.touched[name]
        owned = name in context.cells.of_seats
        for number in range(group.count):
            everywhere = touched.all_rows if owned or name == "piece" else touched.all_rows | touched.own_row
            own, row = (touched.own_row, context.dirty + 8 * number) if owned else (0, context.dirty)
            if touched.whole:
                own, row = touched.whole, context.dirty_parts + 8 * wholes[number]
            for mask in (touched.alone, everywhere, own):
                words += struct.unpack("<2i", struct.pack("<Q", mask))
            words += [row, 0]
    yield TOUCHED.format(
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
        owners=context.cells.owners.get("piece", 0),
        own_piece=own_piece,
    )


def effects_text() -> str:
    from importlib.resources import files

    return (files(__package__) / "effects.wat").read_text(encoding="utf-8")


def _head(builder: ModuleBuilder, plan: Plan, holders: int, graph: list[tuple[str, int]]) -> Iterator[str]:
    groups = builder.memory.groups
    pages = (plan.size + PAGE - 1) // PAGE
    yield f'(memory $memory (export "memory") {pages})'
    yield "(type $stretch (func (param i32) (result i32)))"
    yield "(type $listing (func (param i32)))"
    yield "(type $taking (func (param i32 i32) (result i32)))"
    for name, value in (
        ("arena", plan.arena),
        ("frame", 0),
        ("top", builder.memory.frames),
        ("fuel", FUEL),
        ("options_end", 0),
    ):
        yield f'(global ${name} (export "{name}") (mut i32) (i32.const {value}))'
    constants = {
        "arena_start": plan.arena,
        "arena_end": plan.arena_end,
        "options": plan.options,
        "options_limit": plan.options_end,
        "holders": holders,
        "location": groups["location"].address,
        "location_cell": groups["location"].base,
        "piece_cell": groups["piece"].base if "piece" in groups else 0,
        "piece": groups["piece"].address if "piece" in groups else 0,
        "pending": groups["pending"].address,
        "seed": STATE + 4 * WORD,
        **dict(graph),
    }
    for name, value in constants.items():
        yield f"(global ${name} i32 (i32.const {value}))"


def _graph(builder: ModuleBuilder) -> Iterator[tuple[str, int]]:
    graph = builder.constants.graph
    if graph is None:
        for name in ("nodes", "adjacent", "leading", "cache", "slots"):
            yield f"graph_{name}", 0
        return
    yield "graph_nodes", graph.node_count
    for name, links in (("adjacent", graph._adjacent), ("leading", graph._leading_here)):
        starts, entries = [0], []
        for others in links:
            for other, length in others:
                entries += [other, length]
            starts.append(len(entries) // 2)
        yield f"graph_{name}", builder.memory.words([*starts, *entries])
    words = graph_cache_words(graph.node_count)
    slots = max(FEWEST_SLOTS, min(MOST_SLOTS, CACHE_WORDS // words))
    yield "graph_cache", builder.memory.reserve(slots * words)
    yield "graph_slots", slots


def _tables(builder: ModuleBuilder, stretches: list[str], asked: dict[str, dict[int, str]]) -> Iterator[str]:
    names = " ".join(f"${name}" for name in stretches)
    yield f"(table $stretches {len(stretches)} funcref)"
    yield f"(elem (table $stretches) (i32.const 0) func {names})"
    for kind, functions in asked.items():
        yield f"(table ${kind}_of {len(stretches)} funcref)"
        for index, name in functions.items():
            yield f"(elem (table ${kind}_of) (i32.const {index}) func ${name})"


def _data(data: dict[int, bytes]) -> Iterator[str]:
    start, content = 0, b""
    for address, part in sorted(data.items()):
        if content and address - start - len(content) <= GAP:
            content += bytes(address - start - len(content)) + part
            continue
        if content:
            yield _segment(start, content)
        start, content = address, part
    if content:
        yield _segment(start, content)


def _segment(address: int, content: bytes) -> str:
    return f'(data (i32.const {address}) "{"".join(f"{chr(92)}{byte:02x}" for byte in content)}")'


TOUCHED = """
;; Drops the answers that follow from a cell, which changed.
(func $touched (param $cell i32)
  (local $at i32) (local $mask i64)
  (local.set $at (i32.add (i32.const {table}) (i32.shl (local.get $cell) (i32.const 5))))
  (i64.store (i32.const {alone}) (i64.or (i64.load (i32.const {alone})) (i64.load align=4 (local.get $at))))
  (local.set $mask (i64.load offset=16 align=4 (local.get $at)))
  (if (i64.ne (local.get $mask) (i64.const 0))
    (then (i64.store (i32.load offset=24 (local.get $at))
      (i64.or (i64.load (i32.load offset=24 (local.get $at))) (local.get $mask)))))
  (local.set $mask (i64.load offset=8 align=4 (local.get $at)))
  (if (i64.eqz (local.get $mask)) (then (return)))
{rows})

;; Drops the answers that follow from the cell of a place, where a piece came or went.
(func $touched_piece (param $cell i32) (param $piece i32)
  (local $at i32)
  (call $touched (local.get $cell))
  (local.set $at (i32.add (i32.const {dirty}) (i32.shl
    (i32.load (i32.add (i32.const {owners}) (i32.shl (local.get $piece) (i32.const 2)))) (i32.const 3))))
  (i64.store (local.get $at) (i64.or (i64.load (local.get $at)) (i64.const {own_piece}))))

;; Drops all answers that follow from cells: the state is another one.
(func $forget (export "forget")
  (memory.fill (i32.const {dirty}) (i32.const 255) (i32.const {bytes}))
  (memory.fill (i32.const {parts}) (i32.const 255) (i32.const {parts_bytes})))
"""

ONLY_BOT = "(local.get $asked)"
SEATED_BOT = """(i32.add (local.get $asked)
          (i32.load (i32.add (i32.const {kinds}) (i32.shl (call_indirect $actor_of (type $stretch)
            (i32.load (i32.const {state})) (local.get $asked)) (i32.const 2)))))"""
"""The number of the function by which the bot on the seat that is asked chooses."""

DRIVER = """

;; Runs stretch after stretch until one stops.
(func $run (param $next i32)
  (loop $again
    (if (i32.lt_s (local.get $next) (i32.const 0)) (then (return)))
    (global.set $arena (global.get $arena_start))
    (local.set $next (call_indirect $stretches (type $stretch) (global.get $frame) (local.get $next)))
    (br $again)))

;; Begins a game with a seed and goes to the first decision.
(func $begin (export "start") (param $seed i64)
  (memory.copy (i32.const {state}) (i32.const {first}) (i32.const {size}))
  (i64.store (i32.const {seed}) (local.get $seed))
  (call $forget)
  (global.set $frame (i32.const 0))
  (global.set $top (i32.const {frames}))
  (global.set $fuel (i32.const {fuel}))
  (call $run (i32.const {start})))

;; Lists the options of the decision at hand and gives the address behind the last.
(func $list (export "list") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $options_of (type $listing) (i32.load (i32.const {state})) (i32.load (i32.const {asked})))
  (global.get $options_end))

;; The seat that decides.
(func (export "actor") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Goes on with the option at an address, to the next decision.
(func $choose (export "take") (param $option i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (global.set $frame (i32.load (i32.const {state})))
  (global.set $top (i32.load (i32.const {top})))
  (call $run (call_indirect $take_of (type $taking) (global.get $frame) (local.get $option)
    (i32.load (i32.const {asked})))))

;; A number below n from the stream of the bot on a seat.
(func $draw (param $seat i32) (param $n i32) (result i32)
  (local $at i32) (local $used i64)
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (local.set $used (i64.load offset=8 (local.get $at)))
  (i64.store offset=8 (local.get $at) (i64.add (local.get $used) (i64.const 1)))
  (call $below (i64.load (local.get $at)) (local.get $used) (local.get $n)))

;; Whether an option stands among those from a place up to another one, which it stands at.
(func $is_listed (param $at i32) (param $option i32) (param $size i32) (param $words i32) (result i32)
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $option)))
      (if (call $equal_words (local.get $at) (local.get $option) (local.get $words)) (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (local.get $size)))
      (br $next)))
  (i32.const 0))

;; Puts a kind of bot on a seat, with a stream that begins at a state of the generator.
(func $seat (export "seat") (param $seat i32) (param $kind i32) (param $start i64)
  (local $at i32)
  (i32.store (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.mul (local.get $kind) (i32.const {stretches})))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (i64.store (local.get $at) (local.get $start))
  (i64.store offset=8 (local.get $at) (i64.const 0)))

;; The same with the stream of a seed and the hash of a name.
(func $seat_bot (export "seat_bot") (param $seat i32) (param $kind i32) (param $seed i64) (param $hash i64)
  (call $seat (local.get $seat) (local.get $kind) (call $start (local.get $seed) (local.get $hash))))

;; Whether the decision at hand has more than one option.
(func (export "free") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Lets one kind of bot choose at the decision at hand, with the numbers of the stream that stands apart; gives the
;; address of the option.
(func (export "decide") (param $kind i32) (result i32)
  (local $at i32) (local $option i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (call_indirect $actor_of (type $stretch)
    (i32.load (i32.const {state})) (i32.load (i32.const {asked}))) (i32.const 4))))
  (memory.copy (local.get $at) (i32.const {stream}) (i32.const 16))
  (local.set $option (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.add (i32.load (i32.const {asked})) (i32.mul (local.get $kind) (i32.const {stretches})))))
  (memory.copy (i32.const {stream}) (local.get $at) (i32.const 16))
  (local.get $option))

;; Lets the bots play so many decisions, or to the end of the game; gives how many there were.
(func $play (export "play") (param $limit i32) (result i32)
  (local $asked i32) (local $count i32)
  (block $over
    (loop $next
      (br_if $over (i32.ge_s (local.get $count) (local.get $limit)))
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state})) {bot}))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
  (local.get $count))
"""
