"""Views of a game: lines of the log, boards, and the state as a player sees it. All words come from the ruleset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interpreter.base.frozen import dataclass
from interpreter.compiler.constants import Evaluate
from interpreter.compiler.plain.machine import OptionSite
from interpreter.engine.sight import Unseen, Veil, backs_of, compiled, may_see, seen_by, under_way, veils
from interpreter.engine.values import Names
from interpreter.kernel.effects import CHOICE, MARK, NOTE, put_back
from interpreter.kernel.state import State, Value
from interpreter.language import core as c
from interpreter.language.model import Board, CheckedRule, Phrase
from interpreter.language.types import PLACE, SEAT, BagType, PieceType, PilesType, TokenHolderType, Type, ZoneType
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.engine.decision import Decision
    from interpreter.engine.game import Game
    from interpreter.engine.ruleset import Ruleset

__all__ = [
    "BoardTable",
    "Line",
    "Spoken",
    "asked",
    "board_of",
    "is_shown",
    "lines_of",
    "lines_since",
    "numbered_lines",
    "prompt_of",
    "rule_at",
    "title_of",
    "view_of",
]

HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log: what happened, in words and as data, and the rule and statements that it shows.

    ``kind`` is choice, event or mark; ``name`` is ``decision.alternative``, the event's name or the moment.
    """

    kind: str
    name: str
    text: str
    values: dict[str, Any]
    actor: int | None = None
    rule: str = ""
    cites: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A board, filled in: a line of text and a table."""

    name: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Spoken(Names):
    """Values in the words of a game's ruleset, in one language."""

    def __init__(self, game: Game, language: str) -> None:
        self.__dict__.update(game.ruleset.names.__dict__)
        self.game, self.language = game, language

    def word(self, name: str, *values: Value) -> str:
        phrases = self.model.says.get(name)
        phrase = phrases.get(self.language) or phrases.get("en") if phrases else None
        if phrase is None:
            return ""
        return _say(self.game, {"": phrase}, list(values), [], [], self.language)


def title_of(ruleset: Ruleset, language: str) -> str:
    """Return the title of a ruleset, in a language if it has one."""
    phrase = ruleset.model.says.get(f"title.{ruleset.id}", {}).get(language)
    return "".join(map(str, phrase.parts)) if phrase is not None else ruleset.title


def lines_of(game: Game, player: int | None, language: str) -> list[Line]:
    """The lines of the whole log."""
    return list(lines_since(game, 0, player, language))


def lines_since(game: Game, start: int, player: int | None = None, language: str = "en") -> Iterator[Line]:
    """The lines of the log from a record on. A sealed choice is told to others once it is revealed."""
    return (line for _, line in _told(game, start, player, language))


def numbered_lines(
    game: Game, player: int | None = None, language: str = "en", start: int = 0, choices: int = 0
) -> Iterator[tuple[str, Line]]:
    """The lines of the log, each with its number: a choice has the one that it has among all choices, from 1;
    what follows it has that and its own, as in ``12.3``. What the set-up does follows choice 0. They begin with the
    record ``start``, a choice before which there were so many ``choices``."""
    following = 0
    numbers: dict[int, str] = {}
    for record, line in _told(game, start, player, language):
        if id(record) in numbers:  # a sealed choice that is told again
            yield numbers[id(record)], line
        elif record[0] == CHOICE:
            choices, following = choices + 1, 0
            numbers[id(record)] = str(choices)
            yield str(choices), line
        else:
            following += 1
            yield f"{choices}.{following}", line


def _told(game: Game, start: int, player: int | None, language: str) -> Iterator[tuple[tuple[Any, ...], Line]]:
    """Each record of the log that is told, with its line."""
    waiting: list[tuple[Any, ...]] = []
    for place, record in enumerate(game.state.log[start:], start):
        if record[0] == CHOICE:
            hidden = record[1].ask.sealed and player != record[3]
            if hidden:
                waiting.append(record)
            yield record, _choice(game, record, player, language, hidden=hidden)
        elif record[0] == NOTE:
            yield record, _event(game, record, player, language)
        elif record[0] == MARK:
            if record[2] == "reveal":
                yield from ((sealed, _choice(game, sealed, player, language, revealed=True)) for sealed in waiting)
                waiting = []
            else:
                yield record, _mark(game, record, place, language)


