"""What measures take: at moments and events, as the game stood then, though they are read off its log at the end."""

from __future__ import annotations

import json
from statistics import stdev
from typing import Any

import pytest
from click.testing import CliRunner

from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.log_records import Event, read
from interpreter.engine.queries import value_of
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.simulate.confidence import interval_around, mean_interval, share_interval, student
from interpreter.simulate.measurements import Taken, taken
from interpreter.simulate.simulation import Row, simulate
from interpreter.simulate.summary import summary
from interpreter.simulate.totals import Spread, by_round, final
from tests.play.toy import ROOT


class Onlooker:
    """Writes down what measures should take, while the game is played."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, tuple[Any, ...], int]] = []
        self.pulled: list[tuple[int, tuple[Any, ...], int]] = []

    def moment(self, game: Game, word: str) -> None:
        if word in ("start of round", "end of game"):
            kinds = value_of(game.table, game.state, "[[heap[kind]] for kind in pebble]")[0]
            self.heap.extend(
                (value_of(game.table, game.state, "round")[0], (name,), kinds[place][0])
                for place, name in enumerate(("white", "black"))
                if kinds[place][0]
            )

    def asked(self, game: Game, decision: Decision) -> None:
        pass

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        """Two decisions later the pebbles may be others; those of the seat that chose change with its choices alone."""
        if option.do == "pull":
            had = game.view()["seats"][decision.actor]["taken"]
            self.pulled.extend((0, (decision.actor, kind), had.get(kind, 0)) for kind in ("white", "black"))


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_those_of_their_moments_and_events(pebbles: Ruleset, seed: int) -> None:
    onlooker = Onlooker()
    match = Match(pebbles, bots_of("random", pebbles, 3), seed, watchers=[onlooker])
    match.play()
    digest = match.game.digest()
    found = taken(match.game)
    assert [(each.round, each.of, each.value) for each in found["on_heap"]] == onlooker.heap != []
    assert [(0, each.of, each.value) for each in found["pulled"]] == onlooker.pulled != []
    assert len(found["turns"]) == match.decisions
    assert match.game.digest() == digest


def test_a_summary_of_measures(pebbles: Ruleset) -> None:
    rows = list(simulate(pebbles, bots_of("eager,random", pebbles, 2), 10, seed=5))
    found = summary(pebbles, ["eager", "random"], rows)
    white = next(curve for curve in found["curves"]["on_heap"] if curve["of"] == {"kind": "white"})
    assert white["rounds"][0] == {"round": 1, "games": 10, "mean": 9.0, "mean_low": 9.0, "mean_high": 9.0}
    pulled = {thing["of"]["kind"]: thing for thing in found["tables"]["pulled"]}
    assert pulled["black"]["times"] == pulled["white"]["times"] == sum(len(r.taken["pulled"]) for r in rows) // 2
    (turns,) = found["tables"]["turns"]  # one number for each seat of each game: its turns together
    assert (turns["of"], turns["times"], turns["games"]) == ({}, 20, 10)
    assert turns["mean"] == sum(row.decisions for row in rows) / 20
    assert turns["share"] == 0.5
    assert [turns["low"], turns["high"]] == [round(end, 4) for end in share_interval(0.5, 10)]


def test_means_have_the_interval_of_their_values(pebbles: Ruleset) -> None:
    rows = list(simulate(pebbles, bots_of("eager,random", pebbles, 2), 10, seed=5))
    found = summary(pebbles, ["eager", "random"], rows)

    def ends(values: list[float]) -> list[float]:
        return [round(end, 4) for end in mean_interval(values)]

    rounds = found["rounds"]
    assert [rounds["mean_low"], rounds["mean_high"]] == ends([row.rounds for row in rows])
    white = next(curve for curve in found["curves"]["on_heap"] if curve["of"] == {"kind": "white"})
    for point in white["rounds"]:
        of_round = [
            [each.value for each in row.taken["on_heap"] if (each.of, each.round) == (("white",), point["round"])]
            for row in rows
        ]
        values = [float(numbers[-1]) for numbers in of_round if numbers and numbers[-1] is not None]
        known = ends(values) if len(values) > 1 else [None, None]
        assert [point["mean_low"], point["mean_high"]] == known


def test_the_interval_of_things_is_for_the_games_with_them() -> None:
    """Values of one game are not independent of each other."""
    values = (3, 3, 5, 5)
    spread = Spread()
    for value in values:
        spread.add(1, 1, value, value, value, value**2)

    def around(count: int) -> list[float]:
        return [round(end, 4) for end in interval_around(4, stdev(values), count)]

    assert list(spread.interval().values()) == around(4)
    assert list(spread.interval(2).values()) == around(2)
    assert list(spread.interval(1).values()) == [None, None]


def test_each_measure_is_printed_with_its_own_share() -> None:
    command = f"simulate {ROOT / 'pebbles' / 'pebbles.yaml'} -n 10 --seed 5 --players 2 --bots eager,random"
    data = json.loads(CliRunner().invoke(cli, [*command.split(), "-o", "json"]).stdout)
    lines = CliRunner().invoke(cli, command.split()).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for name, things in data["tables"].items():
        start = next(place for place, line in enumerate(lines) if line.split(",")[0] == name.replace("_", " "))
        for thing, line in zip(things, lines[start + 2 :], strict=False):
            share, low, high = (f"{thing[key] * 100:.1f}%" for key in ("share", "low", "high"))
            assert f"{share}  {low} to {high}" in line


@pytest.mark.parametrize("id", ["germany-2004", "germany-2018", "outpost"])
def test_wins_are_counted_by_the_place_in_the_first_order(id: str) -> None:
    """As the event of the set-up says it, in the module and in the plain form."""
    ruleset = load(id)
    match = Match(ruleset, bots_of("random", ruleset, 4), 3)
    match.play()
    order = next(e.values[0] for r in match.game.state.log if isinstance(e := read(r), Event) and e.name == "order_set")
    found = taken(match.game)["first_order"]
    assert [each.of for each in found] == [(place, seat) for place, seat in enumerate(order, 1)]
    rows = list(simulate(ruleset, bots_of("random", ruleset, 4), 6, seed=3))
    assert rows[0].taken["first_order"] == found
    places = summary(ruleset, ["random"] * 4, rows)["tables"]["first_order"]
    assert [(each["of"], each["times"], each["mean"]) for each in places] == [
        ({"place": n}, 6, None) for n in range(1, 5)
    ]
    assert sum(each["share"] or 0 for each in places) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("numbers", [(3, 0), (0, 3), (3, None), (None, 3), (1, 0, None, 2)])
def test_nothing_adds_nothing_to_a_sum(pebbles: Ruleset, numbers: tuple[int | None, ...]) -> None:
    measure = next(measure for measure in pebbles.model.measures if measure.sums)
    found = [Taken(1, (0,), number) for number in numbers]
    assert final(measure, Row(1, 0, 0, 1, 0.0, (), (), {measure.name: found})) == {(0,): 3}
    assert by_round(measure, found) == {((0,), 1): 3}


@pytest.mark.parametrize(
    ("share", "count", "low", "high"),
    [(0.5, 100, 0.4038, 0.5962), (0.0, 10, 0.0, 0.2775), (1.0, 10, 0.7225, 1.0)],
)
def test_the_interval_is_wilsons(share: float, count: int, low: float, high: float) -> None:
    """Figures as textbooks have them."""
    assert share_interval(share, count) == pytest.approx((low, high), abs=2e-3)


def test_the_interval_of_a_mean_is_students() -> None:
    """The quantiles stand in any printed table of the distribution."""
    printed = {1: 12.706, 2: 4.303, 3: 3.182, 9: 2.262, 10: 2.228, 39: 2.023, 40: 2.021, 120: 1.980, 1000: 1.962}
    assert {freedom: round(student(freedom), 3) for freedom in printed} == printed
    assert mean_interval([1, 3]) == pytest.approx((2 - 12.706, 2 + 12.706), abs=1e-3)
    assert mean_interval([5, 5, 5]) == (5, 5)
