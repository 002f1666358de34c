"""`regelwerk new map --from` and `regelwerk map FILE.csv`: boards of other programs are read, and written again."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from interpreter.authoring import FORMATS
from interpreter.language.model import GraphDecl
from interpreter.loading.load import load, load_to_look
from tests.cli.conftest import Run
from tests.drawing.seen import seen

NETWORK = nx.random_geometric_graph(38, 0.33, seed=3)
NAMES = [f"Ville {number}" for number in NETWORK]
CITIES = "\n".join(f"{NAMES[n]},{x:.4f},{y:.4f}" for n, (x, y) in NETWORK.nodes(data="pos"))
LINKS = "\n".join(f"{NAMES[a]},{NAMES[b]}" for a, b in NETWORK.edges)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    return tmp_path


def graph_of(id: str) -> GraphDecl:
    graph = load(id).model.graph
    assert graph is not None
    return graph


def regions_of(graph: GraphDecl) -> Counter[Any]:
    """How many nodes each region has; all of them hang together."""
    network = nx.Graph([(link.a, link.b) for link in graph.links])
    regions: dict[Any, list[int]] = {}
    for number, row in enumerate(graph.nodes):
        regions.setdefault(row.values["region"], []).append(number)
    assert all(nx.is_connected(network.subgraph(nodes)) for nodes in regions.values())
    return Counter({region: len(nodes) for region, nodes in regions.items()})


def test_a_board_of_a_fan_plays_and_says_what_is_invented(run: Run, folder: Path) -> None:
    (folder / "cities.csv").write_text(f"City,X,Y\n{CITIES}\n", encoding="utf-8")
    (folder / "links.csv").write_text(f"source,target\n{LINKS}\n", encoding="utf-8")
    result = run("new", "map", "fan", "--for", "germany-2018", "--from", "cities.csv", "--from", "links.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    notes = [
        "coordinates scaled to 1000 units",
        "149 costs worked out from distances",
        "5 regions grown along the links",
    ]
    assert result.stdout.splitlines()[:4] == [
        "wrote power-grid/maps/fan.yaml  38 nodes, 149 links",
        *(f"  {n}" for n in notes),
    ]
    text = (folder / "power-grid" / "maps" / "fan.yaml").read_text(encoding="utf-8")
    assert "# Read from cities.csv and links.csv; coordinates scaled" in text
    assert str(folder) not in text
    assert run("fmt", "--check", "power-grid").exit_code == 0
    graph = graph_of("fan-2018")
    assert [row.name for row in graph.nodes] == NAMES
    assert sorted(regions_of(graph).values()) == [7, 7, 8, 8, 8]
    costs = [row.values["cost"] for row in graph.links]
    assert 10 < sum(costs) / len(costs) < 14  # as on the map of the ruleset
    assert run("run", "fan-2018", "--players", "3", "--seed", "1").exit_code == 0
    assert run("validate", "power-grid").stdout.endswith("no errors\n")


def test_a_network_without_coordinates(run: Run, folder: Path) -> None:
    nx.write_gml(nx.random_regular_graph(3, 60, seed=2), folder / "net.gml")
    result = run("new", "map", "net", "--for", "germany-2018", "--from", "net.gml", "--region-size", "10")
    assert result.exit_code == 0
    assert "no coordinates for all: the picture places nodes by their links\n" in result.stdout
    assert "90 links without cost and distance: 12 each\n" in result.stdout
    assert set(regions_of(graph_of("net-2018")).values()) == {10}
    assert len(seen(run("map", "net-2018").stdout).discs) == 60


@pytest.mark.slow
def test_a_network_of_500_nodes(run: Run, folder: Path) -> None:
    network = nx.connected_watts_strogatz_graph(500, 6, 0.1, seed=1)
    nx.set_edge_attributes(network, 7, "weight")
    nx.write_graphml(network, folder / "big.graphml")
    result = run("new", "map", "big", "--for", "germany-2018", "--from", "big.graphml", "--region-size", "9")
    assert result.exit_code == 0
    graph = graph_of("big-2018")
    assert {row.values["cost"] for row in graph.links} == {7}
    assert all(8 <= size <= 10 for size in regions_of(graph).values())
    assert run("run", "big-2018", "--players", "3", "--seed", "1", "--bots", "random").exit_code == 0
    assert len(seen(run("map", "big-2018").stdout).discs) == 500


@pytest.mark.parametrize("id", ["germany-2018", "usa-2004"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_board_that_is_written_is_read_as_the_same(run: Run, folder: Path, id: str, suffix: str) -> None:
    written = run("map", id, f"board{suffix}")
    assert (written.exit_code, "nodes" in written.stderr) == (0, True)
    assert run("map", id, "-").stdout.startswith("<svg")
    made = run("new", "map", "again", "--for", id, "--from", f"board{suffix}")
    assert made.exit_code == 0
    assert [line for line in made.stdout.splitlines() if line.startswith("  ") and "regelwerk" not in line] == []
    old, new = graph_of(id), graph_of("again-2018")
    kinds = load(id).model.kinds["region"].members, load("again-2018").model.kinds["region"].members
    for graph, members in zip((old, new), kinds, strict=True):
        for row in graph.nodes:
            row.values["region"] = members[row.values["region"]]
    assert [(n.name, n.at, n.values) for n in new.nodes] == [(n.name, n.at, n.values) for n in old.nodes]
    ends = [{frozenset((row.a, row.b)): row.values for row in graph.links} for graph in (old, new)]
    assert ends[0] == ends[1]


POINTS = [
    {"type": "Feature", "geometry": {"type": "Point", "coordinates": [n, 50 - n]}, "properties": {"name": n}}
    for n in range(3)
]
LINES = [
    {
        "type": "Feature",
        "geometry": {"type": "LineString", "coordinates": [[n, 50 - n], [n + 1, 49.001 - n]]},
        "properties": None,
    }
    for n in range(2)
]


def test_places_on_the_globe_keep_their_shape(run: Run, folder: Path) -> None:
    """North is up, degrees of longitude are narrower than those of latitude, and lines end at the nearest places."""
    (folder / "globe.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [*LINES, *POINTS]}))
    result = run("new", "map", "globe", "--for", "germany-2018", "--from", "globe.geojson")
    assert result.exit_code == 0
    graph = graph_of("globe-2018") if "E414" not in result.stderr else None
    text = (folder / "power-grid" / "maps" / "globe.yaml").read_text(encoding="utf-8")
    assert re.findall(r"(\d) +\| region_\d \| (\d+) +\| (\d+)", text) == [
        ("0", "0", "0"),
        ("1", "328", "500"),
        ("2", "656", "1000"),
    ]
    assert re.findall(r"^  (\d) +\| (\d)  \| \d+$", text, re.MULTILINE) == [("0", "1"), ("1", "2")]
    assert graph is None, "three places break laws of the family, which are told"


BROKEN: dict[str, tuple[str, str | bytes, str]] = {
    "no columns": ("a.csv", "town,east\nA,1\n", "a.csv:1: got the columns `town`, `east`; want `name` in a table"),
    "no end": ("a.csv", "from,cost\nA,1\n", "a.csv:1: got the columns `from`, `cost`; want `name` in a table"),
    "a cell too much": ("a.csv", "name,x,y\nA,1,2\nB,1,2,3\n", "a.csv:3: got 4 cells, want 3"),
    "twice": ("a.csv", "name\nA\nB\nA\n", "a.csv:4: `A` is given twice, first in a.csv:2"),
    "unknown": (
        "a.csv",
        "name\nAhus\nBo\n\nfrom,to\nAhus,Bo\nBo,Ahuss\n",
        "a.csv:7: unknown node `Ahuss`; did you mean `Ahus`?",
    ),
    "negative": ("a.csv", "from,to,cost\nA,B,-3\n", "a.csv:2: got the cost -3, want at least 0"),
    "no number": ("a.csv", "from,to,cost\nA,B,three\n", "a.csv:2: got `three` as `cost`, want a number"),
    "not finite": ("a.csv", "from,to,cost\nA,B,nan\n", "a.csv:2: got `nan` as `cost`, want a number"),
    "no coordinate": ("a.csv", "name,x,y\nA,far,1\n", "a.csv:2: got `far` as `x`, want a number"),
    "two parts": ("a.csv", "from,to\nA,B\nC,D\n", "got 2 parts that no link joins, want one: `A`, `B`; `C`, `D`"),
    "empty": ("a.csv", "", "no nodes in a.csv"),
    "empty tables": ("a.csv", "name,x,y\n\nfrom,to\n", "no nodes in a.csv"),
    "an empty graph": ("a.json", '{"nodes": [], "links": []}', "no nodes in a.json"),
    "no end of a link": ("a.csv", "from,to\nA,B\nA,\n", "a.csv:3: unknown node `None`"),
    "cut": ("a.graphml", "<graphml><graph>", "a.graphml: not readable as graphml: "),
    "no GML": ("a.gml", "graph [ node [ ] ]", "a.gml: not readable as gml: "),
    "no JSON": ("a.json", '{"nodes": [', "a.json: not readable as json: "),
    "JSON of others": ("a.json", "[1, 2]", "a.json: not readable as json: "),
    "an empty list": ("a.json", "[]", "a.json: not readable as json: "),
    "no shape": ("a.geojson", '{"features": [{}]}', "a.geojson: not readable as geojson: "),
    "not UTF-8": ("a.csv", b"name\nK\xf6ln\n", "a.csv: not readable as csv: 'utf-8' codec can't decode byte 0xf6"),
    "another format": ("a.xlsx", "", "got `a.xlsx`, want a file that ends in .csv, .graphml"),
    "too large": ("a.csv", b" " * 5_000_000, "a.csv: file is too large, want at most 4 MB"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_with_its_place_and_nothing_is_written(run: Run, folder: Path, name: str) -> None:
    file, content, message = BROKEN[name]
    (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("new", "map", "town", "--for", "germany-2018", "--from", file)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "power-grid").exists()


def test_all_errors_are_told_at_once_up_to_ten(run: Run, folder: Path) -> None:
    (folder / "a.csv").write_text("from,to,cost\n" + "A,B,x\n" * 30, encoding="utf-8")
    lines = run("new", "map", "town", "--for", "germany-2018", "--from", "a.csv").stderr.splitlines()
    assert (len(lines), lines[-1]) == (11, "20 more like these")


def test_names_of_any_kind_become_names(run: Run, folder: Path) -> None:
    odd = [
        "<script>alert(1)</script>",
        "\u202eevil\u200f",
        "x" * 10_000,
        "x" * 10_001,
        "a | b",
        '"quoted"',
        "# comment",
        "  two  words\n",
        "",
        "-",
        "Que\u0301bec",
        "Québec",
    ]
    network = nx.path_graph(40)
    nx.set_node_attributes(network, dict(enumerate(odd)), "label")
    (folder / "odd.json").write_text(json.dumps(nx.node_link_data(network, edges="links")), encoding="utf-8")
    result = run("new", "map", "odd", "--for", "germany-2018", "--from", "odd.json")
    assert result.exit_code == 0, result.stderr
    assert "names changed: `evil`, `" in result.stdout
    graph = load_to_look(lambda: load("odd-2018"), "odd-2018")[0].model.graph
    assert graph is not None
    names = [row.name for row in graph.nodes]
    assert names[: len(odd)] == [
        "<script>alert(1)</script>",
        "evil",
        "x" * 40,
        "x" * 40 + " 2",
        "a / b",
        "'quoted'",
        "comment",
        "two words",
        "8",
        "-",
        "Québec",
        "Québec 2",
    ]
    picture = run("map", "odd-2018").stdout
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture


def test_without_networkx_the_remedy_is_told(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    (folder / "a.csv").write_text("from,to\nA,B\n", encoding="utf-8")
    for command in (
        ("new", "map", "town", "--for", "germany-2018", "--from", "a.csv"),
        ("map", "germany-2018", "g.gml"),
    ):
        result = run(*command)
        assert (result.exit_code, "-m pip install 'regelwerk[maps]'" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new", "overlay", "x", "--for", "germany-2018", "--from", "a.csv"), "--from goes with a map"),
        (("new", "map", "x", "--for", "germany-2018", "--region-size", "5"), "--region-size goes with --from"),
        (("new", "map", "x", "--for", "germany-2018", "--from", "no.csv"), "no.csv"),
        (("new", "map", "x", "--for", "goofspiel", "--from", "a.csv"), "`goofspiel` has no map"),
    ],
)
def test_options_that_do_not_fit(run: Run, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    (folder / "a.csv").write_text("from,to\nA,B\n", encoding="utf-8")
    result = run(*arguments)
    assert (result.exit_code in (1, 2), message in result.stderr) == (True, True), result.stderr
