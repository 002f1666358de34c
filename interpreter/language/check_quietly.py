"""Check of a text for itself, without errors: for the names in a text that is not in force or not finished."""

from __future__ import annotations

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.check_steps import Steps
from interpreter.language.resolve import Names, resolve_type
from interpreter.language.scope import Frame
from interpreter.language.types import NEVER, SEAT

__all__ = ["check_quietly", "ignored"]


def ignored(diagnostic: Diagnostic) -> None:
    """Ignore an error: it is reported where the text is checked."""


def check_quietly(tree: nodes.Node | None, names: Names, frame: Frame, decision: str = "") -> None:
    """Bind the names in a text of any sort. ``frame`` has the locals that its surroundings provide; ``decision`` is the
    one that preferences and alternatives are about."""
    steps = Steps(names, frame, ignored, "", "")
    match tree:
        case nodes.Function(body=body) | nodes.Procedure(body=body):
            steps.block(body) if isinstance(body, nodes.Block) else steps.need(body, steps.result)
        case nodes.Verdict(lines=lines):
            for line in lines:
                steps.statement(line) if isinstance(line, nodes.Let) else _condition(steps, line.test)
        case nodes.EventPattern(event=event, names=bound, test=test):
            heard = names.event(event)
            for name, type_ in zip(bound, heard.fields.values() if heard is not None else (), strict=False):
                steps.bound(name, type_, tree)
            _condition(steps, test)
        case nodes.Match(binders=binders, test=test):
            for binder in binders:
                steps.binder(binder)
            _condition(steps, test)
        case nodes.Alternatives(alternatives=alternatives):
            for each in alternatives:
                _add_bound(names, frame, decision, each.name)
                steps.alternative(each)
        case nodes.Preferences(lines=preferences):
            for preference in preferences:
                _prefer(preference, names, decision)
        case nodes.NamedType() | nodes.MadeType() | nodes.OptionalType() | nodes.RangeType():
            resolve_type(names, tree, ignored)
        case _ if isinstance(tree, nodes.Expr):
            steps.value(tree, maybe=True)


def _condition(expressions: Expressions, test: nodes.Expr | None) -> None:
    if test is not None:
        expressions.established(test)


def _add_bound(names: Names, frame: Frame, decision: str, alternative: str) -> None:
    """Add the variables of an alternative; of one that the decision does not have, the actor alone."""
    alternatives = names.model.alternatives
    for name, type_ in alternatives.get(f"{decision}.{alternative}", [("who", SEAT)]):
        if frame.find(name) is None:
            frame.add(name, type_)


def _prefer(preference: nodes.Preference, names: Names, decision: str) -> None:
    for pattern in preference.patterns:
        frame = Frame()
        _add_bound(names, frame, decision, pattern.name)
        for name in pattern.names:
            if frame.find(name) is None:
                frame.add(name, NEVER)
        expressions = Expressions(names, frame, ignored)
        _condition(expressions, pattern.test)
        for key in preference.keys:
            expressions.value(key, maybe=True)
