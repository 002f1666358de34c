"""Set-up: turns a lowered ruleset, a number of players and settings into a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.base.plurals import counted, joined
from interpreter.compiler.wasm.runner import Runner
from interpreter.engine.values import Names
from interpreter.hidden.sight import Sight
from interpreter.kernel.effects import Effects, ZoneShape
from interpreter.kernel.graphs import Graph
from interpreter.kernel.invariants import Census, Holdings
from interpreter.kernel.state import Layout, State, Value, as_bag
from interpreter.kernel.tracks import Track
from interpreter.language import core, types
from interpreter.language.directed_links import ways_of
from interpreter.language.model import CardKind, GraphDecl, Group, Kind, Model
from interpreter.language.text_facts import facts_of
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program
from interpreter.lowering.watches import wakes, watches
from interpreter.plain.closures import Evaluate
from interpreter.plain.machine import Machine

if TYPE_CHECKING:
    from interpreter.hidden.secrecy import Secrecy

__all__ = ["Table", "default_settings", "role_seats", "roles_of", "set_up", "walkable"]

MAXIMUM_SPACES = 500
"""Maximum capacity of a track for one kind of token."""


@dataclass(frozen=True)
class Table:
    """A program with players and settings: a machine and a runner, the initial state of its games, and the census of
    everything in that state."""

    program: Program
    machine: Machine
    """The reference machine."""
    runner: Runner
    first: State
    census: Census
    sight: Sight = field(repr=False)
    seats: int
    cites: Callable[[tuple[str, ...]], tuple[str, ...]] = field(repr=False)
    """Leaves those of some statements that belong to the ruleset."""
    options: dict[int, Value] = field(default_factory=dict, repr=False, compare=False)
    """Cache of options by stretch: :class:`~interpreter.engine.decision.Named`."""
    seat_names: tuple[str, ...] = ()
    """Names of the persons in the seats, for texts. An empty name leaves the seat its word of the ruleset."""

    @property
    def model(self) -> Model:
        return self.program.model

    @cached_property
    def called(self) -> bytes:
        """Hashes of how decisions are called, with the values shown with them, the choices and all their values, by
        stretch, 8 bytes each. Where they are equal, equal codes are called alike: never lists, records and texts."""
        asks, seats = self.program.asks, len(self.machine.constants.seats)

        def words(type_: types.Type) -> object:
            of: types.Type = types.KindType(type_.name) if isinstance(type_, types.BagType) else type_
            values = [(each, self.names.public(each, of)) for each in self.model.values(of, seats)]
            return str(type_), values or isinstance(type_, types.IntType) or id(self)

        def hashed(ask: core.Ask) -> bytes:
            shown = [(name, words(value.type)) for name, value in ask.context]
            options = [(each.name, [(of.name, words(of.type)) for of in each.choices]) for each in ask.options]
            return blake2b(repr((ask.name, shown, options)).encode(), digest_size=8).digest()

        return b"".join(hashed(asks[n][1].ask) if n in asks else bytes(8) for n in range(len(self.program.stretches)))

    @cached_property
    def names(self) -> Names:
        """Names of all values, with the seats of roles."""
        return Names(self.model, self.machine.constants.role_seats)

    def with_blocks(self, program: Program, secrecy: Callable[[], Secrecy]) -> Table:
        """Return this table with a program that has further blocks, which draw nothing by new names. What both programs
        have is compiled once."""
        known = self.machine
        machine = Machine(program.own_copy(), known.constants, known.resets, known.functions)
        runner, sight = Runner(machine, self.first), Sight(machine, secrecy)
        return dataclasses.replace(self, program=program, machine=machine, runner=runner, sight=sight, options={})


def default_settings(model: Model) -> dict[str, Value]:
    """Return the default values of all settings and interpretations."""
    values: dict[str, Value] = {name: setting.default for name, setting in model.settings.items()}
    for name, doubt in model.interpretations.items():
        values[name] = list(doubt.readings).index(doubt.default)
    return values


def set_up(
    program: Program,
    people: int,
    settings: dict[str, Value],
    secrecy: Callable[[], Secrecy] | None = None,
    cites: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple,
) -> Table:
    """Set up the program for a number of players. ``secrecy`` finds that of the program.

    Raises :class:`RulesetError` if the declarations do not add up.
    """
    model = program.model
    if model.graph is not None and model.graph.measure is not None:  # amended tables change lengths
        model = replace(model, graph=replace(model.graph, tables=model.tables))
    roles = roles_of(model, people, settings)
    counting = sum(model.roles[role].counts for role in roles)
    cells = _Cells(program, model, roles)
    tracks = {
        cell: Track(_spaces(model, group, group.type.name, counting))
        for cell, group in cells.groups
        if isinstance(group.type, types.TrackType) and group.spaces is not None
    }
    zones: dict[int, ZoneShape] = {}
    seats = tuple(range(len(roles)))
    watched = watches(model, seats)
    effects = Effects(
        cells.layout,
        zones,
        frozenset(cell for cell, group in cells.groups if _is_unit(model, group)),
        tracks,
        frozenset(cell for cell, group in cells.groups if group.unlimited),
        wakes(program, cells.layout, watched),
        {
            cell: (cell - cells.layout.base[group.name]) * len(model.pieces) + model.pieces.index(group.type.name)
            for cell, group in cells.groups
            if isinstance(group.type, types.StockType)
        },
        cells.name,
    )
    graph = model.graph
    walked, lengths = walkable(graph) if graph else (Graph(0, ()), ())
    constants = Constants(
        model=model,
        seats=seats,
        watches=watched,
        counting=counting,
        settings=settings,
        layout=cells.layout,
        effects=effects,
        statics=_statics(model, roles),
        graph=walked,
        lengths=lengths if graph and (graph.length or graph.measure) and not graph.dealt else (),
        card_kind=tuple(row.kind for row in model.cards),
        chance_names={name: index for index, name in enumerate(program.chances)},
        role_seats=role_seats(roles),
        seen_by={},
        carriers={
            cell: cell - cells.layout.base[group.name]
            for cell, group in cells.groups
            if isinstance(group.owner, types.CardType) and isinstance(group.type, types.CardHolderType)
        },
    )
    machine = Machine(program.own_copy(), constants)  # bots add code for their policies
    for cell, group in cells.groups:
        if isinstance(group.type, types.CardHolderType):
            piled = isinstance(group.type, types.PilesType)
            zones[cell] = ZoneShape(group.name, group.order, _rank(machine, group), piled, group.most)
    constants.seen_by.update(cells.seen_by(machine))
    first = _first_state(machine, cells)
    sight = Sight(machine, secrecy)
    return Table(program, machine, Runner(machine, first), first, _census(cells, effects, first), sight, people, cites)


def _census(cells: _Cells, effects: Effects, first: State) -> Census:
    """Count everything in the initial state; for tokens, take the declared totals."""

    def holders(name: str, form: type[types.HolderType]) -> tuple[int, ...]:
        return tuple(cell for cell, group in cells.groups if isinstance(group.type, form) and group.type.name == name)

    tokens = [
        Holdings(name, totals, cells_of_kind)
        for name, totals in cells.totals.items()
        if (cells_of_kind := holders(name, types.TokenHolderType))
    ]
    stocks = {piece: holders(piece, types.StockType) for piece in cells.model.pieces}
    pieces = (Holdings(piece, tuple(first.cells[cell] for cell in own), own) for piece, own in stocks.items())
    return Census(effects, tuple(tokens), tuple(pieces))


def walkable(graph: GraphDecl) -> tuple[Graph, tuple[int, ...]]:
    """Return a graph for path searches and its lengths, one for each link or, if they are computed, direction."""
    ways = ways_of(graph)
    if graph.measure is not None:
        links = tuple((way.start, way.end, number) for number, way in enumerate(ways))
        return Graph(len(graph.nodes), links, one_way=True), tuple(way.length for way in ways)
    links = tuple((link.a, link.b, number) for number, link in enumerate(graph.links))
    return Graph(len(graph.nodes), links), tuple(way.length for way in ways[::2])


def roles_of(model: Model, people: int, settings: dict[str, Value]) -> list[str]:
    """Return the role of each seat: first the players, then the seats of other roles. Raises ``ValueError`` if a
    role has too many seats."""
    roles = list(model.roles)
    seats = roles[:1] * people
    for role in model.roles.values():
        number = len(settings[role.setting]) if role.setting is not None else role.seats
        if number > role.most:
            raise ValueError(f"`{role.setting}`: got {number} seats, want at most {role.most}")
        seats.extend([role.name] * number)
    return seats


def role_seats(roles: Sequence[str]) -> dict[str, int]:
    """Return the first seat of each role, given the roles of all seats."""
    return {role: roles.index(role) for role in dict.fromkeys(roles)}


class _Cells:
    """The cells of a state: their layout, and their groups with the roles of the seats that own them."""

    def __init__(self, program: Program, model: Model, roles: list[str]) -> None:
        self.model, self.roles, self.totals = model, roles, dict[str, tuple[int, ...]]()
        """The numbers of all tokens in the first state."""
        counts = {name: self._owners(group) for name, group in model.groups.items()}
        counts |= dict.fromkeys(("phase", "turn", "pending", "settling", "kept", "over"), 1)
        counts |= {"location": len(model.cards), "chance": max(1, len(program.chances))}
        self.layout = Layout(tuple(counts.items()))
        self.groups = [(cell, group) for name, group in model.groups.items() for cell in self.layout.cells(name)]

    def _owners(self, group: Group) -> int:
        """Return the number of things that have a cell of a group."""
        if group.owner is None:
            return 1
        things = self.model.values(group.owner, len(self.roles))
        return len(self.model.cards) if things and isinstance(group.owner, types.CardType) else len(things)

    def is_used(self, cell: int, group: Group) -> bool:
        """Return whether a cell is not one of a card of another kind."""
        if not isinstance(of := group.owner, types.CardType):
            return True
        return self.model.cards[cell - self.layout.base[group.name]].kind == of.name

    def name(self, cell: int) -> str:
        """Describe a cell: its group and, as in a log, its owner."""
        name, owner = self.layout.owner_of(cell)
        of = group.owner if (group := self.model.groups.get(name)) is not None else None
        names = Names(self.model, role_seats(self.roles))
        whose = names.text(owner, of) if of is not None else f"number {owner + 1}"
        return f"`{name}`" if len(self.layout.cells(name)) == 1 else f"`{name.rpartition('.')[2]}` of {whose}"

    def seen_by(self, machine: Machine) -> dict[int, tuple[int, ...] | Callable[[State], tuple[int, ...]]]:
        """Return the seats that see a cell, always or in a state, for each cell that not everyone sees."""
        seen: dict[int, tuple[int, ...] | Callable[[State], tuple[int, ...]]] = {}
        for cell, group in self.groups:
            owner = self.layout.owner_of(cell)[1]
            is_open = group.owner == types.SEAT and self.model.roles[self.roles[owner]].open and group.seen != "no one"
            if group.seen == "everyone" or is_open:
                continue
            if group.sees is not None:
                seen[cell] = partial(_seeing, machine.expressions.compile(group.sees), machine.constants.seats, owner)
            else:
                seen[cell] = (owner,) if group.seen == "owner" and group.owner == types.SEAT else ()
        return seen


def _seeing(sees: Evaluate, seats: tuple[int, ...], owner: int, state: State) -> tuple[int, ...]:
    """Return the seats for which a rule over the seat that looks and the owner holds in a state."""
    return tuple([seat for seat in seats if sees(state, [seat, owner])])


def _is_unit(model: Model, group: Group) -> bool:
    match group.type:
        case types.PoolType(name=name) | types.TrackType(name=name):
            return model.is_unit(name)
        case _:
            return isinstance(group.type, types.StockType)


def _statics(model: Model, roles: list[str]) -> dict[str, Sequence[Value]]:
    statics: dict[str, Sequence[Value]] = {
        "seat.counts": tuple(model.roles[role].counts for role in roles),
        "seat.role": tuple(list(model.roles).index(role) for role in roles),
        "seat.number": tuple(range(len(roles))),
        "piece.owner": tuple(n // max(1, len(model.pieces)) for n in range(len(roles) * len(model.pieces))),
    }
    for kind in model.card_kinds.values():
        for column in kind.columns:
            values = [row.values if row.kind == kind.name else {} for row in model.cards]
            statics[f"{kind.name}.{column}"] = tuple(row.get(column) for row in values)
            if column not in kind.attributes:
                statics[f"{kind.name}.{column}?"] = tuple(column in row for row in values)
    graph = model.graph
    if graph is None:
        return statics
    for of, attributes, rows in (
        ("node", graph.attributes, [row.values for row in graph.nodes]),
        ("link", graph.link, [x.values for x in graph.links] + [{**x.values, **x.back} for x in graph.links]),
        ("place", graph.place, [row.values for row in graph.places]),
    ):
        statics |= {f"{of}.{name}": tuple(row.get(name) for row in rows) for name in attributes}
    statics[f"place.{graph.node}"] = tuple(place.node for place in graph.places)
    statics["place.number"] = tuple(place.number for place in graph.places)
    ahead, back = tuple(link.a for link in graph.links), tuple(link.b for link in graph.links)
    statics["link.from"], statics["link.to"] = ahead + back, back + ahead
    ends = [(way.start, way.value) for way in ways_of(graph)]
    for name, pairs in (("links", ends), ("places", [(row.node, n) for n, row in enumerate(graph.places)])):
        at_node: list[list[int]] = [[] for _ in graph.nodes]
        for node, number in pairs:
            at_node[node].append(number)
        statics[f"node.{name}"] = tuple(map(tuple, at_node))
    return statics


def _spaces(model: Model, group: Group, token: str, players: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the (price, capacity) spaces of each kind of token, from a table with keys (players,) kind and price."""
    assert group.spaces is not None
    table = model.tables[group.spaces]
    cells = [(dict(zip(table.keys, key, strict=True)), key[-1], capacity) for key, capacity in table.cells.items()]
    spaces = []
    for member in range(len(model.kinds[token].members)):
        row = [
            (price, min(max(0, capacity), MAXIMUM_SPACES + 1))
            for keys, price, capacity in cells
            if keys.get("players", players) == players and keys.get(token, member) == member and capacity
        ]
        if sum(capacity for _, capacity in row) > MAXIMUM_SPACES:
            raise _unfit(f"`{group.name}` has more than {MAXIMUM_SPACES:,} spaces of a kind", group)
        spaces.append(tuple(sorted(row)))
    return tuple(spaces)


