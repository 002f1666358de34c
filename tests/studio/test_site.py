"""The page of the studio and what it asks for: files, forms, links, and the language server."""

from __future__ import annotations

import asyncio
import io
import json
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from msgspec.structs import replace

from interpreter.loading.load import load
from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.serve.words import Refused
from interpreter.studio import packing
from interpreter.studio.packing import of_link, packed, unpacked
from interpreter.studio.site import _first_visit, application
from interpreter.studio.workbench import Workbench
from tests.serve.served import get, post
from tests.studio.home import Home
from tests.studio.test_workbench import HOSTILE

OVERLAY = """\
language: 2
overlay: goofspiel/dear
title: "<script>alert(1)</script>"
over: [goofspiel]
"""
NAME = "goofspiel/overlays/dear.yaml"
SESSION = "lsp?session=0123456789abcdef"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    running = Home(tmp_path_factory.mktemp("studio"))
    yield running
    running.close()


@pytest.fixture(autouse=True)
def clean(home: Home) -> Iterator[None]:
    for name in home.bench.files():
        home.within(partial(home.bench.remove, name))
    yield
    errors, home.errors[:] = home.errors[:], []
    assert errors == []


def posted(home: Home, address: str, **how: Any) -> httpx.Response:
    return post(f"{home.base}/{address}", headers={"origin": home.base}, timeout=60, **how)


def saved(home: Home, name: str, text: str, before: str = "") -> httpx.Response:
    return posted(home, "save", data={"name": name, "text": text, "before": before})


def test_the_page_has_no_script_and_no_style_of_its_own(home: Home) -> None:
    page = home.get("")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self';" in policy
    nonce = re.search("style-src 'self' 'nonce-([^']+)'", policy)
    assert nonce is not None
    assert f'data-nonce="{nonce[1]}"' in page.text
    assert re.findall("<script(?![^>]* src=)|<style| style=| on[a-z]+=", page.text) == []
    assert re.findall(r'(?:src|href|action)="(?:/|\w+:(?!,))', page.text) == []
    assert get(home.base, headers={"host": "evil.example"}).status_code == 421


def test_files_are_read_and_saved(home: Home) -> None:
    assert saved(home, NAME, OVERLAY).status_code == 200
    file = home.get(f"file?name={NAME}").json()
    assert (file["text"], file["own"]) == (OVERLAY, True)
    shipped = home.get("file?name=rulesets/goofspiel/family.yaml").json()
    assert not shipped["own"]
    assert NAME in home.get("files").text
    (home.bench.root / NAME).write_text("another program")
    answer = saved(home, NAME, "mine", file["digest"])
    assert (answer.status_code, answer.json()["error"]) == (412, "Another program has changed this file.")
    assert home.bench.read(NAME) == "another program"


@pytest.mark.parametrize("name", [each for each in HOSTILE if each != "\ud800.yaml"], ids=lambda name: ascii(name)[:30])
def test_no_request_names_a_file_outside(home: Home, name: str) -> None:
    before = sorted(home.bench.root.parent.rglob("*"))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("fine.yaml", "a: 1")
        archive.writestr(name.replace("\0", "") or "../a", "b: 1")
    is_whole = "\0" not in name and name[-1:] not in "/"  # else a zip has another name, or a folder
    answers = [
        get(f"{home.base}/file", params={"name": name}),
        saved(home, name, "text"),
        posted(home, "move", data={"name": name, "do": "remove"}),
        posted(home, "upload", files={"zip": zipped.getvalue()}, data={"sure": "1"}) if is_whole else None,
    ]
    for answer in filter(None, answers):
        assert answer.status_code in (400, 409), answer.text
        assert len(answer.json()["error"]) < 300
    assert sorted(home.bench.root.parent.rglob("*")) == before


