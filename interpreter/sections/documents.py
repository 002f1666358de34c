"""Files: for each kind of file the record of its keys and sections."""

from __future__ import annotations

from interpreter.sections import behaviour, drawings, seating, things
from interpreter.sections.atoms import (
    About,
    ChangedId,
    Cites,
    Condition,
    DottedName,
    Fields,
    Id,
    Language,
    PathId,
    Players,
    Printed,
    Procedure,
    Provenance,
    Rulebook,
    RuleText,
    Seat,
    StatementId,
    Template,
    Text,
    WordId,
    ids,
)
from interpreter.sections.declarations import Declaration, Layered, OfState, Remarks
from interpreter.sections.vocabulary import Either, Form, Integer, Keys, Listed, Name, Named, OneOf, Record, Word, Words

__all__ = [
    *("FILES", "NAMED_SECTIONS", "NOUNS", "SINGLE_SECTIONS", "STATE_SECTIONS"),
    *("Decisions", "Head", "Helpers", "Naming", "PoliciesFile", "Refusal", "Scenarios", "Sections", "Waivers"),
]


def _section(record: type[Layered], meaning: str) -> Named[object]:
    """Return the form of a section of declarations by name."""
    item: Form[object] = Keys(record)
    if record.short:
        item = Either(*record.short, Keys(record, ""), meaning=item.meaning)
    return Named(item, meaning).defined(record.section)


_RuleNames = Word(
    "The name of a rule; where it is introduced with parameters and a result, its head: `cost_of(who, number) -> int`.",
    title="a name of lower-case words joined by `_`, perhaps with a head such as `(who) -> int`",
    pattern=r"^[a-z][a-z0-9_]*(\([a-z0-9_, ]*\))?( -> .+)?$",
).defined("rule_name")
Rules = _section(behaviour.Rule, "Rules by name.").changed(names=_RuleNames())
Triggers = _section(behaviour.Trigger, "A reaction to an event.")
Decisions = Named(Keys(behaviour.Preference), "Decisions by name.")
Policies = Named(Decisions(), "Bots: decisions by policy.").defined("policies")
Helpers = Named(
    Either(*behaviour.Helper.short, Keys(behaviour.Helper, "")),
    "Functions, verdicts and constants for the text of this file alone; each may call those above it.",
    names=_RuleNames(),
).defined("helpers")
_Played = WordId.to_any("ruleset")
_WordIds = Words(_Played(), minItems=1, uniqueItems=True)
_Sights = Named(
    Words(RuleText(), "Expressions.", minItems=1),
    names=Either(pattern="^[0-9]+$", title="the number of a seat"),
    minProperties=1,
).defined("sights")


class Part(Remarks):
    """A named group of rules, triggers, policies and values of cards with one guard."""

    when = Condition("The common guard of the rules.", required=True)
    rules = Rules()
    triggers = Triggers()
    policies = Policies()
    cards = Named(Keys(things.Version), "Other values of cards while the guard holds, by kind.")


