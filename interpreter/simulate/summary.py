"""Summary of many games as plain data: lengths, winners and measures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypedDict

from interpreter.base.plain_data import Json
from interpreter.compiler.wasm.driver import CURVE, FINAL, MET, TABLE, wanted
from interpreter.engine.game import Ruleset
from interpreter.language.model import Measure, MeasureKey
from interpreter.simulate.confidence import share_interval
from interpreter.simulate.simulation import Row, Unfinished
from interpreter.simulate.totals import Interval, Of, Spread, SpreadData, Totals, without_seat

__all__ = [
    "Curve",
    "Report",
    "SeatData",
    "Share",
    "Subject",
    "Summary",
    "Thing",
    "about",
    "in_order",
    "seat_names",
    "summary",
    "summed_up",
]


class Share(TypedDict):
    """Share of wins with its interval: each of several winners has an equal part of a win."""

    share: float | None
    low: float | None
    high: float | None


class SeatData(Share):
    """A seat: its wins, their share, and the means of the ranking keys."""

    seat: int
    bot: str
    wins: int
    keys: dict[str, float | None]


class Subject(TypedDict):
    """Subject of a line, as data (``of``) and in words (``name``)."""

    of: dict[str, int | str | None]
    name: str


class Point(Interval):
    """Mean of a round, over the games that reach it."""

    round: int
    games: int
    mean: float


class Curve(Subject):
    rounds: list[Point]


class Thing(Subject, SpreadData, Share):
    """Subject of an event: its occurrences (``times``), the ``games`` with it, its values, and the share of wins of its
    seats. Intervals are for this number of games, as the seats of one game are not independent. A ``numbered`` subject
    has its place among the others, unlike a card that prints a number."""

    numbered: bool
    times: int
    games: int


class Length(TypedDict):
    """Number of games with a number of rounds."""

    rounds: int
    games: int


class Summary(TypedDict):
    """Summary of games. ``measures`` are final values, ``curves`` are by round, ``tables`` by subject of an event.
    Games that do not end (``unfinished``) are left out of everything else."""

    games: int
    unfinished: list[Unfinished]
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
    """A summary with the parameters of its simulation."""

    ruleset: str
    overlays: list[str]
    players: int
    settings: dict[str, Json]
    seed: int
    wall_seconds: float


def summary(ruleset: Ruleset, bots: Sequence[str], rows: Iterable[Row]) -> Summary:
    """Return the summary of games, like :func:`summed_up`."""
    totals = Totals()
    totals.add(ruleset.model.measures, rows)
    return summed_up(ruleset, bots, totals)


def summed_up(ruleset: Ruleset, bots: Sequence[str], totals: Totals) -> Summary:
    """Return the summary of totals. ``bots`` are the bots' names; ``share`` splits a shared win."""
    names = seat_names(bots, totals.places)
    taken = _by_measure(totals)
    forms = [(measure, taken[measure.name], *wanted(measure)) for measure in ruleset.model.measures]
    return {
        "games": totals.games,
        "unfinished": sorted(totals.unfinished, key=lambda game: game.seed),
        "decisions": totals.decisions,
        "free_decisions": totals.free,
        "processor_seconds": round(totals.seconds, 6),
        "rounds": _rounds(totals.rounds),
        "lengths": [{"rounds": number, "games": games} for number, games in sorted(totals.rounds.items())],
        "seats": [_seat(ruleset, name, seat, totals) for seat, name in enumerate(names)],
        "measures": {m.name: _at_end(m, len(names), numbers) for m, numbers, _, is_final, _ in forms if is_final},
        "curves": {m.name: _curve(ruleset, m, numbers) for m, numbers, is_curve, _, _ in forms if is_curve},
        "tables": {m.name: _table(ruleset, m, numbers) for m, numbers, _, _, is_table in forms if is_table},
    }


Numbers = dict[int, dict[tuple[int, Of], Spread]]
"""Spreads of one measure, by kind of total, then by round (or result) and subject."""


def _by_measure(totals: Totals) -> defaultdict[str, Numbers]:
    by_measure: defaultdict[str, Numbers] = defaultdict(lambda: {CURVE: {}, FINAL: {}, TABLE: {}, MET: {}})
    for (kind, name, round_, of), spread in totals.numbers.items():
        by_measure[name][kind][round_, of] = spread
    return by_measure


