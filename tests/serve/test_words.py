"""Language of pages: every text of the program is said in every language, and no page mixes two."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jinja2 import nodes
from msgspec.structs import replace

from interpreter.engine.game import Game
from interpreter.serve.table_page import ENVIRONMENT
from interpreter.serve.words import LANGUAGES, Refused, Told, in_language

from .served import Served, get

ROOM = Path("interpreter/serve")
SAID = {"t", "known", "Told", "Refused", "StoreError", "refuse", "HTTPException"}
"""Calls whose text, the first that is one, reaches a page."""
UNSAID = re.compile(
    r"""(?:aria-label|aria-description|title|placeholder|alt|data-turn)="[^"]*[A-Za-z]|>[^<]*[A-Za-z]"""
)
"""English in the HTML of a template."""


def of_modules() -> Iterator[tuple[str, str]]:
    """Yield the texts of modules, each with its place."""
    for path in ROOM.glob("*.py"):
        names = vars(import_module(f"interpreter.serve.{path.stem}"))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name not in SAID or path.stem == "words":
                continue
            place = f"{path}:{node.lineno}"
            given = node.args[1] if name == "HTTPException" else node.args[0]
            for each in [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]:
                if isinstance(each, ast.Name):
                    assert each.id in names or each.id == "text" or name == "t", f"{place}: {each.id}"
                    yield from [(place, names[each.id])] if each.id in names else []
                elif isinstance(each, ast.Constant):
                    yield place, str(each.value)
                else:
                    assert isinstance(each, ast.Call | ast.Attribute), f"{place}: a text in parts"


def of_templates() -> Iterator[tuple[str, str]]:
    for name in ENVIRONMENT.list_templates():
        tree = ENVIRONMENT.parse((ROOM / "templates" / name).read_text(encoding="utf-8"))
        for call in tree.find_all(nodes.Call):
            if getattr(call.node, "name", "") == "t" and isinstance(call.args[0], nodes.Const):
                yield f"{name}:{call.lineno}", call.args[0].value


def test_every_text_is_said_in_every_language_and_nothing_else_is() -> None:
    texts = {text: place for place, text in (*of_modules(), *of_templates())}
    assert len(texts) > 100
    assert LANGUAGES[1:]
    for language in LANGUAGES[1:]:
        words = json.loads((ROOM / "words" / f"{language}.json").read_text(encoding="utf-8"))
        assert {text: texts[text] for text in texts if not words.get(text)} == {}
        assert words.keys() - texts.keys() == set()
        for text, said in words.items():
            assert set(re.findall(r"\{(\w+)", text)) == set(re.findall(r"\{(\w+)", said)), text
            assert text.count("`") == said.count("`")


def test_a_heading_that_is_the_name_of_a_method_hides_none() -> None:
    own = {"items": {"text": "3"}, "money": {"text": "50"}}
    shown = ENVIRONMENT.from_string(
        "{% for head, cell in own.items() %}{{ head }} {{ cell.text }} {% endfor %}{{ own.money.text }}"
    )
    assert shown.render(own=own) == "items 3 money 50 50"


@pytest.mark.parametrize("name", ENVIRONMENT.list_templates())
def test_templates_have_no_words_of_their_own(name: str) -> None:
    source = (ROOM / "templates" / name).read_text(encoding="utf-8")
    html = re.sub(r"\{% block class %\}.*?\{% endblock %\}|\{\{.*?\}\}|\{%.*?%\}", "", source, flags=re.DOTALL)
    html = re.sub(r'<title>Regelwerk|<summary>QR|https://|data-(?!turn)[a-z]+="[^"]*"', "", html)
    assert UNSAID.findall(html) == []


def test_what_is_kept_is_told_to_each_in_their_language() -> None:
    note = Told("The table waits: {why}", why=Told("the process of the bots has ended"))
    refused = Refused("Unknown bot `{bot}`.", bot="{who}")
    assert (note, str(refused)) == ("The table waits: the process of the bots has ended", "Unknown bot `{who}`.")
    with in_language("de"):
        assert note.now() == "Der Tisch wartet: das Programm der Bots ist beendet"
        assert str(refused) == "Unbekannter Bot `{who}`."


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("words") / "tables.sqlite", hooks=["ntfy.sh"])
    yield running
    running.close()


ENGLISH = re.compile(
    r"\b(the|your|you|and|not|is|to|of|all|player|choice|close|raise|fire|take|stop|pass|amount|plant|fuel|cities|brown|yellow|turquoise)\b",
    re.I,
)


READ = """() => {
    const map = document.querySelector(".map").textContent;
    for (const each of document.querySelectorAll(".cite, .rule, #rule, q")) each.remove();
    const said = [document.body.innerText];
    for (const each of document.querySelectorAll("[aria-label],[title],[placeholder]"))
        for (const name of ["aria-label", "title", "placeholder"]) said.push(each.getAttribute(name) ?? "");
    return [...said, map].join("\\n"); }"""
"""What a page says, but for what the rules say in their own words."""


@pytest.mark.parametrize("name", ["nominate", "answer", "buy", "build", "run"])
def test_a_page_in_german_has_no_english_word(chromium: Any, served: Served, name: str) -> None:
    """Also its buttons, its refusals, and after a reload. Only sentences and names of the rules
    keep their language."""

    def holds(game: Game) -> bool:
        now = game.decision
        return now is not None and now.name == name and len(now.options) > 1 and game.round >= 2

    live, links = served.moment("germany-2018", 3, holds, asks=True)
    assert live.game.decision is not None
    page = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB").new_page()
    page.goto(links[live.game.decision.actor])
    assert page.locator("html").get_attribute("lang") == "en"
    page.get_by_label("Language").select_option("de")
    page.wait_for_url("**?language=de")
    page.goto(links[live.game.decision.actor])  # without the wish
    page.locator("#table[data-tab]").wait_for(state="attached")
    assert page.locator("html").get_attribute("lang") == "de"
    page.locator("#tool-hint").click()
    page.locator("#f-notice .said").wait_for()
    hinted = page.evaluate(READ)
    page.locator("#tool-cancel").click()
    page.locator('#panel-players [data-do="point"]').last.click(force=True)
    page.wait_for_timeout(300)
    for shown in (hinted, page.evaluate(READ)):
        assert [line for line in shown.splitlines() if ENGLISH.search(line)] == []
    page.goto(f"{served.base}/")
    assert page.get_by_role("link", name="de", exact=True).get_attribute("aria-current") == "true"
    assert page.locator("html").get_attribute("lang") == "de"
    page.context.close()


def test_drafts_and_plans_in_german_have_no_english_word(chromium: Any, served: Served) -> None:
    """Also a part that is refused, and one that waits for a later decision."""

    def holds(game: Game) -> bool:
        now = game.decision
        return now is not None and now.name == "buy" and game.round >= 2 and len(now.options) > 3

    live, links = served.moment("germany-2018", 3, holds, asks=True)
    assert live.game.decision is not None
    asked = live.game.decision.actor
    first = served.within(lambda: live.game.decision.options[0].as_dict() if live.game.decision else {})
    later = {"do": "fire", "plant": 8, "fuel": {"coal": 3}, "decision": "run"}
    kept = [{**first, "decision": "buy"}, {**first, "number": 99, "decision": "buy"}, later]
    served.done(live.order(asked, lambda orders: replace(orders, draft=tuple(kept))))
    for seat in {asked, (asked + 1) % 3}:
        page = chromium.new_context(viewport={"width": 390, "height": 844}, locale="de-AT").new_page()
        page.goto(links[seat])
        if seat != asked:
            page.get_by_role("button", name="Vorausplanen").click()
            page.get_by_role("button", name="Nicht mehr planen").wait_for()
        else:
            assert page.locator(".draft li").all_inner_texts()[2].startswith("Kraftwerk betreiben")
            assert page.locator(".draft li.refused").count() == 1
            send = page.locator(".ok").bounding_box()
            assert send["x"] + send["width"] <= 390
        assert [line for line in page.evaluate(READ).splitlines() if ENGLISH.search(line)] == []
        page.context.close()


def test_who_has_chosen_nothing_gets_the_language_of_the_browser(served: Served) -> None:
    german = {"Accept-Language": "de-AT,en;q=0.5"}
    assert "Offene Plätze" not in get(f"{served.base}/", headers=german).text
    assert "Tisch aufsetzen" in get(f"{served.base}/", headers=german).text
    assert "Nicht gefunden" in get(f"{served.base}/seat/nothing", headers=german).text
    assert "Set up a table" in get(f"{served.base}/?language=en", headers=german).text
