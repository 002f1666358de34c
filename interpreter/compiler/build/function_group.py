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

    def made(
        self,
        name: str,
        parameters: tuple[ops.Var, ...],
        result: ops.Rep | None,
        build: Callable[[Steps], None],
        about: str = "",
    ) -> ops.Function:
        """Build a function with the body that ``build`` adds. If it cannot be compiled, it traps when it is called."""
        return Steps(self.module).made(name, parameters, result, build, about)

    def declare(
        self,
        kind: str,
        subject: str,
        parameters: tuple[ops.Var, ...],
        result: ops.Rep | None,
        build: Callable[[Steps], None],
        about: str = "",
    ) -> str:
        """Return the name of a function that is called; it is built later, once."""
        return Steps(self.module).declare(self.module.name(kind, subject), parameters, result, build, about)
