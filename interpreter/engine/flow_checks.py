"""Checks of the flow of rules: recursion, endless loops, missing cases of triggers, settings without effect.

Takes a checked model and its reachability; returns errors and warnings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.walk import descendants, nested
from interpreter.lowering.facts import Facts, Reach, target_of
from interpreter.lowering.reach import reads_of

__all__ = ["check_flow"]

MAXIMUM_CALLS, MAXIMUM_LEVELS = 60, 200
"""Maximum numbers of calls without a frame, and of nested expressions and statements around them. The plain form needs
about three frames of Python's stack for a level."""
ASKS = ""
"""Stands for a decision among the names of procedures and events."""


def check_flow(model: Model, reach: Reach) -> list[Diagnostic]:
    """Check for recursive functions, endless loops, missing cases of triggers and unused interpretations."""
    recursive = list(_check_recursion(reach))
    return [
        *recursive,
        *_check_functions_pure(reach),
        *_check_loops(model, reach),
        *_check_triggers(model, reach),
        *_check_unused(model, reach),
        *_check_templates(model, reach),
        *_check_starts(model, reach),
        *(() if recursive else _check_depth(model, reach)),
    ]


def _check_recursion(reach: Reach) -> Iterable[Diagnostic]:
    for name, layer in reach.procedures.items():
        if layer.form == "does":
            continue
        trail = _way_back(name, reach.own)
        if trail:
            ring = " → ".join(part.split("@")[0] for part in trail)
            yield Diagnostic("E705", f"`{layer.rule}` calls itself: {ring}", layer.span)


def _way_back(name: str, own: dict[str, Facts]) -> list[str]:
    """Return a chain of calls from a procedure back to itself, or an empty list."""
    caller: dict[str, str] = {}
    front = deque([name])
    while front:
        current = front.popleft()
        for called in sorted(own[current].calls if current in own else ()):
            if called == name:
                trail = [name, current]
                while trail[-1] != name:
                    trail.append(caller[trail[-1]])
                return trail[::-1]
            if called not in caller:
                caller[called] = current
                front.append(called)
    return []


def _check_functions_pure(reach: Reach) -> Iterable[Diagnostic]:
    for name, layer in reach.procedures.items():
        facts = reach.all[name]
        if layer.form != "does" and (facts.suspends or facts.events):
            yield Diagnostic(
                "E701", f"`{layer.rule}` is a function, but it or a rule that it calls changes the game", layer.span
            )


