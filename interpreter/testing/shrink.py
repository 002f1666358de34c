"""Shrinking: a finding becomes the shortest scenario that reproduces it.

Takes a finding; returns the text of a scenario that fails now and passes once the trouble is fixed. It starts at the
phase of the trouble, with as few given facts and choices as still reproduce it. If rule text cannot express that state,
it starts at the first phase of the game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeVar

from msgspec.structs import replace

from interpreter.testing.openings import bound, later_starts
from interpreter.testing.recording import Written
from interpreter.testing.running import run_scenario
from interpreter.testing.soundness import PHASE
from interpreter.testing.verify import Finding

__all__ = ["shrink"]

SECONDS = 30.0
"""Time limit for shrinking a finding, in seconds."""
LEFT_OUT = ("copies", "forms", "told")
"""Kinds of trouble that no scenario reproduces: faults of the interpreter, and what is no fault."""

T = TypeVar("T")
_PLAIN = re.compile(r"(?!(?i:true|false|null|yes|no|on|off|y|n)$)[A-Za-zÀ-ž_][\wÀ-ž /'.-]*(?<! )")


def shrink(finding: Finding, seconds: float = SECONDS) -> str | None:
    """Return the shortest scenario found within the time limit; None if no scenario reproduces the trouble."""
    if finding.trouble.kind in LEFT_OUT:
        return None
    end = monotonic() + seconds
    draft = next((draft for draft in _drafts(finding) if _shows(draft, finding)), None)
    if draft is None:
        return None

    def reproduces(shorter: Written) -> bool:
        return monotonic() < end and _shows(shorter, finding)

    def without(draft: Written, part: str) -> Written:
        fewer = _fewer(getattr(draft, part), lambda items: reproduces(replace(draft, **{part: items})))
        return replace(draft, **{part: fewer})

    for changes in ({"given": (), "choices": draft.choices[-1:]}, {"round": 1}, {"seed": 0}):
        if reproduces(shorter := replace(draft, **changes)):
            draft = shorter
    for part in ("choices", "given", "settings"):
        draft = without(draft, part)
    return replace(draft, seed=draft.seed or None).text(finding.trouble.message, _PLAIN)


def _drafts(finding: Finding) -> Iterator[Written]:
    """Yield drafts that start at the phase of the trouble, at earlier phases, and at the start of the game."""
    course, ruleset = finding.course, finding.ruleset
    always = {scalar.text for scalar in ruleset.document.head.overlays}
    always.add(dict(finding.asked.players.overlays).get(course.players, ""))
    overlays = tuple(overlay for overlay in ruleset.overlays if overlay not in always)
    message = finding.trouble.message if finding.trouble.kind == "endless" else ""
    too_many_rounds, endless = message.endswith("rounds"), message.endswith(("rounds", "choices"))
    further = 2 * len(finding.choices) + 100 if too_many_rounds else PHASE + 100
    whole = Written(
        ruleset.id,
        course.players,
        overlays,
        tuple(course.settings.items()),
        course.seed,
        choices=() if endless else finding.choices,
        sound=further if endless else 0,
    )
    for late in later_starts(whole, finding.phases, ruleset, finding.choices) if not too_many_rounds else ():
        yield replace(late, choices=late.choices[: finding.phases.set_up]) if endless else late
    yield whole


def _shows(draft: Written, finding: Finding) -> bool:
    """Return whether the scenario fails with the same trouble."""
    checked, trouble = bound(draft, finding.ruleset), finding.trouble
    for failure in run_scenario(checked).failures if checked is not None else ():
        message = failure.message.partition(": ")[2]
        if failure.message.startswith("choice "):
            continue
        same_place = trouble.span is not None and failure.span == trouble.span
        texts = {re.sub(r"\d+", "#", text) for text in (message, trouble.message)}
        if failure.message.startswith(f"{trouble.kind}: ") and (same_place or len(texts) == 1):
            return True
        if failure.message.startswith("the game cannot start") and trouble.message in str(failure):
            return True
    return False


def _fewer(items: tuple[T, ...], passes: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Return a minimal subsequence that still passes (delta debugging: leave out ever smaller parts)."""
    size = len(items)
    while size >= 1 and items:
        start = 0
        while start < len(items):
            left = (*items[:start], *items[start + size :])
            if passes(left):
                items = left
            else:
                start += size
        size //= 2
    return items
