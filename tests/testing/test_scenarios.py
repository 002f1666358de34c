"""The scenarios of all shipped rulesets, and what scenarios can say: each on a small game of its own."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from shutil import copytree
from textwrap import dedent, indent

import pytest

from interpreter.authoring.validation import validate
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.editor.completion import complete
from interpreter.editor.navigation import Answers
from interpreter.editor.workspace import Desk
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.refusal import IllegalMove
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from interpreter.testing.mutation import mutants_of, prove
from interpreter.testing.running import Outcome, begun, run_scenario
from interpreter.testing.scenarios import Scenario
from interpreter.testing.suite import Suite, suite_of

SUITE = suite_of()
"""All scenarios, without the rulesets of which they speak."""
PAIRS = sorted(SUITE.pairs, key=lambda pair: pair[1])
"""Ruleset by ruleset, so that only one is held at a time."""


@lru_cache(maxsize=1)
def scenarios_of(_ruleset: str) -> Suite:
    """All scenarios, with what was loaded for those of one ruleset."""
    return Suite(SUITE.shelf, SUITE.scenarios, shelves=SUITE.shelves)


@pytest.mark.parametrize(("scenario", "ruleset"), [pytest.param(s, r, id=f"{s.id} ({r})") for s, r in PAIRS])
def test_scenario(scenario: Scenario, ruleset: str) -> None:
    outcome = scenarios_of(ruleset).outcome(scenario, ruleset)
    assert outcome.passed, "\n".join([*map(str, outcome.failures), *scenarios_of(ruleset).messages()])
    assert scenarios_of(ruleset).messages() == []


def test_scenarios_share_what_is_compiled_among_themselves_alone() -> None:
    """Games of the same ruleset may be played in another thread, with a chance and a budget of steps of their own."""
    pairs = [(each, "goofspiel") for each, id in PAIRS if id == "goofspiel" and not each.may_not_begin]
    bound = [checked for pair in pairs if (checked := SUITE.checked(*pair)) is not None]
    games = [begun(each, each.ruleset) for each in bound]
    shared = {id(game.machine.functions.known) for game in games}
    players = {(game.origin["players"], str(game.settings)) for game in games}
    assert len(games) > len(shared) == len(players)
    played = (each.ruleset.new_game(game.origin["players"], 1, None) for each, game in zip(bound, games, strict=True))
    assert shared.isdisjoint(id(game.machine.functions) for game in played)


def test_the_files_of_scenarios_are_sound() -> None:
    assert SUITE.pairs
    assert SUITE.messages() == []


FAMILY = """\
language: 2
family: heap
names: {number: int, who: seat, n: int}
tokens: {stone: 7}
cards: {ticket: {key: number, has: {number: int}}}
zones:
  box: {of: card, order: free, start: all}
  pile: {of: ticket, order: kept}
pools:
  heap: {of: stone, start: rest}
seats:
  roles: {person: {counts: yes}}
  has: {taken: {pool: stone}, points: {value: int, start: 0}, dice: {value: list of int, start: "[4, 2]", seen: owner}}
state:
  paid: {value: int, start: 0}
round: [pulling, counting]
setup: prepare
result: {rank: [who.points]}
rules:
  prepare:
    does: |
      move [c in box where c is ticket] to pile
      shuffle pile as tickets
  pulling:
    does: |
      for each turn who in seats:
        choose draw by who:
          pull number in 1 .. 3 where may_pull(number):
            move number from heap to who.taken
          rest
  may_pull(number):
    permits: |
      require number <= heap
      require number <= limit()
  limit() -> int: 2
  best(who) -> int: max(n for n in who.dice)
  counting:
    does: |
      for each who in seats:
        who.points = who.taken
      paid = paid + worth()
      if heap == 0:
        end game
  worth() -> int: 1
"""
DECK = "language: 2\ndeck: heap/tickets\ncards:\n  ticket: |\n    number\n    5\n    6\n    7\n"
RULESET = "language: 2\nruleset: NAME\ntitle: A\nfamily: heap\nedition: heap/NAME\ndeck: heap/tickets\n"
SECOND = """\
language: 2
edition: heap/second
extends: heap
rules:
  limit:
    replaces: heap
    is: 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "family.yaml": FAMILY,
        "decks/tickets.yaml": DECK,
        "editions/first.yaml": "language: 2\nedition: heap/first\nextends: heap\nplayers: 2..3\n",
        "editions/second.yaml": SECOND,
        "first.yaml": RULESET.replace("NAME", "first"),
        "second.yaml": RULESET.replace("NAME", "second"),
    }
    for name, text in files.items():
        path = tmp_path / "heap" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def suite(folder: Path, scenario: str) -> Suite:
    path = folder / "heap" / "scenarios" / "tests.yaml"
    path.parent.mkdir(exist_ok=True)
    head = "language: 2\nscenarios: heap/tests\nis:\n  - name: it\n    ruleset: first\n    players: 2\n"
    path.write_text(head + indent(dedent(scenario), "    "), encoding="utf-8")
    return suite_of(shelf=Shelf([folder]))


