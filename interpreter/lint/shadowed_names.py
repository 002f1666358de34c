"""Locals that shadow a name of the game."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Model
from interpreter.lint.places import Place, place_of

__all__ = ["shadowed_names"]


def shadowed_names(family: Sequence[Ruleset], files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield locals and parameters that shadow a rule, a table, a value of the state or a setting. (Kinds are allowed:
    ``pad: pad`` is common.)"""
    seen: set[Place] = set()
    for ruleset in family:
        names = _names(ruleset.model)
        checks = {setting.check: setting.name for setting in ruleset.model.settings.values()}
        for layer in ruleset.program.reach.procedures.values():
            place = place_of(layer)
            if (
                place[0] not in files or place in seen or "/" in layer.rule
            ):  # a delayed block has the locals of its rule
                continue
            seen.add(place)
            for name in dict.fromkeys(layer.local_names):
                if name in names and checks.get(layer.rule) != name:  # the check of a setting may use its name
                    message = f"in `{layer.spoken}` the local `{name}` shadows the {names[name]} of that name"
                    yield Diagnostic("L009", message, layer.span, help="give it another name", severity="warning")


def _names(model: Model) -> dict[str, str]:
    kinds = {*model.kinds, *model.card_kinds, *model.pieces}
    return {
        name: sort
        for names, sort in (
            ((group.name for group in model.groups.values() if group.owner == "" and group.file), "value of the game"),
            (model.settings, "setting"),
            (model.tables, "table"),
            (model.rules, "rule"),
        )
        for name in names
        if name not in kinds
    }
