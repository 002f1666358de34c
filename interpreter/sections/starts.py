"""Sorts of rule text."""

from __future__ import annotations

from typing import Literal

__all__ = ["Start"]

Start = Literal[
    "function",
    "procedure",
    "verdict",
    "condition",
    "expression",
    "heard",
    "matched",
    "preferences",
    "alternatives",
    "a_type",
    "head",
]
"""Start rules of the grammar, one for each sort of rule text."""
