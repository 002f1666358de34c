"""Lowering: checked procedures become stretches.

A stretch is a basic block: some steps, then an end that jumps, branches, asks, calls a procedure with a frame, or
returns. Procedures that can neither suspend nor call themselves need no frame and stay whole. Layers with `when`, notes
with their triggers, and loops are desugared here, once for both forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Lazy
from interpreter.base.source import SourceFile, Span
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import BOOL, INT, NOTHING, ListType, Type, item_type
from interpreter.language.walk import descendants, rewritten
from interpreter.lowering.reach import Reach, target_of
from interpreter.lowering.simultaneous import at_once

__all__ = [
    "Advances",
    "Asks",
    "Calls",
    "Counts",
    "End",
    "Forks",
    "Jumps",
    "Leaves",
    "Program",
    "SettlesThen",
    "Stops",
    "Stretch",
    "TurnEnds",
    "lower",
    "set_by",
]


class Jumps(Struct, frozen=True):
    """Continue with another stretch."""

    to: int


class Forks(Struct, frozen=True):
    """Continue with one of two stretches."""

    test: core.Test
    then: int
    otherwise: int


class Advances(Struct, frozen=True):
    """The head of a `for each`: the next item that passes the test goes to ``body``; without one, go to ``after``."""

    loop: core.Iterate
    body: int
    after: int


class Counts(Struct, frozen=True):
    """The head of a bounded `while`: count one more pass; fail if there are more than the bound."""

    loop: core.Repeat
    then: int


class Asks(Struct, frozen=True):
    """Wait for a choice. ``bodies`` has the stretch at which each option continues."""

    ask: core.Ask
    bodies: tuple[int, ...]


class Calls(Struct, frozen=True):
    """Call a procedure that has a frame. The result goes to the local ``into`` (-1: it is dropped)."""

    call: core.CallRule | core.CallBase
    into: int
    then: int


class Leaves(Struct, frozen=True):
    """Return to the caller."""

    value: core.Expression | None


class SettlesThen(Struct, frozen=True):
    """Settle the standing rules, then continue."""

    then: int


class TurnEnds(Struct, frozen=True):
    """The end of a seat's turn: settle, run the blocks delayed until then, settle again, continue."""

    then: int


class Stops(Struct, frozen=True):
    """The game is over."""


End = Jumps | Forks | Advances | Counts | Asks | Calls | Leaves | SettlesThen | TurnEnds | Stops


class Stretch(Struct, frozen=True):
    """A basic block. ``id`` is the procedure and a number; it is stable as long as the checked tree is the same."""

    id: str
    procedure: str
    steps: tuple[core.Step, ...]
    end: End
    span: Span


class Lowered(Struct, frozen=True):
    """A lowered procedure: ``steps`` if it has no frame, else the stretches from ``entry``."""

    layer: RuleLayer
    local_count: int
    steps: tuple[core.Step, ...] | None
    entry: int


