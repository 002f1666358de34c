"""Masking of hidden information: a veil replaces each value that a player may not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple, NoReturn

from msgspec import Struct

from interpreter.base.lazy import Lazy
from interpreter.hidden.inferable_pools import counted
from interpreter.hidden.secrecy import Secrecy, is_visible
from interpreter.kernel.state import Frame, State, Value, stacked
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Group
from interpreter.language.types import CardHolderType, CollectionType, HolderType, PilesType, Type, ZoneType, has_cards
from interpreter.language.walk import descendants, rewritten
from interpreter.plain.closures import Evaluate
from interpreter.plain.machine import Machine

__all__ = ["Held", "Sight", "Unseen", "Veil", "may_see"]


class Unseen(Exception):
    """Raised if an expression reads something that the player may not see."""


class Veil:
    """Placeholder of a hidden value. For a zone, list or set, ``many`` is its public number of items."""

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


_UNREAD = ("pending", "settling", "kept", "chance")
"""Cells that no expression reads: standing rules and delayed blocks that wait, and numbers of draws."""
COUNTED = CardHolderType | CollectionType
"""Types whose number of items is public."""


def may_see(seats: tuple[int, ...] | None, player: int | None) -> bool:
    """Return whether a player is among the seats that may see something. Without a player, everything is visible."""
    return seats is None or player is None or player in seats


class Held(NamedTuple):
    """A named value of a procedure, choice or event; ``seen`` means that the player may know it."""

    name: str
    type: Type
    value: Value
    seen: bool


class _Hidden(Struct, frozen=True):
    """What a player may not see, the same in all games of a table."""

    cells: tuple[tuple[int, bool], ...]
    """Cells that are always hidden, each with whether its number of items is public."""
    places: frozenset[int]
    """Cells of hidden zones, whose cards are hidden."""
    carried: tuple[int, ...]
    """First cells of holders on cards; such a holder is hidden where its card is."""
    naming: tuple[tuple[int, Type], ...]
    """Cells whose values may name cards."""


_UNSEEN = Veil()


class Sight:
    """What the players at a table see of a state. Without a player, everything is visible."""

    def __init__(self, machine: Machine, secrecy: Callable[[], Secrecy]) -> None:
        self.machine, self._find_secrecy = machine, secrecy
        self.program, self.constants = machine.program, machine.constants
        self.model, self.layout = self.constants.model, self.constants.layout
        self._hidden = Lazy(self._hidden_from)

    @cached_property
    def secrecy(self) -> Secrecy:
        return self._find_secrecy()

    @cached_property
    def inferable(self) -> frozenset[str]:
        """Hidden pools whose content everybody can infer."""
        return counted(self.program)

    # --- cells

    def group(self, cell: int) -> Group:
        return self.model.groups[self.layout.owner_of(cell)[0]]

    def _hidden_from(self, player: int) -> _Hidden:
        seen, layout, records = self.constants.seen_by, self.layout, self.model.records
        hidden, carried, naming = [], [], []
        for name, group in self.model.groups.items():
            if name == "round" or group.owner not in ("", "seat", "place", "card"):
                continue
            cells = layout.cells(name)
            unseen = [cell for cell in cells if not may_see(seen.get(cell), player)]
            hidden += [(cell, isinstance(group.type, COUNTED)) for cell in unseen]
            if group.owner == "card" and not unseen:
                carried.append(layout.base[name])
            elif group.owner != "card" and has_cards(group.type, records):
                naming += [(cell, group.type) for cell in cells if cell not in unseen]
        return _Hidden(tuple(hidden), frozenset(self.hidden_cells(player)), tuple(carried), tuple(naming))

    def hidden_cells(self, player: int) -> list[int]:
        """Return the zones, pools and values that the player never sees."""
        return [cell for cell, seats in self.constants.seen_by.items() if not may_see(seats, player)]

    def hidden_cards(self, state: State, player: int) -> list[int]:
        """Return the cards in zones that the player may not see."""
        location, places = self.layout.cells("location"), self._hidden[player].places
        where = state.cells[location.start : location.stop] if places else []
        return [card for card, cell in enumerate(where) if cell in places]

    def veils(self, state: State, player: int | None) -> dict[int, Veil]:
        """Return the veils of cells that the player may not see: hidden zones, pools and values, the content of hidden
        cards, and values that name a hidden card. Absent values are not hidden."""
        if player is None:
            return {}
        hidden, cells = self._hidden[player], state.cells
        veiled = {
            cell: Veil(len(cells[cell])) if is_counted else _UNSEEN
            for cell, is_counted in hidden.cells
            if cells[cell] is not None
        }
        for first in hidden.carried:
            veiled.update((first + card, _UNSEEN) for card in self.hidden_cards(state, player))
        for cell, type_ in hidden.naming:
            if cells[cell] is not None and not self.shows(state, cells[cell], type_, player):
                veiled[cell] = _UNSEEN
        return veiled

    def shows(self, state: State, value: Value, type_: Type, player: int | None) -> bool:
        """Return whether the player may see every card that a value names."""
        return may_see(self.constants.visible_in(state, value, type_), player)

    def seen_by(self, state: State, player: int | None) -> State:
        """Return the state as a player sees it. It is for reading only."""
        veiled = self.veils(state, player)
        if not veiled:
            return state
        seen = state.clone()
        for cell, veil in veiled.items():
            if veil.many != 0:  # an empty zone has nothing to hide
                seen.cells[cell] = veil
        return seen

    def look_alike(self, state: State, other: State, player: int) -> bool:
        """Return whether two states differ only in what a player may not see. Then every expression over the visible
        state is equal too."""
        unseen = {cell for word in _UNREAD for cell in self.layout.cells(word)}
        differing = [cell for cell in state.difference(other) if cell not in unseen]
        if not differing:
            return True
        if self._open_backs(state) != self._open_backs(other):
            return False
        mine, others = self.veils(state, player), self.veils(other, player)
        if mine.keys() != others.keys() or any(veil.many != others[cell].many for cell, veil in mine.items()):
            return False
        hidden = {*self.hidden_cards(state, player)}.intersection(self.hidden_cards(other, player))
        return all(cell in mine or cell - self.layout.base["location"] in hidden for cell in differing)

    # --- open backs

    def backs_of(self, state: State, group: Group, held: Value) -> list[Value]:
        """Return the open backs of the top cards of a zone or its piles."""
        assert group.top_shows is not None
        back = self.machine.expressions.closure(group.top_shows)
        return [back(state, [pile[0]]) for pile in (held if isinstance(group.type, PilesType) else (held,)) if pile]

    def uppermost(self, state: State) -> Iterator[tuple[int, int]]:
        """Yield the top cards whose backs are open, each after its cell."""
        for group in self.model.groups.values():
            for cell in self.layout.cells(group.name) if group.top_shows is not None else ():
                held = state.cells[cell]
                tops = (pile[0] for pile in held) if isinstance(group.type, PilesType) else held[:1]
                yield from ((cell, card) for card in tops)

    def back(self, state: State, cell: int) -> Callable[[int], Value] | None:
        """Return the rule that gives the open back of a card in a zone; None if backs are not open there."""
        shows = self.group(cell).top_shows
        if shows is None:
            return None
        back = self.machine.expressions.closure(shows)
        return lambda card: back(state, [card])

    def _open_backs(self, state: State) -> list[tuple[int, Value]]:
        backs = Lazy(partial(self.back, state))
        return [(cell, back(card)) for cell, card in self.uppermost(state) if (back := backs[cell]) is not None]

    def compiled(self, state: State, tree: core.Expression, player: int | None) -> Evaluate:
        """Compile an expression for evaluation over the state as a player sees it. The open back of a hidden top card
        is visible: its rule, applied to the ``first`` of the zone, becomes a constant."""
        expressions = self.machine.expressions
        if player is None or not self._asks_for_backs(tree):
            return expressions.closure(tree)

        def opened(node: object) -> object:
            match node:
                case core.CallRule(rule, (core.CallBuiltin(Builtin("first"), (core.Read(core.Cell(name, None)),)),)):
                    group, held = self.model.groups[name], state.cells[self.layout.base[name]]
                    shows = group.top_shows if held and isinstance(group.type, ZoneType) else None
                    if isinstance(shows, core.CallRule) and shows.rule == rule:
                        value = expressions.compile(shows)(state, [held[0]])
                        return core.Const(value, type=node.type, span=node.span)
            return node

        return expressions.compile(rewritten(tree, opened))

    @cached_property
    def _backs(self) -> frozenset[str]:
        shown = (group.top_shows for group in self.model.groups.values())
        return frozenset(shows.rule for shows in shown if isinstance(shows, core.CallRule))

    def _asks_for_backs(self, tree: core.Expression) -> bool:
        """Return whether an expression applies the rule of an open back to a card."""
        backs = self._backs
        return bool(backs) and any(isinstance(node, core.CallRule) and node.rule in backs for node in descendants(tree))

    # --- active procedures and delayed blocks

    def _frames(self, state: State) -> Iterator[tuple[int, tuple[Value, ...], int]]:
        """Yield the active procedures, innermost first: the stretch, its locals, and the local that waits for a
        result."""
        for index, env, _, into in stacked(state.frame):
            if index < len(self.program.stretches):
                yield index, env, into

    def under_way(self, state: State, player: int | None) -> list[tuple[str, list[Held]]]:
        """Return the active procedures, outermost first, as (rule, locals). Those are left out that would reveal
        which call led to a procedure, if a secret decided it."""
        procedures, is_secret = list[tuple[str, list[Held]]](), False
        for index, env, into in self._frames(state):
            if is_secret and player is not None:
                break
            procedure = self.program.stretches[index].procedure
            is_secret = self.secrecy.hides_calls(procedure)
            layer, known = self.program.procedures[procedure].layer, self.knows_locals(index, env, player)
            held = [
                Held(name, layer.local_types[local], env[local], known[local])
                for local, name in enumerate(layer.local_names)
                if name and local in known and local != into
            ]
            procedures.insert(0, (layer.spoken, [local for local in held if not isinstance(local.type, HolderType)]))
        return procedures

    def knows_locals(self, stretch: int, env: Sequence[Value], player: int | None) -> dict[int, bool]:
        """Return the locals that have a value at a stretch, each with whether the player may know it."""
        labels = self.secrecy.locals_at(stretch)
        return {local: is_visible(label, env, player) for local, label in labels.items()}

    def known_locals(self, frame: Frame, player: int | None) -> list[Value]:
        """Return the locals of a procedure at a decision, with veils for those that the player may not know."""
        index, env = frame[:2]
        known = self.knows_locals(index, env, player) if player is not None else {}
        return [value if known.get(local, True) else _UNSEEN for local, value in enumerate(env)]

    def reads_secrets(self, state: State, player: int) -> bool:
        """Return whether an active procedure or a delayed block has a local that it can still read and that the player
        may not know.

        Simultaneous choices that wait for the other seats, and blocks that may or may not be there, do not count.
        """
        secrecy, waiting = self.secrecy, frozenset[int]()
        if state.frame is not None:
            waiting = frozenset(self.program.asks[state.frame[0]][1].ask.kept)
        for index, env, into in self._frames(state):
            read, known = secrecy.read_later[index] - waiting - {into}, self.knows_locals(index, env, player)
            if not all(known.get(local, True) for local in read):
                return True
            waiting = frozenset()
        return any(
            self.is_known(block, player)
            and not all(is_visible(label, block[3], player) for label in secrecy.given(block[2])[0])
            for block in state.cells[self.layout.base["kept"]]
        )

    def is_known(self, block: tuple[Value, ...], player: int) -> bool:
        """Return whether a player may know that a delayed block waits."""
        return is_visible(self.secrecy.given(block[2])[1], block[3], player)
