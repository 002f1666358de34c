"""The archive and the memory of a server: full servers, idle tables, damaged rows, rules that fail on a page."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.serve.archive import Store, StoreError
from interpreter.serve.hall import Hall
from interpreter.serve.live import Live
from interpreter.serve.watching import Watch
from interpreter.serve.words import Refused
from tests.serve.served import Served, first, get, post, state_of, until
from tests.small import write
from tests.support import ENVELOPES

A_DAY = 86_400.0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("archive") / "tables.sqlite", rulesets=["goofspiel", "bsw-germany"])
    yield running
    running.close()


def choose(served: Served, live: Live, seat: int) -> None:
    served.done(live.choose(seat, first(live, seat)))


def act_of(link: str, **data: Any) -> httpx.Response:
    page = get(link).text
    view = re.findall(r'data-view="([^"]+)"', page)[0]
    return post(f"{link}/act", json={"view": view, "state": state_of(page), **data})


# --- a full server


def test_a_full_server_forgets_the_table_that_was_idle_longest(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if somebody has chosen there, and however old the tables are."""
    tables = [served.table("goofspiel", ["person", "bot:random"]) for _ in range(3)]
    for live, *_ in tables:
        choose(served, live, 0)
    monkeypatch.setattr("interpreter.serve.hall.MOST_TABLES", len(served.hall.kept))
    for kept in served.hall.kept.values():
        kept.created -= 3 * A_DAY  # old, and played a moment ago
    with pytest.raises(urllib.error.HTTPError):
        served.table("goofspiel", ["person", "bot"])
    tables[1][0].kept.changed -= 2 * A_DAY
    tables[0][0].kept.changed -= 1.5 * A_DAY
    before = len(served.hall.kept)
    served.table("goofspiel", ["person", "bot"])
    assert len(served.hall.kept) == before
    assert [get(links[0]).status_code for _, links, _ in tables] == [200, 404, 200]
    served.table("goofspiel", ["person", "bot"])
    assert [get(links[0]).status_code for _, links, _ in tables] == [404, 404, 200]


def test_the_limit_of_tables_holds_for_those_that_come_at_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    most = len(served.hall.kept) + 2
    monkeypatch.setattr("interpreter.serve.hall.MOST_TABLES", most)

    async def begun() -> list[object]:
        tables = (served.hall.begin("goofspiel", [("person", ""), ("open", "")]) for _ in range(12))
        return await asyncio.gather(*tables, return_exceptions=True)

    found = served.done(begun())
    assert sum(isinstance(each, Refused) for each in found) == 10
    assert len(served.hall.kept) == most


def test_the_time_of_the_last_choice_is_kept(tmp_path: Path) -> None:
    running = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    live, *_ = running.table("goofspiel", ["person", "person"])
    with sqlite3.connect(tmp_path / "tables.sqlite") as connection:
        connection.execute("update tables set created = 5, changed = 5")
    running.done(live.choose(0, first(live, 0)))
    running.close()
    store = Store(tmp_path / "tables.sqlite")
    ((kept,), damaged) = store.tables()
    store.close()
    assert (kept.created, damaged) == (5, [])
    assert abs(kept.changed - time.time()) < 60


def test_a_write_that_nobody_waits_for_any_more_is_done_and_holds_up_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite")

    async def written() -> None:
        slow = asyncio.create_task(store.write(lambda connection: time.sleep(0.2)))
        given_up = asyncio.create_task(
            store.write(lambda connection: connection.execute("insert into about values (2)"))
        )
        await asyncio.sleep(0.05)
        slow.cancel()
        given_up.cancel()
        await asyncio.wait_for(store.write(lambda connection: None), 5)

    asyncio.run(written())
    store.close()
    with sqlite3.connect(tmp_path / "tables.sqlite") as connection:
        assert connection.execute("select count(*) from about").fetchone() == (2,)


# --- idle tables


