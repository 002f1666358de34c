"""Texts up to a cursor are completed, and the checker tells what is known there."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest

from interpreter.base.source import Excerpt
from interpreter.language import nodes, unfinished
from interpreter.language.check_quietly import check_quietly
from interpreter.language.grammar import Start
from interpreter.language.parse import parse_as
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.language.types import NODE, SEAT, Type
from interpreter.language.unfinished import CURSOR, finished
from interpreter.language.walk import descendants
from interpreter.loading.load import load
from interpreter.reading.yaml import excerpt
from interpreter.sections.lookup import forms_in
from interpreter.sections.vocabulary import Code

MODEL = load("germany-2018").model


class Seen(Names):
    """Names that remember what is known at the cursor."""

    locals: dict[str, str] | None = None
    expected: str | None = None
    owner: str | None = None

    def missing(self, name: str, frame: Frame, expected: Type | None) -> None:
        if name == CURSOR:
            self.locals = {name: str(local.type) for block in frame.visible for name, local in block.items()}
            self.expected = self.expected or (str(expected) if expected is not None else None)

    def missing_attribute(self, of: Type, name: str) -> None:
        if name == CURSOR:
            self.owner = str(of)


AROUND = {"who": "seat", "city": "node"}


def seen(start: Start, text: str) -> Seen:
    """Return what is known at the end of a text in whose surroundings `who` and `city` have a meaning."""
    names, frame = Seen(MODEL), Frame()
    frame.add("who", SEAT)
    frame.add("city", NODE)
    tree = finished(start, text)
    assert tree is not None, text
    check_quietly(tree, names, frame)
    return names


@pytest.mark.parametrize(
    ("start", "text", "locals_", "expected"),
    [
        ("procedure", "let n = 3\nfor each p in who.plants where p.", None, "plant"),
        ("procedure", "let n = 3\nif n > ", {**AROUND, "n": "int"}, "int"),
        ("procedure", "for each p in who.plants:\n  move ", {**AROUND, "p": "plant"}, None),
        ("function", "count(p in who.plants where p.number > ", {**AROUND, "p": "plant"}, "int"),
        ("function", "price_for(who, ", None, "resource"),
        ("verdict", "let n = 3\nrequire ", {**AROUND, "n": "int"}, "bool"),
        ("matched", "each in seats, p in each.plants where ", {**AROUND, "each": "seat", "p": "plant"}, "bool"),
        ("expression", "end_cities[", AROUND, "int"),
    ],
)
def test_what_is_known_at_the_cursor(
    start: Start, text: str, locals_: dict[str, str] | None, expected: str | None
) -> None:
    found = seen(start, text)
    assert locals_ is None or found.locals == locals_
    assert expected in (None, found.expected, found.owner)


@cache
def texts(id: str) -> list[tuple[Start, Excerpt]]:
    """All rule texts of a ruleset's files, with their start rules."""
    found = (each for document in load(id).composition.documents for each in forms_in(document.kind, document.root))
    codes = ((form.start, excerpt(scalar)) for _, scalar, form in found if isinstance(form, Code))
    return [(start, text) for start, text in codes if isinstance(text, Excerpt) and start != "a_type"]


@pytest.mark.parametrize("id", ["germany-2018", "outpost", "goofspiel"])
def test_names_of_shipped_rules_can_be_typed_anew(id: str) -> None:
    chance, tried = random.Random(id), Counter[bool]()
    for start, text in texts(id):
        tree, _ = parse_as(start, text)
        places = [node.span for node in descendants(tree) if isinstance(node, nodes.Name)]
        for span in chance.sample(places, min(2, len(places))):
            before = text.text[: next_at(text, span.start)]
            tried[finished(start, before) is not None] += 1
    assert tried[True] > 0
    assert tried[False] == 0


def next_at(text: Excerpt, offset: int) -> int:
    """Return the position in a text of an offset in its file."""
    return next(position for position in range(len(text.text)) if text.offset(position) >= offset)


def test_an_error_before_the_cursor_finishes_nothing() -> None:
    assert finished("procedure", "let = 3\nlet b = ") is None
    assert finished("expression", "a ") is None  # no name can follow


def test_a_tree_that_is_too_deep_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for an end among thousands of states would take seconds."""
    assert finished("expression", "(" * 140) is not None
    assert finished("expression", "f(a + g(b, not (c == 1 or [d * " * 13) is not None
    monkeypatch.setattr(unfinished, "_after", None)
    assert finished("expression", "(" * 4000) is None
