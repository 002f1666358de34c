"""Archive of tables: an SQLite file that stores every choice before it is acknowledged.

A table has a header (the first line of a saved game), tokens for seats and spectators, and numbered choices. One thread
does all writes and commits waiting ones together; a write is durable when it returns.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import astuple, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from interpreter.base.facilities import thread_pool
from interpreter.base.plain_data import json_of
from interpreter.play.game_records import Choice, Header, read_saved_game
from interpreter.serve.standing import orders_in
from interpreter.serve.words import Refused

__all__ = ["Damaged", "Kept", "Said", "SeatRow", "Store", "StoreError", "can_be_kept"]

VERSION = 3
_SCHEMA = """
create table if not exists about (version integer not null);
create table if not exists tables (
    id text primary key, header text not null, title text not null, host text not null unique,
    watch text not null unique, open integer not null, created real not null, changed real not null,
    audience text not null default 'shared'
);
create table if not exists seats (
    game text not null references tables (id) on delete cascade, seat integer not null, token text not null unique,
    kind text not null, bot text not null, name text not null, orders text not null default '',
    primary key (game, seat)
);
create table if not exists choices (
    game text not null references tables (id) on delete cascade, number integer not null, line text not null,
    primary key (game, number)
) without rowid;
create table if not exists talk (
    game text not null references tables (id) on delete cascade, number integer not null, at integer not null,
    seat integer not null, text text not null, primary key (game, number)
) without rowid;
"""
_SINCE = {
    1: "alter table tables add column audience text not null default 'shared'",
    2: "alter table seats add column orders text not null default ''",
}
"""Changes that a file of each earlier version needs."""
_TEXTS = ("id", "header", "title", "host", "watch")
_COLUMNS = (*_TEXTS, "open", "created", "changed", "audience")
Write = Callable[[sqlite3.Connection], object]
KINDS = ("person", "bot", "open")
AUDIENCES = ("alone", "read", "shared", "known")


class StoreError(Refused):
    """The file cannot be opened or written; the text gives the reason, for a failed write without the path."""


@dataclass
class SeatRow:
    """A seat. ``kind`` is ``person``, ``bot`` or ``open``; ``bot`` names its bot, also while another kind is set;
    ``orders`` are its standing orders as JSON."""

    token: str
    kind: str
    bot: str = ""
    name: str = ""
    orders: str = ""

    @property
    def mark(self) -> str:
        """Digest by which a form names the seat as it shows it. It tells neither token nor orders."""
        return sha256("\0".join(astuple(self)[:-1]).encode()).hexdigest()[:16]


class Said(Struct, frozen=True):
    """What a seat said at a table, after ``at`` choices."""

    at: int
    seat: int
    text: str


@dataclass
class Kept:
    """A table in the archive. Its choices are in memory only as long as somebody plays it."""

    id: str
    header: Header
    title: str
    host: str
    watch: str
    open: bool
    seats: list[SeatRow]
    choices: list[Choice] = field(default_factory=list)
    talk: list[Said] = field(default_factory=list)
    created: float = 0.0
    changed: float = 0.0
    """Time of the last choice."""
    audience: str = "alone"
    """Who may see hidden information before the end, and who can join.

    ``alone``: there was never more than one person or open seat. ``read``: the same, and the person has seen hidden
    information. ``shared``: there were more. ``known``: the same, and the game goes on after it had ended.
    """


class Damaged(Struct, frozen=True):
    """A table that cannot be read: its id, what is wrong, and its links."""

    id: str
    why: str
    links: tuple[str, ...] = ()


class Store:
    """Database of all tables. A :class:`Kept` changes once its rows have. Raises :class:`StoreError` if the file cannot
    be opened."""

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        self._waiting: queue.SimpleQueue[tuple[Write, Future[None]]] = queue.SimpleQueue()
        try:
            self._connection = self._open()
        except sqlite3.Error as error:
            raise StoreError("{path}: {error}", path=self.path, error=error) from None
        self._writer = thread_pool(1, "store")

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level="IMMEDIATE", check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("pragma foreign_keys = on")
        connection.executescript(_SCHEMA)
        row = connection.execute("select version from about").fetchone()
        if row is not None and row[0] in _SINCE:
            changes = [_SINCE[version] for version in range(row[0], VERSION)]
            connection.executescript("; ".join(["begin", *changes, f"update about set version = {VERSION}", "commit"]))
            row = (VERSION,)
        if row is None:
            with connection:
                connection.execute("insert into about values (?)", (VERSION,))
        elif row[0] != VERSION:
            raise StoreError("{path}: got version {n}, want {wanted}", path=self.path, n=row[0], wanted=VERSION)
        return connection

    # --- writing

    async def write(self, change: Write) -> None:
        """Make a change durable. Raises :class:`StoreError`, and then leaves the file unchanged."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # if nobody waits any more, it is written nevertheless
        self._waiting.put((change, done))
        self._writer.submit(self._commit_waiting)
        await asyncio.wrap_future(done)

    def _commit_waiting(self) -> None:
        """Commit all changes that wait, unless that has been done together with an earlier one."""
        batch = [self._waiting.get() for _ in range(self._waiting.qsize())]
        if batch:
            self._commit(batch)

    def _commit(self, batch: list[tuple[Write, Future[None]]]) -> None:
        """Commit all changes of a batch at once. If this fails, commit each alone, so that only invalid ones fail."""
        try:
            self._transaction([change for change, _ in batch])
        except Exception as error:  # whatever is wrong with one change, the thread must go on
            if len(batch) > 1:
                for each in batch:
                    self._commit([each])
                return
            why = str(error) if isinstance(error, sqlite3.OperationalError) else "it has data of a wrong kind"
            batch[0][1].set_exception(StoreError("This change cannot be saved: {why}.", why=why))
            return
        for _, done in batch:
            done.set_result(None)

    def _transaction(self, changes: list[Write]) -> None:
        with self._connection as connection:
            for change in changes:
                change(connection)

    def close(self) -> None:
        """Finish waiting writes and close the file."""
        self._writer.shutdown()
        self._connection.close()

    async def add(self, table: Kept) -> None:
        """Add a table with its seats and choices."""

        row = {**vars(table), "header": json.dumps(table.header)}

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(f"insert into tables values (:{', :'.join(_COLUMNS)})", row)
            connection.executemany(
                "insert into seats values (?, ?, ?, ?, ?, ?, ?)",
                [(table.id, number, *astuple(seat)) for number, seat in enumerate(table.seats)],
            )
            connection.executemany(
                "insert into choices values (?, ?, ?)",
                [(table.id, number, json_of(line)) for number, line in enumerate(table.choices)],
            )

        await self.write(change)

    async def append(
        self, table: Kept, lines: Sequence[Choice], orders: tuple[int, str] | None = None, start: int | None = None
    ) -> None:
        """Add choices and the ``orders`` that they leave to their seat. They replace those from ``start`` on,
        by default later ones in the file."""
        start, now = len(table.choices) if start is None else start, time.time()
        rows = [(table.id, number, json_of(line)) for number, line in enumerate(lines, start)]

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("delete from choices where game = ? and number >= ?", (table.id, start))
            connection.executemany("insert into choices values (?, ?, ?)", rows)
            connection.execute("update tables set changed = ? where id = ?", (now, table.id))
            if orders is not None:
                connection.execute("update seats set orders = ? where seat = ? and game = ?", (*orders[::-1], table.id))

        await self.write(change)
        table.choices[start:] = lines
        table.changed = now
        if orders is not None:
            table.seats[orders[0]].orders = orders[1]

    async def say(self, table: Kept, said: Said) -> None:
        """Add what a seat said."""
        number = "(select coalesce(max(number) + 1, 0) from talk where game = ?1)"
        command = f"insert into talk values (?1, {number}, ?2, ?3, ?4)"
        await self._execute(command, table.id, said.at, said.seat, said.text)
        table.talk.append(said)

    async def _execute(self, command: str, *values: object) -> None:
        await self.write(lambda connection: connection.execute(command, values))

    async def cut(self, table: Kept, number: int) -> None:
        """Delete the choices from ``number`` on."""
        await self._execute("delete from choices where game = ? and number >= ?", table.id, number)
        del table.choices[number:]

    async def seat(self, table: Kept, number: int, seat: SeatRow) -> None:
        """Update a seat."""
        command = "update seats set token = ?, kind = ?, bot = ?, name = ?, orders = ? where game = ? and seat = ?"
        await self._execute(command, *astuple(seat), table.id, number)
        table.seats[number] = seat

    async def audience(self, table: Kept, audience: str) -> None:
        """Record who may have seen hidden information."""
        await self._execute("update tables set audience = ? where id = ?", audience, table.id)
        table.audience = audience

    async def header(self, table: Kept, header: Header) -> None:
        """Replace the header."""
        await self._execute("update tables set header = ? where id = ?", json.dumps(header), table.id)
        table.header = header

    async def renew(self, table: Kept, header: Header, stay: list[int]) -> None:
        """Give a table without choices another header, and let some seats stay. What others said is forgotten."""

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("update tables set header = ? where id = ?", (json.dumps(header), table.id))
            for rows in ("seats", "talk"):
                for seat in range(len(table.seats)):
                    if seat in stay:  # its number is free by now
                        command = f"update {rows} set seat = ? where game = ? and seat = ?"
                        connection.execute(command, (stay.index(seat), table.id, seat))
                    else:
                        connection.execute(f"delete from {rows} where game = ? and seat = ?", (table.id, seat))

        await self.write(change)
        table.header, table.seats = header, [table.seats[seat] for seat in stay]
        table.talk = [Said(each.at, stay.index(each.seat), each.text) for each in table.talk if each.seat in stay]

    async def remove(self, id: str) -> None:
        await self._execute("delete from tables where id = ?", id)

    # --- reading

    def tables(self) -> tuple[list[Kept], list[Damaged]]:
        """Return all tables without their choices, the oldest first, and the damaged ones, which stay as they are.
        Raises :class:`StoreError` if the file is damaged as a whole."""
        connection, tables, damaged = self._connection, [], []
        try:
            rows = connection.execute("select rowid from tables order by created").fetchall()
        except sqlite3.Error as error:
            raise StoreError("{path}: {error}", path=self.path, error=error) from None
        try:
            strays = connection.execute(_STRAYS).fetchall()
        except sqlite3.Error:  # of a damaged table
            strays = []
        for (row,) in rows:
            try:
                tables.append(_read(connection, row))
            except ValueError as error:
                damaged.append(_damaged(connection, row, str(error)))
            except sqlite3.Error:
                damaged.append(_damaged(connection, row, "its rows cannot be read"))
        for (id,) in strays:
            damaged.append(Damaged(bytes.fromhex(id).decode(errors="replace"), "it has seats or choices, but no table"))
        return tables, damaged

    async def choices(self, id: str) -> list[Choice]:
        """Return the choices of a table. Raises :class:`StoreError` if they cannot be read."""
        return [json.loads(line) for _, line in await self._rows(_CHOICES, id)]

    async def talk(self, id: str) -> list[Said]:
        """Return what was said at a table. Raises :class:`StoreError` if it cannot be read."""
        return [Said(*row) for row in await self._rows(_TALK, id)]

    async def _rows(self, query: str, id: str) -> list[tuple[Any, ...]]:
        rows: list[list[tuple[Any, ...]]] = []
        await self.write(lambda c: rows.append(c.execute(query, (id,)).fetchall()))
        return rows[-1]  # a write may be tried twice


