"""Preferences of policies, and how a layer lies over those below it.

A layer is one text, in which ``base`` stands for all lines below, or a map of named lines, which replace, drop or keep
the lines of these names and add others. Layers are laid over each other when they are checked: what is left are lines,
so who plays by a policy knows nothing of layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Literal

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.frozen import dataclass
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core
from interpreter.language.types import BOOL
from interpreter.language.walk import descendants

__all__ = ["Base", "Line", "Named", "Pattern", "Preferences", "Written", "laid_over", "pinned_by"]

MOST_WAYS = 32
"""So many ways to make a decision may parts with conditions lead to."""

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Some of a decision's options: those of an alternative (none: of all) that pass the tests.

    Locals are the actor, the decision's context and, of an alternative, its choices. ``keys`` order what passes.
    """

    alternative: str
    tests: tuple[core.Expression, ...]
    keys: tuple[core.Expression, ...]
    local_count: int
    span: Span


@dataclass(frozen=True, slots=True)
class Line:
    """One preference. ``asked`` is the seat that ends a tie; ``chance`` is (n, m): the line is used n times in m.
    Several lines in a row may have one name; without one, the name is empty."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    asked: core.Expression | None
    chance: tuple[int, int] | None
    local_count: int
    span: Span
    name: str = ""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences for one decision. ``when`` is the guard of the parts that say so, over the actor alone."""

    decision: str
    lines: tuple[Line, ...]
    when: core.Expression | None
    local_count: int
    cites: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Base:
    """``base``: what lies below at this place."""

    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """The lines of a name; the whole text of a decision has none. Without lines, ``nothing`` stands there."""

    name: str
    lines: tuple[Line | Base, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Written:
    """Layer of preferences for a decision."""

    decision: str
    parts: tuple[Named, ...]
    when: core.Expression | None
    local_count: int
    cites: tuple[str, ...]
    span: Span

    @property
    def is_named(self) -> bool:
        return any(part.name for part in self.parts)

    @property
    def goes_on(self) -> bool:
        """Return whether lines below may be left in it."""
        return self.is_named or any(isinstance(line, Base) for part in self.parts for line in part.lines)

    @property
    def own(self) -> tuple[Line, ...]:
        return tuple(_expanded(self.parts, ()))


def laid_over(upper: Written, below: Sequence[Preferences], report: Report) -> tuple[Preferences, ...]:
    """The ways to make a decision, the uppermost first, with a layer over those that there were."""
    found = list(_check(upper, below))
    ways: tuple[Preferences, ...] = (_alone(upper),)
    if upper.goes_on and below:
        ways = tuple(_merged(upper, lower) for lower in below)
    if any(not way.lines for way in ways) and not found:
        found.append(Diagnostic("E107", f"no line of `{upper.decision}` is left", upper.span))
    if upper.when is not None:
        ways = (*ways, *below)
    if len(ways) > MOST_WAYS:
        message = f"parts lead to {len(ways)} ways to make `{upper.decision}`; at most {MOST_WAYS} are handled"
        found.append(Diagnostic("E313", message, upper.span, help="say in one part what belongs together"))
        ways = ways[:MOST_WAYS]
    for diagnostic in found:
        report(diagnostic)
    return ways


# --- what can be wrong


def _check(upper: Written, below: Sequence[Preferences]) -> Iterator[Diagnostic]:
    names = {line.name: None for way in below for line in way.lines if line.name}
    for part in upper.parts:
        bases = [line for line in part.lines if isinstance(line, Base)]
        is_there = part.name in names if part.name else bool(below)
        if len(bases) > 1:
            message = "`base` is given twice: the lines below would be there twice"
            yield Diagnostic("E501", message, bases[1].span, (Note("the first", bases[0].span),))
        elif bases and not is_there:
            what = f"no line `{part.name}`" if part.name else "no line"
            message = f"{what} of `{upper.decision}` lies below, so there is no `base`{did_you_mean(part.name, names)}"
            yield Diagnostic("E507", message, bases[0].span, _known(names) if part.name else ())
        elif not part.lines and not is_there:
            message = f"no line `{part.name}` of `{upper.decision}` lies below{did_you_mean(part.name, names)}"
            yield Diagnostic("E502", message, part.span, _known(names))


def _known(names: dict[str, None]) -> tuple[Note, ...]:
    listed = ", ".join(f"`{name}`" for name in names)
    return (Note(f"lines with names below: {listed or 'none'}"),)


# --- laying


def _alone(upper: Written) -> Preferences:
    return Preferences(upper.decision, upper.own, upper.when, upper.local_count, upper.cites, upper.span)


def _merged(upper: Written, lower: Preferences) -> Preferences:
    """A layer over one of the ways below."""
    lines = _among(upper.parts, lower.lines) if upper.is_named else _expanded(upper.parts, lower.lines)
    cites = tuple(dict.fromkeys((*upper.cites, *lower.cites)))
    when, size = _both(upper.when, lower.when), max(upper.local_count, lower.local_count)
    return Preferences(upper.decision, tuple(lines), when, size, cites, upper.span)


def _both(first: core.Expression | None, second: core.Expression | None) -> core.Expression | None:
    if first is None or second is None:
        return first or second
    return core.Logic("and", first, second, type=BOOL, span=first.span)


def _expanded(parts: Sequence[Named], below: Sequence[Line]) -> Iterator[Line]:
    """The lines of some parts, with those below in place of ``base``."""
    for line in (line for part in parts for line in part.lines):
        if isinstance(line, Base):
            yield from below
        else:
            yield line


def _among(parts: Sequence[Named], below: Sequence[Line]) -> Iterator[Line]:
    """Named lines among those below: each in the place of its name. New ones stand ahead of the next part that has a
    place, behind the last such part, and on top where there is none."""
    placed = {part.name: part for part in parts if any(line.name == part.name for line in below)}
    ahead: dict[str, list[Named]] = {name: [] for name in placed}
    new: list[Named] = []
    for part in parts:
        if part.name in placed:
            ahead[part.name], new = new, []
        else:
            new.append(part)
    last = next(reversed(placed), "")
    if not placed:
        yield from _expanded(new, ())
    for name, run in groupby(below, key=lambda line: line.name):
        if name not in placed:
            yield from run
            continue
        yield from _expanded(ahead[name], ())
        yield from _expanded([placed[name]], tuple(run))
        if name == last:
            yield from _expanded(new, ())


def pinned_by(test: core.Expression, first: int, count: int) -> tuple[int, core.Expression] | None:
    """``choice == value``, where the value can be known before the choice: the choice's position, and the value."""
    if not isinstance(test, core.Comparison) or test.operator != "==":
        return None
    for side, other in ((test.left, test.right), (test.right, test.left)):
        if isinstance(side, core.Local) and first <= side.index < first + count:
            used = {node.index for node in descendants(other) if isinstance(node, core.Local)}
            if not any(side.index <= index < first + count for index in used):
                return side.index - first, other
    return None
