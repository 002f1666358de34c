"""Marks, scales and lanes of a table: what is said of things, on every kind of thing, to those who may know it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.scene import Scene
from interpreter.serve.table_page import View
from tests.serve.served import Served
from tests.small import write

SECTIONS = """
marks:
  rich: {on: who in seats where who.money > 4, says: {en: "has {who.money}", de: "hat {who.money}"}, colour: green}
  red: {on: t in town where t.colour == red, says: red town}
  few: {on: "gem in gem where shelf[gem] < 3", says: "{shelf[gem]} left", colour: red}
  asked: {on: plan in pile where plan.number == n, during: pick, says: "{actor} may take {n}"}
  own: {on: plan in me.hand where plan.number > 0, says: mine}
  theirs: {on: who in seats where any(c in who.hand where c.number == 1), says: has plan 1}
  told: {on: who in seats, says: "holds {sum(c.number for c in who.hand)}"}
table:
  map: {graph: yes}
  shelf:
    at: board
    track: shelf
    rows: "gem in gem where shelf[gem] > 0"
    columns: {next: "price(shelf, 1 of gem)"}
    picks: amount == 2
  seats: {rows: who in seats, columns: {who: who, hand: who.hand}}
  pile: {at: board, cards: pile, per_row: 2, compact: yes}
  count: {at: side, scale: who.money, rows: who in seats, lines: {end: 7}}
faces:
  gem: {colours: {ruby: red}, icons: {ruby: M5 5 H15 V15 Z}}
  plan: {title: plan.number, colour: ruby, plain: green, note: "a plan {plan.number}"}
tables:
  spaces:
    keys: [gem, price]
    gives: int
    is: |
      gem  | 1 | 2
      ruby | 2 | 1
      onyx | 0 | 2
      opal | 0 | 0
  full:
    keys: [gem]
    gives: int
    is: |
      gem   | ruby | onyx | opal
      start | 3    | 2    | 0
tracks: {shelf: {of: gem, spaces: spaces, start: full}}
"""
ACT = """
move [first(deck)] to pile
move [c in deck where c.number == 2] to seats[0].hand
let n = first(pile).number
choose pick(n) by seats[0]:
  take gem in gem:
    amount = 1
  stop
choose wait by seats[1]:
  stop
  go
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("marks")
    running = Served(folder / "tables.sqlite", rulesets=[str(write(folder, ACT, sections=SECTIONS))])
    yield running
    running.close()


def pieces(live: Live, seat: int, language: str = "en") -> dict[str, str]:
    return View(live, seat, language).pieces()


def labels(live: Live, seat: int) -> dict[str, list[str]]:
    marks = Scene(live, live.game, seat, "en").marks
    return {str(thing): [str(mark["text"]) for mark in found] for thing, found in marks.items()}


def test_marks_are_on_every_kind_of_thing_and_read_aloud(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    told = pieces(live, 0)
    assert told["side"].count("<bdi>has 5</bdi>") == 2
    assert pieces(live, 0, "de")["side"].count("<bdi>hat 5</bdi>") == 2
    assert "<bdi>2 left</bdi>" in told["common"]
    assert "<bdi>player 1 may take 1</bdi>" in told["common"]
    assert 'aria-label="Ayr, red town"' in told["over"]
    assert ">red town</text>" in told["over"]
    assert 'aria-label="Bute"' in told["over"]


def test_who_may_not_see_what_a_mark_reads_does_not_see_it(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    own = "card::1"
    assert labels(live, 0)[own] == ["mine"]
    assert own not in labels(live, 1)
    for seat in (0, 1, PUBLIC):
        for texts in labels(live, seat).values():
            assert not {"has plan 1", "holds …"} & set(texts)
    assert "holds 2" in labels(live, 0)["seat::0"]
    assert "holds 2" not in labels(live, 1)["seat::0"]


def test_a_mark_of_a_decision_goes_with_it(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    assert labels(live, 1)["card::0"] == ["player 1 may take 1"]
    served.done(live.choose(0, {"do": "stop"}))
    assert "card::0" not in labels(live, 1)


def test_lanes_have_columns_and_are_picked_only_where_that_is_possible(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    board = pieces(live, 0)["common"]
    assert re.search(r'class="more-of">next</th>', board)
    assert len(re.findall(r'<td class="more-of">', board)) == 2  # no space takes an opal
    assert "opal" not in board
    assert 'class="lane' not in board


def test_a_scale_says_who_stands_where_and_what_its_numbers_mean(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    side = pieces(live, 0)["side"]
    assert re.findall(r'<th scope="col"(?: class="here")?>(\d+)</th>', side) == list("01234567")
    assert '<th scope="col" class="here">7</th>' in side
    assert '<b class="here">7</b> end' in side
    cells = side.split("<tbody>")[-1].split("<td>")[1:]
    assert [len(re.findall(r'aria-label="player \d"', cell)) for cell in cells] == [0, 0, 0, 0, 0, 2, 0, 0]


def test_faces_show_icons_and_notes_and_panels_the_size_of_cards(served: Served) -> None:
    live, *_ = served.table("tiny", ["person", "person"])
    board = pieces(live, 0)["common"]
    assert 'd="M5 5 H15 V15 Z"' in board
    assert '<small class="note-of"><bdi>a plan 1</bdi></small>' in board
    assert "form-cards per-2 compact" in board
