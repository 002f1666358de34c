"""Two rulesets played beside each other: by how much their measures differ, and what each difference does alone."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from interpreter.base.source import NOWHERE
from interpreter.cli.main import cli
from interpreter.compare.ablation import Alone, Singly, ranked, singles
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.compare.effect_sizes import by_size, effects
from interpreter.compare.paired_games import Pair, PairPlan
from interpreter.language import core as c
from interpreter.language.model import Measure, MeasureKey
from interpreter.language.types import INT, SEAT
from interpreter.loading.load import load
from interpreter.pages.comparison import ComparisonReport, Played
from interpreter.pages.html import html_of
from interpreter.simulate.measurements import Taken
from interpreter.simulate.simulation import Row, finished, simulate
from interpreter.simulate.workers import processes, shared
from tests.compare.test_lock_step import BOTS, compared, other, parted
from tests.pages.reading import Read
from tests.play.toy import ROOT, changed

POINTS = Measure(
    "points", ("end of game",), None, (), None, (MeasureKey("who", 0, SEAT),), c.Const(0), False, 1, NOWHERE
)


def row(number: int, points: list[int]) -> Row:
    taken = [Taken(3, (seat,), value) for seat, value in enumerate(points)]
    return Row(number, 1, 1, 3, 0.0, (1, 2), ((1,), (0,)), {"points": taken})


def test_an_effect_with_its_interval() -> None:
    """Differences of 0 to 9: mean 4.5, deviation 3.0277; Student's quantile for 9 degrees of freedom is 2.2622."""
    a = [row(number, [0, 2]) for number in range(10)]
    b = [row(number, [number, number + 2]) for number in range(10)]
    found = {each.name: each for each in effects(a, b, [POINTS])}
    points = found["points"]
    assert (points.a, points.b, points.difference) == (1, 5.5, 4.5)
    assert points.high - points.difference == pytest.approx(2.2622 * 3.0277 / 10**0.5, abs=0.002)
    assert points.size == pytest.approx(4.5 / 3.0277, abs=0.001)
    assert points.is_sure
    assert not found["rounds"].is_sure
    assert by_size(found.values())[0] == points


def test_a_seat_that_cannot_win_is_no_part_of_a_mean() -> None:
    """With two players the edition of 2018 has a third seat, which has no money and takes no place."""
    a = [row(number, [10, 20]) for number in range(3)]
    b = [replace(row(number, [10, 20, 0]), places=(1, 2, 0)) for number in range(3)]
    points = next(each for each in effects(a, b, [POINTS]) if each.name == "points")
    assert (points.a, points.b) == (15, 15)


def test_wins_are_shared_and_counted_by_seat_and_by_number() -> None:
    """The seat of an odd number on one side is that of an even number on the other; every second game is shared."""
    place = Measure(
        "place",
        (),
        "set",
        (),
        None,
        (MeasureKey("n", 0, INT), MeasureKey("who", 1, SEAT)),
        c.Const(None),
        False,
        2,
        NOWHERE,
    )

    def rows(first: int) -> list[Row]:
        taken = {
            "place": [
                Taken(0, (1, first), None),
                Taken(0, (2, 1 - first), None),
                Taken(0, (3, 0), None),
                Taken(0, (3, 1), None),
            ]
        }
        return [replace(row(number, []), places=(1, 2 - number % 2, 0), taken=taken) for number in range(4)]

    found = {each.name: (each.a, each.b) for each in effects(rows(0), rows(1), [place]) if each.name.endswith("%")}
    assert found == {
        "player 1 wins, %": (75, 75),
        "player 2 wins, %": (25, 25),
        "place 1 wins, %": (75, 25),
        "place 2 wins, %": (25, 75),
    }


def test_a_table_of_effects_is_no_wider_than_a_page() -> None:
    names = [str(ROOT / "pebbles" / "pebbles.yaml")] * 2
    command = ["compare", *names, "--games", "3", "--seed", "1", "--players", "2", "--jobs", "1", "--bots", "random"]
    said = CliRunner().invoke(cli, command).stdout
    table = said[said.index("95 % intervals") : said.index("First divergence")].splitlines()
    assert re.search(r"^  A  \S.*\n(?:     \S.*\n)*  B  \S", said, re.MULTILINE)
    assert table[1].split() == ["measure", "A", "B", "difference", "effect"]
    assert max(map(len, table)) <= 80
    assert [line.split()[1] for line in table if "player" in line] == ["1", "2"]