class Program(Struct, frozen=True, dict=True):
    """All procedures of a ruleset, lowered."""

    model: Model
    reach: Reach
    procedures: dict[str, Lowered]
    stretches: tuple[Stretch, ...]

    def target(self, call: core.CallRule | core.CallBase) -> str:
        return target_of(self.model, call)

    def layer_at(self, span: Span) -> RuleLayer | None:
        """Return the layer whose text contains a source position."""
        place = span.file, span.start
        if place not in self._layers and (found := self._looked_for(span)) is not None:
            self._layers[place] = found
        return self._layers.get(place)

    @cached_property
    def _layers(self) -> dict[tuple[SourceFile, int], RuleLayer]:
        """Layers found so far: logs ask for the same few again and again."""
        return {}

    def _looked_for(self, span: Span) -> RuleLayer | None:
        for layer in self.reach.procedures.values():
            body = layer.body if isinstance(layer.body, tuple) else (layer.body,)
            for node in (*body, *((layer.when,) if layer.when is not None else ())):
                if node.span.file is span.file and node.span.start <= span.start <= node.span.end:
                    return layer
        return None

    def own_copy(self) -> Program:
        """Return a copy to which functions can be added without changing this program."""
        reach = replace(self.reach, procedures=dict(self.reach.procedures))
        return replace(self, reach=reach)

    @cached_property
    def asks(self) -> dict[int, tuple[Stretch, Asks]]:
        """The stretches that ask, and their ends, by number."""
        numbered = enumerate(self.stretches)
        return {index: (stretch, stretch.end) for index, stretch in numbered if isinstance(stretch.end, Asks)}

    @cached_property
    def stored(self) -> Lazy[str, dict[int, list[Type]]]:
        """The locals that frames of each procedure keep, with the types of their values. The others are temporary: only
        loops inside expressions set them."""
        return Lazy(self._stored)

    def _stored(self, procedure: str) -> dict[int, list[Type]]:
        parameters = self.procedures[procedure].layer.parameters
        stored = {index: [type_] for index, (_, type_) in enumerate(parameters)}
        own = tuple((stretch.steps, stretch.end) for stretch in self.stretches if stretch.procedure == procedure)
        for node in descendants(own):
            for index, type_ in set_by(node):
                stored.setdefault(index, []).append(type_)
        return stored

    @cached_property
    def chances(self) -> tuple[str, ...]:
        """Names of all random streams that the rules use, in alphabetical order."""
        return tuple(sorted(self.reach.chances))


def set_by(node: object) -> Iterator[tuple[int, Type]]:
    """Yield the locals that a step, or the end of a stretch, sets, with the types of their values."""
    match node:
        case core.SetLocal(index, value):
            yield index, value.type
        case core.Picks(index, items) | core.Iterate(index, items):
            of = item_type(items.type)
            assert of is not None
            yield index, of
            if isinstance(node, core.Iterate):
                yield from zip(node.hidden, (items.type, INT), strict=True)
        case core.Repeat():
            yield node.hidden, INT
        case core.Choice(variable):
            yield variable, node.type
        case core.Test(value, int(bind)):
            yield bind, value.type
        case Calls(call, into):
            yield into, call.type


def lower(model: Model, reach: Reach, known: Program | None = None) -> Program:
    """Lower all procedures of a model; ``known`` is the program of one that differs by further blocks only."""
    lowering = Lowering(model, reach)
    if known is not None:
        lowering.done.update(known.procedures)
        lowering.stretches.extend(known.stretches)
    for name, layer in reach.procedures.items():
        if layer.form == "does" and name not in lowering.done:
            lowering.procedure(name, layer)
    return Program(model, reach, lowering.done, tuple(s for s in lowering.stretches if s is not None))


