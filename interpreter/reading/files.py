"""Finding and reading of files: an id determines the path below a folder of rulesets, a header determines the kind.

A :class:`Shelf` searches several such folders. Of the content of a file, only the header is interpreted here.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.paths import ruleset_roots
from interpreter.base.plurals import listed, quoted
from interpreter.base.remedies import insert, write
from interpreter.base.source import SourceFile, Span
from interpreter.base.suggest import did_you_mean, did_you_mean_id
from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import word
from interpreter.reading.dependencies import at_one_moment, digest, folders_in, looked_at, looks_once, names_in
from interpreter.reading.players import PlayerRange, player_range
from interpreter.reading.schema import check_schema, misfits
from interpreter.reading.unsaved_files import unsaved_bytes
from interpreter.reading.yaml import MAX_BYTES, Mapping, Scalar, decode, other_format, read_yaml, too_large
from interpreter.sections.atoms import Id
from interpreter.sections.documents import FILES, Head, Ruleset, RulesetsFile

__all__ = [
    "A_KIND",
    "KINDS",
    "Document",
    "Shelf",
    "files_at",
    "files_below",
    "files_here",
    "names_a_file",
    "nearby",
    "nearby_ids",
    "no_file_in",
    "place_of",
    "read_document",
    "resolved",
    "several",
    "shelf_for",
    "shelf_here",
    "title_key",
    "with_files",
]

# Path of a file of each kind below a folder of rulesets. The folder of a ruleset is not part of its id.
KINDS: dict[str, str] = {
    "ruleset": "*/{name}.yaml",
    "family": "{name}/family.yaml",
    "edition": "{folder}/editions/{name}.yaml",
    "map": "{folder}/maps/{name}.yaml",
    "deck": "{folder}/decks/{name}.yaml",
    "overlay": "{folder}/overlays/{name}.yaml",
    "rulesets": "{folder}/rulesets/{name}.yaml",
    "library": "{folder}/{name}.yaml",
    "policies": "{folder}/policies/{name}.yaml",
    "scenarios": "{folder}/scenarios/{name}.yaml",
    "waivers": "{name}/waivers.yaml",
    "words": "{folder}/words/{name}.yaml",
}
A_KIND = {kind: str(record.schema["title"]) for kind, record in FILES.items()}
"""Kinds with their articles, for messages."""
_ID = re.compile(str(Id.schema["pattern"]))
_BY_HEADER = ("ruleset", "library")
"""Kinds of files whose path may be that of a file of another kind."""
_HEADER = re.compile(rf"^({'|'.join(KINDS)}):[ ]+[\"']?([^\s\"'#{{\[|>][^\s\"'#]*)", re.MULTILINE)


class Document(Struct, frozen=True, dict=True):
    """A file that was read: kind and id from its header, and its values."""

    kind: str
    id: str
    file: SourceFile
    root: Mapping
    path: Path
    is_changed: bool = False
    """True if the values differ from those of the file."""
    own_place: Path | None = None
    """Where the file of a ruleset would be that a file of many rulesets makes."""
    map_place: Path | None = None
    """Where the map is that such a ruleset is made of."""

    @property
    def address(self) -> Path:
        """Return the path that it is read by."""
        return self.own_place or self.path

    def with_words(self, **changes: str) -> Document:
        """Return the document with other texts at some keys."""
        entries = [
            replace(entry, value=replace(entry.value, text=changes[entry.key.text], value=changes[entry.key.text]))
            if entry.key.text in changes and isinstance(entry.value, Scalar)
            else entry
            for entry in self.root.entries
        ]
        return replace(self, root=Mapping(tuple(entries), self.root.span), is_changed=True)

    @property
    def head(self) -> Head:
        """Return the keys with which it names other files; those of other kinds are empty."""
        return Head(self.root)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """Words for the file in a question of :class:`interpreter.engine.answers.Answers`: what it is, and its text."""
        text = digest(self.file.text.encode("utf-8", "replace"))
        return self.kind, self.id, self.file.name, self.path.as_posix(), text

    @property
    def title(self) -> str:
        title = self.head.title or self.id
        if self.map_place is None:
            return title
        map, _ = _read_file(self.map_place, "/".join(self.map_place.parts[-3:]), None)
        return title.replace("{map}", map.title.partition(" (")[0] if map is not None else self.map_place.stem)

    @property
    def players(self) -> PlayerRange | None:
        """Return the numbers of players that it allows, if it limits them."""
        return player_range(self.head.players)

    @property
    def undefined(self) -> dict[str, str]:
        """Return the files that no rulebook covers in combination with this overlay, each with the reason."""
        return {key.text: reason for key, reason in self.head.undefined}

    @cached_property
    def misfits(self) -> tuple[Diagnostic, ...]:
        """Violations of the schema of its kind."""
        if self.is_changed:
            return tuple(check_schema(self.kind, self.root))
        return tuple(misfits(self.kind, self.root, self.file))


_Read = tuple[Document | None, list[Diagnostic]]
_known: dict[tuple[str, Path], dict[str, _Read]] = {}
"""Cache of read files: by name and path, and then by the digest of the bytes."""

MOST_FILES = 1_000
"""Number of cached files, least recently read first out."""
MOST_LISTED = 8
"""Number of ids in a message."""
MOST_VERSIONS = 2
"""Number of cached versions of a file, least recently used first out: the current one, and one with another name."""


def place_of(kind: str, id: str) -> str | None:
    """Return the path of a file below a folder of rulesets, or None for an invalid id."""
    if not _ID.fullmatch(id) or ("{folder}" in KINDS[kind]) != ("/" in id):
        return None
    folder, _, name = id.rpartition("/")
    return KINDS[kind].format(folder=folder, name=name)


def title_key(kind: str, id: str) -> str:
    """Return the name that files of words have for the title of a file."""
    return f"title.{id}" if kind == "ruleset" else f"title.{kind}.{id.rpartition('/')[2]}"


@dataclass
class Shelf:
    """Folders of rulesets. Files in the first ``ahead`` folders hide files with the same id in the others; elsewhere a
    repeated id is an error."""

    roots: list[Path]
    ahead: int = 0

    def __hash__(self) -> int:
        return hash((*self.roots, self.ahead))

    @looks_once
    def find(self, kind: str, id: str) -> Path | None:
        """Return the path of an id, or None if there is no such file below the roots."""
        found = next((path for root, path in self._candidates(kind, id) if _is_below(root, path)), None)
        made = self.made.get(id) if found is None and kind == "ruleset" else None
        return found if made is None else made[0].path

    @looks_once
    def ids(self, kind: str) -> list[str]:
        """Return the ids of all files of a kind, sorted."""
        ids = set(self.made if kind == "ruleset" else ())
        for root in self.roots:
            for path in files_at(root, KINDS[kind].format(folder="*", name="*")):
                id = _id_at(kind, path.relative_to(root))
                if id and _is_below(root, path) and (kind not in _BY_HEADER or _kind_of(path) == kind):
                    ids.add(id)
        return sorted(ids)

    @looks_once
    def read(self, kind: str, id: str, at: Span | None = None) -> _Read:
        """Read the document of an id. ``at`` is the position of the id, for diagnostics."""
        place = place_of(kind, id)
        if place is None:
            return None, [_no_id(kind, id, at, did_you_mean_id(id, self.ids(kind)))]
        candidates = list(self._candidates(kind, id))
        places = {resolved(path): path for _, path in candidates} if len(candidates) > 1 else {}
        if len(places) > 1:
            return None, [several(kind, id, places.values(), at)]
        if not candidates and kind == "ruleset" and (made := self.made.get(id)) is not None:
            map_place = self.find("map", made[1])
            return self.read("map", made[1]) if map_place is None else (self._make(id, *made, map_place), [])
        if not candidates:
            hint = did_you_mean_id(id, self.ids(kind))
            notes = (Note(f"looked for `{place}` in the folders of rulesets"),)
            help = None if hint else self._others(kind, id)
            return None, [Diagnostic("E031", f"unknown {kind} `{id}`{hint}", at, notes, help)]
        root, path = candidates[0]
        name = path.relative_to(root).as_posix()
        if not _is_below(root, path):
            return None, [Diagnostic("E033", f"`{name}` leads out of its folder of rulesets, want a file in it", at)]
        document, diagnostics = _read_file(path, name, at)
        if document is None:
            return None, diagnostics
        if document.kind != kind:
            return None, [*diagnostics, _wrong_kind(document, kind, name)]
        return document, [*diagnostics, *_check_place(document, id)]

    def _make(self, id: str, file: Document, map: str, place: Path) -> Document:
        """Return the ruleset that a file of many rulesets makes of a map: what a file of its own would say."""
        said = {"ruleset": id, "family": file.id.partition("/")[0], "map": map}
        at = _header_span(file)
        parts = (YamlEntry(*(Scalar(text, "plain", at, text) for text in pair)) for pair in said.items())
        rest = (entry for entry in file.root.entries if entry.key.text in Ruleset.forms and entry.key.text not in said)
        root = Mapping((*parts, *rest), file.root.span)
        ahead = [resolved(root) for root in self.roots]
        home = min(file.path.parents[1], place.parents[1], key=lambda home: ahead.index(resolved(home.parent)))
        own = home / f"{id}.yaml"
        return Document("ruleset", id, file.file, root, file.path, is_changed=True, own_place=own, map_place=place)

    def _others(self, kind: str, id: str) -> str:
        """Return help for an id of a kind that does not exist: another kind that has it, or the ids that there are."""
        if other := next((each for each in KINDS if self.find(each, id) is not None), None):
            return f"`{id}` is {A_KIND[other]}"
        if kind == "ruleset":
            return "`regelwerk list` lists all rulesets"
        ids, folder = self.ids(kind), id.rpartition("/")[0]
        if self.find("family", folder) is not None:
            ids = [each for each in ids if each.rpartition("/")[0] == folder]
        return f"known here: {listed(ids, MOST_LISTED) or 'none'}"

    def has_at(self, document: Document, path: Path) -> bool:
        """Return whether the id of a document leads to this path."""
        place = self.find(document.kind, document.id)
        return place is not None and resolved(place) == resolved(path)

    def documents(self, kind: str, ids: Iterable[str] | None = None) -> list[Document]:
        """Return the files of a kind (of some ids, or all), without those that cannot be read."""
        with at_one_moment():
            read = [self.read(kind, id)[0] for id in (self.ids(kind) if ids is None else ids)]
        return [document for document in read if document is not None]

    def read_path(self, path: Path | str) -> _Read:
        """Read the document at a path. Its header determines the kind."""
        path = Path(path)
        looked_at("form", path)
        if not os.path.isfile(path) and path.stem in self.made:
            document, diagnostics = self.read("ruleset", path.stem)
            if document is not None and resolved(document.address) == resolved(path):
                return document, diagnostics
        return _read_file(path, path.as_posix(), None)

    def read_as_rulesets_do(self, path: Path) -> _Read:
        """Read the document at a path by its id, if that leads there, so that positions are named as in its rulesets;
        else by the path."""
        document, diagnostics = self.read_path(path)
        if document is None or not self.has_at(document, path):
            return document, diagnostics
        again, its_diagnostics = self.read(document.kind, document.id)
        return (again, its_diagnostics) if again is not None else (document, diagnostics)

    @property
    @looks_once
    def made(self) -> dict[str, tuple[Document, str]]:
        """The rulesets that files of many rulesets make: by id the file and the map."""
        made: dict[str, tuple[Document, str]] = {}
        for file in self.documents("rulesets"):
            keys, folder = RulesetsFile(file.root), f"{file.id.partition('/')[0]}/"
            editions = [f"-{id.removeprefix(folder)}" for id in self.ids("edition") if id.startswith(folder)]
            maps = [name.text for name in keys.maps] or [id for id in self.ids("map") if id.startswith(folder)]
            for map in maps if "{map}" in word(keys.called) else ():
                if all(map != name.text for name in keys.without):
                    name = map.partition("/")[2]
                    short = next((name.removesuffix(end) for end in editions if name.endswith(end)), name)
                    made.setdefault(word(keys.called).replace("{map}", short), (file, map))
        return made

    def _candidates(self, kind: str, id: str) -> Iterator[tuple[Path, Path]]:
        """Yield the files of an id with their roots, without those that are hidden."""
        place = place_of(kind, id)
        for number, root in enumerate(self.roots if place is not None else ()):
            paths = files_at(root, str(place))
            found = [path for path in paths if kind not in _BY_HEADER or _kind_of(path) in (kind, None)]
            yield from ((root, path) for path in found)
            if found and number < self.ahead:
                return


def shelf_for(path: Path | str | None = None) -> Shelf:
    """Return the folders of rulesets; for the path of a file, with the folder that contains it first."""
    roots = ruleset_roots()
    if path is None:
        return Shelf(roots)
    own = _own_root(Path(os.path.abspath(path)))
    return Shelf([own, *(root for root in roots if resolved(root) != resolved(own))], ahead=1)


def shelf_here() -> Shelf:
    """Return the folders of rulesets, with those of an author's files in the current folder first."""
    own = {resolved(root): root for root in (shelf_for(path).roots[0] for path in files_here(*KINDS))}
    return Shelf([*own.values(), *(root for root in ruleset_roots() if resolved(root) not in own)], ahead=len(own))


