"""Charts of paired games: effect sizes and distributions."""

from __future__ import annotations

import re
from importlib.util import find_spec
from math import inf

import pytest

from interpreter.compare.effect_sizes import Effect
from interpreter.drawing.effect_charts import effect_chart, histogram_chart
from interpreter.drawing.game_charts import svg_of
from tests.drawing.comparison_charts import charts

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")

LARGE = Effect("money_left", 1, 3, 2, 1.5, 2.5, 0.8, 0.6, 1.0, ((1, 1, 2), (3, 3, 3)))
NONE = Effect("rounds", 1, 1, 0, -1, 1, 0, -0.2, 0.2, ((5, 6, 7), (5, 6, 7)))
ENDLESS = Effect("points", 1, 3, 2, 2, 2, inf, inf, inf, ((1, 1), (3, 3)))


def texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def test_each_effect_has_a_line_and_the_sides_their_names() -> None:
    svg = svg_of(effect_chart([LARGE, NONE, ENDLESS], ("first", "second")))
    assert {"← first", "second →", "money left", "rounds", "points"} <= set(texts(svg))
    assert svg == svg_of(effect_chart([LARGE, NONE, ENDLESS], ("first", "second")))
    assert "#a9a59b" in svg, "an effect that is not significant is grey"


@pytest.mark.parametrize("effects", [[ENDLESS], [NONE]])
def test_one_effect_is_drawn_however_large(effects: list[Effect]) -> None:
    assert texts(svg_of(effect_chart(effects, ("a", "b"))))


def test_counts_of_both_sides_are_positive() -> None:
    found = texts(svg_of(histogram_chart(LARGE, ("a", "b"))))
    assert {"a", "b", "games"} <= set(found)
    assert not any(text.startswith(("-", "−")) for text in found)


@pytest.mark.slow
def test_the_charts_of_the_documentation_show_what_the_report_does() -> None:
    """Other versions of Matplotlib may draw them with other numbers."""
    for path, svg in charts():
        shown = path.read_text(encoding="utf-8")
        fault = f"{path}: draw it again with `python -m tests.drawing.comparison_charts`"
        assert texts(shown) == texts(svg), fault
        assert re.findall(r"fill: (#\w+)", shown) == re.findall(r"fill: (#\w+)", svg), fault
        assert len(shown) < 30_000
