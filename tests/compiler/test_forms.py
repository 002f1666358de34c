"""Small texts on which the two forms once came to different things, or the fast one could not go on."""

from __future__ import annotations

import random
from pathlib import Path
from textwrap import dedent, indent

import pytest

from interpreter.bots.policy import PolicyBot
from interpreter.bots.registry import policies_for
from interpreter.engine.game import Game
from interpreter.kernel.effects import NOTE
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import Match
from tests.small import FAMILY, loaded, write

TOTAL = ("state:\n", "state:\n  score_all: {value: int, start: 0}\n  some: {value: int?, start: none}\n")
LEVEL = ("  has:\n    money", "  has:\n    level: {value: int, start: 0}\n    money")
PICKED = ("  has:\n    money", "  has:\n    picked: {value: list of int, start: []}\n    money")
PURSE = ("  has:\n    money", "  has:\n    purse: {pool: gem, start: 1 of ruby}\n    money")
LONE = ("step: 1..3}", "step: 1..3, lone: 1..1}")
DUO = ("events:", "records:\n  duo: {one: int, two: int}\nevents:")
MOVED = ("events:", 'events:\n  moved: {with: {card: plan}, says: "{card.number}"}')
STORE = (
    "  has:\n    money",
    "  has:\n    store: {pool: gem, start: 1 of ruby}\n    cards: {zone: plan, order: kept}\n    money",
)
STORED = """\
choose act by seats[0]:
  take who in seats, kind in gem, number in 1 .. 2 where mine[kind] >= number:
    move number of kind from mine to who.store
  lose who in seats, kind in gem where who.store[kind] > 0:
    move 1 of kind from who.store to mine
  card who in seats, c in deck:
    move c to who.cards
  back who in seats, c in who.cards:
    move c to deck
  look who in seats:
    amount = overflow(5 of ruby + 5 of onyx, [room([ruby] if c.number == 1 else [onyx], WIDE) for c in SOME])
"""
SPARE = ("cards:\n", "cards:\n  spare: 2\n")
ZONES = (
    "zones: {deck",
    "zones: {heap: {of: card, order: kept}, spares: {of: spare, order: kept, start: all}, deck",
)
FORGES = (
    "cards:\n",
    "cards:\n  forge:\n    key: name\n    has: {name: text, needs: int, burns: set of gem}\n    is: |\n"
    "      name | needs | burns\n      Ash  | 0     | ruby\n      Bog  | 2     | -\n      Cob  | 0     | -\n"
    "      Dun  | 2     | opal\n      Elk  | 3     | ruby opal\n      Fir  | 7     | onyx opal\n",
)
HEARTHS = ("zones: {deck", "zones: {hearths: {of: forge, order: kept, start: all}, deck")
ENDLESS = ("mine: {of: gem, start: rest}", "mine: {of: gem, start: rest, unlimited: yes}")


def table(name: str, keys: str, *rows: str) -> str:
    lines = "\n".join(f"      {row}" for row in rows)
    return f"tables:\n  {name}:\n    keys: [{keys}]\n    gives: int\n    is: |\n{lines}\n"


def rule(name: str, text: str) -> str:
    head, _, body = text.partition(":")
    return f"{name}{head}: |\n{indent(dedent(body).strip(), '  ')}\n"


COSTS = table("costs", "step, number", "step | 1 | 2 | 3", "1 | 4 | 5 | 6", "2 | 40 | 50 | 60", "3 | 41 | 51 | 61")
COST = table("costs", "cities", "cities | 1 | 2 | 3", "cost | 4 | 5 | 6")
COUNTS = table("clockwise", "number", "number | 0 | 1 | 2 | 3", "n | 4 | 5 | 6 | 7")
PLANS = table("plan", "number", "number | 0 | 1 | 2 | 3", "n | 4 | 0 | 6 | 7")
LEVELS = """\
choose act by seats[0]:
  pick number in 1 .. 4, who in seats:
    who.level = number
    score_all += near(2)
    score_all += near(1) * 100
"""
ANY = "any(step in step where (seat.level == {} or seat.level == {} + 50) and step > 2)"


def burning(mixes: str, dug: str = "purse", amount: str = "where mine[kind] >= number") -> str:
    """Gems are dug until some mixes of them can be burnt."""
    burnt = {"purse": "move fuel from who.purse to mine", "gems": "gems -= fuel"}[dug]
    found = {"purse": "move number of kind from mine to who.purse", "gems": "gems += number of kind"}[dug]
    return (
        f"choose act by seats[0]:\n  burn who in seats, forge in hearths, fuel in {mixes}:\n"
        f"    score_all += fuel[ruby] + 10 * fuel[onyx] + 100 * fuel[opal]\n    {burnt}\n"
        f"  dig who in seats, kind in gem, number in [1, 3, 6] {amount}:\n    {found}\n"
    )


