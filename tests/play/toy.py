"""Location of the small ruleset for tests, and copies of it with changes."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "changed"]

ROOT = Path(__file__).parent / "rulesets"


def changed(folder: Path, file: str, old: str, new: str) -> Path:
    """Copy the small ruleset into a folder, with some text of one file replaced, and return the folder."""
    for path in ROOT.rglob("*.yaml"):
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        if path.name == file:
            assert old in text
            text = text.replace(old, new)
        copy.write_text(text, encoding="utf-8")
    return folder
