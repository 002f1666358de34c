"""Totals of many games. Totals can be added, so that games need not be stored.

A module aggregates the whole games that it plays; games of the plain form are added one by one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from time import monotonic, process_time
from typing import TypedDict, TypeVar

from interpreter.base.plain_data import Value
from interpreter.compiler.wasm.driver import CURVE, FINAL, MET, TABLE, wanted
from interpreter.compiler.wasm.whole_games import SUMMED, Games
from interpreter.language.model import Measure
from interpreter.lowering.constants import RuleFailure
from interpreter.simulate.confidence import interval_around
from interpreter.simulate.measurements import Decoder, Head, Taken
from interpreter.simulate.simulation import Row, Unfinished, WholeGames

__all__ = ["Interval", "Of", "Spread", "Totals", "by_round", "final", "occurrences", "totalled", "without_seat"]

K = TypeVar("K")
Of = tuple[Value, ...]

AT_ONCE = 0.2
"""Target seconds of one call of the module. Between calls, the simulation can be stopped."""
REPORTED = 0.5
"""Seconds after which totals are yielded."""


class Interval(TypedDict):
    """Interval of a mean; None for fewer than two values."""

    mean_low: float | None
    mean_high: float | None


class SpreadData(Interval):
    """Spread of a number, as plain data."""

    mean: float | None
    min: int | None
    max: int | None


class Spread:
    """Spread of a number: occurrences (``times``), ``count`` of values, sums of them and their squares, extremes."""

    __slots__ = ("count", "least", "most", "squares", "times", "total")

    def __init__(self) -> None:
        self.times = self.count = self.total = self.squares = 0
        self.least: int | None = None
        self.most: int | None = None

    def add(self, times: int, count: int, total: int, least: int | None, most: int | None, squares: int) -> None:
        """Add occurrences and their values."""
        self.times += times
        if count:
            assert least is not None
            assert most is not None
            self.count += count
            self.total += total
            self.squares += squares
            self.least = least if self.least is None else min(self.least, least)
            self.most = most if self.most is None else max(self.most, most)

    def __iadd__(self, other: Spread) -> Spread:
        self.add(other.times, other.count, other.total, other.least, other.most, other.squares)
        return self

    @property
    def mean(self) -> float | None:
        return round(self.total / self.count, 4) if self.count else None

    def interval(self, games: int | None = None) -> Interval:
        """Return the interval of the mean: of ``games``, if values of one game are not independent."""
        independent = min(self.count, games or self.count)
        if independent < 2:
            return {"mean_low": None, "mean_high": None}
        variance = (self.squares * self.count - self.total**2) / (self.count * (self.count - 1))
        low, high = interval_around(self.total / self.count, sqrt(max(0.0, variance)), independent)
        return {"mean_low": round(low, 4), "mean_high": round(high, 4)}

    def as_data(self, games: int | None = None) -> SpreadData:
        return {"mean": self.mean, "min": self.least, "max": self.most, **self.interval(games)}


class Totals:
    """Totals of games. ``places`` counts the final rankings, ``keys`` are the sums of the ranking keys by seat and
    index of the key, ``numbers`` the spreads of measures. Games that do not end are left out of all of them."""

    def __init__(self) -> None:
        self.games = self.decisions = self.free = 0
        self.seconds = 0.0
        self.rounds: Counter[int] = Counter()
        self.places: Counter[tuple[int, ...]] = Counter()
        self.keys: Counter[tuple[int, int]] = Counter()
        self.numbers: defaultdict[Head, Spread] = defaultdict(Spread)
        self.unfinished: list[Unfinished] = []

    @property
    def played(self) -> int:
        """The number of all games, also of those that do not end."""
        return self.games + len(self.unfinished)

    def __iadd__(self, other: Totals) -> Totals:
        self.unfinished += other.unfinished
        self._add(other.games, other.decisions, other.free, other.seconds)
        self.rounds.update(other.rounds)
        self.places.update(other.places)
        self.keys.update(other.keys)
        for head, spread in other.numbers.items():
            self.numbers[head] += spread
        return self

    def _add(self, games: int, decisions: int, free: int, seconds: float) -> None:
        self.games += games
        self.decisions += decisions
        self.free += free
        self.seconds += seconds

    def add_games(self, games: Games, reading: Decoder, seconds: float) -> None:
        """Add games that a module has aggregated."""
        self._add(len(games), sum(games.decisions), sum(games.free), seconds)
        self.rounds.update(games.rounds)
        self.places.update(games.places)
        for seat, keys in enumerate(games.keys):
            for place, values in enumerate(keys):
                self.keys[seat, place] += sum(values)
        for key, *sums in games.totals():
            self.numbers[reading.head(key)].add(*sums)

    def add(self, measures: Sequence[Measure], rows: Iterable[Row | Unfinished]) -> None:
        """Add games one by one."""
        for row in rows:
            if isinstance(row, Unfinished):
                self.unfinished.append(row)
                continue
            self._add(1, row.decisions, row.free, row.seconds)
            self.rounds[row.rounds] += 1
            self.places[row.places] += 1
            for seat, keys in enumerate(row.keys if row.places else ()):
                for place, value in enumerate(keys):
                    self.keys[seat, place] += value
            self.add_taken(measures, row)

    def add_taken(self, measures: Sequence[Measure], row: Row) -> None:
        """Add the values of the measures of one game."""
        for measure in measures:
            is_curve, is_final, is_table = wanted(measure)
            name, numbers = measure.name, row.taken.get(measure.name, ())
            if is_curve:
                for (of, number), value in by_round(measure, numbers).items():
                    self._count((CURVE, name, number, of), value)
            if is_final:
                for of, value in final(measure, row).items():
                    self._count((FINAL, name, 0, of), value)
            if is_table:
                for of, value in occurrences(measure, row):
                    thing = of if measure.sums else without_seat(measure, of, None)
                    self._count((TABLE, name, _result(measure, of, row), thing), value)
                for of in {without_seat(measure, taken.of, None) for taken in numbers}:
                    self._count((MET, name, 0, of), None)

    def _count(self, head: Head, value: int | None) -> None:
        self.numbers[head].add(1, value is not None, value or 0, value, value, (value or 0) ** 2)


def _result(measure: Measure, of: Of, row: Row) -> int:
    """Return the result of the seat of a thing, as in a :data:`Head`."""
    if measure.seat is None or 1 not in row.places:
        return 0
    seat = of[measure.seat]
    return 1 + (row.places.count(1) if seat is not None and row.places[seat] == 1 else 0)


def by_round(measure: Measure, taken: Iterable[Taken]) -> dict[tuple[Of, int], int | None]:
    """Return the value of each subject in each round: the last one, or the sum if the measure sums."""
    return _gathered(measure, [((number.of, number.round), number.value) for number in taken])


def final(measure: Measure, row: Row) -> dict[Of, int | None]:
    """Return the final value of each subject: the last one, or the sum if the measure sums."""
    return _gathered(measure, [(taken.of, taken.value) for taken in row.taken.get(measure.name, ())])


def _gathered(measure: Measure, numbers: Sequence[tuple[K, int | None]]) -> dict[K, int | None]:
    if not measure.sums:
        return dict(numbers)
    values: dict[K, int | None] = {}
    for key, value in numbers:
        before = values.get(key)
        values[key] = before + (value or 0) if before is not None else value
    return values


def occurrences(measure: Measure, row: Row) -> Iterable[tuple[Of, int | None]]:
    """Return each occurrence of a subject with its value, or each subject with its sum if the measure sums."""
    if measure.sums:
        return final(measure, row).items()
    return [(taken.of, taken.value) for taken in row.taken.get(measure.name, ())]


def without_seat(measure: Measure, of: Of, *instead: None) -> Of:
    """Return the subject without its seat, or with None in its place."""
    seat = measure.seat
    return of if seat is None else (*of[:seat], *instead, *of[seat + 1 :])


def totalled(
    whole: WholeGames,
    seeds: Sequence[int],
    settings: Mapping[str, object] | None = None,
    stopped: Callable[[], bool] = bool,
) -> Iterator[Totals]:
    """Play a game for each seed until ``stopped`` returns True, and yield totals of several games at a time, in order.

    Raises :class:`RuleFailure` if a rule fails, after yielding the totals of the games before.
    """
    measures = whole.ruleset.model.measures
    totals, done, size, reported = Totals(), 0, 1, monotonic()
    while done < len(seeds) and not stopped():
        start = process_time()
        games = whole.games(seeds[done : done + size], settings, SUMMED, len(seeds) - done)
        if games:
            spent = process_time() - start
            size = max(1, int(AT_ONCE * len(games) / max(spent, 1e-6)))
            done += len(games)
            totals.add_games(games, whole.reading, spent)
            if games.is_left_out:
                last = whole.last(games, seeds[done - 1], start)
                assert last is not None
                totals.add_taken(measures, last)
        else:
            try:
                row = whole.plain_row(seeds[done], settings, stopped)
            except RuleFailure:
                if totals.played:
                    yield totals
                raise
            if row is None:
                break
            done += 1
            totals.add(measures, [row])
        if monotonic() - reported > REPORTED:
            yield totals
            totals, reported = Totals(), monotonic()
    if totals.played:
        yield totals
