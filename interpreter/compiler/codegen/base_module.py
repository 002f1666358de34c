"""What all functions of a module share: names, the memory plan, and tables about cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, partial
from itertools import accumulate, count

from interpreter.base.lazy import Lazy
from interpreter.base.source import Span
from interpreter.compiler.codegen.memory import Memory, frame_shape
from interpreter.compiler.codegen.shapes import WORD, Shapes, halves
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import CardHolderType, PilesType, TokenHolderType
from interpreter.lowering.effect_analysis import Reader
from interpreter.plain.machine import Machine

__all__ = ["HOLDER", "Module"]

HOLDER = 8 * WORD
"""Size of a row of the table of holders."""


class Module:
    """Shared state of all functions of a module.

    ``functions`` has the finished functions by name. ``left_out`` says why some of them do nothing but trap.
    """

    def __init__(self, machine: Machine, rooms: Mapping[str, int] | None = None) -> None:
        self.program, self.constants, self.resets = machine.program, machine.constants, machine.resets
        self.shapes = Shapes(self.constants, rooms)
        self.memory = Memory(self.constants, self.shapes)
        self.frame = cache(partial(frame_shape, self.program, self.shapes))
        self.reader = Reader(self.program)
        self.functions: dict[str, ops.Function] = {}
        self.left_out: dict[str, str] = {}
        self.tight: list[str] = []
        """Rooms that are checked, see :data:`~interpreter.compiler.codegen.memory.TIGHT`."""
        self.places: dict[str, Span] = {}
        """Positions of what makes functions impossible."""
        self.rows: dict[tuple[str, tuple[core.Expression, ...]], int] = {}
        """Numbers of the functions that return rows, by their expressions."""
        self._names: dict[str, str] = {}
        self._numbers = Lazy[str, Iterator[int]](lambda _: count())
        self._requested: list[Callable[[], ops.Function]] = []

    @property
    def rules_left_out(self) -> dict[Span, str]:
        """The reasons why rules do nothing but trap, by their positions. Policies are left out on purpose."""
        places = {span: self.left_out[name] for name, span in self.places.items()}
        return {span: why for span, why in places.items() if self.program.layer_at(span) is not None}

    # --- names and functions

    def name(self, kind: str, subject: str) -> str:
        """Return a unique name in the module; the same arguments give the same name."""
        key = f"{kind} {subject}"
        if key not in self._names:
            plain = f"{kind}.{re.sub('[^A-Za-z0-9_.]', '_', subject)}"
            number = next(self._numbers[plain])
            self._names[key] = f"{plain}~{number}" if number else plain
        return self._names[key]

    @property
    def purposes(self) -> dict[str, str]:
        return {name: key for key, name in self._names.items()}

    def add(self, function: ops.Function) -> str:
        self.functions[function.name] = function
        return function.name

    def request(self, head: ops.Function, make: Callable[[], ops.Function]) -> str:
        """Return the name of a function that is called; it is built later, once."""
        if head.name not in self.functions:
            self._requested.append(make)
            self.add(head)
        return head.name

    def finish(self) -> None:
        while self._requested:
            self.add(self._requested.pop()())

    @cached_property
    def delayed(self) -> tuple[str, ...]:
        """The procedures of delayed blocks. A block stores an index into this."""
        return tuple(sorted({block for layer in self.program.reach.procedures.values() for block in layer.facts.keeps}))

    # --- tables about cells

    @cached_property
    def holders(self) -> int:
        """The table of what effects need to know about each cell, its address first: see ``effects.wat``."""
        effects, shapes = self.constants.effects, self.shapes
        words: list[int] = []
        for name, cells in self.memory.groups.items():
            group = self.constants.model.groups.get(name)
            for number in range(cells.count):
                cell = cells.base + number
                order = piled = capacity = special = track = 0
                if group is not None and isinstance(group.type, CardHolderType):
                    order = 2 if group.rank is not None else 0 if group.order == "kept" else 1
                    capacity = shapes.capacity(cells.type)
                    piled = int(isinstance(group.type, PilesType))
                    special = piled and shapes.words(shapes.item(cells.type))
                elif group is not None and isinstance(group.type, TokenHolderType):
                    special = int(cell in effects.unlimited)
                    if cell in effects.tracks:
                        track = self.memory.words(list(effects.tracks[cell].capacities()))
                address = cells.address + number * cells.stride
                words += [address, order, piled, capacity, *halves(effects.wakes[cell]), special, track]
        return self.memory.words(words)

    @cached_property
    def tracks(self) -> int:
        """The table of the constants of each cell that is a track: the addresses of its rows by kind. A row has the
        capacity, the cumulative prices, and the prices."""
        words: list[int] = [0] * self.constants.layout.size
        for cell, track in self.constants.effects.tracks.items():
            prices = [track.prices(kind) for kind in range(len(track.spaces))]
            rows = [self.memory.words([len(row), *accumulate(row, initial=0), *row]) for row in prices]
            words[cell] = self.memory.words(rows)
        return self.memory.words(words)
