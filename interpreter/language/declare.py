"""Declarations: reads the components of a game from the layers of a composition.

The input is the entries of all files. The output is a :class:`Model` with kinds, cards, graph, groups of cells,
settings, events and tables, and the texts (starts, ranks, laws) that the checker reads after the headers of rules.
"""

from __future__ import annotations

from typing import Literal, cast

from msgspec.structs import replace

from interpreter.base import plain_data
from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import NOWHERE
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word, words
from interpreter.language import nodes
from interpreter.language.builtins import FUNCTIONS
from interpreter.language.check_steps import MAKERS
from interpreter.language.declared import REMARKS, Declared, Reader, cites_of, merged
from interpreter.language.declared_cards import Cards
from interpreter.language.declared_graph import Graphs
from interpreter.language.declared_tables import Tables
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.model import Component, Event, Group, Interpretation, Kind, Model, Role, Setting
from interpreter.language.texts import Report, type_of
from interpreter.language.types import (
    INT,
    NEVER,
    CardHolderType,
    CardType,
    CollectionType,
    ListType,
    MadeType,
    NeverType,
    PieceType,
    PilesType,
    PoolType,
    RecordType,
    SetType,
    StockType,
    TokenHolderType,
    TrackType,
    Type,
    ZoneType,
)
from interpreter.reading.compose import Composition, phases_of, player_range
from interpreter.reading.printed_tables import Cell
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value
from interpreter.sections.declarations import Entry, amended

__all__ = ["OWN_CALLS", "OWN_CELLS", "OWN_TYPES", "OWN_VALUES", "declare"]

MAXIMUM_RANGE = 1_000
MAXIMUM_SEATS = 20
MAXIMUM_TOKENS = 64
MAXIMUM_DEPTH = 8
MAXIMUM_FIELDS = 200
OWN_TYPES = ("int", "bool", "text", "seat", "card", "piece", "role", "phase", "place", "link", "pile", *MAKERS)
OWN_VALUES = ("players", "seats", "round", "phase")
OWN_CELLS = ("phase", "turn", "pending", "settling", "kept", "over", "location", "chance")
OWN_CALLS = (*FUNCTIONS, "base")
"""Reserved names, by namespace."""


def declare(composition: Composition, report: Report) -> Declared:
    """Read all declarations of a composition."""
    declared = Declared(Model(composition.id, composition.title, composition.family))
    declared.model.own_rules.update(composition.own_rules)
    context = composition, report, declared
    things, cards, graphs, tables = _Things(*context), Cards(*context), Graphs(*context), Tables(*context)
    things.names()
    if (round_ := composition.single("round")) is not None:
        things.model.phases = tuple(name.text for name, _ in phases_of(round_.value))
    things.kinds()
    graphs.name()
    cards.cards()
    things.records()
    graphs.graph()
    things.roles()
    things.groups()
    things.inputs()
    things.events()
    tables.tables()
    things.components()
    cards.card_rows()
    return declared


def _seen(keys: dict[str, Value]) -> Literal["everyone", "owner", "no one"]:
    return cast(Literal["everyone", "owner", "no one"], word(keys.get("seen"), "everyone"))