def test_what_is_always_the_same_is_surely_so() -> None:
    a, b = ([row(number, [points, points]) for number in range(4)] for points in (1, 3))
    found = {each.name: each for each in effects(a, b, [POINTS])}
    assert (found["points"].low, found["points"].high, found["points"].size) == (2, 2, inf)
    assert (found["rounds"].size, found["rounds"].is_sure) == (0, False)


def test_pairs_of_games_have_equal_seeds(tmp_path: Path) -> None:
    here = load(ROOT / "pebbles" / "pebbles.yaml")
    more = other(tmp_path, "white: 9", "white: 30")
    a, b = (list(simulate(each, BOTS, 8, 1)) for each in (here, more))
    assert [x.seed for x in a] == [y.seed for y in b]
    found = {each.name: each for each in effects(a, b, here.model.measures)}
    assert found["rounds"].is_sure
    assert found["rounds"].b == fmean(each.rounds for each in b)
    assert all(each.difference == 0 and not each.is_sure for each in effects(a, a, here.model.measures))


def paired(path: Path, games: int, stopped: Callable[[], bool] = bool, **how: Any) -> list[Pair]:
    names = str(ROOT / "pebbles" / "pebbles.yaml"), str(path)
    a, b = (Compared(load(name)) for name in names)
    comparison = differences(a, b, players=2)
    plan = PairPlan(names, (), (comparison.a.digest, comparison.b.digest), 2, "random", (("most", "2"),))
    found = [
        pair
        for some in shared(plan, comparison, range(1, games + 1), stopped=stopped, **how)
        for pair in finished(some)
    ]
    return sorted(found, key=lambda pair: pair.seed)


def test_pairs_are_the_same_whoever_plays(tmp_path: Path) -> None:
    path = changed(tmp_path, "family.yaml", "white: 9", "white: 12") / "pebbles" / "pebbles.yaml"
    alone, shared = paired(path, 20), paired(path, 20, crew=processes(2))
    assert [pair.seed for pair in alone] == list(range(1, 21))
    assert [pair.parting for pair in alone] == [pair.parting for pair in shared]
    for one, two in zip(alone, shared, strict=True):
        assert (one.a.as_dict(), one.b.as_dict()) == (two.a.as_dict(), two.b.as_dict())


def test_who_stops_keeps_whole_pairs(tmp_path: Path) -> None:
    path = changed(tmp_path, "family.yaml", "white: 9", "white: 12") / "pebbles" / "pebbles.yaml"
    asked = iter([False] * 100)
    found = paired(path, 1_000, stopped=lambda: next(asked, True))
    assert 1 <= len(found) <= 25  # it is asked before and behind each game
    assert [pair.seed for pair in found] == [pair.parting.seed for pair in found] == list(range(1, len(found) + 1))


LATE = """most otherwise (limit() if count(heap) > 9 else 2)
  limit() -> int: 3"""


def several(folder: Path) -> Path:
    """Pebbles with differences of every sort: one that matters alone, with a rule of its own, and two that only matter
    together, by a value that is new."""
    changed(folder, "family.yaml", "most otherwise 3", LATE)
    _again(
        folder,
        "      let lot = pick from seats as begins",
        "      lowest = 1\n      let lot = pick from seats as begins",
    )
    _again(folder, "state:\n", "state:\n  lowest: {value: int, start: 0}\n")
    _again(folder, "number in 1 .. largest()", "number in 1 .. largest() + lowest")
    return folder / "pebbles" / "pebbles.yaml"


