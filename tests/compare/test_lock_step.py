"""Games in lock step: where they first diverge and why, whether modules play ahead or not."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.stepwise import at_once
from interpreter.bots.planless import RandomBot
from interpreter.bots.registry import bots_of
from interpreter.compare.causes import BEGINNING, Causes
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.divergence import LockStep, causes, from_the_start
from interpreter.compare.lock_step import Beside, Line, Parting
from interpreter.compiler.wasm import runner
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from tests.play.toy import ROOT, changed
from tests.small import FAMILY, loaded, write

BOTS = [RandomBot(), RandomBot()]


@pytest.fixture(params=[True, False], ids=["ahead", "from the beginning"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let modules play ahead, or never."""
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    if not request.param:
        never_ahead(monkeypatch)


in_both_forms = pytest.mark.usefixtures("form")


def never_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Line, "_agreed", lambda *given: 0)


def other(folder: Path, old: str, new: str) -> Ruleset:
    return load(changed(folder, "family.yaml", old, new) / "pebbles" / "pebbles.yaml")


def compared(ruleset: Ruleset) -> Comparison:
    return differences(Compared(load(ROOT / "pebbles" / "pebbles.yaml")), Compared(ruleset))


def beside(folder: Path, a: Callable[..., Path], b: Callable[..., Path]) -> Comparison:
    """Compare two small games, each of which is written to a folder."""

    def compared(side: Callable[..., Path], name: str) -> Compared:
        (folder / name).mkdir()
        return Compared(loaded(side(folder / name)))

    return differences(compared(a, "a"), compared(b, "b"))


def parting_of(lock: LockStep, seed: int) -> Parting:
    parting = at_once(lock.steps(seed))
    assert parting is not None
    return parting


def parted(ruleset: Ruleset, games: int = 3) -> list[Parting]:
    lock = LockStep(compared(ruleset), BOTS)
    return [parting_of(lock, seed) for seed in range(1, games + 1)]


@in_both_forms
def test_the_first_decision_that_differs_and_what_made_it(tmp_path: Path) -> None:
    found = parted(other(tmp_path, "most otherwise 3", "most otherwise 5"))
    assert {(each.path, each.choices, each.round) for each in found} == {("rules.largest", 0, 1)}
    assert found[0].a == "player 2 has no option that only this side has"
    assert "pulls 4 white" in found[0].b


@in_both_forms
def test_decisions_that_differ_are_told_by_their_prompts() -> None:
    a, b = load("germany-2004"), load("bsw-germany")
    found = parting_of(LockStep(differences(Compared(a), Compared(b), players=3), [RandomBot()] * 3), 1)
    assert re.fullmatch(r"player \d: bid more than \d+ for plant \d+, or pass", found.a), found


@in_both_forms
def test_a_rule_that_matters_late_is_found_late(tmp_path: Path) -> None:
    """The rule is asked all the time; games part when it first says something else."""
    late = "most otherwise (3 if count(heap) > 9 else 2)"
    found = parted(other(tmp_path, "most otherwise 3", late))
    assert {each.path for each in found} == {"rules.largest"}
    assert min(each.choices for each in found) > 1


