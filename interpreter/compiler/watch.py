"""A watch over runs that count nothing: who runs too long, or takes too much memory, is stopped from outside.

The fast form of a ruleset has no meter. A thread looks at it now and then; a run that lasts is abandoned, and the plain
form, which counts its steps, does it again and says where the rule goes on without end.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from weakref import WeakSet

__all__ = ["Tired", "Watch"]

EVERY = 0.05
"""Seconds between two looks."""

MOST_LOOKS = 10
MOST_MEMORY = 300 * 1024 * 1024
"""A run may last so many looks, and make the process grow by so many bytes."""


class Tired(Exception):
    """Raised in a run that lasts too long, wherever it is."""


class Watch:
    """Looks at the runs of one machine, one at a time: between ``begin`` and ``end``."""

    __slots__ = ("__weakref__", "_fired", "_firing", "_looks", "_memory", "_on", "_run", "_seen", "_thread")

    def __init__(self) -> None:
        self._on = self._firing = self._fired = False
        self._run = self._thread = 0
        self._seen = self._looks = self._memory = 0
        _watched.add(self)
        _start()

    def begin(self) -> None:
        """A run begins; it must end, in this thread, by ``end``."""
        self._run += 1
        self._thread = threading.get_ident()
        self._on = True

    def end(self) -> None:
        """The run is over. Raises :class:`Tired` where it was stopped in its last moment."""
        self._on = False
        if self._firing:
            self._calm()

    def quiet(self) -> None:
        """The run is over, whether it was stopped or not; nothing will stop what comes next."""
        try:
            self.end()
        except Tired:
            self.end()

    def _calm(self) -> None:
        """The other thread is about to stop this run, or has just done so."""
        while self._firing and not self._fired:
            time.sleep(0)
        if self._fired:
            self._fired = self._firing = False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), None)
            raise Tired

    def look(self) -> None:
        """One look, from the watching thread."""
        run = self._run
        if not self._on or self._firing:
            self._seen = -1
            return
        memory = _memory()
        if run != self._seen:
            self._seen, self._looks, self._memory = run, 0, memory
            return
        self._looks += 1
        if self._looks < MOST_LOOKS and memory - self._memory < MOST_MEMORY:
            return
        self._firing = True
        # From here on the run cannot end without looking at ``_firing``; if it has ended before, nothing is done.
        if self._on and self._run == run:
            error = ctypes.py_object(Tired)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), error)
            self._fired = True
        else:
            self._firing = False


_watched: WeakSet[Watch] = WeakSet()
_watching: list[int] = []


def _start() -> None:
    """The watching thread, once a process: a copy of the process has none."""
    if os.getpid() not in _watching:
        _watching[:] = [os.getpid()]
        threading.Thread(target=_look_on, name="watch", daemon=True).start()


def _look_on() -> None:
    while True:
        time.sleep(EVERY)
        for watch in list(_watched):
            watch.look()


def _memory() -> int:
    """The most memory that the process has had so far, in bytes; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
