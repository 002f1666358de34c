"""Templates for new files: a map, overlay or edition for an existing ruleset, or a whole small game.

Takes a name, a title and the ruleset; returns texts with their paths below a folder of rulesets. The caller writes
them. The templates are in ``templates``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from math import isqrt
from pathlib import Path
from statistics import mean
from string import ascii_uppercase
from textwrap import fill

from msgspec import Struct
from msgspec.structs import replace

from interpreter.authoring.foreign_maps import Board
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.paths import schema_folder
from interpreter.base.plain_data import grouped, json_of
from interpreter.base.plurals import counted, quoted
from interpreter.base.source import SourceFile
from interpreter.base.suggest import as_word
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.language.check_quietly import ignored
from interpreter.language.texts import parsed
from interpreter.language.types import KindType
from interpreter.reading.files import Document, place_of, read_document
from interpreter.reading.printed_tables import PrintedTable, read_printed
from interpreter.reading.yaml import Mapping, Scalar
from interpreter.sections.behaviour import Table

__all__ = ["NewFile", "NotCreated", "left_out", "new_edition", "new_game", "new_map", "new_overlay"]


class NotCreated(Exception):
    """Nothing was written. The text says why, the diagnostics where."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


class NewFile(Struct, frozen=True):
    """A new file: its kind, id, text and purpose. ``place`` is its path below a folder of rulesets."""

    kind: str
    id: str
    text: str
    about: str

    @property
    def place(self) -> str:
        place = place_of(self.kind, self.id if self.kind != "ruleset" else self.id.rpartition("/")[2])
        assert place is not None
        return place.replace("*", self.id.partition("/")[0])


def new_game(name: str, title: str, root: Path) -> list[NewFile]:
    """Return a whole small game: family, edition, ruleset, policies, scenarios."""
    parts = {"family": name, "edition": f"{name}/first"}
    known = {"name": name, "key": _quoted(name), "title": title, "quoted": _quoted(title)}
    return [
        _file(root, "family", name, "game/family.yaml", "the game: declarations and rules", known),
        _file(root, "edition", f"{name}/first", "game/edition.yaml", "the number of players", known),
        _ruleset(root, name, name, title, parts, "the ruleset: the family in this edition"),
        _file(root, "policies", f"{name}/greedy", "game/policies.yaml", "a bot", known),
        _file(root, "scenarios", f"{name}/taking", "game/scenarios.yaml", "tests of its rules", known),
    ]


def new_overlay(name: str, title: str, root: Path, base: Ruleset) -> list[NewFile]:
    """Return an overlay on the edition of a ruleset, or on its family."""
    return [_over(root, "overlay", name, title, base, "the variant")]


def new_edition(name: str, title: str, root: Path, base: Ruleset) -> list[NewFile]:
    """Return an edition that extends that of a ruleset, and a ruleset with it on the same map and deck."""
    family = base.composition.family
    parts = {**_parts(base), "edition": f"{family}/{name}"}
    return [
        _over(root, "edition", name, title, base, "the differences"),
        _ruleset(root, family, name, title, parts, f"the ruleset: `{base.id}` in this edition"),
    ]


