"""The tutorials are followed word by word: each begins in an empty folder, and what it shows is what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import Session, follow

TUTORIALS = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.md"))
COMMANDS = [page for page in TUTORIALS if "```sh" in page.read_text(encoding="utf-8")]
"""The tutorials that show commands; one shows a page in the browser."""


@pytest.mark.slow
@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    done = list(follow(page.read_text(encoding="utf-8"), Session(tmp_path)))
    assert [(each.commands.line, each.fault, each.told) for each in done if each.fault] == []
    assert len(done) > 5
