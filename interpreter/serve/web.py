"""Routes of the web server: lobby, pages of tables, event streams and actions.

Every response has security headers against foreign scripts, frames and referrers. Every request is checked against the
allowed host names, and every POST against its origin.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import asynccontextmanager
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TypeVar

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json, json_in, json_of
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.settings import setting_syntax
from interpreter.engine.views import languages_of
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.ruleset_files import can_have
from interpreter.serve.apart import close_apart
from interpreter.serve.archive import Kept, StoreError, can_be_kept
from interpreter.serve.connections import Allowance, client_of
from interpreter.serve.hall import Hall, Offer, errors_of
from interpreter.serve.live import PUBLIC, Live, Refused, new_token
from interpreter.serve.scene import Data
from interpreter.serve.table_page import ENVIRONMENT, MOST_DRAWINGS, UNCLEAR, View

__all__ = ["application"]

T = TypeVar("T")
MOST_BYTES = 64 * 1024
MOST_LOG_BYTES = 4 * 1024 * 1024
BEAT = 20.0
"""Seconds between two keep-alive comments of an event stream."""
REST = 0.03
"""Seconds between two events of a stream: changes in between are combined."""
CHUNK = 8 * 1024
"""Bytes of an event that are sent at once."""
ACTS, A_SECOND = 40.0, 12.0
"""Rate limit of a seat, or of a client that watches: most actions in a burst, and actions a second."""
REQUESTS, REQUESTS_A_SECOND, AT_ONCE = 600.0, 60.0, 200
"""Limits of a client: most requests in a burst, a second, and at once; an open page is a request."""
SETUPS, SETUPS_A_SECOND = 40.0, 0.2
"""Rate limit of a client for new tables and uploads."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": _CSP,
    "referrer-policy": "same-origin",  # with "no-referrer" browsers send `Origin: null` with forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
