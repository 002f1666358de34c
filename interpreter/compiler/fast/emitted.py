"""What is written of a program: trees by file, the values that they name, and where to find what."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from interpreter.base.source import Span

__all__ = ["Emitted"]

MOST_SHOWN = 160
"""Values that are shown are cut here."""


@dataclass
class Emitted:
    """The trees of each file, the values that they name, and where to find what.

    ``stretches``: the function of a stretch, and ``backs`` what goes on there with what a call gave; ``ends``: of each
    phase what ends it; ``takes``: of a decision and option what records it and goes on;
    ``accepts``: what says whether it is legal; ``options``: what lists its values; ``standing``: what finds a match,
    and ``settles`` what asks all of these, where there are few;
    ``readers``: for each group the caches that a change empties, and ``followers`` what brings rows up to date then;
    ``single``: caches that keep one answer; ``rows``: for each cache that is a row the places in it that a change of a
    cell can change; ``whole``: for each row the groups that change all of it; ``cells``: name, first cell and number of
    each group, to be shown; ``longest``: no list is longer; ``remembered``: for functions that remember what they gave
    how large that is.
    """

    modules: dict[str, list[ast.stmt]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    stretches: dict[int, str] = field(default_factory=dict)
    backs: dict[int, str] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    takes: dict[tuple[int, int], str] = field(default_factory=dict)
    accepts: dict[tuple[int, int], str] = field(default_factory=dict)
    options: dict[tuple[int, int], str] = field(default_factory=dict)
    standing: list[str] = field(default_factory=list)
    settles: str = ""
    procedures: dict[str, str] = field(default_factory=dict)
    caches: int = 0
    single: set[int] = field(default_factory=set)
    readers: dict[str, list[int]] = field(default_factory=dict)
    followers: dict[str, str] = field(default_factory=dict)
    rows: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    whole: dict[int, tuple[str, ...]] = field(default_factory=dict)
    cells: tuple[tuple[str, int, int], ...] = ()
    longest: int = 0
    remembered: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[Any, ...]:
        """What shows whether another writing came to the same."""
        return self.stretches, self.takes, self.accepts, self.options, self.standing, self.procedures, self.caches

    def text(self) -> str:
        """All of it, to be read: what is known by name, then each function below the place that it comes from."""
        parts = ["# --- the cells of a state\n#"]
        for name, first, count in self.cells:
            parts.append(f"# S[{first}]" + (f" to S[{first + count - 1}]" if count > 1 else "") + f"  {name}")
        parts.append("\n# --- what is known of this table\n#")
        parts.extend(f"# {name} = {_shortly(value)}" for name, value in self.values.items())
        for file, body in self.modules.items():
            parts.append(f"\n# --- {file}")
            for statement in body:
                text = ast.unparse(ast.fix_missing_locations(ast.Module([statement], [])))
                parts.append(f"\n# line {statement.lineno}\n{text}")
        return "\n".join(parts) + "\n"


def _shortly(value: Any) -> str:
    value = getattr(value, "__self__", value)  # a look into a table is shown as the table
    text = str(value) if isinstance(value, Span) else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
