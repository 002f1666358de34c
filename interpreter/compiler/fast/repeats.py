"""What Python's compiler leaves undone within a function: what was worked out once is not worked out again.

Finished trees are followed from statement to statement. What reads cells, looks something up or asks what is remembered
is known by how it is written, with names replaced by what they were given; until a cell that it reads may have changed,
another such expression is the name that holds it. Where no name does, the first one gives it a name, if that is worth
it. A cell that was given something known is not read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from interpreter.compiler.fast.letters import FOLLOWS, KNOWN, OF_STATE, PART, ROW, VALUE, is_of
from interpreter.compiler.fast.nodes import walk

__all__ = ["is_following", "is_harmless", "told_once"]

GroupOf = Callable[[int], str]
Put = Callable[[ast.expr], None]

ANY = "*"
"""In the place of a group of cells: any of them."""
MEMO = "M"
"""In the place of a group: what is remembered of the state."""

OF_CELLS = OF_STATE + ROW
"""What depends on what is remembered, or on any cell."""
TABLE = VALUE + PART + KNOWN
"""What depends on nothing but what it is given."""
PURE = OF_CELLS + TABLE
HARMLESS = frozenset(
    (
        *("min", "max", "len", "sorted", "tuple", "list", "frozenset", "set", "any", "all", "sum", "next", "range"),
        *("sure", "without", "path", "distances", "connected", "neighbours", "room_on", "price_on", "spent", "numbers"),
        *("short", "joined", "bounded", "weighed", "fits", "visible", "visible_in", "draw", "give_up", "int"),
        *("bag_sum", "bag_difference", "item_of", "position_or_none", "check_depth", "claims"),
    )
)
SHARED = frozenset(("S", "M", "L", "state"))
CALL, LONG_CALL = 4, 24
"""In instructions of Python's machine: a call, and what a function does at least."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What an expression is: how it is written, what it costs, what it reads."""

    key: str
    cost: int
    groups: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True)
class _Known:
    """An expression that was worked out, what holds it, or where it could be given a name."""

    kind: _Kind
    holder: ast.expr | None
    first: Put | None = None
    node: ast.expr | None = None
    uses: list[Put] = field(default_factory=list)


