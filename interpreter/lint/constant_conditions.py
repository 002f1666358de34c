"""Conditions that always have the same value."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.walk import descendants
from interpreter.lint.places import Family, advice

__all__ = ["constant_conditions"]


def constant_conditions(family: Family) -> Iterator[Diagnostic]:
    """Yield conditions made of constants alone."""
    help = "remove the condition, or the code that it never runs"
    inside = (test for _, layer in family.procedures() for test in _tests(layer))
    outside = (test for ruleset in family.rulesets for test in _tests_outside(ruleset.model))
    for test in (*inside, *(each for each in outside if each.span.file.name in family.files)):
        if all(isinstance(node, _FIXED) for node in descendants(test)):
            yield advice("L004", "this condition always has the same value", test.span, help)


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


def _tests_outside(model: Model) -> Iterator[core.Expression]:
    """Yield the conditions of phases, triggers, standing rules, boards and panels."""
    yield from (guard.value for guard in model.phase_guards if guard is not None)
    for parts in (model.triggers.values(), model.standing.values(), model.boards, model.panels):
        yield from (each.test for each in parts if each.test is not None)


def _tests(layer: RuleLayer) -> Iterator[core.Expression]:
    if layer.when is not None:
        yield layer.when
    if len(layer.requirements) == 1:
        return  # `require yes` is how a verdict permits everything
    for node in descendants(layer.body):
        match node:
            case core.Test(value) | core.Condition(test=value) | core.Requirement(test=value):
                yield value
            case core.Iterate(test=value) | core.Loop(test=value) if value is not None:
                yield value
            case core.Option(tests=tests, guard=guard):
                yield from tests if guard is None else (*tests, guard)
