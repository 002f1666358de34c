"""One screen: a table shows all that a decision needs without scrolling, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interpreter.engine.game import Game
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for

from .served import Served

DESKS = [(1280, 800), (1440, 900), (1920, 1080)]
LOW = (1280, 650)
PHONE = (390, 844)
SEEN = """(selectors) => selectors.filter((selector) => {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  if (!box || box.height === 0) return true;
  const inside = ({ top, bottom }) => box.top >= top - 1 && box.top + Math.min(box.height, 60) <= bottom + 1;
  const around = document.querySelector(selector).closest("#f-side, .windows, .common");
  return !inside({ top: 0, bottom: innerHeight }) || (around && !inside(around.getBoundingClientRect()));
})"""
"""Selectors of which nothing, or not the beginning, is in sight."""
CUT = """() => {
  const drawn = document.querySelector("#f-base svg")?.getBoundingClientRect();
  const { bottom, right } = document.querySelector(".map").getBoundingClientRect();
  return Boolean(drawn) && (drawn.bottom > bottom + 1 || drawn.right > right + 1);
}"""
"""Whether a part of the board lies outside of its frame."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("one-screen") / "tables.sqlite")
    yield running
    running.close()


def page_of(chromium: Any, link: str, size: tuple[int, int], locale: str = "en-GB") -> Any:
    view = {"width": size[0], "height": size[1]}
    page = chromium.new_context(viewport=view, reduced_motion="reduce", locale=locale).new_page()
    page.set_default_timeout(10_000)
    page.goto(link)
    page.locator("#table[data-tab]").wait_for(state="attached")
    return page


def asked(served: Served, ruleset: str, players: int, name: str | None) -> tuple[Any, str]:
    """Return a table with a decision of this name, or any with a choice, in the middle of a game, and its page."""

    def holds(game: Game) -> bool:
        now = game.decision
        return now is not None and len(now.options) > 1 and game.round >= 3 and name in (None, now.name)

    live, links = served.moment(ruleset, players, holds, asks=True)
    decision = live.game.decision
    assert decision is not None
    return live, links[decision.actor]


def out_of_sight(page: Any, size: tuple[int, int]) -> list[str]:
    """Return what a desk does not show of the things that a decision needs."""
    needs = ["#f-status .asks", "#f-prompt .tools", "#f-side .row.mine", "#f-log li:last-child"]
    needs += [each for each in (".needed", "#f-base svg") if page.locator(each).count()]
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [*size]
    assert page.evaluate("document.getElementById('f-log').clientHeight") >= 5 * 22
    assert not page.evaluate(CUT)
    return list(page.evaluate(SEEN, needs))


@pytest.mark.parametrize("players", [3, 6])
@pytest.mark.parametrize("name", ["nominate", "answer", "buy", "build", "run"])
def test_each_phase_is_one_screen(chromium: Any, served: Served, name: str, players: int) -> None:
    _, link = asked(served, "germany-2018", players, name)
    page = page_of(chromium, link, DESKS[0])
    for width, height in DESKS:
        page.set_viewport_size({"width": width, "height": height})
        assert out_of_sight(page, (width, height)) == []
    page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", shelf_for().ids("ruleset"))
def test_every_ruleset_is_one_screen(chromium: Any, served: Served, ruleset: str) -> None:
    _, link = asked(served, ruleset, load(ruleset).players.high, None)
    page = page_of(chromium, link, DESKS[0])
    assert out_of_sight(page, DESKS[0]) == []
    page.context.close()


WIDER = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
"""Number of elements whose content is wider."""


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_long_words_fit_their_panels(chromium: Any, served: Served, locale: str) -> None:
    """The market while one buys, and the line under the log when the game is over."""
    live, link = asked(served, "germany-2018", 3, "buy")
    page = page_of(chromium, link, DESKS[0], locale)
    assert page.locator("#panel-market .wide").evaluate_all(WIDER) == 0
    page.context.close()
    served.within(lambda: setattr(live.kept, "audience", "alone"))  # offers to play on from here
    page = page_of(chromium, link, DESKS[0], locale)
    assert page.locator("[data-do=fork]").count() == 1
    assert page.locator(".back").evaluate_all(WIDER) == 0
    page.context.close()


