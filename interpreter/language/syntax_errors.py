"""Syntax errors in the author's words: what stands there, what could, and what those mean who write it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language.grammar import CrookedError, Text, grammar

if TYPE_CHECKING:
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

__all__ = ["STATEMENTS", "code_of", "misread", "reserved"]

# What authors bring along from elsewhere, and what it is here; `{}` is what a group of the pattern has found.
FOREIGN: tuple[tuple[str, str], ...] = (
    (r"^ *//|/\*", "a comment begins with `#`"),
    (r"^ *def +\w+", "a rule's name is its key; its text opens with `(name: type) -> type:`"),
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
    (r"%", "write `mod`"),
    (r"[0-9]+\.[0-9]+", "numbers are whole"),
    (r"'[^'\n]*'|['‘’“”„«»]", 'a text stands between double quotes: `"…"`'),
    (r"\bTrue\b|\bTRUE\b", "write `yes`"),
    (r"\bFalse\b|\bFALSE\b", "write `no`"),
    (r"\bNone\b|\bNULL\b", "write `none`"),
    (r"\belse +if\b", "write `elif`"),
    (r"^ *for +(?!each\b)([a-z_]\w*)", "write `for each {}`"),
    (r";", "each statement stands on a line of its own"),
    (r"[{}]", "a block is indented, a list stands between `[` and `]`"),
    (r"(?<= )\?(?= .*:)", "write `a if test else b`"),
)
# Remedies for what could stand elsewhere.
REMEDIES: tuple[tuple[str, str], ...] = (
    (r"^ *[a-z_]\w* +(where|if) +in\b.*", "`{}` has a meaning of its own here; take another name for the choice"),
    (r"\(.*\b(yes|no|none|not) *:", "`{}` has a meaning of its own; take another name"),
    (r"\breturn +\S", "`return` stands only in a block, at the start of a line"),
    (r"\.([a-z_]\w*)\(", "a rule is called by its name alone: `{}(…)`"),
    (r"\blet +[a-z_]\w* *==", "`=` gives a name its value"),
    (r"\bpick +from\b", "`pick` is all that `let`, `=`, `add`, `move` or `return` takes: `let one = pick from … as …`"),
    (
        r"\bshuffled +[a-z_\[]",
        "`shuffled` is all that `let`, `=`, `add`, `move` or `return` takes: `let order = shuffled … as …`",
    ),
    (r"\broll +\S.* from\b", "`roll` stands behind a new name: `let dice = roll 5 from …`"),
    (r"->", "each parameter has a type: `(name: type) -> type:`"),
    (r"\b(list|set|bag)[\[(<]", "write `{} of …`"),
    (r"\bmove +[0-9]+ +([a-z_]\w*)", "of a kind: `3 of {}`; a token without kinds: the number alone"),
    (r"^ *choose +([a-z_]\w*) *:", "say who decides: `choose {} by who:`"),
    (r"^ *[a-z_]\w* +or\b", "several alternatives stand on lines of their own, indented below `either:`"),
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


def misread(text: Text, error: UnexpectedCharacters | UnexpectedToken | CrookedError) -> Diagnostic:
    """Return the diagnostic for a syntax error, in the author's words."""
    from lark.exceptions import UnexpectedToken

    if isinstance(error, CrookedError):
        return _bad_indentation(text, error.place)
    return _misplaced_token(text, error) if isinstance(error, UnexpectedToken) else _stray_character(text, error)


def reserved(name: str, span: Span) -> Diagnostic:
    """A name that the language has taken."""
    return Diagnostic("E312", f"`{name}` is a reserved name", span, help="take another name")


@cache
def _symbols() -> dict[str, str]:
    """Return the description of each terminal for authors: the word or sign itself, or a few words."""
    return {terminal.name: terminal.pattern.value for terminal in grammar().terminals} | SPOKEN


def _stray_character(text: Text, error: UnexpectedCharacters) -> Diagnostic:
    """A character with which nothing begins that could stand there."""
    start = error.pos_in_stream or 0
    found = text.text[start : start + 1]
    foreign = _foreign(text, start)
    if foreign:
        return foreign
    if found == '"':
        return _unfinished_text(text, start)
    if found.isalpha():
        return _bad_name(text, start)
    shown = found if found.isprintable() else f"U+{ord(found):04X}"
    return Diagnostic("E201", f"`{shown}` does not belong to the rule language", text.span(start, start + 1))


