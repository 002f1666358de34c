"""Texts from outside, as pages may show them: names and titles of people, messages of errors, programs.

No control character reaches a page, and no folder of the server.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath

from interpreter.base.diagnostics import readable

__all__ = ["in_one_line", "program_name", "without_folders"]

_FOLDERS = re.compile(
    r"""(?<![\w./\\-]) (?:[A-Za-z]:)? [/\\] (?![/\\\s])
    (?: [^\n`"'<>:|]*? (?<=[/\\]) (?= [^\s/\\]+ \.\w+ (?![\w./\\]) )  # to a file, perhaps with spaces on the way
    | (?: [^\s`"'<>:|/\\]+ [/\\] )+ )""",
    re.VERBOSE,
)


_PROGRAM = re.compile(r"(cmd:(?:[\d.]+s:)?)(.*)", re.DOTALL)


def without_folders(text: str) -> str:
    """Return a message without the folders of the files that it names."""
    return _FOLDERS.sub("", text)


def in_one_line(text: str) -> str:
    """Return a name or title in one line, without characters that turn the direction of what follows."""
    return readable(" ".join(text.split())).replace("\ufffd", "")


def program_name(spec: str) -> str:
    """Return the name of a program that plays as a bot: its command line without folders."""
    kind, command = _PROGRAM.fullmatch(spec).groups()  # type: ignore[union-attr]
    return kind + " ".join(PurePath(word).name or word for word in shlex.split(command))
