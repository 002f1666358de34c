"""Mixes are found by few counts where it is known what is asked for; where it is not, or much is, as in any bag."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.compiler.fast.budget import FEW
from interpreter.compiler.fast.knowledge import MOST_MIXTURES
from interpreter.compiler.fast.mixtures import MOST_NUMBERS, MOST_TOKENS, Asked, mixtures
from interpreter.kernel.bags import mixes
from tests.compiler.test_forms import CASES, ENDLESS
from tests.small import FAMILY, loaded, write

TOTALS = (4, 1, 3)
KINDS = st.lists(st.integers(0, 2), max_size=2).map(tuple)
ASKED = st.lists(st.none() | st.tuples(st.integers(-1, FEW - 1), KINDS), min_size=1, max_size=4).map(tuple)


@given(ASKED)
def test_tables_agree_with_the_kernel(asked: Asked) -> None:
    known = mixtures(asked, TOTALS)
    assert known is not None
    for place, bag in product(range(len(asked)), product(*[range(total + 1) for total in TOTALS])):
        found = known.rows[place]
        if (each := asked[place]) is None:
            assert found is None
            continue
        for kinds in known.kinds:
            found = found[bag[kinds[place]]]
        assert found == mixes(*each, bag)


def test_tables_are_small() -> None:
    assert mixtures(((FEW, (0,)), (10**18, (1,))), (MOST_TOKENS, 9, 9)) is not None
    assert mixtures(((FEW - 1, (0, 1)),), (9, 9, 9)) is not None
    assert mixtures(((FEW, (0, 1)),), (9, 9, 9)) is None
    assert mixtures(((1, (0, 1, 2)),), (9, 9, 9)) is None
    assert mixtures(((1, (0,)),), (9, MOST_TOKENS + 1, 9)) is None
    many = tuple((number, (1,)) for number in range(MOST_NUMBERS // 30 + 1))
    assert mixtures(many[1:], (9, 9, 9)) is not None
    assert mixtures((*many[1:], *many[1:]), (9, 9, 9)) is not None
    assert mixtures(many, (9, 9, 9)) is None


def test_there_are_few_tables(tmp_path: Path) -> None:
    asked = "mixes(forge.needs, forge.burns, who.purse)"
    others = "".join(f" + mixes({number}, [opal], who.purse)" for number in range(1, MOST_MIXTURES + 1))
    text = emitted(KNOWN[0], tmp_path, (asked, asked + others + f" + {asked}"))
    assert len(set(re.findall(r"K\d+_mixes_of_gem", text))) == MOST_MIXTURES
    option = next(line for line in text.splitlines() if "for fuel_2 in" in line)
    assert re.findall(r"\bmixes\[\w+,?", option) == [f"mixes[{MOST_MIXTURES},"]


KNOWN = "mixes by what a card needs and burns", "mixes that a function asks for"
IN_ANY_BAG = {
    "of three kinds": ("ruby opal", "ruby onyx opal"),
    "of many tokens of two kinds": ("7     | onyx opal", "8     | onyx opal"),
    "where there is much": ("{ruby: 9,", "{ruby: 101,"),
    "without end": ENDLESS,
    "of a bag that is looked for": ("who.purse", "seats[0].purse"),
    "of a card that is looked for": ("forge.needs, forge.burns", "first(hearths).needs, first(hearths).burns"),
}


def emitted(name: str, tmp_path: Path, *changes: tuple[str, str]) -> str:
    act, rules, known, tables = CASES[name]
    family = FAMILY.replace("state:\n", "state:\n  score_all: {value: int, start: 0}\n")
    for old, new in (*known, *changes):
        assert old in act + family
        act, family = act.replace(old, new), family.replace(old, new)
    return loaded(write(tmp_path, act, rules, "", family + tables)).new_game(2, 1).machine.emitted.text()


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_is_found_by_counts(name: str, tmp_path: Path) -> None:
    """No function is kept that only looks such mixes up."""
    text = emitted(name, tmp_path)
    assert "mixes[" not in re.sub(r"K\d+_", "", text)
    assert re.search(r"K\d+_mixes_of_gem\[forge_\d+\]\[\w+\[K\d+_mixed_gem\[forge_\d+\]\]\]\[", text)
    assert "_ways" not in text


@pytest.mark.parametrize("why", IN_ANY_BAG)
def test_else_the_whole_bag_is_looked_up(why: str, tmp_path: Path) -> None:
    text = emitted(KNOWN[0], tmp_path, IN_ANY_BAG[why])
    assert re.search(r"\bmixes\[K\d+_forge_needs\[", text)
    assert "mixes_of_gem" not in text


def test_what_is_found_by_counts_is_short(tmp_path: Path) -> None:
    """Nothing is paid for each of some mixes, and for each of others again."""
    asked = "in mixes(forge.needs, forge.burns, who.purse)"
    assert "spent(K" not in emitted(KNOWN[0], tmp_path, (f"fuel {asked}", f"more {asked}, fuel {asked}"))
