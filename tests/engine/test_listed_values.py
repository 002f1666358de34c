"""A list whose items hold commas is told so that one sees where an item ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.engine.game import Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.explain.legality import conditions_of
from interpreter.language.types import INT, ListType
from tests.small import loaded, write

ACT = """
let g: list of bag of gem = [1 of ruby + 2 of opal, 1 of opal]
choose act by seats[0]:
  burn fuel in g
  burn_both all in [g, [2 of onyx + 1 of ruby]]
end game
"""


def test_items_with_commas_are_separated_by_something_else(pebbles: Ruleset) -> None:
    names = pebbles.names
    assert names.listed(["a", "b"], INT) == "a, b"
    assert names.listed(["a", "b"], ListType(INT)) == "a; b"
    assert names.listed(["a, b", "c"], INT) == "a, b; c"
    assert names.listed(["a, b; c", "d"], INT) == "a, b; c | d"
    assert names.listed([], INT) == ""


def test_refusals_and_explanations_say_where_an_option_ends(tmp_path: Path) -> None:
    game = loaded(write(tmp_path, ACT)).new_game(2)
    with pytest.raises(IllegalMove, match="one of 1 ruby, 2 opal; 1 opal"):
        game.apply({"do": "burn", "fuel": {"onyx": 1}})
    (asked,) = conditions_of(game, {"do": "burn_both", "all": [{"onyx": 1}]})
    assert asked.values[-1][1] == "one of 1 ruby, 2 opal; 1 opal | 1 ruby, 2 onyx"
