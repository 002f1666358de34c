"""Foresight of a seat: choices, made with what the seat knows before them.

A choice runs in the plain form on the state as the seat sees it, where a veil stands for each hidden value. Veils can
be moved, stored and added up. Whoever compares one, decides by it or draws raises :class:`Unseen`. A run that gets
through has used nothing hidden. The result depends on visible things alone, so it tells nothing hidden itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from itertools import compress
from typing import NoReturn

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, is_choice, read, reveals
from interpreter.engine.secrecy import is_visible
from interpreter.engine.sight import Sight, Unseen, Veil, may_see
from interpreter.kernel.state import Frame, Record, State, Value
from interpreter.language.types import HolderType, Type
from interpreter.lowering import lower
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import Code, Machine

__all__ = ["forecast", "foresees", "veiled"]


class _Secret(Veil):
    """A hidden value that is not none. What is computed from it is another."""

    __slots__ = ()
    __hash__ = Veil.__hash__

    def __eq__(self, other: object) -> bool:
        return other is not None and super().__eq__(other)

    def _computed(self, *_: object) -> _Secret:
        return _Secret()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _computed
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _computed


class _Undrawn:
    """Chance source of a run: nobody foresees an outcome."""

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> NoReturn:
        raise Unseen

    shuffle = draw


def forecast(sight: Sight, known: State, code: Code) -> list[Record]:
    """Return what surely follows a choice in a :func:`veiled` state, which changes: the log up to the place where the
    rules use something hidden or draw. Raises :class:`RuleFailure`."""
    with suppress(Unseen):
        Machine.take(sight.machine, known, _Undrawn(), *code)
    return known.log


def foresees(game: Game, seat: int, number: int = 1) -> bool:
    """Return whether a seat could work out what each of the last choices led to, up to the next decision of the game. A
    choice of another seat that saw more than this one depends on hidden things."""
    later = game
    for _ in range(number):
        record = next(filter(is_choice, reversed(later.state.log)), None)
        if record is None:  # the log does not reach back
            return False
        earlier = copy(later)
        earlier.undo()
        made = read(record)
        assert isinstance(made, Choice)
        if not _is_foreseen(earlier, later, made, seat):
            return False
        later = earlier
    return True


def _is_foreseen(earlier: Game, later: Game, made: Choice, seat: int) -> bool:
    sight, machine, ask = later.table.sight, later.machine, made.option.ask
    run = veiled(sight, earlier.state, made.frame, seat)
    if made.actor != seat:
        others = veiled(sight, earlier.state, made.frame, made.actor)
        if ask.sealed or ask.kept or not _is_known(_whole(run), _whole(others)):
            return False
    number = next(n for n, option in enumerate(machine.asks[made.frame[0]].options) if option is made.option)
    masks = made.seen[len(made.context) :]
    values = tuple(v if may_see(mask, seat) else _Secret() for v, mask in zip(made.values, masks, strict=True))
    if not _reaches_a_decision(machine, run, (number, values)):
        return False
    events = (event.values for record in run.log if isinstance(event := read(record), Event))
    if reveals(run.log) or not all(map(_is_open, events)):
        return False
    after = veiled(sight, later.state, later.state.frame, seat)
    for word in ("pending", "kept"):  # nobody sees which standing rules and delayed blocks wait
        after.cells[machine.constants.layout.base[word]] = _Secret()
    return _is_known(_whole(run), _whole(after)) and all(
        _is_open_question(run, sight, decision, seat) for decision in (later.decision, later.decision_of(seat))
    )


def _reaches_a_decision(machine: Machine, run: State, code: Code) -> bool:
    """Make a choice; return False if it needs something hidden before the next decision."""
    frame = run.frame
    try:
        Machine.take(machine, run, _Undrawn(), *code)
    except (Unseen, RuleFailure) as stop:  # that a decision has options is no news, though only its seat knows them
        return isinstance(stop, Unseen) and run.frame is not frame
    return True


def _is_open_question(run: State, sight: Sight, decision: Decision | None, seat: int) -> bool:
    """Return whether a decision shows nothing hidden from the seat: who is asked, the context and the own options."""
    if decision is None:
        return True
    frame, site = _frame(sight, decision.frame, seat), decision.site
    assert frame is not None
    env = list(frame[1])
    try:
        shown = [site.seat(run, env), *(value(run, env) for _, value in site.context)]
        if decision.actor == seat:
            shown += [values for _, values in sight.machine.options(run, env, site)]
        return _is_open(shown)
    except (Unseen, RuleFailure):
        return False


def _is_open(value: Value) -> bool:
    return not isinstance(value, Veil) and not (isinstance(value, tuple | list) and not all(map(_is_open, value)))


def _whole(state: State) -> tuple[Value, ...]:
    return (*state.cells, state.frame)


def _is_known(mine: Value, shown: Value) -> bool:
    """Return whether everything that is shown is known: it has the same value, and no veil."""
    if isinstance(shown, Veil):
        return True
    if isinstance(mine, tuple) and isinstance(shown, tuple):
        return len(mine) == len(shown) and all(map(_is_known, mine, shown))
    return not isinstance(mine, Veil) and bool(mine == shown)


# --- the state as a seat knows it ---------------------------------------------------------------------------------


def veiled(sight: Sight, state: State, frame: Frame | None, player: int) -> State:
    """Return a copy of a state that stands at a frame, with a veil for each value that a player may not know."""
    layout, cells = sight.layout, state.cells[:]
    for cell, veil in sight.veils(state, player).items():
        held, group = cells[cell], sight.model.groups[layout.owner_of(cell)[0]]
        is_parted = isinstance(group.type, HolderType) and isinstance(held, tuple)
        cells[cell] = _parted(held) if is_parted else _Secret(veil.many)
    for card in sight.hidden_cards(state, player):
        cells[layout.base["location"] + card] = _Secret()
    kept = layout.base["kept"]
    cells[kept] = tuple(_blocks(sight, cells[kept], player))
    if cells[layout.base["settling"]]:  # rules that are not pending have no match, but that may be hidden
        cells[layout.base["pending"]] = (1 << len(sight.constants.watches)) - 1
    return State(cells, _frame(sight, frame, player))


def _frame(sight: Sight, frame: Frame | None, player: int) -> Frame | None:
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
            labels, read = secrecy.locals_at(index), secrecy.read_later[index] - {into, *waiting}
            known = {local for local, label in labels.items() if local != into and is_visible(label, env, player)}
            led = is_led or (not frames and _is_one_of_many(program, index) and bool(secrecy.course_at(index)))
            is_led = is_led or secrecy.hides_calls(program.stretches[index].procedure)
            if led or (maybe & read & labels.keys()) - known:
                place = _Secret()
            env = tuple(
                value if local in known else _parted(value) if local in waiting else _Secret()
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
    yield from ((edge, of, _Secret(), ()) for edge, of in sorted(secrecy.secret_moments))
    for edge, of, name, values in blocks:
        labels, course = secrecy.given(name)
        if course:
            continue
        secret = [not is_visible(label, values, player) for label in labels]
        types = [type_ for _, type_ in procedures[name].parameters]
        known = (_Secret() if hidden else value for hidden, value in zip(secret, values, strict=True))
        yield edge, of, _Secret() if _can_be_none(compress(types, secret)) else name, tuple(known)


def _can_be_none(types: Iterable[Type]) -> bool:
    """Return whether a value of one of the types can be none. No veil stands for none."""
    return any(type_.optional for type_ in types)


def _parted(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(_Secret() for _ in values)
