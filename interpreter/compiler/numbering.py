"""Numbers for the options of a table, and a vector for what its cells hold.

Every option that a decision of the table can have gets a number, an *action*. Actions lie in blocks, one for each
alternative of each decision, in the order of the rules. Inside a block the values of the choices count like the digits
of a number, the last one fastest. The numbers follow from the ruleset, the players, the settings and :class:`Limits`
alone.

The observation of a seat is a vector of whole numbers. A :class:`Part` says which entries belong to which cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.shapes import Shapes
from interpreter.compiler.constants import Constants
from interpreter.compiler.lower import Asks, Program
from interpreter.kernel.state import Value
from interpreter.language.types import BOOL, INT, BagType, CardHolderType, CardType, IntType, TextType, Type

__all__ = [
    "HEAD",
    "HIDDEN",
    "NONE",
    "OPEN",
    "Actions",
    "Block",
    "Digit",
    "Limits",
    "Part",
    "Vector",
    "entries_of",
    "extent",
    "positions",
]

NONE, HIDDEN = -1, -2
"""Entries of a vector: there is no value; the seat may not see it."""
HEAD = ("seat", "decision", "actor")
"""The first entries of a vector: the seat that sees it, the decision at hand (-1: the game is over), the seat that
decides."""
OPEN = ("round", "phase", "turn", "over")
"""Groups of cells that everyone may see, and that no declaration is about but for the first."""
MOST_POSITIONS = 256
"""A list whose items can be more things than this is observed by its length alone."""
LEFT_OUT = ("pending", "settling", "kept", "chance")
Code = tuple[int, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of what has none in the rules. ``numbers``: a number has an action of its own below it, and all from it on
    share one. ``ranks``: how many options that differ in bags or lists alone are told apart. ``block``: the most
    actions of one alternative; where there would be more, its options are told apart by their order alone."""

    numbers: int = 100
    ranks: int = 32
    block: int = 1 << 15


@dataclass(frozen=True, slots=True)
class Digit:
    """A choice that counts: the ``choice``'s place in its alternative, the value of digit 0, the number of digits.
    ``is_number``: values outside stand for the first or the last digit."""

    choice: int
    low: int
    size: int
    is_number: bool
    type: Type


@dataclass(frozen=True, slots=True)
class Block:
    """The actions of an alternative, ``size`` of them from ``first`` on. ``ranks`` options may share all digits; they
    are told apart by their order."""

    decision: str
    alternative: str
    choices: tuple[tuple[str, Type], ...]
    first: int
    digits: tuple[Digit, ...]
    ranks: int

    @property
    def size(self) -> int:
        found = self.ranks
        for digit in self.digits:
            found *= digit.size
        return found

    def slot(self, values: Sequence[Value]) -> int:
        """The first of the actions that an option with these values may have."""
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
        """The digits of an action, and its rank."""
        number, rank = divmod(action - self.first, self.ranks)
        found = []
        for digit in reversed(self.digits):
            number, at = divmod(number, digit.size)
            found.append(at)
        return tuple(found[::-1]), rank


def extent(shapes: Shapes, type_: Type) -> tuple[int, int] | None:
    """The least value of a scalar type and how many there are from it on; none where that is not known."""
    if isinstance(type_, CardType):
        kinds = [row.kind for row in shapes.model.cards]
        own = [index for index, kind in enumerate(kinds) if type_.name in ("", kind)]
        return (own[0], own[-1] + 1 - own[0]) if own else None
    size = shapes.domain(type_) if shapes.is_scalar(type_) else 0
    return (0, size) if size else None


class Actions:
    """The actions of a table. ``blocks`` lie behind each other; ``of`` has those of each decision's alternatives, by
    the stretch that asks; ``decisions`` are the names of all decisions in order."""

    def __init__(self, program: Program, shapes: Shapes, limits: Limits) -> None:
        self.limits = limits
        self.blocks: list[Block] = []
        self.of: dict[int, tuple[Block, ...]] = {}
        names: dict[str, None] = {}
        known: dict[object, Block] = {}
        for index, stretch in enumerate(program.stretches):
            if not isinstance(stretch.end, Asks):
                continue
            ask = stretch.end.ask
            names.setdefault(ask.name)
            found = []
            for option in ask.options:
                choices = tuple((choice.name, choice.type) for choice in option.choices)
                key = ask.name, option.name, choices
                if key not in known:
                    known[key] = self._block(ask.name, option.name, choices, shapes)
                    self.blocks.append(known[key])
                found.append(known[key])
            self.of[index] = tuple(found)
        self.decisions = tuple(names)

    @property
    def count(self) -> int:
        return self.blocks[-1].first + self.blocks[-1].size if self.blocks else 0

    def _block(self, decision: str, name: str, choices: tuple[tuple[str, Type], ...], shapes: Shapes) -> Block:
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
            return Block(decision, name, choices, self.count, (), min(self.limits.block, 32 * self.limits.ranks))
        return block

    def block_of(self, action: int) -> Block:
        """The block in which an action lies."""
        if not 0 <= action < self.count:
            raise ValueError(f"there is no action {action}; the actions are 0 to {self.count - 1}")
        low, high = 0, len(self.blocks)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.blocks[middle].first <= action else (low, middle)
        return self.blocks[low]

    def numbered(self, index: int, codes: Iterable[Code]) -> dict[int, Code]:
        """The actions of these options of the decision of a stretch, in their order. Of options that share an action
        the first one has it."""
        found: dict[int, Code] = {}
        blocks = self.of[index]
        for code in codes:
            block = blocks[code[0]]
            slot = block.slot(code[1])
            for action in range(slot, slot + block.ranks):
                if action not in found:
                    found[action] = code
                    break
        return found


