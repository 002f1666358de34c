"""Actions name the state that their page showed, and choices name what is chosen: nothing happens twice or in another
state."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import httpx
import pytest

from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from interpreter.serve.live import Live
from interpreter.serve.table_page import DATED, View
from interpreter.serve.web import application
from tests.serve.served import Served, first, get, now, state_of
from tests.small import write

TABLE_CHANGED = "The table has changed"


AT_ONCE = """
choose bid(amount) by each s in seats, at once:
  pay value in 0 .. s.money:
    move value from s.money to bank
choose last by seats[0]:
  wait
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("states")
    small = write(folder / "rulesets", AT_ONCE)
    running = Served(folder / "tables.sqlite", pace=0.05, rulesets=["bsw-germany", "goofspiel", str(small)])
    yield running
    running.close()


class Page:
    """A page of a link as its script sees it: what it shows stays until it looks again."""

    def __init__(self, served: Served, link: str) -> None:
        self.served, self.link = served, link
        self.view = self.state = self.text = ""
        self.look()

    def look(self) -> None:
        self.text = get(self.link).text
        found = re.search(r'data-view="([^"]+)"', self.text)
        assert found is not None
        self.view, self.state = found[1], state_of(self.text)

    def data(self, action: str, **more: Any) -> dict[str, Any]:
        return {"view": self.view, "do": action, "state": self.state, **more}

    def act(self, action: str, **more: Any) -> httpx.Response:
        headers = {"Origin": self.served.base}
        return httpx.post(f"{self.link}/act", json=self.data(action, **more), headers=headers, verify=False)

    @property
    def shown(self) -> View:
        return next(view for (_, id), view in self.served.hall.views.items() if id == self.view)

    @property
    def said(self) -> str:
        return self.shown.said

    @property
    def notice(self) -> str:
        return self.served.within(lambda: self.shown.pieces()["notice"])


def at_once(pages: list[Page], action: str, **more: Any) -> list[httpx.Response]:
    """Send the same action from several pages at the same moment."""

    async def sent() -> list[httpx.Response]:
        headers = {"Origin": pages[0].served.base}
        async with httpx.AsyncClient(verify=False, headers=headers) as web:
            posts = (web.post(f"{page.link}/act", json=page.data(action, **more)) for page in pages)
            return await asyncio.gather(*posts)

    return asyncio.run(sent())


def buying(served: Served) -> tuple[Live, str, int]:
    """A table at a decision that the same seat meets again after most choices."""

    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and asked.name == "build" and len(asked.options) > 6

    live, links = served.moment("bsw-germany", 3, holds)
    asked = live.game.decision
    assert asked is not None
    return live, links[asked.actor], asked.actor


def again(live: Live, seat: int) -> dict[str, Any]:
    """Return a choice that the same seat may make again in another way."""
    decision = now(live).decision_of(seat)
    assert decision is not None
    return next(option.as_dict() for option in decision.options if len(option.as_dict()) > 1)


# --- choices


def test_two_tabs_make_one_choice(served: Served) -> None:
    for _ in range(4):
        live, link, seat = buying(served)
        tabs = [Page(served, link) for _ in range(4)]
        before = len(live.kept.choices)
        answers = at_once(tabs, "choose", choice=again(live, seat))
        assert [answer.status_code for answer in answers] == [200] * 4
        assert len(live.kept.choices) == before + 1
        assert sorted(TABLE_CHANGED in tab.said for tab in tabs) == [False, True, True, True]


def test_a_repeated_request_makes_one_choice(served: Served) -> None:
    live, link, seat = buying(served)
    tab = Page(served, link)
    before, choice = len(live.kept.choices), again(live, seat)
    at_once([tab] * 6, "choose", choice=choice)
    assert len(live.kept.choices) == before + 1
    tab.act("choose", choice=choice)
    assert len(live.kept.choices) == before + 1
    assert TABLE_CHANGED in tab.notice


