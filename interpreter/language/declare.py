"""Declarations: what a game is made of, from the layers of a composition.

What comes in are the entries of all files; what goes out is a :class:`Model` with kinds, cards, graph, groups of cells,
settings, events and tables, and the texts (starts, ranks, laws) that the checker reads once it knows the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any, Literal, cast

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import NOWHERE, Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import nodes as n
from interpreter.language.model import (
    CardKind,
    CardRow,
    Component,
    Event,
    GraphDecl,
    Group,
    Interpretation,
    Kind,
    LinkRow,
    Model,
    NodeRow,
    PlaceRow,
    Role,
    Setting,
    Table,
)
from interpreter.language.signatures import FUNCTIONS
from interpreter.language.steps import MAKERS, resolve_type
from interpreter.language.texts import Report, printed, type_of
from interpreter.language.types import INT, NEVER, NODE, Type
from interpreter.reading.compose import Composition, Entry, amended, player_range, word, words
from interpreter.reading.printed import Cell, PrintedTable
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value

__all__ = ["Declared", "declare"]

MAXIMUM_CARDS = 5_000
MAXIMUM_RANGE = 1_000
MAXIMUM_NODES = 1_000
MAXIMUM_PLACES = 10_000
MAXIMUM_SEATS = 20
MAXIMUM_TOKENS = 64
MAXIMUM_DEPTH = 8
MAXIMUM_FIELDS = 200
MOST_LISTED = 12
OWN_TYPES = ("int", "bool", "text", "seat", "card", "piece", "role", "place", "link", "pile", *MAKERS)
OWN_VALUES = ("players", "seats", "round")
OWN_CELLS = ("phase", "turn", "pending", "settling", "kept", "over", "location", "chance")
LITERALS = ("yes", "no", "none", "not", "and", "or")
REMARKS = ("cites", "about", "provenance")
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass
class Declared:
    """The model, and the texts that wait for the rules to be known."""

    model: Model
    starts: dict[str, Value] = field(default_factory=dict)
    ranks: dict[str, Scalar] = field(default_factory=dict)
    tops: dict[str, Scalar] = field(default_factory=dict)
    laws: list[tuple[str, Scalar]] = field(default_factory=list)


def declare(composition: Composition, report: Report) -> Declared:
    """All declarations of a composition."""
    reader = _Reader(composition, report)
    reader.names()
    reader.kinds()
    reader.cards()
    reader.records()
    reader.graph()
    reader.roles()
    reader.groups()
    reader.inputs()
    reader.events()
    reader.tables()
    reader.components()
    reader.card_rows()
    return reader.declared


def _merged(layers: list[Entry]) -> dict[str, Value]:
    """The keys of a declaration, later ones over earlier ones; `amends` itself is left out."""
    keys: dict[str, Value] = {}
    for layer in layers:
        if isinstance(layer.value, Mapping):
            for entry in layer.value.entries:
                if entry.key.text != "amends":
                    keys[entry.key.text] = entry.value
    return keys


def _seen(keys: dict[str, Value]) -> Literal["everyone", "owner", "no one"]:
    return cast(Literal["everyone", "owner", "no one"], word(keys.get("seen"), "everyone"))


def _listed(names: list[str] | tuple[str, ...]) -> str:
    """Names for an author to choose from, not more than one wants to read."""
    shown = ", ".join(f"`{name}`" for name in names[:MOST_LISTED])
    return f"{shown}, …" if len(names) > MOST_LISTED else shown


def _cites(value: Value | None) -> tuple[str, ...]:
    return tuple(scalar.text for scalar in words(value))


class _Reader:
    def __init__(self, composition: Composition, report: Report) -> None:
        self.composition = composition
        self.report = report
        self.model = Model(composition.id, composition.title, composition.family)
        self.declared = Declared(self.model)

    def error(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.report(Diagnostic(code, message, span, help=help))

    def section(self, name: str) -> Iterator[tuple[str, list[Entry]]]:
        yield from self.composition.sections.get(name, {}).items()

    def type(self, value: Value | None) -> Type:
        tree = type_of(value, self.report)
        return resolve_type(self.model, tree, self.report) if tree is not None else NEVER

    def types(self, value: Value | None) -> dict[str, Type]:
        if not isinstance(value, Mapping):
            return {}
        return {entry.key.text: self.type(entry.value) for entry in value.entries if entry.key.text not in REMARKS}

    # --- names

    def names(self) -> None:
        """No name means two things, or one that the language has given a meaning."""
        types = ("kinds", "tokens", "cards", "records", "pieces")
        self._distinct(types, "type", OWN_TYPES)
        values = ("zones", "pools", "tracks", "state", "settings", "interpretations", "tables")
        self._distinct(values, "value", OWN_VALUES)
        self._distinct(("records", "rules"), "call", (*FUNCTIONS, "base"))
        for section in ("zones", "pools", "tracks", "state", "has"):
            for name, layers in self.section(section):
                if name in OWN_CELLS:
                    self._taken(name, layers[0].span)

    def _distinct(self, sections: tuple[str, ...], use: str, own: tuple[str, ...]) -> None:
        first: dict[str, Entry] = {}
        for section in sections:
            for name, layers in self.section(section):
                if name in own or name in LITERALS:
                    self._taken(name, layers[0].span)
                elif name in first:
                    note = Note("it stands here first", first[name].span)
                    message = f"`{name}` is the name of another {use} already"
                    self.report(Diagnostic("E501", message, layers[0].span, (note,)))
                else:
                    first[name] = layers[0]

    def _taken(self, name: str, span: Span) -> None:
        self.error("E312", f"`{name}` has a meaning of its own in the language", span, "take another name")

    # --- kinds, cards, records

    def kinds(self) -> None:
        for name, layers in self.section("kinds"):
            entry = amended(layers)
            value = entry.get("is") or entry.value
            numbers = player_range(value) if isinstance(value, Scalar) else None
            if numbers is not None:
                if not 0 <= numbers.high - numbers.low < MAXIMUM_RANGE:
                    message = f"got {word(value)}, want a range from low to high of at most {MAXIMUM_RANGE:,} numbers"
                    self.error("E313", message, value.span)
                    numbers = replace(numbers, high=numbers.low)
                self.model.kinds[name] = Kind(name, (), entry.span, range=(numbers.low, numbers.high))
            elif word(value) == "open":
                remedy = f"list them in the file that knows them, mostly a map: `kinds: {{{name}: […]}}`"
                self.error("E509", f"`{name}` is open: no file of this ruleset lists its members", entry.span, remedy)
                self.model.kinds[name] = Kind(name, (), entry.span)
            else:
                listed = words(value)
                if len(listed) > MAXIMUM_RANGE:
                    self.error("E313", f"got {len(listed):,} names, want at most {MAXIMUM_RANGE:,}", listed[0].span)
                    listed = listed[:1]
                members = tuple(scalar.text for scalar in listed)
                self._unique(listed)
                self.model.kinds[name] = Kind(name, members, entry.span)
        for name, layers in self.section("tokens"):
            self._token(name, layers)
        for name, layers in self.section("interpretations"):
            self._interpretation(name, layers)
        self.model.pieces = tuple(name for name, _ in self.section("pieces"))

    def _unique(self, scalars: list[Scalar]) -> None:
        seen: dict[str, Scalar] = {}
        for scalar in scalars:
            if scalar.text in seen:
                self.error("E501", f"`{scalar.text}` stands here twice", scalar.span)
            if scalar.text in LITERALS:
                self._taken(scalar.text, scalar.span)
            seen[scalar.text] = scalar

    def _token(self, name: str, layers: list[Entry]) -> None:
        entry, first = amended(layers), layers[0].value
        if isinstance(entry.value, Mapping) and isinstance(first, Scalar):
            self._amended_unit(name, entry, entry.value, first)
        elif isinstance(entry.value, Mapping):
            counts = {
                e.key.text: e.value.value
                for e in entry.value.entries
                if isinstance(e.value, Scalar) and isinstance(e.value.value, int)
            }
            if len(counts) > MAXIMUM_TOKENS:
                self.error("E313", f"got {len(counts):,} kinds of token, want at most {MAXIMUM_TOKENS}", entry.span)
                counts = dict(list(counts.items())[:1])
            self.model.kinds[name] = Kind(name, tuple(counts), entry.span, totals=tuple(counts.values()))
        elif isinstance(entry.value, Scalar) and isinstance(entry.value.value, int):
            self.model.kinds[name] = Kind(name, (name,), entry.span, totals=(entry.value.value,), unit=True)

    def _amended_unit(self, name: str, entry: Entry, keys: Mapping, first: Scalar) -> None:
        """A token without kinds is the only kind of its own name, and is changed by it."""
        counts = [each for each in keys.entries if each.key.text not in REMARKS]
        for other in (each.key for each in counts if each.key.text != name):
            self.error("E302", f"`{other.text}` is no {name}", other.span, f"say how many there are: `{name}: …`")
        number = keys.get(name) or first
        total = number.value if isinstance(number, Scalar) and isinstance(number.value, int) else 0
        self.model.kinds[name] = Kind(name, (name,), entry.span, totals=(total,), unit=True)

    def _interpretation(self, name: str, layers: list[Entry]) -> None:
        keys = _merged(layers)
        readings_value = keys.get("is")
        readings = (
            {e.key.text: word(e.value) for e in readings_value.entries} if isinstance(readings_value, Mapping) else {}
        )
        default = word(keys.get("default"))
        if default not in readings:
            span = value.span if isinstance(value := keys.get("default"), Scalar) else layers[-1].span
            self.error("E302", f"`{default}` is none of the readings{did_you_mean(default, readings)}", span)
        self.model.interpretations[name] = Interpretation(
            name, _cites(keys.get("answers")), readings, default, layers[-1].span
        )
        self.model.kinds[name] = Kind(name, tuple(readings), layers[-1].span)

    def cards(self) -> None:
        for name, layers in self.section("cards"):
            keys = _merged(layers)
            carried = keys.get("carries")
            carries = {e.key.text: word(e.value) for e in carried.entries} if isinstance(carried, Mapping) else {}
            self.model.card_kinds[name] = CardKind(name, {}, word(keys.get("key")) or None, carries, layers[0].span)
        for name, layers in self.section("cards"):
            keys = _merged(layers)
            kind = self.model.card_kinds[name]
            kind.attributes.update(self.types(keys.get("has")))
            if kind.key is not None and kind.key not in kind.attributes:
                span = value.span if isinstance(value := keys.get("key"), Scalar) else kind.span
                self.error("E304", f"a {name} has no `{kind.key}`{did_you_mean(kind.key, kind.attributes)}", span)

    def records(self) -> None:
        for name, _ in self.section("records"):
            self.model.records[name] = {}
        for name, layers in self.section("records"):
            self.model.records[name].update(self.types(amended(layers).value))
        for name, layers in self.section("records"):
            depth, fields = self._extent(Type("record", name), {})
            if depth > MAXIMUM_DEPTH or fields > MAXIMUM_FIELDS:
                most = f"at most {MAXIMUM_DEPTH} levels and {MAXIMUM_FIELDS} values"
                message = f"`{name}` holds itself, or too much: want {most}"
                self.error("E313", message, layers[-1].span)
                self.model.records[name].clear()

    def _extent(self, type_: Type, known: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """How deep the values of a type are nested, and how many values each holds, lists counted once."""
        if type_.of is not None:
            depth, fields = self._extent(type_.of, known)
            return depth + 1, fields
        if type_.form != "record" or type_.name not in self.model.records:
            return 1, 1
        if type_.name not in known:
            known[type_.name] = (MAXIMUM_DEPTH + 1, 1)  # where it holds itself
            parts = [self._extent(field, known) for field in self.model.records[type_.name].values()]
            known[type_.name] = (1 + max((d for d, _ in parts), default=0), sum(f for _, f in parts))
        return known[type_.name]

    def card_rows(self) -> None:
        if self.model.card_kinds and not any(True for _ in self._card_rows()):
            kinds = ", ".join(f"`{name}`" for name in self.model.card_kinds)
            self.error("E306", f"no file of this ruleset gives the cards ({kinds}): is a deck missing", self._top())
        for name, layers in self._card_rows():
            kind = self.model.card_kinds.get(name)
            if kind is None:
                message = f"the family declares no cards called `{name}`{did_you_mean(name, self.model.card_kinds)}"
                self.error("E301", message, layers[-1].span)
                continue
            entry = layers[-1]
            value = entry.get("is") if isinstance(entry.value, Mapping) else entry.value
            if isinstance(value, Scalar) and isinstance(value.value, int):
                if value.value > MAXIMUM_CARDS:
                    self.error("E313", f"got {value.text} cards, want at most {MAXIMUM_CARDS:,}", value.span)
                    continue
                self.model.cards.extend(CardRow(name, None, {}, entry.span) for _ in range(value.value))
                if len(self.model.cards) > MAXIMUM_CARDS:
                    self.error("E313", f"more than {MAXIMUM_CARDS:,} cards in this game", entry.span)
                    return
                if kind.attributes:
                    missing = ", ".join(f"`{attribute}`" for attribute in kind.attributes)
                    self.error("E306", f"a {name} has {missing}: give the cards as a table", value.span)
                continue
            table = printed(value, self.report)
            if table is not None:
                self._card_table(kind, table)
            if len(self.model.cards) > MAXIMUM_CARDS:
                self.error("E313", f"more than {MAXIMUM_CARDS:,} cards in this game", entry.span)
                return
        for kind in self.model.card_kinds.values():
            if kind.key is None:
                self._alike(kind)

    def _alike(self, kind: CardKind) -> None:
        """Cards of a kind without a key bear its name alone: if they differ, nobody could say which is meant."""
        rows = [row for row in self.model.cards if row.kind == kind.name]
        if any(
            row.values.get(name) is None
            for row in rows
            for name, type_ in kind.attributes.items()
            if not type_.optional
        ):
            return  # what is wrong with the row is told
        other = next((row for row in rows if row.values != rows[0].values), None)
        if other is None:
            return
        keys = [name for name, type_ in kind.attributes.items() if type_.form in ("int", "text")]
        own = [name for name in keys if len({row.values.get(name) for row in rows}) == len(rows)]
        remedy = f"say `key: {own[0]}`" if own else "number them: `key: number` and `has: {number: int, …}`"
        message = f"cards that differ need a `key` to tell one {kind.name} from another"
        self.report(Diagnostic("E306", message, kind.span, (Note("one that differs", other.span),), remedy))

    def _card_rows(self) -> Iterator[tuple[str, list[Entry]]]:
        """The cards themselves: in decks, or where their kind is declared."""
        for name, layers in self.section("cards"):
            given = [layer for layer in layers if isinstance(layer.value, Scalar) or layer.get("is") is not None]
            if given:
                yield name, given
        yield from self.section("card_rows")

    def _card_table(self, kind: CardKind, table: PrintedTable) -> None:
        columns = self._columns(table, kind.attributes, f"a {kind.name}")
        seen: dict[Any, Span] = {row.key: row.span for row in self.model.cards if row.kind == kind.name}
        for row in table.rows:
            values = self._row(columns, row)
            key = values.get(kind.key) if kind.key else None
            if key is not None and key in seen:
                self.report(
                    Diagnostic(
                        "E501", f"{kind.name} {key} stands here twice", row[0].span, (Note("the first", seen[key]),)
                    )
                )
            seen.setdefault(key, row[0].span)
            self.model.cards.append(CardRow(kind.name, key, values, row[0].span))

    def _columns(
        self, table: PrintedTable, attributes: dict[str, Type], what: str, extra: tuple[str, ...] = ()
    ) -> list[tuple[str, Type] | None]:
        columns: list[tuple[str, Type] | None] = []
        for cell in table.header:
            if cell.text in attributes:
                columns.append((cell.text, attributes[cell.text]))
            elif cell.text in (*extra, "provenance"):  # a remark on each row
                columns.append((cell.text, NEVER))
            else:
                known = [*attributes, *extra]
                remedy = f"columns here: {_listed(known)}; `provenance` is a remark on each row"
                message = f"{what} has no `{cell.text}`{did_you_mean(cell.text, known)}"
                self.error("E304", message, cell.span, remedy)
                columns.append(None)
        names = {cell.text for cell in table.header}
        for attribute in attributes:
            if attribute not in names:
                self.error("E306", f"{what} has `{attribute}`, but this table has no such column", table.header[0].span)
        return columns

    def _row(self, columns: list[tuple[str, Type] | None], row: tuple[Cell, ...]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for column, cell in zip(columns, row, strict=False):
            if column is not None and column[1] != NEVER:
                values[column[0]] = self.cell_value(cell, column[1])
        return values

    def cell_value(self, cell: Cell, type_: Type) -> Any:
        """What a printed cell means for a type."""
        text = cell.text
        match type_.form:
            case "int" if _NUMBER.fullmatch(text):
                return int(text)
            case "bool" if text in ("yes", "no"):
                return text == "yes"
            case "kind":
                members = self._members(type_.name)
                if text in members:
                    return members.index(text)
                if not (type_.optional and text == "-"):
                    self._no_member(text, type_.name, members, cell.span)
                return None
            case "set" | "list" if type_.of is not None and type_.of.form == "kind":
                members = self._members(type_.of.name)
                names = [] if text == "-" else text.split()
                for name in names:
                    if name not in members:
                        self._no_member(name, type_.of.name, members, cell.span)
                found = [members.index(name) for name in names if name in members]
                return tuple(sorted(set(found))) if type_.form == "set" else tuple(found)
            case "text":
                return text
            case "never":
                return None
            case _:
                pass
        if type_.optional and text == "-":
            return None
        found_text = f"`{text}`" if text else "nothing"
        remedy = "numbers are whole, and stand without a unit" if type_.form == "int" and text[:1].isdigit() else None
        self.error("E401", f"got {found_text}, want {type_}", cell.span, remedy)
        return None

    def _no_member(self, text: str, kind: str, members: tuple[str, ...], span: Span) -> None:
        """A cell that names no member of a kind; nothing is said of a kind without members, as that is told already."""
        if not members:
            return
        found = f"`{text}` is no {kind}" if text else f"the cell is empty, want a {kind}"
        near = did_you_mean(text, members)
        remedy = None if near or len(members) > MOST_LISTED else f"it is one of {_listed(members)}"
        if "#" in text:
            remedy = "in a table, a comment stands on a line of its own"
        self.error("E302", f"{found}{near}", span, remedy)

    def _members(self, kind: str) -> tuple[str, ...]:
        found = self.model.kinds.get(kind)
        return found.members if found else ()

    # --- graph

    def _top(self) -> Span:
        """The place for what is said nowhere."""
        document = self.composition.documents[0]
        return document.root.entries[0].key.span if document.root.entries else document.root.span

    def graph(self) -> None:
        layers = self.composition.layers("graph", "graph")
        if not layers:
            for section in ("nodes", "links"):
                stray = self.composition.single(section)
                if stray is not None:
                    self.error("E301", "the family declares no graph", stray.span)
            return
        keys = _merged(layers)
        graph = GraphDecl(
            word(keys.get("node"), "node"),
            {},
            self.types(keys.get("link")),
            word(keys.get("length")) or None,
            self.types(keys.get("place")),
            {},
            layers[0].span,
            word(keys.get("dealt")) or None,
        )
        self.model.graph = graph
        graph.attributes.update(self.types(keys.get("has")))
        zone, owner, has = None, "link", graph.link
        if graph.dealt is not None:
            zones = dict(self.section("zones"))
            of = word(_merged(zones[graph.dealt]).get("of")) if graph.dealt in zones else ""
            zone, owner = self.model.card_kinds.get(of), of or graph.dealt
            has = zone.attributes if zone is not None else {}
        if (graph.length is not None or graph.dealt) and has.get(graph.length or "") != INT:
            self.error("E304", f"a {owner} has no number `{graph.length}`", layers[-1].span)
        for sets in [layer.get("places") for layer in layers]:  # a later file has sets of its own beside these
            for entry in sets.entries if isinstance(sets, Mapping) else ():
                table = printed(entry.value, self.report)
                if table is not None:
                    columns = self._columns(table, graph.place, "a place")
                    graph.sets[entry.key.text] = [self._row(columns, row) for row in table.rows]
        self._nodes(graph)
        linked = self._links(graph)
        if self.composition.single("nodes") is None:
            self.error(
                "E306", f"no file of this ruleset gives each {graph.node} as `nodes`: is a map missing", self._top()
            )
        if linked:
            self._check_connected(graph)

    def _nodes(self, graph: GraphDecl) -> None:
        entry = self.composition.single("nodes")
        table = printed(entry.value, self.report) if entry else None
        if table is None:
            return
        extra = ("name", "x", "y", "places")
        columns = self._columns(table, graph.attributes, f"a {graph.node}", extra)
        heads = [cell.text for cell in table.header]
        if "name" not in heads:
            self.error(
                "E306", f"a {graph.node} needs a `name`, but this table has no such column", table.header[0].span
            )
            return
        if len(table.rows) > MAXIMUM_NODES:
            self.error("E313", f"got {len(table.rows):,} nodes, want at most {MAXIMUM_NODES:,}", table.rows[0][0].span)
            return
        seen: dict[str, Span] = {}
        for row in table.rows:
            cells = dict(zip(heads, row, strict=False))
            name = cells["name"]
            if name.text in seen:
                self.report(
                    Diagnostic(
                        "E501", f"`{name.text}` stands here twice", name.span, (Note("the first", seen[name.text]),)
                    )
                )
                continue
            seen[name.text] = name.span
            places = cells["places"].text if "places" in cells else next(iter(graph.sets), "")
            if places not in graph.sets and (graph.sets or "places" in cells):
                self.error(
                    "E302", f"`{places}` is no set of places{did_you_mean(places, graph.sets)}", cells["places"].span
                )
            at = None
            if "x" in cells and "y" in cells:
                at = (self.cell_value(cells["x"], INT) or 0, self.cell_value(cells["y"], INT) or 0)
            index = len(graph.nodes)
            graph.nodes.append(NodeRow(name.text, self._row(columns, row), places, at, name.span))
            for number, values in enumerate(graph.sets.get(places, []), 1):
                graph.places.append(PlaceRow(index, number, values))
            if len(graph.places) > MAXIMUM_PLACES:
                self.error("E313", f"more than {MAXIMUM_PLACES:,} places on this graph", name.span)
                return

    def _links(self, graph: GraphDecl) -> bool:
        """Whether the links could be read, so that something can be said about ways."""
        entry = self.composition.single("links")
        table = printed(entry.value, self.report) if entry else None
        if table is None:
            return entry is None
        columns = self._columns(table, graph.link, "a link", ("from", "to"))
        heads = [cell.text for cell in table.header]
        if "from" not in heads or "to" not in heads:
            self.error("E306", "a link needs the columns `from` and `to`", table.header[0].span)
            return False
        numbers = {row.name: index for index, row in enumerate(graph.nodes)}
        seen: dict[tuple[int, int], Span] = {}
        whole = bool(graph.nodes)
        for row in table.rows:
            cells = dict(zip(heads, row, strict=False))
            ends = []
            for head in ("from", "to") if graph.nodes else ():  # without nodes, what is wrong is told already
                cell = cells[head]
                if cell.text not in numbers:
                    self.error(
                        "E302", f"no {graph.node} is called `{cell.text}`{did_you_mean(cell.text, numbers)}", cell.span
                    )
                else:
                    ends.append(numbers[cell.text])
            values = self._row(columns, row)
            if graph.length is not None and graph.dealt is None and (values.get(graph.length) or 0) < 0:
                self.error("E413", f"a link's `{graph.length}` is below 0", row[0].span)
            if len(ends) != 2:
                whole = False
                continue
            pair = (min(ends), max(ends))
            if pair[0] == pair[1]:
                self.error("E413", "this link joins a node to itself", row[0].span)
            elif pair in seen:
                self.report(
                    Diagnostic("E501", "this link stands here twice", row[0].span, (Note("the first", seen[pair]),))
                )
            else:
                seen[pair] = row[0].span
                graph.links.append(LinkRow(ends[0], ends[1], values, row[0].span))
        return whole

    def _check_connected(self, graph: GraphDecl) -> None:
        if not graph.nodes:
            return
        beside: dict[int, list[int]] = {index: [] for index in range(len(graph.nodes))}
        for link in graph.links:
            beside[link.a].append(link.b)
            beside[link.b].append(link.a)
        reached, front = {0}, [0]
        while front:
            for other in beside[front.pop()]:
                if other not in reached:
                    reached.add(other)
                    front.append(other)
        lost = [row for index, row in enumerate(graph.nodes) if index not in reached]
        if lost:
            names = ", ".join(f"`{row.name}`" for row in lost[:5]) + (", …" if len(lost) > 5 else "")
            self.error("E412", f"no way leads from `{graph.nodes[0].name}` to {names}", lost[0].span)

    # --- seats, state

    def roles(self) -> None:
        if not self.composition.sections.get("roles"):
            self.error("E306", "no file of this ruleset says which `roles` the seats have", self._top())
        for name, layers in self.section("roles"):
            keys = _merged(layers)
            seats = keys.get("seats")
            number = seats.value if isinstance(seats, Scalar) and isinstance(seats.value, int) else 0
            if number > MAXIMUM_SEATS and seats is not None:
                self.error("E313", f"got {number} seats, want at most {MAXIMUM_SEATS}", seats.span)
                number = 1
            counts, is_open = word(keys.get("counts"), "yes") == "yes", word(keys.get("open")) == "yes"
            setting = seats.text if isinstance(seats, Scalar) and not isinstance(seats.value, int) else None
            if setting is not None and setting not in (known := self.composition.sections.get("settings", {})):
                self.error("E301", f"`{setting}` is no setting{did_you_mean(setting, known)}", seats.span)  # type: ignore
            role = Role(name, counts, layers[-1].span, number, setting, is_open, layers[0].file)
            self.model.roles[name] = role

    def groups(self) -> None:
        always = Group("round", "", INT, NOWHERE, "", starts="value")
        self.model.groups["round"] = always
        for name, layers in self.section("zones"):
            self._zone(name, layers, "", _merged(layers))
        for section, form in (("pools", "pool"), ("tracks", "track")):
            for name, layers in self.section(section):
                self._pool(name, layers, "", _merged(layers), form)
        for name, layers in self.section("has"):
            self._seat_group(name, layers)
        for name, layers in self.section("state"):
            keys = _merged(layers)
            self._value(name, layers, "", keys)
        for kind in self.model.card_kinds.values():
            for pool, token in kind.carries.items():
                name = f"{kind.name}.{pool}"
                self.model.groups[name] = Group(name, "card", Type("pool", token), kind.span, "")
        if self.model.graph is not None:
            self.model.groups["piece"] = Group(
                "piece", "place", Type("piece", optional=True), self.model.graph.span, "", starts="value"
            )

    def _seat_group(self, name: str, layers: list[Entry]) -> None:
        keys = _merged(layers)
        if "zone" in keys:
            self._zone(name, layers, "seat", {**keys, "of": keys["zone"]})
        elif "pool" in keys:
            self._pool(name, layers, "seat", {**keys, "of": keys["pool"]}, "pool")
        elif "stock" in keys:
            piece = word(keys["stock"])
            if piece not in self.model.pieces:
                self.error(
                    "E301", f"unknown piece `{piece}`{did_you_mean(piece, self.model.pieces)}", keys["stock"].span
                )
            self._add(Group(name, "seat", Type("stock", piece), layers[0].span, layers[0].file), keys)
        else:
            self._value(name, layers, "seat", keys)

    def _zone(self, name: str, layers: list[Entry], owner: Literal["", "seat"], keys: dict[str, Value]) -> None:
        piles = "piles of" in keys
        of_value = keys.get("piles of") if piles else keys.get("of")
        of = self.type(of_value)
        if of.form not in ("card", "never") and of_value is not None:
            self.error("E401", f"a zone holds cards, not {of}", of_value.span)
        order = word(keys.get("order"), "kept")
        group = Group(
            name,
            owner,
            Type("piles" if piles else "zone", of.name),
            layers[0].span,
            layers[0].file,
            order=order,
            seen=_seen(keys),
        )
        if order.startswith("by ") and isinstance(keys["order"], Scalar):
            self.declared.ranks[name] = keys["order"]
        shows = keys.get("top_shows")
        if isinstance(shows, Scalar):
            self.declared.tops[name] = shows
        self._add(group, keys)

    def _pool(
        self, name: str, layers: list[Entry], owner: Literal["", "seat"], keys: dict[str, Value], form: str
    ) -> None:
        token = word(keys.get("of"))
        kind = self.model.kinds.get(token)
        if kind is None or kind.totals is None:
            tokens = [k for k, each in self.model.kinds.items() if each.totals is not None]
            span = keys["of"].span if "of" in keys else layers[0].span
            self.error("E301", f"unknown token `{token}`{did_you_mean(token, tokens)}", span)
        group = Group(
            name,
            owner,
            Type(form, token),
            layers[0].span,
            layers[0].file,
            unlimited=word(keys.get("unlimited")) == "yes",
            seen=_seen(keys),
            spaces=word(keys.get("spaces")) or None,
        )
        self._add(group, keys)

    def _value(self, name: str, layers: list[Entry], owner: Literal["", "seat"], keys: dict[str, Value]) -> None:
        lasts = cast(Literal["game", "turn", "phase", "round"], word(keys.get("lasts"), "game"))
        type_ = self.type(keys.get("value"))
        if "start" not in keys and not type_.optional and type_ != NEVER:
            self.error("E307", f"`{name}` needs a `start`: only a `{type_}?` may begin as none", layers[0].span)
        self._add(Group(name, owner, type_, layers[0].span, layers[0].file, lasts=lasts, starts="value"), keys)

    def _add(self, group: Group, keys: dict[str, Value]) -> None:
        if group.name in self.model.groups and self.model.groups[group.name].file:
            first = self.model.groups[group.name]
            notes = (Note("the first declaration", first.span),) if first.file else ()
            self.report(Diagnostic("E501", f"`{group.name}` is declared already", group.span, notes))
        start = keys.get("start")
        if isinstance(start, Scalar) and start.text in ("all", "rest"):
            group = replace(group, starts=cast(Literal["all", "rest"], start.text))
        elif start is not None:
            group = replace(group, starts="value")
            self.declared.starts[group.name] = start
        self.model.groups[group.name] = group

    # --- settings, events

    def inputs(self) -> None:
        for name, layers in self.section("settings"):
            keys = _merged(layers)
            type_ = self.type(keys.get("value"))
            default = keys.get("default")
            if default is None and not type_.optional:
                self.error("E307", f"`{name}` needs a `default`: only a `{type_}?` may be left out", layers[0].span)
            value = self.setting_value(default, type_) if default is not None else None
            check = word(keys.get("check")) or None
            numbers = self._range(keys.get("value"))
            if numbers is not None and isinstance(value, int) and not numbers[0] <= value <= numbers[1]:
                self.error("E302", f"got {value}, want {numbers[0]} to {numbers[1]}", layers[-1].span)
            self.model.settings[name] = Setting(
                name, type_, check, value, word(keys.get("about")), layers[-1].span, numbers
            )

    def _range(self, value: Value | None) -> tuple[int, int] | None:
        """The first and last number of a type that is a range."""
        tree = type_of(value, self.report)
        tree = tree.of if isinstance(tree, n.OptionalType) else tree
        if isinstance(tree, n.RangeType):
            return tree.first, tree.last
        kind = self.model.kinds.get(tree.name) if isinstance(tree, n.NamedType) else None
        return kind.range if kind is not None else None

    def setting_value(self, value: Value, type_: Type) -> Any:
        if isinstance(value, Scalar):
            return self.cell_value(Cell(value.text, value.span), type_)
        if isinstance(value, Sequence) and type_.of is not None:
            return tuple(self.setting_value(item, type_.of) for item in value.items)
        return None

    def events(self) -> None:
        for name, layers in self.section("events"):
            keys = _merged(layers)
            fields = self.types(keys.get("with"))
            self.model.events[name] = Event(name, fields, layers[0].span, layers[0].file)

    # --- tables

    def tables(self) -> None:
        for name, layers in self.section("tables"):
            whole = [layer for layer in layers if layer.get("is") is not None]
            if not whole:
                self.error("E306", f"table `{name}` has no cells: give them as `is`", layers[0].span)
                continue
            entry = whole[-1]
            keys = _merged(layers[: layers.index(entry) + 1])
            table = self._table(name, entry, keys)
            if table is None:
                continue
            for layer in layers[layers.index(entry) + 1 :]:
                table = self._with_cells(table, layer)
            self.model.tables[name] = replace(table, files=tuple(layer.file for layer in layers))
            for law in words(keys.get("laws")):
                self.declared.laws.append((name, law))

    def _table(self, name: str, entry: Entry, keys: dict[str, Value]) -> Table | None:
        table = printed(entry.get("is"), self.report)
        names = words(keys.get("keys"))
        if not names:
            return None
        if table is None:  # what is wrong is told; the table is known by its name and types
            table = PrintedTable((), ())
        types = [self.key_type(key) for key in names]
        gives = self.type(keys.get("gives"))
        width = max(1, len(names) - 1)
        cells: dict[tuple[int, ...], Any] = {}
        places: dict[tuple[int, ...], Span] = {}
        above: list[Cell] = []
        if len(names) == 1 and len(table.rows) != 1 and table.header:
            remedy = f"write all values of `{names[0].text}` in the first line, and below each what the table gives"
            self.error("E309", "a table with one key has one line of values", entry.span, remedy)
            table = PrintedTable((), ())
        columns = [self.key_value(cell, types[-1]) for cell in table.header[width:]]
        for row in table.rows:
            above = [
                cell if cell.text else (above[i] if i < len(above) else cell) for i, cell in enumerate(row[:width])
            ]
            left = (
                [self.key_value(cell, type_) for cell, type_ in zip(above, types[:-1], strict=False)]
                if len(names) > 1
                else []
            )
            for column, cell in zip(columns, row[width:], strict=False):
                key = (*left, column)
                if any(part is None for part in key):
                    continue
                place = cast("tuple[int, ...]", key)
                if place in cells:
                    self.error("E501", f"this cell of `{name}` stands here twice", cell.span)
                cells[place] = self.cell_value(cell, gives)
                places[place] = cell.span
        axes = self._axes(names, types, cells)
        found = Table(
            name,
            tuple(key.text for key in names),
            axes,
            tuple(types),
            gives,
            cells,
            places,
            _cites(keys.get("cites")),
            entry.span,
            entry.file,
        )
        if table.header:
            self._check_holes(found, table.header[0].span)
        return found

    def key_type(self, key: Scalar) -> Type:
        kind = self.model.kinds.get(key.text)
        if kind is not None and kind.range is None and not kind.unit:
            return Type("kind", key.text)
        graph = self.model.graph
        return NODE if graph is not None and key.text == graph.node else INT

    def key_value(self, cell: Cell, type_: Type) -> int | None:
        if type_.form == "node" and self.model.graph is not None:
            names = [row.name for row in self.model.graph.nodes]
            if cell.text in names:
                return names.index(cell.text)
            self.error("E302", f"nothing is called `{cell.text}`{did_you_mean(cell.text, names)}", cell.span)
            return None
        value = self.cell_value(cell, type_)
        return value if isinstance(value, int) else None

    def _axes(
        self, names: list[Scalar], types: list[Type], cells: dict[tuple[int, ...], Any]
    ) -> tuple[tuple[int, ...], ...]:
        """The values that each key takes: all of a kind or range, the players allowed, else those that stand there."""
        axes = []
        for position, (key, type_) in enumerate(zip(names, types, strict=True)):
            kind = self.model.kinds.get(key.text)
            if kind is not None and kind.range is not None:
                axes.append(tuple(range(kind.range[0], kind.range[1] + 1)))
            elif type_.form == "kind":
                axes.append(tuple(range(len(self._members(type_.name)))))
            elif key.text == "players":
                allowed = self.composition.players
                roles = [role for role in self.model.roles.values() if role.counts]
                beside = sum(role.seats + (role.setting is not None) for role in roles)
                given = {cell[position] for cell in cells}
                axes.append(tuple(sorted(given | set(range(allowed.low + beside, allowed.high + beside + 1)))))
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
        if notes and not any(document.root.get("players") for document in self.composition.documents):
            remedy = "no file says how many may play: an edition does, with `players: 2..6`; is it missing"
        self.report(Diagnostic("E308", f"`{table.name}` has no cell for {shown}", span, notes, remedy))

    def _key_text(self, table: Table, key: tuple[int, ...]) -> str:
        texts = []
        for name, type_, value in zip(table.keys, table.key_types, key, strict=True):
            part = self._key_part(type_, value)
            texts.append(f"{name} {value}" if part == str(value) else part)
        return ", ".join(texts)

    def _key_part(self, type_: Type, value: int) -> str:
        members = self._members(type_.name) if type_.form == "kind" else ()
        return members[value] if members else str(value)

    def _with_cells(self, table: Table, layer: Entry) -> Table:
        """A table with single cells changed by a later file."""
        changes = layer.get("cells")
        if not isinstance(changes, Mapping):
            return table
        cells, places = dict(table.cells), dict(table.places)
        for entry in changes.entries:
            texts = [part.strip() for part in entry.key.text.split(",")]
            key = tuple(
                self.key_value(Cell(text, entry.key.span), type_)
                for text, type_ in zip(texts, table.key_types, strict=False)
            )
            if len(texts) != len(table.keys) or key not in cells:
                cells_here = [", ".join(map(self._key_part, table.key_types, each)) for each in table.cells]
                note = Note(f"it has {_listed([f'[{each}]' for each in cells_here])}")
                message = f"`{table.name}` has no cell [{entry.key.text}]"
                self.report(Diagnostic("E502", message, entry.key.span, (note,)))
                continue
            place = cast("tuple[int, ...]", key)
            if isinstance(entry.value, Scalar):
                cells[place] = self.cell_value(Cell(entry.value.text, entry.value.span), table.gives)
                places[place] = entry.value.span
        return replace(table, cells=cells, places=places, cites=(*table.cites, *_cites(layer.get("cites"))))

    def components(self) -> None:
        for name, layers in self.section("components"):
            keys = _merged(layers)
            count = keys.get("count")
            number = count.value if isinstance(count, Scalar) and isinstance(count.value, int) else None
            self.model.components[name] = Component(
                name, number, word(keys.get("about")), _cites(keys.get("cites")), layers[0].span, layers[0].file
            )
