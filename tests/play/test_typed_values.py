"""Values are understood as they are printed: with blanks, in the words of the ruleset, in each language."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from interpreter.engine.game import Game
from interpreter.engine.views import Spoken
from interpreter.loading.load import load
from interpreter.play.keyboard import understood
from tests.small import loaded, write

SECTIONS = """
records: {bid: {by: seat, gems: bag of gem, most: int}}
"""
ACT = """
choose act by seats[0]:
  bag g in [2 of ruby + 1 of onyx, 1 of opal, 2 of ruby - 2 of ruby]
  two_bags g in [1 of ruby, 2 of ruby + 1 of onyx], h in [1 of onyx + 3 of opal, 1 of ruby]
  bag_and_number g in [1 of ruby, 2 of ruby + 1 of onyx], n in [1, 12]
  seat_and_number s in seats, n in 1 .. 2
  bags list in [[1 of ruby + 1 of onyx, 2 of opal], [1 of opal]]
  towns way in [["Ayr", "Bute"], ["Coll"], []]
  colours all in [[red, blue], [blue]]
  lists all in [[[red, blue], [blue]], [[red]]]
  record r in [bid(seats[1], 1 of ruby + 2 of opal, 3), bid(seats[0], 0 of ruby, 1)]
  one_link k in links("Bute") where k.cost > 0
  place p in town[1].places
  truth b in [yes, no]
end game
"""


def printed(game: Game, language: str, most: int) -> None:
    """Check that options of the current decision are understood as their values are printed."""
    decision = game.decision
    assert decision is not None
    names = Spoken(game.table, game.state, language)
    for option in islice(decision.options, most):
        number, values = option.code
        name, choices = decision.site.options[number].name, decision.site.options[number].core.choices
        texts = [names.text(value, choice.type) for choice, value in zip(choices, values, strict=True)]
        for line in (
            " ".join([name, *texts]),
            " ".join([name, *(f"{choice.name}={text}" for choice, text in zip(choices, texts, strict=True))]),
        ):
            assert understood(game, decision, line, language) == option.as_dict(), line


def test_values_of_all_types(tmp_path: Path) -> None:
    printed(loaded(write(tmp_path, ACT, sections=SECTIONS)).new_game(2), "en", 100)


@pytest.mark.parametrize(
    "text", ["2 ruby, 1 onyx", "2 ruby 1 onyx", "ruby 2 onyx 1", "ruby 2, onyx", "Ruby:2,onyx:1", "'2 ruby, 1 onyx'"]
)
def test_a_bag_is_typed_in_any_order(tmp_path: Path, text: str) -> None:
    game = loaded(write(tmp_path, ACT, sections=SECTIONS)).new_game(2)
    assert game.decision is not None
    assert understood(game, game.decision, f"bag_and_number {text} 12") == {
        "do": "bag_and_number",
        "g": {"ruby": 2, "onyx": 1},
        "n": 12,
    }


@pytest.mark.parametrize("id", ["germany-2018", "quebec-2018", "bsw-germany", "outpost", "goofspiel"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_values_of_shipped_rulesets(id: str, language: str) -> None:
    game, chance = load(id).new_game(3, seed=5), random.Random(5)
    for _ in range(120):
        if game.decision is None:
            break
        printed(game, language, 3)
        game.apply(chance.choice(list(islice(game.decision.options, 50))))


@pytest.mark.parametrize("name", ["Val-d'Or", "val-d'or"])
def test_a_quote_inside_of_a_name_opens_no_text(name: str) -> None:
    game = load("quebec-2018").new_game(3, seed=5)
    chance = random.Random(1)
    while game.decision is not None and game.decision.name != "build":
        game.apply(chance.choice(list(islice(game.decision.options, 50))))
    assert game.decision is not None
    assert understood(game, game.decision, f"connect {name}") == {"do": "connect", "city": "Val-d'Or"}


def test_a_name_of_several_words_is_not_one_more_value() -> None:
    game = load("germany-2018").new_game(3, seed=5)
    assert game.decision is not None
    with pytest.raises(ValueError, match="takes 2 values, and `6` is one more"):
        understood(game, game.decision, "offer 4 5 6")
