"""Optimisation passes, in the order in which they run; each maps functions to functions.

A pass looks at ops and types, never at names of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from interpreter.compiler.passes.context import Context, Functions
from interpreter.compiler.passes.fuel import fuel
from interpreter.compiler.passes.inline import inline
from interpreter.compiler.passes.jump_threading import jump_threading
from interpreter.compiler.passes.memoise import memoise
from interpreter.compiler.passes.tail_calls import tail_calls

__all__ = ["BUILT", "PASSES", "optimised", "stages"]

BUILT = "built"
"""Name of the stage before all passes."""

PASSES: tuple[Callable[[Functions, Context], Functions], ...] = (memoise, fuel, inline, jump_threading, tail_calls)


def optimised(functions: Functions, context: Context) -> Functions:
    *_, (_, after) = stages(functions, context)
    return after


def stages(functions: Functions, context: Context) -> Iterator[tuple[str, Functions]]:
    """Yield the functions before all passes and after each pass, with the name of the stage."""
    yield BUILT, functions
    for pass_ in PASSES:
        functions = pass_(functions, context)
        yield pass_.__name__, functions