@pytest.mark.parametrize("state", [None, "", "0" * 12, 7, [], {"a": 1}])
def test_a_choice_without_its_state_is_refused_with_a_message(served: Served, state: object) -> None:
    live, link, seat = buying(served)
    tab = Page(served, link)
    before = len(live.kept.choices)
    assert tab.act("choose", choice=again(live, seat), **{"state": state}).status_code == 200
    assert len(live.kept.choices) == before
    assert TABLE_CHANGED in tab.notice


def test_a_page_from_before_an_undo_chooses_nothing(served: Served) -> None:
    """Nor after the same choice was made again, so that the game looks the same."""
    live, link, seat = buying(served)
    before, choice = len(live.kept.choices), again(live, seat)
    early = Page(served, link)
    served.done(live.choose(seat, choice))
    late = Page(served, link)
    served.done(live.undo(seat))
    for old in (early, late):
        old.act("choose", choice=choice)
        assert len(live.kept.choices) == before
        assert TABLE_CHANGED in old.said
    served.done(live.choose(seat, choice))
    other = first(live, seat)
    for old in (early, late):
        old.act("choose", choice=other)
    assert len(live.kept.choices) == before + 1
    late.look()
    late.act("choose", choice=other)
    assert len(live.kept.choices) == before + 2


def test_a_page_from_before_a_restart_looks_again_first(served: Served) -> None:
    """Or from before its table left memory."""
    live, link, seat = buying(served)
    tab = Page(served, link)
    before, choice = len(live.kept.choices), again(live, seat)
    served.hall.views.clear()
    served.within(lambda: served.hall._leave(live))
    tab.act("choose", choice=choice)
    assert TABLE_CHANGED in tab.said
    resumed = served.hall.lives[live.kept.id]
    assert len(resumed.kept.choices) == before
    tab.look()
    tab.act("choose", choice=choice)
    assert len(resumed.kept.choices) == before + 1


@pytest.mark.parametrize(
    "choice",
    [
        None,
        0,
        "pass",
        [],
        {},
        {"do": 0},
        {"do": "nothing"},
        {"do": "connect", "city": 3},
        {"do": "connect", "city": ["Essen"]},
        {"do": "connect", "city": {"a": None}},
        {"do": "connect"},
        {"do": "connect", "city": "Essen", "by": 0},
        {"do": "connect", "city": True},
    ],
)
def test_a_choice_that_is_not_what_it_says_is_refused(served: Served, choice: object) -> None:
    live, link, _ = buying(served)
    tab = Page(served, link)
    before, digest = len(live.kept.choices), served.within(live.game.digest)
    assert tab.act("choose", choice=choice, n=0).status_code == 200
    assert len(live.kept.choices) == before
    assert served.within(live.game.digest) == digest
    assert "said" in tab.notice or "refused" in tab.notice


def test_what_the_page_shows_is_what_it_chooses(served: Served) -> None:
    """Each button that chooses names its choice, and each of them is legal."""
    live, link, seat = buying(served)
    tab = Page(served, link)
    tab.act("list")
    pieces = served.within(lambda: tab.shown.pieces())
    offered = re.findall(r'data-do="choose" data-choice="([^"]+)"', pieces["list"] + pieces["prompt"])
    decision = now(live).decision_of(seat)
    assert decision is not None
    named = [json.loads(text.replace("&#34;", '"')) for text in offered]
    assert {json.dumps(each) for [each] in named} == {json.dumps(option.as_dict()) for option in decision.options}


def test_a_number_out_of_range_stays_and_chooses_nothing(served: Served) -> None:
    live, links, _ = served.table("tiny", ["person"] * 3)
    tab = Page(served, links[0])
    tab.act("number", n=0, value=3)
    tab.act("number", n=0, value=77)
    wanted = "value: got 77, want 0 to 5."
    assert tab.said == wanted
    prompt = served.within(lambda: tab.shown.pieces())["prompt"]
    assert re.search('value="77"[^>]* aria-invalid="true"', prompt)
    assert re.search('<span class="wrong"[^>]*>0 to 5</span>', prompt)
    assert 'class="ok"' not in prompt
    tab.act("choose")  # what Enter does
    assert (tab.said, live.kept.choices) == (wanted, [])
    tab.act("number", n=0, value=2)
    prompt = served.within(lambda: tab.shown.pieces())["prompt"]
    assert ("wrong" in prompt, 'class="ok"' in prompt) == (False, True)


