"""Sections of the graph and of everything that is shown: the picture, boards, measures, the table, marks and faces."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from interpreter.sections.atoms import (
    Condition,
    Fields,
    Heard,
    Matched,
    Moment,
    Names,
    Printed,
    RuleText,
    Shown,
    Template,
    TypeText,
    YesNo,
)
from interpreter.sections.declarations import Declaration, Layered
from interpreter.sections.seating import Holds
from interpreter.sections.vocabulary import THING, Either, Integer, Keys, Name, Named, OneOf, Record, Word, Words

__all__ = [
    *("Board", "Face", "Graph", "Grid", "LinkLook", "Mark", "Measure", "NodeLook", "Panel", "Picture", "PlaceLook"),
]

GridLinks: TypeAlias = Literal["sides", "corners", "hex"]
PanelPlace: TypeAlias = Literal["status", "board", "side", "window"]
Columns = Named(RuleText(), minProperties=1)
Colour = Word(title="a word for a colour", pattern="^[a-z]+$")


class Grid(Record):
    """Nodes in rows and columns, linked to those beside them."""

    rows = Integer("The number of rows.", minimum=1)(required=True)
    columns = Integer("The number of columns.", minimum=1)(required=True)
    links = OneOf[GridLinks](
        "The nodes that links lead to: the four at the sides (default), those at the corners too, or on hexagons, of "
        "which every second row is shifted to the right, the six around.",
        *get_args(GridLinks),
        default="sides",
    )


class Place(Record, others=TypeText()):
    """The attributes of the places on a node with their types."""

    holds = Holds()


class Graph(Layered, section="graph", noun="graph"):
    """The graph: nodes, links between them and places on the nodes."""

    node = Name("The name of a node in the rule language.", required=True)
    has = Fields(
        "The attributes of a node with their types. A map adds its own with `amends`; each is a column of `nodes`."
    )
    holds = Holds()
    grid = Keys(Grid)
    link = Fields(
        "The attributes of a link with their types. A map adds its own with `amends`; each is a column of `links`."
    )
    length = RuleText.over("int?", from_="node", to="node", link="link")(
        "The length of a link: one of its attributes, or an expression over `from`, `to` and `link`."
    )
    pieces = Integer("The number of connected pieces of the graph, if not 1.", minimum=1)
    dealt = Name("A zone whose cards lie on the links in order; `length` is an attribute of these cards.")
    place = Keys(Place)
    places = Named(
        Printed(),
        "Named sets of places, as printed; the first is the default, `places` of a node names another.",
        minProperties=1,
    )
    takes = RuleText.over("places", node="node")(
        "The set of places of a `node`: an expression over its printed attributes."
    )
    amends = Declaration.amends


class NodeLook(Record, scope={"node": "node"}):
    """The look of a node."""

    colour = RuleText("The expression that colours it.")
    label = Shown("The expression, or the template in quotes, that labels it.")
    pale = Condition("The condition for being out of play.")
    shape = RuleText("The expression that gives it a shape.")
    card = RuleText("On a grid: the card, or the first of the cards, that lies on it.")
    tokens = RuleText("On a grid: the tokens that lie on it.")


class LinkLook(Record, scope={"link": "link"}):
    """The look of a link."""

    colour = NodeLook.colour
    label = NodeLook.label
    hidden = Condition("The condition for hiding it.")


class PlaceLook(Record, scope={"place": "place"}):
    """The look of a place."""

    colour = NodeLook.colour
    label = NodeLook.label
    piece = RuleText("The piece on the place.")
    tokens = NodeLook.tokens
    side = RuleText(
        "On a grid: the member of a kind that says where the place lies. The members go round the field, clockwise "
        "from its first side; none is the middle."
    )


class Picture(Record):
    """The drawing of the graph."""

    node = Keys(NodeLook)
    link = Keys(LinkLook)
    place = Keys(PlaceLook)
    grid = YesNo("Nodes are drawn as touching fields, exactly at `x` and `y`.")


class Board(Declaration, section="boards", noun="board"):
    """A line of text, a table, or both."""

    when = Moment("The moment for showing the board.", required=True)
    if_ = Condition("The condition for showing it at that moment.")
    says = Template("A line of text.")
    rows = Matched("The rows; default: a single row.")
    columns = Columns("Columns by name, each with an expression.")


class Measure(Declaration, section="measures", noun="measure", one_of=("when", "on"), dependentRequired={"by": ["on"]}):
    """A named expression with its moment or event."""

    each = Name("The name of the seat in `value`, for a measure of each seat.")
    for_ = Matched("The matches that are measured, if not each seat: `x in items where test`.")
    value = RuleText("The measured number or condition.", required=True)
    when = Either(Moment(), Words(Moment(), minItems=1, uniqueItems=True), meaning="The moment, or a list of moments.")
    on = Heard("The event, instead of a moment, optionally with a condition.")
    by = Names("The values of the event that group the results, such as the seat.")
    sums = YesNo("`yes` to add up the values of a group in a game.")


class Panel(
    Declaration,
    section="table",
    noun="panel of the table",
    scope={"me": "seat"},
    dependentRequired={"scale": ["rows"], "lines": ["scale"]},
):
    """A panel of the table in a browser. It shows one thing: a graph, cards, tokens, a track, a scale, a printed
    table or columns."""

    says = Template("The heading of the panel.")
    at = OneOf[PanelPlace | None](
        "The position: beside the phase, with the board, beside it, or in a window that a button opens.",
        *get_args(PanelPlace),
        default=None,
    )
    if_ = Condition("The condition for showing it.")
    graph = YesNo("The panel shows the graph, as `picture` draws it.")
    cards = RuleText("The cards that it shows: a list, a zone or piles.")
    tokens = RuleText("The tokens that it shows: a pool or a bag.")
    track = RuleText(
        "The track whose spaces it shows, with the tokens on them; `columns` over `rows` of kinds add to their lanes."
    )
    scale = RuleText("The number at which each of the `rows` stands on a line.")
    lines = Columns("The numbers of the scale that have a name, each an expression.")
    printed = Name("The printed table that it shows.")
    marks = Columns("Values of the printed table's keys: their cells are highlighted.")
    rows = Matched("The rows; default: a single row.")
    columns = Columns(
        "Columns by name, each with an expression: cards look like cards, tokens like tokens, anything else is text."
    )
    per_row = Integer("The number of cards side by side.", minimum=1, maximum=8)
    compact = YesNo("Cards are small: room for tokens is not shown before there are some.")
    picks = Condition("The condition for picking its lanes; default: yes.")
    opens = Names("Phases and decisions in which the window opens by itself.")
    leads = Name("The window that opens when the head of a row is clicked.")
    answers = Named(
        OneOf("The mark on the selection.", "tick", "ring", "flame", "cross", default=""),
        "Decisions that are made here, each with the mark on the selection; the window stays open while its seat is "
        "asked.",
        minProperties=1,
    )


class Mark(Declaration, section="marks", noun="mark", scope={"me": "seat"}):
    """A label on things of the table: cards, seats, nodes or lanes of a track. Who may not see what it reads does not
    see it."""

    on = Matched("The things that have it: `x in items where test`.", required=True)
    during = Name(
        "The decision or procedure during which it is shown. Its locals are `actor` and the values shown with the "
        "decision, or those of the procedure."
    )
    says = Template("Its text; braces hold `me`, those locals and the thing.", required=True)
    colour = Colour("Its colour.")


class Face(Declaration, section="faces", noun="face of cards", scope={THING: THING}):
    """The face of a kind of cards: expressions over the card, which has the name of its kind; or the colours
    of a kind."""

    colours = Named(
        Colour(),
        "The colours of the members of a kind, such as `{clubs: black}`.",
        minProperties=1,
    )
    icons = Named(
        Word(title="the path of an SVG, 20 units wide and high", pattern="^[MmLlHhVvCcSsQqTtAaZz0-9 .,-]+$"),
        "The icons of the members of a kind, in place of their first letters.",
        minProperties=1,
    )
    title = Shown("The large text on the card: an expression, or a template in quotes.")
    left = Shown("The text at the lower left: an expression, or a template in quotes.")
    right = Shown("The text at the lower right: an expression, or a template in quotes.")
    colour = RuleText("The value, or the list or set of values, that colours it.")
    plain = Colour("The colour without such a value.")
    note = Shown("Further text, also on hover: an expression, or a template in quotes.")
    turn = RuleText("The member of a kind by which the card is turned on the graph, a whole turn for all its members.")
    holds = RuleText("The tokens on the card.")
    room = RuleText("The number of tokens that fit.")
