"""Set-up: turns a lowered ruleset, a number of players and settings into a machine and an initial state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.compiler.wasm.compiled_machine import CompiledMachine
from interpreter.engine.lengths import walkable
from interpreter.engine.values import Names
from interpreter.kernel.effects import Effects, ZoneShape
from interpreter.kernel.invariants import Census, Holdings
from interpreter.kernel.state import Layout, State, Value
from interpreter.kernel.tracks import Track
from interpreter.language.directed_links import ways_of
from interpreter.language.model import Group, Model
from interpreter.language.types import (
    OWNERS,
    CardHolderType,
    CardType,
    HolderType,
    PilesType,
    PoolType,
    StockType,
    TokenHolderType,
    TrackType,
    ZoneType,
)
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program
from interpreter.lowering.watches import wakes, watches
from interpreter.plain.machine import Machine

__all__ = ["Setup", "default_settings", "role_seats", "roles_of", "set_up"]

MAXIMUM_SEATS = 20
MAXIMUM_SPACES = 500
"""Maximum capacity of a track for one kind of token."""


class Setup(Struct, frozen=True):
    """A machine, the initial state of its games, and the census of everything in that state."""

    machine: CompiledMachine
    first: State
    census: Census


def default_settings(model: Model) -> dict[str, Value]:
    """Return the default values of all settings and interpretations."""
    values: dict[str, Value] = {name: setting.default for name, setting in model.settings.items()}
    for name, doubt in model.interpretations.items():
        values[name] = list(doubt.readings).index(doubt.default)
    return values


def set_up(program: Program, people: int, settings: dict[str, Value]) -> Setup:
    """Set up the program for a number of players. Raises :class:`RulesetError` if the declarations do not add up."""
    model = program.model
    if model.graph is not None and model.graph.measure is not None:  # amended tables change lengths
        model = replace(model, graph=replace(model.graph, tables=model.tables))
    roles = roles_of(model, people, settings)
    counting = sum(model.roles[role].counts for role in roles)
    layout = _layout(program, len(roles))
    statics = _statics(model, roles)
    units = frozenset(cell for cell, group in _cells(model, layout) if _is_unit(model, group))
    tracks = _tracks(model, layout, counting)
    zones: dict[int, ZoneShape] = {}
    seats = tuple(range(len(roles)))
    watched = watches(model, seats)
    effects = Effects(
        layout,
        zones,
        units,
        tracks,
        frozenset(cell for cell, group in _cells(model, layout) if group.unlimited),
        wakes(program, layout, watched),
        {
            cell: model.pieces.index(group.type.name)
            for cell, group in _cells(model, layout)
            if isinstance(group.type, StockType)
        },
        lambda cell: _cell_name(model, layout, roles, cell),
    )
    graph = model.graph
    walked, lengths = walkable(graph) if graph else (None, ())
    constants = Constants(
        model=model,
        seats=seats,
        watches=watched,
        counting=counting,
        settings=settings,
        layout=layout,
        effects=effects,
        statics=statics,
        graph=walked,
        lengths=lengths if graph and (graph.length or graph.measure) and not graph.dealt else (),
        tracks=tracks,
        card_kind=tuple(row.kind for row in model.cards),
        pieces=model.pieces,
        chance_names={name: index for index, name in enumerate(program.chances)},
        role_seats=role_seats(roles),
        seen_by=_seen_by(model, layout, roles),
    )
    machine = CompiledMachine(program.own_copy(), constants)  # bots add code for their policies
    for cell, group in _cells(model, layout):
        if isinstance(group.type, CardHolderType):
            zones[cell] = ZoneShape(group.name, group.order, _rank(machine, group), isinstance(group.type, PilesType))
    first = machine.first = _first_state(machine, layout, model)
    return Setup(machine, first, _census(model, effects, first))


def _census(model: Model, effects: Effects, first: State) -> Census:
    """Count everything in the initial state; for tokens, take the declared totals."""
    cells = _cells(model, effects.layout)

    def holders(name: str, form: type[HolderType]) -> tuple[int, ...]:
        return tuple(cell for cell, group in cells if isinstance(group.type, form) and group.type.name == name)

    tokens = [
        Holdings(name, kind.totals, cells_of_kind)
        for name, kind in model.kinds.items()
        if kind.totals is not None and (cells_of_kind := holders(name, TokenHolderType))
    ]
    stocks = []
    for piece in model.pieces:
        cells_of_kind = holders(piece, StockType)
        stocks.append(Holdings(piece, tuple(first.cells[cell] for cell in cells_of_kind), cells_of_kind))
    zones = tuple(cell for cell, group in cells if isinstance(group.type, CardHolderType))
    piled = frozenset(cell for cell, group in cells if isinstance(group.type, PilesType))
    return Census(
        effects.layout, tuple(tokens), effects.unlimited, effects.tracks, zones, piled, tuple(stocks), effects.names
    )


def roles_of(model: Model, people: int, settings: dict[str, Value]) -> list[str]:
    """Return the role of each seat: first the players, then the seats of other roles. Raises ``ValueError`` if a
    role has too many seats."""
    roles = list(model.roles)
    seats = roles[:1] * people
    for role in model.roles.values():
        number = len(settings[role.setting]) if role.setting is not None else role.seats
        if number > MAXIMUM_SEATS:
            raise ValueError(f"`{role.setting}`: got {number} seats, want at most {MAXIMUM_SEATS}")
        seats.extend([role.name] * number)
    return seats


def role_seats(roles: Sequence[str]) -> dict[str, int]:
    """Return the first seat of each role, given the roles of all seats."""
    return {role: roles.index(role) for role in dict.fromkeys(roles)}


def _layout(program: Program, seats: int) -> Layout:
    model = program.model
    graph = model.graph
    owners = {
        "": 1,
        "seat": seats,
        "card": len(model.cards),
        "place": len(graph.places) if graph else 0,
        "node": len(graph.nodes) if graph else 0,
        "link": len(graph.links) if graph else 0,
    }
    groups = [(name, owners[group.owner]) for name, group in model.groups.items()]
    groups.extend((word, 1) for word in ("phase", "turn", "pending", "settling", "kept", "over"))
    groups.append(("location", len(model.cards)))
    groups.append(("chance", max(1, len(program.chances))))
    return Layout(tuple(groups))


def _cells(model: Model, layout: Layout) -> list[tuple[int, Group]]:
    cells: list[tuple[int, Group]] = []
    for name, count in layout.groups:
        group = model.groups.get(name)
        if group is not None:
            cells.extend((layout.base[name] + i, group) for i in range(count))
    return cells


def _cell_name(model: Model, layout: Layout, roles: list[str], cell: int) -> str:
    """Describe a cell: its group and, as in a log, its owner."""
    name, owner = layout.owner_of(cell)
    of = group.owner if (group := model.groups.get(name)) is not None else ""
    whose = Names(model, role_seats(roles)).text(owner, OWNERS[of]) if of else f"number {owner + 1}"
    return f"`{name}`" if layout.count(name) == 1 else f"`{name}` of {whose}"


def _is_unit(model: Model, group: Group) -> bool:
    match group.type:
        case PoolType(name=name) | TrackType(name=name):
            return model.is_unit(name)
        case _:
            return isinstance(group.type, StockType)


def _statics(model: Model, roles: list[str]) -> dict[str, Sequence[Value]]:
    statics: dict[str, Sequence[Value]] = {
        "seat.counts": tuple(model.roles[role].counts for role in roles),
        "seat.role": tuple(list(model.roles).index(role) for role in roles),
        "seat.number": tuple(range(len(roles))),
        "piece.owner": tuple(n // max(1, len(model.pieces)) for n in range(len(roles) * len(model.pieces))),
    }
    for kind in model.card_kinds.values():
        for attribute in kind.attributes:
            statics[f"{kind.name}.{attribute}"] = tuple(
                row.values.get(attribute) if row.kind == kind.name else None for row in model.cards
            )
    graph = model.graph
    if graph is None:
        return statics
    for attribute in graph.attributes:
        statics[f"node.{attribute}"] = tuple(row.values.get(attribute) for row in graph.nodes)
    for attribute in graph.link:
        statics[f"link.{attribute}"] = 2 * tuple(link.values.get(attribute) for link in graph.links)
    for attribute in graph.place:
        statics[f"place.{attribute}"] = tuple(place.values.get(attribute) for place in graph.places)
    statics[f"place.{graph.node}"] = tuple(place.node for place in graph.places)
    statics["place.number"] = tuple(place.number for place in graph.places)
    ahead, back = tuple(link.a for link in graph.links), tuple(link.b for link in graph.links)
    statics["link.from"], statics["link.to"] = ahead + back, back + ahead
    leaving: list[list[int]] = [[] for _ in graph.nodes]
    for way in ways_of(graph):
        leaving[way.start].append(way.value)
    statics["node.links"] = tuple(map(tuple, leaving))
    places: list[list[int]] = [[] for _ in graph.nodes]
    for number, place in enumerate(graph.places):
        places[place.node].append(number)
    statics["node.places"] = tuple(map(tuple, places))
    return statics


def _tracks(model: Model, layout: Layout, players: int) -> dict[int, Track]:
    tracks: dict[int, Track] = {}
    for cell, group in _cells(model, layout):
        if isinstance(group.type, TrackType) and group.spaces is not None:
            tracks[cell] = Track(_spaces(model, group, group.type.name, players))
    return tracks


def _spaces(model: Model, group: Group, token: str, players: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the (price, capacity) spaces of each kind of token, from a table with keys (players,) kind and price."""
    assert group.spaces is not None
    table = model.tables[group.spaces]
    kind = model.kinds[token]
    spaces = []
    for member in range(len(kind.members)):
        row = []
        for key, capacity in table.cells.items():
            keys = dict(zip(table.keys, key, strict=True))
            if keys.get("players", players) == players and keys.get(token, member) == member and capacity:
                row.append((key[-1], min(max(0, capacity), MAXIMUM_SPACES + 1)))
        if sum(capacity for _, capacity in row) > MAXIMUM_SPACES:
            raise _unfit("E311", f"`{group.name}` has more than {MAXIMUM_SPACES:,} spaces of a kind", group)
        spaces.append(tuple(sorted(row)))
    return tuple(spaces)


