"""Puts the tables of the parser into the package while it is built: to work them out takes longer than a ruleset."""

from __future__ import annotations

import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tables(BuildHookInterface[Any]):
    """Writes the file that :mod:`interpreter.language.tables` reads."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from interpreter.language.grammar import write_tables
        from interpreter.language.tables import FILE

        write_tables()
        build_data["artifacts"].append(f"interpreter/language/{FILE}")