def nearby(id: str, beside: Iterable[Path] = (), kind: str = "ruleset") -> list[Path]:
    """Find the files with an id that no folder of rulesets has.

    The path of the id is looked up in the current folder, in the folders ``beside`` it, and in folders called
    ``rulesets`` in these.
    """
    place = place_of(kind, id)
    paths: dict[Path, Path] = {}
    for folder in (Path(), *beside):
        for pattern in (*([f"{id}.yaml"] if kind == "ruleset" else []), place, f"rulesets/{place}") if place else ():
            for path in files_at(folder, pattern):
                if _headers(path).get(kind) == id:
                    paths.setdefault(resolved(path), path)
        for made in _made_in(folder, id) if kind == "ruleset" else ():
            paths.setdefault(resolved(made.address), made.address)
    return list(paths.values())


def _made_in(folder: Path, id: str | None = None) -> Iterator[Document]:
    """Yield the rulesets (of an id, or all) that files of many rulesets make with files of a folder, or of the folder
    ``rulesets`` in it."""
    for root in (folder, folder / "rulesets"):
        own = (files_at(root, KINDS[kind].format(folder="*", name="*")) for kind in ("rulesets", "map"))
        if resolved(root) not in map(resolved, ruleset_roots()) and any(own):
            shelf = Shelf([root, *ruleset_roots()], ahead=1)
            made = shelf.documents("ruleset", [each for each in shelf.made if id in (None, each)])
            yield from (each for each in made if each.address.is_relative_to(root))


