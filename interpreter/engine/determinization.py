"""Determinization: games with other hidden cards and tokens (:mod:`interpreter.hidden.dealing`), consistent with what a
seat knows.

**Secret locals.** An active procedure or a delayed block can have a local that the seat may not know
(:mod:`interpreter.hidden.secrecy`): a sealed choice of another seat, a number read from hidden cards, an unannounced
draw. Then the world is dealt at the last decision without such a local and replayed from there: known choices are
repeated, unknown ones are random, announced outcomes of chance are repeated, others are random. After each choice the
seat must observe and be asked the same as in the game, and the final view must be equal; cards that the seat saw on the
way stay where they are. Without a log, a game cannot go back, so no world is found. A delayed block of which the seat
may not know that it waits is in no world, unless the replay leads to it.

Worlds do not depend on hidden information: two games that look alike to a seat deal the same worlds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import Struct

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Code, Decision, Option
from interpreter.engine.game import Game
from interpreter.engine.log_records import Choice, is_choice, read, reveals
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import lines_since
from interpreter.hidden.dealing import Draw, Hands, Memory
from interpreter.hidden.sight import may_see
from interpreter.kernel.chance import ChanceSource, Seeded
from interpreter.language import core, types
from interpreter.lowering.constants import RuleFailure

__all__ = ["Undealt", "Worlds", "otherwise"]

REPLAYS = 50
"""Attempts to deal a world from which the replay succeeds."""
TRIES = 4
"""Attempts to replay one choice, each with other random outcomes and, for an unknown choice, another option."""
OPTIONS = 2_000
"""Maximum number of options of a choice that are considered."""


class Undealt(Exception):
    """Raised if no world with other secrets leads to the same observations."""


class _Made(NamedTuple):
    """A past choice as a seat knows it."""

    actor: int
    decision: str
    alternative: str | None
    """None for a sealed choice."""
    values: tuple[tuple[str, Json], ...]
    """Values that the seat knows."""
    seen: object
    """What the seat observed and was asked after the choice; None if it does not matter."""


class _ReplayedChance(Struct, frozen=True):
    """Chance source for replays: announced outcomes are repeated, others are new."""

    names: frozenset[str]
    old: ChanceSource
    new: ChanceSource

    def _of(self, name: str) -> ChanceSource:
        return self.old if name in self.names else self.new

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        return self._of(name).shuffle(name, counter, items)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        return self._of(name).draw(name, counter, options)


class Worlds:
    """Deals games like a given one at a decision, consistently with what a seat knows.

    ``fixed`` cards stay where they are, with what is on them and names them; a card in ``backs`` is replaced by one
    with the same back. Without ``replay``, sealed choices are kept, unless their cards are in hidden zones, and so are
    delayed blocks.
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        fixed: Collection[int] = (),
        *,
        replay: bool = True,
        memory: Memory | None = None,
        backs: Collection[int] = (),
    ) -> None:
        self.seat, self.replay = seat, replay
        self._placed = set[int]()
        """Cards that the seat saw on the way."""
        self.again: list[_Made] = []
        self.now, self.game = game, game
        if replay:
            self._go_back()
        table, logged = game.table, self.game.state
        if replay and not self.again:
            self._without_open_choices()  # in a copy without log
        state = self.game.state
        memory = memory or Memory(table.sight, table.first, logged, seat)
        self.hands = Hands(table.sight, table.census.tokens, memory, state, seat, fixed, self._placed, backs)
        self._laid_out: Game | None = None
        """The game without its log, with its state in lists of cells: worlds are copied from it."""

    def _go_back(self) -> None:
        """Go back to the last decision at which no active procedure has a secret local."""
        game, seat = self.now, self.seat
        if game.table.sight.reads_secrets(game.state, seat):
            self._placed |= Memory(game.table.sight, game.table.first, game.state, seat).known
            game = game.clone(log=True)
        while game.table.sight.reads_secrets(game.state, seat):
            log = game.state.log
            start = next((number for number in reversed(range(len(log))) if is_choice(log[number])), None)
            if start is None:
                raise Undealt
            self.again.insert(0, self._made(game, start))
            game.undo()
        self.game = game

    def _made(self, game: Game, start: int) -> _Made:
        """Return the last choice as the seat knows it, and fix the cards that the seat saw because of it."""
        record = game.state.log[start]
        choice = read(record)
        assert isinstance(choice, Choice)
        site, _, actor, values, context, masks = choice
        self._see(game)
        revealed = reveals(self.now.state.log[start:], choice)
        sealed = site.ask.is_closed and actor != self.seat and not revealed
        known_values = []
        for part, value, mask, public in zip(
            site.core.choices, values, masks[len(context) :], game.option_of(record).values, strict=True
        ):
            if not sealed and (revealed or actor == self.seat or may_see(mask, self.seat)):
                known_values.append(public)
                self._placed.update(types.cards_in(value, part.type, game.ruleset.model.records))
        name = None if sealed else site.core.name
        return _Made(actor, site.ask.name, name, tuple(known_values), self._noticed(game, start))

    def _see(self, game: Game) -> None:
        """Fix the cards that the seat sees now, or can choose."""
        visible, model = game.machine.constants.visible, game.ruleset.model
        self._placed |= {card for card in range(len(model.cards)) if may_see(visible(game.state, card), self.seat)}
        decision = game.decision_of(self.seat)
        if decision is not None:
            for number, values in _codes(game, decision):
                for choice, value in zip(decision.site.options[number].core.choices, values, strict=True):
                    self._placed.update(types.cards_in(value, choice.type, model.records))

    def _noticed(self, game: Game, start: int) -> tuple[object, ...]:
        """Return what the seat observed since a log record, and what it is asked now."""
        lines = lines_since(game.table, game.state, start, self.seat)
        told = [(line.kind, line.name, line.text, line.values) for line in lines]
        own = game.decision_of(self.seat)
        return told, _place(game), None if own is None else (own.context, list(_codes(game, own)))

    def _without_open_choices(self) -> None:
        """Undo waiting simultaneous choices of other seats: only locals hold them, so these seats choose again."""
        decision = self.game.decision
        if decision is None or not decision.site.ask.kept:
            return
        ask, env = decision.site.ask, list(decision.frame[1])
        assert isinstance(ask.seat, core.Local)
        assert isinstance(ask.at_once, core.Local)
        listed, order, *lists = ask.kept
        chosen = env[order]
        mine = [place for place, seat in enumerate(chosen) if seat == self.seat]
        for local in (order, *lists):
            env[local] = tuple(env[local][place] for place in mine)
        env[ask.at_once.index] = tuple(seat for seat in env[listed] if seat not in env[order])
        self.again = [_Made(seat, ask.name, None, (), None) for seat in chosen if seat != self.seat]
        if self.again:
            env[ask.seat.index] = env[ask.at_once.index][0]
            self.game = self.game.stood_at((decision.frame[0], tuple(env), decision.frame[2], decision.frame[3]))

    # --- dealing

    def deal(self, seed: int, draw: Draw) -> Game:
        """Deal a world, whose further random outcomes come from ``seed``. Raises :class:`Undealt` if none is found."""
        for _ in range(REPLAYS):
            world = self._replayed(self.dealt(draw), draw)
            if world is not None:
                world.chance = Seeded(seed)
                return world
        raise Undealt

    def _replayed(self, world: Game, draw: Draw) -> Game | None:
        """Replay the choices as far as the seat knows them; return None if it would observe a difference."""
        announced = self.now.ruleset.secrecy.announced_draws if self.again else frozenset()
        for made in self.again:
            for _ in range(TRIES):
                attempt = world.clone()
                attempt.chance = _ReplayedChance(announced, self.now.chance, Seeded(draw(1 << 31)))
                if self._is_repeated(attempt, made, draw):
                    break
            else:
                return None
            world = attempt
        if self.again and (
            _place(world) != _place(self.now)
            or (self.again[-1].seen is not None and world.view(self.seat) != self.now.view(self.seat))
        ):
            return None
        return world

    def _is_repeated(self, world: Game, past: _Made, draw: Draw) -> bool:
        """Replay a choice; return False if it is not possible or the seat would observe a difference."""
        decision = world.decision_of(past.actor)
        if decision is None or decision.name != past.decision:
            return False
        try:
            options = [option for option in islice(decision.options, OPTIONS) if _fits(option, past)]
            if not options:
                return False
            world.apply(options[draw(len(options)) if len(options) > 1 else 0], past.actor)
            return past.seen is None or self._noticed(world, 0) == past.seen
        except (IllegalMove, RuleFailure):
            return False

    def dealt(self, draw: Draw) -> Game:
        """Return a copy of the game without log, with hidden things dealt anew."""
        if self._laid_out is None:
            self._laid_out = self.game.clone()
            self._laid_out.state.leave()
            if self.replay:
                sight = self.game.table.sight
                kept = sight.layout.base["kept"]
                known = (block for block in self.game.state.cells[kept] if sight.is_known(block, self.seat))
                self._laid_out.state.cells[kept] = tuple(known)
        world = self._laid_out.clone()
        self.hands.deal(world.state, draw)
        return world