def _rank(machine: Machine, group: Group) -> Callable[[State, int], int] | None:
    if group.rank is None:
        return None
    rank = machine.expressions.compile(group.rank)
    return lambda state, card: rank(state, [card])


def _first_state(machine: Machine, known: _Cells) -> State:
    model, layout = known.model, known.layout
    state = State([None] * layout.size)
    base, cells = layout.base, state.cells
    for word, value in (("round", 0), ("phase", -1), ("turn", -1), ("settling", 0), ("kept", ()), ("over", False)):
        cells[base[word]] = value
    cells[base["pending"]] = (1 << len(machine.constants.watches)) - 1
    for cell in layout.cells("chance"):
        cells[cell] = 0
    for cell, group in known.groups:
        if isinstance(group.type, types.CardHolderType):
            cells[cell] = ()
        elif isinstance(group.type, types.TokenHolderType | types.StockType):
            cells[cell] = 0 if _is_unit(model, group) else (0,) * len(model.kinds[group.type.name].members)
    for cell, group in known.groups:
        if not known.is_used(cell, group):
            continue
        if group.start is not None:
            env = [cell - base[group.name], *[None] * group.start_locals]  # the first local is the owner, if any
            start = machine.expressions.compile(group.start)(state, env)
            cells[cell] = tuple(start) if isinstance(start, range) else start
            if isinstance(group.type, types.TokenHolderType | types.StockType) and min(as_bag(cells[cell])) < 0:
                raise _unfit(f"`{group.name}` starts with less than nothing", group)
        if group.lasts != "game":
            machine.resets.setdefault(group.lasts, []).append((cell, cells[cell]))
    for cell, group in known.groups:  # a module has no room for values that are not there
        if group.owner is not None and not isinstance(group.type, types.HolderType) and not known.is_used(cell, group):
            cells[cell] = cells[base[group.name] + model.values(group.owner)[0]]
    _rest(known, state, machine.constants.effects.tracks)
    _lay_cards(known, state)
    for cell, group in known.groups:
        if group.most is not None and len(cells[cell] or ()) > group.most:
            raise _unfit(f"`{group.name}` starts with {len(cells[cell]):,} of at most {group.most:,}", group)
    return state


