"""Secret locals: an information-flow analysis of all procedures that can be active while a decision is pending.

A program goes in. The result is, for each stretch, the locals with a value and their *labels*: the reasons why a value
is not public. A label without reasons is public. Reasons arise from hidden things (zones, pools and values that not
everyone sees, sealed choices, draws) and propagate through values, calls and control flow. They end where the value is
announced: by an event, a public value of the state, a move to an open zone, the seat that decides, the context of a
decision, and for sealed choices by ``reveal``. Everybody knows which decision is pending, so the control flow up to it
is no longer secret.

The analysis is context-insensitive: a parameter is secret if it is secret in any call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.types import CardHolderType, CardType, HolderType, PilesType, PileType, has_cards, item_type
from interpreter.language.walk import descendants
from interpreter.lowering import lower
from interpreter.lowering.reach import reachable

__all__ = ["PUBLIC", "Label", "Secrecy"]

Atom = tuple[str, int]
"""A reason why a value is secret, and the local with the seat that knows it anyway, or -1.

``hidden``: from hidden cells; ``covered``: from zones of cards that no seat sees. ``sealed``: a choice, until it is
revealed. ``waiting``: a simultaneous choice, until all have chosen. ``drawn NAME``: an outcome of chance. While callers
are unknown, also ``given`` with the number of a parameter, for its reasons, and ``called``, for the reasons of the call
itself.
"""
Label = frozenset[Atom]
Env = dict[int, Label]
"""Locals that definitely have a value, with their labels."""

PUBLIC: Label = frozenset()
HIDDEN: Label = frozenset({("hidden", -1)})
COVERED: Label = frozenset({("covered", -1)})
CALLED: Label = frozenset({("called", -1)})
_ENTRY = -1
"""Fork number that stands for the control flow leading to the call of a procedure."""


def _ownerless(label: Label) -> Label:
    return frozenset((kind, owner if kind == "given" else -1) for kind, owner in label)


def _own(label: Label) -> Label:
    """Return the reasons that do not come from the caller."""
    return frozenset(atom for atom in label if atom[0] not in ("given", "called"))


def _unowned(label: Label, local: int) -> Label:
    """Return the label after a local was reassigned: the local no longer names the seat that knows."""
    if any(owner == local and kind != "given" for kind, owner in label):
        return frozenset((kind, -1 if owner == local and kind != "given" else owner) for kind, owner in label)
    return label


def _passed(label: Label, arguments: Sequence[core.Expression], changed: Collection[int]) -> Label:
    """Translate a label from caller to callee. Seats are kept in parameters that are never reassigned."""
    places = {
        argument.index: number
        for number, argument in enumerate(arguments)
        if isinstance(argument, core.Local) and number not in changed
    }
    return frozenset((kind, places.get(owner, -1)) for kind, owner in label)


def _given_back(
    label: Label, arguments: Sequence[core.Expression], bound: Collection[int], changed: Collection[int]
) -> Label:
    """Translate the label of a result from callee to caller. Parameters that the callee has reassigned no longer name
    the seat that the caller has passed."""
    atoms = set[Atom]()
    for kind, owner in label:
        argument = arguments[owner] if 0 <= owner < len(arguments) and owner not in changed else None
        atoms.add((kind, argument.index if isinstance(argument, core.Local) and argument.index not in bound else -1))
    return frozenset(atoms)


def _leaves(steps: object) -> bool:
    return any(isinstance(node, core.Returns) for node in descendants(steps))


def _merged(left: Env | None, right: Env) -> Env:
    if left is None:
        return dict(right)
    return {local: label | right[local] for local, label in left.items() if local in right}


@dataclass
class _Procedure:
    """Facts about a procedure so far, in terms of its parameters."""

    name: str
    result: Label = PUBLIC
    told: frozenset[int] | None = None
    """Parameters whose values everybody knows whenever the procedure has ended; None while no end is known."""
    entries: dict[int, Env] = field(default_factory=dict)
    """Locals at the start of each stretch; for a stretch that asks, after everybody knows the decision."""
    forks: dict[int, frozenset[int]] = field(default_factory=dict)
    """Forks that lead to each stretch and whose branches have not joined again."""
    tests: dict[int, Label] = field(default_factory=dict)
    """Labels of the conditions of forks."""
    calls: dict[str, list[tuple[tuple[core.Expression, ...], tuple[Label, ...], Label]]] = field(default_factory=dict)
    """Calls by callee: arguments, their labels, and the label of the control flow."""
    notes: dict[tuple[str, Span], Label] = field(default_factory=dict)
    """Labels of the control flow to each note of an event."""
    sizes: dict[tuple[str, Span], Label] = field(default_factory=dict)
    """Labels of what decides each change of a hidden group whose number of items is public."""


class Secrecy:
    """What is secret in the procedures of a program: labels of their locals."""

    def __init__(self, program: lower.Program) -> None:
        self.program, self.model = program, program.model
        model = self.model
        self.hides = any(g.seen != "everyone" and isinstance(g.type, CardHolderType) for g in model.groups.values())
        self.names: dict[str, Label] = {
            name: PUBLIC
            for name, group in model.groups.items()
            if group.seen == "everyone"
            and not isinstance(group.type, HolderType)
            and has_cards(group.type, model.records)
        }
        """Public values that can name cards, with the label of what they name."""
        self.following = {number: _follows(stretch.end) for number, stretch in enumerate(program.stretches)}
        self.done: dict[str, _Procedure] = {}
        self._open: set[str] = set()
        self.drawn: set[str] = set()
        self.secret_draws: set[str] = set()
        self.parameters: dict[str, tuple[Label, ...]] = {}
        self.called: dict[str, Label] = {}
        self._assigned: dict[str, frozenset[int]] = {}
        self._solve()

    # --- results

    def locals_at(self, stretch: int) -> Env:
        """Return the locals that definitely have a value at the start of a stretch, with their labels."""
        name = self.program.stretches[stretch].procedure
        entry = self.done[name].entries.get(stretch, {})
        return {local: self.resolved(label, name) for local, label in entry.items()}

    def course_at(self, stretch: int) -> Label:
        """Return the label of the control flow to a stretch: the still secret things that decided it."""
        name = self.program.stretches[stretch].procedure
        return self.resolved(self.course(self.done[name], stretch), name)

    def hides_calls(self, procedure: str) -> bool:
        """Return whether it may be a secret that a procedure was called, or by which call."""
        return bool(self.called.get(procedure))

    @cached_property
    def _notes(self) -> dict[str, dict[Span, Label]]:
        """Labels of the control flow to each place that notes an event, by event."""
        notes: dict[str, dict[Span, Label]] = {}
        for name, procedure in self.done.items():
            for (event, span), course in procedure.notes.items():
                places = notes.setdefault(event, {})
                places[span] = places.get(span, PUBLIC) | _ownerless(self.resolved(course, name))
        return notes

    def shows_place(self, event: str, span: Span) -> bool:
        """Return whether everybody may know which place in the rules noted an event: it is the only one, or nothing
        secret decided that it was reached."""
        return len(self._notes.get(event, ())) < 2 or self.shows_callers(event, span)

    def shows_callers(self, event: str, span: Span) -> bool:
        """Return whether everybody may know which calls led to a note."""
        return not self._notes.get(event, {}).get(span)

    def decided_sizes(self) -> Iterator[tuple[str, str, Span]]:
        """Yield the changes of hidden groups by which a public number of items tells something hidden: the procedure,
        the group and the place."""
        for name, procedure in self.done.items():
            for (group, span), label in procedure.sizes.items():
                if any(kind == "hidden" for kind, _ in self.resolved(label, name)):
                    yield name, group, span

    @cached_property
    def secret_moments(self) -> frozenset[tuple[str, str]]:
        """Moments of delayed blocks, as the state names them, of which it is a secret whether such a block waits."""
        nodes = (node for layer in self.program.reach.procedures.values() for node in descendants(layer.body))
        secret = [node for node in nodes if isinstance(node, core.Keeps) and self.hides_calls(node.procedure)]
        edges = {"start": ("start", "due"), "end": ("end",)}
        return frozenset((edge, node.of) for node in secret for edge in edges[node.edge])

    def given(self, procedure: str) -> tuple[tuple[Label, ...], Label]:
        """Return the labels of the parameters of a procedure, and of the control flow to its calls."""
        return self.parameters[procedure], self.called[procedure]

    @property
    def announced_draws(self) -> frozenset[str]:
        """Named chances whose outcomes are always announced."""
        return frozenset(self.drawn - self.secret_draws)

    @cached_property
    def read_later(self) -> list[frozenset[int]]:
        """Live locals at the start of each stretch."""
        stretches = self.program.stretches
        live_at = [frozenset[int]()] * len(stretches)
        changed = True
        while changed:
            changed = False
            for index, stretch in reversed(list(enumerate(stretches))):
                live = set(_read_at_end(stretch.end, live_at))
                for step in reversed(stretch.steps):
                    live -= {step.index} if isinstance(step, core.SetLocal | core.Picks) else set()
                    live |= _read_in(step)
                if live != live_at[index]:
                    live_at[index], changed = frozenset(live), True
        return live_at

    # --- all procedures

    def _solve(self) -> None:
        while True:
            before = self._known()
            self.done = {name: _Procedure(name, done.result, done.told) for name, done in self.done.items()}
            self._open.clear()
            for name in self.program.procedures:
                self.procedure(name)
            self._pass_on()
            if self._known() == before:
                return

    def _known(self) -> tuple[object, ...]:
        """Return the facts that one iteration passes to the next."""
        results = {name: (done.result, done.told) for name, done in self.done.items()}
        return results, dict(self.names), dict(self.parameters), dict(self.called)

    def _pass_on(self) -> None:
        """Propagate labels of parameters from callers to callees."""
        procedures = self.program.reach.procedures
        self.parameters = {name: (PUBLIC,) * len(layer.parameters) for name, layer in procedures.items()}
        self.called = dict.fromkeys(procedures, PUBLIC)
        for rule in self.model.standing.values():
            label = _ownerless(self.label(rule, {}))
            self.called[rule.procedure] = label
            self.parameters[rule.procedure] = (label,) * len(self.parameters[rule.procedure])
        waiting = set(self.done)
        while waiting:
            name = waiting.pop()
            for callee, calls in self.done[name].calls.items():
                known, called = list(self.parameters[callee]), self.called[callee]
                for arguments, labels, course in calls:
                    called |= _ownerless(self.resolved(course, name))
                    for number, label in enumerate(labels):
                        known[number] |= _passed(self.resolved(label, name), arguments, self.changed(callee))
                if tuple(known) != self.parameters[callee] or called != self.called[callee]:
                    self.parameters[callee], self.called[callee] = tuple(known), called
                    if callee in self.done:
                        waiting.add(callee)

    def changed(self, name: str) -> frozenset[int]:
        if name not in self._assigned:
            nodes = descendants(self.program.reach.procedures[name].body)
            self._assigned[name] = frozenset(index for node in nodes for index, _ in lower.set_by(node))
        return self._assigned[name]

    def resolved(self, label: Label, name: str) -> Label:
        """Replace the parameters in a label by the labels that callers pass."""
        atoms = set[Atom]()
        for kind, local in label:
            if kind == "given":
                atoms |= self.parameters[name][local] if name in self.parameters else PUBLIC
            elif kind == "called":
                atoms |= self.called.get(name, PUBLIC)
            else:
                atoms.add((kind, local))
        return frozenset(atoms)

    # --- one procedure

    def procedure(self, name: str) -> _Procedure:
        procedure = self.done.setdefault(name, _Procedure(name))
        if name in self._open or name not in self.program.reach.procedures:
            return procedure
        self._open.add(name)
        layer = self.program.reach.procedures[name]
        lowered = self.program.procedures.get(name)
        env: Env = {number: frozenset({("given", number)}) for number in range(len(layer.parameters))}
        if lowered is not None and lowered.steps is None:
            _Flow(self, procedure).follow(lowered.entry, env)
            return procedure
        course = CALLED
        if layer.guard is not None:
            course |= self.label(layer.guard, env)
            procedure.result |= course | self.procedure(layer.below).result
        body = layer.body if lowered is None else lowered.steps
        if isinstance(body, tuple):
            _Steps(self, procedure).run(body, env, course)
        else:
            procedure.result |= self.label(body, env)
        procedure.result = _own(procedure.result)
        return procedure

    def course(self, procedure: _Procedure, stretch: int) -> Label:
        forks = procedure.forks.get(stretch, ())
        labels = (CALLED if fork == _ENTRY else procedure.tests.get(fork, PUBLIC) for fork in forks)
        return _ownerless(PUBLIC.union(*labels))

    # --- expressions

    def label(self, tree: object, env: Env) -> Label:
        """Return the label of a tree: the union over everything that it reads."""
        atoms = set[Atom]()
        nodes = list(descendants(tree))
        bound = {node.variable for node in nodes if isinstance(node, core.Loop)}
        public_cells = {id(cell) for node in nodes for cell in self._public_uses(node) if not self.carried(cell)}
        for node in nodes:
            match node:
                case core.Local(index) if index not in bound:
                    atoms |= env.get(index, PUBLIC)
                case core.Read(core.Cell() as cell) if id(cell) not in public_cells:
                    atoms |= self._held(cell, bound)
                case core.Read(of) if not isinstance(of, core.Cell):
                    atoms |= self._held_somewhere(of)
                case core.CallBuiltin(Builtin(reads=True), arguments):
                    for argument in arguments:
                        if isinstance(argument, core.Cell):
                            atoms |= self._held(argument, bound)
                        elif isinstance(argument.type, HolderType):
                            atoms |= self._held_somewhere(argument)
                case core.CallRule() | core.CallBase():
                    target = self.program.target(node)
                    result = self.procedure(target).result
                    atoms |= _given_back(result, node.arguments, bound, self.changed(target) if result else ())
        return frozenset(atoms)

    def label_of_size(self, items: core.Expression, env: Env, sizes: Env | None = None) -> Label:
        """Return the label of the number of items. A public size may belong to a secret owner. ``sizes`` has the labels
        of the sizes of locals, if they are known."""
        match items:
            case core.Read(core.Cell() as cell) if self.is_counted(cell):
                return self.label(cell.owner, env)
            case core.Local(index) if sizes is not None:
                return sizes.get(index, PUBLIC)
            case core.MakeList():
                return PUBLIC
            case core.Arithmetic("+", left, right):
                return self.label_of_size(left, env, sizes) | self.label_of_size(right, env, sizes)
            case core.CallBuiltin(Builtin("rest" | "reversed" | "without" | "replaced"), (whole, *_)):
                return self.label_of_size(whole, env, sizes)
            case core.CallBuiltin(Builtin("take"), (number, whole)):
                return self.label(number, env) | self.label_of_size(whole, env, sizes)
            case core.Select(items=whole, test=None) | core.Order(items=whole, test=None, operation="sorted"):
                return self.label_of_size(whole, env, sizes)
        return self.label(items, env)

    def label_of_test(self, test: core.Test, env: Env) -> Label:
        """Return the label of the branch that a test takes. Everybody knows whether a value is none and whether a zone
        is empty, so ``if let card = first(deck)`` branches in public."""
        match test:
            case core.Test(core.Read(core.Cell() as cell), bind=int()) if not self.carried(cell):
                return self.label(cell.owner, env)
            case core.Test(core.CallBuiltin(Builtin("first" | "last"), (items,)), bind=int()):
                return self.label_of_size(items, env)
        return self.label(test.value, env)

    def _public_uses(self, node: object) -> Iterator[core.Cell]:
        """Yield hidden cells of which a node reads only public facts: their size, whether they are empty, or the
        back of a top card."""
        match node:
            case core.CallBuiltin(Builtin("count"), (core.Read(core.Cell() as cell),)) if self.is_counted(cell):
                yield cell
            case core.Comparison("==" | "!=", core.Read(core.Cell() as cell), core.Const(None)):
                yield cell
            case core.Comparison("==" | "!=", core.Read(core.Cell() as cell), core.Const(()) | core.MakeList(())) if (
                self.is_counted(cell)
            ):
                yield cell
            case core.CallRule(rule, (core.CallBuiltin(Builtin("first"), (core.Read(core.Cell(group) as cell),)),)):
                shows = self.model.groups[group].top_shows
                if isinstance(shows, core.CallRule) and shows.rule == rule:
                    yield cell

    def _held(self, cell: core.Cell, bound: Collection[int]) -> Label:
        """Return the label of a cell's content, without that of the owner."""
        group = self.model.groups.get(cell.group)
        if group is None:  # progress of the game, such as phase and turn
            return PUBLIC
        if group.seen == "owner" and isinstance(cell.owner, core.Local) and cell.owner.index not in bound:
            return frozenset({("hidden", cell.owner.index)})
        if group.seen != "everyone" or self.carried(cell):
            is_covered = group.seen == "no one" and isinstance(group.type, CardHolderType) and not self.carried(cell)
            return COVERED if is_covered else HIDDEN
        return self.names.get(cell.group, PUBLIC)

    def carried(self, cell: core.Cell) -> bool:
        """Return whether a cell belongs to a card that may be hidden, and then hides even its size."""
        group = self.model.groups.get(cell.group)
        return group is not None and isinstance(group.owner, CardType) and self.hides

    def is_counted(self, cell: core.Cell) -> bool:
        """Return whether everybody sees the number of items in a cell."""
        group = self.model.groups.get(cell.group)
        return group is None or (group.is_counted and not self.carried(cell))

    def _held_somewhere(self, holder: core.Expression) -> Label:
        """Return the label of the content of a holder that is known only at run time."""
        hidden = (g for g in self.model.groups.values() if g.seen != "everyone" and type(g.type) is type(holder.type))
        return HIDDEN if any(hidden) else PUBLIC

    def names_card(self, group: str, label: Label) -> None:
        """Record that a public value names a card. Reading it reveals no more of the card than was known before."""
        self.names[group] |= label & COVERED if label <= COVERED else HIDDEN

    def draws(self, chance: str) -> Atom:
        self.drawn.add(chance)
        return f"drawn {chance}", -1

    def keeps_secret(self, labels: Iterable[Label]) -> None:
        """Record values that are overwritten, or cross a decision, without having been announced."""
        self.secret_draws.update(kind[6:] for label in labels for kind, _ in label if kind.startswith("drawn "))


