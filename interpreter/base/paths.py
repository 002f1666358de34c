"""Where rulesets and schemas are found: in the package, in a checkout, in the folders of ``REGELWERK_PATH``."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["ruleset_roots", "schema_folder"]

_PACKAGE = Path(__file__).resolve().parent.parent


def _shipped(name: str) -> Path:
    """A data folder: inside the installed package, or beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def schema_folder() -> Path:
    return _shipped("schemas")


def ruleset_roots() -> list[Path]:
    """Folders that hold one folder a family, the author's own (``REGELWERK_PATH``) before the shipped ones."""
    own = [Path(part) for part in os.environ.get("REGELWERK_PATH", "").split(os.pathsep) if part]
    return [*own, _shipped("rulesets")]
