"""YAML as values with places: what comes in is a text, what goes out are scalars, sequences and mappings with spans.

The values are built from PyYAML's events, one after another and without recursion, so that no file can exhaust the
stack: scalars follow YAML 1.2 (``no``, ``on`` and ``012`` stay words), repeated keys and tags are reported, anchors
expand up to a limit. What a key means is left to the schema and to those who read the values.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.frozen import dataclass
from interpreter.base.source import SourceFile, Span

if TYPE_CHECKING:
    import yaml

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_VALUES",
    "Entry",
    "Excerpt",
    "Mapping",
    "Scalar",
    "Sequence",
    "Value",
    "decode",
    "excerpt",
    "knowing",
    "loader",
    "plain",
    "read_yaml",
    "too_large",
]

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 100_000

Style = Literal["plain", "quoted", "literal", "folded"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A word, number or text. ``text`` is what stands there, ``value`` the number, truth or nothing that it means."""

    text: str
    style: Style
    span: Span = field(repr=False)
    value: int | bool | str | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """``[a, b]`` or lines with ``-``."""

    items: tuple[Value, ...]
    span: Span = field(repr=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping with its value."""

    key: Scalar
    value: Value


@dataclass(frozen=True)
class Mapping:
    """``key: value`` lines. Keys are compared by their text, so ``2:`` and ``"2":`` are one key."""

    entries: tuple[Entry, ...]
    span: Span = field(repr=False)

    @cached_property
    def _by_key(self) -> dict[str, Entry]:
        return {entry.key.text: entry for entry in self.entries}

    def entry(self, key: str) -> Entry | None:
        return self._by_key.get(key)

    def get(self, key: str) -> Value | None:
        found = self._by_key.get(key)
        return found.value if found else None

    def keys(self) -> list[str]:
        return list(self._by_key)

    def items(self) -> list[tuple[str, Value]]:
        return [(entry.key.text, entry.value) for entry in self.entries]

    def __getitem__(self, key: str) -> Value:
        return self._by_key[key].value

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)


Value: TypeAlias = Scalar | Sequence | Mapping


def plain(value: Value) -> Any:
    """The same value as plain Python data; keys are texts."""
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Sequence):
        return [plain(item) for item in value.items]
    return {key: plain(item) for key, item in value.items()}


def decode(name: str, data: bytes) -> tuple[SourceFile, list[Diagnostic]]:
    """The text of a file. Bytes that are not UTF-8 are reported; a byte order mark is dropped."""
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return SourceFile(name, body.decode("utf-8")), []
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            empty = SourceFile(name, "")
            return empty, [Diagnostic("E002", "got text in UTF-16, want UTF-8", Span(empty, 0, 0))]
        file = SourceFile(name, body.decode("utf-8", errors="replace"))
        place = _at(file, len(body[: error.start].decode("utf-8")), 1)
        return file, [Diagnostic("E002", f"byte 0x{body[error.start]:02x} is not UTF-8, want text in UTF-8", place)]


class Known(Protocol):
    """Remembers what files hold in whose YAML nothing is wrong."""

    def get(self, file: SourceFile) -> Mapping | None: ...

    def add(self, file: SourceFile, root: Mapping) -> None: ...


_known: ContextVar[Known | None] = ContextVar("known", default=None)


@contextmanager
def knowing(known: Known) -> Iterator[None]:
    """In here the YAML of a file that is known is not read again."""
    token = _known.set(known)
    try:
        yield
    finally:
        _known.reset(token)


def read_yaml(file: SourceFile) -> tuple[Mapping | None, list[Diagnostic]]:
    """The mapping that a file holds, and all that is wrong with its YAML; nothing where it cannot be read."""
    known = _known.get()
    root = None if known is None else known.get(file)
    if root is not None:
        return root, []
    refused = _check_text(file)
    if refused:
        return None, refused
    root, found = _Reader(file).read()
    if known is not None and root is not None and not found:
        known.add(file, root)
    return root, found


# -- before the parser -------------------------------------------------------------------------------------------------

_UNREADABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # what YAML calls not printable
    "|\r(?!\n)|[\u2028\u2029\u202a-\u202e\u2066-\u2069]"  # line breaks that no editor counts, turns of direction
    "|(?<!^)\ufeff"
)
_TAB = re.compile(r"^ *\t", re.MULTILINE)


def _check_text(file: SourceFile) -> list[Diagnostic]:
    if len(file.text) > MAX_BYTES:
        return [too_large(file)]
    found = []
    if match := _UNREADABLE.search(file.text):
        name = f"U+{ord(match[0]):04X}"
        message = f"character {name} cannot stand in a file, want readable text"
        found.append(_first(file, _UNREADABLE, Diagnostic("E003", message, _at(file, match.start(), 1))))
    if match := _TAB.search(file.text):
        message = "got a tab as indentation, want spaces"
        found.append(_first(file, _TAB, Diagnostic("E004", message, _at(file, match.end() - 1, 1))))
    return found


def _first(file: SourceFile, pattern: re.Pattern[str], diagnostic: Diagnostic) -> Diagnostic:
    """The first place of many: the others are counted, as there may be one on every line."""
    more = sum(1 for _ in pattern.finditer(file.text)) - 1
    if not more:
        return diagnostic
    note = Note(f"{more} more {'place' if more == 1 else 'places'} like this in the file")
    return Diagnostic(diagnostic.code, diagnostic.message, diagnostic.span, (note,))


def too_large(file: SourceFile) -> Diagnostic:
    return Diagnostic("E012", f"file is too large, want at most {MAX_BYTES // 1024 // 1024} MB", Span(file, 0, 0))


def _at(file: SourceFile, start: int, length: int) -> Span:
    start = max(0, min(start, len(file.text)))
    return Span(file, start, min(start + length, len(file.text)))


# -- from events to values ---------------------------------------------------------------------------------------------

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\n]*)?)*)+")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_STYLES: dict[str | None, Style] = {"'": "quoted", '"': "quoted", "|": "literal", ">": "folded"}


class _Refused(Exception):
    """Reading ends here: what follows could not be told apart from what was refused."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


@dataclass(slots=True)
class _Open:
    """A collection whose end is still to come. Of a mapping, ``values`` are keys and values in turn."""

    start: int
    mapping: bool
    flow: bool
    anchor: str | None
    values: list[Value] = field(default_factory=list)
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Value
    size: int
    height: int


def _events(text: str) -> Iterator[yaml.Event]:
    import yaml

    events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader())
    return events