def _rest(known: _Cells, state: State, tracks: dict[int, Track]) -> None:
    """Fill the holders that start with the rest: they get all tokens that no other holder has."""
    for name, kind in known.model.kinds.items():
        holders = [
            (cell, g) for cell, g in known.groups if isinstance(g.type, types.TokenHolderType) and g.type.name == name
        ]
        if kind.totals is None or not holders:
            continue
        held = [as_bag(state.cells[cell]) for cell, _ in holders]
        for (cell, group), bag in zip(holders, held, strict=True):
            rooms = tracks[cell].capacities() if cell in tracks else bag
            if over := [n for n, (got, room) in enumerate(zip(bag, rooms, strict=True)) if got > room]:
                parts = ", ".join(f"{bag[n]} {kind.members[n]} on {counted(rooms[n], 'space')}" for n in over)
                message = f"`{group.name}` starts with more than its spaces take: {parts}"
                spaces = known.model.tables[group.spaces or ""]
                amended = (place for place in spaces.places.values() if place.file is not spaces.span.file)
                notes = Note("its spaces", next(amended, spaces.span)), *_sources(known, [group], kind, over)
                raise _unfit(message, group, *notes)
        laid_out = [sum(bags) for bags in zip(*held, strict=True)]
        totals = [n if total is None else total for n, total in zip(laid_out, kind.totals, strict=True)]
        known.totals[name] = tuple(totals)
        remaining = [total - n for total, n in zip(totals, laid_out, strict=True)]
        for cell, group in holders:
            if group.starts == "rest":
                if others := [g for other, g in holders if g.starts == "rest" and other != cell]:
                    raise _unfit(f"`{others[0].name}` and `{group.name}` both start with the rest of the {name}", group)
                lacking = [n for n, left in enumerate(remaining) if left < 0]
                if lacking and not group.unlimited:
                    parts = ", ".join(f"{laid_out[n]} {kind.members[n]}" for n in lacking)
                    there = joined(f"{totals[n]}" for n in lacking)
                    notes = tuple(_sources(known, [g for _, g in holders], kind, lacking))
                    raise _unfit(f"got {parts} in the starting layout, want at most {there}", group, *notes)
                state.cells[cell] = remaining[0] if kind.unit else tuple(remaining)
                remaining = [0] * len(remaining)
        if any(remaining):
            parts = ", ".join(f"{n} {member}" for n, member in zip(remaining, kind.members, strict=True) if n)
            raise _unfit(f"{parts} have no place: let a pool start with the rest", holders[0][1])


