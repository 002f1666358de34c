"""Frames: memory layout of the locals of procedures that can suspend.

A frame is a head (stretch to resume, offset of the local for a result, frame below) and the locals in their kept forms.
It omits variables of loops inside expressions, which nothing reads later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.frozen import dataclass
from interpreter.compiler import lower
from interpreter.compiler.build.memory import FRAME_HEAD
from interpreter.compiler.build.shapes import WORD, Shapes, Unsupported
from interpreter.language import core
from interpreter.language.types import INT, NeverType, NoneType, NothingType, Type, accepts, item_type, join
from interpreter.language.walk import descendants

__all__ = ["FrameShape", "Frames", "Slot", "kept_in_frame"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A local in a frame, in its kept form."""

    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class FrameShape:
    """The frame of one procedure: its locals (None: omitted), its size in words, and the initial contents."""

    slots: tuple[Slot | None, ...]
    words: int
    fresh: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.words * WORD


class Frames:
    """The frames of all procedures that can suspend."""

    def __init__(self, program: lower.Program, shapes: Shapes) -> None:
        self.program, self.shapes = program, shapes
        self._known: dict[str, FrameShape] = {}

    def shape(self, procedure: str) -> FrameShape:
        """Return the frame of a procedure; raise :class:`Unsupported` if a local has two shapes."""
        if procedure not in self._known:
            self._known[procedure] = self._shape(procedure)
        return self._known[procedure]

    def _shape(self, procedure: str) -> FrameShape:
        shapes, lowered = self.shapes, self.program.procedures[procedure]
        types = dict(enumerate(type_ for _, type_ in lowered.layer.parameters))
        stretches = [stretch for stretch in self.program.stretches if stretch.procedure == procedure]
        for index, type_ in _types_in([(stretch.steps, stretch.end) for stretch in stretches]):
            if isinstance(type_, NoneType | NeverType) or isinstance(item_type(type_), NeverType):
                types.setdefault(index, type_)
            elif index not in types or isinstance(types[index], NoneType | NeverType):
                types[index] = type_
            else:
                types[index] = _both(types[index], type_)
        passing = self.program.passing[procedure]
        slots: list[Slot | None] = []
        fresh = [0] * FRAME_HEAD
        offset = FRAME_HEAD * WORD
        for index in range(lowered.local_count):
            type_ = types.get(index, INT)
            if index in passing or isinstance(type_, NoneType | NeverType | NothingType):
                slots.append(None)
                continue
            kept = kept_in_frame(shapes, type_)
            slots.append(Slot(offset, kept))
            words = shapes.words(kept)
            none = [shapes.none(kept)] if shapes.is_scalar(kept) else [-1 if shapes.is_listed(kept) else 0]
            fresh.extend(none + [0] * (words - 1))
            offset += words * WORD
        return FrameShape(tuple(slots), offset // WORD, tuple(fresh))


def kept_in_frame(shapes: Shapes, type_: Type) -> Type:
    """Return the type of a local in a frame: it is none until it is set."""
    return type_ if shapes.is_scalar(type_) else type_.maybe


def _types_in(trees: Iterable[object]) -> Iterator[tuple[int, Type]]:
    for node in descendants(tuple(trees)):
        match node:
            case core.Local(index):
                yield index, node.type
            case core.SetLocal(index, value):
                yield index, value.type
            case core.Picks(index, items) if (of := item_type(items.type)) is not None:
                yield index, of
            case core.Test(value, bind) if bind is not None:
                yield bind, value.type
            case core.Choice(variable):
                yield variable, node.type
            case core.Iterate():
                yield node.hidden[0], node.items.type
                yield node.hidden[1], INT
                if (of := item_type(node.items.type)) is not None:
                    yield node.variable, of
            case core.Repeat():
                yield node.hidden, INT
            case lower.Calls(call, into) if into >= 0:
                yield into, call.type
            case _:
                pass


def _both(left: Type, right: Type) -> Type:
    if accepts(left.maybe, right):
        return left.maybe if right.optional or left.optional else left
    joined = join(left, right)
    if joined is None:
        raise Unsupported(f"a local that is a {left} and a {right}")
    return joined