def run(folder: Path, scenario: str) -> Outcome:
    found = suite(folder, scenario)
    (outcome,) = found.outcomes()
    assert found.messages() == []
    return outcome


def said(folder: Path, scenario: str) -> str:
    return "\n".join(map(str, run(folder, scenario).failures))


def told(folder: Path, scenario: str) -> str:
    found = suite(folder, scenario)
    assert not any(outcome.passed for outcome in found.outcomes())
    return "\n".join(found.messages())


def test_given_runs_after_the_set_up_and_play_begins_at_the_phase(folder: Path) -> None:
    scenario = """\
        chance: {tickets: [[7, 5]]}
        given: |
          move 3 from heap to seats[1].taken
          move first(pile) to box
        phase: pulling
        when:
          - {by: 0, do: pull, number: 1}
          - {by: 1, do: rest}
        then:
          - seats[0].points == 1 and seats[1].points == 3
          - paid == 1
          - pile == [5, 6]
          - round == 2
        """
    assert said(folder, scenario) == ""


def test_a_phase_may_end_without_a_choice(folder: Path) -> None:
    assert said(folder, "phase: counting\nthen: [paid == 1]\n") == ""


def test_without_phase_and_choices_nothing_is_played(folder: Path) -> None:
    assert said(folder, "then: [paid == 0, round == 0, count(pile) == 3]\n") == ""


def test_what_is_true_then_is_so_before_choices_by_chance(folder: Path) -> None:
    scenario = (
        "when: [{by: 0, do: rest}]\nsound: 20\nthen: [paid == 0, round == 1]\nrefused: {by: 1, do: pull, number: 3}\n"
    )
    assert said(folder, scenario) == ""


def test_what_is_given_may_ask(folder: Path) -> None:
    assert said(folder, "given: |\n  pulling()\nwhen:\n  - {by: 0, do: rest}\nthen: [paid == 0]\n") == ""


def test_a_condition_that_fails_is_told_with_its_values(folder: Path) -> None:
    text = said(folder, "given: |\n  paid = 4\nthen:\n  - paid + 1 == limit()\n")
    assert "heap/scenarios/tests.yaml:10:9: `paid + 1 == limit()` does not hold" in text
    assert "note: `paid + 1` is 5" in text
    assert "note: `limit()` is 2" in text


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("paid == 0 and heap == 3", "`heap` is 7"),
        ("paid == 1 or heap == 3", "`paid` is 0"),
        ("not paid == 0", "`paid == 0` holds"),
        ("paid in 1 .. 2", "`1 .. 2` is 1, 2"),
        ("all(s.taken == s.number for s in seats)", "it fails for player 2"),
        ("may_pull(9)", "`number <= heap` does not hold: rule `may_pull`"),
    ],
)
def test_the_part_of_a_condition_that_fails_is_shown(folder: Path, condition: str, note: str) -> None:
    assert note in said(folder, f"then:\n  - {condition}\n")


def test_a_condition_that_cannot_be_said_fails(folder: Path) -> None:
    assert "cannot be evaluated" in said(folder, "given: |\n  move all of pile to box\nthen: [first(pile) == 5]\n")


def test_a_choice_of_the_wrong_seat_says_who_decides_what(folder: Path) -> None:
    text = said(folder, "when:\n  - {by: 0, do: rest}\n  - {by: 0, do: rest}\n")
    assert "choice 2: seat 1 decides `draw`, not seat 0" in text


def test_an_illegal_choice_says_why(folder: Path) -> None:
    text = said(folder, "when:\n  - {by: 0, do: pull, number: 3}\n")
    assert "`number <= limit()` does not hold: rule `may_pull`" in text


def test_a_choice_after_the_end_fails(folder: Path) -> None:
    given = "given: |\n  move 7 from heap to seats[0].taken\nphase: counting\nwhen:\n  - {by: 0, do: rest}\n"
    assert "no decision is pending, not seat 0" in said(folder, given)


def test_a_refusal_by_the_named_rule_passes(folder: Path) -> None:
    assert said(folder, "refused: {by: 0, do: pull, number: 3, rule: may_pull}\n") == ""


