"""Locations of rulesets and schemas: the package or a checkout, the folders of ``REGELWERK_PATH``, and other packages;
and suffixes of files."""

from __future__ import annotations

import os
import sys
from functools import cache
from glob import escape, iglob
from pathlib import Path

from msgspec import Struct

__all__ = ["Root", "ruleset_roots", "schema_folder", "shipped", "sources", "suffix_of"]

GROUP = "regelwerk.rulesets"
"""Entry-point group by which packages announce their ruleset folders."""
_PACKAGE = Path(__file__).resolve().parent.parent


class Root(Struct, frozen=True):
    """A folder of rulesets, with a subfolder for each family. ``origin`` says where it comes from, for users."""

    path: Path
    origin: str


def shipped(name: str) -> Path:
    """Return a data folder inside the installed package, or beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def schema_folder() -> Path:
    return shipped("schemas")


def suffix_of(file: Path | str, *suffixes: str) -> str:
    """Return the suffix of a file. Raises ``ValueError`` if it is none of these."""
    suffix = Path(file).suffix.lower()
    if suffix not in suffixes:
        *others, last = suffixes
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"got `{file}`, want a file that ends in {wanted}")
    return suffix


def ruleset_roots() -> list[Path]:
    """Return all ruleset folders, those of ``REGELWERK_PATH`` first, the shipped one last."""
    return [root.path for root in sources()]


def sources() -> list[Root]:
    """Return all ruleset folders with their origin. A folder need not exist."""
    named = [part for part in os.environ.get("REGELWERK_PATH", "").split(os.pathsep) if part]
    own = [Root(Path(part), part) for part in named]
    return [*own, *_packaged(tuple(sys.path)), Root(shipped("rulesets"), "shipped")]


@cache
def _packaged(path: tuple[str, ...]) -> tuple[Root, ...]:
    """Return the folders announced by installed packages: ``alps = "alpine_boards:rulesets"`` is the folder `rulesets`
    there.

    No such package is imported, because installing a package is no consent to run it.
    """
    if not any(map(_announces_rulesets, path)):
        return ()
    from importlib.metadata import entry_points

    roots = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        package, *inner = [part for part in point.value.replace(":", ".").split(".") if part]
        folder = _folder_of(package)
        if folder is not None:
            roots.append(Root(folder.joinpath(*inner), f"package {point.dist.name if point.dist else point.name}"))
    return tuple(dict.fromkeys(roots))


def _announces_rulesets(place: str) -> bool:
    """Return whether a package in a packages folder announces rulesets; fast, because every command needs it."""
    for file in iglob(os.path.join(escape(place or "."), "*.*-info", "entry_points.txt")):
        with open(file, encoding="utf-8", errors="replace") as text:
            if f"[{GROUP}]" in text.read():
                return True
    return False


def _folder_of(package: str) -> Path | None:
    """Return the folder of a package without importing it."""
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None
