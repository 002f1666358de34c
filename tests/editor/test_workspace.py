"""What a desk knows of texts that nobody has looked at before they were changed again."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest

from interpreter.editor.completion import complete
from interpreter.editor.lenses import lenses
from interpreter.editor.navigation import Answers, Place
from interpreter.editor.rename import rename
from interpreter.editor.tokens import tokens
from interpreter.editor.workspace import Desk
from tests.editor.client import OVERLAY

TOP = Path(__file__).parents[2]


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    shutil.copytree(TOP / "rulesets" / "goofspiel", tmp_path / "rulesets" / "goofspiel")
    path = tmp_path / "rulesets" / "goofspiel" / "overlays" / "handy.yaml"
    path.parent.mkdir()
    path.write_text(OVERLAY, encoding="utf-8")
    return path


def proposed(desk: Desk, path: Path, text: str, behind: str) -> set[str]:
    proposals, _ = complete(desk, path, text.index(behind) + len(behind))
    return {proposal.text for proposal in proposals}


BROKEN = OVERLAY.replace("base(who) + bonus(who)\n", 'base(who) + bonus(who.\n  "')


def test_a_text_that_could_never_be_read_is_as_it_is_on_disk(overlay: Path) -> None:
    desk = Desk()
    desk.write(overlay, OVERLAY)
    desk.write(overlay, BROKEN)
    assert desk.document(overlay) is None
    assert {"spent", "hand"} <= proposed(desk, overlay, BROKEN, "bonus(who.")
    found = Answers(desk).definition(overlay, BROKEN.index("bid_of"))
    assert [place.path.name for place in found] == ["family.yaml"]


def test_a_family_that_could_never_be_read_has_its_rulesets(overlay: Path) -> None:
    family = overlay.parents[1] / "family.yaml"
    text = family.read_text(encoding="utf-8") + "\nrules: {\n"
    desk = Desk()
    desk.write(family, text)
    assert [home.document.id for home in desk.homes(family)] == ["goofspiel"]
    hover = Answers(desk).hover(family, text.index("bid_of"))
    assert hover is not None
    assert "bid_of(who: seat) -> int" in hover[0]


def test_a_text_that_can_be_read_comes_before_what_is_on_disk(overlay: Path) -> None:
    desk = Desk()
    desk.write(overlay, OVERLAY.replace("bonus", "extra"))
    assert desk.document(overlay) is not None
    text = BROKEN.replace("bonus", "extra")
    desk.write(overlay, text)
    assert "extra" in proposed(desk, overlay, text, "base(who) + ")
    assert "bonus" not in proposed(desk, overlay, text, "base(who) + ")


LAYER = """\
language: 2
overlay: goofspiel/handy
over: [goofspiel]
policies:
  sensible:
    bid:
      prefer:
        high: play value where value > at_stake() + more
        rest: base
  bench:
    bid: {prefer: any}
"""


def test_a_layer_over_a_policy_is_completed_with_what_lies_below(overlay: Path) -> None:
    file = overlay.parents[1] / "policies" / "sensible.yaml"
    start = file.read_text(encoding="utf-8").index("      prefer:")
    named = "      prefer:\n        high: play value where value > 9\n        rest: any at random\n"
    file.write_text(file.read_text(encoding="utf-8")[:start] + named, encoding="utf-8")
    desk = Desk()
    desk.write(overlay, LAYER)
    assert {"sensible", "bench"} <= proposed(desk, overlay, LAYER, "policies:\n  ")
    assert "bid" in proposed(desk, overlay, LAYER, "bench:\n    ")
    assert {"high", "rest"} <= proposed(desk, overlay, LAYER, "prefer:\n        ")
    assert {"play", "any", "either", "base", "nothing"} <= proposed(desk, overlay, LAYER, "high: ")
    assert {"at_stake", "more"} <= proposed(desk, overlay, LAYER, "where value > ")
    assert {"bench", "sensible"} <= proposed(desk, file, file.read_text(encoding="utf-8"), "is:\n  ")
    assert {"at_stake", "more"} <= proposed(desk, file, file.read_text(encoding="utf-8"), "where value > ")


HELPERS = """\
language: 2
scenarios: goofspiel/mine
rules:
  first_seat: {is: 0}
  hand(who) -> int: count(who.hand)
is:
  - name: all have as many cards
    ruleset: goofspiel
    then:
      - hand(seats[first_seat]) == hand(seats[1])
