"""What holds for every test of a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.served import Served


@pytest.fixture(autouse=True)
def no_mistakes(request: pytest.FixtureRequest) -> Iterator[None]:
    """The server of a test makes no mistake of its own, whatever is asked of it."""
    served = request.getfixturevalue("served") if "served" in request.fixturenames else None
    yield
    if isinstance(served, Served):
        errors, served.errors[:] = served.errors[:], []
        assert errors == []
