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

pytestmark = pytest.mark.slow
WIDTHS = (390, 768, 1440)


def pane(page: Any, name: str) -> Any:
    """Open a pane and return its frame."""
    page.locator(f'[data-pane="{name}"]').click()
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
