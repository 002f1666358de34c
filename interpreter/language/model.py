"""Model of a game: the declarations of a composition, with types and printed data."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Literal, cast

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.types import SeatType, TextType, Type

__all__ = [
    "Board",
    "CardKind",
    "CardRow",
    "CheckedRule",
    "CheckedTrigger",
    "Component",
    "Event",
    "GraphDecl",
    "Group",
    "Guard",
    "Interpretation",
    "Kind",
    "LinkRow",
    "Look",
    "Measure",
    "Model",
    "NodeRow",
    "Panel",
    "PanelForm",
    "PanelPlace",
    "Phrase",
    "PlaceRow",
    "Role",
    "RuleLayer",
    "Setting",
    "Signature",
    "Signatures",
    "StandingRule",
    "Sum",
    "Table",
    "TriggerCase",
    "plural",
    "spoken_name",
]


@dataclass(frozen=True, slots=True)
class Kind:
    """A closed set of names, or a range of whole numbers. ``totals``: how many tokens of each member there are."""

    name: str
    members: tuple[str, ...]
    span: Span
    range: tuple[int, int] | None = None
    totals: tuple[int, ...] | None = None
    unit: bool = False


@dataclass(frozen=True, slots=True)
class CardKind:
    """A kind of card: its attributes, the one that tells cards apart, and the pools that each card carries."""

    name: str
    attributes: dict[str, Type]
    key: str | None
    carries: dict[str, str]
    span: Span


@dataclass(frozen=True, slots=True)
class CardRow:
    """One card. Its values are by attribute; its number among all cards is its position in ``Model.cards``."""

    kind: str
    key: int | str | None
    values: dict[str, Value]
    span: Span
    copies: int = 1
    """How many cards its printed row stands for: they are distinct, and nothing printed tells them apart."""

    @property
    def is_named(self) -> bool:
        """Return whether it has a key that no other card of its kind has."""
        return self.key is not None and self.copies == 1


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node of the graph: its name, attributes, the set of places it has, what its row says of these, and where it is
    drawn."""

    name: str
    values: dict[str, Value]
    places: str
    place: dict[str, Value]
    at: tuple[int, int] | None
    span: Span


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link between two nodes, from the first to the second as it is printed."""

    a: int
    b: int
    values: dict[str, Value]
    span: Span


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A place on a node."""

    node: int
    number: int
    values: dict[str, Value]


