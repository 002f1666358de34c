"""Public sizes that something hidden decides."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.walk import descendants
from interpreter.lint.places import Family, advice

__all__ = ["told_sizes"]


def told_sizes(family: Family) -> Iterator[Diagnostic]:
    """Yield the changes of a public number of hidden items that depend on something hidden."""
    for ruleset in family.rulesets:
        for procedure, name, span in ruleset.secrecy.decided_sizes():
            layer, group = ruleset.program.reach.procedures[procedure], ruleset.model.groups[name]
            if span.file.name not in family.files or layer.discloses or _is_sure(layer, name, span.start):
                continue
            called = ruleset.model.spoken_group(group)
            shown = f"how many are in `{called}`" if group.is_counted else f"whether `{called}` is none"
            remedy = "leave out `count: shown`" if group.count == "shown" else "make it the same in all cases"
            message = f"everybody sees {shown}, and something hidden decides that"
            help = f"{remedy}; if the rule tells it on purpose, write `discloses`"
            yield advice("L015", message, span, help, Note("it is declared here", group.span))


def _is_sure(layer: RuleLayer, group: str, start: int) -> bool:
    """Return whether a change is in one branch of a condition whose other branch changes the group too."""
    branches = (node for node in descendants(layer.body) if isinstance(node, core.Branch))
    sides = ([{*_changes(side, group)} for side in (node.then, node.otherwise)] for node in branches)
    return any(all(each) and start in each[0] | each[1] for each in sides)


def _changes(steps: object, group: str) -> Iterator[int]:
    """Yield where steps change a group."""
    for node in descendants(steps):
        match node:
            case core.SetCell(core.Cell(name)) | core.MoveCards(_, core.Cell(name)) | core.MoveAll(_, core.Cell(name)):
                if name == group:
                    yield node.span.start
