"""Hidden things that a policy reads: what its seat may not see, directly or through the rules that it calls.

In goes a policy with the name of a decision, out comes a test of a game. What a policy can read is told by its text, so
one that reads nothing hidden costs nothing; only where a card lies that a value names is looked up in the game. How
many cards lie in a hidden zone, or items in a hidden list, is no secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.base.frozen import dataclass
from interpreter.engine.game import Game
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.policies import Policy
from interpreter.language.types import HolderType, has_cards
from interpreter.language.walk import descendants

__all__ = ["Peeks", "peeks_of"]

Mine = frozenset[int]
"""The locals that are the seat that decides."""


@dataclass(frozen=True, slots=True)
class Peeks:
    """Hidden information that a policy reads for a decision: something ``always`` hidden, or groups of cells that are
    hidden where the cards that they name, or that carry them, lie hidden."""

    always: bool
    groups: tuple[str, ...]

    def __bool__(self) -> bool:
        """Return whether anything of it can be hidden."""
        return self.always or bool(self.groups)

    def at(self, game: Game, seat: int) -> bool:
        """Return whether the policy reads what the seat may not see, as the game stands."""
        return self.always or any(self._hidden(game, seat))

    def _hidden(self, game: Game, seat: int) -> Iterator[bool]:
        machine, state = game.machine, game.state
        layout = machine.constants.layout
        for name in self.groups:
            group = game.ruleset.model.groups[name]
            for number in range(layout.count(name)):
                value = state.cells[layout.base[name] + number]
                if group.owner == "card":
                    holds = any(value) if isinstance(value, tuple) else value
                    seen = machine.constants.visible(state, number) if holds else None
                else:
                    seen = machine.constants.visible_in(state, value, group.type)
                yield seen is not None and seat not in seen


def peeks_of(model: Model, policy: Policy, decision: str) -> Peeks:
    """Return the hidden information that a policy reads to make a decision. In its texts the first local is the seat
    that decides."""
    found = _Peeks(model, policy)
    for preferences in policy.decisions.get(decision, ()):
        found.read((preferences.when, preferences.lines), frozenset({0}))
    return Peeks(found.always, tuple(sorted(found.groups)))


class _Peeks:
    def __init__(self, model: Model, policy: Policy) -> None:
        self.model = model
        self.rules: dict[str, Sequence[RuleLayer]] = {name: rule.layers for name, rule in model.rules.items()}
        self.rules |= {layer.rule: (layer,) for layer in policy.rules}
        self.always = False
        self.groups: set[str] = set()
        self._known: set[tuple[str, Mine]] = set()

    def read(self, tree: object, mine: Mine) -> None:
        """Goes through a text in which some locals are the seat that decides."""
        changed = {node.index for node in descendants(tree) if isinstance(node, core.SetLocal | core.Picks)}
        mine -= changed
        counted = set()
        for node in descendants(tree):
            match node:
                case core.Builtin("count", (core.Read(cell),)):
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
        """A rule may be answered by any of its layers."""
        if (rule, mine) not in self._known:
            self._known.add((rule, mine))
            for layer in self.rules.get(rule, ()):
                self.read((layer.when, layer.body), mine)

    def _cell(self, cell: core.Cell, mine: Mine) -> None:
        group = self.model.groups[cell.group]
        is_mine = isinstance(cell.owner, core.Local) and cell.owner.index in mine
        if group.seen == "no one" or (group.seen == "owner" and not is_mine):
            self.always = True
        elif group.owner == "card" or (
            not isinstance(group.type, HolderType) and has_cards(group.type, self.model.records)
        ):
            self.groups.add(cell.group)
