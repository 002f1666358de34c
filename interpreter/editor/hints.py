"""Inlay hints: types that a text does not say, and the first words of the sentences behind ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interpreter.editor.navigation import Answers
from interpreter.editor.tokens import inside, texts_of

__all__ = ["hints"]

WORDS = 5
"""Number of words of a sentence that a hint shows."""


def hints(answers: Answers, path: Path, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield the hints between two offsets, each with its place, its text and more about it: the types of each `let` and
    parameter, and the sentence of each cited statement."""
    document, home = answers.desk.document(path), answers.desk.home(path)
    if document is None or home is None or home.examined.model is None:
        return
    texts, text = texts_of(document), document.file.text
    for each in answers.mentions(path):
        at = each.span.end
        if not start <= at <= end:
            continue
        if each.meaning.section == "statements" and (said := home.examined.statements.get(each.meaning.name)):
            words = said.text.split()
            yield at, " " + " ".join(words[:WORDS]) + " …" * (len(words) > WORDS), said.text
        is_new = text.endswith("let ", 0, each.span.start) or not inside(texts, each.span.start)  # a parameter
        if is_new and each.meaning.section == "locals" and each.declares and each.type is not None:
            yield at, f": {home.examined.model.word(each.type)}", ""