def test_requests_of_other_sites_and_wrong_ones_are_refused(home: Home) -> None:
    for address in ("save", "move", "new/map", "upload", SESSION):
        assert post(f"{home.base}/{address}", headers={"origin": "http://evil.example"}).status_code == 403
    for data in (b"", b"[]", b"\xff", b"name=", b"[" * 100_000):
        assert posted(home, "save", content=data).status_code == 409
    assert posted(home, "save", content=b"x" * (16 * 1024 * 1024 + 1)).status_code == 413
    assert posted(home, "new/rocket", data={}).status_code == 404


def test_a_key_keeps_others_out(tmp_path: Path) -> None:
    app = application(Workbench(tmp_path), Hall(Store(tmp_path / "a.sqlite"), sources=["goofspiel"]), key="secret")

    async def asked() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as browser:
            assert (await browser.get("/files")).status_code == 403
            assert (await browser.get("/files?key=other")).status_code == 403
            locked = await browser.get("/", headers={"accept": "text/html"})
            assert locked.headers["content-type"].startswith("text/html")
            assert "?key=" in locked.text
            assert "secret" not in locked.text
            opened = await browser.get("/?key=secret")
            assert (opened.status_code, opened.headers["location"]) == (303, "./")
            assert "samesite=strict" in opened.headers["set-cookie"].lower()
            assert (await browser.get("/files")).status_code == 200
            assert (await browser.get("/tables/")).status_code == 200

    asyncio.run(asked())


def test_new_files_by_form(home: Home) -> None:
    assert 'value="goofspiel"' in home.get("new/overlay").text
    answer = posted(home, "new/overlay", data={"name": "short", "title": "", "for": "goofspiel"})
    assert answer.json() == {"go": "at=goofspiel/overlays/short.yaml:1&ruleset=goofspiel&with=goofspiel/short"}
    again = posted(home, "new/overlay", data={"name": "short", "for": "goofspiel"})
    assert "already exists" in again.text
    answer = posted(home, "new/game", data={"name": "Zoë's Game"})
    assert answer.json() == {"go": "at=zoe-s-game/family.yaml:1&ruleset=zoe-s-game"}
    assert "Zoë" in home.bench.read("zoe-s-game/zoe-s-game.yaml")
    for name in ("", "../x", "<b>", "Ж Ж", "x" * 10_000):
        assert 'role="alert"' in posted(home, "new/game", data={"name": name}).text
    answer = posted(home, "new/game", data={"name": "pebbles"})
    assert load(home.bench.source(parse_qs(answer.json()["go"])["ruleset"][0])).id == "pebbles"
    csv = "name,x,y\n" + "".join(f"Town {n},{n % 7},{n // 7}\n" for n in range(42))
    csv += "\nfrom,to\n" + "".join(f"Town {n},Town {n + 1}\n" for n in range(41))
    files = {"from": ("net.csv", csv.encode())}
    made = posted(home, "new/map", data={"name": "net", "for": "germany-2018"}, files=files).json()
    assert made == {"go": "at=power-grid/maps/net.yaml:1&ruleset=net-2018&pane=board"}
    assert "Town 41" in home.bench.read("power-grid/maps/net.yaml")
    wrong = posted(home, "new/map", data={"name": "b", "for": "germany-2018"}, files={"from": ("net.exe", b"MZ")})
    assert "want a file that ends in" in wrong.text


def test_a_file_is_renamed_and_removed_after_a_question(home: Home) -> None:
    home.within(partial(home.bench.write, "a.yaml", "a: 1\n"))
    assert "New name" in home.get("move?name=a.yaml").text
    assert posted(home, "move", data={"name": "a.yaml", "to": "b.yaml", "do": "rename"}).json() == {"go": "at=b.yaml:1"}
    for wrong in ("b.yaml", "../c.yaml", "c.exe"):  # what was typed stays, with what is wrong about it
        page = posted(home, "move", data={"name": "b.yaml", "to": wrong, "do": "rename"}).text
        assert f'name="to" value="{wrong}"' in page
        assert 'role="alert">' in page
    assert "cannot be brought back" in posted(home, "move", data={"name": "b.yaml", "do": "ask"}).text
    assert home.bench.files() == ["b.yaml"]
    posted(home, "move", data={"name": "b.yaml", "do": "remove"})
    assert home.bench.files() == []


