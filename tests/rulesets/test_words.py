"""A family told in another language: nothing of a game is left in English."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from interpreter.base.messages import frame
from interpreter.bots.planless import RandomBot
from interpreter.engine.game import Game
from interpreter.engine.ruleset import load
from interpreter.engine.views import BoardTable, Line
from interpreter.language.translations import asks_of, unsaid
from interpreter.play.match import Match
from interpreter.play.narration import Narrator
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


@pytest.mark.slow
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


FAMILY_OF = Path("rulesets/power-grid")
ALL = sorted(path.stem for path in FAMILY_OF.glob("*.yaml") if path.stem not in ("family", "waivers"))


@pytest.mark.parametrize(
    ("ruleset", "overlays"),
    [
        *((ruleset, ()) for ruleset in ALL),
        *(("germany-2018", (overlay,)) for overlay in ("konzern", "start-cities", "hidden-money")),
        *(("germany-2004", (overlay,)) for overlay in ("robots", "beginners")),
        ("bsw-germany", ("robots",)),
    ],
)
def test_all_that_a_game_of_power_grid_can_show_has_german_words(ruleset: str, overlays: tuple[str, ...]) -> None:
    model = load(ruleset, overlays).model
    assert unsaid(model, "de") == []
    lines = [*model.alternatives, *model.events]
    assert [line for line in lines if (said := model.says.get(line)) and "en" not in said] == []


@pytest.mark.parametrize(
    ("ruleset", "overlays"),
    [
        *((ruleset, ()) for ruleset in [*ALL, "goofspiel", "outpost"]),
        *(("germany-2018", (overlay,)) for overlay in ("konzern", "start-cities")),
        ("germany-2004", ("robots",)),
        ("outpost", ("konzern",)),
    ],
)
def test_every_decision_has_a_prompt_in_words(ruleset: str, overlays: tuple[str, ...]) -> None:
    model = load(ruleset, overlays).model
    assert sorted({ask.name for ask in asks_of(model) if f"asks.{ask.name}" not in model.says}) == []


def test_what_has_no_words_yet_is_listed(tmp_path: Path) -> None:
    ruleset = loaded(
        write(tmp_path, "note said(1)\nend game", sections="says: {said: {en: '{number}', de: '{number}!'}}\n")
    )
    lacking = unsaid(ruleset.model, "de")
    assert "said" not in lacking
    assert {"seat", "title.tiny", "result.score"} <= set(lacking)


def test_every_language_of_the_program_has_all_its_texts_with_the_same_values() -> None:
    folder = Path("interpreter/base/texts")
    texts = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    assert set(texts) >= {"en", "de"}
    for language, known in texts.items():
        assert list(known) == list(texts["en"]), language
        for name, text in known.items():
            values = [set(re.findall(r"\{(\w+)", each)) for each in (text, texts["en"][name])]
            assert values[0] == values[1], (language, name)
    assert frame("de", "left", n=1) == "verlassen nach 1 Entscheidung"
    assert frame("xx", "left", n=2) == "left after 2 choices"


def test_the_word_behind_a_number_and_names_of_cards_members_and_seats(tmp_path: Path) -> None:
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
