"""Type checker of expressions: turns parsed nodes into checked ones, with names bound and types known.

An :class:`Expressions` checks one text of one ruleset. An error is reported, and the expression gets the type `never`,
which is accepted everywhere, so that one error gives one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, repeat
from types import UnionType
from typing import Literal, assert_never

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import counted, quoted
from interpreter.base.remedies import either, insert, write
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import Scalar
from interpreter.language import core, nodes
from interpreter.language.builtins import BUILTINS, FUNCTIONS, TYPE_FORMS, TYPES, Builtin
from interpreter.language.model import CardKind, Group, Signature, Table, versioned
from interpreter.language.reporter import Report, Reporter
from interpreter.language.resolve import MAXIMUM_NESTING, Names, owner_word
from interpreter.language.scope import Frame, Variable, path_of
from interpreter.language.texts import condition_of
from interpreter.language.types import (
    BOOL,
    INT,
    NEVER,
    NODE,
    NONE,
    SEAT,
    TEXT,
    BagType,
    CardType,
    CollectionType,
    HolderType,
    IntType,
    KindType,
    LinkType,
    ListType,
    MadeType,
    NeverType,
    NoneType,
    PieceType,
    PileType,
    PlaceType,
    RecordType,
    RoomType,
    SeatType,
    SetType,
    Sortable,
    TextType,
    TrackType,
    Type,
    accepts,
    item_type,
    join,
    read_type,
)

__all__ = ["Expressions"]

PHASE = KindType("phase", optional=True)
OTHER_CALLS = {
    "len": "write `count(…)`",
    "range": "write `1 .. 9`",
    "print": "declare an event, and write `note event(…)`",
    **dict.fromkeys(("rand", "randint", "random"), "write `let x = pick from list as name`"),
}
"""Functions of other languages, and what to write instead."""
OTHER_WORDS = {"true": "write `yes`", "false": "write `no`", "null": "write `none`", "player": "a player is a `seat`"}
"""Words of other languages, with a hint."""


@dataclass(eq=False)
class Expressions(Reporter):
    """Checks the expressions of one text."""

    names: Names
    frame: Frame
    report: Report
    base: tuple[str, int, Signature] | None = field(default=None, kw_only=True)
    """The rule of the text, its layer below and its signature, if the text may call that layer."""
    hints: Mapping[str, str] = field(default_factory=lambda: OTHER_WORDS, kw_only=True)
    """Help for unknown names."""

    def __post_init__(self) -> None:
        self.spoken = self.names.model.spoken

    # --- entry points

    def value(self, node: nodes.Expr, expected: Type | None = None, *, maybe: bool = False) -> core.Expression:
        """Check an expression as a value; holders are read. With ``maybe``, finding nothing gives none, no failure."""
        return self._read(self._any(node, expected, maybe))

    def sure(self, node: nodes.Expr, expected: Type | None = None) -> core.Expression:
        """Check an expression as a value that is not none."""
        value = self.value(node, expected)
        if not value.type.optional:
            return value
        self.maybe_none(node, value.type)
        return self._never(node.span)

    def need(self, node: nodes.Expr, expected: Type, detail: str = "") -> core.Expression:
        """Check an expression as a value (or holder) of the expected type."""
        value = self._any(node, expected, expected.optional)
        if not isinstance(expected, HolderType) and not isinstance(expected, PlaceType):
            value = self._read(value)
        return self.fit(value, expected, node.span, detail)

    def knows(self, node: nodes.Name) -> bool:
        """Return whether a name is defined, without reporting it."""
        diagnostics: list[Diagnostic] = []
        report, self.report = self.report, diagnostics.append
        try:
            self._any(node, None, True)
        finally:
            self.report = report
        return not diagnostics

    def condition(self, node: nodes.Expr) -> core.Expression:
        return self.need(node, BOOL)

    def established(
        self, node: nodes.Expr, before: core.Expression | None = None, span: Span | None = None
    ) -> core.Expression:
        """Check a condition whose facts hold from here on, and join it to one ``before`` with `and`."""
        checked = self.condition(node)
        self.frame.facts[-1].update(self.facts(node, holds=True))
        return checked if before is None else core.Logic("and", before, checked, type=BOOL, span=span or node.span)

    def all_hold(self, conditions: Iterable[Scalar]) -> core.Expression | None:
        """Check the conditions of a layer, those of its enclosing parts first, and join them with `and`."""
        joined: core.Expression | None = None
        for condition in conditions:
            if (tree := condition_of(condition, self.report)) is not None:
                joined = self.established(tree, joined, condition.span)
        return joined

    def conjuncts(self, test: nodes.Expr | None) -> tuple[core.Expression, ...]:
        """Split a condition at each `and`, so that a refusal can name those that fail. Facts of each part hold for
        those after it."""
        if isinstance(test, nodes.Binary) and test.operator == "and":
            return (*self.conjuncts(test.left), *self.conjuncts(test.right))
        return (self.established(test),) if test is not None else ()

    def bound(self, name: str, type_: Type, binder: nodes.Node) -> Variable:
        """Add the local that a node introduces."""
        variable = self.frame.add(name, type_, binder)
        self.names.bind_local(binder.span, variable, declares=True)
        return variable

    def binder(self, node: nodes.Binder) -> tuple[int, core.Expression, Type]:
        """Check a binder; return its local, and the list with the type of its items."""
        items, of = self.items(node.items)
        return self.bound(node.name, of, node).index, items, of

    def holder(self, node: nodes.Expr) -> core.Expression:
        """Check an expression as a holder, place or pile."""
        value = self._any(node, None, False)
        if isinstance(value.type, HolderType | PlaceType | NeverType | PileType):
            return value
        message = f"got {value.type}, want a zone, pool, track, stock or place"
        held = [group for group in self._groups_of(value.type) if isinstance(group.type, HolderType)]
        words = f"a {value.type} has {', '.join(quoted(group.own_name for group in held))}"
        help = either(node.span, words, [f"{node.span.text}.{group.own_name}" for group in held]) if held else None
        return self._wrong("E410", message, node.span, help)

    def items(self, node: nodes.Expr) -> tuple[core.Expression, Type]:
        """Check an expression as a collection to iterate over; return it and the type of its items."""
        value = self.value(node)
        of = item_type(value.type)
        if of is not None and not value.type.optional:
            return value, of
        if value.type.optional and isinstance(value.type, CollectionType):
            self.maybe_none(node, value.type)
        elif not isinstance(value.type, NeverType):
            help = write(node.span, f"1 .. {node.span.text}") if isinstance(value.type, IntType) else None
            self.error("E402", f"got {value.type}, want a list, set or range", node.span, help)
        return value, NEVER

    def call(self, node: nodes.Expr) -> core.Expression:
        """Check a call in a position where procedures are allowed."""
        if isinstance(node, nodes.Call):
            return self._call(node, procedures=True)
        return self.value(node)

    # --- facts that tests establish

    def facts(self, node: nodes.Expr, *, holds: bool) -> dict[str, Type]:
        """Return the narrowed types of paths if the test holds (or fails)."""
        match node:
            case nodes.Not(value):
                return self.facts(value, holds=not holds)
            case nodes.Binary(operator, left, right) if operator == ("and" if holds else "or"):
                known = self.facts(left, holds=holds)
                with self.frame.narrowed(known):
                    return {**known, **self.facts(right, holds=holds)}
            case nodes.Compare("==" | "!=" as operator, left, right):
                if isinstance(left, nodes.NoneLiteral):
                    left, right = right, left
                path, with_none = path_of(left), isinstance(right, nodes.NoneLiteral)
                if path and with_none and holds == (operator == "!="):
                    return {path: self._silent_type(left).sure}
                if path and operator == "==" and holds and not with_none:
                    type_, other = self._silent_type(left), self._silent_type(right)
                    if type_.optional and not other.optional and not isinstance(other, NeverType):
                        return {path: type_.sure}
            case nodes.IsKind(value, kind, negated) if (path := path_of(value)) is not None:
                type_ = self._silent_type(value)
                if isinstance(type_, CardType | PieceType) and holds != negated:
                    return {path: replace(type_.sure, name=kind)}
        return {}

    def _silent_type(self, node: nodes.Expr, expected: Type | None = None) -> Type:
        report, self.report = self.report, lambda diagnostic: None
        try:
            return self.value(node, expected, maybe=True).type
        finally:
            self.report = report

    # --- one node

    def _any(self, node: nodes.Expr, expected: Type | None, maybe: bool) -> core.Expression:
        span = node.span
        match node:
            case nodes.IntLiteral(value):
                return self._number(value, expected, span)
            case nodes.TextLiteral(value):
                return self._text(value, expected, span)
            case nodes.BoolLiteral(value):
                return self._yes_or_no(value, expected, span)
            case nodes.NoneLiteral():
                return core.Const(None, type=NONE, span=span)
            case nodes.Name(name):
                return self._name(node, name, expected)
            case nodes.Attribute():
                return self._attribute(node)
            case nodes.Index():
                return self._index(node)
            case nodes.Call():
                return self._call(node, maybe=maybe)
            case nodes.Drawn():
                return self._wrong("E701", "a function cannot draw at random: draw in a `does`", span)
            case nodes.Aggregate():
                return self._aggregate(node, maybe)
            case nodes.ListLiteral(items):
                return self._list(items, expected, span)
            case nodes.ListComprehension():
                return self._select(node, expected)
            case nodes.RangeOf(first, last):
                return core.RangeFrom(self.need(first, INT), self.need(last, INT), type=ListType(INT), span=span)
            case nodes.Binary(operator, left, right):
                if operator == "and" or operator == "or":
                    return self._logic(operator, left, right, span)
                return self._arithmetic(operator, left, right, expected, span)
            case nodes.Compare():
                return self._compare(node)
            case nodes.In(item, items, negated):
                whole, of = self._members_of(item, items)
                return core.MemberOf(self._member(item, of), whole, negated, type=BOOL, span=span)
            case nodes.IsKind():
                return self._is_kind(node)
            case nodes.Not(value):
                return core.Negation(self.condition(value), type=BOOL, span=span)
            case nodes.Negative(value):
                inner = self.sure(value)
                if not isinstance(inner.type, IntType | BagType | NeverType):
                    self.error("E401", f"got {inner.type}, want a number or a bag after `-`", value.span)
                return core.Negate(inner, type=inner.type, span=span)
            case nodes.Conditional():
                return self._conditional(node, expected)
            case nodes.Otherwise(value, default):
                optional = self.value(value, expected.maybe if expected else None, maybe=True)
                if not optional.type.optional and not isinstance(optional.type, NeverType):
                    help = write(Span(span.file, value.span.end, default.span.end), "", "remove `otherwise`")
                    self.error("E416", "this is never none, so `otherwise` is never used", default.span, help)
                second = self.fit(self.value(default, optional.type.sure), optional.type, default.span, "")
                type_ = optional.type.sure if not second.type.optional else optional.type
                return core.Default(optional, second, type=type_, span=span)
            case nodes.Amount(number, kind):
                return self._amount(number, kind, span)
            case _:
                assert_never(node)

    def _yes_or_no(self, value: bool, expected: Type | None, span: Span) -> core.Expression:
        """Check `yes` or `no`: a boolean, or the member of that name if a kind is expected."""
        word = "yes" if value else "no"
        if isinstance(expected, KindType) and word in (members := self.names.members(expected.name)):
            return core.Const(members.index(word), type=expected.sure, span=span)
        return core.Const(value, type=BOOL, span=span)

    def _number(self, value: int, expected: Type | None, span: Span) -> core.Expression:
        """Check a number: an integer, or the card with that key if a card is expected."""
        if isinstance(expected, CardType):
            missing = f"there is no {expected.sure} {value}"
            return self._card(value, expected, span) or self._wrong("E302", missing, span)
        return core.Const(value, type=INT, span=span)

    def _card(self, key: int | str, expected: CardType, span: Span) -> core.Expression | None:
        """Return the card with a key, of the expected kind, or None."""
        matches = self.names.cards(key, expected.name)
        if len(matches) > 1 and len({kind for _, kind in matches}) == 1:
            return self._copies(matches[0][1], key, span)
        if len(matches) > 1:
            shown = f'"{key}"' if isinstance(key, str) else key
            calls = [f"{kind}({shown})" for _, kind in matches]
            message = f"{shown} is the key of several cards: {' and '.join(quoted(calls))}"
            words = f"say which is meant: {' or '.join(quoted(calls))}"
            return self._wrong("E303", message, span, either(span, words, calls))
        if not matches:
            return None
        number, kind = matches[0]
        self.names.bind(span, "card", str(key), kind)
        return core.Const(number, type=CardType(kind), span=span)

    def _copies(self, name: str, key: int | str | None, span: Span) -> core.Expression:
        """Report the key of copies: it does not identify a card."""
        shown = "…" if key is None else f'"{key}"' if isinstance(key, str) else str(key)
        model = self.names.model
        number, attribute = sum(r.kind == name and r.key == key for r in model.cards), model.card_kinds[name].key
        message = f"{shown} is the key of {number} copies" if number else f"some cards of {name} are copies"
        example = f"`first(c in ZONE where c.{attribute} == {shown})`"
        help = f"compare `{attribute}`, or name its zone: {example}"
        return self._wrong("E303", message, span, help)

    def _text(self, value: str, expected: Type | None, span: Span) -> core.Expression:
        if isinstance(expected, TextType):
            return core.Const(value, type=TEXT, span=span)
        if isinstance(expected, CardType) and (card := self._card(value, expected, span)) is not None:
            return card
        node = self.names.node(value)
        if node is not None:
            self.names.bind(span, "nodes", value)
            return core.Const(node, type=NODE, span=span)
        model = self.names.model
        names = [row.name for row in model.graph.nodes] if model.graph else []
        members = {member for kind in model.kinds.values() for member in kind.members}
        plain = "a member of a kind" if value in members else "a number" if value.isdecimal() else None
        help = f"write {plain} without quotes: `{value}`" if plain else None
        message = f'unknown name "{value}"{did_you_mean(value, names)}'
        return self._wrong("E302", message, span, help)

    def _name(self, node: nodes.Expr, name: str, expected: Type | None) -> core.Expression:
        span = node.span
        variable = self.frame.find(name)
        names = self.names
        if variable is not None:
            names.bind_local(span, variable)
            return core.Local(variable.index, name, type=self.frame.known(name) or variable.type, span=span)
        weight = names.weight(name)
        if weight is not None:
            names.bind(span, "helpers", name)
            return core.Const(weight, type=INT, span=span)
        own = self._own_value(name, span)
        if own is not None:
            names.bind(span, "language", name)
            return own
        group = names.group(name)
        if group is not None and group.owner is None:
            return self._cell(group, None, span, span, self.frame.known(name))
        setting = names.setting(name)
        if setting is not None:
            names.bind(span, "interpretations" if setting == KindType(name) else "settings", name)
            return core.SettingValue(name, type=self.frame.known(name) or setting, span=span)
        if not isinstance(expected, KindType) and names.is_seat(name):
            names.bind(span, "roles", name)
            return core.RoleSeat(name, type=SEAT, span=span)
        found = self.domain(name, span) or self._kind_member(name, expected, span)
        if found is not None:
            return found
        signature = names.rule(name, span)
        if signature is not None and signature.constant:
            self._bind_rule(span, signature, name)
            return core.CallRule(signature.name, (), type=signature.result, span=span)
        names.missing(name, self.frame, expected)
        self._unknown(name, span)
        return self._never(span)

    def _own_value(self, name: str, span: Span) -> core.Expression | None:
        match name:
            case "players":
                return core.PlayerCount(type=INT, span=span)
            case "seats":
                return core.AllSeats(type=ListType(SEAT), span=span)
            case "phase":
                return _phase(self.frame.known(name), span)
            case _:
                return None

    def domain(self, name: str, span: Span) -> core.Expression | None:
        """Return the list of all values of a type, for its name used as an expression."""
        values = self.names.domain(name)
        if values is None and name != "seat":
            return None
        self.names.bind(span, *self.names.declares_type(name))
        if values is None:
            return core.AllSeats(type=ListType(SEAT), span=span)
        return core.Const(values[0], type=ListType(values[1]), span=span)

    def _bind_rule(self, span: Span, signature: Signature, name: str) -> None:
        """Note a rule, or a private rule of a file of policies or scenarios, whose id is that of a layer."""
        self.names.bind(span, "helpers" if "!" in signature.name else "rules", name)

    def _kind_member(self, name: str, expected: Type | None, span: Span) -> core.Expression | None:
        """Resolve a member of a kind: of the expected kind, else of the only kind that has it."""
        names = self.names
        if isinstance(expected, KindType) and name in names.members(expected.name):
            return self._member_of(expected.sure, name, span)
        if isinstance(expected, PieceType) and name in (pieces := names.pieces()):
            names.bind(span, "pieces", name)
            return core.Const(pieces.index(name), type=PieceType(name), span=span)
        kinds = names.kinds_with(name)
        if len(kinds) == 1:
            return self._member_of(KindType(kinds[0]), name, span)
        if len(kinds) > 1:
            message = f"`{name}` is a member of {' and '.join(quoted(kinds))}; the context does not tell which is meant"
            return self._wrong("E303", message, span)
        return None

    def _member_of(self, kind: KindType, name: str, span: Span) -> core.Expression:
        section = {"role": "roles", "phase": "rules"}.get(kind.name, "members")
        self.names.bind(span, section, name, kind.name if section == "members" else "")
        return core.Const(self.names.members(kind.name).index(name), type=kind, span=span)

    def _cell(
        self, group: Group, owner: core.Expression | None, span: Span, place: Span, known: Type | None = None
    ) -> core.Expression:
        """Return the content of a cell, or the cell of a holder. Its name is at ``place``."""
        self.names.bind_group(place, group)
        cell = core.Cell(group.name, owner, type=group.type, span=span)
        if isinstance(group.type, HolderType):
            return cell
        return core.Read(cell, type=known or group.type, span=span)

    def _attribute(self, node: nodes.Attribute) -> core.Expression:
        path = path_of(node)
        known = self.frame.known(path) if path else None
        of = self.sure(node.of)
        return self._attribute_of(of, node, known)

    def _attribute_of(self, of: core.Expression, node: nodes.Attribute, known: Type | None) -> core.Expression:
        name, span = node.name, node.span
        if isinstance(of.type, NeverType):
            return self._never(span)
        if isinstance(of.type, RecordType):
            fields = self.names.record(of.type.name) or {}
            if name in fields:
                self.names.bind(node.name_span, "fields", name, of.type.name)
                position = list(fields).index(name)
                return core.FieldOf(of, position, type=known or fields[name], span=span)
            return self._no_attribute(of.type, node, fields)
        group = self.names.group_of(of.type, name)
        if group is not None:
            return self._cell(group, of, span, node.name_span, known)
        attributes = self.names.attributes(of.type)
        if name in attributes:
            self.names.bind(node.name_span, *self.names.declares_attribute(of.type, name))
            static = core.Static(f"{owner_word(of.type)}.{name}", of, type=known or attributes[name], span=span)
            return versioned(static, self.names.versions(of.type, name))
        if isinstance(of.type, PileType) and name == "top":
            self.names.bind(node.name_span, "language", name)
            return core.CallBuiltin(BUILTINS["top"], (of,), type=CardType(of.type.name), span=span)
        held = (group.own_name for group in self._groups_of(of.type))
        return self._no_attribute(of.type, node, dict.fromkeys((*attributes, *held)))

    def _groups_of(self, type_: Type) -> list[Group]:
        return [group for group in self.names.model.groups.values() if group.owner == type_.sure]

    def _no_attribute(self, type_: Type, node: nodes.Attribute, known: Iterable[str]) -> core.Expression:
        self.names.missing_attribute(type_, node.name)
        names = list(known)
        notes = [Note(f"{type_} has " + ", ".join(f"`{name}`" for name in names))] if names else []
        help = None
        if isinstance(type_, CardType) and not type_.name:
            kinds = [k for k, kind in self.names.model.card_kinds.items() if node.name in kind.attributes]
            if kinds:
                help = f"test `is {kinds[0]}` first: only a {kinds[0]} has `{node.name}`"
        if isinstance(type_, CollectionType):
            help = f"an item may have it: `[x.{node.name} for x in …]`, `first(…).{node.name}`"
        message = f"unknown attribute `{node.name}` of {type_}{did_you_mean(node.name, names)}"
        return self._wrong("E304", message, node.name_span, help, *notes, at=node.span)

    def _index(self, node: nodes.Index) -> core.Expression:
        if isinstance(node.of, nodes.Name) and self.frame.find(node.of.name) is None:
            table = self.names.table(node.of.name)
            if table is not None:
                return self._table_cell(node, table)
        of = self.sure(node.of)
        if len(node.keys) != 1:
            return self._wrong("E405", f"got {counted(len(node.keys), 'key')}, want 1", node.span)
        key = node.keys[0]
        match of.type:
            case BagType():
                return core.BagItem(of, self.need(key, KindType(of.type.name)), type=INT, span=node.span)
            case CollectionType():
                return core.Element(of, self.need(key, INT), type=of.type.of, span=node.span)
            case NeverType():
                return of
            case _:
                message = f"got {of.type}, want a table, a bag or a list before `[`"
                return self._wrong("E401", message, node.of.span, at=node.span)

    def _table_cell(self, node: nodes.Index, table: Table) -> core.Expression:
        name = table.name
        self.names.bind(node.of.span, "tables", name)
        if len(node.keys) != len(table.keys):
            expected = ", ".join(table.keys)
            self.error("E405", f"`{name}` has the keys [{expected}], got {counted(len(node.keys), 'key')}", node.span)
            for key, type_ in zip(node.keys, table.key_types, strict=False):
                self._silent_type(key, type_)
            return self._never(node.span)
        keys = tuple(self.need(key, type_) for key, type_ in zip(node.keys, table.key_types, strict=True))
        return core.TableCell(name, keys, type=table.gives, span=node.span)

    # --- calls

    def _call(self, node: nodes.Call, *, procedures: bool = False, maybe: bool = False) -> core.Expression:
        if node.name == "base":
            self.names.bind(node.name_span, "base", self.base[0] if self.base else "", str(self.base and self.base[1]))
            return self._call_base(node)
        signature = self.names.rule(node.name, node.span)
        if signature is not None:
            self._bind_rule(node.name_span, signature, node.name)
            if signature.form == "does" and not procedures:
                want = "call it as a statement, or as all of a `let`, assignment or `return`"
                return self._wrong("E406", f"`{node.name}` is a procedure: {want}", node.name_span, at=node.span)
            arguments = self.arguments(node, node.name, signature.parameters, signature.span)
            return core.CallRule(signature.name, arguments, type=signature.result, span=node.span)
        fields = self.names.record(node.name)
        if fields is not None:
            self.names.bind(node.name_span, "records", node.name)
            arguments = self.arguments(node, node.name, list(fields.items()), None)
            return core.MakeRecord(arguments, type=RecordType(node.name), span=node.span)
        function = FUNCTIONS.get(node.name)
        if function is not None:
            self.names.bind(node.name_span, "functions", node.name)
            return self._builtin(node, function, maybe)
        kind = self.names.card_kind(node.name)
        if kind is not None:
            self.names.bind(node.name_span, "cards", node.name)
            return self._card_of_kind(node, kind, maybe)
        known = [*self.names.signatures, *self.names.model.records, *FUNCTIONS]
        help = OTHER_CALLS.get(node.name)
        near = "" if help else did_you_mean(node.name, known)
        if self.names.table(node.name) is not None:
            help = f"`{node.name}` is a table: read it as `{node.name}[…]`"
        self.error("E301", f"unknown rule `{node.name}`{near}", node.name_span, help)
        return self._unchecked(node)

    def _unchecked(self, node: nodes.Call) -> core.Expression:
        """Bind the names in the arguments of a call that is not known."""
        for argument in node.arguments:
            self._silent_type(argument)
        return self._never(node.span)

    def _card_of_kind(self, node: nodes.Call, kind: CardKind, maybe: bool) -> core.Expression:
        """Check ``news(1)``: the card of a kind with that key."""
        card = CardType(kind.name)
        if kind.key is None:
            return self._wrong("E406", f"a {kind.name} has no key that identifies it", node.name_span, at=node.span)
        key_type = kind.attributes[kind.key]
        literal = node.arguments[0] if len(node.arguments) == 1 else None
        if isinstance(literal, nodes.IntLiteral | nodes.TextLiteral):
            missing = f"there is no {card} {literal.value}"
            return self._card(literal.value, card, literal.span) or self._wrong("E302", missing, literal.span)
        arguments = self.arguments(node, node.name, [(kind.key, key_type)], kind.span)
        if self.names.has_copies(kind.name):
            return self._copies(kind.name, None, node.span)
        if len(arguments) != 1:
            return self._never(node.span)
        local = self.frame.hidden()
        candidate = core.Local(local, kind.name, type=card, span=node.span)
        own_key = core.Static(f"{kind.name}.{kind.key}", candidate, type=key_type)
        same = core.Comparison("==", own_key, *arguments, type=BOOL)
        values = self.names.domain(kind.name)
        assert values is not None
        every = core.Const(values[0], type=ListType(card), span=node.span)
        type_ = card.maybe if maybe else card
        return core.Search(local, every, same, "first", maybe, type=type_, span=node.span)

    def _call_base(self, node: nodes.Call) -> core.Expression:
        if self.base is None:
            return self._wrong("E507", "`base` is defined only in a rule with `wraps`", node.name_span, at=node.span)
        rule, layer, signature = self.base
        arguments = self.arguments(node, node.name, signature.parameters, signature.span)
        return core.CallBase(rule, layer, arguments, type=signature.result, span=node.span)

    def arguments(
        self, node: nodes.Call | nodes.Note, name: str, parameters: Sequence[tuple[str, Type]], declared: Span | None
    ) -> tuple[core.Expression, ...]:
        """Check the arguments of a call, all positional or all by name."""
        arguments = node.arguments
        signature = ", ".join(f"{parameter}: {type_}" for parameter, type_ in parameters)
        notes = (Note(f"it is `{name}({signature})`", declared),)
        if len(arguments) != len(parameters):
            message = f"`{name}` takes {counted(len(parameters), 'value')}, got {len(arguments)}"
            self.error("E404", message, node.span, None, *notes)
            for argument, (_, type_) in zip(arguments, chain(parameters, repeat(("", None))), strict=False):
                self._silent_type(argument, type_)
            return tuple(self._never(argument.span) for argument in arguments)
        if node.names:
            names = [parameter for parameter, _ in parameters]
            invalid = [used for used in node.names if used not in names or node.names.count(used) > 1]
            if invalid:
                message = f"`{name}` takes no `{invalid[0]}`{did_you_mean(invalid[0], names)}"
                twice = f"`{invalid[0]}` is given twice"
                self.error("E404", twice if invalid[0] in names else message, node.span, None, *notes)
                return tuple(self._never(argument.span) for argument in arguments)
            arguments = tuple(arguments[node.names.index(parameter)] for parameter in names)
        return tuple(self.need(argument, type_) for argument, (_, type_) in zip(arguments, parameters, strict=True))

    def _builtin(self, node: nodes.Call, function: Builtin, maybe: bool) -> core.Expression:
        if node.name in ("keys", "cells"):
            return self._of_table(node)
        got, want, many = len(node.arguments), len(function.parameters), function.many
        if not (many and got >= 2) and (node.names or got != want):
            form = Note(f"it is `{node.name}({', '.join(function.parameters)}{', …' * many})`")
            expected = f"{want} or more values" if many else counted(want, "value")
            self.error("E404", f"`{node.name}` takes {expected}, got {got}", node.span, function.about, form)
            return self._unchecked(node)
        words = ("int",) * got if many else function.parameters
        builtin = _BuiltinCall(self)
        arguments = [builtin.argument(word, argument) for word, argument in zip(words, node.arguments, strict=True)]
        type_, or_none = builtin.gives(function.gives), function.partial and maybe
        if node.name == "links":
            return core.Static("node.links", arguments[0], type=type_, span=node.span)
        if node.name == "sum" and builtin.bag:
            return self._sum_of_bags(arguments[0], builtin.bag, node.span)
        if node.name in ("distance", "path"):
            dealt, has_lengths = self.names.lengths()
            if (zone := self.names.group(dealt)) is not None:
                cell = core.Cell(zone.name, None, type=zone.type, span=node.span)
                arguments.append(self._read(cell))
            elif not has_lengths and (graph := self.names.model.graph) is not None:
                message = f"links between each {graph.node} have no length"
                remedy = "give the graph a `length`: an attribute of a link or an expression"
                self.error("E304", message, node.span, remedy)
        type_ = type_.maybe if or_none else type_
        return core.CallBuiltin(function, tuple(arguments), or_none, type=type_, span=node.span)

    def _of_table(self, node: nodes.Call) -> core.Expression:
        """Check ``keys(table)`` and ``keys(table, key)``, the values of a key, and ``cells(table, keys …)``, a line."""
        first, *others = node.arguments or (None,)
        table = self.names.table(first.name) if isinstance(first, nodes.Name) else None
        if table is not None and first is not None:
            self.names.bind(first.span, "tables", table.name)
        if table is None:
            return self._wrong("E401", f"want a table: `{node.name}(table)`", (first or node).span, at=node.span)
        last = len(table.keys) - 1
        if node.name == "keys":
            names = [key.name for key in others if isinstance(key, nodes.Name)] or list(table.keys)
            if len(names) != 1 or names[0] not in table.keys or len(others) > 1:
                calls = [f"keys({table.name}, {key})" for key in table.keys]
                help = either(node.span, f"write {' or '.join(quoted(calls))}", calls)
                return self._wrong("E405", f"`{node.name}` needs a key of `{table.name}`", node.span, help)
            last = table.keys.index(names[0])
        every = core.Const(table.axes[last], type=ListType(table.key_types[last]), span=node.span)
        if node.name == "keys":
            return every
        if len(others) != last:
            expected = ", ".join([table.name, *table.keys[:last]])
            help = write(node.span, f"cells({expected})")
            return self._wrong("E405", f"`cells` of `{table.name}` needs all keys but the last", node.span, help)
        keys = tuple(self.need(key, type_) for key, type_ in zip(others, table.key_types, strict=False))
        local = core.Local(self.frame.hidden(), table.keys[last], type=table.key_types[last], span=node.span)
        cell = core.TableCell(table.name, (*keys, local), type=table.gives, span=node.span)
        return core.Select(local.index, every, None, cell, type=ListType(table.gives), span=node.span)

    def _sum_of_bags(self, bags: core.Expression, kind: str, span: Span) -> core.Expression:
        both = bags, self._empty_bag(kind, span)
        return core.CallBuiltin(BUILTINS["sum of bags"], both, type=BagType(kind), span=span)

    def _empty_bag(self, kind: str, span: Span) -> core.Expression:
        return core.Const((0,) * len(self.names.members(kind)), type=BagType(kind), span=span)

    # --- loops over lists

    @contextmanager
    def each(
        self, node: nodes.Aggregate | nodes.ListComprehension | nodes.ForEach, of: Type
    ) -> Iterator[tuple[int, core.Expression | None, Type]]:
        """Bind the variable of a loop to items of a type; give its local, the test, and the type if the test holds, as
        it does within the context."""
        with self.frame.block():
            variable = self.bound(node.variable, of, node)
            test = self.condition(node.test) if node.test is not None else None
            facts = self.facts(node.test, holds=True) if node.test is not None else {}
            with self.frame.narrowed(facts):
                yield variable.index, test, facts.get(node.variable, of)

    def _aggregate(self, node: nodes.Aggregate, maybe: bool) -> core.Expression:
        self.names.bind(node.name_span, "functions" if node.name in FUNCTIONS else "language", node.name)
        if node.value is not None:
            return self._aggregate_of_values(node, maybe)
        whole, of = self.items(node.items)
        with self.each(node, of) as (local, test, of):
            keys = tuple(self.key(key, Sortable | PlaceType | LinkType) for key in node.keys)
        self._check_keys(node, of)
        span, found_type = node.span, of.maybe if maybe else of
        match node.name:
            case "count":
                return core.Fold(local, whole, test, "count", type=INT, span=span)
            case "any":
                if test is None:
                    self.error("E407", "`any` needs `where`", node.span)
                return core.Fold(local, whole, test, "any", type=BOOL, span=span)
            case "all":
                self._report_all_where(node)
                return core.Fold(local, whole, test, "all", type=BOOL, span=span)
            case "sorted":
                return core.Order(local, whole, test, "sorted", keys, type=ListType(of), span=span)
            case "first" | "last" as end:
                return core.Search(local, whole, test, end, maybe, type=found_type, span=span)
            case "min" | "max" as end:
                if not keys and not isinstance(of, IntType):
                    self.error("E407", f"`{node.name}` of {of} needs `by`", node.span)
                return core.Order(local, whole, test, end, keys, maybe, type=found_type, span=span)
            case _:
                message = f"`{node.name}` needs a value: `{node.name}(value for {node.variable} in …)`"
                return self._wrong("E407", message, node.span)

    def _aggregate_of_values(self, node: nodes.Aggregate, maybe: bool) -> core.Expression:
        assert node.value is not None
        match node.name:
            case "any" | "all" as operation:
                return self._claim(node, operation, node.value)
        mapped = self._select(node)
        of = item_type(mapped.type)
        if node.name == "sum" and isinstance(of, BagType):
            return self._sum_of_bags(mapped, of.name, node.span)
        if node.name not in ("sum", "min", "max"):
            return self._wrong("E407", f"`{node.name}` takes items, not values", node.span)
        if not isinstance(of, IntType | NeverType):
            self.error("E401", f"got {of}, want int", node.value.span)
        or_none = maybe and node.name != "sum"
        type_ = INT.maybe if or_none else INT
        name = node.name if node.name == "sum" else f"{node.name} of list"
        return core.CallBuiltin(BUILTINS[name], (mapped,), or_none, type=type_, span=node.span)

    def _report_all_where(self, node: nodes.Aggregate) -> None:
        """Report ``all(x in items where test)``: it is always true, since `where` selects the items."""
        claim = "claim" if node.test is None else node.test.span.on_one_line
        items = node.items.span.on_one_line
        call, help = f"all({claim} for {node.variable} in {items})", "`where` selects the items to check"
        fixed = write(node.span, call, help) if node.test is not None else help
        self.error("E407", f"`all` needs a condition before `for`: `{call}`", node.span, fixed)

    def _claim(self, node: nodes.Aggregate, operation: Literal["any", "all"], claim: nodes.Expr) -> core.Expression:
        """Check ``all(claim for x in items where test)``, and ``any``."""
        whole, of = self.items(node.items)
        with self.each(node, of) as (local, test, _):
            holds = self.condition(claim)
        if test is not None and node.name == "any":
            holds = core.Logic("and", test, holds, type=BOOL, span=claim.span)
        elif test is not None:
            holds = core.Logic("or", core.Negation(test, type=BOOL, span=test.span), holds, type=BOOL, span=claim.span)
        return core.Fold(local, whole, holds, operation, type=BOOL, span=node.span)

    def key(self, node: nodes.Expr, sortable: UnionType = Sortable) -> core.Expression:
        """Check a value to sort by."""
        key = self.value(node)
        if key.type.optional or not isinstance(key.type, sortable):
            self.error("E408", f"got {key.type}, want a type that can be sorted", node.span)
        return key

    def _check_keys(self, node: nodes.Aggregate, of: Type) -> None:
        """Check that sort keys leave no ties: they end with a unique key, or with `as listed`."""
        if node.name not in ("sorted", "min", "max"):
            if node.keys:
                self.error("E407", f"`{node.name}` takes no `by`", node.keys[0].span)
            return
        if not node.keys:
            if node.name == "sorted" and not isinstance(of, IntType | NeverType):
                self.error("E407", f"`sorted` of {of} needs `by`", node.span)
            return
        last = node.keys[-1]
        last = last.value if isinstance(last, nodes.Negative) else last
        kind = self.names.card_kind(of.name) if isinstance(of, CardType) else None
        path = path_of(last)
        unique = isinstance(of, IntType | KindType | NeverType) or path == node.variable
        if kind is not None and path == f"{node.variable}.{kind.key}":
            unique |= not self.names.has_copies(kind.name)
        unique |= isinstance(of, SeatType) and path == f"{node.variable}.number"
        if not unique and not node.listed:
            end, words = node.keys[-1].span, "end them with a unique key, or with `as listed`: the earlier item first"
            self.error("E409", "these keys can leave a tie open", end, insert(end.file, end.end, ", as listed", words))

    def _select(self, node: nodes.ListComprehension | nodes.Aggregate, expected: Type | None = None) -> core.Expression:
        whole, of = self.items(node.items)
        with self.each(node, of) as (local, test, of):
            taken = None if node.value is None else self.value(node.value)
        if taken is not None and isinstance(taken.type, NoneType) and isinstance(expected, CollectionType):
            taken = replace(taken, type=expected.of.maybe)
        type_ = ListType(of) if taken is None else self._listed(taken.type, node.span)
        return core.Select(local, whole, test, taken, type=type_, span=node.span)

    # --- other expressions

    def _list(self, items: tuple[nodes.Expr, ...], expected: Type | None, span: Span) -> core.Expression:
        if isinstance(expected, BagType) and not items:
            return self._empty_bag(expected.name, span)
        of = expected.of if isinstance(expected, CollectionType) else None
        checked = [self.value(item, of) for item in items]
        type_: Type = NEVER
        for item, node in zip(checked, items, strict=True):
            joined = join(type_, item.type)
            if joined is None:
                self.error("E401", f"got {item.type} among {type_}", node.span)
                joined = NEVER
            type_ = joined
        if isinstance(type_, NoneType) and of is not None:
            type_ = of.maybe
        if isinstance(expected, SetType):
            listed = core.MakeList(tuple(checked), type=ListType(type_), span=span)
            return core.CallBuiltin(BUILTINS["set of list"], (listed,), type=SetType(type_), span=span)
        return core.MakeList(tuple(checked), type=self._listed(type_, span), span=span)

    def _listed(self, of: Type, span: Span) -> Type:
        """Return the type of a list of a type. Report lists that are nested too deeply."""
        depth, inner = 1, of
        while isinstance(inner, MadeType):
            depth, inner = depth + 1, inner.of
        if depth > MAXIMUM_NESTING:
            self.error("E204", f"lists nested more than {MAXIMUM_NESTING} deep", span)
            return ListType(NEVER)
        return ListType(of)

    def _logic(
        self, operator: Literal["and", "or"], left: nodes.Expr, right: nodes.Expr, span: Span
    ) -> core.Expression:
        start = self.condition(left)
        with self.frame.narrowed(self.facts(left, holds=operator == "and")):
            then = self.condition(right)
        return core.Logic(operator, start, then, type=BOOL, span=span)

    def _arithmetic(
        self, operator: nodes.Sign, left: nodes.Expr, right: nodes.Expr, expected: Type | None, span: Span
    ) -> core.Expression:
        first = self.value(left, expected)
        second = self.value(right, first.type)
        if isinstance(first.type, CollectionType) and isinstance(first.type.of, NoneType):
            first = self.value(left, second.type)
        forms = {type(side.type) for side in (first, second)} - {NeverType}
        type_: Type | None = None
        unsure = [(node, side.type) for side, node in ((first, left), (second, right)) if side.type.optional]
        for node, maybe in unsure:
            self.maybe_none(node, maybe)
        if unsure:
            return self._never(span)
        if not forms:
            type_ = NEVER
        elif forms == {IntType}:
            type_ = INT
        elif operator == "+" and forms <= {ListType, SetType}:
            joined = join(first.type, second.type)
            type_ = ListType(joined.of) if isinstance(joined, CollectionType) else None
        elif operator in ("+", "-") and forms == {BagType} and first.type == second.type:
            type_ = first.type
        if type_ is None:
            remedy = None
            if forms == {IntType, BagType} and isinstance(right, nodes.Amount):
                words = "`of` binds tighter: put the number in brackets, `(a - b) of kind`"
                number = Span(span.file, span.start, right.number.span.end)
                remedy = write(number, f"({number.text})", words)
            message = f"cannot apply `{operator}` to {first.type} and {second.type}"
            self.error("E401", message, span, remedy)
            type_ = NEVER
        return core.Arithmetic(operator, first, second, type=type_, span=span)

    def _compare(self, node: nodes.Compare) -> core.Expression:
        operator, left, right, span = node.operator, node.left, node.right, node.span
        # a comparison with none is a test whether something is found
        maybe = any(isinstance(side, nodes.NoneLiteral) for side in (left, right))
        if self._stands_alone(left) or not self._stands_alone(right):
            first = self.value(left, maybe=maybe)
            second = self.value(right, first.type, maybe=maybe)
        else:
            second = self.value(right, maybe=maybe)
            first = self.value(left, second.type, maybe=maybe)
        if operator in ("==", "!="):
            if join(first.type, second.type) is None:
                self.error("E401", f"cannot compare {first.type} with {second.type}", span)
            for none, other, written in ((first, second, right), (second, first, left)):
                if isinstance(none.type, NoneType) and not (other.type.optional or isinstance(other.type, NeverType)):
                    self.error("E416", f"{other.type} is never none", written.span)
        else:
            for side, written in ((first, left), (second, right)):
                if side.type.optional:
                    self.maybe_none(written, side.type)
                elif not isinstance(side.type, IntType | NeverType):
                    self.error("E401", f"got {side.type}, want int: only numbers have an order", written.span)
        return core.Comparison(operator, first, second, type=BOOL, span=span)

    def _stands_alone(self, node: nodes.Expr) -> bool:
        """Return whether the type of an expression can be inferred without an expected type."""
        if isinstance(node, nodes.Name):
            if self.frame.find(node.name) or node.name in ("players", "seats", "phase"):
                return True
            return self.names.group(node.name) is not None or self.names.setting(node.name) is not None
        return not isinstance(node, nodes.Constant)

    def _members_of(self, item: nodes.Expr, items: nodes.Expr) -> tuple[core.Expression, Type]:
        """Check the right side of a membership test. In a list literal, quoted texts are texts if the item is one."""
        listed = items.items if isinstance(items, nodes.ListLiteral) else ()
        if any(isinstance(each, nodes.TextLiteral) for each in listed):
            of = self._silent_type(item)
            if isinstance(of, TextType):
                return self.value(items, ListType(of)), of
        return self.items(items)

    def _member(self, item: nodes.Expr, of: Type) -> core.Expression:
        """Check the item of a membership test. Its type may be broader than that of the list's items."""
        value = self.value(item, of)
        if join(of, value.type) is None:
            self.error("E401", f"got {value.type}, but the list holds {of}", item.span)
        return value

    def _is_kind(self, node: nodes.IsKind) -> core.Expression:
        value = self.value(node.value)
        is_card = isinstance(value.type, CardType)
        if isinstance(value.type, NeverType):
            return self._never(node.span)
        if not isinstance(value.type, CardType | PieceType):
            help = "`==` compares values; `is` tests the kind of a card"
            self.error("E401", f"got {value.type}, want a card or a piece before `is`", node.value.span, help=help)
        elif not (self.names.card_kind(node.kind) if is_card else node.kind in self.names.pieces()):
            known = [*self.names.model.card_kinds] if is_card else self.names.pieces()
            self.unknown("kind", node.kind, known, node.name_span)
        else:
            self.names.bind(node.name_span, "cards" if is_card else "pieces", node.kind)
        return core.KindTest(value, node.kind, node.negated, type=BOOL, span=node.span)

    def _conditional(self, node: nodes.Conditional, expected: Type | None) -> core.Expression:
        span, test, maybe = node.span, self.condition(node.test), bool(expected and expected.optional)
        with self.frame.narrowed(self.facts(node.test, holds=True)):
            first = self._any(node.then, expected, maybe)
        with self.frame.narrowed(self.facts(node.test, holds=False)):
            like = expected or (first.type if not isinstance(first.type, NoneType) else None)
            second = self._any(node.otherwise, like, maybe)
        if not isinstance(expected, HolderType):
            first, second = self._read(first), self._read(second)
        type_ = join(first.type, second.type)
        if type_ is None:
            self.error("E401", f"got {first.type} or {second.type}, want one type", span)
            type_ = NEVER
        return core.Condition(first, test, second, type=type_, span=span)

    def _amount(self, number: nodes.Expr, kind: nodes.Expr, span: Span) -> core.Expression:
        counted = self.need(number, INT)
        member = self.value(kind)
        if isinstance(member.type, NeverType):
            return self._never(span)
        token = self.names.kind(member.type.name) if isinstance(member.type, KindType) else None
        if token is None or member.type.optional:
            return self._wrong("E401", f"got {member.type}, want a kind of token after `of`", kind.span, at=span)
        if token.unit:
            return counted
        return core.AmountOf(counted, member, len(token.members), type=BagType(token.name), span=span)

    # --- helpers

    def _read(self, value: core.Expression) -> core.Expression:
        if not isinstance(value.type, HolderType):
            return value
        type_ = read_type(value.type, unit=self.names.is_unit(value.type.name))
        return core.Read(value, type=type_, span=value.span)

    def fit(self, value: core.Expression, expected: Type, span: Span, detail: str) -> core.Expression:
        """Convert an expression to the expected type, or report a mismatch. ``detail`` is added to the message."""
        if isinstance(expected, NeverType) or accepts(expected, value.type):
            return replace(value, type=expected) if isinstance(value.type, NoneType) and expected.optional else value
        if isinstance(expected, SetType) and isinstance(value.type, ListType) and accepts(expected.of, value.type.of):
            return core.CallBuiltin(BUILTINS["set of list"], (value,), type=SetType(value.type.of), span=span)
        if value.type.optional and accepts(expected, value.type.sure):
            self.maybe_none(span, value.type)
        else:
            compare = insert(span.file, span.end, " > 0", "compare it, as in `… > 0`")
            help = compare if (value.type, expected) == (INT, BOOL) else None
            self.error("E401", f"got {value.type}, want {expected}{detail}", span, help)
        return value

    def maybe_none(self, place: nodes.Expr | Span, type_: Type) -> None:
        """Report a value that may be none where that is not allowed."""
        span = place if isinstance(place, Span) else place.span
        self.error("E403", f"this may be none ({type_})", span, "test it with `if let`, `!= none` or `otherwise`")

    def _unknown(self, name: str, span: Span) -> None:
        model = self.names.model
        owned = [group for group in model.groups.values() if group.owner is not None and group.own_name == name]
        if owned:
            self._report_missing_owner(owned[0], span)
            return
        things = (group.name for group in model.groups.values() if group.owner is None)
        members = (member for kind in model.kinds.values() for member in kind.members if member != name)
        known = [*self.frame.all_names(), *self.names.weights, *things, *model.settings, *model.tables, *model.kinds]
        known += [*model.card_kinds, "players", "seats", "round", *members]
        help = self.hints.get(name)
        if name == "base" and self.base is not None:
            help = "call the layer below as `base(…)`"
        elif name in self.names.signatures:
            help = f"`{name}` is a rule: call it as `{name}(…)`"
        elif name in model.tables:
            help = f"`{name}` is a table: read it as `{name}[…]`"
        self.unknown("name", name, known, span, help)

    def _report_missing_owner(self, group: Group, span: Span) -> None:
        """Report a name that belongs to a thing and is used without one."""
        name, owner = group.own_name, group.owner or NEVER
        locals_ = (self.frame.find(local) for local in reversed(self.frame.all_names()))
        candidate = next((local.name for local in locals_ if local is not None and local.type == owner), None)
        remedy = f"`{candidate or self.names.model.word(owner)}.{name}`"
        if candidate is None and isinstance(owner, SeatType):
            remedy = f"`seats[0].{name}`, or `who.{name}` where `who` is one of the seats"
        message = f"each {self.names.model.word(owner)} has its own `{name}`"
        self.error("E301", message, span, f"say whose it is: {remedy}")

    def _wrong(
        self, code: str, message: str, span: Span, help: str | None = None, *notes: Note, at: Span | None = None
    ) -> core.Expression:
        """Report an error in the expression ``at`` a place."""
        self.error(code, message, span, help, *notes)
        return self._never(at or span)

    def _never(self, span: Span) -> core.Expression:
        return core.Const(None, type=NEVER, span=span)


