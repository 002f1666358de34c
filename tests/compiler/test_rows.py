"""Rows, short lists and what is worked out of them are always what they would be if they were worked out now."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interpreter.compiler.fast import rows
from interpreter.compiler.fast import runtime as runtime_module
from interpreter.compiler.fast.helpers import NOTHING
from interpreter.compiler.fast.machine import FastMachine
from interpreter.engine.ruleset import load
from interpreter.engine.setup import set_table
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from tests.compiler.pair import CASES, picked

(ISLES,) = (path for path in CASES if path.name == "isles.yaml" and path.parent.name == "building")
GAMES = {"germany-2018": 3, "outpost": 3, str(ISLES): 2}
IN_PLAY = {
    "distance(network(who), isle, passable()) otherwise 99": "distance(network(who), isle, area) otherwise 1",
    " if network(who) == [] else path(network(who), isle, passable())": "",
}
"""By these rules distances from a network are those within a cell."""
NETWORK = "[i in area where any(p in i.places where owns(who, p))]"
MAPS = {
    "together": {},
    "apart": {"[i in isle where i.coast in chosen]": '[i in isle where i.coast in chosen and i != "Dun"]'},
    "fewer": {NETWORK: f'[n in {NETWORK} where n != "Bo"]'},
}
"""In the last one a node that enters what a seat owns need not enter its network."""


def table(name: str, players: int) -> tuple[FastMachine, State]:
    played = load(name).for_players(players)
    made = set_table(played.program, players, played.settings({}))
    assert made.machine.is_written
    return made.machine, made.first.clone()


def kept(machine: FastMachine, state: State) -> int:
    """How much is remembered; all of it is what a state gives that remembers nothing."""
    functions, space = machine.emitter.functions, machine.form.space
    caches, count = state.caches, 0
    numbers = {**functions.state_numbers, **{name: row.number for name, row in functions.rows.items()}}
    for name, number in numbers.items():
        taken = space[name].__code__.co_argcount - len("SM")
        answers = caches[number].items() if taken else [((), caches[number])] if caches[number] is not NOTHING else []
        for key, values in answers:
            anew = State(state.cells[:])
            machine.form.runtime.ready(anew)
            given = (key,) if taken == 1 else key
            assert values == space[name](anew.cells, anew.caches, *given), name
            count += 1
    return count


def play(machine: FastMachine, state: State, seed: int) -> int:
    """The most that was remembered at once."""
    chance, draw, most = Seeded(seed), random.Random(seed), 0
    machine.start(state, chance)
    for _ in range(200):
        if state.frame is None:
            break
        index, env, _, _ = state.frame
        options = list(machine.options(state, list(env), machine.asks[index]))
        machine.take(state, chance, *picked(options, draw))
        if state.frame is not None and draw.random() < 0.5:
            most = max(most, kept(machine, state))
    assert machine.abandoned == 0
    return most


@pytest.mark.parametrize("name", GAMES)
def test_lists_are_current(name: str) -> None:
    assert play(*table(name, GAMES[name]), 1) > 2


@pytest.mark.parametrize("limit", ["MOST_AT_A_CHANGE", "MOST_KEYS"])
def test_what_is_too_much_is_dropped(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, limit, 0)
    play(*table("germany-2018", 3), 2)


def test_what_cannot_be_worked_out_is_dropped() -> None:
    machine, state = table("germany-2018", 3)
    play(machine, state, 3)
    runtime, caches = machine.form.runtime, state.caches
    followed = machine.emitter.functions.rows.values()
    lists = next(row for row in followed if not row.given)
    assert any(caches[row.number] for row in followed)
    caches[lists.number] = None
    cell = next(iter(machine.emitted.rows[lists.number]))
    runtime.forget(state, cell, state.cells[cell])
    assert not any(caches[row.number] for row in followed if cell in machine.emitted.rows[row.number])


@pytest.mark.parametrize("followed", [0, 1])
def test_what_the_plain_form_changes_is_followed(followed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, state = table("outpost", 3)
    play(machine, state, 3)
    runtime, first = machine.form.runtime, machine.constants.layout.base["piece"]
    cell = next(cell for cell in range(first, len(state.cells)) if state.cells[cell] is not None)
    before = kept(machine, state)
    monkeypatch.setattr(runtime_module, "MOST_FOLLOWED", followed)
    runtime.aside(state, lambda: runtime.effects.put(state, cell, None, None))
    assert before > 10
    assert (kept(machine, state) > before // 2) == bool(followed)


def observed(machine: FastMachine, name: str) -> list[tuple[tuple[Any, ...], Any]]:
    """From now on what a helper is given, and gives."""
    space: dict[str, Any] = machine.form.space
    helper: Callable[..., Any] = space[name]
    found = []

    def watched(*given: Any) -> Any:
        found.append((given, helper(*given)))
        return found[-1][1]

    space[name] = watched
    return found


@pytest.mark.parametrize("name", MAPS)
def test_distances_go_on_with_a_node_that_enters(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(ISLES.parent, tmp_path / "building")
    family = folder / "family.yaml"
    text = re.sub(" cites C-.*", "", family.read_text(encoding="utf-8"))
    for old, new in {**IN_PLAY, **MAPS[name]}.items():
        assert old in text
        text = text.replace(old, new)
    family.write_text(text, encoding="utf-8")
    machine, state = table(str(folder / "isles.yaml"), 2)
    asked = observed(machine, "with_start")
    for seed in range(12):
        play(machine, state.clone(), seed)
    if name == "fewer":
        assert not asked
        return
    told = [(before, start) for (before, start, _), _ in asked]
    assert any(before[start] is not None for before, start in told)
    assert any(before[start] is None for before, start in told) == (name == "apart")


def test_distances_of_a_large_map_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = table("germany-2018", 3)[0].constants.graph
    assert graph is not None
    dear = 16 * (graph.node_count + len(graph.links))
    costs = []
    for most in (dear, dear - 1):
        monkeypatch.setattr(rows, "MOST_AT_A_CHANGE", most)
        machine, state = table("germany-2018", 3)
        asked = observed(machine, "with_start")
        play(machine, state, 4)
        assert bool(asked) == (most == dear)
        costs.append(machine.emitter.costs.cost(machine.emitted.followers["piece"]))
    assert costs[0] - costs[1] >= dear
