"""Encoding of states as bytes of a module's memory, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from interpreter.compiler.codegen.delayed_blocks import EDGES, KEPT_HEAD, KEPT_START, SPANS
from interpreter.compiler.codegen.memory import BLOCKS, HEADER, STATE, FrameShape
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import NO_INDEX, NO_NUMBER, WORD, TooSmall, Unsupported, halves
from interpreter.compiler.ir.ops import CellGroup
from interpreter.kernel.state import Frame, State, Value, stacked
from interpreter.language.types import BagType, BoolType, CompositeType, IntType, TextType, Type
from interpreter.lowering.watches import MOST_WATCHES
from interpreter.plain.machine import Machine

__all__ = ["Codec", "fitted"]

MOST_STATE, MOST_SEATS = 8 * 1024 * 1024, 64
"""Maximum size of the cells of a state, in bytes, and maximum number of seats."""
MOST_LOCALS = 4_000
"""Number of frames whose locals are remembered; then they are forgotten."""


class Codec:
    """Encodes and decodes states for one module. A state that does not fit raises :class:`Unsupported`."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module = module
        self.shapes, self.memory, self.program = module.shapes, module.memory, module.program
        self.first_special = len(self.program.stretches)
        groups = self.memory.groups.items()
        self.places = {name: slice(at := g.address - STATE, at + g.count * g.stride) for name, g in groups}
        """The place of each group of cells in the bytes of a state."""
        self._groups: dict[str, tuple[list[Value], bytes]] = {}
        self._decoded: dict[str, tuple[bytes, list[Value]]] = {}
        self._locals: dict[bytes, tuple[tuple[Value, ...], int]] = {}
        """Locals of frames, with the local for the result, by the words of the frame."""

    # --- values

    def words(self, value: Value, type_: Type) -> list[int]:
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return [shapes.word(value, type_)]
        size = shapes.words(type_)
        if shapes.is_listed(type_):
            if value is None:
                return [-1, *[0] * (size - 1)]
            if len(value) > shapes.capacity(type_):
                raise shapes.too_long(type_, len(value))
            words = [len(value), *self.row(value, [shapes.item(type_)] * len(value))]
            return words + [0] * (size - len(words))
        if value is None:
            return [0] * size
        return [*([1] if type_.optional else []), *self.row(value, shapes.fields(type_))]

    def row(self, values: Sequence[Value], types: Sequence[Type]) -> list[int]:
        return [word for value, type_ in zip(values, types, strict=True) for word in self.words(value, type_)]

    def value(self, words: Sequence[int], at: int, type_: Type) -> Value:
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return self.scalar(words[at], type_)
        if shapes.is_listed(type_):
            item, count = shapes.item(type_), words[at]
            if count < 0:
                return None
            if is_plain(item):
                return tuple(words[at + 1 : at + 1 + count])
            size = shapes.words(item)
            return tuple([self.value(words, at + 1 + size * i, item) for i in range(count)])
        if type_.optional:
            if not words[at]:
                return None
            at += 1
        if isinstance(type_, BagType):
            return tuple(words[at : at + shapes.width(type_)])
        return self.values(words, at, shapes.fields(type_))

    def values(self, words: Sequence[int], at: int, types: Sequence[Type]) -> tuple[Value, ...]:
        return tuple([self.value(words, at + offset // WORD, type_) for offset, type_ in self.shapes.placed(types)])

    def scalar(self, word: int, type_: Type) -> Value:
        if isinstance(type_, IntType):
            return None if word == NO_NUMBER else word
        if word == NO_INDEX:
            return None
        if isinstance(type_, BoolType):
            return bool(word)
        if isinstance(type_, TextType):
            return next(text for text, number in self.shapes.texts.items() if number == word)
        return word

    # --- states

    def encode(self, state: State, seed: int) -> bytes:
        """Return the header, the cells and the frames of a state. Unchanged groups of cells reuse their bytes."""
        parts = [b""]
        for name, group in self.memory.groups.items():
            held = state.cells[group.base : group.base + group.count]
            known = self._groups.get(name)
            if known is None or known[0] != held:
                try:
                    words = self._group(name, group.type, held)
                except Unsupported as error:
                    declared = self.module.constants.model.groups.get(name)
                    error.span = declared.span if declared is not None and declared.file else None
                    raise
                known = self._groups[name] = held, struct.pack(f"<{len(words)}i", *words)
            parts.append(known[1])
        frames: list[int] = []
        top = self._frames(state.frame, frames)
        asked = state.frame[0] if state.frame is not None else -1
        end = self.memory.frames + len(frames) * WORD
        parts[0] = struct.pack(f"<{HEADER}i", top, asked, end, 0, *halves(seed), 0, 0)
        parts.append(struct.pack(f"<{len(frames)}i", *frames))
        return b"".join(parts)

    def _group(self, name: str, type_: Type, held: Sequence[Value]) -> list[int]:
        words: list[int] = []
        for value in held:
            if name == "kept":
                words += self._kept(value)
            elif name == "pending":
                words += halves(value)
            else:
                words += self.words(value, type_)
        return words

    def decode(self, data: bytes) -> State:
        """Decode a state. Its log is empty."""
        return State(self.cells(data), self.frame(data))

    def cells(self, data: bytes, *names: str) -> list[Value]:
        """Decode some groups of cells of a state, or all. Unchanged ones reuse their values."""
        cells: list[Value] = []
        for name in names or self.places:
            raw, known = data[self.places[name]], self._decoded.get(name)
            if known is None or known[0] != raw:
                words = memoryview(raw).cast("i").tolist()
                known = self._decoded[name] = raw, self._values_of(name, self.memory.groups[name], words)
            cells += known[1]
        return cells

    def _values_of(self, name: str, group: CellGroup, words: list[int]) -> list[Value]:
        if group.stride == WORD and is_plain(group.type.sure):
            none = self.shapes.none(group.type)
            return [None if word == none else word for word in words] if group.type.optional else words
        places = range(0, len(words), group.stride // WORD)
        if name == "kept":
            return [self._kept_of(words, place) for place in places]
        if name == "pending":
            return [struct.unpack("<Q", struct.pack("<2i", *words[place : place + 2]))[0] for place in places]
        return [self.value(words, place, group.type) for place in places]

    # --- delayed blocks

    def _kept(self, blocks: Sequence[tuple[Value, ...]]) -> list[int]:
        words: list[int] = []
        for edge, of, procedure, values in blocks:
            body = self.row(values, self.program.reach.procedures[procedure].parameter_types)
            size = KEPT_HEAD + len(body)
            words += [EDGES.index(edge), SPANS.index(of), self.module.delayed.index(procedure), size, *body]
        if KEPT_START + len(words) > self.memory.blocks:
            message = f"{len(blocks):,} delayed blocks of {len(words):,} words, where a module has room for "
            raise self.shapes.too_small(f"{message}{self.memory.blocks:,}", BLOCKS, KEPT_START + len(words))
        whole = [len(blocks), len(words), *words]
        return whole + [0] * (self.memory.blocks - len(whole))

    def _kept_of(self, words: Sequence[int], at: int) -> Value:
        blocks = []
        place = at + KEPT_START
        for _ in range(words[at]):
            edge, of, which, size = words[place : place + KEPT_HEAD]
            procedure = self.module.delayed[which]
            types = self.program.reach.procedures[procedure].parameter_types
            blocks.append((EDGES[edge], SPANS[of], procedure, self.values(words, place + KEPT_HEAD, types)))
            place += size
        return tuple(blocks)

    # --- frames

    def _frames(self, frame: Frame | None, words: list[int]) -> int:
        """Append the words of a frame to those of the frames below it. Return its address, or 0."""
        address = depth = 0
        for index, env, _, into in reversed(list(stacked(frame))):
            below, address = address, self.memory.frames + len(words) * WORD
            if index >= self.first_special:
                words += [index, -1, below, depth]
                continue
            depth += 1
            slots = self._shape(index).slots
            slot = slots[into] if into >= 0 else None
            words += [index, slot.offset if slot is not None else -1, below, depth]
            for value, local in zip(env, slots, strict=True):
                if local is not None:
                    words += self.words(value, local.type)
        if self.memory.frames + len(words) * WORD > self.memory.end_of_frames:
            raise Unsupported("frames that are larger than their room")
        return address

    def _shape(self, index: int) -> FrameShape:
        return self.module.frame(self.program.stretches[index].procedure)

    def frame(self, data: bytes) -> Frame | None:
        """Decode the frame of a state, with the frames below it. Frames of equal words share their locals."""
        words = memoryview(data).cast("i")
        addresses = []
        address = words[0] if words[1] >= 0 else 0
        while address:
            addresses.append(address - STATE)
            address = words[addresses[-1] // WORD + 2]
        frame: Frame | None = None
        for at in reversed(addresses):
            index = words[at // WORD]
            if index >= self.first_special:
                frame = index, (), frame, -1
                continue
            shape = self._shape(index)
            raw = data[at : at + shape.size]
            known = self._locals.get(raw)
            if known is None:
                own, into = words[at // WORD : (at + shape.size) // WORD].tolist(), words[at // WORD + 1]
                env = tuple([slot and self.value(own, slot.offset // WORD, slot.type) for slot in shape.slots])
                place = next((i for i, slot in enumerate(shape.slots) if slot and slot.offset == into), -1)
                if len(self._locals) >= MOST_LOCALS:
                    self._locals.clear()
                known = self._locals[raw] = env, place
            frame = index, known[0], frame, known[1]
        return frame


def is_plain(type_: Type) -> bool:
    """Return whether a value is encoded as itself."""
    return not type_.optional and not isinstance(type_, (CompositeType, BoolType, TextType))


def fitted(
    machine: Machine, first: State, rooms: dict[str, int], texts: dict[str, int] | None = None
) -> tuple[ModuleBuilder, bytes]:
    """Return the builder of a module, and the state with which games begin as bytes. Rooms grow until it fits. Raise
    :class:`Unsupported` if it cannot."""
    while True:
        builder = ModuleBuilder(machine, rooms)
        if texts is not None:
            builder.shapes.texts = texts  # shared: states move between modules
        model, watched = machine.constants.model, machine.constants.watches
        for number, most, noun, spans in (
            (len(watched), MOST_WATCHES, "standing rules", [watch.rule.span for watch in watched]),
            (len(machine.constants.seats), MOST_SEATS, "seats", [role.span for role in model.roles.values()]),
            (builder.memory.frames, MOST_STATE, "bytes of cells", [group.span for group in model.groups.values()]),
        ):
            if number > most:
                error = Unsupported(f"{number:,} {noun}, where a module has room for {most:,}")
                error.span = spans[-1]
                raise error
        try:
            return builder, Codec(builder).encode(first, 0)
        except TooSmall as small:
            rooms[small.room] = small.wanted
