"""Effects in WebAssembly text, compared with the kernel on small layouts made up here.

Random effects go to both. After each one the cells are equal, the pending watches, the cells that were told to have
changed, and the arena is as it was; what Python refuses traps.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from interpreter.compiler.wasm.runtime import written
from interpreter.compiler.wasm.runtime_inliner import inliner
from interpreter.kernel.chance import Seeded, drawn, shuffled
from interpreter.kernel.effects import Effects, Refused, ZoneShape, changes
from interpreter.kernel.state import Layout, State
from interpreter.kernel.tracks import Track

wasmtime: Any = pytest.importorskip("wasmtime")

CARDS, PLACES, PIECES, KINDS = 12, 5, 2, 3
NAMES = ("first", "second")
SEED = 0xFEDCBA9876543210
WHERE = ("in", "top", "bottom", "new pile")
ORDERS = ("kept", "free", "by rank")

FLAT = {"deck": "kept", "discard": "kept", "hand": "free", "box": "free", "row": "by rank", "line": "by rank"}
PILED = {"heap": "kept", "bunches": "free", "stacks": "by rank", "towers": "by rank"}
ZONES = {**FLAT, **PILED}
UNITS = ("purse", "bank", "scale", "low_scale")
STOCKS = ("red_stock", "red_house")
BAGS = ("store", "depot", "market", "shop")
UNLIMITED = ("bank", "depot")
TRACKS = {
    "scale": Track((((1, 4), (2, 5)),)),
    "low_scale": Track((((1, 2),),)),
    "market": Track((((1, 3),), ((1, 2), (3, 2)), ())),
    "shop": Track((((2, 6),), ((1, 6),), ((1, 6),))),
}
EARLY = ("deck", "market", "heap", "hand", "purse", "stacks")
"""Holders whose cells come before those of the locations."""
LAYOUT = Layout(
    (
        ("round", 1),
        ("pending", 1),
        *((name, 1) for name in EARLY),
        ("settling", 1),
        ("location", CARDS),
        ("chance", len(NAMES)),
        *((name, 2) for name in STOCKS),
        ("kept", 1),
        *((name, 1) for name in (*ZONES, *UNITS, *BAGS) if name not in EARLY),
        ("piece", PLACES),
    )
)
BASE = LAYOUT.base
ZONE_OF = {BASE[name]: name for name in ZONES}
LOCATION, PIECE, CHANCE, PENDING = (BASE[name] for name in ("location", "piece", "chance", "pending"))

STAND_INS = """
(import "host" "rank" (func $rank (param i32 i32) (result i64)))
(import "host" "touched" (func $touched (param i32)))
(import "host" "shuffled" (func $shuffled (param i32 i64 i64 i64) (result i32)))
(import "host" "drawn" (func $drawn (param i32 i64 i64 i64) (result i32)))
(func $touched_piece (param $cell i32) (param $piece i32) (call $touched (local.get $cell)))
(memory $memory (export "memory") 2)
(global $arena (export "arena") (mut i32) (i32.const 65536))
(global $arena_end i32 (i32.const 131072))
(func $alloc (export "alloc") (param $words i32) (result i32)
  (local $fresh i32)
  (local.set $fresh (global.get $arena))
  (global.set $arena (i32.add (local.get $fresh) (i32.shl (local.get $words) (i32.const 2))))
  (if (i32.gt_u (global.get $arena) (global.get $arena_end)) (then (unreachable)))
  (local.get $fresh))
(func $word (param $number i64) (result i32)
  (if (i64.gt_u (i64.add (local.get $number) (i64.const 0x7FFFFFFF)) (i64.const 0xFFFFFFFE)) (then (unreachable)))
  (i32.wrap_i64 (local.get $number)))
(func $end_of (param $list i32) (result i32)
  (i32.add (i32.add (local.get $list) (i32.const 4)) (i32.shl (i32.load (local.get $list)) (i32.const 2))))
(func $copy_list (param $list i32) (result i32)
  (local $fresh i32) (local $bytes i32)
  (local.set $bytes (i32.sub (call $end_of (local.get $list)) (local.get $list)))
  (local.set $fresh (call $alloc (i32.shr_u (local.get $bytes) (i32.const 2))))
  (memory.copy (local.get $fresh) (local.get $list) (local.get $bytes))
  (local.get $fresh))
