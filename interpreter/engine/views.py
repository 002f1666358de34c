"""Views of a game: log lines, boards, and the state as a player sees it. All words come from the ruleset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Json
from interpreter.base.source import Span
from interpreter.engine.decision import decision_at, others_at
from interpreter.engine.log_records import Choice, Event, Mark, is_choice, read
from interpreter.engine.rules import Rules, Table
from interpreter.engine.sight import Unseen, Veil, backs_of, compiled, may_see, seen_by, under_way, veils
from interpreter.engine.values import Names
from interpreter.kernel.effects import put_back
from interpreter.kernel.state import Record, State, Value
from interpreter.language import core
from interpreter.language.model import Board, CheckedRule, GraphDecl, Phrase
from interpreter.language.types import (
    PLACE,
    SEAT,
    BagType,
    PieceType,
    PilesType,
    SeatType,
    TokenHolderType,
    Type,
    ZoneType,
)
from interpreter.language.walk import descendants
from interpreter.plain.builtin_functions import dealt_lengths
from interpreter.plain.closures import Evaluate

if TYPE_CHECKING:
    from interpreter.engine.decision import Decision

__all__ = [
    "BoardTable",
    "Line",
    "Spoken",
    "board_of",
    "is_shown",
    "lines_of",
    "lines_since",
    "measured",
    "numbered_lines",
    "pending",
    "prompt_of",
    "rule_at",
    "title_of",
    "view_of",
]

HIDDEN = "…"


class Line(Struct, frozen=True):
    """A line of a log: what happened, in words and as data, with the rule and statements behind it.

    ``kind`` is choice, event, mark or prompt; ``name`` is ``decision.alternative``, the event's name, the moment, or
    the name of the pending decision.
    """

    kind: Literal["choice", "event", "mark", "prompt"]
    name: str
    text: str
    values: dict[str, Value]
    actor: int | None = None
    rule: str = ""
    cites: tuple[str, ...] = ()
    place: str = ""


class BoardTable(Struct, frozen=True):
    """A rendered board: a line of text and a table."""

    name: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Spoken(Names):
    """Formats values in the words of a game's ruleset, in one language."""

    def __init__(self, table: Table, state: State, language: str) -> None:
        self.__dict__.update(table.names.__dict__)
        self.table, self.state, self.language = table, state, language

    def text(self, value: Value, type_: Type) -> str:
        names = self.table.seat_names
        if isinstance(type_, SeatType) and value is not None and value < len(names) and names[value]:
            return names[value]
        return super().text(value, type_)

    def word(self, name: str, *values: Value) -> str:
        phrases = self.model.says.get(name)
        phrase = phrases.get(self.language) or phrases.get("en") if phrases else None
        if phrase is None:
            return ""
        return _say(self.table, self.state, {"": phrase}, list(values), [], [], self.language)


def title_of(ruleset: Rules, language: str) -> str:
    """Return the title of a ruleset, translated if a translation exists."""
    phrase = ruleset.model.says.get(f"title.{ruleset.id}", {}).get(language)
    return "".join(map(str, phrase.parts)) if phrase is not None else ruleset.title


def lines_of(table: Table, state: State, player: int | None, language: str) -> list[Line]:
    """Return the lines of the whole log."""
    return list(lines_since(table, state, 0, player, language))


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
    sealed_choices: list[tuple[Record, Choice]] = []
    for number, record in enumerate(state.log[start:], start):
        match read(record):
            case Choice() as choice:
                hidden = choice.option.ask.sealed and player != choice.actor
                if hidden:
                    sealed_choices.append((record, choice))
                yield record, _choice(table, state, choice, player, language, hidden=hidden)
            case Event() as event:
                yield record, _event(table, state, event, player, language)
            case Mark(word="reveal"):
                for sealed, choice in sealed_choices:
                    yield sealed, _choice(table, state, choice, player, language, revealed=True)
                sealed_choices = []
            case Mark() as mark:
                yield record, _mark(table, state, mark, number, language)


