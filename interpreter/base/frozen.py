"""Dataclasses that are quick to define: no text is compiled for a class when its module is imported.

``dataclass(frozen=True, slots=True)`` makes six methods out of text, for each class anew; with two hundred classes of
nodes that was half of the start of the program. Here ``__init__`` is one function for each number of fields, given
their names, and ``__repr__``, ``__eq__`` and ``__hash__`` are those of :mod:`dataclasses`, made when first called.

A cached run defines 284 of these classes, in 46 to 63 ms; as dataclasses they take 215 to 264 ms, with attrs, which
compiles texts too, 143 to 223 ms. (CPU time of a run of 0.6 s: 100 ms more with plain dataclasses.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

__all__ = ["dataclass", "values_of", "with_fields"]

T = TypeVar("T")
Field = dataclasses.Field[object]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Callable[[type], type]:
        """The decorator of that name, with short work for frozen classes with slots."""
        if options == {"frozen": True, "slots": True}:
            return _define
        return dataclasses.dataclass(cls, **options)


def with_fields(item: T, changes: Mapping[str, object]) -> T:
    """A dataclass with other values of fields whose names are known only when it runs."""
    return cast("Callable[..., T]", dataclasses.replace)(item, **changes) if changes else item


_new = object.__new__
_LATER = ("__repr__", "__eq__", "__hash__")


def _define(plain: type) -> type:
    if any(isinstance(value, dataclasses.Field) and not _is_given(value) for value in vars(plain).values()):
        return dataclasses.dataclass(frozen=True, slots=True)(plain)
    own = {name for name, value in vars(plain).items() if value is not None}
    if plain.__doc__ is None:
        plain.__doc__ = plain.__name__  # else the signature is worked out for it
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(plain)
    fields = dataclasses.fields(cls)
    placed = tuple(field for field in fields if not field.kw_only)
    named = tuple(field for field in fields if field.kw_only)
    cls.__init__ = _init(cls, placed, named)
    for name in _LATER:
        if name not in own:
            setattr(cls, name, _first_call(cls, name))
    cls.__setattr__ = _refuse_set
    cls.__delattr__ = _refuse_delete
    if "__reduce__" not in own:
        cls.__reduce__, names = _reduce, [field.name for field in (*placed, *named)]
        if named:
            cls._made_of = staticmethod(_maker(cls, names))
        _parts[cls] = cls._made_of if named else cls, values_of(names)
    made: type = cls
    return made


def _is_given(field: Field) -> bool:
    """Return whether a field is a parameter whose default, where it has one, is a value."""
    return field.init and field.default_factory is dataclasses.MISSING


# -- making them -------------------------------------------------------------------------------------------------------


def _init(cls: type, placed: tuple[Field, ...], named: tuple[Field, ...]) -> FunctionType:
    """The template of so many fields, with their names, their slots and what they are where nothing is given."""
    names = [field.name for field in (*placed, *named)]
    after = hasattr(cls, "__post_init__")
    code = _template(len(placed), len(named), after).replace(
        co_varnames=("self", *names), co_qualname=f"{cls.__qualname__}.__init__"
    )
    missing = dataclasses.MISSING
    function = FunctionType(code, {f"set_{i}": getattr(cls, name).__set__ for i, name in enumerate(names)})
    function.__defaults__ = tuple(field.default for field in placed if field.default is not missing)
    function.__kwdefaults__ = {field.name: field.default for field in named if field.default is not missing}
    return function


@cache
def _template(placed: int, named: int, after: bool) -> CodeType:
    """``__init__`` for so many parameters. No name of a class comes into its text."""
    parameters = ["self", *(f"x{i}" for i in range(placed)), *["*"][: 1 if named else 0]]
    parameters.extend(f"x{i}" for i in range(placed, placed + named))
    lines = [f"set_{i}(self, x{i})" for i in range(placed + named)] + ["self.__post_init__()"] * after
    return _compiled(f"def __init__({', '.join(parameters)}):", lines or ["pass"])


def _compiled(head: str, lines: Iterable[str]) -> CodeType:
    """The code of a function."""
    space: dict[str, object] = {}
    exec("\n ".join([head, *lines]), space)
    (code,) = (made.__code__ for made in space.values() if isinstance(made, FunctionType))
    return code


def _first_call(cls: type, name: str) -> Callable[..., object]:
    """A method that puts the one of the dataclass into its place and then does what it was called for."""

    def method(*arguments: object) -> object:
        made: Callable[..., object] = vars(_whole(cls))[name]
        setattr(cls, name, made)
        return made(*arguments)

    return method


@cache
def _whole(cls: type) -> type:
    """The frozen dataclass with the same fields."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    about = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    annotations = {name: field.type for name, field in fields.items()}
    bare = type(cls.__name__, (), {**about, "__annotations__": annotations, **fields})
    return dataclasses.dataclass(frozen=True, init=False)(bare)


def _refuse_set(self: object, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


# -- copies and pickles ------------------------------------------------------------------------------------------------

_parts: dict[type, tuple[Callable[..., object], Callable[[object], tuple[object, ...]]]] = {}
"""Of each class what makes an object of the values of all its fields, and what gives these values."""


def _reduce(self: object) -> tuple[Callable[..., object], tuple[object, ...]]:
    make, values = _parts[type(self)]
    return make, values(self)


def _maker(cls: type, names: Sequence[str]) -> FunctionType:
    """A function of the class, which pickles name, that makes an object of the values of all fields by position."""
    space = {f"set_{i}": getattr(cls, name).__set__ for i, name in enumerate(names)}
    make = FunctionType(_maker_template(len(names), hasattr(cls, "__post_init__")), {**space, "new": _new, "cls": cls})
    make.__module__, make.__qualname__ = cls.__module__, f"{cls.__qualname__}._made_of"
    return make


@cache
def _maker_template(size: int, after: bool) -> CodeType:
    values = [f"x{i}" for i in range(size)]
    lines = ["self = new(cls)", *(f"set_{i}(self, x{i})" for i in range(size)), *["self.__post_init__()"] * after]
    return _compiled(f"def make({', '.join(values)}):", [*lines, "return self"])


def values_of(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a function that gets the values of these attributes of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda made: tuple([getattr(made, name) for name in names])
