"""Texts from outside on pages: nothing of the server's folders, no words of Python, no control characters."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from interpreter.bots.registry import bots_of
from interpreter.loading.load import load
from interpreter.play.game_records import write_log
from interpreter.play.match import Match
from interpreter.serve.outside import in_one_line, program_name, without_folders
from tests.bots.test_command import PROGRAM
from tests.serve.served import Served, first, get, now, state_of, until
from tests.small import write

HOSTILE = "a\u202eb\x1b[31m\x00c\u2066d\u200fe\u061cf\x7f\x85"
PYTHON = re.compile(
    r"Traceback|invalid literal|unhashable|not supported between|has no attribute|object is not|Errno|"
    r"codec can|NoneType|KeyError|TypeError|ValueError|IndexError|list indices|out of range$|JSONDecode|"
    r"integer string conversion|Expecting|must be str|positional argument|subscriptable|pickle|process pool|"
    r"binding parameter|&lt;class|set_int_max|Extra data"
)


def hostile(text: str) -> list[str]:
    """Return the characters that no page may have."""
    return [hex(ord(c)) for c in set(text) if (unicodedata.category(c) == "Cc" and c != "\n") or
            unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
            or c in "\u061c\u200e\u200f\u2028\u2029"]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a secret folder")


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    act = (
        "choose start by seats[0]:\n  go value in 0 .. 1:\n    note said(1)\nchoose end by seats[0]:\n  stop\nend game"
    )
    sections = 'asks: {end: "{actor} ends {[5][amount - 1]}"}\n'
    small = write(place / "rulesets", act, sections=sections)
    (place / "bot.py").write_text(PROGRAM, encoding="utf-8")
    programs = [f"cmd:{sys.executable} '{place / 'bot.py'}' '{place / 'said'}'", f"cmd:'{place / 'missing'}' --x"]
    running = Served(place / "tables.sqlite", rulesets=[str(small), "goofspiel", "bsw-germany"], programs=programs)
    yield running
    running.close()


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.serve.limits.Allowance.takes", lambda self, key: True)


@pytest.fixture
def web(served: Served, place: Path) -> Iterator[httpx.Client]:
    """A client that looks at each answer."""

    def looked(answer: httpx.Response) -> None:
        answer.read()
        if answer.headers.get("content-type", "").startswith("text/html"):
            looks_clean(answer.text, place)

    with httpx.Client(
        verify=False, base_url=served.base, headers={"Origin": served.base}, timeout=60,
        event_hooks={"response": [looked]},
    ) as client:  # fmt: skip
        yield client


def looks_clean(text: str, place: Path) -> None:
    assert hostile(text) == []
    assert (found := PYTHON.search(text)) is None, found
    for folder in (place.name, str(place.parent), str(Path.cwd()), str(Path(sys.executable).parent), str(Path.home())):
        assert folder not in text


def acted(served: Served, web: httpx.Client, link: str, place: Path, **data: Any) -> str:
    """Act on a page, and return its pieces."""
    page = web.get(link).text
    id = re.findall(r'data-view="([^"]+)"', page)[0]
    assert web.post(f"{link}/act", json={"view": id, "state": state_of(page), **data}).status_code == 200
    view = next(view for (_, each), view in served.hall.views.items() if each == id)
    pieces = json.dumps(served.within(view.pieces), ensure_ascii=False).replace("\\n", "\n")
    looks_clean(pieces, place)
    return pieces


# --- names and titles


def test_names_and_titles_have_no_control_characters(served: Served, web: httpx.Client, place: Path) -> None:
    names = {"name0": f"Ann{HOSTILE}", "name1": f"Ben{HOSTILE}", "title": f"Table {HOSTILE}", "listed": "on"}
    live, links, watch = served.table("goofspiel", ["person", "person", "open"], **names)
    assert hostile(live.kept.title) == []
    assert "Table " in web.get("/").text
    for address in (f"/host/{live.kept.host}", f"/join/{live.kept.id}", *links, watch):
        assert ("Anna" in web.get(address).text) == ("/join/" not in address)
    web.post(f"/join/{live.kept.id}/2", data={"name": f"Cid{HOSTILE}"})
    served.done(live.choose(0, first(live, 0)))
    assert "Anna" in acted(served, web, links[1], place, do="list")
    pieces = acted(served, web, links[0], place, do="sit", name=f"Dora{HOSTILE}")
    assert "Dora" in pieces
    form = {"players": "99", **names}
    assert web.post("/new/goofspiel", data=form).status_code == 409


def test_an_archive_of_before_shows_none_either(served: Served, web: httpx.Client, tmp_path: Path, place: Path) -> None:
    running = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    live, *_ = running.table("goofspiel", ["person", "open"])
    running.close()
    with sqlite3.connect(tmp_path / "tables.sqlite") as connection:
        connection.execute("update tables set title = ?, open = 1", (HOSTILE,))
        connection.execute("update seats set name = ?", (HOSTILE,))
        connection.execute("update seats set bot = ?", (HOSTILE,))
    again = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    try:
        for address in ("/", f"/host/{live.kept.host}", f"/join/{live.kept.id}", f"/seat/{live.kept.watch}"):
            looks_clean(get(f"{again.base}{address}").text, place)
    finally:
        again.close()


@pytest.mark.parametrize("field", ["players", "seat0", "bot0", "overlay", "without", "set_tied_prize", "set_x", "set_"])
def test_forms_that_are_refused_show_none(web: httpx.Client, field: str) -> None:
    data = {"players": "2", "seat0": "bot", "bot0": "random", "seat1": "person", field: HOSTILE}
    assert web.post("/new/goofspiel", data=data).status_code in (303, 400, 409)
    assert web.post(f"/new/{HOSTILE[:3]}", data=data).status_code == 404


# --- words of Python


@pytest.mark.parametrize("number", ["²", "--5", "9" * 300, "1e5", "٣", "-", "0x1", "1_0", " 1", "", "None"])
def test_numbers_of_forms_are_refused_in_words(web: httpx.Client, number: str) -> None:
    page = web.get("/new/bsw-germany").text
    names = set(re.findall(r'name="(set_[^"]+)"', page))
    assert len(names) > 3
    for name in names:
        data = {"players": "3", "seat0": "bot", "seat1": "bot", "seat2": "person", name: number}
        assert web.post("/new/bsw-germany", data=data).status_code in (303, 409)
    assert web.post("/new/goofspiel", data={"players": number or "x"}).status_code in (303, 400, 409)


VALUES: list[Any] = [
    None, True, 0, -1, 10**30, 1.5, "", "x", "²", "9" * 5000, HOSTILE, "../x", "/etc/passwd", [], [[]], ["x"], [None],
    {}, {"a": {}}, {"": [1]}, "ruleset", [1, "a"],
]  # fmt: skip


@pytest.mark.slow
def test_uploads_that_are_refused_say_it_in_words(web: httpx.Client) -> None:
    """A game with any value in any place."""
    rules = load("goofspiel")
    match = Match(rules, bots_of("random", rules, 2), 3)
    while len(match.game.choices) < 4 and match.step():
        pass
    lines: list[str] = []
    write_log(match.game, lines.append)
    saved = [json.loads(line) for line in lines]
    dice = random.Random(5)
    for number, line in enumerate(saved):
        for key in [*line, "settings.tied_prize", "chance", "save", "choices"]:
            for value in dice.sample(VALUES, 8):
                changed = json.loads(json.dumps(saved))
                if key == "settings.tied_prize":
                    changed[number]["settings"] = {"tied_prize": value}
                else:
                    changed[number][key] = value
                text = "\n".join(json.dumps(each) for each in changed)
                answer = web.post("/load", files={"file": ("x", text)})
                assert answer.status_code in (303, 409)
                if answer.status_code == 303:
                    web.get(answer.headers["location"])
    for text in ("", "{", "[" * 5000, "nonsense", "{}" * 9, '{"log": 1}', "\x00\x1b", HOSTILE, "[1]", "1" * 6000):
        assert web.post("/load", files={"file": ("x", text)}).status_code == 409


def test_actions_that_are_refused_say_it_in_words(served: Served, web: httpx.Client, place: Path) -> None:
    live, links, _ = served.table("bsw-germany", ["person", "person"])
    asked = now(live).decision
    assert asked is not None
    actions = ("point", "choose", "option", "slot", "number", "more", "unpick", "toggle", "moment", "fork", "explain",
               "open", "agree", HOSTILE)  # fmt: skip
    dice = random.Random(3)
    for do in actions:
        for value in dice.sample(VALUES, 5):
            served.hall.views.clear()
            data = dict.fromkeys(("n", "value", "thing", "panel", "choice", "line", "request"), value)
            acted(served, web, links[asked.actor], place, do=do, **data)
            acted(served, web, links[asked.actor], place, do=do, choice={"do": value, "city": value})
    assert live.kept.choices == []


@pytest.mark.parametrize("length", ["²", "9" * 30, "-1", "x", "1e3", ""])
def test_a_length_that_is_none_is_refused(served: Served, length: str) -> None:
    import socket

    host, port = served.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        head = f"POST /load HTTP/1.1\r\nHost: {host}\r\nOrigin: {served.base}\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(head.encode("latin-1"))
        answer = connection.recv(100).decode("latin-1")
    assert re.match(r"HTTP/1\.1 4\d\d ", answer)


# --- folders of the server


def test_no_page_names_a_folder_of_the_server(served: Served, web: httpx.Client, place: Path) -> None:
    """Rulesets, files and programs by their paths: forms, tables, explanations, the rulebook, errors."""
    for address in ("/", "/new/tiny", "/new/goofspiel"):
        web.get(address)
    live, links, watch = served.table("tiny", ["person", "person"])
    served.done(live.choose(0, {"do": "go", "value": 1}))
    for number, _ in served.within(lambda: live.log(0, "en")):
        assert "Close the explanation" in acted(served, web, links[0], place, do="explain", line=number)
    assert "tiny.yaml" in web.get(f"{links[0]}/rules").text
    for address in (f"/host/{live.kept.host}", f"/join/{live.kept.id}", watch):
        web.get(address)


def test_programs_have_names_without_their_folders(served: Served, web: httpx.Client, place: Path) -> None:
    names = [name for name in served.hall.programs if "bot.py" in name]
    assert len(names) == 1
    page = web.get("/new/goofspiel").text
    assert "bot.py said" in page
    live, _, watch = served.table("goofspiel", [f"bot:{names[0]}", "bot:random"])
    web.get(watch)
    until(lambda: len(live.kept.choices) > 2, 60)
    live.stop()
    assert f"bot: {names[0]}" in re.sub(r"\s+", " ", web.get(f"/host/{live.kept.host}").text)
    (missing,) = [name for name in served.hall.programs if "missing" in name]
    live, _, watch = served.table("goofspiel", [f"bot:{missing}", "bot:random"])
    web.get(watch)
    until(lambda: live.note, 60)
    assert "missing" in web.get(watch).text
    full = served.hall.programs[missing]
    assert web.post("/new/goofspiel", data={"players": "1", "seat0": "bot", "bot0": full}).status_code == 409


def test_an_error_of_the_files_names_them_without_folders(web: httpx.Client, served: Served, place: Path) -> None:
    path = place / "rulesets" / "small" / "tiny.yaml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("family: small", f"family: smal\nnote: '{'x' * 9}'"), encoding="utf-8")
        answer = web.get("/new/tiny")
        assert answer.status_code == 409
        assert "tiny.yaml:" in answer.text
    finally:
        path.write_text(text, encoding="utf-8")


def test_a_failed_write_names_no_file(
    served: Served, web: httpx.Client, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, links, _ = served.table("goofspiel", ["person", "person"])

    def full(self: object, changes: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(type(live.store), "_transaction", full)
    assert "disk is full" in acted(served, web, links[0], place, do="choose", choice=first(live, 0))
    assert web.post("/new/goofspiel", data={"players": "2"}).status_code == 409
    monkeypatch.setattr(type(live.store), "_transaction", lambda self, changes: json.loads(HOSTILE))
    assert "cannot be saved" in acted(served, web, links[0], place, do="choose", choice=first(live, 0))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/tmp/x/my rules/deep.d/small/tiny.yaml:12:5: no", "tiny.yaml:12:5: no"),
        ("no file `/home/x y/a.yaml`", "no file `a.yaml`"),
        ("C:\\Users\\Jane Doe\\r\\x.yaml:3", "x.yaml:3"),
        ("'/opt/x/bot' (/srv/t.sqlite)", "'bot' (t.sqlite)"),
        ("power-grid/family.yaml:1:2", "power-grid/family.yaml:1:2"),
        ("x / y / z, a and/or b", "x / y / z, a and/or b"),
        ("https://a.example/c/d.html", "https://a.example/c/d.html"),
    ],
)
def test_folders_are_cut_from_messages(text: str, shown: str) -> None:
    assert without_folders(text) == shown


def test_names_of_programs_and_people() -> None:
    assert program_name("cmd:/usr/bin/node '/my dir/bot.mjs' -x") == "cmd:node bot.mjs -x"
    assert program_name("cmd:2s:./mybot") == "cmd:2s:mybot"
    assert in_one_line(HOSTILE) == "ab[31mcdef"
