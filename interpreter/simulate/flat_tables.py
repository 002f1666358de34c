"""Flat tables of games, written to files: one row per game, or one per seat and round.

The ruleset's measures become columns. DuckDB (extra `rows`) writes Parquet and DuckDB files; CSV and JSON lines need no
extra library, and JSON lines contain everything known about a game.
"""

from __future__ import annotations

import atexit
import csv
import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from interpreter.base.extras import Unavailable, install_command
from interpreter.base.paths import suffix_of
from interpreter.base.plain_data import Value, json_of
from interpreter.engine.game import Ruleset
from interpreter.language.model import Measure
from interpreter.simulate.simulation import Row
from interpreter.simulate.summary import in_order, seat_names
from interpreter.simulate.totals import Of, by_round, final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["SUFFIXES", "check_file", "games_table", "seats_table", "write_lines", "write_table"]

SUFFIXES = (".csv", ".parquet", ".duckdb", ".jsonl")
AT_ONCE = 5_000
"""Rows per insert statement."""

_NOWHERE = ":memory:"

Table = tuple[list[str], Iterator[list[Value]]]
"""Column names and rows."""


def check_file(path: Path) -> None:
    """Check an output file before games are played. Raises :class:`ValueError` for an unknown suffix, and
    :class:`Unavailable` if a library is missing or an existing file is not a database."""
    suffix = suffix_of(path, *SUFFIXES)
    if suffix in (".csv", ".jsonl"):
        return
    with _database(path, str(path) if suffix == ".duckdb" and path.exists() else _NOWHERE):
        pass


# --- tables


def games_table(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> Table:
    """Return a row per game: its length, the place of each seat, and each measure that is taken once per game, for the
    game, each seat, or each other subject that occurred in any of these games."""
    seats = range(len(seat_names(bots, (row.places for row in rows))))
    columns = ["seed", "decisions", "free_decisions", "rounds", *(f"place_{seat + 1}" for seat in seats)]
    measures = [m for m in ruleset.model.measures if "end of game" in m.when or not m.recurs]
    measured = {_column(m, of): (m.name, of) for m in measures for of in _met(m, rows, seats)}

    def values(row: Row) -> list[Value]:
        once = {measure.name: _once(measure, row) for measure in measures}
        places = (row.places[seat] if row.places else None for seat in seats)
        own = [row.seed, row.decisions, row.free, row.rounds, *places]
        named = dict(zip(columns, own, strict=True))  # a measure may have the name of one
        return list({**named, **{column: once[name].get(of) for column, (name, of) in measured.items()}}.values())

    return list(dict.fromkeys([*columns, *measured])), map(values, rows)


def _met(measure: Measure, rows: Sequence[Row], seats: range) -> list[Of]:
    """Return the subjects that get a column. Measures of a seat and another key get none."""
    if not measure.keys:
        return [()]
    if measure.seat is not None:
        return [(seat,) for seat in seats] if len(measure.keys) == 1 else []
    met = {taken.of for row in rows for taken in row.taken.get(measure.name, ())}
    return in_order(met)


def _once(measure: Measure, row: Row) -> Mapping[Of, int | None]:
    """Return the value of each subject in a game: the last at moments, the first at events, or the sum."""
    if measure.event is not None and not measure.sums:
        return {taken.of: taken.value for taken in reversed(row.taken.get(measure.name, ()))}
    return final(measure, row)


def seats_table(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> Table:
    """Return a row per seat and round, with each recurring measure and each measure of events. A measure without a seat
    is repeated in the rows of all seats."""
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
        values = by_round(measure, taken)
        return lambda seat, number: values.get((of, number))
    sums: Counter[tuple[int, int]] = Counter()
    numbers: Iterable[tuple[tuple[Of, int], int | None]] = by_round(measure, taken).items()
    if measure.event is not None:
        numbers = [((t.of, t.round), t.value) for t in taken]
    for (things, number), value in numbers:
        if value is not None:
            sums[things[place], number] += value
    return lambda seat, number: sums.get((seat, number))


def _column(measure: Measure, of: Of) -> str:
    """Return the name of a column. Seats count from 1, as on screen."""
    parts = (part + 1 if place == measure.seat else part for place, part in enumerate(of))
    return "_".join([measure.name, *(str(part).replace(" ", "_") for part in parts)])


# --- files


def write_lines(rows: Iterable[Row], path: Path) -> None:
    """Write one JSON line per game."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_of(row.as_dict()) + "\n" for row in rows)


def write_table(table: Table, path: Path, name: str) -> None:
    """Write a table in the format of the file's suffix. In a DuckDB file it replaces only the table called ``name``."""
    columns, rows = table
    suffix = path.suffix.lower()
    if suffix in (".csv", ".jsonl"):
        with path.open("w", encoding="utf-8", newline="\n") as file:
            if suffix == ".csv":
                csv.writer(file, lineterminator="\n").writerows(chain([columns], rows))
            else:
                file.writelines(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        return
    with _database(path, str(path) if suffix == ".duckdb" else _NOWHERE) as database:
        _fill(database, name, columns, rows)
        if suffix != ".duckdb":
            target = str(path).replace("'", "''")
            database.execute(f"copy (select * from {_quoted(name)} order by rowid) to '{target}' (format parquet)")


def _fill(database: DuckDBPyConnection, name: str, columns: list[str], rows: Iterator[list[Value]]) -> None:
    """Create a table with all rows, in order. All columns but `bot` are integers."""
    kinds = {column: "varchar" if column == "bot" else "bigint" for column in columns}
    declared = ", ".join(f"{_quoted(column)} {kind}" for column, kind in kinds.items())
    database.execute(f"create or replace table {_quoted(name)} ({declared})")
    into = f"insert into {_quoted(name)} select {', '.join(f'unnest(?::{kind}[])' for kind in kinds.values())}"
    while block := [row for _, row in zip(range(AT_ONCE), rows, strict=False)]:
        database.execute(into, [list(values) for values in zip(*block, strict=True)])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _database(path: Path, source: str) -> Iterator[DuckDBPyConnection]:
    """Open a database for a table that goes to ``path``. Raises :class:`Unavailable`."""
    try:
        from duckdb import Error, connect
    except ImportError:
        message = f"Parquet and DuckDB files need DuckDB: `{install_command('rows')}`; .csv and .jsonl need nothing"
        raise Unavailable(message) from None
    atexit.register(gc.unfreeze)  # its bindings warn of every object that is not freed at exit
    try:
        with connect(source) as database:
            yield database
    except Error as error:
        raise Unavailable(f"{path}: {str(error).splitlines()[0]}") from None
