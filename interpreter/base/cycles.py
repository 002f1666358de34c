"""Control of Python's cycle collector (`gc`), which costs time and finds nothing in long-lived or acyclic objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_search", "search_rarely"]


def search_rarely() -> None:
    """Run the collector only after many allocations: rulesets are large and stay in memory."""
    gc.set_threshold(200_000, 20, 10)


@contextmanager
def no_search() -> Iterator[None]:
    """Disable the collector inside the context: trees that are built stay in memory, states and logs have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # move new objects to the oldest generation
                gc.freeze()
                gc.unfreeze()
            gc.enable()
