"""What JSON has of a record."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from math import inf

import pytest
from msgspec import Struct

from interpreter.base.plain_data import json_of
from interpreter.base.source import SourceFile, Span

SPAN = Span(SourceFile("a.yaml", "one: 1\ntwo: 2\n"), 7, 13)


class Measured(Struct, frozen=True):
    name: str
    span: Span | None
    mean: float
    values: tuple[float, ...] = ()
    unsaid = ("values",)


class Written(Struct, frozen=True):
    name: str

    def as_data(self) -> dict[str, object]:
        return {"name": self.name.upper(), "of": Measured("b", None, 1.0)}


@dataclass
class Counted:
    numbers: Counter[str]
    known: frozenset[int]


@pytest.mark.parametrize(
    ("record", "data"),
    [
        (Measured("a", SPAN, 1 / 3, (1.0,)), {"name": "a", "place": "a.yaml:2:1", "mean": 0.333333}),
        ([Measured("a", None, inf)], [{"name": "a", "place": None, "mean": None}]),
        (Written("a"), {"name": "A", "of": {"name": "b", "place": None, "mean": 1.0}}),
        (Counted(Counter(x=2), frozenset({2, 1})), {"numbers": {"x": 2}, "known": [1, 2]}),
    ],
)
def test_json_has_the_fields_of_a_record(record: object, data: object) -> None:
    assert json.loads(json_of(record)) == data


def test_what_is_no_record_is_no_json() -> None:
    with pytest.raises(TypeError, match="no JSON has a object"):
        json_of(object())
