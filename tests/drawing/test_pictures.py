"""Pictures of graphs: nothing lies over anything else, and all that a map says can be read."""

from __future__ import annotations

import re
from cmath import rect
from collections import Counter
from collections.abc import Sequence
from math import pi, sqrt
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import interpreter
from interpreter.base.diagnostics import RulesetError
from interpreter.drawing.board import drawn
from interpreter.drawing.colours import SEATS, colours_for
from interpreter.drawing.picture import (
    Heap,
    Laid,
    Picture,
    Piece,
    Slot,
    Spot,
    Tie,
    picture_of,
    unplayed,
    without_pieces,
)
from interpreter.drawing.plan import arranged
from interpreter.engine.game import Game
from tests.drawing.grids import MEADOWS, meadows
from tests.drawing.seen import Seen, seen
from tests.maps.test_maps import MAPS, graph_of, regions_of, ruleset_with
from tests.play.toy import changed

CASES = Path(__file__).parents[1] / "cases"
POND = Path(__file__).parents[1] / "bad" / "_base" / "pond" / "pond.yaml"


def picture(
    names: Sequence[str],
    links: Sequence[tuple[int, int]],
    at: Sequence[tuple[int, int]] | None = None,
    places: int = 0,
) -> Picture:
    """A picture with nothing special."""
    slots = tuple(Slot("5", None, None) for _ in range(places))
    spots = (Spot(name, name, None, False, at[node] if at else None, slots) for node, name in enumerate(names))
    ties = (Tie(a, b, 7, "7", None) for a, b in links)
    return Picture("A picture", tuple(spots), tuple(ties), (), ())


def inside(found: Seen) -> bool:
    """Whether the picture is large enough for what is on it, wherever its origin lies."""
    xs = [x for _, (x, _), _, _ in found.discs] + [side for _, box in found.names for side in (box[0], box[2])]
    ys = [y for _, (_, y), _, _ in found.discs] + [side for _, box in found.names for side in (box[1], box[3])]
    return max(xs) - min(xs) < found.width and max(ys) - min(ys) < found.height


def area(corners: Sequence[tuple[float, float]]) -> float:
    """What a field takes up, in squares and hexagons alike."""
    ends = zip(corners, [*corners[1:], corners[0]], strict=True)
    return abs(sum(x * oy - y * ox for (x, y), (ox, oy) in ends)) / 2


@pytest.fixture(scope="module", params=MAPS)
def board(request: pytest.FixtureRequest) -> tuple[str, Seen]:
    name: str = request.param
    return name, seen(drawn(picture_of(unplayed(ruleset_with(name)))))


class TestShippedMaps:
    @pytest.mark.slow
    def test_nothing_lies_over_anything_else(self, board: tuple[str, Seen]) -> None:
        assert board[1].overlaps() == []
        assert inside(board[1])

    def test_all_names_costs_and_places_can_be_read(self, board: tuple[str, Seen]) -> None:
        name, found = board
        graph, shown = graph_of(name), picture_of(unplayed(ruleset_with(name)))
        assert [disc for disc, *_ in found.discs] == [node.name for node in graph.nodes]
        for node, spot in zip(graph.nodes, shown.spots, strict=True):
            assert spot.label in (node.name, f"{node.name} {node.values.get('entry')}")
        written = "".join(line for line, _ in found.names).replace(" ", "")
        assert written == "".join(spot.label for spot in shown.spots).replace(" ", "")
        assert [tag for tag, _ in found.tags] == [tie.label for tie in shown.ties if tie.label]
        if costs := [str(link.values["cost"]) for link in graph.links if "cost" in link.values]:
            assert [tag for tag, _ in found.tags] == costs
        assert len(found.links) == len(graph.links)
        assert len(found.places) == len(graph.places)

    def test_a_link_leads_from_its_one_end_to_the_other(self, board: tuple[str, Seen]) -> None:
        name, found = board
        rounded = 0.005 + 1e-9  # ends are written with two places; the middle of a shape follows from its corners
        for link, points in zip(graph_of(name).links, found.links, strict=True):
            assert points[0] == pytest.approx(found.discs[link.a][1], rel=0, abs=rounded)
            assert points[-1] == pytest.approx(found.discs[link.b][1], rel=0, abs=rounded)

    def test_regions_have_colours_that_the_legend_names(self, board: tuple[str, Seen]) -> None:
        """Regions, or whatever else the map colours its nodes by."""
        name, found = board
        shown = picture_of(unplayed(ruleset_with(name)))
        colours: dict[str | None, set[str]] = {}
        for spot, (_, _, _, fill) in zip(shown.spots, found.discs, strict=True):
            colours.setdefault(spot.colour, set()).add(fill)
        assert all(len(fills) == 1 for fills in colours.values())
        assert len(set.union(*colours.values())) == len(colours) == len(shown.legend)
        assert found.legend == [what for what, _ in (*shown.legend, *shown.shapes)]
        regions = regions_of(name)
        if set(regions.values()) & {what for what, _ in shown.legend}:
            by_region: dict[str, set[str]] = {}
            for disc, _, _, fill in found.discs:
                by_region.setdefault(regions[disc], set()).add(fill)
            assert all(len(fills) == 1 for fills in by_region.values())
            assert set(by_region) == {what for what, _ in shown.legend}

    def test_nodes_stay_about_where_the_map_has_them(self, board: tuple[str, Seen]) -> None:
        """What lies well to the right of, or below, something else on the map does so on the picture."""
        name, found = board
        nodes = graph_of(name).nodes
        for axis in (0, 1):
            for one, (_, centre, *_) in zip(nodes, found.discs, strict=True):
                for other, (_, second, *_) in zip(nodes, found.discs, strict=True):
                    assert one.at is not None
                    assert other.at is not None
                    if one.at[axis] > other.at[axis] + 60:
                        assert centre[axis] > second[axis], (one.name, other.name)


