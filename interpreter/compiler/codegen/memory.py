"""Memory plan of a module: addresses of the state and of constants, and the layout of frames.

The state comes first, at addresses that depend on the layout alone. Data that is allocated while functions are built
follows: constants and memo tables.

A frame has the locals of a procedure that can suspend or calls itself: a head, then the locals in their kept forms. It
omits variables of loops inside expressions, which nothing reads later.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from interpreter.compiler.codegen.shapes import WORD, Shapes, Unsupported
from interpreter.compiler.ir import ops
from interpreter.kernel.state import Value
from interpreter.language.types import NOTHING, NeverType, NoneType, NothingType, Type, join
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program

__all__ = ["BLOCKS", "FRAME_HEAD", "HEADER", "STATE", "TIGHT", "Memory", "Slot", "frame_shape", "kept_in_frame"]

TIGHT = 32
"""Address of two words about the room that was too small at a trap: its number, from 1, and what it needed."""
STATE = 64
"""Address of the state: a header, then the cells, then the frames."""
HEADER = 8
"""Size of the header in words: the address of the top frame, the stretch that asks (-1: over), the end of the frames, a
spare one, two words of the seed, two spare.
"""
FRAME_HEAD = 4
"""Words before the locals of a frame: the stretch to resume, the offset of the local for a result, the frame below, the
number of procedures that are open with this one."""
FRAME_WORDS = 1024 * 1024
BLOCKS, BLOCKS_WORDS = "delayed blocks", 1_024
"""The room for delayed blocks, and its usual size in words."""


class Memory:
    """Memory plan of one module."""

    def __init__(self, constants: Constants, shapes: Shapes) -> None:
        self.constants, self.shapes = constants, shapes
        self.groups: dict[str, ops.CellGroup] = {}
        self.blocks = max(BLOCKS_WORDS, shapes.rooms.get(BLOCKS, 0))
        """Size of the area for delayed blocks, in words."""
        at = STATE + HEADER * WORD
        for name, count in constants.layout.groups:
            type_ = shapes.held_by(name)
            words = self.blocks if name == "kept" else 2 if name == "pending" else shapes.words(type_)
            self.groups[name] = ops.CellGroup(name, type_, constants.layout.base[name], count, at, words * WORD)
            at += count * words * WORD
        self.frames = at
        self.end_of_frames = self.end = at + FRAME_WORDS * WORD
        """The first free address."""
        self.data: dict[int, bytes] = {}
        self._known: dict[bytes, int] = {}
        self.tables: dict[str, int] = {}
        """The addresses of tables of constants by name."""

    def reserve(self, words: int) -> int:
        """Reserve words that are initially zero; return their address."""
        address = self.end
        self.end += words * WORD
        return address

    def reserve_long(self, count: int) -> int:
        self.end = (self.end + 7) // 8 * 8
        return self.reserve(2 * count)

    def words(self, values: Sequence[int]) -> int:
        """Return the address of constant words. Equal constants are stored once."""
        content = struct.pack(f"<{len(values)}i", *values)
        if content not in self._known:
            self._known[content] = address = self.reserve(len(values))
            if content:
                self.data[address] = content
        return self._known[content]

    def constant(self, value: Value, type_: Type) -> int:
        """Return the register form of a constant: a number, or the address of constant data."""
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return shapes.word(value, type_)
        if value is None:
            return 0
        if shapes.is_listed(type_):
            item = shapes.item(type_)
            return self.words([len(value), *(self.constant(part, item) for part in value)])
        return self.words([self.constant(part, of) for part, of in zip(value, shapes.fields(type_), strict=True)])

    def table(self, name: str, values: Sequence[Value], type_: Type) -> int:
        """Return the address of a table of constants by index. It is made once for each name."""
        if name not in self.tables:
            self.tables[name] = self.words([self.constant(value, type_) for value in values])
        return self.tables[name]


class Slot(Struct, frozen=True):
    """A local in a frame, in its kept form."""

    offset: int
    type: Type


class FrameShape(Struct, frozen=True):
    """The frame of one procedure: its locals (None: omitted), and the initial contents."""

    slots: tuple[Slot | None, ...]
    fresh: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.fresh) * WORD


def frame_shape(program: Program, shapes: Shapes, procedure: str) -> FrameShape:
    """Return the frame of a procedure; raise :class:`Unsupported` if a local has two shapes."""
    types = program.stored[procedure]
    slots: list[Slot | None] = []
    fresh = [0] * FRAME_HEAD
    for index in range(program.procedures[procedure].local_count):
        type_ = reduce(_both, types.get(index, (NOTHING,)))
        if isinstance(type_, NoneType | NeverType | NothingType):
            slots.append(None)
            continue
        kept = kept_in_frame(shapes, type_)
        slots.append(Slot(len(fresh) * WORD, kept))
        fresh += [shapes.kept_none(kept), *[0] * (shapes.words(kept) - 1)]
    return FrameShape(tuple(slots), tuple(fresh))


def kept_in_frame(shapes: Shapes, type_: Type) -> Type:
    """Return the type of a local in a frame: it is none until it is set."""
    return type_ if shapes.is_scalar(type_) else type_.maybe


def _both(left: Type, right: Type) -> Type:
    joined = join(left, right)
    if joined is None:
        raise Unsupported(f"a local that is a {left} and a {right}")
    return joined
