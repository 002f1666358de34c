"""The studio's application inside a browser: Pyodide runs it in a worker, to which a service worker hands requests.

There are no sockets and no cookies: :class:`Home` calls the ASGI application itself and keeps what it would have set.
"""

from __future__ import annotations

import asyncio
import json
import os
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from starlette.types import ASGIApp, Message

from interpreter.base.store import digest_of
from interpreter.engine.kept_texts import kept_trees
from interpreter.reading.files import shelf_for
from interpreter.reading.yaml import OUTCASTS
from interpreter.serve.words import Refused
from interpreter.studio.packed import HOME, LIBRARY
from interpreter.studio.workbench import Workbench

__all__ = ["Home", "begin", "prepared"]

Tell = Callable[[str, str | bytes], object]
"""Takes the parts of an answer: its ``head`` (JSON: status and headers), each ``piece`` (bytes) and its ``end``."""
_ASGI = {"version": "3.0", "spec_version": "2.4"}
_OURS = ("accept-encoding", "content-length", "cookie", "host")
"""Headers of requests that come from here."""


class Home:
    """An application below an address, which has no `/` at its end."""

    def __init__(self, app: ASGIApp, address: str) -> None:
        self.app, self.address = app, urlsplit(address)
        self._jar: SimpleCookie = SimpleCookie()
        self._tasks: set[asyncio.Future[None]] = set()
        self._ended = asyncio.Event()

    async def begin(self) -> None:
        """Start the application. Raises ``RuntimeError`` if it cannot."""
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        messages: list[Message] = [{"type": "lifespan.startup"}]

        async def receive() -> Message:
            if not messages:
                await self._ended.wait()
            return messages.pop() if messages else {"type": "lifespan.shutdown"}

        async def send(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                begun.set_result(None)
            elif message["type"] == "lifespan.startup.failed":
                begun.set_exception(RuntimeError(message.get("message", "")))

        self._run(self.app({"type": "lifespan", "asgi": _ASGI}, receive, send))
        await begun

    async def end(self) -> None:
        """Stop the application, and wait for its answers."""
        self._ended.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def request(
        self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes, tell: Tell
    ) -> Callable[[], object]:
        """Let the application answer a request for a URL, and return the function that cancels it."""
        where, given = urlsplit(url), [(name, value) for name, value in headers if name.lower() not in _OURS]
        given += [("host", where.netloc), ("content-length", str(len(body)))]
        if self._jar:
            given.append(("cookie", "; ".join(f"{each.key}={each.coded_value}" for each in self._jar.values())))
        scope = {
            "type": "http", "asgi": _ASGI, "http_version": "1.1", "method": method, "scheme": where.scheme,
            "path": unquote(where.path), "raw_path": where.path.encode(), "query_string": where.query.encode(),
            "root_path": self.address.path, "client": ("browser", 0), "server": (where.hostname, where.port),
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in given],
        }  # fmt: skip
        return self._run(self._answered(scope, url, body, tell)).cancel

    def _run(self, work: Awaitable[None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answered(self, scope: dict[str, Any], url: str, body: bytes, tell: Tell) -> None:
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        begun = False

        async def receive() -> Message:
            if not messages:
                await asyncio.Event().wait()  # a page that goes away cancels
            return messages.pop()

        async def send(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                tell("head", json.dumps([message["status"], self._kept(url, message["headers"])]))
            elif message.get("body"):
                tell("piece", message["body"])

        try:
            await self.app(scope, receive, send)
        except Exception:
            traceback.print_exc()  # into the browser's console
            if not begun:
                tell("head", json.dumps([500, []]))
        finally:
            tell("end", "")

    def _kept(self, url: str, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
        """Keep the cookies of an answer and return its other headers, with whole addresses."""
        others = []
        for name, value in ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers):
            if name == "set-cookie":
                self._jar.load(value)
            else:
                others.append((name, urljoin(url, value) if name == "location" else value))
        for old in [name for name, cookie in self._jar.items() if cookie["max-age"] == "0"]:
            del self._jar[old]
        return others


async def begin(address: str) -> Home:
    """Start the studio below an address, for the author's files in this browser."""
    from interpreter.serve.archive import Store
    from interpreter.serve.hall import Hall
    from interpreter.serve.watching import Watch
    from interpreter.studio.site import application

    _without_threads()
    bench = Workbench(Path(HOME))
    _cast_out(bench)
    with kept_trees():
        hall = Hall(Store(":memory:"))
    name = urlsplit(address).hostname or ""
    home = Home(application(bench, hall, {name}, before=[Watch(hall).run]), address)
    await home.begin()
    return home


def _cast_out(bench: Workbench) -> None:
    """If Python has ended here (worker.js leaves a mark), do not read again what was written last before, so that the
    same text cannot end it at each start."""
    mark, kept = bench.root / ".ended", bench.root / ".outcasts"
    OUTCASTS.update(kept.read_text().split() if kept.exists() else ())
    if not mark.exists():
        return
    mark.unlink()
    for name in sorted(bench.files(), key=lambda name: bench.path(name).stat().st_mtime, reverse=True):
        with suppress(Refused):
            digest = digest_of(bench.read(name)).hex()
            if digest not in OUTCASTS:
                OUTCASTS.add(digest)
                break
    kept.write_text("\n".join(OUTCASTS))


def _without_threads() -> None:
    """Let Starlette read files on the only thread."""
    import anyio.to_thread

    async def at_once(work: Callable[..., object], *values: object, **_: object) -> object:
        return work(*values)

    anyio.to_thread.run_sync = at_once  # type: ignore[assignment]


def prepared() -> None:
    """Do once what each first visit would do: tables of the parser, and parsed texts of all shipped rulesets. Checked
    rulesets would make the site twice as large."""
    from interpreter.language.grammar import write_tables
    from interpreter.language.tables import FILE
    from interpreter.loading.load import find, load_document

    write_tables()
    os.utime(Path(LIBRARY, "interpreter", "language", FILE), (0, 0))  # as after unpacking: keys of caches have it
    for id in shelf_for().ids("ruleset"):
        shelf, document, _ = find(id)
        if document is not None:
            load_document(document, (), shelf)
