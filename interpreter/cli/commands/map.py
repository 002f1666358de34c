"""``regelwerk map``: draw the map of a ruleset or saved game, or analyse it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.authoring import FORMATS
from interpreter.base.diagnostics import rendered
from interpreter.base.extras import Unavailable
from interpreter.base.figures import fixed
from interpreter.base.plain_data import Value
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for
from interpreter.cli.output import as_json, board, notice, picked, tell
from interpreter.pages.page import Column, Paragraph, Strong

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.explain.graph_metrics import Figures

__all__ = ["command"]


@click.command("map")
@options.game_argument
@click.argument("file", required=False)
@options.overlays_option
@click.option(
    "--stats", is_flag=True, help="Print figures instead of a picture: degrees, distances, bridges, cheapest networks."
)
@options.number_option(
    "--first", about="With --stats: number of nodes in the cheapest networks.  [default: 7]", least=1, most=12
)
@options.requested("text", "json")
def command(request: options.Request, file: str | None, stats: bool, first: int | None) -> None:
    """Draw the map of RULESET as SVG to stdout, or to FILE (.svg, or .png with the extra `png`). For other programs,
    write its nodes and links as .csv, .geojson or, with the extra `maps`, .graphml, .gml or .json.

    For a saved game LOG, the pieces are drawn as they are after N choices, or at its end. The family's `picture`
    defines colours and labels. Labels never overlap and links keep clear of other nodes; nodes are moved slightly if
    necessary.

    \b
    Examples:
      regelwerk map germany-2018 germany.svg
      regelwerk map germany-2018 germany.graphml
      regelwerk map game.jsonl@40 after-40-choices.png
      regelwerk map usa-2018 --stats
      regelwerk map usa-2018 --stats --first 5 -o json
    """
    if stats and file is not None:
        raise click.UsageError("--stats goes to stdout, not to a file")
    if not stats and (request.output != "text" or first is not None):
        raise click.UsageError(f"{'--first' if first is not None else '-o json'} goes with --stats")
    suffix = options.suffix_of(file, ".svg", ".png", *FORMATS)
    game = request.kept_game() or _unplayed(request)
    if stats:
        _stats(game, 7 if first is None else first, request.output)
    else:
        _draw(game, file, suffix)


def _unplayed(request: options.Request) -> Game:
    """Load the board. If it breaks laws of tables, these are reported, since the picture helps to mend it."""
    from interpreter.drawing.picture import unplayed
    from interpreter.loading.load import load_to_look

    ruleset, broken = load_to_look(request.load, request.ruleset, request.overlays)
    game = unplayed(ruleset)
    if broken:
        notice("\n".join(rendered(broken)))
    return game


def _draw(game: Game, file: str | None, suffix: str) -> None:
    from interpreter.authoring.foreign_maps import written
    from interpreter.drawing.board import drawn
    from interpreter.drawing.picture import picture_of
    from interpreter.drawing.png import png_of

    with refused_for(ValueError):
        picture = picture_of(game)
    svg = drawn(picture) if suffix in (".svg", ".png") else ""
    if file is None or file == "-":
        click.echo(svg, nl=False)
        return
    with refused_for(Unavailable, ValueError):
        text = svg or written(game.ruleset.model, suffix)
        data = png_of(svg) if suffix == ".png" else text.encode()
    Path(file).write_bytes(data)
    nodes, links = len(picture.spots), len(picture.ties)
    notice(f"{file}: {picture.title}, {nodes} nodes, {links} links")


# --- figures


def _stats(game: Game, first: int, output: str) -> None:
    from interpreter.engine.views import measured
    from interpreter.explain.graph_metrics import figures_of
    from interpreter.language.directed_links import ways_of

    graph = measured(game.table, game.state)
    if graph is None:
        refused(f"`{game.ruleset.id}` has no graph")
    figures, title = figures_of(graph, first), game.ruleset.title
    names = [node.name for node in graph.nodes]
    lengths = [0] * len(graph.links)
    for way in reversed(ways_of(graph)):  # the direction from the first node wins
        lengths[way.link] = way.length
    bridges = [(names[graph.links[each].a], names[graph.links[each].b], lengths[each]) for each in figures.bridges]
    rows = [_row(names, node, figures) for node in range(len(names))]
    if output == "json":
        counts = {"nodes": len(names), "links": len(lengths), "parts": figures.parts}
        ends = [{"from": start, "to": end, "length": length} for start, end, length in bridges]
        whole = {"length": graph.length, "total": sum(lengths), "first": first}
        as_json({"title": title, **counts, **whole, "bridges": ends, "rows": rows})
        return
    mean = f", {2 * len(lengths) / len(names):.1f} at each {graph.node}" if names else ""
    usual = f", {sum(lengths) / len(lengths):.1f} long" if lengths else ""
    pieces = "in one piece" if figures.parts == 1 else f"in {figures.parts} pieces"
    facts = [f"{len(names)} nodes {pieces}; {len(lengths)} links{mean}{usual} on average"]
    if lengths:
        start = max(rows, key=lambda row: row["farthest"] or 0)
        end = max(start["distances"], key=lambda name: start["distances"][name] or 0)
        facts.append(f"diameter: {start['farthest']}, {start['name']} – {end}")
    facts.append("bridges: " + (", ".join(f"{a} – {b} ({length})" for a, b, length in bridges) or "none"))
    tell(Paragraph(Strong(title)), *(Paragraph(f"  {fact}") for fact in facts), Paragraph(""))
    columns = (graph.node, "links", Column("mean distance", fixed(1)), "longest", f"first {first}", "which are")
    cells = [
        (
            *(row[name] for name in ("name", "links", "mean", "farthest")),
            row["first"]["length"],
            ", ".join(row["first"]["nodes"][1:]) + ("" if row["first"]["exact"] else " (perhaps not the cheapest)"),
        )
        for row in sorted(rows, key=lambda row: (row["first"]["length"], row["name"]))
    ]
    board("", columns, cells)


def _row(names: list[str], node: int, figures: Figures) -> dict[str, Value]:
    others = {names[other]: far for other, far in enumerate(figures.distances[node]) if other != node}
    reached = [far for far in others.values() if far is not None]
    network = figures.firsts[node]
    return {
        "name": names[node],
        "links": figures.degrees[node],
        "mean": round(sum(reached) / len(reached), 1) if reached else None,
        "farthest": max(reached, default=None),
        "first": {**picked(network, "length", "exact"), "nodes": [names[other] for other in network.nodes]},
        "distances": others,
    }