def _choice(
    game: Game,
    record: tuple[Any, ...],
    player: int | None,
    language: str,
    *,
    hidden: bool = False,
    revealed: bool = False,
) -> Line:
    _, site, _, actor, values, context, seen = record
    assert isinstance(site, OptionSite)
    decision, option = site.ask.name, site.core.name
    key = f"{decision}.{option}"
    types = [t for _, t in game.ruleset.model.alternatives[key]]
    names = [name for name, _ in game.ruleset.model.alternatives[key]]
    given = [actor, *context, *values]
    open_ = len(context) if hidden else len(seen)  # of a sealed choice others know no more than what it is about
    may = [True, *((may_see(mask, player) and number < open_) or revealed for number, mask in enumerate(seen))]
    public = _public(game, names, given, types, may)
    phrase = game.ruleset.model.says.get(key)
    if hidden:
        spoken = Spoken(game, language)
        text = spoken.word("chooses", actor) or spoken.frame("chooses", who=spoken.text(actor, SEAT))
    else:
        said = _say(game, phrase, given, types, may, language)
        text = said if phrase else _plain_choice(game, actor, option, public, names, context, language)
    layer = game.ruleset.program.reach.procedures[site.procedure]
    cites = game.ruleset.own_cites(site.core.cites or layer.cites)
    return Line("choice", decision if hidden else key, text, public, actor, layer.spoken, cites, str(site.core.span))


def _plain_choice(
    game: Game, actor: int, option: str, public: dict[str, Any], names: list[str], context: Any, language: str
) -> str:
    chosen = names[1 + len(context) :]
    who = Spoken(game, language).text(actor, SEAT)
    return " ".join([f"{who}:", option.replace("_", " "), *(f"{name} {public[name]}" for name in chosen)])


def _event(game: Game, record: tuple[Any, ...], player: int | None, language: str) -> Line:
    _, span, name, seen, *values = record
    event = game.ruleset.model.events[name]
    names, types = list(event.fields), list(event.fields.values())
    may = [may_see(mask, player) for mask in seen]
    public = _public(game, names, values, types, may)
    phrase = game.ruleset.model.says.get(name) or event.says
    text = _say(game, phrase, values, types, may, language)
    layer = rule_at(game, span)
    return Line("event", name, text, public, None, layer[0], layer[1], str(span))


def rule_at(game: Game, span: Any) -> tuple[str, tuple[str, ...]]:
    """The rule in whose text a place lies, and the statements that it follows."""
    layer = game.ruleset.program.layer_at(span)
    return (layer.spoken, game.ruleset.own_cites(layer.cites)) if layer is not None else ("", ())


def _mark(game: Game, record: tuple[Any, ...], place: int, language: str) -> Line:
    word, number = record[2:4]
    edge, _, of = word.partition(" of ")
    phrase = game.ruleset.model.says.get(of) if edge == "start" else None
    text = _say(game, phrase, [], [], [], language)
    rule = game.ruleset.model.rules.get(of)
    cites = _cites_of_phase(game, rule, place) if rule is not None and edge == "start" else ()
    return Line("mark", word, text, {"number": number}, None, of if rule else "", game.ruleset.own_cites(cites))


def _cites_of_phase(game: Game, rule: CheckedRule, place: int) -> tuple[str, ...]:
    """Statements of the layers that carry out a phase: those whose `when` held at that place of the log."""
    state: State | None = None
    cites: list[str] = []
    for layer in reversed(rule.layers):
        if layer.when is not None and layer.layer > 0:
            state = state or _state_at(game, place)
            game.machine.meter.refill()
            if not game.machine.expressions.compile(layer.when)(state, [None] * layer.local_count):
                continue
        cites[:0] = layer.cites
        if not any(isinstance(node, c.CallBase) for node in descendants(layer.body)):
            break
    return tuple(dict.fromkeys(cites))


