"""Sheets to print: each fits on two pages, and tells all that its files change and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.base.yaml_values import words
from interpreter.cli.main import cli
from interpreter.compare.operands import file_named
from interpreter.loading.load import load
from interpreter.pages.html import html_of
from interpreter.pages.markdown import markdown_of
from interpreter.pages.page import Drawing, Grid, Page
from interpreter.pages.sheet import KINDS, ROOM, lines_of, sheet_of, sheet_of_file
from interpreter.reading.files import Shelf, shelf_for
from interpreter.reading.statements import statements_of
from tests.pages.reading import Read
from tests.serve.served import browser
from tests.support import shared

SHELF = shelf_for(None)
FILES = [(kind, id) for kind in KINDS for id in SHELF.ids(kind)]
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ID = re.compile(r"[A-Z]{1,3}-[A-Za-z0-9-]+")
CITES = re.compile(rf"(?:cites|answers):? +\[?({ID.pattern}(?:, *{ID.pattern})*)")


@shared
def sheet(kind: str, id: str) -> Page:
    document, _ = SHELF.read(kind, id)
    assert document is not None
    return sheet_of_file(SHELF, document)


def cited(text: str) -> set[str]:
    """Return the statements that a file cites, in keys or in rule text."""
    return {id for cites in CITES.findall(text) for id in ID.findall(cites)}


def told(page: Page) -> set[str]:
    return {id for _, id in Read(html_of(page)).said}


def grids(page: Page, title: str) -> list[Grid]:
    found = [section for section in page.all_sections() if section.title == title]
    return [block for section in found for block in section.blocks if isinstance(block, Grid)]


@pytest.mark.parametrize(("kind", "id"), FILES)
def test_each_file_has_a_sheet_of_two_pages_with_its_own_statements(kind: str, id: str) -> None:
    page = sheet(kind, id)
    assert page.sections or any(isinstance(block, Drawing) for block in page.front)
    assert lines_of(page) <= ROOM[page.sheet]
    assert any(isinstance(block, Drawing) for block in page.front) == (kind == "map")
    document, _ = SHELF.read(kind, id)
    assert document is not None
    statements, books = statements_of(SHELF), [book.text for book in words(document.root.get("rulebook"))]
    own = cited(document.file.text)
    assert told(page) <= own
    assert {each for each in own if statements[each].book in books and statements[each].kind != "gap"} <= told(page)


@pytest.mark.parametrize(("kind", "id"), FILES[::4])
def test_a_sheet_is_one_whole_page_without_contents(kind: str, id: str) -> None:
    found = Read(html_of(sheet(kind, id)))
    assert len(found.ids) == len(set(found.ids))
    assert found.outside == []
    assert found.contents == []
    assert "## Contents" not in markdown_of(sheet(kind, id))


@pytest.mark.parametrize(
    ("kind", "id", "pages"),
    [
        ("overlay", "power-grid/robots", 2),
        ("overlay", "power-grid/konzern", 1),
        ("map", "power-grid/korea", 2),
        ("map", "power-grid/quebec", 1),
        ("map", "outpost/reconstructed", 1),
        ("edition", "power-grid/2018", 2),
        ("edition", "goofspiel/classic", 1),
    ],
)
def test_printed_pages_are_a4_and_two_at_most(tmp_path: Path, kind: str, id: str, pages: int) -> None:
    file = tmp_path / "sheet.html"
    file.write_text(html_of(sheet(kind, id)), encoding="utf-8")
    with browser() as chromium:
        page = chromium.new_page()
        page.goto(file.as_uri())
        pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", pdf)) == pages
    sizes = {tuple(map(float, each.split())) for each in re.findall(rb"/MediaBox \[0 0 ([^]]+)\]", pdf)}
    assert all((round(wide), round(high)) == (595, 842) for wide, high in sizes)


def test_cells_do_not_stick_on_paper(tmp_path: Path) -> None:
    """A cell that sticks is painted over the lines around it."""
    file = tmp_path / "sheet.html"
    file.write_text(html_of(sheet("map", "power-grid/quebec")), encoding="utf-8")
    with browser() as chromium:
        page = chromium.new_page()
        page.goto(file.as_uri())
        found = {}
        for medium in ("screen", "print"):
            page.emulate_media(media=medium)
            found[medium] = page.eval_on_selector("tbody th + th", "each => getComputedStyle(each).position")
        assert found == {"screen": "sticky", "print": "static"}
        assert page.inner_text("figcaption") == "42 nodes, 65 links"


def test_what_goes_with_one_edition_is_told_apart() -> None:
    page = sheet("map", "power-grid/russia")
    titles = {section.title: section for section in page.sections}
    assert {"Only with: Edition of 2018", "Only with: Second edition (2004, text of 2006)"} <= titles.keys()
    read = {id: section for section, id in Read(html_of(page)).said}
    assert read["RU-10"] == titles["Only with: Edition of 2018"].id
    assert read["RU-4"] == "chapter-setup"


def test_a_table_replaces_its_statements_and_marks_what_is_changed() -> None:
    page = sheet("map", "power-grid/france")
    (grid,) = grids(page, "Resource market at the start")
    cells = dict(zip(grid.columns, grid.rows[0], strict=True))
    assert {name for name, cell in cells.items() if not isinstance(cell, str)} == {"garbage", "uranium"}
    quebec = markdown_of(sheet("map", "power-grid/quebec"))
    assert "`QC-2`" in quebec
    assert "refill table of its own" not in quebec


def test_chapters_follow_the_rulebook() -> None:
    titles = [section.title for section in sheet("overlay", "power-grid/konzern").sections]
    assert titles.index("Setup") < titles.index("Auction") < titles.index("Bureaucracy")
    assert titles[-1] == "Where the rulebook leaves it open"
    korea = [section.title for section in sheet("map", "power-grid/korea").sections]
    assert korea.index("Setup") < korea.index("Resources")  # though its own sheet speaks of resources first


def test_a_ruleset_has_what_its_map_and_overlays_change() -> None:
    own = told(sheet_of(load("russia-2018")))
    assert {"RU-5", "RU-10"} <= own
    assert not any(id.startswith("GU-") for id in own)
    assert "RU-9" not in own  # goes with the edition of 2004
    assert "GU-080" in told(sheet_of(load("russia-2018", ["start-cities"])))


def test_files_that_change_nothing_have_the_sheet_of_those_below() -> None:
    text = markdown_of(sheet_of(load("goofspiel")))
    assert "Everybody chooses a card before any is shown." in text
    assert "spades" in text


def test_files_without_statements_are_told_by_their_words(tmp_path: Path) -> None:
    folder = tmp_path / "goofspiel" / "overlays"
    folder.mkdir(parents=True)
    path = folder / "calm.yaml"
    path.write_text(
        "language: 2\noverlay: goofspiel/calm\ntitle: Calm\nover: [goofspiel/classic]\n\nrules:\n"
        "  award:\n    wraps: goofspiel\n    about: nobody is told\n"
        "    does: |\n      base()\n  bidding:\n    wraps: goofspiel\n    does: |\n      base()\n",
        encoding="utf-8",
    )
    text = markdown_of(sheet_of_file(*file_named(path.as_posix())))
    assert "**Award**: Nobody is told." in text
    assert "**Bidding** `base()`" in text


@pytest.mark.parametrize(
    "path",
    [
        *EXAMPLES.glob("*/*/maps/*.yaml"),
        *EXAMPLES.glob("*/*/overlays/*.yaml"),
        *EXAMPLES.glob("*/*/editions/*.yaml"),
    ],
    ids=lambda path: path.stem,
)
def test_files_of_others_have_sheets_too(path: Path) -> None:
    page = sheet_of_file(*file_named(path.as_posix()))
    assert lines_of(page) <= ROOM[page.sheet]
    files = (path, path.parents[1] / "family.yaml")  # an edition that changes nothing has the sheet of its family
    assert told(page)
    assert told(page) <= {id for file in files if file.exists() for id in cited(file.read_text(encoding="utf-8"))}


def test_the_command_writes_sheets(tmp_path: Path) -> None:
    run = CliRunner().invoke
    file = tmp_path / "quebec.html"
    assert run(cli, ["rulebook", "power-grid/quebec", str(file), "--sheet"]).exit_code == 0
    assert 'class="sheet"' in file.read_text(encoding="utf-8")
    both = run(cli, ["rulebook", "germany-2018", "--with", "start-cities", "--sheet", "--players", "3"])
    assert both.stdout.startswith("# Germany")
    assert "GU-080" in both.stdout
    wrong = run(cli, ["rulebook", "power-grid/quebec", "--sheet", "--with", "konzern"])
    assert (wrong.exit_code, "goes with a ruleset" in wrong.stderr) == (2, True)
    many = run(cli, ["rulebook", "power-grid/quebec", "--sheet", "--players", "9"])
    assert (many.exit_code, "is for 2 to 6 players, not 9" in many.stderr) == (1, True)
    deck = run(cli, ["rulebook", "power-grid/plants", "--sheet"])
    assert (deck.exit_code, "is a deck" in deck.stderr) == (1, True)


def test_a_file_that_no_ruleset_has_is_refused() -> None:
    document, _ = SHELF.read("map", "power-grid/quebec")
    assert document is not None
    with pytest.raises(LookupError, match="no ruleset has or can have `power-grid/quebec`"):
        sheet_of_file(Shelf([]), document)
