"""Memoisation: functions of few arguments store results in tables, which are valid until a cell that they read changes.

A table has an entry for each combination of arguments: a *stamp* and the result. An entry is valid if its stamp is the
*generation* of its row of the table. A change of a cell sets the *dirty* bit of each function that reads it; the next
call of such a function clears the bit and increments the generation. Results of a function that reads no cell stay
valid for ever.

If the cells that a function reads belong to the seat in an argument, it has a generation and a dirty bit for each seat,
and a change of one seat's cell keeps the results for the others. If they are parts of an argument, as places are of a
node, it has both for each node, and a change of other cells that it reads sets the bits of all nodes. A table with one
entry for each dirty bit needs no stamps: an entry is valid if its bit is clear.

A list, bag or flat record is stored in the table, and the result is its address: it stays unchanged until a cell
changes.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from interpreter.compiler.codegen.shapes import WORD, signed
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.call_order import callees_first
from interpreter.compiler.ir.cost import CALL, RECURSIVE, cost_of
from interpreter.compiler.ir.helpers import helpers
from interpreter.compiler.passes.context import Context, Functions, Touched

__all__ = ["memoise"]

LEAST_COST = 150
"""Minimum cost of a memoised function. A lookup costs about a third of this."""
KEPT_COST = 12
MOST_ENTRIES = 4096
MOST_WORDS = 64 * 1024
MOST_FUNCTIONS = 64
LONG = 8
ENTRY = 2 * WORD
ZERO, ONE = ops.Constant(0), ops.Constant(1)
AT = ops.Var("entry", "i32")


class Table(Struct, frozen=True):
    """The memo table of one function: ``row`` is the parameter that selects a row by seat, ``whole`` the complement of
    the one whose parts are the cells that it reads."""

    function: ops.Function
    memo: ops.Memo
    row: int | None
    whole: int | None
    entries: int


def memoise(functions: Functions, context: Context) -> Functions:
    """Give a memo table to each function that costs more than a lookup."""
    result = dict(functions)
    tables = _chosen(functions, context)
    reading = [table for table in tables if table.memo.reads]
    rows = [table for table in reading if table.row is not None][:MOST_FUNCTIONS]
    parts = [table for table in reading if table.whole is not None][:MOST_FUNCTIONS]
    alone = [table for table in reading if table.row is None and table.whole is None][:MOST_FUNCTIONS]
    dirty = context.dirty = context.memory.reserve_long(context.seats + 1 + context.wholes)
    dirty_parts = context.dirty_parts = dirty + LONG * (context.seats + 1)
    context.touched = {group: _touched(group, rows, parts, alone) for group in context.memory.groups}
    shared = dirty + LONG * context.seats
    dimensions = [
        *((table, _dimension(table, dirty, bit, context.seats, context)) for bit, table in enumerate(rows)),
        *((table, _dimension(table, dirty_parts, bit, context.wholes, context)) for bit, table in enumerate(parts)),
        *((table, _dimension(table, shared, bit, 1, context)) for bit, table in enumerate(alone)),
    ]
    for table, dimension in (*dimensions, *((table, None) for table in tables if not table.memo.reads)):
        memoised = _Memoised(table, dimension, context).functions()
        result.update((function.name, function) for function in memoised)

    for name, function in result.items():
        if any(isinstance(op, ops.Touch) for op in function.ops):
            result[name] = function.rewritten(lambda op: tuple(_marks(op, context)), ops.Touch)
    return result


# --- selection


def _chosen(functions: Functions, context: Context) -> list[Table]:
    """Return the tables that pay, callees first, since a call of a memoised function is cheap."""
    calls = Counter(name for function in functions.values() for name in function.called)
    tables: list[Table] = []
    costs: dict[str, int] = {}

    def cost_of_call(name: str) -> int:
        return costs.get(name, RECURSIVE if name in functions else CALL + helpers()[name].cost)

    for name in callees_first(functions):
        function = functions[name]
        costs[name] = cost_of(function.body, cost_of_call)
        if function.memo is None or not calls[name] or costs[name] < LEAST_COST:
            continue
        if (table := _table(function, function.memo)) is not None:
            tables.append(table)
            costs[name] = KEPT_COST
    return tables


def _table(function: ops.Function, memo: ops.Memo) -> Table | None:
    entries = prod(key.extent for key in memo.keys)
    if not 0 < entries <= MOST_ENTRIES or entries * memo.words > MOST_WORDS:
        return None

    def groups_of(parameter: int) -> int:
        """Return the number of groups of which only the cells of a parameter's value are read."""
        return sum(parameter in aligned for aligned in memo.reads.values())

    seats = [number for number, key in enumerate(memo.keys) if key.is_seat and groups_of(number)]
    row = max(seats, key=groups_of, default=None)
    wholes = [~number for number, key in enumerate(memo.keys) if key.least == 0 and groups_of(~number)]  # never none
    whole = wholes[0] if wholes and row is None else None
    return Table(function, memo, row, whole, entries)


