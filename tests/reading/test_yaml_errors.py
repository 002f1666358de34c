"""Errors of YAML point at their cause, and say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value, read_yaml

FILE = """\
language: 2
map: pond/lake
title: "A lake, and 'more'"
about: 'Reeds: all around'   # as printed
nodes: |
  name | shore
  Reed | north
links:
  - {from: Reed, to: [Lily, "Moss"], reach: 1}
  - {from: Lily, to: [Moss], reach: 2}

kinds:
  shore: [north, "south east", {name: west, more: [1, 2]}]
  tide: [1,
    2,
    {three: 3}]
says:
  hop.stay: "{who} stays"
  hop.leap:
    en: "{who} leaps"
    de: '{who} springt'
rules:
  calm(who) -> bool:
    is: |
      who.money > 1
  # a comment
  wild:
    when: not calm(who)
    is: |
      1
last: [a, b]
"""


def _of(text: str) -> list[Diagnostic]:
    return read_yaml(SourceFile("x.yaml", text))[1]


def _values(value: Value) -> Iterator[Value]:
    yield value
    children = value.items if isinstance(value, Sequence) else ()
    for child in [entry.value for entry in value.entries] if isinstance(value, Mapping) else children:
        yield from _values(child)


def _keys(value: Value) -> Iterator[Scalar]:
    for each in _values(value):
        if isinstance(each, Mapping):
            yield from (entry.key for entry in each.entries)


def _mistyped(text: str, root: Mapping) -> Iterator[tuple[str, int, str]]:
    """Yield what is mistyped, the line, and the text with the mistake."""
    for value in _values(root):
        start, end, line = value.span.start, value.span.end, value.span.line
        if isinstance(value, Scalar):
            if value.style == "quoted":
                yield "closing quote left out", line, text[: end - 1] + text[end:]
                yield "opening quote left out", line, text[:start] + text[start + 1 :]
                yield "quote within quotes", line, f"{text[: start + 2]}{text[start]} {text[start + 2 :]}"
        elif text[start] in "[{":
            below = value.span.file.position(end)[0]
            yield "closing bracket left out", line, text[: end - 1] + text[end:]
            yield "closing bracket twice", below, text[:end] + text[end - 1 :]
            yield "other closing bracket", below, f"{text[: end - 1]}{'}' if text[end - 1] == ']' else ']'}{text[end:]}"
            if below == line:
                yield "comment within brackets", line, f"{text[: start + 1]}#{text[start + 1 :]}"
                yield "comment at the end", line, f"{text[: end - 1]}, #x{text[end - 1 :]}"
    for key in _keys(root):
        first, colon = text.rfind("\n", 0, key.span.start) + 1, text.index(":", key.span.end)
        yield "colon left out", key.span.line, text[:colon] + text[colon + 1 :]
        if text[colon + 1] == " ":
            yield "blank left out", key.span.line, text[: colon + 1] + text[colon + 2 :]
        if first < key.span.start and not text[first : key.span.start].strip():
            yield "tab", key.span.line, f"{text[:first]}\t{text[key.span.start :]}"


SAMPLES = [FILE, *(path.read_text() for path in sorted((Path(__file__).parents[1] / "bad/_base").rglob("*.yaml")))]
READ = [(text, read_yaml(SourceFile("x.yaml", text))) for text in SAMPLES]
MISTYPED = [
    mistyped
    for text, (root, _) in READ
    for ends in (text, text.replace("\n", "\r\n"), text.rstrip())
    for mistyped in _mistyped(ends, read_yaml(SourceFile("x.yaml", ends))[0] or pytest.fail("wrong sample"))
]


@pytest.mark.parametrize("what", sorted({what for what, _, _ in MISTYPED}))
def test_the_error_is_at_the_line_of_the_mistake(what: str) -> None:
    """Each sample is mistyped at each place in turn. Some of it is valid YAML, such as a block with one line less."""
    lines = [(line, _of(text), text) for kind, line, text in MISTYPED if kind == what]
    found = [(line, errors[0], text) for line, errors, text in lines if errors]
    assert len(found) > len(lines) / 2
    for line, error, text in found:
        assert error.span is not None
        assert error.span.line == line, f"{error.span}: {error.message}\n{text}"
        assert error.help or error.code in ("E004", "E005"), error.message


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("region: [a, #b]\nx: 1\ny: 2\n", (1, 13), "`#` starts a comment: the list in `[` is not closed"),
        ("region: [#b]\nx: 1\n", (1, 10), "`#` starts a comment: the list in `[` is not closed"),
        ("a: {b: 1, #c: 2}\n\nd: |\n  e\n", (1, 11), "`#` starts a comment: the mapping in `{` is not closed"),
        ("a: [[1], [2, #3]]\nb: 3\n", (1, 14), "`#` starts a comment: the list in `[` is not closed"),
        ('a: ["b # c", d\nb: 3\n', (1, 4), "the list in `[` is not closed, want `,` or `]`"),
        ("a: [b, # see below ]\n  c\nb: 3\n", (1, 8), "`#` starts a comment: the list in `[` is not closed"),
        ("a:\n- [1, 2\n- [3]\n", (2, 3), "the list in `[` is not closed, want `,` or `]`"),
        ("a: [\n  1,\n  2\n\nb: [3]\nc: 1\n", (1, 4), "the list in `[` is not closed, want `,` or `]`"),
        ("a: [1,\n  2", (1, 4), "the list in `[` is not closed, want `,` or `]`"),
        ("a: {b: [1, 2]\nc: 2\n", (1, 4), "the mapping in `{` is not closed, want `,` or `}`"),
        ('a: [\n  "1"\n  "2"\n]\n', (3, 3), 'got `"` in the list in `[`, want `,` or `]`'),
        ("a: [1, 2}\n", (1, 9), "got `}` in the list in `[`, want `,` or `]`"),
        ("a: [b: c: d]\n", (1, 9), "got `:` in the list in `[`, want `,` or `]`"),
        ("a: ]\nb: 1\n", (1, 4), "got `]`, want a value"),
        ("a: [b,, c]\n", (1, 7), "got `,`, want a value"),
        ("a: [1]]\n", (1, 7), "got `]` after a value, want the end of the line"),
        ('a: "x" y\n', (1, 8), "got `y` after a value, want the end of the line"),
        ('a: "x\nb: "y"\nc: "z"\n', (1, 4), "this quote is not closed"),
        ('a: "x\nb: ""\nc: 1\n', (1, 4), "this quote is not closed"),
        ("a:\n  b: 'x\n  c: 1\n  d: 'e'\n", (2, 6), "this quote is not closed"),
        ("b 2\nc 3\na: 1\n", (1, 1), "got text without `:`, want `key: value`"),
        ("a:\n  b 2\n\n  c: 3\n", (2, 3), "got text without `:`, want `key: value`"),
        ("is:\n  greedy\n    # why\n    pick: 1\n", (2, 3), "got text without `:`, want `key: value`"),
        ("a: 1\n  b: 2\n", (2, 3), "got a key below a line that has a value already"),
        ("a: 1\n...\nb: 2\n", (2, 1), "got text without `:`, want `key: value`"),
        ("a:\n    b: 1\n  c: 2\n", (3, 3), "got `c`, want a key at the depth of the keys before it"),
        ("a: |\n    text\n  less\n", (3, 3), "got `less`, want a key at the depth of the keys before it"),
        ("{a: 1}\nb: 2\n", (2, 1), "got `b` after the end of the keys, want nothing"),
        ("{\na: '1'\n'b': 2\n}\n", (3, 1), "got `'` in the mapping in `{`, want `,` or `}`"),
        ("a: |x\n", (1, 5), "got `x` after `|` or `>`, want the text on the lines below"),
        ('a: "\\xq"\n', (1, 5), "got an unknown escape"),
        ("a: `b`\n", (1, 4), "got a backtick, which cannot start a value"),
        ("a: & b\n", (1, 4), "got `&` or `*` without a name, want a value"),
        ("%a: 1\n", (1, 1), "got a line that starts with `%`, want keys"),
        ("a:\n  -\tb\n", (2, 4), "got a tab, want spaces"),
        ("a &b: 1\nc: *b\n", (2, 4), "unknown alias `*b`, want an anchor `&b` before it"),
    ],
)
@pytest.mark.parametrize("fast", [True, False], ids=["libyaml", "Python"])
def test_what_is_said_of_it(
    text: str, place: tuple[int, int], message: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fast:
        import yaml

        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    for ends in (text, text.replace("\n", "\r\n")):
        (error,) = _of(ends)
        assert error.span is not None
        assert (error.message, error.span.line, error.span.column) == (message, *place)
        assert error.help or error.code == "E004"


def test_marks_of_a_merge_are_said_to_be_these() -> None:
    (error,) = _of("a: 1\n<<<<<<< ours\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n")
    assert error.help == "a merge of Git left two versions here: keep one, and remove the lines of Git"
