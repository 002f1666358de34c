"""The file of all packages that a browser unpacks, and what makes it, inside Pyodide.

This module is the first that runs there: it has nothing but the standard library, of which it becomes a part. The
packages come as byte code, with rulesets that were checked before. Times of files are always the same, because keys of
caches have them.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.util import MAGIC_NUMBER
from pathlib import Path, PurePosixPath

__all__ = ["HOME", "LIBRARY", "PACK", "STANDARD", "compiled", "unpacked", "written"]

HOME = "/home/web_user/studio"
"""Folder of the author's files."""
LIBRARY, CACHE = "/studio/library", "/studio/cache"
PACK, STANDARD = "studio.pack", "python_stdlib.zip"
"""Files that are made here."""
_UNNEEDED = {
    "_pydatetime", "_pydecimal", "_pyio", "_pyrepl", "anyio/_backends/_trio", "anyio/pytest_plugin", "curses", "dbm",
    "doctest", "ensurepip", "ftplib", "idlelib", "imaplib", "jsonschema/benchmarks", "jsonschema/tests", "lib2to3",
    "mailbox", "multiprocessing", "pdb", "pickletools", "poplib", "pydoc", "smtplib", "test", "tkinter", "turtle",
    "turtledemo", "unittest", "venv", "wsgiref", "xmlrpc",
}  # fmt: skip
"""Modules that a browser cannot run, and those for developers."""
_DOCUMENTED = "interpreter/sections/"
"""Modules whose docstrings are shown to users."""
_READ = {"interpreter/__init__.py", "anyio/__init__.py", "anyio/abc/__init__.py"}
"""Modules whose source is read, for the version in keys of caches and for imports on demand."""
_HEAD = MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
"""Head of byte code that is not compared with its source."""


def unpacked(pack: bytes) -> None:
    """Install the packages of a pack."""
    from compression.zstd import decompress

    _install(marshal.loads(decompress(pack)))


def _install(files: Mapping[str, bytes]) -> None:
    """Write files, with the same times everywhere, and let Python find them."""
    for folder in {os.path.dirname(name) for name in files}:
        os.makedirs(folder, exist_ok=True)
    for name, data in files.items():
        Path(name).write_bytes(data)
        os.utime(name, (0, 0))
    sys.path.insert(0, LIBRARY)
    os.environ["REGELWERK_CACHE"] = CACHE


def compiled(sources: Mapping[str, bytes], standard: bytes, out: Path) -> None:
    """Install these packages and the standard library (a zip) as byte code. ``sources`` are files by their paths below
    the library. What Python needs to start becomes a zip again."""
    from io import BytesIO
    from zipfile import ZIP_STORED, ZipFile

    early = {name.partition(".")[0] for name in (*sys.modules, "compression")}
    with ZipFile(BytesIO(standard)) as old:
        modules = {name: old.read(name) for name in old.namelist() if not name.endswith("/")}
    modules[Path(__file__).name] = Path(__file__).read_bytes()
    late = {}
    with ZipFile(out / STANDARD, "w", ZIP_STORED) as new:
        for name, data in _byte_code(modules):
            if name.partition("/")[0].partition(".")[0] in early:
                new.writestr(name, data)
            else:
                late[name] = data
    _install({f"{LIBRARY}/{name}": data for name, data in (late | dict(_byte_code(sources))).items()})


def written(out: Path) -> None:
    """Write the pack of all that is installed."""
    from compression.zstd import compress

    paths = [path for folder in (LIBRARY, CACHE) for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    (out / PACK).write_bytes(compress(marshal.dumps({str(path): path.read_bytes() for path in paths}), 22))


def _byte_code(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield needed files, modules as byte code."""
    for name, data in files.items():
        path = PurePosixPath(name)
        if not _UNNEEDED.isdisjoint(map(str, (path.with_suffix(""), *path.parents))):
            continue
        if path.suffix != ".py":
            yield name, data
            continue
        code = compile(data, name, "exec", dont_inherit=True, optimize=1 if name.startswith(_DOCUMENTED) else 2)
        yield f"{name}c", _HEAD + marshal.dumps(code)
        if name in _READ:
            yield name, data
