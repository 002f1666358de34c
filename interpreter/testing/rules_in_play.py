"""Rules in play: the rules that some games exercise, of all that could be.

Takes games that are over, or as far as they got; repeats their choices in the plain form of an instrumented copy
(:mod:`interpreter.testing.instrumentation`), which must lead to the same state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from interpreter.engine.citations import Citation
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.lowering.constants import RuleFailure
from interpreter.testing.instrumentation import is_watched, key_of, watched

__all__ = ["RulesInPlay"]


@dataclass(repr=False)
class RulesInPlay:
    """Rules, triggers and standing rules of some rulesets by name, and those that came into play."""

    _recorded: set[str] = field(default_factory=set)
    _copies: dict[int, Ruleset] = field(default_factory=dict)
    _keys: dict[str, set[str]] = field(default_factory=dict)
    """Keys of the parts of each rule."""

    @property
    def all(self) -> list[str]:
        return list(self._keys)

    @property
    def unplayed(self) -> list[str]:
        return [name for name, keys in self._keys.items() if keys.isdisjoint(self._recorded)]

    def repeat(self, game: Game) -> bool:
        """Repeat the choices of a game. Return whether they lead to an equal game."""
        ruleset, origin = game.ruleset, game.origin
        if id(ruleset) not in self._copies:
            self._copies[id(ruleset)] = self._watching(ruleset)
        copy = self._copies[id(ruleset)]
        table = copy.table(origin["players"], game.settings)
        table.runner.plain = True
        try:
            other = Game.begin(copy, table, origin["seed"], None)
            _look(other)
            for by, choice in game.choices:
                other.apply(choice, by)
                _look(other)
            codes = other.decision.codes if other.decision is not None else None
        except (RuleFailure, IllegalMove):
            return False
        same = codes == (game.decision.codes if game.decision is not None else None)
        return same and other.state.cells == game.state.cells and other.result == game.result

    def _watching(self, ruleset: Ruleset) -> Ruleset:
        parts = [part for part in _parts(ruleset) if is_watched(part, ruleset.model)]
        for part in parts:
            self._keys.setdefault(part.name, set()).add(key_of(part))
        return watched(ruleset, parts, self._recorded)


def _look(game: Game) -> None:
    """Look at a game as each seat does: some rules only say who sees what, and what the back of a card shows."""
    state, sight = game.state, game.table.sight
    tops = [*sight.uppermost(state)]
    seats = game.machine.constants.seats if sight.judged or tops else ()
    hidden = {card for player in seats for card in sight.hidden_cards(state, player)}
    for cell, card in tops:
        if card in hidden and (back := sight.back(state, cell)) is not None:
            back(card)


def _parts(ruleset: Ruleset) -> Iterator[Citation]:
    """Yield the layers of all rules that games can call, and all triggers and standing rules."""
    model, called = ruleset.model, ruleset.program.reach.procedures
    for name, rule in model.rules.items():
        for number, layer in enumerate(rule.layers):
            if layer.id in called:
                yield Citation("rules", name, layer.file, layer.span, (), (number,))
    yield from (Citation("triggers", name, each.file, each.span, ()) for name, each in model.triggers.items())
    yield from (Citation("standing", name, each.file, each.span, ()) for name, each in model.standing.items())
