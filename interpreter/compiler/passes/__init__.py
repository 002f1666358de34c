"""Passes over the functions of a module, in the order in which they run; each is a function from functions to such.

A pass looks at ops, types and what :mod:`interpreter.compiler.ir.effects` tells of them, never at names of rules.
"""

from __future__ import annotations

from collections.abc import Callable

from interpreter.compiler.passes.context import Context, Functions
from interpreter.compiler.passes.fuel import fuel
from interpreter.compiler.passes.inline import inline
from interpreter.compiler.passes.memoise import memoise
from interpreter.compiler.passes.threading import jump_threading

__all__ = ["PASSES", "optimised"]

PASSES: tuple[Callable[[Functions, Context], Functions], ...] = (
    memoise,
    fuel,
    inline,
    jump_threading,
)


def optimised(functions: Functions, context: Context) -> Functions:
    """The functions after all passes."""
    for each in PASSES:
        functions = each(functions, context)
    return functions
