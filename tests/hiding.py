"""A small game that hides things in every way of the language, and random procedures for it."""

from __future__ import annotations

import random
from pathlib import Path
from textwrap import indent

from interpreter.engine.game import Game
from tests.small import loaded, write

__all__ = ["FAMILY", "HELPERS", "Writer", "game_of"]

FAMILY = """\
language: 2
family: small
names: {n: int, more: int, number: int, who: seat, c: plan, d: plan}
kinds: {step: 1..100}
tokens: {coin: 900, gem: {ruby: 9, onyx: 9}}
cards:
  plan:
    key: number
    has: {number: int}
    holds: {mark: {value: step, start: 3}, under: {zone: slip}, owed: {pool: coin}, guess: {value: seat?}}
    is: |
      number
      1
      2
      3
      4
      5
      6
  slip:
    key: number
    has: {number: int}
    is: |
      number
      11
      12
      13
zones:
  slips: {of: slip, order: by number, start: all}
  pile: {of: plan, order: by number}
  deck: {of: plan, order: kept, seen: no one, start: all}
pools:
  mint: {of: coin, start: 9}
  bank: {of: coin, start: rest, unlimited: yes, seen: no one}
  mine: {of: gem, start: rest, seen: no one}
graph:
  node: town
  has: {colour: int}
  holds: {trap: {value: step, start: 9, seen: no one}, crypt: {zone: slip, seen: no one}, post: {pool: coin}}
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
    purse: {pool: coin, start: 20, seen: owner}
    gems: {pool: gem}
    hand: {zone: plan, order: kept, seen: owner}
    wish: {value: step, start: 7, seen: owner}
    maybe: {value: step?, seen: owner}
    score: {value: int, start: 0}
state:
  weather: {value: step, start: 50, seen: no one}
  amount: {value: int, start: 1}
  row: {value: list of int, start: []}
events:
  said: {with: {number: int}, says: "{number}"}
round: [act]
setup: prepare
result: {rank: [who.score]}
"""
HELPERS = """\
is_it(n) -> bool: {is: "n == weather"}
near(n) -> int: {is: "n + weather - weather"}
doubled(n) -> int: {is: "n * 2"}
noted(n):
  does: |
    note said(n)
asks(n):
  does: |
    choose other by seats[0]:
      tell m in 1 .. 3:
        amount = n + m
chosen(who) -> int:
  does: |
    choose pick by who, sealed:
      take n in 1 .. 3:
        return n
"""


def game_of(
    folder: Path,
    act: str,
    sections: str = "",
    before: str = "",
    players: int = 2,
    seed: int = 1,
    *,
    family: str = FAMILY,
    rules: str = HELPERS,
) -> Game:
    """Start a game whose only phase is ``act``, after ``before``."""
    path = write(folder, f"{before}\n{act}" if before else act, rules, sections, family)
    isles = path.parent / "maps" / "isles.yaml"
    isles.write_text(isles.read_text().replace("red", "1").replace("blue", "2"), encoding="utf-8")
    return loaded(path).new_game(players, seed=seed)


