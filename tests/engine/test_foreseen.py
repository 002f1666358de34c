"""What a seat can work out before it chooses: then, and only then, taking the choice back tells it nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from textwrap import indent

import pytest

import interpreter
from interpreter.engine.determinization import Undealt, Worlds, otherwise
from interpreter.engine.foreseen import foresees
from interpreter.engine.game import Game
from interpreter.engine.log_records import Mark, read
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.views import lines_since
from interpreter.lowering.constants import RuleFailure
from tests.hiding import Writer, game_of
from tests.looks import known_apart
from tests.support import ENVELOPES

# --- a guess at something hidden -------------------------------------------------------------------------------------

GUESS = "choose guess by seats[0]:\n  say number in 1 .. 100:\n"
GUESSES = {
    "a value that no one sees": "if number == weather:\n  amount = 2",
    "a value of another seat": "if number == seats[1].wish:\n  amount = 2",
    "through a function": "if is_it(number):\n  amount = 2",
    "as a value": "amount = weather - weather",
    "as a value of a function": "amount = near(number)",
    "in an event": "note said(weather)",
    "in an event of a procedure": "noted(weather)",
    "as a number of points": "seats[0].score += weather",
    "as the number of tokens": "move min(number, seats[1].purse) from seats[0].purse to bank",
    "as the end of a list": "while count(row) < weather at most 200 times:\n  add 1 to row",
    "in a place of a list": "add weather to row",
    "by a hidden card": "if first(deck).number == number:\n  amount = 2",
    "by a card of another hand": "if any(c in seats[1].hand where c.number == number):\n  amount = 2",
    "by a card that is drawn": "move first(deck) to pile",
    "by a card that is drawn unseen": "move first(deck) to seats[1].hand",
    "in a second step": "let n = weather\nlet right = n == number\nif right:\n  amount = 2",
    "by who is asked": "choose more by seats[weather mod 2]:\n  tell",
    "by whether somebody is asked": "if number == weather:\n  asks(3)",
    "by what is asked": "choose more by seats[0]:\n  tell m in 1 .. weather",
    "by the condition of an option": "choose more by seats[0]:\n  tell if number == weather\n  stop",
    "by what is shown with a question": "choose more(weather) by seats[1]:\n  tell",
    "at the end of the phase": "at end of phase:\n  if number == weather:\n    amount = 2",
    "by a die": "amount = pick from 1 .. 6 as die",
    "by a shuffle": "shuffle deck",
    "by a rule that is always in force": "row = [number]",
    "by the end of the game": "if number == weather:\n  end game",
}
STANDING = """\
standing:
  match:
    for: n in row where n == weather
    does: |
      row = []
      amount = 7
"""
TWO_RULES = """\
standing:
  more:
    for: n in row where n > 200
    does: row = []
  much:
    for: n in row where n > 2
    does: |
      choose much by seats[0]:
        say m in 1 .. 100:
          row = [m mod 3]
