"""The parser of rule text: its grammar with a layout by indentation, and what texts are to it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from interpreter.base.source import Span
from interpreter.language.tables import FILE, keep_tables, kept_parser, tables_of

if TYPE_CHECKING:
    from lark import Lark, Token

__all__ = [
    "RESERVED_WORDS",
    "STARTS",
    "CrookedError",
    "MisplacedError",
    "ReservedError",
    "Start",
    "Text",
    "grammar",
    "grammar_text",
    "write_tables",
]

RESERVED_WORDS = frozenset({"yes", "no", "none", "not", "and", "or"})
"""Words of the language that are no names."""

Start = Literal[
    "function",
    "procedure",
    "verdict",
    "condition",
    "expression",
    "heard",
    "matched",
    "preferences",
    "alternatives",
    "a_type",
]
"""What a rule text can be: the rules of the grammar with which parsing starts."""

STARTS: list[str] = list(get_args(Start))


GOES_ON = frozenset(
    {"and", "or", "not", "in", "of", "otherwise", "else", "div", "mod", "+", "-", "*", "..", "=", "+=", "-=", ","}
    | {"==", "!=", "<", "<=", ">", ">="}
)
"""A line that ends with one of these goes on in the next one."""


class Text(Hashable, Protocol):
    """A piece of a file: its characters and where they stand."""

    @property
    def text(self) -> str: ...

    def span(self, start: int, end: int) -> Span: ...


class ReservedError(Exception):
    """A word of the language where a name begins."""

    def __init__(self, word: str, span: Span) -> None:
        super().__init__(word)
        self.word, self.span = word, span


class MisplacedError(Exception):
    """A construct that the grammar lets through and the builder refuses."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message, self.span = message, span


class CrookedError(Exception):
    """A line goes back to an indentation that no open block has; ``place`` is its first character that is no space."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def grammar_text() -> str:
    """The grammar as it stands in its file."""
    return files("interpreter.language").joinpath("grammar.lark").read_text(encoding="utf-8")


@cache
def grammar(*, strict: bool = False, kept: bool = True) -> Lark:
    """The parser: by the tables that are kept, where they hold. ``strict`` also proves that no two terminals collide
    (slow; a test does it).
    """
    from lark import Lark
    from lark.indenter import DedentError, Indenter

    class Layout(Indenter):
        NL_type = "_NL"
        OPEN_PAREN_types = ["LPAR", "LSQB"]  # noqa: RUF012
        CLOSE_PAREN_types = ["RPAR", "RSQB"]  # noqa: RUF012
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 8

        # NAME everywhere: a keyword is then only ever a whole word.
        always_accept = ("_NL", "NAME")

        def process(self, stream: Iterator[Token]) -> Iterator[Token]:
            yield from super().process(self._joined(stream))  # type: ignore[no-untyped-call]

        def _joined(self, stream: Iterator[Token]) -> Iterator[Token]:
            """The tokens without the ends of lines that go on."""
            goes_on = False
            for token in stream:
                if token.type != self.NL_type:
                    goes_on = token.type != "NAME" and str(token) in GOES_ON
                elif goes_on:
                    continue
                yield token

        def handle_NL(self, token: Token) -> Iterator[Token]:
            try:
                yield from super().handle_NL(token)
            except DedentError:
                raise CrookedError(token.end_pos or 0) from None

    text, layout = grammar_text(), Layout()
    found = kept_parser(text, layout) if kept and not strict else None
    if found is not None:
        return found
    made = Lark(
        text,
        parser="lalr",
        start=STARTS,
        postlex=layout,
        propagate_positions=True,
        maybe_placeholders=True,
        strict=strict,
    )
    if kept and not strict:
        keep_tables(text, made)
    return made


def write_tables() -> None:
    """Writes the parser's tables beside the grammar; a build of the package does."""
    tables = tables_of(grammar_text(), grammar(kept=False))
    Path(__file__).with_name(FILE).write_text(tables, encoding="utf-8")