def nearby_ids() -> list[str]:
    """Return the ids of the rulesets that :func:`nearby` finds in the current folder."""
    here, place = Path(), KINDS["ruleset"].format(name="*")
    paths = [path for pattern in ("*.yaml", place, f"rulesets/{place}") for path in files_at(here, pattern)]
    ids = {id for path in paths if (id := _headers(path).get("ruleset")) == path.stem and id is not None}
    return sorted(ids | {made.id for made in _made_in(here)})


def files_here(*kinds: str) -> list[Path]:
    """Return an author's files of some kinds: in the current folder, also if it is the folder of a family, a folder of
    rulesets or the parent of one called ``rulesets``. Return none if the current folder contains the shipped rulesets
    (as a clone does) or is part of them."""
    here, shipped = resolved(Path()), resolved(ruleset_roots()[-1])
    if shipped.is_relative_to(here) or here.is_relative_to(shipped):
        return []
    places = {KINDS[kind].format(folder="*", name="*") for kind in kinds}
    patterns = {form for at in places for form in ("*.yaml", at.partition("/")[2], at, f"rulesets/{at}")}
    return sorted({path for form in patterns for path in files_at(Path(), form) if _kind_of(path) in kinds})


def rulesets_in(folder: Path) -> list[Path]:
    """Return the files of rulesets in a folder and the folders in it."""
    paths = (path for form in ("*.yaml", "*/*.yaml") for path in files_at(folder, form))
    return [path for path in paths if _kind_of(path) == "ruleset"]