def test_a_refusal_by_another_rule_fails(folder: Path) -> None:
    assert "`limit` does not refuse this" in said(folder, "refused: {by: 0, do: pull, number: 3, rule: limit}\n")


def test_what_is_not_refused_fails(folder: Path) -> None:
    assert "`pull` is not refused" in said(folder, "refused: {by: 0, do: pull, number: 2}\n")


def test_a_value_of_another_type_is_refused_by_no_rule(folder: Path) -> None:
    assert "no rule refuses this" in said(folder, "refused: {by: 0, do: pull, number: many}\n")


def test_a_refusal_cites(folder: Path) -> None:
    text = said(folder, "refused: {by: 0, do: pull, number: 3, cites: [AB-1]}\n")
    assert "the refusal does not cite AB-1" in text


def test_a_seat_that_is_not_asked_may_not_choose(folder: Path) -> None:
    assert said(folder, "phase: pulling\nrefused: {by: 1}\n") == ""
    assert said(folder, "when: [{by: 0, do: rest}]\nrefused: {by: 0}\n") == ""
    assert "seat 0 decides `draw`, so it may choose" in said(folder, "refused: {by: 0}\n")
    text = said(folder, "refused: {by: 1, do: pull, number: 3}\n")
    assert "seat 0 decides `draw`, not seat 1" in text
    assert "`refused: {by: 1}` says that" in text
    assert "E105 `number` needs `do` too" in told(folder, "refused: {by: 1, number: 3}\n")
    assert "E105 `rule` needs `do` too" in told(folder, "refused: {by: 1, rule: limit}\n")
    assert "E105 `do` needs `by` too" in told(folder, "refused: {do: pull, number: 3}\n")


UNEVEN = """\
settings: {most: {value: int, default: 2, check: may_be_most}}
says: {refused.may_be_most: "{n} stones are more than a hand holds"}
rules:
  may_be_most(n):
    permits: |
      require n <= 2 cites AB-1
  limit: {replaces: heap, is: most}
"""


def test_a_game_may_refuse_to_begin(folder: Path) -> None:
    first = folder / "heap" / "editions" / "first.yaml"
    first.write_text(first.read_text().replace("2..3", "{range: 2..3, otherwise: three colours}") + UNEVEN)
    statements = folder / "heap" / "statements" / "AB.csv"
    statements.parent.mkdir()
    statements.write_text("id,book,kind,phase,statement\nAB-1,AB,rule,,two\nAB-2,AB,rule,,three\n")
    assert said(folder, "set: {most: 3}\nrefused: {rule: may_be_most, cites: [AB-1]}\n") == ""
    assert said(folder, "set: {most: 3}\nrefused: {says: more than a hand}\n") == ""
    assert "`limit` does not refuse this" in said(folder, "set: {most: 3}\nrefused: {rule: limit}\n")
    assert "does not cite AB-2" in said(folder, "set: {most: 3}\nrefused: {cites: [AB-2]}\n")
    assert "the refusal does not say `colour`" in said(folder, "set: {most: 3}\nrefused: {says: colour}\n")
    assert "the game begins" in said(folder, "set: {most: 1}\nrefused: {rule: may_be_most}\n")
    assert said(folder, "set: {most: 3}\nfails_with: [{most: 1}]\nrefused: {rule: may_be_most}\n") == ""
    suite(folder, "refused: {says: three colours}\n")
    text = (folder / "heap/scenarios/tests.yaml").read_text().replace("players: 2", "players: 4")
    (folder / "heap/scenarios/tests.yaml").write_text(text)
    found = suite_of(shelf=Shelf([folder]))
    assert [outcome.failures for outcome in found.outcomes()] == [()]
    assert found.messages() == []


RUSH = """\
check: may_meet
settings: {rush: {value: bool, default: no}}
rules: {may_meet: {permits: require not rush or players == 3}}
"""
HARSH = """\
language: 2
overlay: heap/harsh
over: [heap/first]
check: may_begin
settings: {cold: {value: bool, default: no}}
says:
  refused.may_begin: "a harsh winter needs three players, not {players}"
  refused.may_pull: {en: "{number} stones are too cold", de: "{number} Steine sind zu kalt"}
rules:
  may_begin:
    cites: [AB-2]
    permits: require players > 2 or not cold
  is_light:
    wraps: heap
    when: cold
    cites: [AB-3]
    is: number == 1
decisions:
  draw:
    cites: [AB-4]
    wraps: |
      pull where not cold or number != 1
"""


