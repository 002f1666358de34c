"""Choices that a table makes for a seat: forced ones, and answers given in advance."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from interpreter.base.plain_data import Json
from interpreter.engine.game import Game
from interpreter.play.game_records import Choice
from interpreter.serve import calling
from interpreter.serve.archive import Said, Store
from interpreter.serve.hall import Hall
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.standing import Orders, forced, orders_in
from interpreter.serve.table_page import View
from interpreter.serve.words import Refused
from tests.support import ENVELOPES

from .served import Served, get, until
from .test_archive import act_of


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("standing") / "tables.sqlite")
    yield running
    running.close()


def auction(served: Served) -> tuple[Live, int, int]:
    """Return a table with a bid to answer, the seat that answers, and the price."""

    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and asked.name == "answer" and len(asked.options) > 12

    live, _ = served.moment("germany-2018", 3, holds)
    asked = live.game.decision
    assert asked is not None
    return live, asked.actor, int(str(asked.context["price"]))


def first(live: Live, seat: int) -> Choice:
    decision = live.game.decision_of(seat)
    assert decision is not None
    return decision.options[0].as_dict()


def asks(live: Live, seat: int) -> bool:
    """Return whether the table waits for a seat."""
    return any(decision.actor == seat for decision in live.game.decisions)


def bid(served: Served, live: Live, seat: int) -> None:
    """Let a person raise by one."""
    until(lambda: served.within(lambda: asks(live, seat)))
    served.done(live.choose(seat, served.within(lambda: first(live, seat))))


def answers(served: Served, live: Live, seat: int, **data: Json) -> View:
    """Give an answer in advance, as the page does it."""
    view = View(live, seat)
    served.done(view.act("answer", {"state": live.state_of(seat), **data}))
    assert not view.said
    return view


def made(live: Live, seat: int, since: int) -> list[tuple[object, object]]:
    return [(line["do"], line.get("amount")) for line in live.kept.choices[since:] if line["by"] == seat]


def test_a_bid_up_to_a_limit_then_pass(served: Served) -> None:
    live, seat, price = auction(served)
    since = len(live.kept.choices)
    answers(served, live, seat, most=price + 4)
    for _ in range(2):
        for other in ((seat + 1) % 3, (seat + 2) % 3):
            bid(served, live, other)
    until(lambda: made(live, seat, since)[-1] == ("pass", None))
    assert made(live, seat, since) == [("raise", price + 1), ("raise", price + 4), ("pass", None)]


def test_an_answer_is_told_to_nobody_else_and_lapses_with_what_it_is_about(served: Served) -> None:
    live, seat, _ = auction(served)
    decision = live.game.decision
    assert decision is not None
    what = decision.context["what"]
    answers(served, live, seat)
    until(lambda: not served.within(lambda: asks(live, seat)))
    assert "In advance: pass" in served.within(View(live, seat).pieces)["prompt"]
    for other in range(3):
        if other != seat:
            pieces = served.within(View(live, other).pieces)
            assert "Cancel: pass" not in "".join(pieces.values())
    number = live.game.round
    while (decision := served.within(lambda: live.game.decision)) is not None and decision.actor != seat:
        if decision.context.get("what") != what and live.game.round == number:
            assert served.within(lambda: live.orders(seat).answers) == {}, "the page does not show it any more"
        passes = {"do": "pass"} if decision.name == "answer" else served.within(lambda: first(live, decision.actor))
        served.done(live.choose(decision.actor, passes))
    assert decision is not None
    assert decision.context.get("what") != what


def test_an_answer_for_the_round_passes_on_everything_in_it(served: Served) -> None:
    live, seat, _ = auction(served)
    since, number = len(live.kept.choices), live.game.round
    answers(served, live, seat, round=1)
    assert served.within(lambda: live.orders(seat).answers["answer"]).round == number
    until(lambda: made(live, seat, since) == [("pass", None)])


def test_undo_takes_back_the_choice_and_the_answer(served: Served) -> None:
    live, seat, price = auction(served)
    since = len(live.kept.choices)
    answers(served, live, seat, most=price + 9)
    until(lambda: made(live, seat, since))
    served.done(live.undo(seat))
    told = ["took a choice back" in served.within(View(live, each).pieces)["notice"] for each in range(3)]
    assert told == [each != seat for each in range(3)], "the others are told"
    assert not made(live, seat, since)
    assert live.orders(seat) == Orders()
    assert served.within(lambda: asks(live, seat))


def test_orders_outlive_the_server(served: Served) -> None:
    live, seat, price = auction(served)
    other = (seat + 1) % 3
    answers(served, live, seat, most=price + 20)
    until(lambda: served.within(lambda: asks(live, other)))

    async def again() -> Orders:
        store = Store(served.hall.store.path)
        try:
            return (await Hall(store).live(live.kept.id)).orders(seat)
        finally:
            store.close()

    assert asyncio.run(again()).answers["answer"].most == price + 20


def lonely(served: Served) -> tuple[Live, int]:
    """Return a table that waits for a seat with a single option, whose page makes forced choices itself."""

    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and len(asked.options) == 1 and asked.name == "buy"

    live, _ = served.moment("germany-2018", 3, holds, asks=True)
    decision = live.game.decision
    assert decision is not None
    return live, decision.actor


def test_a_forced_choice_is_made_by_itself_unless_the_seat_wants_it(served: Served) -> None:
    live, seat = lonely(served)
    since = len(live.kept.choices)
    assert served.within(lambda: asks(live, seat))
    served.done(View(live, seat).act("asks", {"yes": ""}))
    until(lambda: made(live, seat, since))
    line = live.kept.choices[since]
    assert (line["by"], line["forced"]) == (seat, True)
    assert "forced" not in str(live.as_log.choices)


def test_undo_goes_back_to_the_last_choice_of_ones_own(served: Served) -> None:
    live, seat = lonely(served)
    own = max(number for number, line in enumerate(live.kept.choices) if line["by"] == seat)
    served.done(View(live, seat).act("asks", {"yes": ""}))
    until(lambda: len(live.kept.choices) > own + 1)
    possible = served.within(lambda: live.undo_of(seat))
    assert possible is not None
    assert possible[0] == own


@pytest.mark.parametrize(
    ("server", "ruleset", "overlays", "players"),
    [
        ("sealed", ENVELOPES, (), 2),
        ("served", "goofspiel", (), 2),
        ("served", "germany-2018", ("power-grid/hidden-money",), 3),
    ],
    ids=["sealed", "at once", "money"],
)
def test_a_forced_choice_that_tells_something_hidden_is_left_to_the_seat(
    request: pytest.FixtureRequest, server: str, ruleset: str, overlays: tuple[str, ...], players: int
) -> None:
    running: Served = request.getfixturevalue(server)

    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and len(asked.options) == 1 and asked.name in ("bid", "buy", "answer")

    live, _ = running.moment(ruleset, players, holds, asks=True, overlays=overlays)
    decision = live.game.decision
    assert decision is not None
    assert running.within(lambda: forced(live.game, decision)) is None


# --- whose turn it is


class _Ear(BaseHTTPRequestHandler):
    heard: ClassVar[list[tuple[str, float]]] = []

    def do_POST(self) -> None:
        self.heard.append((self.rfile.read(int(self.headers["Content-Length"])).decode(), time.monotonic()))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def ear() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Ear)
    Thread(target=server.serve_forever, daemon=True).start()
    _Ear.heard.clear()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("form", ["", "json:"])
@pytest.mark.parametrize(("ruleset", "before"), [("envelopes", [0]), ("goofspiel", [1, 0])])
def test_a_webhook_tells_within_a_second_whose_turn_it_is(
    tmp_path: Path, ear: str, form: str, ruleset: str, before: list[int]
) -> None:
    """Seats bid one after another, or at once: then a seat is called again when all have bid."""
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES, "goofspiel"], hooks=[f"{form}{ear}"])
    try:
        live, _, _ = running.table(ruleset, ["person", "person"])
        view = View(live, 1)
        running.done(view.act("hook", {"value": f"http://{ear}/mine", "link": "https://here/seat/x"}))
        assert not view.said
        for seat in before:
            assert _Ear.heard == []
            running.done(live.choose(seat, running.within(partial(first, live, seat))))
        made = time.monotonic()
        until(lambda: _Ear.heard)
        text, at = _Ear.heard[0]
        assert at - made < 1
        said = json.loads(text)["text"] if form else text
        assert said == f"It is your turn: {ruleset.capitalize()}\nhttps://here/seat/x"
        assert f"{ear}/mine" not in str(running.within(View(live, 0).pieces))
    finally:
        running.close()


def test_who_looks_at_the_page_is_not_called(tmp_path: Path, ear: str) -> None:
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES], hooks=[ear])
    try:
        live, links, _ = running.table("envelopes", ["person", "person"])
        view = running.within(lambda: running.hall.view(links[1].rpartition("/")[2], "v" * 20, live, 1))
        running.done(view.act("hook", {"value": f"http://{ear}/mine"}))
        running.done(view.act("front", {"yes": True}))
        running.done(live.choose(0, running.within(lambda: first(live, 0))))
        time.sleep(0.3)
        assert _Ear.heard == []
    finally:
        running.close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "file:///etc/passwd", "http://[::1/", "ftp://{}/", "http://x@{}/"]
)
def test_only_hosts_that_the_operator_names_are_called(tmp_path: Path, ear: str, url: str) -> None:
    running = Served(tmp_path / "tables.sqlite", hooks=[ear])
    try:
        live, _, _ = running.table("goofspiel", ["person", "person"])
        view = View(live, 1)
        running.done(view.act("hook", {"value": url.format(ear)}))
        assert "calls only webhooks of" in view.said
        assert live.orders(1).hook == ""
    finally:
        running.close()


# --- the next game


def test_the_same_people_play_again_one_seat_further_on(served: Served) -> None:
    live, _ = served.moment("goofspiel", 3, lambda game: len(game.choices) > 30)
    for number, name in enumerate(("Ann", "Bob", "Cem")):
        served.done(live.take(number, "person", name=name))
    with pytest.raises(Refused, match="not over"):
        served.done(served.hall.again(live, 0))
    while (decision := served.within(lambda: live.game.decision)) is not None:
        served.done(live.choose(decision.actor, served.within(lambda: first(live, decision.actor))))
    tables = len(served.hall.kept)
    links = [f"{served.base}/seat/{each.token}" for each in live.kept.seats]
    answers = [act_of(link, do="again").json()["go"] for link in links]
    assert len(served.hall.kept) == tables + 1
    following = served.hall.kept[live.kept.header["again"]]
    assert [each.name for each in following.seats] == ["Bob", "Cem", "Ann"]
    assert answers == [f"../seat/{following.seats[n].token}" for n in (2, 0, 1)]
    assert "Go there" in get(links[1]).text
    assert all(each.token not in get(links[0]).text for each in following.seats)


# --- talk


def test_talk_is_read_by_all_in_its_place_and_outlives_the_server(served: Served) -> None:
    live, seat, _ = auction(served)
    served.done(live.take(seat, "person", name="Ann"))
    view = View(live, seat)
    served.done(view.act("say", {"value": "a fair\nprice <b>\u202e"}))
    served.done(live.choose(seat, {"do": "pass"}))
    served.done(view.act("say", {"value": "  "}))
    for each in (*range(3), PUBLIC):
        log = served.within(View(live, each).pieces)["log"]
        assert log.count('class="said"') == 1
        assert log.index("Ann: a fair price &lt;b&gt;") < log.index("Ann passes")

    async def kept() -> list[Said]:
        store = Store(served.hall.store.path)
        try:
            return (await Hall(store).live(live.kept.id)).kept.talk
        finally:
            store.close()

    assert asyncio.run(kept()) == live.kept.talk
    watching = View(live, PUBLIC)
    served.done(watching.act("say", {"value": "hello"}))
    assert watching.said == "Spectators cannot do this."


def test_notes_are_private(served: Served) -> None:
    live, seat, _ = auction(served)
    served.done(View(live, seat).act("notes", {"value": "she has 40"}))
    link = f"{served.base}/seat/{live.kept.seats[seat].token}"
    assert "she has 40" in get(link).text
    others = [f"{served.base}/seat/{each.token}" for number, each in enumerate(live.kept.seats) if number != seat]
    assert all("she has 40" not in get(each).text for each in others)


# --- what was found by attacking it


def test_who_sits_down_has_the_seat_alone(served: Served) -> None:
    """Also where somebody has set up the table as if for themselves, with an open seat."""
    fields = [("players", "2"), ("seat0", "open"), ("seat1", "person"), ("at_once", "1")]
    served.post("/new/goofspiel", fields)
    kept = [*served.hall.kept.values()][-1]
    before = f"{served.base}/seat/{kept.seats[0].token}"
    served.post(f"/join/{kept.id}/0", [("name", "Ann"), ("token", "t" * 32)])
    assert get(before).status_code == 410
    assert get(f"{served.base}/seat/{'t' * 32}").status_code == 200


def test_talk_of_choices_that_were_undone_repeats_no_line(served: Served) -> None:
    live, seat, price = auction(served)
    others = [(seat + 1) % 3, (seat + 2) % 3]
    for each in (seat, *others):
        bid(served, live, each)
    served.done(live.say(seat, "one"))
    served.done(live.undo(others[1]))
    served.done(live.say(seat, "two"))
    bid(served, live, others[1])
    log = served.within(View(live, seat).pieces)["log"]
    numbers = re.findall(r'data-line="([\d.]+)"', log)
    assert len(numbers) == len(set(numbers))
    assert log.index("one") < log.index("two")
    assert price


def test_an_undo_cancels_the_answers_of_all_whose_choices_it_takes_back(served: Served) -> None:
    live, seat, price = auction(served)
    other = (seat + 1) % 3
    answers(served, live, seat, most=price + 9)
    until(lambda: asks(live, other))
    bid(served, live, other)
    bid(served, live, (seat + 2) % 3)
    until(lambda: asks(live, other))
    served.done(live.undo(other))
    for each in (seat, (seat + 2) % 3):
        served.done(live.agree(each, yes=True, request=live.request))
    assert asks(live, other)
    assert orders_in(live.kept.seats[seat].orders).answers == {}


def test_a_host_that_hangs_holds_up_nothing(tmp_path: Path) -> None:
    with socket.socket() as hanging:
        hanging.bind(("127.0.0.1", 0))
        hanging.listen()
        host = f"127.0.0.1:{hanging.getsockname()[1]}"
        running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES, "outpost"], hooks=[host])
        try:
            for number in range(6):
                live, *_ = running.table("envelopes", ["person", "person"])
                running.done(View(live, 1).act("hook", {"value": f"http://{host}/{number}"}))
                running.done(live.choose(0, running.within(partial(first, live, 0))))
            begun = time.monotonic()
            assert get(f"{running.base}/new/outpost").status_code == 200
            assert time.monotonic() - begun < 4
        finally:
            running.close()


def test_a_turn_soon_after_another_is_told_when_the_time_has_come(
    tmp_path: Path, ear: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "_SECONDS", 1.0)
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES], hooks=[ear])
    try:
        live, *_ = running.table("envelopes", ["person", "person"])
        running.done(View(live, 1).act("hook", {"value": f"http://{ear}/mine"}))
        for _ in range(2):
            for seat in (0, 1):
                running.done(live.choose(seat, running.within(partial(first, live, seat))))
        running.done(live.choose(0, running.within(lambda: first(live, 0))))
        until(lambda: len(_Ear.heard) == 2)
        assert _Ear.heard[1][1] - _Ear.heard[0][1] > 0.9
    finally:
        running.close()


@pytest.mark.parametrize("tail", ["/ü", "/sec ret", "\n/x", ":\t9/x"])
def test_odd_addresses_are_refused(tail: str) -> None:
    assert not calling.may_call(f"http://host{tail}", ["host", "host:9"])
    assert calling.may_call("http://host/x", ["host"])