class Lowering:
    """Lowers procedures one after another. ``done`` and ``stretches`` collect the results."""

    def __init__(self, model: Model, reach: Reach) -> None:
        self.model = model
        self.reach = reach
        self.done: dict[str, Lowered] = {}
        self.stretches: list[Stretch | None] = []
        self._name = ""
        """The current procedure. ``_first`` is the number of its first stretch, ``_locals`` its number of locals."""
        self._first = 0
        self._locals = 0
        self._turns = 0
        """Number of turn loops around the current step."""

    def procedure(self, name: str, layer: RuleLayer) -> None:
        self._name, self._first, self._locals = name, len(self.stretches), layer.local_count
        self._turns = 0
        body = rewritten(self._guarded(layer), self._expanded)
        if not self.reach.has_frame(name):
            self.done[name] = Lowered(layer, self._locals, body, -1)
            return
        leave = self._add((), Leaves(None), layer.span)
        entry = self._sequence(body, leave)
        self.done[name] = Lowered(layer, self._locals, None, entry)

    def _guarded(self, layer: RuleLayer) -> tuple[core.Step, ...]:
        """Return the body; if `when` is false, it calls the layer below."""
        if layer.guard is None:
            return layer.steps
        arguments = tuple(core.Local(i, name, type=type_) for i, (name, type_) in enumerate(layer.parameters))
        below = core.CallBase(layer.rule, layer.layer - 1, arguments, type=layer.result, span=layer.span)
        fallback: core.Step = core.Performs(below) if layer.result == NOTHING else core.Returns(below)
        return (core.Branch(core.Test(layer.guard, span=layer.guard.span), layer.steps, (fallback,), span=layer.span),)

    # --- notes with their triggers

    def _expanded(self, step: object) -> object:
        match step:
            case core.Notes():
                return self._note(step)
            case core.Ask(at_once=seats) if seats is not None:
                return at_once(step, seats, self._hidden)
            case _:
                return step

    def _note(self, step: core.Notes) -> core.Step | tuple[core.Step, ...]:
        triggers = [trigger for trigger in self.model.triggers.values() if trigger.event == step.event]
        if not triggers:
            return step
        steps: list[core.Step] = []
        values: list[core.Expression] = []
        for argument in step.arguments:
            index = self._hidden()
            steps.append(core.SetLocal(index, argument, span=argument.span))
            values.append(core.Local(index, "", type=argument.type, span=argument.span))
        steps.append(replace(step, arguments=tuple(values)))
        steps.extend(self._trigger(trigger.name, tuple(values), step.span) for trigger in triggers)
        return tuple(steps)

    def _trigger(self, name: str, values: tuple[core.Expression, ...], span: Span) -> core.Step:
        """Return the test and the case of the current phase: a branch whose leaves call the trigger's blocks."""
        trigger = self.model.triggers[name]
        inner = [self._hidden() for _ in range(trigger.local_count)]
        bind = [core.SetLocal(inner[i], value, span=span) for i, value in enumerate(values)]
        phase = core.Read(core.Cell("phase", None, type=INT), type=INT)
        branch: tuple[core.Step, ...] = ()
        for case in sorted(trigger.cases, key=lambda case: bool(case.phases)):
            calls: tuple[core.Step, ...] = ()
            if case.procedure is not None:
                call = core.CallRule(case.procedure, values, type=NOTHING, span=case.span)
                calls = (core.Performs(call, span=case.span),)
            if not case.phases:
                branch = calls
                continue
            numbers = tuple(map(self.model.phases.index, case.phases))
            here = core.MemberOf(phase, core.Const(numbers, type=ListType(INT)), False, type=BOOL, span=case.span)
            branch = (core.Branch(core.Test(here, span=case.span), calls, branch, span=case.span),)
        if trigger.test is None:
            return core.Branch(core.Test(core.Const(True, type=BOOL)), branch, (), span=span)
        test = renumbered(trigger.test, inner)
        whole = core.Branch(core.Test(test, span=trigger.span), branch, (), span=trigger.span)
        return core.Branch(core.Test(core.Const(True, type=BOOL)), (*bind, whole), (), span=span)

    def _hidden(self) -> int:
        """Allocate a local that has no name in the text."""
        self._locals += 1
        return self._locals - 1

    # --- stretches

    def _add(self, steps: tuple[core.Step, ...], end: End, span: Span) -> int:
        index = self._reserve()
        self._set(index, steps, end, span)
        return index

    def _set(self, index: int, steps: tuple[core.Step, ...], end: End, span: Span) -> None:
        self.stretches[index] = Stretch(f"{self._name}#{index - self._first}", self._name, steps, end, span)

    def _reserve(self) -> int:
        """Reserve the number of a stretch that is set later, for forward references."""
        self.stretches.append(None)
        return len(self.stretches) - 1

    def _sequence(self, steps: tuple[core.Step, ...], after: int) -> int:
        """Return the stretch from which the steps run; they continue at ``after``."""
        for position, step in enumerate(steps):
            if self._suspends(step):
                following = self._sequence(steps[position + 1 :], after)
                entry = self._suspending(step, following)
                before = steps[:position]
                return self._add(before, Jumps(entry), before[0].span) if before else entry
        return self._add(steps, Jumps(after), steps[0].span) if steps else after

    def _suspends(self, step: core.Step) -> bool:
        """Return whether a step can suspend, call with a frame, return or end the game: such a step ends a stretch."""
        for node in descendants(step):
            match node:
                case core.Ask() | core.Settles() | core.Ends() | core.Returns() | core.Iterate(turn=True):
                    return True
                case core.SetLocal(_, value) | core.SetCell(_, value) | core.Performs(value):
                    if self._call_suspends(value):
                        return True
        return False

    def _call_suspends(self, value: core.Expression) -> bool:
        if not isinstance(value, core.CallRule | core.CallBase):
            return False
        target = target_of(self.model, value)
        layer = self.reach.procedures.get(target)
        return layer is not None and layer.form == "does" and self.reach.has_frame(target)

    def _suspending(self, step: core.Step, after: int) -> int:
        """Return the stretch at which a suspending step begins; it continues at ``after``."""
        span = step.span
        match step:
            case core.Ask():
                index = self._reserve()
                back = index if step.repeatedly else after
                bodies = tuple(
                    after if option.body is None else self._sequence(option.body, back) for option in step.options
                )
                self._set(index, (), Asks(step, bodies), span)
                return index
            case core.Branch(test, then, otherwise):
                return self._add((), Forks(test, self._sequence(then, after), self._sequence(otherwise, after)), span)
            case core.Iterate():
                return self._iterate(step, after)
            case core.Repeat():
                return self._repeat(step, after)
            case core.Settles():
                return self._add((), SettlesThen(after), span)
            case core.Ends():
                return self._add((), Stops(), span)
            case core.Returns(value):
                return self._return(value, span)
            case core.SetLocal(index, value):
                return self._calls(value, index, after, span)
            case core.SetCell(cell, value):
                index = self._hidden()
                stored = core.SetCell(cell, core.Local(index, "", type=value.type), span=span)
                following = self._add((stored,), Jumps(after), span)
                return self._calls(value, index, following, span)
            case core.Performs(value):
                return self._calls(value, -1, after, span)
            case _:
                raise AssertionError(step)

    def _calls(self, call: core.Expression, into: int, then: int, span: Span) -> int:
        assert isinstance(call, core.CallRule | core.CallBase)
        return self._add((), Calls(call, into, then), span)

    def _return(self, value: core.Expression | None, span: Span) -> int:
        """Return after the end of the turns that are in progress."""
        index, result = -1, value
        if value is not None and (self._turns or self._call_suspends(value)):
            index = self._hidden()
            result = core.Local(index, "", type=value.type)
        after = self._add((), Leaves(result), span)
        for _ in range(self._turns):
            after = self._add((), TurnEnds(after), span)
        if value is None or index < 0:
            return after
        if self._call_suspends(value):
            return self._calls(value, index, after, span)
        return self._add((core.SetLocal(index, value, span=span),), Jumps(after), span)

    def _iterate(self, step: core.Iterate, after: int) -> int:
        items, position = step.hidden
        head = self._reserve()
        tail = self._add((), TurnEnds(head), step.span) if step.turn else head
        self._turns += step.turn
        body = self._sequence(step.body, tail)
        self._turns -= step.turn
        self._set(head, (), Advances(step, body, after), step.span)
        start = (
            core.SetLocal(items, step.items, span=step.items.span),
            core.SetLocal(position, core.Const(0, type=INT), span=step.span),
        )
        return self._add(start, Jumps(head), step.span)

    def _repeat(self, step: core.Repeat, after: int) -> int:
        head = self._reserve()
        body = self._sequence(step.body, head)
        if step.bound is not None:
            body = self._add((), Counts(step, body), step.span)
        self._set(head, (), Forks(core.Test(step.test, span=step.test.span), body, after), step.span)
        start = (core.SetLocal(step.hidden, core.Const(0, type=INT), span=step.span),)
        return self._add(start, Jumps(head), step.span)


def renumbered(tree: core.Expression, locals_: list[int]) -> core.Expression:
    """Return an expression with its locals renumbered."""

    def change(node: object) -> object:
        match node:
            case core.Local():
                return replace(node, index=locals_[node.index])
            case core.Loop():
                return replace(node, variable=locals_[node.variable])
            case _:
                return node

    return rewritten(tree, change)
