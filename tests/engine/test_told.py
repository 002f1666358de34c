"""Lines of a log: what they cite, and what they keep secret. Prompts: what they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import interpreter as rules
from interpreter.engine.game import Game
from interpreter.engine.log_records import has_sealed
from interpreter.engine.views import prompt_of
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from tests.play.test_hidden import SECRET
from tests.small import loaded, write


def test_the_start_of_a_phase_cites_only_layers_whose_condition_holds() -> None:
    ruleset = rules.load("bsw-baden-wuerttemberg")

    def cited(**settings: str) -> tuple[str, ...]:
        lines = ruleset.new_game(players=3, seed=3, settings=settings).log()
        return next(line.cites for line in lines if line.name == "start of order")

    assert cited() == ("IT-068", "IT-069", "IT-070", "BW-027")
    assert cited(player_order_is_set="after_the_auction") == ("A-35",)


def test_a_prompt_follows_the_state() -> None:
    """GU-130: nobody may decline in round 1, so nobody is told that they may."""
    game = rules.load("germany-2018").new_game(players=3, seed=1)
    assert asked_for(game) == "player 2: put a plant up for auction"
    while game.decision is None or game.decision.name != "nominate" or game.view(None)["round"] == 1:
        assert game.decision is not None
        game.apply(game.decision.options[0])
    assert asked_for(game).endswith(": put a plant up for auction, or take none in this round")


def test_a_prompt_shows_nothing_hidden(tmp_path: Path) -> None:
    sections = 'asks: {say: "{actor}: {amount} and {first(deck).number}"}\n'
    text = "choose say by seats[1]:\n  tell number in 1 .. 3:\n    amount = number\nend game"
    game = loaded(write(tmp_path, text, sections=sections)).new_game(2, seed=1)
    assert asked_for(game, 1) == "player 2: 1 and …"
    assert asked_for(game) != "player 2: 1 and …"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder with a rulebook of one statement, `X-1`."""
    (tmp_path / "small" / "statements").mkdir(parents=True)
    text = "id,statement,kind\nX-1,It is so.,rule\n"
    (tmp_path / "small" / "statements" / "x-book.csv").write_text(text, encoding="utf-8")
    return tmp_path


SEALED = """
choose hide by seats[0], sealed:
  left
  right number in 1 .. 3 cites X-1
choose vote by each s in seats, at once:
  aye:
    amount += 1
  nay
"""


@pytest.mark.parametrize("shows", [False, True])
def test_a_sealed_choice_is_told_by_reveal_alone(shows: bool, book: Path) -> None:
    """What seats choose at once is revealed when all have chosen; that reveals nothing else."""
    game = loaded(write(book, f"{SEALED}{'reveal' if shows else ''}\nend game")).new_game(2, seed=1)
    choices: list[dict[str, Any]] = [{"do": "right", "number": 2}, {"do": "aye"}, {"do": "nay"}]
    for seat, choice in enumerate(choices):
        game.apply(choice, by=max(0, seat - 1))
    told = [line.name for line in game.log(1) if line.kind == "choice"]
    assert [name for name in told if "." in name] == ["vote.nay", "vote.aye"] + ["hide.right"] * shows
    assert has_sealed(game.state.log) != shows


def test_the_line_of_a_sealed_choice_is_the_same_for_each_alternative(book: Path) -> None:
    ruleset = loaded(write(book, f"{SEALED}\nend game"))
    games = [ruleset.new_game(2, seed=1) for _ in range(2)]
    choices: list[dict[str, Any]] = [{"do": "left"}, {"do": "right", "number": 2}]
    for game, choice in zip(games, choices, strict=True):
        game.apply(choice)
    for player in (1, None):
        assert games[0].log(player) == games[1].log(player)
    assert games[0].log(0) != games[1].log(0)


EITHER = """
if mood > 2:
  note said(1)
else:
  note said(1)
choose say by seats[0]:
  tell:
    end game
"""


def test_the_place_of_an_event_tells_no_secret_that_decided_it(tmp_path: Path) -> None:
    """Two places note the same event; a hidden value decides which. Authors read the place, seats do not."""
    ruleset = loaded(write(tmp_path, EITHER, family=SECRET))
    line = next(line for line in ruleset.new_game(2, seed=1).log(0) if line.name == "said")
    assert (line.place, line.rule, line.cites) == ("", "", ())
    assert next(line for line in ruleset.new_game(2, seed=1).log() if line.name == "said").rule == "act"


def test_the_start_of_a_phase_cites_no_layer_with_a_hidden_condition(book: Path) -> None:
    over = """
language: 2
overlay: small/moody
over: [small]
rules:
  act:
    wraps: small
    when: mood > LIMIT
    cites: [X-1]
    does: |
      base()
"""
    (book / "small" / "overlays").mkdir()
    lines = []
    for limit in (2, 4):
        text = over.replace("LIMIT", str(limit))
        (book / "small" / "overlays" / "moody.yaml").write_text(text, encoding="utf-8")
        path = write(book, "choose say by seats[0]:\n  tell:\n    end game", family=SECRET)
        game = load(path, ["moody"], shelf=Shelf([book])).new_game(2, seed=1)
        lines.append([(line.name, line.cites) for line in game.log(0)])
        assert ("X-1" in str(game.log())) == (limit == 2)
    assert lines[0] == lines[1]


def asked_for(game: Game, player: int | None = None) -> str:
    assert game.decision is not None
    return prompt_of(game.table, game.state, game.decision, "en", player)
