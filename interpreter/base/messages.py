"""Localised messages of the program around a game: headers, results, prompts, refusals. Each language is a file in
``texts``.

Words of a game come from its ruleset; the checker and ``--help`` are in English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["filled", "frame", "texts_in"]

_FOLDER = Path(__file__).parent / "texts"
_BRACES = re.compile(r"\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}")


@cache
def texts_in(folder: Path, language: str) -> dict[str, str]:
    """Return the texts of a language in a folder; empty if there is no file for it."""
    path = folder / f"{language}.json"
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return texts


def frame(language: str, name: str, /, **values: object) -> str:
    """Format a message by name; fall back to English if the language lacks it.

    ``{n|player|players}`` formats a number with the singular or plural, as in a ruleset's ``says``.
    """

    return filled(texts_in(_FOLDER, language).get(name) or texts_in(_FOLDER, "en")[name], values)


def filled(text: str, values: Mapping[str, object]) -> str:
    """Return a message with its values."""

    def value_of(match: re.Match[str]) -> str:
        value, one, many = values[match[1]], match[2], match[3]
        if one is None:
            return str(value)
        return f"{value} {one if value == 1 else many}"

    return _BRACES.sub(value_of, text)
