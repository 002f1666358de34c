"""Tables of all mixes that can be asked for, where it is known how many tokens of which kinds that may be.

Which mixes of some kinds a bag holds follows from how many tokens of each of these it holds, and more of a kind than
there are in a mix are as good as just so many. So an answer is found by few counts, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interpreter.compiler.fast.budget import FEW
from interpreter.kernel import bags

__all__ = ["Asked", "Mixtures", "mixtures"]

MOST_KINDS = 2
MOST_TOKENS = 100
MOST_NUMBERS = 100_000
"""Where a bag may hold more of a kind, or where there would be more numbers with one mix in every place, tables would
be large."""

Asked = tuple[tuple[int, tuple[int, ...]] | None, ...]
"""Numbers of tokens, each with the kinds that they may be of; none where nothing can be asked for."""


@dataclass(frozen=True, slots=True)
class Mixtures:
    """``rows``: for each that is asked for its answers, rows in rows by one count after the other; none for none.
    ``kinds``: of which kinds these counts are, for each count a list by what is asked for."""

    asked: Asked
    rows: tuple[Any, ...]
    kinds: tuple[tuple[int, ...], ...]


def mixtures(asked: Asked, totals: tuple[int, ...]) -> Mixtures | None:
    """The mixes in all bags that hold no more than ``totals``, and of no kind less than nothing. Nothing where tables
    would be large, or where an answer may be more than a few mixes.

    What is of fewer kinds than another has more counts than it needs: these may be of any kind.
    """
    wanted = {each for each in asked if each is not None}
    depth, length = max([1, *(len(kinds) for _, kinds in wanted)]), max(totals, default=0) + 1
    if depth > MOST_KINDS or length > MOST_TOKENS + 1 or len(wanted) * length**depth * len(totals) > MOST_NUMBERS:
        return None
    if any(len(kinds) > 1 and number >= FEW for number, kinds in wanted):  # number + 1 mixes of two kinds
        return None
    rows = {each: _rows(*each, totals, depth) for each in wanted}
    kinds = [(*(each[1] if each is not None else ()), 0, 0) for each in asked]
    return Mixtures(
        asked,
        tuple(rows[each] if each is not None else None for each in asked),
        tuple(tuple(each[place] for each in kinds) for place in range(depth)),
    )


def _rows(
    number: int, kinds: tuple[int, ...], totals: tuple[int, ...], depth: int, counts: tuple[int, ...] = ()
) -> tuple[Any, ...]:
    """What is found behind some counts. Rows are long enough for any count of any kind, and from some place on the same
    thing stands in them again and again."""
    place = len(counts)
    if place == depth:
        bag = [0] * len(totals)
        for kind, count in zip(kinds, counts, strict=False):
            bag[kind] = count
        return bags.mixes(number, kinds, tuple(bag))
    most = max(0, min(number, totals[kinds[place]])) if place < len(kinds) else 0
    found = [_rows(number, kinds, totals, depth, (*counts, count)) for count in range(most + 1)]
    return (*found, *[found[-1]] * (max(totals) - most))
