"""Checker of policies: parses the rules of bots and checks them against a model.

The input is the `policies:` of a composition's files, or a file of the kind `policies`. The output is the policies by
name; conditions and keys of each line are checked expressions over the actor, the decision's context and the choices
that the line names. :mod:`interpreter.language.preferences` merges layers. Choosing is left to the bots.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core, nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.local_rules import check_helpers, helpers_in
from interpreter.language.model import Model, RuleLayer, Signature
from interpreter.language.parse import checked_texts, parse_preferences
from interpreter.language.preferences import Base, Line, Named, Pattern, Preferences, Written, laid_over
from interpreter.language.reporter import Reporter
from interpreter.language.resolve import Binding, Names
from interpreter.language.scope import Frame, frame_of
from interpreter.language.texts import condition_of, parsed
from interpreter.language.translations import asks_of
from interpreter.language.types import (
    BOOL,
    SEAT,
    BoolType,
    CardType,
    IntType,
    KindType,
    NeverType,
    NodeType,
    SeatType,
    Type,
)
from interpreter.reading.composition import Composition
from interpreter.reading.files import Document, Shelf
from interpreter.reading.statements import Statement, unknown_statement
from interpreter.reading.yaml import Mapping, Scalar, Value
from interpreter.sections.behaviour import Preference
from interpreter.sections.documents import Decisions, PoliciesFile

__all__ = [
    "Checked",
    "Line",
    "Pattern",
    "Policy",
    "Preferences",
    "how_to_choose",
    "is_nothing",
    "policies_files",
    "policies_in",
    "policies_of",
    "unspoken",
]

Bound = tuple[tuple[str, Type], ...]
Weights = abc.Mapping[str, int]


class _Alternative(Struct, frozen=True):
    """Variables of an alternative: the actor and the decision's context (``around``), then its own choices."""

    around: Bound
    choices: Bound


class Policy(Struct, frozen=True):
    """Preferences by decision, the uppermost layer of each decision first.

    ``rules`` are the helpers of the policy's file, with ids that no rule has. ``weights`` are the named numbers that
    its expressions contain as constants.
    """

    name: str
    file: str
    span: Span
    decisions: dict[str, tuple[Preferences, ...]]
    rules: tuple[RuleLayer, ...] = ()
    weights: tuple[tuple[str, int], ...] = ()


@dataclass
class Checked:
    """Result of checking policies.

    ``absent`` reports decisions that the ruleset does not have: an error if the text belongs to the ruleset, but not in
    a file for all rulesets of a family. ``functions`` are the helpers of a policies file by name. ``written`` has every
    text that was read, also overridden ones, and ``bindings`` what the names in these texts mean.
    """

    policies: dict[str, Policy] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    absent: list[Diagnostic] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)


def policies_of(model: Model, composition: Composition, files: Sequence[Checked] = ()) -> Checked:
    """Check all policies: those of policies files, with the layers in a composition's files over them.

    A layer can use the helpers and weights of the policies file below it. Layers over a file with errors are skipped,
    since they may depend on the invalid parts.
    """
    checked = Checked()
    unread = any(file.diagnostics and not file.policies for file in files)
    lower: dict[str, tuple[Policy, Checked]] = {}
    for file in files:
        for name, policy in file.policies.items():
            lower.setdefault(name, (policy, file))
    for name, layers in composition.sections.get("policies", {}).items():
        below, file = lower.get(name, (None, Checked()))
        if file.diagnostics or (below is None and unread):
            continue
        for entry in layers:
            reader = _Reader(model, checked, entry.file, entry.guards)
            if below is not None:
                reader.know(below, file, _declared_in(composition, entry.file))
            below = reader.policy(name, entry.key, Decisions.read(entry.value), below)
    for name, (policy, _) in lower.items():
        checked.policies.setdefault(name, policy)
    checked.diagnostics.extend(checked.absent)
    return checked


