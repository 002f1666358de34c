"""Checks of initial values, orders of zones and visible tops."""

from __future__ import annotations

from msgspec.structs import replace

from interpreter.base.source import Span
from interpreter.language import core, nodes, types
from interpreter.language.checker import Checker
from interpreter.language.model import Group, Table
from interpreter.language.scope import frame_of
from interpreter.language.texts import expression_of
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value
from interpreter.sections.declarations import OfState
from interpreter.sections.seating import OfSeat, StateValue
from interpreter.sections.things import Pool, Track, Zone

__all__ = ["Starts"]

_LAST = 2**31 - 1
"""The place in an order of what has none: the largest number that fits into a word of a module."""


class Starts(Checker):
    """Checks initial values, orders, visible tops and spaces of groups of cells."""

    def check(self) -> None:
        """Check the texts of all groups."""
        sections: tuple[type[OfState], ...] = (Zone, Pool, Track, OfSeat, StateValue)
        things = {thing.name: thing for section in sections for thing in self.composition.read(section)}
        for name, group in list(self.model.groups.items()):
            if name in things and (changes := self._group_texts(things[name], group)):
                self.model.groups[name] = replace(group, **changes)
        for group in self.model.groups.values():
            if group.spaces is not None and isinstance(group.type, types.TrackType):
                self._check_spaces(group, group.spaces, group.type.name)

    def _check_spaces(self, group: Group, name: str, token: str) -> None:
        """Check the spaces of a track: a table by price, by kind if tokens have kinds, and optionally by players."""
        table = self.model.tables.get(name)
        if table is None:
            self.unknown("table", name, self.model.tables, group.span)
            return
        by_kind = () if self.model.is_unit(token) else (token,)
        by = [key for key in table.keys[:-1] if key != "players"]
        if table.gives != types.INT or table.key_types[-1] != types.INT or not set(by_kind) <= set(by) <= {token}:
            keys = ", ".join([*by_kind, "price"])
            message = f"`{table.name}` has no spaces of {token}: want the keys [{keys}]"
            self.error("E401", f"{message} and numbers", group.span)

    def _group_texts(self, thing: OfState, group: Group) -> dict[str, object]:
        changes: dict[str, object] = {}
        start, order, seen, top = (thing.source.get(key) for key in ("start", "order", "seen", "top_shows"))
        if start is not None and group.starts == "value":
            changes["start"], changes["start_locals"] = self._start(start, group)
        if (rule := _rule_of(order)) is not None:
            changes["rank"] = self._card_rule(rule, group, types.INT)
        if (rule := _rule_of(seen)) is not None:
            changes["sees"] = self._sight_rule(rule, group)
        if isinstance(top, Scalar):
            changes["top_shows"] = self._card_rule(top, group, None)
        return changes

    def _start(self, value: Value, group: Group) -> tuple[core.Expression | None, int]:
        owner = group.owner
        named = "who" if isinstance(owner, types.SeatType) else self.model.word(owner) if owner is not None else ""
        frame = frame_of([(named, owner)] if owner is not None else ())
        expressions = self.expressions(frame)
        expected = group.type
        if isinstance(expected, types.TokenHolderType | types.StockType):
            expected = types.read_type(expected, unit=self.model.is_unit(expected.name))
        if isinstance(value, Mapping) and isinstance(expected, types.BagType):
            kind = self.model.kinds[expected.name]
            counts = {e.key.text: e.value.value for e in value.entries if isinstance(e.value, Scalar)}
            for entry in value.entries:
                if entry.key.text not in kind.members:
                    self.unknown(kind.name, entry.key.text, kind.members, entry.key.span, code="E302")
            bag = tuple(count if isinstance(count := counts.get(member, 0), int) else 0 for member in kind.members)
            return core.Const(bag, type=expected, span=value.span), 0
        if isinstance(value, Sequence) and not value.items and isinstance(expected, types.CollectionType):
            return core.Const((), type=expected, span=value.span), 0
        tree = self._expression(value)
        if tree is None:
            return None, 0
        if isinstance(tree, nodes.Name) and tree.name in self.model.tables:
            return self._table_as_start(tree.name, expected, tree.span), 0
        if isinstance(tree, nodes.Name) and tree.name in self.signatures:
            tree = nodes.Call(tree.name, (), name_span=tree.span, span=tree.span)
        return expressions.need(tree, expected), frame.size

    def _expression(self, value: Value) -> nodes.Expr | None:
        """Parse an initial value: the text of an expression, or a list of such texts."""
        if not isinstance(value, Sequence):
            return expression_of(value, self.report)
        items = [self._expression(item) for item in value.items]
        return nodes.ListLiteral(tuple(filter(None, items)), span=value.span) if all(items) else None

    def _table_as_start(self, name: str, expected: types.Type, span: Span) -> core.Expression:
        """Check a table used as an initial value: by players, by kind of token or by both."""
        table = self.model.tables[name]
        kind = types.KindType(expected.name) if isinstance(expected, types.BagType) else None
        if any(key != "players" and type_ != kind for key, type_ in _keys(table)) or (
            kind is not None and kind not in table.key_types
        ):
            keys = f"[players], [{kind}] or [players, {kind}]" if kind is not None else "[players]"
            self.error("E401", f"a start needs the keys {keys}, but `{name}` has others", span)
            return core.Const(None, type=types.NEVER, span=span)

        def cell(member: int) -> core.Expression:
            keys: list[core.Expression] = [
                core.PlayerCount(type=types.INT, span=span)
                if key == "players"
                else core.Const(member, type=type_, span=span)
                for key, type_ in _keys(table)
            ]
            return core.TableCell(name, tuple(keys), type=table.gives, span=span)

        if kind is None:
            return self.expressions().fit(cell(0), expected, span, "")
        members = range(len(self.model.kinds[kind.name].members))
        return core.MakeList(tuple(cell(member) for member in members), type=expected, span=span)

    def _sight_rule(self, name: Scalar, group: Group) -> core.Expression | None:
        """Check a rule over the seat that looks, which is local 0, and the owner, local 1."""
        signature, owner = self.names.rule(name.text, name.span), group.owner
        takes: list[types.Type] = [types.SEAT] if owner is None else [types.SEAT, owner]
        given = [type_ for _, type_ in signature.parameters] if signature is not None else []
        if signature is None or signature.form == "does" or signature.result != types.BOOL:
            conditions = [s for s in self.signatures if self.signatures[s].result == types.BOOL]
            self.unknown("condition among the rules", name.text, conditions, name.span)
            return None
        if len(given) != len(takes) or not all(map(types.accepts, given, takes)):
            got, want = (", ".join(map(str, of)) for of in (given, takes))
            wanted = f"({want}): the seat that looks, and what `{group.name}` belongs to"
            self.error("E401", f"`{name.text}` takes ({got}), want {wanted}", name.span)
        called = (core.Local(number, "", type=type_, span=name.span) for number, type_ in enumerate(takes))
        return core.CallRule(name.text, tuple(called), type=types.BOOL, span=name.span)

    def _card_rule(self, name: Scalar, group: Group, expected: types.Type | None) -> core.Expression | None:
        """Check an attribute or rule of one card, which is local 0."""
        card = types.CardType(group.type.name if isinstance(group.type, types.CardHolderType) else "")
        local = core.Local(0, "card", type=card, span=name.span)
        attributes = self.names.attributes(card)
        if name.text in attributes:
            if expected is not None and not isinstance(attributes[name.text], type(expected) | types.NeverType):
                self.error("E401", f"`{name.text}` is {attributes[name.text]}, want {expected}", name.span)
            if self.names.versions(card, name.text):
                self.error("E408", f"`{name.text}` has other values in some games, so it orders no zone", name.span)
            return core.Static(f"{card.name}.{name.text}", local, type=attributes[name.text], span=name.span)
        signature = self.names.rule(name.text, name.span)
        if signature is None or signature.form != "is" or len(signature.parameters) != 1:
            known = [*attributes, *(s for s in self.signatures if self.signatures[s].form == "is")]
            self.unknown("attribute or rule", name.text, known, name.span)
            return None
        if not types.accepts(takes := signature.parameters[0][1], card):
            self.error("E401", f"`{name.text}` takes {takes}, but {group.name} holds {card}", name.span)
        if expected is not None and signature.result.sure != expected:
            self.error("E401", f"`{name.text}` gives {signature.result}, want {expected}", name.span)
        called = core.CallRule(name.text, (local,), type=signature.result, span=name.span)
        if expected is None or not signature.result.optional:
            return called
        last = core.Const(_LAST, type=expected, span=name.span)
        return core.Default(called, last, type=expected, span=name.span)


def _rule_of(value: Value | None) -> Scalar | None:
    """Return the rule that a value such as ``by RULE`` names."""
    if not isinstance(value, Scalar) or not value.text.startswith("by "):
        return None
    return Scalar(value.text[3:].strip(), value.style, value.span, None)


def _keys(table: Table) -> list[tuple[str, types.Type]]:
    return list(zip(table.keys, table.key_types, strict=True))
