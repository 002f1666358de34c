"""Charts of many games: what is drawn follows from what the ruleset measures."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.extras import Unavailable
from interpreter.bots.registry import bots_of
from interpreter.drawing.game_charts import Chart, binned, charts_of, check_charts, png_of, svg_of
from interpreter.loading.load import load
from interpreter.pages.games_report import caption_of, games_page
from interpreter.pages.html import html_of
from interpreter.simulate.simulation import simulate
from interpreter.simulate.summary import Report, summary
from tests.pages.reading import Read
from tests.play.toy import ROOT, changed

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")


@pytest.fixture(scope="module")
def data() -> Report:
    ruleset = load(ROOT / "pebbles" / "pebbles.yaml")
    rows = list(simulate(ruleset, bots_of("eager,random", ruleset, 2), 12, seed=5))
    return {
        "ruleset": "pebbles",
        "overlays": [],
        "players": 2,
        "seed": 5,
        "settings": {"most": 3},
        "wall_seconds": 0.0,
        **summary(ruleset, ["eager", "random"], rows),
    }


def test_what_is_measured_is_drawn(data: Report) -> None:
    charts = list(charts_of(data))
    assert [chart.title for chart in charts] == [
        "Share of wins",
        "Rounds",
        "On heap by round",
        "Pulled by kind",
        "Pulled: wins by kind",
    ]
    svg = svg_of(charts[2])
    assert svg == svg_of(charts[2])
    assert {"white", "black", "round"} <= set(re.findall(r">([^<>]+)</text>", svg))


def axes_of(chart: Chart) -> Any:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    chart.draw(axes)
    return axes


def test_every_whisker_and_band_is_the_interval_of_its_value(data: Report) -> None:
    (thing,) = [each for each in data["tables"]["pulled"] if each["name"] == "white"]
    for title, factor, keys in (
        ("Pulled by kind", 1, ("mean", "mean_low", "mean_high")),
        ("Pulled: wins by kind", 100, ("share", "low", "high")),
    ):
        (chart,) = [chart for chart in charts_of(data) if chart.title == title]
        axes = axes_of(chart)
        row = [label.get_text() for label in axes.get_yticklabels()].index("white")
        drawn = {tuple(line.get_xdata()) for line in axes.lines if set(line.get_ydata()) == {row}}
        value, *ends = (factor * thing[key] for key in keys)  # type: ignore[literal-required]
        assert drawn == {(value,), tuple(ends)}
        assert "Whiskers are 95 % intervals." in chart.about
    (chart,) = [chart for chart in charts_of(data) if chart.title == "On heap by round"]
    (white,) = [each for each in data["curves"]["on_heap"] if each["name"] == "white"]
    corners = {round(y, 4) for band in axes_of(chart).collections for _, y in band.get_paths()[0].vertices}
    assert {white["rounds"][1]["mean_low"], white["rounds"][1]["mean_high"]} <= corners
    assert "Bands are 95 % intervals." in chart.about


def test_things_are_sorted_by_their_values_and_numbers_as_they_are(data: Report) -> None:
    def ticks(numbered: bool) -> list[str]:
        first = data["tables"]["pulled"][0]
        things = [first | {"name": f"no. {share}", "share": share, "numbered": numbered} for share in (0.2, 0.9, 0.5)]
        *_, chart = charts_of(data | {"tables": {"pulled": things}})
        return [label.get_text() for label in axes_of(chart).get_yticklabels()]

    assert ticks(False) == ["no. 0.9", "no. 0.5", "no. 0.2"]
    assert ticks(True) == ["no. 0.2", "no. 0.9", "no. 0.5"]


def test_things_have_the_names_of_the_ruleset(tmp_path: Path) -> None:
    """A card is a thing although its key is a number; a place is a number."""
    folder = changed(tmp_path, "family.yaml", "says:\n  draw.pull", "says:\n  pebble.white: ivory pebble\n  draw.pull")
    ruleset = load(folder / "pebbles" / "pebbles.yaml")
    found = summary(ruleset, ["random"] * 2, simulate(ruleset, bots_of("random", ruleset, 2), 2, seed=5))
    assert [thing["name"] for thing in found["tables"]["pulled"]] == ["black", "ivory pebble"]
    assert {thing["name"] for thing in found["curves"]["on_heap"]} == {"black", "ivory pebble"}
    numbered = {
        measure.name for measure in load("germany-2018").model.measures if measure.event and measure.is_numbered
    }
    assert numbered == {"stage_begins", "first_order"}


def test_rounds_are_whole_also_where_all_games_are_as_long(data: Report) -> None:
    rounds = [chart for chart in charts_of(data | {"lengths": [{"rounds": 13, "games": 1}]}) if chart.title == "Rounds"]
    texts = re.findall(r">([^<>]+)</text>", svg_of(rounds[0]))
    assert sorted(texts) == ["0", "1", "13", "games", "rounds"]


@pytest.mark.parametrize(
    ("values", "starts"),
    [
        ([7, 8, 9], [6.5, 7.5, 8.5]),
        ([300, 410, 900], [start - 0.5 for start in range(300, 901, 50)]),
        ([23.04, 24.2, 24.9], [23.0, 23.1]),
        ([0.3, 0.4], [0.3, 0.305]),
        ([5, 5], [4.5]),
    ],
)
def test_bins_are_round_and_whole_numbers_lie_in_the_middle_of_theirs(values: list[float], starts: list[float]) -> None:
    width, bins = binned(Counter(values), Counter(values))
    assert [start for start, _, _ in bins][: len(starts)] == starts
    assert sum(a for _, a, _ in bins) == sum(b for _, _, b in bins) == len(values)
    assert len(bins) <= 25
    for value in values:
        assert sum(start <= value < start + width - 1e-9 for start, *_ in bins) == 1


def test_each_chart_of_a_page_says_which_games_it_shows(data: Report) -> None:
    page = html_of(games_page("Pebbles", data | {"overlays": ["robots:2"]}))
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert page.count("<svg") == len(captions) == 5
    seats = [*data["seats"], data["seats"][0] | {"bot": "rules"}]
    assert caption_of("Pebbles", data | {"seats": seats}) == caption_of("Pebbles", data), "players alone have bots"
    games = "12 games of Pebbles, with robots:2, most=3: 2 players by the bots eager, random, seed 5."
    assert all(caption.endswith(games) for caption in captions)
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)
    ids = Read(page).ids
    assert len(ids) == len(set(ids))


def test_game_charts_as_a_picture(data: Report) -> None:
    picture = png_of("Pebbles", caption_of("Pebbles", data), charts_of(data))
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 20_000


def test_game_charts_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"\.html or \.png"):
        check_charts(Path("charts.pdf"))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(Unavailable, match=r"regelwerk\[charts\]"):
        check_charts(Path("charts.png"))
