"""Many games by bots, a row for each.

Game number i of a simulation has the seed ``seed + i``, so that each can be played again alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from interpreter.base.cycles import no_search
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.ruleset import Ruleset
from interpreter.play.bots.base import Bot
from interpreter.play.match import Match
from interpreter.play.measures import Taken, taken

__all__ = ["Row", "played", "simulate"]


@dataclass(frozen=True, slots=True)
class Row:
    """One game. ``free`` counts the decisions with more than one option; ``keys`` are what ranks the seats; ``taken``
    has all numbers that the ruleset's `measures` took. All but ``seconds`` (processor time) follows from the seed."""

    seed: int
    decisions: int
    free: int
    rounds: int
    seconds: float
    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    taken: dict[str, list[Taken]]

    def as_dict(self) -> dict[str, Any]:
        """The row without the time that it took: the same wherever and whenever it is played."""
        return {
            "seed": self.seed,
            "decisions": self.decisions,
            "free_decisions": self.free,
            "rounds": self.rounds,
            "places": list(self.places),
            "keys": [list(keys) for keys in self.keys],
            "measures": {
                name: [[each.round, list(each.of), each.value] for each in numbers]
                for name, numbers in self.taken.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], seconds: float) -> Row:
        return cls(
            data["seed"],
            data["decisions"],
            data["free_decisions"],
            data["rounds"],
            seconds,
            tuple(data["places"]),
            tuple(tuple(keys) for keys in data["keys"]),
            {
                name: [Taken(number, tuple(of), value) for number, of, value in numbers]
                for name, numbers in data["measures"].items()
            },
        )

    def counts(self, seat: int) -> bool:
        """Whether a seat can win; one that the rules play may only stand in the way. Without an end all can."""
        return not self.places or bool(self.places[seat])

    def share(self, seat: int) -> float:
        """What a seat has of the win: all, a part that it shares, or nothing."""
        return 1 / self.places.count(1) if self.places and self.places[seat] == 1 else 0.0


def simulate(
    ruleset: Ruleset, bots: Sequence[Bot], games: int, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> Iterator[Row]:
    """Plays so many games, one row after another. ``ValueError`` for players or settings that are not allowed."""
    return played(ruleset, bots, range(seed, seed + games), settings)


def played(
    ruleset: Ruleset,
    bots: Sequence[Bot],
    seeds: Iterable[int],
    settings: Mapping[str, Any] | None = None,
    stopped: Callable[[], bool] = bool,
) -> Iterator[Row]:
    """A row for each seed, until it is to be ``stopped``; a game that goes on then is given up."""
    for seed in seeds:
        try:
            with no_search():
                row = _row(ruleset, bots, seed, settings, stopped)
        except RuleFailure as failure:
            failure.message += f" (in the game with seed {seed})"
            raise
        if row is None:
            return
        yield row


def _row(
    ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, Any] | None, stopped: Callable[[], bool]
) -> Row | None:
    start = process_time()
    match = Match(ruleset, bots, seed, settings)
    game = match.game
    free = 0
    while not game.is_over:
        if stopped():
            return None
        free += game.machine.is_free(game.state)
        match.step()
    result = game.result
    return Row(
        seed,
        match.decisions,
        free,
        game.state.cells[game.machine.constants.layout.base["round"]],
        process_time() - start,
        result.places if result else (),
        result.keys if result else (),
        taken(game),
    )
