"""Games of ``docs/examples`` beside those of OpenSpiel: the same legal actions in every position, and the same returns.

Each module of ``tests/openspiel_games`` has a mapping, ``GAME``. A game is played on both sides at once: chance happens
on our side, and the mapping says which outcomes that is on theirs. Actions are chosen at random; in every second game a
bot chooses most of them, because random players rarely reach the end of a game that wants a plan. The suite plays a
sample, this command more:

    python -m tests.openspiel gin_rummy --games 2000
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from time import process_time
from typing import Any, Protocol

import tests.openspiel_games
from interpreter.base.paths import ruleset_roots
from interpreter.bots.player import Bot, Stream
from interpreter.bots.registry import bots_of
from interpreter.engine.decision import Option
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf

__all__ = ["EXAMPLES", "Actions", "SameGame", "Sides", "Tally", "same_game", "same_games"]

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"

Actions = Mapping[int, Sequence[Option]]
"""Actions of OpenSpiel, each with the choices that it stands for. There are none if our rules do not ask there, and
several if ours ask step by step: later ones are looked for on a copy of the game."""


class SameGame(Protocol):
    """A mapping: what a game of ours is in OpenSpiel."""

    ruleset: str
    """Path below ``docs/examples``."""
    players: int
    spiel: str
    """Name of the game in OpenSpiel, with parameters: ``euchre(stick_the_dealer=true)``."""

    overlooked: frozenset[int]
    """Actions that OpenSpiel leaves out in rare positions though its own rules allow them. Games go on without them,
    and they are counted."""

    def seats(self, game: Game) -> Sequence[int]:
        """Return the seats of OpenSpiel's players: where it always begins with player 0, our rules may draw lots."""
        ...

    def outcomes(self, game: Game) -> Iterator[int]:
        """Yield the actions of OpenSpiel's chance player in order. Each is asked for when OpenSpiel needs it, so that
        the game may be read at that time."""
        ...

    def actions(self, game: Game, state: Any) -> Actions:
        """Return our legal choices by OpenSpiel's number. ``state`` may be read where OpenSpiel asks but our rules do
        not, or ask in another order; never to find out what is legal."""
        ...

    def returns(self, game: Game) -> Sequence[float]:
        """Return what each seat has won when the game is over."""
        ...


def same_games() -> list[str]:
    """Return the names of all mappings."""
    return sorted(module.name for module in iter_modules(tests.openspiel_games.__path__))


def same_game(name: str) -> SameGame:
    mapping: SameGame = import_module(f"tests.openspiel_games.{name}").GAME
    return mapping


@dataclass
class Tally:
    """What games had in common, and how often each action was legal and chosen."""

    games: int = 0
    positions: int = 0
    overlooked: int = 0
    returns: Counter[tuple[float, ...]] = field(default_factory=Counter)
    legal: Counter[int] = field(default_factory=Counter)
    chosen: Counter[int] = field(default_factory=Counter)


class Sides:
    """A mapping with both games, to play any number of times."""

    def __init__(self, mapping: SameGame, tally: Tally | None = None) -> None:
        import pyspiel

        self.mapping, self.tally = mapping, tally or Tally()
        self.theirs = pyspiel.load_game(mapping.spiel)
        path = EXAMPLES / mapping.ruleset
        self.ours: Ruleset = load(path, shelf=Shelf([path.parents[1], *ruleset_roots()], ahead=1))
        table = self.ours.table(mapping.players, self.ours.settings({}))
        table.runner.patience = 0.0  # play in the module from the first choice on
        self.bot: Bot = bots_of("greedy", self.ours, mapping.players)[0]

    def play(self, seed: int) -> None:
        """Play a game on both sides. Raises ``AssertionError`` with the position where they differ."""
        mapping, tally = self.mapping, self.tally
        draw = random.Random(seed)
        game = self.ours.new_game(players=mapping.players, seed=seed)
        state, outcomes, seats = self.theirs.new_initial_state(), mapping.outcomes(game), mapping.seats(game)
        thoughts = Stream(seed, "openspiel") if seed % 2 else None
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(outcomes))
                continue
            where = f"seed {seed} after {len(game.choices)} choices: {game.position()}\n{state}"
            actions, theirs = mapping.actions(game, state), state.legal_actions()
            if missing := mapping.overlooked.intersection(actions).difference(theirs):
                actions = {number: choices for number, choices in actions.items() if number not in missing}
                tally.overlooked += len(missing)
            assert sorted(actions) == theirs, f"{where}\n{self._named(state, actions)} != {self._named(state, theirs)}"
            if all(actions.values()):
                assert [each.actor for each in game.decisions] == [seats[state.current_player()]], where
            action = self._chosen(game, actions, draw, thoughts)
            tally.positions += 1
            tally.legal.update(theirs)
            tally.chosen[action] += 1
            for choice in actions[action]:
                game.apply(choice)
            state.apply_action(action)
        assert game.is_over, f"seed {seed}: {game.position()}\n{state}"
        ours = mapping.returns(game)
        assert [ours[seat] for seat in seats] == state.returns(), f"seed {seed}: {ours}\n{state}"
        tally.games += 1
        tally.returns[tuple(state.returns())] += 1

    def _named(self, state: Any, actions: Any) -> list[str]:
        return [state.action_to_string(state.current_player(), action) for action in sorted(actions)]

    def _chosen(self, game: Game, actions: Actions, draw: random.Random, thoughts: Stream | None) -> int:
        """Choose at random, or mostly as the bot does where it has ``thoughts``."""
        if thoughts and len(actions) > 1 and draw.random() < 0.9 and game.decision is not None:
            wanted = self.bot.choose(game, game.decision, thoughts)
            same = [number for number, choices in actions.items() if list(choices[:1]) == [wanted]]
            return draw.choice(
                same or [number for number, choices in actions.items() if not choices] or sorted(actions)
            )
        return draw.choice(sorted(actions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=same_games())
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sides, start = Sides(same_game(options.game)), process_time()
    for seed in range(options.seed, options.seed + options.games):
        sides.play(seed)
        if sides.tally.games % 500 == 0:
            print(f"{sides.tally.games} games, {process_time() - start:.0f} s", file=sys.stderr)
    tally, seconds = sides.tally, process_time() - start
    print(f"{options.game}: {tally.games} games, {tally.positions} positions, {seconds:.1f} s CPU time")
    print(f"no difference, but for {tally.overlooked} legal actions that OpenSpiel overlooks")
    print(f"{len(tally.legal)} different actions were legal, {len(tally.chosen)} were chosen")
    for returns, number in tally.returns.most_common(6):
        print(f"{number} games returned {returns}")


if __name__ == "__main__":
    main()
