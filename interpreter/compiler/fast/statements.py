"""Steps of the fast form: each checked step becomes Python statements, each effect the records and changes it means."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.constants import MAXIMUM_NUMBER, MAXIMUM_PASSES
from interpreter.compiler.fast.expressions import Expressions
from interpreter.compiler.fast.moves import Moves, Zone
from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.parts import is_part
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.scope import Scope, Unsupported
from interpreter.compiler.fast.terms import cheap
from interpreter.compiler.fast.truths import asks_for_items
from interpreter.kernel.effects import MARK, NOTE, has_ended
from interpreter.language import core as c
from interpreter.language.types import Type, has_cards
from interpreter.language.walk import size

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter
    from interpreter.compiler.fast.standing import Became

__all__ = ["Statements"]

Block = list[ast.stmt]
Change = tuple[str, ast.expr, ast.expr, ast.expr]
"""A cell that changes: its group, its address, what it gets and what it holds before."""

MOST_REPEATED = 40
"""A loop over a few known things is written out where its body has no more nodes."""


class Statements:
    """Writes steps."""

    def __init__(self, emitter: Emitter, expressions: Expressions) -> None:
        self.emitter = emitter
        self.expressions = expressions
        self.quote = expressions.quote
        self.constants = expressions.constants
        self.base = self.constants.layout.base
        self.moves = Moves(self)
        self._first: tuple[int, Zone] | None = None
        """The local that a condition has just given the first card of a zone, for the next step."""
        self._some: c.Expression | None = None
        """The number of which a loop has just asked whether it is more than 0, for the next step."""
        self._seen: dict[str, ast.expr] = {}
        """Names of cards that the last move moved, each with who may see it where it lies now."""

    def block(self, steps: Sequence[c.Step], scope: Scope, some: c.Expression | None = None) -> Block:
        """Steps of which nothing is known that was done before them, but that the number ``some`` is more than 0."""
        before = self._first, self._some, self._seen
        self._first, self._some, self._seen = None, some, {}
        found = self._steps(steps, scope)
        self._first, self._some, self._seen = before
        return found

    def _steps(self, steps: Sequence[c.Step], scope: Scope) -> Block:
        found: Block = []
        for step in steps:
            found.extend(self.step(step, scope))
        return found

    def test(self, test: c.Test, scope: Scope) -> ast.expr:
        value = self.expressions.expression(test.value, scope)
        if test.bind is None:
            return value
        bound = self.quote.expression("(_0 := _1)", self.quote.name(scope.label(test.bind)), value)
        return self.quote.expression("_0 is not None", bound)

    def step(self, step: c.Step, scope: Scope) -> Block:
        """A checked step as Python statements."""
        q, x = self.quote, self.expressions
        q.at(step.span)
        first, self._first, some, self._some = self._first, None, self._some, None
        if not _leaves_cards(step):
            self._seen = {}
        match step:
            case c.SetLocal(index, value):
                self._seen.pop(scope.label(index), None)
                if isinstance(value, c.Local) and scope.label(value.index) in self._seen:
                    self._seen[scope.label(index)] = self._seen[scope.label(value.index)]
                before, given = self._in_place(x.expression(value, scope))
                return [
                    *before,
                    q.assign(scope.label(index), given),
                    *self._bounded(value, scope.label(index)),
                ]
            case c.Performs(value):
                return [q.placed(ast.Expr(x.expression(value, scope)))]
            case c.Returns(value):
                if value is None:
                    return q.statements("return None")
                found = x.items(value, scope) if scope.items else x.expression(value, scope)
                return [q.placed(ast.Return(found))]
            case c.Branch(test, then, otherwise):
                return self._branch(test, then, otherwise, scope)
            case c.Iterate():
                return self._iterate(step, scope)
            case c.Repeat():
                return self._repeat(step, scope)
            case c.Ask() | c.Settles() | c.Ends():
                raise AssertionError("only the lowered form suspends")
            case _:
                return self._effect(step, scope, first, some)

    def _in_place(self, value: ast.expr) -> tuple[Block, ast.expr]:
        """A list without an item is made without a call, where statements can stand."""
        q = self.quote
        match value:
            case ast.Call(ast.Name("without"), [items, item]):
                found, (held,) = self.named({"held": items})
                at = q.name(self.expressions.fresh("at"))
                found.append(q.assign(at.id, q.expression("_0.index(_1)", held, item)))
                return found, q.expression("_0[:_1] + _0[_1 + 1:]", held, at)
            case _:
                return [], value

    def _bounded(self, value: c.Expression, name: str) -> Block:
        """What a local was given may be kept."""
        q = self.quote
        if not self.emitter.sizes.is_large(value, own=True):
            return []
        if value.type.form == "bag" or value.type.optional:
            return q.statements("bounded(_0)", q.name(name))
        match value:
            case c.Arithmetic("+", c.Local(), more) if self.emitter.sizes.is_never_below_0(more):
                return q.statements(f"if _0 >= {MAXIMUM_NUMBER}:\n    give_up()", q.name(name))
        return q.statements(f"if not {-MAXIMUM_NUMBER} < _0 < {MAXIMUM_NUMBER}:\n    give_up()", q.name(name))

    def _branch(self, test: c.Test, then: Sequence[c.Step], otherwise: Sequence[c.Step], scope: Scope) -> Block:
        q = self.quote
        holds = self.test(test, scope)
        if is_constant(holds):
            return self._steps(then if value_of(holds) else otherwise, scope)
        if test.bind is not None and (zone := self.moves.opened(test.value, scope)) is not None:
            self._first = test.bind, zone
        yes = self._steps(then, scope)
        self._first, self._seen = None, {}
        no = self._steps(otherwise, scope)
        self._seen = {}
        q.at(test.span)
        if not yes and not no:
            return [q.placed(ast.Expr(holds))]
        return [q.placed(ast.If(holds, yes or [q.placed(ast.Pass())], no))]

    def _iterate(self, step: c.Iterate, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        short = x.loops.known_items(step.items, scope) if not scope.leaky and size(step.body) <= MOST_REPEATED else None
        if short is not None:
            found: Block = []
            for item in short:
                scope.names[step.variable] = q.constant(item)
                found.extend(self._tested(step.test, self.block(step.body, scope, _some(step.test)), scope))
            del scope.names[step.variable]
            return found
        items = x.items(step.items, scope)
        body = self._tested(step.test, self.block(step.body, scope, _some(step.test)), scope)
        q.at(step.span)
        loop = ast.For(q.store(scope.label(step.variable)), items, body or [q.placed(ast.Pass())], [], None)
        return [q.placed(loop)]

    def _tested(self, test: c.Expression | None, body: Block, scope: Scope) -> Block:
        if test is None:
            return body
        holds = self.expressions.expression(test, scope)
        if is_constant(holds):
            return body if value_of(holds) else []
        return [self.quote.placed(ast.If(holds, body or [self.quote.placed(ast.Pass())], []))]

    def _repeat(self, step: c.Repeat, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        limit, passes = q.name(x.fresh("limit")), q.name(x.fresh("passes"))
        bound = x.expression(step.bound, scope) if step.bound is not None else q.constant(MAXIMUM_PASSES)
        body = self.block(step.body, scope)
        return q.statements(
            "_0 = _1\n_2 = 0\nwhile _3:\n    _2 += 1\n    if _2 > _0:\n        give_up()\n    body",
            limit,
            bound,
            passes,
            x.expression(step.test, scope),
            body=body,
        )

    # --- effects

    def visible(self, card: ast.expr, optional: bool) -> ast.expr:
        """Who may see a card where it lies."""
        q = self.quote
        if isinstance(card, ast.Name) and card.id in self._seen:
            return self._seen[card.id]
        if not cheap(card):
            return q.call("visible", [q.name("state"), card])
        seen = q.expression("SEEN[S[_0 + _1]]", q.constant(self.base["location"]), card)
        return q.expression("None if _0 is None else _1", card, seen) if optional else seen

    def visible_in(self, value: ast.expr, type_: Type) -> ast.expr:
        """Who may see all cards in a value; that value must be cheap."""
        q = self.quote
        if type_.form == "card":
            return self.visible(value, type_.optional)
        if not has_cards(type_, self.expressions.constants.model.records):
            return q.constant(None)
        return q.call("visible_in", [q.name("state"), value, q.name(self.emitter.bind(f"type of {type_}", type_))])

    def named(self, parts: dict[str, ast.expr]) -> tuple[Block, list[ast.expr]]:
        """The parts by names, where they are more than that, or than a part of a bag that has a name."""
        found: Block = []
        names: list[ast.expr] = []
        for label, part in parts.items():
            if not isinstance(part, ast.Name | ast.Constant) and not is_part(part):
                fresh = self.expressions.fresh(label)
                found.append(self.quote.assign(fresh, part))
                part = self.quote.name(fresh)
            names.append(part)
        return found, names

    def mark(self, word: str, number: ast.expr, *changes: Change) -> Block:
        """Something begins or ends, and cells change with it."""
        q = self.quote
        parts = [q.constant(MARK), q.constant(None), q.constant(word), number]
        before: Block = []
        changed: Block = []
        for group, where, value, old in changes:
            named, (held,) = self.named({"old": old})
            before.extend(named)
            parts.extend((where, held))
            changed.extend(q.statements("S[_0] = _1", where, value))
            changed.extend(self.after(group, where, held))
        told = q.statements("L.append(_0)", q.tuple(parts))
        return [*before, *told, *changed] if has_ended((MARK, None, word)) else [*before, *changed, *told]

    def _effect(self, step: c.Step, scope: Scope, first: tuple[int, Zone] | None, some: c.Expression | None) -> Block:
        q, x = self.quote, self.expressions
        site = q.name(self.emitter.site(step.span))
        state = q.name("state")
        match step:
            case c.SetCell(cell, value):
                return self._set(cell, x.kept(value, scope), step, scope)
            case c.MoveCards():
                return self._move_cards(step, scope, site, first)
            case c.MoveAll():
                return self.moves.everything(step, scope, site)
            case c.MoveTokens(amount, source, target):
                return self.moves.tokens(amount, source, target, scope, site, some)
            case c.MovePiece():
                return self.moves.piece(step, scope, site)
            case c.Shuffles(zone, chance):
                number = q.constant(self.constants.chance_names[chance])
                arguments = [state, x.address(zone, scope), q.constant(chance), number, site]
                return [q.placed(ast.Expr(q.call("shuffle", arguments)))]
            case c.Picks(index, items, chance):
                number = q.constant(self.constants.chance_names[chance])
                picked = q.expression("tuple(_0)", x.items(items, scope))
                return [q.assign(scope.label(index), q.call("pick", [state, picked, q.constant(chance), number, site]))]
            case c.Notes(event, values):
                return self._note(event, values, scope, site)
            case c.Keeps(edge, of, procedure, captured):
                kept = q.tuple([x.local(scope, index) for index in captured])
                block = q.tuple([q.constant(edge), q.constant(of), q.constant(procedure), kept])
                return [q.placed(ast.Expr(q.call("keep", [state, block, site])))]
            case c.Reveals():
                return self.mark("reveal", q.constant(0))
            case _:
                raise AssertionError(step)

    def _set(self, cell: c.Expression, value: ast.expr, step: c.Step, scope: Scope) -> Block:
        where = self.expressions.address(cell, scope)
        found = self.expressions.knowledge.cell_of(cell)
        group = found.group if isinstance(found, c.Cell) else None
        return self.put(where, group, value, self.emitter.site(step.span), differs=_is_shorter(step))

    def put(self, where: ast.expr, group: str | None, value: ast.expr, site: str, *, differs: bool = False) -> Block:
        """A cell gets a value: the record, the change, and what follows from it. ``differs``: it surely changes."""
        q, x = self.quote, self.expressions
        site_ = q.name(site) if site else q.constant(None)
        if group is None:
            return [q.placed(ast.Expr(q.call("put", [q.name("state"), where, value, site_])))]
        found: Block = []
        if not is_constant(where) and not isinstance(where, ast.Name):
            cell = x.fresh("cell")
            found.append(q.assign(cell, where))
            where = q.name(cell)
        before, value = self._in_place(value)
        found.extend(before)
        if not cheap(value) or not isinstance(value, ast.Name | ast.Constant):
            new = x.fresh("new")
            found.append(q.assign(new, value))
            value = q.name(new)
        change = q.statements("L.append((0, _1, _0, S[_0]))\nS[_0] = _2", where, site_, value)
        change.extend(self.after(group, where))
        if differs:
            found.extend(change)
        else:
            found.extend(q.statements("if _0:\n    body", self._differs(group, where, value), body=change))
        return found

    def _differs(self, group: str, where: ast.expr, value: ast.expr) -> ast.expr:
        """Whether a cell holds something else than it is to get."""
        q = self.quote
        if is_constant(value) and value_of(value) is None:
            return q.expression("S[_0] is not None", where)
        found = q.expression("S[_0] != _1", where, value)
        kept = self.constants.model.groups.get(group)
        if is_constant(value) and value_of(value) == () and kept is not None and not kept.type.optional:
            return asks_for_items(found)
        return found

    def after(
        self,
        group: str,
        where: ast.expr,
        old: ast.expr | None = None,
        owner: ast.expr | None = None,
        *,
        became: Became = "any",
        asked: ast.expr | None = None,
    ) -> Block:
        """What a change of a group's cell brings with it: remembered values go, standing rules are woken.

        ``old`` is what the cell held before, where that is not in the last record; ``owner`` whose cell it is, where
        that is a local. Then the one rule that could be woken is asked at once, if that is short, and sleeps on where
        it has no match; but not while the machine settles: a decision in between must leave what the plain form leaves.
        ``became``: what has become of it, as far as a rule may sleep on for it. ``asked``: the answer of the rule,
        where that was asked before the change.
        """
        q = self.quote
        found: Block = self.emitter.drops(group, where, old or q.expression("L[-1][3]"))
        first, wakes = self.base[group], self.constants.effects.wakes
        bits = set(wakes[first : first + self.constants.layout.count(group)])
        if bits != {0}:
            woken = (
                q.constant(wakes[value_of(where)])
                if is_constant(where)
                else q.constant(*bits)
                if len(bits) == 1
                else q.expression("WAKES[_0]", where)
            )
            wake = q.statements("S[_0] |= _1", q.constant(self.base["pending"]), woken)
            matches = asked
            if matches is None and owner is not None:
                matches = self.emitter.standing.matches_after(became, group, owner)
            if matches is not None:
                settling = q.expression("S[_0]", q.constant(self.base["settling"]))
                asleep = is_constant(matches) and not value_of(matches)
                test = settling if asleep else q.expression("_0 or _1", settling, matches)
                wake = q.statements("if _0:\n    body", test, body=wake)
            found.extend(wake)
        return found

    def _move_cards(self, step: c.MoveCards, scope: Scope, site: ast.expr, first: tuple[int, Zone] | None) -> Block:
        """``first``: a local that holds the first card of a zone, and that zone."""
        card = step.cards
        source = first[1] if first is not None and isinstance(card, c.Local) and card.index == first[0] else None
        found = self.moves.cards(step, source, scope, site)
        if isinstance(card, c.Local) and card.type.form == "card" and step.target.type.form != "pile":
            name, seen = self.expressions.local(scope, card.index), self.moves.seen_in(step.target, scope)
            if isinstance(name, ast.Name) and seen is not None:
                self._seen[name.id] = seen
        return found

    def _note(self, event: str, nodes: tuple[c.Expression, ...], scope: Scope, site: ast.expr) -> Block:
        q, x = self.quote, self.expressions
        found: Block = []
        values: list[ast.expr] = []
        seen: list[ast.expr] = []
        for node in nodes:
            value = x.expression(node, scope)
            if not has_cards(node.type, x.constants.model.records):
                values.append(value)
                seen.append(q.constant(None))
                continue
            if not cheap(value):
                card = x.fresh("card")
                found.append(q.assign(card, value))
                value = q.name(card)
            values.append(value)
            seen.append(self.visible_in(value, node.type))
        record = [q.constant(NOTE), site, q.constant(event), q.tuple(seen), *values]
        found.extend(q.statements("L.append(_0)", q.tuple(record)))
        return found


def _some(test: c.Expression | None) -> c.Expression | None:
    """The number that is more than 0 where a test holds."""
    match test:
        case c.Comparison(">", number, c.Const(0)):
            return number
        case _:
            return None


def _is_shorter(step: c.Step) -> bool:
    """Whether a cell gets what it holds without an item, which must be there."""
    match step:
        case c.SetCell(cell, c.Builtin("without", (c.Read(held), _))):
            return held == cell
        case _:
            return False


def _leaves_cards(step: c.Step) -> bool:
    """Whether cards surely lie where they lay. (Procedures that stand in place of their calls name what they get.)"""
    match step:
        case c.Notes() | c.SetLocal(_, c.Local() | c.Const()) | c.Branch(c.Test(c.Const(), None)):
            return True
        case _:
            return False


def no_loop_in_iterable(tree: ast.AST) -> None:
    """Python does not let an assignment stand in what a comprehension looks through."""
    for node in walk(tree):
        if isinstance(node, ast.comprehension) and any(isinstance(each, ast.NamedExpr) for each in walk(node.iter)):
            raise Unsupported("a loop over what another loop found")
