"""The application of the studio: the shell page, files and forms, the language server, the panes, and the tables.

Forms and questions are pieces of HTML that the page shows as a dialog; what it asks for otherwise is JSON. An error is
JSON too, ``{"error": TEXT}``, with the status that fits. After a form the page goes on at ``{"go": HASH}``: the part of
its address behind ``#`` that says which place of a file is open, and which ruleset, overlays, players and pane are at
hand; what it leaves out stays as it is. After ``{}`` it reads the open file again.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hmac import compare_digest
from itertools import groupby
from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from interpreter.authoring import FORMATS, KINDS
from interpreter.authoring.creation import NotCreated, board_of, create, parts_of, title_of
from interpreter.base.diagnostics import RulesetError, rendered
from interpreter.base.paths import shipped, suffix_of
from interpreter.base.plain_data import Json, json_in
from interpreter.base.suggest import as_word
from interpreter.editor.rename import RefusedRename, renamable, rename
from interpreter.editor.server import offset_at, path_in, uri_of
from interpreter.loading.load import load
from interpreter.reading.dependencies import digest
from interpreter.serve.hall import Hall
from interpreter.serve.web import A_YEAR, HEADERS, HERE, Guard, root_of, running
from interpreter.serve.web import application as tables
from interpreter.serve.words import Refused
from interpreter.studio import board_pane, compare_pane, document_panes, play_pane, scenario_pane
from interpreter.studio.language import Session, Sessions
from interpreter.studio.packing import in_link, of_link, packed, unpacked
from interpreter.studio.pane import FOLDER, PAGES, STATIC, Panes, form_of, whole
from interpreter.studio.play_pane import Tables
from interpreter.studio.workbench import Workbench

__all__ = ["application"]

MOST_BYTES = 16 * 1024 * 1024
"""Most bytes of a request: a zip of files, as text."""
TABS = ("Board", "Play", "Scenarios", "Compare", "Rulebook", "Coverage")
"""Titles of the panes, in the order of their tabs; in lower case they are the names."""


def application(
    workbench: Workbench,
    hall: Hall,
    names: Iterable[str] = (),
    *,
    key: str = "",
    before: Iterable[Callable[[], Coroutine[None, None, None]]] = (),
) -> ASGIApp:
    """Return the application for an author's folder. ``names`` are the allowed host names, in addition to those of this
    machine. With a key, it answers only browsers that have opened an address with ``?key=KEY``. ``before`` runs in the
    background as long as the application."""
    site, panes = _Site(workbench, hall), Panes(workbench, hall)
    played = Tables(panes)
    app = Starlette(
        routes=[
            Route("/", site.shell),
            Route("/files", site.files),
            Route("/choice", site.choice),
            Route("/file", site.file),
            Route("/save", site.save, methods=["POST"]),
            Route("/move", site.move, methods=["GET", "POST"]),
            Route("/rename", site.rename, methods=["GET", "POST"]),
            Route("/fix", site.fix, methods=["POST"]),
            Route("/find", site.find, methods=["GET", "POST"]),
            Route("/new/{kind}", site.new, methods=["GET", "POST"]),
            Route("/download", site.download),
            Route("/link", site.link),
            Route("/upload", site.upload, methods=["GET", "POST"]),
            Route("/lsp", site.receive, methods=["POST"]),
            Route("/lsp/events", site.events),
            *board_pane.routes(panes),
            *document_panes.routes(panes),
            *play_pane.routes(panes, played),
            *scenario_pane.routes(panes, played),
            *compare_pane.routes(panes),
            Mount("/tables", tables(hall, names)),
            Mount(f"/{STATIC}", StaticFiles(directory=FOLDER)),
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, Refused, RefusedRename, RulesetError, ClientDisconnect, Exception), _failed
        ),
        lifespan=lambda _: running(hall, *before),
    )
    guarded = Guard(GZipMiddleware(app, compresslevel=6), names, lambda path: MOST_BYTES)
    return _Locked(guarded, key) if key else guarded


class _Locked:
    """Middleware that lets in only browsers that have shown the key once: other users of this machine have none."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app, self.key = app, key
        self.cookie = f"studio-{digest(key.encode())[:8]}"  # browsers send cookies to all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if compare_digest(request.query_params.get("key", "").encode(), self.key.encode()):
            answer: Response = RedirectResponse("./", 303)
            path, is_safe = scope.get("root_path") or "/", request.url.scheme == "https"
            answer.set_cookie(
                self.cookie, self.key, A_YEAR, path=path, httponly=True, samesite="strict", secure=is_safe
            )
        elif compare_digest(request.cookies.get(self.cookie, "").encode(), self.key.encode()):
            await self.app(scope, receive, send)
            return
        else:
            is_page = "text/html" in request.headers.get("accept", "")
            page, text = PAGES.get_template("locked.html"), "Open the address that `regelwerk studio` has printed."
            answer = HTMLResponse(page.render(), 403) if is_page else JSONResponse({"error": text}, 403)
        answer.headers.update(HEADERS)
        await answer(scope, receive, send)


