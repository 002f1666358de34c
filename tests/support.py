"""Helpers shared by tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interpreter.base.source import SourceFile
from interpreter.compare import ablation, paired_games
from interpreter.language.parse import Trees
from interpreter.language.texts import Typed
from interpreter.simulate import round_robin, tuning, workers

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

__all__ = ["TIMES", "TREES", "drop_if_grown", "drop_shared", "rule_text", "shared"]

TIMES = int(os.environ.get("REGELWERK_FUZZ", "1"))
"""Factor of the number of random examples, for long runs."""
TREES: Trees = {}
"""Rule text parsed so far, for all tests of a process."""
MOST_MEMORY = 450
"""So many megabytes may a process of the tests take before it drops what its tests share."""
SOME_MEMORY = 80
"""Where a process grew by so many megabytes, it looks for what nobody needs any more."""
_kept = 0.0
"""Megabytes that were left when this was done last."""

Made = TypeVar("Made")
_SHARED: list[Any] = []
_OF_WORKERS = ablation._ready, paired_games._ready, round_robin._ready, tuning._ruleset, workers._ready


def rule_text(text: str) -> Typed:
    """Return rule text as a whole file, so that positions in the text are positions in the file."""
    return Typed(SourceFile("rule", text))


def shared(make: Callable[..., Made]) -> _lru_cache_wrapper[Made]:
    """Cache the results of a function, mostly rulesets and tables, for the tests of one file."""
    kept = cache(make)
    _SHARED.append(kept)
    return kept


def drop_shared() -> None:
    """Drop all shared rulesets, tables and modules, and those that workers keep for the next batch of games."""
    global _kept
    for kept in (*_SHARED, *_OF_WORKERS):
        kept.cache_clear()
    if _memory() > _kept + SOME_MEMORY:  # to look at all objects takes a while
        gc.collect()
        _kept = _memory()


def drop_if_grown() -> None:
    """Drop what is shared if the process takes more than :data:`MOST_MEMORY`, and again whenever it has grown by
    :data:`SOME_MEMORY`, since the rest cannot be dropped."""
    if _memory() > max(MOST_MEMORY, _kept + SOME_MEMORY):
        TREES.clear()
        drop_shared()


def _memory() -> float:
    """Return the resident memory in megabytes; 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096 / 1e6
