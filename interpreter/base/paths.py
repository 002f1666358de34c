"""Locations of rulesets and schemas: in the package or a checkout, in the folders of ``REGELWERK_PATH``, in other
packages."""

from __future__ import annotations

import os
import sys
from functools import cache
from glob import escape, iglob
from pathlib import Path

from interpreter.base.frozen import dataclass

__all__ = ["Root", "ruleset_roots", "schema_folder", "sources"]

GROUP = "regelwerk.rulesets"
"""The entry points by which a package tells where its rulesets lie."""
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of rulesets: one folder a family. ``origin`` says who named it, for a reader."""

    path: Path
    origin: str


def _shipped(name: str) -> Path:
    """A data folder: inside the installed package, or beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def schema_folder() -> Path:
    return _shipped("schemas")


def ruleset_roots() -> list[Path]:
    """All folders of rulesets, those of ``REGELWERK_PATH`` first, the shipped one last."""
    return [root.path for root in sources()]


def sources() -> list[Root]:
    """All folders of rulesets with who named them. A folder need not be there."""
    named = [part for part in os.environ.get("REGELWERK_PATH", "").split(os.pathsep) if part]
    own = [Root(Path(part), part) for part in named]
    return [*own, *_packaged(tuple(sys.path)), Root(_shipped("rulesets"), "shipped")]


@cache
def _packaged(path: tuple[str, ...]) -> tuple[Root, ...]:
    """Folders that installed packages name: ``alps = "alpine_boards:rulesets"`` is the folder `rulesets` in that one.

    No such package is imported: that a package is installed is no reason to run it.
    """
    if not any(map(_names_some, path)):
        return ()
    from importlib.metadata import entry_points

    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        package, *inner = [part for part in point.value.replace(":", ".").split(".") if part]
        folder = _folder_of(package)
        if folder is not None:
            found.append(Root(folder.joinpath(*inner), f"package {point.dist.name if point.dist else point.name}"))
    return tuple(dict.fromkeys(found))


def _names_some(place: str) -> bool:
    """Return whether a package in a folder of packages names rulesets: quickly, for every command has to know."""
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
