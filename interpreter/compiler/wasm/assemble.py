"""A whole module as WebAssembly text: what is written by hand, the functions of a ruleset, tables and constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module import ModuleBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.wasm.emit import text_of
from interpreter.compiler.wasm.runtime import graph_cache_words, runtime_text
from interpreter.compiler.wasm.whole import Areas, reserve, whole_text

__all__ = ["FUEL", "Plan", "assembled"]

FUEL = 500_000
"""The steps that a module may take for one decision before it gives up."""
OPTIONS_WORDS = 256 * 1024
ARENA_WORDS = 4 * 1024 * 1024
PAGE = 64 * 1024
SLOTS = 4
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


def assembled(builder: ModuleBuilder, first: bytes, bots: Bots = ()) -> tuple[str, Plan]:
    """The text of the module, and where things lie in its memory. ``first`` is the state that games begin with."""
    stretches, asked = build(builder)
    seats = len(builder.constants.seats)
    builder.memory.align(8)
    streams, kinds = builder.memory.reserve(4 * seats), builder.memory.reserve(seats)
    graph = list(_graph(builder))
    holders = builder.holders
    plan = Plan(builder, first, reserve(builder))
    lines = ["(module", *_head(builder, plan, holders, graph), runtime_text(), effects_text()]
    lines.extend(text_of(function) for function in builder.functions.values())
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
    lines.extend((DRIVER.format(**numbers), whole_text(builder, plan.whole, numbers)))
    data = dict(builder.memory.data)
    data[plan.first] = first
    lines.extend(_data(data))
    lines.append(")")
    return "\n".join(lines), plan


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
    yield "graph_cache", builder.memory.reserve(SLOTS * graph_cache_words(graph.node_count))
    yield "graph_slots", SLOTS


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


DRIVER = """
(func $touched (param $cell i32))

;; Forgets all distances that are known.
(func $forget_ways
  (local $slot i32) (local $left i32)
  (local.set $slot (global.get $graph_cache))
  (local.set $left (global.get $graph_slots))
  (i32.store (local.get $slot) (i32.const 0))
  (block $done
    (loop $next
      (br_if $done (i32.eqz (local.get $left)))
      (i32.store offset=8 (local.get $slot) (i32.const 0))
      (local.set $slot (i32.add (local.get $slot) (i32.shl (i32.add (i32.const 4) (i32.mul (global.get $graph_nodes)
        (i32.add (global.get $graph_nodes) (i32.const 2)))) (i32.const 2))))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $next))))

;; The list without the item at a place.
(func $without_place (param $list i32) (param $place i32) (result i32)
  (local $made i32) (local $bytes i32) (local $left i32)
  (local.set $left (i32.sub (i32.load (local.get $list)) (i32.const 1)))
  (local.set $made (call $alloc (i32.add (local.get $left) (i32.const 1))))
  (i32.store (local.get $made) (local.get $left))
  (local.set $bytes (i32.shl (local.get $place) (i32.const 2)))
  (memory.copy (i32.add (local.get $made) (i32.const 4)) (i32.add (local.get $list) (i32.const 4)) (local.get $bytes))
  (memory.copy (i32.add (i32.add (local.get $made) (i32.const 4)) (local.get $bytes))
    (i32.add (i32.add (local.get $list) (i32.const 8)) (local.get $bytes))
    (i32.shl (i32.sub (local.get $left) (local.get $place)) (i32.const 2)))
  (local.get $made))

;; Multiplies two numbers; gives up where the product may be too large for what is added to it.
(func $mul (param $a i64) (param $b i64) (result i64)
  (local $found i64)
  (if (i64.gt_u (i64.add (local.get $a) (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (if (i64.gt_u (i64.add (local.get $b) (i64.const 2147483648)) (i64.const 4294967296)) (then (unreachable)))
  (local.set $found (i64.mul (local.get $a) (local.get $b)))
  (if (i64.gt_u (i64.add (local.get $found) (i64.const 1099511627776)) (i64.const 2199023255552))
    (then (unreachable)))
  (local.get $found))

;; Divides, rounded down.
(func $div (param $a i64) (param $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz (local.get $b)) (then (unreachable)))
  (local.set $rest (i64.rem_s (local.get $a) (local.get $b)))
  (i64.sub (i64.div_s (local.get $a) (local.get $b))
    (i64.extend_i32_u (i32.and (i64.ne (local.get $rest) (i64.const 0))
      (i64.lt_s (i64.xor (local.get $rest) (local.get $b)) (i64.const 0))))))

;; The rest of a division that is rounded down.
(func $mod (param $a i64) (param $b i64) (result i64)
  (local $rest i64)
  (if (i64.eqz (local.get $b)) (then (unreachable)))
  (local.set $rest (i64.rem_s (local.get $a) (local.get $b)))
  (if (result i64) (i32.and (i64.ne (local.get $rest) (i64.const 0))
      (i64.lt_s (i64.xor (local.get $rest) (local.get $b)) (i64.const 0)))
    (then (i64.add (local.get $rest) (local.get $b)))
    (else (local.get $rest))))

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

;; Puts a kind of bot on a seat, and its stream at the beginning.
(func (export "seat_bot") (param $seat i32) (param $kind i32) (param $start i64)
  (local $at i32)
  (i32.store (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))
    (i32.mul (local.get $kind) (i32.const {stretches})))
  (local.set $at (i32.add (i32.const {streams}) (i32.shl (local.get $seat) (i32.const 4))))
  (i64.store (local.get $at) (local.get $start))
  (i64.store offset=8 (local.get $at) (i64.const 0)))

;; Whether the decision at hand has more than one option.
(func (export "free") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $free_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Drops all remembered answers: the state is another one.
(func (export "forget"))

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
  (local $asked i32) (local $count i32) (local $seat i32)
  (block $over
    (loop $next
      (br_if $over (i32.ge_s (local.get $count) (local.get $limit)))
      (local.set $asked (i32.load (i32.const {asked})))
      (br_if $over (i32.lt_s (local.get $asked) (i32.const 0)))
      (global.set $arena (global.get $arena_start))
      (global.set $fuel (i32.const {fuel}))
      (local.set $seat (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (local.get $asked)))
      (call $choose (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
        (i32.add (local.get $asked)
          (i32.load (i32.add (i32.const {kinds}) (i32.shl (local.get $seat) (i32.const 2)))))))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
  (local.get $count))

;; Plays whole games with seeds from the first on; gives how many decisions there were in all.
(func (export "play_games") (param $first i64) (param $games i32) (result i64)
  (local $decisions i64)
  (loop $next
    (call $begin (local.get $first))
    (local.set $decisions (i64.add (local.get $decisions) (i64.extend_i32_u (call $play (i32.const 100000)))))
    (local.set $first (i64.add (local.get $first) (i64.const 1)))
    (br_if $next (local.tee $games (i32.sub (local.get $games) (i32.const 1)))))
  (local.get $decisions))
"""
