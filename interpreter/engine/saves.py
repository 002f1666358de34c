"""Games as text: where a game comes from, its choices, and the state that these lead to.

A game is read by making its choices again; the state only proves that they led to the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interpreter.compiler.constants import RuleFailure
from interpreter.engine.refusal import IllegalMove
from interpreter.kernel.state import as_json

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.engine.ruleset import Ruleset

__all__ = ["game_of", "text_of"]

SAVE_VERSION = 1
MAXIMUM_SAVE = 50_000_000
"""A text with more characters is not read."""


def text_of(game: Game) -> str:
    """A game as text: where it comes from, its choices, its state."""
    decision = game.decision
    saved = {
        "save": SAVE_VERSION,
        "ruleset": game.ruleset.id,
        "overlays": [d.id for d in game.ruleset.composition.documents if d.kind == "overlay"],
        "digest": game.ruleset.digest,
        **game.origin,
        "settings": _settings_of(game),
        "choices": [{"by": actor, **choice} for actor, choice in game.choices],
        "decision": decision.name if decision else None,
        "state": _state_of(game),
    }
    return json.dumps(saved, ensure_ascii=False, separators=(",", ":"))


def _settings_of(game: Game) -> dict[str, Any]:
    """The settings by their public names."""
    model, names = game.ruleset.model, game.ruleset.names
    found: dict[str, Any] = {}
    for name, setting in model.settings.items():
        if game.settings[name] is not None:
            found[name] = names.public(game.settings[name], setting.type)
    for name, doubt in model.interpretations.items():
        found[name] = list(doubt.readings)[game.settings[name]]
    return found


def _state_of(game: Game) -> dict[str, Any]:
    return {"cells": as_json(tuple(game.state.cells)), "frame": _frame_of(game.ruleset, game.state.frame)}


def _frame_of(ruleset: Ruleset, frame: Any) -> Any:
    """A frame and those of its callers, each with its stretch by a name that does not hang on their order."""
    if frame is None:
        return None
    index, locals_, up, into = frame
    return [_stretch_id(ruleset, index), as_json(tuple(locals_)), _frame_of(ruleset, up), into]


def _stretch_id(ruleset: Ruleset, index: int) -> str:
    """The name of a stretch; of one that is the machine's own, its number."""
    stretches = ruleset.program.stretches
    return stretches[index].id if index < len(stretches) else f"!{index - len(stretches)}"


def game_of(ruleset: Ruleset, text: str) -> Game:
    """A saved game: its choices are made again, and lead to the state that was saved.

    ``ValueError`` says what is wrong: the text is no save, or is damaged, or is a game of another ruleset, or the
    ruleset has changed since, so that a choice no longer fits; then the first one is named, with the rule and its
    reason.
    """
    saved = _save_of(text)
    ruleset = ruleset.for_players(saved["players"])
    changed = saved["digest"] != ruleset.digest
    what = "the ruleset has changed" if changed else "this save is damaged"
    if changed and (saved.get("ruleset"), saved.get("overlays")) != (ruleset.id, list(ruleset.overlays)):
        what = f"this is a game of {_played(saved)}, not of `{ruleset.id}`"
        if unknown := [name for name in saved.get("settings", {}) if not ruleset.has_setting(name)]:
            raise ValueError(f"{what}, which has no setting `{unknown[0]}`")
    try:
        game = ruleset.new_game(saved["players"], saved["seed"], saved.get("settings"), saved.get("chance"))
        for number, choice in enumerate(saved["choices"], 1):
            _make(game, number, choice)
    except RuleFailure as failure:
        raise ValueError(f"{what}: {failure}") from None
    except _Different as different:
        raise ValueError(f"{what}: {different}") from None
    if not changed:
        _check_state(game, saved.get("state"))
    return game.clone()


class _Different(Exception):
    """A choice of a save that cannot be made again."""


def _make(game: Game, number: int, choice: dict[str, Any]) -> None:
    """Makes a choice of a save."""
    decision = game.decision
    if decision is None:
        raise _Different(f"the game is over before choice {number} of the save")
    if game.decision_of(choice["by"]) is None:
        rule = decision.site.procedure.split("@")[0]
        now = f"seat {decision.actor} decides `{decision.name}` (rule `{rule}`)"
        raise _Different(f"at choice {number} {now}, not seat {choice['by']}")
    try:
        game.apply({name: value for name, value in choice.items() if name != "by"}, choice["by"])
    except IllegalMove as error:
        raise _Different(f"choice {number} is refused: {error}") from None


def _check_state(game: Game, state: Any) -> None:
    """The state of a save is the one that its choices lead to."""
    mine = _state_of(game)
    if state == mine:
        return
    cells = state.get("cells") if isinstance(state, dict) else None
    if not isinstance(cells, list) or len(cells) != len(mine["cells"]):
        raise ValueError("this save is damaged: its state has not the form of this ruleset")
    for cell, (theirs, own) in enumerate(zip(cells, mine["cells"], strict=True)):
        if theirs != own:
            where = game.table.census.name(cell)
            raise ValueError(f"this save is damaged: {where} is not what the choices lead to")
    raise ValueError("this save is damaged: it waits for another decision than the choices lead to")


def _played(saved: Mapping[str, Any]) -> str:
    """Of what a save is, in words."""
    overlays = saved.get("overlays")
    listed = [f"`{overlay}`" for overlay in overlays] if isinstance(overlays, list) else []
    return " with ".join([f"`{saved.get('ruleset')}`", *([", ".join(listed)] if listed else [])])


def _save_of(text: str) -> dict[str, Any]:
    """Validate the content of a save."""
    if not isinstance(text, str):
        raise TypeError(f"got {type(text).__name__}, want the text of a saved game")
    if len(text) > MAXIMUM_SAVE:
        raise ValueError(f"this is no saved game: it has more than {MAXIMUM_SAVE:,} characters")
    try:
        saved = json.loads(text)
    except (ValueError, RecursionError):
        saved = None
    if not isinstance(saved, dict) or "save" not in saved:
        raise ValueError("this is no saved game")
    if saved["save"] != SAVE_VERSION:
        shown = saved["save"] if isinstance(saved["save"], int) else "?"
        raise ValueError(f"a save of version {shown}; this reads version {SAVE_VERSION}")
    number = saved.get("players"), saved.get("seed")
    right = all(isinstance(each, int) and not isinstance(each, bool) for each in number)
    right &= isinstance(saved.get("digest"), str) and isinstance(saved.get("settings", {}), dict)
    right &= isinstance(saved.get("choices"), list)
    if not right or not all(_is_choice(choice) for choice in saved["choices"]):
        raise ValueError("this save is damaged: players, seed, settings or choices are not as they should be")
    chance = saved.get("chance", {})
    if not isinstance(chance, dict) or not all(isinstance(outcomes, list) for outcomes in chance.values()):
        raise ValueError("this save is damaged: `chance` is not outcomes by name")
    return saved


def _is_choice(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("by"), int) and isinstance(choice.get("do"), str)
