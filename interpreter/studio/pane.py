"""What panes share: the ruleset that a request names, links to lines of its files, pages, and the list of its errors.

A pane is a page that shows a ruleset, in the studio or alone. Its address says which:
``pane/NAME?ruleset=ID&with=OVERLAY&players=N&set=NAME=VALUE``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, TypeVarTuple, cast
from urllib.parse import urlencode

from jinja2 import PackageLoader
from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from interpreter.base.diagnostics import Diagnostic, RulesetError, excerpt, few
from interpreter.base.plain_data import Value
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import line_of
from interpreter.language.parse import Trees, remembered
from interpreter.loading.load import load, load_to_look
from interpreter.lowering.constants import RuleFailure
from interpreter.reading.dependencies import Evidence, at_one_moment, noted
from interpreter.serve.hall import Hall, check_overlays
from interpreter.serve.table_page import ENVIRONMENT
from interpreter.serve.web import HEADERS, MOST_FIELDS, static_path
from interpreter.serve.web import STATIC as TABLES_STATIC
from interpreter.serve.words import Refused
from interpreter.studio.workbench import Workbench

__all__ = ["FOLDER", "HOME", "PAGES", "STATIC", "Asked", "Loaded", "Panes", "form_of", "whole"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
HOME = "../"
"""Link from a pane to the page of the studio."""
FOLDER = Path(str(files("interpreter.studio").joinpath("static")))
STATIC = static_path(FOLDER)
"""Static files of the studio, and their path below its page."""
MOST_KEPT = 8
"""Most rulesets that are kept, least recently used first out, and most drawings and pages of each."""
PAGES = ENVIRONMENT.overlay(loader=PackageLoader("interpreter.studio"))
PAGES.globals |= {"excerpt": excerpt, "home": HOME, "line_of": line_of, "static": STATIC}
PAGES.globals["tables_static"] = TABLES_STATIC


class Asked(Struct, frozen=True):
    """What a pane is to show, as its address says: a ruleset with overlays, the number of players, and settings."""

    ruleset: str
    overlays: tuple[str, ...] = ()
    players: int | None = None
    settings: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """The part of an address that says so."""
        given = {"ruleset": self.ruleset, "with": self.overlays, "players": self.players or (), "set": self.settings}
        return urlencode(given, doseq=True)


class Loaded(Struct):
    """A ruleset with what panes have made of it. ``broken`` are errors about its laws: with them it can only be looked
    at. ``evidence`` tells whether its files are unchanged."""

    ruleset: Ruleset
    broken: list[Diagnostic]
    evidence: Evidence
    made: dict[object, Value] = field(default_factory=dict)

    def sound(self) -> Ruleset:
        """Return the ruleset. Raises :class:`RulesetError` if laws are broken."""
        if self.broken:
            raise RulesetError(self.broken)
        return self.ruleset

    def remember(self, key: object, make: Callable[[], T]) -> T:
        """Return what is made of the ruleset, which is kept as long as its files are unchanged."""
        if key not in self.made:
            if len(self.made) >= MOST_KEPT:
                self.made.clear()
            self.made[key] = make()
        return cast(T, self.made[key])

    def played(self, asked: Asked) -> tuple[int | None, dict[str, Value]]:
        """Return the number of players, if one is asked for that is allowed, and all settings. Raises
        :class:`Refused` for invalid ones."""
        allowed = self.ruleset.players
        players = asked.players if asked.players is not None and asked.players in allowed else None
        ruleset, pairs = self.ruleset.for_players(players or allowed.usual), (s.partition("=") for s in asked.settings)
        try:
            return players, ruleset.settings(ruleset.own_settings({name: value for name, _, value in pairs}))
        except ValueError as error:
            raise Refused("{error}", error=error) from None


class Panes:
    """The panes of a workbench. Tables in play are those of the hall."""

    def __init__(self, workbench: Workbench, hall: Hall) -> None:
        self.workbench, self.hall = workbench, hall
        self._trees = Trees()
        self._kept: dict[tuple[str, tuple[str, ...]], Loaded] = {}
        self._places: dict[str, Path | None] = {}
        """Paths of files by their names in positions, as they are during a request."""

    def route(self, name: str, show: Callable[[Request, Asked], Awaitable[Response]], *methods: str) -> Route:
        """Return the route of a pane. What is wrong with its ruleset becomes a page with links to the lines."""

        async def answer(request: Request) -> Response:
            try:
                return await show(request, _asked(request))
            except (RulesetError, RuleFailure, Refused) as error:
                return self.page("refused.html", 409 if isinstance(error, Refused) else 200, wrong=error)

        return Route(f"/pane/{name}", answer, methods=methods or ["GET"])

    async def apart(self, function: Callable[[*Ts], T], *values: *Ts) -> T:
        """Return what a function finds out about rulesets, which no other may do at the same time. The page answers
        meanwhile, where there are threads."""

        def work() -> T:
            with remembered(self._trees):
                return function(*values)

        async with self.hall.loading:
            return await asyncio.to_thread(work)

    def load(self, asked: Asked) -> Loaded:
        """Return a ruleset, within :meth:`apart`; from memory if none of its files has changed. Raises
        :class:`RulesetError` for errors, and :class:`Refused` for an unknown ruleset."""
        self._places.clear()
        with at_one_moment():
            key = self.workbench.source(asked.ruleset), asked.overlays
            known = self._kept.pop(key, None)
            if known is None or not known.evidence.holds():
                shelf = self.workbench.shelf()
                fresh = partial(load, *key, shelf, is_kept=known is None)  # the next edit makes it useless
                with noted() as evidence:
                    known = Loaded(*load_to_look(fresh, *key, shelf), evidence)
        self._kept[key] = known
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return known

    def key(self, asked: Asked) -> tuple[str, tuple[str, ...]]:
        """Return what loads a ruleset with its overlays without the shelf of the workbench: ids or paths."""
        return self.workbench.source(asked.ruleset), tuple(map(self.workbench.overlay_source, asked.overlays))

    def title_of(self, asked: Asked) -> str:
        """Return the titles of a ruleset and its overlays; ids for those that cannot be read."""
        found = next((each for each in self.workbench.rulesets() if each.id == asked.ruleset), None)
        titles = {asked.ruleset: found.title, **dict(found.overlays)} if found is not None else {}
        return " + ".join(titles.get(id, id) for id in (asked.ruleset, *asked.overlays))

    # --- answers

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Return a page from a template, in the style of the studio."""
        return HTMLResponse(self.rendered(template, **values), status, headers=HEADERS)

    def rendered(self, template: str, **values: object) -> str:
        """Return a template as HTML. It lists what is ``wrong`` with links to the lines."""
        match wrong := values.get("wrong"):
            case RulesetError():
                values["errors"] = few(wrong.diagnostics)
            case RuleFailure():
                values["errors"] = [Diagnostic(wrong.code, wrong.message, wrong.span)]
        return PAGES.get_template(template).render(link=self.link, **values)

    def link(self, place: str) -> str:
        """Return the link to a place, `FILE:LINE` as positions have it; empty if the studio cannot open the file."""
        name, _, line = place.rpartition(":")
        if name not in self._places:
            paths = (Path(os.path.abspath(root / name)) for root in self.workbench.shelf().roots)
            self._places[name] = next((path for path in paths if path.is_file()), None)
        path = self._places[name]
        return self.place_link(path, int(line)) if path is not None else ""

    def place_link(self, path: Path, line: int) -> str:
        """Return the link to a line of a file in the editor; empty if the studio cannot open it."""
        link = self.workbench.link(path, line)
        return link and HOME + link


def _asked(request: Request) -> Asked:
    """Read what a request asks for. Raises :class:`Refused`."""
    query, players = request.query_params, request.query_params.get("players", "")
    overlays = tuple(query.getlist("with"))
    check_overlays(overlays)
    return Asked(query.get("ruleset", ""), overlays, whole(players, 2), tuple(query.getlist("set")))


async def form_of(request: Request) -> dict[str, str]:
    """Return the texts that a request gives: in its address, or in its form."""
    pairs = (await request.form(max_fields=MOST_FIELDS) if request.method == "POST" else request.query_params).items()
    return {key: value for key, value in pairs if isinstance(value, str)}


def whole(text: str, digits: int) -> int | None:
    """Return the number that a form or an address gives in at most so many digits; None if it gives none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
