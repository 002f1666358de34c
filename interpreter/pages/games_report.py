"""Page about many games: charts of the results, with the figures below them."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.plurals import composed, counted, titled
from interpreter.drawing.game_charts import charts_of, svg_of
from interpreter.pages.page import Block, Drawing, Folded, Grid, Page, Paragraph, Section
from interpreter.simulate.summary import Report, Share

__all__ = ["caption_of", "games_page"]


def games_page(title: str, data: Report) -> Page:
    """Return the page of a summary."""
    rounds, how = data["rounds"], caption_of(title, data)
    length = f"{rounds['mean']:.1f} rounds on average, {rounds['min']} to {rounds['max']}."
    charts = [
        Section(f"chart-{place}", chart.title, (Drawing(svg_of(chart), f"{chart.about} {how}", "chart"),))
        for place, chart in enumerate(charts_of(data), 1)
    ]
    numbers = Section("numbers", "Figures", tuple(_numbers(data)))
    lead = Paragraph(f"{how} {length}", "lead")
    return Page(f"{title}: {counted(data['games'], 'game')}", (lead,), (*charts, numbers))


def caption_of(title: str, data: Report) -> str:
    """Return a sentence that says which games these are."""
    bots = [seat["bot"] for seat in data["seats"][: data["players"]]]
    by = f"by the bots {', '.join(bots)}" if len(set(bots)) > 1 else f"by the bot {bots[0]}"
    players, games = counted(data["players"], "player"), counted(data["games"], "game")
    if data["unfinished"]:
        games += f" (without {counted(len(data['unfinished']), 'game that does', 'games that do')} not end)"
    return f"{games} of {composed(title, data['overlays'], data['settings'])}: {players} {by}, seed {data['seed']}."


def _numbers(data: Report) -> Iterator[Block]:
    seats = data["seats"]
    keys = list(seats[0]["keys"])
    rows = [
        (str(seat["seat"] + 1), seat["bot"], str(seat["wins"]), *_shares(seat), *map(_mean, seat["keys"].values()))
        for seat in seats
    ]
    yield Grid(("player", "bot", "wins", "share", "95 % interval", *keys), rows, sortable=True)
    players = [f"player {seat['seat'] + 1}" for seat in seats]
    means = [
        (name.replace("_", " "), "", *(_mean(each["mean"]) for each in spread))
        if isinstance(spread, list)
        else (name.replace("_", " "), _mean(spread["mean"]), *("" for _ in seats))
        for name, spread in data["measures"].items()
    ]
    if means:
        yield Grid(("mean of", "game", *players), means, sortable=True)
    for name, things in data["tables"].items():
        if things:
            head = ", ".join(things[0]["of"]).replace("_", " ")
            lines = [
                (thing["name"], str(thing["times"]), str(thing["games"]), *_shares(thing), _mean(thing["mean"]))
                for thing in things
            ]
            title = f"{titled(name)} by {head}" if head else titled(name)
            grid = Grid((head, "times", "games", "share", "95 % interval", "mean"), lines, sortable=True)
            yield Folded(title, [grid], unfolded=len(lines) <= 12)


def _shares(data: Share) -> tuple[str, str]:
    share = _share(data["share"])
    return share, share if data["share"] is None else f"{_share(data['low'])} to {_share(data['high'])}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def _mean(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.2f}"
