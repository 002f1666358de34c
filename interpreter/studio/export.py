"""The studio as a static site: pages, scripts, Pyodide and all packages, for any web space.

Pyodide comes from its npm package. Packages are those of this environment, as their metadata name them; compiled ones
come as wheels from the package index. Node.js runs Pyodide once, to make byte code and a cache of checked rulesets.
"""

from __future__ import annotations

import gzip
import json
import marshal
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from interpreter.base.extras import Unavailable
from interpreter.base.paths import shipped
from interpreter.studio import packed

__all__ = ["PYODIDE", "export", "fetched", "sources"]

PYODIDE = "314.0.7"
"""Version of Pyodide, whose Python and platform wheels must fit."""
PLATFORM = "pyemscripten_2026_0_wasm32"
WHEELS = ("--python-version=314", "--implementation=cp", "--abi=cp314", f"--platform={PLATFORM}")
_COMPILED = ("msgspec",)
"""Packages that are needed as compiled wheels. Others work without their compiled parts."""
_ABSENT = ("click", "idna", "platformdirs", "rich", "rpds-py", "uvicorn", "wasmtime")
"""Packages that a browser cannot use, or has no use for."""
_LEFT = ("cli", "protocol", "rl")
"""Packages of this interpreter that are left out."""
_DATA = ("rulesets", "schemas", "docs/errors")
_RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
_LIST = "site.json"
_STATIC = Path(__file__).parent / "static"
_PAGE = ("index.html", "start.js", "start.css", "worker.js", "sw.js")
_MAKE = """
import { readFileSync } from "node:fs";
const [home, pyodide, work] = process.argv.slice(1);
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
const python = await loadPyodide({ env: { HOME: home, PYTHONNODEBUGRANGES: "1" } });
python.FS.mkdirTree("/made");
python.FS.mount(python.FS.filesystems.NODEFS, { root: work }, "/made");
python.runPython(`
import sys, marshal, pathlib
sys.path.insert(0, "/made")
import packed
at = pathlib.Path("/made")
packed.compiled(marshal.loads((at / "sources").read_bytes()), (at / "standard.zip").read_bytes(), at)
from interpreter.studio.in_browser import prepared
prepared()
packed.written(at)
`);
"""


def export(folder: Path, *, pyodide: Path | None, wheels: Path | None, tell: Callable[[str], None]) -> None:
    """Write the static site into a folder, which is new, empty or an earlier export. Raises :class:`Unavailable` for
    another folder, and with what is missing."""
    if folder.is_dir() and any(folder.iterdir()) and not _is_export(folder):
        raise Unavailable(f"`{folder}` has files that are no earlier export, want a new folder")
    with TemporaryDirectory() as temporary:
        work = Path(temporary)
        if pyodide is None or wheels is None:
            tell("fetching Pyodide and wheels")
            fetched(work / "fetched", pyodide is None, wheels is None)
        runtime = _runtime(pyodide or work / "fetched")
        tell("compiling packages and checking rulesets")
        (work / "sources").write_bytes(marshal.dumps(sources(wheels or work / "fetched")))
        shutil.copy(runtime / packed.STANDARD, work / "standard.zip")
        shutil.copy(packed.__file__, work / "packed.py")
        _run("node", "--input-type=module", "-e", _MAKE, packed.HOME, str(runtime.resolve()), str(work))
        folder.mkdir(parents=True, exist_ok=True)
        for name in _PAGE:
            shutil.copy(_STATIC / name, folder / name)
        lock = json.loads((runtime / "pyodide-lock.json").read_bytes()) | {"packages": {}}
        (folder / "pyodide-lock.json").write_text(json.dumps(lock))
        shutil.copy(work / packed.PACK, folder / packed.PACK)
        for place in (*(runtime / name for name in _RUNTIME), work / packed.STANDARD):
            (folder / f"{place.name}.packed").write_bytes(gzip.compress(place.read_bytes(), 9, mtime=0))
    _write_list(folder)