def _state_at(game: Game, place: int) -> State:
    """A copy of the state as it was after a record of the log."""
    state = game.state.clone()
    for record in reversed(game.state.log[place + 1 :]):
        put_back(state.cells, record)
    state.forget()
    return state


def _public(game: Game, names: list[str], values: list[Value], types: list[Type], may: list[bool]) -> dict[str, Any]:
    return {
        name: game.ruleset.names.public(value, type_) if allowed else None
        for name, value, type_, allowed in zip(names, values, types, may, strict=True)
    }


def _say(
    game: Game,
    says: dict[str, Phrase] | None,
    values: list[Value],
    types: list[Type],
    may: list[bool],
    language: str,
    state: State | None = None,
) -> str:
    """A template filled in, in the language or else the first that there is."""
    if not says:
        return ""
    phrase = says.get(language) or next(iter(says.values()))
    env = [*values, *([None] * (phrase.local_count + 8))]
    hidden = {index for index, allowed in enumerate(may) if not allowed}
    at, spoken = state or game.state, Spoken(game, language)
    return "".join(
        part if isinstance(part, str) else _part(game, part, env, hidden, at, spoken) for part in phrase.parts
    )


def _part(game: Game, part: c.Expression, env: list[Value], hidden: set[int], state: State, spoken: Spoken) -> str:
    if hidden and any(isinstance(node, c.Local) and node.index in hidden for node in descendants(part)):
        return HIDDEN
    game.machine.meter.refill()
    return _shown(spoken, game.machine.expressions.closure(part), part.type, state, env)


def board_of(
    game: Game, board: Board, language: str = "en", player: int | None = None, seen: State | None = None
) -> BoardTable:
    """A board as the state has it now, as the player may see it (``seen``, where that is known already); that of the
    end of the game is open to all."""
    state = (seen or seen_by(game, player)) if board.when != "end of game" else game.state
    game.machine.meter.refill()
    spoken = Spoken(game, language)
    says = {**board.says, **game.ruleset.model.says.get(f"boards.{board.name}", {})}
    text = _say(game, says, [None] * board.local_count, [], [], language, state)
    names = tuple(spoken.word(f"boards.{board.name}.{name}") or name for name, _ in board.columns)
    env: list[Value] = [None] * (board.local_count + 8)
    rows = []
    columns = [(compiled(game, value, player), value.type) for _, value in board.columns]
    try:
        rows_of = game.machine.expressions.closure
        items = tuple(rows_of(board.rows)(state, env)) if board.rows is not None else ([None] if columns else [])
    except Unseen:
        return BoardTable(board.name, text, names, ((HIDDEN,) * len(columns),))
    for item in items:
        if board.rows is not None:
            env[board.row_local] = item
        rows.append(tuple(_shown(spoken, value, type_, state, env) for value, type_ in columns))
    return BoardTable(board.name, text, names, tuple(rows))


def is_shown(game: Game, board: Board, player: int | None = None, seen: State | None = None) -> bool:
    """Return whether a board is shown now: its condition holds, as far as the player may see what it reads
    (``seen``)."""
    if board.test is None:
        return True
    state = (seen or seen_by(game, player)) if board.when != "end of game" else game.state
    game.machine.meter.refill()
    try:
        return bool(compiled(game, board.test, player)(state, [None] * (board.local_count + 8)))
    except Unseen:
        return False


def _shown(spoken: Spoken, value: Evaluate, type_: Type, state: State, env: list[Value]) -> str:
    """A value in words, if all that it is worked out from may be seen."""
    try:
        return spoken.text(value(state, env), type_)
    except Unseen:
        return HIDDEN


