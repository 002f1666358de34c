"""The bridge between an application and a service worker, and the stand-in for persistent collections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import rpds
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.studio import persistent
from interpreter.studio.in_browser import Home
from interpreter.studio.site import application
from interpreter.studio.workbench import Workbench

ADDRESS = "https://example.org/some/place/app/1f2e"


class Told:
    """What a service worker hears of one answer."""

    def __init__(self) -> None:
        self.status, self.headers, self.pieces = 0, dict[str, str](), list[bytes]()
        self.ended, self.news = asyncio.Event(), asyncio.Event()

    def __call__(self, what: str, value: str | bytes) -> None:
        assert not self.ended.is_set()
        match what:
            case "head":
                assert self.status == 0
                self.status, headers = json.loads(value)
                self.headers = dict(headers)
            case "piece":
                assert self.status
                assert isinstance(value, bytes)
                self.pieces.append(value)
            case "end":
                self.ended.set()
        self.news.set()


async def ask(home: Home, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Told:
    told = Told()
    home.request(method, f"{ADDRESS}/{path}", headers.items(), body, told)
    await told.ended.wait()
    return told


async def echo(request: Request) -> Response:
    return JSONResponse(
        {
            "method": request.method, "path": request.scope["path"], "url": str(request.url),
            "cookies": request.cookies,
            "query": dict(request.query_params), "body": (await request.body()).decode(),
            "x": request.headers.get("x"),
        }
    )  # fmt: skip


async def remember(request: Request) -> Response:
    answer = PlainTextResponse("remembered")
    answer.set_cookie("seat", "a=b; c", path="/some/place/app/1f2e", httponly=True)
    answer.set_cookie("language", "de")
    return answer


async def forget(request: Request) -> Response:
    answer = RedirectResponse("../echo", 303)
    answer.delete_cookie("seat")
    return answer


async def wrong(request: Request) -> Response:
    raise LookupError("a mistake")


def _app(said: list[str]) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        said.append("begin")
        yield
        said.append("end")

    async def stream(request: Request) -> Response:
        async def beats() -> AsyncIterator[bytes]:
            try:
                yield b"data: 1\n\n"
                await asyncio.sleep(3600)
            finally:
                said.append("stream ends")

        return StreamingResponse(beats(), media_type="text/event-stream")

    routes = [Route("/echo", echo, methods=["GET", "POST"]), Route("/remember", remember), Route("/wrong", wrong)]
    return Starlette(
        routes=[*routes, Mount("/deep", routes=[Route("/forget", forget)]), Route("/stream", stream)], lifespan=lifespan
    )


def _with_home(test: Callable[[Home, list[str]], Coroutine[Any, Any, None]]) -> list[str]:
    said: list[str] = []

    async def run() -> None:
        home = Home(_app(said), ADDRESS)
        await home.begin()
        await test(home, said)
        await asyncio.wait_for(home.end(), 5)

    asyncio.run(run())
    return said


def test_a_request_reaches_the_application_below_its_address() -> None:
    async def test(home: Home, said: list[str]) -> None:
        told = await ask(
            home, "echo?a=%C3%A4", "POST", "größer".encode(), x="1", host="evil.example", cookie="seat=stolen"
        )
        got = json.loads(b"".join(told.pieces))
        assert (told.status, told.headers["content-type"]) == (200, "application/json")
        assert got == {
            "method": "POST", "path": "/some/place/app/1f2e/echo", "url": f"{ADDRESS}/echo?a=%C3%A4", "cookies": {},
            "query": {"a": "ä"}, "body": "größer", "x": "1",
        }  # fmt: skip

    assert _with_home(test) == ["begin", "end"]


def test_cookies_are_kept_and_links_are_whole() -> None:
    async def test(home: Home, said: list[str]) -> None:
        told = await ask(home, "remember")
        assert "set-cookie" not in told.headers
        got = json.loads(b"".join((await ask(home, "echo")).pieces))
        assert got["cookies"] == {"seat": "a=b; c", "language": "de"}
        told = await ask(home, "deep/forget")
        assert (told.status, told.headers["location"]) == (303, f"{ADDRESS}/echo")
        got = json.loads(b"".join((await ask(home, "echo")).pieces))
        assert got["cookies"] == {"language": "de"}

    _with_home(test)


def test_a_stream_goes_on_until_it_is_cancelled() -> None:
    async def test(home: Home, said: list[str]) -> None:
        told = Told()
        cancel = home.request("GET", f"{ADDRESS}/stream", [], b"", told)
        while not told.pieces:
            told.news.clear()
            await told.news.wait()
        assert (told.headers["content-type"], told.pieces) == ("text/event-stream; charset=utf-8", [b"data: 1\n\n"])
        assert (await ask(home, "echo")).status == 200, "others are answered meanwhile"
        assert not told.ended.is_set()
        cancel()
        await told.ended.wait()

    assert _with_home(test) == ["begin", "stream ends", "end"]


def test_a_mistake_is_told_once(capsys: Any) -> None:
    async def test(home: Home, said: list[str]) -> None:
        told = await ask(home, "wrong")
        assert (told.status, b"".join(told.pieces)) == (500, b"Internal Server Error")

    _with_home(test)
    assert "LookupError: a mistake" in capsys.readouterr().err, "for the browser's console"


def test_the_studio_answers_below_its_address(tmp_path: Path) -> None:
    async def run() -> None:
        home = Home(application(Workbench(tmp_path), Hall(Store(":memory:")), {"example.org"}), ADDRESS)
        await home.begin()
        page = b"".join((await ask(home, "", accept="text/html")).pieces).decode()
        script = page.partition('src="')[2].partition('"')[0]
        told = await ask(home, script.removeprefix("./"))
        assert told.status == 200
        assert told.headers["content-type"].startswith("text/javascript")
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert (await ask(home, "save", "POST", b"name=a.yaml&text=map%3A+a%0A", **form)).status == 200
        assert (tmp_path / "a.yaml").read_text() == "map: a\n"
        await home.end()

    asyncio.run(run())


def test_stand_ins_do_what_the_library_does() -> None:
    for library in (rpds, persistent):
        one = library.HashTrieMap.convert({"a": 1})
        two = one.insert("b", 2).update({"c": 3}, library.HashTrieMap({"a": 4}))
        assert dict(one.items()) == {"a": 1}
        assert dict(two.items()) == {"a": 4, "b": 2, "c": 3}
        assert dict(two.remove("c").items()) == {"a": 4, "b": 2}
        assert library.HashTrieMap.convert(two) is two
        assert dict(library.HashTrieMap([("k", "v")]).items()) == {"k": "v"}
        few = library.HashTrieSet().insert("x").insert("y")
        assert (set(few.update(["z"])), set(few.discard("x")), len(few)) == ({"x", "y", "z"}, {"y"}, 2)
        assert list(library.List().push_front(1).push_front(2)) == [2, 1]
