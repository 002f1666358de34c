"""Conditions that always have the same value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.walk import descendants
from interpreter.lint.places import Place, place_of

__all__ = ["constant_conditions"]


def constant_conditions(family: Sequence[Ruleset], files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield conditions made of constants alone."""
    seen: set[Place] = set()
    for ruleset in family:
        for layer in ruleset.program.reach.procedures.values():
            if place_of(layer) in seen or layer.span.file.name not in files:
                continue
            seen.add(place_of(layer))
            for test in _tests(layer):
                if all(isinstance(node, _FIXED) for node in descendants(test)):
                    yield _always(test)


_FIXED = (
    core.Const,
    core.Comparison,
    core.Logic,
    core.Negation,
    core.Negate,
    core.Arithmetic,
    core.MakeList,
    core.MemberOf,
)


def _tests(layer: RuleLayer) -> Iterator[core.Expression]:
    if layer.when is not None:
        yield layer.when
    if layer.form == "permits" and isinstance(layer.body, tuple) and len(layer.body) == 1:
        return  # `require yes` is how a verdict permits everything
    for node in descendants(layer.body):
        match node:
            case core.Test(value) | core.Condition(test=value) | core.Requirement(test=value):
                yield value
            case core.Iterate(test=value) | core.Loop(test=value) if value is not None:
                yield value
            case core.Option(tests=tests, guard=guard):
                yield from tests if guard is None else (*tests, guard)


def _always(test: core.Expression) -> Diagnostic:
    help = "remove the condition, or the code that it never runs"
    return Diagnostic("L004", "this condition always has the same value", test.span, help=help, severity="warning")
