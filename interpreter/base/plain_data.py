"""Types of plain data: values of a game, and JSON data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from math import isfinite
from typing import Any, NoReturn, TypeAlias, TypeVar

__all__ = ["Json", "Value", "data_of", "grouped", "json_in", "json_of", "number_in", "picked"]

K = TypeVar("K")
V = TypeVar("V")
Value = Any
"""A value of a game: a number, a boolean, none, a printed text, or a tuple of values. The rule checker knows the
type in each place; mypy does not."""

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""Data for people and other programs, with names instead of numbers."""
_NUMBER = re.compile(r"-?[0-9]{1,4000}")
"""A whole number, not longer than Python converts."""


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, in their order."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def number_in(text: str) -> int | str:
    """Return the whole number that a text is, or the text if it is none."""
    return int(text) if _NUMBER.fullmatch(text) else text


def json_in(text: str) -> Value:
    """Return JSON data, without the numbers that only Python knows. Raises ``ValueError`` or ``RecursionError``."""
    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def json_of(data: object, indent: int | None = None) -> str:
    """Return JSON text of data and the records in it, with its letters as they are; in one line without ``indent``."""
    return json.dumps(data, ensure_ascii=False, indent=indent, default=data_of)


def data_of(record: object) -> Value:
    """Return what JSON has of a record, as ``json.dumps`` asks for it: its fields, apart from those it keeps to itself
    (``unsaid``), or its own ``as_data``. The position of a declaration is its place; numbers are rounded, and JSON has
    no infinite ones."""
    if isinstance(record, Mapping | Set):
        return dict(record) if isinstance(record, Mapping) else sorted(record)
    if (as_data := getattr(record, "as_data", None)) is not None:
        return as_data()
    fields = getattr(record, "__struct_fields__", None) or getattr(record, "__dataclass_fields__", None)
    if fields is None:
        raise TypeError(f"no JSON has a {type(record).__name__}")
    said = [name for name in fields if name not in getattr(record, "unsaid", ())]
    return {"place" if name == "span" else name: _rounded(getattr(record, name)) for name in said}


def _rounded(value: Value) -> Value:
    return value if not isinstance(value, float) else round(value, 6) if isfinite(value) else None


def picked(record: object, *names: str) -> dict[str, Value]:
    """Return some attributes by name."""
    return {name: getattr(record, name) for name in names}
