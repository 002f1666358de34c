"""Commands that play: by bots, from a kept log, at the keyboard."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from time import process_time, sleep

import pytest
from click.testing import Result

from interpreter.compiler.wasm.whole_games import Whole
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.simulate import flat_tables
from interpreter.simulate.checkpoint import Journal
from interpreter.simulate.simulation import Row
from tests.cli.conftest import Run
from tests.cli.test_process import ENVIRONMENT
from tests.play.toy import ROOT, changed
from tests.small import FAMILY, write

GAME = ("pebbles", "--players", "2", "--seed", "3")


def test_run(run: Run) -> None:
    result = run("run", *GAME, "--bots", "eager,modest")
    lines = result.stdout.splitlines()
    assert lines[0] == "Pebbles (pebbles): 2 players, seed 3, bots eager, modest"
    assert lines[1].endswith(" begins")
    assert lines[2:6] == ["Round 1", "  white  black", "      9      6", "— Pulling —"]
    assert lines[-3].split() == ["place", "player", "bot", "count(who.taken)", "taken[black]", "pebbles"]
    assert result.stderr == ""


SOLD = "sold: {with: {who: seat}, says: '{who} sells'}"
TWICE = "note sold(seats[0])\nnote sold(seats[0])\nend game"


def test_lines_for_programs_and_with_their_rules_stand_alone(run: Run, tmp_path: Path) -> None:
    path = str(write(tmp_path, TWICE, family=FAMILY.replace("events:\n", f"events:\n  {SOLD}\n")))
    assert "player 1 sells; sells\n" in run("run", path).stdout
    assert run("run", path, "-v").stdout.count("player 1 sells   [act]\n") == 2
    assert run("run", path, "-o", "json").stdout.count('"player 1 sells"') == 2


def test_what_a_failing_game_has_told_is_printed(run: Run, tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  go\nnote said(amount)\namount = 1 div (2 - round)"
    result = run("run", str(write(tmp_path, act)))
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (1, ["player 1: go", "1"])


def test_the_result_is_one_table(run: Run, tmp_path: Path) -> None:
    """A board of the end of the game with a row for each seat adds its columns; others stand before it."""
    boards = """\
    boards:
      last: {when: end of game, says: Over, rows: who in seats, columns: {who: who, score: who.score, coins: who.money}}
      bank: {when: end of game, columns: {left: bank}}
    """
    path = str(write(tmp_path, "seats[1].score = 2\nend game", sections=boards))
    assert run("run", path).stdout.splitlines()[1:] == [
        "Over",
        "  left",
        "    80",
        "player 2 wins",
        "  place  player    bot     score  coins",
        "      1  player 2  random      2      5",
        "      2  player 1  random      0      5",
    ]


def test_ranking_keys_are_shown_with_names_and_signs_for_readers(run: Run, tmp_path: Path) -> None:
    rank = "rank: [bonus(who), -who.score, -spent(who), who.score * 2]"
    rules = """\
    bonus(who) -> int: {is: "7"}
    spent(who) -> int: {is: "who.score + 1"}
    """
    says = "says: {result.bonus: {en: bonus points}, result.spent: {en: points spent}}\n"
    family = FAMILY.replace("rank: [who.score]", rank)
    game = (str(write(tmp_path, "seats[1].score = 2\nend game", rules, says, family)), "--players", "2", "--seed", "1")
    assert run("run", *game).stdout.splitlines()[-3:] == [
        "  place  player    bot     bonus points  score  points spent  score * 2",
        "      1  player 1  random             7      0             1          0",
        "      2  player 2  random             7      2             3          4",
    ]
    result = json.loads(run("run", *game, "-o", "json").stdout.splitlines()[-1])
    assert result["keys"][1] == {"bonus": 7, "score": 2, "spent": 3, "score * 2": 4}
    summary = json.loads(run("simulate", *game, "-n", "3", "-o", "json").stdout)
    assert summary["seats"][1]["keys"] == {"bonus": 7, "score": 2, "spent": 3, "score * 2": 4}


def test_run_twice_is_the_same(run: Run) -> None:
    assert run("run", *GAME).stdout == run("run", *GAME).stdout


def test_run_tells_a_new_seed(run: Run) -> None:
    assert json.loads(run("run", "pebbles", "-o", "json").stdout.splitlines()[0])["seed"] >= 0


def test_run_names_rules_and_languages(run: Run) -> None:
    assert "[pulling]" in run("run", *GAME, "-v").stdout
    assert " mehr\n" in run("run", *GAME, "--lang", "de").stdout


def test_run_as_json(run: Run) -> None:
    lines = [json.loads(line) for line in run("run", *GAME, "-o", "json").stdout.splitlines()]
    assert lines[0]["kind"] == "begin"
    assert lines[-1]["kind"] == "result"
    kinds = {line["kind"] for line in lines}
    assert kinds == {"begin", "mark", "event", "choice", "board", "result"}
    choices = [line for line in lines if line["kind"] == "choice"]
    assert len(choices) == lines[-1]["decisions"]
    assert {choice["name"] for choice in choices} <= {"draw.pull", "draw.wait"}
    board = next(line for line in lines if line["kind"] == "board")
    assert (board["columns"], board["rows"]) == (["white", "black"], [["9", "6"]])


def test_run_without_colour_off_a_terminal(run: Run) -> None:
    assert "\x1b" not in run("run", *GAME).stdout


def test_a_kept_game(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    assert run("run", *GAME, "--log", str(log)).exit_code == 0
    result = run("replay", str(log))
    assert result.exit_code == 0
    assert "choices, all the same, places [" in result.stdout
    assert run("try", f"{log}@0", "heap[white]").stdout == "9  (int)\n"
    assert run("try", str(log), "left()").stdout == "0  (int)\n"
    assert run("try", f"{log}@999", "left()").exit_code == 2


def test_a_kept_game_that_differs(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    run("run", *GAME, "--bots", "eager", "--log", str(log))
    log.write_text(log.read_text(encoding="utf-8").replace('"number": 3', '"number": 7', 1), encoding="utf-8")
    result = run("replay", str(log), "-o", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["same"], data["number"]) == (False, 1)
    assert "`number` must be 1 to 3" in data["difference"]
    assert run("replay", str(log)).stdout.startswith("differs at choice 1: ")
    assert run("try", str(log), "left()").exit_code == 1


def test_a_kept_game_by_another_ruleset(run: Run, tmp_path: Path) -> None:
    """Its choices are made as far as they fit; what the other ruleset does not know of is told."""
    log = tmp_path / "game.jsonl"
    run("run", "germany-2018", "--players", "3", "--seed", "1", "--bots", "random", "--log", str(log))
    result = run("replay", str(log), "--ruleset", "germany-2004")
    assert "replaying a game of `germany-2018` with `germany-2004`; it has no setting `" in result.stderr
    assert result.stdout.startswith("differs at choice ")
    assert "has changed" not in result.stderr


def test_a_file_that_is_no_kept_game(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list", encoding="utf-8")
    result = run("replay", str(path))
    assert (result.exit_code, "line 1 is not a line of a saved game" in result.stderr) == (2, True)
    assert run("replay", str(tmp_path / "nowhere")).exit_code == 2


def test_a_log_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    result = run("run", *GAME, "--log", str(tmp_path / "no" / "log"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no such folder" in result.stderr


def test_simulate(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    result = run("simulate", *GAME, "-n", "6", "--bots", "eager,random", "-o", "json", "--rows", str(rows))
    data = json.loads(result.stdout)
    assert (data["ruleset"], data["seed"], data["players"], data["games"]) == ("pebbles", 3, 2, 6)
    assert [seat["bot"] for seat in data["seats"]] == ["eager", "random"]
    assert [json.loads(line)["seed"] for line in rows.read_text(encoding="utf-8").splitlines()] == list(range(3, 9))
    assert result.stderr == ""
    text = run("simulate", *GAME, "-n", "6", "--bots", "eager,random").stdout
    assert text.startswith("pebbles: 6 games of 2 players, seed 3\n")
    assert "mean of" in text


def test_simulate_tells_processor_time_and_wall_time_apart(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    step, games = Match.step, Whole.games
    monkeypatch.setattr(Match, "step", lambda match: sleep(0.02) or step(match))  # type: ignore[func-returns-value]
    monkeypatch.setattr(Whole, "games", lambda *given: sleep(0.2) or games(*given))  # type: ignore[func-returns-value]
    data = json.loads(run("simulate", *GAME, "-n", "2", "--jobs", "1", "-o", "json").stdout)
    assert data["wall_seconds"] > 0.02 * data["decisions"] > 2 * data["processor_seconds"]
    assert "CPU time" in run("simulate", *GAME, "-n", "1", "--jobs", "1").stdout


def test_cpu_time_includes_writing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        start = process_time()
        while process_time() - start < 0.5:
            pass

    monkeypatch.setattr(flat_tables, "write_table", slow)
    simulate = ("simulate", *GAME, "-n", "1", "--jobs", "1", "-o", "json")
    data = json.loads(run(*simulate, "--rows", str(tmp_path / "rows.csv")).stdout)
    assert min(data["processor_seconds"], data["wall_seconds"]) > 0.45


def test_cpu_time_is_that_of_all_processes() -> None:
    simulate = ("simulate", *GAME, "-n", "50", "--jobs", "3", "-o", "json")
    before = os.times()
    done = subprocess.run([sys.executable, "-m", "interpreter", *simulate], env=ENVIRONMENT, capture_output=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert 0.6 * spent < json.loads(done.stdout)["processor_seconds"] <= spent


def test_simulate_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after some games, then --resume: the rows are those of a simulation that went through."""
    simulate = ("simulate", "pebbles", "-n", "6", "--jobs", "1")
    rows, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    assert run(*simulate, "--seed", "3", "--rows", str(whole)).exit_code == 0
    tables = Journal.add

    def then_stop(self: Journal, more: Iterable[Row]) -> None:
        tables(self, more)
        if json.loads(self.path.read_text(encoding="utf-8").splitlines()[-1])["row"]["seed"] == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Journal, "add", then_stop)
    stopped = run(*simulate, "--seed", "3", "--rows", str(rows))
    monkeypatch.undo()
    monkeypatch.setenv("REGELWERK_PATH", str(ROOT))
    assert (stopped.exit_code, stopped.stdout.startswith("pebbles: 3 games")) == (130, True)
    assert "stopped: 3 of 6 games are done; --resume plays the others" in stopped.stderr
    assert rows.read_text(encoding="utf-8").splitlines() == whole.read_text(encoding="utf-8").splitlines()[:3]
    assert "--resume goes on, or remove it" in run(*simulate, "--seed", "3", "--rows", str(rows)).stderr
    assert "another seed: 3; name another file" in run(*simulate, "--seed", "4", "--rows", str(rows), "--resume").stderr
    assert run(*simulate, "--rows", str(rows), "--resume").exit_code == 0
    assert rows.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "whole.jsonl"]


