"""Slow work in worker processes, so that no table waits: searching bots, bots that are programs, explanations of lines.

Arguments and results are pickled. Programs share a separate process, which keeps each program and its game between
choices: a slow program delays only other programs.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from typing import TypeVar, TypeVarTuple

from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.play.game_records import Choice, replay_game, ruleset_of
from interpreter.play.game_records import SavedGame as Log
from interpreter.play.match import streams_for

__all__ = ["apart", "asking", "bare", "chosen", "close_apart", "program_chosen"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_pools: dict[str, ProcessPoolExecutor] = {}


async def apart(function: Callable[[*Ts], T], *values: *Ts, pool: str = "thinking") -> T:
    """Call a function in the worker process of a pool and return its result."""
    loop = asyncio.get_running_loop()
    worker = _worker(pool)
    try:
        return await loop.run_in_executor(worker, function, *values)
    except BrokenExecutor:
        if pool not in _pools:  # the server stops
            raise
        if _pools[pool] is worker:  # the process has died: the next one may live
            del _pools[pool]
        return await loop.run_in_executor(_worker(pool), function, *values)


def _worker(pool: str) -> ProcessPoolExecutor:
    if pool not in _pools:
        from multiprocessing import get_context

        _pools[pool] = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    return _pools[pool]


def close_apart() -> None:
    """Stop the worker processes and free their semaphores."""
    while _pools:
        _, pool = _pools.popitem()
        processes = list((getattr(pool, "_processes", None) or {}).values())
        for process in processes:
            process.terminate()
        pool.shutdown(cancel_futures=True)
    gc.collect()  # a server that is killed by a signal would not free them at its end


def bare(line: Choice) -> Choice:
    """Return a saved choice without the digest of the state after it."""
    return {name: value for name, value in line.items() if name != "digest"}


def asking(game: Game, seat: int) -> tuple[Game, Decision | None]:
    """Return the game and the decision of a seat; if several seats choose at once, a game turned to that seat."""
    decision = game.decision_of(seat)
    if decision is None or decision is game.decision:
        return game, decision
    game = game.stood_at(decision.frame)
    return game, game.decision


def chosen(log: Log, source: str | None, spec: str, seat: int) -> Choice | None:
    """Return the choice of a bot in a saved game."""
    players = log.header["players"]
    ruleset = ruleset_of(log, source)
    game, decision = asking(replay_game(ruleset, log), seat)
    if decision is None:
        return None
    bot = bots_of(spec, ruleset, players)[seat]
    return bot.choose(game, decision, streams_for(secrets.randbits(60), players)[seat]).as_dict()


_programs: dict[tuple[str, int, str], tuple[Bot, Game, tuple[Choice, ...]]] = {}


def program_chosen(table: str, log: Log, source: str | None, spec: str, seat: int) -> Choice | None:
    """Return the choice of a program at a table. The program keeps running between its choices, and its game is
    updated."""
    players = log.header["players"]
    bot, game, made = _programs.get((table, seat, spec), (None, None, ()))
    if bot is None:
        bot = bots_of(spec, ruleset_of(log, source), players, commands=True)[seat]
    if game is None or log.choices[: len(made)] != made:
        game, made = replay_game(ruleset_of(log, source), log), log.choices
    for line in log.choices[len(made) :]:
        game.apply({name: value for name, value in line.items() if name not in ("by", "decision")}, line["by"])
    _programs[table, seat, spec] = bot, game, log.choices
    turned, decision = asking(game, seat)
    if decision is None:
        return None
    return bot.choose(turned, decision, streams_for(0, players)[seat]).as_dict()
