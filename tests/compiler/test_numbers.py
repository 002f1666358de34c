"""Cards, members of kinds, roles, nodes and seats are numbers: wherever those of a kind begin, both forms play,
measure, show and name the same."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from interpreter.bots.player import Stream
from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import Spoken
from interpreter.language.types import LINK, NODE, PLACE, SEAT, CardType, KindType, ZoneType
from interpreter.loading.load import load
from interpreter.play.module_export import standalone
from interpreter.reading.files import Shelf, shelf_for
from interpreter.simulate.simulation import WholeGames, finished, played
from interpreter.simulate.summary import summary, summed_up
from interpreter.simulate.totals import Totals, totalled
from tests.compiler.pair import FOLDER, Pair, machines, play
from tests.support import shared

pytestmark = pytest.mark.usefixtures("at_once")
NAMES = ["fair/fair.yaml", "fair/larger.yaml", "konzern/huts.yaml", "stage-card/three.yaml", "piles/stalls.yaml"]
GAMES = 12


@shared
def ruleset(name: str) -> tuple[Ruleset, int]:
    found = load(FOLDER / name)
    return found.for_players(found.players.usual), found.players.usual


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_play_the_same_game(name: str) -> None:
    _, players = ruleset(name)
    path = str(FOLDER / name)
    machines(path, players)[1].bailouts = 0
    for seed in range(4):
        pair = Pair(path, players, seed)
        play(pair, random.Random(seed))
        assert (pair.failure, pair.fast.bailouts) == (None, 0)


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_measure_the_same(name: str) -> None:
    rules, players = ruleset(name)
    bots = bots_of("random", rules, players)
    runner = rules.table(players, rules.settings({})).runner
    runner.plain = True
    plain = list(finished(played(WholeGames(rules, bots), range(GAMES))))
    runner.plain = False
    whole = WholeGames(rules, bots)
    module = [row for seed in range(GAMES) if (row := whole.row(seed)) is not None]
    assert len(module) == GAMES, "the module plays every game whole"
    taken = [{name: sorted(map(repr, row.taken[name])) for name in row.taken} for row in plain]
    assert [{name: sorted(map(repr, row.taken[name])) for name in row.taken} for row in module] == taken
    together = Totals()
    for totals in totalled(whole, range(GAMES)):
        together += totals
    seats = ["random"] * players
    added, one_by_one = summed_up(rules, seats, together), summary(rules, seats, plain)
    assert {**added, "free_decisions": 0, "processor_seconds": 0} == {
        **one_by_one,
        "free_decisions": 0,
        "processor_seconds": 0,
    }


@pytest.mark.parametrize("name", NAMES)
def test_names_of_a_module_are_those_of_its_numbers(name: str) -> None:
    rules, players = ruleset(name)
    table = rules.table(players, rules.settings({}))
    names = standalone(rules, players, rules.settings({}), ("random",)).manifest["names"]
    model, public = rules.model, table.names.public
    for kind in (*model.kinds, "role", "phase"):
        type_ = KindType(kind)
        assert names["kind"][kind] == [public(number, type_) for number in model.values(type_)]
    for word, of in (("node", NODE), ("place", PLACE), ("link", LINK)):
        assert names[word] == [public(number, of) for number in model.values(of)]
    for kind in model.card_kinds:
        own = [number for number, of in enumerate(names["card_kind"]) if of == kind]
        assert own == list(model.values(CardType(kind)))
        assert [names["card"][number] for number in own] == [public(number, CardType(kind)) for number in own]


def test_the_only_seat_of_a_role_is_called_by_the_role() -> None:
    """Also behind a role with as many seats as a setting has items, and if the number of players is open."""
    rules, players = ruleset("fair/larger.yaml")
    for birds in (0, 3):
        game = Game.begin(rules, rules.table(players, rules.settings({"birds": "1" * birds})), 1, None)
        guard = players + 1 + birds
        spoken = Spoken(game.table, game.state, "en")
        assert [spoken.text(seat, SEAT) for seat in (0, players, guard)] == ["player 1", "clerk", "guard"]
        view = game.view()
        assert len(view["seats"]) == guard + 1


def test_a_role_that_nobody_sees_may_be_any() -> None:
    rules, players = ruleset("fair/larger.yaml")
    game = Game.begin(rules, rules.table(players, rules.settings({})), 1, None)
    base = game.machine.constants.layout.base["duty"]
    worlds, stream = Worlds(game, 1), Stream(1, "test")
    dealt = {worlds.deal(number, stream.below).state.cells[base] for number in range(60)}
    assert dealt == set(range(len(rules.model.roles)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "family"), [("germany-2004", "power-grid"), ("goofspiel", "goofspiel"), ("outpost", "outpost")]
)
def test_a_card_before_all_others_changes_no_measurement(tmp_path: Path, id: str, family: str) -> None:
    shelf = shelf_for()
    file = tmp_path / family / "overlays/attic.yaml"
    file.parent.mkdir(parents=True)
    text = f"language: 2\noverlay: {family}/attic\nover: [{family}]\ncards:\n  bonus: {{is: 1}}\n"
    boxes = [group for group in load(id).model.groups.values() if group.starts == "all" and group.type == ZoneType()]
    file.write_text(text if boxes else f"{text}zones:\n  attic: {{of: bonus, start: all}}\n", encoding="utf-8")
    plain, taller = load(id), load(id, [f"{family}/attic"], Shelf([*shelf.roots, tmp_path]))
    assert taller.model.cards[0].kind == "bonus"
    rows = []
    for rules in (plain, taller):
        players = rules.players.usual
        whole = WholeGames(rules, bots_of("random", rules.for_players(players), players))
        rows.append([whole.row(seed) for seed in range(3)])
    for before, after in zip(*rows, strict=True):
        assert before is not None
        assert after is not None
        assert before.as_dict() == after.as_dict()
