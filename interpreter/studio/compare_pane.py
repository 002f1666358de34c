"""The pane that compares the ruleset at hand with another: their differences, and the effects on games of both."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from interpreter.base.facilities import IN_BROWSER
from interpreter.base.plurals import counted
from interpreter.bots.registry import default_bots
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.paired_games import Pair, PairPlan
from interpreter.pages.comparison import ComparisonReport, Played
from interpreter.pages.html import sections_of
from interpreter.pages.page import Section
from interpreter.serve.hall import check_overlays
from interpreter.serve.words import Refused
from interpreter.simulate.simulation import Unfinished
from interpreter.studio.jobs import Jobs, in_processes, in_slices
from interpreter.studio.pane import Asked, Panes, whole

__all__ = ["routes"]

GAMES, MOST_GAMES = 200, 10_000
"""Games of each ruleset: the usual number, and the largest."""
LAST_SEED = 1_000_000


class Plan(Struct, frozen=True):
    """What is compared, and how its games are played. Without ``pairs`` there is no number of players for both."""

    comparison: Comparison
    pairs: PairPlan | None


def routes(panes: Panes) -> list[BaseRoute]:
    pane = _Pane(panes)
    return [panes.route("compare", pane.show, "GET", "POST"), panes.route("compare/job", pane.job)]


class _Pane:
    def __init__(self, panes: Panes) -> None:
        self.panes = panes
        self.jobs: Jobs[Pair | Unfinished, tuple[Plan, range]] = Jobs()
        self._last: dict[str, str] = {}
        """With what each ruleset was compared last."""

    async def show(self, request: Request, asked: Asked) -> Response:
        query, other = str(request.query_params), _other(request, asked)
        if other is None and (last := self._last.get(asked.ruleset)) is not None:  # the page of the studio forgets it
            query = f"{asked.query}&{last}"
            return RedirectResponse(f"compare?{query}", 303)
        known = {each.id: each for each in self.panes.workbench.rulesets()}
        values: dict[str, object] = {"asked": asked, "other": other, "known": known, "pairs": parse_qsl(asked.query)}
        values["named"] = self.panes.title_of(asked)
        if other is None:
            values["first"] = first = await self.panes.apart(self.panes.workbench.relative_of, asked.ruleset)
            return self.panes.page("compare.html", 200, **values, also=known.get(first))
        self._last[asked.ruleset] = urlencode([("other", other.ruleset), *(("also", each) for each in other.overlays)])
        plan = await self.panes.apart(self._plan, asked, other)
        job = self.jobs.get((asked, other))
        if request.method == "POST":
            form = await request.form()
            if "play" in form and plan.pairs is not None:
                await self._play(asked, other, plan, str(form["play"]))
            elif job is not None:
                await job.stop()
            return RedirectResponse(f"compare?{query}", 303)
        report = await self.panes.apart(self._report, asked, other, plan)
        return self.panes.page(
            "compare.html",
            200,
            **values,
            also=known.get(other.ruleset),
            sides=[
                (name, self.panes.title_of(each), bool(each.overlays)) for name, each in (("A", asked), ("B", other))
            ],
            plan=plan,
            report=report,
            **self._shown(asked, other, query, plan),
        )

    async def job(self, request: Request, asked: Asked) -> Response:
        other = _other(request, asked)
        if other is None or (asked, other) not in self.jobs:
            raise Refused("There is no such job.")
        return self.panes.page("compare_games.html", **self._shown(asked, other, str(request.query_params)))

    # --- differences

    def _plan(self, asked: Asked, other: Asked) -> Plan:
        """Compare two rulesets. What was found is kept as long as their files are unchanged."""
        sides = self.panes.load(asked), self.panes.load(other)
        kept = sides[0].made.get((other, asked.players))
        if isinstance(kept, tuple) and kept[0] is sides[1]:
            plan: Plan = kept[1]
            return plan
        a, b = (side.sound() for side in sides)
        common = a.players & b.players
        number = common.usual if common.low <= common.high else None
        if asked.players is not None and asked.players in common:
            number = asked.players
        if number is not None:
            a, b = a.for_players(number), b.for_players(number)
        comparison = differences(Compared(a), Compared(b), {}, number)
        plan = Plan(comparison, None)
        if number is not None:
            (name_a, over_a), (name_b, over_b) = map(self.panes.key, (asked, other))
            names, digests, bots = (name_a, name_b), (a.digest, b.digest), default_bots(a, b)
            plan = Plan(comparison, PairPlan(names, (), digests, number, bots, layers=(over_a, over_b)))
        sides[0].made[other, asked.players] = sides[1], plan
        return plan

    def _report(self, asked: Asked, other: Asked, plan: Plan) -> Markup:
        page = ComparisonReport(plan.comparison, (_named(asked), _named(other))).page()
        return Markup(sections_of((Section("differences", page.title, page.front), *page.sections)))

    # --- games

    async def _play(self, asked: Asked, other: Asked, plan: Plan, number: str) -> None:
        """Begin to play games of both."""
        assert plan.pairs is not None
        total, start = whole(number, 5), 1 + secrets.randbelow(LAST_SEED)
        seeds = range(start, start + max(2, min(GAMES if total is None else total, MOST_GAMES)))
        steps = await self.panes.apart(plan.pairs.steps, plan.comparison)
        work = in_slices(map(steps, seeds)) if IN_BROWSER else in_processes(plan.pairs, seeds, steps)
        await self.jobs.begin((asked, other), (plan, seeds), len(seeds), work)

    def _shown(self, asked: Asked, other: Asked, query: str, plan: Plan | None = None) -> dict[str, Any]:
        """Return the values of the part of the page that shows games."""
        job = self.jobs.get((asked, other))
        values: dict[str, Any] = {"job": job, "number": GAMES, "query": query}
        if job is None:
            return values
        then, seeds = job.about
        unfinished = [game for game in job.done if isinstance(game, Unfinished)]
        if len(job.done) - len(unfinished) > 1 and then.pairs is not None:
            comparison, players = then.comparison, counted(then.pairs.players, "player")
            table = f"{players} by the bot {then.pairs.bots}"
            played = Played.of(table, seeds, job.done, (comparison.a, comparison.b))
            report = ComparisonReport(comparison, (_named(asked), _named(other)), played, terse=True)
            values["told"] = Markup(sections_of(report.games()))
        values |= {"wrong": job.failure} if job.failure is not None else {}
        return {**values, "unfinished": unfinished, "is_old": plan is not None and then is not plan}


def _other(request: Request, asked: Asked) -> Asked | None:
    """Return the other ruleset that a request names. Raises :class:`Refused`."""
    query = request.query_params
    overlays = query.getlist("also")
    check_overlays(overlays)
    other = Asked(query.get("other", ""), tuple(overlays), asked.players, asked.settings)
    return other if other.ruleset else None


def _named(asked: Asked) -> str:
    return " + ".join([asked.ruleset, *asked.overlays])
