"""The layout of rule text: the same words in the same lines, with comments, each line indented and spaced as it should.

What comes in is a text that parses. Brackets and line breaks are the author's and stay; the columns of comments and of
``cites`` stay too, as long as they leave room. ``format.py`` prints trees instead and knows no comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interpreter.language.grammar import Start, grammar
from interpreter.reading.yaml_layout import STEP, comment_column

if TYPE_CHECKING:
    from lark import Token

__all__ = ["OPERANDS", "Start", "space_out", "tokens_of"]

_LAYOUT = ("_NL", "_INDENT", "_DEDENT")
OPERANDS = ("NAME", "INT", "TEXT", "RPAR", "RSQB", "YES", "NO", "NONE")
_CLOSING = re.compile(r"[)\]](?: *[)\]])*")
_COMMENT = re.compile(r'"[^"\n]*"|#[^\n]*')


def space_out(text: str, start: Start) -> str:
    """The text, laid out; it has the same tokens, blocks and comments."""
    written = _Writer(text, tokens_of(text, start), start).written()
    assert _said(written, start) == _said(text, start), f"laid out, the text says something else: {text!r}"
    return written


def tokens_of(text: str, start: Start) -> list[Token]:
    """All tokens as the grammar sees them, blocks and ends of lines among them."""
    parser = grammar().parse_interactive(text.rstrip() + "\n", start=start)
    return list(parser.iter_parse())


def _said(text: str, start: Start) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the tokens and comments of a text, without its layout."""
    tokens = [(token.type, "" if token.type in _LAYOUT else str(token)) for token in tokens_of(text, start)]
    if tokens[:1] == [("_NL", "")]:  # blank lines at the start say nothing
        tokens = tokens[1:]
    return tokens, [found.rstrip() for found in _COMMENT.findall(text) if found.startswith("#")]


@dataclass(slots=True)
class _Level:
    """A block: its column as found and as written."""

    found: int
    written: int


@dataclass(slots=True)
class _Writer:
    text: str
    tokens: list[Token]
    start: Start
    lines: list[str] = field(default_factory=list)
    line: str = ""
    shift: int = 0  # by how much the line moved to the right
    levels: list[_Level] = field(default_factory=list)
    depth: int = 0
    brackets: list[int] = field(default_factory=list)  # of each that is open, the line on which it was opened
    before: list[Token] = field(default_factory=list)
    end: int = 0
    ended: bool = True  # whether a line of the grammar ends before the next token
    goes_on: bool = False  # whether this one went on in the next line without a bracket

    def written(self) -> str:
        for token in self.tokens:
            if token.type == "_INDENT":
                self.depth += 1
            elif token.type == "_DEDENT":
                self.depth -= 1
            elif token.type == "_NL":
                self.ended, self.goes_on = True, False
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
        """Writes blanks, line breaks and comments up to the next token, or to the end of the text."""
        first, *others = self.text[self.end : start].split("\n")
        if not self.before:
            first, others = "", [first, *others]
        if token is not None and not others:
            self._blanks(token)
            return
        if comment := first.strip():
            column = self._column(self.end + first.index("#")) + self.shift
            self.line = self.line.ljust(comment_column(self.line, column)) + comment
        if self.before:
            self.lines.append(self.line.rstrip())
            self.line = ""
        found, column = self._place(start, token)
        blank = False
        for other in others if token is None else others[:-1]:
            if comment := other.strip():
                self._blank(blank)
                at = self._comment(len(other) - len(other.lstrip()), found, column)
                self.lines.append(" " * at + comment)
            blank = not comment
        if token is not None:
            self._blank(blank)
            self.line, self.shift = " " * column, column - found
            if not self.brackets and not self.goes_on and token.type not in ("RPAR", "RSQB"):
                self.levels = [level for level in self.levels if level.written < column] + [_Level(found, column)]

    def _place(self, start: int, token: Token | None) -> tuple[int, int]:
        """The column of a token that begins a line, as found and as written: by its block, or within brackets a step
        for each line with a bracket that is still open, and two steps more where the line before went on."""
        if token is None:
            return -1, self.levels[0].written if self.levels else 0
        closed = _CLOSING.match(self.text, start)  # the first of them is off the list already
        brackets = self.brackets[: -sum(char in ")]" for char in closed[0]) + 1 or None] if closed else self.brackets
        self.goes_on |= not (self.ended or self.brackets or closed)
        return self._column(start), STEP * (self.depth + len(set(brackets)) + 2 * self.goes_on)

    def _comment(self, found: int, next_found: int, next_column: int) -> int:
        """The column of a comment on a line of its own: that of what follows, or of a block that goes on or ends here,
        if it stood at its column."""
        if found != next_found and not self.brackets:
            for level in self.levels:
                if level.found == found:
                    return level.written
        return next_column

    def _blank(self, wanted: bool) -> None:
        if wanted and self.lines and self.lines[-1]:
            self.lines.append("")

    def _column(self, index: int) -> int:
        return index - self.text.rfind("\n", 0, index) - 1

    # -- blanks

    def _blanks(self, token: Token) -> None:
        if token.type == "CITES":
            column = self._column(token.start_pos or 0) + self.shift
            self.line = self.line.ljust(max(len(self.line) + 1, column))
        elif self._parted(token):
            self.line += " "

    def _parted(self, token: Token) -> bool:
        """Return whether a blank stands before a token on the same line."""
        last, sign = self.before[-1], str(token)
        if sign in (",", ")", "]", ":", "?", ".") or last in ("(", "[", ".") or self._is_sign(last):
            return False
        if sign == "(":
            return last.type != "NAME"
        if sign == "[":
            return last.type not in OPERANDS
        return not (".." in (sign, last) and self._in_type())

    def _is_sign(self, last: Token) -> bool:
        """Return whether a minus says that a number is negative, not that it is taken away."""
        return last == "-" and (len(self.before) == 1 or self.before[-2].type not in OPERANDS)

    def _in_type(self) -> bool:
        """Return whether `1..3` is written here as a type: after the `:` of a parameter or local, after `->`."""
        words = [str(token) for token in self.before]
        while words and words[-1] not in (":", "->", "(", ","):
            words.pop()
        if self.start == "a_type" or (words and words[-1] == "->"):
            return True
        return bool(words) and words[-1] == ":" and (bool(self.brackets) or words[-3:-2] == ["let"])
