"""Scripted outcomes of chance: converts public names to internal values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from interpreter.base.suggest import did_you_mean
from interpreter.engine.values import Names
from interpreter.kernel.chance import ChanceSource, Scripted
from interpreter.kernel.state import Value
from interpreter.language.types import CardType, CollectionType, Type
from interpreter.lowering.lower import Program

__all__ = ["Outcomes", "WrongOutcome", "scripted"]

Outcomes = Mapping[str, Sequence[object]]
"""For each named chance its outcomes in order. Those of one use may stand in a list, and must if a shuffle has
several."""


class WrongOutcome(ValueError):
    """Raised for outcomes that do not suit their chance; ``counter`` is the number of the outcome, -1 for all."""

    def __init__(self, message: str, counter: int, shuffles: bool) -> None:
        super().__init__(message)
        self.counter, self.shuffles = counter, shuffles


def scripted(program: Program, names: Names, outcomes: Outcomes, then: ChanceSource | None) -> Scripted:
    """Convert outcomes by public names, according to the type that each chance shuffles or picks. Raises
    ``ValueError`` for unknown names and invalid outcomes."""
    types = program.reach.chances
    converted: dict[str, list[Value]] = {}
    texts: dict[tuple[str, object], str] = {}
    for name, entries in outcomes.items():
        if name not in types:
            raise ValueError(f"unknown chance `{name}`{did_you_mean(name, types)}")
        shuffles, type_ = types[name]
        converted[name] = []
        for number, items in enumerate(_in_uses(name, entries, shuffles, type_)):
            try:
                values = tuple(names.value(item, type_) for item in items)
            except ValueError as error:
                raise WrongOutcome(f"`{name}`: {error}", number, shuffles) from None
            texts |= {(name, value): repr(item) for value, item in zip(values, items, strict=True)}
            converted[name].append(values if shuffles else values[0])
    cards = {value for name, value in texts if isinstance(types[name][1], CardType) and isinstance(value, int)}
    alike: dict[object, Sequence[object]] = {card: names.alike(card) for card in cards}
    return Scripted(converted, then, texts, alike)


def _in_uses(name: str, entries: object, shuffles: bool, type_: Type) -> list[tuple[object, ...]]:
    """Return the first items of each shuffle, or each item that comes up alone. Raises :class:`WrongOutcome`."""
    want = "the first items of a shuffle, `[a, b]`, or such a list for each" if shuffles else "what comes up, `[a, b]`"
    if not isinstance(entries, list | tuple):
        raise WrongOutcome(f"`{name}`: got {entries!r}, want a list with {want}", -1, shuffles)
    uses = [tuple(entry) for entry in entries if isinstance(entry, list | tuple)]
    if uses and isinstance(type_, CollectionType) and not shuffles:
        return [(entry,) for entry in entries]
    if uses and len(uses) < len(entries):
        other = "" if shuffles else ", or such a list for each use"
        raise WrongOutcome(f"`{name}`: got items and lists, want a list with {want}{other}", -1, shuffles)
    if shuffles:
        return uses or [tuple(entries)] * bool(entries)
    return [(item,) for item in (chain.from_iterable(uses) if uses else entries)]
