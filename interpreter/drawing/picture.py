"""What a picture of a graph shows: words, colours and pieces, as the ruleset's `picture` says; nothing of where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.base.frozen import dataclass
from interpreter.drawing.colours import SEATS, colours_for
from interpreter.kernel.state import Value
from interpreter.language.model import GraphDecl, Look
from interpreter.language.types import Type

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.engine.ruleset import Ruleset

__all__ = ["Picture", "Piece", "Slot", "Spot", "Tie", "picture_of", "unplayed"]


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


@dataclass(frozen=True, slots=True)
class Tie:
    """A link between two nodes."""

    a: int
    b: int
    length: int
    label: str
    colour: str | None


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn. ``legend`` says what colours mean, ``owners`` whose pieces stand there."""

    title: str
    spots: tuple[Spot, ...]
    ties: tuple[Tie, ...]
    legend: tuple[tuple[str, str], ...]
    owners: tuple[tuple[Piece, str], ...]


def unplayed(ruleset: Ruleset) -> Game:
    """A game before its set-up: nothing stands anywhere."""
    from interpreter.engine.game import Game

    players = ruleset.players.usual
    ruleset = ruleset.for_players(players)
    return Game.seated(ruleset, players, 0, ruleset.settings({}), None)


def picture_of(game: Game) -> Picture:
    """The graph of a game as it is now. ``ValueError`` where its ruleset has none."""
    from interpreter.engine.lengths import measured

    graph = measured(game)
    if graph is None or not graph.nodes:
        raise ValueError(f"`{game.ruleset.id}` has no graph that could be drawn")
    game.machine.meter.refill()
    looks = _Looks(game)
    nodes, links, places = range(len(graph.nodes)), range(len(graph.links)), range(len(graph.places))
    node_colours = looks.colours("node", nodes)
    link_colours = looks.colours("link", links, node_colours)
    place_colours = looks.colours("place", places, {**node_colours, **link_colours})
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
            at=graph.nodes[node].at,
            slots=tuple(slots[node]),
        )
        for node in nodes
    )
    ties = tuple(
        Tie(
            a=graph.links[link].a,
            b=graph.links[link].b,
            length=_length(graph, link),
            label=looks.label("link", link, str(_length(graph, link)) if graph.length else ""),
            colour=link_colours.get(looks.text("link.colour", link) or ""),
        )
        for link in links
    )
    legend = {**node_colours, **link_colours, **place_colours}
    return Picture(game.ruleset.title, spots, ties, tuple(legend.items()), looks.owners())


def _length(graph: GraphDecl, link: int) -> int:
    return int(graph.links[link].values[graph.length]) if graph.length else 1


class _Looks:
    """The expressions of a ruleset's `picture`, worked out on a game."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._looks = game.ruleset.model.picture
        self._ready = {name: game.machine.expressions.compile(look.value) for name, look in self._looks.items()}
        self._owners: dict[int, tuple[Piece, str]] = {}

    def _value(self, name: str, of: int) -> Value:
        look: Look = self._looks[name]
        return self._ready[name](self._game.state, [of, *[None] * look.local_count])

    def text(self, name: str, of: int) -> str | None:
        """What the look says in words; nothing where it says none, or nobody wrote one."""
        if name not in self._looks:
            return None
        value = self._value(name, of)
        return None if value is None else self._game.ruleset.names.text(value, self._looks[name].value.type)

    def label(self, what: str, of: int, otherwise: str) -> str:
        if f"{what}.label" not in self._looks:
            return otherwise
        return self.text(f"{what}.label", of) or ""

    def holds(self, name: str, of: int) -> bool:
        return name in self._looks and bool(self._value(name, of))

    def colours(self, what: str, all_: range, known: dict[str, str] | None = None) -> dict[str, str]:
        """A colour for each value that colours some of them: in the order of a kind's members, else as they come."""
        name = f"{what}.colour"
        if name not in self._looks:
            return {}
        type_ = self._looks[name].value.type
        values = {value for of in all_ if (value := self._value(name, of)) is not None}
        words = [self._game.ruleset.names.text(value, type_) for value in sorted(values)]
        found = colours_for([*(known or ()), *words])
        return {word: (known or {}).get(word) or found[word] for word in words}

    def piece(self, place: int) -> Piece | None:
        if "place.piece" not in self._looks or (value := self._value("place.piece", place)) is None:
            return None
        model, names = self._game.ruleset.model, self._game.ruleset.names
        owner, shape = divmod(value, len(model.pieces))
        piece = Piece(SEATS[owner % len(SEATS)], str(owner + 1), shape)
        words = names.text(owner, Type("seat"))
        if len(model.pieces) > 1:
            words = f"{words}: {model.pieces[shape].replace('_', ' ')}"
        self._owners[value] = (piece, words)
        return piece

    def owners(self) -> tuple[tuple[Piece, str], ...]:
        return tuple(self._owners[value] for value in sorted(self._owners))
