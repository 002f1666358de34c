"""Helpers: functions, verdicts and constants that a file has for its own texts, as policies and scenarios do.

In goes the `rules:` of a file; out come parsed helpers, and layers that are checked against a model. No rule of the
ruleset knows them. Each helper knows those above it, so none leads back to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from interpreter.base.frozen import dataclass
from interpreter.language import nodes
from interpreter.language.check import check_function, literal_type
from interpreter.language.model import Model, RuleLayer, Signatures
from interpreter.language.parse import parse_function, parse_verdict
from interpreter.language.texts import Report, parsed
from interpreter.language.walk import descendants
from interpreter.reading.yaml import Mapping as YamlMapping
from interpreter.reading.yaml import Scalar, Value

__all__ = ["Helper", "check_helpers", "helpers_in", "named_in", "needed"]


@dataclass(frozen=True, slots=True)
class Helper:
    """One of them, parsed: its name as a key of its file, and its text."""

    key: Scalar
    tree: nodes.Function | nodes.Verdict

    @property
    def name(self) -> str:
        return self.key.text

    @property
    def is_constant(self) -> bool:
        """Return whether it is read without brackets."""
        return literal_type(self.tree) is not None


def helpers_in(rules: Value | None, report: Report) -> tuple[Helper, ...]:
    """The helpers that stand in the `rules:` of a file, those left out that cannot be read."""
    found: list[Helper] = []
    for entry in rules.entries if isinstance(rules, YamlMapping) else ():
        value = entry.value
        if isinstance(value, YamlMapping):
            tree = parsed(value.get("is"), parse_function, report) or parsed(
                value.get("permits"), parse_verdict, report
            )
            if tree is not None:
                found.append(Helper(entry.key, tree))
    return tuple(found)


def named_in(trees: Iterable[nodes.Node]) -> set[str]:
    """The names that stand in texts where a rule could be meant."""
    found = chain.from_iterable(map(descendants, trees))
    return {node.name for node in found if isinstance(node, nodes.Call | nodes.Name)}


def needed(helpers: Iterable[Helper], trees: Iterable[nodes.Node]) -> list[Helper]:
    """The helpers that texts name, and those that these name, in order."""
    names = named_in(trees)
    found: list[Helper] = []
    for helper in reversed(tuple(helpers)):  # a helper names those above it only
        if helper.name in names:
            names |= named_in([helper.tree])
            found.insert(0, helper)
    return found


def check_helpers(
    helpers: Iterable[Helper],
    model: Model,
    signatures: Signatures,
    file: str,
    report: Report,
    weights: Mapping[str, int] | None = None,
    variant: str = "",
) -> list[RuleLayer]:
    """Helpers of a file as layers with ids like no rule's; ``signatures`` know them afterwards by their names.

    A ``variant`` tells those apart that were checked with other ``weights``.
    """
    layers: list[RuleLayer] = []
    for helper in helpers:
        rule = f"{helper.name}!{file}{variant}"
        signature, layer = check_function(model, signatures, helper.tree, rule, helper.key, file, weights or {}, report)
        signatures[helper.name] = signature
        layers.append(layer)
    return layers
