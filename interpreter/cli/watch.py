"""Doing something again whenever a file changes that it has looked at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from interpreter.reading.dependencies import noted

__all__ = ["watch"]

PAUSE = 0.1
"""Seconds between two looks at the files: a fifth of what a person would wait for."""
SETTLED = 0.03
"""Seconds in which nothing more changes when a file has been written."""


def watch(check: Callable[[], object], targets: Iterable[str]) -> None:
    """Checks, and again after each change of a file or folder that was looked at or named, until Ctrl-C."""
    named = [Path(target) for target in targets]
    try:
        while True:
            with noted() as evidence:
                check()
            paths = evidence.paths | set(_below(named))
            marks = _marks(paths)
            if not evidence.holds():  # something has changed while it was looked at
                continue
            while (now := _marks(paths)) == marks:
                time.sleep(PAUSE)
            while now != marks:  # whoever writes a file may not be done with it
                time.sleep(SETTLED)
                now, marks = _marks(paths), now
    except KeyboardInterrupt:
        return


def _below(paths: Iterable[Path]) -> Iterable[str]:
    """The paths, and all folders in them: a file may be new."""
    for path in paths:
        yield os.path.abspath(path)
        for folder, _, _ in os.walk(path):
            yield os.path.abspath(folder)


def _marks(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Return a cheap fingerprint of files, without reading them."""
    return {path: _mark(path) for path in paths}


def _mark(path: str) -> tuple[int, int] | None:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return about.st_mtime_ns, about.st_size
