"""Places where a scenario can start: the phases of a game that was played, with given facts that lead there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.base.stepwise import Steps
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State
from interpreter.lowering.constants import RuleFailure
from interpreter.testing.recording import Choices, Recording, Written, file_with, read_text
from interpreter.testing.running import begun, run_scenario
from interpreter.testing.scenarios import Checked, check_scenario
from interpreter.testing.state_text import lines_to

__all__ = ["Phases", "bound", "later_starts", "phases_of", "shortest"]

KEPT = 8
"""Number of phase starts that are kept, the latest ones."""
SEEDS = 4
"""Number of other seeds tried if a game starts at a later phase, where its random outcomes start anew."""


class Moment(Struct, frozen=True):
    """Snapshot of the start of a phase. ``made`` is the number of choices before it."""

    made: int
    phase: str
    round: int
    state: State


class Phases(Struct, frozen=True):
    """The starts of the last phases of a game, and the number of choices of its set-up."""

    moments: tuple[Moment, ...]
    set_up: int


def phases_of(game: Game, choices: Choices) -> Phases:
    """Repeat choices of a game in the plain form, up to one that fails."""
    layout, names = game.machine.constants.layout, game.ruleset.model.phases
    moments: list[Moment] = []
    made, set_up = 0, 0

    def on_mark(state: State, word: str) -> None:
        nonlocal set_up
        number, begun = state.cells[layout.base["round"]], word.partition("start of ")[2]
        if begun == "round" and number == 1:
            set_up = made
        if begun in names:
            moments.append(Moment(made, begun, number, state.clone()))
            del moments[:-KEPT]

    again = Game.seated(game.ruleset, game.table, game.origin["seed"], None)
    listen(again.state, on_mark)
    with suppress(RuleFailure, IllegalMove):
        again.start()
        for by, choice in choices:
            made += 1
            again.apply(choice, by)
    return Phases(tuple(moments), set_up)


def later_starts(whole: Written, phases: Phases, ruleset: Ruleset, choices: Choices) -> Iterator[Written]:
    """Yield a scenario of a whole game with ``choices`` as one that starts at a later phase, at the latest first."""
    set_up = choices[: phases.set_up]
    first = _after_set_up(whole, set_up, ruleset)
    for moment in reversed(phases.moments if first is not None else ()):
        assert first is not None
        then = first.clone()
        then.state.cells = moment.state.cells
        given, after = tuple(lines_to(first, then)), (*set_up, *choices[moment.made :])
        late = replace(whole, given=given, phase=moment.phase, round=max(1, moment.round), choices=after)
        for seed in dict.fromkeys((whole.seed, *(() if set_up else range(SEEDS)))):
            yield replace(late, seed=seed)


def _after_set_up(draft: Written, choices: Choices, ruleset: Ruleset) -> Game | None:
    """Return the game after its set-up; None if the set-up cannot be replayed."""
    checked = bound(replace(draft, choices=(), then=(), sound=None), ruleset)
    if checked is None:
        return None
    try:
        game = begun(checked, ruleset)
        for by, choice in choices:
            game.apply(choice, by)
    except (IllegalMove, RuleFailure, RulesetError, ValueError):
        return None
    return game


def shortest(recording: Recording, number: int) -> Steps[Written]:
    """Return the scenario of the last moves of a game: one that starts at a phase before them, as late as it passes
    there, else one of the whole game. Each attempt is a step."""
    ruleset, whole = recording.game.ruleset, recording.written()
    before = whole.choices[: len(whole.choices) - number]
    for late in later_starts(whole, phases_of(recording.game, before), ruleset, whole.choices):
        yield
        checked = bound(late, ruleset)
        if checked is not None and run_scenario(checked).passed:
            return late
    return whole


def bound(draft: Written, ruleset: Ruleset) -> Checked | None:
    """Return a scenario bound to a ruleset; None if it has errors."""
    try:
        scenarios = read_text(file_with("", "found/trouble", draft.text("draft")), Path("scenario"))
    except RulesetError:
        return None
    return check_scenario(scenarios[0], ruleset)[0]
