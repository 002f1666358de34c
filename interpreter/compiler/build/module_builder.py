"""Builder of a module's functions. A function is built when something first calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from interpreter.compiler.build.decisions import Decisions
from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.frames import Frames
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.measure_functions import Measures
from interpreter.compiler.build.memory import Memory
from interpreter.compiler.build.phases import Phases
from interpreter.compiler.build.policy_functions import Policies
from interpreter.compiler.build.rows import Rows
from interpreter.compiler.build.shapes import Shapes, Unsupported, halves
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.build.stretches import Stretches
from interpreter.compiler.build.type_functions import Values
from interpreter.compiler.constants import Constants
from interpreter.compiler.ir import ops
from interpreter.compiler.lower import Program
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.types import (
    INT,
    NOTHING,
    CardHolderType,
    CardType,
    IntType,
    PilesType,
    SeatType,
    TokenHolderType,
    Type,
)
from interpreter.language.walk import descendants

__all__ = ["ModuleBuilder"]


class ModuleBuilder:
    """Shared state of all functions of a module.

    ``functions`` has the finished functions by name. ``left_out`` says why some of them do nothing but trap.
    """

    def __init__(
        self, program: Program, constants: Constants, resets: Mapping[str, Sequence[tuple[int, Value]]]
    ) -> None:
        self.program, self.constants, self.resets = program, constants, resets
        self.shapes = Shapes(constants)
        self.memory = Memory(constants, self.shapes)
        self.functions: dict[str, ops.Function] = {}
        self.left_out: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._requested: list[Callable[[], ops.Function]] = []
        self.frames = Frames(self)
        self.stretches = Stretches(self)
        self.decisions = Decisions(self)
        self.phases = Phases(self)
        self.policies = Policies(self)
        self.measures = Measures(self)
        self.values = Values(self)
        self.rows = Rows(self)

    # --- names and functions

    def name(self, kind: str, subject: str) -> str:
        """Return a unique name in the module; the same arguments give the same name."""
        key = f"{kind} {subject}"
        name = self._names.get(key)
        if name is None:
            plain = f"{kind}.{re.sub('[^A-Za-z0-9_.]', '_', subject)}"
            number = sum(known.rstrip("0123456789~") == plain for known in self._names.values())
            name = self._names[key] = f"{plain}~{number}" if number else plain
        return name

    @property
    def purposes(self) -> dict[str, str]:
        """Return the purposes of functions by name: ``f price@0`` is the first layer of the rule ``price``."""
        return {name: key for key, name in self._names.items()}

    def request(self, name: str, make: Callable[[], ops.Function]) -> str:
        """Return the name of a function that is called; it is built later, once."""
        if name not in self.functions:
            self.functions[name] = ops.Function(name, (), None, ())
            self._requested.append(make)
        return name

    def finish(self) -> None:
        """Build all functions that were requested."""
        while self._requested:
            function = self._requested.pop()()
            self.functions[function.name] = function

    def made(
        self,
        name: str,
        parameters: tuple[ops.Var, ...],
        result: ops.Rep | None,
        build: Callable[[FunctionBuilder], None],
        about: str = "",
    ) -> ops.Function:
        """Build a function with the body that ``build`` adds. If it cannot be compiled, it traps when it is called."""
        builder = FunctionBuilder(self)
        try:
            build(builder)
        except Unsupported as error:
            self.left_out[name] = str(error)
            builder.body = [ops.Fail(str(error))]
        return ops.Function(name, parameters, result, tuple(builder.body), about)

    # --- functions of the rules

    def function(self, target: str) -> str:
        """Return the name of a function or verdict of the ruleset."""
        name = self.name("f", target)
        return self.request(name, lambda: self._function(name, self.program.reach.procedures[target]))

    def memo(self, layer: RuleLayer) -> ops.Memo | None:
        """Return the layout of a memo table for a function, or None if it cannot have one."""
        shapes, result = self.shapes, layer.result
        types = [type_ for _, type_ in layer.parameters]
        keys = self.keys(types)
        if keys is None or not shapes.is_flat(result):
            return None
        if shapes.is_scalar(result):
            return ops.Memo(keys)
        return ops.Memo(keys, shapes.words(result.sure), shapes.is_listed(result))

    def keys(self, types: Sequence[Type]) -> tuple[ops.Key, ...] | None:
        """Return the key ranges of parameters of these types, or None if one is not a word."""
        return tuple(map(self._key, types)) if all(map(self.shapes.is_scalar, types)) else None

    def _key(self, type_: Type) -> ops.Key:
        extent = self.shapes.domain(CardType() if isinstance(type_, CardType) else type_)
        if isinstance(type_, IntType) or not extent:
            return ops.Key()
        if type_.optional:
            return ops.Key(-1, extent + 1)
        return ops.Key(0, extent, isinstance(type_, SeatType))

    def is_remembered(self, target: str) -> bool:
        """Return whether to memoise a function that returns a list, instead of fusing it into the loop of its caller.
        It pays if each item needs a loop, or if the list is sorted."""
        layer = self.program.reach.procedures[target]
        memo = self.memo(layer)
        if memo is None or not memo.listed or not all(key.extent for key in memo.keys):
            return False
        return sum(isinstance(node, core.Loop | core.CallRule | core.CallBase) for node in descendants(layer.body)) > 1

    def _function(self, name: str, layer: RuleLayer) -> ops.Function:
        shapes = self.shapes
        parameters = tuple(ops.Var(f"p{i}", shapes.rep(type_)) for i, (_, type_) in enumerate(layer.parameters))
        result = shapes.rep(layer.result)

        def build(b: FunctionBuilder) -> None:
            b.span = layer.span
            b.locals = dict(enumerate(parameters))
            x = Expressions(b)
            b.add(ops.Charge(ops.Constant(4)))
            if layer.when is not None and layer.layer > 0:
                below = self.function(f"{layer.rule}@{layer.layer - 1}")
                with b.when(ops.Not(x.value(layer.when))):
                    arguments = tuple(var for var in parameters)
                    b.add(ops.Return(ops.Call(below, arguments, result)))
            self._body(b, x, layer)

        function = self.made(name, parameters, result, build, f"{layer.id} of {layer.file}")
        return replace(function, memo=self.memo(layer))

    def _body(self, b: FunctionBuilder, x: Expressions, layer: RuleLayer) -> None:
        body = layer.body
        if layer.form == "permits":
            for line in layer.requirements:
                b.span = line.span
                if line.bind is not None:
                    b.write_local(line.bind, x.value(line.test), line.test.type)
                else:
                    b.add(ops.If(ops.Not(x.value(line.test)), (ops.Return(ZERO),)))
            b.add(ops.Return(ONE))
        elif isinstance(body, tuple):
            Steps(x, layer.result, layer.local_types, pure=True).block(layer.steps)
        else:
            b.add(ops.Return(x.value(body, layer.result)))

    def procedure(self, target: str) -> str:
        """Return the name of a procedure that cannot suspend, as a function of its parameters."""
        name = self.name("p", target)
        return self.request(name, lambda: self._procedure(name, target))

    def _procedure(self, name: str, target: str) -> ops.Function:
        lowered, shapes = self.program.procedures[target], self.shapes
        layer = lowered.layer
        parameters = tuple(ops.Var(f"p{i}", shapes.rep(type_)) for i, (_, type_) in enumerate(layer.parameters))
        has_result = layer.result != NOTHING

        def build(b: FunctionBuilder) -> None:
            if lowered.steps is None:
                raise Unsupported(f"{target} inside a value: it can suspend")
            b.span = layer.span
            b.locals = dict(enumerate(parameters))
            b.add(ops.Charge(ops.Constant(4)))
            Steps(Expressions(b), layer.result, layer.local_types).block(lowered.steps)

        result = shapes.rep(layer.result) if has_result else None
        return self.made(name, parameters, result, build, f"{layer.id} of {layer.file}")

    def captured(self, step: core.Keeps) -> list[tuple[int, Type]]:
        """Return the locals that a delayed block captures, with the types of its parameters."""
        layer = self.program.reach.procedures[step.procedure]
        return [(index, type_) for index, (_, type_) in zip(step.captured, layer.parameters, strict=True)]

    def keeping(self, step: core.Keeps) -> str:
        return self.phases.keeping(step)

    def rank(self) -> ops.Function:
        """Build the function that returns the sort key of a card in a zone that is ordered by a rule."""
        zone, card = ops.Var("zone", "i32"), ops.Var("card", "i32")

        def build(b: FunctionBuilder) -> None:
            for name, group in self.constants.model.groups.items():
                if group.rank is None:
                    continue
                cells = self.memory.groups[name]
                b.locals = {0: card}
                b.span = group.span
                with b.block() as inner:
                    b.add(ops.Return(Expressions(b).value(group.rank, INT)))
                after = zone >= cells.base
                before = zone < cells.base + cells.count
                b.add(ops.If(ops.both(after, before), tuple(inner)))
            b.fail("a zone without ranks")

        return self.made("rank", (zone, card), "i64", build)

    # --- tables about cells

    @cached_property
    def holders(self) -> int:
        """The table of what effects need to know about each cell: see ``effects.wat``."""
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
                wakes = effects.wakes[cell]
                address = cells.address + number * cells.stride
                words.extend(
                    [
                        address,
                        order,
                        piled,
                        capacity,
                        *halves(wakes),
                        special,
                        track,
                    ]
                )
        return self.memory.words(words)

    @cached_property
    def addresses(self) -> int:
        """The table of the address of each cell."""
        words: list[int] = []
        for group in self.memory.groups.values():
            words.extend(group.address + number * group.stride for number in range(group.count))
        return self.memory.words(words)

    @cached_property
    def tracks(self) -> int:
        """The table of the constants of each cell that is a track: the addresses of its rows by kind. A row has the
        capacity, the cumulative prices, and the prices."""
        words: list[int] = [0] * self.constants.layout.size
        for cell, track in self.constants.tracks.items():
            rows = []
            for kind in range(len(track.spaces)):
                prices = track.prices(kind)
                rows.append(self.memory.words([len(prices), *accumulate(prices, initial=0), *prices]))
            words[cell] = self.memory.words(rows)
        return self.memory.words(words)