def test_a_picture_is_the_same_each_time() -> None:
    ruleset = interpreter.load("usa-2018")
    assert drawn(picture_of(unplayed(ruleset))) == drawn(picture_of(unplayed(ruleset)))


def test_a_picture_follows_the_game_and_is_shared_while_nothing_on_it_changes() -> None:
    game = interpreter.load(CASES / "building" / "isles.yaml").new_game(2, seed=1)
    places, numbers = game.machine.constants.layout.cells("piece"), set[int]()
    while game.decision is not None and len(game.choices) < 30:
        shown = picture_of(game, 0)
        assert picture_of(game.clone(), 1) is shown
        pieces = [slot.piece for spot in shown.spots for slot in spot.slots if slot.piece is not None]
        assert len(pieces) == sum(game.state.cells[place] is not None for place in places)
        numbers.add(len(pieces))
        game.apply(next(iter(game.decision.options)))
    assert len(numbers) > 2


# --- other families


def test_another_family_is_drawn_as_it_says() -> None:
    found = seen(drawn(picture_of(unplayed(interpreter.load(CASES / "building" / "isles.yaml")))))
    assert found.title == "Huts on isles"
    assert found.legend == ["north", "south", "west"]
    assert [tag for tag, _ in found.tags] == ["3", "4", "9", "1", "2", "20"]
    assert found.overlaps() == []


def test_templates_shapes_arrows_and_hidden_links() -> None:
    shown = picture_of(unplayed(interpreter.load(CASES / "ferries" / "ferries.yaml")))
    assert [spot.label for spot in shown.spots] == ["Ask (1)", "Bo (4)", "Col (0)", "Dun (2)", "Eel (0)"]
    assert [spot.shape for spot in shown.spots] == ["circle", "circle", "square", "square", "square"]
    assert [(tie.a, tie.b, tie.label, tie.one_way) for tie in shown.ties] == [
        (1, 2, "1 + 0", True),
        (2, 1, "6 + 4", True),
        (3, 4, "3 + 0", True),
    ]
    svg = drawn(shown)
    assert svg.count('class="head"') == 3
    assert seen(svg).legend == ["no", "yes"]
    assert seen(svg).overlaps() == []


@pytest.mark.parametrize(
    ("at", "size"),
    [
        ([(0, 0), (10, 0), (20, 0), (0, 10), (10, 10), (20, 10), (0, 20), (10, 20), (20, 20)], 1),
        ([(0, 0), (100, 0), (200, 0), (50, 87), (150, 87), (0, 174), (100, 174), (200, 174)], sqrt(3) / 2),
    ],
)
def test_on_a_grid_nodes_stay_where_they_are_as_fields_that_touch(at: list[tuple[int, int]], size: float) -> None:
    found = replace(picture([str(node) for node in range(len(at))], [(0, 1)], at), grid=True)
    plan = arranged(found)
    step = plan.centres[1].real - plan.centres[0].real
    moved = [(centre - plan.centres[0]) * at[1][0] / step for centre in plan.centres]
    assert [(each.real, each.imag) for each in moved] == [pytest.approx(each) for each in at]
    assert [area(field) / step**2 for field in seen(drawn(found)).fields] == [pytest.approx(size, rel=0.02)] * len(at)


