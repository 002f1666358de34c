"""Resolution of names: what a name in a rule text means in one composition.

The checker asks a :class:`Names` for every name that is no local. Each answer is noted, so that after a text is checked
it is known what its check depends on: the text itself and these answers, reduced to what a check can see of them (of a
rule, its signature, not its body or place). :class:`Texts` keeps checked texts with these notes. A text is checked
again only if an answer differs: in other rulesets of a family, after an edit of another text, in mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Concatenate, ParamSpec, TypeVar, assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import Value
from interpreter.base.source import NOWHERE, Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core, nodes
from interpreter.language.model import CardKind, Event, GraphDecl, Group, Kind, Model, Signature, Signatures, Table
from interpreter.language.reporter import Report
from interpreter.language.scope import Frame, Variable
from interpreter.language.types import (
    BOOL,
    INT,
    LINK,
    NEVER,
    NODE,
    OWNERS,
    PLACE,
    SEAT,
    TEXT,
    BagType,
    CardType,
    KindType,
    LinkType,
    ListType,
    NodeType,
    PieceType,
    PilesType,
    PileType,
    PlaceType,
    PoolType,
    RecordType,
    RoomType,
    SeatType,
    SetType,
    StockType,
    TrackType,
    Type,
    ZoneType,
)

__all__ = ["MAKERS", "NAMED_TYPES", "Binding", "Names", "Texts", "owner_word", "parameters_of", "resolve_type"]

P = ParamSpec("P")
T = TypeVar("T")
Question = tuple[Hashable, ...]
"""A lookup: the name of a method of :class:`Names`, and its arguments."""
Trace = dict[Question, Hashable]
"""Lookups, each with what a check can see of the answer."""

_TYPES: tuple[Type, ...] = (INT, BOOL, TEXT, SEAT, CardType(), PieceType(), PLACE, LINK, PileType())
NAMED_TYPES = {type_.word: type_ for type_ in _TYPES} | {name: KindType(name) for name in ("role", "phase")}
"""Built-in types."""
MOST_TEXTS = 8_000
"""All shipped rulesets have 2,000; each edit of a file adds its own."""
MAXIMUM_NESTING = 6


class Binding(Struct, frozen=True, gc=False):
    """What a name at a place means: the section that declares it, its name there, and what it belongs to.

    ``binder`` is the node that introduces a local. ``declares`` is set at that place; ``span`` is then the node's.
    """

    span: Span
    section: str
    name: str
    of: str = ""
    binder: nodes.Node | None = None
    type: Type | None = None
    declares: bool = False


class _Kept(Struct, frozen=True, gc=False):
    """A checked text, with what its names mean. ``parts`` are the objects whose identity is in its key."""

    trace: Trace
    bindings: tuple[Binding, ...]
    parts: tuple[object, ...]
    result: object


class Texts:
    """Checked texts without errors, of any number of compositions, in memory."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[_Kept]] = {}
        self._seen: dict[Hashable, Hashable] = {}
        self._size = 0

    def one(self, essence: Hashable) -> Hashable:
        """Return the first of equal values, so that others are compared by identity."""
        return self._seen.setdefault(essence, essence)

    def of(self, key: Hashable) -> list[_Kept]:
        """Return the texts with a key, the latest first."""
        return self._kept.get(key, [])

    def add(self, key: Hashable, kept: _Kept) -> None:
        if self._size > MOST_TEXTS:
            self._kept.clear()
            self._seen.clear()
            self._size = 0
        self._kept.setdefault(key, []).insert(0, kept)
        self._size += 1


def _lookup(
    essence: Callable[[Value], Hashable],
) -> Callable[[Callable[Concatenate[Names, P], T]], Callable[Concatenate[Names, P], T]]:
    """Make a method a lookup: its answers are kept and noted. ``essence`` returns what a check can see of an answer."""

    def decorate(find: Callable[Concatenate[Names, P], T]) -> Callable[Concatenate[Names, P], T]:
        name = find.__name__

        def ask(names: Names, /, *args: P.args, **none: P.kwargs) -> T:
            question = (name, *args)
            known = names.known.get(question)
            if known is None:
                answer = find(names, *args, **none)
                known = names.known[question] = answer, names.texts.one((name, essence(answer)))
            if names.trace is not None:
                names.trace[question] = known[1]
            return cast("T", known[0])

        ask.__name__, ask.__doc__ = name, find.__doc__
        vars(ask)["is_lookup"] = True
        return ask

    return decorate


