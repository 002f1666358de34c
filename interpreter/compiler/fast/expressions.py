"""Expressions of the fast form: each checked expression becomes a Python expression.

Constants of players, settings and printed data are folded in; small functions are put in place of their calls; what a
loop does not change is worked out before it. A value that the plain form would refuse raises some exception here: the
machine then lets the plain form run the same step, which tells what is wrong.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from interpreter.base.source import Span
from interpreter.compiler.constants import Constants, RuleFailure
from interpreter.compiler.fast.budget import FEW
from interpreter.compiler.fast.knowledge import MOST_UNROLLED, Knowledge
from interpreter.compiler.fast.parts import part_of
from interpreter.compiler.fast.pins import implied
from interpreter.compiler.fast.quote import Quote, is_constant, value_of
from interpreter.compiler.fast.rooms import RoomsOfCards
from interpreter.compiler.fast.truths import asks_for_items, asks_for_some
from interpreter.language import core as c
from interpreter.language.model import RuleLayer
from interpreter.language.types import Type
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Expressions", "Hoister", "RowOf", "Scope", "TooLarge", "Unsupported", "in_place"]

MODULE = re.compile("[A-Z]+[0-9]+_")
PLAIN = re.compile("[a-z][a-z0-9_]*")
"""Locals are named so; all that the compiler names by itself has a capital letter, or does not end in a number."""
OPERATORS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Unsupported(Exception):
    """Something that is left to the plain form."""


MOST_WRITTEN = 60_000
"""So many expressions are written for one game, and for each policy: functions that are put in place of their calls
can double each time."""


FEW_CARDS = 2
"""No more cards are looked for in a zone in place of going through it."""


class TooLarge(Exception):
    """All of the ruleset is left to the plain form."""


@dataclass
class Hoister:
    """What is worked out before a loop: names and expressions, and the names that the loop itself gives values to.
    ``items``: what it goes through, as far as somebody may want to know."""

    variables: set[str]
    items: ast.expr | None = None
    clauses: list[tuple[str, ast.expr]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)


@dataclass
class Scope:
    """The locals of one text. ``lifted``: cells that are parameters here. ``leaky``: the locals are kept in frames, so
    a loop's variable must be left as the plain form leaves it."""

    labels: tuple[str, ...]
    prefix: str = ""
    names: dict[int, ast.expr] = field(default_factory=dict)
    lifted: dict[tuple[str, str], str] | None = None
    leaky: bool = False
    loops: list[Hoister] = field(default_factory=list)
    items: bool = False
    frozen: bool = False

    def label(self, index: int) -> str:
        text = self.labels[index] if index < len(self.labels) else ""
        return f"{self.prefix}{text if PLAIN.fullmatch(text) else 'x'}_{index}"


@dataclass(frozen=True, slots=True)
class RowOf:
    """An expression and the local for each value of which it is kept; ``others`` are the locals that it has beside."""

    label: str
    tree: c.Expression
    variable: int
    type: Type | None
    others: tuple[int, ...]
    labels: tuple[str, ...]
    span: Span
    total: bool = True


def shown(node: ast.expr) -> str:
    return ast.dump(node)


def cheap(node: ast.expr) -> bool:
    """Whether an expression may be written more than once."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Subscript(value, index):
            return isinstance(value, ast.Name) and cheap(index)
        case ast.Tuple(items):
            return all(isinstance(item, ast.Name | ast.Constant) for item in items)
        case ast.BinOp(left, ast.Add(), right):
            return (
                cheap(left) and isinstance(right, ast.Constant | ast.Name) and isinstance(left, ast.Constant | ast.Name)
            )
        case _:
            return False


def _someone(owner: ast.expr) -> int:
    number = value_of(owner)
    if number is None:
        raise Unsupported("a cell of nobody")
    return number  # type: ignore[no-any-return]


def harmless(node: ast.expr) -> bool:
    """Whether an expression may be left out, or worked out later: it cannot fail."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Subscript(ast.Name("S"), index):
            return isinstance(index, ast.Constant)
        case ast.Subscript(ast.Name(name), ast.Constant()):
            return not MODULE.match(name)  # a part of a bag or record
        case ast.Tuple(items):
            return all(harmless(item) for item in items)
        case _:
            return False


def unsure(node: ast.expr) -> ast.expr:
    """Where none would fail by itself, it need not be looked for."""
    match node:
        case ast.Call(ast.Name("sure"), [inner]):
            return inner
        case ast.IfExp(test, then, otherwise):
            return ast.copy_location(ast.IfExp(test, unsure(then), unsure(otherwise)), node)
        case _:
            return node


