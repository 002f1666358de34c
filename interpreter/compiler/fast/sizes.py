"""How long, heavy or large the values of checked trees can be, by their types and by what the game is made of.

Nothing that is surely small need be looked at when it is kept, and what is looked through has a known length.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interpreter.compiler.constants import MAXIMUM_NUMBER, MAXIMUM_WEIGHT, Constants
from interpreter.compiler.fast.budget import FEW
from interpreter.compiler.lower import Program
from interpreter.language import core as c
from interpreter.language.types import Type
from interpreter.language.walk import descendants

__all__ = ["Sizes", "longest_in"]

SHORTEST = 256
"""Lists may be so long in every game."""


class Sizes:
    """How long, heavy or large the values of checked trees can be."""

    def __init__(self, program: Program, constants: Constants) -> None:
        model = self.model = constants.model
        self.program, self.constants = program, constants
        self._gives: dict[str, int] = {}
        self._priced = max(
            [0, *(price * 100_000 for track in constants.tracks.values() for row in track.spaces for price, _ in row)]
        )
        self.cards, self.nodes = len(model.cards), constants.graph.node_count if constants.graph is not None else 0
        links = len(constants.graph.links) if constants.graph is not None else 0
        self.search = 16 * (self.nodes + links)
        """A question that looks at the whole graph."""
        self.width = max([1, *(len(kind.members) for kind in model.kinds.values() if kind.totals is not None)])
        self.longest = max(
            SHORTEST,
            self.cards,
            self.nodes,
            constants.layout.count("piece") if "piece" in constants.layout.base else 0,
            len(constants.seats),
            self.width,
            *(longest_in(values) for values in constants.statics.values()),
            *(longest_in(table.cells.values()) for table in model.tables.values()),
            longest_in(constants.settings.values()),
            longest_in(_lists_in(program)),
        )

    def weight(self, type_: Type | None) -> int:
        """How many numbers a value of a type holds at most, with all that is in it; 0 for what is one number."""
        if type_ is None:
            return 0
        match type_.form:
            case "list" | "set":
                return min(self.longest * (1 + self.weight(type_.of)), 10**9)
            case "record":
                return min(sum(1 + self.weight(each) for each in self.model.records[type_.name].values()), 10**9)
            case "bag":
                return self.width
            case "room":
                return 2 + self.width
            case "pile":
                return self.cards
            case "zone" | "piles":
                return 2 * self.cards
            case _:
                return 0

    def most_in(self, group: str) -> int | None:
        """How many things a cell of a group holds at most, if that is fewer than anything may hold."""
        kept = self.model.groups.get(group)
        return self.cards if kept is not None and kept.type.form in ("zone", "piles") else None

    @property
    def sets(self) -> int:
        """A question about rooms, where all kinds share them."""
        return 8 << min(self.width, 10)

    def claims(self, width: int) -> int:
        """What can be claimed of the rooms of some cards, over so many kinds."""
        return (4 + (4 << min(width, 10))) * self.cards + (8 << min(width, 10))

    @property
    def mixes(self) -> int:
        """A question about mixes of tokens, of which there are few."""
        return 4 * FEW * self.width

    def is_heavy(self, node: c.Expression) -> bool:
        """Whether a value that is put together here may hold more than may be kept."""
        if isinstance(node, c.MakeList | c.MakeRecord):
            parts = node.items if isinstance(node, c.MakeList) else node.fields
            return sum(1 + self.weight(part.type) for part in parts) > MAXIMUM_WEIGHT
        of = node.type.of
        return of is not None and self.weight(of) > 0 and self.weight(node.type) > MAXIMUM_WEIGHT

    def is_large(self, node: c.Expression, *, own: bool = False) -> bool:
        """Whether a number, or one in a bag, may have more digits than may be kept.

        Numbers in cells, lists and records have no more than that, and locals of procedures (``own``) neither;
        parameters of functions may have.
        """
        if node.type.form == "bag":
            match node:
                case c.Const() | c.Read() | c.FieldOf() | c.Element() | c.SettingValue() | c.Static() | c.TableCell():
                    return False
                case c.Local():
                    return not own
                case c.AmountOf(number):
                    return self.is_large(number, own=own)
                case _:
                    return True
        if node.type.form != "int":
            return False
        return self._magnitude(node, own) >= MAXIMUM_NUMBER

    def is_never_below_0(self, node: c.Expression) -> bool:
        """Whether that can be told of a number by what the game is made of."""
        match node:
            case c.Const(value):
                numbers: Iterable[Any] = [value]
            case c.Static(attribute, _):
                numbers = self.constants.statics[attribute]
            case c.TableCell(table, _):
                numbers = self.model.tables[table].cells.values()
            case _:
                return False
        return all(number is None or number >= 0 for number in numbers)

    def _given(self, target: str) -> int:
        """What a function gives, of which the body is one expression."""
        found = self._gives.get(target)
        if found is None:
            layer = self.program.reach.procedures[target]
            found = MAXIMUM_NUMBER
            if layer.form == "is" and not isinstance(layer.body, tuple):
                found = self._magnitude(layer.body, False)
                if layer.when is not None and layer.layer > 0:
                    found = max(found, self._given(f"{layer.rule}@{layer.layer - 1}"))
            self._gives[target] = found
        return found

    def _magnitude(self, node: c.Expression, own: bool) -> int:
        """A number is at most so far from 0."""
        match node:
            case c.Const(value):
                return abs(value) if value is not None else 0
            case c.PlayerCount():
                return self.constants.counting
            case c.SettingValue(name):
                return _furthest([self.constants.settings[name]])
            case c.Static(attribute, _):
                return _furthest(self.constants.statics[attribute])
            case c.TableCell(table, _):
                return _furthest(self.model.tables[table].cells.values())
            case c.Read() | c.FieldOf() | c.Element() | c.BagItem():
                return MAXIMUM_NUMBER - 1
            case c.Local():
                return MAXIMUM_NUMBER - 1 if own else MAXIMUM_NUMBER
            case c.Negate(value):
                return self._magnitude(value, own)
            case c.Arithmetic(operator, left, right):
                a, b = self._magnitude(left, own), self._magnitude(right, own)
                return {"+": a + b, "-": a + b, "*": a * b, "div": a, "mod": b}[operator]
            case c.Condition(then, _, otherwise):
                return max(self._magnitude(then, own), self._magnitude(otherwise, own))
            case c.Default(value, default):
                return max(self._magnitude(value, own), self._magnitude(default, own))
            case c.Builtin("min" | "max", (_, _, *_) as several):
                return max([self._magnitude(each, own) for each in several])
            case c.Builtin("count", (counted,)) if counted.type.form not in ("int", "bag"):
                return MAXIMUM_WEIGHT
            case c.Loop("count"):
                return MAXIMUM_WEIGHT
            case c.Builtin("distance"):
                return sum(self.constants.lengths)
            case c.Builtin("price" | "vacancy"):
                return self._priced
            case c.CallRule() | c.CallBase():
                return self._given(self.program.target(node))
            case _:
                return MAXIMUM_NUMBER


def longest_in(values: Iterable[Any]) -> int:
    """The length of the longest list, or list in a list, of some values."""
    found = 0
    for value in values:
        if type(value) is tuple:
            found = max(found, len(value), longest_in(value))
    return found


def _furthest(values: Iterable[Any]) -> int:
    return max((abs(value) for value in values if value is not None), default=0)


def _lists_in(program: Program) -> Iterable[Any]:
    """The lists that stand in the text of rules."""
    for layer in program.reach.procedures.values():
        for node in descendants((layer.body, layer.when)):
            if isinstance(node, c.Const):
                yield node.value
            elif isinstance(node, c.MakeList):
                yield (None,) * len(node.items)