MANY = f"[{', '.join(map(str, range(20)))}]"
DISORDERED = ("      3\n      4\n", "      4\n      3\n")
"""Two cards with the greater number first."""
ENDS = (
    rule("least", "(cards) -> plan?: min(c in cards by c.number)")
    + rule("most", "(cards) -> plan?: max(c in cards by c.number)")
    + rule("number_of", "(drawn) -> int: 0 if drawn == none else drawn.number")
    + rule("of_hand", "(who) -> int: max(c.number for c in who.hand) otherwise 7")
    + rule("some", "() -> list of plan: [c in pile where c.number != 2]")
    + rule("few", "() -> list of plan: some() if amount == 1 else take(2, pile)")
    + rule(
        "told",
        "() -> int: number_of(least(pile)) + 10 * number_of(most(some())) + 100 * number_of(least(few())) + ends()",
    )
    + rule(
        "ends",
        "() -> int: 1000 * number_of(most(deck)) + 10000 * number_of(min(c in take(2, deck) by c.number)) + of_hands()",
    )
    + rule(
        "of_hands",
        "() -> int: 100000 * of_hand(seats[0]) + 1000000 * of_hand(seats[1]) + 10000000 * count(few()) + other()"
        " + 900000000 * number_of(most(pile)) - 1900000000",
    )
    + rule(
        "other",
        "() -> int: 100000000 * (max(c.number for c in pile where c.number < 4) otherwise 0) if amount > 0 else 0",
    )
)


def failing(line: str) -> str:
    return f"choose act by seats[0]:\n  set number in 1 .. 5:\n    amount = number\n  get:\n{indent(line, '    ')}\n"


def crowded(room: str) -> str:
    """A standing rule that asks whether somebody's cards have room for all tokens."""
    rooms = f"[room([ruby, onyx, opal], {room}) for c in who.cards]"
    does = "    does: |\n        move 1 of first(k in gem where who.store[k] > 0) from who.store to mine\n"
    return f"standing:\n  crowded:\n    for: who in seats where overflow(who.store, {rooms}) > 0\n{does}"


