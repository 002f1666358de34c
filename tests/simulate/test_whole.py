"""Games that a module plays whole: rows, measures and summaries as of the plain form, which takes measures from the
log."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from interpreter.bots.player import Stream
from interpreter.bots.registry import bots_of
from interpreter.compare.counterfactual import changes_of, continuations, forked
from interpreter.compiler.wasm import driver as layout
from interpreter.compiler.wasm.whole_games import Games
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.simulate.measurements import Packed
from interpreter.simulate.simulation import Row, WholeGames, finished, simulate
from interpreter.simulate.summary import Summary, summary, summed_up
from interpreter.simulate.totals import Totals, totalled
from interpreter.simulate.workers import Plan, Sums, processes, shared
from tests.small import FAMILY, loaded, write


def rows_of(
    ruleset: Ruleset, bots: str, games: int, *, plain: bool, players: int, settings: dict[str, Any] | None = None
) -> list[Row]:
    ruleset = ruleset.for_players(players)
    runner = ruleset.table(players, ruleset.settings(settings or {})).runner
    runner.plain, runner.patience = plain, 0
    try:
        return list(simulate(ruleset, bots_of(bots, ruleset, players), games, 5, settings))
    finally:
        runner.plain = False


def same(rows: Sequence[Row], others: Sequence[Row]) -> None:
    assert [row.as_dict() for row in rows] == [row.as_dict() for row in others]


def told(ruleset: Ruleset, bots: str, rows: Sequence[Row]) -> dict[str, Any]:
    return without_time(summary(ruleset, bots.split(","), rows))


def without_time(found: Summary) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "processor_seconds"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "overlays", "bots", "players", "games"),
    [
        ("germany-2018", (), "bench", 4, 3),
        ("germany-2018", (), "sensible,random", 2, 3),
        ("germany-2004", ("robots",), "bench", 3, 3),
        ("outpost", (), "greedy,random", 3, 3),
        ("goofspiel", (), "random", 3, 20),
    ],
)
def test_rows_are_those_of_the_plain_form(
    name: str, overlays: tuple[str, ...], bots: str, players: int, games: int
) -> None:
    ruleset = load(name, overlays)
    found = rows_of(ruleset, bots, games, plain=False, players=players)
    same(found, rows_of(ruleset, bots, games, plain=True, players=players))
    assert any(isinstance(row.taken, Packed) for row in found)


MEASURES = """\
measures:
  at_start: {value: amount, when: start of game}
  by_round: {each: who, value: who.score, when: [end of round, end of game]}
  round_began: {value: round, when: [start of round, start of act]}
  acts_ended: {value: amount, when: end of act}
  turn_begins: {each: who, value: who.score == amount, when: start of round}
  turn_ends: {each: who, value: who.score > amount, when: end of act}
  ends_alone: {value: count(row), when: end of round}
  some: {for: "number in row where number > 1", value: number * 2, when: end of round}
  pairs: {each: who, for: "number in 1 .. round", value: "round if number > 2 else none", when: end of game}
  heard: {on: "said(number) where number > 1", by: [number], value: amount}
  of_seat: {on: "drew(who, plan, colour)", by: [who, colour], value: "number_of(plan) - 1", sums: yes}
  of_card: {on: "drew(who, plan, colour)", by: [plan], value: "who.money > 3"}
  for_each: {on: "drew(who, plan, colour)", for: "town in town where town.colour == colour", value: count(who.hand)}
  nothing: {on: "said(number) where number > 99", value: number}
"""
ACT = """\
(): let order = [who in seats where who.counts]
for each turn who in seats:
  choose go by who:
    draw plan in deck:
      move plan to who.hand
      note drew(who, plan, red)
      who.score += plan.number
      note said(plan.number)
    rest:
      note drew(who, none, blue)
      amount = amount + 1
      if amount > 9 + round:
        end game
row = row + [amount]
if round > 3 and amount > 4:
  end game
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    return small_game(tmp_path_factory.mktemp("measured"))


def small_game(path: Path) -> Ruleset:
    """A small game with measures of every kind."""
    events = "  drew: {with: {who: seat, plan: plan?, colour: colour}, says: '{who}'}\n"
    family = FAMILY.replace("round: [act]\n", f"{events}round: [act]\n")
    act = ACT.partition("\n")[2]
    rules = "number_of(drawn) -> int: {is: 'drawn.number if drawn != none else 0'}\n"
    return loaded(write(path, act=act, rules=rules, sections=MEASURES, family=family))


@pytest.mark.parametrize("players", [2, 3])
def test_measures_of_every_kind(measured: Ruleset, players: int) -> None:
    found = rows_of(measured, "random", 30, plain=False, players=players)
    plain = rows_of(measured, "random", 30, plain=True, players=players)
    same(found, plain)
    assert all(isinstance(row.taken, Packed) for row in found)
    taken = {name for row in found for name, numbers in row.taken.items() if numbers}
    assert {measure.name for measure in measured.model.measures} - taken == {"nothing"}
    assert any(number.value is None for row in found for number in row.taken["pairs"])
    bots = ",".join(["random"] * players)
    assert told(measured, bots, found) == told(measured, bots, plain)


