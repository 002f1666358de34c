"""Rows and short lists follow the cells: what a change of a cell brings up to date in the lists that a state keeps.

These lists are always current, so whoever reads one only looks it up. For each group of cells that rows read there is a
function that is called when one of them has changed. Where the change can matter it works the few places out again that
depend on the cell, in the order in which one list is worked out of another; where that would be dear it drops the list.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpreter.compiler.fast.letters import FOLLOWS
from interpreter.compiler.fast.quote import Quote
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.terms import in_place
from interpreter.compiler.fast.writer import Writer

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Row", "emptied", "follower"]

MOST_KEYS = 20
"""A row that is kept for more combinations of what it is given is dropped: there are no more seats."""
MOST_AT_A_CHANGE = 4_000
"""In units: a row is dropped where a change of one cell would make more work in it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is kept as a list in a cache of the state: a row, or a short list.

    ``at``: the local that tells one of its places, and ``given`` those that it is kept by. ``change``: what brings that
    place of ``values`` up to date; nothing where more is read for it than cells and other rows. ``dear``: what that
    costs. ``part``: the part of it in which alone it reads a cell; with ``asks`` a place only tells whether that holds
    for any cell. ``short``: it is a short list, which gets longer where a place enters it and shorter where one leaves.
    """

    number: int
    at: str
    given: list[str]
    change: Block | None
    dear: Callable[[], int]
    part: ast.expr | None = None
    asks: bool = False
    short: bool = False


def follower(emitter: Emitter, group: str) -> str:
    """A function that is given a cell of a group that has changed: rows that read it follow."""
    name = emitter.named(FOLLOWS, group)
    layout, first = emitter.constants.layout, emitter.constants.layout.base[group]
    writer = _Follower(emitter, range(first, first + layout.count(group)))
    for row in emitter.functions.rows.values():
        writer.add(row)
    emitter.add(next(iter(emitter.done.modules)), writer.function(name))
    return name


def emptied(quote: Quote, number: int, single: Collection[int]) -> Block:
    """A cache that has no answers any longer."""
    return quote.statements("M[_0] = NOTHING" if number in single else "M[_0] = {}", quote.constant(number))


class _Follower(Writer):
    """Goes through the rows, of which each stands behind those that it is worked out of.

    All is worked out of cells and of rows that are there. Where that cannot be, because a row is not there or another
    cell of the same effect is yet to change, all rows of the group are dropped.
    """

    def __init__(self, emitter: Emitter, cells: range) -> None:
        super().__init__(emitter)
        self.cells = cells
        self.body: Block = []
        self.head: Block = []
        """What depends on the cell alone: the places that it can change."""
        self.tables: dict[str, str] = {}
        self.told: tuple[str, Block] = ("", [])
        """The loop that was written last, and what tells its keys, where it is about the rows that a value is in."""
        self.single: dict[int, str] = {}
        """The names of rows that are kept once."""
        self.numbers: list[int] = []
        self.dropped: set[int] = set()

    def add(self, row: Row) -> None:
        q = self.quote
        places = self.emitter.done.rows[row.number]
        if not any(cell in places for cell in self.cells):
            return
        through = self.emitter.functions.through.get(row.number, [])
        self.numbers += [row.number, *through]
        told = _told_by(row)
        change = self._change(row, 2 if told is not None else MOST_KEYS if row.given else 1)
        rows, values = q.expression("M[_0]", q.constant(row.number)), q.name(f"row_{row.number}")
        if change is None:
            self.dropped.add(row.number)
        if told is not None:
            self._by_value(row, change, self._loop_of(told), through)
            return
        if change is None:
            self.body.extend(self._drop([row.number, *through]))
        elif not row.given:
            self.single[row.number] = values.id
            text = "_0 = _1\nif _0 is not NOTHING:\n    change"
            self.body.extend(q.statements(text, values, rows, change=change))
        else:
            change = [*self._unpacked(row.given), *self._where_it_matters(row, change)]
            text = "gone\nif len(_1) > _2:\n    drop\nfor key, _0 in _1.items():\n    change"
            gone, drop = self._drop(through), self._drop([row.number])
            written = q.statements(text, values, rows, q.constant(MOST_KEYS), gone=gone, drop=drop, change=change)
            _is_so_long(written[-1], MOST_KEYS)
            self.body.extend(written)
        self.told = ("", [])

    def _by_value(self, row: Row, change: Block | None, loop: Block, through: list[int]) -> None:
        """What becomes of a row that a value was in, or is in now; where it is now, the row's part holds."""
        q = self.quote
        values, rows = q.name(f"row_{row.number}"), q.expression("M[_0]", q.constant(row.number))
        copied = self.emitter.functions.copies.get(row.number) if change is not None else None
        further = self._further(row, through) if copied is not None and row.short else {}
        if change is None:
            loop.extend(q.statements("_0.pop(key, None)", rows))
        else:
            for node in (node for statement in change for node in ast.walk(statement)):
                if row.asks and isinstance(node, ast.Assign):
                    node.value = q.expression("value is new or _0", node.value)
            if further:
                change = [*q.statements("before = len(_0)", values), *change]
            loop.extend(q.statements("_0 = _1.get(key)\nif _0 is not None:\n    change", values, rows, change=change))
        none: Block = []
        changed: Block = []
        for number in through:  # these may be kept where the row is not
            cache = q.expression("M[_0]", q.constant(number))
            gone = q.statements("_0.pop(key, None)", cache)
            if number == copied:
                none.extend(gone)
                changed.extend(q.statements("_0[key] = tuple(_1)", cache, values))
            elif number in further:
                text = "found = _0.pop(key, None)\nif found is not None and 0 < before < len(_1):\n    _0[key] = _2"
                none.extend(gone)
                changed.extend(q.statements(text, cache, values, further[number]))
            else:
                loop.extend(gone)
        if none:
            otherwise = "elif before != len(_0)" if further else "else"
            text = f"if _0 is None:\n    none\n{otherwise}:\n    changed"
            loop.extend(q.statements(text, values, none=none, changed=changed))

    def _further(self, row: Row, through: list[int]) -> dict[int, ast.expr]:
        """For caches of distances from the nodes of a row: what they are where one node more has entered the row.

        It is worked out of those that were ``found``. Where a short list is longer than ``before``, the only place that
        the cell can change has entered it; where it is as long, it is the same.
        """
        q, with_start = self.quote, self.emitter.functions.with_start
        at, alone = self._place(self._several(row))
        if not alone or self.emitter.sizes.search > MOST_AT_A_CHANGE:
            return {}
        given = [q.name("found"), q.name(at)]
        return {
            number: q.call(name, [*given, *copy.deepcopy(others)])
            for number in through
            if number in with_start
            for name, others in [with_start[number]]
        }

    def function(self, name: str) -> ast.FunctionDef:
        text = "try:\n    head\n    body\nexcept ANY_FAILURE:\n    drop"
        body = self.quote.statements(text, head=self.head, body=self.body, drop=self._drop(self.numbers))
        return self.quote.function(name, ["S", "M", "cell", "old", "new"], body)

    def _drop(self, numbers: list[int]) -> Block:
        return [each for number in numbers for each in emptied(self.quote, number, self.emitter.single)]

    def _loop_of(self, told: ast.expr) -> Block:
        """What is done with the rows, by their ``key``, that the value of a cell was in or is in now."""
        if self.told[0] != ast.dump(told):
            text = "for value in (old, new):\n    if value is not None:\n        key = _0"
            (loop,) = self.quote.statements(text, told)
            assert isinstance(loop, ast.For)
            assert isinstance(loop.body[0], ast.If)
            self.body.append(loop)
            self.told = ast.dump(told), loop.body[0].body
        return self.told[1]

    def _where_it_matters(self, row: Row, change: Block) -> Block:
        if row.part is None:
            return change
        q = self.quote
        before, after = (in_place(row.part, {"value": q.name(word), **self._by_key(row)}) for word in ("old", "new"))
        return q.statements("if _0 != _1:\n    change", before, after, change=change)

    def _by_key(self, row: Row) -> dict[str, ast.expr]:
        return {row.given[0]: self.quote.name("key")} if len(row.given) == 1 else {}

    def _unpacked(self, given: list[str]) -> Block:
        """The locals that a row is given, where they are together its key."""
        q = self.quote
        if len(given) < 2:
            return []
        targets: list[ast.expr] = [q.store(name) for name in given]
        return [q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("key")))]

    def _change(self, row: Row, keys: int) -> Block | None:
        """What brings a row up to date at all places that a cell can change; nothing where it is better dropped."""
        q, rows = self.quote, self.emitter.functions.rows
        several = self._several(row)
        most = max(map(len, several))
        if row.change is None or most * keys * row.dear() > MOST_AT_A_CHANGE:
            return None
        lookups = _LookUps(self, rows)
        change = [lookups.visit(copy.deepcopy(statement)) for statement in row.change]
        if lookups.used & self.dropped:
            return None
        at, alone = self._place(several)
        names = {row.at: q.name(at if alone else "at"), "values": q.name(f"row_{row.number}"), **self._by_key(row)}
        change = [_Renamed(names).visit(statement) for statement in change]
        if alone:
            return change
        loop = q.placed(ast.For(q.store("at"), q.name(at), change, [], None))
        _is_so_long(loop, most)
        return [loop]

    def _several(self, row: Row) -> list[tuple[int, ...]]:
        """The places of a row that each cell can change."""
        places = self.emitter.done.rows[row.number]
        return [places.get(cell, ()) for cell in self.cells]

    def _place(self, several: list[tuple[int, ...]]) -> tuple[str, bool]:
        """The name of the places that the cell can change, or of the one place, where each cell has one."""
        q, alone = self.quote, all(len(places) == 1 for places in several)
        table = self.emitter.bind("places", tuple([places[0] if alone else places for places in several]))
        if table not in self.tables:
            self.tables[table] = f"at_{len(self.tables)}"
            first = q.constant(self.cells.start)
            self.head.append(q.assign(self.tables[table], q.expression("_0[cell - _1]", q.name(table), first)))
        return self.tables[table], alone


