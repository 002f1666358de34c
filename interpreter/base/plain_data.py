"""Types of plain data: values of a game, and JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Json", "Value"]

Value = Any
"""A value of a game: a number, a boolean, none, a printed text, or a tuple of values. The rule checker knows the
type in each place; mypy does not."""

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""Data for people and other programs, with names instead of numbers."""