def _again(folder: Path, old: str, new: str) -> None:
    path = folder / "pebbles" / "family.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def by_themselves(path: Path, games: int, **how: Any) -> list[Alone]:
    names = str(ROOT / "pebbles" / "pebbles.yaml"), str(path)
    a, b = (Compared(load(name)) for name in names)
    comparison = differences(a, b, players=2)
    plan = PairPlan(names, (), (comparison.a.digest, comparison.b.digest), 2, "random")
    job, count = Singly(plan, tuple(range(1, games + 1))), len(singles(comparison))
    found = [each for some in shared(job, comparison, range(count), **how) for each in some]
    return ranked(found)


def test_each_difference_by_itself(tmp_path: Path) -> None:
    """Both editions part at the first choice; `pulling` needs the `lowest` that `prepare` sets, and does nothing
    without it. `limit` is there on one side only, and comes with the rule that calls it."""
    path = several(tmp_path)
    assert {each.choices for each in parted(load(path))} == {0}
    found = by_themselves(path, 4)
    assert [(each.path, each.share) for each in found] == [
        ("rules.largest", 1.0),
        ("rules.prepare", 0.0),
        ("rules.pulling", 0.0),
    ]
    assert found[0].example is not None
    assert found[0].example.choices > 1
    assert found == by_themselves(path, 4, crew=processes(2))
    names = [str(ROOT / "pebbles" / "pebbles.yaml"), str(path)]
    said = (
        CliRunner().invoke(cli, ["compare", *names, "--games", "2", "--seed", "1", "--bots", "random", "--each"]).stdout
    )
    assert re.search(r"rules\.largest +100%", said.partition("Each by itself")[2])


def test_a_rule_that_is_no_whole_without_others(tmp_path: Path) -> None:
    """What the text names here has another form there."""
    path = changed(tmp_path, "family.yaml", "left() -> int:", "left(number) -> int:")
    _again(tmp_path, "left()", "left(0)")
    found = by_themselves(path / "pebbles" / "pebbles.yaml", 2)
    assert found
    assert all("left" in each.why_not and each.games == 0 for each in found)


def test_the_page_holds_together_and_needs_nothing_else(tmp_path: Path) -> None:
    ruleset = other(tmp_path, "most otherwise 3", "most otherwise 5")
    comparison = compared(ruleset)
    rows = [list(simulate(each, BOTS, 4, 1)) for each in (comparison.a, comparison.b)]
    played = Played("two", effects(rows[0], rows[1], ruleset.model.measures), parted(ruleset))
    text = html_of(ComparisonReport(comparison, ("old", "new"), played).page())
    found = Read(text)
    assert found.outside == []
    assert set(found.links) <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert {"effects", "where", "rules-largest", "chapter-pulling"} <= set(found.ids)
    assert "<mark>" not in text  # one line each: nothing is gained by marking all of it
    assert "The same rule, except for 3 → 5." in text


def test_a_page_of_a_single_pair_tells_no_effects_but_the_divergence(tmp_path: Path) -> None:
    """An effect needs two pairs of games: fewer are left if games are stopped early or do not end."""
    ruleset = other(tmp_path, "most otherwise 3", "most otherwise 5")
    partings = parted(ruleset, games=1)
    played = Played("2 players by the bot x", partings=partings)
    page = ComparisonReport(compared(ruleset), ("old", "new"), played).page()
    assert [section.id for section in page.sections if not section.id.startswith("chapter-")] == ["where"]
    assert "1 of 1 games differ in the first decision already: " in html_of(page)


def test_effects_are_sorted_and_each_chart_says_which_games_it_shows(tmp_path: Path) -> None:
    comparison = compared(other(tmp_path, "white: 9", "white: 30"))
    rows = [list(simulate(each, BOTS, 8, 1)) for each in (comparison.a, comparison.b)]
    found = effects(rows[0], rows[1], comparison.a.model.measures)
    played = Played("2 players by the bot x, seeds 1 to 8", found)
    text = html_of(ComparisonReport(comparison, ("old", "new"), played).page())
    table = text[text.index('id="effects"') : text.index("</table>", text.index('id="effects"'))]
    names = re.findall(r'<th scope="row"[^>]*>([^<]+)</th>', table)
    sizes = {each.name.replace("_", " "): (not each.is_sure, -abs(each.size)) for each in found}
    assert names == sorted(names, key=sizes.__getitem__) != [name for name in sizes if name in names]
    if find_spec("matplotlib") is not None:
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", text)
        assert len(captions) > 2
        games = "8 pairs of games of Pebbles and Pebbles: 2 players by the bot x, seeds 1 to 8."
        assert all(caption.endswith(games) for caption in captions)
        ids = Read(text).ids
        assert len(ids) == len(set(ids))


