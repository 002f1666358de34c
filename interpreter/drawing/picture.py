"""Content of a picture: words, colours and pieces, as the ruleset's `picture` says; without positions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from interpreter.base.frozen import dataclass
from interpreter.drawing.colours import SEATS, colours_for
from interpreter.kernel.state import Value
from interpreter.language.directed_links import Way, ways_of
from interpreter.language.model import GraphDecl, Look, Model
from interpreter.language.types import SEAT, Type
from interpreter.language.walk import is_printed

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.engine.rules import Rules

__all__ = ["SHAPES", "Picture", "Piece", "Slot", "Spot", "Tie", "picture_of", "unplayed"]

SHAPES = ("circle", "square", "diamond", "hexagon")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece on a place: its owner's colour and number, and which piece of its kinds it is."""

    colour: str
    number: str
    shape: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on a node."""

    label: str
    colour: str | None
    piece: Piece | None


@dataclass(frozen=True, slots=True)
class Spot:
    """A node. ``at`` is where its map has it; ``pale`` where it is out of play."""

    name: str
    label: str
    colour: str | None
    pale: bool
    at: tuple[int, int] | None
    slots: tuple[Slot, ...]
    shape: str = SHAPES[0]


@dataclass(frozen=True, slots=True)
class Tie:
    """A link between two nodes; where it is ``one_way``, from ``a`` to ``b`` only."""

    a: int
    b: int
    length: int
    label: str
    colour: str | None
    one_way: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn. ``legend`` says what colours mean and ``shapes`` what shapes do, ``owners`` whose pieces stand
    there. On a ``grid`` nodes stay exactly where the map has them."""

    title: str
    spots: tuple[Spot, ...]
    ties: tuple[Tie, ...]
    legend: tuple[tuple[str, str], ...]
    owners: tuple[tuple[Piece, str], ...]
    shapes: tuple[tuple[str, str], ...] = ()
    grid: bool = False


def unplayed(ruleset: Rules) -> Game:
    """A game before its set-up: nothing stands anywhere."""
    from interpreter.engine.game import Game

    players = ruleset.players.usual
    ruleset = ruleset.for_players(players)
    return Game.seated(ruleset.table(players, ruleset.settings({})), 0, None)


def picture_of(game: Game) -> Picture:
    """The graph of a game as it is now. ``ValueError`` where its ruleset has none."""
    from interpreter.engine.views import measured

    graph = measured(game.table, game.state)
    if graph is None or not graph.nodes:
        raise ValueError(f"`{game.ruleset.id}` has no graph that could be drawn")
    game.machine.meter.refill()
    looks = _Looks(game)
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
    lengths = graph.length is not None or graph.measure is not None
    ties = tuple(
        Tie(
            a=ways[link][0].start,
            b=ways[link][0].end,
            length=ways[link][0].length,
            label=looks.label("link", link, _lengths(ways[link]) if lengths else ""),
            colour=link_colours.get(looks.text("link.colour", link) or ""),
            one_way=len(ways[link]) == 1,
        )
        for link in links
        if not looks.holds("link.hidden", link)
    )
    legend = {**node_colours, **link_colours, **place_colours}
    grid = game.ruleset.model.grid
    return Picture(game.ruleset.title, spots, ties, tuple(legend.items()), looks.owners(), tuple(shapes.items()), grid)


def _lengths(ways: list[Way]) -> str:
    """The length of a link, or those of both directions."""
    return "/".join(dict.fromkeys(str(way.length) for way in ways))


@lru_cache(maxsize=64)
def _printed(model: Model) -> dict[str, dict[int, str | None]]:
    """For looks that no game changes, the texts as far as they are known."""
    return {name: {} for name, look in model.picture.items() if all(map(is_printed, look.trees))}


@lru_cache(maxsize=64)
def _ways(graph: GraphDecl) -> list[list[Way]]:
    """For each link, the ways over it."""
    ways: list[list[Way]] = [[] for _ in graph.links]
    for way in ways_of(graph):
        ways[way.link].append(way)
    return ways


class _Looks:
    """The expressions of a ruleset's `picture`, worked out on a game."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._looks = game.ruleset.model.picture
        self._printed = _printed(game.ruleset.model)
        compiled = game.machine.expressions.compile
        self._ready = {name: [compiled(tree) for tree in look.trees] for name, look in self._looks.items()}
        self._owners: dict[int, tuple[Piece, str]] = {}

    def _values(self, name: str, of: int) -> list[Value]:
        look: Look = self._looks[name]
        return [value(self._game.state, [of, *[None] * look.local_count]) for value in self._ready[name]]

    def _value(self, name: str, of: int) -> Value:
        return self._values(name, of)[0]

    def _type(self, name: str) -> Type:
        return self._looks[name].trees[0].type

    def text(self, name: str, of: int) -> str | None:
        """Return the text of a look; nothing if it has none."""
        if name not in self._looks:
            return None
        known = self._printed.get(name)
        if known is None:
            return self._text(name, of)
        if of not in known:
            known[of] = self._text(name, of)
        return known[of]

    def _text(self, name: str, of: int) -> str | None:
        names, look = self._game.ruleset.names, self._looks[name]
        values = self._values(name, of)
        if look.value is not None and values[0] is None:
            return None
        words = iter([names.text(value, tree.type) for value, tree in zip(values, look.trees, strict=True)])
        return "".join(part if isinstance(part, str) else next(words) for part in look.parts)

    def label(self, what: str, of: int, otherwise: str) -> str:
        if f"{what}.label" not in self._looks:
            return otherwise
        return self.text(f"{what}.label", of) or ""

    def holds(self, name: str, of: int) -> bool:
        return name in self._looks and bool(self._value(name, of))

    def colours(self, what: str, all_: range, known: dict[str, str] | None = None) -> dict[str, str]:
        """A colour for each value that colours some of them: in the order of a kind's members, else as they come."""
        words = self._words(f"{what}.colour", all_)
        found = colours_for([*(known or ()), *words])
        return {word: (known or {}).get(word) or found[word] for word in words}

    def shapes(self, nodes: range) -> dict[str, str]:
        """A shape for each value that shapes some nodes: the one that it names, else as they come."""
        words = self._words("node.shape", nodes)
        left = [shape for shape in SHAPES if shape not in words] or list(SHAPES)
        others = [word for word in words if word not in SHAPES]
        return {word: word if word in SHAPES else left[others.index(word) % len(left)] for word in words}

    def _words(self, name: str, all_: range) -> list[str]:
        """The values of a look in words, in their order."""
        if name not in self._looks:
            return []
        values = {value for of in all_ if (value := self._value(name, of)) is not None}
        return [self._game.ruleset.names.text(value, self._type(name)) for value in sorted(values)]

    def piece(self, place: int) -> Piece | None:
        if "place.piece" not in self._looks or (value := self._value("place.piece", place)) is None:
            return None
        model, names = self._game.ruleset.model, self._game.ruleset.names
        owner, shape = divmod(value, len(model.pieces))
        piece = Piece(SEATS[owner % len(SEATS)], str(owner + 1), shape)
        words = names.text(owner, SEAT)
        if len(model.pieces) > 1:
            words = f"{words}: {model.pieces[shape].replace('_', ' ')}"
        self._owners[value] = (piece, words)
        return piece

    def owners(self) -> tuple[tuple[Piece, str], ...]:
        return tuple(self._owners[value] for value in sorted(self._owners))
