"""Stretches of the fast form: what runs between two decisions, and how one goes on to the next."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from interpreter.compiler import lower as l
from interpreter.compiler.fast.letters import STRETCH
from interpreter.compiler.fast.library import LEAVE, over
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.scope import Scope, Unsupported
from interpreter.compiler.fast.statements import Block, no_loop_in_iterable
from interpreter.compiler.fast.writer import Writer
from interpreter.compiler.plain.machine import MAXIMUM_DEPTH
from interpreter.language import core as c
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Stretches"]

NOBODY = -1
"""Whose turn it is between turns."""
MOST_INLINED = 5
MOST_STEPS_INLINED = 3


class Stretches(Writer):
    """Writes a stretch as a function where several ways lead to it or a frame can name it; others stand in place."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        self.stack: list[int] = []
        self._waiting: list[int] = []
        self._between = -1
        """The stretch that is written next, if a turn has just ended."""
        self._entries = _joins(self.program)
        self._callers = _callers(self.program)
        base = self.constants.layout.base
        self._pending, self._settling, self._kept, self._turn = (
            base[word] for word in ("pending", "settling", "kept", "turn")
        )

    def stretch(self, index: int) -> str:
        found = self.emitter.done.stretches.get(index)
        if found is None:
            found = self.emitter.named(STRETCH, self.program.stretches[index].procedure.split("@")[0])
            self.emitter.done.stretches[index] = found
            self._waiting.append(index)
        return found

    def scope(self, procedure: str) -> Scope:
        return Scope(self.labels(procedure), leaky=True)

    def labels(self, procedure: str) -> tuple[str, ...]:
        return self.program.procedures[procedure].layer.local_names

    def _locals(self, procedure: str, scope: Scope) -> ast.expr:
        q = self.quote
        passing = self.program.passing[procedure]
        return q.tuple(
            [q.constant(None) if i in passing else q.name(scope.label(i)) for i in range(self.size(procedure))]
        )

    def size(self, procedure: str) -> int:
        return self.program.procedures[procedure].local_count

    def unpack(self, procedure: str, scope: Scope) -> Block:
        size = self.size(procedure)
        if not size:
            return []
        q = self.quote
        targets: list[ast.expr] = [q.store(scope.label(i)) for i in range(size)]
        return [q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("env")))]

    def write_waiting(self) -> None:
        """All stretches that something leads to."""
        while self._waiting:
            self._write(self._waiting.pop())

    def _write(self, index: int) -> None:
        stretch = self.program.stretches[index]
        name = self.emitter.done.stretches[index]
        try:
            with self.emitter.write(stretch.span, STRETCH, "") as writing:
                scope = self.scope(stretch.procedure)
                self.stack = []
                body = [*self.unpack(stretch.procedure, scope), *self._inline(index, scope)]
                function = self.quote.function(name, ["state", "env", "up"], body)
                no_loop_in_iterable(function)
                writing.add(function)
        except Unsupported:
            self._as_plain(index, name)

    def _as_plain(self, index: int, name: str) -> None:
        """What is not written here runs in the plain form."""
        with self.emitter.write(self.program.stretches[index].span, STRETCH, "") as writing:
            body = self.quote.statements("return plain_stretch(_0, state, env, up)", self.quote.constant(index))
            writing.add(self.quote.function(name, ["state", "env", "up"], body))

    def flow(self, index: int, scope: Scope) -> Block:
        """Goes on with a stretch of the same procedure: in place where that is short, else by a call."""
        stretch = self.program.stretches[index]
        q = self.quote
        small = len(stretch.steps) <= MOST_STEPS_INLINED and len(self.stack) < MOST_INLINED
        if index not in self.stack and (index not in self._entries or small or _is_leave(stretch)):
            return self._inline(index, scope)
        env = self._locals(stretch.procedure, scope)
        if index in self.stack:
            self.stretch(index)
            return q.statements("return (_0, _1, up)", q.constant(index), env)
        return [q.placed(ast.Return(q.call(self.stretch(index), [q.name("state"), env, q.name("up")])))]

    def _inline(self, index: int, scope: Scope) -> Block:
        stretch = self.program.stretches[index]
        self.stack.append(index)
        found = self.statements.block(stretch.steps, scope)
        if not (found and isinstance(found[-1], ast.Return)):
            found.extend(self._end(index, stretch, scope))
        self.stack.pop()
        return found

    def _end(self, index: int, stretch: l.Stretch, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        q.at(stretch.span)
        env = self._locals(stretch.procedure, scope)
        match stretch.end:
            case l.Jumps(to):
                return self.flow(to, scope)
            case l.Forks(test, then, otherwise):
                return self._fork(test, then, otherwise, scope)
            case l.Asks(ask, _):
                return self._ask(index, ask, env, scope)
            case l.Calls(call, into, then):
                return self._call(call, into, then, env, scope)
            case l.Leaves(value):
                found = x.expression(value, scope) if value is not None else q.constant(None)
                return self._leave(found, stretch.procedure)
            case l.SettlesThen(then):
                back = q.tuple([q.constant(then), env, q.name("up"), q.constant(-1)])
                return [*self._settled(back), *self.flow(then, scope)]
            case l.TurnEnds(then):
                return self._turn_ends(then, env, scope)
            case l.Advances(loop, body, after):
                return self._advance(index, loop, body, after, scope)
            case l.Counts(loop, then):
                assert loop.bound is not None
                count = q.name(scope.label(loop.hidden))
                head = q.statements("_0 += 1\nif _0 > _1:\n    give_up()", count, x.expression(loop.bound, scope))
                return [*head, *self.flow(then, scope)]
            case l.Stops():
                return q.statements("return stop(state)")

    def _fork(self, test: c.Test, then: int, otherwise: int, scope: Scope) -> Block:
        q = self.quote
        holds = self.statements.test(test, scope)
        if is_constant(holds):
            return self.flow(then if value_of(holds) else otherwise, scope)
        yes = self.flow(then, scope)
        no = self.flow(otherwise, scope)
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
        if chosen := ask.chosen:
            assert isinstance(env, ast.Tuple)
            kept = [q.constant(None) if place in chosen else part for place, part in enumerate(env.elts)]
            env = q.tuple(kept)
        frame = q.tuple([q.constant(index), env, q.name("up"), q.constant(-1)])
        found = q.statements("asked = _0", frame)
        if self.constants.watches:
            found.extend(self._settled(q.name("asked")))
        counts = self.constants.statics["seat.counts"]
        seat = self.expressions.expression(ask.seat, scope)
        if all(counts) and not is_constant(seat) and not isinstance(seat, ast.Name):
            found.append(q.placed(ast.Expr(seat)))  # it may fail
        if not all(counts):
            found.extend(
                q.statements("if not _0[_1]:\n    give_up()", q.name(self.emitter.bind("counts", counts)), seat)
            )
        found.extend(q.statements("state.frame = asked"))
        if not any(self._is_always_open(option, scope) for option in ask.options):
            # What has least to look through is asked first: it is enough that something can be chosen.
            numbers = sorted(range(len(ask.options)), key=lambda n: len(ask.options[n].choices))
            for number in numbers:
                found.extend(self._open(index, number, ask.options[number], env, scope))
            found.extend(q.statements("give_up()"))
        else:
            found.extend(q.statements("return None"))
        return found

    def _open(self, index: int, number: int, option: c.Option, env: ast.expr, scope: Scope) -> Block:
        """Waits for a choice if this alternative has a value that may be chosen."""
        q, x = self.quote, self.expressions
        if not option.choices:
            conditions = [] if option.guard is None else [option.guard]
            holds = x.all_of([x.expression(each, scope) for each in (*conditions, *option.tests)])
            return q.statements("if _0:\n    return None", holds)
        call = q.call(self.emitter.decisions.listing(index, number), [q.name("state"), env])
        return q.statements("for option in _0:\n    return None", call)

    def _is_always_open(self, option: c.Option, scope: Scope) -> bool:
        if option.choices or option.tests:
            return False
        if option.guard is None:
            return True
        guard = self.expressions.expression(option.guard, scope)
        return is_constant(guard) and bool(value_of(guard))

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
        if target in self.recursive:
            found.extend(q.statements("check_depth(up)"))
        entered = q.call(self.stretch(lowered.entry), [q.name("state"), q.name(given), back])
        return [*found, q.placed(ast.Return(entered))]

    @property
    def recursive(self) -> frozenset[str]:
        """Procedures that can call themselves, through others too; all, where calls can be deep without that."""
        found = self.emitter.known.get("recursive")
        if found is None:
            own = self.program.reach.own
            framed = [name for name, lowered in self.program.procedures.items() if lowered.steps is None]
            deep = len(framed) > MAXIMUM_DEPTH // 2 or any(_reaches(own, name) for name in framed)
            found = self.emitter.known["recursive"] = frozenset(framed if deep else ())
        return found

    def _leave(self, value: ast.expr, procedure: str) -> Block:
        """Back to the caller; where there can be only one, it is said what goes on there."""
        q = self.quote
        caller = self._callers.get(procedure, ())
        given = [q.name("state"), q.name("up"), value, *map(q.constant, caller)]
        return [q.placed(ast.Return(q.call(LEAVE, given)))]

    def _turn_ends(self, then: int, env: ast.expr, scope: Scope) -> Block:
        q = self.quote
        self.stretch(then)
        special = q.constant(self.emitter.machine.TURN_OVER)
        back = q.tuple([q.constant(then), env, q.name("up"), q.constant(-1)])
        found = q.statements(
            "if S[_0] and not S[_1] or S[_2]:\n    return (_3, (), _4)",
            q.constant(self._pending),
            q.constant(self._settling),
            q.constant(self._kept),
            special,
            back,
        )
        for cell, start in self.emitter.machine.resets.get("turn", ()):
            found.extend(self._reset(cell, start))
        turn, seat = q.constant(self._turn), q.name(self.expressions.fresh("seat"))
        found.append(q.assign(seat.id, q.expression("S[_0]", turn)))
        found.extend(self.statements.mark("end of turn", seat, ("turn", turn, q.constant(NOBODY), seat)))
        self._between = then
        found.extend(self.flow(then, scope))
        self._between = -1
        return found

    def _reset(self, cell: int, start: Any) -> Block:
        group, _ = self.constants.layout.owner_of(cell)
        return self.statements.put(self.quote.constant(cell), group, self.quote.constant(start), "")

    def _advance(self, index: int, loop: c.Iterate, body: int, after: int, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        between, self._between = self._between == index, -1
        items, position = (q.name(scope.label(hidden)) for hidden in loop.hidden)
        variable = q.name(scope.label(loop.variable))
        inner: Block = []
        if loop.turn:
            turn = q.constant(self._turn)
            held = q.constant(NOBODY) if between else q.expression("S[_0]", turn)
            inner.extend(self.statements.mark("start of turn", variable, ("turn", turn, variable, held)))
        inner.extend(self.flow(body, scope))
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
        return [*found, *self.flow(after, scope)]


def _callers(program: l.Program) -> dict[str, tuple[int, int]]:
    """Where procedures go back to that only one place calls: a stretch, or phase (:func:`over`), and one of its locals
    (-1: none). What standing rules, or blocks that wait, begin is called from no place."""
    model = program.model
    found: dict[str, list[tuple[int, int]]] = {}
    for stretch in program.stretches:
        if isinstance(stretch.end, l.Calls):
            found.setdefault(program.target(stretch.end.call), []).append((stretch.end.then, stretch.end.into))
    for number, phase in enumerate(model.phases):
        found.setdefault(model.rules[phase].top.id, []).append((over(number), -1))
    nodes = (node for lowered in program.procedures.values() for node in descendants(lowered.layer.body))
    kept = (node.procedure for node in nodes if isinstance(node, c.Keeps))
    standing = (rule.procedure for rule in model.standing.values())
    begun = {*kept, *standing, model.rules[model.setup].top.id}
    return {name: ways[0] for name, ways in found.items() if len(ways) == 1 and name not in begun}


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
