"""Rounds and phases of the fast form: what ends one and begins the next, as long as nothing waits in between.

Where standing rules have to be looked at, or blocks wait for a moment, the runtime does what the plain form does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from interpreter.compiler import lower as l
from interpreter.compiler.fast.letters import BACK, STRETCH
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.writer import Writer

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Phases"]


class Phases(Writer):
    """Writes two of the stretches behind those of the rules, and one function for each phase."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        base = self.constants.layout.base
        self._pending, self._settling, self._kept = base["pending"], base["settling"], base["kept"]
        self._round, self._phase = base["round"], base["phase"]
        self.phases = self.constants.model.phases

    def write(self) -> None:
        machine, done = self.emitter.machine, self.emitter.done
        over = done.stretches[machine.PHASE_OVER] = self.emitter.named(STRETCH, "phase_over")
        start = done.stretches[machine.ROUND_START] = self.emitter.named(STRETCH, "round_start")
        done.ends.extend(self.emitter.named(STRETCH, f"after_{phase}") for phase in self.phases)
        with self.emitter.write(self._procedure(0).layer.span, STRETCH, "") as writing:
            for number, name in enumerate(done.ends):
                writing.add(self.quote.function(name, ["state"], self._after(number)))
            writing.add(self.quote.function(over, ["state", "env", "up"], self._over()))
            writing.add(self.quote.function(start, ["state", "env", "up"], self._start()))
            back = done.backs[machine.PHASE_OVER] = self.emitter.named(BACK, "phase_over")
            writing.add(self.quote.function(back, ["state", "frame", "value"], self._over()))

    def over(self, number: int) -> ast.FunctionDef:
        """The end of one phase, to be put in place where it is known that it is that."""
        with self.emitter.write(self._procedure(number).layer.span, STRETCH, f"{self.phases[number]} over") as writing:
            return self.quote.function(writing.name, ["state", "env", "up"], self._over(number))

    def _procedure(self, number: int) -> l.Lowered:
        return self.program.procedures[self.constants.model.rules[self.phases[number]].top.id]

    def _over(self, number: int | None = None) -> Block:
        """The end of a phase, of any where none is said."""
        q = self.quote
        after = q.expression("NEXT[S[_0]]", q.constant(self._phase))
        if number is not None:
            after = q.name(self.emitter.done.ends[number])
        return q.statements(
            "if S[_0] or S[_1] and not S[_2]:\n    return phase_over(state, (), None)\nreturn _3(state)",
            *map(q.constant, (self._kept, self._pending, self._settling)),
            after,
        )

    def _after(self, number: int) -> Block:
        q = self.quote
        found = self._resets("phase")
        found.extend(self.statements.mark(f"end of {self.phases[number]}", q.constant(number)))
        if number + 1 < len(self.phases):
            return [*found, *self._begin(number + 1)]
        found.extend(
            q.statements(
                "if S[_0] or S[_1] and not S[_2]:\n    return round_over(state, (), None)",
                *map(q.constant, (self._kept, self._pending, self._settling)),
            )
        )
        found.extend(self._resets("round"))
        found.extend(self.statements.mark("end of round", q.expression("S[_0]", q.constant(self._round))))
        return [*found, *q.statements("return _0", q.constant((self.emitter.machine.ROUND_START, (), None)))]

    def _start(self) -> Block:
        """The start of a round."""
        q = self.quote
        last, number, round_, phase = q.name("last"), q.name("number"), q.constant(self._round), q.constant(self._phase)
        found = q.statements("_0 = S[_1]\n_2 = _0 + 1", last, round_, number)
        counted = ("round", round_, number, last)
        none_yet = ("phase", phase, q.constant(-1), q.expression("S[_0]", phase))
        found.extend(self.statements.mark("start of round", number, counted, none_yet))
        waits = "if S[_0]:\n    fall_due(state, 'round')\n    return next_phase(state, (), None)"
        found.extend(q.statements(waits, q.constant(self._kept)))
        return [*found, *self._begin(0)]

    def _begin(self, number: int) -> Block:
        """A phase begins; what calls its procedure comes back to the end of any phase."""
        q, machine = self.quote, self.emitter.machine
        if self.constants.model.phase_guards[number] is not None:
            return q.statements("return next_phase(state, (), None)")
        here, last = q.constant(number), q.constant(number - 1)
        change = ("phase", q.constant(self._phase), here, last)
        found = self.statements.mark(f"start of {self.phases[number]}", here, change)
        waits = "if S[_0]:\n    fall_due(state, 'phase')\n    return phase_begin(state, (), None)"
        found.extend(q.statements(waits, q.constant(self._kept)))
        lowered = self._procedure(number)
        if lowered.steps is not None:
            procedure = self.emitter.functions.procedure(lowered.layer.id)
            found.append(q.placed(ast.Expr(q.call(procedure, [q.name("state")]))))
            return [*found, *q.statements("return _0", q.constant((machine.PHASE_OVER, (), None)))]
        env = q.constant((None,) * lowered.local_count)
        back = q.constant((machine.PHASE_OVER, (), None, -1))
        entry = q.name(self.emitter.stretches.stretch(lowered.entry))
        return [*found, *q.statements("return _0(state, _1, _2)", entry, env, back)]

    def _resets(self, lasts: str) -> Block:
        found: Block = []
        for cell, start in self.emitter.machine.resets.get(lasts, ()):
            group, _ = self.constants.layout.owner_of(cell)
            found.extend(self.statements.put(self.quote.constant(cell), group, self.quote.constant(start), ""))
        return found
