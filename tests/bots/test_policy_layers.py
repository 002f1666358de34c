"""Named lines of policies, and layers over them: what replaces, drops, keeps and adds lines, and what that knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.registry import bots_of, policies_for
from interpreter.engine.game import Ruleset
from interpreter.language.preferences import Preferences
from interpreter.loading.load import load
from interpreter.play.match import Match
from tests.play.toy import changed

pytestmark = pytest.mark.usefixtures("at_once")

OLD = """\
      prefer: |
        pull kind, number where number < 3 and is_worth_it(who, kind, number) by -worth(who, kind, number), as listed
        any
"""
NAMED = """\
      cites: []
      prefer:
        best: |
          pull kind, number where number < 3 and is_worth_it(who, kind, number)
            by -worth(who, kind, number), as listed
        most: pull kind, number by -number, kind
        rest: any
"""


def _layered(folder: Path, *layers: str, file: str = NAMED, rules: str = "") -> Ruleset:
    """The small ruleset with named lines in `weighed`, and layers over them, each in an overlay of its own."""
    root = changed(folder, "weighed.yaml", OLD, file.replace("      cites: []\n", ""))
    (root / "pebbles" / "overlays").mkdir()
    for number, layer in enumerate(layers):
        text = (
            f"language: 2\noverlay: pebbles/layer-{number}\nover: [pebbles]\nafter: {_before(number)}\n{rules}{layer}"
        )
        (root / "pebbles" / "overlays" / f"layer-{number}.yaml").write_text(text, encoding="utf-8")
    return load(root / "pebbles" / "pebbles.yaml", [f"pebbles/layer-{number}" for number in range(len(layers))])


def _before(number: int) -> str:
    return f"[{', '.join(f'pebbles/layer-{each}' for each in range(number))}]"


def _over(prefer: str) -> str:
    return f"policies:\n  weighed:\n    draw:\n      prefer:{prefer}\n"


def _ways(ruleset: Ruleset) -> tuple[Preferences, ...]:
    return policies_for(ruleset)["weighed"].decisions["draw"]


def _lines(ruleset: Ruleset) -> list[str]:
    """Each line by its name, or its text where it has none."""
    (way,) = _ways(ruleset)
    return [line.name or line.span.text.strip() for line in way.lines]


@pytest.mark.parametrize(
    ("prefer", "lines"),
    [
        ("\n        most: wait", ["best", "most", "rest"]),
        ("\n        most: nothing", ["best", "rest"]),
        ("\n        new: wait", ["new", "best", "most", "rest"]),
        ("\n        new: wait\n        most: base", ["best", "new", "most", "rest"]),
        ("\n        best: base\n        new: wait", ["best", "new", "most", "rest"]),
        ("\n        a: wait\n        rest: base\n        b: any", ["best", "most", "a", "rest", "b"]),
        ("\n        best: nothing\n        a: wait\n        rest: any\n        b: any", ["most", "a", "rest", "b"]),
        ("\n        most: |\n          wait\n          base", ["best", "most", "most", "rest"]),
        (" |\n        wait\n        base", ["wait", "best", "most", "rest"]),
        (" |\n        base\n        wait", ["best", "most", "rest", "wait"]),
        (" wait", ["wait"]),
    ],
)
def test_what_a_layer_makes_of_the_lines_below(tmp_path: Path, prefer: str, lines: list[str]) -> None:
    assert _lines(_layered(tmp_path, _over(prefer))) == lines


def test_layers_lie_over_layers(tmp_path: Path) -> None:
    first, second = _over(" |\n        wait\n        base"), _over("\n        best: nothing\n        rest: wait")
    ruleset = _layered(tmp_path, first, second)
    assert _lines(ruleset) == ["wait", "most", "rest"]
    (way,) = _ways(ruleset)
    assert [line.span.file.name for line in way.lines] == [
        "pebbles/overlays/layer-0.yaml",
        "pebbles/policies/weighed.yaml",
        "pebbles/overlays/layer-1.yaml",
    ]


def test_a_layer_knows_the_rules_and_weights_of_the_file_below(tmp_path: Path) -> None:
    line = "pull kind, number where worth(who, kind, number) == black_worth + 3"
    ruleset = _layered(tmp_path, _over(f"\n        best: {line}"))
    for bots, kind, number in (("weighed", "black", 2), ("weighed:black_worth=4", "white", 3)):
        match = Match(ruleset, bots_of(bots, ruleset, 2), 1)
        match.step()
        assert match.game.choices[0][1] == {"do": "pull", "kind": kind, "number": number}


def test_a_layer_plays_alike_in_both_forms(tmp_path: Path) -> None:
    ruleset = _layered(
        tmp_path,
        _over("\n        new: pull kind, number where number > left() div 2 by number, kind\n        most: base"),
    )
    stories = []
    for plain in (True, False):
        runner = ruleset.table(2, ruleset.settings({})).runner
        runner.plain, runner.bailouts = plain, 0
        assert plain or runner.compile() is not None
        match = Match(ruleset, bots_of("weighed", ruleset, 2), 3)
        match.play()
        stories.append(match.game.choices)
    assert stories[0] == stories[1]
    assert runner.player(policies_for(ruleset)["weighed"], None) is not None
    assert runner.bailouts == 0


OWN = """\
rules:
  worth(kind) -> int: {is: "1 if kind == white else 0"}
