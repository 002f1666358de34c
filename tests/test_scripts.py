"""Own scripts stay small and legible: their number of lines, the width of a line, and one statement a line."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = [path for path in sorted((ROOT / "interpreter").glob("*/static/**/*.js")) if "vendor" not in path.parts]
MOST_LINES, WIDTH = 900, 120
TEXTS = re.compile(r"""`[^`]*`|"[^"\n]*"|//.*|/\*.*?\*/|/(?:\\.|\[[^\]\n]*\]|[^/\n\\ ])+/""")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_there_are_few_lines() -> None:
    assert SCRIPTS
    counts = {path.name: len(lines_of(path)) for path in SCRIPTS}
    assert sum(counts.values()) <= MOST_LINES, counts


def test_no_line_is_long_and_none_holds_two_statements() -> None:
    wrong = []
    for path in SCRIPTS:
        for number, line in enumerate(lines_of(path), 1):
            bare = re.sub(r"for \(.*?;.*?;", "for (", TEXTS.sub("", line))
            if len(line) > WIDTH or re.search(r";\s*[^\s}]|;\s*\}\s*[^\s;,)}]", bare):
                wrong.append(f"{path.name}:{number}: {line}")
    assert wrong == []
