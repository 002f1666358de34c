"""Whatever has cells of its own has every kind of them: seats, nodes, places, cards, members of kinds and of tokens.

In a small game each of these holds values, zones, pools and a track, some of them hidden. Every channel knows them all.
"""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from textwrap import indent

import pytest

from interpreter.compare.comparable import Compared, Side
from interpreter.compare.differences import differences
from interpreter.editor.completion import complete
from interpreter.editor.navigation import Answers
from interpreter.editor.workspace import Desk
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.testing.recording import Recording, Written, file_with, read_text
from interpreter.testing.running import run_scenario
from interpreter.testing.scenarios import check_scenario
from interpreter.testing.state_text import holders_of, lines_to
from interpreter.testing.verify import Played, verify

THINGS = {
    "who": "seats",
    "town": "town",
    "place": "place",
    "chest": "who.hand",
    "land": "land",
    "ware": "ware",
}
"""What has belongings, by its local, and those among which one is chosen."""
BELONGINGS = {
    "value": ("{value: 1..6, start: 2}", "thing.value = 1 + thing.value mod 6"),
    "guess": ("{value: place?}", 'thing.guess = last("A1".places)'),
    "shade": ("{value: 1..6, start: 3, seen: no one}", "thing.shade = 7 - thing.shade"),
    "zone": ("{zone: slip, order: kept}", "move first(pile) to thing.zone"),
    "cave": ("{zone: slip, order: kept, seen: no one}", "move last(pile) to thing.cave"),
    "pool": ("{pool: coin}", "move 1 from bank to thing.pool"),
    "purse": ("{pool: coin, seen: no one}", "move 1 from bank to thing.purse"),
    "track": ("{track: coin, spaces: spaces}", "if vacancy(thing.track, coin) > 0:\n  move 1 from bank to thing.track"),
}
"""Belongings, and what changes them."""
FAMILY = """\
language: 2
family: holders
title: Holders
names: {who: seat}
kinds:
  land:
    is: [wood, field]
    holds:
HOLDS
tokens:
  coin: 200
  ware:
    salt: 1
    silk: 1
    holds:
HOLDS
cards:
  slip:
    key: number
    has: {number: int}
    is: |
      number
SLIPS
  chest:
    key: name
    has: {name: text}
    holds:
HOLDS
    is: |
      name
      oak
      elm
      ash
zones:
  pile: {of: slip, order: kept, start: all}
  chests: {of: chest, order: kept, start: all, seen: no one}
pools:
  bank: {of: coin, start: rest}
  wares: {of: ware, start: rest}
tables:
  spaces:
    keys: [price]
    gives: int
    is: |
      price | 1 | 3
      room  | 2 | 1
graph:
  node: town
  grid: {rows: 1, columns: 2}
  holds:
HOLDS
  place:
    rent: int
    holds:
HOLDS
  places:
    all: |
      rent
      4
      5
seats:
  roles: {person: {counts: yes}}
  has:
HOLDS
      hand: {zone: chest, order: kept, seen: owner}
setup: prepare
round: [act]
result: {rank: [who.value, who.number]}
rules:
  prepare:
    does: |
      shuffle chests
      for each who in seats:
        move first(chests) to who.hand
  act:
    does: |
      for each turn actor in seats:
        choose act by actor:
ACTS
      if round == 30:
        end game
"""
HOLDS = "\n".join(f"{name}: {belonging}" for name, (belonging, _) in BELONGINGS.items())
ACTS = "\n".join(
    f"{name}_of_{of} {of} in {among.replace('who.', 'actor.')}:\n{indent(act.replace('thing', of), '  ')}"
    for (of, among), (name, (_, act)) in product(THINGS.items(), BELONGINGS.items())
)
SLIPS = "\n".join(map(str, range(1, 61)))


def family() -> str:
    """Return the file of the family."""
    text = FAMILY
    for word, (lines, depth) in {"HOLDS": (HOLDS, 6), "SLIPS": (SLIPS, 6), "ACTS": (ACTS, 10)}.items():
        text = text.replace(f"\n{word}\n", f"\n{indent(lines, ' ' * depth)}\n")
    return text


def written(folder: Path, text: str) -> Path:
    """Write the ruleset into a folder, with this family."""
    (folder / "holders" / "editions").mkdir(parents=True)
    head, own = "language: 2\n", folder / "holders"
    edition = f"{head}edition: holders/first\nextends: holders\nplayers: 2\n"
    (own / "family.yaml").write_text(text, encoding="utf-8")
    (own / "editions" / "first.yaml").write_text(edition, encoding="utf-8")
    lines = "ruleset: holders\ntitle: Holders\nfamily: holders\nedition: holders/first\n"
    (own / "holders.yaml").write_text(head + lines, encoding="utf-8")
    return own / "holders.yaml"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    return load(written(tmp_path_factory.mktemp("rules"), family()))


