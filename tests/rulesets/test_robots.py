"""The Robots over every edition: games end, what is refused and why, what is open, and that every piece is shown."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import interpreter
from interpreter.base.diagnostics import RulesetError
from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.play.match import Match
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import can_have, ids_of, rulesets_of
from interpreter.reading.yaml import plain
from interpreter.simulate.throughput import Subject
from interpreter.testing.suite import suite_of

SHELF = shelf_for(None)
ROBOTS = SHELF.read("overlay", "power-grid/robots")[0]
assert ROBOTS is not None
SECOND = [
    ruleset.id
    for ruleset in rulesets_of(SHELF)
    if ruleset.id.endswith("-2004") or ruleset.id.startswith("bsw-")
    if can_have({id for _, id in ids_of(SHELF, ruleset)}, ROBOTS)
]
"""What the overlay goes with: on other boards it is refused with the reason."""
GROUPS = ("FC", "P2", "P3", "P4", "SA")


TABLES = [(2, 1), (2, 2), (3, 1), (2, 3), (1, 1), (5, 1)]


BOARDS = [each for each in enumerate(SECOND) if each[0] < len(TABLES) or each[0] % 3 == 0]
"""A board for each table, and every third of the others: to load them takes most of the time."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "id"), BOARDS)
def test_games_with_robots_come_to_an_end(number: int, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table with both bots; where it comes again on another board, at random and in the plain form."""
    ruleset = interpreter.load(id, ["robots"])
    people, robots = TABLES[number % len(TABLES)]
    again = number >= len(TABLES)
    for bots in ("random",) if again else ("greedy", "random"):
        match = Match(ruleset, bots_of(bots, ruleset, people), number, {"robots": robots})
        if again:
            monkeypatch.setattr(match.game.runner, "plain", True)
        result = match.play()
        assert result is not None
        assert min(result.places) == 1
        assert len(result.places) == people + robots
        assert match.game.check() == []
        assert {actor for actor, _ in match.game.choices} <= set(range(people))


def test_the_free_city_of_a_robot_has_a_free_place_and_a_free_way() -> None:
    """RB-SA-5, in the line of the log, which no condition of a scenario reads."""
    ruleset = interpreter.load("germany-2004", ["robots"])
    match = Match(ruleset, bots_of("greedy", ruleset, 2), 3, {"robots": "1-4-4-1-5"})
    match.play()
    built = [line for line in match.game.log() if line.name == "built" and line.values["who"] == 2]
    free = [line for line in built if line.values["price"] == 0]
    assert 1 < len(free) < len(built)
    assert all(" for 0 (place 0, links 0: " in line.text for line in free)


def test_a_kept_game_with_robots_is_the_same_game() -> None:
    ruleset = interpreter.load("germany-2004", ["robots"])
    match = Match(ruleset, bots_of("greedy", ruleset, 2), 3, {"robots": 2})
    match.play()
    saved = match.game.to_json()
    assert json.loads(saved)["settings"]["robots"] == [[], []]
    assert ruleset.load_game(saved).digest() == match.game.digest()


@pytest.mark.parametrize(("id", "overlays"), [("germany-2018", ["robots"]), ("germany-2018", ["robots", "konzern"])])
def test_what_no_rulebook_plays_together_is_refused_with_its_reason(id: str, overlays: list[str]) -> None:
    with pytest.raises(RulesetError, match="RB-R23"):
        interpreter.load(id, overlays)


@pytest.mark.parametrize("allowed", [[], ["+undefined"]])
def test_over_another_family_one_reason_is_told(allowed: list[str]) -> None:
    with pytest.raises(RulesetError) as refused:
        interpreter.load("outpost", ["robots", *allowed])
    (only,) = refused.value.diagnostics
    assert only.message == "`power-grid/robots` fits `power-grid`, another family than `outpost`"
    assert [note.message.endswith("knows neither workers nor dwellings (RB-R23)") for note in only.notes] == [True]


def test_and_can_be_tried() -> None:
    ruleset = interpreter.load("germany-2018", ["robots", "+undefined"])
    assert Match(ruleset, bots_of("greedy", ruleset, 3), 1).play() is not None


@pytest.mark.parametrize(
    ("people", "robots", "why"),
    [
        (5, "2", "players <= 6"),
        (2, "0", "lists != []"),
        (2, "1-2-3-4-5,1-3-4-5-6", "holders_of"),
        (2, "3-2-3-4-5,1-3-4-5-6", "RB-FC-3g"),
        (2, "1-2-3-4", "RB-010"),
        (2, "1-2-3-4-7", "RB-003"),
    ],
)
def test_robots_that_cannot_be(people: int, robots: str, why: str) -> None:
    with pytest.raises(ValueError, match="robots") as refused:
        interpreter.load("germany-2004", ["robots"]).new_game(people, settings={"robots": robots})
    assert why in str(refused.value)


def test_the_money_of_robots_is_open_where_that_of_people_is_hidden() -> None:
    """RB-017, which no scenario can show: what is seen is no condition."""
    seats = interpreter.load("bsw-france", ["robots"]).new_game(2, seed=1).view(0)["seats"]
    assert [seat["money"] for seat in seats] == [50, "…", 50 if seats[2]["special"] != 1 else 100]


def test_every_piece_has_a_scenario_that_fails_with_the_other_five() -> None:
    shown: dict[tuple[int, int], set[int]] = {}
    for scenario in suite_of().scenarios:
        own = str(scenario.settings.get("robots", "")).split("-")
        fails_with = [plain(each) for each in scenario.keys.fails_with if each is not None]
        for changed in (each for each in fails_with if "robots" in each):
            other = str(changed["robots"]).split("-")
            (group,) = [group for group in range(5) if own[group] != other[group]]
            cited = f"RB-{GROUPS[group]}-{own[group]}"
            assert any(statement.startswith(cited) for statement in scenario.statements), scenario.id
            shown.setdefault((group, int(own[group])), set()).add(int(other[group]))
    assert shown == {(group, n): set(range(1, 7)) - {n} for group in range(5) for n in range(1, 7)}


@pytest.mark.slow
def test_the_command_line_counts_robots() -> None:
    def run(*arguments: str) -> str:
        return CliRunner().invoke(cli, ["run", *arguments, "--seed", "3"]).output

    assert "player 4 is a robot" in run("germany-2004", "--players", "2", "--with", "robots:2")
    assert "player 3 is a robot of the pieces 1-3-2-6-4" in run(
        "germany-2004", "--players", "2", "--with", "robots", "--set", "robots=1-3-2-6-4"
    )
    assert "has no number of seats to set" in run("bsw-france", "--players", "2", "--with", "hidden-money:2")
    assert "want the number of its seats behind the colon" in run("bsw-france", "--with", "robots:")
    assert "use `--allow undefined` to try it" in run("germany-2018", "--players", "3", "--with", "robots")
    said = run("germany-2018", "--players", "3", "--with", "robots", "--allow", "undefined")
    assert "(germany-2018, with robots, allowing undefined): 3 players" in said
    assert "wins" in said


@pytest.mark.slow
def test_games_with_robots_can_be_measured() -> None:
    subject = Subject("germany-2004", 2, None, None, ["robots"], {"robots": "2"})
    assert subject.title == "germany-2004 with robots, robots=2"
    speed = subject.applied(0.001)
    assert (speed.games, speed.repeated) == (1, 0)
    assert len(subject.table.machine.constants.seats) == 4