def several(kind: str, id: str, places: Iterable[Path], at: Span | None = None) -> Diagnostic:
    """Return the diagnostic for an id of several files."""
    notes = tuple(Note(f"one is `{_from_here(place)}`") for place in places)
    message = f"several files are the {kind} `{id}`, want one"
    return Diagnostic("E037", message, at, notes, "give one of them another id")


def with_files(shelf: Shelf, overlays: Iterable[str]) -> tuple[Shelf, list[str], list[Diagnostic]]:
    """Replace paths of overlays by their ids; return a shelf that contains them, the ids, and diagnostics."""
    ids: list[str] = []
    roots, ahead, diagnostics = list(shelf.roots), shelf.ahead, list[Diagnostic]()
    for name in overlays:
        sign, path = name[: name[:1] == "-"], Path(name.removeprefix("-"))
        if path.suffix not in (".yaml", ".yml"):
            ids.append(name)
            continue
        document, problems = shelf.read_path(path)
        if document is None or document.kind != "overlay":
            diagnostics.extend(problems if document is None else [_wrong_kind(document, "overlay", path.as_posix())])
            continue
        ids.append(sign + document.id)
        own = _own_root(Path(os.path.abspath(path)))
        if all(resolved(root) != resolved(own) for root in roots):
            roots.insert(ahead, own)
            ahead += 1
        if not Shelf([own]).has_at(document, path):
            message = f"the overlay `{document.id}` is looked for in `{place_of('overlay', document.id)}`"
            diagnostics.append(Diagnostic("E031", message, _header_span(document), help="move the file there"))
    return Shelf(roots, ahead), ids, diagnostics


