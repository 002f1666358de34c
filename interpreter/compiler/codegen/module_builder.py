"""Builder of a module: all groups of functions. A function is built when something first calls it."""

from __future__ import annotations

from collections.abc import Mapping

from interpreter.compiler.codegen.base_module import Module
from interpreter.compiler.codegen.decisions import Decisions
from interpreter.compiler.codegen.phases import Phases
from interpreter.compiler.codegen.policy_functions import Policies
from interpreter.compiler.codegen.stretches import Stretches
from interpreter.plain.machine import Machine

__all__ = ["ModuleBuilder"]


class ModuleBuilder(Module):
    """A module with the builders of its functions."""

    def __init__(self, machine: Machine, rooms: Mapping[str, int] | None = None) -> None:
        super().__init__(machine, rooms)
        self.decisions = Decisions(self)
        self.stretches = Stretches(self)
        self.phases = Phases(self)
        self.policies = Policies(self)
