"""How the tests are run: properties always by the same examples in continuous integration, no cache of a user's,
modules from the first choice on, and little time lost on looking for cycles."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from interpreter.base import store
from interpreter.base.cycles import search_rarely
from interpreter.compiler.wasm import compiled_machine as machine
from interpreter.engine.ruleset import Ruleset, load
from tests.play.toy import ROOT
from tests.support import drop_if_grown, drop_shared

pytest.register_assert_rewrite("tests.small", "tests.compiler.pair")  # they compare, and should say what differs

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers, and the processes that tests start, share one new cache
    os.environ["REGELWERK_CACHE"] = tempfile.mkdtemp(prefix="regelwerk-tests-")
    atexit.register(shutil.rmtree, os.environ["REGELWERK_CACHE"], ignore_errors=True)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # they need not compile all modules anew, each for itself
        os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(os.environ["REGELWERK_CACHE"], "python")

store.MOST_ENTRIES, store.MOST_IN_ALL = 50_000, 4_000_000_000  # a run meets more rulesets and tables than a user does

machine.PATIENCE = 0  # modules are tried in short games too, though few games are not worth compiling them

search_rarely()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what is to run in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers have neighbouring tests, and take from each other's end when they are done: so what the tests of a file
    share is mostly made once, and not by each worker."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(scope="session")
def pebbles() -> Ruleset:
    """A small ruleset for tests of bots, logs and simulations."""
    return load(ROOT / "pebbles" / "pebbles.yaml")


def pytest_collection_finish() -> None:
    """Modules and tests stay: whoever looks for cycles need not look at them."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    """After each test: rulesets and tables that tests share go where they take too much memory."""
    drop_if_grown()


@pytest.fixture(scope="module", autouse=True)
def _drop_what_tests_share() -> Iterator[None]:
    """What the tests of one file share goes when they are done: workers stay small."""
    yield
    drop_shared()