def names_a_file(target: str) -> bool:
    """Return whether a target is a path and not an id, also if there is no such file. Ids have no suffix, and no `/` at
    the ends."""
    return target.endswith(("/", os.sep)) or target.startswith((".", "/", os.sep, "~")) or "." in Path(target).name


def read_document(file: SourceFile, path: Path) -> _Read:
    """Read the text of a file and determine its kind from the header."""
    if path.suffix == ".csv":
        remedy = "the statements of a family are checked with its rulesets"
        return None, [Diagnostic("E013", f"`{file.name}` is no YAML file", None, help=remedy)]
    root, diagnostics = read_yaml(file)
    if root is None:
        return None, diagnostics
    kind, problems = _kind(root)
    problems.extend(_check_language(root))
    if kind is None and (other := other_format(file)) is not None:
        return None, [other]
    if kind is None or problems:
        return None, [*diagnostics, *problems]
    header = root[kind]
    assert isinstance(header, Scalar)
    if place_of(kind, header.text) is None:
        return None, [*diagnostics, _no_id(kind, header.text, header.span)]
    return Document(kind, header.text, file, root, path), diagnostics


def _no_id(kind: str, id: str, at: Span | None, hint: str = "") -> Diagnostic:
    shown = "".join(char if char.isprintable() and char != "`" else "?" for char in id[:60])
    form = "`folder/name`" if "{folder}" in KINDS[kind] else "one word"
    remedy = f"{form} of lower-case letters, digits, `-` and `_`"
    if kind == "ruleset" and at is None and "+" in shown:
        name, *overlays = shown.split("+")
        remedy = f"add overlays with `{' --with '.join([name, *(overlay or 'OVERLAY' for overlay in overlays)])}`"
    elif kind == "ruleset" and at is None:
        remedy = f"{remedy}; `regelwerk list` lists all rulesets"
    near = re.sub(r"[^a-z0-9_/]+", "-", id.lower()).strip("-/")
    if at is not None and at.text == id and place_of(kind, near) is not None:
        remedy = write(at, near, f"{remedy}: `{near}`")
    return Diagnostic("E032", f"got `{shown}`, want an id that names {A_KIND[kind]}{hint}", at, help=remedy)


# -- headers -----------------------------------------------------------------------------------------------------------


