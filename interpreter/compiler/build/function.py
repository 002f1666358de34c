"""Builder of one function: its statements so far, its variables, and the mapping from the rule's locals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from interpreter.base.frozen import dataclass
from interpreter.base.source import NOWHERE, Span
from interpreter.compiler.build.shapes import WORD, Shapes, Unsupported
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.effect_analysis import fits
from interpreter.compiler.ir.helpers import HELPERS
from interpreter.language.types import Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["FunctionBuilder", "Slot"]

ONE, ZERO = ops.Constant(1), ops.Constant(0)
LARGEST = 2**40
"""Limit of numbers in registers; numbers in cells fit into a word."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A local in a frame, in its kept form."""

    offset: int
    type: Type


class FunctionBuilder:
    """Builds a function. Statements are added in order; ``block`` collects some of them separately."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module = module
        self.shapes: Shapes = module.shapes
        self.memory = module.memory
        self.body: list[ops.Statement] = []
        self.locals: dict[int, ops.Var | Slot] = {}
        self.frame: ops.Var | None = None
        """The address of the frame, if locals are in one."""
        self.span: Span = NOWHERE
        self._count = 0

    # --- variables and statements

    def var(self, rep: ops.Rep, name: str = "t") -> ops.Var:
        self._count += 1
        return ops.Var(f"{name}{self._count}", rep)

    def label(self, name: str) -> str:
        self._count += 1
        return f"{name}{self._count}"

    def add(self, statement: ops.Statement) -> None:
        """Add a statement, at the present position in the rule text if it has none."""
        if statement.span is NOWHERE and self.span is not NOWHERE:
            statement = replace(statement, span=self.span)
        self.body.append(statement)

    def set(self, var: ops.Var, value: ops.Value) -> None:
        self.add(ops.Set(var, value))

    def kept(self, value: ops.Value, name: str = "t") -> ops.Value:
        """Evaluate a value once, into a variable. Constants and variables are returned unchanged."""
        if isinstance(value, ops.Constant | ops.Data | ops.Var):
            return value
        var = self.var(value.rep, name)
        self.set(var, value)
        return var

    @contextmanager
    def block(self) -> Iterator[list[ops.Statement]]:
        """Collect the statements inside in a list of their own."""
        before, self.body = self.body, []
        try:
            yield self.body
        finally:
            self.body = before

    @contextmanager
    def when(self, test: ops.Value) -> Iterator[None]:
        """Run the statements inside only if the test holds."""
        span = self.span
        with self.block() as inner:
            yield
        if inner:
            self.add(ops.If(test, tuple(inner), span=span))

    @contextmanager
    def repeated(self, name: str, test: ops.Value, *step: ops.Statement) -> Iterator[str]:
        """Repeat the statements inside while the test holds; ``step`` follows each pass. Yield the label, which breaks
        the loop."""
        label, span = self.label(name), self.span
        with self.block() as inner:
            yield label
        self.add(ops.While(label, test, tuple(inner), step, span=span))

    @contextmanager
    def counted(self, count: ops.Value, name: str = "number", first: ops.Value = ZERO) -> Iterator[ops.Value]:
        """Run the statements inside for each number from ``first`` below a count."""
        number = self.var("i32", name)
        self.set(number, first)
        with self.repeated("each", number < count, ops.Set(number, number + 1)):
            yield number

    @contextmanager
    def scoped(self, locals_: dict[int, ops.Var | Slot]) -> Iterator[None]:
        """Map the rule's locals to these inside."""
        before, self.locals = self.locals, locals_
        try:
            yield
        finally:
            self.locals = before

    def call(self, helper: str, *arguments: ops.Value) -> ops.Call:
        """Build a call of a helper."""
        return ops.Call(helper, arguments, HELPERS[helper].result or "i32")

    def do(self, helper: str, *arguments: ops.Value) -> None:
        """Add a call of a helper for its effects."""
        self.add(ops.Do(self.call(helper, *arguments)))

    def fail_if(self, test: ops.Value, reason: str = "") -> None:
        self.add(ops.If(test, (ops.Fail(reason),)))

    def capped(self, value: ops.Value) -> ops.Value:
        """Return a number, with a trap if it is so large that sums of such numbers, as many as one decision can
        compute, could overflow 64 bits."""
        if value.rep != "i64" or fits(value):
            return value
        kept = self.kept(value)
        low = kept < -LARGEST
        self.fail_if(ops.either(low, kept > LARGEST), "a number that is too large")
        return kept

    def fail(self, reason: str = "") -> None:
        self.add(ops.Fail(reason))

    # --- locals

    def read_local(self, index: int, type_: Type) -> ops.Value:
        local = self.locals.get(index)
        if local is None:
            raise Unsupported(f"local {index}, which nothing has set")
        if isinstance(local, ops.Var):
            return local
        assert self.frame is not None
        return self.load(self.frame, local.offset, local.type if not self.shapes.is_scalar(type_) else type_)

    def write_local(self, index: int, value: ops.Value, type_: Type) -> None:
        local = self.locals.get(index)
        if isinstance(local, Slot):
            assert self.frame is not None
            self.store(self.frame, local.offset, value, local.type)
            return
        rep = self.shapes.rep(type_)
        if local is None or local.rep != rep:
            local = self.locals[index] = ops.Var(f"l{index}_{rep}", rep)
        self.set(local, self.capped(value))

    # --- kept forms

    def load(self, address: ops.Value, offset: int, type_: Type, group: str = "") -> ops.Value:
        """Return the value whose kept form is at an address. A flat list, bag or record is not copied."""
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return ops.Load(address, offset, shapes.rep(type_), group)
        at = address + offset
        if group:
            at = ops.Cell(at, group)
        if not shapes.is_flat(type_):
            return ops.Call(self.module.values.unpack(type_), (at,))
        if not type_.optional:
            return at
        at = self.kept(at)
        if shapes.is_listed(type_):
            return ops.Select(ops.Load(at, 0, "i32", group) < 0, ZERO, at)
        return ops.both(ops.Load(at, 0, "i32", group), at + WORD)

    def store(self, address: ops.Value, offset: int, value: ops.Value, type_: Type, group: str = "") -> None:
        """Write the kept form of a value to an address."""
        shapes = self.shapes
        if shapes.is_scalar(type_):
            self.add(ops.Store(address, offset, self.word(value, type_.optional), group))
            return
        at, value = self.kept(address + offset), self.kept(value)
        if not shapes.is_flat(type_):
            self.add(ops.Do(ops.Call(self.module.values.pack(type_), (at, value))))
            return
        if not type_.optional:
            self._store_flat(at, value, type_, group)
            return
        with self.block() as some:
            if shapes.is_listed(type_):
                self._store_flat(at, value, type_, group)
            else:
                self.add(ops.Store(at, 0, ONE, group))
                self._store_flat(at + WORD, value, type_.sure, group)
        none = ops.Store(at, 0, ops.Constant(-1) if shapes.is_listed(type_) else ZERO, group)
        self.add(ops.If(value, tuple(some), (none,)))

    def _store_flat(self, at: ops.Value, value: ops.Value, type_: Type, group: str) -> None:
        shapes = self.shapes
        if not shapes.is_listed(type_):
            self.add(ops.CopyWords(at, value, ops.Constant(shapes.words(type_.sure)), group))
            return
        length = self.kept(ops.Load(value))
        self.fail_if(length > shapes.capacity(type_), "a list longer than its room")
        self.add(ops.CopyWords(at, value, length + 1, group))

    # --- small values

    def word(self, value: ops.Value, optional: bool = False) -> ops.Value:
        """Convert a register to a word of memory."""
        return ops.ToWord(value, optional) if value.rep == "i64" else value

    def is_none(self, value: ops.Value, type_: Type) -> ops.Value:
        return value.equals(self.shapes.none(type_))

    def none(self, type_: Type) -> ops.Value:
        return ops.Constant(self.shapes.none(type_), self.shapes.rep(type_))
