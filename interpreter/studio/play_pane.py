"""The pane with a table: a game of the ruleset at hand against bots, which goes on with the rules after each edit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from interpreter.base.facilities import IN_BROWSER
from interpreter.engine.settings import setting_syntax
from interpreter.serve.archive import Kept
from interpreter.serve.live import Live
from interpreter.serve.watching import Watch
from interpreter.serve.words import Refused
from interpreter.studio.pane import Asked, Panes, form_of, whole

__all__ = ["Tables", "routes"]

MOST_BOT = 400
"""Most letters of the name of a bot."""


class Tables:
    """The tables of an author, one for each ruleset with its overlays."""

    def __init__(self, panes: Panes) -> None:
        self.panes, self.hall = panes, panes.hall
        self.watch = Watch(panes.hall)
        self._begun: dict[tuple[str, tuple[str, ...]], str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop of the tables, once there are any."""
        panes.workbench.listeners.append(self._wrote)

    def _wrote(self, paths: set[str]) -> None:
        """Let the tables know what was written, in any thread."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self.watch.changed(paths), self._loop)

    async def kept(self, asked: Asked) -> Kept | None:
        """Return the last table of a ruleset, if there is one; its next one if its people play again."""
        kept = self.hall.kept.get(self._begun.get((asked.ruleset, asked.overlays), ""))
        if kept is None and any(each.header["ruleset"] == asked.ruleset for each in self.hall.kept.values()):
            loaded = await self.panes.apart(self.panes.load, asked)  # it may be of an earlier session
            overlays = [*self.hall.layered(loaded.ruleset.overlays)]
            same = [
                each
                for each in self.hall.kept.values()
                if (each.header["ruleset"], each.header.get("overlays", [])) == (asked.ruleset, overlays)
            ]
            kept = max(same, key=lambda each: each.created, default=None)
        while kept is not None and (following := self.hall.kept.get(kept.header.get("again", ""))) is not None:
            kept = following
        return kept

    async def live(self, asked: Asked) -> Live | None:
        """Return the last table of a ruleset in play. Raises :class:`Refused` or :class:`RulesetError`."""
        await self._offer(asked)
        kept = await self.kept(asked)
        if kept is None:
            return None
        live = await self.hall.live(kept.id)
        await self.watch.follow()
        return live

    async def begin(self, asked: Asked, given: Mapping[str, str]) -> None:
        """Begin a table. Raises :class:`Refused` or :class:`RulesetError`."""
        await self._offer(asked)
        players = whole(given.get("players", ""), 2) or 0
        settings = {name[4:]: text for name, text in given.items() if name.startswith("set_")}
        seats = [("person", ""), *[("bot", given.get("bot", "")[:MOST_BOT])] * (players - 1)]
        kept = await self.hall.begin(asked.ruleset, seats, asked.overlays, settings)
        self._begun[asked.ruleset, asked.overlays] = kept.id
        await self.watch.follow()

    async def _offer(self, asked: Asked) -> None:
        self._loop = asyncio.get_running_loop()
        source, layers = await self.panes.apart(self.panes.key, asked)
        self.hall.layers |= dict(zip(asked.overlays, layers, strict=True))
        await self.panes.apart(self.hall.offer, source)


def routes(panes: Panes, tables: Tables) -> list[BaseRoute]:
    return [panes.route("play", partial(_play, panes, tables), "GET", "POST")]


async def _play(panes: Panes, tables: Tables, request: Request, asked: Asked) -> Response:
    error = ""
    if request.method == "POST":
        try:
            await tables.begin(asked, await form_of(request))
            return RedirectResponse(f"play?{asked.query}", 303)
        except Refused as refused:
            error = str(refused)
    live = await tables.live(asked) if "anew" not in request.query_params and not error else None
    if live is not None:
        seat = next((each for each in live.kept.seats if each.kind == "person"), live.kept.seats[0])
        return panes.page("play.html", asked=asked, token=seat.token, title=panes.title_of(asked))
    loaded = await panes.apart(panes.load, asked)
    ruleset, model = loaded.sound(), loaded.ruleset.model
    return panes.page(
        "play_anew.html",
        200 if not error else 409,
        error=error,
        asked=asked,
        ruleset=ruleset,
        title=panes.title_of(asked),
        number=loaded.played(asked)[0] or ruleset.players.usual,
        bots=panes.hall.bots_told(ruleset),
        alone=IN_BROWSER,
        given={name: value for name, _, value in (each.partition("=") for each in asked.settings)},
        settings=[(each.name, each.about, setting_syntax(model, each.name)) for each in model.settings.values()],
        doubts=list(model.interpretations.values()),
    )