def test_an_idle_table_leaves_memory_and_is_there_again_when_asked_for(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, watch = served.table("goofspiel", ["person", "person"])
    choose(served, live, 0)
    get(watch)
    before = served.within(live.game.digest)
    served.within(served.hall.tidy)
    assert live.kept.id in served.hall.lives  # somebody was there a moment ago
    monkeypatch.setattr("interpreter.serve.hall.MOST_IDLE", -1.0)
    served.within(served.hall.tidy)
    assert live.kept.id not in served.hall.lives
    assert live.kept.choices == []
    assert not any(view.live is live for view in served.hall.views.values())
    monkeypatch.undo()
    assert "player 1 " in get(watch).text
    resumed = served.hall.lives[live.kept.id]
    assert resumed is not live
    assert served.within(resumed.game.digest) == before
    choose(served, resumed, 1)
    assert len(live.kept.choices) == 2


def test_a_table_with_a_listener_or_a_bot_that_plays_stays(served: Served) -> None:
    listened, links, _ = served.table("goofspiel", ["person", "person"])
    playing, *_ = served.table("goofspiel", ["person", "bot:random"])
    playing.pace = 30.0
    choose(served, playing, 0)
    page = get(links[0]).text
    id = re.findall(r'data-view="([^"]+)"', page)[0]
    view = served.hall.views[links[0].rsplit("/", 1)[1], id]
    with httpx.stream("GET", f"{links[0]}/events?view={id}") as stream:
        next(stream.iter_lines())
        listened.used = playing.used = -10_000.0
        served.within(served.hall.tidy)
        assert {listened.kept.id, playing.kept.id} <= served.hall.lives.keys()
    view.last = -10_000.0
    served.within(playing.stop)
    until(lambda: not playing.is_busy)
    served.within(served.hall.tidy)
    assert not {listened.kept.id, playing.kept.id} & served.hall.lives.keys()


def test_a_server_that_starts_keeps_only_tables_in_memory_on_which_bots_play(tmp_path: Path) -> None:
    running = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    live, *_ = running.table("goofspiel", ["bot:random", "person"])
    until(lambda: len(live.kept.choices) == 1)
    running.close()
    with sqlite3.connect(tmp_path / "tables.sqlite") as connection:
        connection.execute("delete from choices")
    again = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    try:

        def choices() -> int:
            with sqlite3.connect(tmp_path / "tables.sqlite") as connection:
                return int(connection.execute("select count(*) from choices").fetchone()[0])

        until(lambda: choices() == 1)  # it was the bot's turn
        for _ in range(3):
            again.done(again.hall.take_up())
        again.within(again.hall.tidy)
        assert list(again.hall.kept) == [live.kept.id]
    finally:
        again.close()
    third = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    try:
        third.done(third.hall.take_up())  # the person's turn
        assert third.hall.lives == {}
    finally:
        third.close()


def test_choices_that_the_rules_no_longer_allow_are_replaced_by_the_next(served: Served) -> None:
    """Also after the table was out of memory in between."""
    live, *_ = served.table("goofspiel", ["person", "person"])
    for seat in (0, 1, 0):
        choose(served, live, seat)
    path = served.hall.store.path
    with sqlite3.connect(path) as connection:
        connection.execute(
            "update choices set line = replace(line, '\"value\": 1', '\"value\": 77') where game = ? and number = 1",
            (live.kept.id,),
        )
    for _ in range(2):
        served.within(lambda: served.hall._leave(served.hall.lives[live.kept.id]))
        resumed = served.done(served.hall.live(live.kept.id))
        assert len(resumed.kept.choices) == 1
        assert "choice 2 is no longer possible" in str(resumed.taken_back)
    choose(served, resumed, 1)
    served.within(lambda: served.hall._leave(resumed))
    resumed = served.done(served.hall.live(live.kept.id))
    assert (len(resumed.kept.choices), resumed.taken_back) == (2, None)


# --- damaged rows

DAMAGE: dict[str, str] = {
    "a byte in a header": "update tables set header = cast(x'ff' || header as text) where id = :id",
    "a header that is no JSON": "update tables set header = '{' where id = :id",
    "a header of something else": "update tables set header = '{\"log\": 7}' where id = :id",
    "a header that is data": "update tables set header = x'00ff' where id = :id",
    "a deep header": "update tables set header = replace(hex(zeroblob(50000)), '00', '[') where id = :id",
    "a header of fewer players": "update tables set header = replace(header, '\"players\": 2', '\"players\": 1') "
    "where id = :id",
    "a header of too many players": "update tables set header = replace(header, '\"players\": 2', "
    "'\"players\": 2000000000') where id = :id",
    "a title with a byte": "update tables set title = cast(x'e28082ff' as text) where id = :id",
    "an unknown audience": "update tables set audience = 'everybody' where id = :id",
    "a time that is none": "update tables set changed = 'yesterday' where id = :id",
    "an id with a byte": "update tables set id = cast(x'ff' as text) where id = :id",
    "a lost seat": "delete from seats where game = :id and seat = 0",
    "a seat twice": "update seats set seat = 5 where game = :id and seat = 0",
    "a seat of no kind": "update seats set kind = 'king' where game = :id and seat = 0",
    "a name with a byte": "update seats set name = cast(x'ff' as text) where game = :id and seat = 0",
    "a choice that is no JSON": "update choices set line = '{\"by\": 0' where game = :id and number = 1",
    "a choice that is a number": "update choices set line = '7' where game = :id and number = 1",
    "a choice with a byte": "update choices set line = cast(x'7bff' as text) where game = :id and number = 1",
    "a choice by nobody": "update choices set line = replace(line, '\"by\": 1', '\"by\": 9') where game = :id "
    "and number = 1",
    "a choice without its seat": 'update choices set line = \'{"do": "play"}\' where game = :id and number = 0',
    "a lost choice": "delete from choices where game = :id and number = 0",
    "a choice too far": "update choices set number = 5 where game = :id and number = 1",
    "an end as a choice": "update choices set line = '{\"places\": [1, 2]}' where game = :id and number = 1",
    "a seat without table": "update seats set game = 'nowhere' where game = :id and seat = 0",
    "a choice without table": "update choices set game = 'nowhere' where game = :id and number = 1",
    "a table without row": "delete from tables where id = :id",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[str]]:
    """An archive of three tables, with their ids and the links of their first seats."""
    path = tmp_path_factory.mktemp("sound") / "tables.sqlite"
    running = Served(path, rulesets=[ENVELOPES])
    tables = [running.table("envelopes", ["person", "bot:random"]) for _ in range(3)]
    for live, *_ in tables:
        running.done(live.choose(0, first(live, 0)))
        until(lambda live=live: len(live.kept.choices) == 2)  # type: ignore[misc]
    running.close()
    return path, [live.kept.id for live, *_ in tables], [links[0].removeprefix(running.base) for _, links, _ in tables]


def damaged(sound: Path, path: Path, change: str, id: str) -> None:
    source, target = sqlite3.connect(sound), sqlite3.connect(path)
    source.backup(target)
    source.close()
    with target:
        target.execute("pragma ignore_check_constraints = on")
        target.execute(change, {"id": id})
    target.close()


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_row_puts_its_table_aside_and_no_other(
    sound: tuple[Path, list[str], list[str]], tmp_path: Path, what: str
) -> None:
    path, ids, links = sound
    damaged(path, tmp_path / "tables.sqlite", DAMAGE[what], ids[1])
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES])
    try:
        assert running.hall.damaged
        named = {each.id for each in running.hall.damaged}
        assert named <= {ids[1], "nowhere", "�"}
        assert all(each.why for each in running.hall.damaged)
        answers = [get(f"{running.base}{link}") for link in links]
        assert [answer.status_code for answer in answers][::2] == [200, 200]
        assert answers[1].status_code in ((404, 409) if what != "a choice without table" else (200,))
        if answers[1].status_code == 409:
            assert "damaged and was put aside" in answers[1].text
            assert get(f"{running.base}/join/{ids[1]}").status_code in (404, 409)
        for link in links[::2]:
            page = get(f"{running.base}{link}").text
            live = next(each for each in running.hall.lives.values() if link.endswith(each.kept.seats[0].token))
            before = len(live.kept.choices)
            act_of(f"{running.base}{link}", do="choose", choice=first(live, 0))
            until(lambda live=live, before=before: len(live.kept.choices) == before + 2)  # type: ignore[misc]
            assert state_of(page)
        running.table("envelopes", ["person", "bot:random"])
        assert get(running.base).status_code == 200
        assert running.errors == []
    finally:
        running.close()


