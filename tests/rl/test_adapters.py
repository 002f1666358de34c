"""Games in the interfaces of other libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli

np = pytest.importorskip("numpy", reason="batches need NumPy: pip install 'regelwerk[rl]'")

LIARS = str(Path(__file__).parent.parent / "cases" / "liars" / "liars.yaml")
GAMES = [("goofspiel", 3), ("germany-2018", 4), ("outpost", 4)]


@pytest.fixture(scope="module")
def new_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rulesets")
    result = CliRunner().invoke(cli, ["new", "game", "shells", "--title", "Taking shells", "--in", str(folder)])
    assert result.exit_code == 0, result.output
    return folder / "shells" / "shells.yaml"


def _named(name: str, new_game: Path) -> str:
    return str(new_game) if name == "new game" else name


class TestPettingZoo:
    @pytest.fixture(autouse=True)
    def _there(self) -> None:
        pytest.importorskip("pettingzoo", reason="needs PettingZoo: pip install 'regelwerk[rl]'")

    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "players"), [*GAMES, ("new game", 2)])
    def test_its_own_tests_pass(self, name: str, players: int, new_game: Path) -> None:
        from pettingzoo.test import api_test, seed_test

        from interpreter.rl import GameEnv

        ruleset = _named(name, new_game)
        api_test(GameEnv(ruleset, players, render_mode="ansi"), num_cycles=60)
        seed_test(lambda: GameEnv(ruleset, players), num_cycles=20)

    @pytest.mark.parametrize(("name", "players"), [*GAMES, ("new game", 2)])
    def test_the_board_is_an_image(self, name: str, players: int, new_game: Path) -> None:
        pytest.importorskip("resvg_py", reason="needs resvg: pip install 'regelwerk[png]'")
        pytest.importorskip("PIL", reason="needs Pillow: pip install 'regelwerk[rl]'")
        from interpreter.rl import GameEnv

        env = GameEnv(_named(name, new_game), players, render_mode="rgb_array")
        assert env.render() is None
        env.reset(seed=3)
        image = env.render()
        assert isinstance(image, np.ndarray)
        assert image.dtype == np.uint8
        assert image.shape[2] == 3
        assert min(image.shape[:2]) > 40
        assert len(np.unique(image)) > 5

    @pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
    def test_what_is_drawn_is_public(self, mode: str) -> None:
        pytest.importorskip("resvg_py", reason="needs resvg: pip install 'regelwerk[png]'")
        from interpreter.rl import GameEnv

        drawn = []
        for hidden in (7, 8):
            env = GameEnv(LIARS, 2, render_mode=mode)
            env.reset(seed=hidden)
            assert env.game is not None
            drawn.append((np.asarray(env.render()).tolist(), json.dumps(env.game.view())))
        assert drawn[0][0] == drawn[1][0]
        assert drawn[0][1] != drawn[1][1], "something is hidden"

    def test_rewards_come_with_the_end(self) -> None:
        from interpreter.rl import GameEnv

        env = GameEnv("goofspiel", 2)
        env.reset(seed=1)
        got: dict[str, float] = {}
        random = np.random.default_rng(0)
        for agent in env.agent_iter():
            seen, reward, over, _, _ = env.last()
            got[agent] = got.get(agent, 0) + reward
            assert (seen["observation"][2] == env.possible_agents.index(agent)) or over
            env.step(None if over else int(random.choice(np.flatnonzero(seen["action_mask"]))))
        assert sorted(got.values()) in ([-1, 1], [0, 0])

    def test_bad_input_is_refused(self) -> None:
        from interpreter.rl import GameEnv

        with pytest.raises(ValueError, match="render_mode: got 'human'"):
            GameEnv("goofspiel", render_mode="human")
        env = GameEnv("goofspiel", 2)
        env.reset(seed=1)
        with pytest.raises(ValueError, match=r"player_0: action 0 \(play value=0\) is not legal"):
            env.step(0)


class TestGymnasium:
    @pytest.fixture(autouse=True)
    def _there(self) -> None:
        pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'regelwerk[rl]'")

    @pytest.mark.parametrize("plain", [False, True], ids=["module", "plain"])
    def test_one_seat_plays_against_bots(self, plain: bool) -> None:
        from interpreter.rl import SeatEnv

        env = SeatEnv("goofspiel", 3, 6, seat=1, bots="sensible", plain=plain)
        seen, infos = env.reset(seed=4)
        random = np.random.default_rng(0)
        ends, rewards = 0, []
        for _ in range(60):
            assert seen in env.observation_space
            assert (seen[:, 0] == 1).all()
            actions = [random.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in infos["action_mask"]]
            before = env._over.copy()
            seen, reward, terminated, truncated, infos = env.step(actions)
            assert not (before & terminated).any()
            assert not truncated.any()
            assert (reward[~terminated] == 0).all()
            ends += int(terminated.sum())
            rewards += list(reward[terminated])
        assert ends > 12
        assert set(rewards) <= {-1, -0.5, 0, 0.5, 1}
        env.close()

    def test_module_and_plain_form_play_the_same_games(self) -> None:
        from interpreter.rl import SeatEnv

        envs = [SeatEnv("goofspiel", 2, 3, bots={1: "bench"}, plain=plain) for plain in (False, True)]
        seen = [env.reset(seed=9) for env in envs]
        random = np.random.default_rng(0)
        for _ in range(40):
            masks = seen[0][1]["action_mask"]
            assert np.array_equal(masks, seen[1][1]["action_mask"])
            assert np.array_equal(seen[0][0], seen[1][0])
            actions = [random.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks]
            steps = [env.step(actions) for env in envs]
            seen = [(step[0], step[-1]) for step in steps]

    def test_bad_input_is_refused(self) -> None:
        from interpreter.rl import SeatEnv

        with pytest.raises(ValueError, match="there is no seat 5"):
            SeatEnv("goofspiel", 2, 1, seat=5)
        with pytest.raises(ValueError, match=r"want one for each of the seats \[1, 2\]"):
            SeatEnv("goofspiel", 3, 1, bots={1: "random"})
