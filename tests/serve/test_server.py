"""The server without a browser: what a seat is told, taking back, security, faults, live editing."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import otherwise
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import lines_since
from interpreter.loading.load import load
from interpreter.play.game_records import SavedGame, read_saved_game, replay_game, replaying, ruleset_of
from interpreter.play.match import Match
from interpreter.serve.archive import Store
from interpreter.serve.live import PUBLIC, Live
from interpreter.serve.table_page import View, coded
from interpreter.serve.web import STATIC
from tests.bots.test_command import PROGRAM
from tests.looks import shown_apart
from tests.serve.served import Served, first, get, now, post, state_of, until
from tests.small import FAMILY, loaded, write
from tests.support import ENVELOPES


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("serve") / "tables.sqlite")
    yield running
    running.close()


def choose(served: Served, live: Live, seat: int, number: int = 0) -> None:
    decision = now(live).decision_of(seat)
    assert decision is not None
    served.done(live.choose(seat, decision.options[number].as_dict()))


# --- only your own


def everything(served: Served, live: Live, seat: int, moment: int | None = None) -> str:
    """All that the page of a seat is sent of how things stand, with every window and the list open; now, or as it looks
    back."""
    view = View(live, seat, moment=moment)
    view.listing = view.all_lines = True
    for panel in live.ruleset.model.panels:
        view.open[panel.name] = True
    pieces = view.pieces()
    del pieces["log"]  # of what has happened already
    return json.dumps(pieces, sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "ruleset", "players"),
    [("sealed", ENVELOPES, 3), ("served", "goofspiel", 3), ("served", "bsw-germany", 3), ("served", "outpost", 4)],
    ids=["sealed", "goofspiel", "bsw-germany", "outpost"],
)
@pytest.mark.parametrize("choices", [0, 7, 20])
def test_what_is_hidden_changes_no_byte_of_what_a_seat_is_sent(
    request: pytest.FixtureRequest, server: str, ruleset: str, players: int, choices: int
) -> None:
    """The hidden things of the game lie otherwise; what each seat and the spectators get is the same, byte by byte, now
    and for a moment of the past."""
    served: Served = request.getfixturevalue(server)
    live, _ = served.moment(ruleset, players, lambda game: len(game.choices) >= choices)
    for seat in (*range(players), PUBLIC):
        before = everything(served, live, seat), everything(served, live, seat, choices // 2)
        game = live.game
        live.game = otherwise(game, seat, random.Random(4).randrange)
        if choices // 2 in live.past:
            live.past[choices // 2] = otherwise(live.past[choices // 2], seat, random.Random(5).randrange)
        try:
            after = everything(served, live, seat), everything(served, live, seat, choices // 2)
        finally:
            live.game = game
            live.past.clear()
        assert before == after


@pytest.mark.parametrize(
    ("ruleset", "players"),
    [(ENVELOPES, 3), ("goofspiel", 3), ("bsw-germany", 3), ("outpost", 4)],
    ids=["sealed", "goofspiel", "bsw-germany", "outpost"],
)
def test_what_is_hidden_changes_no_line_of_the_log_that_a_seat_reads(ruleset: str, players: int) -> None:
    """A game and one in which hidden things lie otherwise go on with the same choices: as long as a seat sees the same,
    it reads the same."""
    rules = load(ruleset)
    compared = 0
    for seat in range(players):
        draw = random.Random(seat).randrange
        match = Match(rules, bots_of("random", rules, players), 5)
        while len(match.game.choices) < 12 and match.step():
            pass
        mine, theirs = match.game.clone(), otherwise(match.game, seat, draw)
        for _ in range(30):
            asked = mine.decision
            if asked is None or theirs.decision is None:
                break
            fitting = [option for option in asked.options if theirs.accepts(option.as_dict())]
            if not fitting:
                break
            choice = fitting[draw(len(fitting))].as_dict()
            mine.apply(choice)
            theirs.apply(choice)
            if shown_apart(mine, theirs, seat) is not None:
                break
            here = lines_since(mine.table, mine.state, 0, seat)
            there = lines_since(theirs.table, theirs.state, 0, seat)
            assert [line.text for line in here] == [line.text for line in there]
            compared += 1
    assert compared > players


@pytest.mark.parametrize(("server", "ruleset"), [("sealed", "envelopes"), ("served", "goofspiel")])
def test_a_bid_is_told_to_nobody_else(request: pytest.FixtureRequest, server: str, ruleset: str) -> None:
    running: Served = request.getfixturevalue(server)
    live, links, watch = running.table(ruleset, ["person"] * 3)
    choose(running, live, 0, 8)
    for link in (links[1], watch):
        page = get(link).text
        assert "bids 9" not in page
        assert "player 1 has chosen" in page or "player 1 chooses" in page or "player 1: chooses" in page
    assert "player 1 bids 9" in get(links[0]).text


@pytest.mark.parametrize("ruleset", ["goofspiel", "outpost", "germany-2018"])
def test_prompts_and_log_call_a_seat_by_its_name(served: Served, ruleset: str) -> None:
    live, links, _ = served.table(ruleset, ["person"] * 3, name0="Ann\u202e", name1="Ben", name2="Cid")
    for _ in range(4):
        asked = now(live).decision
        assert asked is not None
        name = ("Ann", "Ben", "Cid")[asked.actor]
        page = get(links[asked.actor]).text
        assert f"{name}: " in page
        assert not re.search(r"player [123]", page)
        choose(served, live, asked.actor)
    assert re.search(r"(Ann|Ben|Cid) (bids|offers|chooses|has chosen)", get(links[0]).text)
    served.done(live.take(0, "person", name="Dora"))
    assert "Ann" not in get(links[0]).text
    assert "Dora" not in served.done(live.text())


# --- programs at the table


def test_a_program_plays_at_a_table_and_runs_on_between_its_choices(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PROGRAM, encoding="utf-8")
    program = f"cmd:{sys.executable} {tmp_path / 'bot.py'} {tmp_path / 'said'}"
    running = Served(tmp_path / "tables.sqlite", programs=[program])
    try:
        (name,) = running.hall.programs
        live, _, watch = running.table("goofspiel", [f"bot:{name}", "bot:random"])
        get(watch)
        until(lambda: live.game.is_over, 60)
    finally:
        running.close()
    said = [json.loads(line) for line in (tmp_path / "said").read_text(encoding="utf-8").splitlines()]
    methods = [each["method"] for each in said]
    assert (methods.count("hello"), methods.count("begin"), methods.count("choose")) == (1, 1, 13)
    assert all(each["params"]["log"] for each in said if each["method"] == "choose")


def test_a_program_that_fails_holds_its_table_until_somebody_else_sits_down(tmp_path: Path) -> None:
    running = Served(tmp_path / "tables.sqlite", programs=["cmd:true"])
    try:
        live, _, watch = running.table("goofspiel", ["bot:cmd:true", "bot:random"])
        get(watch)  # bots do not play for nobody
        until(lambda: "ended before it answered" in live.note, 60)
        running.done(live.take(0, "bot", "random"))
        until(lambda: live.game.is_over)
    finally:
        running.close()


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ('{"id": N, "result": {"option": 99}}', "chose no option"),
        ("my hand is 9", "answered `hello` with no JSON"),
        ('{"id": "my hand is 9"}', "answered `hello` without its id 1"),
        ('{"id": N, "error": "my hand is 9"}', "refused `hello`"),
        ('{"id": N, "result": {"wants": ["my hand is 9"]}}', 'wants something else than ["view", "log"]'),
    ],
)
def test_what_a_program_says_is_not_for_other_people(answer: str, end: str, tmp_path: Path) -> None:
    """It sees the hand of its seat, and its maker may have it print that."""
    lines = f"for n in range(1, 9):\n    input()\n    print({answer!r}.replace('N', str(n)), flush=True)\n"
    (tmp_path / "bot.py").write_text(lines)
    running = Served(tmp_path / "tables.sqlite", programs=[f"cmd:{sys.executable} {tmp_path / 'bot.py'} 'a: b'"])
    try:
        (name,) = running.hall.programs
        live, _, watch = running.table("goofspiel", [f"bot:{name}", "person", "person"])
        get(watch)
        until(lambda: live.note, 60)
        assert str(live.note) == f"The table waits: the bot `{name}` {end}"
    finally:
        running.close()


# --- taking back


def test_a_choice_is_taken_back_at_once_while_nothing_has_followed(served: Served) -> None:
    live, _, _ = served.table("bsw-germany", ["person", "person"])
    first = now(live).decision
    assert first is not None
    choose(served, live, first.actor)
    assert len(live.kept.choices) == 1
    served.done(live.undo(first.actor))
    assert live.kept.choices == []
    assert now(live).digest() == served.within(live.game.digest)


def test_paying_from_hidden_money_tells_nothing_new(served: Served) -> None:
    def holds(game: Game) -> bool:
        asked = game.decision
        return asked is not None and asked.name == "build" and len(asked.options) > 4

    live, _ = served.moment("bsw-germany", 3, holds)
    asked = now(live).decision
    assert asked is not None
    before = len(live.kept.choices)
    choose(served, live, asked.actor)
    served.done(live.undo(asked.actor))
    assert len(live.kept.choices) == before


def test_a_choice_after_which_somebody_has_chosen_needs_consent(served: Served) -> None:
    live, links, _ = served.table("bsw-germany", ["person", "person"])
    first = now(live).decision
    assert first is not None
    choose(served, live, first.actor)
    other = now(live).decision
    assert other is not None
    assert other.actor != first.actor
    choose(served, live, other.actor)
    served.done(live.undo(first.actor))
    assert len(live.kept.choices) == 2
    waiting = "Waiting for the others to agree to the undo."
    assert [waiting in get(links[seat]).text for seat in (first.actor, other.actor)] == [True, False]
    served.done(live.agree(other.actor, yes=False))
    assert len(live.kept.choices) == 2
    assert waiting not in get(links[first.actor]).text
    served.done(live.undo(first.actor))
    served.done(live.agree(other.actor, yes=True))
    assert live.kept.choices == []
    assert now(live).digest() == served.within(live.game.digest)


def test_the_last_bid_that_turns_up_the_next_prize_needs_consent(served: Served) -> None:
    live, _, _ = served.table("goofspiel", ["person", "person"])
    choose(served, live, 0)
    choose(served, live, 1)
    served.done(live.undo(1))
    assert len(live.kept.choices) == 2
    assert live.asking is not None


def test_a_guess_at_a_hidden_number_is_never_taken_back_without_consent(tmp_path: Path) -> None:
    """Whether it was right or wrong, the others are asked: what the server asks tells nothing, either."""
    hidden = "kinds: {colour: [red, blue], step: 1..3, percent: 1..100}"
    family = FAMILY.replace("kinds: {colour: [red, blue], step: 1..3}", hidden)
    act = "choose guess by seats[0]:\n  say number in 1 .. 100:\n    if number == secret:\n      amount = 2\n  stop\n"
    family = family.replace(
        "  amount: {value", "  secret: {value: percent, start: 37, seen: no one}\n  amount: {value", 1
    )
    path = write(tmp_path, f"{act}choose next by seats[0]:\n  stop", family=family)
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(path)])
    try:
        live, _, _ = running.table("tiny", ["person", "person"])
        for number in range(100):
            choose(running, live, 0, number)
            running.done(live.undo(0))
            assert live.asking is not None, number
            assert live.asking is not None
            running.done(live.agree(1, yes=True))
            assert live.kept.choices == []
        choose(running, live, 0, 100)
        running.done(live.undo(0))
        assert live.asking is None
    finally:
        running.close()


# --- playing ahead

BEFORE = "played before"


def play_ahead(served: Served, live: Live) -> None:
    """Let seat 0 bid, see the next prize, and take the bid back."""
    before = len(live.kept.choices)
    choose(served, live, 0)
    until(lambda: len(live.kept.choices) > before + 1)
    served.done(live.undo(0))
    assert len(live.kept.choices) == before


def test_lines_of_the_log_that_read_as_one_are_one(served: Served) -> None:
    """Each part can still be asked about, and undo takes the last away again."""
    live, links, _ = served.table("germany-2018", ["person", "person", "person"])

    def told() -> list[list[tuple[str, str]]]:
        lines = re.findall(r'<li class="choice">(.*?)</li>', get(links[0]).text)
        return [re.findall(r'id="line-([0-9-]+)" .*?<bdi>(.*?)</bdi>', line) for line in lines]

    actors = []
    for _ in range(3):
        decision = now(live).decision
        assert decision is not None
        actors.append(decision.actor)
        choose(served, live, decision.actor)
    first, second, third = (f"player {actor + 1}" for actor in actors)
    offer, bid, last = (text.partition(" for")[0] for [(_, text)] in [[part] for part in told()[0]])
    assert (offer.startswith(f"{first} offers"), bid.startswith(second), last.startswith(third)) == (True, True, True)
    assert [number for number, _ in told()[0]] == ["1", "2", "3"]
    served.done(live.undo(actors[-1]))
    assert [number for number, _ in told()[0]] == ["1", "2"]


def test_who_joins_is_told_that_a_player_has_seen_what_comes(sealed: Served) -> None:
    """Prizes are turned up in the same order again."""
    live, links, watch = sealed.table("envelopes", ["person", "bot:random"])
    play_ahead(sealed, live)
    assert BEFORE not in get(links[0]).text  # who plays alone knows
    data = {"kind": "open", "mark": live.kept.seats[1].mark}
    assert post(f"{sealed.base}/host/{live.kept.host}/1", data=data).status_code == 303
    join = f"{sealed.base}/join/{live.kept.id}"
    assert BEFORE in get(join).text
    seat = post(f"{join}/1", data={"name": "Friend"}, follow_redirects=True)
    for page in (seat.text, get(links[0]).text, get(watch).text):
        assert BEFORE in page
    store = sqlite3.connect(sealed.hall.store.path)
    (header,) = store.execute("select header from tables where id = ?", (live.kept.id,)).fetchone()
    assert json.loads(header)["continued"] is True


def test_who_comes_back_to_a_seat_is_told_what_has_been_seen_meanwhile(sealed: Served) -> None:
    live, links, _ = sealed.table("envelopes", ["person", "person"])
    choose(sealed, live, 0)
    sealed.done(live.undo(0))  # nothing has been seen
    assert live.asking is None
    assert BEFORE not in get(links[1]).text
    sealed.done(live.take(1, "bot", "random"))
    play_ahead(sealed, live)
    sealed.done(live.take(1, "person"))
    assert BEFORE in get(links[1]).text


def test_nobody_is_told_of_choices_that_showed_nothing(served: Served) -> None:
    live, _, _ = served.table("germany-2018", ["person", "open", "open"])
    first = now(live).decision
    assert first is not None
    served.done(live.take(first.actor, "person"))
    choose(served, live, first.actor)
    served.done(live.undo(first.actor))
    assert BEFORE not in get(f"{served.base}/join/{live.kept.id}").text


def test_who_joins_a_saved_game_is_told(served: Served) -> None:
    _, links, _ = served.table("goofspiel", ["person", "bot:random"])
    text = get(f"{links[0]}/log").text
    post(f"{served.base}/load", files={"file": ("game.jsonl", text)})
    loaded = list(served.hall.kept.values())[-1]
    assert BEFORE in get(f"{served.base}/join/{loaded.id}").text
    assert BEFORE in get(f"{served.base}/seat/{loaded.seats[0].token}").text


def test_choices_that_changed_rules_undo_count_as_seen(tmp_path: Path) -> None:
    """While the table is open, and while the server is off."""
    act = "choose say by seats[0]:\n  number n in {}:\n    amount = n"
    path = write(tmp_path, act.format("1 .. 9"))
    store = tmp_path / "tables.sqlite"
    running = Served(store, rulesets=[str(path)])
    live, links, _ = running.table("tiny", ["person", "person"])
    choose(running, live, 0, 8)
    running.done(live.go_on_with(loaded(write(tmp_path, act.format("1 .. 8")))))
    assert live.kept.choices == []
    assert BEFORE in get(links[0]).text
    other, links, _ = running.table("tiny", ["person", "person"])
    choose(running, other, 0, 7)
    assert BEFORE not in get(links[0]).text
    running.close()
    write(tmp_path, act.format("1 .. 7"))
    running = Served(store, rulesets=[str(path)])
    try:
        for _ in range(2):
            assert BEFORE in get(links[0].replace(links[0].rsplit("/seat", 1)[0], running.base)).text
            choose(running, running.hall.lives[other.kept.id], 0)
    finally:
        running.close()
    archive = Store(store)
    assert [each.header.get("continued") for each in archive.tables()[0]] == [None, True], (
        "nobody has gone on at the first"
    )
    archive.close()


# --- security


def test_the_server_knows_its_address_of_ipv6(tmp_path: Path) -> None:
    """Browsers send it in brackets."""
    running = Served(tmp_path / "tables.sqlite", names=["fd00::1"])
    try:
        assert get(running.base, headers={"Host": "[fd00::1]:8765"}).status_code == 200
        assert get(running.base, headers={"Host": "[fd00::2]:8765"}).status_code == 421
    finally:
        running.close()


def test_other_names_and_other_sites_are_refused(served: Served) -> None:
    unknown = get(served.base, headers={"Host": "evil.example"})
    assert unknown.status_code == 421
    assert "--name" in unknown.text
    assert get(f"{served.base}/{STATIC}/table.css", headers={"Host": "evil.example"}).status_code == 200
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        answer = post(f"{served.base}/new/goofspiel", data={"players": "2"}, headers=headers)
        assert answer.status_code == 403
        assert '<a href="../">To the lobby</a>' in answer.text
        assert f"{STATIC}/table.css" in answer.text
    assert httpx.put(served.base).status_code == 405
    assert post(f"{served.base}/new/goofspiel", content=b"x" * 70_000).status_code == 413


def test_pages_let_no_script_of_others_in_and_no_token_out(served: Served) -> None:
    _, links, _ = served.table("goofspiel", ["person", "bot"])
    answer = get(links[0])
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=", answer.text)
    token = links[0].rsplit("/", 1)[1]
    assert len(token) >= 32
    assert get(links[0][:-1] + ("A" if links[0][-1] != "A" else "B")).status_code == 404
    rules = get(f"{links[0]}/rules", timeout=30)
    assert rules.status_code == 200
    assert "'unsafe-inline'" not in rules.headers["content-security-policy"]


def test_a_seat_acts_for_itself_alone_and_nothing_broken_breaks_the_page(served: Served) -> None:
    live, links, watch = served.table("bsw-germany", ["person", "person"])
    asked = now(live).decision
    assert asked is not None
    other = links[1 - asked.actor]
    for link in (other, watch):
        values = {"n": 0, "thing": "card::0", "value": 0, "yes": True, "choice": first(live, asked.actor)}
        for do in ("choose", "option", "undo", "bot", "point", "hint", "slot", "more", "agree", "nothing"):
            state = state_of(get(link).text)
            answer = post(f"{link}/act", json={"view": "v" * 20, "do": do, "state": state, **values})
            assert answer.status_code == 200
    assert live.kept.choices == []
    assert live.kept.seats[1 - asked.actor].kind == "bot"  # it asked for a bot itself; nobody else did
    assert live.kept.seats[asked.actor].kind == "person"
    for body in (b"", b"[]", b'{"view": 3}', b"\xff", b'{"view": "short", "do": "list"}'):
        assert post(f"{links[0]}/act", content=body).status_code == 400


def test_a_running_game_with_others_gives_no_log(served: Served) -> None:
    _, links, watch = served.table("goofspiel", ["person", "person"])
    assert get(f"{links[0]}/log").status_code == 403
    assert get(f"{watch}/log").status_code == 403


# --- kept games


def test_a_game_is_a_log_and_a_log_is_a_table(served: Served) -> None:
    live, links, _ = served.table("goofspiel", ["person", "bot:random"])
    choose(served, live, 0)
    until(lambda: len(live.kept.choices) >= 2)
    text = get(f"{links[0]}/log").text
    log = read_saved_game(text)
    assert replay_game(ruleset_of(log), log).digest() == served.within(live.game.digest)
    answer = post(f"{served.base}/load", files={"file": ("game.jsonl", text)}, follow_redirects=True)
    assert answer.status_code == 200
    assert "Spectators" in answer.text
    wrong = post(f"{served.base}/load", files={"file": ("game.jsonl", "nonsense")})
    assert wrong.status_code == 409


def test_rows_that_are_no_seats_are_a_table_with_a_heading(tmp_path: Path) -> None:
    shutil.copytree(Path("rulesets"), tmp_path / "rulesets")
    panel = "table:\n  links: {rows: city in area, columns: {city: city, links: count(links(city))}}\n"
    head = "language: 2\noverlay: power-grid/links\ntitle: Links\nover: [power-grid]\n"
    (tmp_path / "rulesets" / "power-grid" / "overlays" / "links.yaml").write_text(head + panel)
    ruleset = tmp_path / "rulesets" / "power-grid" / "germany-2018.yaml"
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(ruleset)])
    try:
        _, links, _ = running.table("germany-2018", ["person", "bot", "bot"], overlay="power-grid/links")
        text = re.sub(r"\s+", " ", get(links[0]).text)
    finally:
        running.close()
    assert '<th scope="col">city</th><th scope="col">links</th>' in text
    assert text.count('<span class="head">links</span>') == 0


def test_the_lobby_lists_by_family_board_and_edition(served: Served) -> None:
    page = get(served.base).text
    listed = re.findall(r"<h2>([^<]+)</h2>|<strong><bdi>([^<]+)", page)
    words = [next(filter(None, each)) for each in listed]
    assert words[:4] == ["Goofspiel", "Goofspiel", "Outpost", "Outpost (2024)"]
    titles = words[words.index("Power Grid") + 1 : words.index("Continue a saved game")]
    assert len(titles) > 15
    assert titles == sorted(titles)
    assert page.count("<bdi>Edition of 2018</bdi>") > 10


def test_a_game_against_bots_is_one_click_from_the_lobby(served: Served) -> None:
    with httpx.Client(headers={"Origin": served.base}, follow_redirects=True, timeout=30) as client:
        lobby = client.get(served.base).text
        forms = re.findall(r'<form method="post" action="new">.*?</form>', lobby, re.DOTALL)
        form = next(each for each in forms if 'value="germany-2018"' in each)
        assert re.findall(r'value="([\w-]+)"( checked)?><span>', form) == [
            ("germany-2018", " checked"),
            ("germany-2004", ""),
            ("bsw-germany", ""),
        ]  # the edition with most boards first
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', form))
        page = client.post(f"{served.base}/new", data={**fields, "ruleset": "germany-2004"})
        assert re.search(r"/seat/[\w-]{32}$", str(page.url))
        kept = [*served.hall.kept.values()][-1]
        assert [seat.kind for seat in kept.seats] == ["person", "bot", "bot"]
        assert kept.header["ruleset"] == "germany-2004"
        assert f'href="seat/{kept.seats[0].token}"' in client.get(served.base).text
    assert kept.seats[0].token not in get(served.base).text


def test_a_board_is_drawn_in_the_lobby_once(served: Served) -> None:
    drawn = get(f"{served.base}/board/germany-2018.svg")
    assert (drawn.headers["content-type"], drawn.text[:4]) == ("image/svg+xml", "<svg")
    assert get(f"{served.base}/board/goofspiel.svg").status_code == 409
    assert get(f"{served.base}/board/..%2Fx.svg").status_code in (404, 409)


def test_links_have_a_code_to_scan(served: Served) -> None:
    page = served.post("/new/goofspiel", [("players", "2"), ("seat0", "person"), ("seat1", "open")])
    assert page.count('class="segno"') == 3
    assert page.count("data-copy=") == 3


def test_the_form_says_what_can_be_typed(served: Served) -> None:
    page = get(f"{served.base}/new/bsw-germany").text
    assert 'type="checkbox" name="set_regions" value="turquoise"' in page
    assert "Type numbers, separated by commas." in page
    assert page.count('<select name="set_first_order">') == 6
    seats = ["bot"] * 3
    live, *_ = served.table("bsw-germany", seats, set_first_order="2, 0, 1")
    assert live.game.settings["first_order"] == (2, 0, 1)


def test_messages_show_code_as_code() -> None:
    assert coded("`a < b` does not hold") == "<code>a &lt; b</code> does not hold"
    assert coded("a ` alone <") == "a ` alone &lt;"


def test_what_cannot_be_set_up_is_told_with_its_reason(served: Served) -> None:
    with pytest.raises(Exception, match="409"):
        served.post("/new/bsw-germany", [("players", "3"), ("seat0", "bot"), ("seat1", "bot"), ("seat2", "bot"),
                                         ("set_setmap", "111")])  # fmt: skip


def test_an_overlay_of_the_form_can_be_had(served: Served) -> None:
    offered = re.findall(r'name="overlay" value="([^"]+)"', get(f"{served.base}/new/germany-2018").text)
    assert "power-grid/hidden-money" in offered
    live, *_ = served.table("germany-2018", ["bot", "bot", "open"], overlay="power-grid/hidden-money")
    assert live.game.ruleset.overlays == ("power-grid/hidden-money",)


@pytest.mark.parametrize(
    "overlay", ["/etc/passwd", "../power-grid/konzern", "power-grid/overlays/konzern.yaml", "a\\b"]
)
def test_an_overlay_by_its_path_is_refused(served: Served, overlay: str) -> None:
    data = {"players": "3", "seat0": "bot", "seat1": "bot", "seat2": "bot", "overlay": overlay}
    answer = post(f"{served.base}/new/germany-2018", data=data, headers={"Origin": served.base})
    assert answer.status_code == 409
    assert "Unknown overlay" in answer.text


# --- faults


def serving(data: Path, port: int, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "interpreter", "serve", "--no-browser", "--data", str(data), "--port", str(port)]
    return subprocess.Popen([*command, "--pace", "0.001", *more], stderr=subprocess.PIPE)


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answers(base: str) -> bool:
    try:
        return get(base, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.slow
def test_no_acknowledged_choice_is_lost_by_kill(tmp_path: Path) -> None:
    """The server is killed in the middle of play, again and again; whoever had an answer finds the choice again."""
    data, port, dice = tmp_path / "tables.sqlite", free_port(), random.Random(7)
    base = f"http://127.0.0.1:{port}"
    process = serving(data, port)
    until(lambda: answers(base), 30)
    form = {"players": "2", "seat0": "person", "seat1": "bot", "bot1": "random"}
    page = post(f"{base}/new/goofspiel", data=form, follow_redirects=True).text
    seat = re.findall(r'href="\.\.(/seat/[^"]+)"', page)[0]
    acknowledged = 0
    for _ in range(3):
        end = time.monotonic() + dice.uniform(0.05, 0.5)
        while time.monotonic() < end:
            shown = get(f"{base}{seat}").text
            offered = re.search(r'class="ok" data-do="choose" data-choice="([^"]+)"', shown)
            choice = json.loads(html.unescape(offered[1])) if offered else None
            action = {"view": "k" * 20, "do": "choose", "state": state_of(shown), "choice": choice}
            answer = post(f"{base}{seat}/act", json=action)
            if answer.status_code == 429:
                time.sleep(0.1)
            acknowledged = max(acknowledged, _count(data))
        process.kill()
        process.wait()
        assert _count(data) >= acknowledged
        process = serving(data, port)
        until(lambda: answers(base), 30)
        assert get(f"{base}{seat}").status_code == 200
    process.kill()
    process.wait()
    with sqlite3.connect(data) as connection:
        header = connection.execute("select header from tables").fetchone()[0]
        lines = [line for (line,) in connection.execute("select line from choices order by number")]
    log = read_saved_game("\n".join([header, *lines]))
    assert len(replay_game(ruleset_of(log), log).choices) == len(lines) >= acknowledged > 0


def test_a_server_that_is_told_to_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    for number in (signal.SIGTERM, signal.SIGINT):
        process = serving(tmp_path / "tables.sqlite", port, "goofspiel")
        until(lambda: answers(base), 30)
        page = post(f"{base}/new/goofspiel", data={"players": "2"}, follow_redirects=True).text
        seat = re.findall(r'href="\.\.(/seat/[^"]+)"', page)[0]
        assert get(f"{base}{seat}/rules", timeout=60).status_code == 200  # in a process of its own
        with httpx.stream("GET", f"{base}{seat}/events?view={'e' * 20}") as events:
            lines = events.iter_lines()
            next(lines)
            process.send_signal(number)
            list(lines)  # to their end
        _, said = process.communicate(timeout=30)
        assert said.decode().splitlines()[1:] == []


def _count(data: Path) -> int:
    with sqlite3.connect(data) as connection:
        return int(connection.execute("select count(*) from choices").fetchone()[0])


def test_only_the_thread_of_the_server_plays_games(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of one ruleset share a module, whose memory belongs to one thread at a time."""
    played: list[str] = []

    def replay(ruleset: Ruleset, log: SavedGame, until: int | None = None) -> Iterator[Game]:
        played.append(threading.current_thread().name)
        return replaying(ruleset, log, until)

    monkeypatch.setattr("interpreter.serve.live.replaying", replay)
    live, *_ = served.table("goofspiel", ["person", "bot:random", "bot:random"])
    served.hall.lives.clear()
    served.done(served.hall.live(live.kept.id))
    assert played == [served.thread.name]


