"""The panes with documents: the rulebook of a ruleset, and the coverage of the rulebooks that it follows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from time import perf_counter

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from interpreter.base.diagnostics import RulesetError
from interpreter.engine.game import Ruleset
from interpreter.pages.citation_report import followed_page
from interpreter.pages.html import SCRIPT, inside_of, linked, style
from interpreter.pages.page import Page
from interpreter.pages.rulebook import rulebook_of
from interpreter.reading.files import Shelf
from interpreter.reading.statements import statement_places, statements_of
from interpreter.serve.web import HEADERS
from interpreter.serve.words import Refused
from interpreter.studio.pane import Asked, Loaded, Panes
from interpreter.testing.coverage import cover, followed
from interpreter.testing.suite import Suite, suite_of

__all__ = ["routes"]

SLICE = 0.04
"""Seconds of work between two signs of progress."""
COVERAGE = "coverage"


def routes(panes: Panes) -> list[BaseRoute]:
    async def rulebook(request: Request, asked: Asked) -> Response:
        return await panes.apart(_rulebook, panes, asked)

    async def coverage(request: Request, asked: Asked) -> Response:
        loaded = await panes.apart(panes.load, asked)
        loaded.sound()
        headers = {**HEADERS, "content-encoding": "identity"}  # compressed, it would arrive as a whole
        return StreamingResponse(_covered(panes, loaded), media_type="text/html", headers=headers)

    async def page_style(request: Request) -> Response:
        return Response(style(), media_type="text/css", headers=HEADERS)

    async def page_script(request: Request) -> Response:
        return Response(SCRIPT, media_type="text/javascript", headers=HEADERS)

    own = [Route("/pane/page.css", page_style), Route("/pane/page.js", page_script)]
    return [panes.route("rulebook", rulebook), panes.route(COVERAGE, coverage), *own]


def _rulebook(panes: Panes, asked: Asked) -> Response:
    loaded = panes.load(asked)
    players, settings = loaded.played(asked)
    ruleset = loaded.sound() if players is None else loaded.sound().for_players(players)
    inside = loaded.remember(
        ("rulebook", players, asked.settings),
        lambda: _inside(panes, ruleset.shelf, rulebook_of(ruleset, players, settings)),
    )
    return panes.page("document.html", title=ruleset.title, class_="book", inside=inside)


def _inside(panes: Panes, shelf: Shelf, page: Page) -> Markup:
    """Return what is inside the body of a page, with links to the lines of rules and statements."""
    places = statement_places(shelf)

    def link(text: str) -> str:
        return panes.place_link(*places[text]) if text in places else panes.link(text) if ":" in text else ""

    with linked(link):
        return Markup("".join(inside_of(page)[0]))


# --- coverage


async def _covered(panes: Panes, loaded: Loaded) -> AsyncIterator[str]:
    """Yield the page of the coverage in pieces, with its progress."""
    title, mark = f"Coverage of {loaded.ruleset.title}", Markup("\0")
    page = panes.rendered("document.html", title=title, class_="book wide-page", inside=mark)
    head, tail = page.split(mark)
    yield head
    try:
        if COVERAGE not in loaded.made:
            suite = await panes.apart(partial(suite_of, shelf=loaded.ruleset.shelf))
            loads, done = suite.loads(loaded.ruleset), 0
            left = iter(loads)
            while done < len(loads):
                yield panes.rendered("progress.html", done=done, of=len(loads))
                done += await panes.apart(_some, left)
            loaded.made[COVERAGE] = await panes.apart(_report, panes, loaded.ruleset, suite)
        yield str(loaded.made[COVERAGE])
    except (RulesetError, Refused) as error:
        yield f"<main>{panes.rendered('why.html', wrong=error)}</main>"
    yield tail


def _some(loads: Iterator[Callable[[], object]]) -> int:
    """Load rulesets for the time of a slice, at least one, and return how many."""
    end, number = perf_counter() + SLICE, 0
    while perf_counter() < end and (load := next(loads, None)) is not None:
        load()
        number += 1
    return number


def _report(panes: Panes, ruleset: Ruleset, suite: Suite) -> Markup:
    books = followed(ruleset, suite)
    if not books:
        raise Refused("This ruleset follows no rulebook; `rulebook` of an edition names one.")
    coverages = [cover(book, rulesets, ruleset.shelf, suite=suite) for book, rulesets in books.items()]
    return _inside(panes, ruleset.shelf, followed_page(coverages, statements_of(ruleset.shelf).values()))
