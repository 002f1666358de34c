"""Locals that are called like something of the game."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Model
from interpreter.lint.places import Place, place_of

__all__ = ["shadowed_names"]


def shadowed_names(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Locals and parameters that are called like something that the same text could mean: a rule, a table, a value of
    the state, a setting. (A kind is no such thing: ``pad: pad`` is how one speaks.)"""
    seen: set[Place] = set()
    for ruleset in family:
        taken = _taken(ruleset.model)
        checks = {setting.check: setting.name for setting in ruleset.model.settings.values()}
        for layer in ruleset.program.reach.procedures.values():
            place = place_of(layer)
            if place[0] not in told or place in seen or "/" in layer.rule:  # a kept block has the locals of its rule
                continue
            seen.add(place)
            for name in dict.fromkeys(layer.local_names):
                if name in taken and checks.get(layer.rule) != name:  # what is to become of a setting may be called so
                    message = f"in `{layer.spoken}` the local `{name}` shadows the {taken[name]} of that name"
                    yield Diagnostic("L009", message, layer.span, help="give it another name", severity="warning")


def _taken(model: Model) -> dict[str, str]:
    kinds = {*model.kinds, *model.card_kinds, *model.pieces}
    return {
        name: what
        for names, what in (
            ((group.name for group in model.groups.values() if group.owner == "" and group.file), "value of the game"),
            (model.settings, "setting"),
            (model.tables, "table"),
            (model.rules, "rule"),
        )
        for name in names
        if name not in kinds
    }
