"""Whole games in a module and in the plain form, in lock step: after each choice the states have the same digest.

One module plays all games of a ruleset, one after another: what it keeps from one state to the next must not matter.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from interpreter.bots.hidden_reads import groups_peeked
from interpreter.bots.registry import bots_of, policies_for
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.wasm.assemble import assembled
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.driver import TURN_HEAD
from interpreter.engine.game import Ruleset
from interpreter.kernel.state import State
from interpreter.loading.load import load
from interpreter.play.match import Match, streams_for
from tests.support import ENVELOPES, shared

wasmtime: Any = pytest.importorskip("wasmtime")

TABLES: dict[str, tuple[str, Sequence[str], int, dict[str, Any]]] = {
    "germany-2018, 4": ("germany-2018", (), 4, {}),
    "outpost, 3": ("outpost", (), 3, {}),
    "bsw-baden-wuerttemberg, 5": ("bsw-baden-wuerttemberg", (), 5, {}),
    "germany-2004 with robots, 3": ("germany-2004", ("robots",), 3, {"robots": 2}),
    "usa-2018, 2": ("usa-2018", (), 2, {}),
    "goofspiel, 3": ("goofspiel", (), 3, {}),
    "sealed bids, 3": (ENVELOPES, (), 3, {}),
}
SHORT = ("goofspiel, 3", "sealed bids, 3")
POLICIES = [
    *(("germany-2018, 4", policy) for policy in ("bench", "greedy", "sensible")),
    *(("outpost, 3", policy) for policy in ("greedy", "sensible")),
    *(("goofspiel, 3", policy) for policy in ("bench", "sensible", "random")),
    *(("sealed bids, 3", policy) for policy in ("bench", "sensible", "random")),
    ("bsw-baden-wuerttemberg, 5", "bench"),
    ("germany-2004 with robots, 3", "greedy"),
    ("usa-2018, 2", "sensible"),
]


class Pair:
    """A module of one table, with all policies that are tried there, and its plain form."""

    def __init__(self, name: str) -> None:
        id_, overlays, players, given = TABLES[name]
        self.ruleset: Ruleset = load(id_, overlays).for_players(players)
        self.players, self.given = players, given
        table = self.ruleset.table(players, self.ruleset.settings(given))
        self.machine = table.machine
        table.runner.plain = True
        self.builder = ModuleBuilder(self.machine)
        self.codec = Codec(self.builder)
        self.policies = [policy for other, policy in POLICIES if other == name]
        bots = [self._bot(policy) for policy in self.policies]
        text, self.numbers = assembled(self.builder, self.codec.encode(table.first, 0), bots)
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        module = wasmtime.Module(engine, wasmtime.wat2wasm(text))
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)
        self.memory = self.exports["memory"]

    def _bot(self, name: str) -> dict[int, str]:
        builder, policy = self.builder, policies_for(self.ruleset).get(name)
        if policy is None:
            return {index: builder.policies.random(index) for index in builder.decisions.asks}
        self.machine.learn(policy)

        asks = builder.decisions.asks
        return {
            index: builder.policies.choosing(policy, index, name, groups_peeked(self.ruleset.model, policy, end.ask))
            for index, (_, end) in asks.items()
        }

    def words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.memory.read(self.store, address, address + count * WORD))

    def put(self, address: int, content: bytes) -> None:
        self.memory.write(self.store, content, address)

    def state(self) -> State:
        _, asked, end = self.words(STATE, 3)
        return self.codec.decode(bytes(self.memory.read(self.store, STATE, end if asked >= 0 else self.frames)))

    @property
    def frames(self) -> int:
        return self.builder.memory.frames

    @property
    def is_going_on(self) -> bool:
        return self.words(STATE, 2)[1] >= 0

    def start(self, seed: int) -> None:
        self.put(self.numbers["rows"], struct.pack("<q", seed))
        self.exports["start"](self.store)

    def begin(self, kind: int, seed: int, of_bots: int) -> None:
        """A game with a kind of bot on all seats, which are asked ahead and draw from the streams of a seed."""
        self.start(seed)
        for seat, stream in enumerate(streams_for(of_bots, len(self.machine.constants.seats))):
            self.put(self.numbers["streams"] + seat * 16, struct.pack("<qq", stream.signed_origin, 0))
            self.put(self.numbers["bots"] + seat * WORD, struct.pack("<i", 1 + kind * self.numbers["stretches"]))
        self.exports["tell"](self.store)

    def step(self) -> None:
        """Makes the choice that was told ahead."""
        assert self.words(self.numbers["turn"], 3)[2] == 1
        self.exports["step"](self.store, self.numbers["turn"] + TURN_HEAD)

    def options(self, stretch: int, ask: Any) -> list[tuple[int, tuple[Any, ...]]]:
        """The options that the module lists, as the plain form gives them."""
        stride = self.builder.decisions.stride(stretch)
        end = self.exports["list"](self.store)
        found = []
        for address in range(self.numbers["options"], end, stride * WORD):
            words, at, values = self.words(address, stride), 1, []
            for choice in ask.options[words[0]].choices:
                values.append(self.codec.value(words, at, choice.type))
                at += self.builder.shapes.words(choice.type)
            found.append((words[0], tuple(values)))
        return found


@shared
def pair(name: str) -> Pair:
    return Pair(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_game_of_random_choices_has_the_same_options_and_states(name: str) -> None:
    it = pair(name)
    assert not it.builder.left_out
    for seed in range(3 if name in SHORT else 1):
        game = it.ruleset.new_game(it.players, seed, settings=it.given)
        it.start(seed)
        chooses = random.Random(seed)
        while game.decision is not None:
            site = game.decision.site
            options = list(it.machine.options(game.state, game.decision.env, site))
            frame = game.state.frame
            assert frame is not None
            assert it.options(frame[0], site.ask) == options
            place = chooses.randrange(len(options))
            game.apply(game.decision.option(options[place]))
            stride = it.builder.decisions.stride(it.words(STATE, 2)[1])
            it.exports["step"](it.store, it.numbers["options"] + place * stride * WORD)
            assert it.state().digest() == game.digest(), site.ask.name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "policy"), POLICIES)
def test_a_policy_chooses_the_same(name: str, policy: str) -> None:
    it = pair(name)
    for seed in (11, 12) if name in SHORT else (len(policy),):
        match = Match(it.ruleset, bots_of(policy, it.ruleset, it.players), seed, it.given)
        it.begin(it.policies.index(policy), seed, seed)
        while match.step():
            it.step()
            assert it.state().digest() == match.game.digest(), match.game.last_choice


def test_a_game_is_the_same_whatever_was_played_before() -> None:
    it = pair("germany-2018, 4")

    def played(seed: int) -> str:
        it.begin(0, seed, 7)
        while it.is_going_on:
            it.step()
        return it.state().digest()

    first = played(5)
    for seed in range(40, 60):
        played(seed)
    assert played(5) == first
