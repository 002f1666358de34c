"""Progress of long work on stderr: in place on a terminal, elsewhere as a line every ten seconds; Ctrl-C ends games
without losing results."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import click

from interpreter.base import plurals
from interpreter.base.extras import Unavailable
from interpreter.cli.failures import refused
from interpreter.cli.output import notice

if TYPE_CHECKING:
    from interpreter.simulate.simulation import Unfinished
    from interpreter.simulate.workers import Help, Job

__all__ = ["STOPPED", "collected", "counted", "counting", "finish", "interruptible", "naming"]

STOPPED = 130
"""Exit status after Ctrl-C, as in shells."""
MOST_TOLD = 5
"""Largest number of games that do not end to be described."""

AWHILE, EVERY = 1.0, 10.0
"""Seconds between two looks at the work, on a terminal and elsewhere."""
CLEARED = "\r\x1b[K"
"""Clears the line of a terminal."""

G = TypeVar("G")
T = TypeVar("T")


def counted(items: Iterable[T], total: int, about: str) -> Iterator[T]:
    """Yield the items and advance the progress after each."""
    with counting(about, total) as tell:
        for item in items:
            yield item
            tell(1)


def counting(about: str, total: int, done: int = 0) -> AbstractContextManager[Callable[[int], None]]:
    """Show how much is done, with rate and remaining time. The context gets a function that advances it."""
    return (_bar if sys.stderr.isatty() else _lines)(about, total, done)


@contextmanager
def _lines(about: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
    began, now = monotonic(), done

    def tell(more: int) -> None:
        nonlocal now
        now += more

    def line() -> str:
        text, rate = f"{about}: {now:,} of {total:,}", (now - done) / (monotonic() - began)
        return f"{text}, {rate:,.1f}/s, {(total - now) / rate:,.0f} s left" if rate else text

    with _regularly(line):
        yield tell


@contextmanager
def _bar(about: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
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
def naming(about: str) -> Iterator[Callable[[str], None]]:
    """Show the name of the present item, once the work takes long. Yield a function that sets it."""
    name = ""

    def tell(new: str) -> None:
        nonlocal name
        name = new

    with _regularly(lambda: f"{about} {name}"):
        yield tell


@contextmanager
def _regularly(line: Callable[[], str]) -> Iterator[None]:
    """Show the present line from time to time."""
    over, is_terminal = Event(), sys.stderr.isatty()

    def show() -> None:
        while not over.wait(AWHILE if is_terminal else EVERY):
            click.echo(f"{CLEARED}{line()}" if is_terminal else line(), nl=not is_terminal, err=True)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if is_terminal:
            click.echo(CLEARED, nl=False, err=True)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Defer the first Ctrl-C; a second one ends the program. Yield a function that returns whether there was one."""
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


def collected(job: Job[G, T], given: G, seeds: range, crew: Callable[[int], Help], about: str) -> list[T]:
    """Return all results of a job, or those before Ctrl-C."""
    from interpreter.simulate.workers import WorkersLost, shared

    done: list[T] = []
    with interruptible() as stopped, counting(about, len(seeds)) as tell:
        try:
            for more in shared(job, given, seeds, *crew(len(seeds)), stopped):
                done.extend(more)
                tell(len(more))
        except (WorkersLost, Unavailable) as error:
            refused(f"{error} ({len(done)} of {len(seeds)} {about} are done)")
    return done


def finish(unfinished: Sequence[Unfinished], stopped: str = "") -> None:
    """End a command that has played many games: report the games that do not end, and how far it was when it was
    ``stopped``. The exit status is not 0 if there is anything to report."""
    if unfinished:
        notice(f"left out: {plurals.counted(len(unfinished), 'game that does', 'games that do')} not end")
    for game in sorted(unfinished, key=lambda game: (game.ruleset, game.seed))[:MOST_TOLD]:
        notice(f"  {game}")
    if len(unfinished) > MOST_TOLD:
        notice(f"  and {len(unfinished) - MOST_TOLD:,} more")
    if stopped:
        notice(f"stopped: {stopped}")
    if stopped or unfinished:
        raise click.exceptions.Exit(STOPPED if stopped else 1)