def _is_export(folder: Path) -> bool:
    """Return whether all that is in a folder is an earlier export, as the list in it says."""
    try:
        sizes = json.loads((folder / _LIST).read_bytes())["sizes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return isinstance(sizes, dict) and all(path.name in {_LIST, *sizes} for path in folder.iterdir())


def _write_list(folder: Path) -> None:
    """Write the list of files, with their sizes and a digest of them all, by which a browser knows a new version."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != _LIST}
    digest = sha256(b"".join(files.values())).hexdigest()[:16]
    sizes = {name: len(data) for name, data in files.items()}
    (folder / _LIST).write_text(json.dumps({"digest": digest, "sizes": sizes}, indent=1))


def fetched(folder: Path, pyodide: bool = True, wheels: bool = True, also: tuple[str, ...] = ()) -> None:
    """Fetch Pyodide and the wheels, also those of other packages, into a folder. Raises :class:`Unavailable`."""
    folder.mkdir(parents=True, exist_ok=True)
    if pyodide:
        _run("npm", "pack", "--silent", "--pack-destination", str(folder), f"pyodide@{PYODIDE}", of="--pyodide DIR")
        with tarfile.open(folder / f"pyodide-{PYODIDE}.tgz") as archive:
            for member in archive:
                name = member.name.removeprefix("package/")
                if member.isfile() and "/" not in name and (data := archive.extractfile(member)) is not None:
                    (folder / name).write_bytes(data.read())
    if wheels:
        options = ("-q", "--retries=1", "--timeout=60", "--no-deps", "--only-binary=:all:", *WHEELS, "-d", str(folder))
        _run(sys.executable, "-m", "pip", "download", *options, *_COMPILED, *also, of="--wheels DIR")


def _run(*command: str, of: str = "") -> None:
    """Run a program. Raises :class:`Unavailable` if it is missing or fails, with the option that does without it."""
    remedy = f"; `{of}` takes a copy" if of else ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"a static site needs `{command[0]}`: {error.strerror}{remedy}") from None
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["it failed"]
        raise Unavailable(f"`{' '.join(command[:3])}` failed: {why[0]}{remedy}")


def _runtime(folder: Path) -> Path:
    """Return the folder of Pyodide's files: this one, or `package` in it, as npm packs it."""
    wanted = (*_RUNTIME, packed.STANDARD, "pyodide-lock.json")
    for place in (folder, folder / "package"):
        if all((place / name).is_file() for name in wanted):
            return place
    raise Unavailable(f"{folder} is no copy of Pyodide {PYODIDE}: it needs {', '.join(wanted)}")


def sources(wheels: Path) -> dict[str, bytes]:
    """Return the files of all packages by their paths."""
    package = Path(packed.__file__).parent.parent
    files = {"rpds.py": (package / "studio" / "persistent.py").read_bytes()}
    for root, below in ((package, ""), *((shipped(name), name) for name in _DATA)):
        for path in sorted(root.rglob("*")):
            inner = (Path(below) / path.relative_to(root)).as_posix()
            if path.is_file() and "__pycache__" not in inner and not inner.startswith(tuple(f"{n}/" for n in _LEFT)):
                files[f"interpreter/{inner}"] = path.read_bytes()
    for found in _needed("regelwerk", {"web", "lsp"}):
        for file in found.files or ():
            if not file.parts[0].endswith(".dist-info") and file.suffix not in (".pyc", ".pyi", ".so", ".pyd", ".c"):
                files[file.as_posix()] = Path(str(file.locate())).read_bytes()
    for name in _COMPILED:
        wheel = next(iter(sorted(wheels.glob(f"{name}-*{PLATFORM}.whl"))), None)
        if wheel is None:
            raise Unavailable(f"{wheels} has no wheel of {name} for {PLATFORM}")
        with ZipFile(wheel) as content:
            files |= {each: content.read(each) for each in content.namelist() if not each.endswith("/")}
    return files


def _needed(name: str, extras: set[str], seen: set[str] | None = None) -> Iterator[Distribution]:
    """Yield the installed packages that one needs, directly or not."""
    seen = {*_ABSENT, *_COMPILED} if seen is None else seen
    for requirement in distribution(name).requires or ():
        needed = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
        extra = re.search(r"extra *== *['\"](\w+)", requirement)
        if needed in seen or (extra and extra[1] not in extras):
            continue
        seen.add(needed)
        try:
            yield distribution(needed)
            yield from _needed(needed, set(), seen)
        except PackageNotFoundError:  # for another system, or an older Python
            continue
