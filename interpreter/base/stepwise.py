"""Long work in steps: generators that pause often and return a result, so that one thread can do much else between."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

__all__ = ["Steps", "at_once"]

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]


def at_once(steps: Steps[T], stopped: Callable[[], bool] = bool) -> T | None:
    """Take all steps and return the result; None if it was ``stopped`` between two of them."""
    while not stopped():
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
    return None
