"""Parser of rule text: a grammar with indentation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from interpreter.language.tables import FILE, cache_tables, cached_parser, tables_of
from interpreter.sections.starts import Start

if TYPE_CHECKING:
    from lark import Lark, Token

__all__ = [
    "MAXIMUM_DEPTH",
    "RESERVED_WORDS",
    "STARTS",
    "DeepError",
    "MisalignedError",
    "Start",
    "grammar",
    "grammar_text",
    "write_tables",
]

RESERVED_WORDS = frozenset({"yes", "no", "none", "not", "and", "or"})
"""Words that cannot be names."""

STARTS: list[str] = list(get_args(Start))


CONTINUATIONS = frozenset(
    {"and", "or", "not", "in", "of", "otherwise", "else", "div", "mod", "+", "-", "*", "..", "=", "+=", "-=", ","}
    | {"==", "!=", "<", "<=", ">", ">="}
)
"""Tokens that continue a line: the line break after them is ignored."""


MAXIMUM_DEPTH = 150


class DeepError(Exception):
    """Raised for a tree that is deeper than later passes can traverse. The parser itself does not recurse. It stops at
    once, because to free a tree of thousands of levels exhausts the stack of a browser. ``place`` is where it begins.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class MisalignedError(Exception):
    """Raised for a dedent to a column that no open block has. ``place`` is where its code begins."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def grammar_text() -> str:
    """Return the text of the grammar file."""
    return files("interpreter.language").joinpath("grammar.lark").read_text(encoding="utf-8")


@cache
def grammar(*, strict: bool = False, cached: bool = True) -> Lark:
    """Return the parser, from cached tables if they are valid. ``strict`` also proves that no two terminals collide; it
    is slow and meant for tests."""
    from lark import Lark, Token, Tree
    from lark.indenter import DedentError, Indenter

    class Bounded(Tree[Token]):
        """Tree that knows its height, at most :data:`MAXIMUM_DEPTH`."""

        def __init__(self, data: str, children: list[Token | Tree[Token] | None]) -> None:
            super().__init__(data, children)  # type: ignore[arg-type]
            trees = [child for child in children if isinstance(child, Bounded)]
            self.height: int = 1 + max([child.height for child in trees], default=0)
            if self.height > MAXIMUM_DEPTH:
                first = next(child for child in trees if child.height == MAXIMUM_DEPTH)
                raise DeepError(0 if first.meta.empty else first.meta.start_pos)

    class Layout(Indenter):
        NL_type = "_NL"
        OPEN_PAREN_types = ["LPAR", "LSQB"]  # noqa: RUF012
        CLOSE_PAREN_types = ["RPAR", "RSQB"]  # noqa: RUF012
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 8

        # NAME is accepted everywhere, so that a keyword is always a whole word.
        always_accept = ("_NL", "NAME")

        def process(self, stream: Iterator[Token]) -> Iterator[Token]:
            """Take each text on its own, since several threads may parse at the same time."""
            own = Layout()
            yield from Indenter.process(own, own._joined(stream))  # type: ignore[no-untyped-call]

        def _joined(self, stream: Iterator[Token]) -> Iterator[Token]:
            """Drop the line breaks after tokens that continue a line."""
            continues = False
            for token in stream:
                if token.type != self.NL_type:
                    continues = token.type != "NAME" and str(token) in CONTINUATIONS
                elif continues:
                    continue
                yield token

        def handle_NL(self, token: Token) -> Iterator[Token]:
            try:
                yield from super().handle_NL(token)
            except DedentError:
                raise MisalignedError(token.end_pos or 0) from None

    text, layout = grammar_text(), Layout()
    parser = cached_parser(text, layout, Bounded) if cached and not strict else None
    if parser is not None:
        return parser
    parser = Lark(
        text,
        parser="lalr",
        start=STARTS,
        postlex=layout,
        tree_class=Bounded,
        propagate_positions=True,
        maybe_placeholders=True,
        strict=strict,
    )
    if cached and not strict:
        cache_tables(text, parser)
    return parser


def write_tables() -> None:
    """Write the parser tables beside the grammar, as part of building the package."""
    tables = tables_of(grammar_text(), grammar(cached=False))
    Path(__file__).with_name(FILE).write_text(tables, encoding="utf-8")
