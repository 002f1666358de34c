"""Instance of a module, whichever engine runs it: exported functions of words, and a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Call", "Instance", "Invalid", "Trap"]

Call: TypeAlias = Callable[..., int]
"""Exported function of words."""


class Trap(Exception):
    """The module trapped: the plain form must redo the choice."""


class Invalid(Exception):
    """A module cannot be loaded: it is too large, or compiled by another version or for another machine."""


class Instance:
    """One instance of a module, with its memory as bytes, words and numbers of 64 bits.

    Items and slices of the memory are read and written. A slice may be a copy: it is not kept.
    """

    def __init__(self, memory: tuple[memoryview, memoryview, memoryview]) -> None:
        self.bytes, self.words, self.longs = memory

    def function(self, name: str, *, long: bool = False) -> Call:
        """Return an exported function of words. It raises :class:`Trap` if the module traps.

        Calls hold the GIL unless the function is ``long``: releasing it costs as much as a short call.
        """
        raise NotImplementedError

    def reader(self, start: int, end: int) -> Callable[[], bytes]:
        """Return a function that reads a part of the memory."""
        raise NotImplementedError
