"""Recording of a scenario: the moves of a game and the facts that then hold, written as an item of a scenario file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError, unique
from interpreter.base.plain_data import Json
from interpreter.base.source import SourceFile
from interpreter.engine.game import Game
from interpreter.engine.queries import literal, value_of
from interpreter.engine.refusal import IllegalMove
from interpreter.language.model import spoken_name
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.files import read_document
from interpreter.testing.running import Failure
from interpreter.testing.scenarios import Scenario, read_scenarios
from interpreter.testing.suite import Suite

__all__ = ["Choices", "Recording", "Written", "checked", "file_with", "read_text"]

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
            f"name: {json.dumps(name, ensure_ascii=False)}",
            f"ruleset: {self.ruleset}",
            f"players: {self.players}",
            f"with: {_flow(self.overlays, plain)}" if self.overlays else "",
            f"set: {_flow(dict(self.settings), plain)}" if self.settings else "",
            f"seed: {self.seed}" if self.seed is not None else "",
            "given: |" if self.given else "",
            *(f"  {line}" for line in self.given),
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
        """Yield the values of the game and its seats that rule text can express."""
        groups = self.game.ruleset.model.groups.values()
        seats = range(self.game.table.seats)
        own = [f"seats[{seat}].{group.name}" for seat in seats for group in groups if group.owner == "seat"]
        for text in [*(group.name for group in groups if not group.owner), *own]:
            try:
                written = literal(self.game.table.names, *value_of(self.game.table, self.game.state, text))
            except (RulesetError, RuleFailure):  # the group of another role's seats
                continue
            if written is not None:
                yield text, written

    def item(self, name: str) -> str:
        """Return the scenario as YAML."""
        refused: dict[str, Json] | None = None
        if self.refusal is not None:
            by, choice, error = self.refusal
            cites = {"cites": error.cites} if error.cites else {}
            refused = {"by": by, **choice, "rule": spoken_name(error.rule), **cites}
        origin, settings, choices = self.game.origin, tuple(self.settings.items()), tuple(self.game.choices)
        written = Written(self.game.ruleset.id, origin["players"], self.with_, settings, origin["seed"])
        return replace(written, choices=choices, then=tuple(self.facts), refused=refused).text(name)


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
            return json.dumps(value, ensure_ascii=False)


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


def checked(recording: Recording, text: str, path: Path) -> Iterable[Failure]:
    """Run the recorded scenario, the last one in ``text``. Raises :class:`RulesetError` if the file has errors."""
    scenarios = read_text(text, path)
    suite = Suite(recording.game.ruleset.shelf, scenarios[-1:])
    failures = [failure for outcome in suite.outcomes() for failure in outcome.failures]
    if suite.diagnostics:
        raise RulesetError(unique(suite.diagnostics))
    return failures
