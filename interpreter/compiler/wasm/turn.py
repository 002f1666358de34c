"""What a machine and its module tell each other: options, turns, policies, and the store of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from interpreter.compiler.plain.machine import Code

if TYPE_CHECKING:  # a game in the plain form needs none of it
    from interpreter.language.policies import Policy

__all__ = ["Keeper", "Peeks", "Player", "Turn", "kept_as"]

Peeks = Callable[[str], Sequence[str] | None]
"""For the name of a decision the groups of cells by which a policy may see what its seat may not: see
:meth:`interpreter.compiler.build.policy_functions.Policies.choosing`."""


def kept_as(players: Iterable[str]) -> str:
    """The name under which a module with such policies is kept."""
    return "module " + ", ".join(sorted(players))


class Keeper(Protocol):
    """Keeps modules of one table between runs."""

    def has(self, what: str) -> bool: ...

    def kept(self, what: str) -> bytes | None: ...

    def keep(self, what: str, data: bytes) -> None: ...


@dataclass(slots=True, eq=False)
class Turn:
    """Position of a game: the stretch that asks, the seat that decides and, if its bot was asked ahead, what that chose
    and how many numbers it drew. Equal reports of a module are one object."""

    index: int
    seat: int
    code: Code | None = field(default=None, repr=False)
    drawn: int = field(default=0, repr=False)
    option: Any = field(default=None, repr=False)
    """What the choice is called outside, as soon as somebody has called it so."""


@dataclass(frozen=True, slots=True)
class Player:
    """A policy as a module holds it. ``peeks`` say what it may not look at; without them it may look at all."""

    policy: Policy | None
    key: str
    peeks: Peeks | None