"""Headers of every response that does not set them itself."""
MOST_FIELDS = 200
SEAT_KINDS = {"person": "a person, by link", "bot": "a bot", "open": "open"}
"""Who may take a seat, in words."""
_OTHER_SITE = (
    "This request comes from another site. Go to the lobby of this server and start from there. If you did, a reverse "
    "proxy changes the host name: let it pass `Host` on."
)
_TOO_LARGE = "This request is too large."
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Guard:
    """Middleware that checks the host name, origin and size of requests and adds the security headers."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self.app, self.names = app, frozenset(names)
        self._requests = Allowance(REQUESTS, REQUESTS_A_SECOND)
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client, read = client_of(scope), 0
        most = MOST_LOG_BYTES if scope["path"] == "/load" else MOST_BYTES

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, _TOO_LARGE)
            return message

        wrong = self._wrong(scope, most) or self._too_fast(client)
        if wrong is not None:
            await _message(*wrong)(scope, receive, guarded)
            return

        self._at_once[client] += 1
        try:
            await self.app(scope, limited, guarded)
        finally:
            self._at_once[client] -= 1
            if not self._at_once[client]:
                del self._at_once[client]

    def _too_fast(self, client: str) -> tuple[int, str] | None:
        if not self._requests.takes(client):
            return 429, "Too many requests."
        return (429, "Too many open pages.") if self._at_once[client] >= AT_ONCE else None

    def _wrong(self, scope: Scope, most: int) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        name = re.sub(r":\d+$", "", headers.get("host", ""))
        if name not in self.names and not scope["path"].startswith("/static/"):
            return 421, "This server does not know this host name."
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return 405, "Only GET and POST are allowed."
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
            return 403, _OTHER_SITE
        if origin is None and site not in (None, "same-origin", "none"):
            return 403, _OTHER_SITE
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > most:
            return 413, _TOO_LARGE
        return None


def application(
    hall: Hall, names: Iterable[str] = (), *, before: Callable[[], Coroutine[None, None, None]] | None = None
) -> ASGIApp:
    """Return the application for a hall. ``names`` are the allowed host names, in addition to those of this machine.
    ``before`` runs in the background as long as the application."""
    site = _Site(hall)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        background = [hall.take_up, hall.keep_tidy, *([before] if before is not None else [])]
        tasks = [asyncio.create_task(work()) for work in background]
        yield
        for task in tasks:
            task.cancel()
        close_apart()
        hall.close()

    static = files("interpreter.serve").joinpath("static")
    app = Starlette(
        routes=[
            Route("/", site.lobby),
            Route("/new/{ruleset}", site.form),
            Route("/new/{ruleset}", site.begin, methods=["POST"]),
            Route("/load", site.load, methods=["POST"]),
            Route("/join/{id}", site.join),
            Route("/join/{id}/{seat}", site.sit, methods=["POST"]),
            Route("/host/{token}", site.host),
            Route("/host/{token}/log", site.host_log),
            Route("/host/{token}/{seat}", site.give, methods=["POST"]),
            Route("/seat/{token}", site.table),
            Route("/seat/{token}/events", site.events),
            Route("/seat/{token}/act", site.act, methods=["POST"]),
            Route("/seat/{token}/log", site.log),
            Route("/seat/{token}/rules", site.rules),
            Mount("/static", StaticFiles(directory=str(static))),
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, Refused, StoreError, RulesetError, RuleFailure, ClientDisconnect, Exception), _failed
        ),
        lifespan=lifespan,
    )
    return Guard(app, {"localhost", "127.0.0.1", "[::1]", *names})


_ERRORS = {
    403: ("Not allowed", ""),
    404: ("Not found", "Check that the link is complete, or ask the host of the table for it."),
    410: ("This seat is taken", "Ask the host for another seat, or for the link to watch the table."),
    413: ("Too large", "Go back and send less: a saved game may have 4 MB, any other form 64 kB."),
    421: (
        "Unknown address",
        "Open the address that the server printed when it started. To use this name, start the "
        "server with `--name` and the name.",
    ),
    429: ("Too fast", "Wait a few seconds, then reload the page."),
    500: ("Something went wrong", "Go back and try again. The games are saved."),
}
"""The title of an error and what to do then, by status code. Errors without a remedy say it themselves."""


def _message(status: int, text: str, *, errors: Sequence[str] = ()) -> HTMLResponse:
    """Return a page that says what went wrong and what to do. ``errors`` are rendered diagnostics."""
    title, remedy = _ERRORS.get(status, ("Not possible", ""))
    return _page("message.html", status, title=title, text=text, remedy=remedy, errors=errors, lobby=status != 421)


async def _failed(request: Request, error: Exception) -> Response:
    match error:
        case HTTPException():
            return _message(error.status_code, error.detail)
        case Refused() | StoreError():
            return _message(409, str(error))
        case RulesetError() | RuleFailure():
            errors = errors_of(error) if isinstance(error, RulesetError) else (str(error),)
            return _message(409, "The files of this game have errors. Fix them, then reload the page.", errors=errors)
        case ClientDisconnect():
            return Response(status_code=400)  # nobody reads it
    # the response and logs show neither the address, which contains a token, nor the error
    return _message(500, "The server could not answer.")


def _page(name: str, status: int = 200, **values: object) -> HTMLResponse:
    return HTMLResponse(ENVIRONMENT.get_template(name).render(**values), status)


class _Site:
    """The routes."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self._acts, self._setups = Allowance(ACTS, A_SECOND), Allowance(SETUPS, SETUPS_A_SECOND)

    # --- the lobby

    async def lobby(self, request: Request) -> Response:
        hall = self.hall
        open_ = []
        for kept in hall.kept.values():
            free = sum(seat.kind == "open" for seat in kept.seats)
            if kept.open and free:
                offer = hall.offers.get(kept.header["ruleset"])
                open_.append((kept.id, kept.title or (offer.title if offer else kept.header["ruleset"]), free))
        families: dict[str, dict[str, list[Offer]]] = {}
        for offer in sorted(hall.offers.values(), key=lambda each: (each.family, each.edition, each.title)):
            families.setdefault(offer.family, {}).setdefault(offer.edition, []).append(offer)
        return _page("lobby.html", families=families, open=open_[-50:])

    async def form(self, request: Request) -> Response:
        return await self._form(request.path_params["ruleset"], {}, "")

    async def _form(
        self,
        id: str,
        given: Mapping[str, str],
        error: str,
        status: int = 200,
        *,
        chosen: Sequence[str] = (),
        errors: Sequence[str] = (),
    ) -> Response:
        hall = self.hall
        if id not in hall.offers:
            raise HTTPException(404, "Unknown ruleset.")
        ruleset = await hall.ruleset(id)
        players = ruleset.players
        number = int(given.get("players") or players.usual)
        model = ruleset.model
        return _page(
            "new.html",
            status,
            offer=hall.offers[id],
            error=error,
            errors=errors,
            given=given,
            chosen=chosen,
            number=number,
            numbers=range(players.low, players.high + 1),
            overlays=_overlays(ruleset),
            settings=[(s.name, s.about, setting_syntax(model, s.name), s.default) for s in model.settings.values()],
            doubts=list(model.interpretations.values()),
            kinds=SEAT_KINDS,
            bots=hall.bots_for(ruleset),
        )

    async def begin(self, request: Request) -> Response:
        id = request.path_params["ruleset"]
        self._set_up(request)
        form = await request.form(max_fields=MOST_FIELDS)
        given = {key: str(value) for key, value in form.items() if isinstance(value, str)}
        try:
            players = int(given.get("players", "2"))
        except ValueError:
            return await self._form(id, {}, "The number of players is not a number.", 400)
        if not 1 <= players <= 12:
            return await self._form(id, {}, "The number of players must be from 1 to 12.", 400)
        overlays = [str(value)[:80] for value in form.getlist("overlay")]
        without = [f"-{value}" for value in form.getlist("without")]
        seats = [
            (kind, given.get(f"bot{n}", "")[:400] if kind == "bot" else given.get(f"name{n}", "")[:40])
            for n in range(players)
            if (kind := given.get(f"seat{n}", "bot")) in SEAT_KINDS
        ]
        settings = {key[4:]: value[:400] for key, value in given.items() if key.startswith("set_")}
        title, listed = given.get("title", ""), "listed" in given
        try:
            if len(seats) != players:
                raise Refused("Each seat must be for a person or a bot, or open.")
            kept = await self.hall.begin(id, seats, [*overlays, *without], settings, title, listed=listed)
        except RulesetError as error:
            text = "The game cannot be set up in this way."
            return await self._form(id, given, text, 409, chosen=overlays, errors=errors_of(error))
        except (Refused, StoreError) as error:
            return await self._form(id, given, str(error), 409, chosen=overlays)
        return RedirectResponse(f"/host/{kept.host}", 303)

    async def load(self, request: Request) -> Response:
        self._set_up(request)
        form = await request.form(max_part_size=MOST_LOG_BYTES)
        upload = form.get("file")
        data = b"" if upload is None or isinstance(upload, str) else await upload.read()
        kept = await self.hall.from_log(data.decode("utf-8", errors="replace"))
        return RedirectResponse(f"/host/{kept.host}", 303)

    def _joined(self, request: Request) -> Kept:
        return self._of_link(self.hall.kept, request.path_params["id"])

    async def join(self, request: Request) -> Response:
        kept = self._joined(request)
        live = await self.hall.live(kept.id)
        seats = [(n, live.seat_name(n)) for n, seat in enumerate(kept.seats) if seat.kind == "open"]
        title, continued = live.title_in("en"), live.is_continued
        return _page("join.html", title=title, id=kept.id, seats=seats, token=new_token(), continued=continued)

    async def sit(self, request: Request) -> Response:
        form = await request.form()
        name, token = str(form.get("name", "")), str(form.get("token", ""))
        token = await self.hall.sit(self._joined(request).id, _seat(request), name, token)
        return RedirectResponse(f"/seat/{token}", 303)

    # --- the host's page

    async def _hosted(self, request: Request) -> Live:
        return await self.hall.live(self._of_link(self.hall.hosts, request.path_params["token"]))

    async def host(self, request: Request) -> Response:
        live = await self._hosted(request)
        base = f"{request.url.scheme}://{request.headers['host']}"
        seats = [(n, live.seat_name(n), seat) for n, seat in enumerate(live.kept.seats)]
        return _page(
            "host.html",
            title=live.title_in("en"),
            base=base,
            here=f"/host/{live.kept.host}",
            seats=seats,
            watch=live.kept.watch,
            join=f"/join/{live.kept.id}",
            open_book=live.is_open_book,
            kinds=SEAT_KINDS,
            bots=self.hall.bots_for(live.ruleset),
        )

    async def give(self, request: Request) -> Response:
        form = await request.form()
        live = await self._hosted(request)
        seat, kind = _seat(request), str(form.get("kind"))
        if seat >= len(live.kept.seats) or kind not in SEAT_KINDS:
            raise HTTPException(400, "No such seat.")
        await self.hall.give(live, seat, kind, str(form.get("bot", ""))[:400], str(form.get("mark", "")))
        return RedirectResponse(f"/host/{live.kept.host}", 303)

    async def host_log(self, request: Request) -> Response:
        return await self._log(await self._hosted(request))

    async def _log(self, live: Live) -> Response:
        if not await live.open_book():
            raise HTTPException(403, "The log contains hidden information; you can download it when the game is over.")
        name = f"{live.ruleset.id}-{live.kept.id}.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(await live.text(), media_type="application/jsonl", headers=headers)

    # --- the table

    def _of_link(self, known: Mapping[str, T], link: str) -> T:
        """Return what a link leads to. Raises 404, or 409 for a damaged table."""
        if link in known:
            return known[link]
        if link in self.hall.former:
            raise HTTPException(410, "The host has given this seat to somebody else.")
        why = self.hall.why_damaged(link)
        if why is None:
            raise HTTPException(404, "No table has this link.")
        raise HTTPException(409, f"This table is damaged and was put aside: {why}. All other tables go on.")

    async def _seated(self, request: Request) -> tuple[Live, int, str]:
        token = request.path_params["token"]
        id, seat = self._of_link(self.hall.seats, token)
        return await self.hall.live(id), seat, token

    def _view(self, token: str, id: str, live: Live, seat: int) -> View:
        if not _ID.fullmatch(id):
            raise HTTPException(400, "Invalid page id.")
        return self.hall.view(token, id, live, seat)

    async def table(self, request: Request) -> Response:
        live, seat, token = await self._seated(request)
        id = secrets.token_urlsafe(18)
        view = self._view(token, id, live, seat)
        known = languages_of(live.ruleset.model)
        language = request.query_params.get("language") or _preferred(request, known)
        view.language = language if language in known else "en"
        await view.read()
        return _page(
            "table.html",
            title=live.title_in(view.language),
            seat_name=live.seat_name(seat, view.language) if seat != PUBLIC else "",
            pieces=self.hall.pieces(view),
            here=f"/seat/{token}",
            view=id,
            state=view.state,
            public=seat == PUBLIC,
            download=live.is_open_book,
            language=view.language,
            languages=known,
        )

    async def events(self, request: Request) -> Response:
        live, seat, token = await self._seated(request)
        view = self._view(token, request.query_params.get("view", ""), live, seat)
        view.sent = {}
        view.dirty.set()
        view.listener += 1  # a page has one stream: the one before, perhaps half open, ends
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        stream = self._stream(view, (token, request.query_params["view"]))
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _stream(self, view: View, key: tuple[str, str]) -> AsyncIterator[bytes]:
        hall = self.hall
        sent, listener = (-1, "", 0), view.listener  # beeps, name of the state, last action: as this stream has them
        try:
            while hall.views.get(key) is view and view.listener == listener:
                view.last = time.monotonic()
                try:
                    await asyncio.wait_for(view.dirty.wait(), BEAT)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if view.listener != listener:
                    break
                view.dirty.clear()
                await view.read()
                pieces = hall.pieces(view)
                changed = {name: html for name, html in pieces.items() if view.sent.get(name) != hash(html)}
                view.sent = {name: hash(html) for name, html in pieces.items()}
                del pieces  # while the stream waits, it holds no page
                now = view.beeps, view.state, view.serial
                if changed or sent != now:
                    sent = now
                    for chunk in _event(view, changed):
                        yield chunk
                await asyncio.sleep(REST)
            if key[0] in hall.former:
                yield b"event: reload\ndata: 1\n\n"  # which tells why the page plays no longer
        finally:
            is_last = view.listener == listener
            if view.seat == PUBLIC and is_last and hall.views.get(key) is view:
                hall.views.pop(key)

    async def act(self, request: Request) -> Response:
        try:
            data = json_in((await request.body()).decode("utf-8"))
        except (ValueError, RecursionError):
            data = None
        is_action = isinstance(data, dict) and isinstance(data.get("view"), str) and isinstance(data.get("do"), str)
        if not is_action or not can_be_kept(data):
            raise HTTPException(400, "Request without an action.")
        live, seat, token = await self._seated(request)
        view = self._view(token, data["view"], live, seat)
        if not self._acts.takes(token if seat != PUBLIC else client_of(request.scope)):  # spectators share a link
            raise HTTPException(429, "Too many requests.")
        go = ""
        if not view.is_next(data.get("serial")):
            view.refuse("This request has come twice, so it was not executed again.")
        elif data["do"] == "explain":
            await self._explain(view, str(data.get("line", ""))[:20])
        elif data["do"] == "fork":
            self._set_up(request)
            go = await self._fork(view, data)
        else:
            await view.act(data["do"], data)
        return JSONResponse({"go": go} if go else {})

    def _set_up(self, request: Request) -> None:
        """Count a new table of a client. Raises 429 beyond its limit."""
        if not self._setups.takes(client_of(request.scope)):
            raise HTTPException(429, "Too many new tables.")

    async def _explain(self, view: View, number: str) -> None:
        try:
            view.explained = await self.hall.explain(view, number)
        except Refused as error:
            view.said = str(error)
        except RuleFailure as error:
            view.said = view.live.failure(error)
        except BrokenExecutor:
            view.said = "The line cannot be explained now."
        view.dirty.set()

    async def _fork(self, view: View, data: Mapping[str, Json]) -> str:
        live = view.live
        try:
            live.check_state(view.seat, str(data.get("state", "")))
            until, log = int(str(data.get("value"))), live.as_log
            if view.seat == PUBLIC or not await live.open_book():
                raise Refused("This would reveal hidden information; you can do it when the game is over.")
            kept = await self.hall.go_on(log, max(0, until), live.kept.title)
        except (Refused, StoreError) as error:
            view.said = str(error)
        except RulesetError:
            view.said = "The files of this game have errors."
        except ValueError:
            view.said = UNCLEAR
        else:
            return f"/host/{kept.host}"
        view.dirty.set()
        return ""

    async def log(self, request: Request) -> Response:
        live, seat, _ = await self._seated(request)
        if seat == PUBLIC and not live.game.is_over:
            raise HTTPException(403, "Spectators can download the log when the game is over.")
        return await self._log(live)

    async def rules(self, request: Request) -> Response:
        live, _, _ = await self._seated(request)
        text = await self.hall.rules(live)
        return HTMLResponse(text, headers={"content-security-policy": _csp_of(text)})


