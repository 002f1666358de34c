"""A small ruleset for tests of bots, logs and simulations."""

from __future__ import annotations

import pytest

from interpreter.engine.ruleset import Ruleset, load
from tests.play.toy import ROOT


@pytest.fixture(scope="session")
def pebbles() -> Ruleset:
    return load(ROOT / "pebbles" / "pebbles.yaml")
