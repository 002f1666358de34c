"""The lobby in a browser: a board is found by its words, and seats change places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from .served import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("lobby") / "tables.sqlite")
    yield running
    running.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_is_set_up_from_a_search(chromium: Any, served: Served, width: int) -> None:
    """Each seat keeps its person or bot while it moves, by the keyboard or by the mouse."""
    page = chromium.new_context(viewport={"width": width, "height": 800}, locale="de").new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(served.base)
    offers = page.locator(".offer:visible")
    many = offers.count()
    page.get_by_label("Plan suchen").fill("funken deu")
    assert 0 < offers.count() < many
    assert all("deu" in text.lower() for text in offers.all_inner_texts())
    offers.get_by_role("button", name="Aufsetzen: Deutschland").click()
    page.locator("[name=players]").select_option("3")
    names = page.locator(".seats-form select[name^=seat]")
    names.nth(1).select_option("person")
    page.locator("[name=name0]").fill("Ann")
    page.locator("[name=name1]").fill("Bob")
    page.get_by_role("button", name="Platz nach unten (1)").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "▼ Platz nach unten (3)"
    shown = [names.nth(seat).input_value() for seat in range(3)]
    assert (shown, page.locator("[name=name2]").input_value()) == (["person", "bot", "person"], "Ann")
    page.locator(".grip").nth(2).drag_to(page.locator(".seats-form > li").first)
    page.get_by_role("button", name="Tisch aufsetzen").click()
    page.locator(".links").wait_for()
    kept = [*served.hall.kept.values()][-1]
    assert [(seat.kind, seat.name) for seat in kept.seats] == [("person", "Ann"), ("person", "Bob"), ("bot", "")]
    assert wrong == []
    page.context.close()


def test_parts_of_the_drawn_board_are_picked_by_mouse_and_keyboard(chromium: Any, served: Served) -> None:
    """A click on the board does what its box does, which the keyboard reaches; what is refused stays picked."""
    page = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB").new_page()
    page.set_default_timeout(90_000)  # a process of its own draws the first board
    page.goto(f"{served.base}/new/germany-2018")
    boxes = page.locator("[name=set_regions]")
    fills = boxes.evaluate_all("boxes => boxes.map((box) => box.dataset.fills.split(' '))")
    for number in (0, 2):
        node = page.locator(f".pick .node[fill='{fills[number][0]}']").first
        node.scroll_into_view_if_needed()
        box = node.bounding_box()
        page.mouse.click(box["x"] - 5, box["y"] + box["height"] / 2)  # on land
    page.locator(f".pick .node[fill='{fills[1][0]}']").first.click()
    page.locator(f".pick .node[fill='{fills[1][0]}']").first.click()  # and not, after all
    assert [box.is_checked() for box in boxes.all()] == [True, False, True, False, False, False]
    assert page.locator(f".pick .land [fill='{fills[2][1]}']:not(.picked)").count() == 0
    boxes.nth(5).focus()
    assert page.locator(".pick .near").count() > 0
    page.get_by_role("button", name="Set up the table").click()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    refused = page.locator(".refused")
    assert refused.inner_text() == "regions: play in 3 regions that hang together, each named once"
    assert [box.is_checked() for box in boxes.all()] == [True, False, True, False, False, False]
    boxes.nth(1).focus()
    page.keyboard.press("Space")
    assert page.locator(f".pick .node[fill='{fills[1][0]}']:not(.picked)").count() == 0
    page.get_by_role("button", name="Set up the table").click()
    page.locator(".links").wait_for()
    live = [*served.hall.lives.values()][-1]
    assert live.game.settings["regions"] == (0, 1, 2)
    page.context.close()


def test_an_edition_is_a_switch_that_works_without_a_script(chromium: Any, served: Served) -> None:
    """Two clicks lead to a table with two bots."""
    for script in (True, False):
        page = chromium.new_context(java_script_enabled=script, locale="de").new_page()
        page.goto(served.base)
        offer = page.locator(".offer", has=page.locator("[value=korea-2004]"))
        assert "Ausgabe von 2018" in offer.inner_text()
        offer.get_by_text("Zweite Ausgabe").click()
        if script:
            assert offer.locator("img").get_attribute("src") == "board/korea-2004.svg"
        offer.get_by_role("button", name="Jetzt spielen: Korea").click()
        page.locator("#f-prompt").wait_for()
        kept = [*served.hall.kept.values()][-1]
        assert kept.header["ruleset"] == "korea-2004"
        assert [seat.kind for seat in kept.seats] == ["person", "bot", "bot"]
        page.context.close()


def test_the_form_shows_the_settings_of_chosen_overlays(served: Served) -> None:
    """What was entered stays; nothing is set up."""
    address, tables = f"{served.base}/new/germany-2004", len(served.hall.kept)
    form = {"players": "2", "title": "Harbour", "look": "1", "overlay": "power-grid/robots"}
    plain = httpx.get(address).text
    shown = httpx.post(address, data=form)
    assert 'name="set_robots"' in shown.text
    assert 'name="set_robots"' not in plain
    assert re.search(r'value="power-grid/robots" checked', shown.text)
    assert 'value="Harbour"' in shown.text
    assert shown.status_code == 200
    refused = httpx.post(address, data={**form, "overlay": ["power-grid/robots", "power-grid/konzern"]})
    assert refused.status_code == 409
    assert "do not fit" in refused.text
    assert 'name="set_regions"' in refused.text
    assert len(served.hall.kept) == tables
    own = httpx.post(f"{served.base}/new/bsw-germany", data={"look": "1", "without": "power-grid/hidden-money"})
    assert re.search(r'name="without" value="power-grid/hidden-money" checked', own.text)