def _same(answer: Hashable) -> Hashable:
    return answer


def _pairs(answer: Mapping[str, Type] | None) -> Hashable:
    return None if answer is None else tuple(answer.items())


def _placeless(answer: Signature | Kind | None) -> Hashable:
    return answer and replace(answer, span=NOWHERE)


class Names:
    """What names mean in a model, for the texts of one file or of the whole composition.

    ``signatures`` are the rules that can be called, ``weights`` the named numbers of a policy. Results for names that
    do not exist are None or empty.
    """

    def __init__(
        self,
        model: Model,
        signatures: Signatures | None = None,
        weights: Mapping[str, int] | None = None,
        texts: Texts | None = None,
    ) -> None:
        self.model = model
        self.signatures = model.signatures if signatures is None else signatures
        self.weights = weights or {}
        self.texts = texts or Texts()
        self.known: dict[Question, tuple[object, Hashable]] = {}
        self.trace: Trace | None = None
        self.bindings: list[Binding] = []

    # --- checked texts

    def once(
        self,
        about: tuple[Hashable, ...],
        parts: tuple[object, ...],
        diagnostics: list[Diagnostic],
        check: Callable[[], T],
    ) -> T:
        """Return the result of a check, from an earlier check of the same text if no name in it means anything else.

        ``about`` and the identity of ``parts``, such as trees, are all that ``check`` depends on beside names. Results
        of texts with errors are not kept. A result is shared, so nobody may change it.
        """
        key = (*about, *map(id, parts))
        for kept in self.texts.of(key):
            if self._agrees(kept.trace):
                if self.trace is not None:
                    self.trace |= kept.trace
                self.bindings += kept.bindings
                return cast(T, kept.result)
        outer, trace, before, first = self.trace, Trace(), len(diagnostics), len(self.bindings)
        self.trace = trace
        try:
            result = check()
        finally:
            self.trace = outer
        if outer is not None:
            outer |= trace
        if len(diagnostics) == before:
            self.texts.add(key, _Kept(trace, tuple(self.bindings[first:]), parts, result))
        return result

    def _agrees(self, trace: Trace) -> bool:
        """Return whether all lookups have the noted answers here."""
        known = self.known
        for question, essence in trace.items():
            answer = known.get(question)
            if answer is None:
                getattr(self, cast(str, question[0]))(*question[1:])
                answer = known[question]
            if answer[1] is not essence:
                return False
        return True

    def declare(self, name: str, signature: Signature) -> None:
        """Add a rule that the following texts can call."""
        self.signatures[name] = signature
        self.known.pop(("signature", name), None)

    def missing(self, name: str, frame: Frame, expected: Type | None) -> None:
        """Called for a name that means nothing, with the locals and the type expected there."""

    def missing_attribute(self, of: Type, name: str) -> None:
        """Called for an attribute that things of a type do not have."""

    def forget(self) -> None:
        """Look everything up again, because declarations have changed."""
        self.known.clear()

    def scope(self, locals_: Mapping[str, str], thing: str = "") -> Frame:
        """Return the locals of a text by the words for their types (:class:`~interpreter.sections.vocabulary.Record`).

        ``thing`` is the name of the declaration.
        """
        frame = Frame()
        for name, word in ((name or thing, word or thing) for name, word in locals_.items()):
            type_ = OWNERS.get(word) or self.type(word) or NEVER
            frame.add(name, type_, nodes.NamedType(name) if name == word else None)
        return frame

    # --- bindings

    def bind(self, span: Span, section: str, name: str, of: str = "") -> None:
        """Note what a name at a place means."""
        self.bindings.append(Binding(span, section, name, of))

    def bind_local(self, span: Span, variable: Variable, *, declares: bool = False) -> None:
        """Note a local that a text introduces; of one that has the name of its type, note that type."""
        if isinstance(variable.binder, nodes.NamedType):
            self.bind(span, *self.declares_type(variable.name))
        elif variable.binder is not None:
            local = Binding(span, "locals", variable.name, "", variable.binder, variable.type, declares)
            self.bindings.append(local)

    def bind_group(self, span: Span, group: Group) -> None:
        """Note a group of cells."""
        self.bind(span, group.section or "language", group.name)

    # --- values

    @_lookup(lambda group: group and (group.owner, group.type, group.section))
    def group(self, name: str) -> Group | None:
        """Return a group of cells: a zone, pool, track, stock or value."""
        return self.model.groups.get(name)

    def group_of(self, owner: Type, name: str) -> Group | None:
        """Return the group of cells with a name that belongs to things of a type."""
        is_short = isinstance(owner, SeatType) or (name == "piece" and isinstance(owner, PlaceType))
        group = self.group(name if is_short else f"{owner_word(owner)}.{name}")
        return group if group is not None and group.owner == owner.sure else None

    @_lookup(_same)
    def is_belonging(self, name: str) -> bool:
        """Return whether a name is that of something that things of a type have, apart from what is printed."""
        return any(group.own_name == name for group in self.model.groups.values() if group.owner is not None)

    @_lookup(_same)
    def setting(self, name: str) -> Type | None:
        """Return the type of a setting, or of the readings of an interpretation."""
        if name in self.model.settings:
            return self.model.settings[name].type
        return KindType(name) if name in self.model.interpretations else None

    @_lookup(_same)
    def is_seat(self, name: str) -> bool:
        """Return whether a name is that of the only seat of a role."""
        role = self.model.roles.get(name)
        return role is not None and role.seats == 1

    @_lookup(_same)
    def weight(self, name: str) -> int | None:
        """Return a named number of a policy."""
        return self.weights.get(name)

    # --- types, and their values

    @_lookup(_same)
    def type(self, name: str) -> Type | None:
        """Return the type of a name."""
        if name in NAMED_TYPES:
            return NAMED_TYPES[name]
        model = self.model
        kind = model.kinds.get(name)
        if kind is not None:
            return INT if kind.range is not None or kind.unit else KindType(name)
        if name in model.card_kinds:
            return CardType(name)
        if name in model.records:
            return RecordType(name)
        if name in model.pieces:
            return PieceType(name)
        return NODE if model.graph is not None and name == model.graph.node else None

    @_lookup(_same)
    def parameter(self, name: str, file: str) -> Type | None:
        """Return the type of the parameters with a name in a file: the one that the file says, or its family, or else
        the type that has the name."""
        said = self.model.names
        own = {**said.get(self.model.family, {}), **said.get(file, {})}
        return own[name] if name in own else self.type(name)

    @_lookup(_same)
    def declares_type(self, name: str) -> tuple[str, str]:
        """Return the section that declares a type, and the name there."""
        model = self.model
        if name in NAMED_TYPES:
            return "language", name
        if model.graph is not None and name == model.graph.node:
            return "graph", "graph"
        kind = model.kinds.get(name)
        if kind is not None and name not in model.interpretations:
            return ("kinds" if kind.totals is None else "tokens"), name
        if name in model.interpretations:
            return "interpretations", name
        return ("cards" if name in model.card_kinds else "records" if name in model.records else "pieces"), name

    @_lookup(_same)
    def domain(self, name: str) -> tuple[tuple[int, ...], Type] | None:
        """Return all values of a type that has a list of them, and their type."""
        model = self.model
        kind = model.kinds.get(name)
        if kind is not None and kind.range is not None:
            first, last = kind.range
            return tuple(range(first, last + 1)), INT
        of: Type | None = None
        if kind is not None and not kind.unit and name not in model.interpretations:
            of = KindType(name)
        elif name == "card" or name in model.card_kinds:
            of = CardType("" if name == "card" else name)
        elif model.graph is not None:
            of = NODE if name == model.graph.node else PLACE if name == PLACE.word else None
        return (tuple(model.values(of)), of) if of is not None else None

    @_lookup(_placeless)
    def kind(self, name: str) -> Kind | None:
        """Return a kind, also one of tokens."""
        return self.model.kinds.get(name)

    def is_unit(self, kind: str) -> bool:
        """Return whether amounts of a kind of token are numbers."""
        found = self.kind(kind)
        return found is not None and found.unit

    @_lookup(_same)
    def members(self, kind: str) -> tuple[str, ...]:
        """Return the members of a kind, in the order of their numbers."""
        graph = self.model.graph
        return tuple(graph.sets) if kind == "places" and graph is not None else self.model.members(kind)

    @_lookup(_same)
    def phases(self) -> tuple[str, ...]:
        """Return the phases of the round."""
        return self.model.phases

    @_lookup(_same)
    def kinds_with(self, member: str) -> tuple[str, ...]:
        """Return the kinds that have a member of this name."""
        model = self.model
        kinds = [k for k, kind in model.kinds.items() if member in kind.members and k not in model.interpretations]
        if member in model.roles:
            kinds.append("role")
        return tuple(kinds) or (("phase",) if member in model.members("phase") else ())

    @_lookup(_same)
    def pieces(self) -> tuple[str, ...]:
        """Return the kinds of pieces."""
        return self.model.pieces

    @_lookup(lambda kind: kind and (_pairs(kind.attributes), kind.key))
    def card_kind(self, name: str) -> CardKind | None:
        """Return a kind of card."""
        return self.model.card_kinds.get(name)

    @_lookup(_same)
    def cards(self, key: int | str, kind: str) -> tuple[tuple[int, str], ...]:
        """Return the cards with a key, of any kind if none is given: their numbers and kinds."""
        rows = enumerate(self.model.cards)
        return tuple((number, row.kind) for number, row in rows if row.key == key and kind in ("", row.kind))

    @_lookup(_same)
    def has_copies(self, kind: str) -> bool:
        """Return whether some cards of a kind look the same."""
        return any(row.copies > 1 for row in self.model.cards if row.kind == kind)

    @_lookup(_same)
    def node(self, name: str) -> int | None:
        """Return the number of a node."""
        nodes = self.model.graph.nodes if self.model.graph is not None else ()
        return next((number for number, row in enumerate(nodes) if row.name == name), None)

    @_lookup(_pairs)
    def versions(self, of: Type, attribute: str) -> Mapping[str, core.Expression]:
        """Return the conditions under which an attribute of cards has the values of another column."""
        kind = self.model.card_kinds.get(of.name) if isinstance(of, CardType) else None
        return kind.versions.get(attribute, {}) if kind is not None else {}

    @_lookup(_pairs)
    def attributes(self, of: Type) -> Mapping[str, Type]:
        """Return the attributes of things of a type that are printed or of the language."""
        graph = self.model.graph
        match of:
            case CardType():
                kind = self.model.card_kinds.get(of.name)
                return kind.attributes if kind is not None else {}
            case SeatType():
                return {"counts": BOOL, "role": KindType("role"), "number": INT}
            case PieceType():
                return {"owner": SEAT}
            case NodeType() if graph:
                return {**graph.attributes, "places": ListType(PLACE)}
            case PlaceType() if graph:
                return {**graph.place, graph.node: NODE, "number": INT, "piece": PieceType(optional=True)}
            case LinkType() if graph:
                return {**graph.link, "from": NODE, "to": NODE}
            case _:
                return {}

    @_lookup(_same)
    def declares_attribute(self, of: Type, name: str) -> tuple[str, str, str]:
        """Return the section that declares a printed attribute, the name there and its owner."""
        graph = self.model.graph or GraphDecl("", {}, {}, None, {}, {}, NOWHERE)
        if isinstance(of, PlaceType) and name == graph.node:
            return "graph", "graph", ""
        match of:
            case CardType():
                return "attributes", name, of.name
            case NodeType() | PlaceType() | LinkType() if name in (*graph.attributes, *graph.place, *graph.link):
                return "attributes", name, "graph"
            case _:
                return "language", name, ""

    @_lookup(_pairs)
    def record(self, name: str) -> Mapping[str, Type] | None:
        """Return the fields of a record."""
        return self.model.records.get(name)

    # --- rules, tables and events

    @_lookup(_placeless)
    def signature(self, name: str) -> Signature | None:
        """Return the signature of a rule, by its unique name."""
        return self.signatures.get(name)

    def rule(self, name: str, place: Span) -> Signature | None:
        """Return the signature of the rule that a name at a place means: rules may be local to a file."""
        return self.signature(self.called(name, place.file.name))

    @_lookup(_same)
    def called(self, name: str, file: str) -> str:
        """Return the unique name of a rule that a file calls by this name."""
        return self.model.own_rules.get(file, {}).get(name, name)

    @_lookup(lambda table: table and (table.keys, table.axes, table.key_types, table.gives))
    def table(self, name: str) -> Table | None:
        """Return a table. A check sees its keys and types, not its cells."""
        return self.model.tables.get(name)

    @_lookup(lambda event: event and _pairs(event.fields))
    def event(self, name: str) -> Event | None:
        """Return an event with its fields."""
        return self.model.events.get(name)

    @_lookup(_same)
    def lengths(self) -> tuple[str, bool]:
        """Return the zone whose cards lie on the links, if any, and whether links have a length."""
        graph = self.model.graph
        if graph is None:
            return "", True
        dealt = graph.dealt if graph.dealt in self.model.groups else ""
        return dealt or "", graph.dealt is not None or graph.length is not None or graph.measure is not None


