"""Long work in the background, which a page shows as it comes and can stop: in processes, or in slices.

A slice is short, so that the event loop answers meanwhile, also where there is no other thread.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Iterable, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, Generic, TypeVar

from interpreter.base.diagnostics import RulesetError
from interpreter.base.facilities import cores
from interpreter.base.stepwise import Steps
from interpreter.lowering.constants import RuleFailure
from interpreter.serve.apart import apart, close_pool
from interpreter.serve.words import Refused
from interpreter.simulate.workers import Job as Work
from interpreter.simulate.workers import WorkersLost, batch_of

__all__ = ["Job", "Jobs", "in_processes", "in_slices"]

T = TypeVar("T")
About = TypeVar("About")
SLICE = 0.02
"""Seconds of work until everything else on the event loop has its turn."""
REST = 0.2
"""Most seconds between two signs of life of processes."""
MOST_KEPT = 8
"""Most jobs of a pane that are kept with their results."""


class Job(Generic[T, About]):
    """Work with ``total`` results, which arrive several at a time, or none for a while. ``failure`` has ended it."""

    def __init__(self, about: About, total: int, work: AsyncGenerator[list[T], None]) -> None:
        self.about, self.total, self.done = about, total, list[T]()
        self.failure: Exception | None = None
        self.stopped = False
        self._task = asyncio.create_task(self._run(work))

    async def _run(self, work: AsyncGenerator[list[T], None]) -> None:
        try:
            async for more in work:
                self.done += more
                if self.stopped:
                    break
            await work.aclose()
        except (RuleFailure, RulesetError, Refused, WorkersLost, BrokenExecutor) as error:
            self.failure = error

    @property
    def is_over(self) -> bool:
        return self._task.done()

    async def stop(self) -> None:
        """Stop the work, which yields often; its results stay."""
        self.stopped = self.stopped or not self.is_over
        await asyncio.wait([self._task])


class Jobs(dict[Hashable, Job[T, About]]):
    """The jobs of a pane, of which one runs at a time."""

    async def begin(
        self, key: Hashable, about: About, total: int, work: AsyncGenerator[list[T], None]
    ) -> Job[T, About]:
        """Begin a job, in place of the one with this key, and stop all others."""
        for job in self.values():
            await job.stop()
        self.pop(key, None)
        job = self[key] = Job(about, total, work)
        if len(self) > MOST_KEPT:
            del self[next(iter(self))]
        return job


async def in_slices(work: Iterable[Steps[T]]) -> AsyncGenerator[list[T], None]:
    """Do work in slices, and yield the results of each."""
    found, end = list[T](), time.perf_counter() + SLICE
    for steps in work:
        is_over = False
        while not is_over:
            try:
                next(steps)
            except StopIteration as result:
                found.append(result.value)
                is_over = True
            if time.perf_counter() > end:
                yield found
                await asyncio.sleep(0)
                found, end = [], time.perf_counter() + SLICE
    yield found


async def in_processes(
    work: Work[Any, T], seeds: Sequence[int], again: Callable[[int], Steps[T]]
) -> AsyncGenerator[list[T], None]:
    """Do work in processes of its own, several seeds at a time. One at which a rule fails is done ``again`` here, so
    that the failure has its place."""
    workers, name, size = max(1, cores() - 1), f"job {secrets.token_hex(8)}", 1
    left, running = list(seeds), set[asyncio.Task[Any]]()
    try:
        while left or running:
            while left and len(running) < workers:
                size = min(size, max(1, len(left) // (4 * workers)))
                part, left = left[:size], left[size:]
                running.add(asyncio.create_task(apart(batch_of, work, part, pool=name, workers=workers)))
            ready, running = await asyncio.wait(running, timeout=REST, return_when=asyncio.FIRST_COMPLETED)
            yield []
            for batch in (each.result() for each in ready):
                size = batch.size or size
                yield batch.rows
                if batch.failed is not None:
                    async for found in in_slices([again(batch.failed)]):
                        yield found
    finally:
        for each in running:
            each.cancel()
        close_pool(name)
