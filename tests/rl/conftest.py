"""Modules from the first choice, also in short games."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _modules_at_once(at_once: None) -> None:
    """Compile modules in all tests of this folder."""