class Sections(Record):
    """Sections that apply only if the file is composed too."""

    kinds = _section(things.Kind, "Enumerations, and ranges of whole numbers.")
    tokens = Named(
        Either(*things.Tokens.short, Keys(things.Tokens, ""), meaning="The number, or the number of each kind."),
        "Kinds of counters with their numbers; totals are invariant.",
    ).defined("tokens")
    pieces = _section(things.Piece, "Pieces with an owner; they stand on places of the graph.")
    cards = _section(things.Card, "Kinds of cards with their attributes, or the cards themselves.")
    records = _section(things.RecordType, "Named tuples of values.")
    zones = _section(things.Zone, "Places for cards.")
    pools = _section(things.Pool, "Places for tokens.")
    tracks = _section(things.Track, "Priced spaces: tokens leave from the cheapest and enter at the dearest.")
    graph = Keys(drawings.Graph).defined("graph")
    seats = Keys(seating.Seats).defined("seats")
    state = _section(seating.StateValue, "Values of the game.")
    settings = _section(seating.Setting, "Typed inputs at the start of a game.")
    interpretations = _section(seating.Interpretation, "Doubts in a rulebook, their readings and defaults.")
    commands = Named(
        Keys(seating.Command),
        "Commands in the talk of a table.",
        names=OneOf("The word of the command.", *seating.COMMANDS, default=""),
    ).defined("commands")
    events = _section(behaviour.Event, "Events for `note`.")
    components = _section(things.Component, "Contents of the box, for readers and `cites`.")
    round = Listed(
        Either(Name(), Keys(behaviour.Phase, "")), "The phases of a round, in order: procedures by name.", minItems=1
    ).defined("round")
    setup = Name.defined("setup", "The procedure that runs once, before the first round.")
    check = Name("A verdict without parameters that must permit a game. Each file may have one, and all are asked.")
    result = Keys(behaviour.Ranking).defined("result")
    tables = _section(behaviour.Table, "Tables, as printed.")
    rules = Rules()
    triggers = Triggers()
    standing = _section(behaviour.Standing, "Rules that run before each decision and at the end of turns and phases.")
    decisions = Named(Keys(behaviour.Amendment), "Additional or changed alternatives of existing decisions.").defined(
        "decisions"
    )
    says = Named(Template(), "Lines of the log and names of things, by name.", names=DottedName()).defined("says")
    boards = _section(drawings.Board, "Boards in the log.")
    measures = _section(drawings.Measure, "Measures of a game.")
    picture = Keys(drawings.Picture).defined("picture")
    asks = Named(
        Template(), "Prompts of decisions, by name; braces hold `actor` and the context of the decision."
    ).defined("asks")
    faces = _section(drawings.Face, "Faces of cards, by kind.")
    table = _section(drawings.Panel, "The panels of the table in a browser, in their order.")
    marks = _section(drawings.Mark, "Labels on cards, seats, nodes and lanes of the table in a browser.")
    policies = Policies()
    parts = Named(Keys(Part), "Named groups with one guard.").defined("parts")


NAMED_SECTIONS = tuple(
    name
    for key, form in Sections.forms.items()
    for name in (seating.Seats.forms if key == "seats" else [key] if isinstance(form, Named) and key != "parts" else ())
)
"""Sections that map names to declarations, in the order of readers."""
_SINGLE = (key for key, form in Sections.forms.items() if not isinstance(form, Named) and key != "seats")
SINGLE_SECTIONS = (*_SINGLE, "nodes", "links")
"""Sections that are a single declaration."""
STATE_SECTIONS = tuple(each.section for each in OfState.__subclasses__())
"""Sections that declare cells of the state."""
_BASES = (Layered, Declaration, OfState)
NOUNS = {each.section: each.noun for base in _BASES for each in base.__subclasses__() if each.noun}
"""Words for the declarations of each section."""


class Paired(Record):
    """Sections for the case that another file is composed too."""

    with_ = Named(
        Keys(Sections).defined("sections"),
        "Sections that apply only if another file is composed too, by the id of that file.",
        names=Id.to_any("edition", "map", "overlay")(),
    ).defined("with")


FILES: dict[str, type[Record]] = {}
"""The record of each kind of file."""


class File(Record):
    """A file: the language, its id (the first key of a class), the title, keys about other files, remarks, and the
    ``content``."""

    language = Language(required=True)
    title = Text("The title.")
    about = About()
    provenance = Provenance()

    def __init_subclass__(cls, *, title: str = "", content: tuple[str, ...] = ()) -> None:
        super().__init_subclass__(title=title)
        own = [form.key for form in vars(cls).values() if isinstance(form, Form) and form.key not in content]
        order = ("language", *own[:1], "title", *own[1:], "about", "provenance", *content)
        cls.forms = {key: cls.forms[key] for key in (*order, *cls.forms)}
        FILES.update(dict.fromkeys(own[:1], cls))


class Ruleset(File, title="a ruleset"):
    """A runnable composition of files."""

    ruleset = WordId("The id of the ruleset, which is the file's name.", required=True)
    title = Text("The title.", required=True)
    family = WordId.to_any("family")("The family of the game.", required=True)
    edition = PathId.to_any("edition")("The edition.")
    map = PathId.to_any("map")("The map.")
    deck = PathId.to_any("deck")("The deck.")
    overlays = ids("overlay")("The overlays.")


