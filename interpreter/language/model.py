"""Model of a ruleset: the declarations of a composition, with types and printed data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Once
from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.base.tree import parts
from interpreter.language import core, types
from interpreter.language.text_facts import TextFacts, facts_of

_NAMED_KEY = re.compile(r"(-?)(?:who\.(\w+)|(\w+)\(who\))")
"""A ranking key that is a name: ``who.points``, ``points(who)``, or one of these with a minus."""


class Kind(Struct, frozen=True):
    """A closed set of names, or a range of whole numbers. ``totals`` is the number of tokens of each member;
    none if it follows from what is laid out."""

    name: str
    members: tuple[str, ...]
    span: Span
    range: tuple[int, int] | None = None
    totals: tuple[int | None, ...] | None = None
    unit: bool = False


class CardKind(Struct, frozen=True):
    """A kind of card: its attributes, and the attribute that identifies a card."""

    name: str
    attributes: dict[str, types.Type]
    key: str | None
    span: Span
    versions: dict[str, dict[str, core.Expression]] = {}
    """Conditions under which an attribute has the values of another column, by the name of the column."""

    @property
    def columns(self) -> dict[str, types.Type]:
        """Return the types of the values in its rows: its attributes, and their versions."""
        versions = {column: name for name, guards in self.versions.items() for column in guards}
        return self.attributes | {column: self.attributes[name] for column, name in versions.items()}


def versioned(static: core.Static, versions: Mapping[str, core.Expression]) -> core.Expression:
    """Return an attribute of a card with the values that it has under some conditions, the uppermost first."""
    kind, value = static.attribute.partition(".")[0], cast("core.Expression", static)
    for column, guard in versions.items():
        there = replace(static, attribute=f"{kind}.{column}?", type=types.BOOL)
        test = core.Logic("and", there, guard, type=types.BOOL, span=static.span)
        other = replace(static, attribute=f"{kind}.{column}")
        value = core.Condition(other, test, value, type=static.type, span=static.span)
    return value


class CardRow(Struct, frozen=True):
    """One card, with values by attribute. Its number is its position in ``Model.cards``."""

    kind: str
    key: int | str | None
    values: dict[str, Value]
    span: Span
    copies: int = 1
    """Number of cards of its printed row: distinct cards that look the same."""

    @property
    def is_named(self) -> bool:
        """Return whether its key is unique among the cards of its kind."""
        return self.key is not None and self.copies == 1


class NodeRow(Struct, frozen=True):
    """A node of the graph: name, attributes, its set of places (``places``), attributes of these (``place``), and the
    point at which it is drawn (``at``)."""

    name: str
    values: dict[str, Value]
    places: str
    place: dict[str, Value]
    at: tuple[int, int] | None
    span: Span


class LinkRow(Struct, frozen=True):
    """A link between two nodes, in the printed direction. In the other, attributes are those of ``back``, if any."""

    a: int
    b: int
    values: dict[str, Value]
    span: Span
    back: dict[str, Value] = {}


class PlaceRow(Struct, frozen=True):
    """A place on a node."""

    node: int
    number: int
    values: dict[str, Value]


class GraphDecl(Struct, frozen=True):
    """The graph that a family declares, with the nodes and links of a map.

    The length of a link is an attribute of links (``length``), or an expression over its two nodes in the direction of
    travel and the link itself (``measure``). The expression may read cells of ``tables``; its value is none if the link
    cannot be used in that direction. If ``dealt`` names a zone, the cards of that zone lie on the links, in order, and
    ``length`` is an attribute of these cards.
    """

    node: str
    attributes: dict[str, types.Type]
    link: dict[str, types.Type]
    length: str | None
    place: dict[str, types.Type]
    sets: dict[str, list[dict[str, Value]]]
    span: Span
    dealt: str | None = None
    pieces: int = 1
    measure: core.Expression | None = None
    tables: dict[str, Table] = {}
    nodes: list[NodeRow] = []
    links: list[LinkRow] = []
    places: list[PlaceRow] = []

    __hash__ = object.__hash__  # derived data is cached for this object


class Group(Struct, frozen=True):
    """A group of cells of the state: one cell, or one for each ``owner``, which is a thing of a type. Cards of other
    kinds have cells too, which stay empty.

    ``type`` is the holder or value type. ``start`` is the initial value; if it is None, ``starts`` says whether the
    cell is empty, holds ``all`` cards or the ``rest`` of the tokens. ``seen`` says who may see the content; by a rule,
    ``sees`` is that over the seat that looks and the owner. ``range`` bounds hidden numbers where worlds are drawn.
    ``section`` declares it; empty for cells of the language. ``most`` is the largest number of items. ``count`` says
    whether everybody sees how many a hidden list has. ``in_page`` says whether pages show it.
    """

    name: str
    owner: types.Type | None
    type: types.Type
    span: Span
    file: str
    order: str = "kept"
    rank: core.Expression | None = None
    seen: str = "everyone"
    sees: core.Expression | None = None
    top_shows: core.Expression | None = None
    starts: Literal["empty", "all", "rest", "value"] = "empty"
    start: core.Expression | None = None
    start_locals: int = 0
    unlimited: bool = False
    lasts: Literal["game", "turn", "phase", "round"] = "game"
    spaces: str | None = None
    range: tuple[int, int] | None = None
    section: str = ""
    most: int | None = None
    count: Literal["hidden", "shown"] = "hidden"
    in_page: bool = True

    @property
    def own_name(self) -> str:
        """Return the name without that of the owner's type: of `cart.load`, `load`."""
        return self.name.rpartition(".")[2]

    @property
    def is_counted(self) -> bool:
        """Return whether everybody sees the number of items: of zones, and of lists and sets that show it."""
        return isinstance(self.type, types.CardHolderType) or self.count == "shown"


