"""Runtime of compiled rules: each function in WebAssembly gives what the kernel or the plain form gives."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate
from random import Random
from typing import Any

import pytest
import wasmtime
from hypothesis import example, given
from hypothesis import strategies as st

from interpreter.compiler.wasm.runtime import graph_cache_words, written
from interpreter.compiler.wasm.runtime_inliner import inliner
from interpreter.kernel import bags, chance
from interpreter.kernel.bags import Bag, Rooms
from interpreter.kernel.graphs import Graph
from interpreter.kernel.tracks import Track
from interpreter.plain import builtin_functions as builtins
from tests.kernel.test_bags import BAGS, ROOMS, WIDTH
from tests.kernel.test_chance import ANY_SEED, MIXED
from tests.kernel.test_graphs import Case, cases
from tests.support import shared

NONE = -(2**31)
LARGEST = 2**31 - 1
_64 = 2**64

GIVEN, CACHE, ARENA, END = 1 << 10, 8 << 20, 24 << 20, 40 << 20
"""Addresses: what a test gives, the cache of distances, the arena and its end."""

HEADER = f"""
(memory $memory (export "memory") {END >> 16})
(global $arena (export "arena") (mut i32) (i32.const {ARENA}))
(global $arena_end i32 (i32.const {END}))
(global $graph_nodes (export "graph_nodes") (mut i32) (i32.const 0))
(global $graph_adjacent (export "graph_adjacent") (mut i32) (i32.const 0))
(global $graph_leading (export "graph_leading") (mut i32) (i32.const 0))
(global $graph_cache i32 (i32.const {CACHE}))
(global $graph_slots (export "graph_slots") (mut i32) (i32.const 3))
"""

FUNCTIONS = re.findall(r"^\(func \$(\w+)", written("runtime.wat"), re.MULTILINE)

WORDS = st.integers(NONE + 1, LARGEST)
LISTS = st.lists(WORDS | st.integers(-3, 3), max_size=20)
LONG = st.lists(st.integers(-50, 50) | WORDS, max_size=200)


class Traps(Exception):
    """A function executed ``unreachable``."""


class Runtime:
    """An instance of a module that exports each function of the runtime."""

    def __init__(self) -> None:
        exports = "\n".join(f'(export "{name}" (func ${name}))' for name in FUNCTIONS)
        engine = wasmtime.Engine()
        module = wasmtime.Module(
            engine, bytes(wasmtime.wat2wasm(f"(module {HEADER} {inliner(written('runtime.wat')).text} {exports})"))
        )
        self.store = wasmtime.Store(engine)
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        memory = self.exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self.memory = memory
        self.memory.write(self.store, b"\xab" * (END - ARENA), ARENA)  # what was left there by others
        self.end = GIVEN

    def forget(self) -> None:
        """Start again with empty memory for what a test gives."""
        self.end = GIVEN
        self.set("arena", ARENA)

    def set(self, name: str, value: int) -> None:
        """Set a global."""
        of = self.exports[name]
        assert isinstance(of, wasmtime.Global)
        of.set_value(self.store, value)

    @property
    def arena(self) -> int:
        """The first free address of the arena."""
        of = self.exports["arena"]
        assert isinstance(of, wasmtime.Global)
        return int(of.value(self.store))

    def call(self, name: str, *arguments: int) -> int:
        """Call a function, which must leave everything given as it is; ``Traps`` where it traps."""
        function = self.exports[name]
        assert isinstance(function, wasmtime.Func)
        before = self.memory.read(self.store, GIVEN, self.end)
        try:
            found = function(self.store, *arguments)
        except wasmtime.Trap as trap:
            assert trap.trap_code == wasmtime.TrapCode.UNREACHABLE, trap.message
            raise Traps(name) from None
        assert self.memory.read(self.store, GIVEN, self.end) == before, f"{name} changes its arguments"
        assert isinstance(found, int)
        return found

    def number(self, name: str, *arguments: int) -> int | None:
        """Call a function that gives a number, a truth or an index, and takes nothing from the arena."""
        before = self.arena
        found = self.call(name, *arguments)
        assert self.arena == before, f"{name} keeps scratch memory"
        return None if found == NONE else found

    def fresh_list(self, name: str, *arguments: int) -> list[int]:
        """Call a function that gives a list at the arena's end, and keeps nothing else."""
        before = self.arena
        found = self.call(name, *arguments)
        words = self.items(found)
        assert (found, self.arena) == (before, found + 4 + 4 * len(words)), f"{name} keeps scratch memory"
        return words

    def bag(self, k: int, name: str, *arguments: int) -> Bag:
        """Call a function that gives a bag."""
        before = self.arena
        found = self.call(name, *arguments)
        assert (found, self.arena) == (before, found + 4 * k), f"{name} keeps scratch memory"
        return tuple(self.words(found, k))

    def words(self, address: int, n: int) -> list[int]:
        """Words in memory."""
        return list(struct.unpack(f"<{n}i", self.memory.read(self.store, address, address + 4 * n)))

    def items(self, address: int) -> list[int]:
        """Items of a list in memory."""
        return self.words(address + 4, self.words(address, 1)[0])

    def give(self, words: Iterable[int], form: str = "i") -> int:
        """Address of words, or of other numbers, that a test gives."""
        given = list(words)
        data = struct.pack(f"<{len(given)}{form}", *given)
        address, self.end = self.end, self.end + (len(data) + 3) // 4 * 4
        self.memory.write(self.store, data, address)
        return address

    def give_list(self, items: Sequence[int]) -> int:
        """Address of a list that a test gives."""
        return self.give([len(items), *items])

    def give_rooms(self, rooms: Rooms) -> int:
        """Address of a list of rooms."""
        return self.give_list([self.give([self.give_list(kinds), capacity]) for kinds, capacity in rooms])

    def give_graph(self, graph: Graph, slots: int = 3) -> None:
        """Set the graph, with an empty cache."""
        self.set("graph_nodes", graph.node_count)
        self.set("graph_adjacent", adjacent := self._links(graph._adjacent))
        self.set("graph_leading", self._links(graph._leading_here) if graph.one_way else adjacent)
        self.set("graph_slots", slots)
        assert CACHE + 4 * slots * graph_cache_words(graph.node_count) <= ARENA
        self.memory.write(self.store, bytes(4 * slots * graph_cache_words(graph.node_count)), CACHE)

    def _links(self, links: Sequence[Sequence[tuple[int, int]]]) -> int:
        offsets = accumulate(map(len, links), initial=0)
        return self.give([*offsets, *(word for entries in links for entry in entries for word in entry)])


