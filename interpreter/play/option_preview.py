"""Option preview: the certain first effect of an option in the words of the log, such as its price."""

from __future__ import annotations

from functools import cached_property

from interpreter.bots.player import Code, Stream
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.decision import Decision, Option
from interpreter.engine.determinization import Undealt, Worlds
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, read
from interpreter.engine.observation import hidden_from
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import Spoken, lines_since
from interpreter.kernel.effects import changes
from interpreter.play.narration import without_actor

__all__ = ["Foresight"]


WORLDS = 3
"""In so many worlds that look alike to the player, a payment from or to hidden money must be told in the same words."""


class Foresight:
    """The eyes of the player who decides, at one decision. ``language`` is that of the log."""

    def __init__(self, game: Game, decision: Decision, language: str = "en") -> None:
        self.game, self.decision, self.language = game, decision, language
        constants = game.machine.constants
        base = constants.layout.base["chance"]
        hidden = set(hidden_from(game, decision.actor))
        self._cards = {*hidden & constants.effects.zones.keys(), *range(base, base + len(constants.chance_names))}
        """What turns up from here, nobody knows."""
        self._amounts = hidden - self._cards

    def first(self, code: Code) -> str:
        """Return the line of the first event after a choice, without the actor. Nothing where chance, cards that the
        player may not see, or the end of a turn come before it, where it depends on hidden amounts, or where it cannot
        be told."""
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
        """Games with other hidden amounts; none where they cannot be dealt."""
        stream = Stream(0, "foresight")
        try:
            worlds = Worlds(self.game, self.decision.actor, replay=False)
            return [worlds.deal(0, stream.below) for _ in range(WORLDS)]
        except Undealt:
            return []

    def _tried(self, game: Game, choice: Option) -> tuple[str | None, bool]:
        """The line of the first event, if the player knows all before it, and whether hidden amounts change before."""
        tried = game.clone()
        try:
            tried.apply(choice.as_dict())
        except (IllegalMove, RuleFailure):
            return None, False
        touched = False
        for at, record in enumerate(tried.state.log):
            match read(record):
                case Event():
                    line = next(lines_since(tried.table, tried.state, at, self.decision.actor, self.language))
                    return line.text, touched
                case Mark():
                    break
                case Choice() if at:
                    break
            cells = {cell for cell, _ in changes(record)}
            if not cells.isdisjoint(self._cards):
                break
            touched |= not cells.isdisjoint(self._amounts)
        return None, False
