"""Functions of a module for one table: the rules with its players and settings, and the bots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, RulesetError, Severity
from interpreter.base.source import Span
from interpreter.bots.hidden_reads import groups_peeked
from interpreter.bots.registry import policies_for
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import Unsupported
from interpreter.compiler.passes import stages
from interpreter.compiler.passes.context import Functions
from interpreter.compiler.wasm.assemble import built
from interpreter.compiler.wasm.codec import fitted
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import Table

__all__ = ["RANDOM", "check_module", "module_builder", "module_forms", "rule_of"]

RANDOM = "random"


def module_builder(ruleset: Ruleset, table: Table, bots: Sequence[str]) -> tuple[ModuleBuilder, list[dict[int, str]]]:
    """Return the builder of a module, and for each bot its choice functions by stretch. Raise :class:`RulesetError` if
    no module can be built."""
    machine, policies = table.machine, policies_for(ruleset) if bots else {}
    try:
        builder, _ = fitted(machine, table.first, dict(table.runner.rooms))
    except Unsupported as error:
        raise RulesetError([_slow("no module can be built", error.span, str(error), "error")]) from None
    choosing = []
    for bot in bots:
        if bot == RANDOM:
            choosing.append(builder.policies.choices(None))
            continue
        policy = policies[bot]
        machine.learn(policy)
        choosing.append(builder.policies.choices(policy, partial(groups_peeked, ruleset.model, policy)))
    return builder, choosing


def check_module(ruleset: Ruleset, table: Table) -> Iterator[Diagnostic]:
    """Check that a module of a table can be built, and that it has all rules; otherwise the plain form plays."""
    try:
        builder, _ = module_builder(ruleset, table, ())
    except RulesetError as error:
        yield from (replace(each, severity="warning") for each in error.diagnostics)
        return
    built(builder)
    for span, why in builder.rules_left_out.items():
        layer = builder.program.layer_at(span)
        yield _slow(f"`{layer.rule if layer is not None else ''}` is in no module", span, why)


def _slow(what: str, span: Span | None, why: str, severity: Severity = "warning") -> Diagnostic:
    return Diagnostic("W705", f"{what}: {why}", span, help="the slower plain form plays", severity=severity)


def module_forms(ruleset: Ruleset, table: Table) -> tuple[ModuleBuilder, dict[str, Functions]]:
    """Return the functions of the rules and all policies, as built and after each pass, by name."""
    builder, bots = module_builder(ruleset, table, [RANDOM, *policies_for(ruleset)])
    _, context = built(builder, bots)
    return builder, dict(stages(dict(builder.functions), context))


def rule_of(purpose: str) -> str:
    """Return the rule that a function implements; empty for functions of types and other helpers."""
    match = re.search(r"(\w+)[!@]", purpose)
    return match[1] if match else ""
