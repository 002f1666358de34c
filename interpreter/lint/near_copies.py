"""Near copies: procedures of maps and overlays that repeat a procedure of a file below except for a few lines.

The lines that differ show a missing *seam*: a rule of the family that the map could wrap. Texts are compared line by
line, since copies keep lines intact. :mod:`interpreter.lint.duplicates` finds exact copies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.engine.game import Ruleset
from interpreter.lint.places import Family, Place, advice, place_of
from interpreter.sections.behaviour import Rule
from interpreter.sections.declarations import Entry

__all__ = ["LONGEST", "near_copies"]

LONGEST = 5
"""Largest number of repeated lines that is not reported: a rule for them would be longer."""
_SHARE = 0.7
"""Smallest share of repeated lines that makes a procedure a copy."""
_COPYING = ("map", "overlay")
_SAYS_NOTHING = re.compile(r"|else:|return|stop|base\(.*\)")


def near_copies(family: Family) -> Iterator[Diagnostic]:
    """Yield each near copy, with the procedure below that shares most of its lines."""
    seen: set[Place] = set()
    known: dict[Place, Counter[str]] = {}  # an entry is the same in every composition
    for ruleset in family.rulesets:
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
            original, original_lines = max(below, key=lambda text: (lines & text[1]).total(), default=(entry, lines))
            same = (lines & original_lines).total()
            if (
                original is not entry
                and (entry.span.file.name in family.files or original.span.file.name in family.files)
                and LONGEST < same < max(lines.total(), original_lines.total())
                and same >= _SHARE * lines.total()
            ):
                yield _finding(ruleset, entry, original, same, lines.total(), original_lines - lines)


def _lines(entry: Entry) -> Counter[str]:
    """Return the significant lines of a procedure, without comments and citations."""
    text = entry.read(Rule).does
    if text is None:
        return Counter()
    lines = (re.sub(r"\s*(#|\bcites [A-Z]).*", "", line).strip() for line in text.text.split("\n"))
    return Counter(line for line in lines if not _SAYS_NOTHING.fullmatch(line))


def _finding(ruleset: Ruleset, entry: Entry, original: Entry, same: int, of: int, missing: Counter[str]) -> Diagnostic:
    """Return the finding. ``missing`` are lines of the original that the copy lacks: the rules they call are seams."""
    called = dict.fromkeys(name for line in missing for name in re.findall(r"\b([a-z_]\w*)\(", line))
    seams = [f"`{name}`" for name in called if name in ruleset.model.rules]
    message = f"{same} of the {of} lines of `{entry.name}` stand in `{original.name}` of `{original.file}`"
    remedy = f"let `{original.file}` call a rule where the two differ, and wrap that rule here"
    if seams:
        remedy = f"wrap {' or '.join(seams)}, which the lines that differ call, or {remedy}"
    note = Note(f"`{original.name}` stands here", original.span)
    return advice("L011", message, entry.span, remedy, note)
