"""Soak test: many whole games of a ruleset. Nothing may fail, and rare events must occur.

Not part of the suite (it takes many minutes):

    python -m tests.soak germany-2018 --games 1000 --bots random --players 3,4,5,6
    python -m tests.soak germany-2004 --with robots --set robots=2 --players 2,3,4
    python -m tests.soak goofspiel --games 2000 --both       # the plain form and the module play the same games
    python -m tests.soak germany-2018 --games 1000 --drawn   # with policies and overlays drawn at random, in every form
    python -m tests.soak --every 60        # for an hour: the same in turn for every shipped ruleset
    python -m tests.soak --hidden 60       # for an hour: random rules and policies that hide things in every way
"""

from __future__ import annotations

import argparse
import collections
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import interpreter
from interpreter.bots.registry import bots_of
from interpreter.engine.game import Game, Ruleset
from interpreter.kernel.effects import CHOICE, MARK, NOTE
from interpreter.plain.closures import MAXIMUM_STEPS
from interpreter.play.match import Match
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import rulesets_of
from tests import drawn
from tests.testing import test_channels

Counts = collections.Counter[str]
SAME = "the same in every form"
LIMIT = f": this takes more than {MAXIMUM_STEPS:,} steps without a decision"


def rare(game: Game) -> Counts:
    """Count the rare events of a finished game, from its log."""
    found: Counts = collections.Counter()
    model, names = game.ruleset.model, game.ruleset.names
    due = model.tables["resupply"].cells if "resupply" in model.tables else {}
    kinds, reasons = ([] if word not in model.kinds else model.kinds[word].members for word in ("resource", "reason"))
    phase, stage, rounds = "", 1, 0
    cities: collections.Counter[int] = collections.Counter()
    for record in game.state.log:
        if record[0] == MARK:
            word = record[2].removeprefix("start of ")
            phase = word if word in model.phases else phase
            rounds += record[2] == "start of round"
        elif record[0] == CHOICE and record[1].ask.name == "discard":
            found["owner chooses what to lose"] += 1
        elif record[0] == NOTE:
            event = record[2]
            values = dict(zip(model.events[event].fields, record[4:], strict=True))
            match event:
                case "drew" if names.card(values["card"]) == "stage_3":
                    found[f"stage 3 drawn in {phase}"] += 1
                    found["stage 3 before stage 2"] += stage == 1
                case "stage_began":
                    stage = values["number"]
                case "robot_made":
                    found[f"a robot made, the {'last' if values['number'] == 9 else 'first or a later'}"] += 1
                case "konzern_on_outpost":
                    found["the Konzern has an Outpost"] += 1
                case "lost":
                    found["tokens lost"] += 1
                case "left_market":
                    found[f"left the market: {reasons[values['why']].replace('_', ' ')}"] += 1
                case "built" | "built_house":
                    cities[values["who"]] += 1
                case "order_set" if rounds > 1:
                    pairs = itertools.pairwise(values["order"])
                    found["tie in turn order"] += any(cities[a] == cities[b] for a, b in pairs)
                case "resupplied":
                    wanted = due[game.machine.constants.counting, values["kind"], stage]
                    found["refill cut short by tokens"] += values["number"] < min(wanted, values["due"])
                    found[f"refill of {kinds[values['kind']]} stopped"] += values["due"] < wanted
    result = game.result
    assert result is not None
    best = sorted((keys[0] for keys in result.keys), reverse=True)
    found["tie in what decides first"] += best[0] == best[1]
    return found


def play(ruleset: Any, players: int, bots: str, seed: int, settings: dict[str, str]) -> tuple[Game, int]:
    match = Match(ruleset, bots_of(bots, ruleset, players), seed, settings)
    match.play()
    return match.game, match.decisions


def play_both(rulesets: Sequence[Ruleset], players: int, bots: str, seed: int, settings: dict[str, str]) -> int:
    """Play a game in the module and repeat each choice in the plain form: all visible state must be equal."""
    seated = rulesets[0].for_players(players)
    runner = seated.table(players, seated.settings(settings)).runner
    assert runner.ready() is not None
    match = Match(rulesets[0], bots_of(bots, rulesets[0], players), seed, settings)
    fast, plain = match.game, rulesets[1].new_game(players, seed, settings)
    plain.runner.plain = True
    while (decision := fast.decision) is not None:
        other = plain.decision
        assert other is not None
        assert (decision.name, decision.actor) == (other.name, other.actor)
        assert fast.digest() == plain.digest(), f"seed {seed}, choice {match.decisions}"
        codes = [decision.codes, other.codes]
        assert codes[0] == codes[1], f"seed {seed}, choice {match.decisions}"
        match.step()
        plain.apply(_last(fast))
    assert fast.digest() == plain.digest()
    assert fast.result == plain.result
    assert [str(line) for line in fast.log()] == [str(line) for line in plain.log()]
    assert fast.runner.bailouts == 0, f"seed {seed}"
    return match.decisions