def test_files_travel_as_zip_and_link(home: Home) -> None:
    home.within(partial(home.bench.write, NAME, OVERLAY))
    home.within(partial(home.bench.write, "goofspiel/overlays/other.yaml", OVERLAY.replace("dear", "other")))
    whole = home.get("download")
    assert unpacked(home.bench, whole.content).keys() == set(home.bench.files())
    page = home.get("link?ruleset=goofspiel&with=goofspiel/dear&players=3").text
    link = re.search('data-link="#pack=([^"&]+)&amp;([^"]+)"', page)
    assert link is not None
    assert link[2] == "ruleset=goofspiel&amp;with=goofspiel/dear&amp;players=3"
    assert "on this machine only" in page
    assert unpacked(home.bench, of_link(link[1])) == {NAME: OVERLAY}
    home.within(partial(home.bench.remove, NAME))
    question = posted(home, "upload", data={"pack": link[1]})
    assert NAME in question.text
    assert "<script>alert" not in question.text
    assert NAME not in home.bench.files()
    assert posted(home, "upload", data={"pack": link[1], "sure": "1", "go": "a=b"}).json()["go"] == "a=b"
    before = home.bench.path(NAME).stat().st_mtime_ns
    assert posted(home, "upload", data={"pack": link[1]}).json()["go"] == f"at={NAME}:1"  # there is nothing to ask
    assert home.bench.path(NAME).stat().st_mtime_ns == before
    home.within(partial(home.bench.write, NAME, "mine: 1\n"))
    assert "replaces yours" in posted(home, "upload", data={"pack": link[1], "fresh": "1"}).text
    assert home.bench.read(NAME) == "mine: 1\n"


def test_a_link_has_all_that_is_needed_and_the_open_file(home: Home) -> None:
    other = "goofspiel/overlays/other.yaml"
    home.within(partial(home.bench.write, NAME, OVERLAY))
    home.within(partial(home.bench.write, other, OVERLAY.replace("dear", "other")))
    home.within(partial(home.bench.write, "goofspiel/torn.yaml", "language: [\n"))  # its author sees the error alone

    def sent(query: str) -> set[str]:
        found = re.search('data-link="#pack=([^"&]+)', home.get(f"link?{query}").text)
        assert found is not None
        return set(unpacked(home.bench, of_link(found[1])))

    assert sent("ruleset=goofspiel&with=goofspiel/dear") == {NAME, "goofspiel/torn.yaml"}
    assert sent(f"ruleset=goofspiel&at={other}:7") == {other, "goofspiel/torn.yaml"}
    assert "unknown ruleset" in home.get("link?ruleset=nothing").json()["error"]