def _declared_in(composition: Composition, file: str) -> set[str]:
    """Return the names that a file introduces."""
    sections = composition.sections.values()
    return {name for names in sections for name, layers in names.items() if layers and layers[0].file == file}


def policies_in(
    model: Model, document: Document, statements: dict[str, Statement], weights: Weights | None = None
) -> Checked:
    """Check a policies file with its helpers. ``weights`` override those of the file."""
    checked = Checked()
    file, reader = PoliciesFile(document.root), _Reader(model, checked, document.id, ())
    reader.weigh(file.weights, weights or {})
    reader.functions(document.root)
    for key, policy in file.is_:
        reader.policy(key.text, key, policy, None)
    cites = (cite for _, policy in file.is_ for _, preference in policy for cite in preference.cites)
    unknown = (cite for cite in cites if cite.text not in statements)
    checked.diagnostics.extend(unknown_statement(cite.text, cite.span, statements) for cite in unknown)
    return checked


def policies_files(shelf: Shelf, family: str) -> Iterator[tuple[Document | None, list[Diagnostic]]]:
    """Yield the policies files of a family with their diagnostics. The document is None for a file with errors."""
    for id in shelf.ids("policies"):
        if id.partition("/")[0] == family:
            document, diagnostics = shelf.read("policies", id)
            diagnostics = [*diagnostics, *(document.misfits if document is not None else ())]
            has_errors = any(diagnostic.severity == "error" for diagnostic in diagnostics)
            yield (None if has_errors else document), diagnostics


def unspoken(model: Model, policies: abc.Mapping[str, Policy], live: abc.Set[str]) -> Iterator[Diagnostic]:
    """Warn about decisions for which a policy has no lines: its bots stop there. ``live`` are the reachable
    procedures."""
    asks: dict[str, Span] = {}
    for layer in (layer for rule in model.rules.values() for layer in rule.layers if layer.id in live):
        for ask in layer.facts.asks:
            asks.setdefault(ask.name, ask.span)
    for decision, span in asks.items():
        silent = sorted(name for name, policy in policies.items() if decision not in policy.decisions)
        if silent:
            listed = ", ".join(f"`{name}`" for name in silent)
            subject = f"the policy {listed} has" if len(silent) == 1 else f"the policies {listed} have"
            message = f"{subject} no lines for `{decision}`; bots that play it stop there"
            yield Diagnostic("W704", message, span, help=how_to_choose(silent[0], decision), severity="warning")


def how_to_choose(policy: str, decision: str) -> str:
    """Return the help for a policy without lines for a decision."""
    example = f"policies: {{{policy}: {{{decision}: {{prefer: any}}}}}}"
    return f"add lines in the policy's file or in an overlay: `{example}`"