(func $find (param $list i32) (param $word i32) (result i32)
  (local $at i32)
  (local.set $at (local.get $list))
  (loop $next
    (local.set $at (i32.add (local.get $at) (i32.const 4)))
    (if (i32.eq (local.get $at) (call $end_of (local.get $list))) (then (return (i32.const 0))))
    (br_if $next (i32.ne (i32.load (local.get $at)) (local.get $word))))
  (local.get $at))
(func $equal_lists (param $p i32) (param $q i32) (result i32)
  (local $end i32)
  (local.set $end (call $end_of (local.get $p)))
  (loop $next
    (if (i32.ne (i32.load (local.get $p)) (i32.load (local.get $q))) (then (return (i32.const 0))))
    (local.set $q (i32.add (local.get $q) (i32.const 4)))
    (br_if $next (i32.ne (local.tee $p (i32.add (local.get $p) (i32.const 4))) (local.get $end))))
  (i32.const 1))
"""
"""What the runtime and generated code supply, as little of it as the effects use."""

EXPORTED = (
    *("move_cards", "move_to_pile", "move_units", "move_bag", "move_kind", "move_all_units", "move_all_bag"),
    *("place_piece", "take_piece", "shuffle_zone", "pick", "put"),
)


class Full(Exception):
    """More than the memory has room for."""


class Limited(Effects):
    """Effects on cells that hold so much and no more."""

    capacities: dict[int, tuple[int, int]]

    def put(self, state: State, cell: int, value: Any, site: Any) -> None:
        super().put(state, cell, value, site)
        self._fits(cell, value)

    def _change(self, state: State, changes: Any) -> None:
        super()._change(state, changes)
        for cell, value in changes:
            self._fits(cell, value)

    def _fits(self, cell: int, value: Any) -> None:
        if cell in ZONE_OF:
            most, in_pile = self.capacities[cell]
            if len(value) > most or (ZONE_OF[cell] in PILED and any(len(pile) > in_pile for pile in value)):
                raise Full
        elif value is not None and any(abs(n) >= 2**31 for n in (value if isinstance(value, tuple) else (value,))):
            raise Full


def hash_of(name: str) -> int:
    """Return FNV-1a of a name, as a signed number."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value - 2**64 if value >= 2**63 else value


HASHES = {hash_of(name): name for name in NAMES}