NUMBERS = (
    *(
        "a",
        "b",
        "number",
        "amount",
        "weather",
        "seats[0].wish",
        "seats[1].wish",
        "count(deck)",
        "count(row)",
        "2",
        "40",
    ),
    *("seats[1].purse", "seats[0].purse", "count(seats[1].hand)", "near(a)", "doubled(b)", "total(seats[0].gems)"),
    *("(seats[0].maybe otherwise 3)", "(o.number if o != none else 0)", "sum(c.number for c in deck)", "total(mine)"),
    *(
        "first(town).trap",
        "sum(t.trap for t in town)",
        "sum(c.mark for c in seats[0].hand)",
        "sum(count(c.under) for c in plan)",
    ),
    *("sum(c.mark + c.owed for c in pile)", "count(first(town).crypt)", "sum(count(c.under) for c in seats[1].hand)"),
    *("(min(c.number for c in seats[0].hand) otherwise 1)", "sum(row)"),
)
TESTS = (
    *("{} == {}", "{} < {}", "is_it({})", "seats[1].maybe == none", "o == none", "deck != []", "{} in row"),
    *("any(c in seats[0].hand where c.number == {})", "first(deck).number > 2", "count(row) > 2 and {} > 3"),
)
STEPS = (
    *(
        "amount = {} mod 50",
        "a = {} mod 50",
        "b = {} mod 60",
        "weather = {} mod 60 + 1",
        "seats[1].wish = {} mod 60 + 1",
    ),
    *("add {} mod 50 to row", "note said({})", "noted({})", "asks({} mod 50)", "seats[0].score += {} mod 9"),
    *("seats[0].maybe = {} mod 60 + 1", "seats[1].maybe = none", "o = none", "o = first(c in deck where c.number > 3)"),
    *("move take(1, deck) to seats[0].hand", "move take(1, seats[0].hand) to deck", "move take(1, deck) to pile"),
    *("move take(1, seats[1].hand) to bottom of deck", "move take(1, seats[0].hand) to seats[1].hand", "shuffle deck"),
    *("move 1 from seats[0].purse to bank", "move {} mod 9 from bank to seats[1].purse", "reveal", "settle"),
    *("move 1 of ruby from mine to seats[0].gems", "a = pick from 1 .. 3 as die", "a = chosen(seats[1])", "row = []"),
    *("first(town).trap = {} mod 60 + 1", "move take(1, slips) to first(town).crypt", "move last(town).crypt to slips"),
    "for each x in take(1, seats[0].hand):\n  x.mark = {} mod 60 + 1\n  move min(2, mint) from mint to x.owed",
    "for each x in take(1, deck):\n  x.guess = seats[1]\n  move take(1, slips) to x.under",
    "for each x in plan where x.under != []:\n  move x.under to slips",
    "for each x in pile where x.guess != none:\n  move all of x.owed to last(town).post\n  x.guess = none",
    *("b = chosen(seats[0])", "o = none if {} > 3 else first(deck)", "move min({}, 3) from seats[1].purse to bank"),
)
BLOCKS = (
    "if {test}:",
    "for each c in deck:",
    "for each c in seats[0].hand:",
    "at end of phase:",
    "while count(row) < 3 at most 3 times:",
)


class Writer:
    """Writes random procedures that hide things in every way."""

    def __init__(self, seed: int) -> None:
        self.rng, self.asked = random.Random(seed), 0

    def filled(self, text: str) -> str:
        while "{}" in text:
            text = text.replace("{}", self.rng.choice(NUMBERS), 1)
        return text

    def steps(self, number: int, depth: int) -> str:
        return "\n".join(self.step(depth) for _ in range(number))

    def step(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.3:
            head = rng.choice(BLOCKS).replace("{test}", self.filled(rng.choice(TESTS)))
            if "phase" in head:  # locals are copied, but may not be assigned
                return f"{head}\n  amount = {self.filled('{} mod 9')}"
            end = "\n  add 1 to row" if head.startswith("while") else ""
            return f"{head}\n{indent(self.steps(rng.randrange(1, 3), depth - 1), '  ')}{end}"
        if depth and kind < 0.5:
            return self.asks(depth - 1)
        return self.filled(rng.choice(STEPS))

    def asks(self, depth: int) -> str:
        rng, name, self.asked = self.rng, self.asked, self.asked + 1
        context = rng.choice(("", "", f"({self.filled('n = {}')})"))
        ways = ("by seats[0]", "by seats[1]", "by seats[0]", "by seats[1], sealed", "by each s in seats, at once")
        where = rng.choice(("", "", f" where number != {self.filled('{}')}"))
        body = indent(self.steps(rng.randrange(1, 4), depth), " " * 4)
        return (
            f"choose say_{name}{context} {rng.choice(ways)}:\n  tell number in 1 .. 4{where}:\n{body}\n"
            f"  stop if {self.filled(rng.choice(TESTS))}\n  pass"
        )

    def program(self) -> str:
        text = "let a = 1\nlet b = weather\nlet number = 5\nlet o: plan? = none\n"
        return text + "\n".join([self.steps(2, 2), self.asks(2), self.asks(2), self.steps(2, 1), self.asks(1)])
