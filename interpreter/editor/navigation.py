"""Navigation in files: hover, definition, references and outline.

The input is a :class:`~interpreter.editor.workspace.Desk` and a position: a path and an offset in characters. The
results are Markdown texts and places. The module does not depend on the language server protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from msgspec import Struct

from interpreter.base.source import SourceFile, Span
from interpreter.base.yaml_values import word
from interpreter.editor.workspace import Desk, Home
from interpreter.explain.cross_reference import WORDS
from interpreter.explain.mentions import Meaning, Mention, holders_of
from interpreter.explain.symbols import declared, described, mentions, own_uses, signature_text
from interpreter.language.builtins import FUNCTIONS
from interpreter.language.parse import remembered
from interpreter.reading.file_declarations import sections_of
from interpreter.reading.files import KINDS, Document, files_at, files_below
from interpreter.reading.yaml import Entry, Mapping, Scalar, Sequence, Value
from interpreter.sections.documents import NAMED_SECTIONS
from interpreter.sections.lookup import documentation

__all__ = ["Answers", "Place", "Symbol", "unquoted", "values_in"]


class Place(Struct, frozen=True):
    """A span with the path of its file."""

    path: Path
    span: Span


class Symbol(Struct, frozen=True):
    """A section or declaration of a file, with those inside it. ``name_span`` is the span of its name."""

    name: str
    kind: str
    span: Span
    name_span: Span
    children: tuple[Symbol, ...] = ()


@dataclass
class Answers:
    """Queries about the files on a desk."""

    desk: Desk

    def __post_init__(self) -> None:
        self._mentions: dict[Path, tuple[Document, Home, list[Mention]]] = {}

    # --- names

    def mentions(self, path: Path, home: Home | None = None) -> list[Mention]:
        """Return all names in a file with their meanings in a ruleset that contains it."""
        document = self.desk.readable(path)
        if document is None:
            return []
        home = home or self.desk.home(path)
        if home is None:
            return []
        known = self._mentions.get(path)
        if known is None or known[0] is not document or known[1] is not home:
            with remembered(self.desk.trees):
                known = self._mentions[path] = (document, home, mentions(document, home.examined))
        return known[2]

    def mention(self, path: Path, offset: int) -> Mention | None:
        """Return the name at a position, the shortest if there are several."""
        here = [each for each in self.mentions(path) if _holds(each.span, offset)]
        return min(here, key=lambda each: (each.span.end - each.span.start, each.declares), default=None)

    # --- hover

    def hover(self, path: Path, offset: int) -> tuple[str, Span] | None:
        """Return the hover text at a position, as Markdown, with its range."""
        mention, home = self.mention(path, offset), self.desk.home(path)
        if mention is not None and home is not None and (text := self._about(mention, home, path)):
            return text, mention.span
        return self._key(path, offset) or (self._parameter(home, path, offset) if home is not None else None)

    def _parameter(self, home: Home, path: Path, offset: int) -> tuple[str, Span] | None:
        """Return the type of a parameter in a layer, which repeats no head."""
        model, composition, document = home.examined.model, home.examined.composition, self.desk.readable(path)
        if model is None or composition is None or document is None:
            return None
        words = re.finditer(r"[a-z]\w*", document.file.text)
        word = next((each for each in words if each.start() <= offset <= each.end()), None)
        for name, layers in composition.sections.get("rules", {}).items():
            if word is not None and any(each.span.file == document.file and offset in each.extent for each in layers):
                type_ = dict(model.signatures[name].parameters).get(word[0]) if name in model.signatures else None
                text = _code(f"{word[0]}: {model.word(type_)}") if type_ is not None else ""
                return (text, document.file.at(word.start(), len(word[0]))) if text else None
        return None

    def _about(self, mention: Mention, home: Home, path: Path) -> str:
        meaning, model = mention.meaning, home.examined.model
        if model is None:
            return ""
        match meaning.section:
            case "statements":
                return self._statement(home, meaning.name)
            case "files":
                return self._file(path, meaning)
            case "locals":
                type_ = mention.type
                return _code(f"{meaning.name}: {model.word(type_)}" if type_ else meaning.name)
            case "helpers":
                return f"{_code(meaning.name)}\n\na private rule or weight of this file"
            case "functions":
                return f"{_code(described(model, meaning))}\n\n{FUNCTIONS[meaning.name].about}"
            case "language":
                uses = own_uses(meaning.name).items()
                return "\n\n".join([_code(meaning.name), *(f"{use}: {about}" for use, about in uses)])
            case "base":
                return f"{_code(signature_text(model, meaning.name))}\n\nthe layer below, `{meaning.span}`"
            case "rules":
                return self._rule(home, meaning.name)
        text = described(model, meaning) or f"{WORDS.get(meaning.section, meaning.section.rstrip('s'))} {meaning.name}"
        return "\n\n".join(filter(None, [_code(text), self._origin(home, meaning)]))

    def _rule(self, home: Home, name: str) -> str:
        """Return signature, form, and every layer with its cited statements, uppermost first."""
        model, composition = home.examined.model, home.examined.composition
        assert model is not None
        assert composition is not None
        form = {"is": "a function", "does": "a procedure", "permits": "a verdict"}
        signature = model.signatures.get(name)
        parts = [_code(signature_text(model, name)), form.get(signature.form, "") if signature else ""]
        for entry in reversed(composition.layers("rules", name)):
            covers = f", {entry.covers[0]} `{entry.covers[1]}`" if entry.covers else ""
            when = " and ".join(f"`{guard.text}`" for guard in entry.conditions)
            about = entry.remarks.about
            head = f"- `{entry.span}`{covers}{f', when {when}' if when else ''}{f': {about}' if about else ''}"
            cites = [scalar.text for scalar in entry.cited]
            quoted = [f"  - {id} {statement.text}" for id in cites if (statement := home.examined.statements.get(id))]
            more = [f"  - … and {len(quoted) - 6} more"] if len(quoted) > 6 else []
            parts.append("\n".join([head, *quoted[:6], *more]))
        return "\n\n".join(filter(None, parts))

    def _origin(self, home: Home, meaning: Meaning) -> str:
        """Describe where a name is declared, its `about` and its citations."""
        places = declared(home.examined, meaning)
        layers = home.examined.composition.layers(meaning.section, meaning.name) if home.examined.composition else []
        about = [layer.remarks.about for layer in layers]
        cites = list(dict.fromkeys(scalar.text for layer in layers for scalar in layer.cited))
        quoted = [f"- {id} {each.text}" for id in cites if (each := home.examined.statements.get(id))]
        places_ = ", ".join(f"`{place}`" for place in places)
        return "\n\n".join(filter(None, [*about, "\n".join(quoted[:8]), places_]))

    def _statement(self, home: Home, id: str) -> str:
        statement = home.examined.statements.get(id)
        if statement is None:
            return ""
        reading = f"\n\nread as: {statement.reading}" if statement.reading else ""
        return f"**{id}** {statement.text}{reading}\n\n{statement.kind}, {statement.phase or '—'}, `{statement.book}`"

    def _file(self, path: Path, meaning: Meaning) -> str:
        id = meaning.name
        for document in self._files_called(path, meaning):
            about = document.head.about or document.head.title
            return "\n\n".join(filter(None, [f"{document.kind} **{id}**", about, f"`{document.file.name}`"]))
        return ""

    def _key(self, path: Path, offset: int) -> tuple[str, Span] | None:
        """Return the schema's description of a key."""
        document = self.desk.readable(path)
        steps: list[str] = []
        value: Value | None = document.root if document is not None else None
        while value is not None:
            if isinstance(value, Sequence):
                steps.append("0")
                value = next((item for item in value.items if _holds(item.span, offset)), None)
                continue
            entries = value.entries if isinstance(value, Mapping) else ()
            entry = next((e for e in entries if _holds(e.key.span.to(e.value.span), offset)), None)
            if entry is None or document is None:
                return None
            steps.append(entry.key.text)
            if _holds(entry.key.span, offset):
                text = documentation(document.kind, steps)
                return (f"{_code(entry.key.text)}\n\n{text}", entry.key.span) if text else None
            value = entry.value
        return None

    # --- places

    def definition(self, path: Path, offset: int) -> list[Place]:
        """Return the position that introduces the name at a position; for an override, the layer below."""
        mention, home = self.mention(path, offset), self.desk.home(path)
        if mention is None or home is None:
            return []
        meaning = mention.meaning
        if meaning.section == "statements":
            return list(self._statement_places(path, meaning.name))
        if meaning.section == "files":
            return self._file_places(path, mention)
        places = declared(home.examined, meaning)
        if mention.declares and mention.span in places and places.index(mention.span) > 0:
            places = [places[places.index(mention.span) - 1]]
        return self._placed(places[:1])

    def _placed(self, spans: list[Span]) -> list[Place]:
        return [Place(found, span) for span in spans if (found := self.desk.path_of(span)) is not None]

    def _file_places(self, path: Path, mention: Mention) -> list[Place]:
        """Return the place of a named file; inside a declaration, that of the declaration of the same name there."""
        document = self.desk.readable(path)
        holders = [entry.key.text for entry in holders_of(document, mention.span)] if document else []
        for file in self._files_called(path, mention.meaning):
            spans = [entry.key.span for _, entry in sections_of(file) if entry.key.text in holders[-1:]]
            return self._placed(spans[:1] or [file.root[file.kind].span])
        return []

    def _files_called(self, path: Path, meaning: Meaning) -> Iterator[Document]:
        """Yield the files with an id. A family may have the same id as one of its rulesets."""
        kinds = [kind for kind in KINDS if (kind == "ruleset") == (meaning.of == "ruleset")]
        return (document for kind in kinds if (document := self.desk.called(path, kind, meaning.name)) is not None)

    def _statement_places(self, path: Path, id: str) -> Iterator[Place]:
        for root in self.desk.shelf(path).roots:
            for file in files_at(root, "*/statements/*.csv"):
                source = SourceFile(file.as_posix(), file.read_text(encoding="utf-8", errors="replace"))
                if match := re.search(rf'^"?{re.escape(id)}"?,', source.text, re.MULTILINE):
                    yield Place(file, Span(source, match.start(), match.start() + len(id)))
                    return

    # --- uses

    def family_files(self, path: Path, name: str) -> list[tuple[Path, Home]]:
        """Return all files that contain a name as a word, each with a ruleset that contains it. The search covers the
        files of the rulesets of ``path``, and the overlays, policies and scenarios of their families."""
        homes: dict[Path, Home] = {}
        folders: set[Path] = set()
        roots = [root for root in self.desk.shelf(path).roots if path.is_relative_to(root)]
        for home in self.desk.homes(path):
            for document in home.files:
                homes.setdefault(document.path.resolve(), home)
                if document.kind in ("family", "edition"):
                    folder = document.path.parent if document.kind == "family" else document.path.parent.parent
                    folders |= {folder, *(root / folder.name for root in roots)}
        with_name = {file: home for file, home in homes.items() if self._says(file, name)}
        for file in (file.resolve() for folder in sorted(folders) for file in files_below(folder, "*.yaml")):
            if file not in homes and self._says(file, name) and (other := self.desk.home(file)) is not None:
                with_name[file] = other
        return list(with_name.items())

    def _says(self, path: Path, name: str) -> bool:
        """Return whether a file contains a word."""
        try:
            return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.desk.file(path).text) is not None
        except OSError:
            return False

    def references(self, path: Path, offset: int, *, declarations: bool = True) -> list[Place]:
        """Return all occurrences of the name at a position."""
        mention = self.mention(path, offset)
        if mention is None:
            return []
        meaning = mention.meaning
        if meaning.section in ("locals", "helpers"):
            here = [each for each in self.mentions(path) if each.meaning == meaning]
            return [Place(path, each.span) for each in here if declarations or not each.declares]
        return self.uses(path, meaning, declarations=declarations)

    def uses(self, path: Path, meaning: Meaning, *, declarations: bool = True) -> list[Place]:
        """Return all occurrences of a meaning in the family."""
        return [
            Place(file, each.span)
            for file, home in self.family_files(path, meaning.word)
            for each in self.mentions(file, home)
            if _same(each.meaning, meaning) and (declarations or not each.declares)
        ]

    def nodes_called(self, path: Path, meaning: Meaning) -> list[Place]:
        """Return all occurrences of a node, in the files of the rulesets that have its map. Scenarios name it as the
        value of a choice too."""
        own = self.desk.home(path)
        maps = set(declared(own.examined, meaning)) if own is not None else set()
        found: list[Place] = []
        for file, within in self.family_files(path, meaning.name):
            homes = (each for each in (within, *self.desk.homes(file)) if maps & set(declared(each.examined, meaning)))
            if (home := next(homes, None)) is None:
                continue
            spans = [each.span for each in self.mentions(file, home) if _same(each.meaning, meaning)]
            document = self.desk.readable(file)
            if document is not None and document.kind == "scenarios":
                values = (value for _, value in values_in(document.root) if isinstance(value, Scalar))
                spans += [value.span for value in values if value.text == meaning.name]
            found += [Place(file, unquoted(span)) for span in spans]
        return list(dict.fromkeys(found))

    # --- outline

    def search(self, query: str, most: int = 200) -> Iterator[tuple[Place, Symbol]]:
        """Yield declarations with these letters in their name, in all files beside the open ones."""
        roots = {root: None for path in self.desk.texts or (Path.cwd() / "_",) for root in self.desk.shelf(path).roots}
        files = (file.resolve() for root in roots for file in files_below(root, "*.yaml"))
        found = (
            (Place(file, symbol.name_span), symbol)
            for file in files
            if query.lower() in self.desk.file(file).text.lower()
            for section in self.symbols(file)
            for symbol in (section, *section.children)
            if symbol.kind != "section" and query.lower() in symbol.name.lower()
        )
        return islice(found, most)

    def folds(self, path: Path) -> list[tuple[int, int]]:
        """Return the first and last line of each value, rule text or list of several lines."""
        document = self.desk.document(path)
        values = values_in(document.root) if document is not None else ()
        lines = ((start.line, value.span.file.position(value.span.end)[0]) for start, value in values)
        return [(first, last) for first, last in lines if first < last]

    def symbols(self, path: Path) -> list[Symbol]:
        """Return the sections and declarations of a file."""
        document = self.desk.readable(path)
        return list(_symbols(document.root, document.kind)) if document is not None else []


