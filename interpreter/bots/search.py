"""A look-ahead bot: tries choices in playouts, for any ruleset.

A playout makes a choice and is played to the end by quick bots on all seats, in a redealt world
(:mod:`interpreter.engine.determinization`). If there are many options, a few are tried: the quick bot's own choice and
others spread over the list. All meet the same worlds with the same random numbers, so that they differ by the choice
and not by luck. Sequential halving spends the budget: after each level only the better half goes on. The quick bot's
choice wins, unless the best other one is significantly better in the worlds that both met.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2, sqrt
from time import monotonic

from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.player import Bot, Code, Stream
from interpreter.bots.policy import PolicyBot
from interpreter.engine.decision import Decision, Option
from interpreter.engine.determinization import OPTIONS, Undealt, Worlds
from interpreter.engine.game import Game, places_of
from interpreter.engine.refusal import IllegalMove
from interpreter.kernel.state import Value
from interpreter.language.preferences import Policy
from interpreter.language.types import IntType
from interpreter.lowering.constants import RuleFailure

__all__ = ["SearchBot"]

DECISIONS = 4_000
"""Maximum number of decisions in a playout; a longer one counts as lost."""
TRIED = 16
"""Maximum number of options tried, each with at least ``WORLDS`` playouts."""
WORLDS = 4
EQUAL = 3
"""Number of worlds in which all remaining options must be equal for the search to stop early."""
SURE = 1.0
"""Number of standard errors by which another choice must beat the quick bot's."""

Keys = tuple[tuple[Value, ...], ...]
"""Ranking keys of all seats at the end of a game."""


@dataclass(eq=False, repr=False)
class SearchBot:
    """Tries choices within a budget of playouts or seconds.

    ``quick`` are the bots of a playout, one for each seat; ``policy`` is the policy that they follow, if any.
    """

    name: str
    quick: Sequence[Bot]
    policy: Policy | None
    playouts: int | None = 100
    seconds: float | None = None

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        codes = decision.codes[:OPTIONS]
        if len(codes) == 1:
            return decision.option(codes[0])
        if self.policy is not None:
            game.machine.learn(self.policy)
        try:
            return decision.option(_Search(self, game, decision, codes, random).best())
        except Undealt:  # too little is known to deal worlds
            if self.policy is not None:
                return PolicyBot(self.policy).choose(game, decision, random)
            return decision.option(codes[random.below(len(codes))])

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """Break another seat's tie as the bot of its playouts does, which here is in no world."""
        asked = PolicyBot(self.policy) if self.policy is not None else self.quick[decision.actor]
        return asked.among(game, decision, codes, random)


