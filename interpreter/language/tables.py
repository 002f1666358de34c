"""Parser tables, cached as JSON: computing them takes longer than loading a ruleset.

They are valid for one grammar and one version of Lark. The wheel contains a file with them. If it is missing or does
not match the grammar or Lark, they are computed and put into the cache folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

from interpreter.base.plain_data import Value
from interpreter.base.store import digest_of, store

if TYPE_CHECKING:
    from lark import Lark
    from lark.lark import PostLex

__all__ = ["FILE", "cache_tables", "cached_parser", "tables_of"]

FILE = "grammar.json"


def cached_parser(grammar: str, layout: PostLex, trees: Callable[..., object] | None) -> Lark | None:
    """Return a parser that makes such trees from cached tables, or None if none match the grammar and Lark."""
    from lark import Lark

    cached = next(filter(None, (_matching(text, grammar) for text in _texts(grammar))), None)
    if cached is None:
        return None
    data, memo = cached["data"], {int(key): value for key, value in cached["memo"].items()}
    table = data["parser"]["parser"]  # JSON turned the numbers of states into texts
    table["states"] = {int(key): value for key, value in table["states"].items()}
    parser: Lark = Lark._load_from_dict(data, memo, postlex=layout, tree_class=trees)  # type: ignore[no-untyped-call]
    return parser


def cache_tables(grammar: str, parser: Lark) -> None:
    """Put the tables of a parser into the cache."""
    cache = store()
    if cache is not None:
        cache.put(_key(grammar), tables_of(grammar, parser).encode())


def _texts(grammar: str) -> Iterator[str]:
    """Yield the tables of the wheel, then those in the cache folder."""
    with suppress(OSError):
        yield files("interpreter.language").joinpath(FILE).read_text(encoding="utf-8")
    cache = store()
    if cache is not None and (data := cache.get(_key(grammar))):
        yield data.decode()


def _matching(text: str, grammar: str) -> dict[str, Value] | None:
    """Return the tables in a text, or None if they do not match the grammar and the installed Lark."""
    try:
        tables = json.loads(text)
    except ValueError:
        return None
    return tables if isinstance(tables, dict) and tables.get("of") == _of(grammar) else None


def _key(grammar: str) -> bytes:
    return digest_of("tables", json.dumps(_of(grammar)))


def tables_of(grammar: str, parser: Lark) -> str:
    """Return the tables of a parser as JSON."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    data["options"] |= {"postlex": None, "tree_class": None}
    return json.dumps({"of": _of(grammar), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _of(grammar: str) -> dict[str, Value]:
    import lark

    return {"lark": lark.__version__, "grammar": blake2b(grammar.encode(), digest_size=16).hexdigest()}