def values_in(value: Value) -> Iterator[tuple[Span, Value]]:
    """Yield all values below a value, each with the position where it can be folded: that of its key."""
    entries = [(each.key.span, each.value) for each in value.entries] if isinstance(value, Mapping) else []
    items = [(each.span, each) for each in value.items] if isinstance(value, Sequence) else []
    for start, inner in (*entries, *items):
        yield start, inner
        yield from values_in(inner)


def unquoted(span: Span) -> Span:
    quote = span.text[:1] in ("'", '"')
    return Span(span.file, span.start + quote, span.end - quote)


def _same(a: Meaning, b: Meaning) -> bool:
    """Return whether two meanings denote one thing. Locals are also compared by their declaration."""
    if {a.section, b.section} & {"locals", "helpers"}:
        return a == b
    return (a.section, a.name, a.of) == (b.section, b.name, b.of)


def _symbols(root: Mapping, kind: str) -> Iterator[Symbol]:
    for entry in root.entries:
        name = entry.key.text
        inside: tuple[Symbol, ...] = ()
        if isinstance(entry.value, Mapping):
            if name in ("seats", "parts", "with"):
                inside = tuple(
                    _symbol(e, "part", _symbols(e.value, kind))
                    for e in entry.value.entries
                    if isinstance(e.value, Mapping)
                )
            elif name in NAMED_SECTIONS or name == "is":
                inside = tuple(_symbol(e, name) for e in entry.value.entries)
        elif kind == "scenarios" and name == "is":
            items = getattr(entry.value, "items", ())
            for item in items:
                title = item.entry("name") if isinstance(item, Mapping) else None
                if title is not None:
                    inside += (Symbol(word(title.value), "scenarios", item.span, title.value.span),)
        if inside or name == kind:
            label = word(entry.value) if name == kind else name
            yield _symbol(entry, "section", inside, label)


def _symbol(entry: Entry, kind: str, inside: Iterable[Symbol] = (), name: str = "") -> Symbol:
    children = tuple(inside)
    return Symbol(name or entry.key.text, kind, entry.key.span.to(entry.value.span), entry.key.span, children)


def _holds(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end


def _code(text: str) -> str:
    return f"```text\n{text}\n```"
