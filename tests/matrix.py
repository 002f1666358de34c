"""Every set of overlays on every ruleset for every number of players: each table plays whole games to the end.

The suite plays a part of it (`tests/rulesets/test_matrix.py`). The whole takes minutes:

    python -m tests.matrix
    python -m tests.matrix china-2004 middle-east-2004 --bots greedy --games 20
    python -m tests.matrix --verify --tables 1      # as `regelwerk verify`: no channel tells a seat anything hidden
    python -m tests.matrix --rules --games 2        # rules of an overlay that come into play on some boards only
"""

from __future__ import annotations

import argparse
import collections
import itertools
import random
import time
from collections.abc import Iterator
from typing import NamedTuple

import interpreter
from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.yaml_values import words
from interpreter.bots.registry import bots_of
from interpreter.cli.outlets import CHANNELS
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.unused import reached
from interpreter.play.match import Match
from interpreter.reading.files import Document, shelf_for
from interpreter.reading.ruleset_files import can_have, ids_of, rulesets_of
from interpreter.testing.rules_in_play import RulesInPlay
from interpreter.testing.verify import Played, verify
from tests.games.recorded import call

ROBOTS, BEGINNERS = "power-grid/robots", "power-grid/beginners"
MOST_SEATS = 6


class Table(NamedTuple):
    """Players and settings of a game, on a ruleset with overlays."""

    ruleset: str
    overlays: tuple[str, ...]
    players: int
    robots: int

    def __str__(self) -> str:
        robots = f", robots: {self.robots}" if self.robots else ""
        return f"{self.ruleset} with {', '.join(self.overlays) or 'nothing'}, players: {self.players}{robots}"