def loader() -> type:
    """PyYAML's loader, by libyaml where that is there. Its own takes `?` in a word between brackets for an indicator,
    which YAML 1.2 and libyaml do not: there it sees a letter."""
    import yaml

    if hasattr(yaml, "CSafeLoader"):
        return yaml.CSafeLoader

    class Loader(yaml.SafeLoader):
        in_word = False

        def peek(self, index: int = 0) -> str:
            found: str = super().peek(index)
            return "_" if self.in_word and found == "?" else found

        def scan_plain(self) -> Any:
            self.in_word = True
            try:
                return super().scan_plain()
            finally:
                self.in_word = False

    return Loader


def _index(mark: Any) -> int:
    """The offset of a mark in characters. PyYAML's types say that it may lack, its parsers always set it."""
    return int(mark.index)


class _Reader:
    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.found: list[Diagnostic] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.count = 0
        self.root: Value | None = None

    def read(self) -> tuple[Mapping | None, list[Diagnostic]]:
        import yaml

        try:
            self._read_events()
        except _Refused as refused:
            return None, [*self.found, refused.diagnostic]
        except yaml.YAMLError as error:
            return None, [*self.found, _syntax(self.file, error)]
        if isinstance(self.root, Mapping):
            return self.root, self.found
        return None, [*self.found, self._no_mapping()]

    def _no_mapping(self) -> Diagnostic:
        got = "a list" if isinstance(self.root, Sequence) else "text"
        if self.root is None or (isinstance(self.root, Scalar) and self.root.value is None):
            got = "an empty file"
        span = self.root.span if self.root else Span(self.file, 0, 0)
        return Diagnostic("E013", f"got {got}, want keys with values", span, help="a file opens with `language: 1`")

    def _read_events(self) -> None:
        import yaml

        documents = 0
        for event in _events(self.file.text):
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._start(event, isinstance(event, yaml.MappingStartEvent))
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    span = _at(self.file, _index(event.start_mark), 3)
                    raise _Refused(Diagnostic("E008", "a second document starts here, want one in a file", span))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        start, end = self._content(event), _index(event.end_mark)
        style = _STYLES.get(event.style, "plain")
        if style in ("literal", "folded"):
            end = start + max(1, len(self.file.text[start:end].rstrip()))
        text = str(event.value)
        if style == "quoted" and (unreadable := _UNREADABLE.search(text)):
            name = f"U+{ord(unreadable[0]):04X}"
            message = f"an escape stands for {name}, which cannot stand in a text"
            self.found.append(Diagnostic("E003", message, _at(self.file, start, 1)))
            text = _UNREADABLE.sub("�", text)
        value = _value(text) if style == "plain" else text
        self._place(Scalar(text, style, Span(self.file, start, max(start, end)), value), 1, 1, event.anchor)

    def _start(self, event: yaml.CollectionStartEvent, mapping: bool) -> None:
        start = self._content(event)
        if len(self.open) >= MAX_DEPTH:
            raise _Refused(self._too_deep(start))
        self.open.append(_Open(start, mapping, bool(event.flow_style), event.anchor))

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        this = self.open.pop()
        end = _index(event.end_mark) if this.flow or not this.values else max(v.span.end for v in this.values)
        span = Span(self.file, this.start, max(this.start, end))
        if this.flow:
            self._join(this)
        value = Mapping(tuple(self._entries(this)), span) if this.mapping else Sequence(tuple(this.values), span)
        self._place(value, this.size, this.height, this.anchor)

    def _join(self, this: _Open) -> None:
        """Puts plain texts together that a `,` between round brackets has cut, and says so."""
        values, step = this.values, 2 if this.mapping else 1
        place = step - 1
        while place < len(values):
            first = last = values[place]
            while _is_cut(self.file.text[first.span.start : last.span.end], first) and place + step < len(values):
                following = values[place + 1]
                if (
                    not isinstance(following, Scalar)
                    or following.style != "plain"
                    or (step == 2 and _text(values[place + 2]))
                ):
                    break
                last = following
                del values[place + 1 : place + 1 + step]
            if last is not first:
                span = Span(self.file, first.span.start, last.span.end)
                helped = f'put it into double quotes: `"{span.text}"`'
                message = "a `,` ends a text between `{` and `}`, or `[` and `]`"
                self.found.append(Diagnostic("E001", message, span, help=helped))
                values[place] = Scalar(span.text, "plain", span, span.text)
            place += step

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        span = Span(self.file, _index(event.start_mark), _index(event.end_mark))
        anchored = self.anchors.get(name)
        if any(this.anchor == name for this in self.open):
            raise _Refused(Diagnostic("E009", f"`*{name}` stands inside the value that `&{name}` names", span))
        if anchored is None:
            raise _Refused(Diagnostic("E009", f"`*{name}` names nothing, want an anchor `&{name}` before it", span))
        if len(self.open) + anchored.height - 1 > MAX_DEPTH:
            raise _Refused(self._too_deep(span.start))
        self._place(anchored.value, anchored.size, anchored.height, None, span)

    def _place(self, value: Value, size: int, height: int, anchor: str | None, at: Span | None = None) -> None:
        """Hand a finished value to the collection that it stands in, or make it the root."""
        self.count += size if at or isinstance(value, Scalar) else 1
        if self.count > MAX_VALUES:
            message = f"the file expands to more than {MAX_VALUES} values, want fewer"
            raise _Refused(Diagnostic("E010", message, at or _at(self.file, value.span.start, 1)))
        if anchor:
            self.anchors[anchor] = _Anchored(value, size, height)
        if not self.open:
            self.root = value
            return
        parent = self.open[-1]
        parent.values.append(value)
        parent.size += size
        parent.height = max(parent.height, height + 1)

    def _entries(self, this: _Open) -> Iterator[Entry]:
        seen: dict[str, Scalar] = {}
        for key, value in zip(this.values[::2], this.values[1::2], strict=True):
            if not isinstance(key, Scalar) or key.style in ("literal", "folded"):
                got = "a list" if isinstance(key, Sequence) else "a mapping" if isinstance(key, Mapping) else "a block"
                self.found.append(
                    Diagnostic("E006", f"got {got} as a key, want a word", _at(self.file, key.span.start, 1))
                )
            elif key.text in seen:
                note = Note("it stands here first", seen[key.text].span)
                self.found.append(
                    Diagnostic("E005", f"key `{key.text}` is given twice, want it once", key.span, (note,))
                )
            else:
                seen[key.text] = key
                yield Entry(key, value)

    def _content(self, event: yaml.NodeEvent) -> int:
        """Return the start of a value: PyYAML's mark lies before its anchor and tag."""
        start, end = _index(event.start_mark), _index(event.end_mark)
        tag = getattr(event, "tag", None)
        if tag:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            self.found.append(
                Diagnostic("E007", f"got the tag `{shown}`, want a value without tag", _at(self.file, start, 1))
            )
        if tag or event.anchor:
            properties = _PROPERTIES.match(self.file.text, start)
            start = properties.end() if properties else start
            if isinstance(getattr(event, "value", None), str):
                return min(start, end)
        return start

    def _too_deep(self, start: int) -> Diagnostic:
        return Diagnostic("E011", f"values are nested more than {MAX_DEPTH} deep, want fewer", _at(self.file, start, 1))


