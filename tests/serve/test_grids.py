"""Boards of many fields in the browser: small, readable by zoom, and played with the keyboard as with the mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpreter.loading.load import load
from interpreter.pages.markdown import markdown_of
from interpreter.pages.rulebook import rulebook_of
from interpreter.serve.derived import panels_of
from tests.drawing.grids import MEADOWS, meadows

from .served import Served
from .test_browser import serious

IN_SIGHT = """() => {
  const view = document.querySelector(".view").getBoundingClientRect();
  return [...document.querySelectorAll(".node.can .hit")].map((each) => each.getBoundingClientRect()).filter((box) =>
    box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom).length;
}"""
"""Number of fields that can be picked and lie in the part of the board that the page shows."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A server, and the link to a seat at a board of 441 fields."""
    folder = tmp_path_factory.mktemp("grids")
    running = Served(folder / "tables.sqlite", rulesets=[str(meadows(folder, wide=True))])
    live, links, _ = running.table("meadows", ["person", "person"])
    yield running, links[0 if live.game.decision is None else live.game.decision.actor]
    running.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_large_board(chromium: Any, board: tuple[Served, str], width: int, height: int) -> None:
    served, link = board
    page = chromium.new_context(
        viewport={"width": width, "height": height}, bypass_csp=True, reduced_motion="reduce"
    ).new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(link)
    page.locator("#table[data-tab]").wait_for(state="attached")
    if width == 390:
        page.locator(".tabs").get_by_text("Board").click()
    assert page.locator("g.node").count() == 441
    assert page.evaluate("document.querySelector('.map').innerHTML.length") < 300_000
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [
        width,
        height,
    ]
    assert serious(page) == []
    for _ in range(5):
        page.get_by_role("button", name="+ larger").click()
    assert page.evaluate(IN_SIGHT) == 4  # around the first card, wherever it lies
    assert page.locator(".node.can .hit").first.bounding_box()["width"] > 40
    field = page.locator("g.node.can").nth(1)
    name = field.get_attribute("aria-label")
    field.focus()
    page.keyboard.press("Enter")
    page.locator(f'g.node.picked[aria-label^="{name}"]').wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") not in (name, None)
    assert wrong == served.errors == []
    page.context.close()


def test_a_field_says_which_card_lies_on_it_and_how(board: tuple[Served, str]) -> None:
    from .served import get

    page = get(board[1], follow_redirects=True).text
    assert page.count(' north"') == 1  # the first card
    assert page.count('<use class="hit"') == 441


def test_what_only_rules_keep_count_with_is_in_no_page() -> None:
    found = load(MEADOWS)
    assert found.model.groups["tries"].in_page is False
    assert "tries" not in str([panel.columns for panel in panels_of(found.model)])
    assert "Tries" not in markdown_of(rulebook_of(found))


def test_in_page_is_yes_unless_a_file_says_no(tmp_path: Path) -> None:
    found = load(meadows(tmp_path, ", in_page: no", ""))
    assert "tries" in str([name for panel in panels_of(found.model) for name, _ in panel.columns])
    assert "Tries" in markdown_of(rulebook_of(found))
