"""What one client may take from the server, so that the others have their share."""

from __future__ import annotations

import json
import random
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from interpreter.serve import connections, limits, web
from interpreter.serve.connections import Connection
from interpreter.serve.limits import Allowance, client_of
from interpreter.serve.table_page import View
from tests.serve.served import Served, forwarded, get, now, post, until

NEVER = 1e6


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server whose allowances are never filled up again, and that looks at its connections all the time."""
    for rate in ("A_SECOND", "REQUESTS_A_SECOND", "SETUPS_A_SECOND"):
        monkeypatch.setattr(web, rate, 0.0)
    monkeypatch.setattr(connections, "LOOK", 0.02)
    running = Served(tmp_path / "tables.sqlite")
    yield running
    running.close()
    assert running.errors == []


def opened(served: Served, text: str) -> socket.socket:
    """Open a connection and send some bytes."""
    host, port = served.base.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.settimeout(20)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
    connection.connect((host, int(port)))
    form = "Content-Type: application/x-www-form-urlencoded"
    connection.sendall(text.replace("HOST", f"{host}:{port}").replace("FORM", form).encode())
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes a connection."""
    try:
        while connection.recv(65_536):
            pass
    except ConnectionError:
        pass
    return True


def lobby(served: Served) -> int:
    return get(served.base, headers=forwarded()).status_code


HALF_OPEN = "GET / HTTP/1.1\r\nHost: HOST\r\nX-Half:"


@pytest.mark.parametrize(
    ("begun", "limit"),
    [
        ("", "HEAD"),
        (HALF_OPEN, "HEAD"),
        ("GET /static/table.css HTTP/1.1\r\nHost: HOST\r\n\r\nGET", "HEAD"),
        ("POST /load HTTP/1.1\r\nHost: HOST\r\nFORM\r\nContent-Length: 9000\r\n\r\nx", "BODY"),
        ("POST /new/goofspiel HTTP/1.1\r\nHost: HOST\r\nFORM\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx", "BODY"),
        ("POST /load HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9000000\r\n\r\nx", "HEAD"),  # refused at once
    ],
)
def test_a_request_that_does_not_arrive_is_given_up(
    served: Served, monkeypatch: pytest.MonkeyPatch, begun: str, limit: str
) -> None:
    for other in ("HEAD", "BODY", "STALLED"):
        monkeypatch.setattr(connections, other, 0.2 if other == limit else NEVER)
    with opened(served, begun) as connection:
        assert is_closed(connection)
    until(lambda: not served.server.server_state.connections)