def test_sides_that_are_called_the_same_are_told_apart(tmp_path: Path) -> None:
    comparison = compared(other(tmp_path, "white: 9", "white: 12"))
    for names, heads in ((("old", "new"), ("old", "new")), (("old", "old"), "AB"), (("old", "new" * 20), "AB")):
        titles = ComparisonReport(comparison, names).page()
        assert titles.title.endswith(f"{heads[0]} and {heads[1]}")
        assert names[1] in html_of(titles)


@pytest.mark.parametrize("names", [["pebbles", "pebbles"], ["--all", "pebbles"]])
def test_a_report_is_a_page_only(names: list[str], tmp_path: Path) -> None:
    refused = CliRunner().invoke(cli, ["compare", *names, "--report", str(tmp_path / "x.pdf")])
    assert (refused.exit_code, refused.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert f"got `{tmp_path / 'x.pdf'}`, want a file that ends in .html" in refused.stderr


def test_the_command_plays_and_writes_the_report(tmp_path: Path) -> None:
    path = changed(tmp_path, "family.yaml", "white: 9", "white: 12") / "pebbles" / "pebbles.yaml"
    names = [str(ROOT / "pebbles" / "pebbles.yaml"), str(path)]
    report = tmp_path / "report.html"
    play = ["--games", "3", "--seed", "1", "--bots", "random"]
    assert CliRunner().invoke(cli, ["compare", *names, *play, "--report", str(report)]).exit_code == 0
    assert "3 pairs of games" in report.read_text(encoding="utf-8")
    nowhere = CliRunner().invoke(
        cli, ["compare", *names, "--games", "9999999", "--report", str(tmp_path / "no" / "x.html")]
    )
    assert (nowhere.exit_code, "no such folder" in nowhere.stderr) == (1, True)
    wrong = CliRunner().invoke(cli, ["compare", *names, *play, "--set", "mots=1"])
    assert (wrong.exit_code, "neither of the two has a setting `mots`; did you mean `most`?" in wrong.stderr) == (
        2,
        True,
    )
    said = CliRunner().invoke(cli, ["compare", *names, *play]).stdout
    assert "Effects on play" in said
    assert "First divergence" in said


def test_who_ends_it_early_is_told_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(ROOT / "pebbles" / "pebbles.yaml"), str(several(tmp_path))]
    play = ["compare", *names, "--games", "2", "--seed", "1", "--bots", "random", "--each", "--jobs", "1"]

    handlers: list[Any] = []

    def stops(*_: Any) -> Any:
        if signal.getsignal(signal.SIGINT) not in handlers:  # a second Ctrl-C ends it at once
            handlers.append(signal.getsignal(signal.SIGINT))
            signal.raise_signal(signal.SIGINT)
        return []

    monkeypatch.setattr("interpreter.compare.ablation.grafted", lambda ruleset, *_: stops() or ruleset)
    late = CliRunner().invoke(cli, play)
    assert (late.exit_code, "Effects on play" in late.stdout) == (130, True)
    assert "stopped: 0 of 3 differences are played by themselves" in late.stderr
    monkeypatch.setattr("interpreter.compare.paired_games.WholeGames.row", lambda *_: stops() or None)
    early = CliRunner().invoke(cli, play)
    assert (early.exit_code, "Effects on play" in early.stdout) == (130, False)
    assert "stopped: 0 of 2 pairs of games are done" in early.stderr


def test_a_setting_that_the_rules_refuse_is_told() -> None:
    play = ["--players", "3", "--games", "2", "--set", "setmap=01110"]
    result = CliRunner().invoke(cli, ["compare", "germany-2004", "bsw-germany", *play])
    assert (result.exit_code, "Invalid value for --set: `setmap`: 6 digits, 1 for each region" in result.stderr) == (
        2,
        True,
    )
