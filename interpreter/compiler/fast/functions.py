"""Functions of the fast form: rules that work something out, rows of their answers, and procedures that cannot suspend.

A function is given the cells that it reads, where that can be said; then its answers are remembered by value. Any other
is given the state: its answers are remembered in the state, until a change of what it reads.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from interpreter.compiler.fast.expressions import Hoister, RowOf, Scope
from interpreter.compiler.fast.motion import out_of_loops
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.reads import part_of_one_cell
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.writer import Writer
from interpreter.language import core as c
from interpreter.language.model import RuleLayer
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Functions"]

LONG = (ast.ListComp, ast.GeneratorExp, ast.For, ast.While, ast.Lambda)
LONG_CALLS = frozenset(("claims",))
"""What makes a function long enough to be remembered."""
STATEFUL = re.compile("[SE][0-9]+_")


class Functions(Writer):
    """Writes functions when something first names them."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        self.row_numbers: dict[str, int] = {}

    def value_function(self, target: str, items: bool) -> tuple[str, tuple[int, ...]]:
        """A function of the cells that it reads and of its arguments; gives its name and the arguments it takes."""
        key = ("value", target, items and self._gives_range(target))
        if key not in self.emitter.known:
            self.emitter.known[key] = self._value_function(target, key[2])
        return self.emitter.known[key]  # type: ignore[no-any-return]

    def _gives_range(self, target: str) -> bool:
        layer = self.program.reach.procedures[target]
        below = self.knowledge.below(layer)
        tree = layer.body
        own = any(isinstance(node, c.RangeFrom) for node in descendants(tree))
        return own or (below is not None and self._gives_range(below))

    def _value_function(self, target: str, items: bool) -> tuple[str, tuple[int, ...]]:
        facts = self.knowledge.facts(target)
        layer = facts.layer
        assert facts.lifted is not None
        with self.emitter.write(layer.span, "V", layer.rule) as writing:
            scope = Scope(layer.local_names, lifted={}, items=items)
            cells = []
            for group, index in facts.lifted:
                owner = self.expressions.local(scope, index) if index is not None else None
                name = f"{group}_of_{layer.parameters[index][0]}" if index is not None else group
                cells.append(f"C_{name}")
                assert scope.lifted is not None
                scope.lifted[group, ast.dump(owner) if owner is not None else ""] = cells[-1]
            body = self._function_body(target, scope, items)
            used = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
            kept = tuple(index for index in range(len(layer.parameters)) if scope.label(index) in used)
            function = self.quote.function(writing.name, [*cells, *(scope.label(index) for index in kept)], body)
            if facts.heavy and any(_is_long(node) for node in ast.walk(function)):
                function.decorator_list = [self.quote.name("remembered")]
            writing.add(out_of_loops(function, self.quote))
        return writing.name, kept

    def outlined(self, label: str, parameters: list[str], value: ast.expr) -> str:
        """A part of an expression as a function of its own, whose values are remembered."""
        key = ("outlined", label, tuple(parameters), ast.dump(value))
        if key not in self.emitter.known:
            q = self.quote
            name = self.emitter.known[key] = self.emitter.named("Y", label)
            function = q.function(name, parameters, [q.placed(ast.Return(value))])
            function.decorator_list = [q.name("remembered")]
            self.emitter.add(q.file, function)
        return self.emitter.known[key]  # type: ignore[no-any-return]

    def state_function(self, target: str, items: bool) -> str:
        """A function that is given the state; what it gave is remembered until a change of what it reads."""
        key = ("state", target, items and self._gives_range(target))
        if key not in self.emitter.known:
            self.emitter.known[key] = self._state_function(target, key[2])
        return self.emitter.known[key]  # type: ignore[no-any-return]

    def _state_function(self, target: str, items: bool) -> str:
        layer = self.program.reach.procedures[target]
        q = self.quote
        number = len(self.emitter.cached)
        if not self.emitter.sealed:
            self.emitter.cached.append((target, frozenset(self.program.reach.all[target].reads)))
        with self.emitter.write(layer.span, "S", layer.rule) as writing:
            scope = Scope(layer.local_names, items=items)
            parameters = [scope.label(index) for index in range(len(layer.parameters))]
            body = self._function_body(target, scope, items)
            if self.emitter.sealed:
                writing.add(q.function(writing.name, ["S", "M", *parameters], body))
                return writing.name
            self._read_through(number, body, parameters)
            key = q.name(parameters[0]) if len(parameters) == 1 else q.tuple([q.name(name) for name in parameters])
            store, given = q.name("kept"), q.constant(number)
            before = q.statements("_0 = M[_1]\nif _2 in _0:\n    return _0[_2]", store, given, key)
            if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                after = q.statements("found = _1\n_0[_2] = found\nreturn found", store, body[0].value, key)
                writing.add(q.function(writing.name, ["S", "M", *parameters], [*before, *after]))
            else:
                inner = f"{writing.name}_anew"
                writing.add(q.function(inner, ["S", "M", *parameters], body))
                again = q.call(inner, [q.name(name) for name in ("S", "M", *parameters)])
                after = q.statements("found = _1\n_0[_2] = found\nreturn found", store, again, key)
                writing.add(q.function(writing.name, ["S", "M", *parameters], [*before, *after]))
        return writing.name

    def _read_through(self, number: int, body: Block, parameters: list[str]) -> None:
        """A function that reads known cells and one row, by what it is given itself, holds as long as the row does."""
        calls: dict[str, ast.Call] = {}
        cells: set[int] = set()
        inner: set[int] = set()
        for statement in body:
            for node in ast.walk(statement):
                match node:
                    case ast.Call(ast.Name(name)) if name in self.row_numbers:
                        calls[ast.dump(node)] = node
                        inner.update(id(each) for each in node.args)
                    case ast.Call(ast.Name(name)) if STATEFUL.match(name):
                        return
                    case ast.Subscript(ast.Name("S") as state, ast.Constant(int(cell))):
                        cells.add(cell)
                        inner.add(id(state))
                    case ast.Name("S" | "M" | "L" | "state") if id(node) not in inner:
                        return
                    case _:
                        pass
        if len(calls) != 1:
            return
        (call,) = calls.values()
        assert isinstance(call.func, ast.Name)
        given = [each.id if isinstance(each, ast.Name) else "" for each in call.args[2:]]
        stored = {
            node.id
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if not given or given != parameters or stored & set(parameters):
            return
        row = self.row_numbers[call.func.id]
        if row not in self.emitter.done.parts:
            return
        layout = self.constants.layout
        groups = {layout.owner_of(cell)[0] for cell in cells}
        self.emitter.cached[number] = (self.emitter.cached[number][0], self.emitter.cached[row][1] | groups)
        self.emitter.done.through.setdefault(row, []).append(number)

    def row(self, of: RowOf) -> str | None:
        """A function that gives what an expression is for each value of one of its locals, as a list.

        The list is kept in the state; a change of a cell makes stale only what it can change. Nothing where it cannot
        be said which cells are read, or where a value may be none.
        """
        key, known = ("row", id(of.tree), of.variable, of.others), self.emitter.known
        if key not in known:
            row = self._row(of) if not self.emitter.sealed else None
            known[key], known["keep", id(of.tree)] = row, of.tree
        return known[key]  # type: ignore[no-any-return]

    def _row(self, of: RowOf) -> str | None:
        tree, index = of.tree, of.variable
        size = self.knowledge.domain(of.type)
        reads = self.knowledge.reads_by(tree, index, size) if size else None
        if reads is None or tree.type.optional:
            return None
        q = self.quote
        cells, whole = reads
        number = len(self.emitter.cached)
        self.emitter.cached.append((of.label, frozenset(whole)))
        self.emitter.done.rows[number] = {cell: tuple(values) for cell, values in cells.items()}
        with self.emitter.write(of.span, "E", of.label) as writing:
            scope = Scope(of.labels)
            given = [scope.label(other) for other in of.others]
            value = self.expressions.expression(tree, scope)
            one = f"{writing.name}_one"
            body: Block = self._looked_for(tree, scope) or [q.placed(ast.Return(value))]
            writing.add(q.function(one, ["S", "M", scope.label(index), *given], body))
            self.row_numbers[writing.name] = number
            part = part_of_one_cell(body, set(given))
            if part is not None:
                self.emitter.done.parts[number] = f"{writing.name}_part"
                takes = given[0] if len(given) == 1 else "key"
                unpacked: Block = []
                if len(given) > 1:
                    targets: list[ast.expr] = [q.store(name) for name in given]
                    unpacked = [q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("key")))]
                returned = [*unpacked, q.placed(ast.Return(part))]
                writing.add(q.function(f"{writing.name}_part", ["value", takes], returned))
            key = q.name(given[0]) if len(given) == 1 else q.tuple([q.name(name) for name in given])
            each = q.call(one, [q.name("S"), q.name("M"), q.name("each"), *(q.name(name) for name in given)])
            body = q.statements(
                "kept = M[_0]\n"
                "if _1 in kept:\n"
                "    values, stale = kept[_1]\n"
                "    if not stale:\n"
                "        return values\n"
                "else:\n"
                "    kept[_1] = values, stale = [None] * _2, set(range(_2))\n"
                "for each in stale:\n"
                "    values[each] = _3\n"
                "stale.clear()\n"
                "return values",
                q.constant(number),
                key,
                q.constant(size),
                each,
            )
            for statement in body:
                if isinstance(statement, ast.For):
                    statement.iter.length = size  # type: ignore[attr-defined]
            writing.add(q.function(writing.name, ["S", "M", *given], body))
        return writing.name

    def _function_body(self, target: str, scope: Scope, items: bool) -> Block:
        layer = self.program.reach.procedures[target]
        q, x = self.quote, self.expressions
        found: Block = []
        below = self.knowledge.below(layer)
        if below is not None and layer.when is not None:
            given = [x.local(scope, index) for index in range(len(layer.parameters))]
            holds = x.expression(layer.when, scope)
            if is_constant(holds) and not value_of(holds):
                return [q.placed(ast.Return(x.call_with(below, given, [True] * len(given), scope, items)))]
            if not is_constant(holds):
                other = x.call_with(below, given, [True] * len(given), scope, items)
                found.extend(q.statements("if not _0:\n    return _1", holds, other))
        if layer.form == "permits":
            found.extend(self._verdict(layer, scope))
        elif isinstance(layer.body, tuple):
            found.extend(self.statements.block(layer.body, scope))  # type: ignore[arg-type]
        else:
            looked = self._looked_for(layer.body, scope)
            if looked is not None:
                return [*found, *looked]
            value = x.items(layer.body, scope) if items else x.expression(layer.body, scope)
            found.append(q.placed(ast.Return(value)))
        return found

    def _looked_for(self, tree: c.Expression, scope: Scope) -> Block | None:
        """An `any`, `all` or `first` that is all of a function, as a loop."""
        q, x = self.quote, self.expressions
        if not isinstance(tree, c.Loop) or tree.operation not in ("any", "all", "first") or tree.test is None:
            return None
        if tree.operation == "first" and not tree.or_none:
            return None
        hoister = Hoister({scope.label(tree.variable)})
        items = x.items(tree.items, scope)
        scope.loops.append(hoister)
        test = x.expression(tree.test, scope)
        scope.loops.pop()
        variable = q.name(scope.label(tree.variable))
        found, none = {
            "any": (q.constant(True), q.constant(False)),
            "all": (q.constant(False), q.constant(True)),
            "first": (variable, q.constant(None)),
        }[tree.operation]
        holds = x.negated(test) if tree.operation == "all" else test
        before = [q.assign(name, what) for name, what in hoister.clauses]
        loop = q.statements(
            "for _0 in _1:\n    if _2:\n        return _3\nreturn _4", variable, items, holds, found, none
        )
        return [*before, *loop]

    def _verdict(self, layer: RuleLayer, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        lines = [line for line in layer.body if isinstance(line, c.Requirement)]  # type: ignore[union-attr]
        if all(line.bind is None for line in lines):
            return [q.placed(ast.Return(x.all_of([x.expression(line.test, scope) for line in lines])))]
        found: Block = []
        for line in lines:
            value = x.expression(line.test, scope)
            if line.bind is not None:
                found.append(q.assign(scope.label(line.bind), value))
            else:
                found.extend(q.statements("if not _0:\n    return False", value))
        return [*found, *q.statements("return True")]

    def procedure(self, target: str) -> str:
        """A procedure that cannot suspend."""
        key = ("procedure", target)
        if key not in self.emitter.known:
            lowered = self.program.procedures[target]
            layer = lowered.layer
            with self.emitter.write(layer.span, "P", layer.rule) as writing:
                self.emitter.known[key] = self.emitter.done.procedures[target] = writing.name
                assert lowered.steps is not None
                scope = Scope(layer.local_names)
                body = self.statements.block(lowered.steps, scope)
                parameters = [scope.label(index) for index in range(len(layer.parameters))]
                writing.add(self.quote.function(writing.name, ["state", *parameters], body))
        return self.emitter.known[key]  # type: ignore[no-any-return]


def _is_long(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in LONG_CALLS
    return isinstance(node, LONG)