@dataclass(frozen=True, slots=True)
class GraphDecl:
    """The graph that a family declares, and the nodes and links that a map gives.

    ``length`` is an attribute of links, or ``measure`` an expression over the nodes from and to which a link is passed,
    and the link, which may read cells of ``tables``; none where it cannot be passed this way. Where ``dealt`` names a
    zone, its cards in order lie on the links in order, and ``length`` is an attribute of them.
    """

    node: str
    attributes: dict[str, Type]
    link: dict[str, Type]
    length: str | None
    place: dict[str, Type]
    sets: dict[str, list[dict[str, Value]]]
    span: Span
    dealt: str | None = None
    pieces: int = 1
    measure: core.Expression | None = None
    tables: dict[str, Table] = field(default_factory=dict)
    nodes: list[NodeRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    places: list[PlaceRow] = field(default_factory=list)

    __hash__ = object.__hash__  # what is worked out of a graph is remembered for this one


Owner = Literal["", "seat", "card", "place", "node", "link"]


@dataclass(frozen=True, slots=True)
class Group:
    """A group of cells of the state: one, or one for each owner.

    ``type`` is the holder or value type. ``start`` is the expression of the first value (none: empty, ``all`` cards or
    the rest of the tokens as ``starts`` says). ``seen`` says who may see what it holds. ``range`` is that of a value's
    numbers.
    """

    name: str
    owner: Owner
    type: Type
    span: Span
    file: str
    order: str = "kept"
    rank: core.Expression | None = None
    seen: Literal["everyone", "owner", "no one"] = "everyone"
    top_shows: core.Expression | None = None
    starts: Literal["empty", "all", "rest", "value"] = "empty"
    start: core.Expression | None = None
    start_locals: int = 0
    unlimited: bool = False
    lasts: Literal["game", "turn", "phase", "round"] = "game"
    spaces: str | None = None
    range: tuple[int, int] | None = None

    @property
    def trees(self) -> tuple[core.Expression | None, ...]:
        """Its texts: how it starts, in which order it lies and what its top shows."""
        return self.start, self.rank, self.top_shows


@dataclass(frozen=True, slots=True)
class Role:
    """Role of a seat. A role that does not count sits in no table and is never asked.

    ``seats`` is how many seats have the role beside the people, who have the first one; a ``setting`` has an item for
    each of them instead. What seats of an ``open`` role have is seen by everyone.
    """

    name: str
    counts: bool
    span: Span
    seats: int = 0
    setting: str | None = None
    open: bool = False
    file: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A typed input of a game. ``check`` names a verdict over its value; ``range`` is that of a number."""

    name: str
    type: Type
    check: str | None
    default: Value
    about: str
    span: Span
    range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A doubt in a rulebook: its readings, the one taken and the gap that it answers."""

    name: str
    answers: tuple[str, ...]
    readings: dict[str, str]
    default: str
    span: Span


@dataclass(frozen=True, slots=True)
class Phrase:
    """A template: texts and expressions in turn, for one language."""

    parts: tuple[str | core.Expression, ...]
    local_count: int = 0


def plural(part: core.Expression) -> str:
    """The word for several of a part of a template that is the word behind a number; of any other part nothing."""
    word = part.otherwise if isinstance(part, core.Condition) else None
    return str(word.value) if isinstance(word, core.Const) and isinstance(word.type, TextType) else ""


@dataclass(frozen=True, slots=True)
class Event:
    """Event that a rule can note."""

    name: str
    fields: dict[str, Type]
    span: Span
    file: str
    says: dict[str, Phrase] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """A printed table: its keys with the values that each takes, and a value for every combination."""

    name: str
    keys: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    key_types: tuple[Type, ...]
    gives: Type
    cells: dict[tuple[int, ...], Value]
    places: dict[tuple[int, ...], Span]
    cites: tuple[str, ...]
    span: Span
    file: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Law:
    """A condition on the cells of a table.

    ``file`` declares the table; ``name`` is empty where the law is one of a list; ``size`` counts the law's locals.
    """

    table: str
    file: str
    name: str
    condition: core.Expression
    size: int


@dataclass(frozen=True, slots=True)
class Component:
    """Component in the box."""

    name: str
    count: int | None
    about: str
    cites: tuple[str, ...]
    span: Span
    file: str


def spoken_name(procedure: str) -> str:
    """The name that its author gave: of the rule, or of the trigger or standing rule that a procedure is a text of."""
    return re.split("[@!?/]", procedure, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class RuleLayer:
    """One layer of a rule, checked. ``body`` is an expression (`is` in one line), steps, or requirements.

    ``when`` is the guard: where it is false, the layer below answers.
    """

    rule: str
    layer: int
    file: str
    form: Literal["is", "does", "permits"]
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    local_count: int
    local_names: tuple[str, ...]
    when: core.Expression | None
    body: core.Expression | tuple[core.Step, ...] | tuple[core.Requirement, ...]
    cites: tuple[str, ...]
    span: Span
    covers: str = ""
    part: str = ""
    local_types: tuple[Type, ...] = ()

    @property
    def steps(self) -> tuple[core.Step, ...]:
        """The body, where it is steps."""
        return cast("tuple[core.Step, ...]", self.body)

    @property
    def requirements(self) -> tuple[core.Requirement, ...]:
        """The body, where it is requirements."""
        return cast("tuple[core.Requirement, ...]", self.body)

    @property
    def id(self) -> str:
        """The procedure's name in the lowered form and in saves."""
        return f"{self.rule}@{self.layer}"

    @property
    def spoken(self) -> str:
        """The name that its author gave: see :func:`spoken_name`."""
        return spoken_name(self.rule)


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """A rule with all its layers, the lowest first."""

    name: str
    form: Literal["is", "does", "permits"]
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    layers: tuple[RuleLayer, ...]

    @property
    def top(self) -> RuleLayer:
        return self.layers[-1]

    @property
    def cites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cite for layer in self.layers for cite in layer.cites))


