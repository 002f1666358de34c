"""Charts of ``docs/comparing.md``, taken from a report: ``python -m tests.drawing.comparison_charts`` updates them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from interpreter.cli.main import cli

__all__ = ["FOLDER", "charts"]

FOLDER = Path(__file__).parents[2] / "docs" / "images"
COMMAND = "compare germany-2004 germany-2018 --players 4 --games 100 --seed 1 --jobs 1 -o html"
PLACES = {"comparing-seats.svg": "seats", "comparing-cards.svg": "gains"}
"""The section of the report whose first chart each file has."""


def charts() -> Iterator[tuple[Path, str]]:
    """Yield the files with their content, on a white ground."""
    page = CliRunner().invoke(cli, COMMAND.split(), catch_exceptions=False).stdout
    for name, section in PLACES.items():
        drawing = re.search(rf'<section id="{section}".*?(<svg.*?</svg>)', page, re.DOTALL)
        assert drawing is not None, section
        yield FOLDER / name, drawing[1].replace("<svg", '<svg style="background: white"', 1) + "\n"


if __name__ == "__main__":
    for path, text in charts():
        path.write_text(text, encoding="utf-8")
