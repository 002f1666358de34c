"""Renaming what rules name: a rule, a table, a value of the state, a local, in all files that are checked.

A rename is refused with its reason where it could change what a file means: where the name is printed data, where the
new name is one already, where a ruleset has errors, and where the files, written so, would not be right any more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from interpreter.base.source import Span
from interpreter.editor.navigation import Answers, Place
from interpreter.editor.symbols import CELLS, Meaning, Mention
from interpreter.editor.workspace import Desk
from interpreter.explain.cross_reference import WORDS
from interpreter.language.builtins import FUNCTIONS
from interpreter.language.declare import OWN_CELLS, OWN_TYPES, OWN_VALUES
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.syntax_errors import STATEMENTS

__all__ = ["RefusedRename", "renamable", "rename"]

_RENAMABLE = ("locals", "helpers", "rules", "tables", "settings", "events", "triggers", "standing", "measures", *CELLS)
_RESERVED = {
    *RESERVED_WORDS,
    *OWN_CELLS,
    *OWN_TYPES,
    *OWN_VALUES,
    *FUNCTIONS,
    *STATEMENTS,
    "base",
    "where",
    "otherwise",
}
_WHY = {
    "members": "it stands in printed tables too",
    "nodes": "it is printed on the map",
    "card": "it is printed on the card",
    "attributes": "it heads a column of printed cards, nodes or links",
    "statements": "it is the id of a sentence in a rulebook",
    "files": "it says where the file lies: move the file and change its id",
    "functions": "it belongs to the language",
    "base": "it belongs to the language",
}


class RefusedRename(Exception):
    """Refused rename, with the reason."""


def renamable(answers: Answers, path: Path, offset: int) -> Span:
    """The name at a place; :class:`RefusedRename` where it cannot be changed."""
    return _mention(answers, path, offset).span


def rename(answers: Answers, path: Path, offset: int, name: str) -> list[Place]:
    """Every place that must then read ``name``. Raises :class:`RefusedRename` where that is not safe."""
    meaning = _mention(answers, path, offset).meaning
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise RefusedRename(f"`{name}` is no name: want lower-case letters, digits and `_`, a letter first")
    if name in _RESERVED:
        raise RefusedRename(f"`{name}` has a meaning of its own in the language")
    if name == meaning.name:
        return []
    if meaning.section in ("locals", "helpers"):
        places = answers.references(path, offset)
        _check_free(answers, [path], name)
    else:
        _check_whole(answers, path)
        places = answers.uses(path, meaning)
        _check_writable(meaning, {place.path for place in places})
        _check_free(answers, [file for file, _ in answers.family_files(path, name)], name)
    _check_result(answers.desk, path, places, name)
    return places


def _mention(answers: Answers, path: Path, offset: int) -> Mention:
    if answers.desk.document(path) is None:
        raise RefusedRename("this file cannot be read as it is: mend it first")
    mention = answers.mention(path, offset)
    if mention is None:
        raise RefusedRename("no name of a rule, table, local or value of the state stands here")
    meaning = mention.meaning
    if meaning.section not in _RENAMABLE:
        what = WORDS.get(meaning.section, meaning.section.rstrip("s"))
        raise RefusedRename(
            f"the {what} `{meaning.name}` is not renamed: {_WHY.get(meaning.section, 'printed data may name it')}"
        )
    return mention


def _check_whole(answers: Answers, path: Path) -> None:
    for home in answers.desk.homes(path):
        if home.examined.errors:
            error = home.examined.errors[0]
            raise RefusedRename(f"`{home.document.id}` has errors, so not every use can be found: {error.message}")


def _check_writable(meaning: Meaning, files: Iterable[Path]) -> None:
    """All files that name it can be written to."""
    for file in sorted(files):
        if not os.access(file, os.W_OK):
            raise RefusedRename(f"`{meaning.name}` stands in `{file}` too, which cannot be written to")


def _check_free(answers: Answers, files: Iterable[Path], name: str) -> None:
    """The new name means nothing yet in any of the files, so nothing can be taken for something else."""
    for file in files:
        for mention in answers.mentions(file):
            if mention.meaning.name == name:
                raise RefusedRename(f"`{name}` is a name already ({mention.span})")


def _check_result(desk: Desk, path: Path, places: list[Place], name: str) -> None:
    """With the new name, names and types are right in every ruleset that was right before."""
    before = {home.document.id for home in desk.homes(path) if not home.examined.errors}
    texts = {file: _written(desk, file, places, name) for file in {place.path for place in places}}
    later = Desk({**desk.texts, **texts}, desk.trees)
    for home in later.homes(path):
        if home.document.id in before and home.examined.errors:
            error = home.examined.errors[0]
            raise RefusedRename(f"`{home.document.id}` would not be right any more: {error.message} ({error.span})")


def _written(desk: Desk, file: Path, places: list[Place], name: str) -> str:
    text = desk.file(file).text
    for start, end in sorted({(p.span.start, p.span.end) for p in places if p.path == file}, reverse=True):
        text = text[:start] + name + text[end:]
    return text