@shared
def _runtime() -> Runtime:
    return Runtime()


def fresh() -> Runtime:
    """The runtime, with nothing given."""
    runtime = _runtime()
    runtime.forget()
    return runtime


@pytest.fixture
def run() -> Runtime:
    return fresh()


def signed(number: int) -> int:
    """The number of 64 bits as WebAssembly gives it."""
    number %= _64
    return number - _64 if number >> 63 else number


def unfinalised(number: int) -> int:
    """The number of which ``_finalise`` makes this one."""
    first, second = pow(chance._FIRST, -1, _64), pow(chance._SECOND, -1, _64)
    number ^= number >> 31 ^ number >> 62
    number = number * second % _64
    number ^= number >> 27 ^ number >> 54
    number = number * first % _64
    return number ^ number >> 30 ^ number >> 60


def start_of(number: int, index: int) -> int:
    """The state of a generator whose output ``index`` is this number."""
    return (unfinalised(number) - (index + 1) * chance._STEP) % _64


# Text.


def test_each_function_is_described() -> None:
    lines = written("runtime.wat").splitlines()
    assert len(FUNCTIONS) == len(set(FUNCTIONS)) == sum(line.startswith("(") for line in lines)
    for line, before in zip(lines[1:], lines, strict=False):
        assert not line.startswith("(func") or before.startswith(";; "), line
    assert max(map(len, lines)) <= 120


# Chance.


@pytest.mark.parametrize(("seed", "name", "counter", "number"), MIXED)
def test_published_numbers(run: Runtime, seed: int, name: str, counter: int, number: int) -> None:
    assert run.call("mix", signed(seed), signed(chance.name_hash(name)), counter) == signed(number)


def test_published_outcomes(run: Runtime) -> None:
    deck, die = signed(chance.name_hash("deck")), signed(chance.name_hash("die"))
    assert run.fresh_list("shuffled", run.give_list(range(10)), 7, deck, 0) == [8, 6, 2, 9, 3, 7, 1, 4, 5, 0]
    run.forget()
    assert run.fresh_list("shuffled", run.give_list(range(10)), 7, deck, 1) == [8, 9, 5, 7, 4, 3, 1, 2, 6, 0]
    assert [run.number("drawn", 6, 7, die, counter) for counter in range(12)] == [3, 0, 1, 3, 1, 0, 3, 1, 0, 0, 2, 3]
    assert run.call("output", 0, 0) == signed(0xE220A8397B1DCDAF)


