"""Hidden reads of policies: hidden information that a policy reads, directly or through rules.

A policy and a decision go in, a test of games comes out. Most of the analysis is static, so a policy that reads nothing
hidden costs nothing at run time; only the positions of cards named by values are looked up in the game. Public sizes
of hidden zones and lists are not hidden. A seat knows whether a rule shows it a thing: a policy may call that rule for
its seat, and read the thing where a condition calls it (``knows(who, s) and s.badge == traitor``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.views import context_of
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Model, RuleLayer
from interpreter.language.preferences import Pattern, Policy
from interpreter.language.types import CardType, HolderType, has_cards
from interpreter.language.walk import children, descendants

__all__ = ["Peeks", "groups_peeked", "peeks_of"]

Facts = frozenset[tuple[str, int | None]]
"""Locals after what is known of them: ``mine`` for the seat that decides, ``set`` if the text assigns them again, or a
rule that shows this seat what the owner in the local has; None is for a rule without owners."""


class Peeks(Struct, frozen=True):
    """Hidden information that a policy reads for a decision.

    ``always`` means that some is hidden in any state. ``groups`` are cells that are hidden if the cards that they name
    are, or the card that holds them and they differ from the start; ``shown`` are locals with values of the decision's
    context that are hidden if their cards are.
    """

    always: bool
    groups: tuple[str, ...]
    shown: tuple[int, ...]

    def __bool__(self) -> bool:
        """Return whether anything can be hidden."""
        return self.always or bool(self.groups or self.shown)

    def at(self, game: Game, decision: Decision) -> bool:
        """Return whether the policy reads something that the seat that decides may not see in the current state."""
        if self.always or any(self._hidden(game, decision.actor)):
            return True
        context = context_of(game.table, game.state, decision, decision.actor) if self.shown else ()
        return not all(context[local - 1].seen for local in self.shown)

    def _hidden(self, game: Game, seat: int) -> Iterator[bool]:
        sight, state = game.table.sight, game.state
        cards = {*sight.hidden_cards(state, seat)}
        for name in self.groups:
            group = game.ruleset.model.groups[name]
            for number, cell in enumerate(sight.layout.cells(name)):
                value = state.cells[cell]
                if isinstance(group.owner, CardType):
                    yield number in cards and value != game.table.first.cells[cell]
                else:
                    yield not sight.shows(state, value, group.type, seat)


def peeks_of(model: Model, policy: Policy, ask: core.Ask) -> Peeks:
    """Return the hidden information that a policy reads to make a decision. The first locals of its texts are the seat
    that decides, and the context."""
    reader, shown = _Peeks(model, policy), set[int]()
    around = {place: value.type for place, (_, value) in enumerate(ask.context, 1)}
    for preferences in policy.decisions.get(ask.name, ()):
        reader.read((preferences.when, preferences.lines), frozenset({("mine", 0)}))
        shown |= {node.index for node in descendants(preferences.lines) if isinstance(node, core.Local)}
    shown = {local for local in shown & around.keys() if has_cards(around[local], model.records)}
    return Peeks(reader.always, tuple(sorted(reader.groups)), tuple(sorted(shown)))


def groups_peeked(model: Model, policy: Policy, ask: core.Ask) -> Sequence[str | int] | None:
    """Return the groups of cells, and the locals with a decision's context, that may be hidden from the seat and that a
    policy reads; None if it always reads some."""
    peeks = peeks_of(model, policy, ask)
    return None if peeks.always else (*peeks.groups, *peeks.shown)


class _Peeks:
    def __init__(self, model: Model, policy: Policy) -> None:
        self.model = model
        self.rules: dict[str, Sequence[RuleLayer]] = {name: rule.layers for name, rule in model.rules.items()}
        self.rules |= {layer.rule: (layer,) for layer in policy.rules}
        groups = model.groups
        self.judge = {name: group.sees.rule for name, group in groups.items() if isinstance(group.sees, core.CallRule)}
        self.own = {rule for rule in self.judge.values() if all(_shows_own(layer.body) for layer in self.rules[rule])}
        vague = {name for name, group in groups.items() if group.type.optional or isinstance(group.owner, CardType)}
        is_open = any(role.open for role in model.roles.values())
        self.clear = {rule for name, rule in self.judge.items() if name not in vague and not is_open}
        """Rules of which a seat knows whether they show it a thing, since nothing else shows or hides it."""
        self.always = False
        self.groups: set[str] = set()
        self._known: set[tuple[str, Facts]] = set()

    def read(self, tree: object, facts: Facts) -> None:
        """Analyse a text."""
        changed = {node.index for node in descendants(tree) if isinstance(node, core.SetLocal | core.Picks)}
        kept = {fact for fact in facts if fact[1] not in changed}
        self._read(tree, frozenset(kept | {("set", local) for local in changed}))

    def _read(self, tree: object, facts: Facts) -> None:
        below, test, outside = children(tree), *_tested(tree)
        match tree:
            case core.CallBuiltin(Builtin("count"), (core.Read(core.Cell(_, owner) as cell),)) if self._is_counted(
                cell
            ):
                below = (owner,)
            case Pattern(tests=(first, *rest)):
                below = first, replace(tree, tests=tuple(rest))
            case core.Cell():
                self._cell(tree, facts)
            case core.CallRule(rule, (core.Local(seat), *_)) if rule in self.clear and ("mine", seat) in facts:
                pass
            case core.CallRule(rule, arguments) | core.CallBase(rule, _, arguments):
                self._rule(rule, arguments, facts)
        inside = facts.union(self._shown(test, facts))
        for child in below:
            self._read(child, facts if any(child is part for part in outside) else inside)

    def _shown(self, test: object, facts: Facts) -> Iterator[tuple[str, int | None]]:
        """Yield what is shown to the seat that decides if a condition holds."""
        match test:
            case core.Logic("and", left, right):
                yield from (*self._shown(left, facts), *self._shown(right, facts))
            case core.CallRule(rule, (core.Local(seat), *rest)) if rule in self.clear and ("mine", seat) in facts:
                owners = {_local(owner) for owner in rest} - {None} if rest else {None}
                yield from ((rule, owner) for owner in owners if ("set", owner) not in facts)

    def _is_counted(self, cell: core.Cell) -> bool:
        declared = self.model.groups.get(cell.group)
        return declared is None or (declared.is_counted and not isinstance(declared.owner, CardType))

    def _rule(self, rule: str, arguments: Sequence[core.Expression], facts: Facts) -> None:
        """Analyse all layers of a rule, since any of them may apply."""
        places = [(number, _local(value)) for number, value in enumerate(arguments)]
        passed = {(fact, number) for fact, local in facts for number, held in places if held == local is not None}
        mine = frozenset((fact, number) for fact, number in passed if fact != "set")
        if (rule, mine) not in self._known:
            self._known.add((rule, mine))
            for layer in self.rules.get(rule, ()):
                self.read((layer.when, layer.body), mine)

    def _cell(self, cell: core.Cell, facts: Facts) -> None:
        group = self.model.groups.get(cell.group)
        if group is None:  # what everybody sees of the course of a game, such as the phase
            return
        owner, judge = _local(cell.owner), self.judge.get(cell.group, "")
        is_mine = ("mine", owner) in facts and (group.seen == "owner" or judge in self.own)
        if group.seen != "everyone" and not is_mine and (judge, owner) not in facts:
            self.always = True
        elif isinstance(group.owner, CardType) or (
            not isinstance(group.type, HolderType) and has_cards(group.type, self.model.records)
        ):
            self.groups.add(cell.group)


def _local(value: core.Expression | None) -> int | None:
    return value.index if isinstance(value, core.Local) else None


def _shows_own(tree: object) -> bool:
    """Return whether a rule shows each seat its own things: it reads ``viewer == owner or …``."""
    match tree:
        case core.Logic("or", left, right):
            return _shows_own(left) or _shows_own(right)
        case core.Comparison("==", core.Local(left), core.Local(right)):
            return {left, right} == {0, 1}
        case _:
            return False


def _tested(tree: object) -> tuple[object, tuple[object, ...]]:
    """Return the condition under which parts of a tree are evaluated, and the parts that are evaluated without it."""
    match tree:
        case core.Logic("and", test, _):
            return test, (test,)
        case core.Condition(_, test, otherwise):
            return test, (test, otherwise)
        case core.Branch(test, _, otherwise):
            return test.value, (test, otherwise)
        case core.Loop(items=items, test=test) | core.Iterate(items=items, test=test):
            return test, (items, test)
        case Pattern(tests=(test, *_)):
            return test, (test,)
        case _:
            return None, ()
