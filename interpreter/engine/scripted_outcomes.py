"""Outcomes of chance that are given by public names, as the game holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interpreter.engine.rules import Rules
from interpreter.kernel.chance import ChanceSource, Scripted
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.types import CardType, Type, item_type
from interpreter.language.walk import descendants

__all__ = ["Outcomes", "chance_types", "scripted"]

Outcomes = Mapping[str, Sequence[object]]
"""For each named chance what comes of its uses, one after another: an item, or the first ones of what is shuffled."""


def scripted(rules: Rules, outcomes: Outcomes, then: ChanceSource | None) -> Scripted:
    """Outcomes by public names as the game holds them, by the type of what each chance shuffles or picks."""
    types = chance_types(rules)
    found: dict[str, list[Value]] = {}
    said: dict[tuple[str, object], str] = {}
    for name, entries in outcomes.items():
        if name not in types:
            from interpreter.base.suggest import did_you_mean

            raise ValueError(f"unknown chance `{name}`{did_you_mean(name, types)}")
        shuffle, type_ = types[name]
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            want = "the first items in their order" if shuffle else "what comes up"
            raise ValueError(
                f"`{name}`: got {entries!r}, want a list with {want} for each use of it, one after another"
            )
        values: list[Value] = []
        for entry in entries:
            items: Sequence[object] = [entry]
            if shuffle:
                if not isinstance(entry, list | tuple):
                    raise ValueError(f"`{name}`: got {entry!r}, want the first items in their order")
                items = entry
            try:
                held = tuple(rules.names.value(item, type_) for item in items)
            except ValueError as error:
                raise ValueError(f"`{name}`: {error}") from None
            said |= {(name, value): repr(item) for value, item in zip(held, items, strict=True)}
            values.append(held if shuffle else held[0])
        found[name] = values
    cards = {value for name, value in said if isinstance(types[name][1], CardType) and isinstance(value, int)}
    alike: dict[object, Sequence[object]] = {card: rules.names.alike(card) for card in cards}
    return Scripted(found, then, said, alike)


def chance_types(rules: Rules) -> dict[str, tuple[bool, Type]]:
    """Each named chance: whether it shuffles (else it picks), and the type of an item."""
    found: dict[str, tuple[bool, Type]] = {}
    for layer in rules.program.reach.procedures.values():
        for node in descendants(layer.body):
            if not isinstance(node, core.Shuffles | core.Picks):
                continue
            drawn = node.zone if isinstance(node, core.Shuffles) else node.items
            if (of := item_type(drawn.type)) is not None:
                found[node.chance] = (isinstance(node, core.Shuffles), of)
    return found
