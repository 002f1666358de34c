"""Checker of policies: reads the policies of files and checks them against a model.

The input is the `policies:` of a composition's files, or a file of the kind `policies`. The output is the policies by
name. :mod:`interpreter.language.check_preferences` checks their lines, and
:mod:`interpreter.bots.policy_layers` merges their layers. Choosing is left to the bots.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.base.source import Span, typed
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import Mapping, Scalar, Value, is_nothing
from interpreter.bots.player import how_to_choose
from interpreter.bots.policy_layers import Base, Named, Written, expanded, laid_over
from interpreter.language import nodes
from interpreter.language.check_preferences import PreferenceLines
from interpreter.language.local_rules import check_helpers, helpers_in
from interpreter.language.model import Model, RuleLayer, Signature
from interpreter.language.parse import checked_texts, parse_preferences
from interpreter.language.preferences import Line, Policy, Preferences
from interpreter.language.resolve import Binding, Names
from interpreter.language.scope import frame_of
from interpreter.language.texts import parsed
from interpreter.language.types import SEAT
from interpreter.reading.composition import Composition
from interpreter.reading.files import Document, Shelf
from interpreter.reading.statements import Statement, unknown_statement
from interpreter.sections.behaviour import Preference
from interpreter.sections.documents import Decisions, PoliciesFile

__all__ = ["Checked", "family_policies", "policies_in", "policies_of", "typed_policy", "unspoken"]

Weights = abc.Mapping[str, int]


@dataclass
class Checked:
    """Result of checking policies, of a ``document`` or of a composition.

    ``absent`` reports decisions that the ruleset does not have: an error if the text belongs to the ruleset, but not in
    a file for all rulesets of a family. ``functions`` are the helpers of a policies file by name, ``bindings`` what the
    names in all texts mean, also in overridden ones.
    """

    policies: dict[str, Policy] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    absent: list[Diagnostic] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    document: Document | None = None


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
    checked = Checked(document=document)
    file, reader = PoliciesFile(document.root), _Reader(model, checked, document.id, ())
    reader.weigh(file.weights, weights or {})
    reader.functions(document.root)
    for key, policy in file.is_:
        reader.policy(key.text, key, policy, None)
    cites = (cite for _, policy in file.is_ for _, preference in policy for cite in preference.cites)
    unknown = (cite for cite in cites if cite.text not in statements)
    checked.diagnostics.extend(unknown_statement(cite.text, cite.span, statements) for cite in unknown)
    return checked


def family_policies(
    shelf: Shelf, family: str, model: Model, statements: dict[str, Statement], weights: Weights | None = None
) -> list[Checked]:
    """Check the policies files of a family. A file that cannot be read has diagnostics only."""
    files = []
    for id in shelf.ids("policies"):
        if id.partition("/")[0] == family:
            document, found = shelf.read("policies", id)
            found = [*found, *(document.misfits if document is not None else ())]
            if document is None or any(diagnostic.severity == "error" for diagnostic in found):
                files.append(Checked(diagnostics=found))
            else:
                files.append(policies_in(model, document, statements, weights))
    return files


def unspoken(model: Model, policies: abc.Mapping[str, Policy], live: abc.Set[str]) -> Iterator[Diagnostic]:
    """Warn about decisions for which a policy has no lines: its bots stop. ``live`` are the reachable procedures."""
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


def typed_policy(model: Model, decision: str, text: str) -> Policy:
    """Return the policy whose lines for a decision somebody types. Raises :class:`RulesetError` with their errors."""
    checked = Checked()
    reader = _Reader(model, checked, "", ())
    tree, problems = parse_preferences(typed(text, decision))
    lines = tuple(reader.line(decision, "", line) for line in tree.lines) if tree is not None else ()
    if not lines or problems or checked.diagnostics:
        raise RulesetError([*problems, *checked.diagnostics])
    preferences = Preferences(decision, lines, None, 0, (), lines[0].span)
    return Policy(decision, "", preferences.span, {decision: (preferences,)})


class _Reader(PreferenceLines):
    """Reads the policies of one entry."""

    def __init__(self, model: Model, checked: Checked, file: str, guards: tuple[Scalar, ...]) -> None:
        names = Names(model, dict(model.signatures), {}, checked_texts())
        super().__init__(names, checked.diagnostics.append)
        names.bindings = checked.bindings
        self.checked, self.file, self.guards = checked, file, guards
        self.rules: list[RuleLayer] = []
        self.variant = ""

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
        weights = tuple(self.names.weights.items())
        new = Policy(f"{name}{self.variant}", self.file, key.span, {}, tuple(self.rules), weights)
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
                    lower = policy.decisions.get(decision.text, ())
                    policy.decisions[decision.text] = laid_over(written, lower, self.report)
        return policy

    def _written(self, key: Scalar, preference: Preference) -> Written | None:
        """Return a layer's preferences for a decision, or None if a text in it is invalid."""
        prefer = preference.prefer
        named = [(entry.key.text, entry.value, entry.key.span) for entry in getattr(prefer, "entries", ())]
        read = [self._named(key.text, *part) for part in named or [("", prefer, key.span)]]
        parts, cites = tuple(filter(None, read)), tuple(cite.text for cite in preference.cites)
        if len(parts) < len(read):
            return None
        frame = frame_of([("who", SEAT)])
        when = self.expressions(frame).all_hold(self.guards)
        return Written(parts, Preferences(key.text, tuple(expanded(parts, ())), when, frame.size, cites, key.span))

    def _named(self, decision: str, name: str, value: Value | None, span: Span) -> Named | None:
        if name and is_nothing(value):
            return Named(name, (), span)
        tree = parsed(value, parse_preferences, self.report)
        if tree is None:
            return None
        return Named(name, tuple(self._line_or_base(decision, name, line) for line in tree.lines), span)

    def _line_or_base(self, decision: str, name: str, line: nodes.Preference) -> Line | Base:
        if [pattern.name for pattern in line.patterns] != ["base"] or "base" in self.decisions[decision]:
            return self.line(decision, name, line)
        pattern = line.patterns[0]
        if pattern.names or pattern.test is not None or line.tie != "first" or line.chance is not None:
            message = "`base` stands for the unchanged lines below: it takes no names, condition, order or chance"
            self.error("E404", message, line.span)
        return Base(line.span)