def test_zips_are_limited(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed({"a.yaml": " " * 3_000_000, "b.yaml": " " * 3_000_000, "c.yaml": " " * 3_000_000})
    assert len(bomb) < 20_000
    wrong = (bomb, b"", b"PK\3\4 no zip", packed({}), packed({"a.yaml": "a"})[:-30], packed({"a.yaml": "a"})[:40])
    for data in (*wrong, packed({f"{n}.yaml": "" for n in range(packing.MOST_FILES + 1)})):
        with pytest.raises(Refused):
            unpacked(home.bench, data)
    for pack in ("", "ü", "%", "A" * 100_000):
        assert posted(home, "upload", data={"pack": pack, "sure": "1"}).status_code == 409
    monkeypatch.setattr(packing, "MOST_IN_LINK", 100)
    home.within(partial(home.bench.write, NAME, OVERLAY * 9))
    assert "download them as a zip" in home.get("link?ruleset=goofspiel&with=goofspiel/dear").json().get("error", "")


def test_the_rulesets_of_a_file_come_first(home: Home) -> None:
    home.within(partial(home.bench.write, NAME, OVERLAY))
    page = home.get(f"choice?file={NAME}").text
    near = page[page.index("With this file") : page.index("</optgroup>")]
    assert re.findall('value="([^"]*)" selected', near) == ["goofspiel"]
    assert f'value="{NAME.split("/")[0]}/dear" checked' in page
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    exact = home.get(f"choice?file={NAME}&ruleset=goofspiel&kept=1").text
    assert " checked" not in exact
    other = home.get(f"choice?file={NAME}&ruleset=germany-2018&with=goofspiel/dear&with=power-grid/first-visit").text
    assert re.findall('value="([^"]*)" checked', other) == ["goofspiel/dear"]
    kept = home.get(f"choice?file={NAME}&ruleset=germany-2018&kept=1").text
    assert re.findall('value="([^"]*)" selected', kept) == ["germany-2018"]
    assert home.get("choice?file=../../etc/passwd&ruleset=nothing").status_code == 200


def test_without_a_choice_the_ruleset_of_the_first_visit_is_at_hand(home: Home) -> None:
    first = str(_first_visit()["ruleset"])
    for query in ("", "ruleset=gone&with=goofspiel/dear", "file=rulesets/power-grid/family.yaml"):
        page = home.get(f"choice?{query}").text
        assert re.findall('value="([^"]*)" selected', page) == [first]
        assert " checked" not in page
    for at_hand in ("brazil-2018", "germany-2004"):  # a file that the ruleset at hand contains leaves it
        page = home.get(f"choice?file=rulesets/power-grid/family.yaml&ruleset={at_hand}").text
        assert re.findall('value="([^"]*)" selected', page) == [at_hand]


class Client:
    """A page that talks with the language server."""

    def __init__(self, home: Home, stream: httpx.Response, address: str = SESSION) -> None:
        self.home, self.lines, self.address = home, stream.iter_lines(), address
        self.number = 0

    def events(self) -> Iterator[dict[str, Any]]:
        for line in self.lines:
            if line.startswith("data: {"):
                yield json.loads(line[6:])

    def tell(self, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        assert posted(self.home, self.address, content=json.dumps(message)).status_code == 202

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        assert posted(self.home, self.address, content=json.dumps([message])).status_code == 202
        return next(each for each in self.events() if each.get("id") == self.number)


def test_a_ruleset_that_vanishes_meanwhile_is_not_chosen(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = replace(home.bench.rulesets()[0], id="gone")
    monkeypatch.setattr(home.bench, "containing", lambda name: [(gone, ())])
    for asked in ("gone", "goofspiel"):
        answer = home.get(f"choice?file={NAME}&ruleset={asked}")
        assert answer.status_code == 200
        assert re.findall('value="(gone|[^"]+)" selected', answer.text) != ["gone"]
    monkeypatch.setattr(home.bench, "rulesets", lambda: [])
    assert home.get("choice").status_code == 409


def test_the_language_server_over_http(home: Home) -> None:
    home.within(partial(home.bench.write, NAME, OVERLAY))
    uri = home.bench.path(NAME).as_uri()
    with httpx.stream("GET", f"{home.base}/{SESSION.replace('lsp', 'lsp/events')}", timeout=30) as stream:
        page = Client(home, stream)
        assert page.ask("initialize", processId=None, rootUri=None, capabilities={})["result"]["capabilities"]
        page.tell("initialized")
        text = OVERLAY.replace("title", "titel")
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        page.tell("textDocument/didOpen", textDocument=document)
        found = next(each for each in page.events() if each.get("method") == "textDocument/publishDiagnostics")
        assert "did you mean `title`?" in str(found)
        assert home.bench.read(NAME) == OVERLAY
        page.tell("exit")
        symbols = page.ask("textDocument/documentSymbol", textDocument={"uri": uri})
        assert [each["name"] for each in symbols["result"]]


def test_names_are_renamed_and_errors_mended_where_the_texts_are_still_the_same(home: Home) -> None:
    posted(home, "new/game", data={"name": "pebbles"})
    name = next(each for each in home.bench.files() if each.endswith("pebbles/family.yaml"))
    text, uri = home.bench.read(name), home.bench.path(name).as_uri()
    home.within(partial(home.bench.write, name, text.replace("\n", "\r\n")))
    before = text[: text.index("lot = pick")]
    place = f"line={before.count(chr(10))}&character={len(before) - before.rindex(chr(10))}"
    names = ("lsp", "lsp/events", "rename", "fix", "find")
    lsp, events, rename, fix, find = (f"{each}?session=another-page-4711" for each in names)
    with httpx.stream("GET", f"{home.base}/{events}", timeout=60) as stream:
        page = Client(home, stream, lsp)
        page.ask("initialize", processId=None, rootUri=None, capabilities={})
        page.tell("initialized")
        page.tell("textDocument/didOpen", textDocument={"uri": uri, "languageId": "yaml", "version": 1, "text": text})
        told = next(each for each in page.events() if each.get("checked"))
        assert told["uri"] == uri
        assert told["pieces"]["problems"].startswith("<h2>No ")
        told = next(each for each in page.events() if "marks" in each)
        assert ">prepare</a>" in told["pieces"]["outline"]
        assert 'class="hint"' in told["pieces"]["beside"]
        assert [5, 0, len("family"), "property"] in told["marks"]

        assert f'href="#at={name}:' in posted(home, find, data={"text": "prepar"}).text
        assert "No name has" in posted(home, find, data={"text": "<b>"}).text
        assert 'value="lot"' in home.get(f"{rename}&{place}").text
        assert "invalid name" in posted(home, f"{rename}&{place}", data={"to": "a b"}).json()["error"]
        assert posted(home, f"{rename}&{place}", data={"to": "drawn"}).json() == {}
        renamed = re.sub(r"(?<!by )(?<!on: began.)\blot\b", "drawn", text)
        assert home.bench.read(name) == renamed.replace("\n", "\r\n")
        assert "changed meanwhile" in posted(home, f"{rename}&{place}", data={"to": "other"}).json()["error"]

        wrong = renamed.replace("clockwise(", "clokwise(")
        home.within(partial(home.bench.write, name, wrong))
        document = {"uri": uri, "version": 2}
        page.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": wrong}])
        told = next(each for each in page.events() if "did you mean" in each.get("pieces", {}).get("problems", ""))
        assert '<h2 class="error">1 error</h2>' in told["pieces"]["problems"]
        keys = re.findall('name="key" value="([^"]+)"', told["pieces"]["problems"])
        assert posted(home, fix, data={"key": "other"}).json() == {}
        assert home.bench.read(name) == wrong
        assert posted(home, fix, data={"key": keys[0]}).json() == {}
        assert home.bench.read(name) == renamed
    for name in home.bench.files():
        home.within(partial(home.bench.remove, name))


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "file:///etc/hosts.yaml",
        "file://{root}/../secret.yaml",
        "file://{root}/%2e%2e/secret.yaml",
        "file://{root}/link.yaml",
        "file://{root}/a%00.yaml",
        "FILE:///etc/hosts.yaml",
        "file://host/etc/hosts.yaml",
        "untitled:a.yaml",
        "http://localhost/a.yaml",
        "",
    ],
)
def test_the_language_server_knows_no_file_outside(home: Home, uri: str) -> None:
    secret = home.bench.root.parent / "secret.yaml"
    secret.write_text("secret: 1")
    if not (home.bench.root / "link.yaml").is_symlink():
        (home.bench.root / "link.yaml").symlink_to(secret)
    params = {
        "textDocument": {"uri": uri.replace("{root}", str(home.bench.root))},
        "position": {"line": 0, "character": 0},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": params}
    assert posted(home, SESSION, content=json.dumps(message)).status_code in (400, 409)


def test_the_language_server_takes_messages_alone(home: Home) -> None:
    for text in ("", "1", "{}", '{"jsonrpc": "1.0"}', "[[]]", "[" * 100_000, '{"jsonrpc": "2.0", "id": []}'):
        assert posted(home, SESSION, content=text).status_code == 400, text
    assert posted(home, "lsp?session=short", content="[]").status_code == 400
    for number in range(40):  # pages that are not open any more are forgotten
        assert posted(home, f"lsp?session=page-{number:016}", content="[]").status_code == 202
