"""Numbers in procedures that an overlay cannot change."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.types import IntType
from interpreter.language.walk import descendants
from interpreter.lint.places import Family, advice

__all__ = ["magic_numbers"]


SMALL = 9
"""Largest number that is not reported: small numbers often have several meanings."""


def magic_numbers(family: Family) -> Iterator[Diagnostic]:
    """Yield literal numbers in procedures. To change one, an overlay must repeat every procedure with it; in a rule or
    table of its own it can be overridden in one place."""
    places: dict[tuple[str, int], dict[str, Span]] = {}
    for _, layer in family.procedures():
        for node in _amounts(layer.body) if layer.form == "does" else ():
            places.setdefault((layer.file, node.value), {}).setdefault(layer.spoken, node.span)
    for (_, number), rules in places.items():
        (first, span), *others = rules.items()
        help = "name it: a rule or a table that both read" if others else "name it: a rule or a table"
        if others:
            message = f"{number} occurs in `{first}` and in `{others[0][0]}`: an overlay cannot change it in one place"
            yield advice("L007", message, others[0][1], help, Note(f"`{first}` uses it here", span))
        else:
            message = f"{number} occurs in `{first}`: an overlay can change it only by repeating the procedure"
            yield advice("L007", message, span, help)


def _amounts(body: object) -> Iterator[core.Const]:
    """Return the large numbers of a text, except bounds of loops, which no rulebook prints, and numbers tested for
    equality, which identify something."""
    nodes = list(descendants(body))
    bounds = [node.bound for node in nodes if isinstance(node, core.Repeat)]
    equalities = [n for n in nodes if isinstance(n, core.Comparison) and n.operator in ("==", "!=")]
    excluded = {
        *map(id, descendants(tuple(bounds))),
        *(id(side) for node in equalities for side in (node.left, node.right)),
    }
    return (
        node
        for node in nodes
        if isinstance(node, core.Const)
        and isinstance(node.type, IntType)
        and isinstance(node.value, int)
        and abs(node.value) > SMALL
        and id(node) not in excluded
    )
