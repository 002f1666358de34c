"""Formatter of rule text: normalises indentation and spacing, and keeps the words of each line and comments.

The input is a text that parses. Brackets and line breaks are kept, and so are the columns of comments and ``cites`` if
there is room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interpreter.language.grammar import Start, grammar
from interpreter.reading.yaml_layout import STEP, Level, Writer

if TYPE_CHECKING:
    from lark import Token

__all__ = ["Start", "is_sign", "space_out", "tokens_of"]

_LAYOUT = ("_NL", "_INDENT", "_DEDENT")
_OPERANDS = ("NAME", "INT", "TEXT", "RPAR", "RSQB", "YES", "NO", "NONE")
_CLOSING = re.compile(r"[)\]](?: *[)\]])*")
_COMMENT = re.compile(r'"[^"\n]*"|#[^\n]*')


def space_out(text: str, start: Start) -> str:
    """Return the formatted text, with the same tokens, blocks and comments."""
    tokens = tokens_of(text, start)
    written = _RuleWriter(text, tokens=tokens, start=start).written()
    if written.rstrip() != text.rstrip():
        same = _content(written, tokens_of(written, start)) == _content(text, tokens)
        assert same, f"formatting changed the text: {text!r}"
    return written


def tokens_of(text: str, start: Start) -> list[Token]:
    """Return all tokens of a text, including those of indentation and line breaks."""
    parser = grammar().parse_interactive(text.rstrip() + "\n", start=start)
    return list(parser.iter_parse())


def is_sign(tokens: Sequence[Token]) -> bool:
    """Return whether the last token is a minus that is the unary operator."""
    return tokens[-1] == "-" and (len(tokens) == 1 or tokens[-2].type not in _OPERANDS)


def _content(text: str, tokens: list[Token]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the tokens and comments of a text, without its layout."""
    words = [(token.type, "" if token.type in _LAYOUT else str(token)) for token in tokens]
    if words[:1] == [("_NL", "")]:  # blank lines at the start
        words = words[1:]
    return words, [match.rstrip() for match in _COMMENT.findall(text) if match.startswith("#")]


@dataclass(slots=True)
class _RuleWriter(Writer):
    """Writes the tokens of a rule text."""

    tokens: list[Token] = field(kw_only=True)
    start: Start = field(kw_only=True)
    depth: int = 0
    before: list[Token] = field(default_factory=list)
    ended: bool = True  # a logical line ends before the next token
    continued: bool = False  # this logical line continued on the next line without a bracket

    def written(self) -> str:
        for token in self.tokens:
            if token.type == "_INDENT":
                self.depth += 1
            elif token.type == "_DEDENT":
                self.depth -= 1
            elif token.type == "_NL":
                self.ended, self.continued = True, False
            else:
                self._token(token)
        self._between(len(self.text), None)
        return "\n".join([*self.lines, self.line.rstrip()]).rstrip("\n")

    def _token(self, token: Token) -> None:
        if token.type in ("RPAR", "RSQB"):
            self.brackets.pop()
        start = token.start_pos or 0
        self._between(start, token)
        self.line += token
        if token.type in ("LPAR", "LSQB"):
            self.brackets.append(len(self.lines))
        self.before.append(token)
        self.end, self.ended = start + len(token), False

    # -- lines

    def _between(self, start: int, token: Token | None) -> None:
        """Write spaces, line breaks and comments up to the next token, or to the end of the text."""
        _, *lines = self.gap(start, begun=bool(self.before))
        if token is not None and not lines:
            self._spaces(token)
            return
        if self.before:
            self.flush()
        read, column = self._columns(start, token)
        blank = self.comments(lines if token is None else lines[:-1], read, column)
        if token is not None:
            self.blank_line(blank)
            self.line, self.shift = " " * column, column - read
            if not self.brackets and not self.continued and token.type not in ("RPAR", "RSQB"):
                self.levels = [level for level in self.levels if level.written < column] + [Level(read, column)]

    def _columns(self, start: int, token: Token | None) -> tuple[int, int]:
        """Return the input and output column of the first token of a line.

        The output column is that of the block; within brackets one step more for each line with an open bracket, and
        two steps more on a continuation line.
        """
        if token is None:
            return -1, self.levels[0].written if self.levels else 0
        closed = _CLOSING.match(self.text, start)  # the first of them is already popped
        brackets = self.brackets[: -sum(char in ")]" for char in closed[0]) + 1 or None] if closed else self.brackets
        self.continued |= not (self.ended or self.brackets or closed)
        return self.column(start), STEP * (self.depth + len(set(brackets)) + 2 * self.continued)

    # -- spaces

    def _spaces(self, token: Token) -> None:
        if token.type == "CITES":
            column = self.column(token.start_pos or 0) + self.shift
            self.line = self.line.ljust(max(len(self.line) + 1, column))
        elif self._is_separated(token):
            self.line += " "

    def _is_separated(self, token: Token) -> bool:
        """Return whether a space belongs before a token on the same line."""
        last, sign = self.before[-1], str(token)
        if sign in (",", ")", "]", ":", "?", ".") or last in ("(", "[", ".") or is_sign(self.before[-2:]):
            return False
        if sign == "(":
            return last.type != "NAME"
        if sign == "[":
            return last.type not in _OPERANDS
        return not (".." in (sign, last) and self._in_type())

    def _in_type(self) -> bool:
        """Return whether `1..3` is a type here: after the `:` of a local."""
        words = [str(token) for token in self.before]
        while words and words[-1] not in (":", "="):
            words.pop()
        return self.start == "a_type" or (words[-1:] == [":"] and words[-3:-2] == ["let"])
