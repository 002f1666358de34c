"""What a player, a spectator or a stranger at the lobby must not be able to do."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import sqlite3
import time
import urllib.error
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from interpreter.base.source import NOWHERE
from interpreter.lowering.constants import Caller, RuleFailure
from interpreter.play.game_records import Difference, replay_game
from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.serve.live import Live
from tests.serve.served import Served, first, forwarded, now, state_of, until


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("attacks") / "tables.sqlite")
    yield running
    running.close()


def client(served: Served) -> httpx.Client:
    return httpx.Client(verify=False, base_url=served.base, headers={"Origin": served.base, **forwarded()}, timeout=20)


def page(web: httpx.Client, link: str) -> str:
    found = re.search(r'data-view="([^"]+)"', web.get(link).text)
    assert found is not None
    return found[1]


def act(web: httpx.Client, link: str, view: str, action: str, **data: Any) -> httpx.Response:
    """Act as a page that shows the current state."""
    state = state_of(web.get(link).text)
    return web.post(f"{link}/act", json={"view": view, "do": action, "state": state, **data})


def give(web: httpx.Client, live: Live, seat: int, kind: str, bot: str = "") -> httpx.Response:
    """Give a seat away as the host's page shows it."""
    data = {"kind": kind, "bot": bot, "mark": live.kept.seats[seat].mark}
    return web.post(f"/host/{live.kept.host}/{seat}", data=data)


def said(hall: Hall, view: str) -> str:
    return str(next(each.said for (_, id), each in hall.views.items() if id == view))


# --- hidden information


def test_a_seat_that_becomes_a_bot_for_a_while_reads_no_log(served: Served) -> None:
    live, links, _ = served.table("goofspiel", ["person", "person"])
    with client(served) as web:
        view = page(web, links[0])
        assert act(web, links[0], view, "bot").status_code == 200
        assert web.get(f"{links[0]}/log").status_code == 403
        act(web, links[0], view, "fork", value=0)
        assert "hidden information" in said(served.hall, view)
        assert web.get(f"/host/{live.kept.host}/log").status_code == 403


def test_who_has_read_the_log_of_a_game_stays_alone_in_it(served: Served) -> None:
    live, links, _ = served.table("goofspiel", ["person", "bot"])
    with client(served) as web:
        assert web.get(f"{links[0]}/log").status_code == 200
        answer = give(web, live, 1, "open")
        assert answer.status_code == 409
        assert "nobody can join" in answer.text
        assert live.kept.seats[1].kind == "bot"


def test_whoever_has_read_the_log_of_a_finished_game_stays_alone_in_it(served: Served) -> None:
    """After the end everybody may read the log: nobody joins where the game goes on after that."""
    live, links, _ = served.table("goofspiel", ["person", "bot"])
    with client(served) as web:
        view = page(web, links[0])
        while not live.game.is_over:
            until(lambda: live.game.is_over or live.game.decision_of(0) is not None)
            decision = now(live).decision_of(0)
            if decision is not None:
                served.done(live.choose(0, decision.options[0].as_dict()))
        assert live.kept.audience == "alone"
        act(web, links[0], view, "undo")
        assert not live.game.is_over
        assert give(web, live, 1, "open").status_code == 409


def test_opening_a_seat_and_reading_the_log_at_once_do_not_both_succeed(served: Served) -> None:
    live, _, _ = served.table("goofspiel", ["person", "bot"])

    async def both() -> list[object]:
        return await asyncio.gather(
            served.hall.give(live, 1, "open", ""), *(live.open_book() for _ in range(4)), return_exceptions=True
        )

    found = served.done(both())
    assert found[0] is None
    assert live.kept.audience == "shared"
    assert found[1:] == [False] * 4


def test_failures_come_back_from_a_worker() -> None:
    failure = RuleFailure("message", None, "R002")
    failure.chain.append(Caller("rule", NOWHERE))
    again = pickle.loads(pickle.dumps(failure))
    assert (str(again), again.code, again.chain) == (str(failure), "R002", failure.chain)
    assert str(pickle.loads(pickle.dumps(Difference(3, "message")))) == "choice 3: message"


