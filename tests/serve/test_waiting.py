"""One table does not hold up another: replays, searches, programs and explanations of one leave room for others."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm import instance, module, runner
from interpreter.loading.load import load
from interpreter.play.game_records import Choice, SavedGame, read_saved_game, replay_game, write_log
from interpreter.play.match import Match
from interpreter.serve import apart, hall, live
from interpreter.serve.live import Chronicle
from interpreter.serve.table_page import View
from interpreter.serve.words import Refused
from tests.serve.served import Served, get, now, until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    running = Served(tmp_path / "tables.sqlite")
    yield running
    running.close()
    assert running.errors == []


@pytest.fixture(scope="module")
def saved() -> str:
    """A whole game of a few hundred choices."""
    match = Match(load("bsw-germany"), bots_of("random", load("bsw-germany"), 3), 5)
    match.play()
    lines: list[str] = []
    write_log(match.game, lines.append)
    return "".join(lines)


def counted(monkeypatch: pytest.MonkeyPatch, served: Served) -> list[int]:
    """Let each step of replays on the event loop be long, and count the steps between two turns of all else."""
    monkeypatch.setattr(apart, "SLICE", 0.0)
    steps, turns = [0], [0]
    inner = apart.in_turns

    def count(each: Iterator[Any]) -> Iterator[Any]:
        for step in each:
            steps[-1] += 1
            yield step

    async def all_else() -> None:
        while True:
            await asyncio.sleep(0)
            if steps[-1]:
                steps.append(0)
            turns[0] += 1

    monkeypatch.setattr(live, "in_turns", lambda each, *rest: inner(count(each), *rest))
    assert served.loop is not None
    served.loop.call_soon_threadsafe(lambda: setattr(served, "all_else", asyncio.ensure_future(all_else())))
    until(lambda: turns[0])
    return steps


def test_replays_of_a_table_let_all_else_work_after_each_step(
    served: Served, monkeypatch: pytest.MonkeyPatch, saved: str
) -> None:
    """An upload, its first page, the download of its log, its return from the archive, other rules."""
    steps = counted(monkeypatch, served)
    number = saved.count("\n")
    assert number > 150

    def all_in_turns(least: int) -> None:
        assert max(steps) <= 3  # a first step, and one more at each end
        assert sum(steps) >= least
        steps[:] = [0]

    kept = served.done(served.hall.from_log(saved))
    all_in_turns(number - 2)
    table = served.hall.lives[kept.id]
    view = View(table, 0)
    served.done(view.read())
    all_in_turns(number)
    monkeypatch.setattr(live, "numbered_lines", None)  # it is read already
    served.within(view.pieces)
    monkeypatch.undo()
    steps = counted(monkeypatch, served)
    assert served.done(table.text()) == saved
    all_in_turns(number - 2)
    del served.hall.lives[kept.id]
    again = served.done(served.hall.live(kept.id))
    assert again is not table
    all_in_turns(number - 2)
    served.done(again.go_on_with(again.ruleset))
    all_in_turns(number - 2)


def test_replays_take_turns_with_each_other(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short one does not wait for the end of a long one."""
    monkeypatch.setattr(apart, "SLICE", 0.0)
    order: list[str] = []

    def steps(name: str, number: int) -> Iterator[None]:
        for _ in range(number):
            order.append(name)
            yield

    async def both() -> None:
        await asyncio.gather(apart.in_turns(steps("long", 300)), apart.in_turns(steps("short", 3)))

    served.done(both())
    assert order.index("short") < 5
    assert order[:20].count("short") == 3


