"""The state of a game: one list of cells, the frame of what is going on, and the log of what happened.

Cells hold plain values (numbers, booleans, none, tuples of these), so a copy of the list is a copy of the state. What a
cell means is said by the :class:`Layout`: groups of cells, each with one cell or one for each owner.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias

from interpreter.base.plain_data import Value

__all__ = ["Frame", "Home", "Layout", "Record", "State", "Value"]

Record = tuple[Any, ...]
"""A record of the log: its sort, and what :mod:`interpreter.kernel.effects` says of that."""
Frame: TypeAlias = "tuple[int, tuple[Value, ...], Frame | None, int | None]"
"""A stretch, its locals, the frame of its caller and the local that the result goes to."""


@dataclass(frozen=True)
class Layout:
    """Layout of a state: name and number of owners of each group of cells, in order. ``groups`` are name and number of
    owners, in order."""

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


class Home(Protocol):
    """Home of a state that is not a list of cells at the moment."""

    @property
    def records(self) -> int:
        """So many records its log holds at least."""
        ...

    def fetch(self, state: State, name: str) -> None:
        """Gives the state its cells and frame, or its log with them."""
        ...

    def copy(self, state: State, copy: State) -> bool:
        """Makes a new state one that lives in the same place; false where it cannot be done there."""
        ...


class State:
    """Cells, frame and log of one game.

    ``frame`` is an immutable tuple (stretch, locals, caller's frame, local for the result); it alone says what is
    asked and where play goes on. ``log`` holds a record for each effect since this object was made: see
    :mod:`interpreter.kernel.effects`. ``memo`` remembers what functions gave since the last change.

    A state may live elsewhere, in the memory of a compiled module. Then it has a ``home`` and is :class:`_Away`.
    """

    __slots__ = ("cells", "frame", "home", "log", "memo")

    def __init__(self, cells: list[Value], frame: Frame | None = None) -> None:
        self.cells = cells
        self.frame = frame
        self.log: list[Record] = []
        self.memo: dict[object, Value] = {}
        self.home: Home | None = None

    def settle(self, home: Home) -> None:
        """It lives elsewhere from now on."""
        self.forget()
        self.home = home
        del self.cells, self.frame, self.log
        self.__class__ = _Away

    def leave(self) -> None:
        """It lives in lists from now on: somebody is going to change it."""
        if self.home is not None:
            _ = self.log, self.cells, self.frame
            self.home = None
            self.__class__ = State

    def clone(self) -> State:
        """The same state with an empty log."""
        copy = _new(State)  # filled here: a search makes more copies than choices
        copy.memo = {}
        copy.cells = self.cells[:]
        copy.frame = self.frame
        copy.log = []
        copy.home = None
        return copy

    def forget(self) -> None:
        """Nothing is remembered any longer: the state has changed."""
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


class _Fetched:
    """Attribute of a state that lives elsewhere: fetched from its home when somebody asks for it."""

    def __init__(self, name: str) -> None:
        self._name, self._slot = name, vars(State)[name]

    def __get__(self, state: State, _: type[State]) -> object:
        try:
            return self._slot.__get__(state)
        except AttributeError:
            assert state.home is not None
            state.home.fetch(state, self._name)
            return self._slot.__get__(state)

    def __set__(self, state: State, value: object) -> None:
        self._slot.__set__(state, value)

    def __delete__(self, state: State) -> None:
        self._slot.__delete__(state)


class _Away(State):
    """State that lives elsewhere. A class of its own, so that a state in lists is read without a detour."""

    __slots__ = ()

    cells: Value = _Fetched("cells")
    frame: Value = _Fetched("frame")
    log: Value = _Fetched("log")

    def clone(self) -> State:
        copy = _new(_Away)
        copy.memo = {}
        assert self.home is not None
        return copy if self.home.copy(self, copy) else super().clone()


def as_json(value: Value) -> Value:
    """Tuples as lists."""
    return [as_json(item) for item in value] if isinstance(value, tuple) else value
