"""Public names of values: cards by key, nodes and members of kinds by name, seats by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import normalize

from interpreter.base.messages import frame
from interpreter.base.plain_data import grouped
from interpreter.kernel.state import Value
from interpreter.language import types
from interpreter.language.directed_links import ways_of
from interpreter.language.model import Model

__all__ = ["PATH", "Names", "separators"]


PATH = " – "
"""Separator of the nodes of a path."""


def separators(model: Model, of: types.Type) -> tuple[str, ...]:
    """Return what may separate the items of a list, the usual one first: commas if the text of an item has none."""
    return _SEPARATORS[_levels(model, of) :] or _SEPARATORS[-1:]


def _levels(model: Model, type_: types.Type) -> int:
    """Return how deep commas are nested in the text of a value."""
    match type_:
        case types.BagType():
            return 1
        case types.CollectionType(of=of):
            return 1 + _levels(model, of)
        case types.RecordType(name=name):
            return 1 + max((_levels(model, of) for of in model.records[name].values()), default=0)
        case _:
            return 0


_SEPARATORS = (", ", "; ", " | ", " || ")


class Names:
    """Converts values of a model to public ones and back. Public values are JSON data."""

    language = "en"

    def __init__(self, model: Model, role_seats: Mapping[str, int] | None = None) -> None:
        """``role_seats``, if known, has the first seat of each role; the only seat of a role is called by the role."""
        self.model = model
        self._seats = {seat: role for role, seat in (role_seats or {}).items() if model.roles[role].seats == 1}
        self._nodes = [row.name for row in model.graph.nodes] if model.graph else []
        self._cards = grouped((self.card(index), index) for index in range(len(model.cards)))

    def card(self, card: int) -> int | str:
        """Return a card's key, or its kind if cards of the kind are indistinguishable. Copies share a key."""
        row = self.model.cards[card]
        return row.key if row.key is not None else row.kind

    def alike(self, card: int) -> list[int]:
        """Return the cards of the same kind with the same public name."""
        kind = self.model.cards[card].kind
        return [other for other in self._cards[self.card(card)] if self.model.cards[other].kind == kind]

    def public(self, value: Value, type_: types.Type) -> Value:
        """Convert a value to its public form."""
        if value is None:
            return None
        match type_:
            case types.KindType():
                return self.model.members(type_.name)[value]
            case types.CardType():
                return self.card(value)
            case types.NodeType():
                return self._nodes[value]
            case types.BagType():
                return {name: n for name, n in zip(self.model.members(type_.name), value, strict=True) if n}
            case types.CollectionType():
                return [self.public(item, type_.of) for item in value]
            case types.PileType():
                return [self.card(card) for card in value]
            case types.PilesType():
                return [[self.card(card) for card in pile] for pile in value]
            case types.RecordType():
                fields = self.model.records[type_.name]
                return {n: self.public(v, t) for (n, t), v in zip(fields.items(), value, strict=True)}
            case types.PieceType():
                count = len(self.model.pieces)
                return {"piece": self.model.pieces[value % count], "owner": value // count}
            case types.PlaceType() if self.model.graph is not None:
                row = self.model.graph.places[value]
                return {self.model.graph.node: self._nodes[row.node], "place": row.number}
            case types.LinkType() if self.model.graph is not None:
                link = self.model.graph.links[value % len(self.model.graph.links)]
                ends = (link.a, link.b) if value < len(self.model.graph.links) else (link.b, link.a)
                return {"from": self._nodes[ends[0]], "to": self._nodes[ends[1]]}
            case types.RoomType():
                kinds = [self.public(kind, type_.of) for kind in value[0]]
                return {"kinds": kinds, "capacity": value[1]}
            case _:
                return value

    def text(self, value: Value, type_: types.Type) -> str:
        """Format a value for log lines."""
        if value is None:
            return self.word("none") or "none"
        match type_:
            case types.BoolType():
                return self.word(own := "yes" if value else "no") or own
            case types.SeatType():
                role = self._seats.get(value)
                text = self.word("seat", value) if role is None else self.word(f"role.{role}")
                return text or (role.replace("_", " ") if role else self.frame("player", n=value + 1))
            case types.BagType():
                kind = types.KindType(type_.name)
                parts = [f"{n} {self.text(member, kind)}" for member, n in enumerate(value) if n]
                return ", ".join(parts) or self.word("nothing") or "nothing"
            case types.CollectionType():
                texts = [self.text(item, type_.of) for item in value]
                text = PATH.join(texts) if isinstance(type_.of, types.NodeType) else self.listed(texts, type_.of)
                return text or self.word("empty") or self.word("nothing") or "nothing"
            case types.CardType():
                kind_of = self.model.cards[value].kind
                return self.word(f"card.{kind_of}", value) or str(self.card(value)).replace("_", " ")
            case types.KindType():
                member = self.model.members(type_.name)[value]
                return self.word(f"{type_.name}.{member}") or member.replace("_", " ")
            case types.NodeType():
                return self._nodes[value]
            case types.PileType():
                return self.listed([self.text(card, types.CardType()) for card in value], types.CardType())
            case types.RecordType():
                fields = self.model.records[type_.name]
                return ", ".join(f"{n} {self.text(v, t)}" for (n, t), v in zip(fields.items(), value, strict=True))
            case types.PlaceType() | types.PieceType():
                return " ".join(str(part) for part in self.public(value, type_).values())
            case types.LinkType():
                return PATH.join(self.public(value, type_).values())
            case _:
                return str(value)

    def named(self, public: object, type_: types.Type) -> str:
        """Format a public value like :meth:`text`."""
        is_same = public is None or isinstance(type_, types.TextType)
        return self.text(public if is_same else self.value(public, type_), type_)

    def listed(self, texts: Sequence[str], of: types.Type) -> str:
        """Join the texts of values of a type so that one sees where each ends."""
        between = separators(self.model, of)
        return next((each for each in between if not any(each in text for text in texts)), between[-1]).join(texts)

    def frame(self, name: str, /, **values: object) -> str:
        """Return a message of the program itself in the language of these names."""
        return frame(self.language, name, **values)

    def word(self, name: str, *values: Value) -> str:
        """Return the ruleset's word for a name; empty if there is none."""
        phrase = self.model.says.get(name, {}).get("en")
        return "".join(map(str, phrase.parts)) if phrase and all(isinstance(p, str) for p in phrase.parts) else ""

    def value(self, public: object, type_: types.Type) -> Value:
        """Convert a public value to an internal one. Raises ``ValueError`` with the reason if it is invalid."""
        if public is None:
            if type_.optional:
                return None
            raise ValueError(f"got nothing, want {self.model.word(type_)}")
        match type_:
            case types.IntType() | types.SeatType():
                if isinstance(public, bool) or not isinstance(public, int):
                    want = "a whole number" if isinstance(type_, types.IntType) else "the number of a seat, from 0"
                    raise ValueError(f"got {public!r}, want {want}")
                return public
            case types.BoolType():
                if not isinstance(public, bool):
                    raise ValueError(f"got {public!r}, want true or false")
                return public
            case types.KindType():
                return self._one_of(public, self.model.members(type_.name), type_)
            case types.CardType():
                return self._card(public, type_)
            case types.NodeType():
                return self._one_of(public, self._nodes, type_)
            case types.BagType():
                return self._bag(public, type_)
            case types.CollectionType():
                if not isinstance(public, list | tuple):
                    raise ValueError(f"got {public!r}, want a list")
                items = [self.value(item, type_.of) for item in public]
                return tuple(sorted(set(items))) if isinstance(type_, types.SetType) else tuple(items)
            case types.RecordType() if isinstance(public, dict):
                fields = self.model.records[type_.name]
                return tuple(self.value(public.get(name), of) for name, of in fields.items())
            case types.PlaceType() if isinstance(public, dict) and self.model.graph is not None:
                node = self._one_of(public.get(self.model.graph.node), self._nodes, types.NODE)
                for index, row in enumerate(self.model.graph.places):
                    if row.node == node and row.number == public.get("place"):
                        return index
                raise ValueError(f"there is no place {public!r}")
            case types.LinkType() if isinstance(public, dict) and self.model.graph is not None:
                start, end = (self._one_of(public.get(key), self._nodes, types.NODE) for key in ("from", "to"))
                for way in ways_of(self.model.graph):
                    if (way.start, way.end) == (start, end):
                        return way.value
                raise ValueError(f"there is no link {public!r}")
            case types.PileType() if isinstance(public, list | tuple):
                return tuple(self._card(card, types.CardType(type_.name)) for card in public)
            case _:
                raise ValueError(f"got {public!r}, want {self.model.word(type_)}")

    def _one_of(self, public: object, names: tuple[str, ...] | list[str], type_: types.Type) -> int:
        if isinstance(public, str) and (name := normalize("NFC", public)) in names:
            return names.index(name)
        from interpreter.base.suggest import did_you_mean

        hint = did_you_mean(public, names) if isinstance(public, str) else ""
        if not hint and (text := str(public)) in names:
            hint = f'; write "{text}" in quotes'
        known = f": {', '.join(names)}" if not hint and len(names) <= 12 else hint
        want = self.model.word(type_)
        raise ValueError(f"got {public!r}, want {'an' if want[0] in 'aeiou' else 'a'} {want}{known}")

    def _card(self, public: object, type_: types.CardType) -> int:
        if isinstance(public, str):
            public = normalize("NFC", public)
        cards = self._cards.get(public, []) if isinstance(public, int | str) and not isinstance(public, bool) else []
        fitting = [card for card in cards if type_.name in ("", self.model.cards[card].kind)]
        if not fitting:
            raise ValueError(f"got {public!r}, want a {type_.sure}")
        return fitting[0]

    def _bag(self, public: object, type_: types.BagType) -> Value:
        members = self.model.members(type_.name)
        if not isinstance(public, dict):
            raise ValueError(f"got {public!r}, want numbers by kind")
        for name, number in public.items():
            if name not in members:
                raise ValueError(f"{name!r} is no {type_.name}")
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise ValueError(f"got {number!r} {name}, want a whole number")
        return tuple(public.get(member, 0) for member in members)
