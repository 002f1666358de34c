"""Games that do not end: noticed, described, and left out by whatever plays many games."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.engine.game import Ruleset
from interpreter.lowering import constants
from interpreter.lowering.constants import MAXIMUM_STILL, Endless
from interpreter.play import match
from interpreter.play.match import Match
from interpreter.simulate import throughput
from interpreter.simulate.simulation import Row, Unfinished, WholeGames, played
from interpreter.simulate.totals import Totals, totalled
from interpreter.simulate.tuning import Question, win_shares
from tests.small import loaded, write

ACT = """\
if round == 1:
  shuffle deck as lots
  amount = deck[0].number
for each turn who in seats:
  choose act by who:
    wait
    rest
if round == 3 and amount > 1:
  end game
"""
"""One game in four does not end, depending on the card on top."""
SEEDS = range(6)
ENDLESS = [3, 4]
"""The seeds among them whose games do not end."""

Call = Callable[..., Result]


@pytest.fixture
def game(tmp_path: Path) -> Path:
    return write(tmp_path, ACT)


@pytest.fixture
def call(game: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return a function that calls the program in the folder of the game."""
    monkeypatch.chdir(game.parents[1])

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(cli, arguments, prog_name="regelwerk")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def endless(ruleset: Ruleset, seed: int = 0, *, plain: bool = False) -> Endless:
    game = Match(ruleset, bots_of("random", ruleset, 2), seed)
    game.game.runner.plain = plain
    with pytest.raises(Endless) as failure:
        game.play()
    return failure.value


# --- noticing


@pytest.mark.parametrize("plain", [False, True])
def test_a_game_without_change_stops_after_500_rounds(game: Path, plain: bool) -> None:
    """The same in both forms: the round, what repeats, and where it stands in the rules."""
    found = endless(loaded(game), ENDLESS[0], plain=plain)
    assert MAXIMUM_STILL == 500 <= found.round - match.LONG // 2 < 520
    assert found.message.startswith(
        "the game does not end: nothing was new in its last 500 rounds; the last choices were "
    )
    assert str(found).startswith("small/family.yaml:57:9: ")
    assert str(found).endswith(f"in round {found.round}")


CYCLES = {
    "a position that comes back after three rounds": "amount = (amount + 1) mod 3\n",
    "random numbers that change nothing": "shuffle deck as lots\nmove deck[0] to pile\nmove deck[0] to pile\n"
    "move deck[0] to pile\nmove deck[0] to pile\nmove first(pile) to deck\nmove first(pile) to deck\n"
    "move first(pile) to deck\nmove first(pile) to deck\n",
}


@pytest.mark.parametrize("repeats", CYCLES.values(), ids=CYCLES)
def test_a_game_that_goes_in_circles_is_noticed(tmp_path: Path, repeats: str) -> None:
    ask = "choose act by seats[0]:\n  go if amount == 0\n  stay if amount != 0\n"
    found = endless(loaded(write(tmp_path, repeats + ask)))
    assert found.round <= MAXIMUM_STILL + match.LONG + 60
    assert "nothing was new" in found.message


def test_a_long_game_in_which_something_changes_goes_on(tmp_path: Path) -> None:
    """In both forms, with the same result: the module leaves such games to the other loop."""
    ruleset = loaded(write(tmp_path, "choose act by seats[0]:\n  go:\n    amount += 1\nif amount > 1200:\n  end game"))
    rows = list(played(WholeGames(ruleset, bots_of("random", ruleset, 2)), range(3)))
    assert [row.rounds for row in rows if isinstance(row, Row)] == [1200] * 3


LIMITS = {
    "decisions": (
        match,
        "MAXIMUM_DECISIONS",
        "does not end within 40 decisions; the last choices were `go` (40 times)",
    ),
    "records": (
        constants,
        "MAXIMUM_RECORDS",
        "more than 40 records in the log of this game; the last choices were `go`",
    ),
}


@pytest.mark.parametrize(("module", "name", "message"), LIMITS.values(), ids=LIMITS)
def test_a_round_that_does_not_end_is_noticed(
    tmp_path: Path, module: object, name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, 40)
    act = "while amount > 0:\n  choose act by seats[0]:\n    go:\n      amount += 1\n"
    found = endless(loaded(write(tmp_path, act)))
    assert message in found.message
    assert found.round == 1


def test_a_failing_rule_names_its_round(tmp_path: Path, call: Call) -> None:
    path = write(tmp_path, "choose act by seats[0]:\n  go:\n    amount = 6 div (3 - round)\n")
    result = call("run", str(path), "--seed", "1")
    assert result.exit_code == 1
    assert "R001 a division by 0" in result.stderr
    assert "   in round 3" in result.stderr


# --- leaving out


def test_rows_and_totals_leave_them_out(game: Path) -> None:
    ruleset = loaded(game)
    bots = bots_of("random", ruleset, 2)
    found = list(played(WholeGames(ruleset, bots), SEEDS))
    assert [row.seed for row in found if isinstance(row, Unfinished)] == ENDLESS
    totals = Totals()
    for part in totalled(WholeGames(ruleset, bots), SEEDS):
        totals += part
    assert (totals.games, totals.played) == (4, 6)
    assert totals.unfinished == [row for row in found if isinstance(row, Unfinished)]