"""
LATER = "\nchoose rest by seats[0]:\n  done"


def guesses(game: Game) -> Iterator[Game]:
    """The game after each guess that no rule refuses."""
    assert game.decision is not None
    for option in game.decision.options:
        guessed = copy(game)
        try:
            guessed.apply(option.as_dict())
        except RuleFailure:
            continue
        yield guessed


@pytest.mark.parametrize("case", GUESSES)
def test_a_guess_at_something_hidden_is_never_foreseen(case: str, tmp_path: Path) -> None:
    """Not even if it is wrong: that it is wrong is news too."""
    sections = STANDING if "in force" in case else ""
    before = "move take(1, deck) to seats[1].hand\nseats[1].maybe = 9"
    later = "" if "phase" in GUESSES[case] else LATER
    game = game_of(tmp_path, GUESS + indent(GUESSES[case], " " * 4) + later, sections, before)
    found = [foresees(guessed, 0) for guessed in guesses(game)]
    assert len(found) > 20
    assert not any(found)


def test_a_guess_at_a_sealed_choice_is_never_foreseen(tmp_path: Path) -> None:
    act = "let n = chosen(seats[1])\n" + GUESS + "    if number == n:\n      amount = 2" + LATER
    game = game_of(tmp_path, act)
    game.apply({"do": "take", "n": 2})
    assert not any(foresees(guessed, 0) for guessed in guesses(game))


def test_where_one_of_two_like_questions_is_asked_is_not_foreseen(tmp_path: Path) -> None:
    """Both look the same; what is done then tells which one it was, and so what is hidden."""
    ask = "  choose guess by seats[0]:\n    say n in 1 .. 3:\n      amount = {}\n"
    act = f"if weather == 1:\n{ask.format(7)}else:\n{ask.format(8)}{LATER.strip()}"
    for start, outcome in ((1, 7), (2, 8)):
        game = game_of(tmp_path / str(start), act, "", f"weather = {start}")
        game.apply({"do": "say", "n": 1})
        assert game.view(0)["amount"] == outcome
        assert not foresees(game, 0)


def test_a_choice_within_a_standing_rule_is_foreseen(tmp_path: Path) -> None:
    game = game_of(tmp_path, f"{GUESS}    row = [number + 2]\n{LATER.strip()}", TWO_RULES)
    for _ in range(2):
        found = [foresees(guessed, 0) for guessed in guesses(game)]
        assert len(found) == 100
        assert all(found)
        assert game.decision is not None
        game.apply(game.decision.options[0])
    assert str(game.decision) == "<decision rest of seat 0>"


MOMENTS = ("end of turn", "end of phase", "end of round", "start of next phase", "start of next round")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("waits", [False, True])
def test_a_moment_is_not_foreseen_if_a_block_may_wait_for_it_in_secret(
    moment: str, waits: bool, tmp_path: Path
) -> None:
    """Whether one does wait makes no difference, nor does a public block that waits for the same moment."""
    block = f"if weather > 50:\n  at {moment}:\n    seats[1].wish = 3\nat {moment}:\n  row = []\n"
    act = f"{block}for each turn who in seats:\n  choose ends by who:\n    ok:\n      amount = 3\n"
    game = game_of(tmp_path, act, "", f"weather = {90 if waits else 10}")
    for seat in range(2):
        made = len(game.state.log)
        game.apply({"do": "ok"})
        words = {mark.word for record in game.state.log[made:] if isinstance(mark := read(record), Mark)}
        passed = {"end of act": "end of phase", "start of act": "start of next phase"}
        reached = moment.replace("next round", "round") in {passed.get(word, word) for word in words}
        assert foresees(game, seat) is not reached


def test_a_block_that_waits_in_public_is_foreseen_if_others_wait_for_another_moment(tmp_path: Path) -> None:
    hidden = "if weather > 50:\n  at end of round:\n    seats[1].wish = 3\n"
    game = game_of(
        tmp_path, f"{hidden}at end of turn:\n  amount = 5\nfor each turn who in seats:\n  choose a by who:\n    ok"
    )
    game.apply({"do": "ok"})
    assert game.view(0)["amount"] == 5
    assert foresees(game, 0)


@pytest.mark.parametrize("drawn", ["shuffle deck", "amount = pick from 1 .. 1 as die"])
def test_nobody_foresees_an_outcome_of_chance(drawn: str, tmp_path: Path) -> None:
    game = game_of(tmp_path, GUESS + indent(drawn, " " * 4) + LATER)
    for guessed in guesses(game):
        assert not foresees(guessed, 0)
        assert not foresees(guessed, 1)


# --- what is no news -------------------------------------------------------------------------------------------------

PLAIN = {
    "open values": "amount = number * 2\nseats[1].score += 1\nadd number to row\nnote said(number)",
    "the size of what is hidden": "amount = count(deck) + count(seats[1].hand)",
    "whether a hidden value is none": "if seats[1].maybe != none and number > 50:\n  amount = 3",
    "an own value": "if number == seats[0].wish:\n  amount = 2",
    "an own card": "if any(c in seats[0].hand where c.number == number):\n  amount = 2",
    "a card that is put on a hidden zone": "move first(seats[0].hand) to deck",
    "a card that is put under a hidden zone": "move first(seats[0].hand) to bottom of deck",
    "a card that goes into another hand": "move first(seats[0].hand) to seats[1].hand",
    "an own card that is shown": "move first(seats[0].hand) to pile",
    "tokens to a hidden pool": "move 1 from seats[0].purse to bank\nmove 1 from seats[0].purse to seats[1].purse",
    "tokens from a pool without end": "move number from bank to seats[0].purse",
    "a hidden value that is set": "weather = number\nseats[1].wish = number",
    "a hidden value that is set and read": "weather = number\nif weather == number:\n  amount = 3",
    "a procedure that asks": "asks(number)",
    "the choice of another among its cards": "choose give by seats[1]:\n  card plan in seats[1].hand",
    "at the end of the phase": "at end of phase:\n  amount = number",
}


@pytest.mark.parametrize("case", PLAIN)
def test_what_follows_from_what_a_seat_sees_is_foreseen(case: str, tmp_path: Path) -> None:
    before = "move take(2, deck) to seats[0].hand\nmove take(1, deck) to seats[1].hand"
    game = game_of(tmp_path, GUESS + indent(PLAIN[case], " " * 4) + LATER, "", before)
    found = [foresees(guessed, 0) for guessed in guesses(game)]
    assert len(found) > 20
    assert all(found)


def test_simultaneous_choices_are_foreseen_until_all_have_chosen(tmp_path: Path) -> None:
    act = "choose bid by each s in seats, at once:\n  pay n in 1 .. 9:\n    s.score += n" + LATER
    game = game_of(tmp_path, act, players=3)
    for seat, is_foreseen in ((1, True), (0, True), (2, False)):
        game.apply({"do": "pay", "n": 3}, by=seat)
        assert foresees(game, seat) is is_foreseen
    game.undo()
    assert not foresees(game, 1, 2)  # the choice of another seat is not known


def test_what_a_seat_chooses_that_sees_more_is_not_foreseen(tmp_path: Path) -> None:
    ask = "choose first_one by seats[0]:\n  tell n in 1 .. 3:\n    amount = n\n"
    act = ask + ask.replace("first_one", "second_one").replace("seats[0]", "seats[1]") + LATER
    for before in ("", "seats[1].maybe = 3"):
        game = game_of(tmp_path / (before[:3] or "none"), act, "", before)
        for _ in range(2):
            assert game.decision is not None
            game.apply(game.decision.options[0])
        assert foresees(game, 1)
        assert not foresees(game, 0)  # seat 1 may have looked at its purse
        assert not foresees(game, 0, 2)
    game.undo()
    assert foresees(game, 0)


def test_a_game_without_its_log_foresees_nothing(tmp_path: Path) -> None:
    game = game_of(tmp_path, GUESS + "    amount = 1" + LATER)
    assert not foresees(game, 0)
    game.apply({"do": "say", "number": 1})
    assert foresees(game, 0)
    assert not foresees(game, 0, 2)
    assert not foresees(game.clone(), 0)


# --- whatever the rules are ------------------------------------------------------------------------------------------


def looks_alike_afterwards(
    before: Game, after: Game, seat: int, rng: random.Random, impossible: str = "no"
) -> tuple[int, int]:
    """Make the last choice again in two games in which things that the seat does not see are others. Return how many
    were possible, and in how many of them the seat can tell a difference.

    Where it foresaw the choice, it can tell none; and whether it foresaw it is the same. ``impossible`` is a condition
    that no game meets at a decision, but a dealt one may.
    """
    tried = apart = 0
    (by, choice), is_foreseen = after.choices[-1], foresees(after, seat)
    for deal in (otherwise, lambda game, seat, draw: Worlds(game, seat).deal(0, draw)):
        try:
            world = deal(before, seat, rng.randrange)
            world.chance = after.chance
            if known_apart(world, before, seat) is not None or world.value(impossible):
                continue  # the context of a decision told more
            start = copy(world)
            world.apply(choice, by)
            is_apart = known_apart(world, after, seat) is not None
        except (Undealt, IllegalMove, RuleFailure):
            continue
        tried += 1
        assert foresees(world, seat) == is_foreseen
        lines = [
            [(line.kind, line.name, line.text, line.values) for line in lines_since(g.table, g.state, since, seat)]
            for g, since in ((after, len(before.state.log)), (world, len(start.state.log)))
        ]
        is_apart |= lines[0] != lines[1]
        assert not (is_apart and is_foreseen)
        apart += is_apart
    return tried, apart


def programs(folder: Path, first: int, number: int) -> tuple[int, int, int, int]:
    tried = apart = foreseen = made = 0
    for seed in range(first, first + number):
        writer = Writer(seed)
        sections = STANDING if seed % 3 == 0 else ""
        setup = "shuffle deck as mix\nmove take(2, deck) to seats[0].hand\nmove take(2, deck) to seats[1].hand"
        try:
            game = game_of(folder / str(seed), writer.program(), sections, setup, seed=seed)
        except RuleFailure:
            continue
        game.runner.plain = True
        for _ in range(12):
            decision = game.decision
            if decision is None:
                break
            before = copy(game)
            try:
                options = decision.options[:60]
                game.apply(writer.rng.choice(options).as_dict())
            except RuleFailure:
                break
            made += 1
            for seat in range(2):
                foreseen += foresees(game, seat)
                some, others = looks_alike_afterwards(before, game, seat, writer.rng, "weather in row")
                tried, apart = tried + some, apart + others
    return tried, apart, foreseen, made


def test_in_random_rules_a_seat_foresees_only_what_hidden_things_do_not_change(tmp_path: Path) -> None:
    tried, apart, foreseen, made = programs(tmp_path, 0, 40)
    assert tried > 200
    assert apart > 20
    assert 40 < foreseen < made * 2 - 40


@pytest.mark.parametrize(
    ("ruleset", "overlays", "players"),
    [
        (ENVELOPES, (), 3),
        ("goofspiel", (), 3),
        ("bsw-germany", (), 3),
        ("germany-2018", (), 4),
        ("germany-2004", ("power-grid/robots",), 3),
        ("outpost", ("outpost/hidden-money",), 3),
    ],
)
def test_in_our_rules_a_seat_foresees_only_what_hidden_things_do_not_change(
    ruleset: str, overlays: tuple[str, ...], players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most choices can be taken back; none that draws or shows something."""
    rng = random.Random(players)
    game = interpreter.load(ruleset, overlays).new_game(players, seed=3)
    monkeypatch.setattr(game.runner, "plain", True)
    own: list[bool] = []
    apart = 0
    while game.decision is not None and len(own) < 60:
        before, actor = copy(game), game.decision.actor
        game.apply(rng.choice(game.decision.options[:200]))
        own.append(foresees(game, actor))
        if not game.is_over:
            apart += looks_alike_afterwards(before, game, rng.choice((actor, rng.randrange(players))), rng)[1]
    assert len(own) * 0.5 < sum(own) < len(own) * 0.95
    assert apart > 0
