"""Checks for code without effect: dead layers, constant conditions, indistinguishable readings.

In go all compositions of a family; a layer that one of them reaches is in use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.compiler.unused import reached
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import KindType
from interpreter.language.walk import descendants

__all__ = ["constant_tests", "dead_layers", "readings"]

Place = tuple[str, int]


def dead_layers(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Layers of rules that are covered for good wherever they are loaded: no `base` and no guard leads to them."""
    alive: set[Place] = set()
    dead: dict[Place, RuleLayer] = {}
    covered: dict[Place, RuleLayer] = {}
    for ruleset in family:
        reach = ruleset.program.reach
        live = reached(ruleset.model, reach, ())
        for rule in ruleset.model.rules.values():
            if rule.top.id not in live:  # a rule that nothing calls is told by `validate`
                alive.update(_place(layer) for layer in rule.layers)
            for layer, above in zip(rule.layers, [*rule.layers[1:], None], strict=True):
                if layer.id in live or above is None:
                    alive.add(_place(layer))
                else:
                    dead.setdefault(_place(layer), layer)
                    covered.setdefault(_place(layer), rule.top)
    for place, layer in dead.items():
        if place[0] in told and place not in alive:
            cover = covered[place].file
            message = f"this layer of `{layer.rule}` is dead: wherever it is loaded, `{cover}` covers it"
            yield Diagnostic("L003", message, layer.span, help="leave it out", severity="warning")


def _place(layer: RuleLayer) -> Place:
    return layer.span.file.name, layer.span.start


def constant_tests(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Conditions in which nothing stands that could change."""
    seen: set[Place] = set()
    for ruleset in family:
        for layer in ruleset.program.reach.procedures.values():
            if _place(layer) in seen or layer.span.file.name not in told:
                continue
            seen.add(_place(layer))
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
        return  # a verdict that refuses nothing says so: `require yes`
    for node in descendants(layer.body):
        match node:
            case core.Test(value) | core.Condition(test=value) | core.Requirement(test=value):
                yield value
            case core.Iterate(test=value) | core.Loop(test=value) if value is not None:
                yield value
            case core.Option(tests=tests, guard=guard):
                yield from tests if guard is None else (*tests, guard)


def _always(test: core.Expression) -> Diagnostic:
    help = "leave the condition out, or what it never lets happen"
    return Diagnostic("L004", "this condition always has the same value", test.span, help=help, severity="warning")


def readings(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Readings of a doubt of which no rule names any: they come to the same."""
    named: dict[tuple[Place, str], set[int]] = {}
    doubts = {}
    for ruleset in family:
        model = ruleset.model
        for doubt in model.interpretations.values():
            if doubt.span.file.name not in told:
                continue
            key = (doubt.span.file.name, doubt.span.start), doubt.name
            doubts[key] = doubt
            named.setdefault(key, set()).update(_named(model, doubt.name, ruleset.program.reach.procedures.values()))
    for key, doubt in doubts.items():
        left = [reading for number, reading in enumerate(doubt.readings) if number not in named[key]]
        if len(left) > 1:
            listed = " and ".join(f"`{reading}`" for reading in left)
            message = f"no rule tells {listed} of `{doubt.name}` apart"
            yield Diagnostic("L005", message, doubt.span, help="say what one of them changes", severity="warning")


def _named(model: Model, doubt: str, layers: Iterable[RuleLayer]) -> Iterator[int]:
    """The readings that some text names."""
    trees: list[object] = [tree for layer in layers for tree in (layer.when, layer.body) if tree is not None]
    trees.extend(rule.test for rule in model.standing.values() if rule.test is not None)
    trees.extend(trigger.test for trigger in model.triggers.values() if trigger.test is not None)
    for tree in trees:
        for node in descendants(tree):
            if isinstance(node, core.Const) and isinstance(node.type, KindType) and node.type.name == doubt:
                yield node.value