class Role(Struct, frozen=True):
    """Role of a seat. A role that does not count is left out of `players` and is never asked.

    ``seats`` is the number of extra seats with this role (players have the first role); with a ``setting``, the number
    of its items instead, at most ``most``. Everything that a seat of an ``open`` role has is public.
    """

    most: ClassVar[int] = 20
    name: str
    counts: bool
    span: Span
    seats: int = 0
    setting: str | None = None
    open: bool = False
    file: str = ""


class Setting(Struct, frozen=True):
    """A typed input of a game. ``check`` names a verdict that validates the value; ``range`` limits a number."""

    name: str
    type: types.Type
    check: str | None
    default: Value
    about: str
    span: Span
    range: tuple[int, int] | None = None


class Interpretation(Struct, frozen=True):
    """An ambiguity in a rulebook: its readings, the default and the gaps that it answers."""

    name: str
    answers: tuple[str, ...]
    readings: dict[str, str]
    default: str
    span: Span


class Text(Struct, Once, frozen=True, dict=True):
    """Something that is checked as one text."""

    @property
    def trees(self) -> tuple[object, ...]:
        """Its trees, among other values."""
        return parts(self)

    @cached_property
    def facts(self) -> TextFacts:
        """What its trees name and do. Rulesets that share the text share its facts."""
        return facts_of(self.trees)


class Phrase(Text, frozen=True):
    """A template in one language, or a look of something drawn: literal texts and expressions."""

    parts: tuple[str | core.Expression, ...]
    local_count: int = 0

    @property
    def value(self) -> core.Expression | None:
        """The expression of a look that is not a template, else None."""
        only = self.parts[0] if len(self.parts) == 1 else ""
        return None if isinstance(only, str) else only

    @property
    def trees(self) -> tuple[core.Expression, ...]:
        """Its expressions."""
        return tuple(part for part in self.parts if not isinstance(part, str))


def plural(part: core.Expression) -> str:
    """Return the plural word of a template part such as ``{n|card|cards}``, or an empty text for any other part."""
    word = part.otherwise if isinstance(part, core.Condition) else None
    return str(word.value) if isinstance(word, core.Const) and isinstance(word.type, types.TextType) else ""


