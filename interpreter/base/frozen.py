"""Dataclasses that are fast to define: no code is compiled per class at import.

``dataclass(frozen=True, slots=True)`` compiles six methods for each class; with two hundred node classes that was half
of the start-up time. Here ``__init__`` is one template for each number of fields, with their names filled in, and
``__repr__``, ``__eq__`` and ``__hash__`` are those of :mod:`dataclasses`, created on first call.

A cached run defines 284 of these classes in 46 to 63 ms. Plain dataclasses take 215 to 264 ms; attrs, which compiles
code too, 143 to 223 ms. (Plain dataclasses add 100 ms of CPU time to a run of 0.6 s.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

__all__ = ["dataclass", "values_of", "with_fields"]

T = TypeVar("T")
Field = dataclasses.Field[object]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Callable[[type], type]:
        """Decorator like :func:`dataclasses.dataclass`, with a fast path for frozen classes with slots."""
        if options == {"frozen": True, "slots": True}:
            return _define
        return dataclasses.dataclass(cls, **options)


def with_fields(item: T, changes: Mapping[str, object]) -> T:
    """Return a copy with changed fields, for field names that are known only at run time."""
    return cast("Callable[..., T]", dataclasses.replace)(item, **changes) if changes else item


_new = object.__new__
_LATER = ("__repr__", "__eq__", "__hash__")


def _define(plain: type) -> type:
    if any(isinstance(value, dataclasses.Field) and not _is_plain(value) for value in vars(plain).values()):
        return dataclasses.dataclass(frozen=True, slots=True)(plain)
    own_names = {name for name, value in vars(plain).items() if value is not None}
    if plain.__doc__ is None:
        plain.__doc__ = plain.__name__  # otherwise `dataclasses` computes the signature
    cls: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(plain)
    fields = dataclasses.fields(cls)
    placed = tuple(field for field in fields if not field.kw_only)
    named = tuple(field for field in fields if field.kw_only)
    methods: dict[str, object] = {
        "__init__": _init(cls, placed, named),
        "__setattr__": _refuse_set,
        "__delattr__": _refuse_delete,
        **{name: _first_call(cls, name) for name in _LATER if name not in own_names},
    }
    if "__reduce__" not in own_names:
        names = [field.name for field in (*placed, *named)]
        make = _maker(cls, names) if named else cls
        _parts[cls] = make, values_of(names)
        methods["__reduce__"] = _reduce
        if named:
            methods["_made_of"] = staticmethod(make)
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _is_plain(field: Field) -> bool:
    """Return whether a field is a parameter with no default or a plain default value."""
    return field.init and field.default_factory is dataclasses.MISSING


# -- methods -----------------------------------------------------------------------------------------------------------


def _init(cls: type, placed: tuple[Field, ...], named: tuple[Field, ...]) -> FunctionType:
    """Instantiate the template for these fields, with their names, slots and defaults."""
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
    """Return the code of ``__init__`` for a number of positional and keyword parameters. It contains no name of a
    class."""
    parameters = ["self", *(f"x{i}" for i in range(placed)), *["*"][: 1 if named else 0]]
    parameters.extend(f"x{i}" for i in range(placed, placed + named))
    lines = [f"set_{i}(self, x{i})" for i in range(placed + named)] + ["self.__post_init__()"] * after
    return _compiled(f"def __init__({', '.join(parameters)}):", lines or ["pass"])


def _compiled(head: str, lines: Iterable[str]) -> CodeType:
    """Compile a function and return its code."""
    space: dict[str, object] = {}
    exec("\n ".join([head, *lines]), space)
    (code,) = (item.__code__ for item in space.values() if isinstance(item, FunctionType))
    return code


def _first_call(cls: type, name: str) -> Callable[..., object]:
    """Return a stub that replaces itself by the method of the dataclass on its first call."""

    def method(*arguments: object) -> object:
        real: Callable[..., object] = vars(_whole(cls))[name]
        setattr(cls, name, real)
        return real(*arguments)

    return method


@cache
def _whole(cls: type) -> type:
    """Return a standard frozen dataclass with the same fields."""
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
"""By class, a factory that takes the values of all fields, and a getter of these values."""


def _reduce(self: object) -> tuple[Callable[..., object], tuple[object, ...]]:
    make, values = _parts[type(self)]
    return make, values(self)


def _maker(cls: type, names: Sequence[str]) -> FunctionType:
    """Return a factory that takes the values of all fields by position; pickles refer to it by name."""
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
    """Return a getter of the values of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda item: tuple([getattr(item, name) for name in names])
