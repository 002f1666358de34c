"""Steps that do not suspend: locals, branches, loops, calls, and effects on the state; and functions of rules."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.compiler.codegen.delayed_blocks import DelayedBlocks
from interpreter.compiler.codegen.function import ONE, ZERO
from interpreter.compiler.codegen.shapes import WORD, Unsupported, signed
from interpreter.compiler.ir import ops
from interpreter.kernel.chance import name_hash
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.types import INT, NOTHING, CardType, IntType, PileType, PlaceType, TokenHolderType, Type
from interpreter.language.walk import descendants
from interpreter.lowering.effect_analysis import may_fail
from interpreter.plain.closures import MAXIMUM_PASSES

__all__ = ["Steps"]

WHERE = {"in": 0, "top": 1, "bottom": 2, "new pile": 3}


class Steps(DelayedBlocks):
    """Builds steps: the whole builder of functions."""

    def clear(self) -> None:
        super().clear()
        self.result: Type = NOTHING
        self.types: Sequence[Type] = ()
        """Types of the rule's locals."""
        self.pure = False
        """True in a function that changes no cell, so that it does not copy values in cells."""
        self.item: ops.Value | None = None
        """In a function that returns whether something is an item of a list: the thing."""

    # --- functions of the rules

    def begin(self, layer: RuleLayer, *, pure: bool) -> None:
        self.span, self.result, self.types, self.pure = layer.span, layer.result, layer.local_types, pure
        self.locals = dict(enumerate(self.shapes.parameters(layer.parameter_types)))
        self.add(ops.Charge(ops.Constant(4)))

    def function(self, target: str) -> str:
        layer = self.program.reach.procedures[target]
        parameters = self.shapes.parameters(layer.parameter_types)
        result = self.shapes.rep(layer.result)

        def build(b: Steps) -> None:
            b.begin(layer, pure=True)
            if layer.guard is not None:
                below = b.function(layer.below)
                with b.when(ops.negated(b.value(layer.guard))):
                    b.give(ops.Call(below, parameters, result))
            b._body(layer)

        name, about = self.module.name("f", target), f"{layer.id} of {layer.file}"
        return self.declare(ops.Function(name, parameters, result, about=about, memo=self.memo(target)), build)

    def membership(self, target: str) -> str | None:
        layer = self.program.reach.procedures[target]
        if layer.guard is not None:
            return None
        nodes = list(descendants(layer.body if isinstance(layer.body, tuple) else core.Returns(layer.body)))
        returned = [node.value for node in nodes if isinstance(node, core.Returns)]
        if any(isinstance(node, (core.Loop, core.Iterate, core.Repeat)) for node in nodes):
            return None
        if not all(isinstance(value, core.RangeFrom | core.MakeList) for value in returned):
            return None
        item = ops.Var("item", self.shapes.rep(self.shapes.item(layer.result)))
        parameters = (*self.shapes.parameters(layer.parameter_types), item)

        def build(b: Steps) -> None:
            b.begin(layer, pure=True)
            b.item = item
            b._body(layer)

        return self.named("in", target, parameters, "i32", build, f"membership in {layer.id} of {layer.file}")

    def _body(self, layer: RuleLayer) -> None:
        if layer.form == "permits":
            for line in layer.requirements:
                self.span = line.span
                if line.bind is not None:
                    self.write_local(line.bind, self.value(line.test), line.test.type)
                else:
                    self.add(ops.If(ops.negated(self.value(line.test)), (ops.Return(ZERO),)))
            self.give(ONE)
        elif isinstance(layer.body, tuple):
            self.steps(layer.steps)
        else:
            self.give(self._answer(layer.body))

    def procedure(self, target: str) -> str:
        """Return the name of the function of a procedure without a frame."""
        lowered = self.program.procedures[target]
        layer = lowered.layer

        def build(b: Steps) -> None:
            if lowered.steps is None:
                raise Unsupported(f"{target} inside a value: it needs a frame")
            b.begin(layer, pure=False)
            b.steps(lowered.steps)

        parameters = self.shapes.parameters(layer.parameter_types)
        result = self.shapes.rep(layer.result) if layer.result != NOTHING else None
        return self.named("p", target, parameters, result, build, f"{layer.id} of {layer.file}")

    def rank(self) -> ops.Function:
        """Build the function that returns the sort key of a card in a zone that is ordered by a rule."""
        zone, card = ops.Var("zone", "i32"), ops.Var("card", "i32")

        def build(b: Steps) -> None:
            for name, group in self.model.groups.items():
                if group.rank is not None:
                    cells = self.memory.groups[name]
                    b.locals = {0: card}
                    b.span = group.span
                    with b.when(ops.both(zone >= cells.base, zone < cells.base + cells.count)):
                        b.give(b.value(group.rank, INT))
            b.fail("a zone without ranks")

        return self.made(ops.Function("rank", (zone, card), "i64"), build)

    # --- steps

    def steps(self, steps: Sequence[core.Step]) -> None:
        for step in steps:
            self.step(step)

    def step(self, step: core.Step) -> None:
        self.span = step.span
        match step:
            case core.SetLocal(index, value):
                type_ = self.types[index] if index < len(self.types) else NOTHING
                type_ = type_ if type_ != NOTHING else value.type  # a local without a name in the text
                self.write_local(index, self.own(value, type_), type_)
            case core.Performs(value):
                self.perform(value)
            case core.Returns(value) if value is not None and self.result == NOTHING:
                self.perform(value)
                self.give()
            case core.Returns(value):
                self.give(self._answer(value) if value is not None else None)
            case core.Branch(test, then, otherwise):
                self._branch(test, then, otherwise)
            case core.Iterate():
                self._iterate(step)
            case core.Repeat():
                self._repeat(step)
            case core.SetCell(cell, value):
                if not isinstance(cell, core.Cell):
                    raise Unsupported("a value in a cell that is not named")
                group = self.memory.groups[cell.group]
                self.change(group, self.kept(self.owner(cell)), self.kept(self.called(value, group.type), "new"))
            case core.MoveCards(cards, target, where):
                moved = self.value(cards)
                if isinstance(cards.type, CardType):
                    moved = self.listed([moved])
                self._move_cards(moved, target, where)
            case core.MoveTokens(amount, source, target):
                self._move_tokens(amount, source, target)
            case core.MovePiece():
                self._move_piece(step)
            case core.MoveAll(source, target, where):
                self._move_all(source, target, where)
            case core.Shuffles(zone, chance):
                self.do("shuffle_zone", self.value(zone), *self._chance(chance))
            case core.Picks():
                self._pick(step)
            case core.Notes(event, arguments):
                for argument in arguments:
                    if may_fail(self.program, argument):
                        self.kept(self.value(argument))
                self.measure_event(event, arguments)
            case core.Keeps():
                self.delay(step)
            case core.Reveals():
                pass
            case _:
                raise Unsupported(f"a step {type(step).__name__}")

    def _branch(self, test: core.Test, then: Sequence[core.Step], otherwise: Sequence[core.Step]) -> None:
        span = self.span
        holds = self.test(test)
        if isinstance(holds, ops.Constant):
            self.steps(then if holds.value else otherwise)
        else:
            self.span = span
            self.branch(holds, lambda: self.steps(then), lambda: self.steps(otherwise))

    # --- values

    def own(self, value: core.Expression, type_: Type) -> ops.Value:
        """Build a value that does not change when cells change: copy it if it may be in a cell."""
        result = self.called(value, type_)
        if self.pure or isinstance(result, ops.Constant):  # only other addresses may be of cells
            return result
        return self.copied(result, type_)

    def called(self, value: core.Expression, type_: Type | None = None) -> ops.Value:
        """Build a value, which may be a call of a procedure without a frame."""
        return self._procedure_call(value) or self.value(value, type_)

    def _procedure_call(self, node: core.Expression) -> ops.Call | None:
        if not isinstance(node, core.CallRule | core.CallBase):
            return None
        target = self.program.target(node)
        layer = self.program.reach.procedures[target]
        if layer.form != "does":
            return None
        pairs = zip(node.arguments, layer.parameter_types, strict=True)
        arguments = tuple(self.capped(self.own(argument, type_)) for argument, type_ in pairs)
        return ops.Call(self.procedure(target), arguments, self.shapes.rep(layer.result))

    def perform(self, value: core.Expression) -> None:
        call = self._procedure_call(value)
        if call is not None and value.type == NOTHING:
            self.add(ops.Do(call))
        else:
            self.kept(call or self.value(value))

    def _answer(self, value: core.Expression) -> ops.Value:
        if self.item is None:
            return self.called(value, self.result)
        if isinstance(value, core.RangeFrom):
            low, high, _ = self.bounds(value)
            return ops.both(self.item >= low, self.item <= high)
        return self.is_item(self.item, self.shapes.item(self.result), value)

    def test(self, test: core.Test) -> ops.Value:
        """Return the test of a branch. A value that it binds is stored first."""
        if test.bind is None:
            return self.value(test.value)
        type_ = test.value.type
        value = self.kept(self.own(test.value, type_))
        self.write_local(test.bind, value, type_)
        return ops.negated(self.is_none(value, type_))

    # --- loops

    def _iterate(self, step: core.Iterate) -> None:
        item_type = self.shapes.item(step.items.type)

        def pass_on(item: ops.Var) -> None:
            self.write_local(step.variable, item, item_type)
            with self.passing(step.test):
                self.steps(step.body)

        items, inside = step.items, list(descendants(step.body))
        changed = {node.index for node in inside if isinstance(node, core.SetLocal)}
        is_changed = any(isinstance(node, core.Local) and node.index in changed for node in descendants(items))
        if not is_changed and (self.pure or isinstance(items, core.RangeFrom | core.AllSeats)):
            source = self.source(items, stops=any(isinstance(node, core.Returns) for node in inside))
        else:  # those of the list as it is now
            source = self.items_of(self.own(items, items.type), item_type)
        source.each(pass_on)

    def _repeat(self, step: core.Repeat) -> None:
        passes = self.var("i64", "passes")
        limit = self.var("i64", "limit", self.value(step.bound)) if step.bound is not None else None
        self.set(passes, ops.Constant(0, "i64"))
        with self.repeated("while", ONE) as label:
            self.add(ops.If(ops.negated(self.value(step.test)), (ops.Break(label),)))
            self.set(passes, passes + 1)
            self.add(ops.Charge(ops.Constant(2)))
            self.fail_if(passes > MAXIMUM_PASSES, "a loop without end")
            if limit is not None:
                self.fail_if(passes > limit, "more passes than allowed")
            self.steps(step.body)

    # --- effects

    def _move_cards(self, cards: ops.Value, target: core.Expression, where: str) -> None:
        word = "move_to_pile" if isinstance(target.type, PileType) else "move_cards"
        self.do(word, cards, self.value(target), ops.Constant(WHERE[where]))

    def _move_tokens(self, amount: core.Expression, source: core.Expression, target: core.Expression) -> None:
        if isinstance(amount, core.AmountOf):
            values = map(self.value, (amount.number, amount.kind, source, target))
            self.do("move_kind", *values, ops.Constant(amount.size))
            return
        moved, *ends = map(self.value, (amount, source, target))
        if moved.rep == "i64":
            self.do("move_units", moved, *ends)
        else:
            self.do("move_bag", moved, *ends, self.width(amount.type))

    def _move_piece(self, step: core.MovePiece) -> None:
        number, source, target = step.number, step.source, step.target
        is_placed = isinstance(target.type, PlaceType)
        if not is_placed and not isinstance(source.type, PlaceType):
            self.do("move_units", *map(self.value, (number, source, target)))
            return
        count = self.value(number)
        stock, place = (source, target) if is_placed else (target, source)
        if is_placed:
            self.fail_if(count.differs(1), "a place takes one piece")
        if not isinstance(stock, core.Cell):
            raise Unsupported("a stock that is not named")
        group = self.memory.groups[stock.group]
        owner = self.kept(self.owner(stock))
        piece = owner * len(self.constants.model.pieces) + self.constants.effects.stock_pieces[group.base]
        if is_placed:
            self.do("place_piece", owner + group.base, self.value(place), piece)
        else:
            self.do("take_piece", self.value(place), owner + group.base, piece)

    def _move_all(self, source: core.Expression, target: core.Expression, where: str) -> None:
        if isinstance(source.type, TokenHolderType):
            held = self.shapes.held(source.type)
            ends = (self.value(source), self.value(target))
            if isinstance(held, IntType):
                self.do("move_all_units", *ends)
            else:
                self.do("move_all_bag", *ends, self.width(held))
            return
        held = source.type if isinstance(source.type, PileType) else self.shapes.held(source.type)
        if not isinstance(held, PileType) and not isinstance(self.shapes.item(held), CardType):
            raise Unsupported("all piles of a zone")
        cards = self.value(source) if isinstance(source.type, PileType) else self.read(source, held)
        self._move_cards(cards, target, where)

    # --- random numbers

    def _chance(self, name: str) -> tuple[ops.Value, ops.Value, ops.Value]:
        """Return the hash of a random stream, the address of its counter, and its cell number."""
        group, number = self.memory.groups["chance"], self.constants.chance_names[name]
        counter, cell = group.address + number * group.stride, group.base + number
        return ops.Constant(signed(name_hash(name)), "i64"), ops.Constant(counter), ops.Constant(cell)

    def _pick(self, step: core.Picks) -> None:
        item = self.shapes.item(step.items.type)
        items = self.kept(self.value(step.items), "items")
        index = self.kept(self.call("pick", ops.Load(items), *self._chance(step.chance)))
        picked = ops.read(items + index * WORD, WORD, self.shapes.rep(item))
        self.write_local(step.index, self.copied(picked, item), item)
