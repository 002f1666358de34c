"""Slow work, so that no table waits for another one.

Searching bots, bots that are programs, and explanations of lines run in worker processes; arguments and results are
pickled. Workers keep the games of tables between their choices. Replays run on the event loop in turns with all else.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from typing import TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary, WeakValueDictionary
from zlib import crc32

from msgspec import Struct

from interpreter.base.facilities import cores, process_pool, thread_pool
from interpreter.bots.player import Bot, Stream
from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm.runner import Runner
from interpreter.engine.game import Game, Ruleset
from interpreter.play.game_records import Choice, choice_in, replay_game, ruleset_of
from interpreter.play.game_records import SavedGame as Log
from interpreter.play.match import streams_for

__all__ = [
    "Asked", "apart", "bare", "build_aside", "choice_of", "close_apart", "close_pool", "in_turns", "programmed",
    "searched", "shared",
]  # fmt: skip

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
WORKERS = max(2, min(4, cores()))
"""Worker processes of a pool."""
SEARCH = 1.0
"""Most seconds of a search."""
IN_USE = 0.7
"""Part of the time of all workers that searches share; the rest is for replays."""
SLICE = 0.005
"""Seconds that replays work before they let all else work for as long."""
MOST_GAMES = 50
"""Most games that a worker keeps."""
_pools: dict[str, Executor] = {}
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
_builder = thread_pool(1, "modules")
_building: set[Runner] = set()
_rules: WeakValueDictionary[str, Ruleset] = WeakValueDictionary()


def shared(ruleset: Ruleset) -> Ruleset:
    """Return the cached object for the same ruleset: tables then share its machines and large initial states."""
    key = ruleset.source
    return ruleset if key is None else _rules.setdefault(key, ruleset)


# --- on the event loop


async def in_turns(steps: Iterator[T], rest: Callable[[T], object] = lambda step: None) -> T:
    """Return the last of some steps, at least one. If they take long, they take turns with all else on the event loop,
    and with each other. ``rest`` is called with the last step of each turn."""
    turns = _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
    while True:
        end = time.perf_counter() + SLICE
        for last in steps:  # noqa: B007
            if time.perf_counter() > end:
                break
        else:
            rest(last)
            return last
        rest(last)
        async with turns:
            await asyncio.sleep(SLICE)


def build_aside(game: Game) -> None:
    """Let a thread build the module of a game if it is due, and the game go on meanwhile."""
    runner = game.runner
    runner.aside = runner.aside is not False
    if runner.due and runner not in _building:
        _building.add(runner)
        _builder.submit(runner.build).add_done_callback(lambda _: _building.discard(runner))


# --- in worker processes


async def apart(function: Callable[[*Ts], T], *values: *Ts, pool: str = "thinking", workers: int = WORKERS) -> T:
    """Call a function in a worker process of a pool and return its result."""
    loop = asyncio.get_running_loop()
    worker = _worker(pool, workers)
    try:
        return await loop.run_in_executor(worker, function, *values)
    except BrokenExecutor:
        if pool not in _pools:  # the server stops
            raise
        if _pools[pool] is worker:  # the process has died: the next one may live
            del _pools[pool]
        return await loop.run_in_executor(_worker(pool, workers), function, *values)


def _worker(pool: str, workers: int) -> Executor:
    if pool not in _pools:
        _pools[pool] = process_pool(workers, bool)
    return _pools[pool]


def close_apart() -> None:
    """Stop the worker processes and free their semaphores."""
    while _pools:
        close_pool(next(iter(_pools)))
    gc.collect()  # a server that is killed by a signal would not free them at its end


def close_pool(name: str) -> None:
    """Stop the worker processes of a pool, whatever they do."""
    if (pool := _pools.pop(name, None)) is not None:
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


TAKEN = "seconds taken"
"""Key of a saved choice that no slot can have."""
JOINED = "sent with the last"
"""Key of a saved choice that was sent together with the one before."""


def bare(line: Choice) -> Choice:
    """Return a saved choice without the digest of the state after it, and without who made it for its seat, how long
    it took, and with what it was sent."""
    return {name: value for name, value in line.items() if name not in ("digest", "forced", TAKEN, JOINED)}


def choice_of(bot: Bot, game: Game, seat: int, random: Stream) -> Choice | None:
    """Return the choice of a bot, if the seat has one to make. If several seats choose at once, the bot gets a game
    turned to its seat."""
    decision = game.decision_of(seat)
    if decision is not None and decision is not game.decision:
        game = game.stood_at(decision.frame)
        decision = game.decision
    return bot.choose(game, decision, random).as_dict() if decision is not None else None


class Asked(Struct, frozen=True):
    """A choice that the bot ``spec`` makes at a table. ``table`` is its id, and the digest of its rules."""

    table: tuple[str, ...]
    log: Log
    source: str | None
    seat: int
    spec: str

    @property
    def players(self) -> int:
        return self.log.header["players"]


_games: dict[tuple[str, ...], tuple[Game, tuple[Choice, ...]]] = {}
_programs: dict[tuple[tuple[str, ...], int, str], Bot] = {}


def _game_of(asked: Asked) -> Game:
    """Return the game of a table, which is kept between its choices."""
    table, log = asked.table, asked.log
    game, made = _games.pop(table, (None, ()))
    if game is None or log.choices[: len(made)] != made:
        game, made = replay_game(shared(ruleset_of(log, asked.source)), log), log.choices
    for line in log.choices[len(made) :]:
        game.apply(choice_in(line), line["by"])
    if len(_games) >= MOST_GAMES:
        oldest = next(iter(_games))
        del _games[oldest]
        for key in [key for key in _programs if key[0] == oldest]:
            del _programs[key]
    _games[table] = game, log.choices
    return game


_searches: deque[float] = deque()
"""Times of the latest searches."""


async def searched(asked: Asked, seconds: float) -> Choice | None:
    """Return the choice of a searching bot. All who ask within these seconds share the workers. Raises
    ``TimeoutError`` if there is no choice in time."""
    now = time.time()
    _searches.append(now)
    while _searches[0] < now - seconds:
        _searches.popleft()
    share = min(SEARCH, IN_USE * seconds * WORKERS / len(_searches))
    async with asyncio.timeout(seconds):
        return await apart(_searched, asked, share, now + seconds)


def _searched(asked: Asked, share: float, end: float) -> Choice | None:
    game, random = _game_of(asked), streams_for(secrets.randbits(60), asked.players)[asked.seat]
    seconds = min(share, end - time.time())
    if seconds <= 0:
        raise TimeoutError
    bot = bots_of(f"{asked.spec}:{seconds:.3f}s", game.ruleset, asked.players)[asked.seat]
    return choice_of(bot, game, asked.seat, random)


async def programmed(asked: Asked) -> Choice | None:
    """Return the choice of a program at a table, which stays in one process that keeps the program running."""
    pool = f"{asked.spec} {crc32(asked.table[0].encode()) % WORKERS}"
    return await apart(_programmed, asked, pool=pool, workers=1)


def _programmed(asked: Asked) -> Choice | None:
    game, key = _game_of(asked), (asked.table, asked.seat, asked.spec)
    if key not in _programs:
        _programs[key] = bots_of(asked.spec, game.ruleset, asked.players, commands=True)[asked.seat]
    return choice_of(_programs[key], game, asked.seat, streams_for(0, asked.players)[asked.seat])
