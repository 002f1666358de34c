"""Log records by name: choices, events and marks, as :mod:`interpreter.kernel.effects` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.kernel.effects import CHOICE, MARK, NOTE
from interpreter.kernel.state import Frame, Record
from interpreter.plain.machine import OptionSite

__all__ = ["Choice", "Event", "Mark", "has_sealed", "is_choice", "read", "reveals"]


Seats = tuple[int, ...] | None
"""Seats that may see something; None means all."""


class Choice(NamedTuple):
    """A decision was answered with an alternative and its values. ``seen`` has the seats that may see each value of the
    decision's ``context`` and each chosen value."""

    option: OptionSite
    frame: Frame
    actor: int
    values: tuple[Value, ...]
    context: tuple[Value, ...]
    seen: tuple[Seats, ...]


class Event(NamedTuple):
    """An event happened; ``seen`` has the seats that may see each of its values."""

    site: Span
    name: str
    seen: tuple[Seats, ...]
    values: list[Value]


class Mark(NamedTuple):
    """A round, phase or turn began or ended, or sealed choices were revealed. ``word`` is, for example, `start of
    draw` or `reveal`. A ``number`` of 1 means that only the choices of a simultaneous decision were revealed."""

    word: str
    number: int

    def reveals(self, choice: Choice) -> bool:
        """Return whether this makes a sealed choice before it public."""
        return self.word == "reveal" and not (self.number and choice.option.ask.sealed)

    @property
    def begins(self) -> str:
        """What began: a phase's name, `round`, `turn` or `game`; empty for other marks."""
        return self.word.removeprefix("start of ") if self.word.startswith("start of ") else ""


def read(record: Record) -> Choice | Event | Mark | None:
    """Decode a record; None for a change of cells."""
    sort = record[0]
    if sort == CHOICE:
        return Choice._make(record[1:])
    if sort == NOTE:
        return Event(record[1], record[2], record[3], [*record[4:]])
    return Mark(*record[2:4]) if sort == MARK else None


def is_choice(record: Record) -> bool:
    return bool(record[0] == CHOICE)


def has_sealed(log: Iterable[Record]) -> bool:
    """Return whether sealed choices in a part of a log still wait to be revealed."""
    waiting: list[Choice] = []
    for record in log:
        match read(record):
            case Choice(option) as choice if option.ask.is_closed:
                waiting.append(choice)
            case Mark("reveal") as mark:
                waiting = [choice for choice in waiting if not mark.reveals(choice)]
    return bool(waiting)


def reveals(log: Iterable[Record], choice: Choice | None = None) -> bool:
    """Return whether sealed choices, or this one, are revealed in a part of a log."""
    marks = (mark for record in log if isinstance(mark := read(record), Mark) and mark.word == "reveal")
    return any(choice is None or mark.reveals(choice) for mark in marks)
