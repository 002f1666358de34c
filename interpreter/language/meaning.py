"""The meaning of checked rules as plain data, from which the digest of a ruleset is computed.

Saved games hold the digest, so it must outlast changes of this program: a node is encoded by the tag of its class and
the values of its fields without positions, a type by its word, a built-in by its name. Names of classes, docstrings and
the registry of built-ins do not matter. Whoever adds a field to a node, or changes what a tag stands for, makes every
digest another one, and raises :data:`VERSION`.
"""

from __future__ import annotations

from collections.abc import Callable

from interpreter.base.lazy import Lazy
from interpreter.base.plain_data import Json
from interpreter.base.tree import parts
from interpreter.language.builtins import Builtin
from interpreter.language.core import Core
from interpreter.language.types import AnyType

__all__ = ["VERSION", "meaning"]

VERSION = 1


def meaning(value: object) -> Json:
    """Return checked trees, types and plain values, also nested in sequences and mappings, as plain data.

    A node is ``{tag: fields}``; a mapping is a list of pairs in the order of its keys. Raises ``TypeError`` for
    anything else.
    """
    return _forms[type(value)](value)


def _form(kind: type) -> Callable[..., Json]:
    """Return the function that encodes values of a class."""
    if issubclass(kind, str | int | None):  # numbers and booleans too
        return lambda value: value
    if issubclass(kind, Builtin):
        return lambda builtin: builtin.name
    if issubclass(kind, list | tuple):
        return lambda items: [meaning(item) for item in items]
    if issubclass(kind, dict):
        return lambda pairs: [[meaning(key), meaning(pairs[key])] for key in sorted(pairs)]
    if issubclass(kind, Core | AnyType):
        tag = str(kind.__struct_config__.tag) if issubclass(kind, Core) else kind.word
        return lambda node: {tag: [meaning(part) for part in parts(node)]}
    raise TypeError(kind.__name__)


_forms = Lazy[type, Callable[..., Json]](_form)
