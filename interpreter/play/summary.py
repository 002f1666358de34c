"""What many games come to: how long they are, who wins them, and the numbers that the ruleset's measures took."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from interpreter.compiler.wasm.whole import BIAS, CURVE, FINAL, NO_VALUE, TABLE, VALUE_BITS, Facts
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure, MeasureKey
from interpreter.language.types import Type
from interpreter.play.intervals import share_interval
from interpreter.play.measures import Packed, Taken
from interpreter.play.simulate import Row

__all__ = ["by_round", "final", "in_order", "seat_names", "summary", "together"]

Of = tuple[Any, ...]


def summary(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Games in numbers, as plain data. ``bots`` are the names of those who play; ``share`` splits a shared win.

    ``measures`` are as games end, ``curves`` by round, ``tables`` for each thing that an event was about.
    """
    names = seat_names(bots, rows)
    measures = ruleset.model.measures
    tallies = _tallies(measures, rows)
    return {
        "games": len(rows),
        "decisions": sum(row.decisions for row in rows),
        "free_decisions": sum(row.free for row in rows),
        "processor_seconds": round(sum(row.seconds for row in rows), 6),
        "rounds": _spread([row.rounds for row in rows]),
        "lengths": [{"rounds": n, "games": k} for n, k in sorted(Counter(row.rounds for row in rows).items())],
        "seats": [_seat(ruleset, name, seat, rows) for seat, name in enumerate(names)],
        "measures": {m.name: _at_end(m, len(names), tallies[m.name]) for m in measures if _is_final(m)},
        "curves": {m.name: _curve(ruleset, m, tallies[m.name]) for m in measures if m.recurs},
        "tables": {m.name: _table(ruleset, m, tallies[m.name]) for m in measures if _has_table(m)},
    }


