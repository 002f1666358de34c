"""What a static site of the studio is made of, Pyodide and wheels, and such a site: kept in the user's cache folder.

``REGELWERK_PYODIDE`` names a folder that has Pyodide and the wheels.
"""

from __future__ import annotations

import marshal
import os
import shutil
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from interpreter.base.extras import Unavailable
from interpreter.reading.dependencies import digest
from interpreter.studio.export import PYODIDE, export, fetched, sources

__all__ = ["exported", "parts"]

KEPT = user_cache_path("regelwerk-studio", appauthor=False)


def exported() -> Path:
    """Return a folder with a static site of the studio as its sources are now: the tests and the documentation share
    it. Raises :class:`Unavailable`."""
    found = parts()
    mark = digest(marshal.dumps(sorted(sources(found).items())))
    folder = KEPT / f"site-{PYODIDE}-{mark}"
    if not folder.is_dir():
        for former in KEPT.glob("site-*"):
            shutil.rmtree(former, ignore_errors=True)
        unfinished = folder.with_name(f"made-{os.getpid()}")
        try:
            export(unfinished, pyodide=found, wheels=found, tell=lambda _: None)
            with suppress(OSError):  # another worker was faster
                unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def parts() -> Path:
    """Return the folder with Pyodide and the wheels. Raises :class:`Unavailable` where they are not to be had."""
    if shutil.which("node") is None:
        raise Unavailable("a static site needs `node`")
    if named := os.environ.get("REGELWERK_PYODIDE"):
        return Path(named)
    folder = KEPT / f"pyodide-{PYODIDE}"
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
