"""What a later file may do to what lies below it: amend, replace and take out, the same in every section."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import indent

import pytest

from interpreter.authoring.validation import validate
from interpreter.base.diagnostics import RulesetError
from interpreter.engine.decision import Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.queries import value_of
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from interpreter.simulate.measurements import taken
from tests.small import FAMILY, examined, outcome, write

POND = Path(__file__).parents[1] / "bad" / "_base"


def laid(folder: Path, *overlays: str, **files: str) -> Ruleset:
    """The pond with overlays that hold these sections; ``files`` stand in place of its own, by their stems."""
    shutil.copytree(POND, folder, dirs_exist_ok=True)
    (folder / "pond/overlays").mkdir(exist_ok=True)
    ids = [f"pond/over{number}" for number in range(len(overlays))]
    for id, text in zip(ids, overlays, strict=True):
        after = "after: [pond/over0]\n" if id != "pond/over0" else ""
        (folder / f"{id.replace('/', '/overlays/')}.yaml").write_text(
            f"language: 2\noverlay: {id}\nover: [pond]\n{after}{text}", encoding="utf-8"
        )
    for name, text in files.items():
        (path,) = folder.glob(f"pond/**/{name}.yaml")
        path.write_text(text, encoding="utf-8")
    return load("pond", ids, Shelf([folder]))


def after(ruleset: Ruleset, *choices: str) -> Game:
    """A game in which storms come first, after these choices."""
    game = ruleset.new_game(2, chance={"sky": [["storm"], [1], [2], [3]]})
    for choice in choices:
        game.apply({"do": choice})
    return game


def value(game: Game, text: str) -> object:
    return value_of(game.table, game.state, text)[0]


CALM = "interpretations: {storm_at_once: {removes: pond}}\n"
"""Without it nothing reads it where the storm's trigger is gone."""
FEEDS = f"""{CALM}triggers:
  storm_comes: {{removes: pond}}
  wind_brings_food:
    amends: pond
    on: blew(card)
    cases: [{{in: [wind], does: water = 1}}]
"""


@pytest.mark.parametrize(
    ("trigger", "water"),
    [
        ("does: water = 3", 3),  # covers all cases
        ("cases: [{in: [wind], does: water = 2}]", 2),  # covers the phases that it names
        ("cases: [{in: [hop], does: water = 2}]", 1),  # leaves others as they were
        ("otherwise: water = 2", 1),  # is for phases without a case
    ],
)
def test_what_covers_which_case_of_a_trigger(tmp_path: Path, trigger: str, water: int) -> None:
    above = f"triggers:\n  wind_brings_food:\n    amends: pond/over0\n    {trigger}\n"
    assert value(after(laid(tmp_path, FEEDS, above)), "water") == water


@pytest.mark.parametrize(("phase", "water"), [("hop", 2), ("wind", 3)])
def test_cases_lie_over_a_text_for_all_phases(tmp_path: Path, phase: str, water: int) -> None:
    case = f"triggers: {{storm_comes: {{amends: pond, cases: [{{in: [{phase}], does: water = 3}}]}}}}\n"
    assert value(after(laid(tmp_path, case)), "water") == water


@pytest.mark.parametrize("how", ["removes: pond", "replaces: pond, on: blew(card) where card is weather, does: return"])
def test_a_trigger_can_go(tmp_path: Path, how: str) -> None:
    assert value(after(laid(tmp_path, f"{CALM}triggers: {{storm_comes: {{{how}}}}}\n")), "water") == 1


DEARER = """rules:
  leap_cost:
    wraps: pond
    is: base(who, place) + 10
"""


def test_a_layer_of_another_file_can_go(tmp_path: Path) -> None:
    cost = "leap_cost(seats[0], first(first(pad).places))"
    assert value(after(laid(tmp_path, DEARER)), cost) == 14
    removed = "rules: {leap_cost: {removes: pond/over0}}\nstanding: {frogs_are_fed: {removes: pond}}\n"
    without = laid(tmp_path, DEARER, removed)
    assert value(after(without), cost) == 4
    assert not without.model.standing
    assert [layer.file for layer in without.model.rules["leap_cost"].layers] == ["pond"]


def test_a_closed_kind_has_one_member_more_and_tables_get_its_cells(tmp_path: Path) -> None:
    text = """
kinds: {shore: {amends: pond/lake, adds: [island]}}
tokens: {fly: {amends: pond, wasp: 4}}
tables:
  first_food: {amends: pond, cells: {wasp: 1}}
  buffet_spaces: {amends: pond, cells: {"wasp, 1": 1, "wasp, 2": 0, "wasp, 3": 0}}
"""
    ruleset = laid(tmp_path, text)
    assert ruleset.model.kinds["shore"].members == ("north", "south", "island")
    assert value(after(ruleset), "buffet[wasp]") == 1


