"""Report of many games: the figures, and charts of them for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from interpreter.base.figures import between, fixed, percent
from interpreter.base.plurals import composed, counted
from interpreter.drawing.game_charts import charts_of, svg_of
from interpreter.pages.page import Block, Column, Drawing, Folded, Grid, Page, Paragraph, Section
from interpreter.simulate.summary import Curve, Report, Share, Thing

__all__ = ["SHARE", "by_round", "caption_of", "games_page", "games_told"]

SHARE = Column("share", percent), Column("95 % interval", between(percent))


def games_page(title: str, data: Report) -> Page:
    """Return the report with charts. ``title`` is that of the ruleset."""
    how = caption_of(title, data)
    charts = [
        Section(f"chart-{place}", chart.title, (Drawing(svg_of(chart), f"{chart.about} {how}", "chart"),))
        for place, chart in enumerate(charts_of(data), 1)
    ]
    front = (Paragraph(how, "lead"), Paragraph(_length(data)))
    numbers = Section("numbers", "Figures", tuple(_numbers(data)))
    return Page(f"{title}: {counted(data['games'], 'game')}", front, (*charts, numbers))


def games_told(data: Report) -> Page:
    """Return the report without charts, with what the games took."""
    games, players = counted(data["games"], "game"), counted(data["players"], "player")
    seconds = data["processor_seconds"]
    speed = f", {data['decisions'] / seconds:,.0f} decisions a second" if seconds else ""
    front = (
        Paragraph(f"{games} of {players}, seed {data['seed']}", "lead"),
        Paragraph(f"{data['decisions']:,} decisions ({data['free_decisions']:,} with more than one option)"),
        Paragraph(f"CPU time {seconds:.2f} s{speed}; wall time {data['wall_seconds']:.2f} s"),
        Paragraph(_length(data)),
        *_numbers(data),
    )
    return Page(composed(data["ruleset"], data["overlays"], data["settings"]), front, ())


def caption_of(title: str, data: Report) -> str:
    """Return a sentence that says which games these are."""
    bots = [seat["bot"] for seat in data["seats"][: data["players"]]]
    by = f"by the bots {', '.join(bots)}" if len(set(bots)) > 1 else f"by the bot {bots[0]}"
    players, games = counted(data["players"], "player"), counted(data["games"], "game")
    if data["unfinished"]:
        games += f" (without {counted(len(data['unfinished']), 'game that does', 'games that do')} not end)"
    return f"{games} of {composed(title, data['overlays'], data['settings'])}: {players} {by}, seed {data['seed']}."


def _length(data: Report) -> str:
    rounds = data["rounds"]
    return f"rounds: {rounds['mean']:.1f} ({rounds['min']} to {rounds['max']})"


def _numbers(data: Report) -> Iterator[Block]:
    seats = data["seats"]
    rows = [(each["seat"] + 1, each["bot"], each["wins"], *_shares(each), *each["keys"].values()) for each in seats]
    keys = (Column(key, fixed(2)) for key in seats[0]["keys"])
    yield Grid(("player", "bot", "wins", *SHARE, *keys), rows, sortable=True)
    means = [
        (name.replace("_", " "), "", *(each["mean"] for each in spread))
        if isinstance(spread, list)
        else (name.replace("_", " "), spread["mean"], *("" for _ in seats))
        for name, spread in data["measures"].items()
    ]
    if means:
        of = ("game", *(f"player {seat['seat'] + 1}" for seat in seats))
        yield Grid(("mean of", *(Column(each, fixed(2)) for each in of)), means, sortable=True)
    for name, curve in data["curves"].items():
        means_by_round = {thing["name"]: _means(thing, curve) for thing in curve}
        yield from by_round(f"{name.replace('_', ' ')}, mean by round", means_by_round, fixed(1))
    for name, things in data["tables"].items():
        if things:
            yield _things(name.replace("_", " "), things)


def _means(thing: Curve, curve: Sequence[Curve]) -> dict[int, float]:
    """Return means by round, up to the last round that half of the games reach: later ones are too few."""
    most = max(point["games"] for each in curve for point in each["rounds"])
    return {point["round"]: point["mean"] for point in thing["rounds"] if point["games"] * 2 >= most}


def by_round(title: str, things: Mapping[str, Mapping[int, float]], form: Callable[[float], str]) -> Iterator[Folded]:
    """Yield a table of numbers by round, if there are any."""
    rounds = sorted({number for means in things.values() for number in means})
    rows = [(name, *map(means.get, rounds)) for name, means in things.items()]
    if rows:
        yield Folded(title, [Grid(("", *(Column(str(number), form) for number in rounds)), rows)])


def _things(name: str, things: Sequence[Thing]) -> Folded:
    """Return a line for each thing: its frequency, the share of wins of its owners, and a mean."""
    shared, valued = (any(thing[key] is not None for thing in things) for key in ("share", "mean"))
    head = ", ".join(things[0]["of"]).replace("_", " ")
    columns = (head, "times", "games", *(SHARE if shared else ()), *((Column("mean", fixed(2)),) if valued else ()))
    rows = [
        (
            thing["name"],
            thing["times"],
            thing["games"],
            *(_shares(thing) if shared else ()),
            *((thing["mean"],) if valued else ()),
        )
        for thing in things
    ]
    title = f"{name}, by {head}" if head else name
    return Folded(title, [Grid(columns, rows, sortable=True)], unfolded=len(rows) <= 12)


def _shares(data: Share) -> tuple[float | None, tuple[float | None, float | None] | None]:
    return data["share"], None if data["share"] is None else (data["low"], data["high"])