class Pair:
    """One game in both forms."""

    def __init__(self, chance: random.Random, capacities: dict[int, tuple[int, int]]) -> None:
        self.chance = chance
        self.capacities = capacities
        self.ranks = {cell: [chance.randrange(-2, 4) for _ in range(CARDS)] for cell in ZONE_OF}
        zones = {
            cell: ZoneShape(name, ZONES[name], self._rank(cell) if ZONES[name] == "by rank" else None, name in PILED)
            for cell, name in ZONE_OF.items()
        }
        stocks = {BASE[name] + seat: seat * PIECES + STOCKS.index(name) for name in STOCKS for seat in (0, 1)}
        units = frozenset([*(BASE[name] for name in UNITS), *stocks])
        wakes = [chance.choice((0, 1 << chance.randrange(64), chance.getrandbits(64))) for _ in range(LAYOUT.size)]
        unlimited = frozenset(BASE[name] for name in UNLIMITED)
        tracks = {BASE[name]: track for name, track in TRACKS.items()}
        self.effects = Limited(LAYOUT, zones, units, tracks, unlimited, wakes, stocks)
        self.effects.capacities = capacities
        self.state = self._first()
        self.told: list[int] = []
        self._lay_out()
        self._start()
        self.write()

    def _rank(self, cell: int) -> Callable[[State, int], int]:
        """The keys of a table; in some zones they depend on where a card lies, too."""
        if ZONE_OF[cell] in ("line", "towers"):
            return lambda state, card: (self.ranks[cell][card] + state.cells[LOCATION + card]) % 3
        return lambda state, card: self.ranks[cell][card]

    def _first(self) -> State:
        chance, cells = self.chance, [0] * LAYOUT.size
        state = State(cells)
        for cell in ZONE_OF:
            state.cells[cell] = ()
        for card in range(CARDS):
            state.cells[LOCATION + card] = self._with_room(state, card)
        for place in range(PLACES):
            state.cells[PIECE + place] = None
        for name in BAGS:
            most = TRACKS[name].capacities() if name in TRACKS else (9,) * KINDS
            state.cells[BASE[name]] = tuple(chance.randint(0, each) for each in most)
        for name in UNITS:
            state.cells[BASE[name]] = chance.randint(0, 2)
        for name in STOCKS:
            state.cells[BASE[name]], state.cells[BASE[name] + 1] = 2, 1
        state.cells[PENDING] = 0
        return state

    def _with_room(self, state: State, card: int) -> int:
        """A zone that gets the card."""
        while True:
            cell = self.chance.choice(list(ZONE_OF))
            if len(state.cells[cell]) < self.capacities[cell][0]:
                piled = ZONE_OF[cell] in PILED
                state.cells[cell] = (*state.cells[cell], (card,) if piled else card)
                return cell

    # --- memory

    def _lay_out(self) -> None:
        """Cells one after another, then what does not change."""
        self.holders = 64
        self.address: dict[int, int] = {}
        at = self.holders + LAYOUT.size * 32
        for cell in range(LAYOUT.size):
            self.address[cell] = at
            at += 4 * self._words(cell)
        self.tracks, self.seed, self.scratch = at, at + 200, at + 400
        assert at + 1000 < 65536

    def _words(self, cell: int) -> int:
        if cell in ZONE_OF:
            most, in_pile = self.capacities[cell]
            return 1 + most * (1 + in_pile if ZONE_OF[cell] in PILED else 1)
        return KINDS if cell in map(BASE.get, BAGS) else 2 if cell == PENDING else 1

    def _start(self) -> None:
        address = self.address
        constants = {
            "holders": self.holders,
            "location": address[LOCATION],
            "location_cell": LOCATION,
            "piece": address[PIECE],
            "piece_cell": PIECE,
            "pending": address[PENDING],
            "seed": self.seed,
        }
        header = "\n".join(f"(global ${name} i32 (i32.const {value}))" for name, value in constants.items())
        exports = "\n".join(f'(export "{name}" (func ${name}))' for name in EXPORTED)
        text = inliner(written("effects.wat")).text
        self.store = wasmtime.Store()
        code = wasmtime.wat2wasm(f"(module {STAND_INS}\n{header}\n{text}\n{exports})")
        module = wasmtime.Module(self.store.engine, code)
        i32, i64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()
        linker = wasmtime.Linker(self.store.engine)
        for name, takes, gives, function in (
            ("rank", [i32, i32], [i64], self._host_rank),
            ("touched", [i32], [], self.told.append),
            ("shuffled", [i32, i64, i64, i64], [i32], self._host_shuffled),
            ("drawn", [i32, i64, i64, i64], [i32], self._host_drawn),
        ):
            linker.define(
                self.store, "host", name, wasmtime.Func(self.store, wasmtime.FuncType(takes, gives), function)
            )
        self.exports = linker.instantiate(self.store, module).exports(self.store)
        self.memory = self.exports["memory"]

    def _host_rank(self, zone: int, card: int) -> int:
        """The key in the state as the memory has it."""
        if ZONE_OF[zone] in ("line", "towers"):
            return int((self.ranks[zone][card] + self.load(self.address[LOCATION] + 4 * card)[0]) % 3)
        return int(self.ranks[zone][card])

    def _host_shuffled(self, items: int, seed: int, hashed: int, counter: int) -> int:
        assert seed % 2**64 == SEED
        found = shuffled(self.load_list(items), SEED, HASHES[hashed], counter)
        made = int(self.exports["alloc"](self.store, len(found) + 1))
        self.store_words(made, len(found), *found)
        return made

    def _host_drawn(self, n: int, seed: int, hashed: int, counter: int) -> int:
        assert seed % 2**64 == SEED
        return drawn(n, SEED, HASHES[hashed], counter)

    def load(self, address: int, words: int = 1) -> tuple[int, ...]:
        return struct.unpack(f"<{words}i", self.memory.read(self.store, address, address + 4 * words))

    def load_list(self, address: int) -> tuple[int, ...]:
        return self.load(address + 4, self.load(address)[0])

    def store_words(self, address: int, *words: int) -> None:
        signed = (word - 2**32 if word >= 2**31 else word for word in words)
        self.memory.write(self.store, struct.pack(f"<{len(words)}i", *signed), address)

    def write(self) -> None:
        """Memory as the state is."""
        at = self.tracks
        for cell in range(LAYOUT.size):
            woken = self.effects.wakes[cell]
            words = [self.address[cell], 0, 0, 0, woken % 2**32, woken >> 32, int(cell in self.effects.unlimited), 0]
            if cell in ZONE_OF:
                name, (most, in_pile) = ZONE_OF[cell], self.capacities[cell]
                words[1:4] = ORDERS.index(ZONES[name]), int(name in PILED), most
                words[6] = 1 + in_pile
            elif cell in self.effects.tracks:
                words[7] = at
                capacities = self.effects.tracks[cell].capacities()
                self.store_words(at, *capacities)
                at += 4 * len(capacities)
            self.store_words(self.holders + 32 * cell, *words)
            self.store_words(self.address[cell], *self._kept(cell))
        self.store_words(self.seed, SEED % 2**32, SEED >> 32)

    def _kept(self, cell: int) -> list[int]:
        value = self.state.cells[cell]
        if cell == PENDING:
            return [value % 2**32, value >> 32]
        if cell in ZONE_OF:
            if ZONE_OF[cell] not in PILED:
                return [len(value), *value]
            rest = [self.chance.randrange(99) for _ in range(self.capacities[cell][1])]  # left from other piles
            stride = 1 + len(rest)
            return [len(value), *(word for pile in value for word in [len(pile), *pile, *rest][:stride])]
        return list(value) if isinstance(value, tuple) else [-1 if value is None else value]

    def read(self, cell: int) -> Any:
        address = self.address[cell]
        if cell == PENDING:
            low, high = self.load(address, 2)
            return low % 2**32 + (high % 2**32 << 32)
        if cell in ZONE_OF:
            if ZONE_OF[cell] not in PILED:
                return self.load_list(address)
            stride = 4 * (1 + self.capacities[cell][1])
            return tuple(self.load_list(address + 4 + stride * pile) for pile in range(self.load(address)[0]))
        if cell in map(BASE.get, BAGS):
            return self.load(address, KINDS)
        found = self.load(address)[0]
        return None if PIECE <= cell < PIECE + PLACES and found == -1 else found

    # --- effects in both

    def both(self, name: str, given: tuple[int, ...], does: Callable[[State], Any]) -> bool:
        """Do one effect in both; gives whether it happened."""
        before = self.state.cells[:]
        self.state.log.clear()
        self.told.clear()
        self.state.cells[PENDING] = 0
        self.store_words(self.address[PENDING], 0, 0)
        arena = self.exports["arena"].value(self.store)
        result = refused = None
        try:
            result = does(self.state)
        except (Refused, Full, IndexError, StopIteration) as error:
            refused = error
        try:
            found = self.exports[name](self.store, *given)
        except (wasmtime.Trap, wasmtime.WasmtimeError):
            assert refused is not None, f"{name}{given} traps"
            self.state.cells[:] = before
            self.exports["arena"].set_value(self.store, arena)
            self.write()
            return False
        assert refused is None, f"{name}{given}: {refused!r}"
        assert result == found
        for cell in range(LAYOUT.size):
            assert self.read(cell) == self.state.cells[cell], f"{name}{given}: {LAYOUT.owner_of(cell)}"
        assert sorted(self.told) == sorted(cell for record in self.state.log for cell, _ in changes(record))
        assert self.exports["arena"].value(self.store) == arena
        return True

    def list_at(self, items: tuple[int, ...]) -> int:
        """The address of a list: in the state where one lies there, half the time, else at a place of its own."""
        inside = [
            address for zone in ZONE_OF for address in self._lists(zone) if self.load_list(address) == tuple(items)
        ]
        if inside and self.chance.random() < 0.5:
            return self.chance.choice(inside)
        at = self.scratch
        self.scratch = at + 100 if at == self.tracks + 400 else self.tracks + 400
        self.store_words(at, len(items), *items)
        return at

    def _lists(self, zone: int) -> Iterator[int]:
        address = self.address[zone]
        if ZONE_OF[zone] not in PILED:
            yield address
            return
        for pile in range(self.load(address)[0]):
            yield address + 4 + 4 * (1 + self.capacities[zone][1]) * pile

    def some_cards(self) -> tuple[int, ...]:
        """Cards of one zone or pile, of the table, or some of these twice."""
        chance, cells = self.chance, self.state.cells
        sort = chance.randrange(8)
        if sort == 0:
            return tuple(chance.choices(range(CARDS), k=chance.randrange(4)))
        if sort == 1:
            return tuple(chance.sample(range(CARDS), chance.randrange(5)))
        if sort <= 4:
            return (chance.randrange(CARDS),)
        zone = chance.choice(list(ZONE_OF))
        held = cells[zone]
        if held and ZONE_OF[zone] in PILED:
            held = chance.choice(held)
        return tuple(held) if sort == 5 else tuple(chance.sample(held, chance.randint(0, len(held))))


