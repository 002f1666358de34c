"""Summary of many games as plain data: lengths, winners and measures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypedDict

from interpreter.base.plain_data import Json
from interpreter.compiler.wasm.whole_layout import CURVE, FINAL, MET, TABLE, wanted
from interpreter.engine.rules import Rules
from interpreter.language.model import Measure, MeasureKey
from interpreter.language.types import SEAT, SeatType
from interpreter.simulate.confidence import share_interval
from interpreter.simulate.simulation import Row
from interpreter.simulate.totals import Of, Spread, SpreadData, Totals

__all__ = [
    "Curve",
    "Report",
    "SeatData",
    "Summary",
    "Thing",
    "in_order",
    "seat_names",
    "summary",
    "summed_up",
    "together",
]


class SeatData(TypedDict):
    """A seat: its wins, their share with an interval, and the means of what ranks the seats."""

    seat: int
    bot: str
    wins: int
    share: float | None
    low: float | None
    high: float | None
    keys: dict[str, float | None]


class Subject(TypedDict):
    """The subject of a line, for programs and in words."""

    of: dict[str, int | str | None]
    name: str


class Point(TypedDict):
    """The mean of a round, over the games that come so far."""

    round: int
    games: int
    mean: float


class Curve(Subject):
    rounds: list[Point]


class Thing(Subject, SpreadData):
    """A thing that an event was about: ``times`` it was met, in so many ``games``, and the share of the win of its
    seats."""

    times: int
    games: int
    share: float | None


class Length(TypedDict):
    """Number of games of so many rounds."""

    rounds: int
    games: int


class Summary(TypedDict):
    """Games in numbers, as plain data. ``measures`` are as games end, ``curves`` by round, ``tables`` for each thing
    that an event was about."""

    games: int
    decisions: int
    free_decisions: int
    processor_seconds: float
    rounds: SpreadData
    lengths: list[Length]
    seats: list[SeatData]
    measures: dict[str, SpreadData | list[SpreadData]]
    curves: dict[str, list[Curve]]
    tables: dict[str, list[Thing]]


class Report(Summary):
    """A summary, and what was played."""

    ruleset: str
    overlays: list[str]
    players: int
    settings: dict[str, Json]
    seed: int
    wall_seconds: float


def summary(ruleset: Rules, bots: Sequence[str], rows: Iterable[Row]) -> Summary:
    """Games in numbers: as :func:`summed_up`."""
    totals = Totals()
    for row in rows:
        totals.add(ruleset.model.measures, row)
    return summed_up(ruleset, bots, totals)


def summed_up(ruleset: Rules, bots: Sequence[str], totals: Totals) -> Summary:
    """Games in numbers. ``bots`` are the names of those who play; ``share`` splits a shared win."""
    names = seat_names(bots, totals.places)
    taken = _by_measure(totals)
    forms = [(measure, taken[measure.name], *wanted(measure)) for measure in ruleset.model.measures]
    return {
        "games": totals.games,
        "decisions": totals.decisions,
        "free_decisions": totals.free,
        "processor_seconds": round(totals.seconds, 6),
        "rounds": _rounds(totals.rounds),
        "lengths": [{"rounds": number, "games": games} for number, games in sorted(totals.rounds.items())],
        "seats": [_seat(ruleset, name, seat, totals) for seat, name in enumerate(names)],
        "measures": {m.name: _at_end(m, len(names), found) for m, found, _, is_final, _ in forms if is_final},
        "curves": {m.name: _curve(ruleset, m, found) for m, found, is_curve, _, _ in forms if is_curve},
        "tables": {m.name: _table(ruleset, m, found) for m, found, _, _, is_table in forms if is_table},
    }


Numbers = dict[int, dict[tuple[int, Of], Spread]]
"""What one measure came to: by the kind of the sums, what they are of."""


def _by_measure(totals: Totals) -> defaultdict[str, Numbers]:
    found: defaultdict[str, Numbers] = defaultdict(lambda: {CURVE: {}, FINAL: {}, TABLE: {}, MET: {}})
    for (kind, name, round_, of), spread in totals.numbers.items():
        found[name][kind][round_, of] = spread
    return found


def seat_names(bots: Sequence[str], places: Iterable[tuple[int, ...]]) -> list[str]:
    """Return the name of each seat's player: the bots, then seats that the rules play."""
    beside = next((each[len(bots) :] for each in places if each), ())
    return [*bots, *("rules" for place in beside if place)]


