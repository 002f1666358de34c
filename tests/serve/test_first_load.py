"""First load of a page, in bytes on the wire, and a server below a path of another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from interpreter.serve.web import STATIC

from .served import Served, get, until

WIRE, FIRST_EVENT = 60_000, 2_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("first-load") / "tables.sqlite", below="/some/games")
    yield running
    running.close()


def test_a_page_loads_few_bytes_and_keeps_its_files(chromium: Any, served: Served) -> None:
    _, links = served.moment("germany-2018", 3, lambda game: game.round >= 3)
    page = chromium.new_context(locale="en-GB").new_page()
    network, got, addresses = page.context.new_cdp_session(page), dict[str, int](), dict[str, str]()
    network.send("Network.enable")
    network.on("Network.responseReceived", lambda e: addresses.update({e["requestId"]: e["response"]["url"]}))
    network.on("Network.loadingFinished", lambda e: got.update({e["requestId"]: e["encodedDataLength"]}))
    events = list[str]()
    network.on("Network.eventSourceMessageReceived", lambda e: events.append(e["data"]))
    page.goto(links[0])
    page.locator("#table[data-tab]").wait_for(state="attached")
    while not events:
        page.wait_for_timeout(20)
    page.wait_for_timeout(200)
    assert sum(got.values()) + sum(map(len, events)) < WIRE
    assert len(events[0]) < FIRST_EVENT
    files = [address for address in addresses.values() if "/static/" in address]
    assert len(files) >= 3
    for address in files:
        assert "immutable" in get(address).headers["cache-control"]
    page.context.close()


def test_a_second_stream_brings_all_pieces(served: Served) -> None:
    """Nobody knows what the stream before has brought."""
    _, links, _ = served.table("goofspiel", ["person", "bot:random"])
    view = re.search(r'data-view="([^"]+)"', get(links[0]).text)
    assert view is not None

    def pieces() -> int:
        with httpx.stream("GET", f"{links[0]}/events?view={view[1]}", verify=False) as answer:
            return len(next(line for line in answer.iter_lines() if line.startswith("data: ")))

    assert pieces() < FIRST_EVENT < pieces()


def test_pages_with_keys_and_words_of_others_are_not_compressed(served: Served) -> None:
    _, links, _ = served.table("goofspiel", ["person", "bot:random"])
    with httpx.Client(verify=False) as client:
        assert client.get(f"{served.base}/").headers["content-encoding"] == "gzip"
        assert client.get(links[0]).headers["content-encoding"] == "gzip"
        assert client.cookies.jar._cookies["127.0.0.1"].keys() == {"/some/games"}  # type: ignore[attr-defined]
        assert client.get(f"{served.base}/").headers["content-encoding"] == "identity"


def test_all_of_a_server_works_below_a_path(chromium: Any, served: Served) -> None:
    """From the lobby to a table against bots, a choice, the rules, another language, the seats of others."""
    page = chromium.new_context(locale="en-GB").new_page()
    lost = list[str]()
    page.on("response", lambda answer: lost.append(answer.url) if answer.status >= 400 else None)
    page.goto(f"{served.base}/")
    page.get_by_role("button", name="Play now: Germany,").first.click()
    page.locator("#table[data-tab]").wait_for(state="attached")
    live = next(reversed(served.hall.lives.values()))
    page.locator("#tool-list").click()
    page.locator(".listing [data-do=choose]").first.click()
    until(lambda: any(line["by"] == 0 for line in live.kept.choices))
    page.locator("nav [data-show=rules]").click()
    page.frame_locator("#rules iframe").get_by_role("heading").first.wait_for()
    page.get_by_label("Language").select_option("de")
    page.wait_for_url("**/some/games/seat/*?language=de")
    page.get_by_role("link", name="Lobby").click()
    page.wait_for_url("**/some/games/")
    page.get_by_role("button", name="Aufsetzen: Goofspiel").click()
    page.locator("[name=listed]").check()
    page.locator("[name=seat1]").select_option("open")
    page.locator("button.ok").click()
    page.wait_for_url("**/some/games/host/*")
    shown = page.locator(".link").first
    assert shown.inner_text() == page.locator(".take").first.evaluate("link => link.href")
    page.locator(".links form").first.locator("button[type=submit]").click()
    page.wait_for_url("**/some/games/host/*")
    page.locator('a.take[href*="/join/"]').first.click()
    page.locator("button.ok").first.click()
    page.wait_for_url("**/some/games/seat/*")
    page.goto(f"{served.base}/join/nothing")
    page.locator("main a").click()
    page.wait_for_url("**/some/games/")
    page.wait_for_timeout(200)
    assert lost == [f"{served.base}/join/nothing"]
    page.context.close()


@pytest.mark.parametrize("kept", ["", "/play"])
def test_a_proxy_names_the_path_with_or_without_leaving_it(tmp_path: Any, kept: str) -> None:
    running = Served(tmp_path / "tables.sqlite", rulesets=["goofspiel"])
    try:
        named = {"X-Forwarded-Prefix": "/play"}
        form = {"players": "2", "seat0": "person", "seat1": "bot"}
        answer = httpx.post(f"{running.base}{kept}/new/goofspiel", data=form, headers=named, verify=False)
        assert re.fullmatch(r"\.\./host/[\w-]{32}", answer.headers["location"])
        page = get(f"{running.base}{kept}/{answer.headers['location'][3:]}", headers=named).text
        assert f">{running.base}/play/seat/" in page
        assert get(f"{running.base}{kept}/{STATIC}/table.css", headers=named).status_code == 200
    finally:
        running.close()
