"""The fast form of a program: Python functions, as syntax trees that stand on the YAML's own lines.

In come the lowered program and the constants of one game; out come trees by file, and the values that they name. There
is one function for each layer of a function, for each procedure that cannot suspend, for each stretch that several
ways lead to, for each option of a decision (listing it, and going on with it) and for each standing rule. Frames, cells
and records are those of the plain form, so a game can change from one form to the other at any decision.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from interpreter.base.source import Span
from interpreter.compiler import lower as l
from interpreter.compiler.constants import Constants
from interpreter.compiler.fast.calm import asked_once
from interpreter.compiler.fast.cost import Costs
from interpreter.compiler.fast.decisions import Decisions
from interpreter.compiler.fast.emitted import Emitted
from interpreter.compiler.fast.expressions import Expressions
from interpreter.compiler.fast.functions import Functions
from interpreter.compiler.fast.knowledge import Knowledge
from interpreter.compiler.fast.letters import BACK, GOES_ON, KNOWN, SITE, TAKES, is_of
from interpreter.compiler.fast.library import Library, over
from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.parts import taken_apart
from interpreter.compiler.fast.phases import Phases
from interpreter.compiler.fast.preferences import PreferenceWriter
from interpreter.compiler.fast.quote import Quote
from interpreter.compiler.fast.reads import gathered
from interpreter.compiler.fast.repeats import told_once
from interpreter.compiler.fast.rows import emptied, follower
from interpreter.compiler.fast.scope import Unsupported
from interpreter.compiler.fast.shortlists import ShortLists
from interpreter.compiler.fast.simplify import going_back, simplified
from interpreter.compiler.fast.sizes import Sizes
from interpreter.compiler.fast.standing import Standing
from interpreter.compiler.fast.statements import Block, Statements
from interpreter.compiler.fast.stretches import Stretches
from interpreter.compiler.fast.truths import as_truths
from interpreter.compiler.fast.uses import kept_as_it_was, used_in_place
from interpreter.compiler.fast.values import AsValues
from interpreter.language import core as c
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.plain.machine import Machine
    from interpreter.language.policies import Policy

__all__ = ["Emitter"]

DROP = "drop_what_is_remembered"
AT_A_DECISION = GOES_ON + TAKES
"""Functions that go on from a decision, which is not made while rules wait to be looked at."""


class Emitter:
    """Writes one program. Functions are written when something first names them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        reach = machine.program.reach
        self.program = replace(machine.program, reach=replace(reach, procedures=AsValues(reach.procedures)))
        self.constants: Constants = machine.constants
        layout = self.constants.layout
        self.done = Emitted(cells=tuple((name, layout.base[name], count) for name, count in layout.groups if count))
        self.single = self.done.single
        self.quote = Quote()
        self.knowledge = Knowledge(self.program, self.constants)
        self.sizes = Sizes(self.program, self.constants)
        self.zones = {layout.owner_of(cell)[0] for cell in self.constants.effects.zones}
        self.costs = Costs(self, self.sizes)
        self.expressions = Expressions(self, self.quote, self.knowledge, self.constants)
        self.statements = Statements(self, self.expressions)
        self.known: dict[Any, Any] = {}
        self._count = 0
        self.cached: list[tuple[str, frozenset[str]]] = []
        """For each cache whose answers it keeps, and the groups of cells of which a change empties it."""
        self.sealed = False
        """Set once the program is written: what is added later can no longer be remembered in the state."""
        self.functions = Functions(self)
        self.shortlists = ShortLists(self)
        self.told: set[str] = set()
        """Functions of one value that remember what they gave."""
        self.takes: dict[tuple[int, int], str] = {}
        self.asking: dict[str, int] = {}
        """Functions that go on from a decision, some of them when they have chosen, each with the stretch of that."""
        self.library = Library()
        self.stretches = Stretches(self)
        self.decisions = Decisions(self)
        self.phases = Phases(self)
        self.standing = Standing(self)

    # --- names

    def named(self, letter: str, label: str) -> str:
        """A name for something of the module: see :mod:`interpreter.compiler.fast.letters`."""
        self._count += 1
        return f"{letter}{self._count}_{self.cleaned(label)}"

    @staticmethod
    def cleaned(label: str) -> str:
        """A label as a part of a name."""
        return "".join(char if char.isascii() and char.isalnum() else "_" for char in label)

    def bind(self, label: str, value: Any, made_of: Any = None) -> str:
        """The name of a value that the module is given. What is called alike need not be the same; ``made_of`` tells a
        long value from others, if it is given."""
        known = self.known.setdefault(("bind", label), {})
        shown = repr(getattr(value, "__self__", value) if made_of is None else made_of)
        if shown not in known:
            known[shown] = self.named(KNOWN, label)
            self.done.values[known[shown]] = value
        return known[shown]  # type: ignore[no-any-return]

    def site(self, span: Span | None) -> str:
        if span is None:
            return ""
        key = ("site", span.file.name, span.start, span.end)
        if key not in self.known:
            self.known[key] = self.named(SITE, str(span.line))
            self.done.values[self.known[key]] = span
        return self.known[key]  # type: ignore[no-any-return]

    def evaluated(self, target: str, values: tuple[Any, ...]) -> Any:
        """What a function that reads no state gives."""
        from interpreter.kernel.state import State

        return self.machine.function(target)(State([None] * self.constants.layout.size), values)  # type: ignore[arg-type]

    def told_of_cards(self, loop: c.Loop, tree: c.Expression) -> dict[int, Any] | None:
        """What a part of a loop comes to for each card that it may go through, if that is all that it depends on.

        Nothing where it fails for one of these: the plain form must say why.
        """
        from interpreter.kernel.state import State

        of, reach = loop.items.type.of, self.program.reach.all
        if of is None or of.form != "card" or of.optional:
            return None
        for node in descendants(tree):
            match node:
                case c.Local(index) if index != loop.variable:
                    return None
                case c.Read() | c.Loop():
                    return None
                case c.CallRule() | c.CallBase():  # those of a policy are not among the rules
                    called = reach.get(self.program.target(node))
                    if called is None or called.reads:
                        return None
        given, state = self.machine.expressions.compile(tree), State([None] * self.constants.layout.size)
        meter, kinds = self.machine.meter, self.constants.card_kind
        left = meter.left
        meter.refill()
        try:
            return {
                card: given(state, [*[None] * loop.variable, card])
                for card, kind in enumerate(kinds)
                if kind == of.name or of.name not in kinds
            }
        except Exception:
            return None
        finally:
            meter.left = left

    def write(self, span: Span, letter: str, label: str) -> _Writing:
        return _Writing(self, span, self.named(letter, label))

    # --- all of it

    def whole(self) -> Emitted:
        for target, lowered in self.program.procedures.items():
            if lowered.steps is None:
                self.stretches.stretch(lowered.entry)
            else:
                self.functions.procedure(target)
        for index, stretch in enumerate(self.program.stretches):
            self._resumed(index, stretch)
        self.phases.write()
        self.standing.write()
        self.stretches.write_waiting()
        self._finish()
        return self.done

    def _resumed(self, index: int, stretch: l.Stretch) -> None:
        """What a frame can name is a function: where calls, settling and turns go on, and decisions."""
        match stretch.end:
            case l.Asks(ask, _):
                self.stretches.stretch(index)
                self.decisions.write(index, stretch, ask)
            case l.Calls(_, _, then) | l.SettlesThen(then) | l.TurnEnds(then):
                self.stretches.stretch(then)
            case _:
                pass

    def cache(self, label: str, reads: frozenset[str], given: Sequence[object]) -> int:
        """The number of a new cache, whose answers are kept by what is given."""
        number = len(self.cached)
        self.cached.append((label, reads))
        if not given:
            self.single.add(number)
        return number

    def drops(self, group: str, where: ast.expr, old: ast.expr) -> Block:
        """A mark where remembered values must go; it is filled in once all that is remembered is known.

        Without a group it is any zone.
        """
        q = self.quote
        return [q.placed(ast.Expr(q.call(DROP, [q.constant(group), where, old])))]

    def read_once(self, function: ast.FunctionDef) -> ast.FunctionDef:
        return gathered(function, self.quote)

    def preferences(self, policy: Policy) -> tuple[Emitted, dict[int, str]]:
        """What a policy prefers, as more functions: for each decision that it knows without guards their name."""
        program, self.done = self.done, Emitted()
        self.takes = program.takes
        try:
            found, names = self._preferences(policy)
        finally:
            self.done = program
        for body in found.modules.values():
            _fill(body, program, self.zones)
        self.costs.write(found)
        self._look_up(found)
        self._simplify(found, back=True)
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
        for number, (_, reads) in enumerate(self.cached):
            for group in reads:
                self.done.readers.setdefault(group, []).append(number)
        self.done.caches = len(self.cached)
        layout = self.constants.layout
        self.costs.see(self.done)
        for group in dict.fromkeys(layout.owner_of(cell)[0] for rows in self.done.rows.values() for cell in rows):
            self.done.followers[group] = follower(self, group)
        for body in self.done.modules.values():
            _fill(body, self.done, self.zones)
        self.costs.write(self.done)
        self._look_up(self.done)
        for index, name in self.done.stretches.items():
            of_rules = index < len(self.program.stretches)
            size = self.stretches.size(self.program.stretches[index].procedure) if of_rules else 0
            self.library.stretches[index] = name, size
        for number in range(len(self.phases.phases)):
            function = self.phases.over(number)
            _head(function)
            self.library.add([function])
            self.library.stretches[over(number)] = function.name, 0
            self.library.backs[over(number)] = self.done.backs[self.machine.PHASE_OVER]
        for body in self.done.modules.values():
            self.library.add(body)
        self._go_back()
        self._simplify(self.done)
        self.done.longest, self.done.remembered = self.sizes.longest, self.costs.remembered

    def _look_up(self, emitted: Emitted) -> None:
        """What is told is looked up, not called; lists are asked whether they are empty."""
        kept = {**self.functions.state_numbers, **{name: row.number for name, row in self.functions.rows.items()}}
        told, single = self.told, self.single
        for body in emitted.modules.values():
            for function in body:
                assert isinstance(function, ast.FunctionDef)
                as_truths(_LookUp(told, kept, single).visit(function))

    def _go_back(self) -> None:
        """What goes on where a call is done, if all calls that lead there put what they give in one place."""
        places: dict[int, set[int]] = {}
        for stretch in self.program.stretches:
            if isinstance(stretch.end, l.Calls):
                places.setdefault(stretch.end.then, set()).add(stretch.end.into)
        for index, into in places.items():
            if len(into) == 1:
                stretch = self.program.stretches[index]
                name = self.done.backs[index] = self.named(BACK, stretch.procedure.split("@")[0])
                self.library.backs[index] = name
                with self.write(stretch.span, BACK, "") as writing:
                    q = self.quote
                    frame, value = q.name("frame"), q.name("value")
                    body = going_back(q, *self.library.stretches[index], min(into), frame, value)
                    writing.add(q.function(name, ["state", "frame", "value"], body))

    def _simplify(self, emitted: Emitted, *, back: bool = False) -> None:
        base = self.constants.layout.base
        for body in emitted.modules.values():
            for function in body:
                assert isinstance(function, ast.FunctionDef)
                simplified(function, self.library, back=back)
                calm = is_of(function.name, AT_A_DECISION) or function.name in self.done.ends
                asked_once(function, base["pending"], base["settling"], base["kept"], calm=calm)
                told_once(function, self._group_of, self.functions.state_numbers)
                used_in_place(taken_apart(simplified(function, Library())))
                if function.name in self.asking:
                    self._ask_again(function, self.asking[function.name])

    def _ask_again(self, function: ast.FunctionDef, index: int) -> None:
        end = self.program.stretches[index].end
        assert isinstance(end, l.Asks)
        kept_as_it_was(function, index, end.ask.chosen)

    def _group_of(self, cell: int) -> str:
        layout = self.constants.layout
        return layout.owner_of(cell)[0] if 0 <= cell < layout.size else ""

    def add(self, file: str, function: ast.FunctionDef) -> None:
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


