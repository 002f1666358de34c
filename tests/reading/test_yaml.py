"""Values and their places; what is refused; and that any text is safe to read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic, render
from interpreter.base.source import Excerpt, SourceFile, Span
from interpreter.loading.load import load
from interpreter.reading.yaml import (
    MAX_BYTES,
    MAX_DEPTH,
    Mapping,
    Scalar,
    Sequence,
    Value,
    decode,
    excerpt,
    plain,
    read_yaml,
)


def read(text: str) -> Mapping:
    root, found = read_yaml(SourceFile("x.yaml", text))
    assert root is not None, found
    assert found == []
    return root


def refused(text: str) -> list[Diagnostic]:
    return read_yaml(SourceFile("x.yaml", text))[1]


def scalar(text: str, key: str = "is") -> Scalar:
    value = read(text).get(key)
    assert isinstance(value, Scalar)
    return value


def taken(text: str, key: str = "is") -> Excerpt:
    found = excerpt(scalar(text, key))
    assert isinstance(found, Excerpt)
    return found


def spans(value: Value) -> list[tuple[int, int]]:
    own = (value.span.start, value.span.end)
    if isinstance(value, Sequence):
        return [own, *(s for item in value.items for s in spans(item))]
    if isinstance(value, Mapping):
        return [own, *(s for e in value.entries for s in (*spans(e.key), *spans(e.value)))]
    return [own]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("0", 0), ("7", 7), ("-3", -3), ("+3", 3), ("true", True), ("false", False)],
        *[("null", None), ("~", None), ("", None)],
        *[(word, word) for word in ("yes", "no", "on", "NO", "True", "012", "1:30", "1.5", "1e3", "0x1F", "1_000")],
        *[("'7'", "7"), ('"true"', "true"), ("2018-01-01", "2018-01-01"), ("1" * 5000, "1" * 5000), ("<<", "<<")],
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = scalar(f"is: {text}\n").value
    assert found == value
    assert type(found) is type(value)


def test_mapping_behaves_as_a_dict() -> None:
    root = read("a: 1\n2: [x, {y: no}]\n")
    assert root.keys() == ["a", "2"] == list(root)
    assert len(root) == 2
    assert "2" in root
    assert "b" not in root
    assert root.get("b") is None
    assert [key for key, _ in root.items()] == ["a", "2"]
    assert plain(root) == {"a": 1, "2": ["x", {"y": "no"}]}
    entry = root.entry("2")
    assert entry is not None
    assert (entry.key.span.line, entry.key.span.column) == (2, 1)


def test_spans_are_what_stands_in_the_file() -> None:
    root = read("über: straße  # x\nlist:\n  - 'ä b'\n  - {c: d}\nflow: [1, 2]\n\n\nlast:\n")
    assert root["über"].span.text == "straße"
    items = root.get("list")
    assert isinstance(items, Sequence)
    assert [item.span.text for item in items.items] == ["'ä b'", "{c: d}"]
    assert items.span.text == "- 'ä b'\n  - {c: d}"
    assert root["flow"].span.text == "[1, 2]"
    assert str(items.items[1].span) == "x.yaml:4:5"


def test_the_span_of_a_block_is_its_bar_and_its_text() -> None:
    root = read("is: |  # why\n  one\n\n  two\n\n# not of it\nnext: 1\n")
    assert root["is"].span.text == "|  # why\n  one\n\n  two"
    assert read("is: &a |\n  one\n")["is"].span.text == "|\n  one"
    assert read("is: &a # c\n  |\n  one\n")["is"].span.text == "|\n  one"
    assert read("is: &a [b]\n")["is"].span.text == "[b]"


def test_aliases_stand_for_what_they_name() -> None:
    root = read("a: &x [1, 2]\nb: *x\n")
    assert plain(root) == {"a": [1, 2], "b": [1, 2]}
    assert root["b"].span.text == "[1, 2]"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a: [1, 2\nb: 3\n", "E001", (1, 4)),
        ("a: b: c\n", "E001", (1, 5)),
        ("a: 'b\n", "E001", (1, 4)),
        ("a: @b\n", "E001", (1, 4)),
        ("a:\n  b: 1\n c: 2\n", "E001", (3, 2)),
        ("a: 1\nb\nc: 2\n", "E001", (2, 1)),
        ('a: "\\q"\n', "E001", (1, 5)),
        ("a: 1\nb: x\x00y\n", "E003", (2, 5)),
        ("a: 1\nb: x\x85y\n", "E003", (2, 5)),
        ("a: 1\nb: x\u2028y\n", "E003", (2, 5)),
        ("a: 1\rb: 2\n", "E003", (1, 5)),
        ("a: \ud800\n", "E003", (1, 4)),
        ("a:\n\tb: 1\n", "E004", (2, 1)),
        ("is: |\n  a:\n  \tb\n", "E004", (3, 3)),
        ("a: 1\nb: 2\na: 3\n", "E005", (3, 1)),
        ("a: {b: 1, b: 2}\n", "E005", (1, 11)),
        ("2: x\n'2': y\n", "E005", (2, 1)),
        ("[a, b]: 1\n", "E006", (1, 1)),
        ("? {a: b}\n: 1\n", "E006", (1, 3)),
        ("a: !!python/object:os.system x\n", "E007", (1, 4)),
        ("a: !!int '5'\n", "E007", (1, 4)),
        ("a: !x [1]\n", "E007", (1, 4)),
        ("a: 1\n---\nb: 2\n", "E008", (2, 1)),
        ("a: *b\n", "E009", (1, 4)),
        ("a: &a [*a]\n", "E009", (1, 8)),
        ("", "E013", (1, 1)),
        ("# nothing\n", "E013", (1, 1)),
        ("- a\n", "E013", (1, 1)),
        ("just words\n", "E013", (1, 1)),
    ],
)
def test_what_is_refused_has_its_code_and_its_place(text: str, code: str, place: tuple[int, int]) -> None:
    (found,) = refused(text)
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column) == (code, *place)
    assert code in meanings()
    assert found.message[0] in "`" or found.message[0].islower()
    assert not found.message.endswith(".")


def test_all_that_is_wrong_is_reported_and_the_rest_is_read() -> None:
    root, found = read_yaml(SourceFile("x.yaml", "a: 1\na: 2\nb: !x 1\n[c]: 3\nd: {e: 1, e: 2}\n"))
    assert [d.code for d in found] == ["E007", "E005", "E005", "E006"]
    assert root is not None
    assert plain(root) == {"a": 1, "b": 1, "d": {"e": 1}}


def test_further_tabs_are_counted() -> None:
    (found,) = refused("a:\n\tb: 1\n\tc: 2\n\td: 3\n")
    assert found.more == 2
    assert "   note: 2 more like this" in render(found).splitlines()


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    (found,) = refused("\n".join(lines))
    assert found.code == "E010"
    assert found.span is not None
    assert found.span.line == 5
    assert [d.code for d in refused("a:\n" + "- x\n" * 100_001)] == ["E010"]


def test_depth_is_limited_also_through_aliases() -> None:
    fits = MAX_DEPTH - 1
    assert refused("a: " + "[" * fits + "]" * fits) == []
    assert [d.code for d in refused("a: " + "[" * (fits + 1) + "]" * (fits + 1))] == ["E011"]
    assert [d.code for d in refused("a: " + "[" * 100_000)] == ["E011"]
    assert [d.code for d in refused("a: " + "{a: " * 10_000)] == ["E011"]
    assert [d.code for d in refused("\n".join(" " * i + "a:" for i in range(1000)))] == ["E011"]
    ladder = "\n".join(["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 100))])
    assert [d.code for d in refused(ladder)] == ["E011"]


def test_too_large_a_file_is_refused() -> None:
    assert [d.code for d in refused("a: " + "x" * MAX_BYTES)] == ["E012"]


def test_decode_takes_utf_8_alone() -> None:
    assert decode("x", "ä: 1\r\n".encode())[0].text == "ä: 1\r\n"
    assert decode("x", b"\xef\xbb\xbfa: 1")[0].text == "a: 1"
    _, (found,) = decode("x", "ä\nß: ".encode() + b"\xff\n")
    assert found.code == "E002"
    assert str(found.span) == "x:2:4"
    assert [d.code for d in decode("x", "a: 1".encode("utf-16"))[1]] == ["E002"]


def test_without_the_c_parser_the_values_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    texts = [
        "a: &x |2 # c\r\n     ä\r\n   \r\n    bar\r\n# c\r\nb: *x\n",
        "a:\nb: [1, 'x', {c: d}]\n",
        "a: {b: c?}\nd: [e?f, g? h, list of i?]\n",
        "a: [1\nb: 2",
    ]
    texts += ["a: 'x", "a: b: c", "a\nb: c\n", "a: @x", "a:\n  b: 1\n c: 2", "a:\n - b\n c: d", "a: *", "a: !x b"]
    fast = [read_yaml(SourceFile("x", text)) for text in texts]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    slow = [read_yaml(SourceFile("x", text)) for text in texts]
    assert [root for root, _ in fast] == [root for root, _ in slow]
    assert [[d.code for d in found] for _, found in fast] == [[d.code for d in found] for _, found in slow]
    assert [[d.message for d in found] for _, found in fast] == [[d.message for d in found] for _, found in slow]


SHIPPED = sorted((Path(__file__).parents[2] / "rulesets").rglob("*.yaml"))


@pytest.mark.parametrize("path", [p for p in SHIPPED if re.search(r"\w\?[\]},]", p.read_text(encoding="utf-8"))])
def test_without_the_c_parser_what_may_be_none_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A type with a `?` stands in brackets in shipped files."""
    import yaml

    file = SourceFile(path.name, path.read_text(encoding="utf-8"))
    fast = read_yaml(file)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert read_yaml(file) == fast
    assert fast[1] == []