def played(ruleset: Ruleset, seed: int, *, plain: bool) -> tuple[Game, list[object]]:
    """Return a random game, and what everybody sees after each choice."""
    runner, chance = ruleset.table(2, {}).runner, random.Random(seed)
    runner.plain = plain
    assert plain or runner.ready() is not None
    game, story = ruleset.new_game(2, seed), list[object]()
    while game.decision is not None:
        story.append((game.digest(), *map(game.view, (None, 0, 1))))
        game.apply(chance.choice(game.decision.options))
    runner.plain = False
    return game, [*story, game.digest(), game.view(0), game.log(0)]


@pytest.mark.parametrize("seed", range(3))
def test_both_forms_play_the_same(ruleset: Ruleset, seed: int) -> None:
    (_, plain), (_, module) = (played(ruleset, seed, plain=plain) for plain in (True, False))
    assert plain == module


def test_no_channel_tells_what_is_hidden(ruleset: Ruleset) -> None:
    found = Played()
    assert list(verify(ruleset, seed=3, games=6, played=found)) == []
    assert found.games == 6


def test_a_scenario_states_all_of_it(ruleset: Ruleset) -> None:
    """The lines of rule text lead from the first state to the last; facts say what has changed."""
    game, _ = played(ruleset, 5, plain=False)
    first = ruleset.new_game(2, 5)
    things = ("seats[1]", '"A1"', '"B1".places[1]', 'chest("elm")', "wood", "silk")
    assert {name for _, _, name in holders_of(first)} >= {".".join(each) for each in product(things, BELONGINGS)}
    recording = Recording(first.clone())
    recording.game.state.cells = game.state.cells
    draft = Written("holders", 2, (), (), 5, tuple(lines_to(first, game)), "act", then=tuple(recording.changes()))
    (scenario,) = read_text(file_with("", "holders/all", draft.text("all")), Path("all.yaml"))
    checked, errors = check_scenario(scenario, ruleset)
    assert not errors
    assert checked is not None
    assert not run_scenario(checked).failures
    assert len(draft.given) > 60


def test_learners_observe_the_same_in_both_forms(ruleset: Ruleset) -> None:
    np = pytest.importorskip("numpy", reason="batches need NumPy: pip install 'regelwerk[rl]'")
    from interpreter.rl import make

    module, plain = (make(ruleset, 2, 2, seed=4, plain=plain) for plain in (False, True))
    assert (module.is_compiled, plain.is_compiled) == (True, False)
    chance = np.random.default_rng(1)
    for number in range(80):
        assert module.observe(0, number % 2) == plain.observe(0, number % 2)
        assert np.array_equal(module.observations, plain.observations)
        actions = module.sample(chance)
        module.step(actions)
        plain.step(actions)
    named = {each.name.partition("]")[0] for each in module.space.entries}
    things = ("{}[1", "node.{}[A1", "place.{}[B1 2", "chest.{}[chest elm", "land.{}[wood", "ware.{}[silk")
    assert named >= {thing.format(name) for thing, name in product(things, BELONGINGS)}


def test_each_start_is_compared_as_that_of_its_own_thing(ruleset: Ruleset, tmp_path: Path) -> None:
    text, start = family(), "value: {value: 1..6, start: "
    homes = ("kinds.land", "tokens.ware", "cards.chest", "graph", "graph.place", "seats")
    for match, home in zip(re.finditer(start, text), homes, strict=True):
        file = written(tmp_path / home, f"{text[: match.end()]}5{text[match.end() + 1 :]}")
        (row,) = differences(Compared(ruleset), Compared(load(file))).differences
        path = f"{home}.{'has' if home == 'seats' else 'holds'}.value.start"
        assert (row.path, row.a, row.b) == (path, Side("2"), Side("5"))


def test_an_editor_offers_it_and_finds_its_declaration(tmp_path: Path) -> None:
    path, text = written(tmp_path, family()).parent / "family.yaml", family()
    for thing in THINGS:
        at = text.index(f"{thing}.guess = ") + len(thing) + 1
        assert {*BELONGINGS} <= {each.text for each in complete(Desk(), path, at)[0]}, thing
        (place,) = Answers(Desk()).definition(path, at)
        assert place.span.text == "guess"
