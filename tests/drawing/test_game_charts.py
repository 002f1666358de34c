"""Charts of many games: what is drawn follows from what the ruleset measures."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from interpreter.bots.registry import bots_of
from interpreter.drawing.game_charts import ChartsUnavailable, charts_of, check_charts, png_of, svg_of
from interpreter.engine.ruleset import load
from interpreter.pages.games_report import games_page
from interpreter.pages.html import html_of
from interpreter.simulate.simulation import simulate
from interpreter.simulate.summary import Report, summary
from tests.play.toy import ROOT

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
        "Pulled",
        "Pulled: wins by kind",
    ]
    svg = svg_of(charts[2])
    assert svg == svg_of(charts[2])
    assert {"white", "black", "round"} <= set(re.findall(r">([^<>]+)</text>", svg))


def test_rounds_are_whole_also_where_all_games_are_as_long(data: Report) -> None:
    rounds = [chart for chart in charts_of(data | {"lengths": [{"rounds": 13, "games": 1}]}) if chart.title == "Rounds"]
    texts = re.findall(r">([^<>]+)</text>", svg_of(rounds[0]))
    assert sorted(texts) == ["0", "1", "13", "games", "rounds"]


def test_a_page_of_charts(data: Report) -> None:
    page = html_of(games_page("Pebbles", data))
    assert page.count("<svg") == page.count("<figcaption") == 5
    assert "12 games of <code>pebbles</code>, most=3 by 2 players (eager, random), seed 5." in page
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)


def test_game_charts_as_a_picture(data: Report) -> None:
    picture = png_of("Pebbles", charts_of(data))
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 20_000


def test_game_charts_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"\.html or \.png"):
        check_charts(Path("charts.pdf"))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ChartsUnavailable, match=r"regelwerk\[charts\]"):
        check_charts(Path("charts.png"))
