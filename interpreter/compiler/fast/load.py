"""Emitted trees to functions: compiled file by file, so that tracebacks name the YAML, and given what they need."""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from types import CodeType
from typing import Any

from interpreter.compiler.fast.budget import MOST_REMEMBERED, Told
from interpreter.compiler.fast.emitted import Emitted

__all__ = ["add_functions", "code_of", "functions_of"]

BUILTINS = ("all", "any", "frozenset", "len", "list", "max", "min", "next", "range", "set", "sorted", "sum", "tuple")


def code_of(emitted: Emitted) -> dict[str, CodeType]:
    """The code of each file."""
    found = {}
    for file, body in emitted.modules.items():
        module = ast.fix_missing_locations(ast.Module(body, []))
        found[file] = compile(module, file, "exec", dont_inherit=True)
    return found


def functions_of(code: dict[str, CodeType], values: dict[str, Any]) -> dict[str, Any]:
    """All functions by name. They see each other, their values and a few builtins, and nothing else."""
    space: dict[str, Any] = {
        **values,
        "remembered": lru_cache(MOST_REMEMBERED),
        "told": Told,
        "__builtins__": {name: getattr(builtins, name) for name in BUILTINS},
        "__name__": "rules",
    }
    add_functions(code, space)
    return space


def add_functions(code: dict[str, CodeType], space: dict[str, Any]) -> None:
    """More functions, which see those that are there."""
    for compiled in code.values():
        exec(compiled, space)
