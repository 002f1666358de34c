"""Shrinking: a finding becomes the shortest scenario that reproduces it.

Takes a finding; returns the text of a scenario that fails now and passes once the trouble is fixed. It starts at the
phase of the trouble, with as few given facts and choices as still reproduce it. If rule text cannot express that state,
it starts at the first phase of the game.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.source import SourceFile
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.ruleset import Ruleset
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.files import read_document
from interpreter.testing.recording import flow
from interpreter.testing.running import begun, run_scenario
from interpreter.testing.scenarios import Checked, check_scenario, read_scenarios
from interpreter.testing.soundness import PHASE
from interpreter.testing.state_text import joined, lines_to
from interpreter.testing.verify import Finding

__all__ = ["file_of", "shrink"]

SECONDS = 30.0
"""Time limit for shrinking a finding, in seconds."""
SEEDS = 4
"""Number of other seeds tried if a game starts at a later phase, where its random outcomes start anew."""
LEFT_OUT = ("copies", "forms", "told")
"""Kinds of trouble that no scenario reproduces: faults of the interpreter, and what is no fault."""

T = TypeVar("T")
Choices = tuple[tuple[int, dict[str, Json]], ...]


class _Draft(Struct, frozen=True):
    """A scenario in the making."""

    ruleset: str
    overlays: tuple[str, ...]
    players: int
    seed: int
    settings: tuple[tuple[str, Json], ...]
    given: tuple[str, ...]
    phase: str
    round: int
    choices: Choices
    sound: int

    def text(self, name: str) -> str:
        """Return the scenario as an item of a scenario file."""
        lines = [
            f"name: {json.dumps(name, ensure_ascii=False)}",
            f"ruleset: {self.ruleset}",
            f"players: {self.players}",
            f"with: [{', '.join(self.overlays)}]" if self.overlays else "",
            f"set: {flow(dict(self.settings), _PLAIN)}" if self.settings else "",
            f"seed: {self.seed}" if self.seed else "",
            "given: |" if self.given else "",
            *(f"  {line}" for line in joined(self.given)),
            f"phase: {self.phase}" if self.phase else "",
            f"round: {self.round}" if self.round > 1 else "",
            "when:" if self.choices else "",
            *(f"  - {flow({'by': by, **choice}, _PLAIN)}" for by, choice in self.choices),
            f"sound: {self.sound}",
        ]
        return "  - " + "    ".join(f"{line}\n" for line in lines if line)


def file_of(id: str, scenarios: Sequence[str]) -> str:
    """Return the text of a scenario file."""
    return f"language: 2\nscenarios: {id}\nis:\n" + "\n".join(scenarios)


def shrink(finding: Finding, seconds: float = SECONDS) -> str | None:
    """Return the shortest scenario found within the time limit; None if no scenario reproduces the trouble."""
    if finding.trouble.kind in LEFT_OUT:
        return None
    end = monotonic() + seconds
    draft = next((draft for draft in _drafts(finding) if _shows(draft, finding)), None)
    if draft is None:
        return None

    def reproduces(shorter: _Draft) -> bool:
        return monotonic() < end and _shows(shorter, finding)

    def without(draft: _Draft, part: str) -> _Draft:
        fewer = _fewer(getattr(draft, part), lambda items: reproduces(replace(draft, **{part: items})))
        return replace(draft, **{part: fewer})

    for changes in ({"given": (), "choices": draft.choices[-1:]}, {"round": 1}, {"seed": 0}):
        if reproduces(shorter := replace(draft, **changes)):
            draft = shorter
    for part in ("choices", "given", "settings"):
        draft = without(draft, part)
    return draft.text(finding.trouble.message)


def _drafts(finding: Finding) -> Iterator[_Draft]:
    """Yield drafts that start at the phase of the trouble, at earlier phases, and at the start of the game."""
    course, ruleset = finding.course, finding.ruleset
    always = {scalar.text for scalar in ruleset.document.head.overlays}
    always.add(dict(finding.asked.players.overlays).get(course.players, ""))
    overlays = tuple(overlay for overlay in ruleset.overlays if overlay not in always)
    message = finding.trouble.message if finding.trouble.kind == "endless" else ""
    too_many_rounds, endless = message.endswith("rounds"), message.endswith(("rounds", "choices"))
    further = 2 * len(finding.choices) + 100 if too_many_rounds else PHASE + 100
    whole = _Draft(
        ruleset=ruleset.id,
        overlays=overlays,
        players=course.players,
        seed=course.seed,
        settings=tuple(course.settings.items()),
        given=(),
        phase="",
        round=1,
        choices=() if endless else finding.choices,
        sound=further if endless else 0,
    )
    set_up = finding.choices[: finding.set_up]
    first = _after_set_up(whole, set_up, ruleset)
    for moment in reversed(finding.moments if first is not None and not too_many_rounds else ()):
        assert first is not None
        then = first.clone()
        then.state.cells = moment.state.cells
        choices = (*set_up, *(() if endless else finding.choices[moment.made :]))
        begun_there = replace(
            whole, given=tuple(lines_to(first, then)), phase=moment.phase, round=max(1, moment.round), choices=choices
        )
        for seed in dict.fromkeys((course.seed, *(() if set_up else range(SEEDS)))):
            yield replace(begun_there, seed=seed)
    yield whole


def _after_set_up(draft: _Draft, choices: Choices, ruleset: Ruleset) -> Game | None:
    """Return the game after its set-up; None if the set-up cannot be replayed."""
    checked = _read(replace(draft, choices=(), phase="").text("set-up").rpartition("    sound:")[0], ruleset)
    if checked is None:
        return None
    try:
        game = begun(checked, ruleset)
        for by, choice in choices:
            game.apply(choice, by)
    except (IllegalMove, RuleFailure, RulesetError, ValueError):
        return None
    return game


def _shows(draft: _Draft, finding: Finding) -> bool:
    """Return whether the scenario fails with the same trouble."""
    checked, trouble = _read(draft.text("draft"), finding.ruleset), finding.trouble
    for failure in run_scenario(checked).failures if checked is not None else ():
        message = failure.message.partition(": ")[2]
        if failure.message.startswith("choice "):
            continue
        same_place = trouble.span is not None and failure.span == trouble.span
        if failure.message.startswith(f"{trouble.kind}: ") and (same_place or _alike(message, trouble.message)):
            return True
        if failure.message.startswith("the game cannot start") and trouble.message in str(failure):
            return True
    return False


def _alike(first: str, second: str) -> bool:
    return re.sub(r"\d+", "#", first) == re.sub(r"\d+", "#", second)


def _read(text: str, ruleset: Ruleset) -> Checked | None:
    document, _ = read_document(SourceFile("scenario", file_of("found/trouble", [text])), Path("scenario"))
    scenarios = read_scenarios(document)[0] if document is not None else []
    return check_scenario(scenarios[0], ruleset)[0] if scenarios else None


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


_PLAIN = re.compile(r"(?!(?i:true|false|null|yes|no|on|off|y|n)$)[A-Za-zÀ-ž_][\wÀ-ž /'.-]*(?<! )")