def _choice(
    table: Table,
    state: State,
    choice: Choice,
    player: int | None,
    language: str,
    *,
    hidden: bool = False,
    revealed: bool = False,
) -> Line:
    site, _, actor, values, context, seen = choice
    decision, option = site.ask.name, site.core.name
    key = f"{decision}.{option}"
    types = [t for _, t in table.rules.model.alternatives[key]]
    names = [name for name, _ in table.rules.model.alternatives[key]]
    values_shown = [actor, *context, *values]
    open_ = len(context) if hidden else len(seen)  # a sealed choice shows others its context only
    may = [True, *((may_see(mask, player) and number < open_) or revealed for number, mask in enumerate(seen))]
    public = _public(table, names, values_shown, types, may)
    phrase = table.rules.model.says.get(key)
    if hidden:
        spoken = Spoken(table, state, language)
        text = spoken.word("chooses", actor) or spoken.frame("chooses", who=spoken.text(actor, SEAT))
    else:
        text_of_choice = _say(table, state, phrase, values_shown, types, may, language)
        text = (
            text_of_choice if phrase else _plain_choice(table, state, actor, option, public, names, context, language)
        )
    layer = table.rules.program.reach.procedures[site.procedure]
    cites = table.rules.own_cites(site.core.cites or layer.cites)
    return Line("choice", decision if hidden else key, text, public, actor, layer.spoken, cites, str(site.core.span))


def _plain_choice(
    table: Table,
    state: State,
    actor: int,
    option: str,
    public: dict[str, Json],
    names: list[str],
    context: tuple[Value, ...],
    language: str,
) -> str:
    chosen = names[1 + len(context) :]
    actor_name = Spoken(table, state, language).text(actor, SEAT)
    return " ".join([f"{actor_name}:", option.replace("_", " "), *(f"{name} {public[name]}" for name in chosen)])


def _event(table: Table, state: State, happened: Event, player: int | None, language: str) -> Line:
    span, name, seen, values = happened
    event = table.rules.model.events[name]
    names, types = list(event.fields), list(event.fields.values())
    may = [may_see(mask, player) for mask in seen]
    public = _public(table, names, values, types, may)
    phrase = table.rules.model.says.get(name) or event.says
    text = _say(table, state, phrase, values, types, may, language)
    layer = rule_at(table, span)
    return Line("event", name, text, public, None, layer[0], layer[1], str(span))


def rule_at(table: Table, span: Span) -> tuple[str, tuple[str, ...]]:
    """Return the rule whose text contains a position, and the statements that it cites."""
    layer = table.rules.program.layer_at(span)
    return (layer.spoken, table.rules.own_cites(layer.cites)) if layer is not None else ("", ())


def _mark(table: Table, state: State, mark: Mark, place: int, language: str) -> Line:
    phrase = table.rules.model.says.get(mark.begins)
    text = _say(table, state, phrase, [], [], [], language)
    of = mark.word.partition(" of ")[2]
    rule = table.rules.model.rules.get(of)
    cites = _cites_of_phase(table, state, rule, place) if rule is not None and mark.begins else ()
    values = {"number": mark.number}
    return Line("mark", mark.word, text, values, None, of if rule else "", table.rules.own_cites(cites))


def _cites_of_phase(table: Table, state: State, rule: CheckedRule, record_number: int) -> tuple[str, ...]:
    """Return the statements of the layers that run a phase: those whose `when` held at that record of the log."""
    past: State | None = None
    cites: list[str] = []
    for layer in reversed(rule.layers):
        if layer.guard is not None:
            past = past or _state_at(state, record_number)
            table.machine.meter.refill()
            if not table.machine.expressions.closure(layer.guard)(past, [None] * layer.local_count):
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
    past.forget()
    return past


def _public(table: Table, names: list[str], values: list[Value], types: list[Type], may: list[bool]) -> dict[str, Json]:
    return {
        name: table.rules.names.public(value, type_) if allowed else None
        for name, value, type_, allowed in zip(names, values, types, may, strict=True)
    }


