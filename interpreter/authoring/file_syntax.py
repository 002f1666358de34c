"""Checks of a single file: its schema, and the syntax of its rule texts. Names are checked in whole rulesets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import parse
from interpreter.language.grammar import Text
from interpreter.language.nodes import Node
from interpreter.language.policies import is_nothing
from interpreter.language.texts import parsed, printed
from interpreter.reading.files import Document
from interpreter.reading.yaml import Entry, Mapping, Scalar, Sequence, Value

__all__ = ["check_alone"]

Parse = Callable[[Text], tuple[Node | None, list[Diagnostic]]]

RULES: dict[str, Parse] = {
    "is": parse.parse_function,
    "does": parse.parse_procedure,
    "permits": parse.parse_verdict,
    "when": parse.parse_condition,
}
TRIGGERS: dict[str, Parse] = {"on": parse.parse_event_pattern, "does": parse.parse_procedure}
STANDING: dict[str, Parse] = {
    "for": parse.parse_match,
    "whenever": parse.parse_condition,
    "does": parse.parse_procedure,
}
TEXTS: dict[str, dict[str, Parse]] = {
    "rules": RULES,
    "triggers": TRIGGERS,
    "standing": STANDING,
    "boards": {"rows": parse.parse_match},
    "table": {"rows": parse.parse_match},
    "decisions": {"adds": parse.parse_alternatives, "wraps": parse.parse_alternatives},
    "measures": {"value": parse.parse_expression, "on": parse.parse_event_pattern, "for": parse.parse_match},
}
"""Parsers of rule texts, by section and key."""


def check_alone(document: Document) -> list[Diagnostic]:
    """Check a file against the schema of its kind, and its rule text if the schema is satisfied."""
    diagnostics = list(document.misfits)
    if diagnostics:
        return diagnostics
    root = document.root
    if document.kind == "scenarios":
        for value, parser in (*_texts(root), *_scenario_texts(root)):
            parsed(value, parser, diagnostics.append)
        if not diagnostics and "rules" in root:
            from interpreter.testing.scenarios import unused_helpers

            diagnostics.extend(unused_helpers(document))
        return diagnostics
    for value, parser in _texts(root):
        parsed(value, parser, diagnostics.append)
    for value in _printed(document):
        printed(value, diagnostics.append)
    return diagnostics


def _entries(value: Value | None) -> tuple[Entry, ...]:
    return value.entries if isinstance(value, Mapping) else ()


def _items(value: Value | None) -> tuple[Value, ...]:
    return value.items if isinstance(value, Sequence) else ()


def _below(value: Value, key: str) -> Value | None:
    return value.get(key) if isinstance(value, Mapping) else None


def _texts(root: Mapping) -> Iterator[tuple[Value | None, Parse]]:
    """Yield the rule texts of a file's sections, and of its parts and pairs, with their parsers."""
    for section, keys in TEXTS.items():
        for entry in _entries(root.get(section)):
            yield from ((_below(entry.value, key), parser) for key, parser in keys.items())
    for trigger in _entries(root.get("triggers")):
        yield from _trigger_texts(trigger.value)
    for board in _entries(root.get("boards")):
        yield from ((column.value, parse.parse_expression) for column in _entries(_below(board.value, "columns")))
    yield from _policy_texts(root)
    for part in (*_entries(root.get("parts")), *_entries(root.get("with"))):
        yield _below(part.value, "when"), parse.parse_condition
        if isinstance(part.value, Mapping):
            yield from _texts(part.value)


def _trigger_texts(trigger: Value) -> Iterator[tuple[Value | None, Parse]]:
    for case in _items(_below(trigger, "cases")):
        yield _below(case, "does"), parse.parse_procedure
    otherwise = _below(trigger, "otherwise")
    if isinstance(otherwise, Scalar) and otherwise.text != "nothing":
        yield otherwise, parse.parse_procedure


def _policy_texts(root: Mapping) -> Iterator[tuple[Value | None, Parse]]:
    policies = root.get("is") if "policies" in root and isinstance(root["policies"], Scalar) else root.get("policies")
    for policy in _entries(policies):
        for decision in _entries(policy.value):
            prefer = _below(decision.value, "prefer")
            yield prefer, parse.parse_preferences
            named = (line.value for line in _entries(prefer) if not is_nothing(line.value))
            yield from ((lines, parse.parse_preferences) for lines in named)


def _scenario_texts(root: Mapping) -> Iterator[tuple[Value | None, Parse]]:
    for scenario in _items(root.get("is")):
        yield _below(scenario, "given"), parse.parse_procedure
        yield from ((test, parse.parse_condition) for test in _items(_below(scenario, "then")))
        for key in ("sees", "hides"):
            for seat in _entries(_below(scenario, key)):
                yield from ((text, parse.parse_expression) for text in _items(seat.value))


def _printed(document: Document) -> Iterator[Value | None]:
    """Yield the printed tables: tables, cards, nodes and links."""
    root = document.root
    for table in _entries(root.get("tables")):
        yield _below(table.value, "is")
    if document.kind == "deck":
        yield from (cards.value for cards in _entries(root.get("cards")) if _is_block(cards.value))
    yield from (root.get(name) for name in ("nodes", "links") if _is_block(root.get(name)))


def _is_block(value: Value | None) -> bool:
    return isinstance(value, Scalar) and value.style == "literal"
