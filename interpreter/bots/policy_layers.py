"""Layers of a policy's preferences for a decision, and their merging.

A layer is one text, in which ``base`` stands for all lines below, or a map of named lines, which replace, drop or keep
the lines with these names and add others. Layers are merged when they are checked; the result is plain lines, so bots
do not deal with layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.remedies import remove
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core
from interpreter.language.preferences import Line, Preferences
from interpreter.language.reporter import Report
from interpreter.language.types import BOOL

__all__ = ["Base", "Named", "Written", "expanded", "laid_over"]

MOST_VARIANTS = 32
"""Maximum number of variants of a decision's preferences, which grows with the number of parts with conditions."""


class Base(Struct, frozen=True):
    """``base``: the lines below."""

    span: Span


class Named(Struct, frozen=True):
    """Lines with a name, or the whole text of a decision, without a name. No lines: ``nothing``."""

    name: str
    lines: tuple[Line | Base, ...]
    span: Span


class Written(Struct, frozen=True):
    """A layer of preferences for a decision, before merging; ``alone`` is what it says where nothing is below."""

    parts: tuple[Named, ...]
    alone: Preferences

    @property
    def is_named(self) -> bool:
        return any(part.name for part in self.parts)

    @property
    def keeps_lines(self) -> bool:
        """Return whether merging may keep lines below."""
        return self.is_named or any(isinstance(line, Base) for part in self.parts for line in part.lines)


def laid_over(upper: Written, below: Sequence[Preferences], report: Report) -> tuple[Preferences, ...]:
    """Merge a layer with the variants of a decision's preferences; return the new variants, uppermost first."""
    diagnostics, alone = list(_check(upper, below)), upper.alone
    variants: tuple[Preferences, ...] = (alone,)
    if upper.keeps_lines and below:
        variants = tuple(_merged(upper, lower) for lower in below)
    if any(not variant.lines for variant in variants) and not diagnostics:
        diagnostics.append(Diagnostic("E107", f"no line of `{alone.decision}` is left", alone.span))
    if alone.when is not None:
        variants = (*variants, *below)
    if len(variants) > MOST_VARIANTS:
        message = f"parts give `{alone.decision}` {len(variants)} variants, want at most {MOST_VARIANTS}"
        diagnostics.append(Diagnostic("E313", message, alone.span, help="join parts that belong together"))
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
            note = Note("first given here", bases[0].span)
            yield Diagnostic("E501", message, bases[1].span, (note,), remove(bases[1].span))
        elif bases and not exists:
            line = f"no line `{part.name}`" if part.name else "no line"
            near = did_you_mean(part.name, names)
            message = f"{line} of `{upper.alone.decision}` is declared below, so there is no `base`{near}"
            yield Diagnostic("E507", message, bases[0].span, _known(names) if part.name else ())
        elif not part.lines and not exists:
            near = did_you_mean(part.name, names)
            message = f"no line `{part.name}` of `{upper.alone.decision}` is declared below{near}"
            yield Diagnostic("E502", message, part.span, _known(names))


def _known(names: dict[str, None]) -> tuple[Note, ...]:
    listed = ", ".join(f"`{name}`" for name in names)
    return (Note(f"lines with names below: {listed or 'none'}"),)


# --- merging


def _merged(upper: Written, lower: Preferences) -> Preferences:
    """Merge a layer with one of the variants below."""
    alone = upper.alone
    lines = _inserted(upper.parts, lower.lines) if upper.is_named else expanded(upper.parts, lower.lines)
    cites = tuple(dict.fromkeys((*alone.cites, *lower.cites)))
    when, size = _both(alone.when, lower.when), max(alone.local_count, lower.local_count)
    return Preferences(alone.decision, tuple(lines), when, size, cites, alone.span)


def _both(first: core.Expression | None, second: core.Expression | None) -> core.Expression | None:
    if first is None or second is None:
        return first or second
    return core.Logic("and", first, second, type=BOOL, span=first.span)


def expanded(parts: Sequence[Named], below: Sequence[Line]) -> Iterator[Line]:
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
        yield from expanded(new, ())
    for name, run in groupby(below, key=lambda line: line.name):
        if name not in replacements:
            yield from run
            continue
        yield from expanded(ahead[name], ())
        yield from expanded([replacements[name]], tuple(run))
        if name == last:
            yield from expanded(new, ())