# --- vectors


@dataclass(frozen=True, slots=True)
class Part:
    """Some entries of a vector: of what, a name for each, and how many stand for one cell. ``form`` says what they are
    of: ``cells`` of the group ``of``, or a value of the decision's ``context``."""

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
    """For a list or set what its items can be, if these are few: each of them has an entry."""
    item = shapes.item(type_)
    found = extent(shapes, item) if shapes.is_scalar(item) else None
    return found if found is not None and found[1] <= MOST_POSITIONS else None


def width_of(shapes: Shapes, type_: Type) -> int:
    """How many entries stand for a value."""
    if isinstance(type_, CardHolderType):
        return 1
    if isinstance(type_, TextType):
        return 0
    if shapes.is_scalar(type_):
        return 1
    if shapes.is_listed(type_):
        found = positions(shapes, type_)
        return 1 + (found[1] if found else 0)
    if isinstance(type_, BagType):
        return shapes.width(type_)
    return sum(width_of(shapes, field) for field in shapes.fields(type_))


def entries_of(shapes: Shapes, value: Value, type_: Type) -> list[int]:
    """The entries of a value that may be seen."""
    if isinstance(type_, CardHolderType):
        return [len(value)]
    if isinstance(type_, TextType):
        return []
    if shapes.is_scalar(type_):
        return [NONE if value is None else int(value)]
    if shapes.is_listed(type_):
        found = positions(shapes, type_)
        low, size = found or (0, 0)
        places = [0] * size
        for place, item in enumerate(value or ()):
            if item is not None and 0 <= item - low < size and not places[item - low]:
                places[item - low] = place + 1
        return [NONE if value is None else len(value), *places] if found else [NONE if value is None else len(value)]
    if value is None:
        return [NONE] * width_of(shapes, type_)
    if isinstance(type_, BagType):
        return [int(number) for number in value]
    return [
        entry
        for each, field in zip(value, shapes.fields(type_), strict=True)
        for entry in entries_of(shapes, each, field)
    ]


class Vector:
    """The layout of observations: entries of :data:`HEAD`, then ``parts``."""

    def __init__(self, program: Program, constants: Constants, shapes: Shapes) -> None:
        self.shapes, self.constants = shapes, constants
        self.parts: list[Part] = []
        self._size = len(HEAD)
        self.context: dict[int, list[Part]] = {}
        """For each stretch that asks the parts of its context's values, in order."""
        known: dict[object, Part] = {}
        for index, stretch in enumerate(program.stretches):
            if isinstance(stretch.end, Asks):
                self.context[index] = []
                for name, value in stretch.end.ask.context:
                    type_ = value.type
                    if (name, type_) not in known:
                        known[name, type_] = self._add("context", name, type_, 1)
                    self.context[index].append(known[name, type_])
        for name, count in constants.layout.groups:
            if name in LEFT_OUT:
                continue
            self._add("cells", name, self.type_of(name), count)

    @property
    def size(self) -> int:
        return self._size

    def type_of(self, name: str) -> Type:
        """What a cell of a group holds, as it is declared."""
        declared = self.constants.model.groups.get(name)
        if declared is None:
            return BOOL if name == "over" else INT
        type_ = declared.type
        return type_ if isinstance(type_, CardHolderType) else self.shapes.held(type_)

    def _add(self, form: str, of: str, type_: Type, count: int) -> Part:
        part = Part(form, of, type_, self._size, count, width_of(self.shapes, type_))
        self._size += part.size
        self.parts.append(part)
        return part

    def cells(self) -> Iterator[Part]:
        """The parts of cells."""
        return (part for part in self.parts if part.form == "cells")
