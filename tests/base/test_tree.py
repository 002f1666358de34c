"""Nodes of trees: positions do not count, all else does."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from interpreter.base.source import NOWHERE, SourceFile, Span
from interpreter.base.tree import Placed, field_types


class Pair(Placed, frozen=True):
    left: Any
    right: Any = None
    name_span: Span = NOWHERE


class Same(Placed, frozen=True):
    left: Any
    right: Any = None


class Empty(Placed, frozen=True):
    pass


HERE = Span(SourceFile("here", "text"), 1, 2)


def test_nodes_at_other_positions_are_equal() -> None:
    assert Pair(1, 2, span=HERE) == Pair(1, 2, name_span=HERE)
    assert hash(Pair(1, 2, span=HERE)) == hash(Pair(1, 2))
    assert Empty(span=HERE) == Empty()
    assert Pair(1, 2) != Pair(2, 1)
    assert len({Pair(1), Pair(1, span=HERE), Pair(2)}) == 2


def test_nodes_of_other_classes_differ() -> None:
    assert len({Pair(1), Same(1)}) == 2
    assert Pair(1) != Same(1)


def test_positions_are_not_printed() -> None:
    assert repr(Pair(1, Same("a"), span=HERE)) == "Pair(left=1, right=Same(left='a', right=None))"


def test_the_position_is_a_keyword_and_stays_in_copies() -> None:
    assert Pair.__match_args__ == ("left", "right", "name_span")
    for copied in (copy.copy(Pair(1, span=HERE)), pickle.loads(pickle.dumps(Pair(1, span=HERE)))):
        assert (copied.left, copied.span) == (1, HERE)


def test_a_node_cannot_be_changed() -> None:
    pair: Any = Pair(1)
    with pytest.raises(AttributeError, match="immutable"):
        pair.left = 2


def test_fields_have_types_as_written_those_of_base_classes_first() -> None:
    written = {"span": "Span", "left": "Any", "right": "Any", "name_span": "Span"}
    assert list(field_types(Pair).items()) == list(written.items())
