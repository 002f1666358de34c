"""Checks of the flow of rules: recursion, endless loops, missing cases of triggers, settings without effect.

Takes a checked model and its reachability; returns errors and warnings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.remedies import add, insert, remove
from interpreter.language.model import Model, RuleLayer
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.lowering.reach import Reach, bottom_up

__all__ = ["check_flow"]

MAXIMUM_CALLS, MAXIMUM_LEVELS = 60, 200
"""Maximum numbers of calls without a frame, and of nested expressions and statements around them. The plain form needs
about three frames of Python's stack for a level."""


def check_flow(model: Model, reach: Reach) -> list[Diagnostic]:
    """Check for recursive functions, endless loops, missing cases of triggers and unused interpretations."""
    recursive = list(_check_recursion(reach))
    return [
        *recursive,
        *_check_functions_pure(reach),
        *_check_loops(reach),
        *_check_triggers(model, reach),
        *_check_unused(model, reach),
        *_check_templates(model, reach),
        *_check_starts(model, reach),
        *(() if recursive else _check_depth(reach)),
    ]


def _check_recursion(reach: Reach) -> Iterable[Diagnostic]:
    for name, layer in reach.procedures.items():
        if layer.form != "does" and name in reach.recursive and (trail := _way_back(name, reach.calls)):
            ring = " → ".join(part.split("@")[0] for part in trail)
            yield Diagnostic("E705", f"`{layer.rule}` calls itself: {ring}", layer.span)