def told_once(function: ast.FunctionDef, group_of: GroupOf, remembered: Collection[str]) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed.

    ``group_of`` tells of which group a cell is, and ``remembered`` which functions of the state keep what they give
    until what they read changes.
    """
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Try) for node in walk(function)):
        return function
    _Follower(group_of, remembered).function(function)
    return function


class _Follower:
    def __init__(self, group_of: GroupOf, remembered: Collection[str]) -> None:
        self.group_of, self.remembered = group_of, remembered
        self.known: dict[str, _Known] = {}
        self.given: dict[str, _Kind] = {}
        """What names were given, where that is the address of a cell or a constant."""
        self.where: dict[str, str] = {}
        """Of which group the cell is that a name is the address of."""
        self.all: list[_Known] = []

    def function(self, function: ast.FunctionDef) -> None:
        self.block(function.body)
        for number, known in enumerate(self.all):
            if known.holder is not None or known.first is None or known.node is None:
                continue
            if len(known.uses) * (known.kind.cost - 1) <= 2:
                continue
            name = f"same_{number}"
            target = ast.copy_location(ast.Name(name, ast.Store()), known.node)
            known.first(ast.copy_location(ast.NamedExpr(target, known.node), known.node))
            for use in known.uses:
                use(ast.Name(name, ast.Load()))
        ast.fix_missing_locations(function)

    # --- statements

    def block(self, block: list[ast.stmt]) -> bool:
        """Whether the block surely leaves its function."""
        left = False
        for statement in block:
            left = self.statement(statement)
        return left

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign([target], _):
                self.field(node, "value")
                self._assign(target, node.value)
            case ast.AugAssign(target, _, _):
                self.field(node, "value")
                if isinstance(target, ast.Subscript):
                    self.field(target, "slice")
                self._forget_target(target)
            case ast.Expr(value):
                self.field(node, "value")
                return isinstance(value, ast.Call) and _name(value.func) == "give_up"
            case ast.Return():
                if node.value is not None:
                    self.field(node, "value")
                return True
            case ast.If():
                return self._if(node)
            case ast.For():
                self.field(node, "iter")
                self._loop(node, [node.target, *node.body])
            case ast.While():
                self._loop(node, [node.test, *node.body])
            case ast.Pass():
                pass
            case _:
                self._forget_all()
        return False

    def _if(self, node: ast.If) -> bool:
        self.field(node, "test")
        before = self._facts()
        left = self.block(node.body)
        one = self.known, self.given, self.where
        self.known, self.given, self.where = before
        left_too = self.block(node.orelse) if node.orelse else False
        if left_too and not left:
            self.known, self.given, self.where = one
        elif not left:
            self.known = {key: known for key, known in self.known.items() if one[0].get(key) is known}
            self.given = {name: kind for name, kind in self.given.items() if one[1].get(name) == kind}
            self.where = {name: group for name, group in self.where.items() if one[2].get(name) == group}
        return left and left_too

    def _facts(self) -> tuple[dict[str, _Known], dict[str, _Kind], dict[str, str]]:
        return dict(self.known), dict(self.given), dict(self.where)

    def _loop(self, node: ast.For | ast.While, parts: list[Any]) -> None:
        """What a loop may change is forgotten before it, for it may have been gone through."""
        inner = [each for part in parts for each in walk(part)]
        for each in inner:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                self._forget_name(each.id)
        if any(_changes(each) for each in inner):
            self._forget_all()
        before = self._facts()
        if isinstance(node, ast.While):
            self.field(node, "test")
        self.block(node.body)
        self.known, self.given, self.where = before

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        kind = self.kind(value)
        match target:
            case ast.Name(name):
                self._forget_name(name)
                match value:
                    case ast.BinOp(ast.Constant(int(first)), ast.Add(), _) | ast.Constant(int(first)):
                        self.where[name] = self.group_of(first)
                if kind is not None and name not in SHARED and name not in kind.names:
                    if isinstance(value, ast.BinOp | ast.Constant):
                        self.given[name] = kind
                    elif kind.cost > 1:
                        known = self.known.get(kind.key)
                        if known is None:
                            self._hold(kind, ast.Name(name, ast.Load()))
                        elif known.node is value and known.holder is None:
                            known.holder = ast.Name(name, ast.Load())
            case ast.Subscript(ast.Name("S"), index):
                self.field(target, "slice")
                self._forget_target(target)
                where = self.kind(ast.Subscript(ast.Name("S", ast.Load()), index, ast.Load()))
                if where is not None and _may_stand_for_a_cell(value):
                    names = where.names | ({value.id} if isinstance(value, ast.Name) else set())
                    self._hold(_Kind(where.key, where.cost, where.groups, frozenset(names)), value)
            case _:
                self._forget_target(target)

    # --- expressions

    def field(self, node: Any, name: str, *, sure: bool = True, named: bool = True) -> None:
        """An expression that is a field of a node."""

        def put(value: ast.expr) -> None:
            setattr(node, name, ast.copy_location(value, getattr(node, name)))

        self.expression(getattr(node, name), put, sure, named)

    def item(self, items: list[Any], place: int, *, sure: bool, named: bool) -> None:
        def put(value: ast.expr) -> None:
            items[place] = ast.copy_location(value, items[place])

        self.expression(items[place], put, sure, named)

    def expression(self, node: ast.expr, put: Put, sure: bool, named: bool) -> None:
        """``sure``: it is worked out whenever what stands here is. ``named``: something in it may be given a name."""
        kind = self.kind(node) if isinstance(node, ast.Subscript | ast.Call | ast.BoolOp) else None
        if kind is not None and kind.cost > 2:
            known = self.known.get(kind.key)
            if known is not None:
                if known.holder is None:
                    known.uses.append(put)
                else:
                    put(_copy(known.holder))
                return
            if sure and named:
                known = self.known[kind.key] = _Known(kind, None, put, node)
                self.all.append(known)
            if isinstance(node, ast.BoolOp):
                return
        self._parts(node, sure, named)

    def _parts(self, node: ast.expr, sure: bool, named: bool) -> None:
        match node:
            case ast.BoolOp(_, values):
                for place in range(len(values)):
                    self.item(values, place, sure=sure and place == 0, named=named)
            case ast.IfExp():
                self.field(node, "test", sure=sure, named=named)
                self.field(node, "body", sure=False, named=named)
                self.field(node, "orelse", sure=False, named=named)
            case ast.Compare(_, _, others):
                self.field(node, "left", sure=sure, named=named)
                for place in range(len(others)):
                    self.item(others, place, sure=sure and place == 0, named=named)
            case ast.Call(function, arguments):
                if not isinstance(function, ast.Name):
                    self.field(node, "func", sure=sure, named=named)
                for place in range(len(arguments)):
                    self.item(arguments, place, sure=sure, named=named)
                self._after_call(function)
            case ast.NamedExpr(ast.Name(name)):
                self.field(node, "value", sure=sure, named=named)
                self._forget_name(name)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.Lambda():
                for each in walk(node):
                    if isinstance(each, ast.NamedExpr):
                        self._forget_name(each.target.id)
            case ast.Tuple(items) | ast.List(items):
                for place in range(len(items)):
                    self.item(items, place, sure=sure, named=named)
            case ast.BinOp():
                self.field(node, "left", sure=sure, named=named)
                self.field(node, "right", sure=sure, named=named)
            case ast.UnaryOp():
                self.field(node, "operand", sure=sure, named=named)
            case ast.Subscript():
                self.field(node, "value", sure=sure, named=named)
                if not isinstance(node.slice, ast.Slice):
                    self.field(node, "slice", sure=sure, named=named)
            case ast.Attribute():
                self.field(node, "value", sure=sure, named=named)
            case ast.Starred():
                self.field(node, "value", sure=sure, named=named)
            case _:
                pass

    # --- what is forgotten

    def _hold(self, kind: _Kind, holder: ast.expr) -> None:
        self.known[kind.key] = _Known(kind, holder)

    def _forget_name(self, name: str) -> None:
        self.given.pop(name, None)
        self.where.pop(name, None)
        for other in [other for other, kind in self.given.items() if name in kind.names]:
            self._forget_name(other)
        gone = [
            key
            for key, known in self.known.items()
            if name in known.kind.names or (isinstance(known.holder, ast.Name) and known.holder.id == name)
        ]
        for key in gone:
            del self.known[key]

    def _forget_all(self) -> None:
        self.known = {key: known for key, known in self.known.items() if not known.kind.groups}

    def _forget_group(self, group: str) -> None:
        self.known = {
            key: known
            for key, known in self.known.items()
            if not known.kind.groups & {group, ANY} and not (group == ANY and known.kind.groups - {MEMO})
        }

    def _forget_target(self, target: ast.expr) -> None:
        match target:
            case ast.Name(name):
                self._forget_name(name)
            case ast.Subscript(ast.Name("S"), index):
                self._forget_group(self._group(index))
            case ast.Subscript(ast.Name("M"), _):
                self.known = {key: known for key, known in self.known.items() if MEMO not in known.kind.groups}
            case ast.Subscript(ast.Name("LEFT"), _):
                pass
            case ast.Tuple(items):
                for item in items:
                    self._forget_target(item)
            case _:
                self._forget_all()

    def _after_call(self, function: ast.expr) -> None:
        if is_following(function):
            self.known = {key: known for key, known in self.known.items() if MEMO not in known.kind.groups}
        elif not is_harmless(function):
            self._forget_all()

    # --- what expressions are

    def _group(self, index: ast.expr) -> str:
        """The group of a cell."""
        match index:
            case ast.Constant(int(cell)) | ast.BinOp(ast.Constant(int(cell)), ast.Add(), _):
                return self.group_of(cell)
            case ast.Name(name):
                return self.where.get(name, ANY)
            case _:
                return ANY

    def kind(self, node: ast.expr) -> _Kind | None:
        """Nothing for what is not only a matter of cells, names and what is remembered."""
        match node:
            case ast.Constant(value):
                return _Kind(f"{type(value).__name__}:{value!r}", 1)
            case ast.Name(name):
                if name in self.given:
                    return _Kind(self.given[name].key, 1, frozenset(), self.given[name].names | {name})
                return _Kind(name, 1, frozenset(), frozenset((name,)))
            case ast.BinOp(ast.Constant(int(first)), ast.Add(), ast.Name(name)) if name not in self.given:
                return _Kind(f"({first} + {name})", 3, frozenset(), frozenset((name,)))
            case ast.Subscript(ast.Name("S"), index):
                where = self.kind(index)
                if where is None:
                    return None
                return _Kind(f"S[{where.key}]", where.cost + 2, where.groups | {self._group(index)}, where.names)
            case ast.Subscript(value, index) if self._is_table(value):
                return self._joined("[]", 1, value, index)
            case ast.Attribute(value, name):
                return self._joined(f".{name}", 1, value) if self._is_table(value) else None
            case ast.Call(ast.Name(name), [ast.Name("S"), ast.Name("M"), *given], []) if is_of(name, OF_CELLS):
                kept = name in self.remembered or is_of(name, ROW)
                return self._joined(name, CALL + LONG_CALL, *given, groups=frozenset((MEMO if kept else ANY,)))
            case ast.Call(ast.Name(name), given, []) if is_of(name, TABLE):
                return self._joined(name, CALL + LONG_CALL, *given)
            case ast.BoolOp(
                ast.Or(),
                [ast.Call(ast.Attribute(ast.Subscript(ast.Name("M")), "get"), _) | ast.Subscript(ast.Name("M")), call],
            ):
                found = self.kind(call)
                return None if found is None else _Kind(found.key, 9, found.groups, found.names)
            case _:
                return None

    def _is_table(self, node: ast.expr) -> bool:
        """Whether what is looked up in it depends on nothing else."""
        match node:
            case ast.Name(name):
                return is_of(name, TABLE)
            case ast.Subscript(value, _) | ast.Attribute(value, _):
                return self._is_table(value)
            case ast.BoolOp():
                return self.kind(node) is not None
            case ast.Call(ast.Name(name)):
                return is_of(name, PURE)
            case _:
                return False

    def _joined(self, word: str, cost: int, *parts: ast.expr, groups: frozenset[str] = frozenset()) -> _Kind | None:
        kinds = [self.kind(part) for part in parts]
        key = word
        names: frozenset[str] = frozenset()
        for kind in kinds:
            if kind is None:
                return None
            key += f"({kind.key})"
            cost += kind.cost
            names |= kind.names
            groups |= kind.groups
        return _Kind(key, cost, groups, names)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def is_harmless(function: ast.expr) -> bool:
    """Whether a call changes no cell and nothing that is remembered of cells."""
    match function:
        case ast.Name(name):
            return name in HARMLESS or is_of(name, PURE)
        case ast.Attribute(_, "get" | "append" | "index"):
            return True
        case _:
            return False


def is_following(function: ast.expr) -> bool:
    """Whether a call brings up to date what is remembered of cells, and changes none."""
    return isinstance(function, ast.Name) and is_of(function.id, FOLLOWS)


def _changes(node: ast.AST) -> bool:
    match node:
        case ast.Call(function):
            return not is_harmless(function)
        case ast.Subscript(ast.Name("S" | "M"), _, ast.Store()):
            return True
        case _:
            return False


def _may_stand_for_a_cell(value: ast.expr) -> bool:
    """Python warns of numbers of which somebody asks whether they are none."""
    return isinstance(value, ast.Name) or (isinstance(value, ast.Constant) and value.value in (None, True, False))


def _copy(node: ast.expr) -> ast.expr:
    return ast.Name(node.id, ast.Load()) if isinstance(node, ast.Name) else ast.Constant(node.value)  # type: ignore[attr-defined]
