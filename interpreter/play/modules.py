"""The functions of a module for one table: the rules of a ruleset with its players and settings, and its bots."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from interpreter.compiler.build.module import ModuleBuilder
from interpreter.compiler.ir import ops as o
from interpreter.compiler.wasm.assemble import build
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.setup import Table
from interpreter.play.bots.named import policies_for
from interpreter.play.bots.peeks import peeks_of

__all__ = ["RANDOM", "Pass", "module_builder", "module_functions", "passed", "passes", "rule_of"]

RANDOM = "random"
BUILT = "built"
"""The form of a function before all passes."""

Pass = Callable[[o.Function], o.Function]
"""A pass over one function."""


def module_builder(ruleset: Ruleset, table: Table, bots: Sequence[str]) -> tuple[ModuleBuilder, list[dict[int, str]]]:
    """What builds a module, and for each bot the functions by which it chooses, by the stretch that asks."""
    machine, policies = table.machine, policies_for(ruleset)
    builder = ModuleBuilder(machine.program, machine.constants, machine.resets)
    choosing = []
    for bot in bots:
        if bot == RANDOM:
            choosing.append({index: builder.policies.random(index) for index in builder.decisions.asks})
            continue
        policy = policies[bot]
        machine.learn(policy)
        found = {}
        for index, (_, end) in builder.decisions.asks.items():
            peeks = peeks_of(ruleset.model, policy, end.ask.name)
            found[index] = builder.policies.choosing(policy, index, "", None if peeks.always else peeks.groups)
        choosing.append(found)
    return builder, choosing


def module_functions(ruleset: Ruleset, table: Table) -> ModuleBuilder:
    """A builder with all functions of the rules and of every policy."""
    builder, _ = module_builder(ruleset, table, [RANDOM, *policies_for(ruleset)])
    build(builder)
    return builder


def passes() -> dict[str, Pass | None]:
    """The forms of a function in order: as it is built, then what each pass makes of it, by the name of the pass."""
    found: dict[str, Pass | None] = {BUILT: None}
    if find_spec("interpreter.compiler.passes") is not None:
        found.update(import_module("interpreter.compiler.passes").PASSES)
    return found


def passed(function: o.Function, last: str) -> o.Function:
    """A function after all passes up to one."""
    for name, one_pass in passes().items():
        if one_pass is not None:
            function = one_pass(function)
        if name == last:
            break
    return function


def rule_of(purpose: str) -> str:
    """The rule, as authors name it, that a function is for: nothing where it is for a type or for no rule."""
    found = re.search(r"(\w+)[!@]", purpose)
    return found[1] if found else ""