class RulesetsFile(File, title="rulesets"):
    """A ruleset for every map of a family, or for many."""

    rulesets = PathId("The id of the file.", required=True)
    called = Word(
        "The ids of the rulesets. `{map}` stands for the map: its name, without the edition at its end.",
        title="an id with `{map}` in it, such as `{map}-first`",
        pattern=r"^[a-z0-9_-]*\{map\}[a-z0-9_-]*$",
    )(required=True)
    title = Text("The titles. `{map}` stands for that of the map, without parentheses at its end.", required=True)
    edition = Ruleset.edition
    maps = ids("map")("The maps; default: all of the family.")
    without = ids("map")("Maps that make no ruleset.")
    deck = Ruleset.deck
    overlays = Ruleset.overlays


class Naming(Record):
    """The types of parameters."""

    names = Fields("Types of parameters in this file, and in files of a family those that it says.").defined("names")


class Family(File, Naming, Sections, Paired, title="a family"):
    """Everything that all editions of a game share."""

    family = WordId.to_any("family")("The id of the family, which is the folder's name.", required=True)
    uses = ids("library")("The imported libraries.")


class Edition(File, Naming, Sections, Paired, title="an edition"):
    """One edition of a game."""

    edition = PathId.to_any("edition")("The id of the edition.", required=True)
    extends = Id.to_any("family", "edition")("The family or edition that this one extends.", required=True)
    rulebook = Rulebook()
    players = Players()


class Map(File, Naming, Sections, Paired, title="a map", content=("nodes", "links")):
    """The nodes and links of the family's graph, with their own rules."""

    map = PathId.to_any("map")("The id of the map.", required=True)
    rulebook = Rulebook()
    players = Players()
    cites = Cites()
    nodes = Printed("The nodes, as a printed table: a name, attributes, and a place on a picture.")
    links = Printed("The links, as a printed table: two nodes and attributes.")


class Deck(File, title="a deck", content=("cards",)):
    """The cards, as printed tables."""

    deck = PathId.to_any("deck")("The id of the deck.", required=True)
    rulebook = Rulebook()
    cites = Cites()
    cards = Named(
        Either(
            *things.Card.short,
            Keys(things.DeckCards, ""),
            meaning="The cards of a kind: a printed table, or the number of cards without attributes. The column "
            "`copies` has the number of cards of a row.",
        ),
        "The cards of each kind.",
        minProperties=1,
    ).defined("deck_cards")(required=True)


class Overlay(File, Naming, Sections, Paired, title="an overlay"):
    """An expansion or variant of an edition."""

    overlay = PathId("The id of the overlay.", required=True)
    over = ids("family", "edition", "map", "overlay")(
        "The files that this overlay fits: a ruleset must contain one of them.", required=True
    )
    rulebook = Rulebook()
    players = Players()
    not_with = ids("overlay")("The overlays that cannot be combined with this one.")
    undefined = Named(
        Text(),
        "Files that no rulebook combines with this overlay, each with the reason.",
        names=Id.to_any("edition", "map", "overlay")(),
        minProperties=1,
    )
    after = ids("overlay")("The overlays below this one.")
    layer = OneOf("`last`: this overlay lies over every other file.", "last", default="")


class Library(File, Naming, Sections, title="a library"):
    """Sections that several families import with `uses`, or that a family keeps in a file of their own."""

    library = PathId("The id of the library.", required=True)
    uses = ids("library")("The imported libraries.")


class PoliciesFile(File, Naming, title="policies", content=("weights", "rules", "is")):
    """Bots; never part of the rules."""

    policies = PathId("The id of the policies.", required=True)
    weights = Named(
        Integer(minimum=-1_000_000, maximum=1_000_000), "Whole numbers by name, for all rule text of the file."
    )
    rules = Helpers()
    is_ = Policies(required=True)


class Choice(Record, others=Either()):
    """A choice: the seat, the alternative, and its values by name; `= expression` is evaluated when the choice is
    made."""

    by = Seat("The seat that chooses, counted from 0.", required=True)
    do = Name("The alternative that is chosen.", required=True)


