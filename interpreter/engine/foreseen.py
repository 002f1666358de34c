"""What a seat could foresee: whether choices, made in its foresight, lead to what it sees of the game.

The result depends on visible things alone, so it tells nothing hidden itself.
"""

from __future__ import annotations

from copy import copy
from itertools import islice

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, is_choice, read, reveals
from interpreter.hidden.foresight import Secret, Undrawn, frame_known, veiled
from interpreter.hidden.sight import Sight, Unseen, Veil, may_see
from interpreter.kernel.state import State, Value
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import Code, Machine

__all__ = ["after", "foresees", "shows_options", "supposed"]

MOST_SUPPOSED = 40
"""Most choices of other seats in a row that are supposed."""


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


def shows_options(game: Game, decision: Decision, seat: int) -> bool:
    """Return whether a seat, or a spectator (-1), could work out the options of a decision of another seat."""
    sight = game.table.sight
    run = veiled(sight, game.state, decision.frame, seat)
    assert run.frame is not None
    return _is_shown(sight, run, list(run.frame[1]), decision)


def after(game: Game, decision: Decision, code: Code, seat: int) -> Game | None:
    """Return a copy of a game after a choice of the seat, or a supposed one of another. None if the seat could not work
    out what it leads to, up to the next decision of the game, or if it ends the game."""
    run = veiled(game.table.sight, game.state, decision.frame, seat)
    if decision.site.ask.is_closed or not _reaches_a_decision(game.machine, run, code):
        return None
    later = game.clone()
    try:
        later.take(code)
    except RuleFailure:
        return None
    return later if later.decision is not None and _shows(run, later, seat) else None


def supposed(game: Game, seat: int) -> Game | None:
    """Return a copy of a game in which all other seats decline until the seat is asked. None if one of them cannot do
    so, as far as the seat can know, or if the seat could not work out what follows."""
    for _ in range(MOST_SUPPOSED):
        decision, own = game.decision, game.decision_of(seat)
        if decision is None or own is not None:
            return None if own is None or own.site.ask.is_closed else game
        code = _declining(game, decision, seat)
        later = after(game, decision, code, seat) if code is not None else None
        if later is None:
            return None
        game = later
    return None


def _declining(game: Game, decision: Decision, seat: int) -> Code | None:
    """Return the choice without values of another seat, or else its only one, as far as a seat can know them."""
    sight, site = game.table.sight, decision.site
    run = veiled(sight, game.state, decision.frame, seat)
    assert run.frame is not None
    env, plain = list(run.frame[1]), [n for n, option in enumerate(site.options) if not option.core.choices]
    try:
        if len(plain) == 1 and [*sight.machine.values(run, env, site.options[plain[0]])]:
            return plain[0], ()
        found = [*islice(sight.machine.options(run, env, site), 2)]
    except (Unseen, RuleFailure):
        return None
    return found[0] if len(found) == 1 and _is_open(found[0][1]) else None


def _is_shown(sight: Sight, run: State, env: list[Value], decision: Decision) -> bool:
    """Return whether the options of a decision need nothing hidden in a veiled state."""
    try:
        return _is_open([values for _, values in sight.machine.options(run, env, decision.site)])
    except (Unseen, RuleFailure):
        return False


def _is_foreseen(earlier: Game, later: Game, made: Choice, seat: int) -> bool:
    sight, machine, ask = later.table.sight, later.machine, made.option.ask
    run = veiled(sight, earlier.state, made.frame, seat)
    if made.actor != seat:
        others = veiled(sight, earlier.state, made.frame, made.actor)
        if ask.is_closed or not _is_known(_whole(run), _whole(others)):
            return False
    number = next(n for n, option in enumerate(machine.asks[made.frame[0]].options) if option is made.option)
    masks = made.seen[len(made.context) :]
    values = tuple(v if may_see(mask, seat) else Secret() for v, mask in zip(made.values, masks, strict=True))
    return _reaches_a_decision(machine, run, (number, values)) and _shows(run, later, seat)


def _shows(run: State, later: Game, seat: int) -> bool:
    """Return whether a seat sees nothing in a game that it does not know from a run of the rules in its foresight."""
    sight, machine = later.table.sight, later.machine
    events = (event.values for record in run.log if isinstance(event := read(record), Event))
    if reveals(run.log) or not all(map(_is_open, events)):
        return False
    after = veiled(sight, later.state, later.state.frame, seat)
    for word in ("pending", "kept"):  # nobody sees which standing rules and delayed blocks wait
        after.cells[machine.constants.layout.base[word]] = Secret()
    asked = later.decision, later.decision_of(seat)
    return _is_known(_whole(run), _whole(after)) and all(_is_open_question(run, sight, each, seat) for each in asked)


def _reaches_a_decision(machine: Machine, run: State, code: Code) -> bool:
    """Make a choice; return False if it needs something hidden before the next decision."""
    frame = run.frame
    try:
        machine.take(run, Undrawn(), *code)
    except (Unseen, RuleFailure) as stop:  # that a decision has options is no news, though only its seat knows them
        return isinstance(stop, Unseen) and run.frame is not frame
    return True


def _is_open_question(run: State, sight: Sight, decision: Decision | None, seat: int) -> bool:
    """Return whether a decision shows nothing hidden from the seat: who is asked, the context and the own options."""
    if decision is None:
        return True
    frame, site = frame_known(sight, decision.frame, seat), decision.site
    assert frame is not None
    env = list(frame[1])
    try:
        shown = [site.seat(run, env), *(value(run, env) for _, value in site.context)]
    except (Unseen, RuleFailure):
        return False
    return _is_open(shown) and (decision.actor != seat or _is_shown(sight, run, env, decision))


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
