"""Hidden reads of policies: hidden information that a policy reads, directly or through rules.

A policy and a decision go in, a test of games comes out. Most of the analysis is static, so a policy that reads nothing
hidden costs nothing at run time; only the positions of cards named by values are looked up in the game. The sizes of
hidden zones and lists are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.views import context_of
from interpreter.kernel.state import as_bag
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Model, RuleLayer
from interpreter.language.policies import Policy
from interpreter.language.types import HolderType, has_cards
from interpreter.language.walk import descendants

__all__ = ["Peeks", "groups_peeked", "peeks_of"]

Mine = frozenset[int]
"""Locals that hold the seat that decides."""


class Peeks(Struct, frozen=True):
    """Hidden information that a policy reads for a decision.

    ``always`` means that some is hidden in any state. ``groups`` are cells that are hidden if the cards that they name,
    or that carry them, are; ``shown`` are locals with values of the decision's context that are hidden if their cards
    are.
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
                if group.owner == "card":
                    yield number in cards and any(as_bag(value))
                else:
                    yield not sight.shows(state, value, group.type, seat)


def peeks_of(model: Model, policy: Policy, ask: core.Ask) -> Peeks:
    """Return the hidden information that a policy reads to make a decision. The first locals of its texts are the seat
    that decides, and the context."""
    reader, shown = _Peeks(model, policy), set[int]()
    around = {place: value.type for place, (_, value) in enumerate(ask.context, 1)}
    for preferences in policy.decisions.get(ask.name, ()):
        reader.read((preferences.when, preferences.lines), frozenset({0}))
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
        self.always = False
        self.groups: set[str] = set()
        self._known: set[tuple[str, Mine]] = set()

    def read(self, tree: object, mine: Mine) -> None:
        """Analyse a text; ``mine`` are the locals that hold the seat that decides."""
        changed = {node.index for node in descendants(tree) if isinstance(node, core.SetLocal | core.Picks)}
        mine -= changed
        counted = set()
        for node in descendants(tree):
            match node:
                case core.CallBuiltin(Builtin("count"), (core.Read(cell),)):
                    counted.add(id(cell))
                case core.Cell() if id(node) not in counted:
                    self._cell(node, mine)
                case core.CallRule(rule, arguments) | core.CallBase(rule, _, arguments):
                    own = (
                        i for i, value in enumerate(arguments) if isinstance(value, core.Local) and value.index in mine
                    )
                    self._rule(rule, frozenset(own))
                case _:
                    pass

    def _rule(self, rule: str, mine: Mine) -> None:
        """Analyse all layers of a rule, since any of them may apply."""
        if (rule, mine) not in self._known:
            self._known.add((rule, mine))
            for layer in self.rules.get(rule, ()):
                self.read((layer.when, layer.body), mine)

    def _cell(self, cell: core.Cell, mine: Mine) -> None:
        group = self.model.groups.get(cell.group)
        if group is None:  # what everybody sees of the course of a game, such as the phase
            return
        is_mine = isinstance(cell.owner, core.Local) and cell.owner.index in mine
        if group.seen == "no one" or (group.seen == "owner" and not is_mine):
            self.always = True
        elif group.owner == "card" or (
            not isinstance(group.type, HolderType) and has_cards(group.type, self.model.records)
        ):
            self.groups.add(cell.group)
