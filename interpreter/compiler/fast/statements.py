"""Steps of the fast form: each checked step becomes Python statements, each effect the records and changes it means."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.constants import MAXIMUM_NUMBER, MAXIMUM_PASSES
from interpreter.compiler.fast.expressions import Expressions, Scope, Unsupported, cheap
from interpreter.compiler.fast.knowledge import MOST_UNROLLED
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.truths import asks_for_items
from interpreter.kernel.effects import MARK, has_ended
from interpreter.language import core as c
from interpreter.language.types import Type, has_cards
from interpreter.language.walk import size

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

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

    def block(self, steps: Sequence[c.Step], scope: Scope) -> Block:
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
        q, x = self.quote, self.expressions
        q.at(step.span)
        match step:
            case c.SetLocal(index, value):
                return [
                    q.assign(scope.label(index), x.expression(value, scope)),
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
                return self._effect(step, scope)

    def _bounded(self, value: c.Expression, name: str) -> Block:
        """What a local was given may be kept."""
        q = self.quote
        if not self.emitter.sizes.is_large(value, own=True):
            return []
        if value.type.form == "bag" or value.type.optional:
            return q.statements("bounded(_0)", q.name(name))
        return q.statements(f"if not {-MAXIMUM_NUMBER} < _0 < {MAXIMUM_NUMBER}:\n    give_up()", q.name(name))

    def _branch(self, test: c.Test, then: Sequence[c.Step], otherwise: Sequence[c.Step], scope: Scope) -> Block:
        q = self.quote
        holds = self.test(test, scope)
        if is_constant(holds):
            return self.block(then if value_of(holds) else otherwise, scope)
        yes, no = self.block(then, scope), self.block(otherwise, scope)
        q.at(test.span)
        if not yes and not no:
            return [q.placed(ast.Expr(holds))]
        return [q.placed(ast.If(holds, yes or [q.placed(ast.Pass())], no))]

    def _iterate(self, step: c.Iterate, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        short = x.short(step.items, scope) if not scope.leaky and size(step.body) <= MOST_REPEATED else None
        if short is not None:
            found: Block = []
            for item in short:
                scope.names[step.variable] = q.constant(item)
                found.extend(self._tested(step.test, self.block(step.body, scope), scope))
            del scope.names[step.variable]
            return found
        items = x.items(step.items, scope)
        body = self._tested(step.test, self.block(step.body, scope), scope)
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
        if not cheap(card):
            return q.call("visible", [q.name("state"), card])
        found = q.expression("SEEN.get(S[_0 + _1])", q.constant(self.base["location"]), card)
        return q.expression("_1 if _0 is not None else None", card, found) if optional else found

    def visible_in(self, value: ast.expr, type_: Type) -> ast.expr:
        """Who may see all cards in a value; that value must be cheap."""
        q = self.quote
        if type_.form == "card":
            return self.visible(value, type_.optional)
        if not has_cards(type_, self.expressions.constants.model.records):
            return q.constant(None)
        return q.call("visible_in", [q.name("state"), value, q.name(self.emitter.bind(f"type of {type_}", type_))])

    def mark(self, word: str, number: ast.expr, *changes: Change) -> Block:
        """Something begins or ends, and cells change with it."""
        q = self.quote
        parts = [q.constant(MARK), q.constant(None), q.constant(word), number]
        before: Block = []
        changed: Block = []
        for group, where, value, old in changes:
            named, (held,) = self._named({"old": old})
            before.extend(named)
            parts.extend((where, held))
            changed.extend(q.statements("S[_0] = _1", where, value))
            changed.extend(self.after(group, where, held))
        told = q.statements("L.append(_0)", q.tuple(parts))
        return [*before, *told, *changed] if has_ended((MARK, None, word)) else [*before, *changed, *told]

    def _effect(self, step: c.Step, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        site = q.name(self.emitter.site(step.span))
        state = q.name("state")
        match step:
            case c.SetCell(cell, value):
                return self._set(cell, x.kept(value, scope), step, scope)
            case c.MoveCards():
                return self._move_cards(step, scope, site)
            case c.MoveAll():
                return self._move_all(step, scope, site)
            case c.MoveTokens(amount, source, target):
                return self._move_tokens(amount, source, target, scope, site)
            case c.MovePiece():
                return self._move_piece(step, scope, site)
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
        return self.put(where, group, value, self.emitter.site(step.span))

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

    def after(self, group: str, where: ast.expr, old: ast.expr | None = None, owner: ast.expr | None = None) -> Block:
        """What a change of a group's cell brings with it: remembered values go, standing rules are woken.

        ``old`` is what the cell held before, where that is not in the last record; ``owner`` whose cell it is, where
        that is a local. Then the one rule that could be woken is asked at once, if that is short, and sleeps on where
        it has no match; but not while the machine settles: a decision in between must leave what the plain form leaves.
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
            matches = self.emitter.standing.matches_for(group, owner) if owner is not None else None
            if matches is not None:
                settling = q.constant(self.base["settling"])
                wake = q.statements("if S[_0] or _1:\n    body", settling, matches, body=wake)
            found.extend(wake)
        return found

    def _owner(self, group: str, where: ast.expr) -> ast.expr | None:
        """The local that says whose cell of a group it is."""
        match where:
            case ast.BinOp(ast.Constant(int(first)), ast.Add(), ast.Name() as owner) if first == self.base[group]:
                return owner
            case _:
                return None

    def _group(self, node: c.Expression) -> str | None:
        cell = self.expressions.knowledge.cell_of(node)
        return cell.group if isinstance(cell, c.Cell) else None

    def _move_tokens(
        self, amount: c.Expression, source: c.Expression, target: c.Expression, scope: Scope, site: ast.expr
    ) -> Block:
        q, x = self.quote, self.expressions
        taken, given = self._group(source), self._group(target)
        away, to = x.address(source, scope), x.address(target, scope)
        state = q.name("state")
        if taken is None or given is None or taken == given:
            return [q.placed(ast.Expr(q.call("move_tokens", [state, x.expression(amount, scope), away, to, site])))]
        if self.base[taken] in self.constants.effects.units:
            return self._move_number(x.expression(amount, scope), (taken, away), (given, to), site)
        if isinstance(amount, c.AmountOf):
            number, kind = x.expression(amount.number, scope), x.expression(amount.kind, scope)
            return self._move_some(number, kind, amount.size, (taken, away), (given, to), site)
        return [q.placed(ast.Expr(q.call("move_tokens", [state, x.expression(amount, scope), away, to, site])))]

    def _named(self, parts: dict[str, ast.expr]) -> tuple[Block, list[ast.expr]]:
        """The parts by names, where they are more than that."""
        found: Block = []
        names: list[ast.expr] = []
        for label, part in parts.items():
            if not isinstance(part, ast.Name | ast.Constant):
                fresh = self.expressions.fresh(label)
                found.append(self.quote.assign(fresh, part))
                part = self.quote.name(fresh)
            names.append(part)
        return found, names

    def _move_some(
        self,
        number: ast.expr,
        kind: ast.expr,
        width: int,
        source: tuple[str, ast.expr],
        target: tuple[str, ast.expr],
        site: ast.expr,
    ) -> Block:
        """Tokens of one kind from one holder of several kinds to another; the groups are known and not the same."""
        q, x = self.quote, self.expressions
        parts = {"amount": number, "kind": kind, "source": source[1], "target": target[1]}
        found, (number, kind, away, to) = self._named(parts)
        held, there, left, more = (q.name(x.fresh(label)) for label in ("held", "there", "left", "more"))
        change = q.statements("_0 = S[_1]\n_2 = S[_3]", held, away, there, to)
        change.extend(q.statements("_0 = _1[_3] - _2\n_4 = _5[_3] + _2", left, held, number, kind, more, there))
        if self.base[source[0]] not in self.constants.effects.unlimited:
            change.extend(q.statements("if _0 < 0:\n    give_up()", left))
        track = self.constants.effects.tracks.get(self.base[target[0]])
        if track is not None:
            full = q.name(self.emitter.bind(f"full {target[0]}", track.capacities()))
            limit = (
                q.constant(track.capacity(value_of(kind))) if is_constant(kind) else q.expression("_0[_1]", full, kind)
            )
            change.extend(q.statements("if _0 > _1:\n    give_up()", more, limit))
        change.extend(q.statements("L.append((4, _2, _0, _1, _3, _4))", away, held, site, to, there))
        change.extend(self._with_parts(((away, held, left), (to, there, more)), kind, width))
        change.extend(self.after(source[0], away, held, self._owner(*source)))
        change.extend(self.after(target[0], to, there, self._owner(*target)))
        if is_constant(number) and value_of(number) > 0:
            return [*found, *change]
        return [
            *found,
            *q.statements("if _0 > 0:\n    body\nelif _0:\n    give_up()", number, body=change),
        ]

    def _with_parts(self, bags: Sequence[tuple[ast.expr, ast.expr, ast.expr]], kind: ast.expr, width: int) -> Block:
        """Cells get bags in which one kind is another number: each is a cell, the bag before and the number."""
        q = self.quote
        if width > MOST_UNROLLED:
            changed = "S[_0] = (*_1[:_2], _3, *_1[_2 + 1:])"
            return [each for cell, bag, part in bags for each in q.statements(changed, cell, bag, kind, part)]
        if not is_constant(kind):
            found: Block = []
            for number in reversed(range(width)):
                known = self._with_parts(bags, q.constant(number), width)
                found = (
                    known
                    if not found
                    else self._either(q.expression("_0 == _1", kind, q.constant(number)), known, found)
                )
            return found
        found = []
        for cell, bag, part in bags:
            each = [part if i == value_of(kind) else q.expression("_0[_1]", bag, q.constant(i)) for i in range(width)]
            found.extend(q.statements("S[_0] = _1", cell, q.tuple(each)))
        return found

    def _either(self, test: ast.expr, then: Block, otherwise: Block) -> Block:
        return [self.quote.placed(ast.If(test, then, otherwise))]

    def _move_number(
        self, amount: ast.expr, source: tuple[str, ast.expr], target: tuple[str, ast.expr], site: ast.expr
    ) -> Block:
        """A number of tokens from one holder to another; both groups are known and are not the same."""
        q, x = self.quote, self.expressions
        found, (number, away, to) = self._named({"amount": amount, "source": source[1], "target": target[1]})
        held, there = q.name(x.fresh("held")), q.name(x.fresh("there"))
        found.extend(q.statements("_0 = S[_1]\n_2 = S[_3]", held, away, there, to))
        unlimited = self.base[source[0]] in self.constants.effects.unlimited
        sure = is_constant(number) and value_of(number) >= 0
        track = self.constants.effects.tracks.get(self.base[target[0]])
        if not (unlimited and sure):
            check = "_0 < 0" if unlimited else ("_1 < _0" if sure else "not 0 <= _0 <= _1")
            found.extend(q.statements(f"if {check}:\n    give_up()", number, held))
        if track is not None:
            capacity = q.constant(track.capacity(0))
            found.extend(q.statements("if _0 + _1 > _2:\n    give_up()", there, number, capacity))
        change = q.statements("L.append((4, _0, _1, _2, _3, _4))", site, away, held, to, there)
        change.extend(q.statements("S[_1] = _3 - _0\nS[_2] = _4 + _0", number, away, to, held, there))
        change.extend(self.after(source[0], away, held, self._owner(*source)))
        change.extend(self.after(target[0], to, there, self._owner(*target)))
        if is_constant(number) and value_of(number):
            return [*found, *change]
        return [*found, *q.statements("if _0:\n    body", number, body=change)]

    def _move_piece(self, step: c.MovePiece, scope: Scope, site: ast.expr) -> Block:
        q, x = self.quote, self.expressions
        number = x.expression(step.number, scope)
        state = q.name("state")
        if step.target.type.form == "place":
            stock, place = x.address(step.source, scope), x.expression(step.target, scope)
            taken = self.expressions.knowledge.cell_of(step.source)
            if is_constant(number) and value_of(number) == 1 and isinstance(taken, c.Cell):
                owner = x.expression(taken.owner, scope) if taken.owner is not None else q.constant(0)
                return self._place_piece((taken.group, stock), owner, place, site)
            arguments = [state, number, stock, place, site]
            return [q.placed(ast.Expr(q.call("place_piece", arguments)))]
        if step.source.type.form == "place":
            arguments = [state, x.expression(step.source, scope), x.address(step.target, scope), site]
            return [q.placed(ast.Expr(q.call("take_piece", arguments)))]
        away, to = x.address(step.source, scope), x.address(step.target, scope)
        return [q.placed(ast.Expr(q.call("move_tokens", [state, number, away, to, site])))]

    def _place_piece(self, stock: tuple[str, ast.expr], owner: ast.expr, place: ast.expr, site: ast.expr) -> Block:
        """One piece of a stock goes to an empty place."""
        q, x = self.quote, self.expressions
        found, (held,) = self._named({"stock": stock[1]})
        cell = q.name(x.fresh("cell"))
        found.append(q.assign(cell.id, q.expression("_0 + _1", q.constant(self.base["piece"]), place)))
        number = q.name(x.fresh("number"))
        found.extend(q.statements("_0 = S[_1]", number, held))
        found.extend(q.statements("if S[_0] is not None or _1 < 1:\n    give_up()", cell, number))
        kinds, kind = len(self.constants.pieces), self.constants.effects.stock_pieces[self.base[stock[0]]]
        piece = q.expression("_0 * _1 + _2", owner, q.constant(kinds), q.constant(kind)) if kinds > 1 else owner
        found.extend(q.statements("L.append((4, _0, _1, _2, _3, None))", site, held, number, cell))
        found.extend(q.statements("S[_0] = _1 - 1\nS[_2] = _3", held, number, cell, piece))
        return [*found, *self.after(stock[0], held, number), *self.after("piece", cell, q.constant(None))]

    def _move_cards(self, step: c.MoveCards, scope: Scope, site: ast.expr) -> Block:
        q, x = self.quote, self.expressions
        cards = x.expression(step.cards, scope)
        state, where = q.name("state"), q.constant(step.where)
        if step.target.type.form == "pile":
            if step.cards.type.form == "card":
                cards = q.tuple([cards])
            arguments = [state, cards, x.expression(step.target, scope), where, site]
            return [q.placed(ast.Expr(q.call("move_to_pile", arguments)))]
        target = x.address(step.target, scope)
        if step.cards.type.form == "card":
            return [q.placed(ast.Expr(q.call("move_card", [state, cards, target, where, site])))]
        return [q.placed(ast.Expr(q.call("move_cards", [state, cards, target, where, site])))]

    def _move_all(self, step: c.MoveAll, scope: Scope, site: ast.expr) -> Block:
        q, x = self.quote, self.expressions
        state, where = q.name("state"), q.constant(step.where)
        form = step.source.type.form
        if form in ("pool", "track"):
            held = x.address(step.source, scope)
            arguments = [state, q.expression("S[_0]", held), held, x.address(step.target, scope), site]
            return [q.placed(ast.Expr(q.call("move_tokens", arguments)))]
        cards = x.expression(step.source, scope)
        if form != "pile":
            cards = q.expression("S[_0]", cards)
        if step.target.type.form == "pile":
            arguments = [state, cards, x.expression(step.target, scope), where, site]
            return [q.placed(ast.Expr(q.call("move_to_pile", arguments)))]
        arguments = [state, cards, x.address(step.target, scope), where, site]
        return [q.placed(ast.Expr(q.call("move_cards", arguments)))]

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
        record = [q.constant(1), site, q.constant(event), q.tuple(values), q.tuple(seen)]
        found.extend(q.statements("L.append(_0)", q.tuple(record)))
        return found


def no_loop_in_iterable(tree: ast.AST) -> None:
    """Python does not let an assignment stand in what a comprehension looks through."""
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension) and any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.iter)):
            raise Unsupported("a loop over what another loop found")
