"""A checked text is reused only where every name in it means the same."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.diagnostics import Diagnostic
from interpreter.language.local_rules import check_helpers, helpers_in
from interpreter.language.model import Model
from interpreter.language.parse import Trees, checked_texts, remembered
from interpreter.language.resolve import Names, Texts
from interpreter.loading.pipeline import Examined, examine
from interpreter.reading.files import Shelf
from tests import small

FAMILY = """\
language: 2
family: small
names: {o: offer, size: int, who: seat, n: int, p: plan, h: hut, t: town, s: sale}
kinds: {colour: [red, blue, green], step: 1..3, shade: [dark, light]}
tokens: {gem: {ruby: 9, onyx: 9, opal: 9}, coin: 90}
pieces: {hut: {}, mill: {}}
records: {sale: {what: int, price: int}, offer: {asked: int?}}
cards:
  plan:
    key: number
    has: {number: int, worth: int}
    is: |
      number | worth
      3 | 1
      4 | 2
zones: {deck: {of: plan, order: kept, seen: no one, start: all}}
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
  roles: {person: {counts: yes}, ghost: {counts: no, seats: 1}}
  has:
    money: {pool: coin, start: 5}
    score: {value: int, start: 0}
state:
  amount: {value: int, start: 1}
  gems: {value: bag of gem, start: 1 of ruby}
settings: {bonus: {value: 0..9, default: 1, about: more}}
interpretations: {doubt: {is: {mild: one, harsh: other}, default: mild, about: unclear, answers: []}}
tables:
  price_of:
    keys: [colour]
    gives: int
    is: |
      colour | red | blue | green
      price  | 1   | 2    | 3
events: {said: {with: {number: int, loud: bool}}}
round: [act]
setup: prepare
result: {rank: [who.score]}
rules:
  prepare: {does: amount = 1}
  act: {does: end game}
  limit: {is: 3}
  worth_of(who) -> int: {is: "who.score"}
"""
MAP = """\
language: 2
map: small/isles
players: 2..3
nodes: |
  name | colour
  Ayr  | red
  Bute | blue
links: |
  from | to   | cost
  Ayr  | Bute | 1
"""
OVERLAY = """\
language: 2
overlay: small/more
over: [small]
triggers: {hears: {on: "said(number, loud)", cases: [{in: [act], does: amount = 2}], otherwise: amount = 3}}
rules:
  values(who) -> int: {is: "amount + limit + bonus + who.score + worth_of(who) + price_of[blue]"}
  doubts() -> bool: {is: "doubt == harsh or dark == light"}
  ghosts() -> int: {is: "ghost.score"}
  mixed() -> int: {is: "count(gems) + count([r in gem where mine[r] > 0]) + count(c in colour)"}
  steps() -> list of int: {is: "[s in step]"}
  chosen() -> plan: {is: "plan(4)"}
  searched(n) -> plan: {is: "plan(n)"}
  ordered() -> list of plan: {is: "sorted(p in deck by p.number)"}
  worthy(p) -> int: {is: "p.worth + p.number"}
  there() -> town: {is: '"Bute"'}
  hued(t) -> colour: {is: "t.colour"}
  owned(h) -> bool: {is: "h is mill"}
  sold(s) -> int: {is: "s.price + sale(1, 2).what"}
  near() -> int: {is: 'distance(["Ayr"], "Bute", town)'}
  tell: {does: 'note said(3, yes)'}
  helper() -> int: {is: "1"}
  same(size) -> bool: {is: size == size}
  helped() -> int: {is: "helper()"}
  offered(o):
    does: |
      if o.asked != none:
        settle
        amount = o.asked
  paid(who):
    does: |
      move 1 from bank to who.money
      move 1 of onyx from mine to mine
