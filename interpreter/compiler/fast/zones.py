"""How zones keep their cards, as far as that is the same in every state."""

from __future__ import annotations

from collections.abc import Sequence
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

    def is_in_order(self, node: c.Expression) -> bool:
        """Whether a list surely has cards in the order of their numbers: those of such a zone, or some of them."""
        match node:
            case c.Read(c.Cell(group)) if group in self.constants.layout.base:
                first = self.constants.layout.base[group]
                cells = range(first, first + self.constants.layout.count(group))
                return all(self.keeps_numbers(cell) for cell in cells)
            case c.Loop("filter", items=items) | c.Builtin("take", (_, items)) | c.Builtin("rest", (items,)):
                return self.is_in_order(items)
            case c.Condition(then, _, otherwise):
                return self.is_in_order(then) and self.is_in_order(otherwise)
            case c.CallRule():
                answer = self.program.answer(node)
                return answer is not None and self.is_in_order(answer)
            case _:
                return False

    def is_rising(self, attribute: str) -> bool:
        """Whether cards that are in the order of their numbers are in the order of an attribute, too, and no two of
        those that have it have the same."""
        constants = self.constants
        kind = attribute.partition(".")[0]
        cards = (
            zip(constants.statics[attribute], constants.card_kind, strict=True) if kind in constants.card_kind else ()
        )
        numbers = [number for number, card_kind in cards if card_kind == kind]
        return bool(numbers) and None not in numbers and _is_rising(numbers)

    def keeps_numbers(self, cell: int) -> bool:
        """Whether a zone keeps the cards that it is for in the order of their numbers."""
        order = self.order.get(cell)
        if order is None:
            return False
        kind = self.program.model.groups[self.constants.effects.zones[cell].name].type.name
        return _is_rising(
            [key for key, card_kind in zip(order, self.constants.card_kind, strict=True) if kind in ("", card_kind)]
        )


def _is_rising(keys: Sequence[Any]) -> bool:
    try:
        return all(one < other for one, other in pairwise(keys))
    except TypeError:
        return False
