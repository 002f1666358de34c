"""Content of a picture: texts, colours and pieces as the ruleset's `picture` defines them, without layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from interpreter.drawing.colours import SEATS, card_colours, colours_for, member_colour, members_of, own_colour
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.setup import Table, default_settings
from interpreter.engine.views import measured
from interpreter.hidden.sight import Unseen
from interpreter.kernel.state import State, Value
from interpreter.language.directed_links import Way, ways_of
from interpreter.language.model import GraphDecl, Model, Phrase
from interpreter.language.types import NONE, SEAT, CardType, KindType, Type, item_type, name_of
from interpreter.lowering.effect_analysis import Reader
from interpreter.lowering.lower import Program
from interpreter.plain.machine import Machine

__all__ = [
    "SHAPES",
    "Heap",
    "Laid",
    "Picture",
    "Piece",
    "Slot",
    "Spot",
    "Tie",
    "picture_of",
    "unplayed",
    "without_pieces",
]

_LAST: WeakKeyDictionary[Machine, tuple[list[str], list[Value], Picture]] = WeakKeyDictionary()
"""The last picture of each machine, after the groups of cells that it depends on, and their values."""
SHAPES = ("circle", "square", "diamond", "hexagon")


class Piece(Struct, frozen=True):
    """A piece on a place: its owner's colour and number, and its kind as a shape."""

    colour: str
    number: str
    shape: int


class Heap(Struct, frozen=True):
    """Tokens of one kind on a node or a place."""

    number: int
    colour: str
    words: str


class Slot(Struct, frozen=True):
    """A place on a node. ``side`` is its direction on the field of a grid as a share of a turn; None: the middle."""

    label: str
    colour: str | None
    piece: Piece | None
    side: float | None = None
    heaps: tuple[Heap, ...] = ()


class Laid(Struct, frozen=True):
    """A card on a node: its title, its colours, clockwise from its first side, and the share of a turn by which it is
    turned, if it can be. ``words`` tell both."""

    title: str
    colours: tuple[str, ...]
    turn: float | None
    words: str