def roomy() -> dict[int, tuple[int, int]]:
    return dict.fromkeys(ZONE_OF, (CARDS, CARDS))


def move_cards(pair: Pair) -> bool:
    chance = pair.chance
    cards = pair.some_cards()
    zone = chance.choice(list(ZONE_OF))
    where = chance.randrange(4)
    if where == 3 and (ZONE_OF[zone] not in PILED or len(set(cards)) < len(cards)):
        where = 1  # the language has no new pile there
    if where == 3 and pair.state.cells[zone] and chance.random() < 0.5:
        cards = chance.choice(pair.state.cells[zone])  # a whole pile, which lies last afterwards
    return pair.both(
        "move_cards",
        (pair.list_at(cards), zone, where),
        lambda state: pair.effects.move_cards(state, cards, zone, WHERE[where], None),
    )


def move_to_pile(pair: Pair) -> bool:
    chance = pair.chance
    cards = tuple(dict.fromkeys(pair.some_cards()))
    zone = chance.choice([zone for zone in ZONE_OF if pair.state.cells[zone]])
    pile = pair.state.cells[zone]  # of a zone without piles: they have been taken away
    if ZONE_OF[zone] in PILED:
        pile = chance.choice(pile)
    pile = chance.choice((pile, pile, pile, pile[:1], ()))
    where = chance.randrange(3)
    return pair.both(
        "move_to_pile",
        (pair.list_at(cards), pair.list_at(pile), where),
        lambda state: pair.effects.move_to_pile(state, cards, pile, WHERE[where], None),
    )


