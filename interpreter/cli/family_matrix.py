"""``regelwerk compare --all``: every pair of rulesets, and all of them side by side on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.output import aligned, as_json, notice, say, width
from interpreter.cli.progress import counted as shown
from interpreter.cli.progress import counting, finish, interruptible, naming

if TYPE_CHECKING:
    from interpreter.base.plain_data import Json
    from interpreter.compare.differences import Comparison
    from interpreter.compare.operands import Member
    from interpreter.engine.ruleset import Ruleset
    from interpreter.pages.family_comparison import FamilyGames
    from interpreter.simulate.simulation import Unfinished
    from interpreter.simulate.totals import Totals

__all__ = ["FamilyPlan", "compare_all", "nearest_lines"]

_Pairs = dict[tuple[int, int], "Comparison"]
_Counts = dict[tuple[int, int], tuple[int, int]]
"""For each pair, the number of differences in play and of all differences."""


class FamilyPlan(Struct, frozen=True):
    """Number of games to play of each ruleset, and their parameters. Without a ``count``, none are played."""

    count: int | None
    players: int | None
    bots: str | None
    seed: int | None
    jobs: int | None


def compare_all(names: Sequence[str], plan: FamilyPlan, report: Path | None, output: str) -> None:
    """Compare every pair of these rulesets, or of the rulesets of a family."""
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import differences
    from interpreter.compare.operands import family_of
    from interpreter.compare.side_by_side import titles_of

    is_page = report is not None or output == "html"
    if not is_page and (plan.count or plan.players):
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
    unfinished: list[Unfinished] = []
    rulesets = [each.ruleset for each in members]
    titles = titles_of(rulesets)
    games = _games(members, titles, plan, unfinished) if plan.count else None
    family = [Compared(each) for each in rulesets]
    two = [*combinations(range(len(family)), 2)]
    pairs = {(x, y): differences(family[x], family[y]) for x, y in shown(two, len(two), "pairs")}
    if is_page:
        text = _page(rulesets, titles, games, pairs)
        if output == "html":
            click.echo(text, nl=False)
        if report is not None:
            report.write_text(text, encoding="utf-8")
            notice(f"{report}: {counted(len(rulesets), 'ruleset')}, {counted(len(pairs), 'pair')}")
    if output == "json":
        as_json(_data(rulesets, pairs))
    elif output == "text" and report is None:
        _text(rulesets, pairs)
    finish(unfinished)


def _page(rulesets: Sequence[Ruleset], titles: list[str], games: FamilyGames | None, pairs: _Pairs) -> str:
    from interpreter.compare.side_by_side import boards_of, family_title
    from interpreter.pages.family_comparison import Matrix, family_page
    from interpreter.pages.html import html_of

    counts = {pair: (len(comparison.in_play), len(comparison.differences)) for pair, comparison in pairs.items()}
    matrix = Matrix(titles, counts)
    families = dict.fromkeys(map(family_title, rulesets))
    return html_of(family_page(f"{' and '.join(families)}, side by side", boards_of(rulesets), games, matrix))


# --- games


def _games(
    members: Sequence[Member], titles: Sequence[str], plan: FamilyPlan, unfinished: list[Unfinished]
) -> FamilyGames:
    """Play each ruleset with the same seeds and bots. Games that do not end are added to ``unfinished``."""
    from interpreter.bots.registry import default_bots
    from interpreter.compare.side_by_side import means_of
    from interpreter.pages.family_comparison import FamilyGames
    from interpreter.simulate.summary import summed_up

    assert plan.count is not None
    rulesets = [member.ruleset for member in members]
    players = plan.players or max(member.players.usual for member in rulesets)
    start, bots = options.seed_for(plan.seed), plan.bots or default_bots(*rulesets)
    seeds = range(start, start + plan.count)
    means, refused = {}, {}
    with interruptible() as stopped, counting("games", plan.count * len(members)) as tell:
        for member, title in zip(members, titles, strict=True):
            try:
                member.ruleset.check_players(players)
            except ValueError as error:
                refused[title] = str(error)
                tell(plan.count)
            else:
                totals = _totals(member, players, bots, seeds, plan.jobs, (stopped, tell))
                unfinished += totals.unfinished
                if totals.games:
                    names = [bot.name for bot in options.bots_for(member.ruleset, players, bots)]
                    means[title] = means_of(summed_up(member.ruleset.for_players(players), names, totals))
                else:
                    refused[title] = "no game ends"
    table = f"{counted(players, 'player')} by the bot {bots}"
    how = f"{counted(plan.count, 'game')} of each, {table}, seeds {start} to {start + plan.count - 1}"
    return FamilyGames(how, means, refused)


def _totals(
    member: Member,
    players: int,
    bots: str,
    seeds: Sequence[int],
    jobs: int | None,
    run: tuple[Callable[[], bool], Callable[[int], None]],
) -> Totals:
    """Play the games of a ruleset. ``run`` returns whether to stop, and is told how many games are over."""
    from interpreter.cli.failures import refused
    from interpreter.simulate.totals import Totals
    from interpreter.simulate.workers import Plan, Sums, WorkersLost, shared

    ruleset = member.ruleset.for_players(players)
    plan = Plan(member.name, member.overlays, ruleset.digest, players, bots)
    totals, (stopped, tell) = Totals(), run
    try:
        crew, alone = options.crew_for(jobs, len(seeds)), options.alone_for(jobs)
        for parts in shared(Sums(plan), ruleset, seeds, crew, alone, stopped):
            for part in parts:
                totals += part
                tell(part.played)
    except WorkersLost as error:
        refused(str(error))
    if totals.played < len(seeds):
        finish(totals.unfinished, f"{totals.played} of {len(seeds)} games of {ruleset.id} are done")
    return totals


# --- text and data


def _data(rulesets: Sequence[Ruleset], pairs: _Pairs) -> list[dict[str, Json]]:
    return [
        {
            "a": rulesets[x].id,
            "b": rulesets[y].id,
            "differences": len(comparison.differences),
            "in_play": len(comparison.in_play),
            "rows": [{"chapter": each.chapter, "kind": each.kind, **each.row} for each in comparison.differences],
        }
        for (x, y), comparison in pairs.items()
    ]


def _text(rulesets: Sequence[Ruleset], pairs: _Pairs) -> None:
    """Print the matrix of all pairs if the terminal is wide enough, else the nearest rulesets of each."""
    ids = [ruleset.id for ruleset in rulesets]
    counts = {pair: (len(found.in_play), len(found.differences)) for pair, found in pairs.items()}
    lines = _matrix(ids, counts)
    is_short = len(lines) > len(ids) + 1  # in several blocks
    if is_short:
        lines = nearest_lines(ids, counts, width())
    for line in ("rules and tables that differ in play / all that differs", "", *lines):
        say(line)
    if is_short:
        notice(f"only the nearest are shown; all {counted(len(pairs), 'pair')}: -o json, or a page with --report FILE")


def _matrix(ids: Sequence[str], counts: _Counts) -> list[str]:
    rows = []
    for y, id in enumerate(ids):
        cells = ["·" if x == y else "{}/{}".format(*counts[x, y]) if x < y else "" for x in range(len(ids))]
        rows.append((str(y + 1), id, *cells[:-1]))
    return aligned(("", "", *map(str, range(1, len(ids)))), rows)


def nearest_lines(ids: Sequence[str], counts: _Counts, width: int) -> list[str]:
    """Return a line for each ruleset with the rulesets that differ least from it, as many as there is room for."""
    rows = []
    for x, id in enumerate(ids):
        others = sorted((counts[min(x, y), max(x, y)], y) for y in range(len(ids)) if y != x)
        nearest, *more = [f"{ids[y]} {in_play}/{all_}" for (in_play, all_), y in others]
        for other in more:
            if max(map(len, ids)) + 2 + len(f"{nearest}, {other}") > width:
                break
            nearest += f", {other}"
        rows.append((id, nearest))
    return aligned(("", "nearest"), rows)
