"""Policies: how an automatic player chooses, parsed and checked against a model.

In come the `policies:` of a composition's files, or a file of the kind `policies`; out come the policies by name, with
each line's conditions and keys as checked expressions over the actor, the decision's context and the choices that the
line names. Nothing here chooses: that is done by whoever plays.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import takewhile
from typing import Literal

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.frozen import dataclass
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core as c
from interpreter.language import nodes as n
from interpreter.language.check import check_function
from interpreter.language.expressions import Expressions
from interpreter.language.model import Model, RuleLayer, Signatures
from interpreter.language.parse import parse_function, parse_preferences, parse_verdict
from interpreter.language.scope import Frame
from interpreter.language.texts import condition_of, parsed
from interpreter.language.types import BOOL, SEAT, Type
from interpreter.language.walk import descendants
from interpreter.reading.citations import Statement
from interpreter.reading.compose import Composition, words
from interpreter.reading.files import Document
from interpreter.reading.yaml import Mapping, Scalar, Value

__all__ = [
    "Checked",
    "Line",
    "Pattern",
    "Policy",
    "Preferences",
    "how_to_choose",
    "laid_over",
    "policies_in",
    "policies_of",
    "unspoken",
]

Bound = tuple[tuple[str, Type], ...]
Weights = abc.Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Alternative:
    """What an alternative binds: the actor and the decision's context, then its own choices."""

    around: Bound
    choices: Bound


@dataclass(frozen=True, slots=True)
class Pattern:
    """Some of a decision's options: those of an alternative (none: of all) that pass the tests.

    Locals are the actor, the decision's context and, of an alternative, its choices. ``keys`` order what passes.
    """

    alternative: str
    tests: tuple[c.Expression, ...]
    keys: tuple[c.Expression, ...]
    local_count: int
    span: Span


@dataclass(frozen=True, slots=True)
class Line:
    """One preference. ``asked`` is the seat that ends a tie; ``chance`` is (n, m): the line is used n times in m."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    asked: c.Expression | None
    chance: tuple[int, int] | None
    local_count: int
    span: Span


@dataclass(frozen=True, slots=True)
class Preferences:
    """How one decision is made. ``when`` is the guard of the part that says so, over the actor alone."""

    decision: str
    lines: tuple[Line, ...]
    when: c.Expression | None
    local_count: int
    cites: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Policy:
    """Preferences by decision, the uppermost layer of each decision first.

    ``rules`` are functions of the policy's file, which the ruleset does not know; their ids are like no rule's. Its
    ``weights`` are numbers by name, as they were worked into all of it.
    """

    name: str
    file: str
    span: Span
    decisions: dict[str, tuple[Preferences, ...]]
    rules: tuple[RuleLayer, ...] = ()
    weights: tuple[tuple[str, int], ...] = ()


@dataclass
class Checked:
    """What was found. ``absent`` says which decisions the ruleset does not have: an error where the text belongs to
    the ruleset, but not in a file that serves all rulesets of a family."""

    policies: dict[str, Policy] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    absent: list[Diagnostic] = field(default_factory=list)


def policies_of(model: Model, composition: Composition) -> Checked:
    """The policies that stand in the files of a composition."""
    checked = Checked()
    for name, layers in composition.sections.get("policies", {}).items():
        for entry in reversed(layers):
            _Reader(model, checked, entry.file, entry.guards).policy(name, entry.key, entry.value)
    checked.diagnostics.extend(checked.absent)
    return checked


def policies_in(
    model: Model, document: Document, statements: dict[str, Statement], given: Weights | None = None
) -> Checked:
    """The policies of a file of that kind, with its own functions. ``given`` are other weights than the file has."""
    checked = Checked()
    written = document.root.get("is")
    if isinstance(written, Mapping):
        reader = _Reader(model, checked, document.id, ())
        reader.weigh(document.root.get("weights"), given or {})
        reader.functions(document.root.get("rules"))
        for entry in written.entries:
            reader.policy(entry.key.text, entry.key, entry.value)
        checked.diagnostics.extend(_check_citations(written, statements))
    return checked


def laid_over(own: abc.Mapping[str, Policy], files: Iterable[abc.Mapping[str, Policy]]) -> dict[str, Policy]:
    """All policies by name: those of policies files, and over each of them the lines of the ruleset's own files."""
    found: dict[str, Policy] = {}
    for policies in files:
        for name, policy in policies.items():
            if name not in found:
                found[name] = _over(own[name], policy) if name in own else policy
    return {**own, **found}


def _over(upper: Policy, lower: Policy) -> Policy:
    names = dict.fromkeys((*upper.decisions, *lower.decisions))
    layers = {name: (*upper.decisions.get(name, ()), *lower.decisions.get(name, ())) for name in names}
    return replace(lower, decisions=layers)


