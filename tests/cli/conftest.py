"""Fixtures to call the command line in process, with the small test ruleset in addition to the shipped ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from interpreter.cli.main import cli
from tests.play.toy import ROOT

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that calls the program with arguments; ``input`` is its stdin. Unexpected exceptions
    propagate."""
    monkeypatch.setenv("REGELWERK_PATH", str(ROOT))

    def call(*arguments: str, input: str = "") -> Result:
        result = CliRunner().invoke(cli, arguments, input=input, prog_name="regelwerk")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call
