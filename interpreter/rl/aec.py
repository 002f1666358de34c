"""PettingZoo environment of a game: agents act in turn (AEC)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from interpreter.base.plain_data import Json
from interpreter.engine.game import Game, Ruleset
from interpreter.hidden.sight import PUBLIC
from interpreter.rl.game_batch import rewards_of
from interpreter.rl.numbering import Limits
from interpreter.rl.space import space_of

__all__ = ["GameEnv"]

RENDER_MODES = ["ansi", "rgb_array"]
INT32 = np.iinfo(np.int32)


class GameEnv(AECEnv):  # type: ignore[misc]  # PettingZoo may not be installed for type checking
    """PettingZoo environment of one game. An observation has two parts: ``observation``, the vector of
    :class:`interpreter.rl.Space`, and ``action_mask``, 1 for each legal action of the agent to act, else 0.

    The reward is 0 until the game is over, then that of :func:`interpreter.rl.game_batch.rewards_of`. Raises
    :class:`RulesetError` and :class:`ValueError` like :func:`interpreter.load` and ``new_game``.
    """

    metadata = {"render_modes": RENDER_MODES, "is_parallelizable": False, "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        ruleset: Ruleset | str | Path,
        players: int | None = None,
        *,
        settings: Mapping[str, Json] | None = None,
        overlays: Iterable[str] = (),
        limits: Limits | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode: got {render_mode!r}, want one of {RENDER_MODES}")
        self.space = space_of(ruleset, players, settings, overlays, limits)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "name": self.space.ruleset.id}
        self.possible_agents = [f"player_{seat}" for seat in range(self.space.players)]
        self.agents: list[str] = []
        seen = spaces.Dict(
            {
                "observation": spaces.Box(INT32.min, INT32.max, (self.space.vector.size,), np.int32),
                "action_mask": spaces.Box(0, 1, (self.space.actions.count,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = {agent: spaces.Discrete(self.space.actions.count) for agent in self.possible_agents}
        self._random = np.random.default_rng()
        self.game: Game | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, object] | None = None) -> None:
        """Start a game. Without ``seed``, draw one from the generator that was last seeded."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.game = self.space.new_game(seed if seed is not None else int(self._random.integers(1 << 62)))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Json]] = {agent: {} for agent in self.agents}
        self._update()

    def _update(self) -> None:
        """Select the agent to act; if the game is over, set rewards and terminations."""
        assert self.game is not None
        if self.game.decision is not None:
            self.agent_selection = self.possible_agents[self.game.decision.actor]
            return
        assert self.game.result is not None
        self.rewards = dict(zip(self.possible_agents, rewards_of(self.game.result), strict=False))
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, NDArray[np.int32] | NDArray[np.int8]]:
        assert self.game is not None, "call reset first"
        seat, decision = self.possible_agents.index(agent), self.game.decision
        mask = np.zeros(self.space.actions.count, np.int8)
        if decision is not None and decision.actor == seat:
            mask[list(self.space.legal(decision))] = 1
        return {"observation": np.array(self.space.observe(self.game, seat), np.int32), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Apply the action of the agent to act. Raises :class:`ValueError` for an illegal action, without changing the
        game."""
        assert self.game is not None, "call reset first"
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        decision = self.game.decision
        assert decision is not None
        code = self.space.legal(decision).get(-1 if action is None else int(action))
        if code is None:
            name = self.space.action_name(int(action)) if action is not None else "none"
            raise ValueError(f"{agent}: action {action} ({name}) is not legal; see `action_mask`")
        self.game.apply(decision.option(code))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._update()
        self._accumulate_rewards()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the public view of the game: as text, or as an image of the board (height × width × 3), which needs
        the extra ``png``."""
        from interpreter.drawing.board_tables import boards_of, game_drawn
        from interpreter.drawing.png import png_of

        if self.game is None or self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return _pixels_of(png_of(game_drawn(self.game, PUBLIC), zoom=1.0))
        lines = [repr(self.game)]
        for board in boards_of(self.game, PUBLIC):
            lines += [board.text] * bool(board.text)
            lines += ["  ".join(row) for row in ([board.columns] if board.columns else []) + list(board.rows)]
        return "\n".join(lines)

    def close(self) -> None:
        """Do nothing: no resources are open. PettingZoo asks for it beside `render`."""


def _pixels_of(png: bytes) -> NDArray[np.uint8]:
    """Decode a PNG to an array of shape (height, width, 3). Transparent areas become white."""
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(png)).convert("RGBA"), np.uint16)
    alpha = pixels[:, :, 3:]
    return ((pixels[:, :, :3] * alpha + 255 * (255 - alpha)) // 255).astype(np.uint8)