def _say(
    table: Table,
    state: State,
    says: dict[str, Phrase] | None,
    values: list[Value],
    types: list[Type],
    may: list[bool],
    language: str,
    seen: State | None = None,
) -> str:
    """Fill in a template in the language, or in its first language."""
    if not says:
        return ""
    phrase = says.get(language) or next(iter(says.values()))
    env = [*values, *([None] * (phrase.local_count + 8))]
    hidden = {index for index, allowed in enumerate(may) if not allowed}
    visible, spoken = seen or state, Spoken(table, state, language)
    return "".join(
        part if isinstance(part, str) else _part(table, visible, part, env, hidden, spoken) for part in phrase.parts
    )


def _part(table: Table, state: State, part: core.Expression, env: list[Value], hidden: set[int], spoken: Spoken) -> str:
    if hidden and any(isinstance(node, core.Local) and node.index in hidden for node in descendants(part)):
        return HIDDEN
    table.machine.meter.refill()
    return _shown(spoken, table.machine.expressions.closure(part), part.type, state, env)


def board_of(
    table: Table, state: State, board: Board, language: str = "en", player: int | None = None, seen: State | None = None
) -> BoardTable:
    """Render a board now, as a player may see it. The board of the end of the game is open to all.

    ``seen`` is the state as the player sees it, if the caller has it already.
    """
    seen = (seen or seen_by(table, state, player)) if board.when != "end of game" else state
    table.machine.meter.refill()
    spoken = Spoken(table, state, language)
    says = {**board.says, **table.rules.model.says.get(f"boards.{board.name}", {})}
    text = _say(table, state, says, [None] * board.local_count, [], [], language, seen)
    names = tuple(spoken.word(f"boards.{board.name}.{name}") or name for name, _ in board.columns)
    env: list[Value] = [None] * (board.local_count + 8)
    rows = []
    columns = [(compiled(table, state, value, player), value.type) for _, value in board.columns]
    try:
        rows_of = table.machine.expressions.closure
        items = tuple(rows_of(board.rows)(seen, env)) if board.rows is not None else ([None] if columns else [])
    except Unseen:
        return BoardTable(board.name, text, names, ((HIDDEN,) * len(columns),))
    for item in items:
        if board.rows is not None:
            env[board.row_local] = item
        rows.append(tuple(_shown(spoken, value, type_, seen, env) for value, type_ in columns))
    return BoardTable(board.name, text, names, tuple(rows))


def is_shown(table: Table, state: State, board: Board, player: int | None = None, seen: State | None = None) -> bool:
    """Return whether the condition of a board holds now, as far as the player may see what it reads."""
    if board.test is None:
        return True
    seen = (seen or seen_by(table, state, player)) if board.when != "end of game" else state
    table.machine.meter.refill()
    try:
        return bool(compiled(table, state, board.test, player)(seen, [None] * (board.local_count + 8)))
    except Unseen:
        return False


def _shown(spoken: Spoken, value: Evaluate, type_: Type, state: State, env: list[Value]) -> str:
    """Format a value, or return the mark for hidden values if it depends on hidden information."""
    try:
        return spoken.text(value(state, env), type_)
    except Unseen:
        return HIDDEN


def view_of(table: Table, state: State, player: int | None) -> dict[str, Value]:
    """Return the state by public names, with hidden information masked."""
    model, names = table.rules.model, table.rules.names
    layout, cells = table.machine.constants.layout, state.cells
    view: dict[str, Value] = {
        "round": cells[layout.base["round"]],
        "phase": model.phases[p] if 0 <= (p := cells[layout.base["phase"]]) < len(model.phases) else None,
        **pending(table, state, player),
    }
    veiled = veils(table, state, player)
    seats: list[dict[str, Json]] = [{} for _ in table.machine.constants.seats]
    for name, group in model.groups.items():
        if name == "round" or group.owner not in ("", "seat", "place", "card"):
            continue
        first = layout.base[name]
        if group.owner == "":
            view[name] = _group_view(table, state, name, first, veiled.get(first))
        elif group.owner == "seat":
            for seat in table.machine.constants.seats:
                seats[seat][name] = _group_view(table, state, name, first + seat, veiled.get(first + seat))
        elif group.owner == "card":
            view[name] = [
                {"card": names.card(card), "holds": _group_view(table, state, name, first + card, None)}
                for card in range(layout.count(name))
                if any(_as_bag(cells[first + card])) and first + card not in veiled
            ]
        else:
            view["places"] = [
                {**names.public(place, PLACE), **names.public(piece, PieceType())}
                for place in range(layout.count(name))
                if (piece := cells[first + place]) is not None
            ]
    view["seats"] = seats
    return view


