"""Text of the runtime: functions in WebAssembly text that every compiled module contains.

The functions are written by hand in ``runtime.wat``. Memory, globals and exports are left to the module around them.
"""

from __future__ import annotations

__all__ = ["graph_cache_words", "runtime_text"]


def runtime_text() -> str:
    """Return the functions of ``runtime.wat``, to be placed inside a ``(module ...)`` after its memory and globals."""
    from importlib.resources import files

    return (files(__package__) / "runtime.wat").read_text(encoding="utf-8")


def graph_cache_words(node_count: int) -> int:
    """Return the size of one slot of ``$graph_cache`` in words; ``runtime.wat`` describes its layout."""
    return 4 + 2 * node_count + 2 * node_count * node_count
