"""Words of the pages themselves, in the language of the reader. Words of a game come from its ruleset.

Texts are written in English where they are used. ``words/LANGUAGE.json`` maps them to another language; what it lacks
stays English. Nothing else lists them: a test reads them from templates and modules.
"""

from __future__ import annotations

from pathlib import Path

from interpreter.base.lazy import Scoped
from interpreter.base.messages import filled, texts_in

__all__ = ["LANGUAGES", "Refused", "Told", "in_language", "known", "language_now", "t"]

_FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("en", *sorted(path.stem for path in _FOLDER.glob("*.json")))
in_language = Scoped("language", "en")
"""Speak a language to whoever reads what is written inside."""


def t(text: str, /, **values: object) -> str:
    """Return a text in the language of the reader, with values in place of ``{name}`` and ``{n|one|many}``."""
    said = texts_in(_FOLDER, language_now()).get(text, text)
    return filled(said, values) if values else said


def language_now() -> str:
    """Return the language of the reader."""
    return in_language.value


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
