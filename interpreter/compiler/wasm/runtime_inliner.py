"""Inlining of short functions of the runtime, on WebAssembly text.

Functions that a short one calls are inlined into it first. In the folded text format a call is an expression, and so is
a block: ``(call $f a b)`` becomes a block that sets locals for the parameters and then has the body of ``$f``; a return
becomes a branch to the end of the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

__all__ = ["Expansion", "Inliner", "inliner"]

Tree = str | list["Tree"]

SHORT = 250
"""Maximum size of a short function in words and parentheses, after inlining."""
VARIABLES = {f"{kind}.{do}" for kind in ("local", "global") for do in ("get", "set", "tee")}
NAMED = {"func", "global", "call", "call_indirect", "block", "loop", "until", "walk", "br", "br_if", *VARIABLES}
"""Instructions that begin with the name of a function, a table, a label or a variable."""
DECLARED = ("param", "result", "local", "type", "export", "mut")
MARK = "\0"
"""It stands for the label in the text of an inlined call."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\(;.*?;\)|;;[^\n]*|[()]|[^\s()";]+', re.DOTALL)


@dataclass
class Short:
    """A short function: its parameters and then other locals with their types, its result, and its body."""

    locals: list[Tree]
    result: list[Tree]
    body: list[Tree]

    @cached_property
    def text(self) -> str:
        """The text of an inlined call, with ``%s`` for each argument and :data:`MARK` for the label."""
        return _written(self.inlined(MARK, ["%s" for local in self.locals if local[0] == "param"]))

    def inlined(self, label: str, arguments: list[Tree]) -> Tree:
        others = (of[2] for of in self.locals[len(arguments) :])
        zeros: list[Tree] = [[f"{type_}.const", "i64x2 0 0" if type_ == "v128" else "0"] for type_ in others]
        names = {str(local[1]): f"{label}.{local[1][1:]}" for local in self.locals}
        sets: list[Tree] = [["local.set", *pair] for pair in zip(names.values(), (*arguments, *zeros), strict=True)]
        return ["block", label, *self.result, *sets, *(_renamed(part, names, label) for part in self.body)]


class Inliner:
    """Inlines the short functions of a text, and those ``below`` it: in the text, and in functions that call them."""

    def __init__(self, text: str, below: Inliner | None = None) -> None:
        trees = [tree for tree in _parsed(text) if isinstance(tree, list)]
        self._functions = {tree[1]: tree for tree in trees if tree[0] == "func"}
        self.short: dict[str, Short] = dict(below.short) if below is not None else {}
        self._done: dict[str, list[Tree]] = {}
        self._open: set[str] = set()
        for name in self._functions:
            self._visit(str(name))
        others = (tree for tree in trees if tree[0] != "func")
        self.text = "\n".join(map(_written, (*others, *self._done.values())))

    def _visit(self, name: str) -> None:
        if name in self._done or name in self._open or name not in self._functions:
            return
        self._open.add(name)
        function = self._functions[name]
        for part in list(_parts(function)):
            if part[:1] == ["call"]:
                self._visit(str(part[1]))
        expansion = Expansion(self.short)
        heads: dict[str, list[Tree]] = {"export": [], "param": [], "result": [], "local": []}
        body: list[Tree] = []
        for part in map(expansion.of, function[2:]):
            heads.get(str(part[0]), body).append(part)
        heads["local"].extend(expansion.locals)
        self._done[name] = ["func", name, *chain.from_iterable(heads.values()), *body]
        self._open.discard(name)
        if len(list(_parts(body))) <= SHORT:
            self.short[name] = Short([*heads["param"], *heads["local"]], heads["result"], body)


