"""Where an expression of the fast form is written: the locals that it knows, and the loops that it stands in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

__all__ = ["Hoister", "Scope", "TooLarge", "Unsupported", "is_local_name"]

PLAIN = re.compile("[a-z][a-z0-9_]*")
"""Locals are named so; all that the compiler names by itself has a capital letter, or does not end in a number."""


def is_local_name(text: str) -> bool:
    """Whether a local may have this name in emitted code, too."""
    return PLAIN.fullmatch(text) is not None


class Unsupported(Exception):
    """Something that is left to the plain form."""


class TooLarge(Exception):
    """All of the ruleset is left to the plain form."""


@dataclass
class Hoister:
    """A loop, and what is worked out before it.

    ``variables``: the names that it gives values to itself. ``items``: what it goes through, as far as somebody may
    want to know. ``clauses``: names with what is worked out before it. ``known``: these names by a text of that.
    """

    variables: set[str]
    items: ast.expr | None = None
    clauses: list[tuple[str, ast.expr]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)


@dataclass
class Scope:
    """The locals of one text.

    ``names``: expressions that stand in place of some. ``lifted``: cells that are parameters here. ``leaky``: the
    locals are kept in frames, so a loop's variable must be left as the plain form leaves it. ``loops``: the loops
    around what is written, the outermost first. ``items``: what the text gives is only looked through, so it need not
    be a tuple. ``frozen``: nothing is worked out before these loops.
    """

    labels: tuple[str, ...]
    prefix: str = ""
    names: dict[int, ast.expr] = field(default_factory=dict)
    lifted: dict[tuple[str, str], str] | None = None
    leaky: bool = False
    loops: list[Hoister] = field(default_factory=list)
    items: bool = False
    frozen: bool = False

    def label(self, index: int) -> str:
        """The name of a local in emitted code."""
        text = self.labels[index] if index < len(self.labels) else ""
        return f"{self.prefix}{text if is_local_name(text) else 'x'}_{index}"
