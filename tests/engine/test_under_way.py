"""What the procedures under way hold: shown in a view as far as the player may know it, and not read by a search."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import interpreter
from interpreter.bots.player import Stream
from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import Undealt, Worlds, otherwise
from interpreter.engine.game import Game
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from tests.hiding import FAMILY, game_of
from tests.small import loaded, write
from tests.support import ENVELOPES

pytestmark = pytest.mark.usefixtures("at_once")

CASES = Path(__file__).parents[1] / "cases"


def held(game: Game, player: int | None, rule: str) -> dict[str, Any]:
    """The locals of a procedure under way, as a player sees them."""
    found = [each["locals"] for each in game.view(player)["procedures"] if each["rule"] == rule]
    return dict(found[-1])


# --- auctions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plain", [True, False])
def test_the_auction_of_power_grid(plain: bool) -> None:
    """The plant on offer, the highest bid, who made it, and who has passed."""
    game = interpreter.load("germany-2018").new_game(players=4, seed=7)
    game.runner.plain = plain
    for choice in ({"do": "offer", "plant": 4, "bid": 4}, {"do": "raise", "amount": 6}, {"do": "pass"}):
        game.apply(choice)
    for player in (None, 0, 3):
        sale = held(game, player, "sell")
        assert (sale["what"], sale["price"], sale["best"], sale["next"]) == (4, 6, 2, 0)
        assert [seat for seat in sale["rivals"] if seat not in [*sale["ring"], sale["next"]]] == [3]
    again = game.ruleset.load_game(game.to_json())
    assert again.view(1) == game.view(1)
    game.undo()
    assert held(game, 1, "sell")["next"] == 3


def test_the_auction_of_outpost() -> None:
    game = interpreter.load("outpost").new_game(players=3, seed=4)
    while game.decision is not None and game.decision.name != "answer":
        game.apply(game.decision.options[0])
    assert game.decision is not None
    opened = held(game, 0, "sell")
    assert opened["next"] == game.decision.actor
    assert (opened["best"], opened["price"]) == (opened["opener"], opened["opening"])
    game.apply({"do": "raise", "amount": opened["price"] + 1})
    raised = held(game, 0, "sell")
    assert (raised["best"], raised["price"]) == (opened["next"], opened["price"] + 1)


# --- what is hidden --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", [ENVELOPES, "goofspiel"], ids=["sealed", "at once"])
def test_bids_that_are_not_told_yet_are_in_no_view(ruleset: str) -> None:
    games = [interpreter.load(ruleset).new_game(players=3, seed=1) for _ in range(2)]
    for game, value in zip(games, (3, 11), strict=True):
        game.apply({"do": "play", "value": value})
    assert [game.view(1) for game in games[:1]] == [game.view(1) for game in games[1:]]
    assert "value" not in held(games[0], 1, "bidding")


def test_sealed_choices_in_a_local_are_masked() -> None:
    game = load("cups", shelf=shelf_for(CASES / "cups" / "cups.yaml")).new_game(2, seed=1)
    for choice in ({"do": "cup", "number": 1}, {"do": "cup", "number": 2}, {"do": "keep", "number": 1}):
        game.apply(choice)
    assert held(game, 0, "guessing") == {"told": "…", "who": 1}
    assert held(game, None, "guessing") == {"told": [1], "who": 1}


ASK = "choose say by seats[1]:\n  tell number in 1 .. 3:\n    amount = number\nend game"
HELPERS = """
helped(n) -> int: n + first(deck).number
doubled(n) -> int: n * 2
asks(n):
  does: |
    choose hint by seats[0]:
      go
chosen(who) -> int:
  does: |
    choose keep by who, sealed:
      cup number in 1 .. 3:
        return number
laid_open(c):
  does: |
    move c to pile
laid_by_number(c):
  does: |
    if c.number > 3:
      return
    laid_open(c)
passed_on(c, d):
  does: |
    laid_open(d)
    c = d
said_at_last(n, more):
  does: |
    if more > 0:
      said_at_last(n, more - 1)
    else:
      note said(n)
