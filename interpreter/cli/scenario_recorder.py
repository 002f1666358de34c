"""Recorder of scenarios: an author plays all seats at the keyboard, then picks facts to check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from interpreter.base.diagnostics import RulesetError, rendered
from interpreter.bots.player import Code
from interpreter.cli.failures import refused
from interpreter.cli.output import say, say_lines, styled
from interpreter.cli.session import Leaves, Person, TakesBack
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.queries import literal, value_of
from interpreter.engine.refusal import IllegalMove, legal_choice
from interpreter.language.types import BoolType
from interpreter.lowering.constants import RuleFailure
from interpreter.play.keyboard import understood
from interpreter.testing.recording import Recording, added

__all__ = ["record"]

MOST_SHOWN = 40
MOVES = "You play all seats. `done` ends the moves, `refuse MOVE` ends them with a move that must be refused; `help`."
FACTS = "What must hold? Type numbers from the list, conditions, or expressions to keep at their value; empty ends."


class _Recorder(Person):
    """The author, who decides for all seats."""

    def __init__(self, recording: Recording, lines: TextIO, language: str) -> None:
        super().__init__(0, lines, language)
        self.recording = recording

    def _command(self, game: Game, decision: Decision, codes: Sequence[Code], text: str) -> bool:
        word, _, rest = text.partition(" ")
        if word == "done":
            raise Leaves
        if word == "refuse":
            self._refuse(game, decision, rest)
            return True
        return super()._command(game, decision, codes, text)

    def _refuse(self, game: Game, decision: Decision, text: str) -> None:
        try:
            choice = understood(game, decision, text)
            legal_choice(game.table, game.decision, choice)
        except IllegalMove as error:
            self._refused(game, error)
            if error.reasons:
                self.recording.refusal = (decision.actor, choice, error)
                raise Leaves from None
        except ValueError as error:
            say(str(error))
        else:
            say("this move is legal")

    def read(self) -> str:
        try:
            return self._read()
        except Leaves:  # stdin has ended
            return ""


def record(recording: Recording, lines: TextIO, path: Path | None, name: str | None, language: str) -> str:
    """Record a scenario, check that it passes, and return the text of the file with it."""
    person, game = _Recorder(recording, lines, language), recording.game
    say(styled(MOVES, bold=True))
    _moves(person, game)
    _facts(person, recording)
    if not recording.facts and recording.refusal is None:
        refused("a scenario needs a fact or a refused move; nothing was written")
    if name is None:
        say(styled("Name of the scenario?", bold=True))
        name = person.read() or "what was recorded"
    target = path or Path(f"{game.ruleset.model.family}/scenarios/recorded.yaml")
    before = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
    try:
        return added(recording, recording.written(), name, before, target)
    except ValueError as failing:
        refused(str(failing))


def _moves(person: _Recorder, game: Game) -> None:
    while (decision := game.decision) is not None:
        try:
            game.apply(person.asked(game, decision))
        except TakesBack:
            say("undone" if game.undo() else "there is nothing to undo")
        except Leaves:
            return


def _facts(person: _Recorder, recording: Recording) -> None:
    changes = recording.changes()
    say(styled(FACTS, bold=True))
    say_lines(f"  {number:3}  {text}" for number, text in enumerate(changes[:MOST_SHOWN], 1))
    while text := person.read():
        numbers = text.replace(",", " ").split()
        if all(number.isdigit() and 1 <= int(number) <= len(changes) for number in numbers):
            recording.facts.extend(changes[int(number) - 1] for number in numbers)
        elif (fact := _fact(recording.game, text)) is not None:
            recording.facts.append(fact)


def _fact(game: Game, text: str) -> str | None:
    """Return a fact: a condition that holds, or a comparison of an expression with its value. Report anything else."""
    try:
        value, type_ = value_of(game.table, game.state, text)
    except RulesetError as error:
        say("\n".join(rendered(error.diagnostics)))
        return None
    except RuleFailure as error:
        say(str(error))
        return None
    if isinstance(type_, BoolType) and not type_.optional:
        if not value:
            say("this condition is false")
        return text if value else None
    written = literal(game.table.names, value, type_)
    if written is None:
        say(f"its value is {game.table.names.text(value, type_)}; type a condition about it instead")
        return None
    say(f"  {text} == {written}")
    return f"{text} == {written}"