def test_the_board_stays_where_it_is_while_one_chooses(chromium: Any, served: Served) -> None:
    _, link = asked(served, "germany-2018", 3, "build")
    page = page_of(chromium, link, DESKS[0])
    before = page.locator("#f-base svg").bounding_box()
    page.locator("g.node.can").first.click()
    page.locator("#f-prompt .ok").wait_for()
    assert page.locator("#f-base svg").bounding_box() == before
    page.context.close()


@pytest.mark.parametrize("name", ["nominate", "answer", "buy", "build", "run"])
def test_a_phone_opens_what_answers_and_has_room_for_thumbs(chromium: Any, served: Served, name: str) -> None:
    _, link = asked(served, "germany-2018", 3, name)
    page = page_of(chromium, link, PHONE)
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [*PHONE]
    answering = {"buy": "#panel-market", "build": ".view"}.get(name, ".needed")
    assert page.evaluate(SEEN, ["#f-status .asks", "#f-prompt .tools", answering]) == []
    for button in page.locator("#f-prompt button:visible, .tabs button:visible").all():
        assert min(button.bounding_box()[each] for each in ("width", "height")) >= 44
    bottom = page.locator("#f-prompt").bounding_box()
    assert bottom["y"] + bottom["height"] >= PHONE[1] - 1
    page.context.close()


def test_a_low_window_is_one_screen_too(chromium: Any, served: Served) -> None:
    for name in ("nominate", "buy", "build"):
        _, link = asked(served, "germany-2018", 3, name)
        page = page_of(chromium, link, LOW)
        assert out_of_sight(page, LOW) == []
        page.context.close()


def test_the_board_of_a_phone_keeps_its_size_while_one_taps(chromium: Any, served: Served) -> None:
    """A city that can be picked, and one that cannot, whose reason lies over the board."""
    _, link = asked(served, "germany-2018", 3, "build")
    page = page_of(chromium, link, PHONE)
    before = page.locator(".map").bounding_box()
    page.locator("g.node.can .hit").first.click(force=True)
    page.locator("#f-prompt .ok").wait_for()
    assert page.locator(".map").bounding_box() == before
    page.locator("g.node:not(.can):not(.picked) .hit").last.dispatch_event("click")
    page.locator("#f-notice > .refused").first.wait_for()
    assert page.locator(".map").bounding_box() == before
    page.context.close()


def test_a_city_says_its_region_prices_and_links(chromium: Any, served: Served) -> None:
    _, link = asked(served, "germany-2018", 3, "build")
    page = page_of(chromium, link, DESKS[0])
    assert page.locator('g[aria-label^="Flensburg"]').get_attribute("aria-description") == "turquoise; 10 15 20; Kiel 4"
    page.context.close()


def test_a_choice_by_keys_alone_leaves_the_focus_at_the_prompt(chromium: Any, served: Served) -> None:
    live, link = asked(served, "germany-2018", 3, "answer")
    page = page_of(chromium, link, DESKS[0])
    before = len(live.kept.choices)
    for key in (".", "1", "o"):
        page.keyboard.press(key)
        page.wait_for_timeout(400)
    assert [line["do"] for line in live.kept.choices[before:]] == ["raise"]
    assert page.evaluate("document.activeElement.closest('#f-prompt') !== null")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#f-log button[tabindex='0'], #f-log button:not([tabindex])").count() == 0
    page.locator("#f-log").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.matches('.line')")
    page.context.close()


def test_the_title_says_whose_turn_it_is(chromium: Any, served: Served) -> None:
    live, link = asked(served, "germany-2018", 3, "answer")
    page = page_of(chromium, link, DESKS[0])
    page.wait_for_function("() => document.title.startsWith('● ')")
    assert "icon-turn" in page.locator("link[rel=icon]").get_attribute("href")
    seat = live.game.decision.actor
    served.done(live.choose(seat, {"do": "pass"}))
    page.wait_for_function("() => !document.title.startsWith('● ')")
    page.context.close()