def test_each_file_refuses_in_its_own_words_with_its_own_statements(folder: Path) -> None:
    family = folder / "heap" / "family.yaml"
    light = "  is_light(number) -> bool: number < 9\n  may_pull(number):\n    cites: [AB-1]\n"
    text = FAMILY.replace("  may_pull(number):\n", light)
    family.write_text(text.replace("require number <= limit()", "require is_light(number)"))
    first = folder / "heap" / "editions" / "first.yaml"
    first.write_text(first.read_text() + RUSH)
    statements = folder / "heap" / "statements" / "AB.csv"
    statements.parent.mkdir()
    rows = "".join(f"AB-{number},AB,rule,,{number}\n" for number in range(1, 5))
    statements.write_text("id,book,kind,phase,statement\n" + rows)
    (folder / "heap" / "overlays").mkdir()
    (folder / "heap" / "overlays" / "harsh.yaml").write_text(HARSH)
    cold = "with: [heap/harsh]\nset: {cold: yes}\n"
    refusal = "refused: {rule: may_begin, cites: [AB-2], says: 'winter needs three players, not 2'}\n"
    assert said(folder, cold + refusal) == ""
    assert "the game begins" in said(folder, "with: [heap/harsh]\n" + refusal)
    assert said(folder, "with: [heap/harsh]\nset: {rush: yes}\nrefused: {rule: may_meet, says: not rush}\n") == ""
    ruleset = load("first", ["harsh"], Shelf([folder]))
    assert prove(ruleset, suite(folder, f"cites: [AB-2]\n{cold}{refusal}"), {"AB-2"}) == {"AB-2"}
    game = ruleset.new_game(3, settings={"cold": True})
    refusals = [
        (1, "`not cold or number != 1` does not hold", ("AB-4",)),
        (2, "2 stones are too cold", ("AB-1", "AB-3")),
    ]
    for number, message, cites in refusals:
        with pytest.raises(IllegalMove) as refused:
            game.apply({"do": "pull", "number": number})
        (reason,) = refused.value.reasons
        assert (reason.message, reason.cites) == (message, cites)
    changed = differences(Compared(load("first", [], Shelf([folder]))), Compared(ruleset)).differences
    assert [each.b and each.b.value for each in changed if each.path == "check"] == ["may_meet, may_begin"]


OVERLAY = "language: 2\noverlay: heap/NAME\nover: [heap/first]\n"


def test_overlays_may_be_left_out_and_may_refuse_each_other(folder: Path) -> None:
    overlays = folder / "heap" / "overlays"
    overlays.mkdir()
    (overlays / "more.yaml").write_text(
        OVERLAY.replace("NAME", "more")
        + "rules:\n  limit: {replaces: heap, is: 4}\nundefined: {heap/less: nobody says so}\n"
    )
    (overlays / "less.yaml").write_text(OVERLAY.replace("NAME", "less"))
    ruleset = folder / "heap" / "first.yaml"
    ruleset.write_text(ruleset.read_text() + "overlays: [heap/more]\n")
    assert said(folder, "then: [limit() == 4]\n") == ""
    assert said(folder, "with: [-heap/more]\nthen: [limit() == 2]\n") == ""
    text = told(folder, "with: [-heap/mor]\nthen: [limit() == 2]\n")
    assert "E505 `first` lists no overlay `heap/mor` to leave out" in text
    assert "note: a scenario plays it with this overlay (heap/scenarios/tests.yaml:7:12)" in text
    assert said(folder, "with: [heap/less]\nrefused: {says: nobody says so}\n") == ""
    assert "does not say `it is`" in said(folder, "with: [heap/less]\nrefused: {says: it is}\n")
    assert said(folder, "with: [heap/less, +undefined]\nthen: [limit() == 4]\n") == ""
    assert "nobody says so" in told(folder, "with: [heap/less]\nthen: [limit() == 4]\n")
    path = folder / "heap/scenarios/tests.yaml"
    suite(folder, "with: [-heap/mo]\n")
    text = path.read_text()
    proposals, span = complete(Desk(), path, text.index("heap/mo]") + 7)
    assert {"heap/less", "heap/more"} <= {each.text for each in proposals}
    assert span.text == "heap/mo"
    suite(folder, "with: [-heap/more]\n")
    hover = Answers(Desk()).hover(path, path.read_text().index("heap/more"))
    assert hover is not None
    assert "more.yaml" in hover[0]


