"""Verifier of functions of the intermediate form: the invariants of every pass.

- Every variable is set before it is read, on all paths; it has one representation.
- The operands of each op have the representations that the op takes; calls fit the function that they call.
- Every label is open at each jump to it.
- A function with a result returns one on every path, or fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from interpreter.base.source import NOWHERE
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import Helper, Signature, helpers

__all__ = ["Signature", "check_function", "signatures_of"]

OPERATORS = frozenset(("add", "sub", "mul", "div", "mod", "and", "or", "shl", "shr", *ops.OPPOSITES))
RANGES = {"i32": (-(2**31), 2**32), "i64": (-(2**63), 2**64)}

Known = frozenset[str] | None
"""The variables that are set where control stands; none where it never comes."""


def signatures_of(functions: Iterable[ops.Function]) -> dict[str, Signature]:
    """Return the signatures of functions of the IR by name."""
    return {each.name: Signature(tuple(var.rep for var in each.parameters), each.result) for each in functions}


def check_function(function: ops.Function, signatures: Mapping[str, Signature]) -> list[str]:
    """Verify a function of the IR and return its faults. ``signatures`` are those of all functions that it can call,
    except helpers."""
    return _Checker(function, signatures).check()


class _Checker:
    def __init__(self, function: ops.Function, signatures: Mapping[str, Signature]) -> None:
        self._function, self._signatures = function, {**helpers(), **signatures}
        self._reps: dict[str, ops.Rep] = {}
        self._found: list[str] = []
        self._labels: set[str] = set()
        """The open labels."""
        self._leaves: dict[str, list[frozenset[str]]] = {}
        """What is known where a label is left by :class:`ops.Break`."""

    def check(self) -> list[str]:
        function = self._function
        if len({var.name for var in function.parameters}) < len(function.parameters):
            self._wrong(function, "two parameters have one name")
        for var in function.parameters:
            self._rep(function, var)
        known = self._block(function.body, frozenset(var.name for var in function.parameters))
        if known is not None and function.result is not None:
            self._wrong(function, f"ends without a value, want {function.result}")
        return self._found

    def _wrong(self, op: ops.Op, text: str) -> None:
        where = f" ({op.span})" if isinstance(op, ops.Action) and op.span is not NOWHERE else ""
        self._found.append(f"{self._function.name}: {text}{where}")

    # --- statements

    def _block(self, body: Iterable[ops.Statement], known: Known) -> Known:
        for statement in body:
            reached = known if known is not None else self._everything()
            after = self._statement(statement, reached)
            known = after if known is not None else None
        return known

    def _everything(self) -> frozenset[str]:
        """Return the facts at unreachable code: anything may be read there."""
        return frozenset(self._reps)

    def _statement(self, statement: ops.Statement, known: frozenset[str]) -> Known:
        match statement:
            case ops.Set(var, value):
                if isinstance(var, ops.Global):
                    return self._want(statement, f"${var.name}", value, var.rep, known)
                self._rep(statement, var)
                return self._want(statement, "the value", value, var.rep, known) | {var.name}
            case ops.Store(address, offset, value):
                known = self._memory(statement, address, offset, known)
                return self._value(value, known)
            case ops.CopyWords(target, source, words):
                for what, value in (("the target", target), ("the source", source), ("the words", words)):
                    known = self._want(statement, what, value, "i32", known)
            case ops.Do(call):
                if isinstance(call, ops.Call):
                    return self._call(call, known, False)
                self._wrong(statement, "a value that nobody drops")
            case ops.If(test, then, otherwise):
                known = self._want(statement, "the test", test, "i32", known)
                return _both(self._block(then, known), self._block(otherwise, known))
            case ops.Block(label, body):
                with_label = self._inside(statement, label, body, (), known)
                return _all((with_label, *self._leaves.pop(label, ())))
            case ops.While(label, test, body, step):
                known = self._want(statement, "the test", test, "i32", known)
                self._inside(statement, label, body, step, known)
                forever = isinstance(test, ops.Constant) and test.value != 0
                return _all((None if forever else known, *self._leaves.pop(label, ())))
            case ops.Break(label):
                if label not in self._labels:
                    self._wrong(statement, f"no block `{label}` is open")
                self._leaves.setdefault(label, []).append(known)
                return None
            case ops.Return(value):
                self._returns(statement, value, known)
                return None
            case ops.Fail():
                return None
            case ops.Charge(steps):
                return self._want(statement, "the steps", steps, "i32", known)
            case ops.Touch(_, owner):
                if owner is not None:
                    return self._want(statement, "the owner", owner, "i32", known)
            case ops.TailCall(function, arguments):
                rep = self._function.result
                self._call(ops.Call(function, arguments, rep or "i32"), known, rep is not None)
                return None
            case _:
                assert_never(statement)
        return known

    def _inside(
        self,
        op: ops.Op,
        label: str,
        body: tuple[ops.Statement, ...],
        step: tuple[ops.Statement, ...],
        known: frozenset[str],
    ) -> Known:
        if label in self._labels:
            self._wrong(op, f"the label `{label}` is open already")
        self._labels.add(label)
        self._leaves[label] = []
        after = self._block(body, known)
        if step:
            self._block(step, after)
        self._labels.discard(label)
        return after

    def _returns(self, op: ops.Return, value: ops.Value | None, known: frozenset[str]) -> None:
        result = self._function.result
        if value is None:
            if result is not None:
                self._wrong(op, f"returns nothing, want {result}")
        elif result is None:
            self._wrong(op, f"returns {value.rep}, want nothing")
        else:
            self._want(op, "the result", value, result, known)

    def _memory(self, op: ops.Op, address: ops.Value, offset: int, known: frozenset[str]) -> frozenset[str]:
        if not 0 <= offset < 2**32:
            self._wrong(op, f"the offset {offset} is outside memory")
        return self._want(op, "the address", address, "i32", known)

    # --- values

    def _rep(self, op: ops.Op, var: ops.Var) -> None:
        """Check that a variable keeps its first representation."""
        rep = self._reps.setdefault(var.name, var.rep)
        if rep != var.rep:
            self._wrong(op, f"`{var.name}` is {var.rep} here, and {rep} before")

    def _want(self, op: ops.Op, what: str, value: ops.Value, rep: ops.Rep, known: frozenset[str]) -> frozenset[str]:
        if value.rep != rep:
            self._wrong(op, f"{what} is {value.rep}, want {rep}")
        return self._value(value, known)

    def _value(self, value: ops.Value, known: frozenset[str]) -> frozenset[str]:
        """Return the facts after a value was computed."""
        match value:
            case ops.Constant(number, rep):
                low, high = RANGES[rep]
                if not low <= number < high:
                    self._wrong(value, f"{number} does not fit {rep}")
            case ops.Global():
                pass
            case ops.Var(name):
                self._rep(value, value)
                if name not in known:
                    self._wrong(value, f"`{name}` is read and may not be set")
            case ops.Load(address, offset):
                return self._memory(value, address, offset, known)
            case ops.Binary(operator, left, right):
                if operator not in OPERATORS:
                    self._wrong(value, f"unknown operator `{operator}`")
                known = self._value(left, known)
                return self._want(value, f"the right side of `{operator}`", right, left.rep, known)
            case ops.Cell(address):
                return self._want(value, "the address", address, "i32", known)
            case ops.Within():
                after = self._block(value.statements, known)
                return self._value(value.value, self._everything() if after is None else after)
            case ops.ToNumber(inner):
                return self._want(value, f"the operand of {type(value).__name__}", inner, "i32", known)
            case ops.ToIndex(inner) | ops.ToWord(inner):
                return self._want(value, f"the operand of {type(value).__name__}", inner, "i64", known)
            case ops.Select(test, then, otherwise):
                known = self._want(value, "the test", test, "i32", known)
                self._value(then, known)
                self._want(value, "the other value", otherwise, then.rep, known)
            case ops.Call():
                return self._call(value, known, True)
            case _:
                assert_never(value)
        return known

    def _call(self, call: ops.Call, known: frozenset[str], gives: bool) -> frozenset[str]:
        signature = self._signatures.get(call.function)
        if signature is None:
            self._wrong(call, f"unknown function `{call.function}`")
            return known
        if isinstance(signature, Helper) and signature.writes and self._function.memo is not None:
            self._wrong(call, f"`{call.function}` changes cells in a function whose answers are kept")
        wanted = signature.parameters
        if len(call.arguments) != len(wanted):
            self._wrong(call, f"`{call.function}` takes {len(wanted)} arguments, got {len(call.arguments)}")
        for number, (argument, rep) in enumerate(zip(call.arguments, wanted, strict=False), 1):
            known = self._want(call, f"argument {number} of `{call.function}`", argument, rep, known)
        if gives != (signature.result is not None):
            self._wrong(
                call,
                f"`{call.function}` gives {signature.result or 'nothing'}, want {'a value' if gives else 'nothing'}",
            )
        elif gives and call.rep != signature.result:
            self._wrong(call, f"`{call.function}` gives {signature.result}, want {call.rep}")
        return known


def _both(one: Known, other: Known) -> Known:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _all(ways: Iterable[Known]) -> Known:
    found: Known = None
    for way in ways:
        found = _both(found, way)
    return found