def new_map(
    name: str, title: str, root: Path, base: Ruleset, board: Board | None = None, size: int | None = None
) -> list[NewFile]:
    """Return a map, and a ruleset if its family makes none. It has the nodes and links of a board, with regions of
    about ``size`` nodes where the board has none; else as many placeholders as the map of a ruleset."""
    graph, family = base.model.graph, base.composition.family
    document = _part(base, "map")
    if graph is None or document is None:
        raise NotCreated(f"`{base.id}` has no map, so it cannot have another one")
    nodes, links = _table(document.head.nodes), _table(document.head.links)
    if nodes is None or links is None:
        raise NotCreated(f"the map of `{base.id}` has no nodes and links of its own, so its size is not known")
    members = dict(_open_kinds(base, document))
    columns = {
        cell.text: type_.name
        for cell in nodes.header
        if isinstance(type_ := graph.attributes.get(cell.text), KindType) and type_.name in members
    }
    at_nodes, at_links = board.columns() if board is not None else _placeholders(graph.node, len(nodes.rows))
    count = len(at_nodes["name"])
    if board is not None and graph.length in graph.link and graph.length not in at_links:
        costs = [cost for row in graph.links if isinstance(cost := row.values[graph.length], int)]
        at_links[graph.length] = board.costs(mean(costs or [1]))
    for column, kind in columns.items():
        if column in at_nodes:
            words = _as_words(at_nodes[column], kind)
            members[kind], at_nodes[column] = list(words.values()), [words[text] for text in at_nodes[column]]
        elif board is not None:
            regions = board.regions(size or -(-len(nodes.rows) // len(members[kind])))
            members[kind] = [f"{kind}_{number + 1}" for number in range(max(regions) + 1)]
            at_nodes[column] = [members[kind][number] for number in regions]
        else:
            at_nodes[column] = [members[kind][number * len(members[kind]) // count] for number in range(count)]
    kinds = [f"  {kind}: [{', '.join(names)}]" for kind, names in members.items()]
    heads = [cell.text for cell in nodes.header if cell.text not in ("places", "x", "y")]
    heads += [axis for axis in ("x", "y") if axis in at_nodes]
    link_heads = [cell.text for cell in links.header]
    about = "placeholder nodes and links: replace them"
    origin = f"The rows below are placeholders, as many as in the map of {base.id}: replace them with your own."
    if board is not None:
        copied = sorted({*heads, *link_heads} - {*at_nodes, *at_links})
        board.notes += [f"values of the map of `{base.id}`: {', '.join(quoted(copied))}"] if copied else []
        about = f"{counted(count, 'node')}, {counted(len(at_links['from']), 'link')}"
        origin = f"Read from {'; '.join([board.source, *board.notes])}."
    origin += f" `x` and `y` are the position of a {graph.node} on the picture (right and down, in any unit)."
    origin += " `regelwerk fmt` aligns the columns."
    parts = {**_parts(base), "map": f"{family}/{name}"}
    known = {"title": title, "quoted": _quoted(title), "node": graph.node, "ruleset": base.id}
    known |= {"kinds": "\nkinds:\n" + "\n".join(kinds) + "\n" if kinds else "", "graph": _graph(document)}
    known |= {"origin": fill(origin, 130, initial_indent="# ", subsequent_indent="# ")}
    known |= {"nodes": _rows(_filled(at_nodes, nodes, heads)), "links": _rows(_filled(at_links, links, link_heads))}
    known |= {"tables": "".join(_tables(base, document, members))}
    made = [_file(root, "map", f"{family}/{name}", "map.yaml", about, known)]
    takers = (file for file in base.shelf.documents("rulesets") if file.id.partition("/")[0] == family)
    if any("maps" not in file.root for file in takers):
        return made
    return [*made, _ruleset(root, family, name, title, parts, f"the ruleset: `{base.id}` on this map")]


def left_out(base: Ruleset, file: NewFile) -> list[str]:
    """Return the declarations of the ruleset's map that the new map lacks, by section."""
    made = set(_declared(read_document(SourceFile("", file.text), Path())[0]))
    missing = grouped(each for each in _declared(_part(base, file.kind)) if each not in made)
    return [f"{section} ({', '.join(quoted(names))})" for section, names in missing.items()]


def _declared(document: Document | None) -> Iterator[tuple[str, str]]:
    """Yield the names in the sections of a file, each with its section."""
    for entry in document.root.entries if document is not None else ():
        if isinstance(entry.value, Mapping):
            yield from ((entry.key.text, name) for name in entry.value.keys())  # noqa: SIM118


# --- texts


def _file(root: Path, kind: str, id: str, template: str, about: str, known: dict[str, str]) -> NewFile:
    """Return a file from its template. Replaces each `«name»` by the value of that name."""
    file = NewFile(kind, id, "", about)
    schema = _schema(root, file.place, kind)
    text = _from_template(template, {"schema": schema, "id": id, **known})
    return replace(file, text=text if schema else text.partition("\n")[2].removeprefix("#\n"))


def _from_template(template: str, known: dict[str, str]) -> str:
    text = files("interpreter.authoring").joinpath("templates", template).read_text(encoding="utf-8")
    return re.sub("«([a-z]+)»", lambda match: known[match[1]], text)


def _schema(root: Path, place: str, kind: str) -> str:
    """Return the relative path of the schema for editors in a checkout, where it is next to the folder of rulesets.
    Elsewhere it is empty: no file names a path of one machine."""
    schema = schema_folder() / f"{kind}.schema.json"
    if root.absolute().parent != schema.parent.parent:
        return ""
    return Path(os.path.relpath(schema, (root / place).absolute().parent)).as_posix()


def _quoted(text: str) -> str:
    """Return a title or id as YAML, quoted if it could be read as something else."""
    is_plain = re.fullmatch(r"[^\W_][\w ,.()/-]*", text) and not re.fullmatch(r"[0-9]+|true|false|null", text)
    return text if is_plain else json_of(text)


def _ruleset(root: Path, folder: str, name: str, title: str, parts: dict[str, str], about: str) -> NewFile:
    lines = "\n".join(f"{key}: {value if value[0] == '[' else _quoted(value)}" for key, value in parts.items())
    known = {"key": _quoted(name), "quoted": _quoted(title), "parts": lines}
    return _file(root, "ruleset", f"{folder}/{name}", "ruleset.yaml", about, known)


def _over(root: Path, kind: str, name: str, title: str, base: Ruleset, about: str) -> NewFile:
    """Return an overlay or edition that wraps the first phase of a round."""
    family = base.composition.family
    edition = _part(base, "edition")
    phase = base.model.phases[0]
    known = {"title": title, "quoted": _quoted(title), "family": family, "ruleset": base.id}
    known |= {"over": edition.id if edition else family, "phase": phase}
    known |= {"origin": base.composition.layers("rules", phase)[0].file}
    known |= {"word": re.sub(r"\W", "_", name if name[0].isalpha() else f"{kind}_{name}")}
    known["layer"] = _from_template("layer.yaml", known).rstrip("\n")
    return _file(root, kind, f"{family}/{name}", f"{kind}.yaml", about, known)


# --- parts of the ruleset


def _part(base: Ruleset, kind: str) -> Document | None:
    """Return the top file of a kind, if there is one."""
    documents = [document for document in base.composition.documents if document.kind == kind]
    return documents[-1] if documents else None


def _parts(base: Ruleset) -> dict[str, str]:
    head = base.document.head
    named = {"family": head.family, "edition": head.edition, "map": head.map, "deck": head.deck}
    parts = {key: name.text for key, name in named.items() if name is not None}
    if "overlays" in head:
        parts["overlays"] = f"[{', '.join(name.text for name in head.overlays)}]"
    return parts


def _graph(document: Document) -> str:
    """Return the graph section of a map file without its pieces and citations."""
    entry = next((entry for entry in document.root.entries if entry.key.text == "graph"), None)
    if entry is None:
        return ""
    text = document.file.text[entry.key.span.start : entry.value.span.end].rstrip()
    text = re.sub(r"\n +(pieces|cites):.*|, *pieces: *\d+|, *cites: *\[[^]]*\]", "", text)
    return "" if re.fullmatch(r"graph:\s*{?\s*amends: *[\w/-]+}?", text) else f"\n{text}\n"


def _as_words(texts: Iterable[str], kind: str) -> dict[str, str]:
    """Return a member of a kind for each text: its letters without marks, or a number."""
    words: dict[str, str] = {}
    for text in texts:
        word = as_word(text)
        usable = word[:1].isalpha() and (word not in words.values() or text in words)
        words.setdefault(text, word if usable else f"{kind}_{len(words) + 1}")
    return words


def _table(value: Scalar | None) -> PrintedTable | None:
    return parsed(value, read_printed, ignored)


def _open_kinds(base: Ruleset, document: Document) -> Iterator[tuple[str, list[str]]]:
    """Yield the kinds that the map completes, with as many placeholder members."""
    for name, _ in document.head.kinds:
        kind = name.text
        layers = base.composition.layers("kinds", kind)
        if layers and word(layers[0].value) == "open":
            yield kind, [f"{kind}_{number + 1}" for number in range(len(base.model.kinds[kind].members))]


def _tables(base: Ruleset, document: Document, members: dict[str, list[str]]) -> Iterator[str]:
    """Yield the tables of the map that are keyed by a kind it completes, with the placeholder members."""
    head = "\ntables:\n"
    for name, layers in base.composition.sections.get("tables", {}).items():
        declared = layers[0].read(Table)
        kind = declared.keys[0].text if len(declared.keys) == 1 else ""
        table = _table(declared.is_)
        if layers[0].file != document.id or kind not in members or table is None:
            continue
        rows = [[table.header[0].text, *members[kind]], *([cell.text for cell in row] for row in table.rows)]
        body = "\n".join(f"    {line}" for line in _rows(iter(rows)).split("\n"))
        yield f"{head}  {name}:\n    keys: [{kind}]\n    gives: {word(declared.gives)}\n    is: |\n{body}\n"
        head = "\n"


# --- placeholder rows


def _spot(number: int, count: int) -> tuple[int, int]:
    """Return row and column in a grid that is filled back and forth, so that each node is next to the one before."""
    width = max(1, isqrt(count))
    row, column = divmod(number, width)
    return row, width - 1 - column if row % 2 else column


def _node_name(node: str, number: int, count: int) -> str:
    """Return a name such as `Town A1`: a letter for the row of the grid, a number for the column."""
    row, column = _spot(number, count)
    letter = ascii_uppercase[row] if row < len(ascii_uppercase) else f"R{row + 1}-"
    return f"{node.replace('_', ' ').capitalize()} {letter}{column + 1}"


def _placeholders(node: str, count: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return columns of nodes on a grid, and of links to the right and down."""
    names = [_node_name(node, number, count) for number in range(count)]
    spots = {_spot(number, count): name for number, name in enumerate(names)}
    nodes = {"name": names, "x": [str(60 + 120 * x) for _, x in spots], "y": [str(60 + 120 * y) for y, _ in spots]}
    pairs = [
        (name, spots[neighbour])
        for (row, column), name in spots.items()
        for neighbour in ((row, column + 1), (row + 1, column))
        if neighbour in spots
    ]
    return nodes, {"from": [start for start, _ in pairs], "to": [end for _, end in pairs]}


def _filled(columns: dict[str, list[str]], table: PrintedTable, heads: list[str]) -> Iterator[list[str]]:
    """Yield rows with the columns, and for other ones with the values of the other map."""
    yield heads
    for number in range(len(next(iter(columns.values())))):
        row = table.rows[number % len(table.rows)]
        known = {column.text: cell.text for column, cell in zip(table.header, row, strict=True)}
        known |= {head: column[number] for head, column in columns.items()}
        yield [known[head] for head in heads]


def _rows(rows: Iterator[list[str]]) -> str:
    """Return a printed table, aligned and indented as a block."""
    from interpreter.reading.yaml_layout import lay_out_table

    table = lay_out_table("\n".join(" | ".join(row) for row in rows))
    return "\n".join(f"  {line}" for line in table.split("\n"))