def test_a_table_that_returns_from_the_archive_does_so_once_and_holds_up_no_other(
    served: Served, monkeypatch: pytest.MonkeyPatch, saved: str
) -> None:
    kept = served.done(served.hall.from_log(saved))
    other, links, _ = served.table("goofspiel", ["person", "person"])
    served.hall.lives.clear()
    gate: list[asyncio.Event] = []
    resumed = live.resumed
    begun: list[str] = []

    async def slowly(*values: Any) -> live.Live:
        begun.append(values[0].id)
        if values[0].id == kept.id:
            gate.append(asyncio.Event())
            await gate[0].wait()
        return await resumed(*values)

    monkeypatch.setattr(hall, "resumed", slowly)

    async def ask() -> tuple[live.Live, live.Live]:
        both = asyncio.gather(*(served.hall.live(kept.id) for _ in range(2)))
        while not gate:
            await asyncio.sleep(0.001)
        await served.hall.live(other.kept.id)
        await served.hall.ruleset("outpost")
        gate[0].set()
        first, second = await both
        return first, second

    first, second = served.done(ask())
    assert first is second
    assert sorted(begun) == sorted([kept.id, other.kept.id])
    assert get(links[0]).status_code == 200


def test_a_table_that_has_made_room_meanwhile_does_not_return(
    served: Served, monkeypatch: pytest.MonkeyPatch, saved: str
) -> None:
    kept = served.done(served.hall.from_log(saved))
    served.hall.lives.clear()
    resumed = live.resumed

    async def removed(*values: Any) -> live.Live:
        del served.hall.kept[kept.id]
        return await resumed(*values)

    monkeypatch.setattr(hall, "resumed", removed)
    with pytest.raises(Refused, match="made room"):
        served.done(served.hall.live(kept.id))
    assert served.hall.lives == {}


def test_a_log_that_is_read_in_turns_is_the_log(served: Served, saved: str) -> None:
    """Also if somebody else reads it in the middle, and after choices are taken back."""
    log = read_saved_game(saved)
    game = replay_game(load("bsw-germany").for_players(3), SavedGame(log.header, log.choices[:80], None))
    chronicle = Chronicle(0, "en")
    steps = chronicle.reading(game)
    for _ in range(20):
        next(steps)
    whole = list(chronicle.read(game))
    for _ in steps:
        pass
    assert chronicle.read(game) == whole == Chronicle(0, "en").read(game)
    for _ in range(3):
        game.undo()
    assert chronicle.read(game) == Chronicle(0, "en").read(game) != whole


# --- bots


def _asked(table: str, spec: str) -> apart.Asked:
    return apart.Asked((table, ""), SavedGame({}, (), None), None, 0, spec)  # type: ignore[typeddict-item]


def test_searches_share_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []

    async def worker(function: object, *values: Any) -> None:
        shares.append(values[-2])

    monkeypatch.setattr(apart, "apart", worker)
    apart._searches.clear()

    async def ask() -> None:
        for _ in range(100):
            await apart.searched(_asked("a", "search"), 60.0)

    asyncio.run(ask())
    apart._searches.clear()
    assert shares[0] == apart.SEARCH
    assert shares == sorted(shares, reverse=True)
    assert 100 * shares[-1] <= 60.0 * apart.WORKERS


def test_a_search_gets_its_answer_in_time_however_many_others_ask(saved: str) -> None:
    """Or none. Twelve others would take twelve seconds."""
    log = read_saved_game(saved)
    seat = int(str(log.choices[40]["by"]))
    log = SavedGame(log.header, log.choices[:40], None)

    async def ask() -> list[object]:
        each = (apart.searched(apart.Asked((str(n), ""), log, None, seat, "search"), 4.0) for n in range(13))
        return await asyncio.gather(*each, return_exceptions=True)

    begun = time.monotonic()
    try:
        found = asyncio.run(ask())
    finally:
        apart.close_apart()
    assert time.monotonic() - begun < 9
    assert all(isinstance(each, dict | TimeoutError) for each in found)


