"""Builder of one function: its statements so far, its variables, and the mapping from the rule's locals.

The layers above build trees in the same object, each in a module of its own: kept forms of values, loops, cells, rows,
built-in functions, expressions, measures, and steps (:class:`~interpreter.compiler.codegen.steps.Steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Self, TypeVar

from msgspec.structs import replace

from interpreter.base.source import NOWHERE, Span
from interpreter.compiler.codegen.base_module import Module
from interpreter.compiler.codegen.memory import TIGHT, Slot
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import helpers
from interpreter.language.types import Type

__all__ = ["FRAME", "ONE", "ZERO", "FunctionBuilder"]

T = TypeVar("T")

ONE, ZERO = ops.Constant(1), ops.Constant(0)
FRAME = ops.Var("frame", "i32")
"""The address of the frame, in functions whose locals are in one."""
LARGEST = 2**40
"""Limit of numbers in registers; numbers in cells fit into a word."""


class FunctionBuilder:
    """Builds a function. Statements are added in order; ``block`` collects some of them separately."""

    def __init__(self, module: Module) -> None:
        self.module, self.program, self.constants = module, module.program, module.constants
        self.model, self.shapes, self.memory = module.constants.model, module.shapes, module.memory
        self.clear()

    def clear(self) -> None:
        """Prepare for a new function."""
        self.body: list[ops.Statement] = []
        self.locals: dict[int, ops.Var | Slot] = {}
        self.span: Span = NOWHERE
        self._variables = 0
        self.loops = 0
        """Number of open loops."""
        self.flags: dict[ops.Var, ops.Value] = {}
        """Lists that do not change in the loop that is open, with lists that flag their members."""

    # --- functions

    def made(self, head: ops.Function, build: Callable[[Self], None]) -> ops.Function:
        """Return a function with the body that ``build`` adds. If it cannot be compiled, it traps when it is called."""
        builder = copy(self)
        builder.clear()
        try:
            build(builder)
        except Unsupported as error:
            self.module.left_out[head.name] = str(error)
            self.module.places[head.name] = builder.span
            return replace(head, body=(ops.Fail(str(error)),))
        return replace(head, body=tuple(builder.body))

    def declare(self, head: ops.Function, build: Callable[[Self], None]) -> str:
        """Return the name of a function that is called; it is built later, once."""
        return self.module.request(head, lambda: self.made(head, build))

    def named(
        self,
        kind: str,
        subject: object,
        parameters: tuple[ops.Var, ...],
        result: ops.Rep | None,
        build: Callable[[Self], None],
        about: str = "",
    ) -> str:
        """Declare a function that is named for what it does to a subject."""
        return self.declare(ops.Function(self.module.name(kind, str(subject)), parameters, result, about=about), build)

    # --- variables and statements

    def var(self, rep: ops.Rep, name: str = "t", value: ops.Value | None = None) -> ops.Var:
        """Return a new variable, set to a value if there is one."""
        var = ops.Var(self.label(name), rep)
        if value is not None:
            self.set(var, value)
        return var

    def label(self, name: str) -> str:
        self._variables += 1
        return f"{name}{self._variables}"

    def add(self, statement: ops.Statement) -> None:
        """Add a statement, at the present position in the rule text if it has none."""
        if statement.span == NOWHERE and self.span != NOWHERE:
            statement = replace(statement, span=self.span)
        self.body.append(statement)

    def set(self, var: ops.Var | ops.Global, value: ops.Value) -> None:
        self.add(ops.Set(var, value))

    def give(self, value: ops.Value | None = None) -> None:
        self.add(ops.Return(value))

    def kept(self, value: ops.Value, name: str = "t") -> ops.Value:
        """Evaluate a value once, into a variable. Constants and variables are returned unchanged."""
        return value if isinstance(value, ops.Constant | ops.Var) else self.var(value.rep, name, value)

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
        span = self.span
        with self.block() as inner:
            yield
        if inner:
            self.add(ops.If(test, tuple(inner), span=span))

    def branch(self, test: ops.Value, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        span = self.span
        with self.block() as first:
            then()
        with self.block() as second:
            otherwise()
        self.add(ops.If(test, tuple(first), tuple(second), span=span))

    def cases(self, number: ops.Value, things: Iterable[T]) -> Iterator[T]:
        """Yield each thing; the statements that follow run only if the number is its position."""
        for position, thing in enumerate(things):
            with self.when(number.equals(position)):
                yield thing

    @contextmanager
    def leaving(self, name: str) -> Iterator[str]:
        label = self.label(name)
        with self.block() as inner:
            yield label
        self.add(ops.Block(label, tuple(inner)))

    @contextmanager
    def repeated(self, name: str, test: ops.Value, *step: ops.Statement) -> Iterator[str]:
        """Repeat the statements inside while the test holds, then ``step``. Yield the label, which breaks the loop."""
        label, span = self.label(name), self.span
        self.loops += 1
        with self.block() as inner:
            yield label
        self.loops -= 1
        self.add(ops.While(label, test, tuple(inner), step, span=span))

    @contextmanager
    def counted(self, count: ops.Value, name: str = "number") -> Iterator[ops.Value]:
        """Run the statements inside for each number from 0 below a count."""
        number = self.var("i32", name, ZERO)
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
        return ops.Call(helper, arguments, helpers()[helper].result or "i32")

    def do(self, function: str, *arguments: ops.Value) -> None:
        self.add(ops.Do(ops.Call(function, arguments)))

    def fail_if(self, test: ops.Value, reason: str = "") -> None:
        self.add(ops.If(test, (ops.Fail(reason),)))

    def check_room(self, room: str, needed: ops.Value, most: int) -> None:
        """Trap if a room is too small, and tell which."""
        if room not in self.module.tight:
            self.module.tight.append(room)
        number = ops.Constant(self.module.tight.index(room) + 1)
        told = ops.Store(ZERO, TIGHT, number), ops.Store(ZERO, TIGHT + WORD, needed)
        self.add(ops.If(needed > most, (*told, ops.Fail(f"no room: {room}"))))

    def fail(self, reason: str = "") -> None:
        self.add(ops.Fail(reason))

    # --- small values

    def either(self, test: ops.Value, then: Callable[[], ops.Value], otherwise: Callable[[], ops.Value]) -> ops.Value:
        """Build one of two values; the other is not evaluated."""
        if isinstance(test, ops.Constant):
            return then() if test.value else otherwise()
        with self.block() as first:
            value = then()
        with self.block() as second:
            other = otherwise()
        if not first and not second:
            return ops.Select(test, value, other)
        var = self.var(value.rep)
        self.add(ops.If(test, (*first, ops.Set(var, value)), (*second, ops.Set(var, other))))
        return var

    def capped(self, value: ops.Value) -> ops.Value:
        """Return a number, with a trap if it is so large that sums of such numbers, as many as one decision can
        compute, could overflow 64 bits."""
        if value.rep != "i64" or ops.fits(value):
            return value
        kept = self.kept(value)
        self.fail_if(ops.either(kept < -LARGEST, kept > LARGEST), "a number that is too large")
        return kept

    def word(self, value: ops.Value, optional: bool = False) -> ops.Value:
        return ops.ToWord(value, optional) if value.rep == "i64" else value

    def wide(self, value: ops.Value) -> ops.Value:
        return value if value.rep == "i64" else ops.ToNumber(value)

    def is_none(self, value: ops.Value, type_: Type) -> ops.Value:
        return value.equals(self.shapes.none(type_))

    def none(self, type_: Type) -> ops.Value:
        return ops.Constant(self.shapes.none(type_), self.shapes.rep(type_))

    def found(self, value: ops.Value, type_: Type, what: str) -> ops.Value:
        """Return the result of a search; trap if it is none."""
        value = self.kept(value)
        self.fail_if(self.is_none(value, type_), f"`{what}` finds nothing here")
        return value
