"""Channels: all ways in which the program tells a seat about a game, each as a function of the game and the seat.

:mod:`interpreter.testing.twins` compares them between games that differ only in what the seat may not see. Rooms above
this one have channels too; :mod:`interpreter.cli.outlets` adds them. A test fails if a way to look at a game is part
of no channel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from itertools import islice

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Decision
from interpreter.engine.foreseen import foresees
from interpreter.engine.game import Game
from interpreter.engine.log_records import is_choice
from interpreter.engine.refusal import IllegalMove, legal_choice
from interpreter.engine.views import numbered_lines, question_of
from interpreter.kernel.state import Value
from interpreter.language.types import BoolType, IntType, Type
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import OptionSite
from interpreter.play.keyboard import numbered
from interpreter.play.narration import boards_of

__all__ = ["CHANNELS", "MOST_OPTIONS", "Channel", "asked", "tried"]

Channel = Callable[[Game, int], object]
"""Return what a seat gets through a channel, as plain data."""

MOST_OPTIONS = 60
"""Number of options that a channel describes."""
MOST_REFUSED = 4
"""Number of choices of an alternative that are tried."""


def asked(game: Game, player: int) -> Decision | None:
    """Return the decision of a seat on its turn; None for a seat that chooses before its turn, or does not choose."""
    decision = game.decision
    return decision if decision is not None and decision.actor == player else None


def _boards(game: Game, player: int) -> object:
    return list(boards_of(game, "en", player))


def _prompt(game: Game, player: int) -> object:
    return [question_of(game.table, game.state, decision, "en", player) for decision in game.decisions]


def _options(game: Game, player: int) -> object:
    decision = game.decision_of(player)
    codes = list(islice((option.code for option in decision.options), MOST_OPTIONS)) if decision is not None else []
    return numbered(game, decision, codes) if decision is not None else []


def _refusals(game: Game, player: int) -> object:
    """Return what the seat reads if it tries choices, most of which are not legal."""
    decision = game.decision_of(player)
    return [_refusal(game, decision, choice) for choice in tried(game, decision)] if decision is not None else []


def _refusal(game: Game, decision: Decision, choice: dict[str, Json]) -> object:
    try:
        legal_choice(game.table, decision, choice)
    except IllegalMove as refused:
        return str(refused), tuple(refused.reasons)
    except RuleFailure:  # a condition cannot cope with a value that is not offered
        pass
    return None


def tried(game: Game, decision: Decision) -> Iterator[dict[str, Json]]:
    """Yield choices of all alternatives, most of which are not legal."""
    for option in decision.site.options:
        yield from islice(_choices(game, option), MOST_REFUSED)


def _choices(game: Game, option: OptionSite) -> Iterator[dict[str, Json]]:
    """Yield choices of an alternative: the first values of all its types, then the second ones, and so on."""
    columns = [(choice.name, _values(game, choice.type)) for choice in option.core.choices]
    if not all(values for _, values in columns):
        return
    for number in range(max((len(values) for _, values in columns), default=1)):
        yield {"do": option.name, **{name: values[number % len(values)] for name, values in columns}}


def _values(game: Game, type_: Type) -> list[Value]:
    """Return values of a type by public names; none for composed types."""
    if isinstance(type_, IntType):
        return [*range(8), 100]
    if isinstance(type_, BoolType):
        return [False, True]
    values = game.ruleset.model.values(type_, len(game.machine.constants.seats))
    return [game.table.names.public(value, type_) for value in values]


def _past(game: Game, player: int) -> object:
    """Return what the seat sees of the moment before the last choice; None without one."""
    if not any(map(is_choice, game.state.log)):
        return None
    earlier = copy(game)
    earlier.undo()
    return earlier.view(player), _boards(earlier, player), _prompt(earlier, player)


CHANNELS: Mapping[str, Channel] = {
    "log": lambda game, player: list(numbered_lines(game.table, game.state, player)),
    "view": lambda game, player: game.view(player),
    "boards": _boards,
    "prompt": _prompt,
    "options": _options,
    "refusals": _refusals,
    "moments of the past": _past,
    "taking back": lambda game, player: foresees(game, player) if any(map(is_choice, game.state.log)) else None,
}
"""The channels of this room and those below."""
