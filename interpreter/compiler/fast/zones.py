"""How zones keep their cards, as far as that is the same in every state."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from interpreter.kernel.state import State
from interpreter.language import core as c
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.constants import Constants
    from interpreter.compiler.lower import Program
    from interpreter.kernel.effects import ZoneShape

__all__ = ["Zones"]


class Zones:
    """The zones of one game, by their cells.

    ``order``: for each card the key by which a zone keeps it; none where cards lie as they came, or where the key may
    be another in another state. ``odd``: zones that are left to the plain form.
    """

    def __init__(self, program: Program, constants: Constants) -> None:
        self.program, self.constants = program, constants
        shapes = constants.effects.zones
        orders = {shape.name: self._order(shape) for shape in shapes.values()}
        self.order = {cell: orders[shape.name] for cell, shape in shapes.items()}
        self.odd = frozenset(
            cell
            for cell, shape in shapes.items()
            if shape.piles or (shape.rank is not None and self.order[cell] is None)
        )

    def _order(self, shape: ZoneShape) -> tuple[Any, ...] | None:
        cards = range(len(self.program.model.cards))
        if shape.order == "kept":
            return None
        if shape.rank is None:
            return tuple(cards)
        for node in descendants(self.program.model.groups[shape.name].rank):
            if isinstance(node, c.Read):
                return None
            if isinstance(node, c.CallRule) and self.program.reach.all[self.program.target(node)].reads:
                return None
        state = State([None] * self.constants.layout.size)
        found: list[Any] = []
        for card in cards:
            try:
                found.append((shape.rank(state, card), card))
            except Exception:
                found.append(None)  # such a card cannot be compared, and the plain form says why
        return tuple(found)

    def is_as_numbered(self, cell: int) -> bool:
        """Whether a zone keeps all cards in the order of their numbers."""
        order = self.order[cell]
        if order is None:
            return False
        try:
            return all(one < other for one, other in pairwise(order))
        except TypeError:
            return False
