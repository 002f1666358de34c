"""The tables of the parser, kept as JSON: working them out takes longer than loading a ruleset.

They hold for one grammar and one version of Lark. A package is built with a file of them beside the grammar; where that
is missing, or is of another grammar or Lark, they are worked out, and kept where rulesets are kept.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

from interpreter.base.plain_data import Value
from interpreter.base.store import digest_of, store

if TYPE_CHECKING:
    from lark import Lark
    from lark.lark import PostLex

__all__ = ["FILE", "keep_tables", "kept_parser", "tables_of"]

FILE = "grammar.json"


def kept_parser(grammar: str, layout: PostLex) -> Lark | None:
    """The parser of the kept tables, where they are those of this grammar and of the Lark that is installed."""
    from lark import Lark

    kept = _shipped(grammar) or _kept(grammar)
    if kept is None:
        return None
    data, memo = kept["data"], {int(key): value for key, value in kept["memo"].items()}
    table = data["parser"]["parser"]  # JSON has texts for keys; the tokens of a state are looked up as such
    table["states"] = {int(key): value for key, value in table["states"].items()}
    parser: Lark = Lark._load_from_dict(data, memo, postlex=layout)  # type: ignore[no-untyped-call]
    return parser


def keep_tables(grammar: str, parser: Lark) -> None:
    """Keeps the tables of a parser that had to work them out."""
    found = store()
    if found is not None:
        found.put(_key(grammar), tables_of(grammar, parser).encode())


def _shipped(grammar: str) -> dict[str, Value] | None:
    try:
        text = files("interpreter.language").joinpath(FILE).read_text(encoding="utf-8")
    except OSError:
        return None
    return _fitting(text, grammar)


def _kept(grammar: str) -> dict[str, Value] | None:
    found = store()
    data = found.get(_key(grammar)) if found else None
    return _fitting(data.decode(), grammar) if data else None


def _fitting(text: str, grammar: str) -> dict[str, Value] | None:
    """Tables, if they are those of this grammar and of the Lark that is installed."""
    try:
        tables = json.loads(text)
    except ValueError:
        return None
    return tables if isinstance(tables, dict) and tables.get("of") == _of(grammar) else None


def _key(grammar: str) -> bytes:
    return digest_of("tables", json.dumps(_of(grammar)))


def tables_of(grammar: str, parser: Lark) -> str:
    """Return the tables of a parser to store."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    data["options"]["postlex"] = None
    return json.dumps({"of": _of(grammar), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _of(grammar: str) -> dict[str, Value]:
    import lark

    return {"lark": lark.__version__, "grammar": blake2b(grammar.encode(), digest_size=16).hexdigest()}