def _lay_cards(known: _Cells, state: State) -> None:
    model, location = known.model, known.layout.base["location"]
    for cell, group in known.groups:
        if group.starts == "all" and isinstance(group.type, types.CardHolderType):
            cards = tuple(model.values(types.CardType(group.type.name)))
            state.cells[cell] = cards if isinstance(group.type, types.ZoneType) else tuple((card,) for card in cards)
            for card in cards:
                if state.cells[location + card] is not None:
                    raise _unfit(f"cards that start in `{group.name}` also start elsewhere", group)
                state.cells[location + card] = cell
    for number, row in enumerate(model.cards):
        if state.cells[location + number] is None:
            kind = model.card_kinds[row.kind]
            raise _unfit(f"cards of the kind `{kind.name}` have no place: let a zone start with all", kind)


def _sources(known: _Cells, groups: Iterable[Group], kind: Kind, members: Sequence[int]) -> Iterator[Note]:
    """Yield what decides with how many tokens of some members of a kind holders start: cells of tables, or the
    holders themselves, and the declaration of the kind."""
    counting = sum(known.model.roles[role].counts for role in known.roles)
    for group in {group.name: group for group in groups if group.start is not None}.values():
        tables = facts_of((group.start,)).tables
        for table in (known.model.tables[name] for name in sorted(tables)):
            wanted = {"players": (counting,), kind.name: members}
            for key, place in table.places.items():
                if all(part in wanted.get(name, (part,)) for name, part in zip(table.keys, key, strict=True)):
                    yield Note(f"`{table.name}` has {table.cells[key]}", place)
        if not tables:
            yield Note(f"`{group.name}` starts with tokens", group.span)
    yield Note(f"`{kind.name}` is declared here", kind.span)


def _unfit(message: str, of: Group | CardKind, *notes: Note) -> RulesetError:
    return RulesetError([Diagnostic("E311", message, of.span, notes)])
