"""Keys of translatable texts, and the keys that a language lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import (
    SEAT,
    BagType,
    CardType,
    KindType,
    ListType,
    PilesType,
    PileType,
    RecordType,
    RoomType,
    SetType,
    Type,
    ZoneType,
)

__all__ = ["TITLED", "asks_of", "sayable", "sayable_in", "unsaid"]

TITLED = ("rules", "tables", "triggers", "standing")
"""Sections whose declarations can have a heading for readers."""
_OWN_WORDS: dict[str, list[tuple[str, Type]]] = {
    "seat": [("who", SEAT)],
    "chooses": [("who", SEAT)],
    "none": [],
    "nothing": [],
    "empty": [],
    "yes": [],
    "no": [],
}
"""Texts of the program that a ruleset can override, with their variables."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def asks_of(model: Model) -> Iterator[core.Ask]:
    """Yield all decisions of a ruleset."""
    layers = (layer for rule in model.rules.values() for layer in rule.layers)
    for layer in chain(layers, model.blocks.values()):
        yield from layer.facts.asks


def sayable(
    model: Model, boards: Mapping[str, Iterable[str]], panels: Mapping[str, Iterable[str]]
) -> dict[str, list[tuple[str, Type]]]:
    """Return the keys of texts, each with the variables that its template can use. ``boards`` and ``panels`` map names
    to columns."""
    keys = dict(model.alternatives)
    keys |= {event.name: list(event.fields.items()) for event in model.events.values()}
    keys |= {name: [] for name in (*model.phases, "round", "game")}
    keys |= _OWN_WORDS
    keys |= {f"card.{kind}": [("card", CardType(kind))] for kind in model.card_kinds}
    keys[f"title.{model.id}"] = []
    for kind in (*model.kinds, "role", "phase"):
        keys |= {f"{kind}.{name}": [] for name in model.members(kind)}
    for ask in asks_of(model):
        keys[f"decision.{ask.name}"] = []
        keys |= {f"decision.{ask.name}.{name}": [] for name, _ in ask.context}
        keys[f"asks.{ask.name}"] = [("actor", SEAT), *((name, value.type) for name, value in ask.context)]
    for board, columns in boards.items():
        keys[f"boards.{board}"] = []
        keys |= {f"boards.{board}.{column}": [] for column in columns}
    for panel, columns in panels.items():
        keys[f"table.{panel}"] = []
        keys |= {f"table.{panel}.{column}": [] for column in columns}
    keys |= {f"result.{name}": [] for name in model.key_names if _NAME.fullmatch(name)}
    keys |= {f"{section}.{name}": [] for section in TITLED for name in getattr(model, section)}
    return keys


def sayable_in(model: Model) -> dict[str, list[tuple[str, Type]]]:
    """Return the keys of texts of a checked ruleset, as :func:`sayable` does."""
    boards = {board.name: [name for name, _ in board.columns] for board in model.boards}
    return sayable(model, boards, {panel.name: [name for name, _ in panel.columns] for panel in model.panels})


def unsaid(model: Model, language: str) -> list[str]:
    """Return the keys of shown texts that have no translation in a language."""
    shown = set(_shown(model))
    return [name for name in sayable_in(model) if name in shown and language not in _texts(model, name)]


def _texts(model: Model, name: str) -> Iterable[str]:
    event = model.events.get(name)
    return {*model.says.get(name, {}), *(event.says if event is not None else ())}


def _shown(model: Model) -> Iterator[str]:
    """Yield the keys of texts that a game can show. An empty text hides a key."""
    yield from ("seat", "none", "nothing", "empty", "yes", "no", f"title.{model.id}")
    yield from (f"result.{name}" for name in model.key_names)
    for name in model.alternatives:
        if model.says.get(name) is None or any(phrase.parts for phrase in model.says[name].values()):
            yield name
    yield from (name for name, event in model.events.items() if any(phrase.parts for phrase in event.says.values()))
    yield from (name for name in model.says if "." not in name)
    for ask in asks_of(model):
        yield f"decision.{ask.name}"
        yield from (f"decision.{ask.name}.{name}" for name, _ in ask.context)
        if f"asks.{ask.name}" in model.says:
            yield f"asks.{ask.name}"
        if ask.sealed:
            yield "chooses"
    for panel in model.panels:
        if f"table.{panel.name}" in model.says:
            yield f"table.{panel.name}"
        yield from (f"table.{panel.name}.{name}" for name, _ in panel.columns)
    for board in model.boards:
        if any(phrase.parts for phrase in board.says.values()):
            yield f"boards.{board.name}"
        yield from (f"boards.{board.name}.{name}" for name, _ in board.columns)
    yield from (f"role.{role.name}" for role in model.roles.values() if role.seats == 1)
    for type_ in dict.fromkeys(_types(model)):
        if isinstance(type_, KindType):
            yield from (f"{type_.name}.{member}" for member in model.members(type_.name))
        if isinstance(type_, CardType | PileType):
            kinds = [type_.name] if type_.name else list(model.card_kinds)
            loose = (kind for kind in kinds if model.card_kinds[kind].key is None or f"card.{kind}" in model.says)
            yield from (f"card.{kind}" for kind in loose)


def _types(model: Model) -> Iterator[Type]:
    """Yield the types of all shown values, and the types that they are made of."""
    phrases = [*model.says.values(), *(e.says for e in model.events.values()), *(b.says for b in model.boards)]
    parts = [
        part for texts in phrases for phrase in texts.values() for part in phrase.parts if not isinstance(part, str)
    ]
    values = [*parts, *(value for board in model.boards for _, value in board.columns)]
    contexts = (value for ask in asks_of(model) for _, value in ask.context)
    front = [*(value.type for value in (*values, *contexts))]
    seen: set[Type] = set()
    while front:
        type_ = front.pop()
        if type_ in seen:
            continue
        seen.add(type_)
        yield type_.sure
        match type_:
            case ListType(of=of) | SetType(of=of) | RoomType(of=of):
                front.append(of)
            case BagType(name=name):
                front.append(KindType(name))
            case ZoneType(name=name) | PilesType(name=name):
                front.append(CardType(name))
            case RecordType(name=name):
                front.extend(model.records[name].values())
            case _:
                pass
