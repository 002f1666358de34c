"""``regelwerk compare``: differences between rulesets, where games first diverge, and the effects on play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, TypeVar

import click

from interpreter.base.plain_data import Json, Value
from interpreter.base.plurals import composed, counted
from interpreter.cli import options
from interpreter.cli.failures import refused, wrong_value
from interpreter.cli.output import (
    aligned,
    as_json,
    cut,
    notice,
    picked,
    say,
    say_heading,
    say_lines,
    say_table,
    styled,
    unheaded,
    width,
    write_page,
)
from interpreter.cli.progress import counting, finish, interruptible

if TYPE_CHECKING:
    from interpreter.compare.ablation import Alone
    from interpreter.compare.comparable import Side
    from interpreter.compare.differences import Comparison, Difference
    from interpreter.compare.divergence import Apart
    from interpreter.compare.effect_sizes import Effect
    from interpreter.compare.graph_changes import GraphChanges
    from interpreter.engine.ruleset import Ruleset
    from interpreter.pages.comparison import Played
    from interpreter.simulate.workers import Job

USUAL_GAMES = 100
_LEAST, _MOST = 70, 140
"""Columns of texts side by side."""
_BRIEF, _LARGEST = 25, 5
"""Lines of the summary, and how many of the largest differences or effects it has."""

__all__ = ["command"]

_Found = TypeVar("_Found")
_Given = TypeVar("_Given")


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
@options.output_option("text", "json", "html")
@options.requested
def command(
    request: options.Request,
    names: tuple[str, ...],
    full: bool,
    matrix: bool,
    games: int | None,
    each: bool,
    report: Path | None,
    output: str,
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
    if report is not None:
        options.suffix_of(report, ".html")
    if matrix:
        from interpreter.cli.family_matrix import compare_all

        if request.overlays or request.settings or each:
            raise click.UsageError("--all compares rulesets as they are, without --with, --without, --set and --each")
        compare_all(names, request, games, report, output)
        return
    if len(names) != 2:
        raise click.UsageError(f"got {counted(len(names), 'name')}, want two, or --all")
    sides = names[0], names[1]
    comparison = _compared(sides, request)
    games = games or (USUAL_GAMES if report else None)
    if each and not games:
        raise click.UsageError("--each needs the number of games for each difference, as --games 20")
    if report is not None:
        options.can_be_written(report)
    played = _played(comparison, sides, request, games, each) if games else None
    done = len(played.partings) if played is not None else 0
    results = played if done else None
    unfinished = played.unfinished if played is not None else []
    if report is not None or output == "html":
        from interpreter.pages.comparison import comparison_page
        from interpreter.pages.html import html_of

        page = html_of(comparison_page(comparison, sides, results))
        if output == "html":
            click.echo(page, nl=False)
        if report is not None:
            count = f", {counted(done, 'pair')} of games" if games else ""
            write_page(page, report, f"{counted(len(comparison.differences), 'difference')}{count}")
    if output == "json":
        as_json({**_data(comparison, names), **(_data_of(results) if results else {})})
    elif output == "text" and report is None:
        _text(comparison, names, results, full)
        if results is not None:
            _text_of(results, names, full)
    stopped = ""
    if games and done + len(unfinished) < games:
        stopped = f"{done + len(unfinished)} of {games} pairs of games are done"
    elif results is not None and len(results.singly) < results.things:
        stopped = f"{len(results.singly)} of {counted(results.things, 'difference')} are played by themselves"
    finish(unfinished, stopped)


def _compared(names: tuple[str, str], request: options.Request) -> Comparison:
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import differences
    from interpreter.compare.operands import sides_of

    a, b = sides_of(*names, request.overlays)
    if request.players is not None:
        (a, _), (b, _) = options.players_for(a, request.players), options.players_for(b, request.players)
    return differences(Compared(a), Compared(b), _known((a, b), request.settings), request.players)


def _known(sides: Sequence[Ruleset], assignments: Sequence[str]) -> dict[str, Json]:
    """Return the given settings with checked values. Each must exist on at least one side."""
    from interpreter.base.suggest import did_you_mean_one_of

    known: dict[str, Json] = {}
    for ruleset in sides:
        typed = options.settings_given(ruleset, assignments)
        for key in typed:
            if not any(side.has_setting(key) for side in sides):
                names = (name for side in sides for name in (*side.model.settings, *side.model.interpretations))
                near = did_you_mean_one_of(key, names)
                raise click.BadParameter(f"neither of the two has a setting `{key}`{near}", param_hint="--set")
        options.check_effect(typed, *sides)
        own = {key: value for key, value in typed.items() if ruleset.has_setting(key)}
        with wrong_value("--set"):
            values = ruleset.settings(own)
        known |= {name: values[name] for name in own}
    return known


def _played(comparison: Comparison, names: tuple[str, str], request: options.Request, games: int, each: bool) -> Played:
    """Play both sides, all games or those before Ctrl-C; with ``each``, also every difference by itself."""
    from interpreter.bots.registry import default_bots
    from interpreter.compare.ablation import Singly, ranked, singles
    from interpreter.compare.comparable import Compared
    from interpreter.compare.differences import differences
    from interpreter.compare.divergence import own_settings
    from interpreter.compare.effect_sizes import effects
    from interpreter.compare.gains import gains
    from interpreter.compare.paired_games import PairPlan
    from interpreter.pages.comparison import Played
    from interpreter.simulate.simulation import Unfinished, finished

    number = request.players or max(comparison.a.players.usual, comparison.b.players.usual)
    (a, _), (b, _) = options.players_for(comparison.a, number), options.players_for(comparison.b, number)
    start, bots = options.seed_for(request.seed), request.bots or default_bots(a, b)
    values = options.settings_given(a, request.settings)
    for side in (a, b):
        options.bots_for(side, number, bots)
        with wrong_value("--set"):
            side.new_game(number, settings=own_settings(side, values))
    known = _known((a, b), request.settings)
    found = comparison if request.players is not None else differences(Compared(a), Compared(b), known, number)
    digests = a.digest, b.digest
    plan = PairPlan(names, request.overlays, digests, number, bots, tuple(values.items()), tuple(known.items()))
    tried = _collected(request, plan, found, range(start, start + games), "pairs of games")
    unfinished = [game for game in tried if isinstance(game, Unfinished)]
    done = sorted(finished(tried), key=lambda pair: pair.seed)
    singly: list[Alone] = []
    count = 0
    if each and len(tried) == games:
        job, count = Singly(plan, tuple(pair.seed for pair in done)), len(singles(found))
        singly = _collected(request, job, found, range(count), "differences")
    which = f"seeds {start} to {start + games - 1}"
    if len(tried) < games:
        which = f"stopped when {len(tried):,} of the {which} were played"
    if unfinished:
        which += f", without {counted(len(unfinished), 'pair')} in which a game does not end"
    table = composed(f"{counted(number, 'player')} by the bot {bots}", (), known)
    how = f"{table}, {which}"
    rows = [pair.a for pair in done], [pair.b for pair in done]
    found_effects, partings = effects(*rows, a.model.measures), [pair.parting for pair in done]
    return Played(how, found_effects, partings, ranked(singly), count, gains(*rows, (a, b)), unfinished)


def _collected(
    request: options.Request, job: Job[_Given, _Found], given: _Given, seeds: range, about: str
) -> list[_Found]:
    """Return all results of a job, or those before Ctrl-C."""
    from interpreter.simulate.workers import WorkersLost, shared

    done: list[_Found] = []
    with interruptible() as stopped, counting(about, len(seeds)) as tell:
        try:
            for more in shared(job, given, seeds, *request.crew(len(seeds)), stopped):
                done.extend(more)
                tell(len(more))
        except WorkersLost as error:
            refused(f"{error} ({len(done)} of {len(seeds)} {about} are done)")
    return done


# --- data


def _data_of(played: Played) -> dict[str, Json]:
    from interpreter.compare.divergence import causes, from_the_start

    return {
        "played": played.how,
        "unfinished": [game.as_data() for game in played.unfinished],
        "effects": [{"name": each.name, **_effect(each)} for each in played.effects],
        "gains": [
            {
                **picked(each, "measure", "of", "name"),
                **{fact: _effect(effect) if effect else None for fact, effect in each.facts.items()},
            }
            for each in played.gains
        ],
        "first_apart": [
            {
                **picked(each, "path", "games"),
                **_rounded(each, "share", "choices", "round"),
                "example": picked(each.first, "seed", "a", "b"),
            }
            for each in causes(played.partings)
        ],
        "apart_from_the_start": dict(from_the_start(played.partings)),
        "never_apart": sum(not each.path for each in played.partings),
        **({"by_itself": [_alone(each) for each in played.singly]} if played.singly else {}),
    }


def _effect(effect: Effect) -> dict[str, Json]:
    return _rounded(effect, "a", "b", "difference", "low", "high", "size", "size_low", "size_high")


def _alone(each: Alone) -> dict[str, Json]:
    if each.why:
        return {"path": each.path, "why_not": each.why}
    when = ("choices", "round") if each.partings else ()
    return {"path": each.path, "games": len(each.partings), **_rounded(each, "share", *when)}


def _rounded(record: object, *names: str) -> dict[str, Json]:
    """Return rounded numbers of a record for JSON, which has no infinity."""
    numbers = picked(record, *names)
    return {name: round(number, 4) if isfinite(number) else None for name, number in numbers.items()}


def _data(comparison: Comparison, names: Sequence[str]) -> dict[str, Value]:
    graph = comparison.graph
    rows = [{**picked(each, "chapter", "kind"), **each.row} for each in comparison.differences]
    data: dict[str, Value] = {"a": names[0], "b": names[1], "rows": rows}
    if graph is not None:
        most = [{"between": each.nodes, "a": each.a, "b": each.b} for each in graph.most]
        data["distances"] = {**picked(graph, "pairs", "nearer", "farther"), "most": most}
    return data


# --- words


def _text(comparison: Comparison, names: Sequence[str], played: Played | None, full: bool) -> None:
    """Print a summary, with the largest effects of the games; the list of differences if it is short or ``full``."""
    from interpreter.compare.largest import largest

    number, families = len(comparison.differences), comparison.families
    if number:
        about = f"different families ({families[0]} and {families[1]}), " if families else ""
        say(styled(f"{names[0]} → {names[1]}", bold=True) + f": {about}{counted(number, 'difference')}")
    else:
        say(f"{names[0]} and {names[1]} are the same game")
    listed = [*_listed(comparison)]
    effects = [*_effects(played, names, full)] if played is not None else []
    is_long = 1 + len(listed) + len(effects) > _BRIEF
    if is_long and (full or not families):
        parts = [] if effects else largest(comparison, names)[:_LARGEST]
        lines = [cut(f"  {part.name} ({part.kind}, {part.chapter}): {part.short}", width()) for part in parts]
        about = "The largest differences in play" if comparison.in_play else "The largest differences"
        shown = ["", styled(about, bold=True), *lines] if lines else []
        say_lines([*_numbers(comparison, _BRIEF - 2 - len(shown) - len(effects)), *shown])
    say_lines([*(listed if full or not is_long else ()), *effects])
    if is_long and not full:
        notice(f"--full lists all {counted(number, 'difference')}{' and every effect' if effects else ''}")


def _numbers(comparison: Comparison, most: int) -> Iterator[str]:
    """Yield the number of differences of each chapter, in at most this number of lines."""
    numbers = [(comparison.chapters[each], str(len(found))) for each, found in comparison.by_chapter.items()]
    beside = -(-len(numbers) // max(1, most))
    high = -(-len(numbers) // beside)
    room = (width() - 2) // beside - max(len(number) for _, number in numbers) - 4
    cells = [(cut(title, room), number) for title, number in numbers] + [("", "")] * (high * beside - len(numbers))
    yield ""
    rows = [[cell for pair in cells[line::high] for cell in pair] for line in range(high)]
    yield from unheaded(rows)


def _listed(comparison: Comparison) -> Iterator[str]:
    room = max(_LEAST, min(width(), _MOST))
    for chapter, differences in comparison.by_chapter.items():
        yield ""
        yield styled(comparison.chapters[chapter], bold=True)
        short = [each for each in differences if not each.has_text]
        yield from _short([(each.within, _value(each.a), "→", _value(each.b)) for each in short], room)
        for each in differences:
            if each.has_text:
                yield from _long(each, room)
        if chapter == "board" and comparison.graph is not None:
            yield from _distances(comparison.graph)


def _short(rows: list[tuple[str, str, str, str]], width: int) -> Iterator[str]:
    """Yield short differences on one line each, and longer ones on a line for each side."""
    narrow = [row for row in rows if sum(map(len, row)) + 8 <= width]
    yield from unheaded(narrow)
    for name, a, _, b in (row for row in rows if row not in narrow):
        yield f"  {name}"
        yield from wrap(a, width - 6, initial_indent="    - ", subsequent_indent="      ")
        yield from wrap(b, width - 6, initial_indent="    + ", subsequent_indent="      ")


def _value(side: Side | None) -> str:
    return "nothing" if side is None else side.value or "–"


def _long(difference: Difference, width: int) -> Iterator[str]:
    changed = ", ".join(f"{a} → {b}" for a, b in difference.constants)
    yield f"  {styled(difference.name, bold=True)} ({difference.kind}{f': {changed}' if changed else ''})"
    half = (width - 7) // 2
    left, right = ([*_lines(side, half)] for side in (difference.a, difference.b))
    for before, after in zip_longest(left, right, fillvalue=""):
        yield f"    {before.ljust(half)} │ {after}".rstrip()


def _lines(side: Side | None, width: int) -> Iterator[str]:
    if side is None:
        yield "nothing"
        return
    for part in side.parts:
        if part.about:
            yield from wrap(part.about, width)
        if part.when:
            yield from wrap(f"where {part.when}:", width, subsequent_indent="  ")
        for line in part.text.splitlines():
            indent = " " * (len(line) - len(line.lstrip()) + 4)
            yield from wrap(line, width - 2, initial_indent="  ", subsequent_indent=indent) or [""]
        for quote in part.cites:
            yield from wrap(f"{quote.id} {quote.reading or quote.text}", width, subsequent_indent="  ")


def _effects(played: Played, names: Sequence[str], full: bool) -> Iterator[str]:
    """Yield the effects on measures, the largest first; without ``full`` only these."""
    from interpreter.compare.effect_sizes import by_size

    effects = by_size(each for each in played.effects if not each.is_of_wins)
    shown = effects if full else effects[:_LARGEST]
    yield ""
    yield styled("Effects on play", bold=True)
    yield f"  {counted(len(played.partings), 'pair')} of games: {played.how}"
    yield "  95 % intervals, * significant" + (f"; the largest of {len(effects)}" if len(shown) < len(effects) else "")
    yield from _effects_table(shown, names)


def _text_of(played: Played, names: Sequence[str], full: bool) -> None:
    from interpreter.cli.gain_tables import tell_gains
    from interpreter.compare.divergence import causes, from_the_start

    if wins := [each for each in played.effects if each.is_of_wins]:
        say_heading("Who wins")
        say_lines(_effects_table(wins, names))
    tell_gains(played.gains, names, full)
    say_heading("First divergence")
    ranked = causes(played.partings)
    firsts = [(each.path, each.games, f"{each.share:.0%}", *_moment(each)) for each in ranked]
    if firsts:
        say_table(("", "games", "share", "after choices", "in round"), firsts, "  ")
    games = len(played.partings)
    for path, number in from_the_start(played.partings).items():
        say(f"  {number} of {games} games differ in the first decision already: {path}")
    if same := sum(not each.path for each in played.partings):
        say(f"  {same} of {games} games are the same from beginning to end")
    for each in ranked[:3]:
        first = each.first
        when = f"in round {first.round}, after {counted(first.choices, 'choice')}"
        say(f"  {each.path}, for example with seed {first.seed} {when}:")
        for name, course in zip(names, (first.a, first.b), strict=True):
            say(f"    {name}: {course}")
    if played.singly:
        _singly(played.singly, names)


def _effects_table(effects: Sequence[Effect], names: Sequence[str]) -> list[str]:
    rows = [
        (
            each.name.replace("_", " "),
            f"{each.a:.2f}",
            f"{each.b:.2f}",
            f"{_signed(each.difference)} ± {each.high - each.difference:.2f}",
            f"{_signed(each.size)}{' *' if each.is_sure else ''}",
        )
        for each in effects
    ]
    lines = aligned(("", *names, "difference", "effect"), rows, "  ")
    if len(lines) == len(rows) + 1:
        return lines
    return [f"  A: {names[0]}, B: {names[1]}", *aligned(("", "A", "B", "difference", "effect"), rows, "  ")]


def _singly(singly: Sequence[Alone], names: Sequence[str]) -> None:
    say_heading("Each by itself")
    say(f"  {names[0]} with a single difference of {names[1]}, against {names[0]} unchanged: games that diverge")
    rows = [
        (each.path, f"{each.share:.0%}", *(_moment(each) if each.partings else ("", "")))
        for each in singly
        if not each.why
    ]
    if rows:
        say_table(("", "share", "after choices", "in round"), rows, "  ")
    for each in singly:
        if each.why:
            say(f"  {each.path} cannot be played by itself: {each.why}")


def _moment(each: Apart) -> tuple[str, str]:
    return f"{each.choices:.0f}", f"{each.round:.1f}"


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}".replace("inf", "∞")  # avoids -0.00


def _distances(graph: GraphChanges) -> Iterator[str]:
    if graph.other:
        return
    changed = graph.nearer + graph.farther
    how = f"{graph.nearer} are shorter and {graph.farther} longer"
    yield f"  {changed:,} of {graph.pairs:,} distances between two nodes changed: {how}; the largest changes"
    rows = [(" – ".join(each.nodes), each.a, "→", each.b) for each in graph.most]
    yield from unheaded(rows, "    ")
