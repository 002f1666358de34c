"""Commands in the talk of a table, and tables that gather before they begin."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpreter.sections.seating import COMMANDS as WORDS
from interpreter.serve.archive import Store
from interpreter.serve.commands import COMMANDS, completions
from interpreter.serve.live import Live
from interpreter.serve.words import Refused

from .served import Served, first, forwarded, get, now, post, state_of, until

PAGE = "x" * 20
BOARDS = [f"bsw-{board}" for board in ("usa", "germany", "france", "italy", "baden-wuerttemberg")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("commands") / "tables.sqlite", rulesets=[*BOARDS, "goofspiel"])
    yield running
    running.close()


def say(served: Served, link: str, text: object, **more: str) -> tuple[str, str]:
    """Say something on a page. Return where it leads, and what the page answers to its reader alone."""
    answer = post(f"{link}/act", json={"view": PAGE, "do": "say", "value": text, **more}, headers=forwarded())
    assert answer.status_code == 200, answer.text
    view = served.hall.views[link.rpartition("/")[2], PAGE]
    return answer.json().get("go", ""), str(view.said)


def gathering(served: Served, seats: list[str], ruleset: str = "bsw-usa", **more: str) -> tuple[Live, list[str], str]:
    return served.table(ruleset, seats, gathers="on", **more)


def test_a_page_that_opens_while_the_game_begins_is_that_of_its_seat(served: Served) -> None:
    """Seats get other numbers when open ones are removed; what somebody notes is for nobody else."""
    live, _, _ = gathering(served, ["open", "person", "person"], "goofspiel")
    links = [f"{served.base}/seat/{seat.token}" for seat in live.kept.seats[1:]]
    for link, name in zip(links, ("Anna", "Bert"), strict=True):
        post(f"{link}/act", json={"view": PAGE, "do": "notes", "value": f"notes of {name}"}, headers=forwarded())
    before = len(served.hall.views)

    async def opened() -> list[str]:
        async with live.lock:
            begun = asyncio.create_task(served.hall.regather(live))
            await asyncio.sleep(0)
            pages = [asyncio.create_task(asyncio.to_thread(get, link)) for link in links]
            while len(served.hall.views) < before + len(links):
                await asyncio.sleep(0.01)
        await begun
        return [page.text for page in await asyncio.gather(*pages)]

    pages = served.done(opened())
    assert len(live.kept.seats) == 2
    assert [[name for name in ("Anna", "Bert") if f"notes of {name}" in page] for page in pages] == [["Anna"], ["Bert"]]


def test_a_table_gathers_people_and_options_and_begins_with_those_who_came(served: Served) -> None:
    live, _, watch = gathering(served, ["open", "person", "open", "open", "bot"])
    person = f"{served.base}/seat/{live.kept.seats[1].token}"
    with pytest.raises(Refused):
        served.done(live.choose(now(live).decisions[0].actor, {"do": "pass"}))
    assert (live.turns(), live.is_busy, get(person).text.count('data-value="/start"')) == (set(), False, 1)

    assert say(served, person, "/option map 3") == ("", "")
    assert live.ruleset.id == "bsw-france"
    assert "France" in get(watch).text
    _, why = say(served, person, "/option setmap 11")
    assert (live.kept.header["settings"].get("setmap"), bool(why)) == (None, True)
    assert say(served, person, " /OPTION setmap 000111") == ("", "")
    assert say(served, person, "/option hidden-money no") == ("", "")
    say(served, person, "hello")
    assert live.kept.header["gathers"] == {"overlays": ["-power-grid/hidden-money"], "settings": {"setmap": "000111"}}

    go, _ = say(served, watch, "/join Anna")
    anna = f"{served.base}/seat/{go.rpartition('/')[2]}"
    assert [(seat.kind, seat.name) for seat in live.kept.seats[:2]] == [("person", "Anna"), ("person", "")]
    post(f"{served.base}/join/{live.kept.id}/3", data={"name": "Carl"})
    say(served, f"{served.base}/seat/{live.kept.seats[3].token}", "/option setmap -")
    say(served, f"{served.base}/seat/{live.kept.seats[3].token}", "no two")

    seed = live.kept.header["seed"]
    assert say(served, anna, "/start") == ("", "")
    assert (len(live.kept.seats), live.kept.header["players"]) == (4, 4)
    assert [seat.name for seat in live.kept.seats] == ["Anna", "", "Carl", ""]
    assert [(said.seat, said.text) for said in live.kept.talk] == [(1, "hello"), (2, "no two")]
    assert live.kept.header["seed"] != seed
    assert "gathers" not in live.kept.header
    assert say(served, anna, "/option map 1")[1] == "The game has begun."
    assert live.ruleset.id == "bsw-france"
    for number, seat in enumerate(live.kept.seats):
        assert served.hall.seats[seat.token] == (live.kept.id, number)
    say(served, anna, "off we go")
    tables, damaged = Store(served.hall.store.path).tables()
    (kept,) = (table for table in tables if table.id == live.kept.id)
    assert (damaged, kept.seats, kept.header) == ([], live.kept.seats, live.kept.header)


def test_a_command_is_its_button_and_no_talk(served: Served) -> None:
    live, links, watch = served.table("goofspiel", ["person", "bot"])
    state = state_of(get(links[0]).text)
    assert say(served, links[0], "/hint", state="0" * 12)[1] == say_button(served, links[0], "hint", "0" * 12)
    served.done(live.choose(0, first(live, 0)))
    until(lambda: len(live.kept.choices) == 2)
    assert say(served, links[0], "/undo", state=state)[1] == say_button(served, links[0], "undo", state)
    state = state_of(get(links[0]).text)
    assert say(served, links[0], "/undo", state=state) == ("", "")
    until(lambda: all(line["by"] != 0 for line in live.kept.choices))
    for text in ("/undo", "/hint", "/start", "/option", "/option map 1", "hello"):
        assert say(served, watch, text)[1] in ("Spectators cannot do this.", "It is not your turn.", CHANGED), text
    assert say(served, watch, "/join")[1] == "The host of this table has the links of all seats."
    assert say(served, links[0], "/join Anna")[1] == "You have a seat."
    assert live.kept.talk == []


CHANGED = "The table has changed since this was shown, so nothing was done. Look again, then choose."


def say_button(served: Served, link: str, action: str, state: str) -> str:
    post(f"{link}/act", json={"view": PAGE, "do": action, "state": state})
    return str(served.hall.views[link.rpartition("/")[2], PAGE].said)


def test_a_host_without_a_seat_begins(served: Served) -> None:
    live, _, _ = gathering(served, ["person", "bot", "open"], "goofspiel")
    host = f"{served.base}/host/{live.kept.host}"
    assert f'action="{live.kept.host}/begin"' in get(host).text
    page = served.post(f"/host/{live.kept.host}/begin", [])
    assert (live.gathers, len(live.kept.seats), "/begin" in page) == (False, 2, False)


def test_unknown_words_and_hostile_ones_are_answered_to_the_writer_alone(served: Served) -> None:
    live, links, _ = gathering(served, ["person", "person"])
    before = (dict(live.kept.header), live.version)
    answers = {
        "/strat": "did you mean `/start`?",
        "/option mpa 3": "did you mean `map`?",
        "/option map 6": "`map` has no value `6`",
        "/option map ../../etc/passwd": "has no value",
        "/option __class__ x": "Unknown option",
        "/option setmap <script>": "setmap: type numbers",
        "/option setmap " + "1" * 5000: "setmap: 6 digits, 1 for each region in play",
        "/option counted_for_stage_2 all": "counted for stage 2: type one of ",
        "/option robots maybe": "`robots` has no value `maybe`",
        "/" + "`" * 400: "Unknown command",
        "/": "Unknown command",
        "/option": "`map`: ",
        "/option setmap": "`setmap`: the regions in play",
        "/help": "`/option`: list the options",
    }
    for text, answer in answers.items():
        assert answer in say(served, links[0], text)[1], text
        assert get(links[0]).status_code == 200
    for value in (None, 7, ["/start"], {"/start": 1}):
        post(f"{links[0]}/act", json={"view": PAGE, "do": "say", "value": value})
    assert (dict(live.kept.header), "gathers" in live.kept.header) == (before[0], True)
    assert all(view.said == "" for (token, _), view in served.hall.views.items() if token in links[1])
    assert not any(said.text.startswith("/") for said in live.kept.talk)


def test_completion_lists_what_can_be_typed_now(served: Served) -> None:
    live, links, watch = gathering(served, ["person", "person"])

    def typed(link: str) -> list[str]:
        return get(link).text.split('<datalist id="commands">')[1].split("</datalist>")[0].split('value="')[1:]

    texts = [each.partition('"')[0] for each in typed(links[0])]
    assert {"/start", "/option map 3", "/option hidden-money no", "/option paid_for connected"} < set(texts)
    known = completions(live.ruleset, live.boards, seated=True, gathers=True)
    for text in [text for text, _ in known if text.startswith("/option map ")]:
        assert say(served, links[0], text) == ("", ""), text
    assert [each.partition('"')[0] for each in typed(watch)] == ["/join", "/help"]
    say(served, links[0], "/start")
    assert [each.partition('"')[0] for each in typed(links[0])] == ["/undo", "/hint", "/help"]
    assert {*COMMANDS, "map"} == set(WORDS)


def test_a_gathering_is_kept_with_the_table(tmp_path: Path) -> None:
    running = Served(tmp_path / "tables.sqlite")
    try:
        live, links, _ = gathering(running, ["person", "open"], clock="game", minutes="5")
        say(running, links[0], "/option map italy")
        id = live.kept.id
    finally:
        running.close()
    again = Served(tmp_path / "tables.sqlite")
    try:
        link = links[0].replace(links[0].partition("/seat")[0], again.base)
        assert "/option map 3" in get(link).text
        assert "players" in say(again, link, "/start")[1]
        kept: Any = again.hall.kept[id]
        post(f"{again.base}/join/{id}/1", data={"name": "B"})
        say(again, link, "/start")
        assert (kept.header["ruleset"], kept.header["clock"]["seconds"]) == ("bsw-italy", 300)
        assert again.hall.lives[id].left(again.hall.lives[id].game.decisions[0].actor) is not None
    finally:
        again.close()