state:
  black_worth: {value: bool, start: yes}
"""


def test_names_of_the_layers_own_file_come_first(tmp_path: Path) -> None:
    line = "pull kind, number where black_worth by -worth(kind), number"
    ruleset = _layered(tmp_path, _over(f"\n        best: {line}"), rules=OWN)
    match = Match(ruleset, bots_of("weighed", ruleset, 2), 1)
    match.step()
    assert match.game.choices[0][1] == {"do": "pull", "kind": "white", "number": 1}


def test_a_part_keeps_its_condition(tmp_path: Path) -> None:
    part = (
        "parts:\n  late:\n    when: round > 1\n    policies: {weighed: {draw: {prefer: {most: nothing, new: wait}}}}\n"
    )
    ways = _ways(_layered(tmp_path, part))
    assert [[line.name for line in way.lines] for way in ways] == [["best", "new", "rest"], ["best", "most", "rest"]]
    assert [way.when is not None for way in ways] == [True, False]


def test_conditions_of_parts_are_joined(tmp_path: Path) -> None:
    parts = [
        f"parts:\n  p{n}:\n    when: round > {n}\n    policies: {{weighed: {{draw: {{prefer: {{p{n}: wait}}}}}}}}\n"
        for n in range(2)
    ]
    ways = _ways(_layered(tmp_path, *parts))
    assert [[line.name for line in way.lines][:-3] for way in ways] == [["p1", "p0"], ["p1"], ["p0"], []]
    assert [way.when is not None for way in ways] == [True, True, True, False]


def test_parts_without_end_are_refused(tmp_path: Path) -> None:
    parts = [
        f"parts:\n  p{n}:\n    when: round > {n}\n    policies: {{weighed: {{draw: {{prefer: {{p{n}: wait}}}}}}}}\n"
        for n in range(6)
    ]
    with pytest.raises(RulesetError, match="parts give `draw` 64 variants, want at most 32"):
        _layered(tmp_path, *parts)


def test_over_a_file_with_an_error_only_that_is_told(tmp_path: Path) -> None:
    ruleset = _layered(tmp_path, _over("\n        most: nothing"), file=NAMED.replace("number < 3", "numbr < 3"))
    with pytest.raises(RulesetError) as caught:
        policies_for(ruleset)
    assert [found.message[:20] for found in caught.value.diagnostics] == ["unknown name `numbr`"]


def test_the_file_below_is_checked_again_with_the_layers(tmp_path: Path) -> None:
    """A ruleset that comes from the cache is looked at again when the policies file below one of its layers changes."""
    _layered(tmp_path, _over("\n        most: nothing"))
    file = tmp_path / "pebbles" / "policies" / "weighed.yaml"
    file.write_text(file.read_text().replace("        most: ", "        mots: "))
    with pytest.raises(RulesetError, match="no line `most` of `draw` is declared below; did you mean `mots`"):
        load(tmp_path / "pebbles" / "pebbles.yaml", ["pebbles/layer-0"])