def _foreign(text: Text, place: int) -> Diagnostic | None:
    """The error for a piece of another language that covers a place."""
    found = _entry(FOREIGN, text, place)
    if found is None:
        return None
    start, piece, helped = found
    span = text.span(start, start + len(piece))
    return Diagnostic("E201", f"`{piece}` does not belong to the rule language", span, help=helped)


def _entry(table: tuple[tuple[str, str], ...], text: Text, place: int) -> tuple[int, str, str] | None:
    """The first entry of a table that covers a place: where it starts, what stands there, and the remedy."""
    first, line = _line_at(text.text, place)
    for pattern, helped in table:
        for match in re.finditer(pattern, code_of(line), re.ASCII):
            if first + match.start() <= place < first + match.end():
                piece = match[0].lstrip()
                group = next((group for group in match.groups() if group), "x")
                return first + match.end() - len(piece), piece, helped.format(group)
    return None


def _unfinished_text(text: Text, start: int) -> Diagnostic:
    line = text.text[start:].split("\n")[0]
    if "\\" in line:
        place = start + line.index("\\")
        return Diagnostic("E201", "a text cannot hold a backslash", text.span(place, place + 1))
    return Diagnostic("E201", "a text that does not end on its line", text.span(start, start + len(line)))


def _bad_name(text: Text, place: int) -> Diagnostic:
    """A name with letters that names cannot have: `Word`, `größe`."""
    match = next(match for match in re.finditer(r"\w+", text.text) if match.end() > place)
    word, span = match[0], text.span(match.start(), match.end())
    if not re.fullmatch(r"[A-Z]\w*", word, re.ASCII):
        return Diagnostic("E201", f"`{word}` is no name: names have the letters a to z, digits and `_`", span)
    small = word.lower() if word.isupper() else word[0].lower() + word[1:]
    helped = f'write `{small}`; the name of a node is a text: `"{word}"`'
    return Diagnostic("E201", f"`{word}` is no name: names begin with a small letter", span, help=helped)


def _misplaced_token(text: Text, error: UnexpectedToken) -> Diagnostic:
    """Something that stands elsewhere, or another language's sign that begins like one of ours."""
    token = error.token
    if token.type == "_INDENT":
        return _needless_indentation(text, token.end_pos or 0)
    start = _end_ofcode_of(text, token) if _is_end(token) else token.start_pos or 0
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
    if accepted >= ASSIGNING and opened is None and (refused := _no_statement(text, token, start)):
        return refused
    return _got_and_want(text, token, start, accepted, opened)


def _no_statement(text: Text, token: Token, start: int) -> Diagnostic | None:
    """A line that begins like a call or an assignment and is neither."""
    first, line = _line_at(text.text, start)
    before = line[: start - first].strip()
    place = first + len(line) - len(line.lstrip(" "))
    span = text.span(place, place + len(before))
    if before in ("else", "elif"):
        helped = "it stands right below the block of an `if`, indented as that `if`"
        return Diagnostic("E201", f"`{before}` without an `if`", span, help=helped)
    if before in ("break", "continue", "pass", "skip") and token.type == "_NL":
        return Diagnostic("E201", f"there is no statement `{before}`", span)
    if before == "require":
        helped = "`require` stands in a verdict: a rule with `permits`, which a condition calls by its name"
        return Diagnostic("E201", "`require` does not start a statement", span, help=helped)
    if re.fullmatch(r"\w{3,}", before, re.ASCII) and token.type in ("NAME", "INT", "TEXT", "COLON"):
        return Diagnostic("E201", f"`{before}` does not start a statement{did_you_mean(before, STATEMENTS)}", span)
    if token.type == "_NL":
        is_name = re.fullmatch(r"\w+", before, re.ASCII)
        helped = f"call a rule with brackets: `{before}()`" if is_name else "`return` gives a value back"
        return Diagnostic("E201", f"`{before}` alone is no statement", span, help=helped)
    return None


