"""Nothing that a seat receives depends on what it may not see, through whichever channel.

Two games that differ only in hidden things are the same to a seat, byte by byte, until the rules tell the difference.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest

from interpreter.cli.outlets import CHANNELS
from interpreter.engine.game import Game
from interpreter.engine.views import numbered_lines
from interpreter.explain.provenance import account_of
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import read_saved_game, write_log
from interpreter.protocol.engine_server import METHODS
from interpreter.testing.soundness import Examiner, Trouble, drawing, some_option
from interpreter.testing.twins import Twin
from tests.hiding import FAMILY, HELPERS, Writer, game_of
from tests.support import ENVELOPES

PACKAGE = Path(__file__).parent.parent.parent / "interpreter"

# Digests, saves and logs with the seed are given to those alone who may see everything (tests/serve/test_attacks.py),
# measures are read when a game is over, and views of modules that stand alone have tests in tests/play.

WAYS = {
    # what a seat gets
    "drawing/board_tables.py boards_of": "boards",
    "drawing/board_tables.py game_drawn": "picture",
    "drawing/picture.py picture_of": "picture",
    "engine/game.py log": "log",
    "engine/game.py view": "view",
    "engine/refusal.py reasons_for": "refusals",
    "engine/views.py board_of": "boards",
    "engine/views.py is_shown": "boards",
    "engine/views.py lines_since": "log",
    "engine/views.py numbered_lines": "log",
    "engine/views.py pending": "view",
    "engine/views.py prompt_of": "prompt",
    "engine/views.py question_of": "prompt",
    "engine/views.py context_of": "view",
    "engine/views.py view_of": "view",
    "explain/legality.py conditions_of": "explanations",
    "explain/provenance.py account_of": "page",  # its lines and places are those of the log
    "pages/notebook.py game_cell": "notebook",
    "play/narration.py boards_of": "boards",
    "serve/live.py log": "page",
    # how the others work
    "hidden/foresight.py frame_known": "taking back",
    "hidden/foresight.py veiled": "taking back",
    "engine/game.py value": "refuses to read hidden things: tests of queries",
    "engine/queries.py value_of": "refuses to read hidden things: tests of queries",
    "engine/determinization.py otherwise": "for the interpreter alone",
    "hidden/sight.py is_visible": "decides",
    "hidden/sight.py compiled": "decides",
    "hidden/sight.py hidden_cards": "decides",
    "hidden/sight.py hidden_cells": "decides",
    "hidden/sight.py is_judged": "decides",
    "hidden/sight.py is_known": "decides",
    "hidden/sight.py known_locals": "decides",
    "hidden/sight.py knows_locals": "decides",
    "hidden/sight.py shown_apart": "decides",
    "hidden/sight.py may_see": "decides",
    "hidden/sight.py reads_secrets": "decides",
    "hidden/sight.py seen_by": "decides",
    "hidden/sight.py shows": "decides",
    "hidden/sight.py under_way": "view",
    "hidden/sight.py veils": "decides",
    "protocol/engine_server.py explain": "protocol",
    "protocol/engine_server.py log": "protocol",
    "protocol/engine_server.py status": "protocol",
    "protocol/engine_server.py view": "protocol",
    "rl/spiel.py resample_from_infostate": "worlds: tests of searches",
    "rl/spiel.py set_from": "observation",
    "rl/spiel.py string_from": "observation",
}
"""All functions that take the `player` who looks, with the channel that compares what they give."""

REQUESTS = {
    "version": "nothing of a game",
    "new": "nothing hidden: a new game",
    "status": "protocol",
    "options": "protocol",
    "apply": "protocol",  # a status without a player, which shows everything
    "view": "protocol",
    "log": "protocol",
    "undo": "protocol",
    "clone": "protocol",
    "save": "everything, for the client that is trusted with it",
    "load": "protocol",
    "explain": "protocol",
    "hint": "hints",
    "close": "nothing",
    "quit": "nothing",
}
"""All methods of the protocol."""

COMMANDS = {
    "help": "nothing of a game",
    "?": "nothing of a game",
    "options": "options",
    "boards": "boards",
    "view": "view",
    "hint": "hints",
    "undo": "a person plays alone",
    "quit": "nothing",
    "save": "a person plays alone",
}
"""All commands of somebody who plays in the terminal."""


def ways() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith(("compiler/", "testing/", "cli/outlets")):  # numbers of bots; what is tested here
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
                if "player" in names:
                    yield f"{place} {node.name}"


def test_every_way_to_look_at_a_game_is_part_of_a_channel() -> None:
    assert set(ways()) == set(WAYS)
    assert set(METHODS) == set(REQUESTS)
    known = re.findall(
        r"case ((?:\"[^\"]+\"(?: \| )?)+):", (PACKAGE / "cli" / "session.py").read_text(encoding="utf-8")
    )
    assert {word for words in known for word in re.findall(r'"([^"]+)"', words)} == set(COMMANDS)
    channels = {channel for table in (WAYS, REQUESTS, COMMANDS) for channel in table.values()}
    assert set(CHANNELS) - channels == {"programs as bots", "moments of the past"}


HIDES = (
    FAMILY.replace("    holds: {", "    holds: {load: {pool: gem}, ")
    .replace(
        "  pile: {of: plan, order: by number}\n",
        "  pile: {of: plan, order: by number}\n  heaps: {piles of: plan, order: free, seen: no one, top_shows: back}\n",
    )
    .replace(
        "roles: {person: {counts: yes}}", "roles: {person: {counts: yes}, bird: {counts: no, seats: 1, open: yes}}"
    )
    .replace(
        "    maybe: {",
        "    dice: {value: list of step, start: [], seen: owner, count: shown}\n"
        "    marks: {value: set of step, start: [], seen: by knows}\n"
        "    friends: {value: list of seat, start: [], seen: owner}\n"
        "    badge: {value: step, start: 3, seen: by knows}\n"
        "    den: {zone: plan, order: kept, seen: by knows}\n    maybe: {",
    )
    .replace("  weather: {", "  rumour: {value: step, start: 5, seen: by hears}\n  weather: {")
    .replace("crypt: {", "boss: {value: seat?}, vault: {zone: slip, order: free, seen: by opens}, crypt: {")
    .replace("who: seat", "who: seat, viewer: seat, isle: town")
)
"""As the small game, with tokens on cards, piles, a role that shows what it has, dice, and things that rules show."""
MORE = (
    HELPERS
    + """\
