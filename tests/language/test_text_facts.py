"""Facts of a text: known once for each layer, and no part of its value."""

from __future__ import annotations

import pickle
from pathlib import Path

from msgspec.structs import replace

from interpreter.lowering.reach import reach_of
from tests.small import examined, write

ACT = """
    while amount < 3:
      choose more by seats[0]:
        take:
          amount += doubled(1)
    note said(amount)
"""
MORE = """
doubled(number) -> int:
  is: |
    return number * 2
"""


def test_a_layer_keeps_the_facts_of_its_text(tmp_path: Path) -> None:
    model = examined(write(tmp_path, ACT, MORE)).model
    assert model is not None
    layer = model.rules["act"].top
    facts = layer.facts
    assert [ask.name for ask in facts.asks] == ["more"]
    assert [option.name for option in facts.options] == ["take"]
    assert (list(facts.calls), list(facts.events)) == (["doubled"], ["said"])
    assert (facts.groups, facts.writes) == ({"amount"}, {"amount"})
    assert [list(body.calls) for _, body in facts.loops] == [["doubled"]]
    assert layer.facts is facts
    assert reach_of(model).procedures["act@0"].facts is facts


def test_facts_are_no_part_of_a_layer(tmp_path: Path) -> None:
    model = examined(write(tmp_path, ACT, MORE)).model
    assert model is not None
    layer = model.rules["act"].top
    before = pickle.dumps(layer)
    assert layer.facts.calls
    assert pickle.dumps(layer) == before
    assert replace(layer, body=()).facts.calls == {}
