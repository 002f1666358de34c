"""``regelwerk verify``: search for faults by playing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from interpreter.base.diagnostics import Diagnostic, render
from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.output import as_json, notice, picked, say, say_lines, styled
from interpreter.cli.progress import counting, naming
from interpreter.reading.dependencies import at_one_moment

if TYPE_CHECKING:
    from interpreter.engine.game import Ruleset
    from interpreter.testing.verify import Finding, Played

__all__ = ["command"]

GAMES = 100
SECONDS = 25.0
"""Default number of games, and the seconds after which a default run ends early."""
SHRINKING = 10.0
"""Most seconds to reduce a finding if the time is limited."""
AT_LEAST = 3.0
"""Seconds to reduce a finding even if the time is up."""


@click.command("verify")
@options.ruleset_argument
@options.overlays_option
@options.games_option(about=f"{GAMES}, at most {SECONDS:.0f} seconds")
@options.seconds_option(None, "until the games are over", zero=True)
@options.several_players_option("all")
@options.seed_option
@options.settings_option
@options.folder_option("--write", about="Write the scenarios to a new file in this folder.")
@options.requested("text", "json")
@at_one_moment()
def command(
    request: options.Request,
    games: int | None,
    seconds: float | None,
    numbers: tuple[int, ...],
    write: Path | None,
) -> None:
    """Search for faults by playing, with all numbers of players, several bots and other settings: failing rules,
    decisions without options, endless phases and games, broken totals, refused options, leaked hidden information,
    copies of games that differ.

    A leak is a channel (log, view, preview, refusal, …) that tells a player more than the rules do. What the rules
    themselves tell, by an event, a visible value or the options, is listed as told, unless they disclose it on purpose
    (`discloses`). It is no fault.

    The compiled rules play, and every choice is checked for failing rules and broken totals. Slower checks (options,
    copies, the plain form, hidden information) are sampled: always at the first moment of each kind, then less and less
    often. The last lines report the extent of the checks: decisions checked closely, pairs of games that differ in
    hidden information only, and rules that came into play.

    Each fault is reduced to a short scenario that fails until the fault is fixed. --write saves it beside the ruleset,
    where `regelwerk test` runs it. The same seed plays the same games. The exit status is 1 if a fault is found.

    \b
    Examples:
      regelwerk verify goofspiel
      regelwerk verify germany-2004 --with robots:2 --players 2,3 --games 20
      regelwerk verify my-town --time 60 --write rulesets/power-grid/scenarios
    """
    from interpreter.cli.outlets import CHANNELS
    from interpreter.testing.shrink import shrink
    from interpreter.testing.verify import Played, verify

    loaded = request.load()
    options.tell_plain(loaded)
    people = [options.players_for(loaded, number)[1] for number in numbers]
    start = options.seed_for(request.seed)
    usual = people[0] if people else loaded.players.usual
    values = options.settings_for(loaded.for_players(usual), usual, request.settings)
    played, reported = Played(), []
    asked_for = games
    if games is None and seconds is None:
        games, seconds = GAMES, SECONDS
    began = monotonic()
    findings = verify(loaded, start, games, seconds, people, values, played, CHANNELS)
    for finding in _with_progress(findings, games, seconds, played):
        left = (max(AT_LEAST, min(SHRINKING, began + seconds - monotonic())),) if seconds is not None else ()
        with naming("reducing to a short scenario:") as tell:
            tell(finding.trouble.kind)
            scenario = shrink(finding, *left)
        reported.append((finding, scenario))
        if request.output == "text":
            _tell(finding, scenario)
    skipped = _skipped(played, games, asked_for, seconds)
    scenarios = [scenario for _, scenario in reported if scenario is not None]
    file = _write(write, loaded, scenarios) if write is not None and scenarios else None
    faults = sum(finding.trouble.kind != "told" for finding, _ in reported)
    if request.output == "json":
        about = {"ruleset": loaded.id, "overlays": request.overlays, "seed": start}
        about |= {**picked(played, "games", "decisions", "closely", "pairs"), "skipped": skipped}
        about |= {"rules": len(played.rules.all), "unplayed": played.rules.unplayed}
        about |= {"file": str(file) if file is not None else None}
        as_json({**about, "findings": [_data(finding, scenario) for finding, scenario in reported]})
    else:
        count = f"{played.games:,} games, {played.decisions:,} decisions, seed {start}"
        told = f"; {counted(len(reported) - faults, 'thing')} told" if len(reported) > faults else ""
        say(f"{count}: {faults or 'nothing'} found{told}" + (f", written to {file}" if file is not None else ""))
        looks, pairs = f"{played.closely:,} of {counted(played.decisions, 'decision')}", counted(played.pairs, "pair")
        notice(f"checked closely: {looks}, {pairs} of games; more with --games or --time")
        if every := len(played.rules.all):
            rules = every - len(played.rules.unplayed)
            notice(f"rules in play: {rules:,} of {every:,} ({100 * rules // every} %)")
        for line in skipped:
            notice(f"skipped: {line}")
    if faults:
        raise click.exceptions.Exit(1)


def _skipped(played: Played, games: int | None, asked_for: int | None, seconds: float | None) -> list[str]:
    """Return the checks that were left out, apart from sampling."""
    skipped = []
    if games is not None and seconds is not None and played.games < games:
        remedy = "" if asked_for is not None else f"; `--games {games}` plays them all"
        skipped.append(f"{counted(games - played.games, 'game')}, since the time of {seconds:.0f} s was over{remedy}")
    if played.cut:
        skipped.append("the end of the last game, for the same reason")
    if played.refused:
        skipped.append(f"{counted(played.refused, 'draw')} of settings that the ruleset refuses")
    return skipped


def _with_progress(
    findings: Iterator[Finding], games: int | None, seconds: float | None, played: Played
) -> Iterator[Finding]:
    began, done = monotonic(), 0
    while True:
        total = games if games is not None else round(seconds or 0)
        with counting("games" if games is not None else "seconds", total, done) as tell:

            def progress(tell: Callable[[int], None] = tell) -> None:
                nonlocal done
                now = max(0, played.games - 1) if games is not None else round(monotonic() - began)
                if now > done:
                    tell(now - done)
                    done = now

            played.watch = progress
            finding = next(findings, None)
        if finding is None:
            return
        yield finding


def _tell(finding: Finding, scenario: str | None) -> None:
    trouble = finding.trouble
    say(render(Diagnostic(trouble.kind, trouble.message, trouble.span)))
    say_lines(f"   {note}" for note in trouble.notes)
    say(f"   in a game with {finding.course}, after {counted(len(finding.choices), 'choice')}")
    if trouble.kind == "told":
        say("   if that is meant, name it under `discloses` of the rule")
    elif scenario is None:
        say("   no short scenario reproduces it")
    else:
        say("   this scenario reproduces it:")
        say(styled("\n".join(f"   {line}" for line in scenario.rstrip().splitlines()), dim=True))
    say()


def _data(finding: Finding, scenario: str | None) -> dict[str, object]:
    trouble, course = finding.trouble, finding.course
    choices = [{"by": by, **choice} for by, choice in finding.choices]
    about = {**picked(trouble, "kind", "message"), "place": trouble.span, "notes": trouble.notes}
    return {**about, **picked(course, "players", "seed", "settings", "bots"), "choices": choices, "scenario": scenario}


def _write(folder: Path, ruleset: Ruleset, scenarios: list[str]) -> Path:
    """Write the scenarios to a new file in the folder, with unique names, and return its path."""
    from interpreter.testing.recording import file_with

    folder.mkdir(parents=True, exist_ok=True)
    path = next(p for n in count(1) if not (p := folder / f"verify-{ruleset.id}-{n}.yaml").exists())
    text = file_with("", f"{ruleset.composition.family}/{path.stem}", "\n".join(scenarios))
    path.write_text(text, encoding="utf-8")
    return path
