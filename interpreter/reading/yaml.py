"""YAML reader: turns a text into scalars, sequences and mappings with spans.

Values are built from PyYAML's events without recursion, so no file can exhaust the stack. Scalars follow YAML 1.2
(``no``, ``on`` and ``012`` stay words), repeated keys and tags are reported, and anchors expand up to a limit. The
meaning of keys is left to the schema and to the readers of the values.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from unicodedata import normalize

from interpreter.base.diagnostics import Diagnostic, Note, RefusedError
from interpreter.base.lazy import Scoped
from interpreter.base.remedies import Edit, edited, remove, write
from interpreter.base.source import Excerpt, SourceFile, Span
from interpreter.base.store import digest_of
from interpreter.base.yaml_values import Entry, Mapping, Scalar, Sequence, Style, Value
from interpreter.reading.yaml_errors import syntax_error

if TYPE_CHECKING:
    import yaml

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_VALUES",
    "OUTCASTS",
    "Entry",
    "Mapping",
    "Scalar",
    "Sequence",
    "Value",
    "decode",
    "excerpt",
    "knowing",
    "loader",
    "offset_of",
    "other_format",
    "plain",
    "read_yaml",
    "too_large",
]

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 100_000
OUTCASTS = set[str]()
"""Digests of texts that have ended Python itself before (where the stack of a browser was too small for them)."""
_SAVE = "save the file as UTF-8 in your editor"
_TAG = "remove it, or put text that starts with `!` in double quotes"
_ALIAS = "put text that starts with `*` in double quotes"
_KEY = "write one entry for each name, and put text with brackets in double quotes"


def plain(value: Value) -> Any:
    """Return a value as plain Python data; keys are texts."""
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Sequence):
        return [plain(item) for item in value.items]
    return {key: plain(item) for key, item in value.items()}


def decode(name: str, data: bytes) -> tuple[SourceFile, list[Diagnostic]]:
    """Decode the bytes of a file. Bytes that are not UTF-8 are reported; a byte order mark is dropped."""
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return SourceFile(name, body.decode("utf-8")), []
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            empty = SourceFile(name, "")
            return empty, [Diagnostic("E002", "got text in UTF-16, want UTF-8", Span(empty, 0, 0), help=_SAVE)]
        file = SourceFile(name, body.decode("utf-8", errors="replace"))
        place = file.at(len(body[: error.start].decode("utf-8")))
        message = f"byte 0x{body[error.start]:02x} is not UTF-8, want text in UTF-8"
        return file, [Diagnostic("E002", message, place, help=_SAVE)]


class Known(Protocol):
    """Cache of the values of files with valid YAML, each with whether it is known that they match their schema."""

    def get(self, file: SourceFile) -> tuple[Mapping, bool] | None: ...

    def add(self, file: SourceFile, known: tuple[Mapping, bool]) -> None: ...


knowing = Scoped[Known | None]("knowing", None)
"""The cache of values, within a context."""


def read_yaml(file: SourceFile) -> tuple[Mapping | None, list[Diagnostic]]:
    """Read the mapping in a file, with diagnostics. The mapping is None if the file cannot be read."""
    cache = knowing.value
    known = None if cache is None else cache.get(file)
    if known is not None:
        return known[0], []
    root, diagnostics = None, _check_text(file)
    if not diagnostics:
        root, diagnostics = _Reader(file).read()
    if root is None and (other := other_format(file)) is not None:
        return None, [other]
    if cache is not None and root is not None and not diagnostics:
        cache.add(file, (root, False))
    return root, diagnostics


_FORMATS = {"XML": re.compile(r"\s*<[?!a-zA-Z]"), "JSON": re.compile(r"\s*(\{\s*\"|\[\s*[{\"])")}


def other_format(file: SourceFile) -> Diagnostic | None:
    """Return the diagnostic for a text that starts like one of another format, or None. To be called for texts that
    cannot be read, since JSON may be valid YAML."""
    for name, start in _FORMATS.items():
        if start.match(file.text):
            message, remedy = f"got {name}, want YAML", "a file starts with `language: 2`"
            if file.text.startswith(('{"log":', '{"save":')):
                message, remedy = "got a saved game, want YAML", "`regelwerk replay` and `play` read saved games"
            return Diagnostic("E013", message, Span(file, 0, 0), help=remedy)
    return None


# -- before the parser -------------------------------------------------------------------------------------------------

_UNREADABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # not printable in YAML
    "|\r(?!\n)|[\u2028\u2029\u202a-\u202e\u2066-\u2069]"  # line breaks that editors do not count, text direction
    "|(?<!^)\ufeff"
)
_TAB = re.compile(r"^ *\t", re.MULTILINE)


def _check_text(file: SourceFile) -> list[Diagnostic]:
    if len(file.text) > MAX_BYTES:
        return [too_large(file)]
    if OUTCASTS and digest_of(file.text).hex() in OUTCASTS:
        message = "this text has ended Python in this browser"
        remedy = "shorten what is nested or long; any change is tried"
        return [Diagnostic("E012", message, Span(file, 0, 0), help=remedy)]
    diagnostics = []
    if places := [*_UNREADABLE.finditer(file.text)]:
        shown = " ".join(f"U+{ord(character):04X}" for character in places[0][0])
        message = f"character {shown} is not allowed in a file"
        edits = (Edit(Span(file, *place.span()), "") for place in places)
        remedy = _SAVE if places[0][0] == "\0" else edited("delete it, or type it anew", *edits)
        at = file.at(places[0].start())
        diagnostics.append(Diagnostic("E003", message, at, help=remedy, more=len(places) - 1))
    if places := [*_TAB.finditer(file.text)]:
        message, at = "got a tab as indentation, want spaces", file.at(places[0].end() - 1)
        edits = (Edit(span := Span(file, *place.span()), span.text.expandtabs(2)) for place in places)
        remedy = edited("write two spaces for each tab", *edits)
        diagnostics.append(Diagnostic("E004", message, at, help=remedy, more=len(places) - 1))
    return diagnostics


def too_large(file: SourceFile) -> Diagnostic:
    return Diagnostic("E012", f"file is too large, want at most {MAX_BYTES // 1024 // 1024} MB", Span(file, 0, 0))


# -- from events to values ---------------------------------------------------------------------------------------------

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\n]*)?)*)+")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_STYLES: dict[str | None, Style] = {"'": "quoted", '"': "quoted", "|": "literal", ">": "folded"}


@dataclass(slots=True)
class _Open:
    """A collection that is not complete yet. The ``values`` of a mapping are alternating keys and values."""

    start: int
    mapping: bool
    flow: bool
    anchor: str | None
    values: list[Value] = field(default_factory=list)
    size: int = 1
    height: int = 1


def loader() -> type:
    """Return PyYAML's loader, based on libyaml if available. In flow collections, the pure Python loader takes `?` in a
    word for an indicator, unlike YAML 1.2 and libyaml; a subclass corrects that."""
    import yaml

    if hasattr(yaml, "CSafeLoader"):
        return yaml.CSafeLoader

    class Loader(yaml.SafeLoader):
        def peek_in_word(self, index: int = 0) -> str:
            character = super().peek(index)
            return "_" if character == "?" else character

        def scan_plain(self) -> Any:
            if not self.flow_level:
                return super().scan_plain()
            self.peek = self.peek_in_word  # type: ignore[method-assign]
            try:
                return super().scan_plain()
            finally:
                del self.peek

    return Loader


def offset_of(mark: Any) -> int:
    """Return the offset of a mark in characters. It is optional in PyYAML's types, but its parsers always set it."""
    return int(mark.index)