class _Search:
    """The search for one decision."""

    def __init__(self, bot: SearchBot, game: Game, decision: Decision, codes: list[Code], random: Stream) -> None:
        self.bot, self.decision, self.codes, self.random = bot, decision, codes, random
        self.start, self.done = monotonic(), 0
        self.seat = decision.actor
        self.counts = game.machine.constants.statics["seat.counts"]
        self.worlds = Worlds(game, self.seat)
        self.dealt: list[tuple[Game, int]] = []
        world, seed = self._world(0)
        assert world.decision is not None
        usual = bot.quick[self.seat].choose(world, world.decision, Stream(seed, "playout")).code
        is_legal = game.accepts(decision.option(usual))  # hidden values may allow other options in a world
        self.usual = usual if is_legal else codes[0]
        self.ends: dict[Code, list[Keys | None]] = {}
        """Results of the playouts of each tried choice, by world."""

    def best(self) -> Code:
        candidates = self._tried()
        self.ends = {code: [] for code in candidates}
        levels = ceil(log2(len(candidates)))
        for level in range(1, levels + 1):
            while not self.ends[self.usual] or self._spent() * levels < level:
                for code in candidates:
                    self.ends[code].append(self._playout(code, len(self.ends[code])))
            if self._are_equal(candidates):
                return self.usual
            others = sorted(candidates[1:], key=lambda code: -sum(self._outcomes(code)))
            candidates = [self.usual, *others[: max(1, len(candidates) // 2 - 1)]]
        return candidates[1] if self._is_better(candidates[1]) else self.usual

    def _spent(self) -> float:
        if self.bot.playouts is not None:
            return self.done / self.bot.playouts
        assert self.bot.seconds is not None
        return (monotonic() - self.start) / self.bot.seconds

    def _fitting(self) -> int:
        """Estimate the number of playouts that fit into the time, by running one."""
        assert self.bot.seconds is not None
        start = monotonic()
        self._playout(self.usual, 0)
        return int(self.bot.seconds / max(1e-6, monotonic() - start))

    def _are_equal(self, candidates: Sequence[Code]) -> bool:
        usual = self.ends[self.usual]
        return len(usual) >= EQUAL and all(self.ends[code] == usual for code in candidates)

    def _outcomes(self, code: Code) -> list[float]:
        """Return the seat's share of the win in each world."""
        shares = []
        for keys in self.ends[code]:
            places = places_of(keys, self.counts) if keys is not None else ()
            shares.append(1 / places.count(1) if places and places[self.seat] == 1 else 0.0)
        return shares

    def _is_better(self, code: Code) -> bool:
        """Return whether a choice is significantly better than the usual one in the worlds that both met."""
        gains = [other - own for other, own in zip(self._outcomes(code), self._outcomes(self.usual), strict=True)]
        mean = sum(gains) / len(gains)
        spread = sum((gain - mean) ** 2 for gain in gains) / max(1, len(gains) - 1)
        return mean > SURE * sqrt(spread / len(gains)) and len(gains) > 1

    # --- options

    def _tried(self) -> list[Code]:
        """Return the usual choice and others, those of low rank (:meth:`_ranked`) first; ties are broken at random."""
        budget = self.bot.playouts if self.bot.playouts is not None else self._fitting()
        limit = max(2, min(TRIED, budget // WORLDS))
        others = [(rank, self.random.below(1 << 31), code) for rank, code in self._ranked() if code != self.usual]
        return [self.usual, *(code for _, _, code in sorted(others)[: limit - 1])]

    def _ranked(self) -> Iterator[tuple[int, Code]]:
        """Yield options with ranks; options without values rank lowest.

        Among options that differ only in a last number, it yields the first and then others at doubling distances, with
        increasing ranks.
        """
        options = self.decision.site.options
        last_places: dict[Code, int] = {}
        for code in self.codes:
            choices = options[code[0]].core.choices
            place = 0
            if choices and isinstance(choices[-1].type, IntType):
                group = code[0], code[1][:-1]
                place = last_places[group] = last_places.get(group, -1) + 1
            if place & (place - 1) == 0:
                yield place.bit_length() + bool(choices), code

    # --- playouts

    def _world(self, number: int) -> tuple[Game, int]:
        """Return a world by number, with the seed of its playouts."""
        while len(self.dealt) <= number:
            seed = self.random.below(1 << 31)
            world = self.worlds.deal(seed, self.random.below)
            world.runner.data(world.state, world.chance)  # move it into the module before it is copied
            self.dealt.append((world, seed))
        return self.dealt[number]

    def _playout(self, code: Code, number: int) -> Keys | None:
        """Play on to the end with the quick bots and return the ranking keys; None if it takes too long."""
        world, seed = self._world(number)
        self.done += 1
        random = Stream(seed, "playout")
        runner = whole_for(world.runner, world.ruleset, self.bot.quick)
        data = world.runner.data(world.state, world.chance) if runner is not None else None
        if runner is not None and data is not None:
            whole, numbers = runner
            result = whole.playout(data, code, random, numbers, DECISIONS)
            if result is not None:
                return result.keys
            random = Stream(seed, "playout")
        game = world.clone()
        assert game.decision is not None
        with suppress(RuleFailure, IllegalMove):  # the redealt world may be impossible, or lack the option
            game.apply(game.decision.option(code))
            for _ in range(DECISIONS):
                decision = game.decision
                if decision is None:
                    return game.result.keys if game.result is not None else None
                game.apply(self.bot.quick[decision.actor].choose(game, decision, random))
        return None
