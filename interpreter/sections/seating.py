"""Sections of seats and values: roles, belongings, state, settings, and readings of doubtful rules."""

from __future__ import annotations

from interpreter.sections.atoms import Cites, Lasts, Order, Seen, StartValue, Text, TypeText, YesNo
from interpreter.sections.declarations import Declaration, OfState
from interpreter.sections.vocabulary import Either, Integer, Keys, Name, Named, Record

__all__ = ["Belonging", "Interpretation", "Role", "Seats", "Setting", "StateValue"]


class Role(Declaration, section="roles"):
    """A role of seats."""

    counts = YesNo("`no` for a seat that is not counted in `players` and never asked.", required=True)
    seats = Either(
        Integer(minimum=0, maximum=12),
        Name(),
        meaning="The number of seats with the role, beside the people with the first role; or the setting with an item "
        "for each seat.",
    )
    open = YesNo("`yes` if everyone sees what its seats have, even if it is hidden for other roles.")


class Belonging(
    OfState,
    section="has",
    noun="thing of a seat",
    one_of=("zone", "pool", "stock", "value"),
    then={
        "dependentRequired": {"order": ["zone"], "top_shows": ["zone"], "lasts": ["value"]},
        "dependentSchemas": {
            "seen": {
                "description": "the pieces of a stock are visible to everyone",
                "anyOf": [{"required": ["zone"]}, {"required": ["pool"]}, {"required": ["value"]}],
            }
        },
    },
):
    """A belonging of each seat: a zone, a pool, a stock of pieces or a value."""

    zone = Name("The kind of card in a zone of the seat.")
    order = Order()
    seen = Seen()
    top_shows = Name("The rule that shows the back of the top card.")
    pool = Name("The kind of token in a pool of the seat.")
    stock = Name("The kind of piece in the seat's stock.")
    value = TypeText("The type of a value of the seat.")
    start = StartValue("The start value: a number, a word, a list, or the name of a table or rule.")
    lasts = Lasts()


class Seats(Record):
    """The seats at the table."""

    roles = Named(Keys(Role), "The roles of seats.")
    has = Named(Keys(Belonging), "The belongings of each seat.")


class StateValue(OfState, section="state", noun="value of the state"):
    """A value of the game."""

    value = TypeText("The type of the value.", required=True)
    start = StartValue("The start value.")
    lasts = Lasts()
    seen = Seen()


class Setting(Declaration, section="settings", noun="setting"):
    """An input of a game."""

    value = TypeText("The type of the input.", required=True)
    check = Name("The verdict on the input.")
    default = StartValue("The default value; required unless the type is optional.")


class Interpretation(Declaration, section="interpretations", noun="interpretation"):
    """A doubt in a rulebook, its readings and the default."""

    answers = Cites("The doubts that this settles.", required=True)
    default = Name("The default reading.", required=True)
    is_ = Named(Text(), "The readings, each with its meaning.", minProperties=1)(required=True)
