"""Built-in functions: each row of the registry, in both machines, on random arguments of its parameters' types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from interpreter.compiler.codegen.builtin_calls import BUILT
from interpreter.compiler.codegen.function import ZERO
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.codegen.steps import Steps
from interpreter.compiler.ir import ops
from interpreter.compiler.wasm.assemble import assembled
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.driver import FUEL
from interpreter.compiler.wasm.engines import compiled, instance_of
from interpreter.compiler.wasm.instance import Trap
from interpreter.engine.setup import Table
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.builtins import BUILTINS, TYPES, Builtin
from interpreter.language.types import (
    INT,
    SEAT,
    BagType,
    CardType,
    CollectionType,
    IntType,
    KindType,
    ListType,
    NodeType,
    PileType,
    RoomType,
    SeatType,
    SetType,
    TrackType,
    Type,
)
from interpreter.language.walk import descendants
from interpreter.lowering.constants import RuleFailure
from interpreter.lowering.effect_analysis import may_fail
from interpreter.plain.builtin_functions import OF_GAME, OF_VALUES
from tests.small import FAMILY, MAP, RULESET, loaded, outcome, write

TIMES = 150
GEMS, SEATS, NODES, CARDS = 3, 3, 6, 4
GEM, CARD, ROOM = KindType("gem"), CardType("plan"), RoomType(KindType("gem"))
ITEMS = (INT, SEAT, BagType("gem"))
"""Types of the items of any list."""
TRACKED = FAMILY.replace("graph:", "tracks: {market: {of: gem, spaces: spaces, start: laid}}\ngraph:")
SPACES = """\
tables:
  spaces:
    keys: [gem, int]
    gives: int
    is: |
      gem  | 1 | 2 | 3 | 7
      ruby | 2 | 0 | 1 | 1
      onyx | 0 | 3 | 0 | 2
      opal | 1 | 1 | 1 | 0
  laid:
    keys: [gem]
    gives: int
    is: |
      gem   | ruby | onyx | opal
      start | 1    | 2    | 3
