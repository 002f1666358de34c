"""Files laid out: what is spoilt in layout alone comes back, and nothing that a file says ever changes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interpreter.base.paths import ruleset_roots
from interpreter.base.source import SourceFile
from interpreter.language.file_layout import rule_texts, tidy
from interpreter.language.grammar import Start
from interpreter.language.line_breaks import broken
from interpreter.language.rule_layout import space_out
from interpreter.loading.load import find
from interpreter.loading.pipeline import examine
from interpreter.reading.files import Shelf, read_document
from interpreter.reading.yaml import decode
from interpreter.reading.yaml_layout import WIDTH, lay_out_table
from tests.support import ruleset_paths, shared
from tests.test_fuzz import mutated

ROOT = Path(__file__).parents[2]
BAD = ROOT / "tests" / "bad"
FILES = sorted([*ruleset_roots()[-1].rglob("*.yaml"), *(ROOT / "tests").rglob("*.yaml")])


def tidied(text: str) -> str:
    written, found = tidy(SourceFile("a.yaml", text))
    assert written is not None, found
    return written


# --- one rule of the layout each --------------------------------------------------------------------------------------

HEAD = "language: 2\nfamily: a\n"
CASES = {
    "levels": (
        "…rules:\n    b(n):\n        does: |\n            if n > 1:\n                settle\n",
        "…rules:\n  b(n):\n    does: |\n      if n > 1:\n        settle\n",
    ),
    "dashes at the key": (
        "language: 2\nwaivers: a\nis:\n- {id: AB-1,reason: x}\n\n# why\n-   id: AB-2\n    reason: y\n",
        "language: 2\nwaivers: a\nis:\n  - {id: AB-1, reason: x}\n\n  # why\n  - id: AB-2\n    reason: y\n",
    ),
    "brackets": (
        "language:   2\nfamily: a\nround: [ b,c ]\ntokens: { d : {e: 1,f: 2 }}\n",
        "…round: [b, c]\ntokens: {d: {e: 1, f: 2}}\n",
    ),
    "lists over several lines": (
        "…result:\n  rank: [who.b,\n          who.c]\n  cites: [\n    AB-1, # first\n    AB-2,\n  ]\n",
        "…result:\n  rank: [who.b,\n    who.c]\n  cites: [\n    AB-1,  # first\n    AB-2,\n    ]\n",
    ),
    "blank lines and ends of lines": (
        "\n\nlanguage: 2  \r\nfamily: a\r\n\r\n\r\n\r\nsetup: b \r\n\r\n",
        "…\nsetup: b\n",
    ),
    "tables": (
        "language: 2\ndeck: a/b\ncards:\n  c: |\n    number|is\n    # the first\n    1|\n    100   | x y\n",
        "language: 2\ndeck: a/b\ncards:\n  c: |\n    number | is\n    # the first\n    1      |\n    100    | x y\n",
    ),
    "comments keep their column": (
        "…state:\n  b: {value: int}     # one\n  cc: {value:   int} # two\n# three\n  d: {value: int}\n   # four\n",
        "…state:\n  b: {value: int}     # one\n  cc: {value: int}   # two\n# three\n  d: {value: int}\n# four\n",
    ),
    "texts are left alone": (
        "…about: |2\n    two  blanks\n  none\ntitle: >-\n   folded\n   text\nsays:\n   b: \"{ who }  c\"\n",
        "…about: |2\n    two  blanks\n  none\ntitle: >-\n  folded\n  text\nsays:\n  b: \"{ who }  c\"\n",
    ),
    "plain rule text stays plain": (
        "…rules:\n  b() -> int: {is: 'a+3', when: a==1}\nmeasures:\n  c: {value: (a+1)}\n",
        "…rules:\n  b() -> int: {is: 'a + 3', when: a == 1}\nmeasures:\n  c: {value: (a + 1)}\n",
    ),
    "types": (
        "…state:\n  b: {value: list  of   int}\n  c: {value: 1 .. 3}\n",
        "…state:\n  b: {value: list of int}\n  c: {value: 1..3}\n",
    ),
    "blanks without text": (
        "…says:\n  a: |\n          \n  b: |\n \n     x\n",
        "…says:\n  a: |\n\n  b: |\n\n    x\n",
    ),
    "no end of the last line": (
        "…about: |\n  x",
        "…about: |\n  x\n",
    ),
    "kept lines at the end": (
        "…about: |+\n   x\n\n\ntitle: b\n",
        "…about: |+\n  x\n\n\ntitle: b\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_layout(name: str) -> None:
    before, after = (text.replace("…", HEAD) for text in CASES[name])
    assert tidied(before) == after
    assert tidied(after) == after


SPACED = {
    "[ - a,a-1, f (b) [0] ]": "[-a, a - 1, f(b)[0]]",
    "# one\nlet b=1..2# two\nlet c: 1 .. 3=b\nlet d: list of int = 1..3\n\n\nreturn  b\n": (
        "# one\nlet b = 1 .. 2  # two\nlet c: 1..3 = b\nlet d: list of int = 1 .. 3\n\nreturn b"
    ),
    "not(a)and( b or c.d )": "not (a) and (b or c.d)",
    "count(a in b where (\n      a>1\n            and any(c in d\n  where c<2)\n  ))": (
        "count(a in b where (\n  a > 1\n  and any(c in d\n    where c < 2)\n))"
    ),
}


SPACED["if a >  # where\n   3 and\n  b:\n    return f(\n 1 +\n2) -\n 3\n"] = (
    "if a >  # where\n    3 and\n    b:\n  return f(\n    1 +\n    2) -\n      3"
)
SPACED["\n\n# one\n\na"] = "# one\n\na"
SPACED["\na"] = "a"


@pytest.mark.parametrize("before", SPACED)
def test_rule_text(before: str) -> None:
    assert space_out(before, "function") == SPACED[before]
    assert space_out(SPACED[before], "function") == SPACED[before]


def test_the_columns_of_cites_and_comments_are_the_author_s() -> None:
    text = "require a > 0       cites AB-1\nrequire a < 1000    cites AB-2    # why"
    assert space_out(text, "verdict") == text
    assert space_out("require a>0  cites AB-1,AB-2", "verdict") == "require a > 0 cites AB-1, AB-2"


BROKEN: list[tuple[Start, str, str]] = [
    (
        "function",
        "many(a, b, c) and any(d in e where d > a or d < b and a > c)",
        "many(a, b, c) and\n    any(d in e\n      where d > a or\n      d < b and a > c)",
    ),
    ("function", "min([f for f in ggggggg where f > 1])", "min([f for f in ggggggg\n  where f > 1])"),
    ("expression", "(bbbbbbbbbbbbbbbbb - 1 - -ccccccccc) - 1 - 2", "(bbbbbbbbbbbbbbbbb - 1 -\n  -ccccccccc) - 1 - 2"),
    ("expression", "12345 + 12345678 if a else bcdefgh", "12345 + 12345678 if a else\n    bcdefgh"),
    ("preferences", "take a, b where a > 4 by -b, a, as listed", "take a, b where a > 4\n    by -b, a, as listed"),
    (
        "preferences",
        "take a where a in b and c(a) == 4 by a\ntake all",
        "take a\n    where a in b and\n    c(a) == 4\n    by a\ntake all",
    ),
    (
        "verdict",
        "require a            cites AB-1\nrequire every(a) in one  cites AB-1",
        "require a cites AB-1\nrequire every(a) in one\n    cites AB-1",
    ),
    ("procedure", "note one(a, b)  # and why it is so", "note one(a, b)  # and why it is so"),
    ("procedure", "if names_of_a == 1 + names_of_b:\n  settle", "if names_of_a ==\n    1 + names_of_b:\n  settle"),
]


@pytest.mark.parametrize(("start", "before", "after"), BROKEN)
def test_a_line_that_is_too_long_is_broken_where_it_is_loosest(start: Start, before: str, after: str) -> None:
    assert broken(before, start, 28) == after
    assert broken(after, start, 28) == after
    assert space_out(after, start) == after


@pytest.mark.parametrize("path", [*FILES, *sorted((ROOT / "docs").rglob("*.yaml"))], ids=str)
def test_no_line_of_rule_text_is_too_long(path: Path) -> None:
    file, found = decode(path.name, path.read_bytes())
    document = None if found else read_document(file, path)[0]
    if document is None or BAD in path.parents:
        return
    for scalar, _ in rule_texts(document):
        start = scalar.span.column - 1
        for line in scalar.span.text.split("\n"):
            assert start + len(line) <= WIDTH, line
            start = 0


def test_a_table_of_wide_letters() -> None:
    assert lay_out_table("a|b\n東京|1\nOslo|2") == "a    | b\n東京 | 1\nOslo | 2"


def test_what_cannot_be_read_is_told() -> None:
    for text in ("language: 2\nfamily: a\nrules: {b: {is: 'c +'}}\n", "language: 2\nfamily: [\n", "a: 1\n"):
        written, found = tidy(SourceFile("a.yaml", text))
        assert written is None
        assert found


# --- what it means stays ----------------------------------------------------------------------------------------------


def said(text: str) -> str:
    """All that stands in a file, comments too, without what is between."""
    return re.sub(r"\s+", "", text)


def spoilt(text: str, chance: random.Random) -> str:
    """A file in another layout: deeper or more shallow, with blanks where they may be, without alignment."""
    step = chance.choice([1, 3, 4])
    if re.search(r"^ *- ", text, re.M):  # what follows a dash is as deep as the dash and its blank: the step stays
        step = 2
    lines = []
    for line in text.split("\n"):
        body = line.lstrip(" ")
        levels, odd = divmod(len(line) - len(body), 2)
        if " | " in body:
            body = re.sub(r" *\| *", lambda _: chance.choice(["|", " | ", "|  "]), body)
        elif body.startswith(("if ", "let ", "move ", "note ", "require ", "return ", "choose ")) and '"' not in body:
            body = re.sub(r"(?<=\S) (?=[-+=<>]=? )|(?<=,) ", lambda _: " " * chance.randint(1, 3), body)
        lines.append(" " * (levels * step + odd) + body + (" " * chance.randint(0, 2) if "|" not in body else ""))
        if not body:
            lines.extend([""] * chance.randint(0, 2))
    return "\n".join(lines)


@shared
def meaning(root: Path, name: str) -> object:
    """The checked model of a ruleset, and what is said about it without its places; laws are of equal tables then."""
    shelf, document, _ = find(root / name, Shelf([root, *ruleset_roots()], ahead=1))
    if document is None:
        return None
    examined = examine(shelf, document, tables=False)
    told = sorted((d.code, d.message) for d in examined.diagnostics)
    return told, re.sub(r"Span\(file=SourceFile\(name='[^']*'\), start=[0-9]+, end=[0-9]+\)", "", repr(examined.model))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("root", [ruleset_roots()[-1], ROOT / "tests" / "cases"], ids=["rulesets", "cases"])
def test_a_ruleset_spoilt_and_laid_out_is_the_same(root: Path, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    laid_out = 0
    mine = sorted(root.rglob("*.yaml"))[seed - 1 :: 2]
    for path in sorted(root.rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        if path in mine and (written := tidy(SourceFile(path.name, spoilt(text, chance)))[0]):
            assert tidied(written) == written, path
            laid_out += 1
            text = written
        (tmp_path / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path.relative_to(root)).write_text(text, encoding="utf-8")
    assert laid_out >= len(mine) * 2 // 3
    names = [path.relative_to(root).as_posix() for path in ruleset_paths(root)]
    for name in names[seed - 1 :: 14 if len(names) > 30 else 2]:
        assert meaning(tmp_path, name) == meaning(root, name), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_all_files_are_laid_out_or_told(path: Path) -> None:
    file, found = decode(path.name, path.read_bytes())
    written = None if found else tidy(file)[0]
    if ROOT / "tests" not in path.parents:
        assert written == file.text, "regelwerk fmt rulesets"
    elif written is not None:
        assert said(written) == said(file.text)
        assert tidied(written) == written


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.integers(0, 10**9), st.integers(0, 4))
def test_whatever_is_read_is_laid_out_once(seed: int, changes: int) -> None:
    """The writer itself asserts that the file means what it meant."""
    chance = random.Random(seed)
    text = (
        chance.choice([path for path in FILES if path.stat().st_size < 20_000]).read_bytes().decode("utf-8", "replace")
    )
    text = spoilt(text, chance)
    for _ in range(changes):
        text = mutated(text, chance)
    written, found = tidy(SourceFile("a.yaml", text))
    assert (written is None) == bool(found)
    if written is not None:
        assert tidied(written) == written