RICHER = """tables:
  start_shells:
    replaces: pond
    laws: {few: "start_shells[2] < 20", odd: "start_shells[3] == 15"}
    is: |
      players | 2  | 3
      shells  | 12 | 15
"""
LIFTED = """tables:
  start_shells:
    amends: pond/over0
    cells: {3: 14}
    laws: {odd: nothing, even: "start_shells[3] == 14"}
"""


def test_laws_are_the_tables_own(tmp_path: Path) -> None:
    """The law of the pond says that three get no more shells than two."""
    assert len(laid(tmp_path, RICHER).model.laws) == 2
    assert len(laid(tmp_path, RICHER, LIFTED).model.laws) == 2


def test_a_measure_at_the_end_of_rounds_knows_the_last_one(tmp_path: Path) -> None:
    text = """measures:
  once: {value: round, when: [end of round, end of game]}
  rounds: {value: round, when: end of round}
"""
    game = after(laid(tmp_path, text), *["stay"] * 8)
    assert game.is_over
    assert [each.value for each in taken(game)["rounds"]] == [1, 2, 3, 4]
    assert [each.value for each in taken(game)["once"]] == [1, 2, 3, 4]


TOLL = """rules:
  toll() -> int: {{is: "{}"}}
  {}_toll() -> int: {{is: "toll()"}}
"""


def test_rules_of_files_that_do_not_know_each_other_are_their_own(tmp_path: Path) -> None:
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8") + TOLL.format(1, "lake")
    above = "rules: {toll: {wraps: pond/over0, is: base() + 30}, high_toll() -> int: {is: 'toll()'}}\n"
    game = after(laid(tmp_path, TOLL.format(2, "over"), above, lake=lake))
    assert value(game, "lake_toll()") == 1
    assert value(game, "over_toll()") == value(game, "high_toll()") == 32


def test_a_name_that_an_overlay_has_too_is_told_in_the_authors_file(tmp_path: Path) -> None:
    puddle = "state: {mud: {value: int, start: 0}}\n"
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8") + puddle
    with pytest.raises(RulesetError):
        laid(tmp_path, puddle, lake=lake)
    (found,) = validate([str(tmp_path / "pond/maps/lake.yaml")]).diagnostics
    assert (found.code, str(found.span)) == ("E501", "pond/maps/lake.yaml:14:9")
    assert "with `pond/over0`" in found.message


@pytest.mark.parametrize("author", ["maps/lake", "overlays/over1"])
def test_names_that_clash_only_with_two_overlays_are_told_in_the_authors_file(tmp_path: Path, author: str) -> None:
    """The map declares a name where one overlay is composed too; another overlay has it at all times."""
    puddle = "state: {mud: {value: int, start: 0}}\n"
    paired = f"with:\n  pond/over0:\n    {puddle}"
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8") + paired
    with pytest.raises(RulesetError):
        laid(tmp_path, "", puddle, lake=lake)
    said = validate([str(tmp_path / f"pond/{author}.yaml")]).diagnostics
    (found,) = [each for each in said if each.code != "W702"]
    assert found.code == "E501"
    assert str(found.span).startswith(f"pond/{author}.yaml:")
    assert "`pond/over0`" in found.message


def test_two_overlays_without_an_order_are_told_in_the_authors_file(tmp_path: Path) -> None:
    cheap = "rules: {leap_cost: {replaces: pond, is: '1'}}\n"
    laid(tmp_path, cheap)
    text = f"language: 2\noverlay: pond/wet\nover: [pond]\n{cheap}"
    (tmp_path / "pond/overlays/wet.yaml").write_text(text, encoding="utf-8")
    for name, other in (("over0", "wet"), ("wet", "over0")):
        (found,) = validate([str(tmp_path / f"pond/overlays/{name}.yaml")]).diagnostics
        assert (found.code, found.severity) == ("E506", "warning")
        assert str(found.span) == f"pond/overlays/{name}.yaml:4:9"
        assert f"`pond/{other}`" in found.message
    (tmp_path / "pond/overlays/wet.yaml").write_text(f"{text}after: [pond/over0]\n", encoding="utf-8")
    assert validate([str(tmp_path / "pond/overlays/over0.yaml")]).diagnostics == []


def test_a_phase_is_a_name_of_the_game(tmp_path: Path) -> None:
    """A rule that a map names in its own round is not local to it."""
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8")
    lake += "round: [wind, hop, wade]\nrules: {wade: {does: water = 1}}\n"
    with pytest.raises(RulesetError, match="`wade` is already declared"):
        laid(tmp_path, "rules: {wade: {does: water = 2}}\nsetup: wade\n", lake=lake)