back(c) -> bool: {is: "c.number > 3"}
mood_of(who) -> int: {is: "who.wish + weather"}
knows(viewer, who) -> bool: {is: "viewer == who or viewer.badge == who.badge and row == []"}
hears(viewer) -> bool: {is: "viewer.score > 2 and weather > 40"}
opens(viewer, isle) -> bool: {is: "isle.boss == viewer"}
"""
)
TEXTS = """\
says:
  said: "{number} it is"
asks:
  say_1: "{actor} {weather} {first(deck).number}"
boards:
  all:
    when: start of act
    says: "{weather} {first(deck) == none} {count(deck)}"
    rows: who in sorted(s in seats by s.purse, as listed)
    columns:
      {who: who, purse: who.purse, hand: who.hand, dice: who.dice, friends: count(who.friends),
       marks: count(who.marks), is: "1 if weather > 50 else 0"}
  seldom:
    when: start of act
    if: weather > 50
    rows: who in seats
    columns: {who: who, wish: who.wish, load: sum(total(c.load) for c in who.hand)}
picture:
  node: {colour: "weather mod 3", label: "{weather}", pale: "weather > 50"}
standing:
  match:
    for: n in row where n == weather
    does: |
      row = []
      note said(7)
"""
STEPS = (
    "move 1 of ruby from mine to first(deck).load",
    "move take(1, deck) to new pile in heaps",
    "if let heap = first(heaps):\n  move heap.top to pile",
    "let dice_{n} = roll 2 from 1 .. 6 as cup\nseats[0].dice = dice_{n}",
    "if weather > {}:\n  note said(1)\nelse:\n  note said(1)",
    "if seats[1].wish > {}:\n  noted(2)\nelif weather > {}:\n  noted(2)",
    "if weather > {}:\n  at end of phase:\n    seats[1].wish = 3",
    "if seats[1].wish > {}:\n  at start of next phase:\n    note said(3)",
    "seats[{} mod 2].badge = {} mod 4 + 1",
    "add seats[{} mod 2] to seats[1].friends",
    "seats[{} mod 2].friends = [s in seats where s.wish > {}]",
    "add {} mod 60 + 1 to seats[{} mod 2].marks",
    "amount = count(seats[1].friends) + count(seats[{} mod 2].dice)",
    "if seats[0].friends == []:\n  at end of phase:\n    seats[1].friends = []",
    "for each s in seats[1].friends:\n  number += 1",
    "row = []",
    "rumour = {} mod 60 + 1",
    "first(town).boss = seats[{} mod 2]",
    "move take(1, slips) to first(town).vault",
    "move take(1, deck) to seats[1].den",
    "move take(1, seats[1].den) to seats[0].den",
    "move take(1, seats[0].den) to deck",
    "if seats[1].badge > {}:\n  seats[0].badge = 2",
    "amount = rumour mod 3 + count(seats[1].den)",
    "note said(sum(c.number for c in seats[1].den))",
)


PREFERRED = (
    "number == weather mod 4 + 1",
    "number < seats[1].wish mod 5",
    "number == 2 and seats[0].purse > {}",
    "number > sum(c.number for c in seats[1].hand) mod 4",
    "number == count(deck) mod 4",
    "number == count(seats[1].friends) + count(seats[0].marks)",
    "number > 1 and first(deck) != none and weather > {}",
)


class Hider(Writer):
    """Writes random procedures and policies with the further ways to hide things."""

    def step(self, depth: int) -> str:
        if self.rng.random() < 0.25:
            return self.filled(self.rng.choice(STEPS).replace("{n}", str(self.rng.randrange(10**6))))
        return super().step(depth)

    def program(self) -> str:
        return super().program().replace("in seats, at once", "in seats where s.counts, at once")

    def policies(self) -> str:
        """Return a policy for the program, which may read what its seat does not see."""
        text = "policies:\n  greedy:\n    other: {prefer: any}\n    pick: {prefer: any}\n"
        for number in range(self.asked):
            test = self.rng.choice(PREFERRED).replace("{}", str(self.rng.randrange(60)))
            text += f"    say_{number}:\n      prefer: |\n        tell number where {test}\n        any\n"
        return text


def examined(game: Game, seed: int, decisions: int, *, thorough: bool, compares: bool = False) -> Iterator[Trouble]:
    """Yield what is found in a game at random."""
    examiner = Examiner(game, drawing(seed, "channels"), thorough, compares, CHANNELS)
    for _ in range(decisions):
        yield from examiner.look()
        if game.decision is None:
            return
        try:
            yield from examiner.make(some_option(game.decision, examiner.draw))
        except RuleFailure:
            return


def drawn(folder: Path, seed: int, *, forms: bool = False) -> Counter[str]:
    """Play a random game of random rules and return how often what was found. With ``forms``, the module plays it and
    is compared with the plain form."""
    writer = Hider(seed)
    program = writer.program()
    setup = "shuffle deck as mix\nmove take(2, deck) to seats[0].hand\nmove take(2, deck) to seats[1].hand"
    try:
        sections = TEXTS + writer.policies()
        game = game_of(folder / str(seed), program, sections, setup, seed=seed, family=HIDES, rules=MORE)
    except RuleFailure:
        return Counter()
    game.runner.plain = not forms or game.runner.ready() is None
    found = list(examined(game, seed, 8, thorough=seed % 4 == 0, compares=forms))
    faults = [
        f"{trouble} {trouble.notes}" for trouble in found if trouble.kind in ("leak", "forms", "totals", "copies")
    ]
    assert not faults, f"seed {seed}: {faults[0]}"
    return Counter(trouble.kind for trouble in found)


@pytest.mark.parametrize("part", range(4))
def test_random_rules_tell_no_seat_more_than_they_say(part: int, tmp_path: Path) -> None:
    found = sum((drawn(tmp_path, seed) for seed in range(part * 10, part * 10 + 10)), Counter[str]())
    assert found["told"] > 5


UNREAD = {
    "a block that waits": "if weather > 50:\n  at end of phase:\n    seats[1].wish = 3",
    "a number of draws": "if weather > 50:\n  weather = pick from 60 .. 90 as die",
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_nothing_shows_does_not_tell_games_apart(case: str, tmp_path: Path) -> None:
    """So the channels are compared there, too, and after the block."""
    before = "choose secret by seats[1], sealed:\n  tell n in 1 .. 100:\n    weather = n"
    game = game_of(tmp_path, f"{UNREAD[case]}\nchoose go by seats[0]:\n  ok", "", before)
    twin = Twin(0, game.clone(log=True), 0)
    game.apply({"do": "tell", "n": 10})
    assert twin.follow({"do": "tell", "n": 90}, 1)
    unread = {game.machine.constants.layout.base[word] for word in ("kept", "chance")}
    assert unread & set(game.state.difference(twin.other.state))
    for choice in ({"do": "ok"}, None):
        assert twin.told_apart(game) is None
        assert twin.leak(game, CHANNELS) is None
        if choice is not None:
            game.apply(choice)
            assert twin.follow(choice, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "overlays"),
    [
        (ENVELOPES, ()),
        ("goofspiel", ()),
        ("outpost", ("hidden-money",)),
        ("germany-2018", ()),
        ("usa-2004", ("robots", "hidden-money")),
    ],
)
def test_our_rules_tell_no_seat_anything_hidden(ruleset: str, overlays: tuple[str, ...]) -> None:
    game = load(ruleset, overlays).new_game(3, seed=5)
    assert not [str(trouble) for trouble in examined(game, 5, 200, thorough=False) if trouble.kind in ("leak", "told")]


# --- what attacks have found

SET = "choose secret by seats[1], sealed:\n  tell n in 1 .. 100:\n    weather = n\n"
END = "choose z by seats[0]:\n  ok:\n    amount = 1\n"
ASKS = "\nagain(n):\n  does: |\n    choose other by seats[0]:\n      ok:\n        note said(n)\n"
PICKS = """
picked(who) -> int:
  does: |
    who = seats[1]
    choose secret by who, sealed:
      tell n in 1 .. 100:
        return n
