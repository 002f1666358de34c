"""What many games come to: how long they are, who wins them, and the numbers that the ruleset's measures took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any

from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure, MeasureKey
from interpreter.language.types import Type
from interpreter.play.intervals import share_interval
from interpreter.play.measures import Taken
from interpreter.play.simulate import Row

__all__ = ["by_round", "final", "seat_names", "summary", "together"]

Of = tuple[Any, ...]


def summary(ruleset: Ruleset, bots: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Games in numbers, as plain data. ``bots`` are the names of those who play; ``share`` splits a shared win.

    ``measures`` are as games end, ``curves`` by round, ``tables`` for each thing that an event was about.
    """
    names = seat_names(bots, rows)
    measures = ruleset.model.measures
    return {
        "games": len(rows),
        "decisions": sum(row.decisions for row in rows),
        "free_decisions": sum(row.free for row in rows),
        "processor_seconds": round(sum(row.seconds for row in rows), 6),
        "rounds": _spread([row.rounds for row in rows]),
        "lengths": [{"rounds": n, "games": k} for n, k in sorted(Counter(row.rounds for row in rows).items())],
        "seats": [_seat(ruleset, name, seat, rows) for seat, name in enumerate(names)],
        "measures": {m.name: _at_end(m, len(names), rows) for m in measures if _is_final(m)},
        "curves": {m.name: _curve(ruleset, m, rows) for m in measures if m.recurs},
        "tables": {m.name: _table(ruleset, m, rows) for m in measures if m.event is not None or _is_spread_out(m)},
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


def _at_end(measure: Measure, seats: int, rows: Sequence[Row]) -> Any:
    """One spread, or one for each seat."""
    ends = [final(measure, row) for row in rows]
    if measure.seat is None:
        return _spread([end.get(()) for end in ends])
    return [_spread([end.get((seat,)) for end in ends]) for seat in range(seats)]


# --- by round


def _curve(ruleset: Ruleset, measure: Measure, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each thing its mean in each round, over the games that come so far."""
    found: dict[Of, dict[int, list[int]]] = {}
    for row in rows:
        for (of, number), value in by_round(measure, row.taken.get(measure.name, ())).items():
            if value is not None:
                found.setdefault(of, {}).setdefault(number, []).append(value)
    return [
        {
            **_about(ruleset, measure.keys, of),
            "rounds": [
                {"round": number, "games": len(values), "mean": _mean(values)}
                for number, values in sorted(found[of].items())
            ],
        }
        for of in _in_order(found)
    ]


def by_round(measure: Measure, taken: Iterable[Taken]) -> dict[tuple[Of, int], int | None]:
    """What was taken last of each thing in each round, or all of the round together where it sums."""
    found: dict[tuple[Of, int], int | None] = {}
    for each in taken:
        found[each.of, each.round] = _with(measure, found.get((each.of, each.round)), each.value)
    return found


# --- by what events were about


def _is_spread_out(measure: Measure) -> bool:
    """Whether it is taken once in a game of things other than seats."""
    return not measure.recurs and measure.event is None and not _is_final(measure)


def _table(ruleset: Ruleset, measure: Measure, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each thing how often it was met, in how many games, its numbers, and the share of the win of its seats."""
    found: dict[Of, list[tuple[int, float | None, int | None]]] = {}
    seat = measure.seat
    for row in rows:
        for of, value in _occurrences(measure, row):
            other = of if seat is None else (*of[:seat], *of[seat + 1 :])
            share = row.share(of[seat]) if seat is not None and row.places else None
            found.setdefault(other, []).append((row.seed, share, value))
    keys = [key for place, key in enumerate(measure.keys) if place != seat]
    return [{**_about(ruleset, keys, of), **_met(found[of])} for of in _in_order(found)]


def _occurrences(measure: Measure, row: Row) -> Iterator[tuple[Of, int | None]]:
    if measure.sums:
        yield from final(measure, row).items()
    else:
        yield from ((taken.of, taken.value) for taken in row.taken.get(measure.name, ()))


def _met(met: list[tuple[int, float | None, int | None]]) -> dict[str, Any]:
    shares = [share for _, share, _ in met if share is not None]
    return {
        "times": len(met),
        "games": len({seed for seed, _, _ in met}),
        **_spread([value for _, _, value in met]),
        "share": _rounded(fmean(shares)) if shares else None,
    }


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


# --- numbers


def _in_order(things: Iterable[Of]) -> list[Of]:
    """Numbers by size, words by the alphabet."""
    return sorted(things, key=lambda of: tuple((isinstance(part, str), part) for part in of))


def _spread(values: Sequence[int | None]) -> dict[str, Any]:
    numbers = [value for value in values if value is not None]
    return {"mean": _mean(numbers), "min": min(numbers, default=None), "max": max(numbers, default=None)}


def _mean(numbers: Sequence[int]) -> float | None:
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
