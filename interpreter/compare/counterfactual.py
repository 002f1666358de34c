"""Counterfactual games: fork a saved game at a decision, change something and let bots play on.

Both branches have the same seeds and the same bots, so differences come from the change. Hidden information at the
fork, such as the order of a stack, is the same in all continuations; later draws and shuffles differ from the saved
game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from statistics import fmean
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from interpreter.base.plain_data import Json, Value
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Bot
from interpreter.compare.variation import Cell, Unlike, going_on, varied
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import legal_choice
from interpreter.lowering.constants import Endless
from interpreter.play.keyboard import understood
from interpreter.play.match import Match
from interpreter.simulate.confidence import mean_interval
from interpreter.simulate.simulation import Row, Unfinished, WholeGames
from interpreter.simulate.totals import by_round, final

__all__ = ["Changes", "Fork", "UnknownChange", "at_once", "changes_of", "compared", "continuations", "forked"]

_CELL = re.compile(r"(\w+)\[([^\]]+)\]\s*=\s*(.*)")
_SETTING = re.compile(r"(\w+)\s*=\s*(\S.*)")

K = TypeVar("K")
Pair = tuple[Row, Row]
"""One continuation: unchanged and changed."""


class Changes(Struct):
    """Changes at the fork: overlays, table cells, settings, and the choice."""

    overlays: list[str] = []
    cells: list[Cell] = []
    settings: dict[str, str] = {}
    choice: dict[str, Json] | None = None


class Difference(Struct, frozen=True):
    """Means over the continuations with a value in both branches, and their difference with its interval. Those of a
    measure say ``of`` which thing, those of a curve also in which round."""

    of: list[Value] | UnsetType = UNSET
    round: int | UnsetType = UNSET
    games: int = 0
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None


class AtOnce(Struct, frozen=True):
    """States right after the fork: numbers of options, and the parts of the view that differ, as data."""

    options: list[int]
    state: list[dict[str, Json]]


class Compared(Struct, frozen=True):
    """Comparison of both branches."""

    rounds: Difference
    decisions: Difference
    share: list[Difference]
    other_winner: int
    measures: dict[str, list[Difference]] = {}
    curves: dict[str, list[Difference]] = {}


class Fork(Struct, frozen=True):
    """A game at a decision, and the changed game. ``kept`` is the original choice, ``instead`` the one of the changed
    game; None if bots choose in both. ``other`` is the game as it had been with the overlays from its beginning, if
    they cannot join it; ``why`` says why."""

    game: Game
    ruleset: Ruleset
    settings: dict[str, str]
    kept: dict[str, Json] | None = None
    instead: dict[str, Json] | None = None
    other: Game | None = None
    why: str = ""

    def begin(self, seed: int) -> tuple[Game, Game]:
        """Return both games after the choices of the fork."""
        before, after = going_on(self.game, self.game.ruleset, {}, seed), self.changed(seed)
        for game, choice in ((before, self.kept), (after, self.instead)):
            if choice is not None:
                game.apply(choice)
        return before, after

    def changed(self, seed: int) -> Game:
        return going_on(self.other or self.game, self.ruleset, self.settings, seed)


class UnknownChange(ValueError):
    """Raised for text that names nothing that can be changed."""


def changes_of(game: Game, texts: Sequence[str], overlays: Collection[str] = ()) -> Changes:
    """Parse changes: an overlay (its path, or one of these), `table[keys]=value`, `setting=value`, or a choice. Raises
    :class:`ValueError` for other text."""
    changes, model = Changes(), game.ruleset.model
    offered = [option.name for option in game.decision.site.options] if game.decision is not None else []
    for text in texts:
        if text.endswith((".yaml", ".yml")) or (text in overlays and text not in offered):
            changes.overlays.append(text)
        elif cell := _CELL.fullmatch(text.strip()):
            if cell[1] not in model.tables:
                raise UnknownChange(f"unknown table `{cell[1]}`{did_you_mean(cell[1], model.tables)}")
            changes.cells.append((cell[1], tuple(key.strip() for key in cell[2].split(",")), cell[3].strip()))
        elif (setting := _SETTING.fullmatch(text.strip())) and setting[1] not in model.tables:
            if not game.ruleset.has_setting(setting[1]):
                near = did_you_mean(setting[1], [*model.settings, *model.interpretations, *model.tables])
                raise UnknownChange(f"unknown setting `{setting[1]}`{near}")
            changes.settings[setting[1]] = setting[2].strip()
        elif unfinished := _unfinished(game, text):
            raise ValueError(unfinished)
        elif game.decision is None:
            raise ValueError("the game is over: no decision is pending")
        elif changes.choice is not None:
            raise ValueError("give only one choice for the decision")
        else:
            try:
                changes.choice = understood(game, game.decision, text)
            except ValueError as error:
                raise (ValueError if text.partition(" ")[0] in offered else UnknownChange)(error) from None
    return changes


def _unfinished(game: Game, text: str) -> str:
    """Return the error for a change that names only a table or setting; empty for others."""
    name = text.partition("=")[0].partition("[")[0].strip()
    decision, tables = game.decision, game.ruleset.model.tables
    if decision is not None and any(option.name == name for option in decision.site.options):
        return ""
    if name in tables:
        cell = f"`{name}[{', '.join(tables[name].keys)}]=VALUE`"
        return f"`{name}` is a table: give the cell and its value, {cell}"
    return f"`{name}` is a setting: give its value, `{name}=VALUE`" if game.ruleset.has_setting(name) else ""


def forked(
    game: Game,
    changes: Changes,
    kept: dict[str, Json] | None,
    rules: Ruleset | None = None,
    again: Callable[[Ruleset, str], Game] | None = None,
) -> Fork:
    """Return the fork. The original choice (``kept``) is only replayed if the changes include another one. ``rules``
    have the overlays of the changes. If a game in progress cannot continue with them, ``again`` gets the reason and
    plays the choices before the fork under them.

    Raises :class:`ValueError` and :class:`LookupError` for invalid changes, and :class:`IllegalMove` for a choice that
    the changed game refuses.
    """
    instead, rules = changes.choice, rules or game.ruleset
    fork = Fork(game, varied(rules, changes.cells), changes.settings, kept if instead is not None else None, instead)
    try:
        changed = fork.changed(0)
    except Unlike as unlike:
        if again is None:
            raise
        fork = replace(fork, other=again(rules, unlike.why), why=unlike.why)
        changed = fork.changed(0)
    if instead is not None:
        legal_choice(changed.table, changed.decision, instead)
    return fork


def continuations(
    fork: Fork, bots: Callable[[Ruleset], list[Bot]], seeds: Sequence[int], stopped: Callable[[], bool] = bool
) -> Iterator[Pair | Unfinished]:
    """Play both branches of the fork with each seed, until ``stopped`` returns True. If a branch does not end, yield it
    in place of the pair."""
    tables = [WholeGames(rules, bots(rules)) for rules in (fork.game.ruleset, fork.ruleset)]
    for seed in seeds:
        if stopped():
            return
        games = zip(fork.begin(seed), tables, strict=True)
        try:
            first, second = (whole.rest(game, seed) or _row(game, whole.bots, seed) for game, whole in games)
        except Endless as endless:
            yield Unfinished.of(fork.ruleset, seed, endless)
        else:
            yield first, second


def _row(game: Game, bots: Sequence[Bot], seed: int) -> Row:
    match = Match(game.ruleset, bots, seed, game=game)
    match.play()
    return Row.of(match, seed)


# --- differences


def at_once(fork: Fork) -> AtOnce:
    """Compare the states right after the fork: numbers of options, and parts of the view."""
    before, after = fork.begin(0)
    shown = dict(_flat("", before.view())), dict(_flat("", after.view()))
    paths = [path for path in {**shown[0], **shown[1]} if shown[0].get(path) != shown[1].get(path)]
    return AtOnce(
        [len(game.decision.options) if game.decision is not None else 0 for game in (before, after)],
        [{"path": path, "before": shown[0].get(path), "after": shown[1].get(path)} for path in paths],
    )


def _flat(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield each value of a view with its path. Lists of plain values count as one value."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(f"{path}.{name}" if path else str(name), part)
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for place, part in enumerate(value):
            yield from _flat(f"{path}[{place}]", part)
    else:
        yield path, value


def compared(ruleset: Ruleset, pairs: Sequence[Pair]) -> Compared:
    """Compare both branches: the means, difference and 95 % interval of each number."""
    seats = range(len(pairs[0][0].places)) if pairs else range(0)
    counted = [seat for seat in seats if pairs[0][0].places[seat]]
    comparison = Compared(
        _difference([(a.rounds, b.rounds) for a, b in pairs]),
        _difference([(a.decisions, b.decisions) for a, b in pairs]),
        [_difference([(a.share(seat), b.share(seat)) for a, b in pairs], 1.0) for seat in counted],
        sum(_winners(a) != _winners(b) for a, b in pairs),
    )
    for measure in ruleset.model.measures:
        if "end of game" in measure.when and measure.name != "rounds":
            ends = ((final(measure, a), final(measure, b)) for a, b in pairs)
            for of, ended in _differences(ends, str):
                if ended.games:
                    comparison.measures.setdefault(measure.name, []).append(replace(ended, of=list(of)))
        if measure.recurs:
            taken = ((a.taken[measure.name], b.taken[measure.name]) for a, b in pairs)
            rounds = ((by_round(measure, a), by_round(measure, b)) for a, b in taken)
            for (of, number), difference in _differences(rounds, lambda key: (str(key[0]), key[1])):
                if difference.games * 2 >= len(pairs):
                    in_round = replace(difference, of=list(of), round=number)
                    comparison.curves.setdefault(measure.name, []).append(in_round)
    return comparison


def _differences(
    games: Iterable[tuple[Mapping[K, int | None], Mapping[K, int | None]]], order: Callable[[K], Any]
) -> Iterator[tuple[K, Difference]]:
    """Yield the difference of each number that any game has."""
    both = list(games)
    for key in sorted({key for a, b in both for key in (*a, *b)}, key=order):
        yield key, _difference([(a.get(key), b.get(key)) for a, b in both])


def _winners(row: Row) -> list[int]:
    return [seat for seat, place in enumerate(row.places) if place == 1]


def _difference(values: Sequence[tuple[float | None, float | None]], most: float = inf) -> Difference:
    """Return a difference, with an interval clamped to what is possible."""
    both = [(a, b) for a, b in values if a is not None and b is not None]
    if not both:
        return Difference()
    differences = [b - a for a, b in both]
    low, high = mean_interval(differences) if len(both) > 1 else (None, None)
    return Difference(
        games=len(both),
        before=round(fmean(a for a, _ in both), 4),
        after=round(fmean(b for _, b in both), 4),
        difference=round(fmean(differences), 4),
        low=None if low is None else max(round(low, 4), -most),
        high=None if high is None else min(round(high, 4), most),
    )
