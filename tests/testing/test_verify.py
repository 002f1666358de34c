"""Faults that are planted in copies of the rulesets are found by play, and made into scenarios that show them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.source import SourceFile
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.wasm.module import Compiled
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf, read_document
from interpreter.testing import soundness
from interpreter.testing.recording import file_with
from interpreter.testing.running import Outcome, run_scenario
from interpreter.testing.scenarios import check_scenario, read_scenarios
from interpreter.testing.shrink import shrink
from interpreter.testing.verify import Finding, Played, verify
from tests.support import ENVELOPES

SHIPPED = Path(__file__).parents[2] / "rulesets"


@dataclass(frozen=True)
class Fault:
    """A text in a file that becomes another one, the ruleset that is then looked at, and what shall be found."""

    ruleset: str
    file: str
    right: str
    wrong: str
    kind: str
    message: str
    overlays: tuple[str, ...] = ()
    players: tuple[int, ...] = ()
    choices: int = 40
    """So many choices the scenario has at most."""


FAULTS = {
    "an option dearer than what somebody has": Fault(
        "germany-2018",
        "power-grid/family.yaml",
        "require price_for(who, kind, number) <= who.money",
        "require price_for(who, kind, number) >= 0",
        "failure",
        "holds",
    ),
    "no way to stop in stage 3": Fault(
        "germany-2004",
        "power-grid/family.yaml",
        "stop if may_stop_building(who)",
        "stop if stage < 3",
        "dead end",
        "`build` leaves no choice",
        players=(3,),
    ),
    "a bid that is never made": Fault(
        "goofspiel",
        "goofspiel/family.yaml",
        """      choose bid by each who in seats, at once:
        play value in [c.value for c in who.hand]:
          move [c in who.hand where c.value == value] to who.offered
""",
        """      while seats[0].offered == []:
        choose bid by each who in seats, at once:
          play value in [c.value for c in who.hand]:
            move [c in who.hand where c.value == value] to who.hand
""",
        "endless",
        "the phase `bidding` goes on",
    ),
    "a sealed bid that is never made": Fault(
        "envelopes",
        "envelopes/family.yaml",
        """        choose bid by who, sealed:
          play value in [c.value for c in who.hand]:
            move [c in who.hand where c.value == value] to who.offered
""",
        """        while who.offered == []:
          choose bid by who, sealed:
            play value in [c.value for c in who.hand]:
              move [c in who.hand where c.value == value] to who.hand
""",
        "endless",
        "the phase `bidding` goes on",
    ),
    "prizes that come again": Fault(
        "goofspiel",
        "goofspiel/family.yaml",
        "        end game\n",
        """        for each who in seats:
          move all of who.won to prizes
          move all of who.spent to who.hand
        move all of stake to prizes
        move [c in box where c is prize] to prizes
        shuffle prizes as prizes
""",
        "endless",
        "the game goes on",
        players=(2,),
    ),
    "an event that tells the next card": Fault(
        "usa-2018",
        "power-grid/family.yaml",
        """        move card to plant_market
        note drew(card)
""",
        """        move card to plant_market
        note drew(card)
        if let next = first(deck):
          if next is plant:
            note supplied(seats[0], next.number, 0)
""",
        "told",
        "`supplied` tells",
        players=(3,),
    ),
    "a sealed bid that is told at once": Fault(
        "envelopes",
        "envelopes/family.yaml",
        "            move [c in who.hand where c.value == value] to who.offered\n",
        "            move [c in who.hand where c.value == value] to who.offered\n            note nobody_won(value)\n",
        "told",
        "`nobody_won` tells",
    ),
    "a standing rule that wakes itself": Fault(
        "outpost",
        "outpost/family.yaml",
        "\nsays:\n",
        """
standing:
  never_at_rest:
    whenever: stage == 2
    does: |
      must_buy = not must_buy

says:
""",
        "endless",
        "",
        players=(3,),
    ),
    "a card from an empty stack": Fault(
        "usa-2004",
        "power-grid/family.yaml",
        "      if let card = first(deck):\n        move card to plant_market\n        note drew(card)\n",
        "      let card = first(deck)\n      move card to plant_market\n      note drew(card)\n",
        "failure",
        "first",
        players=(2,),
    ),
    "a board that looks for plants where there are none": Fault(
        "bsw-germany",
        "power-grid/log.yaml",
        "      supplied: who.supplied\n  outcome:",
        "      supplied: first(who.plants).number\n  outcome:",
        "failure",
        "`first` finds nothing here",
        players=(6,),
    ),
    "one reading of a doubt": Fault(
        "bsw-italy",
        "power-grid/editions/brettspielwelt.yaml",
        "is: count(network(who))}\n",
        "is: count(network(who)) - 1}\n",
        "failure",
        "payout",
        players=(2,),
    ),
    "a trigger that takes from a list what is not in it": Fault(
        "germany-2004",
        "power-grid/family.yaml",
        """          shuffle deck as reshuffle
          stage_3_leaves(card)