def move_units(pair: Pair) -> bool:
    chance = pair.chance
    names = (
        [BASE[name] for name in UNITS] if chance.random() < 0.7 else [*range(BASE["red_stock"], BASE["red_stock"] + 2)]
    )
    source, target = chance.choice(names), chance.choice(names)
    if chance.random() < 0.2:
        return pair.both(
            "move_all_units",
            (source, target),
            lambda state: pair.effects.move_tokens(state, state.cells[source], source, target, None),
        )
    amount = chance.choice((0, 1, 1, 1, 2, 3, -1, 7, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -(2**63)))
    if chance.random() < 0.8:
        amount = chance.randint(0, 3)
    return pair.both(
        "move_units",
        (amount, source, target),
        lambda state: pair.effects.move_tokens(state, amount, source, target, None),
    )


def move_bag(pair: Pair) -> bool:
    chance = pair.chance
    source, target = BASE[chance.choice(BAGS)], BASE[chance.choice(BAGS)]
    if chance.random() < 0.2:
        return pair.both(
            "move_all_bag",
            (source, target, KINDS),
            lambda state: pair.effects.move_tokens(state, state.cells[source], source, target, None),
        )
    if chance.random() < 0.2:  # what a holder has
        held = chance.choice((source, target))
        amount, at = pair.state.cells[held], pair.address[held]
    else:
        amount = tuple(chance.choice((0, 0, 0, 1, 1, 2)) for _ in range(KINDS))
        if chance.random() < 0.1:
            amount = (*amount[:2], chance.choice((-1, 2**31 - 1, 1 - 2**31)))
        at = pair.scratch
        pair.store_words(at, *amount)
    if sum(map(bool, amount)) == 1:
        kind = next(kind for kind in range(KINDS) if amount[kind])
        if chance.random() < 0.5:
            return pair.both(
                "move_kind",
                (amount[kind], kind, source, target, KINDS),
                lambda state: pair.effects.move_tokens(state, amount, source, target, None),
            )
    return pair.both(
        "move_bag",
        (at, source, target, KINDS),
        lambda state: pair.effects.move_tokens(state, amount, source, target, None),
    )