def seat_names(bots: Sequence[str], places: Iterable[tuple[int, ...]]) -> list[str]:
    """Return the name of each seat's player: the bots, then `rules` for each seat that the rules play."""
    beside = next((game[len(bots) :] for game in places if game), ())
    return [*bots, *("rules" for place in beside if place)]


def _seat(ruleset: Ruleset, bot: str, seat: int, totals: Totals) -> SeatData:
    finished = sum(games for places, games in totals.places.items() if places)
    won = {places: games for places, games in totals.places.items() if places and places[seat] == 1}
    share = None
    if finished:
        share = float(sum(Fraction(games, places.count(1)) for places, games in won.items()) / finished)
    keys = ruleset.model.keys_by_name(totals.keys[seat, place] for place in range(len(ruleset.model.ranking)))
    return {
        "seat": seat,
        "bot": bot,
        "wins": sum(won.values()),
        **_with_interval(share, finished),
        "keys": {name: _rounded(total / finished if finished else None) for name, total in keys.items()},
    }


def _at_end(measure: Measure, seats: int, numbers: Numbers) -> SpreadData | list[SpreadData]:
    """Return the spread of final values, or a list with one for each seat."""
    ends, empty = numbers[FINAL], Spread()
    if measure.seat is None:
        return ends.get((0, ()), empty).as_data()
    return [ends.get((0, (seat,)), empty).as_data() for seat in range(seats)]


def _curve(ruleset: Ruleset, measure: Measure, numbers: Numbers) -> list[Curve]:
    """Return the mean of each subject in each round, over the games that reach it."""
    rounds: dict[Of, dict[int, Spread]] = {}
    for (round_, of), spread in numbers[CURVE].items():
        if spread.count:
            rounds.setdefault(of, {})[round_] = spread
    return [
        {
            **about(ruleset, measure.keys, of),
            "rounds": [
                {"round": round_, "games": spread.count, "mean": spread.mean or 0.0, **spread.interval()}
                for round_, spread in sorted(rounds[of].items())
            ],
        }
        for of in in_order(rounds)
    ]


def _table(ruleset: Ruleset, measure: Measure, numbers: Numbers) -> list[Thing]:
    """Return, for each subject of an event, its occurrences, games, values, and the share of wins of its seats."""
    games: Counter[Of] = Counter()
    for (_, of), met in numbers[MET].items():
        games[without_seat(measure, of)] += met.times
    spreads: defaultdict[Of, Spread] = defaultdict(Spread)
    shares: defaultdict[Of, list[tuple[Fraction, int]]] = defaultdict(list)
    for (result, of), spread in numbers[TABLE].items():
        spreads[without_seat(measure, of)] += spread
        if result:
            share = Fraction(1, result - 1) if result > 1 else Fraction(0)
            shares[without_seat(measure, of)].append((share, spread.times))
    return [
        {
            **about(ruleset, measure.things, of),
            "numbered": measure.is_numbered,
            "times": spreads[of].times,
            "games": games[of],
            **spreads[of].as_data(games[of]),
            **_with_interval(_share(shares[of]), games[of]),
        }
        for of in in_order(spreads)
    ]


def _share(shares: Sequence[tuple[Fraction, int]]) -> float | None:
    """Return the mean, computed exactly and rounded once, so that it does not depend on the order."""
    times = sum(count for _, count in shares)
    return float(sum(share * count for share, count in shares)) / times if times else None


def _with_interval(share: float | None, games: int) -> Share:
    low, high = share_interval(share, games) if share is not None else (None, None)
    return {"share": _rounded(share), "low": _rounded(low), "high": _rounded(high)}


def about(ruleset: Ruleset, keys: Sequence[MeasureKey], of: Of) -> Subject:
    """Return a subject, given the keys of its measure."""
    words = (ruleset.names.named(part, key.type) for key, part in zip(keys, of, strict=True))
    return {"of": dict(zip((key.name for key in keys), of, strict=True)), "name": ", ".join(words)}


# --- numbers


def in_order(things: Iterable[Of]) -> list[Of]:
    """Sort subjects: none first, then numbers, then words."""
    return sorted(
        things,
        key=lambda of: tuple((isinstance(part, str), part is not None, 0 if part is None else part) for part in of),
    )


def _rounds(rounds: Counter[int]) -> SpreadData:
    spread = Spread()
    for number, games in rounds.items():
        spread.add(games, games, games * number, number, number, games * number**2)
    return spread.as_data()


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