@dataclass(frozen=True, slots=True)
class Signature:
    """Signature of a rule: parameters and result. ``form`` tells functions and verdicts from procedures.

    A ``constant`` is a function whose lowest layer is a number, `yes` or `no`: it is read without brackets.
    Where the text is ``unread``, since it cannot be, nothing more is known, and nothing is said of calls.
    """

    name: str
    form: str
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    span: Span
    unread: bool = False
    constant: bool = False


Signatures = dict[str, Signature]


@dataclass(frozen=True, slots=True)
class TriggerCase:
    """Case of a trigger for some phases; without phases, for every other one."""

    phases: tuple[str, ...]
    procedure: str | None
    cites: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CheckedTrigger:
    """Reaction to an event. ``test`` is over the event's values, which are the first locals."""

    name: str
    event: str
    test: core.Expression | None
    local_count: int
    cases: tuple[TriggerCase, ...]
    cites: tuple[str, ...]
    span: Span
    file: str


@dataclass(frozen=True, slots=True)
class StandingRule:
    """Standing rule: its procedure handles each match of the binders for which the test holds."""

    name: str
    binders: tuple[tuple[int, core.Expression], ...]
    test: core.Expression | None
    local_count: int
    procedure: str
    cites: tuple[str, ...]
    span: Span
    file: str

    @property
    def trees(self) -> tuple[core.Expression | None, ...]:
        """Its texts but for what it does: the test, and what its binders go through."""
        return self.test, *(items for _, items in self.binders)


@dataclass(frozen=True, slots=True)
class Board:
    """Board: a line and a table shown at a moment."""

    name: str
    when: str
    says: dict[str, Phrase]
    rows: core.Expression | None
    row_local: int
    columns: tuple[tuple[str, core.Expression], ...]
    local_count: int
    span: Span
    test: core.Expression | None = None

    @property
    def trees(self) -> tuple[core.Expression | None, ...]:
        """Its texts but for its line."""
        return self.test, self.rows, *(value for _, value in self.columns)


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition over the state that belongs to no rule."""

    value: core.Expression
    local_count: int


@dataclass(frozen=True, slots=True)
class Look:
    """Look of a node, link or place in a picture: a value, or texts and values in turn."""

    parts: tuple[str | core.Expression, ...]
    local_count: int

    @property
    def value(self) -> core.Expression | None:
        """The value of a look that is no template."""
        only = self.parts[0] if len(self.parts) == 1 else ""
        return None if isinstance(only, str) else only

    @property
    def trees(self) -> tuple[core.Expression, ...]:
        """The expressions in it."""
        return tuple(part for part in self.parts if not isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Sum:
    """What a calculator adds up: things of a type, which ``local`` holds, each with what it would cost and the rule
    that takes it on a copy of the game."""

    name: str
    type: Type
    local: int
    costs: core.Expression
    then: str = ""


PanelForm = Literal["graph", "cards", "tokens", "track", "printed", "columns", "sums"]
PanelPlace = Literal["status", "board", "side", "window"]


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the table in a browser. It shows one thing: ``form`` says which.

    The seat that looks on is local 0. ``shown`` are the cards, the tokens or the track. ``rows`` are what columns have
    a row for. ``marks`` give values of keys of the ``printed`` table. ``opens`` are phases and decisions, ``answers``
    decisions, each with the mark on what is picked. Where it ``leads``, the heads of its rows open that window.
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
    sums: tuple[Sum, ...] = ()
    opens: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    leads: str = ""
    cites: tuple[str, ...] = ()
    local_count: int = 0

    @property
    def trees(self) -> tuple[core.Expression | None, ...]:
        """Its texts."""
        columns = (value for _, value in self.columns)
        return self.shown, self.test, self.rows, *columns, *(v for _, v in self.marks), *(s.costs for s in self.sums)


@dataclass(frozen=True, slots=True)
class MeasureKey:
    """Key of a measure: a seat, or any other thing."""

    name: str
    local: int
    type: Type


@dataclass(frozen=True, slots=True)
class Measure:
    """A named number, taken at moments or when an event happens: once, or for each of some things.

    ``event`` has ``values`` at the first locals and passes the ``test``; ``each`` are locals that take every item of a
    list. ``keys`` tell values apart. Where it ``sums``, values with equal keys are added up in a game.
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
    def trees(self) -> tuple[core.Expression | None, ...]:
        """Its texts: the test, the value, and what it is taken for."""
        return self.test, self.value, *(items for _, items in self.each)

    @property
    def seat(self) -> int | None:
        """Return the key that is a seat, if there is one."""
        return next((place for place, key in enumerate(self.keys) if isinstance(key.type, SeatType)), None)

    @property
    def recurs(self) -> bool:
        """Return whether it is taken again and again in a game, at moments that come again."""
        return any(not moment.endswith(" of game") for moment in self.when)


