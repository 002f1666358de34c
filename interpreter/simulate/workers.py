"""Parallel simulation: workers play batches of games, and rows return in any order.

A :class:`concurrent.futures.Executor` provides workers: local processes here, other machines in
:mod:`interpreter.simulate.cluster`. Each loads the ruleset once, from the cache if possible. A game depends on its seed
alone, so its worker and batch do not affect it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from msgspec import Struct

from interpreter.base.diagnostics import RulesetError
from interpreter.base.facilities import cores, process_pool
from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.simulate.simulation import Row, Unfinished, WholeGames, played
from interpreter.simulate.totals import Totals, totalled

if TYPE_CHECKING:  # a browser has none
    from multiprocessing.synchronize import Event

__all__ = ["Crew", "Help", "Plan", "Sums", "Work", "WorkersLost", "batch_of", "processes", "shared"]

R = TypeVar("R", covariant=True)
Given = TypeVar("Given", contravariant=True)
Work = Callable[[Sequence[int], Callable[[], bool]], Iterator[R]]
"""Yields a row for each seed, or totals of several seeds in order, until its second argument returns True."""

AT_ONCE = 0.5
"""Target seconds of a batch. Batches in progress are lost when the simulation is stopped."""
MOST = 5_000
"""Largest number of games in a batch."""
BEGINS = 3.0
"""Seconds until processes have started and are ready. Work that takes no longer is done without them."""
ATTEMPTS = 5
"""Largest number of attempts to play a batch whose worker is lost."""


class WorkersLost(Exception):
    """Workers ended or cannot play the games. The message says why."""


class Job(Protocol[Given, R]):
    """Work as a worker gets it: small, and hashable, so that it is prepared once."""

    def work(self, given: Given | None = None, /) -> Work[R]:
        """Prepare the work with what is loaded, or load it; raises :class:`WorkersLost` if a worker cannot."""

    def __hash__(self) -> int: ...


class Plan(Struct, frozen=True):
    """Games of one table, a row for each. ``digest`` is the digest of the ruleset, which must equal the worker's."""

    ruleset: str
    overlays: tuple[str, ...]
    digest: str
    players: int
    bots: str
    settings: tuple[tuple[str, Json], ...] = ()

    def work(self, given: Ruleset | None = None, /) -> Work[Row | Unfinished]:
        whole, settings = self.whole(given), dict(self.settings)
        return lambda seeds, stopped: played(whole, seeds, settings, stopped)

    def whole(self, given: Ruleset | None) -> WholeGames:
        ruleset = given or self.loaded()
        return WholeGames(ruleset, bots_of(self.bots, ruleset, self.players, commands=True))

    def loaded(self) -> Ruleset:
        """Load the ruleset in a worker. Raises :class:`WorkersLost` if it cannot be loaded, or differs."""
        try:
            ruleset = load(self.ruleset, self.overlays).for_players(self.players)
        except RulesetError as error:
            raise WorkersLost(f"a worker cannot load `{self.ruleset}`: {error.diagnostics[0].message}") from None
        if ruleset.digest != self.digest:
            raise WorkersLost(f"a worker has other rules for `{ruleset.id}` than this machine")
        return ruleset


class Sums(Struct, frozen=True):
    """The games of a plan, as totals of several at a time."""

    plan: Plan

    def work(self, given: Ruleset | None = None, /) -> Work[Totals]:
        whole, settings = self.plan.whole(given), dict(self.plan.settings)
        return lambda seeds, stopped: totalled(whole, seeds, settings, stopped)


class Batch(Struct, Generic[R], frozen=True):
    """Batch of results: rows, number of games, and the seed of a game in which a rule failed."""

    rows: list[R]
    games: int
    seconds: float
    failed: int | None = None

    @property
    def size(self) -> int:
        """Return the number of games for the target time of a batch; 0 if unknown."""
        return max(1, min(MOST, int(AT_ONCE * self.games / max(self.seconds, 1e-6)))) if self.games else 0


class Crew(Struct, frozen=True):
    """Workers. ``slots`` returns the number of batches they play at a time, ``stop`` tells them to stop, and ``lost``
    are the exceptions raised for a lost worker, whose batch another one can play. With ``helped``, the coordinating
    process plays too."""

    executor: Executor
    slots: Callable[[], int]
    stop: Callable[[], object]
    lost: tuple[type[BaseException], ...] = ()
    helped: bool = False


Help = tuple[AbstractContextManager[Crew] | None, float]
"""A crew, None if this process is enough, and the seconds that this process plays alone."""


# --- a worker

_stopped = False
_one_at_a_time = Lock()  # games of a table share it, and a cluster worker may have several threads


