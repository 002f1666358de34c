"""Content of a picture: texts, colours and pieces as the ruleset's `picture` defines them, without layout."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from interpreter.drawing.colours import SEATS, colours_for
from interpreter.engine.game import Game
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.views import measured
from interpreter.hidden.sight import Unseen
from interpreter.kernel.state import State, Value
from interpreter.language.directed_links import Way, ways_of
from interpreter.language.model import GraphDecl, Model
from interpreter.language.types import SEAT
from interpreter.language.walk import is_printed

__all__ = ["SHAPES", "Picture", "Piece", "Slot", "Spot", "Tie", "picture_of", "unplayed", "without_pieces"]

SHAPES = ("circle", "square", "diamond", "hexagon")


class Piece(Struct, frozen=True):
    """A piece on a place: its owner's colour and number, and its kind as a shape."""

    colour: str
    number: str
    shape: int


class Slot(Struct, frozen=True):
    """A place on a node."""

    label: str
    colour: str | None
    piece: Piece | None


class Spot(Struct, frozen=True):
    """A node. ``at`` is its position on the map; ``pale`` marks a node out of play."""

    name: str
    label: str
    colour: str | None
    pale: bool
    at: tuple[int, int] | None
    slots: tuple[Slot, ...]
    shape: str = SHAPES[0]


class Tie(Struct, frozen=True):
    """A link between two nodes; if ``one_way``, from ``a`` to ``b`` only."""

    a: int
    b: int
    length: int
    label: str
    colour: str | None
    one_way: bool = False


class Picture(Struct, frozen=True):
    """Content of a picture. ``legend`` explains colours, ``shapes`` shapes, and ``owners`` the pieces on it. On a
    ``grid`` nodes stay exactly at their map coordinates."""

    title: str
    spots: tuple[Spot, ...]
    ties: tuple[Tie, ...]
    legend: tuple[tuple[str, str], ...]
    owners: tuple[tuple[Piece, str], ...]
    shapes: tuple[tuple[str, str], ...] = ()
    grid: bool = False


def unplayed(ruleset: Ruleset) -> Game:
    """Return a game before its set-up, with an empty board."""
    players = ruleset.players.usual
    ruleset = ruleset.for_players(players)
    return Game.seated(ruleset, ruleset.table(players, ruleset.settings({})), 0, None)


def picture_of(game: Game, player: int | None = None) -> Picture:
    """Return the picture of a game's current state, as a player may see it: what depends on hidden information is left
    out. Raises ``ValueError`` if its ruleset has no graph."""
    state = game.table.sight.seen_by(game.state, player)
    graph = measured(game.table, state)
    if graph is None or not graph.nodes:
        raise ValueError(f"`{game.ruleset.id}` has no graph to draw")
    game.machine.meter.refill()
    looks = _Looks(game, state)
    nodes, links, places = range(len(graph.nodes)), range(len(graph.links)), range(len(graph.places))
    node_colours = looks.colours("node", nodes)
    link_colours = looks.colours("link", links, node_colours)
    place_colours = looks.colours("place", places, {**node_colours, **link_colours})
    shapes = looks.shapes(nodes)
    slots: list[list[Slot]] = [[] for _ in nodes]
    for place in places:
        colour = place_colours.get(looks.text("place.colour", place) or "")
        piece = looks.piece(place)
        slots[graph.places[place].node].append(Slot(looks.text("place.label", place) or "", colour, piece))
    spots = tuple(
        Spot(
            name=graph.nodes[node].name,
            label=looks.label("node", node, graph.nodes[node].name),
            colour=node_colours.get(looks.text("node.colour", node) or ""),
            pale=looks.holds("node.pale", node),
            shape=shapes.get(looks.text("node.shape", node) or "", SHAPES[0]),
            at=graph.nodes[node].at,
            slots=tuple(slots[node]),
        )
        for node in nodes
    )
    ways = _ways(graph)
    has_lengths = graph.length is not None or graph.measure is not None
    ties = []
    for link, (way, *back) in enumerate(ways):
        if not looks.holds("link.hidden", link):
            both = "/".join(dict.fromkeys(str(each.length) for each in (way, *back) if has_lengths))
            label, colour = looks.label("link", link, both), link_colours.get(looks.text("link.colour", link) or "")
            ties.append(Tie(way.start, way.end, way.length, label, colour, one_way=not back))
    legend = {**node_colours, **link_colours, **place_colours}
    grid = game.ruleset.model.grid
    return Picture(
        game.ruleset.title, spots, tuple(ties), tuple(legend.items()), looks.owners(), tuple(shapes.items()), grid
    )


