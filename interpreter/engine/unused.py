"""Unused names: rules that no reachable code calls, and declarations that no text names.

Takes a checked ruleset without errors. Returns warnings, since a declaration may be meant for later. The caller filters
names from libraries and names that are used in files that this ruleset does not load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.walk import descendants
from interpreter.lowering.facts import Reach, target_of

if TYPE_CHECKING:
    from interpreter.language.policies import Policy

__all__ = ["Unused", "reached", "settings_read", "unused"]

Unused = tuple[str, str, Diagnostic]
"""A name, the file that introduces it, and the warning."""


def unused(model: Model, reach: Reach, policies: Iterable[Policy]) -> list[Unused]:
    """Return warnings for unreachable rules, and for unnamed events, settings, tables and groups of cells."""
    nodes = list(_nodes(model, policies))
    return [*_rules(model, reach, nodes), *_declared(model, reach, nodes)]


def reached(model: Model, reach: Reach, policies: Iterable[Policy]) -> set[str]:
    """Return the ids of procedures and functions that are reachable from anything that runs or is shown."""
    return _reached(model, reach, list(_nodes(model, policies)))


def settings_read(model: Model, reach: Reach) -> set[str]:
    """Return the settings and interpretations on which the seats depend, or anything that runs or is shown."""
    nodes = list(_nodes(model, ()))
    for name in _reached(model, reach, nodes):
        layer = reach.procedures[name]
        nodes.extend(descendants((layer.body, layer.when)))
    seats = {role.setting for role in model.roles.values() if role.setting is not None}
    return seats | _settings(nodes)


def _settings(nodes: Iterable[object]) -> set[str]:
    return {node.name for node in nodes if isinstance(node, core.SettingValue)}


def _reached(model: Model, reach: Reach, nodes: list[object]) -> set[str]:
    front = {target_of(model, node) for node in nodes if isinstance(node, core.CallRule)}
    named = [*model.phases, model.setup, *(setting.check for setting in model.settings.values())]
    front.update(model.rules[name].top.id for name in named if name in model.rules)
    front.update(case.procedure for trigger in model.triggers.values() for case in trigger.cases if case.procedure)
    front.update(rule.procedure for rule in model.standing.values())
    takers = {total.then for panel in model.panels for total in panel.sums}
    front.update(model.rules[name].top.id for name in takers if name in model.rules)
    live: set[str] = set()
    while front:
        name = front.pop()
        if name in live or name not in reach.own:
            continue
        live.add(name)
        front |= (reach.own[name].calls | reach.own[name].keeps) - live
    return live


def _rules(model: Model, reach: Reach, nodes: list[object]) -> Iterator[Unused]:
    live = _reached(model, reach, nodes)
    for rule in model.rules.values():
        if rule.top.id not in live:
            first = rule.layers[0]
            message = f"unused rule `{rule.name}`"
            yield rule.name, first.file, Diagnostic("W701", message, first.span, severity="warning")


def _declared(model: Model, reach: Reach, nodes: list[object]) -> Iterator[Unused]:
    for layer in reach.procedures.values():
        nodes.extend(descendants((layer.body, layer.when)))
    groups = {node.group for node in nodes if isinstance(node, core.Cell)}
    settings = _settings(nodes)
    tables = {node.table for node in nodes if isinstance(node, core.TableCell)}
    tables.update(group.spaces for group in model.groups.values() if group.spaces)
    events = {node.event for node in nodes if isinstance(node, core.Notes)}
    for group in model.groups.values():
        if group.file and group.name not in groups and group.starts not in ("all", "rest"):
            yield group.name, group.file, _nothing("reads or changes", group.name, group)
    for setting in model.settings.values():
        if setting.name not in settings:
            yield setting.name, "", _nothing("reads", setting.name, setting)
    for table in model.tables.values():
        if table.name not in tables:
            yield table.name, table.file, _nothing("reads", table.name, table)
    for event in model.events.values():
        if event.name not in events:
            yield event.name, event.file, _nothing("notes", event.name, event)


def _nothing(does: str, name: str, declared: object) -> Diagnostic:
    span = getattr(declared, "span", None)
    return Diagnostic("W702", f"nothing {does} `{name}`", span, severity="warning")


def _nodes(model: Model, policies: Iterable[Policy]) -> Iterator[object]:
    """Yield all nodes of texts outside rules."""
    trees: list[object] = [
        *model.ranking,
        *(guard.value for guard in model.phase_guards if guard is not None),
        *(tree for look in model.picture.values() for tree in look.trees),
        *(tree for face in model.faces.values() for look in face.values() for tree in look.trees),
        *(law.condition for law in model.laws),
        model.graph and model.graph.measure,
    ]
    trees.extend(trigger.test for trigger in model.triggers.values())
    for things in (model.groups.values(), model.standing.values(), model.measures, model.boards, model.panels):
        trees.extend(thing.trees for thing in things)
    said = *(board.says for board in model.boards), *(event.says for event in model.events.values())
    for phrases in (*said, *model.says.values()):
        trees.extend(part for phrase in phrases.values() for part in phrase.parts if not isinstance(part, str))
    trees.extend((policy.rules, tuple(policy.decisions.values())) for policy in policies)
    for tree in trees:
        yield from descendants(tree)
