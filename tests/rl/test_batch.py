"""Games that are stepped together: in the module and in the plain form they are the same games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpreter.lowering.constants import Endless, RuleFailure

np = pytest.importorskip("numpy", reason="batches need NumPy: pip install 'regelwerk[rl]'")

from interpreter.compiler.wasm.instance import Trap  # noqa: E402
from interpreter.rl import Games, Space, game_batch, make, space_of  # noqa: E402
from interpreter.rl.numbering import HIDDEN, Limits  # noqa: E402
from tests.small import FAMILY, loaded, write  # noqa: E402

CASES = Path(__file__).parents[1] / "cases"
TABLES = [
    ("goofspiel", 3, None),
    ("germany-2018", 3, {0: "sensible", 2: "random"}),
    ("outpost", 3, None),
    (str(CASES / "liars" / "liars.yaml"), 2, None),
    (str(CASES / "cups" / "cups.yaml"), 2, None),
    (str(CASES / "envelopes" / "envelopes.yaml"), 3, None),
    (str(CASES / "fair" / "larger.yaml"), 2, None),
    (str(CASES / "piles" / "stalls.yaml"), 2, None),
    (str(CASES / "storage" / "works.yaml"), 2, None),
    (str(CASES / "traitors" / "traitors.yaml"), 4, None),
]
ARRAYS = ("observations", "masks", "counts", "actors", "rewards", "dones", "truncated")


def same(left: Games, right: Games) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(left, name), getattr(right, name)), name
    for game in range(left.n):
        count = left.counts[game]
        assert list(left.legal[game, :count]) == list(right.legal[game, :count])


@pytest.mark.parametrize("plain", [False, True], ids=["module", "plain"])
@pytest.mark.parametrize("seat", [-1, 3, 33])
def test_only_seats_of_the_table_see_a_game(seat: int, plain: bool) -> None:
    games = make("goofspiel", 3, 2, plain=plain)
    with pytest.raises(ValueError, match=f"there is no seat {seat}; the seats are 0 to 2"):
        games.observe(0, seat)
    with pytest.raises(IndexError):
        games.observe(2, 0)
    assert games.observe(-1, 0) == games.observe(1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "players", "bots"), TABLES, ids=lambda each: Path(each).stem if isinstance(each, str) else None
)
def test_a_module_steps_the_games_of_the_plain_form(name: str, players: int, bots: dict[int, str] | None) -> None:
    module = make(name, players, 3, seed=5, bots=bots)
    plain = make(name, players, 3, seed=5, bots=bots, plain=True)
    assert (module.is_compiled, plain.is_compiled) == (True, False)
    random = np.random.default_rng(1)
    for number in range(120):
        same(module, plain)
        seat = number % players
        assert module.observe(1, seat) == plain.observe(1, seat)
        assert module.state(2).digest() == plain.state(2).digest()
        actions = module.sample(random)
        module.step(actions)
        plain.step(actions)


@pytest.mark.parametrize(
    "limits", [Limits(numbers=2, ranks=2), Limits(block=40, ranks=3)], ids=["few numbers", "small blocks"]
)
def test_options_that_share_an_action_stand_for_the_first_of_them(limits: Limits) -> None:
    module = make("germany-2018", 3, 2, limits=limits)
    plain = make("germany-2018", 3, 2, limits=limits, plain=True)
    random = np.random.default_rng(2)
    for _ in range(120):
        same(module, plain)
        assert module.masks.any(axis=1).all()
        actions = module.sample(random)
        module.step(actions)
        plain.step(actions)


def test_what_the_module_gives_up_the_plain_form_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.rl.batch_module.Batch.is_endless", lambda *_: False)
    module, plain = make("goofspiel", 3, 4), make("goofspiel", 3, 4, plain=True)
    module.batch.put("limit", 7)  # type: ignore[attr-defined]  # more choices trap
    random = np.random.default_rng(3)
    for _ in range(60):
        actions = module.sample(random)
        module.step(actions)
        plain.step(actions)
        same(module, plain)
    assert module.bailouts > 50  # type: ignore[attr-defined]


def test_a_game_that_the_module_gives_up_twice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.rl.batch_module.Batch.is_endless", lambda *_: False)
    games = make("goofspiel", 2, 2, seed=40)
    games.batch.put("limit", 0)  # type: ignore[attr-defined]
    monkeypatch.setattr(games.batch, "resume", _stuck)  # type: ignore[attr-defined]
    with pytest.raises(RuleFailure, match="the game with seed 40 does not fit into a batch"):
        games.step(games.legal[:, 0])


BY_ALL = "for each who in seats:\n  choose act by who:\n    go\n"
BY_A_BOT = "choose first_one by seats[0]:\n  go\nwhile amount > 0:\n  choose act by seats[1]:\n    go\n"
TO_THE_LAST = "if round == 3:\n  end game\n"


@pytest.mark.parametrize("again", [True, False], ids=["again", "once"])
@pytest.mark.parametrize("act", [BY_ALL, BY_A_BOT, BY_ALL + TO_THE_LAST], ids=["all", "a bot", "none"])
def test_a_game_that_does_not_end_is_truncated(
    act: str, again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends without rewards, and the other games of the batch go on."""
    monkeypatch.setattr(game_batch, "MAXIMUM_DECISIONS", 20)
    ruleset = loaded(write(tmp_path, act))
    module, plain = (make(ruleset, 2, 3, bots={1: "random"}, again=again, plain=plain) for plain in (False, True))
    assert module.is_compiled
    cut = 0
    for _ in range(30):
        actions = module.sample(np.random.default_rng(1))
        module.step(actions)
        plain.step(actions)
        same(module, plain)
        assert not module.rewards[module.truncated].any()
        assert module.dones[module.truncated].all()
        cut += int(module.truncated.sum())
    assert (cut > 0) == (TO_THE_LAST not in act)
    assert again == (module.actors >= 0).all()


