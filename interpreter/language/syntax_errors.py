"""Syntax errors for authors: the text found, the allowed continuations, and a fix."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import joined
from interpreter.base.remedies import write
from interpreter.base.source import Excerpt, Span, depth_of
from interpreter.base.suggest import did_you_mean
from interpreter.language.grammar import MisalignedError, grammar

if TYPE_CHECKING:
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

__all__ = ["STATEMENTS", "code_of", "misread", "reserved"]

# Syntax of other languages, and its equivalent; `{}` is the text of the pattern's group.
FOREIGN: tuple[tuple[str, str], ...] = (
    (r"^ *//|/\*", "a comment begins with `#`"),
    (r"^ *def +\w+", "the head of a rule is its key: `price_of(kind, number) -> int:`"),
    (r"&&?", "write `and`"),
    (r"\|\|?", "write `or`"),
    (r"<>|!==|≠", "write `!=`"),
    (r"===", "write `==`"),
    (r"=<|≤", "write `<=`"),
    (r"=>|≥", "write `>=`"),
    (r"!", "write `not`"),
    (r"([a-z_]\w*) ?\+\+|\+\+", "write `{} += 1`"),
    (r"([a-z_]\w*) ?--|--", "write `{} -= 1`"),
    (r"([a-z_]\w*) ?\*=", "write `{0} = {0} * …`"),
    (r"([a-z_]\w*) ?/=", "write `{0} = {0} div …`"),
    (r":=", "`=` assigns"),
    (r"\*\*|\^", "multiply with `*`; there are no powers"),
    (r"//", "write `div`, which rounds down; a comment begins with `#`"),
    (r"/|÷", "write `div`, which rounds down"),
    (r"×", "write `*`"),
    (r"([0-9]+) ?% +of\b", "write `… * {} div 100`"),
    (r"%", "write `mod`"),
    (r"[0-9]+\.[0-9]+", "numbers are whole"),
    (r"'[^'\n]*'|['‘’“”„«»]", 'write a text in double quotes: `"…"`'),
    (r"\bTrue\b|\bTRUE\b", "write `yes`"),
    (r"\bFalse\b|\bFALSE\b", "write `no`"),
    (r"\bNone\b|\bNULL\b", "write `none`"),
    (r"\belse +if\b", "write `elif`"),
    (r"^ *for +(?!each\b)([a-z_]\w*)", "write `for each {}`"),
    (r";", "write each statement on a line of its own"),
    (r"[{}]", "indent a block; write a list in `[` and `]`"),
    (r"(?<= )\?(?= .*:)", "write `a if test else b`"),
)
# Help for syntax that is valid in other positions.
REMEDIES: tuple[tuple[str, str], ...] = (
    (r"^ *[a-z_]\w* +(where|if) +in\b.*", "`{}` is a keyword here; take another name for the choice"),
    (r"\(.*\b(yes|no|none|not) *:", "`{}` is a keyword; take another name"),
    (r"\breturn +\S", "use `return` only in a block, at the start of a line"),
    (r"\.([a-z_]\w*)\(", "call a rule by its name alone: `{}(…)`"),
    (r"\blet +[a-z_]\w* *==", "assign with `=`"),
    *(
        (look, f"`{word}` must be the whole value of `let`, `=`, `add`, `move` or `return`: `let {example} … as …`")
        for look, word, example in (
            (r"\bpick +from\b", "pick", "one = pick from"),
            (r"\bshuffled +[a-z_\[]", "shuffled", "order = shuffled"),
            (r"\broll +\S.* from\b", "roll", "dice = roll 5 from"),
        )
    ),
    (r"\bif\b.*\bthen\b", "a value is `a if test else b`; a block opens with `if test:`"),
    (r"^ *\([\w:., ?]*\)( *->[^:]*)?:|->", "the head of a rule is its key: `price_of(kind, number) -> int:`"),
    (r"\b(list|set|bag)[\[(<]", "write `{} of …`"),
    (r"\bmove +[0-9]+ +([a-z_]\w*)", "write `3 of {}`, or the number alone for a token without kinds"),
    (r"^ *choose +([a-z_]\w*) *:", "say who decides: `choose {} by who:`"),
    (r"^ *[a-z_]\w* +or\b", "write several alternatives on lines of their own, indented below `either:`"),
    (r"^ *(or|and|otherwise|div|mod|[*+])(?!\w).*", "end the line above with `{}`: it goes on after an operator"),
)
STATEMENTS = frozenset(
    {"add", "at", "choose", "elif", "else", "end", "for", "if", "let", "move", "note", "remove", "return", "reveal"}
    | {"settle", "shuffle", "while"}
)
OPERATORS = frozenset(
    {"+", "-", "*", "div", "mod", "a comparison", "and", "or", "not", "in", "is", "of", ".", "..", "[", "(", "if"}
    | {"otherwise"}
)
LITERALS = frozenset({"a name", "a number", "a text", "yes", "no", "none"})
OPENING_A_VALUE = LITERALS | {"(", "[", "-", "not"}
ASSIGNING = frozenset({"=", "+=", "-="})
LIKELY = (":", ")", "]", ",", "=", "a value", "a name")
UNLIKELY = ("a number", "an operator", "the end of the line", "the end of the text")
SPOKEN = {
    "_NL": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "$END": "the end of the text",
    "NAME": "a name",
    "INT": "a number",
    "TEXT": "a text",
    "CITE": "a statement id",
    "COMPARE": "a comparison",
}


def misread(text: Excerpt, error: UnexpectedCharacters | UnexpectedToken | MisalignedError) -> Diagnostic:
    """Return the diagnostic for a syntax error."""
    from lark.exceptions import UnexpectedToken

    if isinstance(error, MisalignedError):
        message = "this line is indented less than the one above it, but not as far back as any open block"
        return Diagnostic("E203", message, _rest_of_line(text, error.place))
    return _misplaced_token(text, error) if isinstance(error, UnexpectedToken) else _stray_character(text, error)


def reserved(name: str, span: Span) -> Diagnostic:
    """Return the diagnostic for a reserved name."""
    return Diagnostic("E312", f"`{name}` is a reserved name", span, help="take another name")


@cache
def _symbols() -> dict[str, str]:
    """Return the description of each terminal for authors: the word or sign itself, or a few words."""
    return {terminal.name: terminal.pattern.value for terminal in grammar().terminals} | SPOKEN


def _stray_character(text: Excerpt, error: UnexpectedCharacters) -> Diagnostic:
    """Return the diagnostic for a character that starts no token."""
    start = error.pos_in_stream or 0
    character = text.text[start : start + 1]
    foreign = _foreign(text, start)
    if foreign:
        return foreign
    if character == '"':
        return _unfinished_text(text, start)
    if character.isalpha():
        return _bad_name(text, start)
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return Diagnostic("E201", f"`{shown}` does not belong to the rule language", text.span(start, start + 1))


def _foreign(text: Excerpt, place: int) -> Diagnostic | None:
    """Return the diagnostic for syntax of another language at a position, if there is any."""
    entry = _entry(FOREIGN, text, place)
    if entry is None:
        return None
    start, piece, help = entry
    span = text.span(start, start + len(piece))
    return Diagnostic("E201", f"`{piece}` does not belong to the rule language", span, help=help)


def _entry(table: tuple[tuple[str, str], ...], text: Excerpt, place: int) -> tuple[int, str, str] | None:
    """Find the first pattern that matches around a position; return its start, the matched text and the help."""
    first, line = _line_at(text.text, place)
    for pattern, help in table:
        for match in re.finditer(pattern, code_of(line), re.ASCII):
            if first + match.start() <= place < first + match.end():
                piece = match[0].lstrip()
                group = next((group for group in match.groups() if group), "x")
                return first + match.end() - len(piece), piece, help.format(group)
    return None


def _unfinished_text(text: Excerpt, start: int) -> Diagnostic:
    line = text.text[start:].split("\n")[0]
    if "\\" in line:
        place = start + line.index("\\")
        return Diagnostic("E201", "a text cannot hold a backslash", text.span(place, place + 1))
    return Diagnostic("E201", "a text without its closing quote", text.span(start, start + len(line)))


def _bad_name(text: Excerpt, place: int) -> Diagnostic:
    """Return the diagnostic for a name with invalid letters: `Word`, `größe`."""
    match = next(match for match in re.finditer(r"\w+", text.text) if match.end() > place)
    word, span = match[0], text.span(match.start(), match.end())
    if not re.fullmatch(r"[A-Z]\w*", word, re.ASCII):
        return Diagnostic("E201", f"`{word}` is not a name: names have the letters a to z, digits and `_`", span)
    small = word.lower() if word.isupper() else word[0].lower() + word[1:]
    help = f'write `{small}`; the name of a node is a text: `"{word}"`'
    return Diagnostic("E201", f"`{word}` is not a name: names start with a lowercase letter", span, help=help)


def _misplaced_token(text: Excerpt, error: UnexpectedToken) -> Diagnostic:
    """Return the diagnostic for an unexpected token. It may be part of an operator of another language."""
    token = error.token
    if token.type == "_INDENT":
        return _needless_indentation(text, token.end_pos or 0)
    start = _end_of_code(text, token) if _is_end(token) else token.start_pos or 0
    accepted = {_symbols()[name] for name in error.accepts}
    opened = _open_bracket(text.text[:start])
    if foreign := _foreign(text, start):
        return foreign
    if token.type == "CITE" and "cites" not in accepted:
        return _bad_name(text, start)
    if token.type == "$END" and opened is not None:
        return Diagnostic("E201", f"`{text.text[opened]}` is never closed", text.span(opened, opened + 1))
    if token.type in ("RPAR", "RSQB") and opened is None:
        return Diagnostic("E201", f"`{token}` closes nothing", text.span(start, start + 1))
    if accepted >= ASSIGNING and opened is None and (diagnostic := _no_statement(text, token, start)):
        return diagnostic
    return _got_and_want(text, token, start, accepted, opened)


def _no_statement(text: Excerpt, token: Token, start: int) -> Diagnostic | None:
    """Return the diagnostic for a line that starts with a name but is neither a call nor an assignment."""
    first, line = _line_at(text.text, start)
    before = line[: start - first].strip()
    place = first + depth_of(line)
    span = text.span(place, place + len(before))
    if before in ("else", "elif"):
        help = "write it below the block of an `if`, with the same indentation"
        return Diagnostic("E201", f"`{before}` without an `if`", span, help=help)
    if before in ("break", "continue", "pass", "skip") and token.type == "_NL":
        return Diagnostic("E201", f"unknown statement `{before}`", span)
    if before == "require":
        help = "use `require` in a verdict: a rule with `permits`, which conditions can call"
        return Diagnostic("E201", "`require` does not start a statement", span, help=help)
    if re.fullmatch(r"\w{3,}", before, re.ASCII) and token.type in ("NAME", "INT", "TEXT", "COLON"):
        return Diagnostic("E201", f"`{before}` does not start a statement{did_you_mean(before, STATEMENTS)}", span)
    if token.type == "_NL":
        is_name = re.fullmatch(r"\w+", before, re.ASCII)
        help = f"call a rule with brackets: `{before}()`" if is_name else "return a value with `return`"
        return Diagnostic("E201", f"`{before}` alone is not a statement", span, help=help)
    return None


def _got_and_want(text: Excerpt, token: Token, start: int, accepted: set[str], opened: int | None) -> Diagnostic:
    """Describe the text found, the allowed continuations, and a fix if one is known."""
    got = SPOKEN[token.type] if _is_end(token) else f"`{token}`"
    span = text.span(start, start + (1 if _is_end(token) else len(token)))
    notes: tuple[Note, ...] = ()
    if opened is not None and "\n" in text.text[opened:start]:
        notes = (Note(f"this `{text.text[opened]}` is still open", text.span(opened, opened + 1)),)
    remedy = _remedy(text, token, start, accepted)
    return Diagnostic("E201", f"got {got}, want {_expected(token, accepted)}", span, notes, remedy)


def _expected(token: Token, accepted: set[str]) -> str:
    """Describe the allowed continuations briefly, the likeliest first."""
    if "require" in accepted:
        return "`require`"
    if {"let", "move"} <= accepted:
        return "a statement"
    if _is_end(token) and ":" in accepted and "=" not in accepted:
        return "`:`"
    if accepted >= ASSIGNING and "the end of the line" in accepted:
        return "the end of the line"
    if accepted >= ASSIGNING:
        return "`=`, `+=` or `-=`"
    if accepted >= LITERALS:
        accepted = accepted - OPENING_A_VALUE - {"the end of the line"} | {"a value"}
    elif len(accepted & OPERATORS) > 2:
        accepted = accepted - OPERATORS - ASSIGNING | {"an operator"}
    if "the end of the line" in accepted:
        accepted = accepted - {"the end of the text"}
    words = sorted(accepted, key=_likelihood)
    spoken = [word if " " in word else f"`{word}`" for word in words]
    if len(spoken) > 4:
        spoken = [*spoken[:3], "…"]
    return joined(spoken, "or")


def _likelihood(word: str) -> tuple[int, str]:
    if word in LIKELY:
        return LIKELY.index(word), ""
    return len(LIKELY) + (UNLIKELY.index(word) + 1 if word in UNLIKELY else 0), word


def _remedy(text: Excerpt, token: Token, start: int, accepted: set[str]) -> str | None:
    entry = _entry(REMEDIES, text, start) or _entry(REMEDIES[-1:], text, token.end_pos or 0)
    if entry:
        return entry[2]
    if token.type == "EQUAL" or (accepted >= ASSIGNING and token == "=="):
        words = "`==` compares, `=` assigns"
        return write(text.span(start, start + 1), "==", words) if token.type == "EQUAL" else words
    if "a name" in accepted and token.type != "NAME" and token.isalpha():
        return f"`{token}` is a keyword here; take another name"
    if "require" in accepted:
        return "each line of a verdict begins with `require`, or with `let`"
    if _is_end(token) and ":" in accepted and "=" not in accepted:
        return "a line that opens a block ends with `:`"
    if "an indented block" in accepted or text.text[:start].rstrip(" ").endswith(":"):
        return "indent the block below the line that opens it"
    if accepted >= ASSIGNING and "the end of the line" in accepted:
        return "write each statement on a line of its own"
    if accepted >= ASSIGNING:
        return "a statement calls a rule, assigns, or begins with a word such as `let` or `return`"
    if token.type == "COMPARE":
        return "compare two at a time: `a < b and b < c`"
    return None


# --- lines, brackets and indentation ---------------------------------------------------------------------------------


def _is_end(token: Token) -> bool:
    return token.type in ("_NL", "_DEDENT", "$END")


def _line_at(text: str, place: int) -> tuple[int, str]:
    """Return the start and the text of the line at a position."""
    first = text.rfind("\n", 0, place) + 1
    return first, text[first:].split("\n", 1)[0]


def code_of(line: str) -> str:
    """Return a line without its comment."""
    match = re.match(r'(?:"[^"]*"|[^#])*', line)
    return match[0] if match else line


def _end_of_code(text: Excerpt, token: Token) -> int:
    """Return the end of the code before the end of a line or text, without comment and trailing spaces."""
    whole = text.text.rstrip()
    place = min(token.start_pos or 0, len(whole)) if token.type == "_NL" else len(whole)
    first, line = _line_at(whole, place)
    return first + len(code_of(line).rstrip())


def _open_bracket(text: str) -> int | None:
    """Return the position of the innermost bracket that is open at the end of a text, or None."""
    places: list[int] = []
    for match in re.finditer(r'"[^"\n]*"|#[^\n]*|[()\[\]]', text):
        if match[0] in ("(", "["):
            places.append(match.start())
        elif match[0] in (")", "]") and places:
            places.pop()
    return places[-1] if places else None


def _needless_indentation(text: Excerpt, place: int) -> Diagnostic:
    message = "this line is indented deeper than the one above it, which opens no block"
    entry = _entry(REMEDIES[-1:], text, place)
    help = entry[2] if entry else "a line that opens a block ends with `:`"
    return Diagnostic("E203", message, _rest_of_line(text, place), help=help)


def _rest_of_line(text: Excerpt, place: int) -> Span:
    """Return the span of a line's code from a position, without comment."""
    first, line = _line_at(text.text, place)
    return text.span(place, max(place + 1, first + len(code_of(line).rstrip())))