def owner_word(type_: Type) -> str:
    """Return the word before the dot in names of attributes of a type: the kind, else the form."""
    return type_.name if isinstance(type_, CardType | KindType) else type_.word


# --- types -----------------------------------------------------------------------------------------------------------

OTHER_TYPES = {"player": "seat", "number": "int", "integer": "int", "boolean": "bool", "string": "text", "str": "text"}
"""Type names of other languages, with ours."""
COLLECTIONS = {form.word: form for form in (ListType, SetType)}
OF_CARDS = {form.word: form for form in (ZoneType, PilesType, PileType)}
OF_TOKENS = {form.word: form for form in (BagType, PoolType, TrackType, StockType)}
MAKERS = (*COLLECTIONS, *OF_CARDS, *OF_TOKENS)
"""Words allowed before `of`."""


def parameters_of(names: Names, header: nodes.Header | None, file: str, report: Report) -> tuple[tuple[str, Type], ...]:
    """Return the parameters of a rule with their types."""
    parameters: list[tuple[str, Type]] = []
    for each in header.parameters if header is not None else ():
        type_ = resolve_type(names, each.type, report) if each.type is not None else names.parameter(each.name, file)
        if type_ is None:
            remedy = f"say it once: `names: {{{each.name}: TYPE}}` in this file or the family"
            report(Diagnostic("E310", f"the name `{each.name}` has no type", each.span, help=remedy))
        elif each.name in dict(parameters):
            report(Diagnostic("E501", f"`{each.name}` is a parameter already", each.span))
        elif each.type is None and type_ == names.type(each.name):  # which it is called like
            names.bind(each.span, *names.declares_type(each.name))
        parameters.append((each.name, type_ or NEVER))
    return tuple(parameters)


