"""Directed links of a graph, each with its length.

A length is printed, or an expression over printed attributes and cells of tables; such an expression is evaluated here,
without a game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub

from msgspec import Struct

from interpreter.base.plain_data import Value
from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import GraphDecl, NodeRow
from interpreter.language.types import IntType

__all__ = ["NotPrinted", "Way", "printed_value", "ways_of"]

_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "+": add, "-": sub, "*": mul, "div": floordiv, "mod": mod, "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
_NOT_PRINTED = "this may depend only on printed values of nodes, links and tables"


class NotPrinted(Exception):
    """Raised for an expression that needs the state of a game. ``span`` is the part that does."""

    def __init__(self, why: str, span: Span) -> None:
        super().__init__(why)
        self.why, self.span = why, span


class Way(Struct, frozen=True):
    """A link in one direction. ``value`` is its number in rules: the number of its row, plus the number of rows for the
    direction from the second node to the first."""

    start: int
    end: int
    link: int
    value: int
    length: int


def ways_of(graph: GraphDecl) -> list[Way]:
    """Return all directed links, in the order of the table. A length is 1 by default; none omits the direction."""
    ways = []
    for number, link in enumerate(graph.links):
        for start, end, value in ((link.a, link.b, number), (link.b, link.a, number + len(graph.links))):
            length: int | None = 1
            if graph.measure is not None:
                length = printed_value(graph, graph.measure, (start, end, number))
            elif graph.length is not None:
                length = link.values.get(graph.length, 1)
            if length is not None:
                ways.append(Way(start, end, number, value, length))
    return ways


def printed_value(graph: GraphDecl, node: core.Expression, locals_: Sequence[Value]) -> Value:
    """Evaluate an expression over printed values. Raise ``NotPrinted`` if it needs more."""

    def value(part: core.Expression) -> Value:
        return printed_value(graph, part, locals_)

    match node:
        case core.Const(known):
            return known
        case core.Local(index):
            return locals_[index]
        case core.Static(attribute, of):
            return _attribute(graph, attribute, value(of), node.span)
        case core.Arithmetic(operator, left, right) if isinstance(node.type, IntType):
            a, b = value(left), value(right)
            if operator in ("div", "mod") and b == 0:
                raise NotPrinted("division by 0", node.span)
            return _OPERATORS[operator](a, b)
        case core.Comparison(operator, left, right):
            return _OPERATORS[operator](value(left), value(right))
        case core.Logic("and", left, right):
            return value(left) and value(right)
        case core.Logic("or", left, right):
            return value(left) or value(right)
        case core.Negation(of):
            return not value(of)
        case core.Negate(of) if isinstance(node.type, IntType):
            return -value(of)
        case core.Condition(then, test, otherwise):
            return value(then if value(test) else otherwise)
        case core.Default(of, default):
            return value(default) if (optional := value(of)) is None else optional
        case core.MemberOf(item, items, negated):
            return (value(item) in value(items)) != negated
        case core.MakeList(items):
            return tuple(value(item) for item in items)
        case core.CallBuiltin(Builtin("min" | "max" as name), arguments):
            return (min if name == "min" else max)(value(argument) for argument in arguments)
        case core.TableCell(table, keys) if table in graph.tables:
            cells, place = graph.tables[table].cells, tuple(value(key) for key in keys)
            if place not in cells:
                raise NotPrinted(f"`{table}` has no such cell for each link", node.span)
            return cells[place]
        case _:
            raise NotPrinted(_NOT_PRINTED, node.span)


def _attribute(graph: GraphDecl, attribute: str, of: int, span: Span) -> Value:
    owner, _, name = attribute.partition(".")
    if owner == "link":
        link = graph.links[of]
        return {"from": link.a, "to": link.b}.get(name, link.values.get(name))
    row: NodeRow | None = graph.nodes[of] if owner == "node" else None
    if row is None or name in ("places", "links"):
        raise NotPrinted(_NOT_PRINTED, span)
    return row.values.get(name)
