"""Gymnasium vector environment of many games: the agent plays one seat, bots the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from interpreter.base.plain_data import Json
from interpreter.engine.game import Ruleset, checked_seat
from interpreter.rl.game_batch import Games, make
from interpreter.rl.numbering import Limits
from interpreter.rl.space import loaded

__all__ = ["SeatEnv"]

INT32 = np.iinfo(np.int32)
Infos = dict[str, NDArray[np.bool_]]


class SeatEnv(VectorEnv):  # type: ignore[misc]  # Gymnasium may not be installed for type checking
    """Vector environment of ``num_envs`` games, stepped in one call. Observations are vectors of
    :class:`interpreter.rl.Space`; ``infos["action_mask"]`` has a row per game with its legal actions. The reward is
    that of ``seat`` at the end of the game.

    The next step replaces a finished game and ignores its action (``NEXT_STEP``). ``bots`` is one name for all other
    seats, or names by seat. Raises errors like :func:`interpreter.rl.make`.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        ruleset: Ruleset | str | Path,
        players: int | None = None,
        num_envs: int = 256,
        *,
        seat: int = 0,
        bots: str | Mapping[int, str] = "random",
        settings: Mapping[str, Json] | None = None,
        overlays: Iterable[str] = (),
        limits: Limits | None = None,
        plain: bool = False,
    ) -> None:
        rules = loaded(ruleset, overlays)
        number = rules.players.usual if players is None else players
        others = [*range(number)]
        others.remove(checked_seat(seat, number, "seat: "))
        named = dict.fromkeys(others, bots) if isinstance(bots, str) else dict(bots)
        if sorted(named) != others:
            raise ValueError(f"bots: want one for each of the seats {others}, got {sorted(named)}")
        self.games: Games = make(
            rules, number, num_envs, settings=settings, bots=named, limits=limits, again=False, plain=plain
        )
        self.space, self.seat, self.num_envs = self.games.space, seat, num_envs
        self.single_observation_space = spaces.Box(INT32.min, INT32.max, (self.space.vector.size,), np.int32)
        self.single_action_space = spaces.Discrete(self.space.actions.count)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[NDArray[np.int32], Infos]:
        """Start new games with seeds from ``seed`` on; without one, with random seeds from the environment's
        generator."""
        super().reset(seed=seed)
        self.games.reset(int(self.np_random.integers(1 << 62)) if seed is None else seed)
        self._over = self.games.actors < 0
        return self._seen(), self._infos()

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Return observations, rewards, terminations, truncations and infos."""
        games, over = self.games, np.flatnonzero(self._over)
        games.step(actions)
        for game in over:
            games.restart(int(game))
        self._over = games.actors < 0
        return (
            self._seen(),
            games.rewards[:, self.seat].astype(np.float64),
            self._over & ~games.truncated,
            games.truncated.copy(),
            self._infos(),
        )

    def _seen(self) -> NDArray[np.int32]:
        """Return a copy of the observations; for finished games, the agent's view of the end."""
        seen = self.games.observations.copy()
        for game in np.flatnonzero(self._over):
            seen[game] = self.games.observe(int(game), self.seat)
        return seen

    def _infos(self) -> Infos:
        return {"action_mask": self.games.masks.copy()}
