"""Types of plain data: values of a game, and JSON data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Json", "Value", "number_in"]

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
