"""Checker of statements: turns parsed blocks into checked steps.

Functions may only compute. Statements that change the game, ask or call a procedure are allowed in a `does`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, assert_never

from msgspec.structs import replace

from interpreter.base.remedies import insert, remove, write
from interpreter.base.source import Span
from interpreter.language import core, nodes
from interpreter.language.builtins import BUILTINS
from interpreter.language.check_expressions import Expressions
from interpreter.language.model import Form, RuleBody, RuleLayer
from interpreter.language.resolve import resolve_type
from interpreter.language.scope import Variable, path_of
from interpreter.language.types import (
    INT,
    NEVER,
    NOTHING,
    SEAT,
    BagType,
    CardHolderType,
    CardType,
    CollectionType,
    Holder,
    HolderType,
    IntType,
    ListType,
    NeverType,
    NoneType,
    NothingType,
    PilesType,
    PileType,
    PlaceType,
    SeatType,
    SetType,
    StockType,
    TokenHolderType,
    Type,
    ZoneType,
    read_type,
)
from interpreter.language.walk import descendants
from interpreter.sections.documents import Refusal

__all__ = ["Steps"]

_UNSAYABLE = {"asking", "at", "decision", "digest", "forced", *Refusal.forms}
"""Names that no choice can have: policies, scenarios or lines of saved games say something else with them."""

Blocks = dict[str, RuleLayer]


@dataclass(eq=False)
class Steps(Expressions):
    """Checks the statements of one text."""

    owner: str
    """Name of the procedure that the text belongs to."""
    file: str
    result: Type = NOTHING
    pure: bool = False
    """The text may only compute."""
    blocks: Blocks = field(default_factory=dict)
    """Delayed blocks of the text, as procedures."""
    before: list[core.Step] = field(default_factory=list)
    """Steps that run before the current statement, such as random draws."""

    def layer(
        self,
        rule: str,
        body: RuleBody,
        span: Span,
        parameters: Iterable[tuple[str, Type]] = (),
        form: Form = "does",
    ) -> RuleLayer:
        """Return the checked text as the lowest layer of a rule."""
        frame = self.frame
        return RuleLayer(
            rule,
            0,
            self.file,
            form,
            tuple(parameters),
            self.result,
            frame.size,
            tuple(frame.names),
            None,
            body,
            (),
            span,
            local_types=tuple(frame.types),
        )

    def block(self, block: nodes.Block) -> tuple[core.Step, ...]:
        """Check a block; names declared in it are local to it."""
        with self.frame.block():
            return self.statements(block)

    def statements(self, block: nodes.Block) -> tuple[core.Step, ...]:
        steps: list[core.Step] = []
        for position, statement in enumerate(block.statements):
            step = self.statement(statement)
            steps += [*self.before, step]
            self.before.clear()
            self._forget_changes(statement)
            self._learn_from(statement)
            if isinstance(statement, nodes.Return | nodes.EndGame) and position + 1 < len(block.statements):
                rest = Span(statement.span.file, statement.span.end, block.statements[-1].span.end)
                first = block.statements[position + 1].span
                self.error("E704", "the code after this is unreachable", first, write(rest, "", "remove it"))
                break
        return tuple(steps)

    def _learn_from(self, statement: nodes.Statement) -> None:
        """Record that the test is false after ``if test: return``."""
        if (
            isinstance(statement, nodes.If)
            and not isinstance(statement.test, nodes.TestLet)
            and statement.otherwise is None
        ):
            last = statement.then.statements[-1]
            if isinstance(last, nodes.Return | nodes.EndGame):
                self.frame.facts[-1].update(self.facts(statement.test, holds=False))

    def statement(self, node: nodes.Statement) -> core.Step:
        span = node.span
        if self.pure and not isinstance(node, nodes.Computing):
            self._impure("changes the game or asks", span)
        match node:
            case nodes.Let():
                return self._let(node)
            case nodes.Assign():
                return self._assign(node)
            case nodes.Add(value, target):
                return self._add(value, target, span)
            case nodes.Remove(value, target):
                return self._remove(value, target, span)
            case nodes.Return(value):
                return self._return(value, span)
            case nodes.If():
                return self._if(node)
            case nodes.ForEach():
                return self._for_each(node)
            case nodes.While(test, bound, body):
                return self._while(test, bound, body, span)
            case nodes.Perform(call):
                performed = self.call(call)
                if self._is_function(call, performed):
                    self.error("E406", "a function alone does nothing; use its value", span, remove(span))
                elif self.pure:
                    self._impure("calls a procedure", span)
                return core.Performs(performed, span=span)
            case nodes.Move():
                return self._move(node)
            case nodes.Shuffle(zone, chance):
                holder = self.holder(zone)
                if not isinstance(holder.type, ZoneType | NeverType):
                    self.error("E410", f"got {holder.type}, want a zone", zone.span)
                name = chance or (holder.group if isinstance(holder, core.Cell) else "shuffle")
                return core.Shuffles(holder, name, span=span)
            case nodes.Note():
                return self._note(node)
            case nodes.Settle():
                return core.Settles(span=span)
            case nodes.Reveal():
                return core.Reveals(span=span)
            case nodes.EndGame():
                return core.Ends(span=span)
            case nodes.Choose():
                return self._choose(node)
            case nodes.Keep():
                return self._keep(node)
            case _:
                assert_never(node)

    def _is_function(self, call: nodes.Expr, called: core.Expression) -> bool:
        if isinstance(call, nodes.Call) and isinstance(called, core.CallRule):
            signature = self.names.rule(call.name, call.span)
            return signature is not None and signature.form != "does"
        return not isinstance(called, core.CallBase) and called.type != NEVER

    def _times(self, number: core.Expression, *body: core.Step) -> core.Step:
        """Return a loop that takes steps a number of times."""
        span = body[0].span
        numbers = core.RangeFrom(core.Const(1, span=span), number, type=ListType(INT), span=span)
        turn, *hidden = (self.frame.hidden() for _ in range(3))
        return core.Iterate(turn, numbers, None, body, False, (hidden[0], hidden[1]), span=span)

    # --- values

    def _let(self, node: nodes.Let) -> core.Step:
        declared = self.resolve(node.type) if node.type is not None else None
        if isinstance(node.value, nodes.Drawn) and node.value.how == "pick" and not self.pure:
            whole, of = self.items(node.value.items)
            return core.Picks(self.bound(node.name, of, node).index, whole, node.value.chance, span=node.span)
        value = self._called(node.value, declared)
        type_ = declared or value.type
        if isinstance(type_, NothingType | NoneType):
            self.error("E401", "this has no value", node.value.span)
            type_ = NEVER
        variable = self.bound(node.name, type_, node)
        return core.SetLocal(variable.index, value, span=node.span)

    def _called(self, node: nodes.Expr, expected: Type | None) -> core.Expression:
        """Check the right side of a `let` or assignment, or a returned value. Procedure calls are allowed."""
        if isinstance(node, nodes.Call | nodes.Drawn) and not self.pure:
            value = self._drawn(node) if isinstance(node, nodes.Drawn) else self.call(node)
            return self.fit(value, expected, node.span, "") if expected else value
        return self.need(node, expected) if expected else self.value(node)

    def _drawn(self, node: nodes.Drawn) -> core.Expression:
        """Check a random draw (an item, all items in random order, or dice) and put its steps before the statement."""
        whole, of = self.items(node.items)
        span, item = node.span, self.frame.hidden()
        picked = core.Local(item, "", type=of, span=span)
        if node.how == "pick":
            self.before.append(core.Picks(item, whole, node.chance, span=span))
            return picked
        every = ListType(of)
        rest, drawn = (core.Local(self.frame.hidden(), "", type=every, span=span) for _ in range(2))
        steps: list[core.Step] = [core.Picks(item, rest, node.chance, span=span), _appended(picked, drawn)]
        if node.number is None:
            number: core.Expression = core.CallBuiltin(BUILTINS["count"], (rest,), span=span)
            without = core.CallBuiltin(BUILTINS["without"], (rest, picked), type=every, span=span)
            steps.append(core.SetLocal(rest.index, without, span=span))
        else:
            number = self.need(node.number, INT)
        none = core.MakeList((), type=every, span=span)
        self.before += [
            core.SetLocal(rest.index, whole, span=span),
            core.SetLocal(drawn.index, none, span=span),
            self._times(number, *steps),
        ]
        return drawn

    def _assign(self, node: nodes.Assign) -> core.Step:
        target = self._target(node.target)
        type_ = target.type
        if node.operator == "=":
            value = self._called(node.value, type_)
        else:
            sign: Literal["+", "-"] = "+" if node.operator == "+=" else "-"
            change = self.need(node.value, type_)
            if not isinstance(type_, IntType | BagType | NeverType):
                self.error("E401", f"got {type_}, want a number or a bag before `{node.operator}`", node.target.span)
            value = core.Arithmetic(sign, _current(target), change, type=type_, span=node.span)
        return self._store(target, value, node.span)

    def _add(self, value: nodes.Expr, to: nodes.Expr, span: Span) -> core.Step:
        target = self._target(to)
        of = self._item_type(target.type, to.span)
        item = self._called(value, of) if isinstance(value, nodes.Drawn) else self.need(value, of)
        if isinstance(target, core.Local) and isinstance(target.type, ListType) and target.type.of == NEVER:
            target = replace(target, type=ListType(item.type))
            self.frame.visible[-1][target.name] = Variable(target.name, target.index, target.type)
        added = core.MakeList((item,), type=ListType(item.type), span=value.span)
        joined: core.Expression = core.Arithmetic("+", _current(target), added, type=target.type, span=span)
        if isinstance(target.type, SetType):
            joined = core.CallBuiltin(BUILTINS["set of list"], (joined,), type=target.type, span=span)
        return self._store(target, joined, span)

    def _remove(self, value: nodes.Expr, from_: nodes.Expr, span: Span) -> core.Step:
        target = self._target(from_)
        item = self.need(value, self._item_type(target.type, from_.span))
        rest = core.CallBuiltin(BUILTINS["without"], (_current(target), item), type=target.type, span=span)
        return self._store(target, rest, span)

    def _item_type(self, type_: Type, span: Span) -> Type:
        if isinstance(type_, CollectionType):
            return type_.of
        if not isinstance(type_, NeverType):
            self.error("E402", f"got {type_}, want a list or set", span)
        return NEVER

    def _target(self, node: nodes.Expr) -> core.Expression:
        """Check the target of an assignment: a local, a cell with a value of the state, or an item of a list in one. It
        is `never` if invalid."""
        never = core.Const(None, type=NEVER)
        if isinstance(node, nodes.Index) and len(node.keys) == 1:
            of = self._target(node.of)
            if isinstance(of.type, ListType) and not of.type.optional:
                return core.Element(of, self.need(node.keys[0], INT), type=of.type.of, span=node.span)
            if of.type.optional:
                self.maybe_none(node.of, of.type)
            elif of.type != NEVER:
                self.error("E411", f"got {of.type}, want a list: only its items can be assigned to", node.of.span)
            return never
        if isinstance(node, nodes.Name):
            variable = self.frame.find(node.name)
            if variable is not None:
                self.names.bind_local(node.span, variable)
                return core.Local(variable.index, variable.name, type=variable.type)
            group = self.names.group(node.name)
            if group is not None and group.owner is None and not isinstance(group.type, HolderType):
                self.names.bind_group(node.span, group)
                return core.Cell(node.name, None, type=group.type, span=node.span)
        if isinstance(node, nodes.Attribute):
            of = self.value(node.of)
            group = self.names.group_of(of.type, node.name)
            if group is not None and not isinstance(group.type, HolderType):
                self.names.bind_group(node.name_span, group)
                return core.Cell(group.name, of, type=group.type, span=node.span)
            if of.type == NEVER:
                return never
        if isinstance(node, nodes.Name) and not self.knows(node):
            self._new_local(node)
            return never
        value = self.value(node)
        if value.type != NEVER:
            help = "use `move` for cards, tokens and pieces" if isinstance(value, core.Read) else None
            self.error("E411", "cannot assign to this", node.span, help)
        return never

    def _new_local(self, node: nodes.Name) -> None:
        """Report an assignment to an unknown name and declare it as a local, so that it is reported once."""
        name = node.name
        model = self.names.model
        if name in model.tables or name in self.names.signatures:
            what = "table" if name in model.tables else "rule"
            self.error("E411", f"cannot assign to the {what} `{name}`", node.span)
        else:
            words = f"declare a new name with `let`: `let {name} = …`"
            help = insert(node.span.file, node.span.start, "let ", words)
            self.unknown("name", name, [*self.frame.all_names(), *model.groups], node.span, help)
        self.frame.add(name, NEVER)

    def _store(self, target: core.Expression, value: core.Expression, span: Span) -> core.Step:
        match target:
            case core.Local(index, name):
                self._forget(name)
                return core.SetLocal(index, value, span=span)
            case core.Element(of, index):
                items = core.CallBuiltin(BUILTINS["replaced"], (_current(of), index, value), type=of.type, span=span)
                return self._store(of, items, span)
            case core.Cell(group):
                if self.pure:
                    self._impure("changes the game", span)
                self._forget(group.rpartition(".")[2])
                return core.SetCell(target, value, span=span)
            case _:
                return core.Performs(value, span=span)

    def _forget(self, name: str) -> None:
        """Drop the facts about a name, or about attributes of that name."""
        for facts in self.frame.facts:
            for path in [p for p in facts if name in p.split(".")]:
                del facts[path]

    def _forget_changes(self, *trees: nodes.Node) -> None:
        """Drop the facts that these statements may invalidate. Call it with the body of a loop before the loop."""
        has_effects = False
        for node in descendants(trees):
            match node:
                case nodes.Assign(target) | nodes.Add(_, target) | nodes.Remove(_, target):
                    path = path_of(target)
                    if path is not None:
                        self._forget(path.split(".")[-1])
                case nodes.Perform() | nodes.Move() | nodes.Note() | nodes.Settle() | nodes.Choose():
                    has_effects = True
                case nodes.Call(name):
                    signature = self.names.rule(name, node.span)
                    has_effects |= name == "base" or (signature is not None and signature.form == "does")
        if has_effects:
            self._forget_state()

    def _forget_state(self) -> None:
        """Drop all facts about the state. Facts about locals and printed data remain."""
        group = self.names.group
        for facts in self.frame.facts:
            for path in list(facts):
                root, *attributes = path.split(".")
                of_state = self.frame.find(root) is None and group(root) is not None
                if of_state or any(map(self.names.is_belonging, attributes)):
                    del facts[path]

    def _return(self, value: nodes.Expr | None, span: Span) -> core.Step:
        if value is None:
            if self.result != NOTHING:
                self.error("E401", f"this rule returns {self.result}: write `return value`", span)
            return core.Returns(None, span=span)
        if self.result == NOTHING:
            self.error("E401", "this rule returns no value: add `-> type` to its head", span)
            return core.Returns(None, span=span)
        return core.Returns(self._called(value, self.result), span=span)

    # --- control

    def _if(self, node: nodes.If) -> core.Step:
        if isinstance(node.test, nodes.TestLet):
            value = self.value(node.test.value, maybe=True)
            if not value.type.optional and value.type != NEVER:
                self.error("E416", "this is never none, so the test always holds", node.test.span)
            with self.frame.block():
                variable = self.bound(node.test.name, value.type.sure, node.test)
                then = self.block(node.then)
            test = core.Test(value, variable.index, span=node.test.span)
            otherwise = self.block(node.otherwise) if node.otherwise else ()
            return core.Branch(test, then, otherwise, span=node.span)
        test = core.Test(self.condition(node.test), span=node.test.span)
        with self.frame.narrowed(self.facts(node.test, holds=True)):
            then = self.block(node.then)
        with self.frame.narrowed(self.facts(node.test, holds=False)):
            otherwise = self.block(node.otherwise) if node.otherwise else ()
        return core.Branch(test, then, otherwise, span=node.span)

    def _for_each(self, node: nodes.ForEach) -> core.Step:
        items, of = self.items(node.items)
        if node.turn and self.pure:
            self._impure("takes turns", node.span)
        if node.turn and not isinstance(of, SeatType | NeverType):
            self.error("E401", f"got {of}, want seat: only seats take turns", node.items.span)
        hidden = (self.frame.hidden(), self.frame.hidden())
        self._forget_changes(node.body)
        with self.each(node, of) as (local, test, _):
            body = self.block(node.body)
        return core.Iterate(local, items, test, body, node.turn, hidden, span=node.span)

    def _while(self, test: nodes.Expr, bound: nodes.Expr | None, body: nodes.Block, span: Span) -> core.Step:
        self._forget_changes(body)
        checked = self.condition(test)
        times = self.need(bound, INT) if bound is not None else None
        hidden = self.frame.hidden()
        with self.frame.narrowed(self.facts(test, holds=True)):
            steps = self.block(body)
        return core.Repeat(checked, times, steps, hidden, span=span)

    # --- effects

    def _move(self, node: nodes.Move) -> core.Step:
        if node.what is None:
            return self._move_all(node)
        if node.source is None:
            return self._move_cards(node)
        source = self.holder(node.source)
        target = self.holder(node.target.holder)
        self._only_in(node)
        match source.type, target.type:
            case (NeverType(), _) | (_, NeverType()):
                return core.MoveTokens(self.value(node.what), source, target, span=node.span)
            case (TokenHolderType() as held, TokenHolderType()):
                self._same_token(held, target.type, node)
                amount = self.need(node.what, read_type(held, unit=self.names.is_unit(held.name)))
                return core.MoveTokens(amount, source, target, span=node.span)
            case (StockType() | PlaceType(), StockType() | PlaceType()):
                amount = self.need(node.what, INT)
                if isinstance(source.type, StockType):
                    self._same_token(source.type, target.type, node)
                elif not isinstance(target.type, StockType):
                    self.error("E410", "a piece goes from a stock to a place, or back", node.span)
                return core.MovePiece(amount, source, target, span=node.span)
            case _:
                self.error("E410", f"nothing goes from {source.type} to {target.type}", node.span)
                return core.MoveTokens(self.value(node.what), source, target, span=node.span)

    def _same_token(self, source: Holder, target: Type, node: nodes.Move) -> None:
        """Report two holders of different tokens or pieces. Other types are ignored."""
        if isinstance(target, TokenHolderType | StockType) and source.name != target.name:
            contents = "pieces" if isinstance(source, StockType) else "tokens"
            self.error("E410", f"{source} holds other {contents} than {target}", node.span)

    def _only_in(self, node: nodes.Move) -> None:
        if node.target.where != "in":
            self.error("E410", f"`{node.target.where}` is only for cards", node.target.span)

    def _move_cards(self, node: nodes.Move) -> core.Step:
        assert node.what is not None
        drawn = isinstance(node.what, nodes.Drawn)
        cards = self._called(node.what, None) if drawn else self.value(node.what)
        moved = cards.type.of if isinstance(cards.type, CollectionType) else cards.type
        if cards.type.optional:
            self.maybe_none(node.what, cards.type)
        elif not isinstance(moved, CardType | PileType | NeverType):
            help = "say where from: `move amount from … to …`" if isinstance(moved, IntType | BagType) else None
            self.error("E401", f"got {cards.type}, want cards", node.what.span, help)
        target = self._card_target(node, CardType(moved.name if isinstance(moved, CardType | PileType) else ""))
        if isinstance(moved, PileType) and moved is not cards.type:
            every = ListType(CardType())
            cards = core.CallBuiltin(BUILTINS["cards of piles"], (cards,), type=every, span=node.what.span)
        return core.MoveCards(cards, target, node.target.where, span=node.span)

    def _card_target(self, node: nodes.Move, card: CardType) -> core.Expression:
        where = node.target.where
        target = self._any(node.target.holder, None, False)
        forms: tuple[type[Type], ...] = (ZoneType, PileType)
        if where in ("new pile", "in"):
            forms = (PilesType if where == "new pile" else ZoneType,)
        if not isinstance(target.type, (*forms, NeverType)):
            words = " or ".join(f"a {form.word}" for form in forms)
            self.error("E410", f"got {target.type}, want {words}", node.target.span)
        elif isinstance(target.type, CardHolderType | PileType) and target.type.name and card.name != target.type.name:
            self.error("E410", f"{target.type} does not take every {card}", node.target.span)
        return target

    def _move_all(self, node: nodes.Move) -> core.Step:
        assert node.source is not None
        source = self._any(node.source, None, False)
        if isinstance(source.type, ZoneType | PileType):
            target = self._card_target(node, CardType(source.type.name))
            return core.MoveAll(source, target, node.target.where, span=node.span)
        target = self._any(node.target.holder, None, False)
        self._only_in(node)
        match source.type, target.type:
            case (TokenHolderType() as held, TokenHolderType()):
                self._same_token(held, target.type, node)
            case (StockType(), StockType()) | (NeverType(), _) | (_, NeverType()):
                pass
            case _:
                self.error("E410", f"all of {source.type} cannot go to {target.type}", node.span)
        return core.MoveAll(source, target, node.target.where, span=node.span)

    def _note(self, node: nodes.Note) -> core.Step:
        event = self.names.event(node.event)
        if event is None:
            self.unknown("event", node.event, self.names.model.events, node.name_span, "declare it under `events`")
            return core.Notes(node.event, (), span=node.span)
        values = self.arguments(node, node.event, list(event.fields.items()), event.span)
        self.names.bind(node.name_span, "events", node.event)
        return core.Notes(node.event, values, span=node.span)

    def _choose(self, node: nodes.Choose) -> core.Step:
        if not node.each:
            return self._ask(node, self.need(node.seat, SEAT))
        seats = node.seat
        if node.test is not None:
            span = replace(node.seat.span, end=node.test.span.end)
            seats = nodes.ListComprehension(None, node.each, node.seat, node.test, span=span)
        at_once = self.need(seats, ListType(SEAT))
        self._forget_changes(*node.alternatives)
        with self.frame.block():
            variable = self.bound(node.each, SEAT, node)
            seat = core.Local(variable.index, node.each, type=SEAT, span=node.seat.span)
            return replace(self._ask(node, seat), at_once=at_once)

    def _ask(self, node: nodes.Choose, seat: core.Expression) -> core.Ask:
        context = tuple((item.name, self.value(item.value)) for item in node.context)
        self.names.bind(node.span, "asks", node.name)
        seen: set[str] = set()
        for each in node.alternatives:
            if each.name in seen:
                self.error("E501", f"`{each.name}` is an alternative of `{node.name}` already", each.span)
            seen.add(each.name)
            self.names.bind(each.span, "options", each.name, node.name)
        if node.repeatedly:
            self._forget_changes(*node.alternatives)
        options = tuple(self.alternative(alternative) for alternative in node.alternatives)
        if node.repeatedly and all(option.body is not None for option in options):
            self.error("E703", f"`{node.name}` never ends: an alternative without a body ends it", node.span)
        return core.Ask(node.name, seat, context, options, node.repeatedly, node.sealed, span=node.span)

    def alternative(self, node: nodes.Alternative) -> core.Option:
        """Check an alternative of a decision."""
        with self.frame.block():
            guard = self.established(node.guard) if node.guard is not None else None
            choices: list[core.Choice] = []
            for binder in node.binders:
                local, items, of = self.binder(binder)
                if binder.name in _UNSAYABLE:
                    remedy = "take another name: policies, scenarios or saved games use this one for something else"
                    self.error("E312", f"`{binder.name}` cannot name a choice", binder.span, remedy)
                choices.append(core.Choice(local, binder.name, items, of, span=binder.span))
            tests = self.conjuncts(node.test)
            body = self.block(node.body) if node.body is not None else None
        return core.Option(node.name, tuple(choices), tests, guard, body, node.cites, span=node.span)

    def _keep(self, node: nodes.Keep) -> core.Step:
        """Turn a delayed block into a procedure; the locals that it reads become parameters."""
        used = {name.name for name in descendants(node.body) if isinstance(name, nodes.Name)}
        captured = [variable for name in sorted(used) if (variable := self.frame.find(name)) is not None]
        inner = self.frame.inner(captured)
        steps = Steps(self.names, inner, self.report, self.owner, self.file, blocks=self.blocks)
        body = steps.block(node.body)
        name = f"{self.owner}/{node.edge} of {node.of}/{len(self.blocks)}"
        parameters = [(variable.name, variable.type) for variable in captured]
        self.blocks[name] = steps.layer(name, body, node.span, parameters)
        return core.Keeps(node.edge, node.of, name, tuple(variable.index for variable in captured), span=node.span)

    # --- types

    def resolve(self, node: nodes.Type) -> Type:
        return resolve_type(self.names, node, self.report)

    def _impure(self, effect: str, span: Span) -> None:
        self.error("E701", f"this {effect}: functions only compute; move it to a `does`", span)


def _current(target: core.Expression) -> core.Expression:
    if isinstance(target, core.Element):
        return replace(target, of=_current(target.of))
    return core.Read(target, type=target.type, span=target.span) if isinstance(target, core.Cell) else target


def _appended(item: core.Local, to: core.Local) -> core.Step:
    """Return a step that appends an item to a list."""
    one = core.MakeList((item,), type=to.type, span=to.span)
    return core.SetLocal(to.index, core.Arithmetic("+", to, one, type=to.type, span=to.span), span=to.span)
