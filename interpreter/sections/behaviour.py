"""Sections of behaviour: the round, tables, rules, triggers, standing rules, decisions, events and policies."""

from __future__ import annotations

from interpreter.sections.atoms import (
    About,
    Alternatives,
    Cells,
    Cites,
    Condition,
    DottedName,
    Fields,
    Function,
    Heard,
    LayerId,
    Matched,
    Names,
    Preferences,
    Printed,
    Procedure,
    RuleText,
    Template,
    TypeText,
    Verdict,
)
from interpreter.sections.declarations import Declaration, Layered, Remarks
from interpreter.sections.vocabulary import Either, Keys, Listed, Name, Named, Record, Words

__all__ = [
    "Amendment",
    "Case",
    "Event",
    "Helper",
    "Phase",
    "Preference",
    "Ranking",
    "Rule",
    "Standing",
    "Table",
    "Trigger",
]


class Event(Declaration, section="events", noun="event"):
    """An event for `note`."""

    with_ = Fields("The values of the event with their types.")
    says = Template("The line of the log.")


class Phase(Record):
    """A phase with a condition."""

    phase = Name("The procedure that is the phase.", required=True)
    when = Condition(
        "The condition of the phase, evaluated when it is due; if false, the phase is skipped.", required=True
    )


RankKey = RuleText.over("int", who="seat")


class Ranking(Record):
    """The ranking: the keys of the seats; equal keys share a place."""

    rank = Words(RankKey(), "The keys that rank the seats, highest first.", minItems=1)(required=True)
    cites = Cites()
    about = About()


class Table(
    Declaration,
    section="tables",
    noun="table",
    then={
        "if": {"not": {"required": ["replaces"]}},
        "then": {"required": ["keys", "gives", "is"]},
        "else": {"required": ["is"]},
    },
    dependentRequired={"cells": ["amends"]},
    apart=(("amends", "replaces"),),
):
    """A table of values."""

    keys = Words(Name(), "The keys: kinds, `players`, `round`, or another name for a whole number.", minItems=1)
    gives = TypeText("The type of a cell.")
    laws = Either(
        Words(Condition()),
        Named(Condition(), minProperties=1, title="names with conditions"),
        meaning="Conditions for the table's cells: a list, or conditions by name, which later files can amend; "
        "`nothing` removes one.",
    )
    is_ = Printed()
    replaces = LayerId("The file whose table this one replaces.")
    cells = Cells("Changed cells: keys, joined by `, `, with the new value.")


class Rule(
    Layered,
    section="rules",
    noun="rule",
    short=(Function("A function."),),
    one_of=("is", "does", "permits"),
    apart=(("replaces", "wraps"),),
):
    """A rule: a function (`is`, or the text alone), a procedure (`does`) or a verdict (`permits`)."""

    is_ = Function("A function: a value from its parameters and the state.")
    does = Procedure("A procedure: it changes the state, asks, calls procedures.")
    permits = Verdict("A verdict: conditions, one `require` a line.")
    discloses = Words(DottedName(), "Hidden zones, pools, values and sealed decisions of which it tells on purpose.")
    replaces = LayerId("The file whose rule this one replaces.")
    wraps = LayerId("The file whose rule this one wraps; `base(...)` calls the rule below.")
    removes = Declaration.removes
    when = Condition("The condition of this layer; if false, the layer below applies.")


class Case(Remarks):
    """The effect in some phases."""

    in_ = Names("The phases of this case.", required=True)
    does = Procedure("The effect.", required=True)


class Trigger(
    Declaration,
    section="triggers",
    noun="trigger",
    one_of=("cases", "does"),
    apart=(("does", "otherwise"), ("does", "cases")),
):
    """A reaction to an event."""

    on = Heard("The event, optionally with a condition.", required=True)
    cases = Listed(Keys(Case), "The effects, by phase.", minItems=1)
    otherwise = Procedure("The effect in every other phase: `nothing`, or rule text.")
    does = Procedure("The effect in every phase.")


class Standing(Declaration, section="standing", noun="standing rule", one_of=("for", "whenever")):
    """A standing rule."""

    for_ = Matched("The matches for which the rule runs, one at a time.")
    whenever = Condition("The condition that runs the rule.")
    does = Procedure("The effect.", required=True)


class Amendment(Remarks, anyOf=[{"required": ["adds"]}, {"required": ["wraps"]}]):
    """Additions to a decision."""

    adds = Alternatives("Additional alternatives, as in a `choose`; `who` is the actor.")
    wraps = Alternatives(
        "Existing alternatives with further conditions, or with a body in which `base()` runs the one below."
    )


class Helper(Record, short=(Function("A function or constant."),), one_of=("is", "permits")):
    """A function, verdict or constant for the text of one file."""

    is_ = Function("A function: a value from its parameters and the state. A number, `yes` or `no` is a constant.")
    permits = Verdict("A verdict: conditions, one `require` a line.")
    about = About()


class Preference(Remarks):
    """The policy for a decision."""

    prefer = Either(
        Preferences(),
        Named(
            Preferences("Lines that a layer above can replace by this name, keep with `base` or drop with `nothing`."),
            minProperties=1,
        ),
        meaning="Preferences among the legal options, one a line. `base` stands for the lines below.",
    )(required=True)