REPORTED = "tiny, seed 3, round 1009: the game does not end: nothing was new in its last 500 rounds"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_simulate_goes_on_past_them(call: Call, tmp_path: Path, jobs: str) -> None:
    """Rows, the summary and --resume leave them out; the exit status tells."""
    rows = tmp_path / "rows.jsonl"
    simulate = ("simulate", "small/tiny.yaml", "-n", "6", "--seed", "0", "--jobs", jobs, "--rows", str(rows))
    result = call(*simulate)
    assert result.exit_code == 1
    assert result.stdout.startswith("tiny: 4 games of 2 players, seed 0")
    assert "left out: 2 games that do not end" in result.stderr
    assert REPORTED in result.stderr
    assert [json.loads(line)["seed"] for line in rows.read_text().splitlines()] == [0, 1, 2, 5]
    data = json.loads(call(*simulate[:-2], "-o", "json").stdout)
    assert [game["seed"] for game in data["unfinished"]] == ENDLESS
    assert data["games"] == 4


def test_a_run_without_a_game_that_ends_says_so(call: Call) -> None:
    result = call("simulate", "small/tiny.yaml", "-n", "1", "--seed", "3")
    assert (result.exit_code, result.stdout) == (1, "")
    assert REPORTED in result.stderr


def test_an_interrupted_run_knows_them(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are kept among the finished games, and not played again."""
    rows = tmp_path / "rows.jsonl"
    simulate = ("simulate", "small/tiny.yaml", "-n", "6", "--seed", "0", "--jobs", "1", "--rows", str(rows))
    call(*simulate)
    whole = rows.read_text()
    monkeypatch.setattr("interpreter.simulate.flat_tables.write_lines", lambda *_: (_ for _ in ()).throw(OSError(28)))
    assert "--resume writes them" in call(*simulate).stderr
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(WholeGames, "plain_row", None)  # nothing is played
    rows.unlink()
    result = call(*simulate, "--resume")
    assert (result.exit_code, rows.read_text()) == (1, whole)
    assert REPORTED in result.stderr


def test_a_tournament_goes_on(call: Call) -> None:
    result = call(
        "simulate", "small/tiny.yaml", "-n", "12", "--seed", "0", "--round-robin", "random,rare", "-o", "json"
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["games"] == 8
    assert len(json.loads(result.stdout)["unfinished"]) == 4
    assert REPORTED in result.stderr


def test_compare_goes_on(call: Call, tmp_path: Path) -> None:
    write(tmp_path / "other", ACT.replace("round == 3", "round == 4"))
    sides = "small/tiny.yaml", "other/small/tiny.yaml"
    result = call("compare", *sides, "--games", "6", "--seed", "0", "--each", "-o", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert "without 2 pairs in which a game does not end" in data["played"]
    assert [game["seed"] for game in data["unfinished"]] == ENDLESS
    assert REPORTED in result.stderr
    page = tmp_path / "page.html"
    result = call("compare", "--all", *sides, "--games", "6", "--seed", "0", "--report", str(page))
    assert result.exit_code == 1
    assert "left out: 4 games that do not end" in result.stderr
    assert page.exists()


def test_whatif_goes_on(call: Call, tmp_path: Path) -> None:
    """Each continuation draws anew the card that decides."""
    log = tmp_path / "game.jsonl"
    write(tmp_path, ACT.replace("round == 1", "round == 2"))
    call("run", "small/tiny.yaml", "--seed", "0", "--log", str(log))
    result = call("whatif", str(log), "--at", "1", "--change", "rest", "-n", "6", "--seed", "0", "-o", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert len(data["unfinished"]) + data["continuations"] == 6
    assert f"left out: {len(data['unfinished'])} game" in result.stderr


def test_bench_leaves_them_out(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    result = call("bench", "small/tiny.yaml", "--players", "2", "--seconds", "0.01", "--rounds", "1")
    assert result.exit_code == 1
    assert "left out:" in result.stderr
    assert REPORTED in result.stderr
    monkeypatch.setattr(throughput, "COUNTED", 1)
    assert call("bench", "small/tiny.yaml", "--players", "2", "--seconds", "0.01", "--rounds", "1").exit_code == 1


def test_nobody_wins_them_when_weights_are_tuned(game: Path, tmp_path: Path) -> None:
    (tmp_path / "small" / "policies").mkdir()
    text = "language: 2\npolicies: small/weighed\nis:\n  weighed: {act: {prefer: any}}\n"
    (tmp_path / "small" / "policies" / "weighed.yaml").write_text(text)
    shares = win_shares(Question(str(game), (), 2, "weighed", "random"), {}, SEEDS)
    assert [share > 0 for share in shares] == [seed not in ENDLESS for seed in SEEDS] * 2
