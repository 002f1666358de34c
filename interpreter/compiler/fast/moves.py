"""Moves of the fast form: what changes where cards, tokens and pieces are, and the one record that each leaves."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpreter.compiler.fast.knowledge import MOST_UNROLLED
from interpreter.compiler.fast.letters import PROCEDURE
from interpreter.compiler.fast.parts import part_of
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.scope import Scope
from interpreter.compiler.fast.terms import cheap
from interpreter.language import core as c

if TYPE_CHECKING:
    from interpreter.compiler.fast.statements import Block, Statements

__all__ = ["Moves", "Zone"]


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone of a group, and whose it is."""

    group: str
    owner: ast.expr | None


class Moves:
    """Writes moves."""

    def __init__(self, statements: Statements) -> None:
        self.emitter, self.expressions = statements.emitter, statements.expressions
        self.quote, self.constants = statements.quote, statements.constants
        self.base, self.after, self.named = statements.base, statements.after, statements.named
        self.zones = self.emitter.knowledge.zones

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

    def tokens(
        self,
        amount: c.Expression,
        source: c.Expression,
        target: c.Expression,
        scope: Scope,
        site: ast.expr,
        some: c.Expression | None,
    ) -> Block:
        """``some``: a number that is more than 0."""
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
            return self._move_some(
                number, kind, amount.size, (taken, away), (given, to), site, sure=amount.number == some
            )
        return [q.placed(ast.Expr(q.call("move_tokens", [state, x.expression(amount, scope), away, to, site])))]

    def _move_some(
        self,
        number: ast.expr,
        kind: ast.expr,
        width: int,
        source: tuple[str, ast.expr],
        target: tuple[str, ast.expr],
        site: ast.expr,
        *,
        sure: bool,
    ) -> Block:
        """Tokens of one kind from one holder of several kinds to another; the groups are known and not the same.

        ``sure``: the number is more than 0.
        """
        q, x = self.quote, self.expressions
        parts = {"amount": number, "kind": kind, "source": source[1], "target": target[1]}
        found, (number, kind, away, to) = self.named(parts)
        held, there, left, more = (q.name(x.fresh(label)) for label in ("held", "there", "left", "more"))
        change = q.statements("_0 = S[_1]\n_2 = S[_3]", held, away, there, to)
        change.extend(q.statements("_0 = _1 - _2", left, self._part(held, kind, width), number))
        change.extend(q.statements("_0 = _1 + _2", more, self._part(there, kind, width), number))
        if self.base[source[0]] not in self.constants.effects.unlimited:
            change.extend(q.statements("if _0 < 0:\n    give_up()", left))
        track = self.constants.effects.tracks.get(self.base[target[0]])
        if track is not None:
            limit = x.builtins.capacity(self.base[target[0]], kind)
            change.extend(q.statements("if _0 > _1:\n    give_up()", more, limit))
        crowded = self.emitter.standing.crowds(target[0], self._owner(*target), number, kind)
        if crowded is not None:
            name = x.fresh("crowded")
            change.append(q.assign(name, crowded))
            crowded = q.name(name)
        change.extend(q.statements("L.append((4, _2, _0, _1, _3, _4))", away, held, site, to, there))
        change.extend(self._with_parts(((away, held, left), (to, there, more)), kind, width))
        change.extend(self.after(source[0], away, held, self._owner(*source), became="fewer tokens"))
        change.extend(self.after(target[0], to, there, self._owner(*target), asked=crowded))
        if sure or (is_constant(number) and value_of(number) > 0):
            return [*found, *change]
        return [
            *found,
            *q.statements("if _0 > 0:\n    body\nelif _0:\n    give_up()", number, body=change),
        ]

    def _part(self, bag: ast.expr, kind: ast.expr, width: int) -> ast.expr:
        return part_of(self.quote.expression("_0[_1]", bag, kind), width)

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
            kinds = [q.constant(number) for number in range(width)]
            each = [part if i.value == value_of(kind) else self._part(bag, i, width) for i in kinds]
            found.extend(q.statements("S[_0] = _1", cell, q.tuple(each)))
        return found

    def _either(self, test: ast.expr, then: Block, otherwise: Block) -> Block:
        return [self.quote.placed(ast.If(test, then, otherwise))]

    def _move_number(
        self, amount: ast.expr, source: tuple[str, ast.expr], target: tuple[str, ast.expr], site: ast.expr
    ) -> Block:
        """A number of tokens from one holder to another; both groups are known and are not the same."""
        q, x = self.quote, self.expressions
        found, (number, away, to) = self.named({"amount": amount, "source": source[1], "target": target[1]})
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

    def piece(self, step: c.MovePiece, scope: Scope, site: ast.expr) -> Block:
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
        found, (held,) = self.named({"stock": stock[1]})
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

    # --- cards

    def zone(self, node: c.Expression, scope: Scope) -> Zone | None:
        """The zone that an expression says, where its group is known and nothing about it is left to the plain form."""
        cell = self.expressions.knowledge.cell_of(node)
        if not isinstance(cell, c.Cell) or self.base[cell.group] not in self.zones.order:
            return None
        if self.base[cell.group] in self.zones.odd:
            return None
        owner = self.expressions.expression(cell.owner, scope) if cell.owner is not None else None
        return Zone(cell.group, owner)

    def opened(self, value: c.Expression, scope: Scope) -> Zone | None:
        """The zone whose first card a value is."""
        match value:
            case c.Builtin("first" | "top", (c.Read(cell),)):
                zone = self.zone(cell, scope)
                return zone if zone is None or cheap(zone.owner or self.quote.constant(0)) else None
            case _:
                return None

    def seen_in(self, node: c.Expression, scope: Scope) -> ast.expr | None:
        """Who may see what lies in a zone, where that is the same for all zones of its group."""
        zone = self.zone(node, scope)
        if zone is None:
            return None
        first, count = self.base[zone.group], self.constants.layout.count(zone.group)
        seen = {self.constants.seen_by.get(cell) for cell in range(first, first + count)}
        return self.quote.constant(seen.pop()) if len(seen) == 1 else None

    def cards(self, step: c.MoveCards, source: Zone | None, scope: Scope, site: ast.expr) -> Block:
        """``source``: where the only card is the first one."""
        q, x = self.quote, self.expressions
        cards = x.expression(step.cards, scope)
        state, where = q.name("state"), q.constant(step.where)
        if step.target.type.form == "pile":
            if step.cards.type.form == "card":
                cards = q.tuple([cards])
            arguments = [state, cards, x.expression(step.target, scope), where, site]
            return [q.placed(ast.Expr(q.call("move_to_pile", arguments)))]
        if step.cards.type.form != "card":
            arguments = [state, cards, x.address(step.target, scope), where, site]
            return [q.placed(ast.Expr(q.call("move_cards", arguments)))]
        target = self.zone(step.target, scope)
        if target is None or step.where == "new pile":
            arguments = [state, cards, x.address(step.target, scope), where, site]
            return [q.placed(ast.Expr(q.call("move_card", arguments)))]
        if source is not None and source.group == target.group:
            source = None
        given = [each.owner for each in (target, source) if each is not None and each.owner is not None]
        name = self._card_moves(step, target, source)
        return [q.placed(ast.Expr(q.call(name, [state, cards, site, *given])))]

    def _card_moves(self, step: c.MoveCards, target: Zone, source: Zone | None) -> str:
        """The function that moves one card to a zone, from the front of another one or from where it lies."""
        words = ("to", "from")
        named = [
            Zone(each.group, None if each.owner is None else self.quote.name(f"{word}_seat"))
            for word, each in zip(words, (target, source), strict=False)
            if each is not None
        ]
        key = ("card moves", step.where, *((zone.group, zone.owner is None) for zone in named))
        known = self.emitter.known
        if key not in known:
            assert step.span is not None
            with self.emitter.write(step.span, PROCEDURE, f"to {target.group}") as writing:
                known[key] = writing.name
                owners = [zone.owner.id for zone in named if isinstance(zone.owner, ast.Name)]
                body = self._card(named[0], named[1] if source is not None else None, step.where)
                writing.add(self.quote.function(writing.name, ["state", "card", "site", *owners], body))
        return known[key]  # type: ignore[no-any-return]

    def _card(self, target: Zone, source: Zone | None, where: str) -> Block:
        q = self.quote
        card, site, place = q.name("card"), q.name("site"), q.name("place")
        away, to = q.name("away"), q.name("to")
        found = q.statements("_0 = _1", to, self._cell(target))
        found.extend(q.statements("_0 = _1 + _2", place, q.constant(self.base["location"]), card))
        change = q.statements("held = S[_0]\nthere = S[_1]", away, to)
        if source is None:
            change.extend(q.statements("at = held.index(_0)", card))
        change.extend(q.statements("L.append((4, _0, _1, held, _2, there, _3, _1))", site, away, to, place))
        rest = q.expression("held[1:]") if source is not None else q.expression("held[:at] + held[at + 1:]")
        change.extend(q.statements("S[_0] = _1", away, rest))
        change.extend(self._with_card(target, where))
        change.extend(q.statements("S[_0] = more\nS[_1] = _0", to, place))
        held, there = q.name("held"), q.name("there")
        if source is not None:
            change.extend(self.after(source.group, away, held))
        else:
            change.extend(self._after_any_zone(away, held))
        change.extend(self.after("location", place, away))
        change.extend(self.after(target.group, to, there, target.owner, became="one card more"))
        if source is not None:
            return [*found, *q.statements("_0 = _1", away, self._cell(source)), *change]
        slowly = q.expression("_0 == _1", away, to)
        if self.zones.odd:
            slowly = q.expression("_0 or _1 in ODD", slowly, away)
        template = "_0 = S[_1]\nif _2:\n    move_card(state, card, _3, _4, site)\nelse:\n    body"
        return [*found, *q.statements(template, away, place, slowly, to, q.constant(where), body=change)]

    def _cell(self, zone: Zone) -> ast.expr:
        first = self.quote.constant(self.base[zone.group])
        return first if zone.owner is None else self.quote.expression("_0 + _1", first, zone.owner)

    def _with_card(self, zone: Zone, where: str) -> Block:
        """What lies in a zone with one more card."""
        q, first = self.quote, self.base[zone.group]
        order = self.zones.order[first]
        if order is None:
            return q.statements("more = (card,) + there" if where == "top" else "more = there + (card,)")
        if self.zones.keeps_numbers(first):
            return q.statements("more = [*there]\ninsort(more, card)\nmore = tuple(more)")
        key = q.name(self.emitter.bind(f"order of {zone.group}", order.__getitem__))
        return q.statements("more = tuple(sorted([*there, card], key=_0))", key)

    def _after_any_zone(self, where: ast.expr, old: ast.expr) -> Block:
        """As ``after``, for a zone of a group that is not known."""
        q = self.quote
        found: Block = self.emitter.drops("", where, old)
        if any(self.constants.effects.wakes[cell] for cell in self.zones.order):
            pending = q.constant(self.base["pending"])
            found.extend(q.statements("if WAKES[_1]:\n    S[_0] |= WAKES[_1]", pending, where))
        return found

    def everything(self, step: c.MoveAll, scope: Scope, site: ast.expr) -> Block:
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
