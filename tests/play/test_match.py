"""Games by bots: watched, kept, played again, simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interpreter.bots.registry import bots_of
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.wasm import module
from interpreter.compiler.wasm.turn import Order
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import BoardTable, Line
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Difference, Recorder, read_saved_game, replay_game, write_log
from interpreter.play.match import Match
from interpreter.play.narration import Narrator
from interpreter.reading.compose import ALLOW_UNDEFINED
from interpreter.simulate.simulation import simulate
from interpreter.simulate.summary import summary
from tests.play.toy import ROOT


def told(ruleset: Ruleset, spec: str, players: int, seed: int) -> list[Line | BoardTable]:
    found: list[Line | BoardTable] = []
    Match(ruleset, bots_of(spec, ruleset, players), seed, watchers=[Narrator(found.append)]).play()
    return found


def recorded(ruleset: Ruleset, spec: str, players: int, seed: int) -> str:
    lines: list[str] = []
    recorder = Recorder(lines.append)
    match = Match(ruleset, bots_of(spec, ruleset, players), seed, watchers=[recorder])
    recorder.begin(match.game, [bot.name for bot in match.bots])
    match.play()
    recorder.finish(match.game)
    return "".join(lines)


@pytest.mark.usefixtures("at_once")
def test_one_module_is_made_for_all_bots_of_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, ...]] = []
    make = module._made

    def counted(order: Order, builder: ModuleBuilder, first: bytes) -> module.Made:
        made.append(tuple(player.policy.name for player in order.players if player.policy is not None))
        return make(order, builder, first)

    monkeypatch.setattr(module, "_made", counted)
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    ruleset = load(ROOT / "pebbles" / "pebbles.yaml")
    assert Match(ruleset, bots_of("eager,random,modest", ruleset, 3), 1).play() is not None
    assert made == [("eager", "modest")]


def test_prompts_stand_before_the_choices_that_answer_them() -> None:
    ruleset = load("germany-2018")
    entries: list[Line | BoardTable] = []
    match = Match(ruleset, bots_of("greedy", ruleset, 3), 7, watchers=[Narrator(entries.append, prompts=True)])
    while len(entries) < 40 and match.step():
        pass
    texts = [entry.text for entry in entries if entry.text]
    at = next(number for number, text in enumerate(texts) if ": bid more than" in text)
    who = texts[at].partition(":")[0]
    assert texts[at].endswith(", or pass")
    assert texts[at + 1].startswith(f"{who} ")


def test_boards_stand_at_their_moment(pebbles: Ruleset) -> None:
    boards = [entry for entry in told(pebbles, "eager", 3, 1) if isinstance(entry, BoardTable)]
    assert [board.text for board in boards] == ["Round 1", "Round 2", ""]
    assert [board.rows for board in boards[:2]] == [(("9", "6"),), (("0", "6"),)]
    assert boards[-1].columns == ("player", "pebbles")


def test_each_line_of_the_log_is_told_once(pebbles: Ruleset) -> None:
    entries: list[Line | BoardTable] = []
    match = Match(pebbles, bots_of("random", pebbles, 2), 4, watchers=[Narrator(entries.append)])
    match.play()
    assert [entry.text for entry in entries if isinstance(entry, Line)] == [line.text for line in match.game.log()]


def test_a_copy_that_a_bot_plays_on_is_not_told(pebbles: Ruleset) -> None:
    entries: list[Line | BoardTable] = []
    match = Match(pebbles, bots_of("eager", pebbles, 2), 1, watchers=[Narrator(entries.append)])
    before = len(entries)
    copy = match.game.clone()
    while copy.decision is not None:
        copy.apply(copy.decision.options[0])
    assert len(entries) == before


def test_a_kept_game_is_played_again(pebbles: Ruleset) -> None:
    text = recorded(pebbles, "random", 3, 9)
    kept = read_saved_game(text)
    assert kept.header["bots"] == ["random"] * 3
    assert kept.header["settings"] == {"last_pebble": "stays"}
    game = replay_game(pebbles, kept)
    assert game.result is not None
    assert kept.end == {"places": list(game.result.places), "digest": game.digest()}


def test_a_game_without_a_recorder_is_kept_the_same(pebbles: Ruleset) -> None:
    match = Match(pebbles, bots_of("random", pebbles, 3), 9)
    match.play()
    lines: list[str] = []
    write_log(match.game, lines.append)
    assert lines[1:] == recorded(pebbles, "random", 3, 9).splitlines(keepends=True)[1:]


def test_the_state_after_some_choices(pebbles: Ruleset) -> None:
    kept = read_saved_game(recorded(pebbles, "modest", 2, 1))
    assert len(replay_game(pebbles, kept, 3).choices) == 3


def _edited(text: str, place: int, /, **changes: object) -> str:
    lines = text.splitlines()
    lines[place] = json.dumps({**json.loads(lines[place]), **changes})
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("number", "changes", "message"),
    [
        (2, {"number": 9}, "`pull` is refused"),
        (3, {"by": 7}, "seat 7 decides"),
        (4, {"decision": "drew"}, "in the saved game seat 0 decides `drew`"),
        (10, {"digest": "0"}, "the state after it differs from the saved game"),
    ],
)
def test_a_difference_is_found_where_it_is(
    pebbles: Ruleset, number: int, changes: dict[str, object], message: str
) -> None:
    text = _edited(recorded(pebbles, "modest", 2, 1), number, **changes)
    with pytest.raises(Difference, match=message) as caught:
        replay_game(pebbles, read_saved_game(text))
    assert caught.value.number == number


def test_a_changed_end_is_found(pebbles: Ruleset) -> None:
    text = recorded(pebbles, "modest", 2, 1)
    last = len(text.splitlines()) - 1
    with pytest.raises(Difference, match="the places are"):
        replay_game(pebbles, read_saved_game(_edited(text, last, places=[2, 2])))
    with pytest.raises(Difference, match="the last state differs from the saved game"):
        replay_game(pebbles, read_saved_game(_edited(text, last, digest="0")))
    shorter = "\n".join(line for place, line in enumerate(text.splitlines()) if place != last - 1)
    with pytest.raises(Difference, match="ends after it; this one goes on"):
        replay_game(pebbles, read_saved_game(shorter))


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", '{"log": 1}', '{"log": 99, "ruleset": "x"}'])
def test_other_files_are_no_kept_games(text: str) -> None:
    with pytest.raises(ValueError, match="saved game"):
        read_saved_game(text)


@pytest.mark.parametrize("bots", [5, "greedy", [5]])
def test_a_log_with_bots_that_are_no_names_is_refused(pebbles: Ruleset, bots: object) -> None:
    text = _edited(recorded(pebbles, "modest", 2, 1), 0, bots=bots)
    with pytest.raises(ValueError, match="this is not a saved game of version 1"):
        read_saved_game(text)


def test_a_decision_of_a_seat_that_nobody_plays_is_a_failure() -> None:
    ruleset = load("usa-2018", ("robots", "start-cities", ALLOW_UNDEFINED))
    with pytest.raises(RuleFailure, match="`mark_start` asks player 3, whom nobody plays"):
        Match(ruleset, bots_of("random", ruleset, 2)).play()


def test_games_in_numbers(pebbles: Ruleset) -> None:
    bots = bots_of("eager,random", pebbles, 2)
    rows = list(simulate(pebbles, bots, 20, seed=5))
    found: Any = summary(pebbles, ["eager", "random"], rows)
    assert found["games"] == 20
    assert found["decisions"] == sum(row.decisions for row in rows) >= found["free_decisions"] > 0
    assert found["rounds"]["min"] <= found["rounds"]["mean"] <= found["rounds"]["max"]
    assert sum(seat["share"] for seat in found["seats"]) == pytest.approx(1)
    assert found["seats"][0]["wins"] > found["seats"][1]["wins"]
    assert list(found["seats"][0]["keys"]) == ["count(who.taken)", "taken[black]"]
    means = [seat["mean"] for seat in found["measures"]["pebbles"]]
    assert means == [seat["keys"]["count(who.taken)"] for seat in found["seats"]]
    assert sum(means) == 14
    assert found["measures"]["rounds"] == found["rounds"]


def test_a_game_of_a_simulation_can_be_played_alone(pebbles: Ruleset) -> None:
    row = list(simulate(pebbles, bots_of("random", pebbles, 3), 4, seed=10))[3]
    match = Match(pebbles, bots_of("random", pebbles, 3), 13)
    result = match.play()
    assert result is not None
    assert (row.seed, row.decisions, row.places) == (13, match.decisions, result.places)


def test_settings_reach_the_games(pebbles: Ruleset) -> None:
    bots = bots_of("modest", pebbles, 2)
    rows = list(simulate(pebbles, bots, 2, settings={"last_pebble": "goes"}))
    assert [row.decisions for row in rows] == [15, 15]


def _play_first(game: Game, choices: int) -> None:
    for _ in range(choices):
        assert game.decision is not None
        game.apply(game.decision.options[0])


def test_a_match_goes_on_with_a_game(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    _play_first(game, 2)
    entries: list[Line | BoardTable] = []
    match = Match(pebbles, bots_of("eager", pebbles, 2), 1, watchers=[Narrator(entries.append)], game=game)
    assert match.play() == game.result
    assert isinstance(entries[-1], BoardTable)
