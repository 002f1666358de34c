"""Printing of syntax trees: turns a node into canonical rule text that parses to an equal node.

Blocks are indented by two spaces, an expression is one line, and brackets are written only where the grammar needs
them. Comments and the author's line breaks are not in the tree, so they are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import assert_never

from interpreter.language import nodes
from interpreter.language.syntax_errors import STATEMENTS

__all__ = ["AnyNode", "format_node"]

Text = (
    nodes.Function
    | nodes.Procedure
    | nodes.Verdict
    | nodes.EventPattern
    | nodes.Match
    | nodes.Preferences
    | nodes.Alternatives
    | nodes.Header
    | nodes.Parameter
    | nodes.Block
    | nodes.Require
    | nodes.TestLet
    | nodes.Target
    | nodes.Binder
    | nodes.Context
    | nodes.Alternative
    | nodes.Pattern
    | nodes.Preference
)
"""Whole texts, and parts of texts and statements."""
AnyNode = nodes.Type | nodes.Expr | nodes.Statement | Text


class Level(IntEnum):
    """Precedence of an expression, from the loosest to the tightest."""

    EXPR = 0
    DEFAULT = 1
    DISJUNCTION = 2
    CONJUNCTION = 3
    NEGATION = 4
    COMPARISON = 5
    RANGE = 6
    SUM = 7
    PRODUCT = 8
    UNARY = 9
    AMOUNT = 10
    POSTFIX = 11


# Keywords in positions where an expression may start; an expression that starts with one is put in brackets.
DRAWING = frozenset({"pick", "shuffled", "roll"})
AFTER_IF = frozenset({"let"})
AFTER_BY = frozenset({"each"})
AFTER_MOVE = frozenset({"all"}) | DRAWING
AFTER_TO = frozenset({"top", "bottom", "new"})
AFTER_KEY = frozenset({"as"})
NOTHING: frozenset[str] = frozenset()


def format_node(node: AnyNode) -> str:
    """Return the rule text of a node, without a trailing line break.

    It is the inverse of parsing, for every tree that parsing can produce.
    """
    if isinstance(node, nodes.Expr):
        return _expression(node)
    if isinstance(node, nodes.Type):
        return _type(node)
    return "\n".join(_lines(node))


def _type(node: nodes.Type) -> str:
    match node:
        case nodes.NamedType():
            return node.name
        case nodes.MadeType():
            return f"{node.maker} of {_type(node.of)}"
        case nodes.OptionalType():
            return f"{_type(node.of)}?"
        case nodes.RangeType():
            return f"{node.first}..{node.last}"
        case _:
            assert_never(node)


# --- texts and statements --------------------------------------------------------------------------------------------


def _lines(node: nodes.Statement | Text) -> list[str]:
    match node:
        case nodes.Function(_, body):
            return _lines(body) if isinstance(body, nodes.Block) else [_expression(body, reserved=STATEMENTS)]
        case nodes.Procedure(_, body):
            return _lines(body)
        case nodes.Verdict(_, lines):
            return _all(lines)
        case nodes.EventPattern():
            return [f"{node.event}({', '.join(node.names)}){_where(node.test)}"]
        case nodes.Match():
            return [_joined(node.binders) + _where(node.test)]
        case nodes.Preferences(lines):
            return _all(lines)
        case nodes.Alternatives(alternatives):
            return _all(alternatives)
        case nodes.Header():
            result = f" -> {_type(node.result)}" if node.result is not None else ""
            return [f"({_joined(node.parameters)}){result}"]
        case nodes.Parameter():
            return [node.name]
        case nodes.Require():
            return [f"require {_expression(node.test)}{_cites(node.cites)}"]
        case nodes.Preference():
            ends = _tie(node) + (f" {node.chance[0]} in {node.chance[1]}" if node.chance is not None else "")
            if len(node.patterns) == 1:
                return [f"{_line(node.patterns[0])}{ends}"]
            return [f"either{ends}:", *_indented(*node.patterns)]
        case nodes.Pattern():
            names = f" {', '.join(node.names)}" if node.names else ""
            return [f"{node.name}{names}{_where(node.test)}"]
        case nodes.Binder():
            return [_among(node.name, node.items, Level.RANGE)]
        case nodes.Context():
            if node.value == nodes.Name(node.name):
                return [node.name]
            return [f"{node.name} = {_expression(node.value, Level.DISJUNCTION)}"]
        case nodes.Alternative():
            binders = f" {_joined(node.binders)}" if node.binders else ""
            guard = f" if {_expression(node.guard, Level.DISJUNCTION)}" if node.guard is not None else ""
            line = f"{node.name}{binders}{_where(node.test)}{guard}{_cites(node.cites)}"
            return [line] if node.body is None else [f"{line}:", *_indented(node.body)]
        case nodes.Block(statements):
            return _all(statements)
        case nodes.If():
            return _if(node)
        case nodes.TestLet():
            return [f"let {node.name} = {_expression(node.value)}"]
        case nodes.ForEach():
            turn = "turn " if node.turn else ""
            items = _among(node.variable, node.items, Level.DISJUNCTION)
            return [f"for each {turn}{items}{_where(node.test)}:", *_indented(node.body)]
        case nodes.While():
            bound = f" at most {_expression(node.bound, Level.SUM)} times" if node.bound is not None else ""
            return [f"while {_expression(node.test, Level.DISJUNCTION)}{bound}:", *_indented(node.body)]
        case nodes.Choose():
            context = f"({_joined(node.context)})" if node.context else ""
            manner = (", repeatedly" if node.repeatedly else "") + (", sealed" if node.sealed else "")
            by = _expression(node.seat, Level.DISJUNCTION, NOTHING if node.each else AFTER_BY)
            if node.each:
                by, manner = f"each {node.each} in {by}{_where(node.test)}", ", at once"
            return [f"choose {node.name}{context} by {by}{manner}:", *_indented(*node.alternatives)]
        case nodes.Keep():
            return [f"at {node.edge} of {'next ' if node.edge == 'start' else ''}{node.of}:", *_indented(node.body)]
        case nodes.Let():
            if node.type is None:
                return [f"let {node.name} = {_expression(node.value, reserved=DRAWING)}"]
            return [f"let {node.name}: {_type(node.type)} = {_expression(node.value)}"]
        case nodes.Assign():
            target = _expression(node.target, Level.POSTFIX, STATEMENTS)
            reserved = DRAWING if node.operator == "=" else NOTHING
            return [f"{target} {node.operator} {_expression(node.value, reserved=reserved)}"]
        case nodes.Add():
            return [f"add {_expression(node.value, reserved=DRAWING)} to {_expression(node.target, Level.POSTFIX)}"]
        case nodes.Remove():
            return [f"remove {_expression(node.value)} from {_expression(node.target, Level.POSTFIX)}"]
        case nodes.Move():
            return [f"move {_moved(node)} to {_line(node.target)}"]
        case nodes.Target("in", holder):
            return [_expression(holder, reserved=AFTER_TO)]
        case nodes.Target(where, holder):
            return [f"{where} {'in' if where == 'new pile' else 'of'} {_expression(holder)}"]
        case nodes.Shuffle():
            return [f"shuffle {_expression(node.zone)}" + (f" as {node.chance}" if node.chance is not None else "")]
        case nodes.Note():
            return [f"note {node.event}({_list(node.arguments, node.names)})"]
        case nodes.Return():
            return ["return" if node.value is None else f"return {_expression(node.value, reserved=DRAWING)}"]
        case nodes.Settle():
            return ["settle"]
        case nodes.Reveal():
            return ["reveal"]
        case nodes.EndGame():
            return ["end game"]
        case nodes.Perform():
            return [_expression(node.call)]
        case _:
            assert_never(node)


def _line(node: Text) -> str:
    """Format a node that is a single line."""
    return _lines(node)[0]


def _all(parts: Iterable[nodes.Statement | Text]) -> list[str]:
    return [line for part in parts for line in _lines(part)]


def _indented(*parts: nodes.Statement | Text) -> list[str]:
    return [f"  {line}" for line in _all(parts)]


def _joined(parts: Iterable[Text]) -> str:
    return ", ".join(map(_line, parts))


def _cites(cites: tuple[str, ...]) -> str:
    return f" cites {', '.join(cites)}" if cites else ""


def _tie(node: nodes.Preference) -> str:
    match node.tie:
        case "first":
            return ""
        case "by":
            return _by(node.keys)
        case "random":
            return " at random"
        case "asking":
            return f" asking {_expression(node.keys[0], Level.POSTFIX)}"
        case _:
            assert_never(node.tie)


def _moved(node: nodes.Move) -> str:
    if node.what is not None:
        source = f" from {_expression(node.source)}" if node.source is not None else ""
        return _expression(node.what, reserved=AFTER_MOVE) + source
    if node.source is None:
        raise ValueError("a move of nothing from nowhere")
    return f"all of {_expression(node.source)}"


def _if(node: nodes.If) -> list[str]:
    lines = [f"if {_test(node.test)}:", *_indented(node.then)]
    otherwise = node.otherwise
    while otherwise is not None:
        match otherwise.statements:
            case (nodes.If() as inner,):
                lines += [f"elif {_test(inner.test)}:", *_indented(inner.then)]
                otherwise = inner.otherwise
            case _:
                return [*lines, "else:", *_indented(otherwise)]
    return lines


def _test(node: nodes.Expr | nodes.TestLet) -> str:
    return _line(node) if isinstance(node, nodes.TestLet) else _expression(node, reserved=AFTER_IF)


# --- expressions -----------------------------------------------------------------------------------------------------


def _expression(node: nodes.Expr, level: Level = Level.EXPR, reserved: frozenset[str] = NOTHING) -> str:
    """Format an expression, in brackets if it binds looser than ``level`` or starts with a ``reserved`` word."""
    own, text = _bare(node)
    word = re.match("[a-z_][a-zA-Z0-9_]*", text) if not isinstance(node, nodes.Drawn) else None
    return f"({text})" if own < level or (word and word[0] in reserved) else text


# Level of an operator and of its right side. The left side has the operator's level, so `a - b - c` needs no brackets.
_BINARY = {
    "or": (Level.DISJUNCTION, Level.CONJUNCTION),
    "and": (Level.CONJUNCTION, Level.NEGATION),
    "+": (Level.SUM, Level.PRODUCT),
    "-": (Level.SUM, Level.PRODUCT),
    "*": (Level.PRODUCT, Level.UNARY),
    "div": (Level.PRODUCT, Level.UNARY),
    "mod": (Level.PRODUCT, Level.UNARY),
}


def _bare(node: nodes.Expr) -> tuple[Level, str]:
    """Return the level of an expression, and its text without brackets around it."""
    match node:
        case nodes.Name():
            return Level.POSTFIX, node.name
        case nodes.IntLiteral():
            return Level.POSTFIX, str(node.value)
        case nodes.TextLiteral():
            return Level.POSTFIX, f'"{node.value}"'
        case nodes.BoolLiteral():
            return Level.POSTFIX, "yes" if node.value else "no"
        case nodes.NoneLiteral():
            return Level.POSTFIX, "none"
        case nodes.Attribute():
            return Level.POSTFIX, f"{_expression(node.of, Level.POSTFIX)}.{node.name}"
        case nodes.Index():
            return Level.POSTFIX, f"{_expression(node.of, Level.POSTFIX)}[{_list(node.keys)}]"
        case nodes.Call():
            return Level.POSTFIX, f"{node.name}({_list(node.arguments, node.names)})"
        case nodes.Drawn():
            number = f" {_expression(node.number)}" if node.number is not None else ""
            from_ = " from" if node.how != "shuffled" else ""
            return Level.POSTFIX, f"{node.how}{number}{from_} {_expression(node.items)} as {node.chance}"
        case nodes.Aggregate():
            return Level.POSTFIX, f"{node.name}({_aggregate_content(node)})"
        case nodes.ListLiteral():
            return Level.POSTFIX, f"[{_list(node.items)}]"
        case nodes.ListComprehension(value=None):
            return Level.POSTFIX, f"[{_among(node.variable, node.items, Level.RANGE)}{_where(node.test)}]"
        case nodes.ListComprehension():
            return Level.POSTFIX, f"[{_values(node)}]"
        case nodes.RangeOf():
            return Level.RANGE, f"{_expression(node.first, Level.SUM)} .. {_expression(node.last, Level.SUM)}"
        case nodes.Binary():
            level, right = _BINARY[node.operator]
            return level, f"{_expression(node.left, level)} {node.operator} {_expression(node.right, right)}"
        case nodes.Compare():
            return _comparison(node.left, node.operator, node.right)
        case nodes.In():
            return _comparison(node.item, "not in" if node.negated else "in", node.items)
        case nodes.IsKind():
            return _comparison(node.value, "is not" if node.negated else "is", nodes.Name(node.kind))
        case nodes.Not():
            return Level.NEGATION, f"not {_expression(node.value, Level.NEGATION)}"
        case nodes.Negative():
            return Level.UNARY, f"-{_expression(node.value, Level.UNARY)}"
        case nodes.Conditional():
            then, test = _expression(node.then, Level.DEFAULT), _expression(node.test, Level.DISJUNCTION)
            return Level.EXPR, f"{then} if {test} else {_expression(node.otherwise)}"
        case nodes.Otherwise():
            value = _expression(node.value, Level.DISJUNCTION)
            return Level.DEFAULT, f"{value} otherwise {_expression(node.default, Level.DEFAULT)}"
        case nodes.Amount():
            number, kind = (_expression(part, Level.POSTFIX) for part in (node.number, node.kind))
            return Level.AMOUNT, f"{number} of {kind}"
        case _:
            assert_never(node)


def _comparison(left: nodes.Expr, sign: str, right: nodes.Expr) -> tuple[Level, str]:
    return Level.COMPARISON, f"{_expression(left, Level.RANGE)} {sign} {_expression(right, Level.RANGE)}"


def _aggregate_content(node: nodes.Aggregate) -> str:
    """Format the text within the brackets of an aggregate."""
    if node.value is not None:
        return _values(node)
    items = _among(node.variable, node.items, Level.RANGE)
    listed = ", as listed" if node.listed else ""
    return f"{items}{_where(node.test)}{_by(node.keys)}{listed}"


def _values(node: nodes.ListComprehension | nodes.Aggregate) -> str:
    assert node.value is not None
    items = _among(node.variable, node.items, Level.DISJUNCTION)
    return f"{_expression(node.value)} for {items}{_where(node.test)}"


def _among(variable: str, items: nodes.Expr, level: Level) -> str:
    return f"{variable} in {_expression(items, level)}"


def _where(test: nodes.Expr | None) -> str:
    return f" where {_expression(test, Level.DISJUNCTION)}" if test is not None else ""


def _by(keys: tuple[nodes.Expr, ...]) -> str:
    """Format sort keys. A key after a comma must not start with `as`, which would start `as listed`."""
    listed = [_expression(key, Level.SUM, AFTER_KEY if number else NOTHING) for number, key in enumerate(keys)]
    return f" by {', '.join(listed)}" if keys else ""


def _list(items: tuple[nodes.Expr, ...], names: tuple[str, ...] = ()) -> str:
    if names:
        return ", ".join(f"{name} = {_expression(item)}" for name, item in zip(names, items, strict=True))
    return ", ".join(map(_expression, items))
