"""Expressions of the fast form: each checked expression becomes a Python expression.

Constants of players, settings and printed data are folded in. Calls of rules (``calls.py``), loops (``loops.py``) and
the language's own functions (``builtins.py``) are written elsewhere. A value that the plain form would refuse raises
some exception here: the machine then lets the plain form run the same step, which tells what is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, assert_never

from interpreter.compiler.constants import Constants
from interpreter.compiler.fast.builtins import Builtins
from interpreter.compiler.fast.calls import Calls
from interpreter.compiler.fast.knowledge import MOST_UNROLLED, Knowledge
from interpreter.compiler.fast.loops import Loops
from interpreter.compiler.fast.parts import part_of
from interpreter.compiler.fast.pins import implied
from interpreter.compiler.fast.quote import Quote, is_constant, value_of
from interpreter.compiler.fast.scope import Scope, TooLarge, Unsupported, is_local_name
from interpreter.compiler.fast.terms import cheap, harmless, shown, unsure
from interpreter.compiler.fast.truths import asks_for_items, asks_for_some
from interpreter.language import core as c
from interpreter.language.types import Type

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Expressions"]

OPERATORS: dict[str, tuple[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    "==": (ast.Eq, eq),
    "!=": (ast.NotEq, ne),
    "<": (ast.Lt, lt),
    "<=": (ast.LtE, le),
    ">": (ast.Gt, gt),
    ">=": (ast.GtE, ge),
}
"""For each comparison what it is called in Python's trees, and what it does."""

MOST_WRITTEN = 60_000
"""So many expressions are written for one game, and for each policy: functions that are put in place of their calls
can double each time."""