class Expansion:
    """Inlines calls in one function. Each call gets new labels and ``locals``."""

    def __init__(self, short: dict[str, Short]) -> None:
        self._short = short
        self.locals: list[list[Tree]] = []
        """The new locals, as they are declared."""
        self._count = 0

    def call(self, function: str, arguments: list[str]) -> str | None:
        """Return the text of an inlined call, or None if the function is not short."""
        short = self._short.get(name := f"${function}")
        return short.text.replace(MARK, self._label(name, short)) % (*arguments,) if short is not None else None

    def of(self, tree: Tree) -> Tree:
        if isinstance(tree, str):
            return tree
        parts = [self.of(part) for part in tree]
        short = self._short.get(name := str(parts[1])) if parts[:1] == ["call"] else None
        return short.inlined(self._label(name, short), parts[2:]) if short is not None else parts

    def _label(self, name: str, short: Short) -> str:
        """Return the label of a call, whose locals are declared."""
        self._count += 1
        label = f"{name}.{self._count}"
        self.locals.extend(["local", f"{label}.{local[1][1:]}", local[2]] for local in short.locals)
        return label


def _renamed(tree: Tree, names: dict[str, str], label: str) -> Tree:
    if isinstance(tree, str):
        return tree
    head: list[Tree] = []
    match tree:
        case ["local.get" | "local.set" | "local.tee" as word, str(local), *rest]:
            head = [word, names[local]]
        case ["return", *rest]:
            head = ["br", label]
        case ["block" | "loop" | "br" | "br_if" as word, str(target), *rest] if target[0] == "$":
            head = [word, f"{label}{target}"]
        case rest:
            pass
    return [*head, *(_renamed(part, names, label) for part in rest)]


def _parts(tree: Tree) -> Iterator[Tree]:
    yield tree
    if isinstance(tree, list):
        for part in tree:
            yield from _parts(part)


def _parsed(text: str) -> list[Tree]:
    stack: list[list[Tree]] = [[]]
    for token in _TOKEN.findall(text):
        if token.startswith((";;", "(;")):
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            tree = stack.pop()
            stack[-1] += _written_out(tree)
        else:
            stack[-1].append(token)
    return stack[0]


def _written_out(tree: list[Tree]) -> list[Tree]:
    """Return the trees that another stands for. The name of a local stands for its value, a number or a placeholder for
    a constant of 32 bits; names before a type have this type. ``until`` is a loop that ends when its test is true;
    ``walk`` increments a local from a start to an end by a step, ``each`` over the addresses of the items of a list."""
    head = str(tree[0])
    if head in DECLARED or head.endswith((".const", ".shuffle")):
        return [[head, name, tree[-1]] for name in tree[1:-1] if name[0] == "$"] or [tree]
    first = 3 if head.endswith(("each", "_lane")) else 2 if head in NAMED else 1
    match [*tree[:first], *map(_operand, tree[first:])]:
        case ["until", str(label), test, *body]:
            again = f"{label}.again"
            return [["block", label, ["loop", again, ["br_if", label, test], *body, ["br", again]]]]
        case ["walk", str(at), start, end, step, *body]:
            here: Tree = ["local.get", at]
            next_: Tree = ["local.tee", at, ["i32.add", here, step]]
            again, done = f"{at}.again", f"{at}.done"
            loop: Tree = ["loop", again, *body, ["br_if", again, ["i32.lt_u", next_, end]]]
            return [["block", done, ["br_if", done, ["i32.ge_u", ["local.tee", at, start], end]], loop]]
        case ["each", str(at), str(end), items, *body]:
            walk = _written_out(["walk", at, ["i32.add", items, ["i32.const", "4"]], end, "4", *body])
            return [["local.set", end, ["call", "$end_of", items]], *walk]
        case other:
            return [other]


def _operand(tree: Tree) -> Tree:
    if isinstance(tree, str) and tree[0] == "$":
        return ["local.get", tree]
    return ["i32.const", tree] if isinstance(tree, str) and tree[0] in "-{0123456789" else tree


def _written(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_written, tree))})"


inliner = cache(Inliner)
"""The inliner of a text; it is cached, since parsing takes time."""