@given(ANY_SEED, st.text(max_size=8), st.integers(0, 2**40), st.integers(1, LARGEST) | st.integers(1, 100))
def test_numbers_agree_with_the_kernel(seed: int, name: str, counter: int, n: int) -> None:
    run, hashed = fresh(), signed(chance.name_hash(name))
    assert run.call("finalise", signed(seed)) == signed(chance._finalise(seed % _64))
    assert run.call("start", signed(seed), hashed) == signed(chance._start(seed, name))
    assert run.call("output", signed(seed), counter) == signed(chance._output(seed % _64, counter))
    assert run.call("mix", signed(seed), hashed, counter) == signed(chance.mix(seed, name, counter))
    assert run.number("drawn", n, signed(seed), hashed, counter) == chance.drawn(n, seed, name, counter)


@given(LONG, ANY_SEED, st.text(max_size=8), st.integers(0, 100))
def test_shuffled_agrees_with_the_kernel(items: list[int], seed: int, name: str, counter: int) -> None:
    run, hashed = fresh(), signed(chance.name_hash(name))
    found = run.fresh_list("shuffled", run.give_list(items), signed(seed), hashed, counter)
    assert found == list(chance.shuffled(tuple(items), seed, name, counter))


@given(ANY_SEED, st.text(max_size=8), st.integers(0, 10**6), st.integers(1, 50) | st.integers(1, LARGEST))
def test_below_agrees_with_the_draws_of_bots(seed: int, name: str, used: int, n: int) -> None:
    draws = chance.Draws(seed, name)
    draws.used = used
    assert fresh().number("below", signed(chance._start(seed, name)), used, n) == draws.below(n)


@pytest.mark.parametrize("n", [1, 3, 6, 7, 2**30 - 1, 2**30, 2**30 + 3, LARGEST])
@pytest.mark.parametrize("back", [1, 2, 5, 2**20, 2**30 - 1, 2**30, 2**30 + 1, LARGEST])
def test_rejected_numbers(run: Runtime, monkeypatch: pytest.MonkeyPatch, n: int, back: int) -> None:
    number = _64 - back
    start = start_of(number, 0)
    assert chance._output(start, 0) == number
    assert run.call("bounded", signed(start), n) == chance.bounded(lambda index: chance._output(start, index), n)
    before = start_of(start, 5)
    monkeypatch.setattr(chance, "_start", lambda seed, name: before)
    draws = chance.Draws(0, "")
    draws.used = 5
    assert run.number("below", signed(before), 5, n) == draws.below(n)


