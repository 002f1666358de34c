"""Suggestions for misspelt names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from unicodedata import normalize

from interpreter.base.messages import frame
from interpreter.base.plurals import joined, quoted

__all__ = ["as_word", "did_you_mean", "did_you_mean_id", "did_you_mean_one_of", "suggested", "without_suggestion"]

MOST_LETTERS = 60
MOST_COMPARED = 200
MOST_NAMED = 4


def as_word(text: str, between: str = "_") -> str:
    """Return a text as a name: its letters and digits, without marks and in lower case."""
    letters = normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", between, letters).strip(between)


def did_you_mean(name: str, known: Iterable[str], language: str = "en") -> str:
    """Return ``; did you mean `x`?`` with the most similar known name, or an empty text, as for a known name."""
    near = _closest(name[:MOST_LETTERS], tuple(sorted(set(known))))
    return frame(language, "near", name=near) if near else ""


@lru_cache(maxsize=512)
def _closest(name: str, names: tuple[str, ...]) -> str | None:
    """Return the most similar name, or None; None also for a known name."""
    from difflib import get_close_matches

    same = [other for other in names if other.casefold() == name.casefold()]
    if same:
        return None if name in same else same[0]
    if len(names) > MOST_COMPARED:  # comparing is slow: prefilter by first letter and length
        alike = (other for other in names if other[:1] == name[:1] and abs(len(other) - len(name)) <= 2)
        names = tuple(islice(alike, MOST_COMPARED))
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.6)), None)


def did_you_mean_id(id: str, known: Iterable[str]) -> str:
    """Suggest ids, which are words separated by `-`: those that contain all words of the given one, else the most
    similar. The given one may have the suffix of a file, and words as in a title."""
    typed = re.sub(r"[^a-z0-9/]+", "-", id[:MOST_LETTERS].lower().removesuffix(".yaml")).strip("-/")
    folder, _, name = typed.rpartition("/")
    words, ids = set(name.split("-")), sorted(set(known))
    beside = {last: each for each in ids for within, _, last in [each.rpartition("/")] if within == folder}
    fuller = [each for last, each in beside.items() if words <= set(last.split("-"))]
    if not fuller:
        near = beside.get(_closest(name, tuple(beside)) or "") if beside else _closest(id, tuple(ids))
        return frame("en", "near", name=near) if near else ""
    fuller.sort(key=lambda known_id: not known_id.startswith(typed))
    return f"; did you mean {joined(quoted(fuller[:MOST_NAMED]), 'or')}?"


def did_you_mean_one_of(name: str, known: Iterable[str]) -> str:
    """Suggest the most similar known name; name all if none is similar."""
    names = sorted(set(known))
    return did_you_mean(name, names) or f"; known here: {', '.join(quoted(names)) or 'none'}"


def without_suggestion(message: str) -> str:
    """Return an English message up to its suggestion, if it has one."""
    return message.partition(frame("en", "near", name="").partition("`")[0])[0]


def suggested(message: str) -> tuple[str, list[str]]:
    """Return the last name in backticks of an English message that has a suggestion, and the names suggested."""
    before = without_suggestion(message)
    names = re.findall(r"`([^`]+)`", before)
    return names[-1] if names else "", re.findall(r"`([^`]+)`", message[len(before) :])
