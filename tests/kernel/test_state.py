"""States: a digest follows from the values alone, on every machine."""

from __future__ import annotations

from interpreter.kernel.state import State, Value

CELLS: list[Value] = [1, True, None, (2, (3,), 10**20), "x"]
FRAME = (4, ((1, 2), None), None, -1)


def test_the_digest_is_a_promise() -> None:
    """Kept games compare it with theirs."""
    assert State(CELLS, FRAME).digest() == "c55d78d65dbc3bf0e1a194ac0870b839"


def test_equal_states_have_equal_digests_whatever_is_one_object() -> None:
    pair = (5, (6, 7))
    shared = State([pair, pair, "".join(["a", "b"])], (0, (pair,), None, -1))
    apart = State([(5, (6, 7)), (5, (6, 7)), "ab"], (0, ((5, (6, 7)),), None, -1))
    assert shared.digest() == apart.digest()
    assert shared.digest() != State([pair, pair, "ab"], (0, (pair,), None, 0)).digest()
    assert State([1]).digest() != State([True]).digest()
