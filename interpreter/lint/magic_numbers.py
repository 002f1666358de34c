"""Numbers in procedures that an overlay cannot change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.types import IntType
from interpreter.language.walk import descendants
from interpreter.lint.places import Place, place_of

__all__ = ["magic_numbers"]


SMALL = 9
"""Up to here the same number may well mean something else."""


def magic_numbers(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """A number that stands in the text of a procedure: who wants another one has to repeat the procedure, and where it
    stands in several, all of them. In a rule or a table of its own it is changed at one place."""
    seen: set[Place] = set()
    places: dict[tuple[str, int], dict[str, Span]] = {}
    for ruleset in family:
        for layer in ruleset.program.reach.procedures.values():
            place = place_of(layer)
            if layer.form != "does" or place[0] not in told or place in seen:
                continue
            seen.add(place)
            for node in _amounts(layer.body):
                places.setdefault((layer.file, node.value), {}).setdefault(layer.spoken, node.span)
    for (_, number), rules in places.items():
        (first, span), *others = rules.items()
        help = "give it a name: a rule or a table, which both read" if others else "give it a name: a rule or a table"
        if others:
            message = f"{number} stands in `{first}` and in `{others[0][0]}`: an overlay cannot change it at one place"
            yield Diagnostic("L007", message, others[0][1], (Note(f"`{first}` has it here", span),), help, "warning")
        else:
            message = f"{number} stands in `{first}`: an overlay can change it only by repeating the procedure"
            yield Diagnostic("L007", message, span, (), help, "warning")


def _amounts(body: object) -> Iterator[core.Const]:
    """The large numbers of a text, but for the bounds of loops, which no rulebook prints, and for what is compared with
    one: such a number is the name of a thing."""
    nodes = list(descendants(body))
    bounds = [node.bound for node in nodes if isinstance(node, core.Repeat)]
    names = [n for n in nodes if isinstance(n, core.Comparison) and n.operator in ("==", "!=")]
    apart = {*map(id, descendants(tuple(bounds))), *(id(side) for node in names for side in (node.left, node.right))}
    return (
        node
        for node in nodes
        if isinstance(node, core.Const)
        and isinstance(node.type, IntType)
        and _large(node.value)
        and id(node) not in apart
    )


def _large(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) > SMALL
