"""Variation: a ruleset with changed table cells, without an overlay file; games that continue under another ruleset.

A game in progress can continue where the components are the same, and the rules that are being carried out. The laws of
tables describe the printed rules: a variation may break them, which is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from interpreter.base.plain_data import Json, number_in
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.setup import Table, default_settings
from interpreter.explain.cross_reference import cell_place
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import Frame
from interpreter.language.model import Model
from interpreter.language.types import BoolType, SetType, Type
from interpreter.lowering.constants import RuleFailure
from interpreter.lowering.lower import Program

__all__ = ["Unlike", "broken_laws", "going_on", "numbered", "renumbered", "varied"]

Cell = tuple[str, tuple[str, ...], str]
"""A table, the keys of a cell and its value, as text."""


class Unlike(ValueError):
    """Raised if a game in progress cannot continue under another ruleset."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: a game in progress cannot continue with it")
        self.why = why


def varied(ruleset: Ruleset, cells: list[Cell]) -> Ruleset:
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
    if text == "-":
        return None
    if isinstance(type_, SetType):
        return text.split()
    if isinstance(type_, BoolType):
        return {"yes": True, "no": False}.get(text, text)
    return number_in(text)


def going_on(game: Game, ruleset: Ruleset, settings: Mapping[str, object], seed: int) -> Game:
    """Return a copy of the game that continues under another ruleset and settings, with a new seed. Raises
    :class:`ValueError` if they do not fit a game in progress."""
    same = ruleset is game.ruleset and not settings
    known = ruleset.settings(settings)
    values = {
        **default_settings(ruleset.model),
        **ruleset.own_settings(game.settings),
        **{name: known[name] for name in settings},
    }
    table = game.table if same else ruleset.table(game.table.seats, values)
    state = game.state.clone()
    if not same:
        constants = table.machine.constants
        state.leave()
        state.frame = _frame_for(game, table)
        # check all standing rules anew: they may depend on the change
        state.cells[constants.layout.base["pending"]] = (1 << len(constants.watches)) - 1
    continued = Game(ruleset, table, state, Seeded(seed), game.origin)
    if not same:
        continued._check_set_up()
    return continued


def _frame_for(game: Game, table: Table) -> Frame | None:
    """Return the frame of a game as one of another table, whose stretches have other numbers."""
    before, after, frame = game.ruleset.program, table.program, game.state.frame
    layout = game.machine.constants.layout
    if table.machine.constants.layout != layout or numbered(after.model) != numbered(before.model):
        raise Unlike("this changes the components")
    if before.stretches is after.stretches:
        return frame
    for name in (*_carried_out(before, frame), *(block[2] for block in game.state.cells[layout.base["kept"]])):
        if _text_of(before, name) != _text_of(after, name):
            raise Unlike(f"this changes `{name.partition('@')[0]}`, which is being carried out")
    return renumbered(frame, before, after)


def renumbered(frame: Frame | None, before: Program, after: Program) -> Frame | None:
    """Return the frame of a program as one of another program, whose equal stretches have other numbers."""
    places = {stretch.id: number for number, stretch in enumerate(after.stretches)}

    def moved(frame: Frame | None) -> Frame | None:
        if frame is None:
            return None
        at, locals_, caller, into = frame
        own = at - len(before.stretches)  # of the machine, behind those of the rules
        number = places[before.stretches[at].id] if own < 0 else len(after.stretches) + own
        return number, locals_, moved(caller), into

    return moved(frame)


def numbered(model: Model) -> tuple[Any, ...]:
    """Return the names of all that states know by numbers."""
    cards, kinds = [(row.kind, row.key) for row in model.cards], {name: model.members(name) for name in model.kinds}
    if (graph := model.graph) is None:
        return cards, kinds, model.phases, [*model.roles], model.pieces
    nodes, links = [node.name for node in graph.nodes], [(link.a, link.b) for link in graph.links]
    places = [(place.node, place.number) for place in graph.places]
    return cards, kinds, model.phases, [*model.roles], model.pieces, nodes, links, places


def _carried_out(program: Program, frame: Frame | None) -> Iterator[str]:
    while frame is not None:
        at, _, frame, _ = frame
        if at < len(program.stretches):
            yield program.stretches[at].procedure


def _text_of(program: Program, name: str) -> tuple[object, ...]:
    lowered = program.procedures.get(name)
    body = lowered.layer.body if lowered is not None else None
    return body, [stretch.id for stretch in program.stretches if stretch.procedure == name]


def broken_laws(game: Game) -> Iterator[str]:
    """Yield a message for each law of a table that does not hold."""
    for law in game.ruleset.model.laws:
        try:
            holds = game.machine.expressions.compile(law.condition)(game.state, [None] * law.size)
        except RuleFailure as failure:
            yield f"a law of `{law.table}` fails: {failure.message}"
            continue
        if not holds:
            yield f"`{law.table}` breaks its law `{law.condition.span.on_one_line}`"
