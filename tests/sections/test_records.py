"""What the types of the sections say, and what a record reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interpreter.authoring.file_syntax import check_alone
from interpreter.base.paths import ruleset_roots
from interpreter.base.source import Excerpt, SourceFile
from interpreter.base.yaml_values import is_nothing, word
from interpreter.language.parse import parse_as
from interpreter.reading.files import Document, read_document
from interpreter.reading.yaml import Mapping, excerpt, read_yaml
from interpreter.sections.atoms import Whole
from interpreter.sections.behaviour import Table
from interpreter.sections.declarations import Entry, Layered
from interpreter.sections.documents import FILES, NAMED_SECTIONS, NOUNS, Head
from interpreter.sections.lookup import documentation, forms_at, forms_in, keys_at, scope_at
from interpreter.sections.seating import Belonging
from interpreter.sections.things import Kind, Tokens, Zone
from interpreter.sections.vocabulary import Code, Form, Keys, Record

FAMILY = "language: 2\nfamily: x\n"


def mapping(text: str) -> Mapping:
    root, found = read_yaml(SourceFile("x.yaml", text))
    assert root is not None, found
    return root


def layers(*texts: str) -> list[Entry]:
    """Layers of `it`, each in a file of its own."""
    files = [(f"x/{number}", mapping(f"it: {text}\n").entries[0]) for number, text in enumerate(texts)]
    return [Entry("it", file, "edition", entry.key, entry.value) for file, entry in files]


def document(text: str) -> Document:
    read, found = read_document(SourceFile("x.yaml", FAMILY + text), Path("x.yaml"))
    assert read is not None, found
    return read


def records(record: type[Record], seen: set[type[Record]]) -> Iterator[type[Record]]:
    """The record with all records below it."""
    if record in seen:
        return
    seen.add(record)
    yield record
    waiting: list[Form[object]] = list(record.forms.values())
    while waiting:
        form = waiting.pop()
        if isinstance(form, Keys):
            yield from records(form.record, seen)
        waiting += [*form.inner, *form.below("0")] if not isinstance(form, Keys) else []


def test_a_record_reads_what_is_written_with_its_place() -> None:
    zone = Zone.of_layers(layers("{piles of: card, order: by size, cites: [A-1, A-2]}"))
    assert zone.piles_of is not None
    assert (zone.piles_of.text, zone.piles_of.span.column) == ("card", 16)
    assert (zone.of, zone.seen, zone.about) == (None, None, "")
    assert [cite.text for cite in zone.cites] == ["A-1", "A-2"]
    assert zone.span("order").text == "by size"
    assert "order" in zone
    assert "seen" not in zone


def test_a_record_has_the_keys_of_all_layers() -> None:
    zone = Zone.of_layers(layers("{of: card, seen: owner}", "{amends: x/0, seen: no one}"))
    assert (word(zone.of), word(zone.seen), zone.first.file, zone.entry.file) == ("card", "no one", "x/0", "x/1")
    replaced = Zone.of_layers(layers("{of: card, seen: owner}", "{replaces: x/0, of: tile}"))
    assert (word(replaced.of), replaced.seen) == ("tile", None)


def test_a_value_without_keys_is_what_the_record_is() -> None:
    assert Kind.of_layers(layers("1..3")).span("is").text == "1..3"
    assert [(key.text, number) for key, number in Tokens.of_layers(layers("7")).rest(Whole)] == [("is", 7)]
    amended = Tokens.of_layers(layers("{a: 1, b: 2}", "{amends: x/0, b: 3, about: more}"))
    assert {key.text: number for key, number in amended.rest(Whole)} == {"a": 1, "b": 3}


def test_the_head_of_any_file_is_read_alike() -> None:
    head = Head(mapping("language: 2\noverlay: x/a\nover: [x/b]\nwith:\n  x/c: {setup: start}\n"))
    assert [name.text for name in head.over] == ["x/b"]
    assert [(key.text, paired.setup and paired.setup.text) for key, paired in head.with_] == [("x/c", "start")]
    assert (head.after, head.layer) == ((), "")


def test_every_key_is_described_and_every_section_has_a_name() -> None:
    for record in (each for file in FILES.values() for each in records(file, set())):
        assert [key for key, form in record.forms.items() if not (form.says or form.meaning)] == [], record
        assert set(record.one_of) <= record.forms.keys(), record
        assert issubclass(record, Layered) or not record.section
    assert {"rules", "has", "graph"} <= NOUNS.keys()
    assert NOUNS.keys() - {"has", "graph"} <= {*NAMED_SECTIONS}


def test_every_rule_text_of_the_shipped_files_is_parsed_from_the_start_of_its_key() -> None:
    starts: set[str] = set()
    for root in ruleset_roots():
        for path in sorted(root.rglob("*.yaml")):
            read, _ = read_document(SourceFile(path.name, path.read_text(encoding="utf-8")), path)
            for key, scalar, form in forms_in(read.kind, read.root) if read is not None else ():
                if isinstance(form, Code) and not is_nothing(scalar) and not form.is_template(scalar):
                    text = excerpt(scalar)
                    assert isinstance(text, Excerpt)
                    assert parse_as(form.start, text)[1] == [], f"{path} {key}"
                    starts.add(form.start)
    assert len(starts) == 10


@pytest.mark.parametrize(
    "text",
    [
        "boards: {a: {when: end of game, if: (1}}",
        "boards: {a: {when: end of game, columns: {b: (1}}}",
        "tables: {a: {keys: [players], gives: int, is: 'players', laws: [(1]}}",
        "graph: {node: a, length: (1}",
        "picture: {node: {colour: (1}}",
        "faces: {a: {title: (1}}",
        "table: {a: {columns: {b: (1}}}",
        "table: {a: {tokens: (1}}",
        "result: {rank: [(1]}",
        "round: [{phase: a, when: (1}]",
        "parts: {a: {when: yes, rules: {b: {does: (1}}}}",
        "with: {x/a: {standing: {b: {whenever: yes, does: (1}}}}",
    ],
)
def test_a_single_file_is_checked_for_every_rule_text(text: str) -> None:
    assert [problem.code[:2] for problem in check_alone(document(text))] == ["E2"]


def test_editors_look_up_keys_and_values() -> None:
    assert documentation("family", ["zones", "hand", "seen"]).startswith(
        "Visibility: everyone (default), the owner, no one, or"
    )
    assert documentation("family", ["zones", "hand"]) == "A zone of cards."
    assert {"of", "piles of", "amends", "cites"} <= keys_at("map", ["with", "x/a", "zones", "hand"]).keys()
    assert [word for form in forms_at("family", ["seats", "has", "a", "seen"]) for word in form.allowed] == [
        *("everyone", "owner", "no one")
    ]
    assert [form.definition for form in forms_at("family", ["triggers", "a", "cases", "0", "in", "3"])] == ["name"]
    assert forms_at("family", ["zones", "hand", "nowhere"]) == []
    assert Belonging.forms["value"].definition == "type"
    assert Table.forms["replaces"].says == "The file whose table this one replaces."


def test_a_text_has_the_locals_of_its_record_and_its_own() -> None:
    assert scope_at("family", ["table", "any", "columns", "one"]) == {"me": "seat"}
    assert scope_at("family", ["faces", "plant", "title"]) == {"plant": "plant"}
    assert scope_at("family", ["picture", "link", "colour"]) == {"link": "link"}
    assert scope_at("family", ["graph", "length"]) == {"from": "node", "to": "node", "link": "link"}
    assert scope_at("family", ["result", "rank", "0"]) == {"who": "seat"}
    assert scope_at("family", ["rules", "any", "does"]) == {}