# --- changes


def _touched(group: str, rows: list[Table], parts: list[Table], alone: list[Table]) -> Touched:
    def bits(tables: list[Table], is_concerned: Callable[[Table, frozenset[int]], bool]) -> int:
        read = ((bit, table, table.memo.reads.get(group)) for bit, table in enumerate(tables))
        return sum(1 << bit for bit, table, aligned in read if aligned is not None and is_concerned(table, aligned))

    return Touched(
        alone=bits(alone, lambda table, aligned: True),
        all_rows=bits(rows, lambda table, aligned: table.row not in aligned),
        own_row=bits(rows, lambda table, aligned: table.row in aligned),
        all_wholes=bits(parts, lambda table, aligned: table.whole not in aligned),
        own_whole=bits(parts, lambda table, aligned: table.whole in aligned),
    )


def _marks(op: ops.Touch, context: Context) -> Iterator[ops.Statement]:
    """Yield the statements that set dirty bits when a cell changes."""
    touched, dirty = context.touched[op.group], context.dirty
    everywhere, own = touched.all_rows, touched.own_row
    if op.owner is None or op.group not in context.of_seats:
        everywhere, own = everywhere | own, 0
    if touched.alone:
        yield _mark(ZERO, dirty + LONG * context.seats, touched.alone)
    wholes = touched.all_wholes | touched.own_whole
    for at, number, bits in (dirty, context.seats, everywhere), (context.dirty_parts, context.wholes, wholes):
        if bits:
            ends = ops.Constant(at), ops.Constant(at + LONG * number)
            yield ops.Do(ops.Call("touch_all", (*ends, ops.Constant(signed(bits), "i64"))))
    if own and isinstance(op.owner, ops.Constant):
        yield _mark(ZERO, dirty + LONG * op.owner.value, own)
    elif own and op.owner is not None:
        yield _mark(op.owner * LONG, dirty, own)


def _mark(address: ops.Value, offset: int, mask: int) -> ops.Statement:
    return ops.Store(address, offset, ops.Load(address, offset, "i64") | signed(mask))


# --- memoised functions


class _Dimension(Struct, frozen=True):
    """Invalidation unit of a memo table: a dirty bit and a generation, or one for each value of a parameter.

    ``index`` is the parameter (0: none), and ``rows`` the number of its values. ``dirty`` and ``generations`` are
    addresses, ``bit`` is the mask of the bit.
    """

    index: ops.Value
    rows: int
    dirty: int
    bit: int
    generations: int

    @property
    def generation(self) -> ops.Load:
        return ops.Load(self.index * WORD, self.generations)

    @property
    def marks(self) -> ops.Load:
        return ops.Load(self.index * LONG, self.dirty, "i64")

    def clear(self) -> ops.Statement:
        return ops.Store(self.index * LONG, self.dirty, self.marks & ~self.bit)

    def renew(self) -> Iterator[ops.Statement]:
        more = self.generation + 1
        yield ops.If(more < 0, (ops.Fail("no generation is left"),))
        yield self.clear()
        yield ops.Store(self.index * WORD, self.generations, more)


