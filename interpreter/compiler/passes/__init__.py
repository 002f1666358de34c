"""Passes over the functions of a module, in the order in which they run; each is a function from functions to such.

A pass looks at ops, types and what :mod:`interpreter.compiler.ir.effect_analysis` tells of them, never at names of
rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from interpreter.compiler.passes.context import Context, Functions
from interpreter.compiler.passes.fuel import fuel
from interpreter.compiler.passes.inline import inline
from interpreter.compiler.passes.jump_threading import jump_threading
from interpreter.compiler.passes.memoise import memoise

__all__ = ["BUILT", "PASSES", "optimised", "stages"]

BUILT = "built"
"""The form of functions before all passes."""

PASSES: tuple[Callable[[Functions, Context], Functions], ...] = (
    memoise,
    fuel,
    inline,
    jump_threading,
)


def optimised(functions: Functions, context: Context) -> Functions:
    """The functions after all passes."""
    for _, after in stages(functions, context):
        functions = after
    return functions


def stages(functions: Functions, context: Context) -> Iterator[tuple[str, Functions]]:
    """The functions as they are built, then as each pass leaves them, under the name of the pass."""
    yield BUILT, functions
    for each in PASSES:
        functions = each(functions, context)
        yield each.__name__, functions