def test_a_game_that_the_module_gives_up_is_the_same(measured: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    known = rows_of(measured, "random", 12, plain=True, players=2)
    games = WholeGames.games

    def up_to_every_third(self: WholeGames, seeds: Sequence[int], *how: Any) -> Games | None:
        played = list(takewhile(lambda seed: seed % 3, seeds))
        return games(self, played, *how) if played else None

    monkeypatch.setattr(WholeGames, "games", up_to_every_third)
    found = rows_of(measured, "random", 12, plain=False, players=2)
    same(found, known)
    assert [isinstance(row.taken, Packed) for row in found] == [row.seed % 3 != 0 for row in found]
    assert totals_of(measured, "random", 12) == told(measured, "random,random", known)


def totals_of(ruleset: Ruleset, bots: str, games: int) -> dict[str, Any]:
    """The summary of the same games for two, of which nobody keeps the rows."""
    ruleset = ruleset.for_players(2)
    ruleset.table(2, ruleset.settings({})).runner.patience = 0
    totals = Totals()
    for part in totalled(WholeGames(ruleset, bots_of(bots, ruleset, 2)), range(5, 5 + games)):
        totals += part
    return without_time(summed_up(ruleset, [bots] * 2, totals))


@pytest.mark.parametrize("room", [100, 400, layout.MOST_KNOWN])
def test_sums_are_those_of_the_rows(
    measured: Ruleset, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether there is room in the module for those of no game, of some, or of all."""
    monkeypatch.setattr(layout, "MOST_KNOWN", room)
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    rows = rows_of(measured, "random", 60, plain=False, players=2)
    assert totals_of(small_game(tmp_path), "random", 60) == told(measured, "random,random", rows)


def test_a_summary_is_the_same_whoever_counts() -> None:
    ruleset = load("germany-2018")
    rows = rows_of(ruleset, "bench", 30, plain=False, players=4)
    unpacked = [replace(row, taken=dict(row.taken)) for row in rows]
    bots = "bench,bench,bench,bench"
    assert told(ruleset, bots, rows) == told(ruleset, bots, unpacked)


@pytest.mark.slow
def test_workers_play_whole_games_too() -> None:
    ruleset = load("germany-2018").for_players(3)
    plan = Plan("germany-2018", (), ruleset.digest, 3, "bench,random,bench")
    found = [row for rows in shared(plan, ruleset, range(5, 35), processes(2)) for row in finished(rows)]
    alone = rows_of(ruleset, plan.bots, 30, plain=False, players=3)
    same(sorted(found, key=lambda row: row.seed), alone)
    totals = Totals()
    for parts in shared(Sums(plan), ruleset, range(5, 35), processes(2)):
        for part in parts:
            totals += part
    data = summed_up(ruleset, plan.bots.split(","), totals)
    assert without_time(data) == told(ruleset, plan.bots, alone)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bots", "choices"), [("germany-2018", "bench", 160), ("goofspiel", "random", 9)])
def test_a_search_chooses_the_same_in_both_forms(name: str, bots: str, choices: int) -> None:
    ruleset = load(name).for_players(3)
    runner = ruleset.table(3, ruleset.settings({})).runner
    found: list[list[str]] = []
    for plain in (False, True):
        runner.plain, runner.patience = plain, 0
        match = Match(ruleset, bots_of(bots, ruleset, 3), 4)
        for _ in range(choices):
            match.step()
        found.append([searched(match.game, seed) for seed in range(3)])
        runner.plain = False
    assert found[0] == found[1]


def searched(game: Game, seed: int) -> str:
    """What a search chooses, and how often it drew."""
    assert game.decision is not None
    random = Stream(seed, "test")
    choice = bots_of("search:40", game.ruleset, 3)[0].choose(game, game.decision, random)
    return f"{choice} {random.used}"


@pytest.mark.parametrize("changes", [["draw plan=1"], []])
def test_continuations_are_the_same_in_both_forms(measured: Ruleset, changes: list[str]) -> None:
    runner = measured.table(2, measured.settings({})).runner
    found = []
    for plain in (False, True):
        runner.plain, runner.patience = plain, 0
        game = measured.new_game(2, seed=2)
        fork = forked(game, changes_of(game, changes), {"do": "rest"} if changes else None)
        pairs = finished(continuations(fork, lambda ruleset: bots_of("random", ruleset, 2), range(6)))
        found.append([(one.as_dict(), other.as_dict()) for one, other in pairs])
        runner.plain = False
    assert found[0] == found[1]
