"""Values made at first use, and values that hold within a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["Lazy", "Scoped"]

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


class Scoped(Generic[V]):
    """A value that ``with scoped(value):`` sets within the context."""

    def __init__(self, name: str, default: V) -> None:
        self._now = ContextVar(name, default=default)

    @property
    def value(self) -> V:
        return self._now.get()

    @contextmanager
    def __call__(self, value: V) -> Iterator[V]:
        token = self._now.set(value)
        try:
            yield value
        finally:
            self._now.reset(token)
