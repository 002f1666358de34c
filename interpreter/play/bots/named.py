"""Bots by name: ``random``, ``rare``, and the policies of a ruleset's files and of its family's policies files."""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.base.diagnostics import RulesetError
from interpreter.base.suggest import did_you_mean
from interpreter.engine.ruleset import Ruleset
from interpreter.language.policies import Checked, Policy, policies_in, policies_of
from interpreter.play.bots.base import Bot
from interpreter.play.bots.policy import PolicyBot
from interpreter.play.bots.random import RandomBot
from interpreter.play.bots.rare import RareBot

__all__ = ["RANDOM", "bots_of", "default_bots", "policies_for"]

RANDOM = "random"
_PLANLESS: dict[str, type[RandomBot | RareBot]] = {RANDOM: RandomBot, "rare": RareBot}


def policies_for(ruleset: Ruleset) -> dict[str, Policy]:
    """All policies by name; those in the ruleset's own files come before those of policies files.

    Raises :class:`RulesetError` with everything that is wrong in them. Lines for decisions that this ruleset does not
    have are passed over in a policies file, which serves all rulesets of the family.
    """
    found = policies_of(ruleset.model, ruleset.composition)
    diagnostics = list(found.diagnostics)
    policies = dict(found.policies)
    for checked in _from_files(ruleset):
        diagnostics.extend(checked.diagnostics)
        for name, policy in checked.policies.items():
            policies.setdefault(name, policy)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise RulesetError(diagnostics)
    return policies


def _from_files(ruleset: Ruleset) -> list[Checked]:

    checked = []
    for id in ruleset.shelf.ids("policies"):
        if id.partition("/")[0] != ruleset.composition.family:
            continue
        document, diagnostics = ruleset.shelf.read("policies", id)
        wrong = [*diagnostics, *(document.misfits if document is not None else ())]
        if document is None or any(diagnostic.severity == "error" for diagnostic in wrong):
            checked.append(Checked(diagnostics=wrong))
        else:
            checked.append(policies_in(ruleset.model, document, ruleset.statements))
    return checked


def default_bots(ruleset: Ruleset) -> str:
    """What plays where nothing is said: ``greedy`` where the family has it, else ``random``."""
    return "greedy" if "greedy" in policies_for(ruleset) else RANDOM


def bots_of(spec: str, ruleset: Ruleset, players: int, persons: Mapping[int, Bot] | None = None) -> list[Bot]:
    """A bot for each seat that no person has, from names with commas between: too few are dealt round again.

    ``ValueError`` for a name that nothing has, or for more names than seats.
    """
    ruleset = ruleset.for_players(players)
    names = [name.strip() for name in spec.split(",")]
    taken = dict(persons or {})
    free = [seat for seat in range(players) if seat not in taken]
    if len(names) > max(1, len(free)):
        raise ValueError(f"got {len(names)} bots for {len(free)} seats")
    policies = policies_for(ruleset) if not set(names) <= _PLANLESS.keys() else {}
    known = [*policies, *_PLANLESS]
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        listed = ", ".join(f"`{each}`" for each in known)
        raise ValueError(f"no bot is called `{unknown}`{did_you_mean(unknown, known) or f'; there are {listed}'}")
    table: list[Bot] = []
    for number in range(players):
        name = names[free.index(number) % len(names)] if number in free else ""
        if not name:
            table.append(taken[number])
        elif name in policies:
            table.append(PolicyBot(policies[name], table))
        else:
            table.append(_PLANLESS[name]())
    return table