def test_the_rows_of_a_damaged_table_stay(sound: tuple[Path, list[str], list[str]], tmp_path: Path) -> None:
    """So that whoever knows what is wrong can mend them."""
    path, ids, links = sound
    copy = tmp_path / "tables.sqlite"
    damaged(path, copy, DAMAGE["a choice that is no JSON"], ids[1])
    with sqlite3.connect(copy) as connection:
        rows = connection.execute("select * from choices order by game, number").fetchall()
    running = Served(copy, rulesets=[ENVELOPES])
    running.close()
    with sqlite3.connect(copy) as connection:
        assert connection.execute("select * from choices order by game, number").fetchall() == rows
        connection.execute("delete from choices where game = ? and number = 1", (ids[1],))
    again = Served(copy, rulesets=[ENVELOPES])
    try:
        assert again.hall.damaged == []
        assert get(f"{again.base}{links[1]}").status_code == 200
    finally:
        again.close()


@pytest.mark.parametrize(
    "change",
    [
        'update choices set line = \'{"by": 0, "do": ["play"], "value": 1}\' where game = :id and number = 0',
        'update choices set line = \'{"by": 0, "do": "play", "value": {"a": []}}\' where game = :id and number = 0',
        'update tables set header = replace(header, \'"settings": {\', \'"settings": {"x": [[]], \') where id = :id',
        'update tables set header = replace(header, \'"players"\', \'"chance": {"prizes": 7}, "players"\') '
        "where id = :id",
        "update tables set header = replace(header, 'envelopes\"', 'nothing\"') where id = :id",
        "update tables set header = replace(header, '\"seed\": ', '\"seed\": 1e') where id = :id",
    ],
)
def test_a_table_that_cannot_be_played_again_says_so_and_stops_no_other(
    sound: tuple[Path, list[str], list[str]], tmp_path: Path, change: str
) -> None:
    path, ids, links = sound
    damaged(path, tmp_path / "tables.sqlite", change, ids[0])
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES])
    try:
        running.done(running.hall.take_up())
        answers = [get(f"{running.base}{link}") for link in links]
        assert [answer.status_code for answer in answers][1:] == [200, 200]
        assert answers[0].status_code == 409 or "no longer possible" in answers[0].text
        for word in ("Traceback", "object", "unhashable", "TypeError", "KeyError"):
            assert word not in answers[0].text
        assert running.errors == []
    finally:
        running.close()