"""
HELD: dict[str, tuple[str, dict[str, Any]]] = {
    "a number from a hidden zone": ("let n = first(deck).number", {"n": "…"}),
    "how many cards lie hidden": ("let n = count(deck)", {"n": 4}),
    "a number that is told": ("let n = first(deck).number\nnote said(n)", {"n": 1}),
    "a number that becomes a public value": ("let n = first(deck).number\nseats[0].score = n", {"n": 1}),
    "a public value": ("amount = first(deck).number\nlet n = amount", {"n": 1}),
    "a way that a secret decides": ("let n = 0\nif first(deck).number > 2:\n  n = 1", {"n": "…"}),
    "a way that all can see": ("let n = 0\nif first(deck).number < 2:\n  asks(3)\n  n = 1", {"n": "…"}),
    "a card that is laid open": ("let n = first(deck)\nmove n to pile", {"n": 1}),
    "a card that a rule lays open": ("let n = first(deck)\nlaid_open(n)", {"n": 1}),
    "a card that a rule may lay open": ("let n = first(deck)\nlaid_by_number(n)", {"n": "…"}),
    "a card that a rule keeps, beside one that it lays open": (
        "let n = first(deck)\nlet m = last(deck)\npassed_on(n, m)",
        {"n": "…", "m": 4},
    ),
    "a number that a rule tells, which calls itself": ("let n = first(deck).number\nsaid_at_last(n, 2)", {"n": 1}),
    "whether a hidden zone is empty": ("let n = 0\nif deck != []:\n  asks(3)\n  n = 1", {"n": 1}),
    "a card of a hidden hand": ("let s = seats[0]\nlet n = first(deck)\nmove n to s.hand", {"s": 0, "n": "…"}),
    "a card of the own hand": ("let s = seats[1]\nlet n = first(deck)\nmove n to s.hand", {"s": 1, "n": 1}),
    "a draw": ("let n = pick from 1 .. 3 as luck", {"n": "…"}),
    "a draw that is told": ("let n = pick from 1 .. 3 as luck\nnote said(n)", {"n": 2}),
    "a sum over hidden cards": ("let n = 0\nfor each x in deck:\n  n += x.number", {"n": "…"}),
    "a rule that reads hidden cards": ("let n = helped(1)", {"n": "…"}),
    "a rule that reads none": ("let n = doubled(4)", {"n": 8}),
    "a sealed choice that is given back": ("let n = chosen(seats[0])", {"n": "…"}),
    "a sealed choice that is revealed": ("let n = chosen(seats[0])\nreveal", {"n": 1}),
    "a value that is gone": ("let n = 1\nif n == 1:\n  let m = 2\n  amount = m", {"n": 1}),
}


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("case", HELD)
def test_what_a_player_sees_of_locals(tmp_path: Path, case: str, plain: bool) -> None:
    text, wanted = HELD[case]
    chance = {"luck": [2]} if "as luck" in text else {}
    game = loaded(write(tmp_path, f"{text}\n{ASK}", HELPERS)).new_game(2, seed=1, chance=chance)
    game.runner.plain = plain
    while game.decision is not None and game.decision.name != "say":
        game.apply(game.decision.options[0])
    assert held(game, 1, "act") == wanted
    assert "…" not in held(game, None, "act").values()


def test_a_parameter_is_secret_if_a_call_gives_a_secret(tmp_path: Path) -> None:
    for text, wanted in (("asks(first(deck).number)", "…"), ("asks(count(deck))", 4)):
        game = loaded(write(tmp_path / wanted.__repr__()[1:2].encode().hex(), f"{text}\n{ASK}", HELPERS)).new_game(2, 1)
        assert held(game, 1, "asks") == {"n": wanted}


# --- whatever the rules are ------------------------------------------------------------------------------------------

POOL = """
a = first(deck).number
b = a + 1
c = count(deck)
c = helped(b)
b = doubled(a)
a = chosen(seats[0])
a = pick from 1 .. 3 as luck
note said(a)
amount = b
seats[1].score = c
reveal
asks(a)
move take(1, deck) to pile
move take(1, deck) to seats[0].hand
shuffle deck as mix
if a > 1:
  b = 2
if b > 2:
  asks(c)
  c = 3
if a == 2:
  note said(b)
for each x in deck where x.number > a:
  c += 1
while c < 3 at most 9 times:
  c += max(b, 1)
for each x in deck:
  if x.number == a:
    asks(b)
if c > 2:
  return
