"""Progress of many games on a terminal; Ctrl-C ends them without losing results."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["STOPPED", "counted", "counting", "interruptible"]

STOPPED = 130
"""The exit status after Ctrl-C, as shells have it."""


T = TypeVar("T")


def counted(items: Iterable[T], total: int, about: str) -> Iterator[T]:
    """The items one after another, each told of when the next one is asked for."""
    with counting(about, total) as tell:
        for item in items:
            yield item
            tell(1)


@contextmanager
def counting(about: str, total: int, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar with how many a second and the time left, for who sits at a terminal; gives what tells it of more."""
    if not sys.stderr.isatty():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(about, total=total, completed=done, rate="")

        def tell(more: int) -> None:
            progress.advance(task, more)
            speed = progress.tasks[0].speed
            progress.update(task, rate=f"{speed:,.1f}/s" if speed else "")

        yield tell


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Inside, a first Ctrl-C is only noted: what is given says whether there was one. A second one ends the program."""
    noted = False

    def note(*_: object) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)
