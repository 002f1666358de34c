"""The program's own words around a game: headers, results, prompts, refusals. A language is a file in ``texts``.

What a game says of itself stands in its ruleset; what the checker and ``--help`` say is English.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

__all__ = ["frame", "listed_in"]

_FOLDER = Path(__file__).parent / "texts"
_BRACES = re.compile(r"\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}")


@cache
def _texts(language: str) -> dict[str, str]:
    """The texts of a language; none where the program has no file for it."""
    path = _FOLDER / f"{language}.json"
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return texts


def frame(language: str, name: str, /, **values: object) -> str:
    """A text by its name, with values in its braces; in English where the language lacks it.

    ``{n|player|players}`` is a number and the word behind it, as in a ruleset's ``says``.
    """

    def filled(match: re.Match[str]) -> str:
        value, one, many = values[match[1]], match[2], match[3]
        if one is None:
            return str(value)
        return f"{value} {one if value == 1 else many}"

    return _BRACES.sub(filled, _texts(language).get(name) or _texts("en")[name])


def listed_in(language: str, items: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = items
    return frame(language, "and", first=", ".join(first), last=last) if first else last