class _Reader(Reporter):
    """Reads the policies of one entry."""

    def __init__(self, model: Model, checked: Checked, file: str, guards: tuple[Scalar, ...]) -> None:
        self.model, self.checked, self.file, self.guards = model, checked, file, guards
        self.decisions = _decisions(model)
        self.names = Names(model, dict(model.signatures), {}, checked_texts())
        self.names.bindings = checked.bindings
        self.report = checked.diagnostics.append
        self.rules: list[RuleLayer] = []
        self.variant = ""

    def expressions(self, frame: Frame) -> Expressions:
        return Expressions(self.names, frame, self.report)

    def know(self, policy: Policy, file: Checked, hidden: abc.Set[str]) -> None:
        """Add the helpers and weights of the policies file below, except names that the layer's file declares."""
        self.names.signatures |= {name: helper for name, helper in file.functions.items() if name not in hidden}
        self.names.weights = {name: weight for name, weight in policy.weights if name not in hidden}

    # --- weights and helpers of a file

    def weigh(self, weights: Iterable[tuple[Scalar, int | None]], overrides: Weights) -> None:
        """Read the weights by name, and apply overrides."""
        named = self.names.weights = {key.text: overrides.get(key.text, weight or 0) for key, weight in weights}
        self.variant = "".join(f":{name}={overrides[name]}" for name in named if name in overrides)

    def functions(self, file: Mapping) -> None:
        """Check the helpers, which all policies of the file can call."""
        helpers = helpers_in(file, self.report)
        self.rules.extend(check_helpers(helpers, self.names, self.file, self.checked.diagnostics, self.variant))
        self.checked.functions.update({helper.name: self.names.signatures[helper.name] for helper in helpers})

    # --- policies

    def policy(
        self, name: str, key: Scalar, decisions: Iterable[tuple[Scalar, Preference]], below: Policy | None
    ) -> Policy:
        """Check a policy and merge it with the layers below."""
        new = Policy(
            f"{name}{self.variant}", self.file, key.span, {}, tuple(self.rules), tuple(self.names.weights.items())
        )
        policy = new if below is None else replace(below, decisions=dict(below.decisions))
        self.checked.policies[name] = policy
        for decision, preference in decisions:
            if decision.text not in self.decisions:
                message = f"unknown decision `{decision.text}`{did_you_mean(decision.text, self.decisions)}"
                known = Note(f"decisions here: {', '.join(f'`{name}`' for name in self.decisions) or 'none'}")
                self.checked.absent.append(Diagnostic("E301", message, decision.span, (known,)))
            else:
                alternatives = tuple(self.decisions[decision.text].items())
                about = ("policy", self.file, self.variant, decision.text, decision.span, *alternatives)
                read = partial(self._written, decision, preference)
                written = self.names.once(about, (preference.source, *self.guards), self.checked.diagnostics, read)
                if written is not None:
                    self.checked.written.append(written)
                    lower = policy.decisions.get(written.decision, ())
                    policy.decisions[written.decision] = laid_over(written, lower, self.report)
        return policy

    def _written(self, key: Scalar, preference: Preference) -> Written | None:
        """Return a layer's preferences for a decision, or None if a text in it is invalid."""
        prefer = preference.prefer
        named = [(entry.key.text, entry.value, entry.key.span) for entry in getattr(prefer, "entries", ())]
        parts = [self._named(key.text, *part) for part in named or [("", prefer, key.span)]]
        if None in parts:
            return None
        when, size = self._guard()
        cites = tuple(cite.text for cite in preference.cites)
        return Written(key.text, tuple(filter(None, parts)), when, size, cites, key.span)

    def _named(self, decision: str, name: str, value: Value | None, span: Span) -> Named | None:
        if name and is_nothing(value):
            return Named(name, (), span)
        tree = parsed(value, parse_preferences, self.report)
        if tree is None:
            return None
        return Named(name, tuple(self._line_or_base(decision, name, line) for line in tree.lines), span)

    def _line_or_base(self, decision: str, name: str, line: nodes.Preference) -> Line | Base:
        if [pattern.name for pattern in line.patterns] != ["base"] or "base" in self.decisions[decision]:
            return self._line(decision, name, line)
        pattern = line.patterns[0]
        if pattern.names or pattern.test is not None or line.tie != "first" or line.chance is not None:
            message = "`base` stands for the unchanged lines below: it takes no names, condition, order or chance"
            self.error("E404", message, line.span)
        return Base(line.span)

    def _guard(self) -> tuple[core.Expression | None, int]:
        """Join the conditions of the enclosing parts."""
        frame = frame_of([("who", SEAT)])
        when: core.Expression | None = None
        for guard in self.guards:
            tree = condition_of(guard, self.report)
            if tree is not None:
                test = self.expressions(frame).condition(tree)
                when = test if when is None else core.Logic("and", when, test, type=BOOL, span=guard.span)
        return when, frame.size

    # --- lines

    def _line(self, decision: str, name: str, line: nodes.Preference) -> Line:
        if line.chance is not None and not 0 < line.chance[0] <= line.chance[1]:
            used, of = line.chance
            self.error("E415", f"got the chance {used} in {of}, want at least 1 and at most {of} in {of}", line.span)
        keys = line.keys if line.tie == "by" else ()
        checked = (self._pattern(decision, pattern, keys) for pattern in line.patterns)
        patterns = tuple(pattern for pattern in checked if pattern is not None)
        frame = frame_of(self._context(decision))
        seat = self.expressions(frame).need(line.keys[0], SEAT) if line.tie == "asking" else None
        return Line(patterns, line.tie, seat, line.chance, frame.size, line.span, name)

    def _context(self, decision: str) -> Bound:
        """Return the variables available for every option: the actor, and the context that all alternatives share."""
        arounds = [alternative.around for alternative in self.decisions[decision].values()]
        shared = takewhile(lambda bounds: len(set(bounds)) == 1, zip(*arounds, strict=False))
        return tuple(bounds[0] for bounds in shared)

    def _pattern(self, decision: str, pattern: nodes.Pattern, keys: tuple[nodes.Expr, ...]) -> Pattern | None:
        bound = self._bound(decision, pattern)
        if bound is None:
            return None
        frame = frame_of(bound)
        expressions = self.expressions(frame)
        hint = "write several alternatives on lines of their own, indented below `either:`"
        expressions.hints = dict.fromkeys(self.decisions[decision], hint)
        tests = expressions.conjuncts(pattern.test)
        checked = tuple(self._key(expressions, key) for key in keys)
        name = "" if pattern.name == "any" else pattern.name
        return Pattern(name, tests, checked, frame.size, pattern.span)

    def _key(self, expressions: Expressions, key: nodes.Expr) -> core.Expression:
        value = expressions.value(key)
        if value.type.optional or not isinstance(
            value.type, IntType | BoolType | KindType | SeatType | NodeType | CardType | NeverType
        ):
            self.error("E408", f"got {value.type}, want a type that can be sorted", key.span)
        return value

    def _bound(self, decision: str, pattern: nodes.Pattern) -> Bound | None:
        """Return the variables of a pattern. It must name all choices of its alternative, or none."""
        alternatives = self.decisions[decision]
        if pattern.name == "any" and "any" not in alternatives:
            if pattern.names:
                self.error("E404", "`any` matches every alternative and takes no names", pattern.span)
            return self._context(decision)
        alternative = alternatives.get(pattern.name)
        if alternative is None:
            near = did_you_mean(pattern.name, [*alternatives, "any"])
            known = Note(f"it has {', '.join(f'`{name}`' for name in alternatives)}")
            self.error("E301", f"unknown alternative `{pattern.name}` of `{decision}`{near}", pattern.span, None, known)
            return None
        expected = [name for name, _ in alternative.choices]
        if pattern.names and list(pattern.names) != expected:
            got, want = (", ".join(f"`{name}`" for name in names) for names in (pattern.names, expected))
            self.error("E404", f"`{pattern.name}` has {want or 'no choices'}; got {got}", pattern.span)
            return None
        return alternative.around + (alternative.choices if pattern.names else ())


@lru_cache(maxsize=2)  # all policies of a ruleset are read in a row
def _decisions(model: Model) -> dict[str, dict[str, _Alternative]]:
    """Return every decision that a rule asks, with its alternatives."""
    decisions: dict[str, dict[str, _Alternative]] = {}
    for ask in asks_of(model):
        around = (("who", SEAT), *((name, value.type) for name, value in ask.context))
        for option in ask.options:
            choices = tuple((choice.name, choice.type) for choice in option.choices)
            decisions.setdefault(ask.name, {}).setdefault(option.name, _Alternative(around, choices))
    return decisions


def is_nothing(value: Value | None) -> bool:
    """Return whether a value is ``nothing``, which drops the lines of a name."""
    return isinstance(value, Scalar) and value.style == "plain" and value.text == "nothing"
