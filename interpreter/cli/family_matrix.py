"""``regelwerk compare --all``: every pair of rulesets, and all of them side by side on a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import click

from interpreter.base.plurals import counted
from interpreter.bots.registry import default_bots
from interpreter.cli import options
from interpreter.cli.failures import refused_for
from interpreter.cli.output import as_json, notice, say_lines, width, write_page
from interpreter.cli.progress import counted as shown
from interpreter.cli.progress import counting, finish, interruptible, naming
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.operands import Member, family_of, title_of
from interpreter.compare.side_by_side import Counts, boards_of, means_of, titles_of
from interpreter.engine.game import Ruleset
from interpreter.pages.family_comparison import PAIRS, FamilyGames, family_page, matrix_of
from interpreter.pages.html import html_of
from interpreter.pages.page import Grid
from interpreter.pages.text import lines_of
from interpreter.reading.dependencies import at_one_moment
from interpreter.simulate.simulation import Unfinished
from interpreter.simulate.summary import summed_up
from interpreter.simulate.totals import Totals
from interpreter.simulate.workers import Plan, Sums, WorkersLost, shared

__all__ = ["compare_all", "nearest"]

_Pairs = dict[tuple[int, int], Comparison]


@at_one_moment()
def compare_all(names: Sequence[str], request: options.Request, games: int | None, report: Path | None) -> None:
    """Compare every pair of these rulesets, or of the rulesets of a family, and play this number of games of each."""
    is_page = report is not None or request.output == "html"
    if not is_page and (games or request.players):
        raise click.UsageError("--all plays games only for a page: add --report FILE or -o html")
    if report is not None:
        options.can_be_written(report)
    members: list[Member] = []
    with naming("loaded") as tell:
        for member in family_of(names):
            tell(member.name)
            members.append(member)
    if len(members) < 2:
        raise click.UsageError(f"got {counted(len(members), 'ruleset')} for {', '.join(names)}, want two or more")
    rulesets = [each.ruleset for each in members]
    titles = titles_of(rulesets)
    results, unfinished = _games(members, titles, request, games) if games else (None, [])
    family = [Compared(each) for each in rulesets]
    two = [*combinations(range(len(family)), 2)]
    pairs = {(x, y): differences(family[x], family[y]) for x, y in shown(two, len(two), "pairs")}
    if is_page:
        families = dict.fromkeys(title_of(ruleset, "family") for ruleset in rulesets)
        about = f"{' and '.join(families)}, side by side"
        text = html_of(family_page(about, boards_of(rulesets), results, titles, _counts(pairs)))
        if request.output == "html":
            click.echo(text, nl=False)
        if report is not None:
            write_page(text, report, f"{counted(len(rulesets), 'ruleset')}, {counted(len(pairs), 'pair')}")
    if request.output == "json":
        as_json(_data(rulesets, pairs))
    elif request.output == "text" and report is None:
        _text(rulesets, pairs)
    finish(unfinished)


# --- games


def _games(
    members: Sequence[Member], titles: Sequence[str], request: options.Request, games: int
) -> tuple[FamilyGames, list[Unfinished]]:
    """Play each ruleset with the same seeds and bots. Return the results, and the games that do not end."""
    rulesets = [member.ruleset for member in members]
    players = request.players or max(member.players.usual for member in rulesets)
    start, bots = options.seed_for(request.seed), request.bots or default_bots(*rulesets)
    seeds = range(start, start + games)
    means, refused, unfinished = {}, {}, list[Unfinished]()
    with interruptible() as stopped, counting("games", games * len(members)) as tell:
        for member, title in zip(members, titles, strict=True):
            try:
                member.ruleset.check_players(players)
            except ValueError as error:
                refused[title] = str(error)
                tell(games)
            else:
                totals, ruleset = Totals(), member.ruleset.for_players(players)
                plan = Plan(member.name, member.overlays, ruleset.digest, players, bots)
                with refused_for(WorkersLost):
                    for parts in shared(Sums(plan), ruleset, seeds, *request.crew(games), stopped):
                        for part in parts:
                            totals += part
                            tell(part.played)
                if totals.played < games:
                    finish(totals.unfinished, f"{totals.played} of {games} games of {ruleset.id} are done")
                unfinished += totals.unfinished
                if totals.games:
                    names = [bot.name for bot in options.bots_for(member.ruleset, players, bots)]
                    means[title] = means_of(summed_up(ruleset, names, totals))
                else:
                    refused[title] = "no game ends"
    table = f"{counted(players, 'player')} by the bot {bots}"
    how = f"{counted(games, 'game')} of each, {table}, seeds {start} to {start + games - 1}"
    return FamilyGames(how, means, refused), unfinished


# --- text and data


def _data(rulesets: Sequence[Ruleset], pairs: _Pairs) -> list[dict[str, object]]:
    return [
        {
            "a": rulesets[x].id,
            "b": rulesets[y].id,
            "differences": len(comparison.differences),
            "in_play": len(comparison.in_play),
            "rows": comparison.differences,
        }
        for (x, y), comparison in pairs.items()
    ]


def _text(rulesets: Sequence[Ruleset], pairs: _Pairs) -> None:
    """Print the matrix of all pairs if the terminal is wide enough, else the nearest rulesets of each."""
    ids = [ruleset.id for ruleset in rulesets]
    counts = _counts(pairs)
    lines = [*lines_of([matrix_of(ids, counts)], width())]
    is_short = len(lines) > len(ids) + 1  # in several blocks
    if is_short:
        lines = [*lines_of([nearest(ids, counts, width())], width())]
    say_lines([PAIRS, "", *lines])
    if is_short:
        notice(f"only the nearest are shown; all {counted(len(pairs), 'pair')}: -o json, or a page with --report FILE")


def _counts(pairs: _Pairs) -> Counts:
    return {pair: (len(found.in_play), len(found.differences)) for pair, found in pairs.items()}


def nearest(ids: Sequence[str], counts: Counts, width: int) -> Grid:
    """Return a row for each ruleset with the rulesets that differ least from it, as many as there is room for."""
    rows = []
    for x, id in enumerate(ids):
        others = sorted((counts[min(x, y), max(x, y)], y) for y in range(len(ids)) if y != x)
        found, *more = [f"{ids[y]} {in_play}/{all_}" for (in_play, all_), y in others]
        for other in more:
            if max(map(len, ids)) + 2 + len(f"{found}, {other}") > width:
                break
            found += f", {other}"
        rows.append((id, found))
    return Grid(("", "nearest"), rows)
