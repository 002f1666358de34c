"""Partial evaluation: the model without everything that its settings, map and parts rule out.

Takes a model and the known settings; returns a model in which these are constants. Rules that always return yes, no or
none, and values of the state that never change, become constants too. Conditions over constants are folded, and
unreachable code, rules, tables and values are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial
from operator import ge, gt, is_, le, lt
from typing import TypeVar

from msgspec.structs import replace

from interpreter.base.plain_data import grouped
from interpreter.compare.play_order import Topic, facts_in, topics_of
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import CheckedRule, Model, RuleBody, RuleLayer
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.language.types import HolderType
from interpreter.language.walk import rewritten

__all__ = ["Applied", "settings_read"]

T = TypeVar("T")
_Key = tuple[str, str]
"""What is known: a ``setting``, a ``rule`` or a ``cell``, and its name."""
_ORDERED: dict[str, Callable[[Value, Value], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class Applied:
    """A model without the parts that never apply, for any settings. What is known step by step decides on each step, so
    it is folded once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._steps: dict[frozenset[tuple[_Key, Value]], tuple[Model, Mapping[_Key, Value]]] = {}

    def under(self, settings: Mapping[str, Value], open_: Set[str]) -> Model:
        """Return the model under the known settings and interpretations. Rules and values of the state in ``open_`` are
        not treated as constants. Equal answers are the same object."""
        fixed: dict[_Key, Value] = {("setting", name): value for name, value in settings.items()}
        model, fresh = self._model, None
        while True:
            step = frozenset(fixed.items())
            if step not in self._steps:
                model = _reached(_folded(model, fixed, fresh))
                self._steps[step] = model, {**_constant_rules(model), **_idle_cells(model)}
            model, constant = self._steps[step]
            extended = {**fixed, **{key: value for key, value in constant.items() if key[1] not in open_}}
            if extended == fixed:
                return model
            fixed, fresh = extended, extended.keys() - fixed.keys()


def settings_read(model: Model) -> set[str]:
    """Return the settings and interpretations that any text of a model reads."""
    texts = (facts.settings for topic in topics_of(model) for facts in facts_in(model, topic))
    return _declared(model).settings.union(*texts)


# --- constants


def _constant_rules(model: Model) -> dict[_Key, Value]:
    """Return the functions that return yes, no or none for any arguments."""
    tops = {rule.name: rule.layers[-1] for rule in model.rules.values() if rule.form == "is"}
    return {
        ("rule", name): top.body.value
        for name, top in tops.items()
        if top.when is None and isinstance(top.body, core.Const) and _is_switch(top.body.value)
    }


def _idle_cells(model: Model) -> dict[_Key, Value]:
    """Return the values of the state that keep their start value, if it is yes, no or none."""
    written = set[str]().union(*(facts.writes for topic in topics_of(model) for facts in facts_in(model, topic)))
    return {
        ("cell", group.name): group.start.value
        for group in model.groups.values()
        if group.file and not isinstance(group.type, HolderType) and group.name not in written
        if isinstance(group.start, core.Const) and _is_switch(group.start.value)
    }


def _is_switch(value: Value) -> bool:
    """Return whether a constant decides conditions. A number is a parameter, better reported by its name."""
    return value is None or isinstance(value, bool)


# --- conditions over constants


def _folded(model: Model, fixed: Mapping[_Key, Value], fresh: Set[_Key] | None) -> Model:
    """Return the model with known values in place. Layers that were folded before are left alone, unless they name what
    is ``fresh``."""

    known = partial(_known, fixed=fixed)

    def layer(of: RuleLayer) -> RuleLayer:
        named = of.once(_named)
        if fresh is not None and named.isdisjoint(fresh):
            return of
        return of.once(_with_known, frozenset((key, fixed[key]) for key in named & fixed.keys()))

    def rule(of: CheckedRule) -> CheckedRule:
        layers = tuple(changed for changed in map(layer, of.layers) if not _is(changed.when, False))
        return _with(of, layers or of.layers)

    triggers = {name: replace(t, test=rewritten(t.test, known)) for name, t in model.triggers.items()}
    standing = {
        name: replace(s, binders=rewritten(s.binders, known), test=_unless_true(rewritten(s.test, known)))
        for name, s in model.standing.items()
    }
    return replace(
        model,
        rules={name: rule(checked) for name, checked in model.rules.items()},
        blocks={name: layer(block) for name, block in model.blocks.items()},
        triggers={name: trigger for name, trigger in triggers.items() if not _is(trigger.test, False)},
        standing={name: s for name, s in standing.items() if not _is(s.test, False)},
    )


def _named(of: RuleLayer) -> frozenset[_Key]:
    named = {"setting": of.facts.settings, "rule": of.facts.calls, "cell": of.facts.groups}
    return frozenset((kind, name) for kind, names in named.items() for name in names)


