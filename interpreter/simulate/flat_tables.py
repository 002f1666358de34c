"""Games as flat tables, and tables as files: one row for each game, or one for each seat and round.

Columns are those of the ruleset's measures. CSV, Parquet and DuckDB files are written by DuckDB, which is installed
with `regelwerk[rows]`; JSON lines need nothing, and hold all that is known of a game.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from interpreter.base.plain_data import Value
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure
from interpreter.simulate.simulation import Row
from interpreter.simulate.summary import in_order, seat_names
from interpreter.simulate.totals import Of, by_round, final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["SUFFIXES", "RowsUnavailable", "check_file", "games_table", "seats_table", "write_lines", "write_table"]

SUFFIXES = (".csv", ".parquet", ".duckdb", ".jsonl")
AT_ONCE = 5_000
"""So many rows are handed to the database at a time."""

_NOWHERE = ":memory:"

Table = tuple[list[str], Iterator[list[Value]]]
"""The names of the columns, and the rows."""


class RowsUnavailable(Exception):
    """A table cannot be written here; says what is missing, or what stands in the way."""


def check_file(path: Path) -> None:
    """``ValueError`` where the end of its name is none that is known, :class:`RowsUnavailable` where a library is
    missing or a file is no database: what is asked for is known before games are played."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"got `{path}`, want a file that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if suffix == ".jsonl":
        return
    with _database(path, str(path) if suffix == ".duckdb" and path.exists() else _NOWHERE):
        pass


# --- tables


def games_table(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> Table:
    """A row for each game: what it was like, the place of each seat, and each measure that is taken once in a game,
    of the game, of each seat, or of each other thing that was met in any of these games."""
    seats = range(len(seat_names(bots, (row.places for row in rows))))
    columns: dict[str, Callable[[Row], Value]] = {
        "seed": lambda row: row.seed,
        "decisions": lambda row: row.decisions,
        "free_decisions": lambda row: row.free,
        "rounds": lambda row: row.rounds,
    }
    for seat in seats:
        columns[f"place_{seat + 1}"] = partial(_place, seat)
    for measure in ruleset.model.measures:
        if "end of game" not in measure.when and measure.recurs:
            continue
        for of in _met(measure, rows, seats):
            columns[_column(measure, of)] = partial(_once, measure, of)
    return list(columns), ([value(row) for value in columns.values()] for row in rows)


def _place(seat: int, row: Row) -> int | None:
    return row.places[seat] if row.places else None


def _met(measure: Measure, rows: Sequence[Row], seats: range) -> list[Of]:
    """The things that a measure has a column for. What belongs to a seat and to something else has none."""
    if not measure.keys:
        return [()]
    if measure.seat is not None:
        return [(seat,) for seat in seats] if len(measure.keys) == 1 else []
    met = {taken.of for row in rows for taken in row.taken.get(measure.name, ())}
    return in_order(met)


def _once(measure: Measure, of: Of, row: Row) -> int | None:
    """Return the value of a subject in a game: the last at moments, the first at events, or the sum."""
    if measure.event is not None and not measure.sums:
        return next((taken.value for taken in row.taken.get(measure.name, ()) if taken.of == of), None)
    return final(measure, row).get(of)


def seats_table(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> Table:
    """A row for each seat and round: each measure that is taken again and again, and what events came to. A measure of
    no seat stands in the rows of all seats."""
    names = seat_names(bots, (row.places for row in rows))
    measures = [measure for measure in ruleset.model.measures if measure.recurs or measure.event is not None]
    columns: dict[str, tuple[Measure, Of]] = {}
    for measure in measures:
        if measure.seat is not None:
            columns[measure.name] = (measure, ())
        elif measure.recurs:
            columns.update({_column(measure, of): (measure, of) for of in _met(measure, rows, range(0))})
    return ["seed", "seat", "bot", "place", "round", *columns], _seat_rows(names, list(columns.values()), rows)


def _seat_rows(names: list[str], columns: list[tuple[Measure, Of]], rows: Iterable[Row]) -> Iterator[list[Value]]:
    for row in rows:
        values = [_by_seat(measure, of, row) for measure, of in columns]
        for seat, name in enumerate(names):
            place = row.places[seat] if row.places else None
            for number in range(1, row.rounds + 1):
                yield [row.seed, seat + 1, name, place, number, *(value(seat, number) for value in values)]


def _by_seat(measure: Measure, of: Of, row: Row) -> Callable[[int, int], int | None]:
    """Return the value of a measure for a seat in a round; the sum over several subjects of the seat."""
    taken = row.taken.get(measure.name, ())
    place = measure.seat
    if place is None:
        found = by_round(measure, taken)
        return lambda seat, number: found.get((of, number))
    together: dict[tuple[int, int], int] = {}
    numbers: Iterable[tuple[tuple[Of, int], int | None]] = by_round(measure, taken).items()
    if measure.event is not None:
        numbers = [((each.of, each.round), each.value) for each in taken]
    for (things, number), value in numbers:
        if value is not None:
            key = things[place], number
            together[key] = together.get(key, 0) + value
    return lambda seat, number: together.get((seat, number))


def _column(measure: Measure, of: Of) -> str:
    """The name of a column; seats count from 1, as on the screen."""
    parts = (part + 1 if place == measure.seat else part for place, part in enumerate(of))
    return "_".join([measure.name, *(str(part).replace(" ", "_") for part in parts)])


# --- files


def write_lines(rows: Iterable[Row], path: Path) -> None:
    """A JSON line for each game."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row.as_dict(), ensure_ascii=False) + "\n" for row in rows)


def write_table(table: Table, path: Path, name: str) -> None:
    """A table as the end of the file's name says; in a DuckDB file it has a name, and other tables stay."""
    columns, rows = table
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        return
    with _database(path, str(path) if suffix == ".duckdb" else _NOWHERE) as database:
        _fill(database, name, columns, rows)
        if suffix != ".duckdb":
            kind = "csv, header" if suffix == ".csv" else "parquet"
            where = str(path).replace("'", "''")
            database.execute(f"copy (select * from {_quoted(name)} order by rowid) to '{where}' (format {kind})")


def _fill(database: DuckDBPyConnection, name: str, columns: list[str], rows: Iterator[list[Value]]) -> None:
    """A new table with all rows, in their order. Whatever is not a name is a number."""
    kinds = ", ".join(f"{_quoted(column)} {'varchar' if column == 'bot' else 'bigint'}" for column in columns)
    database.execute(f"create or replace table {_quoted(name)} ({kinds})")
    into = f"insert into {_quoted(name)} select {', '.join(f'unnest(?::{_list(c)})' for c in columns)}"
    while block := [row for _, row in zip(range(AT_ONCE), rows, strict=False)]:
        database.execute(into, [list(values) for values in zip(*block, strict=True)])


def _list(column: str) -> str:
    return "varchar[]" if column == "bot" else "bigint[]"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _database(path: Path, where: str) -> Iterator[DuckDBPyConnection]:
    """A database, in which a table is made that is meant for a file."""
    try:
        from duckdb import Error, connect
    except ImportError:
        message = "CSV, Parquet and DuckDB files need DuckDB: `pip install 'regelwerk[rows]'`; .jsonl needs nothing"
        raise RowsUnavailable(message) from None
    try:
        with connect(where) as database:
            yield database
    except Error as error:
        raise RowsUnavailable(f"{path}: {str(error).splitlines()[0]}") from None
