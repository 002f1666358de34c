"""What Python's compiler leaves undone between functions: finished trees do the same with fewer calls and tuples.

A call at the end of a function is replaced by the body of what it calls, and so is a procedure that is called by the
way; then most frames are made only to be taken apart again. So names are followed through a function: a tuple whose
parts are known is not unpacked, a test that is known is not made, and what nobody reads is not kept. Where the caller's
frame is known, `leave` becomes the stretch that it names; else that stretch is looked up.

Nothing here knows the rules: in come trees and out come trees, and what they do is the same.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from interpreter.compiler.fast.library import LEAVE, SHARED, Library
from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.quote import Quote
from interpreter.compiler.fast.trees import (
    copied,
    is_frame,
    is_simple,
    leaves,
    names_in,
    placed,
    quote_at,
    stored_in,
    takes_state,
)
from interpreter.compiler.fast.unread import without_unread

__all__ = ["going_back", "simplified"]

MOST_IN_ALL = 2_600
"""Nothing more is put in place in a function that has so many nodes."""
DEEPEST = 10
"""Nor is anything put in place within so many functions that were put in place of each other's calls."""

_Parts = tuple["ast.expr | None", ...]


def simplified(function: ast.FunctionDef, library: Library, *, back: bool = False) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed.

    ``back``: what goes on at the only caller may stand in place, too.
    """
    if not takes_state(function) or function.decorator_list:
        return function
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Try) for node in walk(function)):
        return function
    forwards = _Forwards(function, library, back)
    function.body = forwards.block(function.body, _Facts()) or [placed(ast.Pass(), function)]
    function.body = without_unread(function.body) or [placed(ast.Pass(), function)]
    return function


class _Facts:
    """What is known of names at a point: a constant, another name, or the parts of a tuple."""

    def __init__(self, values: dict[str, ast.expr] | None = None, parts: dict[str, _Parts] | None = None) -> None:
        self.values = values if values is not None else {}
        """Names that are a constant, or another name."""
        self.parts = parts if parts is not None else {}
        """Names of tuples with their parts, as far as these are known."""
        self.read: dict[tuple[str, int], str] = {}
        """Names that hold a part of a tuple whose other parts are not known."""
        self.heads: set[str] = set()
        """Names of :data:`SHARED` that have been given what they hold."""

    def copy(self) -> _Facts:
        found = _Facts(dict(self.values), dict(self.parts))
        found.read, found.heads = dict(self.read), set(self.heads)
        return found

    def forget(self, name: str) -> None:
        """A name is given something else."""
        self.values.pop(name, None)
        self.parts.pop(name, None)
        for other in [key for key, value in self.values.items() if isinstance(value, ast.Name) and value.id == name]:
            del self.values[other]
        for other, parts in list(self.parts.items()):
            if any(isinstance(part, ast.Name) and part.id == name for part in parts):
                self.parts[other] = tuple(
                    [None if isinstance(part, ast.Name) and part.id == name else part for part in parts]
                )
        for key in [key for key, value in self.read.items() if value == name or key[0] == name]:
            del self.read[key]

    def meet(self, one: _Facts, other: _Facts) -> None:
        """What holds whichever way was gone."""
        self.values = {k: v for k, v in one.values.items() if (x := other.values.get(k)) is not None and _same(v, x)}
        self.parts = {
            k: tuple(
                [a if a is not None and b is not None and _same(a, b) else None for a, b in zip(v, w, strict=True)]
            )
            for k, v in one.parts.items()
            if len(w := other.parts.get(k, ())) == len(v)
        }
        self.read = {k: v for k, v in one.read.items() if other.read.get(k) == v}
        self.heads = one.heads & other.heads

    def take(self, other: _Facts) -> None:
        self.values, self.parts, self.read, self.heads = other.values, other.parts, other.read, other.heads

    def part(self, name: str, place: int) -> ast.expr | None:
        parts = self.parts.get(name)
        if parts is not None and place < len(parts):
            return parts[place]
        return None


class _Forwards:
    """Goes through a function from its first statement to its last, with what is known of names there."""

    def __init__(self, function: ast.FunctionDef, library: Library, back: bool) -> None:
        self.library, self.back = library, back
        self.used = names_in(function)
        self.size = sum(1 for _ in walk(function))
        self.stack = [function.name]

    # --- statements

    def block(self, body: list[ast.stmt], facts: _Facts) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            done = self.statement(statement, facts)
            found.extend(done)
            if done and leaves(done):
                break
        return found

    def statement(self, statement: ast.stmt, facts: _Facts) -> list[ast.stmt]:
        match statement:
            case ast.Assign([ast.Name(name)], value):
                return self._assign(statement, name, value, facts)
            case ast.Assign([ast.Tuple(targets)], value):
                return self._unpack(statement, [t.id for t in targets if isinstance(t, ast.Name)], value, facts)
            case ast.Assign([target], value):
                statement.value = self.expression(value, facts)
                statement.targets = [self.expression(target, facts)]
                return [statement]
            case ast.AugAssign(ast.Name(name), ast.Add(), ast.Constant(more)) if _is_number(facts.values.get(name)):
                found = placed(ast.Constant(facts.values[name].value + more), statement)  # type: ignore[attr-defined]
                target = placed(ast.Name(name, ast.Store()), statement)
                return self._assign(placed(ast.Assign([target], found), statement), name, found, facts)
            case ast.AugAssign(target, _, value):
                statement.value = self.expression(value, facts)
                if isinstance(target, ast.Name):
                    facts.forget(target.id)
                else:
                    statement.target = self.expression(target, facts)
                return [statement]
            case ast.If():
                return self._if(statement, facts)
            case ast.While(test, body) if leaves(body):  # it is gone through once at most
                return self._if(placed(ast.If(test, body, []), statement), facts)
            case ast.While():
                self._forget_stored(statement, facts)
                inner = facts.copy()
                statement.test = self.expression(statement.test, inner)
                statement.body = self.block(statement.body, inner) or [placed(ast.Pass(), statement)]
                return [statement]
            case ast.For():
                statement.iter = self.expression(statement.iter, facts)
                self._forget_stored(statement, facts)
                inner = facts.copy()
                statement.body = self.block(statement.body, inner) or [placed(ast.Pass(), statement)]
                return [statement]
            case ast.Return(value) if value is not None:
                return self._return(statement, value, facts)
            case ast.Expr(ast.Call(ast.Name(name), arguments) as call):
                call.args = [self.expression(argument, facts) for argument in arguments]
                return self._by_the_way(statement, name, call, facts)
            case ast.Expr(value):
                statement.value = self.expression(value, facts)
                return [statement]
            case ast.Pass():
                return []
            case _:
                return [statement]

    def _assign(self, statement: ast.Assign, name: str, value: ast.expr, facts: _Facts) -> list[ast.stmt]:
        if name in SHARED:
            if name in facts.heads:
                return []
            facts.heads.add(name)
            return [statement]
        value = statement.value = self.expression(value, facts)
        before: list[ast.stmt] = []
        if isinstance(value, ast.Tuple) and is_frame(name) and not stored_in(value):
            before = self._inner_first(value, facts)
        facts.forget(name)
        match value:
            case ast.Constant() | ast.Name():
                if isinstance(value, ast.Name) and value.id == name:
                    return []
                facts.values[name] = value
                if isinstance(value, ast.Name) and value.id in facts.parts:
                    facts.parts[name] = facts.parts[value.id]
            case ast.Tuple(items) if not any(isinstance(item, ast.Starred) for item in items):
                mine = [names_in(item) for item in items]
                facts.parts[name] = tuple(
                    [
                        item if is_simple(item) and name not in names else None
                        for item, names in zip(items, mine, strict=True)
                    ]
                )
            case ast.Subscript(ast.Name(base), ast.Constant(int(place))) if base != name and is_frame(base):
                facts.read[base, place] = name
        return [*before, statement]

    def _inner_first(self, value: ast.Tuple, facts: _Facts) -> list[ast.stmt]:
        """What is more than a name gets one before it is put into a frame, so that it need not be read out of it."""
        found: list[ast.stmt] = []
        for place, item in enumerate(value.elts):
            if not is_simple(item) and not isinstance(item, ast.Starred):
                name = self._fresh("env" if isinstance(item, ast.Tuple) else "part")
                each = placed(ast.Assign([placed(ast.Name(name, ast.Store()), item)], item), item)
                found.extend(self._assign(each, name, item, facts))
                value.elts[place] = placed(ast.Name(name, ast.Load()), item)
        return found

    def _unpack(self, statement: ast.Assign, names: list[str], value: ast.expr, facts: _Facts) -> list[ast.stmt]:
        value = self.expression(value, facts)
        parts: _Parts | None = None
        match value:
            case ast.Name(base):
                parts = facts.parts.get(base)
                if parts is not None and len(parts) != len(names):
                    parts = None
            case ast.Tuple(items) if len(items) == len(names):
                parts = tuple(items)
            case ast.Constant(tuple() as items) if len(items) == len(names):
                parts = tuple([placed(ast.Constant(item), statement) for item in items])
        statement.value = value
        if parts is not None and self._in_order(names, parts):
            found: list[ast.stmt] = []
            for place, (name, part) in enumerate(zip(names, parts, strict=True)):
                if part is None:
                    part = _part(value, place)
                target = placed(ast.Name(name, ast.Store()), statement)
                each = placed(ast.Assign([target], copied(part)), statement)
                found.extend(self._assign(each, name, each.value, facts))
            return found
        for name in names:
            facts.forget(name)
        if isinstance(value, ast.Name) and value.id not in names and len(set(names)) == len(names):
            facts.parts[value.id] = tuple([placed(ast.Name(name, ast.Load()), statement) for name in names])
        return [statement]

    @staticmethod
    def _in_order(names: list[str], parts: _Parts) -> bool:
        """Whether names may be given their parts one after another."""
        given: set[str] = set()
        for name, part in zip(names, parts, strict=True):
            if part is not None and given & names_in(part):
                return False
            given.add(name)
        return len(given) == len(names)

    def _if(self, statement: ast.If, facts: _Facts) -> list[ast.stmt]:
        test = statement.test = self.expression(statement.test, facts)
        if isinstance(test, ast.Constant):
            return self.block(statement.body if test.value else statement.orelse, facts)
        yes, no = facts.copy(), facts.copy()
        statement.body = self.block(statement.body, yes) or [placed(ast.Pass(), statement)]
        statement.orelse = self.block(statement.orelse, no)
        if leaves(statement.body):
            facts.take(no)
        elif statement.orelse and leaves(statement.orelse):
            facts.take(yes)
        else:
            facts.meet(yes, no)
        return [statement]

    def _forget_stored(self, statement: ast.stmt, facts: _Facts) -> None:
        for name in stored_in(statement):
            facts.forget(name)
            facts.heads.discard(name)

    # --- calls

    def _return(self, statement: ast.Return, value: ast.expr, facts: _Facts) -> list[ast.stmt]:
        value = statement.value = self.expression(value, facts)
        match value:
            case ast.Call(ast.Name(name), [_, up, given, *caller]) if name == LEAVE:
                return self._leave(statement, up, given, caller, facts)
            case ast.Call(ast.Name(name), arguments, []):
                return self._in_place(statement, name, arguments, facts) or [statement]
            case _:
                return [statement]

    def _leave(
        self, statement: ast.Return, up: ast.expr, given: ast.expr, caller: list[ast.expr], facts: _Facts
    ) -> list[ast.stmt]:
        q, known = quote_at(statement), [_known(_part(up, place), facts) for place in (0, 3)]
        is_known = all(isinstance(each, ast.Constant) for each in known)
        back = None
        match known if is_known else caller:
            case [ast.Constant(int(stretch)), ast.Constant(int(place))] if stretch in self.library.stretches:
                name, size = self.library.stretches[stretch]
                if is_known or (self.back and self._would_fit(name, ())):
                    return self.block(going_back(q, name, size, place, up, given, self._fresh), facts)
                back = self.library.backs.get(stretch)
        to = q.name(back) if back is not None else q.expression("BACK[_0[0]]", up)
        statement.value = q.expression("_0(state, _1, _2)", to, up, given)
        return [statement]

    def _in_place(
        self, statement: ast.Return, name: str, arguments: list[ast.expr], facts: _Facts
    ) -> list[ast.stmt] | None:
        """The body of a function that is called at the end."""
        if name not in self.library.functions or not self._fits(name, arguments):
            return None
        body = self._body(name, arguments, statement)
        self.stack.append(name)
        found = self.block(body, facts)
        self.stack.pop()
        return found

    def _by_the_way(self, statement: ast.Expr, name: str, call: ast.Call, facts: _Facts) -> list[ast.stmt]:
        known = name in self.library.functions and not call.keywords
        if not known or not self.library.is_straight(name) or not self._fits(name, call.args):
            return [statement]
        body = self._body(name, call.args, statement)
        if body and isinstance(body[-1], ast.Return):
            body.pop()
        self.stack.append(name)
        found = self.block(body, facts)
        self.stack.pop()
        return found

    def _fits(self, name: str, given: Sequence[ast.expr]) -> bool:
        if not self._would_fit(name, given):
            return False
        self.size += self.library.size(name)
        return True

    def _would_fit(self, name: str, given: Sequence[ast.expr]) -> bool:
        if name in self.stack or len(self.stack) > DEEPEST or not self.library.is_worth_it(name, given):
            return False
        return self.size + self.library.size(name) <= MOST_IN_ALL

    def _body(self, name: str, arguments: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """A body in place of a call: its parameters are given values first, and its names are nobody else's."""
        function = self.library.functions[name]
        names = {each: self._fresh(each) for each in self.library.locals(name)}
        found: list[ast.stmt] = []
        for parameter, argument in zip(function.args.args, arguments, strict=True):
            if parameter.arg not in SHARED:
                target = placed(ast.Name(names[parameter.arg], ast.Store()), at)
                found.append(placed(ast.Assign([target], argument), at))
        found.extend(copied(each, names) for each in function.body)
        return found

    def _fresh(self, name: str) -> str:
        name = name.partition("_I")[0]
        found, count = name, 1
        while found in self.used:
            count += 1
            found = f"{name}_I{count}"
        self.used.add(found)
        return found

    # --- expressions

    def expression(self, node: Any, facts: _Facts) -> Any:
        match node:
            case ast.Name(name, ast.Load()):
                value = facts.values.get(name)
                return copied(value) if value is not None else node
            case ast.Constant() | ast.Name():
                return node
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp() | ast.Lambda():
                return self._scope(node, facts)
            case ast.NamedExpr(ast.Name(name), value):
                node.value = self.expression(value, facts)
                facts.forget(name)
                return node
            case ast.BoolOp() | ast.IfExp():
                for name in stored_in(node):
                    facts.forget(name)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self.expression(v, facts) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.expression(value, facts))
        return _known(node, facts)

    def _scope(self, node: Any, facts: _Facts) -> Any:
        """Inside, other things may be called by the same names."""
        stored = stored_in(node)
        for name in stored:
            facts.forget(name)
        inner = facts.copy()
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self.expression(v, inner) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.expression(value, inner))
        return node


