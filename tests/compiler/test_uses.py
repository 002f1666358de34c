"""What is made where it is used, and what is not asked twice, changes nothing that a function does."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from interpreter.compiler.fast.calm import asked_once
from interpreter.compiler.fast.uses import kept_as_it_was, used_in_place

USES = {
    "a frame that one branch wants": """
def R0(state, frame, value):
    who_0, k_1 = frame[1]
    env_I2 = (who_0, value)
    up_I2 = (7, env_I2, frame[2], 1)
    if value:
        return (k_1, up_I2)
    return (k_1, who_0)
""",
    "a part that is given something else before it is read": """
def R0(state, frame, value):
    who_0, k_1 = frame[1]
    env_I2 = (who_0, k_1)
    k_1 = value
    return (env_I2, k_1)
""",
    "a name that is another one, until that changes": """
def R0(state, frame, value):
    at_0, to_1 = frame[1]
    first_2 = at_0
    while at_0 < to_1:
        last_3 = at_0
        at_0 += 1
        value = (last_3, value)
    return (first_2, value)
""",
    "a tuple of a loop's own": """
def R0(state, frame, value):
    found = []
    for who_0 in frame[1]:
        env_I2 = (who_0, value)
        if who_0 > 2:
            found.append(env_I2)
    return found
""",
    "a name that a comprehension has for something else": """
def R0(state, frame, value):
    who_0, k_1 = frame[1]
    env_I2 = (who_0, k_1)
    return [(who_0, env_I2) for who_0 in (1, 2, value)]
""",
}
MADE_ONCE = {"a frame that one branch wants": "env_I2 up_I2", "a tuple of a loop's own": "env_I2"}


def function(text: str) -> ast.FunctionDef:
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def run(tree: ast.FunctionDef, *arguments: Any, **names: Any) -> Any:
    exec(compile(ast.fix_missing_locations(ast.Module([tree], [])), "text", "exec"), names)
    return names[tree.name](*arguments)


@pytest.mark.parametrize("what", USES)
def test_a_function_does_the_same(what: str) -> None:
    short = used_in_place(function(USES[what]))
    left = {node.id for node in ast.walk(short) if isinstance(node, ast.Name)}
    assert not left & set(MADE_ONCE.get(what, "").split()), ast.unparse(short)
    for frame in [(5, (2, 6), None), (1, (4, 4), ()), (0, (1, 8), 3)]:
        for value in (0, 9):
            given = (None, frame, value)
            assert run(function(USES[what]), *given) == run(short, *given), ast.unparse(short)


ASKS = "    if S[0] and (not S[1]):\n        asked.append({})\n        S[0] = 0\n"
STEPS = ["    S[2] = 5\n", "    S[0] |= 1\n", "    move(S)\n", "    if S[2]:\n        S[0] |= 1\n", "    L.append(3)\n"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("cells", [[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]], ids=str)
def test_rules_that_wait_are_looked_at(step: str, cells: list[int]) -> None:
    """Whether they wait is asked again only where a cell that they read may have changed."""
    text = (
        "def R0(S, L):\n"
        + ASKS.format(0)
        + step
        + ASKS.format(1)
        + "    if S[0] and not S[1] or S[2]:\n        return 7\n"
        + "    if S[2]:\n        return 8\n"
    )

    def move(cells: list[int]) -> None:
        cells[0] |= 1

    found = []
    for tree in (function(text), asked_once(function(text), 0, 1, 2, calm=False)):
        state = SimpleNamespace(cells=list(cells), asked=[])
        found.append((run(tree, state.cells, [], asked=state.asked, move=move), state.cells, state.asked))
    assert found[0] == found[1]
    shown = ast.unparse(asked_once(function(text), 0, 1, 2, calm=False))
    assert shown.count("not S[1]") == (1 if step in (STEPS[0], STEPS[4]) else 2)
    assert "return 8" not in shown


SAME = """
def G0(state, frame, draw):
    who_0, city_1 = frame[1]
    up_I2 = frame[2]
    if draw:
        city_1 = 3
    frame_I2 = (56, (LOCALS), up_I2, into)
    state.frame = frame_I2
    return None
"""


def as_emitted(text: str) -> ast.FunctionDef:
    """Numbers below 0 are constants there."""
    found = function(text)
    for node in ast.walk(found):
        if isinstance(node, ast.Tuple):
            node.elts = [ast.Constant(-1) if getattr(each, "id", "") == "into" else each for each in node.elts]
    return ast.fix_missing_locations(found)


@pytest.mark.parametrize(
    ("locals_", "same"), [("who_0, None", True), ("who_0, city_1", False), ("city_1, None", False), ("4, None", False)]
)
def test_the_frame_of_a_decision_that_is_asked_again_is_kept(locals_: str, same: bool) -> None:
    text = SAME.replace("LOCALS", locals_)
    for draw in (0, 1):
        frame: Any = (56, (4, None), (), -1)
        found = []
        for tree in (function(text), kept_as_it_was(used_in_place(as_emitted(text)), 56, (1,))):
            state = SimpleNamespace(frame=frame)
            run(tree, state, frame, draw, into=-1)
            found.append(state.frame)
        assert found[0] == found[1]
        assert (found[1] is frame) is same
