"""The pane with the scenarios of the ruleset at hand: run them, and make one of the last moves at its table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from interpreter.base.diagnostics import RulesetError, few, unique
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from interpreter.serve.live import Live
from interpreter.serve.outside import in_one_line
from interpreter.serve.web import MOST_FIELDS
from interpreter.serve.words import Refused
from interpreter.studio.jobs import Jobs, in_slices
from interpreter.studio.pane import Asked, Panes, whole
from interpreter.studio.play_pane import Tables
from interpreter.testing.openings import shortest
from interpreter.testing.recording import Recording, added, stacked
from interpreter.testing.running import Outcome
from interpreter.testing.scenarios import Scenario
from interpreter.testing.suite import Suite, suite_of

__all__ = ["routes"]

MOST_FACTS, MOST_LAST, MOST_NAME = 60, 200, 120
"""Most facts that are offered, choices of which a scenario is made, and letters of its name."""
MOST_TRIED = 12
"""Most last choices that are tried until they have changed something."""


class Found(Struct):
    """The scenarios of a ruleset, and the outcomes of those that were run since its files have changed."""

    ruleset: Ruleset
    suite: Suite
    scenarios: list[Scenario]
    outcomes: dict[str, Outcome]


def routes(panes: Panes, tables: Tables) -> list[BaseRoute]:
    pane = _Pane(panes, tables)
    return [
        panes.route("scenarios", pane.show, "GET", "POST"),
        panes.route("scenarios/job", pane.job),
    ]


class _Pane:
    def __init__(self, panes: Panes, tables: Tables) -> None:
        self.panes, self.tables = panes, tables
        self.jobs: Jobs[Outcome, Found] = Jobs()

    async def show(self, request: Request, asked: Asked) -> Response:
        if request.method == "POST":
            form = await request.form(max_fields=MOST_FIELDS)
            if "make" in form:
                return await self._make(asked, form)
            job = self.jobs.get(asked)
            if "stop" in form and job is not None:
                await job.stop()
            if "run" in form:
                await self._run(asked, str(form["run"]))
            return RedirectResponse(f"scenarios?{asked.query}", 303)
        if "scenario" in request.query_params:
            await self._run(asked, request.query_params["scenario"])
        return await self._page(asked, {"last": request.query_params.get("last", "")})

    async def _page(
        self, asked: Asked, given: Mapping[str, str], picked: Collection[str] = (), error: str = ""
    ) -> Response:
        """Return the page; after an error, with the form as it was ``given`` and the facts that were picked."""
        values, last = self._listed(asked, await self.panes.apart(self._look, asked)), given["last"]
        live, recording, number = await self._live(asked), None, 1
        made = _made(given, live) if live is not None else 0
        if live is not None and last:
            for number in [_number(last, MOST_LAST, 1)] if last.isdecimal() else range(1, MOST_TRIED):
                recording = await self._recorded(live, asked, number, made)
                if recording.facts:
                    break
        return self.panes.page(
            "scenarios.html",
            409 if error else 200,
            **values,
            live=live,
            error=error,
            made=made,
            name=given.get("name", ""),
            picked=picked if error else None,
            recording=recording,
            last=number,
            most=min(made, MOST_LAST),
            facts=recording.facts[:MOST_FACTS] if recording is not None else (),
            file=given.get("file") or (self._file(live.ruleset) if live is not None else ""),
        )

    async def job(self, request: Request, asked: Asked) -> Response:
        if (job := self.jobs.get(asked)) is None:
            raise Refused("There is no such job.")
        return self.panes.page("scenario_list.html", **self._listed(asked, job.about))

    # --- running

    def _look(self, asked: Asked) -> Found:
        """Return the scenarios that name a ruleset: those of the author, and shipped ones."""
        loaded = self.panes.load(asked)
        bench, shelf = self.panes.workbench, self.panes.workbench.shelf()
        paths = [bench.path(name) for name in bench.files() if not name.endswith(".csv")]
        names = [str(path) for path in paths if _has_scenarios(shelf, path)]
        is_shipped = bench.source(asked.ruleset) == asked.ruleset
        names += [asked.ruleset] if is_shipped else []
        suite = suite_of(names) if names else Suite(shelf, [])
        suite.load = self._load
        scenarios = [each for each in suite.scenarios if asked.ruleset in each.rulesets]
        return Found(loaded.ruleset, suite, scenarios, loaded.remember("scenarios", dict[str, Outcome]))

    def _load(self, id: str, overlays: Iterable[str], shelf: Shelf) -> Ruleset:
        try:
            return self.panes.load(Asked(id, tuple(overlays))).sound()
        except Refused:
            return load(id, overlays, shelf)  # tells what is near

    async def _run(self, asked: Asked, which: str) -> None:
        """Run the scenario of an id or name, by default all."""
        found = await self.panes.apart(self._look, asked)
        chosen = [each for each in found.scenarios if which in ("", each.id, each.name)]
        for scenario in chosen:
            found.outcomes.pop(scenario.id, None)
        await self.jobs.begin(asked, found, len(chosen), self._ran(asked, found, chosen))

    async def _ran(self, asked: Asked, found: Found, chosen: list[Scenario]) -> AsyncGenerator[list[Outcome], None]:
        for scenario in chosen:
            outcome = await self.panes.apart(found.suite.outcome, scenario, asked.ruleset)
            found.outcomes[scenario.id] = outcome
            yield [outcome]
            await asyncio.sleep(0)  # there may be no thread

    def _listed(self, asked: Asked, found: Found) -> dict[str, Any]:
        job, texts = self.jobs.get(asked), {each.id: each.keys.source.span.text for each in found.scenarios}
        run = found.outcomes.items()
        outcomes = {id: each for id, each in run if texts.get(id) == each.scenario.keys.source.span.text}
        failed = {id for id, each in outcomes.items() if not each.passed}
        return {
            "asked": asked,
            "title": found.ruleset.title,
            "scenarios": sorted(found.scenarios, key=lambda each: each.id not in failed),
            "outcomes": outcomes,
            "failed": len(failed),
            "job": job,
            "running": job is not None and not job.is_over,
            "errors": few(unique(found.suite.diagnostics)),
            "statements": found.suite.statements if failed else {},
            "pairs": parse_qsl(asked.query),
            **({"wrong": job.failure} if job is not None and job.failure is not None else {}),
        }

    # --- making

    async def _live(self, asked: Asked) -> Live | None:
        with suppress(Refused, RulesetError):
            return await self.tables.live(asked)
        return None

    async def _recorded(self, live: Live, asked: Asked, last: int, made: int) -> Recording:
        """Return the last of the first ``made`` moves at a table. Raises :class:`Refused`."""
        if not live.kept.choices:
            raise Refused("Nobody has chosen at this table yet.")
        if not await live.open_book():
            raise Refused("This would reveal hidden information; you can do it when the game is over.")
        try:
            overlays = stacked(live.ruleset, asked.overlays)
        except ValueError as error:
            raise Refused("{error}", error=error) from None
        game = copy(live.at(made))  # the table goes on meanwhile
        return Recording.of_last(game, min(last, len(game.choices)), live.kept.header.get("settings", {}), overlays)

    async def _make(self, asked: Asked, form: FormData) -> Response:
        """Write a scenario of the last moves at the table, with the facts that were picked."""
        live, bench = await self.tables.live(asked), self.panes.workbench
        if live is None:
            raise Refused("There is no table of this ruleset.")
        given = {name: str(form.get(name, "")) for name in ("last", "made", "file")}
        given["name"] = name = in_one_line(str(form.get("name", "")))[:MOST_NAME]
        last, picked, file = _number(given["last"], MOST_LAST, 1), set(map(str, form.getlist("fact"))), given["file"]
        recording = await self._recorded(live, asked, last, _made(given, live))
        recording.facts = [fact for fact in recording.facts if fact in picked]
        path = bench.path(file)
        if picked.difference(recording.facts):
            return await self._page(
                asked, given, picked, "The game has changed since: some facts do not hold any more."
            )
        if not picked or not name:
            return await self._page(asked, given, picked, "A scenario needs a name and a fact.")
        (written,) = [each async for found in in_slices([shortest(recording, last)]) for each in found]
        before = bench.read(file) if path.is_file() else ""
        try:
            text = await self.panes.apart(added, recording, written, name, before, path, self._load)
        except (ValueError, RulesetError) as error:
            why = error.diagnostics[0].message if isinstance(error, RulesetError) else str(error)
            return await self._page(asked, given, picked, why)
        bench.write(file, text)
        line = text.count("\n", 0, text.rindex("\n  - name: ") + 1) + 1
        return self.panes.page("made.html", asked=asked, name=name, file=file, to=self.panes.place_link(path, line))

    def _file(self, ruleset: Ruleset) -> str:
        """Return the name of the file to which scenarios of a ruleset are added."""
        place = f"{ruleset.model.family}/scenarios/recorded.yaml"
        return self.panes.workbench.name_of(ruleset.shelf.roots[0] / place) or place


def _has_scenarios(shelf: Shelf, path: Path) -> bool:
    """Return whether a file has scenarios, or would if it could be read."""
    document, _ = shelf.read_path(path)
    return document.kind == "scenarios" if document is not None else path.parent.name == "scenarios"


def _number(text: str, most: int, default: int) -> int:
    """Return a number from 1 to ``most`` of a form."""
    number = whole(text, 7)
    return default if number is None else min(max(1, number), most)


def _made(given: Mapping[str, str], live: Live) -> int:
    """Return the number of choices at the table when the form was shown, by default all."""
    return _number(given.get("made", ""), number := len(live.kept.choices), number)