def seat_names(bots: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Who plays each seat: the bots, then the rules those seats that count though nobody plays them."""
    beside = next((row.places[len(bots) :] for row in rows if row.places), ())
    return [*bots, *("rules" for place in beside if place)]


def _seat(ruleset: Ruleset, bot: str, seat: int, rows: Sequence[Row]) -> dict[str, Any]:
    finished = [row for row in rows if row.places]
    share = sum(row.share(seat) for row in finished) / len(finished) if finished else None
    low, high = share_interval(share, len(finished)) if share is not None else (None, None)
    keys = {
        name: _mean([row.keys[seat][place] for row in finished]) for place, name in enumerate(ruleset.model.key_names)
    }
    return {
        "seat": seat,
        "bot": bot,
        "wins": sum(row.places[seat] == 1 for row in finished),
        "share": _rounded(share),
        "low": _rounded(low),
        "high": _rounded(high),
        "keys": keys,
    }


# --- as games end


def _is_final(measure: Measure) -> bool:
    """Whether it is taken at the end of a game, once or for each seat."""
    keys = len(measure.keys)
    return "end of game" in measure.when and (keys == 0 or (keys == 1 and measure.seat is not None))


def final(measure: Measure, row: Row) -> dict[Of, int | None]:
    """A measure as a game ends: by its keys, what was taken last; where it sums, all that was taken together."""
    found: dict[Of, int | None] = {}
    for taken in row.taken.get(measure.name, ()):
        found[taken.of] = _with(measure, found.get(taken.of), taken.value)
    return found


def _with(measure: Measure, before: int | None, value: int | None) -> int | None:
    """What a number that is taken comes to beside those before it: where the measure sums, none adds nothing."""
    if measure.sums and before is not None:
        return before + (value or 0)
    return value


def _at_end(measure: Measure, seats: int, tally: _Tally) -> Any:
    """One spread, or one for each seat."""
    if measure.seat is None:
        return tally.ends[()].told()
    return [tally.ends[(seat,)].told() for seat in range(seats)]


# --- by round


def _curve(ruleset: Ruleset, measure: Measure, tally: _Tally) -> list[dict[str, Any]]:
    """For each thing its mean in each round, over the games that come so far."""
    return [
        {
            **_about(ruleset, measure.keys, of),
            "rounds": [
                {"round": number, "games": spread.count, "mean": spread.mean}
                for number, spread in sorted(tally.rounds[of].items())
            ],
        }
        for of in in_order(tally.rounds)
    ]


def by_round(measure: Measure, taken: Iterable[Taken]) -> dict[tuple[Of, int], int | None]:
    """What was taken last of each thing in each round, or all of the round together where it sums."""
    found: dict[tuple[Of, int], int | None] = {}
    for each in taken:
        found[each.of, each.round] = _with(measure, found.get((each.of, each.round)), each.value)
    return found


# --- by what events were about


def _has_table(measure: Measure) -> bool:
    """Whether it is taken at an event, or once in a game of things other than seats."""
    return measure.event is not None or not (measure.recurs or _is_final(measure))


def _table(ruleset: Ruleset, measure: Measure, tally: _Tally) -> list[dict[str, Any]]:
    """For each thing how often it was met, in how many games, its numbers, and the share of the win of its seats."""
    keys = [key for place, key in enumerate(measure.keys) if place != measure.seat]
    return [{**_about(ruleset, keys, of), **tally.met[of].told()} for of in in_order(tally.met)]


def _occurrences(measure: Measure, row: Row) -> Iterator[tuple[Of, int | None]]:
    if measure.sums:
        yield from final(measure, row).items()
    else:
        yield from ((taken.of, taken.value) for taken in row.taken.get(measure.name, ()))


def together(tables: dict[str, Any]) -> list[list[str]]:
    """The tables that are about the same things, by their names."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, things in tables.items():
        if things:
            found.setdefault(tuple(things[0]["of"]), []).append(name)
    return list(found.values())


def _about(ruleset: Ruleset, keys: Sequence[MeasureKey], of: Of) -> dict[str, Any]:
    """What a line is about, for programs and in words."""
    seat = Type("seat")
    words = (
        ruleset.names.text(part, seat) if key.type.form == "seat" else str(part).replace("_", " ")
        for key, part in zip(keys, of, strict=True)
    )
    return {"of": dict(zip((key.name for key in keys), of, strict=True)), "name": ", ".join(words)}


# --- what rows come to


Values = Sequence[tuple[int | None, int]]
"""Values, each with how often it was there."""


class _Spread:
    """How many numbers there are, what they come to, and the least and the greatest."""

    __slots__ = ("count", "least", "most", "total")

    def __init__(self) -> None:
        self.count = self.total = 0
        self.least: int | None = None
        self.most: int | None = None

    def add(self, values: Values) -> None:
        """Values with how often each was there; none is no number."""
        numbers = [(value, times) for value, times in values if value is not None]
        if numbers:
            self.count += sum([times for _, times in numbers])
            self.total += sum([value * times for value, times in numbers])
            least, most = min(numbers)[0], max(numbers)[0]
            self.least = least if self.least is None else min(self.least, least)
            self.most = most if self.most is None else max(self.most, most)

    @property
    def mean(self) -> float | None:
        return round(self.total / self.count, 4) if self.count else None

    def told(self) -> dict[str, Any]:
        return {"mean": self.mean, "min": self.least, "max": self.most}


class _Met:
    """What an event was about: how often it was met, in how many games, its numbers, and shares of a win."""

    __slots__ = ("games", "shares", "spread", "times")

    def __init__(self) -> None:
        self.times = self.games = 0
        self.spread = _Spread()
        self.shares: Counter[float] = Counter()

    def told(self) -> dict[str, Any]:
        with_share = self.shares.total()
        share = None
        if with_share:  # the exact sum, rounded once, as of all of them one after another
            share = _rounded(float(sum(Fraction(each) * times for each, times in self.shares.items())) / with_share)
        return {"times": self.times, "games": self.games, **self.spread.told(), "share": share}


class _Tally:
    """What one measure came to in all games: as they end, by round, and by what events were about."""

    __slots__ = ("ends", "measure", "met", "rounds")

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.ends: defaultdict[Of, _Spread] = defaultdict(_Spread)
        self.rounds: defaultdict[Of, defaultdict[int, _Spread]] = defaultdict(lambda: defaultdict(_Spread))
        self.met: defaultdict[Of, _Met] = defaultdict(_Met)

    def other(self, of: Of) -> Of:
        """The thing without the seat that it was of."""
        seat = self.measure.seat
        return of if seat is None else (*of[:seat], *of[seat + 1 :])

    def add(self, row: Row) -> None:
        """One game."""
        measure, numbers = self.measure, row.taken.get(self.measure.name, ())
        if measure.recurs:
            for (of, number), value in by_round(measure, numbers).items():
                if value is not None:
                    self.rounds[of][number].add([(value, 1)])
        if _is_final(measure):
            for of, value in final(measure, row).items():
                self.ends[of].add([(value, 1)])
        if _has_table(measure):
            things = set()
            for of, value in _occurrences(measure, row):
                self.happened(of, [(value, 1)], _winners(row))
                things.add(self.other(of))
            for thing in things:
                self.met[thing].games += 1

    def happened(self, of: Of, values: Values, winners: tuple[int, ...]) -> None:
        """A thing was met with these values, in games that these seats won."""
        met, seat = self.met[self.other(of)], self.measure.seat
        times = sum([times for _, times in values])
        met.times += times
        met.spread.add(values)
        if seat is not None and winners:
            met.shares[1 / len(winners) if of[seat] in winners else 0.0] += times

    def add_facts(self, kind: int, of: Of, number: int, values: Values, winners: tuple[int, ...]) -> None:
        """Facts that differ in nothing but their values, in games that these seats won."""
        if kind == CURVE:
            if any(value is not None for value, _ in values):
                self.rounds[of][number].add(values)
        elif kind == FINAL:
            self.ends[of].add(values)
        elif kind == TABLE:
            self.happened(of, values, winners)
        else:
            self.met[self.other(of)].games += sum([times for _, times in values])


def _winners(row: Row) -> tuple[int, ...]:
    return tuple([seat for seat, place in enumerate(row.places) if place == 1])


def _tallies(measures: Sequence[Measure], rows: Sequence[Row]) -> dict[str, _Tally]:
    """What each measure came to. Of games that a module played, equal facts are counted first: they are few."""
    tallies = {measure.name: _Tally(measure) for measure in measures}
    readings: dict[Facts, int] = {}
    number_of: dict[int, int] = {}
    together: defaultdict[tuple[int, tuple[int, ...]], list[bytes]] = defaultdict(list)
    for row in rows:
        taken = row.taken
        if isinstance(taken, Packed) and taken.facts is not None:
            reading = taken.reading
            which = number_of.get(id(reading))
            if which is None:  # workers have their own, which are the same
                which = number_of[id(reading)] = readings.setdefault(reading, len(readings))
            together[which, _winners(row)].append(taken.facts)
        else:
            for tally in tallies.values():
                tally.add(row)
    every = list(readings)
    for (which, winners), parts in together.items():
        reading = every[which]
        known = {name: tallies.get(name) for name in reading.names}
        alike: defaultdict[int, list[tuple[int | None, int]]] = defaultdict(list)
        for fact, times in Counter(memoryview(b"".join(parts)).cast("Q")).items():
            value = fact & NO_VALUE
            alike[fact >> VALUE_BITS].append((None if value == NO_VALUE else value - BIAS, times))
        for head, values in alike.items():
            kind, measure, number, of = reading.head(head)
            if (own := known[reading.names[measure]]) is not None:
                own.add_facts(kind, of, number, values, winners)
    return tallies


# --- numbers


def in_order(things: Iterable[Of]) -> list[Of]:
    """Numbers by size, words by the alphabet, nothing before all."""
    return sorted(
        things,
        key=lambda of: tuple((isinstance(part, str), part is not None, 0 if part is None else part) for part in of),
    )


def _spread(values: Sequence[int | None]) -> dict[str, Any]:
    numbers = [value for value in values if value is not None]
    return {"mean": _mean(numbers), "min": min(numbers, default=None), "max": max(numbers, default=None)}


def _mean(numbers: Sequence[int]) -> float | None:
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
