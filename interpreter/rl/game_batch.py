"""Batches of games for reinforcement learning: NumPy arrays of actions in; observations, masks and rewards out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from interpreter.base.plain_data import Json
from interpreter.base.plurals import counted
from interpreter.bots.compiled_bots import needs_of
from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.shapes import WORD, Unsupported, signed
from interpreter.compiler.wasm.codec import fitted
from interpreter.compiler.wasm.driver import LONG
from interpreter.compiler.wasm.engines import is_available
from interpreter.compiler.wasm.instance import Trap
from interpreter.engine.decision import Code
from interpreter.engine.game import Result, Ruleset, checked_seat
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from interpreter.lowering.constants import Endless, RuleFailure
from interpreter.plain.machine import Machine
from interpreter.play.match import MAXIMUM_DECISIONS, streams_for
from interpreter.rl.batch_module import Batch, batch_of
from interpreter.rl.numbering import MOST_LEGAL, Limits
from interpreter.rl.space import Space, space_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    T = TypeVar("T", bound=np.generic)

__all__ = ["Games", "make", "rewards_of"]

WITHOUT_END = f"the game with seed {{}} has more than {MAXIMUM_DECISIONS:,} choices"


def make(
    ruleset: Ruleset | str | Path,
    players: int | None = None,
    n: int = 1024,
    *,
    seed: int = 0,
    settings: Mapping[str, Json] | None = None,
    overlays: Iterable[str] = (),
    bots: Mapping[int, str] | None = None,
    limits: Limits | None = None,
    again: bool = True,
    plain: bool = False,
) -> Games:
    """Return ``n`` games of a ruleset, each at its first decision.

    ``bots`` names bots by seat; they choose within a step, and the caller acts for all other seats. With ``again``, a
    finished game is replaced by a new one in the same step. ``plain`` plays in the plain form even if there is a
    module. Raises :class:`RulesetError` and :class:`ValueError` like :func:`interpreter.load` and ``new_game``.
    """
    if n < 1:
        raise ValueError(f"n: got {n}, want at least one game")
    space = space_of(ruleset, players, settings, overlays, limits)
    seated = _seated(space, bots or {})
    batch = None if plain else _compiled(space, seated, n, again)
    table = space, n, seed, seated, again
    games = Games(*table) if batch is None else _InModule(*table, batch)
    games.reset()
    return games


def _seated(space: Space, bots: Mapping[int, str]) -> dict[int, Bot]:
    named = {checked_seat(seat, space.players, "bots: "): name for seat, name in bots.items()}
    if len(named) == space.players:
        raise ValueError("bots: every seat has a bot; leave at least one seat free")
    return {seat: bots_of(name, space.ruleset, space.players)[seat] for seat, name in named.items()}


def rewards_of(result: Result) -> list[float]:
    """Return each seat's reward: the share of other seats that it beat, less the share that beat it. The sole first
    gets 1, the sole last -1, and a seat that does not count 0."""
    places = [place for place in result.places if place]
    others = max(1, len(places) - 1)
    return [sum((own < place) - (own > place) for place in places) / others if own else 0.0 for own in result.places]


class Games:
    """Games that are stepped together. All arrays have a row per game. A step overwrites them, so copy what you keep.

    - ``observations`` (int32): the view of the seat to act, as described by :class:`Space`
    - ``masks`` (bool): legal actions
    - ``counts`` (int32): number of legal actions
    - ``legal`` (int32): their numbers, at most 1,024
    - ``actors`` (int32): the seat to act, -1 if the game is over
    - ``rewards`` (float32): a column per seat, 0 unless the game ended in this step (:func:`rewards_of`)
    - ``dones`` (bool): whether the game ended in this step
    - ``truncated`` (bool): whether it ended because it had too many choices, and so without rewards
    - ``actions`` (int32): the actions of the last step
    """

    is_compiled = False
    """Whether a module plays the games."""

    def __init__(
        self, space: Space, n: int, seed: int, seated: Mapping[int, Bot], again: bool, batch: Batch | None = None
    ) -> None:
        self.space, self.n, self.first_seed, self.seated, self.again = space, n, seed, dict(seated), again
        self.rows: dict[int, _Row] = {}
        """The games, if no module plays them."""
        self._arrays(batch)

    @property
    def players(self) -> int:
        return self.space.players

    def reset(self, seed: int | None = None) -> NDArray[np.int32]:
        """Start new games and return the observations. Game i has seed ``seed + i``; each later game in the same row
        has a seed larger by ``n``."""
        if seed is not None:
            self.first_seed = seed
        self._begin(range(self.first_seed, self.first_seed + self.n))
        return self.observations

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.bool_]]:
        """Apply one action per game and return observations, rewards and dones. Ignores actions of finished games.

        Raises :class:`ValueError` for an illegal action, without changing any game, and :class:`RuleFailure` if a rule
        fails; earlier games in the batch are then one step ahead.
        """
        import numpy as np

        self.actions[:] = actions
        known = self._unsigned < self.space.actions.count
        is_legal = known & self.masks[self._rows, self._unsigned * known]
        if not is_legal.all() and (refused := np.flatnonzero((self.actors >= 0) & ~is_legal)).size:
            raise self._illegal(int(refused[0]))
        self.truncated[:] = False
        self._step()
        return self.observations, self.rewards, self.dones

    def sample(self, random: np.random.Generator) -> NDArray[np.int32]:
        """Return a uniformly random legal action for each game; 0 if the game is over."""
        import numpy as np

        width = self.legal.shape[1]
        if int(self.counts.max()) > width:
            return np.array([random.choice(np.flatnonzero(row)) if row.any() else 0 for row in self.masks], np.int32)
        places = (random.random(self.n) * self.counts).astype(np.intp)
        return self.legal[self._rows, places] * (self.counts > 0)

    def _illegal(self, game: int) -> ValueError:
        action = int(self.actions[game])
        if not 0 <= action < self.space.actions.count:
            return ValueError(f"game {game}: there is no action {action}")
        return ValueError(
            f"game {game}: action {action} ({self.space.action_name(action)}) is not legal; "
            f"{counted(int(self.counts[game]), 'action')} are, see `masks`"
        )

    def _arrays(self, batch: Batch | None) -> None:
        """Create the arrays, as views of the memory of a module if there is one."""
        import numpy as np

        space, n = self.space, self.n
        listed = max(1, min(MOST_LEGAL, space.actions.count))

        def array(kind: type[T], *shape: int, at: str) -> NDArray[T]:
            if batch is None:
                return np.zeros(shape, kind)
            return np.frombuffer(batch.bytes, kind, int(np.prod(shape)), batch.numbers[at]).reshape(shape)

        self.observations = array(np.int32, n, space.vector.size, at="vectors")
        self.masks = array(np.bool_, n, space.actions.count, at="mask")
        self.counts = array(np.int32, n, at="counts")
        self.legal = array(np.int32, n, listed, at="legal")
        self.actors = array(np.int32, n, at="actors")
        self.rewards = array(np.float32, n, space.seats, at="rewards")
        self.dones = array(np.bool_, n, at="dones")
        self.actions = array(np.int32, n, at="actions")
        self.truncated = np.zeros(n, np.bool_)
        self._rows, self._unsigned = np.arange(n), self.actions.view(np.uint32)

    def restart(self, game: int) -> None:
        """Replace one game by a new one, with the next seed of its row."""
        self._begin([self._seed(game) + self.n], game)

    # --- in the plain form

    def _seed(self, game: int) -> int:
        return self.rows[game].seed

    def _begin(self, seeds: Sequence[int], first: int = 0) -> None:
        """Start games with these seeds, from game number ``first`` on."""
        for number, seed in enumerate(seeds, first):
            self.rewards[number], self.dones[number] = 0, False
            self.rows[number] = _Row(self.space, self.seated, seed)
            self._update(number)

    def _step(self) -> None:
        self.rewards[:], self.dones[:] = 0, False
        for number, row in self.rows.items():
            game, decision = row.game, row.game.decision
            if decision is None:
                continue
            try:
                row.take(row.legal[int(self.actions[number])])
                row.play_bots()
            except Endless:
                game.decision, self.truncated[number] = None, True
            if game.is_over:
                self.dones[number] = True
                if game.result is not None:
                    self.rewards[number] = rewards_of(game.result)
                if self.again:
                    self.rows[number] = _Row(self.space, self.seated, row.seed + self.n)
            self._update(number)

    def _update(self, number: int) -> None:
        row, game = self.rows[number], self.rows[number].game
        row.legal = self.space.legal(game.decision) if game.decision is not None else {}
        listed = list(row.legal)
        self.actors[number] = game.decision.actor if game.decision is not None else -1
        self.masks[number] = False
        self.masks[number, listed] = True
        self.counts[number] = len(listed)
        listed = listed[: self.legal.shape[1]]
        self.legal[number, : len(listed)] = listed
        if game.decision is not None or game.result is not None:  # one that was truncated keeps its last
            self.observations[number] = self.space.observe(game, max(0, int(self.actors[number])))

    def observe(self, game: int, seat: int) -> list[int]:
        """Return the observation of any seat in a game. Raises :class:`ValueError` if there is no such seat."""
        return self.space.observe(self.rows[self._rows[game]].game, checked_seat(seat, self.space.seats))

    def state(self, game: int) -> State:
        """Return a copy of the state of a game, without its log."""
        return self.rows[game].game.state.clone()


class _Row:
    """A game of a batch in the plain form, with its legal actions, at a decision of an outside player."""

    def __init__(self, space: Space, bots: Mapping[int, Bot], seed: int) -> None:
        self.bots, self.seed = bots, seed & (1 << 64) - 1
        self.game = space.new_game(self.seed)
        self.streams = streams_for(self.seed, space.players)
        self.made = 0
        self.legal: dict[int, Code] = {}
        self.play_bots()

    def take(self, code: Code) -> None:
        """Make this very choice, as a module does, also if others have the same public name."""
        self.made += 1
        if self.made > MAXIMUM_DECISIONS:
            raise Endless(WITHOUT_END.format(self.seed), None)
        self.game.take(code)

    def play_bots(self) -> None:
        while (decision := self.game.decision) is not None and decision.actor in self.bots:
            bot = self.bots[decision.actor]
            self.take(bot.choose(self.game, decision, self.streams[decision.actor]).code)


# --- in a module


def _compiled(space: Space, seated: Mapping[int, Bot], n: int, again: bool) -> Batch | None:
    """Return the games in a module; None if no module is possible."""
    bots = [need for bot in seated.values() if (need := needs_of(space.ruleset, bot)) is not None]
    if not is_available() or len(bots) < len(seated):
        return None
    machine = space.table.machine
    for policy, _ in bots:
        if policy is not None:
            machine.learn(policy)
    try:
        runner = space.table.runner
        builder, first = fitted(machine, space.table.first, dict(runner.rooms), runner.texts)
        chosen = [builder.policies.choices(policy, peeks, str(id(policy))) for policy, peeks in bots]
        batch = batch_of(builder, first, chosen, space.actions, space.vector, n)
    except Unsupported:
        return None
    batch.put("limit", MAXIMUM_DECISIONS)
    batch.put("again", int(again))
    for number, seat in enumerate(seated):
        batch.put("bots", 1 + number * batch.numbers["stretches"], seat)
    return batch


class _InModule(Games):
    is_compiled = True

    def __init__(self, space: Space, n: int, seed: int, seated: Mapping[int, Bot], again: bool, batch: Batch) -> None:
        super().__init__(space, n, seed, seated, again, batch)
        self.batch = batch
        self.bailouts = 0
        """Number of choices that the plain form had to make for the module."""

    def _seed(self, game: int) -> int:
        return self.batch.seed(game)

    def _begin(self, seeds: Sequence[int], first: int = 0) -> None:
        for game, seed in enumerate(seeds, first):
            self.batch.longs[self.batch.row(game) // LONG] = signed(seed)
        self._each(1, self._begin_plain, first, first + len(seeds))

    def _step(self) -> None:
        self._each(0, self._step_plain, 0, self.n)

    def _each(self, anew: int, plain: Callable[[int], None], start: int, end: int) -> None:
        """Let the module start or step all games from ``start`` on. Those in which it traps are taken on in the plain
        form."""
        while start < end:
            try:
                self.batch.step(start, end, anew)
                return
            except Trap:
                stuck = self.batch.word("cursor")
                plain(stuck)
                start = stuck + 1

    def _begin_plain(self, game: int) -> None:
        self.bailouts += 1
        state = self.space.table.first.clone()
        Machine.start(self.space.table.machine, state, Seeded(self.batch.seed(game)))
        self._resume(game, state)

    def _truncate(self, game: int) -> None:
        if self.again:
            self.restart(game)
        else:
            self.batch.words[self.batch.row(game) // WORD + 5] = 1  # it is over
            self.actors[game], self.counts[game], self.masks[game] = -1, 0, False
        self.dones[game] = self.truncated[game] = True

    def _step_plain(self, game: int) -> None:
        """Apply the action of one game in the plain form, which reports any rule failure."""
        if self.batch.is_endless(game):
            self._truncate(game)
            return
        self.bailouts += 1
        machine, state = self.space.table.machine, self.state(game)
        assert state.frame is not None
        codes = machine.options(state, list(state.frame[1]), machine.asks[state.frame[0]])
        legal = self.space.actions.numbered(state.frame[0], codes)
        machine.take(state, Seeded(self.batch.seed(game)), *legal[int(self.actions[game])])
        self._resume(game, state)

    def _resume(self, game: int, state: State) -> None:
        """Go on in the module from the state that a choice led to in the plain form."""
        batch, seed = self.batch, self.batch.seed(game)
        try:
            data = batch.codec.encode(state, seed)
            batch.bytes[STATE : STATE + len(data)] = data
            batch.resume(game)
        except (Trap, Unsupported):
            if self.batch.is_endless(game):
                raise Endless(WITHOUT_END.format(seed), None) from None
            message = f"the game with seed {seed} does not fit into a batch; play it with `plain=True`"
            raise RuleFailure(message, None) from None

    def observe(self, game: int, seat: int) -> list[int]:
        batch, at = self.batch, self.batch.numbers["other"]
        batch.observe(int(self._rows[game]), checked_seat(seat, self.space.seats), at)
        return batch.words[at // WORD : at // WORD + self.space.vector.size].tolist()

    def state(self, game: int) -> State:
        batch, at = self.batch, self.batch.row(game) + self.batch.numbers["held"]
        end = batch.words[at // WORD + 2] - STATE
        return batch.codec.decode(batch.bytes[at : at + end].tobytes())
