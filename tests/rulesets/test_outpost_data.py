"""What the rulebook of Outpost prints about cards and board holds for the files that take their place.

The rulebook has neither a list of cards nor a map. These tests hold for the printed components too: whoever has these
and writes them into `decks/` and `maps/` must find all of this true. Nothing here knows what was invented.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import interpreter
from interpreter.cli.main import cli
from tests.support import shared

FOLDER = Path(__file__).parents[2] / "rulesets" / "outpost"
NUMBERS = range(2, 7)


@shared
def model() -> Any:
    return interpreter.load("outpost").model


@shared
def cards() -> list[dict[str, Any]]:
    """The cards of the market, with the names of kinds."""
    kinds = {word: model().kinds[word].members for word in ("type", "back", "tech")}
    found = []
    for row in model().cards:
        if row.kind == "asset":
            values = dict(row.values)
            technology = values["technology"]
            values["type"], values["back"] = kinds["type"][values["type"]], kinds["back"][values["back"]]
            values["technology"] = None if technology is None else kinds["tech"][technology]
            found.append(values)
    return found


def of(type_: str) -> list[dict[str, Any]]:
    return [card for card in cards() if card["type"] == type_]


def area() -> dict[int, str]:
    regions = model().kinds["region"].members
    return {number: regions[node.values["region"]] for number, node in enumerate(model().graph.nodes)}


def test_there_are_46_cards() -> None:  # L38
    assert [len(of(type_)) for type_ in ("power", "housing", "technology")] == [22, 15, 8]
    assert sum(row.kind == "stage_3" for row in model().cards) == 1


def test_13_cards_from_2_to_14_have_a_plug_and_32_a_socket() -> None:  # L164
    plugs = [card["number"] for card in cards() if card["back"] == "plug"]
    assert (len(plugs), min(plugs), max(plugs)) == (13, 2, 14)
    assert len(cards()) - len(plugs) == 32


def test_several_cards_05_may_be_drawn_when_the_market_is_opened() -> None:  # L178
    assert sum(card["number"] == 5 and card["back"] == "plug" for card in cards()) >= 2


def test_plants_need_workers_and_give_power_and_dwellings_have_places() -> None:  # L69, L70
    assert all(card["workers"] > 0 and card["cities"] > 0 and card["places"] == 0 for card in of("power"))
    assert all(card["places"] > 0 and card["workers"] == card["cities"] == 0 for card in of("housing"))
    powerless = [card for card in of("technology") if card["technology"] != "moon_base"]
    assert all(card["places"] == card["workers"] == card["cities"] == 0 for card in powerless)


def test_single_cards_are_as_printed() -> None:  # L77, L81, L211, L229, L332, L350
    plants = {card["number"]: (card["workers"], card["cities"]) for card in of("power")}
    assert plants[12] == (2, 2)
    assert 4 in plants
    assert (plants[3][1], plants[25][1]) == (2, 5)
    assert plants[3][0] + plants[25][0] == 7
    assert any((card["number"], card["places"]) == (26, 3) for card in of("housing"))
    assert {16, 22} <= {card["number"] for card in cards()}
    places = [card["places"] for card in of("housing")]
    assert 2 in places or places.count(1) >= 2  # with the 26 they make Hedwig's five


def test_all_technologies_are_there_and_outpost_twice() -> None:  # L508 to L532
    every = Counter(card["technology"] for card in of("technology"))
    assert every == Counter([*model().kinds["tech"].members, "outpost"])
    (base,) = (card for card in of("technology") if card["technology"] == "moon_base")
    assert (base["places"], base["workers"], base["cities"]) == (3, 3, 4)


def test_there_are_46_connections_and_46_tiles_one_of_5_and_one_of_8() -> None:  # L51, L301
    tiles = [row.values["cost"] for row in model().cards if row.kind == "tile"]
    assert len(tiles) == len(model().graph.links) == 46
    assert {5, 8} <= set(tiles)
    assert min(tiles) >= 0


def test_there_are_a_large_area_and_two_small_ones() -> None:  # L115, L117
    sizes = Counter(area().values())
    assert len(sizes) == 3
    large = max(sizes, key=lambda name: sizes[name])
    assert all(sizes[name] < sizes[large] for name in sizes if name != large)
    game = interpreter.load("outpost").new_game(players=3, seed=1)
    assert {area()[node] for node in game.state.cells[game.machine.constants.layout.base["area"]]} == {large}


def test_every_city_has_three_fields_for_houses_and_one_more() -> None:  # L91, L284, L404, L419
    fields = model().kinds["field"].members
    for number in range(len(model().graph.nodes)):
        printed = [place.values for place in model().graph.places if place.node == number]
        assert [(p["price"], p["opens"], fields[p["takes"]]) for p in printed] == [
            *((10, 1, "house"), (15, 2, "house"), (20, 3, "house")),
            (5, 1, "structure"),
        ]


def test_the_cities_of_every_area_that_may_be_in_play_hang_together() -> None:  # L117, L123
    regions = model().kinds["region"].members
    large = max(regions, key=lambda name: sum(other == name for other in area().values()))
    small = [name for name in regions if name != large]
    for used in ([large], *([large, name] for name in small), list(regions)):
        cities = {number for number, name in area().items() if name in used}
        reached, front = set[int](), [min(cities)]
        while front:
            city = front.pop()
            reached.add(city)
            ends = [(link.a, link.b) for link in model().graph.links if city in (link.a, link.b)]
            front.extend(other for pair in ends for other in pair if other in cities - reached)
        assert reached == cities


def test_nine_fields_hold_as_many_workers_as_printed_and_the_last_costs_10() -> None:  # L125 to L129, L332, L354
    fields = model().tables["labour_fields"].cells
    for players, each, total in zip(NUMBERS, (3, 3, 4, 5, 5), (30, 30, 40, 50, 50), strict=True):
        found = {price: number for (number_of, price), number in fields.items() if number_of == players and number}
        assert len(found) == 9
        assert max(found) == 10
        assert [found[price] for price in sorted(found)] == [each] * 8 + [2 * each]
        assert sum(found.values()) == total == model().tables["workers_in_play"].cells[(players,)]
        assert {4, 5} <= set(found)


def test_nothing_supplied_is_paid_10_and_six_cities_73() -> None:  # L346, L350
    payout = [amount for _, amount in sorted(model().tables["payout"].cells.items())]
    assert (payout[0], payout[6]) == (10, 73)
    assert payout == sorted(set(payout))
    assert len(payout) > max(model().tables["end_cities"].cells.values())


def test_what_is_reconstructed_says_so() -> None:
    """Each card, tile, city and connection, and the tables of the board, say where they come from."""
    deck = yaml.safe_load((FOLDER / "decks" / "reconstructed.yaml").read_text(encoding="utf-8"))
    board = yaml.safe_load((FOLDER / "maps" / "reconstructed.yaml").read_text(encoding="utf-8"))
    tables = [deck["cards"]["asset"], deck["cards"]["tile"], board["nodes"], board["links"]]
    for table in tables:
        heads, *rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
        assert {row[heads.index("provenance")] for row in rows} <= {"rulebook", "reconstructed"}
        assert sum(int(dict(zip(heads, row, strict=True)).get("copies", 1)) for row in rows) >= 35
    heads, *rows = [[cell.strip() for cell in line.split("|")] for line in tables[0].splitlines()]
    assert {row[0] for row in rows if row[heads.index("provenance")] == "rulebook"} == {"plant 12", "dwelling 26a"}
    assert all(table["provenance"] == "reconstructed" for table in board["tables"].values())
    assert all(file["provenance"].startswith("reconstructed") for file in (deck, board))


@pytest.mark.parametrize("command", [["show", "outpost"], ["run", "outpost", "--players", "3", "--seed", "1"]])
def test_show_and_each_game_tell_that_cards_and_board_are_reconstructed(command: list[str]) -> None:
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    told = [line for line in result.stdout.splitlines() if ": reconstructed." in line]
    assert [line.split(":")[0] for line in told] == ["map outpost/reconstructed", "deck outpost/reconstructed"]
