"""Many games by bots: a row for each, and what they come to.

Game number i of a simulation has the seed ``seed + i``, so that each can be played again alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

from interpreter.base.cycles import no_search
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.game import Decision, Game
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure
from interpreter.play.bots.base import Bot
from interpreter.play.match import Match

__all__ = ["Row", "key_names", "measured", "simulate", "summary"]

Numbers = int | None | list[int | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One game. ``free`` counts the decisions with more than one option; ``keys`` are what ranks the seats."""

    seed: int
    decisions: int
    free: int
    rounds: int
    seconds: float
    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    measures: dict[str, Numbers]

    def as_dict(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "decisions": self.decisions,
            "free_decisions": self.free,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 6),
            "places": list(self.places),
            "keys": [list(keys) for keys in self.keys],
            "measures": self.measures,
        }


def simulate(
    ruleset: Ruleset, bots: Sequence[Bot], games: int, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> Iterator[Row]:
    """Plays so many games, one row after another. ``ValueError`` for players or settings that are not allowed."""
    for number in range(games):
        try:
            with no_search():
                row = _row(ruleset, bots, seed + number, settings)
            yield row
        except RuleFailure as failure:
            failure.message += f" (in the game with seed {seed + number})"
            raise


def _row(ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, Any] | None) -> Row:
    start = perf_counter()
    match = Match(ruleset, bots, seed, settings)
    game = match.game
    free = 0
    while (decision := game.decision) is not None:
        free += _is_free(game, decision)
        match.step()
    result = game.result
    layout = game.machine.constants.layout
    measures = {measure.name: measured(game, measure) for measure in _at_end(ruleset)}
    return Row(
        seed,
        match.decisions,
        free,
        game.state.cells[layout.base["round"]],
        perf_counter() - start,
        result.places if result else (),
        result.keys if result else (),
        measures,
    )


def _is_free(game: Game, decision: Decision) -> bool:
    """Whether there is more than one option."""
    return len(list(islice(game.machine.options(game.state, decision.env, decision.site), 2))) > 1


def _at_end(ruleset: Ruleset) -> list[Measure]:
    """The measures of the end of a game that are numbers."""
    return [m for m in ruleset.model.measures if m.when == "end of game" and m.value.type.form in ("int", "bool")]


def measured(game: Game, measure: Measure) -> Numbers:
    """A measure as the game stands: one number, or one for each seat."""
    value = game.machine.expressions.compile(measure.value)
    env: list[Any] = [None] * (measure.local_count + 1)
    if measure.each is None:
        return _number(value(game.state, env))
    found: list[int | None] = []
    for item in game.machine.expressions.compile(measure.each)(game.state, env):
        env[measure.each_local] = item
        found.append(_number(value(game.state, env)))
    return found


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


# --- what games come to


def key_names(ruleset: Ruleset) -> list[str]:
    """What ranks the seats, as it is written: `who.points` is `points`."""
    return [" ".join(key.span.text.split()).removeprefix("who.") for key in ruleset.model.ranking]


def summary(ruleset: Ruleset, bots: Sequence[Bot], rows: Sequence[Row]) -> dict[str, Any]:
    """Games in numbers: how long they are, who wins them, and the measures. ``share`` splits a shared win."""
    names = [bot.name for bot in bots]  # then the seats that count though nobody plays them
    names.extend("rules" for place in next((row.places[len(bots) :] for row in rows if row.places), ()) if place)
    return {
        "games": len(rows),
        "decisions": sum(row.decisions for row in rows),
        "free_decisions": sum(row.free for row in rows),
        "seconds": round(sum(row.seconds for row in rows), 6),
        "rounds": _spread([row.rounds for row in rows]),
        "seats": [_seat(ruleset, name, seat, rows) for seat, name in enumerate(names)],
        "measures": {measure.name: _measure(measure, len(names), rows) for measure in _at_end(ruleset)},
    }


def _seat(ruleset: Ruleset, bot: str, seat: int, rows: Sequence[Row]) -> dict[str, Any]:
    finished = [row for row in rows if row.places]
    won = [row for row in finished if row.places[seat] == 1]
    share = sum(1 / row.places.count(1) for row in won)
    keys = {
        name: _mean([row.keys[seat][position] for row in finished]) for position, name in enumerate(key_names(ruleset))
    }
    return {
        "seat": seat,
        "bot": bot,
        "wins": len(won),
        "share": round(share / len(finished), 4) if finished else None,
        "keys": keys,
    }


def _measure(measure: Measure, seats: int, rows: Sequence[Row]) -> Any:
    if measure.each is None:
        return _spread([row.measures[measure.name] for row in rows])
    columns: list[list[Any]] = [[] for _ in range(seats)]
    for row in rows:
        values = row.measures[measure.name]
        for column, value in zip(columns, values if isinstance(values, list) else (), strict=False):
            column.append(value)
    return [_spread(column) for column in columns]


def _spread(values: Sequence[Any]) -> dict[str, Any]:
    numbers = [value for value in values if isinstance(value, int)]
    return {"mean": _mean(numbers), "min": min(numbers, default=None), "max": max(numbers, default=None)}


def _mean(numbers: Sequence[int]) -> float | None:
    return round(sum(numbers) / len(numbers), 4) if numbers else None
