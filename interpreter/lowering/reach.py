"""Reachability of procedures in a ruleset: calls, suspension, and what standing rules and phases read and note.

A procedure suspends if it asks, settles, takes turns, ends the game or calls such a procedure; only lowered code can do
that. One that calls itself is lowered too, since its calls may nest deeper than those of the host. The same facts tell
the checker in which phases an event can occur, and which standing rules a change wakes. What is known of a text alone,
its layer keeps (``language/text_facts.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.language.types import CardHolderType, Type

__all__ = ["Reach", "bottom_up", "reach_of", "reachable", "target_of"]

K = TypeVar("K")


class Reach(Struct, dict=True):
    """What the procedures of a ruleset call, directly and through others."""

    procedures: dict[str, RuleLayer]
    heard: dict[str, tuple[str, ...]]
    """The procedures that run when an event is noted: cases of triggers, and rules that their tests call."""
    calls: dict[str, dict[str, int]] = {}
    """The procedures that each procedure calls, with the deepest level of its text at which it calls them."""
    chances: dict[str, tuple[bool, Type]] = {}
    """For each named chance whether it shuffles (else it picks), and its item type."""
    suspending: set[str] = set()
    recursive: set[str] = set()
    """Procedures that call themselves, perhaps through others, or that call such a procedure."""
    standing_reads: dict[str, set[str]] = {}
    phase_events: dict[str, set[str]] = {}
    """Events that each phase can note, also through delayed blocks and standing rules."""

    def has_frame(self, procedure: str) -> bool:
        """Return whether a call of a procedure takes a frame: it can suspend, or nest as deep as the rules like. Other
        calls are calls of the host."""
        return procedure in self.suspending or procedure in self.recursive

    def called(self, facts: TextFacts) -> dict[str, int]:
        """Return the procedures that a text calls, with the deepest level at which it calls them."""
        found = {self._tops.get(name, name): level for name, level in facts.calls.items()}
        for event, level in facts.events.items():
            for name in self.heard.get(event, ()):
                found[name] = max(level, found.get(name, 0))
        return found

    def reads(self, facts: TextFacts) -> set[str]:
        """Return the groups of cells that a text and the rules that it calls read."""
        called = reachable(self.called(facts), self.calls)
        return facts.groups.union(*(self.procedures[name].facts.groups for name in called))

    def leading_to(self, found: Callable[[TextFacts], object]) -> set[str]:
        """Return the procedures of whose texts something is true, and those that call them, perhaps through others."""
        goals = [name for name, layer in self.procedures.items() if found(layer.facts)]
        return reachable(goals, _callers(self.calls))

    @cached_property
    def _tops(self) -> dict[str, str]:
        """Ids of the uppermost layers by the names of rules."""
        return {layer.rule: name for name, layer in self.procedures.items()}


def reach_of(model: Model, known: Reach | None = None) -> Reach:
    """Return what the procedures of a model reach.

    ``known`` is that of a model that differs by further blocks only, which nothing else runs.
    """
    procedures = {layer.id: layer for rule in model.rules.values() for layer in rule.layers} | model.blocks
    reach = Reach(procedures, _heard(model)) if known is None else replace(known, procedures=procedures)
    new = {name: layer for name, layer in procedures.items() if name not in reach.calls}
    calls = {name: _calls(reach, layer) for name, layer in new.items()}
    reach.calls = reach.calls | calls
    reach.chances = reach.chances | {name: of for layer in new.values() for name, of in layer.facts.chances.items()}
    if known is None:
        reach.suspending = reach.leading_to(lambda facts: facts.suspends)
        reach.recursive = procedures.keys() - bottom_up(calls)
        reach.standing_reads = {name: reach.reads(rule.facts) for name, rule in model.standing.items()}
        reach.phase_events = _phase_events(model, reach)
    else:
        suspends = {name for name, layer in new.items() if layer.facts.suspends}
        reach.suspending = known.suspending | suspends | {name for name in new if calls[name].keys() & known.suspending}
        reach.recursive = known.recursive | {name for name in new if calls[name].keys() & known.recursive}
    return reach


def target_of(model: Model, call: core.CallRule | core.CallBase) -> str:
    """Return the id of the procedure that a call runs."""
    if isinstance(call, core.CallBase):
        return f"{call.rule}@{call.layer}"
    rule = model.rules.get(call.rule)
    return rule.top.id if rule else call.rule


def reachable(starts: Iterable[K], following: Mapping[K, Collection[K]]) -> set[K]:
    """Return the names to which some names lead, these included. Unknown names are left out."""
    found: set[K] = set()
    pending = list(starts)
    while pending:
        name = pending.pop()
        if name not in found and name in following:
            found.add(name)
            pending.extend(following[name])
    return found


def bottom_up(calls: Mapping[str, Collection[str]]) -> list[str]:
    """Return the procedures in an order in which each stands after those that it calls. One that reaches a circle of
    calls is left out."""
    missing = {name: sum(other in calls for other in called) for name, called in calls.items()}
    callers = _callers(calls)
    order = [name for name, number in missing.items() if number == 0]
    for name in order:  # which grows
        for caller in callers[name]:
            missing[caller] -= 1
            if missing[caller] == 0:
                order.append(caller)
    return order


def _callers(calls: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for name, called in calls.items():
        for other in called:
            if other in callers:
                callers[other].append(name)
    return callers


def _heard(model: Model) -> dict[str, tuple[str, ...]]:
    heard: dict[str, tuple[str, ...]] = {}
    for trigger in model.triggers.values():
        cases = [case.procedure for case in trigger.cases if case.procedure]
        tested = [model.rules[name].top.id if name in model.rules else name for name in facts_of(trigger.test).calls]
        heard[trigger.event] = (*heard.get(trigger.event, ()), *cases, *tested)
    return heard


def _calls(reach: Reach, layer: RuleLayer) -> dict[str, int]:
    called = reach.called(layer.facts)
    return {layer.below: 1, **called} if layer.guard is not None else called


# --- phases


def _phase_events(model: Model, reach: Reach) -> dict[str, set[str]]:
    phases = [phase for phase in model.phases if phase in model.rules]
    following = {name: [*called, *_started(model, reach, name)] for name, called in reach.calls.items()}
    entered = [(phase, model.rules[phase].top.id) for phase in phases]
    set_up = [model.rules[model.setup].top.id] if model.setup in model.rules else []
    for keep in _kept(reach, reachable(set_up, reach.calls)):
        here = phases[:1] if _runs_in(keep) == "phase" else _due(model, phases, -1, keep)
        entered.extend((phase, keep) for phase in here)
    passed: dict[str, set[str]] = {phase: set() for phase in phases}
    while entered:
        phase, name = entered.pop()
        new = reachable([name], following) - passed[phase]
        passed[phase] |= new
        for keep in _kept(reach, new):
            entered.extend((there, keep) for there in _due(model, phases, phases.index(phase), keep))
    return {
        phase: {event for name in names for event in reach.procedures[name].facts.events}
        for phase, names in passed.items()
    }


def _started(model: Model, reach: Reach, name: str) -> Iterator[str]:
    """Yield what a procedure starts beside its calls: blocks delayed within the phase, standing rules that it wakes."""
    facts = reach.procedures[name].facts
    yield from (keep for keep in facts.keeps if _runs_in(keep) == "phase")
    changed = set(facts.writes)
    if facts.moves_cards:
        changed.update(name for name, group in model.groups.items() if isinstance(group.type, CardHolderType))
    for rule in facts.dynamic_targets & model.rules.keys():
        changed.update(*(layer.facts.holders for layer in model.rules[rule].layers))
    for standing, reads in reach.standing_reads.items() if changed else ():
        if not reads.isdisjoint(changed):
            yield model.standing[standing].procedure


def _kept(reach: Reach, procedures: Iterable[str]) -> Iterator[str]:
    return (keep for name in procedures for keep in reach.procedures[name].facts.keeps)


def _due(model: Model, phases: list[str], position: int, keep: str) -> Iterator[str]:
    """Yield the phases in which a block that one of them delays can run. A phase with a condition may be skipped."""
    guarded = {phase for phase, guard in zip(model.phases, model.phase_guards, strict=True) if guard is not None}
    order = {"next": phases[position + 1 :] + phases, "first": phases, "last": phases[::-1]}.get(_runs_in(keep), [])
    for phase in order:
        yield phase
        if phase not in guarded:
            return


def _runs_in(keep: str) -> str:
    """Return when a delayed block runs: the phase that delays it, the next one, or the first or last of a round."""
    moments = {"start of phase": "next", "start of round": "first", "end of round": "last"}
    return next((where for moment, where in moments.items() if f"/{moment}/" in keep), "phase")
