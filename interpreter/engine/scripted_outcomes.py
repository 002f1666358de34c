"""Scripted outcomes of chance: converts public names to internal values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interpreter.base.suggest import did_you_mean
from interpreter.engine.values import Names
from interpreter.kernel.chance import ChanceSource, Scripted
from interpreter.kernel.state import Value
from interpreter.language.types import CardType
from interpreter.lowering.lower import Program

__all__ = ["Outcomes", "scripted"]

Outcomes = Mapping[str, Sequence[object]]
"""For each named chance, the outcomes of its uses in order: an item, or for a shuffle the first items."""


def scripted(program: Program, names: Names, outcomes: Outcomes, then: ChanceSource | None) -> Scripted:
    """Convert outcomes by public names, according to the type that each chance shuffles or picks. Raises
    ``ValueError`` for unknown names and invalid outcomes."""
    types = program.reach.chances
    converted: dict[str, list[Value]] = {}
    texts: dict[tuple[str, object], str] = {}
    for name, entries in outcomes.items():
        if name not in types:
            raise ValueError(f"unknown chance `{name}`{did_you_mean(name, types)}")
        shuffle, type_ = types[name]
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            want = f"{'the first items in their order' if shuffle else 'what comes up'} for each use of it"
            raise ValueError(f"`{name}`: got {entries!r}, want a list with {want}, one after another")
        converted[name] = []
        for entry in entries:
            items = entry if shuffle else [entry]
            if not isinstance(items, list | tuple):
                raise ValueError(f"`{name}`: got {entry!r}, want the first items in their order")
            try:
                values = tuple(names.value(item, type_) for item in items)
            except ValueError as error:
                raise ValueError(f"`{name}`: {error}") from None
            texts |= {(name, value): repr(item) for value, item in zip(values, items, strict=True)}
            converted[name].append(values if shuffle else values[0])
    cards = {value for name, value in texts if isinstance(types[name][1], CardType) and isinstance(value, int)}
    alike: dict[object, Sequence[object]] = {card: names.alike(card) for card in cards}
    return Scripted(converted, then, texts, alike)
