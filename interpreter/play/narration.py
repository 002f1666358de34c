"""Narration of a game: log lines and boards in reading order."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.bots.player import Code
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import has_sealed
from interpreter.engine.views import BoardTable, Line, Spoken, board_of, is_shown, lines_since, option_text, prompt_of
from interpreter.language.types import SEAT

__all__ = ["Narrator", "without_actor", "words_of"]


class Narrator:
    """Watcher that passes on each log line once, and each board at its moment.

    ``player`` is the seat whose view it narrates. With ``prompts`` it adds the prompt of each decision that has one.
    """

    def __init__(
        self,
        tell: Callable[[Line | BoardTable], None],
        language: str = "en",
        player: int | None = None,
        *,
        prompts: bool = False,
    ) -> None:
        self.tell, self.language, self.player, self.prompts = tell, language, player, prompts
        self._start = 0
        self._told = 0

    def moment(self, game: Game, word: str) -> None:
        self.lines(game)
        for board in game.ruleset.model.boards:
            if board.when == word and is_shown(game.table, game.state, board, self.player):
                self.tell(board_of(game.table, game.state, board, self.language, self.player))

    def boards(self, game: Game) -> None:
        """Narrate all boards as they are now, for readers who join a running game."""
        for board in game.ruleset.model.boards:
            if board.when != "end of game" and is_shown(game.table, game.state, board, self.player):
                self.tell(board_of(game.table, game.state, board, self.language, self.player))

    def asked(self, game: Game, decision: Decision) -> None:
        text = prompt_of(game.table, game.state, decision, self.language, self.player) if self.prompts else ""
        if text:
            self.lines(game)
            self.tell(Line("prompt", decision.name, text, {}, decision.actor))

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        self.lines(game)

    def lines(self, game: Game) -> None:
        """Narrate new lines. Revealed choices are narrated again, so reading starts at the first sealed choice until
        then."""
        lines = list(lines_since(game.table, game.state, self._start, self.player, self.language))
        for line in lines[self._told :]:
            self.tell(line)
        self._told = len(lines)
        if not has_sealed(game.state.log[self._start :]):
            self.forget(game)

    def forget(self, game: Game) -> None:
        """Skip the events so far, because they were narrated or undone."""
        self._start, self._told = len(game.state.log), 0


def without_actor(names: Spoken, actor: int, text: str) -> str:
    """Remove the actor from the start of a log line."""
    return text.removeprefix(names.text(actor, SEAT)).strip()


def words_of(spoken: Spoken, decision: Decision, code: Code) -> str:
    """Return an option in the words of its log line, without the actor; empty if the ruleset has none."""
    return without_actor(spoken, decision.actor, option_text(spoken, decision, code))