class _Things(Reader):
    """Reads all other declarations: kinds, records, roles, cells of seats and of the game, settings, events."""

    def names(self) -> None:
        """Report names that are declared twice or reserved."""
        types = ("kinds", "tokens", "cards", "records", "pieces")
        self._distinct(types, "type", OWN_TYPES)
        values = ("zones", "pools", "tracks", "state", "settings", "interpretations", "tables")
        self._distinct(values, "value", OWN_VALUES)
        self._distinct(("records", "rules"), "call", OWN_CALLS)
        for section in ("zones", "pools", "tracks", "state", "has"):
            for name, layers in self.section(section):
                if name in OWN_CELLS:
                    self.taken(name, layers[0].span)

    def _distinct(self, sections: tuple[str, ...], use: str, own: tuple[str, ...]) -> None:
        first: dict[str, Entry] = {}
        for section in sections:
            for name, layers in self.section(section):
                if name in own or name in RESERVED_WORDS:
                    self.taken(name, layers[0].span)
                elif name in first:
                    note = Note("first given here", first[name].span)
                    message = f"`{name}` is already the name of another {use}"
                    self.report(Diagnostic("E501", message, layers[0].span, (note,)))
                else:
                    first[name] = layers[0]

    def kinds(self) -> None:
        for name, layers in self.section("kinds"):
            entry = amended(layers)
            value = entry.get("is") or entry.value
            if isinstance(added := entry.get("adds"), Sequence):
                self.error("E502", f"`{name}` has no list of members to add to", added.span)
            numbers = player_range(value) if isinstance(value, Scalar) else None
            if numbers is not None:
                if not 0 <= numbers.high - numbers.low < MAXIMUM_RANGE:
                    message = f"got {word(value)}, want a range from low to high of at most {MAXIMUM_RANGE:,} numbers"
                    self.error("E313", message, value.span)
                    numbers = replace(numbers, high=numbers.low)
                self.model.kinds[name] = Kind(name, (), entry.span, range=(numbers.low, numbers.high))
            elif word(value) == "open":
                remedy = f"list them in the file that defines them, usually a map: `kinds: {{{name}: […]}}`"
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
                self.error("E501", f"`{scalar.text}` is given twice", scalar.span)
            if scalar.text in RESERVED_WORDS:
                self.taken(scalar.text, scalar.span)
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
        """Amend a token without kinds: its only kind has its own name."""
        for key in (entry.key for entry in keys.entries if entry.key.text not in (*REMARKS, "is", name)):
            remedy = f"write the number of tokens: `{name}: …`"
            self.error("E302", f"`{key.text}` is not a kind of {name}", key.span, remedy)
        number = keys.get(name) or first
        total = number.value if isinstance(number, Scalar) and isinstance(number.value, int) else 0
        self.model.kinds[name] = Kind(name, (name,), entry.span, totals=(total,), unit=True)

    def _interpretation(self, name: str, layers: list[Entry]) -> None:
        keys = merged(layers)
        readings_value = keys.get("is")
        readings = (
            {e.key.text: word(e.value) for e in readings_value.entries} if isinstance(readings_value, Mapping) else {}
        )
        default = word(keys.get("default"))
        if default not in readings:
            span = value.span if isinstance(value := keys.get("default"), Scalar) else layers[-1].span
            self.error("E302", f"unknown reading `{default}`{did_you_mean(default, readings)}", span)
        self.model.interpretations[name] = Interpretation(
            name, cites_of(keys.get("answers")), readings, default, layers[-1].span
        )
        self.model.kinds[name] = Kind(name, tuple(readings), layers[-1].span)

    def records(self) -> None:
        for name, _ in self.section("records"):
            self.model.records[name] = {}
        for name, layers in self.section("records"):
            self.model.records[name].update(self.types(amended(layers).value))
        for name, layers in self.section("records"):
            depth, fields = self._extent(RecordType(name), {})
            if depth > MAXIMUM_DEPTH or fields > MAXIMUM_FIELDS:
                most = f"at most {MAXIMUM_DEPTH} levels and {MAXIMUM_FIELDS} values"
                message = f"`{name}` contains itself or is too large: want {most}"
                self.error("E313", message, layers[-1].span)
                self.model.records[name].clear()

    def _extent(self, type_: Type, known: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """Return the nesting depth of values of a type, and the number of values in each."""
        if isinstance(type_, MadeType):
            depth, fields = self._extent(type_.of, known)
            return depth + 1, fields
        if not isinstance(type_, RecordType) or type_.name not in self.model.records:
            return 1, 1
        if type_.name not in known:
            known[type_.name] = (MAXIMUM_DEPTH + 1, 1)  # too deep if it contains itself
            parts = [self._extent(field, known) for field in self.model.records[type_.name].values()]
            known[type_.name] = (1 + max((d for d, _ in parts), default=0), sum(f for _, f in parts))
        return known[type_.name]

    def roles(self) -> None:
        if not self.composition.sections.get("roles"):
            self.error("E306", "no file of this ruleset declares `roles`", self.top())
        for name, layers in self.section("roles"):
            keys = merged(layers)
            seats = keys.get("seats")
            number = seats.value if isinstance(seats, Scalar) and isinstance(seats.value, int) else 0
            if number > MAXIMUM_SEATS and seats is not None:
                self.error("E313", f"got {number} seats, want at most {MAXIMUM_SEATS}", seats.span)
                number = 1
            counts, is_open = word(keys.get("counts"), "yes") == "yes", word(keys.get("open")) == "yes"
            setting = seats.text if isinstance(seats, Scalar) and not isinstance(seats.value, int) else None
            known = self.composition.sections.get("settings", {})
            if seats is not None and setting is not None and setting not in known:
                self.error("E301", f"unknown setting `{setting}`{did_you_mean(setting, known)}", seats.span)
            role = Role(name, counts, layers[-1].span, number, setting, is_open, layers[0].file)
            self.model.roles[name] = role

    def groups(self) -> None:
        always = Group("round", "", INT, NOWHERE, "", starts="value")
        self.model.groups["round"] = always
        for name, layers in self.section("zones"):
            self._zone(name, layers, "", merged(layers))
        for section, form in (("pools", PoolType), ("tracks", TrackType)):
            for name, layers in self.section(section):
                self._pool(name, layers, "", merged(layers), form)
        for name, layers in self.section("has"):
            self._seat_group(name, layers)
        for name, layers in self.section("state"):
            keys = merged(layers)
            self._value(name, layers, "", keys)
        for kind in self.model.card_kinds.values():
            for pool, token in kind.carries.items():
                name = f"{kind.name}.{pool}"
                self.model.groups[name] = Group(name, "card", PoolType(token), kind.span, "")
        if self.model.graph is not None:
            self.model.groups["piece"] = Group(
                "piece", "place", PieceType(optional=True), self.model.graph.span, "", starts="value"
            )

    def _seat_group(self, name: str, layers: list[Entry]) -> None:
        keys = merged(layers)
        if "zone" in keys:
            self._zone(name, layers, "seat", {**keys, "of": keys["zone"]})
        elif "pool" in keys:
            self._pool(name, layers, "seat", {**keys, "of": keys["pool"]}, PoolType)
        elif "stock" in keys:
            piece = word(keys["stock"])
            if piece not in self.model.pieces:
                self.error(
                    "E301", f"unknown piece `{piece}`{did_you_mean(piece, self.model.pieces)}", keys["stock"].span
                )
            self._add(Group(name, "seat", StockType(piece), layers[0].span, layers[0].file), keys)
        else:
            self._value(name, layers, "seat", keys)

    def _zone(self, name: str, layers: list[Entry], owner: Literal["", "seat"], keys: dict[str, Value]) -> None:
        piles = "piles of" in keys
        of_value = keys.get("piles of") if piles else keys.get("of")
        of = self.type(of_value)
        if not isinstance(of, CardType | NeverType) and of_value is not None:
            self.error("E401", f"a zone holds cards, not {of}", of_value.span)
        order = word(keys.get("order"), "kept")
        group = Group(
            name,
            owner,
            (PilesType if piles else ZoneType)(of.name if isinstance(of, CardType) else ""),
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
        self,
        name: str,
        layers: list[Entry],
        owner: Literal["", "seat"],
        keys: dict[str, Value],
        form: type[PoolType | TrackType],
    ) -> None:
        token = word(keys.get("of"))
        kind = self.model.kinds.get(token)
        if kind is None or kind.totals is None:
            tokens = [name for name, kind in self.model.kinds.items() if kind.totals is not None]
            span = keys["of"].span if "of" in keys else layers[0].span
            self.error("E301", f"unknown token `{token}`{did_you_mean(token, tokens)}", span)
        group = Group(
            name,
            owner,
            form(token),
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
            self.error("E307", f"`{name}` needs a `start`: only a `{type_}?` may start as none", layers[0].span)
        group = Group(
            name,
            owner,
            type_,
            layers[0].span,
            layers[0].file,
            lasts=lasts,
            starts="value",
            seen=_seen(keys),
            range=self._range(keys.get("value")),
        )
        self._add(group, keys)

    def _add(self, group: Group, keys: dict[str, Value]) -> None:
        if group.name in self.model.groups and self.model.groups[group.name].file:
            first = self.model.groups[group.name]
            notes = (Note("the first declaration", first.span),) if first.file else ()
            self.report(Diagnostic("E501", f"`{group.name}` is declared already", group.span, notes))
        if group.seen == "owner" and not group.owner:
            message = "got `owner`, want `everyone` or `no one`: only things of seats have an owner"
            self.error("E104", message, keys["seen"].span)
        start = keys.get("start")
        holder = {"all": CardHolderType, "rest": TokenHolderType}
        if isinstance(start, Scalar) and start.text in holder and isinstance(group.type, holder[start.text]):
            group = replace(group, starts=cast(Literal["all", "rest"], start.text))
        elif start is not None:
            group = replace(group, starts="value")
            self.declared.starts[group.name] = start
        self.model.groups[group.name] = group

    def inputs(self) -> None:
        for name, layers in self.section("settings"):
            keys = merged(layers)
            type_ = self.type(keys.get("value"))
            default = keys.get("default")
            if default is None and not type_.optional:
                self.error("E307", f"`{name}` needs a `default`: only a `{type_}?` may be left out", layers[0].span)
            value = self.setting_value(default, type_) if default is not None else None
            check = self.model.called(word(keys.get("check")), layers[-1].span) or None
            numbers = self._range(keys.get("value"))
            if numbers is not None and isinstance(value, int) and not numbers[0] <= value <= numbers[1]:
                self.error("E302", f"got {value}, want {numbers[0]} to {numbers[1]}", layers[-1].span)
            if any(role.setting == name for role in self.model.roles.values()):
                self._check_seats(keys, type_, value)
            self.model.settings[name] = Setting(
                name, type_, check, value, word(keys.get("about")), layers[-1].span, numbers
            )

    def _check_seats(self, keys: dict[str, Value], type_: Type, value: plain_data.Value) -> None:
        """Check a setting that has an item for each seat of a role."""
        place = keys["value"].span if "value" in keys else self.top()
        if not isinstance(type_, ListType | NeverType) or type_.optional:
            self.error("E401", f"got {type_}, want a list: a role takes one seat for each item", place)
        elif isinstance(value, tuple) and len(value) > MAXIMUM_SEATS:
            message = f"got a default of {len(value)} seats, want at most {MAXIMUM_SEATS}"
            self.error("E313", message, keys["default"].span)

    def _range(self, value: Value | None) -> tuple[int, int] | None:
        """Return the first and last number of a range type, or of a type made of one, else None."""
        tree = type_of(value, lambda diagnostic: None)
        while isinstance(tree, nodes.OptionalType | nodes.MadeType):
            tree = tree.of
        if isinstance(tree, nodes.RangeType):
            return tree.first, tree.last
        kind = self.model.kinds.get(tree.name) if isinstance(tree, nodes.NamedType) else None
        return kind.range if kind is not None else None

    def setting_value(self, value: Value, type_: Type) -> plain_data.Value:
        if isinstance(value, Scalar):
            return self.cell_value(Cell(value.text, value.span), type_)
        if isinstance(value, Sequence) and isinstance(type_, CollectionType):
            items = [self.setting_value(item, type_.of) for item in value.items]
            return tuple(sorted(set(items)) if isinstance(type_, SetType) and None not in items else items)
        if type_ != NEVER:
            self.error("E401", f"got a list, want {type_}", value.span)
        return None

    def events(self) -> None:
        for name, layers in self.section("events"):
            keys = merged(layers)
            fields = self.types(keys.get("with"))
            self.model.events[name] = Event(name, fields, layers[0].span, layers[0].file)

    def components(self) -> None:
        for name, layers in self.section("components"):
            keys = merged(layers)
            count = keys.get("count")
            number = count.value if isinstance(count, Scalar) and isinstance(count.value, int) else None
            self.model.components[name] = Component(
                name, number, word(keys.get("about")), cites_of(keys.get("cites")), layers[0].span, layers[0].file
            )