class Event(Struct, frozen=True):
    """Event that a rule can note."""

    name: str
    fields: dict[str, types.Type]
    span: Span
    file: str
    says: dict[str, Phrase] = {}


class Table(Struct, frozen=True):
    """A printed table: its keys, the values of each key (``axes``), and a cell for every combination."""

    name: str
    keys: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    key_types: tuple[types.Type, ...]
    gives: types.Type
    cells: dict[tuple[int, ...], Value]
    places: dict[tuple[int, ...], Span]
    cites: tuple[str, ...]
    span: Span
    file: str
    files: tuple[str, ...] = ()


class Law(Struct, frozen=True):
    """A condition on the cells of a table.

    ``file`` declares the table; ``name`` is empty if the law is an item of a list; ``size`` is the number of locals.
    """

    table: str
    file: str
    name: str
    condition: core.Expression
    size: int


class Component(Struct, frozen=True):
    """Component in the box. ``of`` is the kind of tokens or cards that it is, if they are declared."""

    name: str
    count: int | None
    of: str | None
    about: str
    cites: tuple[str, ...]
    span: Span
    file: str


def spoken_name(procedure: str) -> str:
    """Return the authored name of the rule, trigger or standing rule that a procedure belongs to."""
    return re.split("[@!?/]", procedure, maxsplit=1)[0]


Form = Literal["is", "does", "permits"]
RuleBody: TypeAlias = core.Expression | tuple[core.Step, ...] | tuple[core.Requirement, ...]
"""What a layer of a rule does: an expression, steps or requirements."""


class RuleLayer(Text, frozen=True):
    """One checked layer of a rule. ``body`` is an expression (a one-line `is`), steps, or requirements.

    ``when`` is the guard: if it is false, the call goes to the layer below. ``discloses`` names hidden things
    of which it tells on purpose.
    """

    rule: str
    layer: int
    file: str
    form: Form
    parameters: tuple[tuple[str, types.Type], ...]
    result: types.Type
    local_count: int
    local_names: tuple[str, ...]
    when: core.Expression | None
    body: RuleBody
    cites: tuple[str, ...]
    span: Span
    covers: str = ""
    part: str = ""
    local_types: tuple[types.Type, ...] = ()
    discloses: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[core.Step, ...]:
        """The body, which must be steps."""
        return cast("tuple[core.Step, ...]", self.body)

    @property
    def requirements(self) -> tuple[core.Requirement, ...]:
        """The lines of a verdict; none of other rules."""
        return cast("tuple[core.Requirement, ...]", self.body) if self.form == "permits" else ()

    @property
    def parameter_types(self) -> tuple[types.Type, ...]:
        return tuple(type_ for _, type_ in self.parameters)

    @property
    def id(self) -> str:
        """Name of the procedure in the lowered form and in saves."""
        return f"{self.rule}@{self.layer}"

    @property
    def guard(self) -> core.Expression | None:
        """Condition without which a call goes to the layer below; None if the layer runs in any case."""
        return self.when if self.layer > 0 else None

    @property
    def below(self) -> str:
        """Id of the layer that a call goes to if this one does not run."""
        return f"{self.rule}@{self.layer - 1}"

    @property
    def spoken(self) -> str:
        """Authored name: see :func:`spoken_name`."""
        return spoken_name(self.rule)

    @property
    def trees(self) -> tuple[object, ...]:
        """Its body and its guard."""
        return self.body, self.when

    @property
    def all_cites(self) -> tuple[str, ...]:
        """The statements that it cites itself, and those of its lines and alternatives."""
        inner = (*(line.cites for line in self.requirements), *(option.cites for option in self.facts.options))
        return (*self.cites, *(cite for cites in inner for cite in cites))


