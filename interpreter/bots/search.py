"""A bot that looks ahead: it tries choices in playouts, for any ruleset.

A playout begins with a choice and is played to the end of the game by quick bots for all seats, in a world that is
dealt anew (:mod:`interpreter.engine.determinization`). Few of many options are tried: the quick bot's own choice, and
others that are spread over all options. All of them meet the same worlds with the same chance, so that they differ by
the choice and not by luck. The budget is spent by sequential halving: it is divided among levels, and after each of
them only the better half goes on. In the end the quick bot's choice is made, unless the best other one did better in
the worlds that both met, by more than chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log2, sqrt
from time import monotonic

from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.player import Bot, Code, Stream
from interpreter.bots.policy import PolicyBot
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.decision import Decision, Option
from interpreter.engine.determinization import Undealt, Worlds
from interpreter.engine.game import Game, places_of
from interpreter.kernel.state import Value
from interpreter.language.policies import Policy
from interpreter.language.types import IntType

__all__ = ["SearchBot"]

OPTIONS = 2_000
"""So many options of a decision are read."""
DECISIONS = 4_000
"""So many choices may a playout have; one that is longer counts as lost."""
TRIED = 16
"""So many options of a decision are tried, with ``WORLDS`` playouts or more each."""
WORLDS = 4
EQUAL = 3
"""Where all options that are left come to the same in so many worlds, the search ends."""
SURE = 1.0
"""By so many standard errors must another choice do better than the quick bot's."""

Keys = tuple[tuple[Value, ...], ...]
"""What ranks the seats at the end of a game."""


class SearchBot:
    """Tries choices in so many playouts, or for so many seconds.

    ``quick`` are the bots of a playout, one for each seat; ``policy`` is what they follow, if they do.
    """

    def __init__(
        self,
        name: str,
        quick: Sequence[Bot],
        policy: Policy | None,
        playouts: int | None = 100,
        seconds: float | None = None,
    ) -> None:
        self.name = name
        self.quick, self.policy = quick, policy
        self.playouts, self.seconds = playouts, seconds

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        codes = decision.codes[:OPTIONS]
        if len(codes) == 1:
            return decision.option(codes[0])
        if self.policy is not None:
            game.machine.learn(self.policy)
        try:
            return decision.option(_Search(self, game, decision, codes, random).best())
        except Undealt:  # it knows too little of the others to look ahead
            if self.policy is not None:
                return PolicyBot(self.policy).choose(game, decision, random)
            return decision.option(codes[random.below(len(codes))])

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """Ends another seat's tie as the quick bot does."""
        return self.quick[decision.actor].among(game, decision, codes, random)