def _event(view: View, changed: Mapping[str, str]) -> Iterator[bytes]:
    """Yield an event with the changed pieces in chunks, so that a stream that does not read holds little."""
    ahead = bytearray()
    for part in _parts(view, changed):
        for start in range(0, len(part), CHUNK):
            ahead += part[start : start + CHUNK]
            if len(ahead) >= CHUNK:
                yield bytes(ahead)
                ahead.clear()
    yield bytes(ahead)


def _parts(view: View, changed: Mapping[str, str]) -> Iterator[bytes]:
    news = {"changed": view.live.changed_at, "beeps": view.beeps, "state": view.state, "serial": view.serial}
    yield f'event: pieces\ndata: {json.dumps(news)[:-1]}, "pieces": {{'.encode()
    for number, (name, html) in enumerate(changed.items()):
        yield f'{", " if number else ""}"{name}": '.encode()
        yield (_shared_json if len(html) > CHUNK else _json)(html)
    yield b"}}\n\n"


def _json(html: str) -> bytes:
    return json_of(html).encode()


_shared_json = lru_cache(MOST_DRAWINGS)(_json)
"""The same for large pieces: streams that send one at the same time share it."""


def _seat(request: Request) -> int:
    """Return the seat of an address. Raises 404 for anything but a small number."""
    text = request.path_params["seat"]
    if not re.fullmatch(r"[0-9]{1,2}", text):
        raise HTTPException(404, "There is no such seat.")
    return int(text)