CASES: dict[str, tuple[str, str, tuple[tuple[str, str], ...], str]] = {
    "cards with room for tokens, which come and go": (
        STORED.replace("WIDE", "c.number").replace("SOME", "who.cards"),
        "",
        (STORE,),
        crowded("c.number"),
    ),
    "a card that comes and whose room fails": (
        STORED.replace("WIDE", "1").replace("SOME", "who.cards"),
        "",
        (STORE,),
        crowded("6 div (4 - c.number)"),
    ),
    "rooms of cards that are listed twice": (
        STORED.replace("WIDE", "2100 if c.number == 1 else 1").replace("SOME", "who.cards + who.cards"),
        "",
        (STORE,),
        crowded("9"),
    ),
    "two tables with one key fixed each": (
        "choose act by seats[0]:\n  pick c in step, s in step:\n"
        "    score_all += costs[2, s]\n    score_all += costs[c, 2] * 1000\n",
        "",
        (),
        COSTS,
    ),
    "a table that is called as the language's own": (
        "choose act by seats[0]:\n  pick number in 0 .. 3:\n"
        "    score_all += clockwise[number] + count(clockwise(seats[0]))\n",
        "",
        (),
        COUNTS,
    ),
    "a table that is called as a kind of cards": (
        "choose act by seats[0]:\n"
        "  pick number in 0 .. 3:\n    score_all += plan[number]\n"
        "    if any(p in heap where p is plan):\n      score_all += 100\n"
        "    if any(p in heap where p is not plan):\n      score_all += 1000\n"
        "  a if count(deck) > 0:\n    move first(deck) to heap\n"
        "  b if count(spares) > 0:\n    move first(spares) to heap\n",
        "",
        (SPARE, ZONES),
        PLANS,
    ),
    "cards that only a few do not pass for, or only a few pass for": (
        "choose act by seats[0]:\n"
        "  a if count(deck) > 0:\n    move first(deck) to heap\n    score_all += told()\n"
        "  b if count(spares) > 0:\n    move first(spares) to heap\n    score_all += told()\n"
        "  c card in plans():\n    move card to pile\n    score_all += told()\n"
        "  d if any(c in heap where c is spare):\n    for each card in others():\n"
        "      move card to spares\n    score_all += told()\n",
        rule("plans", "() -> list of plan: [c in heap where c is plan]")
        + rule("others", "() -> list of spare: [c in heap where c is spare]")
        + rule("told", "() -> int: count(plans()) + 10 * count(others()) + tests()")
        + rule(
            "tests",
            "() -> int: (100 if all(c is plan for c in heap) else 0)"
            " + (1000 if any(c in heap where c is spare) else 0)"
            " + (10000 if all(c is spare for c in heap) else 0)"
            " + (100000 if any(c in heap where c is plan) else 0)",
        ),
        (SPARE, ZONES),
        "",
    ),
    "a row of cards, of which others have no such number": (
        "choose act by seats[0]:\n  pick number in 1 .. 4:\n    amount = number\n    score_all += best()\n"
        "  a if count(deck) > 0:\n    move first(deck) to seats[0].hand\n    score_all += best()\n"
        "  b if count(deck) > 0:\n    move first(deck) to pile\n    score_all += best()\n",
        rule("best", "() -> int: sum(count(p in s.hand where not any(o in pile where is_more(p, o))) for s in seats)")
        + rule(
            "is_more",
            "(one, other) -> bool:\n  if one.number == other.number:\n    return no\n"
            "  return one.number * amount > other.number * amount",
        ),
        (SPARE, ZONES),
        "",
    ),
    "the least and the most of cards that are in order, and of others": (
        "score_all = told()\nchoose act by seats[0]:\n"
        "  a if count(deck) > 0:\n    move first(deck) to seats[0].hand\n"
        "  b if count(deck) > 0:\n    move first(deck) to pile\n"
        "  c card in pile where card.number > 3:\n    move card to bottom of deck\n  d:\n    score_all = told()\n",
        ENDS,
        (),
        "",
    ),
    "the least and the most of cards that are in order by something else": (
        "score_all = told()\nchoose act by seats[0]:\n"
        "  a if count(deck) > 0:\n    move first(deck) to seats[0].hand\n"
        "  b if count(deck) > 0:\n    move first(deck) to pile\n"
        "  c card in pile where card.number > 3:\n    move card to bottom of deck\n  d:\n    score_all = told()\n",
        ENDS + rule("turned", "(c) -> int: -c.number"),
        (("pile: {of: plan, order: by number}", "pile: {of: plan, order: by turned}"), DISORDERED),
        "",
    ),
    "the least and the most of cards that are in the order of their names": (
        "score_all = told()\nchoose act by seats[0]:\n"
        "  a if count(deck) > 0:\n    move first(deck) to seats[0].hand\n"
        "  b if count(deck) > 0:\n    move first(deck) to pile\n"
        "  c card in pile where card.number > 3:\n    move card to bottom of deck\n  d:\n    score_all = told()\n",
        ENDS,
        (("pile: {of: plan, order: by number}", "pile: {of: plan, order: free}"), DISORDERED),
        "",
    ),
    "cards that are asked for by their places": (
        "choose act by seats[0]:\n"
        "  a:\n    move behind() to pile\n  b:\n    move foremost() to bottom of deck\n"
        "  c:\n    move two() to seats[0].hand\n  d:\n    score_all += 10 * count(every()) + count(nothing())\n"
        "    score_all += 1000 * count(others())\n"
        "  e number in 0 .. 3:\n    score_all += 100 * count(after(number))\n",
        rule("behind", "() -> list of plan: [c in deck where position(c, deck) >= 2]")
        + rule("foremost", "() -> list of plan: [c in pile where position(c, pile) < 1]")
        + rule("two", "() -> list of plan: [c in deck where position(c, deck) <= 1]")
        + rule("every", "() -> list of plan: [c in pile where position(c, pile) > -1]")
        + rule("others", "() -> list of plan: [c in pile where position(c, pile) > 0]")
        + rule("nothing", "() -> list of plan: [c in pile where position(c, pile) < -1]")
        + rule("after", "(number) -> list of plan: [c in pile where position(c, pile) > number]"),
        (),
        "",
    ),
    "cards that go from here and there, and who sees them": (
        "choose act by seats[0]:\n"
        "  draw if count(deck) > 0:\n"
        "    if let card = first(deck):\n      move card to seats[0].hand\n      note moved(card)\n"
        "  lay card in seats[0].hand:\n    move card to pile\n    note moved(card)\n"
        "  give card in pile, who in seats:\n    move card to who.hand\n    note moved(card)\n"
        "    move card to top of deck\n    note moved(card)\n"
        "  stay card in seats[0].hand:\n    move card to seats[0].hand\n    note moved(card)\n"
        "  clear if count(deck) > 0:\n    for each card in pile:\n      move card to bottom of deck\n"
        "    if let other = first(deck):\n      note moved(other)\n",
        "",
        (MOVED,),
        "",
    ),
    "a row whose key is a list": (
        "choose act by seats[0]:\n  pick number in 1 .. 4, who in seats:\n    who.picked = [number]\n"
        "    score_all += near([1])\n    score_all += near([2]) * 100\n",
        rule(
            "near",
            "(wanted) -> int:\n  return count(seat in seats where "
            "any(step in step where (seat.picked == wanted or seat.picked == [7]) and step > 2))",
        ),
        (PICKED,),
        "",
    ),
    "a row with a constant beside its key": (
        LEVELS,
        rule(
            "near",
            f"(low) -> int: sum(count(seat in seats where {ANY.format('low + extra', 'low + extra')}) "
            "for extra in lone)",
        ),
        (LEVEL, LONE),
        "",
    ),
    "a row whose key is changed first": (
        LEVELS,
        rule("near", f"(low) -> int:\n  low += 1\n  return count(seat in seats where {ANY.format('low', 'low')})"),
        (LEVEL,),
        "",
    ),
    "a row whose key may be none": (
        "choose act by seats[0]:\n  pick number in 1 .. 4, who in seats:\n    some = number\n"
        "    score_all += near(some)\n    some = none\n    score_all += near(some)\n    who.level = number\n"
        "    score_all += near(some)\n",
        rule(
            "near",
            "(bound) -> int: count(seat in seats where bound != none "
            "and any(step in step where (seat.level > bound or seat.level == 2) and step > 2))",
        ),
        (LEVEL,),
        "",
    ),
    "a holder of nobody": (failing("if 0 <= seats[amount].purse[ruby]:\n  score_all += 1"), "", (PURSE,), ""),
    "a part of a record that is not asked for": (failing("score_all += duo(costs[amount], 7).two"), "", (DUO,), COST),
    "an argument that is not used": (
        failing("score_all += plainly(costs[amount], 7)"),
        rule("plainly", "(x, y) -> int: y + score_all"),
        (),
        COST,
    ),
    "an argument that is used in one branch": (
        failing("score_all += plainly(costs[amount], 7)"),
        rule("plainly", "(x, y) -> int: x if score_all > 3 else y"),
        (),
        COST,
    ),
    "a key that is called like a local": (
        "choose act by seats[0]:\n  pick y in take(1, sorted(x in seats by x.level * x.level, x)):\n"
        "    score_all += y.number + 1\n  other number in 0 .. 3, z in seats:\n    z.level = number\n",
        "",
        (LEVEL,),
        "",
    ),
    "what is found by an order in a text that asks again": (
        "choose act by seats[0]:\n  pick number in 1 .. 4, who in seats:\n"
        "    let best = max(s in seats where s.level > number by s.level, as listed) otherwise seats[1]\n"
        "    let least = min(s in seats by s.level, as listed)\n"
        "    let order = sorted(s in seats where s.level != number by -s.level, as listed)\n"
        "    who.level = number\n"
        "    choose more by best:\n"
        "      take n in 0 .. count(order):\n"
        "        score_all += n + best.level * 10 + least.level * 100\n",
        "",
        (LEVEL,),
        "",
    ),
    "a sum behind the test of what it adds to": (
        "choose act by seats[0]:\n  pick number in 1 .. 4, who in seats where some != none and some + 1 > number:\n"
        "    some = none\n  other number in 1 .. 4:\n    some = none if number == 1 else number\n",
        "",
        (),
        "",
    ),
    "mixes by what a card needs and burns": (
        burning("mixes(forge.needs, forge.burns, who.purse)"),
        "",
        (FORGES, HEARTHS, PURSE),
        "",
    ),
    "mixes that a function asks for": (
        burning("ways(forge, who)"),
        rule("ways", "(forge, who) -> list of bag of gem: mixes(forge.needs, forge.burns, who.purse)"),
        (FORGES, HEARTHS, PURSE),
        "",
    ),
    "mixes of the same number, of the same kinds, and of both": (
        burning(
            "mixes(2, forge.burns, who.purse) + mixes(forge.needs, [opal, onyx], who.purse)"
            " + mixes(3, [onyx, ruby], who.purse) + mixes(2, gem, who.purse)"
        ),
        "",
        (FORGES, HEARTHS, PURSE),
        "",
    ),
    "mixes of what one card needs and another burns": (
        burning("mixes(forge.needs, first(hearths).burns, who.purse)"),
        "",
        (FORGES, HEARTHS, PURSE),
        "",
    ),
    "mixes of a bag that holds less than nothing": (
        burning("mixes(forge.needs, forge.burns, gems)", "gems", "") + "  lose kind in gem:\n    gems -= 2 of kind\n",
        "",
        (FORGES, HEARTHS),
        "",
    ),
    "mixes of more than there is": (
        burning("mixes(forge.needs, forge.burns, who.purse)", amount=""),
        "",
        (FORGES, HEARTHS, PURSE, ENDLESS),
        "",
    ),
    "a list of a cell that changes": (
        "choose act by seats[0]:\n  go number in 1 .. 3:\n    let a = row\n    let c = kept()\n"
        "    add number to row\n    score_all += count(a) * 10 + count(row) + 100 * count(c)\n    let b = a\n"
        "    row = [x in row where x != first(row)]\n    score_all += sum(b) + count(x in a where x in row)\n",
        rule("kept", "() -> list of int: row"),
        (),
        "",
    ),
    "cards of a zone that changes": (
        "choose act by seats[0]:\n  go number in 1 .. 3 where count(deck) > 1:\n    let a = pile\n"
        "    let c = take(2, deck)\n    move c to pile\n    score_all += count(a) * 10 + count(c)\n"
        "    for each card in pile where card.number > number:\n      move card to deck\n"
        "      score_all += count(pile)\n"
        "  back:\n    let d = deck\n    move all of pile to deck\n    score_all += count(x in deck where x not in d)\n",
        "",
        (),
        "",
    ),
    "a bag of a cell that changes": (
        "choose act by seats[0]:\n  go kind in gem:\n    let a = gems\n    let d = [gems, a]\n    gems += 2 of kind\n"
        "    score_all += a[kind] * 10 + gems[kind] + 100 * d[0][kind] + two(a, gems)\n    gems = gems - a\n"
        "    if gems == d[1]:\n      score_all += 1000\n",
        rule("two", "(flow, ebb) -> int: flow[ruby] + 3 * ebb[ruby] if flow != ebb else 0 - 1"),
        (),
        "",
    ),
    "a list in a record in a list": (
        "choose act by seats[0]:\n  go number in 1 .. 3:\n    let a = [many(row, amount), many([number], 2)]\n"
        "    add number to row\n    amount = amount mod 7 + count(x in a where any(y in x.some where y == number))\n"
        "    pairs = [many([z in x.some where z > 1], count(x.some)) for x in a]\n"
        "    score_all += count(row) + sum(count(x.some) * x.last for x in pairs)\n"
        "    if a[0] == pairs[0] or a[1] in pairs:\n      row = [first(row)]\n",
        rule("least", "() -> int: 0"),
        (
            ("events:", "records:\n  many: {some: list of int, last: int}\nevents:"),
            ("state:\n", "state:\n  pairs: {value: list of many, start: []}\n"),
        ),
        "",
    ),
    "a procedure that changes what it was given": (
        "choose act by seats[0]:\n  go number in 1 .. 3:\n    grow(row, number)\n    let here = grown(row)\n"
        "    score_all += here\n",
        "grow(a, n):\n  does: |\n    for each x in a:\n      add x + n to row\n"
        "    row = [y in row where y < 9] + [n]\n    score_all += count(a)\n"
        "grown(a) -> int:\n  does: |\n    row = []\n    return count(a)\n",
        (),
        "",
    ),
    "a list of a local that changes": (
        "let a = [1, 2, 3]\nchoose act by seats[0]:\n  go number in 1 .. 3:\n    let b = a\n    for each x in a:\n"
        "      a = [y in a where y != x]\n      score_all += count(a) * 10 + count(b)\n"
        "    a = b\n    for each x in a:\n      a = a + [x]\n      score_all += grown(a, number)\n"
        "    row = take(5, a)\n",
        rule("grown", "(a, n) -> int: count(x in a where x < n) + count(a)"),
        (),
        "",
    ),
    "a cell of somebody who is another one meanwhile": (
        "choose act by seats[0]:\n  go number in 1 .. 3:\n    seats[amount].score = other(number)\n"
        "    seats[amount].score += number\n",
        "other(n) -> int:\n  does: |\n    amount = 1 - amount\n    return n + seats[amount].score\n",
        (),
        "",
    ),
    "a list of nothing": (
        "choose act by seats[0]:\n  go number in 0 .. 2:\n    let a = []\n"
        "    amount = sum(x for x in [y in [] where number > 1])\n"
        "    score_all += count(x in a where count(x .. 3) > 1) + (max(x + 1 for x in []) otherwise 2)\n"
        "    row = [x in [] where x == number] + [number]\n    for each x in []:\n      score_all += x\n",
        "",
        (),
        "",
    ),
    "who is among all seats": (
        "choose act by seats[0]:\n  go number in 0 .. 2:\n"
        "    let a = first(x in seats where x.number > number) otherwise none\n"
        "    if a in seats:\n      amount += 1\n    if a not in seats:\n      score_all += 1\n"
        "    score_all += count(x in row where first(y in seats where y.number > x) in seats)\n    add number to row\n",
        "",
        (),
        "",
    ),
    "what a rule gives that may ask, by one that does not": (
        "let a = asked(amount)\nscore_all += a\nrow = take(3, [a] + row)\n",
        "asked(n) -> int:\n  does: |\n    if n > 1:\n      choose act by seats[0]:\n"
        "        go number in 0 .. 2:\n          amount = number\n          return quick(number)\n"
        "        not_now\n    amount += 1\n    return quick(n)\n"
        "quick(n) -> int:\n  does: |\n    score_all += 10\n    return n + 1\n",
        (),
        "",
    ),
    "what is none": (
        "choose act by seats[0]:\n  go number in 0 .. 2:\n    some = none if number == 0 else number - 1\n"
        "    let a = [some, none, 0]\n    score_all += count(x in a where x == none) * 10 + (some otherwise 7)\n"
        "    let b = max(c in pile by c.number) otherwise none\n    if b != none:\n      move b to deck\n"
        "    else:\n      move first(deck) to pile\n    if some in a and none in a:\n      score_all += 1\n",
        "",
        (),
        "",
    ),
    "what is in a list that a rule gives": (
        "choose act by seats[0]:\n  go number in 0 .. 6 where number in bids(number div 2):\n    amount += 1\n"
        "    score_all += 1 if number + 3 in bids(amount) else 10\n    some = none if number == 2 else number\n"
        "  who x in seats where x in pair(amount):\n    score_all += 100 if some in bids(amount) else 1000\n"
        "    amount = 0\n  stop\n",
        "bids(n) -> list of int:\n  is: |\n    if n == 1:\n      return [n + 1, 2 + amount]\n"
        "    return n .. 7 - amount\n" + rule("pair", "(n) -> list of seat: [seats[n mod 2], seats[0]]"),
        (),
        "",
    ),
    "a range that is too long for a list": (
        "choose act by seats[0]:\n  go number in 1 .. 3:\n    amount += number\n"
        "    score_all += 1 if number in far(amount) else 2\n",
        rule("far", "(n) -> list of int: n .. n * 5000"),
        (),
        "",
    ),
    "loops in functions that change what their lists are made of": (
        "choose act by seats[0]:\n  go number in 0 .. 6:\n"
        "    row = [cut(number), grown(number), rounds(number), marked(number), passes(number)]\n"
        "  early number in 1 .. 6:\n    amount = early(number)\n",
        rule(
            "cut", "(n) -> int:\n  let m = n\n  for each x in [x for x in 1 .. 9 where x > m]:\n    m += x\n  return m"
        )
        + rule("grown", "(n) -> int:\n  let m = n\n  for each x in 1 .. m:\n    m = min(m + 1, 6)\n  return m")
        + rule(
            "rounds",
            "(n) -> int:\n  let a = [x for x in 1 .. n]\n  let m = 0\n  for each x in [x + count(a) for x in a]:\n"
            "    a = []\n    m += x\n  return m",
        )
        + rule(
            "marked",
            "(n) -> int:\n  let them = take(n mod 3, seats)\n  let m = 0\n"
            f"  for each x in [x for x in {MANY} where seats[x mod 2] in them]:\n"
            "    m += x if seats[0] in them else 100\n    them = [seats[m mod 2]]\n  return m",
        )
        + rule("passes", "(n) -> int:\n  let m = n + 3\n  while m > 0 at most m times:\n    m -= 2\n  return m")
        + rule(
            "early",
            "(n) -> int:\n  for each x in [10 div (x - n) for x in 1 .. 5 where x != 4]:\n    return x\n  return 3",
        ),
        (),
        "",
    ),
    "nobody's level": (
        "choose act by seats[0]:\n  go:\n    amount += calc(none)\n",
        rule("calc", "(ghost) -> int: count(x in 1 .. 5 where ghost != none and ghost.level + 1 > x)"),
        (LEVEL,),
        "",
    ),
}


