"""The same rows whoever plays; what is done stays; a worker that is lost loses nothing. Rows as files."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interpreter.engine.game import Ruleset
from interpreter.language.model import Measure
from interpreter.lowering.constants import RuleFailure
from interpreter.simulate import flat_tables
from interpreter.simulate.checkpoint import Journal, OtherSimulation, seed_of
from interpreter.simulate.cluster import _workers, local_cluster
from interpreter.simulate.flat_tables import games_table, seats_table, write_lines, write_table
from interpreter.simulate.simulation import Row, finished
from interpreter.simulate.totals import Of, final
from interpreter.simulate.workers import Crew, Plan, WorkersLost, batch_of, processes, shared
from tests.play.toy import ROOT

BOTS = ["eager", "random"]
PEBBLES = str(ROOT / "pebbles" / "pebbles.yaml")


@pytest.fixture
def plan(pebbles: Ruleset) -> Plan:
    return Plan(PEBBLES, (), pebbles.digest, 2, "eager,random")


def rows_of(plan: Plan, ruleset: Ruleset, games: int, **how: Any) -> list[dict[str, Any]]:
    found = [row for rows in shared(plan, ruleset, range(7, 7 + games), **how) for row in finished(rows)]
    return [row.as_dict() for row in sorted(found, key=lambda row: row.seed)]


def test_processes_play_the_same(pebbles: Ruleset, plan: Plan) -> None:
    alone = rows_of(plan, pebbles, 40)
    assert [row["seed"] for row in alone] == list(range(7, 47))
    assert rows_of(plan, pebbles, 40, crew=processes(2)) == alone


class Here:
    """An executor that plays at once, or loses what it is given."""

    def __init__(self, losses: int = 0) -> None:
        self.losses, self.given = losses, 0

    def submit(self, work: Any, *arguments: Any) -> Any:
        from concurrent.futures import Future

        future: Future[Any] = Future()
        self.given += 1
        if self.given % 3 == 0 and self.losses:
            self.losses -= 1
            future.set_exception(ConnectionError("gone"))
        else:
            future.set_result(work(*arguments))
        return future


@contextmanager
def here(losses: int = 0) -> Iterator[Crew]:
    yield Crew(Here(losses), lambda: 2, lambda: None, (ConnectionError,))  # type: ignore[arg-type]


def test_what_is_lost_is_played_again(pebbles: Ruleset, plan: Plan) -> None:
    assert rows_of(plan, pebbles, 30, crew=here(losses=3)) == rows_of(plan, pebbles, 30)


@pytest.fixture
def plainly(pebbles: Ruleset) -> Iterator[None]:
    """The plain form plays."""
    runner = pebbles.for_players(2).table(2, pebbles.settings({})).runner
    runner.plain = True
    yield
    runner.plain = False


def test_who_stops_keeps_what_is_done(pebbles: Ruleset, plan: Plan) -> None:
    asked = iter([False, False, True])
    found = rows_of(plan, pebbles, 5_000, crew=here(), stopped=lambda: next(asked, True))
    assert found == rows_of(plan, pebbles, 4)  # two places, each with one game and one that waits
    asked = iter([False] * 100)  # alone, it is asked between games, or at each decision of one in the plain form
    alone = rows_of(plan, pebbles, 5_000, stopped=lambda: next(asked, True))
    assert alone == rows_of(plan, pebbles, len(alone))
    assert 10 < len(alone) <= 50  # by who shares the games out, and by who plays them


def test_who_stops_gives_up_a_game_of_the_plain_form(pebbles: Ruleset, plan: Plan, plainly: None) -> None:
    asked = iter([False] * 100)  # it is asked at each decision, at the end of a game and twice around it
    alone = rows_of(plan, pebbles, 5_000, stopped=lambda: next(asked, True))
    assert alone == rows_of(plan, pebbles, len(alone))
    assert 90 < sum(row["decisions"] for row in alone) + 3 * len(alone) <= 102


def test_other_rules_are_refused(plan: Plan) -> None:
    with pytest.raises(WorkersLost, match="a worker has other rules for `pebbles` than this machine"):
        batch_of(Plan(plan.ruleset, (), "0", 2, "random"), [1])
    with pytest.raises(WorkersLost, match="^a worker cannot load `nowhere`: unknown ruleset `nowhere`$"):
        batch_of(Plan("nowhere", (), "0", 2, "random"), [1])


def test_a_failure_says_where_it_is(pebbles: Ruleset, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuleFailure("too many pebbles", None)

    monkeypatch.setattr("interpreter.compiler.wasm.runner.Runner.is_free", fails)
    monkeypatch.setattr("interpreter.simulate.simulation.WholeGames.games", lambda *_: None)
    with pytest.raises(RuleFailure, match=r"too many pebbles \(in the game with seed 7\)"):
        rows_of(plan, pebbles, 5, crew=here())


# --- going on later


def test_a_journal_goes_on(pebbles: Ruleset, plan: Plan, tmp_path: Path) -> None:
    found = [row for rows in shared(plan, pebbles, range(5)) for row in finished(rows)]
    path = tmp_path / "rows.csv"
    journal = Journal(path, plan, 0)
    assert journal.resume() == []
    assert list(tmp_path.iterdir()) == [], "a simulation without games leaves no file"
    journal.add(found[:3])
    with journal.path.open("a", encoding="utf-8") as file:
        file.write('{"row": {"seed": 3, "deci')  # what a power cut leaves
    again = Journal(path, plan, 0)
    assert [row.as_dict() for row in finished(again.resume())] == [row.as_dict() for row in found[:3]]
    again.add(found[3:])
    assert [row.as_dict() for row in finished(again.resume())] == [row.as_dict() for row in found]
    assert seed_of(path) == 0
    with pytest.raises(OtherSimulation, match="with other bots: eager,random"):
        Journal(path, Plan(PEBBLES, (), pebbles.digest, 2, "random"), 0).resume()
    again.finish()
    assert list(tmp_path.iterdir()) == []


# --- files


def test_rows_as_files(pebbles: Ruleset, plan: Plan, tmp_path: Path) -> None:
    from duckdb import connect

    rows = [row for found in shared(plan, pebbles, range(3)) for row in finished(found)]
    columns, values = games_table(pebbles, BOTS, rows)
    assert columns[:6] == ["seed", "decisions", "free_decisions", "rounds", "place_1", "place_2"]
    assert columns[6:] == ["pebbles_1", "pebbles_2", "on_heap_black", "on_heap_white", "turns_1", "turns_2"]
    expected = list(values)
    assert [row[0] for row in expected] == [0, 1, 2]
    for name in ("games.csv", "games.parquet"):
        write_table(games_table(pebbles, BOTS, rows), tmp_path / name, "games")
        assert [list(row) for row in connect().execute(f"from '{tmp_path / name}'").fetchall()] == expected
    write_table(games_table(pebbles, BOTS, rows), tmp_path / "both.duckdb", "games")
    write_table(seats_table(pebbles, BOTS, rows), tmp_path / "both.duckdb", "seats")
    with connect(str(tmp_path / "both.duckdb")) as database:
        assert [list(row) for row in database.execute("from games").fetchall()] == expected
        turns = database.execute("select sum(turns) from seats where seed = 1 and bot = 'eager'").fetchone()
    assert turns == (expected[1][columns.index("turns_1")],)


def test_each_measure_of_a_row_is_read_once(pebbles: Ruleset, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written fast: the work does not grow with the number of columns of a measure."""
    rows = [row for found in shared(plan, pebbles, range(3)) for row in finished(found)]
    read: list[tuple[str, int]] = []

    def counted(measure: Measure, row: Row) -> dict[Of, int | None]:
        read.append((measure.name, row.seed))
        return final(measure, row)

    monkeypatch.setattr(flat_tables, "final", counted)
    columns, values = games_table(pebbles, BOTS, rows)
    assert len(list(values)) == len(rows)
    assert 0 < len(read) == len(set(read)) < len(rows) * len(columns)


def test_rows_do_not_tell_how_fast_they_were(pebbles: Ruleset, plan: Plan, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        rows: list[Row] = [row for found in shared(plan, pebbles, range(3)) for row in finished(found)]
        write_lines(rows, tmp_path / name)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


# --- a cluster


@pytest.mark.slow
def test_a_worker_of_a_cluster_is_killed(pebbles: Ruleset, plan: Plan) -> None:
    """Nothing is lost, and nothing is counted twice."""
    pytest.importorskip("distributed")
    with local_cluster(2) as found:
        seen: list[int] = []
        killed = None
        for rows in shared(plan, pebbles, range(7, 607), crew=_workers(found)):
            seen.extend(row.seed for row in rows)
            if killed is None and len(seen) > 20:
                killed = found.workers[0].pid
                os.kill(killed, signal.SIGKILL)
    assert killed is not None
    assert sorted(seen) == list(range(7, 607))
