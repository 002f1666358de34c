"""What is hidden stays hidden: from policies, from searches, and from everything that a game tells; and where it does
not, it is found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from interpreter.bots.player import Stream
from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import Worlds, otherwise
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import pending
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.reading.files import shelf_for
from interpreter.testing.soundness import Examiner, drawing, some_option
from tests.hiding import FAMILY as HIDING
from tests.hiding import game_of
from tests.looks import shown
from tests.small import FAMILY, loaded, write
from tests.support import ENVELOPES

pytestmark = pytest.mark.usefixtures("at_once")

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(scope="module")
def cups() -> Ruleset:
    return load("cups", shelf=shelf_for(CASES / "cups" / "cups.yaml"))


def guesses(ruleset: Ruleset, games: int) -> tuple[list[int], list[str]]:
    """How often seats find the pea, and what they choose."""
    match = Match(ruleset, bots_of("peeker", ruleset, 2), 0)
    machine = match.game.machine
    found: list[int] = []
    chosen: list[str] = []
    for seed in range(games):
        match = Match(ruleset, bots_of("peeker", ruleset, 2), seed)
        match.step(), match.step()
        assert match.game.machine is machine
        found.extend(seat["score"] for seat in match.game.view()["seats"])
        chosen.append(str(match.game.choices))
    return found, chosen


def test_a_policy_does_not_see_what_its_seat_may_not_see(cups: Ruleset) -> None:
    """It looks under the cups before it guesses, and wins no more than a third; the same in both forms."""
    runner = cups.table(2, cups.settings({})).runner
    runner.plain = True
    plain = guesses(cups, 60)
    runner.plain = False
    fast = guesses(cups, 60)
    assert plain == fast
    assert 25 < sum(plain[0]) < 55


def sought(ruleset: Ruleset, hidden: int) -> Game:
    """A game in which the second seat has kept a number to itself, and the first one seeks it."""
    game = ruleset.new_game(2, seed=1)
    for choice in ({"do": "cup", "number": 1}, {"do": "cup", "number": 2}, {"do": "keep", "number": 1}):
        game.apply(choice)
    game.apply({"do": "keep", "number": hidden})
    return game


def test_a_search_does_not_see_a_sealed_choice_in_a_local(cups: Ruleset) -> None:
    found = []
    for hidden in (1, 2, 3):
        game = sought(cups, hidden)
        assert game.decision is not None
        bot = bots_of("search:60:random", cups, 2)[0]
        found.append([str(bot.choose(game, game.decision, Stream(seed, "test"))) for seed in range(4)])
    assert found[0] == found[1] == found[2]


@pytest.fixture(scope="module")
def liars() -> Ruleset:
    return load("liars", shelf=shelf_for(CASES / "liars" / "liars.yaml"))


def rolled(ruleset: Ruleset, hidden: list[int], colour: str) -> Game:
    """A game in which the first seat is to bid, and the second has rolled what the first cannot see."""
    chance = {"dice": [1, 1, 2, 3, 4, *hidden], "luck": [hidden[0]], "bidder": [0]}
    game = ruleset.new_game(2, seed=1, chance=chance)
    game.apply({"do": "keep", "colour": "red"})
    game.apply({"do": "keep", "colour": colour})
    return game


@pytest.mark.parametrize("bot", ["peeker", "search:40:random"])
def test_hidden_values_make_no_difference_to_what_a_bot_does(liars: Ruleset, bot: str) -> None:
    found = []
    for hidden, colour in (([1, 1, 1, 1, 1], "red"), ([6, 6, 6, 6, 6], "blue")):
        game = rolled(liars, hidden, colour)
        assert game.decision is not None
        player = bots_of(bot, liars, 2)[0]
        found.append([str(player.choose(game, game.decision, Stream(seed, "test"))) for seed in range(8)])
    assert found[0] == found[1]
    assert len(set(found[0])) > 1  # each guess is another one


def test_worlds_have_hidden_values_that_can_be(liars: Ruleset) -> None:
    game = rolled(liars, [1, 1, 1, 1, 1], "red")
    worlds, random = Worlds(game, 0), Stream(1, "test")
    dealt = [worlds.deal(number, random.below).view() for number in range(30)]
    assert {pip for world in dealt for pip in world["seats"][1]["dice"]} == {1, 2, 3, 4, 5, 6}
    assert {world["seats"][1]["colour"] for world in dealt} == {"red", "green", "blue"}
    assert all(len(world["seats"][1]["dice"]) == 5 for world in dealt)
    assert all(world["seats"][0] == game.view()["seats"][0] for world in dealt)


SECRET = (
    FAMILY.replace("money: {pool: coin, start: 5}", "money: {pool: coin, start: 5, seen: owner}")
    .replace("bank: {of: coin, start: rest}", "bank: {of: coin, start: rest, seen: no one}")
    .replace("    score: {", "    die: {value: step, start: 2, seen: owner}\n    score: {")
    .replace("  amount: {", "  mood: {value: int, start: 3, seen: no one}\n  amount: {")
)
LEAKS = {
    "an event, of the cards of a hand": "note said(sum(c.number for c in seats[1].hand))",
    "an event, of the tokens of a pool": "note said(seats[1].money)",
    "an event, of the first card of a stack": "note said(first(deck).number)",
    "an event, of a value of a seat": "note said(seats[1].die)",
    "a value, of a hidden value": "amount = mood * 2",
    "a value, of the cards of a hand": "amount = sum(c.number for c in seats[1].hand)",
    "a value, of the tokens of a pool": "amount = seats[1].money",
    "a list, of the cards of a hand": "row = [c.number for c in seats[1].hand]",
}
SOUND = {
    "a value that changes unseen": "seats[1].die = 3\nmood += 1",
    "how many cards": "note said(count(seats[1].hand))",
    "what is paid": "move 2 from seats[1].money to bank\nnote said(2)",
    "a card that is shown": "move first(deck) to pile\namount = sum(c.number for c in pile)",
}


def leaks(folder: Path, told: str) -> set[str]:
    act = f"""
    if round == 1:
      shuffle deck
      move take(1, deck) to seats[0].hand
      move take(1, deck) to seats[1].hand
    choose say by seats[0]:
      tell:
{indent(told, " " * 8)}
    if round == 3:
      end game
    """
    game = loaded(write(folder, act, family=SECRET)).new_game(2, seed=4)
    examiner = Examiner(game, drawing(3, "test"), thorough=True)
    found: set[str] = set()
    for _ in range(2):
        decision = game.decision
        assert decision is not None
        found.update(str(trouble) for trouble in examiner.look())
        found.update(str(trouble) for trouble in examiner.make(decision.options[0]))
    return found


@pytest.mark.parametrize("told", LEAKS)
def test_what_tells_hidden_things_is_found(tmp_path: Path, told: str) -> None:
    found = leaks(tmp_path, LEAKS[told])
    assert found
    assert all("told" in each for each in found), found


@pytest.mark.parametrize("told", SOUND)
def test_what_tells_nothing_hidden_is_no_leak(tmp_path: Path, told: str) -> None:
    assert leaks(tmp_path, SOUND[told]) == set()


PAID = {
    "told": ("move number from who.money to bank\n  note paid(who, number)", True),
    "told, with more": ("move number from who.money to bank\n  amount = 2\n  note paid(who, number)", True),
    "not told at all": ("move number from who.money to bank\n  note said(1)", False),
    "not of whom": ("move number from who.money to bank\n  note said(number)", False),
    "not told when somebody is asked": (
        "move number from who.money to bank\n  choose say by seats[0]:\n    tell:\n      note paid(who, number)",
        False,
    ),
    "told elsewhere alone": (
        "move number from who.money to bank\n  note paid(who, number)\nmove 1 from seats[1].money to bank",
        False,
    ),
}


@pytest.mark.parametrize("paid", PAID)
def test_hidden_tokens_are_known_where_all_that_moves_is_told(tmp_path: Path, paid: str) -> None:
    text, known = PAID[paid]
    family = SECRET.replace("events:\n", "events:\n  paid: {with: {who: seat, number: int}, says: '{who} {number}'}\n")
    act = f"""
