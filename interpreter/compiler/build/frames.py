"""Frames: memory layout of the locals of procedures that can suspend or call themselves.

A frame is a head (stretch to resume, offset of the local for a result, frame below, depth) and the locals in their kept
forms. It omits variables of loops inside expressions, which nothing reads later.
"""

from __future__ import annotations

from functools import reduce

from msgspec import Struct

from interpreter.compiler.build.memory import FRAME_HEAD
from interpreter.compiler.build.shapes import WORD, Shapes, Unsupported
from interpreter.language.types import NOTHING, NeverType, NoneType, NothingType, Type, join
from interpreter.lowering.lower import Program

__all__ = ["FrameShape", "Slot", "frame_shape", "kept_in_frame"]


class Slot(Struct, frozen=True):
    """A local in a frame, in its kept form."""

    offset: int
    type: Type


class FrameShape(Struct, frozen=True):
    """The frame of one procedure: its locals (None: omitted), its size in words, and the initial contents."""

    slots: tuple[Slot | None, ...]
    words: int
    fresh: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.words * WORD


def frame_shape(program: Program, shapes: Shapes, procedure: str) -> FrameShape:
    """Return the frame of a procedure; raise :class:`Unsupported` if a local has two shapes."""
    types = program.stored[procedure]
    slots: list[Slot | None] = []
    fresh = [0] * FRAME_HEAD
    offset = FRAME_HEAD * WORD
    for index in range(program.procedures[procedure].local_count):
        type_ = reduce(_both, types[index]) if index in types else NOTHING
        if isinstance(type_, NoneType | NeverType | NothingType):
            slots.append(None)
            continue
        kept = kept_in_frame(shapes, type_)
        slots.append(Slot(offset, kept))
        words = shapes.words(kept)
        fresh += [shapes.kept_none(kept), *[0] * (words - 1)]
        offset += words * WORD
    return FrameShape(tuple(slots), offset // WORD, tuple(fresh))


def kept_in_frame(shapes: Shapes, type_: Type) -> Type:
    """Return the type of a local in a frame: it is none until it is set."""
    return type_ if shapes.is_scalar(type_) else type_.maybe


def _both(left: Type, right: Type) -> Type:
    joined = join(left, right)
    if joined is None:
        raise Unsupported(f"a local that is a {left} and a {right}")
    return joined
