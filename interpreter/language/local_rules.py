"""Helpers: functions, verdicts and constants of a policy or scenario file, for its own texts.

The input is the `rules:` of a file; the output is parsed helpers, and layers checked against a model. Rules of the
ruleset cannot call helpers. A helper can call only the helpers above it, so recursion is impossible.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import nodes
from interpreter.language.check import check_function, literal_type
from interpreter.language.model import RuleLayer
from interpreter.language.parse import parse_function, parse_head, parse_verdict, read_once
from interpreter.language.reporter import Report
from interpreter.language.resolve import Names
from interpreter.language.texts import parsed, type_of
from interpreter.language.walk import descendants
from interpreter.reading.yaml import Mapping, Scalar
from interpreter.sections import behaviour
from interpreter.sections.declarations import name_and_head
from interpreter.sections.documents import Helpers, Naming
from interpreter.sections.vocabulary import Keys

__all__ = ["Helper", "check_helpers", "helpers_in", "named_in", "needed"]


class Helper(Struct, frozen=True):
    """A parsed helper: its key in the file and its syntax tree."""

    key: Scalar
    tree: nodes.Function | nodes.Verdict

    @property
    def name(self) -> str:
        return self.key.text

    @property
    def is_constant(self) -> bool:
        """Return whether it is read without parentheses."""
        return literal_type(self.tree) is not None


def helpers_in(file: Mapping, report: Report) -> tuple[Helper, ...]:
    """Return the helpers in a file that can be parsed, with the types that it says of parameters filled in."""
    helpers, diagnostics = read_once(file, partial(_read, file), "helpers")
    for diagnostic in diagnostics:
        report(diagnostic)
    return helpers


def _read(file: Mapping) -> tuple[tuple[Helper, ...], list[Diagnostic]]:
    helpers, diagnostics = list[Helper](), list[Diagnostic]()
    report = diagnostics.append
    types = {key.text: type_of(value, report) for key, value in Naming(file).names}
    for key, value in Helpers.read(file.get("rules")):
        helper = Keys(behaviour.Helper).read(value)
        name, head = name_and_head(key)
        function, verdict = parsed(helper.is_, parse_function, report), parsed(helper.permits, parse_verdict, report)
        if (tree := function or verdict) is not None:
            if (header := parsed(head, parse_head, report)) is not None:
                typed = (replace(each, type=types.get(each.name)) for each in header.parameters)
                tree = replace(tree, header=replace(header, parameters=tuple(typed)))
            helpers.append(Helper(name, tree))
    return tuple(helpers), diagnostics


def named_in(trees: Iterable[nodes.Node]) -> set[str]:
    """Return the names in trees that may refer to a rule."""
    descended = chain.from_iterable(map(descendants, trees))
    return {node.name for node in descended if isinstance(node, nodes.Call | nodes.Name)}


def needed(helpers: Iterable[Helper], trees: Iterable[nodes.Node]) -> list[Helper]:
    """Return the helpers that the trees call, directly or through other helpers, in order."""
    names = named_in(trees)
    called: list[Helper] = []
    for helper in reversed(tuple(helpers)):  # a helper names those above it only
        if helper.name in names:
            names |= named_in([helper.tree])
            called.insert(0, helper)
    return called


def check_helpers(
    helpers: Iterable[Helper], names: Names, file: str, diagnostics: list[Diagnostic], variant: str = ""
) -> list[RuleLayer]:
    """Check helpers and return them as layers, with ids that no rule has; declare them in ``names``.

    A ``variant`` distinguishes helpers that were checked with other weights.
    """
    layers: list[RuleLayer] = []
    for helper in helpers:
        rule = f"{helper.name}!{file}{variant}"
        checked = partial(check_function, names, helper.tree, rule, helper.key, file, diagnostics.append)
        signature, layer = names.once(("helper", rule, file), (helper.tree, helper.key), diagnostics, checked)
        names.declare(helper.name, signature)
        layers.append(layer)
    return layers
