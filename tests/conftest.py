"""Test configuration: deterministic properties in continuous integration, a separate cache, modules from the first
choice where tests ask for them, and rare cyclic garbage collection."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from interpreter.base import store
from interpreter.base.extras import Unavailable
from interpreter.cli import progress
from interpreter.compiler.wasm import runner
from interpreter.engine.game import Ruleset
from interpreter.language import parse
from interpreter.language.parse import remembered
from interpreter.loading.load import load
from interpreter.reading import files
from tests.play.toy import ROOT
from tests.progress import Progress
from tests.support import TREES, drop_if_grown, drop_shared

pytest.register_assert_rewrite("tests.small", "tests.compiler.pair")  # their assertions should show differences

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers, and processes started by tests, share a temporary cache
    os.environ["REGELWERK_CACHE"] = tempfile.mkdtemp(prefix="regelwerk-tests-")
    atexit.register(shutil.rmtree, os.environ["REGELWERK_CACHE"], ignore_errors=True)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # so that not every process compiles all modules
        os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(os.environ["REGELWERK_CACHE"], "python")

store.MOST_ENTRIES, store.MOST_IN_ALL = 50_000, 4_000_000_000  # a run loads more rulesets and tables than a user does

files.MOST_FILES, parse.MOST_TREES = 300, 3_000  # those of tests are read a few times only

progress.EVERY = 3_600.0  # what a command tells depends on no machine's speed

runner.PATIENCE = 2  # a game or two in the plain form take less than a module; see `at_once`

gc.set_threshold(50_000, 20, 1_000)  # what tests share is large and stays: `drop_shared` collects

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # set by shells for background jobs
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Tell how far the run is."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        has_workers = bool(config.getoption("numprocesses", None))
        config.pluginmanager.register(Progress(terminal, has_workers=has_workers), "progress of the run")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give neighbouring tests to the same worker, with work stealing, so that what the tests of a file share is mostly
    made once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile modules before the first choice: short games use them too. New tables only."""
    monkeypatch.setattr(runner, "PATIENCE", 0)


@pytest.fixture(scope="session")
def pebbles() -> Ruleset:
    """Return a small ruleset for tests of bots, logs and simulations."""
    return load(ROOT / "pebbles" / "pebbles.yaml")


NEED_PYODIDE = "test_in_node", "test_static", "test_story"
"""Files with tests of a minute or two."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that need Pyodide, then those that have slow tests, so that the workers end with short ones,
    at about the same time."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: (item.path.stem not in NEED_PYODIDE, item.path not in slow))


def pytest_collection_finish() -> None:
    """Spare the cycle collector what stays for the whole run: the modules and the tests."""
    drop_shared()
    gc.get_freeze_count = lambda: 1  # loads ask whether anything is frozen; to count it takes some milliseconds


def pytest_runtest_logfinish() -> None:
    """Drop shared rulesets and tables after a test if they take too much memory."""
    drop_if_grown()


@pytest.fixture(autouse=True)
def parsed_once() -> Iterator[None]:
    """Parse equal rule text once for all tests: most small rulesets share their family."""
    with remembered(TREES):
        yield


@pytest.fixture(scope="module", autouse=True)
def _drop_what_tests_share() -> None:
    """Drop what the tests of the file before have shared, to limit the memory of workers. At their end their last test
    would still hold some of it."""
    drop_shared()


@pytest.fixture(scope="session")
def pyodide() -> Path:
    """A folder with Pyodide and the wheels for it. Where they are not to be had, tests are skipped."""
    from tests.studio.parts import parts

    try:
        return parts().resolve()
    except Unavailable as error:
        pytest.skip(str(error))
