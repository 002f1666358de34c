"""Registry of helpers: functions in hand-written WebAssembly text that functions of the IR call.

They are in the files ``runtime.wat``, ``effects.wat``, ``driver.wat`` and ``whole.wat`` of
:mod:`interpreter.compiler.wasm`; a test compares their signatures with these rows. A built-in that is a helper
(``runtime``) has its row in the registry of built-ins.
"""

from __future__ import annotations

from msgspec import Struct

from interpreter.compiler.ir import ops
from interpreter.language.builtins import BUILTINS, Builtin

__all__ = ["HELPERS", "Helper", "Signature"]

LIST = 20
"""Approximate number of machine instructions for a loop over a short list."""


class Signature(Struct, frozen=True):
    """Representations of a function's parameters and result."""

    parameters: tuple[ops.Rep, ...]
    result: ops.Rep | None


class Helper(Signature, frozen=True):
    """A helper: its approximate number of machine instructions, and whether it changes cells. Helpers that change no
    cells read only memory that their arguments point to."""

    cost: int = LIST
    writes: bool = False


def _row(signature: str, cost: int = LIST, writes: bool = False) -> Helper:
    """Parse a signature, with ``i`` for ``i32`` and ``l`` for ``i64``: ``ili -> l``."""
    reps: dict[str, ops.Rep] = {"i": "i32", "l": "i64"}
    parameters, _, result = signature.partition("->")
    return Helper(tuple(reps[letter] for letter in parameters.strip()), reps.get(result.strip()), cost, writes)


def _of_builtin(row: Builtin) -> Helper:
    widths = "i" * ("bag" in (*row.parameters, row.gives))
    parameters = "".join("l" if word == "int" else "i" for word in row.parameters)
    return _row(
        f"{parameters}{widths} -> {'l' if row.gives == 'int' else 'i'}", LIST * (row.steps or 1) // 2 + LIST // 2
    )


HELPERS = {name: _of_builtin(row) for name, row in BUILTINS.items() if row.runtime} | {
    "alloc": _row("i -> i", 0),
    # lists
    "concat": _row("ii -> i"),
    "contains": _row("ii -> i"),
    "distinct": _row("i -> i"),
    "equal_lists": _row("ii -> i"),
    "equal_words": _row("iii -> i"),
    "flags": _row("ii -> i", 200),
    "position": _row("ii -> l"),
    "set_of": _row("i -> i"),
    "sort": _row("iii -> i", 150),
    "subsets": _row("li -> i", 300),
    "without": _row("ii -> i"),
    "without_place": _row("ii -> i"),
    # bags, rooms and tracks; the last parameter is the width of bags
    "bag_add": _row("iii -> i"),
    "bag_negate": _row("ii -> i"),
    "bag_single": _row("lii -> i"),
    "bag_subtract": _row("iii -> i"),
    "bag_total": _row("ii -> l"),
    "bag_with": _row("ilii -> i"),
    "sum_of_bags": _row("ii -> i"),
    "capacities": _row("ii -> i", 300),
    "overflow": _row("iii -> l", 150),
    "overflow_within": _row("iii -> l"),
    "space": _row("iiii -> l", 150),
    "space_within": _row("iiii -> l"),
    "track_price": _row("iiii -> l"),
    "track_prices": _row("ii -> i"),
    "track_vacancy": _row("iil -> l"),
    # the graph
    "distance": _row("iiii -> l", 120),
    "forget_ways": _row(""),
    "nearest": _row("iii -> i", 900),
    "path": _row("iiii -> i", 600),
    # effects
    "move_all_bag": _row("iii", writes=True),
    "move_all_units": _row("ii", writes=True),
    "move_bag": _row("iiii", writes=True),
    "move_cards": _row("iii", writes=True),
    "move_kind": _row("liiii", writes=True),
    "move_to_pile": _row("iii", writes=True),
    "move_units": _row("lii", writes=True),
    "pick": _row("ilii -> i", writes=True),
    "place_piece": _row("iii", writes=True),
    "shuffle_zone": _row("ilii", writes=True),
    "take_piece": _row("iii", writes=True),
    # bots and measures
    "draw": _row("ii -> i"),
    "is_listed": _row("iiii -> i"),
    "ranked": _row("l"),
    "ranks_anew": _row(""),
    "record": _row("ll"),
}
