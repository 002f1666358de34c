"""Steps of the plain form: each becomes a closure that changes the state or locals; it returns GOES_ON or the result of
a return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interpreter.base.source import Span
from interpreter.compiler.constants import (
    GOES_ON,
    MAXIMUM_PASSES,
    Env,
    Evaluate,
    RuleFailure,
    Run,
    bounded,
    effort,
    grows,
)
from interpreter.compiler.plain.evaluate import Evaluator
from interpreter.kernel.chance import ChanceError, ChanceSource, Seeded
from interpreter.kernel.effects import Refused
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.types import CardType, PileType, PlaceType, TokenHolderType

__all__ = ["Performer"]

EFFECT = 4
"""The cost in steps of a change of the state, which the log records."""


class Performer:
    """Compiles steps to closures."""

    def __init__(self, expressions: Evaluator) -> None:
        self.expressions = expressions
        self.constants, self.meter = expressions.constants, expressions.meter
        self.effects = self.constants.effects
        self.chance: ChanceSource = Seeded(0)
        """Source of random outcomes of the game that is played now."""

    def kept(self, value: core.Expression) -> Evaluate:
        """Compile a value that is stored; it must be bounded."""
        evaluate = self.expressions.compile(value)
        if not grows(value):
            return evaluate
        return lambda state, env: bounded(evaluate(state, env), value.span)

    def block(self, steps: Sequence[core.Step]) -> Run:
        """Return a closure of consecutive steps. It returns the result of a return, else GOES_ON."""
        closures = tuple(self.compile(step) for step in steps)

        def run(state: State, env: Env) -> Any:
            for step in closures:
                result = step(state, env)
                if result is not GOES_ON:
                    return result
            return GOES_ON

        return run

    def test(self, test: core.Test) -> Evaluate:
        value = self.expressions.compile(test.value)
        bind = test.bind
        if bind is None:
            return value

        def bound(state: State, env: Env) -> Value:
            env[bind] = value(state, env)
            return env[bind] is not None

        return bound

    def compile(self, step: core.Step) -> Run:
        compile_ = self.expressions.compile
        match step:
            case core.SetLocal(index, value):
                evaluate = self.kept(value)

                def set_local(state: State, env: Env) -> Any:
                    env[index] = evaluate(state, env)
                    return GOES_ON

                return set_local
            case core.Performs(value):
                performed = compile_(value)

                def perform(state: State, env: Env) -> Any:
                    performed(state, env)
                    return GOES_ON

                return perform
            case core.Returns(value):
                returned = compile_(value) if value is not None else (lambda state, env: None)
                return returned
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
                return self._guarded(step.span, self._effect(step))

    def _guarded(self, span: Span, run: Callable[[State, Env], None]) -> Run:
        """Wrap an effect: a refusal becomes a failure at the effect's position."""

        meter = self.meter

        def guarded(state: State, env: Env) -> Any:
            meter.charge(EFFECT, span)
            try:
                run(state, env)
            except (Refused, ChanceError) as refused:
                raise RuleFailure(str(refused), span) from None
            return GOES_ON

        return guarded

    def _effect(self, step: core.Step) -> Callable[[State, Env], None]:
        compile_ = self.expressions.compile
        effects, span = self.effects, step.span
        names = self.constants.chance_names
        match step:
            case core.SetCell(cell, value):
                address, evaluate = compile_(cell), self.kept(value)
                return lambda state, env: effects.put(state, address(state, env), evaluate(state, env), span)
            case core.MoveCards():
                return self._move_cards(step)
            case core.MoveAll():
                return self._move_all(step)
            case core.MoveTokens(amount, source, target):
                number, away, to = compile_(amount), compile_(source), compile_(target)
                return lambda state, env: effects.move_tokens(
                    state, number(state, env), away(state, env), to(state, env), span
                )
            case core.MovePiece():
                return self._move_piece(step)
            case core.Shuffles(zone, name):
                shuffled = compile_(zone)

                def shuffle(state: State, env: Env) -> None:
                    cell = shuffled(state, env)
                    self.meter.charge(1 + len(state.cells[cell]) // 4, span)
                    effects.shuffle(state, cell, self.chance, name, names[name], span)

                return shuffle
            case core.Picks(index, items, name):
                picked = compile_(items)

                def pick(state: State, env: Env) -> None:
                    env[index] = effects.pick(
                        state,
                        tuple(picked(state, env)),
                        self.chance,
                        name,
                        names[name],
                        span,
                    )

                return pick
            case core.Notes(event, arguments):
                return self._note(event, arguments, span)
            case core.Keeps(edge, of, procedure, captured):
                return lambda state, env: effects.keep(
                    state, (edge, of, procedure, tuple(env[index] for index in captured)), span
                )
            case core.Reveals():
                return lambda state, env: effects.mark(state, "reveal", 0)
            case _:
                raise AssertionError(step)

    def _move_cards(self, step: core.MoveCards) -> Callable[[State, Env], None]:
        compile_ = self.expressions.compile
        cards, target = compile_(step.cards), compile_(step.target)
        single = isinstance(step.cards.type, CardType)
        effects, span, where = self.effects, step.span, step.where
        if isinstance(step.target.type, PileType):
            return lambda state, env: effects.move_to_pile(
                state, self._carried(_cards(cards(state, env), single), span), target(state, env), where, span
            )
        return lambda state, env: effects.move_cards(
            state, self._carried(_cards(cards(state, env), single), span), target(state, env), where, span
        )

    def _carried(self, cards: tuple[int, ...], span: Span) -> tuple[int, ...]:
        """Charge for moved cards: each is searched for among all cards, and the log stores the zone that it leaves."""
        self.meter.charge(len(cards) * (EFFECT + self._all_cards // 8), span)
        return cards

    @property
    def _all_cards(self) -> int:
        return len(self.constants.model.cards)

    def _move_all(self, step: core.MoveAll) -> Callable[[State, Env], None]:
        compile_ = self.expressions.compile
        source, target = compile_(step.source), compile_(step.target)
        effects, span, where = self.effects, step.span, step.where
        if isinstance(step.source.type, TokenHolderType):
            return lambda state, env: effects.move_tokens(
                state, state.cells[(held := source(state, env))], held, target(state, env), span
            )
        is_pile = isinstance(step.source.type, PileType)
        if isinstance(step.target.type, PileType):
            return lambda state, env: effects.move_to_pile(
                state, self._carried(_held(state, source(state, env), is_pile), span), target(state, env), where, span
            )
        return lambda state, env: effects.move_cards(
            state, self._carried(_held(state, source(state, env), is_pile), span), target(state, env), where, span
        )

    def _move_piece(self, step: core.MovePiece) -> Callable[[State, Env], None]:
        compile_ = self.expressions.compile
        number, source, target = compile_(step.number), compile_(step.source), compile_(step.target)
        effects, span, layout = self.effects, step.span, self.constants.layout
        pieces = len(self.constants.pieces)
        if isinstance(step.target.type, PlaceType):

            def place(state: State, env: Env) -> None:
                if number(state, env) != 1:
                    raise Refused("a place takes one piece")
                stock = source(state, env)
                effects.place_piece(state, stock, target(state, env), layout.owner_of(stock)[1], pieces, span)

            return place
        if isinstance(step.source.type, PlaceType):

            def take(state: State, env: Env) -> None:
                stock = target(state, env)
                effects.take_piece(state, source(state, env), stock, layout.owner_of(stock)[1], pieces, span)

            return take
        return lambda state, env: effects.move_tokens(
            state, number(state, env), source(state, env), target(state, env), span
        )

    def _note(self, event: str, arguments: tuple[core.Expression, ...], span: Span) -> Callable[[State, Env], None]:
        values = tuple(self.expressions.compile(argument) for argument in arguments)
        types = tuple(argument.type for argument in arguments)
        effects, visible = self.effects, self.constants.visible_in

        def note(state: State, env: Env) -> None:
            arguments = tuple([value(state, env) for value in values])
            seen = tuple(visible(state, v, type_) for v, type_ in zip(arguments, types, strict=True))
            effects.note(state, event, arguments, seen, span)

        return note

    def _iterate(self, step: core.Iterate) -> Run:
        items = self.expressions.items(step.items)
        test = self.expressions.compile(step.test) if step.test is not None else None
        body, variable = self.block(step.body), step.variable
        meter, span, cost = self.meter, step.span, effort(step.test, step.body)

        def iterate(state: State, env: Env) -> Any:
            for item in items(state, env):
                meter.charge(cost, span)
                env[variable] = item
                if test is None or test(state, env):
                    result = body(state, env)
                    if result is not GOES_ON:
                        return result
            return GOES_ON

        return iterate

    def _repeat(self, step: core.Repeat) -> Run:
        test, body = self.expressions.compile(step.test), self.block(step.body)
        bound = self.expressions.compile(step.bound) if step.bound is not None else None

        meter, cost = self.meter, effort(step.test, step.bound, step.body)

        def repeat(state: State, env: Env) -> Any:
            limit = bound(state, env) if bound is not None else MAXIMUM_PASSES
            passes = 0
            while test(state, env):
                passes += 1
                meter.charge(cost, step.span)
                if passes > limit:
                    raise RuleFailure(f"this loop exceeded its bound of {limit}", step.span)
                if passes > MAXIMUM_PASSES:
                    raise RuleFailure("this never reaches a decision", step.span, "R002")
                result = body(state, env)
                if result is not GOES_ON:
                    return result
            return GOES_ON

        return repeat


def _cards(value: Value, single: bool) -> tuple[int, ...]:
    return (value,) if single else tuple(value)


def _held(state: State, source: Value, is_pile: bool) -> tuple[int, ...]:
    return tuple(source) if is_pile else tuple(state.cells[source])
