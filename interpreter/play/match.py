"""One game with a bot on each seat. Whoever watches hears of each moment and each choice as it happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from interpreter.bots.compiled_bots import announce
from interpreter.bots.player import Bot, Stream
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Result
from interpreter.engine.rules import Rules
from interpreter.engine.scripted_outcomes import Outcomes
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State
from interpreter.language.types import SEAT

__all__ = ["MAXIMUM_DECISIONS", "Match", "Watcher", "streams_for", "who_decides"]

MAXIMUM_DECISIONS = 100_000
"""A game with more decisions is taken for one that never ends."""


class Watcher(Protocol):
    """Someone who looks on. What it is given may be read, not changed."""

    def moment(self, game: Game, word: str) -> None:
        """A round, phase, turn or the game begins or ends; the game stands as it is then, and may be between two
        decisions."""
        ...

    def asked(self, game: Game, decision: Decision) -> None:
        """A bot is going to decide."""
        ...

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        """A choice was made; the game stands at the next decision."""
        ...


def who_decides(bots: Sequence[Bot], decision: Decision, ruleset: Rules) -> Bot:
    """The bot that decides. A seat that the rules play decides nothing: :class:`RuleFailure` where it should."""
    if decision.actor < len(bots):
        return bots[decision.actor]
    who = ruleset.names.text(decision.actor, SEAT)
    raise RuleFailure(f"`{decision.name}` is asked of {who}, whom nobody plays", decision.site.ask.span)


def streams_for(seed: int, seats: int) -> list[Stream]:
    """For each seat its own random numbers."""
    return [Stream(seed, f"seat {seat}") for seat in range(seats)]


class Match:
    """A game being played by bots. Making it sets the table and goes to the first decision, or goes on with ``game``.

    ``ValueError`` for players or settings that the ruleset does not allow.
    """

    def __init__(
        self,
        ruleset: Rules,
        bots: Sequence[Bot],
        seed: int = 0,
        settings: Mapping[str, object] | None = None,
        chance: ChanceSource | Outcomes | None = None,
        watchers: Sequence[Watcher] = (),
        game: Game | None = None,
    ) -> None:
        ruleset = ruleset.for_players(len(bots))
        self.ruleset, self.bots, self.watchers = ruleset, bots, tuple(watchers)
        self.streams = streams_for(seed, len(bots))
        self.decisions = 0
        ruleset.check_players(len(bots))
        if game is not None:
            self.game = game
        else:
            self.game = Game.seated(ruleset.table(len(bots), ruleset.settings(settings or {})), seed, chance)
        announce(self.game.machine, self.game.ruleset, bots)
        if self.watchers:
            listen(self.game.state, self._moment)
        if game is None:
            self.game.start()

    def _moment(self, state: State, word: str) -> None:
        """Tells of a moment of this game; those of its copies, which bots may play on, are not heard of."""
        for watcher in self.watchers:
            watcher.moment(self.game, word)

    def step(self) -> bool:
        """One decision; false where the game is over."""
        decision = self.game.decision
        if decision is None:
            return False
        self.decisions += 1
        if self.decisions > MAXIMUM_DECISIONS:
            raise RuleFailure(f"the game does not end within {MAXIMUM_DECISIONS:,} decisions", decision.site.ask.span)
        bot = who_decides(self.bots, decision, self.ruleset)
        for watcher in self.watchers:
            watcher.asked(self.game, decision)
        self.take(bot.choose(self.game, decision, self.streams[decision.actor]))
        return True

    def take(self, option: Option | Mapping[str, object]) -> None:
        """Makes a choice. Raises as :meth:`Game.apply` does."""
        decision = self.game.decision
        self.game.apply(option)
        if self.watchers and decision is not None:
            made = option if isinstance(option, Option) else _as_option(self.game)
            for watcher in self.watchers:
                watcher.chosen(self.game, decision, made)

    def play(self) -> Result | None:
        """To the end of the game, and who won it."""
        while self.step():
            pass
        return self.game.result


def _as_option(game: Game) -> Option:
    """The choice that was made last."""
    option = game.last_choice
    assert option is not None
    return option
