"""Steps that do not suspend: locals, branches, loops, calls, and effects on the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.build.function import ONE, ZERO
from interpreter.compiler.build.shapes import WORD, Unsupported, signed
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.effect_analysis import may_fail
from interpreter.compiler.ir.ops import CellGroup
from interpreter.kernel.chance import name_hash
from interpreter.language import core
from interpreter.language.types import (
    NOTHING,
    CardType,
    IntType,
    PileType,
    PlaceType,
    TokenHolderType,
    Type,
)

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions

__all__ = ["Steps"]

WHERE = {"in": 0, "top": 1, "bottom": 2, "new pile": 3}


class Steps:
    """Builds the steps of one function.

    ``types`` are the types of its locals. A ``pure`` function changes no cell, so it does not copy values in cells.
    """

    def __init__(self, x: Expressions, result: Type, types: Sequence[Type] = (), *, pure: bool = False) -> None:
        self.x, self.b, self.module = x, x.b, x.module
        self.shapes, self.memory = x.shapes, x.memory
        self.result, self.types, self.pure = result, types, pure

    def block(self, steps: Sequence[core.Step]) -> None:
        for step in steps:
            self.step(step)

    def gathered(self, steps: Sequence[core.Step]) -> tuple[ops.Statement, ...]:
        with self.b.block() as inner:
            self.block(steps)
        return tuple(inner)

    def type_of(self, index: int, value: core.Expression) -> Type:
        """Return the type of a local. A local without a name in the text has the type of its value."""
        known = self.types[index] if index < len(self.types) else NOTHING
        return known if known != NOTHING else value.type

    def step(self, step: core.Step) -> None:
        b, x = self.b, self.x
        b.span = step.span
        match step:
            case core.SetLocal(index, value):
                type_ = self.type_of(index, value)
                b.write_local(index, self.own(value, type_), type_)
            case core.Performs(value):
                self.perform(value)
            case core.Returns(value):
                b.add(ops.Return(self.returned(value)))
            case core.Branch(test, then, otherwise):
                holds = self.test(test)
                if isinstance(holds, ops.Constant):
                    self.block(then if holds.value else otherwise)
                else:
                    b.add(ops.If(holds, self.gathered(then), self.gathered(otherwise)))
            case core.Iterate():
                self._iterate(step)
            case core.Repeat():
                self._repeat(step)
            case core.SetCell(cell, value):
                self._set_cell(cell, value)
            case core.MoveCards(cards, target, where):
                self._move_cards(cards, target, where)
            case core.MoveTokens(amount, source, target):
                self._move_tokens(amount, source, target)
            case core.MovePiece():
                self._move_piece(step)
            case core.MoveAll(source, target, where):
                self._move_all(source, target, where)
            case core.Shuffles(zone, chance):
                b.do("shuffle_zone", x.value(zone), self._hash(chance), *self._chance(chance))
            case core.Picks():
                self._pick(step)
            case core.Notes(event, arguments):
                self._note(arguments)
                self.module.measures.happens(b, x, event, arguments)
            case core.Keeps():
                self._keep(step)
            case core.Reveals():
                pass
            case _:
                raise Unsupported(f"a step {type(step).__name__}")

    # --- values

    def own(self, value: core.Expression, type_: Type) -> ops.Value:
        """Build a value that does not change when cells change: copy it if it may be in a cell."""
        result = self.called(value, type_)
        if self.pure or self.shapes.is_scalar(type_):
            return result
        if isinstance(result, ops.Data) or result == ZERO:  # a constant or none; other addresses may be of cells
            return result
        return ops.Call(self.module.values.own(type_), (result,))

    def called(self, value: core.Expression, type_: Type | None = None) -> ops.Value:
        """Build a value, which may be a call of a procedure that cannot suspend."""
        if isinstance(value, core.CallRule | core.CallBase) and self._is_procedure(value):
            return self._procedure(value)
        return self.x.value(value, type_)

    def _is_procedure(self, call: core.CallRule | core.CallBase) -> bool:
        program = self.module.program
        return program.reach.procedures[program.target(call)].form == "does"

    def _procedure(self, call: core.CallRule | core.CallBase) -> ops.Call:
        program = self.module.program
        target = program.target(call)
        layer = program.reach.procedures[target]
        pairs = zip(call.arguments, layer.parameters, strict=True)
        arguments = tuple(self.b.capped(self.own(argument, type_)) for argument, (_, type_) in pairs)
        return ops.Call(self.module.procedure(target), arguments, self.shapes.rep(layer.result))

    def perform(self, value: core.Expression) -> None:
        b = self.b
        if isinstance(value, core.CallRule | core.CallBase) and self._is_procedure(value):
            program = self.module.program
            has_result = program.reach.procedures[program.target(value)].result != NOTHING
            b.add(ops.Do(self._procedure(value), has_result))
            return
        b.kept(self.x.value(value))

    def returned(self, value: core.Expression | None) -> ops.Value | None:
        if self.result == NOTHING:
            if value is not None:
                self.perform(value)
            return None
        assert value is not None
        return self.called(value, self.result)

    def test(self, test: core.Test) -> ops.Value:
        """Return the test of a branch. A value that it binds is stored first."""
        b = self.b
        if test.bind is None:
            return self.x.value(test.value)
        type_ = test.value.type
        value = b.kept(self.own(test.value, type_))
        b.write_local(test.bind, value, type_)
        return ops.Not(b.is_none(value, type_))

    # --- loops

    def items(self, node: core.Expression) -> Callable[[Callable[[ops.Var], None]], None]:
        """Return the loop of a `for each`, over a snapshot of the list."""
        loops = self.x.loops
        if self.pure or isinstance(node, core.RangeFrom | core.AllSeats):
            return loops.source(node).each
        return loops.listed(self.own(node, node.type), self.shapes.item(node.type)).each

    def _iterate(self, step: core.Iterate) -> None:
        b = self.b
        item_type = self.shapes.item(step.items.type)

        def pass_on(item: ops.Var) -> None:
            b.write_local(step.variable, item, item_type)
            if step.test is None:
                self.block(step.body)
                return
            test = self.x.value(step.test)
            b.add(ops.If(test, self.gathered(step.body)))

        self.items(step.items)(pass_on)

    def _repeat(self, step: core.Repeat) -> None:
        b = self.b
        passes = b.var("i64", "passes")
        limit = b.kept(self.x.value(step.bound)) if step.bound is not None else None
        b.set(passes, ops.Constant(0, "i64"))
        with b.repeated("while", ONE) as label:
            b.add(ops.If(ops.Not(self.x.value(step.test)), (ops.Break(label),)))
            b.set(passes, passes + 1)
            b.add(ops.Charge(ops.Constant(2)))
            if limit is not None:
                b.fail_if(passes > limit, "more passes than allowed")
            self.block(step.body)

    # --- effects

    def _set_cell(self, cell: core.Expression, value: core.Expression) -> None:
        b = self.b
        address, offset, group = self.x.holder(cell)
        if group is None:
            raise Unsupported("a value in a cell that is not named")
        owner = cell.owner if isinstance(cell, core.Cell) else None
        index = b.kept(self.x.value(owner)) if owner is not None else None
        if index is not None:
            address, offset = index * group.stride, group.address
        new = b.kept(self.called(value, group.type), "new")
        self.put(group, index, address, offset, new)

    def put(self, group: CellGroup, owner: ops.Value | None, address: ops.Value, offset: int, new: ops.Value) -> None:
        """Set a cell, and wake the watches that read it if its value changes."""
        b, type_ = self.b, group.type
        old = b.load(address, offset, type_, group.name)
        same = self.x.same(new, b.kept(old) if not self.shapes.is_scalar(type_) else old, type_, type_)
        with b.when(ops.Not(same)):
            b.store(address, offset, new, type_, group.name)
            self.wake(group, owner)

    def wake(self, group: CellGroup, owner: ops.Value | None) -> None:
        """Wake the watches that read a cell."""
        b = self.b
        wakes = self.module.constants.effects.wakes[group.base : group.base + group.count]
        pending = self.memory.groups["pending"].address
        for half in (0, 1):
            masks = [signed(mask >> 32 * half, 32) for mask in wakes]
            if not any(masks):
                continue
            if len(set(masks)) == 1 or isinstance(owner, ops.Constant):
                mask: ops.Value = ops.Constant(masks[owner.value if isinstance(owner, ops.Constant) else 0])
            else:
                assert owner is not None
                mask = ops.Load(owner * WORD, self.memory.words(masks))
            now = ops.Load(ZERO, pending + half * WORD, "i32", "pending")
            b.add(ops.Store(ZERO, pending + half * WORD, now | mask, "pending"))
        b.add(ops.Touch(group.name, owner))

    def _move_cards(self, cards: core.Expression, target: core.Expression, where: str) -> None:
        b = self.b
        moved = self.x.value(cards)
        if isinstance(cards.type, CardType):
            moved = self._listed(moved)
        word = "move_to_pile" if isinstance(target.type, PileType) else "move_cards"
        b.do(word, moved, self.x.value(target), ops.Constant(WHERE[where]))

    def _listed(self, item: ops.Value) -> ops.Value:
        """Build a list of one item."""
        b, made = self.b, self.b.var("i32", "made")
        item = b.kept(item)
        b.set(made, ops.Allocate(ops.Constant(2)))
        b.add(ops.Store(made, 0, ONE))
        b.add(ops.Store(made, WORD, item))
        return made

    def _move_tokens(self, amount: core.Expression, source: core.Expression, target: core.Expression) -> None:
        b = self.b
        if isinstance(amount, core.AmountOf):
            values = tuple(map(self.x.value, (amount.number, amount.kind, source, target)))
            b.do("move_kind", *values, ops.Constant(amount.size))
            return
        moved = self.x.value(amount)
        arguments = (moved, self.x.value(source), self.x.value(target))
        if moved.rep == "i64":
            b.do("move_units", *arguments)
        else:
            width = ops.Constant(self.shapes.width(amount.type))
            b.do("move_bag", *arguments, width)

    def _move_piece(self, step: core.MovePiece) -> None:
        b, constants = self.b, self.module.constants
        number, source, target = step.number, step.source, step.target
        if not any(isinstance(end.type, PlaceType) for end in (source, target)):
            arguments = (self.x.value(number), self.x.value(source), self.x.value(target))
            b.do("move_units", *arguments)
            return
        count = self.x.value(number)
        stock, place = (source, target) if isinstance(target.type, PlaceType) else (target, source)
        if isinstance(target.type, PlaceType):
            b.fail_if(count.differs(1), "a place takes one piece")
        if not isinstance(stock, core.Cell):
            raise Unsupported("a stock that is not named")
        group = self.memory.groups[stock.group]
        owner = b.kept(self.x.value(stock.owner)) if stock.owner is not None else ZERO
        kind = constants.effects.stock_pieces[group.base]
        piece = owner * len(constants.pieces) + kind
        cell = owner + group.base
        place_ = self.x.value(place)
        if isinstance(target.type, PlaceType):
            b.do("place_piece", cell, place_, piece)
        else:
            b.do("take_piece", place_, cell, piece)

    def _move_all(self, source: core.Expression, target: core.Expression, where: str) -> None:
        b = self.b
        if isinstance(source.type, TokenHolderType):
            held = self.shapes.held(source.type)
            arguments = (self.x.value(source), self.x.value(target))
            if isinstance(held, IntType):
                b.do("move_all_units", *arguments)
            else:
                b.do("move_all_bag", *arguments, ops.Constant(self.shapes.width(held)))
            return
        held = source.type if isinstance(source.type, PileType) else self.shapes.held(source.type)
        if not isinstance(held, PileType) and not isinstance(self.shapes.item(held), CardType):
            raise Unsupported("all piles of a zone")
        cards = self.x.value(source) if isinstance(source.type, PileType) else self.x.read(source, held)
        word = "move_to_pile" if isinstance(target.type, PileType) else "move_cards"
        b.do(word, cards, self.x.value(target), ops.Constant(WHERE[where]))

    # --- random numbers

    def _chance(self, name: str) -> tuple[ops.Value, ops.Value]:
        """Return the address of the counter of a random stream, and its cell number."""
        group, number = self.memory.groups["chance"], self.module.constants.chance_names[name]
        return ops.Constant(group.address + number * group.stride), ops.Constant(group.base + number)

    def _hash(self, name: str) -> ops.Value:
        return ops.Constant(signed(name_hash(name)), "i64")

    def _pick(self, step: core.Picks) -> None:
        b = self.b
        item = self.shapes.item(step.items.type)
        items = b.kept(self.x.value(step.items), "items")
        counter, cell = self._chance(step.chance)
        index = b.call("pick", ops.Load(items), self._hash(step.chance), counter, cell)
        place = items + b.kept(index) * WORD
        picked: ops.Value = ops.Load(place, WORD, self.shapes.rep(item))
        if not self.shapes.is_scalar(item):
            picked = ops.Call(self.module.values.own(item), (picked,))
        b.write_local(step.index, picked, item)

    def _note(self, arguments: tuple[core.Expression, ...]) -> None:
        """Evaluate the values of an event if that may fail; otherwise an event has no effect."""
        for argument in arguments:
            if may_fail(self.module.program, argument):
                self.b.kept(self.x.value(argument))

    def _keep(self, step: core.Keeps) -> None:
        b, module = self.b, self.module
        values = [b.read_local(index, type_) for index, type_ in self.module.captured(step)]
        b.add(ops.Do(ops.Call(module.keeping(step), tuple(values))))
