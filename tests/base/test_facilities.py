"""What a browser does not have stands in one module, and what runs there does without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from interpreter.base import facilities
from interpreter.base.facilities import Inline, cores, process_pool, thread_pool


@pytest.mark.fresh
def test_pages_need_no_server_and_no_processes() -> None:
    looks = "import sys, interpreter.serve.web; print({'uvicorn', 'multiprocessing', 'click'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"


def _fails() -> int:
    raise LookupError("no such card")


@pytest.mark.parametrize("make", [lambda: thread_pool(1, "test"), lambda: process_pool(1, bool)])
def test_a_browser_does_at_once_what_others_do_at_home(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Executor]
) -> None:
    with make() as executor:
        assert facilities.IN_BROWSER or isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    monkeypatch.setattr(facilities, "IN_BROWSER", True)
    assert cores() == 1
    with make() as executor:
        assert isinstance(executor, Inline)
        assert executor.submit(divmod, 7, 2).result() == (3, 1)
        assert str(executor.submit(_fails).exception()) == "no such card"