class _Steps:
    """Tracks the labels of locals through steps that run without suspending."""

    def __init__(self, analysis: Secrecy, procedure: _Procedure) -> None:
        self.analysis, self.model, self.procedure = analysis, analysis.model, procedure
        self.sizes: Env = {}

    def run(self, steps: Sequence[core.Step | core.Requirement], env: Env, course: Label) -> None:
        """Process a whole procedure."""
        self.steps(steps, env, course)
        self.ends(env)
        self.analysis.keeps_secret(env.values())

    def steps(self, steps: Sequence[core.Step | core.Requirement], env: Env, course: Label) -> Label:
        """Process steps, updating ``env``; return the label of the control flow at their end."""
        for step in steps:
            course = self.step(step, env, course)
        return course

    def assign(self, env: Env, local: int, label: Label) -> None:
        """Assign a label to a local. Labels that named its old value as the seat that knows lose that seat."""
        self.analysis.keeps_secret((env.get(local, PUBLIC),))
        for other, label_of_other in env.items():
            env[other] = _unowned(label_of_other, local)
        env[local] = _unowned(label, local)

    def tell(self, env: Env, *values: core.Expression) -> None:
        """Mark values as announced to everybody."""
        for value in values:
            if isinstance(value, core.Local) and value.index in env:
                env[value.index] = PUBLIC

    def tell_all_but_cards(self, env: Env, values: Iterable[core.Expression]) -> None:
        self.tell(env, *(value for value in values if not has_cards(value.type, self.model.records)))

    def step(self, step: core.Step | core.Requirement, env: Env, course: Label) -> Label:
        label = self.analysis.label
        self._note_calls(step, env, course)
        match step:
            case core.SetLocal(local, value):
                size = self.analysis.label_of_size(value, env, self.sizes)
                self.sizes[local] = self.sizes.get(local, PUBLIC) | size | course
                self.assign(env, local, label(value, env) | course)
            case core.Picks(local, items, chance):
                self.assign(env, local, label(items, env) | course | {self.analysis.draws(chance)})
            case core.Shuffles(zone, chance):
                drawn = self.analysis.draws(chance)
                if not isinstance(zone, core.Cell) or self.model.groups[zone.group].seen != "everyone":
                    self.analysis.keeps_secret([frozenset({drawn})])
            case core.SetCell(core.Cell(group) as cell, value):
                self._sizes(cell, value, env, course, step.span)
                self._set_cell(cell, group, value, env, course)
            case core.MoveCards(cards, target):
                self._sizes(target, cards, env, course, step.span)
                self._move(cards, target, env)
            case core.MoveAll(source, target) if isinstance(target.type, CardHolderType):
                self._sizes(target, core.Read(source, type=source.type), env, course, step.span)
            case core.MoveTokens(amount, source, target) | core.MovePiece(amount, source, target):
                if self._is_open(source) or self._is_open(target):
                    self.tell(env, amount)
            case core.Notes(event, arguments):
                notes, place = self.procedure.notes, (event, step.span)
                notes[place] = notes.get(place, PUBLIC) | course
                self.tell_all_but_cards(env, arguments)
            case core.Reveals(at_once):
                opened = ("waiting",) if at_once else ("sealed", "waiting")
                for local, label_of_local in env.items():
                    env[local] = frozenset(atom for atom in label_of_local if atom[0] not in opened)
            case core.Branch():
                return self._branch(step, env, course)
            case core.Iterate():
                return self._iterate(step, env, course)
            case core.Repeat(test, _, body, hidden):
                self.assign(env, hidden, course)
                return self._again(
                    body, env, course, lambda inside: self.steps(body, inside, course | _ownerless(label(test, inside)))
                )
            case core.Returns(value):
                self.returns(value, env, course)
            case core.Requirement(test, _, bind):
                if bind is not None:
                    self.assign(env, bind, label(test, env) | course)
                else:
                    self.returns(test, env, course)
        return course

    def ends(self, env: Env) -> None:
        """Record what the procedure has announced of its parameters where it ends."""
        done, name = self.procedure, self.procedure.name
        told = frozenset(local for local, label in env.items() if not label) - self.analysis.changed(name)
        done.told = told if done.told is None else done.told & told

    def returns(self, value: core.Expression | None, env: Env, course: Label) -> None:
        self.ends(env)
        if value is not None:
            label = self.analysis.label(value, env) | course
            self.analysis.keeps_secret((label,))
            self.procedure.result |= _own(label)

    def _is_open(self, cell: core.Expression) -> bool:
        """Return whether everybody sees what is in a cell or pile. Tokens on a card are hidden with it."""
        if isinstance(cell.type, PileType):
            return all(g.seen == "everyone" for g in self.model.groups.values() if isinstance(g.type, PilesType))
        if not isinstance(cell, core.Cell):
            return False
        group = self.model.groups[cell.group]
        return group.seen == "everyone" and not self.analysis.carried(cell)

    def _set_cell(self, cell: core.Cell, group: str, value: core.Expression, env: Env, course: Label) -> None:
        label = self.analysis.label(value, env)
        if group in self.analysis.names:
            self.analysis.names_card(group, self.analysis.resolved(label | course, self.procedure.name))
        elif self._is_open(cell):
            self.tell(env, value)
        else:
            self.analysis.keeps_secret((label,))

    def _sizes(self, cell: core.Expression, value: core.Expression, env: Env, course: Label, span: Span) -> None:
        """Record what decides a public number of hidden items: of a zone, of a list, or whether there is a value."""
        if not isinstance(cell, core.Cell) or self.model.groups[cell.group].seen == "everyone":
            return
        place, sizes, label = (cell.group, span), self.procedure.sizes, course | self.analysis.label(cell.owner, env)
        if self.analysis.is_counted(cell) and item_type(value.type) is not None:
            label |= self.analysis.label_of_size(value, env, self.sizes)
        elif not self.analysis.is_counted(cell) and value.type.optional:
            label |= self.analysis.label(value, env)
        if self.analysis.is_counted(cell) or cell.type.optional:
            sizes[place] = sizes.get(place, PUBLIC) | label

    def _move(self, cards: core.Expression, target: core.Expression, env: Env) -> None:
        """Process a move of cards: everybody, or the owner of the target, sees them there."""
        if self._is_open(target):
            self.tell(env, cards)
            return
        match cards, target:
            case core.Local(index), core.Cell(group, core.Local(seat)) if self.model.groups[group].seen == "owner":
                known = HIDDEN | COVERED
                env[index] = frozenset((kind, seat if (kind, owner) in known else owner) for kind, owner in env[index])

    def _branch(self, step: core.Branch, env: Env, course: Label) -> Label:
        inside = course | _ownerless(self.analysis.label_of_test(step.test, env))
        then, otherwise = self._bound(step.test, env, course), dict(env)
        ends = self.steps(step.then, then, inside) | self.steps(step.otherwise, otherwise, inside)
        env.clear()
        env.update(_merged(then, otherwise))
        return course | ends if _leaves((step.then, step.otherwise)) else course

    def _bound(self, test: core.Test, env: Env, course: Label) -> Env:
        bound = dict(env)
        if test.bind is not None:
            self.assign(bound, test.bind, self.analysis.label(test.value, env) | course)
        return bound

    def _iterate(self, step: core.Iterate, env: Env, course: Label) -> Label:
        items = self.analysis.label(step.items, env)
        for hidden in step.hidden:
            self.assign(env, hidden, items | course)

        def once(inside: Env) -> Label:
            self.assign(inside, step.variable, items | course)
            label = self.analysis.label(step.test, inside) if step.test is not None else PUBLIC
            label |= self.analysis.label_of_size(step.items, inside)
            return self.steps(step.body, inside, course | _ownerless(label))

        return self._again(step.body, env, course, once)

    def _again(self, body: Sequence[core.Step], env: Env, course: Label, once: Callable[[Env], Label]) -> Label:
        """Process the body of a loop, which runs any number of times, up to a fixed point; return the label of the
        control flow behind it, which a ``return`` in the body may have left."""
        while True:
            inside = dict(env)
            ends = once(inside)
            joined = {local: label | inside.get(local, PUBLIC) for local, label in env.items()}
            if joined == env:
                return course | ends if _leaves(body) else course
            env.update(joined)

    def _note_calls(self, step: core.Step | core.Requirement, env: Env, course: Label) -> None:
        """Record calls of procedures for the labels of their parameters."""
        match step:
            case core.Keeps(_, _, procedure, captured):
                self._call(procedure, tuple(core.Local(local, "") for local in captured), env, course)
            case core.Performs(value) | core.SetLocal(_, value) | core.SetCell(_, value) | core.Returns(value):
                if isinstance(value, core.Call):
                    self.call(value, env, course)

    def call(self, call: core.Call, env: Env, course: Label) -> None:
        target = self.analysis.program.target(call)
        if target in self.analysis.program.procedures:
            told = self.analysis.procedure(target).told
            self._call(target, call.arguments, env, course)
            self.tell(env, *(a for number, a in enumerate(call.arguments) if told is None or number in told))

    def _call(self, name: str, arguments: tuple[core.Expression, ...], env: Env, course: Label) -> None:
        labels = tuple(self.analysis.label(argument, env) | course for argument in arguments)
        self.procedure.calls.setdefault(name, []).append((arguments, labels, course))


