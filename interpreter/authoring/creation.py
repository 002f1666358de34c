"""New files: names and titles checked, texts from :mod:`interpreter.authoring.scaffold`, written and loaded once.

If something is wrong, nothing stays written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from msgspec import Struct

from interpreter.authoring import scaffold
from interpreter.authoring.foreign_maps import Board, Unreadable, read_board
from interpreter.authoring.scaffold import NewFile, NotCreated
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.extras import Unavailable
from interpreter.base.paths import ruleset_roots
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import Shelf

__all__ = ["Created", "NotCreated", "board_of", "create", "parts_of", "shelf_with", "title_of"]

_WORD = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
MOST_LETTERS = 200
"""Most letters of a title."""


class Created(Struct, frozen=True):
    """Written files, the rulesets that came into being, and what a board of others still breaks."""

    files: list[NewFile]
    rulesets: list[Path]
    diagnostics: Sequence[Diagnostic] = ()


def parts_of(kind: str, name: str) -> tuple[str | None, str]:
    """Split a name into its family, if it has one, and its word. Raises ``ValueError``."""
    family, slash, word = name.rpartition("/")
    if not all(_WORD.fullmatch(part) for part in ([family, word] if slash else [word])) or (slash and kind == "game"):
        want = "a word" if kind == "game" else "a word, or `family/word`,"
        raise ValueError(f"got `{name[:60]}`, want {want} of lower-case letters, digits, `-` and `_`")
    return family if slash else None, word


def title_of(title: str | None, name: str) -> str:
    """Return a title, by default from the name. Raises ``ValueError``."""
    default = re.sub("[-_]+", " ", name).strip().capitalize() or name
    title = (default if title is None else title).strip()
    if not 0 < len(title) <= MOST_LETTERS or not title.isprintable() or re.search(r'["\\{}«»]', title):
        raise ValueError("want one line without quotes, braces and backslashes")
    return title


def shelf_with(root: Path) -> Shelf:
    """Return the folders of rulesets, with the one to write into first."""
    return Shelf([root, *ruleset_roots()], ahead=1)


def board_of(sources: Sequence[Path], base: Ruleset | None) -> Board | None:
    """Return the board that files of other programs describe, if there are any. Raises :class:`NotCreated`."""
    graph = base.model.graph if base is not None else None
    try:
        return read_board(sources, graph.node if graph is not None else "") if sources else None
    except (Unreadable, Unavailable) as error:
        raise NotCreated(str(error)) from None


def create(
    kind: str,
    name: str,
    title: str,
    root: Path,
    base: Ruleset | None = None,
    board: Board | None = None,
    size: int | None = None,
    *,
    shown: Callable[[Path], str],
) -> Created:
    """Write the first files of a map, an overlay, an edition or a game, and load them. ``shown`` names paths in
    messages. Raises :class:`NotCreated`."""
    if base is None:
        files = scaffold.new_game(name, title, root)
    elif kind == "map":
        files = scaffold.new_map(name, title, root, base, board, size)
    else:
        files = {"overlay": scaffold.new_overlay, "edition": scaffold.new_edition}[kind](name, title, root, base)
    _check_free(files, root, shown)
    written: list[Path] = []
    others = set(shelf_with(root).made)
    try:
        for file in files:
            _write(root / file.place, file.text, written)
        runs = _rulesets(files, root, others, base)
        return Created(files, runs, _check_runs(kind, files, runs, root, base, board, shown))
    except BaseException:
        for path in reversed(written):
            path.rmdir() if path.is_dir() else path.unlink()
        raise


def _check_free(files: list[NewFile], root: Path, shown: Callable[[Path], str]) -> None:
    """Check that neither the files nor other files with these ids exist."""
    shelf = shelf_with(root)
    for file in files:
        path = root / file.place
        if path.exists() or path.is_symlink():
            raise NotCreated(f"`{shown(path)}` already exists; nothing was written")
        id = file.id.rpartition("/")[2] if file.kind == "ruleset" else file.id
        other = shelf.find(file.kind, id)
        if other is not None:
            raise NotCreated(f"the {file.kind} `{id}` already exists, as `{shown(other)}`; nothing was written")


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
    shelf = shelf_with(root)
    made = [id for id, (_, map) in shelf.made.items() if map == files[0].id]
    if taken := next((id for id in made if id in others), None):
        raise NotCreated(f"the ruleset `{taken}` already exists; nothing was written")
    edition = word(base.document.head.edition) if base is not None else ""
    documents = sorted(shelf.documents("ruleset", made), key=lambda each: word(each.head.edition) != edition)
    return [*(root / file.place for file in files if file.kind == "ruleset"), *(each.address for each in documents)]


def _check_runs(
    kind: str,
    files: list[NewFile],
    runs: list[Path],
    root: Path,
    base: Ruleset | None,
    board: Board | None,
    shown: Callable[[Path], str],
) -> Sequence[Diagnostic]:
    """Check that the new files load; otherwise say why, and what to write by hand. A board of others may break laws of
    tables, which its author mends: these are returned."""
    try:
        if base is not None and kind == "overlay":
            load(base.document.address, [*base.overlays, str(root / files[0].place)])
        for path in runs:
            load(path)
    except RulesetError as error:
        found = error.diagnostics
        if board is not None and all(each.code == "E414" for each in found if each.severity == "error"):
            return found
        more = scaffold.left_out(base, files[0]) if base is not None and kind == "map" and board is None else []
        if base is None or not more:
            hint = ""
            if base is not None and shelf_with(root).find("ruleset", base.id) is None:
                hint = f"; `--in {shown(base.shelf.roots[0])}` writes beside `{base.id}`"
            raise NotCreated(f"the generated files do not suit the family; nothing was written{hint}", found) from None
        model = base.composition.single("nodes")
        place = f", as `{model.file}` does" if model is not None else ""
        lacking = f"a map for `{base.id}` must also declare {', '.join(more)}{place}"
        raise NotCreated(f"{lacking}, which cannot be generated; nothing was written") from None
    return ()