def play_drawn(ruleset: str, overlays: tuple[str, ...], players: int, seed: int) -> str:
    """Play a game with a random policy and overlay in every form; some games again in another process."""
    with tempfile.TemporaryDirectory() as folder:
        case = drawn.draw(Path(folder), ruleset, players, seed, overlays)
        try:
            story = drawn.play_alike(case)
            if seed % 5 == 0:
                assert drawn.other_process(case) == drawn.in_short(story)
        except Exception as wrong:
            return f"{type(wrong).__name__} {wrong}"
    return ""


def _last(game: Game) -> dict[str, Any]:
    assert game.last_choice is not None
    return game.last_choice.as_dict()


def play_every(seed: int, seconds: float) -> None:
    """Play drawn games of each shipped ruleset in turn, with each number of seats in turn; tell what differs."""
    end, found = time.monotonic() + seconds, Counts()
    rulesets = [(each.id, interpreter.load(each.id).players) for each in rulesets_of(shelf_for(None))]
    for round_ in itertools.count():
        for name, seats in rulesets:
            if time.monotonic() > end:
                return
            players = seats.low + round_ % (seats.high - seats.low + 1)
            wrong = play_drawn(name, (), players, seed + round_)
            # A module keeps what the plain form works out again: only the plain form runs out of steps, here or there.
            what = "stopped by the plain form's limit of steps" if LIMIT in wrong else "different" if wrong else SAME
            found[what] += 1
            if what == "different":
                print(f"{name}, {players} players, seed {seed + round_}: {wrong}", flush=True)
        print(f"{round_ + 1} rounds: {', '.join(f'{count:,} {kind}' for kind, count in found.items())}", flush=True)


def play_hidden(seed: int, seconds: float) -> None:
    """Play random rules that hide things, in both forms; no channel may tell a seat more than the rules do."""
    end, found, games = time.monotonic() + seconds, Counts(), 0
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found.update(test_channels.drawn(Path(folder), seed + games, forms=games % 2 == 1))
            except Exception as wrong:
                print(f"seed {seed + games}: {type(wrong).__name__} {wrong}", flush=True)
        games += 1
        if games % 100 == 0:
            print(f"{games} games: {', '.join(f'{count:,} {kind}' for kind, count in found.items())}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ruleset", nargs="?", default="goofspiel")
    parser.add_argument("--every", type=float, metavar="MINUTES", help="--drawn for every shipped ruleset in turn")
    parser.add_argument("--hidden", type=float, metavar="MINUTES", help="with rules that hide things in every way")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--bots", default="random")
    parser.add_argument("--players", default="", help="several with commas; all that are allowed where nothing is said")
    parser.add_argument("--both", action="store_true", help="compare the plain form and the module, choice for choice")
    parser.add_argument("--drawn", action="store_true", help="with policies and overlays that are drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--with", dest="overlays", action="append", default=[], help="an overlay; may be repeated")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="KEY=VALUE; may be repeated")
    arguments = parser.parse_args()
    if arguments.every:
        play_every(arguments.seed, arguments.every * 60)
        return
    if arguments.hidden:
        play_hidden(arguments.seed, arguments.hidden * 60)
        return
    settings = dict(setting.split("=", 1) for setting in arguments.settings)
    ruleset = interpreter.load(arguments.ruleset, arguments.overlays)
    allowed = range(ruleset.players.low, ruleset.players.high + 1)
    numbers = [int(number) for number in arguments.players.split(",")] if arguments.players else list(allowed)
    if arguments.drawn:
        for seed, players in itertools.product(range(arguments.seed, arguments.seed + arguments.games), numbers):
            wrong = play_drawn(arguments.ruleset, tuple(arguments.overlays), players, seed)
            print(f"{players} players, seed {seed}: {wrong or SAME}", flush=True)
        return
    if arguments.both:
        pair = (ruleset, interpreter.load(arguments.ruleset, arguments.overlays))
        for players in numbers:
            seeds = range(arguments.seed, arguments.seed + arguments.games)
            made = sum(play_both(pair, players, arguments.bots, seed, settings) for seed in seeds)
            print(f"{players} players: {len(seeds)} games, {made} decisions, the same in both forms", flush=True)
        return
    total: Counts = collections.Counter()
    for players in numbers:
        began, decisions, rounds = time.perf_counter(), 0, []
        for seed in range(arguments.seed, arguments.seed + arguments.games):
            game, made = play(ruleset, players, arguments.bots, seed, settings)
            decisions += made
            broken = game.check()
            if game.result is None or broken:
                raise SystemExit(f"{players} players, seed {seed}: {broken or 'no result'}")
            rounds.append(game.view()["round"])
            total.update(rare(game))
        spent = time.perf_counter() - began
        print(
            f"{players} players: {len(rounds)} games, {decisions} decisions, {sum(rounds) / len(rounds):.1f} rounds "
            f"({min(rounds)}-{max(rounds)}), {spent:.0f} s",
            flush=True,
        )
    for name, count in total.most_common():
        print(f"{count:8d}  {name}")


if __name__ == "__main__":
    main()