def tried(game: Game, choice: dict[str, object]) -> str:
    try:
        game.apply(choice)
    except RuleFailure as failure:
        return str(failure)
    return ""


def told(game: Game) -> list[tuple[object, ...]]:
    """The events of a game, with who may see what of them."""
    return [record[2:] for record in game.state.log if record[0] == NOTE]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_both_forms_come_to_the_same(name: str, tmp_path: Path) -> None:
    act, rules, changes, tables = CASES[name]
    family = FAMILY.replace(*TOTAL)
    for old, new in changes:
        assert old in family
        family = family.replace(old, new)
    path = write(tmp_path, act, rules, "", family + tables)
    rulesets = loaded(path), loaded(path)
    for seed in range(2):
        fast, plain = (ruleset.new_game(2, seed) for ruleset in rulesets)
        assert fast.runner.module is not None
        assert not fast.runner.module.builder.left_out
        fast.runner.bailouts, plain.runner.plain = 0, True
        chance = random.Random(seed)
        for _ in range(40):
            assert fast.state.difference(plain.state) == []
            assert fast.state.frame == plain.state.frame
            assert told(fast) == told(plain)
            if fast.decision is None or plain.decision is None:
                break
            options = [decision.codes[:200] for decision in (fast.decision, plain.decision)]
            assert options[0] == options[1]
            choice = fast.decision.option(chance.choice(options[0])).as_dict()
            failures = [tried(game, dict(choice)) for game in (fast, plain)]
            assert failures[0] == failures[1]
            assert fast.runner.bailouts == bool(failures[0])
            if failures[0]:
                break


