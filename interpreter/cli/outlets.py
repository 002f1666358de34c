"""All channels by which the program tells a seat about a game, for ``verify``.

Channels of rooms with optional libraries are there if these are installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, cast

from interpreter.base.plain_data import Json
from interpreter.bots.command import WANTS, question
from interpreter.bots.player import Stream
from interpreter.bots.policy import PolicyBot
from interpreter.bots.registry import adviser, bots_of
from interpreter.drawing.picture import picture_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.explain.legality import conditions_of
from interpreter.lowering.constants import RuleFailure
from interpreter.pages.notebook import game_cell
from interpreter.protocol.engine_server import Engine
from interpreter.testing import channels
from interpreter.testing.channels import Channel, asked, tried

if TYPE_CHECKING:
    from interpreter.serve.archive import Store

__all__ = ["CHANNELS"]

_RENDERED: dict[tuple[int, str, str], tuple[object, str]] = {}
"""Pieces of pages by seat, language and name, with their data: they are not rendered again for another game with equal
data. Those that differ in a type alone, as 1 and true, count as equal."""
EXPLAINED = 3
"""Number of options that are explained."""


def _explanations(game: Game, player: int) -> object:
    """Return why options are legal and other choices are not."""
    decision = asked(game, player)
    choices = (*_first(decision), *tried(game, decision)) if decision is not None else ()
    return [_conditions(game, choice, player) for choice in choices]


def _first(decision: Decision | None) -> list[dict[str, Json]]:
    """Return the first options of a decision."""
    return [option.as_dict() for option in islice(decision.options, EXPLAINED)] if decision is not None else []


def _conditions(game: Game, choice: Mapping[str, object], player: int) -> object:
    try:
        return conditions_of(game, choice, "en", player)
    except (IllegalMove, RuleFailure) as error:  # there is no such choice, or a condition cannot cope with it
        return str(error)


def _protocol(game: Game, player: int) -> object:
    """Return the answers to all requests that name the seat that looks."""
    engine = Engine(game.ruleset)
    engine.games[1] = game
    requests: list[tuple[str, dict[str, object]]]
    requests = [(method, {"player": player}) for method in ("status", "view", "log")]
    if game.decision_of(player) is not None:
        requests.append(("options", {"by": player}))
    requests += [("explain", {"player": player, "choice": choice}) for choice in _first(asked(game, player))]
    lines = (json.dumps({"id": 1, "method": method, "params": {"game": 1, **params}}) for method, params in requests)
    return [engine.answer(line) for line in lines]


def _hints(game: Game, player: int) -> object:
    """Return the advice of a policy. Searches, which deal hidden things anew, have tests of their own."""
    decision = asked(game, player)
    if decision is None:
        return None
    bot = bots_of(adviser(game.ruleset), game.ruleset, game.table.seats)[player]
    copy = game.clone()
    if not isinstance(bot, PolicyBot) or copy.decision is None:
        return None
    try:
        return bot.choose(copy, copy.decision, Stream(0, "hint")).as_dict()
    except (IllegalMove, RuleFailure):  # a policy that fails is no fault of the rules
        return None


def _programs(game: Game, player: int) -> object:
    """Return what a program that plays the seat is sent."""
    decision = asked(game, player)
    return question(game, decision, WANTS) if decision is not None else None


def _observation(game: Game, player: int) -> object:
    from interpreter.rl.numbering import Limits
    from interpreter.rl.space import Space

    return Space(game.ruleset, game.table.seats, {}, game.table, Limits()).observe(game, player)


def _page(game: Game, player: int) -> object:
    """Return the page of the seat at a table of the server, piece by piece."""
    from interpreter.play.game_records import header_of
    from interpreter.serve.archive import Kept, SeatRow
    from interpreter.serve.live import Live
    from interpreter.serve.table_page import View

    seats = [SeatRow(str(seat), "person") for seat in game.machine.constants.seats]
    kept = Kept("table", header_of(game), "", "host", "watch", True, seats, audience="shared")
    copy = game.clone(log=True)  # gets the names of its persons
    live = Live(kept, copy.ruleset, copy, cast("Store", None), 0.0)  # nothing is stored
    live.rendered = _RENDERED
    return {name: str(piece) for name, piece in View(live, player).pieces().items()}


CHANNELS: Mapping[str, Channel] = {
    **channels.CHANNELS,
    "explanations": _explanations,
    "protocol": _protocol,
    "hints": _hints,
    "programs as bots": _programs,
    "picture": lambda game, player: picture_of(game, player) if game.ruleset.model.graph is not None else None,
    "notebook": game_cell,
    **({"observation": _observation} if find_spec("numpy") else {}),
    **({"page": _page} if find_spec("starlette") and find_spec("jinja2") else {}),
}
