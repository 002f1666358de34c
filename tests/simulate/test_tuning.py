"""Weights of policies, improved by games."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.simulate.tuning import Estimate, Generation, Question, TunedWeights, diff_of, judged, tuned, win_shares

RULESETS = Path(__file__).parents[2] / "rulesets"


def _valley(wanted: Sequence[tuple[Mapping[str, int], Sequence[int]]]) -> list[list[float]]:
    """Shares that are best at 40 and 7."""
    return [[1 / (1 + ((w["far"] - 40) / 10) ** 2 + (w["near"] - 7) ** 2)] for w, _ in wanted]


def test_the_search_finds_better_weights() -> None:
    pytest.importorskip("cma", reason="tuning needs cma: pip install 'regelwerk[tune]'")
    told: list[Generation] = []
    found = tuned({"far": 20, "near": 2}, _valley, seed=1, games=1, generations=40, population=8, report=told.append)
    assert found.before == {"far": 20, "near": 2}
    assert abs(found.after["far"] - 40) <= 3
    assert abs(found.after["near"] - 7) <= 1
    assert told[0].number == 1
    assert told[-1].best > told[0].best


def test_one_weight_is_enough_and_none_goes_below_zero() -> None:
    pytest.importorskip("cma", reason="tuning needs cma: pip install 'regelwerk[tune]'")

    def less(wanted: Sequence[tuple[Mapping[str, int], Sequence[int]]]) -> list[list[float]]:
        assert all(weights["only"] >= 0 for weights, _ in wanted)
        return [[-float(weights["only"])] for weights, _ in wanted]

    found = tuned({"only": 3}, less, seed=2, games=1, generations=12, population=6, report=lambda _: None)
    assert found.after["only"] == 0


QUESTION = Question("goofspiel", (), 2, "sensible", "bench")


def test_each_seed_is_played_on_every_seat() -> None:
    shares = win_shares(QUESTION, {"more": 2}, range(20))
    assert len(shares) == 40
    assert set(shares) <= {0.0, 0.5, 1.0}
    assert win_shares(QUESTION, {"more": 2}, range(20)) == shares
    assert win_shares(QUESTION, {"more": 9}, range(20)) != shares


@pytest.mark.slow
def test_weights_that_make_a_rule_fail_lose_all_games() -> None:
    outpost = Question("outpost", (), 3, "sensible", "sensible")
    assert win_shares(outpost, {"house_price": 0}, range(70, 73)) == [0.0] * 9


def test_before_and_after_are_compared_game_by_game() -> None:
    found = TunedWeights({"more": 2}, {"more": 2})
    at_once = lambda wanted: [win_shares(QUESTION, weights, seeds) for weights, seeds in wanted]  # noqa: E731
    judgement = judged(QUESTION, found, range(30), at_once)
    assert judgement.games == 60
    assert judgement.before == judgement.after
    assert judgement.difference == Estimate(0, 0, 0)
    assert not judgement.is_better


def test_the_diff_changes_weights_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sensible.yaml"
    path.write_text("weights:\n  far: 20    # so far\n  near: 2\n\nrules:\n  far: 20\n", encoding="utf-8")
    after, diff = diff_of(path, TunedWeights({"far": 20, "near": 2}, {"far": 9, "near": 12}))
    assert after == "weights:\n  far: 9     # so far\n  near: 12\n\nrules:\n  far: 20\n"
    assert "-  far: 20    # so far\n-  near: 2\n+  far: 9     # so far\n+  near: 12\n" in diff
    assert diff_of(path, TunedWeights({"far": 20}, {"far": 20})) == (path.read_text(encoding="utf-8"), "")


def test_the_command_writes_what_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cma", reason="tuning needs cma: pip install 'regelwerk[tune]'")
    for folder in ("goofspiel", "common"):
        shutil.copytree(RULESETS / folder, tmp_path / folder)
    policy = tmp_path / "goofspiel" / "policies" / "sensible.yaml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("more: 2 ", "more: 0 "), encoding="utf-8")  # it bids nothing that it wants to bid
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    ruleset = str(next((tmp_path / "goofspiel").glob("goofspiel.yaml")))
    command = ["tune", "sensible", "--for", ruleset, "--players", "2", "--seed", "1", "--against", "bench", "-j", "1"]
    small = ["-n", "25", "--generations", "3", "--population", "5", "--check", "60", "-o", "json", "--write"]
    result = CliRunner().invoke(cli, [*command, *small])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["better"]
    assert found["weights"]["after"]["more"] > 0
    assert f"more: {found['weights']['after']['more']}" in policy.read_text(encoding="utf-8")


def test_what_cannot_be_tuned_is_refused() -> None:
    for arguments, code, message in [
        (["nobody", "--for", "goofspiel"], 2, "unknown policy `nobody`"),
        (["bench", "--for", "goofspiel"], 1, "`bench` has no weights"),
        (["sensible", "--for", "goofspiel", "--only", "mor"], 2, "has no weight `mor`; did you mean `more`?"),
        (["sensible", "--for", "goofspiel", "--against", "nobody"], 2, "unknown bot `nobody`"),
    ]:
        result = CliRunner().invoke(cli, ["tune", *arguments])
        assert result.exit_code == code
        assert message in " ".join(result.stderr.split())