""",
        """          shuffle deck as reshuffle
          remove first(turn_order) from waiting
          stage_3_leaves(card)
""",
        "failure",
        "not in",
        overlays=("power-grid/hidden-money",),
        players=(4,),
    ),
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shutil.copytree(SHIPPED, tmp_path / "rulesets")
    shutil.copytree(Path(ENVELOPES).parent, tmp_path / "rulesets" / "envelopes")
    return Shelf([tmp_path / "rulesets"])


def found(shelf: Shelf, fault: Fault) -> tuple[Finding, Ruleset, Ruleset]:
    """The finding, the ruleset with the fault and the one without it."""
    right = load(fault.ruleset, fault.overlays, shelf)
    file = shelf.roots[0] / fault.file
    text = file.read_text(encoding="utf-8")
    assert fault.right in text
    file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    wrong = load(fault.ruleset, fault.overlays, shelf)
    for finding in verify(wrong, seed=1, games=60, players=fault.players):
        if finding.trouble.kind == fault.kind and fault.message in finding.trouble.message:
            return finding, wrong, right
    raise AssertionError("not found")


def outcome(text: str, ruleset: Ruleset) -> Outcome:
    document, _ = read_document(SourceFile("found", file_with("", "found/it", text)), Path("found"))
    assert document is not None
    (scenario,), diagnostics = read_scenarios(document)
    played = ruleset.for_players(scenario.keys.players or 0)
    checked, more = check_scenario(scenario, played)
    assert (checked is not None, diagnostics, more) == (True, [], [])
    assert checked is not None
    return run_scenario(checked)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, shelf: Shelf) -> None:
    fault = FAULTS[name]
    finding, wrong, right = found(shelf, fault)
    text = shrink(finding, seconds=3)
    assert (text is None) == (fault.kind == "told")  # which is no fault, so that no scenario fails
    if text is None:
        return
    assert text.count("- {by:") <= fault.choices, text
    assert not outcome(text, wrong).passed
    assert outcome(text, right).failures == ()


def miscounts(group: str) -> Callable[[pytest.MonkeyPatch], None]:
    """A module whose choices add one to the first word of a group of cells."""

    def patched(monkeypatch: pytest.MonkeyPatch) -> None:
        step = Compiled.step

        def faulty(self: Compiled, *of: Any) -> Any:
            turn = step(self, *of)
            self._words[self.builder.memory.groups[group].address // WORD] += 1
            return turn

        monkeypatch.setattr(Compiled, "step", faulty)

    return patched


def replaced(owner: object, name: str, by: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(owner, name, by)


SAVED = Game.to_json
OWN_FAULTS = {
    "a module that makes tokens": ("totals", miscounts("supply")),
    "a module with other values": ("forms", miscounts("supplied")),
    "an undo that undoes nothing": ("copies", replaced(Game, "undo", lambda game: True)),
    "a save of another moment": ("copies", replaced(Game, "to_json", lambda game: SAVED(game.ruleset.new_game(3)))),
    "a game that accepts anything": ("options", replaced(Game, "accepts", lambda game, choice, by=None: True)),
}


@pytest.mark.parametrize("name", OWN_FAULTS)
def test_a_fault_of_the_interpreter_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, plant = OWN_FAULTS[name]
    plant(monkeypatch)
    found = {finding.trouble.kind for finding in verify(load("germany-2018"), seed=1, games=1, players=[3])}
    assert kind in found
    assert kind in soundness.KINDS


def test_a_channel_that_tells_all_is_found() -> None:
    channels = {"all": lambda game, player: game.digest()}
    findings = list(verify(load("germany-2018"), seed=1, games=1, players=[3], channels=channels))
    assert [(each.trouble.kind, "from the all" in each.trouble.message) for each in findings][:1] == [("leak", True)]


def test_games_are_played_in_the_module_and_looked_at_everywhere() -> None:
    """Totals are counted after every choice that moves something, without the plain form of the rules."""
    played = Played()
    assert list(verify(load("germany-2018"), seed=1, games=1, players=[3], played=played)) == []
    assert played.closely < 0.75 * played.decisions
    assert played.pairs > 20
    assert 0 < len(played.rules.unplayed) < len(played.rules.all) / 2
