"""Locals that shadow a name of the game."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.lazy import Lazy
from interpreter.language.model import Model
from interpreter.lint.places import Family, advice

__all__ = ["shadowed_names"]


def shadowed_names(family: Family) -> Iterator[Diagnostic]:
    """Yield locals and parameters that shadow a rule, a table, a value of the state or a setting. (Kinds are allowed:
    ``pad: pad`` is common.)"""
    known = Lazy[Model, dict[str, str]](_names)
    for ruleset, layer in family.procedures():
        if "/" in layer.rule:
            continue  # a delayed block has the locals of its rule
        names = known[ruleset.model]
        checked = [setting.name for setting in ruleset.model.settings.values() if setting.check == layer.rule]
        for name in dict.fromkeys(layer.local_names):
            if name in names and name not in checked:  # the check of a setting may use its name
                message = f"in `{layer.spoken}` the local `{name}` shadows the {names[name]} of that name"
                yield advice("L009", message, layer.span, "give it another name")


def _names(model: Model) -> dict[str, str]:
    kinds = {*model.kinds, *model.card_kinds, *model.pieces}
    return {
        name: sort
        for names, sort in (
            ((each.name for each in model.groups.values() if each.owner is None and each.file), "value of the game"),
            (model.settings, "setting"),
            (model.tables, "table"),
            (model.rules, "rule"),
        )
        for name in names
        if name not in kinds
    }
