"""Matches: one game with a bot on each seat, and watchers that are notified of each moment and choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from interpreter.bots.compiled_bots import announce
from interpreter.bots.player import Bot, Stream
from interpreter.engine.decision import Decision, Option, choice_text
from interpreter.engine.game import Game, Result, Ruleset
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State
from interpreter.language.types import SEAT
from interpreter.lowering.constants import MAXIMUM_STILL, Endless, RuleFailure

__all__ = ["MAXIMUM_DECISIONS", "Match", "Watcher", "streams_for", "who_decides"]

MAXIMUM_DECISIONS = 100_000
"""A game with more decisions is considered endless."""
LONG, LOOKS = 1_000, 16
"""Number of decisions before a match looks whether it goes in circles, and of those between two looks: a module, which
plays so many ahead, starts anew after a look."""
MOST_NAMED = 5
"""Largest number of different choices that the message about an endless game names."""


class Watcher(Protocol):
    """Observer of a match. It may read its arguments but not change them."""

    def moment(self, game: Game, word: str) -> None:
        """Called when the game, a round, phase or turn begins or ends, possibly between two decisions."""

    def asked(self, game: Game, decision: Decision) -> None:
        """Called before a bot decides."""

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        """Called after a choice, when the game is at the next decision."""


def who_decides(bots: Sequence[Bot], decision: Decision) -> Bot:
    """Return the bot that decides. Raises :class:`RuleFailure` for a seat that the rules play."""
    if decision.actor < len(bots):
        return bots[decision.actor]
    seat = decision.named.names.text(decision.actor, SEAT)
    raise RuleFailure(f"`{decision.name}` asks {seat}, whom nobody plays", decision.site.ask.span)


def streams_for(seed: int, seats: int) -> list[Stream]:
    """Return a random stream for each seat."""
    return [Stream(seed, f"seat {seat}") for seat in range(seats)]


class Match:
    """A game played by bots. The constructor sets up the game and runs it to its first decision, or continues ``game``.

    Raises ``ValueError`` for players or settings that the ruleset does not allow, and :class:`Endless` in a step of a
    game that does not end.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        bots: Sequence[Bot],
        seed: int = 0,
        settings: Mapping[str, object] | None = None,
        watchers: Sequence[Watcher] = (),
        game: Game | None = None,
    ) -> None:
        ruleset = ruleset.for_players(len(bots))
        self.ruleset, self.bots, self.watchers = ruleset, bots, tuple(watchers)
        self.streams = streams_for(seed, len(bots))
        self.decisions = 0
        self._round = self._new = 0
        """The rounds of the last look, and of the last look that found a new position."""
        self._began = 0
        """Number of decisions before the first look in that round."""
        self._seen: set[str] = set()
        ruleset.check_players(len(bots))
        table = ruleset.table(len(bots), ruleset.settings(settings or {}))
        self.game = game or Game.seated(ruleset, table, seed, None)
        if self.watchers:
            listen(self.game.state, self._moment)
        else:
            announce(self.game.runner, self.game.ruleset, bots)
        if game is None:
            self.game.start()

    def _moment(self, state: State, word: str) -> None:
        """Notify watchers of a moment of this game. Moments in copies, on which bots may play, are not reported."""
        for watcher in self.watchers:
            watcher.moment(self.game, word)

    def step(self) -> bool:
        """Play one decision; return False if the game is over."""
        decision = self.game.decision
        if decision is None:
            return False
        try:
            if self.decisions >= MAXIMUM_DECISIONS:
                raise Endless(f"the game does not end within {MAXIMUM_DECISIONS:,} decisions", decision.site.ask.span)
            if self.decisions >= LONG and self.decisions % LOOKS == 0:
                self._look(decision)
            self.decisions += 1
            bot = who_decides(self.bots, decision)
            for watcher in self.watchers:
                watcher.asked(self.game, decision)
            self.take(bot.choose(self.game, decision, self.streams[decision.actor]))
        except Endless as endless:
            self._name_what_repeats(endless)
            raise
        return True

    def _look(self, decision: Decision) -> None:
        """Raise :class:`Endless` if there was no new position for too many rounds."""
        number = self.game.round
        if number == self._round:
            return
        position = self.game.position()
        if position not in self._seen:
            self._seen.add(position)
            self._new = number
        if number - self._new >= MAXIMUM_STILL:
            why = f"the game does not end: nothing was new in its last {MAXIMUM_STILL} rounds"
            raise Endless(why, decision.site.ask.span)
        self._round, self._began = number, self.decisions

    def _name_what_repeats(self, endless: Endless) -> None:
        """Add the round and the last choices to the message."""
        endless.round = self.game.round
        choices = self.game.choices
        choices = choices[len(choices) - self.decisions + self._began :]
        counts = Counter(choice_text(choice) for _, choice in choices)
        names = [f"`{name}`" + (f" ({times} times)" if times > 1 else "") for name, times in counts.most_common()]
        more = [f"{len(names) - MOST_NAMED} others"] if len(names) > MOST_NAMED else []
        endless.message += f"; the last choices were {', '.join([*names[:MOST_NAMED], *more])}"

    def take(self, option: Option | Mapping[str, object]) -> None:
        """Make a choice. Raises as :meth:`Game.apply` does."""
        decision = self.game.decision
        self.game.apply(option)
        if self.watchers:
            chosen = option if isinstance(option, Option) else self.game.last_choice
            assert decision is not None
            assert chosen is not None
            for watcher in self.watchers:
                watcher.chosen(self.game, decision, chosen)

    def play(self) -> Result | None:
        """Play to the end and return the result."""
        while self.step():
            pass
        return self.game.result
