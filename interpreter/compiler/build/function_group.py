"""Base class of builders of groups of functions."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.compiler.build.base_module import Module
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.ir import ops

__all__ = ["FunctionGroup"]


class FunctionGroup:
    """Builds functions of one purpose for a module."""

    def __init__(self, module: Module) -> None:
        self.module, self.program, self.constants = module, module.program, module.constants
        self.model, self.shapes, self.memory = module.constants.model, module.shapes, module.memory
        self.seats = len(module.constants.seats)

    def made(self, head: ops.Function, build: Callable[[Steps], None]) -> ops.Function:
        """Return a function with the body that ``build`` adds. If it cannot be compiled, it traps when it is called."""
        return Steps(self.module).made(head, build)

    def declare(self, head: ops.Function, build: Callable[[Steps], None]) -> str:
        """Return the name of a function that is called; it is built later, once."""
        return Steps(self.module).declare(head, build)
