"""What a player may not see of a game: in its place stands a veil, and whoever looks behind one learns nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from interpreter.kernel.state import State

if TYPE_CHECKING:
    from interpreter.engine.game import Game

__all__ = ["Unseen", "Veil", "may_see", "seen_by", "veils"]


class Unseen(Exception):
    """An expression looks at what the player may not see."""


class Veil:
    """Stands for a value that is hidden. Of a zone, ``many`` tells how many cards lie there; all else is unseen."""

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


def may_see(seats: tuple[int, ...] | None, player: int | None) -> bool:
    """Whether a player is among the seats that may see something; nobody in particular sees all."""
    return seats is None or player is None or player in seats


def veils(game: Game, player: int | None) -> dict[int, Veil]:
    """The cells that hold what a player may not see: hidden zones and pools, what hidden cards carry, and values that
    name such a card."""
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
                found[cell] = Veil(len(value) if group.type.form in ("zone", "piles") else None)
            elif group.owner == "card":
                if not may_see(machine.visible(state, number), player):
                    found[cell] = Veil()
            elif not may_see(machine.visible_in(state, value, group.type), player):
                found[cell] = Veil()
    return found


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
