"""What a static site of the studio is made of: Pyodide and wheels, fetched once into the user's cache folder.

``REGELWERK_PYODIDE`` names a folder that has them.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from interpreter.base.extras import Unavailable
from interpreter.studio.export import PYODIDE, fetched

__all__ = ["parts"]


def parts() -> Path:
    """Return the folder with Pyodide and the wheels. Raises :class:`Unavailable` where they are not to be had."""
    if shutil.which("node") is None:
        raise Unavailable("a static site needs `node`")
    if named := os.environ.get("REGELWERK_PYODIDE"):
        return Path(named)
    folder = user_cache_path("regelwerk-studio", appauthor=False) / f"pyodide-{PYODIDE}"
    if not folder.is_dir():
        for name, value in (("npm_config_fetch_retries", "0"), ("npm_config_fetch_timeout", "60000")):
            os.environ.setdefault(name, value)  # without a network, more would take minutes
        unfinished = folder.with_name(f"{folder.name}-{os.getpid()}")
        try:
            fetched(unfinished, also=("hypothesis",))  # tests run in Pyodide too
            with suppress(OSError):  # another worker was faster
                unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder
