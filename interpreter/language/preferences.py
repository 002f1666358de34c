"""Preferences of policies, and merging of their layers.

A layer is one text, in which ``base`` stands for all lines below, or a map of named lines, which replace, drop or keep
the lines with these names and add others. Layers are merged when they are checked; the result is plain lines, so bots
do not deal with layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Literal

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core
from interpreter.language.reporter import Report
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.language.types import BOOL
from interpreter.language.walk import descendants

__all__ = ["Base", "Line", "Named", "Pattern", "Preferences", "Written", "laid_over", "pinned_by"]

MOST_VARIANTS = 32
"""Maximum number of variants of a decision's preferences, which grows with the number of parts with conditions."""


class Pattern(Struct, frozen=True):
    """A subset of a decision's options: those of an alternative (or of all, if it is empty) that pass the tests.

    Locals are the actor, the decision's context and the choices of the alternative. ``keys`` sort the options.
    """

    alternative: str
    tests: tuple[core.Expression, ...]
    keys: tuple[core.Expression, ...]
    local_count: int
    span: Span


class Line(Struct, frozen=True, dict=True):
    """One preference. ``asked`` is the seat that breaks a tie. ``chance`` is (n, m): the line is used with probability
    n/m. Several consecutive lines may share a ``name``; it is empty for lines without one."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    asked: core.Expression | None
    chance: tuple[int, int] | None
    local_count: int
    span: Span
    name: str = ""

    @cached_property
    def facts(self) -> TextFacts:
        """What its text names. Rulesets that share the line share its facts."""
        return facts_of((self.patterns, self.asked))


class Preferences(Struct, frozen=True):
    """Preferences for one decision. ``when`` is the guard of their parts, over the actor."""

    decision: str
    lines: tuple[Line, ...]
    when: core.Expression | None
    local_count: int
    cites: tuple[str, ...]
    span: Span


class Base(Struct, frozen=True):
    """``base``: the lines below."""

    span: Span


class Named(Struct, frozen=True):
    """Lines with a name, or the whole text of a decision, without a name. No lines: ``nothing``."""

    name: str
    lines: tuple[Line | Base, ...]
    span: Span


class Written(Struct, frozen=True):
    """A layer of preferences for a decision, before merging."""

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
    def keeps_lines(self) -> bool:
        """Return whether merging may keep lines below."""
        return self.is_named or any(isinstance(line, Base) for part in self.parts for line in part.lines)

    @property
    def own(self) -> tuple[Line, ...]:
        return tuple(_expanded(self.parts, ()))


def laid_over(upper: Written, below: Sequence[Preferences], report: Report) -> tuple[Preferences, ...]:
    """Merge a layer with the variants of a decision's preferences; return the new variants, uppermost first."""
    diagnostics = list(_check(upper, below))
    variants: tuple[Preferences, ...] = (_alone(upper),)
    if upper.keeps_lines and below:
        variants = tuple(_merged(upper, lower) for lower in below)
    if any(not variant.lines for variant in variants) and not diagnostics:
        diagnostics.append(Diagnostic("E107", f"no line of `{upper.decision}` is left", upper.span))
    if upper.when is not None:
        variants = (*variants, *below)
    if len(variants) > MOST_VARIANTS:
        message = f"parts give `{upper.decision}` {len(variants)} variants, want at most {MOST_VARIANTS}"
        diagnostics.append(Diagnostic("E313", message, upper.span, help="join parts that belong together"))
        variants = variants[:MOST_VARIANTS]
    for diagnostic in diagnostics:
        report(diagnostic)
    return variants


# --- checks


def _check(upper: Written, below: Sequence[Preferences]) -> Iterator[Diagnostic]:
    names = {line.name: None for variant in below for line in variant.lines if line.name}
    for part in upper.parts:
        bases = [line for line in part.lines if isinstance(line, Base)]
        exists = part.name in names if part.name else bool(below)
        if len(bases) > 1:
            message = "`base` is given twice, want it once"
            yield Diagnostic("E501", message, bases[1].span, (Note("first given here", bases[0].span),))
        elif bases and not exists:
            line = f"no line `{part.name}`" if part.name else "no line"
            near = did_you_mean(part.name, names)
            message = f"{line} of `{upper.decision}` is declared below, so there is no `base`{near}"
            yield Diagnostic("E507", message, bases[0].span, _known(names) if part.name else ())
        elif not part.lines and not exists:
            near = did_you_mean(part.name, names)
            message = f"no line `{part.name}` of `{upper.decision}` is declared below{near}"
            yield Diagnostic("E502", message, part.span, _known(names))


def _known(names: dict[str, None]) -> tuple[Note, ...]:
    listed = ", ".join(f"`{name}`" for name in names)
    return (Note(f"lines with names below: {listed or 'none'}"),)


# --- merging


def _alone(upper: Written) -> Preferences:
    return Preferences(upper.decision, upper.own, upper.when, upper.local_count, upper.cites, upper.span)


def _merged(upper: Written, lower: Preferences) -> Preferences:
    """Merge a layer with one of the variants below."""
    lines = _inserted(upper.parts, lower.lines) if upper.is_named else _expanded(upper.parts, lower.lines)
    cites = tuple(dict.fromkeys((*upper.cites, *lower.cites)))
    when, size = _both(upper.when, lower.when), max(upper.local_count, lower.local_count)
    return Preferences(upper.decision, tuple(lines), when, size, cites, upper.span)


def _both(first: core.Expression | None, second: core.Expression | None) -> core.Expression | None:
    if first is None or second is None:
        return first or second
    return core.Logic("and", first, second, type=BOOL, span=first.span)


def _expanded(parts: Sequence[Named], below: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of parts, with those below in place of ``base``."""
    for line in (line for part in parts for line in part.lines):
        if isinstance(line, Base):
            yield from below
        else:
            yield line


def _inserted(parts: Sequence[Named], below: Sequence[Line]) -> Iterator[Line]:
    """Merge named lines with those below. Lines replace those of the same name. New lines are inserted before the next
    such part, after the last one, or at the top if there is none."""
    replacements = {part.name: part for part in parts if any(line.name == part.name for line in below)}
    ahead: dict[str, list[Named]] = {name: [] for name in replacements}
    new: list[Named] = []
    for part in parts:
        if part.name in replacements:
            ahead[part.name], new = new, []
        else:
            new.append(part)
    last = next(reversed(replacements), "")
    if not replacements:
        yield from _expanded(new, ())
    for name, run in groupby(below, key=lambda line: line.name):
        if name not in replacements:
            yield from run
            continue
        yield from _expanded(ahead[name], ())
        yield from _expanded([replacements[name]], tuple(run))
        if name == last:
            yield from _expanded(new, ())


def pinned_by(test: core.Expression, first: int, count: int) -> tuple[int, core.Expression] | None:
    """Match ``choice == value``, with a value that does not depend on that or later choices.

    Return the position of the choice and the value, or None for any other test.
    """
    if not isinstance(test, core.Comparison) or test.operator != "==":
        return None
    for side, value in ((test.left, test.right), (test.right, test.left)):
        if isinstance(side, core.Local) and first <= side.index < first + count:
            used = {node.index for node in descendants(value) if isinstance(node, core.Local)}
            if not any(side.index <= index < first + count for index in used):
                return side.index - first, value
    return None
