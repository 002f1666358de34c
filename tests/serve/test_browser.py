"""Tables in a real browser: whole games by pointing, the panels of the online game, keyboard, accessibility."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.registry import bots_of
from interpreter.loading.load import load
from interpreter.play.game_records import write_log
from interpreter.play.match import Match, streams_for
from interpreter.serve.live import Live
from interpreter.serve.standing import forced
from interpreter.serve.table_page import View
from tests.serve.screenshot import PLACE, difference, screenshot
from tests.serve.served import Player, Served, first, now, until

pytestmark = pytest.mark.slow
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"


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
        page.locator("#table[data-tab]").wait_for(state="attached")  # its script runs
        players.append(player)
    return players


def play(served: Served, live: Live, players: list[Player], bots: str, most: int = 1_000) -> None:
    """To the end of the game, or so many choices, by pointing; what is chosen is what a bot would."""
    game, done = now(live), 0
    table = bots_of(bots, game.ruleset, len(live.kept.seats))
    streams = streams_for(5, len(live.kept.seats))
    while not game.is_over:
        decision = game.decision
        assert decision is not None
        if (only := forced(game, decision)) is not None:  # the table makes it
            game.apply(decision.option(only))
            until(lambda: len(live.kept.choices) == len(game.choices))
            continue
        if done == most:
            break
        choice = table[decision.actor].choose(game, decision, streams[decision.actor]).as_dict()
        players[decision.actor].choose(game, choice)
        game.apply(choice)
        done += 1
        if done % 25 == 0:
            assert game.digest() == served.within(partial(_digest_at, live, len(game.choices)))
    until(lambda: (live.game.choices, live.game.is_over) == (game.choices, game.is_over))
    for player in players:
        assert player.wrong == []


def _digest_at(live: Live, number: int) -> str:
    """Return the digest of a game as it was after so many choices: the table may be ahead by a forced one."""
    return live.at(number).digest()


def test_three_people_play_germany_by_pointing(chromium: Any, served: Served) -> None:
    """The first rounds."""
    live, links, _ = served.table("bsw-germany", ["person"] * 3)
    players = seated(chromium, live, links)
    play(served, live, players, "greedy", 36)
    for player in players:
        player.page.context.close()


def test_three_people_end_a_game_by_pointing(chromium: Any, served: Served) -> None:
    ruleset = load("bsw-germany")
    match = Match(ruleset, bots_of("greedy", ruleset, 3), 3)
    match.play()
    live, links = served.moment("bsw-germany", 3, lambda game: len(game.choices) >= len(match.game.choices) - 12)
    players = seated(chromium, live, links)
    play(served, live, players, "greedy")
    for player in players:
        player.page.get_by_text("The game is over").wait_for()
        assert player.page.locator(".result li").count() == 3
    for player in players:
        player.page.context.close()


@pytest.mark.parametrize(("ruleset", "bots", "seats"), [("goofspiel", "random", 3), ("outpost", "greedy", 2)])
def test_other_families_are_played_by_pointing(
    chromium: Any, served: Served, ruleset: str, bots: str, seats: int
) -> None:
    """To the end, or for some rounds."""
    live, links, _ = served.table(ruleset, ["person"] * seats)
    players = seated(chromium, live, links)
    play(served, live, players, bots, 40)
    for player in players:
        player.page.context.close()


# --- the table of the online game, statement by statement


def at(chromium: Any, served: Served, decision: str, more: int = 0, options: int = 1) -> tuple[Live, Player]:
    """A table of three at the first such decision with so many options after so many choices, and the page of whoever
    is asked."""

    def holds(game: Any) -> bool:
        asked = game.decision
        return (
            asked is not None and asked.name == decision and len(game.choices) >= more and len(asked.options) >= options
        )

    live, links = served.moment("bsw-germany", 3, holds)
    asked = live.game.decision
    assert asked is not None
    (player,) = seated(chromium, live, [links[asked.actor]])
    player.seat = asked.actor
    return live, player


def test_players_and_the_phase_display(chromium: Any, served: Served) -> None:
    """BW-006 to BW-015, BW-019, BW-024, BW-028: the list of players at the right, in order, own money only."""
    live, player = at(chromium, served, "buy", 60)
    page, game = player.page, live.game
    rows = page.locator("#panel-players .row")
    order = [page_row.locator("header bdi").inner_text() for page_row in rows.all()]
    assert order == [f"player {seat + 1}" for seat in game.value("turn_order")]
    assert rows.first.bounding_box()["x"] > page.locator(".map").bounding_box()["x"] + 300
    for row, seat in zip(rows.all(), game.value("turn_order"), strict=True):
        text = " ".join(row.inner_text().split())
        assert f"capacity {game.value(f'capacity(seats[{seat}])')}" in text
        assert f"cities {game.value(f'count(network(seats[{seat}]))')}" in text
        money = game.value(f"seats[{seat}].money") if seat == player.seat else "…"
        assert f"money {money}" in text
        plants = [card.get_attribute("title") for card in row.locator(".card").all()]
        assert [int(str(title).split(":")[0]) for title in plants] == game.value(f"seats[{seat}].plants")
        for title, plant in zip(plants, game.value(f"seats[{seat}].plants"), strict=True):
            burns = game.value(f"first(p in plant where p.number == {plant}).burns")
            assert all(kind in str(title) for kind in burns)
    status = page.locator("#f-status").inner_text()
    assert "Stage 1" in status
    assert page.locator(".phase.now").inner_text() == "Resources"
    assert f"player {player.seat + 1}: buy tokens, or stop" in status
    page.locator("#panel-players .row header button").first.click()
    page.locator("#window-plant_manager").wait_for()
    assert page.locator("#window-plant_manager .row").count() == 3
    page.context.close()


def test_the_plant_market_opens_in_the_auction_and_windows_close(chromium: Any, served: Served) -> None:
    """BW-016 to BW-018, BW-023, BW-050: the bar, the market that opens by itself, the bid that is raised with `+`."""
    live, player = at(chromium, served, "nominate")
    page = player.page
    page.locator("#window-plant_market").wait_for()
    assert page.locator("#window-plant_market .close").count() == 0  # it is needed
    assert [each.inner_text() for each in page.locator("#f-bar button").all()] == [
        "Plant market", "Plant manager", "Houses", "Payout table", "Supply table",
    ]  # fmt: skip
    card = page.locator("#window-plant_market button.thing.can").first
    number = card.locator("strong").inner_text()
    card.click()
    page.locator('[aria-label="+ bid more"]').click()
    page.locator(f'input[value="{int(number) + 1}"]').wait_for(state="attached")
    assert f"offers plant {number} for {int(number) + 1}" in page.locator(".confirm").inner_text()
    page.get_by_role("button", name="OK").click()
    until(lambda: live.kept.choices)
    page.get_by_role("button", name="Payout table").click()
    page.locator("#window-payout_table .here").first.wait_for()
    page.locator("#window-payout_table .close").click()
    page.locator("#window-payout_table").wait_for(state="detached")
    page.context.close()


def test_plants_run_in_the_plant_manager_with_flames(chromium: Any, served: Served) -> None:
    """BW-113 to BW-117: it opens by itself, plants are clicked, what burns has a flame, OK confirms."""
    live, player = at(chromium, served, "run", 40)
    page = player.page
    manager = page.locator("#window-plant_manager")
    manager.wait_for()
    assert manager.locator(".close").count() == 0
    thing = manager.locator("button.thing.can").first
    thing.click()
    manager.locator(".card.mark-flame, .token.burns").first.wait_for()
    before = len(live.kept.choices)
    page.get_by_role("button", name="OK").click()
    until(lambda: len(live.kept.choices) > before)
    page.context.close()


def test_tables_with_the_cells_in_force(chromium: Any, served: Served) -> None:
    """BW-021, BW-022, BW-119, BW-121."""
    live, player = at(chromium, served, "buy", 60)
    page, game, me = player.page, live.game, player.seat
    cities = game.value(f"count(network(seats[{me}]))")
    page.get_by_role("button", name="Payout table").click()
    row = page.locator("#window-payout_table tr.here")
    row.wait_for()
    assert row.inner_text().split() == [str(cities), str(game.value(f"payout[{cities}]"))]
    page.get_by_role("button", name="Supply table").click()
    page.locator("#window-supply_table").wait_for()
    marked = [each.inner_text() for each in page.locator("#window-supply_table td.here").all()]
    stage = game.value("stage")
    assert marked == [
        str(game.value(f"resupply[3, {kind}, {stage}]")) for kind in ("coal", "oil", "garbage", "uranium")
    ]
    page.context.close()


def test_what_is_refused_says_why_with_the_rule_and_its_sentences(chromium: Any, served: Served) -> None:
    """BW-080: more than there is room for is refused, with a beep where sound is on."""
    live, player = at(chromium, served, "build", 60)
    page, game, me = player.page, live.game, player.seat
    mine = game.value(f"network(seats[{me}])")[0]
    view = next(view for (token, _), view in served.hall.views.items() if view.live is live)
    before = view.beeps
    page.locator(f'g[aria-label^="{mine}"]').click()
    page.locator(".refused").first.wait_for()
    text = page.locator(".refused").first.inner_text()
    assert text.index("connected already") < text.index("BW-095") < text.index("Read the rule")  # words first
    assert "may_connect" not in text
    page.get_by_role("button", name="Read the rule").click()
    assert "#rules-may_connect" in page.locator("#rules iframe").get_attribute("src")
    assert view.beeps == before + 1
    page.context.close()


def test_tokens_that_no_plant_takes_are_crossed_out(chromium: Any, served: Served) -> None:
    """BW-066, BW-068: the plant manager opens with a choice of tokens, and what is to go has a yellow-red cross."""

    def holds(game: Any) -> bool:
        return game.decision is not None and game.decision.name == "scrap" and len(game.choices) > 125

    live, links = served.moment("bsw-germany", 3, holds)
    asked = live.game.decision
    assert asked is not None
    me = asked.actor
    assert live.game.value(f"seats[{me}].plants") == [3, 5, 10, 25]  # oil, both, coal, coal
    live.game.state.cells[live.game.machine.constants.layout.base["store"] + me] = (10, 5, 0, 0)
    live.game.state.forget()
    (player,) = seated(chromium, live, [links[me]])
    page = player.page
    manager = page.locator("#window-plant_manager")
    manager.locator(".card.can button.thing").first.click()
    manager.locator(".card.mark-cross").wait_for()
    page.get_by_role("button", name="OK").click()
    until(lambda: live.game.decision is not None and live.game.decision.name == "discard")
    tokens = manager.locator(".row.mine .tokens button.bare")
    tokens.nth(1).wait_for()
    assert tokens.count() == 2  # of both kinds that a hybrid plant takes
    tokens.nth(1).click()
    crossed = manager.locator(".row.mine .token.picked")
    crossed.wait_for()
    style = "e => [getComputedStyle(e, '::after').content, getComputedStyle(e, '::after').color]"
    assert crossed.evaluate(style) == ['"✕" / ""', "rgb(255, 210, 31)"]
    before = len(live.kept.choices)
    page.get_by_role("button", name="OK").click()
    until(lambda: len(live.kept.choices) > before)
    assert live.kept.choices[before]["kind"] == "oil"
    page.context.close()


def test_flames_move_on_a_hybrid_plant(chromium: Any, served: Served) -> None:
    """BW-116: which of the stored tokens a hybrid plant burns is chosen by clicking them."""

    def mixes(game: Any) -> dict[Any, int]:
        """The plants that can run, with the number of mixes that each can burn."""
        if game.decision is None or game.decision.name != "run":
            return {}
        fires = [option.values[0] for option in game.decision.options if option.do == "fire"]
        return {plant: fires.count(plant) for plant in fires}

    live, links = served.moment("bsw-germany", 3, lambda game: max(mixes(game).values(), default=0) > 1)
    asked = live.game.decision
    assert asked is not None
    (_, number) = max(mixes(live.game), key=lambda plant: mixes(live.game)[plant])
    (player,) = seated(chromium, live, [links[asked.actor]])
    page = player.page
    title = page.locator("strong", has_text=re.compile(rf"^{number}$"))
    card = page.locator("#window-plant_manager .card", has=title).first
    card.locator("button.thing").click()
    burning = page.locator("#window-plant_manager .token.burns")
    burning.first.wait_for()
    drawn = "all => all.map(each => each.innerHTML).join()"
    number, before = burning.count(), burning.evaluate_all(drawn)
    page.locator("#window-plant_manager .card.mark-flame .held button").first.click()
    page.wait_for_function(
        f"before => ({drawn})([...document.querySelectorAll('#window-plant_manager .token.burns')]) !== before",
        arg=before,
    )
    assert burning.count() == number
    page.context.close()


def test_a_refusal_is_heard_where_sound_is_on(chromium: Any, served: Served) -> None:
    """BW-080: a beep; silence until somebody asks for sound."""
    live, player = at(chromium, served, "build", 60)
    page, me = player.page, player.seat
    mine = live.game.value(f"network(seats[{me}])")[0]
    page.add_init_script("window.heard = 0; addEventListener('playing', () => (window.heard += 1), true);")
    page.reload()
    sound = page.locator("[data-switch=sound]")
    assert sound.get_attribute("aria-pressed") == "false"

    def refused() -> None:
        page.locator(f'g[aria-label^="{mine}"]').click()
        page.locator(".refused").first.wait_for()

    refused()
    assert page.evaluate("window.heard") == 0
    sound.click()
    page.wait_for_function("() => window.heard && document.getElementById('beep').ended")  # else it would only go on
    heard = page.evaluate("window.heard")
    refused()
    page.wait_for_function("heard => window.heard > heard", arg=heard)
    page.context.close()


def test_the_picture_in_the_readme_is_what_a_table_looks_like(chromium: Any, served: Served) -> None:
    taken = screenshot(chromium, served)
    assert difference(taken, PLACE) < 0.04, "draw it anew with `python -m tests.serve.screenshot`"


# --- looking back, why, keyboard, screen readers, names that attack


def test_looking_back_and_asking_why(chromium: Any, served: Served) -> None:
    _, player = at(chromium, served, "build", 60)
    page = player.page
    page.locator("#f-log .event .line").last.click()
    page.locator("#f-why .chain").wait_for(timeout=30_000)
    assert page.locator("#f-why .cite").count() > 0
    page.locator("#moment").evaluate("(e) => { e.value = 3; e.dispatchEvent(new Event('change', {bubbles: true})); }")
    page.get_by_text("This is the game after choice 3").wait_for()
    assert page.locator("#panel-players .card").count() <= 3
    page.get_by_role("button", name="Back to now").click()
    page.get_by_text("This is the game after choice 3").wait_for(state="detached")
    page.context.close()


def test_keyboard_alone_is_enough(chromium: Any, served: Served) -> None:
    live, player = at(chromium, served, "build", 60, 5)
    page = player.page
    page.locator("g.node[tabindex='0']").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("g.node.picked").wait_for()
    before = len(live.kept.choices)
    page.keyboard.press("o")
    until(lambda: len(live.kept.choices) == before + 1)
    page.locator(f'[data-at="{before + 1}"]').wait_for(state="attached")
    page.keyboard.press("u")
    until(lambda: len(live.kept.choices) == before)
    page.keyboard.press("l")
    page.locator(".listing li").first.wait_for()
    page.locator(".listing li button").first.focus()
    page.keyboard.press("Enter")
    until(lambda: len(live.kept.choices) == before + 1)
    page.context.close()


def test_a_number_that_was_typed_is_chosen_with_enter(chromium: Any, served: Served) -> None:
    live, player = at(chromium, served, "nominate")
    page = player.page
    page.locator("#window-plant_market button.thing.can").first.click()
    page.locator("#window-plant_market .card.picked").wait_for()
    field = page.locator("#f-prompt input[type=number]")
    bid = int(field.input_value()) + 2
    field.fill(str(bid))
    field.press("Enter")
    until(lambda: live.kept.choices)
    assert live.kept.choices[0]["bid"] == bid
    page.context.close()


@pytest.mark.parametrize("slow", [0, 0.4])
def test_ok_chooses_what_was_typed_or_clicked_before_it(
    chromium: Any, served: Served, monkeypatch: pytest.MonkeyPatch, slow: float
) -> None:
    """Also if the page does not show it yet; but nothing if the table changes before it does."""
    live, player = at(chromium, served, "nominate", 30)
    page, act = player.page, View.act

    async def later(self: View, action: str, data: Any) -> None:
        await asyncio.sleep(slow)
        await act(self, action, data)

    page.locator("#window-plant_market button.thing.can").first.click()
    field = page.locator("#f-prompt input[type=number]")
    field.wait_for()
    monkeypatch.setattr(View, "act", later)
    before, bid = len(live.kept.choices), int(field.input_value()) + 2
    field.fill(str(bid))
    page.locator("#f-prompt .ok").click()  # the field loses the focus only now
    until(lambda: len(live.kept.choices) == before + 1)
    assert live.kept.choices[before]["bid"] == bid
    page.locator(f'[data-at="{before + 1}"]').wait_for(state="attached")
    served.done(live.undo(player.seat))
    page.locator(f'[data-at="{before}"] [data-do="list"]').wait_for(state="attached")
    cards = page.locator("#window-plant_market button.thing.can")
    cards.first.click()
    page.locator("#f-prompt .ok").wait_for()
    second = cards.nth(1).locator("strong").inner_text()
    cards.nth(1).click()
    page.locator("#f-prompt .ok").click()
    until(lambda: len(live.kept.choices) == before + 1)
    assert str(live.kept.choices[before]["plant"]) == second
    page.context.close()


def test_ok_chooses_nothing_if_the_table_changes_before_the_page_shows_what(
    chromium: Any, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, player = at(chromium, served, "build", 60, 5)
    page, act = player.page, View.act

    async def later(self: View, action: str, data: Any) -> None:
        if action == "point":
            await asyncio.sleep(0.5)
        await act(self, action, data)

    monkeypatch.setattr(View, "act", later)
    before = len(live.kept.choices)
    nodes = page.locator("g.node.can[tabindex='0']")
    nodes.first.click()
    page.locator("#f-prompt .ok").wait_for()
    nodes.nth(1).click()
    page.locator("#f-prompt .ok").click()
    served.done(live.choose(player.seat, first(live, player.seat)))
    served.done(live.undo(player.seat))
    page.get_by_text("The table has changed since this was shown").wait_for()
    page.wait_for_timeout(800)
    assert len(live.kept.choices) == before
    page.context.close()


def test_two_tabs_of_a_seat_choose_once_and_the_late_one_says_why(chromium: Any, served: Served) -> None:
    """What the late tab has shown until now is chosen no more."""
    live, player = at(chromium, served, "build", 60, 5)
    late = player.page.context.new_page()
    late.set_default_timeout(10_000)
    late.goto(player.page.url)
    for page in (player.page, late):
        page.locator("g.node.can[tabindex='0']").first.click()
        page.locator("#f-prompt .ok").wait_for()
    before = len(live.kept.choices)
    shown = late.locator("#table").evaluate("main => ({...main.dataset})")
    choice = late.locator("#f-prompt .ok").get_attribute("data-choice")
    player.page.locator("#f-prompt .ok").click()
    until(lambda: len(live.kept.choices) == before + 1)
    late.locator(f'[data-at="{before + 1}"]').wait_for(state="attached")
    late.evaluate(
        "([{here, view, state}, choice]) => fetch(`${here}/act`, {method: 'POST', body: JSON.stringify("
        "{view, do: 'choose', state, choice: JSON.parse(choice)})})",
        [shown, choice],
    )
    late.get_by_text("The table has changed since this was shown").wait_for()
    assert len(live.kept.choices) == before + 1
    late.keyboard.press("u")
    until(lambda: len(live.kept.choices) == before)
    assert player.wrong == []
    player.page.context.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_rules_open_beside_the_table_and_close(chromium: Any, served: Served, width: int) -> None:
    """On a wide page nothing of the table is covered; `Esc` closes them, wherever the focus is."""
    live, links, _ = served.table("goofspiel", ["person", "bot"])
    page = chromium.new_context(viewport={"width": width, "height": 800}).new_page()
    page.goto(links[0])
    button = page.get_by_role("button", name="Rules", exact=True)
    for inside in (False, True):
        button.click()
        page.frame_locator("#rules iframe").locator("h1").wait_for(timeout=30_000)
        assert button.get_attribute("aria-expanded") == "true"
        panel = page.locator("#rules").bounding_box()
        if width == 1440:
            for covered in (page.locator(".top nav"), page.locator("#table")):
                box = covered.bounding_box()
                assert box["x"] + box["width"] <= panel["x"] + 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if inside:
            page.frame_locator("#rules iframe").locator("body").press("Escape")
        else:
            page.keyboard.press("Escape")
        page.locator("#rules").wait_for(state="hidden")
    button.click()
    page.get_by_role("button", name="Close the rules").click()
    page.locator("#rules").wait_for(state="hidden")
    page.context.close()
    live.stop()


@pytest.mark.parametrize("width", [390, 1440])
def test_a_window_that_opens_is_in_sight(chromium: Any, served: Served, width: int) -> None:
    live, links = served.moment("germany-2018", 3, lambda game: len(game.choices) >= 1)
    asked = live.game.decision
    assert asked is not None
    page = chromium.new_context(viewport={"width": width, "height": 700}, reduced_motion="reduce").new_page()
    page.goto(links[asked.actor])
    page.get_by_role("button", name="Plant manager").click()
    page.wait_for_function(
        "() => { const window = document.getElementById('window-plant_manager');"
        "if (!window) return false; const box = window.getBoundingClientRect();"
        "return box.top >= 0 && box.bottom <= innerHeight; }"
    )
    assert "There is nothing here now." in page.locator("#window-plant_manager").inner_text()
    page.get_by_role("button", name="Payout table").click()
    assert page.locator("#window-payout_table thead").inner_text().split() == ["cities", "payout"]
    page.context.close()


def test_a_phone_has_no_tab_for_a_board_that_a_game_lacks(chromium: Any, served: Served) -> None:
    _, links, spectators = served.table("goofspiel", ["person", "bot", "bot"])
    for link in (links[0], spectators):
        page = chromium.new_context(viewport={"width": 390, "height": 844}).new_page()
        page.goto(link)
        page.locator("#table[data-tab]").wait_for(state="attached")
        assert page.locator(".tabs").inner_text().split() == ["Panels", "Players", "Log"]
        assert page.locator("#f-common h2").first.is_visible()
        page.context.close()


def test_a_board_is_zoomed_on_a_phone(chromium: Any, served: Served) -> None:
    _, links, _ = served.table("outpost", ["person", "bot", "bot"])
    page = chromium.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(links[0])
    page.locator(".tabs").get_by_text("Board").click()

    def boxes() -> list[dict[str, float]]:
        return [page.locator(each).bounding_box() for each in ("#f-base svg", "#f-over svg")]

    whole = boxes()
    assert whole[0] == whole[1]
    page.get_by_role("button", name="+ larger").click()
    larger = boxes()
    assert larger[0] == larger[1]
    assert larger[0]["width"] > 1.3 * whole[0]["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()


def test_a_form_has_the_fields_that_count(chromium: Any, served: Served) -> None:
    page = chromium.new_context(viewport={"width": 390, "height": 800}, java_script_enabled=False).new_page()
    page.goto(f"{served.base}/new/germany-2018")
    page.locator("[name=players]").select_option("2")
    assert page.locator(".seats-form li:visible").count() == 2
    seat = page.locator(".seats-form li").nth(1)
    for kind, fields in {"person": [".of-person"], "bot": [".of-bot"], "open": []}.items():
        seat.locator("select").first.select_option(kind)
        assert [name for name in (".of-person", ".of-bot") if seat.locator(name).is_visible()] == fields
    page.context.close()


LOOK = """axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations']})
    .then(found => found.violations)"""
"""What is right on a page is not described, which takes longer than to look."""


def serious(page: Any) -> list[str]:
    """Return the serious findings of axe. It fails on a page that changes while it looks, and then looks again."""
    from playwright.sync_api import Error

    page.add_script_tag(path=str(AXE))
    for again in (True, True, False):
        try:
            found = page.evaluate(LOOK)
            break
        except Error:
            if not again:
                raise
    return [
        f"{each['id']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_no_serious_findings_of_axe(chromium: Any, served: Served, width: int, scheme: str) -> None:
    live, links = served.moment("bsw-germany", 3, lambda game: len(game.choices) >= 80)
    page = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    ).new_page()
    asked = live.game.decision
    assert asked is not None
    page.goto(links[asked.actor])
    for name in ("Houses", "Payout table", "Supply table"):
        page.get_by_role("button", name=name).click()
    page.locator("#window-supply_table").wait_for()
    assert serious(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    page.goto(f"{served.base}/")
    assert serious(page) == []
    page.goto(f"{served.base}/new/bsw-germany")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_a_table_is_set_up_in_the_lobby(chromium: Any, served: Served, tmp_path: Path) -> None:
    """By the forms themselves: a browser says where each of them was sent from."""
    page = chromium.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.set_default_timeout(30_000)  # the lobby draws all boards first
    page.goto(served.base)
    page.get_by_role("button", name="Set up: Goofspiel").click()
    page.get_by_label("Players").select_option("2")
    page.get_by_label("Seat 1").select_option("person")
    page.get_by_label("Name").first.fill("Ann")
    page.get_by_role("button", name="Set up the table").click()
    assert "Ann" in page.locator(".links").inner_text()
    page.get_by_label("Played by").nth(1).select_option("person")
    page.get_by_role("button", name="Change").nth(1).click()
    links = page.locator(".links a.take")
    links.nth(2).wait_for()
    links.first.click()
    page.locator("#table[data-tab]").wait_for(state="attached")
    page.locator(".tabs").get_by_text("Players").click()
    page.locator("#panel-players").wait_for()
    log = tmp_path / "game.jsonl"
    with log.open("w", encoding="utf-8") as file:
        write_log(load("goofspiel").new_game(2, 1), file.write)
    page.goto(served.base)
    page.get_by_label("A log of").set_input_files(log)
    page.get_by_role("button", name="Open as a table").click()
    page.locator(".links").wait_for()
    page.context.close()


def test_names_that_attack_are_words(chromium: Any, served: Served) -> None:
    names = ["<script>document.title='x'</script>", '"><img src=x onerror=alert(1)>', "‮abc‭", "n" * 10_000]
    for name in names:
        live, links, _ = served.table("goofspiel", ["person", "bot"], name0=name, title=name)
        (player,) = seated(chromium, live, [links[0]])
        player.page.locator("#panel-players").wait_for()
        assert player.page.locator("img, script:not([src])").count() == 0
        assert player.page.evaluate("document.title") != "x"
        assert player.page.evaluate("document.documentElement.scrollWidth") <= 1440
        assert player.wrong == []
        player.page.context.close()


def test_a_game_of_a_minute_ago_is_playable(chromium: Any, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from interpreter.cli.main import cli

    result = CliRunner().invoke(cli, ["new", "game", "pebbles", "--in", str(tmp_path / "rulesets")])
    assert result.exit_code == 0, result.output
    ruleset = next(path for path in (tmp_path / "rulesets").rglob("*.yaml") if path.stem == "pebbles")
    running = Served(tmp_path / "tables.sqlite", rulesets=[str(ruleset)])
    try:
        live, links, _ = running.table("pebbles", ["person", "person"])
        players = seated(chromium, live, links)
        play(running, live, players, "random")
    finally:
        running.close()


def test_players_are_clicked_into_a_list(chromium: Any, tmp_path: Path) -> None:
    """A click puts a player into the list or takes them out; only a whole list can be sent."""
    source = str(Path("docs/examples/winter-station/winter-station/winter-station.yaml"))
    served = Served(tmp_path / "tables.sqlite", rulesets=[source])
    try:
        live, links = served.moment(source, 5, lambda game: getattr(game.decision, "name", "") == "nominate", asks=True)
        page = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB").new_page()
        assert live.game.decision is not None
        page.goto(links[live.game.decision.actor])

        def click(seat: int) -> None:
            page.locator(f'button[data-thing="seat::{seat}"]').first.click()

        click(4)
        page.locator(".seat.picked").wait_for()
        assert page.locator(".seat.can").count() == 5
        assert page.locator("#f-prompt .ok").count() == 0
        click(2)
        page.locator("#f-prompt .ok").wait_for()
        click(2)
        page.locator("#f-prompt .ok").wait_for(state="detached")
        assert page.locator("#f-notice").inner_text() == ""
        click(1)
        page.locator("#f-prompt .ok").click()
        until(lambda: live.kept.choices)
        made = next(line for line in live.kept.choices if line["do"] == "name")
        assert made["team"] == [1, 4]
    finally:
        served.close()
