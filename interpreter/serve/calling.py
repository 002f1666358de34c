"""Webhooks: a POST request tells a person whose page is not in front that it is their turn.

Only hosts that the operator of the server has named are called, so that nobody reaches other machines through it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from http.client import HTTPException
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from interpreter.base.facilities import thread_pool

__all__ = ["Caller", "hosts_of", "may_call"]

_SECONDS, _PATIENCE = 10.0, 5.0
"""Least seconds between two calls for a seat, and how long an operation of a call may take."""
_THREADS, _MOST = 4, 200
"""Calls at a time, and most calls that wait."""


class _Stay(HTTPRedirectHandler):
    """Refusal of redirections, which could lead to other hosts."""

    def redirect_request(self, *_: object) -> None:
        return None


def hosts_of(specs: Iterable[str]) -> dict[str, bool]:
    """Return the hosts of `HOST` and `json:HOST`, each with whether it wants JSON."""
    return {spec.removeprefix("json:"): spec.startswith("json:") for spec in specs}


def may_call(url: str, hosts: Collection[str]) -> bool:
    """Return whether a webhook may be called, if the operator has named these hosts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return plain and parts.scheme in ("http", "https") and parts.netloc in hosts


class Caller:
    """Calls of the webhooks of a server. ``hosts`` may be called, with plain text (as ntfy wants it) or JSON."""

    def __init__(self, hosts: Mapping[str, bool]) -> None:
        self.hosts = hosts
        self._opener = build_opener(_Stay)
        self._threads = thread_pool(_THREADS, "webhooks")  # its own: a host that hangs holds up nothing else
        self._called: dict[tuple[str, str], float] = {}
        self._waiting: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def call(self, url: str, text: str, link: str, still: Callable[[], bool]) -> None:
        """Tell a webhook, in the background, that it is the turn of the seat with this link: at once, or, soon after
        another call, once the time has come if it ``still`` is. A failure is not told."""
        key, now = (url, link), time.monotonic()
        if not may_call(url, self.hosts) or key in self._waiting or len(self._tasks) >= _MOST:
            return
        rest = max(0.0, self._called.get(key, -_SECONDS) + _SECONDS - now)
        self._called = {each: at for each, at in self._called.items() if now - at < _SECONDS} | {key: now + rest}
        if rest:
            self._waiting.add(key)
        task = asyncio.create_task(self._call(key, text, rest, still))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, key: tuple[str, str], text: str, rest: float, still: Callable[[], bool]) -> None:
        url, _ = key
        if rest:
            await asyncio.sleep(rest)
            self._waiting.discard(key)
            if not still():
                return
        is_json = self.hosts[urlsplit(url).netloc]
        body = json.dumps({"text": text, "content": text}) if is_json else text
        headers = {"Content-Type": "application/json" if is_json else "text/plain; charset=utf-8"}
        request = Request(url, body.encode(), headers, method="POST")
        await asyncio.get_running_loop().run_in_executor(self._threads, self._send, request)

    def _send(self, request: Request) -> None:
        with suppress(OSError, HTTPException, ValueError), self._opener.open(request, timeout=_PATIENCE):
            pass

    def close(self) -> None:
        """Call nobody any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