_CHOICES = "select number, line from choices where game = ? order by number"
_TALK = "select at, seat, text from talk where game = ? order by number"
_STRAYS = " union ".join(
    f"select hex(game) from {rows} where game not in (select id from tables)" for rows in ("seats", "choices", "talk")
)


_LINKS = " union all ".join(
    [
        *(f"select hex({column}) from tables where rowid = :row" for column in ("id", "host", "watch")),
        "select hex(token) from seats where game = (select id from tables where rowid = :row)",
    ]
)


def _read(connection: sqlite3.Connection, rowid: int) -> Kept:
    """Read a table with its seats, and check its choices. Raises ``ValueError`` with what is wrong with them."""
    values = connection.execute("select * from tables where rowid = ?", (rowid,)).fetchone()
    row = dict(zip(_COLUMNS, values, strict=True))
    seats = connection.execute("select * from seats where game = ? order by seat", (row["id"],)).fetchall()
    lines = connection.execute(_CHOICES, (row["id"],)).fetchall()
    texts = [*(row[name] for name in _TEXTS), *(text for seat in seats for text in seat[2:])]
    texts += [line for _, line in lines]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("it has data where text belongs")
    if not (isinstance(row["created"], float) and isinstance(row["changed"], float) and row["audience"] in AUDIENCES):
        raise ValueError("its times or its audience are invalid")
    saved = read_saved_game("\n".join([row["header"], *(line for _, line in lines)]))
    players = range(len(seats))
    if [saved.header["players"], *(seat[1] for seat in seats)] != [len(seats), *players]:
        raise ValueError("its seats are not those of its players")
    if any(seat[3] not in KINDS for seat in seats):
        raise ValueError("a seat is of no kind")
    if [number for number, _ in lines] != [*range(len(saved.choices))]:
        raise ValueError("choices are missing")
    if any(line["by"] not in players for line in saved.choices):
        raise ValueError("a choice is by no seat")
    for seat in seats:
        orders_in(seat[6])
    for at, seat, text in connection.execute(_TALK, (row["id"],)):
        if not (isinstance(at, int) and seat in players and isinstance(text, str)):
            raise ValueError("what was said is invalid")
    row |= {"header": saved.header, "open": bool(row["open"]), "seats": [SeatRow(*seat[2:]) for seat in seats]}
    return Kept(**row)


def _damaged(connection: sqlite3.Connection, row: int, why: str) -> Damaged:
    """Return what is known of a damaged table: its id and its links, as far as they can be read."""
    try:
        texts = connection.execute(_LINKS, {"row": row}).fetchall()
    except sqlite3.Error:
        texts = [(f"row {row}".encode().hex(),)]
    id, *links = (bytes.fromhex(text).decode(errors="replace") for (text,) in texts)
    return Damaged(id, why, tuple(links))


def can_be_kept(data: object) -> bool:
    """Return whether JSON data can be written: they are not too deep, and have no half characters (lone surrogates)."""
    try:
        json_of(data).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True
