"""Live editing: when a file of a watched ruleset is saved, its tables go on with the new rules.

All files that loading has read are watched. Errors are shown on the pages of the tables, which keep the old rules until
the errors are fixed.
"""

from __future__ import annotations

import asyncio
import os

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import grouped
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.reading.dependencies import PAUSE, SETTLED, marks_of, noted
from interpreter.serve.archive import StoreError
from interpreter.serve.hall import Hall, errors_of
from interpreter.serve.live import Live

__all__ = ["Watch"]

Key = tuple[str, tuple[str, ...]]
"""A ruleset with overlays."""
Marks = dict[str, tuple[int, int] | None]


class Watch:
    """Watcher of the rulesets of a hall that reloads them for their tables and pages."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self._paths: dict[Key, frozenset[str]] = {}
        self._changing = asyncio.Lock()

    async def run(self) -> None:
        """Watch the files until cancelled."""
        marks: Marks = {}
        while True:
            await self.follow()
            marks = {**self._marks(), **marks}  # tables may have begun
            await asyncio.sleep(PAUSE)
            now = await asyncio.to_thread(self._marks)
            if now == marks:
                continue
            before = None
            while now != before:  # a file may be only partly written
                await asyncio.sleep(SETTLED)
                before, now = now, await asyncio.to_thread(self._marks)
            await self.changed({path for path in now.keys() | marks.keys() if now.get(path) != marks.get(path)})
            # keep the marks from before the reload, so that a file saved meanwhile counts as changed
            marks = {path: mark for path, mark in now.items() if path in self._watched()}

    async def follow(self) -> None:
        """Find the files of tables that have begun since the last time."""
        async with self._changing:
            for key, lives in self._tables().items():
                if key not in self._paths:
                    await self._reload(key, lives)

    async def changed(self, paths: set[str]) -> None:
        """Let tables go on with files that have changed."""
        async with self._changing:  # or older rules could replace newer ones
            for key, lives in self._tables().items():
                if key not in self._paths or not self._paths[key].isdisjoint(paths):
                    await self._reload(key, lives)

    def _tables(self) -> dict[Key, list[Live]]:
        """Return the tables in play of each ruleset with its overlays. Those in the archive resume with new rules."""
        lives = self.hall.lives.values()
        return grouped(((live.kept.header["ruleset"], live.ruleset.asked_overlays), live) for live in lives)

    async def _load(self, key: Key) -> Ruleset | tuple[str, ...]:
        """Load a ruleset; return it, or its errors as text."""
        id, overlays = key
        offer = self.hall.offers.get(id)
        if offer is None:
            return (f"unknown ruleset `{id}`",)

        def read() -> Ruleset | tuple[str, ...]:
            looked_at = set(self._paths.get(key, ()))
            with noted() as evidence:
                try:
                    ruleset = load(offer.source or id, self.hall.layered(overlays))
                    # a ruleset from the cache is loaded without reading its files
                    documents = (ruleset.document, *ruleset.composition.documents)
                    looked_at = {os.path.abspath(document.path) for document in documents}
                    return ruleset
                except RulesetError as error:
                    return errors_of(error)
                finally:
                    self._paths[key] = frozenset(looked_at | set(evidence.paths))

        async with self.hall.loading:  # only one load at a time can record the files it reads
            return await asyncio.to_thread(read)

    async def _reload(self, key: Key, lives: list[Live]) -> None:
        reloaded = await self._load(key)
        for live in lives:
            mistakes = live.mistakes
            live.mistakes = reloaded if isinstance(reloaded, tuple) else ()
            try:
                if isinstance(reloaded, Ruleset):
                    ruleset = reloaded.for_players(live.kept.header["players"])
                    if ruleset.source is None or ruleset.source != live.ruleset.source:
                        await live.go_on_with(ruleset)
            except RulesetError as error:  # of an overlay for the number of players
                live.mistakes = errors_of(error)
            except StoreError as error:
                live.mistakes = (str(error),)
            if live.mistakes != mistakes:
                live.changed()

    def _marks(self) -> Marks:
        return marks_of(self._watched())

    def _watched(self) -> frozenset[str]:
        return frozenset[str]().union(*self._paths.values())
