"""Declarations: reads the components of a game from the layers of a composition.

The input is the entries of all files. The output is a :class:`Model` with kinds, cards, graph, groups of cells,
settings, events and tables. The checker reads texts (starts, ranks, laws) after the headers of rules.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Literal, cast

from msgspec.structs import replace

from interpreter.base import plain_data
from interpreter.base.diagnostics import Note
from interpreter.base.remedies import add
from interpreter.base.source import NOWHERE
from interpreter.base.yaml_values import word, words
from interpreter.language import nodes, types
from interpreter.language.builtins import FUNCTIONS, OWN_TYPES, OWN_VALUES
from interpreter.language.declared import Reader
from interpreter.language.declared_cards import Cards
from interpreter.language.declared_graph import Graphs
from interpreter.language.declared_tables import Tables
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.model import Component, Event, Group, Interpretation, Kind, Model, Role, Setting
from interpreter.language.reporter import Report
from interpreter.language.resolve import Names
from interpreter.language.texts import type_of
from interpreter.reading.composition import Composition
from interpreter.reading.file_declarations import phases_of
from interpreter.reading.players import player_range
from interpreter.reading.printed_tables import Cell
from interpreter.reading.yaml import Scalar, Sequence, Value
from interpreter.sections import behaviour, seating, things
from interpreter.sections.atoms import TypeText, Whole
from interpreter.sections.declarations import Entry, Layered, OfState
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["OWN_CALLS", "OWN_CELLS", "declare"]

MAXIMUM_RANGE = 1_000
MAXIMUM_TOKENS = 64
MAXIMUM_DEPTH = 8
MAXIMUM_FIELDS = 200
OWN_CELLS = ("phase", "turn", "pending", "settling", "kept", "over", "location", "chance")
OWN_CALLS = (*FUNCTIONS, "base")
"""Reserved names, by namespace."""


def declare(composition: Composition, report: Report) -> Model:
    """Read all declarations of a composition."""
    model = Model(composition.id, composition.title, composition.family, own_rules=dict(composition.own_rules))
    context = composition, report, model
    things, cards, graphs, tables = _Things(*context), Cards(*context), Graphs(*context), Tables(*context)
    things.names()
    for layer in composition.layers("round", "round"):
        former = model.phases + model.left_out
        model.phases = tuple(name.text for name, _ in phases_of(layer.value))
        model.left_out = tuple(name for name in former if name not in model.phases)
    things.kinds()
    graphs.name()
    cards.cards()
    things.records()
    things.names_with_types()
    graphs.graph()
    things.roles()
    things.groups()
    things.inputs()
    things.events()
    tables.tables()
    cards.card_rows()
    things.components()
    return model


class _Things(Reader):
    """Reads all other declarations: kinds, records, roles, cells of seats and of the game, settings, events."""

    def names(self) -> None:
        """Report names that are declared twice or reserved."""
        named = ("kinds", "tokens", "cards", "records", "pieces")
        self._distinct(named, "type", OWN_TYPES)
        common = (section for section in STATE_SECTIONS if section != "has")  # things of seats have an owner
        values = (*common, "settings", "interpretations", "tables")
        self._distinct(values, "value", OWN_VALUES)
        self._distinct(("records", "rules"), "call", OWN_CALLS)
        for section in STATE_SECTIONS:
            for name, layers in self.section(section):
                if name in OWN_CELLS:
                    self.taken(name, layers[0].span)

    def names_with_types(self) -> None:
        """Read what each file says of the types of parameters."""
        self.model.names.update((file, self.types_of(names)) for file, names in self.composition.names.items())

    def _distinct(self, sections: tuple[str, ...], use: str, own: Container[str]) -> None:
        first: dict[str, Entry] = {}
        for section in sections:
            for name, layers in self.section(section):
                if name in own or name in RESERVED_WORDS:
                    self.taken(name, layers[0].span)
                elif name in first:
                    note = Note("first given here", first[name].span)
                    message = f"`{name}` is already the name of another {use}"
                    self.error("E501", message, layers[0].span, None, note)
                else:
                    first[name] = layers[0]

    def kinds(self) -> None:
        for kind in self.composition.read(things.Kind):
            name, members = kind.name, words(kind.is_)
            if kind.adds:
                self.error("E502", f"`{name}` has no list of members to add to", kind.span("adds"))
            numbers = player_range(kind.is_)
            if numbers is not None:
                members = []
                if not 0 <= numbers.high - numbers.low < MAXIMUM_RANGE:
                    most = f"a range from low to high of at most {MAXIMUM_RANGE:,} numbers"
                    self.error("E313", f"got {word(kind.is_)}, want {most}", kind.span("is"))
                    numbers = replace(numbers, high=numbers.low)
            elif word(kind.is_) == "open":
                members = []
                remedy = f"list them in the file that defines them, usually a map: `kinds: {{{name}: […]}}`"
                message = f"`{name}` is open: no file of this ruleset lists its members"
                layers, board = [each.id for each in self.composition.documents], self.composition.single("nodes")
                top = max(kind.entry, board or kind.entry, key=lambda entry: layers.index(entry.file))
                notes = [Note("it is open here", kind.entry.span)] if top is not kind.entry else []
                self.error("E509", message, top.span, remedy, *notes)
            elif len(members) > MAXIMUM_RANGE:
                self.error("E313", f"got {len(members):,} names, want at most {MAXIMUM_RANGE:,}", members[0].span)
                members = members[:1]
            self._unique(members)
            range_ = (numbers.low, numbers.high) if numbers is not None else None
            self.model.kinds[name] = Kind(name, tuple(m.text for m in members), kind.entry.span, range=range_)
        for tokens in self.composition.read(things.Tokens):
            self._token(tokens)
        for interpretation in self.composition.read(seating.Interpretation):
            self._interpretation(interpretation)
        self.model.pieces = tuple(name for name, _ in self.section("pieces"))

    def _unique(self, scalars: list[Scalar]) -> None:
        seen: dict[str, Scalar] = {}
        for scalar in scalars:
            if scalar.text in seen:
                self.error("E501", f"`{scalar.text}` is given twice", scalar.span)
            if scalar.text in RESERVED_WORDS:
                self.taken(scalar.text, scalar.span)
            seen[scalar.text] = scalar

    def _token(self, tokens: things.Tokens) -> None:
        name, span = tokens.name, tokens.entry.span
        counts = {key.text: number for key, number in tokens.rest(Whole)}
        unit = isinstance(tokens.first.value, Scalar)
        if unit:  # without kinds: its only kind has its own name
            for key, _ in tokens.rest(Whole):
                if key.text not in ("is", name):
                    remedy = f"write the number of tokens: `{name}: …`"
                    self.error("E302", f"`{key.text}` is not a kind of {name}", key.span, remedy)
            counts = {name: counts.get(name, counts.get("is", 0))}
        if len(counts) > MAXIMUM_TOKENS:
            self.error("E313", f"got {len(counts):,} kinds of token, want at most {MAXIMUM_TOKENS}", span)
            counts = dict(list(counts.items())[:1])
        self.model.kinds[name] = Kind(name, tuple(counts), span, totals=tuple(counts.values()), unit=unit)

    def _interpretation(self, doubt: seating.Interpretation) -> None:
        name, span, readings = doubt.name, doubt.entry.span, {key.text: meaning for key, meaning in doubt.is_}
        default = word(doubt.default)
        if default not in readings:
            at = doubt.default.span if doubt.default is not None else span
            self.unknown("reading", default, readings, at, code="E302")
        answers = tuple(scalar.text for scalar in doubt.answers)
        self.model.interpretations[name] = Interpretation(name, answers, readings, default, span)
        self.model.kinds[name] = Kind(name, tuple(readings), span)

    def records(self) -> None:
        records = list(self.composition.read(things.RecordType))
        self.model.records.update((record.name, {}) for record in records)
        for record in records:
            self.model.records[record.name].update(self.types_of(record.rest(TypeText)))
        for record in records:
            depth, fields = self._extent(types.RecordType(record.name), {})
            if depth > MAXIMUM_DEPTH or fields > MAXIMUM_FIELDS:
                most = f"at most {MAXIMUM_DEPTH} levels and {MAXIMUM_FIELDS} values"
                message = f"`{record.name}` contains itself or is too large: want {most}"
                self.error("E313", message, record.entry.span)
                self.model.records[record.name].clear()

    def _extent(self, type_: types.Type, known: dict[str, tuple[int, int]]) -> tuple[int, int]:
        """Return the nesting depth of values of a type, and the number of values in each."""
        if isinstance(type_, types.MadeType):
            depth, fields = self._extent(type_.of, known)
            return depth + 1, fields
        if not isinstance(type_, types.RecordType) or type_.name not in self.model.records:
            return 1, 1
        if type_.name not in known:
            known[type_.name] = (MAXIMUM_DEPTH + 1, 1)  # too deep if it contains itself
            parts = [self._extent(field, known) for field in self.model.records[type_.name].values()]
            known[type_.name] = (1 + max((d for d, _ in parts), default=0), sum(f for _, f in parts))
        return known[type_.name]

    def roles(self) -> None:
        if not self.composition.sections.get("roles"):
            self.error("E306", "no file of this ruleset declares `roles`", self.top())
        known = self.composition.sections.get("settings", {})
        for role in self.composition.read(seating.Role):
            number = Whole.read(role.seats)
            setting = word(role.seats) or None if number is None else None
            if (number or 0) > Role.most:
                self.error("E313", f"got {number} seats, want at most {Role.most}", role.span("seats"))
                number = 1
            if setting is not None and setting not in known:
                self.unknown("setting", setting, known, role.span("seats"))
            self.model.roles[role.name] = Role(
                role.name, role.counts, role.entry.span, number or 0, setting, role.open, role.first.file
            )

    def groups(self) -> None:
        self.model.groups["round"] = Group("round", None, types.INT, NOWHERE, "", starts="value")
        for zone in self.composition.read(things.Zone):
            self._zone(zone, zone.piles_of or zone.of, types.PilesType if zone.piles_of is not None else types.ZoneType)
        for pool in self.composition.read(things.Pool):
            self._add(pool, types.PoolType(self._token_of(pool, pool.of)), unlimited=pool.unlimited)
        for track in self.composition.read(things.Track):
            self._add(track, types.TrackType(self._token_of(track, track.of)), spaces=word(track.spaces) or None)
        for belonging in self.composition.read(seating.OfSeat):
            self._belonging(belonging)
        for value in self.composition.read(seating.StateValue):
            self._value(value)
        if (graph := self.model.graph) is not None:
            piece = types.PieceType(optional=True)
            self.model.groups["piece"] = Group("piece", types.PLACE, piece, graph.span, "", starts="value")

    def _belonging(self, thing: seating.OfSeat) -> None:
        if thing.zone is not None:
            self._zone(thing, thing.zone, types.ZoneType)
        elif thing.pool is not None:
            self._add(thing, types.PoolType(self._token_of(thing, thing.pool)))
        elif thing.track is not None:
            self._add(thing, types.TrackType(self._token_of(thing, thing.track)), spaces=word(thing.spaces) or None)
        elif thing.stock is not None:
            piece, pieces = thing.stock.text, self.model.pieces
            if piece not in pieces:
                self.unknown("piece", piece, pieces, thing.stock.span)
            self._add(thing, types.StockType(piece))
        else:
            self._value(thing)

    def _zone(
        self, zone: things.Zone | seating.OfSeat, cards: Scalar | None, form: type[types.ZoneType | types.PilesType]
    ) -> None:
        of = self.type(cards)
        if not isinstance(of, types.CardType | types.NeverType) and cards is not None:
            self.error("E401", f"a zone holds cards, not {of}", cards.span)
        type_ = form(of.name if isinstance(of, types.CardType) else "")
        self._add(zone, type_, order=word(zone.order, "kept"), most=self._most(zone, zone.most, type_))

    def _token_of(self, thing: Layered, token: Scalar | None) -> str:
        """Return the kind of token that something holds."""
        kind = self.model.kinds.get(word(token))
        if kind is None or kind.totals is None:
            tokens = [name for name, kind in self.model.kinds.items() if kind.totals is not None]
            span = token.span if token is not None else thing.first.span
            self.unknown("token", word(token), tokens, span)
        return word(token)

    def _value(self, value: seating.StateValue | seating.OfSeat) -> None:
        type_ = self.type(value.value)
        if value.start is None and not type_.optional and type_ != types.NEVER:
            message = f"`{value.name}` needs a `start`: only a `{self.model.word(type_)}?` may start as none"
            self.error(
                "E307", message, value.first.span, add(value.first.span, "start: 0") if type_ == types.INT else None
            )
        most, range_ = self._most(value, value.most, type_), self._range(value.value)
        if value.count == "shown" and not isinstance(type_, types.CollectionType | types.NeverType):
            message = f"got {type_}, want a list or a set: only these have hidden items that can be counted"
            self.error("E401", message, value.span("count"))
        self._add(value, type_, lasts=value.lasts, starts="value", range=range_, most=most, count=value.count)

    def _most(self, thing: Layered, most: int | None, type_: types.Type) -> int | None:
        """Return the largest number of items of a list or zone."""
        if most is None or isinstance(type_, types.ListType | types.CardHolderType | types.NeverType):
            return most
        self.error("E401", f"got {type_}, want a list or a zone: only these have items", thing.span("most"))
        return None

    def _add(self, thing: OfState, type_: types.Type, **details: object) -> None:
        owner = self._owner(thing) if isinstance(thing, seating.OfSeat) else None
        if owner == types.NEVER:
            return
        group = Group(thing.name, owner, type_, thing.first.span, thing.first.file, section=thing.section)
        seen, in_page = word(thing.source.get("seen"), "everyone"), thing.in_page == "yes"
        group = replace(group, seen=seen, in_page=in_page, **details)
        if owner is not None and group.own_name in Names(self.model).attributes(owner):
            message = f"each {self.model.word(owner)} has an attribute `{group.own_name}` already"
            self.error("E501", message, group.span)
        if group.name in self.model.groups and self.model.groups[group.name].file:
            first = self.model.groups[group.name]
            notes = (Note("the first declaration", first.span),) if first.file else ()
            self.error("E501", f"`{group.name}` is declared already", group.span, None, *notes)
        if group.seen == "owner" and owner != types.SEAT:
            message = "got `owner`, want `everyone`, `no one` or `by RULE`: only things of seats have an owner"
            self.error("E104", message, thing.span("seen"))
        start = thing.source.get("start")
        holder = {"all": types.CardHolderType, "rest": types.TokenHolderType}
        if word(start) in holder and isinstance(type_, holder[word(start)]):
            group = replace(group, starts=cast(Literal["all", "rest"], word(start)))
        elif start is not None:
            group = replace(group, starts="value")
        self.model.groups[group.name] = group

    def _owner(self, thing: seating.OfSeat) -> types.Type:
        """Return the type of the things of which each has a belonging; `never` if there are none."""
        of, dot, _ = thing.name.partition(".")
        if not dot:
            return types.SEAT
        if of in types.OWNERS and self.model.graph is not None:
            return types.OWNERS[of]
        if of in self.model.card_kinds:
            return types.CardType(of)
        kind = self.model.kinds.get(of)
        if kind is None:
            return types.NEVER  # a later file has removed it
        if kind.range is not None or kind.unit:
            what = "numbers" if kind.range is not None else "tokens without kinds"
            self.error("E401", f"`{of}` are {what}, which hold nothing: only a kind with names does", thing.first.span)
            return types.NEVER
        return types.KindType(of)

    def inputs(self) -> None:
        for setting in self.composition.read(seating.Setting):
            name, span, default, numbers = setting.name, setting.entry.span, setting.default, self._range(setting.value)
            type_ = self.type(setting.value)
            if default is None and not type_.optional:
                message = f"`{name}` needs a `default`: only a `{self.model.word(type_)}?` may be left out"
                self.error("E307", message, setting.first.span)
            value = self.setting_value(default, type_) if default is not None else None
            check = self.model.called(word(setting.check), span) or None
            if numbers is not None and isinstance(value, int) and not numbers[0] <= value <= numbers[1]:
                self.error("E302", f"got {value}, want {numbers[0]} to {numbers[1]}", span)
            if any(role.setting == name for role in self.model.roles.values()):
                self._check_seats(setting, type_, value)
            self.model.settings[name] = Setting(name, type_, check, value, setting.about, span, numbers)

    def _check_seats(self, setting: seating.Setting, type_: types.Type, value: plain_data.Value) -> None:
        """Check a setting that has an item for each seat of a role."""
        if not isinstance(type_, types.ListType | types.NeverType) or type_.optional:
            message = f"got {type_}, want a list: a role takes one seat for each item"
            self.error("E401", message, setting.span("value"))
        elif isinstance(value, tuple) and len(value) > Role.most:
            message = f"got a default of {len(value)} seats, want at most {Role.most}"
            self.error("E313", message, setting.span("default"))

    def _range(self, value: Value | None) -> tuple[int, int] | None:
        """Return the first and last number of a range type, or of a type made of one, else None."""
        tree = type_of(value, lambda diagnostic: None)
        while isinstance(tree, nodes.OptionalType | nodes.MadeType):
            tree = tree.of
        if isinstance(tree, nodes.RangeType):
            return tree.first, tree.last
        kind = self.model.kinds.get(tree.name) if isinstance(tree, nodes.NamedType) else None
        return kind.range if kind is not None else None

    def setting_value(self, value: Value, type_: types.Type) -> plain_data.Value:
        if isinstance(value, Scalar) and (
            not isinstance(type_, types.ListType | types.SetType) or isinstance(type_.of, types.KindType)
        ):
            return self.cell_value(Cell(value.text, value.span), type_)
        if isinstance(value, Sequence) and isinstance(type_, types.CollectionType):
            items = [self.setting_value(item, type_.of) for item in value.items]
            return tuple(sorted(set(items)) if isinstance(type_, types.SetType) and None not in items else items)
        if type_ != types.NEVER:
            got = f"`{value.text}`" if isinstance(value, Scalar) else "a list"
            self.error("E401", f"got {got}, want {type_}", value.span)
        return None

    def events(self) -> None:
        for event in self.composition.read(behaviour.Event):
            fields, first = self.types_of(event.with_), event.first
            self.model.events[event.name] = Event(event.name, fields, first.span, first.file)

    def components(self) -> None:
        for thing in self.composition.read(things.Component):
            about, first, of = (thing.about, tuple(cite.text for cite in thing.cites)), thing.first, thing.of
            tokens = (name for name, kind in self.model.kinds.items() if kind.totals is not None)
            if of is not None and of.text not in (known := {*tokens, *self.model.card_kinds}):
                self.unknown("kind of tokens or cards", of.text, known, of.span)
            count = self.model.number_of(word(of)) if thing.count is None else thing.count
            component = Component(thing.name, count, word(of) or None, *about, first.span, first.file)
            self.model.components[thing.name] = component
