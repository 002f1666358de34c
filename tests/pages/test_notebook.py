"""What a notebook shows of games and rulesets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import interpreter
from interpreter.bots.registry import bots_of
from interpreter.engine.game import Game
from interpreter.engine.views import prompt_of
from interpreter.pages.html import html_of
from interpreter.pages.notebook import game_cell, ruleset_cell
from interpreter.pages.page import Page
from interpreter.play.match import Match
from tests.pages.reading import Read
from tests.serve.served import browser


def after(ruleset: str, choices: int) -> Game:
    loaded = interpreter.load(ruleset)
    match = Match(loaded, bots_of("sensible", loaded, 3), 4)
    for _ in range(choices):
        match.step()
    return match.game


def test_an_extension_tells_ipython_how_games_and_rulesets_are_shown() -> None:
    shown: dict[type, Any] = {}
    html = SimpleNamespace(for_type=shown.__setitem__)
    interpreter.load_ipython_extension(
        SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": html}))
    )
    game = after("germany-2018", 100)
    assert set(shown) == {type(game), type(game.ruleset)}
    words = Read(shown[type(game)](game)).words
    assert {"Germany (rules of 2018)", "next costs", "player 3", "Hamburg"} <= set(words)
    assert {"germany-2018", "2 to 6", "Hamburg"} <= set(Read(shown[type(game.ruleset)](game.ruleset)).words)


def test_a_seat_sees_no_more_than_it_may() -> None:
    game = after("bsw-germany", 60)
    assert game.decision is not None
    seat, money = game.decision.actor, [seat["money"] for seat in game.view()["seats"]]
    for player in (None, *range(3)):
        read = Read(game_cell(game, player))
        assert read.words.count("…") == (0 if player is None else 2)
        assert all((str(money[other]) in read.words) for other in range(3) if player in (None, other))
        asked = next(words for words in read.words if words.startswith(f"player {seat + 1}: "))
        prompt = prompt_of(game.table, game.state, game.decision, player=player)
        assert prompt
        assert asked.startswith(prompt)
        assert ("options" in asked) == (player in (None, seat))


def test_a_cell_has_the_style_of_pages_and_leaves_that_of_the_notebook_alone() -> None:
    """As a browser works it out, against a notebook with a dark theme."""
    theme = ".output tbody tr:nth-child(odd) { background: black; } .output td { text-align: right; color: white; }"
    cells = "".join(f"<div class=output>{cell}</div>" for cell in (game_cell(after("germany-2018", 100)),) * 2)
    outside = "<div class=output><table><tbody><tr><td id=outside>x</td></tr></tbody></table></div>"
    with browser() as running:
        page = running.new_page()

        def style(selector: str, *names: str) -> list[str]:
            script = "(each, names) => names.map((name) => getComputedStyle(each)[name])"
            found: list[str] = page.eval_on_selector(selector, script, list(names))
            return found

        page.set_content(f"<style>{theme}</style>{outside}")
        alone = style("#outside", "color", "fontFamily", "padding"), style("body", "backgroundColor", "maxWidth")
        page.set_content(f"<style>{theme}</style>{cells}{outside}")
        beside = style("#outside", "color", "fontFamily", "padding"), style("body", "backgroundColor", "maxWidth")
        assert beside == alone
        cell = style(".regelwerk", "backgroundColor", "color", "fontFamily")
        page.set_content(html_of(Page("x", (), ())))
        assert cell == style("body", "backgroundColor", "color", "fontFamily")
        page.set_content(f"<style>{theme}</style>{cells}")
        assert style(".regelwerk tbody td", "color", "textAlign") == [cell[1], "left"]
        assert style(".regelwerk tbody tr", "backgroundColor") == ["rgba(0, 0, 0, 0)"]


def test_a_game_without_a_graph_and_one_that_is_over_are_shown_too() -> None:
    game = after("goofspiel", 500)
    assert game.is_over
    assert "<svg" not in game_cell(game)
    assert "Goofspiel" in Read(game_cell(game)).words
    assert "Goofspiel" in Read(ruleset_cell(game.ruleset)).words
