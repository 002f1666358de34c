"""Nodes of trees: rule text, checked rules and statements of the intermediate form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import get_annotations
from operator import attrgetter

from msgspec import Struct

from interpreter.base.lazy import Lazy
from interpreter.base.source import NOWHERE, Span

__all__ = ["Placed", "field_types", "parts", "printed", "values_of"]


def field_types(kind: type[Struct]) -> dict[str, str]:
    """Return the types of all fields of a record, as written, by the names of the fields, base classes first."""
    types = {name: type_ for base in reversed(kind.__mro__) for name, type_ in get_annotations(base).items()}
    return {name: type_ for name, type_ in types.items() if name in kind.__struct_fields__}


def values_of(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a getter of the values of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda item: (getattr(item, names[0]),)) if names else lambda _: ()


class Placed(Struct, frozen=True, kw_only=True, gc=False):
    """Base of nodes with a position. Nodes that differ in positions only are equal: equal texts are equal trees.

    Trees contain no cycles, so the cycle collector need not look at nodes (``gc=False``).
    """

    span: Span = NOWHERE

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (values := _compared[type(self)])(self) == values(other)

    def __hash__(self) -> int:
        return hash(_compared[type(self)](self))

    def __repr__(self) -> str:
        return printed(self)


def printed(record: Struct) -> str:
    """Print a record without positions, fields of base classes first."""
    shown = (f"{name}={getattr(record, name)!r}" for name in _names(type(record)))
    return f"{type(record).__name__}({', '.join(shown)})"


@cache
def _names(kind: type[Struct]) -> list[str]:
    return [name for name, type_ in field_types(kind).items() if type_ != Span.__name__]


_compared = Lazy[type[Struct], Callable[[object], tuple[object, ...]]](lambda kind: values_of(_names(kind)))


def parts(record: Struct) -> tuple[object, ...]:
    """Return the values of a record's fields without positions, fields of base classes first."""
    return _compared[type(record)](record)