class _LookUp(ast.NodeTransformer):
    """Looks answers up instead of calling for them: those of ``told`` in a table, those that the state remembers, by
    the numbers of their caches, if they are there and not empty."""

    def __init__(self, told: set[str], remembered: dict[str, int], single: set[int]) -> None:
        self.told, self.remembered, self.single = told, remembered, single
        self.quote = Quote()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name(name) as function, [asked], []) if name in self.told:
                return ast.copy_location(ast.Subscript(function, asked, ast.Load()), node)
            case ast.Call(ast.Name(name), [_, ast.Name() as caches, *given], []) if name in self.remembered:
                if len(given) > 1 or not all(isinstance(each, ast.Name | ast.Constant) for each in given):
                    return node
                self.quote.stay(node)
                number = self.quote.constant(self.remembered[name])
                if self.remembered[name] in self.single:
                    return self.quote.expression("_0[_1] or _2", caches, number, node)
                return self.quote.expression("_0[_1].get(_2) or _3", caches, number, given[0], node)
            case _:
                return node


class _Filler(ast.NodeTransformer):
    """Puts in what a change makes forgotten."""

    def __init__(self, emitted: Emitted, zones: Collection[str]) -> None:
        self.readers, self.followers, self.single, self.zones = (
            emitted.readers,
            emitted.followers,
            emitted.single,
            zones,
        )

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == DROP):
            return node
        group = call.args[0]
        assert isinstance(group, ast.Constant)
        quote = Quote()
        quote._line, quote._column = node.lineno, node.col_offset
        if not group.value:
            known = any(self.readers.get(zone) or zone in self.followers for zone in self.zones)
            forget = "if CHANGING[_0]:\n    forget(state, _0, _1)"
            return quote.statements(forget, *call.args[1:]) if known else []
        found: Block = []
        for number in self.readers.get(str(group.value), ()):
            found.extend(emptied(quote, number, self.single))
        if group.value in self.followers:
            follow = quote.name(self.followers[group.value])
            found.extend(quote.statements("_2(S, M, _0, _1, S[_0])", *call.args[1:], follow))
        return found

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if not node.body:
            node.body = [ast.copy_location(ast.Pass(), node)]
        return node


def _fill(functions: list[ast.stmt], emitted: Emitted, zones: Collection[str]) -> None:
    filler = _Filler(emitted, zones)
    for function in functions:
        assert isinstance(function, ast.FunctionDef)
        filler.visit(function)
        _head(function)


def _head(function: ast.FunctionDef) -> None:
    """Names for the parts of the state that a function uses."""
    parameters = {argument.arg for argument in function.args.args}
    if "state" not in parameters:
        return
    used = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    quote = Quote()
    quote._line, quote._column = function.lineno, function.col_offset
    head: Block = []
    for letter, text in (("S", "S = state.cells"), ("L", "L = state.log"), ("M", "M = state.caches")):
        if letter in used and letter not in parameters:
            head.extend(quote.statements(text))
    function.body[:0] = head