def test_a_file_that_is_no_archive_is_refused_as_a_whole(
    sound: tuple[Path, list[str], list[str]], tmp_path: Path
) -> None:
    path, *_ = sound
    damaged(path, tmp_path / "tables.sqlite", "select :id", "")
    data = bytearray((tmp_path / "tables.sqlite").read_bytes())
    data[4096:] = b"\x77" * (len(data) - 4096)
    (tmp_path / "tables.sqlite").write_bytes(bytes(data))
    with pytest.raises(StoreError):
        Hall(Store(tmp_path / "tables.sqlite"), sources=["goofspiel"])


@pytest.mark.slow
def test_a_damaged_page_of_the_file_stops_no_table_that_is_not_on_it(
    sound: tuple[Path, list[str], list[str]], tmp_path: Path
) -> None:
    """Whichever page it is: the server starts with the other tables, or refuses the file with a reason."""
    path, *_ = sound
    damaged(path, tmp_path / "sound.sqlite", "select :id", "")
    data, copy = (tmp_path / "sound.sqlite").read_bytes(), tmp_path / "tables.sqlite"
    found = []
    for start in range(4096, len(data), 4096):
        copy.write_bytes(data[:start] + b"\x77" * 4096 + data[start + 4096 :])
        try:
            store = Store(copy)
        except StoreError:
            found.append(0)
            continue
        try:
            tables, aside = store.tables()
        except StoreError:
            found.append(0)
        else:
            assert len(tables) == 3 or aside or not tables
            found.append(len(tables))
        finally:
            store.close()
    assert len(found) > 6
    assert max(found) == 3


