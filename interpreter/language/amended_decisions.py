"""Amendments of decisions: other files add alternatives to a decision, or wrap those it has.

The input is the syntax tree of a procedure in its file; the output is the tree with all alternatives, for the checker.
In amendments, `who` is the actor, and the values shown with the decision have their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from msgspec.structs import replace

from interpreter.base.diagnostics import Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import nodes
from interpreter.language.parse import parse_alternatives
from interpreter.language.reporter import Report, Reporter
from interpreter.language.texts import parsed
from interpreter.language.walk import descendants, rewritten
from interpreter.reading.composition import Composition
from interpreter.sections.declarations import Entry

__all__ = ["Decisions", "asked_in"]


class Decisions(Reporter):
    """Amendments by decision, lowest file first."""

    def __init__(self, composition: Composition, report: Report) -> None:
        self.entries = composition.sections.get("decisions", {})
        self.report = report
        self.cites: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        self.asked: set[str] = set()
        self.reported: set[tuple[str, Span]] = set()
        self.parts = {
            name: [
                (how, alternative)
                for entry in entries
                for how in ("adds", "wraps")
                for alternative in _alternatives(entry, how, report)
            ]
            for name, entries in self.entries.items()
        }
        for name, entries in self.entries.items():
            own = {entry.key.span.file.name: tuple(cite.text for cite in entry.remarks.cites) for entry in entries}
            for _, part in self.parts[name]:
                file = part.span.file.name
                self.cites.setdefault((name, part.name), {})[file] = part.cites or own[file]

    def widened(self, tree: nodes.Procedure) -> nodes.Procedure:
        """Return a procedure with its decisions amended."""
        return rewritten(tree, self._node)

    def check_asked(self) -> None:
        """Report amendments of decisions that no rule asks."""
        for name, entries in self.entries.items():
            if name not in self.asked:
                self.unknown("decision", name, self.asked, entries[0].span)

    def _node(self, node: object) -> object:
        if not isinstance(node, nodes.Choose):
            return node
        for how, part in self.parts.get(node.name, ()):
            choices = () if how == "adds" else _choices(node, part.name)
            clashes = [*_captured(node, part, choices), *(_entangled(node, part, choices) if how == "wraps" else ())]
            for name, at in clashes:
                remedy = "it is not defined here" if isinstance(at, nodes.Name) else f"take another name for `{name}`"
                self._error("E501", f"`{name}` is a local of the rule that asks `{node.name}`", at, help=remedy)
            resolved = _resolved(node, part, choices)
            if how == "adds":
                node = replace(node, alternatives=(*node.alternatives, resolved))
            else:
                node = self._wrapped(node, resolved)
        return node

    def _wrapped(self, node: nodes.Choose, upper: nodes.Alternative) -> nodes.Choose:
        below = next((alternative for alternative in node.alternatives if alternative.name == upper.name), None)
        if below is None:
            known = [alternative.name for alternative in node.alternatives]
            note = Note(f"it has {', '.join(f'`{name}`' for name in known)}")
            message = f"unknown alternative `{upper.name}` of `{node.name}`{did_you_mean(upper.name, known)}"
            self._error("E301", message, upper, (note,))
            return node
        if upper.binders:
            self._error("E511", f"`{upper.name}` already has its choices; use them by their names", upper)
        if upper.body is not None and below.body is None:
            self._error("E507", f"`{upper.name}` only ends the decision: a wrap can add conditions, no body", upper)
            return node
        if upper.body is not None and not any(map(_is_base, descendants(upper.body))):
            remedy = "to remove an alternative, write `if no`"
            self._error("E507", f"`{upper.name}` is wrapped, but `base()` is never called", upper, help=remedy)
        both = replace(
            below,
            test=_both(below.test, upper.test),
            guard=_both(below.guard, upper.guard),
            cites=tuple(dict.fromkeys((*below.cites, *upper.cites))),
            body=below.body if upper.body is None or below.body is None else _over(upper.body, below.body),
        )
        alternatives = tuple(both if alternative is below else alternative for alternative in node.alternatives)
        return replace(node, alternatives=alternatives)

    def _error(
        self, code: str, message: str, at: nodes.Node, notes: tuple[Note, ...] = (), help: str | None = None
    ) -> None:
        if (code, at.span) not in self.reported:  # several rules may ask the decision
            self.reported.add((code, at.span))
            self.error(code, message, at.span, help, *notes)


def asked_in(tree: nodes.Procedure) -> Iterator[str]:
    """Yield the decisions that a procedure asks."""
    return (node.name for node in descendants(tree) if isinstance(node, nodes.Choose))


def _alternatives(entry: Entry, how: str, report: Report) -> tuple[nodes.Alternative, ...]:
    tree = parsed(entry.get(how), parse_alternatives, report)
    return tree.alternatives if tree is not None else ()


def _choices(node: nodes.Choose, name: str) -> tuple[str, ...]:
    return tuple(binder.name for part in node.alternatives if part.name == name for binder in part.binders)


def _shown(node: nodes.Choose) -> dict[str, nodes.Expr]:
    """Return the variables that amendments of a decision can use, with their expressions."""
    actor = nodes.Name(node.each, span=node.seat.span) if node.each else node.seat
    return {"who": actor, **{item.name: item.value for item in node.context}}


def _captured(
    node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]
) -> Iterator[tuple[str, nodes.Node]]:
    """Yield names bound by an alternative that occur in the expressions of the variables it uses, such as `who`."""
    bound = dict(_bound(part))
    used = {child.name for child in descendants(part) if isinstance(child, nodes.Name)} - {*choices, *bound}
    for name, value in _shown(node).items():
        for child in descendants(value) if name in used else ():
            if isinstance(child, nodes.Name) and child.name in bound:
                yield child.name, bound[child.name]


def _entangled(
    node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]
) -> Iterator[tuple[str, nodes.Node]]:
    """Yield names with a meaning both in the body of a wrap and in the body below, which is inserted into it."""
    below = next((alternative.body for alternative in node.alternatives if alternative.name == part.name), None)
    if below is None or part.body is None:
        return
    remaining = {child.name for child in below.statements if isinstance(child, nodes.Let)}
    bound = dict(_bound(below))
    free = {child.name for child in descendants(below) if isinstance(child, nodes.Name)} - set(bound)
    own = {}
    for child in descendants(part.body):
        if isinstance(child, nodes.Let | nodes.TestLet | nodes.ForEach):
            own[child.variable if isinstance(child, nodes.ForEach) else child.name] = child
    yield from ((name, at) for name, at in own.items() if name in remaining | free)
    for child in descendants(part.body):
        if isinstance(child, nodes.Name) and child.name in remaining - {*choices, *_shown(node), *dict(_bound(part))}:
            yield child.name, child


def _resolved(node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]) -> nodes.Alternative:
    """Replace `who` by the actor in an alternative, and the names of shown values by their expressions."""
    shown = _shown(node)
    own = {*choices, *dict(_bound(part))}

    def resolved(child: object) -> object:
        value = shown.get(child.name) if isinstance(child, nodes.Name) and child.name not in own else None
        return child if value is None else value

    return rewritten(part, resolved)


def _bound(part: nodes.Node) -> Iterator[tuple[str, nodes.Node]]:
    for child in descendants(part):
        if name := getattr(child, nodes.NEW_LOCALS.get(type(child), ""), ""):
            yield name, cast(nodes.Node, child)


def _is_base(node: object) -> bool:
    return isinstance(node, nodes.Perform) and isinstance(node.call, nodes.Call) and node.call.name == "base"


def _both(below: nodes.Expr | None, upper: nodes.Expr | None) -> nodes.Expr | None:
    if below is None or upper is None:
        return below or upper
    return nodes.Binary("and", below, upper, span=upper.span)


def _over(upper: nodes.Block, below: nodes.Block) -> nodes.Block:
    """Replace `base()` in a block by the statements of the block below."""

    def opened(node: object) -> object:
        if not isinstance(node, nodes.Block):
            return node
        parts = (below.statements if _is_base(child) else (child,) for child in node.statements)
        return replace(node, statements=tuple(statement for part in parts for statement in part))

    return rewritten(upper, opened)
