"""Types of plain data: values of a game, and JSON data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

__all__ = ["Json", "Value", "json_in", "json_of", "number_in", "picked"]

Value = Any
"""A value of a game: a number, a boolean, none, a printed text, or a tuple of values. The rule checker knows the
type in each place; mypy does not."""

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""Data for people and other programs, with names instead of numbers."""
_NUMBER = re.compile(r"-?[0-9]{1,4000}")
"""A whole number, not longer than Python converts."""


def number_in(text: str) -> int | str:
    """Return the whole number that a text is, or the text if it is none."""
    return int(text) if _NUMBER.fullmatch(text) else text


def json_in(text: str) -> Value:
    """Return JSON data, without the numbers that only Python knows. Raises ``ValueError`` or ``RecursionError``."""
    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def json_of(data: object) -> str:
    """Return JSON text in one line, with its letters as they are."""
    return json.dumps(data, ensure_ascii=False)


def picked(record: object, *names: str) -> dict[str, Value]:
    """Return some attributes by name."""
    return {name: getattr(record, name) for name in names}
