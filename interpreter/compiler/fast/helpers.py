"""Small functions that emitted code calls by name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from interpreter.compiler.constants import MAXIMUM_NUMBER
from interpreter.compiler.fast.budget import Abandoned
from interpreter.kernel.state import Value

__all__ = [
    "NOTHING",
    "first_or_none",
    "give_up",
    "is_of",
    "is_piece",
    "item_of",
    "last_or_none",
    "once_each",
    "otherwise",
    "position_or_none",
    "product",
    "single",
    "sure",
    "without",
]


NOTHING: Any = 0.0
"""What stands in a cache of one answer that has none: it is false, as what is asked for again, is no value of a game,
and whoever looks for something in it fails."""


def give_up() -> None:
    """The plain form does the decision again."""
    raise Abandoned


def product(left: int, right: int) -> int:
    """Two numbers that grow with each other can grow so fast that nothing can stop them."""
    found = left * right
    if not -MAXIMUM_NUMBER < found < MAXIMUM_NUMBER:
        raise Abandoned
    return found


def item_of(items: Value, at: int) -> Value:
    """An item by its place, which does not count from the end."""
    if at < 0:
        raise Abandoned
    return items[at]


@lru_cache(4096)
def single(number: int, kind: int, size: int) -> Value:
    """The bag that holds so many of one kind."""
    bag = [0] * size
    bag[kind] = number
    return tuple(bag)


def otherwise(found: Value, other: Value) -> Value:
    """What was found, or, where that is none, something else."""
    return other if found is None else found


def is_of(truths: tuple[bool, ...], card: Value, negated: bool) -> bool:
    """Whether a card that may be none is of a kind, for which ``truths`` tells; ``negated``: whether it is not."""
    return truths[card] if card is not None else negated


def is_piece(truths: tuple[bool, ...], piece: Value, negated: bool) -> bool:
    """The same of a piece, whose number tells its owner too."""
    return truths[piece % len(truths)] if piece is not None else negated


def first_or_none(items: Value) -> Value:
    return items[0] if items else None


def last_or_none(items: Value) -> Value:
    return items[-1] if items else None


def sure(found: Value) -> Value:
    """What must not be none."""
    if found is None:
        raise Abandoned
    return found


def position_or_none(item: Value, items: Value) -> Value:
    return items.index(item) if item in items else None


def once_each(codes: list[Value]) -> list[Value]:
    """A list in its order, without what was in it before."""
    return list(dict.fromkeys(codes))


def without(items: Value, item: Value) -> Value:
    """A list without the first item that is this one."""
    at = items.index(item)
    return items[:at] + items[at + 1 :]
