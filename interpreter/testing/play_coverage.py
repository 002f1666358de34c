"""Coverage by play: rules that bots exercise at all tables of some rulesets, and scenarios for the rest.

A game is played by its bots at full speed, and its choices are made again in a copy of the ruleset that is watched
(:mod:`interpreter.testing.instrumentation`). Game number i has the seed i and is played at table i, at the first again
after the last, so that so many games are always the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from interpreter.base.cycles import no_search
from interpreter.base.plain_data import Json
from interpreter.bots.player import Bot
from interpreter.bots.registry import RANDOM, bots_of, default_bots
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.ruleset import Ruleset
from interpreter.play.match import Match
from interpreter.testing.instrumentation import is_watched, key_of, watched
from interpreter.testing.running import run_scenario
from interpreter.testing.suite import Suite

__all__ = ["Reached", "reached"]

MOST_SEATS = 3
"""So many seats are tried of a role that has as many as a setting says."""


@dataclass(frozen=True)
class Reached:
    """Of all that cites a rulebook and comes into play or does not, what did.

    ``shown`` is what play did not reach, with the scenarios that do; ``left`` what nothing reaches.
    """

    rulebook: str
    games: int
    tables: int
    played: tuple[Citation, ...]
    shown: tuple[tuple[Citation, str], ...]
    left: tuple[Citation, ...]


@dataclass(frozen=True)
class _Form:
    """A ruleset with its overlays, the same one watched, and what of it cites the rulebook, by what it is noted by."""

    ruleset: Ruleset
    copy: Ruleset
    cited: dict[str, Citation]


@dataclass(frozen=True)
class _Table:
    """Table for coverage games: number of players, settings and bots."""

    form: _Form
    settings: Mapping[str, object]
    bots: Sequence[Bot] = field(repr=False)

    def play(self, seed: int) -> None:
        """A game to its end, and again where it is watched."""
        try:
            match = Match(self.form.ruleset, self.bots, seed, self.settings)
            match.play()
            game = self.form.copy.new_game(len(self.bots), seed, self.settings)
            game.machine.plain = True
            for by, choice in match.game.choices:
                game.apply(choice, by)
            assert game.result == match.game.result
        except RuleFailure as failure:
            failure.message += f" (in a game of `{self.form.ruleset.id}` with seed {seed})"
            raise


def reached(
    rulebook: str,
    rulesets: Iterable[Ruleset],
    suite: Suite,
    games: int,
    counted: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> Reached:
    """Return the parts of a rulebook that so many games exercise.

    Raises :class:`RuleFailure` for a game that fails.
    """
    found: set[str] = set()
    forms = [_form(form, rulebook, found) for ruleset in rulesets for form in suite.forms(ruleset)]
    forms = [form for form in forms if form.cited]
    tables = [table for form in forms for table in _tables(form)]
    with no_search():
        for number in counted(range(games)) if tables else ():
            tables[number % len(tables)].play(number)
    cited = {key: citation for form in forms for key, citation in form.cited.items()}
    played = cited.keys() & found
    shown = _shown(forms, cited.keys() - played, suite, found)
    return Reached(
        rulebook,
        games,
        len(tables),
        tuple(citation for key, citation in cited.items() if key in played),
        tuple((citation, shown[key]) for key, citation in cited.items() if key in shown),
        tuple(citation for key, citation in cited.items() if key not in played and key not in shown),
    )


def _form(ruleset: Ruleset, rulebook: str, found: set[str]) -> _Form:
    own = {id for id, statement in ruleset.statements.items() if statement.book == rulebook}
    cited: dict[str, Citation] = {}
    if rulebook in ruleset.composition.rulebooks:
        for citation in citations_of(ruleset):
            if own & set(citation.cites) and is_watched(citation, ruleset.model):
                cited[key_of(citation)] = citation
    return _Form(ruleset, watched(ruleset, cited.values(), found), cited)


def _tables(form: _Form) -> Iterator[_Table]:
    """Every number of people for which the form is what they play, with every bot and number of other seats."""
    ruleset = form.ruleset
    for players in range(ruleset.players.low, ruleset.players.high + 1):
        if ruleset.for_players(players) is not ruleset:
            continue
        for settings in _settings(ruleset):
            try:
                form.copy.new_game(players, settings=settings)
            except ValueError:  # not with so many
                continue
            for name in dict.fromkeys((RANDOM, default_bots(ruleset))):
                yield _Table(form, settings, bots_of(name, ruleset, players))


def _settings(ruleset: Ruleset) -> Iterator[dict[str, Json]]:
    """Return the settings to play: none, and each number of seats that a setting counts."""
    yield {}
    for role in ruleset.model.roles.values():
        if role.setting is not None:
            for number in range(2, MOST_SEATS + 1):
                yield {role.setting: number}


def _shown(forms: Iterable[_Form], missing: set[str], suite: Suite, found: set[str]) -> dict[str, str]:
    """Return the missing parts that a scenario exercises, with the first such scenario."""
    shown: dict[str, str] = {}
    for form in forms:
        for checked in suite.bound(form.ruleset):
            if not missing & form.cited.keys() - shown.keys():
                break
            found.clear()
            run_scenario(checked, form.copy)
            shown.update((key, checked.scenario.id) for key in missing & found - shown.keys())
    return shown