def test_a_plant_stands_for_no_number_of_tokens(served: Served) -> None:
    """Though plants have an attribute `number`, and one of them the number that is picked."""

    def holds(game: Game) -> bool:
        asked = game.decision
        if asked is None or asked.name != "buy":
            return False
        return len({each["kind"] for each in map(Option.as_dict, asked.options) if each.get("number") == 2}) > 1

    live, links = served.moment("bsw-germany", 3, holds)
    asked = live.game.decision
    assert asked is not None
    tab = Page(served, links[asked.actor])

    def slots() -> tuple[list[str], list[str]]:
        pointing = tab.shown.pointing()
        assert pointing is not None
        return [slot.name for slot in pointing.slots()], [name for *_, name in pointing.attributes()]

    tab.act("option", n=0)
    assert served.within(slots) == (["kind", "number"], [])
    kinds = live.ruleset.model.kinds["resource"].members
    one, other, *_ = dict.fromkeys(
        str(each["kind"]) for each in map(Option.as_dict, asked.options) if each.get("number") == 2
    )
    for thing in (one, one, other):
        tab.act("point", thing=f"kind:resource:{kinds.index(thing)}")
        assert tab.said == ""
    draft = served.within(lambda: live.drafted(asked.actor))
    assert [part.choice for part in draft.parts] == [{"do": "take", "kind": one, "number": 2}]
    assert tab.shown.unfinished.picks == {0: kinds.index(other)}


def test_others_who_choose_at_the_same_time_leave_the_state(served: Served) -> None:
    """Nobody is refused, or loses what is picked, because another seat of the same sealed round was faster."""
    live, links, _ = served.table("tiny", ["person"] * 3)
    tabs = [Page(served, link) for link in links]
    tabs[2].act("number", n=0, value=3)
    for number, tab in enumerate(tabs):
        served.within(lambda: tabs[2].shown.pieces())
        assert tabs[2].shown.unfinished.picks == {0: 3}
        tab.act("choose", choice={"do": "pay", "value": number + 1})
    assert [line["value"] for line in live.kept.choices] == [1, 2, 3]
    tabs[0].act("choose", choice={"do": "wait"})
    assert TABLE_CHANGED in tabs[0].said
    assert len(live.kept.choices) == 3