def view_of(game: Game, player: int | None) -> dict[str, Any]:
    """The state by public names, without what the player may not see."""
    model, names = game.ruleset.model, game.ruleset.names
    layout, cells = game.machine.constants.layout, game.state.cells
    view: dict[str, Any] = {
        "round": cells[layout.base["round"]],
        "phase": model.phases[p] if 0 <= (p := cells[layout.base["phase"]]) < len(model.phases) else None,
        **asked(game, player),
    }
    veiled = veils(game, player)
    seats: list[dict[str, Any]] = [{} for _ in game.machine.constants.seats]
    for name, group in model.groups.items():
        if name == "round" or group.owner not in ("", "seat", "place", "card"):
            continue
        first = layout.base[name]
        if group.owner == "":
            view[name] = _group_view(game, name, first, veiled.get(first))
        elif group.owner == "seat":
            for seat in game.machine.constants.seats:
                seats[seat][name] = _group_view(game, name, first + seat, veiled.get(first + seat))
        elif group.owner == "card":
            view[name] = [
                {"card": names.card(card), "holds": _group_view(game, name, first + card, None)}
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


def asked(game: Game, player: int | None) -> dict[str, Any]:
    """Return the pending decision and the procedures that lead to it, as a view shows them."""
    decision = game.decision
    return {
        "decision": decision.name if decision else None,
        "actor": decision.actor if decision else None,
        "actors": [each.actor for each in game.decisions],
        "context": _context(game, player),
        "procedures": _procedures(game, player),
    }


def _context(game: Game, player: int | None) -> dict[str, Any]:
    """Return the context of a decision, without cards that the player may not see. What is left is told with the
    choice, too."""
    decision = game.decision
    if decision is None:
        return {}
    state, env = game.state, decision.env
    values = [value(state, env) for _, value in decision.site.context]
    types = [value.type for _, value in decision.site.ask.context]
    names = [name for name, _ in decision.site.context]
    may = [may_see(game.machine.visible_in(state, *each), player) for each in zip(values, types, strict=True)]
    return _public(game, names, values, types, may)


def prompt_of(game: Game, decision: Decision, language: str = "en", player: int | None = None) -> str:
    """What a decision asks, in the words of the ruleset's `asks`; nothing where it has none. What a player may not
    know of it is hidden."""
    phrases = game.ruleset.model.says.get(f"asks.{decision.name}")
    if not phrases:
        return ""
    state, env = game.state, decision.env
    values = [value(state, env) for _, value in decision.site.context]
    types = [value.type for _, value in decision.site.ask.context]
    may = [may_see(game.machine.visible_in(state, *each), player) for each in zip(values, types, strict=True)]
    return _say(game, phrases, [decision.actor, *values], [SEAT, *types], [True, *may], language)


def _procedures(game: Game, player: int | None) -> list[dict[str, Any]]:
    """The procedures under way with their locals, as far as the player may know them."""
    names = game.ruleset.names
    return [
        {
            "rule": rule,
            "locals": {each.name: names.public(each.value, each.type) if each.seen else HIDDEN for each in held},
        }
        for rule, held in under_way(game, player)
    ]


def _as_bag(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _group_view(game: Game, name: str, cell: int, veil: Veil | None) -> Any:
    """Return the view of a cell; a hidden zone shows its number of cards, and its open top."""
    group = game.ruleset.model.groups[name]
    value = game.state.cells[cell]
    names = game.ruleset.names
    if veil is not None and veil.many is None:
        return HIDDEN
    if veil is not None:
        shown: dict[str, Any] = {"count": veil.many}
        if group.top_shows is not None and value:
            tops = [names.public(back, group.top_shows.type) for back in backs_of(game, group, value)]
            shown.update({"tops": tops} if isinstance(group.type, PilesType) else {"top": tops[0]})
        return shown
    if isinstance(group.type, ZoneType):
        return [names.card(card) for card in value]
    if isinstance(group.type, TokenHolderType) and isinstance(value, tuple):
        return names.public(value, BagType(group.type.name))
    return names.public(value, group.type)
