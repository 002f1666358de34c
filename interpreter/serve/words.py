"""Words of the pages themselves, in the language of the reader. Words of a game come from its ruleset.

Texts are written in English where they are used. ``words/LANGUAGE.json`` maps them to another language; what it lacks
stays English. Nothing else lists them: a test reads them from templates and modules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from interpreter.base.messages import filled

__all__ = ["LANGUAGES", "Refused", "Told", "in_language", "known", "language_now", "t"]

_FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("en", *sorted(path.stem for path in _FOLDER.glob("*.json")))
_LANGUAGE: ContextVar[str] = ContextVar("language", default="en")


@cache
def _words(language: str) -> dict[str, str]:
    path = _FOLDER / f"{language}.json"
    words: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return words


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Speak a language to whoever reads what is written inside."""
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def t(text: str, /, **values: object) -> str:
    """Return a text in the language of the reader, with values in place of ``{name}`` and ``{n|one|many}``."""
    said = _words(_LANGUAGE.get()).get(text, text)
    return filled(said, values) if values else said


def language_now() -> str:
    """Return the language of the reader."""
    return _LANGUAGE.get()


def known(text: str) -> str:
    """Return a text as it is, which :func:`t` translates when it is shown."""
    return text


class Told(str):
    """A text that is kept in English, and shown to each reader in their language by :meth:`now`."""

    text: str
    values: dict[str, object]

    def __new__(cls, text: str, /, **values: object) -> Told:
        told = super().__new__(cls, filled(text, values) if values else text)
        told.text, told.values = text, values
        return told

    def now(self) -> str:
        now = {name: each.now() if isinstance(each, Told) else each for name, each in self.values.items()}
        return t(self.text, **now)


class Refused(Exception):
    """An action is not possible now; the text gives the reason, in the language of the reader."""

    def __init__(self, text: str, /, **values: object) -> None:
        super().__init__(text)
        self.told = Told(text, **values)

    def __str__(self) -> str:
        return self.told.now()