class CheckedRule(Struct, frozen=True, dict=True):
    """A rule with all its layers, lowest first."""

    name: str
    form: Form
    parameters: tuple[tuple[str, types.Type], ...]
    result: types.Type
    layers: tuple[RuleLayer, ...]

    @property
    def top(self) -> RuleLayer:
        return self.layers[-1]

    @cached_property
    def in_force(self) -> tuple[RuleLayer, ...]:
        """The layers that can answer, lowest first: those below one that always answers, and never calls `base`,
        cannot."""
        final = (n for n, of in enumerate(self.layers[1:], 1) if of.when is None and of.below not in of.facts.calls)
        return self.layers[max(final, default=0) :]

    @property
    def cites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cite for layer in self.layers for cite in layer.cites))


class Signature(Struct, frozen=True):
    """Signature of a rule: parameters and result. ``form`` distinguishes functions, verdicts and procedures.

    A ``constant`` is a function whose lowest layer is a number, `yes` or `no`: it is read without parentheses.
    """

    name: str
    form: Form
    parameters: tuple[tuple[str, types.Type], ...]
    result: types.Type
    span: Span
    constant: bool = False


Signatures = dict[str, Signature]


class TriggerCase(Struct, frozen=True):
    """Case of a trigger for some phases; without phases, for all other phases."""

    phases: tuple[str, ...]
    procedure: str | None
    cites: tuple[str, ...]
    span: Span


class CheckedTrigger(Struct, frozen=True):
    """Reaction to an event. ``test`` reads the values of the event, which are the first locals."""

    name: str
    event: str
    test: core.Expression | None
    local_count: int
    cases: tuple[TriggerCase, ...]
    cites: tuple[str, ...]
    span: Span
    file: str


class StandingRule(Text, frozen=True):
    """Standing rule: its procedure handles each match of the binders that passes the test."""

    name: str
    binders: tuple[tuple[int, core.Expression], ...]
    test: core.Expression | None
    local_count: int
    procedure: str
    cites: tuple[str, ...]
    span: Span
    file: str


class Board(Text, frozen=True):
    """Board: a line of text and a table, shown at a moment."""

    name: str
    when: str
    says: dict[str, Phrase]
    rows: core.Expression | None
    row_local: int
    columns: tuple[tuple[str, core.Expression], ...]
    local_count: int
    span: Span
    test: core.Expression | None = None


class Guard(Struct, frozen=True):
    """Condition over the state outside of rules."""

    value: core.Expression
    local_count: int


PanelForm = Literal["graph", "cards", "tokens", "track", "scale", "printed", "columns"]
PanelPlace = Literal["status", "board", "side", "window"]


class Panel(Text, frozen=True):
    """Panel of the table in a browser. ``form`` says what it shows.

    Local 0 is the seat that looks at it. ``shown`` is the cards, the tokens, the track or the value of a scale, which
    has ``lines``. Columns have a row for each item of ``rows``. ``marks`` are key values of the ``printed`` table.
    ``opens`` lists phases and decisions that open the window; ``answers`` lists decisions, each with the mark that is
    picked. With ``leads``, row headers open that window.
    """

    name: str
    form: PanelForm
    at: PanelPlace
    span: Span
    shown: core.Expression | None = None
    test: core.Expression | None = None
    rows: core.Expression | None = None
    row_local: int = 0
    columns: tuple[tuple[str, core.Expression], ...] = ()
    printed: str = ""
    marks: tuple[tuple[str, core.Expression], ...] = ()
    opens: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    leads: str = ""
    cites: tuple[str, ...] = ()
    local_count: int = 0
    lines: tuple[tuple[str, core.Expression], ...] = ()
    per_row: int = 0
    compact: bool = False
    picks: core.Expression | None = None

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of its columns and lines, which have words."""
        return tuple(name for name, _ in (*self.columns, *self.lines))


class Mark(Text, frozen=True):
    """Label on the ``items``, whose text is `marks.NAME`. ``during`` is the decision or procedure without which it is
    not shown. ``bound`` are its locals: the seat that looks, what the decision or procedure holds, and the thing."""

    name: str
    items: core.Expression
    during: str
    bound: tuple[tuple[str, types.Type], ...]
    colour: str
    local_count: int


class MeasureKey(Struct, frozen=True):
    """Key of a measure: a seat or anything else."""

    name: str
    local: int
    type: types.Type


class Measure(Text, frozen=True):
    """A metric, recorded at moments or on an event: once, or for each item of some lists.

    The values of the ``event`` are the first locals; ``test`` filters. ``each`` are locals that take every item of a
    list. ``keys`` distinguish values. With ``sums``, values with equal keys are added up over a game.
    """

    name: str
    when: tuple[str, ...]
    event: str | None
    each: tuple[tuple[int, core.Expression], ...]
    test: core.Expression | None
    keys: tuple[MeasureKey, ...]
    value: core.Expression
    sums: bool
    local_count: int
    span: Span

    @property
    def is_numbered(self) -> bool:
        """Return whether its keys, apart from a seat, are numbers; these have an order, unlike cards that print one."""
        return all(place in (self.seat, *self.numbers) for place in range(len(self.keys)))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Indices of its keys that are numbers."""
        return tuple(place for place, key in enumerate(self.keys) if isinstance(key.type, types.IntType))

    @cached_property
    def seat(self) -> int | None:
        """Index of the first key that is a seat, or None."""
        return next((place for place, key in enumerate(self.keys) if isinstance(key.type, types.SeatType)), None)

    @cached_property
    def things(self) -> tuple[MeasureKey, ...]:
        """Its keys other than that seat."""
        return tuple(key for place, key in enumerate(self.keys) if place != self.seat)

    @property
    def recurs(self) -> bool:
        """Return whether it is recorded repeatedly in a game, not only at its start or end."""
        return any(not moment.endswith(" of game") for moment in self.when)


