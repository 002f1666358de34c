"""Components whose number is not that of the tokens or cards that they are."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.lint.places import Family, advice

__all__ = ["box_contents"]


def box_contents(family: Family) -> Iterator[Diagnostic]:
    """Yield components with another number than what is declared, at the last file that says how many tokens there
    are: a map with other tokens amends the component too."""
    for ruleset in family.rulesets:
        model = ruleset.model
        for component in model.components.values():
            number = model.number_of(component.of) if component.of else None
            span = model.kinds[component.of].span if component.of in model.kinds else component.span
            if number not in (None, component.count) and span.file.name in family.files:
                declared = f"{number} of `{component.of}` are declared"
                message = f"the box has {component.count} {component.name}, and {declared}"
                yield advice("L013", message, span, f"amend `count` of `{component.name}`, or leave it out")