def laid(game: Game) -> Game:
    """A game in which the first seat has laid a card, turned to the east, and put a man at its north."""
    option = game.decision.options[0].as_dict() if game.decision is not None else {}
    game.apply({**option, "turn": "east"})
    game.apply({"do": "stand", "place": {"plot": option["plot"], "place": 2}})
    return game


def test_a_card_lies_turned_on_its_field_in_the_colours_of_its_face() -> None:
    game = laid(interpreter.load(MEADOWS).new_game(2, chance={"bag": [[1, 2, 3, 3, 4, 1, 2, 2, 4, 4, 1, 2]]}))
    found = picture_of(game)
    wood, field, road = (colours_for([word])[word] for word in ("green", "yellow", "brown"))
    (spot,) = (spot for spot in found.spots if spot.laid is not None and spot.laid.turn)
    assert spot.laid == Laid("2", (wood, wood, road, road), 0.25, "2 east")
    (first,) = (spot.laid for spot in found.spots if spot.laid is not None and not spot.laid.turn)
    assert first.colours == (wood, field, road, field)
    svg = drawn(found)
    assert svg.count("rotate(90)") == 1
    parts = re.findall(r'<path d="M0 0[^"]*" fill="([^"]*)"', svg)
    assert parts == [wood, road, road, field, road, field]  # the first side is the ground of its card
    assert without_pieces(found).spots == picture_of(unplayed(game.ruleset)).spots


def test_tokens_lie_on_their_field_with_their_number_in_the_colour_of_their_kind(tmp_path: Path) -> None:
    path = meadows(tmp_path, "{card: node.laid}", "{tokens: node.eggs}")
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8")
    text = text.replace("graph:\n", "tokens: {egg: {green: open, brown: open}}\ngraph:\n")
    text = text.replace("  holds:\n    laid:", "  holds:\n    eggs: {pool: egg, start: EGGS}\n    laid:")
    eggs = '"2 of brown + plot.column of green if plot.row * plot.column == 1 else 1 of brown"'
    family.write_text(text.replace("EGGS", eggs), encoding="utf-8")
    found = picture_of(interpreter.load(path).new_game(2))
    green, brown = (colours_for([word])[word] for word in ("green", "brown"))
    assert found.spots[0].heaps == (Heap(1, green, "green"), Heap(2, brown, "brown"))
    assert {spot.heaps for spot in found.spots[1:]} == {(Heap(1, brown, "brown"),)}
    assert found.legend == (("green", green), ("brown", brown))
    svg = drawn(found)
    assert re.findall(r'class="heap"[^>]*>(\d)', svg) == ["1", "2", "1"]  # alike heaps are one symbol
    assert seen(svg).legend[:2] == ["green", "brown"]
    assert without_pieces(found).spots[0].heaps == ()
    family.write_text(text.replace("EGGS", f"{eggs}, seen: no one"), encoding="utf-8")
    assert not any(spot.heaps for spot in picture_of(interpreter.load(path).new_game(2), 0).spots)


def test_tokens_lie_on_their_place_below_the_piece(tmp_path: Path) -> None:
    path = meadows(
        tmp_path, "{side: place.side, piece: place.piece}", "{side: place.side, piece: place.piece, tokens: place.eggs}"
    )
    family = path.parent / "family.yaml"
    text = family.read_text(encoding="utf-8").replace("graph:\n", "tokens: {egg: {green: open, brown: open}}\ngraph:\n")
    eggs = 'holds: {eggs: {pool: egg, start: "place.number of brown if place.side == east else 0 of brown"}}'
    family.write_text(text.replace("{side: direction?}", f"{{side: direction?, {eggs}}}"), encoding="utf-8")
    game = interpreter.load(path).new_game(2)
    found, brown = picture_of(game), colours_for(["green", "brown"])["brown"]
    assert {slot.heaps for spot in found.spots for slot in spot.slots if slot.side == 0.25} == {
        (Heap(3, brown, "brown"),)
    }
    assert not any(slot.heaps for spot in found.spots for slot in spot.slots if slot.side != 0.25)
    assert {slot.piece is not None for spot in found.spots for slot in spot.slots if slot.heaps} == {True, False}
    assert re.findall(r'class="heap"[^>]*>(\d)', drawn(found)) == ["3"]  # alike heaps are one symbol
    assert found.legend[0] == ("brown", brown)
    assert not any(slot.heaps for spot in without_pieces(found).spots for slot in spot.slots)


