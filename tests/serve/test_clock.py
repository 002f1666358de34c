"""The clock of a table, and bots that play for a person."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from interpreter.serve.apart import TAKEN
from interpreter.serve.live import Live
from interpreter.serve.table_page import View

from .served import Served, first, get, post, until

SHORT = "0.02"
"""Minutes: a second."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("clock") / "tables.sqlite")
    yield running
    running.close()


def table(served: Served, ruleset: str, clock: str, late: str, minutes: str = SHORT) -> tuple[Live, list[str]]:
    live, links, _ = served.table(ruleset, ["person"] * 3, clock=clock, late=late, minutes=minutes)
    return live, links


def answering(served: Served, late: str) -> tuple[Live, int]:
    """Return a table on which somebody must answer a bid, and who."""
    live, _ = served.moment(
        "germany-2018", 3, lambda game: game.decision is not None and game.decision.name == "answer"
    )
    live.kept.header["clock"] = {"per": "choice", "seconds": 1, "late": late}
    assert live.game.decision is not None
    served.within(live.play_on)
    return live, live.game.decision.actor


def _has_more(live: Live, before: int) -> bool:
    return len(live.kept.choices) > before


def test_who_is_late_is_played_by_a_bot_or_passes(served: Served) -> None:
    for late in ("bot", "pass"):
        live, seat = answering(served, late)
        before = len(live.kept.choices)
        until(partial(_has_more, live, before), 10)
        line = live.kept.choices[before]
        assert (line["by"], late == "pass" and line["do"] != "pass") == (seat, False)
        assert line[TAKEN] >= 1
        live.kept.header.pop("clock")  # or it would be played to its end
        served.within(live.stop)


def test_a_late_seat_without_an_alternative_to_pass_is_played_and_others_are_not(served: Served) -> None:
    live, links = table(served, "goofspiel", "choice", "pass")
    served.done(live.choose(0, first(live, 0)))
    assert 'data-until="' in get(links[1]).text
    until(lambda: len(live.kept.choices) >= 3, 10)
    times = {line["by"]: line[TAKEN] for line in live.kept.choices[:3]}
    assert times[0] < 0.9 < min(times[1], times[2])


def test_the_time_of_a_game_is_kept_with_the_table(tmp_path: Path) -> None:
    data = tmp_path / "tables.sqlite"
    running = Served(data)
    try:
        live, _ = table(running, "goofspiel", "game", "bot", "1")
        time.sleep(1.5)
        for seat in (0, 1, 2):
            running.done(live.choose(seat, first(live, seat)))
        known = running.within(lambda: live.left(0))
        assert known is not None
        assert 57 < known < 58.7
    finally:
        running.close()
    again = Served(data)
    try:
        until(lambda: live.kept.id in again.hall.lives)  # nobody has asked for it
        kept = again.hall.lives[live.kept.id]
        left = again.within(lambda: kept.left(0))
        assert left is not None
        assert known - 1 < left <= known + 0.1
        assert kept.kept.header["clock"] == {"per": "game", "seconds": 60, "late": "bot"}
    finally:
        again.close()


def test_a_person_lets_a_bot_play_and_takes_the_seat_back(served: Served) -> None:
    live, links = table(served, "goofspiel", "choice", "bot", "5")
    view, shown = View(live, 1), live.state_of(1)
    served.done(view.act("bot", {"state": shown}))
    served.done(live.choose(0, first(live, 0)))
    until(lambda: any(line["by"] == 1 for line in live.kept.choices))
    assert served.within(lambda: live.left(1)) is None
    assert 'data-do="sit"' in get(links[1]).text
    served.done(view.act("sit", {"state": shown}))  # while the bot goes on
    assert live.kept.seats[1].kind == "person"
    assert 'data-do="bot"' in get(links[1]).text


def test_a_clock_needs_minutes(served: Served) -> None:
    for minutes in ("", "soon", "-3", "0"):
        data = {"players": "2", "clock": "game", "minutes": minutes}
        answer = post(f"{served.base}/new/goofspiel", data=data)
        assert answer.status_code == 409
        assert "The clock needs a number of minutes." in answer.text
