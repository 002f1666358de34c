"""Progress of a run of the tests: a line from time to time, on a terminal or not."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic
from typing import Protocol

import pytest

__all__ = ["Progress"]

EVERY = 20.0
"""Seconds between two lines."""


class Terminal(Protocol):
    """Where pytest reports."""

    def ensure_newline(self) -> None: ...

    def write_line(self, line: str) -> None: ...


class Progress:
    """Counts the tests that are over and tells it. Where workers run them, also while none of them ends."""

    def __init__(self, terminal: Terminal, *, has_workers: bool, every: float = EVERY) -> None:
        self.terminal, self.has_workers, self.every = terminal, has_workers, every
        self.session: pytest.Session | None = None
        self.over = self.failed = 0
        self.began = self.told = monotonic()
        self.ended = Event()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session
        if self.has_workers:  # here no test captures what a thread writes
            Thread(target=self._tell_often, daemon=True).start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed += report.failed
        self.over += report.when == "teardown"
        if not self.has_workers and monotonic() - self.told > self.every:
            self.tell()

    def pytest_sessionfinish(self) -> None:
        self.ended.set()

    def _tell_often(self) -> None:
        while not self.ended.wait(self.every):
            self.tell()

    def tell(self) -> None:
        self.told = monotonic()
        total = self.session.testscollected if self.session is not None else 0
        done = f"{self.over:,} of {total:,} tests, {self.failed:,} failed" if total else "collecting the tests"
        self.terminal.ensure_newline()
        self.terminal.write_line(f"{self.told - self.began:.0f} s: {done}")