class _Flow(_Steps):
    """Tracks labels through the stretches of a procedure, up to a fixed point."""

    def follow(self, entry: int, env: Env) -> None:
        procedure, stretches = self.procedure, self.analysis.program.stretches
        meets = _meeting(self.analysis.following, entry)
        arrived: dict[int, Env] = {entry: env}
        procedure.forks[entry] = frozenset({_ENTRY})
        waiting = [entry]

        while waiting:
            index = waiting.pop()
            before = procedure.tests.copy()
            for to, after, forks in list(self._leave(index, dict(arrived[index]))):
                forks = frozenset(fork for fork in forks if meets.get(fork) != to)
                joined = _merged(arrived.get(to), after)
                known_forks = procedure.forks.get(to, frozenset())
                if joined != arrived.get(to) or not forks <= known_forks:
                    arrived[to], procedure.forks[to] = joined, known_forks | forks
                    waiting.append(to)
            if procedure.tests != before:  # stretches behind this fork became more secret
                waiting.extend(stretch for stretch, forks in procedure.forks.items() if index in forks)
        procedure.calls = {}
        for index, entry_env in arrived.items():
            local = dict(entry_env)
            for _ in self._leave(index, local):
                pass
            procedure.entries[index] = local if isinstance(stretches[index].end, lower.Asks) else entry_env

    def _leave(self, index: int, env: Env) -> Iterator[tuple[int, Env, frozenset[int]]]:
        """Process a stretch, and yield its successors: stretch, locals, and the forks that lead there."""
        forks, tests = self.procedure.forks[index], self.procedure.tests
        course = self.analysis.course(self.procedure, index)
        self.steps(self.analysis.program.stretches[index].steps, env, course)
        match self.analysis.program.stretches[index].end:
            case lower.Jumps(to) | lower.SettlesThen(to) | lower.TurnEnds(to):
                yield to, env, forks
            case lower.Forks(test, then, otherwise):
                tests[index] = tests.get(index, PUBLIC) | self.analysis.label_of_test(test, env)
                yield then, self._bound(test, env, course), forks | {index}
                yield otherwise, dict(env), forks | {index}
            case lower.Advances(loop, body, after):
                items = env.get(loop.hidden[0], PUBLIC)
                is_read = isinstance(loop.items, core.Read)
                label = self.analysis.label_of_size(loop.items, env) if is_read else items
                inside = dict(env)
                self.assign(inside, loop.variable, items | course)
                if loop.test is not None:
                    label |= self.analysis.label(loop.test, inside)
                tests[index] = tests.get(index, PUBLIC) | label
                yield body, inside, forks | {index}
                yield after, dict(env), forks | {index}
            case lower.Counts(loop, then):
                self.assign(env, loop.hidden, course)
                yield then, env, forks
            case lower.Asks(ask, bodies):
                yield from self._asks(index, ask, bodies, env)
            case lower.Calls(call, into, then):
                self.call(call, env, course)
                self.analysis.keeps_secret(env.values())
                result = self.analysis.label(call, env) | course
                if into >= 0:
                    self.assign(env, into, result)
                yield then, env, forks
            case lower.Leaves(value):
                self.returns(value, env, course)
                self.analysis.keeps_secret(env.values())
            case lower.Stops():
                pass

    def _asks(
        self, index: int, ask: core.Ask, bodies: tuple[int, ...], env: Env
    ) -> Iterator[tuple[int, Env, frozenset[int]]]:
        """Process a decision: everybody knows who is asked what and, unless it is sealed, the choice. It may stay a
        secret in which pass of a loop it is asked."""
        tests, stretches = self.procedure.tests, self.analysis.program.stretches
        secret = _ownerless(PUBLIC.union(*(tests.get(fork, PUBLIC) for fork in self.procedure.forks[index])))
        for local in _assigned_around(stretches, self.analysis.following, index) if secret else ():
            if local in env:
                env[local] |= secret
        self.tell_all_but_cards(env, (ask.seat, *(value for _, value in ask.context)))
        for local in ask.chosen:
            env.pop(local, None)
        self.analysis.keeps_secret(env.values())
        seat = ask.seat.index if isinstance(ask.seat, core.Local) and ask.at_once is None else -1
        sealed: Label = frozenset({("sealed" if ask.sealed else "waiting", seat)}) if ask.is_closed else PUBLIC
        forks = frozenset({index} if ask.sealed else ())
        tests[index] = sealed if forks else PUBLIC
        for option, body in zip(ask.options, bodies, strict=True):
            chosen = dict(env)
            for choice in option.choices:
                label = sealed
                if has_cards(choice.type, self.model.records):
                    label |= self.analysis.label(choice.items, chosen)
                self.assign(chosen, choice.variable, label)
            yield body, chosen, forks


