"""Sections of seats and values: roles, belongings, state, settings, and readings of doubtful rules."""

from __future__ import annotations

from interpreter.base.plain_data import Json
from interpreter.sections.atoms import Cites, Count, Lasts, Most, Order, Seen, StartValue, Text, TypeText, YesNo, ids
from interpreter.sections.declarations import Declaration, OfState
from interpreter.sections.vocabulary import Either, Integer, Keys, Name, Named, Record

__all__ = [
    *("COMMANDS", "Belonging", "Command", "Holds", "Interpretation", "OfSeat", "Role", "Seats", "Setting"),
    "StateValue",
]


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


_NEEDS: Json = {
    "dependentRequired": {
        **{"order": ["zone"], "top_shows": ["zone"], "lasts": ["value"], "count": ["value"]},
        **{"track": ["spaces"], "spaces": ["track"]},
    },
    "dependentSchemas": {
        "seen": {
            "description": "stocks and tracks are visible to everyone",
            "anyOf": [{"required": ["zone"]}, {"required": ["pool"]}, {"required": ["value"]}],
        }
    },
}


class Belonging(OfState, section="has", noun="belonging", one_of=("zone", "pool", "track", "value"), then=_NEEDS):
    """A belonging of each node, place, card or member of a kind: a zone, a pool, a track or a value."""

    zone = Name("The kind of card in the zone.")
    order = Order()
    seen = Seen()
    top_shows = Name("The rule that shows the back of the top card.")
    pool = Name("The kind of token in the pool.")
    track = Name("The kind of token on the track.")
    spaces = Name("The table of the track's spaces with their prices.")
    value = TypeText("The type of the value.")
    start = StartValue("The start value: a number, a word, a list, or the name of a table or rule.")
    lasts = Lasts()
    count = Count()
    most = Most()


Holds = Named(Keys(Belonging), "The belongings of each: zones, pools, tracks and values.").defined("holds")


class OfSeat(Belonging, section="has", one_of=(*Belonging.one_of, "stock"), then=_NEEDS):
    """A belonging of each seat: a zone, a pool, a track, a stock of pieces or a value."""

    stock = Name("The kind of piece in the seat's stock.")


class Seats(Record):
    """The seats at the table."""

    roles = Named(Keys(Role), "The roles of seats.")
    has = Named(Keys(OfSeat), "The belongings of each seat.")


class StateValue(OfState, section="state", noun="value of the state"):
    """A value of the game."""

    value = TypeText("The type of the value.", required=True)
    start = StartValue("The start value.")
    lasts = Lasts()
    seen = Seen()
    count = Count()
    most = Most()


class Setting(Declaration, section="settings", noun="setting"):
    """An input of a game."""

    value = TypeText("The type of the input.", required=True)
    check = Name("The verdict on the input.")
    default = StartValue("The default value; required unless the type is optional.")


COMMANDS = ("join", "start", "option", "map", "undo", "hint", "help")
"""Commands in the talk of a table; `map` is an option whose values have numbers."""


class Command(Declaration, section="commands", noun="command"):
    """A command in the talk of a table, with the statements that it implements."""

    is_ = ids("map")("The maps, in the order of their numbers, from 1: for `map` alone.")


class Interpretation(Declaration, section="interpretations", noun="interpretation"):
    """A doubt in a rulebook, its readings and the default."""

    answers = Cites("The doubts that this settles.", required=True)
    default = Name("The default reading.", required=True)
    is_ = Named(Text(), "The readings, each with its meaning.", minProperties=1)(required=True)
