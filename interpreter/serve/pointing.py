"""Choosing by pointing: things that the user picks fill the slots of alternatives one after another.

From a decision, its options and a :class:`Draft` of the picks so far, :class:`Pointing` derives the slots with their
possible values, and finally the chosen option. The module does not depend on how things are displayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, Reason
from interpreter.kernel.state import Value
from interpreter.language.types import Type, name_of
from interpreter.play.game_records import Choice

__all__ = ["Draft", "Pointing", "Slot", "Thing"]


class Thing(Struct, frozen=True):
    """A thing to point at: the number of a card, node, seat, or member of the kind ``name``."""

    form: str
    value: int
    name: str = ""

    def __str__(self) -> str:
        return f"{self.form}:{self.name}:{self.value}"

    @property
    def family(self) -> tuple[str, str]:
        return self.form, self.name

    @classmethod
    def of(cls, type_: Type, value: int) -> Thing:
        """Return the thing that a value of this type stands for."""
        sure = type_.sure
        return cls(sure.word, value, name_of(sure) if sure.word == "kind" else "")

    @classmethod
    def read(cls, text: str) -> Thing:
        """Parse the text form. Raises ``ValueError`` if it is invalid."""
        form, name, value = text.split(":")
        return cls(form, int(value), name)


@dataclass
class Draft:
    """An unfinished choice: the number of an alternative, and values by slot number. ``set_`` lists the slots that the
    user picked, in order; the other values follow from them."""

    option: int | None = None
    values: dict[int, Value] = field(default_factory=dict)
    set_: list[int] = field(default_factory=list)

    def clear(self) -> None:
        self.option, self.values, self.set_ = None, {}, []


class Slot(Struct, frozen=True):
    """A slot of the picked alternative, with its value and the values possible beside those of the other slots."""

    number: int
    name: str
    type: Type
    value: Value
    filled: bool
    domain: tuple[Value, ...]


class Pointing:
    """A decision of a game with a draft of its choice."""

    def __init__(self, game: Game, decision: Decision, codes: Sequence[Code], draft: Draft) -> None:
        self.game, self.decision, self.codes, self.draft = game, decision, codes, draft
        self.sites = decision.site.options

    # --- possible picks

    def offered(self) -> list[int]:
        """Return the numbers of the alternatives that have options."""
        return sorted({number for number, _ in self.codes})

    def _fitting(self, option: int, values: dict[int, Value]) -> list[tuple[Value, ...]]:
        pairs = list(values.items())
        return [
            combination
            for number, combination in self.codes
            if number == option and all(combination[at] == value for at, value in pairs)
        ]

    def slots(self) -> list[Slot]:
        """Return the slots of the picked alternative; an empty list if none is picked."""
        option = self.draft.option
        if option is None:
            return []
        slots = []
        for number, choice in enumerate(self.sites[option].core.choices):
            before = {at: self.draft.values[at] for at in self._before(number)}
            domain = dict.fromkeys(given[number] for given in self._fitting(option, before))
            filled = number in self.draft.values
            value = self.draft.values.get(number)
            slots.append(Slot(number, choice.name, choice.type, value, filled, tuple(domain)))
        return slots

    def _before(self, number: int) -> Iterable[int]:
        """Return the slots picked before a slot; they keep their values when it is picked again."""
        order = self.draft.set_
        if number in order:
            return order[: order.index(number)]
        return order

    def ready(self) -> Code | None:
        """Return the option if all slots are filled and it is legal."""
        option = self.draft.option
        if option is None or len(self.draft.values) < len(self.sites[option].core.choices):
            return None
        code = option, tuple(self.draft.values[at] for at in range(len(self.draft.values)))
        return code if code in set(self.codes) else None

    def can(self) -> set[Thing]:
        """Return the things that can fill a slot of any alternative, given the picks so far."""
        options = [self.draft.option] if self.draft.option is not None else self.offered()
        things: set[Thing] = set()
        for option in [*options, *(each for each in self.offered() if each not in options)]:
            chosen = self.draft.values if option == self.draft.option else {}
            for number, choice in enumerate(self.sites[option].core.choices):
                if choice.type.sure.word not in ("card", "node", "seat", "kind"):
                    continue
                kept = {at: chosen[at] for at in self._before(number) if at in chosen and at != number}
                values = {given[number] for given in self._fitting(option, kept)}
                things.update(Thing.of(choice.type, value) for value in values if value is not None)
        return things

    def attributes(self) -> list[tuple[int, int, str]]:
        """Return the slots named like an attribute of cards, which a card can fill: alternative, slot, name."""
        return [
            (option, number, choice.name)
            for option in self.offered()
            for number, choice in enumerate(self.sites[option].core.choices)
            if choice.type.sure.word in ("int", "kind", "text")
            and any(choice.name in kind.attributes for kind in self.game.ruleset.model.card_kinds.values())
        ]

    # --- picking

    def pick_option(self, option: int) -> None:
        """Pick an alternative. Picks for slots of the same name and type are kept if possible."""
        if option not in self.offered():
            return
        kept = {}
        if self.draft.option is not None:
            before = self.sites[self.draft.option].core.choices
            kept = {(before[at].name, before[at].type): self.draft.values[at] for at in self.draft.set_}
        self.draft.clear()
        self.draft.option = option
        self._follow()
        for number, choice in enumerate(self.sites[option].core.choices):
            if (choice.name, choice.type) in kept:
                self.pick(number, kept[choice.name, choice.type])

    def pick(self, number: int, value: Value) -> bool:
        """Pick a value for a slot and drop later picks that are incompatible. Return False if the value is not
        possible."""
        option = self.draft.option
        if option is None:
            return False
        kept = [at for at in self._before(number) if at in self.draft.values]
        values = {at: self.draft.values[at] for at in kept}
        if not self._fitting(option, {**values, number: value}):
            return False
        later = [at for at in self.draft.set_ if at not in kept and at != number]
        values[number] = value
        order = [*kept, number]
        for at in later:
            if self._fitting(option, {**values, at: self.draft.values[at]}):
                values[at] = self.draft.values[at]
                order.append(at)
        self.draft.values, self.draft.set_ = values, order
        self._follow()
        return True

    def _follow(self) -> None:
        """Fill slots that have only one possible value, then remaining numbers and tokens with defaults."""
        option = self.draft.option
        if option is None:
            return
        choices = self.sites[option].core.choices
        values = {at: self.draft.values[at] for at in self.draft.set_}
        fitting = self._fitting(option, values)
        open_ = [number for number in range(len(choices)) if number not in values]
        for number in open_:
            candidates = {given[number] for given in fitting}
            if len(candidates) == 1:
                values[number] = next(iter(candidates))
        for number in open_:
            rest = [at for at in open_ if at not in values]
            if number in values or any(choices[at].type.word not in ("int", "bag") for at in rest):
                continue
            left = [given[number] for given in self._fitting(option, values)]
            if left:
                values[number] = min(left) if choices[number].type.word == "int" else left[0]
        self.draft.values = values

    def point(self, thing: Thing, prefer: str = "") -> bool:
        """Fill the slot that accepts a thing. Pointing at a picked kind again raises the number beside it. Return False
        if no slot accepts the thing."""
        options = self.offered()
        order = [each for each in (self.draft.option,) if each in options]
        order += [each for each in options if each not in order]
        if thing.form == "kind" and self._again(thing):
            return True
        for option in order:
            for number, choice in enumerate(self.sites[option].core.choices):
                for value in self._meant(thing, choice.type, choice.name):
                    before = self.draft.option, dict(self.draft.values), list(self.draft.set_)
                    if option != self.draft.option:
                        self.draft.clear()
                        self.draft.option = option
                    if self.pick(number, value):
                        return True
                    self.draft.option, self.draft.values, self.draft.set_ = before
        return False

    def _again(self, thing: Thing) -> bool:
        """Raise the number or the tokens beside a picked kind by one. Return False if this is not possible."""
        for slot in self.slots():
            if slot.type.word == "bag" and name_of(slot.type) == thing.name and slot.filled:
                return self.more(slot.number, thing.value)
        slots = self.slots()
        if not any(
            s.type.sure.word == "kind" and s.value == thing.value and name_of(s.type) == thing.name for s in slots
        ):
            return False
        for slot in slots:
            if slot.type.word == "int" and slot.filled and slot.value is not None:
                more = [value for value in slot.domain if value > slot.value]
                return bool(more) and self.pick(slot.number, min(more))
        return False

    def more(self, number: int, member: int) -> bool:
        """Add a token of a kind in a slot, replacing others if necessary. After the maximum comes the minimum."""
        slot = next((each for each in self.slots() if each.number == number), None)
        if slot is None or slot.type.word != "bag" or not slot.domain:
            return False
        now = slot.value or tuple(0 for _ in slot.domain[0])
        counts = sorted({bag[member] for bag in slot.domain})
        target = next((count for count in counts if count > now[member]), counts[0])
        near = min(
            (bag for bag in slot.domain if bag[member] == target),
            key=lambda bag: sum(abs(a - b) for a, b in zip(bag, now, strict=True)),
        )
        return self.pick(number, near)

    def _meant(self, thing: Thing, type_: Type, name: str) -> list[Value]:
        """Return the values that a thing can stand for in a slot: itself, an equal card, or one of its attributes."""
        sure, model = type_.sure, self.game.ruleset.model
        if thing.form == sure.word == "kind":
            return [thing.value] if thing.name == name_of(sure) else []
        if thing.form == sure.word == "card":
            return [thing.value, *(each for each in self.game.ruleset.names.alike(thing.value) if each != thing.value)]
        if thing.form == sure.word:
            return [thing.value]
        if thing.form == "card" and name in (values := model.cards[thing.value].values):
            return [values[name]]
        return []

    def refusal(self, thing: Thing) -> list[Reason]:
        """Return the rules' reasons why no slot accepts a thing."""
        reasons: list[Reason] = []
        for option, site in enumerate(self.sites):
            for number, choice in enumerate(site.core.choices):
                for value in self._meant(thing, choice.type, choice.name)[:1]:
                    values = self._nearest(option, number, value)
                    if values is not None:
                        reasons += self._refused(option, values)
        return reasons

    def _nearest(self, option: int, number: int, value: Value) -> dict[int, Value] | None:
        """Return the values of a legal option with the picks and one value replaced. None if there is no legal
        option to start from."""
        fitting = [given for at, given in self.codes if at == option]
        choices = self.sites[option].core.choices
        if not fitting and len(choices) > 1:
            return None
        values = dict(enumerate(fitting[0])) if fitting else {}
        if option == self.draft.option:
            values |= self.draft.values
        return {**values, number: value}

    def _refused(self, option: int, values: dict[int, Value]) -> list[Reason]:
        names, site = self.game.ruleset.names, self.sites[option]
        choice: Choice = {"do": site.name}
        for number, each in enumerate(site.core.choices):
            choice[each.name] = names.public(values[number], each.type)
        try:
            with self.game._turned_to(self.decision.actor):
                self.game.offered(choice)
        except IllegalMove as error:
            return error.reasons
        return []