def _csp_of(text: str) -> str:
    """Return a content security policy that allows only the inline styles and scripts of a page, by their digests."""

    def digests(tag: str) -> str:
        contents = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digests = (b64encode(sha256(each.encode()).digest()).decode() for each in contents)
        return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"

    return (
        f"default-src 'none'; style-src {digests('style')}; script-src {digests('script')}; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def _preferred(request: Request, known: list[str]) -> str:
    """Return the first language of the browser that the ruleset supports."""
    accepted = request.headers.get("accept-language", "").split(",")[:10]
    names = (part.split(";")[0].strip().split("-")[0] for part in accepted)
    return next((name for name in names if name in known), "en")


def _overlays(ruleset: Ruleset) -> list[Data]:
    """Return the overlays of a ruleset's family: the compatible ones, which limit other choices, and others with the
    reasons against them."""
    here = [document.id for document in ruleset.composition.documents]
    overlays = {document.id: document for document in ruleset.shelf.documents("overlay")}
    apart = {id: {each.text for each in document.head.not_with} | document.undefined.keys()
             for id, document in overlays.items()}  # fmt: skip
    possible = {id: document.title for id, document in overlays.items() if id in here or can_have(here, document)}
    entries: list[Data] = []
    for id, document in overlays.items():
        taken = id in here
        reason = "" if taken else "; ".join(why for file, why in document.undefined.items() if file in here)
        if id not in possible and not reason:
            continue
        limits = [f"for {document.players} players"] if document.players is not None else []
        others = [title for other, title in possible.items() if other in apart[id] or id in apart[other]]
        if others:
            limits.append(f"not with {', '.join(others)}")
        limited = "; ".join(limits)
        entries.append({"id": id, "title": document.title, "taken": taken, "reason": reason, "limits": limited})
    return entries
