"""A small game that tests write to a folder with their own rules, and functions that play it."""

from __future__ import annotations

import random
import textwrap
from pathlib import Path

from interpreter.base.diagnostics import RulesetError, render
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import board_of
from interpreter.loading.load import find, load
from interpreter.loading.pipeline import Examined, examine
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.files import Shelf

__all__ = ["FAMILY", "MAP", "RULESET", "examined", "loaded", "outcome", "played", "write"]

FAMILY = """\
language: 2
family: small
names:
  {n: int, m: int, more: int, times: int, number: int, low: int, x: int, y: int, bound: "int?", who: seat,
   ghost: "seat?", it: plan, c: plan, d: plan, one: plan, other: plan, drawn: "plan?", a: list of int, t: town,
   wanted: list of int, cards: list of plan, them: list of seat, flow: bag of gem, ebb: bag of gem,
   rows: list of list of int}
kinds: {colour: [red, blue], step: 1..3}
tokens: {gem: {ruby: 9, onyx: 9, opal: 9}, coin: 90}
pieces: {hut: {}}
cards:
  plan:
    key: number
    has: {number: int}
    is: |
      number
      1
      2
      3
      4
zones: {deck: {of: plan, order: kept, seen: no one, start: all}, pile: {of: plan, order: by number}}
pools: {bank: {of: coin, start: rest}, mine: {of: gem, start: rest}}
graph:
  node: town
  has: {colour: colour}
  link: {cost: int}
  length: cost
  place: {price: int}
  places:
    plain: |
      price
      1
seats:
  roles: {person: {counts: yes}}
  has:
    money: {pool: coin, start: 5}
    hand: {zone: plan, order: by number, seen: owner}
    huts: {stock: hut, start: 2}
    score: {value: int, start: 0}
state:
  amount: {value: int, start: 1}
  row: {value: list of int, start: []}
  gems: {value: bag of gem, start: 1 of ruby}
events:
  said: {with: {number: int}, says: "{number}"}
round: [act]
setup: prepare
result: {rank: [who.score]}
"""

MAP = """\
language: 2
map: small/isles
players: 2..3
nodes: |
  name | colour
  Ayr  | red
  Bute | blue
  Coll | red
links: |
  from | to   | cost
  Ayr  | Bute | 1
  Bute | Coll | 2
"""
RULESET = "language: 2\nruleset: tiny\ntitle: Tiny\nfamily: small\nmap: small/isles\n"


def write(folder: Path, act: str = "end game", rules: str = "", sections: str = "", family: str = "") -> Path:
    """Write a small game whose only phase is ``act``; ``rules`` and ``sections`` are additional YAML. Return its
    path."""
    path = folder / "small" / "family.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (family or FAMILY) + textwrap.dedent(sections)
    text += "rules:\n  prepare: {does: amount = 1}\n"
    text += f"  act:\n    does: |\n{textwrap.indent(textwrap.dedent(act).strip(), ' ' * 6)}\n"
    text += textwrap.indent(textwrap.dedent(rules), "  ")
    path.write_text(text, encoding="utf-8")
    ruleset = folder / "small" / "tiny.yaml"
    ruleset.write_text(RULESET, encoding="utf-8")
    isles = folder / "small" / "maps" / "isles.yaml"
    isles.parent.mkdir(exist_ok=True)
    isles.write_text(MAP, encoding="utf-8")
    return ruleset


def examined(path: Path) -> Examined:
    shelf, document, diagnostics = find(path, Shelf([path.parent.parent]))
    if document is None:
        return Examined(diagnostics)
    found = examine(shelf, document)
    return Examined([*diagnostics, *found.diagnostics], found.composition, found.model, found.reach)


def loaded(path: Path) -> Ruleset:
    return load(path, shelf=Shelf([path.parent.parent]))


def played(game: Game, seed: int = 0, decisions: int = 200) -> str:
    """Play at random, build every view on the way, and return the final state."""
    chance = random.Random(seed)
    for _ in range(decisions):
        decision = game.decision
        if decision is None:
            break
        options = [option for option, _ in zip(decision.options, range(500), strict=False)]
        game.apply(chance.choice(options))
        assert game.digest()
    game.log()
    game.view()
    for board in game.ruleset.model.boards:
        board_of(game.table, game.state, board)
    assert game.check() == []
    assert (game.result is not None) >= game.is_over
    return game.digest()


def outcome(path: Path, people: int = 2) -> str:
    """Return the outcome of a ruleset, equal in both forms: its errors, its rule failure, or `plays`."""
    try:
        ruleset = loaded(path)
    except RulesetError as refused:
        for diagnostic in refused.diagnostics:
            assert render(diagnostic)
            assert diagnostic.as_data()
        return "\n".join(f"{d.code} {d.message}" for d in refused.diagnostics if d.severity == "error")
    fast, plain = (told(ruleset, people, plain=plain) for plain in (False, True))
    assert fast == plain
    return fast[0]


def told(ruleset: Ruleset, people: int, *, plain: bool) -> tuple[str, str]:
    """Return the outcome of a game in one form, and its final state."""
    runner = ruleset.table(people, ruleset.settings({})).runner
    runner.plain = plain
    assert plain or runner.compile() is not None
    try:
        return "plays", played(ruleset.new_game(people))
    except RuleFailure as failure:
        return f"{failure.code} {failure.message}", str(failure)
