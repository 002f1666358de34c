"""The nearest valid name to one that was misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` for the nearest known name, or nothing where none is near."""
    near = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""