def test_the_command_names_damaged_tables(
    sound: tuple[Path, list[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from interpreter.cli.main import cli

    path, ids, _ = sound
    damaged(path, tmp_path / "tables.sqlite", DAMAGE["a choice that is no JSON"], ids[1])
    monkeypatch.setattr("interpreter.cli.commands.serve.run", lambda *values, **named: None)
    result = CliRunner().invoke(cli, ["serve", "goofspiel", "--no-browser", "--data", str(tmp_path / "tables.sqlite")])
    assert result.exit_code == 0, result.output
    assert f"the table {ids[1]} is damaged and was put aside: line 3 is not a line" in result.output


# --- rules that fail on a page

FAILING = {
    "a prompt": ("choose worry by seats[1]:\n  stay\n  go", 'asks: {worry: "{actor} worries about {row[amount]}"}\n'),
    "a context": (
        "choose worry(about = row[amount]) by seats[1]:\n  stay",
        'asks: {worry: "{actor} worries about {about}"}\n',
    ),
    "a value": ("choose worry by each s in seats, at once:\n  stay value in 0 .. row[s.number]", ""),
    "a condition": ("choose worry by each s in seats, at once:\n  stay if row[s.number] == 3", ""),
    "a line of the log": ("choose worry by seats[1]:\n  stay\n  go", 'says: {start.go: "begins with {[5][value]}"}\n'),
}


@pytest.mark.parametrize("what", FAILING)
def test_rules_that_fail_on_a_page_are_told_there_and_can_be_undone(tmp_path: Path, what: str) -> None:
    """The seats concerned see the error; whoever has chosen before can undo."""
    worry, sections = FAILING[what]
    act = f"choose start by seats[0]:\n  go value in 0 .. 1:\n    add 3 to row\n{worry}\nend game"
    small = write(tmp_path / "rulesets", act, sections=sections)
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(small)])
    try:
        live, links, watch = running.table("tiny", ["person", "person"])
        running.done(live.choose(0, {"do": "go", "value": 1}))
        seen = []
        for link in (*links, watch):
            page = get(link)
            assert page.status_code == 200
            shown = re.sub(r"\s+", " ", page.text)
            seen.append("The rules fail here" in shown)
            assert "Waiting for other players" not in shown or not seen[-1]
        assert seen == [True] * 3 if what not in ("a value", "a condition") else [False, True, False]
        with httpx.stream("GET", f"{links[1]}/events?view={'v' * 20}") as stream:
            data = next(line for line in stream.iter_lines() if line.startswith("data:"))
        notice = json.loads(data.removeprefix("data:"))["pieces"]["notice"]
        assert "R001 in" in notice
        assert "there is no item" not in notice  # a message can quote what is hidden; who plays alone reads it in full
        assert act_of(links[1], do="hint").status_code == 200
        assert act_of(links[1], do="list").status_code == 200
        assert act_of(links[0], do="undo").status_code == 200
        if live.asking is not None:
            assert 'data-do="agree"' in get(links[1]).text
            assert act_of(links[1], do="agree", yes="1", request=live.request).status_code == 200
        assert live.kept.choices == []
        assert all("The rules fail here" not in get(link).text for link in (*links, watch))
        assert running.errors == []
    finally:
        running.close()


def test_rules_that_fail_when_a_bot_chooses_hold_the_table_until_an_undo(tmp_path: Path) -> None:
    worry, _ = FAILING["a value"]
    act = f"choose start by seats[0]:\n  go value in 0 .. 1:\n    add 3 to row\n{worry}\nend game"
    small = write(tmp_path / "rulesets", act)
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(small)])
    try:
        live, links, _ = running.table("tiny", ["person", "bot:random"])
        for _ in range(2):
            running.done(live.choose(0, {"do": "go", "value": 1}))
            until(lambda: "The table waits" in live.note)
            assert "there is no item" in get(links[0]).text
            assert act_of(links[0], do="undo").status_code == 200
            assert live.kept.choices == []
        assert running.errors == []
    finally:
        running.close()


