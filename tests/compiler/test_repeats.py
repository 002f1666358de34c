"""What is worked out once only is what it would be if it were worked out again."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest

from interpreter.compiler.fast.repeats import told_once

GROUPS = {0: "bank", 1: "money", 2: "money", 3: "money", 4: "stage", 5: "bag", 6: "bag", 7: "bag"}
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
        self.cells, self.memo, self.log = list(cells), _Memo(), list[Any]()


def doubled(cells: list[int], memo: _Memo, who: int) -> int:
    kept = memo[1]
    if who not in kept:
        kept[who] = 2 * cells[1 + who]
    return int(kept[who])


def pay(state: _State, who: int) -> None:
    state.cells[1 + who] -= 1
    state.cells[0] += 1


SPACE = {
    "S1_doubled": doubled,
    "S2_tripled": lambda S, M, who: 3 * S[1 + who],
    "P1_pay": pay,
    "K1_table": (4, 5, 6),
    "V1_more": lambda number: 2 * number + 1,
}


def run(tree: ast.Module, cells: tuple[int, ...], who: int) -> tuple[Any, list[int], list[Any]]:
    """What the function gives, or the sort of its failure, with the cells and the log that it leaves."""
    space: dict[str, Any] = dict(SPACE)
    exec(compile(tree, "function", "exec"), space)
    state = _State(cells)
    try:
        found = space["R0"](state, who)
    except (IndexError, TypeError) as error:
        found = type(error)
    return found, state.cells, state.log


CELLS = ((5, 1, 2, 3, 1, 2, 9, 4), (20, 7, 1, 4, 2, 0, 0, 8), (11, 3, 3, 3, 3, 1, 1, 1))


class Author:
    """Writes functions that read and change cells in all ways that emitted code does."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def function(self) -> str:
        head = "def R0(state, who):\n    S = state.cells\n    M = state.memo\n    L = state.log\n"
        given = "".join(f"    {name} = {value}\n" for name, value in {"a": 1, "b": 2, "k": 1, "at": 1, "to": 4}.items())
        value = self.value
        return f"{head}{given}" + "\n".join(self.block(0, "    ")) + f"\n    return {value()}, {value()}, {value()}\n"

    def where(self) -> str:
        return self.draw.choice(("0", "4", "1 + who", "1 + k", "5 + who", "1", "2", "at", "to", "5 + (k + 1) % 3"))

    def value(self, depth: int = 0) -> str:
        pick, further = self.draw.choice, depth + 1
        match self.draw.randrange(12) if depth < 4 else 0:
            case 0:
                return pick(("a", "b", "who", "k", "2"))
            case 1 | 2 | 3 | 4:
                return f"S[{self.where()}]"
            case 5:
                return f"{pick(('S1_doubled', 'S2_tripled'))}(S, M, {pick(('who', 'k'))})"
            case 6:
                return f"K1_table[{pick(('who', 'k', 'S[4] % 3'))}]"
            case 7:
                return f"V1_more({self.value(further)})"
            case 8:
                return f"({self.value(further)} + {self.value(further)})"
            case 9:
                return f"({self.value(further)} if {self.test(further)} else {self.value(further)})"
            case 10:
                return f"({self.test(further)} and {self.test(further)})"
            case _:
                return f"sum([each + {self.value(further)} for each in ({self.value(further)}, 1)])"

    def test(self, depth: int = 0) -> str:
        return f"{self.value(depth)} > {self.value(depth)}"

    def block(self, depth: int, margin: str) -> list[str]:
        return [line for _ in range(self.draw.randint(1, 4)) for line in self.statement(depth, margin)]

    def statement(self, depth: int, margin: str) -> list[str]:
        pick, deeper = self.draw.choice, f"{margin}    "
        match self.draw.randrange(12 if depth < 3 else 8):
            case 0 | 1:
                return [f"{margin}{pick(('a', 'b'))} = {self.value()}"]
            case 2:
                return [
                    f"{margin}{pick(('at', 'to'))} = {pick(('1 + who', '1 + k', '5 + who', '0', '5 + (k + 1) % 3'))}"
                ]
            case 3:
                return [f"{margin}{pick(('who', 'k'))} = ({self.value()}) % 3"]
            case 4 | 5:
                change = pick((f"= {self.value()}", f"+= {self.value()}", "= a"))
                return [f"{margin}S[{self.where()}] {change}", f"{margin}M[1] = {{}}"]
            case 6:
                return [f"{margin}P1_pay(state, {pick(('who', 'k'))})", f"{margin}M[1] = {{}}"]
            case 7:
                return [f"{margin}L.append(({self.value()}, (b := {self.value()}), {self.value()}))"]
            case 8 | 9:
                lines = [f"{margin}if {self.test()}:", *self.block(depth + 1, deeper)]
                lines += [f"{deeper}return {self.value()}"] if self.draw.random() < 0.25 else []
                return [*lines, f"{margin}else:", *self.block(depth + 1, deeper)] if self.draw.random() < 0.5 else lines
            case 10:
                return [f"{margin}for e{depth} in ({self.value()}, 1):", *self.block(depth + 1, deeper)]
            case _:
                count = f"n{depth}"
                head = [f"{margin}{count} = 0", f"{margin}while {count} < 3 and {self.value()} < 500:"]
                return [*head, f"{deeper}{count} = {count} + 1", *self.block(depth + 1, deeper)]


@pytest.mark.parametrize("seed", range(4))
def test_what_any_function_does_stays(seed: int) -> None:
    author = Author(seed)
    for _ in range(100):
        text = author.function()
        tree, other = ast.parse(text), ast.parse(text)
        function = other.body[0]
        assert isinstance(function, ast.FunctionDef)
        told_once(function, lambda cell: GROUPS.get(cell, ""), REMEMBERED)
        for cells in CELLS:
            for who in range(3):
                assert run(tree, cells, who) == run(other, cells, who), text


@pytest.mark.parametrize("about", FUNCTIONS)
def test_what_a_function_does_stays(about: str) -> None:
    tree, other = ast.parse(FUNCTIONS[about]), ast.parse(FUNCTIONS[about])
    function = other.body[0]
    assert isinstance(function, ast.FunctionDef)
    told_once(function, lambda cell: GROUPS.get(cell, ""), REMEMBERED)
    for cells in CELLS:
        for who in range(3):
            assert run(tree, cells, who) == run(other, cells, who)


def test_what_is_repeated_is_read_once() -> None:
    tree = ast.parse("def R0(state, who):\n    S = state.cells\n    return S[1 + who], S[1 + who], S[1 + who]\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    told_once(function, lambda cell: GROUPS.get(cell, ""), REMEMBERED)
    assert ast.unparse(function).count("S[") == 1
