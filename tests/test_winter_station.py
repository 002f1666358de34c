"""What the seats of the example Winter Station see is what an oracle, written beside the rules, says that they know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.hidden_reads import peeks_of
from interpreter.bots.registry import bots_of, policies_for
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.play.match import Match

GAME = Path(__file__).parents[1] / "docs" / "examples" / "winter-station" / "winter-station" / "winter-station.yaml"


@pytest.fixture(scope="module")
def station() -> Ruleset:
    return load(GAME)


def _badges(game: Game, viewer: int | None) -> list[Any]:
    return [seat["badge"] for seat in game.view(player=viewer)["seats"]]


def _known(badges: list[str], shown: set[tuple[int, int]], viewer: int) -> set[int]:
    """Return the seats whose badges the viewer knows: its own, those shown to it, a friend's, a neighbour's."""
    known = {viewer} | {owner for looker, owner in shown if looker == viewer}
    if badges[viewer] == "plotter":
        known |= {owner for owner, badge in enumerate(badges) if badge == "plotter"}
    if badges[viewer] == "medic":
        known.add((viewer + 1) % len(badges))
    return known


@pytest.mark.parametrize("players", [5, 6, 7, 8])
@pytest.mark.parametrize("bot", ["random", "greedy"])
def test_seats_see_what_they_know(station: Ruleset, players: int, bot: str) -> None:
    sights = 0
    for seed in range(4):
        match = Match(station, bots_of(bot, station, players), seed=seed)
        dealt = [badge for (badge,) in _badges(match.game, None)]
        shown = set[tuple[int, int]]()
        going = True
        while going:
            going = match.step()
            lines = [line for line in match.game.log() if line.name == "questioned"]
            shown = {(line.values["looker"], line.values["who"]) for line in lines}
            for viewer in range(players):
                known = _known(dealt, shown, viewer) if not match.game.is_over else set(range(players))
                seen = [[dealt[owner]] if owner in known else {"count": 1} for owner in range(players)]
                assert _badges(match.game, viewer) == seen, (seed, viewer)
            sights += len(shown)
        assert match.game.is_over
    assert sights > 0


def test_greedy_reads_what_its_seat_knows(station: Ruleset) -> None:
    """So it plays in the module, without a guess of what is hidden."""
    policy = policies_for(station)["greedy"]
    asks = [terminator.ask for _, terminator in station.program.asks.values()]
    assert {ask.name for ask in asks} == set(policy.decisions)
    assert not [ask.name for ask in asks if peeks_of(station.model, policy, ask)]
