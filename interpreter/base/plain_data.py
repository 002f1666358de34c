"""Types of plain data: the values of a game, and what is written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Json", "Value"]

Value = Any
"""A value of a game: a number, a truth, none, a printed text, or a tuple of values. The checker of rules knows which it
is in each place; mypy does not."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Data as people and other programs write it, with names in place of numbers."""
