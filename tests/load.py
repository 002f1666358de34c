"""Load and crash tests: number of tables that a server can hold, and durability of choices when it is killed.

``python -m tests.load`` plays 200 tables of bots with 500 listeners for a minute; latency is measured from a choice to
the arrival of its event, and a tenth of the listeners never reads. ``--kills 200`` kills a server 200 times while bots
play and a person chats and drafts. ``--attack`` opens connections that send half a request, a slow body, or read
nothing, and asks for the lobby meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interpreter.engine.game import Game

RULESETS = (("bsw-germany", 3), ("goofspiel", 3), ("outpost", 4), ("germany-2018", 4))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--listeners", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=2.0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--attack", action="store_true")
    given = parser.parse_args(arguments)
    if given.kills:
        return killed(given.kills)
    if given.attack:
        return max([attacked(kind, number) for kind, number in ATTACKS.items()])
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder) / "tables.sqlite", _free_port()
        server = _serving(data, port, given.pace)
        try:
            base = f"http://127.0.0.1:{port}"
            _until_answers(base)
            watch = [_table(base, number) for number in range(given.tables)]
            figures = asyncio.run(_listen(port, watch, given.listeners, given.seconds))
            figures["ram_mb"] = round(_memory(server.pid))
            figures["tables"] = given.tables
        finally:
            server.kill()
            server.wait()
    print(json.dumps(figures))
    return 0 if figures["p95_ms"] <= 150 and figures["ram_mb"] <= 500 else 1


def _serving(data: Path, port: int, pace: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "interpreter", "serve", "--no-browser", "--data", str(data), "--port", str(port)]
    return subprocess.Popen([*command, "--pace", str(pace)], stderr=subprocess.DEVNULL)


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _until_answers(base: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(base, timeout=5).read()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def _table(base: str, number: int, *, person: bool = False) -> str:
    """Create a table of bots and return the path for spectators, or, with a person on its first seat, that of the
    person."""
    ruleset, players = RULESETS[number % len(RULESETS)]
    form = {"players": str(players), **{f"seat{seat}": "bot" for seat in range(players)}}
    form |= {"seat0": "person"} if person else {}
    headers = {"Origin": base, "X-Forwarded-For": _address(number)}
    request = urllib.request.Request(f"{base}/new/{ruleset}", urllib.parse.urlencode(form).encode(), headers)
    page = urllib.request.urlopen(request, timeout=60).read().decode()
    return str(re.findall(r'href="\.\.(/seat/[^"]+)"', page)[0 if person else -1])


def _address(number: int) -> str:
    """Return the address of a client. Ten tables or listeners share one, since the server limits what a client may
    have."""
    return f"10.0.{number // 10 // 256}.{number // 10 % 256}"


async def _listen(port: int, watch: list[str], listeners: int, seconds: float) -> dict[str, float]:
    """Let listeners read the events of their tables, which contain the time of the choice, and return latencies."""
    late: list[float] = []
    deaf = listeners // 10
    tasks = [
        asyncio.create_task(_listener(port, watch[number % len(watch)], _address(number), late, reads=number >= deaf))
        for number in range(listeners)
    ]
    await asyncio.sleep(5)
    late.clear()
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    late.sort()
    if not late:
        raise AssertionError("nothing was heard")
    return {
        "listeners": listeners,
        "deaf": deaf,
        "events": len(late),
        "events_a_second": round(len(late) / seconds),
        "median_ms": round(1000 * late[len(late) // 2], 1),
        "p95_ms": round(1000 * late[int(0.95 * len(late))], 1),
        "worst_ms": round(1000 * late[-1], 1),
    }


async def _listener(port: int, path: str, address: str, late: list[float], *, reads: bool) -> None:
    view = f"load{random.getrandbits(80):020x}"
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**23)
    headers = f"Host: 127.0.0.1:{port}\r\nX-Forwarded-For: {address}"
    writer.write(f"GET {path}/events?view={view} HTTP/1.1\r\n{headers}\r\n\r\n".encode())
    await writer.drain()
    try:
        if not reads:
            await asyncio.sleep(3600)
        has_page = False  # the first event brings the table as it is, and tells of no choice
        while True:
            line = await reader.readline()
            if not line:
                return
            if line.startswith(b"data:") and (found := re.search(rb'"changed": ([0-9.]+)', line)):
                late += [time.time() - float(found[1])] * has_page
                has_page = True
    finally:
        writer.close()


ATTACKS = {"half": 1_200, "body": 1_200, "deaf": 2_000}
"""Connections of each kind of attack."""


def attacked(kind: str, number: int) -> int:
    """Attack a server that may open 1,024 files (or, for streams, 4,096) for half a minute, and print what is left."""
    files = 4_096 if kind == "deaf" else 1_024
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        resource.setrlimit(resource.RLIMIT_NOFILE, (8_192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        server = _serving(Path(folder) / "tables.sqlite", port, 1.0)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (files, files))
        try:
            _until_answers(f"http://127.0.0.1:{port}")
            watch = _table(f"http://127.0.0.1:{port}", 0)
            urllib.request.urlopen(f"http://127.0.0.1:{port}{watch}").read()
            figures = asyncio.run(_attack(port, watch, kind, number, server.pid))
        finally:
            server.kill()
            server.wait()
    print(json.dumps({"attack": kind, "connections": number, **figures}))
    return 0 if figures["unanswered"] == 0 and figures["kb_each"] <= 100 else 1


async def _attack(port: int, watch: str, kind: str, number: int, pid: int) -> dict[str, float]:
    late: list[float] = []
    asking = asyncio.create_task(_ask(port, late))
    before, writers = _memory(pid), []
    for each in range(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_024)
        host = f"Host: 127.0.0.1:{port}\r\nX-Forwarded-For: {_address(each)}"
        start = {
            "half": f"GET / HTTP/1.1\r\n{host}\r\nX-Half:",
            "body": f"POST {watch}/act HTTP/1.1\r\n{host}\r\nContent-Length: 1000\r\n\r\nx",
            "deaf": f"GET {watch}/events?view={each:020d} HTTP/1.1\r\n{host}\r\n\r\n",
        }[kind]
        writer.write(start.encode())
        writers.append((reader, writer))
    peak = before
    for _ in range(60):
        await asyncio.sleep(0.5)
        peak = max(peak, _memory(pid))
    asking.cancel()
    left = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    for _, writer in writers:
        writer.close()
    answered = sorted(each for each in late if each)
    return {
        "kb_each": round(1024 * (peak - before) / number),
        "files_left": left,
        "lobby_median_ms": round(1000 * answered[len(answered) // 2], 1),
        "lobby_worst_ms": round(1000 * answered[-1], 1),
        "unanswered": len(late) - len(answered),
    }


async def _ask(port: int, late: list[float]) -> None:
    """Ask for the lobby five times a second, as a client of another address; note 0 if there is no answer."""
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n\r\n"
    while True:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request.encode())
                answer = await reader.read()
                writer.close()
        except (OSError, TimeoutError):
            answer = b""
        late.append(time.monotonic() - begun if b" 200 " in answer[:20] else 0.0)
        await asyncio.sleep(0.2)


def _memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


class _Person(threading.Thread):
    """Says something and changes a draft, one after the other, until the server is gone. ``said`` and ``draft`` are
    what it has acknowledged, ``other`` the draft that it has perhaps got."""

    def __init__(self, base: str, seat: str, data: Path) -> None:
        super().__init__()
        self.address, self.data, self.token = f"{base}{seat}", data, seat.rpartition("/")[2]
        self.game = str(_rows(data, f"select game from seats where token = '{self.token}'")[0][0])
        while (asked := _game(data, self.game).decision) is None or asked.actor != 0:
            time.sleep(0.05)
        self.choice = [asked.options[0].as_dict()]
        page = urllib.request.urlopen(self.address, timeout=60).read().decode()
        self.known = {name: re.findall(f'data-{name}="([^"]+)"', page)[0] for name in ("view", "state")}
        self.said, self.draft, self.other = self._said(), self._draft(), self._draft()

    def _act(self, action: str, **data: object) -> None:
        body = json.dumps({"do": action, **self.known, **data}).encode()
        headers = {"Content-Type": "application/json", "Origin": self.address.partition("/seat")[0]}
        urllib.request.urlopen(urllib.request.Request(f"{self.address}/act", body, headers), timeout=60).read()

    def _said(self) -> int:
        return int(str(_rows(self.data, f"select count(*) from talk where game = '{self.game}'")[0][0]))

    def _draft(self) -> object:
        orders = str(_rows(self.data, f"select orders from seats where token = '{self.token}'")[0][0])
        parts = json.loads(orders or "{}").get("draft", [])
        return [{name: value for name, value in part.items() if name != "decision"} for part in parts]

    def run(self) -> None:
        with suppress(OSError, http.client.HTTPException):
            while True:
                self._act("say", value=f"message {self.said}")
                self.said += 1
                self.other = self.choice if self.draft == [] else []
                self._act("draft", choice=self.other)
                self.draft = self.other
                time.sleep(0.1)  # a seat may act twelve times a second

    def has_lost(self) -> bool:
        """Return whether the archive lacks anything that was acknowledged."""
        return self._said() < self.said or self._draft() not in (self.draft, self.other)


def killed(times: int) -> int:
    """Kill a server at random moments of play, and check each time that all acknowledged choices, messages and drafts
    are stored."""
    dice, lost, played, said = random.Random(11), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder) / "tables.sqlite", _free_port()
        base = f"http://127.0.0.1:{port}"
        server, watch, seat = _serving(data, port, 0.002), list[str](), ""
        for number in range(times):
            _until_answers(base)
            if not watch:
                watch, seat = [_table(base, more) for more in range(4)], _table(base, 3, person=True)
            for path in watch:  # bots do not play for nobody
                urllib.request.urlopen(f"{base}{path}", timeout=60).read()
            before, person = _count(data), _Person(base, seat, data)
            said -= person.said
            person.start()
            time.sleep(dice.uniform(0.02, 0.6))
            acknowledged = _count(data)
            played += acknowledged > before
            server.kill()
            server.wait()
            person.join()
            said += person.said
            lost += _count(data) < acknowledged or person.has_lost()
            if number % 10 == 9 and _count(data) > 1_200:
                data.unlink()
                for extra in data.parent.glob("tables.sqlite-*"):
                    extra.unlink()
                watch = []
            server = _serving(data, port, 0.002)
        _until_answers(base)
        server.kill()
        server.wait()
        broken = _broken(data)
    print(json.dumps({"kills": times, "while_playing": played, "said": said, "lost": lost, "broken": broken}))
    return 1 if lost or broken or played < times / 2 else 0


def _rows(data: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(data) as connection:
        return connection.execute(query).fetchall()


def _count(data: Path) -> int:
    return int(str(_rows(data, "select count(*) from choices")[0][0]))


def _game(data: Path, id: str) -> Game:
    """Return the game of a table. Raises :class:`Difference` if its choices cannot be replayed."""
    from interpreter.play.game_records import read_saved_game, replay_game, ruleset_of

    rows = _rows(data, f"select header from tables where id = '{id}'")
    rows += _rows(data, f"select line from choices where game = '{id}' order by number")
    log = read_saved_game("\n".join(str(line) for (line,) in rows))
    return replay_game(ruleset_of(log), log)


def _broken(data: Path) -> int:
    """Return the number of tables whose choices cannot be replayed."""
    from interpreter.play.game_records import Difference

    found = 0
    for (id,) in _rows(data, "select id from tables"):
        try:
            _game(data, str(id))
        except Difference:
            found += 1
    return found


if __name__ == "__main__":
    sys.exit(main())
