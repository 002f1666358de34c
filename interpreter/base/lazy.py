"""Dictionaries whose values are made at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["Lazy"]

K = TypeVar("K")
V = TypeVar("V")


class Lazy(dict[K, V]):
    """A dictionary that makes and keeps a missing value when it is read by ``[]``."""

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        made = self[key] = self._make(key)
        return made