def test_what_nobody_may_see_of_a_card_is_not_drawn(tmp_path: Path) -> None:
    path = meadows(tmp_path, "laid: {zone: tile, most: 1}", "laid: {zone: tile, most: 1, seen: no one}")
    found = picture_of(interpreter.load(path).new_game(2), 0)
    assert [spot.laid for spot in found.spots if spot.laid is not None] == []


@pytest.mark.parametrize(
    ("at", "sides", "found"),
    [
        ([(0, 0), (10, 0), (0, 10)], 4, [-1j, 1, 1j, -1]),
        ([(0, 0), (10, 0), (0, 10)], 8, [-1j, 1 - 1j, 1, 1 + 1j, 1j, -1 + 1j, -1, -1 - 1j]),
        ([(0, 0), (20, 0), (10, 17)], 6, [rect(1, pi / 3 * turn) for turn in range(-1, 5)]),
        ([(0, 0), (0, 20), (17, 10)], 6, [rect(1, pi / 3 * (turn - 1.5)) for turn in range(6)]),
    ],
)
def test_places_lie_at_sides_and_corners_of_their_field(
    at: list[tuple[int, int]], sides: int, found: list[complex]
) -> None:
    slots = (*(Slot("", None, None, side / sides) for side in range(sides)), Slot("", None, None))
    spots = tuple(Spot(str(number), "", None, False, point, slots) for number, point in enumerate(at))
    plan = arranged(Picture("", spots, (), (), (), grid=True))
    assert plan.field is not None
    inside = plan.field.step / 2 - plan.size * 8.5
    *beside, middle = (place - plan.centres[1] for place in plan.slots[1])
    assert middle == pytest.approx(0)
    assert [place / (inside - 3) for place in beside] == [pytest.approx(each, abs=1e-6) for each in found]
    apart = [abs(one - other) for number, one in enumerate(plan.slots[1]) for other in plan.slots[1][:number]]
    assert min(apart) > plan.size * 17


def test_fields_that_touch_need_no_line_and_names_lie_in_them() -> None:
    for name in ("sides", "corners", "hex"):
        found = picture_of(unplayed(interpreter.load(CASES / "grids" / f"{name}.yaml")))
        assert found.ties == ()
        image = seen(drawn(found))
        assert len(image.fields) == len(image.names) == 20
        for corners, (_, box) in zip(image.fields, image.names, strict=True):
            assert min(x for x, _ in corners) < box[0] < box[2] < max(x for x, _ in corners)
            assert min(y for _, y in corners) < box[1] < box[3] < max(y for _, y in corners)


def test_seats_and_kinds_have_their_colours_on_nodes(tmp_path: Path) -> None:
    for colour, want in (
        ("seats[node.column mod 2]", list(SEATS[:2])),
        ("wood if node.column mod 2 == 0 else road", [colours_for([word])[word] for word in ("green", "brown")]),
    ):
        path = meadows(tmp_path, "{card: node.laid}", f'{{card: node.laid, colour: "{colour}"}}')
        found = picture_of(interpreter.load(path).new_game(2))
        assert [colour for _, colour in found.legend] == want


def test_a_large_board_is_small_and_drawn_at_once(tmp_path: Path) -> None:
    game = laid(interpreter.load(meadows(tmp_path, wide=True)).new_game(2))
    start = process_time()
    svg = drawn(picture_of(game))
    assert process_time() - start < 0.5
    assert svg.count('class="place"') == 1  # alike places are one symbol
    assert len(seen(svg).fields) == 441
    assert len(svg) < 100_000


def test_a_link_between_nodes_on_one_line_keeps_off_those_between() -> None:
    """On the isles all nodes lie on one line, and a link leads past two of them."""
    found = seen(drawn(picture("abcd", [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], [(0, 0), (9, 0), (18, 0), (27, 0)])))
    assert found.overlaps() == []