def pending(table: Table, state: State, player: int | None) -> dict[str, Json]:
    """Return the pending decision and the procedures that lead to it, as a view shows them."""
    decision = decision_at(table, state)
    decisions = [decision, *others_at(decision)] if decision is not None else []
    return {
        "decision": decision.name if decision else None,
        "actor": decision.actor if decision else None,
        "actors": [choice.actor for choice in decisions],
        "context": _context(table, state, player),
        "procedures": _procedures(table, state, player),
    }


def _context(table: Table, state: State, player: int | None) -> dict[str, Json]:
    """Return the context of a decision, without cards that the player may not see. The log line of the choice shows
    the rest too."""
    decision = decision_at(table, state)
    if decision is None:
        return {}
    env = decision.env
    values = [value(state, env) for _, value in decision.site.context]
    types = [value.type for _, value in decision.site.ask.context]
    names = [name for name, _ in decision.site.context]
    may = [
        may_see(table.machine.constants.visible_in(state, *each), player) for each in zip(values, types, strict=True)
    ]
    return _public(table, names, values, types, may)


def prompt_of(table: Table, state: State, decision: Decision, language: str = "en", player: int | None = None) -> str:
    """Return the prompt of a decision from the ruleset's `asks`, with hidden information masked; empty if it has
    none."""
    phrases = table.rules.model.says.get(f"asks.{decision.name}")
    if not phrases:
        return ""
    env = decision.env
    values = [value(state, env) for _, value in decision.site.context]
    types = [value.type for _, value in decision.site.ask.context]
    may = [
        may_see(table.machine.constants.visible_in(state, *each), player) for each in zip(values, types, strict=True)
    ]
    seen = seen_by(table, state, player)
    return _say(table, state, phrases, [decision.actor, *values], [SEAT, *types], [True, *may], language, seen)


def _procedures(table: Table, state: State, player: int | None) -> list[dict[str, Json]]:
    """Return the active procedures with their locals, masking those that the player may not know."""
    names = table.rules.names
    return [
        {
            "rule": rule,
            "locals": {
                local.name: names.public(local.value, local.type) if local.seen else HIDDEN for local in visible_locals
            },
        }
        for rule, visible_locals in under_way(table, state, player)
    ]


def _as_bag(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _group_view(table: Table, state: State, name: str, cell: int, veil: Veil | None) -> Value:
    """Return the view of a cell. A hidden zone shows its number of cards and its open top."""
    group = table.rules.model.groups[name]
    value = state.cells[cell]
    names = table.rules.names
    if veil is not None and veil.many is None:
        return HIDDEN
    if veil is not None:
        shown: dict[str, Json] = {"count": veil.many}
        if group.top_shows is not None and value:
            tops = [names.public(back, group.top_shows.type) for back in backs_of(table, state, group, value)]
            shown.update({"tops": tops} if isinstance(group.type, PilesType) else {"top": tops[0]})
        return shown
    if isinstance(group.type, ZoneType):
        return [names.card(card) for card in value]
    if isinstance(group.type, TokenHolderType) and isinstance(value, tuple):
        return names.public(value, BagType(group.type.name))
    return names.public(value, group.type)


def measured(table: Table, state: State) -> GraphDecl | None:
    """Return the graph with the length of each link among its values. Before the cards are dealt, links have no
    length."""
    graph = table.rules.model.graph
    if graph is None or graph.dealt is None or graph.length is None:
        return graph
    cards = state.cells[table.machine.constants.layout.base[graph.dealt]]
    if len(cards) < len(graph.links):
        return replace(graph, length=None)
    lengths = dealt_lengths(table.rules.model)(cards)
    links = zip(graph.links, lengths, strict=True)
    return replace(graph, links=[replace(x, values={**x.values, graph.length: n}) for x, n in links])
