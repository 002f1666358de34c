"""Limits of connections, so that one client does not stop the others.

A connection is closed if its request does not arrive in time, if nobody reads its answer, or to make room for another
one.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from functools import cache
from math import inf

from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from interpreter.base.plain_data import grouped
from interpreter.serve.limits import client_of

__all__ = ["Connection", "configured"]

MOST_CONNECTIONS, BACKLOG = 4_000, 128
"""Most open connections, and most that are accepted at once before they are counted."""
SPARE_FILES = 2 * BACKLOG
"""Files that connections leave to the rest of the server."""
HEAD, BODY, RATE = 10.0, 15.0, 20_000.0
"""Most seconds to wait for a request and for its body, and bytes of a body that give it a second more."""
STALLED = 20.0
"""Seconds after which an answer that nobody reads ends."""
LOOK = 1.0
"""Seconds between two looks at a connection."""
BUFFER, SOCKET_BUFFER = 8 * 1024, 64 * 1024
"""Bytes of an answer that wait for a slow reader, here and in the operating system."""


class Connection(H11Protocol):
    """An HTTP connection with limits."""

    waits_for = ""
    """``head`` or ``body`` while the request is not complete."""
    since = read = moved = 0.0
    """When it began to wait, the bytes that came since, and when its answer was last read."""
    unread = 0
    """Bytes of the answer that nobody had read at the last look."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(BUFFER)
        with suppress(OSError):
            own = transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else parts of an answer wait for each other
        self.peer, self.moved = client_of({"client": self.client}), self.loop.time()
        self._turn()
        if len(self.connections) > most_connections():
            self._make_room()
        self.looking = self.loop.call_later(LOOK, self._look)

    def _make_room(self) -> None:
        """Close connections that have waited longest, of the peer that has most of those that wait."""
        others = (each for each in self.connections if isinstance(each, Connection))
        most = max(grouped((each.peer, each) for each in others if each.waits_for).values(), key=len)
        for each in sorted(most, key=lambda each: each.since)[: 1 + len(most) // 8]:
            each.close()

    def close(self) -> None:
        """Close the connection at once. An answer that nobody reads ends in the middle; else it arrives."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        self.transport.close()
        self.connections.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.read += len(data)
        super().data_received(data)
        self._turn()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._turn()

    def resume_writing(self) -> None:
        self.moved = self.loop.time()
        super().resume_writing()

    def _turn(self) -> None:
        """Note what the connection waits for from now on."""
        cycle = self.cycle
        waits_for = "head" if cycle is None or cycle.response_complete else "body" if cycle.more_body else ""
        if waits_for != self.waits_for:
            self.waits_for, self.since, self.read = waits_for, self.loop.time(), 0.0

    def _look(self) -> None:
        """Close the connection if it waits in vain."""
        now, unread = self.loop.time(), self.transport.get_write_buffer_size()
        if not unread or unread < self.unread:
            self.moved = now
        self.unread = unread
        limit = {"": inf, "head": HEAD, "body": BODY + self.read / RATE}[self.waits_for]
        if (now - self.moved > STALLED) if unread else (now - self.since > limit):
            self.close()
        else:
            self.looking = self.loop.call_later(LOOK, self._look)


@cache
def most_connections() -> int:
    """Return the number of connections for which the operating system gives this process files, after asking it for as
    many as it gives."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    want = MOST_CONNECTIONS + SPARE_FILES
    files, most = getrlimit(RLIMIT_NOFILE)
    if RLIM_INFINITY not in (files, most) and files < want:
        files = min(want, most)
        setrlimit(RLIMIT_NOFILE, (files, most))
    return max(1, min(want, files if files != RLIM_INFINITY else want) - SPARE_FILES)


def configured(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Config:
    """Return the configuration of a server with these limits."""
    return Config(
        app, host, port, http=Connection, ws="none", backlog=BACKLOG, log_level="error", access_log=False,
        server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
