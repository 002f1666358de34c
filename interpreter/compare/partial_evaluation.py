"""Partial evaluation: the model without everything that its settings, map and parts rule out.

In goes a model with the settings that are known; out comes one in which these are constants. So is what then is yes, no
or none at every moment: a rule that gives nothing else, a value of the state that nothing changes. Conditions over
constants are worked out, and what no condition lets happen, and what only that led to, is left out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from interpreter.compare.play_order import Topic, in_force, nodes_of
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import CheckedRule, Model, RuleLayer
from interpreter.language.types import BOOL, HolderType
from interpreter.language.walk import descendants, rewritten

__all__ = ["applied", "settings_read"]

_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def applied(model: Model, settings: Mapping[str, Value], open_: frozenset[str] = frozenset()) -> Model:
    """The model with what never applies left out; ``settings`` are the settings and interpretations that are known.

    ``open_`` are rules and values of the state that are not taken for constants.
    """
    fixed: dict[tuple[str, str], Value] = {("setting", name): value for name, value in settings.items()}
    while True:
        model = _reached(_folded(model, fixed))
        constant = {**_constant_rules(model), **_idle_cells(model)}
        found = {**fixed, **{key: value for key, value in constant.items() if key[1] not in open_}}
        if found == fixed:
            return model
        fixed = found


def settings_read(model: Model) -> set[str]:
    """The settings and interpretations that any text of a model asks for."""
    around = [tree for group in model.groups.values() for tree in group.trees if tree]
    nodes = chain(
        descendants((*model.ranking, *model.phase_guards, *around)),
        *(nodes_of(model, topic) for topic in _topics(model)),
    )
    return {node.name for node in nodes if isinstance(node, core.SettingValue)}


# --- what is constant


def _constant_rules(model: Model) -> dict[tuple[str, str], Value]:
    """Functions that say yes, no or none whatever they are given."""
    tops = {rule.name: rule.layers[-1] for rule in model.rules.values() if rule.form == "is"}
    return {
        ("rule", name): top.body.value
        for name, top in tops.items()
        if top.when is None and isinstance(top.body, core.Const) and _is_switch(top.body.value)
    }


def _idle_cells(model: Model) -> dict[tuple[str, str], Value]:
    """Values of the state that are never set to anything but what they are at first."""
    written = {
        node.group
        for topic in _topics(model)
        for step in nodes_of(model, topic)
        if isinstance(step, core.SetCell)
        for node in descendants(step.cell)
        if isinstance(node, core.Cell)
    }
    return {
        ("cell", group.name): group.start.value
        for group in model.groups.values()
        if group.file and not isinstance(group.type, HolderType) and group.name not in written
        if isinstance(group.start, core.Const) and _is_switch(group.start.value)
    }


def _is_switch(value: Value) -> bool:
    """Return whether a constant decides conditions; a number is a parameter, which is better told by its name."""
    return value is None or isinstance(value, bool)


# --- conditions over constants


def _folded(model: Model, fixed: Mapping[tuple[str, str], Value]) -> Model:
    def known(node: object) -> object:
        match node:
            case core.SettingValue(name) if ("setting", name) in fixed:
                return _constant(node, fixed["setting", name])
            case core.CallRule(name) if ("rule", name) in fixed:
                return _constant(node, fixed["rule", name])
            case core.Read(core.Cell(group)) if ("cell", group) in fixed:
                return _constant(node, fixed["cell", group])
            case _:
                return _simpler(node)

    def layer(of: RuleLayer) -> RuleLayer:
        body: Any = rewritten(of.body, known)
        if of.form == "permits":
            body = tuple(line for line in body if line.bind is not None or not _is(line.test, True))
        return replace(of, when=_unless_true(rewritten(of.when, known)), body=_steps(body) if _is_steps(body) else body)

    def rule(of: CheckedRule) -> CheckedRule:
        layers = [each for each in map(layer, of.layers) if not _is(each.when, False)]
        return replace(of, layers=tuple(layers)) if layers else of

    triggers = {name: replace(each, test=rewritten(each.test, known)) for name, each in model.triggers.items()}
    standing = {
        name: replace(each, binders=rewritten(each.binders, known), test=_unless_true(rewritten(each.test, known)))
        for name, each in model.standing.items()
    }
    return replace(
        model,
        rules={name: rule(each) for name, each in model.rules.items()},
        blocks={name: layer(each) for name, each in model.blocks.items()},
        triggers={name: each for name, each in triggers.items() if not _is(each.test, False)},
        standing={name: each for name, each in standing.items() if not _is(each.test, False)},
    )


def _constant(node: core.Typed, value: Value) -> core.Const:
    return core.Const(value, type=node.type, span=node.span)


def _is(tree: object, value: bool) -> bool:
    return isinstance(tree, core.Const) and tree.value is value


def _unless_true(test: core.Expression | None) -> core.Expression | None:
    return None if _is(test, True) else test


def _simpler(node: object) -> object:
    """A node whose operands are constants, worked out."""
    match node:
        case core.Comparison(sign, core.Const(left), core.Const(right)) if sign in ("==", "!=") or None not in (
            left,
            right,
        ):
            return core.Const(_COMPARE[sign](left, right), type=BOOL, span=node.span)
        case core.Logic(sign, left, right):
            neutral = sign == "and"
            if _is(left, not neutral) or _is(right, not neutral):
                return core.Const(not neutral, type=BOOL, span=node.span)
            return right if _is(left, neutral) else left if _is(right, neutral) else node
        case core.Negation(core.Const(value)):
            return core.Const(not value, type=BOOL, span=node.span)
        case core.Condition(then, core.Const(test), otherwise):
            return then if test else otherwise
        case core.Branch(test, then, otherwise):
            return core.Branch(test, _steps(then), _steps(otherwise), span=node.span)
        case core.Iterate() | core.Repeat():
            return replace(node, body=_steps(node.body))
        case core.Option() if node.body is not None:
            return replace(node, body=_steps(node.body))
        case _:
            return node


def _is_steps(body: object) -> bool:
    return isinstance(body, tuple) and not any(isinstance(each, core.Requirement) for each in body)


def _steps(steps: tuple[Any, ...]) -> tuple[Any, ...]:
    """Steps with the right half of each ``if`` over a constant in its place, and without what follows a return."""
    found: list[Any] = []
    for step in steps:
        match step:
            case core.Branch(core.Test(core.Const(value), None), then, otherwise):
                found.extend(then if value else otherwise)
            case _:
                found.append(step)
        if found and isinstance(found[-1], core.Returns):
            break
    return tuple(found)


# --- what is led to


def _topics(model: Model) -> list[Topic]:
    sections = ("rules", "triggers", "standing")
    return [Topic(section, name) for section in sections for name in getattr(model, section)]


def _reached(model: Model) -> Model:
    """The model without rules, triggers, tables and values of the state that nothing leads to."""
    around = [tree for group in model.groups.values() for tree in group.trees if tree]
    measure = model.graph and model.graph.measure
    nodes: list[object] = list(
        descendants((*model.ranking, *model.phase_guards, *around, *([measure] if measure else ())))
    )
    named = [*model.phases, model.setup, *(setting.check for setting in model.settings.values())]
    waiting = [Topic("rules", name) for name in named if name in model.rules]
    waiting += [Topic("standing", name) for name in model.standing]
    seen: set[Topic] = set()
    fresh: Iterable[object] = nodes
    while True:
        waiting += [Topic("rules", node.rule) for node in fresh if isinstance(node, core.CallRule)]
        noted = {node.event for node in fresh if isinstance(node, core.Notes)}
        waiting += [Topic("triggers", each.name) for each in model.triggers.values() if each.event in noted]
        waiting = [topic for topic in waiting if topic not in seen]
        if not waiting:
            break
        topic = waiting.pop()
        seen.add(topic)
        fresh = list(nodes_of(model, topic))
        nodes += fresh
    tables = {node.table for node in nodes if isinstance(node, core.TableCell)}
    tables |= {group.spaces for group in model.groups.values() if group.spaces}
    cells = {node.group for node in nodes if isinstance(node, core.Cell)}
    return replace(
        model,
        rules={n: replace(r, layers=in_force(model, n)) for n, r in model.rules.items() if Topic("rules", n) in seen},
        triggers={name: each for name, each in model.triggers.items() if Topic("triggers", name) in seen},
        tables={name: each for name, each in model.tables.items() if name in tables},
        groups={n: g for n, g in model.groups.items() if not g.file or n in cells or g.starts in ("all", "rest")},
    )