# --- control-flow graph ----------------------------------------------------------------------------------------------


def _follows(end: lower.End) -> tuple[int, ...]:
    match end:
        case lower.Jumps(to) | lower.SettlesThen(to) | lower.TurnEnds(to) | lower.Counts(_, to) | lower.Calls(_, _, to):
            return (to,)
        case lower.Forks(_, then, otherwise) | lower.Advances(_, then, otherwise):
            return then, otherwise
        case lower.Asks(_, bodies):
            return bodies
        case lower.Leaves() | lower.Stops():
            return ()


def _assigned_around(
    stretches: Sequence[lower.Stretch], following: Mapping[int, tuple[int, ...]], index: int
) -> Iterator[int]:
    """Yield the locals that are assigned in loops around a stretch."""
    reached = {number: reachable(following[number], following) for number in reachable(following[index], following)}
    around = (stretches[number] for number, others in reached.items() if index in others)
    for stretch in around:
        yield from (node.index for node in descendants(stretch.steps) if isinstance(node, core.SetLocal | core.Picks))
        match stretch.end:
            case lower.Advances(loop):
                yield loop.variable
            case lower.Calls(_, into) if into >= 0:
                yield into
            case lower.Forks(core.Test(bind=int() as bind)):
                yield bind


def _meeting(following: Mapping[int, tuple[int, ...]], entry: int) -> dict[int, int]:
    """Return the immediate post-dominator of each stretch: where all paths from it meet first."""
    successors = {index: following[index] for index in reachable([entry], following)}
    post_dominators = dict.fromkeys(successors, frozenset(successors))
    changed = True
    while changed:
        changed = False
        for index, to in successors.items():
            shared = frozenset.intersection(*(post_dominators[successor] for successor in to)) if to else frozenset()
            if (updated := shared | {index}) != post_dominators[index]:
                post_dominators[index], changed = updated, True
    return {
        index: max(later, key=lambda stretch: len(post_dominators[stretch]))
        for index in successors
        if (later := post_dominators[index] - {index})
    }