def test_a_table_that_cannot_go_on_with_changed_rules_stops_no_other(tmp_path: Path) -> None:
    """Its files are wrong for its number of players, or its game cannot be saved: it says so, the others go on."""
    small = write(tmp_path / "rulesets", "choose start by seats[0]:\n  go\n  stay\nend game")
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(small)])
    try:
        tables = [running.table("tiny", ["person", "person"]) for _ in range(3)]
        watch = Watch(running.hall)
        running.done(watch.follow())
        reasons = iter(
            [RulesetError([Diagnostic("E031", "unknown overlay `x`", None)]), StoreError("disk is full"), None]
        )
        for live, *_ in tables:
            if (reason := next(reasons)) is not None:
                live.go_on_with = AsyncMock(side_effect=reason)  # type: ignore[method-assign]
        running.done(live.choose(0, {"do": "go"}))
        write(tmp_path / "rulesets", "choose start by seats[0]:\n  stay\nend game")
        running.done(watch.changed({str(path) for path in (tmp_path / "rulesets").rglob("*.yaml")}))
        pages = [get(links[0]).text for _, links, _ in tables]
        assert "unknown overlay" in pages[0]
        assert "disk is full" in pages[1]
        assert "choice 1 is no longer possible" in pages[2]
        assert running.errors == []
    finally:
        running.close()


def test_a_watch_follows_rulesets_offered_later_and_the_overlays_of_tables_begun_later(tmp_path: Path) -> None:
    """It is told of files, or looks itself. A table whose rules are the same is left alone."""
    running = Served(tmp_path / "tables.sqlite", rulesets=[ENVELOPES], watch=[])
    try:
        small, overlay = write(tmp_path / "rulesets"), tmp_path / "rulesets" / "small" / "overlays" / "more.yaml"
        overlay.parent.mkdir()
        text = "language: 2\noverlay: small/more\ntitle: More\nover: [small]\n"
        text += "rules:\n  act:\n    replaces: small\n    does: |\n      choose start by seats[0]:\n"
        rest = "        wait\n      end game\n"
        overlay.write_text(f"{text}        go\n{rest}")
        watch = Watch(running.hall)
        assert running.within(lambda: running.hall.offer(str(small))).title == "Tiny"
        live, *_ = running.table("tiny", ["person", "person"], overlay="small/more")
        running.done(watch.follow())
        state = live.state_of(0)
        running.done(watch.changed({str(small)}))
        assert live.state_of(0) == state
        overlay.write_text(f"{text}        stay\n{rest}")
        running.done(watch.changed({str(tmp_path / "another.yaml")}))
        assert first(live, 0) == {"do": "go"}
        running.done(watch.changed({str(overlay)}))
        assert first(live, 0) == {"do": "stay"}
        assert running.loop is not None
        looking = asyncio.run_coroutine_threadsafe(watch.run(), running.loop)
        later, *_ = running.table("tiny", ["person", "person"], overlay="small/more")
        time.sleep(0.3)
        overlay.write_text(f"{text}        leave\n{rest}")
        until(lambda: first(later, 0) == first(live, 0) == {"do": "leave"})
        looking.cancel()
        assert running.errors == []
    finally:
        running.close()
