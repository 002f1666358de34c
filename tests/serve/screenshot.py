"""Screenshot of a table for the README: ``python -m tests.serve.screenshot`` updates it."""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from interpreter.engine.game import Game
from tests.serve.served import Served, browser

PLACE = Path(__file__).parents[2] / "docs" / "images" / "table.png"


def screenshot(chromium: Any, served: Served) -> bytes:
    """Return a table during building with a city picked, as a PNG of 1280 by 800 pixels."""

    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and asked.name == "build" and len(game.choices) > 60 and len(asked.options) > 2

    live, links = served.moment("bsw-germany", 3, holds)
    asked = live.game.decision
    assert asked is not None
    city = next(option.as_dict()["city"] for option in asked.options if option.values)
    page = chromium.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce", locale="en-GB"
    ).new_page()
    page.goto(links[asked.actor])
    page.locator(f'g[aria-label^="{city}"]').click()
    page.locator("g.node.picked").wait_for()
    page.get_by_role("button", name="Supply table").click()
    page.locator("#window-supply_table").wait_for()
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    taken = page.screenshot()
    page.context.close()
    return bytes(taken)


def difference(taken: bytes, place: Path) -> float:
    """Return how much a picture differs from a kept one of the same size, from 0 to 1. Letters of other machines differ
    a little, and so may the picture."""
    from matplotlib import image

    now, kept = (image.imread(each, "png")[..., :3] for each in (BytesIO(taken), place))
    assert now.shape == kept.shape
    return float(abs(now - kept).mean())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder) / "tables.sqlite")
        try:
            with browser() as chromium:
                PLACE.write_bytes(screenshot(chromium, served))
        finally:
            served.close()
    print(PLACE)


if __name__ == "__main__":
    main()
