"""A server in a thread of the tests, and a browser that plays on it with the mouse."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import shutil
import socket
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from interpreter.bots.registry import bots_of, default_bots, policies_for
from interpreter.engine.game import Game
from interpreter.kernel.state import Value
from interpreter.language.types import Type, name_of
from interpreter.loading.load import load
from interpreter.play.game_records import replay_game, write_log
from interpreter.play.match import Match
from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.serve.live import Live

T = TypeVar("T")
WAIT = 15.0
get, post = partial(httpx.get, verify=False), partial(httpx.post, verify=False)
"""Requests without certificates, which would be loaded anew for each."""
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class _Errors(logging.Handler):
    """Collects errors logged by a server, with tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(logging.Formatter().format(record))


class Running:
    """A server of an application in a thread. ``errors`` are errors that it logged."""

    wait = WAIT
    """Most seconds for what is asked of it."""

    def run(self, app: Any) -> None:
        """Start the server; its address is ``origin``."""
        import uvicorn

        from interpreter.serve.connections import configured

        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.server = uvicorn.Server(configured(app))
        told = _Errors()
        self.errors = told.told
        logging.getLogger("uvicorn.error").addHandler(told)
        self.loop: asyncio.AbstractEventLoop | None = None

        async def serve() -> None:
            self.loop = asyncio.get_running_loop()
            await self.server.serve(sockets=[listening])

        self.thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        self.thread.start()
        until(lambda: self.server.started)

    def done(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server and return its result."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(self.wait)

    def within(self, ask: Callable[[], T]) -> T:
        """Ask something in the server's thread: games of one ruleset share a machine."""

        async def asked() -> T:
            return ask()

        return self.done(asked())

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)


class Served(Running):
    """A running server. ``hall`` may be read while the server is idle. It is mounted ``below`` a path."""

    def __init__(
        self,
        data: Path,
        pace: float = 0.0,
        rulesets: Sequence[str] = (),
        watch: Sequence[str] = (),
        programs: Sequence[str] = (),
        hooks: Sequence[str] = (),
        below: str = "",
        names: Sequence[str] = (),
    ) -> None:
        from interpreter.serve.watching import Watch
        from interpreter.serve.web import application

        self.hall = Hall(Store(data), pace, [*rulesets, *watch], programs, hooks)
        app = application(self.hall, names, before=[Watch(self.hall).run] if watch else ())

        async def mounted(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "root_path": below} if scope["type"] == "http" else scope, receive, send)

        self.run(mounted)
        self.base = f"{self.origin}{below}"

    def moment(
        self,
        ruleset: str,
        players: int,
        holds: Callable[[Game], bool],
        *,
        asks: bool = False,
        overlays: Sequence[str] = (),
        **settings: str,
    ) -> tuple[Live, list[str]]:
        """Create a table from the first state of a bot game in which a condition holds, with people on all seats, who
        make forced choices themselves if ``asks`` is set. Return it and a link for each seat."""
        found = load(ruleset, overlays)
        bots = bots_of("greedy" if "greedy" in policies_for(found) else default_bots(found), found, players)
        match = Match(found, bots, 3, settings)
        while not holds(match.game) and match.step():
            pass
        assert not match.game.is_over
        lines: list[str] = []
        write_log(match.game, lines.append)
        kept = self.done(self.hall.from_log("".join(lines)))
        del kept.header["continued"]  # as if it had been played at this table
        live = self.hall.lives[kept.id]
        for seat in range(players):
            kept.seats[seat].orders = "{}" if not asks else '{"asks":true}'
        for seat in range(players):
            self.done(live.take(seat, "person"))
        return live, [f"{self.base}/seat/{seat.token}" for seat in kept.seats]

    def post(self, path: str, data: Sequence[tuple[str, str]]) -> str:
        body = urllib.parse.urlencode(data).encode()
        request = urllib.request.Request(f"{self.base}{path}", body, {"Origin": self.origin, **forwarded()})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())

    def table(self, ruleset: str, seats: Sequence[str], **more: str) -> tuple[Live, list[str], str]:
        """Create a table with `person`, `open` or `bot:NAME` on each seat. Return it, the links of persons, and the
        link of spectators."""
        data = [("players", str(len(seats)))]
        for number, seat in enumerate(seats):
            kind, _, bot = seat.partition(":")
            data += [(f"seat{number}", kind), (f"bot{number}", bot)]
        known = set(self.hall.kept)
        page = self.post(f"/new/{ruleset}", [*data, *more.items()])
        links = [f"{self.base}/{link}" for link in re.findall(r'href="\.\./(seat/[^"]+)"', page)]
        (id,) = set(self.hall.kept) - known
        until(lambda: id in self.hall.lives)
        return self.hall.lives[id], links[:-1], links[-1]


def state_of(page: str) -> str:
    """Return the name of the state that a page shows, which its actions give."""
    found = re.search(r'data-state="([0-9a-f]+)"', page)
    assert found is not None
    return found[1]