def test_a_bot_that_has_no_time_to_search_chooses_all_the_same(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PAUSE", 0.0)

    async def busy(*values: object) -> Choice | None:
        raise TimeoutError

    monkeypatch.setattr(live, "searched", busy)
    table, _, watch = served.table("goofspiel", ["bot:search:1s", "bot:search:1s"])
    get(watch)
    until(lambda: table.game.is_over)
    assert table.note == ""


@pytest.mark.parametrize(("thinks", "pauses"), [(0.0, 1), (0.1, 1), (0.6, 2), (1.1, 3)])
def test_a_choice_of_a_bot_takes_whole_pauses(
    served: Served, monkeypatch: pytest.MonkeyPatch, thinks: float, pauses: int
) -> None:
    """However long it thinks."""
    pace = 0.5
    times: list[float] = []

    async def choice(self: live.Live, seat: int) -> Choice | None:
        times.append(time.monotonic())
        await asyncio.sleep(thinks)
        return self._choice_of(self._made(seat, "random"), seat)

    monkeypatch.setattr(live.Live, "_bots_choice", choice)
    served.hall.pace = pace
    table, _, watch = served.table("goofspiel", ["bot:random", "bot:random"])
    get(watch)
    until(lambda: len(times) >= 3)
    table.stop()
    slept = [later - earlier for earlier, later in pairwise(times)]
    assert all(each >= pauses * pace - 0.01 for each in slept)
    assert min(slept) < (pauses + 1) * pace  # whatever else runs on this machine


def test_a_hint_that_is_on_its_way_is_not_asked_for_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat has one search at a time, and is told if there is none in time."""
    asked: list[int] = []

    async def busy(what: apart.Asked, seconds: float) -> Choice | None:
        asked.append(what.seat)
        await asyncio.sleep(0.2)
        raise TimeoutError

    monkeypatch.setattr(live, "searched", busy)
    monkeypatch.setattr(live, "adviser", lambda ruleset: "search")
    table, _, _ = served.table("goofspiel", ["person", "person"])

    async def ask() -> list[object]:
        return await asyncio.gather(*(table.hint(seat) for seat in (0, 0, 0, 1)), return_exceptions=True)

    said = [str(each) for each in served.done(ask()) if isinstance(each, Refused)]
    assert asked == [0, 1]
    assert [("on its way" in each, "no hint now" in each) for each in said] == [
        (False, True), (True, False), (True, False), (False, True),
    ]  # fmt: skip
    for error in (TimeoutError, BrokenExecutor):
        monkeypatch.setattr(live, "searched", partial(_failing, error))
        with pytest.raises(Refused, match="no hint now"):
            served.done(table.hint(0))


async def _failing(error: type[Exception], *_: object) -> None:
    raise error


# --- workers


def test_explanations_of_a_table_wait_for_each_other_and_no_other_table(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way: list[str] = []
    most: dict[str, int] = {}
    order: list[str] = []

    async def worker(function: object, log: SavedGame, *values: Any, pool: str) -> tuple[str, list[object], tuple[()]]:
        name = str(log.header["seed"])
        under_way.append(name)
        most[name] = max(most.get(name, 0), under_way.count(name))
        await asyncio.sleep(0.02)
        under_way.remove(name)
        order.append(name)
        return "", [], ()

    monkeypatch.setattr(hall, "apart", worker)
    tables = [served.table("goofspiel", ["person", "bot:random"])[0] for _ in range(2)]
    for table in tables:
        decision = now(table).decision_of(0)
        assert decision is not None
        served.done(table.choose(0, decision.options[0].as_dict()))
    views = [View(table, 0) for table in tables]

    async def ask() -> None:
        await asyncio.gather(*(served.hall.explain(view, "1") for view in (*[views[0]] * 10, views[1])))

    served.done(ask())
    assert set(most.values()) == {1}
    assert order.index(str(tables[1].kept.header["seed"])) <= 1


def test_a_worker_keeps_the_games_of_tables(monkeypatch: pytest.MonkeyPatch, saved: str) -> None:
    """It makes the choices since the last time; others, taken back or with other rules, are replayed."""
    monkeypatch.setattr(apart, "_games", {})
    monkeypatch.setattr(apart, "_programs", {})
    monkeypatch.setattr(apart, "MOST_GAMES", 3)
    log = read_saved_game(saved)
    log = SavedGame(log.header, tuple(map(apart.bare, log.choices)), None)

    def game(table: str, number: int, rules: str = "a") -> Any:
        saved = SavedGame(log.header, log.choices[:number], None)
        return apart._game_of(apart.Asked((table, rules), saved, None, 0, "random"))

    def digest(number: int) -> str:
        return replay_game(load("bsw-germany"), SavedGame(log.header, log.choices[:number], None)).digest()

    first = game("one", 10)
    assert (game("one", 30), first.digest()) == (first, digest(30))
    taken_back = game("one", 20)
    assert (taken_back is first, taken_back.digest()) == (False, digest(20))
    assert game("one", 20, "b") is not taken_back
    assert game("two", 20).machine is taken_back.machine
    apart._programs[("one", "a"), 0, "cmd:x"] = bots_of("random", load("goofspiel"), 2)[0]
    game("three", 5)
    assert list(apart._games) == [("one", "b"), ("two", "a"), ("three", "a")]
    assert apart._programs == {}


def test_a_program_delays_no_other_and_stays_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[str] = []

    async def worker(function: object, *values: object, pool: str, workers: int) -> None:
        assert workers == 1
        pools.append(pool)

    monkeypatch.setattr(apart, "apart", worker)

    async def ask(table: str, spec: str) -> str:
        await apart.programmed(_asked(table, spec))
        return pools[-1]

    async def both() -> None:
        assert await ask("one", "cmd:a") == await ask("one", "cmd:a")
        assert await ask("one", "cmd:a") != await ask("one", "cmd:b")
        assert len({await ask(str(n), "cmd:a") for n in range(50)}) == apart.WORKERS

    asyncio.run(both())


def test_a_pool_has_several_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert apart.WORKERS >= 2
    monkeypatch.setattr(apart, "_pools", {})
    made: list[int] = []

    def pool(number: int, *_: object) -> ThreadPoolExecutor:
        made.append(number)
        return ThreadPoolExecutor(number)

    monkeypatch.setattr(apart, "process_pool", pool)
    assert asyncio.run(apart.apart(math.factorial, 5)) == 120
    assert asyncio.run(apart.apart(math.factorial, 5, pool="cmd:x", workers=1)) == 120
    assert made == [apart.WORKERS, 1]


# --- modules


@pytest.fixture
def builders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that build modules, which is due at once, with a cache of their own."""
    pytest.importorskip("wasmtime")
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runner, "PATIENCE", 1e-9)  # the set-up takes longer
    found: list[str] = []
    made = module._made

    def noted(*values: Any) -> module.Made:
        if threading.current_thread() is not threading.main_thread():  # replays of tests
            found.append(threading.current_thread().name)
        return made(*values)

    monkeypatch.setattr(module, "_made", noted)
    return found


