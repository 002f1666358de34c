"""Tables in a real browser: whole games by pointing, every panel of the online game's table, keyboard, accessibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpreter.play.bots.named import bots_of
from interpreter.play.match import streams_for
from interpreter.serve.live import Live
from tests.serve.served import Player, Served, browser, now, until

pytestmark = pytest.mark.slow
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("serve") / "tables.sqlite")
    yield running
    running.close()


def seated(chromium: Any, live: Live, links: list[str], **more: Any) -> list[Player]:
    """A context of its own for each link: nobody shares anything."""
    players = []
    for number, link in enumerate(links):
        page = chromium.new_context(viewport={"width": 1440, "height": 1500}, locale="en-GB", **more).new_page()
        page.set_default_timeout(10_000)
        player = Player(live, page, number)
        page.goto(link)
        players.append(player)
    return players


def play(live: Live, players: list[Player], bots: str, most: int = 5_000) -> None:
    """To the end of the game, by pointing; what is chosen is what a bot would."""
    table = bots_of(bots, live.ruleset, len(live.kept.seats))
    streams = streams_for(5, len(live.kept.seats))
    game, done = now(live), 0
    while not game.is_over and done < most:
        decision = game.decision
        assert decision is not None
        choice = table[decision.actor].choose(game, decision, streams[decision.actor]).as_dict()
        players[decision.actor].choose(game, choice)
        game.apply(choice)
        done += 1
        if done % 50 == 0:
            assert game.digest() == live.game.digest()
    if most == 5_000:
        until(lambda: live.game.is_over)
    for player in players:
        assert player.wrong == []


def test_three_people_play_germany_to_its_end_by_pointing(chromium: Any, served: Served) -> None:
    live, links, _ = served.table("bsw-germany", ["person"] * 3)
    players = seated(chromium, live, links)
    play(live, players, "greedy")
    for player in players:
        player.page.get_by_text("The game is over").wait_for()
        assert player.page.locator(".result li").count() == 3
    for player in players:
        player.page.context.close()


@pytest.mark.parametrize(("ruleset", "bots", "most"), [("goofspiel", "random", 5_000), ("outpost", "greedy", 60)])
def test_other_families_are_played_by_a_derived_table(
    chromium: Any, served: Served, ruleset: str, bots: str, most: int
) -> None:
    live, links, _ = served.table(ruleset, ["person"] * 3)
    players = seated(chromium, live, links)
    play(live, players, bots, most)
    for player in players:
        player.page.context.close()