class Expressions:
    """Writes expressions."""

    def __init__(self, emitter: Emitter, quote: Quote, knowledge: Knowledge, constants: Constants) -> None:
        self.emitter = emitter
        self.quote = quote
        self.knowledge = knowledge
        self.constants = constants
        self.program = knowledge.program
        self.base = constants.layout.base
        self._numbers = 0
        self._written = 0

    def begin(self) -> None:
        """Something new is written, which may be as large as what was written before."""
        self._written = 0

    # --- names

    def fresh(self, label: str) -> str:
        self._numbers += 1
        return f"{label if PLAIN.fullmatch(label) else 'x'}_N{self._numbers}"

    def local(self, scope: Scope, index: int) -> ast.expr:
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

    def kept(self, node: c.Expression, scope: Scope, *, own: bool = True) -> ast.expr:
        """A value that is going to be kept: of numbers only what is bounded. ``own``: locals hold no others."""
        found = self.expression(node, scope)
        return self.quote.call("bounded", [found]) if self.emitter.sizes.is_large(node, own=own) else found

    def _made(self, node: c.Expression, found: ast.expr) -> ast.expr:
        """A list or record that holds lists, bags or records: what it holds in all is bounded."""
        return self.quote.call("weighed", [found]) if self.emitter.sizes.is_heavy(node) else found

    def _compared(self, type_: Type, found: ast.expr, times: int = 1) -> ast.expr:
        """To compare two long values takes its time; see :mod:`interpreter.compiler.fast.cost`."""
        found.heavy = times * self.emitter.sizes.weight(type_) // 4  # type: ignore[attr-defined]
        return found

    def items(self, node: c.Expression, scope: Scope, *, kept: bool = True) -> ast.expr:
        """Something to look through once: need not be a tuple. ``kept``: the items may be."""
        self.quote.at(node.span)
        if isinstance(node, c.RangeFrom):
            return self.quote.call("numbers", [self.expression(node.first, scope), self.expression(node.last, scope)])
        if isinstance(node, c.CallRule | c.CallBase):
            return self.call(node, scope, items=True)
        if isinstance(node, c.Loop) and node.operation in ("filter", "map"):
            return self._listed(node, scope, kept=kept)
        if isinstance(node, c.Condition):
            holds = self.expression(node.test, scope)
            if is_constant(holds):
                return self.items(node.then if value_of(holds) else node.otherwise, scope, kept=kept)
            then, otherwise = (self.items(each, scope, kept=kept) for each in (node.then, node.otherwise))
            return self.quote.expression("_0 if _1 else _2", then, holds, otherwise)
        return self.expression(node, scope)

    def expression(self, node: c.Expression, scope: Scope) -> ast.expr:
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
                return self.call(node, scope)
            case c.Builtin():
                return self._builtin(node, scope)
            case c.MakeRecord(parts) | c.MakeList(parts):
                return self._made(node, q.tuple([self.kept(part, scope, own=scope.leaky) for part in parts]))
            case c.AmountOf():
                return self._amount(node, scope)
            case c.RangeFrom():
                return q.expression("tuple(_0)", self.items(node, scope))
            case c.Arithmetic():
                return self._arithmetic(node, scope)
            case c.Comparison(operator, left, right):
                first, second = self.expression(left, scope), self.expression(right, scope)
                if operator == "<=" and is_constant(first) and self._at_least(right, value_of(first)):
                    return q.constant(True)
                found = self._comparison(operator, first, second)
                if _is_empty(right) and left.type.form == "list" and not left.type.optional and not is_constant(found):
                    asks_for_items(found)
                if self.knowledge.is_count(left) or self.knowledge.is_count(right):
                    asks_for_some(found)
                return self._compared(left.type, found)
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
                found = self._member(node, item, items, negated, scope)
                return self._compared(item.type, found, self.emitter.sizes.longest)
            case c.KindTest():
                return self._kind_test(node, scope)
            case c.Loop():
                return self._loop(node, scope)
            case c.Noted():
                raise AssertionError("rules that are watched run in the plain form")
            case _:
                assert_never(node)

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

    def negated(self, node: ast.expr) -> ast.expr:
        if is_constant(node):
            return self.quote.constant(not value_of(node))
        return self.quote.expression("not _0", node)

    def static(self, attribute: str, of: ast.expr) -> ast.expr:
        if attribute == "seat.number" and not is_constant(of):
            return of
        return self._at(attribute, tuple(self.constants.statics[attribute]), of)

    def _at(self, label: str, values: tuple[Any, ...], place: ast.expr) -> ast.expr:
        """What stands in a list that is known."""
        if is_constant(place):
            return self.quote.constant(values[value_of(place)])
        return self.quote.expression("_0[_1]", self.quote.name(self.emitter.bind(label, values)), place)

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

    def _amount(self, node: c.AmountOf, scope: Scope) -> ast.expr:
        number, kind = self.expression(node.number, scope), self.expression(node.kind, scope)
        if is_constant(kind):
            zero = self.quote.constant(0)
            return self.quote.tuple([number if i == value_of(kind) else zero for i in range(node.size)])
        return self.quote.call("single", [number, kind, self.quote.constant(node.size)])

    def _arithmetic(self, node: c.Arithmetic, scope: Scope) -> ast.expr:
        left, right = unsure(self.expression(node.left, scope)), unsure(self.expression(node.right, scope))
        q = self.quote
        if node.type.form == "bag":
            return self._bags(node, left, right)
        if is_constant(left) and is_constant(right) and node.operator in ("+", "-", "*"):
            a, b = value_of(left), value_of(right)
            return q.constant(a + b if node.operator == "+" else a - b if node.operator == "-" else a * b)
        if node.operator == "+" and node.type.form in ("list", "set"):
            return self._made(node, q.call("joined", [left, right]))
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

    def _at_least(self, node: c.Expression, least: object) -> bool:
        """Whether a number is surely no less: a holder never has less than nothing of a kind."""
        if not isinstance(least, int) or least > 0 or not self.knowledge.is_total(node):
            return False
        return isinstance(node, c.BagItem) and self.knowledge.is_count(node)

    def _comparison(self, operator: str, left: ast.expr, right: ast.expr) -> ast.expr:
        if is_constant(left) and is_constant(right):
            return self.quote.constant(COMPARED[operator](value_of(left), value_of(right)))
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
        return self.quote.placed(ast.Compare(left, [OPERATORS[operator]()], [right]))  # type: ignore[no-any-return]

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

    def _default(self, value: c.Expression, default: c.Expression, scope: Scope) -> ast.expr:
        q = self.quote
        at_end = self._end_number(value, default.value, scope) if isinstance(default, c.Const) else None
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

    def _member(
        self, node: c.MemberOf, item: c.Expression, items: c.Expression, negated: bool, scope: Scope
    ) -> ast.expr:
        q = self.quote
        one = self.expression(item, scope)
        passes = self._passes(one, items, scope)
        if passes is not None:
            return self.negated(passes) if negated else passes
        if isinstance(items, c.RangeFrom):
            first, last = self.expression(items.first, scope), self.expression(items.last, scope)
            template = "_0 not in numbers(_1, _2)" if negated else "_0 in numbers(_1, _2)"
            return q.expression(template, one, first, last)
        whole = self.items(items, scope)
        if shown(whole) in self._gone_through(one, scope):
            return q.constant(not negated)
        hoisted = self._as_set(whole, scope)
        return q.expression("_0 not in _1" if negated else "_0 in _1", one, hoisted)

    def _passes(self, one: ast.expr, items: c.Expression, scope: Scope) -> ast.expr | None:
        """Whether what a loop goes through is among those of the same things that pass a test: the row of the test
        tells."""
        gone_through = self._gone_through(one, scope)
        if not gone_through or not isinstance(items, c.CallRule | c.CallBase) or scope.frozen:
            return None
        layer = self.program.reach.procedures[self.program.target(items)]
        body = layer.body
        if not isinstance(body, c.Loop) or body.operation != "filter" or layer.form != "is" or layer.when is not None:
            return None
        given = {index: self.expression(argument, scope) for index, argument in enumerate(items.arguments)}
        inner = Scope(layer.local_names, names=given, lifted=scope.lifted, loops=scope.loops)
        if shown(self.items(body.items, inner)) not in gone_through:
            return None
        inner.names[body.variable] = one
        return self._row_test(body, inner)

    def _gone_through(self, one: ast.expr, scope: Scope) -> set[str]:
        """What the loop goes through of which this is the item."""
        if not isinstance(one, ast.Name):
            return set()
        return {shown(each.items) for each in scope.loops if one.id in each.variables and each.items}

    def _as_set(self, whole: ast.expr, scope: Scope) -> ast.expr:
        """A list that was worked out before a loop is looked up as a set in it."""
        if not isinstance(whole, ast.Name):
            return whole
        if any(whole.id == name for loop in scope.loops for name, _ in loop.clauses):
            wanted = self.quote.expression("frozenset(_0)", whole)
            return self.hoisted(self._remembered("set", wanted, scope) or wanted, scope)
        return whole

    def _remembered(self, label: str, node: ast.expr, scope: Scope) -> ast.expr | None:
        """A call of a function that remembers what is worked out of an answer that is remembered itself."""
        known = {name: value for loop in scope.loops for name, value in loop.clauses}
        node = in_place(node, known)
        free = _free(node)
        names = sorted(free - KNOWN - {"S", "M"})
        if free & {"state", "L"} or not {"S", "M"} <= free or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
            return None
        given = [f"A_{number}" for number in range(len(names))]
        _rename(node, dict(zip(names, given, strict=True)))
        name = self.emitter.functions.remembered(label, given, node)
        if name is None:
            return None
        return self.quote.call(name, [self.quote.name("S"), self.quote.name("M"), *map(self.quote.name, names)])

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

    # --- calls

    def call(self, node: c.CallRule | c.CallBase, scope: Scope, items: bool = False) -> ast.expr:
        target = self.program.target(node)
        layer = self.program.reach.procedures[target]
        if layer.form == "does":
            arguments = [self.kept(argument, scope) for argument in node.arguments]
            return self.quote.call(self.emitter.functions.procedure(target), [self.quote.name("state"), *arguments])
        if node.type.is_holder:
            cell = self.knowledge.cell_of(node)
            if isinstance(cell, c.Cell):
                return self.address(cell, scope)
        match self.program.answer(node), node.arguments:
            case c.Loop(_, _, c.Local(0), None) as loop, (given,) if self.knowledge.is_end(loop, given):
                return self._end(loop, self.items(given, scope))
            case _:
                pass
        arguments = [self.expression(argument, scope) for argument in node.arguments]
        row = self._row_of(target, layer, arguments, scope)
        if row is not None:
            return row
        sure = [self.knowledge.is_total(argument) for argument in node.arguments]
        self.quote.at(node.span)
        return self.call_with(target, arguments, sure, scope, items)

    def _row_of(self, target: str, layer: RuleLayer, arguments: list[ast.expr], scope: Scope) -> ast.expr | None:
        """A call with one argument that a loop goes through: all its values are kept in a row.

        Where it may fail for some of them, the row has none there, which is not looked for where it fails by itself.
        """
        if isinstance(layer.body, tuple) or layer.when is not None or scope.lifted is not None or scope.frozen:
            return None
        facts = self.knowledge.facts(target)
        if not arguments or facts.lifted is not None or not all(harmless(argument) for argument in arguments):
            return None
        through = [i for i, argument in enumerate(arguments) if self._is_loop_variable(argument, scope)]
        used = [i for i, uses in enumerate(facts.uses) if uses]
        if len(through) > 1 or not (facts.total or (through and layer.body.type.form == "int")):
            return None
        if not through and len(used) != 1:
            return None
        index = through[0] if through else used[0]
        others = tuple(i for i in used if i != index)
        given = [arguments[i] for i in others]
        if not all(isinstance(each, ast.Name | ast.Constant) for each in given):
            return None
        type_ = layer.parameters[index][1]
        of = RowOf(layer.rule, layer.body, index, type_, others, layer.local_names, layer.span, facts.total)
        row = self.emitter.functions.row(of)
        if row is None:
            return None
        state = [self.quote.name("S"), self.quote.name("M")]
        if not through:
            return self.quote.expression("_0[_1]", self.quote.call(row, [*state, *given]), arguments[index])
        found = self.quote.expression(
            "_0[_1]", self.hoisted(self.quote.call(row, [*state, *given]), scope), arguments[index]
        )
        return found if facts.total else self.quote.call("sure", [found])

    def _is_loop_variable(self, node: ast.expr, scope: Scope) -> bool:
        return isinstance(node, ast.Name) and any(node.id in loop.variables for loop in scope.loops)

    def _row_test(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        """The test of a loop, where it looks through something itself: its values are kept in a row."""
        test = node.test
        if test is None or scope.lifted is not None or scope.frozen or not self.knowledge.is_total(test):
            return None
        if not any(isinstance(each, c.Loop) for each in descendants(test)) or node.items.type.of is None:
            return None
        bound = {each.variable for each in descendants(test) if isinstance(each, c.Loop)} | {node.variable}
        free = sorted({each.index for each in descendants(test) if isinstance(each, c.Local)} - bound)
        others = [self.local(scope, index) for index in free]
        if not all(isinstance(other, ast.Name | ast.Constant) for other in others):
            return None
        of = RowOf("test", test, node.variable, node.items.type.of, tuple(free), scope.labels, test.span)
        row = self.emitter.functions.row(of)
        if row is None:
            return None
        call = self.quote.call(row, [self.quote.name("S"), self.quote.name("M"), *others])
        return self.quote.expression("_0[_1]", self.hoisted(call, scope), self.local(scope, node.variable))

    def call_with(
        self, target: str, arguments: list[ast.expr], sure: list[bool], scope: Scope, items: bool = False
    ) -> ast.expr:
        """A call of a function with arguments already written. ``sure``: those that cannot fail."""
        facts = self.knowledge.facts(target)
        if facts.lifted == () and all(is_constant(argument) for argument in arguments):
            found = self._known(target, tuple(value_of(argument) for argument in arguments))
            if found is not None:
                return found
        if facts.inline and all(
            harmless(argument) or (safe and (cheap(argument) or uses <= 1))
            for argument, safe, uses in zip(arguments, sure, facts.uses, strict=True)
        ):
            return self._inlined(target, arguments, scope, items)
        if facts.lifted is not None:
            name, kept = self.emitter.functions.value_function(target, items)
            cells = [
                self.read_of(group, arguments[index] if index is not None else None, scope)
                for group, index in facts.lifted
            ]
            call = self.quote.call(name, [*cells, *(arguments[index] for index in kept)])
            for index, argument in enumerate(arguments):
                if index not in kept and not sure[index] and not harmless(argument):
                    call = self.quote.expression("(_0, _1)[1]", argument, call)
            return self.hoisted(call, scope) if facts.total else call
        if scope.lifted is not None:
            raise Unsupported(target)
        name = self.emitter.functions.state_function(target, items)
        call = self.quote.call(name, [self.quote.name("S"), self.quote.name("M"), *arguments])
        return self.hoisted(call, scope) if facts.total else call

    def _known(self, target: str, values: tuple[Any, ...]) -> ast.expr | None:
        try:
            found = self.emitter.evaluated(target, values)
        except RuleFailure:
            return None
        return self.quote.constant(found)

    def _inlined(self, target: str, arguments: list[ast.expr], scope: Scope, items: bool) -> ast.expr:
        layer = self.program.reach.procedures[target]
        inner = Scope(
            layer.local_names,
            prefix=f"{self.fresh(layer.rule)}_",
            names=dict(enumerate(arguments)),
            lifted=scope.lifted,
            loops=scope.loops,
            frozen=scope.frozen,
        )
        below = self.knowledge.below(layer)
        body = self.body(target, inner, items)
        if below is None or layer.when is None:
            return body
        holds = self.expression(layer.when, inner)
        if is_constant(holds) and value_of(holds):
            return body
        other = self.call_with(below, arguments, [True] * len(arguments), inner, items)
        if is_constant(holds):
            return other
        return self.quote.expression("_0 if _1 else _2", body, holds, other)

    def body(self, target: str, scope: Scope, items: bool) -> ast.expr:
        """The body of a function or verdict that is one expression."""
        layer = self.program.reach.procedures[target]
        if layer.form != "permits":
            assert not isinstance(layer.body, tuple)
            return self.items(layer.body, scope) if items else self.expression(layer.body, scope)
        tests = [self.expression(line.test, scope) for line in layer.body if isinstance(line, c.Requirement)]  # type: ignore[union-attr]
        return self.all_of(tests)

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

    # --- loops

    def _loop(self, node: c.Loop, scope: Scope) -> ast.expr:
        q = self.quote
        match node.operation:
            case "filter" | "map":
                unrolled = self._unrolled(node, scope) if node.operation == "map" else None
                if unrolled is not None and not (node.value and self.emitter.sizes.is_large(node.value)):
                    return self._made(node, q.tuple(unrolled))
                found = self._listed(node, scope)
                if not (isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and found.func.id == "tuple"):
                    found = q.expression("tuple(_0)", found)
                return self._made(node, found) if node.operation == "map" else self._but_for_few(node, found, scope)
            case "count":
                unrolled = self._unrolled(node, scope)
                if unrolled is not None and node.test is None:
                    return q.constant(len(unrolled))
                return q.expression("len(_0)", self._listed(node, scope))
            case "any" | "all":
                return self._any_all(node, scope)
            case "first" | "last":
                return self._first_last(node, scope)
            case _:
                return self._ordered(node, scope)

    def _but_for_few(self, node: c.Loop, found: ast.expr, scope: Scope) -> ast.expr:
        """Cards of a zone that pass a test which only a card or two fail: all of them, where none of these is there."""
        fail = self.few_are_there(node, scope, passing=False)
        return (
            found
            if fail is None
            else self.quote.expression("_0 if _1 else _2", found, fail, self.items(node.items, scope))
        )

    def few_are_there(self, node: c.Loop, scope: Scope, *, passing: bool) -> ast.expr | None:
        """Whether a zone has a card that passes a loop's test, or fails it: it is looked for, if few cards do."""
        if node.test is None or scope.leaky or not isinstance(node.items, c.Read) or node.items.type.form != "list":
            return None
        told = self.emitter.told_of_cards(node, node.test)
        if told is None:
            return None
        few = [card for card, passes in told.items() if passes == passing]
        items = self.items(node.items, scope)
        if len(few) > FEW_CARDS or not cheap(items):
            return None
        return self._any_of([self.quote.expression("_0 in _1", self.quote.constant(card), items) for card in few])

    def _by_position(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        """Cards of a zone that are asked for by their places there: none of them is looked for."""
        match node:
            case c.Loop(
                "filter",
                variable,
                c.Read(c.Cell(owner=None, group=group)) as items,
                c.Comparison(
                    (">" | ">=" | "<" | "<=") as sign,
                    c.Builtin("position", (c.Local(index), c.Read(c.Cell(owner=None, group=same)))),
                    least,
                ),
            ) if index == variable and group == same and items.type.form == "list" and not scope.leaky:
                limit = self.expression(least, scope)
                if not is_constant(limit):
                    return None
                place = self.quote.constant(max(0, value_of(limit) + (sign in (">", "<="))))
                return self.quote.expression(
                    "_0[_1:]" if sign in (">", ">=") else "_0[:_1]", self.items(items, scope), place
                )
            case _:
                return None

    def _is_worth_it(self, node: c.Loop, found: ast.expr, scope: Scope) -> bool:
        """Whether a list is remembered by the locals that it is worked out of: if it needs no state, but long work for
        each item."""
        is_long = any(isinstance(each, c.Builtin) and each.name == "connected" for each in descendants(node.test))
        return is_long and not scope.loops and not scope.leaky and not _free(found) & {"S", "M", "state"}

    def _unrolled(self, node: c.Loop, scope: Scope) -> list[ast.expr] | None:
        """For each item of a short known list the value, or the test."""
        if scope.leaky:
            return None
        items = self.short(node.items, scope)
        if items is None or (node.operation == "map" and node.test is not None):
            return None
        shown_ = node.value if node.operation == "map" else node.test
        found = []
        for item in items:
            scope.names[node.variable] = self.quote.constant(item)
            found.append(self.expression(shown_, scope) if shown_ is not None else self.quote.constant(True))
        del scope.names[node.variable]
        return found

    def short(self, node: c.Expression, scope: Scope) -> tuple[Any, ...] | None:
        if not isinstance(node, c.Const | c.AllSeats | c.Local):
            return None
        items = self.expression(node, scope)
        if is_constant(items) and isinstance(value_of(items), tuple) and len(value_of(items)) <= MOST_UNROLLED:
            return value_of(items)  # type: ignore[no-any-return]
        return None

    def comprehension(
        self, node: c.Loop, scope: Scope, element: Callable[[Scope], ast.expr], generator: bool
    ) -> ast.expr:
        """``[element for x in items if test]``, with what the loop does not change before it."""
        variable = scope.label(node.variable)
        if scope.leaky:
            return self._leaky(node, scope, element, generator)
        items = self.items(node.items, scope)
        hoister = Hoister({variable}, items)
        scope.loops.append(hoister)
        kept = scope.names.pop(node.variable, None)
        test = self._row_test(node, scope)
        if test is None and node.test is not None:
            test = self.expression(node.test, scope)
        value = element(scope)
        if kept is not None:
            scope.names[node.variable] = kept
        scope.loops.pop()
        if test is not None and not generator and isinstance(value, ast.Name) and value.id == variable:
            short = self.emitter.shortlists.passing(variable, items, [test], dict(hoister.clauses))
            if short is not None:
                return self.quote.expression("tuple(_0)", short)
        clauses = [
            ast.comprehension(
                self.quote.store(name),
                self.quote.tuple([what]) if not is_constant(what) else self.quote.placed(ast.Tuple([what], ast.Load())),
                [],
                0,
            )
            for name, what in hoister.clauses
        ]
        tests = [] if test is None or (is_constant(test) and value_of(test)) else [test]
        clauses.append(ast.comprehension(self.quote.store(variable), items, tests, 0))
        made = ast.GeneratorExp(value, clauses) if generator else ast.ListComp(value, clauses)
        return self.quote.placed(made)  # type: ignore[no-any-return]

    def _leaky(self, node: c.Loop, scope: Scope, element: Callable[[Scope], ast.expr], generator: bool) -> ast.expr:
        """As ``comprehension``, and the variable stays as it was last."""
        if scope.frozen:
            raise Unsupported("a loop over a loop whose variable is kept")
        scope.frozen = True
        items = self.items(node.items, scope)
        scope.frozen = False
        passing = self.fresh("each")
        variable = scope.label(node.variable)
        kept = self.quote.expression("(_0 := _1)", self.quote.name(variable), self.quote.name(passing))
        tests = [self.expression(node.test, scope)] if node.test is not None else []
        match tests:
            case [ast.Compare(ast.Name(asked)) as test] if asked == variable:
                test.left = kept
            case _:
                tests.insert(0, self.quote.placed(ast.List([kept], ast.Load())))
        clause = ast.comprehension(self.quote.store(passing), items, tests, 0)
        value = element(scope)
        made = ast.GeneratorExp(value, [clause]) if generator else ast.ListComp(value, [clause])
        return self.quote.placed(made)  # type: ignore[no-any-return]

    def _variable(self, node: c.Loop) -> Callable[[Scope], ast.expr]:
        return lambda scope: self.quote.name(scope.label(node.variable))

    def _listed(self, node: c.Loop, scope: Scope, *, kept: bool = True) -> ast.expr:
        if node.operation == "map":
            assert node.value is not None
            value = node.value
            given = partial(self.kept, value, own=scope.leaky) if kept else partial(self.expression, value)
            return self.comprehension(node, scope, given, False)
        if node.test is None and not scope.leaky:
            return (
                self.items(node.items, scope)
                if node.operation == "count"
                else self.quote.expression("list(_0)", self.items(node.items, scope))
            )
        placed = self._by_position(node, scope)
        if placed is not None:
            return placed
        found = self.comprehension(node, scope, self._variable(node), False)
        if self._is_worth_it(node, found, scope):
            return self._outlined(node.operation, self.quote.expression("tuple(_0)", found))
        return found

    def _any_all(self, node: c.Loop, scope: Scope) -> ast.expr:
        q = self.quote
        few = self.few_are_there(node, scope, passing=node.operation == "any")
        if few is not None:
            return few if node.operation == "any" else self.negated(few)
        unrolled = self._unrolled(node, scope)
        if node.operation == "any":
            if unrolled is not None:
                return self._any_of(unrolled)
            if node.test is None:
                return (
                    q.expression("len(_0) > 0", self._listed(node, scope))
                    if not scope.leaky
                    else self._any_true(node, scope)
                )
            return self._any_true(node, scope)
        if unrolled is not None:
            return self._all_of(unrolled)
        if node.test is None:
            if scope.leaky:
                return q.expression("all(_0)", self.comprehension(node, scope, lambda _: q.constant(True), True))
            return q.expression("(_0, True)[1]", self.items(node.items, scope))
        test = node.test
        bare = c.Loop("map", node.variable, node.items, None, (), None, type=node.type, span=node.span)
        return q.expression(
            "all(_0)", self.comprehension(bare, scope, lambda inner: self.expression(test, inner), True)
        )

    def _any_true(self, node: c.Loop, scope: Scope) -> ast.expr:
        true = self.comprehension(node, scope, lambda _: self.quote.constant(True), True)
        return self.quote.expression("any(_0)", true)

    def _all_of(self, tests: list[ast.expr]) -> ast.expr:
        if any(is_constant(test) and not value_of(test) for test in tests[:1]):
            return self.quote.constant(False)
        return self.all_of(tests)

    def _any_of(self, tests: list[ast.expr]) -> ast.expr:
        left = [test for test in tests if not is_constant(test) or value_of(test)]
        if not left:
            return self.quote.constant(False)
        if len(left) == 1 or is_constant(left[0]):
            return left[0]
        return self.quote.placed(ast.BoolOp(ast.Or(), left))  # type: ignore[no-any-return]

    def _first_last(self, node: c.Loop, scope: Scope) -> ast.expr:
        q = self.quote
        if node.operation == "first":
            found = q.expression("next(_0, None)", self.comprehension(node, scope, self._variable(node), True))
        else:
            found = q.call("last_or_none", [self.comprehension(node, scope, self._variable(node), False)])
        return found if node.or_none else q.call("sure", [found])

    def _ordered(self, node: c.Loop, scope: Scope) -> ast.expr:
        if scope.leaky and scope.frozen:
            raise Unsupported("a loop in what orders a loop whose variable is kept")
        q = self.quote
        items = self._ordered_items(node, scope)
        if not scope.leaky and self.knowledge.is_end(node, node.items):
            return self._end(node, items)
        ordered: dict[str, ast.expr] = {}
        key = self._key(node, scope)
        if key is not None:
            ordered["key"] = key
        if node.operation == "sorted":
            return q.expression("tuple(_0)", self._keyed("sorted", [items], ordered))
        function = "max" if node.operation == "max" else "min"
        if scope.leaky:
            return self._best_kept(node, scope, function, items, ordered)
        if node.or_none:
            ordered["default"] = q.constant(None)
        return self._keyed(function, [items], ordered)

    def _end(self, node: c.Loop, items: ast.expr) -> ast.expr:
        """The least or the most of items that are in that order."""
        q, is_least = self.quote, node.operation == "min"
        if node.or_none and not cheap(items):
            return q.call("first_or_none" if is_least else "last_or_none", [items])
        return q.expression("_0[_1] if _0 else None" if node.or_none else "_0[_1]", items, q.constant(-(not is_least)))

    def _end_number(self, node: c.Expression, default: object, scope: Scope) -> ast.expr | None:
        """The least or the most that an attribute of items is which are in that order, if that is so."""
        match node:
            case c.Builtin(name, (c.Loop(items=listed, value=c.Static(attribute)),), or_none) if (
                not scope.leaky and self.knowledge.is_end_number(node)
            ):
                q, items = self.quote, self.items(listed, scope)
                if cheap(items):
                    found = self.static(attribute, q.expression("_0[_1]", items, q.constant(-(name[:3] == "max"))))
                    return q.expression("_0 if _1 else _2", found, items, q.constant(default)) if or_none else found
            case _:
                pass
        return None

    def _best_kept(
        self, node: c.Loop, scope: Scope, function: str, items: ast.expr, ordered: dict[str, ast.expr]
    ) -> ast.expr:
        """The variable stays what was found, or, where that is nothing, what was looked at last."""
        q = self.quote
        variable, found = q.name(scope.label(node.variable)), q.name(self.fresh("found"))
        if not node.or_none:
            return q.expression("(_0 := _1)", variable, self._keyed(function, [items], ordered))
        best = q.expression("(_0 := _1)", variable, self._keyed(function, [found], ordered))
        return q.expression("_0 if (_1 := _2) else None", best, found, items)

    def _ordered_items(self, node: c.Loop, scope: Scope) -> ast.expr:
        if node.test is None and not scope.leaky:
            return self.items(node.items, scope)
        return self.comprehension(node, scope, self._variable(node), False)

    def _keyed(self, function: str, arguments: list[ast.expr], named: dict[str, ast.expr]) -> ast.expr:
        keywords = [self.quote.placed(ast.keyword(name, value)) for name, value in named.items()]
        return self.quote.placed(ast.Call(self.quote.name(function), arguments, keywords))  # type: ignore[no-any-return]

    def _key(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        if not node.keys:
            return None
        q = self.quote
        if len(node.keys) == 1:
            (only,) = node.keys
            if isinstance(only, c.Static) and isinstance(only.of, c.Local) and only.of.index == node.variable:
                values = list(self.constants.statics[only.attribute])  # a list's own method is quicker than a tuple's
                return q.name(self.emitter.bind(f"{only.attribute} of", values.__getitem__))
        variable = scope.label(node.variable)
        scope.loops.append(Hoister({variable}))
        frozen, scope.frozen = scope.frozen, True
        kept = scope.names.pop(node.variable, None)
        keys = [self.expression(key, scope) for key in node.keys]
        if kept is not None:
            scope.names[node.variable] = kept
        scope.frozen = frozen
        scope.loops.pop()
        body = keys[0] if len(keys) == 1 else q.tuple(keys)
        arguments = ast.arguments([], [q.placed(ast.arg(variable, None))], None, [], [], None, [])
        return q.placed(ast.Lambda(arguments, body))  # type: ignore[no-any-return]

    # --- the language's own functions

    def _builtin(self, node: c.Builtin, scope: Scope) -> ast.expr:
        q = self.quote
        name, nodes = node.name, node.arguments
        form = nodes[0].type.form if nodes else ""
        match name:
            case "count" if form not in ("int", "bag"):
                return self._folded(q.expression("len(_0)", self.items(nodes[0], scope, kept=False)), len)
            case "sum" | "total":
                return self._sum(nodes[0], scope)
            case "min of list" | "max of list":
                at_end = self._end_number(node, None, scope)
                if at_end is not None:
                    return at_end
                named: dict[str, ast.expr] = {"default": q.constant(None)} if node.or_none else {}
                return self._keyed(name[:3], [self.items(nodes[0], scope, kept=False)], named)
            case "overflow" | "space":
                return self._housed(node, scope)
            case "price":
                return self._price(node, scope)
            case "vacancy":
                return self._vacancy(nodes[0], self.expression(nodes[1], scope), scope)
            case _:
                pass
        arguments = [self.expression(argument, scope) for argument in nodes]
        q.at(node.span)
        match name:
            case "count":
                return arguments[0] if form == "int" else q.expression("sum(_0)", arguments[0])
            case "first" | "top":
                if node.or_none:
                    if cheap(arguments[0]):
                        return q.expression("_0[0] if _0 else None", arguments[0])
                    return q.call("first_or_none", arguments)
                return q.expression("_0[0]", arguments[0])
            case "last":
                return q.call("last_or_none", arguments) if node.or_none else q.expression("_0[-1]", arguments[0])
            case "rest":
                return q.expression("_0[1:]", arguments[0])
            case "take":
                if is_constant(arguments[0]):
                    return q.expression("_1[:_0]", q.constant(max(0, value_of(arguments[0]))), arguments[1])
                return q.expression("_1[:max(0, _0)]", *arguments)
            case "reversed":
                return q.expression("_0[::-1]", arguments[0])
            case "position":
                if node.or_none:
                    return q.call("position_or_none", arguments)
                return q.expression("_1.index(_0)", *arguments)
            case "without":
                return q.call("without", arguments)
            case "cards of piles":
                return q.expression("tuple([card for pile in _0 for card in pile])", arguments[0])
            case "set of list":
                return q.expression("tuple(sorted(set(_0)))", arguments[0])
            case "min" | "max":
                return self._extreme(name, arguments)
            case "room":
                return q.tuple(arguments)
            case "mixes":
                return self._mixes(node, arguments, scope)
            case "clockwise":
                seats = self.constants.seats
                turned = tuple(seats[seat + 1 :] + seats[:seat] for seat in range(len(seats)))
                return q.expression("_0[_1]", q.name(self.emitter.bind("clockwise", turned)), arguments[0])
            case "neighbours":
                return q.call("neighbours", arguments)
            case "distance":
                starts, goal, within, *dealt = arguments
                vector = q.call("distances_dealt" if dealt else "distances", [starts, within, *dealt])
                vector = self.hoisted(self._remembered("distances", vector, scope) or vector, scope)
                found = q.expression("_0[_1]", vector, goal)
                return found if node.or_none else q.call("sure", [found])
            case "path":
                found = q.call("path_dealt" if len(arguments) > 3 else "path", arguments)
                return found if node.or_none else q.call("sure", [found])
            case "connected":
                return q.call("connected", arguments)
            case _:
                raise Unsupported(name)

    def _mixes(self, node: c.Builtin, arguments: list[ast.expr], scope: Scope) -> ast.expr:
        """Mixes are looked up: by few counts of the bag where all that can be asked for is known, or by all of it."""
        q, bag, name = self.quote, arguments[2], node.arguments[2].type.name
        known = self.knowledge.mixtures(node)
        if known is not None:
            mixtures, of = known[0], self.expression(known[1], scope)
            if cheap(of) and cheap(bag):
                rows = self.emitter.bind(f"mixes of {name}", mixtures.rows, mixtures.asked)
                found = q.expression("_0[_1]", q.name(rows), of)
                for kinds in mixtures.kinds:
                    count = self.bag_item(bag, self._at(f"mixed {name}", kinds, of), name)
                    found = q.expression("_0[_1]", found, count)
                found.length = FEW  # type: ignore[attr-defined]
                return found
        found = q.expression("mixes[_0]", q.tuple(arguments))
        found.heavy = self.emitter.sizes.mixes  # type: ignore[attr-defined]
        return found

    def _folded(self, node: ast.expr, function: Callable[[Any], Any]) -> ast.expr:
        if isinstance(node, ast.Call) and is_constant(node.args[0]):
            return self.quote.constant(function(value_of(node.args[0])))
        return node

    def _sum(self, node: c.Expression, scope: Scope) -> ast.expr:
        if isinstance(node, c.Loop) and node.operation == "map":
            unrolled = self._unrolled(node, scope)
            if unrolled:
                found = unrolled[0]
                for part in unrolled[1:]:
                    found = self.quote.expression("_0 + _1", found, part)
                return found
        return self.quote.expression("sum(_0)", self.items(node, scope, kept=False))

    def _extreme(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        if all(is_constant(argument) for argument in arguments):
            values = [value_of(argument) for argument in arguments]
            return self.quote.constant(min(values) if name == "min" else max(values))
        if len(arguments) == 2 and all(cheap(argument) for argument in arguments):
            template = "_0 if _0 <= _1 else _1" if name == "min" else "_0 if _0 >= _1 else _1"
            return self.quote.expression(template, *arguments)
        return self.quote.call(name, arguments)

    def _housed(self, node: c.Builtin, scope: Scope) -> ast.expr:
        """What rooms leave outside, or have left. What sets of kinds can claim follows from the rooms: it is kept."""
        q = self.quote
        bag, rooms = self.expression(node.arguments[0], scope), node.arguments[1]
        kind = self.constants.model.kinds.get(node.arguments[0].type.name)
        width = q.constant(len(kind.members)) if kind is not None else q.expression("len(_0)", bag)
        of_cards = self._claims_of_cards(rooms, width, scope)
        claims = of_cards or q.call("claims", [self.expression(rooms, scope), width])
        if kind is not None:
            claims = self._outlined("claims", claims)
        match rooms, claims:
            case c.Loop(test=None), ast.Call(ast.Name(name)) if of_cards is not None:
                self.emitter.functions.rooms.add(name)
        found = q.expression("_0.outside[_1]" if node.name == "overflow" else "_0.space[_1]", claims, bag)
        found.heavy = self.emitter.sizes.sets  # type: ignore[attr-defined]
        return (
            found
            if node.name == "overflow"
            else self.bag_item(found, self.expression(node.arguments[2], scope), node.arguments[0].type.name)
        )

    def _claims_of_cards(self, rooms: c.Expression, width: ast.expr, scope: Scope) -> ast.expr | None:
        """What is claimed of the rooms of some cards in a zone, where each card always has the same room.

        It is looked up by how much all rooms for the same kinds hold, which one sum tells.
        """
        match rooms:
            case c.Loop("map", items=c.Read(c.Cell(group)), value=c.Core() as room) if group in self.emitter.zones:
                told = self.emitter.told_of_cards(rooms, room)
            case _:
                return None
        if told is None or not is_constant(width):
            return None
        q, known = self.quote, RoomsOfCards(told, value_of(width))
        if not known.is_few:
            return None
        numbers = q.name(self.emitter.bind("room", known.numbers))
        number = q.expression("_0[_1]", numbers, q.name(scope.label(rooms.variable)))
        counted = self.comprehension(rooms, scope, lambda _: number, False)
        found = q.expression("_0[sum(_1)]", q.name(self.emitter.bind("claims", known)), counted)
        found.heavy = self.emitter.sizes.claims(value_of(width))  # type: ignore[attr-defined]
        return found

    def _outlined(self, label: str, node: ast.expr) -> ast.expr:
        """A call of a function of the cells and locals that an expression reads: what it gives is remembered."""
        cells = _Cells()
        body = cells.visit(copy.deepcopy(node))
        free = _free(body)
        if free & {"S", "M", "state"}:
            return node
        names = sorted(free - KNOWN - set(cells.names.values()))
        given = [f"A_{number}" for number in range(len(names))]
        _rename(body, dict(zip(names, given, strict=True)))
        name = self.emitter.functions.outlined(label, [*cells.names.values(), *given], body)
        return self.quote.call(name, [*cells.reads, *(self.quote.name(each) for each in names)])

    def _vacancy(self, node: c.Expression, kind: ast.expr, scope: Scope) -> ast.expr:
        """How much room for a kind there is on a track."""
        q = self.quote
        track, present = self.address(node, scope), self.read(node, scope)
        if not is_constant(track) or value_of(track) in self.constants.effects.units or not cheap(kind):
            return q.call("room_on", [track, present, kind])
        return q.expression(
            "_0 - _1", self.capacity(value_of(track), kind), self.bag_item(present, kind, node.type.name)
        )

    def capacity(self, track: int, kind: ast.expr) -> ast.expr:
        """How many tokens of a kind there is room for on a track."""
        full = self.constants.tracks[track].capacities()
        if is_constant(kind):
            return self.quote.constant(full[value_of(kind)])
        return self.quote.expression("_0[_1]", self.quote.name(self.emitter.bind(f"full {track}", full)), kind)

    def _price(self, node: c.Builtin, scope: Scope) -> ast.expr:
        """The price of some tokens of one kind is looked up, of a mix it is worked out."""
        q = self.quote
        track = self.address(node.arguments[0], scope)
        present = self.read(node.arguments[0], scope)
        wanted = node.arguments[1]
        if not is_constant(track):
            return q.call("price_on", [track, present, self.expression(wanted, scope)])
        found = self.constants.tracks[value_of(track)]
        rows = tuple(
            tuple(
                {number: found.price(kind, count, number) for number in range(count + 1)}
                for count in range(found.capacity(kind) + 1)
            )
            for kind in range(len(found.spaces))
        )
        label = f"prices {value_of(track)}"
        if isinstance(wanted, c.AmountOf):
            number, kind = self.expression(wanted.number, scope), self.expression(wanted.kind, scope)
            return self._price_of(label, rows, present, kind, number)
        tokens = self.expression(wanted, scope)
        if value_of(track) in self.constants.effects.units:
            return q.expression("_0[_1][_2]", q.name(self.emitter.bind(f"{label} of 0", rows[0])), present, tokens)
        if isinstance(tokens, ast.Constant):
            some = [i for i, part in enumerate(value_of(tokens)) if part]
            if len(some) == 1:
                return self._price_of(label, rows, present, q.constant(some[0]), q.constant(value_of(tokens)[some[0]]))
        if isinstance(tokens, ast.Tuple):
            some = [i for i, part in enumerate(tokens.elts) if not (is_constant(part) and value_of(part) == 0)]
            if len(some) == 1:
                return self._price_of(label, rows, present, q.constant(some[0]), tokens.elts[some[0]])
        return q.call("price_on", [track, present, tokens])

    def _price_of(
        self, label: str, rows: tuple[Any, ...], present: ast.expr, kind: ast.expr, number: ast.expr
    ) -> ast.expr:
        if not cheap(kind):
            raise Unsupported("a price of a kind that is worked out")
        q, emitter = self.quote, self.emitter
        if not is_constant(kind):
            return q.expression("_0[_1][_2[_1]][_3]", q.name(emitter.bind(label, rows)), kind, present, number)
        row, label = rows[value_of(kind)], f"{label} of {value_of(kind)}"
        held = part_of(q.expression("_0[_1]", present, kind), len(rows))
        if is_constant(number):  # none where there are not so many
            prices = tuple([each.get(value_of(number)) for each in row])
            of_count = q.name(emitter.bind(f"{label} for {value_of(number)}", prices))
            return q.call("sure", [q.expression("_0[_1]", of_count, held)])
        return q.expression("_0[_1][_2]", q.name(emitter.bind(label, row)), held, number)


def _rename(body: ast.expr, names: dict[str, str]) -> None:
    """New names for what a function is given and for its locals, so that equal functions look the same."""
    for node in ast.walk(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in names:
            names[node.id] = f"B_{len(names)}"
    for node in ast.walk(body):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)


def in_place(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A copy with values in place of names."""
    return _InPlace(values).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


class _InPlace(ast.NodeTransformer):
    """Puts values in place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id)
        return node if value is None else self.visit(copy.deepcopy(value))


class _Cells(ast.NodeTransformer):
    """Puts names in place of the cells that an expression reads."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.reads: list[ast.expr] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id == "S" and cheap(node.slice)):
            return self.generic_visit(node)
        key = shown(node)
        if key not in self.names:
            self.names[key] = f"C_{len(self.names)}"
            self.reads.append(node)
        return ast.copy_location(ast.Name(self.names[key], ast.Load()), node)


KNOWN = frozenset(
    (
        "claims",
        "connected",
        "distances",
        "distances_dealt",
        "joined",
        "tuple",
        "list",
        "len",
        "sum",
        "max",
        "min",
        "any",
        "all",
        "next",
        "sorted",
        "set",
        "frozenset",
    )
)


def _is_empty(node: c.Expression) -> bool:
    return (isinstance(node, c.MakeList) and not node.items) or (isinstance(node, c.Const) and node.value == ())


def _free(node: ast.expr) -> set[str]:
    """The locals that an expression reads: names of the module have a capital and a number in front."""
    bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return {name for name in used - bound if not MODULE.match(name)}