for each who in seats:
  let number = count(who.huts)
  {text}
choose say by seats[0]:
  tell:
    end game
"""
    ruleset = loaded(write(tmp_path, act, family=family))
    game = ruleset.new_game(2, seed=1)
    worlds, random = Worlds(game, 0), Stream(1, "test")
    held = {worlds.deal(number, random.below).view()["seats"][1]["money"] for number in range(20)}
    assert (held == {game.view()["seats"][1]["money"]}) == known
    game.state.log.clear()  # who has not heard what was told knows nothing
    worlds = Worlds(game, 0)
    assert len({worlds.deal(number, random.below).view()["seats"][1]["money"] for number in range(20)}) > 1


AT_ONCE = """
choose bid by each s in seats, at once:
  tell number in 1 .. 3:
    s.score = number
if seats[0].score == seats[1].score:
  seats[1].score = 100
end game
"""


def test_a_search_does_not_see_what_is_chosen_at_once(tmp_path: Path) -> None:
    ruleset, found = loaded(write(tmp_path, AT_ONCE)), set()
    for hidden in (1, 2, 3):
        game = ruleset.new_game(2, seed=1)
        game.apply({"do": "tell", "number": hidden})
        assert game.decision is not None
        bot = bots_of("search:40:random", ruleset, 2)[1]
        found.add(str(bot.choose(game, game.decision, Stream(2, "test"))))
    assert len(found) == 1


TOLD_NOTHING = {
    "a card": ("plan?", "held = first(c in deck where c.number == (1 if weather > 50 else 2))"),
    "a place": ("plan?", "held = first(deck) if weather > 50 else last(deck)"),
    "a list": ("list of plan?", "held = take(1 if weather > 50 else 3, deck)"),
    "a record": ("offer?", "held = offer(first(deck), weather, none if weather > 50 else 3)"),
    "tokens": ("plan?", "let card = first(deck)\nmove weather from bank to card.coins"),
    "tokens of a kind": (
        "plan?",
        "let card = first(deck) if weather > 50 else last(deck)\nmove 3 of ruby from mine to card.stones",
    ),
}
OFFERED = """
choose z by seats[0]:
  safe:
    amount = 2
  risk:
    amount = 3
