"""How names of emitted code begin: with letters that tell what is named, a number and `_`.

So it can be seen of a call what may come of it, and no local is called like anything of the module.
"""

from __future__ import annotations

import re

__all__ = [
    "ACCEPTS",
    "BACK",
    "FOLLOWS",
    "GOES_ON",
    "KNOWN",
    "LISTS",
    "OF_STATE",
    "PART",
    "PREFERS",
    "PROCEDURE",
    "ROW",
    "SETTLES",
    "SITE",
    "STRETCH",
    "TAKES",
    "VALUE",
    "WATCH",
    "is_of",
    "letters_of",
]

STRETCH = "R"
"""What goes on at a stretch."""
BACK = "B"
"""What goes on at a stretch with what a call gave."""
LISTS = "O"
"""What lists the values of an option of a decision."""
ACCEPTS = "A"
"""What says whether an option with its values is legal."""
TAKES = "T"
"""What records a choice and goes on with it."""
PREFERS = "D"
"""What chooses at a decision by a policy."""
GOES_ON = "G"
"""What chooses so, and goes on with it."""
WATCH = "W"
"""What finds a match of a standing rule."""
SETTLES = "Z"
"""What asks all standing rules for one."""
PROCEDURE = "P"
"""What changes the state and cannot suspend."""
FOLLOWS = "X"
"""What brings rows up to date when a cell of a group has changed."""
VALUE = "V"
"""What works a value out of cells and arguments that it is given."""
OF_STATE = "S"
"""What works a value out of the state, which remembers it."""
ROW = "E"
"""What gives a row or a short list."""
PART = "Y"
"""What works a part of an expression out of what it is given."""
KNOWN = "K"
"""A value that is known of the table."""
SITE = "AT"
"""A place in a file."""

_HEAD = re.compile("([A-Z]+)[0-9]+_")


def letters_of(name: str) -> str:
    """The letters that a name of the module begins with; of a local, or of a helper, none."""
    found = _HEAD.match(name)
    return found[1] if found is not None else ""


def is_of(name: str, letters: str) -> bool:
    """Whether a name of the module begins with one of these letters."""
    return bool(found := letters_of(name)) and found in letters
