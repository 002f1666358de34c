"""Interactive session: shows the game to a person and handles each line that they type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO
from unicodedata import normalize

import click

from interpreter.base.messages import frame
from interpreter.bots.player import Code, Stream
from interpreter.bots.registry import adviser, bots_of
from interpreter.cli.output import as_json, board, notice, say, say_lines, styled
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, legal_choice
from interpreter.engine.views import Spoken, question_of
from interpreter.language.types import SEAT
from interpreter.play.game_records import write_log
from interpreter.play.keyboard import numbered, understood
from interpreter.play.narration import boards_of

__all__ = ["Leaves", "Person", "TakesBack"]


class Leaves(Exception):
    """The person leaves the game."""


class TakesBack(Exception):
    """The person takes back a choice."""


class Person:
    """A seat that is played from the keyboard. Input from a pipe is echoed."""

    name = "you"

    def __init__(self, seat: int, lines: TextIO, language: str) -> None:
        self.seat, self.lines, self.language = seat, lines, language
        self.quiet = lines.isatty()

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        return self.asked(game, decision)

    def asked(self, game: Game, decision: Decision) -> Option:
        """Show the options and read lines until one of them chooses an option."""
        codes = decision.codes
        self._show(game, decision, codes)
        while (code := self._line(game, decision, codes)) is None:
            pass
        return decision.option(code)

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """Ask this person to break a tie of another seat, by number."""
        who = Spoken(game.table, game.state, self.language).text(decision.actor, SEAT)
        say(styled(self._frame("decide_for", who=who), bold=True))
        say_lines(numbered(game, decision, codes, self.language))
        while True:
            text = self._read()
            if text.isdigit() and 1 <= int(text) <= len(codes):
                return codes[int(text) - 1]
            say(self._frame("a_number", most=len(codes)))

    # --- showing

    def _show(self, game: Game, decision: Decision, codes: Sequence[Code]) -> None:
        say(styled(question_of(game.table, game.state, decision, self.language, self.seat), bold=True))
        say_lines(numbered(game, decision, codes, self.language))

    # --- reading

    def _read(self) -> str:
        click.echo("> ", nl=False)
        text = normalize("NFC", self.lines.readline())
        if not text:
            say()
            raise Leaves
        if not self.quiet:
            say(text.strip())
        return text.strip()

    def _line(self, game: Game, decision: Decision, codes: Sequence[Code]) -> Code | None:
        """Read a line and return the option that it chooses; None if it is a command or refused."""
        text = self._read()
        if text.isdigit():
            if 1 <= int(text) <= len(codes):
                return codes[int(text) - 1]
            say(self._frame("no_option", number=text, most=len(codes)))
            return None
        if not text or self._command(game, decision, codes, text):
            return None
        try:
            choice = understood(game, decision, text, self.language)
            return legal_choice(game.table, game.decision, choice, self.language)
        except ValueError as error:
            say(self._frame("see_help", error=error))
        except IllegalMove as refusal:
            self._refused(game, refusal)
        return None

    def _command(self, game: Game, decision: Decision, codes: Sequence[Code], text: str) -> bool:
        """Execute a command of the session and return whether the line was one. Alternatives of the same name win."""
        word, _, rest = text.partition(" ")
        if any(option.name == word for option in decision.site.options):
            return False
        match word:
            case "help" | "?":
                say(self._frame("help"))
            case "options":
                self._show(game, decision, codes)
            case "boards":
                for shown in boards_of(game, self.language, self.seat):
                    board(shown.text, shown.columns, shown.rows)
            case "view":
                as_json(game.view(player=self.seat))
            case "hint":
                self._hint(game, decision, codes, rest.strip())
            case "undo":
                raise TakesBack
            case "quit":
                raise Leaves
            case "save":
                self._save(game, rest.strip())
            case _:
                return False
        return True

    def _hint(self, game: Game, decision: Decision, codes: Sequence[Code], spec: str) -> None:
        """Print the choice of a bot as a hint; by default of the best bot of the ruleset."""
        copy = game.clone(log=True)  # a bot may change the game that it inspects
        question = copy.decision
        assert question is not None
        try:
            bot = bots_of(spec or adviser(game.ruleset), game.ruleset, game.table.seats)[decision.actor]
        except ValueError as error:
            say(str(error))
            return
        code = bot.choose(copy, question, Stream(game.origin["seed"], "hint")).code
        line = numbered(game, decision, [code], self.language)[0].split(maxsplit=1)[1]
        say(self._frame("would_choose", bot=bot.name, number=codes.index(code) + 1, option=line))

    def _refused(self, game: Game, refusal: IllegalMove) -> None:
        """Explain a refused choice: each condition that fails, with its rule and statements."""
        if not refusal.reasons:
            say(self._frame("refused", why=refusal))
        statements = game.ruleset.statements
        for reason in refusal.reasons:
            say(self._frame("refused", why=reason))
            say_lines(f"   {cite}: {statements[cite].told}" for cite in reason.cites if cite in statements)

    def _save(self, game: Game, path: str) -> None:
        if not path:
            say(self._frame("save_where"))
            return
        try:
            with open(path, "w", encoding="utf-8") as file:
                write_log(game, file.write)
        except OSError as error:
            say(self._frame("cannot_write", path=path, why=(error.strerror or str(error)).lower()))
            return
        notice(self._frame("kept_in", path=path))

    def _frame(self, name: str, /, **values: object) -> str:
        return frame(self.language, name, **values)
