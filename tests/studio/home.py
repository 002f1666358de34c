"""A studio in a thread of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import httpx

from interpreter.serve.archive import Store
from interpreter.serve.hall import Hall
from interpreter.serve.live import Live
from interpreter.studio.site import application
from interpreter.studio.workbench import Workbench
from tests.serve.served import Running, get, post

T = TypeVar("T")


class Home(Running):
    """A studio of a folder."""

    wait = 60.0

    def __init__(self, folder: Path, rulesets: tuple[str, ...] = ("goofspiel",)) -> None:
        (folder / "own").mkdir()
        self.bench = Workbench(folder / "own")
        self.hall = Hall(Store(folder / "tables.sqlite"), 0.0, rulesets)
        self.run(application(self.bench, self.hall))
        self.base = self.origin

    def get(self, address: str) -> httpx.Response:
        return get(f"{self.base}/{address}", timeout=60, follow_redirects=True)

    def post(self, address: str, data: dict[str, Any], **headers: str) -> httpx.Response:
        given = {"origin": self.base, **headers}
        return post(f"{self.base}/{address}", data=data, headers=given, timeout=60, follow_redirects=True)

    def live(self) -> Live:
        """Return the table that began last."""
        kept = max(self.hall.kept.values(), key=lambda each: each.created)
        return self.done(self.hall.live(kept.id))

    def close(self) -> None:
        self.hall.leave_pages()
        super().close()
