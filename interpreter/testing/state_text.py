"""State as rule text: the ``given`` lines of a scenario that lead from one state of a table to another.

They cover most of the state between two phases. Not expressible, and so left out: suspended blocks, indistinguishable
cards and what they hold, pieces that left their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from interpreter.engine.game import Game
from interpreter.engine.queries import literal
from interpreter.kernel.state import as_bag
from interpreter.language import types
from interpreter.language.model import Group
from interpreter.language.resolve import Names

__all__ = ["holders_of", "joined", "lines_to"]

Holder = tuple[Group, int, str]
"""A group, the cell of one owner, and its name in rule text."""


def lines_to(first: Game, then: Game) -> list[str]:
    """Return the lines that bring the first game to the state of the second, as far as expressible."""
    holders = list(holders_of(first))
    lines = [*_cards(first, then, holders), *_tokens(first, then, holders), *_pieces(first, then, holders)]
    for group, cell, name in holders:
        value = then.state.cells[cell]
        if not isinstance(group.type, types.HolderType) and first.state.cells[cell] != value:
            text = literal(first.table.names, value, group.type)
            if text is not None:
                lines.append(f"{name} = {text}")
    return lines


_CARD = re.compile(r"move \[c in (\w+) where (c\.\w+) == (.+)\] to (?!bottom of |new pile )(.+)")


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with consecutive moves of cards to the same place merged."""
    matches = ((line, _CARD.fullmatch(line)) for line in lines)
    for move, same in groupby(matches, lambda each: each[1] and each[1].group(1, 2, 4)):
        texts, cards = zip(*same, strict=True)
        if move is None or len(texts) == 1:
            yield from texts
        else:
            yield f"move [c in {move[0]} where {move[1]} in [{', '.join(card[3] for card in cards)}]] to {move[2]}"


def holders_of(game: Game) -> Iterator[Holder]:
    """Yield the holders and values of the game and of its things, with their names in rule text."""
    constants, model = game.machine.constants, game.ruleset.model
    for name, group in model.groups.items():
        first, of = constants.layout.base[name], group.owner
        if of is None:
            yield from ((group, first, name),) if name != "round" else ()
            continue
        for thing in model.values(of, len(constants.seats)) if group.section else ():
            text = literal(game.table.names, thing, of)
            if text is not None and not (isinstance(of, types.KindType) and len(Names(model).kinds_with(text)) > 1):
                text = f"{of.name}({text})" if isinstance(of, types.CardType) else text
                yield group, first + thing, f"{text}.{group.own_name}"


def _cards(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Yield moves of cards that changed zone. Piles and ordered zones that differ are laid out anew."""
    here, there = first.state.cells, then.state.cells
    for group, cell, name in holders:
        if not isinstance(group.type, types.CardHolderType) or here[cell] == there[cell]:
            continue
        if isinstance(group.type, types.PilesType):
            yield from (f"move {which} to new pile in {name}" for pile in there[cell] for which in _which(first, pile))
        elif group.order == "kept":
            yield from (f"move {which} to bottom of {name}" for which in _which(first, there[cell]))
        else:
            came = [card for card in there[cell] if card not in here[cell]]
            yield from (f"move {which} to {name}" for which in _which(first, came))


def _which(game: Game, cards: Iterable[int]) -> Iterator[str]:
    """Yield an expression for each card that can be told apart from others."""
    model = game.ruleset.model
    for row in (model.cards[card] for card in cards):
        key = model.card_kinds[row.kind].key
        if row.is_named:
            this = f'c == "{row.key}"' if isinstance(row.key, str) else f"c.{key} == {row.key}"
            yield f"[c in {row.kind} where {this}]"
        elif key is None and sum(other.kind == row.kind for other in model.cards) == 1:
            yield f"[c in card where c is {row.kind}]"


def _tokens(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Yield moves of tokens from holders that lost some to holders that gained some."""
    model = first.ruleset.model
    tokens = [
        (group.type.name, cell, name) for group, cell, name in holders if isinstance(group.type, types.TokenHolderType)
    ]
    for token in dict.fromkeys(token for token, _, _ in tokens):
        held = [(cell, name) for of, cell, name in tokens if of == token]
        members = [None] if model.is_unit(token) else list(model.kinds[token].members)
        for number, member in enumerate(members):
            now, before = ([as_bag(game.state.cells[cell])[number] for cell, _ in held] for game in (then, first))
            gains = [(name, more - less) for (_, name), more, less in zip(held, now, before, strict=True)]
            yield from _exchanged(gains, member)


def _exchanged(gains: list[tuple[str, int]], member: str | None) -> Iterator[str]:
    of = f" of {member}" if member is not None else ""
    gives = [(name, -number) for name, number in gains if number < 0]
    for name, missing in ((name, number) for name, number in gains if number > 0):
        while missing and gives:
            source, left = gives.pop()
            number = min(missing, left)
            yield f"move {number}{of} from {source} to {name}"
            missing -= number
            if left > number:
                gives.append((source, left - number))


def _pieces(first: Game, then: Game, holders: list[Holder]) -> Iterator[str]:
    """Yield moves of pieces to their places. Pieces that left a place cannot be expressed."""
    model, layout = first.ruleset.model, first.machine.constants.layout
    for place, cell in enumerate(layout.cells("piece") if "piece" in layout.base else ()):
        old, new = first.state.cells[cell], then.state.cells[cell]
        if old is not None or new is None:
            continue
        owner, piece = new // len(model.pieces), model.pieces[new % len(model.pieces)]
        stocks = [n for g, _, n in holders if g.type == types.StockType(piece) and n.startswith(f"seats[{owner}].")]
        if stocks:
            yield f"move 1 from {stocks[0]} to {literal(first.table.names, place, types.PLACE)}"
