"""Recorded games of other implementations, translated: random outcomes by name, choices as plain dicts.

A recorded game has its set-up and, for each step, the move, the legal moves before it, the random outcomes and the
state after it. Tests replay the translation through the public API and compare after every step.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interpreter.engine.game import Game, Ruleset

RESOURCES = ("coal", "oil", "garbage", "uranium")
STAGE_3 = 99
READINGS = {"fuel_of_a_hybrid": "any", "tokens_of_a_scrapped_plant": "stay"}
"""The readings of the implementation that played the games, where they are not the defaults."""


def folder() -> Path | None:
    """Return the folder of recorded games, if there is one."""
    named = os.environ.get("REGELWERK_GAMES")
    path = Path(named) if named else None
    return path if path is not None and path.is_dir() else None


def recorded(ruleset: str) -> list[Path]:
    games = folder()
    return sorted(games.glob(f"{ruleset}-*.json.gz")) if games else []


def read(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
        return found


def card(number: int) -> int | str:
    return "stage_3" if number == STAGE_3 else number


def chances(game: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the random outcomes of the game by name."""
    setup = game["setup"]
    reshuffles = [
        [card(number) for number in chance["reshuffle"]]
        for step in game["steps"]
        for chance in step.get("chance", ())
        if "reshuffle" in chance
    ]
    found: dict[str, list[Any]] = {"turn_order": list(setup["order"]), **stack(setup)}
    if reshuffles:
        found["reshuffle"] = reshuffles
    return found


def stack(setup: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the shuffles that produced the opening market and the stack: one of all plants, or two by their backs."""
    market, deck, boxed = setup["plants"]["current"] + setup["plants"]["future"], setup["deck"], setup["boxed"]
    if market == list(range(3, 11)):
        return {"deck": [[*boxed, *deck[1:-1]]]}
    plugs = [*market, deck[0], *(p for p in boxed if p <= 15), *(p for p in deck[1:] if p <= 15)]
    sockets = [*(p for p in boxed if p > 15), *(p for p in deck if 15 < p != STAGE_3)]
    return {"plugs": [plugs], "sockets": [sockets], "deck": [deck[1:-1]]}


def begin(ruleset: Ruleset, game: dict[str, Any]) -> Game:
    settings = {"regions": game["setup"]["regions"], **READINGS}
    return ruleset.new_game(players=game["players"], settings=settings, chance=chances(game))


def steps(game: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the steps in which somebody has a choice: where no plant is left, nobody is asked to offer one."""
    left = market(game["setup"])
    for step in game["steps"]:
        if left or step["move"].get("phase") != "nominate":
            yield step
        left = market(step["state"])


def market(state: dict[str, Any]) -> list[int]:
    plants = state["plants"]
    return [*plants["current"], *plants["future"]]


def choices(move: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the choices of a recorded move."""
    match move["do"]:
        case "nominate":
            yield {"do": "offer", "plant": move["plant"], "bid": move["bid"]}
        case "bid":
            yield {"do": "raise", "amount": move["amount"]}
        case "pass":
            word = {"nominate": "decline", "bid": "pass", "buy": "stop", "build": "stop", "power": "stop"}
            yield {"do": word[move["phase"]]}
        case "scrap":
            yield {"do": "scrap", "plant": move["plant"]}
        case "discard":
            yield {"do": "give_up", "kind": move["resource"]}
        case "buy":  # tokens of the market and of a storage space are two purchases here
            stored = move.get("fromSupply", 0)
            for number in (move["n"] - stored, stored):
                if number:
                    yield {"do": "take", "kind": move["resource"], "number": number}
        case "build":
            yield {"do": "connect", "city": move["city"]}
        case "power":
            for fired in move["plants"]:
                yield {"do": "fire", "plant": fired["plant"], "fuel": fired["burn"]}
            yield {"do": "stop"}
        case other:
            raise AssertionError(other)


def legal(game: Game) -> dict[str, Any]:
    """Return the legal choices in the format of the recording."""
    decision = game.decision
    assert decision is not None
    options = decision.options
    found: dict[str, Any] = {}
    match decision.name:
        case "nominate":
            found["nominate"] = sorted({option["plant"] for option in options if option.do == "offer"})
            found["pass"] = any(option.do == "decline" for option in options)
        case "answer":
            amounts = [option["amount"] for option in options if option.do == "raise"]
            found["bid"] = [min(amounts), max(amounts)] if amounts else None
            found["pass"] = any(option.do == "pass" for option in options)
        case "scrap":
            found["scrap"] = sorted(option["plant"] for option in options)
        case "discard":
            found["discard"] = sorted(option["kind"] for option in options)
        case "buy":
            found["buy"] = {o["kind"]: price(game, o["kind"]) for o in options if o.do == "take"}
            found["pass"] = True
        case "build":
            found["build"] = {o["city"]: value(game, "connection_cost", o) for o in options if o.do == "connect"}
            found["pass"] = True
        case "run":
            found["power"] = sorted({option["plant"] for option in options if option.do == "fire"})
            found["pass"] = True
    return {name: what for name, what in found.items() if what not in (None, False, [], {})}


def price(game: Game, kind: str) -> int:
    return int(call(game, "price_of", RESOURCES.index(kind), 1))


def value(game: Game, rule: str, option: Any) -> Any:
    decision = game.decision
    assert decision is not None
    return call(game, rule, decision.actor, option.code[1][0])


def call(game: Game, rule: str, *values: Any) -> Any:
    """Return the current value of a function of the ruleset."""
    return game.machine.functions.called[game.ruleset.model.rules[rule].top.id](game.state, tuple(values))


def bag(view: dict[str, int]) -> list[int]:
    return [view.get(kind, 0) for kind in RESOURCES]


def state(game: Game) -> dict[str, Any]:
    """Return the state in the format of the recording, as far as both have it."""
    view = game.view()
    supply = bag(view["supply"])
    supply[0] += bag(view.get("coal_storage", {}))[0]  # the recording has one supply, of which coal may lie apart
    market = [STAGE_3 if c == "stage_3" else c for c in view["plant_market"]]
    decision = game.decision
    under_auction = decision.context.get("what") if decision and decision.name == "answer" else None
    return {
        "round": view["round"],
        "stage": view["stage"],
        "order": view["turn_order"],
        # the recording takes the marker off the plant that is being sold
        "discount": view.get("discounted") not in (None, under_auction),
        "plants": {"market": market, "deck": len(view["deck"])},
        "market": bag(view["resource_market"]),
        "supply": supply,
        "players": [
            {
                "money": seat["money"],
                "cities": len(call(game, "network", number)),
                "plants": sorted(seat["plants"]),
                "stored": bag(seat["store"]),
            }
            for number, seat in enumerate(view["seats"])
        ],
    }


def told(state: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded state, reduced to the same parts."""
    return {
        "round": state["round"],
        "stage": state["stage"],
        "order": state["order"],
        "discount": state["discount"],
        "plants": {"market": market(state), "deck": state["plants"]["deck"]},
        "market": state["market"],
        "supply": state["supply"],
        "players": [{**player, "plants": sorted(player["plants"])} for player in state["players"]],
    }


def told_legal(legal: dict[str, Any]) -> dict[str, Any]:
    """Return recorded legal moves in a fixed order, without empty ones."""
    return {name: sorted(what) if isinstance(what, list) else what for name, what in legal.items() if what}
