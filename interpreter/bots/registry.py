"""Bots by name: ``random``, ``rare``, ``search``, and the policies of a ruleset's files and of its family's policies
files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plurals import counted
from interpreter.base.suggest import did_you_mean
from interpreter.bots.player import Bot
from interpreter.bots.policy import PolicyBot
from interpreter.bots.rare import RareBot
from interpreter.bots.search import SearchBot
from interpreter.bots.uniform import RandomBot
from interpreter.engine.cache import kept_trees
from interpreter.engine.rules import Rules
from interpreter.language.policies import Checked, Policy, policies_files, policies_in, policies_of
from interpreter.reading.files import Document

__all__ = ["RANDOM", "adviser", "bots_of", "default_bots", "policies_for"]

RANDOM = "random"
SEARCH = "search"
PREFIX = "cmd"
PLAYOUTS = 100
_DIGITS = 7
"""So many a weight has at most."""
_QUICK = ("sensible", "greedy")
"""By these policies, where there are any, the playouts of a search go on; else at random."""
_PLANLESS: dict[str, type[RandomBot | RareBot]] = {RANDOM: RandomBot, "rare": RareBot}

_MOST_KNOWN = 40
_known: dict[tuple[object, ...], tuple[object, Checked]] = {}
"""What was read of policies, by what it was read from, which is kept as long: it is known by its identity."""


def policies_for(ruleset: Rules, weights: Mapping[str, int] | None = None) -> dict[str, Policy]:
    """All policies by name; what the ruleset's own files say of a decision lies over what policies files say of it.

    ``weights`` take the place of those that files give to names; a file without such a name is as it is.

    Raises :class:`RulesetError` with everything that is wrong in them. Lines for decisions that this ruleset does not
    have are passed over in a policies file, which serves all rulesets of the family.
    """
    with kept_trees():  # an earlier process has parsed their texts
        files = _from_files(ruleset, weights)
        found = _over(ruleset, files)
    diagnostics = [diagnostic for checked in (found, *files) for diagnostic in checked.diagnostics]
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise RulesetError(diagnostics)
    return found.policies


def _from_files(ruleset: Rules, weights: Mapping[str, int] | None) -> list[Checked]:
    given = tuple((weights or {}).items())
    return [
        Checked(diagnostics=wrong) if document is None else _read(ruleset, document, given)
        for document, wrong in policies_files(ruleset.shelf, ruleset.composition.family)
    ]


def _read(ruleset: Rules, document: Document, weights: tuple[tuple[str, int], ...]) -> Checked:
    read_from = ruleset.model, document, ruleset.statements
    return _kept(read_from, weights, lambda: policies_in(*read_from, dict(weights)))


def _over(ruleset: Rules, files: Sequence[Checked]) -> Checked:
    """All policies, with the layers in the ruleset's own files."""
    read_from = ruleset.model, ruleset.composition, *files
    return _kept(read_from, (), lambda: policies_of(ruleset.model, ruleset.composition, files))


def _kept(read_from: tuple[object, ...], given: tuple[tuple[str, int], ...], read: Callable[[], Checked]) -> Checked:
    key = *map(id, read_from), given
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = read_from, read()
    return _known[key][1]


def default_bots(ruleset: Rules) -> str:
    """Return the default bot: ``greedy`` if the family has it, else ``random``."""
    return "greedy" if "greedy" in policies_for(ruleset) else RANDOM


def adviser(ruleset: Rules) -> str:
    """The bot whose advice is worth most at no length: the best policy by name, or where there is none a search."""
    return _quick(policies_for(ruleset), SEARCH)


def _quick(policies: Mapping[str, Policy], otherwise: str) -> str:
    return next((name for name in _QUICK if name in policies), otherwise)


