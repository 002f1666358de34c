"""Refusals are words: whatever a person does in the form of a table or at the table, no code answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.error import HTTPError

import pytest

from interpreter.bots.registry import bots_of, default_bots
from interpreter.engine.game import Game
from interpreter.language.types import NODE, SEAT, KindType
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.serve.pointing import CARD, Pointing, Thing, Unfinished
from interpreter.serve.setting_up import reason_data, refusal_of
from interpreter.serve.words import LANGUAGES, in_language
from tests.serve.served import Served

CODE = re.compile(r"`|\w_\w|\w\(|[=<>!]=|\b[ERW]\d{3}\b|\[|\]|\bgot\b")
"""What words of players do not have: expressions, names of rules, codes of errors, words of Python."""
WRONG = ["x", "0", "-1", "99", "1,1", "0,1,2,3,4,5,6", "1-2-3,1", ",", "<b>", "1" * 300, "yes", "None"]
STACKS = [
    ("germany-2018", (), 3),
    ("bsw-germany", ("power-grid/robots",), 3),
    ("germany-2018", ("power-grid/konzern",), 2),
    ("germany-2018", ("power-grid/start-cities",), 3),
    ("korea-2018", (), 3),
    ("australia-2004", (), 4),
    ("outpost", (), 3),
    ("outpost", ("outpost/konzern",), 2),
    ("goofspiel", (), 3),
]


@pytest.mark.parametrize(("id", "overlays", "players"), STACKS, ids=lambda each: str(each).replace("/", "-"))
def test_every_wrong_setting_is_refused_in_words(id: str, overlays: tuple[str, ...], players: int) -> None:
    ruleset, refused = load(id, overlays), 0
    for name in (*ruleset.model.settings, *ruleset.model.interpretations):
        setting = ruleset.model.settings.get(name)
        members = ruleset.model.members("region") if setting is not None and "region" in str(setting.type) else ()
        for value in (*WRONG, *members[:1], ",".join(members), ",".join(members[:1] * players)):
            try:
                ruleset.new_game(players, 1, {name: value})
            except ValueError as error:
                for language in LANGUAGES:
                    with in_language(language):
                        said = str(refusal_of(error, ruleset))
                    readings = ruleset.model.interpretations.get(name)
                    if readings is None:  # a form lists the readings; a command types their names
                        assert not CODE.search(said), (name, value, said)
                        refused += 1
    assert refused or not ruleset.model.settings


def things(game: Game) -> Iterator[Thing]:
    """Yield everything that somebody could click."""
    model = game.ruleset.model
    yield from (Thing(CARD, card) for card in range(len(model.cards)))
    yield from (Thing(NODE, node) for node in range(len(model.graph.nodes) if model.graph else 0))
    yield from (Thing(SEAT, seat) for seat in game.table.machine.constants.seats)
    yield from (Thing(KindType(kind), member) for kind in model.kinds for member in range(len(model.members(kind))))


@pytest.mark.parametrize(("id", "overlays", "players"), STACKS, ids=lambda each: str(each).replace("/", "-"))
def test_every_thing_that_cannot_be_picked_is_refused_in_words(
    id: str, overlays: tuple[str, ...], players: int
) -> None:
    """In every language, at the first moments of each decision of a game; where a ruleset has no words, its rulebook
    tells it."""
    ruleset, seen, told = load(id, overlays), dict[str, int](), 0
    match = Match(ruleset, bots_of(default_bots(ruleset), ruleset, players), 3)
    while match.step():
        now = match.game.decision
        if now is None or seen.setdefault(now.name, 0) == 4:
            continue
        seen[now.name] += 1
        for thing in things(match.game):
            pointing = Pointing(match.game, now, now.codes, Unfinished())
            if thing in pointing.can():
                continue
            for language in LANGUAGES:
                with in_language(language):
                    shown = [reason_data(ruleset, each, language) for each in pointing.refusal(thing, language)]
                for each in shown:
                    assert each["text"] or any(cite.text for cite in each["cites"])  # type: ignore[attr-defined]
                    assert not CODE.search(str(each["text"])), each["text"]
                    told += 1
    assert told > 10


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("refusals") / "tables.sqlite")
    yield running
    running.close()


def test_the_form_says_which_players_and_overlays_fit(served: Served) -> None:
    def answer(ruleset: str, players: int, *more: tuple[str, str]) -> str:
        with pytest.raises(HTTPError) as caught:
            served.post(f"/new/{ruleset}", [("players", str(players)), *more])
        page = caught.value.read().decode()
        assert caught.value.code == 409
        assert not re.search(r"\bE\d{3}\b|<pre|\.yaml", page)
        (refused,) = re.findall(r'class="refused" role="alert">(.*?)</p>', page)
        return str(refused).strip()

    assert answer("germany-2018", 7) == "This game is for 2 to 6 players, not 7."
    konzern = ("overlay", "power-grid/konzern")
    assert answer("germany-2018", 3, konzern) == "This game is for 2 players, not 3."
    both = ("overlay", "power-grid/robots"), ("overlay", "power-grid/konzern")
    assert "do not fit each other" in answer("germany-2004", 2, *both)
