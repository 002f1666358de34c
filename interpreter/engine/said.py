"""How things are said: numbers that stand in several procedures, and locals with a name that means something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core as c
from interpreter.language.model import Model
from interpreter.language.walk import descendants

__all__ = ["numbers", "shadows"]

SMALL = 9
"""Up to here the same number may well mean something else."""


def numbers(family: Sequence[Ruleset]) -> Iterator[Diagnostic]:
    """A number that stands in two procedures of a file: who wants to change it has to cover both. In a rule or a table
    of its own it is changed at one place."""
    seen: set[tuple[str, int]] = set()
    first: dict[tuple[str, int], tuple[str, Span]] = {}
    told: set[tuple[str, int]] = set()
    for ruleset in family:
        for layer in ruleset.program.reach.procedures.values():
            if layer.form != "does" or (place := (layer.span.file.name, layer.span.start)) in seen:
                continue
            seen.add(place)
            for node in _but_bounds(layer.body):
                if not isinstance(node, c.Const) or node.type.form != "int" or not _large(node.value):
                    continue
                key = layer.file, node.value
                rule, span = first.setdefault(key, (layer.spoken, node.span))
                if rule != layer.spoken and key not in told:
                    told.add(key)
                    both = f"in `{rule}` and in `{layer.spoken}`"
                    message = f"{node.value} stands {both}: an overlay cannot change it at one place"
                    help = "give it a name: a rule or a table, which both read"
                    note = Note(f"`{rule}` has it here", span)
                    yield Diagnostic("L007", message, node.span, (note,), help, "warning")


def _but_bounds(body: object) -> Iterator[object]:
    """All nodes, but for the bounds of loops, which no rulebook prints."""
    nodes = list(descendants(body))
    bounds = {id(below) for node in nodes if isinstance(node, c.Repeat) for below in descendants(node.bound)}
    return (node for node in nodes if id(node) not in bounds)


def _large(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > SMALL


def shadows(family: Sequence[Ruleset]) -> Iterator[Diagnostic]:
    """Locals and parameters that are called like something that the same text could mean: a rule, a table, a value of
    the state, a setting. (A kind is no such thing: ``pad: pad`` is how one speaks.)"""
    seen: set[tuple[str, int]] = set()
    for ruleset in family:
        taken = _taken(ruleset.model)
        checks = {setting.check: setting.name for setting in ruleset.model.settings.values()}
        for layer in ruleset.program.reach.procedures.values():
            place = layer.span.file.name, layer.span.start
            if place in seen or "/" in layer.rule:  # a kept block has the locals of its rule
                continue
            seen.add(place)
            for name in dict.fromkeys(layer.local_names):
                if name in taken and checks.get(layer.rule) != name:  # what is to become of a setting may be called so
                    message = f"in `{layer.spoken}` the local `{name}` hides the {taken[name]} of that name"
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
