"""``regelwerk bench``: speed of rulesets, compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter import __version__
from interpreter.base.plain_data import json_of
from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.failures import wrong_use, wrong_value
from interpreter.cli.output import as_json, notice, say, tell
from interpreter.cli.progress import counted as shown
from interpreter.cli.progress import finish
from interpreter.pages.page import Column, Grid

if TYPE_CHECKING:
    from interpreter.simulate.baseline import Change, Report
    from interpreter.simulate.throughput import Sample, Subject

__all__ = ["command"]

USUAL = 4
"""Default number of players, or the closest allowed one."""
BESIDE, CELL = 6, 11
"""Figures of a line, and their width."""


@click.command("bench")
@click.argument("rulesets", nargs=-1, metavar="[RULESET]...")
@options.overlays_option
@options.settings_option
@options.several_players_option(f"{USUAL}, or the closest allowed number")
@options.bots_option("bench, or as in `run`; one for all seats")
@options.seconds_option(1.0, "1 for each measurement")
@options.number_option("--rounds", about="Number of runs; the medians are reported.", least=1, default=5, show=True)
@options.file_option(
    "--baseline", about="Compare with saved figures; exit with status 1 if one is more than 15 % worse.", exists=True
)
@options.file_option("--save", about="Save the figures to a file.")
@options.requested("text", "json")
def command(
    request: options.Request,
    rulesets: tuple[str, ...],
    numbers: tuple[int, ...],
    seconds: float,
    rounds: int,
    baseline: Path | None,
    save: Path | None,
) -> None:
    """Measure the speed of rulesets; without arguments, of all rulesets.

    `games/s` and `decisions/s` measure whole games, `applied/s` games through `decision` and `apply`. `free` counts
    decisions with more than one option. `clone`, `undo` and `digest` are measured in round 6, or halfway through a
    shorter game; `load` in a new process; `kB` is the peak memory of a game with its log. All times are CPU times. The
    seeds are fixed, so that figures can be compared.

    Saved figures are also normalised by a small Python loop, so that you can compare machines.

    \b
    Examples:
      regelwerk bench
      regelwerk bench germany-2018 --players 3,6 --bots greedy
      regelwerk bench germany-2004 --with robots:2 --players 3
      regelwerk bench goofspiel --time 0.2 --rounds 3 -o json
      regelwerk bench --save before.json
      regelwerk bench --baseline before.json
    """
    from interpreter.simulate.baseline import FIGURES, changes, read_report, report, row_of

    if save is not None and not save.parent.is_dir():
        raise click.BadParameter(f"no such folder: {save.parent}", param_hint="--save")
    with wrong_use(f"{baseline}: "):
        kept = read_report(baseline.read_text(encoding="utf-8", errors="replace")) if baseline is not None else None
    if (request.overlays or request.settings) and not rulesets:
        raise click.UsageError("overlays and settings go with the name of a ruleset")
    subjects: list[Subject] = []
    samples: list[list[Sample]] = []
    for subject in _subjects(request, rulesets, numbers):
        subjects.append(subject)
        samples.append([subject.sample(seconds) for _ in shown(range(rounds), rounds, subject.title)])
        if request.output == "text":
            if len(samples) == 1:
                _say("ruleset, players, bot", [figure.title for figure in FIGURES.values()])
            row = row_of(subject, samples[-1])
            about = f"{row['ruleset']}, {counted(row['players'], 'player')}, {row['policy']}"
            _say(about, [_number(row["figures"][name]) for name in FIGURES])
    if not subjects:
        raise click.UsageError("no ruleset allows this number of players")
    data = report(__version__, subjects, samples, seconds)
    differences = list(changes(kept, data)) if kept is not None else []
    if request.output == "json":
        as_json(data if kept is None else {**data, "changes": differences})
    elif kept is not None:
        _compared(kept, data, differences)
    if save is not None:
        save.write_text(json_of(data, 2) + "\n", encoding="utf-8")
    finish([game for subject in subjects for game in subject.unfinished.values()])
    if any(change.worse for change in differences) or (kept is not None and not differences):
        raise click.exceptions.Exit(1)


# --- measurements


def _subjects(request: options.Request, rulesets: Sequence[str], numbers: Sequence[int]) -> Iterator[Subject]:
    """Yield a row for each ruleset and number of players. Unnamed rulesets that do not allow the number are skipped."""
    from interpreter.reading.files import shelf_for
    from interpreter.simulate.throughput import Subject

    for name in rulesets or shelf_for().ids("ruleset"):
        ruleset = options.loaded(name, request.overlays)
        options.tell_plain(ruleset)
        allowed = ruleset.composition.players
        for number in numbers or (min(max(USUAL, allowed.low), allowed.high),):
            if rulesets:
                options.players_for(ruleset, number)
            elif number not in allowed:
                notice(f"{name}: not for {number} players")
                continue
            values = options.settings_for(ruleset, number, request.settings)
            with wrong_value("--bots", about=f"{name}: "):
                subject = Subject(name, number, request.bots, ruleset, request.overlays, values)
            if request.bots is not None and "," in request.bots:
                raise click.BadParameter("one policy plays all seats", param_hint="--bots")
            yield subject


# --- output


def _say(about: str, figures: Sequence[str]) -> None:
    """Print a line that names a row, and its figures below it."""
    say(about)
    for start in range(0, len(figures), BESIDE):
        say("  " + "  ".join(cell.rjust(CELL) for cell in figures[start : start + BESIDE]))


def _compared(kept: Report, data: Report, differences: Sequence[Change]) -> None:
    from interpreter.simulate.baseline import FIGURES, LIMIT

    compared = {(change.ruleset, change.players) for change in differences}
    for row in data["rows"]:
        if (row["ruleset"], row["players"]) not in compared:
            notice(f"{row['ruleset']}, {row['players']} players, {row['policy']}: nothing to compare with")
    if kept.get("python") != data["python"]:
        notice(f"the baseline was measured with Python {kept.get('python')}, these figures with {data['python']}")
    changed = {change.ruleset for change in differences if FIGURES[change.figure].sort == "count" and change.percent}
    for name in sorted(changed):
        notice(f"{name}: games have another length than in the baseline, so games a second are not comparable")
    say()
    if not differences:
        say("nothing was compared")
        return
    rows = [
        (each.ruleset, each.players, FIGURES[each.figure].title, each.before, each.now, each.percent, each.worse)
        for each in differences
    ]
    before, now, change = Column("before", _number), Column("now", _number), Column("change", "{:.1f}%".format)
    is_worse = Column("", lambda worse: "worse" if worse else "")
    tell(Grid(("ruleset", "players", "figure", before, now, change, is_worse), rows))
    worse = sum(change.worse for change in differences)
    say(f"{worse} of {len(differences)} figures worse by more than {LIMIT:.0f} %")


def _number(number: float) -> str:
    """Format a number with three significant digits, or as an integer if it has more."""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
