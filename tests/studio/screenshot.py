"""Screenshot of the studio for the README: ``python -m tests.studio.screenshot`` updates it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.samples import samples
from tests.serve.served import browser
from tests.studio.home import Home

DOCS = Path(__file__).parents[2] / "docs"
PLACE = DOCS / "images" / "studio.png"


def screenshot(chromium: Any, home: Home) -> bytes:
    """Return the tutorial's map and its board, with a typo and its quick fix, as a PNG of 1440 by 900 pixels."""
    blocks = [block for block in samples((DOCS / "tutorials" / "map.md").read_text(encoding="utf-8")) if block.is_file]
    town, typo = blocks[0], blocks[1].text.splitlines()
    home.bench.write(town.name, town.text)
    right, wrong = (line[1:] for line in typo)
    number = town.text.splitlines().index(right) + 1
    page = chromium.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme="light", reduced_motion="reduce", locale="en-GB"
    ).new_page()
    page.goto(f"{home.base}/#at={town.name}:{number}")
    page.frame_locator("#pane").locator("svg.nodes").wait_for()
    page.locator("#editor .cm-line", has_text=right).wait_for()
    page.keyboard.press("Shift+End")
    page.keyboard.insert_text(wrong)
    page.locator("#problems button.fix").wait_for()
    page.locator("#editor .cm-lintRange-error").first.wait_for()
    page.mouse.move(0, 0)
    taken = page.screenshot()
    page.context.close()
    return bytes(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        try:
            with browser() as chromium:
                PLACE.write_bytes(screenshot(chromium, home))
        finally:
            home.close()
    print(PLACE)


if __name__ == "__main__":
    main()