def going_back(
    q: Quote, stretch: str, size: int, into: int, frame: ast.expr, given: ast.expr, fresh: Callable[[str], str] = str
) -> list[ast.stmt]:
    """Goes on with the stretch that a frame names: one of its locals, of which there are so many, is what was given."""
    called = q.name(stretch)
    if into < 0:
        return q.statements("return _0(state, _1[1], _1[2])", called, frame)
    back, env, parts = fresh("back"), fresh("env"), [fresh(f"part_I{place}") for place in range(size)]
    found = [q.assign(back, q.expression("_0[1]", frame))]
    targets: list[ast.expr] = [q.store(part) for part in parts]
    found.append(q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name(back))))
    locals_ = q.tuple([given if place == into else q.name(part) for place, part in enumerate(parts)])
    return [*found, q.assign(env, locals_), *q.statements("return _0(state, _1, _2[2])", called, q.name(env), frame)]


def _known(node: Any, facts: _Facts) -> Any:
    """What can be told of an expression now that its parts are known."""
    match node:
        case ast.Subscript(ast.Name(name), ast.Constant(int(place)), ast.Load()):
            part = facts.part(name, place)
            if part is not None:
                return copied(part)
            kept = facts.read.get((name, place))
            return placed(ast.Name(kept, ast.Load()), node) if kept is not None else node
        case ast.Subscript(ast.Constant(tuple() as items), ast.Constant(int(place))) if 0 <= place < len(items):
            return placed(ast.Constant(items[place]), node)
        case ast.Tuple(items, ast.Load()):
            if all(isinstance(item, ast.Constant) for item in items):
                return quote_at(node).tuple(items)
            return node
        case ast.Compare(ast.Constant(left), [operator], [ast.Constant(right)]):
            match operator:
                case ast.Is() if left is None or right is None:
                    return placed(ast.Constant(left is right), node)
                case ast.IsNot() if left is None or right is None:
                    return placed(ast.Constant(left is not right), node)
                case ast.Eq():
                    return placed(ast.Constant(left == right), node)
                case ast.NotEq():
                    return placed(ast.Constant(left != right), node)
            return node
        case ast.UnaryOp(ast.Not(), ast.Constant(value)):
            return placed(ast.Constant(not value), node)
        case ast.IfExp(ast.Constant(value), then, otherwise):
            return then if value else otherwise
        case ast.IfExp(ast.BoolOp(ast.And(), [*before, ast.Constant(bool(last))]) as test, _, otherwise):
            if not last:
                return otherwise if all(is_simple(each) or _is_cell(each) for each in before) else node
            test.values = before
            node.test = test if len(before) > 1 else before[0]
            return node
        case _:
            return node


def _part(frame: ast.expr, place: int) -> ast.expr:
    return quote_at(frame).expression("_0[_1]", copied(frame), placed(ast.Constant(place), frame))


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_cell(node: ast.expr) -> bool:
    """Whether it is a known cell, which can be read without a failure."""
    match node:
        case ast.Subscript(ast.Name("S"), ast.Constant(int())):
            return True
        case _:
            return False


def _same(one: ast.expr, other: ast.expr) -> bool:
    match one, other:
        case ast.Name(a), ast.Name(b):
            return a == b
        case ast.Constant(a), ast.Constant(b):
            return type(a) is type(b) and bool(a == b)
        case _:
            return False
