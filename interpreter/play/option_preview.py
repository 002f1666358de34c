"""Option preview: the certain first effect of an option in the words of the log, such as its price."""

from __future__ import annotations

from interpreter.bots.player import Code
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, read
from interpreter.engine.observation import hidden_from
from interpreter.engine.views import Spoken, lines_since
from interpreter.kernel.effects import changes
from interpreter.play.narration import without_actor

__all__ = ["Foresight"]


class Foresight:
    """The eyes of the player who decides, at one decision. ``language`` is that of the log."""

    def __init__(self, game: Game, decision: Decision, language: str = "en") -> None:
        self.game, self.decision, self.language = game, decision, language
        base = game.machine.constants.layout.base["chance"]
        chance = range(base, base + len(game.machine.constants.chance_names))
        self._unsure = {*hidden_from(game, decision.actor), *chance}

    def first(self, code: Code) -> str:
        """Return the line of the first event after a choice, without the actor. Nothing where chance, cards that the
        player may not see, or the end of a turn come before it, or where it cannot be told."""
        tried = self.game.clone()
        try:
            tried.apply(self.decision.option(code))
        except RuleFailure:
            return ""
        at = self._event(tried)
        if at is None:
            return ""
        actor = self.decision.actor
        line = next(lines_since(tried.table, tried.state, at, actor, self.language))
        return without_actor(Spoken(self.game.table, self.game.state, self.language), actor, line.text)

    def _event(self, tried: Game) -> int | None:
        """Return the index of the first event in the log, if the player knows everything before it."""
        for at, record in enumerate(tried.state.log):
            match read(record):
                case Event():
                    return at
                case Mark():
                    return None
                case Choice() if at:
                    return None
            if any(cell in self._unsure for cell, _ in changes(record)):
                return None
        return None
