"""Many games at once: parts of the work are done by workers, and rows come back in any order.

A worker is anything that a :class:`concurrent.futures.Executor` gives work to: here processes of this machine, in
:mod:`interpreter.play.cluster` those of others. Each loads the ruleset once, from the cache where there is one. What a
game is depends on its seed alone; so who plays it, and together with which others, changes nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from threading import Lock, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

from interpreter.base.diagnostics import RulesetError
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.ruleset import Ruleset, load
from interpreter.play.bots.base import Bot
from interpreter.play.bots.named import bots_of
from interpreter.play.simulate import Row, played

__all__ = [
    "Batch",
    "Crew",
    "Plan",
    "Work",
    "WorkersLost",
    "batch_of",
    "batches",
    "cores",
    "play_batch",
    "processes",
    "shared",
    "simulated",
]

R = TypeVar("R")
Work = Callable[[Sequence[int], Callable[[], bool]], Iterator[R]]
"""Makes a row for each seed, one after another, until it is to stop."""

AT_ONCE = 0.5
"""So many seconds a part of the work should take: what is still out when somebody stops is lost."""
MOST = 500
"""So many games a part has at most."""
BEGINS = 3.0
"""So many seconds pass until processes have begun and know what to do: work that takes no longer is done alone."""
ATTEMPTS = 5
"""So often a part is given out whose worker was lost."""


class WorkersLost(Exception):
    """Workers ended, or cannot play what they should; says why."""


@dataclass(frozen=True)
class Plan:
    """What is to be played, as it is told to workers. ``digest`` is that of the ruleset: theirs must be the same."""

    ruleset: str
    overlays: tuple[str, ...]
    digest: str
    players: int
    bots: str
    settings: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Batch(Generic[R]):
    """What came back: rows, and the seed of a game in which a rule failed."""

    rows: list[R]
    seconds: float
    failed: int | None = None


@dataclass(frozen=True)
class Crew:
    """Workers: who gives them work, how many can play at a time, how they are told to stop, and which errors say that
    one of them was lost with its work, which another one can do."""

    executor: Executor
    slots: Callable[[], int]
    stop: Callable[[], object]
    lost: tuple[type[BaseException], ...] = ()


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


# --- a worker

_stopped = False
_one_at_a_time = Lock()  # the games of a table share it; a worker of a cluster may have several threads


@lru_cache(maxsize=4)
def _ready(plan: Plan) -> tuple[Ruleset, list[Bot]]:
    try:
        ruleset = load(plan.ruleset, plan.overlays).for_players(plan.players)
        if ruleset.digest != plan.digest:
            raise WorkersLost(f"a worker has another `{ruleset.id}` than this machine: its rules differ")
        return ruleset, bots_of(plan.bots, ruleset, plan.players)
    except RulesetError as error:
        raise WorkersLost(f"a worker cannot load `{plan.ruleset}`: {error.diagnostics[0].message}") from None


def play_batch(plan: Plan, seeds: Sequence[int]) -> Batch[Row]:
    """Plays these games, in a worker."""
    return batch_of(lambda: _playing(*_ready(plan), dict(plan.settings)), seeds)


def _playing(ruleset: Ruleset, bots: Sequence[Bot], settings: Mapping[str, Any]) -> Work[Row]:
    return lambda seeds, stopped: played(ruleset, bots, seeds, settings, stopped)


def batch_of(ready: Callable[[], Work[R]], seeds: Sequence[int]) -> Batch[R]:
    """Does the work for these seeds, in a worker that makes itself ready for it."""
    with _one_at_a_time:
        work = ready()
        rows: list[R] = []
        start = monotonic()
        try:
            rows.extend(work(seeds, lambda: _stopped))
        except RuleFailure:  # the failure itself knows files; whoever asked plays the game again and has it
            return Batch(rows, monotonic() - start, seeds[len(rows)])
        return Batch(rows, monotonic() - start)


def _begin(stop: Event) -> None:
    """A process begins: whoever presses Ctrl-C means the one that gives out work, and that one tells the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_heed, args=(stop,), daemon=True).start()


