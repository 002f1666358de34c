"""Mutation testing: rules made wrong on purpose, to see whether a scenario fails.

Takes a checked ruleset and one of its citations; returns changed models: a rule that returns a default or does nothing,
a verdict that permits everything, numbers that are off by one. A scenario that fails with a mutant proves the
statements that it cites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.base.lazy import Lazy
from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.base.store import digest_of
from interpreter.engine.answers import kept_answers
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import default_settings, set_up
from interpreter.language import core, types
from interpreter.language.model import CheckedTrigger, GraphDecl, Group, Kind, Model, RuleBody, RuleLayer, Table
from interpreter.language.walk import rewritten
from interpreter.lowering.constants import RuleFailure
from interpreter.lowering.lower import lower
from interpreter.lowering.reach import reach_of
from interpreter.sections.documents import STATE_SECTIONS
from interpreter.testing.instrumentation import with_texts
from interpreter.testing.running import run_scenario
from interpreter.testing.scenarios import Checked
from interpreter.testing.suite import Suite

__all__ = ["Mutant", "mutants_of", "prove"]

T = TypeVar("T")


class Mutant(Struct, frozen=True):
    """A model with a mutation, and what is wrong with it."""

    about: str
    model: Model

    def applied(self, ruleset: Ruleset) -> Ruleset:
        """Return a copy of the ruleset with the mutation."""
        return ruleset.with_model(self.model, lower(self.model, reach_of(self.model)))


def prove(ruleset: Ruleset, suite: Suite, ids: set[str], tell: Callable[[str], object] = str) -> set[str]:
    """Return the statements of ``ids`` that scenarios prove: a mutant of a part that cites one fails a scenario citing
    it. ``tell`` is called with each part before its mutants are tried.

    The result is kept between runs, for the same rules, scenarios and statements.
    """
    citations = citations_of(ruleset)
    ids = ids & {id for citation in citations for id in citation.cites}
    scenarios = list(suite.bound(ruleset, ids))
    rules = {each.source for each in (ruleset, *(checked.ruleset for checked in scenarios))}
    if not all(rules):  # they are in no files
        return _proved(ruleset, scenarios, ids, tell)
    texts = {(checked.scenario.id, checked.scenario.span.file.text) for checked in scenarios}
    key = digest_of(*(part or "" for part in sorted(rules, key=str)), *chain(*sorted(texts)), "ids", *sorted(ids))
    with kept_answers("proved", ruleset.id) as answers:
        question = (key.hex(),)
        return set(answers.to(question, lambda: _proved(ruleset, scenarios, ids, tell)))


def _proved(ruleset: Ruleset, scenarios: list[Checked], ids: set[str], tell: Callable[[str], object]) -> set[str]:
    passes = Lazy[int, bool](lambda number: run_scenario(scenarios[number]).passed)
    proved: set[str] = set()
    for citation in citations_of(ruleset):
        open_ = ids & set(citation.cites) - proved
        tell(f"{citation.name} of {ruleset.id}")
        for mutant in mutants_of(ruleset.model, citation) if open_ else ():
            if not open_:
                break
            noticed = _noticed(ruleset, mutant, scenarios, passes, open_)
            proved |= noticed
            open_ -= noticed
    return proved


def _noticed(
    ruleset: Ruleset, mutant: Mutant, scenarios: list[Checked], passes: Lazy[int, bool], ids: set[str]
) -> set[str]:
    """Return the statements of ``ids`` cited by a scenario that passes, but fails with the mutant."""
    left = set(ids)
    changed: Ruleset | None = None
    for number, checked in enumerate(scenarios):
        shown = left & checked.scenario.statements
        if not shown or not passes[number]:
            continue
        if changed is None:
            changed = mutant.applied(ruleset)
            if not _can_be_set(changed):
                return set()
        if not run_scenario(checked, changed).passed:
            left -= shown
    return ids - left


def _can_be_set(ruleset: Ruleset) -> bool:
    """Return whether a game can be set up. Every scenario fails with a mutant that cannot, which proves nothing."""
    try:
        set_up(ruleset.program, ruleset.players.usual, default_settings(ruleset.model))
    except (RulesetError, RuleFailure):
        return False
    return True


def mutants_of(model: Model, citation: Citation) -> Iterator[Mutant]:
    """Yield the mutants of a cited part; none for parts that the game never reads."""
    name, place = citation.name, citation.place
    match citation.section:
        case "rules":
            yield from _of_layer(model, model.rules[name].layers[place[0]])
            yield from _of_phase(model, name)
        case "decisions" if citation.extent is not None:
            yield from _of_part(model, citation.extent)
        case "lines":
            yield from _of_line(model, model.rules[name].layers[place[0]], place[1])
        case "options":
            yield from _of_option(model, model.rules[name].layers[place[0]], place[1])
        case "tables":
            yield from _of_table(model, model.tables[name])
        case "triggers" | "cases":
            yield from _of_trigger(model, model.triggers[name], place)
        case "standing":
            rule = model.standing[name]
            yield Mutant("never holds", _with(model, "standing", name, test=_always(False, rule.span)))
            yield from _of_block(model, rule.procedure)
        case "result":
            yield Mutant("all are equal", replace(model, ranking=()))
            yield Mutant("other order", replace(model, ranking=model.ranking[::-1]))
        case section if section in STATE_SECTIONS:
            yield from _of_group(model, model.groups[name])
        case "roles" if model.roles[name].open:
            yield Mutant("not open", _with(model, "roles", name, open=False))
        case "tokens":
            yield _more_tokens(model, name)
        case "cards" | "card_rows":
            yield from _of_cards(model, name)
        case "files":
            for kind in dict.fromkeys(row.kind for row in model.cards if row.span.file == citation.span.file):
                yield from _of_cards(model, kind)
            if model.graph is not None and any(row.span.file == citation.span.file for row in model.graph.nodes):
                yield from _of_graph(model, model.graph)
        case "kinds":
            yield from _of_kind(model, model.kinds[name])
        case "graph" if model.graph is not None:
            yield from _of_graph(model, model.graph)


def _with(model: Model, section: str, name: str, **changes: object) -> Model:
    """Return a model with one declaration of a section changed."""
    declared = getattr(model, section)
    return replace(model, **{section: {**declared, name: replace(declared[name], **changes)}})


def _always(value: bool, span: Span) -> core.Const:
    return core.Const(value, type=types.BOOL, span=span)


# --- rules ------------------------------------------------------------------------------------------------------------


def _of_layer(model: Model, layer: RuleLayer) -> Iterator[Mutant]:
    for about, body in _bodies(model, layer):
        yield Mutant(about, _with_layer(model, replace(layer, body=body)))
    if layer.layer > 0:
        below = replace(layer, when=_always(False, layer.span))
        yield Mutant("the layer below answers", _with_layer(model, below))
    if layer.when is not None:
        yield Mutant("answers in all cases", _with_layer(model, replace(layer, when=None)))


def _of_phase(model: Model, name: str) -> Iterator[Mutant]:
    """Yield the mutant in which a phase ignores its condition."""
    if name in model.phases and model.phase_guards[number := model.phases.index(name)] is not None:
        guards = tuple(None if place == number else guard for place, guard in enumerate(model.phase_guards))
        yield Mutant("takes place in all cases", replace(model, phase_guards=guards))


def _of_part(model: Model, extent: Span) -> Iterator[Mutant]:
    """Yield mutants of a file's additions to a decision of another file: without its alternatives, conditions and
    statements, or with other numbers."""

    def is_part(node: object) -> bool:
        span = getattr(node, "span", None)
        return span is not None and span.file == extent.file and extent.start <= span.start and span.end <= extent.end

    def without(node: object) -> object:
        if isinstance(node, core.Ask):
            return replace(node, options=tuple(option for option in node.options if not is_part(option)))
        if not isinstance(node, core.Option) or is_part(node):
            return node
        tests = tuple(test for test in node.tests if not is_part(test))
        body = node.body and tuple(step for step in node.body if not is_part(step))
        guard = node.guard
        if isinstance(guard, core.Logic) and is_part(guard.right) and not is_part(guard.left):
            guard = guard.left
        elif is_part(guard):
            guard = None
        return replace(node, tests=tests, guard=guard, body=body)

    yield Mutant("is not there", with_texts(model, without))
    yield Mutant("larger numbers", with_texts(model, lambda node: _shifted(node, 1) if is_part(node) else node))
    yield Mutant("smaller numbers", with_texts(model, lambda node: _shifted(node, -1) if is_part(node) else node))


def _bodies(model: Model, layer: RuleLayer) -> Iterator[tuple[str, RuleBody]]:
    if layer.form == "permits":
        yield "permits all", ()
        yield "permits nothing", (core.Requirement(_always(False, layer.span), (), span=layer.span),)
    elif layer.result == types.NOTHING:
        yield "does nothing", ()
    else:
        for value in _defaults(layer.result, model):
            const = core.Const(value, type=layer.result, span=layer.span)
            yield "gives a default", (core.Returns(const, span=layer.span),) if layer.form == "does" else const
    for shifted in _others(layer.body):
        yield "other numbers", shifted


def _of_line(model: Model, layer: RuleLayer, index: int) -> Iterator[Mutant]:
    lines = layer.requirements
    line = lines[index]
    # a line that is only there for its citation permits everything
    permits = isinstance(line.test, core.Const) and line.test.value is True
    for changed in (replace(line, test=_always(not permits, line.span)), *_others(line)):
        body = (*lines[:index], changed, *lines[index + 1 :])
        yield Mutant("asks otherwise", _with_layer(model, replace(layer, body=body)))


def _of_option(model: Model, layer: RuleLayer, index: int) -> Iterator[Mutant]:
    option = layer.facts.options[index]

    def with_option(changed: core.Option) -> Model:
        body = rewritten(layer.body, lambda node: changed if node is option else node)
        return _with_layer(model, replace(layer, body=body))

    yield Mutant("is never offered", with_option(replace(option, guard=_always(False, option.span))))
    if option.tests or option.guard is not None:
        yield Mutant("is always offered", with_option(replace(option, tests=(), guard=None)))


def _with_layer(model: Model, layer: RuleLayer) -> Model:
    layers = tuple(layer if old.layer == layer.layer else old for old in model.rules[layer.rule].layers)
    return _with(model, "rules", layer.rule, layers=layers)


def _defaults(type_: types.Type, model: Model) -> list[Value]:
    """Return the values that a blanked rule of a type returns; none if the type has no members."""
    if type_.optional:
        return [None]
    match type_:
        case types.BoolType():
            return [False, True]
        case types.CollectionType():
            return [()]
        case types.BagType():
            return [(0,) * len(model.members(type_.name))]
        case types.RoomType():
            return [((), 0)]
        case types.IntType() | types.SeatType():
            return [0]
        case types.RecordType():
            parts = [_defaults(part, model) for part in model.records[type_.name].values()]
            return [tuple(values[0] for values in parts)] if all(parts) else []
        case _:
            return [*model.values(type_)[:1]]


def _others(tree: T) -> list[T]:
    """Return the tree with its literal numbers one larger, and one smaller; nothing if it has none."""
    shifted = (rewritten(tree, partial(_shifted, by=by)) for by in (1, -1))
    return [other for other in shifted if other != tree]


def _shifted(node: object, by: int) -> object:
    """Return a literal number shifted, and any other node as it is."""
    if isinstance(node, core.Const) and node.type == types.INT and isinstance(node.value, int):
        return replace(node, value=node.value + by)
    return node


# --- triggers and standing rules --------------------------------------------------------------------------------------


def _of_trigger(model: Model, trigger: CheckedTrigger, place: tuple[int, ...]) -> Iterator[Mutant]:
    cases = place or range(len(trigger.cases))
    silent = tuple(replace(case, procedure=None) if i in cases else case for i, case in enumerate(trigger.cases))
    yield Mutant("hears nothing", _with(model, "triggers", trigger.name, cases=silent))
    is_whole = len(cases) == len(trigger.cases)
    if trigger.test is not None and is_whole:
        yield Mutant("hears all", _with(model, "triggers", trigger.name, test=None))
    for test in _others(trigger.test) if is_whole else ():
        yield Mutant("other numbers", _with(model, "triggers", trigger.name, test=test))
    for procedure in (trigger.cases[index].procedure for index in cases):
        if procedure is not None:
            yield from _of_block(model, procedure)


def _of_block(model: Model, name: str) -> Iterator[Mutant]:
    """Yield mutants with other numbers in a block."""
    for body in _others(model.blocks[name].body):
        yield Mutant("other numbers", _with(model, "blocks", name, body=body))


# --- tables and components --------------------------------------------------------------------------------------------


def _of_table(model: Model, table: Table) -> Iterator[Mutant]:
    """Yield mutants with shifted numbers, the next members of kinds, and empty sets."""
    kind = model.kinds.get(table.gives.name) if isinstance(table.gives, types.KindType) else None
    members = len(kind.members) if kind is not None else 0

    def mutant(about: str, other: Callable[[Value], Value]) -> Mutant:
        cells = {key: other(value) for key, value in table.cells.items()}
        return Mutant(about, _with(model, "tables", table.name, cells=cells))

    yield mutant("larger cells", lambda value: _other_cell(value, 1, members))
    yield mutant("smaller cells", lambda value: _other_cell(value, -1, members))
    # With either, set-up may fail: one holder may start with all tokens, another with none.
    fewer = "fewer, not below nothing"
    yield mutant(fewer, lambda value: max(0, _other_cell(value, -1)) if isinstance(value, int) else value)


def _other_cell(value: Value, by: int, members: int = 0) -> Value:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return (value + by) % members if members else value + by
    return () if isinstance(value, tuple) else value


def _of_group(model: Model, group: Group) -> Iterator[Mutant]:
    def mutant(about: str, **changes: object) -> Mutant:
        return Mutant(about, _with(model, "groups", group.name, **changes))

    if group.start is not None and (start := _other_start(group.start, group.type, model)) != group.start:
        yield mutant("starts otherwise", start=start)
    if group.starts == "rest" and isinstance(group.type, types.TokenHolderType):
        yield _more_tokens(model, group.type.name)
    if group.order not in ("kept", "free"):
        yield mutant("in no order", order="kept", rank=None)
    if group.seen != "everyone":
        yield mutant("seen by everyone", seen="everyone", sees=None)
    elif isinstance(group.type, types.CardHolderType | types.PoolType) or not isinstance(group.type, types.HolderType):
        yield mutant("hidden", seen="owner" if group.owner == types.SEAT else "no one")
    if group.top_shows is not None:
        yield mutant("with hidden backs", top_shows=None)
    if group.unlimited:
        yield mutant("limited", unlimited=False)
    if group.lasts != "game":
        yield mutant("lasts", lasts="game")
    if group.spaces is not None:
        table = model.tables[group.spaces]  # its last keys are the prices of the spaces
        cells = {(*key[:-1], key[-1] + 1): value for key, value in table.cells.items()}
        yield Mutant("other spaces", _with(model, "tables", table.name, cells=cells))


def _other_start(start: core.Expression, type_: types.Type, model: Model) -> core.Expression:
    """Return another start value: numbers one larger, a bag with one less of each kind (its tokens may have run out),
    a value in place of none."""
    if isinstance(start, core.Const) and start.value is None:
        values = _defaults(type_.sure, model)
        return replace(start, value=values[0], type=type_.sure) if values else start
    if isinstance(start, core.Const) and isinstance(start.type, types.BagType):
        return replace(start, value=tuple(max(0, number - 1) for number in start.value))
    return rewritten(start, partial(_shifted, by=1))


def _more_tokens(model: Model, name: str) -> Mutant:
    totals = tuple(total and total + 1 for total in model.kinds[name].totals or ())
    return Mutant("one more of each", _with(model, "kinds", name, totals=totals))


def _of_cards(model: Model, kind: str) -> Iterator[Mutant]:
    if kind in model.card_kinds:
        yield Mutant("other numbers", _other_cards(model, kind, types.IntType))
        yield Mutant("other members", _other_cards(model, kind, types.KindType))
        yield Mutant("empty sets", _other_cards(model, kind, types.SetType))
        yield Mutant("one card more", _more_cards(model, kind))


def _more_cards(model: Model, kind: str) -> Model:
    """Return a model with one more card of a kind, with a new key, after all others so that card numbers stay valid."""
    row = next(row for row in reversed(model.cards) if row.kind == kind)
    numbers = [card.key for card in model.cards if card.kind == kind and isinstance(card.key, int)]
    key = row.key if row.key is None else max(numbers) + 1 if isinstance(row.key, int) else f"{row.key} again"
    attribute = model.card_kinds[kind].key
    values = {**row.values, **({attribute: key} if attribute is not None else {})}
    return replace(model, cards=[*model.cards, replace(row, key=key, values=values, copies=1)])


def _other_cards(model: Model, name: str, form: type[types.Type]) -> Model:
    """Return a model whose cards of a kind have numbers one larger (except keys), the next members of kinds, or empty
    sets."""
    kind = model.card_kinds[name]
    columns = {key: type_ for key, type_ in kind.columns.items() if key != kind.key and isinstance(type_, form)}
    cards = [
        replace(row, values=_other_values(model, row.values, columns)) if row.kind == name else row
        for row in model.cards
    ]
    return replace(model, cards=cards)


def _other_values(model: Model, values: Mapping[str, Value], attributes: Mapping[str, types.Type]) -> dict[str, Value]:
    """Return the values of a row with other ones of some attributes."""
    members = {
        key: len(model.values(type_)) if isinstance(type_, types.KindType) else 0 for key, type_ in attributes.items()
    }
    return {key: _other_cell(value, 1, members[key]) if key in attributes else value for key, value in values.items()}


def _of_kind(model: Model, kind: Kind) -> Iterator[Mutant]:
    """Yield mutants with one member fewer, and with other members on the graph, on cards and in tables."""
    low, high = kind.range or (0, len(kind.members) - 1)
    form = types.IntType if kind.range is not None else types.KindType
    yield Mutant("one member fewer", _without_last(model, range(low, high + 1), form))
    if model.graph is not None:
        yield from _of_graph(model, model.graph, kind.name)
    of_kind = {
        name for name, each in model.card_kinds.items() for t in each.attributes.values() if _is_of(t, kind.name)
    }
    for name in sorted(of_kind):
        yield Mutant("other members", _other_cards(model, name, types.KindType))
    for table in model.tables.values():
        if _is_of(table.gives, kind.name):
            yield from _of_table(model, table)


def _without_last(model: Model, values: range, form: type[types.Type]) -> Model:
    """Return a model in whose texts all values of a kind, or all nodes, are without the last."""

    def fewer(node: object) -> object:
        if isinstance(node, core.Const) and isinstance(node.type, types.ListType) and isinstance(node.type.of, form):
            return replace(node, value=node.value[:-1]) if node.value == tuple(values) else node
        return node

    return with_texts(model, fewer)


def _is_of(type_: types.Type, kind: str) -> bool:
    return isinstance(type_, types.KindType) and type_.name == kind


def _of_graph(model: Model, graph: GraphDecl, kind: str = "") -> Iterator[Mutant]:
    """Yield mutants with one node fewer, and with other values of an attribute; with a ``kind``, with other members of
    this kind."""
    if not kind:
        yield Mutant("one node fewer", _without_last(model, range(len(graph.nodes)), types.NodeType))
    sections = (("nodes", graph.attributes), ("links", graph.link), ("places", graph.place))
    for section, attributes in sections:
        for attribute, type_ in attributes.items():
            if _is_of(type_, kind) or (
                not kind and isinstance(type_, types.IntType | types.KindType | types.BoolType | types.SetType)
            ):
                rows = [
                    replace(row, values=_other_values(model, row.values, {attribute: type_}))
                    for row in getattr(graph, section)
                ]
                yield Mutant(f"other {section}", replace(model, graph=replace(graph, **{section: rows})))
