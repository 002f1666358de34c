"""What holds for every test of a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.served import Served, browser
from tests.support import ENVELOPES


@pytest.fixture(autouse=True)
def no_mistakes(request: pytest.FixtureRequest) -> Iterator[None]:
    """The server of a test makes no mistake of its own, whatever is asked of it."""
    running = [request.getfixturevalue(name) for name in ("served", "sealed") if name in request.fixturenames]
    yield
    for served in running:
        if isinstance(served, Served):
            errors, served.errors[:] = served.errors[:], []
            assert errors == []


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with one small ruleset, in which seats bid sealed, one after another."""
    running = Served(tmp_path_factory.mktemp("sealed") / "tables.sqlite", rulesets=[ENVELOPES])
    yield running
    running.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser of a module's tests."""
    with browser() as found:
        yield found
