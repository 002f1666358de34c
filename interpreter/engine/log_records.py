"""Records of a log by name: choices, events and marks, as :mod:`interpreter.kernel.effects` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.compiler.plain.machine import OptionSite
from interpreter.kernel.effects import CHOICE, MARK, NOTE
from interpreter.kernel.state import Frame, Record

__all__ = ["Choice", "Event", "Mark", "is_choice", "read", "reveals"]


Seats = tuple[int, ...] | None
"""Those who may see something; none where all may."""


class Choice(NamedTuple):
    """A decision was answered with values of an alternative; ``context`` is what it was about. ``seen`` has the seats
    that may see each of both."""

    option: OptionSite
    frame: Frame
    actor: int
    values: tuple[Value, ...]
    context: tuple[Value, ...]
    seen: tuple[Seats, ...]


class Event(NamedTuple):
    """An event happened; ``seen`` has those who may see each of its values."""

    site: Span
    name: str
    seen: tuple[Seats, ...]
    values: list[Value]


class Mark(NamedTuple):
    """A round, phase or turn began or ended, or sealed choices were revealed: ``word`` is `start of draw`, `reveal`."""

    word: str
    number: int

    @property
    def begins(self) -> str:
        """What began: the name of a phase, or `round`, `turn`, `game`; nothing where something else happened."""
        return self.word.removeprefix("start of ") if self.word.startswith("start of ") else ""


def read(record: Record) -> Choice | Event | Mark | None:
    """A record by its names; nothing for a change of cells."""
    match record:
        case (sort, *rest) if sort == CHOICE:
            return Choice._make(rest)
        case (sort, site, name, seen, *values) if sort == NOTE:
            return Event(site, name, seen, values)
        case (sort, _, word, number, *_) if sort == MARK:
            return Mark(word, number)
    return None


def is_choice(record: Record) -> bool:
    return bool(record[0] == CHOICE)


def reveals(log: Iterable[Record]) -> bool:
    """Return whether sealed choices are revealed in a part of a log."""
    return any(isinstance(mark := read(record), Mark) and mark.word == "reveal" for record in log)
