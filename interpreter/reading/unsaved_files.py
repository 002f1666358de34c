"""Unsaved texts of an editor, which readers see instead of the files on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from interpreter.base.lazy import Scoped

__all__ = ["unsaved", "unsaved_bytes"]

unsaved = Scoped[Mapping[Path, str]]("unsaved", {})
"""Texts that are read instead of the files at these absolute paths, within a context."""


def unsaved_bytes(path: str | os.PathLike[str]) -> bytes | None:
    """Return the unsaved text of a file as bytes, or None if there is none."""
    text = unsaved.value.get(Path(os.path.abspath(path))) if unsaved.value else None
    return None if text is None else text.encode("utf-8", "replace")
