"""A story in the studio at home: a game to its end, a scenario of it, and a comparison, all in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.serve.screenshot import difference
from tests.serve.served import browser
from tests.serve.test_browser import serious
from tests.studio.home import Home
from tests.studio.screenshot import PLACE, screenshot
from tests.studio.test_play_panes import ACT, RULES, edit
from tests.studio.test_static import Visit

pytestmark = pytest.mark.slow
WIDTHS = (390, 768, 1440)


def pane(page: Any, name: str) -> Any:
    """Open a pane and return its frame."""
    page.locator(f'[data-pane="{name}"]').click()
    return shown(page, name)


def shown(page: Any, name: str) -> Any:
    """Return the frame of a pane when it is shown."""
    page.wait_for_function(
        "(name) => document.querySelector('#pane').contentDocument?.URL.includes(name)", arg=f"pane/{name}"
    )
    return page.frame_locator("#pane")


def test_from_a_game_to_a_scenario_and_a_comparison(tmp_path: Path) -> None:
    home = Home(tmp_path)
    edit(home, ACT.format(n=1))
    with browser() as chromium:
        page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(20_000)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
        )
        page.goto(f"{home.base}/#at={RULES}:1")
        page.locator("#choice select").first.wait_for()
        frame = pane(page, "play")
        frame.get_by_role("button", name="Play", exact=True).click()
        table = frame.frame_locator("iframe")
        table.locator("#table[data-tab]").wait_for(state="attached")
        live = home.live()
        page.locator("#editor .cm-content").focus()  # an edit leaves the table where it is
        edit(home, ACT.format(n=2))
        while not live.game.is_over:
            table.locator(".option").first.click()  # in vain where the page shows the state before the edit
            page.wait_for_timeout(300)

        frame.get_by_role("link", name="Make a scenario").click()
        page.locator("[data-pane=scenarios][aria-selected=true]").wait_for()
        frame.locator("input[name=name]").fill("the last choice")
        frame.get_by_role("button", name="Write the scenario").click()
        page.locator("#name", has_text="small/scenarios/recorded.yaml").wait_for()
        page.locator("#files a[aria-current]", has_text="small/scenarios/recorded.yaml").wait_for()
        assert "the last choice" in page.locator("#editor .cm-content").inner_text()
        frame = pane(page, "scenarios")
        frame.get_by_role("button", name="Run all").click()
        frame.get_by_role("status").filter(has_text="1 passed").wait_for()

        frame = pane(page, "compare")
        frame.locator("select[name=other]").select_option("tiny")
        frame.get_by_role("button", name="Compare").click()
        frame.get_by_role("button", name=re.compile("Play 200")).click()
        frame.get_by_role("heading", name="Effects on play").wait_for(timeout=60_000)
        frame.get_by_role("button", name="Play again").wait_for(timeout=60_000)

        page = chromium.new_context(bypass_csp=True).new_page()
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 900})
                for address in ("play?ruleset=tiny&anew", "scenarios?ruleset=tiny&last=some", "compare?ruleset=tiny"):
                    page.goto(f"{home.base}/pane/{address}")
                    assert serious(page) == [], (address, width, scheme)
                    assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, width)
        assert [each for each in wrong if "favicon" not in each] == []
    home.close()
    assert home.errors == []


def test_the_first_picture_of_the_readme_is_what_the_studio_looks_like(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with browser() as chromium:
        taken = screenshot(chromium, home)
    home.close()
    assert difference(taken, PLACE) < 0.04, "draw it anew with `python -m tests.studio.screenshot`"
    readme = (PLACE.parents[2] / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"!\[.*?\]\((.*?)\)", readme)[0] == "docs/images/studio.png"


SHORT = '\ntables:\n  end_cites: {amends: power-grid, cells: {"2": 2, "3": 2, "4": 2, "5": 2, "6": 2}}\n'
"""A short game, with a name that is misspelt."""


@pytest.mark.parametrize("home", ["served", "static"])
def test_from_a_map_to_a_link(home: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The same story in both homes: a map, an error and its quick fix, the board, a game, a scenario, a comparison, and
    a link that shows the same elsewhere."""
    folders = [tmp_path / name for name in ("here", "there")] if home == "served" else []
    for folder in folders:
        folder.mkdir()
    served = [Home(folder, ()) for folder in folders]
    here, there = [each.base + "/" for each in served] or [request.getfixturevalue("address")] * 2
    with browser() as chromium:
        visit = Visit(chromium)
        page, shell = opened(visit, here)
        shell.locator("button[data-ask='new/map']").first.click()
        shell.get_by_label("Name", exact=True).fill("My Town")
        shell.get_by_label("Ruleset to build on").select_option("germany-2004")
        shell.get_by_role("button", name="Create").click()
        shell.locator("#files a[aria-current]", has_text="my-town.yaml").wait_for()
        shell.locator("#problems h2", has_text="No ").wait_for()

        shell.locator("#editor .cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.insert_text(SHORT)
        shell.locator("#problems li.error", has_text="end_cites").wait_for()
        shell.locator("#problems .fix", has_text="end_cities").click()
        shell.locator("#problems h2", has_text="No ").wait_for()
        shell.locator("#saved", has_text="saved").wait_for()
        board = pane(shell, "board").locator(".nodes a")
        board.first.wait_for()
        cities = board.count()

        frame = pane(shell, "play")
        frame.get_by_label("Players").select_option("2")
        frame.get_by_label("Bots on the other seats").select_option("sensible")
        frame.get_by_role("button", name="Play", exact=True).click()
        table = frame.frame_locator("iframe")
        table.get_by_role("button", name="A bot for me").click()
        table.get_by_text("The game is over").first.wait_for(timeout=300_000)

        frame.get_by_role("link", name="Make a scenario").click()
        frame.locator("input[name=name]").fill("how it ended")
        frame.get_by_role("button", name="Write the scenario").click()
        shell.locator("#files a[aria-current]", has_text="recorded.yaml").wait_for()
        frame = pane(shell, "scenarios")
        frame.get_by_role("button", name="Run all").click()
        frame.get_by_role("status").filter(has_text="1 passed").wait_for()

        frame = pane(shell, "compare")
        frame.locator("select[name=other]").select_option("germany-2004")
        frame.get_by_role("button", name="Compare").click()
        frame.get_by_text("end cities: players 2").first.wait_for(state="attached")
        frame.get_by_role("button", name=re.compile("Play 200")).click()
        frame.get_by_role("button", name="Play again").wait_for(timeout=120_000)

        shell.get_by_role("button", name="Link…").click()
        link = shell.locator("#ask [data-link]").input_value()
        assert link.startswith(here)
        other = Visit(chromium)
        _, elsewhere = opened(other, link.replace(here, there))
        elsewhere.get_by_role("button", name=re.compile("Write . files?")).click()
        shown(elsewhere, "compare").locator("select[name=other]").wait_for()  # the pane travels too
        pane(elsewhere, "board").locator(".nodes a").first.wait_for()
        assert pane(elsewhere, "board").locator(".nodes a").count() == cities
        frame = pane(elsewhere, "scenarios")
        frame.get_by_role("button", name="Run all").click()
        frame.get_by_role("status").filter(has_text="1 passed").wait_for()
        assert visit.wrong + other.wrong == []
    for each in served:
        each.close()
        assert each.errors == []


def opened(visit: Visit, address: str) -> tuple[Any, Any]:
    """Return a page with the studio, and its frame: of a static site, the one in the page."""
    page = visit.context.new_page()
    page.goto(address)
    first = page.locator("iframe[name=studio], #files").first.element_handle()
    shell = first.content_frame() or page.main_frame
    shell.locator("#choice select, #ask .states").first.wait_for(state="attached")
    return page, shell
