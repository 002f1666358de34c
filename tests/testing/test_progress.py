"""A run of the tests says how far it is, also where no terminal shows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tests.progress import EVERY, Progress


class Lines(list[str]):
    """A terminal that keeps what is written."""

    def ensure_newline(self) -> None:
        pass

    def write_line(self, line: str) -> None:
        self.append(line.partition(" s: ")[2])


def report(when: str, *, failed: bool = False) -> pytest.TestReport:
    return cast("pytest.TestReport", SimpleNamespace(when=when, failed=failed))


def session(tests: int) -> pytest.Session:
    return cast("pytest.Session", SimpleNamespace(testscollected=tests))


def test_it_tells_how_many_tests_are_over() -> None:
    lines = Lines()
    progress = Progress(lines, has_workers=False, every=0)
    progress.pytest_sessionstart(session(1_200))
    for when in ("setup", "call", "teardown"):
        progress.pytest_runtest_logreport(report(when, failed=when == "call"))
    assert lines[-1] == "1 of 1,200 tests, 1 failed"


def test_it_tells_while_no_test_of_the_workers_ends() -> None:
    lines = Lines()
    progress = Progress(lines, has_workers=True, every=0.001)
    progress.pytest_sessionstart(session(0))
    while len(lines) < 2:
        pass
    progress.pytest_sessionfinish()
    assert lines[:2] == ["collecting the tests"] * 2


def test_it_tells_within_a_minute(pytestconfig: pytest.Config) -> None:
    assert EVERY <= 30
    worker = hasattr(pytestconfig, "workerinput")
    assert worker or isinstance(pytestconfig.pluginmanager.get_plugin("progress of the run"), Progress)
