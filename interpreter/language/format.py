"""Tree to text: any node as the canonical rule text that parses to an equal node.

Blocks are indented by two spaces, an expression stands on one line, brackets stand only where the grammar needs them.
Comments and the author's line breaks are not in the tree, so they do not come back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import assert_never

from interpreter.language import nodes as n

__all__ = ["AnyNode", "format_node"]

WholeText = n.Function | n.Procedure | n.Verdict | n.EventPattern | n.Match | n.Preferences | n.Alternatives
Part = (
    n.Header
    | n.Parameter
    | n.Block
    | n.Require
    | n.TestLet
    | n.Target
    | n.Binder
    | n.Context
    | n.Alternative
    | n.Pattern
    | n.Preference
)
AnyNode = n.Type | n.Expr | n.Statement | WholeText | Part


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


# Words that mean something of their own where an expression may begin; an expression that begins with one is bracketed.
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
    """The rule text of a node, without a line break at its end.

    It is the inverse of parsing for every tree that a text can have. A function that is a block and has no header
    begins with a line break.
    """
    if isinstance(node, n.Expr):
        return _expression(node)
    if isinstance(node, n.Statement):
        return _text(_statement(node))
    if isinstance(node, n.Type):
        return _type(node)
    match node:
        case n.Function():
            return _function(node)
        case n.Procedure():
            return _headed(node.header, _block(node.body))
        case n.Verdict():
            return _headed(node.header, [_requirement(line) for line in node.lines])
        case n.EventPattern():
            return f"{node.event}({', '.join(node.names)}){_where(node.test)}"
        case n.Match():
            return ", ".join(map(_binder, node.binders)) + _where(node.test)
        case n.Preferences():
            return _text(line for preference in node.lines for line in _preference(preference))
        case n.Alternatives():
            return _text(line for alternative in node.alternatives for line in _alternative(alternative))
        case n.Header():
            return _header(node)
        case n.Parameter():
            return _parameter(node)
        case n.Block():
            return _text(_block(node))
        case n.Require():
            return _requirement(node)
        case n.TestLet():
            return _test(node)
        case n.Target():
            return _target(node)
        case n.Binder():
            return _binder(node)
        case n.Context():
            return _context(node)
        case n.Alternative():
            return _text(_alternative(node))
        case n.Pattern():
            return _pattern(node)
        case n.Preference():
            return _text(_preference(node))
        case _:
            assert_never(node)


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


# --- whole texts and types -------------------------------------------------------------------------------------------


def _function(node: n.Function) -> str:
    header = "" if node.header is None else _header(node.header)
    if isinstance(node.body, n.Block):
        return _text([header, *_indented(_block(node.body))])
    return f"{header} {_expression(node.body)}".lstrip()


def _headed(header: n.Header | None, lines: list[str]) -> str:
    return _text(lines if header is None else [_header(header), *_indented(lines)])


def _header(node: n.Header) -> str:
    result = f" -> {_type(node.result)}" if node.result is not None else ""
    return f"({', '.join(map(_parameter, node.parameters))}){result}:"


def _parameter(node: n.Parameter) -> str:
    return f"{node.name}: {_type(node.type)}"


def _requirement(node: n.Require | n.Let) -> str:
    if isinstance(node, n.Let):
        return _let(node)
    cites = f" cites {', '.join(node.cites)}" if node.cites else ""
    return f"require {_expression(node.test)}{cites}"


def _preference(node: n.Preference) -> list[str]:
    chance = f" {node.chance[0]} in {node.chance[1]}" if node.chance is not None else ""
    ends = f"{_tie(node)}{chance}"
    first, *others = map(_pattern, node.patterns)
    return [f"either{ends}:", *_indented([first, *others])] if others else [f"{first}{ends}"]


def _tie(node: n.Preference) -> str:
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


def _pattern(node: n.Pattern) -> str:
    names = f" {', '.join(node.names)}" if node.names else ""
    return f"{node.name}{names}{_where(node.test)}"


def _type(node: n.Type) -> str:
    match node:
        case n.NamedType():
            return node.name
        case n.MadeType():
            return f"{node.maker} of {_type(node.of)}"
        case n.OptionalType():
            return f"{_type(node.of)}?"
        case n.RangeType():
            return f"{node.first}..{node.last}"
        case _:
            assert_never(node)


# --- statements ------------------------------------------------------------------------------------------------------


def _block(node: n.Block) -> list[str]:
    return [line for statement in node.statements for line in _statement(statement)]


def _opened(line: str, body: n.Block) -> list[str]:
    """A line that opens a block, and the block."""
    return [f"{line}:", *_indented(_block(body))]


def _statement(node: n.Statement) -> list[str]:
    match node:
        case n.If():
            return _if(node)
        case n.ForEach():
            turn = "turn " if node.turn else ""
            items = _expression(node.items, Level.DISJUNCTION)
            return _opened(f"for each {turn}{node.variable} in {items}{_where(node.test)}", node.body)
        case n.While():
            bound = f" at most {_expression(node.bound, Level.SUM)} times" if node.bound is not None else ""
            return _opened(f"while {_expression(node.test, Level.DISJUNCTION)}{bound}", node.body)
        case n.Choose():
            return _choose(node)
        case n.Keep():
            return _opened(f"at {node.edge} of {'next ' if node.edge == 'start' else ''}{node.of}", node.body)
        case n.Let():
            return [_let(node)]
        case n.Roll():
            number, items = _expression(node.number), _expression(node.items)
            return [f"let {node.name} = roll {number} from {items} as {node.chance}"]
        case n.Assign():
            target = _expression(node.target, Level.POSTFIX, OPENING_A_STATEMENT)
            reserved = DRAWING if node.operator == "=" else NOTHING
            return [f"{target} {node.operator} {_expression(node.value, reserved=reserved)}"]
        case n.Add():
            return [f"add {_expression(node.value, reserved=DRAWING)} to {_expression(node.target, Level.POSTFIX)}"]
        case n.Remove():
            return [f"remove {_expression(node.value)} from {_expression(node.target, Level.POSTFIX)}"]
        case n.Move():
            return [f"move {_moved(node)} to {_target(node.target)}"]
        case n.Shuffle():
            return [f"shuffle {_expression(node.zone)}" + (f" as {node.chance}" if node.chance is not None else "")]
        case n.Note():
            return [f"note {node.event}({_list(node.arguments, node.names)})"]
        case n.Return():
            return ["return" if node.value is None else f"return {_expression(node.value, reserved=DRAWING)}"]
        case n.Settle():
            return ["settle"]
        case n.Reveal():
            return ["reveal"]
        case n.EndGame():
            return ["end game"]
        case n.Perform():
            return [_expression(node.call)]
        case _:
            assert_never(node)


def _let(node: n.Let) -> str:
    if node.type is None:
        return f"let {node.name} = {_expression(node.value, reserved=AFTER_LET)}"
    return f"let {node.name}: {_type(node.type)} = {_expression(node.value)}"


def _moved(node: n.Move) -> str:
    if node.what is not None:
        source = f" from {_expression(node.source)}" if node.source is not None else ""
        return _expression(node.what, reserved=AFTER_MOVE) + source
    if node.source is None:
        raise ValueError("a move of nothing from nowhere")
    return f"all of {_expression(node.source)}"


def _target(node: n.Target) -> str:
    match node.where:
        case "in":
            return _expression(node.holder, reserved=AFTER_TO)
        case "top" | "bottom":
            return f"{node.where} of {_expression(node.holder)}"
        case "new pile":
            return f"new pile in {_expression(node.holder)}"
        case _:
            assert_never(node.where)


def _if(node: n.If) -> list[str]:
    lines = _opened(f"if {_test(node.test)}", node.then)
    otherwise = node.otherwise
    while otherwise is not None:
        match otherwise.statements:
            case (n.If() as inner,):
                lines += _opened(f"elif {_test(inner.test)}", inner.then)
                otherwise = inner.otherwise
            case _:
                return lines + _opened("else", otherwise)
    return lines


def _test(node: n.Expr | n.TestLet) -> str:
    if isinstance(node, n.TestLet):
        return f"let {node.name} = {_expression(node.value)}"
    return _expression(node, reserved=AFTER_IF)


def _choose(node: n.Choose) -> list[str]:
    context = f"({', '.join(map(_context, node.context))})" if node.context else ""
    manner = (", repeatedly" if node.repeatedly else "") + (", sealed" if node.sealed else "")
    by = _expression(node.seat, Level.DISJUNCTION)
    if node.each:
        by, manner = f"each {node.each} in {by}{_where(node.test)}", ", at once"
    line = f"choose {node.name}{context} by {by}{manner}:"
    return [line, *_indented(part for alternative in node.alternatives for part in _alternative(alternative))]


def _context(node: n.Context) -> str:
    if node.value == n.Name(node.name):
        return node.name
    return f"{node.name} = {_expression(node.value, Level.DISJUNCTION)}"


def _alternative(node: n.Alternative) -> list[str]:
    binders = f" {', '.join(map(_binder, node.binders))}" if node.binders else ""
    guard = f" if {_expression(node.guard, Level.DISJUNCTION)}" if node.guard is not None else ""
    cites = f" cites {', '.join(node.cites)}" if node.cites else ""
    line = f"{node.name}{binders}{_where(node.test)}{guard}{cites}"
    return [line] if node.body is None else _opened(line, node.body)


# --- expressions -----------------------------------------------------------------------------------------------------


def _expression(node: n.Expr, level: Level = Level.EXPR, reserved: frozenset[str] = NOTHING) -> str:
    """The text of an expression where the grammar wants ``level``; ``reserved`` words may not begin it."""
    text = _bare(node)
    word = re.match("[a-z_][a-zA-Z0-9_]*", text) if not isinstance(node, n.Drawn) else None
    if _level(node) < level or (word and word[0] in reserved):
        return f"({text})"
    return text


def _level(node: n.Expr) -> Level:
    match node:
        case n.Conditional():
            return Level.EXPR
        case n.Otherwise():
            return Level.DEFAULT
        case n.Binary():
            return _BINARY[node.operator][0]
        case n.Not():
            return Level.NEGATION
        case n.Compare() | n.In() | n.IsKind():
            return Level.COMPARISON
        case n.RangeOf():
            return Level.RANGE
        case n.Negative():
            return Level.UNARY
        case n.Amount():
            return Level.AMOUNT
        case (
            n.Name()
            | n.IntLiteral()
            | n.TextLiteral()
            | n.BoolLiteral()
            | n.NoneLiteral()
            | n.Attribute()
            | n.Index()
            | n.Call()
            | n.Drawn()
            | n.Aggregate()
            | n.ListLiteral()
            | n.ListFilter()
            | n.ListComprehension()
        ):
            return Level.POSTFIX
        case _:
            assert_never(node)


# The level of an operator and of its right side; the left side has its own, so `a - b - c` needs no brackets.
_BINARY = {
    "or": (Level.DISJUNCTION, Level.CONJUNCTION),
    "and": (Level.CONJUNCTION, Level.NEGATION),
    "+": (Level.SUM, Level.PRODUCT),
    "-": (Level.SUM, Level.PRODUCT),
    "*": (Level.PRODUCT, Level.UNARY),
    "div": (Level.PRODUCT, Level.UNARY),
    "mod": (Level.PRODUCT, Level.UNARY),
}


def _bare(node: n.Expr) -> str:
    """The text of an expression without brackets around it."""
    match node:
        case n.Name():
            return node.name
        case n.IntLiteral():
            return str(node.value)
        case n.TextLiteral():
            return f'"{node.value}"'
        case n.BoolLiteral():
            return "yes" if node.value else "no"
        case n.NoneLiteral():
            return "none"
        case n.Attribute():
            return f"{_expression(node.of, Level.POSTFIX)}.{node.name}"
        case n.Index():
            return f"{_expression(node.of, Level.POSTFIX)}[{_list(node.keys)}]"
        case n.Call():
            return f"{node.name}({_list(node.arguments, node.names)})"
        case n.Drawn():
            return f"{'pick from' if node.how == 'pick' else node.how} {_expression(node.items)} as {node.chance}"
        case n.Aggregate():
            return f"{node.name}({_looked_through(node)})"
        case n.ListLiteral():
            return f"[{_list(node.items)}]"
        case n.ListFilter():
            return f"[{_among(node.variable, node.items, Level.RANGE)}{_where(node.test)}]"
        case n.ListComprehension():
            items = _among(node.variable, node.items, Level.DISJUNCTION)
            return f"[{_expression(node.value)} for {items}{_where(node.test)}]"
        case n.RangeOf():
            return f"{_expression(node.first, Level.SUM)} .. {_expression(node.last, Level.SUM)}"
        case n.Binary():
            left, right = _BINARY[node.operator]
            return f"{_expression(node.left, left)} {node.operator} {_expression(node.right, right)}"
        case n.Compare():
            return f"{_expression(node.left, Level.RANGE)} {node.operator} {_expression(node.right, Level.RANGE)}"
        case n.In():
            word = "not in" if node.negated else "in"
            return f"{_expression(node.item, Level.RANGE)} {word} {_expression(node.items, Level.RANGE)}"
        case n.IsKind():
            return f"{_expression(node.value, Level.RANGE)} is {'not ' if node.negated else ''}{node.kind}"
        case n.Not():
            return f"not {_expression(node.value, Level.NEGATION)}"
        case n.Negative():
            return f"-{_expression(node.value, Level.UNARY)}"
        case n.Conditional():
            then, test = _expression(node.then, Level.DEFAULT), _expression(node.test, Level.DISJUNCTION)
            return f"{then} if {test} else {_expression(node.otherwise)}"
        case n.Otherwise():
            value = _expression(node.value, Level.DISJUNCTION)
            return f"{value} otherwise {_expression(node.default, Level.DEFAULT)}"
        case n.Amount():
            return f"{_expression(node.number, Level.POSTFIX)} of {_expression(node.kind, Level.POSTFIX)}"
        case _:
            assert_never(node)


def _looked_through(node: n.Aggregate) -> str:
    """Format the content of the brackets of an aggregate."""
    if node.value is not None:
        items = _among(node.variable, node.items, Level.DISJUNCTION)
        return f"{_expression(node.value)} for {items}{_where(node.test)}"
    items = _among(node.variable, node.items, Level.RANGE)
    listed = ", as listed" if node.listed else ""
    return f"{items}{_where(node.test)}{_by(node.keys)}{listed}"


def _among(variable: str, items: n.Expr, level: Level) -> str:
    return f"{variable} in {_expression(items, level)}"


def _binder(node: n.Binder) -> str:
    return _among(node.name, node.items, Level.RANGE)


def _where(test: n.Expr | None, level: Level = Level.DISJUNCTION) -> str:
    return f" where {_expression(test, level)}" if test is not None else ""


def _by(keys: tuple[n.Expr, ...]) -> str:
    """Keys of an order; `as` after a comma would begin `as listed`."""
    listed = [_expression(key, Level.SUM, AFTER_KEY if number else NOTHING) for number, key in enumerate(keys)]
    return f" by {', '.join(listed)}" if keys else ""


def _list(items: tuple[n.Expr, ...], names: tuple[str, ...] = ()) -> str:
    if names:
        return ", ".join(f"{name} = {_expression(item)}" for name, item in zip(names, items, strict=True))
    return ", ".join(map(_expression, items))
