"""Numbering of the options of a table, and the layout of observation vectors.

Every option that a decision of the table can have gets a number, an *action*. Actions lie in blocks, one for each
alternative of each decision, in the order of the rules. In a block, the values of the choices are the digits of a
mixed-radix number, the last one fastest. The numbers depend on the ruleset, the players, the settings and
:class:`Limits` alone.

The observation of a seat is a vector of integers. A :class:`Part` maps entries to cells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from msgspec import Struct

from interpreter.base.lazy import Lazy
from interpreter.compiler.codegen.shapes import Shapes
from interpreter.kernel.state import Value
from interpreter.language.types import INT, BagType, CardHolderType, IntType, TextType, Type
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program
from interpreter.plain.machine import Code

__all__ = [
    "HEAD",
    "HIDDEN",
    "MOST_LEGAL",
    "NONE",
    "Actions",
    "Block",
    "Digit",
    "Limits",
    "Part",
    "Vector",
    "positions",
    "width_of",
]

NONE, HIDDEN = -1, -2
"""Entries of a vector that have no value, and that the seat may not see."""
HEAD = ("seat", "decision", "actor")
"""The first entries of a vector: the observing seat, the current decision (-1: the game is over), the deciding seat."""
MOST_LEGAL = 1_024
"""Maximum number of legal actions that are listed for a game; the mask has all of them."""
MOST_POSITIONS = 256
"""A list whose items have more possible values than this is observed by its length alone."""
LEFT_OUT = ("pending", "settling", "kept", "chance")


class Limits(Struct, frozen=True):
    """Bounds for values that the rules do not bound.

    ``numbers``: each smaller number has its own action; all others share one. ``ranks``: how many options that differ
    only in bags or lists get separate actions. ``block``: maximum number of actions of one alternative; if there would
    be more, its options are numbered by their order alone.
    """

    numbers: int = 100
    ranks: int = 32
    block: int = 1 << 15


class Digit(Struct, frozen=True):
    """A choice that is a digit of the action: its position in the alternative, the value of digit 0, the number of
    digits.

    ``is_number``: values out of range are clamped.
    """

    choice: int
    low: int
    size: int
    is_number: bool
    type: Type


class Block(Struct, frozen=True):
    """The actions of an alternative: ``size`` of them, starting at ``first``. Up to ``ranks`` options may share all
    digits; their order tells them apart."""

    decision: str
    alternative: str
    choices: tuple[tuple[str, Type], ...]
    first: int
    digits: tuple[Digit, ...]
    ranks: int

    @property
    def size(self) -> int:
        return self.ranks * prod(digit.size for digit in self.digits)

    def slot(self, values: Sequence[Value]) -> int:
        """Return the first action that an option with these values may have."""
        number = 0
        for digit in self.digits:
            value = values[digit.choice]
            at = (digit.low if value is None else int(value)) - digit.low
            if digit.is_number:
                at = 0 if value is None else at + digit.type.optional
                at = max(0, min(at, digit.size - 1))
            number = number * digit.size + at
        return self.first + number * self.ranks

    def digits_of(self, action: int) -> tuple[tuple[int, ...], int]:
        """Return the digits of an action, and its rank."""
        number, rank = divmod(action - self.first, self.ranks)
        digits = []
        for digit in reversed(self.digits):
            number, at = divmod(number, digit.size)
            digits.append(at)
        return tuple(digits[::-1]), rank


def extent(shapes: Shapes, type_: Type) -> tuple[int, int] | None:
    """Return the smallest value of a scalar type and the number of values from there, or None if unknown."""
    values = shapes.values(type_) if shapes.is_scalar(type_) else ()
    return (values[0], len(values)) if values else None


class Actions:
    """The actions of a table.

    ``blocks`` are contiguous. ``of`` has the blocks of the alternatives of each decision, by the stretch that asks.
    ``decisions`` has the names of all decisions in order.
    """

    def __init__(self, program: Program, shapes: Shapes, limits: Limits) -> None:
        self.limits = limits
        self.blocks: list[Block] = []
        self.of: dict[int, tuple[Block, ...]] = {}
        known = Lazy[tuple[str, str, tuple[tuple[str, Type], ...]], Block](lambda key: self._add(*key, shapes))
        for index, (_, end) in program.asks.items():
            name, options = end.ask.name, end.ask.options
            choices = (tuple((choice.name, choice.type) for choice in option.choices) for option in options)
            self.of[index] = tuple(known[name, each.name, own] for each, own in zip(options, choices, strict=True))
        self.decisions = tuple(dict.fromkeys(end.ask.name for _, end in program.asks.values()))

    @property
    def count(self) -> int:
        return self.blocks[-1].first + self.blocks[-1].size if self.blocks else 0

    def _add(self, decision: str, name: str, choices: tuple[tuple[str, Type], ...], shapes: Shapes) -> Block:
        digits = []
        for place, (_, type_) in enumerate(choices):
            domain = extent(shapes, type_)
            if domain is not None:
                low, size = domain
                digits.append(Digit(place, low - type_.optional, size + type_.optional, False, type_))
            elif isinstance(type_, IntType):
                digits.append(Digit(place, 0, self.limits.numbers + 1 + type_.optional, True, type_))
        ranks = 1 if len(digits) == len(choices) else self.limits.ranks
        block = Block(decision, name, choices, self.count, tuple(digits), ranks)
        if block.size > self.limits.block:
            block = Block(decision, name, choices, self.count, (), min(self.limits.block, 32 * self.limits.ranks))
        self.blocks.append(block)
        return block

    def block_of(self, action: int) -> Block:
        """Return the block of an action; raise ValueError if there is no such action."""
        if not 0 <= action < self.count:
            raise ValueError(f"there is no action {action}; the actions are 0 to {self.count - 1}")
        return self.blocks[bisect_right(self.blocks, action, key=lambda block: block.first) - 1]

    def numbered(self, index: int, codes: Iterable[Code]) -> dict[int, Code]:
        """Return the actions of these options of a stretch's decision, in their order.

        If more options share an action than there are ranks, the later ones get none.
        """
        actions: dict[int, Code] = {}
        blocks = self.of[index]
        for code in codes:
            block = blocks[code[0]]
            slot = block.slot(code[1])
            free = (action for action in range(slot, slot + block.ranks) if action not in actions)
            actions.setdefault(next(free, slot), code)
        return actions


# --- vectors


class Part(Struct, frozen=True):
    """Consecutive entries of a vector.

    ``form`` says what they show: ``cells`` of the group ``of``, or a value of the decision's ``context``. There are
    ``count`` cells or values of ``width`` entries each.
    """

    form: str
    of: str
    type: Type
    first: int
    count: int
    width: int

    @property
    def size(self) -> int:
        return self.count * self.width


def positions(shapes: Shapes, type_: Type) -> tuple[int, int] | None:
    """Return the range of a list's or set's items if it is small enough for an entry each, else None."""
    item = shapes.item(type_)
    domain = extent(shapes, item) if shapes.is_scalar(item) else None
    return domain if domain is not None and domain[1] <= MOST_POSITIONS else None


def width_of(shapes: Shapes, type_: Type) -> int:
    """Return the number of entries for a value."""
    if isinstance(type_, CardHolderType) or shapes.is_scalar(type_):
        return int(not isinstance(type_, TextType))
    if shapes.is_listed(type_):
        domain = positions(shapes, type_)
        return 1 + (domain[1] if domain else 0)
    if isinstance(type_, BagType):
        return shapes.width(type_)
    return sum(width_of(shapes, field) for field in shapes.fields(type_))


class Vector:
    """The layout of observations: entries of :data:`HEAD`, then ``parts``."""

    def __init__(self, program: Program, constants: Constants, shapes: Shapes) -> None:
        self.shapes = shapes
        self.parts: list[Part] = []
        self.size = len(HEAD)
        self.context: dict[int, list[Part]] = {}
        """For each stretch that asks, the parts of its context's values, in order."""
        known = Lazy[tuple[str, Type], Part](lambda key: self._add("context", *key, 1))
        for index, (_, end) in program.asks.items():
            self.context[index] = [known[name, value.type] for name, value in end.ask.context]
        for name, count in constants.layout.groups:
            if name in LEFT_OUT:
                continue
            declared = constants.model.groups.get(name)
            holder = declared.type if declared is not None else INT
            self._add("cells", name, holder if isinstance(holder, CardHolderType) else shapes.held_by(name), count)

    def _add(self, form: str, of: str, type_: Type, count: int) -> Part:
        part = Part(form, of, type_, self.size, count, width_of(self.shapes, type_))
        self.size += part.size
        self.parts.append(part)
        return part

    def cells(self) -> Iterator[Part]:
        return (part for part in self.parts if part.form == "cells")