@pytest.mark.parametrize("place", [0, 1, 38])
def test_rejected_numbers_of_a_shuffle(run: Runtime, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """The numbers of swap ``place`` begin with the greatest there is."""
    start = start_of(start_of(_64 - 1, 0), place)
    state = start_of(start, 3)
    hashed = unfinalised(state) ^ chance._finalise((7 + chance._STEP) % _64)
    monkeypatch.setattr(chance, "_start", lambda seed, name: state)
    items = tuple(range(41))
    assert chance._output(chance._output(start, place), 0) == _64 - 1
    found = run.fresh_list("shuffled", run.give_list(items), 7, signed(hashed), 3)
    assert found == list(chance.shuffled(items, 7, "", 3))


@pytest.mark.parametrize("n", [0, -1, NONE])
def test_no_outcome_traps(run: Runtime, n: int) -> None:
    with pytest.raises(Traps):
        run.call("drawn", n, 1, 2, 3)
    with pytest.raises(Traps):
        run.call("below", 1, 2, n)


# Lists.


@given(LISTS, LISTS, WORDS)
def test_lists_agree_with_python(items: list[int], others: list[int], word: int) -> None:
    run = fresh()
    a, b = run.give_list(items), run.give_list(others)

    def words(name: str, *arguments: int) -> list[int]:
        return run.fresh_list(name, *arguments)

    assert words("copy_list", a) == items
    assert words("concat", a, b) == items + others
    assert words("rest", a) == items[1:]
    assert words("reversed", a) == items[::-1]
    assert words("distinct", a) == list(dict.fromkeys(items))
    assert words("set_of", a) == sorted(set(items))
    assert words("set_of", run.give_list(sorted(set(items)))) == sorted(set(items))
    assert run.number("equal_lists", a, b) == (items == others)
    assert run.number("equal_lists", a, run.give_list(items)) == 1
    for wanted in [word, *items]:
        assert run.number("contains", a, wanted) == (wanted in items)
        assert run.number("position", a, wanted) == (items.index(wanted) if wanted in items else None)
        if wanted in items:
            assert words("without", a, wanted) == list(builtins._without(tuple(items), wanted))
    for n in [-(2**62), -1, 0, 1, 2, len(items) - 1, len(items), len(items) + 1, 2**32 + 1, 2**62]:
        assert words("take", n, a) == items[: max(0, n)]


@given(st.lists(st.integers(0, 6)), st.integers(7, 9))
def test_flags(items: list[int], n: int) -> None:
    run = fresh()
    assert run.fresh_list("flags", run.give_list(items), n) == [int(i in items) for i in range(n)]
    for wrong in (-1, n):
        with pytest.raises(Traps):
            run.call("flags", run.give_list([*items, wrong]), n)


@given(LONG)
def test_long_lists(items: list[int]) -> None:
    run = fresh()
    given = run.give_list(items)
    assert run.fresh_list("copy_list", given) == items
    assert run.fresh_list("distinct", given) == list(dict.fromkeys(items))
    assert run.fresh_list("set_of", given) == sorted(set(items))
    assert run.fresh_list("concat", given, given) == items * 2


@given(LISTS, st.integers(0, 19), WORDS)
def test_equal_words(items: list[int], place: int, word: int) -> None:
    run = fresh()
    others = [word if at == place else item for at, item in enumerate(items)]
    a, b = run.give(items), run.give(others)
    assert run.number("equal_words", a, b, len(items)) == (items == others)
    assert run.number("equal_words", a, a, len(items)) == 1


def test_lists_that_trap(run: Runtime) -> None:
    empty, some = run.give_list([]), run.give_list([1, 2])
    for name, arguments in [("without", [some, 3]), ("without", [empty, 0])]:
        with pytest.raises(Traps):
            run.call(name, *arguments)
    with pytest.raises(Traps):
        run.call("sum_of_words", run.give([-(2**30)] * 2), 2)  # would read as none
    long = run.give_list([1] * 20_000)
    assert len(run.fresh_list("concat", long, empty)) == 20_000
    with pytest.raises(Traps):
        run.call("concat", long, some)


def test_the_arena_ends(run: Runtime) -> None:
    words = (END - ARENA) // 4
    assert run.call("alloc", words - 3) == ARENA
    assert run.call("alloc", 0) == run.call("alloc", 3) == END - 12
    assert run.call("alloc", 0) == END
    for more in (1, -1, NONE, 1 << 30):
        with pytest.raises(Traps):
            run.call("alloc", more)
    with pytest.raises(Traps):
        run.call("rest", run.give_list([]))


@pytest.mark.parametrize(
    ("n", "size"), [(3, 50), (4, 30), (1, 20_000), (19, 21), (2, 201), (10, 16), (2**40, 3), (2, 20_000), (500, 1000)]
)
def test_most_subsets(run: Runtime, n: int, size: int) -> None:
    items = tuple(range(size))
    given = run.give_list(items)
    try:
        wanted = builtins._subsets(n, items)
    except ValueError:
        with pytest.raises(Traps):
            run.call("subsets", n, given)
    else:
        found = run.items(run.call("subsets", n, given))
        assert [tuple(run.items(subset)) for subset in found] == list(wanted)


KEYS = st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(KEYS, KEYS, KEYS), max_size=100), st.integers(1, 3))
@example([(0, 0, 0)] * 17, 1)
@example([(n, 0, 0) for n in range(33, 0, -1)], 2)
def test_sort_is_stable(keys: list[tuple[int, ...]], width: int) -> None:
    run = fresh()
    items = list(range(100, 100 + len(keys)))
    given = run.give((number for key in keys for number in key[:width]), "q")
    found = run.fresh_list("sort", run.give_list(items), given, width)
    assert found == [100 + place for place in sorted(range(len(keys)), key=lambda place: keys[place][:width])]
    for p, q in zip(range(len(keys)), range(1, len(keys)), strict=False):
        a, b = keys[p][:width], keys[q][:width]
        order = (a > b) - (a < b)
        assert run.call("compare_keys", given + 8 * width * p, given + 8 * width * q, width) == order