class Spot(Struct, frozen=True):
    """A node. ``at`` is its position on the map; ``pale`` marks a node out of play."""

    name: str
    label: str
    colour: str | None
    pale: bool
    at: tuple[int, int] | None
    slots: tuple[Slot, ...]
    shape: str = SHAPES[0]
    laid: Laid | None = None
    heaps: tuple[Heap, ...] = ()


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
    ``grid`` nodes are touching fields, exactly at their map coordinates; links between them need no line."""

    title: str
    spots: tuple[Spot, ...]
    ties: tuple[Tie, ...]
    legend: tuple[tuple[str, str], ...]
    owners: tuple[tuple[Piece, str], ...]
    shapes: tuple[tuple[str, str], ...] = ()
    grid: bool = False


def unplayed(ruleset: Ruleset, players: int | None = None, settings: Mapping[str, Value] | None = None) -> Game:
    """Return a game before its set-up, with an empty board. ``settings`` are those that differ from the defaults, as
    :meth:`Ruleset.settings` returns them."""
    players = players or ruleset.players.usual
    ruleset = ruleset.for_players(players)
    table = ruleset.table(players, {**default_settings(ruleset.model), **(settings or {})})
    return Game.seated(ruleset, table, 0, None)


def picture_of(game: Game, player: int | None = None) -> Picture:
    """Return the picture of a game's current state, as a player may see it: what depends on hidden information is left
    out. Raises ``ValueError`` if its ruleset has no graph."""
    table, title, state = game.table, game.ruleset.title, game.table.sight.seen_by(game.state, player)
    graph, cells_of = measured(table, state), table.machine.constants.layout.cells
    if graph is None or not graph.nodes:
        raise ValueError(f"`{game.ruleset.id}` has no graph to draw")
    groups, before, picture = _LAST.get(table.machine) or (_groups_shown(table.program, graph.dealt), [], None)
    shown = [title, *(state.cells[cell] for name in groups for cell in cells_of(name))]
    with suppress(Unseen):  # one is hidden here or there, and cannot be compared
        if picture is not None and shown == before:
            return picture
    picture = _made(title, table, state, graph)
    _LAST[table.machine] = groups, shown, picture
    return picture


def _groups_shown(program: Program, dealt: str | None) -> list[str]:
    """Return the groups of cells that a picture depends on: those that looks read, and cards ``dealt`` to links."""
    reads = Reader(program).reads(tuple(look.trees for look in _looks(program.model).values()), ())
    return [*reads, *([dealt] if dealt is not None else [])]


def _made(title: str, table: Table, state: State, graph: GraphDecl) -> Picture:
    """Return the picture of a state as somebody sees it."""
    table.machine.meter.refill()
    looks = _Looks(table, state)
    nodes, links, places = range(len(graph.nodes)), range(len(graph.links)), range(len(graph.places))
    node_colours = looks.colours("node", nodes)
    link_colours = looks.colours("link", links, node_colours)
    place_colours = looks.colours("place", places, {**node_colours, **link_colours})
    shapes = looks.shapes(nodes)
    slots: list[list[Slot]] = [[] for _ in nodes]
    for place in places:
        colour = place_colours.get(looks.text("place.colour", place) or "")
        piece, side = looks.piece(place), looks.share("place.side", place)
        label, heaps = looks.text("place.label", place) or "", tuple(looks.heaps("place.tokens", place))
        slots[graph.places[place].node].append(Slot(label, colour, piece, side, heaps))
    spots = tuple(
        Spot(
            name=graph.nodes[node].name,
            label=looks.label("node.label", node, graph.nodes[node].name),
            colour=node_colours.get(looks.text("node.colour", node) or ""),
            pale=looks.holds("node.pale", node),
            shape=shapes.get(looks.text("node.shape", node) or "", SHAPES[0]),
            at=graph.nodes[node].at,
            slots=tuple(slots[node]),
            laid=looks.laid(node),
            heaps=tuple(looks.heaps("node.tokens", node)),
        )
        for node in nodes
    )
    grid = table.model.grid
    has_lengths = not grid and (graph.length is not None or graph.measure is not None)
    ties = []
    for link, (way, *back) in enumerate(_ways(graph)):
        if not looks.holds("link.hidden", link):
            both = "/".join(dict.fromkeys(str(each.length) for each in (way, *back) if has_lengths))
            label = looks.label("link.label", link, both)
            colour = link_colours.get(looks.text("link.colour", link) or "")
            if label or colour or not back or not graph.links[link].back:  # or else the fields only touch
                ties.append(Tie(way.start, way.end, way.length, label, colour, one_way=not back))
    legend = {**looks.tokens(), **node_colours, **link_colours, **place_colours}
    return Picture(title, spots, tuple(ties), tuple(legend.items()), looks.owners(), tuple(shapes.items()), grid)


def without_pieces(picture: Picture) -> Picture:
    """Return a picture of the board alone."""
    spots = tuple(
        replace(spot, slots=tuple(replace(slot, piece=None, heaps=()) for slot in spot.slots), laid=None, heaps=())
        for spot in picture.spots
    )
    return replace(picture, spots=spots, owners=())


@lru_cache(maxsize=64)
def _looks(model: Model) -> dict[str, Phrase]:
    """Return the looks of everything on a picture: with cards on its nodes, also their faces."""
    faces = model.faces.items() if "node.card" in model.picture else ()
    return model.picture | {f"{kind} {key}": look for kind, face in faces for key, look in face.items()}


@lru_cache(maxsize=64)
def _ways(graph: GraphDecl) -> list[list[Way]]:
    ways: list[list[Way]] = [[] for _ in graph.links]
    for way in ways_of(graph):
        ways[way.link].append(way)
    return ways


class _Looks:
    """Evaluates the expressions of a ruleset's `picture` on a game."""

    def __init__(self, table: Table, state: State) -> None:
        self._state, self._model, self._names = state, table.model, table.names
        self._looks = _looks(table.model)
        ready = table.machine.expressions.closure
        self._ready = {name: [ready(tree) for tree in look.trees] for name, look in self._looks.items()}
        self._owners: dict[int, tuple[Piece, str]] = {}
        self._heaps: dict[int, Heap] = {}

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
        values = self._values(name, of)
        if values is None or (self._looks[name].value is not None and values[0] is None):
            return None
        look = self._looks[name]
        words = iter([self._names.text(value, tree.type) for value, tree in zip(values, look.trees, strict=True)])
        return "".join(part if isinstance(part, str) else next(words) for part in look.parts)

    def label(self, name: str, of: int, otherwise: str) -> str:
        return (self.text(name, of) or "") if name in self._looks else otherwise

    def holds(self, name: str, of: int) -> bool:
        return bool(self._value(name, of))

    def colours(self, group: str, all_: range, known: dict[str, str] | None = None) -> dict[str, str]:
        """Return a colour for each value of a colour look, in the order of the values."""
        known, words = known or {}, self._words(f"{group}.colour", all_)
        assigned, model = colours_for([*known, *words]), self._model
        return {
            word: known.get(word) or own_colour(model, type_, value) or assigned[word]
            for word, (value, type_) in words.items()
        }

    def shapes(self, nodes: range) -> dict[str, str]:
        """Return a shape for each value of the shape look: the named one, or an unused one."""
        words = [*self._words("node.shape", nodes)]
        free = [shape for shape in SHAPES if shape not in words] or list(SHAPES)
        others = [word for word in words if word not in SHAPES]
        return {word: word if word in SHAPES else free[others.index(word) % len(free)] for word in words}

    def _words(self, name: str, all_: range) -> dict[str, tuple[Value, Type]]:
        """Return the values of a look by their words, sorted by value."""
        values = sorted(
            {pair for of in all_ if (pair := self._typed(name, of))[0] is not None}, key=lambda pair: pair[0]
        )
        return {self._names.text(*pair): pair for pair in values}

    def _typed(self, name: str, of: int) -> tuple[Value, Type]:
        look = self._looks.get(name)
        return (self._value(name, of), look.trees[0].type) if look is not None else (None, NONE)

    def share(self, name: str, of: int) -> float | None:
        """Return a member of a kind as a share of a turn; None if there is none."""
        value, type_ = self._typed(name, of)
        return None if value is None else int(value) / len(self._model.members(name_of(type_)))

    def laid(self, node: int) -> Laid | None:
        """Return the card that lies on a node, with the look of its face."""
        card, type_ = self._typed("node.card", node)
        if card is not None and item_type(type_) is not None:
            card = next(iter(card), None)
        if card is None:
            return None
        model, names = self._model, self._names
        kind = model.cards[card].kind
        words, turn = names.text(card, CardType(kind)), self.text(f"{kind} turn", card)
        colours = tuple(card_colours(model, card, members_of(*self._typed(f"{kind} colour", card))))
        title = self.label(f"{kind} title", card, words)
        return Laid(title, colours, self.share(f"{kind} turn", card), f"{words} {turn or ''}".strip())

    def heaps(self, name: str, of: int) -> Iterator[Heap]:
        """Yield the tokens in a look, by kind."""
        bag, type_ = self._typed(name, of)
        if not bag:
            return
        kind, model = KindType(name_of(type_)), self._model
        for member, number in enumerate(bag):
            if number:
                words = self._names.text(member, kind)
                heap = self._heaps[member] = Heap(number, member_colour(model, kind.name, member), words)
                yield heap

    def tokens(self) -> dict[str, str]:
        """Return the colours of all tokens that lie on the board."""
        return {self._heaps[member].words: self._heaps[member].colour for member in sorted(self._heaps)}

    def piece(self, place: int) -> Piece | None:
        value = self._value("place.piece", place)
        if value is None:
            return None
        model, names = self._model, self._names
        owner, shape = divmod(value, len(model.pieces))
        piece = Piece(SEATS[owner % len(SEATS)], str(owner + 1), shape)
        words = names.text(owner, SEAT)
        if len(model.pieces) > 1:
            words = f"{words}: {model.pieces[shape].replace('_', ' ')}"
        self._owners[value] = (piece, words)
        return piece

    def owners(self) -> tuple[tuple[Piece, str], ...]:
        return tuple(self._owners[value] for value in sorted(self._owners))
