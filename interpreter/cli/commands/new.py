"""``regelwerk new``: create the first files of a map, overlay, edition or game."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.authoring import FORMATS, KINDS
from interpreter.base.diagnostics import rendered
from interpreter.base.paths import ruleset_roots
from interpreter.base.plurals import quoted
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.cli import options
from interpreter.cli.failures import refused, wrong_value
from interpreter.cli.output import notice, relative, say, say_lines, styled

if TYPE_CHECKING:
    from interpreter.authoring.scaffold import NewFile
    from interpreter.engine.game import Ruleset
    from interpreter.reading.files import Shelf

__all__ = ["command"]

_KIND = click.Choice(KINDS)


@click.command("new")
@click.argument("kind", type=_KIND, required=False, metavar="KIND")
@click.argument("name", required=False, metavar="NAME")
@click.option("--for", "base", metavar="RULESET", help="Ruleset that it is for.  [default: none, for a game]")
@click.option("--title", metavar="TEXT", help="Title.  [default: from the name]")
@options.file_option(
    "--from",
    "sources",
    about="With a map: file with its nodes and links; CSV may be two files.",
    multiple=True,
    exists=True,
)
@options.number_option(
    "--region-size",
    about="With --from: nodes in a region, where the file has no regions.  [default: as on the map of the ruleset]",
    least=1,
    most=1000,
)
@options.folder_option(
    "--in",
    "folder",
    about="Folder of rulesets to write into.  [default: first of REGELWERK_PATH, else `rulesets` if it "
    "exists, else the current folder]",
)
def command(
    kind: str | None,
    name: str | None,
    base: str | None,
    title: str | None,
    sources: tuple[Path, ...],
    region_size: int | None,
    folder: Path | None,
) -> None:
    """Create the first files of a map, an overlay, an edition or a whole small game (KIND). They validate and run at
    once; the output suggests the next steps. At a terminal, missing options are asked for. Existing files are never
    overwritten.

    NAME is a word of lower-case letters, digits, `-` and `_`, or `family/word`. A map has as many placeholder nodes as
    the map of the ruleset; replace them with yours. An overlay or edition has a first rule as an example.

    --from reads a map from CSV, GraphML, GML, GeoJSON or JSON (node-link), with the extra `maps`. CSV has a table with
    the column `name` (and `x`, `y`) and one with `from`, `to` (and `cost`), in two files or with a blank line between.
    Missing costs are worked out from distances, missing regions grown. The output says what is invented.

    \b
    Examples:
      regelwerk new game pebbles --title "Taking pebbles"
      regelwerk new map my-town --for germany-2018
      regelwerk new map my-town --for germany-2018 --from cities.csv --from links.csv
      regelwerk new map my-net --for germany-2018 --from net.graphml --region-size 8
      regelwerk new overlay short --for goofspiel
      regelwerk new edition house-rules --for germany-2018
    """
    from interpreter.authoring.creation import NotCreated, board_of, create, parts_of, shelf_with

    kind = kind or _prompted("Kind", type=_KIND, missing="KIND")
    name = name or _prompted("Name (lower-case letters, digits, `-`)", missing="NAME")
    with wrong_value("NAME"):
        family, name = parts_of(kind, name)
    title = _title(title, name)
    root = folder or _folder()
    shelf = shelf_with(root)
    families = shelf.ids("family")
    if family is not None and family not in families:
        refused(f"unknown family `{family}`{did_you_mean(family, families)}")
    if kind == "game" and base is not None:
        raise click.UsageError("--for goes with a map, an overlay or an edition, not with a game")
    if kind != "map" and sources:
        raise click.UsageError("--from goes with a map")
    if region_size is not None and not sources:
        raise click.UsageError("--region-size goes with --from")
    ruleset = _ruleset(base, family, shelf) if kind != "game" else None
    for source in sources:
        options.suffix_of(source, *FORMATS)
    try:
        board = board_of(sources, ruleset)
        created = create(kind, name, title, root, ruleset, board, region_size, shown=relative)
    except NotCreated as error:
        if error.diagnostics:
            notice("\n".join(rendered(error.diagnostics)))
        refused(str(error))
    files, runs = created.files, created.rulesets
    if created.diagnostics:
        notice("\n".join(rendered(created.diagnostics)))
    width = max(len(relative(root / file.place)) for file in files)
    for file in files:
        say(f"wrote {styled(relative(root / file.place).ljust(width), bold=True)}  {file.about}")
    for note in board.notes if board is not None else ():
        say(f"  {note}")
    places = {file.kind: relative(root / file.place) for file in files}
    if runs and "ruleset" not in places:
        say(f"the family makes the rulesets {' and '.join(quoted(path.stem for path in runs))} of it")
        is_near = _is_known(root) or root.resolve() in (Path().resolve(), Path("rulesets").resolve())
        places["ruleset"] = runs[0].stem if is_near else relative(runs[0])
    say()
    say("Next:")
    say_lines(f"  {line}" for line in _commands(kind, files, places, shelf, root, ruleset))


# --- input


def _prompted(question: str, *, missing: str, type: click.ParamType[object] | None = None) -> str:
    """Prompt for an answer. If stdin is no terminal, fail with the name of the missing argument."""
    if not _is_interactive():
        want = ", ".join(type.choices) if isinstance(type, click.Choice) else question.lower()
        raise click.UsageError(f"{missing} is missing: {want}")
    return str(click.prompt(question, type=type, err=True))


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _title(title: str | None, name: str) -> str:
    from interpreter.authoring.creation import title_of

    if title is None and _is_interactive():
        title = str(click.prompt("Title", default=title_of(None, name), err=True))
    with wrong_value("--title"):
        return title_of(title, name)


def _folder() -> Path:
    own = [part for part in os.environ.get("REGELWERK_PATH", "").split(os.pathsep) if part]
    return Path(own[0]) if own else Path("rulesets") if Path("rulesets").is_dir() else Path()


def _ruleset(base: str | None, family: str | None, shelf: Shelf) -> Ruleset:
    from interpreter.loading.load import load
    from interpreter.reading.ruleset_files import rulesets_of

    if base is None:
        known = [each.id for each in rulesets_of(shelf) if family in (None, word(each.head.family))]
        if not known:
            refused(f"the family `{family}` has no ruleset yet")
        if not _is_interactive():
            listed = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
            raise click.UsageError(f"--for is missing; there are {listed}")
        notice(f"Rulesets: {', '.join(known)}")
        base = _prompted("Ruleset to build on", missing="--for", type=click.Choice(known))
    ruleset = load(base, shelf=shelf if not base.endswith((".yaml", ".yml")) else None)
    if family not in (None, ruleset.composition.family):
        refused(f"`{ruleset.id}` is of the family `{ruleset.composition.family}`, not `{family}`")
    return ruleset


# --- next steps


def _commands(
    kind: str, files: list[NewFile], places: dict[str, str], shelf: Shelf, root: Path, base: Ruleset | None
) -> list[str]:
    first = relative(root / files[0].place)
    if kind == "overlay" and base is not None:
        name = base.id if shelf.find("ruleset", base.id) is not None else relative(base.document.address)
        run = f"regelwerk run {name} --with {files[0].id if _is_known(root) else first}"
        lines = [f"regelwerk validate {first}", run]
    else:
        lines = [f"regelwerk validate {places['ruleset']}", f"regelwerk run {places['ruleset']}"]
    if kind == "game":
        lines += [f"regelwerk play {places['ruleset']}", f"regelwerk test {places['scenarios']}"]
    return [*lines, f"edit {first}, then: regelwerk fmt {first}"]


def _is_known(root: Path) -> bool:
    """Return whether files in this folder are found by their ids."""
    return root.resolve() in {path.resolve() for path in ruleset_roots()}
