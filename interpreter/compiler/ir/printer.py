"""The intermediate form as text, for readers and for golden tests: one line a statement.

Each variable carries its type where it is first set. ``5L`` is a number of 64 bits. A cell reads as the rules name it,
``money[who]``, where its group is known, and ``&hand[who]`` is the address of one; other memory is ``load [address]
group``. The statements of an inlined call stand above the line that has its value, as ``let within1:``; they run where
``within1`` stands. Comments give the places of the
statements in the YAML files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, assert_never

from interpreter.base.source import NOWHERE
from interpreter.compiler.ir import ops as o

__all__ = ["Cells", "text_of"]

INDENT = "    "
WORD = 4
OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "div": "div", "mod": "mod", "and": "&", "or": "|"},
    **{"shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}


class Cells(Protocol):
    """A group of cells: the address of the first, the distance between two in bytes, and how many there are."""

    @property
    def address(self) -> int: ...
    @property
    def stride(self) -> int: ...
    @property
    def count(self) -> int: ...


def text_of(function: o.Function, groups: Mapping[str, Cells] | None = None) -> str:
    """A function as text. ``groups``: what is known of the groups of cells, by their names."""
    return "\n".join(_Writer(groups or {}).function(function))


class _Writer:
    def __init__(self, groups: Mapping[str, Cells]) -> None:
        self._groups = groups
        self._told: set[str] = set()
        self._place = ""
        self._depth = 0
        self._above: list[str] = []
        """Lines that stand above the one that is written."""
        self._withins = 0

    def function(self, function: o.Function) -> Iterator[str]:
        self._told.update(var.name for var in function.parameters)
        if function.about:
            yield f"# {function.about}"
        parameters = ", ".join(f"{var.name}: {var.rep}" for var in function.parameters)
        result = f" -> {function.result}" if function.result is not None else ""
        yield f"{function.name}({parameters}){result}:"
        yield from self._block(function.body, 1)

    # --- statements

    def _block(self, body: Iterable[o.Statement], depth: int) -> Iterator[str]:
        pad = INDENT * depth
        empty = True
        for statement in body:
            empty = False
            place = str(statement.span) if statement.span is not NOWHERE else ""
            if place and place != self._place:
                self._place = place
                yield f"{pad}# {place}"
            self._depth = depth
            for line in self._statement(statement, pad, depth):
                above, self._above = self._above, []
                yield from above
                yield line
        if empty:
            yield f"{pad}pass"

    def _statement(self, statement: o.Statement, pad: str, depth: int) -> Iterator[str]:
        v = self.value
        match statement:
            case o.Set(var, value):
                yield f"{pad}{self._target(var)} = {v(value)}"
            case o.SetGlobal(name, value):
                yield f"{pad}${name} = {v(value)}"
            case o.Store(address, offset, value, group):
                cell = self._cell(address, offset, group)
                yield f"{pad}{cell or f'store {self._at(address, offset)}{_of(group)}'} = {v(value)}"
            case o.Touch(group, owner):
                yield f"{pad}touch {group}{f'[{v(owner)}]' if owner is not None else ''}"
            case o.StoreLong(address, offset, value):
                yield f"{pad}store long {self._at(address, offset)} = {v(value)}"
            case o.CopyWords(target, source, words, group):
                cell = self._cell(target, 0, group)
                yield f"{pad}copy {v(words)} words from {v(source)} to {cell or v(target) + _of(group)}"
            case o.Do(call, gives):
                yield f"{pad}{'drop' if gives else 'do'} {v(call)}"
            case o.If(test, then, otherwise):
                yield f"{pad}if {v(test)}:"
                yield from self._block(then, depth + 1)
                if otherwise:
                    yield f"{pad}else:"
                    yield from self._block(otherwise, depth + 1)
            case o.Block(label, body):
                yield f"{pad}block {label}:"
                yield from self._block(body, depth + 1)
            case o.While(label, test, body, step):
                yield f"{pad}while {v(test)} as {label}:"
                yield from self._block(body, depth + 1)
                if step:
                    yield f"{pad}step:"
                    yield from self._block(step, depth + 1)
            case o.Break(label):
                yield f"{pad}break {label}"
            case o.Return(value):
                yield f"{pad}return{' ' + v(value) if value is not None else ''}"
            case o.Fail(why):
                yield f"{pad}fail{f' {chr(34)}{why}{chr(34)}' if why else ''}"
            case o.Charge(steps):
                yield f"{pad}charge {v(steps)}"
            case o.TailCall(name, arguments):
                yield f"{pad}return {name}({', '.join(map(v, arguments))})  # in place of this frame"
            case _:
                assert_never(statement)

    def _target(self, var: o.Var) -> str:
        if var.name in self._told:
            return var.name
        self._told.add(var.name)
        return f"{var.name}: {var.rep}"

    # --- values

    def value(self, value: o.Value) -> str:
        """A value as the right side of a statement."""
        v, inner = self.value, self._inner
        match value:
            case o.Constant(number, rep):
                return f"{number}L" if rep == "i64" else str(number)
            case o.Data(address, of):
                return f"data {address}{f' {chr(34)}{of}{chr(34)}' if of else ''}"
            case o.Get(var):
                return var.name
            case o.Global(name):
                return f"${name}"
            case o.Load(address, offset, rep, group):
                cell = self._cell(address, offset, group)
                found = cell or f"load {self._at(address, offset)}{_of(group)}"
                return f"number({found})" if rep == "i64" and not cell else found
            case o.LoadLong(address, offset):
                return f"load long {self._at(address, offset)}"
            case o.Cell(address, group):
                return self._address(address) or f"&{v(address)}{_of(group)}"
            case o.Binary(operator, left, right) | o.Compare(operator, left, right):
                cell = self._address(value) if operator == "add" else ""
                return cell or f"{inner(left)} {OPERATORS.get(operator, operator)} {inner(right)}"
            case o.Not(one):
                return f"not {inner(one)}"
            case o.ToNumber(one):
                return f"number({v(one)})"
            case o.ToIndex(one):
                return f"index({v(one)})"
            case o.ToWord(one, optional):
                return f"word{'?' if optional else ''}({v(one)})"
            case o.Select(test, then, otherwise):
                return f"{inner(then)} if {inner(test)} else {inner(otherwise)}"
            case o.Call(name, arguments):
                return f"{name}({', '.join(map(v, arguments))})"
            case o.Allocate(words):
                return f"allocate({v(words)})"
            case o.Within(body, one):
                return self._within(body, one)
            case _:
                assert_never(value)

    def _within(self, body: tuple[o.Statement, ...], value: o.Value) -> str:
        """A value whose statements run before it: they stand above the line in which it has a name."""
        self._withins += 1
        name, depth, above = f"within{self._withins}", self._depth, self._above
        self._above = []
        lines = [f"{INDENT * depth}let {name}:", *self._block(body, depth + 1)]
        self._depth = depth + 1
        given = f"{INDENT * (depth + 1)}give {self.value(value)}"
        self._depth, self._above = depth, [*above, *lines, *self._above, given]
        return name

    def _inner(self, value: o.Value) -> str:
        """A value inside another one: in parentheses where it has an operator."""
        text = self.value(value)
        operators = isinstance(value, o.Binary | o.Compare | o.Not | o.Select)
        return f"({text})" if operators and not text.startswith("&") else text

    # --- memory

    def _at(self, address: o.Value, offset: int) -> str:
        cell = self._address(address)
        if cell:
            return f"[{cell}{f' + {offset}' if offset else ''}]"
        first, rest = _sum(address)
        if rest is None:
            return f"[{first + offset}]"
        return f"[{self._inner(rest)}{f' + {first + offset}' if first + offset else ''}]"

    def _address(self, value: o.Value) -> str:
        """The address of a cell that takes several words: no other address is a sum with such a factor."""
        first, owner = _sum(value)
        stride = _scale(owner) if owner is not None else 0
        if stride <= WORD:
            return ""
        for name, cells in self._groups.items():
            if cells.stride == stride and cells.address <= first < cells.address + stride:
                return f"&{self._cell(value, 0, name)}"
        return ""

    def _cell(self, address: o.Value, offset: int, group: str) -> str:
        """A cell by its group and owner; nothing where the address is not that of a known group."""
        cells = self._groups.get(group)
        if cells is None:
            return ""
        if isinstance(address, o.Constant):
            number, rest = divmod(address.value + offset - cells.address, cells.stride)
            if not 0 <= number < cells.count:
                return ""
            return f"{group}{f'[{number}]' if cells.count > 1 else ''}{_word(rest)}"
        first, owner = _sum(address)
        if owner is None or _scale(owner) != cells.stride:
            return ""
        rest = first + offset - cells.address
        if not 0 <= rest < cells.stride:
            return ""
        assert isinstance(owner, o.Binary)
        return f"{group}[{self.value(owner.left)}]{_word(rest)}"


def _sum(address: o.Value) -> tuple[int, o.Value | None]:
    """An address as a number that is known and the rest."""
    match address:
        case o.Binary("add", rest, o.Constant(number)):
            return number, rest
        case o.Constant(number):
            return number, None
        case _:
            return 0, address


def _scale(value: o.Value) -> int:
    """The number by which an index is multiplied; 0 where it is none."""
    match value:
        case o.Binary("shl", _, o.Constant(number)):
            return int(1 << number)
        case o.Binary("mul", _, o.Constant(number)):
            return number
        case _:
            return 0


def _word(rest: int) -> str:
    return f".{rest // WORD}" if rest else ""


def _of(group: str) -> str:
    return f" {group}" if group else ""
