"""Procedures of maps and overlays that copy one of the files below them, wholly but for a few lines.

What differs is what the family has no rule for that a map could wrap: a *seam* is missing. Texts are compared line
by line, for a copy keeps lines as they are; :mod:`interpreter.lint.duplicates` tells copies without any difference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.engine.ruleset import Ruleset
from interpreter.lint.places import Place, place_of
from interpreter.reading.compose import Entry
from interpreter.reading.yaml import Scalar

__all__ = ["LONGEST", "near_copies"]

LONGEST = 5
"""So many lines may be said again; to find a rule for them would be longer than they are."""
_SHARE = 0.7
"""The part of a procedure that stands in another one too, from which on it is a copy."""
_COPYING = ("map", "overlay")
_SAYS_NOTHING = re.compile(r"|\(.*\)( -> .*)?:|else:|return|stop|base\(.*\)")


def near_copies(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Of each such procedure the one below it that has most of its lines."""
    seen: set[Place] = set()
    known: dict[Place, Counter[str]] = {}  # an entry says the same in every composition
    for ruleset in family:
        order = {document.id: number for number, document in enumerate(ruleset.composition.documents)}
        entries = [entry for layers in ruleset.composition.sections.get("rules", {}).values() for entry in layers]
        known.update({at: _lines(entry) for entry in entries if (at := place_of(entry)) not in known})
        texts = [(entry, lines) for entry in entries if (lines := known[place_of(entry)])]
        for entry, lines in texts:
            place = place_of(entry)
            if entry.kind not in _COPYING or place in seen or lines.total() <= LONGEST:
                continue
            seen.add(place)
            below = [text for text in texts if order.get(text[0].file, 0) < order.get(entry.file, 0)]
            other, its = max(below, key=lambda text: (lines & text[1]).total(), default=(entry, lines))
            same = (lines & its).total()
            if (
                other is not entry
                and (entry.span.file.name in told or other.span.file.name in told)
                and LONGEST < same < max(lines.total(), its.total())
                and same >= _SHARE * lines.total()
            ):
                yield _told(ruleset, entry, other, same, lines.total(), its - lines)


def _lines(entry: Entry) -> Counter[str]:
    """The lines of a procedure that say something, without comments and citations."""
    text = entry.get("does")
    if not isinstance(text, Scalar):
        return Counter()
    lines = (re.sub(r"\s*(#|\bcites [A-Z]).*", "", line).strip() for line in text.text.split("\n"))
    return Counter(line for line in lines if not _SAYS_NOTHING.fullmatch(line))


def _told(ruleset: Ruleset, entry: Entry, other: Entry, same: int, of: int, left: Counter[str]) -> Diagnostic:
    """``left`` are the lines of the other one that are not in the copy: rules that they call are seams."""
    called = dict.fromkeys(name for line in left for name in re.findall(r"\b([a-z_]\w*)\(", line))
    seams = [f"`{name}`" for name in called if name in ruleset.model.rules]
    message = f"{same} of the {of} lines of `{entry.name}` stand in `{other.name}` of `{other.file}`"
    remedy = f"let `{other.file}` call a rule where the two differ, and wrap that rule here"
    if seams:
        remedy = f"wrap {' or '.join(seams)}, which the lines that differ call, or {remedy}"
    note = Note(f"`{other.name}` stands here", other.span)
    return Diagnostic("L011", message, entry.span, (note,), remedy, "warning")
