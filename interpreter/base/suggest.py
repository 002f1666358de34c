"""The nearest valid name to one that was misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from interpreter.base.messages import frame

__all__ = ["did_you_mean", "did_you_mean_id"]

MOST_LETTERS = 60
MOST_COMPARED = 200
MOST_NAMED = 4


def did_you_mean(name: str, known: Iterable[str], language: str = "en") -> str:
    """``; did you mean `x`?`` for the nearest known name, or nothing where none is near."""
    from difflib import get_close_matches

    name, names = name[:MOST_LETTERS], sorted(set(known))
    if len(names) > MOST_COMPARED:  # to compare is slow: of many, those that begin alike and are about as long
        alike = (each for each in names if each[:1] == name[:1] and abs(len(each) - len(name)) <= 2)
        names = list(islice(alike, MOST_COMPARED))
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    return frame(language, "near", name=near[0]) if near else ""


def did_you_mean_id(id: str, known: Iterable[str]) -> str:
    """The same for ids, which are words with `-` between them: those that have all its words, if there are any."""
    folder, _, name = id[:MOST_LETTERS].rpartition("/")
    words, ids = set(name.split("-")), sorted(set(known))
    parted = ((each, each.rpartition("/")) for each in ids)
    fuller = [each for each, (within, _, last) in parted if within == folder and words <= set(last.split("-"))]
    if not fuller:
        return did_you_mean(id, ids)
    fuller.sort(key=lambda each: not each.startswith(id))
    *first, last = (f"`{each}`" for each in fuller[:MOST_NAMED])
    return f"; did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
