"""State of a game: a list of cells, the frame of the active procedure, and the log.

Cells hold plain values (numbers, booleans, none, tuples of these), so a copy of the list is a copy of the state. The
:class:`Layout` gives cells their meaning: groups of cells, each with one cell or one for each owner.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import accumulate
from typing import Protocol, TypeAlias

from interpreter.base.plain_data import Value

__all__ = ["Frame", "Home", "Layout", "Record", "State", "Value", "as_bag", "stacked"]

Record = tuple[Value, ...]
"""Log record: its sort, and fields as described in :mod:`interpreter.kernel.effects`."""
Frame: TypeAlias = "tuple[int, tuple[Value, ...], Frame | None, int]"
"""A stretch, its locals, the frame of its caller and the local for the result (-1: none)."""


@dataclass(frozen=True)
class Layout:
    """Layout of a state. ``groups`` are names with numbers of owners, in order; ``base`` has the first cell of each."""

    groups: tuple[tuple[str, int], ...]
    base: dict[str, int] = field(init=False, repr=False)
    size: int = field(init=False)
    _cells: dict[str, range] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ends = [*accumulate(count for _, count in self.groups)]
        cells = {name: range(end - count, end) for (name, count), end in zip(self.groups, ends, strict=True)}
        object.__setattr__(self, "_cells", cells)
        object.__setattr__(self, "base", {name: each.start for name, each in cells.items()})
        object.__setattr__(self, "size", sum(map(len, cells.values())))

    def owner_of(self, cell: int) -> tuple[str, int]:
        """Return the group of a cell and the number of its owner. Raises ``IndexError``."""
        for name, cells in self._cells.items():
            if cell in cells:
                return name, cell - cells.start
        raise IndexError(cell)

    def cells(self, group: str) -> range:
        return self._cells[group]


_new = object.__new__


class Home(Protocol):
    """Place where a state lives instead of in lists: the memory of a compiled module."""

    @property
    def records(self) -> int:
        """Lower bound of the number of log records."""
        ...

    def fetch(self, state: State, name: str) -> None:
        """Load an attribute of the state: cells and frame, or the log with them."""
        ...

    def copy(self, state: State, copy: State) -> bool:
        """Make ``copy`` a state that lives in the same place; return False if that is not possible."""
        ...


class State:
    """Cells, frame and log of one game.

    ``frame`` is an immutable tuple (stretch, locals, caller's frame, local for the result). It alone determines the
    pending decision and where play continues. ``log`` holds a record for each effect since this object was created: see
    :mod:`interpreter.kernel.effects`. ``memo`` caches results of functions until the next change.

    A state may live in the memory of a compiled module. Then it has a ``home`` and is :class:`_Away`.
    """

    __slots__ = ("cells", "frame", "home", "log", "memo")

    def __init__(self, cells: list[Value], frame: Frame | None = None) -> None:
        self.cells = cells
        self.frame = frame
        self.log: list[Record] = []
        self.memo: dict[object, Value] = {}
        self.home: Home | None = None

    def settle(self, home: Home) -> None:
        """Move to a home."""
        self.forget()
        self.home = home
        del self.cells, self.frame, self.log
        self.__class__ = _Away

    def leave(self) -> None:
        """Move back to lists, so that it can be changed."""
        if self.home is not None:
            _ = self.log, self.cells, self.frame
            self.home = None
            self.__class__ = State

    @property
    def is_heard(self) -> bool:
        """Return whether somebody listens to the log, which only the plain form writes."""
        return self.home is None and type(self.log) is not list

    def clone(self) -> State:
        """Return a copy with an empty log."""
        copy = _new(State)  # skips `__init__`: a search makes more copies than choices
        copy.memo = {}
        copy.cells = self.cells[:]
        copy.frame = self.frame
        copy.log = []
        copy.home = None
        return copy

    def forget(self) -> None:
        """Clear the memo, because the state has changed."""
        if self.memo:
            self.memo.clear()

    def digest(self) -> str:
        """Return a hash of cells and frame: equal states have equal digests on every machine.

        It hashes the output of ``marshal`` version 2, which writes plain values: no references, no interning.
        """
        return blake2b(marshal.dumps((self.cells, self.frame), 2), digest_size=16).hexdigest()

    def difference(self, other: State) -> list[int]:
        """Return the cells in which two states differ."""
        return [i for i, (a, b) in enumerate(zip(self.cells, other.cells, strict=True)) if a != b]


class _Fetched:
    """Descriptor of an attribute that is fetched from the state's home on first access."""

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
    """State that lives in a home. A separate class, so that states in lists are read without indirection."""

    __slots__ = ()

    cells: Value = _Fetched("cells")
    frame: Value = _Fetched("frame")
    log: Value = _Fetched("log")

    def clone(self) -> State:
        copy = _new(_Away)
        copy.memo = {}
        assert self.home is not None
        return copy if self.home.copy(self, copy) else super().clone()


def stacked(frame: Frame | None) -> Iterator[Frame]:
    """Yield a frame and those below it."""
    while frame is not None:
        yield frame
        frame = frame[2]


def as_bag(content: Value) -> tuple[int, ...]:
    """Return the tokens in a holder by member of their kind; a token without members has one number."""
    return content if isinstance(content, tuple) else (content,)


def as_json(value: Value) -> Value:
    """Convert tuples to lists."""
    return [as_json(item) for item in value] if isinstance(value, tuple) else value
