"""Checks of initial values, orders of zones and visible tops."""

from __future__ import annotations

from interpreter.base.frozen import with_fields
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core, nodes
from interpreter.language.checker import Checker
from interpreter.language.model import Group, Table
from interpreter.language.scope import Frame
from interpreter.language.texts import expression_of
from interpreter.language.types import (
    INT,
    NEVER,
    SEAT,
    BagType,
    CardHolderType,
    CardType,
    KindType,
    NeverType,
    StockType,
    TokenHolderType,
    TrackType,
    Type,
    accepts,
    read_type,
)
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value

__all__ = ["Starts"]


class Starts(Checker):
    """Checks what groups of cells say beside their types."""

    def check(self) -> None:
        """All that groups say beside their types."""
        for name, group in list(self.model.groups.items()):
            changes = self._group_texts(name, group)
            if changes:
                self.model.groups[name] = with_fields(group, changes)
        for group in self.model.groups.values():
            if group.spaces is not None and isinstance(group.type, TrackType):
                self._check_spaces(group, group.spaces, group.type.name)

    def _check_spaces(self, group: Group, name: str, token: str) -> None:
        """The spaces of a track are a table by price, and by kind where tokens have kinds, perhaps also by players."""
        table = self.model.tables.get(name)
        if table is None:
            self.error("E301", f"unknown table `{name}`{did_you_mean(name, self.model.tables)}", group.span)
            return
        by_kind = () if self.model.is_unit(token) else (token,)
        by = [key for key in table.keys[:-1] if key != "players"]
        if table.gives != INT or table.key_types[-1] != INT or not set(by_kind) <= set(by) <= {token}:
            wanted = ", ".join([*by_kind, "price"])
            message = f"`{table.name}` has no spaces of {token}: want the keys [{wanted}]"
            self.error("E401", f"{message} and numbers", group.span)

    def _group_texts(self, name: str, group: Group) -> dict[str, object]:
        changes: dict[str, object] = {}
        start = self.declared.starts.get(name)
        if start is not None:
            checked, size = self._start(start, group)
            changes.update(start=checked, start_locals=size)
        rank = self.declared.ranks.get(name)
        if rank is not None:
            changes["rank"] = self._card_rule(Scalar(rank.text[3:].strip(), rank.style, rank.span, None), group, INT)
        top = self.declared.tops.get(name)
        if top is not None:
            changes["top_shows"] = self._card_rule(top, group, None)
        return changes

    def _start(self, value: Value, group: Group) -> tuple[core.Expression | None, int]:
        frame = Frame()
        if group.owner == "seat":
            frame.add("who", SEAT)
        expressions = self.expressions(frame)
        wanted = group.type
        if isinstance(wanted, TokenHolderType | StockType):
            wanted = read_type(wanted, unit=self.model.is_unit(wanted.name))
        if isinstance(value, Sequence) and not value.items:
            return core.Const((), type=wanted, span=value.span), 0
        if isinstance(value, Mapping) and isinstance(wanted, BagType):
            kind = self.model.kinds[wanted.name]
            counts = {e.key.text: e.value.value for e in value.entries if isinstance(e.value, Scalar)}
            for entry in value.entries:
                if entry.key.text not in kind.members:
                    self.error(
                        "E302",
                        f"unknown {kind.name} `{entry.key.text}`{did_you_mean(entry.key.text, kind.members)}",
                        entry.key.span,
                    )
            bag = tuple(found if isinstance(found := counts.get(member, 0), int) else 0 for member in kind.members)
            return core.Const(bag, type=wanted, span=value.span), 0
        tree = expression_of(value, self.report)
        if tree is None:
            return None, 0
        if isinstance(tree, nodes.Name) and tree.name in self.model.tables:
            return self._table_as_start(tree.name, wanted, tree.span), 0
        if isinstance(tree, nodes.Name) and tree.name in self.signatures:
            tree = nodes.Call(tree.name, (), name_span=tree.span, span=tree.span)
        return expressions.need(tree, wanted), frame.size

    def _table_as_start(self, table: str, wanted: Type, span: Span) -> core.Expression:
        """A table by players, by kind of token or by both, as what a holder starts with."""
        found = self.model.tables[table]
        kind = KindType(wanted.name) if isinstance(wanted, BagType) else None
        if any(name != "players" and type_ != kind for name, type_ in _keys(found)) or (
            kind is not None and kind not in found.key_types
        ):
            keys = f"[players], [{kind}] or [players, {kind}]" if kind is not None else "[players]"
            self.error("E401", f"`{table}` must be read by {keys} to start with", span)
            return core.Const(None, type=NEVER, span=span)

        def cell(member: int) -> core.Expression:
            keys: list[core.Expression] = [
                core.PlayerCount(type=INT, span=span)
                if name == "players"
                else core.Const(member, type=type_, span=span)
                for name, type_ in _keys(found)
            ]
            return core.TableCell(table, tuple(keys), type=found.gives, span=span)

        if kind is None:
            return self.expressions().fit(cell(0), wanted, span, "")
        members = range(len(self.model.kinds[kind.name].members))
        return core.MakeList(tuple(cell(member) for member in members), type=wanted, span=span)

    def _card_rule(self, name: Scalar, group: Group, wanted: Type | None) -> core.Expression | None:
        """An attribute or rule of one card, over the local 0."""
        card = CardType(group.type.name if isinstance(group.type, CardHolderType) else "")
        local = core.Local(0, "card", type=card, span=name.span)
        attributes = self.expressions().attributes(card)
        if name.text in attributes:
            if wanted is not None and not isinstance(attributes[name.text], type(wanted) | NeverType):
                self.error("E401", f"`{name.text}` is {attributes[name.text]}, want {wanted}", name.span)
            return core.Static(f"{card.name}.{name.text}", local, type=attributes[name.text], span=name.span)
        signature = self.signatures.get(self.model.called(name.text, name.span))
        if signature is not None and signature.unread:
            return None
        if signature is None or signature.form != "is" or len(signature.parameters) != 1:
            known = [*attributes, *(s for s in self.signatures if self.signatures[s].form == "is")]
            self.error("E301", f"unknown attribute or rule `{name.text}`{did_you_mean(name.text, known)}", name.span)
            return None
        if not accepts(signature.parameters[0][1], card):
            self.error(
                "E401", f"`{name.text}` takes {signature.parameters[0][1]}, but {group.name} holds {card}", name.span
            )
        if wanted is not None and signature.result != wanted:
            self.error("E401", f"`{name.text}` gives {signature.result}, want {wanted}", name.span)
        return core.CallRule(name.text, (local,), type=signature.result, span=name.span)


def _keys(table: Table) -> list[tuple[str, Type]]:
    return list(zip(table.keys, table.key_types, strict=True))