def _seat(ruleset: Rules, bot: str, seat: int, totals: Totals) -> SeatData:
    finished = sum(games for places, games in totals.places.items() if places)
    won = {places: games for places, games in totals.places.items() if places and places[seat] == 1}
    share = None
    if finished:
        share = float(sum(Fraction(games, places.count(1)) for places, games in won.items()) / finished)
    low, high = share_interval(share, finished) if share is not None else (None, None)
    names = ruleset.model.key_names
    return {
        "seat": seat,
        "bot": bot,
        "wins": sum(won.values()),
        "share": _rounded(share),
        "low": _rounded(low),
        "high": _rounded(high),
        "keys": {
            name: round(totals.keys[seat, place] / finished, 4) if finished else None
            for place, name in enumerate(names)
        },
    }


def _at_end(measure: Measure, seats: int, found: Numbers) -> SpreadData | list[SpreadData]:
    """One spread as games end, or one for each seat."""
    ends, none = found[FINAL], Spread()
    if measure.seat is None:
        return ends.get((0, ()), none).told()
    return [ends.get((0, (seat,)), none).told() for seat in range(seats)]


def _curve(ruleset: Rules, measure: Measure, found: Numbers) -> list[Curve]:
    """For each thing its mean in each round, over the games that come so far."""
    rounds: dict[Of, dict[int, Spread]] = {}
    for (number, of), spread in found[CURVE].items():
        if spread.count:
            rounds.setdefault(of, {})[number] = spread
    return [
        {
            **_about(ruleset, measure.keys, of),
            "rounds": [
                {"round": number, "games": spread.count, "mean": spread.mean or 0.0}
                for number, spread in sorted(rounds[of].items())
            ],
        }
        for of in in_order(rounds)
    ]


def _table(ruleset: Rules, measure: Measure, found: Numbers) -> list[Thing]:
    """For each thing that an event was about how often it was met, in how many games, its numbers, and the share of the
    win of its seats."""
    own = measure.seat
    keys = [key for place, key in enumerate(measure.keys) if place != own]
    games: Counter[Of] = Counter()
    for (_, of), met in found[MET].items():
        games[_other(own, of)] += met.times
    spreads: defaultdict[Of, Spread] = defaultdict(Spread)
    shares: defaultdict[Of, list[tuple[Fraction, int]]] = defaultdict(list)
    for (winners, of), spread in found[TABLE].items():
        spreads[_other(own, of)] += spread
        if own is not None and winners:
            won = of[own] is not None and winners >> of[own] & 1
            shares[_other(own, of)].append((Fraction(won / winners.bit_count()), spread.times))
    return [
        {
            **_about(ruleset, keys, of),
            "times": spreads[of].times,
            "games": games[of],
            **spreads[of].told(),
            "share": _share(shares[of]),
        }
        for of in in_order(spreads)
    ]


def _other(seat: int | None, of: Of) -> Of:
    """The thing without the seat that it was of."""
    return of if seat is None else (*of[:seat], *of[seat + 1 :])


def _share(shares: Sequence[tuple[Fraction, int]]) -> float | None:
    """The exact mean, rounded once, as of all of them one after another."""
    times = sum(each for _, each in shares)
    return _rounded(float(sum(share * each for share, each in shares)) / times) if times else None


def together(tables: Mapping[str, Sequence[Thing]]) -> list[list[str]]:
    """The tables that are about the same things, by their names."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, things in tables.items():
        if things:
            found.setdefault(tuple(things[0]["of"]), []).append(name)
    return list(found.values())


def _about(ruleset: Rules, keys: Sequence[MeasureKey], of: Of) -> Subject:
    seat = SEAT
    words = (
        ruleset.names.text(part, seat) if isinstance(key.type, SeatType) else str(part).replace("_", " ")
        for key, part in zip(keys, of, strict=True)
    )
    return {"of": dict(zip((key.name for key in keys), of, strict=True)), "name": ", ".join(words)}


# --- numbers


def in_order(things: Iterable[Of]) -> list[Of]:
    """Numbers by size, words by the alphabet, nothing before all."""
    return sorted(
        things,
        key=lambda of: tuple((isinstance(part, str), part is not None, 0 if part is None else part) for part in of),
    )


def _rounds(rounds: Counter[int]) -> SpreadData:
    mean = sum(number * games for number, games in rounds.items()) / rounds.total() if rounds else None
    return {"mean": _rounded(mean), "min": min(rounds, default=None), "max": max(rounds, default=None)}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