def test_ctrl_c_is_answered_before_files_are_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "rows.csv"
    simulate = ("simulate", *GAME, "-n", "6", "--jobs", "1", "--rows", str(rows))
    added = Journal.add

    def then_stop(self: Journal, more: Iterable[Row]) -> None:
        added(self, more)
        signal.raise_signal(signal.SIGINT)

    def again(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "add", then_stop)
    monkeypatch.setattr(flat_tables, "write_table", again)
    stopped = run(*simulate)
    assert "stopping: the files get 1 game; a second Ctrl-C ends at once" in stopped.stderr
    assert stopped.exit_code != 0
    monkeypatch.undo()
    monkeypatch.setenv("REGELWERK_PATH", str(ROOT))
    assert run(*simulate, "--resume").exit_code == 0
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 7


def test_simulate_knows_what_it_can_write(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "want a file that ends in .csv, .parquet" in run("simulate", *GAME, "--rows", "rows.xlsx").stderr
    assert "--resume goes with --rows" in run("simulate", *GAME, "--resume").stderr
    nowhere = tmp_path / "no" / "rows.csv"
    assert f"{nowhere.parent}: no such folder" in run("simulate", *GAME, "--rows", str(nowhere)).stderr
    for option in ("-n", "--seed"):
        assert "got `99999999999999999999`, want a number from " in run("simulate", *GAME, option, "9" * 20).stderr
    rows = str(tmp_path / "rows.csv")
    both = run("simulate", *GAME, "-n", "2", "--rows", rows, "--seats", rows)
    assert (both.exit_code, "only a .duckdb file takes both tables" in both.stderr) == (2, True)
    no_database = tmp_path / "notes.duckdb"
    no_database.write_text("no database", encoding="utf-8")
    result = run("simulate", *GAME, "-n", "2", "--rows", str(no_database))
    assert (result.exit_code, result.stdout, f"Error: {no_database}: IO Error" in result.stderr) == (1, "", True)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.duckdb"]
    monkeypatch.setitem(sys.modules, "duckdb", None)
    for name in ("rows.parquet", "rows.duckdb"):
        result = run("simulate", *GAME, "--rows", str(tmp_path / name))
        assert (result.exit_code, "pip install 'regelwerk[rows]'" in result.stderr) == (1, True)
        assert ".csv and .jsonl need nothing" in result.stderr
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'regelwerk[cluster]'" in run("simulate", *GAME, "--cluster", "local").stderr


def test_simulate_writes_csv_without_an_extra(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    rows, seats = tmp_path / "rows.csv", tmp_path / "seats.csv"
    simulate = ("simulate", *GAME, "--bots", "eager,random", "-n", "3")
    assert run(*simulate, "--rows", str(rows), "--seats", str(seats)).exit_code == 0
    head, *games = rows.read_text(encoding="utf-8").splitlines()
    assert head.startswith("seed,decisions,free_decisions,rounds,place_1,place_2,")
    assert [game.split(",")[0] for game in games] == ["3", "4", "5"]
    assert seats.read_text(encoding="utf-8").splitlines()[1].startswith("3,1,eager,")


def test_a_second_simulation_of_a_file_says_that_the_first_is_running(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, charts = str(tmp_path / "rows.csv"), str(tmp_path / "rows.html")
    simulate = ("simulate", *GAME, "-n", "2", "--jobs", "1")
    files = (("--rows", rows), ("--rows", rows, "--resume"), ("--seats", rows), ("--charts", charts))
    add = Journal.add
    others: list[Result] = []

    def second(self: Journal, more: Iterable[Row]) -> None:
        add(self, more)
        monkeypatch.setattr(Journal, "add", add)
        others.extend(run(*simulate, *each) for each in files)

    monkeypatch.setattr(Journal, "add", second)
    assert run(*simulate, "--rows", rows, "--charts", charts).exit_code == 0
    for other, file in zip(others, (rows, rows, rows, charts), strict=True):
        assert (other.exit_code, other.stdout) == (1, "")
        assert f"another simulation that writes {file} is still running; wait for its end, or name" in other.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "rows.html"]
    assert run(*simulate, "--rows", rows).exit_code == 0, "the file is free again"


def test_simulate_keeps_games_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    from duckdb import connect

    file = tmp_path / "games.duckdb"
    with connect(str(file)) as database:
        database.execute("create view games as select 1 as seed")
    simulate = ("simulate", *GAME, "-n", "2", "--rows", str(file))
    result = run(*simulate)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--resume writes them" in result.stderr
    with connect(str(file)) as database:
        database.execute("drop view games")
    assert run(*simulate, "--resume").exit_code == 0
    with connect(str(file)) as database:
        assert database.execute("select seed from games").fetchall() == [(3,), (4,)]


def test_simulate_tells_why_there_is_no_cluster(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    result = run("simulate", *GAME, "--cluster", "nowhere", "--rows", str(tmp_path / "rows.jsonl"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: got the address `nowhere`, want one as tcp://10.0.0.5:8786 or `local`: ")
    assert list(tmp_path.iterdir()) == []


def test_whatif(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    run("run", *GAME, "--bots", "modest,random", "--log", str(log))
    result = run("whatif", str(log), "--at", "2", "--change", "most=1", "-n", "4", "--seed", "1", "-o", "json")
    data = json.loads(result.stdout)
    assert (data["continuations"], data["bots"], data["changes"]) == (4, "modest,random", ["most=1"])
    before, after = data["at_once"]["options"]
    assert after < before
    text = run("whatif", str(log), "--at", "2", "--change", "pull black 1", "-n", "2", "--seed", "1").stdout
    assert "changed: pull black 1 instead of pull kind=" in text
    assert "mean of" in text
    assert run("whatif", str(log), "--at", "999", "--change", "most=1").exit_code == 2
    assert "unknown setting `mots`" in run("whatif", str(log), "--at", "2", "--change", "mots=1").stderr


OVERLAY = "language: 2\noverlay: pebbles/{name}\ntitle: {name}\nover: [pebbles]\n\n{text}\n"


def test_whatif_with_an_overlay(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = changed(tmp_path, "family.yaml", "otherwise 3", "otherwise 4") / "pebbles"
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    (folder / "overlays").mkdir()
    texts = {
        "one": "rules:\n  largest:\n    replaces: pebbles\n    is: 1",
        "more": "state:\n  pulled_so_far: {value: int, start: 0}",
        "none": "state:\n  pulled_so_far: {value: int, start: 0}\n\nrules:\n  may_pull:\n    replaces: pebbles\n"
        "    permits: require number == 1",
    }
    for name, text in texts.items():
        (folder / "overlays" / f"{name}.yaml").write_text(OVERLAY.format(name=name, text=text), encoding="utf-8")
    log = str(tmp_path / "game.jsonl")
    game = ["run", "pebbles", "--players", "2", "--seed", "1", "--bots", "random"]
    assert run(*game, "--log", log).exit_code == 0

    def whatif(*texts: str) -> Result:
        changes = [word for text in texts for word in ("--change", text)]
        return run("whatif", log, "--at", "3", *changes, "-n", "3", "--seed", "1")

    joined = whatif("one")
    assert "changed: one\noptions there: 9, changed 3\n" in joined.stdout
    assert joined.stderr == ""
    assert joined.stdout == whatif("pebbles/one").stdout.replace("pebbles/one", "one")
    assert "options there: 9, changed 5\n" in whatif(str(folder / "overlays" / "more.yaml"), "most=2").stdout
    assert whatif("more").stderr == (
        "this changes the components, so the overlay applies from the beginning of the game, with the same choices\n"
    )
    refused = whatif("none").stderr
    assert (
        "this changes the components, and the choices of the saved game cannot be made with it: choice 2: " in refused
    )
    assert refused.rstrip().endswith("; fork before it, with --at 1")
    assert run(*game, "--with", "one", "--log", log).exit_code == 0
    assert "Invalid value for --change: the game has `one` already" in whatif("one").stderr
    assert "changed: more\n" in whatif("more").stdout


@pytest.mark.parametrize("change", ["hop", "heap[white]=3", "mots=1", "pebbles/nothing"])
def test_whatif_names_what_can_be_changed(change: str, run: Run, tmp_path: Path) -> None:
    log = str(tmp_path / "game.jsonl")
    assert run("run", "germany-2018", "--players", "3", "--seed", "1", "--log", log).exit_code == 0
    told = run("whatif", log, "--at", "0", "--change", change)
    assert told.exit_code == 2
    told_of = told.stderr.partition("; what can be changed:\n")[2]
    assert re.findall(r"^  (\S+(?: \S+)?)  ", told_of, re.MULTILINE) == [
        *("a choice", "TABLE[KEYS]=VALUE", "SETTING=VALUE", "an overlay"),
    ]
    for name in ("offer plant bid", "stage_2_cities[players]", "phase_out_begins", "power-grid/start-cities"):
        assert name in told_of
    assert (
        "known here: `2`, `3`, `4`, `5`, `6`"
        in run("whatif", log, "--at", "0", "--change", "stage_2_cities[9]=1").stderr
    )


@pytest.mark.parametrize("ruleset", ["germany-2018", "goofspiel"])
def test_what_is_shipped_can_be_played(run: Run, ruleset: str) -> None:
    result = run("simulate", ruleset, "-n", "2", "--seed", "1", "-o", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["games"] == 2


# --- at the keyboard


def test_play(run: Run) -> None:
    result = run("play", *GAME, "--bots", "modest", input="pull white 3\n1\npull kind=black number=1\nquit\n")
    assert result.exit_code == 0
    assert result.stdout.startswith("Pebbles: 2 players, seed 3; you are player 1, against modest\n")
    assert "player 1: draw (on heap 1" in result.stdout
    for line in ("> pull white 3", "player 1 pulls 3 white", "player 1 pulls 1 white", "player 1 pulls 1 black"):
        assert f"\n{line}" in result.stdout
    assert result.stderr.startswith("left after ")


def test_one_bot_is_the_default_everywhere(run: Run, tmp_path: Path) -> None:
    game = ("goofspiel", "--players", "3", "--seed", "1")
    log = tmp_path / "game.jsonl"
    assert run("run", *game, "--log", str(log)).stdout.splitlines()[0].endswith("bots sensible, sensible, sensible")
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[0])["bots"] == ["sensible"] * 3
    assert "against sensible\n" in run("play", *game, input="quit\n").stdout
    summary = json.loads(run("simulate", *game, "-n", "1", "-o", "json").stdout)
    assert [seat["bot"] for seat in summary["seats"]] == ["sensible"] * 3
    compared = run("compare", "goofspiel", "goofspiel", "--games", "2", "--seed", "1", "-o", "json").stdout
    assert "by the bot sensible" in json.loads(compared)["played"]
    assert Hall(Store(tmp_path / "tables.sqlite")).bots_for(load("goofspiel"))[0] == "sensible"
    for command in ("run", "play", "simulate"):
        told = " ".join(run(command, "--help").stdout.split())
        assert "[default: sensible if available, else greedy, else random]" in told
        assert "a,b at four seats is a, b, a, b" in told


def test_a_refusal_answers_the_gap_that_it_cites(run: Run) -> None:
    result = run("play", "germany-2018", "--players", "3", "--seed", "7", input="raise 51\n")
    gap = load("germany-2018").statements["A-17"]
    assert gap.reading
    assert f"   A-17: {gap.text} → {gap.reading}\n" in result.stdout


def test_play_to_the_end(run: Run) -> None:
    result = run("play", *GAME, "--seat", "2", "--bots", "eager", input="1\n" * 20)
    assert "  place  player    bot" in result.stdout
    assert "player 2  you" in result.stdout


def test_play_tells_why_not(run: Run) -> None:
    result = run("play", *GAME, input="pull black 9\npull white 4\npull blue 1\nhop\n99\nhelp\nboards\nview\n")
    assert "refused: `heap[kind] >= number` does not hold: rule `may_pull`\n" in result.stdout
    assert "refused: `number` must be 1 to 3: rule `pulling`\n" in result.stdout
    assert "refused: `kind`: got 'blue', want a pebble" in result.stdout
    assert "`hop` is not one of `pull`, `wait`" in result.stdout
    assert "there is no option 99, only 1 to 7" in result.stdout
    assert "undoes your last choice" in result.stdout
    assert '"decision": "draw"' in result.stdout
    assert result.exit_code == 0


def test_play_takes_back_and_keeps(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "kept.jsonl"
    typed = f"undo\npull white 2\nundo\npull white 1\nsave {log}\n"
    result = run("play", *GAME, "--bots", "modest", input=typed)
    assert "there is nothing to undo" in result.stdout
    assert "\nundone\n" in result.stdout
    choices = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()][1:]
    assert [choice["number"] for choice in choices if choice["by"] == 0] == [1]
    assert run("replay", str(log)).exit_code == 0
    again = run("play", str(log), input="quit\n")
    assert "player 1 pulls 1 white" in again.stdout


def test_play_gives_hints_that_change_nothing(run: Run, tmp_path: Path) -> None:
    told, logs = [], [tmp_path / "with.jsonl", tmp_path / "without.jsonl"]
    for log, asked in zip(logs, ("hint\nhint eager\nhint random\nhint eagre\nhint\n", ""), strict=True):
        told.append(run("play", *GAME, "--bots", "modest", input=f"{asked}2\n1\nsave {log}\n").stdout)
    assert logs[0].read_text(encoding="utf-8") == logs[1].read_text(encoding="utf-8")
    assert "eager would choose 3  pulls 3 white\n" in told[0]
    assert "random would choose " in told[0]
    assert "unknown bot `eagre`; did you mean `eager`?" in told[0]
    advice = [line for line in told[0].splitlines() if line.startswith("search would choose ")]
    assert len(advice) == 2 == len(set(advice)) + 1  # the same each time


def test_play_at_a_seat_that_is_not_there(run: Run) -> None:
    assert run("play", *GAME, "--seat", "3").exit_code == 2


def test_a_game_that_breaks_off_leaves_the_log_that_was_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "game.jsonl"
    assert run("run", "pebbles", "--seed", "1", "--log", str(log)).exit_code == 0
    before = log.read_text(encoding="utf-8")

    def breaks(self: Match) -> None:
        raise OSError("no more")

    monkeypatch.setattr(Match, "play", breaks)
    assert run("run", "pebbles", "--seed", "2", "--log", str(log)).exit_code != 0
    assert log.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("extra", [("--players", "2"), ("--set", "a=b"), ("--seed", "1"), ("--with", "x")])
def test_a_kept_game_takes_no_options_of_rulesets(run: Run, tmp_path: Path, extra: tuple[str, ...]) -> None:
    log = str(tmp_path / "game.jsonl")
    assert run("run", "pebbles", "--seed", "1", "--log", log).exit_code == 0
    for command in (("try", log, "1"), ("play", f"{log}@2")):
        result = run(*command, *extra)
        assert result.exit_code == 2
        assert f"{extra[0]} goes with a ruleset" in result.stderr


@pytest.mark.parametrize("where", ["missing.jsonl", "missing.jsonl@3"])
def test_a_log_that_is_not_there(run: Run, where: str) -> None:
    result = run("play", where)
    assert result.exit_code == 2
    assert "no such file" in result.stderr


def test_who_goes_on_with_a_game_sees_its_boards(run: Run, tmp_path: Path) -> None:
    log = str(tmp_path / "game.jsonl")
    assert run("run", *GAME, "--log", log).exit_code == 0
    lines = run("play", f"{log}@2").stdout.splitlines()
    assert "  white  black" in lines


def test_a_game_of_two_takes_in_what_the_edition_names(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    lines = run("run", "usa-2018", "--players", "2", "--seed", "3", "-v", "--log", str(log)).stdout.splitlines()
    assert lines[0].startswith("USA (rules of 2018) (usa-2018): 2 players, seed 3")
    assert lines[2].split(": ")[1].split(", ")[1] == "Konzern"
    assert sum(line.startswith("The Konzern begins in ") for line in lines) == 6
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[0])["overlays"] == ["power-grid/konzern"]
    assert run("replay", str(log)).stderr == ""


def test_what_an_edition_names_cannot_be_left_out(run: Run) -> None:
    result = run("run", "germany-2018", "--players", "2", "--without", "konzern")
    assert result.exit_code == 1
    assert "two players have the Konzern in their way (GU-025)" in result.stderr


def test_an_overlay_is_named_by_its_second_word(run: Run) -> None:
    result = run("run", "germany-2018", "--players", "3", "--seed", "1", "--with", "start-cities")
    assert result.stdout.count(" will begin in ") == 3


def test_show_tells_what_a_game_of_two_takes_in(run: Run) -> None:
    assert "a game of 2 includes power-grid/konzern" in run("show", "germany-2018").stdout


# --- a second language ------------------------------------------------------------------------------------------------


def test_a_game_is_told_in_german_from_its_first_line_to_its_last(run: Run) -> None:
    result = run("run", "germany-2018", "--players", "3", "--seed", "7", "--language", "de")
    lines = result.output.splitlines()
    begins = "Deutschland (Ausgabe 2018) (germany-2018): 3 Spieler, Zufallszahl 7, Bots sensible, sensible, sensible"
    assert lines[0] == begins
    columns = "  Platz  Spieler    Bot       versorgt  Elektro  Städte  Kraftwerke  Rohstoffe"
    assert lines[-5:-3] == ["Spieler 2 gewinnt", columns]
    assert not re.findall(r"\b(player|players|place|bots|seed|wins|none|nothing|money|city|cities)\b", result.output)


def test_a_person_is_talked_to_in_german(run: Run) -> None:
    typed = "0\nfoo\nofer 4 4\noffer\noffer 4 3\nsave\nhint sensible\nundo\nhelp\n"
    arguments = ("play", "germany-2018", "--players", "3", "--seed", "3", "--language", "de")
    result = run(*arguments, input=typed)
    assert "du bist Spieler 1, gegen sensible" in result.output
    for line in (
        "Möglichkeit 0 gibt es nicht, nur 1 bis 182",
        "`foo` gibt es hier nicht, nur `offer`, `decline`; `help` zeigt, was man eingeben kann",
        "`ofer` gibt es hier nicht, nur `offer`, `decline`; ist `offer` gemeint?; `help` zeigt, was man eingeben kann",
        "abgelehnt: zu `offer` gehört `plant`",
        "abgelehnt: für `bid` geht nur 4 bis 50: Regel `nominate` (GU-118, GU-119, GU-122, GU-144)",
        "Wohin speichern? `save DATEI`",
        "es gibt nichts zurückzunehmen",
        "  quit                 verlässt die Partie",
    ):
        assert line in result.output.splitlines(), line
    assert "sensible würde " in result.output
    assert "verlassen nach 0 Entscheidungen" in result.stderr


def test_kinds_may_be_typed_in_the_words_of_the_language(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    run("run", "germany-2018", "--players", "3", "--seed", "7", "--log", str(log))
    number = next(
        number
        for number, line in enumerate(log.read_text(encoding="utf-8").splitlines()[1:])
        if '"buy"' in line or '"do": "take"' in line
    )
    result = run("play", f"{log}@{number}", "--language", "de", "--seat", "1", input="options\nquit\n")
    assert "kind=Kohle" in result.output or "Kohle" in result.output


def test_an_account_of_a_move_is_given_in_german(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    run("run", "germany-2018", "--players", "3", "--seed", "7", "--log", str(log))
    move = run("explain", f"{log}@0", "offer plant=5 bid=3", "--language", "de").output
    assert move.splitlines()[0] == "offer plant=5 bid=3: wird abgelehnt, gefragt ist Spieler 2 bei `nominate`"
    line = run("explain", str(log), "1", "--language", "de").output
    assert line.splitlines()[0] == "1: Entscheidung `nominate.offer`"
    assert "Spieler 2 bringt Kraftwerk 4 für 1 zur Versteigerung" in line
