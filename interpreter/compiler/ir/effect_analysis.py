"""Effect analysis of checked trees and ops: what they read, and whether they may fail."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import helpers
from interpreter.language import core
from interpreter.language.types import CollectionType
from interpreter.language.walk import descendants
from interpreter.lowering.lower import Program

__all__ = ["ANYONE", "Cells", "Reads", "fits", "may_fail", "reads"]


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
                below = core.CallBase(layer.rule, layer.layer - 1, ()) if layer.guard is not None else ()
                if may_fail(program, (layer.body, layer.when, below), _open | {target}):
                    return True
    return False


def fits(value: ops.Value) -> bool:
    """Return whether a number certainly fits into a word because it comes from one."""
    match value:
        case ops.ToNumber():
            return True
        case ops.Constant(number):
            return -(2**31) <= number < 2**31
        case ops.Select(_, then, otherwise):
            return fits(then) and fits(otherwise)
        case _:
            return False


# --- reads of functions of the IR

Reads = Mapping[str, frozenset[int]]
"""For each group that is read, the parameters that each identify the owner of the cells; ``?`` is any group. A
parameter whose *parts* are the cells, as places are of a node, is stored as its complement (``~0`` for the first).
"""
ANYONE: frozenset[int] = frozenset()
"""Cells of this group are read, of any owner."""


class Cells(Struct, frozen=True):
    """Known properties of groups of cells.

    ``of_seats`` names groups that belong to seats, ``owners`` has addresses of tables of owners. ``parts`` is for
    groups of cells that are parts of something: the address of a row of lists of their indexes. Each cell is in one of
    the lists.
    """

    groups: Mapping[str, ops.CellGroup]
    of_seats: frozenset[str]
    owners: Mapping[str, int]
    parts: Mapping[str, int]


def reads(functions: Mapping[str, ops.Function], cells: Cells) -> dict[str, Reads]:
    """Return the reads of each function, including those of its callees."""
    own = {name: _Reader(function, cells) for name, function in functions.items()}
    result: dict[str, dict[str, frozenset[int]]] = {name: dict(reader.reads) for name, reader in own.items()}
    callers: dict[str, set[str]] = {}
    for name, reader in own.items():
        for called, _ in reader.calls:
            callers.setdefault(called, set()).add(name)
    pending = set(functions)
    while pending:
        name = pending.pop()
        now = result[name]
        before = dict(now)
        for called, arguments in own[name].calls:
            for group, aligned in result.get(called, {}).items():
                handed = ((i, arguments[i if i >= 0 else ~i]) for i in aligned)
                here = frozenset(part if i >= 0 else ~part for i, part in handed if part is not None)
                now[group] = now[group] & here if group in now else here
        if now != before:
            pending |= callers.get(name, set())
    return dict(result)


class _Reader:
    """Collects the reads of one function, and the parameters that it passes on in calls."""

    def __init__(self, function: ops.Function, cells: Cells) -> None:
        self.cells = cells
        self.reads: dict[str, frozenset[int]] = {}
        self.calls: list[tuple[str, tuple[int | None, ...]]] = []
        self._number: dict[ops.Var | ops.Global, int] = {var: i for i, var in enumerate(function.parameters)}
        self._sets: dict[ops.Var | ops.Global, list[ops.Value]] = {}
        for op in function.ops:
            if isinstance(op, ops.Set):
                self._sets.setdefault(op.var, []).append(op.value)
        for var in self._sets:
            self._number.pop(var, None)
            source = self._only(var)
            if isinstance(source, ops.Var) and source not in self._sets and source in self._number:
                self._number[var] = self._number[source]
        self._scan(function.body)

    def _only(self, value: ops.Value | None) -> ops.Value | None:
        values = self._sets.get(value, ()) if isinstance(value, ops.Var) else ()
        return values[0] if len(values) == 1 else None

    def _scan(self, body: ops.Part) -> None:
        stack: list[ops.Part] = [body]
        while stack:
            op = stack.pop()
            match op:
                case tuple():
                    stack.extend(op)
                    continue
                case ops.Select() if (owned := self._owned(op)) is not None:
                    group, address, param = owned
                    self._read(group, frozenset((param,)))
                    stack.append(address)
                    continue
                case ops.Load(address, offset, _, group) if group:
                    self._read(group, self._aligned(address, offset, group))
                case ops.Cell(address, group):
                    self._read(group, self._aligned(address, 0, group))
                case ops.Call(function, arguments) if function not in helpers():
                    self.calls.append((function, tuple(self._param(argument) for argument in arguments)))
                case ops.Call(function) if helpers()[function].writes:
                    self._read("?", ANYONE)
            stack.extend(op.parts)

    def _read(self, group: str, aligned: frozenset[int]) -> None:
        for name in group.split("|"):
            self.reads[name] = self.reads[name] & aligned if name in self.reads else aligned

    def _param(self, value: ops.Value | None) -> int | None:
        return self._number.get(value) if isinstance(value, ops.Var) else None

    def _aligned(self, address: ops.Value, offset: int, group: str) -> frozenset[int]:
        """Return the parameter that identifies the owner of a cell, given the cell's address; or the complement of the
        parameter that the cell is a part of."""
        first, index, factor = ops.split(address)
        cells = self.cells.groups.get(group)
        if cells is None or (first + offset, factor) != (cells.address, cells.stride):
            return ANYONE
        if group in self.cells.parts:
            return self._whole(index, self.cells.parts[group])
        param = self._param(index)
        return frozenset((param,)) if param is not None and group in self.cells.of_seats else ANYONE

    def _whole(self, item: ops.Value | None, parts_: int) -> frozenset[int]:
        """Return the complement of the parameter that a cell is a part of: its index is an item of the list of these
        parts, which a loop goes through."""
        match self._only(item):
            case ops.Load(ops.Var() as at, 4):
                starts = [value for value in self._sets.get(at, ()) if value != at + 4]
            case _:
                return ANYONE
        match [self._only(start) for start in starts]:
            case [ops.Load(ops.Binary("shl", index, ops.Constant(2)), table)] if table == parts_:
                param = self._param(index)
                return ANYONE if param is None else frozenset((~param,))
            case _:
                return ANYONE

    def _owned(self, op: ops.Select) -> tuple[str, ops.Value, int] | None:
        """Match the test "there is a value, and it belongs to the seat of a parameter".

        Its result is the same for none and for values of other seats, so only the parameter's own cells matter.
        """
        match op:
            case ops.Select(
                ops.Binary("ne", ops.Load() as tested, ops.Constant(-1)),
                ops.Binary(
                    "eq", ops.Load(ops.Binary("shl", ops.Load() as value, ops.Constant(2)), table), ops.Var() as seat
                ),
                ops.Constant(0),
            ) if tested == value and self.cells.owners.get(value.group) == table:
                param = self._param(seat)
                return (value.group, value.address, param) if param is not None else None
        return None