WIDE = {
    "a cell": "amount = 2147483647\namount += number",
    "a cell below": "amount = 0 - 2147483647\namount -= number",
    "what could be none": "some = 0 - 2147483647 - number",
    "a product": "amount = 99999 * 99999 * number mod 1000",
    "a product of products": "score_all = (3000000000 * 3000000 * number) mod 1001",
    "a local that doubles": "let x = number\nfor each a in 1 .. 58:\n  x = x + x\namount = x mod 1000",
    "a local that doubles too often": "let x = number\nfor each a in 1 .. 99:\n  x = x + x\namount = x mod 1000",
    "a sum": "row = [2147483647, 2147483647, number]\nscore_all = sum(row) mod 1000",
    "a sum of sums": "score_all = sum(sum(a * 1000000 for a in 1 .. 100) * 1000 for b in 1 .. number) mod 1000",
    "an argument that doubles": "score_all = f12(number) mod 1000",
    "an argument that doubles too often": "score_all = f21(number) mod 1000",
    "an item": "row = [x * 1000000 for x in 1 .. 2000 + number where x > 2000]",
    "a bag": "gems = 3000000000 of ruby\ngems += number of onyx",
    "a bag that is worked out": "score_all = (number of ruby + 3000000000 of onyx - 2999999999 of onyx)[onyx]",
    "a list longer than its room": "row = [x for x in 1 .. 100 + number]\namount = count(row)",
    "a long list": "let a = [x for x in 1 .. 1000 + number]\nscore_all = sum(a) + count(a + a)",
    "a key": "row = sorted(x in [3, 1, 2] by x * 1000000 * 1000000 * number, as listed)",
    "a range": "amount = count(x in 3000000000 .. 3000000000 + number where x mod 2 == 0)",
    "a least number": "some = min(0 - 2147483648 for x in 1 .. number)\namount = 3 if some == none else 4",
    "a comparison": "if 3000000000 * number > 2147483647 and number * 0 - 3000000000 < 0:\n  amount = 9",
    "none among numbers": "some = 1\namount = count(x in [0 - 2147483648, number, some] where x == none)",
    "a local of a function that doubles": "score_all = often(number, 30) mod 1000",
    "a local of a function that doubles too often": "score_all = often(number, 99) mod 1000",
    "a result that doubles": "score_all = twice(number) mod 1000",
    "an event": "note said(3000000000 * number)",
    "an option": "wide = number",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDE)
