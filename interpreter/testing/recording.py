"""Recording of a scenario: the moves of a game and the facts that then hold, written as an item of a scenario file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

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
from interpreter.testing.scenarios import read_scenarios
from interpreter.testing.suite import Suite

__all__ = ["Recording", "checked", "file_with", "flow"]

_PLAIN = re.compile(r"(?!(?:true|false|null)$)[^\W\d][\w-]*( [\w-]+)*")


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
        refused = ""
        if self.refusal is not None:
            by, choice, error = self.refusal
            cites = {"cites": list(error.cites)} if error.cites else {}
            refused = f"refused: {flow({'by': by, **choice, 'rule': spoken_name(error.rule), **cites})}"
        lines = [
            f"name: {json.dumps(name, ensure_ascii=False)}",
            f"ruleset: {self.game.ruleset.id}",
            f"players: {self.game.origin['players']}",
            f"with: {flow(list(self.with_))}" if self.with_ else "",
            f"set: {flow(self.settings)}" if self.settings else "",
            f"seed: {self.game.origin['seed']}",
            "when:" if self.game.choices else "",
            *(f"  - {flow({'by': by, **choice})}" for by, choice in self.game.choices),
            "then:" if self.facts else "",
            *(f"  - {_scalar(fact)}" for fact in self.facts),
            refused,
        ]
        return "  - " + "    ".join(f"{line}\n" for line in lines if line)


def flow(value: Json, plain: re.Pattern[str] = _PLAIN) -> str:
    """Return a value as one line of YAML. Texts that are ``plain`` have no quotes."""
    match value:
        case dict():
            return f"{{{', '.join(f'{key}: {flow(item, plain)}' for key, item in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(flow(item, plain) for item in value)}]"
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


def checked(recording: Recording, text: str, path: Path) -> Iterable[Failure]:
    """Run the recorded scenario, the last one in ``text``. Raises :class:`RulesetError` if the file has errors."""
    document, misfits = read_document(SourceFile(path.as_posix(), text), path)
    scenarios, errors = read_scenarios(document) if document is not None else ([], [])
    if misfits or errors or not scenarios:
        raise RulesetError([*misfits, *errors])
    suite = Suite(recording.game.ruleset.shelf, scenarios[-1:])
    failures = [failure for outcome in suite.outcomes() for failure in outcome.failures]
    if suite.diagnostics:
        raise RulesetError(unique(suite.diagnostics))
    return failures