class _Search:
    """The search at one decision."""

    def __init__(self, bot: SearchBot, game: Game, decision: Decision, codes: list[Code], random: Stream) -> None:
        self.bot, self.decision, self.codes, self.random = bot, decision, codes, random
        self.start, self.done = monotonic(), 0
        self.seat = decision.actor
        self.counts = game.machine.constants.statics["seat.counts"]
        self.worlds = Worlds(game, self.seat)
        self.dealt: list[tuple[Game, int]] = []
        world, seed = self._world(0)
        assert world.decision is not None
        self.usual = bot.quick[self.seat].choose(world, world.decision, Stream(seed, "playout")).code
        self.ends: dict[Code, list[Keys | None]] = {}
        """How the playouts of each choice that is tried ended, world by world."""

    def best(self) -> Code:
        """The code of the choice to make."""
        left = self._tried()
        self.ends = {code: [] for code in left}
        levels = ceil(log2(len(left)))
        for level in range(1, levels + 1):
            while not self.ends[self.usual] or self._spent() * levels < level:
                for code in left:
                    self.ends[code].append(self._playout(code, len(self.ends[code])))
            if self._is_all_the_same(left):
                return self.usual
            others = sorted(left[1:], key=lambda code: -sum(self._outcomes(code)))
            left = [self.usual, *others[: max(1, len(left) // 2 - 1)]]
        return left[1] if self._is_better(left[1]) else self.usual

    def _spent(self) -> float:
        """Return the fraction of the budget that is spent."""
        if self.bot.playouts is not None:
            return self.done / self.bot.playouts
        assert self.bot.seconds is not None
        return (monotonic() - self.start) / self.bot.seconds

    def _fitting(self) -> int:
        """About how many playouts fit into the time: one is had to know."""
        assert self.bot.seconds is not None
        start = monotonic()
        self._playout(self.usual, 0)
        return int(self.bot.seconds / max(1e-6, monotonic() - start))

    def _is_all_the_same(self, left: Sequence[Code]) -> bool:
        usual = self.ends[self.usual]
        return len(usual) >= EQUAL and all(self.ends[code] == usual for code in left)

    def _outcomes(self, code: Code) -> list[float]:
        """The seat's share of the win in each world."""
        found = []
        for keys in self.ends[code]:
            places = places_of(keys, self.counts) if keys is not None else ()
            found.append(1 / places.count(1) if places and places[self.seat] == 1 else 0.0)
        return found

    def _is_better(self, code: Code) -> bool:
        """Return whether a choice did better than the usual one in the worlds that both met, by more than chance."""
        gains = [other - own for other, own in zip(self._outcomes(code), self._outcomes(self.usual), strict=True)]
        mean = sum(gains) / len(gains)
        spread = sum((gain - mean) ** 2 for gain in gains) / max(1, len(gains) - 1)
        return mean > SURE * sqrt(spread / len(gains)) and len(gains) > 1

    # --- options

    def _tried(self) -> list[Code]:
        """The usual choice, and others: first those with low ranks (:meth:`_ranked`), by lot among equals."""
        budget = self.bot.playouts if self.bot.playouts is not None else self._fitting()
        most = max(2, min(TRIED, budget // WORLDS))
        others = [(rank, self.random.below(1 << 31), code) for rank, code in self._ranked() if code != self.usual]
        return [self.usual, *(code for _, _, code in sorted(others)[: most - 1])]

    def _ranked(self) -> Iterator[tuple[int, Code]]:
        """Options with ranks, the lowest for those without values. Of those that differ by a last number alone only
        the first are here, and others ever farther apart, with higher ranks."""
        options = self.decision.site.options
        alike: dict[Code, int] = {}
        for code in self.codes:
            choices = options[code[0]].core.choices
            place = 0
            if choices and isinstance(choices[-1].type, IntType):
                group = code[0], code[1][:-1]
                place = alike[group] = alike.get(group, -1) + 1
            if place & (place - 1) == 0:
                yield place.bit_length() + bool(choices), code

    # --- playouts

    def _world(self, number: int) -> tuple[Game, int]:
        """World number so and so, and the seed of what is drawn in it."""
        while len(self.dealt) <= number:
            seed = self.random.below(1 << 31)
            world = self.worlds.deal(seed, self.random.below)
            world.machine.data(world.state, world.chance)  # it is in the module when it is copied
            self.dealt.append((world, seed))
        return self.dealt[number]

    def _playout(self, code: Code, number: int) -> Keys | None:
        """Play on to the end with fast bots and return the ranking keys of the seats; none if it takes too long."""
        world, seed = self._world(number)
        self.done += 1
        machine, random = world.machine, Stream(seed, "playout")
        ready = whole_for(machine, world.ruleset, self.bot.quick)
        data = machine.data(world.state, world.chance) if ready is not None else None
        if ready is not None and data is not None:
            whole, numbers = ready
            found = whole.playout(data, code, random, numbers, DECISIONS)
            if found is not None:
                return found.keys
            random = Stream(seed, "playout")
        game = world.clone()
        try:
            return self._played_on(game, code, random)
        except RuleFailure:  # a world can be one that could not have come about
            return None

    def _played_on(self, game: Game, code: Code, random: Stream) -> Keys | None:
        """The same in the plain form."""
        assert game.decision is not None
        game.apply(game.decision.option(code))
        for _ in range(DECISIONS):
            decision = game.decision
            if decision is None:
                return game.result.keys if game.result is not None else None
            game.apply(self.bot.quick[decision.actor].choose(game, decision, random))
        return None
