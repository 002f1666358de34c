"""Rerun a check whenever a file that it has read changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from interpreter.reading.dependencies import PAUSE, SETTLED, marks_of, noted

__all__ = ["watch"]


def watch(check: Callable[[], object], targets: Iterable[str]) -> None:
    """Run the check now and after each change of a file or folder that it read or that is a target, until Ctrl-C."""
    named = list(targets)
    try:
        while True:
            with noted() as evidence:
                check()
            below = (folder for target in named for folder, _, _ in os.walk(target))
            paths = evidence.paths.union(map(os.path.abspath, (*named, *below)))  # so that new files are noticed
            marks = marks_of(paths)
            if not evidence.holds():  # something changed during the check
                continue
            while (now := marks_of(paths)) == marks:
                time.sleep(PAUSE)
            while now != marks:  # a file may be only partly written
                time.sleep(SETTLED)
                now, marks = marks_of(paths), now
    except KeyboardInterrupt:
        return
