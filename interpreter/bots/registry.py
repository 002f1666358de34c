"""Bots by name: ``random``, ``rare``, ``search``, and the policies of a ruleset and its family."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plurals import counted
from interpreter.base.suggest import did_you_mean
from interpreter.bots.planless import RandomBot, RareBot
from interpreter.bots.player import Bot
from interpreter.bots.policy import PolicyBot
from interpreter.engine.answers import kept_answers
from interpreter.engine.game import Ruleset
from interpreter.language.model import Model
from interpreter.language.preferences import Policy
from interpreter.reading.dependencies import Evidence, found_again, noted

__all__ = ["QUICK", "RANDOM", "adviser", "bots_of", "default_bots", "policies_for"]

RANDOM = "random"
SEARCH = "search"
PREFIX = "cmd"
PLAYOUTS = 100
_EFFORT = re.compile(r"(\d+)|(\d+\.?\d*|\.\d+)s")
_DIGITS = 7
"""Maximum number of digits of a weight."""
QUICK = ("sensible", "greedy")
"""Policies to play by, the best first; without any of them, choices are random."""
_PLANLESS: dict[str, type[RandomBot]] = {RANDOM: RandomBot, "rare": RareBot}

_MOST_KNOWN = 40
_known: dict[tuple[object, ...], tuple[Model, dict[str, Policy], Evidence]] = {}
"""Policies by the identity of the model, which the entry keeps alive, and weights, with what was read for them."""


def policies_for(ruleset: Ruleset, weights: Mapping[str, int] | None = None) -> dict[str, Policy]:
    """Return all policies by name. Preferences in the ruleset's own files override those in policies files.

    ``weights`` override those in the files; a file without such a name is unaffected. In policies files, which serve
    all rulesets of the family, lines for unknown decisions are ignored. Raises :class:`RulesetError` with all errors.
    """
    key = id(ruleset.model), tuple((weights or {}).items())
    known = _known.get(key)
    if known is not None and known[2].holds():
        found_again(known[2])
        return known[1]
    check = partial(_checked, ruleset, weights or {})
    with noted() as evidence:
        if ruleset.source is None or weights:
            policies = check()
        else:
            with kept_answers("policies", ruleset.source) as answers:
                policies = answers.to((), check)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[key] = ruleset.model, policies, evidence
    return policies


def _checked(ruleset: Ruleset, weights: Mapping[str, int]) -> dict[str, Policy]:
    from interpreter.bots.policies import family_policies, policies_of
    from interpreter.engine.kept_texts import kept_trees

    with kept_trees():  # their parsed texts may be cached
        files = family_policies(ruleset.shelf, ruleset.composition.family, ruleset.model, ruleset.statements, weights)
        checked = policies_of(ruleset.model, ruleset.composition, files)
    diagnostics = [diagnostic for each in (checked, *files) for diagnostic in each.diagnostics]
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise RulesetError(diagnostics)
    return checked.policies


def default_bots(*rulesets: Ruleset) -> str:
    """Return the default bot: the best policy by name that can play all of these rulesets, or ``random``."""
    return _quick(set.intersection(*map(_able, rulesets)), RANDOM)


def adviser(ruleset: Ruleset) -> str:
    """Return the bot that gives quick advice: the best policy by name, or ``search`` if none can play."""
    return _quick(_able(ruleset), SEARCH)


def _able(ruleset: Ruleset) -> set[str]:
    """Return the policies that have lines for every decision."""
    asked = {end.ask.name for _, end in ruleset.program.asks.values()}
    return {name for name, policy in policies_for(ruleset).items() if asked <= policy.decisions.keys()}


def _quick(policies: Collection[str], otherwise: str) -> str:
    return next((name for name in QUICK if name in policies), otherwise)


def bots_of(
    spec: str, ruleset: Ruleset, players: int, persons: Mapping[int, Bot] | None = None, *, commands: bool = False
) -> list[Bot]:
    """Return a bot for each seat without a person, from names separated by commas; too few names are repeated in turn.

    A policy takes weights after its name: ``sensible:thrift=30``. ``search`` takes a number of playouts or seconds, and
    a bot for the playouts: ``search:500``, ``search:2s:greedy``. With ``commands`` a name may also be a program to run,
    ``cmd:./mybot``: allow this only if the names come from the command line. Raises ``ValueError`` for unknown names,
    invalid arguments, or more names than seats.
    """
    ruleset = ruleset.for_players(players)
    names = [name.strip() for name in spec.split(",")]
    occupied = dict(persons or {})
    free = [seat for seat in range(players) if seat not in occupied]
    if len(names) > max(1, len(free)):
        raise ValueError(f"got {counted(len(names), 'bot')} for {counted(len(free), 'seat')}")
    makers = {
        name: _program(name, commands) if name.startswith(f"{PREFIX}:") else _maker(name, ruleset, players)
        for name in names
    }
    table: list[Bot] = []
    for number in range(players):
        table.append(makers[names[free.index(number) % len(names)]](table) if number in free else occupied[number])
    return table


def _program(spec: str, commands: bool) -> Callable[[list[Bot]], Bot]:
    from interpreter.bots.command import CommandBot

    if not commands:
        raise ValueError(f"got `{spec}`: programs as bots are allowed on the command line only")
    CommandBot(spec)  # reports errors at once
    return lambda table: CommandBot(spec)


def _maker(spec: str, ruleset: Ruleset, players: int, *, in_world: bool = False) -> Callable[[list[Bot]], Bot]:
    """Return the factory of a named bot, for a table that is still being filled or for the worlds of a search."""
    name, *arguments = spec.split(":")
    if name in _PLANLESS:
        if arguments:
            raise ValueError(f"`{name}` takes no arguments, got `{spec}`")
        return lambda table: _PLANLESS[name]()
    if name == SEARCH:
        return _searcher(spec, arguments, ruleset, players)
    policies = policies_for(ruleset)
    policy = policies.get(name)
    if policy is None:
        known = [*policies, *_PLANLESS, SEARCH]
        listed = ", ".join(f"`{bot}`" for bot in known)
        raise ValueError(f"unknown bot `{name}`{did_you_mean(name, known) or f'; there are {listed}'}")
    if arguments:
        policy = policies_for(ruleset, _weights(policy, arguments))[name]
    return lambda table: PolicyBot(policy, table, in_world=in_world)


def _searcher(spec: str, arguments: Sequence[str], ruleset: Ruleset, players: int) -> Callable[[list[Bot]], Bot]:
    """Return the factory of a search bot with a budget of playouts or seconds, and a bot for its playouts."""
    from interpreter.bots.search import SearchBot

    effort, *playout_spec = arguments or [str(PLAYOUTS)]
    budget = _EFFORT.fullmatch(effort)
    if budget is None or float(budget[1] or budget[2]) <= 0:
        raise ValueError(f"got `{spec}`, want a number of playouts or seconds: `{SEARCH}:200`, `{SEARCH}:2s`")
    playouts, seconds = (int(effort), None) if budget[1] else (None, float(budget[2]))
    policies = policies_for(ruleset)
    name = ":".join(playout_spec) or _quick(policies, RANDOM)
    if name.partition(":")[0] == SEARCH:
        raise ValueError(f"`{SEARCH}` cannot be its own playout bot, got `{spec}`")
    make = _maker(name, ruleset, players, in_world=True)
    table: list[Bot] = []
    table.extend(make(table) for _ in range(players))
    policy = table[0].policy if isinstance(table[0], PolicyBot) else None
    return lambda _: SearchBot(spec, table, policy, playouts, seconds)


def _weights(policy: Policy, arguments: Sequence[str]) -> dict[str, int]:
    known = dict(policy.weights)
    weights: dict[str, int] = {}
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name not in known:
            listed = ", ".join(f"`{weight}`" for weight in known)
            hint = did_you_mean(name, known) or (f"; it has {listed}" if known else "; it has none")
            raise ValueError(f"`{policy.name}` has no weight `{name}`{hint}")
        digits = value.removeprefix("-")
        if not digits.isdecimal() or len(digits) > _DIGITS:
            raise ValueError(f"`{name}`: got `{value}`, want a whole number of {_DIGITS} digits at most")
        weights[name] = int(value)
    return weights
