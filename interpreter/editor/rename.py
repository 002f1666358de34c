"""Rename of rules, tables, parts of the state, locals and other names in all files of a family.

A rename is refused with a reason if it could change the meaning of a file: if the name is printed data, the new name is
in use, a ruleset has errors, or the renamed files would have errors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from interpreter.base.paths import ruleset_roots
from interpreter.base.plain_data import grouped
from interpreter.base.remedies import Edit, fixed
from interpreter.base.source import Span
from interpreter.editor.navigation import Answers, unquoted
from interpreter.editor.workspace import Desk
from interpreter.explain.cross_reference import WORDS
from interpreter.explain.mentions import Mention
from interpreter.language.builtins import FUNCTIONS, OWN_TYPES, OWN_VALUES
from interpreter.language.declare import OWN_CELLS
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.syntax_errors import STATEMENTS
from interpreter.reading.files import resolved
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["RefusedRename", "renamable", "rename"]

_RENAMABLE = (
    "locals",
    "helpers",
    "rules",
    "tables",
    "settings",
    "events",
    "triggers",
    "standing",
    "measures",
    "nodes",
    *STATE_SECTIONS,
)
_PRINTED = re.compile(r"[^\s|,\"#\\]+(?: [^\s|,\"#\\]+)*")
"""Name as printed tables have it."""
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
    "members": "it also occurs in printed tables",
    "card": "it is printed on the card",
    "attributes": "it is the column heading of printed cards, nodes or links",
    "statements": "it is the id of a rulebook sentence",
    "files": "it is the path of the file; move the file and change its id",
    **dict.fromkeys(("functions", "language", "base"), "it is part of the language"),
}


class RefusedRename(Exception):
    """Refused rename, with the reason."""


def renamable(answers: Answers, path: Path, offset: int) -> Span:
    """Return the span of the name at a position. Raises :class:`RefusedRename` if it cannot be renamed."""
    mention = _mention(answers, path, offset)
    return unquoted(mention.span) if mention.meaning.section == "nodes" else mention.span


def rename(answers: Answers, path: Path, offset: int, name: str) -> list[tuple[Path, Edit]]:
    """Return the edits that write ``name`` in all places. Raises :class:`RefusedRename` if the rename is not safe."""
    meaning = _mention(answers, path, offset).meaning
    if meaning.section == "nodes":
        if not _PRINTED.fullmatch(name) or name == "-":
            raise RefusedRename(f"invalid name `{name}`: want words without commas, quotes, `|`, `#` and `\\`")
    elif not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise RefusedRename(f"invalid name `{name}`: want lower-case letters, digits and `_`, a letter first")
    elif name in _RESERVED:
        raise RefusedRename(f"`{name}` is a reserved name")
    if name == meaning.word:
        return []
    if meaning.section in ("locals", "helpers"):
        places = answers.references(path, offset)
        _check_free(answers, [path], name)
    else:
        _check_whole(answers, path)
        uses = answers.nodes_called if meaning.section == "nodes" else answers.uses
        places = uses(path, meaning)
        for file in sorted({place.path for place in places}):
            if not os.access(file, os.W_OK) or _is_of_others(file, path):
                raise RefusedRename(f"`{meaning.name}` also occurs in `{file}`, which is read-only")
        if meaning.section == "nodes":
            _check_free(answers, {place.path for place in places}, name)
        else:
            _check_free(answers, [file for file, _ in answers.family_files(path, name)], name)
    edits = [(place.path, Edit(place.span, name)) for place in dict.fromkeys(places)]
    _check_result(answers.desk, path, edits)
    return edits


def _mention(answers: Answers, path: Path, offset: int) -> Mention:
    if answers.desk.document(path) is None:
        raise RefusedRename("this file has syntax errors; fix them first")
    mention = answers.mention(path, offset)
    if mention is None:
        raise RefusedRename("this is not the name of a rule, table, local or part of the state")
    meaning = mention.meaning
    if meaning.section not in _RENAMABLE:
        kind = WORDS.get(meaning.section, meaning.section.rstrip("s"))
        reason = _WHY.get(meaning.section, "printed data may name it")
        raise RefusedRename(f"cannot rename the {kind} `{meaning.name}`: {reason}")
    return mention


def _is_of_others(file: Path, path: Path) -> bool:
    """Return whether a file belongs to rulesets that are shipped, while another does not."""
    roots = map(resolved, ruleset_roots())
    return any(resolved(file).is_relative_to(root) and not resolved(path).is_relative_to(root) for root in roots)


def _check_whole(answers: Answers, path: Path) -> None:
    for home in answers.desk.homes(path):
        if home.examined.errors:
            error = home.examined.errors[0]
            raise RefusedRename(f"`{home.document.id}` has errors, so uses may be missed: {error.message}")


def _check_free(answers: Answers, files: Iterable[Path], name: str) -> None:
    """Check that the new name is unused in all files, so that no use changes its meaning."""
    for file in files:
        for mention in answers.mentions(file):
            if mention.meaning.name == name:
                raise RefusedRename(f"`{name}` is already in use ({mention.span})")


def _check_result(desk: Desk, path: Path, edits: list[tuple[Path, Edit]]) -> None:
    """Check that the rename causes no errors in rulesets that had none."""
    texts = {file: fixed(desk.file(file).text, some) for file, some in grouped(edits).items()}
    files = {path, *texts}
    before = {home.document.id for file in files for home in desk.homes(file) if not home.examined.errors}
    later = Desk({**desk.texts, **texts}, desk.trees)
    for home in (home for file in sorted(files) for home in later.homes(file)):
        if home.document.id in before and home.examined.errors:
            error = home.examined.errors[0]
            raise RefusedRename(f"`{home.document.id}` would have an error: {error.message} ({error.span})")
