"""Builder of a module: all groups of functions. A function is built when something first calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interpreter.compiler.build.base_module import Module
from interpreter.compiler.build.decisions import Decisions
from interpreter.compiler.build.phases import Phases
from interpreter.compiler.build.policy_functions import Policies
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.build.stretches import Stretches
from interpreter.compiler.ir import ops
from interpreter.kernel.state import Value
from interpreter.lowering.constants import Constants
from interpreter.lowering.lower import Program

__all__ = ["ModuleBuilder"]


class ModuleBuilder(Module):
    """A module with the builders of its functions."""

    def __init__(
        self,
        program: Program,
        constants: Constants,
        resets: Mapping[str, Sequence[tuple[int, Value]]],
        rooms: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(program, constants, resets, rooms)
        self.decisions = Decisions(self)
        self.stretches = Stretches(self.decisions)
        self.phases = Phases(self)
        self.policies = Policies(self.decisions)

    def rank(self) -> ops.Function:
        """Build the function that returns the sort key of a card in a zone that is ordered by a rule."""
        return Steps(self).rank()
