"""Optional dependencies: what is missing, and the commands that install them."""

from __future__ import annotations

import shlex
import sys

__all__ = ["Unavailable", "install_command"]


class Unavailable(Exception):
    """Raised if an optional library, or what it needs, is missing. The message says what."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra into the environment of the running program.

    It needs no index that has Regelwerk: pip takes the extra's requirements from the installed package.
    """
    return f"{shlex.quote(sys.executable)} -m pip install 'regelwerk[{extra}]'"