def test_sort_of_many(run: Runtime) -> None:
    random = Random(1)
    for size in [0, 1, 15, 16, 17, 31, 32, 33, 64, 65, 1000, 4097]:
        keys = [random.randrange(size // 3 + 1) for _ in range(size)]
        run.forget()
        found = run.fresh_list("sort", run.give_list(range(size)), run.give(keys, "q"), 1)
        assert found == sorted(range(size), key=keys.__getitem__)
        assert run.fresh_list("set_of", run.give_list(keys)) == sorted(set(keys))
        assert run.fresh_list("distinct", run.give_list(keys)) == list(dict.fromkeys(keys))


# Bags.

SOME_BAGS = st.integers(1, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(-9, 9) | WORDS, min_size=k, max_size=k), min_size=2, max_size=5)
)


@given(SOME_BAGS)
def test_bags_agree_with_the_kernel(given: list[list[int]]) -> None:
    run = fresh()
    k, (a, b), places = len(given[0]), map(tuple, given[:2]), [run.give(bag) for bag in given]

    def compare(wanted: Bag, name: str, *arguments: int) -> None:
        if all(-(2**31) < number < 2**31 for number in wanted):
            assert run.bag(k, name, *arguments) == wanted
        else:
            with pytest.raises(Traps):
                run.call(name, *arguments)

    compare(bags.add(a, b), "bag_sum", places[0], places[1], 1, k)
    compare(bags.subtract(a, b), "bag_sum", places[0], places[1], -1, k)
    compare(tuple(-number for number in a), "bag_sum", places[0], places[0], -2, k)
    compare(tuple(map(sum, zip(*given, strict=True))), "sum_of_bags", run.give_list(places), k)
    compare((0,) * k, "sum_of_bags", run.give_list([]), k)
    if sum(a) != NONE:
        assert run.number("sum_of_words", places[0], k) == sum(a)


def test_a_single_kind(run: Runtime) -> None:
    assert run.bag(3, "bag_single", 7, 2, 3) == (0, 0, 7)
    assert run.bag(3, "bag_single", -LARGEST, 0, 3) == (-LARGEST, 0, 0)
    bag = run.give((1, LARGEST, 3))
    assert run.bag(3, "bag_with", bag, 7, 0, 3) == (8, LARGEST, 3)
    assert run.bag(3, "bag_with", bag, -LARGEST, 1, 3) == (1, 0, 3)
    for number, kind in [(7, 3), (7, -1), (2**31, 0), (NONE, 0), (2**32, 0)]:
        with pytest.raises(Traps):
            run.call("bag_single", number, kind, 3)
        with pytest.raises(Traps):
            run.call("bag_with", bag, number, kind, 3)
    with pytest.raises(Traps):
        run.call("bag_with", bag, 1, 1, 3)


def _compare_rooms(bag: Bag, rooms: Rooms) -> None:
    run = fresh()
    k, tokens, given = len(bag), run.give(bag), run.give_rooms(rooms)
    try:
        wanted = bags.overflow(bag, rooms)
    except ValueError:
        for name, arguments in [("overflow", [k]), ("space", [0, k])]:
            with pytest.raises(Traps):
                run.call(name, tokens, given, *arguments)
        return
    assert run.number("overflow", tokens, given, k) == wanted
    for kind in range(k):
        assert run.number("space", tokens, given, kind, k) == bags.space(bag, rooms, kind)
    if k > 6:
        return
    capacities = run.call("capacities", -1, given, k)
    is_owing = min(bag) < 0
    assert run.number("overflow_within", tokens, capacities, k) == (-1 if is_owing else wanted)
    spaces = [-1 if is_owing else bags.space(bag, rooms, kind) for kind in range(k)]
    assert run.fresh_list("spaces", tokens, capacities, k) == spaces


@given(BAGS, ROOMS)
def test_rooms_agree_with_the_kernel(bag: Bag, rooms: Rooms) -> None:
    _compare_rooms(bag, rooms)


@given(st.tuples(*[st.integers(-1, 20)] * WIDTH), ROOMS)
def test_rooms_and_counts_below_0(bag: Bag, rooms: Rooms) -> None:
    _compare_rooms(bag, rooms)