async def _failed(request: Request, error: Exception) -> Response:
    status, text = 500, "The server could not answer."
    match error:
        case HTTPException():
            status, text = error.status_code, error.detail
        case Refused() | RefusedRename():
            status, text = 409, str(error)
        case RulesetError():
            status, text = 409, "\n".join(rendered(error.diagnostics))
        case ClientDisconnect():
            return Response(status_code=400)  # nobody reads it
    if "text/html" in request.headers.get("accept", ""):
        return _page(request, "failed.html", {"text": text}, status)
    return JSONResponse({"error": text}, status)


def _page(request: Request, name: str, values: dict[str, object], status: int = 200) -> HTMLResponse:
    """Return a page or a piece of one. All its links are relative."""
    root = root_of(request)
    return HTMLResponse(PAGES.get_template(name).render({"root": root, "static": root + STATIC, **values}), status)


class _Site:
    """The routes of the shell."""

    def __init__(self, workbench: Workbench, hall: Hall) -> None:
        self.workbench, self.hall = workbench, hall
        self.sessions = Sessions(workbench, hall.loading)
        hall.leaving.append(self.sessions.close)

    # --- the page

    async def shell(self, request: Request) -> Response:
        nonce, own = secrets.token_urlsafe(18), secrets.token_urlsafe(18)
        values = {"nonce": nonce, "session": own, "panes": TABS, "visit": _first_visit()}
        page = _page(request, "shell.html", {**values, **self._files()})
        policy = HEADERS["content-security-policy"].replace("style-src 'self'", f"style-src 'self' 'nonce-{nonce}'")
        page.headers["content-security-policy"] = policy
        return page

    async def files(self, request: Request) -> Response:
        return _page(request, "files.html", self._files())

    def _files(self) -> dict[str, object]:
        shipped = groupby(self.workbench.shipped(), lambda name: name.split("/")[1])
        return {"own": self.workbench.files(), "shipped": [(family, list(names)) for family, names in shipped]}

    async def choice(self, request: Request) -> Response:
        """Return the rulesets to choose from, first those that contain a file, with their overlays."""
        query, known = request.query_params, {each.id: each for each in self.workbench.rulesets()}
        near: dict[str, tuple[str, ...]] = {}
        with suppress(Refused):
            found = await asyncio.to_thread(self.workbench.containing, query.get("file", ""))
            near = {id: needed for id, needed in found if id in known}  # files may have changed meanwhile
        first = str(_first_visit()["ruleset"])
        asked, is_exact = query.get("ruleset") or first, "kept" in query
        fitting = [asked] if asked in near or not near or is_exact else []
        chosen = next(
            (known[id] for id in (*fitting, *sorted(near, key=first.__ne__), first, *known) if id in known), None
        )
        if chosen is None:
            raise Refused("there are no rulesets")
        is_same = chosen.id == asked
        layers = {
            *(query.getlist("with") if is_same else ()),
            *(() if is_same and is_exact else near.get(chosen.id, ())),
        }
        values = {"near": [known[id] for id in near], "known": known.values(), "chosen": chosen, "layers": layers}
        return _page(request, "choice.html", {**values, "players": query.get("players", "")[:2]})

    # --- files

    async def file(self, request: Request) -> Response:
        name = request.query_params.get("name", "")
        if (path := path_in(name)) is not None:  # the language server has URIs
            name = self.workbench.address_of(path) or name
        text, (path, own) = self.workbench.read(name), self.workbench.find(name)
        return JSONResponse({"name": name, "text": text, "own": own, "digest": _digest(text), "uri": uri_of(path)})

    async def save(self, request: Request) -> Response:
        """Write a file whose text is still the one that the page has changed."""
        name, text, before = map((await form_of(request)).get, ("name", "text", "before"), ("", "", ""))
        if self.workbench.path(name).is_file() and before not in ("", _digest(self.workbench.read(name))):
            raise HTTPException(412, "Another program has changed this file.")
        self.workbench.write(name, text)
        return JSONResponse({"digest": _digest(text)})

    async def move(self, request: Request) -> Response:
        """Ask for a new name of a file, rename it, or remove it after a question."""
        form, error = await form_of(request), ""
        name, do = form.get("name", ""), form.get("do", "")
        to = form.get("to", name)
        self.workbench.find(name)
        try:
            if do == "rename":
                self.workbench.rename(name, to)
            elif do == "remove":
                self.workbench.remove(name)
        except Refused as refused:
            error = str(refused)
        if do in ("rename", "remove") and not error:
            return JSONResponse({"go": _hash(f"{to}:1") if do == "rename" else ""})
        values: dict[str, object] = {"name": name, "to": to, "do": do, "error": error}
        return _page(request, "move.html", values, 409 if error else 200)

    async def new(self, request: Request) -> Response:
        """Show the form of a new map, overlay, edition or game, or create what it says."""
        kind, form, error = request.path_params["kind"], await form_of(request), ""
        if kind not in KINDS:
            raise HTTPException(404, "There is no such form.")
        if request.method == "POST":
            sources = [each for each in (await request.form()).getlist("from") if isinstance(each, UploadFile)]
            contents = [(Path(each.filename or "").name, await each.read()) for each in sources if each.filename]
            try:
                async with self.hall.loading:
                    return JSONResponse(await asyncio.to_thread(self._create, kind, form, contents))
            except (NotCreated, ValueError) as failed:
                listed = failed.diagnostics if isinstance(failed, NotCreated) else ()
                error = "\n".join([str(failed), *rendered(listed)])
        rulesets = [each for each in self.workbench.rulesets() if kind != "game"]
        values = {"kind": kind, "kinds": KINDS, "given": form, "error": error, "rulesets": rulesets, "formats": FORMATS}
        return _page(request, "new.html", values)

    def _create(self, kind: str, form: dict[str, str], contents: list[tuple[str, bytes]]) -> dict[str, Json]:
        bench = self.workbench
        given = form.get("name", "").strip()
        is_text = re.fullmatch(r"[\w '-]*", given) and re.search("[^a-z0-9_-]", given)
        family, name = parts_of(kind, as_word(given, "-") if is_text else given)
        title = title_of(form.get("title") or (given if name not in given else None), name)
        root, base = bench.root / "rulesets" if (bench.root / "rulesets").is_dir() else bench.root, None
        if kind != "game":
            base = load(bench.source(form.get("for", "")))
            above = base.shelf.roots[0]
            root = above if bench.name_of(above) is not None else root
            if family not in (None, base.composition.family):
                raise NotCreated(f"`{base.id}` is of the family `{base.composition.family}`, not `{family}`")
        with tempfile.TemporaryDirectory() as folder:
            sources = [
                Path(folder, f"{number}{suffix_of(each, *FORMATS)}") for number, (each, _) in enumerate(contents)
            ]
            for path, (_, data) in zip(sources, contents, strict=True):
                path.write_bytes(data)
            size = int(form["size"]) if sources and form.get("size", "").isdecimal() else None
            board = board_of(sources, base) if kind == "map" else None
        created = create(
            kind, name, title, root, base, board, size, shown=lambda path: bench.address_of(path) or path.name
        )
        first = str(bench.name_of(root / created.files[0].place))
        chosen = created.rulesets[0].stem if created.rulesets else base.id if base else ""
        layers = next((needed for id, needed in bench.containing(first) if id == chosen), ())
        pane = "board" if kind == "map" else ()
        return {"go": _hash(f"{first}:1", {"ruleset": chosen, "with": layers, "pane": pane})}

    # --- files that travel

    def _texts(self, request: Request) -> dict[str, str]:
        """Return the texts of the files of a ruleset, or of all own ones."""
        query, bench, names = request.query_params, self.workbench, self.workbench.files()
        open_one = query.get("at", "").rpartition(":")[0]
        if "ruleset" in query:
            needed = bench.parts_of(query["ruleset"], query.getlist("with"))
            names = [name for name in names if name in needed or name == open_one]
        return {name: bench.read(name) for name in names}

    async def download(self, request: Request) -> Response:
        data = packed(await asyncio.to_thread(self._texts, request))
        headers = {"content-disposition": f'attachment; filename="{self.workbench.root.name or "studio"}.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    async def link(self, request: Request) -> Response:
        texts = await asyncio.to_thread(self._texts, request)
        if not texts:
            raise Refused("no file of yours is in this ruleset, so there is nothing to send")
        hand = urlencode(request.query_params.multi_items(), safe="/:")
        values = {"hash": f"pack={in_link(packed(texts))}&{hand}", "names": list(texts)}
        return _page(request, "link.html", {**values, "is_here": request.url.hostname in HERE})

    async def upload(self, request: Request) -> Response:
        """Write the files of a zip or link, after a question that shows what they are and what they replace."""
        if request.method == "GET":
            return _page(request, "upload.html", {"files": {}, "pack": ""})
        form = await request.form(max_part_size=MOST_BYTES)
        file, pack = form.get("zip"), str(form.get("pack", ""))
        if isinstance(file, UploadFile):
            pack = urlsafe_b64encode(await file.read()).decode()
        texts, bench = unpacked(self.workbench, of_link(pack)), self.workbench
        old = {name: bench.read(name) if bench.path(name).is_file() else None for name in texts}
        states = {
            name: "new" if old[name] is None else "unchanged" if old[name] == text else "replaces yours"
            for name, text in texts.items()
        }
        changed = [name for name, state in states.items() if state != "unchanged"]
        if changed and "sure" not in form and not ("fresh" in form and "replaces yours" not in states.values()):
            values = {"files": states, "count": len(changed), "pack": pack, "go": form.get("go", "")}
            return _page(request, "upload.html", values)
        for name in changed:
            bench.write(name, texts[name])
        return JSONResponse({"go": form.get("go") or _hash(f"{next(iter(texts))}:1")})

    # --- the language server

    def _session(self, request: Request) -> Session:
        id = request.query_params.get("session", "")
        if not re.fullmatch("[A-Za-z0-9_-]{16,64}", id):
            raise HTTPException(400, "want the name of a session")
        return self.sessions.session(id)

    async def rename(self, request: Request) -> Response:
        """Ask for a new name of what is at a place of the open file, or write it in all places."""
        session, query, to = self._session(request), request.query_params, (await request.form()).get("to")
        line, character = (whole(query.get(each, ""), 7) or 0 for each in ("line", "character"))
        path, answers = session.path, session.editing.answers
        at = offset_at(session.editing.desk.file(path), line, character)
        if not isinstance(to, str):
            return _page(request, "rename.html", {"name": renamable(answers, path, at).text, "query": query})
        session.apply(rename(answers, path, at, to))
        return JSONResponse({})

    async def fix(self, request: Request) -> Response:
        """Apply a quick fix that the page shows; none if the text has changed meanwhile."""
        session, form = self._session(request), await form_of(request)
        session.apply(session.fixes.get(form.get("key", ""), ()))
        return JSONResponse({})

    async def find(self, request: Request) -> Response:
        """List the declarations with some letters in their names."""
        session, text = self._session(request), (await form_of(request)).get("text", "")
        found = list(session.editing.answers.search(text)) if text else []
        values = {"text": text, "found": found, "bench": self.workbench, "query": request.query_params}
        return _page(request, "find.html", values)

    async def receive(self, request: Request) -> Response:
        try:
            self.sessions.receive(self._session(request), (await request.body()).decode())
        except (ValueError, RecursionError) as error:
            raise HTTPException(400, str(error)) from None
        return Response(status_code=202)

    async def events(self, request: Request) -> Response:
        headers = {"x-accel-buffering": "no"}
        events = self.sessions.events(self._session(request))
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def _hash(place: str, choice: Mapping[str, str | Sequence[str]] = {}) -> str:
    """Return the part of the page's address that leads to a place, with what is at hand from then on."""
    return urlencode({"at": place, **choice}, doseq=True, safe="/:")


def _digest(text: str) -> str:
    return digest(text.encode("utf-8", "replace"))


@cache
def _first_visit() -> dict[str, object]:
    """Return the steps of the first visit, and the files with which it begins, as a zip in letters."""
    visit = json_in((shipped("rulesets") / "first-visit.json").read_text(encoding="utf-8"))
    hand = {name: visit[name] for name in ("ruleset", "with")}
    return {**visit, "pack": in_link(packed(visit["files"])), "go": _hash(visit["go"], hand)}
