"""Rows, short lists and what is worked out of them are always what they would be if they were worked out now."""

from __future__ import annotations

import random

import pytest

from interpreter.compiler.fast import rows
from interpreter.compiler.fast.helpers import NOTHING
from interpreter.compiler.fast.machine import FastMachine
from interpreter.engine.ruleset import load
from interpreter.engine.setup import set_table
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from tests.compiler.test_same_game import CASES, picked

GAMES = {
    "germany-2018": 3,
    "outpost": 3,
    **{str(path): 2 for path in CASES if path.name == "isles.yaml" and path.parent.name == "building"},
}


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
