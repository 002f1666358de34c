"""Recorded games replay step by step: equal actors, legal choices (but for what `differs` lists) and states."""

from __future__ import annotations

from pathlib import Path

import pytest

import interpreter
from tests.games import recorded

RULESETS = ["germany-2018", "usa-2018", "germany-2004", "usa-2004"]
PATHS = [(ruleset, path) for ruleset in RULESETS for path in recorded.recorded(ruleset)]

pytestmark = pytest.mark.skipif(not PATHS, reason="REGELWERK_GAMES names no folder of recorded games")


@pytest.mark.slow
@pytest.mark.parametrize(("ruleset", "path"), PATHS, ids=[path.name.split(".")[0] for _, path in PATHS])
def test_a_recorded_game_replays(ruleset: str, path: Path) -> None:
    recording = recorded.read(path)
    game = recorded.begin(interpreter.load(ruleset), recording)
    differs = {entry["step"] for entry in recording["differs"]}
    for step in recorded.steps(recording):
        where = f"step {step['i']}: {step['move']}"
        assert game.decision is not None, where
        assert game.decision.actor == step["player"], where
        if step["i"] not in differs:
            assert recorded.legal(game) == recorded.told_legal(step["legal"]), where
        for choice in recorded.choices(step["move"]):
            game.apply(choice)
        assert recorded.state(game) == recorded.told(step["state"]), where


def test_all_recorded_chance_is_used() -> None:
    """What the recording says chance brought is what the game asked of chance."""
    ruleset, path = PATHS[0]
    recording = recorded.read(path)
    game = recorded.begin(interpreter.load(ruleset), recording)
    for step in recorded.steps(recording):
        for choice in recorded.choices(step["move"]):
            game.apply(choice)
    assert game.unused_chance() == []