def test_one_holds_over_all_rulesets_that_take_its_overlays_and_players(folder: Path) -> None:
    first = folder / "heap" / "editions" / "first.yaml"
    first.write_text(first.read_text().replace("2..3", "3..4"))
    overlays = folder / "heap" / "overlays"
    overlays.mkdir()
    for name, players in (("duel", 2), ("crowd", 4)):
        text = f"language: 2\noverlay: heap/{name}\nover: [heap]\nplayers: {players}\n"
        (overlays / f"{name}.yaml").write_text(text)
    for keys, rulesets in {
        "": ["second"],  # `suite` plays with two
        "with: [heap/duel]\n": ["first", "second"],  # the limits of overlays override those of editions
        "with: [heap/duel]\nnot_with: [heap/second]\n": ["first"],
        "with: [heap/crowd]\n": [],
    }.items():
        found = suite(folder, f"over: [heap]\n{keys}")
        assert found.over(found.scenarios[0]) == rulesets, keys


def messages_of(folder: Path, scenario: str) -> list[str]:
    found = suite(folder, scenario)
    list(found.outcomes())
    return found.messages()


def test_errors_of_another_ruleset_name_it(folder: Path) -> None:
    first = folder / "heap" / "editions" / "first.yaml"
    first.write_text(first.read_text() + "rules: {extra() -> int: 1 + 1}\n")
    found = suite(folder, "fails_for: [second]\nthen: [extra() == 2]\n")
    assert [outcome.passed for outcome in found.outcomes()] == [True, False]
    text = "\n".join(found.messages())
    assert "E301 unknown rule `extra`" in text
    note = "note: for `second`, which is named here (heap/scenarios/tests.yaml:7:17)"
    assert note in text
    second = folder / "heap" / "editions" / "second.yaml"
    second.write_text(second.read_text().replace("is: 3", "is: 3 + nothing_known"))
    text = "\n".join(messages_of(folder, "fails_for: [second]\nthen: [extra() == 2]\n"))
    assert "heap/editions/second.yaml:7:13: E301 unknown name `nothing_known`" in text
    assert note in text


LOTS = """\
  prepare:
    does: |
      move [c in box where c is ticket] to pile
      shuffle pile as tickets
      shuffle pile as tickets
      let order = shuffled [1, 2] as order
      let again = shuffled [1, 2] as order
      let rolled = roll 2 from 1 .. 6 as dice
      let more = roll 2 from 1 .. 6 as dice
      paid = first(again) * 100 + rolled[1] * 10 + more[0]
"""


@pytest.mark.parametrize(
    ("chance", "message"),
    [
        ("{tickets: [[5], [7]], order: [[2, 1], [1, 2]], dice: [[1, 3], [4, 2]]}", ""),
        ("{tickets: [[5], [7]], order: [2, 1, 1, 2], dice: [1, 3, 4, 2]}", ""),
        ("{tickets: [6, 5, 7], order: [[2, 1]]}", "`paid == 134` does not hold"),
        (
            "{tickets: [5, [7]]}",
            ":7:23: E302 `tickets`: got items and lists, want a list with the first items of a shuffle",
        ),
        ("{tickets: [[5], [nine]]}", ":7:29: E302 `tickets`: got 'nine'"),
        ("{dice: [1, [2]]}", ":7:20: E302 `dice`: got items and lists, want a list with what comes up"),
        (
            "{dice: [[1, 2], [3, 7]]}",
            ":7:33: the game cannot start: heap/family.yaml:28:18: `dice`, use 4: 7 is not among",
        ),
        (
            "{order: [[2, 1], [2, 2]]}",
            ":7:34: the game cannot start: heap/family.yaml:26:19: `order`, use 4: 2 is not among",
        ),
        ("{tickets: [[5], [7], [6]]}", ":7:34: unused outcomes of `tickets`: only 2 used"),
    ],
)
def test_outcomes_of_chance_have_one_shape(folder: Path, chance: str, message: str) -> None:
    family = folder / "heap" / "family.yaml"
    begin, end = FAMILY.index("  prepare:"), FAMILY.index("  pulling:")
    family.write_text(FAMILY[:begin] + LOTS + FAMILY[end:])
    found = suite(folder, f"chance: {chance}\nthen: [first(pile).number == 7, paid == 134]\n")
    failures = [f"{failure.span}: {failure.message}" for outcome in found.outcomes() for failure in outcome.failures]
    text = "\n".join([*failures, *found.messages()])
    assert (message or "nothing") in (text or "nothing")


