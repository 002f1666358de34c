"""What the plain form is given: the constants of one game, and the failure that stops a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from interpreter.base.source import Span
from interpreter.kernel.effects import Effects
from interpreter.kernel.graphs import Graph
from interpreter.kernel.state import Layout, State, Value
from interpreter.kernel.tracks import Track
from interpreter.language.model import Model

__all__ = ["GOES_ON", "MAXIMUM_PASSES", "Constants", "Env", "Evaluate", "RuleFailure", "Run"]

Env = list[Any]
Evaluate = Callable[[State, Env], Value]
Run = Callable[[State, Env], Any]

GOES_ON = object()
"""What a step gives that does not return."""

MAXIMUM_PASSES = 200_000
"""So many stretches, or passes of a loop, without asking anybody are taken for an endless loop."""


class RuleFailure(Exception):
    """A rule could not go on: why, at which place, and the rules that called it, the innermost first.

    ``code`` names a page of ``docs/errors``: R001, or R002 where rules would go on without end.
    """

    def __init__(self, message: str, span: Span | None, code: str = "R001") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.chain: list[tuple[str, Span]] = []

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        lines = [f"{where}{self.message}"]
        lines.extend(f"   called by `{rule}` ({span})" for rule, span in self.chain)
        return "\n".join(lines)


@dataclass(frozen=True)
class Constants:
    """What is fixed in one game: seats, printed data, settings, and how cells are laid out."""

    model: Model
    seats: tuple[int, ...]
    counting: int
    settings: dict[str, Value]
    layout: Layout
    effects: Effects
    statics: dict[str, Sequence[Value]]
    graph: Graph | None
    lengths: tuple[int, ...]
    tracks: dict[int, Track]
    card_kind: tuple[str, ...]
    pieces: tuple[str, ...]
    chance_names: dict[str, int]
    role_seats: dict[str, int]
    """For each role the first seat that has it."""
    seen_by: dict[int, tuple[int, ...]]
    """Zones that not everyone sees, by cell: the seats that do."""