def test_a_full_server_drops_tables_that_nobody_plays(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    live, links, _ = served.table("goofspiel", ["person", "bot"])
    monkeypatch.setattr("interpreter.serve.hall.MOST_TABLES", len(served.hall.kept))
    with pytest.raises(urllib.error.HTTPError):
        served.table("goofspiel", ["person", "bot"])
    live.kept.changed -= 100_000
    served.table("goofspiel", ["person", "bot"])
    with client(served) as web:
        assert web.get(links[0]).status_code == 404


def test_a_seat_given_to_somebody_else_has_a_new_link(served: Served) -> None:
    live, links, _ = served.table("goofspiel", ["person", "person"])
    with client(served) as web:
        with web.stream("GET", f"{links[0]}/events?view={'g' * 20}") as stream:
            lines = stream.iter_lines()
            assert "event: pieces" in lines
            assert give(web, live, 0, "open").status_code == 303
            assert "event: reload" in lines  # the page is told at once
        assert web.get(links[0]).status_code == 410
        answers = [web.post(f"/join/{live.kept.id}/0", data={"name": name}) for name in ("Ann", "Bob")]
        assert [answer.status_code for answer in answers] == [303, 409]
        assert web.get(answers[0].headers["location"]).status_code == 200


# --- files and rules


@pytest.mark.parametrize("overlay", ["/etc/passwd", "../x", "x.yml", "a:/b/c.yaml", "+undefined", "a\\b", 1, None])
def test_an_uploaded_game_names_no_files(served: Served, overlay: object) -> None:
    header = {"log": 1, "ruleset": "goofspiel", "overlays": [overlay], "players": 2, "seed": 1, "settings": {}}
    with client(served) as web:
        answer = web.post("/load", files={"file": ("x", json.dumps(header))})
        assert answer.status_code == 409
        assert "root:" not in answer.text
        assert web.post("/new/goofspiel", data={"players": "2", "overlay": str(overlay)}).status_code == 409


@pytest.mark.parametrize("suffix", ["", ".yaml", ".yml"])
def test_an_uploaded_game_shows_no_line_of_a_file(served: Served, tmp_path: Path, suffix: str) -> None:
    secret = tmp_path / f"x{suffix}"
    secret.write_text("overlay: a secret word\n", encoding="utf-8")
    header = {"log": 1, "ruleset": "goofspiel", "overlays": [str(secret)], "players": 2, "seed": 1, "settings": {}}
    with client(served) as web:
        answer = web.post("/load", files={"file": ("x", json.dumps(header))})
    assert answer.status_code == 409
    assert "secret word" not in answer.text


def test_escaped_characters_are_no_half_ones(served: Served) -> None:
    """Outside the first 65,536 characters JSON may write two escapes for one."""
    header = {"log": 1, "ruleset": "goofspiel", "players": 2, "seed": 1, "settings": {}, "note": "\U0001f600"}
    with client(served) as web:
        assert web.post("/load", files={"file": ("x", json.dumps(header))}).status_code == 303


@pytest.mark.parametrize(
    "change",
    [
        {"chance": 5},
        {"ruleset": "\ud800"},
        {"seed": "1"},
        {"settings": []},
        {"players": 10**9},
        {"players": -1},
        {"choices": [1, 2]},
        {"junk": [[]] * 1000},
        {"digest": "x" * 100_000},
    ],
)
def test_an_uploaded_game_that_is_damaged_is_refused(served: Served, change: dict[str, Any]) -> None:
    header = {"log": 1, "ruleset": "goofspiel", "players": 2, "seed": 1, "settings": {}, **change}
    if "choices" in change:
        header["save"] = header.pop("log")
    with client(served) as web:
        answer = web.post("/load", files={"file": ("x", json.dumps(header))}, follow_redirects=False)
    if answer.status_code == 303:
        kept = next(each for each in served.hall.kept.values() if answer.headers["location"].endswith(each.host))
        assert len(json.dumps(kept.header)) < 1_000
    else:
        assert answer.status_code == 409


def test_an_uploaded_game_of_endless_length_is_refused(served: Served) -> None:
    header = {"log": 1, "ruleset": "goofspiel", "players": 2, "seed": 1, "settings": {}}
    lines = [json.dumps(header), *['{"by": 0, "do": "play"}'] * 4_000]
    with client(served) as web:
        answer = web.post("/load", files={"file": ("x", "\n".join(lines))})
    assert answer.status_code == 409
    assert "more than 3,000 choices" in answer.text


# --- work


@pytest.mark.parametrize("bot", [" search:12s", "random,search:8s", "search:86400s", "cmd:true", "nobody"])
def test_only_bots_on_offer_take_seats(served: Served, bot: str) -> None:
    live, _, _ = served.table("goofspiel", ["person", "bot"])
    with client(served) as web:
        data = {"players": "2", "seat0": "bot", "bot0": bot, "seat1": "bot", "bot1": "random"}
        assert web.post("/new/goofspiel", data=data).status_code == 409
        assert give(web, live, 1, "bot", bot).status_code == 409


def test_the_newest_stream_of_a_page_is_the_one_that_is_served(served: Served) -> None:
    _, links, _ = served.table("goofspiel", ["person", "person"])
    with client(served) as web, client(served) as other:
        view = page(web, links[0])
        address = f"{links[0]}/events?view={view}"
        with web.stream("GET", address) as old:
            ended = old.iter_lines()
            assert next(ended)
            with other.stream("GET", address) as new:
                lines = new.iter_lines()
                assert any(line.startswith("data:") for line in lines if line)
                deque(ended, maxlen=0)  # it has an end, or reading times out


def test_a_page_that_gets_news_is_not_idle(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long its reader does nothing."""
    monkeypatch.setattr("interpreter.serve.hall.MOST_IDLE", 0.5)
    live, links, _ = served.table("goofspiel", ["person", "person"])
    with client(served) as web:
        view = page(web, links[0])
        with web.stream("GET", f"{links[0]}/events?view={view}") as stream:
            lines = stream.iter_lines()
            end = time.monotonic() + 1
            while time.monotonic() < end:
                served.done(live.take(1, "person", name=f"Ann {time.monotonic()}"))
                assert any(line.startswith("data:") for line in lines)
            page(web, links[1])
            assert any(id == view for _, id in served.hall.views)


# --- whatever comes


@pytest.mark.parametrize(
    "body",
    [
        '{"view": "%s", "do": "sit", "name": "x\\ud800"}',
        '{"view": "%s", "do": "number", "n": Infinity}',
        '{"view": "%s", "do": ' + "[" * 60_000,
        "[]",
        '{"view": 1, "do": "list"}',
    ],
)
def test_odd_actions_are_refused(served: Served, body: str) -> None:
    live, links, _ = served.table("goofspiel", ["person", "person"])
    with client(served) as web:
        view = page(web, links[0])
        answer = web.post(f"{links[0]}/act", content=body.replace("%s", view))
        assert answer.status_code == 400
        assert act(web, links[0], view, "choose", choice=first(live, 0)).status_code == 200
    assert len(live.kept.choices) == 1


@pytest.mark.parametrize("origin", ["http://[::1", "null", "http://evil.example", "x" * 2000])
def test_odd_origins_are_refused(served: Served, origin: str) -> None:
    answer = httpx.post(f"{served.base}/new/goofspiel", headers={"Origin": origin})
    assert answer.status_code == 403
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("seat", ["9" * 5000, "-1", "x", "7"])
def test_odd_seats_are_refused(served: Served, seat: str) -> None:
    live, _, _ = served.table("goofspiel", ["person", "open"])
    with client(served) as web:
        assert web.post(f"/join/{live.kept.id}/{seat}", data={"name": "x"}).status_code in (404, 409)
        assert web.post(f"/host/{live.kept.host}/{seat}", data={"kind": "open"}).status_code in (400, 404)


def test_a_change_that_the_archive_cannot_write_stops_no_other(served: Served) -> None:
    live, _, _ = served.table("goofspiel", ["person", "person"])
    with pytest.raises(Exception, match="data of a wrong kind"):
        served.done(live.take(0, "person", name="\ud800"))
    served.done(live.take(0, "person", name="Ann"))
    assert live.kept.seats[0].name == "Ann"


def test_earlier_moments_are_those_of_a_replay(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are reached without one, which would hold up all tables."""
    for ruleset, players in (("goofspiel", 3), ("germany-2018", 3)):
        live, _ = served.moment(ruleset, players, lambda game: len(game.choices) >= 30)
        with monkeypatch.context() as patched:
            patched.setattr("interpreter.serve.live.replaying", None)
            moments = {number: live.at(number).digest() for number in (0, 1, 2, 17, 29)}
        for number, digest in moments.items():
            assert digest == replay_game(live.ruleset, live.as_log, number).digest()


@pytest.mark.slow
def test_tables_of_an_older_archive_are_taken_for_shared(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    running = Served(path)
    live, *_ = running.table("goofspiel", ["person", "bot"])
    running.close()
    running.hall.close()
    with sqlite3.connect(path) as connection:
        connection.execute("alter table tables drop column audience")
        connection.execute("alter table seats drop column orders")
        connection.execute("update about set version = 1")
    store = Store(path)
    assert {table.id: table.audience for table in store.tables()[0]} == {live.kept.id: "shared"}
    store.close()