def test_numbers_that_the_module_has_no_room_for(name: str, tmp_path: Path) -> None:
    """The plain form works with them; the game goes on where it was, in either form."""
    rules = "".join(rule(f"f{i}", f"(n) -> int: f{i - 1}({' + '.join(['n'] * 8)})") for i in range(1, 31))
    rules += rule("f0", "(n) -> int: n")
    rules += "often(n, times) -> int:\n  is: |\n    let x = n\n    for each a in 1 .. times:\n"
    rules += "      x = x + x\n    return x\n"
    halves = "\n".join(f"  let x{i} = x{i - 1} + x{i - 1} + x{i - 1}" for i in range(1, 50))
    rules += rule("twice", f"(n) -> int:\n  let x0 = n\n{halves}\n  return x49")
    act = f"choose act by seats[0]:\n  go number in 1 .. 3:\n{indent(WIDE[name], '    ')}\n  small:\n    amount = 1\n"
    act += "  far number in [1, 3000000000 * wide]:\n    score_all = number\n"
    family = FAMILY.replace(*TOTAL).replace("state:\n", "state:\n  wide: {value: int, start: 0}\n")
    path = write(tmp_path, act, rules, "", family)
    fast, plain = (loaded(path).new_game(2, 1) for _ in range(2))
    assert fast.runner.module is not None
    plain.runner.plain = True
    chance = random.Random(name)
    for _ in range(25):
        assert fast.decision is not None
        assert plain.decision is not None
        codes = plain.decision.codes
        assert fast.decision.codes == codes
        choice = plain.decision.option(chance.choice(codes)).as_dict()
        assert tried(fast, dict(choice)) == tried(plain, dict(choice))
        assert fast.digest() == plain.digest()
        assert fast.choices == plain.choices
        if chance.random() < 0.2:
            assert fast.undo() == plain.undo()
            assert fast.digest() == plain.digest()
    assert told(fast) == told(plain)