def _heed(stop: Event) -> None:
    global _stopped
    stop.wait()
    _stopped = True


@contextmanager
def _unheard() -> Iterator[None]:
    """A process that is begun inside does not hear Ctrl-C, not even before it can say that it will not heed it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(jobs: int) -> Iterator[Crew]:
    """So many processes of this machine."""
    context = get_context("spawn")  # the same on every system, and sure beside threads
    stop = context.Event()
    with ProcessPoolExecutor(jobs, context, _begin, (stop,)) as executor:
        with _unheard():
            for _ in range(jobs):
                executor.submit(cores)  # any work begins a process
        try:
            yield Crew(executor, lambda: jobs, stop.set)
        finally:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)


# --- who gives out work


def simulated(
    plan: Plan,
    ruleset: Ruleset,
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[Row]]:
    """All games of a plan, shared out as :func:`shared` says."""
    bots = bots_of(plan.bots, ruleset, plan.players)
    here = _playing(ruleset, bots, dict(plan.settings))
    return shared(here, partial(play_batch, plan), seeds, crew, alone, stopped)


def shared(
    here: Work[R],
    there: Callable[[Sequence[int]], Batch[R]],
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[R]]:
    """The rows of all seeds, some at a time, in any order. For so many seconds they are made ``here``, alone; what then
    is left, where it is much, is made ``there`` by a crew. Without one, all are made here.

    Raises :class:`RuleFailure` as a game does, and :class:`WorkersLost`.
    """
    start, done = monotonic(), 0
    if crew is None or alone:
        for row in here(seeds, stopped):
            done += 1
            yield [row]
            spent = monotonic() - start
            if stopped() or (crew is not None and spent > alone and spent / done * (len(seeds) - done) > BEGINS):
                break
    if crew is None or stopped() or done == len(seeds):
        return
    with crew as workers:
        for batch in batches(there, seeds[done:], workers, stopped):
            yield batch.rows
            if batch.failed is not None:
                list(here([batch.failed], stopped))  # fails here as it did there, and can say where
                raise WorkersLost(f"a rule failed in the game with seed {batch.failed}, but not on this machine")


def batches(
    there: Callable[[Sequence[int]], Batch[R]], seeds: Sequence[int], crew: Crew, stopped: Callable[[], bool] = bool
) -> Iterator[Batch[R]]:
    """All games, in batches as they come back. Once it is to be ``stopped``, no more are begun, and what workers have
    by then still comes. Raises :class:`WorkersLost`."""
    given, end, size, stopping = 0, len(seeds), 1, False
    out: dict[Future[Batch[R]], tuple[tuple[int, ...], int]] = {}

    def give(part: tuple[int, ...], attempt: int) -> None:
        out[crew.executor.submit(there, part)] = part, attempt

    try:
        while given < end or out:
            if not stopping and stopped():
                stopping, end = True, given
                crew.stop()
                for future in [future for future in out if future.cancel()]:
                    del out[future]
            while given < end and len(out) < 2 * crew.slots():
                share = max(1, (end - given) // (2 * crew.slots()))
                part = tuple(seeds[given : min(given + min(size, share), end)])
                given += len(part)
                give(part, 1)
            back = wait(out, timeout=0.2, return_when=FIRST_COMPLETED).done
            for future in sorted(back, key=lambda future: out[future]):
                part, attempt = out.pop(future)
                try:
                    batch = future.result()
                except crew.lost as error:
                    if stopping:
                        continue
                    if attempt == ATTEMPTS:
                        raise WorkersLost(f"{attempt} workers were lost with the same games: {error}") from None
                    give(part, attempt + 1)
                    continue
                if batch.rows:
                    size = max(1, min(MOST, int(AT_ONCE * len(batch.rows) / max(batch.seconds, 1e-6))))
                yield batch
    except BrokenExecutor:
        raise WorkersLost("a worker ended all of a sudden, perhaps for want of memory") from None
