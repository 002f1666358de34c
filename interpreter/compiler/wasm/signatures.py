"""Signatures of the functions that are written by hand, for the verifier of the intermediate form."""

from __future__ import annotations

from functools import cache

from interpreter.compiler.ir.verify import Signature, signatures_in
from interpreter.compiler.wasm.assemble import DRIVER, TOUCHED, effects_text
from interpreter.compiler.wasm.runtime import runtime_text
from interpreter.compiler.wasm.whole import template

__all__ = ["runtime_signatures"]


@cache
def runtime_signatures() -> dict[str, Signature]:
    """The signatures of the runtime, the effects, the driver and of what plays whole games, read once."""
    return signatures_in("\n".join((runtime_text(), effects_text(), TOUCHED, DRIVER, template())))
