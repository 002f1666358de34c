"""Effects on things: which cards, nodes and members of kinds gain between two rulesets, from paired games.

A thing is a subject of a measure, apart from its seat. Each has up to three effects: how often it occurs in a game, its
mean value, and how often the winner has it. The effects on a measure as a whole are left to
:mod:`interpreter.compare.effect_sizes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from interpreter.compare.effect_sizes import Effect, Ratio, ratio_effect
from interpreter.engine.game import Ruleset
from interpreter.language.model import Measure
from interpreter.simulate.simulation import Row
from interpreter.simulate.summary import Subject, about
from interpreter.simulate.totals import Of, occurrences, without_seat

__all__ = ["Gain", "gains"]

_FEW = 5
"""A mean needs at least so many games on each side."""


class Gain(Struct, frozen=True):
    """A thing of a measure, with the effects on its occurrences in a game, its mean value, and the percentage of games
    in which the winner has it."""

    measure: str
    of: dict[str, int | str | None]
    name: str
    times: Effect
    mean: Effect | None
    winner: Effect | None

    @property
    def facts(self) -> dict[str, Effect | None]:
        """Return its effects by name."""
        return {"times": self.times, "mean": self.mean, "winner": self.winner}

    @property
    def effects(self) -> list[Effect]:
        """Return the effects that it has."""
        return [effect for effect in self.facts.values() if effect is not None]

    @property
    def size(self) -> float:
        """Return its largest effect size."""
        return max(abs(effect.size) for effect in self.effects)

    @property
    def is_sure(self) -> bool:
        """Return whether any of its effects is significant."""
        return any(effect.is_sure for effect in self.effects)


def gains(a: Sequence[Row], b: Sequence[Row], rulesets: tuple[Ruleset, Ruleset]) -> list[Gain]:
    """Return the things of each measure that both rulesets have, those with the largest effect first.

    A thing that does not occur on one side counts there as 0, unless most things do so, as those of another board.
    """
    if len(a) < 2:
        return []
    others = {measure.name: _by(measure) for measure in rulesets[1].model.measures}
    return [
        gain
        for measure in rulesets[0].model.measures
        if not measure.is_numbered and others.get(measure.name) == _by(measure)
        for gain in sorted(_gains(measure, a, b, rulesets), key=lambda gain: -gain.size)
    ]


def _by(measure: Measure) -> list[tuple[str, object]]:
    return [(key.name, key.type) for key in measure.keys]


class _Tally(Struct):
    """A thing in one game: its occurrences, the sum and number of its values, and the share of the win of its seats."""

    times: int = 0
    total: int = 0
    count: int = 0
    share: float = 0.0
    seats: set[int] = set()


_NONE = _Tally()


def _gains(measure: Measure, a: Sequence[Row], b: Sequence[Row], rulesets: tuple[Ruleset, Ruleset]) -> Iterator[Gain]:
    sides = [[_tallies(measure, row) for row in rows] for rows in (a, b)]
    met = [dict.fromkeys(of for tallies in side for of in tallies) for side in sides]
    both = [of for of in met[0] if of in met[1]]
    every = list(met[0] | met[1])
    for of in every if 2 * len(both) > len(every) else both:
        left, right = ([tallies.get(of, _NONE) for tallies in side] for side in sides)
        ruleset = rulesets[0 if of in met[0] else 1]  # only one may have a thing of that name
        yield _gain(measure, about(ruleset, measure.things, of), left, right)


def _gain(measure: Measure, thing: Subject, a: Sequence[_Tally], b: Sequence[_Tally]) -> Gain:
    def effect(part: Callable[[_Tally], Ratio]) -> Effect:
        name = f"{measure.name}, {thing['name']}"
        return ratio_effect(name, [part(tally) for tally in a], [part(tally) for tally in b])

    valued = all(sum(tally.count > 0 for tally in side) >= _FEW for side in (a, b))
    return Gain(
        measure.name,
        thing["of"],
        thing["name"],
        effect(lambda tally: (tally.times, 1)),
        effect(lambda tally: (tally.total, tally.count)) if valued else None,
        effect(lambda tally: (100 * tally.share, 1)) if measure.seat is not None else None,
    )


def _tallies(measure: Measure, row: Row) -> dict[Of, _Tally]:
    tallies: dict[Of, _Tally] = {}
    seat = measure.seat
    for of, value in occurrences(measure, row):
        thing = of if seat is None else without_seat(measure, of)
        tally = tallies.get(thing)
        if tally is None:
            tally = tallies[thing] = _Tally()
        tally.times += 1
        if value is not None:
            tally.total += value
            tally.count += 1
        if seat is not None and of[seat] is not None:
            tally.seats.add(of[seat])
    for tally in tallies.values() if seat is not None else ():
        tally.share = sum(map(row.share, tally.seats))
    return tallies
