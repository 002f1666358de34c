"""Commands in the talk of a table: what can be typed behind a slash.

The options of a game are derived from its map, overlays, settings and interpretations. Nothing here changes a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from interpreter.base.suggest import did_you_mean
from interpreter.engine.game import Ruleset
from interpreter.engine.settings import setting_syntax
from interpreter.language.types import BoolType, KindType
from interpreter.play.game_records import Gathering
from interpreter.reading.ruleset_files import can_have
from interpreter.sections.seating import Command
from interpreter.serve.words import Refused, in_language, known, t

__all__ = ["COMMANDS", "asked_for", "command_in", "completions", "options_of"]

Boards = Mapping[str, tuple[str, str]]
"""Rulesets that differ in the map alone: id and title of the board, by the map."""
Change = Callable[[Ruleset, Boards, Gathering], str]
"""Amends what people have asked for, and returns the id of the ruleset."""
COMMANDS = {
    "join": known("take an open seat; your name may follow"),
    "start": known("begin the game with the seats that are taken"),
    "option": known("list the options; a name and a value set one"),
    "undo": known("take back your last choice"),
    "hint": known("ask for a hint"),
    "help": known("list the commands"),
}
DEFAULT = "-"
"""Value that gives a setting its default back."""


class Option(Struct, frozen=True):
    """An option of a game. ``values`` has those that can be listed, each with its meaning; ``ids`` the ruleset or the
    change of overlays that a value stands for."""

    about: str
    values: Mapping[str, str]
    ids: Mapping[str, str] = {}


def command_in(text: str) -> tuple[str, list[str]]:
    """Return the word of a command, and what follows: a name and its value. Raises :class:`Refused`."""
    word, *rest = text.strip().removeprefix("/").split(maxsplit=2) or [""]
    if word.lower() not in COMMANDS:
        near = did_you_mean(f"/{word.lower()}", [f"/{each}" for each in COMMANDS], in_language.value)
        raise Refused("Unknown command `/{word}`{near}", word=word[:80], near=near or t("; `/help` lists all"))
    return word.lower(), rest


def asked_for(name: str, value: str, ruleset: Ruleset, boards: Boards, asked: Gathering) -> str:
    """Add an option to what people have asked for. Return the id of the ruleset. Raises :class:`Refused`."""
    options = options_of(ruleset, boards)
    if name not in options:
        near = did_you_mean(name, options, in_language.value) or t("; `/option` lists all")
        raise Refused("Unknown option `{option}`{near}", option=name[:80], near=near)
    ids = options[name].ids
    if ids and value not in ids:
        near = did_you_mean(value, ids, in_language.value)
        raise Refused("`{option}` has no value `{value}`{near}", option=name, value=value[:80], near=near)
    if not ids:
        kept = {key: each for key, each in asked["settings"].items() if key != name}
        asked["settings"] = kept if value == DEFAULT else {**kept, name: value}
    elif name == "map":
        return ids[value]
    else:
        others = [each for each in asked["overlays"] if each not in ids.values()]
        asked["overlays"] = [*others, *([ids[value]] if ids[value] else [])]
    return ruleset.id


def options_of(ruleset: Ruleset, boards: Boards) -> dict[str, Option]:
    """Return the options of a game by name."""
    model, files = ruleset.model, [document.id for document in ruleset.composition.documents]
    listed = [scalar.text for scalar in ruleset.document.head.overlays]
    options: dict[str, Option] = {}
    for overlay in ruleset.shelf.documents("overlay"):
        if overlay.id in files or can_have(files, overlay):
            ids = {"yes": "", "no": f"-{overlay.id}"} if overlay.id in listed else {"yes": overlay.id, "no": ""}
            options[overlay.id.rpartition("/")[2]] = Option(overlay.title, dict.fromkeys(ids, overlay.title), ids)
    for name, setting in model.settings.items():
        type_ = setting.type
        members = model.members(type_.name) if isinstance(type_, KindType) else ()
        values = ("yes", "no") if isinstance(type_, BoolType) else members
        about = setting.about or setting_syntax(model, name)
        options[name] = Option(about, dict.fromkeys(values, about))
    for name, doubt in model.interpretations.items():
        options[name] = Option(", ".join(doubt.readings), doubt.readings)
    return {"map": _maps(ruleset, boards), **options} if len(boards) > 1 else options


def _maps(ruleset: Ruleset, boards: Boards) -> Option:
    """Return the option of the map: its name, or its number in the edition."""
    commands = ruleset.composition.read(Command)
    numbered = (scalar.text for command in commands if command.name == "map" for scalar in command.is_)
    words = {str(number): map_ for number, map_ in enumerate(numbered, 1) if map_ in boards}
    words |= {map_.rpartition("/")[2]: map_ for map_ in boards}
    values = {word: boards[map_][1] for word, map_ in words.items()}
    about = ", ".join(f"{word}: {board}" for word, board in values.items())
    return Option(about, values, {word: boards[map_][0] for word, map_ in words.items()})


def completions(ruleset: Ruleset, boards: Boards, *, seated: bool, gathers: bool) -> Iterator[tuple[str, str]]:
    """Yield what can be typed at a table now, with its meaning."""
    now = {"help", *((("start", "option") if gathers else ("undo", "hint")) if seated else ("join",))}
    yield from ((f"/{word}", t(about)) for word, about in COMMANDS.items() if word in now)
    for name, option in options_of(ruleset, boards).items() if seated and gathers else ():
        for value in option.values or [""]:
            yield f"/option {name} {value}", option.values.get(value, option.about)
