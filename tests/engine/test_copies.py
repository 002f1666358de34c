"""Copies of a card: one printed row, several cards that are called the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.planless import RandomBot
from interpreter.engine.game import Game, Ruleset
from interpreter.kernel.chance import Scripted
from interpreter.play.game_records import Recorder, read_saved_game, replay_game
from interpreter.play.match import Match
from tests.small import FAMILY, examined, loaded, outcome, write

pytestmark = pytest.mark.usefixtures("at_once")

COPIED = FAMILY.replace(
    """      number
      1
      2
      3
      4
""",
    """      number | copies
      1      | 3
      2      | 2
      3      | 1
""",
).replace("events:\n", 'events:\n  laid: {with: {who: seat, card: plan}, says: "{who} lays {card}"}\n')

ACT = """
    shuffle deck
    for each who in seats:
      move take(2, deck) to who.hand
    for each who in seats:
      while count(who.hand) > 0:
        choose lay by who:
          lay card in who.hand:
            move card to pile
            note laid(who, card)
            who.score += card.number
    end game
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> Ruleset:
    return loaded(write(tmp_path, ACT, family=COPIED))


def _begun(ruleset: Ruleset, *, plain: bool = False) -> Game:
    ruleset.table(2, ruleset.settings({})).runner.plain = plain
    return ruleset.new_game(2, chance=Scripted({"deck": [[1, 1, 2, 1]]}))


def test_each_copy_is_a_card_of_its_own_and_all_are_called_by_the_key(ruleset: Ruleset) -> None:
    game = _begun(ruleset)
    assert len(ruleset.model.cards) == 6
    assert game.value("count(plan)") == 6
    assert game.view(player=0)["seats"][0]["hand"] == [1, 1]
    assert game.view(player=1)["seats"][1]["hand"] == [2, 1] or game.view(player=1)["seats"][1]["hand"] == [1, 2]


@pytest.mark.parametrize("plain", [True, False])
def test_a_choice_by_the_key_takes_one_copy(ruleset: Ruleset, plain: bool) -> None:
    game = _begun(ruleset, plain=plain)
    game.apply({"do": "lay", "card": 1})
    assert game.view()["pile"] == [1]
    game.apply({"do": "lay", "card": 1})
    assert game.view()["pile"] == [1, 1]
    game.apply({"do": "lay", "card": 1})
    game.apply({"do": "lay", "card": 2})
    assert [line.text for line in game.log() if line.name == "laid"] == [
        "player 1 lays 1",
        "player 1 lays 1",
        "player 2 lays 1",
        "player 2 lays 2",
    ]
    assert game.result is not None
    assert [keys[0] for keys in game.result.keys] == [2, 3]
    assert game.check() == []


def test_both_forms_play_alike(tmp_path: Path) -> None:
    assert outcome(write(tmp_path, ACT, family=COPIED)) == "plays"


def test_a_kept_game_is_played_again(tmp_path: Path, ruleset: Ruleset) -> None:
    for seed in range(8):
        lines: list[str] = []
        recorder = Recorder(lines.append)
        match = Match(ruleset, [RandomBot()] * 2, seed, {}, watchers=[recorder])
        recorder.begin(match.game, ["random", "random"])
        match.play()
        recorder.finish(match.game)
        again = replay_game(ruleset, read_saved_game("".join(lines), tmp_path / "game.jsonl"))
        assert again.digest() == match.game.digest()


def test_no_more_copies_can_be_named_than_there_are(ruleset: Ruleset) -> None:
    with pytest.raises(Exception, match="named more often than it occurs"):
        ruleset.new_game(2, chance=Scripted({"deck": [[2, 2, 2]]}))


def _told(tmp_path: Path, act: str, **more: Any) -> list[str]:
    return [f"{each.code} {each.message}" for each in examined(write(tmp_path, act, family=COPIED, **more)).errors]


def test_a_key_alone_names_no_copy_and_ends_no_tie(tmp_path: Path) -> None:
    assert _told(tmp_path, "amount = 2 if 1 in deck else 3\nend game") == ["E303 1 is the key of 3 copies"]
    assert _told(tmp_path, "amount = 2 if 3 in deck else 3\nend game") == []
    tied = "move first(sorted(p in deck by p.number)) to pile\nend game"
    assert _told(tmp_path, tied) == ["E409 these keys can leave a tie open"]
    assert _told(tmp_path, tied.replace("p.number)", "p.number, p)")) == []


def test_a_later_file_changes_all_copies(tmp_path: Path) -> None:
    family = COPIED.replace("has: {number: int}", "has: {number: int, worth: int}")
    family = family.replace("| copies", "| copies | worth").replace("| 3\n", "| 3 | 5\n").replace("| 2\n", "| 2 | 5\n")
    family = family.replace("      3      | 1\n", "      3      | 1 | 5\n")
    path = write(tmp_path, "end game", family=family)
    isles = path.parent / "maps/isles.yaml"
    amended = 'cards: {plan: {amends: small, cells: {"1, worth": 9}}}\n'
    isles.write_text(isles.read_text(encoding="utf-8") + amended, encoding="utf-8")
    assert loaded(path).new_game(2).value("sum(p.worth for p in plan)") == 3 * 9 + 3 * 5
