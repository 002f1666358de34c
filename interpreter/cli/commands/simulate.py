"""``regelwerk simulate``: statistics of many games by bots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, cast

import click
from msgspec.structs import replace

from interpreter.base.extras import Unavailable
from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for, words_of, wrong_use
from interpreter.cli.output import as_json, notice, tell_page
from interpreter.cli.progress import counting, finish, interruptible

if TYPE_CHECKING:
    from interpreter.engine.game import Ruleset
    from interpreter.simulate.checkpoint import Journal
    from interpreter.simulate.simulation import Row, Unfinished
    from interpreter.simulate.summary import Report
    from interpreter.simulate.totals import Totals
    from interpreter.simulate.workers import Crew, Help, Plan

__all__ = ["command"]


@click.command("simulate")
@options.ruleset_argument
@options.overlays_option
@options.games_option(100)
@options.players_option()
@options.seed_option
@options.settings_option
@options.bots_option()
@options.jobs_option
@click.option("--cluster", metavar="ADDRESS", help="Play on a Dask cluster; `local` starts one on this machine.")
@options.file_option("--rows", about="Write a row for each game (.csv, .parquet, .duckdb, .jsonl).")
@options.file_option("--seats", about="Write a row for each seat and round, in the same formats.")
@options.file_option("--charts", about="Write the summary as a page with charts (.html), or the charts (.png).")
@click.option("--round-robin", metavar="NAMES", help="Run a tournament of bots and rate them.")
@click.option("--resume", is_flag=True, help="Resume an interrupted run with the same files.")
@options.requested("text", "json")
def command(
    request: options.Request,
    games: int,
    cluster: str | None,
    rows: Path | None,
    seats: Path | None,
    charts: Path | None,
    round_robin: str | None,
    resume: bool,
) -> None:
    """Let bots play many games. Game i (from 0) has the seed N + i: `run` with that seed plays the same game.

    Results depend on the seed only, not on the number of processes. After Ctrl-C, the summary and the files contain the
    games so far; --resume plays the others.

    A game in which nothing changes for 500 rounds does not end. Such games are reported and left out of the summary and
    the files, and the exit status is 1.

    With --round-robin the bots play each other, each as often on every seat; the table has their ratings.

    The `measures` of the ruleset define the summary and the columns. A .duckdb file takes both tables.

    \b
    Examples:
      regelwerk simulate goofspiel -n 1000 --players 3 --seed 1
      regelwerk simulate germany-2018 -n 200 --bots sensible,random,random -o json
      regelwerk simulate germany-2018 -n 5000 --seed 1 --rows games.parquet --seats rounds.parquet
      regelwerk simulate germany-2018 -n 5000 --seed 1 --rows games.parquet --resume
      regelwerk simulate usa-2018 -n 2000 --charts usa.html
      regelwerk simulate goofspiel -n 600 --players 2 --round-robin sensible,bench,random
      regelwerk simulate germany-2018 -n 100000 --cluster tcp://10.0.0.5:8786 --rows games.duckdb
    """
    began, cpu_before = monotonic(), _cpu_seconds()
    from interpreter.bots.registry import default_bots
    from interpreter.simulate.cluster import LOCAL
    from interpreter.simulate.simulation import finished
    from interpreter.simulate.summary import summed_up
    from interpreter.simulate.workers import Plan

    crew = _crew(request, cluster, games)
    loaded, _ = options.players_for(request.load(), request.players)
    _check_files(rows, seats, charts)
    beside = _locked(rows, seats, charts)
    setup = replace(request, seed=_seed_of(request.seed, beside, resume)).setup(loaded)
    start = setup.seed
    options.tell_plain(loaded, setup.players, setup.settings)
    if round_robin is not None:
        if request.bots or beside or resume:
            raise click.UsageError("--round-robin goes without --bots, --rows, --seats, --charts and --resume")
        from interpreter.cli.tournament import round_robin as play

        play(request.place, setup, round_robin, games, crew, request.output)
        return
    names = [bot.name for bot in setup.bots(request.bots)]
    spec = request.bots or default_bots(loaded)
    plan = Plan(request.place, setup.overlays, loaded.digest, setup.players, spec, tuple(setup.settings.items()))
    journal, done = _journal(beside, plan, start, resume)
    done = [row for row in done if start <= row.seed < start + games]
    every, known = range(start, start + games), {row.seed for row in done}
    left = [seed for seed in every if seed not in known] if known else every
    cpu_elsewhere = sum(row.seconds for row in finished(done))  # by earlier runs
    totals, lost = _play(plan, loaded, left, crew, journal, done)
    over = sorted(finished(done), key=lambda row: row.seed)
    if cluster not in (None, LOCAL):
        cpu_elsewhere = totals.seconds
    data = cast("Report", {**setup.as_data(), **summed_up(loaded, names, totals), "wall_seconds": 0.0})
    try:
        if over:  # otherwise earlier files stay
            _write(loaded, names, over, rows, seats)
        if charts is not None and over:
            _draw(loaded.title, data, charts)
    except (OSError, Unavailable) as error:
        why = words_of(error) if isinstance(error, OSError) else error
        assert journal is not None  # every run with output files has one
        refused(f"{why}; the finished games are in {journal.path}: --resume writes them")
    if journal is not None and totals.played == games:
        journal.finish()
    data["processor_seconds"] = round(_cpu_seconds() - cpu_before + cpu_elsewhere, 6)
    data["wall_seconds"] = round(monotonic() - began, 6)
    if request.output == "json":
        as_json(data)
    elif totals.games:
        from interpreter.pages.games_report import games_told

        tell_page(games_told(data))
    _end(totals, games, journal, lost)


# --- before and after


def _check_files(rows: Path | None, seats: Path | None, charts: Path | None) -> None:
    """Check that the output files can be written, as far as possible before games are played."""
    from interpreter.drawing.game_charts import check_charts
    from interpreter.simulate.flat_tables import check_file

    for path, check in ((rows, check_file), (seats, check_file), (charts, check_charts)):
        if path is None:
            continue
        with refused_for(Unavailable), wrong_use():
            check(path)
        options.can_be_written(path)
    if rows and seats and rows.resolve() == seats.resolve() and rows.suffix.lower() != ".duckdb":
        raise click.UsageError(f"--rows and --seats are both {rows}: only a .duckdb file takes both tables")


def _locked(*files: Path | None) -> Path | None:
    """Lock the output files until the command ends, and return the first one."""
    from interpreter.simulate.checkpoint import StillRunning, only_writer

    named = [file for file in files if file is not None]
    for file in {file.resolve(): file for file in named}.values():
        with refused_for(StillRunning, remedy="; wait for its end, or name another file"):
            click.get_current_context().with_resource(only_writer(file))
    return named[0] if named else None


def _seed_of(seed: int | None, path: Path | None, resume: bool) -> int | None:
    """Return the given seed, or that of the run to resume."""
    from interpreter.simulate.checkpoint import seed_of

    if resume and path is None:
        raise click.UsageError("--resume goes with --rows, --seats or --charts: the checkpoint is beside such a file")
    return seed_of(path) if resume and seed is None and path is not None else seed


def _journal(path: Path | None, plan: Plan, seed: int, resume: bool) -> tuple[Journal | None, list[Row | Unfinished]]:
    """Return the checkpoint file and the games that it already holds."""
    from interpreter.simulate.checkpoint import Journal, OtherSimulation

    if path is None:
        return None, []
    journal = Journal(path, plan, seed)
    if resume:
        with refused_for(OtherSimulation, remedy="; name another file, or remove this one"):
            return journal, journal.resume()
    if journal.path.exists():
        refused(f"{journal.path} has the games of an interrupted run: --resume goes on, or remove it")
    return journal, []


def _crew(request: options.Request, address: str | None, games: int) -> Help:
    """Return the crew of the request. With ``--jobs``, it starts at once, while the ruleset is loaded."""
    if address is not None:
        from interpreter.simulate.cluster import cluster

        return cluster(address, request.processes(games)), 0.0
    crew, alone = request.crew(games)
    if request.jobs is not None and crew is not None:
        stack = click.get_current_context().with_resource(ExitStack())
        crew = _begun(stack.enter_context(crew), stack)
    return crew, alone


@contextmanager
def _begun(crew: Crew, stack: ExitStack) -> Iterator[Crew]:
    """Provide a crew that is at work already, and end it."""
    with stack:
        yield crew


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that have ended."""
    return process_time() + sum(os.times()[2:4])


