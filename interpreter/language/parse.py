"""Parsing of rule text: one function for each sort of text in a YAML value.

The input is an excerpt of a file, with positions. The output is a syntax tree, or a syntax error for authors. Names and
types are left to the checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from interpreter.base.diagnostics import Diagnostic, RefusedError
from interpreter.base.lazy import Scoped
from interpreter.base.plain_data import Value
from interpreter.base.source import Excerpt
from interpreter.language import nodes
from interpreter.language.grammar import MAXIMUM_DEPTH, DeepError, MisalignedError, Start, grammar
from interpreter.language.resolve import Texts
from interpreter.language.syntax_errors import code_of, misread

if TYPE_CHECKING:
    from lark import Token, Tree

__all__ = [
    "Trees",
    "checked_texts",
    "parse_alternatives",
    "parse_as",
    "parse_condition",
    "parse_event_pattern",
    "parse_expression",
    "parse_function",
    "parse_match",
    "parse_preferences",
    "parse_procedure",
    "parse_type",
    "parse_verdict",
    "read_once",
    "remembered",
    "remembering",
]

T = TypeVar("T")
Parse: TypeAlias = Callable[[Excerpt], tuple[T | None, list[Diagnostic]]]

MAXIMUM_LENGTH = 50_000
MAXIMUM_LINE = 2_000


def parse_as(start: Start, text: Excerpt) -> tuple[nodes.Node | None, list[Diagnostic]]:
    """Parse text with a start rule of the grammar."""
    cache = remembering.value
    if cache is None:
        return _read(start, text)
    if (start, text) not in cache:
        cache[start, text] = _read(start, text)
    tree, diagnostics = cache[start, text]
    return tree, list(diagnostics)


def _parser(start: Start) -> Callable[[Excerpt], Value]:
    return partial(parse_as, start)


parse_function: Parse[nodes.Function] = _parser("function")
"""Parses the text under `is`: an expression, or steps that return a value."""
parse_procedure: Parse[nodes.Procedure] = _parser("procedure")
"""Parses the text under `does`."""
parse_verdict: Parse[nodes.Verdict] = _parser("verdict")
"""Parses the text under `permits`."""
parse_condition: Parse[nodes.Expr] = _parser("condition")
"""Parses a condition, as under `when`."""
parse_expression: Parse[nodes.Expr] = _parser("expression")
parse_event_pattern: Parse[nodes.EventPattern] = _parser("heard")
"""Parses an event pattern, as under `on`."""
parse_match: Parse[nodes.Match] = _parser("matched")
"""Parses binders with a condition, as under `for`."""
parse_preferences: Parse[nodes.Preferences] = _parser("preferences")
"""Parses the lines of a policy for one decision."""
parse_alternatives: Parse[nodes.Alternatives] = _parser("alternatives")
"""Parses the text under `adds` and `wraps` of a decision."""
parse_head: Parse[nodes.Header] = _parser("head")
"""Parses what stands behind the name of a rule in its key."""
parse_type: Parse[nodes.Type] = _parser("a_type")


def _read(start: str, text: Excerpt) -> tuple[nodes.Node | None, list[Diagnostic]]:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from interpreter.language.transformer import Builder

    rejection = _unreadable(text)
    if rejection:
        return None, [rejection]
    try:
        return cast(nodes.Node, Builder(text).build(_tree(start, text.text.rstrip() + "\n"))), []
    except (UnexpectedCharacters, UnexpectedToken, MisalignedError) as error:
        return None, [misread(text, error)]
    except DeepError as error:
        message = f"a rule nested more than {MAXIMUM_DEPTH} levels deep"
        place = text.span(error.place, error.place + 1)
        return None, [Diagnostic("E204", message, place, help="name parts of it with `let`")]
    except RefusedError as error:
        return None, [error.diagnostic]


MOST_TREES = 8_000


class Trees(dict[tuple[str, Excerpt | str], Value]):
    """Cache of parse results, by start rule and text, and of checked texts.

    For a text with a position it holds the tree and diagnostics; for a string, Lark's tree, which does not depend on
    the position. ``of_values`` has the results for YAML values, by their identity and how they are read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.checked = Texts()
        self.of_values: dict[tuple[int, object], tuple[object, Value]] = {}

    def clear(self) -> None:
        super().clear()
        self.of_values.clear()


remembering = Scoped[Trees | None]("trees", None)


@contextmanager
def remembered(trees: Trees | None = None) -> Iterator[None]:
    """Cache parse results in ``trees`` within the context.

    Use it to check the same texts repeatedly: in several rulesets, or after each change of a file. Without ``trees``,
    the enclosing cache is used, if there is one, else a new one.
    """
    active = remembering.value if trees is None else trees
    trees = Trees() if active is None else active
    if len(trees) > MOST_TREES:
        trees.clear()
    with remembering(trees):
        yield


def read_once(value: object, read: Callable[[], T], how: object) -> T:
    """Return the result of reading a YAML value, from the cache if the same value was read in the same way."""
    trees = remembering.value
    if trees is None:
        return read()
    key = id(value), how
    if key not in trees.of_values:
        trees.of_values[key] = value, read()
    return cast("T", trees.of_values[key][1])


def checked_texts() -> Texts:
    """Return the cache of checked texts; outside of :func:`remembered`, an empty one."""
    trees = remembering.value
    return trees.checked if trees is not None else Texts()


def _tree(start: str, text: str) -> Tree[Token]:
    cache = remembering.value
    tree = cache.get((start, text)) if cache is not None else None
    if tree is None:
        tree = grammar().parse(text, start=start)
    if cache is not None:
        cache[start, text] = tree
    return cast("Tree[Token]", tree)


# --- limits ----------------------------------------------------------------------------------------------------------


def _unreadable(text: Excerpt) -> Diagnostic | None:
    """Reject text that is empty, has tabs or is long enough to exhaust a later pass, before it is parsed."""
    if len(text.text) > MAXIMUM_LENGTH:
        message = f"got a rule of {len(text.text):,} characters, want at most {MAXIMUM_LENGTH:,}"
        return Diagnostic("E204", message, text.span(0, 1))
    if all(not code_of(line).strip() for line in text.text.split("\n")):
        return Diagnostic("E201", "the rule text is empty", text.span(0, 1))
    offset = 0
    for line in text.text.split("\n"):
        if len(line) > MAXIMUM_LINE:
            place = text.span(offset + MAXIMUM_LINE, offset + MAXIMUM_LINE + 1)
            return Diagnostic("E204", f"a line of more than {MAXIMUM_LINE:,} characters", place)
        if "\t" in line:
            place = text.span(offset + line.index("\t"), offset + line.index("\t") + 1)
            return Diagnostic("E203", "a tab in rule text; indent with spaces", place)
        offset += len(line) + 1
    return None
