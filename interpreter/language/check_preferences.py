"""Checker of preferences: a line becomes checked expressions over its decision's actor, context and named choices."""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

from interpreter.base.diagnostics import Note
from interpreter.base.remedies import write
from interpreter.base.suggest import did_you_mean
from interpreter.language import nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.model import Model
from interpreter.language.preferences import Line, Pattern
from interpreter.language.reporter import Report, Reporter
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame, frame_of
from interpreter.language.translations import asks_of
from interpreter.language.types import SEAT, Type

__all__ = ["PreferenceLines"]

Bound = tuple[tuple[str, Type], ...]


class _Alternative(Struct, frozen=True):
    """Variables of an alternative: the actor and the decision's context (``around``), then its own choices."""

    around: Bound
    choices: Bound


class PreferenceLines(Reporter):
    """Checks lines of preferences for the decisions of a model."""

    def __init__(self, names: Names, report: Report) -> None:
        self.names, self.report = names, report
        self.decisions = _decisions(names.model)

    def expressions(self, frame: Frame) -> Expressions:
        return Expressions(self.names, frame, self.report)

    def line(self, decision: str, name: str, line: nodes.Preference) -> Line:
        """Check a line of a decision, with the name that it has there."""
        if line.chance is not None and not 0 < line.chance[0] <= line.chance[1]:
            used, of = line.chance
            message = f"got the chance {used} in {of}, want at least 1 and at most {of} in {of}"
            start, piece = line.span.start, f"{used} in {of}"
            place = line.span.file.at(start + line.span.text.rfind(piece), len(piece))
            self.error("E415", message, line.span, write(place, f"{max(1, min(used, of))} in {of}"))
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
        checked = tuple(map(expressions.key, keys))
        name = "" if pattern.name == "any" else pattern.name
        return Pattern(name, tests, checked, frame.size, pattern.span)

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