def _check_loops(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that a `while` without a decision has a bound."""
    asking = _asking(model, reach)
    for layer in reach.procedures.values():
        for node in descendants(layer.body):
            if isinstance(node, core.Repeat) and node.bound is None and not _asks(model, node.body, asking):
                silent = list(_silent(model, reach, node.body, asking))
                notes = (
                    Note(f"if this layer of `{other.rule}` runs, the loop never asks", other.span) for other in silent
                )
                message = "this loop may never ask a player" if silent else "this loop never asks a player"
                yield Diagnostic(
                    "E706",
                    f"{message}, so it needs a bound",
                    node.span,
                    tuple(notes),
                    "say `while test at most n times:`",
                )


def _asking(model: Model, reach: Reach) -> frozenset[str]:
    """Return the procedures that ask whichever of their layers runs, directly or by a call, and the events that trigger
    such a procedure."""
    known = {ASKS}
    led = {name: _leads_to(model, layer.body) for name, layer in reach.procedures.items()}
    while True:
        more = {
            name
            for name, layer in reach.procedures.items()
            if not known.isdisjoint(led[name]) and (layer.guard is None or layer.below in known)
        }
        heard = (t.event for t in model.triggers.values() if any(case.procedure in more for case in t.cases))
        if known == (more := {ASKS, *more, *heard}):
            return frozenset(known)
        known = more


def _asks(model: Model, body: object, asking: Set[str]) -> bool:
    """Return whether a text asks, directly or by a call."""
    return not asking.isdisjoint(_leads_to(model, body))


def _leads_to(model: Model, body: object) -> set[str]:
    """Return the procedures that a text calls and the events that it notes, and :data:`ASKS` if it asks directly."""
    names: set[str] = set()
    for node in descendants(body):
        match node:
            case core.Ask():
                names.add(ASKS)
            case core.Notes(event):
                names.add(event)
            case core.CallRule() | core.CallBase():
                names.add(target_of(model, node))
            case _:
                pass
    return names


def _silent(model: Model, reach: Reach, body: tuple[core.Step, ...], asking: Set[str]) -> Iterable[RuleLayer]:
    """Yield the layers that a loop calls and that never ask, although another layer of the same rule asks."""
    calls = [target_of(model, node) for node in descendants(body) if isinstance(node, core.CallRule | core.CallBase)]
    for name in calls:
        layer = reach.procedures.get(name)
        if layer is None or not reach.all[name].asks:
            continue
        calls.extend(sorted(called for called in reach.own[name].calls if called not in calls))
        layers = [
            reach.procedures[candidate]
            for candidate in (name, layer.below)
            if layer.when and candidate in reach.procedures
        ]
        silent = [candidate for candidate in layers if not _asks(model, candidate.body, asking)]
        yield from silent[: len(layers) - 1]


def _check_triggers(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that a trigger has a case for each phase in which its event can occur, and for no other."""
    for trigger in model.triggers.values():
        possible = [phase for phase, facts in reach.phase_facts.items() if trigger.event in facts.events]
        covered = {phase for case in trigger.cases for phase in case.phases}
        general = any(not case.phases for case in trigger.cases)
        missing = [phase for phase in possible if phase not in covered]
        if missing and not general:
            names = ", ".join(f"`{phase}`" for phase in missing)
            yield Diagnostic(
                "E707",
                f"`{trigger.name}` has no case for {names}, where `{trigger.event}` can occur",
                trigger.span,
                tuple(_witness(reach, trigger.event, phase) for phase in missing[:2]),
                "give a case, or `otherwise: nothing`",
            )
        for case in trigger.cases:
            for phase in case.phases:
                if phase in model.phases and phase not in possible and len(case.phases) == 1:
                    yield Diagnostic(
                        "W703", f"`{trigger.event}` cannot occur in `{phase}`", case.span, severity="warning"
                    )


def _witness(reach: Reach, event: str, phase: str) -> Note:
    """Return a note about one place from which a phase can note the event."""
    for name, facts in reach.own.items():
        if event in facts.events:
            return Note(
                f"it is noted in `{reach.procedures[name].rule}`, which `{phase}` reaches", reach.procedures[name].span
            )
    return Note(f"`{phase}` reaches it")


def _check_templates(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that log lines use only values of their events: they are rendered long after the state has changed. Boards
    and prompts speak of the state now."""
    said = [phrase for event in model.events.values() for phrase in event.says.values()]
    lines = (phrases for name, phrases in model.says.items() if not name.startswith(("boards.", "asks.")))
    said.extend(phrase for phrases in lines for phrase in phrases.values())
    for part in (part for phrase in said for part in phrase.parts if not isinstance(part, str)):
        if names := _names_read(model, reach, part):
            yield Diagnostic(
                "E709",
                f"a line of the log reads the state ({names})",
                part.span,
                help="note the value with the event, and name it here",
            )


def _names_read(model: Model, reach: Reach, tree: object) -> str:
    """Return up to three groups of cells that a tree reads."""
    return ", ".join(f"`{name}`" for name in sorted(reads_of(model, [tree], reach.all))[:3])


def _check_starts(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that initial values do not depend on each other."""
    for group in model.groups.values():
        if group.start is not None and (names := _names_read(model, reach, group.start)):
            message = f"the initial value of `{group.name}` reads the state ({names})"
            yield Diagnostic("E710", message, group.start.span, help="give it its value in the procedure of `setup`")


def _check_depth(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that calls without a frame, which are calls of the host, do not nest too deeply."""
    plain = {name for name, layer in reach.procedures.items() if layer.form != "does" or not reach.has_frame(name)}
    waits = {name: facts.calls & plain for name, facts in reach.own.items()}
    levels: dict[str, int] = {}
    for _ in range(MAXIMUM_CALLS + 1):
        ready = [name for name in waits if name not in levels and waits[name] <= levels.keys()]
        for name in ready:
            levels[name] = _levels(model, reach.procedures[name], {called: levels[called] for called in waits[name]})
    for name, layer in reach.procedures.items():
        if name not in levels:
            message = f"`{layer.rule}` starts a chain of more than {MAXIMUM_CALLS} calls"
        elif waits[name] and levels[name] > MAXIMUM_LEVELS:
            message = f"the calls that `{layer.rule}` starts, and what they stand in, nest {levels[name]} levels deep"
            message += f", want at most {MAXIMUM_LEVELS}"
        else:
            continue
        yield Diagnostic("E711", message, layer.span)
        return


def _levels(model: Model, layer: RuleLayer, levels: Mapping[str, int]) -> int:
    """Return how deep the text of a layer nests, with the texts that it calls: ``levels`` has
    those of calls without a frame."""
    deepest = 1 + levels.get(layer.below, 0) if layer.guard is not None else 1
    for node, level in nested((layer.body, layer.guard)):
        match node:
            case core.CallRule() | core.CallBase():
                called = [target_of(model, node)]
            case core.Notes(event):
                cases = [case for t in model.triggers.values() if t.event == event for case in t.cases]
                called = [case.procedure for case in cases if case.procedure is not None]
            case _:
                called = []
        deepest = max(deepest, level + max((levels.get(name, 0) for name in called), default=0))
    return 1 + deepest


def _check_unused(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that a rule reads each interpretation: an interpretation without effect is an error."""
    trees = (
        *((layer.body, layer.when) for layer in reach.procedures.values()),
        *(rule.test for rule in model.standing.values()),
        *(trigger.test for trigger in model.triggers.values()),
    )
    read = {node.name for node in descendants(trees) if isinstance(node, core.SettingValue)}
    for interpretation in model.interpretations.values():
        if interpretation.name not in read:
            yield Diagnostic("E708", f"no rule reads the interpretation `{interpretation.name}`", interpretation.span)
