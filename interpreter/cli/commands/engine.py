"""``regelwerk engine``: serve a ruleset to other programs by JSON lines."""

from __future__ import annotations

import os
import sys

import click

from interpreter import __version__
from interpreter.cli import options

__all__ = ["command"]


@click.command("engine")
@options.ruleset_argument
@options.overlays_option
@options.requested()
def command(request: options.Request) -> None:
    """Answer requests from stdin on stdout: JSON-RPC 2.0, one message a line. `docs/engine.md` describes all methods.
    The engine ends when stdin ends, or with `quit`.

    \b
    Examples:
      regelwerk engine goofspiel
      echo '{"id": 1, "method": "version"}' | regelwerk engine goofspiel
    """
    from interpreter.protocol.engine_server import serve

    loaded = request.load()
    # private copies of the streams; stray prints go to stderr
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace", newline="\n")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    sys.stdout = sys.stderr
    with requests, answers:
        serve(loaded, requests, answers, __version__)
