"""Trees of texts that end at a cursor: with a name at the cursor, and the fewest tokens behind it that complete them.

What a name may mean at the cursor can then be asked the checker: see :class:`~interpreter.language.resolve.Names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, cast

from interpreter.base.diagnostics import RefusedError
from interpreter.base.source import typed
from interpreter.language import nodes
from interpreter.language.grammar import MAXIMUM_DEPTH, DeepError, MisalignedError, Start, grammar

if TYPE_CHECKING:
    from lark import Tree
    from lark.parsers.lalr_parser_state import ParserState

__all__ = ["CURSOR", "finished"]

CURSOR = "cursor__"
"""The name at the cursor."""
MOST_STACKS, MOST_STATES = 2_000, 8 * MAXIMUM_DEPTH
"""Stacks that are tried, and states of a stack: a taller one belongs to a tree that is too deep."""
_ENDS = "$END", "_NL", "_DEDENT", "_INDENT", "COLON", "RPAR", "RSQB", "TO", "FROM", "AS", "IN", "ELSE", "BY", "COMMA"
_BEGINS = "EQUAL", "SETTLE", "REQUIRE", "NAME", "INT", "FOR", "AT", "ONCE", "TIMES"
"""Terminals that end a construct, and those that can begin the shortest one in its place."""
_WORDS = {"NAME": "name", "INT": "1"}
"""Texts of the terminals that are no fixed words."""


def finished(start: Start, text: str) -> nodes.Node | None:
    """Return the tree of a text up to a cursor, without the word that is begun there. None: no name can follow, or the
    text before has an error."""
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    from interpreter.language.transformer import Builder

    whole = text + CURSOR
    parser = grammar().parse_interactive(whole, start=start)
    last = len(whole)
    lex: Callable[[ParserState[int]], Iterator[Token]] = parser.lexer_thread.lex
    end: Callable[[], Tree[Token]] = parser.feed_eof
    try:
        for token in lex(parser.parser_state):
            parser.feed_token(token)
            if token.end_pos == last:
                break
        behind = _way_out(parser.parser_state)
        if behind is None:
            return None
        for terminal in behind:
            parser.feed_token(Token(terminal, _WORDS.get(terminal, terminal), last, 0, 0, 0, 0, last))
        return cast(nodes.Node, Builder(typed(whole)).build(end()))
    except (UnexpectedCharacters, UnexpectedToken, DeepError, MisalignedError, RefusedError):
        return None


def _way_out(state: ParserState[int]) -> list[str] | None:
    """Return the terminals that complete a text, tried from the shallowest stack of states."""
    table = state.parse_conf.parse_table.states
    order = count()
    first = tuple(state.state_stack)
    if len(first) > MOST_STATES:
        return None
    waiting: list[tuple[int, int, tuple[int, ...], list[str]]] = [(0, next(order), first, [])]
    seen = {first}
    while waiting and len(seen) < MOST_STACKS:
        _, _, stack, fed = heappop(waiting)
        for terminal in filter(table[stack[-1]].__contains__, (*_ENDS, *_BEGINS)):
            then = _after(state, stack, terminal)
            if terminal == "$END":
                if then is not None:
                    return fed
            elif then is not None and then not in seen:
                seen.add(then)
                heappush(waiting, (len(then) + 2 * len(fed), next(order), then, [*fed, terminal]))
    return None


def _after(state: ParserState[int], stack: tuple[int, ...], terminal: str) -> tuple[int, ...] | None:
    """Return the stack of states after a terminal; None if it is not accepted."""
    from lark.parsers.lalr_analysis import Shift

    table, end = state.parse_conf.parse_table.states, state.parse_conf.end_state
    while True:
        step = table[stack[-1]].get(terminal)
        if step is None:
            return None
        action, what = step
        if action is Shift:
            return (*stack, what)
        stack = stack[: len(stack) - len(what.expansion)]
        stack = (*stack, table[stack[-1]][what.origin.name][1])
        if terminal == "$END" and stack[-1] == end:
            return stack
