"""States: a digest follows from the values alone, on every machine."""

from __future__ import annotations

from interpreter.kernel.effects import Effects, changes, take_back
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import Layout, State, Value

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


def test_a_mark_and_what_changes_with_it_are_one_record() -> None:
    """One hears of what begins when it has, of what ends while it still is; undo takes both back."""
    effects = Effects(
        Layout((("pending", 1), ("settling", 1), ("chance", 1), ("kept", 1), ("turn", 1))),
        {},
        frozenset(),
        {},
        frozenset(),
        [0, 0, 0, 0, 2],
        {},
    )
    state, told = State([0, 0, (), (), -1]), list[tuple[str, Value]]()
    listen(state, lambda state, word: told.append((word, state.cells[4])))
    effects.mark(state, "start of turn", 3, (4, 3))
    effects.mark(state, "end of turn", 3, (4, -1))
    assert told == [("start of turn", 3), ("end of turn", 3)]
    assert state.cells == [2, 0, (), (), -1]
    assert [list(changes(record)) for record in state.log] == [[(4, -1)], [(4, 3)]]
    take_back(state, 1)
    assert state.cells[4] == 3
    take_back(state, 0)
    assert state.cells[4] == -1