"""
SECOND = """\
language: 2
overlay: small/second
over: [small]
rules: {helper() -> int: {is: "2"}}
parts: {dear: {when: amount == 1, cards: {plan: {amends: small, cells: {"3, worth": 9}}}}}
"""
POLICIES = (
    "language: 2\npolicies: small/bots\nweights: {most: 3}\nrules: {most_of() -> int: {is: 'most + 1'}}\nis: {}\n"
)
EDITS = [
    ("[red, blue, green]", "[blue, red, green]"),
    ("shade: [dark, light]", "shade: [dark, light, harsh]"),
    ("step: 1..3", "step: 1..4"),
    ("onyx: 9, opal: 9", "onyx: 9, opal: 9, jade: 3"),
    ("coin: 90", "coin: {silver: 90}"),
    ("gem: {ruby: 9, onyx: 9, opal: 9}, ", ""),
    ("hut: {}, mill: {}", "mill: {}, hut: {}"),
    ("hut: {}, mill: {}", "hut: {}"),
    ("{what: int, price: int}", "{price: int, what: int}"),
    ("3 | 1\n      4 | 2", "4 | 2\n      3 | 1"),
    ("number | worth\n      3 | 1\n      4 | 2", "number | worth | copies\n      3 | 1 | 2\n      4 | 2 | 1"),
    ("worth: int}", "worth: int?}"),
    ("node: town", "node: city"),
    ("node: town", "node: town\n  holds: {asked: {value: int, start: 0}}"),
    ("{colour: colour}", "{colour: shade}"),
    ("length: cost", ""),
    ("ghost: {counts: no, seats: 1}", "ghost: {counts: no, seats: 2}"),
    ("score: {value: int, start: 0}", "score: {value: bool, start: no}"),
    ("amount: {value: int, start: 1}", "amount: {value: 0..9, start: 1}"),
    ("bonus: {value: 0..9, default: 1", "bonus: {value: bool, default: yes"),
    ("harsh: other", "odd: other, harsh: last"),
    ("doubt: {", "doubts_of: {"),
    ("gives: int", "gives: int?"),
    ("{number: int, loud: bool}", "{number: int, loud: int}"),
    ("limit: {is: 3}", "limit: {is: yes}"),
    ('worth_of(who) -> int: {is: "who.score"}', 'worth_of(who, n) -> int: {is: "who.score + n"}'),
    ("Ayr  | red", "Oban | red\n  Ayr  | red"),
    ("size: int", "size: colour"),
    ("round: [act]", "round: [act, prepare]"),
    ("overlays: [small/more]", "overlays: [small/second, small/more]"),
]


def written(folder: Path, old: str = "", new: str = "") -> Examined:
    """Examine the game with an edit of any of its files but the overlay."""
    files = {
        "tiny": "language: 2\nruleset: tiny\ntitle: Tiny\nfamily: small\nmap: small/isles\noverlays: [small/more]\n",
        "family": FAMILY,
        "maps/isles": MAP,
        "overlays/more": OVERLAY,
        "overlays/second": SECOND,
        "policies/bots": POLICIES,
    }
    for name, text in files.items():
        path = folder / "small" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    shelf = Shelf([folder])
    document, wrong = shelf.read("ruleset", "tiny")
    assert document is not None, wrong
    return examine(shelf, document, tables=False)


def result(found: Examined) -> tuple[Model, list[str], list[Diagnostic]]:
    assert found.model is not None
    return found.model, list(found.model.blocks), found.diagnostics


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[Names]:
    """All objects that look names up."""
    made: list[Names] = []
    init = Names.__init__

    def noted(self: Names, *args: object, **more: object) -> None:
        init(self, *args, **more)  # type: ignore[arg-type]
        made.append(self)

    def forget(self: Names) -> None:
        before = copy(self)
        before.known = dict(self.known)
        made.append(before)
        self.known.clear()

    monkeypatch.setattr(Names, "__init__", noted)
    monkeypatch.setattr(Names, "forget", forget)
    return made


def test_the_rules_are_checked_without_errors(tmp_path: Path) -> None:
    assert [d.message for d in written(tmp_path).diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_what_an_edit_elsewhere_changes_is_checked_again(tmp_path: Path, old: str, new: str) -> None:
    assert old in FAMILY + MAP + "overlays: [small/more]"
    with remembered(Trees()):
        alone = result(written(tmp_path, old, new))
    with remembered(Trees()):
        before = result(written(tmp_path))
        after = result(written(tmp_path, old, new))
        again = result(written(tmp_path))
    assert after == alone
    assert again == before
    assert after != before


def test_every_lookup_can_tell_two_rulesets_apart(tmp_path: Path, lookups: list[Names]) -> None:
    with remembered(Trees()):
        written(tmp_path)
        first = {question: known for names in lookups for question, known in names.known.items()}
        told = set[object]()
        for old, new in EDITS:
            lookups.clear()
            written(tmp_path, old, new)
            for question, (_, essence) in ((q, known) for names in lookups for q, known in names.known.items()):
                if question in first and first[question][1] != essence:
                    told.add(question[0])
    kinds = {name for name, value in vars(Names).items() if getattr(value, "is_lookup", False)}
    declaring = {"declares_type", "declares_attribute"}  # asked only for what `type` and `attributes` have answered
    assert kinds - told == {"weight", *declaring}  # weights are below


def test_weights_are_names_too(tmp_path: Path) -> None:
    model = written(tmp_path).model
    document, _ = Shelf([tmp_path]).read("policies", "small/bots")
    assert model is not None
    assert document is not None

    def body(**weights: int) -> object:
        names = Names(model, {}, {"most": 3, **weights}, checked_texts())
        (layer,) = check_helpers(helpers_in(document.root, wrong.append), names, "small/bots", wrong)
        return layer.body

    wrong: list[Diagnostic] = []
    with remembered(Trees()):
        assert body() == body() != body(most=4)
    assert wrong == []


def test_texts_with_errors_are_checked_again(tmp_path: Path) -> None:
    with remembered(Trees()):
        twice = [written(tmp_path, "limit: {is: 3}", "").diagnostics for _ in range(2)]
    assert [d.code for d in twice[0]] == ["E301"]
    assert twice[0] == twice[1]


def test_a_text_of_another_ruleset_is_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    add = Texts.add

    def noted(self: Texts, key: tuple[str, ...], kept: Any) -> None:
        checked.append(key[0])
        add(self, key, kept)

    monkeypatch.setattr(Texts, "add", noted)
    with remembered(Trees()):
        written(tmp_path)
        assert checked.count("layer") > 20
        checked.clear()
        written(tmp_path, "title: Tiny", "title: Other")
        assert "layer" not in checked
        written(tmp_path, "limit: {is: 3}", "limit: {is: yes}")
        assert "layer" in checked
        assert checked.count("layer") < 8


@pytest.mark.parametrize("holder", ["who.money", "who.huts", 'first("Ayr".places)', "deck", "first(stacks)"])
@pytest.mark.parametrize(
    "text", ["move 1 from who.typo to {}", "move 1 from {} to who.typo", "move all of who.typo to {}"]
)
def test_an_unknown_holder_is_the_only_error_of_a_move(tmp_path: Path, text: str, holder: str) -> None:
    act = f"for each who in seats:\n  {text.format(holder)}"
    found = small.examined(
        small.write(
            tmp_path, act, family=small.FAMILY.replace("zones: {", "zones: {stacks: {piles of: plan, order: kept}, ")
        )
    )
    assert [each.code for each in found.diagnostics if each.code != "W702"] == ["E304"]
