"""What a player may not see of a game: in its place stands a veil, and whoever looks behind one learns nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from interpreter.compiler.constants import Evaluate
from interpreter.kernel.state import State
from interpreter.language import core as c
from interpreter.language.walk import rewritten

if TYPE_CHECKING:
    from interpreter.engine.game import Game

__all__ = ["Unseen", "Veil", "compiled", "may_see", "seen_by", "veils"]


class Unseen(Exception):
    """An expression looks at what the player may not see."""


class Veil:
    """Stands for a value that is hidden. Of a zone, list or set, ``many`` is how many it holds; all else is unseen."""

    __slots__ = ("many",)

    def __init__(self, many: int | None = None) -> None:
        self.many = many

    def __len__(self) -> int:
        if self.many is None:
            raise Unseen
        return self.many

    def __eq__(self, other: object) -> bool:
        if self.many is not None and isinstance(other, tuple) and len(other) != self.many:
            return False
        raise Unseen


def _look(*_: Any) -> NoReturn:
    raise Unseen


_BOTH = ("add", "sub", "mul", "floordiv", "mod")
_LOOKS = (
    *("hash", "bool", "int", "index", "str", "format", "iter", "reversed", "contains", "getitem", "getattr"),
    *("lt", "le", "gt", "ge", "neg", "rshift", *_BOTH, *(f"r{name}" for name in _BOTH)),
)
for _name in _LOOKS:
    setattr(Veil, f"__{_name}__", _look)


COUNTED = ("zone", "piles", "list", "set")
"""Of these it is told how many they hold."""


def may_see(seats: tuple[int, ...] | None, player: int | None) -> bool:
    """Whether a player is among the seats that may see something; nobody in particular sees all."""
    return seats is None or player is None or player in seats


def veils(game: Game, player: int | None) -> dict[int, Veil]:
    """The cells that hold what a player may not see: hidden zones, pools and values, what hidden cards carry, and what
    names such a card. That there is no value is no secret."""
    if player is None:
        return {}
    machine, state, layout = game.machine, game.state, game.machine.constants.layout
    found: dict[int, Veil] = {}
    for name, group in game.ruleset.model.groups.items():
        if name == "round" or group.owner not in ("", "seat", "place", "card"):
            continue
        for number in range(layout.count(name)):
            cell = layout.base[name] + number
            value = state.cells[cell]
            if not may_see(machine.constants.seen_by.get(cell), player):
                if value is not None:
                    found[cell] = Veil(len(value) if group.type.form in COUNTED else None)
            elif group.owner == "card":
                if not may_see(machine.visible(state, number), player):
                    found[cell] = Veil()
            elif not may_see(machine.visible_in(state, value, group.type), player):
                found[cell] = Veil()
    return found


def compiled(game: Game, tree: c.Expression, player: int | None) -> Evaluate:
    """An expression, ready to be worked out over the state as a player sees it: the open back of a hidden top card is
    seen where its rule is asked about ``first`` of the zone."""
    model, expressions = game.ruleset.model, game.machine.expressions

    def opened(node: Any) -> Any:
        match node:
            case c.CallRule(rule, (c.Builtin("first", (c.Read(c.Cell(name, None)),)),)):
                group, held = model.groups[name], game.state.cells[game.machine.constants.layout.base[name]]
                shows = group.top_shows
                if isinstance(shows, c.CallRule) and shows.rule == rule and group.type.form == "zone" and held:
                    value = expressions.compile(shows)(game.state, [held[0]])
                    return c.Const(value, type=node.type, span=node.span)
            case _:
                pass
        return node

    return expressions.compile(rewritten(tree, opened) if player is not None else tree)


def seen_by(game: Game, player: int | None) -> State:
    """The state as a player sees it, to be read and not to be played on."""
    found = veils(game, player)
    if not found:
        return game.state
    state = game.state.clone()
    for cell, veil in found.items():
        if veil.many != 0:  # where no card lies there is nothing to hide
            state.cells[cell] = veil
    return state
