"""The fast form of a program: Python functions, as syntax trees that stand on the YAML's own
lines.

In come the lowered program and the constants of one game; out come trees by file, and the values that they name. There
is one function for each layer of a function, for each procedure that cannot suspend, for each stretch that several
ways lead to, for each option of a decision (listing it, and going on with it) and for each standing rule. Frames, cells
and records are those of the plain form, so a game can change from one form to the other at any decision.
"""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpreter.base.source import Span
from interpreter.compiler import lower as l
from interpreter.compiler.constants import Constants
from interpreter.compiler.fast.cost import Costs, Sizes
from interpreter.compiler.fast.expressions import Expressions, Hoister, Scope, Unsupported
from interpreter.compiler.fast.knowledge import Knowledge
from interpreter.compiler.fast.motion import out_of_loops, short_tests
from interpreter.compiler.fast.preferences import PreferenceWriter
from interpreter.compiler.fast.quote import Quote, is_constant, value_of
from interpreter.compiler.fast.statements import Block, Statements, no_loop_in_iterable
from interpreter.compiler.plain.machine import MAXIMUM_DEPTH
from interpreter.kernel.state import Layout
from interpreter.language import core as c
from interpreter.language.model import RuleLayer, StandingRule

if TYPE_CHECKING:
    from interpreter.compiler.plain.machine import Machine
    from interpreter.language.policies import Policy
    from interpreter.language.types import Type

__all__ = ["Emitted", "Emitter", "emit"]

MOST_INLINED = 5
MOST_SHOWN = 160
"""Values that are shown are cut here."""
MOST_STEPS_INLINED = 3
LONG = (ast.ListComp, ast.GeneratorExp, ast.For, ast.While, ast.Lambda)
LONG_CALLS = frozenset(("claims",))
"""What makes a function long enough to be remembered."""
OUTLINED = re.compile("Y[0-9]+_")
CONSTANT = re.compile("K[0-9]+_")
STATEFUL = re.compile("[SE][0-9]+_")
DROP = "drop_what_is_remembered"


