"""Style checks: magic numbers, shadowed names, long lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import IntType
from interpreter.language.walk import descendants
from interpreter.reading.files import Document
from interpreter.reading.yaml_layout import WIDTH

__all__ = ["long_lines", "numbers", "shadows"]

SMALL = 9
"""Up to here the same number may well mean something else."""


def numbers(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """A number that stands in the text of a procedure: who wants another one has to repeat the procedure, and where it
    stands in several, all of them. In a rule or a table of its own it is changed at one place."""
    seen: set[tuple[str, int]] = set()
    places: dict[tuple[str, int], dict[str, Span]] = {}
    for ruleset in family:
        for layer in ruleset.program.reach.procedures.values():
            place = layer.span.file.name, layer.span.start
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


def shadows(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Locals and parameters that are called like something that the same text could mean: a rule, a table, a value of
    the state, a setting. (A kind is no such thing: ``pad: pad`` is how one speaks.)"""
    seen: set[tuple[str, int]] = set()
    for ruleset in family:
        taken = _taken(ruleset.model)
        checks = {setting.check: setting.name for setting in ruleset.model.settings.values()}
        for layer in ruleset.program.reach.procedures.values():
            place = layer.span.file.name, layer.span.start
            if place[0] not in told or place in seen or "/" in layer.rule:  # a kept block has the locals of its rule
                continue
            seen.add(place)
            for name in dict.fromkeys(layer.local_names):
                if name in taken and checks.get(layer.rule) != name:  # what is to become of a setting may be called so
                    message = f"in `{layer.spoken}` the local `{name}` shadows the {taken[name]} of that name"
                    yield Diagnostic("L009", message, layer.span, help="give it another name", severity="warning")


def _taken(model: Model) -> dict[str, str]:
    kinds = {*model.kinds, *model.card_kinds, *model.pieces}
    return {
        name: what
        for names, what in (
            ((group.name for group in model.groups.values() if group.owner == "" and group.file), "value of the game"),
            (model.settings, "setting"),
            (model.tables, "table"),
            (model.rules, "rule"),
        )
        for name in names
        if name not in kinds
    }


def long_lines(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Lines of rule text with more columns than others see without moving the text."""
    documents = {each.file.name: each for ruleset in family for each in ruleset.composition.documents}
    for name, document in documents.items():
        if name not in told or max(map(len, document.file.text.split("\n"))) <= WIDTH:
            continue
        for span in _texts(document):
            if (columns := span.column + len(span.text) - 1) > WIDTH:
                message = f"a line of rule text has {columns} columns, more than {WIDTH}"
                help = "`regelwerk fmt` breaks lines of a block (`|`); a comment may stand on a line of its own"
                yield Diagnostic("L012", message, span, help=help, severity="warning")


def _texts(document: Document) -> Iterator[Span]:
    """The lines of all rule texts of a file."""
    from interpreter.language.file_layout import rule_texts

    for scalar, _ in rule_texts(document):
        yield from _lines(scalar.span)


def _lines(span: Span) -> Iterator[Span]:
    """Return the text of each line of a piece of a file, without indentation."""
    start = span.start
    for line in span.text.split("\n"):
        yield Span(span.file, start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        start += len(line) + 1
