"""What a seat knows: things that rules show, choices that stay sealed, disclosures, and the end of the game."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.diagnostics import render
from interpreter.bots.player import Stream
from interpreter.bots.registry import bots_of
from interpreter.cli.outlets import CHANNELS
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from interpreter.testing.rules_in_play import RulesInPlay
from interpreter.testing.verify import verify
from tests.small import FAMILY, examined, write

OPEN = ("view", "boards", "picture")
TRAITORS = Path(__file__).parents[1] / "cases" / "traitors" / "traitors.yaml"


@pytest.fixture(scope="module")
def ruleset() -> Ruleset:
    return load("traitors", shelf=shelf_for(TRAITORS))


def game_of(ruleset: Ruleset, bad: tuple[int, ...] = (1, 3), seed: int = 4) -> Game:
    others = [seat for seat in range(4) if seat not in bad]
    return ruleset.new_game(4, seed, chance={"roles": [*bad, *others]})


def badges(game: Game, player: int | None) -> list[Any]:
    return [seat["badge"] for seat in game.view(player)["seats"]]


def cellars(game: Game, player: int) -> dict[str, Any]:
    return {row["house"]: row["holds"] for row in game.view(player)["house.cellar"]}


def worlds(game: Game, seat: int, number: int = 20) -> list[Game]:
    dealer, stream = Worlds(game, seat), Stream(1, "worlds")
    return [dealer.deal(each, stream.below) for each in range(number)]


def test_friends_know_each_other_and_nobody_else_does(ruleset: Ruleset) -> None:
    game = game_of(ruleset)
    assert badges(game, 1) == ["…", "traitor", "…", "traitor"] == badges(game, 3)
    assert badges(game, 0) == ["loyal", "…", "…", "…"]
    assert game.value("seats[3].badge == traitor", player=1)
    with pytest.raises(ValueError, match="looks at what player 0 may not see"):
        game.value("seats[3].badge", player=0)


def test_the_length_of_a_hidden_list_is_hidden_too(ruleset: Ruleset) -> None:
    """Otherwise it would tell the traitors, through any channel."""
    game = game_of(ruleset)
    assert [seat["friends"] for seat in game.view()["seats"]] == [[], [3], [], [1]]
    assert [seat["friends"] for seat in game.view(0)["seats"]] == [[], "…", "…", "…"]
    assert game.value("count(seats[0].friends)", player=0) == 0
    for text in ("count(seats[1].friends)", "seats[2].friends == []", "first(seats[3].friends) == none"):
        with pytest.raises(ValueError, match="looks at what player 0 may not see"):
            game.value(text, player=0)
    for bad in ((1, 2), (2, 3)):
        other = game_of(ruleset, bad)
        assert {name for name, channel in CHANNELS.items() if channel(game, 0) != channel(other, 0)} == set()


def test_a_length_that_is_hidden_is_guessed(ruleset: Ruleset) -> None:
    game = game_of(ruleset)
    guessed = [[len(row["friends"]) for row in world.view()["seats"]] for world in worlds(game, 1)]
    assert {mine for _, mine, *_ in guessed} == {1}
    assert len({last for *_, last in guessed}) > 1


def test_the_keeper_of_a_house_looks_into_its_cellar(ruleset: Ruleset) -> None:
    game = game_of(ruleset)
    mine = cellars(game, 0)
    assert len(mine["A1"]) == 2
    assert mine["B1"] == mine["C1"] == {"count": 2}
    game.apply({"do": "move", "to": "C1"})
    after = cellars(game, 0)
    assert (after["A1"], after["B1"]) == ({"count": 2}, {"count": 2})
    assert len(after["C1"]) == 2


def test_a_seat_remembers_what_it_saw(ruleset: Ruleset) -> None:
    """Cards where it looked before, and values as it saw them last; the others are dealt anew."""
    game = game_of(ruleset)
    first = cellars(game, 0)["A1"]
    game.apply({"do": "move", "to": "C1"})
    game.apply({"do": "freeze"})
    assert badges(game, 1) == ["…", "traitor", "…", "…"]
    for world in worlds(game, 0):
        assert cellars(world, 0) == cellars(game, 0)
        assert world.view()["house.cellar"][0]["holds"] == first
    assert {badges(world, None)[3] for world in worlds(game, 1)} == {"traitor"}
    assert {badges(world, None)[0] for world in worlds(game, 1)} == {"traitor", "loyal"}


@pytest.mark.parametrize("seat", range(4))
def test_rules_show_the_same_in_all_worlds(ruleset: Ruleset, seat: int) -> None:
    game = game_of(ruleset)
    for world in worlds(game, seat):
        assert world.view(seat) == game.view(seat)
    if seat in (1, 3):
        assert {tuple(badges(world, None)) for world in worlds(game, seat)} == {
            ("loyal", "traitor", "loyal", "traitor")
        }


def test_at_the_end_everything_is_visible_but_what_was_sealed(ruleset: Ruleset) -> None:
    """In every channel; the log stays as it was."""
    game, votes = game_of(ruleset), ("aye", "nay", "aye", "nay")
    while game.decision is not None:
        for by, vote in enumerate(votes) if game.decision.name == "vote" else [(None, "stay")]:
            game.apply({"do": vote}, by)
    shown = game.view()
    assert [shown["ayes"], *badges(game, None)] == [2, "loyal", "traitor", "loyal", "traitor"]
    for seat in range(4):
        assert game.view(seat) == shown
        assert game.value("ayes + count(deck)", player=seat) == game.value("ayes + count(deck)")
        votes_read = [line.name for line in game.log(seat) if line.name.startswith("vote")]
        assert votes_read.count("vote") == 3 * len(votes_read) // 4 == 12
    drawn = {name: [channel(game, seat) for seat in range(4)] for name, channel in CHANNELS.items() if name in OPEN}
    assert all(left == right for same in drawn.values() for left, right in itertools.pairwise(same))


@pytest.mark.parametrize("bot", ["friendly", "counting", "search:20:random"])
def test_what_rules_hide_makes_no_difference_to_a_bot(ruleset: Ruleset, bot: str) -> None:
    """A loyal seat accuses, and guesses."""
    found = []
    for bad in ((0, 3), (2, 3), (0, 2)):
        game = game_of(ruleset, bad)
        for choice in ("stay", "stay", "stay", "stay", "aye", "aye", "aye", "nay"):
            assert game.decision is not None
            game.apply({"do": choice})
        assert game.decision is not None
        assert (game.decision.name, game.decision.actor) == ("accuse", 1)
        player = bots_of(bot, ruleset, 4)[1]
        found.append([str(player.choose(game, game.decision, Stream(seed, "test"))) for seed in range(8)])
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) > 1


def test_rules_that_only_say_who_sees_what_are_in_play(ruleset: Ruleset) -> None:
    game, rules = ruleset.new_game(4, 4), RulesInPlay()
    for choice in ("stay", "stay", "stay", "stay", "aye", "aye", "aye", "nay"):
        game.apply({"do": choice})
    assert rules.repeat(game)
    assert {"knows", "keeps"} & {*rules.all} - {*rules.unplayed} == {"knows", "keeps"}


WRONG = {
    "seen: by nobody_knows": "E301 unknown condition among the rules `nobody_knows`",
    "seen: by near": "E301 unknown condition among the rules `near`",
    "count: shown": "E401 got int, want a list or a set: only these have hidden items that can be counted",
    "seen: by hears": "E401 `hears` takes (seat), want (seat, seat): the seat that looks, and what `secret` belongs to",
}
RULES = """
near(who) -> int: who.score
hears(who) -> bool: who.score > 1
"""


@pytest.mark.parametrize("seen", WRONG)
def test_a_rule_that_says_who_sees_takes_the_seat_and_the_owner(seen: str, tmp_path: Path) -> None:
    family = FAMILY.replace("    score: {", f"    secret: {{value: int, start: 0, {seen}}}\n    score: {{")
    found = examined(write(tmp_path, "end game", RULES, family=family)).errors
    assert WRONG[seen] in "".join(map(render, found))


def test_what_a_rule_discloses_is_something_hidden(tmp_path: Path) -> None:
    rules = "told():\n  discloses: [hand, dek]\n  does: |\n    note said(first(deck).number)\n"
    found = examined(write(tmp_path, "told()", rules)).errors
    assert "unknown zone, pool, value or decision `dek`; did you mean `deck`?" in "".join(map(render, found))


@pytest.mark.parametrize(
    ("declared", "told"),
    [("[ayes, badge, vote]", set()), ("[ayes]", {"badge", "vote"}), ("[]", {"ayes", "badge", "vote"})],
)
def test_verify_names_what_no_rule_discloses(declared: str, told: set[str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TRAITORS.parent, tmp_path / "traitors"))
    family = folder / "family.yaml"
    family.write_text(family.read_text(encoding="utf-8").replace("[ayes, badge, vote]", declared), encoding="utf-8")
    found = list(verify(load("traitors", shelf=shelf_for(folder / "traitors.yaml")), 5, 24, channels=CHANNELS))
    assert {finding.trouble.kind for finding in found} <= {"told"}
    named = {
        name for finding in found for name in re.findall(r"`(\w+)`", finding.trouble.message.partition("hidden:")[2])
    }
    assert (named == told) if not told else (named and named <= told)