"""


def pair(folder: Path, act: str, type_: str = "plan?") -> list[Game]:
    """Two games that differ only in a number that seat 0 does not see."""
    family = HIDING.replace("  row: {", f"  held: {{value: {type_}}}\n  row: {{")
    family = family.replace("    holds: {", "    holds: {coins: {pool: coin}, stones: {pool: gem}, ")
    family = family.replace("zones:", "records: {offer: {what: plan, price: int, more: int?}}\nzones:", 1)
    before = "choose secret by seats[1], sealed:\n  tell n in 1 .. 100:\n    weather = n\n"
    game = game_of(folder, act + OFFERED, before=before, family=family)
    games = [game.clone(log=True) for _ in range(2)]
    for each, number in zip(games, (10, 90), strict=True):
        each.apply({"do": "tell", "n": number}, 1)
    return games


@pytest.mark.parametrize("case", TOLD_NOTHING)
def test_what_is_on_hidden_cards_and_names_them_is_dealt_anew(tmp_path: Path, case: str) -> None:
    """Games that look alike deal the same worlds, which look like them too."""
    type_, text = TOLD_NOTHING[case]
    one, two = pair(tmp_path, text, type_)
    assert one.digest() != two.digest()
    assert one.table.sight.shown_apart(one.state, two.state, 0) is None
    cells = []
    for game in (one, two):
        worlds, random = Worlds(game, 0), Stream(1, "test")
        dealt = [worlds.deal(number, random.below) for number in range(10)]
        assert all(game.table.sight.shown_apart(game.state, world.state, 0) is None for world in dealt)
        cells.append([tuple(world.state.cells) for world in dealt])  # locals that nothing reads may differ
    assert cells[0] == cells[1]
    assert len(set(cells[0])) == 10


def test_what_goes_on_visible_cards_stays(tmp_path: Path) -> None:
    text = "let card = last(deck)\nheld = card\nmove 9 from bank to card.coins\nmove card to pile"
    game = pair(tmp_path, text)[0]
    world = Worlds(game, 0).deal(1, Stream(1, "test").below)
    assert world.view(0) == game.view(0)
    assert world.value("first(pile) == held and first(pile).coins == 9")


DELAYED = {
    "it holds a secret": (
        "let n = weather\nat end of phase:\n  if amount == 3:\n    seats[0].score += 30 - n\n  end game"
    ),
    "it is a secret": (
        "if weather > 50:\n  at end of phase:\n    if amount == 3:\n      seats[0].score -= 50\n"
        "at end of phase:\n  seats[0].score += amount\n  end game"
    ),
}


@pytest.mark.parametrize("case", DELAYED)
def test_a_search_does_not_see_secrets_of_delayed_blocks(tmp_path: Path, case: str) -> None:
    """It does the same in games that look alike."""
    found = []
    for game in pair(tmp_path, DELAYED[case]):
        decision = game.decision
        assert decision is not None
        bot = bots_of("search:60:random", game.ruleset, 2)[0]
        found.append([str(bot.choose(game.clone(log=True), decision, Stream(seed, "test"))) for seed in range(4)])
        kept, worlds, random = game.machine.constants.layout.base["kept"], Worlds(game, 0), Stream(1, "test")
        blocks = [worlds.deal(number, random.below).state.cells[kept] for number in range(20)]
        found[-1].append(str(blocks))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "overlays"),
    [(ENVELOPES, ()), ("goofspiel", ()), ("outpost", ()), ("germany-2004", ("power-grid/hidden-money",))],
)
def test_games_that_look_alike_show_the_same(ruleset: str, overlays: tuple[str, ...]) -> None:
    """Where nothing differs that a player may look at, views and boards (not worked out then) are the same."""
    match = Match(load(ruleset, overlays), bots_of("random", load(ruleset, overlays), 3), 5)
    draw, alike, apart = drawing(5, "test"), 0, 0
    for number in range(240):
        match.step()
        game = match.game
        if game.is_over:
            break
        if number % 5:  # so that each seat is the one that chose
            continue
        for player in (0, 1):
            other = otherwise(game, player, draw)
            assert game.table.sight.shown_apart(game.state, other.state, player) is None
            assert shown(game, player) == shown(other, player)
            alike += other.digest() != game.digest()
            for each in (player, 2):
                ahead = game.clone()
                ahead.apply(next(iter(game.decision.options)) if game.decision else {})
                seen = game.table.sight.shown_apart(game.state, ahead.state, each) is None
                assert (
                    not seen
                    or {**shown(game, each)["view"], **pending(ahead.table, ahead.state, each)}
                    == shown(ahead, each)["view"]
                )
                apart += not seen
    assert alike
    assert apart


def test_what_was_looked_at_often_is_looked_at_seldom() -> None:
    """The first moment of each kind is looked at; of many of one kind, four times as many take twice the looks."""
    looked: Counter[tuple[Any, ...]] = Counter()
    ruleset, kinds, looks = load(ENVELOPES), set(), []
    for seed in range(32):
        game = ruleset.new_game(2, seed=seed)
        examiner = Examiner(game, drawing(seed, "test"), looked=looked)
        while game.decision is not None:
            decision = game.decision
            option = some_option(decision, examiner.draw)
            assert not list(examiner.make(option))
            kinds.add((decision.name, option.do))
            assert not list(examiner.look())
        if seed in (7, 31):
            looks.append(max(number for (way, *_), number in looked.items() if way == "told"))
    assert 1.5 * looks[0] < looks[1] < 3 * looks[0]
    assert {key[1:3] for key in looked if key[0] == "forms"} == kinds


WROTE = """
choose secret by seats[1], sealed:
  tell number in 1 .. 100:
    weather = number
