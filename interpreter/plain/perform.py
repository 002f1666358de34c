"""Steps and functions of the plain form.

A step becomes a closure that changes the state or locals, and may return from its procedure. A rule without
a frame becomes one call, compiled when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from interpreter.base.lazy import Lazy
from interpreter.base.source import Span
from interpreter.kernel.chance import ChanceError, ChanceSource, Seeded
from interpreter.kernel.effects import Refused
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.types import CardType, PileType, PlaceType, TokenHolderType
from interpreter.lowering.constants import Constants, RuleFailure
from interpreter.lowering.lower import Program
from interpreter.plain.closures import MAXIMUM_PASSES, Called, Env, Evaluate, Result, Run, effort, row
from interpreter.plain.evaluate import LONG, Evaluator, measure_of

__all__ = ["Functions"]

EFFECT = 4
"""The cost in steps of a change of the state, which the log records."""


class Functions(Evaluator):
    """Compiles steps to closures, and the functions and procedures of a program, each when it is first called.
    ``known`` has those that a program without further blocks shares."""

    def __init__(self, program: Program, constants: Constants, known: Functions | None = None) -> None:
        super().__init__(program, constants)
        self.called, self.known = Lazy(self._called), known
        self.chance: ChanceSource = Seeded(0)
        """Source of random outcomes of the game that is played now."""
        if known is not None:
            self.meter = known.meter

    def draw_from(self, chance: ChanceSource) -> None:
        self.chance = chance
        if self.known is not None:
            self.known.draw_from(chance)

    # --- steps

    def block(self, steps: Sequence[core.Step]) -> Run:
        """Return a closure of consecutive steps."""
        closures = tuple(map(self.step, steps))

        def run(state: State, env: Env) -> Result:
            for step in closures:
                if (result := step(state, env)) is not None:
                    return result
            return None

        return run

    def test(self, test: core.Test) -> Evaluate:
        value = self.compile(test.value)
        bind = test.bind
        if bind is None:
            return value

        def bound(state: State, env: Env) -> Value:
            env[bind] = value(state, env)
            return env[bind] is not None

        return bound

    def step(self, step: core.Step) -> Run:
        match step:
            case core.SetLocal(index, value):
                evaluate = self.stored(value)

                def set_local(state: State, env: Env) -> None:
                    env[index] = evaluate(state, env)

                return set_local
            case core.Performs(value):
                performed = self.compile(value)

                def perform(state: State, env: Env) -> None:
                    performed(state, env)

                return perform
            case core.Returns(value) if value is not None:
                returned = self.compile(value)
                return lambda state, env: (returned(state, env),)
            case core.Returns():
                return lambda state, env: (None,)
            case core.Branch(test, then, otherwise):
                holds, yes, no = self.test(test), self.block(then), self.block(otherwise)
                return lambda state, env: yes(state, env) if holds(state, env) else no(state, env)
            case core.Iterate():
                return self._iterate(step)
            case core.Repeat():
                return self._repeat(step)
            case core.Ask() | core.Settles() | core.Ends():
                raise AssertionError("only the lowered form suspends")
            case _:
                return self._effect(step)

    def _effect(self, step: core.Step) -> Run:
        compile_, effects, span = self.compile, self.constants.effects, step.span
        names = self.constants.chance_names
        match step:
            case core.SetCell(core.Cell(name) as cell, value) if most := self.constants.model.groups[name].most:
                return self._guarded(span, partial(effects.put_list, most=most), compile_(cell), self.stored(value))
            case core.SetCell(cell, value):
                return self._guarded(span, effects.put, compile_(cell), self.stored(value))
            case core.MoveCards(cards, target, where):
                moved = row([compile_(cards)]) if isinstance(cards.type, CardType) else compile_(cards)
                return self._moves_cards(span, moved, target, where)
            case core.MoveAll(source, target) if isinstance(source.type, TokenHolderType):
                return self._guarded(span, effects.move_tokens, self._read(source), *map(compile_, (source, target)))
            case core.MoveAll(source, target, where):
                moved = compile_(source) if isinstance(source.type, PileType) else self._read(source)
                return self._moves_cards(span, moved, target, where)
            case core.MoveTokens(amount, source, target):
                return self._guarded(span, effects.move_tokens, *map(compile_, (amount, source, target)))
            case core.MovePiece():
                return self._move_piece(step)
            case core.Shuffles(zone, name):

                def shuffle(state: State, cell: int, span: Span) -> None:
                    self.meter.charge(1 + len(state.cells[cell]) // 4, span)
                    effects.shuffle(state, cell, self.chance, name, names[name], span)

                return self._guarded(span, shuffle, compile_(zone))
            case core.Picks(index, items, name):

                def pick(state: State, items: Value, span: Span) -> Value:
                    return effects.pick(state, tuple(items), self.chance, name, names[name], span)

                return self._guarded(span, pick, compile_(items), into=index)
            case core.Notes(event, arguments):
                types, visible = [argument.type for argument in arguments], self.constants.visible_in

                def note(state: State, *values: Value) -> None:
                    *arguments, span = values
                    seen = tuple(visible(state, v, type_) for v, type_ in zip(arguments, types, strict=True))
                    effects.note(state, event, tuple(arguments), seen, span)

                return self._guarded(span, note, *map(compile_, arguments))
            case core.Keeps(edge, of, procedure, captured):
                return self._guarded(
                    span,
                    effects.keep,
                    lambda state, env: (edge, of, procedure, tuple([env[index] for index in captured])),
                )
            case core.Reveals(at_once):
                return self._guarded(span, lambda state, span: effects.mark(state, "reveal", int(at_once)))
            case _:
                raise AssertionError(step)

    def _guarded(self, span: Span, change: Callable[..., Value], *operands: Evaluate, into: int | None = None) -> Run:
        """Return an effect: ``change`` gets the state, the operands and the position; its result goes to the local
        ``into``. A refusal becomes a failure at the position."""
        meter, values_of = self.meter, row(operands)

        def guarded(state: State, env: Env) -> None:
            meter.charge(EFFECT, span)
            try:
                result = change(state, *values_of(state, env), span)
            except (Refused, ChanceError) as refused:
                raise RuleFailure(str(refused), span) from refused
            if into is not None:
                env[into] = result

        return guarded

    def _moves_cards(self, span: Span, cards: Evaluate, target: core.Expression, where: str) -> Run:
        """Move cards to a zone or pile. Each is searched among all cards; the log stores the zone that it leaves."""
        effects, meter = self.constants.effects, self.meter
        cost = EFFECT + len(self.constants.model.cards) // 8
        to = effects.move_to_pile if isinstance(target.type, PileType) else effects.move_cards

        def move(state: State, cards: tuple[int, ...], place: Value, span: Span) -> None:
            meter.charge(len(cards) * cost, span)
            to(state, tuple(cards), place, where, span)

        return self._guarded(span, move, cards, self.compile(target))

    def _move_piece(self, step: core.MovePiece) -> Run:
        number, source, target = map(self.compile, (step.number, step.source, step.target))
        effects = self.constants.effects
        if isinstance(step.target.type, PlaceType):

            def place(state: State, number: int, stock: int, place: int, span: Span) -> None:
                if number != 1:
                    raise Refused("a place takes one piece")
                effects.place_piece(state, stock, place, span)

            return self._guarded(step.span, place, number, source, target)
        if isinstance(step.source.type, PlaceType):
            return self._guarded(step.span, effects.take_piece, target, source)
        return self._guarded(step.span, effects.move_tokens, number, source, target)

    def _iterate(self, step: core.Iterate) -> Run:
        items = self.items(step.items)
        test = self.compile(step.test) if step.test is not None else None
        body, variable = self.block(step.body), step.variable
        meter, span, cost = self.meter, step.span, effort(step.test, step.body)

        def iterate(state: State, env: Env) -> Result:
            for item in items(state, env):
                meter.charge(cost, span)
                env[variable] = item
                if (test is None or test(state, env)) and (result := body(state, env)) is not None:
                    return result
            return None

        return iterate

    def _repeat(self, step: core.Repeat) -> Run:
        test, body = self.compile(step.test), self.block(step.body)
        bound = self.compile(step.bound) if step.bound is not None else None

        meter, cost = self.meter, effort(step.test, step.bound, step.body)

        def repeat(state: State, env: Env) -> Result:
            limit = bound(state, env) if bound is not None else MAXIMUM_PASSES
            passes = 0
            while test(state, env):
                passes += 1
                meter.charge(cost, step.span)
                if passes > limit:
                    raise RuleFailure(f"this loop exceeded its bound of {limit}", step.span)
                if passes > MAXIMUM_PASSES:
                    raise RuleFailure("this never reaches a decision", step.span, "R002")
                if (result := body(state, env)) is not None:
                    return result
            return None

        return repeat

    # --- functions and procedures

    def _called(self, name: str) -> Called:
        if self.known is not None and name in self.known.program.reach.procedures:
            return self.known.called[name]
        is_procedure = self.program.reach.procedures[name].form == "does"
        return self._procedure(name) if is_procedure else self._function(name)

    def _procedure(self, name: str) -> Called:
        lowered = self.program.procedures[name]
        assert lowered.steps is not None
        body = self._returned(lowered.steps)
        size = lowered.local_count
        meter, span, cost = self.meter, lowered.layer.span, 4 + effort(lowered.steps)

        def call(state: State, values: tuple[Value, ...]) -> Value:
            meter.charge(cost, span)
            return body(state, [*values, *([None] * (size - len(values)))])

        return call

    def _returned(self, steps: Sequence[core.Step]) -> Evaluate:
        run = self.block(steps)
        return lambda state, env: (run(state, env) or (None,))[0]

    def _function(self, name: str) -> Called:
        layer = self.program.reach.procedures[name]
        when = self.compile(layer.guard) if layer.guard is not None else None
        called, below = self.called, layer.below
        body = self._function_body(layer)
        rest = [None] * (layer.local_count - len(layer.parameters))
        meter, span, cost = self.meter, layer.span, 4 + effort(layer.when, layer.body)
        long = [(i, measure_of(type_)) for i, (_, type_) in enumerate(layer.parameters) if isinstance(type_, LONG)]

        def call(state: State, values: tuple[Value, ...]) -> Value:
            for place, measure in long:
                meter.charge(measure(values[place], span), span)
            key = (name, *values)
            memo = state.memo
            if (known := memo.get(key, memo)) is not memo:  # which no function returns
                return known
            meter.charge(cost, span)
            env: Env = [*values, *rest]
            is_below = when is not None and not when(state, env)
            result = called[below](state, values) if is_below else body(state, env)
            memo[key] = result
            return result

        return call

    def _function_body(self, layer: RuleLayer) -> Evaluate:
        if layer.form == "permits":
            lines = [(self.compile(line.test), line.bind) for line in layer.requirements]

            def permits(state: State, env: Env) -> Value:
                for test, bind in lines:
                    if bind is not None:
                        env[bind] = test(state, env)
                    elif not test(state, env):
                        return False
                return True

            return permits
        if isinstance(layer.body, tuple):
            return self._returned(layer.steps)
        return self.compile(layer.body)