def _read_in(tree: object) -> set[int]:
    locals_read = {node.index for node in descendants(tree) if isinstance(node, core.Local)}
    return locals_read.union(*(node.captured for node in descendants(tree) if isinstance(node, core.Keeps)))


def _read_at_end(end: lower.End, later: Sequence[frozenset[int]]) -> frozenset[int] | set[int]:
    live = set[int]().union(*(later[successor] for successor in _follows(end)))
    match end:
        case lower.Forks(test, then, otherwise):
            return (later[then] - {test.bind}) | later[otherwise] | _read_in(test)
        case lower.Advances(loop, body, after):
            return ((later[body] | _read_in(loop.test)) - {loop.variable}) | later[after] | set(loop.hidden)
        case lower.Counts(loop, _):
            return live | {loop.hidden} | _read_in(loop.bound)
        case lower.Asks(ask, bodies):
            live = _read_in((ask.seat, tuple(value for _, value in ask.context)))
            for option, body in zip(ask.options, bodies, strict=True):
                read = _read_in((tuple(choice.items for choice in option.choices), option.tests, option.guard))
                live |= (later[body] | read) - {choice.variable for choice in option.choices}
            return live
        case lower.Calls(call, into, _):
            return (live - {into}) | _read_in(call)
        case lower.Leaves(value):
            return _read_in(value)
        case _:
            return live
