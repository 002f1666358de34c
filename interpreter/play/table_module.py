"""The functions of a module for one table: the rules of a ruleset with its players and settings, and its bots."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interpreter.bots.hidden_reads import peeks_of
from interpreter.bots.registry import policies_for
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.passes import stages
from interpreter.compiler.passes.context import Functions
from interpreter.compiler.wasm.assemble import built
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.table import Table

__all__ = ["RANDOM", "module_builder", "module_forms", "rule_of"]

RANDOM = "random"


def module_builder(ruleset: Ruleset, table: Table, bots: Sequence[str]) -> tuple[ModuleBuilder, list[dict[int, str]]]:
    """Return the builder of a module, and for each bot its choice functions by stretch."""
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


def module_forms(ruleset: Ruleset, table: Table) -> tuple[ModuleBuilder, dict[str, Functions]]:
    """All functions of the rules and of every policy: as they are built, and as each pass leaves them, by its name."""
    builder, bots = module_builder(ruleset, table, [RANDOM, *policies_for(ruleset)])
    _, _, context = built(builder, bots)
    return builder, dict(stages(dict(builder.functions), context))


def rule_of(purpose: str) -> str:
    """The rule, as authors name it, that a function is for: nothing where it is for a type or for no rule."""
    found = re.search(r"(\w+)[!@]", purpose)
    return found[1] if found else ""
