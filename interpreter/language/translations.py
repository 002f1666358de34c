"""Keys of translatable texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import SEAT, CardType, Type

__all__ = ["TITLED", "asks_of", "sayable", "sayable_in"]

TITLED = ("rules", "tables", "triggers", "standing")
"""Sections whose declarations can have a heading for readers."""
_OWN_WORDS: dict[str, list[tuple[str, Type]]] = {
    "seat": [("who", SEAT)],
    "chooses": [("who", SEAT)],
    **{word: [] for word in ("none", "nothing", "empty", "yes", "no")},
}
"""Texts of the program that a ruleset can override, with their variables."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def asks_of(model: Model) -> Iterator[core.Ask]:
    """Yield all decisions of a ruleset."""
    layers = (layer for rule in model.rules.values() for layer in rule.layers)
    for layer in chain(layers, model.blocks.values()):
        yield from layer.facts.asks


def sayable(
    model: Model, boards: Mapping[str, Iterable[str]], panels: Mapping[str, Iterable[str]], measures: Iterable[str]
) -> dict[str, list[tuple[str, Type]]]:
    """Return the keys of texts, each with the variables that its template can use. ``boards`` and ``panels`` map names
    to columns; ``measures`` are names."""
    keys = dict(model.alternatives)
    keys |= {event.name: list(event.fields.items()) for event in model.events.values()}
    keys |= {name: [] for name in (*model.members("phase"), "round", "game")}
    keys |= _OWN_WORDS
    for kind in model.card_kinds:
        keys[f"card.{kind}"] = [("card", CardType(kind))]
        keys |= {f"faces.{kind}.{part}": [(kind, CardType(kind))] for part in ("title", "left", "right", "note")}
    keys[f"title.{model.id}"] = []
    keys |= {f"settings.{name}{part}": [] for name in model.settings for part in ("", ".about")}
    for kind in (*model.kinds, "role", "phase"):
        keys |= {f"{kind}.{name}": [] for name in model.members(kind)}
    for ask in asks_of(model):
        keys[f"decision.{ask.name}"] = []
        keys |= {f"decision.{ask.name}.{name}": [] for name, _ in ask.context}
        for option in ask.options:
            terms = [f"button.{{}}{option.name}", *(f"slot.{{}}{choice.name}" for choice in option.choices)]
            keys |= {term.format(of): [] for term in terms for of in ("", f"{ask.name}.")}
        keys[f"asks.{ask.name}"] = [("actor", SEAT), *((name, value.type) for name, value in ask.context)]
    for section, shown in (("boards", boards), ("table", panels)):
        for name, columns in shown.items():
            keys |= {f"{section}.{part}": [] for part in (name, *(f"{name}.{column}" for column in columns))}
    keys |= {f"marks.{mark.name}": list(mark.bound) for mark in model.marks}
    keys |= {f"measures.{name}": [] for name in measures}
    verdicts = (rule for rule in model.rules.values() if rule.form == "permits")
    keys |= {f"refused.{rule.top.spoken}": list(rule.parameters) for rule in verdicts}
    keys |= {f"result.{name}": [] for name in model.key_names if _NAME.fullmatch(name)}
    keys |= {f"{section}.{name}": [] for section in TITLED for name in getattr(model, section)}
    return keys


def sayable_in(model: Model) -> dict[str, list[tuple[str, Type]]]:
    """Return the keys of texts of a checked ruleset, as :func:`sayable` does."""
    boards = {board.name: [name for name, _ in board.columns] for board in model.boards}
    panels = {panel.name: panel.heads for panel in model.panels}
    return sayable(model, boards, panels, (measure.name for measure in model.measures))
