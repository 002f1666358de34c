"""Games in OpenSpiel, by its own tests."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="needs NumPy: pip install 'regelwerk[spiel]'")
pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'regelwerk[spiel]'")

from interpreter.rl import register  # noqa: E402


def game(**params: Any) -> Any:
    return pyspiel.load_game(register(), params)


@pytest.mark.parametrize(
    ("ruleset", "players", "games"), [("goofspiel", 2, 3), ("goofspiel", 3, 1), ("germany-2018", 2, 1)]
)
def test_its_random_simulation_passes(ruleset: str, players: int, games: int) -> None:
    serialize = ruleset == "goofspiel"  # each state is saved and loaded, which takes a minute for a long game
    pyspiel.random_sim_test(game(ruleset=ruleset, players=players), num_sims=games, serialize=serialize, verbose=False)


def test_a_playthrough_can_be_made_again() -> None:
    from open_spiel.python.algorithms import generate_playthrough

    register()
    name = "regelwerk(ruleset=goofspiel,players=2)"
    text = generate_playthrough.playthrough(name, [5], seed=1)
    assert generate_playthrough.playthrough(name, None, seed=1) != ""
    assert text == generate_playthrough.playthrough(name, [5], seed=1)
    assert "IsTerminal() = True" in text
    assert '"play value=' in text


def played(ruleset: str, decisions: int, **params: Any) -> Any:
    """A state after so many choices by ISMCTS on all seats."""
    from open_spiel.python.algorithms import ismcts, mcts

    made = game(ruleset=ruleset, **params)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    bot = ismcts.ISMCTSBot(
        made,
        evaluator,
        uct_c=2.0,
        max_simulations=4,
        random_state=np.random.RandomState(1),
        use_observation_string=True,
    )
    state = made.new_initial_state()
    state.apply_action(7)
    for _ in range(decisions):
        if state.is_terminal():
            break
        state.apply_action(bot.step(state))
    return state


def test_its_ismcts_plays() -> None:
    state = played("goofspiel", 100, players=2)
    assert state.is_terminal()
    assert sum(state.returns()) == 0
    state = played("germany-2018", 3, players=2, settings="regions=yellow,red,brown")
    assert not state.is_terminal()
    assert len(state.history()) == 4


def test_a_resampled_state_looks_the_same_to_its_player() -> None:
    state = game(ruleset="goofspiel", players=3).new_initial_state()
    state.apply_action(3)
    for _ in range(4):
        state.apply_action(state.legal_actions()[0])
    random = np.random.RandomState(2)
    player = state.current_player()
    worlds = [state.resample_from_infostate(player, random.random_sample) for _ in range(6)]
    assert {world.observation_string(player) for world in worlds} == {state.observation_string(player)}
    assert len({str(world) for world in worlds}) > 1
    for world in worlds:
        assert world.legal_actions() == state.legal_actions()


def test_clones_go_ways_of_their_own() -> None:
    state = game(ruleset="goofspiel", players=2).new_initial_state()
    state.apply_action(3)
    copy = state.clone()
    copy.apply_action(copy.legal_actions()[0])
    assert copy.current_player() != state.current_player()
    assert len(state.history()) == 1
