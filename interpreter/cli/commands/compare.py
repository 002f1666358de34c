"""``regelwerk compare``: differences between rulesets, where games first diverge, and the effects on play."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from interpreter.base.plain_data import Json
from interpreter.base.plurals import composed, counted
from interpreter.base.suggest import did_you_mean_one_of
from interpreter.cli import options
from interpreter.cli.failures import wrong_value
from interpreter.cli.output import as_json, notice, picked, tell, width, write_page
from interpreter.cli.progress import collected, finish
from interpreter.pages.page import Block, Facts, Folded, Grid, Listing, Paragraph, Section, Strong
from interpreter.pages.text import cut, lines_of

if TYPE_CHECKING:
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import Comparison
    from interpreter.engine.game import Ruleset
    from interpreter.pages.comparison import Played

USUAL_GAMES = 100
_BRIEF, _LARGEST = 30, 5
"""Lines of the summary, and how many of the largest differences or effects it has."""

__all__ = ["command"]


@click.command("compare")
@click.argument("names", nargs=-1, required=True, metavar="A B")
@options.overlays_option
@options.players_option("rules for any number; games for the smallest that both allow")
@options.settings_option
@click.option("--full", is_flag=True, help="List every difference, effect, card, node and kind.")
@click.option("--all", "matrix", is_flag=True, help="Compare each pair of the rulesets, or of a whole family.")
@options.games_option(about="none", least=2)
@click.option("--each", is_flag=True, help="Also play each difference by itself, applied to A.")
@options.bots_option("sensible where both have it, else greedy, else random")
@options.seed_option
@options.jobs_option
@options.file_option("--report", about="Write everything to an HTML page (.html).")
@options.requested("text", "json", "html")
def command(
    request: options.Request,
    names: tuple[str, ...],
    full: bool,
    matrix: bool,
    games: int | None,
    each: bool,
    report: Path | None,
) -> None:
    """Compare A and B: rules with their texts and statements, tables cell by cell, components, the board and its
    distances, in the order of play. If the list is long, a summary is printed: the numbers of differences, and the
    largest ones; --full adds the list, and -o json has all of it.

    A and B are rulesets, with or without overlays (`NAME+OVERLAY`), or files. For an overlay, edition, map or deck, the
    report shows how it changes the other ruleset. Rules that can never apply under the settings are ignored, and so are
    texts that moved to another file unchanged. With --all, every ruleset of a family is compared with every other; if
    the matrix is wider than the terminal, only the nearest ones of each are printed. With --report, a page also sets
    their boards and games side by side.

    With --games, bots also play both: in lock step until the games diverge, to find the cause, and in pairs with the
    same seed, to compare the measures, and what they say of each card, node and kind. With --each, every difference is
    applied to A by itself and played. --report writes everything to one HTML file (100 games by default).

    \b
    Examples:
      regelwerk compare germany-2004 germany-2018
      regelwerk compare germany-2004 germany-2018 --full
      regelwerk compare germany-2004 germany-2018 --players 3 -o json
      regelwerk compare germany-2018 power-grid/start-cities
      regelwerk compare --all power-grid
      regelwerk compare --all power-grid --players 4 --games 100 --report boards.html
      regelwerk compare germany-2004 germany-2018 --games 200 --seed 1
      regelwerk compare germany-2004 germany-2018 --games 20 --each
      regelwerk compare germany-2004 germany-2018 --report report.html
    """
    options.suffix_of(report, ".html")
    if matrix:
        from interpreter.cli.family_matrix import compare_all

        if request.overlays or request.settings or each:
            raise click.UsageError("--all compares rulesets as they are, without --with, --without, --set and --each")
        compare_all(names, request, games, report)
        return
    if len(names) != 2:
        raise click.UsageError(f"got {counted(len(names), 'name')}, want two, or --all")
    sides = names[0], names[1]
    comparison, compared = _compared(sides, request)
    games = games or (USUAL_GAMES if report else None)
    if each and not games:
        raise click.UsageError("--each needs the number of games for each difference, as --games 20")
    if report is not None:
        options.can_be_written(report)
    played = _played(comparison, compared, sides, request, games, each) if games else None
    done = len(played.partings) if played is not None else 0
    results = played if done else None
    unfinished = played.unfinished if played is not None else []
    if report is not None or request.output == "html":
        from interpreter.pages.comparison import ComparisonReport
        from interpreter.pages.html import html_of

        page = html_of(ComparisonReport(comparison, sides, results).page())
        if request.output == "html":
            click.echo(page, nl=False)
        if report is not None:
            count = f", {counted(done, 'pair')} of games" if games else ""
            write_page(page, report, f"{counted(len(comparison.differences), 'difference')}{count}")
    if request.output == "json":
        as_json(_data(comparison, names, results))
    elif request.output == "text" and report is None:
        _tell(comparison, sides, results, full)
    stopped = ""
    if games and done + len(unfinished) < games:
        stopped = f"{done + len(unfinished)} of {games} pairs of games are done"
    elif results is not None and len(results.singly) < results.things:
        stopped = f"{len(results.singly)} of {counted(results.things, 'difference')} are played by themselves"
    finish(unfinished, stopped)


def _compared(names: tuple[str, str], request: options.Request) -> tuple[Comparison, tuple[Compared, Compared]]:
    """Return what differs, and the two sides with what was found in them."""
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import differences
    from interpreter.compare.operands import sides_of

    a, b = sides_of(*names, request.overlays)
    if request.players is not None:
        (a, _), (b, _) = options.players_for(a, request.players), options.players_for(b, request.players)
    sides = Compared(a), Compared(b)
    return differences(*sides, _known((a, b), request.settings), request.players), sides


def _known(sides: Sequence[Ruleset], assignments: Sequence[str]) -> dict[str, Json]:
    """Return the given settings with checked values. Each must exist on at least one side."""
    known: dict[str, Json] = {}
    for ruleset in sides:
        typed = options.settings_given(ruleset, assignments)
        for key in typed:
            if not any(side.has_setting(key) for side in sides):
                names = (name for side in sides for name in (*side.model.settings, *side.model.interpretations))
                near = did_you_mean_one_of(key, names)
                raise click.BadParameter(f"neither of the two has a setting `{key}`{near}", param_hint="--set")
        options.check_effect(typed, *sides)
        own = ruleset.own_settings(typed)
        with wrong_value("--set"):
            values = ruleset.settings(own)
        known |= {name: values[name] for name in own}
    return known


def _played(
    comparison: Comparison,
    compared: tuple[Compared, Compared],
    names: tuple[str, str],
    request: options.Request,
    games: int,
    each: bool,
) -> Played:
    """Play both sides, all games or those before Ctrl-C; with ``each``, also every difference by itself."""
    from interpreter.bots.registry import default_bots
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import differences
    from interpreter.compare.paired_games import PairPlan
    from interpreter.pages.comparison import Played

    number = request.players or (comparison.a.players & comparison.b.players).usual
    (a, _), (b, _) = options.players_for(comparison.a, number), options.players_for(comparison.b, number)
    start, bots = options.seed_for(request.seed), request.bots or default_bots(a, b)
    values = options.settings_given(a, request.settings)
    for side in (a, b):
        options.bots_for(side, number, bots)
        with wrong_value("--set"):
            side.new_game(number, settings=side.own_settings(values))
    known = _known((a, b), request.settings)
    left, right = (of if of.ruleset is side else Compared(side) for of, side in zip(compared, (a, b), strict=True))
    found = comparison if request.players is not None else differences(left, right, known, number)
    digests = a.digest, b.digest
    plan = PairPlan(names, request.overlays, digests, number, bots, tuple(values.items()), tuple(known.items()))
    tried = collected(plan, found, range(start, start + games), request.crew, "pairs of games")
    table = composed(f"{counted(number, 'player')} by the bot {bots}", (), known)
    played = Played.of(table, range(start, start + games), tried, (a, b))
    if each and len(tried) == games:
        from interpreter.compare.ablation import Singly, ranked, singles

        job, count = Singly(plan, tuple(parting.seed for parting in played.partings)), len(singles(found))
        singly = collected(job, found, range(count), request.crew, "differences")
        played = replace(played, singly=ranked(singly), things=count)
    return played


# --- data


def _data(comparison: Comparison, names: Sequence[str], played: Played | None) -> dict[str, object]:
    from interpreter.compare.divergence import causes, from_the_start

    data: dict[str, object] = {"a": names[0], "b": names[1], "rows": comparison.differences}
    if comparison.graph is not None:
        data["distances"] = picked(comparison.graph, "pairs", "nearer", "farther", "most")
    if played is not None:
        data |= {
            "played": played.how,
            **picked(played, "unfinished", "effects", "gains"),
            "first_apart": causes(played.partings),
            "apart_from_the_start": from_the_start(played.partings),
            "never_apart": sum(not each.path for each in played.partings),
            **({"by_itself": played.singly} if played.singly else {}),
        }
    return data


# --- words


def _tell(comparison: Comparison, names: tuple[str, str], played: Played | None, full: bool) -> None:
    """Print a summary, with the largest effects of the games; the list of differences if it is short or ``full``."""
    from interpreter.compare.largest import largest
    from interpreter.pages.comparison import ComparisonReport

    report = ComparisonReport(comparison, names, played, terse=True, full=full)
    number, families = len(comparison.differences), comparison.families
    chapters, games = [*report.chapters()], [*report.games()]
    is_long = sum(map(bool, lines_of([*chapters, *games[:1]], width()))) >= _BRIEF
    blocks: list[Block | Section] = []
    if number:
        about = f"different families ({families[0]} and {families[1]}), " if families else ""
        blocks.append(Paragraph((Strong(" → ".join(names)), f": {about}{counted(number, 'difference')}")))
    else:
        blocks.append(Paragraph(f"{names[0]} and {names[1]} are the same game"))
    if games and report.titles is not report.named:
        blocks.append(Facts(list(zip(report.titles, names, strict=True))))
    if is_long and (full or not families):
        numbers = [(comparison.chapters[each], str(len(found))) for each, found in comparison.by_chapter.items()]
        blocks += (Paragraph(""), Grid((), numbers, long=True))
        if not games:
            parts = largest(comparison, names)[:_LARGEST]
            lines = [cut(f"  {part.name} ({part.kind}, {part.chapter}): {part.short}", width()) for part in parts]
            about = "The largest differences in play" if comparison.in_play else "The largest differences"
            blocks.append(Folded(about, [Listing(lines)]))
    tell(*blocks, *(chapters if full or not is_long else ()), *games)
    if is_long and not full:
        notice(f"--full lists all {counted(number, 'difference')}{' and every effect' if games else ''}")