def _got_and_want(text: Text, token: Token, start: int, accepted: set[str], opened: int | None) -> Diagnostic:
    """Describe the text found, the allowed continuations, and a fix if one is known."""
    found = SPOKEN[token.type] if _is_end(token) else f"`{token}`"
    span = text.span(start, start + (1 if _is_end(token) else len(token)))
    notes: tuple[Note, ...] = ()
    if opened is not None and "\n" in text.text[opened:start]:
        notes = (Note(f"this `{text.text[opened]}` is still open", text.span(opened, opened + 1)),)
    remedy = _remedy(text, token, start, accepted)
    return Diagnostic("E201", f"got {found}, want {_wanted(token, accepted)}", span, notes, remedy)


def _wanted(token: Token, accepted: set[str]) -> str:
    """Describe the allowed continuations in few words, the likeliest first."""
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
    return spoken[0] if len(spoken) == 1 else f"{', '.join(spoken[:-1])} or {spoken[-1]}"


def _likelihood(word: str) -> tuple[int, str]:
    if word in LIKELY:
        return LIKELY.index(word), ""
    return len(LIKELY) + (UNLIKELY.index(word) + 1 if word in UNLIKELY else 0), word


def _remedy(text: Text, token: Token, start: int, accepted: set[str]) -> str | None:
    found = _entry(REMEDIES, text, start)
    if found:
        return found[2]
    if token.type == "EQUAL" or (accepted >= ASSIGNING and token == "=="):
        return "`==` compares, `=` assigns"
    if "a name" in accepted and token.type != "NAME" and token.isalpha():
        return f"`{token}` has a meaning of its own here; take another name"
    if "require" in accepted:
        return "each line of a verdict begins with `require`, or with `let`"
    if _is_end(token) and ":" in accepted and "=" not in accepted:
        return "a line that opens a block ends with `:`"
    if "an indented block" in accepted or text.text[:start].rstrip(" ").endswith(":"):
        return "a block stands below the line that opens it, indented deeper"
    if accepted >= ASSIGNING and "the end of the line" in accepted:
        return "each statement stands on a line of its own"
    if accepted >= ASSIGNING:
        return "a statement calls a rule, assigns, or begins with a word such as `let` or `return`"
    if token.type == "COMPARE":
        return "compare two at a time: `a < b and b < c`"
    return None


# --- lines, brackets and indentation ---------------------------------------------------------------------------------


def _is_end(token: Token) -> bool:
    return token.type in ("_NL", "_DEDENT", "$END")


def _line_at(text: str, place: int) -> tuple[int, str]:
    """The line of a place: where it starts, and its characters."""
    first = text.rfind("\n", 0, place) + 1
    return first, text[first:].split("\n", 1)[0]


def code_of(line: str) -> str:
    """A line without its comment."""
    match = re.match(r'(?:"[^"]*"|[^#])*', line)
    return match[0] if match else line


def _end_ofcode_of(text: Text, token: Token) -> int:
    """Return the end of the code before a closing token: before the comment and blanks that follow it."""
    whole = text.text.rstrip()
    place = min(token.start_pos or 0, len(whole)) if token.type == "_NL" else len(whole)
    first, line = _line_at(whole, place)
    return first + len(code_of(line).rstrip())


def _open_bracket(text: str) -> int | None:
    """The place of the innermost bracket that is open at the end of a text."""
    places: list[int] = []
    for match in re.finditer(r'"[^"\n]*"|#[^\n]*|[()\[\]]', text):
        if match[0] in ("(", "["):
            places.append(match.start())
        elif match[0] in (")", "]") and places:
            places.pop()
    return places[-1] if places else None


def _needless_indentation(text: Text, place: int) -> Diagnostic:
    message = "this line is indented deeper than the one above it, which opens no block"
    return Diagnostic("E203", message, _rest_of_line(text, place), help="a line that opens a block ends with `:`")


def _bad_indentation(text: Text, place: int) -> Diagnostic:
    message = "this line is indented less than the one above it, but not as far back as any open block"
    return Diagnostic("E203", message, _rest_of_line(text, place))


def _rest_of_line(text: Text, place: int) -> Span:
    """A line's code, from its first character that is no blank."""
    first, line = _line_at(text.text, place)
    return text.span(place, max(place + 1, first + len(code_of(line).rstrip())))