def test_the_places_at_the_end(folder: Path) -> None:
    given = "given: |\n  move 7 from heap to seats[1].taken\nphase: counting\n"
    assert said(folder, given + "places: [2, 1]\n") == ""
    assert "the places are 2, 1, not 1, 2" in said(folder, given + "places: [1, 2]\n")
    assert "the game is not over" in said(folder, "phase: pulling\nplaces: [1, 2]\n")


def test_what_a_seat_sees(folder: Path) -> None:
    sees = "sees:\n  0: ['seats[0].dice', 'seats[1].points']\n  1: ['best(seats[1])']\n"
    hides = "hides:\n  0: ['seats[1].dice', 'count(seats[1].dice)', 'best(seats[1])']\n  1: ['best(seats[0]) + 1']\n"
    assert said(folder, sees + hides) == ""
    assert "seat 0 does not see `seats[1].dice`" in said(folder, "sees: {0: ['seats[1].dice']}\n")
    assert "seat 1 sees `best(seats[1])`: 4" in said(folder, "hides: {1: ['best(seats[1])']}\n")
    assert "there is no seat 2" in said(folder, "hides: {2: ['best(seats[1])']}\n")


def test_who_sees_what_is_mutated(folder: Path) -> None:
    found = suite(folder, 'hides: {0: ["seats[1].dice"]}\nthen: ["seats[0].points == 0"]\n')
    ((scenario, id),) = found.pairs
    checked = found.checked(scenario, id)
    assert checked is not None
    ruleset = checked.ruleset
    citation = Citation("has", "dice", "", scenario.span, ("X-1",))
    wrong = {each.about: each.applied(ruleset) for each in mutants_of(ruleset.model, citation)}
    assert [about for about, each in wrong.items() if not run_scenario(checked, each).passed] == ["seen by everyone"]


def test_a_script_of_chance_is_used_up(folder: Path) -> None:
    assert "unused outcomes of `tickets`: only 1 used" in said(
        folder, "chance: {tickets: [[5], [6]]}\nthen: [paid == 0]"
    )


def test_what_cannot_begin_fails(folder: Path) -> None:
    scenario = "given: |\n  move 9 from heap to seats[0].taken\nthen: [paid == 0]\n"
    assert "the game cannot start" in said(folder, scenario)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("set: {speed: 3}", "E301 unknown setting `speed`"),
        ("chance: {ticket: [[5]]}", "E301 unknown chance `ticket`; did you mean `tickets`?"),
    ],
)
def test_settings_and_chances_are_those_of_the_ruleset(folder: Path, scenario: str, message: str) -> None:
    assert message in told(folder, f"{scenario}\nthen: [paid == 0]\n")


def test_too_many_players_are_refused(folder: Path) -> None:
    suite(folder, "then: [paid == 0]\n")
    text = (folder / "heap/scenarios/tests.yaml").read_text().replace("players: 2", "players: 4")
    (folder / "heap/scenarios/tests.yaml").write_text(text)
    found = suite_of(shelf=Shelf([folder]))
    assert not any(outcome.passed for outcome in found.outcomes())
    assert "E510 `first` is for 2 to 3 players, not 4" in "\n".join(found.messages())


def test_a_scenario_may_hold_for_further_rulesets(folder: Path) -> None:
    found = suite(folder, "holds_for: [second]\nwhen:\n  - {by: 0, do: pull, number: 2}\n")
    assert [(o.ruleset, o.passed) for o in found.outcomes()] == [("first", True), ("second", True)]


def test_a_scenario_may_show_where_rulesets_differ(folder: Path) -> None:
    found = suite(folder, "fails_for: [second]\nrefused: {by: 0, do: pull, number: 3}\n")
    assert [(o.ruleset, o.passed) for o in found.outcomes()] == [("first", True), ("second", True)]
    found = suite(folder, "fails_for: [second]\nrefused: {by: 0, do: pull, number: 8}\n")
    failures = "".join(str(failure) for outcome in found.outcomes() for failure in outcome.failures)
    assert "it passes for `second`, but `fails_for` names it" in failures


