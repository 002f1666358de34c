"""Code generation: the intermediate form as WebAssembly text.

Each function of the IR becomes one function of the module, and each op a few instructions. Nothing is optimised here:
passes do that before, and the compiler of the module after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from interpreter.base.source import NOWHERE
from interpreter.compiler.ir import ops
from interpreter.compiler.wasm.runtime_inliner import Expansion, Inliner

__all__ = ["text_of"]

NUMBER = "number"
"""The local that holds a number during a range check."""
INSTRUCTIONS = {"div": "div_u", "mod": "rem_u", "shr": "shr_u", "lt": "lt_s", "le": "le_s", "gt": "gt_s", "ge": "ge_s"}
"""Operators whose instruction has another name."""


def text_of(function: ops.Function, inliner: Inliner | None = None) -> str:
    """Return a function as text, with the source positions of statements as comments. An inliner expands calls of short
    runtime functions."""
    return "\n".join(_Writer(Expansion(inliner.short if inliner is not None else {})).function(function))


class _Writer:
    def __init__(self, expansion: Expansion) -> None:
        self._expansion = expansion
        self._vars: dict[str, str] = {}
        self._place = ""

    def function(self, function: ops.Function) -> Iterator[str]:
        parameters = {var.name for var in function.parameters}
        body = list(self._block(function.body, 1))
        head = [f"(param ${var.name} {var.rep})" for var in function.parameters]
        if function.result is not None:
            head.append(f"(result {function.result})")
        if function.about:
            yield f";; {function.about}"
        yield f"(func ${function.name} {' '.join(head)}"
        for name, rep in self._vars.items():
            if name not in parameters:
                yield f"  (local ${name} {rep})"
        for local in self._expansion.locals:
            yield f"  ({' '.join(map(str, local))})"
        yield from body
        if function.result is not None:
            yield "  unreachable"
        yield ")"

    # --- statements

    def _block(self, body: Iterable[ops.Statement], depth: int) -> Iterator[str]:
        pad = "  " * depth
        for statement in body:
            if statement.span != NOWHERE and (place := str(statement.span)) != self._place:
                self._place = place
                yield f"{pad};; {place}"
            yield from self._statement(statement, pad, depth)
            if isinstance(statement, (ops.Break, ops.Return, ops.TailCall, ops.Fail)):
                return  # nothing behind it is reached

    def _statement(self, statement: ops.Statement, pad: str, depth: int) -> Iterator[str]:
        v = self._value
        match statement:
            case ops.Set(var, value):
                target = f"global.set ${var.name}" if isinstance(var, ops.Global) else f"local.set ${self._var(var)}"
                yield f"{pad}({target} {v(value)})"
            case ops.Store(address, offset, value):
                yield f"{pad}({value.rep}.store{_offset(offset)} {v(address)} {v(value)})"
            case ops.CopyWords(target, source, words):
                yield pad + self._copied(target, source, words)
            case ops.Do(call):
                yield f"{pad}{v(call)}"
            case ops.If(test, then, otherwise):
                yield f"{pad}(if {v(test)}"
                yield f"{pad}  (then"
                yield from self._block(then, depth + 2)
                yield f"{pad}  )"
                if otherwise:
                    yield f"{pad}  (else"
                    yield from self._block(otherwise, depth + 2)
                    yield f"{pad}  )"
                yield f"{pad})"
            case ops.Block(label, body):
                yield f"{pad}(block ${label}"
                yield from self._block(body, depth + 1)
                yield f"{pad})"
            case ops.While(label, test, body, step):
                yield f"{pad}(block ${label}"
                yield f"{pad}(loop ${label}.again"
                yield f"{pad}  (br_if ${label} (i32.eqz {v(test)}))"
                yield from self._block(body, depth + 1)
                yield from self._block(step, depth + 1)
                yield f"{pad}  (br ${label}.again)))"
            case ops.Break(label):
                yield f"{pad}(br ${label})"
            case ops.Return(value):
                yield f"{pad}(return{' ' + v(value) if value is not None else ''})"
            case ops.TailCall(name, arguments):
                yield f"{pad}(return_call ${name}{''.join(' ' + v(argument) for argument in arguments)})"
            case ops.Fail(why):
                yield f"{pad}(unreachable){' ;; ' + why if why else ''}"
            case ops.Charge(steps):
                yield f"{pad}(global.set $fuel (i32.sub (global.get $fuel) {v(steps)}))"
                yield f"{pad}(if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (unreachable)))"
            case ops.Touch():
                pass
            case _:
                assert_never(statement)

    def _copied(self, target: ops.Value, source: ops.Value, words: ops.Value) -> str:
        places = f"{self._value(target)} {self._value(source)}"
        if isinstance(words, ops.Constant):
            return f"(memory.copy {places} (i32.const {4 * words.value}))"
        return f"(call $copy_words {places} {self._value(words)})"

    def _var(self, var: ops.Var) -> str:
        self._vars[var.name] = var.rep
        return var.name

    # --- values

    def _value(self, value: ops.Value) -> str:
        v = self._value
        match value:
            case ops.Constant(number, rep, about):
                return f"({rep}.const {number})" + (f" (; {about} ;)" if about else "")
            case ops.Var():
                return f"(local.get ${self._var(value)})"
            case ops.Global(name):
                return f"(global.get ${name})"
            case ops.Load(address, offset, rep):
                return f"({rep}.load{_offset(offset)} {v(address)})"
            case ops.Cell(address, _):
                return v(address)
            case ops.Within():
                lines = "\n".join(self._block(value.statements, 1))
                return f"(block (result {value.rep})\n{lines}\n  {v(value.value)})"
            case ops.Binary(operator, left, right):
                return self._binary(operator, left, right)
            case ops.ToNumber(ops.Load(address, offset)):
                return f"(i64.load32_s{_offset(offset)} {v(address)})"
            case ops.ToNumber(inner):
                return f"(i64.extend_i32_s {v(inner)})"
            case ops.ToIndex(inner):
                return f"(i32.wrap_i64 {v(inner)})"
            case ops.ToWord(inner, optional):
                return self._word(inner, optional)
            case ops.Select(test, then, otherwise):
                return f"(if (result {value.rep}) {v(test)} (then {v(then)}) (else {v(otherwise)}))"
            case ops.Call(function, arguments):
                return self._call(function, [v(argument) for argument in arguments])
            case _:
                assert_never(value)

    def _call(self, function: str, arguments: list[str]) -> str:
        return self._expansion.call(function, arguments) or f"(call {' '.join((f'${function}', *arguments))})"

    def _binary(self, operator: str, left: ops.Value, right: ops.Value) -> str:
        if operator in ("div", "mod", "mul") and left.rep == "i64":
            return self._call(operator, [self._value(left), self._value(right)])
        if operator == "eq" and right == ops.Constant(0, left.rep):
            return f"({left.rep}.eqz {self._value(left)})"
        return f"({left.rep}.{INSTRUCTIONS.get(operator, operator)} {self._value(left)} {self._value(right)})"

    def _word(self, value: ops.Value, optional: bool) -> str:
        if ops.fits(value):
            return f"(i32.wrap_i64 {self._value(value)})"
        self._vars[NUMBER] = "i64"
        least = 2**31 if optional else 2**31 - 1
        shifted = f"(i64.add (local.tee ${NUMBER} {self._value(value)}) (i64.const {least}))"
        test = f"(i64.le_u {shifted} (i64.const {least + 2**31 - 1}))"
        taken = f"(i32.wrap_i64 (local.get ${NUMBER}))"
        return f"(if (result i32) {test} (then {taken}) (else (unreachable)))"


def _offset(offset: int) -> str:
    return f" offset={offset}" if offset else ""