def otherwise(
    game: Game,
    player: int,
    draw: Draw,
    fixed: Collection[int] = (),
    memory: Memory | None = None,
    backs: Collection[int] = (),
) -> Game:
    """Return a copy of the game without log, in which everything hidden from the player differs.

    Other cards lie in hidden zones, except those that are ``fixed``; cards in ``backs`` are replaced by ones with the
    same back; hidden pools and cards hold more tokens.
    """
    worlds = Worlds(game, player, fixed, replay=False, memory=memory, backs=backs)
    other = worlds.dealt(draw)
    cells = other.state.cells
    hands = worlds.hands
    for cell in hands.pools:
        more, old = draw(500) + 1, cells[cell]
        cells[cell] = tuple(number + more for number in old) if isinstance(old, tuple) else old + more
    for cell in hands.hidden:
        group = hands.sight.group(cell)
        is_number = isinstance(group.type, types.IntType) and group.range is None
        if is_number and cells[cell] is not None and hands.remembered.get(cell) is None:
            cells[cell] = game.state.cells[cell] + draw(9) + 1
    return other


def _fits(option: Option, past: _Made) -> bool:
    return past.alternative is None or (option.do == past.alternative and set(past.values) <= set(option.values))


def _codes(game: Game, decision: Decision) -> Iterator[Code]:
    return islice(game.machine.options(game.state, decision.env, decision.site), OPTIONS)


def _place(game: Game) -> tuple[int, str, int] | None:
    """Return the pending decision as (seat, name, stretch)."""
    decision = game.decision
    return None if decision is None else (decision.actor, decision.name, decision.frame[0])
