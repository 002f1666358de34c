"""Unsaved texts of an editor, which readers see instead of the files on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

__all__ = ["has_unsaved", "unsaved", "unsaved_bytes"]

_now: ContextVar[Mapping[Path, str]] = ContextVar("unsaved", default={})  # noqa: B039  (never mutated)


@contextmanager
def unsaved(texts: Mapping[Path, str]) -> Iterator[None]:
    """Substitute these texts for the files at these absolute paths within the context."""
    token = _now.set(dict(texts))
    try:
        yield
    finally:
        _now.reset(token)


def unsaved_bytes(path: str | os.PathLike[str]) -> bytes | None:
    """Return the unsaved text of a file as bytes, or None if there is none."""
    texts = _now.get()
    text = texts.get(Path(os.path.abspath(path))) if texts else None
    return None if text is None else text.encode("utf-8", "replace")


def has_unsaved() -> bool:
    """Return whether there are unsaved texts."""
    return bool(_now.get())
