"""``regelwerk new``: create the first files of a map, overlay, edition or game."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.plurals import quoted
from interpreter.cli import options
from interpreter.cli.failures import refused, refused_for
from interpreter.cli.output import notice, relative, say, say_lines, styled

if TYPE_CHECKING:
    from interpreter.authoring.scaffold import NewFile
    from interpreter.engine.ruleset import Ruleset
    from interpreter.reading.files import Shelf

__all__ = ["command"]

KINDS = ("map", "overlay", "edition", "game")
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS), required=False, metavar="KIND")
@click.argument("name", required=False, metavar="NAME")
@click.option("--for", "base", metavar="RULESET", help="Ruleset that it is for.  [default: none, for a game]")
@click.option("--title", metavar="TEXT", help="Title.  [default: from the name]")
@options.folder_option(
    "--in",
    "folder",
    about="Folder of rulesets to write into.  [default: first of REGELWERK_PATH, else `rulesets` if it "
    "exists, else the current folder]",
)
def command(kind: str | None, name: str | None, base: str | None, title: str | None, folder: Path | None) -> None:
    """Create the first files of a map, an overlay, an edition or a whole small game (KIND). They validate and run at
    once; the output suggests the next steps. At a terminal, missing options are asked for. Existing files are never
    overwritten.

    NAME is a word of lower-case letters, digits, `-` and `_`, or `family/word`. A map has as many placeholder nodes as
    the map of the ruleset; replace them with yours. An overlay or edition has a first rule as an example.

    \b
    Examples:
      regelwerk new game pebbles --title "Taking pebbles"
      regelwerk new map my-town --for germany-2018
      regelwerk new overlay short --for goofspiel
      regelwerk new edition house-rules --for germany-2018
    """
    kind = kind or _prompted("Kind", type=click.Choice(KINDS), missing="KIND")
    name = name or _prompted("Name (lower-case letters, digits, `-`)", missing="NAME")
    family, name = _parts(kind, name)
    title = _title(title, name)
    root = folder or _folder()
    if family is not None:
        _check_family(family, root)
    if kind == "game" and base is not None:
        raise click.UsageError("--for goes with a map, an overlay or an edition, not with a game")
    ruleset = _ruleset(base, family, root) if kind != "game" else None
    files = _files(kind, name, title, root, ruleset)
    _check_free(files, root)
    written: list[Path] = []
    others = set(_shelf(root).made)
    try:
        for file in files:
            _write(root / file.place, file.text, written)
        runs = _rulesets(files, root, others, ruleset)
        _check_runs(kind, files, runs, root, ruleset)
    except BaseException:
        for path in reversed(written):
            path.rmdir() if path.is_dir() else path.unlink()
        raise
    width = max(len(relative(root / file.place)) for file in files)
    for file in files:
        say(f"wrote {styled(relative(root / file.place).ljust(width), bold=True)}  {file.about}")
    places = {file.kind: relative(root / file.place) for file in files}
    if runs and "ruleset" not in places:
        say(f"the family makes the rulesets {' and '.join(quoted(path.stem for path in runs))} of it")
        is_near = _is_known(root) or root.resolve() in (Path().resolve(), Path("rulesets").resolve())
        places["ruleset"] = runs[0].stem if is_near else relative(runs[0])
    say()
    say("Next:")
    say_lines(f"  {line}" for line in _commands(kind, files, places, root, ruleset))


# --- input


def _prompted(question: str, *, missing: str, type: click.ParamType[object] | None = None) -> str:
    """Prompt for an answer. If stdin is no terminal, fail with the name of the missing argument."""
    if not _is_interactive():
        want = ", ".join(type.choices) if isinstance(type, click.Choice) else question.lower()
        raise click.UsageError(f"{missing} is missing: {want}")
    return str(click.prompt(question, type=type, err=True))


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _parts(kind: str, name: str) -> tuple[str | None, str]:
    """Split a name into its family, if it has one, and its word."""
    family, slash, word = name.rpartition("/")
    if not all(_WORD.fullmatch(part) for part in ([family, word] if slash else [word])) or (slash and kind == "game"):
        want = "a word" if kind == "game" else "a word, or `family/word`,"
        raise click.BadParameter(
            f"got `{name}`, want {want} of lower-case letters, digits, `-` and `_`", param_hint="NAME"
        )
    return family if slash else None, word


def _title(title: str | None, name: str) -> str:
    default = re.sub("[-_]+", " ", name).strip().capitalize() or name
    if title is None and _is_interactive():
        title = str(click.prompt("Title", default=default, err=True))
    title = (default if title is None else title).strip()
    if not title or not title.isprintable() or re.search(r'["\\{}«»]', title):
        raise click.BadParameter("want one line without quotes, braces and backslashes", param_hint="--title")
    return title


def _folder() -> Path:
    own = [part for part in os.environ.get("REGELWERK_PATH", "").split(os.pathsep) if part]
    return Path(own[0]) if own else Path("rulesets") if Path("rulesets").is_dir() else Path()


def _check_family(family: str, root: Path) -> None:
    from interpreter.base.suggest import did_you_mean

    known = _shelf(root).ids("family")
    if family not in known:
        refused(f"unknown family `{family}`{did_you_mean(family, known)}")


def _ruleset(base: str | None, family: str | None, root: Path) -> Ruleset:
    from interpreter.base.yaml_values import word
    from interpreter.engine.ruleset import load
    from interpreter.reading.ruleset_files import rulesets_of

    shelf = _shelf(root)
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


def _shelf(root: Path) -> Shelf:
    from interpreter.base.paths import ruleset_roots
    from interpreter.reading.files import Shelf

    return Shelf([root, *ruleset_roots()], ahead=1)


# --- files


def _files(kind: str, name: str, title: str, root: Path, base: Ruleset | None) -> list[NewFile]:
    from interpreter.authoring import scaffold

    if base is None:
        return scaffold.new_game(name, title, root)
    makers = {"map": scaffold.new_map, "overlay": scaffold.new_overlay, "edition": scaffold.new_edition}
    with refused_for(scaffold.Unfit):
        return makers[kind](name, title, root, base)


def _check_free(files: list[NewFile], root: Path) -> None:
    """Check that neither the files nor other files with these ids exist."""
    shelf = _shelf(root)
    for file in files:
        path = root / file.place
        if path.exists() or path.is_symlink():
            refused(f"`{relative(path)}` already exists; nothing was written")
        id = file.id.rpartition("/")[2] if file.kind == "ruleset" else file.id
        other = shelf.find(file.kind, id)
        if other is not None:
            refused(f"the {file.kind} `{id}` already exists, as `{relative(other)}`; nothing was written")


def _write(path: Path, text: str, written: list[Path]) -> None:
    """Write a new file and add it, and the folders created for it, to ``written``."""
    lacking = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(lacking):
        folder.mkdir()
        written.append(folder)
    with path.open("x", encoding="utf-8", newline="\n") as stream:
        written.append(path)
        stream.write(text)


def _rulesets(files: list[NewFile], root: Path, others: Collection[str], base: Ruleset | None) -> list[Path]:
    """Return the paths of the new rulesets: the one that was written, and those that the family makes of a map, first
    in the edition of the base."""
    from interpreter.base.yaml_values import word

    shelf = _shelf(root)
    made = [id for id, (_, map) in shelf.made.items() if map == files[0].id]
    if taken := next((id for id in made if id in others), None):
        refused(f"the ruleset `{taken}` already exists; nothing was written")
    edition = word(base.document.head.edition) if base is not None else ""
    documents = sorted(shelf.documents("ruleset", made), key=lambda each: word(each.head.edition) != edition)
    return [*(root / file.place for file in files if file.kind == "ruleset"), *(each.address for each in documents)]


def _check_runs(kind: str, files: list[NewFile], runs: list[Path], root: Path, base: Ruleset | None) -> None:
    """Check that the new files load; otherwise report why, and what to write by hand."""
    from interpreter.authoring.scaffold import left_out
    from interpreter.base.diagnostics import RulesetError, rendered
    from interpreter.engine.ruleset import load

    try:
        if base is not None and kind == "overlay":
            load(base.document.address, [*base.overlays, str(root / files[0].place)])
        for path in runs:
            load(path)
    except RulesetError as error:
        more = left_out(base, files[0]) if base is not None and kind == "map" else []
        if base is None or not more:
            notice("\n".join(rendered(error.diagnostics)))
            hint = ""
            if base is not None and _is_elsewhere(base, root):
                hint = f"; `--in {relative(base.shelf.roots[0])}` writes beside `{base.id}`"
            refused(f"the generated files do not suit the family; nothing was written{hint}")
        model = base.composition.single("nodes")
        place = f", as `{model.file}` does" if model is not None else ""
        lacking = f"a map for `{base.id}` must also declare {', '.join(more)}{place}"
        refused(f"{lacking}, which cannot be generated; nothing was written")


# --- next steps


def _commands(kind: str, files: list[NewFile], places: dict[str, str], root: Path, base: Ruleset | None) -> list[str]:
    first = relative(root / files[0].place)
    if kind == "overlay" and base is not None:
        name = relative(base.document.address) if _is_elsewhere(base, root) else base.id
        run = f"regelwerk run {name} --with {files[0].id if _is_known(root) else first}"
        lines = [f"regelwerk validate {first}", run]
    else:
        lines = [f"regelwerk validate {places['ruleset']}", f"regelwerk run {places['ruleset']}"]
    if kind == "game":
        lines += [f"regelwerk play {places['ruleset']}", f"regelwerk test {places['scenarios']}"]
    return [*lines, f"edit {first}, then: regelwerk fmt {first}"]


def _is_elsewhere(base: Ruleset, root: Path) -> bool:
    """Return whether a ruleset is found by its path alone."""
    return _shelf(root).find("ruleset", base.id) is None


def _is_known(root: Path) -> bool:
    """Return whether files in this folder are found by their ids."""
    from interpreter.base.paths import ruleset_roots

    return root.resolve() in {path.resolve() for path in ruleset_roots()}
