"""Code lenses: what a declaration does to other files, what others do to it, and what proves it.

Answers come from the rulesets that the desk has examined already, so they cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from interpreter.base.plurals import counted, joined
from interpreter.base.source import Span
from interpreter.editor.navigation import Answers, Place
from interpreter.reading.file_declarations import sections_of
from interpreter.reading.files import Document
from interpreter.sections.declarations import Entry

__all__ = ["Lens", "lenses"]


class Lens(Struct, frozen=True):
    """A line above a declaration, with its command: to ``run`` a scenario, ``show`` a pane or ``go`` to a place."""

    span: Span
    title: str
    command: str
    about: Place | str | None


def lenses(answers: Answers, path: Path) -> Iterator[Lens]:
    """Yield the lenses of a file."""
    document = answers.desk.document(path)
    if document is None:
        return
    for symbol in (each for section in answers.symbols(path) for each in section.children if each.kind == "scenarios"):
        yield Lens(symbol.name_span, "run", "run", symbol.name)
    proved = answers.desk.tested(document)
    for section, entry in (each for each in sections_of(document) if each[0] in ("rules", "tables")):
        below, above = _around(answers, document, section, entry.key.text)
        if entry.covers is not None:
            how, file, _ = entry.covers
            yield _leading(answers, entry.span, f"{how} {entry.name} of {file}", below)
        cited = list(dict.fromkeys(scalar.text for scalar in entry.cited))
        if cited:
            without = sum(id not in proved for id in cited)
            state = f"{without} without a scenario" if without else "proved"
            yield Lens(entry.span, f"{counted(len(cited), 'statement')}, {state}", "show", "coverage")
        if above:
            names = joined(layer.file.rpartition("/")[2] for layer in above)
            yield _leading(answers, entry.span, f"changed by {names}", above)


def _leading(answers: Answers, span: Span, title: str, layers: list[Entry]) -> Lens:
    path = answers.desk.path_of(layers[0].span) if layers else None
    return Lens(span, title, "go", Place(path, layers[0].span) if path is not None else None)


def _around(answers: Answers, document: Document, section: str, name: str) -> tuple[list[Entry], list[Entry]]:
    """Return the layers below and above those of a file, one for each file, the nearest first, in all rulesets that the
    desk keeps."""
    below: dict[str, Entry] = {}
    above: dict[str, Entry] = {}
    for home in answers.desk.kept(document):
        layers = home.examined.composition.sections.get(section, {}).get(name, ()) if home.examined.composition else ()
        own = [at for at, layer in enumerate(layers) if layer.file == document.id] or [len(layers)]
        below.update({layer.file: layer for layer in layers[: own[0]][::-1] if layer.file not in below})
        above.update({layer.file: layer for layer in layers[own[-1] + 1 :] if layer.file not in above})
    return list(below.values()), list(above.values())
