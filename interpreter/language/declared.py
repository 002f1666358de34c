"""Base of the readers of declarations: types, printed cells and diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interpreter.base import plain_data
from interpreter.base.diagnostics import Note
from interpreter.base.plurals import MOST_LISTED, listed
from interpreter.base.remedies import remove, write
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import types
from interpreter.language.model import Model
from interpreter.language.reporter import Report, Reporter
from interpreter.language.resolve import Names, resolve_type
from interpreter.language.syntax_errors import reserved
from interpreter.language.texts import type_of
from interpreter.reading.composition import Composition
from interpreter.reading.printed_tables import Cell, PrintedTable
from interpreter.reading.yaml import Scalar, Value
from interpreter.sections.declarations import Entry

__all__ = ["Reader"]

_NUMBER = re.compile(r"-?[0-9]{1,18}")


class Reader(Reporter):
    """Reads declarations of a composition into a model and reports errors."""

    def __init__(self, composition: Composition, report: Report, model: Model) -> None:
        self.composition, self.report, self.model = composition, report, model
        self.spoken = model.spoken

    def section(self, name: str) -> Iterator[tuple[str, list[Entry]]]:
        """Yield the declarations of a section, each with its layers."""
        yield from self.composition.sections.get(name, {}).items()

    def type(self, value: Value | None) -> types.Type:
        """Return the type in a value, or `never` if it is missing or invalid."""
        tree = type_of(value, self.report)
        return resolve_type(Names(self.model), tree, self.report) if tree is not None else types.NEVER

    def types_of(self, fields: Iterable[tuple[Scalar, Scalar | None]]) -> dict[str, types.Type]:
        """Return the types of fields, by name."""
        return {key.text: self.type(value) for key, value in fields}

    def taken(self, name: str, span: Span) -> None:
        """Report a name that is reserved by the language."""
        self.report(reserved(name, span))

    def repeated(self, what: str, span: Span, first: Span, remedy: str | None = None) -> None:
        """Report what is given a second time."""
        help = remove(span, remedy or "remove this one")
        self.error("E501", f"{what} is given twice", span, help, Note("first given here", first))

    def top(self) -> Span:
        """Return the position for errors about missing declarations: the top of the first file."""
        document = self.composition.documents[0]
        return document.root.entries[0].key.span if document.root.entries else document.root.span

    def columns(
        self,
        table: PrintedTable,
        attributes: dict[str, types.Type],
        owner: str,
        extra: tuple[str, ...] = (),
        unlisted: tuple[str, ...] = (),
        key: str = "has",
    ) -> list[tuple[str, types.Type] | None]:
        """Return the attribute and type of each column of a table, or None for an unknown column.

        ``owner`` names the subject of a row. Columns in ``extra`` and ``unlisted`` are allowed too, although they are
        not attributes; the former are listed in messages. ``key`` declares the attributes.
        """
        columns: list[tuple[str, types.Type] | None] = []
        for cell in table.header:
            if cell.text in attributes:
                columns.append((cell.text, attributes[cell.text]))
            elif cell.text in (*extra, *unlisted, "provenance"):  # a remark on each row
                columns.append((cell.text, types.NEVER))
            else:
                known = [*attributes, *extra]
                declared = f"allowed columns: {listed(known)}" if known else f"declare it: `{key}: {{{cell.text}: …}}`"
                remedy = f"{declared}; `provenance` is for remarks"
                message = f"unknown column `{cell.text}`: {owner} has no such attribute{did_you_mean(cell.text, known)}"
                self.error("E304", message, cell.span, remedy)
                columns.append(None)
        names = {cell.text for cell in table.header}
        for attribute in (each for each in attributes if each not in names):
            message = f"{owner} has `{attribute}`, but this table has no such column"
            self.error("E306", message, table.header[0].span)
        return columns

    def row(self, columns: list[tuple[str, types.Type] | None], row: tuple[Cell, ...]) -> dict[str, plain_data.Value]:
        """Return the attributes in a row."""
        values: dict[str, plain_data.Value] = {}
        for column, cell in zip(columns, row, strict=False):
            if column is not None and column[1] != types.NEVER:
                values[column[0]] = self.cell_value(cell, column[1])
        return values

    def cell_value(self, cell: Cell, type_: types.Type) -> plain_data.Value:
        """Return the value of a printed cell for a type."""
        text = cell.text
        match type_:
            case types.IntType() if _NUMBER.fullmatch(text):
                return int(text)
            case types.BoolType() if text in ("yes", "no"):
                return text == "yes"
            case types.KindType():
                members = self.model.members(type_.name)
                if text in members:
                    return members.index(text)
                if not (type_.optional and text == "-"):
                    self._no_member(text, type_.name, members, cell.span)
                return None
            case types.CollectionType() if isinstance(type_.of, types.KindType):
                members = self.model.members(type_.of.name)
                names = [] if text == "-" else text.split()
                for name in names:
                    if name not in members:
                        self._no_member(name, type_.of.name, members, cell.span)
                indexes = [members.index(name) for name in names if name in members]
                return tuple(sorted(set(indexes))) if isinstance(type_, types.SetType) else tuple(indexes)
            case types.CollectionType(of=types.IntType() | types.NodeType() | types.PlaceType() as of):
                parts = text.split(",") if text != "-" else []
                values = [self.cell_value(Cell(part.strip(), cell.span), of) for part in parts]
                return tuple(sorted({*values} - {None}) if isinstance(type_, types.SetType) else values)
            case types.NodeType() | types.PlaceType() if self.model.graph is not None and not (
                type_.optional and text == "-"
            ):
                graph, names = self.model.graph, [row.name for row in self.model.graph.nodes]
                if isinstance(type_, types.PlaceType):
                    names = [f"{names[place.node]} {place.number}" for place in graph.places]
                if text in names:
                    return names.index(text)
                what = "place" if isinstance(type_, types.PlaceType) else graph.node
                self.unknown(what, text, names, cell.span, code="E302")
                return None
            case types.TextType():
                return text
            case types.NeverType():
                return None
        if type_.optional and text == "-":
            return None
        got = f"`{text}`" if text else "nothing"
        is_number = isinstance(type_, types.IntType) and text[:1].isdigit()
        whole = text[: len(text) - len(text.lstrip("0123456789"))]
        remedy = write(cell.span, whole, "write a whole number without a unit") if is_number else None
        self.error("E401", f"got {got}, want {type_}", cell.span, remedy)
        return None

    def _no_member(self, text: str, kind: str, members: tuple[str, ...], span: Span) -> None:
        """Report a cell that is not a member of a kind. A kind without members has an error of its own already."""
        if not members:
            return
        message = f"unknown {kind} `{text}`" if text else f"the cell is empty, want a {kind}"
        near = did_you_mean(text, members)
        remedy = None if near or len(members) > MOST_LISTED else f"it is one of {listed(members)}"
        if "#" in text:
            remedy = "in a table, a comment needs a line of its own"
        self.error("E302", f"{message}{near}", span, remedy)
