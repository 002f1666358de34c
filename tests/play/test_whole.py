"""Games that a module plays whole: rows, measures and summaries as of the plain form, which takes measures from the
log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interpreter.compiler.wasm.whole import Whole
from interpreter.engine.game import Game
from interpreter.engine.ruleset import Ruleset, load
from interpreter.play.bots.base import Stream
from interpreter.play.bots.named import bots_of
from interpreter.play.jobs import Plan, processes, simulated
from interpreter.play.match import Match
from interpreter.play.measures import Packed
from interpreter.play.simulate import Row, simulate
from interpreter.play.summary import summary
from interpreter.play.whatif import changes_of, continuations, forked
from tests.small import FAMILY, loaded, write


def rows_of(
    ruleset: Ruleset, bots: str, games: int, *, plain: bool, players: int, settings: dict[str, Any] | None = None
) -> list[Row]:
    ruleset = ruleset.for_players(players)
    machine = ruleset.table(players, ruleset.settings(settings or {})).machine
    machine.plain, machine.patience = plain, 0
    try:
        return list(simulate(ruleset, bots_of(bots, ruleset, players), games, 5, settings))
    finally:
        machine.plain = False


def same(rows: Sequence[Row], others: Sequence[Row]) -> None:
    assert [row.as_dict() for row in rows] == [row.as_dict() for row in others]


def told(ruleset: Ruleset, bots: str, rows: Sequence[Row]) -> dict[str, Any]:
    found = summary(ruleset, bots.split(","), rows)
    del found["processor_seconds"]
    return found


@pytest.mark.parametrize(
    ("name", "overlays", "bots", "players", "games"),
    [
        ("germany-2018", (), "bench", 4, 4),
        ("germany-2018", (), "bench,random,sensible", 3, 3),
        ("germany-2004", ("robots",), "bench", 3, 3),
        ("outpost", (), "random", 4, 3),
        ("goofspiel", (), "random", 3, 20),
    ],
)
def test_rows_are_those_of_the_plain_form(
    name: str, overlays: tuple[str, ...], bots: str, players: int, games: int
) -> None:
    ruleset = load(name, overlays)
    whole = rows_of(ruleset, bots, games, plain=False, players=players)
    same(whole, rows_of(ruleset, bots, games, plain=True, players=players))
    assert any(isinstance(row.taken, Packed) for row in whole)


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
    """A small game with measures of every kind."""
    events = "  drew: {with: {who: seat, plan: plan?, colour: colour}, says: '{who}'}\n"
    family = FAMILY.replace("round: [act]\n", f"{events}round: [act]\n")
    act = ACT.partition("\n")[2]
    path: Path = tmp_path_factory.mktemp("measured")
    rules = "number_of: {is: '(plan: plan?) -> int: plan.number if plan != none else 0'}\n"
    return loaded(write(path, act=act, rules=rules, sections=MEASURES, family=family))


@pytest.mark.parametrize("players", [2, 3])
def test_measures_of_every_kind(measured: Ruleset, players: int) -> None:
    whole = rows_of(measured, "random", 30, plain=False, players=players)
    plain = rows_of(measured, "random", 30, plain=True, players=players)
    same(whole, plain)
    assert all(isinstance(row.taken, Packed) for row in whole)
    taken = {name for row in whole for name, numbers in row.taken.items() if numbers}
    assert {measure.name for measure in measured.model.measures} - taken == {"nothing"}
    assert any(number.value is None for row in whole for number in row.taken["pairs"])
    bots = ",".join(["random"] * players)
    assert told(measured, bots, whole) == told(measured, bots, plain)


def test_a_game_that_the_module_gives_up_is_the_same(measured: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    known = rows_of(measured, "random", 12, plain=True, players=2)
    game = Whole.game
    monkeypatch.setattr(Whole, "game", lambda self, seed, *how: game(self, seed, *how) if seed % 3 else None)
    found = rows_of(measured, "random", 12, plain=False, players=2)
    same(found, known)
    assert [isinstance(row.taken, Packed) for row in found] == [row.seed % 3 != 0 for row in found]


def test_a_summary_is_the_same_whoever_counts() -> None:
    ruleset = load("germany-2018")
    rows = rows_of(ruleset, "bench", 30, plain=False, players=4)
    unpacked = [replace(row, taken=dict(row.taken)) for row in rows]
    mixed = [*rows[:10], *unpacked[10:]]
    bots = "bench,bench,bench,bench"
    assert told(ruleset, bots, rows) == told(ruleset, bots, unpacked) == told(ruleset, bots, mixed)


def test_workers_play_whole_games_too() -> None:
    ruleset = load("germany-2018").for_players(3)
    plan = Plan("germany-2018", (), ruleset.digest, 3, "bench,random,bench")
    found = [row for rows in simulated(plan, ruleset, range(5, 35), processes(2)) for row in rows]
    alone = rows_of(ruleset, plan.bots, 30, plain=False, players=3)
    same(sorted(found, key=lambda row: row.seed), alone)


@pytest.mark.parametrize(("name", "bots", "choices"), [("germany-2018", "bench", 160), ("goofspiel", "random", 9)])
def test_a_search_chooses_the_same_in_both_forms(name: str, bots: str, choices: int) -> None:
    ruleset = load(name).for_players(3)
    machine = ruleset.table(3, ruleset.settings({})).machine
    found: list[list[str]] = []
    for plain in (False, True):
        machine.plain, machine.patience = plain, 0
        match = Match(ruleset, bots_of(bots, ruleset, 3), 4)
        for _ in range(choices):
            match.step()
        found.append([searched(match.game, seed) for seed in range(3)])
        machine.plain = False
    assert found[0] == found[1]


def searched(game: Game, seed: int) -> str:
    """What a search chooses, and how often it drew."""
    assert game.decision is not None
    random = Stream(seed, "test")
    choice = bots_of("search:40", game.ruleset, 3)[0].choose(game, game.decision, random)
    return f"{choice} {random.used}"


@pytest.mark.parametrize("changes", [["draw plan=1"], []])
def test_continuations_are_the_same_in_both_forms(measured: Ruleset, changes: list[str]) -> None:
    machine = measured.table(2, measured.settings({})).machine
    found = []
    for plain in (False, True):
        machine.plain, machine.patience = plain, 0
        game = measured.new_game(2, seed=2)
        fork = forked(game, changes_of(game, changes), {"do": "rest"} if changes else None)
        pairs = list(continuations(fork, lambda ruleset: bots_of("random", ruleset, 2), range(6)))
        found.append([(one.as_dict(), other.as_dict()) for one, other in pairs])
        machine.plain = False
    assert found[0] == found[1]