class _LookUps(ast.NodeTransformer):
    """Looks rows up where they are kept, instead of asking for them."""

    def __init__(self, follower: _Follower, rows: Mapping[str, Row]) -> None:
        self.follower, self.rows = follower, rows
        self.used: set[int] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name(name), [_, _, *given]) if name in self.rows:
                q, number = self.follower.quote, self.rows[name].number
                self.used.add(number)
                if number in self.follower.single:
                    return q.name(self.follower.single[number])
                if not given:
                    return q.expression("M[_0]", q.constant(number))
                key = given[0] if len(given) == 1 else q.tuple(given)
                return q.expression("M[_0][_1]", q.constant(number), key)
            case _:
                return node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.names[node.id]) if node.id in self.names else node


def _is_so_long(loop: ast.stmt, length: int) -> None:
    """Notes for what it costs how often a loop is gone through."""
    assert isinstance(loop, ast.For)
    loop.iter.length = length  # type: ignore[attr-defined]


def _told_by(row: Row) -> ast.expr | None:
    """What of a value tells which row it is in, where each value is in one row: `value is not none and what == given`.

    Nothing where the part is of another form.
    """
    match row.part, row.given:
        case (
            ast.BoolOp(
                ast.And(), [ast.Compare(ast.Name("value"), [ast.IsNot()], _), ast.Compare(one, [ast.Eq()], [other])]
            ),
            [name],
        ):
            for told, key in ((one, other), (other, one)):
                if isinstance(key, ast.Name) and key.id == name and not _mentions(told, name):
                    return told
    return None


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
