"""Hand-written WebAssembly text: each ``.wat`` file is a part of modules."""

from __future__ import annotations

__all__ = ["graph_cache_words", "written"]


def written(name: str, package: str = "interpreter.compiler.wasm") -> str:
    """Return the text of a file of a package. Words in braces are placeholders for values of the module."""
    from importlib.resources import files

    return (files(package) / name).read_text(encoding="utf-8")


def graph_cache_words(node_count: int) -> int:
    """Return the size of one slot of ``$graph_cache`` in words; ``runtime.wat`` describes its layout."""
    return 4 + 2 * node_count + 3 * node_count * node_count
