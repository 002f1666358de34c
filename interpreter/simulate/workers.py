"""Many games at once: parts of the work are done by workers, and rows come back in any order.

A worker is anything that a :class:`concurrent.futures.Executor` gives work to: here processes of this machine, in
:mod:`interpreter.simulate.cluster` those of others. Each loads the ruleset once, from the cache where there is one.
What a game is depends on its seed alone; so who plays it, and together with which others, changes nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from threading import Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.ruleset import Ruleset, load
from interpreter.simulate.simulation import Row, WholeGames, played
from interpreter.simulate.totals import Totals, totalled

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
    "summed",
]

R = TypeVar("R")
Work = Callable[[Sequence[int], Callable[[], bool]], Iterator[R]]
"""Makes a row for each seed, one after another, until it is to stop; or totals of some seeds, in their order."""

AT_ONCE = 0.5
"""So many seconds a part of the work should take: what is still out when somebody stops is lost."""
MOST = 5_000
"""So many games a part has at most."""
BEGINS = 3.0
"""So many seconds pass until processes have begun and know what to do: work that takes no longer is done alone."""
ATTEMPTS = 5
"""So often a part is given out whose worker was lost."""


class WorkersLost(Exception):
    """Workers ended, or cannot play what they should; says why."""


@dataclass(frozen=True)
class Plan:
    """Job description for workers. ``digest`` is that of the ruleset: theirs must be the same."""

    ruleset: str
    overlays: tuple[str, ...]
    digest: str
    players: int
    bots: str
    settings: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True)
class Batch(Generic[R]):
    """Batch of results: rows, number of games, and the seed of a game in which a rule failed."""

    rows: list[R]
    games: int
    seconds: float
    failed: int | None = None

    @property
    def size(self) -> int:
        """So many games are played in the time that a part of the work should take; 0 where that is not known."""
        return max(1, min(MOST, int(AT_ONCE * self.games / max(self.seconds, 1e-6)))) if self.games else 0


@dataclass(frozen=True)
class Crew:
    """Workers: who gives them work, how many can play at a time, how they are told to stop, and which errors say that
    one of them was lost with its work, which another one can do. ``helped``: whoever gives out the work plays, too."""

    executor: Executor
    slots: Callable[[], int]
    stop: Callable[[], object]
    lost: tuple[type[BaseException], ...] = ()
    helped: bool = False


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


# --- a worker

_stopped = False
_one_at_a_time = Lock()  # the games of a table share it; a worker of a cluster may have several threads


@lru_cache(maxsize=4)
def _ready(plan: Plan) -> WholeGames:
    try:
        ruleset = load(plan.ruleset, plan.overlays).for_players(plan.players)
        if ruleset.digest != plan.digest:
            raise WorkersLost(f"a worker has another `{ruleset.id}` than this machine: its rules differ")
        return WholeGames(ruleset, bots_of(plan.bots, ruleset, plan.players, commands=True))
    except RulesetError as error:
        raise WorkersLost(f"a worker cannot load `{plan.ruleset}`: {error.diagnostics[0].message}") from None


def play_batch(plan: Plan, seeds: Sequence[int]) -> Batch[Row]:
    """Plays these games, in a worker."""
    return batch_of(lambda: _playing(_ready(plan), plan), seeds)


def sum_batch(plan: Plan, seeds: Sequence[int]) -> Batch[Totals]:
    """The same; what comes back is what they come to."""
    return batch_of(lambda: _summing(_ready(plan), plan), seeds)


def _playing(whole: WholeGames, plan: Plan) -> Work[Row]:
    settings = dict(plan.settings)
    return lambda seeds, stopped: played(whole.ruleset, whole.bots, seeds, settings, stopped, whole)


def _summing(whole: WholeGames, plan: Plan) -> Work[Totals]:
    settings = dict(plan.settings)
    return lambda seeds, stopped: totalled(whole, seeds, settings, stopped)


def _games(row: object) -> int:
    return row.games if isinstance(row, Totals) else 1


def batch_of(ready: Callable[[], Work[R]], seeds: Sequence[int]) -> Batch[R]:
    """Does the work for these seeds, in a worker that makes itself ready for it."""
    with _one_at_a_time:
        return _batch(ready(), seeds, lambda: _stopped)


def _batch(work: Work[R], seeds: Sequence[int], stopped: Callable[[], bool]) -> Batch[R]:
    rows: list[R] = []
    start, failed = monotonic(), False
    try:
        rows.extend(work(seeds, stopped))
    except RuleFailure:  # the failure itself knows files; whoever asked plays the game again and has it
        failed = True
    games = sum(map(_games, rows))
    return Batch(rows, games, monotonic() - start, seeds[games] if failed else None)


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
    """So many processes of this machine, of which this is one."""
    context = get_context("spawn")  # the same on every system, and sure beside threads
    stop = context.Event()
    others = max(1, jobs - 1)
    with ProcessPoolExecutor(others, context, _begin, (stop,)) as executor:
        with _unheard():
            for _ in range(others):
                executor.submit(cores)  # any work begins a process
        try:
            yield Crew(executor, lambda: others, stop.set, helped=True)
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
    here = _playing(WholeGames(ruleset, bots_of(plan.bots, ruleset, plan.players, commands=True)), plan)
    return shared(here, partial(play_batch, plan), seeds, crew, alone, stopped)


def summed(
    plan: Plan,
    ruleset: Ruleset,
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[Totals]]:
    """Yield sums of several results at a time."""
    here = _summing(WholeGames(ruleset, bots_of(plan.bots, ruleset, plan.players, commands=True)), plan)
    return shared(here, partial(sum_batch, plan), seeds, crew, alone, stopped)


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
            done += _games(row)
            yield [row]
            spent = monotonic() - start
            if stopped() or (crew is not None and spent > alone and spent / done * (len(seeds) - done) > BEGINS):
                break
    if crew is None or stopped() or done == len(seeds):
        return
    with crew as workers:
        for batch in batches(there, seeds[done:], workers, stopped, here if workers.helped else None):
            yield batch.rows
            if batch.failed is not None:
                list(here([batch.failed], stopped))  # fails here as it did there, and can say where
                raise WorkersLost(f"a rule failed in the game with seed {batch.failed}, but not on this machine")


def batches(
    there: Callable[[Sequence[int]], Batch[R]],
    seeds: Sequence[int],
    crew: Crew,
    stopped: Callable[[], bool] = bool,
    here: Work[R] | None = None,
) -> Iterator[Batch[R]]:
    """All games, in batches as they come back, and of what is made ``here`` meanwhile. Once it is to be ``stopped``, no
    more are begun, and what workers have by then still comes. Raises :class:`WorkersLost`."""
    given, end, size, stopping = 0, len(seeds), 1, False
    out: dict[Future[Batch[R]], tuple[tuple[int, ...], int]] = {}

    def next_part(size: int) -> tuple[int, ...]:
        nonlocal given
        share = max(1, (end - given) // (2 * (crew.slots() + (here is not None))))
        part = tuple(seeds[given : min(given + min(size, share), end)])
        given += len(part)
        return part

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
                give(next_part(size), 1)
            if here is not None and given < end:
                batch = _batch(here, next_part(max(1, size // 4)), stopped)  # others wait for what is left meanwhile
                yield batch
                size = batch.size or size
            back = wait(out, timeout=0.0 if here is not None and given < end else 0.2, return_when=FIRST_COMPLETED).done
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
                size = batch.size or size
                yield batch
    except BrokenExecutor:
        raise WorkersLost("a worker ended all of a sudden, perhaps for want of memory") from None