def test_who_sends_a_long_body_slowly_but_steadily_is_heard(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY", 0.3)
    monkeypatch.setattr(connections, "RATE", 10.0)
    head = "POST /load HTTP/1.1\r\nHost: HOST\r\nFORM\r\nContent-Length: 100\r\n\r\n"
    with opened(served, head) as connection:
        for _ in range(10):
            connection.sendall(b"x" * 10)
            time.sleep(0.1)
        assert connection.recv(20).startswith(b"HTTP/1.1 4")


def test_an_endless_head_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD", NEVER)
    with opened(served, HALF_OPEN + "x" * 100_000) as connection:
        assert is_closed(connection)


def test_half_open_requests_make_room_for_others(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while none of them is given up; a page that is open stays."""
    monkeypatch.setattr(connections, "HEAD", NEVER)
    monkeypatch.setattr(connections, "most_connections", lambda: 20)
    _, links, _ = served.table("goofspiel", ["person", "person"])
    state = served.server.server_state
    with ExitStack() as stack, httpx.stream("GET", f"{links[0]}/events?view={'s' * 20}") as stream:
        lines = stream.iter_lines()
        assert next(lines)
        for _ in range(60):
            stack.enter_context(opened(served, HALF_OPEN))
            assert len(state.connections) <= 21
        assert [lobby(served) for _ in range(5)] == [200] * 5
        served.post("/new/goofspiel", [("players", "2")])
        assert any(line.startswith("data:") for line in lines)


def test_room_is_made_by_who_takes_most_of_it(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD", NEVER)
    monkeypatch.setattr(connections, "most_connections", lambda: 20)
    host, port = served.base.removeprefix("http://").split(":")
    with ExitStack() as stack:
        other = socket.create_connection((host, int(port)), source_address=("127.0.0.2", 0))
        stack.enter_context(other)
        for _ in range(60):
            stack.enter_context(opened(served, HALF_OPEN))
        other.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        assert other.recv(20).startswith(b"HTTP/1.1 200")


def test_the_operating_system_has_files_for_all_connections() -> None:
    from resource import RLIMIT_NOFILE, getrlimit

    assert 0 < connections.most_connections() <= getrlimit(RLIMIT_NOFILE)[0] - connections.BACKLOG


# --- streams that nobody reads


def deaf(served: Served, link: str, number: int) -> socket.socket:
    """Open a stream of a page of its own and read nothing of it."""
    client = f"X-Forwarded-For: 10.0.{number}.1"
    path = link.removeprefix(served.base)
    return opened(served, f"GET {path}/events?view={number:020d} HTTP/1.1\r\nHost: HOST\r\n{client}\r\n\r\n")


@pytest.mark.parametrize("seat", [0, -1])
def test_a_stream_that_does_not_read_takes_little(served: Served, monkeypatch: pytest.MonkeyPatch, seat: int) -> None:
    """At most 100 kB with all that its page needs, on a board whose page has 190 kB: that of a player, and that of
    somebody who only watches."""
    monkeypatch.setattr(connections, "STALLED", NEVER)
    monkeypatch.setattr(connections, "SOCKET_BUFFER", 4096)
    live, links, watch = served.table("germany-2018", ["person"] * 4)
    link, number, state = links[seat] if seat >= 0 else watch, 20, served.server.server_state

    def stalled() -> int:
        return sum(isinstance(each, Connection) and each.flow.write_paused for each in [*state.connections])

    tracemalloc.start()
    try:
        with ExitStack() as stack:
            stack.enter_context(deaf(served, link, 99))  # it draws what all of them share
            until(lambda: stalled() == 1)
            decision = now(live).decision
            assert decision is not None
            served.done(live.choose(decision.actor, decision.options[-1].as_dict()))
            stack.enter_context(deaf(served, link, 98))
            until(lambda: stalled() == 2)
            before = tracemalloc.get_traced_memory()[0]
            for each in range(number):
                stack.enter_context(deaf(served, link, each))
            until(lambda: stalled() == number + 2)
            after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (after - before) / number < 100_000


def test_a_stream_that_does_not_read_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLED", 0.3)
    monkeypatch.setattr(connections, "SOCKET_BUFFER", 4096)
    _, _, watch = served.table("germany-2018", ["person"] * 4)
    with deaf(served, watch, 1), deaf(served, watch, 2):
        until(lambda: len(served.hall.views) == 2)
        until(lambda: not served.server.server_state.connections)
        until(lambda: not served.hall.views)


def test_a_page_that_nobody_reads_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if little of it is left, and the server has sent all of it."""
    monkeypatch.setattr(connections, "STALLED", 0.3)
    monkeypatch.setattr(connections, "SOCKET_BUFFER", 4096)
    monkeypatch.setattr(connections, "HEAD", 0.3)
    _, _, watch = served.table("germany-2018", ["person"] * 4)
    path = watch.removeprefix(served.base)
    with opened(served, f"GET {path} HTTP/1.1\r\nHost: HOST\r\n\r\n"):
        until(lambda: not served.server.server_state.connections)


def test_who_reads_slowly_gets_all(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLED", 5.0)
    monkeypatch.setattr(connections, "HEAD", 0.1)
    _, _, watch = served.table("germany-2018", ["person"] * 4)
    got = b""
    with opened(served, f"GET {watch.removeprefix(served.base)} HTTP/1.1\r\nHost: HOST\r\n\r\n") as connection:
        while new := connection.recv(16_384):
            got += new
            time.sleep(0.05)
    head, _, body = got.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}\r\n".encode() in head
    assert len(body) > 100_000


@pytest.mark.parametrize("size", [0, 10, web.CHUNK, 5 * web.CHUNK + 3])
def test_an_event_is_one_line_of_json_however_it_is_cut(served: Served, size: int) -> None:
    live, _, _ = served.table("goofspiel", ["person", "person"])
    view = View(live, 0)
    pieces = {"log": 'ä\n"' * size, "side": "", "base": "<svg>" * size}
    chunks = list(web._event(view, pieces))
    assert max(map(len, chunks)) <= 2 * web.CHUNK
    event, data, *rest = b"".join(chunks).decode().split("\n")
    assert (event, rest) == ("event: pieces", ["", ""])
    assert json.loads(data.removeprefix("data: "))["pieces"] == pieces


# --- clients


def test_a_client_has_a_number_of_requests_at_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "AT_ONCE", 3)
    _, _, watch = served.table("goofspiel", ["person", "person"])
    one, other = forwarded(), {"X-Forwarded-For": "192.0.2.1"}
    with ExitStack() as stack:

        def code(client: dict[str, str], number: int) -> int:
            address = f"{watch}/events?view={number:020d}"
            return stack.enter_context(httpx.stream("GET", address, headers=client, verify=False)).status_code

        assert [code(one, number) for number in range(4)] == [200, 200, 200, 429]
        assert [code(other, number) for number in range(4, 8)] == [200, 200, 200, 429]
    until(lambda: get(served.base, headers=one).status_code == 200)


def test_a_client_sets_up_a_number_of_tables(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """New ones, uploads and those that go on with a moment of another game count together."""
    one = {"Origin": served.base, **forwarded()}
    _, links, _ = served.table("goofspiel", ["person", "bot"])
    codes = []
    for number in range(int(web.SETUPS) + 3):
        match number % 3:
            case 0:
                answer = post(f"{served.base}/load", files={"file": ("x", "no log")}, headers=one)
            case 1:
                answer = post(f"{served.base}/new/goofspiel", data={"players": "0"}, headers=one)
            case _:
                fork = {"view": "f" * 20, "do": "fork"}
                answer = post(f"{links[0]}/act", json=fork, headers=one)
        codes.append(answer.status_code)
    assert 429 not in codes[: int(web.SETUPS)]
    assert codes[-3:] == [429] * 3
    served.table("goofspiel", ["person", "bot"])  # by another client


def test_a_client_asks_a_number_of_times(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    one = forwarded()
    with httpx.Client(headers=one, verify=False) as client:
        codes = [client.get(f"{served.base}/{web.STATIC}/icon.svg").status_code for _ in range(int(web.REQUESTS) + 1)]
        assert (set(codes[:-1]), codes[-1]) == ({200}, 429)
    assert lobby(served) == 200


def test_pages_of_a_link_share_its_limit(served: Served) -> None:
    """Whoever uses it; spectators, who have one link, have a limit each."""
    _, links, watch = served.table("goofspiel", ["person", "bot"])

    def codes(link: str, number: int, client: dict[str, str] | None = None) -> list[int]:
        acts = ({"view": f"{each:016d}", "do": "lines"} for each in range(number))
        return [post(f"{link}/act", json=act, headers=client or forwarded()).status_code for act in acts]

    most = int(web.ACTS)
    assert codes(links[0], most + 1) == [200] * most + [429]
    one = forwarded()
    assert codes(watch, most + 1, one) == [200] * most + [429]
    assert codes(watch, 1) == [200]


def test_an_allowance_fills_up_again_and_forgets_who_acted_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(limits, "MOST_KNOWN", 10)
    allowance = Allowance(3, 0.5)
    assert [allowance.takes("a") for _ in range(4)] == [True, True, True, False]
    now = 1.9
    assert not allowance.takes("a")
    now = 5.0
    assert [allowance.takes("a") for _ in range(2)] == [True, False]
    for _ in range(30):
        allowance.takes(str(random.random()))
    assert len(allowance._left) == 10


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002"),
        ("2001:db8:1:2::9", "2001:0db8:0001:0002"),
        ("testclient", "testclient"),
        (None, ""),
    ],
)
def test_a_client_is_an_address_or_a_network(host: str | None, client: str) -> None:
    assert client_of({"client": (host, 1) if host is not None else None}) == client