def test_a_bot_chooses_nothing_that_it_thought_of_before_a_change(
    sealed: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A choice of a bot that was found in another state is dropped, also if it would be legal."""
    live, *_ = sealed.table("envelopes", ["person", "bot:random"])
    sealed.done(live.take(1, "person"))
    live.pace = 0.3
    values: list[int] = []

    async def thought(seat: int) -> dict[str, Any]:
        values.append(len(values) + 1)
        return {"do": "play", "value": values[-1]}

    monkeypatch.setattr(live, "_bots_choice", thought)
    sealed.done(live.choose(0, {"do": "play", "value": 1}))
    sealed.done(live.take(1, "bot"))
    time.sleep(0.1)
    sealed.done(live.undo(0))
    sealed.done(live.choose(0, {"do": "play", "value": 2}))
    time.sleep(1)
    assert [line["value"] for line in live.kept.choices if line["by"] == 1] == [2]
    live.stop()


# --- undo


def test_an_undo_that_is_sent_twice_undoes_one_choice(served: Served) -> None:
    live, link, seat = buying(served)
    before = len(live.kept.choices)
    for _ in range(2):
        served.done(live.choose(seat, again(live, seat)))
    tabs = [Page(served, link) for _ in range(3)]
    at_once([*tabs, tabs[0]], "undo")
    assert len(live.kept.choices) == before + 1
    assert any(TABLE_CHANGED in tab.said for tab in tabs)


def test_who_agrees_agrees_to_the_request_on_the_page(served: Served) -> None:
    live, links, _ = served.table("goofspiel", ["person"] * 3)
    for seat in range(3):
        served.done(live.choose(seat, {"do": "play", "value": seat + 1}))
    tabs = [Page(served, link) for link in links]
    tabs[0].act("undo")
    tabs[2].look()
    (request,) = set(re.findall(r'data-do="agree" data-request="([^"]+)"', tabs[2].text))
    tabs[1].act("agree", yes="", request=live.request)
    tabs[1].look()
    tabs[1].act("undo")
    asking = live.asking
    assert asking is not None
    for wrong in (request, "", None):
        tabs[2].act("agree", yes="1", request=wrong)
        assert "no such undo request" in tabs[2].said
    assert live.asking == asking
    tabs[2].act("agree", yes="1", request=live.request)
    tabs[0].act("agree", yes="1", request=live.request)
    assert len(live.kept.choices) == 1


# --- the page's own state


def test_a_request_of_a_page_is_executed_once(served: Served) -> None:
    """Whatever it does: a page numbers its requests."""
    live, link, seat = buying(served)
    tab = Page(served, link)
    for _ in range(3):
        tab.act("toggle", panel="stock", serial=1)
    assert tab.shown.open["stock"]
    assert "twice" in tab.said
    tab.act("toggle", panel="stock", serial=2)
    assert not tab.shown.open["stock"]
    before = len(live.kept.choices)
    tab.act("choose", choice=again(live, seat), serial=2)
    assert len(live.kept.choices) == before


@pytest.mark.parametrize(
    "action", ["option", "slot", "number", "more", "point", "hint", "undo", "bot", "answer", "fork", "draft"]
)
def test_every_action_on_a_state_names_it(served: Served, action: str) -> None:
    live, link, seat = buying(served)
    tab = Page(served, link)
    served.done(live.choose(seat, again(live, seat)))
    before, tables = len(live.kept.choices), len(served.hall.kept)
    tab.act(action, n=0, value=0, thing="node::1")
    assert TABLE_CHANGED in tab.said
    assert not tab.shown.unfinished.picks
    assert (len(live.kept.choices), len(served.hall.kept)) == (before, tables)
    assert live.kept.seats[seat].kind == "person"


def test_a_moment_that_was_undone_is_left(served: Served) -> None:
    live, link, seat = buying(served)
    for _ in range(2):
        served.done(live.choose(seat, again(live, seat)))
    tab = Page(served, link)
    tab.act("moment", value=len(live.kept.choices) - 1)
    assert tab.shown.moment is not None
    served.done(live.undo(seat))
    assert "This is the game after" not in served.within(lambda: tab.shown.pieces()["prompt"])


def test_play_on_begins_where_the_page_says(served: Served) -> None:
    _, links, _ = served.table("goofspiel", ["person", "bot:random"])
    tab = Page(served, links[0])
    tab.act("choose", choice={"do": "play", "value": 1})
    tab.look()
    tab.act("undo")
    tab.look()
    tables = len(served.hall.kept)
    answers = [tab.act("fork", value=0, serial=1) for _ in range(3)]
    assert [bool(answer.json().get("go")) for answer in answers] == [True, False, False]
    assert len(served.hall.kept) == tables + 1
    values: list[object] = [None, "x", [], "9" * 5000]
    for value in values:
        assert tab.act("fork", value=value).json() == {}
        assert "invalid" in tab.said


# --- seats


def given(served: Served, live: Live, seat: int, **data: str) -> int:
    address = f"{served.base}/host/{live.kept.host}/{seat}"
    return httpx.post(address, data=data, headers={"Origin": served.base}, verify=False).status_code


def test_a_seat_is_given_away_as_the_hosts_page_shows_it(served: Served) -> None:
    live, _, _ = served.table("goofspiel", ["person", "person"])
    page = get(f"{served.base}/host/{live.kept.host}").text
    marks = re.findall(r'name="mark" value="([0-9a-f]{16})"', page)
    assert given(served, live, 1, kind="open") == 409
    assert given(served, live, 1, kind="open", mark=marks[0]) == 409
    assert live.kept.seats[1].kind == "person"
    assert given(served, live, 1, kind="open", mark=marks[1]) == 303
    served.done(served.hall.sit(live.kept.id, 1, "Ann"))
    assert given(served, live, 1, kind="open", mark=marks[1]) == 409  # the same form again
    assert live.kept.seats[1].name == "Ann"


def test_who_sits_down_twice_sits_down_once(served: Served) -> None:
    live, *_ = served.table("goofspiel", ["person", "open"])
    page = get(f"{served.base}/join/{live.kept.id}").text
    token = re.findall(r'name="token" value="([^"]+)"', page)[0]
    address = f"{served.base}/join/{live.kept.id}/1"
    headers = {"Origin": served.base}
    answers = [httpx.post(address, data={"name": "Ann", "token": token}, headers=headers) for _ in range(2)]
    assert [(each.status_code, each.headers["location"]) for each in answers] == [(303, f"../../seat/{token}")] * 2
    assert httpx.post(address, data={"name": "Bob"}, headers=headers).status_code == 409


@pytest.mark.parametrize("token", ["short", "x" * 5000, "spectators", "other"])
def test_nobody_sits_down_with_a_token_that_is_somebody_elses(served: Served, token: str) -> None:
    live, links, watch = served.table("goofspiel", ["person", "open"])
    token = {"spectators": watch, "other": links[0]}.get(token, token).rsplit("/", 1)[-1]
    address = f"{served.base}/join/{live.kept.id}/1"
    answer = httpx.post(address, data={"name": "Ann", "token": token}, headers={"Origin": served.base})
    assert answer.status_code == 303
    assert answer.headers["location"] != f"../../seat/{token}"
    assert "You are a spectator" in get(watch).text


# --- everything that can be sent

LOOKS = {"cancel", "open", "close", "toggle", "list", "lines", "moment", "ahead", "explain"}
LOOKS |= {"front", "dismiss"}
"""Actions that change what a page shows, and nothing else."""
NAMED_OTHERWISE = {"sit", "agree", "fork", "drop", "asks", "hook", "again", "say", "notes"}
"""Actions that name a state only in some cases, another thing, or the number of choices as well. Standing orders are
of a seat, not of a state."""
POSTS = {
    "/new": "a new table",
    "/new/{ruleset}": "a new table",
    "/load": "a new table",
    "/join/{id}/{seat}": "the token that the seat gets",
    "/host/{token}/begin": "a table that gathers, once",
    "/host/{token}/{seat}": "the mark of the seat",
    "/seat/{token}/act": "the state of the page",
}
"""Addresses that change something, and what their requests name."""


def test_every_action_names_its_state_or_only_looks() -> None:
    """An action or an address that is added belongs to one of the lists above, and to a test."""
    known = set(re.findall(r'"(\w+)"', " ".join(re.findall(r"case (.+):", inspect.getsource(View._act)))))
    elsewhere = {"explain", "fork", "again"}
    assert known | elsewhere == DATED | LOOKS | NAMED_OTHERWISE
    templates = files("interpreter.serve").joinpath("templates")
    pages = "".join(path.read_text(encoding="utf-8") for path in templates.iterdir())
    assert set(re.findall(r'data-(?:do|change)="(\w+)"', pages)) <= known | elsewhere


def test_every_address_that_changes_something_is_known() -> None:
    routes = re.findall(r'Route\("([^"]+)", [\w.]+, methods=\["POST"\]\)', inspect.getsource(application))
    assert set(routes) == set(POSTS)
