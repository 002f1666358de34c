"""The language server over HTTP: a page sends its messages with POST and receives those of the server as events.

Each open page has a session with a server of its own. A message is looked at before the server gets it: it may name
only files below the author's folder and shipped ones.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from time import monotonic

from interpreter.base.paths import ruleset_roots
from interpreter.base.plain_data import Json, json_in
from interpreter.editor.server import make_server, path_in, uri_of
from interpreter.serve.table_page import BEAT
from interpreter.serve.words import Refused
from interpreter.studio.workbench import SHIPPED, Workbench

__all__ = ["Sessions"]

MOST_SESSIONS, MOST_WAITING = 16, 4_000
"""Most open pages, and most messages that wait for a page that does not listen."""
_NAMES_FILES = ("uri", "Uri", "rootPath")
"""Ends of the keys whose values the server takes for files."""


class _Session:
    """A server, and its messages that no page has fetched yet."""

    def __init__(self) -> None:
        self.server = make_server("studio")
        self.server.protocol.set_writer(self, include_headers=False)
        self.waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self.news = asyncio.Event()
        self.listener = 0
        self.last = monotonic()

    def write(self, data: bytes) -> None:
        """Keep a message of the server, as the writer of its protocol."""
        self.waiting.append(data)
        self.news.set()

    def close(self) -> None:
        """Do nothing: pages come and go, as a writer must be able to."""

    def take(self, message: dict[str, Json]) -> None:
        self.last = monotonic()
        if message.get("method") != "exit":  # with which a server would end its process
            protocol = self.server.protocol
            protocol.handle_message(protocol.structure_message(message))


class Sessions:
    """The sessions of all open pages, by the names that the pages gave themselves."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        self._sessions: dict[str, _Session] = {}

    def roots(self) -> list[tuple[str, str]]:
        """Return the beginnings of names, each with that of the URIs of its files."""
        shipped = ((SHIPPED, Path(root).absolute()) for root in ruleset_roots())
        return [(name, f"{uri_of(root)}/") for name, root in (("", self.workbench.root), *shipped)]

    def _session(self, id: str) -> _Session:
        if id not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                oldest = min(self._sessions, key=lambda each: self._sessions[each].last)
                self._sessions.pop(oldest).news.set()
            self._sessions[id] = _Session()
        return self._sessions[id]

    def receive(self, id: str, text: str) -> None:
        """Hand a message, or a list of them, to the server of a page. Raises ``ValueError`` for anything else, and
        :class:`Refused` for files that are out of bounds."""
        try:
            data = json_in(text)
        except RecursionError:
            raise ValueError("nested too deep") from None
        messages = data if isinstance(data, list) else [data]
        for message in messages:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise ValueError("no JSON-RPC message")
            self._check(message)
        for message in messages:
            assert isinstance(message, dict)
            try:
                self._session(id).take(message)
            except Exception as error:  # the library has one for each way in which a message can be wrong
                if type(error).__module__.partition(".")[0] != "pygls":
                    raise
                raise ValueError(str(error)) from None

    def _check(self, message: Json) -> None:
        for uri in _files_in(message):
            path = path_in(uri)
            name = self.workbench.address_of(path) if path is not None and "\0" not in uri else None
            if name is None and (path is None or path != self.workbench.root):
                raise Refused("the language server knows only files of the studio")
            if name is not None:
                self.workbench.path(name)

    async def events(self, id: str) -> AsyncIterator[bytes]:
        """Yield the messages of a server as events. The first tells whether the server is new."""
        is_new = id not in self._sessions
        session = self._session(id)
        session.listener += 1  # a page has one stream: the one before, perhaps half open, ends
        listener = session.listener
        session.news.set()
        yield f"event: begin\ndata: {json.dumps(is_new)}\n\n".encode()
        while self._sessions.get(id) is session and session.listener == listener:
            while session.waiting:
                yield b"data: %b\n\n" % session.waiting.popleft()
            session.last = monotonic()
            session.news.clear()
            try:
                await asyncio.wait_for(session.news.wait(), BEAT)
            except TimeoutError:
                yield b": still here\n\n"

    def close(self) -> None:
        """End all streams."""
        for session in self._sessions.values():
            session.news.set()
        self._sessions.clear()


def _files_in(data: Json) -> Iterator[str]:
    """Yield the URIs and paths of files in a message."""
    if isinstance(data, list):
        for each in data:
            yield from _files_in(each)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key.endswith(_NAMES_FILES) and isinstance(value, str):
                yield value
            else:
                yield from _files_in(value)