def test_a_game_that_bots_never_leave_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_batch, "MAXIMUM_DECISIONS", 20)
    ruleset = loaded(write(tmp_path, BY_A_BOT.partition("\n  go\n")[2]))
    for plain in (False, True):
        with pytest.raises(Endless, match="the game with seed 7 has more than"):
            make(ruleset, 2, 3, seed=7, bots={1: "random"}, plain=plain)


def _stuck(game: int) -> None:
    raise Trap("batch_resume")


@pytest.mark.parametrize("plain", [False, True], ids=["module", "plain"])
def test_an_action_that_is_not_legal_changes_nothing(plain: bool) -> None:
    games = make("goofspiel", 2, 2, plain=plain)
    before = games.observations.copy(), games.state(0).digest()
    illegal = int(np.flatnonzero(~games.masks[1])[0])
    with pytest.raises(ValueError, match=rf"game 1: action {illegal} \(play value=.*\) is not legal; 13 actions are"):
        games.step([int(games.legal[0, 0]), illegal])
    with pytest.raises(ValueError, match="game 0: there is no action 999999"):
        games.step([999_999, 0])
    assert np.array_equal(games.observations, before[0])
    assert games.state(0).digest() == before[1]


@pytest.mark.parametrize("plain", [False, True], ids=["module", "plain"])
def test_games_that_are_over_stay_so_where_no_new_one_is_wanted(plain: bool) -> None:
    games = make("goofspiel", 2, 2, again=False, plain=plain)
    random = np.random.default_rng(0)
    ended = np.zeros(2, int)
    total = np.zeros(2)
    for _ in range(40):
        games.step(games.sample(random))
        ended += games.dones
        total += games.rewards.sum(axis=1)
    assert list(ended) == [1, 1]
    assert list(total) == [0, 0]
    assert list(games.actors) == [-1, -1]
    assert not games.masks.any()
    games.reset(seed=9)
    assert games.masks.any()


