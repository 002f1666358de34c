"""What a seat could foresee: whether choices, made in its foresight, lead to what it sees of the game.

The result depends on visible things alone, so it tells nothing hidden itself.
"""

from __future__ import annotations

from copy import copy

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, is_choice, read, reveals
from interpreter.hidden.foresight import Secret, Undrawn, frame_known, veiled
from interpreter.hidden.sight import Sight, Unseen, Veil, may_see
from interpreter.kernel.state import State, Value
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import Code, Machine

__all__ = ["foresees"]


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
    values = tuple(v if may_see(mask, seat) else Secret() for v, mask in zip(made.values, masks, strict=True))
    if not _reaches_a_decision(machine, run, (number, values)):
        return False
    events = (event.values for record in run.log if isinstance(event := read(record), Event))
    if reveals(run.log) or not all(map(_is_open, events)):
        return False
    after = veiled(sight, later.state, later.state.frame, seat)
    for word in ("pending", "kept"):  # nobody sees which standing rules and delayed blocks wait
        after.cells[machine.constants.layout.base[word]] = Secret()
    return _is_known(_whole(run), _whole(after)) and all(
        _is_open_question(run, sight, decision, seat) for decision in (later.decision, later.decision_of(seat))
    )


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