"""
WAYS = (
    MAP.replace("  Coll | red\n", "  Coll | red\n  Danna | red\n  Eigg | blue\n  Fara | red\n").replace(
        "  Bute | Coll | 2\n", "  Bute | Coll | 2\n  Ayr | Coll | 5\n  Coll | Danna | 0\n  Danna | Eigg | 7\n"
    )
    + "graph: {amends: small, pieces: 2}\n"
)


@dataclass(frozen=True)
class Call:
    """A row with types of its arguments."""

    row: Builtin
    types: tuple[Type, ...]
    result: Type
    or_none: bool

    @property
    def node(self) -> core.CallBuiltin:
        market = core.Cell("market", None, type=TrackType("gem"))
        given = (
            market if isinstance(each, TrackType) else core.Local(i, "", type=each) for i, each in enumerate(self.types)
        )
        return core.CallBuiltin(self.row, tuple(given), self.or_none, type=self.result)

    def __str__(self) -> str:
        return f"{self.row.name}({', '.join(map(str, self.types))}){' or none' if self.or_none else ''}"


def types_of(word: str, item: Type) -> tuple[Type, ...]:
    """Types that a parameter or result may have, given the type of items."""
    several = {
        "any": (item,),
        "item": (item,),
        "list": (ListType(item),),
        "lists": (ListType(ListType(item)),),
        "set": (SetType(item),),
        "counted": (ListType(item), BagType("gem"), INT, PileType("plan")),
        "bag": (BagType("gem"),),
        "bags": (ListType(BagType("gem")),),
        "kind": (GEM,),
        "kinds": (SetType(GEM), ListType(GEM)),
        "room": (ROOM,),
        "rooms": (ListType(ROOM),),
        "track": (TrackType("gem"),),
        "numbers": (ListType(INT),),
        "pile": (PileType("plan"),),
        "piles": (ListType(PileType("plan")),),
    }
    return (TYPES[word],) if word in TYPES else several[word]


def calls() -> Iterator[Call]:
    for row in BUILTINS.values():
        if row.rewritten:
            continue
        words = row.parameters + row.parameters[-1:] * row.many
        for item in ITEMS if {"any", "list", "item"} & set(words) else ITEMS[:1]:
            if isinstance(item, BagType) and row.name in ("distinct", "set of list"):
                continue  # a module has no sets of bags: it leaves them to the plain form
            variants: list[tuple[Type, ...]] = [()]
            for word in words:
                variants = [(*before, each) for before in variants for each in types_of(word, item)]
            of = {"top": CARD, "cards of piles": CARD}.get(row.name, item)
            for types in variants:
                (result,) = types_of(row.gives, of)
                yield Call(row, types, result, False)
                if row.partial:
                    yield Call(row, types, result.maybe, True)


CALLS = list(calls())


class Both:
    """A small game in which both machines can make all calls."""

    def __init__(self, table: Table) -> None:
        self.machine, self.first = table.machine, table.first
        self.builder = builder = ModuleBuilder(table.machine)
        self.codec, self.given = Codec(builder), builder.memory.reserve(64 * 1024)
        names = [f"try.{number}" for number in range(len(CALLS))]
        builder.functions |= {name: self._function(name, call) for name, call in zip(names, CALLS, strict=True)}
        assert not builder.left_out
        text, _ = assembled(builder, self.codec.encode(self.first, 0), further=names)
        exports = "\n".join(f'(export "{name}" (func ${name}))' for name in names)
        module = instance_of(compiled(f"{text.rstrip().removesuffix(')')}{exports})"))
        self.module, self.forget = module, module.function("forget")
        self.functions = [module.function(name) for name in names]

    def _function(self, name: str, call: Call) -> ops.Function:
        """A function of arguments in their kept forms; it writes the kept form of what the call gives behind them."""

        def build(b: Steps) -> None:
            b.set(ops.Global("arena"), ops.Global("arena_start"))
            b.set(ops.Global("fuel"), ops.Constant(FUEL))
            at = self.given
            for number, type_ in enumerate(call.types):
                if not isinstance(type_, TrackType):
                    value = b.load(ZERO, at, type_)
                    b.locals[number] = b.var(value.rep, value=value)
                    at += self.builder.shapes.words(type_) * WORD
            b.store(ZERO, at, b.value(call.node), call.result)

        return Steps(self.builder).made(ops.Function(name, (), None), build)

    def plain(self, call: Call) -> Callable[[State, list[Value]], Value]:
        return self.machine.expressions.compile(call.node)

    def compiled(self, call: Call, state: State, values: list[Value]) -> Value:
        """What a module gives; :class:`Trap` where it gives up."""
        words = [
            word
            for value, type_ in zip(values, call.types, strict=True)
            if not isinstance(type_, TrackType)
            for word in self.codec.words(value, type_)
        ]
        data = self.codec.encode(state, 0)
        self.module.bytes[STATE : STATE + len(data)] = data
        at = self.given // WORD
        self.module.words[at : at + len(words)] = memoryview(bytes(4 * len(words))).cast("i")
        for place, word in enumerate(words, start=at):
            self.module.words[place] = word
        self.forget()
        self.functions[CALLS.index(call)]()
        return self.codec.value(self.module.words, at + len(words), call.result)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    path = write(tmp_path_factory.mktemp("builtins"), family=TRACKED + SPACES)
    (path.parent / "maps" / "isles.yaml").write_text(WAYS, encoding="utf-8")
    ruleset = loaded(path)
    return Both(ruleset.table(SEATS, ruleset.settings({})))


def drawn(random: Random, word: str, type_: Type) -> Value:
    """A value of a type; seldom one that a strict function refuses."""
    if word == "nodes":
        return tuple(random.sample(range(NODES), random.randint(0, NODES)))
    match type_:
        case TrackType():
            return None
        case IntType():
            return random.choice((random.randint(-2, 5), random.randint(-1000, 1000)))
        case SeatType():
            return random.randrange(SEATS)
        case NodeType():
            return random.randrange(NODES)
        case KindType():
            return random.randrange(GEMS)
        case BagType():
            return tuple(random.choice((0, 0, 1, 2, 4, random.randint(-1, 9))) for _ in range(GEMS))
        case RoomType():
            return drawn(random, "", SetType(GEM)), random.randint(0, 5)
        case PileType():
            return tuple(random.sample(range(CARDS), random.randint(0, CARDS)))
        case _:
            assert isinstance(type_, CollectionType)
            items = tuple(drawn(random, "", type_.of) for _ in range(random.randint(0, 4)))
            return items if isinstance(type_, ListType) else tuple(sorted(set(items)))


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_both_machines_give_the_same(both: Both, call: Call) -> None:
    random, plain, row = Random(str(call)), both.plain(call), call.row
    failures = 0
    for _ in range(TIMES):
        values = [drawn(random, *each) for each in zip(row.parameters * 2, call.types, strict=False)]
        if row.name == "sum of bags":
            values[1] = (0,) * GEMS
        if row.name == "without" and values[0] and random.random() < 0.7:
            values[1] = random.choice(values[0])
        state = State(list(both.first.cells))
        state.cells[both.machine.constants.layout.base["market"]] = tuple(random.randint(0, 3) for _ in range(GEMS))
        both.machine.meter.refill()
        try:
            wanted: object = plain(state, values)
        except RuleFailure:
            wanted, failures = "failure", failures + 1
        try:
            found: object = both.compiled(call, state, values)
        except Trap:
            found = "failure"
        assert found == wanted, values
    can_fail = may_fail(both.machine.program, call.node)
    assert can_fail or not failures, "the row says that it never fails"
    assert can_fail == (row.strict or (row.partial and not call.or_none))
    groups = {getattr(op, "group", "") for op in descendants(both.builder.functions[f"try.{CALLS.index(call)}"].body)}
    assert row.reads == bool(groups - {""}), "what the row says of the cells that it reads"


def test_each_row_has_an_implementation_in_both_machines() -> None:
    known = {row.name for row in BUILTINS.values() if not row.rewritten}
    runtime = {row.name for row in BUILTINS.values() if row.runtime}
    for implemented in (OF_VALUES.keys() | OF_GAME.keys(), BUILT.keys() | runtime):
        assert {name if name in known else name.partition(" of ")[0] for name in implemented} == known
    assert not BUILT.keys() & runtime


def test_a_game_without_a_graph_calls_what_needs_one(tmp_path: Path) -> None:
    family = re.sub(r"^(graph|pieces):.*\n(?: .*\n)*| *huts: .*\n|,\s+t: town", "", FAMILY, flags=re.MULTILINE)
    path = write(tmp_path, "amount = 1 if connected([]) else 2\nend game", family=family)
    path.write_text(RULESET.replace("map: small/isles\n", ""), encoding="utf-8")
    (path.parent / "maps" / "isles.yaml").unlink()
    assert outcome(path) == "plays"
