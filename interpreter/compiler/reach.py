"""Reachability of procedures: calls, reads, changes, noted events, and suspension.

A procedure suspends if it asks, settles, takes turns, ends the game or calls such a procedure; only lowered code can do
that. The same facts tell the checker in which phases an event can occur, and which standing rules a change wakes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.compiler.facts import Facts, Reach, target_of
from interpreter.language import core
from interpreter.language.model import CheckedTrigger, Model, RuleLayer
from interpreter.language.types import CardHolderType, HolderType, PlaceType, item_type
from interpreter.language.walk import descendants

__all__ = ["check_reach", "procedures_of", "reach_of", "with_blocks"]


MAXIMUM_CALLS = 60
ASKS = ""
"""Stands for a decision among the names of procedures and events."""


def procedures_of(model: Model) -> dict[str, RuleLayer]:
    """Return every layer of every rule, and every block, by id."""
    return {layer.id: layer for rule in model.rules.values() for layer in rule.layers} | dict(model.blocks)


def reach_of(model: Model) -> Reach:
    """Return the facts of every procedure of a model, direct and transitive."""
    procedures = procedures_of(model)
    own = {name: _facts_in(model, (layer.body, layer.when)) for name, layer in procedures.items()}
    for name, layer in procedures.items():
        if layer.when is not None and layer.layer > 0:
            own[name].calls.add(_below(layer))
    _join_triggers(model, own)
    closed = {name: _closure(name, own) for name in procedures}
    standing_reads = {
        name: frozenset(_all_reads(_facts_in(model, rule.trees), closed)) for name, rule in model.standing.items()
    }
    phase_facts = _phase_facts(model, closed, standing_reads)
    return Reach(procedures, own, closed, standing_reads, phase_facts)


def with_blocks(known: Reach, model: Model) -> Reach:
    """Return the facts of a model that differs from a known one by further blocks, which nothing else runs."""
    procedures = procedures_of(model)
    own = {
        name: known.own.get(name) or _facts_in(model, (layer.body, layer.when)) for name, layer in procedures.items()
    }
    _join_triggers(model, own)
    closed = {name: known.all.get(name) or _closure(name, own) for name in procedures}
    return Reach(procedures, own, closed, known.standing_reads, known.phase_facts)


def _facts_in(model: Model, trees: Iterable[object]) -> Facts:
    facts = Facts()
    for tree in trees:
        for node in descendants(tree):
            _note_facts(model, node, facts)
    return facts


def _all_reads(facts: Facts, closed: dict[str, Facts]) -> set[str]:
    """Return what some trees and the rules that they call read."""
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


# --- checks -----------------------------------------------------------------------------------------------------------


def check_reach(model: Model, reach: Reach) -> list[Diagnostic]:
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
        *(() if recursive else _check_depth(reach)),
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
            if not known.isdisjoint(led[name]) and (layer.when is None or _below(layer) in {*known, f"{layer.rule}@-1"})
        }
        heard = (t.event for t in model.triggers.values() if any(case.procedure in more for case in t.cases))
        if known == (more := {ASKS, *more, *heard}):
            return frozenset(known)
        known = more


def _below(layer: RuleLayer) -> str:
    """Return the id of the layer that runs if this one does not."""
    return f"{layer.rule}@{layer.layer - 1}"


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
            for candidate in (name, _below(layer))
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
    return ", ".join(f"`{name}`" for name in sorted(_all_reads(_facts_in(model, [tree]), reach.all))[:3])


def _check_starts(model: Model, reach: Reach) -> Iterable[Diagnostic]:
    """Check that initial values do not depend on each other."""
    for group in model.groups.values():
        if group.start is not None and (names := _names_read(model, reach, group.start)):
            message = f"the initial value of `{group.name}` reads the state ({names})"
            yield Diagnostic("E710", message, group.start.span, help="give it its value in the procedure of `setup`")


def _check_depth(reach: Reach) -> Iterable[Diagnostic]:
    """Check that calls of functions do not nest too deeply."""
    calls = {
        name: [called for called in reach.own[name].calls if called in reach.procedures]
        for name, layer in reach.procedures.items()
        if layer.form != "does"
    }
    depth: dict[str, int] = {}  # functions that are known to be shallow enough
    for _ in range(MAXIMUM_CALLS + 1):
        left = [name for name in calls if name not in depth]
        if not left:
            return
        ready = [name for name in left if all(called in depth for called in calls[name] if called in calls)]
        depth.update(dict.fromkeys(ready, 0))
    name = next(name for name in calls if name not in depth)
    message = f"`{reach.procedures[name].rule}` starts a chain of more than {MAXIMUM_CALLS} calls"
    yield Diagnostic("E711", message, reach.procedures[name].span)


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
