"""Views of a game: log lines, boards, and the state as a player sees it. All words come from the ruleset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Json, picked
from interpreter.base.source import Span
from interpreter.engine.decision import Code, Decision, decision_at, others_at
from interpreter.engine.log_records import Choice, Event, Mark, Seats, is_choice, read
from interpreter.engine.setup import Table
from interpreter.engine.values import Names
from interpreter.hidden.sight import Held, Unseen, Veil, may_see
from interpreter.kernel.effects import put_back
from interpreter.kernel.state import Record, State, Value, as_bag
from interpreter.language import core, types
from interpreter.language.model import Board, CheckedRule, GraphDecl, Group, Model, Phrase
from interpreter.language.walk import descendants
from interpreter.plain.builtin_functions import dealt_lengths
from interpreter.plain.closures import Evaluate

__all__ = [
    "BoardTable",
    "Line",
    "Spoken",
    "added",
    "board_of",
    "is_shown",
    "languages_of",
    "lines_since",
    "measured",
    "numbered_lines",
    "option_text",
    "pending",
    "prompt_of",
    "question_of",
    "rule_at",
    "view_of",
]

HIDDEN = "…"


class Line(Struct, frozen=True):
    """A line of a log: what happened, in words and as data, with the rule and statements behind it.

    ``kind`` is choice, event, mark or prompt; ``name`` is ``decision.alternative``, the event's name, the moment, or
    the name of the pending decision. A text begins with ``subject`` characters for a seat, if it begins with one, and
    with ``lead`` characters for that and the fixed words behind it, up to a number: see :func:`added`.
    """

    kind: Literal["choice", "event", "mark", "prompt"]
    name: str
    text: str
    values: dict[str, Value]
    actor: int | None = None
    rule: str = ""
    cites: tuple[str, ...] = ()
    place: str = ""
    subject: int = 0
    lead: int = 0
    unsaid = ("subject", "lead")


def added(line: Line, before: Line) -> str | None:
    """Return what a line adds to the line before it, if both read as one: they are of one seat or of one event, or both
    are choices. Return None otherwise."""
    if line.kind == "mark" or before.kind == "mark":
        return None
    rest = line.text[line.lead :].lstrip()
    if rest and line.name == before.name and line.text[: line.lead] == before.text[: before.lead]:
        return rest
    if line.subject and line.text[: line.subject] == before.text[: before.subject]:
        return line.text[line.subject :].lstrip()
    are_choices = "." in line.name and "." in before.name
    return line.text if line.name == before.name or are_choices else None


class BoardTable(Struct, frozen=True):
    """A rendered board: a line of text and a table. ``seats`` are those of the rows, if a board of the end of the game
    has one for each: it is part of the result then."""

    name: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    seats: tuple[Value, ...] = ()

    def as_data(self) -> dict[str, object]:
        return {"kind": "board", **picked(self, "name", "text", "columns", "rows")}


class Spoken(Names):
    """Formats values in the words of a game's ruleset, in one language.

    Prompts and boards may read the state, as far as the ``player`` who reads them may see it; without a player, all of
    it. Other words do not read it.
    """

    def __init__(self, table: Table, state: State, language: str, player: int | None = None) -> None:
        self.__dict__.update(table.names.__dict__)
        self.table, self.state, self.language = table, table.sight.seen_by(state, player), language

    def text(self, value: Value, type_: types.Type) -> str:
        names = self.table.seat_names
        if isinstance(type_, types.SeatType) and value is not None and value < len(names) and names[value]:
            return names[value]
        return super().text(value, type_)

    def phrase(self, says: dict[str, Phrase] | None) -> Phrase | None:
        """Return the template in the language, else in English; those of other languages are not for its readers."""
        return says.get(self.language) or says.get("en") if says else None

    def word(self, name: str, *values: Value) -> str:
        return _say(self, self.model.says.get(name), (), values)

    def term(self, form: Literal["button", "slot"], decision: str, name: str) -> str:
        """Return the word for an alternative of a decision, or for a slot of one; by default its name."""
        return self.word(f"{form}.{decision}.{name}") or self.word(f"{form}.{name}") or name.replace("_", " ")


def languages_of(model: Model) -> list[str]:
    """Return the languages that a ruleset has texts in; every ruleset supports `en`."""
    phrases = [*model.says.values(), *(e.says for e in model.events.values()), *(board.says for board in model.boards)]
    return sorted({"en", *(name for phrase in phrases for name in phrase)})


def lines_since(
    table: Table, state: State, start: int, player: int | None = None, language: str = "en"
) -> Iterator[Line]:
    """Yield the log lines from record ``start`` on. Other players read a sealed choice when it is revealed."""
    return (line for _, line in _spoken_records(table, state, start, player, language))


def numbered_lines(
    table: Table, state: State, player: int | None = None, language: str = "en", start: int = 0, choices: int = 0
) -> Iterator[tuple[str, Line]]:
    """Yield the log lines with their numbers.

    A choice has its index among all choices, from 1; a line that follows it adds its own, as in ``12.3``. Lines of the
    set-up follow choice 0. ``start`` is the record of a choice, ``choices`` the number of choices before it.
    """
    following = 0
    numbers: dict[int, str] = {}
    for record, line in _spoken_records(table, state, start, player, language):
        if id(record) in numbers:  # a sealed choice, now revealed
            yield numbers[id(record)], line
        elif is_choice(record):
            choices, following = choices + 1, 0
            numbers[id(record)] = str(choices)
            yield str(choices), line
        else:
            following += 1
            yield f"{choices}.{following}", line


def _spoken_records(
    table: Table, state: State, start: int, player: int | None, language: str
) -> Iterator[tuple[Record, Line]]:
    """Yield each log record that produces a line, with its line."""
    sealed: list[tuple[Record, Choice]] = []
    spoken = Spoken(table, state, language)
    for number, record in enumerate(state.log[start:], start):
        match read(record):
            case Choice() as choice if choice.option.ask.is_closed and player != choice.actor:
                sealed.append((record, choice))
                yield record, _sealed_choice(spoken, choice, player)
            case Choice() as choice:
                yield record, _choice(spoken, choice, player)
            case Event() as event:
                yield record, _event(spoken, event, player)
            case Mark(word="reveal") as mark:
                yield from ((old, _choice(spoken, choice, None)) for old, choice in sealed if mark.reveals(choice))
                sealed = [each for each in sealed if not mark.reveals(each[1])]
            case Mark() as mark:
                yield record, _mark(spoken, mark, number, player)


def _sealed_choice(spoken: Spoken, choice: Choice, player: int | None) -> Line:
    """Return the line of a choice for those who may know only that it was made, and its decision."""
    ask, actor = choice.option.ask, choice.actor
    text = spoken.word("chooses", actor) or spoken.frame("chooses", who=spoken.text(actor, types.SEAT))
    context = _held([(name, value.type) for name, value in ask.context], choice.context, choice.seen, player)
    public = _public(spoken, [_who(actor), *context])
    layer = spoken.table.program.reach.procedures[choice.option.procedure]
    cites = spoken.table.cites(layer.cites)
    return Line("choice", ask.name, text, public, actor, layer.spoken, cites, str(ask.span))


def _choice(spoken: Spoken, choice: Choice, player: int | None) -> Line:
    """Return the line of a choice. Without a player, its values are open to everybody."""
    site, _, actor, values, context, seen = choice
    table, option = spoken.table, site.core.name
    key = f"{site.ask.name}.{option}"
    held = _held(table.model.alternatives[key], (actor, *context, *values), (None, *seen), player)
    public = _public(spoken, held)
    says = table.model.says.get(key)
    if spoken.phrase(says):
        text, *starts = _told(spoken, says, held)
    else:
        chosen = (f"{each.name} {public[each.name]}" for each in held[1 + len(context) :])
        who, did = f"{spoken.text(actor, types.SEAT)}:", option.replace("_", " ")
        text, starts = " ".join([who, did, *chosen]), [len(who), len(who)]
    layer = table.program.reach.procedures[site.procedure]
    cites = table.cites(site.core.cites or layer.cites)
    return Line("choice", key, text, public, actor, layer.spoken, cites, str(site.core.span), *starts)


def _event(spoken: Spoken, happened: Event, player: int | None) -> Line:
    span, name, seen, values = happened
    table = spoken.table
    event = table.model.events[name]
    held = _held(event.fields.items(), values, seen, player)
    public = _public(spoken, held)
    text, *starts = _told(spoken, table.model.says.get(name) or event.says, held)
    if player is not None and not table.sight.secrecy.shows_place(name, span):
        return Line("event", name, text, public, None, "", (), "", *starts)
    rule, cites = rule_at(table, span)
    return Line("event", name, text, public, None, rule, cites, str(span), *starts)


def rule_at(table: Table, span: Span) -> tuple[str, tuple[str, ...]]:
    """Return the rule whose text contains a position, and the statements that it cites."""
    layer = table.program.layer_at(span)
    return (layer.spoken, table.cites(layer.cites)) if layer is not None else ("", ())


def _mark(spoken: Spoken, mark: Mark, place: int, player: int | None) -> Line:
    table = spoken.table
    text = _say(spoken, table.model.says.get(mark.begins))
    of = mark.word.partition(" of ")[2]
    rule = table.model.rules.get(of)
    cites = _cites_of_phase(spoken.table, spoken.state, rule, place, player) if rule is not None and mark.begins else ()
    return Line("mark", mark.word, text, {"number": mark.number}, None, of if rule else "", table.cites(cites))


def _cites_of_phase(
    table: Table, state: State, rule: CheckedRule, record_number: int, player: int | None
) -> tuple[str, ...]:
    """Return the statements of the layers that run a phase: those whose `when` held at that record of the log, as far
    as the player could know."""
    past: State | None = None
    cites: list[str] = []
    for layer in reversed(rule.layers):
        if layer.guard is not None:
            past = past or table.sight.seen_by(_state_at(state, record_number), player)
            table.machine.meter.refill()
            try:
                if not table.machine.expressions.closure(layer.guard)(past, [None] * layer.local_count):
                    continue
            except Unseen:
                continue
        cites[:0] = layer.cites
        if not any(isinstance(node, core.CallBase) for node in descendants(layer.body)):
            break
    return tuple(dict.fromkeys(cites))


def _state_at(state: State, record_number: int) -> State:
    """Return a copy of the state right after a record of the log."""
    past = state.clone()
    for record in reversed(state.log[record_number + 1 :]):
        put_back(past.cells, record)
    return past


def _held(
    fields: Iterable[tuple[str, types.Type]], values: Iterable[Value], seen: Iterable[Seats], player: int | None
) -> list[Held]:
    return [
        Held(name, type_, value, may_see(seats, player))
        for (name, type_), value, seats in zip(fields, values, seen, strict=False)
    ]


def _who(actor: int) -> Held:
    return Held("who", types.SEAT, actor, True)


def _public(names: Names, held: Iterable[Held], unseen: str | None = None) -> dict[str, Json]:
    return {each.name: names.public(each.value, each.type) if each.seen else unseen for each in held}


def _say(
    spoken: Spoken, says: dict[str, Phrase] | None, held: Sequence[Held] = (), others: Sequence[Value] = ()
) -> str:
    """Fill in a template in the language of ``spoken``. Values that its reader may not see are hidden; the ``others``
    behind them are not."""
    return _told(spoken, says, held, others)[0]


def _told(
    spoken: Spoken, says: dict[str, Phrase] | None, held: Sequence[Held], others: Sequence[Value] = ()
) -> tuple[str, int, int]:
    """Fill in a template, and return the lengths of its ``subject`` and ``lead`` (:class:`Line`)."""
    phrase = spoken.phrase(says)
    if phrase is None:
        return "", 0, 0
    env = [*(each.value for each in held), *others, *[None] * (phrase.local_count + 8)]
    hidden = {index for index, each in enumerate(held) if not each.seen}
    parts = [part if isinstance(part, str) else _part(spoken, part, env, hidden) for part in phrase.parts]
    is_seat = any(not isinstance(part, str) and isinstance(part.type, types.SeatType) for part in phrase.parts[:1])
    subject = len(parts[0]) if is_seat else 0
    fixed = (re.match(r"\D*", part) for part in phrase.parts[is_seat : is_seat + 1] if isinstance(part, str))
    return "".join(parts), subject, subject + sum(len(found[0]) for found in fixed if found)


def _part(spoken: Spoken, part: core.Expression, env: list[Value], hidden: set[int]) -> str:
    if hidden and any(isinstance(node, core.Local) and node.index in hidden for node in descendants(part)):
        return HIDDEN
    spoken.table.machine.meter.refill()
    return _shown(spoken, spoken.table.machine.expressions.closure(part), part.type, env)


def board_of(table: Table, state: State, board: Board, language: str = "en", player: int | None = None) -> BoardTable:
    """Render a board now, as a player may see it."""
    seen = table.sight.seen_by(state, player)
    table.machine.meter.refill()
    spoken = Spoken(table, seen, language)
    says = {**board.says, **table.model.says.get(f"boards.{board.name}", {})}
    text = _say(spoken, says, (), [None] * board.local_count)
    names = tuple(spoken.word(f"boards.{board.name}.{name}") or name for name, _ in board.columns)
    env: list[Value] = [None] * (board.local_count + 8)
    columns = [(table.sight.compiled(state, value, player), value.type) for _, value in board.columns]
    items: tuple[Value, ...] = (None,) * bool(columns)
    try:
        if board.rows is not None:
            items = tuple(table.machine.expressions.closure(board.rows)(seen, env))
    except Unseen:
        return BoardTable(board.name, text, names, ((HIDDEN,) * len(columns),))
    rows = []
    for item in items:
        if board.rows is not None:
            env[board.row_local] = item
        rows.append(tuple(_shown(spoken, value, type_, env) for value, type_ in columns))
    of = board.rows.type if board.rows is not None and board.when == "end of game" else None
    is_result = isinstance(of, types.MadeType) and isinstance(of.of, types.SeatType)
    return BoardTable(board.name, text, names, tuple(rows), items if is_result else ())


def is_shown(table: Table, state: State, board: Board, player: int | None = None) -> bool:
    """Return whether the condition of a board holds now, as far as the player may see what it reads."""
    if board.test is None:
        return True
    seen = table.sight.seen_by(state, player)
    table.machine.meter.refill()
    try:
        return bool(table.sight.compiled(state, board.test, player)(seen, [None] * (board.local_count + 8)))
    except Unseen:
        return False


def _shown(spoken: Spoken, value: Evaluate, type_: types.Type, env: list[Value]) -> str:
    """Format a value, or return the mark for hidden values if it depends on hidden information."""
    try:
        return spoken.text(value(spoken.state, env), type_)
    except Unseen:
        return HIDDEN


def view_of(table: Table, state: State, player: int | None) -> dict[str, Value]:
    """Return the state by public names, with hidden information masked."""
    model, names = table.model, table.names
    layout, cells = table.machine.constants.layout, state.cells
    view: dict[str, Value] = {
        "round": cells[layout.base["round"]],
        "phase": model.phases[p] if 0 <= (p := cells[layout.base["phase"]]) < len(model.phases) else None,
        **pending(table, state, player),
    }
    veiled = table.sight.veils(state, player)
    seats: list[dict[str, Json]] = [{} for _ in table.machine.constants.seats]
    for name, group in model.groups.items():
        if name == "round":
            continue
        owned = layout.cells(name)
        if group.owner is None:
            view[name] = _group_view(table, state, group, owned[0], veiled.get(owned[0]))
        elif group.owner == types.SEAT:
            for own, cell in zip(seats, owned, strict=True):
                own[name] = _group_view(table, state, group, cell, veiled.get(cell))
        elif group.section:
            view[model.spoken_group(group)] = list(_belongings(table, state, group, veiled))
        else:
            view["places"] = [
                {**names.public(place, types.PLACE), **names.public(piece, types.PieceType())}
                for place, cell in enumerate(owned)
                if (piece := cells[cell]) is not None
            ]
    view["seats"] = seats
    return view


def _belongings(table: Table, state: State, group: Group, veiled: Mapping[int, Veil]) -> Iterator[dict[str, Json]]:
    """Yield what each thing of a type holds, but nothing empty, and nothing on a hidden card. Something hidden may be
    empty too: only a public number of items tells."""
    model, names, owned = table.model, table.names, table.machine.constants.layout.cells(group.name)
    assert group.owner is not None
    word = types.CardType.word if isinstance(group.owner, types.CardType) else model.word(group.owner)
    for thing in model.values(group.owner):
        veil = veiled.get(owned[thing])
        is_empty = (veil is None or veil.many == 0) and _is_empty(group.type, state.cells[owned[thing]])
        if not is_empty and (veil is None or word != types.CardType.word):
            public = names.public(thing, group.owner)
            head = public if isinstance(public, dict) else {word: public}
            yield {**head, "holds": _group_view(table, state, group, owned[thing], veil)}


def _is_empty(type_: types.Type, value: Value) -> bool:
    """Return whether a view leaves a belonging out."""
    return value is None or value == () or (isinstance(type_, types.TokenHolderType) and not any(as_bag(value)))


def pending(table: Table, state: State, player: int | None) -> dict[str, Json]:
    """Return the pending decision and the procedures that lead to it, as a view shows them."""
    decision = decision_at(table, state)
    decisions = [decision, *others_at(decision)] if decision is not None else []
    return {
        "decision": decision.name if decision else None,
        "actor": decision.actor if decision else None,
        "actors": [choice.actor for choice in decisions],
        "context": _public(table.names, context_of(table, state, decision, player)) if decision else {},
        "procedures": [
            {"rule": rule, "locals": _public(table.names, held, HIDDEN)}
            for rule, held in table.sight.under_way(state, player)
        ],
    }


def context_of(table: Table, state: State, decision: Decision, player: int | None) -> list[Held]:
    """Return the context of a decision. The rules show everybody all of it but cards that are hidden."""
    env, site = decision.env, decision.site
    table.machine.meter.refill()
    values = [value(state, env) for _, value in site.context]
    fields = [(name, value.type) for name, value in site.ask.context]
    visible = table.machine.constants.visible_in
    seen = (visible(state, value, type_) for value, (_, type_) in zip(values, fields, strict=True))
    return _held(fields, values, seen, player)


def prompt_of(table: Table, state: State, decision: Decision, language: str = "en", player: int | None = None) -> str:
    """Return the prompt of a decision as a player may read it; empty if the ruleset has none in `asks`."""
    says = table.model.says.get(f"asks.{decision.name}")
    held = [_who(decision.actor), *context_of(table, state, decision, player)] if says else []
    return _say(Spoken(table, state, language, player), says, held)


def question_of(table: Table, state: State, decision: Decision, language: str = "en", player: int | None = None) -> str:
    """Return the prompt of a decision, or else its seat and name with the context, as far as the player may see it."""
    if prompt := prompt_of(table, state, decision, language, player):
        return prompt
    spoken, key = Spoken(table, state, language, player), f"decision.{decision.name}"
    around = [
        f"{spoken.word(f'{key}.{name}') or name.replace('_', ' ')} {spoken.text(value, type_) if seen else HIDDEN}"
        for name, type_, value, seen in context_of(table, state, decision, player)
    ]
    about = f" ({', '.join(around)})" if around else ""
    words = spoken.word(key) or decision.name.replace("_", " ")
    return f"{spoken.text(decision.actor, types.SEAT)}: {words}{about}"


def option_text(spoken: Spoken, decision: Decision, code: Code) -> str:
    """Return an option in the words of its log line, for the seat that decides; empty if the ruleset has none."""
    option = decision.site.ask.options[code[0]]
    says = spoken.table.model.says.get(f"{decision.name}.{option.name}")
    held = [_who(decision.actor), *context_of(spoken.table, decision.state, decision, decision.actor)] if says else []
    return _say(spoken, says, held, code[1])


def _group_view(table: Table, state: State, group: Group, cell: int, veil: Veil | None) -> Value:
    """Return the view of a cell. A hidden zone shows its number of cards and its open top."""
    value, names = state.cells[cell], table.names
    if veil is not None:
        if veil.many is None:
            return HIDDEN
        shown: dict[str, Json] = {"count": veil.many}
        if group.top_shows is not None and value:
            tops = [names.public(back, group.top_shows.type) for back in table.sight.backs_of(state, group, value)]
            shown |= {"tops": tops} if isinstance(group.type, types.PilesType) else {"top": tops[0]}
        return shown
    match group.type:
        case types.ZoneType():
            return [names.card(card) for card in value]
        case types.TokenHolderType(name=token) if isinstance(value, tuple):
            return names.public(value, types.BagType(token))
        case type_:
            return names.public(value, type_)


def measured(table: Table, state: State) -> GraphDecl | None:
    """Return the graph with the length of each link among its values. Before the cards are dealt, and while
    they are hidden, links have no length."""
    graph = table.model.graph
    if graph is None or graph.dealt is None or graph.length is None:
        return graph
    cards = state.cells[table.machine.constants.layout.base[graph.dealt]]
    if isinstance(cards, Veil) or len(cards) < len(graph.links):
        return replace(graph, length=None)
    lengths = dealt_lengths(table.model)(cards)
    links = zip(graph.links, lengths, strict=True)
    return replace(graph, links=[replace(x, values={**x.values, graph.length: n}) for x, n in links])
