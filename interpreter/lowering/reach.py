"""Reachability of procedures: calls, reads, changes, noted events, and suspension.

A procedure suspends if it asks, settles, takes turns, ends the game or calls such a procedure; only lowered code can do
that. One that calls itself is lowered too, since its calls may nest deeper than those of the host. The same facts tell
the checker in which phases an event can occur, and which standing rules a change wakes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from interpreter.language import core
from interpreter.language.model import CheckedTrigger, Model
from interpreter.language.types import CardHolderType, HolderType, PlaceType, item_type
from interpreter.language.walk import descendants
from interpreter.lowering.facts import Facts, Reach, target_of

__all__ = ["reach_of", "reads_of"]


def reach_of(model: Model, known: Reach | None = None) -> Reach:
    """Return the facts of every procedure of a model, direct and transitive.

    ``known`` has those of a model that differs by further blocks only, which nothing else runs.
    """
    procedures = {layer.id: layer for rule in model.rules.values() for layer in rule.layers} | dict(model.blocks)
    own, closed = (dict(known.own), dict(known.all)) if known is not None else ({}, {})
    for name, layer in procedures.items():
        if name not in own:
            own[name] = _facts_in(model, (layer.body, layer.when))
            if layer.guard is not None:
                own[name].calls.add(layer.below)
    _join_triggers(model, own)
    closed.update((name, _closure(name, own)) for name in procedures if name not in closed)
    recursive = {name for name, facts in closed.items() if name in facts.calls}
    for name, facts in closed.items():
        facts.recurs = not recursive.isdisjoint({name, *facts.calls})
    if known is not None:
        return replace(known, procedures=procedures, own=own, all=closed)
    standing_reads = {name: frozenset(reads_of(model, rule.trees, closed)) for name, rule in model.standing.items()}
    return Reach(procedures, own, closed, standing_reads, _phase_facts(model, closed, standing_reads))


def _facts_in(model: Model, trees: Iterable[object]) -> Facts:
    facts = Facts()
    for tree in trees:
        for node in descendants(tree):
            _note_facts(model, node, facts)
    return facts


def reads_of(model: Model, trees: Iterable[object], closed: dict[str, Facts]) -> set[str]:
    """Return the groups of cells that some trees and the rules that they call read."""
    facts = _facts_in(model, trees)
    return facts.reads.union(*(closed[call].reads for call in facts.calls if call in closed))


def _note_facts(model: Model, node: object, facts: Facts) -> None:
    match node:
        case core.CallRule() | core.CallBase():
            facts.calls.add(target_of(model, node))
        case core.Cell(group, _):
            facts.reads.add(group)
            if isinstance(node.type, HolderType):
                facts.holders.add(group)
        case core.SetCell(cell, _):
            _write(cell, facts)
        case core.MoveCards(_, target, _):
            _write(target, facts)
            facts.writes.update(name for name, group in model.groups.items() if isinstance(group.type, CardHolderType))
        case core.MoveTokens(_, source, target) | core.MovePiece(_, source, target) | core.MoveAll(source, target, _):
            _write(source, facts)
            _write(target, facts)
        case core.Shuffles(zone, _):
            _write(zone, facts)
            _note_chance(node, zone, facts)
        case core.Picks():
            _note_chance(node, node.items, facts)
        case core.Notes(event, _):
            facts.events.add(event)
        case core.Keeps():
            facts.keeps.add(node.procedure)
        case core.Ask():
            facts.asks.add(node.name)
            facts.suspends = True
        case core.Settles() | core.Ends():
            facts.suspends = True
        case core.Iterate():
            facts.suspends |= node.turn
        case _:
            pass


def _note_chance(node: core.Shuffles | core.Picks, drawn: core.Expression, facts: Facts) -> None:
    if (item := item_type(drawn.type)) is not None:
        facts.chances[node.chance] = isinstance(node, core.Shuffles), item


def _write(target: core.Expression, facts: Facts) -> None:
    if isinstance(target.type, PlaceType):
        facts.writes.add("piece")
        return
    for node in descendants(target):
        if isinstance(node, core.Cell):
            facts.writes.add(node.group)
        elif isinstance(node, core.CallRule):
            facts.dynamic_targets.add(node.rule)


def _join_triggers(model: Model, own: dict[str, Facts]) -> None:
    """Add calls from each procedure that notes an event to the triggers of the event."""
    hear: dict[str, list[CheckedTrigger]] = {}
    for trigger in model.triggers.values():
        hear.setdefault(trigger.event, []).append(trigger)
    for facts in own.values():
        for trigger in [trigger for event in facts.events for trigger in hear.get(event, ())]:
            facts.calls.update(case.procedure for case in trigger.cases if case.procedure)
            facts.join(_facts_in(model, [trigger.test]))
    for facts in own.values():
        for rule in facts.dynamic_targets:
            called = model.rules.get(rule)
            for layer in called.layers if called else ():
                facts.writes.update(own[layer.id].holders)


def _closure(name: str, own: dict[str, Facts]) -> Facts:
    seen: set[str] = set()
    front = [name]
    total = Facts()
    while front:
        current = front.pop()
        if current in seen or current not in own:
            continue
        seen.add(current)
        total.join(own[current])
        front.extend(own[current].calls)
    return total


def _phase_facts(model: Model, closed: dict[str, Facts], standing_reads: dict[str, frozenset[str]]) -> dict[str, Facts]:
    """Return what each phase can reach through delayed blocks and standing rules."""
    phases = [phase for phase in model.phases if phase in model.rules]
    entered = {phase: {model.rules[phase].top.id} for phase in phases}
    kept_at_start = closed[model.rules[model.setup].top.id].keeps if model.setup in model.rules else set[str]()
    for keep in kept_at_start if phases else ():
        entered[phases[0]] |= {keep} if _runs_in(keep) == "phase" else set()
    while True:
        facts = {phase: _facts_from(entered[phase], model, closed, standing_reads) for phase in phases}
        before = sum(map(len, entered.values()))
        for position, keeps in enumerate([kept_at_start, *(facts[phase].keeps for phase in phases)], -1):
            for keep in keeps:
                for there in _due(model, phases, position, _runs_in(keep)):
                    entered[there].add(keep)
        if before == sum(map(len, entered.values())):
            return facts


def _due(model: Model, phases: list[str], position: int, moment: str) -> Iterator[str]:
    """Yield the phases in which a block that one of them delays can run. A phase with a condition may be skipped."""
    guarded = {phase for phase, guard in zip(model.phases, model.phase_guards, strict=True) if guard is not None}
    order = {"next": phases[position + 1 :] + phases, "first": phases, "last": phases[::-1]}.get(moment, [])
    for phase in order:
        yield phase
        if phase not in guarded:
            return


def _runs_in(keep: str) -> str:
    """Return when a delayed block runs: the phase that delays it, the next one, or the first or last of a round."""
    moments = {"start of phase": "next", "start of round": "first", "end of round": "last"}
    return next((where for moment, where in moments.items() if f"/{moment}/" in keep), "phase")


def _facts_from(
    entered: set[str], model: Model, closed: dict[str, Facts], standing_reads: dict[str, frozenset[str]]
) -> Facts:
    facts = Facts()
    pending, visited = set(entered), set[str]()
    while pending:
        name = pending.pop()
        visited.add(name)
        add = closed.get(name)
        if add is None:
            continue
        facts.join(add)
        following = {keep for keep in add.keeps if _runs_in(keep) == "phase"}
        for standing, reads in standing_reads.items():
            if reads & facts.writes:
                following.add(model.standing[standing].procedure)
        pending |= following - visited
    return facts
