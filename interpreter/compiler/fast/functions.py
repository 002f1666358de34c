"""Functions of the fast form: rules that work something out, rows of their answers, and procedures that cannot suspend.

A function is given the cells that it reads, where that can be said; then its answers are remembered by value. Any other
is given the state: its answers are remembered in the state, until a change of what it reads.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from interpreter.compiler.fast.calls import RowOf
from interpreter.compiler.fast.letters import OF_STATE, PART, PROCEDURE, ROW, VALUE, is_of
from interpreter.compiler.fast.motion import out_of_loops
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.reads import asks_for_any, part_of_one_cell
from interpreter.compiler.fast.rows import Row
from interpreter.compiler.fast.scope import Hoister, Scope
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.terms import in_place
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
STATEFUL = OF_STATE + ROW


class Functions(Writer):
    """Writes functions when something first names them."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        self.rows: dict[str, Row] = {}
        """Rows and short lists by the functions that give them; what one is worked out of stands before it."""
        self.firsts: dict[str, str] = {}
        """Rows that have none somewhere: where the row named here has no items, or has it for any other reason."""
        self.rooms: set[str] = set()
        """Functions of all cards in a zone that tell what can be claimed of their rooms: each card has one."""
        self.state_numbers: dict[str, int] = {}
        self.through: dict[int, list[int]] = {}
        """For each row the caches that hold, key by key, as long as the row does."""
        self.copies: dict[int, int] = {}
        """For some rows the one of these caches that has only a copy of the row."""
        self.with_start: dict[int, tuple[str, list[ast.expr]]] = {}
        """The caches that have the distances from the nodes in such a copy: for each the function that gives these with
        one start more, and with what else that is asked."""

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
        with self.emitter.write(layer.span, VALUE, layer.rule) as writing:
            scope = Scope(layer.local_names, lifted={}, items=items)
            cells = []
            for group, index in facts.lifted:
                owner = self.expressions.local(scope, index) if index is not None else None
                name = f"{group}_of_{layer.parameters[index][0]}" if index is not None else group
                cells.append(f"C_{self.emitter.cleaned(name)}")
                assert scope.lifted is not None
                scope.lifted[group, ast.dump(owner) if owner is not None else ""] = cells[-1]
            body = self._function_body(target, scope, items)
            used = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
            kept = tuple(index for index in range(len(layer.parameters)) if scope.label(index) in used)
            function = self.quote.function(writing.name, [*cells, *(scope.label(index) for index in kept)], body)
            of_cards = any(group in self.emitter.zones for group, _ in facts.lifted)
            if (
                facts.heavy
                and any(_is_long(node) for node in ast.walk(function))
                and not (of_cards and _is_glance(function))
            ):
                self._remember(function)
            writing.add(out_of_loops(function, self.quote))
        return writing.name, kept

    def _remember(self, function: ast.FunctionDef) -> None:
        """It remembers what it gives."""
        single = len(function.args.args) == 1
        function.decorator_list = [self.quote.name("told" if single else "remembered")]
        if single:
            self.emitter.told.add(function.name)

    def outlined(self, label: str, parameters: list[str], value: ast.expr) -> str:
        """A part of an expression as a function of its own, whose values are remembered."""
        key = ("outlined", label, tuple(parameters), ast.dump(value))
        if key not in self.emitter.known:
            q = self.quote
            name = self.emitter.known[key] = self.emitter.named(PART, label)
            function = q.function(name, parameters, [q.placed(ast.Return(value))])
            self._remember(function)
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
            self.emitter.cache(target, frozenset(self.program.reach.all[target].reads), layer.parameters)
        with self.emitter.write(layer.span, OF_STATE, layer.rule) as writing:
            if not self.emitter.sealed:
                self.state_numbers[writing.name] = number
            scope = Scope(layer.local_names, items=items)
            parameters = [scope.label(index) for index in range(len(layer.parameters))]
            body = self._function_body(target, scope, items)
            if self.emitter.sealed:
                writing.add(q.function(writing.name, ["S", "M", *parameters], body))
                return writing.name
            self._read_through(number, body, parameters)
            if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                value = body[0].value
            else:
                inner = f"{writing.name}_anew"
                writing.add(q.function(inner, ["S", "M", *parameters], body))
                value = q.call(inner, [q.name(name) for name in ("S", "M", *parameters)])
            writing.add(self._keeping(writing.name, number, parameters, value))
        return writing.name

    def remembered(self, label: str, parameters: list[str], value: ast.expr) -> str | None:
        """A part of an expression that is worked out of one function of the state, as another such function.

        Nothing where that does not remember what it gives, or where other cells are read that cannot be told.
        """
        key = ("remembered", label, tuple(parameters), ast.dump(value))
        if key not in self.emitter.known:
            self.emitter.known[key] = self._remembered(label, parameters, value)
        return self.emitter.known[key]  # type: ignore[no-any-return]

    def _remembered(self, label: str, parameters: list[str], value: ast.expr) -> str | None:
        if self.emitter.sealed:
            return None
        layout = self.constants.layout
        groups: set[str] = set()
        below: list[int] = []
        known: set[int] = set()
        for node in ast.walk(value):
            match node:
                case ast.Call(ast.Name(name), [ast.Name("S") as cells, ast.Name("M") as kept, *given]):
                    known.update((id(cells), id(kept)))
                    if name not in self.state_numbers or [ast.dump(g) for g in given] != [
                        ast.dump(self.quote.name(each)) for each in parameters
                    ]:
                        return None
                    below.append(self.state_numbers[name])
                case ast.Subscript(ast.Name("S") as cells, ast.Constant(int(cell))):
                    known.add(id(cells))
                    groups.add(layout.owner_of(cell)[0])
                case ast.Name("S" | "M") if id(node) not in known:
                    return None
                case _:
                    pass
        if len(below) != 1:
            return None
        q = self.quote
        name = self.emitter.named(OF_STATE, label)
        number = self.emitter.cache(label, self.emitter.cached[below[0]][1] | groups, parameters)
        self.state_numbers[name] = number
        for others in self.through.values():
            if below[0] in others:
                others.append(number)
        match value:
            case ast.Call(
                ast.Name("distances" | "distances_dealt" as asked),
                [ast.Call(ast.Name(copy), [ast.Name("S"), ast.Name("M"), *_]), *further],
            ) if self.state_numbers.get(copy) in self.copies.values() and all(map(_is_cell, further)):
                self.with_start[number] = asked.replace("distances", "with_start"), further
            case _:
                pass
        self.emitter.add(q.file, self._keeping(name, number, parameters, value))
        return name

    def _keeping(self, name: str, number: int, parameters: list[str], value: ast.expr) -> ast.FunctionDef:
        """A function that keeps what it gives in the state."""
        q = self.quote
        if parameters:
            text = "_0 = M[_1]\nif _2 in _0:\n    return _0[_2]\nfound = _3\n_0[_2] = found\nreturn found"
            body = q.statements(text, q.name("kept"), q.constant(number), self.key(parameters), value)
        else:
            text = "found = M[_0]\nif found is not NOTHING:\n    return found\nfound = _1\nM[_0] = found\nreturn found"
            body = q.statements(text, q.constant(number), value)
        return q.function(name, ["S", "M", *parameters], body)

    def _read_through(self, number: int, body: Block, parameters: list[str]) -> None:
        """A function that reads known cells and one row, by what it is given itself, holds as long as the row does."""
        calls: dict[str, ast.Call] = {}
        cells: set[int] = set()
        inner: set[int] = set()
        for statement in body:
            for node in ast.walk(statement):
                match node:
                    case ast.Call(ast.Name(name)) if name in self.rows:
                        calls[ast.dump(node)] = node
                        inner.update(id(each) for each in node.args)
                    case ast.Call(ast.Name(name)) if is_of(name, STATEFUL):
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
        row = self.rows[call.func.id]
        if row.part is None:
            return
        layout = self.constants.layout
        groups = {layout.owner_of(cell)[0] for cell in cells}
        self.emitter.cached[number] = (self.emitter.cached[number][0], self.emitter.cached[row.number][1] | groups)
        self.through.setdefault(row.number, []).append(number)
        match body:
            case [ast.Return(ast.Call(ast.Name("tuple"), [ast.Call() as copied]))] if copied is call:
                self.copies[row.number] = number
            case _:
                pass

    def row(self, of: RowOf) -> str | None:
        """A function that gives what an expression is for each value of one of its locals, as a list.

        The list is kept in the state; a change of a cell changes only what depends on it. Nothing where it cannot be
        said which cells are read, or where a value may be none.
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
        number = self.emitter.cache(of.label, frozenset(whole), of.others)
        total = of.total and of.type is not None and of.type.form != "card"  # a row has all cards, of whatever kind
        self.emitter.done.whole[number] = tuple(sorted(whole))
        self.emitter.done.rows[number] = {cell: tuple(values) for cell, values in cells.items()}
        with self.emitter.write(of.span, ROW, of.label) as writing:
            scope = Scope(of.labels)
            at, given = scope.label(index), [scope.label(other) for other in of.others]
            one = f"{writing.name}_one"
            body: Block = self._looked_for(tree, scope) or self._of_first(tree, scope)
            writing.add(q.function(one, ["S", "M", at, *given], body))
            every = self._every(of, f"{writing.name}_every", one, size)
            writing.add(every)
            if not total:
                self.firsts[writing.name] = _looks_at_first(body, [at, *given])
            match body:
                case [ast.Return(ast.expr() as value)]:
                    found = in_place(value, {})
                case _:
                    found = q.call(one, [q.name(name) for name in ("S", "M", at, *given)])
            looked_up = {name for name in _called(q.statements("_0", found)) if name in self.rows}
            fine = all(name in looked_up for name in _called(body) if is_of(name, STATEFUL))
            change = q.statements("values[_0] = _1", q.name(at), found) if fine else None
            anew = q.call(
                "row_anew" if total else "partial_row_anew",
                [
                    *(q.name("S"), q.name("M"), q.constant(number), q.constant(size)),
                    *(q.tuple([q.name(name) for name in given]), q.name(one), q.name(every.name)),
                ],
            )
            part = part_of_one_cell(body, set(given))
            dear = partial(self.emitter.costs.work, one)
            asks = part is not None and asks_for_any(body, part)
            self.rows[writing.name] = Row(number, at, given, change, dear, part, asks)
            writing.add(self._keeping(writing.name, number, given, anew))
        return writing.name

    def _every(self, of: RowOf, name: str, one: str, size: int) -> ast.FunctionDef:
        """A function that gives a whole row: what all places have in common is worked out once."""
        q, scope = self.quote, Scope(of.labels)
        at, given = scope.label(of.variable), [scope.label(other) for other in of.others]
        hoister = Hoister({at})
        scope.loops.append(hoister)
        body = self._looked_for(of.tree, scope) or self._of_first(of.tree, scope)
        scope.loops.pop()
        match body:
            case [ast.Return(ast.expr() as value)]:
                before = [q.assign(label, what) for label, what in hoister.clauses]
            case _:
                value, before = q.call(one, [q.name(label) for label in ("S", "M", at, *given)]), []
        text = "values = []\nfor _0 in _1:\n    values.append(_2)\nreturn values"
        loop = q.statements(text, q.name(at), q.expression("range(_0)", q.constant(size)), value)
        return q.function(name, ["S", "M", *given], [*before, *loop])

    def key(self, given: list[str]) -> ast.expr:
        """What a row or short list is kept by."""
        names: list[ast.expr] = [self.quote.name(each) for each in given]
        return names[0] if len(names) == 1 else self.quote.tuple(names)

    def _of_first(self, tree: c.Expression, scope: Scope) -> Block:
        """Something of the first of some things: none where there are none."""
        q, x = self.quote, self.expressions
        inner, attributes = tree, []
        while isinstance(inner, c.Static):
            attributes.append(inner.attribute)
            inner = inner.of
        if not isinstance(inner, c.Builtin) or inner.name != "first" or inner.or_none:
            return [q.placed(ast.Return(x.expression(tree, scope)))]
        value = q.expression("found[0]")
        for attribute in reversed(attributes):
            value = x.static(attribute, value)
        return q.statements("return _1 if (found := _0) else None", x.expression(inner.arguments[0], scope), value)

    def _function_body(self, target: str, scope: Scope, items: bool) -> Block:
        layer = self.program.reach.procedures[target]
        q, x = self.quote, self.expressions
        found: Block = []
        below = self.knowledge.below(layer)
        if below is not None and layer.when is not None:
            given = [x.local(scope, index) for index in range(len(layer.parameters))]
            holds = x.expression(layer.when, scope)
            if is_constant(holds) and not value_of(holds):
                return [q.placed(ast.Return(x.calls.call_with(below, given, [True] * len(given), scope, items)))]
            if not is_constant(holds):
                other = x.calls.call_with(below, given, [True] * len(given), scope, items)
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
        few = x.loops.few_are_there(tree, scope, passing=tree.operation == "any") if tree.operation != "first" else None
        if few is not None:
            return [q.placed(ast.Return(few if tree.operation == "any" else x.negated(few)))]
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
            with self.emitter.write(layer.span, PROCEDURE, layer.rule) as writing:
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


def _is_cell(node: ast.expr) -> bool:
    """Whether a value is known, or is what one known cell holds."""
    match node:
        case ast.Constant() | ast.Subscript(ast.Name("S"), ast.Constant()):
            return True
        case _:
            return False


def _is_glance(function: ast.FunctionDef) -> bool:
    """Whether it goes once through what it is given, with no work for each item: as quick as looking its answer up,
    which is seldom there where so much can be given."""
    match function:
        case ast.FunctionDef(args=ast.arguments(args=[given]), body=[ast.Return(ast.expr() as value)]):
            if isinstance(value, ast.IfExp) and isinstance(value.orelse, ast.Name):
                value = value.body
        case _:
            return False
    match value:
        case ast.Call(ast.Name("tuple"), [ast.ListComp(element, [clause])]):
            parts = [element, *clause.ifs]
            calm = (ast.Name, ast.Subscript, ast.Constant, ast.Load, ast.Compare, ast.cmpop, ast.UnaryOp, ast.unaryop)
            return (
                isinstance(clause.iter, ast.Name)
                and clause.iter.id == given.arg
                and all(isinstance(node, calm) for part in parts for node in ast.walk(part))
            )
        case _:
            return False


def _looks_at_first(body: Block, parameters: list[str]) -> str:
    """The row of lists of which the first is looked at, if a function has none where there is no first."""
    match body:
        case [
            ast.Return(
                ast.IfExp(ast.NamedExpr(_, ast.Subscript(ast.Call(ast.Name(name), [_, _, *given]), ast.Name(at))))
            )
        ]:
            return name if [at, *[getattr(each, "id", "") for each in given]] == parameters else ""
        case _:
            return ""


def _called(body: Block) -> set[str]:
    """The functions that are called somewhere."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
