"""A bag that is taken apart once has the same parts, and no other name is looked into."""

from __future__ import annotations

import ast

import pytest

from interpreter.compiler.fast.parts import part_of, taken_apart

FUNCTIONS = {
    "read three times and more": """
def f(bags, k):
    bag = bags[0]
    if bag[0] > k and bag[1] > k:
        return bag[0] + bag[1], bag
    return bag[2], bag[0]
""",
    "given anew": """
def f(bags, k):
    bag = bags[0]
    first = bag[0] + bag[1] + bag[2]
    bag = bags[1]
    return first, bag[0] + bag[1] + bag[2]
""",
    "given anew in a loop": """
def f(bags, k):
    found = 0
    for bag in bags:
        if bag[0] + bag[1] + bag[2] > k:
            found += bag[0] * bag[1] * bag[2]
    return found
""",
    "perhaps none": """
def f(bags, k):
    bag = bags[0] if k > 5 else None
    if bag is not None and bag[0] + bag[1] + bag[2] > k:
        return bag[0], bag[1], bag[2]
    return None
""",
}


def marked(text: str) -> ast.FunctionDef:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "bag":
            part_of(node, 3)
    return function


def given(function: ast.FunctionDef, k: int) -> object:
    space: dict[str, object] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "text", "exec"), space)
    return space["f"](((1, 2, 9), (4, 5, 6)), k)  # type: ignore[operator]


@pytest.mark.parametrize("about", FUNCTIONS)
def test_parts_are_those_of_the_bag(about: str) -> None:
    for k in (0, 3, 8, 30):
        assert given(taken_apart(marked(FUNCTIONS[about])), k) == given(marked(FUNCTIONS[about]), k)


def test_a_bag_is_looked_into_once() -> None:
    assert "bag[" not in ast.unparse(taken_apart(marked(FUNCTIONS["read three times and more"])))
