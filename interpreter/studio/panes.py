"""All panes of the studio. Each module of panes has a function ``routes`` that takes :class:`Panes`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from interpreter.serve.hall import Hall
from interpreter.studio import board_pane, compare_pane, document_panes, play_pane, scenario_pane
from interpreter.studio.pane import Panes
from interpreter.studio.play_pane import Tables
from interpreter.studio.workbench import Workbench

__all__ = ["routes"]


def routes(workbench: Workbench, hall: Hall) -> list[BaseRoute]:
    """Return the routes of all panes of a workbench. Tables in play are those of the hall."""
    panes = Panes(workbench, hall)
    tables = Tables(panes)
    return [
        *board_pane.routes(panes),
        *document_panes.routes(panes),
        *play_pane.routes(panes, tables),
        *scenario_pane.routes(panes, tables),
        *compare_pane.routes(panes),
    ]
