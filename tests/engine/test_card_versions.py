"""Cards whose printed values depend on what is in play: one number, several versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from interpreter.base.diagnostics import RulesetError
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from interpreter.serve.scene import Scene
from interpreter.testing.mutation import prove
from interpreter.testing.suite import suite_of
from tests.small import FAMILY, examined, write

if TYPE_CHECKING:
    from interpreter.serve.live import Live

CARDS = """\
    has: {number: int, worth: int, likes: colour}
    is: |
      number | worth | likes
      1      | 10    | red
      2      | 20    | red
      3      | 30    | blue
      4      | 40    | blue
"""
FAMILY_OF_VERSIONS = FAMILY[: FAMILY.index("    has: {number: int}")] + CARDS + FAMILY[FAMILY.index("zones:") :]
ACT = """\
for each turn who in seats:
  choose look by who:
    take n in 0 .. 3:
      amount = n
      who.score += worth(1) + worth(2) + worth(3) + worth(4)
    stop
if round == 5:
  end game
"""
RULES = """
worth(number) -> int: sum(c.worth for c in plan where c.number == number and c.likes != blue)
is_warm() -> bool: any(s.score > 1000 for s in seats) or amount in 2 .. 3
"""
OVERLAY = """\
language: 2
overlay: small/NAME
over: [small]
after: [AFTER]
"""
ICE = """\
parts:
  ice:
    when: is_cold()
    cites: [SM-1]
    cards: {plan: {amends: small, cells: {"2, worth": 200, "3, worth": 300, "3, likes": red}}}
  heat:
    when: is_warm()
    cards: {plan: {amends: small, cells: {"2, worth": 2000}}}
rules:
  is_cold() -> bool: amount == 1 or amount == 3
"""
ABOVE = 'cards: {plan: {amends: small, cells: {"2, worth": 7}}}\n'


def versions(tmp_path: Path, ice: str = ICE) -> Ruleset:
    ruleset = write(tmp_path, ACT, RULES, family=FAMILY_OF_VERSIONS)
    overlays = tmp_path / "small" / "overlays"
    overlays.mkdir(exist_ok=True)
    for name, after, text in (("ice", "", ice), ("above", "small/ice", ABOVE)):
        (overlays / f"{name}.yaml").write_text(OVERLAY.replace("NAME", name).replace("AFTER", after) + text)
    statements = tmp_path / "small" / "statements" / "small.csv"
    statements.parent.mkdir(exist_ok=True)
    statements.write_text("id,kind,phase,statement\nSM-1,rule,act,Ice.\n")
    return load(ruleset, ["small/ice"], Shelf([tmp_path]))


def scores(game: Game) -> list[int]:
    """What the cards are worth while the amount is 0, 1, 2 and 3."""
    found = []
    for amount in range(4):
        for seat in range(2):
            before = game.view()["seats"][seat]["score"]
            game.apply({"do": "take", "n": amount})
        found.append(game.view()["seats"][1]["score"] - before)
    return found


def test_a_card_has_the_values_of_its_version(tmp_path: Path) -> None:
    ruleset = versions(tmp_path)
    cold, warm = 10 + 200 + 300, 10 + 2000
    expected = [30, cold, warm, 10 + 2000 + 300]
    for is_plain in (True, False):
        game = ruleset.new_game(2)
        game.runner.plain = is_plain
        assert is_plain or game.runner.compile() is not None
        assert scores(game) == expected
        assert not ruleset.reasons_for_plain


def test_the_face_of_a_card_is_that_of_its_version(tmp_path: Path) -> None:
    game = versions(tmp_path).new_game(2)
    for amount, note in ((0, "worth 20, likes red"), (1, "worth 200, likes red"), (2, "worth 2000, likes red")):
        game.apply({"do": "take", "n": amount})
        assert Scene(cast("Live", None), game, 0, "en").card(1)["note"] == note


def test_a_version_is_covered_by_what_lies_above(tmp_path: Path) -> None:
    versions(tmp_path)
    ruleset = load(tmp_path / "small" / "tiny.yaml", ["small/ice", "small/above"], Shelf([tmp_path]))
    assert scores(ruleset.new_game(2)) == [17, 317, 17, 317]


def test_a_version_is_compared_and_proved(tmp_path: Path) -> None:
    ruleset = versions(tmp_path)
    below = load(tmp_path / "small" / "tiny.yaml", [], Shelf([tmp_path]))
    found = {each.path: each for each in differences(Compared(below), Compared(ruleset)).differences}
    assert "200" in str(found["cards.plan[2].worth if is_cold() (small/ice)"].b)
    scenarios = tmp_path / "small" / "scenarios" / "ice.yaml"
    scenarios.parent.mkdir()
    scenarios.write_text(
        "language: 2\nscenarios: small/ice\nis:\n  - name: cold\n    cites: [SM-1]\n    ruleset: tiny\n"
        "    with: [small/ice]\n    given: amount = 1\n    then: [worth(2) == 200]\n"
    )
    suite = suite_of(shelf=Shelf([tmp_path]))
    assert prove(ruleset, suite, {"SM-1"}) == {"SM-1"}


def refused(tmp_path: Path, ice: str) -> str:
    try:
        versions(tmp_path, ice)
    except RulesetError as error:
        return str(error)
    return ""


def test_the_conditions_of_versions_are_checked(tmp_path: Path) -> None:
    assert "E502 no plan has the cell [9, worth]" in refused(
        tmp_path, ICE.replace('"2, worth": 200', '"9, worth": 200')
    )
    assert "E502 no plan has the cell [2, number]" in refused(
        tmp_path, ICE.replace('"2, worth": 200', '"2, number": 2')
    )
    assert "E407 the condition of cards searches a list" in refused(
        tmp_path, ICE.replace("is_cold()\n    cites", "any(s.score > 1 for s in seats)\n    cites")
    )
    assert "E705" in refused(tmp_path, ICE.replace("amount == 1 or amount == 3", "worth(1) == 1"))
    ordered = "zones: {row_of: {of: plan, order: by worth}}\n"
    assert "E408 `worth` has other values in some games" in refused(tmp_path, ICE + ordered)


def test_two_rows_of_one_number_lead_to_versions(tmp_path: Path) -> None:
    path = write(tmp_path, family=FAMILY_OF_VERSIONS.replace("3      | 30", "2      | 30"))
    found = next(each for each in examined(path).diagnostics if each.code == "E501")
    assert found.help == "another version of a card is `cells` in a part with a `when`"