def _play(
    plan: Plan,
    ruleset: Ruleset,
    seeds: Sequence[int],
    crew: Help,
    journal: Journal | None,
    done: list[Row | Unfinished],
) -> tuple[Totals, str | None]:
    """Play the remaining games. Return the totals of all games, and why games were lost, if so. With a journal, rows
    are added to ``done``; without one, no rows are kept."""
    from interpreter.simulate.totals import Totals
    from interpreter.simulate.workers import Sums, WorkersLost, shared

    totals, lost = Totals(), None
    totals.add(ruleset.model.measures, done)
    with interruptible() as stopped, counting("games", len(seeds) + len(done), len(done)) as tell:
        try:
            if journal is None:
                for parts in shared(Sums(plan), ruleset, seeds, *crew, stopped):
                    for part in parts:
                        totals += part
                        tell(part.played)
            else:
                for more in shared(plan, ruleset, seeds, *crew, stopped):
                    done.extend(more)
                    journal.add(more)
                    totals.add(ruleset.model.measures, more)
                    tell(len(more))
        except (WorkersLost, Unavailable) as error:
            lost = str(error)
    if journal is not None and done and stopped():
        notice(f"stopping: the files get {counted(len(done), 'game')}; a second Ctrl-C ends at once")
    return totals, lost


def _write(ruleset: Ruleset, bots: Sequence[str], done: list[Row], rows: Path | None, seats: Path | None) -> None:
    from interpreter.simulate.flat_tables import games_table, seats_table, write_lines, write_table

    if rows is not None and rows.suffix.lower() == ".jsonl":
        write_lines(done, rows)
    elif rows is not None:
        write_table(games_table(ruleset, bots, done), rows, "games")
    if seats is not None:
        write_table(seats_table(ruleset, bots, done), seats, "seats")


def _draw(title: str, data: Report, path: Path) -> None:
    from interpreter.pages.games_report import caption_of, games_page

    if path.suffix.lower() == ".png":
        from interpreter.drawing.game_charts import WHISKERS, charts_of, png_of

        path.write_bytes(png_of(title, f"{caption_of(title, data)} {WHISKERS}", charts_of(data)))
        return
    from interpreter.pages.html import html_of

    path.write_text(html_of(games_page(title, data)), encoding="utf-8")


def _end(totals: Totals, games: int, journal: Journal | None, lost: str | None) -> None:
    """Report games that do not end, and an interrupted or incomplete run."""
    done = totals.played
    kept = f"; --resume plays the others, from {journal.path}" if journal is not None and done else ""
    if lost is not None:
        refused(f"{lost} ({done} of {games} games are done{kept})")
    finish(totals.unfinished, f"{done} of {games} games are done{kept}" if done < games else "")