def test_a_policy_asks_a_function_of_its_own_about_cards(tmp_path: Path) -> None:
    act = "choose act by seats[0]:\n  get c in deck:\n    move c to pile\n  back c in pile:\n    move c to deck\n"
    path = write(tmp_path, act)
    lines = [
        "get c where any(p in deck where dear(p))",
        "get c where count(p in pile where dear(p)) > 0",
        "back c where overflow(gems, [room([ruby], 3 if dear(p) else 1) for p in pile]) == 0",
    ]
    prefer = "\n".join(f"        {line}" for line in [*lines, "any at random"])
    policies = tmp_path / "small" / "policies" / "others.yaml"
    policies.parent.mkdir()
    policies.write_text(
        "language: 2\npolicies: small/others\ntitle: Others\n"
        "rules:\n  dear(c) -> bool: c.number > 2\n"
        f"is:\n  own:\n    act:\n      prefer: |\n{prefer}\n"
    )
    stories = []
    for plain in (True, False):
        ruleset = loaded(path)
        match = Match(ruleset, [PolicyBot(policies_for(ruleset)["own"], in_world=True) for _ in range(2)], 1)
        match.game.runner.plain = plain
        stories.append([match.step() and match.game.digest() for _ in range(30)])
    assert stories[0] == stories[1]
    module = match.game.runner.module
    assert module is not None
    assert (len(module.players), match.game.runner.bailouts) == (1, 0)
    assert not module.builder.left_out