"""
LEAVES = """
left:
  does: |
    for each n in 1 .. 3:
      if weather > 50:
        note said(1)
        return
    note said(1)
"""
FOUND = {
    "an argument of a call": (f"{SET}if weather > 50:\n  again(1)\nelse:\n  again(2)\n", ASKS),
    "the pass of a loop": (
        f"{SET}let k = 0\nfor each q in 1 .. 3:\n  k += 1\n  if q == (1 if weather > 50 else 2):\n"
        f"{indent(END, '    ')}",
        "",
    ),
    "the size of the zone of a hidden seat": (
        f"{SET}let s = seats[1] if weather > 50 else seats[0]\nlet k = 0\nmove take(2, deck) to seats[0].hand\n"
        f"for each c in s.hand:\n  k += 1\n{END}",
        "",
    ),
    "a parameter that is assigned": (f"let q = seats[0]\nlet a = picked(q)\n{END}", PICKS),
    "tokens on a hidden card": (
        f"{SET}let a = (weather div 10) of ruby\nlet o = first(c in deck where c.number == 1)\n"
        f"move a from mine to o.load\n{END}",
        "",
    ),
    "a return in a loop": (f"{SET}left()\n{END}", LEAVES),
    "the callers of a procedure": (f"{SET}if weather > 50:\n  again(1)\n  amount = 1\nelse:\n  again(1)\n{END}", ASKS),
}


def log_of(game: Game) -> str:
    lines: list[str] = []
    write_log(game, lines.append)
    return "".join(lines)


@pytest.mark.parametrize("what", FOUND)
def test_what_a_sealed_choice_decides_is_kept(what: str, tmp_path: Path) -> None:
    """Two games that differ in a sealed choice of another seat, and in what the rules make of it unseen."""
    act, rules = FOUND[what]
    games = [game_of(tmp_path, act, family=HIDES, rules=MORE + rules) for _ in range(2)]
    for game, number in zip(games, (10, 90), strict=True):
        game.apply({"do": "tell", "n": number})
    for game in games if what == "the callers of a procedure" else ():
        game.apply({"do": "ok"})
    for name, channel in CHANNELS.items():
        assert channel(games[0], 0) == channel(games[1], 0), name
    saved = [read_saved_game(log_of(game)) for game in games]
    rules_of = games[0].ruleset
    for place, line in numbered_lines(games[0].table, games[0].state, 0):
        if line.kind == "event":
            here, there = (account_of(rules_of, each, place, player=0) for each in saved)
            assert here == there
