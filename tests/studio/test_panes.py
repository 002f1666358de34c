"""The panes that show a ruleset: board, rulebook and coverage, their errors, and links to lines of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from typing import Any

import httpx
import pytest

from interpreter.loading.load import load
from tests.serve.served import browser, post, until
from tests.serve.test_browser import serious
from tests.studio.home import Home

MAP = "power-grid/maps/my-town.yaml"
HEAD = """\
language: 2
map: power-grid/my-town
title: {title}

kinds:
  region: [row_a, row_b, row_c, row_d, row_e, row_f]
{more}
nodes: |
  name           | region | x   | y
"""
ROWS = [
    (f"City {letter}{number}", f"row_{letter.lower()}", 100 * number, 100 * (ord(letter) - 64))
    for letter in "ABCDEF"
    for number in range(1, 8)
]
FOCUSED = "document.activeElement.getAttribute('aria-label')"
HOSTILE = "<script>alert(1)</script>"


def town(title: str = "My town", more: str = "", *, has_coordinates: bool = True) -> str:
    """Return a map whose nodes stand in rows, linked to their neighbours."""
    lines = [f"  {name:14} | {region:6} | {x:<3} | {y}" for name, region, x, y in ROWS]
    text = HEAD.format(title=title, more=more) + "\n".join(lines) + "\n\nlinks: |\n  from    | to      | cost\n"
    ends = [(a, b) for a in ROWS for b in ROWS if (b[2] - a[2], b[3] - a[3]) in ((100, 0), (0, 100))]
    text += "".join(f"  {a[0]} | {b[0]} | 7\n" for a, b in ends)
    return text if has_coordinates else re.sub(r" \| (x  |\d{3}) *\| (y|\d{3})$", "", text, flags=re.MULTILINE)


class Studio(Home):
    """A studio with a map."""

    def pane(self, address: str) -> httpx.Response:
        return self.get(f"pane/{address}")

    def write(self, name: str, text: str) -> None:
        self.within(lambda: self.bench.write(name, text))

    def move(self, ruleset: str, node: str, x: object, y: object) -> httpx.Response:
        address = f"{self.base}/pane/board/move?ruleset={ruleset}"
        return post(address, json={"node": node, "x": x, "y": y}, timeout=60)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(tmp_path_factory.mktemp("studio"))
    yield studio
    studio.close()


@pytest.fixture
def studio(running: Studio) -> Studio:
    """The studio with nothing but the map in its folder."""
    for name in running.bench.files():
        running.within(partial(running.bench.remove, name))
    running.write(MAP, town())
    return running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


def links(page: str) -> dict[str, str]:
    """Return the places that a page links to, by the names of the links."""
    return {unescape(name): at for at, name in re.findall(r'href="\.\./#at=([^"]+)"[^>]* aria-label="([^"]+)"', page)}


# --- the board


def test_each_node_of_a_board_is_a_link_to_its_line(studio: Studio) -> None:
    lines = town().split("\n")
    found = links(studio.pane("board?ruleset=my-town-2018").text)
    assert len(found) == len(ROWS)
    for name, at in found.items():
        file, _, line = at.rpartition(":")
        assert file == MAP
        assert lines[int(line) - 1].split("|")[0].strip() == name
    shipped = links(studio.pane("board?ruleset=germany-2018&players=2").text)
    assert shipped["Essen"].startswith("rulesets/power-grid/maps/germany-2018.yaml:")


def test_a_move_changes_two_cells_and_nothing_else(studio: Studio) -> None:
    before = town().replace("  City B2", "  # a remark\n  City B2").replace("\n", "\r\n")
    studio.write(MAP, before)
    answer = studio.move("my-town-2018", "City B2", 7, -1234)
    assert (answer.status_code, answer.json()) == (200, {"changed": MAP})
    old, new = before.split("\n"), studio.bench.read(MAP).split("\n")
    (changed,) = [line for line in range(len(old)) if old[line] != new[line]]
    assert new[changed] == "  City B2        | row_b  | 7   | -1234\r"
    graph = load(studio.bench.source("my-town-2018")).model.graph
    assert graph is not None
    assert {node.name: node.at for node in graph.nodes}["City B2"] == (7, -1234)
    page = studio.pane("board?ruleset=my-town-2018").text
    assert 'aria-label="City B2" data-x="7" data-y="-1234"' in page


def test_a_cell_that_gets_wider_takes_the_room_behind_it(studio: Studio) -> None:
    assert studio.move("my-town-2018", "City A1", 12345, 6).status_code == 200
    assert "  City A1        | row_a  | 12345 | 6\n" in studio.bench.read(MAP)


@pytest.mark.parametrize(
    ("ruleset", "node", "x", "why"),
    [
        ("germany-2018", "Essen", 1, "shipped"),
        ("my-town-2018", "City Z9", 1, "no node"),
        ("my-town-2018", "City A1", 10**9, "number up to"),
        ("my-town-2018", "City A1", 1.5, "whole numbers"),
        ("my-town-2018", "City A1", "1 | 2", "whole numbers"),
        ("my-town-2018", "x" * 100_000, 1, "too large|whole numbers"),
        ("../../etc/passwd.yaml", "City A1", 1, "unknown ruleset"),
        ("goofspiel", "City A1", 1, "no board"),
    ],
)
def test_what_cannot_be_moved_is_refused_with_the_reason(
    studio: Studio, ruleset: str, node: str, x: object, why: str
) -> None:
    answer = studio.move(ruleset, node, x, 1)
    assert answer.status_code in (409, 413)
    assert re.search(why, answer.text)
    assert studio.bench.read(MAP) == town()


def test_a_computed_layout_is_drawn_but_not_moved(studio: Studio) -> None:
    studio.write(MAP, town(has_coordinates=False))
    page = studio.pane("board?ruleset=my-town-2018").text
    assert "This layout follows the links." in page
    assert "data-x" not in page
    assert len(links(page)) == len(ROWS)
    assert "follows the links" in studio.move("my-town-2018", "City A1", 1, 1).json()["refused"]


def test_a_board_that_breaks_laws_is_drawn_with_what_is_wrong(studio: Studio) -> None:
    law = "tables:\n  odd:\n    keys: [players]\n    gives: int\n    laws:\n      - odd[2] > 9\n    is: |\n"
    studio.write(MAP, town(more=f"{law}      players | 2 | 3 | 4 | 5 | 6\n      odd     | 7 | 7 | 7 | 7 | 6\n"))
    page = studio.pane("board?ruleset=my-town-2018").text
    assert "E414" in page
    assert f'href="../#at={MAP}:12"' in page
    assert len(links(page)) == len(ROWS)
    assert studio.move("my-town-2018", "City A1", 1, 1).status_code == 200
    for name in ("rulebook", "coverage"):
        answer = studio.pane(f"{name}?ruleset=my-town-2018")
        assert answer.status_code == 200
        assert f'href="../#at={MAP}:12"' in answer.text


# --- rulesets and their errors


def test_errors_are_listed_with_links_to_their_lines(studio: Studio) -> None:
    studio.write(MAP, town(HOSTILE).replace("links: |", f"tables:\n  {HOSTILE}: |\n\nlinks: |"))
    for name in ("board", "rulebook", "coverage"):
        answer = studio.pane(f"{name}?ruleset=my-town-2018")
        assert answer.status_code == 200
        assert re.search(rf'href="\.\./#at={MAP}:\d+" target="studio">my-town.yaml:\d+</a>', answer.text)
        assert "<script>" not in answer.text


@pytest.mark.parametrize("address", ["board", "board?ruleset=/etc/passwd", f"board?ruleset={HOSTILE}",
    "board?ruleset=goofspiel", "board?ruleset=germany-2018&with=../../x.yaml"])  # fmt: skip
def test_what_is_not_there_is_refused_in_words(studio: Studio, address: str) -> None:
    answer = studio.pane(address)
    assert answer.status_code == 409
    assert "Not possible" in answer.text
    assert "<script>" not in answer.text


def test_a_pane_follows_each_edit(studio: Studio) -> None:
    assert 'aria-label="City A1"' in studio.pane("board?ruleset=my-town-2018").text
    studio.write(MAP, town().replace("City A1", "<b>Mill</b> & Söhne"))
    page = studio.pane("board?ruleset=my-town-2018").text
    assert 'aria-label="&lt;b&gt;Mill&lt;/b&gt; &amp; Söhne"' in page
    assert "<b>" not in page
    assert studio.move("my-town-2018", "<b>Mill</b> & Söhne", 1, 2).status_code == 200


def test_an_own_overlay_lies_over_a_shipped_ruleset(studio: Studio) -> None:
    about = "Each player has a garden, says the new rule."
    text = "language: 2\noverlay: power-grid/mine\ntitle: Mine\nover: [power-grid/2018]\nstate:\n  garden:\n"
    text += f"    value: int\n    start: 0\n    about: {about}\n"
    studio.write("power-grid/overlays/mine.yaml", text)
    page = studio.pane("rulebook?ruleset=germany-2018&with=power-grid/mine").text
    assert "Mine" in page
    assert about not in studio.pane("rulebook?ruleset=germany-2018").text


def test_players_and_settings_come_from_the_address(studio: Studio) -> None:
    page = studio.pane("rulebook?ruleset=germany-2018&players=4").text
    assert "This book is for 4 players" in page
    assert "This book is for" not in studio.pane("rulebook?ruleset=germany-2018&players=11").text
    refused = studio.pane("rulebook?ruleset=germany-2018&set=regions=nowhere")
    assert refused.status_code == 409
    assert "nowhere" in refused.text


# --- documents


def test_rules_and_statements_of_a_rulebook_are_links_to_their_lines(studio: Studio) -> None:
    page = studio.pane("rulebook?ruleset=germany-2018").text
    ruleset = load("germany-2018")
    entry = ruleset.composition.layers("rules", "scrap_one")[0]
    assert f'href="../#at=rulesets/{entry.span.file.name}:{entry.span.line}" target="studio"' in page
    book = (ruleset.shelf.roots[-1] / "power-grid/statements/germany-usa-2018.csv").read_text(encoding="utf-8")
    (line,) = [number for number, row in enumerate(book.splitlines(), 1) if row.startswith("GU-143,")]
    at = f'href="../#at=rulesets/power-grid/statements/germany-usa-2018.csv:{line}" target="studio">GU-143<'
    assert at in page
    assert at in studio.pane("coverage?ruleset=germany-2018").text


def test_no_page_has_scripts_or_styles_inside(studio: Studio) -> None:
    for name in ("board", "rulebook", "coverage"):
        answer = studio.pane(f"{name}?ruleset=germany-2018")
        assert "'unsafe" not in answer.headers["content-security-policy"]
        assert not re.search(r"<style|<script>|<script [^s]|style=|\son\w+=", answer.text)


def test_coverage_comes_with_its_progress(studio: Studio) -> None:
    studio.write(MAP, town("Another town"))
    with httpx.stream("GET", f"{studio.base}/pane/coverage?ruleset=my-town-2018", timeout=60) as answer:
        pieces = list(answer.iter_text())
    assert "Reading scenarios" in "".join(pieces[:3])
    assert "Reading scenarios" not in pieces[-1]
    whole = "".join(pieces)
    assert whole.rstrip().endswith("</html>")
    assert "statements, as followed by my-town-2018" in whole
    again = studio.pane("coverage?ruleset=my-town-2018").text
    assert "Reading scenarios" not in again


def test_a_game_without_a_rulebook_says_so(studio: Studio) -> None:
    assert "follows no rulebook" in studio.pane("coverage?ruleset=goofspiel").text


# --- in a browser


def opened(chromium: Any, studio: Studio, address: str, width: int = 768, touch: bool = False) -> Any:
    context = chromium.new_context(viewport={"width": width, "height": 900}, has_touch=touch, is_mobile=touch)
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(f"{studio.base}/pane/{address}")
    return page


def place_of(studio: Studio, node: str) -> tuple[int, int]:
    row = next(line.split("|") for line in studio.bench.read(MAP).split("\n") if line.strip().startswith(f"{node} "))
    return int(row[2]), int(row[3])


def test_a_node_is_dragged_and_moved_by_keys(chromium: Any, studio: Studio) -> None:
    page = opened(chromium, studio, "board?ruleset=my-town-2018")
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    x, y = place_of(studio, "City C3")
    box = page.get_by_role("link", name="City C3").bounding_box()
    step = page.get_by_role("link", name="City C4").bounding_box()["x"] - box["x"]
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 9 + step / 2, box["y"] + 9, steps=5)
    with page.expect_navigation():
        page.mouse.up()
    assert place_of(studio, "City C3")[0] == pytest.approx(x + 50, abs=8)
    assert place_of(studio, "City C3")[1] == y
    assert page.evaluate(FOCUSED) == "City C3"
    assert page.url.endswith("board?ruleset=my-town-2018"), "the drag is no click"
    before = place_of(studio, "City C3")
    with page.expect_navigation():
        for _ in range(3):
            page.keyboard.press("Shift+ArrowDown")
    after = place_of(studio, "City C3")
    assert after[0] == before[0]
    assert before[1] < after[1] < before[1] + 40
    assert page.evaluate(FOCUSED) == "City C3"
    with page.expect_popup() as studios:
        page.keyboard.press("Enter")
    assert re.search(rf"/#at={MAP}:\d+$", studios.value.url)
    assert [each for each in wrong if "404" not in each] == []
    page.context.close()


def test_a_finger_drags_a_node(chromium: Any, studio: Studio) -> None:
    page = opened(chromium, studio, "board?ruleset=my-town-2018", touch=True)
    before, box = place_of(studio, "City C3"), page.get_by_role("link", name="City C3").bounding_box()
    finger = page.context.new_cdp_session(page)
    for kind, by in (("Start", 0), *(("Move", step) for step in range(4, 40, 4)), ("End", None)):
        points = [] if by is None else [{"x": box["x"] + 9 + by, "y": box["y"] + 9 + by}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    until(lambda: min(after - was for after, was in zip(place_of(studio, "City C3"), before, strict=True)) > 4)
    page.context.close()


def test_the_editor_shows_what_a_move_has_written(chromium: Any, studio: Studio) -> None:
    studio.write(MAP, town().replace("\n", "\r\n"))
    page = opened(chromium, studio, f"../#at={MAP}:12", 1440)
    link = page.frame_locator("#pane").get_by_role("link", name="City A2")
    link.wait_for()
    page.frame(url=re.compile("/pane/board")).wait_for_load_state("load")
    link.focus()
    page.keyboard.press("Shift+ArrowLeft")
    until(lambda: place_of(studio, "City A2")[0] < 200)
    row = f"City A2        | row_a  | {place_of(studio, 'City A2')[0]} | 100"
    until(lambda: row in page.locator("#editor .cm-content").inner_text())
    assert studio.bench.read(MAP) == town().replace("City A2        | row_a  | 200 | 100", row).replace("\n", "\r\n")
    page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (768, "light"), (1440, "dark"), (1440, "light")])
def test_no_serious_findings_of_axe(chromium: Any, studio: Studio, width: int, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    for ruleset in ("my-town-2018", "unknown"):
        for name in ("board", "rulebook", "coverage"):
            page.goto(f"{studio.base}/pane/{name}?ruleset={ruleset}")
            assert serious(page) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    studio.write(MAP, town(HOSTILE, "tables: nothing\n"))
    page.goto(f"{studio.base}/pane/board?ruleset=my-town-2018")
    page.locator(".mistakes").wait_for()
    assert serious(page) == []
    context.close()