def combinations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each ruleset with each set of overlays that fit it together."""
    for ruleset, here in _rulesets():
        fitting = [overlay for overlay in _overlays() if can_have(here, overlay)]
        for number in range(len(fitting) + 1):
            for chosen in itertools.combinations(fitting, number):
                ids = {overlay.id for overlay in chosen}
                if all(can_have(here | ids - {overlay.id}, overlay) for overlay in chosen):
                    yield ruleset, tuple(sorted(ids))


def without_rulebook() -> Iterator[tuple[str, str]]:
    """Yield each ruleset and overlay of its family that no rulebook covers together."""
    for ruleset, here in _rulesets():
        for overlay in _overlays():
            over = {scalar.text for scalar in words(overlay.root.get("over"))}
            if over & here and overlay.id not in here and not can_have(here, overlay):
                yield ruleset, overlay.id


def _rulesets() -> Iterator[tuple[str, set[str]]]:
    shelf = shelf_for(None)
    return ((ruleset.id, {id for _, id in ids_of(shelf, ruleset)}) for ruleset in rulesets_of(shelf))


def _overlays() -> list[Document]:
    shelf = shelf_for(None)
    read = [shelf.read("overlay", id)[0] for id in shelf.ids("overlay")]
    return [overlay for overlay in read if overlay is not None]


def tables(ruleset: str, overlays: tuple[str, ...], loaded: Ruleset) -> Iterator[Table]:
    """Yield the tables of a ruleset with overlays."""
    for players in range(loaded.players.low, loaded.players.high + 1):
        robots = range(1, MOST_SEATS + 1 - players) if ROBOTS in overlays else [0]
        yield from (Table(ruleset, overlays, players, number) for number in robots)


def out_of_force(overlay: str, loaded: Ruleset) -> Iterator[str]:
    """Yield the rules of an overlay that no game can call, though no statement of another file says why."""
    live = reached(loaded.model, loaded.program.reach, ())
    for rule in loaded.model.rules.values():
        for number, layer in enumerate(rule.layers):
            above = rule.layers[number + 1 :]
            if layer.file == overlay and layer.id not in live and not any(other.all_cites for other in above):
                yield rule.name


class Checks:
    """Watcher of the plant market.

    While a plant that was sold is not replaced, nothing else leaves the market or changes its row; nobody is asked
    to offer a plant when none is for sale; and no more plants lie there than the market has places.
    """

    def __init__(self) -> None:
        self.row: list[int] = []
        self.market: list[int] = []

    def moment(self, game: Game, word: str) -> None:
        pass

    def asked(self, game: Game, decision: Decision) -> None:
        if "plants_on_market" not in game.ruleset.model.rules:
            return
        if decision.name in ("nominate", "answer"):
            self.row, self.market = list(call(game, "for_sale")), list(call(game, "plants_on_market"))
            assert self.row or decision.name == "answer", "somebody is asked to offer a plant, and none is for sale"
            sizes = game.ruleset.model.tables["market_size"].cells.values()
            assert len(self.market) <= max(size for size in sizes if isinstance(size, int)), self.market
        elif decision.name in ("scrap", "discard"):
            market = list(call(game, "plants_on_market"))
            (sold,) = set(self.market) - set(market)
            assert market == [plant for plant in self.market if plant != sold]
            assert list(call(game, "for_sale")) == [plant for plant in self.row if plant != sold]

    def chosen(self, game: Game, decision: Decision, option: Option) -> None:
        pass


def play(table: Table, loaded: Ruleset, bots: str, seed: int) -> Game:
    """Play a whole game in the plain form, with all checks."""
    settings = {"robots": str(table.robots)} if table.robots else {}
    seated = loaded.for_players(table.players)
    seated.table(table.players, seated.settings(settings)).runner.plain = True
    match = Match(loaded, bots_of(bots, loaded, table.players), seed, settings, watchers=[Checks()])
    result = match.play()
    assert result is not None
    assert min(result.places) <= 1
    assert match.game.check() == []
    if BEGINNERS in table.overlays:
        assert match.game.view()["stage"] == 1, "the beginners' game has only stage 1"
    return match.game


def verified(table: Table, loaded: Ruleset, seed: int, seconds: float | None) -> None:
    """Let `verify` play a game of a table, or its beginning; it must find nothing but what the
    rules tell, such as the back of a card that now lies on top."""
    settings: dict[str, Json] = {"robots": table.robots} if table.robots else {}
    played = Played()
    troubles = [each.trouble for each in verify(loaded, seed, 1, seconds, (table.players,), settings, played, CHANNELS)]
    assert not (faults := [str(trouble) for trouble in troubles if trouble.kind != "told"]), faults
    assert played.games == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rulesets", nargs="*", help="all rulesets where none is named")
    parser.add_argument("--games", type=int, default=1, help="games of each table")
    parser.add_argument("--bots", default="random")
    parser.add_argument("--verify", action="store_true", help="search for faults, in all channels")
    parser.add_argument("--rules", action="store_true", help="compare which rules of an overlay come into play")
    parser.add_argument("--tables", type=int, metavar="N", help="only N tables, drawn by seed, of each set of overlays")
    parser.add_argument("--seconds", type=float, metavar="N", help="with --verify, at most so long for a game")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    failed = 0
    played_on: dict[str, dict[str, set[str]]] = collections.defaultdict(dict)
    for ruleset, each in itertools.groupby(combinations(), key=lambda combination: combination[0]):
        if arguments.rulesets and ruleset not in arguments.rulesets:
            continue
        began, number = time.perf_counter(), 0
        for _, overlays in each:
            loaded, rules = interpreter.load(ruleset, overlays), RulesInPlay()
            if arguments.rules and len(overlays) != 1:
                continue
            all_tables = list(tables(ruleset, overlays, loaded))
            random.Random(f"{arguments.seed} {ruleset} {overlays}").shuffle(all_tables)
            for table in all_tables[: arguments.tables]:
                for seed in range(arguments.seed, arguments.seed + arguments.games):
                    try:
                        if arguments.verify:
                            verified(table, loaded, seed, arguments.seconds)
                        else:
                            game = play(table, loaded, arguments.bots, seed)
                            assert not arguments.rules or rules.repeat(game)
                    except Exception as wrong:
                        failed += 1
                        print(f"{table}, seed {seed}: {type(wrong).__name__}: {wrong}", flush=True)
                    number += 1
            if arguments.rules:
                names = {name for name, rule in loaded.model.rules.items() if rule.layers[0].file == overlays[0]}
                played = {name.partition(" of ")[0] for name in names - set(rules.unplayed)}  # local to a file
                played_on[overlays[0]][ruleset] = played
        print(f"{ruleset}: {number} games, {time.perf_counter() - began:.0f} s", flush=True)
    for overlay, boards in played_on.items():
        for ruleset, names in boards.items():
            if missing := set().union(*boards.values()) - names:
                print(f"{ruleset} with {overlay}: not in play, as elsewhere: {', '.join(sorted(missing))}")
    for ruleset, overlay in without_rulebook():
        try:
            interpreter.load(ruleset, [overlay])
            failed += 1
            print(f"{ruleset} with {overlay} is not refused", flush=True)
        except RulesetError:
            pass
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