def test_many_rooms() -> None:
    random = Random(2)
    for _ in range(300):
        k = random.randint(1, 14)
        kinds = [tuple(sorted(random.sample(range(k), random.randint(0, min(k, 5))))) for _ in range(5)]
        rooms = tuple((random.choice(kinds), random.randint(0, 9)) for _ in range(random.randint(0, 64)))
        _compare_rooms(tuple(random.randint(0, 9) for _ in range(k)), rooms)


def test_rooms_that_trap(run: Runtime) -> None:
    bag = run.give([1, 2])
    for rooms in [(((0,), -1),), (((2,), 1),), (((-1,), 1),), (((0,), 1),) * 65]:
        with pytest.raises(Traps):
            run.call("overflow", bag, run.give_rooms(rooms), 2)
    with pytest.raises(Traps):
        run.call("space", bag, run.give_rooms(()), 2, 2)


def _mixes(run: Runtime, number: int, kinds: Sequence[int], bag: Bag) -> list[Bag]:
    found = run.call("mixes", number, run.give_list(kinds), run.give(bag), len(bag))
    return [tuple(run.words(mix, len(bag))) for mix in run.items(found)]


@pytest.mark.parametrize(
    ("number", "bag"),
    [
        (2**40, (2**31 - 1,) * 3),
        (33_332, (40_000,) * 2),
        (49_999, (50_000,) * 2),
        (50_000, (50_000,) * 2),
        (10**9, (10**9,) * 2),
        (2, (1,) * 64),
        (1, (1,) * 65),
        (0, (0,) * 70),
        (3, (-1, 5, 2, 3)),
    ],
)
def test_most_mixes(run: Runtime, number: int, bag: Bag) -> None:
    kinds = tuple(range(len(bag)))
    try:
        wanted = bags.mixes(number, kinds, bag)
    except ValueError:
        with pytest.raises(Traps):
            _mixes(run, number, kinds, bag)
    else:
        assert _mixes(run, number, kinds, bag) == list(wanted)


@pytest.mark.parametrize("kind", [-1, 3])
def test_mixes_of_what_is_no_kind_trap(run: Runtime, kind: int) -> None:
    with pytest.raises(Traps):
        _mixes(run, 1, (0, kind), (1, 2, 3))


# Tracks.

SPACES = st.lists(st.tuples(st.integers(-3, 20), st.integers(0, 4)), max_size=6).map(tuple)


@given(st.lists(SPACES, min_size=1, max_size=4), st.data())
def test_tracks_agree_with_the_kernel(spaces: list[tuple[tuple[int, int], ...]], data: st.DataObject) -> None:
    run, track = fresh(), Track(tuple(spaces))
    k = len(spaces)
    rows = [
        run.give([track.capacity(kind), *track._sums[kind], *track.prices(kind)])  # as the compiler lays it out
        for kind in range(k)
    ]
    given = run.give(rows)
    counts = st.tuples(*[st.integers(-1, track.capacity(kind) + 1) for kind in range(k)])
    present, wanted = data.draw(counts), data.draw(counts)
    arguments = (given, run.give(present), run.give(wanted), k)
    try:
        price = track.price_of(present, wanted)
    except ValueError:
        with pytest.raises(Traps):
            run.call("track_price", *arguments)
    else:
        assert run.number("track_price", *arguments) == price
    for kind in range(k):
        assert run.fresh_list("track_prices", given, kind) == list(track.prices(kind))
        for count in range(track.capacity(kind) + 1):
            assert run.number("track_vacancy", given, kind, count) == track.room(kind, count)
        for count in (-1, track.capacity(kind) + 1, 2**32, -(2**62)):
            with pytest.raises(Traps):
                run.call("track_vacancy", given, kind, count)


# Graph.


def _path(run: Runtime, starts: int, goal: int, within: int, lengths: int) -> tuple[int, ...] | None:
    before = run.arena
    found = run.call("path", starts, goal, within, lengths)
    nodes = None if found == 0 else tuple(run.items(found))
    assert run.arena == before + (0 if nodes is None else 4 + 4 * len(nodes)), "path keeps scratch memory"
    return nodes


def _compare_ways(run: Runtime, case: Case, lengths: int) -> None:
    starts = run.give_list(case.starts)
    within = 0 if case.within is None else run.give_list(case.within)
    distances = case.graph.distances(case.starts, case.within, case.lengths)
    nearest = run.items(run.call("nearest", starts, within, lengths))
    assert [None if word == -(2**31) else word for word in nearest] == list(distances)
    for goal in range(case.graph.node_count):
        assert run.number("distance", starts, goal, within, lengths) == distances[goal]
        wanted = case.graph.path(case.starts, goal, case.within, case.lengths)
        assert _path(run, starts, goal, within, lengths) == wanted
    assert run.number("connected", starts) == case.graph.connected(case.starts)


