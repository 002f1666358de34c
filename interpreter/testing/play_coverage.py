"""Coverage by play: rules that bots exercise at all tables of some rulesets, and scenarios for the rest.

The bots play each game at full speed; its choices are then replayed in an instrumented copy of the ruleset
(:mod:`interpreter.testing.instrumentation`). Game i has seed i and table i modulo the number of tables, so the same
number of games always means the same games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.base.plain_data import Json
from interpreter.bots.player import Bot
from interpreter.bots.registry import RANDOM, bots_of, default_bots
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.game import Ruleset
from interpreter.lowering.constants import Endless, RuleFailure
from interpreter.play.match import Match
from interpreter.simulate.simulation import Unfinished
from interpreter.testing.instrumentation import is_watched, key_of, watched
from interpreter.testing.running import run_scenario
from interpreter.testing.suite import Suite

__all__ = ["Reached", "reached"]

MOST_SEATS = 3
"""Largest number of seats tried for a role whose number of seats is a setting."""


class Reached(Struct, frozen=True):
    """Watched parts that cite a rulebook: ``played`` were exercised in games, ``shown`` only by a scenario (with its
    id), ``left`` by neither. ``unfinished`` games do not end and count for nothing."""

    rulebook: str
    games: int
    tables: int
    played: tuple[Citation, ...]
    shown: tuple[tuple[Citation, str], ...]
    left: tuple[Citation, ...]
    unfinished: tuple[Unfinished, ...]


class _Form(Struct, frozen=True):
    """A ruleset with its overlays, its instrumented copy, and its citations of the rulebook by recording key."""

    ruleset: Ruleset
    copy: Ruleset
    cited: dict[str, Citation]


class _Table(Struct, frozen=True):
    """Table for coverage games: number of players, settings and bots."""

    form: _Form
    settings: Mapping[str, object]
    bots: Sequence[Bot]

    def play(self, seed: int) -> Unfinished | None:
        """Play a game and replay it in the instrumented copy. Return what is known of a game that does not end."""
        try:
            match = Match(self.form.ruleset, self.bots, seed, self.settings)
            match.play()
            game = self.form.copy.new_game(len(self.bots), seed, self.settings)
            game.runner.plain = True
            for by, choice in match.game.choices:
                game.apply(choice, by)
            assert game.result == match.game.result
        except Endless as endless:
            return Unfinished.of(self.form.ruleset, seed, endless)
        except RuleFailure as failure:
            failure.message += f" (in a game of `{self.form.ruleset.id}` with seed {seed})"
            raise
        return None


def reached(
    rulebook: str,
    rulesets: Iterable[Ruleset],
    suite: Suite,
    games: int,
    counted: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> Reached:
    """Play ``games`` games and return the parts that they exercise. Raises :class:`RuleFailure` if a rule fails."""
    recorded: set[str] = set()
    forms = [_form(form, rulebook, recorded) for ruleset in rulesets for form in suite.forms(ruleset)]
    forms = [form for form in forms if form.cited]
    tables = [table for form in forms for table in _tables(form)]
    with no_search():
        numbers = counted(range(games)) if tables else ()
        tried = [tables[number % len(tables)].play(number) for number in numbers]
    cited = {key: citation for form in forms for key, citation in form.cited.items()}
    played = cited.keys() & recorded
    shown = _shown(forms, cited.keys() - played, suite, recorded)
    return Reached(
        rulebook,
        games,
        len(tables),
        tuple(citation for key, citation in cited.items() if key in played),
        tuple((citation, shown[key]) for key, citation in cited.items() if key in shown),
        tuple(citation for key, citation in cited.items() if key not in played and key not in shown),
        tuple(filter(None, tried)),
    )


def _form(ruleset: Ruleset, rulebook: str, recorded: set[str]) -> _Form:
    own = {id for id, statement in ruleset.statements.items() if statement.book == rulebook}
    citations = citations_of(ruleset) if rulebook in ruleset.composition.rulebooks else ()
    cited = {
        key_of(citation): citation
        for citation in citations
        if not own.isdisjoint(citation.cites) and is_watched(citation, ruleset.model)
    }
    return _Form(ruleset, watched(ruleset, cited.values(), recorded), cited)


def _tables(form: _Form) -> Iterator[_Table]:
    """Yield a table for every number of players of this form, with every bot and every number of other seats."""
    ruleset = form.ruleset
    for players in range(ruleset.players.low, ruleset.players.high + 1):
        if ruleset.for_players(players) is not ruleset:
            continue
        for settings in _settings(ruleset):
            try:
                form.copy.new_game(players, settings=settings)
            except ValueError:  # this number of seats is refused
                continue
            for name in dict.fromkeys((RANDOM, default_bots(ruleset))):
                yield _Table(form, settings, bots_of(name, ruleset, players))


def _settings(ruleset: Ruleset) -> Iterator[dict[str, Json]]:
    """Yield the settings to play: the defaults, then each number of seats of a role that a setting counts."""
    yield {}
    for setting in (role.setting for role in ruleset.model.roles.values() if role.setting is not None):
        for number in range(2, MOST_SEATS + 1):
            yield {setting: number}


def _shown(forms: Iterable[_Form], missing: set[str], suite: Suite, recorded: set[str]) -> dict[str, str]:
    """Return the missing parts that a scenario exercises, each with the first such scenario."""
    shown: dict[str, str] = {}
    for form in forms:
        for checked in suite.bound(form.ruleset):
            if not missing & form.cited.keys() - shown.keys():
                break
            recorded.clear()
            run_scenario(checked, form.copy)
            shown.update((key, checked.scenario.id) for key in missing & recorded - shown.keys())
    return shown