def without_pieces(picture: Picture) -> Picture:
    """Return a picture of the board alone."""
    spots = tuple(
        replace(spot, slots=tuple(replace(slot, piece=None) for slot in spot.slots)) for spot in picture.spots
    )
    return replace(picture, spots=spots, owners=())


@lru_cache(maxsize=64)
def _printed(model: Model) -> dict[str, dict[int, str | None]]:
    """Return caches for the texts of looks that do not depend on the state."""
    return {name: {} for name, look in model.picture.items() if is_printed(look.parts)}


@lru_cache(maxsize=64)
def _ways(graph: GraphDecl) -> list[list[Way]]:
    ways: list[list[Way]] = [[] for _ in graph.links]
    for way in ways_of(graph):
        ways[way.link].append(way)
    return ways


class _Looks:
    """Evaluates the expressions of a ruleset's `picture` on a game."""

    def __init__(self, game: Game, state: State) -> None:
        self._game, self._state = game, state
        self._looks = game.ruleset.model.picture
        self._printed = _printed(game.ruleset.model)
        compiled = game.machine.expressions.compile
        self._ready = {name: [compiled(tree) for tree in look.trees] for name, look in self._looks.items()}
        self._owners: dict[int, tuple[Piece, str]] = {}

    def _values(self, name: str, of: int) -> list[Value] | None:
        """Return the values in a look; None if there is no such look, or it is hidden."""
        look = self._looks.get(name)
        if look is None:
            return None
        try:
            values = [value(self._state, [of, *[None] * look.local_count]) for value in self._ready[name]]
            hash(tuple(values))  # reads every part, so that a hidden one is noticed
        except Unseen:
            return None
        return values

    def _value(self, name: str, of: int) -> Value:
        """Return the value of a look that is no template."""
        values = self._values(name, of)
        return values[0] if values is not None else None

    def text(self, name: str, of: int) -> str | None:
        """Return the text of a look; None if it has none."""
        texts = self._printed.get(name, {})
        if of not in texts:
            texts[of] = self._text(name, of)
        return texts[of]

    def _text(self, name: str, of: int) -> str | None:
        values = self._values(name, of)
        if values is None or (self._looks[name].value is not None and values[0] is None):
            return None
        look, names = self._looks[name], self._game.table.names
        words = iter([names.text(value, tree.type) for value, tree in zip(values, look.trees, strict=True)])
        return "".join(part if isinstance(part, str) else next(words) for part in look.parts)

    def label(self, group: str, of: int, otherwise: str) -> str:
        if f"{group}.label" not in self._looks:
            return otherwise
        return self.text(f"{group}.label", of) or ""

    def holds(self, name: str, of: int) -> bool:
        return bool(self._value(name, of))

    def colours(self, group: str, all_: range, known: dict[str, str] | None = None) -> dict[str, str]:
        """Return a colour for each value of a colour look, in the order of the values."""
        words = self._words(f"{group}.colour", all_)
        assigned = colours_for([*(known or ()), *words])
        return {word: (known or {}).get(word) or assigned[word] for word in words}

    def shapes(self, nodes: range) -> dict[str, str]:
        """Return a shape for each value of the shape look: the named one, or an unused one."""
        words = self._words("node.shape", nodes)
        free = [shape for shape in SHAPES if shape not in words] or list(SHAPES)
        others = [word for word in words if word not in SHAPES]
        return {word: word if word in SHAPES else free[others.index(word) % len(free)] for word in words}

    def _words(self, name: str, all_: range) -> list[str]:
        """Return the values of a look in words, sorted by value."""
        values = {value for of in all_ if (value := self._value(name, of)) is not None}
        return [self._game.table.names.text(value, self._looks[name].trees[0].type) for value in sorted(values)]

    def piece(self, place: int) -> Piece | None:
        value = self._value("place.piece", place)
        if value is None:
            return None
        model, names = self._game.ruleset.model, self._game.table.names
        owner, shape = divmod(value, len(model.pieces))
        piece = Piece(SEATS[owner % len(SEATS)], str(owner + 1), shape)
        words = names.text(owner, SEAT)
        if len(model.pieces) > 1:
            words = f"{words}: {model.pieces[shape].replace('_', ' ')}"
        self._owners[value] = (piece, words)
        return piece

    def owners(self) -> tuple[tuple[Piece, str], ...]:
        return tuple(self._owners[value] for value in sorted(self._owners))
