"""Masking of hidden information: a veil replaces each value that a player may not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from interpreter.base.lazy import Lazy
from interpreter.hidden.inferable_pools import counted
from interpreter.kernel.state import Frame, State, Value, stacked
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Group
from interpreter.language.types import CardType, HolderType, PilesType, Type, ZoneType, has_cards
from interpreter.language.walk import descendants, rewritten
from interpreter.plain.closures import Evaluate
from interpreter.plain.machine import Machine

if TYPE_CHECKING:  # only the view of a seat needs the analysis
    from interpreter.hidden.secrecy import Label, Secrecy

__all__ = ["PUBLIC", "Held", "Sight", "Unseen", "Veil", "is_visible", "may_see"]

PUBLIC = -1
"""Seat number of spectators, who see only public information."""


class Unseen(Exception):
    """Raised if an expression reads something that the player may not see."""


class Veil:
    """Placeholder of a hidden value. ``many`` is the number of items, if it is public."""

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


def may_see(seats: tuple[int, ...] | None, player: int | None) -> bool:
    """Return whether a player is among the seats that may see something. Without a player, everything is visible."""
    return seats is None or player is None or player in seats


class Held(NamedTuple):
    """A named value of a procedure, choice or event; ``seen`` means that the player may know it."""

    name: str
    type: Type
    value: Value
    seen: bool


_UNSEEN = Veil()


class Sight:
    """What the players at a table see of a state. Without a player, everything is visible."""

    def __init__(self, machine: Machine, secrecy: Callable[[], Secrecy] | None) -> None:
        self.machine, self._find_secrecy = machine, secrecy
        self.program, self.constants = machine.program, machine.constants
        self.model, self.layout = self.constants.model, self.constants.layout
        self._never = Lazy(self._never_seen_by)
        self._asking: dict[int, tuple[core.Expression, bool]] = {}
        """Trees, and whether they ask for open backs, by the identity of the tree."""

    @cached_property
    def secrecy(self) -> Secrecy:
        from interpreter.hidden.secrecy import Secrecy

        return self._find_secrecy() if self._find_secrecy is not None else Secrecy(self.program)

    @cached_property
    def inferable(self) -> frozenset[str]:
        """Hidden pools whose content everybody can infer."""
        return counted(self.program)

    # --- cells

    def group(self, cell: int) -> Group:
        return self.model.groups[self.layout.owner_of(cell)[0]]

    @cached_property
    def _counted(self) -> frozenset[int]:
        """Cells that not everyone sees, but their number of items."""
        return frozenset(cell for cell in self.constants.seen_by if self.group(cell).is_counted)

    @cached_property
    def _carried(self) -> tuple[int, ...]:
        """First cells of holders on cards; such a holder is hidden where its card is."""
        return tuple(self.layout.base[name] for name, g in self.model.groups.items() if isinstance(g.owner, CardType))

    @cached_property
    def _naming(self) -> tuple[tuple[int, Type], ...]:
        """Cells whose values may name cards."""
        groups = (group for group in self.model.groups.values() if has_cards(group.type, self.model.records))
        return tuple((cell, group.type) for group in groups for cell in self.layout.cells(group.name))

    @cached_property
    def judged(self) -> tuple[int, ...]:
        """Cells that a rule shows to some seats."""
        return tuple(cell for cell, seats in self.constants.seen_by.items() if callable(seats))

    def _never_seen_by(self, player: int) -> list[int]:
        seen = self.constants.seen_by.items()
        return [cell for cell, seats in seen if not callable(seats) and not may_see(seats, player)]

    def hidden_cells(self, state: State, player: int) -> list[int]:
        """Return the zones, pools and values that the player does not see in a state."""
        if state.cells[self.layout.base["over"]]:
            return []
        if not self.judged:
            return self._never[player]
        self.machine.meter.refill()
        return [*self._never[player], *(cell for cell in self.judged if not self.is_judged(state, cell, player))]

    def is_judged(self, state: State, cell: int, player: int) -> bool:
        """Return whether a rule shows a cell to a player, as far as it reads nothing that is veiled."""
        try:
            return may_see(self.constants.seats_of(state, cell), player)
        except Unseen:
            return False

    def hidden_cards(self, state: State, player: int) -> list[int]:
        """Return the cards in zones that the player may not see, and those that lie on such a card."""
        location, places = self.layout.cells("location"), frozenset(self.hidden_cells(state, player))
        where = state.cells[location.start : location.stop] if places else []
        if places and self.constants.carriers:
            return [card for card in range(len(where)) if not may_see(self.constants.visible(state, card), player)]
        return [card for card, cell in enumerate(where) if cell in places]

    def veils(self, state: State, player: int | None) -> dict[int, Veil]:
        """Return the veils of cells that the player may not see: hidden zones, pools and values, the content of hidden
        cards, and values that name a hidden card. Absent values are not hidden."""
        if player is None:
            return {}
        cells = state.cells
        veiled = {
            cell: Veil(len(cells[cell])) if cell in self._counted else _UNSEEN
            for cell in self.hidden_cells(state, player)
            if cells[cell] is not None
        }
        cards = self.hidden_cards(state, player) if self._carried else ()
        for first in self._carried:
            veiled.update((first + card, _UNSEEN) for card in cards)
        for cell, type_ in self._naming:
            held = cells[cell]
            if held is not None and cell not in veiled and not self.shows(state, held, type_, player):
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

    def shown_apart(self, state: State, other: State, player: int) -> set[str] | None:
        """Return the groups of cells of which the player sees that they differ; None if two states differ only in what
        the player may not see. Then every expression over the visible state is equal too."""
        unseen = {cell for word in _UNREAD for cell in self.layout.cells(word)}
        differing = [cell for cell in state.difference(other) if cell not in unseen]
        if not differing:
            return None
        mine, others = self.veils(state, player), self.veils(other, player)
        hidden = {*self.hidden_cards(state, player)}.intersection(self.hidden_cards(other, player))
        hidden = {card + self.layout.base["location"] for card in hidden} | (mine.keys() & others.keys())
        shown = {cell for cell in differing if cell not in hidden} | (mine.keys() ^ others.keys())
        is_like = not shown and self._open_backs(state) == self._open_backs(other)
        if is_like and all(veil.many == others[cell].many for cell, veil in mine.items()):
            return None
        return {self.layout.owner_of(cell)[0] for cell in shown}

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
        back = self.machine.expressions.closure(shows) if shows is not None else None
        return back and (lambda card: back(state, [card]))

    def _open_backs(self, state: State) -> list[tuple[int, Value]]:
        backs = Lazy(partial(self.back, state))
        return [(cell, back(card)) for cell, card in self.uppermost(state) if (back := backs[cell]) is not None]

    def compiled(self, state: State, tree: core.Expression, player: int | None) -> Evaluate:
        """Compile an expression for evaluation over the state as a player sees it. The open back of a hidden top card
        is visible: its rule, applied to the ``first`` of the zone, becomes a constant."""
        expressions = self.machine.expressions
        if player is None or not self._backs or not self._asks_for_backs(tree):
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
        if (known := self._asking.get(id(tree))) is None:
            called = (node.rule for node in descendants(tree) if isinstance(node, core.CallRule))
            known = self._asking[id(tree)] = tree, not self._backs.isdisjoint(called)
        return known[1]

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


def is_visible(label: Label, env: Sequence[object], player: int | None) -> bool:
    """Return whether a seat may know a value with this label, in a frame with these locals."""
    return player is None or all(owner >= 0 and env[owner] == player for _, owner in label)
