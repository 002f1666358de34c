"""Forms of values that many keys share; each is a definition in the JSON schemas."""

from __future__ import annotations

from typing import Literal, TypeAlias

from interpreter.sections.vocabulary import (
    Code,
    Either,
    Flag,
    Integer,
    Keys,
    Name,
    Named,
    OneOf,
    Prose,
    Record,
    Reference,
    Word,
    Words,
)

__all__ = [
    *(
        "About",
        "Alternatives",
        "Cells",
        "ChangedId",
        "Cites",
        "Condition",
        "DottedName",
        "Fields",
        "Function",
    ),
    *("Heard", "Id", "Language", "LayerId", "Lasts", "Matched", "Moment", "Most"),
    *("Names", "Order", "PathId", "Players", "PlayersKeys", "Preferences", "Printed", "Procedure"),
    *("Provenance", "RuleText", "Rulebook", "Seat", "Seen", "Shown", "StartValue", "StatementId"),
    *("Template", "Text", "TypeText", "Verdict", "Whole", "WordId", "YesNo", "ids"),
]

Lasting: TypeAlias = Literal["game", "turn", "phase", "round"]

DottedName = Word(
    "Names joined by `.`, such as `decision.alternative`.",
    title="names joined by `.`",
    pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$",
).defined("dotted_name")
Id = Reference(
    "The id of a file: `folder/name`; of a family or a ruleset one word.",
    title="an id such as `folder/name`",
    pattern="^[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_.-]*)?$",
).defined("id")
WordId = Reference(
    "The id of a family or a ruleset: one word.", title="an id of one word", pattern="^[a-z0-9][a-z0-9_-]*$"
).defined("word_id")
PathId = Reference(
    "The id of a file: `folder/name`, which determines its path below a folder of rulesets.",
    title="an id such as `folder/name`",
    pattern="^[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_.-]*$",
).defined("path_id")
ChangedId = PathId.changed(
    meaning="The id of a file; with a minus, it is left out.",
    schema={**PathId.schema, "pattern": "^([+]undefined|-?[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_.-]*)$"},
).defined("changed_id")
StatementId = Reference(title="the id of a statement, such as `AB-012`", pattern="^[A-Z]{1,3}-[A-Za-z0-9-]+$").to_any(
    "statement"
)


def ids(*kinds: str) -> Words:
    """Return the form of a list of ids of files."""
    return Words(Id.to_any(*kinds), "Ids of files.", uniqueItems=True).defined("ids")


LayerId = Id.to_any("family", "edition", "map", "deck", "overlay", "library")
Language = Word("The version of the language.", enum=(2,)).defined("language")
Text = Prose("Text for readers.", title="text", minLength=1).defined("text")
About = Text.defined("about", "A description for readers.")
Provenance = Text.defined("provenance", "The source of the data, and how it was checked.")
Cites = Words(StatementId(), "Ids of the statements that this implements.", uniqueItems=True).defined("cites")
RuleText = Code(
    "Text in the rule language: a literal block with `|`, or one line.",
    type=("string", "integer"),
    title="rule text",
    minLength=1,
).defined("rule_text")
Condition = RuleText.of("condition")
Function = RuleText.of("function")
Procedure = RuleText.of("procedure")
Verdict = RuleText.of("verdict")
Heard = RuleText.of("heard")
Matched = RuleText.of("matched")
Preferences = RuleText.of("preferences")
Alternatives = RuleText.of("alternatives")
Shown = RuleText.of("expression", templated=True)
TypeText = (
    Code(
        "A type of the rule language, such as `int`, `1..3`, `list of seat`, `set of NAME`; with `?` it may be none.",
        title="a type such as `int`, `list of seat` or `card?`",
        minLength=1,
    )
    .of("a_type")
    .defined("type")
)
YesNo = Flag("`yes` or `no`.", enum=("yes", "no")).defined("yes_no")
Printed = Word(
    "A table as printed: a literal block, one line a row, `|` between the cells.",
    title="a table as printed, with `|` between its cells",
    minLength=1,
).defined("printed")
Template = Either(
    Word(title="text"),
    Named(
        Word(title="text"),
        names=Word(title="a language code such as `en`", pattern="^[a-z]{2}(-[A-Z]{2})?$"),
        title="a text per language",
        minProperties=1,
    ),
    meaning="Text with expressions in braces; one text, or a text per language such as `{en: ..., de: ...}`.",
).defined("template")
StartValue = Either(
    meaning="A number, a word, a list, or the name of a table or of a rule without parameters.",
    type=("integer", "string", "array"),
    title="a number, a word, a list, or the name of a table or rule",
).defined("value")
Lasts: OneOf[Lasting] = OneOf[Lasting](
    "When the value is reset: at the end of each phase, round or turn.", "phase", "round", "turn", default="game"
).defined("lasts")
Seen = Either(
    OneOf("", "everyone", "owner", "no one", default="everyone"),
    Word(title="`by RULE`", pattern="^by [a-z][a-z0-9_]*$"),
    meaning="Visibility: everyone (default), the owner, no one, or each seat for which a rule holds (`by RULE`, a rule "
    "over the seat and the owner).",
).defined("seen")
Count = OneOf[Literal["hidden", "shown"]](
    "Whether everybody sees how many items a hidden list or set has.", "hidden", "shown", default="hidden"
).defined("count")
Most = Integer(
    "The most items of a list, cards of a zone or piles: more stop the game, and a module has room for no more.",
    minimum=1,
    maximum=20_000,
    title="a number of items, at most 20,000",
).defined("most")
Order = Word(
    "The order of cards: as they came in (`kept`), none (`free`), or sorted (`by RULE`, a rule from a card to a "
    "number; cards without one are last).",
    title="`kept`, `free` or `by RULE`",
    pattern="^(kept|free|by [a-z][a-z0-9_]*)$",
).defined("order")
Fields = Named(TypeText(), "Names with their types.").defined("fields")
Moment = Word(
    "A moment: `start of game`, `end of round`, `end of PHASE`.",
    title="a moment such as `end of game`",
    pattern="^(start|end) of [a-z][a-z0-9_]*$",
).defined("moment")
Cells = Named(Word(type=("integer", "string"), title="a number or a word"), names=None, minProperties=1)
Names = Words(Name(), minItems=1, uniqueItems=True)
Whole = Integer(minimum=0, title="a whole number that is not negative")
Seat = Integer(minimum=0, title="the number of a seat")

_Count = Integer(minimum=1, title="a number of players")
_Range = Word(title="a range such as `3..6`", pattern=r"^[0-9]+\.\.[0-9]+$")


class PlayersKeys(Record, title="keys with values"):
    """The allowed numbers of players, with mandatory overlays."""

    range = Either(_Count(), _Range(), meaning="The allowed numbers of players.")(required=True)
    otherwise = Text("The reason against other numbers.")
    with_ = Named(
        Either(
            Word(const="nothing"),
            PathId.to_any("overlay")(),
            meaning="The overlay; `nothing` removes that of an edition below.",
        ),
        "Mandatory overlays by number of players.",
        names=Either(pattern="^[1-9][0-9]?$", title="a number of players"),
        minProperties=1,
    )
    because = Text("The reason for mandatory overlays.")


Players = Either(
    _Count(),
    _Range(),
    Keys(PlayersKeys, ""),
    meaning="The allowed numbers of players: a number, a range such as `3..6`, or a range with the reason against "
    "other numbers and mandatory overlays.",
).defined("players")
Rulebook = Either(Id(), ids(), meaning="The id of the rulebook that the file follows, or a list of them.").defined(
    "rulebook"
)
