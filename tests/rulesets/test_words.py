"""A family told in another language: nothing of a game is left in English."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from interpreter.base.messages import frame
from interpreter.base.yaml_values import word
from interpreter.bots.planless import RandomBot
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import BoardTable, Line, prompt_of
from interpreter.language.model import Model
from interpreter.language.translations import asks_of, sayable_in
from interpreter.language.types import (
    BagType,
    CardType,
    KindType,
    ListType,
    PilesType,
    PileType,
    RecordType,
    RoomType,
    SetType,
    Type,
    ZoneType,
)
from interpreter.loading.load import load
from interpreter.pages.markdown import markdown_of
from interpreter.pages.rulebook import rulebook_of
from interpreter.play.match import Match
from interpreter.play.narration import Narrator, boards_of
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import rulesets_of
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


def unsaid(model: Model, language: str) -> list[str]:
    """Return the keys of shown texts that have no translation in a language."""
    shown = set(_shown(model))
    return [name for name in sayable_in(model) if name in shown and language not in _texts(model, name)]


def _texts(model: Model, name: str) -> Iterable[str]:
    event = model.events.get(name)
    return {*model.says.get(name, {}), *(event.says if event is not None else ())}


def _shown(model: Model) -> Iterator[str]:
    """Yield the keys of texts that a game can show. An empty text hides a key."""
    yield from ("seat", "none", "nothing", "empty", "yes", "no", f"title.{model.id}")
    yield from (f"result.{name}" for name in model.key_names)
    for name in model.alternatives:
        if model.says.get(name) is None or any(phrase.parts for phrase in model.says[name].values()):
            yield name
    yield from (name for name, event in model.events.items() if any(phrase.parts for phrase in event.says.values()))
    yield from (name for name in model.says if "." not in name)
    for ask in asks_of(model):
        yield f"decision.{ask.name}"
        terms = [("button", option.name) for option in ask.options]
        terms += [("slot", choice.name) for option in ask.options for choice in option.choices]
        yield from (f"{form}.{ask.name}.{name}" for form, name in terms if f"{form}.{name}" not in model.says)
        yield from (f"decision.{ask.name}.{name}" for name, _ in ask.context)
        if f"asks.{ask.name}" in model.says:
            yield f"asks.{ask.name}"
        if ask.sealed:
            yield "chooses"
    for panel in model.panels:
        if f"table.{panel.name}" in model.says:
            yield f"table.{panel.name}"
        yield from (f"table.{panel.name}.{name}" for name in panel.heads)
    for name in (f"marks.{mark.name}" for mark in model.marks):
        if any(isinstance(part, str) for phrase in model.says[name].values() for part in phrase.parts):
            yield name
    for board in model.boards:
        if any(phrase.parts for phrase in board.says.values()):
            yield f"boards.{board.name}"
        yield from (f"boards.{board.name}.{name}" for name, _ in board.columns)
    yield from (f"role.{role.name}" for role in model.roles.values() if role.seats == 1)
    for type_ in dict.fromkeys(_types(model)):
        if isinstance(type_, KindType):
            yield from (f"{type_.name}.{member}" for member in model.members(type_.name))
        if isinstance(type_, CardType | PileType):
            kinds = [type_.name] if type_.name else list(model.card_kinds)
            loose = (kind for kind in kinds if model.card_kinds[kind].key is None or f"card.{kind}" in model.says)
            yield from (f"card.{kind}" for kind in loose)


def _types(model: Model) -> Iterator[Type]:
    """Yield the types of all shown values, and the types that they are made of."""
    phrases = [*model.says.values(), *(e.says for e in model.events.values()), *(b.says for b in model.boards)]
    parts = [
        part for texts in phrases for phrase in texts.values() for part in phrase.parts if not isinstance(part, str)
    ]
    values = [*parts, *(value for board in model.boards for _, value in board.columns)]
    contexts = (value for ask in asks_of(model) for _, value in ask.context)
    front = [*(value.type for value in (*values, *contexts))]
    seen: set[Type] = set()
    while front:
        type_ = front.pop()
        if type_ in seen:
            continue
        seen.add(type_)
        yield type_.sure
        match type_:
            case ListType(of=of) | SetType(of=of) | RoomType(of=of):
                front.append(of)
            case BagType(name=name):
                front.append(KindType(name))
            case ZoneType(name=name) | PilesType(name=name):
                front.append(CardType(name))
            case RecordType(name=name):
                front.extend(model.records[name].values())
            case _:
                pass


FAMILY_OF = Path("rulesets/power-grid")
ALL = [each.id for each in rulesets_of(shelf_for()) if word(each.head.family) == "power-grid"]


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
    team = "team(who) -> colour: {is: 'red if who.number == 0 else blue'}\n"
    ruleset = loaded(write(tmp_path, act, sections=sections, rules=team, family=family))
    game = ruleset.new_game(2, seed=random.Random(1).randrange(9))
    assert [line.text for line in game.log() if line.kind == "event"] == ["1 plan of ruby red", "2 plans of opal"]
    german = [line.text for line in game.log(language="de") if line.kind == "event"]
    assert german == ["1 Plan aus Rubin: Plan Nr. 1, Blau 2", "2 Pläne aus opal: Plan Nr. 1, Rot 1"]


def test_a_declaration_without_english_words_is_read_in_its_first_language_by_all_others(tmp_path: Path) -> None:
    found = "events:\n  found: {with: {number: int}, says: {de: '{number} gefunden', it: '{number} trovato'}}\n"
    family = FAMILY.replace("events:\n", found)
    game = loaded(write(tmp_path, "note found(3)\nend game", family=family)).new_game(2, seed=1)
    texts = {language: {line.text for line in game.log(language=language)} for language in ("en", "fr", "it")}
    assert all("3 gefunden" in texts[language] for language in ("en", "fr"))
    assert "3 trovato" in texts["it"]


def test_texts_that_only_a_translation_has_stay_out_of_other_languages(tmp_path: Path) -> None:
    """A file of words may name what the family leaves to the defaults: phases, alternatives, prompts, headings."""
    act = "choose pick by seats[0]:\n  grab number in 1 .. 2:\n    note said(number)\nend game"
    path = write(
        tmp_path, act, sections="\nboards: {sums: {when: end of game, rows: who in seats, columns: {n: who}}}\n"
    )
    german = {"act": "Ablauf", "pick.grab": "{who} greift {number}", "asks.pick": "{actor} soll greifen"}
    german |= {"boards.sums": "Zahlen", "rules.act": "Verlauf", "boards.sums.n": "Zahl"}
    words = path.parent / "words/de.yaml"
    plain = loaded(path)

    def shown(ruleset: Ruleset, language: str) -> list[str]:
        game = ruleset.new_game(2, seed=1)
        prompt = prompt_of(game.table, game.state, game.decision, language) if game.decision else ""
        game.apply({"do": "grab", "number": 2})
        boards = [
            text for board in boards_of(game, language, None, "end of game") for text in (board.text, *board.columns)
        ]
        return [prompt, *(line.text for line in game.log(language=language)), *boards]

    default = shown(plain, "en")
    words.parent.mkdir()
    is_ = "".join(f'  {name}: "{text}"\n' for name, text in german.items())
    words.write_text(f"language: 2\nwords: {path.parent.name}/de\nis:\n{is_}", encoding="utf-8")
    translated = loaded(path)
    assert shown(translated, "en") == shown(translated, "fr") == default
    assert not [text for text in german.values() if text in markdown_of(rulebook_of(translated))]
    assert {"Ablauf", "Spieler 1 greift 2", "Spieler 1 soll greifen", "Zahlen", "Zahl"} <= {*shown(translated, "de")}