class Refusal(Record, others=Either(), minProperties=1, dependentRequired={"do": ["by"]}):
    """An illegal choice, with the rule and statements that forbid it; without `do`, a seat that is not asked; without
    `by`, a game that may not begin."""

    by = Seat("The seat that may not choose, counted from 0.")
    do = Name("The alternative that is refused.")
    rule = Name("The rule that refuses it.")
    cites = Cites("The statements that the refusal cites.")
    says = Text("Words of the reason.")


class Scenario(Record):
    """A test: a state, choices and the expected result."""

    name = Text("The title of the scenario.", required=True)
    cites = Cites()
    about = About()
    ruleset = _Played("The ruleset that is played.", required=True)
    holds_for = _WordIds("Further rulesets with which it must pass.")
    over = ids("family", "edition")("Families and editions: it must pass with each ruleset that takes its overlays.")
    not_with = ids("edition", "map", "overlay")("Files whose rulesets `over` leaves out.")
    fails_for = _WordIds("Rulesets with which it must fail: this is where they differ.")
    fails_with = Listed(
        Either(type="object", minProperties=1), "Settings with which it must fail.", minItems=1, uniqueItems=True
    )
    with_ = Words(
        ChangedId.to_any("overlay"),
        "Overlays on the ruleset; a minus leaves one out, and `+undefined` allows what no rulebook covers.",
        uniqueItems=True,
    )
    players = Integer(
        "The number of players; default: the smallest that needs no extra overlay.",
        minimum=1,
        title="a number of players",
    )
    seed = Integer("The random seed for outcomes that `chance` does not name; default 0.", title="a whole number")
    set = Named(Either(), "Settings by name.")
    chance = Named(Either(type="array", title="a list of outcomes"), "Random outcomes by name, in order.", names=None)
    given = Procedure("Rule text that runs after the setup.")
    phase = Name("The first phase to play.")
    round = Integer("The first round to play; default 1.", minimum=1, title="the number of a round")
    when = Listed(Keys(Choice).defined("choice"), "The choices, in order.")
    sound = Integer(
        "The number of further random choices, at most to the end of the `phase`. The game must be sound before and "
        "after the last choice, which may be refused, and during the random choices.",
        minimum=0,
        title="a number of choices",
    )
    then = Words(Condition(), "Conditions that must hold at the end.", minItems=1)
    sees = _Sights("Expressions that each seat can evaluate at the end; seats count from 0.")
    hides = _Sights("Expressions that read something hidden from the seat at the end; seats count from 0.")
    places = Words(
        Integer(minimum=0, title="the place of a seat, 0 where it does not count"),
        "The game is over, and these are the places of the seats: 1 is best.",
        minItems=1,
    )
    refused = Keys(Refusal)


class Scenarios(File, Naming, title="scenarios", content=("rules", "is")):
    """Tests of rulesets."""

    scenarios = PathId("The id of the scenarios.", required=True)
    rules = Helpers()
    is_ = Listed(Keys(Scenario), "The scenarios.", minItems=1).defined("scenario_list")(required=True)


class Waiver(Record):
    """A statement that needs no rule, with the reason."""

    id = StatementId("The statement: a component, advice, or one about a user interface.", required=True)
    reason = Text("The reason; for a statement of another kind, it names a gap.", required=True)


class Waivers(File, title="waivers", content=("is", "unshown")):
    """Statements of the rulebooks of a family that need no rule, and cells that no table shows."""

    waivers = WordId("The family.", required=True)
    is_ = Listed(Keys(Waiver), "The waivers of statements.", minItems=1)
    unshown = Named(Text(), "Cells of the state that no table has to show, each with the reason.", minProperties=1)


class WordsFile(File, title="words", content=("is",)):
    """The texts of a family in another language."""

    words = Word(
        "The id of the file: the family, and the code of the language.",
        title="an id such as `folder/de`",
        pattern="^[a-z0-9][a-z0-9_-]*/[a-z]{2}(-[A-Z]{2})?$",
    )(required=True)
    is_ = Named(
        Word(title="text"),
        "Texts by name, as under `says`.",
        names=Word(title="names joined by `.`", pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_-]*)*$"),
        minProperties=1,
    )(required=True)


class Head(Ruleset, Edition, Map, Overlay, Library):
    """The keys with which files of any kind name others."""