def test_who_decides_next_must_be_known(tmp_path: Path) -> None:
    """Where that cannot be said the choice before is not made, and the game stays at its decision."""
    act = "choose act by seats[amount]:\n  go number in 0 .. 5:\n    amount = number\n"
    game = loaded(write(tmp_path, act, "", "", FAMILY)).new_game(2, 1)
    for number in (1, 0, 1, 5, 0):
        decision, digest = game.decision, game.digest()
        if number < 2:
            game.apply({"do": "go", "number": number})
            assert game.decision is not None
            assert game.decision.actor == number
            continue
        with pytest.raises(RuleFailure):
            game.apply({"do": "go", "number": number})
        assert game.digest() == digest
        assert game.decision is not None
        assert decision is not None
        assert game.decision.frame is decision.frame


def test_each_decision_may_use_up_as_much_as_the_one_before(tmp_path: Path) -> None:
    """Whole games are one call, with many dear decisions, none of which is dear enough to give up."""
    act = (
        "choose act by seats[0]:\n  go:\n    amount = sum(sum(m * n for m in 1 .. 99) mod 7 for n in 1 .. 400)\n"
        "if round > 24:\n  end game\n"
    )
    sections = "policies:\n  first: {act: {prefer: any}}\n"
    ruleset = loaded(write(tmp_path, act, sections=sections))
    runner = ruleset.new_game(2, 1).runner
    seated = runner.whole([(policies_for(ruleset)["first"], None)] * 2)
    assert seated is not None
    found = seated[0].games([1], seated[1], 30)
    assert (found.decisions, found.rounds) == ([25], [25])


NEVER_SET = {
    "a card": "let o: plan? = none\n{asks}amount = o.number if o != none else 3\n",
    "a number": "let o: int? = none\n{asks}amount = o otherwise 3\n",
    "a seat": "let o: seat? = none if round > 1 else none\n{asks}if let who = o:\n  amount = who.score\n",
    "a record": "let o: duo? = none\n{asks}amount = o.one if o != none else 3\n",
    "a list": "let o: list of duo = []\n{asks}amount = count(o) + sum(each.one for each in o)\n",
    "a value of an event": "{asks}note told(none)\n",
}


@pytest.mark.parametrize("asks", ["", "choose go by seats[0]:\n  ok\n"])
@pytest.mark.parametrize("what", NEVER_SET)
def test_a_local_that_is_always_none_has_its_type(what: str, asks: str, tmp_path: Path) -> None:
    """In the module, a value that nothing sets has the form of its type."""
    head, declared = DUO
    told = 'events:\n  told: {with: {it: plan?}, says: "told"}'
    family = FAMILY.replace(head, declared.replace("events:", told)).replace("{n: int", "{each: duo, n: int")
    sections = "triggers:\n  tells: {on: told(it) where it == none or it.number > 2, does: amount = 3}\n"
    act = NEVER_SET[what].replace("{asks}", asks) + "choose stop by seats[0]:\n  go:\n    end game\n"
    game = loaded(write(tmp_path, act, "", sections, family)).new_game(2, 1)
    game.runner.plain = False
    assert game.runner.ready() is not None
    while game.decision is not None:
        game.apply(game.decision.options[0])
    assert game.runner.bailouts == 0
    module = game.runner.module
    assert module is not None
    assert not module.builder.left_out
