"""What each kind of file may hold, and how an author is told what does not fit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.paths import schema_folder
from interpreter.base.source import SourceFile
from interpreter.reading.files import KINDS
from interpreter.reading.schema import check_schema
from interpreter.reading.yaml import read_yaml

LANGUAGE = Path(__file__).parents[2] / "docs" / "language.md"
FAMILY = "language: 2\nfamily: x\n"
HEADERS = {
    "ruleset": "ruleset: a\ntitle: A\nfamily: x\nedition: x/a\n",
    "family": "family: x\n",
    "edition": "edition: x/a\nextends: x\n",
    "map": "map: x/a\n",
    "deck": "deck: x/a\ncards: {z: 1}\n",
    "overlay": "overlay: x/a\nover: [x/b]\n",
    "rulesets": 'rulesets: x/a\ncalled: "{map}-a"\ntitle: "{map}"\n',
    "library": "library: x/a\n",
    "policies": "policies: x/a\nis: {}\n",
    "scenarios": "scenarios: x/a\nis: [{name: a, ruleset: b}]\n",
    "waivers": "waivers: x\nis: [{id: AB-1, reason: a}]\n",
    "words": "words: x/de\nis: {seat: Spieler}\n",
}


def check(text: str, kind: str = "family") -> list[Diagnostic]:
    root, found = read_yaml(SourceFile("x.yaml", text))
    assert root is not None, found
    assert found == []
    return check_schema(kind, root)


def told(text: str, kind: str = "family", header: str = FAMILY) -> list[tuple[str, str, str]]:
    """Code, message and the place with what stands there."""
    found = check(header + text, kind)
    return [(d.code, d.message, d.span.text.split("\n")[0] if d.span else "") for d in found]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_schema_that_takes_its_header(kind: str) -> None:
    assert check(f"language: 2\n{HEADERS[kind]}", kind) == []
    about = "about: what it is\nprovenance: from the box\n"
    assert check(f"language: 2\n{HEADERS[kind]}{about}", kind) == []
    assert [d.code for d in check(f"language: 2\n{HEADERS[kind]}surprise: 1\n", kind)] == ["E101"]
    assert [d.code for d in check(HEADERS[kind], kind)] == ["E102"]


def kind_of_block(block: str) -> tuple[str, str]:
    if "nodes: |" in block:
        return "map", HEADERS["map"] + block
    if "number | burns" in block:
        return "deck", "deck: x/a\n" + block
    for kind in ("rulesets", "overlay", "policies", "scenarios", "waivers", "words"):
        if block.startswith(f"{kind}: "):
            return kind, block
    return "overlay", HEADERS["overlay"] + block


EXAMPLES = re.findall(r"```yaml\n(.*?)```", LANGUAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", EXAMPLES)
def test_the_examples_of_the_documentation_fit(block: str) -> None:
    kind, text = kind_of_block(block)
    assert check("language: 2\n" + text, kind) == []


def test_short_examples_fit() -> None:
    part = "{when: who.buys == 1, cites: [RB-P2-1b], rules: {a: {is: b}}, policies: {p: {d: {prefer: c}}}}"
    for line in [
        "players: 2",
        "players: 3..6",
        "players: {range: 3..6, otherwise: the book says so}",
        f"parts: {{a: {part}}}",
    ]:
        assert told(line, "overlay", "language: 2\n" + HEADERS["overlay"]) == []
    more = "layer: last\nafter: [x/b]\nnot_with: [x/c]\nrulebook: [a, b]\n"
    more += "with: {x/b: {rules: {a: {is: b}}, says: {a.b: c}}}\n"
    assert told(more, "overlay", "language: 2\n" + HEADERS["overlay"]) == []
    assert told("says: {auction: {en: Auction, de: Auktion}}\n") == []
    assert told("kinds: {region: {amends: x, is: [a, b]}}\ntokens: {t: {amends: x, coal: 3}}\n") == []
    assert told("seats: {has: {money: {amends: x, start: 60}}}\n") == []
    assert told("tables: {t: {replaces: x, is: 'a | b'}}\n") == []
    assert told("triggers: {t: {on: x, does: y}}\nstanding: {s: {whenever: a, does: b}}\n") == []


@pytest.mark.parametrize(
    ("text", "code", "message", "there"),
    [
        ("tabels: {}", "E101", "unknown key `tabels`; did you mean `tables`?", "tabels"),
        ("zones: {a: {of: card, oder: kept}}", "E101", "unknown key `oder`; did you mean `order`?", "oder"),
        ("title: 3", "E103", "got `3`, want text", "3"),
        ("title:", "E103", "got nothing, want text", "title"),
        ("title: [a]", "E103", "got a list, want text", "[a]"),
        ("title: true", "E103", "got `true`, want text", "true"),
        ("title: ''", "E104", "got empty text, want text", "''"),
        ("rules: [a]", "E103", "got a list, want keys with values", "[a]"),
        ("rules: {a: {is: true}}", "E103", "got `true`, want rule text", "true"),
        (
            "zones: {a: {of: card, seen: nobody}}",
            "E104",
            "got the text `nobody`, want `everyone`, `owner`, `no one` or `by RULE`",
            "nobody",
        ),
        ("zones: {a: {of: card, order: by}}", "E104", "got the text `by`, want `kept`, `free` or `by RULE`", "by"),
        ("seats: {roles: {p: {counts: true}}}", "E104", "got `true`, want `yes` or `no`", "true"),
        (
            "rules: {A: {is: b}}",
            "E106",
            "got the name `A`, want a name of lower-case words joined by `_`, perhaps with a head such as "
            "`(who) -> int`",
            "A",
        ),
        ("rules: {a: {cites: [A-1]}}", "E105", "missing key: want one of `is`, `does` or `permits`", "a"),
        ("rules: {a: {is: b, does: c}}", "E105", "got `is` and `does` together, want one of them", "does"),
        (
            "rules: {a: {wraps: x, is: b, replaces: y}}",
            "E105",
            "got `wraps` and `replaces` together, want one of them",
            "replaces",
        ),
        (
            "rules: {a: {is: b, cites: [x]}}",
            "E104",
            "got the text `x`, want the id of a statement, such as `AB-012`",
            "x",
        ),
        ("rules: {a: {is: b, cites: [A-1, A-1]}}", "E107", "got the text `A-1` twice, want it once", "A-1"),
        ("round: []", "E107", "got an empty list, want at least one item", "[]"),
        ("tables: {t: {keys: [a], is: b}}", "E102", "missing key `gives`, want `keys`, `gives` and `is`", "t"),
        ("tables: {t: {replaces: x}}", "E102", "missing key `is`", "t"),
        (
            "tables: {t: {replaces: x, is: a, cells: {a: 1}}}",
            "E105",
            "`cells` needs `amends` too",
            "cells",
        ),
        (
            "seats: {has: {m: {pool: a, zone: b}}}",
            "E105",
            "got `pool` and `zone` together, want one of them",
            "zone",
        ),
        (
            "seats: {has: {m: {start: 3}}}",
            "E105",
            "missing key: want one of `zone`, `pool`, `track`, `value` or `stock`",
            "m",
        ),
        (
            "seats: {has: {m: {pool: a, order: kept}}}",
            "E105",
            "`order` needs `zone` too",
            "order",
        ),
        (
            "kinds: {k: 3}",
            "E103",
            "got `3`, want `open` or a range such as `1..3`, a list of names or keys with values",
            "3",
        ),
        ("kinds: {k: [a, B]}", "E104", "got the text `B`, want a name of lower-case words joined by `_`", "B"),
        ("kinds: {k: {is: [a, 1]}}", "E103", "got `1`, want a name of lower-case words joined by `_`", "1"),
        ("tokens: {t: {a: -1}}", "E104", "got `-1`, want a whole number that is not negative or `open`", "-1"),
        ("cards: {c: {kee: n, has: {}}}", "E101", "unknown key `kee`; did you mean `key`?", "kee"),
        ("boards: {b: {when: end of}}", "E104", "got the text `end of`, want a moment such as `end of game`", "end of"),
        ("says: {a: {english: b}}", "E106", "got the name `english`, want a language code such as `en`", "english"),
    ],
)
def test_what_does_not_fit_is_told_at_its_place(text: str, code: str, message: str, there: str) -> None:
    assert told(text) == [(code, message, there)]


def test_all_errors_are_told_in_the_order_of_the_file() -> None:
    text = "titel: a\nrules:\n  a: {is: true}\n  B: {is: b}\n  c:\nround: 3\n"
    found = check(FAMILY + text)
    assert [(d.code, d.span.line if d.span else 0) for d in found] == [
        ("E101", 3),
        ("E103", 5),
        ("E106", 6),
        ("E104", 7),
        ("E103", 8),
    ]


def test_a_short_list_of_known_keys_is_given_as_help() -> None:
    (found,) = check("language: 2\n" + HEADERS["deck"] + "sorts: x\n", "deck")
    assert found.help == (
        "known here: `language`, `deck`, `title`, `rulebook`, `cites`, `about`, `provenance`, `cards`"
    )


def test_a_key_of_another_kind_of_file_is_said_to_belong_there() -> None:
    overlay = "language: 2\n" + HEADERS["overlay"] + "nodes: x\nrules: {x: {is: 1, nodes: 2}}\n"
    found = [(each.message, each.help) for each in check(overlay, "overlay")]
    assert found[0] == ("unknown key `nodes`", "`nodes` belongs in a map")  # not `zones`, which has similar letters
    assert "belongs" not in str(found[1:])  # only keys of a file as a whole have such a place
    (found_in_family,) = check(FAMILY + "rulebook: x\n")
    assert found_in_family.help == "`rulebook` belongs in a deck, an edition, a map or an overlay"


@pytest.mark.parametrize(("kind", "key", "meant"), [("ruleset", "overlay", "overlays"), ("ruleset", "maps", "map")])
def test_a_letter_too_few_or_many_does_not_belong_elsewhere(kind: str, key: str, meant: str) -> None:
    (found,) = check("language: 2\n" + HEADERS[kind] + f"{key}: x\n", kind)
    assert (found.message, found.help) == (f"unknown key `{key}`; did you mean `{meant}`?", None)


def test_long_and_many_line_texts_are_cut() -> None:
    ((_, message, _),) = told(f"kinds:\n  k: |\n    {'x' * 200}\n    `y`\n")
    assert "…" in message
    assert len(message) < 160
    assert "\n" not in message


def keys_of(schema: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every schema of a key, with a path to it."""
    found: list[tuple[str, dict[str, Any]]] = []
    if isinstance(schema, dict):
        for name, sub in schema.get("properties", {}).items():
            found.append((f"{path}/{name}", sub))
        for name, sub in schema.items():
            found.extend(keys_of(sub, f"{path}/{name}"))
    elif isinstance(schema, list):
        for number, sub in enumerate(schema):
            found.extend(keys_of(sub, f"{path}/{number}"))
    return found