@given(cases())
@example(Case(Graph(4, ((0, 1, 0), (0, 2, 0), (1, 3, 1))), (1, 2), (1,), 0, (0, 1)))  # the length is the way's plus 1
@example(Case(Graph(3, ((2, 1, 0), (1, 0, 1))), (1, 2), (2,), 1, (1, 2)))
@example(Case(Graph(1, ()), (), (0,), 0, ()))
def test_ways_agree_with_the_kernel(case: Case) -> None:
    run = fresh()
    run.give_graph(case.graph)
    _compare_ways(run, case, run.give(case.lengths))


def _large_graph(random: Random, nodes: int, one_way: bool = False) -> Graph:
    links = [(a, min(nodes - 1, a + random.randint(1, 7)), random.randrange(40)) for a in range(nodes) for _ in (0, 1)]
    return Graph(nodes, tuple(links), one_way=one_way)


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("nodes", [40, 90])
def test_the_cache_tells_nodes_and_lengths_apart(run: Runtime, nodes: int, one_way: bool) -> None:
    """More choices of nodes than slots, asked about again and again, each time at the same addresses."""
    random = Random(nodes)
    graph = _large_graph(random, nodes, one_way)
    run.give_graph(graph)
    tables = [tuple(random.choice([0, 3, 5, 20, 10**6]) for _ in range(40)) for _ in range(2)]
    addresses = [run.give(lengths) for lengths in tables]
    subsets = [None, *(tuple(sorted(random.sample(range(nodes), nodes - 8))) for _ in range(4))]
    given = run.end
    for _ in range(24):
        run.end = given
        run.set("arena", ARENA)
        which = random.randrange(2)
        starts = tuple(random.choices(range(nodes), k=random.randint(0, 4)))
        _compare_ways(run, Case(graph, tables[which], starts, 0, random.choice(subsets)), addresses[which])


def test_a_large_graph(run: Runtime) -> None:
    random = Random(5)
    graph = _large_graph(random, 700)
    lengths = tuple(random.randint(0, 30) for _ in range(40))
    run.give_graph(graph, slots=2)
    address, within = run.give(lengths), tuple(random.sample(range(700), 650))
    nodes = run.give_list(within)
    for _ in range(20):
        starts = tuple(random.choices(range(700), k=5))
        given, goal = run.give_list(starts), random.randrange(700)
        assert run.number("distance", given, goal, nodes, address) == graph.distances(starts, within, lengths)[goal]
        assert _path(run, given, goal, nodes, address) == graph.path(starts, goal, within, lengths)
    assert run.number("connected", nodes) == graph.connected(within)


def test_long_ways_trap(run: Runtime) -> None:
    graph = Graph(3, ((0, 1, 0), (1, 2, 0)))
    run.give_graph(graph)
    starts, goal = run.give_list([0]), 2
    assert run.call("distance", starts, goal, 0, run.give([2**30 - 1])) == 2**31 - 2
    for length in (2**30, LARGEST, -1):
        lengths = run.give([length])
        for name in ("distance", "path"):
            with pytest.raises(Traps):
                run.call(name, starts, goal, 0, lengths)
    assert run.call("distance", starts, goal, 0, run.give([5])) == 10


def test_what_is_no_node_traps(run: Runtime) -> None:
    run.give_graph(Graph(2, ((0, 1, 0),)))
    lengths, good, bad, none = run.give([1]), run.give_list([0]), run.give_list([0, 2]), run.give_list([-1])
    wrong: list[tuple[Any, ...]] = [
        (good, 2, 0),
        (good, -1, 0),
        (bad, 0, 0),
        (none, 0, 0),
        (good, 0, bad),
        (good, 0, none),
    ]
    for name in ("distance", "path"):
        for starts, goal, within in wrong:
            with pytest.raises(Traps):
                run.call(name, starts, goal, within, lengths)
        run.call(name, good, 1, 0, lengths)
    for nodes in (bad, none):
        with pytest.raises(Traps):
            run.call("connected", nodes)
    with pytest.raises(Traps):
        run.call("distance", good, 1, run.give_list([0, 1, 1, 1, 1]), lengths)  # more than a slot has room for
