"""Functions of the plain form: each rule without a frame becomes one call, compiled when it is first called."""

from __future__ import annotations

from interpreter.base.lazy import Lazy
from interpreter.kernel.state import State, Value
from interpreter.language.model import RuleLayer
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program
from interpreter.plain.closures import GOES_ON, Called, Env, Evaluate, Meter, effort
from interpreter.plain.evaluate import LONG, Evaluator, measure_of
from interpreter.plain.perform import Performer

__all__ = ["Functions"]


class Functions:
    """The functions and procedures of a program, by the ids of their layers."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self.program, self.meter = program, Meter()
        self.called: Lazy[str, Called] = Lazy(self._called)
        """The rules by the ids of their layers: functions and verdicts, whose results are memoised until the next
        change, and procedures without a frame."""
        self.expressions = Evaluator(program, constants, self.meter, self.called)
        self.steps = Performer(self.expressions)

    def _called(self, name: str) -> Called:
        is_procedure = self.program.reach.procedures[name].form == "does"
        return self._procedure(name) if is_procedure else self._function(name)

    def _procedure(self, name: str) -> Called:
        lowered = self.program.procedures[name]
        assert lowered.steps is not None
        run = self.steps.block(lowered.steps)
        size = lowered.local_count
        meter, span, cost = self.meter, lowered.layer.span, 4 + effort(lowered.steps)

        def call(state: State, values: tuple[Value, ...]) -> Value:
            meter.charge(cost, span)
            env: Env = [*values, *([None] * (size - len(values)))]
            result = run(state, env)
            return None if result is GOES_ON else result

        return call

    def _function(self, name: str) -> Called:
        layer = self.program.reach.procedures[name]
        when = self.expressions.compile(layer.guard) if layer.guard is not None else None
        called, below = self.called, layer.below
        body = self._function_body(layer)
        size = layer.local_count
        meter, span, cost = self.meter, layer.span, 4 + effort(layer.when, layer.body)
        long = [(i, measure_of(type_)) for i, (_, type_) in enumerate(layer.parameters) if isinstance(type_, LONG)]

        def call(state: State, values: tuple[Value, ...]) -> Value:
            for place, measure in long:
                meter.charge(measure(values[place], span), span)
            key = (name, *values)
            memo = state.memo
            if key in memo:
                return memo[key]
            meter.charge(cost, span)
            env: Env = [*values, *([None] * (size - len(values)))]
            is_below = when is not None and not when(state, env)
            result = called[below](state, values) if is_below else body(state, env)
            memo[key] = result
            return result

        return call

    def _function_body(self, layer: RuleLayer) -> Evaluate:
        if layer.form == "permits":
            lines = [(self.expressions.compile(line.test), line.bind) for line in layer.requirements]

            def permits(state: State, env: Env) -> Value:
                for test, bind in lines:
                    if bind is not None:
                        env[bind] = test(state, env)
                    elif not test(state, env):
                        return False
                return True

            return permits
        if isinstance(layer.body, tuple):
            return self.steps.block(layer.steps)
        return self.expressions.compile(layer.body)
