"""First lines of docstrings start with a verb or a noun and say what the thing is for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "interpreter"
CLAUSES = {"what", "whether", "how", "where", "who", "whom", "whose", "which", "when", "why"}
"""Words that open a clause: a reader learns late, or never, what kind of thing is described."""
AT_MOST = 0.03


def _docstrings() -> Iterator[tuple[str, str]]:
    """Each docstring of the package, with the module and line of what it describes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text is not None:
                    yield f"{path.relative_to(PACKAGE)}:{node.body[0].lineno}", text


def test_docstrings_start_with_a_verb_or_a_noun() -> None:
    texts = list(_docstrings())
    clauses = [
        f"{place}: {text.splitlines()[0]}"
        for place, text in texts
        if (word := re.search(r"\w+", text)) is not None and word[0].lower() in CLAUSES
    ]
    print(f"{len(clauses)} of {len(texts)} docstrings begin with a clause: {len(clauses) / len(texts):.1%}")
    assert len(clauses) <= AT_MOST * len(texts), "\n".join(clauses)
