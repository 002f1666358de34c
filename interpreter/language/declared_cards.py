"""Reader of cards: kinds of cards with their attributes, and the printed values of each card."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from interpreter.base import plain_data
from interpreter.base.diagnostics import Note
from interpreter.base.remedies import add
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.language.declared import Reader
from interpreter.language.model import CardKind, CardRow
from interpreter.language.texts import printed
from interpreter.language.types import IntType, TextType
from interpreter.reading.printed_tables import Cell, PrintedTable
from interpreter.reading.yaml import Scalar
from interpreter.sections import things
from interpreter.sections.declarations import Entry

__all__ = ["Cards", "column_of"]

MAXIMUM_CARDS = 5_000
COPIES = "copies"
"""Column for the number of cards of a row, unless the kind has an attribute of this name."""


def column_of(key: Scalar, layer: Entry) -> tuple[str, str]:
    """Return the attribute at the end of a cell's name, and its column: another one if the layer has conditions."""
    attribute = key.text.rpartition(",")[2].strip()
    when = " and ".join(" ".join(condition.text.split()) for condition in layer.conditions)
    return attribute, f"{attribute} if {when} ({layer.file})" if when else attribute


class Cards(Reader):
    """Reads kinds of cards, and in a later step the cards."""

    def cards(self) -> None:
        """Read the kinds of cards. Attributes may have types of other kinds, so names are read first."""
        cards = list(self.composition.read(things.Card))
        for card in cards:
            self.model.card_kinds[card.name] = CardKind(card.name, {}, word(card.key) or None, card.first.span)
        for card in cards:
            kind = self.model.card_kinds[card.name]
            kind.attributes.update(self.types_of(card.has))
            if kind.key is not None and kind.key not in kind.attributes:
                near = did_you_mean(kind.key, kind.attributes)
                self.error("E304", f"a {card.name} has no `{kind.key}`{near}", card.span("key"))

    def card_rows(self) -> None:
        """Read the cards. Call it when types, nodes and members are known."""
        if self.model.card_kinds and not any(True for _ in self._card_rows()):
            kinds = ", ".join(f"`{name}`" for name in self.model.card_kinds)
            self.error("E306", f"no file of this ruleset gives the cards ({kinds}): is a deck missing", self.top())
        for name, layers in self._card_rows():
            kind = self.model.card_kinds.get(name)
            if kind is None:
                self.unknown("kind of card", name, self.model.card_kinds, layers[-1].span)
                continue
            entry = layers[-1]
            value = entry.read(things.Card).source.get("is")
            if isinstance(value, Scalar) and isinstance(value.value, int):
                if value.value > MAXIMUM_CARDS:
                    self.error("E313", f"got {value.text} cards, want at most {MAXIMUM_CARDS:,}", value.span)
                    continue
                self.model.cards.extend(CardRow(name, None, {}, entry.span) for _ in range(value.value))
                if kind.attributes and len(self.model.cards) <= MAXIMUM_CARDS:
                    missing = ", ".join(f"`{attribute}`" for attribute in kind.attributes)
                    self.error("E306", f"a {name} has {missing}: give the cards as a table", value.span)
            elif (table := printed(value, self.report)) is not None:
                self._card_table(kind, table)
            if len(self.model.cards) > MAXIMUM_CARDS:
                self.error("E313", f"more than {MAXIMUM_CARDS:,} cards in this game", entry.span)
                return
        for kind in self.model.card_kinds.values():
            for key, cell, layer in self._cells(kind):
                self._cell(kind, key, cell, layer)
        for kind in self.model.card_kinds.values():
            if kind.key is None:
                self._check_alike(kind)
            self._check_missing(kind)

    def _amended_columns(self, kind: CardKind) -> dict[str, Span]:
        """Return the columns with cells in later files, each with the position of its first cell."""
        columns: dict[str, Span] = {}
        for key, _, layer in self._cells(kind):
            columns.setdefault(column_of(key, layer)[1], key.span)
        return columns

    def _cells(self, kind: CardKind) -> Iterator[tuple[Scalar, Scalar | None, Entry]]:
        """Yield the cells in later files, with their layers."""
        for layer in self.composition.layers("cards", kind.name):
            yield from ((key, cell, layer) for key, cell in layer.read(things.Card).cells)

    def _check_missing(self, kind: CardKind) -> None:
        """Report an attribute without a column that does not have a cell for each card."""
        for column, span in self._amended_columns(kind).items():
            rows = (row for row in self.model.cards if row.kind == kind.name and column not in row.values)
            if column in kind.attributes and (row := next(rows, None)) is not None:
                example = f'"{row.key}, {column}": …'
                message = f"{kind.name} {row.key} has no `{column}`: neither a column nor a cell gives it"
                self.error("E306", message, span, f"add `{example}`", Note("the card", row.span))

    def _cell(self, kind: CardKind, name: Scalar, cell: Scalar | None, layer: Entry) -> None:
        """Apply a cell of a later file, named by the card's key and the column. Without a condition, it covers those of
        layers below that have one."""
        key, (column, written) = name.text.rpartition(",")[0].strip(), column_of(name, layer)
        rows = [row for row in self.model.cards if row.kind == kind.name and kind.key is not None]
        known = [name for name in kind.attributes if name != kind.key]
        card = next((row for row in rows if str(row.key) == key), None)
        if card is None or column not in known:
            near = did_you_mean(column, known) if card is not None else did_you_mean(key, [str(r.key) for r in rows])
            example = f"`{rows[0].key}, {known[0]}`" if rows and known else "this kind has none"
            note = Note(f"a cell is named by the card's key and the column: {example}")
            message = f"no {kind.name} has the cell [{name.text}]{near}"
            self.error("E502", message, name.span, None, note)
        elif cell is not None:
            value = self.cell_value(Cell(cell.text, cell.span), kind.attributes[column])
            for at, row in enumerate(self.model.cards):
                if row.kind == kind.name and row.key == card.key:
                    covered = f"{column} if " if written == column else "("
                    left = {key: value for key, value in row.values.items() if not key.startswith(covered)}
                    self.model.cards[at] = replace(row, values={**left, written: value})

    def _check_alike(self, kind: CardKind) -> None:
        """Report different cards of a kind without a key: nothing could identify them."""
        rows = [row for row in self.model.cards if row.kind == kind.name]
        if any(
            row.values.get(name) is None
            for row in rows
            for name, type_ in kind.attributes.items()
            if not type_.optional
        ):
            return  # the row has an error of its own already
        different = next((row for row in rows if row.values != rows[0].values), None)
        if different is None:
            return
        keys = [name for name, type_ in kind.attributes.items() if isinstance(type_, IntType | TextType)]
        own = [name for name in keys if len({row.values.get(name) for row in rows}) == len(rows)]
        remedy = add(kind.span, f"key: {own[0]}") if own else "number them: `key: number` and `has: {number: int, …}`"
        message = f"different cards need a `key` that identifies each {kind.name}"
        self.error("E306", message, kind.span, remedy, Note("a different card", different.span))

    def _card_rows(self) -> Iterator[tuple[str, list[Entry]]]:
        """Yield the entries that list cards: in decks, or in the declaration of their kind."""
        for name, layers in self.section("cards"):
            lists = [layer for layer in layers if any(each.key.text == "is" for each in layer.entries)]
            if lists:
                yield name, lists
        yield from self.section("card_rows")

    def _card_table(self, kind: CardKind, table: PrintedTable) -> None:
        names = [cell.text for cell in table.header]
        amended = self._amended_columns(kind)
        expected = {name: type_ for name, type_ in kind.attributes.items() if name in names or name not in amended}
        columns = self.columns(table, expected, f"a {kind.name}", unlisted=(COPIES,))
        at = names.index(COPIES) if COPIES in names and COPIES not in kind.attributes else None
        seen: dict[plain_data.Value, Span] = {row.key: row.span for row in self.model.cards if row.kind == kind.name}
        for row in table.rows:
            values = self.row(columns, row)
            key = values.get(kind.key) if kind.key else None
            if key is not None and key in seen:
                remedy = "another version of a card is `cells` in a part with a `when`"
                self.repeated(f"{kind.name} {key}", row[0].span, seen[key], remedy)
            seen.setdefault(key, row[0].span)
            copies = self._copies(row[at]) if at is not None and at < len(row) else 1
            self.model.cards.extend([CardRow(kind.name, key, values, row[0].span, copies)] * copies)

    def _copies(self, cell: Cell) -> int:
        """Return the number of cards of a row."""
        number = int(cell.text) if cell.text.isdecimal() and len(cell.text) <= 12 else 0
        if number < 1:
            self.error("E401", f"got `{cell.text}`, want a number of copies, at least 1", cell.span)
        elif number > MAXIMUM_CARDS:
            self.error("E313", f"got {cell.text} cards, want at most {MAXIMUM_CARDS:,}", cell.span)
        return number if 1 <= number <= MAXIMUM_CARDS else 1
