"""Saved games: JSON lines with the origin of a game, its choices and hashes of its states.

The first line is the header (ruleset, overlays, digest of the ruleset, players, seed, settings, scripted outcomes).
Each further line is a choice: ``by`` the seat, ``do`` the alternative, its values, the ``decision``, and every tenth
time the ``digest`` of the resulting state. The last line of a finished game has its ``places`` and the last digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypeAlias, TypedDict, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Note, RulesetError
from interpreter.base.plain_data import Json, Value, json_of
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.scripted_outcomes import Outcomes
from interpreter.loading.load import find, load
from interpreter.reading.compose import ALLOW_UNDEFINED
from interpreter.reading.files import Shelf, nearby

__all__ = [
    "Choice",
    "Difference",
    "Gathering",
    "Header",
    "Recorder",
    "SavedGame",
    "choice_in",
    "header_of",
    "read_saved_game",
    "replay_game",
    "replaying",
    "ruleset_of",
    "unknown_settings",
    "write_log",
    "writing_log",
]

VERSION = 1
EVERY = 10
_ORIGIN = ("ruleset", "overlays", "digest", "players", "seed", "settings", "chance")

Choice: TypeAlias = dict[str, Value]
"""A choice: ``do`` and the values of the alternative; in a saved game with ``by``, ``decision`` and ``digest``."""


class Clock(TypedDict):
    """The seconds that each person has, ``per`` `game` or `choice`. Whoever is late is played by a `bot`, or takes the
    alternative without values if there is one (`pass`)."""

    per: str
    seconds: int
    late: str


class Gathering(TypedDict):
    """What people have asked for at a table whose game has not begun."""

    overlays: list[str]
    settings: dict[str, str]


class Header(TypedDict):
    """First line of a saved game: how it began."""

    log: int
    ruleset: str
    overlays: NotRequired[list[str]]
    digest: NotRequired[str]
    players: int
    seed: int
    settings: NotRequired[dict[str, Json]]
    chance: NotRequired[Outcomes]
    bots: NotRequired[list[str]]
    continued: NotRequired[bool]
    """The game goes on from the middle of another, or of a longer course of its own that was taken back."""
    again: NotRequired[str]
    """The table on which the same people play the next game."""
    clock: NotRequired[Clock]
    gathers: NotRequired[Gathering]
    """The table gathers people; the game is only an example of the one that will begin."""


class Difference(Exception):
    """Raised if a replay differs from the saved game at the choice ``number``; 0 means before all choices."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, message)
        self.number, self.message = number, message

    def __str__(self) -> str:
        return f"choice {self.number}: {self.message}" if self.number else self.message


class SavedGame(Struct, frozen=True):
    """A saved game as read. ``end`` is its last line if the game was finished; ``file`` is where it was read."""

    header: Header
    choices: tuple[Choice, ...]
    end: Mapping[str, Value] | None
    file: Path | None = None


