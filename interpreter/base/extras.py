"""Commands that install optional dependencies."""

from __future__ import annotations

import shlex
import sys

__all__ = ["install_command"]


def install_command(extra: str) -> str:
    """Return the command that installs an extra into the environment of the running program.

    It needs no index that has Regelwerk: pip takes the extra's requirements from the installed package.
    """
    return f"{shlex.quote(sys.executable)} -m pip install 'regelwerk[{extra}]'"
