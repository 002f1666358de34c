"""Whatever fails in a scenario is reported at its own line: an outcome of chance, a line under `given`, a choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.reading.files import Shelf
from interpreter.testing.suite import suite_of

FAMILY = """\
language: 2
family: dice
names: {number: int, n: int}
title: Dice
seats:
  roles: {person: {counts: yes}}
  has:
    score: {value: int, start: 0}
state:
  last: {value: list of int, start: []}
settings:
  sides: {value: int, default: 6, check: may_be_sides, about: sides of a die}
events:
  threw: {with: {who: seat, number: int}, says: "{who} throws {number}"}
round: [throwing]
setup: prepare
result:
  rank:
    - who.score
rules:
  prepare:
    does: |
      let lot = pick from seats as begins
      lot.score = 1
  may_be_sides(number):
    permits: |
      require number > 1
  throwing:
    does: |
      for each turn who in seats:
        choose throwing by who:
          throw number in 1 .. 3:
            let dice = roll number from 1 .. sides as dice
            who.score += sum(dice)
            last = dice
            note threw(who, sum(dice))
          stop
      if round == 3:
        end game
"""
SCENARIOS = """\
language: 2
scenarios: dice/all
rules:
  wrong(n) -> int:
    is: |
      1 div (n - n)
is:
  - name: outcome not on the die
    ruleset: dice
    players: 2
    chance:
      begins: [0]
      dice: [4, 7]  # here
    when:
      - {by: 0, do: throw, number: 2}
    then:
      - last == [4, 7]
  - name: outcome not on the die in start
    ruleset: dice
    players: 2
    chance:
      dice: [4]
      begins: [2]  # here
    then:
      - round == 0
  - name: outcome of no such kind
    ruleset: dice
    players: 2
    chance:
      dice: [x]  # here
    when:
      - {by: 0, do: throw, number: 1}
  - name: outcome is no list
    ruleset: dice
    players: 2
    chance:
      dice: [4.5]  # here
    when:
      - {by: 0, do: throw, number: 1}
  - name: too many outcomes
    ruleset: dice
    players: 2
    chance:
      begins: [0]
      dice: [4, 5, 6]  # here
    when:
      - {by: 0, do: throw, number: 1}
  - name: unknown chance
    ruleset: dice
    players: 2
    chance:
      begins: [0]
      dices: [4, 5, 6]  # here
    when:
      - {by: 0, do: throw, number: 1}
  - name: given fails
    ruleset: dice
    players: 2
    given: |
      seats[0].score = 3
      seats[1].score = 3 div (seats[0].score - 3)  # here
    then:
      - round == 0
  - name: given rolls
    ruleset: dice
    players: 2
    chance:
      dice: [9]  # here
    given: |
      seats[0].score = 3
      let dice = roll 1 from 1 .. 6 as dice
      seats[1].score = sum(dice)
    then:
      - round == 0
  - name: given fails in a helper
    ruleset: dice
    players: 2
    given: |
      seats[0].score = 3
      seats[0].score = wrong(3)  # here
    then:
      - round == 0
  - name: setting refused
    ruleset: dice
    players: 2
    set:
      sides: 1  # here
    then:
      - round == 0
  - name: setting no number
    ruleset: dice
    players: 2
    set:
      sides: many  # here
    then:
      - round == 0
  - name: players not allowed
    ruleset: dice
    players: 20  # here
    then:
      - round == 0
  - name: choice value fails
    ruleset: dice
    players: 2
    chance: {begins: [0]}
    when:
      - {by: 0, do: stop}
      - by: 1
        do: throw
        number: = wrong(2)  # here
  - name: choice not offered
    ruleset: dice
    players: 2
    when:
      - {by: 0, do: stop}
      - {by: 1, do: throw, number: 9}  # here
  - name: unknown phase
    ruleset: dice
    players: 2
    phase: throwings  # here
    when:
      - {by: 0, do: stop}
  - name: then fails
    ruleset: dice
    players: 2
    then:
      - round == 0
      - wrong(1) == 2  # here
  - name: refused wrong
    ruleset: dice
    players: 2
    refused: {by: 0, do: stop}  # here
  - name: refused by another rule
    ruleset: dice
    players: 2
    refused:
      by: 0
      do: throw
      number: 8
      rule: nosuch  # here
  - name: places
    ruleset: dice
    players: 2
    places: [1, 2]  # here
  - name: sees
    ruleset: dice
    players: 2
    sees: {7: ["last"]}  # here
  - name: hides
    ruleset: dice
    players: 2
    hides:
      0: [last]  # here
  - name: fails for
    ruleset: dice
    players: 2
    fails_for: [dice]  # here
    then: [round == 0]
  - name: fails with
    ruleset: dice
    players: 2
    fails_with:
      - {sides: 4}  # here
    then: [round == 0]
  - name: wrong seat
    ruleset: dice
    players: 2
    when:
      - {by: 5, do: stop}  # here
  - name: alternative of no decision
    ruleset: dice
    players: 2
    when:
      - by: 0
        do: throws  # here
  - name: name that the alternative does not take
    ruleset: dice
    players: 2
    when:
      - by: 0
        do: throw
        numbers: 2  # here
  - name: sound
    ruleset: dice
    players: 2
    sound: 3
    when:
      - {by: 1, do: stop}  # here
"""
NAMES = [line.partition("name: ")[2] for line in SCENARIOS.splitlines() if line.startswith("  - name: ")]


def _places(folder: Path) -> dict[str, list[int]]:
    """Return the lines at which each scenario fails; that it has errors is reported at their places."""
    files = {
        "family.yaml": FAMILY,
        "dice.yaml": "language: 2\nruleset: dice\ntitle: Dice\nfamily: dice\nedition: dice/plain\n",
        "editions/plain.yaml": "language: 2\nedition: dice/plain\nextends: dice\n",
        "scenarios/all.yaml": SCENARIOS,
    }
    for name, text in files.items():
        path = folder / "dice" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    suite = suite_of(shelf=Shelf([folder]))
    places: dict[str, list[int]] = {}
    for scenario, ruleset in suite.pairs:
        known = len(suite.diagnostics)
        failures = suite.outcome(scenario, ruleset).failures
        found = suite.diagnostics[known:] or failures
        places[scenario.name] = [each.span.line for each in found if each.span is not None]
    return places


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    return _places(tmp_path_factory.mktemp("dice"))


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_fails_at_its_own_line(places: dict[str, list[int]], name: str) -> None:
    lines = SCENARIOS.splitlines()
    start = lines.index(f"  - name: {name}")
    here = next(number for number, line in enumerate(lines[start:], start + 1) if line.endswith("# here"))
    assert places[name] == [here]
