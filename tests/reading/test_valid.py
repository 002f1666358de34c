"""The quick test of a file says yes to what `jsonschema` takes, and to nothing else."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.paths import schema_folder
from interpreter.base.source import SourceFile
from interpreter.reading import schema
from interpreter.reading.files import KINDS
from interpreter.reading.valid import UnknownKeyword, _Schema, passes
from interpreter.reading.yaml import plain, read_yaml

ROOT = Path(__file__).parents[2]
OTHERS: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    "",
    "a",
    "A-1",
    "x/y",
    "a b",
    [],
    {},
    ["a", "a"],
    {"a": 1},
    {"is": "x"},
]


@cache
def files() -> list[Any]:
    """All files of the rulesets and tests that are YAML, as plain values."""
    found = []
    for path in sorted([*(ROOT / "rulesets").rglob("*.yaml"), *(ROOT / "tests").rglob("*.yaml")]):
        root, _ = read_yaml(SourceFile(path.name, path.read_bytes().decode("utf-8", errors="replace")))
        if root is not None:
            found.append(plain(root))
    return found


def taken(kind: str, value: Any) -> bool:
    return schema._validator(kind).is_valid(value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_is_judged_alike(kind: str) -> None:
    yes = [value for value in files() if passes(kind, value)]
    assert yes == [value for value in files() if taken(kind, value)]


def test_what_is_nearly_right_is_judged_alike() -> None:
    chance = random.Random(20)
    known = [(kind, value) for value in files() for kind in KINDS if len(repr(value)) < 5000 and passes(kind, value)]
    verdicts = {True: 0, False: 0}
    for _ in range(1500):
        kind, value = chance.choice(known)
        value = copy.deepcopy(value)
        for _ in range(chance.randint(1, 2)):
            spoil(value, chance)
        verdict = taken(kind, value)
        assert passes(kind, value) == verdict, (kind, value)
        verdicts[verdict] += 1
    assert min(verdicts.values()) > 50


def spoil(value: Any, chance: random.Random) -> None:
    """Something in a value is exchanged, left out or said twice."""
    holder, key = chance.choice(places(value) or [([None], 0)])
    match chance.random():
        case number if number < 0.5:
            holder[key] = copy.deepcopy(chance.choice(OTHERS))
        case number if number < 0.7:
            del holder[key]
        case _ if isinstance(holder, dict):
            holder[chance.choice(["x", "Is", "is", "when", "covers", *holder])] = copy.deepcopy(holder[key])
        case _:
            holder.append(copy.deepcopy(chance.choice([*holder, *OTHERS])))


def places(value: Any) -> list[tuple[Any, Any]]:
    match value:
        case dict():
            return [found for key in value for found in [(value, key), *places(value[key])]]
        case list():
            return [found for number, item in enumerate(value) for found in [(value, number), *places(item)]]
        case _:
            return []


def test_every_keyword_of_the_schemas_is_known() -> None:
    """Else each file would be judged twice."""
    for path in schema_folder().glob("*.schema.json"):
        file = _Schema.named(path.name)
        file.at("#")
        for name in json.loads(path.read_text(encoding="utf-8")).get("$defs", {}):
            file.at(f"#/$defs/{name}")


def test_other_keywords_are_left_to_jsonschema() -> None:
    file = _Schema.named("deck.schema.json")
    unknown: list[Any] = [{"patternProperties": {}}, {"enum": [[1]]}, {"allOf": []}]
    for text in unknown:
        with pytest.raises(UnknownKeyword):
            file.test(text)


def test_a_right_file_needs_no_jsonschema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_validator", None)
    root, _ = read_yaml(SourceFile("a.yaml", "language: 1\ndeck: x/a\ncards: {z: 1}\n"))
    assert root is not None
    assert schema.check_schema("deck", root) == []