@in_both_forms
@pytest.mark.parametrize(("names", "seeds"), [(("germany-2018", "usa-2018"), 6), (("germany-2004", "bsw-germany"), 2)])
def test_the_last_choices_tell_the_cause_that_whole_games_tell(
    names: tuple[str, str], seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = map(load, names)
    lock = LockStep(differences(Compared(a), Compared(b), players=3), bots_of("sensible", a, 3))
    last, cut = Causes._last, list[bool]()

    def heard(*given: Any) -> Any:
        window = yield from last(*given)
        cut.append(window is not None)
        return window

    def unknown(*_: Any) -> Any:
        yield
        return None

    monkeypatch.setattr(Causes, "_last", heard)
    found = [parting_of(lock, seed) for seed in range(seeds)]
    assert any(cut), "no game was cut short"
    monkeypatch.setattr(Causes, "_last", unknown)
    assert found == [parting_of(lock, seed) for seed in range(seeds)]
    monkeypatch.setattr(Causes, "_last", last)
    monkeypatch.setattr(Game, "undo", lambda game: False)
    assert found == [parting_of(lock, seed) for seed in range(seeds)]


@in_both_forms
def test_options_of_equal_codes_can_have_other_names(tmp_path: Path) -> None:
    old = "            wait if left() > largest():\n              note took(who, 0)\n"
    new = old + "            skip flag in [{}]:\n              note took(who, 0)\n"
    numbers, answers = (other(tmp_path / of, old, new.format(of)) for of in ("0, 1", "no, yes"))
    found = parting_of(LockStep(differences(Compared(numbers), Compared(answers)), BOTS), 1)
    assert (found.choices, found.path) == (0, "rules.pulling")
    assert "flag=0" in found.a
    assert "flag=False" in found.b


@in_both_forms
def test_each_side_repeats_its_own_choices(tmp_path: Path) -> None:
    """Cards are called by numbers on one side, and by equal texts on the other."""
    numbers, deck = FAMILY.replace("by number", "kept").replace('says: "{number}"', 'says: "x"'), "number: int"
    before, after = (
        "number\n      1\n      2\n      3\n      4",
        "number | worth\n      1 | 1\n      2 | 2\n      3 | 3\n      4 | 4",
    )
    assert deck in numbers
    assert before in numbers
    texts = numbers.replace(deck, "number: text, worth: int").replace(before, after)
    act = """for each turn who in seats:
  choose go by who:
    draw it in deck where it.{0} < 9:
      amount = amount + 3
    other x in [1, 2] where x < {1}:
      amount = amount + 1
if amount > 40:
  end game"""
    a = partial(write, act=act.format("number", "9"), family=numbers)
    b = partial(write, act=act.format("worth", "(9 if amount < 20 else 2)"), family=texts)
    assert parting_of(LockStep(beside(tmp_path, a, b), BOTS), 1).path == "rules.act"


@in_both_forms
def test_what_lies_there_at_first_is_no_rule(tmp_path: Path) -> None:
    found = parted(other(tmp_path, "black: 6", "black: 0"))
    assert (causes(found), from_the_start(found)) == ([], {BEGINNING: 3})


@in_both_forms
def test_equal_games_never_part() -> None:
    found = parted(load(ROOT / "pebbles" / "pebbles.yaml"))
    assert [each.path for each in found] == ["", "", ""]
    assert causes(found) == []


@pytest.mark.parametrize("bots", ["random", "sensible", "greedy,random"])
@pytest.mark.parametrize(
    ("names", "players"), [(("germany-2004", "bsw-germany"), 2), (("germany-2018", "germany-2018"), 3)]
)
def test_modules_find_what_is_found_from_the_beginning(
    names: tuple[str, str], players: int, bots: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = map(load, names)
    lock = LockStep(differences(Compared(a), Compared(b), players=players), bots_of(bots, a, players))
    firsts, beside = list[int](), Line.beside

    def heard(*given: Any) -> Beside:
        both = beside(*given)
        firsts.append(both.first)
        return both

    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    monkeypatch.setattr(Line, "beside", heard)
    found = [parting_of(lock, seed) for seed in range(4)]
    assert firsts == [max(0, each.choices - 2) for each in found] != [0, 0, 0, 0]
    monkeypatch.setattr(Line, "beside", beside)
    never_ahead(monkeypatch)
    assert found == [parting_of(lock, seed) for seed in range(4)]


SHOWN = """
for each turn who in seats:
  choose go(m = {shown}) by who:
    one n in [1, 2]:
      amount = amount + n {then}
if amount > 40:
  end game"""


def shown(folder: Path, shown: str = "amount", then: str = "") -> Ruleset:
    folder.mkdir()
    return loaded(write(folder, SHOWN.format(shown=shown, then=then)))


@in_both_forms
def test_values_that_are_shown_must_agree(tmp_path: Path) -> None:
    a, b = shown(tmp_path / "a"), shown(tmp_path / "b", "(amount if amount < 20 else 20)")
    found = parting_of(LockStep(differences(Compared(a), Compared(b)), BOTS), 1)
    assert (found.a in ("m 21", "m 22"), found.b, found.path) == (True, "m 20", "rules.act")


@in_both_forms
def test_a_rule_that_fails_on_the_other_side(tmp_path: Path) -> None:
    a, b = shown(tmp_path / "a"), shown(tmp_path / "b", then="div (1 if amount < 20 else 0)")
    with pytest.raises(RuleFailure, match="by 0"):
        parting_of(LockStep(differences(Compared(a), Compared(b)), BOTS), 1)


OFTEN = """
for each turn who in seats:
  choose go by who:
    one n in [1, 2] where n < often():
      amount = amount + n
    another n in [1, 2] where amount > 20 and n < seldom():
      amount = amount + n
if amount > 40:
  end game"""


@in_both_forms
def test_of_two_differences_the_one_that_is_new_is_the_cause(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    a, b = (
        loaded(write(tmp_path / folder, OFTEN, f"often: {{is: '{often}'}}\nseldom: {{is: '{seldom}'}}\n"))
        for folder, often, seldom in (("a", 9, 9), ("b", 8, 2))
    )
    lock = LockStep(differences(Compared(a), Compared(b)), BOTS)
    assert {parting_of(lock, seed).path for seed in range(3)} == {"rules.seldom"}


GROWING = """
for each turn who in seats:
  choose go by who:
    some them in [seats, [seats[0]]], n in 1 .. 4:
      for each k in 1 .. 2:
        queue = queue + [who]
      amount = amount + n
if amount > 400:
  end game"""


@in_both_forms
def test_a_line_goes_on_when_its_module_has_grown(tmp_path: Path) -> None:
    """Options with lists have another size in a module with larger rooms."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
    queue = FAMILY.replace("state:\n", "state:\n  queue: {value: list of seat, start: []}\n", 1)
    a = loaded(write(tmp_path / "a", GROWING, family=queue))
    b = loaded(write(tmp_path / "b", GROWING.replace("+ n", "+ n + 0"), family=queue))
    line = Line(a, BOTS, 1, {})
    found = [at_once(line.beside(b).in_step()) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0].choices > 100


def test_a_game_that_does_not_begin_is_no_divergence(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(RuleFailure, match="by 0"):
        Line(loaded(write(tmp_path / "a", "amount = 1 div 0")), BOTS, 1, {})
    with pytest.raises(ValueError, match="players"):
        Line(load("germany-2018"), BOTS * 4, 1, {})