SCHEMAS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in schema_folder().glob("*.json")}


def test_schemas_are_schemas() -> None:
    from jsonschema import Draft202012Validator

    assert set(SCHEMAS) == {f"{kind}.schema.json" for kind in [*KINDS, "common"]}
    for name, schema in SCHEMAS.items():
        Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"https://regelwerk.invalid/schemas/{name}"
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_key_has_a_description_that_editors_show() -> None:
    common = SCHEMAS["common.schema.json"]["$defs"]
    for name, schema in SCHEMAS.items():
        for path, sub in keys_of(schema):
            described = "description" in sub or "description" in common[sub["$ref"].rpartition("/")[2]]
            assert described, f"{name}{path}"


def test_every_reference_leads_somewhere() -> None:
    common = SCHEMAS["common.schema.json"]["$defs"]
    for name, schema in SCHEMAS.items():
        for target in re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema)):
            file, _, pointer = target.partition("#/$defs/")
            assert file == ("" if name == "common.schema.json" else "common.schema.json")
            assert pointer in common
    used = re.findall(r"#/\$defs/(\w+)", json.dumps(list(SCHEMAS.values())))
    assert set(common) == set(used)


def test_the_same_sections_stand_in_all_layers() -> None:
    sections = set(SCHEMAS["common.schema.json"]["$defs"]["sections"]["properties"]) | {"with"}
    for kind in ("family", "edition", "map", "overlay"):
        assert sections <= set(SCHEMAS[f"{kind}.schema.json"]["properties"])
        assert SCHEMAS[f"{kind}.schema.json"]["additionalProperties"] is False


WORDS = st.sampled_from(
    ["a", "B_c", "is", "does", "cites", "amends", "keys", "zone", "of", "when", "x/y", "yes", "1..3", ""]
)
VALUES = st.recursive(
    st.one_of(st.integers(-3, 3), WORDS, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)
SECTIONS = st.sampled_from(sorted({key for schema in SCHEMAS.values() for key in schema.get("properties", ())}))


@settings(deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.dictionaries(st.one_of(SECTIONS, st.text(max_size=3)), VALUES, max_size=4))
def test_any_document_is_safe_to_check(kind: str, data: dict[str, Any]) -> None:
    root, found = read_yaml(SourceFile("x.yaml", json.dumps(data)))
    if root is None:
        assert found
        return
    for diagnostic in check_schema(kind, root):
        assert diagnostic.code in meanings()
        assert diagnostic.span is not None
        assert "\n" not in diagnostic.message
        assert "another value" not in diagnostic.message
        assert "want at least one item" not in diagnostic.message or diagnostic.code == "E107"
