"""Effect analysis of checked trees: whose cells they read, and whether they may fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from interpreter.base.lazy import Lazy
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import SEAT, CardHolderType, CollectionType, StockType, TokenHolderType, Type
from interpreter.language.walk import descendants
from interpreter.lowering.lower import Program

__all__ = ["ANYONE", "Reader", "Reads", "groups_alike", "may_fail"]

ALIKE = (TokenHolderType | StockType, CardHolderType)
"""Interchangeable forms of holders."""
Reads = Mapping[str, frozenset[int]]
"""For each group that is read, the parameters that each identify the owner of the cells. A parameter whose *parts* are
the cells, as places are of a node, is stored as its complement (``~0`` for the first)."""
ANYONE: frozenset[int] = frozenset()
"""Cells of this group are read, of any owner."""


class Reader:
    """Finds the reads of trees of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._rules = Lazy[str, _Text](lambda target: _Text(program, _run_by(program.reach.procedures[target])))

    def reads(self, tree: object, parameters: Iterable[int]) -> Reads:
        """Return the reads of a tree, of which these locals are the parameters, and of the rules that it calls."""
        return self._found(_Text(self.program, tree), {local: number for number, local in enumerate(parameters)})

    def reads_of(self, target: str) -> Reads:
        """Return the reads of a function."""
        parameters = self.program.reach.procedures[target].parameters
        return self._found(self._rules[target], {number: number for number in range(len(parameters))})

    def _found(self, text: _Text, known: dict[int, int]) -> Reads:
        found: dict[str, frozenset[int]] = {}
        pending = [(text, known)]
        seen: set[tuple[str, frozenset[tuple[int, int]]]] = set()
        while pending:
            text, known = pending.pop()
            known |= {~local: ~number for local, number in known.items()}
            for group, owner in text.reads:
                owners = frozenset((known[owner],)) if owner in known else ANYONE
                found[group] = found.get(group, owners) & owners
            for target, arguments in text.calls:
                passed = {number: known[local] for number, local in enumerate(arguments) if local in known}
                if (call := (target, frozenset(passed.items()))) not in seen:
                    seen.add(call)
                    pending.append((self._rules[target], passed))
        return found


class _Text:
    """What a text reads itself, each group with the local of its owner (or the complement, as in :data:`Reads`), and
    the rules that it calls, with the locals that are arguments."""

    def __init__(self, program: Program, tree: object) -> None:
        self.reads: list[tuple[str, int | None]] = []
        self.calls: list[tuple[str, list[int | None]]] = []
        self._model = program.model
        self._set: dict[int, list[tuple[core.Expression, bool]]] = {}
        """What sets each local: values, or (if true) lists of which a loop takes the items."""
        nodes = list(descendants(tree))
        for node in nodes:
            match node:
                case (
                    core.SetLocal(index, value) | core.Test(value, int(index)) | core.Requirement(value, _, int(index))
                ):
                    self._set.setdefault(index, []).append((value, False))
                case core.Loop(index, items) | core.Iterate(index, items) | core.Picks(index, items):
                    self._set.setdefault(index, []).append((items, True))
        tested: list[object] = []
        for node in nodes:
            match node:
                case core.Logic(
                    "and",
                    core.Comparison("!=", core.Read(core.Cell("piece") as cell) as some, core.Const(None)),
                    core.Comparison("==", core.Static("piece.owner", core.Read(same) as owned), seat),
                ) if cell == same and (owner := self._local(seat)) is not None:
                    self.reads.append(("piece", owner))  # no piece is like one of another seat
                    tested += some, owned
                case core.Read(cell) if not any(node is each for each in tested):
                    self._read(cell)
                case core.CallBuiltin(Builtin(reads=True), (cell, *_)):
                    self._read(cell)
                case core.CallRule() | core.CallBase():
                    self.calls.append((program.target(node), list(map(self._local, node.arguments))))

    def _read(self, cell: core.Expression) -> None:
        if not isinstance(cell, core.Cell):
            self.reads.extend((group, None) for group in groups_alike(self._model, cell.type))
        elif cell.group == "piece":
            self.reads.append((cell.group, self._whole(cell.owner)))
        else:
            declared = self._model.groups.get(cell.group)
            is_of_seat = declared is not None and declared.owner == SEAT
            self.reads.append((cell.group, self._local(cell.owner) if is_of_seat else None))

    def _local(self, node: core.Expression | None) -> int | None:
        """Return the local that an expression is or copies, if nothing else is ever in it."""
        match node:
            case core.Local(index) if index not in self._set:
                return index
            case core.Local(index):
                match self._set[index]:
                    case [(core.Local(copied), False)] if copied not in self._set:
                        return copied
        return None

    def _whole(self, place: core.Expression | None) -> int | None:
        """Return the complement of the local with the node of whose places a loop takes this one."""
        match self._set.get(place.index) if isinstance(place, core.Local) else None:
            case [(core.Static("node.places", node), True)] if (local := self._local(node)) is not None:
                return ~local
        return None


def _run_by(layer: RuleLayer) -> tuple[object, ...]:
    """Return what a call of a layer may evaluate: its text, and a call of the layer below if it has a guard."""
    if layer.guard is None:
        return (layer.body,)
    own = tuple(core.Local(index, name) for index, (name, _) in enumerate(layer.parameters))
    return layer.body, layer.guard, core.CallBase(layer.rule, layer.layer - 1, own)


def groups_alike(model: Model, type_: Type) -> list[str]:
    """Return the groups that can contain a holder of which only the type is known."""
    alike = next((forms for forms in ALIKE if isinstance(type_, forms)), type(type_))
    return [name for name, group in model.groups.items() if isinstance(group.type, alike)]


def may_fail(program: Program, tree: object, _open: frozenset[str] = frozenset()) -> bool:
    """Return whether the evaluation of a tree may fail: it must then be evaluated wherever the plain form does."""
    for node in descendants(tree):
        match node:
            case core.Element() | core.TableCell() | core.Arithmetic("*" | "div" | "mod"):
                return True
            case core.Search(or_none=False) | core.Order(operation="min" | "max", or_none=False):
                return True
            case core.Arithmetic("+") if isinstance(node.type, CollectionType):
                return True
            case core.RangeFrom(core.Const(), core.Const()):
                pass
            case core.RangeFrom():
                return True
            case core.CallBuiltin(row) if row.strict or (row.partial and not node.or_none):
                return True
            case core.CallRule() | core.CallBase():
                target = program.target(node)
                layer = program.reach.procedures[target]
                if target in _open or layer.form == "does":
                    return True
                if may_fail(program, _run_by(layer), _open | {target}):
                    return True
    return False