def _kind(root: Mapping) -> tuple[str | None, list[Diagnostic]]:
    """Determine the kind of a file by the key that names it. A key that is also a section must have a word as value."""
    named = [kind for kind in KINDS if isinstance(root.get(kind), Scalar)]
    if "ruleset" in named or "rulesets" in named:  # which name files of other kinds
        named = [kind for kind in named if kind == "ruleset" or kind not in Ruleset.forms]
    if len(named) == 1:
        return named[0], []
    entries = [entry for entry in root.entries if entry.key.text in named]
    if entries:
        message = f"got `{entries[0].key.text}` and `{entries[1].key.text}` as kinds of one file, want one"
        note = Note("the other one is here", entries[0].key.span)
        return None, [Diagnostic("E034", message, entries[1].key.span, (note,))]
    remedy = f"want one of {', '.join(quoted(KINDS))}, with an id"
    words = (entry.key for entry in root.entries[:20] if isinstance(entry.value, Scalar))
    hints = ((key.span, hint) for key in words if (hint := did_you_mean(key.text, KINDS)))
    span, hint = next(hints, (_beginning(root), ""))
    return None, [Diagnostic("E034", f"no key gives the kind of this file{hint}", span, help=remedy)]


def _beginning(root: Mapping) -> Span:
    return root.entries[0].key.span if root.entries else root.span


def _check_language(root: Mapping) -> list[Diagnostic]:
    value = root.get("language")
    if value is None:
        at, message = _beginning(root), "missing key `language`, want `language: 2`"
        return [Diagnostic("E035", message, at, help=insert(at.file, at.start, "language: 2\n"))]
    if isinstance(value, Scalar) and value.value == 2:
        return []
    if isinstance(value, Scalar) and value.text == "2":
        message, words = "got the text `2` as language, want the number `2`", "write the number without quotes"
        remedy = write(value.span, "2", f"{words}: `language: 2`")
        return [Diagnostic("E035", message, value.span, help=remedy)]
    got = f"`{value.text}`" if isinstance(value, Scalar) else "something else"
    upgrade = f"`regelwerk fmt --upgrade {value.span.file.name}` converts it"
    help = upgrade if value.span.text == "1" else write(value.span, "2")
    return [Diagnostic("E035", f"got the language {got}, want `2`", value.span, help=help)]


def _check_place(document: Document, id: str) -> list[Diagnostic]:
    if document.id == id:
        return []
    message = f"the file has the id `{document.id}`, but its path is that of `{id}`"
    return [Diagnostic("W001", message, _header_span(document), severity="warning")]


def _wrong_kind(document: Document, kind: str, name: str) -> Diagnostic:
    message = f"got {A_KIND[document.kind]}, want {A_KIND[kind]} in the file `{name}`"
    return Diagnostic("E036", message, _header_span(document))


def _header_span(document: Document) -> Span:
    return document.root[document.kind].span


# -- files -------------------------------------------------------------------------------------------------------------


def _read_file(path: Path, name: str, at: Span | None) -> _Read:
    document, diagnostics = _newly_read(path, name, at)
    if document is None:
        looked_at("form", path)
        looked_at("file", path)
    return document, diagnostics


def _newly_read(path: Path, name: str, at: Span | None) -> _Read:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return None, [Diagnostic("E030", f"`{name}` is a folder, want a file", at)]
        if not stat.S_ISREG(status.st_mode):
            return None, [Diagnostic("E030", f"`{name}` is not a regular file", at)]
        if status.st_size > MAX_BYTES:
            return None, [too_large(SourceFile(name, ""))]
        data = unsaved_bytes(path)
        data = path.read_bytes() if data is None else data
    except FileNotFoundError:
        return None, [Diagnostic("E030", f"no file `{name}`{_near(path)}", at)]
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        return None, [Diagnostic("E030", f"cannot read `{name}`: {reason}", at)]
    key, version = (name, Path(os.path.abspath(path))), digest(data)
    looked_at("file", path, version)
    versions = _known.pop(key, {})
    read = versions.pop(version, None)
    if read is None:
        file, problems = decode(name, data)
        read = (None, problems) if problems else read_document(file, path)
    versions[version] = read
    if len(versions) > MOST_VERSIONS:
        del versions[next(iter(versions))]
    _known[key] = versions
    if len(_known) > MOST_FILES:
        _known.pop(next(iter(_known)), None)  # another thread may have been faster
    document, diagnostics = read
    return document, list(diagnostics)