def move_piece(pair: Pair) -> bool:
    chance, effects = pair.chance, pair.effects
    owner, name, place = chance.randrange(2), chance.choice(STOCKS), chance.randrange(PLACES)
    stock = BASE[name] + owner
    piece = effects.stock_pieces[stock]
    if chance.random() < 0.5:
        return pair.both(
            "place_piece",
            (stock, place, piece),
            lambda state: effects.place_piece(state, stock, place, None),
        )
    return pair.both(
        "take_piece",
        (place, stock, piece),
        lambda state: effects.take_piece(state, stock, place, None),
    )


def use_chance(pair: Pair) -> bool:
    chance, source = pair.chance, Seeded(SEED)
    number = chance.randrange(len(NAMES))
    counter = (pair.address[CHANCE + number], CHANCE + number)
    name = NAMES[number]
    if chance.random() < 0.6:
        zone = chance.choice(list(ZONE_OF))
        return pair.both(
            "shuffle_zone",
            (zone, hash_of(name), *counter),
            lambda state: pair.effects.shuffle(state, zone, source, name, number, None),
        )
    items = tuple(range(chance.randrange(7)))
    return pair.both(
        "pick",
        (len(items), hash_of(name), *counter),
        lambda state: pair.effects.pick(state, items, source, name, number, None),
    )


def put(pair: Pair) -> bool:
    value = pair.chance.randrange(3)
    return pair.both("put", (BASE["round"], value), lambda state: pair.effects.put(state, BASE["round"], value, None))


EFFECTS = {
    each.__name__: each for each in (move_cards, move_to_pile, move_units, move_bag, move_piece, use_chance, put)
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EFFECTS)
def test_each_effect_does_what_the_kernel_does(name: str) -> None:
    for game in range(2):
        pair = Pair(random.Random(f"{name} {game}"), roomy())
        happened = 0
        for _ in range(400):
            happened += EFFECTS[name](pair)
            if name == "move_to_pile" and pair.chance.random() < 0.3:
                move_cards(pair)  # else all cards lie in piles soon
        assert happened > 50


@pytest.mark.parametrize("game", range(4))
def test_a_mixture_of_effects(game: int) -> None:
    pair = Pair(random.Random(game), roomy())
    effects = [*EFFECTS.values(), move_cards, move_cards, move_to_pile]
    for _ in range(400):
        pair.chance.choice(effects)(pair)


@pytest.mark.parametrize("game", range(4))
def test_what_has_no_room_in_memory_traps(game: int) -> None:
    chance = random.Random(f"tight {game}")
    pair = Pair(chance, {cell: (chance.randint(1, 4), chance.randint(1, 3)) for cell in ZONE_OF})
    results = {chance.choice((move_cards, move_to_pile, use_chance))(pair) for _ in range(400)}
    assert results == {True, False}


def test_cards_that_repeat_are_no_new_pile() -> None:
    pair = Pair(random.Random(1), roomy())
    with pytest.raises((wasmtime.Trap, wasmtime.WasmtimeError)):
        pair.exports["move_cards"](pair.store, pair.list_at((3, 3)), BASE["heap"], 3)


def test_a_counter_ends_where_a_word_ends() -> None:
    pair = Pair(random.Random(1), roomy())
    pair.store_words(pair.address[CHANCE], 2**31 - 1)
    with pytest.raises((wasmtime.Trap, wasmtime.WasmtimeError)):
        pair.exports["pick"](pair.store, 3, hash_of(NAMES[0]), pair.address[CHANCE], CHANCE)