class _Reader:
    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.diagnostics: list[Diagnostic] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Value, int, int]] = {}
        """Values with their size and height."""
        self.count = 0
        self.root: Value | None = None
        self.last: Scalar | None = None

    def read(self) -> tuple[Mapping | None, list[Diagnostic]]:
        import yaml

        try:
            self._read_events()
        except RefusedError as refused:
            return None, [*self.diagnostics, refused.diagnostic]
        except yaml.YAMLError as error:
            return None, [*self.diagnostics, syntax_error(self.file, error, *self._opened())]
        if isinstance(self.root, Mapping):
            return self.root, self.diagnostics
        return None, [*self.diagnostics, self._no_mapping()]

    def _opened(self) -> tuple[int, list[Span]]:
        """Return the depth of the innermost block, and the last text in quotes and the innermost open bracket."""
        text = self.file.text
        quoted = [self.last.span] if self.last and self.last.style == "quoted" else []
        brackets = [Span(self.file, this.start, len(text)) for this in self.open if text[this.start] in "[{"]
        depth = max((self.file.position(this.start)[1] - 1 for this in self.open if not this.flow), default=-1)
        return depth, quoted + brackets[-1:]

    def _no_mapping(self) -> Diagnostic:
        got = "a list" if isinstance(self.root, Sequence) else "text"
        if self.root is None or (isinstance(self.root, Scalar) and self.root.value is None):
            got = "an empty file"
        span = self.root.span if self.root else Span(self.file, 0, 0)
        return Diagnostic("E013", f"got {got}, want keys with values", span, help="a file starts with `language: 2`")

    def _read_events(self) -> None:
        import yaml

        documents = 0
        for event in yaml.parse(self.file.text, Loader=loader()):
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
                    span = self.file.at(offset_of(event.start_mark), 3)
                    message = "a second document starts here, want one in a file"
                    raise RefusedError(Diagnostic("E008", message, span, help=remove(span, "remove the line")))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        start, end = self._content(event), offset_of(event.end_mark)
        style = _STYLES.get(event.style, "plain")
        if style in ("literal", "folded"):
            end = start + max(1, len(self.file.text[start:end].rstrip()))
        text = normalize("NFC", event.value)  # escapes may compose
        if style == "quoted" and (unreadable := _UNREADABLE.search(text)):
            name = f"U+{ord(unreadable[0]):04X}"
            message = f"an escape for {name} is not allowed in a text"
            self.diagnostics.append(Diagnostic("E003", message, self.file.at(start)))
            text = _UNREADABLE.sub("�", text)
        value = _value(text) if style == "plain" else text
        self.last = Scalar(text, style, Span(self.file, start, max(start, end)), value)
        self._place(self.last, 1, 1, event.anchor)

    def _start(self, event: yaml.CollectionStartEvent, mapping: bool) -> None:
        start = self._content(event)
        if len(self.open) >= MAX_DEPTH:
            raise RefusedError(self._too_deep(start))
        self.open.append(_Open(start, mapping, bool(event.flow_style), event.anchor))

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        this = self.open.pop()
        end = offset_of(event.end_mark) if this.flow or not this.values else max(v.span.end for v in this.values)
        span = Span(self.file, this.start, max(this.start, end))
        if this.flow:
            self._join(this)
        value = Mapping(tuple(self._entries(this)), span) if this.mapping else Sequence(tuple(this.values), span)
        self._place(value, this.size, this.height, this.anchor)

    def _join(self, this: _Open) -> None:
        """Join plain texts that a `,` within parentheses has split, and report them."""
        values, step = this.values, 2 if this.mapping else 1
        place = step - 1
        while place < len(values):
            first = last = values[place]
            while _is_cut(self.file.text[first.span.start : last.span.end], first) and place + step < len(values):
                following = values[place + 1]
                is_plain = isinstance(following, Scalar) and following.style == "plain"
                if not is_plain or (step == 2 and _text(values[place + 2])):
                    break
                last = following
                del values[place + 1 : place + 1 + step]
            if last is not first:
                span = Span(self.file, first.span.start, last.span.end)
                help = write(span, f'"{span.text}"', f'put it in double quotes: `"{span.text}"`')
                message = "a `,` ends a text between `{` and `}`, or `[` and `]`"
                self.diagnostics.append(Diagnostic("E001", message, span, help=help))
                values[place] = Scalar(span.text, "plain", span, span.text)
            place += step

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        span = Span(self.file, offset_of(event.start_mark), offset_of(event.end_mark))
        anchored = self.anchors.get(name)
        if any(this.anchor == name for this in self.open):
            raise RefusedError(Diagnostic("E009", f"alias `*{name}` is inside its own anchor `&{name}`", span))
        if anchored is None:
            place = self.file.text.find(f"&{name}")
            notes = (Note("this is within a text", self.file.at(place, len(name) + 1)),) if place >= 0 else ()
            message = f"unknown alias `*{name}`, want an anchor `&{name}` before it"
            raise RefusedError(Diagnostic("E009", message, span, notes, write(span, f'"{span.text}"', _ALIAS)))
        value, size, height = anchored
        if len(self.open) + height - 1 > MAX_DEPTH:
            raise RefusedError(self._too_deep(span.start))
        self._place(value, size, height, None, span)

    def _place(self, value: Value, size: int, height: int, anchor: str | None, at: Span | None = None) -> None:
        """Add a finished value to its collection, or make it the root."""
        self.count += size if at or isinstance(value, Scalar) else 1
        if self.count > MAX_VALUES:
            message = f"the file expands to more than {MAX_VALUES} values, want fewer"
            raise RefusedError(Diagnostic("E010", message, at or self.file.at(value.span.start)))
        if anchor:
            self.anchors[anchor] = value, size, height
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
                place = self.file.at(key.span.start)
                self.diagnostics.append(Diagnostic("E006", f"got {got} as a key, want a word", place, help=_KEY))
            elif (first := seen.setdefault(key.text, key)) is not key:
                notes = (Note("first given here", first.span),)
                message = f"key `{key.text}` is given twice, want it once"
                self.diagnostics.append(Diagnostic("E005", message, key.span, notes, remove(key.span)))
            else:
                yield Entry(key, value)

    def _content(self, event: yaml.NodeEvent) -> int:
        """Return the start of a value, after its anchor and tag; PyYAML's mark is before them."""
        start, end = offset_of(event.start_mark), offset_of(event.end_mark)
        tag = getattr(event, "tag", None)
        if tag:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            message = f"got the tag `{shown}`, want a value without tag"
            tagged = re.compile(r"[^\s,]* *").match(self.file.text, start)
            help = write(self.file.at(start, tagged.end() - start), "", _TAG) if tagged else None
            self.diagnostics.append(Diagnostic("E007", message, self.file.at(start), help=help))
        if tag or event.anchor:
            properties = _PROPERTIES.match(self.file.text, start)
            start = properties.end() if properties else start
            if isinstance(getattr(event, "value", None), str):
                return min(start, end)
        return start

    def _too_deep(self, start: int) -> Diagnostic:
        return Diagnostic("E011", f"values are nested more than {MAX_DEPTH} deep, want fewer", self.file.at(start))


def _is_cut(text: str, value: Value) -> bool:
    """Return whether a plain text has an unclosed `(`."""
    return isinstance(value, Scalar) and value.style == "plain" and text.count("(") > text.count(")")


def _text(value: Value) -> bool:
    """Return whether a key has a value."""
    return not isinstance(value, Scalar) or value.text != ""


def _value(text: str) -> int | bool | str | None:
    """Interpret a plain scalar by YAML 1.2: integers (up to 18 digits), booleans and null; others remain words."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    return None if text in ("", "~", "null") else text


# -- rule text and its positions ---------------------------------------------------------------------------------------


def excerpt(scalar: Scalar) -> Excerpt | Diagnostic:
    """Return a scalar's text with exact positions, or a diagnostic if its characters differ from those of the file."""
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
    if scalar.style == "folded":
        remedy = write(file.at(start), "|", remedy)
    return Diagnostic("E014", f"got {got}, want a block with `|`", file.at(start), help=remedy)


def _literal_lines(scalar: Scalar) -> Iterator[tuple[int, int]]:
    """Yield the offsets of each line. YAML removes the same indentation from each; blank lines may be shorter."""
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
