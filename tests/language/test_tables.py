"""Tables that are kept parse as the grammar does from which they are made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import lark
import pytest

from interpreter.base.source import Excerpt, SourceFile
from interpreter.language import grammar as g
from interpreter.language import tables
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value, excerpt, read_yaml

RULESETS = Path(__file__).parents[2] / "rulesets"


@pytest.fixture
def beside_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No file beside the grammar, and a folder of its own for what is kept."""
    monkeypatch.setattr(tables, "FILE", "no-such-file.json")
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))


def texts(value: Value) -> list[str]:
    """All literal blocks below a value: most of them are rule text."""
    match value:
        case Scalar():
            found = excerpt(value)
            return [found.text] if value.style == "literal" and isinstance(found, Excerpt) else []
        case Sequence():
            return [text for item in value.items for text in texts(item)]
        case Mapping():
            return [text for _, item in value.items() for text in texts(item)]


def test_a_build_has_the_lark_of_the_constraints() -> None:
    root = RULESETS.parent
    (pinned,) = re.findall(r"^lark==.*$", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert f'"{pinned}"' in (root / "pyproject.toml").read_text(encoding="utf-8").split("[project]")[0]


@pytest.mark.slow
@pytest.mark.usefixtures("beside_nothing")
def test_they_parse_as_the_grammar_does() -> None:
    whole, quick = g.grammar.__wrapped__(), g.grammar.__wrapped__()
    assert quick.source_path == "<deserialized>"
    assert whole.source_path != "<deserialized>"
    roots = (read_yaml(SourceFile(path.name, path.read_text(encoding="utf-8")))[0] for path in RULESETS.rglob("*.yaml"))
    seen = set()
    for text in sorted({text for root in roots if root for text in texts(root)}):
        for start in g.STARTS:
            outcomes = [_outcome(parser, text, start) for parser in (quick, whole)]
            assert outcomes[0] == outcomes[1]
            if isinstance(outcomes[0], lark.Tree):
                seen.add(start)
    assert {"procedure", "function"} <= seen


def _outcome(parser: lark.Lark, text: str, start: str) -> Any:
    """The tree with its places, or the error with what was wanted."""
    try:
        tree = parser.parse(text.rstrip() + "\n", start=start)
    except lark.UnexpectedToken as error:
        return error.pos_in_stream, str(error.token), error.accepts
    except (lark.UnexpectedCharacters, g.MisalignedError) as error:
        return type(error), str(error).splitlines()[0]
    return tree


@pytest.mark.usefixtures("beside_nothing")
def test_tables_of_another_lark_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lark, "__version__", "0.1")
    made, again = (g.grammar.__wrapped__() for _ in range(2))
    assert made.source_path != "<deserialized>"
    assert again.source_path == "<deserialized>"
    assert again.parse("a + b\n", start="expression") == made.parse("a + b\n", start="expression")
    monkeypatch.setattr(lark, "__version__", "0.2")
    assert g.grammar.__wrapped__().source_path != "<deserialized>"


@pytest.mark.usefixtures("beside_nothing")
def test_tables_of_something_else_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    g.grammar.__wrapped__()  # keeps them
    options = g.grammar.__wrapped__().options
    layout, trees = options.postlex, options.tree_class
    assert layout is not None
    assert tables.cached_parser(g.grammar_text(), layout, trees) is not None
    assert tables.cached_parser(g.grammar_text() + "\n", layout, trees) is None
    monkeypatch.setattr(lark, "__version__", "0.1")
    assert tables.cached_parser(g.grammar_text(), layout, trees) is None


def test_a_build_writes_those_beside_the_grammar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(g, "__file__", str(tmp_path / "grammar.py"))
    g.write_tables()
    assert tables._matching((tmp_path / tables.FILE).read_text(encoding="utf-8"), g.grammar_text()) is not None
