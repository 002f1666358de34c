"""Option preview: the certain first effect of an option in the words of the log, such as its price."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property

from interpreter.bots.player import Code
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, Event, Mark, read
from interpreter.engine.views import Spoken, lines_since
from interpreter.hidden.foresight import forecast, veiled
from interpreter.hidden.sight import Unseen
from interpreter.kernel.state import State
from interpreter.lowering.constants import RuleFailure
from interpreter.play.narration import without_actor

__all__ = ["Foresight"]


class Foresight:
    """Preview of the options of one decision, for the player who decides; ``language`` is that of the log.

    The rules run on the state as the player knows it, so a preview says what the player could work out.
    """

    def __init__(self, game: Game, decision: Decision, language: str = "en") -> None:
        self.table, self.decision, self.language = game.table, decision, language

    @cached_property
    def _known(self) -> State:
        return veiled(self.table.sight, self.decision.state, self.decision.frame, self.decision.actor)

    def first(self, code: Code) -> str:
        """Return the line of the first event after a choice, without the actor.

        It is empty if chance, something hidden or the end of a turn comes before the event, if the event tells
        something hidden, if others choose at the same time, or if the choice fails.
        """
        if self.decision.site.ask.at_once is not None:
            return ""
        state, player = self._known.clone(), self.decision.actor
        with suppress(Unseen, RuleFailure):
            for number, record in enumerate(forecast(self.table.sight, state, code)):
                match read(record):
                    case Event() as event:
                        hash(tuple(event.values))  # reads every part, so that a veil raises
                        line = next(lines_since(self.table, state, number, player, self.language))
                        return without_actor(Spoken(self.table, state, self.language), player, line.text)
                    case Mark():
                        return ""
                    case Choice() if number:
                        return ""
        return ""
