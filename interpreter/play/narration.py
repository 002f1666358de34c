"""Narration of a game: log lines and boards in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from interpreter.bots.player import Code
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import has_sealed
from interpreter.engine.views import (
    BoardTable,
    Line,
    Spoken,
    added,
    board_of,
    is_shown,
    lines_since,
    option_text,
    prompt_of,
)
from interpreter.language.types import SEAT

__all__ = ["Narrator", "boards_of", "sentences", "without_actor", "words_of"]

T = TypeVar("T")


class Narrator:
    """Watcher that passes on each log line once, and each board at its moment.

    ``player`` is the seat whose view it narrates. With ``prompts`` it adds the prompt of each decision that has one.
    With ``joins``, successive lines that read as one are told as one, once another follows or the player is asked.
    """

    def __init__(
        self,
        tell: Callable[[Line | BoardTable], None],
        language: str = "en",
        player: int | None = None,
        *,
        prompts: bool = False,
        joins: bool = False,
    ) -> None:
        self._tell, self.language, self.player, self.prompts, self.joins = tell, language, player, prompts, joins
        self._sentence: list[Line] = []
        self._start = 0
        self._told = 0

    def tell(self, entry: Line | BoardTable) -> None:
        """Pass on an entry, or keep a line to which others may be added."""
        if not self.joins or isinstance(entry, BoardTable):
            self.flush()
            self._tell(entry)
        elif entry.text:
            if not self._sentence or added(entry, self._sentence[-1]) is None:
                self.flush()
            self._sentence.append(entry)
        elif entry.kind == "mark":
            self.flush()

    def flush(self) -> None:
        """Pass on the line that is kept."""
        lines, self._sentence = self._sentence, []
        if lines:
            self._tell(_joined(lines))

    def moment(self, game: Game, word: str) -> None:
        self.lines(game)
        self.boards(game, word)

    def boards(self, game: Game, moment: str = "") -> None:
        """Narrate the boards of a moment; without one all as they are now, for readers who join a running game."""
        for board in boards_of(game, self.language, self.player, moment):
            self.tell(board)

    def asked(self, game: Game, decision: Decision) -> None:
        if decision.actor == self.player:
            self.lines(game)
            self.flush()
        text = prompt_of(game.table, game.state, decision, self.language, self.player) if self.prompts else ""
        if text:
            self.lines(game)
            self.tell(Line("prompt", decision.name, text, {}, decision.actor))

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        self.lines(game)

    def lines(self, game: Game) -> None:
        """Narrate new lines, from the first sealed choice on: revealed choices are narrated again."""
        lines = list(lines_since(game.table, game.state, self._start, self.player, self.language))
        for line in lines[self._told :]:
            self.tell(line)
        self._told = len(lines)
        if not has_sealed(game.state.log[self._start :]):
            self.forget(game)

    def forget(self, game: Game) -> None:
        """Skip the events so far, because they were narrated or undone."""
        self._start, self._told = len(game.state.log), 0


def boards_of(game: Game, language: str, player: int | None = None, moment: str = "") -> Iterator[BoardTable]:
    """Yield the boards of a moment that a player may see; without a moment, all but those of the end of the game."""
    for board in game.ruleset.model.boards:
        is_due = board.when == moment if moment else board.when != "end of game"
        if is_due and is_shown(game.table, game.state, board, player):
            yield board_of(game.table, game.state, board, language, player)


def sentences(lines: Iterable[tuple[T, Line]]) -> list[list[tuple[T, str]]]:
    """Return lines with their keys by sentences: of each the text of its first line, and what the others add."""
    found: list[list[tuple[T, str]]] = []
    before: Line | None = None
    for key, line in lines:
        more = added(line, before) if line.text and before is not None else None
        if more is not None:
            found[-1].append((key, more))
        elif line.text:
            found.append([(key, line.text)])
        if line.text or line.kind == "mark":
            before = line if line.text else None
    return found


def _joined(lines: Sequence[Line]) -> Line:
    """Return lines of one sentence as one line, with equal parts counted."""
    [sentence] = sentences((line, line) for line in lines)
    parts: list[tuple[str, str, int]] = []
    for line, text in sentence:
        rest = line.text[line.lead :].lstrip()
        if text == rest and parts and rest == parts[-1][1]:
            parts[-1] = *parts[-1][:2], parts[-1][2] + 1
        else:
            parts.append((text.removesuffix(rest), rest, 1))
    words = (head + (f"{times} × " if times > 1 else "") + rest for head, rest, times in parts)
    return replace(lines[0], text="; ".join(words))


def without_actor(names: Spoken, actor: int, text: str) -> str:
    """Remove the actor from the start of a log line."""
    return text.removeprefix(names.text(actor, SEAT)).strip()


def words_of(spoken: Spoken, decision: Decision, code: Code) -> str:
    """Return an option in the words of its log line, without the actor; empty if the ruleset has none."""
    return without_actor(spoken, decision.actor, option_text(spoken, decision, code))