def test_a_full_disk_is_told_and_the_table_waits(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    live, links, _ = served.table("goofspiel", ["person", "person"])
    before, choice = served.within(live.game.digest), first(live, 0)

    def choose_on_page() -> None:
        state = state_of(get(links[0]).text)
        post(f"{links[0]}/act", json={"view": "d" * 20, "do": "choose", "state": state, "choice": choice})

    def full(self: object, changes: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(type(live.store), "_transaction", full)
        choose_on_page()
        view = next(view for (_, id), view in served.hall.views.items() if id == "d" * 20)
        assert "disk is full" in view.said
        assert served.within(live.game.digest) == before
    choose_on_page()
    assert len(live.kept.choices) == 1


# --- live editing


@pytest.mark.slow
def test_a_saved_map_is_on_open_tables_in_time(tmp_path: Path) -> None:
    """From saving the file to the new board in the page's pieces: 1.5 s; a mistake is shown with its place, and the
    game goes back to the first choice that is no longer possible."""
    shutil.copytree(Path("rulesets"), tmp_path / "rulesets")
    ruleset = tmp_path / "rulesets" / "power-grid" / "germany-2018.yaml"
    board = tmp_path / "rulesets" / "power-grid" / "maps" / "germany-2018.yaml"
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(ruleset)], watch=[str(ruleset)])
    try:
        live, links, _ = running.table("germany-2018", ["person", "person", "person"])
        first = now(live).decision
        assert first is not None
        choose(running, live, first.actor, -1)
        time.sleep(1.0)  # the watch has looked at its files
        text = board.read_text()
        id = "w" * 20
        get(links[0])
        post(f"{links[0]}/act", json={"view": id, "do": "list"})
        view = next(each for (_, known), each in running.hall.views.items() if known == id)
        board.write_text(text.replace("Flensburg", "Nordstadt"))
        begun = time.process_time()

        def is_new() -> bool:
            graph = live.ruleset.model.graph
            return graph is not None and any(node.name == "Nordstadt" for node in graph.nodes)

        until(is_new, 20)
        assert "Nordstadt" in view.pieces()["base"]
        assert time.process_time() - begun < 1.5
        assert [line["do"] for line in live.kept.choices if "forced" not in line] == ["offer"]
        board.write_text(text.replace("nodes:", "nodess:"))
        until(lambda: live.mistakes, 40)
        assert "nodess" in view.pieces()["notice"]
        for page in (get(links[0]), get(f"{running.base}/new/germany-2018")):  # a page of its own each
            assert re.search(r"germany-2018.yaml:\d+:\d+: .*nodess", page.text)
            assert "^^^^^^" in page.text
        assert get(f"{running.base}/new/germany-2018").status_code == 409
        board.write_text(text)
        until(lambda: not live.mistakes, 40)
        assert "nodess" not in get(links[0]).text
        rules = tmp_path / "rulesets" / "power-grid" / "family.yaml"
        # nobody can pay for a plant any more, but for the one under the discount marker
        bid = "is: plant.number}\n"
        assert bid in rules.read_text()
        rules.write_text(rules.read_text().replace(bid, bid.replace("number", "number + 1000"), 1))
        until(lambda: live.taken_back, 40)
        assert "choice 1 is no longer possible" in str(live.taken_back)
        assert live.kept.choices == []
    finally:
        running.close()
