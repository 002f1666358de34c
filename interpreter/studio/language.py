"""The language server over HTTP: a page sends its messages with POST and receives those of the server as events.

Each open page has a session with a server of its own. A message is looked at before the server gets it: it may name
only files below the author's folder and shipped ones. What the page shows of the open file and of all problems comes
as HTML, in events ``shown``: first all problems, then the rest, after the pane that waits for the former.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from time import monotonic

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import Json, grouped, json_in, json_of
from interpreter.base.plurals import counted
from interpreter.base.remedies import Edit, fixed
from interpreter.editor.fixes import fixes_of
from interpreter.editor.hints import hints
from interpreter.editor.lenses import lenses
from interpreter.editor.server import make_session, path_in, position_of, to_lsp, uri_of
from interpreter.editor.tokens import tokens
from interpreter.serve.table_page import BEAT
from interpreter.serve.words import Refused
from interpreter.studio.pane import PAGES
from interpreter.studio.workbench import Workbench

__all__ = ["Session", "Sessions"]

PIECES = ("problems", "outline", "beside")
"""Pieces of the page that tell of the open file, as their templates are called; the first one tells of all files."""
PAGES.globals |= {each.__name__: each for each in (counted, hints, lenses, position_of, to_lsp)}

MOST_SESSIONS, MOST_WAITING = 16, 4_000
"""Most open pages, and most messages that wait for a page that does not listen."""
AHEAD = 0.1
"""Seconds in which a page that has been told something asks for what follows from it."""
_NAMES_FILES = ("uri", "Uri", "rootPath")
"""Ends of the keys whose values the server takes for files."""


class Session:
    """A server, its messages that no page has fetched yet, and what is to be shown."""

    def __init__(self, id: str, workbench: Workbench, loading: asyncio.Lock) -> None:
        self.id, self.workbench, self._loading = id, workbench, loading
        self.editing = make_session("studio", self._told, self.after_panes)
        self.editing.server.protocol.set_writer(self, include_headers=False)
        self.waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self.unseen: set[Path | None] = set()
        self.fixes: dict[str, list[tuple[Path, Edit]]] = {}
        """Edits of the quick fixes that the page shows, by their keys."""
        self.news = asyncio.Event()
        self.later: asyncio.Task[None] | None = None
        """Waits until what stands beside the text is to be told."""
        self.listener = 0
        self.last = monotonic()

    def write(self, data: bytes) -> None:
        """Keep a message of the server, as the writer of its protocol."""
        self.waiting.append(data)
        self.news.set()

    def close(self) -> None:
        """Do nothing: pages come and go, as a writer must be able to."""

    def take(self, message: dict[str, Json]) -> None:
        protocol, self.last = self.editing.server.protocol, monotonic()
        if message.get("method") != "exit":  # with which a server would end its process
            protocol.handle_message(protocol.structure_message(message))

    async def after_panes(self) -> None:
        """Let the page ask for a pane that it needs now, and wait until the ruleset is loaded for it."""
        await asyncio.sleep(AHEAD)
        async with self._loading:
            pass

    async def tell_later(self) -> None:
        """Let what stands beside the text be told, after panes; messages go on meanwhile."""
        await self.after_panes()
        self.news.set()

    # --- what the page shows, and edits

    @property
    def path(self) -> Path:
        """The file in the editor. Raises :class:`Refused` if there is none."""
        if not self.editing.desk.texts:
            raise Refused("no file is open")
        return next(reversed(self.editing.desk.texts))

    def _told(self, path: Path | None) -> None:
        self.unseen.add(path)
        self.news.set()

    def problems(self) -> tuple[bytes, bool]:
        """Return the event with all problems, and whether the open file was checked."""
        path, is_checked = self.path, self.path in self.unseen
        self.unseen.clear()
        self.fixes.clear()
        return self._event(path, PIECES[:1], checked=is_checked), is_checked

    def beside(self) -> bytes:
        """Return the event with what is known of the open file: pieces of the page, and kinds of words."""
        path, words = self.path, tokens(self.editing.answers, self.path)
        ends = ((position_of(span.file, span.start), position_of(span.file, span.end), kind) for span, kind, _ in words)
        marks = [(start.line, start.character, end.character, kind) for start, end, kind in ends]
        return self._event(path, PIECES[1:], marks=marks)

    def _event(self, path: Path, pieces: Iterable[str], **more: Json) -> bytes:
        html = {each: PAGES.get_template(f"{each}.html").render(session=self, path=path) for each in pieces}
        return f"event: shown\ndata: {json_of({'uri': uri_of(path), 'pieces': html, **more})}\n\n".encode()

    def fixes_of(self, diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
        """Yield keys and titles of the fixes that change only files of the author. Equal fixes have equal keys."""
        for title, edits in fixes_of(self.editing.desk, diagnostic):
            if all(self.workbench.name_of(path) is not None for path, _ in edits):
                self.fixes[key := str(hash(tuple(edits)))] = edits
                yield key, title

    def apply(self, edits: Iterable[tuple[Path, Edit]]) -> None:
        """Write edits of the author's files. Raises :class:`Refused` if a text is another one than they are for."""
        texts: dict[str, str] = {}
        for path, some in grouped(edits).items():
            name, file = self.workbench.own(self.workbench.address_of(path) or ""), some[0].span.file
            before = self.workbench.read(name)
            if before.splitlines() != file.written.splitlines():
                raise Refused("`{name}` has changed meanwhile, try again", name=name)
            texts[name] = re.sub("\r?\n", "\r\n" if "\r\n" in before else "\n", fixed(file.text, some))
        for name, text in texts.items():
            self.workbench.write(name, text)
        self.editing.watched()


class Sessions:
    """The sessions of all open pages, by the names that the pages gave themselves."""

    def __init__(self, workbench: Workbench, loading: asyncio.Lock) -> None:
        self.workbench, self._loading = workbench, loading
        self._sessions: dict[str, Session] = {}

    def session(self, id: str) -> Session:
        """Return the session of a page, a new one if it has none."""
        if id not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                oldest = min(self._sessions, key=lambda each: self._sessions[each].last)
                self._sessions.pop(oldest).news.set()
            self._sessions[id] = Session(id, self.workbench, self._loading)
        return self._sessions[id]

    def receive(self, session: Session, text: str) -> None:
        """Hand a message, or a list of them, to the server of a page. Raises ``ValueError`` or ``RecursionError`` for
        anything else, and :class:`Refused` for files that are out of bounds."""
        data = json_in(text)
        for message in data if isinstance(data, list) else [data]:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise ValueError("no JSON-RPC message")
            self._check(message)
            try:
                session.take(message)
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

    async def events(self, session: Session) -> AsyncIterator[bytes]:
        """Yield the messages of a server as events. The first tells whether the server is new."""
        session.listener += 1  # a page has one stream: the one before, perhaps half open, ends
        listener = session.listener
        session.news.set()
        yield f"event: begin\ndata: {json_of(listener == 1)}\n\n".encode()
        while self._sessions.get(session.id) is session and session.listener == listener:
            session.news.clear()  # what comes while something is told wakes this again
            while session.waiting:
                yield b"data: %b\n\n" % session.waiting.popleft()
            if session.unseen and session.editing.desk.texts:
                told, is_checked = session.problems()
                yield told
                if is_checked:
                    session.later = asyncio.create_task(session.tell_later())
            if session.later is not None and session.later.done() and session.editing.desk.texts:
                session.later = None
                yield session.beside()
            session.last = monotonic()
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
