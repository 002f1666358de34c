"""Drafts: choices put together on a copy of the game, and made together; plans while others move; rules in advance."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest

from interpreter.base.plain_data import Json, json_in
from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import otherwise
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.loading.load import load
from interpreter.play.game_records import Choice
from interpreter.play.match import Match
from interpreter.serve.apart import bare
from interpreter.serve.archive import Store, StoreError
from interpreter.serve.drafts import Drafted, drafted
from interpreter.serve.hall import Hall
from interpreter.serve.live import Live
from interpreter.serve.table_page import View
from interpreter.serve.words import Refused
from tests.support import ENVELOPES

from .served import Served, until


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("drafts") / "tables.sqlite")
    yield running
    running.close()


def at(
    served: Served, ruleset: str, name: str, holds: Callable[[Game], bool] = lambda game: True, **more: Any
) -> tuple[Live, View]:
    """Return a table of three with a decision of this name, and the page of the seat that is asked."""

    def found(game: Game) -> bool:
        now = game.decision
        return now is not None and now.name == name and game.round > 1 and holds(game)

    live, _ = served.moment(ruleset, 3, found, asks=True, **more)
    assert live.game.decision is not None
    return live, View(live, live.game.decision.actor)


def act(served: Served, view: View, action: str, **data: Json) -> None:
    served.done(view.act(action, {"state": view.state, **data}))


def prompt(served: Served, view: View) -> str:
    return served.within(view.pieces)["prompt"]


def press(served: Served, view: View, label: str) -> None:
    """Press the button with this text or description."""
    for tag, text in re.findall(r"<button([^>]*)>(.*?)</button>", prompt(served, view), re.DOTALL):
        if label in unescape(re.sub("<[^>]*>", "", text)) or f'aria-label="{label}"' in unescape(tag):
            data: dict[str, Json] = {name: unescape(each) for name, each in re.findall(r'data-([a-z]+)="([^"]*)"', tag)}
            if "choice" in data:
                data["choice"] = json_in(str(data["choice"]))
            act(served, view, str(data.pop("do")), **data)
            return
    raise AssertionError(f"no button `{label}` in {prompt(served, view)}")


def point(served: Served, view: View, *things: str) -> None:
    for thing in things:
        act(served, view, "point", thing=thing)
        assert not view.said
        assert not view.refused


def parts(served: Served, view: View) -> list[Choice]:
    return served.within(lambda: [part.choice for part in view.live.drafted(view.seat).parts])


def made(live: Live, since: int) -> list[Choice]:
    lines = map(bare, live.kept.choices[since:])
    return [{name: line[name] for name in line if name not in ("by", "decision")} for line in lines]


def of_things(game: Game, kind: str) -> list[str]:
    """Return the things that the first slot of the decision takes now."""
    assert game.decision is not None
    return list(dict.fromkeys(f"{kind}:{code[1][0]}" for code in game.decision.codes if code[1]))


# --- what drafts hold


def test_tokens_of_two_kinds_are_bought_in_five_clicks(served: Served) -> None:
    live, view = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    before, money = len(live.kept.choices), live.game.value(f"seats[{view.seat}].money")
    first, second = served.within(lambda: of_things(live.game, "kind:resource")[:2])
    point(served, view, first, first, second)
    shown = served.within(view.pieces)
    assert len(live.kept.choices) == before
    assert [part["number"] for part in parts(served, view)] == [2]
    assert "would" in shown["common"] + shown["side"]
    total = re.search(r"money (\d+) → <b>(\d+)</b>", shown["prompt"])
    assert total is not None
    press(served, view, "send the draft, then stop")
    assert [line.get("number", line["do"]) for line in made(live, before)] == [2, 1, "stop"]
    spent = served.within(lambda: live.game.value(f"seats[{view.seat}].money"))
    assert (str(money), str(spent)) == (total[1], total[2])
    assert parts(served, view) == []


def test_two_cities_are_priced_one_after_the_other_and_sent_in_three_clicks(served: Served) -> None:
    live, view = at(served, "germany-2018", "build", lambda game: len(of_things(game, "")) > 9)
    before = len(live.kept.choices)
    assert live.game.decision is not None
    pairs = []
    for first in served.within(lambda: of_things(live.game, "node:")):
        point(served, view, first)
        follows = served.within(lambda: view._follows(view._asked()))
        if follows is not None and len(follows.can()) > 2:
            pairs = [first, *map(str, sorted(follows.can(), key=str))]
            break
        act(served, view, "cancel")
    point(served, view, pairs[1])
    assert len(parts(served, view)) == 1
    foreseen = re.findall(r"<bdi>connects \S+ for (\d+)", prompt(served, view))
    press(served, view, "send the draft, then stop")
    assert [line["do"] for line in made(live, before)] == ["connect", "connect", "stop"]
    log = [line.text for _, line in live.log(view.seat, "en") if "connects" in line.text][-2:]
    assert [re.findall(r"for (\d+)", text)[0] for text in log] == foreseen


def test_each_part_is_taken_back_freely_and_all_at_once(served: Served) -> None:
    live, view = at(served, "germany-2018", "run", lambda game: len(of_things(game, "")) > 1)
    before = len(live.kept.choices)
    first, second = served.within(lambda: of_things(live.game, "card:")[:2])
    point(served, view, first, second)
    press(served, view, "Add")
    assert len(parts(served, view)) == 2
    held = served.within(lambda: view.live.drafted(view.seat).game.value(f"seats[{view.seat}].store"))
    assert held != live.game.value(f"seats[{view.seat}].store")
    label = re.findall(r'aria-label="(× Take back[^"]*)"', prompt(served, view))[0]
    press(served, view, unescape(label))
    assert len(parts(served, view)) == 1
    press(served, view, "Drop all")
    assert parts(served, view) == []
    assert len(live.kept.choices) == before
    point(served, view, first, second)
    press(served, view, "send the draft, then stop")
    assert [line["do"] for line in made(live, before)] == ["fire", "fire", "stop"]


def test_a_market_is_entered_and_bought_from_in_one_draft(served: Served) -> None:
    live, view = at(served, "korea-2018", "visit")
    before = len(live.kept.choices)
    act(served, view, "slot", n=0, value=0)
    follows = served.within(lambda: view._follows(view._asked()))
    assert follows is not None
    point(served, view, str(min(follows.can(), key=str)))
    press(served, view, "Send the draft")
    assert [line["do"] for line in made(live, before)][1:] == ["take"]
    assert len(live.kept.choices) == before + 2
    told = re.findall(r"<li[^>]*>(.*?)</li>", served.within(view.pieces)["log"], re.DOTALL)[-1]
    assert re.sub("<[^>]*>", "", told).strip().count(" buys ") == 1
    assert ";" in told  # both in one sentence
    served.done(live.undo(view.seat))
    assert len(live.kept.choices) == before


def test_a_draft_ends_where_something_is_drawn(served: Served) -> None:
    """The last pass of an auction lets a plant be drawn: it can be sent, but nothing is put behind it."""

    def is_last(game: Game) -> bool:
        after = game.clone()
        after.apply({"do": "pass"})
        return bool(after.value("count(deck)") < game.value("count(deck)"))

    live, view = at(served, "germany-2018", "answer", is_last)
    act(served, view, "draft", choice=[{"do": "pass"}])
    draft = served.within(lambda: live.drafted(view.seat))
    assert draft.decision is None
    assert draft.game is live.game
    assert "What follows is drawn, hidden" in prompt(served, view)
    act(served, view, "draft", choice=[{"do": "pass"}, {"do": "decline"}])
    assert "This cannot follow" in view.said
    act(served, view, "choose", choice=[{"do": "pass"}, {"do": "decline"}])
    assert "This cannot follow" in view.said
    before = len(live.kept.choices)
    press(served, view, "Send the draft")
    assert made(live, before) == [{"do": "pass"}]


@pytest.mark.parametrize(("server", "ruleset"), [("sealed", "envelopes"), ("served", "goofspiel")])
def test_a_choice_that_others_do_not_see_is_never_drafted(
    request: pytest.FixtureRequest, server: str, ruleset: str
) -> None:
    running: Served = request.getfixturevalue(server)
    live, links, _ = running.table(ruleset, ["person"] * 3)
    view = View(live, 0)
    choice = running.within(lambda: live.game.decisions[0].options[0].as_dict())
    act(running, view, "slot", n=0, value=0)
    assert "Add" not in prompt(running, view)
    act(running, view, "draft", choice=[choice, choice])
    assert "This cannot follow" in view.said
    running.done(live.choose(0, choice))
    act(running, view, "ahead")
    assert "Nothing can be planned now" in prompt(running, view)
    assert links


def test_a_thing_that_cannot_follow_takes_the_place_of_what_is_picked(served: Served) -> None:
    live, view = at(served, "germany-2018", "nominate", lambda game: len(of_things(game, "")) > 1)
    point(served, view, *served.within(lambda: of_things(live.game, "card:")[:2]))
    assert parts(served, view) == []


@pytest.mark.parametrize("ruleset", ["germany-2018", "bsw-germany", "korea-2018", "outpost", "goofspiel", ENVELOPES])
def test_a_draft_is_what_comes_and_tells_nothing_hidden(ruleset: str) -> None:
    """Drafts of each choice of a game, and of the next choice of each other seat, on the game and on one in which all
    hidden things lie otherwise: they end at the same place and look the same. What they foresee comes true."""
    rules, dice = load(ruleset), random.Random(4)
    hidden = rules.id in ("goofspiel", "envelopes")  # each choice
    match = Match(rules, bots_of("random" if hidden else "greedy", rules, 3), 5)
    foreseen = planned = 0

    def looks(draft: Drafted, seat: int) -> object:
        own = draft.decision
        return draft.game.view(seat), own and (own.name, own.context, own.codes), [part.why for part in draft.parts]

    for _ in range(150):
        game = match.game.clone()
        if not match.step() or match.game.last_choice is None or game.decision is None:
            break
        choice = match.game.last_choice.as_dict()
        for seat in range(3):
            mine = [choice] if game.decision_of(seat) is not None and seat == game.decision.actor else []
            draft = drafted(game, seat, mine)
            other = drafted(otherwise(game, seat, dice.randrange), seat, mine)
            assert looks(draft, seat) == looks(other, seat)
            if mine and draft.game is not game:
                foreseen += 1
                assert draft.game.view(seat) == match.game.view(seat)
            planned += draft.ahead and draft.decision is not None
    assert (foreseen > 20 and planned > 10) != hidden


@pytest.mark.parametrize(("ruleset", "name"), [("bsw-germany", "buy"), ("outpost", "build")])
def test_a_page_with_a_draft_or_a_plan_shows_nothing_hidden(served: Served, ruleset: str, name: str) -> None:
    """The hidden things of the game lie otherwise; each seat is sent the same, byte by byte."""
    live, now = at(served, ruleset, name, lambda game: len(game.decision.options) > 4)  # type: ignore[union-attr]
    first = served.within(lambda: [live.game.decision.options[0].as_dict()])  # type: ignore[union-attr]
    served.done(live.draft(now.seat, first, armed=False))

    def pages(seat: int) -> dict[str, str]:
        live.rendered.clear()
        live._forget()
        pieces = View(live, seat, ahead=True).pieces()
        del pieces["log"]  # of what has happened already
        return pieces

    for seat in range(3):
        before, game = served.within(lambda seat=seat: pages(seat)), live.game  # type: ignore[misc]
        live.game = otherwise(game, seat, random.Random(4).randrange)
        try:
            assert served.within(lambda seat=seat: pages(seat)) == before  # type: ignore[misc]
        finally:
            live.game = game


# --- all or none


def test_choices_are_made_together_or_not_at_all(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    live, view = at(served, "germany-2018", "buy", lambda game: len(game.decision.options) > 4)  # type: ignore[union-attr]
    before, digest, state = len(live.kept.choices), served.within(live.game.digest), view.state
    good = served.within(lambda: live.game.decision.options[0].as_dict())  # type: ignore[union-attr]
    wrong = {**good, "number": 99}
    with pytest.raises(IllegalMove, match="number"):
        served.done(live.choose(view.seat, [good, wrong]))
    with pytest.raises(Refused, match="cannot follow"):
        served.done(live.choose(view.seat, [good, {"do": "stop"}, good]))
    for action in ("choose", "draft"):  # no time is spent on what nobody means
        act(served, view, action, choice=[good] * 1000)
        assert "More than 24" in view.said

    async def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(live.store, "append", full)
        with pytest.raises(StoreError):
            served.done(live.choose(view.seat, [good, {"do": "stop"}]))
    assert (len(live.kept.choices), served.within(live.game.digest)) == (before, digest)
    assert view.state != state  # a page may have shown what was not kept


def test_what_was_sent_together_is_told_together_and_undone_at_once(served: Served) -> None:
    """Also by a table that comes back from the archive. Choices that were sent one by one stay apart."""
    live, view = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    before, digest = len(live.kept.choices), served.within(live.game.digest)
    first, second = served.within(lambda: of_things(live.game, "kind:resource")[:2])

    def bought() -> list[str]:
        lines = re.findall(r"<li[^>]*>(.*?)</li>", served.within(view.pieces)["log"], re.DOTALL)[-6:]
        return [re.sub("<[^>]*>", "", line).strip() for line in lines if " buys " in line]

    point(served, view, first, second)
    alone = len(bought())
    press(served, view, "Send the draft")
    assert len(live.kept.choices) == before + 2
    assert len(bought()) == alone + 1
    served.done(live.choose(view.seat, {"do": "stop"}))
    served.done(live.undo(view.seat))
    assert len(live.kept.choices) == before + 2
    served.hall._leave(live)
    again = served.done(served.hall.live(live.kept.id))
    served.done(again.undo(view.seat))
    assert (len(again.kept.choices), served.within(again.game.digest)) == (before, digest)


def test_a_draft_and_the_choices_that_use_it_up_are_written_together(served: Served) -> None:
    """If one fails, so does the other: nothing is made twice after a crash, and nothing is lost."""
    live, view = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    choices = served.within(lambda: [live.game.decision.options[0].as_dict(), {"do": "stop"}])  # type: ignore[union-attr]
    served.done(live.draft(view.seat, choices, armed=False))
    before, connection = len(live.kept.choices), live.store._connection
    connection.execute("create trigger full before update of orders on seats begin select raise(abort, 'full'); end")
    try:
        with pytest.raises(StoreError):
            served.done(live.choose(view.seat, choices))
    finally:
        connection.execute("drop trigger full")
    assert served.done(live.store.choices(live.kept.id)) == live.kept.choices
    assert (len(live.kept.choices), parts(served, view)) == (before, choices)
    served.done(live.choose(view.seat, choices))
    assert (len(live.kept.choices), parts(served, view)) == (before + 2, [])


# --- plans


def test_a_plan_is_made_when_its_seat_is_asked(served: Served) -> None:
    """Others see nothing of it; it outlives the server; it is made at once, and the seat is not called."""
    live, now = at(served, "germany-2018", "buy", lambda game: len(game.decision.options) > 4)  # type: ignore[union-attr]
    late = served.within(lambda: next(s for s in range(3) if _is_next(live.game, now.seat, s)))
    view, before = View(live, late), len(live.kept.choices)
    others = {seat: served.within(View(live, seat).pieces) for seat in range(3) if seat != late}
    assert "Plan ahead" in prompt(served, view)
    press(served, view, "Plan ahead")
    first = served.within(lambda: str(min(view._asked().can(), key=str)))
    point(served, view, first, first)
    press(served, view, "plan 1, then stop")
    assert "Will be made on your turn" in prompt(served, view)
    assert {seat: served.within(View(live, seat).pieces) for seat in others} == others

    async def again() -> tuple[Choice, ...]:
        store = Store(served.hall.store.path)
        try:
            return (await Hall(store).live(live.kept.id)).orders(late).draft
        finally:
            store.close()

    kept = asyncio.run(again())
    assert [part["do"] for part in kept] == ["take", "stop"]
    served.done(live.choose(now.seat, {"do": "stop"}))
    until(lambda: len(live.kept.choices) == before + 3)
    assert [line["by"] for line in live.kept.choices[before:]] == [now.seat, late, late]
    assert [{**line, "decision": "buy"} for line in made(live, before + 1)] == list(kept)
    assert not live.orders(late).draft


def _is_next(game: Game, now: int, seat: int) -> bool:
    after = game.clone()
    after.apply({"do": "stop"}, now)
    return after.decision is not None and (after.decision.actor, after.decision.name) == (seat, "buy")


def test_a_plan_that_is_no_longer_possible_is_shown_with_the_reason(served: Served) -> None:
    live, now = at(served, "germany-2018", "build", lambda game: _rivals(game) is not None)
    late, city = served.within(lambda: _rivals(live.game)) or (0, "")
    view, before = View(live, late), len(live.kept.choices)
    plan: list[Json] = [{"do": "connect", "city": city}, {"do": "stop"}]
    act(served, view, "draft", choice=plan, armed="1")
    assert not view.refused
    served.done(live.choose(now.seat, [{"do": "connect", "city": city}, {"do": "stop"}]))
    until(lambda: served.within(lambda: live.game.decision_of(late)))
    assert live.kept.choices[-1]["by"] != late
    assert late in served.within(live.turns)
    text = re.sub("<[^>]*>", "", unescape(prompt(served, view)))
    assert city in text
    assert 'class="refused"' in prompt(served, view)
    assert served.within(lambda: live.drafted(late).parts[0].why)
    since = len(live.kept.choices)
    press(served, view, "Send the draft")  # what is still possible
    assert made(live, since) == [{"do": "stop"}]
    assert since > before


def _rivals(game: Game) -> tuple[int, str] | None:
    """Return the seat that builds next, and a city that only one of both can have: the last free place in it."""
    now, after = game.decision, game.clone()
    if now is None or not after.accepts({"do": "stop"}):
        return None
    after.apply({"do": "stop"})
    for option in now.options if after.decision is not None and after.decision.name == "build" else ():
        taken = game.clone()
        if option.do == "connect" and after.accepts(option.as_dict()):
            taken.apply(option.as_dict())
            taken.apply({"do": "stop"})
            if taken.decision is not None and not taken.accepts(option.as_dict()):
                assert after.decision is not None
                return after.decision.actor, str(option["city"])
    return None


def test_a_plan_waits_for_its_decision(served: Served) -> None:
    """Though another decision has an alternative of the same name: no turn is ended that was not planned."""
    live, now = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    plan: list[Json] = [{"do": "stop", "decision": "build"}]
    served.done(live.draft(now.seat, [{"do": "stop"}, *plan], armed=False))  # type: ignore[list-item]
    before = len(live.kept.choices)
    served.done(live.draft(now.seat, plan, armed=True))  # type: ignore[arg-type]
    assert served.within(lambda: now.seat in live.turns())
    assert 'class="refused"' not in prompt(served, now)
    served.done(live.choose(now.seat, {"do": "stop"}))
    assert [part["do"] for part in parts(served, now)] == ["stop"]
    for _ in range(12):
        asked = served.within(lambda: live.game.decision)
        if asked is None or asked.name not in ("buy", "build"):
            break
        if asked.actor != now.seat or asked.name == "buy":
            served.done(live.choose(asked.actor, {"do": "stop"}))
        until(lambda asked=asked: served.within(lambda: live.game.decision is not asked))  # type: ignore[misc]
    mine = [line for line in live.kept.choices[before:] if line["by"] == now.seat]
    assert [(line["decision"], line["do"]) for line in mine] == [("buy", "stop"), ("build", "stop")]


def test_a_draft_survives_a_page_and_two_pages_do_not_cross(served: Served) -> None:
    live, view = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    first, second = served.within(lambda: of_things(live.game, "kind:resource")[:2])
    old = served.within(lambda: live.drafted(view.seat).mark)
    point(served, view, first, second)
    other = View(live, view.seat)
    assert parts(served, other) == parts(served, view) != []
    act(served, other, "draft", choice=[], draft=old)
    assert "The table has changed" in other.said
    assert parts(served, view) != []


# --- on the page


@pytest.mark.parametrize("size", [(1280, 800), (1440, 900), (390, 844)])
def test_a_turn_by_mouse_and_a_plan_meanwhile(chromium: Any, served: Served, size: tuple[int, int]) -> None:
    """A click for each token, one for all; the board stays, dashed lines mark what would be, and nothing is cut off."""
    live, now = at(served, "germany-2018", "buy", lambda game: len(of_things(game, "")) > 1)
    late = served.within(lambda: next(s for s in range(3) if _is_next(live.game, now.seat, s)))
    pages = []
    for seat in (now.seat, late):
        context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
        pages.append(context.new_page())
        pages[-1].set_default_timeout(10_000)
        pages[-1].goto(f"{served.base}/seat/{live.kept.seats[seat].token}")
        pages[-1].locator("#table[data-tab]").wait_for(state="attached")
    mine, other = pages
    before, since = mine.locator(".map").bounding_box(), len(live.kept.choices)
    other.get_by_role("button", name="Plan ahead").click()
    other.locator(".lane").first.click()
    other.get_by_role("button", name="plan 1, then stop").click()
    other.get_by_text("Will be made on your turn.").wait_for()
    lanes = mine.locator(".lane")
    lanes.nth(0).click()
    mine.locator("#slot-1[value='1']").wait_for(state="attached")
    lanes.nth(0).click()
    mine.locator("#slot-1[value='2']").wait_for(state="attached")
    lanes.nth(1).click()
    mine.locator(".draft li").wait_for()
    assert mine.locator("tr.would").count() == 1
    assert mine.locator(".map").bounding_box() == before
    for page in pages:
        bottoms = [page.locator(each).bounding_box() for each in ("#f-prompt .tools", "#f-prompt")]
        assert bottoms[0]["y"] + bottoms[0]["height"] <= bottoms[1]["y"] + bottoms[1]["height"] + 1
    size_of = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert all(page.evaluate(size_of) == [*size] for page in pages)
    for button in mine.locator("#f-prompt button:visible").all() if size[0] < 960 else ():
        assert min(button.bounding_box()[each] for each in ("width", "height")) >= 44
    mine.get_by_role("button", name="send the draft, then stop").click()
    until(lambda: len(live.kept.choices) >= since + 5)
    assert [line["by"] for line in live.kept.choices[since:]] == [now.seat] * 3 + [late] * 2
    for page in pages:
        page.context.close()


# --- rules in advance


def test_a_typed_rule_answers_until_its_subject_changes_and_errors_are_told_in_place(served: Served) -> None:
    live, view = at(served, "germany-2018", "answer", lambda game: len(game.decision.options) > 12)  # type: ignore[union-attr]
    price = int(str(live.game.decision.context["price"]))  # type: ignore[union-attr]
    others = {seat: served.within(View(live, seat).pieces)["prompt"] for seat in range(3) if seat != view.seat}
    act(served, view, "answer", value="raise amount where amonut <= 32\npass")
    shown = unescape(prompt(served, view))
    assert "answer:1:20: E301 unknown name `amonut`; did you mean `amount`?" in shown
    assert "raise amount where amonut &lt;= 32" in prompt(served, view)
    assert live.orders(view.seat).answers == {}
    rule = f"raise amount where amount <= {price + 4} and who.money >= amount by amount\npass"
    before = len(live.kept.choices)
    act(served, view, "answer", value=rule)
    until(lambda: len(live.kept.choices) > before)
    assert made(live, before)[:1] == [{"do": "raise", "amount": price + 1}]
    assert live.orders(view.seat).answers["answer"].rule == rule
    assert rule.split("\n")[0] in unescape(prompt(served, view))
    for seat in others:
        assert "amount &lt;=" not in prompt(served, View(live, seat))
    act(served, view, "drop", name="answer")
    assert live.orders(view.seat).answers == {}


def test_a_rule_that_leaves_no_option_leaves_the_choice_to_the_person(served: Served) -> None:
    live, view = at(served, "germany-2018", "build", lambda game: len(of_things(game, "")) > 2)
    before = len(live.kept.choices)
    act(served, view, "answer", value="connect city where who.money > 10_000".replace("_", ""), round="1")
    assert not view.rule[1]
    assert served.within(lambda: view.seat in live.turns())
    assert len(live.kept.choices) == before


@pytest.mark.parametrize(("server", "ruleset"), [("sealed", "envelopes"), ("served", "goofspiel")])
def test_a_rule_answers_a_choice_that_others_do_not_see(
    request: pytest.FixtureRequest, server: str, ruleset: str
) -> None:
    running: Served = request.getfixturevalue(server)
    live, _, _ = running.table(ruleset, ["person"] * 3)
    highest = running.within(lambda: max(int(str(each["value"])) for each in live.game.decisions[0].options))
    act(running, View(live, 0), "answer", value="play value by -value", round="1")
    until(lambda: live.kept.choices)
    assert made(live, 0) == [{"do": "play", "value": highest}]