@dataclass
class Model:
    """A composed and checked ruleset."""

    id: str
    title: str
    family: str
    kinds: dict[str, Kind] = field(default_factory=dict)
    pieces: tuple[str, ...] = ()
    card_kinds: dict[str, CardKind] = field(default_factory=dict)
    cards: list[CardRow] = field(default_factory=list)
    records: dict[str, dict[str, Type]] = field(default_factory=dict)
    graph: GraphDecl | None = None
    roles: dict[str, Role] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    interpretations: dict[str, Interpretation] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    components: dict[str, Component] = field(default_factory=dict)
    rules: dict[str, CheckedRule] = field(default_factory=dict)
    blocks: dict[str, RuleLayer] = field(default_factory=dict)
    triggers: dict[str, CheckedTrigger] = field(default_factory=dict)
    standing: dict[str, StandingRule] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    phase_guards: tuple[Guard | None, ...] = ()
    """Of each phase the condition under which it takes place, where it has one."""
    setup: str = ""
    ranking: tuple[core.Expression, ...] = ()
    ranking_cites: tuple[str, ...] = ()
    says: dict[str, dict[str, Phrase]] = field(default_factory=dict)
    boards: list[Board] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    laws: list[Law] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    """The table in a browser, in the order of its panels; none where nobody wrote one."""
    faces: dict[str, dict[str, Look]] = field(default_factory=dict)
    """Of each kind of cards what its face shows, by the name of the part of the face."""
    colours: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of kinds the colours of their members, by words that name one."""
    picture: dict[str, Look] = field(default_factory=dict)
    grid: bool = False
    """Whether pictures leave nodes exactly where the map has them, as fields that touch."""
    alternatives: dict[str, list[tuple[str, Type]]] = field(default_factory=dict)
    signatures: Signatures = field(default_factory=dict)
    own_rules: dict[str, dict[str, str]] = field(default_factory=dict)
    """By the name of a file, rules that an unrelated file calls by the same name, and what they are called here."""

    __hash__ = object.__hash__  # what is worked out of a model is remembered for this one

    def is_unit(self, kind: str) -> bool:
        """Return whether the tokens with that name are all alike: an amount of them is a number, not a bag."""
        return kind in self.kinds and self.kinds[kind].unit

    @property
    def key_names(self) -> list[str]:
        """Return the names of the ranking keys as written: `who.points` is `points`."""
        return [" ".join(key.span.text.split()).removeprefix("who.") for key in self.ranking]

    def called(self, name: str, span: Span) -> str:
        """The rule that is meant by a name at a place."""
        return self.own_rules.get(span.file.name, {}).get(name, name)
