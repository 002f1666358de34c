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

__all__ = ["AnyNode", "format_node"]

WholeText = (
    nodes.Function
    | nodes.Procedure
    | nodes.Verdict
    | nodes.EventPattern
    | nodes.Match
    | nodes.Preferences
    | nodes.Alternatives
)
Part = (
    nodes.Header
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
AnyNode = nodes.Type | nodes.Expr | nodes.Statement | WholeText | Part


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
OPENING_A_STATEMENT = frozenset(
    {"add", "at", "choose", "elif", "else", "end", "for", "if", "let", "move", "note", "remove", "return", "reveal"}
    | {"settle", "shuffle", "while"}
)
DRAWING = frozenset({"pick", "shuffled"})
AFTER_LET = DRAWING | {"roll"}
AFTER_IF = frozenset({"let"})
AFTER_MOVE = frozenset({"all"}) | DRAWING
AFTER_TO = frozenset({"top", "bottom", "new"})
AFTER_KEY = frozenset({"as"})
NOTHING: frozenset[str] = frozenset()


def format_node(node: AnyNode) -> str:
    """Return the rule text of a node, without a trailing line break.

    It is the inverse of parsing, for every tree that parsing can produce. A function that is a block without header
    starts with a line break.
    """
    if isinstance(node, nodes.Expr):
        return _expression(node)
    if isinstance(node, nodes.Statement):
        return _text(_statement(node))
    if isinstance(node, nodes.Type):
        return _type(node)
    match node:
        case nodes.Function():
            return _function(node)
        case nodes.Procedure():
            return _headed(node.header, _block(node.body))
        case nodes.Verdict():
            return _headed(node.header, [_requirement(line) for line in node.lines])
        case nodes.EventPattern():
            return f"{node.event}({', '.join(node.names)}){_where(node.test)}"
        case nodes.Match():
            return ", ".join(map(_binder, node.binders)) + _where(node.test)
        case nodes.Preferences():
            return _text(line for preference in node.lines for line in _preference(preference))
        case nodes.Alternatives():
            return _text(line for alternative in node.alternatives for line in _alternative(alternative))
        case nodes.Header():
            return _header(node)
        case nodes.Parameter():
            return _parameter(node)
        case nodes.Block():
            return _text(_block(node))
        case nodes.Require():
            return _requirement(node)
        case nodes.TestLet():
            return _test(node)
        case nodes.Target():
            return _target(node)
        case nodes.Binder():
            return _binder(node)
        case nodes.Context():
            return _context(node)
        case nodes.Alternative():
            return _text(_alternative(node))
        case nodes.Pattern():
            return _pattern(node)
        case nodes.Preference():
            return _text(_preference(node))
        case _:
            assert_never(node)


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


# --- whole texts and types -------------------------------------------------------------------------------------------


def _function(node: nodes.Function) -> str:
    header = "" if node.header is None else _header(node.header)
    if isinstance(node.body, nodes.Block):
        return _text([header, *_indented(_block(node.body))])
    return f"{header} {_expression(node.body)}".lstrip()


def _headed(header: nodes.Header | None, lines: list[str]) -> str:
    return _text(lines if header is None else [_header(header), *_indented(lines)])


def _header(node: nodes.Header) -> str:
    result = f" -> {_type(node.result)}" if node.result is not None else ""
    return f"({', '.join(map(_parameter, node.parameters))}){result}:"


def _parameter(node: nodes.Parameter) -> str:
    return f"{node.name}: {_type(node.type)}"


def _requirement(node: nodes.Require | nodes.Let) -> str:
    if isinstance(node, nodes.Let):
        return _let(node)
    cites = f" cites {', '.join(node.cites)}" if node.cites else ""
    return f"require {_expression(node.test)}{cites}"


def _preference(node: nodes.Preference) -> list[str]:
    chance = f" {node.chance[0]} in {node.chance[1]}" if node.chance is not None else ""
    ends = f"{_tie(node)}{chance}"
    first, *others = map(_pattern, node.patterns)
    return [f"either{ends}:", *_indented([first, *others])] if others else [f"{first}{ends}"]


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


def _pattern(node: nodes.Pattern) -> str:
    names = f" {', '.join(node.names)}" if node.names else ""
    return f"{node.name}{names}{_where(node.test)}"


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


# --- statements ------------------------------------------------------------------------------------------------------


def _block(node: nodes.Block) -> list[str]:
    return [line for statement in node.statements for line in _statement(statement)]


def _opened(line: str, body: nodes.Block) -> list[str]:
    """Format a line that opens a block, with the block."""
    return [f"{line}:", *_indented(_block(body))]


def _statement(node: nodes.Statement) -> list[str]:
    match node:
        case nodes.If():
            return _if(node)
        case nodes.ForEach():
            turn = "turn " if node.turn else ""
            items = _expression(node.items, Level.DISJUNCTION)
            return _opened(f"for each {turn}{node.variable} in {items}{_where(node.test)}", node.body)
        case nodes.While():
            bound = f" at most {_expression(node.bound, Level.SUM)} times" if node.bound is not None else ""
            return _opened(f"while {_expression(node.test, Level.DISJUNCTION)}{bound}", node.body)
        case nodes.Choose():
            return _choose(node)
        case nodes.Keep():
            return _opened(f"at {node.edge} of {'next ' if node.edge == 'start' else ''}{node.of}", node.body)
        case nodes.Let():
            return [_let(node)]
        case nodes.Roll():
            number, items = _expression(node.number), _expression(node.items)
            return [f"let {node.name} = roll {number} from {items} as {node.chance}"]
        case nodes.Assign():
            target = _expression(node.target, Level.POSTFIX, OPENING_A_STATEMENT)
            reserved = DRAWING if node.operator == "=" else NOTHING
            return [f"{target} {node.operator} {_expression(node.value, reserved=reserved)}"]
        case nodes.Add():
            return [f"add {_expression(node.value, reserved=DRAWING)} to {_expression(node.target, Level.POSTFIX)}"]
        case nodes.Remove():
            return [f"remove {_expression(node.value)} from {_expression(node.target, Level.POSTFIX)}"]
        case nodes.Move():
            return [f"move {_moved(node)} to {_target(node.target)}"]
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


def _let(node: nodes.Let) -> str:
    if node.type is None:
        return f"let {node.name} = {_expression(node.value, reserved=AFTER_LET)}"
    return f"let {node.name}: {_type(node.type)} = {_expression(node.value)}"


def _moved(node: nodes.Move) -> str:
    if node.what is not None:
        source = f" from {_expression(node.source)}" if node.source is not None else ""
        return _expression(node.what, reserved=AFTER_MOVE) + source
    if node.source is None:
        raise ValueError("a move of nothing from nowhere")
    return f"all of {_expression(node.source)}"


def _target(node: nodes.Target) -> str:
    match node.where:
        case "in":
            return _expression(node.holder, reserved=AFTER_TO)
        case "top" | "bottom":
            return f"{node.where} of {_expression(node.holder)}"
        case "new pile":
            return f"new pile in {_expression(node.holder)}"
        case _:
            assert_never(node.where)


def _if(node: nodes.If) -> list[str]:
    lines = _opened(f"if {_test(node.test)}", node.then)
    otherwise = node.otherwise
    while otherwise is not None:
        match otherwise.statements:
            case (nodes.If() as inner,):
                lines += _opened(f"elif {_test(inner.test)}", inner.then)
                otherwise = inner.otherwise
            case _:
                return lines + _opened("else", otherwise)
    return lines


def _test(node: nodes.Expr | nodes.TestLet) -> str:
    if isinstance(node, nodes.TestLet):
        return f"let {node.name} = {_expression(node.value)}"
    return _expression(node, reserved=AFTER_IF)


def _choose(node: nodes.Choose) -> list[str]:
    context = f"({', '.join(map(_context, node.context))})" if node.context else ""
    manner = (", repeatedly" if node.repeatedly else "") + (", sealed" if node.sealed else "")
    by = _expression(node.seat, Level.DISJUNCTION)
    if node.each:
        by, manner = f"each {node.each} in {by}{_where(node.test)}", ", at once"
    line = f"choose {node.name}{context} by {by}{manner}:"
    return [line, *_indented(part for alternative in node.alternatives for part in _alternative(alternative))]


def _context(node: nodes.Context) -> str:
    if node.value == nodes.Name(node.name):
        return node.name
    return f"{node.name} = {_expression(node.value, Level.DISJUNCTION)}"


def _alternative(node: nodes.Alternative) -> list[str]:
    binders = f" {', '.join(map(_binder, node.binders))}" if node.binders else ""
    guard = f" if {_expression(node.guard, Level.DISJUNCTION)}" if node.guard is not None else ""
    cites = f" cites {', '.join(node.cites)}" if node.cites else ""
    line = f"{node.name}{binders}{_where(node.test)}{guard}{cites}"
    return [line] if node.body is None else _opened(line, node.body)


# --- expressions -----------------------------------------------------------------------------------------------------


def _expression(node: nodes.Expr, level: Level = Level.EXPR, reserved: frozenset[str] = NOTHING) -> str:
    """Format an expression, in brackets if it binds looser than ``level`` or starts with a ``reserved`` word."""
    text = _bare(node)
    word = re.match("[a-z_][a-zA-Z0-9_]*", text) if not isinstance(node, nodes.Drawn) else None
    if _level(node) < level or (word and word[0] in reserved):
        return f"({text})"
    return text


def _level(node: nodes.Expr) -> Level:
    match node:
        case nodes.Conditional():
            return Level.EXPR
        case nodes.Otherwise():
            return Level.DEFAULT
        case nodes.Binary():
            return _BINARY[node.operator][0]
        case nodes.Not():
            return Level.NEGATION
        case nodes.Compare() | nodes.In() | nodes.IsKind():
            return Level.COMPARISON
        case nodes.RangeOf():
            return Level.RANGE
        case nodes.Negative():
            return Level.UNARY
        case nodes.Amount():
            return Level.AMOUNT
        case (
            nodes.Name()
            | nodes.IntLiteral()
            | nodes.TextLiteral()
            | nodes.BoolLiteral()
            | nodes.NoneLiteral()
            | nodes.Attribute()
            | nodes.Index()
            | nodes.Call()
            | nodes.Drawn()
            | nodes.Aggregate()
            | nodes.ListLiteral()
            | nodes.ListFilter()
            | nodes.ListComprehension()
        ):
            return Level.POSTFIX
        case _:
            assert_never(node)


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


def _bare(node: nodes.Expr) -> str:
    """Format an expression without brackets around it."""
    match node:
        case nodes.Name():
            return node.name
        case nodes.IntLiteral():
            return str(node.value)
        case nodes.TextLiteral():
            return f'"{node.value}"'
        case nodes.BoolLiteral():
            return "yes" if node.value else "no"
        case nodes.NoneLiteral():
            return "none"
        case nodes.Attribute():
            return f"{_expression(node.of, Level.POSTFIX)}.{node.name}"
        case nodes.Index():
            return f"{_expression(node.of, Level.POSTFIX)}[{_list(node.keys)}]"
        case nodes.Call():
            return f"{node.name}({_list(node.arguments, node.names)})"
        case nodes.Drawn():
            return f"{'pick from' if node.how == 'pick' else node.how} {_expression(node.items)} as {node.chance}"
        case nodes.Aggregate():
            return f"{node.name}({_aggregate_content(node)})"
        case nodes.ListLiteral():
            return f"[{_list(node.items)}]"
        case nodes.ListFilter():
            return f"[{_among(node.variable, node.items, Level.RANGE)}{_where(node.test)}]"
        case nodes.ListComprehension():
            items = _among(node.variable, node.items, Level.DISJUNCTION)
            return f"[{_expression(node.value)} for {items}{_where(node.test)}]"
        case nodes.RangeOf():
            return f"{_expression(node.first, Level.SUM)} .. {_expression(node.last, Level.SUM)}"
        case nodes.Binary():
            left, right = _BINARY[node.operator]
            return f"{_expression(node.left, left)} {node.operator} {_expression(node.right, right)}"
        case nodes.Compare():
            return f"{_expression(node.left, Level.RANGE)} {node.operator} {_expression(node.right, Level.RANGE)}"
        case nodes.In():
            word = "not in" if node.negated else "in"
            return f"{_expression(node.item, Level.RANGE)} {word} {_expression(node.items, Level.RANGE)}"
        case nodes.IsKind():
            return f"{_expression(node.value, Level.RANGE)} is {'not ' if node.negated else ''}{node.kind}"
        case nodes.Not():
            return f"not {_expression(node.value, Level.NEGATION)}"
        case nodes.Negative():
            return f"-{_expression(node.value, Level.UNARY)}"
        case nodes.Conditional():
            then, test = _expression(node.then, Level.DEFAULT), _expression(node.test, Level.DISJUNCTION)
            return f"{then} if {test} else {_expression(node.otherwise)}"
        case nodes.Otherwise():
            value = _expression(node.value, Level.DISJUNCTION)
            return f"{value} otherwise {_expression(node.default, Level.DEFAULT)}"
        case nodes.Amount():
            return f"{_expression(node.number, Level.POSTFIX)} of {_expression(node.kind, Level.POSTFIX)}"
        case _:
            assert_never(node)


def _aggregate_content(node: nodes.Aggregate) -> str:
    """Format the text within the brackets of an aggregate."""
    if node.value is not None:
        items = _among(node.variable, node.items, Level.DISJUNCTION)
        return f"{_expression(node.value)} for {items}{_where(node.test)}"
    items = _among(node.variable, node.items, Level.RANGE)
    listed = ", as listed" if node.listed else ""
    return f"{items}{_where(node.test)}{_by(node.keys)}{listed}"


def _among(variable: str, items: nodes.Expr, level: Level) -> str:
    return f"{variable} in {_expression(items, level)}"


def _binder(node: nodes.Binder) -> str:
    return _among(node.name, node.items, Level.RANGE)


def _where(test: nodes.Expr | None, level: Level = Level.DISJUNCTION) -> str:
    return f" where {_expression(test, level)}" if test is not None else ""


def _by(keys: tuple[nodes.Expr, ...]) -> str:
    """Format sort keys. A key after a comma must not start with `as`, which would start `as listed`."""
    listed = [_expression(key, Level.SUM, AFTER_KEY if number else NOTHING) for number, key in enumerate(keys)]
    return f" by {', '.join(listed)}" if keys else ""


def _list(items: tuple[nodes.Expr, ...], names: tuple[str, ...] = ()) -> str:
    if names:
        return ", ".join(f"{name} = {_expression(item)}" for name, item in zip(names, items, strict=True))
    return ", ".join(map(_expression, items))
