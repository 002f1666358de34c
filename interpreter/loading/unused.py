"""Unused names: rules that no reachable code calls, and declarations that no text names.

Takes a checked ruleset without errors. Returns warnings, since a declaration may be meant for later. The caller filters
names from libraries and names that are used in files that this ruleset does not load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from interpreter.base.diagnostics import Diagnostic
from interpreter.language.model import Event, Group, Model, Setting, Table
from interpreter.language.preferences import Policy
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.lowering.reach import Reach, reachable

__all__ = ["Unused", "reached", "settings_read", "unused"]

Unused = tuple[str, str, Diagnostic]
"""A name, the file that introduces it, and the warning."""


def unused(model: Model, reach: Reach, policies: Iterable[Policy]) -> list[Unused]:
    """Return warnings for unreachable rules, and for unnamed events, settings, tables and groups of cells."""
    outside = _outside(model, policies)
    return [*_rules(model, reach, outside), *_declared(model, reach, outside)]


def reached(model: Model, reach: Reach, policies: Iterable[Policy]) -> set[str]:
    """Return the ids of procedures and functions that are reachable from anything that runs or is shown."""
    return _reached(model, reach, _outside(model, policies))


def settings_read(model: Model, reach: Reach) -> set[str]:
    """Return the settings and interpretations on which the seats depend, or anything that runs or is shown."""
    outside = _outside(model, ())
    live = (reach.procedures[name].facts for name in _reached(model, reach, outside))
    seats = {role.setting for role in model.roles.values() if role.setting is not None}
    return seats.union(*(facts.settings for facts in (*outside, *live)))


def _reached(model: Model, reach: Reach, outside: list[TextFacts]) -> set[str]:
    named = [*model.phases, model.setup, *model.all_checks]
    starts = [
        *(name for facts in outside for name in reach.called(facts)),
        *(model.rules[name].top.id for name in named if name in model.rules),
        *(case.procedure for trigger in model.triggers.values() for case in trigger.cases if case.procedure),
        *(rule.procedure for rule in model.standing.values()),
    ]
    following = {name: [*calls, *reach.procedures[name].facts.keeps] for name, calls in reach.calls.items()}
    return reachable(starts, following)


def _rules(model: Model, reach: Reach, outside: list[TextFacts]) -> Iterator[Unused]:
    live = _reached(model, reach, outside)
    for rule in model.rules.values():
        if rule.top.id not in live:
            first = rule.layers[0]
            message = f"unused rule `{rule.name}`"
            yield rule.name, first.file, Diagnostic("W701", message, first.span, severity="warning")


def _declared(model: Model, reach: Reach, outside: list[TextFacts]) -> Iterator[Unused]:
    texts = [*outside, *(layer.facts for layer in reach.procedures.values())]
    groups = [group for group in model.groups.values() if group.file and group.starts not in ("all", "rest")]
    spaces = {group.spaces for group in model.groups.values()}
    of_sort: list[tuple[str, Iterable[Group | Setting | Table | Event], set[str | None]]] = [
        ("reads or changes", groups, set().union(*(facts.groups for facts in texts))),
        ("reads", model.settings.values(), set().union(*(facts.settings for facts in texts))),
        ("reads", model.tables.values(), spaces.union(*(facts.tables for facts in texts))),
        ("notes", model.events.values(), set().union(*(facts.events for facts in texts))),
    ]
    for does, declared, named in of_sort:
        for each in declared:
            if each.name not in named:
                message = f"nothing {does} `{model.spoken_group(each) if isinstance(each, Group) else each.name}`"
                file = "" if isinstance(each, Setting) else each.file
                yield (
                    each.own_name if isinstance(each, Group) else each.name,
                    file,
                    Diagnostic("W702", message, each.span, severity="warning"),
                )


def _outside(model: Model, policies: Iterable[Policy]) -> list[TextFacts]:
    """Return the facts of all texts outside rules."""
    policies = list(policies)
    preferences = [each for policy in policies for layers in policy.decisions.values() for each in layers]
    return [
        *_declarations(model),
        facts_of(tuple(each.when for each in preferences)),
        *(layer.facts for policy in policies for layer in policy.rules),
        *(line.facts for each in preferences for line in each.lines),
    ]


@lru_cache(maxsize=1)
def _declarations(model: Model) -> tuple[TextFacts, ...]:
    looks = (*model.picture.values(), *(look for face in model.faces.values() for look in face.values()))
    said = *(board.says for board in model.boards), *(event.says for event in model.events.values())
    phrases = (phrase for texts in (*said, *model.says.values()) for phrase in texts.values() if phrase.trees)
    trees = (
        *model.ranking,
        *model.phase_guards,
        *model.laws,
        model.graph and model.graph.measure,
        *model.triggers.values(),
        *model.groups.values(),
    )
    texts = (*looks, *model.standing.values(), *model.measures, *model.boards, *model.panels, *model.marks, *phrases)
    return facts_of(trees), *(text.facts for text in texts)
