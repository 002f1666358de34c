"""Tables as printed: cells, their places, and rows that do not fit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import Excerpt, SourceFile
from interpreter.reading.printed_tables import Cell, PrintedTable, read_printed
from interpreter.reading.yaml import Mapping, Scalar, excerpt, read_yaml


def printed(*lines: str, end: str = "\n") -> tuple[PrintedTable, list[Diagnostic]]:
    text = end.join(["tables:", "  t: |", *("    " + line if line else "" for line in lines), ""])
    root, found = read_yaml(SourceFile("x.yaml", text))
    assert root is not None, found
    tables = root["tables"]
    assert isinstance(tables, Mapping)
    block = tables.entries[0].value
    assert isinstance(block, Scalar)
    taken = excerpt(block)
    assert isinstance(taken, Excerpt)
    return read_printed(taken)


def texts(cells: tuple[Cell, ...]) -> list[str]:
    return [cell.text for cell in cells]


def test_cells_are_read_with_their_places() -> None:
    table, found = printed("name       | cost", "Düsseldorf | 10", "# a comment", "", "Köln       |  -  ", end="\r\n")
    assert found == []
    assert texts(table.header) == ["name", "cost"]
    assert [texts(row) for row in table.rows] == [["Düsseldorf", "10"], ["Köln", "-"]]
    assert [cell.span.text for row in table.rows for cell in row] == ["Düsseldorf", "10", "Köln", "-"]
    assert str(table.rows[1][1].span) == "x.yaml:7:19"


def test_an_empty_cell_has_a_place() -> None:
    table, found = printed("k | v", "a | 1", "  | 2", "|", "b |")
    assert found == []
    assert [texts(row) for row in table.rows] == [["a", "1"], ["", "2"], ["", ""], ["b", ""]]
    assert all(len(cell.span.text) == 1 for row in table.rows for cell in row)
    assert str(table.rows[1][0].span) == "x.yaml:5:5"
    assert all(row[0].span.line == row[1].span.line for row in table.rows)


def test_rows_of_another_length_are_reported_and_left_out() -> None:
    table, found = printed("a | b | c", "1 | 2", "1 | 2 | 3", "1 | 2 | 3 | 4", "5")
    assert [texts(row) for row in table.rows] == [["1", "2", "3"]]
    assert [(d.code, d.message, str(d.span)) for d in found] == [
        ("E020", "got 2 cells, want 3", "x.yaml:4:5"),
        ("E020", "got 4 cells, want 3", "x.yaml:6:5"),
        ("E020", "got 1 cell, want 3", "x.yaml:7:5"),
    ]
    assert found[0].span is not None
    assert found[0].span.text == "1 | 2"


def test_the_header_has_each_name_once() -> None:
    _, found = printed("a | b | a |", "1 | 2 | 3 | 4")
    assert [(d.code, str(d.span)) for d in found] == [("E021", "x.yaml:3:13"), ("E022", "x.yaml:3:16")]
    assert str(found[0].notes[0].span) == "x.yaml:3:5"


def test_an_empty_table_is_reported() -> None:
    table, found = printed("# nothing here", "")
    assert table == PrintedTable((), ())
    assert [d.code for d in found] == ["E022"]
    taken = Excerpt("", SourceFile("x", ""), ((0, 0),))
    assert [d.code for d in read_printed(taken)[1]] == ["E022"]


@settings(deadline=None)
@given(st.text(alphabet=st.one_of(st.sampled_from("|# \n\tab"), st.characters(exclude_categories=["Cs"]))))
def test_any_text_is_safe_to_read(text: str) -> None:
    lines = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
    table, found = read_printed(Excerpt(text, SourceFile("x", text), tuple((i, i) for i in lines)))
    assert all(d.code in meanings() for d in found)
    for row in table.rows:
        assert len(row) == len(table.header)
        assert all(cell.text == cell.span.text for cell in row if cell.text)
