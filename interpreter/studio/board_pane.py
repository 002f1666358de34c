"""The pane with the board: nodes are links to their lines, and moving one writes its coordinates into its file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import DecodeError, Struct, json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from interpreter.base.diagnostics import RulesetError
from interpreter.drawing.board import Drawn, drawn_on
from interpreter.drawing.geometry import Point, dot
from interpreter.drawing.picture import picture_of, unplayed
from interpreter.language.model import GraphDecl
from interpreter.language.texts import printed
from interpreter.serve.words import Refused
from interpreter.studio.pane import Asked, Loaded, Panes

__all__ = ["routes"]

MOST_BYTES = 4_096
FARTHEST = 100_000
"""Largest coordinate that is written."""
LIKE = 0.9
"""Least correlation of a drawing with the coordinates of its nodes, if it follows them."""


class Moved(Struct, forbid_unknown_fields=True):
    """A node, by its name, with its new coordinates."""

    node: str
    x: int
    y: int


class Board(Struct, frozen=True):
    """A drawn board. ``scale`` is the length of a unit of the map on it. Nodes can be moved in the file with this
    ``name``, or ``fixed`` says why not."""

    graph: GraphDecl
    drawn: Drawn
    scale: float
    name: str = ""
    fixed: str = ""


def routes(panes: Panes) -> list[BaseRoute]:
    async def board(request: Request, asked: Asked) -> Response:
        return await panes.apart(_page, panes, asked)

    async def move(request: Request, asked: Asked) -> Response:
        try:
            moved = json.decode((await request.body())[:MOST_BYTES], type=Moved)
            name, text = await panes.apart(_moved, panes, asked, moved)
            panes.workbench.write(name, text)
            return JSONResponse({"changed": name})
        except (RulesetError, Refused) as error:
            refused = str(error) if isinstance(error, Refused) else "Mend the errors of the ruleset first."
        except DecodeError:
            refused = "This request names no node with two whole numbers."
        return JSONResponse({"refused": refused}, 409)

    return [panes.route("board", board), panes.route("board/move", move, "POST")]


def _page(panes: Panes, asked: Asked) -> Response:
    loaded = panes.load(asked)
    return panes.page("board.html", asked=asked, loaded=loaded, board=_board(panes, loaded, asked))


def _board(panes: Panes, loaded: Loaded, asked: Asked) -> Board:
    """Return the board for some players and settings, drawn once."""
    return loaded.remember(("board", asked.players, asked.settings), partial(_drawn, panes, loaded, asked))


def _drawn(panes: Panes, loaded: Loaded, asked: Asked) -> Board:
    ruleset, graph = loaded.ruleset, loaded.ruleset.model.graph
    if graph is None or not graph.nodes:
        raise Refused("This ruleset has no board.")
    drawn = drawn_on(picture_of(unplayed(ruleset, *loaded.played(asked))), titled=False)
    scale = _scale([complex(*node.at) for node in graph.nodes if node.at is not None], drawn.plan.centres)
    made = partial(Board, graph, drawn, scale)
    if ruleset.model.grid:
        return made(fixed="The places of a grid follow from its rows and columns.")
    entry = ruleset.composition.single("nodes")
    paths = (each.path for each in ruleset.composition.documents if entry is not None and each.id == entry.file)
    name = next(map(panes.workbench.name_of, paths), None)
    if name is None:
        return made(
            fixed=f"This map is shipped and can only be read. On a map of your own, each {graph.node} can move."
        )
    if not scale:
        return made(fixed=f"This layout follows the links. With columns `x` and `y`, each {graph.node} can move.")
    return made(name)


def _scale(points: Sequence[Point], centres: Sequence[Point]) -> float:
    """Return the length of a unit of the map on a drawing, by least squares; 0 if the drawing does not follow it."""
    if len(points) < max(2, len(centres)):
        return 0.0
    a, b = ([each - sum(all_) / len(all_) for each in all_] for all_ in (points, centres))
    both, squares, others = (sum(map(dot, *pair)) for pair in ((a, b), (a, a), (b, b)))
    return both / squares if both > LIKE * (squares * others) ** 0.5 else 0.0


# --- moving


def _moved(panes: Panes, asked: Asked, moved: Moved) -> tuple[str, str]:
    """Return the name of the file with a node, and its text with other coordinates. Raises :class:`Refused`."""
    loaded = panes.load(asked)
    board, entry = _board(panes, loaded, asked), loaded.ruleset.composition.single("nodes")
    table = printed(entry.value, lambda _: None) if entry is not None else None
    if board.fixed or table is None:
        raise Refused(board.fixed)
    if max(abs(moved.x), abs(moved.y)) > FARTHEST:
        raise Refused("A coordinate is a number up to {most}.", most=FARTHEST)
    heads = [cell.text for cell in table.header]
    names = [row[heads.index("name")] for row in table.rows]
    at = next((name.span.line - 1 for name in names if name.text == moved.node), None)
    if at is None:
        raise Refused("There is no node `{node}`.", node=moved.node[:80])
    lines = panes.workbench.read(board.name).split("\n")
    lines[at] = _with_cells(lines[at], {heads.index("x"): str(moved.x), heads.index("y"): str(moved.y)})
    return board.name, "\n".join(lines)


def _with_cells(line: str, cells: dict[int, str]) -> str:
    """Return a line of a table with other texts in some cells. The cells after them stay in place, if there is room."""
    parts = line.split("|")
    for place, text in cells.items():
        old = parts[place].strip()
        start, _, end = parts[place].partition(old)
        room = max(len(old) + len(end) - len(text), min(1, len(end)))
        parts[place] = start + text + (end if place == len(parts) - 1 else " " * room)
    return "|".join(parts)