def _seen_by(model: Model, layout: Layout, roles: list[str]) -> dict[int, tuple[int, ...]]:
    seen: dict[int, tuple[int, ...]] = {}
    for cell, group in _cells(model, layout):
        if group.seen == "no one":
            seen[cell] = ()
        elif group.seen == "owner":
            owner = layout.owner_of(cell)[1]
            if group.owner != "seat" or not model.roles[roles[owner]].open:
                seen[cell] = (owner,) if group.owner == "seat" else ()
    return seen


def _rank(machine: Machine, group: Group) -> Callable[[State, int], int] | None:
    if group.rank is None:
        return None
    rank = machine.expressions.compile(group.rank)
    return lambda state, card: rank(state, [card])


def _first_state(machine: Machine, layout: Layout, model: Model) -> State:
    state = State([None] * layout.size)
    base, cells = layout.base, state.cells
    for word, value in (("round", 0), ("phase", -1), ("turn", -1), ("settling", 0), ("kept", ()), ("over", False)):
        cells[base[word]] = value
    cells[base["pending"]] = (1 << len(machine.constants.watches)) - 1
    for i in range(layout.count("chance")):
        cells[base["chance"] + i] = 0
    for cell, group in _cells(model, layout):
        if isinstance(group.type, CardHolderType):
            cells[cell] = ()
        elif isinstance(group.type, TokenHolderType | StockType):
            cells[cell] = 0 if _is_unit(model, group) else (0,) * len(model.kinds[group.type.name].members)
    resets: dict[str, list[tuple[int, Value]]] = {}
    for cell, group in _cells(model, layout):
        if group.start is not None:
            env = [
                cell - base[group.name],
                *[None] * group.start_locals,
            ]  # the first local is the seat, if any
            start = machine.expressions.compile(group.start)(state, env)
            cells[cell] = tuple(start) if isinstance(start, range) else start
            held = start if type(start) is tuple else (start,)
            if isinstance(group.type, TokenHolderType | StockType) and min(held) < 0:
                raise _unfit("E311", f"`{group.name}` starts with less than nothing", group)
        if group.lasts != "game":
            resets.setdefault(group.lasts, []).append((cell, cells[cell]))
    machine.resets.update(resets)
    _rest(model, layout, state, machine.constants.tracks)
    _lay_cards(model, layout, state)
    return state