def unspoken(model: Model, policies: abc.Mapping[str, Policy], live: abc.Set[str]) -> Iterator[Diagnostic]:
    """Decisions for which some policies have no lines: bots that play by these stop there. ``live`` are the procedures
    that something leads to."""
    asks: dict[str, Span] = {}
    for layer in (layer for rule in model.rules.values() for layer in rule.layers if layer.id in live):
        for ask in (node for node in descendants(layer.body) if isinstance(node, c.Ask)):
            asks.setdefault(ask.name, ask.span)
    for decision, span in asks.items():
        silent = sorted(name for name, policy in policies.items() if decision not in policy.decisions)
        if silent:
            listed = ", ".join(f"`{name}`" for name in silent)
            who = f"the policy {listed} has" if len(silent) == 1 else f"the policies {listed} have"
            message = f"{who} no lines for `{decision}`: bots that play so stop there"
            yield Diagnostic("W704", message, span, help=how_to_choose(silent[0], decision), severity="warning")


def how_to_choose(policy: str, decision: str) -> str:
    """What to write where a policy lacks lines for a decision."""
    written = f"policies: {{{policy}: {{{decision}: {{prefer: any}}}}}}"
    return f"say how it chooses in its own file, or in an overlay: `{written}`"


def _check_citations(policies: Mapping, statements: dict[str, Statement]) -> Iterator[Diagnostic]:
    for policy in policies.entries:
        for decision in policy.value.entries if isinstance(policy.value, Mapping) else ():
            for cite in words(decision.value.get("cites")) if isinstance(decision.value, Mapping) else ():
                if cite.text not in statements:
                    near = did_you_mean(cite.text, statements)
                    yield Diagnostic("E601", f"no statement is called `{cite.text}`{near}", cite.span)