def _dimension(table: Table, dirty: int, bit: int, rows: int, context: Context) -> _Dimension:
    parameter = ~table.whole if table.whole is not None else table.row
    index = ZERO if parameter is None else table.function.parameters[parameter]
    return _Dimension(index, rows, dirty, signed(1 << bit), context.memory.reserve(rows))


class _Memoised:
    """Replaces a function by three: the lookup, the filling of an entry, and the original computation."""

    def __init__(self, table: Table, dimension: _Dimension | None, context: Context) -> None:
        self.function, self.memo, self.dimension = table.function, table.memo, dimension
        self.rep: ops.Rep = table.function.result or "i32"
        self.is_single = dimension is not None and table.entries == dimension.rows
        """True if each entry has a dirty bit of its own."""
        self.entries = context.memory.reserve_long(table.entries)
        self.kept = context.memory.reserve(table.entries * self.memo.words)
        self.stamp: ops.Value = ONE if dimension is None else dimension.generation
        """The stamp of a valid entry."""

    def functions(self) -> Iterator[ops.Function]:
        function = self.function
        yield replace(function, body=tuple(self._look()), about=f"{function.about}, memoised")
        name, about = f"{function.name}.fill", f"fills an entry: {function.about}"
        yield ops.Function(name, (*function.parameters, AT), function.result, tuple(self._fill()), about, rare=True)
        charge, *body = function.body  # the charge is that of filling
        assert isinstance(charge, ops.Charge)
        yield replace(function, name=f"{function.name}.work", body=tuple(body), memo=None)

    def _look(self) -> Iterator[ops.Statement]:
        yield ops.Set(AT, self._place())
        miss = ops.Call(f"{self.function.name}.fill", (*self.function.parameters, AT), self.rep)
        yield ops.Return(ops.Select(self._is_valid(), ops.read(AT, self.entries + WORD, self.rep), miss))

    def _place(self) -> ops.Value:
        index: ops.Value = ZERO
        for key, value in zip(self.memo.keys, self.function.parameters, strict=True):
            shifted = value - key.least
            index = shifted if index == ZERO else index * key.extent + shifted
        return index * ENTRY

    def _is_valid(self) -> ops.Value:
        tests = [] if self.is_single else [ops.Load(AT, self.entries).equals(self.stamp)]
        if self.dimension is not None:
            tests.append((self.dimension.marks & self.dimension.bit).equals(0))
        return reduce(operator.and_, tests)

    def _fill(self) -> Iterator[ops.Statement]:
        yield ops.Charge(ops.Constant(4))
        dimension = self.dimension
        if dimension is not None and not self.is_single:
            yield ops.If((dimension.marks & dimension.bit).differs(0), tuple(dimension.renew()))
        mark, answer = ops.Var("mark", "i32"), ops.Var("answer", self.rep)
        if self.memo.words:
            yield ops.Set(mark, ops.Global("arena"))
        yield ops.Set(answer, ops.Call(f"{self.function.name}.work", self.function.parameters, self.rep))
        if self.memo.words:
            yield from self._kept(answer)
            yield ops.Set(ops.Global("arena"), mark)
        word: ops.Value = answer
        if self.rep == "i64":
            word = ops.ToIndex(word)
            yield ops.If(ops.ToNumber(word).differs(answer), (ops.Return(answer),))
        yield ops.Store(AT, self.entries + WORD, word)
        yield dimension.clear() if dimension is not None and self.is_single else ops.Store(AT, self.entries, self.stamp)
        yield ops.Return(answer)

    def _kept(self, answer: ops.Var) -> Iterator[ops.Statement]:
        """Copy the result to the table. A list that is too long for it is returned as it is, and not stored."""
        place, words = ops.Var("place", "i32"), self.memo.words
        length = ops.Load(answer) + 1 if self.memo.listed else ops.Constant(words)
        too_long = (ops.If(length > words, (ops.Return(answer),)),) if self.memo.listed else ()
        number = AT >> (ENTRY.bit_length() - 1)
        copy = (
            ops.Set(place, number * (words * WORD) + self.kept),
            ops.CopyWords(place, answer, length),
            ops.Set(answer, place),
        )
        yield ops.If(answer, (*too_long, *copy))
