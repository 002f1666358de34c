"""One game with a bot on each seat. Whoever watches hears of each moment and each choice as it happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from interpreter.compiler.constants import RuleFailure
from interpreter.engine.game import Decision, Game, Option, Result
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.setup import Table
from interpreter.kernel.chance import ChanceSource, Seeded
from interpreter.kernel.state import State
from interpreter.play.bots.base import Bot, Stream

__all__ = ["MAXIMUM_DECISIONS", "Match", "Watcher", "streams_for"]

MAXIMUM_DECISIONS = 100_000
"""A game with more decisions is taken for one that never ends."""


class Watcher(Protocol):
    """Someone who looks on. What it is given may be read, not changed."""

    def moment(self, game: Game, word: str) -> None:
        """A round, phase, turn or the game begins or ends; the game stands as it is then, and may be between two
        decisions."""
        ...

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        """A choice was made; the game stands at the next decision."""
        ...


def streams_for(seed: int, seats: int) -> list[Stream]:
    """For each seat its own random numbers."""
    return [Stream(seed, f"seat {seat}") for seat in range(seats)]


class Match:
    """A game being played by bots. Making it sets the table and goes to the first decision, or goes on with ``game``.

    ``ValueError`` for players or settings that the ruleset does not allow.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        bots: Sequence[Bot],
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        chance: ChanceSource | Mapping[str, Any] | None = None,
        watchers: Sequence[Watcher] = (),
        game: Game | None = None,
    ) -> None:
        ruleset = ruleset.for_players(len(bots))
        self.ruleset, self.bots, self.watchers = ruleset, bots, tuple(watchers)
        self.streams = streams_for(seed, len(bots))
        self.decisions = 0
        self._shown: Game | None = None
        ruleset.check_players(len(bots))
        self._values = ruleset.settings(settings or {}) if game is None else game.settings
        self._table = ruleset.table(len(bots), self._values)
        if game is not None:
            self.game = self._shown = game
            return
        with self._listening():
            self.game = ruleset.new_game(len(bots), seed, settings, chance)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Inside, the watchers hear of moments. Tables are shared between games, so nobody listens outside."""
        effects = self._table.machine.constants.effects
        before = effects.listener
        effects.listener = self._moment if self.watchers else before
        try:
            yield
        finally:
            effects.listener = before

    def _moment(self, state: State, word: str) -> None:
        """Tells of a moment of this game; not of those of its copies, which bots may play on."""
        if self._shown is None:
            self._shown = _shown(self.ruleset, self._table, state, self._values)
        if state is self._shown.state:
            for watcher in self.watchers:
                watcher.moment(self._shown, word)

    def step(self) -> bool:
        """One decision; false where the game is over."""
        decision = self.game.decision
        if decision is None:
            return False
        self.decisions += 1
        if self.decisions > MAXIMUM_DECISIONS:
            raise RuleFailure(f"the game does not end within {MAXIMUM_DECISIONS:,} decisions", decision.site.ask.span)
        option = self.bots[decision.actor].choose(self.game, decision, self.streams[decision.actor])
        if self.watchers:
            self.take(option)
        else:
            self.game.apply(option)
        return True

    def take(self, option: Option | Mapping[str, Any]) -> None:
        """Makes a choice. Raises as :meth:`Game.apply` does."""
        if not self.watchers:
            self.game.apply(option)
            return
        decision = self.game.decision
        with self._listening():
            self.game.apply(option)
        if decision is not None:
            made = option if isinstance(option, Option) else _as_option(self.game)
            for watcher in self.watchers:
                watcher.chosen(self.game, decision, made)

    def play(self) -> Result | None:
        """To the end of the game, and who won it."""
        while self.step():
            pass
        return self.game.result


def _shown(ruleset: Ruleset, table: Table, state: State, values: dict[str, Any]) -> Game:
    """A game around a state, to be looked at while it is between two decisions."""
    return Game(ruleset, table, state, Seeded(0), values, {})


def _as_option(game: Game) -> Option:
    """The choice that was made last."""
    assert game.history is not None
    option = game.history[2]
    assert isinstance(option, Option)
    return option
