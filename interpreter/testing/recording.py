"""Recording of a scenario: the moves of a game and the facts that then hold, written as an item of a scenario file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError, unique
from interpreter.base.plain_data import Json, json_of
from interpreter.base.source import SourceFile
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.queries import literal
from interpreter.engine.refusal import IllegalMove
from interpreter.language.model import spoken_name
from interpreter.language.types import HolderType, read_type
from interpreter.loading.load import load
from interpreter.reading.files import read_document
from interpreter.testing.scenarios import Scenario, read_scenarios
from interpreter.testing.state_text import holders_of, joined
from interpreter.testing.suite import Load, Suite

__all__ = ["Choices", "Recording", "Written", "added", "file_with", "read_text", "stacked"]

_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w-]*( [\w-]+)*")


Choices = tuple[tuple[int, dict[str, Json]], ...]
"""Choices, each with its seat."""


class Written(Struct, frozen=True):
    """A scenario to be written. ``given`` and ``then`` are lines of rule text."""

    ruleset: str
    players: int
    overlays: tuple[str, ...]
    settings: tuple[tuple[str, Json], ...]
    seed: int | None
    given: tuple[str, ...] = ()
    phase: str = ""
    round: int = 1
    choices: Choices = ()
    sound: int | None = None
    then: tuple[str, ...] = ()
    refused: dict[str, Json] | None = None

    def text(self, name: str, plain: re.Pattern[str] = _PLAIN) -> str:
        """Return the scenario as an item of a scenario file. Words that are ``plain`` have no quotes."""
        lines = [
            f"name: {json_of(name)}",
            f"ruleset: {self.ruleset}",
            f"players: {self.players}",
            f"with: {_flow(self.overlays, plain)}" if self.overlays else "",
            f"set: {_flow(dict(self.settings), plain)}" if self.settings else "",
            f"seed: {self.seed}" if self.seed is not None else "",
            "given: |" if self.given else "",
            *(f"  {line}" for line in joined(self.given)),
            f"phase: {self.phase}" if self.phase else "",
            f"round: {self.round}" if self.round > 1 else "",
            "when:" if self.choices else "",
            *(f"  - {_flow({'by': by, **choice}, plain)}" for by, choice in self.choices),
            f"sound: {self.sound}" if self.sound is not None else "",
            "then:" if self.then else "",
            *(f"  - {_scalar(fact)}" for fact in self.then),
            f"refused: {_flow(self.refused, plain)}" if self.refused is not None else "",
        ]
        return "  - " + "    ".join(f"{line}\n" for line in lines if line)


@dataclass
class Recording:
    """A game, its set-up, and the conditions (``facts``) that must hold. ``with_`` are overlays."""

    game: Game
    settings: dict[str, Json] = field(default_factory=dict)
    with_: tuple[str, ...] = ()
    facts: list[str] = field(default_factory=list)
    refusal: tuple[int, dict[str, Json], IllegalMove] | None = None

    def __post_init__(self) -> None:
        self._before = dict(self._values())

    def changes(self) -> list[str]:
        """Return conditions for all values that the moves changed."""
        return [f"{text} == {now}" for text, now in self._values() if self._before.get(text) != now]

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield the values of the game and of its things that rule text can express."""
        model, names = self.game.ruleset.model, self.game.table.names
        for group, cell, text in holders_of(self.game):
            unit = isinstance(group.type, HolderType) and model.is_unit(group.type.name)
            written = literal(names, self.game.state.cells[cell], read_type(group.type, unit=unit))
            if written is not None:
                yield text, written

    @classmethod
    def of_last(cls, game: Game, number: int, settings: dict[str, Json], with_: tuple[str, ...]) -> Recording:
        """Return a game with its last choices as the moves; its facts are what they have changed."""
        before = copy(game)
        for _ in range(number):
            before.undo()
        recording = cls(before, settings, with_)
        recording.game = game
        recording.facts = recording.changes()
        return recording

    def written(self) -> Written:
        """Return the scenario of the whole game."""
        refused: dict[str, Json] | None = None
        if self.refusal is not None:
            by, choice, error = self.refusal
            cites = {"cites": error.cites} if error.cites else {}
            refused = {"by": by, **choice, "rule": spoken_name(error.rule), **cites}
        origin, settings, choices = self.game.origin, tuple(self.settings.items()), tuple(self.game.choices)
        written = Written(self.game.ruleset.id, origin["players"], self.with_, settings, origin["seed"])
        return replace(written, choices=choices, then=tuple(self.facts), refused=refused)


def _flow(value: Json, plain: re.Pattern[str]) -> str:
    """Return a value as one line of YAML. Texts that are ``plain`` have no quotes."""
    match value:
        case dict():
            return f"{{{', '.join(f'{key}: {_flow(item, plain)}' for key, item in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(_flow(item, plain) for item in value)}]"
        case str() if plain.fullmatch(value):
            return value
        case _:
            return json_of(value)


def _scalar(text: str) -> str:
    """Return rule text (which has no `'`) on one line, quoted if YAML would read it as something else."""
    return text if re.fullmatch(r"[a-z_](?:(?!: | #).)*", text) and not text.endswith(":") else f"'{text}'"


def file_with(text: str, id: str, item: str) -> str:
    """Return the text of a scenario file with an item appended."""
    head = text if text.strip() else f"language: 2\nscenarios: {id}\nis:\n"
    return f"{head.rstrip()}\n{item}"


def read_text(text: str, path: Path) -> list[Scenario]:
    """Return the scenarios of the text of a file. Raises :class:`RulesetError` if it has errors."""
    document, misfits = read_document(SourceFile(path.as_posix(), text), path)
    scenarios, errors = read_scenarios(document) if document is not None else ([], [])
    if misfits or errors or not scenarios:
        raise RulesetError([*misfits, *errors])
    return scenarios


def stacked(ruleset: Ruleset, asked: Collection[str]) -> tuple[str, ...]:
    """Return the overlays of a ruleset that were asked for, as a scenario names them. Raises ``ValueError``."""
    if any(overlay[0] in "+-" for overlay in asked):
        raise ValueError("a scenario stacks overlays; it cannot leave one out")
    return tuple(id for id in ruleset.overlays if {id, id.partition("/")[2]} & {*asked})


def added(recording: Recording, written: Written, name: str, text: str, path: Path, load: Load = load) -> str:
    """Return the text of a scenario file with a recorded scenario, which passes. Raises :class:`RulesetError` if the
    file has errors, and ``ValueError`` if the scenario does not pass. ``load`` loads its ruleset."""
    text = file_with(text, f"{recording.game.ruleset.model.family}/{path.stem}", written.text(name))
    suite = Suite(recording.game.ruleset.shelf, read_text(text, path)[-1:], load=load)
    failures = [failure for outcome in suite.outcomes() for failure in outcome.failures]
    if suite.diagnostics:
        raise RulesetError(unique(suite.diagnostics))
    if failures:
        raise ValueError("\n".join(["the scenario does not pass; nothing was written", *map(str, failures)]))
    return text