def test_a_scenario_may_fail_with_other_settings(folder: Path) -> None:
    first = folder / "heap" / "editions" / "first.yaml"
    limit = "\nsettings: {most: {value: int, default: 2}}\nrules: {limit: {replaces: heap, is: 'most'}}\n"
    first.write_text(first.read_text() + limit)
    pulled = "when: [{by: 0, do: pull, number: 2}]\n"
    assert run(folder, f"fails_with: [{{most: 1}}, {{most: 0}}]\n{pulled}").passed
    assert "it passes with {'most': 3}, but `fails_with` names it" in said(
        folder, f"fails_with: [{{most: 1}}, {{most: 3}}]\n{pulled}"
    )


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("cites: [AB-9]", "E601 unknown statement `AB-9`"),
        ("phase: pullin", "E301 unknown phase `pullin`; did you mean `pulling`?"),
        ("when: [{by: 0, do: pul, number: 1}]", "unknown alternative `pul`; did you mean `pull`?"),
        ("when: [{by: 0, do: pull, numbr: 1}]", "`pull` takes no `numbr`; did you mean `number`?"),
        ("refused: {by: 0, do: pull, number: 3, rule: may_pul}", "unknown rule `may_pul`; did you mean `may_pull`?"),
        ("then: [paid == heep]", "heap/scenarios/tests.yaml:7:20: E301 unknown name `heep`; did you mean `heap`?"),
        ("then: [paid]", "E401"),
        ("sees: {0: [heep]}", "unknown name `heep`; did you mean `heap`?"),
        ("given: |\n  pay(3)", "E301 unknown rule `pay`"),
    ],
)
def test_names_are_checked(folder: Path, scenario: str, message: str) -> None:
    assert message in told(folder, scenario)


def test_a_key_that_is_none_is_told(folder: Path) -> None:
    found = suite(folder, "thn: [paid == 0]\n")
    assert found.scenarios == []
    assert "E101 unknown key `thn`; did you mean `then`?" in "\n".join(found.messages())


def test_scenarios_of_a_path_a_folder_or_a_ruleset(folder: Path) -> None:
    suite(folder, "then: [paid == 0]\n")
    shelf = Shelf([folder])
    path = folder / "heap" / "scenarios" / "tests.yaml"
    for named in (str(path), str(path.parent), str(folder), "first"):
        assert [scenario.name for scenario in suite_of([named], shelf).scenarios] == ["it"]
    assert suite_of(["second"], shelf).scenarios == []
    assert "E031 unknown ruleset `third`" in "\n".join(suite_of(["third"], shelf).messages())
    assert "E036" in "\n".join(suite_of([str(folder / "heap" / "family.yaml")], shelf).messages())


def test_a_set_up_that_asks_is_told_before_anything_is_compared(folder: Path) -> None:
    path = folder / "heap" / "family.yaml"
    asks = "setup: prepare\nsettings:\n  luck: {value: int?, about: how lucky all are}\n"
    text = path.read_text(encoding="utf-8").replace("setup: prepare\n", asks)
    asked = "      if luck == none:\n        choose luck by first(seats):\n          trust\n"
    asked += "      shuffle pile as tickets\n"
    path.write_text(text.replace("      shuffle pile as tickets\n", asked), encoding="utf-8")
    found = said(folder, "given: |\n  paid = 3\nthen: [paid == 3]\n")
    assert "`given` does not apply yet: seat 0 decides `luck`" in found
    assert "   note: answer it under `when`, or by a setting under `set`: `luck`" in found
    assert "does not hold" not in found
    assert "the set-up makes this decision" in said(folder, "when: [{by: 0, do: rest}]\n")
    assert "the set-up makes this decision" in said(folder, "when: [{by: 1, do: rest}]\nsound: 1\n")
    assert run(folder, "given: |\n  paid = 3\nwhen: [{by: 0, do: trust}]\nthen: [paid == 3]\n").passed


