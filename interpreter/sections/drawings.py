"""Sections of the graph and of everything that is shown: the picture, boards, measures, the table and card faces."""

from __future__ import annotations

from typing import Literal, TypeAlias

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
    YesNo,
)
from interpreter.sections.declarations import Declaration, Layered
from interpreter.sections.vocabulary import THING, Either, Integer, Keys, Name, Named, OneOf, Record, Word, Words

__all__ = ["Board", "Face", "Graph", "LinkLook", "Measure", "NodeLook", "Panel", "Picture", "PlaceLook", "Sum"]

PanelPlace: TypeAlias = Literal["status", "board", "side", "window"]
Columns = Named(RuleText(), minProperties=1)


class Graph(Layered, section="graph", noun="graph"):
    """The graph: nodes, links between them and places on the nodes."""

    node = Name("The name of a node in the rule language.", required=True)
    has = Fields(
        "The attributes of a node with their types. A map adds its own with `amends`; each is a column of `nodes`."
    )
    link = Fields(
        "The attributes of a link with their types. A map adds its own with `amends`; each is a column of `links`."
    )
    length = RuleText.over("int?", from_="node", to="node", link="link")(
        "The length of a link: one of its attributes, or an expression over `from`, `to` and `link`."
    )
    pieces = Integer("The number of connected pieces of the graph, if not 1.", minimum=1)
    dealt = Name("A zone whose cards lie on the links in order; `length` is an attribute of these cards.")
    place = Fields("The attributes of the places on a node with their types.")
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


class Sum(Record, scope={THING: THING}):
    """The things that can be clicked: a kind, a kind of cards, or the family's word for a node."""

    costs = RuleText("The price, after everything selected before.", required=True)
    then = Name("The rule that takes it, on a copy of the game: its parameters are the seat and the thing.")


class Panel(Declaration, section="table", noun="panel of the table", scope={"me": "seat"}):
    """A panel of the table in a browser. It shows one thing: a graph, cards, tokens, a track, a printed table,
    columns or sums."""

    says = Template("The heading of the panel.")
    at = OneOf[PanelPlace | None](
        "The position: beside the phase, with the board, beside it, or in a window that a button opens.",
        "status",
        "board",
        "side",
        "window",
        default=None,
    )
    if_ = Condition("The condition for showing it.")
    graph = YesNo("The panel shows the graph, as `picture` draws it.")
    cards = RuleText("The cards that it shows: a list, a zone or piles.")
    tokens = RuleText("The tokens that it shows: a pool or a bag.")
    track = RuleText("The track whose spaces it shows, with the tokens on them.")
    printed = Name("The printed table that it shows.")
    marks = Columns("Values of the printed table's keys: their cells are highlighted.")
    rows = Matched("The rows; default: a single row.")
    columns = Columns(
        "Columns by name, each with an expression: cards look like cards, tokens like tokens, anything else is text."
    )
    sums = Named(Keys(Sum), "A calculator: the total price of a selection of things.", minProperties=1)
    opens = Names("Phases and decisions in which the window opens by itself.")
    leads = Name("The window that opens when the head of a row is clicked.")
    answers = Named(
        OneOf("The mark on the selection.", "tick", "ring", "flame", "cross", default=""),
        "Decisions that are made here, each with the mark on the selection; the window stays open while its seat is "
        "asked.",
        minProperties=1,
    )


class Face(Declaration, section="faces", noun="face of cards", scope={THING: THING}):
    """The face of a kind of cards: expressions over the card, which has the name of its kind; or the colours
    of a kind."""

    colours = Named(
        Word(title="a word for a colour", pattern="^[a-z]+$"),
        "The colours of the members of a kind, such as `{clubs: black}`.",
        minProperties=1,
    )
    title = Shown("The large text on the card: an expression, or a template in quotes.")
    left = Shown("The text at the lower left: an expression, or a template in quotes.")
    right = Shown("The text at the lower right: an expression, or a template in quotes.")
    colour = RuleText("The value, or the list or set of values, that colours it.")
    note = Shown("Further text, also on hover: an expression, or a template in quotes.")
    holds = RuleText("The tokens on the card.")
    room = RuleText("The number of tokens that fit.")
