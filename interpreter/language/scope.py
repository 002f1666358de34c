"""Scopes: locals, and type facts that tests establish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec import Struct

from interpreter.language import nodes
from interpreter.language.types import NOTHING, Type

__all__ = ["Frame", "Variable", "frame_of", "path_of"]


class Variable(Struct, frozen=True):
    """A parameter or local. ``binder`` is the node that introduces it, if the text has one; a type if the local has the
    name of its type."""

    name: str
    index: int
    type: Type
    binder: nodes.Node | None = None


@dataclass
class Frame:
    """Locals of one text. A name is visible until its block ends; an index belongs to one local and is never reused."""

    names: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    visible: list[dict[str, Variable]] = field(default_factory=lambda: [{}])
    facts: list[dict[str, Type]] = field(default_factory=lambda: [{}])

    @property
    def size(self) -> int:
        return len(self.names)

    def add(self, name: str, type_: Type, binder: nodes.Node | None = None) -> Variable:
        variable = Variable(name, len(self.names), type_, binder)
        self.names.append(name)
        self.types.append(type_)
        self.visible[-1][name] = variable
        for known in self.facts:
            for path in [p for p in known if p == name or p.startswith(name + ".")]:
                del known[path]
        return variable

    def inner(self, variables: Iterable[Variable]) -> Frame:
        """Return a frame in which some locals are parameters, with the types that are known here."""
        frame = Frame()
        for variable in variables:
            frame.add(variable.name, self.known(variable.name) or variable.type, variable.binder)
        return frame

    def hidden(self) -> int:
        """Reserve a local without a name and return its index."""
        self.names.append("")
        self.types.append(NOTHING)
        return len(self.names) - 1

    def find(self, name: str) -> Variable | None:
        return next((block[name] for block in reversed(self.visible) if name in block), None)

    def all_names(self) -> list[str]:
        return [name for block in self.visible for name in block]

    def known(self, path: str) -> Type | None:
        return next((facts[path] for facts in reversed(self.facts) if path in facts), None)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Open a block: names and facts added inside are dropped at its end."""
        self.visible.append({})
        try:
            with self.narrowed({}):
                yield
        finally:
            self.visible.pop()

    @contextmanager
    def narrowed(self, facts: dict[str, Type]) -> Iterator[None]:
        """Narrow the types of some paths within the context."""
        self.facts.append(dict(facts))
        try:
            yield
        finally:
            self.facts.pop()


def frame_of(bound: Iterable[tuple[str, Type]]) -> Frame:
    """Return a frame with these locals."""
    frame = Frame()
    for name, type_ in bound:
        frame.add(name, type_)
    return frame


def path_of(node: nodes.Expr) -> str | None:
    """Return the path of a name with attributes, as ``who.hand``, or None for other expressions. Facts are by path."""
    match node:
        case nodes.Name(name):
            return name
        case nodes.Attribute(of, name):
            inner = path_of(of)
            return f"{inner}.{name}" if inner else None
        case _:
            return None