def _is_cut(text: str, value: Value) -> bool:
    """Return whether a plain text has a `(` that is still open."""
    return isinstance(value, Scalar) and value.style == "plain" and text.count("(") > text.count(")")


def _text(value: Value) -> bool:
    """Return whether something stands behind a key."""
    return not isinstance(value, Scalar) or value.text != ""


def _value(text: str) -> int | bool | str | None:
    """A plain scalar by YAML 1.2: whole numbers (of up to 18 digits), truth and nothing; all else stays a word."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    return None if text in ("", "~", "null") else text


# -- the parser's own errors -------------------------------------------------------------------------------------------

_QUOTE = "put a text that holds `: `, ` #` or opens with a sign into double quotes"
_ESCAPE = "write `\\\\` for `\\`, or use single quotes"
_DEPTH = "compare the indentation with the lines above"
# what PyYAML says (its two parsers differ) | what an author reads | a remedy | whose place: problem or context
_SAYINGS: tuple[tuple[str, str, str | None, str], ...] = (
    (
        "mapping values are not allowed",
        "got a `:` that opens no value, want one `key: value` a line",
        _QUOTE,
        "problem",
    ),
    ("could not find expected ':'", "got text without `:`, want `key: value`", _QUOTE, "context"),
    ("cannot start any token", "got a character that cannot open a value", _QUOTE, "problem"),
    ("quoted.*unexpected (end of stream|document)", "the quote that opens here is never closed", None, "context"),
    ("escape|hexdecimal|hexadecimal|invalid Unicode", "got an escape that YAML does not know", _ESCAPE, "problem"),
    ("',' or '\\]'", "the list in `[` goes on wrongly, want `,` or `]`", None, "problem"),
    ("',' or '}'", "the mapping in `{` goes on wrongly, want `,` or `}`", None, "problem"),
    ("flow (sequence|mapping|node)", "got something else, want a value, `,` or the closing bracket", None, "problem"),
    ("sequence entries are not allowed", "got `-` behind something else, want it on its own line", None, "problem"),
    ("mapping keys are not allowed", "got `?`, want a key", _QUOTE, "problem"),
    ("block mapping", "got something else, want a key at the depth of the keys before it", _DEPTH, "problem"),
    ("block (collection|sequence)", "got something else, want `-` at the depth of those before it", _DEPTH, "problem"),
    ("block scalar", "got something else after `|`, want the text on the lines below", None, "problem"),
    ("anchor|alias", "got `&` or `*` without a name, want a value", _QUOTE, "problem"),
    ("directive|incompatible YAML", "got a line that opens with `%`, want keys", None, "problem"),
    ("tag", "got a tag, want a value without tag", _QUOTE, "problem"),
    ("document start", "got something else after the end of the keys, want nothing", _DEPTH, "problem"),
)


def _syntax(file: SourceFile, error: Exception) -> Diagnostic:
    """PyYAML's error in an author's words, at its place."""
    context = str(getattr(error, "context", None) or "")
    told = f"{context}; {getattr(error, 'problem', None) or ''}"
    marks = {name: getattr(error, f"{name}_mark", None) for name in ("problem", "context")}
    unknown = ("", "this cannot be read as YAML", None, "problem")
    _, message, remedy, where = next((saying for saying in _SAYINGS if re.search(saying[0], told)), unknown)
    mark = marks[where] or marks["problem"] or marks["context"]
    other = marks["context"] if where == "problem" else None
    span = _at(file, mark.index if mark else 0, 1)
    remedy = _remedy_at(span) or remedy
    notes = (Note("what is being read starts here", _at(file, other.index, 1)),) if other else ()
    return Diagnostic("E001", message, span, notes if other and other.index != span.start else (), remedy)


# -- rule text and its places ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Excerpt:
    """A text taken out of a file, of which each character's place in the file is known.

    ``lines`` are pairs: where a line starts in ``text``, and where that is in the file.
    """

    text: str
    file: SourceFile = field(repr=False)
    lines: tuple[tuple[int, int], ...] = field(repr=False)

    def offset(self, position: int) -> int:
        """Return the offset in the file of the character at ``position`` of the text."""
        position = max(0, min(position, len(self.text)))
        start, place = self.lines[bisect_right(self.lines, position, key=lambda line: line[0]) - 1]
        return min(place + position - start, len(self.file.text))

    def span(self, start: int, end: int) -> Span:
        """The place of ``text[start:end]``; it ends behind its last character, not in front of the next one."""
        first = self.offset(start)
        return Span(self.file, first, max(first, self.offset(end - 1) + 1) if end > start else first)


def excerpt(scalar: Scalar) -> Excerpt | Diagnostic:
    """A scalar's text with exact places; refused where characters of text and file do not stand one for one."""
    file, start = scalar.span.file, scalar.span.start
    if scalar.style == "literal":
        return Excerpt(scalar.text, file, tuple(_literal_lines(scalar)))
    quoted = scalar.style == "quoted"
    raw = scalar.span.text[1:-1] if quoted else scalar.span.text
    if scalar.style != "folded" and raw == scalar.text and "\n" not in raw:
        return Excerpt(scalar.text, file, ((0, start + quoted),))
    got = "folded text (`>`)" if scalar.style == "folded" else "quoted text with escapes" if quoted else "plain text"
    if scalar.style != "folded" and "\n" in scalar.span.text:
        got = f"{scalar.style} text over several lines"
    remedy = "write `|` after the key and the text on the lines below"
    return Diagnostic("E014", f"got {got}, want a block with `|`", _at(file, start, 1), help=remedy)


