"""Order of the functions of the IR."""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.compiler.ir.ops import Function

__all__ = ["callees_first"]


def callees_first(functions: Mapping[str, Function]) -> list[str]:
    """Return the names of functions in an order in which callees precede callers, except in circles."""
    order: dict[str, None] = {}
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in functions and name not in order and name not in open_:
            open_.add(name)
            for callee in functions[name].called:
                visit(callee)
            open_.discard(name)
            order[name] = None

    for name in functions:
        visit(name)
    return list(order)