def _with_known(of: RuleLayer, fixed: Set[tuple[_Key, Value]]) -> RuleLayer:
    """Return a layer with values in place of all that it names of what is known."""
    body: RuleBody
    known = partial(_known, fixed=dict(fixed))
    if of.form == "permits":
        lines = rewritten(of.requirements, known)
        body = _same(lines, tuple(line for line in lines if line.bind is not None or not _is(line.test, True)))
    elif isinstance(of.body, tuple):
        body = _steps(rewritten(of.steps, known))
    else:
        body = rewritten(of.body, known)
    when = _unless_true(rewritten(of.when, known))
    return of if when is of.when and body is of.body else replace(of, when=when, body=body)


def _known(node: object, fixed: Mapping[_Key, Value]) -> object:
    """Return the value of a node that is known, and a node folded if its operands are constants."""
    match node:
        case core.SettingValue(name) if ("setting", name) in fixed:
            return _constant(node, fixed["setting", name])
        case core.CallRule(name) if ("rule", name) in fixed:
            return _constant(node, fixed["rule", name])
        case core.Read(core.Cell(group)) if ("cell", group) in fixed:
            return _constant(node, fixed["cell", group])
        case core.Comparison("==" | "!=" as sign, core.Const(left), core.Const(right)):
            return _constant(node, (left == right) is (sign == "=="))
        case core.Comparison(sign, core.Const(left), core.Const(right)) if None not in (left, right):
            return _constant(node, _ORDERED[sign](left, right))
        case core.Logic(sign, left, right):
            neutral = sign == "and"
            if _is(left, not neutral) or _is(right, not neutral):
                return _constant(node, not neutral)
            return right if _is(left, neutral) else left if _is(right, neutral) else node
        case core.Negation(core.Const(value)):
            return _constant(node, not value)
        case core.Condition(then, core.Const(test), otherwise):
            return then if test else otherwise
        case core.Branch(test, then, otherwise):
            folded = _steps(then), _steps(otherwise)
            return node if all(map(is_, folded, (then, otherwise))) else core.Branch(test, *folded, span=node.span)
        case core.Iterate(body=tuple(body)) | core.Repeat(body=tuple(body)) | core.Option(body=tuple(body)):
            return node if (steps := _steps(body)) is body else replace(node, body=steps)
        case _:
            return node


def _constant(node: core.Typed, value: Value) -> core.Const:
    return core.Const(value, type=node.type, span=node.span)


def _is(tree: object, value: bool) -> bool:
    return isinstance(tree, core.Const) and tree.value is value


def _unless_true(test: core.Expression | None) -> core.Expression | None:
    return None if _is(test, True) else test


def _steps(steps: tuple[core.Step, ...]) -> tuple[core.Step, ...]:
    """Replace each ``if`` over a constant by its taken branch, and drop steps after a return."""
    folded: list[core.Step] = []
    for step in steps:
        match step:
            case core.Branch(core.Test(core.Const(value), None), then, otherwise):
                folded.extend(then if value else otherwise)
            case _:
                folded.append(step)
        if folded and isinstance(folded[-1], core.Returns):
            break
    return _same(steps, tuple(folded))


def _same(old: tuple[T, ...], new: tuple[T, ...]) -> tuple[T, ...]:
    """Return the old one of two tuples if they have the same items."""
    return old if len(old) == len(new) and all(map(is_, old, new)) else new


def _with(rule: CheckedRule, layers: tuple[RuleLayer, ...]) -> CheckedRule:
    """Return the rule with these layers, or itself if it has the same: what is found in a rule is found once."""
    return rule if _same(rule.layers, layers) is rule.layers else replace(rule, layers=layers)


# --- reachability


def _declared(model: Model) -> TextFacts:
    """Return the facts of the declarations that apply in any case."""
    measure = model.graph.measure if model.graph is not None else None
    return facts_of((*model.ranking, *model.phase_guards, *model.groups.values(), measure))


def _reached(model: Model) -> Model:
    """Return the model without unreachable rules, triggers, tables and values of the state."""
    declared = _declared(model)
    called = {*declared.calls, *model.phases, model.setup, *model.all_checks} & model.rules.keys()
    waiting = [*(Topic("rules", name) for name in called), *topics_of(model, "standing")]
    heard = grouped((trigger.event, Topic("triggers", trigger.name)) for trigger in model.triggers.values())
    tables = declared.tables | {group.spaces for group in model.groups.values() if group.spaces}
    cells = declared.groups
    seen: set[Topic] = set()
    while waiting:
        topic = waiting.pop()
        if topic in seen:
            continue
        seen.add(topic)
        for facts in facts_in(model, topic):
            calls = (facts.calls.keys() & model.rules.keys()) - called
            called |= calls
            waiting += [Topic("rules", name) for name in calls]
            waiting += [trigger for event in facts.events for trigger in heard.get(event, ())]
            tables |= facts.tables
            cells |= facts.groups
    return replace(
        model,
        rules={n: _with(rule, rule.in_force) for n, rule in model.rules.items() if n in called},
        triggers={name: trigger for name, trigger in model.triggers.items() if Topic("triggers", name) in seen},
        tables={name: table for name, table in model.tables.items() if name in tables},
        groups={n: g for n, g in model.groups.items() if not g.file or n in cells or g.starts in ("all", "rest")},
    )