def test_a_graph_without_a_picture_or_points_is_drawn_all_the_same() -> None:
    found = seen(drawn(picture_of(unplayed(interpreter.load(POND)))))
    assert [name for name, _ in found.names] == ["Reed", "Lily", "Moss"]
    assert [tag for tag, _ in found.tags] == ["1", "2"]
    assert found.legend == []
    assert found.overlaps() == []


def test_games_that_draw_the_costs_of_links_share_a_plan() -> None:
    found = [picture_of(interpreter.load("outpost").new_game(3, seed=seed)) for seed in range(4)]
    assert len({each.ties for each in found}) == len(found)
    assert len({(plan.centres, plan.ways, tuple(tag.box for tag in plan.tags)) for plan in map(arranged, found)}) == 1
    assert [[words for words, _ in seen(drawn(each)).tags] for each in found] == [
        [tie.label for tie in each.ties] for each in found
    ]


def test_who_has_no_graph_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="`goofspiel` has no graph to draw"):
        picture_of(unplayed(interpreter.load("goofspiel")))


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    count = draw(st.integers(1, 9))
    names = [
        draw(st.sampled_from(["A", "Ödön", "Bad Münstereifel", "Saint-Jean-de-Luz", "Iiii", "東京"]))
        for _ in range(count)
    ]
    pairs = [(a, b) for a in range(count) for b in range(a)]
    links = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * count)) if pairs else []
    spot = st.tuples(st.integers(0, 40), st.integers(0, 40))
    at = draw(st.none() | st.lists(spot, min_size=count, max_size=count))
    return picture(names, links, at, draw(st.integers(0, 4)))


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(pictures())
def test_in_any_small_graph_nothing_lies_over_anything_else(some: Picture) -> None:
    assert seen(drawn(some)).overlaps() == []


def test_links_between_the_same_nodes_are_told_apart() -> None:
    found = seen(drawn(picture(["a", "b"], [(0, 1), (0, 1), (1, 0)])))
    assert len({tuple(link[len(link) // 2]) for link in found.links}) == 3
    assert found.overlaps() == []


def test_all_words_are_safe() -> None:
    found = seen(drawn(picture(["<b>", 'a & "b"'], [(0, 1)])))
    assert [name for name, _ in found.names] == ["<b>", 'a & "b"']


# --- what is out of play, and whose pieces stand there


def test_what_is_out_of_play_is_pale() -> None:
    game = ruleset_with("germany-2018").new_game(3, settings={"regions": ["turquoise", "red", "blue"]})
    fills = {name: fill for name, _, _, fill in seen(drawn(picture_of(game))).discs}
    assert fills["Kiel"] == colours_for(["turquoise"])["turquoise"]
    assert fills["Berlin"] == fills["Augsburg"] not in colours_for(["brown", "purple"]).values()


def test_pieces_stand_on_their_places() -> None:
    slots = (Slot("5", None, None), Slot("7", None, Piece("#123456", "3", 0)))
    spots = (Spot("a", "a", None, False, None, slots), Spot("b", "b", None, False, None, slots[:1]))
    owner = (Piece("#123456", "3", 0), "player 3")
    found = seen(drawn(Picture("A game", spots, (Tie(0, 1, 1, "1", None),), (), (owner,))))
    assert [number for number, _ in found.pieces] == ["3"]
    assert found.pieces[0][1] == pytest.approx(found.places[1], abs=0.02)
    assert found.legend == ["player 3"]


@pytest.mark.parametrize(
    ("words", "alike"),
    [(["red", "blue", "x", "y"], 0), (["north", "south"], 0), (["grey", "gray"], 1), ([], 0)],
)
def test_colours(words: list[str], alike: int) -> None:
    """A word that names a colour has it, and no two words share one as long as they last."""
    assert sum(count - 1 for count in Counter(colours_for(words).values()).values()) == alike


def test_a_picture_needs_a_graph(tmp_path: Path) -> None:
    folder = changed(tmp_path, "family.yaml", "round: [", "picture: {node: {label: node}}\nround: [")
    with pytest.raises(RulesetError) as caught:
        interpreter.load(folder / "pebbles" / "pebbles.yaml")
    assert [(found.code, found.message) for found in caught.value.diagnostics] == [
        ("E301", "the family declares no graph to draw")
    ]