class Recorder:
    """Watcher that writes the log of a match."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self._count = write, 0

    def _line(self, data: Mapping[str, object]) -> None:
        self._write(json_of(data) + "\n")

    def begin(self, game: Game, bots: Sequence[str] = ()) -> None:
        """Write the header."""
        self._line({**header_of(game), **({"bots": list(bots)} if bots else {})})

    def moment(self, game: Game, word: str) -> None:
        """Do nothing: moments follow from the choices."""

    def asked(self, game: Game, decision: Decision) -> None:
        """Do nothing: decisions follow from the choices."""

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        self._count += 1
        line = {"by": decision.actor, **option.as_dict(), "decision": decision.name}
        self._line({**line, "digest": game.digest()} if self._count % EVERY == 0 else line)

    def finish(self, game: Game) -> None:
        """Write the last line if the game is over."""
        if game.result is not None:
            self._line({"places": list(game.result.places), "digest": game.digest()})


def header_of(game: Game) -> Header:
    """Return the first line of a saved game: how it began."""
    header = _header(json.loads(json_of(game.beginning)))
    assert _is_header(header)
    return header


def _header(save: Mapping[str, Value]) -> dict[str, Value]:
    return {"log": VERSION, **{key: save[key] for key in _ORIGIN if key in save}}


def write_log(game: Game, write: Callable[[str], object]) -> None:
    """Write the log of a game that was played without a recorder, by replaying its choices."""
    for _ in writing_log(game, write):
        pass


def writing_log(game: Game, write: Callable[[str], object]) -> Iterator[None]:
    """Do the same in steps, of which there is at least one."""
    recorder = Recorder(write)
    header = header_of(game)
    copy = Game.begin(game.ruleset, game.table, header["seed"], header.get("chance"))
    recorder.begin(copy)
    for by, choice in game.choices:
        decision = copy.decision_of(by)
        assert decision is not None
        copy.apply(choice, by)
        pairs = tuple((name, value) for name, value in choice.items() if name != "do")
        recorder.chosen(copy, decision, Option(str(choice["do"]), pairs, (0, ())))
        yield
    recorder.finish(copy)
    yield


def read_saved_game(text: str, file: Path | None = None) -> SavedGame:
    """Parse a log or a save. Raises ``ValueError`` with the number of an invalid line."""
    lines: list[dict[str, Value]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise ValueError(f"line {number} is not a line of a saved game")
        lines.append(data)
    if len(lines) == 1 and "save" in lines[0] and isinstance(lines[0].get("choices"), list):
        saved = lines[0]
        lines = [_header(saved), *saved["choices"]]
    header = lines.pop(0) if lines else {}
    if not _is_header(header):
        raise ValueError(f"this is not a saved game of version {VERSION}")
    for number, data in enumerate(lines, 1):
        if not isinstance(data, dict):
            raise ValueError(f"choice {number} is not an object")
    end = lines.pop() if lines and "places" in lines[-1] and "by" not in lines[-1] else None
    for number, data in enumerate(lines, 1):
        if not isinstance(data.get("by"), int) or not isinstance(data.get("do"), str):
            raise ValueError(f"choice {number} needs `by`, a seat, and `do`, an alternative")
    return SavedGame(header, tuple(lines), end, file)


def _is_header(header: Mapping[str, object]) -> TypeGuard[Header]:
    names = [header.get(key, []) for key in ("overlays", "bots")]
    return (
        header.get("log") == VERSION
        and isinstance(header.get("ruleset"), str)
        and all(isinstance(each, list) and all(isinstance(name, str) for name in each) for each in names)
        and isinstance(header.get("players"), int)
        and isinstance(header.get("seed"), int)
        and isinstance(header.get("settings", {}), dict)
        and isinstance(header.get("chance", {}), dict)
    )


def choice_in(line: Choice) -> Choice:
    """Return the choice itself of a line of a saved game."""
    return {name: value for name, value in line.items() if name not in ("by", "decision", "digest")}


def ruleset_of(saved: SavedGame, name: str | None = None) -> Ruleset:
    """Load the ruleset of a saved game, or the one named instead. Files in no ruleset folder are also searched beside
    the log. Raises :class:`RulesetError`."""
    chosen = name or str(saved.header["ruleset"])
    beside = [saved.file.parent] if saved.file is not None else []
    shelf, document, diagnostics = find(chosen, beside=beside)
    if document is None:
        named = (Note(f"the saved game `{saved.file}` names it"),) if saved.file is not None and name is None else ()
        raise RulesetError([replace(each, notes=(*each.notes, *named)) for each in diagnostics])
    own = [scalar.text for scalar in document.head.overlays]
    recorded = saved.header.get("overlays", own)
    refused = [f"-{overlay}" for overlay in own if overlay not in recorded]
    # a saved game was allowed when it was played
    added = [_located(overlay, shelf, beside) for overlay in recorded if overlay not in own]
    overlays = [*added, *refused, ALLOW_UNDEFINED]
    return load(document.address if shelf.ahead else chosen, overlays)


def _located(overlay: str, shelf: Shelf, beside: Sequence[Path]) -> str:
    """Return the id of an overlay, or its path if it is in no ruleset folder but here or beside the log."""
    places = nearby(overlay, beside, "overlay") if shelf.find("overlay", overlay) is None else []
    return str(places[0]) if places else overlay


def unknown_settings(ruleset: Ruleset, saved: SavedGame) -> list[str]:
    """Return the settings of a saved game that another ruleset, used to replay it, does not have."""
    if ruleset.id == saved.header["ruleset"] or saved.header["players"] not in ruleset.players:
        return []
    ruleset = ruleset.for_players(saved.header["players"])
    return [name for name in saved.header.get("settings", {}) if not ruleset.has_setting(name)]


def replay_game(ruleset: Ruleset, saved: SavedGame, until: int | None = None) -> Game:
    """Replay the choices of a saved game, or the first ``until`` of them. Raises :class:`Difference`."""
    *_, game = replaying(ruleset, saved, until)
    return game


def replaying(ruleset: Ruleset, saved: SavedGame, until: int | None = None) -> Iterator[Game]:
    """Do the same in steps: yield the game as it begins and after each choice."""
    header = saved.header
    lacking = unknown_settings(ruleset, saved)
    settings = {name: value for name, value in header.get("settings", {}).items() if name not in lacking}
    try:
        game = ruleset.new_game(header["players"], header["seed"], settings, header.get("chance"))
    except ValueError as error:
        raise Difference(0, str(error)) from None
    yield game
    for number, line in enumerate(saved.choices[:until], 1):
        _again(game, number, line)
        yield game
    if until is None or until > len(saved.choices):
        _check_end(game, saved)


def _again(game: Game, number: int, line: Choice) -> None:
    decision = game.decision_of(line["by"]) or game.decision
    if decision is None:
        raise Difference(number, "the game is over before it")
    recorded = line.get("decision", decision.name)
    if (decision.actor, decision.name) != (line["by"], recorded):
        rule = decision.site.procedure.split("@")[0]
        now = f"seat {decision.actor} decides `{decision.name}` (rule `{rule}`)"
        raise Difference(number, f"{now}; in the saved game seat {line['by']} decides `{recorded}`")
    try:
        game.apply(choice_in(line), line["by"])
    except IllegalMove as error:
        raise Difference(number, str(error)) from None
    if "digest" in line and line["digest"] != game.digest():
        raise Difference(number, f"the state after it differs from the saved game (`{recorded}` of seat {line['by']})")


def _check_end(game: Game, saved: SavedGame) -> None:
    if saved.end is None:
        return
    last = len(saved.choices)
    if game.result is None:
        raise Difference(last, "the saved game ends after it; this one goes on")
    if (got := list(game.result.places)) != (want := saved.end["places"]):
        raise Difference(last, f"the places are {got}; in the saved game they are {want}")
    if saved.end.get("digest", game.digest()) != game.digest():
        raise Difference(last, "the last state differs from the saved game")
