"""The author's folder: its files by name, and the rulesets at hand.

A *name* is a path below the folder, with `/` between its parts. What a page sends as a name is checked here, so that
nothing outside the folder can be read or written. Names of shipped files begin with ``rulesets/``; they can be read.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from interpreter.base.paths import ruleset_roots
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.editor.workspace import Desk
from interpreter.reading.dependencies import at_one_moment
from interpreter.reading.files import Document, Shelf, resolved, shelf_for
from interpreter.reading.ruleset_files import can_have, ids_of
from interpreter.reading.yaml import MAX_BYTES
from interpreter.serve.words import Refused

__all__ = ["MOST_FILES", "SHIPPED", "SUFFIXES", "Shown", "Workbench"]

SUFFIXES = (".yaml", ".yml", ".csv")
"""Suffixes of the files that the studio edits."""
SHIPPED = "rulesets/"
"""Beginning of the names of shipped files."""
MOST_FILES, MOST_ENTRIES = 2_000, 50_000
"""Most files of a folder, and most files and folders that are looked at."""
MOST_LETTERS, MOST_PARTS = 100, 8
"""Most letters of a part of a name (UTF-8 may take four bytes each, and systems allow 255), and most parts."""
_UNUSABLE = re.compile(r'[\\:*?"<>|]|[. ]$|^[. ]|^(?:con|nul|aux|prn|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
"""What no part of a name may have on some system, and what hides a file."""


class Shown(Struct, frozen=True):
    """A ruleset to choose. ``overlays`` may be added to it: id and title of each."""

    id: str
    title: str
    family: str
    own: bool
    overlays: tuple[tuple[str, str], ...]


class Workbench:
    """A folder of an author's files. The disk is the truth: nothing is kept here."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve(strict=True)
        self.listeners: list[Callable[[set[str]], object]] = []
        """Called with the absolute paths that were written, removed or renamed."""

    # --- names

    def path(self, name: str) -> Path:
        """Return the path of a name, which need not exist. Raises :class:`Refused` for anything outside the folder."""
        parts = name.split("/")
        if not 0 < len(name) <= MOST_LETTERS * MOST_PARTS or len(parts) > MOST_PARTS or not all(map(_is_usable, parts)):
            raise Refused("got `{name}` as the name of a file; {want}", name=_shown(name), want=_WANT)
        path = self.root.joinpath(*parts)
        if path.suffix.lower() not in SUFFIXES:
            raise Refused("got `{name}`, want a file that ends in {ends}", name=_shown(name), ends=", ".join(SUFFIXES))
        if not resolved(path).is_relative_to(self.root):
            raise Refused("`{name}` leads out of the folder", name=_shown(name))
        return path

    def name_of(self, path: Path) -> str | None:
        """Return the name of a path below the folder; None outside."""
        place = Path(os.path.abspath(path))
        for below in (place, resolved(place)):
            if below.is_relative_to(self.root) and below != self.root:
                return below.relative_to(self.root).as_posix()
        return None

    def address_of(self, path: Path) -> str | None:
        """Return the name by which a file can be opened, shipped ones too; None for any other file."""
        own = self.name_of(path)
        place = resolved(path)
        roots = (root for root in map(resolved, ruleset_roots()) if place.is_relative_to(root))
        return own if own is not None else next((SHIPPED + place.relative_to(root).as_posix() for root in roots), None)

    def find(self, name: str) -> tuple[Path, bool]:
        """Return the path of an existing file, and whether it is the author's. Own files hide shipped ones."""
        path = self.path(name)
        if path.is_file():
            return path, True
        if name.startswith(SHIPPED):
            for root in map(resolved, ruleset_roots()):
                shipped = root / name.removeprefix(SHIPPED)
                if shipped.is_file() and resolved(shipped).is_relative_to(root):
                    return shipped, False
        raise Refused("there is no file `{name}`{hint}", name=_shown(name), hint=did_you_mean(name, self.files()))

    def own(self, name: str) -> str:
        """Return the name of an existing file of the author. Raises :class:`Refused` for a shipped one."""
        if not self.find(name)[1]:
            raise Refused("`{name}` is shipped and can only be read", name=_shown(name))
        return name

    def link(self, path: Path, line: int) -> str:
        """Return the part of the page's address that leads to a line of a file; empty if it cannot be opened."""
        name = self.address_of(path)
        return f"#at={quote(name)}:{line}" if name is not None else ""

    # --- files

    def files(self) -> list[str]:
        """Return the names of the files that the studio edits, sorted. Hidden folders are left out. Raises
        :class:`Refused` if the folder is too large to be an author's."""
        names: list[str] = []
        for number, path in enumerate(_below(self.root)):
            if number >= MOST_ENTRIES or len(names) > MOST_FILES:
                raise Refused("the folder `{root}` has too many files, want one of your own", root=self.root)
            name = path.relative_to(self.root).as_posix()
            with suppress(Refused, OSError):
                if path.suffix.lower() in SUFFIXES and self.path(name).is_file():
                    names.append(name)
        return sorted(names)

    def read(self, name: str) -> str:
        """Return the text of a file, with its line ends."""
        path, _ = self.find(name)
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(name)
        try:
            return path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Refused("`{name}` is no UTF-8 text", name=_shown(name)) from None

    def write(self, name: str, text: str) -> None:
        """Write a file at once, so that nobody reads a half of it; missing folders are created."""
        path = self.path(name)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused("`{name}`: the text has letters that no file can have", name=_shown(name)) from None
        if len(data) > MAX_BYTES:
            raise _too_large(name)
        path = resolved(path) if path.is_symlink() else path  # the file that a link leads to is written
        with _telling("write", name):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{secrets.token_hex(8)}.new")
            try:
                beside.write_bytes(data)
                if path.exists():
                    beside.chmod(path.stat().st_mode & 0o777)
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
        self._changed(path)

    def remove(self, name: str) -> None:
        """Remove a file, and the folders that are empty then."""
        path = self.path(self.own(name))
        with _telling("remove", name):
            path.unlink()
        self._tidy(path)
        self._changed(path)

    def rename(self, old: str, new: str) -> None:
        """Move a file. Raises :class:`Refused` if the new name is taken."""
        path, place = self.path(self.own(old)), self.path(new)
        if place.exists() or place.is_symlink():
            raise Refused("there is a file `{name}` already", name=_shown(new))
        with _telling("rename", old):
            place.parent.mkdir(parents=True, exist_ok=True)
            path.rename(place)
        self._tidy(path)
        self._changed(path, place)

    def _changed(self, *paths: Path) -> None:
        for listener in self.listeners:
            listener({os.path.abspath(path) for path in paths})

    def _tidy(self, path: Path) -> None:
        with suppress(OSError):  # a folder that has files stays
            for folder in path.parents:
                if folder == self.root:
                    break
                folder.rmdir()

    def shipped(self) -> list[str]:
        """Return the names of the shipped files, sorted, without those that own files hide."""
        names: set[str] = set()
        for root in map(resolved, ruleset_roots()):
            if not root.is_relative_to(self.root):
                paths = (path for path in _below(root) if path.suffix in SUFFIXES and path.is_file())
                names.update(SHIPPED + path.relative_to(root).as_posix() for path in paths)
        return sorted(names - set(self.files()))

    # --- rulesets

    def shelf(self) -> Shelf:
        """Return the folders of rulesets, the author's first."""
        own = {resolved(shelf_for(path).roots[0]): None for path in self._paths()}
        return Shelf([*own, *(root for root in ruleset_roots() if resolved(root) not in own)], ahead=len(own))

    def rulesets(self) -> list[Shown]:
        """Return the rulesets at hand, the author's first."""
        with at_one_moment():
            shelf = self.shelf()
            overlays = shelf.documents("overlay")
            return [
                Shown(each.id, each.title, word(each.head.family), own, _offered(shelf, each, overlays))
                for each, own in self._documents(shelf)
            ]

    def source(self, id: str) -> str:
        """Return what :func:`interpreter.loading.load.load` takes: the path of an own ruleset, or the id of a shipped
        one. Raises :class:`Refused` for an unknown id."""
        ids: list[str] = []
        with at_one_moment():
            for document, own in self._documents(self.shelf()):
                if document.id == id:
                    return str(document.address) if own else id
                ids.append(document.id)
        raise Refused("unknown ruleset `{id}`{hint}", id=_shown(id), hint=did_you_mean(id, ids))

    def overlay_source(self, id: str) -> str:
        """Return what loading takes for an overlay: the path of an own one, or the id."""
        path = self.shelf().find("overlay", id)
        return str(path) if path is not None and self.name_of(path) is not None else id

    def relative_of(self, id: str) -> str:
        """Return the ruleset to compare one with: of its family, and with the most files in common; shipped ones first
        among equals. Return ``id`` if it is alone."""
        with at_one_moment():
            shelf = self.shelf()
            known = {each.id: (each, own) for each, own in reversed([*self._documents(shelf)])}
            if id not in known:
                return id
            here, family = ids_of(shelf, known[id][0]), word(known[id][0].head.family)
            others = {
                other: (len(here & ids_of(shelf, each)), not own)
                for other, (each, own) in reversed(known.items())
                if other != id and word(each.head.family) == family
            }
        return max(others, key=lambda each: others[each], default=id)

    def containing(self, name: str, desk: Desk | None = None) -> list[tuple[str, tuple[str, ...]]]:
        """Return the ids of the rulesets that contain a file, with the overlays that they need for it. Several
        files may share a desk, so that it looks things up once."""
        return [(ruleset.id, overlays) for ruleset, overlays in (desk or Desk()).members(self.find(name)[0])]

    def parts_of(self, id: str, overlays: Sequence[str] = ()) -> list[str]:
        """Return the names of the author's files that a ruleset with overlays is made of, and of those about it. Files
        of its family count too if they do not tell to which rulesets they belong: tables, and texts with errors."""
        self.source(id)  # a known one
        desk = Desk()
        with at_one_moment():
            family = next(word(each.head.family) for each, _ in self._documents(self.shelf()) if each.id == id)
            found = [(name, self.containing(name, desk)) for name in self.files()]
        return [
            name
            for name, members in found
            if (not members and family in name.split("/")[:-1])
            or any(ruleset == id and set(needed) <= set(overlays) for ruleset, needed in members)
        ]

    def _paths(self) -> list[Path]:
        return [self.root / name for name in self.files() if not name.endswith(".csv")]

    def _documents(self, shelf: Shelf) -> Iterator[tuple[Document, bool]]:
        """Yield the rulesets at hand, own ones (True) first, which may lie anywhere below the folder."""
        own = [document for path in self._paths() if (document := shelf.read_path(path)[0]) is not None]
        own = [*(each for each in own if each.kind == "ruleset"), *shelf.documents("ruleset", shelf.made)]
        known: dict[str, Document] = {}
        for each in own:  # a file hides the ruleset that is made of a map
            if self.name_of(each.address) is not None:
                known.setdefault(each.id, each)
        yield from ((each, True) for each in known.values())
        yield from ((each, False) for each in Shelf(ruleset_roots()).documents("ruleset") if each.id not in known)


_WANT = "want words of letters, digits, `-` and `_`, with `/` between folders"


def _is_usable(part: str) -> bool:
    return 0 < len(part) <= MOST_LETTERS and part.isprintable() and _UNUSABLE.search(part) is None


def _shown(name: str) -> str:
    """Return a name for a message: short, and without letters that change what is around it."""
    return "".join(char if char.isprintable() and char != "`" else "?" for char in name[:60])


def _below(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder, and those folders that are left out."""
    for place, folders, names in os.walk(folder):
        yield from (Path(place, name) for name in names)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in folders)


def _offered(shelf: Shelf, ruleset: Document, overlays: list[Document]) -> tuple[tuple[str, str], ...]:
    here = {id for _, id in ids_of(shelf, ruleset)}
    return tuple((each.id, each.title) for each in overlays if can_have(here, each))


def _too_large(name: str) -> Refused:
    return Refused("`{name}` is too large, want at most {most} MB", name=_shown(name), most=MAX_BYTES // 1024 // 1024)


@contextmanager
def _telling(what: str, name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Refused("cannot {what} `{name}`: {reason}", what=what, name=_shown(name), reason=reason) from None
