"""The functions of a module for one table: the rules of a ruleset with its players and settings, and its bots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from interpreter.compiler.build.module import ModuleBuilder
from interpreter.compiler.passes import PASSES
from interpreter.compiler.passes.context import Functions
from interpreter.compiler.wasm.assemble import build, context_of
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.setup import Table
from interpreter.play.bots.named import policies_for
from interpreter.play.bots.peeks import peeks_of

__all__ = ["BUILT", "RANDOM", "forms_of", "module_builder", "passes", "rule_of"]

RANDOM = "random"
BUILT = "built"
"""The form of a function before all passes."""


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
            found[index] = builder.policies.choosing(policy, index, peeks=None if peeks.always else peeks.groups)
        choosing.append(found)
    return builder, choosing


def passes() -> list[str]:
    """The names of the forms of functions in order: as they are built, then what each pass makes of them."""
    return [BUILT, *(each.__name__ for each in PASSES)]


def forms_of(ruleset: Ruleset, table: Table) -> tuple[ModuleBuilder, Iterator[tuple[str, Functions]]]:
    """A builder with all functions of the rules and of every policy, and their forms, each with its name. A function
    that a pass leaves out is inlined wherever it is called."""
    builder, bots = module_builder(ruleset, table, [RANDOM, *policies_for(ruleset)])
    context = context_of(builder, *build(builder), bots)

    def forms() -> Iterator[tuple[str, Functions]]:
        functions: Functions = dict(builder.functions)
        yield BUILT, functions
        for each in PASSES:
            functions = each(functions, context)
            yield each.__name__, functions

    return builder, forms()


def rule_of(purpose: str) -> str:
    """The rule, as authors name it, that a function is for: nothing where it is for a type or for no rule."""
    found = re.search(r"(\w+)[!@]", purpose)
    return found[1] if found else ""
