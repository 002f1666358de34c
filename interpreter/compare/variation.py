"""Variation: a ruleset with changed table cells, without an overlay file, and games that continue under it.

Rules and the layout of the state stay the same, so a game in progress can continue. The laws of tables describe the
printed rules: a variation may break them, which is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from interpreter.base.plain_data import Json, number_in
from interpreter.engine.game import Game
from interpreter.engine.rules import Rules
from interpreter.explain.cross_reference import cell_place
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import Value
from interpreter.language.types import BoolType, SetType, Type
from interpreter.lowering.constants import RuleFailure

__all__ = ["broken_laws", "going_on", "varied"]

AnyRules = TypeVar("AnyRules", bound=Rules)

Cell = tuple[str, tuple[str, ...], str]
"""A table, the keys of a cell and its value, as text."""


def varied(ruleset: AnyRules, cells: list[Cell]) -> AnyRules:
    """Return the ruleset with these cells. Raises :class:`LookupError` for an unknown cell, :class:`ValueError` for an
    invalid value."""
    if not cells:
        return ruleset
    tables = dict(ruleset.model.tables)
    for name, keys, text in cells:
        table, place = cell_place(ruleset, name, list(keys))
        try:
            value = ruleset.names.value(_public(text, table.gives), table.gives)
        except ValueError as error:
            raise ValueError(f"`{name}[{', '.join(keys)}]`: {error}") from None
        tables[name] = replace(tables[name], cells={**tables[name].cells, place: value})
    model = replace(ruleset.model, tables=tables)
    return ruleset.with_model(model, replace(ruleset.program, model=model))


def _public(text: str, type_: Type) -> Json:
    """Return the public value for the text of a cell."""
    if text == "-":
        return None
    if isinstance(type_, SetType):
        return text.split()
    if isinstance(type_, BoolType):
        return {"yes": True, "no": False}.get(text, text)
    return number_in(text)


def going_on(game: Game, ruleset: Rules, settings: Mapping[str, object], seed: int) -> Game:
    """Return a copy of the game that continues under another ruleset and settings, with a new seed. Raises
    :class:`ValueError` if they do not fit a game in progress."""
    same = ruleset is game.ruleset and not settings
    values = game.settings if same else {**game.settings, **_values(ruleset, settings)}
    table = game.table if same else ruleset.table(game.table.seats, values)
    state = game.state.clone()
    if not same:
        constants = table.machine.constants
        if constants.layout != game.machine.constants.layout:
            raise ValueError("this changes the components: a game in progress cannot continue with it")
        state.cells[constants.layout.base["pending"]] = (
            1 << len(constants.watches)
        ) - 1  # check all standing rules anew: they may depend on the change
    continued = Game(table, state, Seeded(seed), game.origin)
    if not same:
        continued._check_settings()
    return continued


def _values(ruleset: Rules, settings: Mapping[str, object]) -> dict[str, Value]:
    known = ruleset.settings(settings)
    return {name: known[name] for name in settings}


def broken_laws(game: Game) -> Iterator[str]:
    """Yield a message for each law of a table that does not hold."""
    for law in game.ruleset.model.laws:
        try:
            holds = game.machine.expressions.compile(law.condition)(game.state, [None] * law.size)
        except RuleFailure as failure:
            yield f"a law of `{law.table}` fails: {failure.message}"
            continue
        if not holds:
            yield f"`{law.table}` breaks its law `{' '.join(law.condition.span.text.split())}`"
