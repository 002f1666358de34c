"""Threads and processes, and what stands in for them in a browser, which has neither.

A browser runs this package on one thread (Pyodide). There an executor does its work at once, when it is submitted.
SQLite works there in memory, and ``asyncio`` runs what it would leave to a thread at once too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar, TypeVarTuple

__all__ = ["IN_BROWSER", "Inline", "cores", "process_pool", "thread_pool"]

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
IN_BROWSER = sys.platform == "emscripten"


class Inline(Executor):
    """Executor that does its work when it is submitted."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **keywords: P.kwargs) -> Future[T]:
        """Do the work and return a future that has its result."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()
        try:
            done.set_result(work(*args, **keywords))
        except Exception as error:  # whoever asks for the result gets it, as from a thread
            done.set_exception(error)
        return done


def thread_pool(most: int, name: str) -> Executor:
    """Return an executor of at most so many threads."""
    return Inline() if IN_BROWSER else ThreadPoolExecutor(most, name)


def process_pool(most: int, begin: Callable[[*Ts], object], *given: *Ts) -> Executor:
    """Return an executor of at most so many processes, each of which calls ``begin`` first."""
    if IN_BROWSER:
        return Inline()
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")  # the same on every system, and safe with threads
    return ProcessPoolExecutor(most, context, begin, given)


def cores() -> int:
    """Return the number of processors that this process may use."""
    if IN_BROWSER:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
