"""Each fix that a diagnostic offers makes it vanish: tried on all cases of ``tests/bad``.."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import Edit, Fix, fixed, remove
from interpreter.base.source import SourceFile
from interpreter.loading.pipeline import examine
from interpreter.reading.files import Shelf
from tests.play.toy import ROOT as TOYS
from tests.test_bad import CASES, said_of, set_up

FOLLOWED_BY = {
    ("E014-folded-rule-text", "E201"): "a block has its own syntax",
    ("E103-cites-a-word", "E601"): "the list names a statement that is none",
    ("E103-list-for-rule-text", "E401"): "the text is checked now",
    ("E201-rule-that-others-need", "E401"): "the text is checked now",
    ("E301-no-such-alternative", "E005"): "the right name is a key already",
    ("E304-column-of-places", "E403"): "the attribute that exists may be none",
    ("E405-key-of-a-table", "E401"): "the sum is checked now",
    ("E413-link-that-nobody-passes", "E412"): "the link was the only one to a node",
    ("L003-covered-for-good", "E503"): "the layer above names the one that is gone",
}
"""Errors that a fix brings to light."""


def _alike(diagnostic: Diagnostic) -> tuple[str, str, str]:
    return diagnostic.code, diagnostic.message, diagnostic.span.file.name if diagnostic.span else ""


def _count(found: list[Diagnostic], wanted: Diagnostic) -> int:
    return sum(_alike(each) == _alike(wanted) for each in found)


def _apply(root: Path, fix: Fix) -> None:
    for name, text in {edit.span.file.name: edit.span.file.text for edit in fix.edits}.items():
        path = next(path for path in root.rglob("*") if path.is_file() and path.as_posix().endswith(name))
        path.write_text(fixed(text, (edit for edit in fix.edits if edit.span.file.name == name)), encoding="utf-8")


def _tried(case: str, folder: Path) -> Iterator[str]:
    """Apply each fix of a case and yield the codes of those that help."""
    before = said_of(set_up(folder / "as it is", case))
    offered = [(diagnostic, fix) for diagnostic in before for fix in diagnostic.fixes]
    for number, (diagnostic, fix) in enumerate(offered):
        root = set_up(folder / str(number), case)
        _apply(root, fix)
        after = said_of(root)
        assert _count(after, diagnostic) < _count(before, diagnostic), (diagnostic, fix.title)
        new = {each.code for each in after if each.code[0] == "E"} - {each.code for each in before}
        assert new <= {code for name, code in FOLLOWED_BY if name == case}, (diagnostic, fix.title, new)
        yield diagnostic.code


def test_each_fix_mends_what_it_is_for_and_half_of_the_codes_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [code for code in meanings() if code[0] in "EL"]
    monkeypatch.chdir(tmp_path)
    fixable = {code for case in CASES if case[:4] in codes for code in _tried(case, tmp_path / case)}
    assert len(fixable & {*codes}) * 2 >= len(codes), sorted({*codes} - fixable)


REMOVALS = [
    ("a: 1\n@b:\n  c: 1\n\n  d: 2\n# about e\ne: 3\n", "a: 1\n# about e\ne: 3\n"),
    ("a:\n  # why\n  @b: 1\nc: 2\n", "c: 2\n"),
    ("a: {b: 1, @c: [1, 2], d: 3}\n", "a: {b: 1, d: 3}\n"),
    ('a: {@b: 1, c: "},"}\n', 'a: {c: "},"}\n'),
    ("a: {b: 1, c: [@D-1]}\n", "a: {b: 1}\n"),
    ("x: 1\na: [@D-1]\n", "x: 1\n"),
    ("a: [B-1,\n    @B-2, B-3]\n", "a: [B-1, B-3]\n"),
    ("a: |\n  let b = 1\n  @f(b,\n    2)\n  g(b)\n", "a: |\n  let b = 1\n  g(b)\n"),
]


@pytest.mark.parametrize(("text", "left"), REMOVALS)
def test_what_is_removed_goes_with_what_would_be_empty(text: str, left: str) -> None:
    file = SourceFile("a.yaml", text.replace("@", ""))
    [fix] = remove(file.at(text.index("@"))).fixes
    assert fixed(file.text, fix.edits) == left


def _without_depth(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with one of them, or one and all that follow it at its depth, moved to the left."""
    for number, line in enumerate(lines):
        deep = line[: len(line) - len(line.lstrip())]
        if deep and line.strip():
            below = enumerate(lines[number + 1 :], number + 1)
            shallow = (at for at, each in below if not each.strip() or not each.startswith(deep))
            for end in {number + 1, next(shallow, len(lines))}:
                moved = [each[2:] for each in lines[number:end]]
                yield number + 1, "\n".join([*lines[:number], *moved, *lines[end:]])


def test_what_has_lost_its_depth_gets_it_back(tmp_path: Path) -> None:
    shutil.copytree(TOYS / "pebbles", tmp_path / "pebbles")
    file, wrong, mended = tmp_path / "pebbles/family.yaml", set[int](), 0

    def errors() -> list[Diagnostic]:
        shelf = Shelf([tmp_path])
        document, found = shelf.read("ruleset", "pebbles")
        found = [*found, *(examine(shelf, document).diagnostics if document is not None else ())]
        return [each for each in found if each.severity == "error"]

    for number, moved in _without_depth(file.read_text(encoding="utf-8").split("\n")):
        file.write_text(moved, encoding="utf-8")
        for fix in (fix for each in errors() if each.code in ("E001", "E101") for fix in each.fixes):
            file.write_text(fixed(moved, fix.edits), encoding="utf-8")
            wrong |= {number} if errors() else set()
            mended += not errors()
    assert mended > 20
    assert wrong == {70, 71, 72, 79}, "boards and measures have any names; `white` is like `when`"


def test_words_that_are_written_do_not_join_those_beside() -> None:
    file = SourceFile("a.yaml", "a: b&&c")
    diagnostic = Diagnostic("E201", "`&&` does not belong", file.at(4, 2), help="write `and`")
    assert [fixed(file.text, fix.edits) for fix in diagnostic.fixes] == ["a: b and c"]


def test_a_remedy_can_be_kept() -> None:
    file = SourceFile("a.yaml", "a: 1")
    diagnostic = Diagnostic("E005", "twice", file.at(0), help=remove(file.at(0)))
    assert pickle.loads(pickle.dumps(diagnostic)).fixes == [Fix("remove it", (Edit(file.at(0, 4), ""),))]
