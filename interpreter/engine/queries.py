"""Queries: evaluates an expression that a user types about a game, and formats values as rule text."""

from __future__ import annotations

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.plain_data import json_of
from interpreter.base.source import typed
from interpreter.engine import values
from interpreter.engine.setup import Table
from interpreter.hidden.sight import Unseen
from interpreter.kernel.state import State, Value
from interpreter.language import types
from interpreter.language.check_expressions import Expressions
from interpreter.language.core import Expression
from interpreter.language.model import Model
from interpreter.language.parse import parse_expression
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame

__all__ = ["literal", "typed_expression", "value_of"]


def value_of(table: Table, state: State, text: str, player: int | None = None) -> tuple[Value, types.Type]:
    """Return the value of an expression and its type. Raises :class:`RulesetError` for an invalid expression, and
    ``ValueError`` if it reads something that the player may not see."""
    node = typed_expression(table.model, text, frame := Frame())
    table.machine.meter.refill()
    try:
        value = table.machine.expressions.compile(node)(table.sight.seen_by(state, player), [None] * frame.size)
        hash(value)  # reads every part, so that a veil raises
    except Unseen:
        raise ValueError(f"`{text}` looks at what player {player} may not see") from None
    if not table.sight.shows(state, value, node.type, player):
        raise ValueError(f"`{text}` is a card that player {player} may not see")
    return (tuple(value) if isinstance(value, range) else value), node.type


def typed_expression(model: Model, text: str, frame: Frame) -> Expression:
    """Return an expression over the locals of a frame. Raises :class:`RulesetError` with its errors."""
    tree, problems = parse_expression(typed(text, "expression"))
    diagnostics: list[Diagnostic] = list(problems)
    node = Expressions(Names(model), frame, diagnostics.append).value(tree, maybe=True) if tree is not None else None
    if node is None or diagnostics:
        raise RulesetError(diagnostics)
    return node


def literal(names: values.Names, value: Value, type_: types.Type) -> str | None:
    """Format a value as rule text of its type; None if it cannot be written."""
    public: Value = names.public(value, type_)
    if value is None:
        return "none"
    match type_:
        case types.IntType():
            return str(value)
        case types.BoolType():
            return "yes" if value else "no"
        case types.SeatType():
            return f"seats[{value}]"
        case types.KindType():
            return str(public)
        case types.NodeType():
            return json_of(public)
        case types.PlaceType():
            node, number = public.values()
            return f"{json_of(node)}.places[{number - 1}]"
        case types.CardType() if type_.name and names.model.cards[value].is_named:
            return str(public) if isinstance(public, int) else json_of(public)
        case types.CollectionType():
            items = [literal(names, item, type_.of) for item in value]
            return None if None in items else f"[{', '.join(item for item in items if item)}]"
        case _:
            return None