def test_a_map_lies_over_an_overlay_that_it_speaks_of(tmp_path: Path) -> None:
    paired = "with:\n  pond/over0:\n    rules:\n      toll: {wraps: pond/over0, is: base() + 30}\n"
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8") + paired
    assert value(after(laid(tmp_path, TOLL.format(2, "over"), lake=lake)), "over_toll()") == 32


def test_a_map_keeps_its_own_rule_though_it_speaks_of_an_overlay_that_has_one_too(tmp_path: Path) -> None:
    paired = "with:\n  pond/over0:\n    rules:\n      high_toll: {replaces: pond/over0, is: 'toll() + 30'}\n"
    lake = (POND / "pond/maps/lake.yaml").read_text(encoding="utf-8") + TOLL.format(1, "lake") + paired
    over = TOLL.format(2, "over") + "  high_toll() -> int: {is: '0'}\n"
    game = after(laid(tmp_path, over, lake=lake))
    assert value(game, "lake_toll()") == 1
    assert value(game, "over_toll()") == 2
    assert value(game, "high_toll()") == 31


def test_an_edition_leaves_out_what_the_one_below_takes_in(tmp_path: Path) -> None:
    classic = "language: 2\nedition: pond/classic\nextends: pond/old\nplayers: {range: 2..3, with: {2: nothing}}\n"
    old = (
        "language: 2\nedition: pond/old\nextends: pond\nplayers: {range: 2..3, with: {2: pond/over0, 3: pond/over0}}\n"
    )
    (tmp_path / "pond/editions").mkdir(parents=True)
    (tmp_path / "pond/editions/old.yaml").write_text(old, encoding="utf-8")
    laid(tmp_path, TOLL.format(2, "over"), classic=classic)
    ruleset = load("pond", shelf=Shelf([tmp_path]))
    assert [ruleset.for_players(people).overlays for people in (2, 3)] == [(), ("pond/over0",)]


def test_single_cells_of_cards_differ(tmp_path: Path) -> None:
    cells = 'cards: {weather: {amends: pond/winds, cells: {"2, many": 5, "2, brings": gnat}}}\n'
    game = after(laid(tmp_path, cells))
    assert value(game, "[c.many for c in weather]") == (2, 5, 1)
    assert value(game, "count(c in weather where c.brings == gnat)") == 3


def test_cards_get_an_attribute_with_a_cell_for_each(tmp_path: Path) -> None:
    strong = 'cards: {weather: {amends: pond, has: {strong: bool}, cells: {"1, strong": no, "2, strong": yes, LAST}}}\n'
    game = after(laid(tmp_path, strong.replace("LAST", '"3, strong": no')))
    assert value(game, "[c.number for c in weather where c.strong]") == (2,)
    with pytest.raises(
        RulesetError, match="weather 3 has no `strong`: neither a column nor a cell gives it"
    ) as refused:
        laid(tmp_path, strong.replace(", LAST", ""))
    assert str(refused.value.diagnostics[0].span).startswith("pond/overlays/over0.yaml:4:")


DECISIONS = """decisions:
  hop:
    adds: |
      dive depth in 1 .. 3 where depth < shown if who.number == 0:
        water = depth
    wraps: |
      leap where to.shore == north:
        base()
        water = 3
      stay if round > 1
"""


def test_alternatives_are_added_to_a_decision_and_wrapped(tmp_path: Path) -> None:
    before, hop, behind = (POND / "pond/family.yaml").read_text(encoding="utf-8").partition("      for each turn who")
    asks, end, others = (hop + behind).partition("      if sky == []:")
    asks = re.sub(r"\bwho\b", "frog", asks).replace("choose hop by", "choose hop(shown = water + 2) by")
    family = f"{before}{asks}{end}{others}"
    ruleset = laid(tmp_path, DECISIONS, family=family)
    game = after(ruleset)
    assert [(option.do, option.as_dict().get("depth")) for option in options(game)][-3:] == [
        ("dive", n) for n in (1, 2, 3)
    ]
    assert {option.do for option in options(game)} == {"dive", "leap"}
    game.apply({"do": "dive", "depth": 1})
    assert value(game, "water") == 1
    assert {option.do for option in options(game)} == {"leap"}
    assert not game.accepts({"do": "leap", "to": "Moss", "place": 1})
    game.apply(options(game)[0])
    assert (value(game, "water"), value(game, "seats[1].frogs")) == (3, 2)


