"""Classes that are quick to define behave as the dataclasses that they stand for."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from interpreter.base import frozen
from interpreter.base.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Base:
    """A class with a place that does not count."""

    place: int = dataclasses.field(default=0, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pair(Base):
    left: Any
    right: Any = None
    other: int = dataclasses.field(default=7, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Same(Base):
    left: Any
    right: Any = None


@dataclass(frozen=True, slots=True)
class Checked:
    low: int
    high: int = 9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"{self.low} is above {self.high}")

    def __repr__(self) -> str:
        return f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Listed:
    items: list[int] = dataclasses.field(default_factory=list)


@dataclass(frozen=True)
class Loose:
    value: int


def test_it_is_made_as_a_dataclass_is() -> None:
    pair = Pair(1, place=3)
    assert (pair.left, pair.right, pair.place, pair.other) == (1, None, 3, 7)
    assert Pair(right=2, left=1) == Pair(1, 2)
    assert [f.name for f in dataclasses.fields(pair)] == ["place", "left", "right", "other"]
    assert Pair.__match_args__ == ("left", "right")
    assert dataclasses.replace(pair, left=5) == Pair(5, None, place=3)
    assert not hasattr(pair, "__dict__")


@pytest.mark.parametrize(
    ("arguments", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"unknown": 2}), ((1,), {"left": 2})]
)
def test_wrong_arguments_are_refused_in_the_same_words(arguments: tuple[int, ...], named: dict[str, int]) -> None:
    whole: Any = dataclasses.make_dataclass("Pair", ["left", ("right", Any, None)], frozen=True)
    with pytest.raises(TypeError) as ours:
        Pair(*arguments, **named)
    with pytest.raises(TypeError) as theirs:
        whole(*arguments, **named)
    assert str(ours.value) == str(theirs.value)


def test_what_does_not_count_is_neither_compared_nor_shown() -> None:
    assert Pair(1, 2, place=3) == Pair(1, 2, place=4, other=5)
    assert hash(Pair(1, 2, place=3)) == hash(Pair(1, 2))
    assert repr(Pair(1, "a", place=3)).endswith("Pair(left=1, right='a')")
    assert Pair(1, 2) != Pair(2, 1)
    assert len({Pair(1), Pair(1, place=2), Pair(2)}) == 2


def test_classes_are_not_mixed_up() -> None:
    """Methods that are made late are made for one class, though another was asked first or is derived from it."""
    assert repr(Base(place=1)).endswith("Base()")
    assert repr(Pair(1)) != repr(Same(1))
    assert len({Pair(1), Same(1)}) == 2
    assert Pair(1).__eq__(Same(1)) is NotImplemented


def test_nothing_can_be_changed() -> None:
    pair: Any = Pair(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'left'"):
        pair.left = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.new = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'left'"):
        del pair.left


def test_its_own_methods_stay() -> None:
    assert repr(Checked(1)) == "1 to 9"
    with pytest.raises(ValueError, match="10 is above 9"):
        Checked(10)


def test_what_cannot_be_made_quickly_is_a_common_dataclass() -> None:
    assert Listed() == Listed([])
    assert Listed().items is not Listed().items
    assert Loose(1) == Loose(1)
    for each in (Listed, Loose):
        assert "frozen" not in each.__init__.__code__.co_filename


@pytest.mark.parametrize("value", [Pair(1, (2, Same("x", place=4)), place=3, other=4), Checked(1, 2), Listed([1])])
def test_it_can_be_copied_and_pickled(value: Any) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert again == value
    if isinstance(value, Pair):
        again = pickle.loads(pickle.dumps(value))
        assert (again.place, again.other, again.right[1].place) == (3, 4, 4)


def test_a_template_serves_all_classes_of_a_shape() -> None:
    assert frozen._template(2, 1, False) is frozen._template(2, 1, False)
    assert Same.__init__.__qualname__ == "Same.__init__"
