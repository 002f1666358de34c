"""A game in both forms at once: the plain form is the oracle of the module."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpreter.base.diagnostics import RulesetError
from interpreter.compiler.wasm.runner import Runner
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import set_up
from interpreter.kernel.chance import Seeded
from interpreter.kernel.effects import CHOICE
from interpreter.kernel.state import State, Value
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.files import shelf_for
from tests.support import shared

__all__ = [
    "CASES",
    "MOST_DECISIONS",
    "Pair",
    "fits",
    "machines",
    "named",
    "picked",
    "play",
    "records",
    "ruleset",
    "tables",
    "tables_of",
    "told",
]

FOLDER = Path(__file__).parents[1] / "cases"
SHELF = shelf_for(FOLDER / "auction" / "auction.yaml")
CASES = sorted(FOLDER.glob("*/*.yaml"))
SHIPPED = ["germany-2018", "usa-2018+start-cities", "goofspiel"]
MOST_DECISIONS = 600


@shared
def ruleset(name: str) -> Ruleset:
    """Return a shipped ruleset by its id, or a case by its path; overlays of the case's folder follow a `+`.

    Loads it like the tests of the cases, so that both share cached modules.
    """
    path, _, overlay = name.partition("+")
    overlays = [overlay] if overlay else []
    if path.endswith(".yaml") and not Path(path).resolve().is_relative_to(FOLDER):
        return load(path, overlays)
    return load(Path(path).stem, overlays, SHELF)


def named() -> list[str]:
    """Return the names of all rulesets, and of small ones with each overlay beside them, which may not fit. It loads
    none, as every process of the tests does it."""
    found = list(SHIPPED)
    for path in CASES:
        if any(line.startswith("ruleset:") for line in path.read_text(encoding="utf-8").splitlines()):
            relative = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
            overlays = sorted((path.parent / "overlays").glob("*.yaml"))
            found += [relative, *(f"{relative}+{path.parent.name}/{overlay.stem}" for overlay in overlays)]
    return found


def fits(name: str) -> bool:
    """Return whether a case can be played. The tests of the cases report those that cannot."""
    try:
        ruleset(name)
    except RulesetError:
        return False
    return True


def tables_of(name: str) -> list[tuple[str, int]]:
    """Return the smallest and the largest table of a ruleset; none if it does not fit."""
    if not fits(name):
        return []
    players = ruleset(name).composition.players
    return [(name, number) for number in sorted({players.low, players.high})]


@shared
def tables() -> list[tuple[str, int]]:
    """Return the smallest and the largest table of all rulesets that fit."""
    return [table for name in named() for table in tables_of(name)]


@dataclass
class Pair:
    """A game in both forms."""

    name: str
    players: int
    seed: int
    plain: Runner = field(init=False)
    fast: Runner = field(init=False)
    a: State = field(init=False)
    b: State = field(init=False)

    def __post_init__(self) -> None:
        self.plain, self.fast, first = machines(self.name, self.players)
        self.a, self.b = first.clone(), first.clone()
        self.chance = Seeded(self.seed)
        self.failure: str | None = None
        self._both(lambda runner, state: runner.start(state, self.chance))

    def compare(self) -> None:
        assert self.a.frame == self.b.frame
        assert self.a.difference(self.b) == []
        assert records(self.a) == records(self.b)
        assert self.a.digest() == self.b.digest()

    def options(self) -> list[tuple[int, tuple[Value, ...]]]:
        assert self.a.frame is not None
        index, locals_, _, _ = self.a.frame
        plain = list(self.plain.machine.options(self.a, list(locals_), self.plain.machine.asks[index]))
        assert plain == list(self.fast.listed(self.b))
        if self.fast.data(self.b, self.chance) is not None:  # it lives in the module now
            home: Any = self.b.home
            assert home.tried(lambda built: built.codes()) == plain, "the module lists them itself"
        assert plain
        return plain

    def choose(self, option: tuple[int, tuple[Value, ...]]) -> None:
        self._both(lambda runner, state: runner.go(state, self.chance, option))

    def _both(self, do: Callable[[Runner, State], object]) -> None:
        """Do the same in both forms. A rule failure must be equal too, with its position and chain; it ends the
        game."""
        failures = [told(lambda: do(self.plain, self.a)), told(lambda: do(self.fast, self.b))]
        assert failures[0] == failures[1]
        self.failure = failures[0]


def records(state: State) -> list[tuple[Value, ...]]:
    """Return the log in comparable form, as each form has its own site of an option."""
    return [(*r[:1], r[1].core, *r[2:]) if r[0] == CHOICE else r for r in state.log]


def told(do: Callable[[], object]) -> str | None:
    try:
        do()
    except RuleFailure as failure:
        return f"{failure.code} {failure}"
    return None


@shared
def machines(name: str, players: int) -> tuple[Runner, Runner, State]:
    played = ruleset(name).for_players(players)
    program, values = played.program, played.settings({})
    plain, fast = set_up(program, players, values), played.table(players, values)
    plain.runner.plain = True
    assert fast.runner.ready() is not None
    assert plain.first.cells == fast.first.cells
    return plain.runner, fast.runner, fast.first


def picked(options: list[tuple[int, tuple[Value, ...]]], chance: random.Random) -> tuple[int, tuple[Value, ...]]:
    """Return a random option, early ones more often, so that bids rarely take all the money and turns last."""
    return options[0] if chance.random() < 0.35 else chance.choice(options[:40] if chance.random() < 0.6 else options)


def play(pair: Pair, chance: random.Random) -> int:
    for count in range(MOST_DECISIONS):
        pair.compare()
        if pair.failure is not None or pair.a.frame is None:
            return count
        pair.choose(picked(pair.options(), chance))
        if pair.failure is None and records(pair.a) == records(pair.b):
            pair.a.log.clear()
            pair.b.log.clear()
    return MOST_DECISIONS