"""


def statements() -> list[str]:
    found: list[str] = []
    for line in POOL.strip().split("\n"):
        if line.startswith(" "):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


def program(rng: random.Random) -> str:
    lines = ["shuffle deck as mix", "let a = 0", "let b = 0", "let c = 0"]
    for _ in range(rng.randrange(2, 7)):
        lines.append(rng.choice(statements()))
    asked = "choose say by seats[1]:\n  tell number in 1 .. 3 where number != 2:\n    note said(number)"
    body = "\n".join([*lines, asked, *(rng.choice(statements()) for _ in range(2)), asked])
    return f"act_once()\nend game\n@{body}"


@pytest.mark.parametrize("seed", range(12))
def test_who_cannot_tell_two_games_apart_sees_the_same_procedures(tmp_path: Path, seed: int) -> None:
    """Random rules, played with other hidden cards, draws and sealed choices: as long as all else that player 1 sees
    and hears is the same, so is what is under way."""
    act, _, body = program(random.Random(seed)).partition("@")
    rules = f"{HELPERS}act_once:\n  does: |\n{indent(body, '    ')}\n"
    ruleset = loaded(write(tmp_path, act, rules))
    noticed: dict[str, str] = {}
    for number, kept in product(range(12), range(3)):
        game = ruleset.new_game(2, seed=number)
        game.runner.plain = bool(number % 2)
        history = ""
        while (decision := game.decision) is not None:
            view = game.view(1)
            under_way = repr(view.pop("procedures"))
            told = [(line.name, line.text, line.values) for line in game.log(1)]
            history += repr((view, told))
            assert noticed.setdefault(history, under_way) == under_way, body
            game.apply(decision.options[kept if decision.name == "keep" else 0])


# --- searches --------------------------------------------------------------------------------------------------------

SOUGHT = {
    "a card that was looked at": "shuffle deck as mix\nlet n = first(deck).number\nif n > 3:\n  n = 3",
    "a card that went away": (
        "shuffle deck as mix\nlet card = first(deck)\nlet n = min(card.number, 3)\nmove card to seats[0].hand"
    ),
    "a draw": "let n = pick from 1 .. 3 as luck",
    "a draw after one that is told": (
        "let lot = pick from seats as lot\nlot.score += 1\nlet n = pick from 1 .. 3 as luck"
    ),
    "a sealed choice": "let n = chosen(seats[0])",
    "a parameter": "choose ready by seats[1]:\n  go\nlet n = pick from 1 .. 3 as luck",
}
SEEK = """
choose seek by seats[1]:
  find number in 1 .. 3:
    if number == n:
      seats[1].score += 10
end game
"""


@pytest.mark.slow
@pytest.mark.parametrize("case", SOUGHT)
def test_a_search_does_not_read_secret_locals(tmp_path: Path, case: str) -> None:
    """It does the same, whatever lies in them; and the worlds that it imagines differ."""
    ruleset = loaded(write(tmp_path, f"choose begin by seats[1]:\n  go\n{SOUGHT[case]}\n{SEEK}", HELPERS))
    found: dict[int, list[str]] = {}
    for seed in range(12):
        game = ruleset.new_game(2, seed=seed, chance={"lot": [1]} if "as lot" in SOUGHT[case] else None)
        while game.decision is not None and game.decision.name != "seek":
            game.apply(game.decision.options[seed % len(game.decision.options)])
        assert game.decision is not None
        worlds, stream = Worlds(game, 1), Stream(seed, "test")
        imagined = {held(worlds.deal(number, stream.below), None, "act")["n"] for number in range(20)}
        assert imagined == {1, 2, 3}
        bot = bots_of("search:40:random", ruleset, 2)[1]
        truth = held(game, None, "act")["n"]
        if truth in found:
            continue
        found[truth] = [str(bot.choose(game, game.decision, Stream(each, "test"))) for each in range(6)]
    assert len(found) == 3
    assert found[1] == found[2] == found[3]


def test_a_world_has_what_the_seat_has_seen(tmp_path: Path) -> None:
    """A card that was turned up since the secret came about is the same in each world."""
    text = "let n = last(deck).number\nmove first(deck) to pile"
    ruleset = loaded(write(tmp_path, f"shuffle deck as mix\nchoose begin by seats[1]:\n  go\n{text}\n{SEEK}"))
    game = ruleset.new_game(2, seed=3)
    game.apply({"do": "go"})
    worlds, stream = Worlds(game, 1), Stream(1, "test")
    dealt = [worlds.deal(number, stream.below) for number in range(20)]
    assert {str(world.view()["pile"]) for world in dealt} == {str(game.view()["pile"])}
    assert len({held(world, None, "act")["n"] for world in dealt}) == 3


def test_without_its_log_a_game_with_secrets_has_no_worlds(tmp_path: Path) -> None:
    ruleset = loaded(write(tmp_path, f"choose begin by seats[1]:\n  go\nlet n = pick from 1 .. 3 as luck\n{SEEK}"))
    game = ruleset.new_game(2, seed=3)
    game.apply({"do": "go"})
    with pytest.raises(Undealt):
        Worlds(game.clone(), 1)


def test_hidden_pools_of_a_world_hold_all_tokens_that_the_seat_does_not_see(tmp_path: Path) -> None:
    """Not what they hold in the game, which a game that looks alike to the seat may not have."""
    act = (
        "shuffle deck as mix\nmove 2 of ruby from mine to seats[1].gems\nmove 3 of onyx from mine to first(deck).load\n"
    )
    belongings = "    holds: {", "    holds: {load: {pool: gem}, "
    game = game_of(tmp_path, act + ASK, family=FAMILY.replace(*belongings))
    random = [Stream(4, "test") for _ in range(2)]
    other = otherwise(game, 1, random[0].below)
    assert other.value("total(mine)") > game.value("total(mine)") + 18
    random[0] = Stream(4, "test")
    dealt = [Worlds(each.clone(), 1).deal(7, r.below) for each, r in zip((game, other), random, strict=True)]
    assert dealt[0].digest() == dealt[1].digest()
    assert not dealt[1].check()
    assert dealt[1].value("total(mine) + sum(total(c.load) for c in deck)") <= 16
