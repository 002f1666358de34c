"""Python's search for cycles of objects, which costs more than it finds where what is made has none, or stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_search", "search_rarely"]


def search_rarely() -> None:
    """From now on Python looks for cycles when many objects have been made: rulesets are large, and stay."""
    gc.set_threshold(50_000, 20, 10)


@contextmanager
def no_search() -> Iterator[None]:
    """Inside, nobody looks for cycles: trees that are built stay, and states and logs have none."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            if not gc.get_freeze_count():  # what was built is old at once: else all of it is searched now
                gc.freeze()
                gc.unfreeze()
            gc.enable()