@lru_cache(maxsize=4)
def _prepared(job: Job[Any, R]) -> Work[R]:
    return job.work()


def _games(row: object) -> int:
    return row.played if isinstance(row, Totals) else 1


def batch_of(job: Job[Any, R], seeds: Sequence[int]) -> Batch[R]:
    """Do a job for these seeds in a worker."""
    with _one_at_a_time:
        return _batch(_prepared(job), seeds, lambda: _stopped)


def _batch(work: Work[R], seeds: Sequence[int], stopped: Callable[[], bool]) -> Batch[R]:
    rows: list[R] = []
    start, failed = monotonic(), False
    try:
        rows.extend(work(seeds, stopped))
    except RuleFailure:  # it refers to files; the coordinator replays the game to get it
        failed = True
    games = sum(map(_games, rows))
    return Batch(rows, games, monotonic() - start, seeds[games] if failed else None)


def _initialise(stop: Event) -> None:
    """Initialise a process: ignore Ctrl-C, which is for the coordinating process, and wait for its stop event."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_stop, args=(stop,), daemon=True).start()


def _wait_for_stop(stop: Event) -> None:
    global _stopped
    stop.wait()
    _stopped = True


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Block Ctrl-C for processes started inside, until they ignore it themselves."""
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
    """Provide ``jobs`` local processes, including this one."""
    from multiprocessing import get_context

    stop = get_context("spawn").Event()
    others = max(1, jobs - 1)
    with process_pool(others, _initialise, stop) as executor:
        with _interrupt_blocked():
            for _ in range(others):
                executor.submit(cores)  # any task starts a process
        try:
            yield Crew(executor, lambda: others, stop.set, helped=True)
        finally:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)


# --- coordination


def shared(
    job: Job[Given, R],
    given: Given,
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[R]]:
    """Yield the rows of a job for all seeds, several at a time, in any order, until ``stopped`` returns True.

    This process does the first ``alone`` seconds of work; if enough is left then, the crew does the rest. Without a
    crew, all work is done here. Raises :class:`RuleFailure` if a rule fails, and :class:`WorkersLost`.
    """
    here, start, done = job.work(given), monotonic(), 0
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
        for batch in batches(partial(batch_of, job), seeds[done:], workers, stopped, here if workers.helped else None):
            yield batch.rows
            if batch.failed is not None:
                list(here([batch.failed], stopped))  # fails here too, with its position
                raise WorkersLost(f"a rule failed in the game with seed {batch.failed}, but not on this machine")


def batches(
    there: Callable[[Sequence[int]], Batch[R]],
    seeds: Sequence[int],
    crew: Crew,
    stopped: Callable[[], bool] = bool,
    here: Work[R] | None = None,
) -> Iterator[Batch[R]]:
    """Yield all batches as workers return them, and those played ``here`` meanwhile. After ``stopped`` returns True, no
    batch is started, but running ones are still yielded. Raises :class:`WorkersLost`."""
    next_seed, end, size, stopping = 0, len(seeds), 1, False
    pending: dict[Future[Batch[R]], tuple[tuple[int, ...], int]] = {}

    def next_part(size: int) -> tuple[int, ...]:
        nonlocal next_seed
        share = max(1, (end - next_seed) // (2 * (crew.slots() + (here is not None))))
        part = tuple(seeds[next_seed : min(next_seed + min(size, share), end)])
        next_seed += len(part)
        return part

    def submit(part: tuple[int, ...], attempt: int) -> None:
        pending[crew.executor.submit(there, part)] = part, attempt

    try:
        while next_seed < end or pending:
            if not stopping and stopped():
                stopping, end = True, next_seed
                crew.stop()
                for future in [future for future in pending if future.cancel()]:
                    del pending[future]
            while next_seed < end and len(pending) < 2 * crew.slots():
                submit(next_part(size), 1)
            if here is not None and next_seed < end:
                part = next_part(max(1, size // 4))  # small, as workers wait for new batches meanwhile
                batch = _batch(here, part, stopped)
                yield batch
                size = batch.size or size
            patience = 0.0 if here is not None and next_seed < end else 0.2
            done = wait(pending, timeout=patience, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=lambda future: pending[future]):
                part, attempt = pending.pop(future)
                try:
                    batch = future.result()
                except crew.lost as error:
                    if stopping:
                        continue
                    if attempt == ATTEMPTS:
                        raise WorkersLost(f"{attempt} workers were lost with the same games: {error}") from None
                    submit(part, attempt + 1)
                    continue
                size = batch.size or size
                yield batch
    except BrokenExecutor:
        raise WorkersLost("a worker ended unexpectedly, perhaps out of memory") from None