AT_ONCE = """decisions:
  bid:
    adds: |
      double n in 1 .. shown if who.number == 0:
        who.score += 2 * n
    wraps: |
      pay where n < 3 or who.number == 1:
        base()
        who.score += 10
"""


def test_alternatives_are_added_to_a_decision_of_several_at_once(tmp_path: Path) -> None:
    act = """
        choose bid(shown = 1 + amount) by each s in seats, at once:
          pay n in 1 .. 3:
            s.score += n
        end game
    """
    write(tmp_path, act)
    (tmp_path / "small/overlays").mkdir()
    head = "language: 2\noverlay: small/more\nover: [small]\n"
    (tmp_path / "small/overlays/more.yaml").write_text(head + AT_ONCE, encoding="utf-8")
    game = load("tiny", ["small/more"], Shelf([tmp_path])).new_game(2)
    assert not game.accepts({"do": "double", "n": 1}, by=1)
    assert not game.accepts({"do": "pay", "n": 3}, by=0)
    game.apply({"do": "pay", "n": 3}, by=1)
    game.apply({"do": "double", "n": 2}, by=0)
    assert [value(game, f"seats[{number}].score") for number in (0, 1)] == [4, 13]


PAYING = """
    let price = 4
    choose go by seats[0]:
      pay n in 1 .. 3:
        let twice = sum(m for m in [n, n])
        note said(price + twice)
    end game
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("let price = 9\nbase()\nnote said(price)", "`price` is a local of the rule that asks `go`"),
        ("let twice = 9\nbase()\nnote said(twice)", "`twice` is a local of the rule that asks `go`"),
        ("base()\nnote said(twice)", "`twice` is a local of the rule that asks `go`"),
        ("base()\nlet m = 9\nnote said(m + sum(price for price in [n, n]))", ""),
    ],
)
def test_a_wrap_and_the_body_below_share_no_locals(tmp_path: Path, body: str, told: str) -> None:
    write(tmp_path, PAYING)
    (tmp_path / "small/overlays").mkdir()
    text = "language: 2\noverlay: small/more\nover: [small]\ndecisions:\n  go:\n    wraps: |\n      pay:\n"
    (tmp_path / "small/overlays/more.yaml").write_text(text + indent(body, " " * 8) + "\n", encoding="utf-8")
    if told:
        with pytest.raises(RulesetError, match=told):
            load("tiny", ["small/more"], Shelf([tmp_path]))
        return
    game = load("tiny", ["small/more"], Shelf([tmp_path])).new_game(2)
    game.apply({"do": "pay", "n": 2})
    assert [line.text for line in game.log() if line.kind == "event"] == ["8", "13"]


def options(game: Game) -> list[Option]:
    assert game.decision is not None
    return list(game.decision.options)


NAMES_PHASES = """
says: {rest_up: "- Rest -", act: "- Act -"}
measures: {amounts: {value: amount, when: [start of rest_up, end of game]}}
boards: {amounts: {says: "{amount}", when: end of rest_up}}
table: {amounts: {at: window, columns: {n: amount}, opens: [rest_up]}}
triggers:
  hears:
    on: said(number)
    cases: [{in: [rest_up], does: "amount = 90"}]
    otherwise: amount = amount + 1
"""
REST = "rest_up: {does: note said(5)}\n"


def test_a_round_may_leave_a_phase_out_that_others_name(tmp_path: Path) -> None:
    """Whoever leaves one out cannot change the files that name it; a phase of no round is a mistake, as before."""
    act = """
        choose go by seats[0]:
          pay n in 1 .. 3 where phase != rest_up:
            note said(n)
        if amount > 5 or phase == rest_up:
          end game
    """
    family = FAMILY.replace("[act]", "[act, rest_up]")
    path = write(tmp_path, act, REST, NAMES_PHASES, family=family)
    (tmp_path / "small/overlays").mkdir()
    text = "language: 2\noverlay: small/less\nover: [small]\nround: [act]\n"
    (tmp_path / "small/overlays/less.yaml").write_text(text, encoding="utf-8")
    shelf = Shelf([tmp_path])
    whole, less = load("tiny", [], shelf), load("tiny", ["small/less"], shelf)
    for ruleset, most, choices in ((whole, 90, 2), (less, 5, 5)):
        game, amounts = ruleset.new_game(2), list[object]()
        while game.decision is not None:
            amounts.append(value(game, "amount"))
            game.apply({"do": "pay", "n": 1})
        assert (amounts[-1], len(amounts)) == (most, choices)
    assert less.model.members("phase") == ("act", "rest_up")
    assert outcome(path) == "plays"
    wrong = examined(write(tmp_path, act, REST, NAMES_PHASES))
    assert {each.code for each in wrong.diagnostics} == {"E301", "E302"}
