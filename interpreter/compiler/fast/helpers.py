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
    raise Abandoned


def product(left: int, right: int) -> int:
    """Two numbers that grow with each other can grow so fast that nothing can stop them."""
    found = left * right
    if not -MAXIMUM_NUMBER < found < MAXIMUM_NUMBER:
        raise Abandoned
    return found


def item_of(items: Value, at: int) -> Value:
    if at < 0:
        raise Abandoned
    return items[at]


@lru_cache(4096)
def single(number: int, kind: int, size: int) -> Value:
    bag = [0] * size
    bag[kind] = number
    return tuple(bag)


def otherwise(found: Value, other: Value) -> Value:
    return other if found is None else found


def is_of(truths: tuple[bool, ...], card: Value, negated: bool) -> bool:
    return truths[card] if card is not None else negated


def is_piece(truths: tuple[bool, ...], piece: Value, negated: bool) -> bool:
    return truths[piece % len(truths)] if piece is not None else negated


def first_or_none(items: Value) -> Value:
    return items[0] if items else None


def last_or_none(items: Value) -> Value:
    return items[-1] if items else None


def sure(found: Value) -> Value:
    if found is None:
        raise Abandoned
    return found


def position_or_none(item: Value, items: Value) -> Value:
    return items.index(item) if item in items else None


def once_each(codes: list[Value]) -> list[Value]:
    return list(dict.fromkeys(codes))


def without(items: Value, item: Value) -> Value:
    at = items.index(item)
    return items[:at] + items[at + 1 :]