def test_games_go_on_while_a_thread_builds_their_module(builders: list[str], served: Served) -> None:
    """Also the one with the policy of a bot, and that of a game which is replayed."""
    table, _, watch = served.table("bsw-germany", ["bot:sensible", "bot:sensible", "person"])
    get(watch)
    runner = table.game.runner

    def play() -> bool:
        decision = now(table).decision_of(2)
        if decision is not None and len(decision.options) > 1 and not apart._building:
            served.done(table.choose(2, decision.options[0].as_dict()))
        return served.within(lambda: runner.compiled is not None and bool(runner.compiled.players))

    until(play, 60)
    assert builders
    assert {name.partition("_")[0] for name in builders} == {"modules"}
    assert runner.bailouts == 0

    async def reached() -> tuple[str, SavedGame]:
        async with table.lock:
            return table.game.digest(), table.as_log

    digest, log = served.done(reached())
    assert digest == replay_game(load("bsw-germany"), log).digest()
    served.hall.lives.clear()
    served.done(served.hall.live(table.kept.id))
    assert {name.partition("_")[0] for name in builders} == {"modules"}


@pytest.mark.parametrize("fault", ["no cache", "no module"])
def test_a_module_that_no_thread_can_build_is_the_business_of_the_game(
    builders: list[str], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """It compiles in memory, or plays on in the plain form; nothing is built again and again."""
    if fault == "no cache":
        monkeypatch.setenv("REGELWERK_CACHE", "off")
    else:
        monkeypatch.setattr(module, "compiled", lambda text: (_ for _ in ()).throw(instance.Invalid("so")))
    game = load("goofspiel").new_game(2, 1)
    while game.decision is not None:
        apart.build_aside(game)
        game.apply(game.decision.options[0])
        until(lambda: not apart._building)
    assert (game.runner.compiled is not None) == (fault == "no cache")
    assert len(builders) <= 2
