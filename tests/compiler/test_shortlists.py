"""Short lists are what the loops that they stand for would find, in the same order, whatever happened in between."""

from __future__ import annotations

import ast
import copy
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from interpreter.compiler.fast.motion import out_of_loops
from interpreter.compiler.fast.quote import Quote
from tests.compiler.pair import CASES, Pair, machines, play

AREA = "area = [i in isle where i.coast in chosen]"
LISTS = {
    "as it is": AREA,
    "the other way round": AREA.replace("[i", "reversed([i") + ")",
    "twice": AREA + " + [i in isle where i.coast in chosen]",
    "some twice": AREA + " + [i in isle where i.coast == chosen[0]]",
}


@pytest.mark.parametrize("order", LISTS)
def test_games_are_the_same_whatever_the_order(order: str, tmp_path: Path) -> None:
    (case,) = (path for path in CASES if path.name == "isles.yaml" and path.parent.name == "building")
    folder = shutil.copytree(case.parent, tmp_path / "building")
    family = folder / "family.yaml"
    text = family.read_text(encoding="utf-8")
    assert AREA in text
    family.write_text(re.sub(" cites C-.*", "", text.replace(AREA, LISTS[order])), encoding="utf-8")
    name = str(folder / "isles.yaml")
    written = machines(name, 2)[1].emitted.modules.values()
    assert sum(function.name.endswith("_passing") for body in written for function in body) == 2  # type: ignore[attr-defined]
    for seed in range(6):
        play(Pair(name, 2, seed), random.Random(seed))


def test_what_is_the_same_for_all_is_asked_before_the_loop() -> None:
    text = "def least(S, items, most):\n for item in items:\n  if S[0] > most and item > most:\n   return item"
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    moved = out_of_loops(copy.deepcopy(function), Quote())
    assert isinstance(moved.body[-1], ast.If)
    found = []
    for each in (function, moved):
        names: dict[str, Any] = {}
        exec(compile(ast.fix_missing_locations(ast.Module([each], [])), "", "exec"), names)
        found.append([names["least"]([first], (1, 2, 3, 4), 2) for first in (1, 5)])
    assert found[0] == found[1] == [None, 3]


def test_what_enters_has_its_place() -> None:
    space = machines("germany-2018", 2)[1].form.space
    enter, each_once = space["enter"], space["each_once"]
    chance = random.Random(7)
    for number in range(50):
        drawn = chance.sample(range(30), 12)
        items = tuple(sorted(drawn) if number % 2 else drawn)
        assert each_once(items)
        assert not each_once((*items, items[5]))
        some = [item for item in items if chance.random() < 0.5]
        values: list[int] = []
        for item in chance.sample(some, len(some)):
            enter(values, item, items)
        enter(values, 30, items)
        assert values == some