"""
ASKED = """
choose say{shown} by seats[0]:
  no:
    amount = 2
  ok:
    amount = 1
"""
PICKED = "let o = first(c in deck where c.number == {})\n"
HIDDEN_ONE = PICKED.format("(1 if weather > 50 else 6)")
SEVERAL = "let o = [c in deck where c.number == 3 or c.number == (1 if weather > 50 else 6)]\n"


def policies(**lines: str) -> str:
    """Policies with lines for the decision."""
    texts = (f"  {name}:\n    say:\n      prefer: |\n{indent(text, ' ' * 8)}\n" for name, text in lines.items())
    return "policies:\n" + "".join(texts)


def said(folder: Path, act: str, sections: str, bots: str, plain: bool) -> tuple[list[str], list[str]]:
    """What seat 0 chooses by a policy with 20 streams, in two games that differ in a hidden number."""
    first = game_of(folder, act, sections, WROTE)
    first.runner.plain = plain
    found = []
    for hidden in (10, 90):
        game = first.clone(log=True)
        game.apply({"do": "tell", "number": hidden})
        chosen = []
        for seed in range(20):
            copy, bot = game.clone(log=True), bots_of(bots, game.ruleset, 2)[0]
            assert copy.decision is not None
            chosen.append(bot.choose(copy, copy.decision, Stream(seed, "test")).do)
        found.append(chosen)
    return found[0], found[1]


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(
    ("act", "line"),
    [
        (HIDDEN_ONE + ASKED.format(shown="(o)"), "ok where o.number < 4"),
        (HIDDEN_ONE + ASKED.format(shown="(a = amount, o)"), "ok where o in deck and o.number < 4"),
        (HIDDEN_ONE + ASKED.format(shown="(o)"), "ok where o.number < 4 by o.number"),
        (SEVERAL + ASKED.format(shown="(o)"), "ok where any(c in o where c.number < 3)"),
        (
            ASKED.format(shown="(o = first(c in deck where c.number == (1 if weather > 50 else 6)))"),
            "ok where o.number < 4",
        ),
    ],
)
def test_a_policy_does_not_see_hidden_cards_that_a_decision_shows(
    tmp_path: Path, act: str, line: str, plain: bool
) -> None:
    low, high = said(tmp_path, act, policies(sensible=f"{line}\nno\nok"), "sensible", plain)
    assert low == high
    assert {*low} == {"no", "ok"}


@pytest.mark.parametrize("plain", [True, False])
def test_a_policy_sees_the_cards_that_a_decision_shows_openly(tmp_path: Path, plain: bool) -> None:
    act = "move first(c in deck where c.number == 1) to pile\nlet o = first(pile)\n" + ASKED.format(shown="(o)")
    low, high = said(tmp_path, act, policies(sensible="ok where o.number < 4\nno"), "sensible", plain)
    assert low == high == ["ok"] * 20


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("asked", ["pb", "search:8:pb"])
@pytest.mark.parametrize("own", ["any asking seats[1]", "any where weather > 0 asking seats[1]"])
def test_a_bot_that_is_asked_sees_what_the_seat_that_decides_may_see(
    tmp_path: Path, own: str, asked: str, plain: bool
) -> None:
    for act, line in (
        (ASKED.format(shown=""), "ok where weather > 50"),
        (HIDDEN_ONE + ASKED.format(shown="(o)"), "ok where o.number < 4"),
    ):
        low, high = said(tmp_path, act, policies(pa=own, pb=f"{line}\nno"), f"pa,{asked}", plain)
        assert low == high
        assert {*low} == {"no", "ok"}