def bots_of(
    spec: str, ruleset: Rules, players: int, persons: Mapping[int, Bot] | None = None, *, commands: bool = False
) -> list[Bot]:
    """A bot for each seat that no person has, from names with commas between: too few are dealt round again.

    A policy takes other weights behind its name: ``sensible:thrift=30``; ``search`` takes a number of playouts or
    seconds, and what plays on in them: ``search:500``, ``search:2s:greedy``. With ``commands`` a name may be a program
    that is run, ``cmd:./mybot``: leave them out unless the names come from the command line. ``ValueError`` for a name
    that nothing has, for what it cannot take, or for more names than seats.
    """
    ruleset = ruleset.for_players(players)
    names = [name.strip() for name in spec.split(",")]
    taken = dict(persons or {})
    free = [seat for seat in range(players) if seat not in taken]
    if len(names) > max(1, len(free)):
        raise ValueError(f"got {counted(len(names), 'bot')} for {counted(len(free), 'seat')}")
    table: list[Bot] = []
    makers = {
        name: _program(name, commands) if name.startswith(f"{PREFIX}:") else _maker(name, ruleset, players)
        for name in names
    }
    for number in range(players):
        table.append(makers[names[free.index(number) % len(names)]](table) if number in free else taken[number])
    return table


def _program(spec: str, commands: bool) -> Callable[[list[Bot]], Bot]:
    """Makes a bot that is a program."""
    from interpreter.bots.command import CommandBot

    if not commands:
        raise ValueError(f"got `{spec}`: programs as bots can be named on the command line alone")
    CommandBot(spec)  # what is wrong is said at once
    return lambda table: CommandBot(spec)


def _maker(spec: str, ruleset: Rules, players: int, *, in_world: bool = False) -> Callable[[list[Bot]], Bot]:
    """Makes the bot of a name, for a table that is still being filled, or for the worlds of a search."""
    name, *given = spec.split(":")
    if name in _PLANLESS:
        if given:
            raise ValueError(f"`{name}` takes nothing, got `{spec}`")
        return lambda table: _PLANLESS[name]()
    if name == SEARCH:
        return _searcher(spec, given, ruleset, players)
    policies = policies_for(ruleset)
    policy = policies.get(name)
    if policy is None:
        known = [*policies, *_PLANLESS, SEARCH]
        listed = ", ".join(f"`{each}`" for each in known)
        raise ValueError(f"unknown bot `{name}`{did_you_mean(name, known) or f'; there are {listed}'}")
    if given:
        policy = policies_for(ruleset, _weights(policy, given))[name]
    return lambda table: PolicyBot(policy, table, in_world=in_world)


def _searcher(spec: str, given: Sequence[str], ruleset: Rules, players: int) -> Callable[[list[Bot]], Bot]:
    """Makes a bot that looks ahead, with so many playouts or seconds, and with quick bots for them."""
    effort, *others = given or [str(PLAYOUTS)]
    number = effort.removesuffix("s")
    if not number.replace(".", "", 1).isdigit() or (number == effort and not number.isdigit()) or float(number) <= 0:
        raise ValueError(f"got `{spec}`, want a number of playouts or seconds: `{SEARCH}:200`, `{SEARCH}:2s`")
    policies = policies_for(ruleset)
    name = ":".join(others) or _quick(policies, RANDOM)
    if name.partition(":")[0] == SEARCH:
        raise ValueError(f"`{SEARCH}` cannot play on for itself, got `{spec}`")
    seconds, playouts = (float(number), None) if number != effort else (None, int(number))

    make = _maker(name, ruleset, players, in_world=True)
    table: list[Bot] = []
    table.extend(make(table) for _ in range(players))
    policy = table[0].policy if isinstance(table[0], PolicyBot) else None
    return lambda _: SearchBot(spec, table, policy, playouts, seconds)


def _weights(policy: Policy, given: Sequence[str]) -> dict[str, int]:
    known = dict(policy.weights)
    found: dict[str, int] = {}
    for each in given:
        name, _, value = each.partition("=")
        if name not in known:
            listed = ", ".join(f"`{weight}`" for weight in known)
            has = did_you_mean(name, known) or (f"; it has {listed}" if known else "; it has none")
            raise ValueError(f"`{policy.name}` has no weight `{name}`{has}")
        digits = value.removeprefix("-")
        if not digits.isdecimal() or len(digits) > _DIGITS:
            raise ValueError(f"`{name}`: got `{value}`, want a whole number of {_DIGITS} digits at most")
        found[name] = int(value)
    return found
