"""A ruleset with another cell in a table, without a file that says so; a game that goes on by it.

Only numbers differ: rules, and what the cells of a state mean, stay as they are. So a game in the middle can be taken
over. The laws of tables are there for what is printed: whoever asks what would be may break them, and is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from interpreter.base.plain_data import Json
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.game import Game
from interpreter.engine.rules import Rules
from interpreter.explain.cross_reference import cell_place
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import Value
from interpreter.language.types import BoolType, SetType, Type

__all__ = ["broken_laws", "going_on", "varied"]

AnyRules = TypeVar("AnyRules", bound=Rules)

Cell = tuple[str, tuple[str, ...], str]
"""A table, the keys of a cell and what stands in it, as they are written."""


def varied(ruleset: AnyRules, cells: list[Cell]) -> AnyRules:
    """The ruleset with these cells. ``LookupError`` where there is no such cell, ``ValueError`` for another value."""
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
    """Return the public text of a value in a cell of a table."""
    if text == "-":
        return None
    if isinstance(type_, SetType):
        return text.split()
    if isinstance(type_, BoolType):
        return {"yes": True, "no": False}.get(text, text)
    return int(text) if text.lstrip("-").isdigit() else text


def going_on(game: Game, ruleset: Rules, settings: Mapping[str, object], seed: int) -> Game:
    """The game as it stands, going on by another ruleset and other settings, with new chance. ``ValueError`` where
    they do not fit a game that has begun."""
    same = ruleset is game.ruleset and not settings
    values = game.settings if same else {**game.settings, **_values(ruleset, settings)}
    table = game.table if same else ruleset.table(game.table.seats, values)
    state = game.state.clone()
    if not same:
        constants = table.machine.constants
        if constants.layout != game.machine.constants.layout:
            raise ValueError("this changes what there is on the table; a game that has begun cannot go on with it")
        state.cells[constants.layout.base["pending"]] = (1 << len(constants.watches)) - 1  # standing rules read it too
    found = Game(table, state, Seeded(seed), game.origin)
    if not same:
        found._check_settings()
    return found


def _values(ruleset: Rules, settings: Mapping[str, object]) -> dict[str, Value]:
    known = ruleset.settings(settings)
    return {name: known[name] for name in settings}


def broken_laws(game: Game) -> Iterator[str]:
    """The laws of tables that do not hold, in words."""
    for law in game.ruleset.model.laws:
        try:
            holds = game.machine.expressions.compile(law.condition)(game.state, [None] * law.size)
        except RuleFailure as failure:
            yield f"a law of `{law.table}` fails: {failure.message}"
            continue
        if not holds:
            yield f"`{law.table}` breaks its law `{' '.join(law.condition.span.text.split())}`"