WITHOUT_C = """\
import sys, yaml
del yaml.CSafeLoader
from interpreter.loading.load import load
from interpreter.reading.yaml import loader
assert issubclass(loader(), yaml.SafeLoader)
print(load(sys.argv[1], sys.argv[2:]).digest)
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [["outpost"], ["germany-2018", "power-grid/start-cities"]])
def test_without_the_c_parser_whole_rulesets_are_the_same(names: list[str]) -> None:
    command = [sys.executable, "-c", WITHOUT_C, *names]
    environment = {**os.environ, "REGELWERK_CACHE": "off"}
    top = Path(__file__).parents[2]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=top)
    assert done.stdout.strip() == load(names[0], names[1:]).digest


BLOCKS = {
    "plain block": "is: |\n  (a: int) -> int:\n    a + 1\n",
    "umlauts": "größe: ü\nis: |\n  größe(Köln) ≥ 2\n  straße 😀 x\n",
    "blank lines": "is: |\n\n  one\n\n \n      two\n   \n  three\n\n\nb: 1\n",
    "nested": "a:\n  b:\n    - c: 1\n      is: |-\n        one\n          two\n        three\n      d: 2\n",
    "indicator": "is: |2\n    one\n  two\n",
    "indicator and chomping": "is: |2-  # note\n     one\n\n\n  two\n",
    "comment": "is: |   # why this is so\n   one # not a comment of YAML\n   # nor this\n# but this\nb: 1\n",
    "crlf": "a: 1\r\nis: |\r\n  one\r\n\r\n    two\r\n \r\n  ä\r\nb: 2\r\n",
    "kept end": "is: |+\n  one\n\n\nb: 2\n",
    "end of file": "is: |\n  one",
    "in a list of lists": "- - is: |\n      one\n    b: 2\n",
}


def blocks(value: Value) -> list[Scalar]:
    if isinstance(value, Scalar):
        return [value] if value.style == "literal" else []
    items = value.items if isinstance(value, Sequence) else [entry.value for entry in value.entries]
    return [block for item in items for block in blocks(item)]


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_each_character_of_a_block_has_its_place(text: str) -> None:
    file = SourceFile("x.yaml", text if not text.startswith("-") else "list:\n" + text)
    root, found = read_yaml(file)
    assert root is not None, found
    (block,) = blocks(root)
    taken = excerpt(block)
    assert isinstance(taken, Excerpt)
    assert taken.text == block.text != ""
    places = [taken.offset(i) for i in range(len(taken.text))]
    assert places == sorted(set(places))
    for i, place in enumerate(places):
        there = file.text[place : place + 1]
        assert there == taken.text[i] or (taken.text[i] == "\n" and there in ("\r", ""))
        assert taken.span(i, i + 1).text == there
    for line in taken.text.split("\n"):
        start = taken.text.index(line)
        assert taken.span(start, start + len(line)).text == line
    assert taken.offset(len(taken.text)) <= len(file.text)


def test_places_in_a_block_are_those_an_editor_shows() -> None:
    found = taken(BLOCKS["crlf"])
    assert found.text == "one\n\n  two\n\nä\n"
    assert str(found.span(found.text.index("two"), found.text.index("two") + 3)) == "x.yaml:5:5"
    assert str(found.span(found.text.index("ä"), found.text.index("ä") + 1)) == "x.yaml:7:3"
    indented = taken(BLOCKS["indicator"])
    assert indented.text == "  one\ntwo\n"
    assert str(indented.span(2, 5)) == "x.yaml:2:5"


def test_a_span_over_lines_ends_behind_its_last_character() -> None:
    found = taken("is: |\n  one\n  two\nb: 1\n")
    assert found.span(0, 4).text == "one\n"
    assert found.span(0, 7).text == "one\n  two"
    assert found.span(2, 2).text == ""


@pytest.mark.parametrize(
    "text", ["is: a + 1\n", "is: 'a + 1'\n", 'is: "a + 1"\n', "x: {is: a + 1}\nis: &q  a + 1 # c\n"]
)
def test_one_line_has_its_places(text: str) -> None:
    found = taken(text)
    assert found.text == "a + 1"
    assert found.span(0, 5).text == "a + 1"
    assert found.span(4, 5).text == "1"


def test_numbers_and_nothing_can_be_taken_too() -> None:
    assert taken("is: 12\n").span(0, 2).text == "12"
    assert taken("is:\nb: 1\n").text == ""
    assert taken("is: |\nb: 1\n").span(0, 0).line in (1, 2)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("is: >\n  a\n  b\n", "folded text"),
        ("is: a\n  b\n", "plain text over several lines"),
        ("is: 'a\n  b'\n", "quoted text over several lines"),
        ('is: "a\\tb"\n', "quoted text with escapes"),
        ("is: 'a''b'\n", "quoted text with escapes"),
    ],
)
def test_text_without_exact_places_is_refused(text: str, got: str) -> None:
    found = excerpt(scalar(text))
    assert isinstance(found, Diagnostic)
    assert found.code == "E014"
    assert got in found.message
    assert found.help is not None
    assert "`|`" in found.help
    assert str(found.span) == "x.yaml:1:5"


YAML_LIKE = st.text(alphabet="ab: -|>[]{},#&*!?'\"%@\\\n\r\t~0é\ufeff\x00\u2028\ud800", max_size=80)


@settings(deadline=None)
@given(st.one_of(st.text(), YAML_LIKE))
def test_any_text_is_safe_to_read(text: str) -> None:
    file = SourceFile("x.yaml", text)
    root, found = read_yaml(file)
    assert root is not None or found
    for diagnostic in found:
        assert diagnostic.code in meanings()
        render(diagnostic)
        diagnostic.as_data()
    if root is not None:
        plain(root)
        assert all(0 <= start <= end <= len(text) for start, end in spans(root))
        for block in blocks(root):
            taken = excerpt(block)
            assert isinstance(taken, Excerpt)
            for i, char in enumerate(taken.text):
                there = text[taken.offset(i) : taken.offset(i) + 1]
                assert there == char or (char == "\n" and there in ("\r", ""))


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_are_safe_to_decode(data: bytes) -> None:
    file, found = decode("x", data)
    assert found or file.text.encode() == data.removeprefix(b"\xef\xbb\xbf")
    assert all(d.span is not None and isinstance(d.span, Span) and d.span.line >= 1 for d in found)
    read_yaml(file)


LINES = st.lists(st.sampled_from(["", "a", "  b", "ä ö", "# x", "    deep: [", "x | y", "'", '"'])).map("\n".join)


@settings(deadline=None)
@given(LINES, st.integers(1, 9), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "-", "+"]))
def test_whatever_is_written_in_a_block_is_read_with_exact_places(text: str, deep: int, end: str, chomp: str) -> None:
    lines = [" " * deep + line if line else "" for line in text.split("\n")]
    file = SourceFile("x", end.join([f"is: |{deep}{chomp} # c", *lines, ""]))
    root, found = read_yaml(file)
    assert root is not None, found
    block = root["is"]
    assert isinstance(block, Scalar)
    taken = excerpt(block)
    assert isinstance(taken, Excerpt)
    assert taken.text.rstrip("\n") == text.rstrip("\n")
    for i, char in enumerate(taken.text):
        assert file.text[taken.offset(i)] == (char if char != "\n" else end[0])