def test_scenarios_find_the_rulesets_that_they_lie_beside(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    suite(folder, "then: [paid == 0]\n")
    above = tmp_path_factory.mktemp("above")
    copytree(folder / "heap", above / "games" / "heap")
    assert [outcome.passed for outcome in suite_of([str(above)]).outcomes()] == [True]


# --- helpers of a file ------------------------------------------------------------------------------------------------

HELPERS = """\
  start: {is: 7}
  owns(who) -> int: who.taken
  left_over() -> int: start - sum(owns(s) for s in seats)
  may_go_on:
    permits: |
      require left_over() > 3
      require heap > 2
"""


def with_helpers(folder: Path, helpers: str, scenario: str, head: str = "") -> Suite:
    path = folder / "heap" / "scenarios" / "tests.yaml"
    path.parent.mkdir(exist_ok=True)
    head = head or "  - name: it\n    ruleset: first\n    players: 2\n"
    text = f"language: 2\nscenarios: heap/tests\nrules:\n{helpers}is:\n{head}{indent(dedent(scenario), '    ')}"
    path.write_text(text, encoding="utf-8")
    return suite_of(shelf=Shelf([folder]))


def test_helpers_are_used_by_what_is_given_chosen_and_looked_at(folder: Path) -> None:
    scenario = """\
        given: |
          move start - 5 from heap to seats[1].taken
          paid = owns(seats[1])
        phase: pulling
        when:
          - {by: 0, do: pull, number: = left_over() - 4}
        then:
          - owns(seats[0]) == 1 and owns(seats[1]) == 2 and paid == 2
          - may_go_on()
        refused: {by: 1, do: pull, number: "= start", rule: may_pull}
        sees: {0: [left_over()]}
        """
    (outcome,) = with_helpers(folder, HELPERS, scenario).outcomes()
    assert outcome.failures == ()
    scenario = scenario.replace("paid == 2", "paid == 3").replace("- 4}", "- 3}")
    found = with_helpers(folder, HELPERS, scenario)
    (outcome,) = found.outcomes()
    assert found.messages() == []
    failures = "\n".join(map(str, outcome.failures))
    assert "`owns(seats[0]) == 1 and owns(seats[1]) == 2 and paid == 3` does not hold" in failures
    assert "note: `owns(seats[0])` is 2" in failures
    assert "`may_go_on()` does not hold" in failures
    assert "note: `left_over() > 3` does not hold: rule `may_go_on`" in failures


def test_helpers_follow_the_ruleset_that_they_are_asked_in(folder: Path) -> None:
    helpers = "  most() -> int: limit()\n"
    scenario = """\
        fails_for: [second]
        phase: pulling
        when: [{by: 0, do: pull, number: 2}]
        then: [most() == seats[0].taken]
        """
    assert all(outcome.passed for outcome in with_helpers(folder, helpers, scenario).outcomes())


def test_a_helper_is_no_rule_of_the_game(folder: Path) -> None:
    scenario = "then:\n  - owns(seats[0]) == 0 and start == 7\n"
    found = with_helpers(folder, HELPERS, scenario)
    (checked,) = [found.checked(each, ruleset) for each, ruleset in found.pairs]
    assert checked is not None
    assert sorted(checked.blocks) == ["given", "owns!heap/tests@0", "start!heap/tests@0"]  # those that are called
    assert "owns" not in checked.ruleset.model.rules
    assert not any("owns" in citation.name for citation in citations_of(checked.ruleset))
    path = folder / "heap" / "scenarios" / "tests.yaml"
    said = [f"{each.code} {each.message}" for each in validate([str(path)]).diagnostics]
    assert said == [f"W701 no scenario of this file uses `{name}`" for name in ("left_over", "may_go_on")]


@pytest.mark.parametrize(
    ("helpers", "scenario", "message"),
    [
        ("limit() -> int: 2", "", "E501 `limit` already exists in `first`"),
        ("pulling() -> int: 2", "given: pulling()", "E406 a function alone does nothing"),
        ("count() -> int: 2", "", "E312 `count` is a reserved name"),
        ("paid: {is: 2}", "", "E501 `paid` already exists in `first`"),
        ("round: {is: 2}", "", "E312 `round` is a reserved name"),
        ("a() -> int: b()\nb: {is: 2}", "then: [a() == 2]", "E301 unknown rule `b`"),
        ("a() -> int: a()", "then: [a() == 2]", "E301 unknown rule `a`"),
        ("a(n) -> int: n", "then: [a() == 2]", "E404 `a` takes 1 value, got 0"),
        ("a:\n  is: who.taken", "then: [a() == 2]", "E310 `a` needs a head with its result: `a() -> type:`"),
        ("a() -> int:\n  is: |\n    paid = 2\n    return 2", "then: [a() == 2]", "E701"),
        ("a() -> int:\n  permits: |\n    require paid == 2", "then: [a()]", "E310 a verdict has no result type"),
        ("a:\n  does: |\n    paid = 2", "given: |\n  a()", "E101 unknown key `does`"),
        ("a: {is: 2}", "when: [{by: 0, do: pull, number: = b}]", "E301 unknown name `b`"),
        ("a: {is: yes}", "when: [{by: 0, do: pull, number: = a}]", "E401 got bool, want int"),
        ("a: {is: 2}", "when: [{by: 0, do: pull, number: = a +}]", "E201"),
    ],
)
def test_helpers_are_checked(folder: Path, helpers: str, scenario: str, message: str) -> None:
    scenario = f"players: 2\n{scenario}\n"
    suite = with_helpers(folder, indent(f"{helpers}\n", "  "), scenario, "  - name: it\n    ruleset: first\n")
    for each, ruleset in suite.pairs:
        suite.checked(each, ruleset)
    said = [f"{each.code} {each.message}" for each in suite.diagnostics]
    assert [each for each in said if each.startswith(message)], said