def first(live: Live, seat: int) -> dict[str, Any]:
    """Return the first choice that a seat is offered."""
    decision = now(live).decision_of(seat)
    assert decision is not None
    return decision.options[0].as_dict()


def forwarded() -> dict[str, str]:
    """Return the header with which a reverse proxy names a client: one of its own for each request."""
    return {"X-Forwarded-For": f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"}


def until(holds: Callable[[], object], seconds: float = WAIT, why: str = "") -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"this did not happen within {seconds:g} s {why}")
        time.sleep(0.004)


def browser_path() -> str:
    """Return the path of the browser. Without one, skip the test, unless a browser was requested."""
    named = os.environ.get("REGELWERK_BROWSER")
    if named is not None:
        assert Path(named).exists(), f"REGELWERK_BROWSER names {named}, which is not there"
        return named
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("no browser: install chromium, or name one in REGELWERK_BROWSER")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = browser_path()
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


class Player:
    """A person who uses a page with the mouse. ``page`` is the page of Playwright."""

    def __init__(self, live: Live, page: Any, seat: int) -> None:
        self.live, self.page, self.seat = live, page, seat
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self._heard(said.text) if said.type == "error" else None)

    def _heard(self, text: str) -> None:
        if "net::ERR_INCOMPLETE_CHUNKED_ENCODING" not in text:  # the page connects again; mistakes are the server's
            self.wrong.append(text)

    def choose(self, game: Game, choice: Mapping[str, Any]) -> None:
        """Make a choice with the mouse: the alternative, unless a thing stands for it, then things, numbers and OK."""
        decision = game.decision_of(self.seat)
        assert decision is not None
        number = next(n for n, site in enumerate(decision.site.options) if site.name == choice["do"])
        slots = decision.site.options[number].core.choices
        before = len(self.live.kept.choices)
        self.page.locator(f'#f-prompt [data-at="{before}"] [data-do="list"]').wait_for(state="attached")
        if not slots:
            self._option(number).click()
        else:
            if not any(slot.type.sure.word in ("card", "node") for slot in slots):
                self._press(number)
            values = [game.ruleset.names.value(choice[slot.name], slot.type) for slot in slots]
            order = sorted(range(len(slots)), key=lambda at: slots[at].type.word in ("int", "bag"))
            for at in order:
                self._fill(at, slots[at].type, values[at])
                self._press(number)  # the thing may have been taken for another alternative
            self.page.locator("#f-prompt .ok").click()
        until(lambda: len(self.live.kept.choices) != before, why=f"after {dict(choice)} of seat {self.seat}")
        made = self.live.kept.choices[before]
        assert {name: made.get(name) for name in choice} == dict(choice)

    def _option(self, number: int) -> Any:
        return self.page.locator(f'.option[data-n="{number}"]')

    def _press(self, number: int) -> None:
        """Press the button of an alternative, unless it is picked already."""
        option = self._option(number)
        if option.count() and option.get_attribute("aria-pressed") != "true":
            option.click()
            self.page.locator(f'.option[data-n="{number}"][aria-pressed="true"]').wait_for()

    def _fill(self, number: int, type_: Type, value: Value) -> None:
        page, form = self.page, type_.sure.word
        if form in ("card", "node", "kind", "seat"):
            kind = name_of(type_) if form == "kind" else ""
            thing = f"{form}:{kind}:{value}"
            if page.locator(f'[data-thing="{thing}"].picked, .picked > [data-thing="{thing}"]').count():
                return
            page.locator(
                f'button[data-thing="{thing}"], g[data-thing="{thing}"], .lane[data-thing="{thing}"]'
            ).first.click()
            page.locator(f'[data-thing="{thing}"][aria-pressed="true"]').first.wait_for(state="attached")
        elif form == "int":
            field = page.locator(f"#slot-{number}")
            if field.count() and field.input_value() != str(value):
                field.fill(str(value))
                field.blur()
                page.locator(f'#slot-{number}[value="{value}"]').wait_for(state="attached")
        elif form == "bag":
            for member, count in enumerate(value):
                button = page.locator(f'[data-do="more"][data-n="{number}"][data-value="{member}"]')
                for _ in range(10):
                    if not button.count() or button.locator("b").inner_text() == str(count):
                        break
                    said = button.locator("b").inner_text()
                    button.click()
                    page.wait_for_function(
                        "([b, said]) => b.isConnected && b.textContent !== said",
                        arg=[button.locator("b").element_handle(), said],
                    )
        else:
            raise AssertionError(f"nobody can point at a {type_}")


def now(live: Live) -> Game:
    """Return a copy of the game of a table. Its ruleset is a copy too, so that it shares no machine with the server,
    which runs in another thread."""
    return replay_game(replace(live.ruleset, _tables={}, seated={}), live.as_log)
