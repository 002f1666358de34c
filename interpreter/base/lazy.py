"""Values made at first use, found once, and that hold within a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar, cast

__all__ = ["Lazy", "Once", "Scoped"]

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")


class Lazy(dict[K, V]):
    """A dictionary that makes and keeps a missing value when it is read by ``[]``."""

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        made = self[key] = self._make(key)
        return made


class Once:
    """Something that keeps what was found in it, in its ``__dict__``, as long as it lives. A copy begins anew."""

    __slots__ = ()

    def once(self, find: Callable[Concatenate[Self, P], V], *given: P.args, **named: P.kwargs) -> V:
        """Return what this very function finds in this, found only once for the same further arguments."""
        found = self.__dict__.setdefault("_found", {})
        if (key := (find, given, *named.items())) not in found:
            found[key] = find(self, *given, **named)
        return cast("V", found[key])


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