class Expressions:
    """Writes expressions; ``calls``, ``loops`` and ``builtins`` write those of their kinds."""

    def __init__(self, emitter: Emitter, quote: Quote, knowledge: Knowledge, constants: Constants) -> None:
        self.emitter = emitter
        self.quote = quote
        self.knowledge = knowledge
        self.constants = constants
        self.program = knowledge.program
        self.base = constants.layout.base
        self._numbers = 0
        self._written = 0
        self.calls, self.loops, self.builtins = Calls(self), Loops(self), Builtins(self)

    def begin(self) -> None:
        """Something new is written, which may be as large as what was written before."""
        self._written = 0

    # --- names

    def fresh(self, label: str) -> str:
        """A name that no other local has."""
        self._numbers += 1
        return f"{label if is_local_name(label) else 'x'}_N{self._numbers}"

    def local(self, scope: Scope, index: int) -> ast.expr:
        """What stands for a local."""
        found = scope.names.get(index)
        if found is None:
            return self.quote.name(scope.label(index))
        return found

    # --- cells

    def address(self, node: c.Expression, scope: Scope) -> ast.expr:
        """The number of a cell."""
        node = self.knowledge.cell_of(node)
        if not isinstance(node, c.Cell):
            return self.expression(node, scope)
        first = self.base[node.group]
        if node.owner is None:
            return self.quote.constant(first)
        owner = self.expression(node.owner, scope)
        if is_constant(owner):
            return self.quote.constant(first + _someone(owner))
        return self.quote.expression("_0 + _1", self.quote.constant(first), owner) if first else owner

    def read(self, cell: c.Expression, scope: Scope) -> ast.expr:
        """What a cell holds."""
        cell = self.knowledge.cell_of(cell)
        if isinstance(cell, c.Cell):
            owner = self.expression(cell.owner, scope) if cell.owner is not None else None
            return self.read_of(cell.group, owner, scope)
        return self.quote.expression("S[_0]", self.expression(cell, scope))

    def read_of(self, group: str, owner: ast.expr | None, scope: Scope) -> ast.expr:
        """What the cell of a group and owner holds."""
        if scope.lifted is not None:
            name = scope.lifted.get((group, shown(owner) if owner is not None else ""))
            if name is None:
                raise Unsupported(group)
            return self.quote.name(name)
        first = self.base[group]
        if owner is None:
            found = self.quote.expression("S[_0]", self.quote.constant(first))
        elif is_constant(owner):
            found = self.quote.expression("S[_0]", self.quote.constant(first + _someone(owner)))
        elif first == 0:
            found = self.quote.expression("S[_0]", owner)
        else:
            found = self.quote.expression("S[_0 + _1]", self.quote.constant(first), owner)
        found.length = self.emitter.sizes.most_in(group)  # type: ignore[attr-defined]
        return found

    # --- expressions

    def expression(self, node: c.Expression, scope: Scope) -> ast.expr:
        """A checked expression as one of Python. Raises :class:`Unsupported`, and :class:`TooLarge`."""
        self.quote.at(node.span)
        self._written += 1
        if self._written > MOST_WRITTEN:
            raise TooLarge
        q = self.quote
        match node:
            case c.Const(value):
                return q.constant(value)
            case c.Local(index, _):
                return self.local(scope, index)
            case c.PlayerCount():
                return q.constant(self.constants.counting)
            case c.AllSeats():
                return q.constant(self.constants.seats)
            case c.RoleSeat(role):
                return q.constant(self.constants.role_seats[role])
            case c.SettingValue(name):
                return q.constant(self.constants.settings[name])
            case c.Cell():
                return self.address(node, scope)
            case c.Read(cell):
                return self.read(cell, scope)
            case c.Static(attribute, of):
                return self.static(attribute, self.expression(of, scope))
            case c.FieldOf(of, number):
                record = self.expression(of, scope)
                return self._part(record, number) or q.expression("_0[_1]", record, q.constant(number))
            case c.Element(of, index):
                return q.call("item_of", [self.expression(of, scope), self.expression(index, scope)])
            case c.BagItem(of, kind):
                return self.bag_item(self.expression(of, scope), self.expression(kind, scope), of.type.name)
            case c.TableCell():
                return self._table(node, scope)
            case c.CallRule() | c.CallBase():
                return self.calls.call(node, scope)
            case c.Builtin():
                return self.builtins.builtin(node, scope)
            case c.MakeRecord(parts) | c.MakeList(parts):
                return self.made(node, q.tuple([self.kept(part, scope, own=scope.leaky) for part in parts]))
            case c.AmountOf():
                return self._amount(node, scope)
            case c.RangeFrom():
                return q.expression("tuple(_0)", self.items(node, scope))
            case c.Arithmetic():
                return self._arithmetic(node, scope)
            case c.Comparison():
                return self._comparison(node, scope)
            case c.Logic(operator, left, right):
                return self._logic(operator, self.expression(left, scope), right, scope)
            case c.Negation(value):
                return self.negated(self.expression(value, scope))
            case c.Negate(value):
                inner = self.expression(value, scope)
                if value.type.form == "bag":
                    return q.expression("tuple([-n for n in _0])", inner)
                return q.constant(-value_of(inner)) if is_constant(inner) else q.expression("-_0", inner)
            case c.Condition(then, test, otherwise):
                holds = self.expression(test, scope)
                if is_constant(holds):
                    return self.expression(then if value_of(holds) else otherwise, scope)
                return q.expression(
                    "_0 if _1 else _2", self.expression(then, scope), holds, self.expression(otherwise, scope)
                )
            case c.Default(value, default):
                return self._default(value, default, scope)
            case c.MemberOf(item, items, negated):
                found = self.loops.member(node, item, items, negated, scope)
                return self._weighing(item.type, found, self.emitter.sizes.longest)
            case c.KindTest():
                return self._kind_test(node, scope)
            case c.Loop():
                return self.loops.loop(node, scope)
            case c.Noted():
                raise AssertionError("rules that are watched run in the plain form")
            case _:
                assert_never(node)

    def items(self, node: c.Expression, scope: Scope, *, kept: bool = True) -> ast.expr:
        """Something to look through once: need not be a tuple. ``kept``: the items may be."""
        self.quote.at(node.span)
        if isinstance(node, c.RangeFrom):
            return self.quote.call("numbers", [self.expression(node.first, scope), self.expression(node.last, scope)])
        if isinstance(node, c.CallRule | c.CallBase):
            return self.calls.call(node, scope, items=True)
        if isinstance(node, c.Loop) and node.operation in ("filter", "map"):
            return self.loops.listed(node, scope, kept=kept)
        if isinstance(node, c.Condition):
            holds = self.expression(node.test, scope)
            if is_constant(holds):
                return self.items(node.then if value_of(holds) else node.otherwise, scope, kept=kept)
            then, otherwise = (self.items(each, scope, kept=kept) for each in (node.then, node.otherwise))
            return self.quote.expression("_0 if _1 else _2", then, holds, otherwise)
        return self.expression(node, scope)

    def kept(self, node: c.Expression, scope: Scope, *, own: bool = True) -> ast.expr:
        """A value that is going to be kept: of numbers only what is bounded. ``own``: locals hold no others."""
        found = self.expression(node, scope)
        return self.quote.call("bounded", [found]) if self.emitter.sizes.is_large(node, own=own) else found

    def made(self, node: c.Expression, found: ast.expr) -> ast.expr:
        """A list or record that holds lists, bags or records: what it holds in all is bounded."""
        return self.quote.call("weighed", [found]) if self.emitter.sizes.is_heavy(node) else found

    def _weighing(self, type_: Type, found: ast.expr, times: int = 1) -> ast.expr:
        """Marks a comparison of values that may be long with its cost: see :mod:`interpreter.compiler.fast.cost`."""
        found.heavy = times * self.emitter.sizes.weight(type_) // 4  # type: ignore[attr-defined]
        return found

    def looked_up(self, label: str, values: tuple[Any, ...], place: ast.expr) -> ast.expr:
        """What stands in a list that is known."""
        if is_constant(place):
            return self.quote.constant(values[value_of(place)])
        return self.quote.expression("_0[_1]", self.quote.name(self.emitter.bind(label, values)), place)

    def static(self, attribute: str, of: ast.expr) -> ast.expr:
        if attribute == "seat.number" and not is_constant(of):
            return of
        return self.looked_up(attribute, tuple(self.constants.statics[attribute]), of)

    def _table(self, node: c.TableCell, scope: Scope) -> ast.expr:
        cells = self.constants.model.tables[node.table].cells
        keys = [self.expression(key, scope) for key in node.keys]
        fixed = {position: value_of(key) for position, key in enumerate(keys) if is_constant(key)}
        open_ = [position for position in range(len(keys)) if position not in fixed]
        left = {
            tuple(key[p] for p in open_): value
            for key, value in cells.items()
            if all(key[p] == value for p, value in fixed.items())
        }
        if not open_ and () in left:
            return self.quote.constant(left[()])
        single = len(open_) == 1
        table = {key[0] if single else key: value for key, value in left.items()}
        label = ".".join([node.table, *(str(value) for value in fixed.values())])
        name = self.quote.name(self.emitter.bind(label, table))
        wanted = keys[open_[0]] if single else self.quote.tuple([keys[p] for p in open_])
        return self.quote.expression("_0[_1]", name, wanted)

    def bag_item(self, bag: ast.expr, kind: ast.expr, name: str) -> ast.expr:
        """How many of a kind a bag of the named kinds holds."""
        if isinstance(bag, ast.Tuple) and is_constant(kind) and cheap(bag):
            part: ast.expr = bag.elts[value_of(kind)]
            return part
        if is_constant(bag) and is_constant(kind):
            return self.quote.constant(value_of(bag)[value_of(kind)])
        return self._part_of(self.quote.expression("_0[_1]", bag, kind), name)

    def _part_of(self, read: ast.expr, name: str) -> ast.expr:
        kinds = self.constants.model.kinds.get(name)
        return read if kinds is None else part_of(read, len(kinds.members))

    def _amount(self, node: c.AmountOf, scope: Scope) -> ast.expr:
        number, kind = self.expression(node.number, scope), self.expression(node.kind, scope)
        if is_constant(kind):
            zero = self.quote.constant(0)
            return self.quote.tuple([number if i == value_of(kind) else zero for i in range(node.size)])
        return self.quote.call("single", [number, kind, self.quote.constant(node.size)])

    def _default(self, value: c.Expression, default: c.Expression, scope: Scope) -> ast.expr:
        q = self.quote
        at_end = self.loops.end_number(value, default.value, scope) if isinstance(default, c.Const) else None
        if at_end is not None:
            return at_end
        inner = self.expression(value, scope)
        if is_constant(inner):
            return inner if value_of(inner) is not None else self.expression(default, scope)
        other = self.expression(default, scope)
        if cheap(inner):
            return q.expression("_0 if _0 is not None else _1", inner, other)
        if is_constant(other):
            return q.call("otherwise", [inner, other])
        if scope.leaky and any(isinstance(node, ast.NamedExpr) for node in ast.walk(other)):
            raise Unsupported("a loop in what stands for none")
        return q.expression("(lambda found: _1 if found is None else found)(_0)", inner, other)

    def _kind_test(self, node: c.KindTest, scope: Scope) -> ast.expr:
        q = self.quote
        value = self.expression(node.value, scope)
        if node.value.type.form == "card":
            truths = tuple((kind == node.kind) != node.negated for kind in self.constants.card_kind)
            table = q.name(self.emitter.bind(f"{'not ' if node.negated else ''}{node.kind}", truths))
            if is_constant(value) and value_of(value) is not None:
                return q.constant(truths[value_of(value)])
            if not node.value.type.optional:
                return q.expression("_0[_1]", table, value)
            return q.call("is_of", [table, value, q.constant(node.negated)])
        pieces = tuple((piece == node.kind) != node.negated for piece in self.constants.pieces)
        table = q.name(self.emitter.bind(f"{'not ' if node.negated else ''}{node.kind}", pieces))
        return q.call("is_piece", [table, value, q.constant(node.negated)])

    # --- numbers and bags

    def _arithmetic(self, node: c.Arithmetic, scope: Scope) -> ast.expr:
        left, right = unsure(self.expression(node.left, scope)), unsure(self.expression(node.right, scope))
        q = self.quote
        if node.type.form == "bag":
            return self._bags(node, left, right)
        if is_constant(left) and is_constant(right) and node.operator in ("+", "-", "*"):
            a, b = value_of(left), value_of(right)
            return q.constant(a + b if node.operator == "+" else a - b if node.operator == "-" else a * b)
        if node.operator == "+" and node.type.form in ("list", "set"):
            return self.made(node, q.call("joined", [left, right]))
        if node.operator == "*" and not is_constant(left) and not is_constant(right):
            return q.call("product", [left, right])
        template = {"+": "_0 + _1", "-": "_0 - _1", "*": "_0 * _1", "div": "_0 // _1", "mod": "_0 % _1"}[node.operator]
        return q.expression(template, left, right)

    def _bags(self, node: c.Arithmetic, left: ast.expr, right: ast.expr) -> ast.expr:
        kind = self.constants.model.kinds.get(node.type.name)
        size = len(kind.members) if kind is not None else 0
        template = "_0 + _1" if node.operator == "+" else "_0 - _1"
        parts = [self._part(left, i) for i in range(size)], [self._part(right, i) for i in range(size)]
        if 0 < size <= MOST_UNROLLED and None not in parts[0] and None not in parts[1]:
            found = []
            for a, b in zip(*parts, strict=True):
                assert a is not None
                assert b is not None
                nothing = is_constant(b) and value_of(b) == 0
                found.append(a if nothing else self.quote.expression(template, a, b))
            return self.quote.tuple(found)
        return self.quote.call("bag_sum" if node.operator == "+" else "bag_difference", [left, right])

    def _part(self, bag: ast.expr, index: int) -> ast.expr | None:
        if isinstance(bag, ast.Tuple) and all(harmless(item) for item in bag.elts):
            return bag.elts[index]
        if isinstance(bag, ast.Constant):
            return self.quote.constant(value_of(bag)[index])
        if cheap(bag):
            return self.quote.expression("_0[_1]", bag, self.quote.constant(index))
        return None

    # --- truths

    def _comparison(self, node: c.Comparison, scope: Scope) -> ast.expr:
        operator, left, right = node.operator, node.left, node.right
        first, second = self.expression(left, scope), self.expression(right, scope)
        if operator == "<=" and is_constant(first) and self._is_at_least(right, value_of(first)):
            return self.quote.constant(True)
        found = self._comparing(operator, first, second)
        if _is_empty(right) and left.type.form == "list" and not left.type.optional and not is_constant(found):
            asks_for_items(found)
        if self.knowledge.is_count(left) or self.knowledge.is_count(right):
            asks_for_some(found)
        return self._weighing(left.type, found)

    def _comparing(self, operator: str, left: ast.expr, right: ast.expr) -> ast.expr:
        """A comparison of two finished expressions, as Python makes it quickest."""
        if is_constant(left) and is_constant(right):
            return self.quote.constant(OPERATORS[operator][1](value_of(left), value_of(right)))
        if operator not in ("==", "!="):
            left, right = unsure(left), unsure(right)
        if operator == "==" and is_constant(right) and value_of(right) == 0:
            fits = self._fits(left)
            if fits is not None:
                return fits
        if is_constant(right) and value_of(right) is None and operator in ("==", "!="):
            if isinstance(left, ast.Constant | ast.Tuple):
                return self.quote.constant(operator == "!=")
            return self.quote.expression("_0 is None" if operator == "==" else "_0 is not None", left)
        return self.quote.placed(ast.Compare(left, [OPERATORS[operator][0]()], [right]))  # type: ignore[no-any-return]

    def _is_at_least(self, node: c.Expression, least: object) -> bool:
        """Whether a number is surely no less: a holder never has less than nothing of a kind."""
        if not isinstance(least, int) or least > 0 or not self.knowledge.is_total(node):
            return False
        return isinstance(node, c.BagItem) and self.knowledge.is_count(node)

    def _fits(self, node: ast.expr) -> ast.expr | None:
        """Nothing is left outside of a bag with some more of one kind: there is so much space for that kind beside it.

        For this the bag itself need not fit: then there is space for nothing.
        """
        match node:
            case ast.Subscript(ast.Attribute(claims, "outside"), ast.Tuple(parts)):
                more = [place for place, part in enumerate(parts) if isinstance(part, ast.BinOp)]
            case _:
                return None
        if len(more) != 1:
            return None
        kind = more[0]
        match parts[kind]:
            case ast.BinOp(ast.Subscript(bag, ast.Constant()), ast.Add(), ast.Constant(int(number))) if number > 0:
                pass
            case _:
                return None
        q = self.quote
        same = [q.expression("_0[_1]", bag, q.constant(place)) for place in range(len(parts))]
        held = [part.left if place == kind else part for place, part in enumerate(parts)]  # type: ignore[attr-defined]
        if [shown(each) for each in held] != [shown(each) for each in same]:
            return None
        space = q.expression("_0.space[_1]", claims, bag)
        space.heavy = self.emitter.sizes.sets  # type: ignore[attr-defined]
        return q.expression("_0 <= _1[_2]", q.constant(number), space, q.constant(kind))

    def _logic(self, operator: str, left: ast.expr, right: c.Expression, scope: Scope) -> ast.expr:
        if is_constant(left):
            if bool(value_of(left)) == (operator == "or"):
                return left
            return self.expression(right, scope)
        other = self.expression(right, scope)
        if is_constant(other) and bool(value_of(other)) == (operator == "and"):
            return left
        return self.quote.expression("_0 and _1" if operator == "and" else "_0 or _1", left, other)

    def negated(self, node: ast.expr) -> ast.expr:
        if is_constant(node):
            return self.quote.constant(not value_of(node))
        return self.quote.expression("not _0", node)

    def all_of(self, tests: list[ast.expr]) -> ast.expr:
        flat: list[ast.expr] = []
        for test in tests:
            if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
                flat.extend(test.values)
            elif not is_constant(test) or not value_of(test):
                flat.append(test)
        flat = implied(list({shown(test): test for test in flat}.values()))
        if not flat:
            return self.quote.constant(True)
        if len(flat) == 1:
            return flat[0]
        return self.quote.placed(ast.BoolOp(ast.And(), flat))  # type: ignore[no-any-return]

    def any_of(self, tests: list[ast.expr]) -> ast.expr:
        left = [test for test in tests if not is_constant(test) or value_of(test)]
        if not left:
            return self.quote.constant(False)
        if len(left) == 1 or is_constant(left[0]):
            return left[0]
        return self.quote.placed(ast.BoolOp(ast.Or(), left))  # type: ignore[no-any-return]

    # --- what a loop does not change

    def hoisted(self, node: ast.expr, scope: Scope) -> ast.expr:
        """The same value, worked out before the outermost loop that does not change it. It must not be able to fail."""
        if scope.frozen:
            return node
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        for position, loop in enumerate(scope.loops):
            inner = scope.loops[position:]
            bound = set().union(*(h.variables for h in inner), *(h.known.values() for h in inner[1:]))
            if used & bound:
                continue
            key = shown(node)
            if key not in loop.known:
                loop.known[key] = self.fresh("fixed")
                loop.clauses.append((loop.known[key], node))
            return self.quote.name(loop.known[key])
        return node


def _someone(owner: ast.expr) -> int:
    number = value_of(owner)
    if number is None:
        raise Unsupported("a cell of nobody")
    return number  # type: ignore[no-any-return]


def _is_empty(node: c.Expression) -> bool:
    return (isinstance(node, c.MakeList) and not node.items) or (isinstance(node, c.Const) and node.value == ())
