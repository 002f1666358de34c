"""What the fast form knows of functions before it writes them: how big they are, what they read, if they can fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from math import prod
from typing import Any

from interpreter.compiler.constants import Constants
from interpreter.compiler.facts import STATE_BUILTINS
from interpreter.compiler.fast.mixtures import Mixtures, mixtures
from interpreter.compiler.fast.zones import Zones
from interpreter.compiler.lower import Program
from interpreter.language import core as c
from interpreter.language.model import RuleLayer
from interpreter.language.types import Type
from interpreter.language.walk import descendants

__all__ = ["MOST_UNROLLED", "FunctionFacts", "Knowledge"]

MOST_LIFTED = 4
"""A function that reads more cells is given the whole state."""
MOST_UNROLLED = 8
"""A loop over no more known things is written out."""
MOST_MIXTURES = 16
"""So many tables of mixes are made for one game."""
SMALL_EXPRESSION = 30
SMALL_VERDICT = 60
"""A function or verdict with no more nodes stands in place of its calls."""
HEAVY_BUILTINS = frozenset(("overflow", "space", "connected", "set of list", "sum", "total"))
TOTAL_BUILTINS = frozenset(("count", "rest", "take", "reversed", "set of list", "sum", "total", "room", "overflow"))


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """Of one layer of a function or verdict.

    ``lifted``: the only cells that it reads, as group and the parameter that owns the cell (none: no owner); nothing
    where that cannot be said, then it is given the whole state. ``heavy``: worth remembering by value.
    ``inline``: small enough to stand in place of its calls. ``total``: it never fails. ``uses``: how often it reads
    each parameter.
    """

    layer: RuleLayer
    lifted: tuple[tuple[str, int | None], ...] | None
    heavy: bool
    inline: bool
    total: bool
    uses: tuple[int, ...]


class _CellsRead:
    """Cells that a function reads, each as its group and the parameter that owns it (none: no owner).

    What adds to them says whether it can: else the function reads a cell that cannot be told so.
    """

    def __init__(self, knowledge: Knowledge, layer: RuleLayer, nodes: list[Any]) -> None:
        self.knowledge = knowledge
        changed = {node.index for node in nodes if isinstance(node, c.SetLocal | c.Picks)}
        self.owners = set(range(len(layer.parameters))) - changed
        self.found: dict[tuple[str, int | None], None] = {}

    def add(self, node: Any) -> bool:
        """What a node of the function reads."""
        program = self.knowledge.program
        match node:
            case c.Read(cell):
                return self._add_cell(self.knowledge.cell_of(cell))
            case c.Builtin(name, arguments) if name in STATE_BUILTINS:
                return self._add_cell(self.knowledge.cell_of(arguments[0]))
            case c.CallRule() | c.CallBase():
                target = program.target(node)
                if program.reach.procedures[target].form == "does":
                    return False
                names_a_cell = node.type.is_holder and isinstance(self.knowledge.cell_of(node), c.Cell)
                return names_a_cell or self.add_call(target, node.arguments)
            case _:
                return True

    def add_call(self, id: str, arguments: tuple[c.Expression, ...]) -> bool:
        """What a function reads that is called with these arguments."""
        lifted = self.knowledge.facts(id).lifted
        return lifted is not None and all(
            self._add(group, None if index is None else arguments[index]) for group, index in lifted
        )

    def _add_cell(self, cell: c.Expression) -> bool:
        return isinstance(cell, c.Cell) and self._add(cell.group, cell.owner)

    def _add(self, group: str, owner: c.Expression | None) -> bool:
        if owner is None:
            self.found[group, None] = None
            return True
        if isinstance(owner, c.Local) and owner.index in self.owners:
            self.found[group, owner.index] = None
            return True
        return False


class Knowledge:
    """Facts of all functions of a program, found when first asked for."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self.program, self.constants = program, constants
        self.zones = Zones(program, constants)
        self._facts: dict[str, FunctionFacts] = {}
        self._mixtures: dict[Any, Mixtures] = {}

    def facts(self, id: str) -> FunctionFacts:
        """What is known of one of them."""
        found = self._facts.get(id)
        if found is None:
            found = self._facts[id] = self._find(id)
        return found

    def below(self, layer: RuleLayer) -> str | None:
        """The layer that answers where `when` is false."""
        return f"{layer.rule}@{layer.layer - 1}" if layer.when is not None and layer.layer > 0 else None

    def _find(self, id: str) -> FunctionFacts:
        layer = self.program.reach.procedures[id]
        nodes = [*descendants(layer.body), *(descendants(layer.when) if layer.when is not None else ())]
        below = self.below(layer)
        light = [node.arguments[0] for node in nodes if isinstance(node, c.Builtin) and self.is_end_number(node)]
        heavy = any(self._is_heavy(node) for node in nodes if not _is_one_of(node, light))
        whole = (layer.body, layer.when)
        long = any(
            self._is_heavy(node)
            for node in _outside_rooms(whole)
            if not _is_about_rooms(node) and not _is_one_of(node, light)
        )
        steps = isinstance(layer.body, tuple) and layer.form != "permits"
        binds = any(isinstance(node, c.Requirement) and node.bind is not None for node in nodes)
        size = sum(1 for node in nodes if not isinstance(node, c.Const | c.Local))
        limit = SMALL_VERDICT if layer.form == "permits" else SMALL_EXPRESSION
        inline = not steps and not binds and not long and size <= limit
        uses = tuple(
            sum(1 for node in nodes if isinstance(node, c.Local) and node.index == index) + (1 if below else 0)
            for index in range(len(layer.parameters))
        )
        total = not steps and not binds and all(self._is_total(node) for node in nodes)
        if below is not None:
            total = total and self.facts(below).total
        return FunctionFacts(layer, self._lifted(layer, nodes, below), heavy, inline, total, uses)

    # --- order

    def is_end(self, node: c.Loop, items: c.Expression) -> bool:
        """Whether the least or the most of cards is the first or the last of these, which are in that order."""
        match node:
            case c.Loop("min" | "max", variable, _, _, (c.Static(attribute, c.Local(index)),)) if index == variable:
                return self.zones.is_rising(attribute) and self.zones.is_in_order(items)
            case _:
                return False

    def is_end_number(self, node: c.Builtin) -> bool:
        """Whether the most that an attribute of cards is belongs to the last of them, or the least to the first."""
        match node:
            case c.Builtin(
                "max of list" | "min of list",
                (c.Loop("map", variable, items, None, _, c.Static(attribute, c.Local(index))),),
            ) if index == variable:
                return self.zones.is_rising(attribute) and self.zones.is_in_order(items)
            case _:
                return False

    # --- reads

    def cell_of(self, node: c.Expression) -> c.Expression:
        """A holder behind calls that only name it."""
        while isinstance(node, c.CallRule | c.CallBase):
            answer = self.program.answer(node)
            if not isinstance(answer, c.Cell | c.CallRule | c.CallBase):
                return node
            if isinstance(answer, c.Cell) and answer.owner is not None:
                return node
            node = answer
        return node

    def _lifted(
        self, layer: RuleLayer, nodes: list[Any], below: str | None
    ) -> tuple[tuple[str, int | None], ...] | None:
        """The only cells that a function reads, where that can be said and they are few."""
        cells = _CellsRead(self, layer, nodes)
        if not all(cells.add(node) for node in nodes):
            return None
        if below is not None:
            given = tuple(c.Local(index, "") for index in range(len(layer.parameters)))
            if not cells.add_call(below, given):
                return None
        return tuple(cells.found) if len(cells.found) <= MOST_LIFTED else None

    # --- failures

    def is_total(self, node: Any) -> bool:
        """Whether an expression gives a value whatever the state is."""
        return all(self._is_total(each) for each in descendants(node))

    def _is_total(self, node: Any) -> bool:
        match node:
            case c.TableCell(table, keys):
                sizes = [self._members(key.type) for key in keys]
                return 0 < prod(sizes) == len(self.constants.model.tables[table].cells)
            case c.Element() | c.RangeFrom() | c.Default():
                return False
            case c.Arithmetic(operator):
                return operator in ("+", "-", "*")
            case c.Builtin(name, arguments, or_none):
                if name == "distance" or (name in ("min", "max") and len(arguments) > 1):
                    return name != "distance"
                return or_none or name in TOTAL_BUILTINS
            case c.Loop(operation=operation, or_none=or_none):
                return or_none or operation in ("count", "any", "all", "filter", "map", "sorted")
            case c.CallRule() | c.CallBase():
                target = self.program.target(node)
                if self.program.reach.procedures[target].form == "does":
                    return False
                return self.facts(target).total
            case _:
                return True

    def is_count(self, node: c.Expression) -> bool:
        """Whether a number is surely not below 0: what lies somewhere, what is left over, what there is room for."""
        match node:
            case c.BagItem(c.Read(cell), _) | c.Read(cell) | c.Builtin("space", (c.Read(cell), *_)):
                holder = self.cell_of(cell)
                if not isinstance(holder, c.Cell) or holder.type.form not in ("pool", "track"):
                    return False
                return self.constants.layout.base[holder.group] not in self.constants.effects.unlimited
            case c.Builtin("overflow"):
                return True
            case c.Builtin("count", (counted,)):
                return counted.type.form not in ("int", "bag")
            case c.CallRule() | c.CallBase():
                answer = self.program.answer(node)
                return answer is not None and self.is_count(answer)
            case _:
                return False

    def mixtures(self, node: c.Builtin) -> tuple[Mixtures, c.Expression] | None:
        """All mixes that are asked for in one place, if these are few, and what tells by its number which of them.

        The bag must be a holder's: of each kind it holds no more than there is in all, and never less than nothing.
        """
        number, kinds, bag = node.arguments
        if not self.is_count(bag):
            return None
        if isinstance(kinds, c.MakeList) and all(isinstance(each, c.Const) for each in kinds.items):
            kinds = c.Const(tuple(each.value for each in kinds.items if isinstance(each, c.Const)))
        statics, model = self.constants.statics, self.constants.model
        pairs: Iterable[tuple[Any, Any]]
        of: c.Expression
        match number, kinds:
            case c.Const(), c.Const():
                pairs, of = [(number.value, kinds.value)], c.Const(0)
            case c.Const(), c.Static(attribute, of):
                pairs = [(number.value, each) for each in statics[attribute]]
            case c.Static(attribute, of), c.Const():
                pairs = [(each, kinds.value) for each in statics[attribute]]
            case c.Static(attribute, of), c.Static(other, same) if of == same:
                pairs = zip(statics[attribute], statics[other], strict=True)
            case _:
                return None
        name = bag.type.name
        totals = model.kinds[name].totals
        if totals is None or any(group.unlimited and group.type.name == name for group in model.groups.values()):
            return None
        key = tuple(None if None in pair else pair for pair in pairs), totals
        found = self._mixtures.get(key)
        if found is None and len(self._mixtures) < MOST_MIXTURES:
            found = mixtures(*key)
            if found is not None:
                self._mixtures[key] = found
        return (found, of) if found is not None else None

    def _members(self, type_: Type) -> int:
        """How many names the kind has of which a value surely is one; 0 where it may be anything else."""
        kind = self.constants.model.kinds[type_.name] if type_.form == "kind" and not type_.optional else None
        return len(kind.members) if kind is not None and kind.range is None else 0

    def _is_heavy(self, node: Any) -> bool:
        """Loops and long work; a loop over a few things that are known is written out instead."""
        if isinstance(node, c.Loop):
            return node.operation not in ("any", "all") or not self.is_short(node.items)
        if isinstance(node, c.Builtin) and node.name == "mixes":
            return self.mixtures(node) is None
        return isinstance(node, c.Builtin) and node.name in HEAVY_BUILTINS

    def is_short(self, node: c.Expression) -> bool:
        """Whether a list is known, and not long."""
        if isinstance(node, c.Const):
            return isinstance(node.value, tuple) and len(node.value) <= MOST_UNROLLED
        return isinstance(node, c.AllSeats) and len(self.constants.seats) <= MOST_UNROLLED

    # --- which cells an expression reads for each value of one of its locals

    def domain(self, type_: Type | None) -> int:
        """How many values a type has; 0 where they cannot be counted."""
        graph = self.constants.graph
        match type_.form if type_ is not None and not type_.optional else "":
            case "node":
                return graph.node_count if graph is not None else 0
            case "seat":
                return len(self.constants.seats)
            case "card":
                return len(self.constants.card_kind)
            case "place":
                return self.constants.layout.count("piece") if "piece" in self.constants.layout.base else 0
            case _:
                return 0

    def reads_by(self, tree: c.Expression, index: int, size: int) -> tuple[dict[int, list[int]], set[str]] | None:
        """For each cell the values of a local whose result it can change, and the groups that can change all results.

        Nothing where that cannot be said, or where any of many cells can change all results.
        """
        cells: dict[int, list[int]] = {}
        whole: set[str] = set()
        for value in range(size):
            if not self._reads(tree, {index: frozenset((value,))}, value, cells, whole):
                return None
        if any(self.constants.layout.count(group) > 1 for group in whole):
            return None
        return cells, whole

    def _reads(
        self, node: Any, env: dict[int, frozenset[Any]], value: int, cells: dict[int, list[int]], whole: set[str]
    ) -> bool:
        match node:
            case c.Builtin(name="price" | "vacancy"):
                return False
            case c.CallRule(arguments=arguments) | c.CallBase(arguments=arguments):
                answer = self.program.answer(node)
                if answer is None:
                    return False
                given = {number: self._possible(each, env) for number, each in enumerate(arguments)}
                known = {number: found for number, found in given.items() if found is not None}
                return all(self._reads(each, env, value, cells, whole) for each in arguments) and self._reads(
                    answer, known, value, cells, whole
                )
            case c.Read(c.Cell(group, owner)):
                owners = self._possible(owner, env) if owner is not None else None
                if owners is None:
                    whole.add(group)
                else:
                    for each in owners:
                        found = cells.setdefault(self.constants.layout.base[group] + each, [])
                        if value not in found:
                            found.append(value)
                return owner is None or self._reads(owner, env, value, cells, whole)
            case c.Read():
                return False
            case c.Loop():
                items = self._elements(node.items, env)
                inner = (
                    {**env, node.variable: items}
                    if items is not None
                    else {k: v for k, v in env.items() if k != node.variable}
                )
                parts = [node.test, node.value, *node.keys]
                return self._reads(node.items, env, value, cells, whole) and all(
                    self._reads(part, inner, value, cells, whole) for part in parts if part is not None
                )
            case _:
                return all(self._reads(child, env, value, cells, whole) for child in _children(node))

    def _possible(self, node: c.Expression, env: dict[int, frozenset[Any]]) -> frozenset[Any] | None:
        match node:
            case c.Const(value):
                return frozenset((value,))
            case c.Local(index, _):
                return env.get(index)
            case c.Static(attribute, of):
                owners = self._possible(of, env)
                return None if owners is None else frozenset(self.constants.statics[attribute][o] for o in owners)
            case _:
                return None

    def _elements(self, node: c.Expression, env: dict[int, frozenset[Any]]) -> frozenset[Any] | None:
        if isinstance(node, c.Loop) and node.operation == "filter":
            return self._elements(node.items, env)
        found = self._possible(node, env)
        if found is None or not all(isinstance(items, tuple) for items in found):
            return None
        return frozenset(item for items in found for item in items)


def _is_one_of(node: Any, nodes: list[Any]) -> bool:
    return any(node is each for each in nodes)


def _is_about_rooms(node: Any) -> bool:
    return isinstance(node, c.Builtin) and node.name in ("overflow", "space")


def _outside_rooms(tree: Any) -> Iterator[Any]:
    """All nodes of a tree but those of rooms: what these claim is a function of its own."""
    if _is_about_rooms(tree):
        yield tree
        for argument in (tree.arguments[0], *tree.arguments[2:]):
            yield from _outside_rooms(argument)
        return
    if isinstance(tree, c.Core):
        yield tree
    for child in _children(tree):
        yield from _outside_rooms(child)


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node) and not isinstance(node, type):
        for each in fields(node):
            if each.name not in ("span", "type"):
                yield getattr(node, each.name)