class _Reader:
    """Reads the policies of one entry."""

    def __init__(self, model: Model, checked: Checked, file: str, guards: tuple[Scalar, ...]) -> None:
        self.model, self.checked, self.file, self.guards = model, checked, file, guards
        self.decisions = _decisions(model)
        self.signatures: Signatures = dict(model.signatures)
        self.rules: list[RuleLayer] = []
        self.weights: dict[str, int] = {}
        self.variant = ""

    def report(self, diagnostic: Diagnostic) -> None:
        self.checked.diagnostics.append(diagnostic)

    def error(self, code: str, message: str, span: Span, notes: tuple[Note, ...] = ()) -> None:
        self.report(Diagnostic(code, message, span, notes))

    def expressions(self, frame: Frame) -> Expressions:
        found = Expressions(self.model, self.signatures, frame, self.report)
        found.weights = self.weights
        return found

    # --- what stands beside the policies of a file

    def weigh(self, value: Value | None, given: Weights) -> None:
        """Weights by name, with those that are given in their place."""
        for entry in value.entries if isinstance(value, Mapping) else ():
            name = entry.key.text
            if isinstance(entry.value, Scalar) and isinstance(entry.value.value, int):
                self.weights[name] = given.get(name, entry.value.value)
        self.variant = "".join(f":{name}={given[name]}" for name in self.weights if name in given)

    def functions(self, value: Value | None) -> None:
        """Functions and verdicts; each knows those above it, so none leads back to itself."""
        for entry in value.entries if isinstance(value, Mapping) else ():
            if isinstance(entry.value, Mapping):
                self._function(entry.key, entry.value)

    def _function(self, key: Scalar, value: Mapping) -> None:
        rule = f"{key.text}!{self.file}{self.variant}"
        is_verdict = value.get("permits") is not None
        tree = (
            parsed(value.get("permits"), parse_verdict, self.report)
            if is_verdict
            else parsed(value.get("is"), parse_function, self.report)
        )
        if tree is None:
            return
        signature, layer = check_function(
            self.model, self.signatures, tree, rule, key, self.file, self.weights, self.report
        )
        self.signatures[key.text] = signature
        self.rules.append(layer)

    # --- policies

    def policy(self, name: str, key: Scalar, value: Value) -> None:
        if not isinstance(value, Mapping):
            return
        fresh = Policy(f"{name}{self.variant}", self.file, key.span, {}, tuple(self.rules), tuple(self.weights.items()))
        policy = self.checked.policies.setdefault(name, fresh)
        for entry in value.entries:
            if entry.key.text not in self.decisions:
                message = f"no decision is called `{entry.key.text}`{did_you_mean(entry.key.text, self.decisions)}"
                known = Note(f"decisions here: {', '.join(f'`{name}`' for name in self.decisions)}")
                self.checked.absent.append(Diagnostic("E301", message, entry.key.span, (known,)))
            elif isinstance(entry.value, Mapping):
                found = self._preferences(entry.key, entry.value)
                if found is not None:
                    lower = policy.decisions.get(found.decision, ())
                    policy.decisions[found.decision] = (*lower, found)

    def _preferences(self, key: Scalar, value: Mapping) -> Preferences | None:
        tree = parsed(value.get("prefer"), parse_preferences, self.report)
        if tree is None:
            return None
        lines = tuple(self._line(key.text, line) for line in tree.lines)
        when, size = self._guard()
        cites = tuple(cite.text for cite in words(value.get("cites")))
        return Preferences(key.text, lines, when, size, cites, key.span)

    def _guard(self) -> tuple[c.Expression | None, int]:
        """The conditions of the parts that the policy stands in, as one."""
        frame = Frame()
        frame.add("who", SEAT)
        when: c.Expression | None = None
        for guard in self.guards:
            tree = condition_of(guard, self.report)
            if tree is not None:
                test = self.expressions(frame).condition(tree)
                when = test if when is None else c.Logic("and", when, test, type=BOOL, span=guard.span)
        return when, frame.size

    # --- lines

    def _line(self, decision: str, line: n.Preference) -> Line:
        if line.chance is not None and not 0 < line.chance[0] <= line.chance[1]:
            used, of = line.chance
            self.error("E415", f"got the chance {used} in {of}, want at least 1 and at most {of} in {of}", line.span)
        keys = line.keys if line.tie == "by" else ()
        patterns = tuple(
            found for pattern in line.patterns if (found := self._pattern(decision, pattern, keys)) is not None
        )
        frame = _frame(self._context(decision))
        asked = self.expressions(frame).need(line.keys[0], SEAT) if line.tie == "asking" else None
        return Line(patterns, line.tie, asked, line.chance, frame.size, line.span)

    def _context(self, decision: str) -> Bound:
        """What is bound whatever is chosen: the actor, and the context that all alternatives share."""
        arounds = [alternative.around for alternative in self.decisions[decision].values()]
        shared = takewhile(lambda bounds: len(set(bounds)) == 1, zip(*arounds, strict=False))
        return tuple(bounds[0] for bounds in shared)

    def _pattern(self, decision: str, pattern: n.Pattern, keys: tuple[n.Expr, ...]) -> Pattern | None:
        bound = self._bound(decision, pattern)
        if bound is None:
            return None
        frame = _frame(bound)
        expressions = self.expressions(frame)
        beside = "several alternatives stand on lines of their own, indented below `either:`"
        expressions.hints = dict.fromkeys(self.decisions[decision], beside)
        tests = tuple(_conjuncts(expressions, pattern.test)) if pattern.test is not None else ()
        checked = tuple(self._key(expressions, key) for key in keys)
        name = "" if pattern.name == "any" else pattern.name
        return Pattern(name, tests, checked, frame.size, pattern.span)

    def _key(self, expressions: Expressions, key: n.Expr) -> c.Expression:
        found = expressions.value(key)
        if found.type.optional or found.type.form not in ("int", "bool", "kind", "seat", "node", "card", "never"):
            self.error("E408", f"got {found.type}, want something that can be put in order", key.span)
        return found

    def _bound(self, decision: str, pattern: n.Pattern) -> Bound | None:
        """What a pattern's names stand for: all of an alternative's choices, or none of them."""
        alternatives = self.decisions[decision]
        if pattern.name == "any" and "any" not in alternatives:
            if pattern.names:
                self.error("E404", "`any` is every alternative, and takes no names", pattern.span)
            return self._context(decision)
        alternative = alternatives.get(pattern.name)
        if alternative is None:
            near = did_you_mean(pattern.name, [*alternatives, "any"])
            known = Note(f"it has {', '.join(f'`{name}`' for name in alternatives)}")
            self.error("E301", f"`{decision}` has no alternative `{pattern.name}`{near}", pattern.span, (known,))
            return None
        wanted = [name for name, _ in alternative.choices]
        if pattern.names and list(pattern.names) != wanted:
            got, want = ", ".join(f"`{name}`" for name in pattern.names), ", ".join(f"`{name}`" for name in wanted)
            self.error("E404", f"`{pattern.name}` has {want or 'no choices'}; got {got}", pattern.span)
            return None
        return alternative.around + (alternative.choices if pattern.names else ())


def _decisions(model: Model) -> dict[str, dict[str, _Alternative]]:
    """Every decision that a rule asks, with its alternatives."""
    found: dict[str, dict[str, _Alternative]] = {}
    layers = [layer for rule in model.rules.values() for layer in rule.layers]
    for layer in (*layers, *model.blocks.values()):
        for ask in (node for node in descendants(layer.body) if isinstance(node, c.Ask)):
            around = (("who", SEAT), *((name, value.type) for name, value in ask.context))
            for option in ask.options:
                choices = tuple((choice.name, choice.type) for choice in option.choices)
                found.setdefault(ask.name, {}).setdefault(option.name, _Alternative(around, choices))
    return found


def _frame(bound: Iterable[tuple[str, Type]]) -> Frame:
    frame = Frame()
    for name, type_ in bound:
        frame.add(name, type_)
    return frame


def _conjuncts(expressions: Expressions, test: n.Expr) -> Iterator[c.Expression]:
    """One condition for each side of the `and`s; each may rely on those before it."""
    if isinstance(test, n.Binary) and test.operator == "and":
        yield from _conjuncts(expressions, test.left)
        yield from _conjuncts(expressions, test.right)
        return
    yield expressions.condition(test)
    expressions.frame.facts[-1].update(expressions.facts(test, holds=True))