@dataclass
class Emitted:
    """The trees of each file, the values that they name, and where to find what.

    ``stretches``: the function of a stretch; ``takes``: of a decision and option what records it and goes on;
    ``accepts``: what says whether it is legal; ``options``: what lists its values; ``standing``: what finds a match;
    ``readers``: for each group the caches that a change empties; ``rows``: for each cache that is a row the places in
    it that a change of a cell makes stale, unless the ``parts`` of the row that read the cell come to the same;
    ``through``: for each row the caches that hold, key by key, as long as the row does; ``cells``: name, first cell and
    number of each group, to be shown; ``longest``: no list is longer; ``remembered``: for functions that remember what
    they gave how large that is.
    """

    modules: dict[str, list[ast.stmt]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    stretches: dict[int, str] = field(default_factory=dict)
    takes: dict[tuple[int, int], str] = field(default_factory=dict)
    accepts: dict[tuple[int, int], str] = field(default_factory=dict)
    options: dict[tuple[int, int], str] = field(default_factory=dict)
    standing: list[str] = field(default_factory=list)
    procedures: dict[str, str] = field(default_factory=dict)
    caches: int = 0
    readers: dict[str, list[int]] = field(default_factory=dict)
    rows: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    parts: dict[int, str] = field(default_factory=dict)
    through: dict[int, list[int]] = field(default_factory=dict)
    cells: tuple[tuple[str, int, int], ...] = ()
    longest: int = 0
    remembered: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[Any, ...]:
        """What shows whether another writing came to the same."""
        return self.stretches, self.takes, self.accepts, self.options, self.standing, self.procedures, self.caches

    def text(self) -> str:
        """All of it, to be read: what is known by name, then each function below the place that it comes from."""
        parts = ["# --- the cells of a state\n#"]
        for name, first, count in self.cells:
            parts.append(f"# S[{first}]" + (f" to S[{first + count - 1}]" if count > 1 else "") + f"  {name}")
        parts.append("\n# --- what is known of this table\n#")
        parts.extend(f"# {name} = {_shortly(value)}" for name, value in self.values.items())
        for file, body in self.modules.items():
            parts.append(f"\n# --- {file}")
            for statement in body:
                text = ast.unparse(ast.fix_missing_locations(ast.Module([statement], [])))
                parts.append(f"\n# line {statement.lineno}\n{text}")
        return "\n".join(parts) + "\n"


def _shortly(value: Any) -> str:
    text = str(value) if isinstance(value, Span) else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def emit(machine: Machine) -> Emitted:
    return Emitter(machine).whole()


class Emitter:
    """Writes one program. Functions are written when something first names them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.program = machine.program
        self.constants: Constants = machine.constants
        layout = self.constants.layout
        self.done = Emitted(cells=tuple((name, layout.base[name], count) for name, count in layout.groups if count))
        self.quote = Quote()
        self.knowledge = Knowledge(self.program, self.constants)
        self.sizes = Sizes(self.program, self.constants)
        self.costs = Costs(self, self.sizes)
        self.expressions = Expressions(self, self.quote, self.knowledge, self.constants)
        self.statements = Statements(self, self.expressions)
        self._names: dict[Any, Any] = {}
        self._count = 0
        self._waiting: list[int] = []
        self._entries = _joins(self.program)
        self._stack: list[int] = []
        self._cached: list[tuple[str, frozenset[str]]] = []
        self._row_numbers: dict[str, int] = {}
        self.sealed = False
        """Set once the program is written: what is added later can no longer be remembered in the state."""
        base = self.constants.layout.base
        self._pending, self._settling, self._kept, self._turn = (
            base[word] for word in ("pending", "settling", "kept", "turn")
        )

    # --- names

    def named(self, letter: str, label: str) -> str:
        """A name for something of the module: the capital letter keeps it apart from all locals."""
        self._count += 1
        clean = "".join(char if char.isascii() and char.isalnum() else "_" for char in label)
        return f"{letter}{self._count}_{clean}"

    def bind(self, label: str, value: Any) -> str:
        """The name of a value that the module is given. Equal labels name equal values."""
        key = ("bind", label)
        if key not in self._names:
            self._names[key] = self.named("K", label)
            self.done.values[self._names[key]] = value
        return self._names[key]  # type: ignore[no-any-return]

    def site(self, span: Span | None) -> str:
        if span is None:
            return ""
        key = ("site", span.file.name, span.start, span.end)
        if key not in self._names:
            self._names[key] = self.named("AT", str(span.line))
            self.done.values[self._names[key]] = span
        return self._names[key]  # type: ignore[no-any-return]

    def evaluated(self, target: str, values: tuple[Any, ...]) -> Any:
        """What a function that reads no state gives."""
        from interpreter.kernel.state import State

        return self.machine.function(target)(State([None] * self.constants.layout.size), values)  # type: ignore[arg-type]

    # --- functions

    def _write(self, span: Span, letter: str, label: str) -> _Writing:
        return _Writing(self, span, self.named(letter, label))

    def value_function(self, target: str, items: bool) -> tuple[str, tuple[int, ...]]:
        """A function of the cells that it reads and of its arguments; gives its name and the arguments it takes."""
        key = ("value", target, items and self._gives_range(target))
        if key not in self._names:
            self._names[key] = self._value_function(target, key[2])
        return self._names[key]  # type: ignore[no-any-return]

    def _gives_range(self, target: str) -> bool:
        layer = self.program.reach.procedures[target]
        below = self.knowledge.below(layer)
        tree = layer.body
        from interpreter.language.walk import descendants

        own = any(isinstance(node, c.RangeFrom) for node in descendants(tree))
        return own or (below is not None and self._gives_range(below))

    def _value_function(self, target: str, items: bool) -> tuple[str, tuple[int, ...]]:
        facts = self.knowledge.facts(target)
        layer = facts.layer
        assert facts.lifted is not None
        with self._write(layer.span, "V", layer.rule) as writing:
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
        if key not in self._names:
            q = self.quote
            name = self._names[key] = self.named("Y", label)
            function = q.function(name, parameters, [q.placed(ast.Return(value))])
            function.decorator_list = [q.name("remembered_some")]
            self.add(q.file, function)
        return self._names[key]  # type: ignore[no-any-return]

    def state_function(self, target: str, items: bool) -> str:
        """A function that is given the state; what it gave is remembered until a change of what it reads."""
        key = ("state", target, items and self._gives_range(target))
        if key not in self._names:
            self._names[key] = self._state_function(target, key[2])
        return self._names[key]  # type: ignore[no-any-return]

    def _state_function(self, target: str, items: bool) -> str:
        layer = self.program.reach.procedures[target]
        q = self.quote
        number = len(self._cached)
        if not self.sealed:
            self._cached.append((target, frozenset(self.program.reach.all[target].reads)))
        with self._write(layer.span, "S", layer.rule) as writing:
            scope = Scope(layer.local_names, items=items)
            parameters = [scope.label(index) for index in range(len(layer.parameters))]
            body = self._function_body(target, scope, items)
            if self.sealed:
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
                    case ast.Call(ast.Name(name)) if name in self._row_numbers:
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
        if [each.id for each in call.args[2:] if isinstance(each, ast.Name)] != parameters:
            return
        row = self._row_numbers[call.func.id]
        if row not in self.done.parts:
            return
        layout = self.constants.layout
        groups = {layout.owner_of(cell)[0] for cell in cells}
        self._cached[number] = (self._cached[number][0], self._cached[row][1] | groups)
        self.done.through.setdefault(row, []).append(number)

    def row(
        self,
        label: str,
        tree: c.Expression,
        index: int,
        type_: Type,
        others: tuple[int, ...],
        labels: tuple[str, ...],
        span: Span,
    ) -> str | None:
        """A function that gives what an expression is for each value of one of its locals, as a list.

        The list is kept in the state; a change of a cell makes stale only what it can change. Nothing where it cannot
        be said which cells are read, or where a value may be none.
        """
        key = ("row", id(tree), index, others)
        if key not in self._names:
            self._names[key] = None if self.sealed else self._row(label, tree, index, type_, others, labels, span)
            self._names["keep", id(tree)] = tree
        return self._names[key]  # type: ignore[no-any-return]

    def _row(
        self,
        label: str,
        tree: c.Expression,
        index: int,
        type_: Type,
        others: tuple[int, ...],
        labels: tuple[str, ...],
        span: Span,
    ) -> str | None:
        size = self.knowledge.domain(type_)
        reads = self.knowledge.reads_by(tree, index, size) if size else None
        if reads is None or tree.type.optional:
            return None
        q = self.quote
        cells, whole = reads
        number = len(self._cached)
        self._cached.append((label, frozenset(whole)))
        self.done.rows[number] = {cell: tuple(values) for cell, values in cells.items()}
        with self._write(span, "E", label) as writing:
            scope = Scope(labels)
            given = [scope.label(other) for other in others]
            value = self.expressions.expression(tree, scope)
            one = f"{writing.name}_one"
            body: Block = self._looked_for(tree, scope) or [q.placed(ast.Return(value))]
            writing.add(q.function(one, ["S", "M", scope.label(index), *given], body))
            self._row_numbers[writing.name] = number
            part = _part_of_one_cell(body, set(given))
            if part is not None:
                self.done.parts[number] = f"{writing.name}_part"
                writing.add(q.function(f"{writing.name}_part", ["value", *given], [q.placed(ast.Return(part))]))
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
        if key not in self._names:
            lowered = self.program.procedures[target]
            layer = lowered.layer
            with self._write(layer.span, "P", layer.rule) as writing:
                self._names[key] = self.done.procedures[target] = writing.name
                assert lowered.steps is not None
                scope = Scope(layer.local_names)
                body = self.statements.block(lowered.steps, scope)
                parameters = [scope.label(index) for index in range(len(layer.parameters))]
                writing.add(self.quote.function(writing.name, ["state", *parameters], body))
        return self._names[key]  # type: ignore[no-any-return]

    # --- stretches

    def whole(self) -> Emitted:
        for target, lowered in self.program.procedures.items():
            if lowered.steps is None:
                self.stretch(lowered.entry)
            else:
                self.procedure(target)
        for index, stretch in enumerate(self.program.stretches):
            self._resumed(index, stretch)
        self._standing()
        while self._waiting:
            self._write_stretch(self._waiting.pop())
        self._finish()
        return self.done

    def _resumed(self, index: int, stretch: l.Stretch) -> None:
        """What a frame can name is a function: where calls, settling and turns go on, and decisions."""
        match stretch.end:
            case l.Asks(ask, bodies):
                self.stretch(index)
                for number in range(len(bodies)):
                    self._option(index, stretch, ask, number)
                    self._take(index, stretch, ask, number)
                    self._accepts(index, stretch, ask, number)
            case l.Calls(_, _, then) | l.SettlesThen(then) | l.TurnEnds(then):
                self.stretch(then)
            case _:
                pass

    def stretch(self, index: int) -> str:
        found = self.done.stretches.get(index)
        if found is None:
            found = self.named("R", self.program.stretches[index].procedure.split("@")[0])
            self.done.stretches[index] = found
            self._waiting.append(index)
        return found

    def _scope(self, procedure: str) -> Scope:
        return Scope(self._labels(procedure), leaky=True)

    def _labels(self, procedure: str) -> tuple[str, ...]:
        return self.program.procedures[procedure].layer.local_names

    def _locals(self, procedure: str, scope: Scope) -> ast.expr:
        q = self.quote
        return q.tuple([q.name(scope.label(i)) for i in range(self._size(procedure))])

    def _size(self, procedure: str) -> int:
        return self.program.procedures[procedure].local_count

    def _unpack(self, procedure: str, scope: Scope) -> Block:
        size = self._size(procedure)
        if not size:
            return []
        q = self.quote
        targets: list[ast.expr] = [q.store(scope.label(i)) for i in range(size)]
        return [q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("env")))]

    def _write_stretch(self, index: int) -> None:
        stretch = self.program.stretches[index]
        name = self.done.stretches[index]
        try:
            with self._write(stretch.span, "R", "") as writing:
                scope = self._scope(stretch.procedure)
                self._stack = []
                body = [*self._unpack(stretch.procedure, scope), *self._inline(index, scope)]
                function = self.quote.function(name, ["state", "env", "up"], body)
                no_loop_in_iterable(function)
                writing.add(function)
        except Unsupported:
            self._as_plain(index, name)

    def _as_plain(self, index: int, name: str) -> None:
        """What is not written here runs in the plain form."""
        with self._write(self.program.stretches[index].span, "R", "") as writing:
            body = self.quote.statements("return plain_stretch(_0, state, env, up)", self.quote.constant(index))
            writing.add(self.quote.function(name, ["state", "env", "up"], body))

    def _flow(self, index: int, scope: Scope) -> Block:
        """Goes on with a stretch of the same procedure: in place where that is short, else by a call."""
        stretch = self.program.stretches[index]
        q = self.quote
        small = len(stretch.steps) <= MOST_STEPS_INLINED and len(self._stack) < MOST_INLINED
        if index not in self._stack and (index not in self._entries or small or _is_leave(stretch)):
            return self._inline(index, scope)
        env = self._locals(stretch.procedure, scope)
        if index in self._stack:
            self.stretch(index)
            return q.statements("return (_0, _1, up)", q.constant(index), env)
        return [q.placed(ast.Return(q.call(self.stretch(index), [q.name("state"), env, q.name("up")])))]

    def _inline(self, index: int, scope: Scope) -> Block:
        stretch = self.program.stretches[index]
        self._stack.append(index)
        found = self.statements.block(stretch.steps, scope)
        if not (found and isinstance(found[-1], ast.Return)):
            found.extend(self._end(index, stretch, scope))
        self._stack.pop()
        return found

    def _end(self, index: int, stretch: l.Stretch, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        q.at(stretch.span)
        env = self._locals(stretch.procedure, scope)
        match stretch.end:
            case l.Jumps(to):
                return self._flow(to, scope)
            case l.Forks(test, then, otherwise):
                return self._fork(test, then, otherwise, scope)
            case l.Asks(ask, _):
                return self._ask(index, ask, env, scope)
            case l.Calls(call, into, then):
                return self._call(call, into, then, env, scope)
            case l.Leaves(value):
                found = x.expression(value, scope) if value is not None else q.constant(None)
                return self._leave(found)
            case l.SettlesThen(then):
                back = q.tuple([q.constant(then), env, q.name("up"), q.constant(-1)])
                return [*self._settled(back), *self._flow(then, scope)]
            case l.TurnEnds(then):
                return self._turn_ends(then, env, scope)
            case l.Advances(loop, body, after):
                return self._advance(loop, body, after, scope)
            case l.Counts(loop, then):
                assert loop.bound is not None
                count = q.name(scope.label(loop.hidden))
                head = q.statements("_0 += 1\nif _0 > _1:\n    give_up()", count, x.expression(loop.bound, scope))
                return [*head, *self._flow(then, scope)]
            case l.Stops():
                return q.statements("return stop(state)")

    def _fork(self, test: c.Test, then: int, otherwise: int, scope: Scope) -> Block:
        q = self.quote
        holds = self.statements.test(test, scope)
        if is_constant(holds):
            return self._flow(then if value_of(holds) else otherwise, scope)
        yes = self._flow(then, scope)
        no = self._flow(otherwise, scope)
        q.at(test.span)
        return [q.placed(ast.If(holds, yes, [])), *no]

    def _settled(self, back: ast.expr) -> Block:
        q = self.quote
        return q.statements(
            "if S[_0] and not S[_1]:\n    going = settle(state, _2)\n    if going is not None:\n        return going",
            q.constant(self._pending),
            q.constant(self._settling),
            back,
        )

    def _ask(self, index: int, ask: c.Ask, env: ast.expr, scope: Scope) -> Block:
        q = self.quote
        frame = q.tuple([q.constant(index), env, q.name("up"), q.constant(-1)])
        found = q.statements("frame = _0", frame)
        if self.constants.model.standing:
            found.extend(self._settled(q.name("frame")))
        counts = self.constants.statics["seat.counts"]
        seat = self.expressions.expression(ask.seat, scope)
        if all(counts) and not is_constant(seat) and not isinstance(seat, ast.Name):
            found.append(q.placed(ast.Expr(seat)))  # it may fail
        if not all(counts):
            found.extend(q.statements("if not _0[_1]:\n    give_up()", q.name(self.bind("counts", counts)), seat))
        found.extend(q.statements("state.frame = frame"))
        if not any(option.guard is None and not option.choices and not option.tests for option in ask.options):
            listed = [
                self.done.options[index, n] if (index, n) in self.done.options else self._option_name(index, n)
                for n in range(len(ask.options))
            ]
            for name in listed:
                call = q.call(name, [q.name("state"), env])
                found.extend(q.statements("for option in _0:\n    return None", call))
            found.extend(q.statements("give_up()"))
        else:
            found.extend(q.statements("return None"))
        return found

    def _call(self, call: c.CallRule | c.CallBase, into: int, then: int, env: ast.expr, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        target = self.program.target(call)
        lowered = self.program.procedures[target]
        arguments = [x.kept(argument, scope) for argument in call.arguments]
        q.at(call.span)
        padding: list[ast.expr] = [q.constant(None)] * (lowered.local_count - len(arguments))
        # The frame is made after the arguments: what they leave in locals is part of it.
        given = x.fresh("given")
        back = q.tuple([q.constant(then), env, q.name("up"), q.constant(into)])
        self.stretch(then)
        found = [q.assign(given, q.tuple([*arguments, *padding]))]
        if target in self._recursive:
            found.extend(q.statements("check_depth(up)"))
        entered = q.call(self.stretch(lowered.entry), [q.name("state"), q.name(given), back])
        return [*found, q.placed(ast.Return(entered))]

    @property
    def _recursive(self) -> frozenset[str]:
        """Procedures that can call themselves, through others too; all, where calls can be deep without that."""
        found = self._names.get("recursive")
        if found is None:
            own = self.program.reach.own
            framed = [name for name, lowered in self.program.procedures.items() if lowered.steps is None]
            deep = len(framed) > MAXIMUM_DEPTH // 2 or any(_reaches(own, name) for name in framed)
            found = self._names["recursive"] = frozenset(framed if deep else ())
        return found

    def _leave(self, value: ast.expr) -> Block:
        q = self.quote
        return (
            q.statements(
                "to, env, further, into = up\n"
                "if into >= 0:\n"
                "    env = (*env[:into], _0, *env[into + 1:])\n"
                "return F[to](state, env, further)",
                value,
            )
            if is_constant(value) or isinstance(value, ast.Name)
            else q.statements(
                "value = _0\n"
                "to, env, further, into = up\n"
                "if into >= 0:\n"
                "    env = (*env[:into], value, *env[into + 1:])\n"
                "return F[to](state, env, further)",
                value,
            )
        )

    def _turn_ends(self, then: int, env: ast.expr, scope: Scope) -> Block:
        q = self.quote
        self.stretch(then)
        special = q.constant(self.machine.TURN_OVER)
        back = q.tuple([q.constant(then), env, q.name("up"), q.constant(-1)])
        found = q.statements(
            "if S[_0] and not S[_1] or S[_2]:\n    return (_3, (), _4)",
            q.constant(self._pending),
            q.constant(self._settling),
            q.constant(self._kept),
            special,
            back,
        )
        for cell, start in self.machine.resets.get("turn", ()):
            found.extend(self._reset(cell, start))
        turn = q.constant(self._turn)
        found.extend(self.statements.mark("end of turn", q.expression("S[_0]", turn)))
        found.extend(self.statements.put(turn, "turn", q.constant(-1), ""))
        return [*found, *self._flow(then, scope)]

    def _reset(self, cell: int, start: Any) -> Block:
        group, _ = self.constants.layout.owner_of(cell)
        return self.statements.put(self.quote.constant(cell), group, self.quote.constant(start), "")

    def _advance(self, loop: c.Iterate, body: int, after: int, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        items, position = (q.name(scope.label(hidden)) for hidden in loop.hidden)
        variable = q.name(scope.label(loop.variable))
        inner: Block = []
        if loop.turn:
            turn = q.constant(self._turn)
            inner.extend(self.statements.put(turn, "turn", variable, ""))
            inner.extend(self.statements.mark("start of turn", variable))
        inner.extend(self._flow(body, scope))
        q.at(loop.span)
        if loop.test is not None:
            inner = [q.placed(ast.If(x.expression(loop.test, scope), inner, []))]
        found = q.statements(
            "while _0 < len(_1):\n    _2 = _1[_0]\n    _0 += 1\n    body\n_1 = ()",
            position,
            items,
            variable,
            body=inner,
        )
        return [*found, *self._flow(after, scope)]

    # --- decisions

    def _option_name(self, index: int, number: int) -> str:
        key = (index, number)
        if key not in self.done.options:
            stretch = self.program.stretches[index]
            self.done.options[key] = self.named("O", stretch.procedure.split("@")[0])
        return self.done.options[key]

    def _option(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """A generator of the legal values of an alternative."""
        option = ask.options[number]
        name = self._option_name(index, number)
        q, x = self.quote, self.expressions
        try:
            with self._write(option.span, "O", "") as writing:
                scope = Scope(self._labels(stretch.procedure))
                found = self._unpack(stretch.procedure, scope)
                if option.guard is not None:
                    found.extend(q.statements("if not _0:\n    return", x.expression(option.guard, scope)))
                found.extend(self._choices(option, 0, scope))
                if not any(isinstance(node, ast.Yield) for statement in found for node in ast.walk(statement)):
                    found.extend(q.statements("yield from ()"))
                writing.add(gathered(q.function(name, ["state", "env"], found), q))
        except Unsupported:
            with self._write(option.span, "O", "") as writing:
                body = q.statements(
                    "yield from plain_values(_0, _1, state, env)", q.constant(index), q.constant(number)
                )
                writing.add(q.function(name, ["state", "env"], body))

    def _accepts(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """Whether some values of an alternative are legal; nothing is listed for it."""
        option = ask.options[number]
        name = self.done.accepts[index, number] = self.named("A", option.name)
        q, x = self.quote, self.expressions
        try:
            with self._write(option.span, "A", "") as writing:
                scope = Scope(self._labels(stretch.procedure))
                found = self._unpack(stretch.procedure, scope)
                tests = [x.expression(option.guard, scope)] if option.guard is not None else []
                found.extend(q.statements("if not _0:\n    return False", *tests) if tests else [])
                for position, choice in enumerate(option.choices):
                    q.at(choice.span)
                    value = q.expression("values[_0]", q.constant(position))
                    inside = q.expression("_0 in _1", value, x.items(choice.items, scope))
                    found.extend(q.statements("if not _0:\n    return False", inside))
                    found.append(q.assign(scope.label(choice.variable), value))
                holds = x.all_of([x.expression(test, scope) for test in option.tests])
                found.append(q.placed(ast.Return(holds)))
                writing.add(q.function(name, ["state", "env", "values"], found))
        except Unsupported:
            with self._write(option.span, "A", "") as writing:
                listed = q.call(self._option_name(index, number), [q.name("state"), q.name("env")])
                found = q.statements("return values in list(_0)", listed)
                writing.add(q.function(name, ["state", "env", "values"], found))

    def _choices(self, option: c.Option, position: int, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        if position == len(option.choices):
            test = x.all_of([x.expression(each, scope) for each in option.tests])
            values = q.tuple([x.local(scope, choice.variable) for choice in option.choices])
            if is_constant(test):
                return q.statements("yield _0", values) if value_of(test) else []
            return q.statements("if _0:\n    yield _1", test, values)
        choice = option.choices[position]
        q.at(choice.span)
        short = x.short(choice.items, scope)
        if short is not None:
            written: Block = []
            for item in short:
                scope.names[choice.variable] = q.constant(item)
                written.extend(self._choices(option, position + 1, scope))
            del scope.names[choice.variable]
            return written
        items = x.items(choice.items, scope)
        variable = scope.label(choice.variable)
        hoister = Hoister({variable})
        scope.loops.append(hoister)
        body = self._choices(option, position + 1, scope)
        scope.loops.pop()
        q.at(choice.span)
        found = [q.assign(name, what) for name, what in hoister.clauses]
        return [*found, q.placed(ast.For(q.store(variable), items, body or [q.placed(ast.Pass())], [], None))]

    def _take(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """Records that an option was chosen, and goes on."""
        option = ask.options[number]
        name = self.named("T", option.name)
        self.done.takes[index, number] = name
        q, x = self.quote, self.expressions
        with self._write(option.span, "T", "") as writing:
            scope = Scope(self._labels(stretch.procedure))
            found = q.statements("env = frame[1]")
            actor = x.expression(ask.seat, scope)
            about = [x.expression(value, scope) for _, value in ask.context]
            used = {node.id for tree in (actor, *about) for node in ast.walk(tree) if isinstance(node, ast.Name)}
            named = [x.fresh("about") for _ in about]
            context = q.tuple([q.name(label) for label in named])
            seen = [
                self.statements.visible_in(q.name(label), value.type)
                for label, (_, value) in zip(named, ask.context, strict=True)
            ]
            for position, choice in enumerate(option.choices):
                seen.append(self.statements.visible_in(q.expression("values[_0]", q.constant(position)), choice.type))
            for place in range(self._size(stretch.procedure)):
                if scope.label(place) in used:
                    found.append(q.assign(scope.label(place), q.expression("env[_0]", q.constant(place))))
            found.extend(q.assign(label, value) for label, value in zip(named, about, strict=True))
            values = q.name("values") if option.choices else q.constant(())
            site = q.name(f"OPTION_{index}_{number}")
            record = q.tuple([q.constant(2), site, q.name("frame"), actor, values, context, q.tuple(seen)])
            found.extend(q.statements("L.append(_0)", record))
            found.extend(self._chosen(index, stretch, number))
            writing.add(q.function(name, ["state", "frame", "values"], found))

    def _chosen(self, index: int, stretch: l.Stretch, number: int) -> Block:
        """Goes on after the record of a choice; in place, if nothing in it is left to the plain form."""
        q = self.quote
        end = stretch.end
        assert isinstance(end, l.Asks)
        option = end.ask.options[number]
        try:
            scope = self._scope(stretch.procedure)
            self._stack = []
            found = q.statements("up = frame[2]")
            found.extend(self._unpack(stretch.procedure, scope))
            if option.choices:
                targets: list[ast.expr] = [q.store(scope.label(choice.variable)) for choice in option.choices]
                found.append(q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("values"))))
                found.extend(self._given(option))
            found.extend(self._flow(end.bodies[number], scope))
            for statement in found:
                no_loop_in_iterable(statement)
            return found
        except Unsupported:
            return q.statements(
                "return plain_choice(_0, _1, state, frame, values)", q.constant(index), q.constant(number)
            )

    def _given(self, option: c.Option) -> Block:
        """Lists that were chosen may come from the plain form, which has longer ones."""
        if all(choice.type.form == "bag" or not self.sizes.weight(choice.type) for choice in option.choices):
            return []
        return self.quote.statements("fits(values)")

    # --- standing rules

    def _standing(self) -> None:
        q, x = self.quote, self.expressions
        for number, rule in enumerate(self.constants.model.standing.values()):
            name = self.named("W", rule.name)
            try:
                with self._write(rule.span, "W", "") as writing:
                    layer = self.program.reach.procedures[rule.procedure]
                    scope = Scope(layer.local_names)
                    body = self._seen_matches(rule, scope) or self._matches(rule.binders, 0, rule.test, scope)
                    function = q.function(name, ["state"], [*body, *q.statements("return None")])
                    writing.add(gathered(function, q))
            except Unsupported:
                with self._write(rule.span, "W", "") as writing:
                    body = q.statements("return plain_match(_0, state)", q.constant(number))
                    writing.add(q.function(name, ["state"], body))
            self.done.standing.append(name)
        _ = x

    def _seen_matches(self, rule: StandingRule, scope: Scope) -> Block | None:
        """A rule about each of a few things: no thing is looked at again while the cells that decide are the same."""
        if len(rule.binders) != 1 or rule.test is None:
            return None
        ((index, items),) = rule.binders
        q, number = self.quote, len(self._cached)
        found = q.statements("seen = M[_0]", q.constant(number))
        for item in self.expressions.short(items, scope) or ():
            scope.names[index] = q.constant(item)
            test = self.expressions.expression(rule.test, scope)
            cells = _cells_read(test)
            if not cells:
                del scope.names[index]
                return None
            same = [q.expression("seen.get(_0) is not S[_0]", q.constant(cell)) for cell in cells]
            known: Block = [each for cell in cells for each in q.statements("seen[_0] = S[_0]", q.constant(cell))]
            found.extend(
                q.statements(
                    "if _0:\n    if _1:\n        return _2\n    body",
                    same[0] if len(same) == 1 else q.placed(ast.BoolOp(ast.Or(), same)),
                    test,
                    q.constant((item,)),
                    body=known,
                )
            )
        if index not in scope.names:
            return None
        del scope.names[index]
        self._cached.append((rule.name, frozenset()))
        assert number == len(self._cached) - 1
        return found

    def _matches(
        self, binders: tuple[tuple[int, c.Expression], ...], position: int, test: c.Expression | None, scope: Scope
    ) -> Block:
        q, x = self.quote, self.expressions
        if position == len(binders):
            values = q.tuple([x.local(scope, index) for index, _ in binders])
            holds = x.expression(test, scope) if test is not None else q.constant(True)
            return q.statements("if _0:\n    return _1", holds, values)
        index, items_ = binders[position]
        short = x.short(items_, scope)
        if short is not None:
            written: Block = []
            for item in short:
                scope.names[index] = q.constant(item)
                written.extend(self._matches(binders, position + 1, test, scope))
            del scope.names[index]
            return written
        items = x.items(items_, scope)
        hoister = Hoister({scope.label(index)})
        scope.loops.append(hoister)
        body = self._matches(binders, position + 1, test, scope)
        scope.loops.pop()
        found = [q.assign(name, what) for name, what in hoister.clauses]
        return [*found, q.placed(ast.For(q.store(scope.label(index)), items, body, [], None))]

    # --- the end

    def drops(self, group: str, where: ast.expr, record: int) -> Block:
        """A mark where remembered values must go; it is filled in once all that is remembered is known."""
        q = self.quote
        return [q.placed(ast.Expr(q.call(DROP, [q.constant(group), where, q.constant(record)])))]

    def read_once(self, function: ast.FunctionDef) -> ast.FunctionDef:
        return gathered(function, self.quote)

    def preferences(self, policy: Policy) -> tuple[Emitted, dict[int, str]]:
        """What a policy prefers, as more functions: for each decision that it knows without guards their name."""
        program, self.done = self.done, Emitted()
        try:
            found, names = self._preferences(policy)
        finally:
            self.done = program
        for body in found.modules.values():
            _fill(body, program, self.constants.layout)
        self.costs.write(found)
        found.remembered = self.costs.remembered
        return found, names

    def _preferences(self, policy: Policy) -> tuple[Emitted, dict[int, str]]:
        self.expressions.begin()
        names: dict[int, str] = {}
        for index, stretch in enumerate(self.program.stretches):
            if not isinstance(stretch.end, l.Asks):
                continue
            ways = policy.decisions.get(stretch.end.ask.name, ())
            if not ways or ways[0].when is not None:
                continue
            try:
                names[index] = PreferenceWriter(self, index).write(ways[0])
            except Unsupported:
                continue
        return self.done, names

    def _finish(self) -> None:
        self.sealed = True
        for number, (_, reads) in enumerate(self._cached):
            for group in reads:
                self.done.readers.setdefault(group, []).append(number)
        self.done.caches = len(self._cached)
        for body in self.done.modules.values():
            _fill(body, self.done, self.constants.layout)
        self.costs.write(self.done)
        self.done.longest, self.done.remembered = self.sizes.longest, self.costs.remembered

    def add(self, file: str, function: ast.FunctionDef) -> None:
        short_tests(function)
        self.done.modules.setdefault(file, []).append(function)


class _Writing:
    """While one function is written the place of another is kept."""

    def __init__(self, emitter: Emitter, span: Span, name: str) -> None:
        self.emitter, self.span, self.name = emitter, span, name

    def __enter__(self) -> _Writing:
        quote = self.emitter.quote
        self.before = (quote.file, quote._line, quote._column, quote._kept)
        quote.enter(self.span)
        return self

    def __exit__(self, *_: object) -> None:
        quote = self.emitter.quote
        quote.file, quote._line, quote._column, quote._kept = self.before

    def add(self, function: ast.FunctionDef) -> None:
        self.emitter.add(self.span.file.name, function)


class _Filler(ast.NodeTransformer):
    """Puts in what a change makes forgotten."""

    def __init__(self, emitted: Emitted, layout: Layout) -> None:
        self.readers = emitted.readers
        self.groups = {layout.owner_of(cell)[0] for rows in emitted.rows.values() for cell in rows}

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == DROP):
            return node
        group = call.args[0]
        assert isinstance(group, ast.Constant)
        quote = Quote()
        quote._line, quote._column = node.lineno, node.col_offset
        found: Block = []
        for number in self.readers.get(str(group.value), ()):
            found.extend(quote.statements("M[_0] = {}", quote.constant(number)))
        if group.value in self.groups:
            found.extend(quote.statements("make_stale(M, _0, L[_1][3], S[_0])", *call.args[1:]))
        return found

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if not node.body:
            node.body = [ast.copy_location(ast.Pass(), node)]
        return node


def _fill(functions: list[ast.stmt], emitted: Emitted, layout: Layout) -> None:
    filler = _Filler(emitted, layout)
    for function in functions:
        assert isinstance(function, ast.FunctionDef)
        filler.visit(function)
        _head(function)


def _head(function: ast.FunctionDef) -> None:
    """Names for the parts of the state that a function uses."""
    parameters = {argument.arg for argument in function.args.args}
    if "state" not in parameters:
        return
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    quote = Quote()
    quote._line, quote._column = function.lineno, function.col_offset
    head: Block = []
    for letter, text in (("S", "S = state.cells"), ("L", "L = state.log"), ("M", "M = state.memo[0]")):
        if letter in used and letter not in parameters:
            head.extend(quote.statements(text))
    function.body[:0] = head


def gathered(function: ast.FunctionDef, quote: Quote) -> ast.FunctionDef:
    """A function that changes nothing reads each cell once: what it reads more often becomes a local."""
    out_of_loops(function, quote)
    finder = _Reads(function)
    head = 0
    for position, statement in enumerate(function.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == "env":
            head = position + 1
    found: Block = []
    names: dict[str, str] = {}
    for key, reads in finder.reads.items():
        if len(reads) > 1:
            names[key] = f"cell_G{len(names)}"
            found.append(quote.assign(names[key], reads[0]))
    _Replace(names).visit(function)
    function.body[head:head] = found
    return function


def _cells_read(test: ast.expr) -> list[int]:
    """The cells, known by number, that alone decide an expression; nothing where it reads the state otherwise."""
    found: dict[int, None] = {}
    inner: set[int] = set()
    for node in ast.walk(test):
        match node:
            case ast.Subscript(ast.Name("S") as state, ast.Constant(int(cell))):
                found[cell] = None
                inner.add(id(state))
            case ast.Name("S" | "M" | "L" | "state") if id(node) not in inner:
                return []
            case _:
                pass
    return list(found)


def _part_of_one_cell(body: Block, given: set[str]) -> ast.expr | None:
    """The part of some statements in which alone cells are read, with ``value`` in the place of the cell.

    Nothing where that is more than one cell, or where the part depends on more than what is given. Where the part comes
    to the same, so do the statements.
    """
    reads = [node for statement in body for node in ast.walk(statement) if _is_cell(node)]
    if not reads or len({ast.dump(node) for node in reads}) > 1:
        return None
    wanted = {id(node) for node in reads}
    part: ast.expr | None = None
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and wanted <= {id(each) for each in ast.walk(node)}:
                part = node  # the last one is the smallest: a walk goes from the outside to the inside
    if part is None or _is_cell(part):
        return None
    found = _InPlace(wanted).visit(copy.deepcopy(part, {id(node): node for node in reads}))
    free = {node.id for node in ast.walk(found) if isinstance(node, ast.Name)}
    fine = all(name in given or name == "value" or CONSTANT.match(name) for name in free)
    return found if fine and not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(found)) else None


def _is_cell(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "S"


class _InPlace(ast.NodeTransformer):
    def __init__(self, wanted: set[int]) -> None:
        self.wanted = wanted

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if id(node) in self.wanted:
            return ast.copy_location(ast.Name("value", ast.Load()), node)
        return self.generic_visit(node)


class _Reads(ast.NodeVisitor):
    """Reads of cells whose number is known at the head of a function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.reads: dict[str, list[ast.expr]] = {}
        changed: dict[str, int] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                changed[node.id] = changed.get(node.id, 0) + 1
        first = {
            target.id
            for statement in function.body
            if isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Tuple)
            and isinstance(statement.value, ast.Name)
            and statement.value.id == "env"
            for target in statement.targets[0].elts
            if isinstance(target, ast.Name)
        }
        self.steady = {name for name in first if changed[name] == 1}
        for statement in function.body:
            self.visit(statement)

    def visit_Call(self, node: ast.Call) -> None:
        """What is remembered is asked for once, too."""
        steady = isinstance(node.func, ast.Name) and OUTLINED.match(node.func.id)
        if steady and all(self._known(each) or self._is_read(each) for each in node.args):
            self.reads.setdefault(ast.dump(node), []).append(node)
        else:
            self.generic_visit(node)

    def _is_read(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "S"
            and self._known(node.slice)
        )

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self._is_read(node):
            self.reads.setdefault(ast.dump(node), []).append(node)
        else:
            self.generic_visit(node)

    def _known(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return name in self.steady
            case ast.BinOp(left, _, right):
                return self._known(left) and self._known(right)
            case _:
                return False


class _Replace(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self._replaced(node)

    def visit_Call(self, node: ast.Call) -> Any:
        return self._replaced(node)

    def _replaced(self, node: ast.expr) -> Any:
        name = self.names.get(ast.dump(node))
        if name is not None:
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        return self.generic_visit(node)


def _is_long(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in LONG_CALLS
    return isinstance(node, LONG)


def _is_leave(stretch: l.Stretch) -> bool:
    return not stretch.steps and isinstance(stretch.end, l.Leaves | l.Asks)


def _joins(program: l.Program) -> frozenset[int]:
    """Stretches that more than one way leads to."""
    ways: dict[int, int] = {}
    for stretch in program.stretches:
        end = stretch.end
        match end:
            case l.Jumps(to):
                following: tuple[int, ...] = (to,)
            case l.Forks(_, then, otherwise):
                following = (then, otherwise)
            case l.Asks(_, bodies):
                following = bodies
            case l.Advances(_, body, after):
                following = (body, after)
            case l.Counts(_, then) | l.Calls(_, _, then) | l.SettlesThen(then) | l.TurnEnds(then):
                following = (then,)
            case _:
                following = ()
        for to in following:
            ways[to] = ways.get(to, 0) + 1
    return frozenset(to for to, count in ways.items() if count > 1)


def _reaches(own: dict[str, Any], name: str) -> bool:
    seen: set[str] = set()
    front = [name]
    while front:
        for called in own[front.pop()].calls if front else ():
            if called == name:
                return True
            if called not in seen and called in own:
                seen.add(called)
                front.append(called)
    return False