class _BuiltinCall:
    """One call, whose arguments are checked in order. ``item`` is the item type and ``bag`` the kind of tokens inferred
    so far."""

    def __init__(self, checker: Expressions) -> None:
        self.checker = checker
        self.item: Type = NEVER
        self.bag = ""

    def argument(self, word: str, node: nodes.Expr) -> core.Expression:
        """Check the next argument, for a parameter with this word."""
        checker = self.checker
        match word:
            case "numbers":
                value = checker.sure(node, ListType(INT))
                if isinstance(value.type, ListType) and isinstance(value.type.of, BagType):
                    self.bag = value.type.of.name
                    return value
                return checker.fit(value, ListType(INT), node.span, "")
            case "kind":
                return checker.need(node, KindType(self.bag)) if self.bag else checker.value(node)
            case "any":
                return checker.value(node)
            case "list":
                value, self.item = checker.items(node)
                return value
            case "bag":
                return self._bag(node)
            case "track":
                value = checker.holder(node)
                if isinstance(value.type, HolderType):
                    self.bag = value.type.name
                if not isinstance(value.type, TrackType | NeverType):
                    checker.error("E401", f"got {value.type}, want a track", node.span)
                return value
            case _ if word in TYPES:
                return checker.need(node, TYPES[word])
            case _:
                return self._of_forms(word, node)

    def _of_forms(self, word: str, node: nodes.Expr) -> core.Expression:
        value = self.checker.sure(node)
        expected, forms, item = TYPE_FORMS[word]
        match value.type:
            case NeverType():
                pass
            case PileType(name=name) if PileType in forms:
                self.item = CardType(name)
            case CollectionType(of=KindType(name=name)) if word == "kinds":
                self.bag = name
            case CollectionType(of=of) as type_ if type(type_) in forms and isinstance(of, item | NeverType):
                pass
            case type_ if type(type_) not in forms or isinstance(type_, CollectionType):
                self.checker.error("E401", f"got {type_}, want {expected}", node.span)
        return value

    def _bag(self, node: nodes.Expr) -> core.Expression:
        checker, bag = self.checker, self.bag
        if checker.names.is_unit(bag):
            return checker.need(node, INT)
        value = checker.sure(node, BagType(bag) if bag else None)
        if isinstance(value.type, BagType) and bag in ("", value.type.name):
            self.bag = value.type.name
        elif not isinstance(value.type, NeverType):
            expected = f"bag of {bag}" if bag else "a bag"
            checker.error("E401", f"got {value.type}, want {expected}", node.span)
        return value

    def gives(self, word: str) -> Type:
        """Return the result type. Call it after all arguments are checked."""
        inferred: dict[str, Type] = {
            "item": self.item,
            "list": ListType(self.item),
            "lists": ListType(ListType(self.item)),
            "bags": ListType(BagType(self.bag)),
            "room": RoomType(KindType(self.bag)),
        }
        return TYPES.get(word) or inferred[word]


def _phase(known: Type | None, span: Span) -> core.Expression:
    """Return an expression for the current phase; none before the first phase of a round."""
    number = core.Read(core.Cell("phase", None, type=INT, span=span), type=INT, span=span)
    before = core.Comparison("==", number, core.Const(-1, type=INT, span=span), type=BOOL, span=span)
    here = core.Read(number.cell, type=PHASE.sure, span=span)
    none = core.Const(None, type=NONE, span=span)
    return here if known else core.Condition(none, before, here, type=PHASE, span=span)
