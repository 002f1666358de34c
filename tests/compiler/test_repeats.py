"""What is worked out once only is what it would be if it were worked out again."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from interpreter.compiler.fast.repeats import told_once

GROUPS = {0: "bank", 1: "money", 2: "money", 3: "money", 4: "stage"}
REMEMBERED = frozenset(("S1_doubled",))

FUNCTIONS = {
    "a cell is read before and after it changes": """
def R0(state, who):
    S = state.cells
    before = S[1 + who] + S[1 + who] + S[1 + who]
    S[1 + who] = 7
    return before, S[1 + who], S[1 + who]
""",
    "another cell of the group, by another way to say where": """
def R0(state, who):
    S = state.cells
    other = 1 + (who + 1) % 3
    first = (S[1 + who], S[1 + who], S[1 + who])
    S[other] = 50
    S[1 + who] += 1
    return first, S[1 + who], S[other], S[other]
""",
    "who changes": """
def R0(state, who):
    S = state.cells
    first = (S[1 + who], S[1 + who], S[1 + who])
    who = (who + 1) % 3
    return first, S[1 + who], S[1 + who]
""",
    "one way changes it": """
def R0(state, who):
    S = state.cells
    first = (S[4], S[4], S[1 + who])
    if S[0] > 10:
        S[4] = 9
    return first, S[4], S[4], S[1 + who], S[1 + who]
""",
    "one way leaves": """
def R0(state, who):
    S = state.cells
    if S[0] > 10:
        S[4] = 9
        return S[4]
    return S[4], S[4], S[0], S[0]
""",
    "what is asked behind a condition is not known": """
def R0(state, who):
    S = state.cells
    first = S[0] > 10 and S[1 + who] > 1
    return first, S[1 + who], S[1 + who], S[1 + who]
""",
    "a loop changes what it reads": """
def R0(state, who):
    S = state.cells
    found = [S[0], S[0], S[0]]
    for each in (1, 2, 3):
        found.append((S[0], S[each], S[0], S[each]))
        S[0] = S[0] + S[each]
    return found, S[0], S[0]
""",
    "as long as": """
def R0(state, who):
    S = state.cells
    found = []
    while S[0] < 40:
        S[0] = S[0] + S[1 + who] + S[1 + who]
        found.append(S[0])
    return found, S[0]
""",
    "what is remembered goes with what it was worked out of": """
def R0(state, who):
    S = state.cells
    M = state.memo
    first = (S1_doubled(S, M, who), S1_doubled(S, M, who))
    S[0] = 3
    then = (S1_doubled(S, M, who), S1_doubled(S, M, who))
    S[1 + who] = 99
    M[1] = {}
    return first, then, S1_doubled(S, M, who), S1_doubled(S, M, who)
""",
    "what is not remembered goes with any cell": """
def R0(state, who):
    S = state.cells
    M = state.memo
    first = (S2_tripled(S, M, who), S2_tripled(S, M, who))
    S[1 + who] = 99
    return first, S2_tripled(S, M, who)
""",
    "a call that may change anything": """
def R0(state, who):
    S = state.cells
    first = (S[0], S[0], S[0])
    P1_pay(state, who)
    return first, S[0], S[1 + who], S[0]
""",
    "a name is given something else": """
def R0(state, who):
    S = state.cells
    held = S[1 + who]
    held = held + 1
    return held, S[1 + who], S[1 + who]
""",
    "nothing is named in what a comprehension looks through": """
def R0(state, who):
    S = state.cells
    found = [each + S[0] for each in (S[0], S[0], S[1 + who])]
    return found, S[0], S[1 + who]
""",
}


class _Memo(dict):  # type: ignore[type-arg]
    def __missing__(self, key: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        self[key] = found
        return found


class _State:
    def __init__(self, cells: tuple[int, ...]) -> None:
        self.cells, self.memo = list(cells), _Memo()


def doubled(cells: list[int], memo: _Memo, who: int) -> int:
    kept = memo[1]
    if who not in kept:
        kept[who] = 2 * cells[1 + who]
    return int(kept[who])


def pay(state: _State, who: int) -> None:
    state.cells[1 + who] -= 1
    state.cells[0] += 1


SPACE = {"S1_doubled": doubled, "S2_tripled": lambda S, M, who: 3 * S[1 + who], "P1_pay": pay}


def run(tree: ast.Module, cells: tuple[int, ...], who: int) -> tuple[Any, list[int]]:
    space: dict[str, Any] = dict(SPACE)
    exec(compile(tree, "function", "exec"), space)
    state = _State(cells)
    return space["R0"](state, who), state.cells


@pytest.mark.parametrize("about", FUNCTIONS)
def test_what_a_function_does_stays(about: str) -> None:
    tree, other = ast.parse(FUNCTIONS[about]), ast.parse(FUNCTIONS[about])
    function = other.body[0]
    assert isinstance(function, ast.FunctionDef)
    told_once(function, lambda cell: GROUPS.get(cell, ""), REMEMBERED)
    for cells in ((5, 1, 2, 3, 1), (20, 7, 1, 4, 2), (11, 3, 3, 3, 3)):
        for who in range(3):
            assert run(tree, cells, who) == run(other, cells, who)


def test_what_is_repeated_is_read_once() -> None:
    tree = ast.parse("def R0(state, who):\n    S = state.cells\n    return S[1 + who], S[1 + who], S[1 + who]\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    told_once(function, lambda cell: GROUPS.get(cell, ""), REMEMBERED)
    assert ast.unparse(function).count("S[") == 1
