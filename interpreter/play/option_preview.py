"""Option preview: the certain first effect of an option in the words of the log, such as its price."""

from __future__ import annotations

from functools import cached_property

from interpreter.bots.player import Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.determinization import Undealt, Worlds
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, read
from interpreter.engine.observation import hidden_from
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import Spoken, lines_since
from interpreter.kernel.effects import changes
from interpreter.lowering.constants import RuleFailure
from interpreter.play.narration import without_actor

__all__ = ["Foresight"]


WORLDS = 3
"""Number of worlds in which a payment from or to hidden money must produce the same line."""


class Foresight:
    """Preview of the options of one decision, for the player who decides; ``language`` is that of the log."""

    def __init__(self, game: Game, decision: Decision, language: str = "en") -> None:
        self.game, self.decision, self.language = game, decision, language
        constants = game.machine.constants
        base = constants.layout.base["chance"]
        hidden = set(hidden_from(game, decision.actor))
        self._cards = {*hidden & constants.effects.zones.keys(), *range(base, base + len(constants.chance_names))}
        """Cells whose content nobody can predict."""
        self._amounts = hidden - self._cards

    def first(self, code: Code) -> str:
        """Return the line of the first event after a choice, without the actor.

        It is empty if chance, hidden cards or the end of a turn come before the event, if it depends on hidden amounts,
        or if the choice fails.
        """
        choice = self.decision.option(code)
        line, touched = self._tried(self.game, choice)
        if line is None:
            return ""
        if touched and not self._worlds:
            return ""
        if touched and any(self._tried(world, choice)[0] != line for world in self._worlds):
            return ""
        return without_actor(Spoken(self.game.table, self.game.state, self.language), self.decision.actor, line)

    @cached_property
    def _worlds(self) -> list[Game]:
        """Games with other hidden amounts; empty if they cannot be dealt."""
        stream = Stream(0, "foresight")
        try:
            worlds = Worlds(self.game, self.decision.actor, replay=False)
            return [worlds.deal(0, stream.below) for _ in range(WORLDS)]
        except Undealt:
            return []

    def _tried(self, game: Game, choice: Option) -> tuple[str | None, bool]:
        """Return the line of the first event if everything before it is known to the player, and whether hidden
        amounts changed before it."""
        tried = game.clone()
        try:
            tried.apply(choice.as_dict())
        except (IllegalMove, RuleFailure):
            return None, False
        touched = False
        for number, record in enumerate(tried.state.log):
            match read(record):
                case Event():
                    line = next(lines_since(tried.table, tried.state, number, self.decision.actor, self.language))
                    return line.text, touched
                case Mark():
                    break
                case Choice() if number:
                    break
            cells = {cell for cell, _ in changes(record)}
            if not cells.isdisjoint(self._cards):
                break
            touched |= not cells.isdisjoint(self._amounts)
        return None, False
