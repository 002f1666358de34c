"""Foresight: states as a seat knows them, and what surely follows a choice there.

A choice runs in the plain form on the state as the seat sees it, where a veil stands for each hidden value. Veils can
be moved, stored and added up. Whoever compares one, decides by it or draws raises :class:`Unseen`. A run that gets
through has used nothing hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import compress
from typing import NoReturn

from interpreter.hidden.sight import Sight, Unseen, Veil, is_visible
from interpreter.kernel.state import Frame, Record, State, Value
from interpreter.language.types import HolderType, Type
from interpreter.lowering import lower
from interpreter.plain.machine import Code

__all__ = ["Secret", "Undrawn", "forecast", "frame_known", "veiled"]


class Secret(Veil):
    """A hidden value that is not none. What is computed from it is another."""

    __slots__ = ()
    __hash__ = Veil.__hash__

    def __eq__(self, other: object) -> bool:
        return other is not None and super().__eq__(other)

    def _computed(self, *_: object) -> Secret:
        return Secret()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _computed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _computed


class Undrawn:
    """Chance source of a run: nobody foresees an outcome."""

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> NoReturn:
        raise Unseen

    shuffle = draw


def forecast(sight: Sight, known: State, code: Code) -> list[Record]:
    """Return what surely follows a choice in a :func:`veiled` state, which changes: the log up to the place where the
    rules use something hidden or draw. Raises :class:`RuleFailure`."""
    with suppress(Unseen):
        sight.machine.take(known, Undrawn(), *code)
    return known.log


def veiled(sight: Sight, state: State, frame: Frame | None, player: int) -> State:
    """Return a copy of a state that stands at a frame, with a veil for each value that a player may not know."""
    layout, cells = sight.layout, state.cells[:]
    for cell, veil in sight.veils(state, player).items():
        held, group = cells[cell], sight.group(cell)
        is_parted = isinstance(group.type, HolderType) and isinstance(held, tuple)
        cells[cell] = _parted(held) if is_parted else Secret(veil.many)
    for card in sight.hidden_cards(state, player):
        cells[layout.base["location"] + card] = Secret()
    kept = layout.base["kept"]
    cells[kept] = tuple(_blocks(sight, cells[kept], player))
    if cells[layout.base["settling"]]:  # rules that are not pending have no match, but that may be hidden
        cells[layout.base["pending"]] = (1 << len(sight.constants.watches)) - 1
    return State(cells, frame_known(sight, frame, player))


def frame_known(sight: Sight, frame: Frame | None, player: int) -> Frame | None:
    """Return a frame with veils for secret locals. A procedure that a secret led to its place cannot go on."""
    program, secrecy = sight.program, sight.secrecy
    frames, is_led = list[tuple[Value, tuple[Value, ...], int]](), False
    while frame is not None:
        index, env, frame, into = frame
        place: Value = index
        if index < len(program.stretches):
            stretch = program.stretches[index]
            maybe = {local for local, types in program.stored[stretch.procedure].items() if _can_be_none(types)}
            waiting = stretch.end.ask.kept if not frames and isinstance(stretch.end, lower.Asks) else ()
            valued, read = sight.knows_locals(index, env, player), secrecy.read_later[index] - {into, *waiting}
            known = {local for local, is_known in valued.items() if is_known and local != into}
            led = is_led or (not frames and _is_one_of_many(program, index) and bool(secrecy.course_at(index)))
            is_led = is_led or secrecy.hides_calls(program.stretches[index].procedure)
            if led or (maybe & read & valued.keys()) - known:
                place = Secret()
            env = tuple(
                value if local in known else _parted(value) if local in waiting else Secret()
                for local, value in enumerate(env)
            )
        frames.append((place, env, into))
    for place, env, into in reversed(frames):
        frame = place, env, frame, into
    return frame


def _is_one_of_many(program: lower.Program, index: int) -> bool:
    """Return whether a decision is asked in several places, so that its name does not tell where the game stands."""
    name = program.asks[index][1].ask.name
    return sum(end.ask.name == name for _, end in program.asks.values()) > 1


def _blocks(sight: Sight, blocks: Iterable[tuple[Value, ...]], player: int) -> Iterator[tuple[Value, ...]]:
    """Yield the delayed blocks with veils for secret values. For those of which it is a secret whether they wait, one
    that nobody can run stands at each moment that they can wait for, whether they do or not."""
    secrecy, procedures = sight.secrecy, sight.program.reach.procedures
    yield from ((edge, of, Secret(), ()) for edge, of in sorted(secrecy.secret_moments))
    for edge, of, name, values in blocks:
        labels, course = secrecy.given(name)
        if course:
            continue
        secret = [not is_visible(label, values, player) for label in labels]
        types = [type_ for _, type_ in procedures[name].parameters]
        known = (Secret() if hidden else value for hidden, value in zip(secret, values, strict=True))
        yield edge, of, Secret() if _can_be_none(compress(types, secret)) else name, tuple(known)


def _can_be_none(types: Iterable[Type]) -> bool:
    """Return whether a value of one of the types can be none. No veil stands for none."""
    return any(type_.optional for type_ in types)


def _parted(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(Secret() for _ in values)
