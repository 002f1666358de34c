"""Memoise: functions of few arguments keep their answers in tables, as long as no cell changes that they read.

A table has an entry for each combination of arguments: a *stamp* and the answer (for numbers that are not bounded, a
few entries with the arguments in them, found by hashing). An entry is valid if its stamp is the *generation* of its row
of the table. A change of a cell sets the *dirty* bit of each function that reads it; the next call of such a function
clears the bit and takes up a new generation. A function that reads no cell keeps its answers for ever.

Where the cells that a function reads belong to the seat that it is asked about, it has a generation and a dirty bit for
each seat, and a change of a cell of one seat leaves what is known of the others.

A list, bag or flat record lies in the table, and the answer is its address: it stays as it is until a cell changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.cost import RECURSIVE, cost_of, cost_of_runtime
from interpreter.compiler.ir.effects import ANYONE, Reads, reads
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions, Touched

__all__ = ["memoise"]

LEAST_COST = 60
"""A look into a table costs about a third of this."""
KEPT_COST = 12
MOST_ENTRIES = 4096
MOST_WORDS = 64 * 1024
HASHED = 16
"""The entries for all values of arguments that are not bounded, for each combination of the others."""
MOST_FUNCTIONS = 64
LONG = 8
ZERO, ONE = o.Constant(0), o.Constant(1)
AT = o.Var("entry", "i32")


@dataclass(frozen=True, slots=True)
class Table:
    """The table of one function: ``row`` is the parameter that says which row, ``bit`` its dirty bit (none: it reads no
    cell), ``generations`` the address of a word for each row."""

    function: o.Function
    memo: o.Memo
    reads: Reads
    row: int | None
    entries: int
    hashed: bool

    @property
    def entry(self) -> int:
        """The words of an entry: the stamp, the answer, the arguments that are hashed; a power of two."""
        size = 2 + sum(not key.extent for key in self.memo.keys)
        return 1 << (size - 1).bit_length()


def memoise(functions: Functions, context: Context) -> Functions:
    """Functions that cost more than a look into a table get one."""
    found = dict(functions)
    known = reads(functions, context.cells)
    chosen = _chosen(functions, context, known)
    rows = _limited(table for table in chosen if table.reads and table.row is not None)
    alone = _limited(table for table in chosen if table.reads and table.row is None)
    context.dirty = context.memory.reserve_long(context.seats + 1)
    bits: dict[str, int | None] = {table.function.name: None for table in chosen if not table.reads}
    for tables in (rows, alone):
        for bit, table in enumerate(tables):
            bits[table.function.name] = bit
    context.touched = {group: _touched(group, rows, alone) for group in context.cells.groups}
    for table in chosen:
        name = table.function.name
        if name in bits:
            for function in _Builder(table, bits[name], context).functions():
                found[function.name] = function

    def change(op: object) -> object:
        return tuple(_marks(op, context)) if isinstance(op, o.Touch) else op

    for name, function in found.items():
        if any(isinstance(op, o.Touch) for op in inner(function.body)):
            found[name] = replace(function, body=rewritten(function.body, change))
    return found


# --- which functions


def _chosen(functions: Functions, context: Context, known: dict[str, Reads]) -> list[Table]:
    """Tables for what pays, callees first: a call of what keeps its answers is cheap."""
    called = _call_counts(functions)
    found: list[Table] = []
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
            found.append(table)
            costs[name] = KEPT_COST
    return found


def _table(function: o.Function, memo: o.Memo, known: Reads, context: Context) -> Table | None:
    entries, hashed = 1, False
    for key in memo.keys:
        entries *= key.extent or 1
        hashed = hashed or not key.extent
    if hashed:
        entries *= HASHED
    if entries > MOST_ENTRIES or entries * memo.words > MOST_WORDS or (hashed and memo.words):
        return None
    seats = [number for number, key in enumerate(memo.keys) if key.is_seat]
    row = max(seats, key=lambda seat: sum(seat in aligned for aligned in known.values()), default=None)
    if row is not None and not any(row in aligned for aligned in known.values()):
        row = None
    return Table(function, memo, known, row, entries, hashed)


def _limited(tables: Iterator[Table]) -> list[Table]:
    return list(tables)[:MOST_FUNCTIONS]


def _call_counts(functions: Functions) -> dict[str, int]:
    found: dict[str, int] = {}
    for function in functions.values():
        for op in inner(function.body):
            if isinstance(op, o.Call):
                found[op.function] = found.get(op.function, 0) + 1
    return found


def _callees_first(functions: Functions) -> list[str]:
    called = {name: _called(function) for name, function in functions.items()}
    found: dict[str, None] = {}

    def visit(name: str, open_: frozenset[str]) -> None:
        if name in found or name in open_ or name not in called:
            return
        for each in called[name]:
            visit(each, open_ | {name})
        found[name] = None

    for name in functions:
        visit(name, frozenset())
    return list(found)


def _called(function: o.Function) -> list[str]:
    return list(dict.fromkeys(op.function for op in inner(function.body) if isinstance(op, o.Call)))


# --- changes


def _touched(group: str, rows: list[Table], alone: list[Table]) -> Touched:
    found = Touched()
    for bit, table in enumerate(alone):
        if _reads(table, group) is not None:
            found.alone |= 1 << bit
    for bit, table in enumerate(rows):
        aligned = _reads(table, group)
        if aligned is None:
            continue
        if table.row in aligned:
            found.own_row |= 1 << bit
        else:
            found.all_rows |= 1 << bit
    return found


def _reads(table: Table, group: str) -> frozenset[int] | None:
    return ANYONE if "?" in table.reads else table.reads.get(group)


def _marks(op: o.Touch, context: Context) -> Iterator[o.Statement]:
    """The statements that set dirty bits where a cell changes."""
    touched, dirty = context.touched[op.group], context.dirty
    everywhere, own = touched.all_rows, touched.own_row
    if op.owner is None or op.group not in context.cells.of_seats:
        everywhere, own = everywhere | own, 0
    if touched.alone:
        yield _mark(ZERO, dirty + LONG * context.seats, touched.alone)
    if everywhere:
        for seat in range(context.seats):
            yield _mark(ZERO, dirty + LONG * seat, everywhere)
    if own and op.owner is not None:
        if isinstance(op.owner, o.Constant):
            yield _mark(ZERO, dirty + LONG * op.owner.value, own)
        else:
            yield _mark(o.Binary("shl", op.owner, o.Constant(3)), dirty, own)


def _mark(address: o.Value, offset: int, mask: int) -> o.Statement:
    return o.StoreLong(address, offset, o.Binary("or", o.LoadLong(address, offset), _long(mask)))


def _long(mask: int) -> o.Constant:
    return o.Constant(mask - 2**64 if mask >= 2**63 else mask, "i64")


# --- functions with a table


class _Builder:
    """Three functions for one: the look into the table, what fills an entry, and what works the answer out."""

    def __init__(self, table: Table, bit: int | None, context: Context) -> None:
        self.table, self.memo, self.context = table, table.memo, context
        self.function, self.given = table.function, tuple(o.Get(var) for var in table.function.parameters)
        memory = context.memory
        self.generations = memory.reserve(context.seats if table.row is not None else 1) if bit is not None else 0
        self.entries = memory.reserve_long((table.entries * table.entry + 1) // 2)
        self.kept = memory.reserve(table.entries * self.memo.words)
        row = self.given[table.row] if table.row is not None and bit is not None else None
        self.row = o.Binary("shl", row, o.Constant(2)) if row is not None else ZERO
        if row is not None:
            self.dirty: tuple[o.Value, int] = (o.Binary("shl", row, o.Constant(3)), context.dirty)
        else:
            self.dirty = (ZERO, context.dirty + LONG * context.seats)
        self.bit = _long(1 << bit) if bit is not None else None

    def functions(self) -> Iterator[o.Function]:
        function = self.function
        yield replace(function, body=tuple(self._look()), memo=None, about=f"{function.about}, kept")
        name, about = f"{function.name}.fill", f"fills an entry: {function.about}"
        yield o.Function(name, (*function.parameters, AT), function.result, tuple(self._fill()), about, rare=True)
        yield replace(function, name=f"{function.name}.work", memo=None)

    def _look(self) -> Iterator[o.Statement]:
        yield o.Set(AT, self._place())
        hit = o.Load(o.Get(AT), WORD, self.function.result or "i32")
        miss = o.Call(f"{self.function.name}.fill", (*self.given, o.Get(AT)), self.function.result or "i32")
        yield o.Return(o.Select(self._is_valid(), hit, miss))

    def _place(self) -> o.Value:
        """The address of the entry."""
        index: o.Value = ZERO
        hashed: o.Value | None = None
        for key, value in zip(self.memo.keys, self.given, strict=True):
            if not key.extent:
                word = o.ToIndex(value) if value.rep == "i64" else value
                hashed = word if hashed is None else _sum(_times(hashed, 5), word)
                continue
            shifted = _sum(value, o.Constant(-key.least))
            index = shifted if index == ZERO else _sum(_times(index, key.extent), shifted)
        if hashed is not None:
            index = _sum(_times(index, HASHED), o.Binary("and", hashed, o.Constant(HASHED - 1)))
        return _sum(_times(index, self.table.entry * WORD), o.Constant(self.entries))

    def _is_valid(self) -> o.Value:
        stamp = o.Load(o.Get(AT))
        if self.bit is None:
            found: o.Value = o.Compare("ne", stamp, ZERO)
        else:
            found = o.Compare("eq", stamp, o.Load(self.row, self.generations))
        place = 2
        for value in self._hashed():
            same = o.Compare("eq", o.Load(o.Get(AT), place * WORD, value.rep), value)
            found, place = o.Binary("and", found, same), place + 1
        if self.bit is not None:
            clean = o.Compare("eq", o.Binary("and", o.LoadLong(*self.dirty), self.bit), o.Constant(0, "i64"))
            found = o.Binary("and", found, clean)
        return found

    def _fill(self) -> Iterator[o.Statement]:
        yield o.Charge(o.Constant(4))
        answer, rep = o.Var("answer", self.function.result or "i32"), self.function.result or "i32"
        if self.bit is not None:
            address, offset = self.dirty
            rest = o.Binary("and", o.LoadLong(address, offset), o.Constant(~self.bit.value, "i64"))
            more = o.Binary("add", o.Load(self.row, self.generations), ONE)
            marked = o.Binary("and", o.LoadLong(address, offset), self.bit)
            renewed = (
                o.If(o.Not(more), (o.Fail("no generation is left"),)),
                o.StoreLong(address, offset, rest),
                o.Store(self.row, self.generations, more),
            )
            yield o.If(o.Compare("ne", marked, o.Constant(0, "i64")), renewed)
        mark = o.Var("mark", "i32")
        if self.memo.words:
            yield o.Set(mark, o.Global("arena"))
        yield o.Set(answer, o.Call(f"{self.function.name}.work", self.given, rep))
        if self.memo.words:
            yield from self._kept(answer)
            yield o.SetGlobal("arena", o.Get(mark))
        words = [o.Get(answer), *self._hashed()]
        for value in words:
            if value.rep == "i64":
                yield o.If(o.Compare("ne", o.ToNumber(o.ToIndex(value)), value), (o.Return(o.Get(answer)),))
        for place, value in enumerate(words, start=1):
            yield o.Store(o.Get(AT), place * WORD, o.ToIndex(value) if value.rep == "i64" else value)
        yield o.Store(o.Get(AT), 0, o.Load(self.row, self.generations) if self.bit is not None else ONE)
        yield o.Return(o.Get(answer))

    def _hashed(self) -> Iterator[o.Get]:
        """The arguments that are not bounded."""
        for key, value in zip(self.memo.keys, self.given, strict=True):
            if not key.extent:
                yield value

    def _kept(self, answer: o.Var) -> Iterator[o.Statement]:
        """The answer becomes a copy in the table; one that has no room is given as it is."""
        words: o.Value = o.Constant(self.memo.words)
        statements: list[o.Statement] = []
        place = o.Var("place", "i32")
        if self.memo.listed:
            words = _sum(o.Load(o.Get(answer)), ONE)
            statements.append(o.If(o.Compare("gt", words, o.Constant(self.memo.words)), (o.Return(o.Get(answer)),)))
        number = o.Binary("sub", o.Get(AT), o.Constant(self.entries))
        number = o.Binary("shr", number, o.Constant((self.table.entry * WORD).bit_length() - 1))
        statements += [
            o.Set(place, _sum(_times(number, self.memo.words * WORD), o.Constant(self.kept))),
            o.CopyWords(o.Get(place), o.Get(answer), words),
            o.Set(answer, o.Get(place)),
        ]
        yield o.If(o.Get(answer), tuple(statements))


def _sum(left: o.Value, right: o.Value) -> o.Value:
    if isinstance(left, o.Constant) and isinstance(right, o.Constant):
        return o.Constant(left.value + right.value)
    return left if right == ZERO else right if left == ZERO else o.Binary("add", left, right)


def _times(value: o.Value, number: int) -> o.Value:
    if isinstance(value, o.Constant):
        return o.Constant(value.value * number)
    return value if number == 1 else o.Binary("mul", value, o.Constant(number))