"""


def test_the_rules_of_a_file_of_scenarios_are_found_and_renamed_in_it(overlay: Path) -> None:
    path = overlay.parents[1] / "scenarios" / "mine.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(HELPERS, encoding="utf-8")
    answers = Answers(desk := Desk())
    for name, uses in (("hand(seats[1])", 3), ("first_seat])", 2)):
        at = HELPERS.index(name)
        (place,) = answers.definition(path, at)
        assert desk.file(path).text[place.span.start : place.span.end] == re.split(r"\W", name)[0]
        assert place.span.start < HELPERS.index("is:\n  - name")
        assert len(rename(answers, path, at, "other")) == uses


def test_what_things_hold_is_found_and_renamed_without_its_owner() -> None:
    path = Path(__file__).parents[1] / "cases" / "tiles" / "family.yaml"
    text = path.read_text(encoding="utf-8")
    answers = Answers(Desk())
    for use, declared in (
        ("plot.owner", "owner: {value: seat?"),
        ("tile.gold", "gold: {pool"),
        ("land.ruler", "ruler: {"),
    ):
        word = use.partition(".")[2]
        at = text.index(use) + len(use) - 1
        (place,) = answers.definition(path, at)
        assert place.span.start == text.index(declared)
        edits = rename(answers, path, text.index(declared), "other")
        uses = [match.start() + 1 for match in re.finditer(rf"(\.| (?={word}: {{)){word}\b", text)]
        assert [each.span.start for file, each in edits if file == path.resolve()] == uses
        hover = answers.hover(path, at)
        assert hover is not None
        assert f"{use}: " in hover[0]


ADDED = """\
language: 2
overlay: goofspiel/added
over: [goofspiel]
decisions:
  bid:
    wraps: |
      play where value > 1
"""


def test_what_a_decision_gives_is_no_name_of_the_ruleset(overlay: Path) -> None:
    path = overlay.parents[1] / "overlays" / "added.yaml"
    path.write_text(ADDED, encoding="utf-8")
    answers = Answers(Desk())
    assert answers.mention(path, ADDED.index("value > 1") + 1) is None
    mention = answers.mention(path, ADDED.index("bid:") + 1)
    assert mention is not None
    assert (mention.meaning.section, mention.declares) == ("decisions", True)


def test_lenses_say_what_the_rulesets_on_the_desk_make_of_a_declaration() -> None:
    family, editions = TOP / "rulesets" / "power-grid" / "family.yaml", ("2004", "2018")
    desk = Desk()
    answers = Answers(desk)
    for name in editions:
        edition = family.parent / "editions" / f"{name}.yaml"
        desk.home(edition)  # as a check does
    titles: dict[str, list[str]] = {}
    for lens in lenses(answers, family):
        titles.setdefault(lens.span.text, []).append(lens.title)
    assert titles["plant_limit"] == ["10 statements, proved", "changed by 2018"]
    limit = next(lens for lens in lenses(answers, edition) if lens.span.text == "plant_limit")
    assert (limit.title, limit.command) == ("amends plant_limit of power-grid", "go")
    assert isinstance(limit.about, Place)
    assert (limit.about.path, limit.about.span.text) == (family, "plant_limit")
    scenarios = family.parent / "scenarios" / "auction.yaml"
    assert {(lens.title, lens.command, lens.about == lens.span.text) for lens in lenses(answers, scenarios)} == {
        ("run", "run", True)
    }


def test_tokens_of_a_large_family_take_less_than_a_tenth_of_a_second() -> None:
    path = TOP / "rulesets" / "power-grid" / "family.yaml"
    text = path.read_text(encoding="utf-8")
    desk = Desk()
    answers = Answers(desk)
    times = []
    for number in range(5):
        desk.write(path, text.replace("\nrules:", f"\nrules:\n  typed() -> int: {number}", 1))
        desk.home(path)  # as the check does, whose result is kept
        start = process_time()
        found = [*tokens(answers, path)]
        times.append(process_time() - start)
        assert len(found) > 3_000
        assert all(one[0].end <= other[0].start for one, other in pairwise(found))
    assert sorted(times)[2] < 0.2  # 0.09 s on an idle machine


def test_positions_count_letters_as_the_editor_has_them() -> None:
    """A letter of two characters is one in the text of the checker."""
    pytest.importorskip("pygls")
    from interpreter.base.source import SourceFile
    from interpreter.editor.server import offset_at, position_of

    file = SourceFile("town.yaml", "a: b\ne\u0301e\u0301𝒳: Que\u0301bec\n")
    assert file.text == "a: b\néé𝒳: Québec\n"
    for offset in range(len(file.text)):
        place = position_of(file, offset)
        assert offset_at(file, place.line, place.character) == offset
    at = position_of(file, file.text.index("bec"))
    assert (at.line, at.character) == (1, 12)


def test_files_elsewhere_are_checked_with_the_rulesets_that_are_shipped(tmp_path: Path) -> None:
    """In each of them, also in those that one file makes of many maps."""
    overlay = tmp_path / "power-grid" / "overlays" / "dear.yaml"
    overlay.parent.mkdir(parents=True)
    overlay.write_text(
        "language: 2\noverlay: power-grid/dear\ntitle: Dear\nover: [power-grid/2018]\nrules:\n"
        "  place_price(who, city) -> int: {wraps: power-grid, is: 'base(who, city) + 1'}\n"
    )
    desk = Desk()
    homes = desk.homes(overlay)
    assert len({home.document.id for home in homes}) == len(homes) > 2 * len(desk.examples(overlay)) > 0
    assert all(home.is_good for home in homes)
    assert [dict(found) for found in desk.check(overlay)][-1] == {overlay: []}
