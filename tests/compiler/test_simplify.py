"""What is put in place, and what is left out, changes nothing that a function does."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from interpreter.compiler.fast.library import Library
from interpreter.compiler.fast.simplify import simplified

PARTS = {
    "a call at the end": """
def R1_next(state, env, up):
    who_0, k_1 = env
    return (who_0, k_1, up)

def R0_first(state, frame):
    env = frame[1]
    who_0, k_1 = env
    given_N1 = (k_1, who_0)
    return R1_next(state, given_N1, (7, env, frame, -1))
""",
    "names that change places": """
def R1_next(state, env, up):
    a_0, b_1 = env
    if a_0 < 3:
        a_0, b_1 = (b_1, a_0)
    return (a_0, b_1, up)

def R0_first(state, frame):
    env = frame[1]
    a_0, b_1 = env
    env = (b_1, a_0)
    return R1_next(state, env, (a_0, b_1))
""",
    "a cell that is changed after it was read": """
def P1_pay(state, who_0):
    S = state.cells
    S[0] -= 1
    S[1] += S[0]

def R0_first(state, frame):
    S = state.cells
    cell_G0 = S[0]
    P1_pay(state, 0)
    return (cell_G0, S[0], S[1])
""",
    "back to a caller that is known": """
def R2_after(state, env, up):
    who_0, bid_1 = env
    return ('after', who_0, bid_1, up)

def R1_asked(state, env, up):
    who_0, = env
    S = state.cells
    if S[0] > 5:
        return leave(state, up, S[0])
    return leave(state, up, None)

def R0_first(state, frame):
    env = frame[1]
    who_0, bid_1 = env
    return R1_asked(state, (who_0,), (2, (who_0, None), frame[0], 1))
""",
    "a loop that goes on": """
def P1_add(state, k_0):
    S = state.cells
    S[1] += k_0

def R0_first(state, frame):
    S = state.cells
    env = frame[1]
    at_0, to_1 = env
    last_2 = at_0
    while at_0 < to_1:
        last_2 = at_0
        at_0 += 1
        P1_add(state, at_0)
    return (at_0, last_2, S[1])
""",
    "a comprehension with names of its own": """
def R1_next(state, env, up):
    k_0, = env
    return (k_0, tuple([k_0 for k_0 in (1, 2, k_0)]), tuple([x_1 + k_0 for x_1 in (1, 2)]), up)

def R0_first(state, frame):
    x_1 = frame[0]
    return R1_next(state, (x_1,), x_1)
""",
}


def functions(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def made(body: list[ast.stmt], stretches: dict[int, tuple[str, int]]) -> dict[str, Any]:
    space: dict[str, Any] = {}

    def leave(state: Any, up: Any, value: Any) -> Any:
        to, env, further, into = up
        env = env if into < 0 else (*env[:into], value, *env[into + 1 :])
        return space[stretches[to][0]](state, env, further)

    space["leave"] = leave
    exec(compile(ast.fix_missing_locations(ast.Module(body, [])), "text", "exec"), space)
    return space


@pytest.mark.parametrize("cells", [[9, 1], [3, 40]], ids=str)
@pytest.mark.parametrize("what", PARTS)
def test_a_function_does_the_same(what: str, cells: list[int]) -> None:
    stretches = {2: ("R2_after", 2)} if "R2_after" in PARTS[what] else {}
    library = Library(stretches=stretches)
    library.add(functions(PARTS[what]))
    short = [simplified(each, library) for each in functions(PARTS[what]) if isinstance(each, ast.FunctionDef)]
    first = next(function for function in short if function.name == "R0_first")
    called = {
        node.func.id for node in ast.walk(first) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called <= {"tuple"}, ast.unparse(first)
    for frame in [(5, (2, 6), None), (1, (4, 4), ()), (0, (8, 1), 3)]:
        results = []
        bodies: list[list[ast.stmt]] = [functions(PARTS[what]), [*short]]
        for body in bodies:
            state = SimpleNamespace(cells=list(cells), log=[])
            results.append((made(body, stretches)["R0_first"](state, frame), state.cells))
        assert results[0] == results[1], ast.unparse(first)


BACK_TO_ONE = """
def R2_after(state, env, up):
    who_0, bid_1 = env
    return ('after', who_0, bid_1, up)

def R0_asked(state, env, up):
    who_0, = env
    return leave(state, up, who_0, 2, 1)
"""


def test_the_only_caller_stands_in_place_or_is_called_by_name() -> None:
    library = Library(stretches={2: ("R2_after", 2)}, backs={2: "B2_after"})
    library.add(functions(BACK_TO_ONE))
    up = (2, ("ann", None), "further", 1)
    for back in (True, False):
        asked = simplified(functions(BACK_TO_ONE)[1], library, back=back)  # type: ignore[arg-type]
        space: dict[str, Any] = {"B2_after": lambda state, frame, value: ("after", frame[1][0], value, frame[2])}
        exec(compile(ast.fix_missing_locations(ast.Module([asked], [])), "text", "exec"), space)
        assert space["R0_asked"](None, (4,), up) == ("after", "ann", 4, "further")
        assert ("B2_after" in ast.unparse(asked)) is not back
