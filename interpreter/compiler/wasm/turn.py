"""Types that a machine shares with its module: turns, policies, and the cache of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from interpreter.kernel.state import State
from interpreter.language import core
from interpreter.language.preferences import Policy
from interpreter.plain.machine import Code, Machine

__all__ = ["OVER", "Keeper", "Order", "Peeks", "Player", "Turn", "kept_as"]

Peeks = Callable[[core.Ask], Sequence[str | int] | None]
"""Function from a decision to the groups of cells and the locals through which a policy might read hidden information.

The module traps if a card in them is hidden from the policy's seat, and always if the result is None: see
:meth:`interpreter.compiler.codegen.policy_functions.Policies.choosing`.
"""


def kept_as(players: Iterable[str]) -> str:
    """Return the cache key of a module with these policies."""
    return "module " + ", ".join(sorted(players))


class Keeper(Protocol):
    """Cache for modules of one table."""

    def has(self, what: str) -> bool: ...

    def kept(self, what: str) -> bytes | None: ...

    def keep(self, what: str, data: bytes) -> None: ...


@dataclass(slots=True, eq=False)
class Turn:
    """Position of a game: the stretch that asks and the seat that decides, both -1 once the game is over.

    If the seat's bot was asked ahead, ``code`` is its choice and ``drawn`` the number of random numbers it drew. Equal
    reports of a module are one object.
    """

    index: int
    seat: int
    code: Code | None = field(default=None, repr=False)
    drawn: int = field(default=0, repr=False)
    named: object = field(default=None, repr=False)
    """Cache of the decision's options by code."""


OVER = Turn(-1, -1)


class Player(Struct, frozen=True):
    """A policy in a module. ``peeks`` finds reads of hidden information, which trap; None: all reads are allowed."""

    policy: Policy | None
    key: str
    peeks: Peeks | None


class Order(Struct, frozen=True):
    """What a module is built for: a machine, the state that its games begin with, and the policies.

    ``texts`` are the numbers of texts in all modules of the table, ``rooms`` the sizes of rooms that have grown; what a
    module needs is added to both.
    """

    machine: Machine
    first: State
    keeper: Keeper | None
    players: tuple[Player, ...]
    texts: dict[str, int]
    rooms: dict[str, int]

    @property
    def key(self) -> str:
        return kept_as(player.key for player in self.players)
