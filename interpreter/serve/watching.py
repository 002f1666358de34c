"""Live editing: when a file of a watched ruleset is saved, its tables go on with the new rules.

All files that loading has read are watched. Errors are shown on the pages of the tables, which keep the old rules until
the errors are fixed.
"""

from __future__ import annotations

import asyncio
import os

from interpreter.base.diagnostics import RulesetError
from interpreter.engine.ruleset import Ruleset, load
from interpreter.reading.dependencies import marks_of, noted
from interpreter.serve.archive import StoreError
from interpreter.serve.hall import Hall, errors_of
from interpreter.serve.live import Live

__all__ = ["Watch"]

PAUSE = 0.1
"""Polling interval in seconds."""
SETTLED = 0.03
"""Seconds without a further change after which a file counts as completely written."""
Key = tuple[str, tuple[str, ...]]
"""A ruleset with overlays."""


class Watch:
    """Watcher of the rulesets of a hall that reloads them for their tables and pages."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self._paths: dict[Key, frozenset[str]] = {}

    async def run(self) -> None:
        """Watch the files until cancelled."""
        await self._load_all()
        marks = self._marks()
        while True:
            await asyncio.sleep(PAUSE)
            now = await asyncio.to_thread(self._marks)
            if now == marks:
                continue
            before = None
            while now != before:  # a file may be only partly written
                await asyncio.sleep(SETTLED)
                before, now = now, await asyncio.to_thread(self._marks)
            changed = {path for path in now.keys() | marks.keys() if now.get(path) != marks.get(path)}
            await self._changed(changed)
            # keep the marks from before the reload, so that a file saved meanwhile counts as changed
            marks = {**self._marks(), **now}
            marks = {path: mark for path, mark in marks.items() if path in self._watched()}

    def _tables(self) -> dict[Key, list[Live]]:
        """Return the rulesets on offer or in play, with their overlays, and the tables of each."""
        tables: dict[Key, list[Live]] = {(id, ()): [] for id in self.hall.offers}
        for live in self.hall.lives.values():
            tables.setdefault((live.kept.header["ruleset"], live.ruleset.asked_overlays), []).append(live)
        return tables

    async def _load_all(self) -> None:
        for key in self._tables():
            await self._load(key)

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
                    ruleset = load(offer.source or id, overlays)
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

    async def _changed(self, paths: set[str]) -> None:
        for key, lives in self._tables().items():
            if key in self._paths and self._paths[key].isdisjoint(paths):
                continue
            reloaded = await self._load(key)
            for live in lives:
                live.mistakes = reloaded if isinstance(reloaded, tuple) else ()
                try:
                    if isinstance(reloaded, Ruleset):
                        await live.go_on_with(reloaded)
                except RulesetError as error:  # of an overlay for the number of players
                    live.mistakes = errors_of(error)
                except StoreError as error:
                    live.mistakes = (str(error),)
                live.changed()

    def _marks(self) -> dict[str, tuple[int, int] | None]:
        return marks_of(self._watched())

    def _watched(self) -> frozenset[str]:
        return frozenset[str]().union(*self._paths.values())
