"""Helpers: functions in hand-written WebAssembly text that functions of the IR call.

Their signatures are read from the ``.wat`` files of :mod:`interpreter.compiler.wasm`. A helper changes cells if it is
in ``effects.wat``; all others read only memory that their arguments point to.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from interpreter.compiler.ir import ops
from interpreter.compiler.wasm.runtime import written
from interpreter.language.builtins import BUILTINS

__all__ = ["Helper", "Signature", "helpers"]

LIST = 20
"""Approximate number of machine instructions for a loop over a short list."""
COSTS = {name: LIST * (row.steps or 1) // 2 + LIST // 2 for name, row in BUILTINS.items() if row.runtime} | {
    "alloc": 0,
    "capacities": 300,
    "distance": 120,
    "flags": 200,
    "nearest": 900,
    "overflow": 150,
    "path": 600,
    "sort": 150,
    "space": 150,
    "spaces": 300,
    "subsets": 300,
}
"""Approximate numbers of machine instructions; of other helpers it is :data:`LIST`."""
_HEAD = re.compile(r"^ *\(func \$([^\s()]+)((?:\s*\((?:param|result|export)\b[^()]*\))*)", re.MULTILINE)


class Signature(Struct, frozen=True):
    """Representations of a function's parameters and result."""

    parameters: tuple[ops.Rep, ...]
    result: ops.Rep | None


class Helper(Signature, frozen=True):
    """A helper: its approximate number of machine instructions, and whether it changes cells."""

    cost: int
    writes: bool


@cache
def helpers() -> dict[str, Helper]:
    """Return all helpers by name."""
    return {
        name: Helper(*_signature(head), COSTS.get(name, LIST), file == "effects.wat")
        for file in ("runtime.wat", "effects.wat", "driver.wat", "measures.wat", "touched.wat")
        for name, head in _HEAD.findall(written(file))
    }


def _signature(head: str) -> tuple[tuple[ops.Rep, ...], ops.Rep | None]:
    reps: dict[str, list[ops.Rep]] = {"param": [], "result": []}
    for kind, words in re.findall(r"\((param|result)\b([^()]*)\)", head):
        *names, rep = words.split()
        reps[kind].extend([rep] * (len(names) or 1))
    return tuple(reps["param"]), next(iter(reps["result"]), None)
