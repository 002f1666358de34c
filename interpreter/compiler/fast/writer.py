"""What writes a part of a program shares names, places and what is done with the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Writer"]


class Writer:
    """Writes some of the functions of a program."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.program, self.constants = emitter.program, emitter.constants
        self.quote, self.knowledge, self.sizes = emitter.quote, emitter.knowledge, emitter.sizes
        self.expressions, self.statements = emitter.expressions, emitter.statements
