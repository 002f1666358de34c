"""Short lists: which items of a list pass some tests, kept in the state.

A loop over all nodes in play that asks of each whether it is free looks at the free ones instead. Only tests that rows
tell are left out of a loop so: where a change of a cell changes a row, the same places of the short list are looked at
again.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.fast.letters import KNOWN, ROW, is_of
from interpreter.compiler.fast.rows import Row
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.terms import in_place
from interpreter.compiler.fast.writer import Writer

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["ShortLists"]

A_PLACE = 60
"""In units: what it costs to look at a place again; to put it where it belongs is paid for by itself."""
SURE = (ast.boolop, ast.BoolOp, ast.UnaryOp, ast.Not, ast.Compare, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.Constant)
"""What tests that cannot fail are made of, beside what rows tell."""


class ShortLists(Writer):
    """Writes loops that look at short lists, and the functions that keep these."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        self.known: dict[str, str] = {}

    def loop(
        self, variable: str, items: ast.expr, clauses: Sequence[tuple[str, ast.expr]], body: Block, *, lasting: bool
    ) -> Block:
        """``for variable in items: body``, behind the clauses that the loop does not change.

        ``lasting``: the state may change before the loop is at its end.
        """
        q = self.quote
        match body:
            case [ast.If(ast.BoolOp(ast.And(), tests), inner, [])]:
                pass
            case [ast.If(test, inner, [])]:
                tests = [test]
            case _:
                tests, inner = [], body
        for count in range(len(tests), 0, -1):
            short = self.passing(variable, items, tests[:count], dict(clauses))
            if short is not None:
                items = q.expression("tuple(_0)", short) if lasting else short
                rest = self.expressions.all_of(tests[count:])
                body = q.statements("if _0:\n    body", rest, body=inner) if tests[count:] else inner
                break
        loop = q.placed(ast.For(q.store(variable), items, body or [q.placed(ast.Pass())], [], None))
        used, before = _names(loop), []
        for name, value in reversed(clauses):
            if name in used:
                before.append(q.assign(name, value))
                used |= _names(value)
        return [*reversed(before), loop]

    def passing(
        self, variable: str, items: ast.expr, tests: Sequence[ast.expr], clauses: Mapping[str, ast.expr]
    ) -> ast.expr | None:
        """The items that pass some tests, as a list that changes with the state.

        Nothing where the items are not what a cell holds, where anything but rows tells of the tests, or where the
        program is written and has no such list.
        """
        rows = {name: value for name, value in clauses.items() if self._is_row(value)}
        match items:
            case ast.Subscript(ast.Name("S"), ast.Constant(int(cell))) if all(
                self._is_told(test, variable, rows) for test in tests
            ):
                pass
            case _:
                return None
        test = self.expressions.all_of([self._by_first(test, rows) for test in tests])
        calls = {name: call for name, call in rows.items() if name in _names(test)}
        if not calls:
            return None
        key = ast.dump(in_place(self.quote.tuple([test, self.quote.name(variable), items]), calls))
        if key not in self.known:
            if self.emitter.sealed:
                return None
            self.known[key] = self._write(variable, cell, test, calls)
        return self.quote.call(self.known[key], [self.quote.name(name) for name in ("S", "M", *_given(calls))])

    def _is_row(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and _row(node) in self.emitter.functions.rows

    def _is_told(self, node: ast.AST, variable: str, rows: Mapping[str, ast.expr]) -> bool:
        match node:
            case ast.Subscript(ast.Name(name), ast.Name(at)) if at == variable:
                partial = name in rows and _row(rows[name]) in self.emitter.functions.firsts
                return is_of(name, KNOWN) or (name in rows and not partial)
            case _:
                told = all(self._is_told(child, variable, rows) for child in ast.iter_child_nodes(node))
                return isinstance(node, SURE) and told

    def _by_first(self, test: ast.expr, rows: Mapping[str, ast.expr]) -> ast.expr:
        """Whether there is anything in a list, told by a row that has something of the first in it: one row less."""
        match test:
            case ast.Compare(ast.Subscript(ast.Name(name), at), [ast.NotEq()], [ast.Constant(())]) if name in rows:
                lists = rows[name]
                for other, call in rows.items():
                    if self.emitter.functions.firsts.get(_row(call)) == _row(lists) and _same_given(call, lists):
                        return self.quote.expression("_0[_1] is not None", self.quote.name(other), at)
        return test

    def _write(self, variable: str, cell: int, test: ast.expr, calls: Mapping[str, ast.expr]) -> str:
        """A function that keeps a list for each combination of what the rows are given.

        Where something stands twice in the list that it goes through, none is kept: all of it is looked at each time.
        """
        q, emitter, functions = self.quote, self.emitter, self.emitter.functions
        name, given = emitter.named(ROW, "passing"), _given(calls)
        sources = [functions.rows[_row(call)] for call in calls.values()]
        groups = {self.constants.layout.owner_of(cell)[0]}.union(
            *(emitter.cached[source.number][1] for source in sources)
        )
        number = emitter.cache("passing", frozenset(groups), given)
        places: dict[int, set[int]] = {}
        for source in sources:
            for changed, changes in emitter.done.rows[source.number].items():
                places.setdefault(changed, set()).update(changes)
        emitter.done.rows[number] = {changed: tuple(sorted(changes)) for changed, changes in places.items()}
        items = q.expression("S[_0]", q.constant(cell))
        change = q.statements(
            "if _1:\n"
            "    if _0 not in values:\n"
            "        enter(values, _0, _2)\n"
            "elif _0 in values:\n"
            "    values.remove(_0)",
            q.name(variable),
            in_place(test, dict(calls)),
            items,
        )
        alone = len(sources) == 1 and given == sources[0].given
        part = sources[0].part if alone else None
        functions.rows[name] = Row(number, variable, given, change, lambda: A_PLACE, part, short=True)
        look, keep = (
            ("kept = M[_0]\nif _1 in kept:\n    return kept[_1]\n", "kept[_1] = found")
            if given
            else ("found = M[_0]\nif found is not NOTHING:\n    return found\n", "M[_0] = found")
        )
        body = q.statements(
            look + f"clauses\nfound = [_2 for _2 in _3 if _4]\nif each_once(_3):\n    {keep}\nreturn found",
            q.constant(number),
            functions.key(given),
            q.name(variable),
            items,
            test,
            clauses=[q.assign(row, call) for row, call in calls.items()],
        )
        emitter.add(q.file, q.function(name, ["S", "M", *given], body))
        return name


def _row(call: ast.expr) -> str:
    return _label(call.func) if isinstance(call, ast.Call) else ""


def _label(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(*calls: ast.expr) -> list[ast.expr]:
    """What rows are given beside the state."""
    return [each for call in calls if isinstance(call, ast.Call) for each in call.args[2:]]


def _given(calls: Mapping[str, ast.expr]) -> list[str]:
    """The locals that rows are given, each once."""
    return list(dict.fromkeys(each.id for each in _arguments(*calls.values()) if isinstance(each, ast.Name)))


def _same_given(one: ast.expr, other: ast.expr) -> bool:
    return [ast.dump(each) for each in _arguments(one)] == [ast.dump(each) for each in _arguments(other)]


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
