"""Boards of fields: the meadows of the cases, as they are or with 441 fields."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["MEADOWS", "meadows"]

MEADOWS = Path(__file__).parents[1] / "cases" / "meadows" / "meadows.yaml"


def meadows(folder: Path, old: str = "", new: str = "", *, wide: bool = False) -> Path:
    """Copy the meadows into a folder, with a text of the family replaced, or ``wide``: with 441 fields."""
    shutil.copytree(MEADOWS.parent, folder / "meadows", dirs_exist_ok=True)
    family, fields = folder / "meadows" / "family.yaml", folder / "meadows" / "maps" / "small.yaml"
    text = (MEADOWS.parent / "family.yaml").read_text(encoding="utf-8")
    assert old in text
    family.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    if wide:
        grid = fields.read_text(encoding="utf-8").replace("rows: 4, columns: 5", "rows: 21, columns: 21")
        fields.write_text(grid, encoding="utf-8")
    return folder / "meadows" / "meadows.yaml"
