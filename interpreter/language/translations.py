"""Keys of translatable texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import (
    SEAT,
    CardType,
    Type,
)

__all__ = ["TITLED", "asks_of", "sayable", "sayable_in"]

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
