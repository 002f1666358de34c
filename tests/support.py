"""Helpers shared by tests."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import Any

from interpreter.base.source import Excerpt, typed
from interpreter.bots import registry
from interpreter.language.parse import Trees
from interpreter.reading.files import Shelf

__all__ = ["ENVELOPES", "TIMES", "TREES", "drop_if_grown", "drop_shared", "rule_text", "ruleset_paths", "shared"]

ENVELOPES = str(Path(__file__).parent / "cases" / "envelopes" / "envelopes.yaml")
"""A small ruleset in which seats bid sealed, one after another."""
TIMES = int(os.environ.get("REGELWERK_FUZZ", "1"))
"""Factor of the number of random examples, for long runs."""
TREES = Trees()
"""Rule text parsed so far, for all tests of a process."""
MOST_MEMORY = 1_000
"""So many megabytes may a process of the tests take before it drops what its tests share."""
SOME_MEMORY = 200
"""Where a process grew by so many megabytes, it looks for what nobody needs any more."""
_kept = 0.0
"""Megabytes that were left when this was done last."""

shared = cache
"""Cache the results of a function, mostly rulesets and tables, for the tests of one file."""


def rule_text(text: str) -> Excerpt:
    """Return rule text as a whole file, so that positions in the text are positions in the file."""
    return typed(text, "rule")


def ruleset_paths(root: Path) -> list[Path]:
    """Return the paths of all rulesets in a folder of rulesets, also of those that a file of many makes."""
    made = Shelf([root]).documents("ruleset", Shelf([root]).made)
    own = (path for path in root.glob("*/*.yaml") if re.search("^ruleset:", path.read_text(encoding="utf-8"), re.M))
    return sorted([*own, *(each.address for each in made)])


def drop_shared() -> None:
    """Drop all shared rulesets, tables and modules, and those that the interpreter keeps because they may be used
    again. Between two files of tests, what is left is spared the cycle collector from then on."""
    _drop()
    _give_back()
    if _memory() > _kept + SOME_MEMORY:
        _collect()


def _drop() -> None:
    for kept in _caches():
        kept.cache_clear()
    registry._known.clear()


def _collect() -> None:
    """Look at all objects, which takes a while, and spare the cycle collector those that are left."""
    global _kept
    gc.unfreeze()  # something spared may be garbage by now
    gc.collect()
    gc.freeze()
    _give_back()
    _kept = _memory()


def _give_back() -> None:
    """Return freed memory to the system, where the C library would keep it."""
    with suppress(AttributeError, OSError):  # glibc alone has this function
        ctypes.CDLL(None).malloc_trim(0)


def _caches() -> Iterator[_lru_cache_wrapper[Any]]:
    """Yield the cached functions of the tests, and those of the interpreter that keep recent results."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("interpreter.", "tests.")):
            functions = (each for each in vars(module).values() if isinstance(each, _lru_cache_wrapper))
            is_test = name.startswith("tests.")
            yield from (each for each in functions if is_test or each.cache_parameters()["maxsize"] is not None)


def drop_if_grown() -> None:
    """Drop what is shared if the process takes more than :data:`MOST_MEMORY`, and again whenever it has grown by
    :data:`SOME_MEMORY`, since the rest cannot be dropped."""
    if _memory() > max(MOST_MEMORY, _kept + SOME_MEMORY):
        TREES.clear()
        _drop()
        _collect()


def _memory() -> float:
    """Return the resident memory in megabytes; 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096 / 1e6
