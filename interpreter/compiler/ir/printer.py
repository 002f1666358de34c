"""Printer of the intermediate form, for readers and golden tests: one line for each statement.

A variable carries its type where it is first set. ``5L`` is a 64-bit number. If the group of a cell is known, the cell
is printed as in the rules, ``money[who]``; ``&hand[who]`` is its address. Other memory is ``load [address] group``. The
statements of an inlined call precede the line that uses its value, as ``let within1:``; they run where ``within1``
occurs. Comments give positions in the YAML files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from interpreter.base.source import NOWHERE
from interpreter.compiler.ir import ops

__all__ = ["text_of"]

INDENT = "    "
WORD = 4
OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "div", "mod": "mod", "and": "&", "or": "|"},
    **{"shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}


def text_of(function: ops.Function, groups: Mapping[str, ops.CellGroup] | None = None) -> str:
    """Return a function as text. ``groups`` describes the groups of cells by name."""
    return "\n".join(_Writer(groups or {}).function(function))


class _Writer:
    def __init__(self, groups: Mapping[str, ops.CellGroup]) -> None:
        self._groups = groups
        self._declared: set[str] = set()
        self._place = ""
        self._above: list[str] = []
        """Lines to print before the current statement."""
        self._withins = 0

    def function(self, function: ops.Function) -> Iterator[str]:
        self._declared.update(var.name for var in function.parameters)
        if function.about:
            yield f"# {function.about}"
        parameters = ", ".join(f"{var.name}: {var.rep}" for var in function.parameters)
        result = f" -> {function.result}" if function.result is not None else ""
        yield f"{function.name}({parameters}){result}:"
        yield from self._block(function.body)

    # --- statements

    def _block(self, body: tuple[ops.Statement, ...]) -> list[str]:
        """Return indented lines."""
        above, lines = self._above, [] if body else ["pass"]
        for statement in body:
            place = str(statement.span) if statement.span != NOWHERE else ""
            if place and place != self._place:
                self._place = place
                lines.append(f"# {place}")
            self._above = []
            text = list(self._statement(statement))
            lines += self._above + text
        self._above = above
        return [INDENT + line for line in lines]

    def _statement(self, statement: ops.Statement) -> Iterator[str]:
        v = self.value
        match statement:
            case ops.Set(var, value):
                yield f"{self._target(var)} = {v(value)}"
            case ops.Store(address, offset, value, group):
                cell = self._cell(address, offset, group)
                yield f"{cell or f'store {_long(value)}{self._at(address, offset)}{_of(group)}'} = {v(value)}"
            case ops.Touch(group, owner):
                yield f"touch {group}{f'[{v(owner)}]' if owner is not None else ''}"
            case ops.CopyWords(target, source, words, group):
                cell = self._cell(target, 0, group)
                yield f"copy {v(words)} words from {v(source)} to {cell or v(target) + _of(group)}"
            case ops.Do(call):
                yield f"do {v(call)}"
            case ops.If(test, then, otherwise):
                yield f"if {v(test)}:"
                yield from self._block(then)
                if otherwise:
                    yield "else:"
                    yield from self._block(otherwise)
            case ops.Block(label, body):
                yield f"block {label}:"
                yield from self._block(body)
            case ops.While(label, test, body, step):
                yield f"while {v(test)} as {label}:"
                yield from self._block(body)
                if step:
                    yield "step:"
                    yield from self._block(step)
            case ops.Break(label):
                yield f"break {label}"
            case ops.Return(value):
                yield f"return{' ' + v(value) if value is not None else ''}"
            case ops.Fail(why):
                yield f"fail{f' {chr(34)}{why}{chr(34)}' if why else ''}"
            case ops.Charge(steps):
                yield f"charge {v(steps)}"
            case ops.TailCall(name, arguments):
                yield f"return {name}({', '.join(map(v, arguments))})  # in place of this frame"
            case _:
                assert_never(statement)

    def _target(self, var: ops.Var | ops.Global) -> str:
        if isinstance(var, ops.Global) or var.name in self._declared:
            return self.value(var)
        self._declared.add(var.name)
        return f"{var.name}: {var.rep}"

    # --- values

    def value(self, value: ops.Value) -> str:
        v, inner = self.value, self._inner
        match value:
            case ops.Constant(number, rep, about):
                return f'data {number} "{about}"' if about else f"{number}L" if rep == "i64" else str(number)
            case ops.Var(name):
                return name
            case ops.Global(name):
                return f"${name}"
            case ops.Load(address, offset, _, group):
                cell = self._cell(address, offset, group)
                return cell or f"load {_long(value)}{self._at(address, offset)}{_of(group)}"
            case ops.Cell(address, group):
                return self._address(address) or f"&{v(address)}{_of(group)}"
            case ops.Binary(operator, left, right):
                cell = self._address(value) if operator == "add" else ""
                return cell or f"{inner(left)} {OPERATORS.get(operator, operator)} {inner(right)}"
            case ops.ToNumber(operand):
                return f"number({v(operand)})"
            case ops.ToIndex(operand):
                return f"index({v(operand)})"
            case ops.ToWord(operand, optional):
                return f"word{'?' if optional else ''}({v(operand)})"
            case ops.Select(test, then, otherwise):
                return f"{inner(then)} if {inner(test)} else {inner(otherwise)}"
            case ops.Call(name, arguments):
                return f"{name}({', '.join(map(v, arguments))})"
            case ops.Within():
                return self._within(value.statements, value.value)
            case _:
                assert_never(value)

    def _within(self, body: tuple[ops.Statement, ...], value: ops.Value) -> str:
        """Print the statements of a value before the current one, and return a name for it."""
        self._withins += 1
        name, above = f"within{self._withins}", self._above
        lines, self._above = self._block(body), []
        given = f"give {self.value(value)}"
        self._above = [*above, f"let {name}:", *lines, *(INDENT + line for line in (*self._above, given))]
        return name

    def _inner(self, value: ops.Value) -> str:
        """Return a value as an operand, in parentheses if it has an operator."""
        text = self.value(value)
        operators = isinstance(value, ops.Binary | ops.Select)
        return f"({text})" if operators and not text.startswith("&") else text

    # --- memory

    def _at(self, address: ops.Value, offset: int) -> str:
        place = self._address(address)
        if not place:
            match address:
                case ops.Constant(number):
                    return f"[{number + offset}]"
                case ops.Binary("add", rest, ops.Constant(number)):
                    place, offset = self._inner(rest), number + offset
                case _:
                    place = self._inner(address)
        return f"[{place}{f' + {offset}' if offset else ''}]"

    def _address(self, value: ops.Value) -> str:
        """Return the address of a cell of several words in the notation of rules; only it has that factor."""
        first, _, factor = ops.split(value)
        for name, cells in self._groups.items() if factor > WORD else ():
            if cells.stride == factor and cells.address <= first < cells.address + factor:
                return f"&{self._cell(value, 0, name)}"
        return ""

    def _cell(self, address: ops.Value, offset: int, group: str) -> str:
        """Return a cell in the notation of rules, or an empty text if the address is not in a known group."""
        cells = self._groups.get(group)
        if cells is None:
            return ""
        first, index, factor = ops.split(address)
        number, rest = divmod(first + offset - cells.address, cells.stride)
        if index is not None and factor == cells.stride and number == 0:
            owner = f"[{self.value(index)}]"
        elif index is None and 0 <= number < cells.count:
            owner = f"[{number}]" if cells.count > 1 else ""
        else:
            return ""
        return f"{group}{owner}{f'.{rest // WORD}' if rest else ''}"


def _long(value: ops.Value) -> str:
    return "long " if value.rep == "i64" else ""


def _of(group: str) -> str:
    return f" {group}" if group else ""