def _literal_lines(scalar: Scalar) -> Iterator[tuple[int, int]]:
    """Line by line: YAML cuts the same indentation off each one, and blank ones may be shorter."""
    file = scalar.span.file
    number = file.position(scalar.span.start)[0]
    offset = 0
    for text in scalar.text.split("\n"):
        number += 1
        if number > len(file.line_starts):  # the text ends with the file, or is empty
            yield offset, len(file.text)
            return
        yield offset, file.line_starts[number - 1] + max(0, len(file.line(number)) - len(text))
        offset += len(text) + 1


# What a line looks like at which YAML cannot be read, and what mends it.
_LOOKS: tuple[tuple[str, str], ...] = (
    (
        r"^[ -]*(is|does|permits|when|on|for|whenever|given|prefer): +[^|\s]",
        "rule text that holds `: ` stands in a block: write `|` after the key and the text on the lines below",
    ),
    (
        r"^ *(- +)?([\w-]+: +)?\[.*\] *[^\s,#\]}]",
        "a list ends at its `]`; put a text that opens with `[` into double quotes",
    ),
    (r": *\{\w+\}", "put a text that opens with `{` into double quotes"),
    (r"^ *[a-z_][\w-]*:[^\s:]", "put a blank behind the `:`"),
)


def _remedy_at(span: Span) -> str | None:
    """A remedy that the line itself suggests, or the one above it that opens a block."""
    line, above = span.file.line(span.line), span.file.line(span.line - 1) if span.line > 1 else ""
    if above.rstrip().endswith("|") and ":" in above and ": " not in line:
        return "indent the text below a `|` deeper than the key before it"
    return next((remedy for look, remedy in _LOOKS if re.search(look, line)), None)