class Model(Struct):
    """A composed and checked ruleset."""

    id: str
    title: str
    family: str
    kinds: dict[str, Kind] = {}
    pieces: tuple[str, ...] = ()
    card_kinds: dict[str, CardKind] = {}
    cards: list[CardRow] = []
    records: dict[str, dict[str, types.Type]] = {}
    graph: GraphDecl | None = None
    roles: dict[str, Role] = {}
    groups: dict[str, Group] = {}
    settings: dict[str, Setting] = {}
    interpretations: dict[str, Interpretation] = {}
    events: dict[str, Event] = {}
    tables: dict[str, Table] = {}
    components: dict[str, Component] = {}
    rules: dict[str, CheckedRule] = {}
    blocks: dict[str, RuleLayer] = {}
    triggers: dict[str, CheckedTrigger] = {}
    standing: dict[str, StandingRule] = {}
    phases: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Phases of a lower file that the round leaves out: they have names, but never come."""
    phase_guards: tuple[Guard | None, ...] = ()
    """Condition of each phase, or None: the phase is skipped if the condition is false."""
    setup: str = ""
    checks: tuple[str, ...] = ()
    """Verdicts that must permit a game, lowest file first."""
    amended: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]] = {}
    """Statements that files cite for their parts of an alternative, by decision and alternative, then by file name."""
    ranking: tuple[core.Expression, ...] = ()
    ranking_cites: tuple[str, ...] = ()
    says: dict[str, dict[str, Phrase]] = {}
    boards: list[Board] = []
    measures: list[Measure] = []
    laws: list[Law] = []
    names: dict[str, dict[str, types.Type]] = {}
    """Types of parameters, by the file that says them and by name."""
    panels: list[Panel] = []
    """Panels of the table in a browser, in order; empty if none are declared."""
    marks: list[Mark] = []
    faces: dict[str, dict[str, Phrase]] = {}
    """Card faces, by kind of card and part of the face."""
    colours: dict[str, dict[str, str]] = {}
    """Colours of the members of kinds."""
    icons: dict[str, dict[str, str]] = {}
    """Paths of the icons of members of kinds."""
    plain: dict[str, str] = {}
    """Words for colours of cards whose face gives none, by kind of card."""
    picture: dict[str, Phrase] = {}
    grid: bool = False
    """True if pictures keep nodes at the exact positions of the map, as adjacent fields."""
    alternatives: dict[str, list[tuple[str, types.Type]]] = {}
    signatures: Signatures = {}
    own_rules: dict[str, dict[str, str]] = {}
    """By file, the local rules whose names other files use too, with their unique names."""

    __hash__ = object.__hash__  # derived data is cached for this object

    @property
    def all_checks(self) -> list[str]:
        """Return the verdicts that are asked before a game begins: those of settings, then those of files."""
        return [*(setting.check for setting in self.settings.values() if setting.check is not None), *self.checks]

    def word(self, type_: types.Type) -> str:
        """Return the author's word for a type."""
        return self.spoken(str(type_))

    def spoken(self, text: str) -> str:
        """Return a text with the author's word for a node, but as it is in backticks."""
        word = self.graph.node if self.graph is not None else "node"
        return re.sub(r"`[^`]*`|\bnode\b", lambda found: word if found[0] == "node" else found[0], text)

    def spoken_group(self, group: Group) -> str:
        """Return the name of a group of cells for readers: `money`, `cart.load`, or `NODE.owner` with a node's word."""
        is_of_node = group.owner == types.NODE
        return group.name.replace("node.", f"{self.word(types.NODE)}.", 1) if is_of_node else group.name

    def is_unit(self, kind: str) -> bool:
        """Return whether the token has no kinds: an amount of it is a number, not a bag."""
        return kind in self.kinds and self.kinds[kind].unit

    def number_of(self, name: str) -> int | None:
        """Return the number of tokens or cards of a kind; none if it follows from what is laid out."""
        totals = self.kinds[name].totals if name in self.kinds else None
        if totals is None:
            return sum(card.kind == name for card in self.cards)
        return None if None in totals else sum(total or 0 for total in totals)

    def members(self, kind: str) -> tuple[str, ...]:
        """Return the members of a kind in the order of their numbers; none for an unknown kind."""
        if kind == "role":
            return tuple(self.roles)
        if kind == "phase":
            return self.phases + self.left_out
        return self.kinds[kind].members if kind in self.kinds else ()

    def values(self, type_: types.Type, seats: int = 0) -> Sequence[int]:
        """Return all values of a type that are numbers of things, in ascending order; none for other types.

        Cards of a kind may begin anywhere among all cards, and have others between them.
        """
        graph = self.graph
        match type_:
            case types.KindType(name=name):
                return range(len(self.members(name)))
            case types.CardType(name=name):
                return [number for number, row in enumerate(self.cards) if name in ("", row.kind)]
            case types.NodeType() if graph is not None:
                return range(len(graph.nodes))
            case types.PlaceType() if graph is not None:
                return range(len(graph.places))
            case types.LinkType() if graph is not None:
                return range(2 * len(graph.links))
            case types.PieceType():
                return range(seats * len(self.pieces))
            case types.SeatType():
                return range(seats)
            case types.BoolType():
                return range(2)
            case _:
                return ()

    @property
    def key_names(self) -> list[str]:
        """Return the names of the ranking keys: `who.points`, `points(who)` and `-points(who)` are `points`. Other keys
        are named as written."""
        return [name for name, _ in self._keys]

    def keys_by_name(self, keys: Iterable[int]) -> dict[str, int]:
        """Return the ranking keys of a seat for readers. The value of `-points(who)` is shown without the minus."""
        return {name: -key if lowest_wins else key for (name, lowest_wins), key in zip(self._keys, keys, strict=True)}

    @property
    def _keys(self) -> list[tuple[str, bool]]:
        """Return the names of the ranking keys, each with a flag: the lowest value is best."""
        written = [key.span.on_one_line for key in self.ranking]
        named = map(_NAMED_KEY.fullmatch, written)
        return [
            (key[2] or key[3], bool(key[1])) if key else (text.removeprefix("who."), False)
            for text, key in zip(written, named, strict=True)
        ]

    def called(self, name: str, span: Span) -> str:
        """Resolve the name of a rule at a position in a file."""
        return self.own_rules.get(span.file.name, {}).get(name, name)
