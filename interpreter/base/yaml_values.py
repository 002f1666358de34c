"""Values of YAML files with their positions: scalars, sequences and mappings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, TypeAlias

from msgspec import Struct

from interpreter.base.source import Span

__all__ = ["Entry", "Mapping", "Scalar", "Sequence", "Style", "Value", "is_nothing", "word", "words"]

Style = Literal["plain", "quoted", "literal", "folded"]


class Scalar(Struct, frozen=True, gc=False):
    """A word, number or text. ``text`` is its content, ``value`` the number, boolean, None or text that it means."""

    text: str
    style: Style
    span: Span
    value: int | bool | str | None


class Sequence(Struct, frozen=True, gc=False):
    """A list: ``[a, b]`` or lines with ``-``."""

    items: tuple[Value, ...]
    span: Span


class Entry(Struct, frozen=True, gc=False):
    """A key of a mapping with its value."""

    key: Scalar
    value: Value


class Mapping(Struct, frozen=True, dict=True):
    """``key: value`` lines. Keys are compared by their text, so ``2:`` and ``"2":`` are equal."""

    entries: tuple[Entry, ...]
    span: Span

    @cached_property
    def _by_key(self) -> dict[str, Entry]:
        return {entry.key.text: entry for entry in self.entries}

    def entry(self, key: str) -> Entry | None:
        return self._by_key.get(key)

    def get(self, key: str) -> Value | None:
        entry = self._by_key.get(key)
        return entry.value if entry else None

    def keys(self) -> list[str]:
        return list(self._by_key)

    def items(self) -> list[tuple[str, Value]]:
        return [(entry.key.text, entry.value) for entry in self.entries]

    def __getitem__(self, key: str) -> Value:
        return self._by_key[key].value

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)


Value: TypeAlias = Scalar | Sequence | Mapping


def word(value: Value | None, default: str = "") -> str:
    """Return the text of a scalar, or the default for any other value."""
    return value.text if isinstance(value, Scalar) else default


def words(value: Value | None) -> list[Scalar]:
    """Return the scalars of a list, or a single scalar as a list."""
    if isinstance(value, Scalar):
        return [value]
    if isinstance(value, Sequence):
        return [item for item in value.items if isinstance(item, Scalar)]
    return []


def is_nothing(value: Value | None) -> bool:
    """Return whether a value is ``nothing``, which drops the lines of a name."""
    return isinstance(value, Scalar) and value.style == "plain" and value.text == "nothing"
