"""One report in three forms: what a table, a heading or a drawing is on a page, in Markdown and on a terminal."""

from __future__ import annotations

from interpreter.base.figures import between, fixed, percent
from interpreter.pages.html import html_of
from interpreter.pages.markdown import markdown_of
from interpreter.pages.page import (
    Beside,
    Column,
    Drawing,
    Facts,
    Folded,
    Grid,
    Link,
    Listing,
    Page,
    Paragraph,
    Section,
    Source,
    Statements,
    Strong,
)
from interpreter.pages.text import lines_of
from interpreter.reading.statements import Statement
from tests.pages.reading import Read

SHARE = Column("share", percent), Column("interval", between(percent))
GRID = Grid(("name", Column("mean", fixed(2)), *SHARE), [("coal", 1, 0.5, (0.25, 0.75)), ("oil", None, None, None)])
BLOCKS = (
    Paragraph((Strong("Strong"), " and ", Link("elsewhere", "linked"))),
    Paragraph("Explains.", "aside"),
    GRID,
    Facts([("term", "meaning")]),
    Listing(["item"]),
    Statements([Statement("A-1", "book", "gap", "", "Which?", "This.")]),
    Source("when: it rains"),
    Folded("summary", [Paragraph("inside")]),
    Beside(("A", "B"), [Paragraph("left")], [Paragraph("right")]),
    Drawing("<svg></svg>", "caption"),
)


def test_a_report_is_written_in_three_forms() -> None:
    page = Page("Title", (), (Section("elsewhere", "Heading", BLOCKS),))
    assert list(lines_of(page.sections, 40, lambda text: f"*{text}*")) == [
        "",
        "*Heading*",
        "  *Strong* and linked",
        "  name  mean  share  interval",
        "  coal  1.00  50.0%  25.0% to 75.0%",
        "  oil      -      -  -",
        "  term  meaning",
        "  item",
        "A-1 Which? → This.",
        "    when: it rains",
        "",
        "  *summary*",
        "  inside",
        "  left              │ right",
    ]
    told = "".join(Read(html_of(page)).words)
    for word in ("Strong", "Explains.", "1.00", "25.0% to 75.0%", "–", "meaning", "Which?", "inside", "caption"):
        assert word in told
        assert word in markdown_of(page)


def test_pieces_of_a_long_table_stand_side_by_side() -> None:
    rows = [(f"number {number}", number) for number in range(1, 14)]
    assert list(lines_of([Grid((), rows, long=True)], 40))[:2] == [
        "  number 1  1  number 8    8",
        "  number 2  2  number 9    9",
    ]
    assert max(map(len, lines_of([Grid((), [("a" * 99, 1)] * 13, long=True)], 40))) <= 40
