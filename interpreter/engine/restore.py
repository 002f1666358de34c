"""Restoring saved games: replays the text that :mod:`interpreter.engine.saves` writes."""

from __future__ import annotations

from interpreter.base.plain_data import Json, Value
from interpreter.engine.game import Game, new_game
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.rules import Rules
from interpreter.engine.saves import played, save_of, state_of
from interpreter.lowering.constants import RuleFailure

__all__ = ["load_game"]


def load_game(rules: Rules, text: str) -> Game:
    """Restore a saved game: replay its choices and check that they lead to the saved state.

    Raises ``ValueError`` if the text is no save, is damaged, or belongs to another ruleset, or if the ruleset has
    changed so that a choice no longer fits. The message names the first such choice, with the rule and the reason.
    """
    saved = save_of(text)
    rules = rules.for_players(saved["players"])
    changed = saved["digest"] != rules.digest
    fault = "the ruleset has changed" if changed else "this save is damaged"
    if changed and (saved.get("ruleset"), saved.get("overlays")) != (rules.id, list(rules.overlays)):
        fault = f"this is a game of {played(saved)}, not of `{rules.id}`"
        if unknown := [name for name in saved.get("settings", {}) if not rules.has_setting(name)]:
            raise ValueError(f"{fault}, which has no setting `{unknown[0]}`")
    try:
        game = new_game(rules, saved["players"], saved["seed"], saved.get("settings"), saved.get("chance"))
        for number, choice in enumerate(saved["choices"], 1):
            _make(game, number, choice)
    except (RuleFailure, _Different) as error:
        raise ValueError(f"{fault}: {error}") from None
    if not changed:
        _check_state(game, saved.get("state"))
    return game.clone()


class _Different(Exception):
    """Raised for a saved choice that cannot be replayed."""


def _make(game: Game, number: int, choice: dict[str, Value]) -> None:
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


def _check_state(game: Game, state: Json) -> None:
    mine = state_of(game.ruleset, game.state)
    if state == mine:
        return
    cells = state.get("cells") if isinstance(state, dict) else None
    if not isinstance(cells, list) or len(cells) != len(mine["cells"]):
        raise ValueError("this save is damaged: its state does not fit this ruleset")
    for cell, (saved, replayed) in enumerate(zip(cells, mine["cells"], strict=True)):
        if saved != replayed:
            where = game.table.census.name(cell)
            raise ValueError(f"this save is damaged: {where} differs from the replayed game")
    raise ValueError("this save is damaged: its pending decision differs from the replayed game")
