"""Memoisation: functions of few arguments store results in tables, which are valid until a cell that they read changes.

A table has an entry for each combination of arguments: a *stamp* and the result. An entry is valid if its stamp is the
*generation* of its row of the table. A change of a cell sets the *dirty* bit of each function that reads it; the next
call of such a function clears the bit and increments the generation. Results of a function that reads no cell stay
valid for ever.

If the cells that a function reads belong to the seat in an argument, it has a generation and a dirty bit for each seat,
and a change of one seat's cell keeps the results for the others. If they are parts of an argument, as places are of a
node, it has a generation for each node, and one more for the other cells that it reads: the stamp is the sum of both,
which grows with each of them. A table with one entry for each dirty bit needs no stamps: an entry is valid if its bit
is clear.

A list, bag or flat record is stored in the table, and the result is its address: it stays unchanged until a cell
changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.cost import RECURSIVE, cost_of, cost_of_runtime
from interpreter.compiler.ir.effect_analysis import ANYONE, Reads, reads
from interpreter.compiler.ir.rewrite import inner, rewritten
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


@dataclass(frozen=True, slots=True)
class Table:
    """The memo table of one function: ``row`` is the parameter that selects a row by seat, ``part`` the one whose parts
    are the cells that it reads."""

    function: ops.Function
    memo: ops.Memo
    reads: Reads
    row: int | None
    part: int | None
    entries: int


def memoise(functions: Functions, context: Context) -> Functions:
    """Give a memo table to each function that costs more than a lookup."""
    result = dict(functions)
    all_reads = reads(functions, context.cells)
    chosen = _chosen(functions, context, all_reads)
    rows = _limited(table for table in chosen if table.reads and table.row is not None)
    alone = _limited(table for table in chosen if table.reads and table.row is None)
    parts = [table for table in alone if table.part is not None]
    context.dirty = context.memory.reserve_long(context.seats + 1)
    context.dirty_parts = context.memory.reserve_long(context.wholes)
    context.touched = {group: _touched(group, rows, alone, parts) for group in context.cells.groups}
    for table in chosen:
        dimensions = []
        if table in rows:
            dimensions.append(_Dimension(table.row, context.dirty, rows.index(table), context.seats, context))
        if table in alone:
            last = context.dirty + LONG * context.seats
            dimensions.append(_Dimension(None, last, alone.index(table), 1, context))
        if table in parts:
            dimensions.append(_Dimension(table.part, context.dirty_parts, parts.index(table), context.wholes, context))
        if dimensions or not table.reads:
            for function in _Builder(table, dimensions, context).functions():
                result[function.name] = function

    def change(op: object) -> object:
        return tuple(_marks(op, context)) if isinstance(op, ops.Touch) else op

    for name, function in result.items():
        if any(isinstance(op, ops.Touch) for op in inner(function.body)):
            result[name] = replace(function, body=rewritten(function.body, change))
    return result


# --- selection


def _chosen(functions: Functions, context: Context, known: dict[str, Reads]) -> list[Table]:
    """Return the tables that pay, callees first, since a call of a memoised function is cheap."""
    called = _call_counts(functions)
    tables: list[Table] = []
    costs: dict[str, int] = {}
    for name in _callees_first(functions):
        function = functions[name]
        cost = costs[name] = cost_of(
            function.body,
            lambda callee: costs.get(callee, RECURSIVE if callee in functions else cost_of_runtime(callee)),
        )
        if function.memo is None or not called.get(name):
            continue
        if cost < LEAST_COST:
            continue
        table = _table(function, function.memo, known[name], context)
        if table is not None:
            tables.append(table)
            costs[name] = KEPT_COST
    return tables


def _table(function: ops.Function, memo: ops.Memo, known: Reads, context: Context) -> Table | None:
    entries = prod(key.extent for key in memo.keys)
    if not 0 < entries <= MOST_ENTRIES or entries * memo.words > MOST_WORDS:
        return None
    seats = [number for number, key in enumerate(memo.keys) if key.is_seat]
    row = max(seats, key=lambda seat: sum(seat in aligned for aligned in known.values()), default=None)
    if row is not None and not any(row in aligned for aligned in known.values()):
        row = None
    part = None
    if row is None:
        part = next(
            (number for number in range(len(memo.keys)) if any(~number in aligned for aligned in known.values())), None
        )
    return Table(function, memo, known, row, part, entries)


def _limited(tables: Iterator[Table]) -> list[Table]:
    return list(tables)[:MOST_FUNCTIONS]


def _call_counts(functions: Functions) -> dict[str, int]:
    counts: dict[str, int] = {}
    for function in functions.values():
        for op in inner(function.body):
            if isinstance(op, ops.Call):
                counts[op.function] = counts.get(op.function, 0) + 1
    return counts


def _callees_first(functions: Functions) -> list[str]:
    called = {name: _called(function) for name, function in functions.items()}
    order: dict[str, None] = {}

    def visit(name: str, open_: frozenset[str]) -> None:
        if name in order or name in open_ or name not in called:
            return
        for callee in called[name]:
            visit(callee, open_ | {name})
        order[name] = None

    for name in functions:
        visit(name, frozenset())
    return list(order)


def _called(function: ops.Function) -> list[str]:
    return list(dict.fromkeys(op.function for op in inner(function.body) if isinstance(op, ops.Call)))


# --- changes


def _touched(group: str, rows: list[Table], alone: list[Table], parts: list[Table]) -> Touched:
    bits = Touched()
    for bit, table in enumerate(alone):
        aligned = _reads(table, group)
        if aligned is not None and (table.part is None or ~table.part not in aligned):
            bits.alone |= 1 << bit
    for bit, table in enumerate(parts):
        if table.part is not None and ~table.part in (_reads(table, group) or ()):
            bits.whole |= 1 << bit
    for bit, table in enumerate(rows):
        aligned = _reads(table, group)
        if aligned is None:
            continue
        if table.row in aligned:
            bits.own_row |= 1 << bit
        else:
            bits.all_rows |= 1 << bit
    return bits


def _reads(table: Table, group: str) -> frozenset[int] | None:
    return ANYONE if "?" in table.reads else table.reads.get(group)


def _marks(op: ops.Touch, context: Context) -> Iterator[ops.Statement]:
    """Yield the statements that set dirty bits when a cell changes."""
    touched, dirty = context.touched[op.group], context.dirty
    everywhere, own = touched.all_rows, touched.own_row
    if op.owner is None or op.group not in context.cells.of_seats:
        everywhere, own = everywhere | own, 0
    if touched.alone:
        yield _mark(ZERO, dirty + LONG * context.seats, touched.alone)
    if everywhere:
        for seat in range(context.seats):
            yield _mark(ZERO, dirty + LONG * seat, everywhere)
    for whole in range(context.wholes if touched.whole else 0):
        yield _mark(ZERO, context.dirty_parts + LONG * whole, touched.whole)
    if own and op.owner is not None:
        if isinstance(op.owner, ops.Constant):
            yield _mark(ZERO, dirty + LONG * op.owner.value, own)
        else:
            yield _mark(ops.Binary("shl", op.owner, ops.Constant(3)), dirty, own)


def _mark(address: ops.Value, offset: int, mask: int) -> ops.Statement:
    return ops.StoreLong(address, offset, ops.Binary("or", ops.LoadLong(address, offset), _long(mask)))


def _long(mask: int) -> ops.Constant:
    return ops.Constant(mask - 2**64 if mask >= 2**63 else mask, "i64")


# --- memoised functions


class _Dimension:
    """Invalidation unit of a memo table: a dirty bit and a generation, or one for each value of a parameter."""

    def __init__(self, row: int | None, dirty: int, bit: int, rows: int, context: Context) -> None:
        self.row, self.dirty, self.bit = row, dirty, _long(1 << bit)
        self.rows, self.generations = rows, context.memory.reserve(rows)

    def generation(self, arguments: tuple[ops.Get, ...]) -> tuple[ops.Value, int]:
        return _scaled(arguments, self.row, 2), self.generations

    def marks(self, arguments: tuple[ops.Get, ...]) -> tuple[ops.Value, int]:
        """Return the address of the dirty bits."""
        return _scaled(arguments, self.row, 3), self.dirty


def _clear(dimension: _Dimension, arguments: tuple[ops.Get, ...]) -> ops.Statement:
    address, offset = dimension.marks(arguments)
    rest = ops.Binary("and", ops.LoadLong(address, offset), ops.Constant(~dimension.bit.value, "i64"))
    return ops.StoreLong(address, offset, rest)


def _scaled(arguments: tuple[ops.Get, ...], row: int | None, power: int) -> ops.Value:
    return ZERO if row is None else ops.Binary("shl", arguments[row], ops.Constant(power))


class _Builder:
    """Replaces a function by three: the lookup, the filling of an entry, and the original computation."""

    def __init__(self, table: Table, dimensions: list[_Dimension], context: Context) -> None:
        self.table, self.memo, self.dimensions = table, table.memo, dimensions
        self.function, self.arguments = table.function, tuple(ops.Get(var) for var in table.function.parameters)
        memory = context.memory
        self.is_single = len(dimensions) == 1 and table.entries == dimensions[0].rows
        """True if each entry has a dirty bit of its own."""
        self.entries = memory.reserve_long(table.entries)
        self.kept = memory.reserve(table.entries * self.memo.words)

    @property
    def stamp(self) -> ops.Value:
        """The stamp of a valid entry."""
        stamp: ops.Value = ZERO
        for dimension in self.dimensions:
            stamp = _sum(stamp, ops.Load(*dimension.generation(self.arguments)))
        return ONE if stamp == ZERO else stamp

    def functions(self) -> Iterator[ops.Function]:
        function = self.function
        yield replace(function, body=tuple(self._look()), about=f"{function.about}, memoised")
        name, about = f"{function.name}.fill", f"fills an entry: {function.about}"
        yield ops.Function(name, (*function.parameters, AT), function.result, tuple(self._fill()), about, rare=True)
        yield replace(function, name=f"{function.name}.work", memo=None)

    def _look(self) -> Iterator[ops.Statement]:
        yield ops.Set(AT, self._place())
        hit = ops.Load(ops.Get(AT), WORD, self.function.result or "i32")
        miss = ops.Call(f"{self.function.name}.fill", (*self.arguments, ops.Get(AT)), self.function.result or "i32")
        yield ops.Return(ops.Select(self._is_valid(), hit, miss))

    def _place(self) -> ops.Value:
        """Return the address of the entry."""
        index: ops.Value = ZERO
        for key, value in zip(self.memo.keys, self.arguments, strict=True):
            shifted = _sum(value, ops.Constant(-key.least))
            index = shifted if index == ZERO else _sum(_times(index, key.extent), shifted)
        return _sum(_times(index, ENTRY), ops.Constant(self.entries))

    def _is_valid(self) -> ops.Value:
        is_valid: ops.Value = ONE
        if not self.is_single:
            is_valid = ops.Compare("eq", ops.Load(ops.Get(AT)), self.stamp)
        for dimension in self.dimensions:
            marked = ops.Binary("and", ops.LoadLong(*dimension.marks(self.arguments)), dimension.bit)
            is_clear = ops.Compare("eq", marked, ops.Constant(0, "i64"))
            is_valid = is_clear if is_valid == ONE else ops.Binary("and", is_valid, is_clear)
        return is_valid

    def _fill(self) -> Iterator[ops.Statement]:
        yield ops.Charge(ops.Constant(4))
        answer, rep = ops.Var("answer", self.function.result or "i32"), self.function.result or "i32"
        for dimension in () if self.is_single else self.dimensions:
            address, offset = dimension.marks(self.arguments)
            row_address, first = dimension.generation(self.arguments)
            more = ops.Binary("add", ops.Load(row_address, first), ONE)
            renewed = (
                ops.If(ops.Compare("lt", more, ZERO), (ops.Fail("no generation is left"),)),
                _clear(dimension, self.arguments),
                ops.Store(row_address, first, more),
            )
            marked = ops.Binary("and", ops.LoadLong(address, offset), dimension.bit)
            yield ops.If(ops.Compare("ne", marked, ops.Constant(0, "i64")), renewed)
        mark = ops.Var("mark", "i32")
        if self.memo.words:
            yield ops.Set(mark, ops.Global("arena"))
        yield ops.Set(answer, ops.Call(f"{self.function.name}.work", self.arguments, rep))
        if self.memo.words:
            yield from self._kept(answer)
            yield ops.SetGlobal("arena", ops.Get(mark))
        word: ops.Value = ops.Get(answer)
        if rep == "i64":
            word = ops.ToIndex(word)
            yield ops.If(ops.Compare("ne", ops.ToNumber(word), ops.Get(answer)), (ops.Return(ops.Get(answer)),))
        yield ops.Store(ops.Get(AT), WORD, word)
        yield _clear(self.dimensions[0], self.arguments) if self.is_single else ops.Store(ops.Get(AT), 0, self.stamp)
        yield ops.Return(ops.Get(answer))

    def _kept(self, answer: ops.Var) -> Iterator[ops.Statement]:
        """Copy the result to the table. A list that is too long for it is returned as it is, and not stored."""
        words: ops.Value = ops.Constant(self.memo.words)
        statements: list[ops.Statement] = []
        place = ops.Var("place", "i32")
        if self.memo.listed:
            words = _sum(ops.Load(ops.Get(answer)), ONE)
            statements.append(
                ops.If(ops.Compare("gt", words, ops.Constant(self.memo.words)), (ops.Return(ops.Get(answer)),))
            )
        number = ops.Binary("sub", ops.Get(AT), ops.Constant(self.entries))
        number = ops.Binary("shr", number, ops.Constant(ENTRY.bit_length() - 1))
        statements += [
            ops.Set(place, _sum(_times(number, self.memo.words * WORD), ops.Constant(self.kept))),
            ops.CopyWords(ops.Get(place), ops.Get(answer), words),
            ops.Set(answer, ops.Get(place)),
        ]
        yield ops.If(ops.Get(answer), tuple(statements))


def _sum(left: ops.Value, right: ops.Value) -> ops.Value:
    if isinstance(left, ops.Constant) and isinstance(right, ops.Constant):
        return ops.Constant(left.value + right.value)
    return left if right == ZERO else right if left == ZERO else ops.Binary("add", left, right)


def _times(value: ops.Value, number: int) -> ops.Value:
    if isinstance(value, ops.Constant):
        return ops.Constant(value.value * number)
    return value if number == 1 else ops.Binary("mul", value, ops.Constant(number))
