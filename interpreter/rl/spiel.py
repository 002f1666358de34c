"""OpenSpiel adapter: after :func:`register`, ``pyspiel.load_game("regelwerk", {"ruleset": "some-ruleset"})``.

The seed determines all random outcomes, so a game starts with a chance node that draws the seed and has no other. When
OpenSpiel resamples a state from a player's knowledge, hidden information is dealt anew.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import TypedDict

import numpy as np
import pyspiel

from interpreter.engine.decision import Code
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Game
from interpreter.play.match import MAXIMUM_DECISIONS
from interpreter.rl.game_batch import rewards_of
from interpreter.rl.numbering import Limits
from interpreter.rl.space import Space, space_of

__all__ = ["NAME", "SpielGame", "SpielState", "register"]

NAME = "regelwerk"


class Parameters(TypedDict, total=False):
    ruleset: str
    players: int
    settings: str
    seeds: int
    numbers: int


_DEFAULTS: Parameters = {"ruleset": "goofspiel", "players": 2, "settings": "", "seeds": 1000, "numbers": 100}


_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="A ruleset of Regelwerk",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=20,
    min_num_players=1,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=dict(_DEFAULTS),
)


@cache
def register() -> str:
    """Register the game ``regelwerk`` with OpenSpiel and return that name.

    Parameters of a game: ``ruleset`` (id or path), ``players``, ``settings`` (``name=value``, separated by ``;``),
    ``seeds`` (number of outcomes of the chance node, seeds from 0) and ``numbers`` (:class:`Limits`).
    """
    pyspiel.register_game(_TYPE, SpielGame)
    return NAME


@cache
def _space(ruleset: str, players: int, settings: str, numbers: int) -> Space:
    parts = (part.partition("=") for part in settings.split(";") if part)
    values = {name.strip(): value.strip() for name, _, value in parts}
    return space_of(ruleset, players, values, limits=Limits(numbers=numbers))


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel may not be installed for type checking
    """OpenSpiel game: a ruleset with a number of players. ``space`` numbers its actions and observations."""

    def __init__(self, params: Parameters | None = None) -> None:
        parameters: Parameters = {**_DEFAULTS, **(params or {})}
        self.key: Key = parameters["ruleset"], parameters["players"], parameters["settings"], parameters["numbers"]
        self.space = _space(*self.key)
        self.seeds = parameters["seeds"]
        info = pyspiel.GameInfo(
            num_distinct_actions=self.space.actions.count,
            max_chance_outcomes=self.seeds,
            num_players=self.space.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=MAXIMUM_DECISIONS,
        )
        super().__init__(_TYPE, info, dict(params or {}))

    def new_initial_state(self) -> SpielState:
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> SpielObserver:
        """Return an observer of a player's current view, without perfect recall."""
        if params:
            raise ValueError(f"observers take no parameters, got {params}")
        return SpielObserver(self.space)


Key = tuple[str, int, str, int]
"""Cache key of a space: ruleset, players, settings, limit of numbers."""


class _OwnGame:
    """A game that is cloned with its state. Copies of resampled states need no log."""

    def __init__(self, key: Key, game: Game, *, has_log: bool) -> None:
        self.key, self.game, self.has_log = key, game, has_log

    def __deepcopy__(self, memo: object) -> _OwnGame:
        return _OwnGame(self.key, self.game.clone(log=self.has_log), has_log=self.has_log)

    def __reduce__(self) -> tuple[Callable[[Key, str], _OwnGame], tuple[Key, str]]:
        return _loaded, (self.key, self.game.to_json())


def _loaded(key: Key, text: str) -> _OwnGame:
    return _OwnGame(key, _space(*key).ruleset.load_game(text), has_log=True)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """OpenSpiel state of a game."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.spiel = game
        self._held: _OwnGame | None = None
        self._legal: dict[int, Code] | None = None

    def clone(self) -> SpielState:
        copy = SpielState(self.spiel)
        copy._held = deepcopy(self._held)
        return copy

    def __deepcopy__(self, memo: object) -> SpielState:
        return self.clone()

    @property
    def game(self) -> Game:
        """Return the game, which exists once its seed is drawn."""
        assert self._held is not None, "the seed is not drawn yet"
        return self._held.game

    def current_player(self) -> int:
        if self._held is None:
            return int(pyspiel.PlayerId.CHANCE)
        decision = self.game.decision
        return int(pyspiel.PlayerId.TERMINAL) if decision is None else decision.actor

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(seed, 1 / self.spiel.seeds) for seed in range(self.spiel.seeds)]

    def _options(self) -> dict[int, Code]:
        if self._legal is None:
            decision = self.game.decision
            self._legal = self.spiel.space.legal(decision) if decision is not None else {}
        return self._legal

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self._options()) if self.current_player() == player else []

    def _apply_action(self, action: int) -> None:
        if self._held is None:
            self._held = _OwnGame(self.spiel.key, self.spiel.space.new_game(action), has_log=True)
        else:
            decision = self.game.decision
            assert decision is not None
            self.game.apply(decision.option(self._options()[action]))
        self._legal = None

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"seed {action}"
        return self.spiel.space.action_name(action)

    def is_terminal(self) -> bool:
        return self._held is not None and self.game.is_over

    def returns(self) -> list[float]:
        result = self.game.result if self._held is not None else None
        return [0.0] * self.spiel.space.players if result is None else rewards_of(result)[: self.spiel.space.players]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Return a state that the player cannot distinguish from this one, with new hidden information and
        randomness."""
        worlds = Worlds(self.game, player, replay=False)
        copy = SpielState(self.spiel)
        world = worlds.deal(int(sampler() * (1 << 53)), lambda n: int(sampler() * n))
        copy._held = _OwnGame(self.spiel.key, world, has_log=False)
        return copy

    def __str__(self) -> str:
        return "the seed is not drawn yet" if self._held is None else f"{self.game!r} {self.game.digest()}"


class SpielObserver:
    """Observer of a player's current view. ``tensor`` is the vector of :class:`interpreter.rl.Space` as floats."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.tensor = np.zeros(space.vector.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        if state.is_chance_node():
            self.tensor.fill(0)
        else:
            self.tensor[:] = self.space.observe(state.game, player)

    def string_from(self, state: SpielState, player: int) -> str:
        return "nothing" if state.is_chance_node() else " ".join(map(str, self.space.observe(state.game, player)))
