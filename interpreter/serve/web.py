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
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import segno
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json, json_in, json_of
from interpreter.engine.game import Ruleset
from interpreter.engine.views import languages_of
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import Clock
from interpreter.reading.ruleset_files import can_have
from interpreter.serve.apart import close_apart
from interpreter.serve.archive import Kept, can_be_kept
from interpreter.serve.commands import COMMANDS, asked_for, command_in, options_of
from interpreter.serve.hall import Hall, Offer, errors_of
from interpreter.serve.limits import Allowance, client_of
from interpreter.serve.live import MOST_SAID, PUBLIC, Live, new_token
from interpreter.serve.outside import in_one_line
from interpreter.serve.scene import Data
from interpreter.serve.setting_up import fields_of, said_title
from interpreter.serve.table_page import BEAT, ENVIRONMENT, MOST_DRAWINGS, View
from interpreter.serve.words import LANGUAGES, Refused, in_language, known, t

__all__ = ["A_YEAR", "HEADERS", "STATIC", "Guard", "application", "root_of", "running", "static_path"]

T = TypeVar("T")
MOST_BYTES = 64 * 1024
MOST_LOG_BYTES = 4 * 1024 * 1024
REST = 0.03
"""Seconds between two events of a stream: changes in between are combined."""
CHUNK = 8 * 1024
"""Bytes of an event that are sent at once."""
ACTS, A_SECOND = 40.0, 12.0
"""Rate limit of a seat, or of a client that watches: most actions in a burst, and actions a second."""
REQUESTS, REQUESTS_A_SECOND, AT_ONCE = 600.0, 60.0, 200
"""Limits of a client: most requests in a burst, a second, and at once; an open page is a request."""
MOST_OWN, A_YEAR = 12, 365 * 24 * 3600
"""Most seats that a browser remembers, and for how many seconds."""
SETUPS, SETUPS_A_SECOND = 40.0, 0.2
"""Rate limit of a client for new tables and uploads."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "media-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
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
_FILES = Path(str(files("interpreter.serve").joinpath("static")))


def static_path(folder: Path) -> str:
    """Return the path of the files that pages need. Other files have another path, so that browsers may keep them."""
    digest = sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()))
    return f"static/{digest.hexdigest()[:12]}"


STATIC = static_path(_FILES)
MOST_FIELDS = 200
HERE = ("localhost", "127.0.0.1", "::1")
"""Names of this machine, which lead nowhere on another one."""
SEAT_KINDS = {"person": known("a person, by link"), "bot": known("a bot"), "open": known("open")}
"""Who may take a seat, in words."""
_OTHER_SITE = known(
    "This request comes from another site. Go to the lobby of this server and start from there. If you did, a reverse "
    "proxy changes the host name: let it pass `Host` on."
)
_TOO_LARGE = known("This request is too large.")
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


class Guard:
    """Middleware that checks the host name, origin and size of requests and adds the security headers. The path of the
    server is in the header `X-Forwarded-Prefix`; the proxy may leave it in the paths of requests or not."""

    def __init__(self, app: ASGIApp, names: Iterable[str], most: Callable[[str], int]) -> None:
        self.app, self.most = app, most
        self.names = frozenset(name.strip("[]") for name in (*HERE, *names))
        self._requests = Allowance(REQUESTS, REQUESTS_A_SECOND)
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        prefix, path = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/"), scope["path"]
        mounted = scope.get("root_path", "")
        if not _PREFIX.fullmatch(prefix) or mounted.startswith(f"{prefix}/"):  # another application has looked at it
            prefix = mounted
        path = path if path.startswith(f"{prefix}/") else f"{prefix}{path}"
        scope = {**scope, "root_path": prefix, "app_root_path": prefix, "path": path}  # mounts change the first
        client, read = client_of(scope), 0
        most = self.most(_path(scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if _path(scope).startswith("/static/") and message["status"] < 400:
                    headers["cache-control"] = f"public, max-age={A_YEAR}, immutable"
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
            with in_language(_preferred(Request(scope), LANGUAGES)):
                await _message(Request(scope), *wrong)(scope, receive, guarded)
            return

        self._at_once[client] += 1
        try:
            with in_language(_preferred(Request(scope), LANGUAGES)):
                await self.app(scope, limited, guarded)
        finally:
            self._at_once[client] -= 1
            if not self._at_once[client]:
                del self._at_once[client]

    def _too_fast(self, client: str) -> tuple[int, str] | None:
        if not self._requests.takes(client):
            return 429, known("Too many requests.")
        return (429, known("Too many open pages.")) if self._at_once[client] >= AT_ONCE else None

    def _wrong(self, scope: Scope, most: int) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        name = re.sub(r":\d+$", "", headers.get("host", "")).strip("[]")  # an address of IPv6 is in brackets
        if name not in self.names and not _path(scope).startswith("/static/"):
            return 421, known("This server does not know this host name.")
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return 405, known("Only GET and POST are allowed.")
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
    hall: Hall, names: Iterable[str] = (), *, before: Iterable[Callable[[], Coroutine[None, None, None]]] = ()
) -> ASGIApp:
    """Return the application for a hall. ``names`` are the allowed host names, in addition to those of this machine.
    ``before`` runs in the background as long as the application."""
    site = _Site(hall)

    app = Starlette(
        routes=[
            Route("/", site.lobby),
            Route("/new", site.form),
            Route("/new", site.begin, methods=["POST"]),
            Route("/new/{ruleset}", site.form),
            Route("/new/{ruleset}", site.begin, methods=["POST"]),
            Route("/board/{ruleset}.svg", site.board),
            Route("/load", site.load, methods=["POST"]),
            Route("/join/{id}", site.join),
            Route("/join/{id}/{seat}", site.sit, methods=["POST"]),
            Route("/host/{token}", site.host),
            Route("/host/{token}/log", site.host_log),
            Route("/host/{token}/begin", site.start, methods=["POST"]),
            Route("/host/{token}/{seat}", site.give, methods=["POST"]),
            Route("/seat/{token}", site.table),
            Route("/seat/{token}/events", site.events),
            Route("/seat/{token}/act", site.act, methods=["POST"]),
            Route("/seat/{token}/log", site.log),
            Route("/seat/{token}/rules", site.rules),
            Mount(f"/{STATIC}", StaticFiles(directory=_FILES)),
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, Refused, RulesetError, RuleFailure, ClientDisconnect, Exception), _failed
        ),
        lifespan=lambda _: running(hall, *before),
    )
    most = {"/load": MOST_LOG_BYTES}
    return Guard(GZipMiddleware(app, compresslevel=6), names, lambda path: most.get(path, MOST_BYTES))


@asynccontextmanager
async def running(hall: Hall, *before: Callable[[], Coroutine[None, None, None]]) -> AsyncIterator[None]:
    """Let a hall work as long as the context, and other work in the background."""
    tasks = [asyncio.create_task(work()) for work in (hall.take_up, hall.keep_tidy, *before)]
    yield
    for task in tasks:
        task.cancel()
    close_apart()
    hall.close()


_ERRORS = {
    403: (known("Not allowed"), ""),
    404: (known("Not found"), known("Check that the link is complete, or ask the host of the table for it.")),
    410: (known("This seat is taken"), known("Ask the host for another seat, or for the link to watch the table.")),
    413: (known("Too large"), known("Go back and send less: a saved game may have 4 MB, any other form 64 kB.")),
    421: (known("Unknown address"), known("Open the address that the server printed, or start it with `--name`.")),
    429: (known("Too fast"), known("Wait a few seconds, then reload the page.")),
    500: (known("Something went wrong"), known("Go back and try again. The games are saved.")),
}
"""The title of an error and what to do then, by status code. Errors without a remedy say it themselves."""


def _message(request: Request, status: int, text: str, *, errors: Sequence[str] = ()) -> HTMLResponse:
    """Return a page that says what went wrong and what to do. ``errors`` are rendered diagnostics."""
    title, remedy = _ERRORS.get(status, (known("Not possible"), ""))
    values = {"title": title, "text": text, "remedy": remedy, "errors": errors, "lobby": status != 421}
    return _page(request, "message.html", values, status)


async def _failed(request: Request, error: Exception) -> Response:
    match error:
        case HTTPException():
            return _message(request, error.status_code, error.detail)
        case Refused():
            return _message(request, 409, str(error))
        case RulesetError() | RuleFailure():
            errors = errors_of(error) if isinstance(error, RulesetError) else (str(error),)
            text = known("The files of this game have errors. Fix them, then reload the page.")
            return _message(request, 409, text, errors=errors)
        case ClientDisconnect():
            return Response(status_code=400)  # nobody reads it
    # the response and logs show neither the address, which contains a token, nor the error
    return _message(request, 500, known("The server could not answer."))


def _page(request: Request, name: str, values: Data, status: int = 200) -> HTMLResponse:
    root, language = root_of(request), in_language.value
    given = {"root": root, "static": f"{root}{STATIC}", "language": language, "languages": LANGUAGES}
    page = HTMLResponse(ENVIRONMENT.get_template(name).render({**given, **values}), status)
    if request.query_params.get("language") == language:
        _remember(request, page, "language", language)
    return page


def _remember(request: Request, page: Response, name: str, value: str) -> None:
    """Let the browser remember something below the path of the server."""
    path, is_safe = request.scope["app_root_path"] or "/", request.url.scheme == "https"
    page.set_cookie(name, value, max_age=A_YEAR, path=path, httponly=True, samesite="lax", secure=is_safe)


def _path(scope: Scope) -> str:
    """Return the path of a request below the prefix of the server."""
    return str(scope["path"]).removeprefix(scope["app_root_path"])


def root_of(request: Request) -> str:
    """Return the relative link from the page of a request to the lobby. All links are relative, so that a proxy may
    have the server below any path."""
    return "../" * (_path(request.scope).count("/") - 1) or "./"


def _to(request: Request, path: str) -> RedirectResponse:
    return RedirectResponse(f"{root_of(request)}{path}", 303)


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
                open_.append((kept.id, hall.title_of(kept), free))
        families: dict[str, dict[str, list[Offer]]] = {}
        boards = Counter((each.family, each.edition) for each in hall.offers.values())
        wide = sorted(hall.offers.values(), key=lambda each: (-boards[each.family, each.edition], each.edition))
        for offer in sorted(wide, key=lambda each: (each.family, each.place)):
            families.setdefault(offer.in_words(offer.family), {}).setdefault(offer.place, []).append(offer)
        own = [(token, *hall.seats[token]) for token in _own_seats(request) if token in hall.seats]
        tables = [(token, hall.title_of(hall.kept[id]), hall.kept[id].seats[seat].name) for token, id, seat in own]
        page = _page(request, "lobby.html", {"families": families, "open": open_[-50:], "own": tables})
        if tables:  # the size of a compressed page could tell keys beside texts of others
            page.headers["content-encoding"] = "identity"
        return page

    async def board(self, request: Request) -> Response:
        svg, _ = await self.hall.board(request.path_params["ruleset"])
        return Response(svg, media_type="image/svg+xml", headers={"cache-control": "max-age=3600"})

    async def form(
        self, request: Request, given: Mapping[str, str] = {}, error: str = "", chosen: Sequence[str] = ()
    ) -> Response:
        hall, id = self.hall, _asked(request, given)
        if id not in hall.offers:
            raise HTTPException(404, "Unknown ruleset.")
        shown = ruleset = await hall.ruleset(id)
        with suppress(RulesetError, Refused):  # they do not fit, as the error says
            shown = await hall.ruleset(id, chosen)
        players = shown.players
        number = int(given.get("players") or players.usual)
        offer = hall.offers[id]
        board, fills = await hall.board(id) if offer.board else ("", {})
        fields = fields_of(shown, fills)
        values = {
            "offer": offer,
            "title": offer.in_words(offer.title),
            "offers": hall.offers.values(),
            "error": error,
            "given": given,
            "chosen": chosen,
            "number": number,
            "numbers": range(players.low, players.high + 1),
            "overlays": _overlays(ruleset),
            "settings": sorted(fields, key=lambda each: each["name"] in ruleset.model.settings),
            "board": Markup(board),
            "doubts": list(shown.model.interpretations.values()),
            "kinds": SEAT_KINDS,
            "bots": hall.bots_told(ruleset),
        }
        return _page(request, "new.html", values, 409 if error else 200)

    async def begin(self, request: Request) -> Response:
        self._set_up(request)
        form = await request.form(max_fields=MOST_FIELDS)
        several = {key: [each for each in form.getlist(key) if isinstance(each, str) and each] for key in form}
        given = {key: ",".join(values) if key.startswith("set_") else values[-1] if values else ""
                 for key, values in several.items()}  # fmt: skip
        id = _asked(request, given)
        if not re.fullmatch("[1-9]|1[0-2]", given.setdefault("players", "2")):
            return await self.form(request, {}, known("The number of players must be from 1 to 12."))
        players = int(given["players"])
        overlays = [str(value)[:80] for value in form.getlist("overlay")]
        without = [f"-{value}" for value in form.getlist("without")]
        seats = [
            (kind, given.get(f"bot{n}", "")[:400] if kind == "bot" else given.get(f"name{n}", "")[:40])
            for n in range(players)
            if (kind := given.get(f"seat{n}", "bot")) in SEAT_KINDS
        ]
        settings = {key[4:]: value[:400] for key, value in given.items() if key.startswith("set_")}
        title, listed, layers = given.get("title", ""), "listed" in given, [*overlays, *without]
        try:
            if "look" in given:
                await self.hall.ruleset(id, layers)
                return await self.form(request, given, chosen=layers)
            if len(seats) != players:
                raise Refused("Each seat must be for a person or a bot, or open.")
            clock = _clock(given)
            kept = await self.hall.begin(
                id, seats, layers, settings, title, listed=listed, clock=clock, gathers="gathers" in given
            )
        except RulesetError:
            if not layers:
                raise
            text = known("These overlays do not fit each other, or this number of players.")
            return await self.form(request, given, text, layers)
        except Refused as error:
            return await self.form(request, given, str(error), layers)
        is_own = "at_once" in given and kept.seats[0].kind == "person"
        return _to(request, f"seat/{kept.seats[0].token}" if is_own else f"host/{kept.host}")

    async def load(self, request: Request) -> Response:
        self._set_up(request)
        form = await request.form(max_part_size=MOST_LOG_BYTES)
        upload = form.get("file")
        data = b"" if upload is None or isinstance(upload, str) else await upload.read()
        kept = await self.hall.from_log(data.decode("utf-8", errors="replace"))
        return _to(request, f"host/{kept.host}")

    def _joined(self, request: Request) -> Kept:
        return self._of_link(self.hall.kept, request.path_params["id"])

    async def join(self, request: Request) -> Response:
        kept = self._joined(request)
        live = await self.hall.live(kept.id)
        seats = [(n, live.seat_name(n, in_language.value)) for n, seat in enumerate(kept.seats) if seat.kind == "open"]
        title, continued = live.title_in(in_language.value), live.is_continued
        values = {"title": title, "id": kept.id, "seats": seats, "token": new_token(), "continued": continued}
        return _page(request, "join.html", values)

    async def sit(self, request: Request) -> Response:
        form = await request.form()
        name, token = str(form.get("name", "")), str(form.get("token", ""))
        token = await self.hall.sit(self._joined(request).id, _seat(request), name, token)
        return _to(request, f"seat/{token}")

    # --- the host's page

    async def _hosted(self, request: Request) -> Live:
        return await self.hall.live(self._of_link(self.hall.hosts, request.path_params["token"]))

    async def host(self, request: Request) -> Response:
        live = await self._hosted(request)
        base = f"{request.url.scheme}://{request.headers['host']}{request.scope['app_root_path']}/"
        seats = [(n, live.seat_name(n, in_language.value), seat) for n, seat in enumerate(live.kept.seats)]
        values = {
            "title": live.title_in(in_language.value),
            "base": base,
            "here": live.kept.host,
            "seats": seats,
            "watch": live.kept.watch,
            "join": f"join/{live.kept.id}",
            "open_book": live.is_open_book,
            "gathers": live.gathers,
            "kinds": SEAT_KINDS,
            "bots": self.hall.bots_told(live.ruleset),
            "qr": lambda link: Markup(segno.make(link, micro=False).svg_inline(scale=3, light="#fff")),
        }
        return _page(request, "host.html", values)

    async def give(self, request: Request) -> Response:
        form = await request.form()
        live = await self._hosted(request)
        seat, kind = _seat(request), str(form.get("kind"))
        if seat >= len(live.kept.seats) or kind not in SEAT_KINDS:
            raise HTTPException(400, "No such seat.")
        await self.hall.give(live, seat, kind, str(form.get("bot", ""))[:400], str(form.get("mark", "")))
        return _to(request, f"host/{live.kept.host}")

    async def start(self, request: Request) -> Response:
        live = await self._hosted(request)
        self._set_up(request)
        await self.hall.regather(live)
        return _to(request, f"host/{live.kept.host}")

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
        raise HTTPException(409, t("This table is damaged and was put aside: {why}. All other tables go on.", why=why))

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
        languages = languages_of(live.ruleset.model)
        view.language = _preferred(request, languages)
        await view.read()
        pieces = self.hall.pieces(view)
        view.sent = {name: hash(html) for name, html in pieces.items()}
        values = {
            "title": live.title_in(view.language),
            "seat_name": live.seat_name(view.seat, view.language) if seat != PUBLIC else "",
            "pieces": pieces,
            "here": token,
            "view": id,
            "state": view.state,
            "public": seat == PUBLIC,
            "notes": live.orders(view.seat).notes if seat != PUBLIC else "",
            "download": live.is_open_book,
            "languages": languages,
        }
        with in_language(view.language):
            page = _page(request, "table.html", values)
        if seat != PUBLIC:
            seats = ".".join([token, *(each for each in _own_seats(request) if each != token)][:MOST_OWN])
            _remember(request, page, "seats", seats)
        return page

    async def events(self, request: Request) -> Response:
        live, seat, token = await self._seated(request)
        view = self._view(token, request.query_params.get("view", ""), live, seat)
        if view.listener:  # nobody knows what the stream before has brought; the page itself had all pieces
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
        data: Any = None
        with suppress(ValueError, RecursionError):
            data = json_in((await request.body()).decode("utf-8"))
        is_action = isinstance(data, dict) and isinstance(data.get("view"), str) and isinstance(data.get("do"), str)
        if not is_action or not can_be_kept(data):
            raise HTTPException(400, "Request without an action.")
        live, seat, token = await self._seated(request)
        view = self._view(token, data["view"], live, seat)
        if not self._acts.takes(token if seat != PUBLIC else client_of(request.scope)):  # spectators share a link
            raise HTTPException(429, "Too many requests.")
        go: str | None = ""
        if view.is_next(data.get("serial")):
            go = await view.attempt(self._act(request, view, data))
        else:
            view.refuse("This request has come twice, so it was not executed again.")
        return JSONResponse({"go": go} if go else {})

    async def _act(self, request: Request, view: View, data: Mapping[str, Json]) -> str:
        """Execute an action of a page. Return the link to which it leads, if any."""
        match str(data["do"]):
            case "explain":
                view.explained = await self.hall.explain(view, str(data.get("line", ""))[:20])
            case "say" if str(data.get("value")).lstrip().startswith("/"):
                return await self._command(request, view, data)
            case "again":
                self._set_up(request)
                return f"../seat/{await self.hall.again(view.live, view.seat)}"
            case "fork":
                self._set_up(request)
                return await self._fork(view, data)
            case action:
                await view.act(action, data)
        return ""

    def _set_up(self, request: Request) -> None:
        """Count a new table of a client. Raises 429 beyond its limit."""
        if not self._setups.takes(client_of(request.scope)):
            raise HTTPException(429, "Too many new tables.")

    async def _command(self, request: Request, view: View, data: Mapping[str, Json]) -> str:
        """Carry out a command, as its button would. Return the link to follow, if there is one."""
        live, view.refused, view.said = view.live, [], ""
        view.dirty.set()
        word, rest = command_in(in_one_line(str(data["value"]))[:MOST_SAID])
        match word:
            case "undo" | "hint":
                await view.act(word, data)
            case "join":
                return f"../seat/{await self.hall.join(live, view.seat, ' '.join(rest))}"
            case "help":
                view.said = "; ".join(f"`/{each}`: {t(about)}" for each, about in COMMANDS.items())
            case _ if view.seat == PUBLIC:
                raise Refused("Spectators cannot do this.")
            case "option" if len(rest) < 2:
                options = options_of(live.ruleset, live.boards)
                shown = [name for name in rest if name in options] or options
                view.said = "; ".join(f"`{name}`: {options[name].about}" for name in shown)
            case _:
                self._set_up(request)
                change = partial(asked_for, rest[0], rest[1]) if word == "option" else None
                await self.hall.regather(live, change)
        return ""

    async def _fork(self, view: View, data: Mapping[str, Json]) -> str:
        live = view.live
        live.check_state(view.seat, str(data.get("state", "")))
        until, log = int(str(data.get("value"))), live.as_log
        if view.seat == PUBLIC or not await live.open_book():
            raise Refused("This would reveal hidden information; you can do it when the game is over.")
        try:
            kept = await self.hall.go_on(log, max(0, until), live.kept.title)
        except RulesetError:
            raise Refused("The files of this game have errors. Fix them, then reload the page.") from None
        return f"../host/{kept.host}"

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
    news = {
        "changed": view.live.changed_at,
        "beeps": view.beeps,
        "state": view.state,
        "serial": view.serial,
        "turn": view.seat in view.live.asked,
    }
    yield f'event: pieces\ndata: {json.dumps(news)[:-1]}, "pieces": {{'.encode()
    for number, (name, html) in enumerate(changed.items()):
        yield f'{", " if number else ""}"{name}": '.encode()
        yield (_shared_json if len(html) > CHUNK else _json)(html)
    yield b"}}\n\n"


def _json(html: str) -> bytes:
    return json_of(html).encode()


_shared_json = lru_cache(MOST_DRAWINGS)(_json)
"""The same for large pieces: streams that send one at the same time share it."""


def _own_seats(request: Request) -> list[str]:
    """Return the links of seats that this browser has opened, the latest first."""
    return [each for each in request.cookies.get("seats", "").split(".") if _ID.fullmatch(each)][:MOST_OWN]


def _clock(given: Mapping[str, str]) -> Clock | None:
    """Read the clock of a form. Raises :class:`Refused`."""
    per, late, minutes = given.get("clock"), given.get("late", "bot"), given.get("minutes", "")
    if per not in ("game", "choice"):
        return None
    seconds = round(60 * float(minutes)) if re.fullmatch(r"\d{1,5}(\.\d{1,2})?", minutes) else 0
    if seconds < 1:
        raise Refused("The clock needs a number of minutes.")
    return {"per": per, "seconds": seconds, "late": "pass" if late == "pass" else "bot"}


def _asked(request: Request, given: Mapping[str, str]) -> str:
    """Return the id of the ruleset that an address or its form names."""
    return str({"ruleset": "", **request.query_params, **given, **request.path_params}["ruleset"])


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


def _preferred(request: Request, languages: Collection[str]) -> str:
    """Return the first of some languages that somebody wants: has chosen, has chosen before, or has in the browser."""
    chosen = [request.query_params.get("language", ""), request.cookies.get("language", "")]
    accepted = request.headers.get("accept-language", "").split(",")[:10]
    names = (part.split(";")[0].strip().split("-")[0] for part in accepted)
    return next((name for name in (*chosen, *names) if name in languages), "en")


def _overlays(ruleset: Ruleset) -> list[Data]:
    """Return the overlays of a ruleset's family: the compatible ones, which limit other choices, and others with the
    reasons against them."""
    here = [document.id for document in ruleset.composition.documents]
    overlays = {document.id: document for document in ruleset.shelf.documents("overlay")}
    apart = {id: {each.text for each in document.head.not_with} | document.undefined.keys()
             for id, document in overlays.items()}  # fmt: skip
    titles = {id: said_title(ruleset.shelf, document, in_language.value) for id, document in overlays.items()}
    possible = {id: titles[id] for id, document in overlays.items() if id in here or can_have(here, document)}
    entries: list[Data] = []
    for id, document in overlays.items():
        taken = id in here
        reason = "" if taken else "; ".join(why for file, why in document.undefined.items() if file in here)
        if id not in possible and not reason:
            continue
        others = [title for other, title in possible.items() if other in apart[id] or id in apart[other]]
        limits = {"players": document.players, "others": others}
        entries.append({"id": id, "title": titles[id], "taken": taken, "reason": reason, **limits})
    return entries