def no_file_in(folder: Path) -> Diagnostic:
    """Return the error of a folder without files to read."""
    return Diagnostic("E030", f"no `.yaml` file in the folder `{folder.as_posix()}`", None)


def _near(path: Path) -> str:
    looked_at("names", path.parent / "*")
    return did_you_mean(path.name, names_in(path.parent, "*"))


def files_at(root: Path, place: str) -> list[Path]:
    """Return the files below a root whose path matches a pattern with `*` for any part of a name."""
    *above, last = place.split("/")
    folders = [root]
    for pattern in above:
        folders = [folder / name for folder in folders for name in _folders(folder, pattern)]
    paths = [folder / name for folder in folders for name in _names(folder, last)]
    return sorted(path for path in paths if os.path.isfile(path))


@looks_once
def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files in a folder and its subfolders whose name matches a pattern."""
    paths: list[Path] = []
    for place, folders, _ in os.walk(folder):
        looked_at("folders", place)
        paths.extend(Path(place, name) for name in _names(Path(place), pattern))
        folders.sort()
    return sorted(paths)


def _names(folder: Path, pattern: str) -> list[str]:
    """Return the names in a folder that match a pattern. A pattern without `*` is returned without looking."""
    if "*" not in pattern:
        looked_at("form", folder / pattern)
        return [pattern]
    looked_at("names", folder / pattern)
    return names_in(folder, pattern)


def _folders(folder: Path, pattern: str) -> list[str]:
    """Return the folders in a folder for `*`; return any other pattern as :func:`_names` does."""
    if pattern != "*":
        return _names(folder, pattern)
    looked_at("folders", folder)
    return folders_in(folder)


def _from_here(path: Path) -> str:
    """Return a path for display: relative to the current folder if it is below it."""
    here = Path(os.path.abspath(path))
    return (here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else path).as_posix()


def _is_below(root: Path, path: Path) -> bool:
    """Return whether a path is below its root when all links are resolved."""
    above, place = os.path.realpath(root), os.path.realpath(path)
    looked_at("place", root, above)
    looked_at("place", path, place)
    return place == above or place.startswith(os.path.join(above, ""))


@looks_once
def resolved(path: Path) -> Path:
    """Return a path with all links resolved, or as an absolute path if links are circular."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return Path(os.path.abspath(path))


def _id_at(kind: str, place: Path) -> str | None:
    """Return the id that the path of a file below a root determines, or None."""
    folder = place.parts[0]
    name = folder if kind in ("family", "waivers") else place.stem
    id = f"{folder}/{name}" if "{folder}" in KINDS[kind] else name
    return id if place_of(kind, id) else None


def _headers(path: Path) -> dict[str, str]:
    """Return keys and ids that look like headers, from the first 64 kB of a file."""
    looked_at("file", path)
    try:
        with path.open("rb") as stream:
            text = stream.read(1 << 16).decode("utf-8", errors="replace")
    except OSError:
        return {}
    headers: dict[str, str] = {}
    for match in _HEADER.finditer(text.replace("\r\n", "\n")):
        headers.setdefault(match[1], match[2])
    return headers


def _kind_of(path: Path) -> str | None:
    headers = _headers(path)
    return "ruleset" if "ruleset" in headers else next(iter(headers), None)


def _own_root(path: Path) -> Path:
    """Return the folder of rulesets that contains a file, judging by its header, else the file's own folder."""
    looked_at("form", path)
    if not os.path.isfile(path):
        above = path.parent.parent
        return above if _is_root(above) and path.stem in Shelf([above, *ruleset_roots()], ahead=1).made else path.parent
    kind = _kind_of(path)
    if kind == "ruleset":
        return path.parent.parent if _is_root(path.parent.parent) else path.parent
    place = place_of(kind, _headers(path)[kind]) if kind else None
    if place and path.as_posix().endswith(f"/{place}"):
        return path.parents[len(Path(place).parts) - 1]
    return path.parent


def _is_root(folder: Path) -> bool:
    """Return whether a folder looks like a folder of rulesets: it contains a file of some kind at the right path."""
    places = {KINDS[kind].format(folder="*", name="*") for kind in KINDS if kind not in _BY_HEADER}
    return any(files_at(folder, place) for place in sorted(places))
