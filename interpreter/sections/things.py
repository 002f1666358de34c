"""Sections of things: kinds, tokens, pieces, cards, records, and the zones, pools and tracks that hold them."""

from __future__ import annotations

from interpreter.sections.atoms import Cells, Fields, Most, Order, Printed, Seen, TypeText, Whole, YesNo
from interpreter.sections.declarations import Declaration, OfState, Remarks
from interpreter.sections.seating import Holds
from interpreter.sections.vocabulary import Either, Integer, Name, OneOf, Word, Words

__all__ = [
    *("Card", "Component", "DeckCards", "Kind", "Piece", "Pool", "RecordType", "Tokens", "Track", "Version", "Zone")
]

_MEMBERS = (
    Word(title="`open` or a range such as `1..3`", pattern=r"^(open|-?[0-9]+\.\.-?[0-9]+)$"),
    Words(Name(), minItems=1, uniqueItems=True, title="a list of names"),
)
_CARDS = (Printed(), Integer("The number of cards without attributes.", minimum=1, title="a number of cards"))
_IS_CARDS = Either(
    *_CARDS,
    meaning="The cards: a printed table, or their number. The column `copies` has the number of cards of a row.",
)


class Kind(Declaration, section="kinds", noun="kind", short=_MEMBERS, dependentRequired={"adds": ["amends"]}):
    """The members: a list of names, a range such as `1..3`, or `open` if a later file lists them."""

    is_ = Either(*_MEMBERS, meaning="The members: a list, a range, or `open`.")(required=True)
    adds = Words(Name(), "Additional members.", minItems=1, uniqueItems=True, title="a list of names")
    holds = Holds()


_OPEN = OneOf("As many as the starts of pools and tracks lay out.", "open", default="")
_NUMBER = Either(Whole(), _OPEN, meaning="The number, or `open`: as many as pools and tracks start with.")


class Tokens(Declaration, section="tokens", noun="kind of tokens", short=_NUMBER.inner, others=_NUMBER):
    """The number of each kind."""

    holds = Holds()


class Piece(Declaration, section="pieces", noun="kind of pieces"):
    """A kind of piece."""


class Card(Declaration, section="cards", noun="kind of cards", short=_CARDS, dependentRequired={"cells": ["amends"]}):
    """A kind of card: its attributes, or its cards as a printed table or a number."""

    key = Name("The identifying attribute; without it, all cards of the kind are alike.")
    has = Fields("The attributes of a card with their types.")
    holds = Holds()
    is_ = _IS_CARDS()
    cells = Cells("Changed cells of cards: key and column, joined by `, `, with the new value.")


class Version(Remarks):
    """Other values of cards while the condition of the part holds."""

    amends = Declaration.amends(required=True)
    cells = Card.cells("Other cells: key and column, joined by `, `, with the value.", required=True)


class DeckCards(Remarks):
    """The cards of a kind, in a deck."""

    is_ = _IS_CARDS(required=True)


class RecordType(Declaration, section="records", noun="record", others=TypeText()):
    """The fields of a record with their types."""


class Zone(OfState, section="zones", noun="zone", one_of=("of", "piles of")):
    """A zone of cards."""

    of = Name("The kind of card; `card` for any.")
    piles_of = Name("The kind of card in the piles; a pile shows its top card.", key="piles of")
    order = Order()
    seen = Seen()
    start = Word("`all`: all cards begin here.", enum=("all",))
    top_shows = Name("The rule that shows the back of the top card.")
    most = Most()


class Pool(OfState, section="pools", noun="pool"):
    """A pool of tokens."""

    of = Name("The kind of token.", required=True)
    start = Either(
        meaning="The tokens at the start: a number, a table, a rule, or `rest` for all tokens that start nowhere else.",
        type=("integer", "string"),
        title="a number, `rest`, or the name of a table or rule",
    )
    unlimited = YesNo("`yes` if it never runs out.")
    seen = Seen()


class Track(OfState, section="tracks", noun="track"):
    """A track of priced spaces."""

    of = Name("The kind of token on the spaces.", required=True)
    spaces = Name("The table of the spaces with their prices.", required=True)
    start = Name("The table of the tokens at the start.")


class Component(Declaration, section="components", noun="component"):
    """A component."""

    count = Whole("The number in the box; default: of the tokens or cards that it is.")
    of = Name("The kind of tokens or cards that it is. `lint` compares their number with `count`.")