def resolve_type(names: Names, node: nodes.Type, report: Report) -> Type:
    """Resolve a parsed type to a type of this ruleset."""
    match node:
        case nodes.OptionalType(of):
            return resolve_type(names, of, report).maybe
        case nodes.RangeType():
            return INT
        case nodes.MadeType(maker, of):
            return _made(names, maker, of, node.span, report)
        case nodes.NamedType(name):
            return _named(names, name, node.span, report)
        case _:
            assert_never(node)


def _named(names: Names, name: str, span: Span, report: Report) -> Type:
    type_ = names.type(name)
    if type_ is not None:
        names.bind(span, *names.declares_type(name))
        return type_
    model = names.model
    known = [*NAMED_TYPES, *MAKERS, *model.kinds, *model.card_kinds, *model.records, *model.pieces]
    if model.graph is not None:
        known.append(model.graph.node)
    ours = OTHER_TYPES.get(name)
    near = f"; did you mean `{ours}`?" if ours else did_you_mean(name, known)
    report(Diagnostic("E305", f"unknown type `{name}`{near}", span))
    return NEVER


def _made(names: Names, maker: str, of: nodes.Type, span: Span, report: Report) -> Type:
    names.bind(Span(span.file, span.start, span.start + len(maker)), "language", maker)
    if maker not in (*MAKERS, RoomType.word):
        report(Diagnostic("E305", f"unknown type `{maker} of …`{did_you_mean(maker, MAKERS)}", span))
        return NEVER
    inner = resolve_type(names, of, report)
    if maker in COLLECTIONS:
        if str(inner).count(" of ") >= MAXIMUM_NESTING:
            report(Diagnostic("E204", f"lists nested more than {MAXIMUM_NESTING} deep", span))
            return NEVER
        return COLLECTIONS[maker](inner)
    if maker == RoomType.word:
        return RoomType(inner)
    name = of.name if isinstance(of, nodes.NamedType) else ""
    if inner == NEVER:
        return NEVER
    if maker in OF_CARDS:
        if isinstance(inner, CardType):
            return OF_CARDS[maker](inner.name)
        report(Diagnostic("E305", f"a {maker} holds cards, not {inner}", span))
        return OF_CARDS[maker]()
    token = names.kind(name)
    if maker != "stock" and (token is None or (token.totals is None and maker != "bag")):
        report(Diagnostic("E305", f"`{name}` is not a kind of token", span))
    return OF_TOKENS[maker](name)
