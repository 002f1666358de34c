"""What the documentation shows of the shipped rulesets stands in them: statements word by word, YAML as it is."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.samples import samples

ROOT = Path(__file__).parents[1]
RULESETS = ROOT / "rulesets"
QUOTED = re.compile(r"^> (.*) \(([A-Z]+-[0-9A-Za-z]+)\)$", re.MULTILINE)


def is_part(shown: Any, whole: Any) -> bool:
    """Whether something was shown as it is, though not all of it."""
    if isinstance(shown, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(whole, list):
        return all(any(is_part(item, other) for other in whole) for item in shown)
    return bool(shown == whole)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/sentences.md"])
def test_an_excerpt_of_a_ruleset_stands_there(page: str) -> None:
    found = [sample for sample in samples((ROOT / page).read_text(encoding="utf-8")) if sample.kind == "yaml"]
    excerpts = [sample for sample in found if sample.name]
    assert len(excerpts) >= 1
    for sample in excerpts:
        shown = yaml.safe_load(sample.text)
        whole = yaml.safe_load((RULESETS / sample.name).read_text(encoding="utf-8"))
        assert is_part(shown, whole), f"{page}:{sample.line}: not so in {sample.name}"


def test_each_of_ten_sentences_is_a_statement_that_its_yaml_cites() -> None:
    known = {
        row["id"]: row["statement"]
        for path in RULESETS.glob("*/statements/*.csv")
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    }
    _, *pairs = (ROOT / "docs" / "sentences.md").read_text(encoding="utf-8").split("\n## ")
    assert [pair.split(".")[0] for pair in pairs] == [str(number) for number in range(1, 11)]
    for pair in pairs:
        quoted = QUOTED.findall(pair)
        assert len(quoted) == pair.count("\n> ") > 0
        for statement, id in quoted:
            assert statement == known[id]
            assert any(re.search(rf"\b{id}\b", sample.text) for sample in samples(pair)), f"nothing cites {id}"
