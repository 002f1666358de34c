"""Decisions that other files change: alternatives that are added to them, and more that is said of those they have.

What comes in is the tree of a procedure as its file has it; what goes out is the tree with all alternatives, which the
checker then reads like any other. Names that are added mean the actor and what the decision shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import nodes
from interpreter.language.parse import parse_alternatives
from interpreter.language.texts import Report, parsed
from interpreter.language.walk import descendants, rewritten
from interpreter.reading.compose import Composition, Entry

__all__ = ["Decisions"]


class Decisions:
    """Amendments of decisions by name, lowest file first."""

    def __init__(self, composition: Composition, report: Report) -> None:
        self.entries = composition.sections.get("decisions", {})
        self.report = report
        self.asked: set[str] = set()
        self.refused: set[tuple[str, Span]] = set()
        self.parts = {
            name: [
                (how, alternative)
                for entry in entries
                for how in ("adds", "wraps")
                for alternative in _alternatives(entry, how, report)
            ]
            for name, entries in self.entries.items()
        }

    def widened(self, tree: nodes.Procedure) -> nodes.Procedure:
        """A procedure whose decisions have all their alternatives."""
        asked = [node.name for node in descendants(tree) if isinstance(node, nodes.Choose)]
        self.asked.update(asked)
        return rewritten(tree, self._node) if any(self.parts.get(name) for name in asked) else tree

    def check_asked(self) -> None:
        """Every decision that files speak of is one that a rule asks."""
        for name, entries in self.entries.items():
            if name not in self.asked:
                near = did_you_mean(name, self.asked)
                self.report(Diagnostic("E301", f"unknown decision `{name}`{near}", entries[0].span))

    def _node(self, node: object) -> object:
        if not isinstance(node, nodes.Choose):
            return node
        for how, part in self.parts.get(node.name, ()):
            choices = () if how == "adds" else _choices(node, part.name)
            mixed = [*_captured(node, part, choices), *(_entangled(node, part, choices) if how == "wraps" else ())]
            for name, at in mixed:
                remedy = "it is not known here" if isinstance(at, nodes.Name) else f"take another name for `{name}`"
                self._error("E501", f"`{name}` is a local of the rule that asks `{node.name}`", at, help=remedy)
            named = _known(node, part, choices)
            if how == "adds":
                node = replace(node, alternatives=(*node.alternatives, named))
            else:
                node = self._wrapped(node, named)
        return node

    def _wrapped(self, node: nodes.Choose, upper: nodes.Alternative) -> nodes.Choose:
        below = next((each for each in node.alternatives if each.name == upper.name), None)
        if below is None:
            known = [each.name for each in node.alternatives]
            note = Note(f"it has {', '.join(f'`{name}`' for name in known)}")
            message = f"unknown alternative `{upper.name}` of `{node.name}`{did_you_mean(upper.name, known)}"
            self._error("E301", message, upper, (note,))
            return node
        if upper.binders:
            self._error("E511", f"`{upper.name}` has its choices already: they stand under their names here", upper)
        if upper.body is not None and below.body is None:
            self._error("E507", f"`{upper.name}` only ends the decision: it can have conditions here, no body", upper)
            return node
        if upper.body is not None and not any(map(_is_base, descendants(upper.body))):
            remedy = "an alternative that must not be there has `if no`"
            self._error("E507", f"`{upper.name}` is wrapped, but `base()` is never called", upper, help=remedy)
        both = replace(
            below,
            test=_both(below.test, upper.test),
            guard=_both(below.guard, upper.guard),
            cites=tuple(dict.fromkeys((*below.cites, *upper.cites))),
            body=below.body if upper.body is None or below.body is None else _over(upper.body, below.body),
        )
        return replace(node, alternatives=tuple(both if each is below else each for each in node.alternatives))

    def _error(
        self, code: str, message: str, at: nodes.Node, notes: tuple[Note, ...] = (), help: str | None = None
    ) -> None:
        if (code, at.span) not in self.refused:  # a decision may be asked in several places
            self.refused.add((code, at.span))
            self.report(Diagnostic(code, message, at.span, notes, help))


def _alternatives(entry: Entry, how: str, report: Report) -> tuple[nodes.Alternative, ...]:
    tree = parsed(entry.get(how), parse_alternatives, report)
    return tree.alternatives if tree is not None else ()


def _choices(node: nodes.Choose, name: str) -> tuple[str, ...]:
    return tuple(b.name for each in node.alternatives if each.name == name for b in each.binders)


def _shown(node: nodes.Choose) -> dict[str, nodes.Expr]:
    """Return the variables that a decision offers to its amendments."""
    actor = nodes.Name(node.each, span=node.seat.span) if node.each else node.seat  # of those who choose at once, each
    return {"who": actor, **{item.name: item.value for item in node.context}}


def _captured(
    node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]
) -> Iterator[tuple[str, nodes.Node]]:
    """Names that an alternative gives to something of its own, and which stand in what its `who` and the like mean."""
    bound = dict(_bound(part))
    used = {each.name for each in descendants(part) if isinstance(each, nodes.Name)} - {*choices, *bound}
    for name, value in _shown(node).items():
        for each in descendants(value) if name in used else ():
            if isinstance(each, nodes.Name) and each.name in bound:
                yield each.name, bound[each.name]


def _entangled(
    node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]
) -> Iterator[tuple[str, nodes.Node]]:
    """Names that the body of a wrap and the body below it, which stands in it, would both give a meaning."""
    below = next((each.body for each in node.alternatives if each.name == part.name), None)
    if below is None or part.body is None:
        return
    left = {each.name for each in below.statements if isinstance(each, nodes.Let | nodes.Roll)}
    bound = dict(_bound(below))
    free = {each.name for each in descendants(below) if isinstance(each, nodes.Name)} - set(bound)
    own = {}
    for each in descendants(part.body):
        if isinstance(each, nodes.Let | nodes.Roll | nodes.TestLet | nodes.ForEach):
            own[each.variable if isinstance(each, nodes.ForEach) else each.name] = each
    yield from ((name, at) for name, at in own.items() if name in left | free)
    for each in descendants(part.body):
        if isinstance(each, nodes.Name) and each.name in left - {*choices, *_shown(node), *dict(_bound(part))}:
            yield each.name, each


def _known(node: nodes.Choose, part: nodes.Alternative, choices: tuple[str, ...]) -> nodes.Alternative:
    """An alternative in which `who` is the actor, and what the decision shows has its names."""
    shown = _shown(node)
    own = {*choices, *dict(_bound(part))}

    def known(each: object) -> object:
        value = shown.get(each.name) if isinstance(each, nodes.Name) and each.name not in own else None
        return each if value is None else value

    return rewritten(part, known)


def _bound(part: nodes.Node) -> Iterator[tuple[str, nodes.Node]]:
    for each in descendants(part):
        if isinstance(each, nodes.Binder | nodes.Let | nodes.TestLet | nodes.Roll):
            yield each.name, each
        elif (
            isinstance(each, nodes.ForEach | nodes.Aggregate | nodes.ListFilter | nodes.ListComprehension)
            and each.variable
        ):
            yield each.variable, each


def _is_base(node: object) -> bool:
    return isinstance(node, nodes.Perform) and isinstance(node.call, nodes.Call) and node.call.name == "base"


def _both(below: nodes.Expr | None, upper: nodes.Expr | None) -> nodes.Expr | None:
    if below is None or upper is None:
        return below or upper
    return nodes.Binary("and", below, upper, span=upper.span)


def _over(upper: nodes.Block, below: nodes.Block) -> nodes.Block:
    """A block with the statements of the one below where it says `base()`."""

    def opened(node: object) -> object:
        if not isinstance(node, nodes.Block):
            return node
        parts = (below.statements if _is_base(each) else (each,) for each in node.statements)
        return replace(node, statements=tuple(statement for part in parts for statement in part))

    return rewritten(upper, opened)