def test_a_list_of_lists_is_observed_by_its_length(tmp_path: Path) -> None:
    act = "choose say by seats[0]:\n  tell:\n    add [1, 2] to heaps"
    sections = 'state:\n  heaps: {value: list of list of int, start: "[[1], [2, 3]]"}\n'
    ruleset = loaded(write(tmp_path, act, family=FAMILY.replace("state:\n", sections)))
    same(make(ruleset, 2, 2), plain := make(ruleset, 2, 2, plain=True))
    assert 2 in plain.observe(0, 0)


def test_rows_go_on_with_seeds_of_their_own() -> None:
    games = make("goofspiel", 2, 3, seed=10)
    random = np.random.default_rng(0)
    while not games.dones.any():
        games.step(games.sample(random))
    row = int(np.flatnonzero(games.dones)[0])
    assert games.state(row).digest() == games.space.new_game(10 + row + 3).state.digest()


def test_nobody_sees_where_the_cards_of_another_hand_lie() -> None:
    games = make("goofspiel", 2, 1)
    names = [entry.name for entry in games.space.entries]
    hidden = [
        {
            name
            for name, value in zip(names, games.observe(0, seat), strict=True)
            if value == HIDDEN and "bid_card" in name
        }
        for seat in (0, 1)
    ]
    assert len(hidden[0]) == len(hidden[1]) == 13
    assert hidden[0].isdisjoint(hidden[1])


@pytest.fixture(scope="module")
def space() -> Space:
    return space_of("germany-2018", 4)


class TestNumbering:
    def test_every_legal_option_has_an_action_with_its_name(self, space: Space) -> None:
        game = space.new_game(7)
        decision = game.decision
        assert decision is not None
        named = {space.action_name(action): decision.option(code) for action, code in space.legal(decision).items()}
        assert len(named) == len(decision.options)
        assert {name: str(option) for name, option in named.items()} == {name: name for name in named}

    def test_numbers_do_not_depend_on_the_load(self, space: Space) -> None:
        other = space_of("germany-2018", 4)
        assert other.digest == space.digest
        assert space_of("germany-2018", 4, limits=Limits(numbers=50)).digest != space.digest
        assert space_of("germany-2018", 3).digest != space.digest

    def test_blocks_lie_behind_each_other(self, space: Space) -> None:
        at = 0
        for block in space.actions.blocks:
            assert block.first == at
            assert space.actions.block_of(at) is block
            at += block.size
            assert space.actions.block_of(at - 1) is block
        assert at == space.actions.count
        with pytest.raises(ValueError, match="there is no action"):
            space.actions.block_of(at)

    def test_each_entry_of_an_observation_has_a_name_of_its_own(self, space: Space) -> None:
        names = [entry.name for entry in space.entries]
        assert len(names) == space.vector.size == len(set(names))
        seen = space.observe(space.new_game(1), 2)
        assert seen[space.index("seat")] == 2
        assert seen[space.index("money[3]")] == 50

    def test_tables_are_saved(self, space: Space, tmp_path: Path) -> None:
        space.save(tmp_path / "space.json")
        saved = json.loads((tmp_path / "space.json").read_text(encoding="utf-8"))
        assert saved["actions"] == space.actions.count
        assert saved["observation"][0] == "seat"
        assert "offer plant:42 bid:101" in str(space)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "at least one game"),
        ({"bots": {4: "random"}}, "there is no seat 4"),
        ({"bots": {1: "random", 4: "random"}}, "there is no seat 4"),
        ({"bots": {0: "random", 1: "random"}}, "every seat has a bot"),
        ({"bots": {0: "nobody"}}, "unknown bot `nobody`"),
        ({"players": 99}, "players"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make("goofspiel", **{"players": 2, **arguments})  # type: ignore[arg-type]


def test_a_search_plays_in_the_plain_form() -> None:
    games = make("goofspiel", 2, 1, bots={1: "search:2"})
    assert not games.is_compiled
    random = np.random.default_rng(0)
    for _ in range(5):
        games.step(games.sample(random))
    assert list(games.actors) == [0]
