"""Stand-in for `rpds`, which does not exist as WebAssembly: persistent collections, as copies of dictionaries, sets and
tuples. Schemas have few and small ones. It has what `referencing` and `jsonschema` use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

__all__ = ["HashTrieMap", "HashTrieSet", "List"]

K = TypeVar("K")
V = TypeVar("V")


class HashTrieMap(dict[K, V], Generic[K, V]):
    @classmethod
    def convert(cls, value: dict[K, V]) -> HashTrieMap[K, V]:
        return value if isinstance(value, cls) else cls(value)

    def insert(self, key: K, value: V) -> HashTrieMap[K, V]:
        return HashTrieMap({**self, key: value})

    def update(self, *others: Iterable[tuple[K, V]] | dict[K, V]) -> HashTrieMap[K, V]:  # type: ignore[override]
        return HashTrieMap([pair for each in (self, *others) for pair in dict(each).items()])

    def remove(self, key: K) -> HashTrieMap[K, V]:
        rest = HashTrieMap(self)
        del rest[key]
        return rest


class HashTrieSet(frozenset[K], Generic[K]):
    def insert(self, value: K) -> HashTrieSet[K]:
        return HashTrieSet([*self, value])

    def update(self, *others: Iterable[K]) -> HashTrieSet[K]:
        return HashTrieSet(self.union(*others))

    def discard(self, value: K) -> HashTrieSet[K]:
        return HashTrieSet(self - {value})


class List(tuple[V, ...], Generic[V]):
    def push_front(self, value: V) -> List[V]:
        return List((value, *self))
