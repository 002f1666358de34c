"""Saves: loaded in another process they play on identically; changed rulesets and damaged saves are told in words."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import interpreter
from interpreter.base.paths import ruleset_roots
from interpreter.bots.registry import bots_of
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.scripted_outcomes import WrongOutcome
from interpreter.engine.settings import WrongSetting
from interpreter.language import core
from interpreter.language.builtins import BUILTINS
from interpreter.language.meaning import meaning
from interpreter.language.types import AnyType
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.reading.files import Shelf
from tests.small import FAMILY, loaded, write
from tests.support import shared

TABLES = [("germany-2018", 4), ("goofspiel", 3)]
PLAY_ON = """
import json, sys
from interpreter.loading.load import load
from interpreter.bots.registry import bots_of
from interpreter.play.match import Match

name, bots = sys.argv[1:]
ruleset = load(name)
for text in json.load(sys.stdin):
    game = ruleset.load_game(text)
    before = game.digest()
    match = Match(ruleset, bots_of(bots, ruleset, game.origin["players"]), 99, game=game)
    match.play()
    print(before, game.digest(), json.dumps(game.result.places), json.dumps(game.choices == []))
"""


@shared
def ruleset(name: str) -> Ruleset:
    return load(name)


def bots(name: str) -> str:
    return "greedy" if name == "germany-2018" else "random"


@shared
def saves(name: str, players: int) -> tuple[str, ...]:
    """A game saved at its first decision, at some of the others, and when it is over."""
    match = Match(ruleset(name), bots_of(bots(name), ruleset(name), players), 7)
    found = [match.game.to_json()]
    chance, share = random.Random(players), 0.02 if name == "germany-2018" else 0.3
    while match.step():
        if chance.random() < share and len(found) < 5:
            found.append(match.game.to_json())
    return (*found, match.game.to_json())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_save_plays_on_identically_in_another_process(name: str, players: int) -> None:
    texts = saves(name, players)[:-1]
    wanted = []
    for text in texts:
        game = ruleset(name).load_game(text)
        before = game.digest()
        Match(ruleset(name), bots_of(bots(name), ruleset(name), players), 99, game=game).play()
        assert game.result is not None
        wanted.append(f"{before} {game.digest()} {json.dumps(game.result.places)} false")
    for seed in ("1", "4711"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(Path(interpreter.__file__).parent.parent),
        }
        done = subprocess.run(
            [sys.executable, "-c", PLAY_ON, name, bots(name)],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        assert done.stdout.splitlines() == wanted


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_save_is_the_same_game_with_nothing_lost(name: str, players: int) -> None:
    for text in saves(name, players):
        game = ruleset(name).load_game(text)
        assert game.to_json() == text
        assert game.check() == []
        assert len(game.choices) == len(json.loads(text)["choices"])


def test_scripted_chance_and_settings_are_saved() -> None:
    chance = {"turn_order": [2]}
    game = ruleset("germany-2018").new_game(3, 5, {"regions": ["turquoise", "red", "blue"]}, chance)
    again = ruleset("germany-2018").load_game(game.to_json())
    assert again.digest() == game.digest()
    assert again.to_json() == game.to_json()


# --- rulesets that have changed --------------------------------------------------------------------------------------


def copied(folder: Path) -> Path:
    """The shipped rulesets, to be changed."""
    shutil.copytree(ruleset_roots()[-1], folder / "rulesets")
    return folder / "rulesets"


def with_comments(text: str) -> str:
    """The same YAML with other comments and blank lines; those of rule text too."""
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue
        lines.append(line)
        indent = len(line) - len(line.lstrip())
        if line.endswith("|") or not line.strip():
            continue
        lines.append("")
        lines.append(f"{' ' * indent}# another comment")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "players"), [("germany-2018", 4), ("goofspiel", 3)])
def test_comments_and_blank_lines_change_nothing(tmp_path: Path, name: str, players: int) -> None:
    root = copied(tmp_path)
    for path in root.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(with_comments(text), encoding="utf-8")
    changed = load(name, shelf=Shelf([root]))
    assert changed.digest == ruleset(name).digest
    for text in saves(name, players)[:3]:
        assert changed.load_game(text).to_json() == text


def changed_germany(folder: Path, file: str, old: str, new: str) -> Ruleset:
    path = copied(folder) / "power-grid" / file
    text = path.read_text(encoding="utf-8")
    assert re.search(old, text, re.MULTILINE)
    path.write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE), encoding="utf-8")
    return load("germany-2018", shelf=Shelf([path.parents[len(Path(file).parts)]]))


def test_a_table_that_has_changed_replays_the_choices(tmp_path: Path) -> None:
    """Dearer plants: a bid below the new minimum is the first choice that no longer fits."""
    changed = changed_germany(tmp_path, "decks/plants.yaml", r"^( +)3 +\|", r"\g<1>53 |")
    text = saves("germany-2018", 4)[-1]
    assert changed.digest != json.loads(text)["digest"]
    with pytest.raises(ValueError, match=r"^the ruleset has changed: ") as refused:
        changed.load_game(text)
    assert re.search(r"choice \d+ (is refused: .*rule `\w+`|seat \d decides `\w+` \(rule `\w+`\))", str(refused.value))


def test_a_rule_that_has_changed_names_the_first_choice_that_differs(tmp_path: Path) -> None:
    root = copied(tmp_path)
    family = root / "goofspiel" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    start = "      choose bid by each who in seats, at once:\n"
    assert start in text
    family.write_text(text.replace(start, start.replace("in seats", "in take(1, reversed(seats))")), encoding="utf-8")
    changed = load("goofspiel", shelf=Shelf([root]))
    with pytest.raises(ValueError, match=re.escape("at choice 1 seat 2 decides `bid` (rule `bidding`), not seat 0")):
        changed.load_game(saves("goofspiel", 3)[-1])
    family.write_text(
        text.replace(
            "play value in [c.value for c in who.hand]", "play value in [c.value for c in who.hand where c.value > 1]"
        ),
        encoding="utf-8",
    )
    changed = load("goofspiel", shelf=Shelf([root]))
    with pytest.raises(ValueError, match=r"^the ruleset has changed: choice \d+ is refused: .*rule `bidding`"):
        changed.load_game(saves("goofspiel", 3)[-1])


def test_a_rule_that_has_changed_and_still_fits_is_played(tmp_path: Path) -> None:
    root = copied(tmp_path)
    family = root / "goofspiel" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("sum(p.value for p in who.won)", "count(who.won)"), encoding="utf-8")
    changed = load("goofspiel", shelf=Shelf([root]))
    text = saves("goofspiel", 3)[-1]
    assert changed.digest != json.loads(text)["digest"]
    game = changed.load_game(text)
    assert game.is_over
    assert game.digest() == ruleset("goofspiel").load_game(text).digest()


# --- saves that are damaged ------------------------------------------------------------------------------------------

NO_SAVES = [
    "",
    "{",
    "null",
    "[]",
    "3",
    '"save"',
    "{}",
    '{"save": 1}',
    '{"save": 2}',
    '{"save": true}',
    '{"save": {"save": 1}}',
    '{"save": NaN}',
    "[" * 100_000,
    '{"save":' * 50_000,
    "9" * 5_000,
    '{"save": 1, "digest": 0}',
    "\x00",
    "\ud800",
]


@pytest.mark.parametrize("text", NO_SAVES, ids=range(len(NO_SAVES)))
def test_what_is_no_save_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"save"):
        ruleset("goofspiel").load_game(text)


ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30, -(10**18), float("nan"), float("inf"), "", "x", "\x1b[2J", [], [[]], {}, {"a": 1}, [None] * 9,
]  # fmt: skip


def deep(levels: int) -> Any:
    found: Any = []
    for _ in range(levels):
        found = [found]
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a JSON value, some of each list."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found.extend(places(inner, (*path, key)))
    elif isinstance(value, list):
        for index in (*range(min(4, len(value))), *range(max(4, len(value) - 3), len(value))):
            found.extend(places(value[index], (*path, index)))
    return found


def put(value: Any, path: tuple[Any, ...], what: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    if what is KeyError:
        del value[path[-1]]
    else:
        value[path[-1]] = what


def loads_the_same_or_says_why(name: str, text: str, original: Game) -> None:
    try:
        game = ruleset(name).load_game(text)
    except ValueError as error:
        assert type(error) in (ValueError, WrongSetting)
        assert str(error)
        return
    assert game.check() == []
    assert game.digest() == original.digest() or game.choices != original.choices or game.origin != original.origin


@pytest.mark.parametrize(("name", "players", "number"), [("goofspiel", 3, 1), ("germany-2018", 4, 2)])
def test_a_damaged_save_is_refused_or_is_the_game(name: str, players: int, number: int) -> None:
    text = saves(name, players)[number]
    original = ruleset(name).load_game(text)
    chance = random.Random(3)
    whole = json.loads(text)
    everywhere = places(whole)
    for path in everywhere if name == "goofspiel" else chance.sample(everywhere, 40):
        for odd in [*chance.sample(ODD, 3), KeyError]:
            damaged = copy.deepcopy(whole)
            put(damaged, path, odd)
            loads_the_same_or_says_why(name, json.dumps(damaged), original)


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (("state", "cells"), []),
        (("state", "cells", 3), deep(500)),
        (("state", "cells", 0), -1),
        (("state", "cells", 0), 10**40),
        (("state", "frame"), None),
        (("state", "frame", 0), "bidding@0#999"),
        (("state", "frame", 0), "!3"),
        (("state", "frame", 0), "!-1"),
        (("state", "frame", 1), []),
        (("state", "frame", 3), -9),
        (("state",), deep(200)),
        (("state",), KeyError),
        (("choices", 0, "value"), 10**30),
        (("choices", 0, "by"), 77),
        (("choices", 0, "by"), -1),
        (("choices", 0, "do"), "__class__"),
        (("choices", 0, "do"), "stop"),
        (("choices", 0), {"by": 0, "do": "play"}),
        (("choices", 0), {"by": 0, "do": "play", "value": 3, "more": 1}),
        (("players",), 9),
        (("players",), True),
        (("players",), 10**20),
        (("seed",), "7"),
        (("seed",), 8),
        (("settings",), {"no_such": 1}),
        (("settings",), {"tied_prize": ["carried"]}),
        (("settings",), {"tied_prize": "burnt"}),
        (("chance",), {"prizes": 3}),
        (("chance",), {"prizes": [3]}),
        (("chance",), {"prizes": [[{"a": 1}]]}),
        (("chance",), {"no_such": []}),
    ],
)  # fmt: skip
def test_a_hostile_save_is_refused(path: tuple[Any, ...], what: Any) -> None:
    saved = json.loads(saves("goofspiel", 3)[2])
    put(saved, path, what)
    with pytest.raises(ValueError, match=".") as refused:
        ruleset("goofspiel").load_game(json.dumps(saved))
    assert type(refused.value) in (ValueError, WrongOutcome, WrongSetting)


def test_a_save_that_is_cut_off_is_refused() -> None:
    text = saves("goofspiel", 3)[2]
    for length in range(0, len(text), max(1, len(text) // 150)):
        with pytest.raises(ValueError, match="this is not a saved game"):
            ruleset("goofspiel").load_game(text[:length])


def test_a_state_that_was_changed_is_named() -> None:
    saved = json.loads(saves("goofspiel", 3)[2])
    base = ruleset("goofspiel").load_game(json.dumps(saved)).machine.constants.layout.base
    saved["state"]["cells"][base["won"] + 1] = [0]
    with pytest.raises(ValueError, match="this save is damaged: `won` of player 2 differs from the replayed game"):
        ruleset("goofspiel").load_game(json.dumps(saved))


def test_a_game_of_two_is_saved_with_the_overlay_that_it_took_in() -> None:
    ruleset = load("germany-2018")
    game = ruleset.new_game(2, seed=4)
    for _ in range(9):
        assert game.decision is not None
        game.apply(game.decision.options[0])
    assert game.ruleset.overlays == ("power-grid/konzern",)
    again = ruleset.load_game(game.to_json())
    assert again.digest() == game.digest()


def test_a_game_of_another_ruleset_is_told_as_such() -> None:
    text = ruleset("germany-2018").new_game(4, 1).to_json()
    with pytest.raises(ValueError, match="this is a game of `germany-2018`, not of `goofspiel`, which has no setting"):
        ruleset("goofspiel").load_game(text)
    robots = load("germany-2004", ["robots"]).new_game(4, 1).to_json()
    with pytest.raises(ValueError, match="a game of `germany-2004` with `power-grid/robots`, not of `germany-2004`"):
        ruleset("germany-2004").load_game(robots)


def test_copies_are_clones_and_nothing_is_pickled() -> None:
    ruleset = load("goofspiel")
    game = ruleset.new_game(2, seed=1)
    assert game.decision is not None
    game.apply(game.decision.options[0])
    before = game.digest()
    for made in (copy.copy(game), copy.deepcopy(game)):
        assert made.digest() == before
        assert (made.ruleset, len(made.log())) == (ruleset, len(game.log()))
        assert made.decision is not None
        made.apply(made.decision.options[0])
        assert game.digest() == before
    assert copy.deepcopy(ruleset) is copy.copy(ruleset) is ruleset
    for what, way in ((game, "to_json"), (ruleset, "load it there")):
        with pytest.raises(TypeError, match=way):
            pickle.dumps(what)


def test_the_digest_of_rules_stays_from_version_to_version(pebbles: Ruleset) -> None:
    """Else games that were saved would be told as of other rules. It changes with the rules alone."""
    assert pebbles.digest == "d0e5019b88662123142adde9041fbdfd"


def classes_of(base: type[Struct]) -> Iterator[type[Struct]]:
    for kind in base.__subclasses__():
        yield from (kind, *classes_of(kind))


def test_the_digest_of_rules_is_not_made_of_names_in_this_program() -> None:
    names = ("germany-2018", "outpost", "goofspiel")
    digests = [ruleset(name).digest for name in names]
    written: dict[type, str] = {kind: kind.__name__ for kind in (*classes_of(core.Core), *classes_of(AnyType))}
    try:
        for number, kind in enumerate(written):
            kind.__name__ = f"Renamed{number}"
        assert [replace(ruleset(name)).digest for name in names] == digests
    finally:
        for kind, name in written.items():
            kind.__name__ = name
    for row in BUILTINS.values():
        assert meaning(row._replace(about="told otherwise", steps=99)) == meaning(row)


def test_each_node_has_a_tag_of_its_own() -> None:
    nodes = [kind for kind in classes_of(core.Core) if kind is not core.Typed]
    tags = {kind.__struct_config__.tag for kind in nodes}
    assert len(tags) == len(nodes)
    assert not tags & {kind.__name__ for kind in nodes}, "a tag is written at its class"


def test_the_digest_of_rules_has_the_conditions_of_phases(tmp_path: Path) -> None:
    digests = set()
    for when in ("round > 1", "round > 2", ""):
        phase = f"{{phase: act, when: {when}}}" if when else "act"
        path = write(tmp_path, "amount = 2", family=FAMILY.replace("round: [act]", f"round: [{phase}]"))
        digests.add(loaded(path).digest)
    assert len(digests) == 3
