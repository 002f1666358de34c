"""The state of a game: one list of cells, the frame of what is going on, and the log of what happened.

Cells hold plain values (numbers, booleans, none, tuples of these), so a copy of the list is a copy of the state. What a
cell means is said by the :class:`Layout`: groups of cells, each with one cell or one for each owner.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

__all__ = ["Layout", "State", "Value"]

Value = Any
"""A number, a truth, none, or a tuple of values."""


@dataclass(frozen=True)
class Layout:
    """Which cells a state has. ``groups`` are name and number of owners, in order."""

    groups: tuple[tuple[str, int], ...]
    base: dict[str, int] = field(init=False, repr=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        base: dict[str, int] = {}
        at = 0
        for name, count in self.groups:
            base[name] = at
            at += count
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "size", at)

    def owner_of(self, cell: int) -> tuple[str, int]:
        """The group that a cell belongs to and its owner's number."""
        for name, count in self.groups:
            first = self.base[name]
            if first <= cell < first + count:
                return name, cell - first
        raise IndexError(cell)

    def count(self, group: str) -> int:
        return dict(self.groups)[group]


_new = object.__new__


class State:
    """Cells, frame and log of one game.

    ``frame`` is an immutable tuple (stretch, locals, caller's frame, local for the result); it alone says what is
    asked and where play goes on. ``log`` holds a record for each effect since this object was made: see
    :mod:`interpreter.kernel.effects`. ``memo`` remembers what functions gave since the last change. ``caches`` is what
    the fast form keeps up with each change; where something else changes the state there is none of it.
    """

    __slots__ = ("caches", "cells", "frame", "log", "memo")

    def __init__(self, cells: list[Value], frame: tuple[Any, ...] | None = None) -> None:
        self.cells = cells
        self.frame = frame
        self.log: list[tuple[Any, ...]] = []
        self.memo: dict[Any, Value] = {}
        self.caches: Any = None

    def clone(self) -> State:
        """The same state with an empty log."""
        copy = _new(State)  # filled here: a search makes more copies than choices
        copy.cells = self.cells[:]
        copy.frame = self.frame
        copy.log = []
        copy.memo = {}
        copy.caches = None
        return copy

    def forget(self) -> None:
        """Nothing is remembered any longer: the state has changed."""
        self.caches = None
        if self.memo:
            self.memo.clear()

    def digest(self) -> str:
        """A fingerprint of cells and frame: equal states have equal digests, on every machine.

        The bytes are those of ``marshal`` in its version 2, which writes values alone: no references, nothing interned.
        """
        return blake2b(marshal.dumps((self.cells, self.frame), 2), digest_size=16).hexdigest()

    def difference(self, other: State) -> list[int]:
        """The cells in which two states differ."""
        return [i for i, (a, b) in enumerate(zip(self.cells, other.cells, strict=True)) if a != b]


def as_json(value: Iterable[Any] | Any) -> Any:
    """Tuples as lists."""
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    return value
