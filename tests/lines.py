"""Lines of Python by package: ``python -m tests.lines``. Fails if there are more than ``pyproject.toml`` allows.

The number under ``[tool.regelwerk]`` only falls, unless a commit says why.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

__all__ = ["counts", "most"]


def counts() -> Counter[str]:
    """Return the number of lines of each package."""
    package = ROOT / "interpreter"
    lines = Counter[str]()
    for file in package.rglob("*.py"):
        lines[file.relative_to(package).parts[0].removesuffix(".py")] += len(file.read_bytes().splitlines())
    return lines


def most() -> int:
    """Return how many lines all packages together may have."""
    number = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["regelwerk"]["lines"]
    assert isinstance(number, int)
    return number


if __name__ == "__main__":
    found = counts()
    for name, number in found.most_common():
        print(f"{name:12} {number:7,}")
    print(f"{'together':12} {found.total():7,} of at most {most():,}")
    sys.exit(found.total() > most())
