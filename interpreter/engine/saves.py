"""Saved games as text: how they began, choices and the state that they lead to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict, cast

from interpreter.base.plain_data import Json, Value
from interpreter.engine.scripted_outcomes import Outcomes
from interpreter.engine.setup import Table
from interpreter.kernel.state import Frame, State, as_json
from interpreter.lowering.lower import Program

__all__ = ["Origin", "check_state", "played", "save_of", "text_of"]

SAVE_VERSION = 1
MAXIMUM_SAVE = 50_000_000
"""Maximum length of a save in characters."""


class Origin(TypedDict):
    """Origin of a game apart from settings: players, seed and scripted outcomes."""

    players: int
    seed: int
    chance: NotRequired[Outcomes]


class Save(Origin):
    """A saved game as read; only the keys needed to replay it are validated."""

    digest: str
    settings: NotRequired[dict[str, Json]]
    choices: list[dict[str, Value]]
    ruleset: NotRequired[Json]
    overlays: NotRequired[Json]
    state: NotRequired[Json]


def text_of(
    beginning: Mapping[str, object],
    table: Table,
    state: State,
    decision: str | None,
    choices: Iterable[tuple[int, Mapping[str, Json]]],
) -> str:
    """Return a game as JSON text: its beginning, choices and state; ``decision`` is the pending one."""
    saved = {
        "save": SAVE_VERSION,
        **beginning,
        "choices": [{"by": actor, **choice} for actor, choice in choices],
        "decision": decision,
        "state": _state_of(table.program, state),
    }
    return json.dumps(saved, ensure_ascii=False, separators=(",", ":"))


def _state_of(program: Program, state: State) -> dict[str, Value]:
    return {"cells": as_json(tuple(state.cells)), "frame": _frame_of(program, state.frame)}


def _frame_of(program: Program, frame: Frame | None) -> Json:
    """Return a frame and its callers; each names its stretch independently of the order of stretches. The machine's own
    stretches have numbers."""
    if frame is None:
        return None
    index, locals_, caller, into = frame
    stretches = program.stretches
    stretch = stretches[index].id if index < len(stretches) else f"!{index - len(stretches)}"
    return [stretch, as_json(tuple(locals_)), _frame_of(program, caller), into]


def played(saved: Save) -> str:
    """Describe the ruleset and overlays of a save."""
    overlays = saved.get("overlays")
    listed = ", ".join(f"`{overlay}`" for overlay in overlays) if isinstance(overlays, list) else ""
    return f"`{saved.get('ruleset')}`" + (f" with {listed}" if listed else "")


def save_of(text: str) -> Save:
    """Parse and validate a save. Raises ``ValueError`` if it is invalid."""
    if not isinstance(text, str):
        raise TypeError(f"got {type(text).__name__}, want the text of a saved game")
    if len(text) > MAXIMUM_SAVE:
        raise ValueError(f"this is not a saved game: it has more than {MAXIMUM_SAVE:,} characters")
    try:
        saved = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        saved = None
    if not isinstance(saved, dict) or "save" not in saved:
        raise ValueError("this is not a saved game")
    if saved["save"] != SAVE_VERSION:
        shown = saved["save"] if isinstance(saved["save"], int) else "?"
        raise ValueError(f"a save of version {shown}; this reads version {SAVE_VERSION}")
    numbers = saved.get("players"), saved.get("seed")
    valid = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
    valid &= isinstance(saved.get("digest"), str) and isinstance(saved.get("settings", {}), dict)
    valid &= isinstance(saved.get("choices"), list)
    if not valid or not all(_is_choice(choice) for choice in saved["choices"]):
        raise ValueError("this save is damaged: players, seed, settings or choices are invalid")
    chance = saved.get("chance", {})
    if not isinstance(chance, dict) or not all(isinstance(outcomes, list) for outcomes in chance.values()):
        raise ValueError("this save is damaged: `chance` is not a mapping of names to outcomes")
    return cast(Save, saved)


def _is_choice(choice: object) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("by"), int) and isinstance(choice.get("do"), str)


def check_state(table: Table, replayed: State, state: Json) -> None:
    """Check that a save has the state that its choices lead to. Raises ``ValueError``."""
    mine = _state_of(table.program, replayed)
    if state == mine:
        return
    cells = state.get("cells") if isinstance(state, dict) else None
    if not isinstance(cells, list) or len(cells) != len(mine["cells"]):
        raise ValueError("this save is damaged: its state does not fit this ruleset")
    for cell, (saved, own) in enumerate(zip(cells, mine["cells"], strict=True)):
        if saved != own:
            where = table.census.effects.names(cell)
            raise ValueError(f"this save is damaged: {where} differs from the replayed game")
    raise ValueError("this save is damaged: its pending decision differs from the replayed game")
