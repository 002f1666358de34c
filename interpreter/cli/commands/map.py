"""``regelwerk map``: draw the map of a ruleset or saved game, or analyse it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.extras import Unavailable
from interpreter.base.plain_data import Value
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for
from interpreter.cli.output import aligned, as_json, notice, picked, say, say_lines, styled

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.explain.graph_metrics import Figures
    from interpreter.language.model import GraphDecl

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
@options.output_option("text", "json")
@options.requested
def command(request: options.Request, file: str | None, stats: bool, first: int | None, output: str) -> None:
    """Draw the map of RULESET as SVG to stdout, or to FILE (.svg, or .png with the extra `png`).

    For a saved game LOG, the pieces are drawn as they are after N choices, or at its end. The family's `picture`
    defines colours and labels. Labels never overlap and links keep clear of other nodes; nodes are moved slightly if
    necessary.

    \b
    Examples:
      regelwerk map germany-2018 germany.svg
      regelwerk map game.jsonl@40 after-40-choices.png
      regelwerk map usa-2018 --stats
      regelwerk map usa-2018 --stats --first 5 -o json
    """
    if stats and file is not None:
        raise click.UsageError("--stats goes to stdout, not to a file")
    if not stats and (output != "text" or first is not None):
        raise click.UsageError(f"{'--first' if first is not None else '-o json'} goes with --stats")
    suffix = options.suffix_of(file, ".svg", ".png")
    from interpreter.drawing.picture import unplayed

    game = request.kept_game() or unplayed(request.load())
    if stats:
        _stats(game, 7 if first is None else first, output)
    else:
        _draw(game, file, suffix)


def _draw(game: Game, file: str | None, suffix: str) -> None:
    from interpreter.drawing.board import drawn
    from interpreter.drawing.picture import picture_of
    from interpreter.drawing.png import png_of

    with refused_for(ValueError):
        picture = picture_of(game)
    svg = drawn(picture)
    if file is None or file == "-":
        click.echo(svg, nl=False)
        return
    with refused_for(Unavailable):
        data = svg.encode() if suffix == ".svg" else png_of(svg)
    Path(file).write_bytes(data)
    nodes, links = len(picture.spots), len(picture.ties)
    notice(f"{file}: {picture.title}, {nodes} nodes, {links} links")


# --- figures


def _stats(game: Game, first: int, output: str) -> None:
    from interpreter.engine.views import measured
    from interpreter.explain.graph_metrics import figures_of

    graph = measured(game.table, game.state)
    if graph is None:
        refused(f"`{game.ruleset.id}` has no graph")
    data = _data(game.ruleset.title, graph, figures_of(graph, first), first)
    as_json(data) if output == "json" else _tell(graph, data)


def _data(title: str, graph: GraphDecl, figures: Figures, first: int) -> dict[str, Value]:
    from interpreter.language.directed_links import ways_of

    names = [node.name for node in graph.nodes]
    lengths = [0] * len(graph.links)
    for way in reversed(ways_of(graph)):  # the direction from the first node wins
        lengths[way.link] = way.length
    ends = ((graph.links[link], lengths[link]) for link in figures.bridges)
    return {
        "title": title,
        "nodes": len(names),
        "links": len(lengths),
        "parts": figures.parts,
        "length": graph.length,
        "total": sum(lengths),
        "first": first,
        "bridges": [{"from": names[link.a], "to": names[link.b], "length": length} for link, length in ends],
        "rows": [_row(names, node, figures) for node in range(len(names))],
    }


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


def _tell(graph: GraphDecl, data: dict[str, Value]) -> None:
    rows = data["rows"]
    say(styled(data["title"], bold=True))
    mean = f", {2 * data['links'] / data['nodes']:.1f} at each {graph.node}" if data["nodes"] else ""
    usual = f", {data['total'] / data['links']:.1f} long" if data["links"] else ""
    pieces = "in one piece" if data["parts"] == 1 else f"in {data['parts']} pieces"
    say(f"  {data['nodes']} nodes {pieces}; {data['links']} links{mean}{usual} on average")
    if data["links"]:
        start = max(rows, key=lambda row: row["farthest"] or 0)
        end = max(start["distances"], key=lambda name: start["distances"][name] or 0)
        say(f"  diameter: {start['farthest']}, {start['name']} – {end}")
    shown = [f"{bridge['from']} – {bridge['to']} ({bridge['length']})" for bridge in data["bridges"]]
    say("  bridges: " + (", ".join(shown) or "none"))
    say()
    columns = (graph.node, "links", "mean distance", "longest", f"first {data['first']}", "which are")
    cells = [
        (
            row["name"],
            row["links"],
            "-" if row["mean"] is None else f"{row['mean']:.1f}",
            "-" if row["farthest"] is None else row["farthest"],
            row["first"]["length"],
            ", ".join(row["first"]["nodes"][1:]) + ("" if row["first"]["exact"] else " (perhaps not the cheapest)"),
        )
        for row in sorted(rows, key=lambda row: (row["first"]["length"], row["name"]))
    ]
    head, *lines = aligned(columns, cells, "  ")
    say(styled(head, dim=True))
    say_lines(lines)