def _rest(model: Model, layout: Layout, state: State, tracks: dict[int, Track]) -> None:
    """Fill the holders that start with the rest: they get all tokens that no other holder has."""
    for name, kind in model.kinds.items():
        if kind.totals is None:
            continue
        holders = [
            (cell, g)
            for cell, g in _cells(model, layout)
            if isinstance(g.type, TokenHolderType) and g.type.name == name
        ]
        remaining = list(kind.totals)
        for cell, group in holders:
            held = state.cells[cell] if isinstance(state.cells[cell], tuple) else (state.cells[cell],)
            if cell in tracks and any(a > b for a, b in zip(held, tracks[cell].capacities(), strict=True)):
                raise _unfit("E311", f"`{group.name}` starts with more than its spaces take", group)
            remaining = [a - b for a, b in zip(remaining, held, strict=True)]
        for cell, group in holders:
            if group.starts == "rest":
                if others := [g for other, g in holders if g.starts == "rest" and other != cell]:
                    message = f"`{others[0].name}` and `{group.name}` both start with the rest of the {name}"
                    raise _unfit("E311", message, group)
                if min(remaining) < 0 and not group.unlimited:
                    raise _unfit("E311", f"more {name} is laid out than the {sum(kind.totals)} available", group)
                state.cells[cell] = remaining[0] if kind.unit else tuple(remaining)
                remaining = [0] * len(remaining)
        if any(remaining) and holders:
            rest = f"{sum(remaining)} {name} have no place: let a pool start with the rest"
            raise _unfit("E311", rest, holders[0][1])


def _lay_cards(model: Model, layout: Layout, state: State) -> None:
    for cell, group in _cells(model, layout):
        if group.starts == "all" and isinstance(group.type, CardHolderType):
            cards = tuple(model.values(CardType(group.type.name)))
            state.cells[cell] = cards if isinstance(group.type, ZoneType) else tuple((card,) for card in cards)
            for card in cards:
                if state.cells[layout.base["location"] + card] is not None:
                    raise _unfit("E311", f"cards that start in `{group.name}` also start elsewhere", group)
                state.cells[layout.base["location"] + card] = cell
    lost = [i for i in range(len(model.cards)) if state.cells[layout.base["location"] + i] is None]
    if lost:
        kind = model.card_kinds[model.cards[lost[0]].kind]
        message = f"cards of the kind `{kind.name}` have no place: let a zone start with all"
        raise RulesetError([Diagnostic("E311", message, kind.span)])


def _unfit(code: str, message: str, group: Group) -> RulesetError:
    return RulesetError([Diagnostic(code, message, group.span)])
