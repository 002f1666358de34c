"""Choosing by pointing: things that the user picks fill the slots of alternatives one after another.

From a decision, its options and an :class:`Unfinished` choice, :class:`Pointing` derives the slots with their
possible values, and finally the chosen option. The module does not depend on how things are displayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from msgspec import Struct

from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, Reason
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.types import (
    NODE,
    SEAT,
    AnyType,
    BagType,
    CardType,
    CollectionType,
    IntType,
    KindType,
    NodeType,
    SeatType,
    TextType,
    Type,
    item_type,
    name_of,
)
from interpreter.play.game_records import Choice

__all__ = ["CARD", "THINGS", "Pointing", "Slot", "Thing", "Unfinished"]

THINGS: tuple[type[AnyType], ...] = (CardType, NodeType, SeatType, KindType)
"""Types of values that one can point at."""
CARD = CardType()
_NAMED = {each.word: each for each in (CardType, KindType)}
_UNNAMED: dict[str, Type] = {each.word: each for each in (NODE, SEAT)}


class Thing(Struct, frozen=True):
    """A thing to point at: the number of a card, a node, a seat, or a member of a kind."""

    type: Type
    value: int

    def __str__(self) -> str:
        return f"{self.type.word}:{name_of(self.type)}:{self.value}"

    @classmethod
    def of(cls, type_: Type, value: int) -> Thing:
        """Return the thing that a value of this type stands for. A card is the same in every type of cards."""
        return cls(CARD if isinstance(type_, CardType) else type_.sure, value)

    @classmethod
    def read(cls, text: str) -> Thing:
        """Parse the text form. Raises ``ValueError`` or ``KeyError`` if it is invalid."""
        form, name, value = text.split(":")
        return cls(_UNNAMED.get(form) or _NAMED[form](name), int(value))


@dataclass
class Unfinished:
    """An unfinished choice: the number of an alternative, and the picked values by slot number, in order."""

    option: int | None = None
    picks: dict[int, Value] = field(default_factory=dict)
    mistyped: tuple[int, Value] | None = None
    """A slot with a number that was typed and is not possible: until it is mended, nothing can be chosen."""
    begun: tuple[int, int, tuple[Value, ...]] | None = None
    """The alternative and slot of a list that is not complete, and its items so far."""

    def clear(self) -> None:
        self.option, self.picks, self.mistyped, self.begun = None, {}, None, None


class Slot(Struct, frozen=True):
    """A slot of the picked alternative, with its value, the values possible beside those of the other slots, and the
    things in it, also where these are only a part of a list."""

    number: int
    name: str
    type: Type
    value: Value
    filled: bool
    domain: tuple[Value, ...]
    things: tuple[Thing, ...]


class Pointing:
    """A decision of a game with its unfinished choice."""

    def __init__(self, game: Game, decision: Decision, codes: Sequence[Code], unfinished: Unfinished) -> None:
        self.game, self.decision, self.codes, self.unfinished = game, decision, codes, unfinished

    # --- possible picks

    def offered(self) -> list[int]:
        """Return the numbers of the alternatives that have options."""
        return sorted({number for number, _ in self.codes})

    def choices(self, option: int | None) -> tuple[core.Choice, ...]:
        """Return the choices of an alternative, one for each slot."""
        return () if option is None else self.decision.site.options[option].core.choices

    def _slots_of_all(self) -> Iterator[tuple[int, int, core.Choice]]:
        """Yield the slots of all alternatives that have options, first of the picked one: alternative, slot, choice."""
        for option in sorted(self.offered(), key=lambda option: option != self.unfinished.option):
            for number, choice in enumerate(self.choices(option)):
                yield option, number, choice

    def _possible(self, option: int | None, number: int, values: dict[int, Value]) -> dict[Value, None]:
        """Return the values of a slot in the options with these values in other slots, in order."""
        return dict.fromkeys(given[number] for given in self._fitting(option, values))

    def _fitting(self, option: int | None, values: dict[int, Value]) -> list[tuple[Value, ...]]:
        pairs = list(values.items())
        given = (combination for number, combination in self.codes if number == option)
        return [each for each in given if all(each[at] == value for at, value in pairs)]

    def slots(self) -> list[Slot]:
        """Return the slots of the picked alternative; an empty list if none is picked."""
        option, values, slots = self.unfinished.option, self.values, []
        for number, choice in enumerate(self.choices(option)):
            domain = tuple(self._possible(option, number, _before(number, self.unfinished.picks)))
            of, value = _thing_type(choice.type), values.get(number)
            items = value if of is not choice.type and value is not None else self._begun(option, number) or (value,)
            things = tuple(Thing.of(of, item) for item in items if item is not None) if of is not None else ()
            slots.append(Slot(number, choice.name, choice.type, value, number in values, domain, things))
        return slots

    def slot(self, number: int) -> Slot | None:
        return next((slot for slot in self.slots() if slot.number == number), None)

    @property
    def values(self) -> dict[int, Value]:
        """The values of slots: those picked, then those of slots with only one possible value, then defaults of
        remaining numbers and tokens."""
        option, choices = self.unfinished.option, self.choices(self.unfinished.option)
        values = dict(self.unfinished.picks)
        open_ = [number for number in range(len(choices)) if number not in values]
        fitting = self._fitting(option, values)
        for number in open_:
            candidates = {given[number] for given in fitting}
            if len(candidates) == 1:
                values[number] = candidates.pop()
        for number in open_:
            rest = [choices[at].type for at in open_ if at not in values]
            if number in values or not all(isinstance(each, IntType | BagType) for each in rest):
                continue
            left = list(self._possible(option, number, values))
            if left:
                values[number] = min(left) if isinstance(choices[number].type, IntType) else left[0]
        return values

    def ready(self) -> Code | None:
        """Return the option if all slots are filled and it is legal."""
        option, values = self.unfinished.option, self.values
        if option is None or self.unfinished.mistyped is not None or len(values) < len(self.choices(option)):
            return None
        code = option, tuple(values[at] for at in range(len(values)))
        return code if code in set(self.codes) else None

    def can(self) -> set[Thing]:
        """Return the things that can fill a slot of any alternative, given the picks so far."""
        things: set[Thing] = set()
        for option, number, choice in self._slots_of_all():
            if (of := _thing_type(choice.type)) is not None:
                lists = self._lists(option, number, choice)
                things.update(Thing.of(of, value) for values in lists for value in values if value is not None)
        return things

    def _lists(self, option: int, number: int, choice: core.Choice) -> list[tuple[Value, ...]]:
        """Return the possible values of a slot for things, those for a single one as lists."""
        before = _before(number, self.unfinished.picks) if option == self.unfinished.option else {}
        values = self._possible(option, number, before)
        return [(value,) if isinstance(choice.type, THINGS) else value or () for value in values]

    def _begun(self, option: int | None, number: int) -> tuple[Value, ...]:
        """Return the items that somebody has pointed at for a slot that takes a list."""
        begun = self.unfinished.begun
        return begun[2] if begun is not None and begun[:2] == (option, number) else ()

    def attributes(self) -> list[tuple[int, int, str]]:
        """Return the slots named like an attribute of cards, which a card can fill: alternative, slot, name."""
        kinds = self.game.ruleset.model.card_kinds.values()
        return [
            (option, number, choice.name)
            for option, number, choice in self._slots_of_all()
            if _may_stand_for_cards(choice) and any(choice.name in kind.attributes for kind in kinds)
        ]

    # --- picking

    def pick_option(self, option: int) -> None:
        """Pick an alternative. Picks for slots of the same name and type are kept if possible."""
        if option not in self.offered():
            return
        before = self.choices(self.unfinished.option)
        kept = {(before[at].name, before[at].type): value for at, value in self.unfinished.picks.items()}
        self.unfinished.option, self.unfinished.picks, self.unfinished.mistyped = option, {}, None
        for number, choice in enumerate(self.choices(option)):
            if (choice.name, choice.type) in kept:
                self.pick(number, kept[choice.name, choice.type])

    def pick(self, number: int, value: Value, other: int | None = None) -> bool:
        """Pick a value for a slot, of the picked alternative or of another one, and drop later picks that are
        incompatible. Return False, and change nothing, if the value is not possible."""
        option, picked = self.unfinished.option, self.unfinished.picks
        if other is not None and other != option:
            option, picked = other, {}
        picks = {**_before(number, picked), number: value}
        if not self._fitting(option, picks):
            return False
        for at in picked:
            if at not in picks and self._fitting(option, {**picks, at: picked[at]}):
                picks[at] = picked[at]
        self.unfinished.option, self.unfinished.picks, self.unfinished.mistyped = option, picks, None
        return True

    def keeps(self, was: Unfinished) -> bool:
        """Return whether the first pick, and all others but amounts, are still what they were."""
        now, first = self.unfinished, next(iter(was.picks), None)
        types = [choice.type for choice in self.choices(was.option)]
        first = None if first is not None and isinstance(types[first], CollectionType) else first
        stay = (n for n in was.picks if n == first or not isinstance(types[n], IntType | BagType | CollectionType))
        return now.option == was.option and all(now.picks.get(n) == was.picks[n] for n in stay)

    def point(self, thing: Thing) -> bool:
        """Fill the slot that accepts a thing. Pointing at a picked kind again raises the number beside it. Return False
        if no slot accepts the thing."""
        return (isinstance(thing.type, KindType) and self._again(thing)) or any(
            self._put(thing, option, number, choice)
            if isinstance(choice.type, CollectionType)
            else any(self.pick(number, value, option) for value in self._meant(thing, choice))
            for option, number, choice in self._slots_of_all()
        )

    def _put(self, thing: Thing, option: int, number: int, choice: core.Choice) -> bool:
        """Put a thing into the list of a slot, or take it out again. What was put first gives way to it. Return False
        if no possible list has it."""
        of, lists, value = _thing_type(choice.type), self._lists(option, number, choice), thing.value
        if of is None or Thing.of(of, value) != thing or not any(value in each for each in lists):
            return False
        is_here = option == self.unfinished.option
        now = (self.unfinished.picks.get(number) if is_here else None) or self._begun(option, number)
        items = tuple(each for each in now if each != value) if value in now else (*now, value)
        while not any(set(items) <= set(each) for each in lists):
            items = items[1:]
        same = [each for each in lists if sorted(each) == sorted(items)]
        if not same or not self.pick(number, items if items in same else same[0], option):
            self.unfinished.picks = {at: pick for at, pick in self.unfinished.picks.items() if is_here and at != number}
        self.unfinished.option, self.unfinished.begun = option, (option, number, items)
        return True

    def _again(self, thing: Thing) -> bool:
        """Raise the number or the tokens beside a picked kind by one. Return False if this is not possible."""
        slots = self.slots()
        for slot in slots:
            if isinstance(slot.type, BagType) and slot.type.name == name_of(thing.type) and slot.filled:
                return self.more(slot.number, thing.value)
        if not any(Thing.of(slot.type, slot.value) == thing for slot in slots):
            return False
        for slot in slots:
            if isinstance(slot.type, IntType) and slot.filled and slot.value is not None:
                more = [value for value in slot.domain if value > slot.value]
                return bool(more) and self.pick(slot.number, min(more))
        return False

    def more(self, number: int, member: int) -> bool:
        """Add a token of a kind in a slot, replacing others if necessary. After the maximum comes the minimum."""
        slot = self.slot(number)
        if slot is None or not isinstance(slot.type, BagType) or not slot.domain:
            return False
        now = slot.value or (0,) * len(slot.domain[0])
        counts = sorted({bag[member] for bag in slot.domain})
        target = next((count for count in counts if count > now[member]), counts[0])
        near = min(
            (bag for bag in slot.domain if bag[member] == target),
            key=lambda bag: sum(abs(a - b) for a, b in zip(bag, now, strict=True)),
        )
        return self.pick(number, near)

    def _meant(self, thing: Thing, choice: core.Choice) -> list[Value]:
        """Return the values that a thing can stand for in a slot: itself, an equal card, or one of its attributes."""
        meant = Thing.of(choice.type, thing.value)
        if thing == meant:
            alike = self.game.ruleset.names.alike(thing.value) if thing.type == CARD else ()
            return [thing.value, *(each for each in alike if each != thing.value)]
        if not _may_stand_for_cards(choice) or thing.type != CARD:
            return []
        values = self.game.ruleset.model.cards[thing.value].values
        return [values[choice.name]] if choice.name in values else []

    def refusal(self, thing: Thing, language: str) -> list[Reason]:
        """Return the rules' reasons why no slot accepts a thing."""
        reasons: list[Reason] = []
        for option, site in enumerate(self.decision.site.options):
            for number, choice in enumerate(site.core.choices):
                for value in self._meant(thing, choice)[:1]:
                    values = self._nearest(option, number, value)
                    if values is not None:
                        reasons += self._refused(option, values, language)
        return reasons

    def _nearest(self, option: int, number: int, value: Value) -> dict[int, Value] | None:
        """Return the values of a legal option with the picks and one value replaced. None if there is no legal
        option to start from."""
        fitting = [given for at, given in self.codes if at == option]
        if not fitting and len(self.choices(option)) > 1:
            return None
        values = dict(enumerate(fitting[0])) if fitting else {}
        if option == self.unfinished.option:
            values |= self.values
        return {**values, number: value}

    def _refused(self, option: int, values: dict[int, Value], language: str) -> list[Reason]:
        names, site = self.game.ruleset.names, self.decision.site.options[option]
        choice: Choice = {"do": site.name}
        for number, each in enumerate(site.core.choices):
            choice[each.name] = names.public(values[number], each.type)
        try:
            with self.game._turned_to(self.decision.actor):
                self.game.offered(choice, language)
        except IllegalMove as error:
            return error.reasons
        return []


def _may_stand_for_cards(choice: core.Choice) -> bool:
    """Return whether the values of a slot may be attributes of cards. A number within bounds is an amount."""
    return isinstance(choice.type, IntType | KindType | TextType) and not isinstance(choice.items, core.RangeFrom)


def _thing_type(type_: Type) -> Type | None:
    """Return the type of the things that fill a slot, alone or as a list; None if nobody can point at them."""
    of = item_type(type_) if isinstance(type_, CollectionType) else type_
    return of if isinstance(of, THINGS) else None


def _before(number: int, picks: dict[int, Value]) -> dict[int, Value]:
    """Return the values picked before that of a slot; they stay when it is picked again."""
    return dict(takewhile(lambda pick: pick[0] != number, picks.items()))
