"""A family told in another language: nothing of a game is left in English."""

from __future__ import annotations

import random
import re

import pytest

from interpreter.engine.game import Game
from interpreter.engine.ruleset import load
from interpreter.engine.show import BoardTable, Line
from interpreter.play.bots.random import RandomBot
from interpreter.play.match import Match
from interpreter.play.narrate import Narrator
from tests.small import FAMILY, loaded, write


def told(ruleset: str, players: int, language: str, overlays: tuple[str, ...] = ()) -> tuple[Game, list[str]]:
    """Every text of a game: lines, boards and their headings."""
    found: list[Line | BoardTable] = []
    rules = load(ruleset, overlays)
    match = Match(rules, [RandomBot()] * players, 5, {}, watchers=[Narrator(found.append, language)])
    match.play()
    texts: list[str] = []
    for each in found:
        rows = [] if isinstance(each, Line) else [each.columns, *each.rows]
        texts += [each.text, *(cell for row in rows for cell in row)]
    return match.game, [text for text in texts if text]


@pytest.mark.parametrize(
    ("ruleset", "players", "overlays"),
    [
        ("germany-2018", 3, ("power-grid/start-cities",)),
        ("usa-2018", 2, ()),
        ("germany-2004", 3, ()),
        ("bsw-baden-wuerttemberg", 3, ()),
    ],
)
def test_nothing_is_left_in_english(ruleset: str, players: int, overlays: tuple[str, ...]) -> None:
    game, german = told(ruleset, players, "de", overlays)
    _, english = told(ruleset, players, "en", overlays)
    graph = game.ruleset.model.graph
    assert graph is not None
    nodes = sorted((row.name for row in graph.nodes), key=len, reverse=True)

    def words(texts: list[str]) -> set[str]:
        without = (re.sub("|".join(map(re.escape, nodes)), "", text) for text in texts)
        return {word for text in without for word in re.findall(r"[^\W\d_]+", text)}

    alike = words(german) & words(english)
    assert alike <= {"Elektro", "in", "Konzern"}, alike
    assert len(german) >= len(english) - 1


def test_the_word_behind_a_number_and_names_of_cards_members_and_seats(tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    sections = """
        says:
          said: {en: "{number|plan|plans} of {gem}", de: "{number|Plan|Pläne} aus {gem}: {card}, {who}"}
          gem.ruby: {en: "ruby red", de: "Rubin"}
          card.plan: {en: "plan {card.number}", de: "Plan Nr. {card.number}"}
          seat: {en: "{team(who)} {who.number + 1}", de: "{team(who)} {who.number + 1}"}
          colour.red: {de: "Rot"}
          colour.blue: {de: "Blau"}
    """
    family = FAMILY.replace(
        'said: {with: {number: int}, says: "{number}"}',
        'said: {with: {number: int, gem: gem, card: plan, who: seat}, says: "{number}"}',
    )
    act = "note said(1, ruby, first(deck), seats[1])\nnote said(2, opal, first(deck), seats[0])\nend game"
    team = "team: {is: '(who: seat) -> colour: red if who.number == 0 else blue'}\n"
    ruleset = loaded(write(tmp_path, act, sections=sections, rules=team, family=family))
    game = ruleset.new_game(2, seed=random.Random(1).randrange(9))
    assert [line.text for line in game.log() if line.kind == "event"] == ["1 plan of ruby red", "2 plans of opal"]
    german = [line.text for line in game.log(language="de") if line.kind == "event"]
    assert german == ["1 Plan aus Rubin: Plan Nr. 1, Blau 2", "2 Pläne aus opal: Plan Nr. 1, Rot 1"]
