"""The page of how rulebooks are followed: every statement once, with its state and what carries it out."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner
from msgspec.structs import replace

from interpreter.cli.main import cli
from interpreter.loading.load import load
from interpreter.pages.citation_report import STATES, followed_page, state_of
from interpreter.pages.html import html_of
from interpreter.reading.files import shelf_for
from interpreter.reading.statements import Statement, statements_of
from interpreter.testing.coverage import Coverage, cover
from tests.pages.reading import Read
from tests.serve.served import browser
from tests.support import shared

BOOK = "germany-usa-2018"
STATEMENTS = statements_of(shelf_for(None))


@shared
def found() -> Coverage:
    return cover(BOOK, [load("germany-2018")], shelf_for(None))


def state(coverage: Coverage, id: str) -> str:
    return state_of(coverage, STATEMENTS[id]).name


def test_a_statement_has_the_best_state_that_is_known() -> None:
    assert state(found(), "GU-117") == "exercised"
    assert state(replace(found(), proved=frozenset({"GU-117"})), "GU-117") == "proved"
    assert state(replace(found(), shown=frozenset()), "GU-117") == "cited"
    assert state(replace(found(), cited={}, waived={"GU-117": "why"}), "GU-117") == "waived"
    assert state(replace(found(), cited={}, waived={}), "GU-117") == "left out"
    uncounted = Statement("GU-000", BOOK, "advice", "", "Think first.")
    assert state_of(found(), uncounted).name == "beside"


def test_every_statement_stands_there_once_with_its_state_and_rules() -> None:
    text = html_of(followed_page([found()], STATEMENTS.values()))
    read = Read(text)
    own = [each for each in STATEMENTS.values() if each.book == BOOK]
    assert [id for id in read.ids if id in STATEMENTS] == [each.id for each in own]
    assert set(read.links) <= set(read.ids)
    assert read.outside == []
    shown = dict(re.findall(r'id="([^"]+)">.*</th><td[^>]*>[a-z]+</td><td[^>]*>([^<]+)</td>', text))
    assert shown == {each.id: state_of(found(), each).label for each in own}
    place = text[text.index('id="GU-117"') : text.index('id="GU-118"')]
    assert "<code>minimum_bid</code>" in place
    assert re.search(r"power-grid/editions/2018\.yaml:\d+", place)


def test_statements_are_chosen_by_words_and_by_state() -> None:
    with browser() as chromium:
        page = chromium.new_page()
        page.set_content(html_of(followed_page([found()], STATEMENTS.values())))
        shown = page.locator("table[data-filter] tbody tr:visible")
        whole = shown.count()
        page.get_by_label("Search").fill("GU-117")
        assert shown.count() == 1
        page.get_by_label("Search").fill("")
        page.get_by_label("exercised").uncheck()
        states = [state_of(found(), each).name for each in STATEMENTS.values() if each.book == BOOK]
        assert shown.count() == whole - states.count("exercised")
        assert page.locator("output").inner_text() == f"{shown.count()} of {whole}"


def test_states_are_told_apart_by_more_than_colour() -> None:
    assert len({each.sign for each in STATES}) == len({each.name for each in STATES}) == len(STATES)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "coverage.html"
    result = CliRunner().invoke(cli, ["coverage", "--ruleset", "germany-2018", "--html", str(page)])
    assert result.stdout == ""
    assert Read(page.read_text(encoding="utf-8")).ids[0] == f"book-{BOOK}"
