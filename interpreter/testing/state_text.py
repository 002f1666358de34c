"""A state as rule text: the lines that lead from one state of a table to another, as a scenario gives them.

What stands between two phases can mostly be said so. What cannot is left out: blocks that wait, tokens on cards, cards
that cannot be told apart, pieces that left their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interpreter.engine.game import Game
from interpreter.engine.queries import literal
from interpreter.kernel.state import Value
from interpreter.language.model import Group
from interpreter.language.types import CardHolderType, HolderType, PilesType, PoolType, StockType, TokenHolderType

__all__ = ["joined", "lines_to"]

Holder = tuple[Group, int, str]
"""A group, the cell of one owner, and how rule text names it."""


def lines_to(first: Game, then: Game) -> list[str]:
    """The lines after which the first game holds what the other one does."""
    holders = list(_holders(first))
    found = [*_cards(first, then, holders), *_tokens(first, then, holders), *_pieces(first, then, holders)]
    for group, cell, name in holders:
        value = then.state.cells[cell]
        if not isinstance(group.type, HolderType) and first.state.cells[cell] != value:
            said = literal(first, value, group.type)
            if said is not None:
                found.append(f"{name} = {said}")
    return found


_CARD = re.compile(r"move \[c in (\w+) where (c\.\w+) == (.+)\] to (?!bottom of |new pile )(.+)")


def joined(lines: Iterable[str]) -> list[str]:
    """The lines, with cards that go to one place in one of them."""
    found: list[str] = []
    last, keys = None, list[str]()
    for line in lines:
        card = _CARD.fullmatch(line)
        here = (card[1], card[2], card[4]) if card else None
        if card is None or here is None:
            found.append(line)
        elif here == last:
            keys.append(card[3])
            found[-1] = f"move [c in {card[1]} where {card[2]} in [{', '.join(keys)}]] to {card[4]}"
        else:
            keys = [card[3]]
            found.append(line)
        last = here
    return found


def _holders(game: Game) -> Iterator[Holder]:
    layout = game.machine.constants.layout
    for name, group in game.ruleset.model.groups.items():
        if group.owner == "seat":
            yield from ((group, layout.base[name] + s, f"seats[{s}].{name}") for s in game.machine.constants.seats)
        elif group.owner == "" and name != "round":
            yield group, layout.base[name], name


def _cards(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Cards that lie elsewhere go there; a zone that keeps an order is laid anew where it is another one, piles too."""
    here, there = first.state.cells, then.state.cells
    for group, cell, name in holders:
        if not isinstance(group.type, CardHolderType) or here[cell] == there[cell]:
            continue
        if isinstance(group.type, PilesType):
            yield from (f"move {which} to new pile in {name}" for pile in there[cell] for which in _which(first, pile))
        elif group.order == "kept":
            yield from (f"move {which} to bottom of {name}" for which in _which(first, there[cell]))
        else:
            came = [card for card in there[cell] if card not in here[cell]]
            yield from (f"move {which} to {name}" for which in _which(first, came))


def _which(game: Game, cards: Iterable[int]) -> Iterator[str]:
    """Each of the cards that can be told from others."""
    model = game.ruleset.model
    for row in (model.cards[card] for card in cards):
        key = model.card_kinds[row.kind].key
        if row.is_named:
            this = f'c == "{row.key}"' if isinstance(row.key, str) else f"c.{key} == {row.key}"
            yield f"[c in {row.kind} where {this}]"
        elif key is None and sum(other.kind == row.kind for other in model.cards) == 1:
            yield f"[c in card where c is {row.kind}]"


def _tokens(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Tokens go from where there are fewer of them to where there are more."""
    model = first.ruleset.model
    for token in dict.fromkeys(group.type.name for group, _, _ in holders if isinstance(group.type, TokenHolderType)):
        units = first.machine.constants.effects.units
        is_unit = any(isinstance(g.type, PoolType) and g.type.name == token and cell in units for g, cell, _ in holders)
        members = [None] if is_unit else list(model.kinds[token].members)
        more: list[tuple[str, list[int]]] = []
        for group, cell, name in holders:
            if isinstance(group.type, TokenHolderType) and group.type.name == token:
                pair = (_bag(then.state.cells[cell]), _bag(first.state.cells[cell]))
                more.append((name, [a - b for a, b in zip(*pair, strict=True)]))
        for number, member in enumerate(members):
            yield from _exchanged([(name, gains[number]) for name, gains in more], member)


def _exchanged(gains: list[tuple[str, int]], member: str | None) -> Iterator[str]:
    of = f" of {member}" if member is not None else ""
    gives = [(name, -number) for name, number in gains if number < 0]
    for name, wanted in ((name, number) for name, number in gains if number > 0):
        while wanted and gives:
            source, left = gives.pop()
            number = min(wanted, left)
            yield f"move {number}{of} from {source} to {name}"
            wanted -= number
            if left > number:
                gives.append((source, left - number))


def _pieces(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Pieces that stand go to their places; pieces that left theirs are more than can be said."""
    model, layout = first.ruleset.model, first.machine.constants.layout
    if "piece" not in layout.base or model.graph is None:
        return
    base = layout.base["piece"]
    for place, row in enumerate(model.graph.places):
        old, new = first.state.cells[base + place], then.state.cells[base + place]
        if old == new or old is not None:
            continue
        owner, piece = new // len(model.pieces), model.pieces[new % len(model.pieces)]
        stocks = [n for g, _, n in holders if g.type == StockType(piece) and n.startswith(f"seats[{owner}].")]
        if not stocks:
            continue
        node = model.graph.nodes[row.node].name
        yield f'move 1 from {stocks[0]} to first(p in "{node}".places where p.number == {row.number})'


def _bag(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
