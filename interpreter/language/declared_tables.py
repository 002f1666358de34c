"""Reader of tables: values of cells, and checks for missing cells."""

from __future__ import annotations

from itertools import islice, product
from typing import cast

from msgspec.structs import replace

from interpreter.base import plain_data
from interpreter.base.diagnostics import Note
from interpreter.base.plurals import listed
from interpreter.base.source import Span
from interpreter.language.declared import Reader
from interpreter.language.model import Table
from interpreter.language.texts import printed
from interpreter.language.types import INT, NODE, KindType, NodeType, Type
from interpreter.reading.printed_tables import Cell, PrintedTable
from interpreter.reading.yaml import Mapping, Scalar
from interpreter.sections.behaviour import Table as TableKeys
from interpreter.sections.declarations import Entry

__all__ = ["Tables"]


class Tables(Reader):
    """Reads tables."""

    def tables(self) -> None:
        for declared in self.composition.read(TableKeys):
            name, layers = declared.name, declared.layers
            whole = [position for position, layer in enumerate(layers, 1) if layer.read(TableKeys).is_ is not None]
            if not whole:
                if layers[0].covers is not None:
                    continue  # it amends nothing, which is reported
                self.error("E306", f"table `{name}` has no cells: give them as `is`", layers[0].span)
                continue
            below, above = layers[: whole[-1]], layers[whole[-1] :]
            inherited = {entry.key.text: entry for layer in below for entry in layer.entries}
            keys = TableKeys(Mapping(tuple(inherited.values()), below[-1].span))
            read = self._table(keys, below[-1], TableKeys.of_layers(below).cites)
            if read is None:
                continue
            table, head = read
            for layer in above:
                table = self._with_cells(table, layer)
            if head is not None:
                self._check_holes(table, head)
            self.model.tables[name] = replace(table, files=tuple(layer.file for layer in layers))

    def _table(self, declared: TableKeys, entry: Entry, cites: tuple[Scalar, ...]) -> tuple[Table, Span | None] | None:
        name, names = entry.name, list(declared.keys)
        table = printed(declared.is_, self.report)
        if not names:
            return None
        if table is None:  # the error is reported; name and types are still declared
            table = PrintedTable((), ())
        types = [self.key_type(key) for key in names]
        gives = self.type(declared.gives)
        width = max(1, len(names) - 1)
        cells: dict[tuple[int, ...], plain_data.Value] = {}
        places: dict[tuple[int, ...], Span] = {}
        above: list[Cell] = []
        if len(names) == 1 and len(table.rows) != 1 and table.header:
            remedy = f"write all values of `{names[0].text}` in the first line, and the results below them"
            self.error("E309", "a table with one key has one line of values", entry.span, remedy)
            table = PrintedTable((), ())
        columns = [self.key_value(cell, types[-1]) for cell in table.header[width:]]
        for row in table.rows:
            above = [cell if cell.text or not above else above[i] for i, cell in enumerate(row[:width])]
            left = [self.key_value(cell, type_) for cell, type_ in zip(above, types[:-1], strict=False)]
            for column, cell in zip(columns, row[width:], strict=False):
                key = (*left, column)
                if any(part is None for part in key):
                    continue
                place = cast("tuple[int, ...]", key)
                if place in cells:
                    self.error("E501", f"this cell of `{name}` is given twice", cell.span)
                cells[place] = self.cell_value(cell, gives)
                places[place] = cell.span
        axes = self._axes(names, types, cells)
        checked = Table(
            name,
            tuple(key.text for key in names),
            axes,
            tuple(types),
            gives,
            cells,
            places,
            tuple(cite.text for cite in cites),
            entry.span,
            entry.file,
        )
        return checked, table.header[0].span if table.header else None

    def key_type(self, key: Scalar) -> Type:
        kind = self.model.kinds.get(key.text)
        if kind is not None and kind.range is None and not kind.unit:
            return KindType(key.text)
        graph = self.model.graph
        return NODE if graph is not None and key.text == graph.node else INT

    def key_value(self, cell: Cell, type_: Type) -> int | None:
        if isinstance(type_, NodeType) and self.model.graph is not None:
            names = [row.name for row in self.model.graph.nodes]
            if cell.text in names:
                return names.index(cell.text)
            self.unknown("name", cell.text, names, cell.span, code="E302")
            return None
        value = self.cell_value(cell, type_)
        return value if isinstance(value, int) else None

    def _axes(
        self, names: list[Scalar], types: list[Type], cells: dict[tuple[int, ...], plain_data.Value]
    ) -> tuple[tuple[int, ...], ...]:
        """Return the values of each key: all of a kind or range, the allowed numbers of players, else those used."""
        axes = []
        for position, (key, type_) in enumerate(zip(names, types, strict=True)):
            kind = self.model.kinds.get(key.text)
            if kind is not None and kind.range is not None:
                axes.append(tuple(range(kind.range[0], kind.range[1] + 1)))
            elif isinstance(type_, KindType):
                axes.append(tuple(range(len(self.model.members(type_.name)))))
            elif key.text == "players":
                allowed = self.composition.players
                roles = [role for role in self.model.roles.values() if role.counts]
                extra = sum(role.seats + (role.setting is not None) for role in roles)
                used = {cell[position] for cell in cells}
                axes.append(tuple(sorted(used | set(range(allowed.low + extra, allowed.high + extra + 1)))))
            else:
                axes.append(tuple(sorted({cell[position] for cell in cells})))
        return tuple(axes)

    def _check_holes(self, table: Table, span: Span) -> None:
        missing = list(islice((key for key in product(*table.axes) if key not in table.cells), 5))
        if not missing:
            return
        shown = "; ".join(self._key_text(table, key) for key in missing[:4]) + ("; …" if len(missing) > 4 else "")
        players = self.composition.players
        many = Note(f"this ruleset is for {players.low} to {players.high} players")
        notes = (many,) if "players" in table.keys else ()
        remedy = None
        if notes and not any(document.players for document in self.composition.documents):
            remedy = "no file has `players: 2..6`, the number of players: is an edition missing"
        for kind in filter(None, map(self.model.kinds.get, table.keys)):
            layers = [entry for section in ("kinds", "tokens") for entry in self.composition.layers(section, kind.name)]
            if kind.span.file != span.file and layers and layers[-1].covers is not None:
                notes = (*notes, Note(f"`{kind.name}` is changed here", kind.span))
                remedy = f"add the cells in the file that adds the members: `{{amends: {table.file}, cells: {{…}}}}`"
        self.error("E308", f"`{table.name}` has no cell for {shown}", span, remedy, *notes)

    def _key_text(self, table: Table, key: tuple[int, ...]) -> str:
        texts = []
        for name, type_, value in zip(table.keys, table.key_types, key, strict=True):
            part = self._key_part(type_, value)
            texts.append(f"{name} {value}" if part == str(value) else part)
        return ", ".join(texts)

    def _key_part(self, type_: Type, value: int) -> str:
        members = self.model.members(type_.name) if isinstance(type_, KindType) else ()
        return members[value] if members else str(value)

    def _with_cells(self, table: Table, layer: Entry) -> Table:
        """Return a table with the cells of a later file applied."""
        changes = TableKeys.of_layers([layer])
        cells, places = dict(table.cells), dict(table.places)
        for name, value in changes.cells:
            texts = [part.strip() for part in name.text.split(",")]
            key = tuple(
                self.key_value(Cell(text, name.span), type_)
                for text, type_ in zip(texts, table.key_types, strict=False)
            )
            known = all(part in axis for part, axis in zip(key, table.axes, strict=False))
            if len(texts) != len(table.keys) or not known:
                known_keys = [", ".join(map(self._key_part, table.key_types, cell)) for cell in table.cells]
                note = Note(f"it has {listed([f'[{text}]' for text in known_keys])}")
                message = f"`{table.name}` has no cell [{name.text}]"
                self.error("E502", message, name.span, None, note)
                continue
            place = cast("tuple[int, ...]", key)
            if value is not None:
                cells[place] = self.cell_value(Cell(value.text, value.span), table.gives)
                places[place] = value.span
        cites = (*table.cites, *(cite.text for cite in changes.cites)) if changes.cells else table.cites
        return replace(table, cells=cells, places=places, cites=cites)