def _way_back(name: str, calls: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a chain of calls from a procedure back to itself, or an empty list."""
    caller: dict[str, str] = {}
    front = deque([name])
    while front:
        current = front.popleft()
        for called in sorted(calls.get(current, ())):
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
    changing = reach.suspending | reach.leading_to(lambda facts: facts.events)
    for name, layer in reach.procedures.items():
        if layer.form != "does" and name in changing:
            message = f"`{layer.rule}` is a function, but it or a rule that it calls changes the game"
            yield Diagnostic("E701", message, layer.span)


def _check_loops(reach: Reach) -> Iterable[Diagnostic]:
    """Check that a `while` without a decision has a bound."""
    asking = _asking(reach)
    for layer in reach.procedures.values():
        for loop, facts in layer.facts.loops:
            if not _asks(reach, facts, asking):
                silent = list(_silent(reach, facts, asking))
                why = "if this layer of `{}` runs, the loop never asks"
                notes = [Note(why.format(other.rule), other.span) for other in silent]
                message = f"this loop {'may never ask' if silent else 'never asks'} a player, so it needs a bound"
                file, words = loop.span.file, "say `while test at most n times:`"
                remedy = insert(file, file.text.index(":", loop.span.start), " at most 100 times", words)
                yield Diagnostic("E706", message, loop.span, tuple(notes), remedy)


def _asking(reach: Reach) -> set[str]:
    """Return the procedures that ask whichever of their layers runs, directly or by a call."""
    leading = reach.leading_to(lambda facts: facts.asks)
    known: set[str] = set()
    while True:
        more = {
            name
            for name in leading - known
            if _asks(reach, (layer := reach.procedures[name]).facts, known)
            and (layer.guard is None or layer.below in known)
        }
        if not more:
            return known
        known |= more


def _asks(reach: Reach, facts: TextFacts, asking: Set[str]) -> bool:
    return bool(facts.asks) or not asking.isdisjoint(reach.called(facts))


def _silent(reach: Reach, facts: TextFacts, asking: Set[str]) -> Iterable[RuleLayer]:
    """Yield the layers that a loop calls and that never ask, although another layer of the same rule asks."""
    leading = reach.leading_to(lambda facts: facts.asks)
    calls = [*reach.called(facts)]
    for name in calls:
        if name not in leading:
            continue
        layer = reach.procedures[name]
        calls.extend(sorted(called for called in reach.calls[name] if called not in calls))
        layers = [
            reach.procedures[candidate]
            for candidate in (name, layer.below)
            if layer.when and candidate in reach.procedures
        ]
        silent = [candidate for candidate in layers if not _asks(reach, candidate.facts, asking)]
        yield from silent[: len(layers) - 1]


def _check_triggers(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that a trigger has a case for each phase in which its event can occur, and for no other."""
    for trigger in model.triggers.values():
        possible = [phase for phase, events in reach.phase_events.items() if trigger.event in events]
        covered = {phase for case in trigger.cases for phase in case.phases}
        general = any(not case.phases for case in trigger.cases)
        missing = [phase for phase in possible if phase not in covered]
        if missing and not general:
            names = ", ".join(f"`{phase}`" for phase in missing)
            message = f"`{trigger.name}` has no case for {names}, where `{trigger.event}` can occur"
            notes = tuple(_witness(reach, trigger.event, phase) for phase in missing[:2])
            words = "give a case, or `otherwise: nothing`"
            remedy = add(trigger.span, "otherwise: nothing", words) or words
            yield Diagnostic("E707", message, trigger.span, notes, remedy)
        for case in trigger.cases:
            for phase in case.phases:
                if phase in model.phases and phase not in possible and len(case.phases) == 1:
                    message = f"`{trigger.event}` cannot occur in `{phase}`"
                    yield Diagnostic("W703", message, case.span, severity="warning")


def _witness(reach: Reach, event: str, phase: str) -> Note:
    """Return a note about one place from which a phase can note the event."""
    for layer in reach.procedures.values():
        if event in layer.facts.events:
            return Note(f"it is noted in `{layer.rule}`, which `{phase}` reaches", layer.span)
    return Note(f"`{phase}` reaches it")


def _check_templates(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that log lines use only values of their events: they are rendered long after the state has changed. Boards,
    prompts, refusals and marks speak of the state now."""
    said = [phrase for event in model.events.values() for phrase in event.says.values()]
    spoken_now = ("boards.", "asks.", "refused.", "marks.", "faces.")
    lines = (phrases for name, phrases in model.says.items() if not name.startswith(spoken_now))
    said.extend(phrase for phrases in lines for phrase in phrases.values())
    for part in (part for phrase in said if phrase.facts.groups or phrase.facts.calls for part in phrase.trees):
        if names := _names_read(reach, part):
            message = f"a line of the log reads the state ({names})"
            yield Diagnostic("E709", message, part.span, help="note the value with the event, and name it here")


def _names_read(reach: Reach, tree: object) -> str:
    """Return up to three groups of cells that a tree reads."""
    return ", ".join(f"`{name}`" for name in sorted(reach.reads(facts_of(tree)))[:3])


def _check_starts(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that initial values do not depend on each other."""
    for group in model.groups.values():
        if group.start is not None and (names := _names_read(reach, group.start)):
            message = f"the initial value of `{group.name}` reads the state ({names})"
            yield Diagnostic("E710", message, group.start.span, help="give it its value in the procedure of `setup`")


def _check_depth(reach: Reach) -> Iterable[Diagnostic]:
    """Check that calls without a frame, which are calls of the host, do not nest too deeply."""
    plain = {name for name, layer in reach.procedures.items() if layer.form != "does" or not reach.has_frame(name)}
    waits = {
        name: {other: level for other, level in called.items() if other in plain}
        for name, called in reach.calls.items()
    }
    chains: dict[str, int] = {}
    levels: dict[str, int] = {}
    """For each procedure, the numbers of calls and of levels that its text nests, with the texts that it calls."""
    for name in bottom_up(waits):
        depth = reach.procedures[name].facts.depth
        chains[name] = 1 + max((chains[called] for called in waits[name]), default=0)
        levels[name] = 1 + max([depth, *(level + levels[called] for called, level in waits[name].items())])
    for name, layer in reach.procedures.items():
        if chains[name] > MAXIMUM_CALLS + 1:
            message = f"`{layer.rule}` starts a chain of more than {MAXIMUM_CALLS} calls"
        elif waits[name] and levels[name] > MAXIMUM_LEVELS:
            message = f"the calls that `{layer.rule}` starts, and what they stand in, nest {levels[name]} levels deep"
            message += f", want at most {MAXIMUM_LEVELS}"
        else:
            continue
        yield Diagnostic("E711", message, layer.span)
        return


def _check_unused(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that something reads each interpretation: an interpretation without effect is an error."""
    tests = (*(rule.test for rule in model.standing.values()), *(rule.test for rule in model.triggers.values()))
    others = facts_of((*tests, *model.groups.values(), *model.ranking, *model.phase_guards))
    read = others.settings.union(*(layer.facts.settings for layer in reach.procedures.values()))
    for interpretation in model.interpretations.values():
        if interpretation.name not in read:
            message, span = f"no rule reads the interpretation `{interpretation.name}`", interpretation.span
            yield Diagnostic("E708", message, span, help=remove(span))
