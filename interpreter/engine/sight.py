"""Masking of hidden information: a veil replaces what a player may not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, NoReturn

from interpreter.compiler.constants import Evaluate
from interpreter.engine.decision import decision_at
from interpreter.engine.rules import Table
from interpreter.engine.secrecy import is_visible
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import Group, Model
from interpreter.language.types import CardHolderType, CollectionType, HolderType, PilesType, Type, ZoneType, has_cards
from interpreter.language.walk import descendants, rewritten

__all__ = [
    "Held",
    "Unseen",
    "Veil",
    "backs_of",
    "compiled",
    "look_alike",
    "may_see",
    "reads_secrets",
    "seen_by",
    "under_way",
    "veils",
]


class Unseen(Exception):
    """An expression looks at what the player may not see."""


class Veil:
    """Stands for a value that is hidden. Of a zone, list or set, ``many`` is how many it holds; all else is unseen."""

    __slots__ = ("many",)

    def __init__(self, many: int | None = None) -> None:
        self.many = many

    def __len__(self) -> int:
        if self.many is None:
            raise Unseen
        return self.many

    def __eq__(self, other: object) -> bool:
        if self.many is not None and isinstance(other, tuple) and len(other) != self.many:
            return False
        raise Unseen


def _look(*_: object) -> NoReturn:
    raise Unseen


_BOTH = ("add", "sub", "mul", "floordiv", "mod")
_LOOKS = (
    *("hash", "bool", "int", "index", "str", "format", "iter", "reversed", "contains", "getitem", "getattr"),
    *("lt", "le", "gt", "ge", "neg", "rshift", *_BOTH, *(f"r{name}" for name in _BOTH)),
)
for _name in _LOOKS:
    setattr(Veil, f"__{_name}__", _look)


COUNTED = CardHolderType | CollectionType
"""Of these it is told how many they hold."""


def may_see(seats: tuple[int, ...] | None, player: int | None) -> bool:
    """Return whether a player is among the seats that may see something; nobody in particular sees all."""
    return seats is None or player is None or player in seats


@dataclass(frozen=True, slots=True)
class _Sight:
    """Visibility data shared by all games of a table."""

    hidden: tuple[tuple[int, bool], ...]
    """Cells that are hidden always, and whether it is told how many they hold."""
    places: frozenset[int]
    """The cells of hidden zones: a card that lies there is hidden."""
    carried: tuple[int, ...]
    """The first cells of what cards carry, which is hidden where the card is."""
    naming: tuple[tuple[int, Type], ...]
    """Cells whose values may name cards."""


def _sight(table: Table, player: int) -> _Sight:
    found: _Sight | None = table.sights.get(player)
    if found is None:
        found = table.sights[player] = _sight_of(table, player)
    return found


def _sight_of(table: Table, player: int) -> _Sight:
    model, layout, seen = table.rules.model, table.machine.constants.layout, table.machine.constants.seen_by
    hidden, carried, naming = [], [], []
    for name, group in model.groups.items():
        if name == "round" or group.owner not in ("", "seat", "place", "card"):
            continue
        first = layout.base[name]
        cells = range(first, first + layout.count(name))
        unseen = [cell for cell in cells if not may_see(seen.get(cell), player)]
        hidden += [(cell, isinstance(group.type, COUNTED)) for cell in unseen]
        if group.owner == "card" and not unseen:
            carried.append(first)
        elif group.owner != "card" and has_cards(group.type, model.records):
            naming += [(cell, group.type) for cell in cells if cell not in unseen]
    places = frozenset(cell for cell, seats in seen.items() if not may_see(seats, player))
    return _Sight(tuple(hidden), places, tuple(carried), tuple(naming))


def _hidden_cards(table: Table, state: State, player: int) -> list[int]:
    """The cards that lie where the player may not see them."""
    layout, places = table.machine.constants.layout, _sight(table, player).places
    first = layout.base["location"]
    where = state.cells[first : first + len(table.rules.model.cards)]
    return [card for card, cell in enumerate(where) if cell in places] if places else []


_UNSEEN = Veil()


def veils(table: Table, state: State, player: int | None) -> dict[int, Veil]:
    """The cells that hold what a player may not see: hidden zones, pools and values, what hidden cards carry, and what
    names such a card. That there is no value is no secret."""
    if player is None:
        return {}
    machine, state, sight = table.machine, state, _sight(table, player)
    found: dict[int, Veil] = {}
    for cell, counted in sight.hidden:
        value = state.cells[cell]
        if value is not None:
            found[cell] = Veil(len(value)) if counted else _UNSEEN
    for first in sight.carried:
        found.update((first + card, _UNSEEN) for card in _hidden_cards(table, state, player))
    for cell, type_ in sight.naming:
        value = state.cells[cell]
        if value is not None and not may_see(machine.constants.visible_in(state, value, type_), player):
            found[cell] = _UNSEEN
    return found


def backs_of(table: Table, state: State, group: Group, held: Value) -> list[Value]:
    """The open backs of the uppermost cards that a zone or its piles hold."""
    assert group.top_shows is not None
    back = table.machine.expressions.closure(group.top_shows)
    return [back(state, [pile[0]]) for pile in (held if isinstance(group.type, PilesType) else (held,)) if pile]


def _open_backs(table: Table, state: State) -> list[list[Value]]:
    layout, cells = table.machine.constants.layout, state.cells
    groups = [group for group in table.rules.model.groups.values() if group.top_shows is not None]
    places = [
        (group, layout.base[group.name] + number) for group in groups for number in range(layout.count(group.name))
    ]
    return [backs_of(table, state, group, cells[cell]) for group, cell in places]


def look_alike(table: Table, state: State, other: State, player: int) -> bool:
    """Return whether two states of one table differ only where the player may not look, so that no expression which is
    worked out over what the player sees can differ."""
    differing = state.difference(other)
    if not differing:
        return True
    if _open_backs(table, state) != _open_backs(table, other):
        return False
    mine, theirs = veils(table, state, player), veils(table, other, player)
    if mine.keys() != theirs.keys() or any(veil.many != theirs[cell].many for cell, veil in mine.items()):
        return False
    first = table.machine.constants.layout.base["location"]
    hidden = {first + card for card in _hidden_cards(table, state, player)} & {
        first + card for card in _hidden_cards(table, other, player)
    }
    return all(cell in mine or cell in hidden for cell in differing)


def compiled(table: Table, state: State, tree: core.Expression, player: int | None) -> Evaluate:
    """An expression, ready to be worked out over the state as a player sees it: the open back of a hidden top card is
    seen where its rule is asked about ``first`` of the zone."""
    model, expressions = table.rules.model, table.machine.expressions
    if player is None or not _asks_for_backs(model, tree):
        return expressions.closure(tree)

    def opened(node: object) -> object:
        match node:
            case core.CallRule(rule, (core.Builtin("first", (core.Read(core.Cell(name, None)),)),)):
                group, held = model.groups[name], state.cells[table.machine.constants.layout.base[name]]
                shows = group.top_shows
                if (
                    isinstance(shows, core.CallRule)
                    and shows.rule == rule
                    and isinstance(group.type, ZoneType)
                    and held
                ):
                    value = expressions.compile(shows)(state, [held[0]])
                    return core.Const(value, type=node.type, span=node.span)
            case _:
                pass
        return node

    return expressions.compile(rewritten(tree, opened))


@lru_cache(maxsize=64)
def _backs(model: Model) -> frozenset[str]:
    """The rules of open backs."""
    found = (group.top_shows for group in model.groups.values())
    return frozenset(shows.rule for shows in found if isinstance(shows, core.CallRule))


def _asks_for_backs(model: Model, tree: core.Expression) -> bool:
    """Return whether the rule of an open back is asked about a card."""
    backs = _backs(model)
    return bool(backs) and any(isinstance(node, core.CallRule) and node.rule in backs for node in descendants(tree))


def seen_by(table: Table, state: State, player: int | None) -> State:
    """The state as a player sees it, to be read and not to be played on."""
    found = veils(table, state, player)
    if not found:
        return state
    seen = state.clone()
    for cell, veil in found.items():
        if veil.many != 0:  # where no card lies there is nothing to hide
            seen.cells[cell] = veil
    return seen


class Held(NamedTuple):
    """A local of a procedure that is under way. ``seen``: the player may know its value."""

    name: str
    type: Type
    value: Value
    seen: bool


def _frames(table: Table, state: State) -> Iterator[tuple[int, tuple[Value, ...], int | None]]:
    """The procedures under way from the one that asks: the stretch, the locals, and the one that waits for a value."""
    stretches, frame = table.rules.program.stretches, state.frame
    while frame is not None:
        index, env, frame, into = frame
        if index < len(stretches):
            yield index, env, into


def under_way(table: Table, state: State, player: int | None) -> list[tuple[str, list[Held]]]:
    """The procedures under way, from the phase to the one that asks: the rule and its locals. One is left out where it
    would tell which way a secret made the game go."""
    program, secrecy = table.rules.program, table.rules.secrecy
    found = []
    for number, (index, env, into) in enumerate(_frames(table, state)):
        if number > 0 and not is_visible(secrecy.course_at(index), env, player):
            continue
        layer = program.procedures[program.stretches[index].procedure].layer
        labels = secrecy.locals_at(index)
        held = [
            Held(name, layer.local_types[local], env[local], is_visible(labels[local], env, player))
            for local, name in enumerate(layer.local_names)
            if name and local in labels and local != into
        ]
        found.append((layer.spoken, [each for each in held if not isinstance(each.type, HolderType)]))
    return found[::-1]


def reads_secrets(table: Table, state: State, player: int) -> bool:
    """Return whether a procedure under way has a local that it can still read and that the player may not know. Choices
    that wait until all have chosen are left out."""
    secrecy, asked = table.rules.secrecy, decision_at(table, state)
    waiting = frozenset(asked.site.ask.kept) if asked is not None else frozenset()
    for number, (index, env, into) in enumerate(_frames(table, state)):
        read = secrecy.read_later[index] - {into} - (waiting if number == 0 else frozenset())
        if any(
            local in read and not is_visible(label, env, player) for local, label in secrecy.locals_at(index).items()
        ):
            return True
    return False
