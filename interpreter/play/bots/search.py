"""A bot that looks ahead: Monte-Carlo tree search over information sets, for any ruleset.

Each playout happens in a world that is dealt anew (:mod:`interpreter.engine.worlds`): it goes down one tree of
choices by their names, in which each seat prefers what did well for itself (UCT), adds a choice, and is played on by
quick bots for all seats. A choice of the tree has few children at first, the quick bot's own choice before all others,
and more the oftener it is met (progressive widening). Playouts of different first choices meet the same worlds one
after another, so that they differ by the choice and not by luck. In the end it does not do what the quick bot would do
only if another choice did better in the worlds that both met.

A playout ends with the game or, where the quick bot's policy has a function ``outlook(who: seat) -> int``, at the
beginning of the next round; then a seat that has 100 more than every other one is as good as the winner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, exp, log, sqrt
from time import monotonic

from interpreter.compiler.constants import RuleFailure
from interpreter.compiler.wasm.machine import outlook_of
from interpreter.compiler.wasm.whole import Playout
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, places_of
from interpreter.engine.worlds import Undealt, Worlds
from interpreter.kernel.state import Value
from interpreter.language.policies import Policy
from interpreter.play.bots.base import Bot, Code, Stream
from interpreter.play.bots.inside import whole_for
from interpreter.play.bots.policy import PolicyBot

__all__ = ["SearchBot", "outlook_of"]

OPTIONS = 2_000
"""So many options of a decision are read."""
DECISIONS = 4_000
"""So many choices may a playout have; one that is longer counts as a draw."""
ROUNDS = 0
"""A playout that need not go to the end goes through the round at hand and so many more; the longer, the fewer."""
EXPLORE = 0.5
WIDTH = 1.0
"""A choice that was met n times has the square root of n times this many children."""
EQUAL = 6
"""Where the first choices come to the same in so many worlds, no further ones are looked at."""
SURE, SURE_OF_OUTLOOK = 0.7, 1.0
"""By so many standard errors must another choice do better: by more where playouts end with an outlook, which is only a
guess."""
STEEP = 25


@dataclass(eq=False)
class _Node:
    """A choice that was tried: how often, and what it came to for each seat. ``found`` has the outcomes in turn."""

    visits: int = 0
    total: float = 0.0
    found: list[float] = field(default_factory=list)
    children: dict[Code, _Node] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return self.total / self.visits if self.visits else 0.5


class SearchBot:
    """Tries choices in so many playouts, or for so many seconds.

    ``quick`` are the bots of a playout, one for each seat; ``policy`` is what they follow, if they do.
    """

    def __init__(
        self,
        name: str,
        quick: Sequence[Bot],
        policy: Policy | None,
        playouts: int | None = 200,
        seconds: float | None = None,
    ) -> None:
        self.name = name
        self.quick, self.policy = quick, policy
        self.playouts, self.seconds = playouts, seconds
        self.outlook = outlook_of(policy)

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
        self.bot, self.codes, self.random = bot, codes, random
        self.seat = decision.actor
        self.worlds = Worlds(game, self.seat)
        self.dealt: list[tuple[Game, int]] = []
        self.counts = game.machine.constants.statics["seat.counts"]
        self.round = game.machine.constants.layout.base["round"]
        self.until = game.machine.cell(game.state, self.round) + ROUNDS
        self.root = _Node()
        self.usual = self._quick(self._world(0)[0], self._stream(0))

    def best(self) -> Code:
        """The code of the choice to make."""
        bot, root = self.bot, self.root
        end = monotonic() + bot.seconds if bot.seconds is not None else None
        root.children[self.usual] = _Node()
        done = 0
        while (bot.playouts is None or done < bot.playouts) and (end is None or monotonic() < end):
            code = self._next(root, self.codes, self.usual)
            self._playout(code)
            done += 1
            if self._is_all_the_same():
                break
        return self._chosen()

    def _is_all_the_same(self) -> bool:
        """Whether all that was tried came to the same in the first worlds."""
        children = list(self.root.children.values())
        if len(children) < min(len(self.codes), 4) or any(child.visits < EQUAL for child in children):
            return False
        first = children[0].found[:EQUAL]
        return all(child.found[:EQUAL] == first for child in children)

    def _chosen(self) -> Code:
        """The usual choice, unless another one did better in the worlds that both met."""
        base = self.root.children[self.usual].found
        best, gain = self.usual, 0.0
        sure = SURE if self.bot.outlook is None else SURE_OF_OUTLOOK
        for code, child in self.root.children.items():
            pairs = [other - own for other, own in zip(child.found, base, strict=False)]
            if len(pairs) < 2 or code == self.usual:
                continue
            mean = sum(pairs) / len(pairs)
            error = sqrt(sum((each - mean) ** 2 for each in pairs) / (len(pairs) - 1) / len(pairs))
            if mean > max(gain, sure * error):
                best, gain = code, mean
        return best

    # --- worlds

    def _world(self, number: int) -> tuple[Game, int]:
        """World number so and so, and the seed of what is drawn in it."""
        while len(self.dealt) <= number:
            seed = self.random.below(1 << 31)
            world = self.worlds.deal(seed, self.random.below)
            world.machine.data(world.state, world.chance)  # it is in the module when it is copied
            self.dealt.append((world, seed))
        return self.dealt[number]

    def _stream(self, number: int) -> Stream:
        return Stream(self._world(number)[1], "playout")

    def _quick(self, game: Game, random: Stream) -> Code:
        decision = game.decision
        assert decision is not None
        return self.bot.quick[decision.actor].choose(game, decision, random).code

    # --- playouts

    def _playout(self, code: Code) -> None:
        """One playout that begins with a choice; what it comes to is noted all along its way."""
        node = self.root.children[code]
        number = node.visits
        game, random = self._world(number)[0].clone(), self._stream(number)
        game.chance = self._world(number)[0].chance
        way = [(self.root, self.seat), (node, self.seat)]
        try:
            self._take(game, code)
            while node.visits > 0 and not self._is_cut(game):
                decision = game.decision
                assert decision is not None
                codes = decision.codes[:OPTIONS]
                usual = codes[0] if len(codes) == 1 else self._quick(game, random)
                code = self._next(node, codes, usual)
                node = node.children[code]
                way.append((node, decision.actor))
                self._take(game, code)
            outcome = self._play_on(game, random)
        except RuleFailure:  # a world can be one that could not have come about
            outcome = None
        for node, seat in way:
            value = 0.5 if outcome is None else outcome[seat]
            node.visits += 1
            node.total += value
            node.found.append(value)

    def _take(self, game: Game, code: Code) -> None:
        decision = game.decision
        assert decision is not None
        game.apply(decision.option(code))

    def _next(self, node: _Node, codes: Sequence[Code], usual: Code) -> Code:
        """The choice to try: a new one as long as there are few, else the one with the highest upper bound."""
        known = [code for code in codes if code in node.children]
        if usual not in node.children:
            node.children[usual] = _Node()
            return usual
        if len(known) < min(len(codes), ceil(WIDTH * sqrt(node.visits + 1))):
            fresh = self._fresh([code for code in codes if code not in node.children])
            node.children[fresh] = _Node()
            return fresh
        logarithm = log(node.visits + 1)

        def bound(code: Code) -> float:
            child = node.children[code]
            return child.mean + EXPLORE * sqrt(logarithm / child.visits) if child.visits else 2.0

        return max(known, key=bound)

    def _fresh(self, codes: Sequence[Code]) -> Code:
        """One of them: alternatives with few options are as likely as those with many, their first options likelier."""
        alternatives = sorted({number for number, _ in codes})
        number = alternatives[self.random.below(len(alternatives))]
        alike = [code for code in codes if code[0] == number]
        return alike[0 if self.random.below(2) else self.random.below(len(alike))]

    def _is_cut(self, game: Game) -> bool:
        if game.is_over:
            return True
        return self.bot.outlook is not None and game.machine.cell(game.state, self.round) > self.until

    def _play_on(self, game: Game, random: Stream) -> list[float] | None:
        """Quick bots play to the end, or as far as is looked; how well each seat then stands, from 0 to 1."""
        if not self._is_cut(game) and (found := self._played_on(game, random)) is not None:
            if found.keys is not None:
                return _won(places_of(found.keys, self.counts))
            return _stand(found.stands) if found.stands is not None else None
        for _ in range(DECISIONS):
            if self._is_cut(game):
                if not game.is_over:
                    return self._outlook(game)
                result = game.result
                assert result is not None
                return _won(result.places)
            decision = game.decision
            assert decision is not None
            game.apply(self.bot.quick[decision.actor].choose(game, decision, random))
        return None

    def _played_on(self, game: Game, random: Stream) -> Playout | None:
        """The same in the module of the machine; none where it cannot, or not yet."""
        machine = game.machine
        ready = whole_for(machine, game.ruleset, self.bot.quick)
        data = machine.data(game.state, game.chance) if ready is not None else None
        if ready is None or data is None:
            return None
        whole, numbers = ready
        until = None if self.bot.outlook is None else self.until
        return whole.playout(data, random, numbers, DECISIONS, until, self.counts)

    def _outlook(self, game: Game) -> list[float]:
        machine = game.machine
        assert self.bot.outlook is not None
        function = machine.function(self.bot.outlook)
        machine.meter.refill()
        return _stand([function(game.state, [seat]) if counted else None for seat, counted in enumerate(self.counts)])


def _won(places: Sequence[int]) -> list[float]:
    first = places.count(1)
    return [1 / first if place == 1 else 0.0 for place in places]


def _stand(stands: Sequence[Value]) -> list[float]:
    """How well each seat stands, from 0 to 1, by numbers of which a lead counts."""
    found = []
    for seat, own in enumerate(stands):
        others = [other for number, other in enumerate(stands) if number != seat and other is not None]
        lead = own - max(others) if own is not None and others else 0
        found.append(1 / (1 + exp(-max(-500, min(500, lead)) / STEEP)))
    return found
