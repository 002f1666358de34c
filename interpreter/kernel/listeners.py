"""Listeners of a game: callbacks for marks in the log, in either execution form."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.kernel.effects import MARK
from interpreter.kernel.state import Record, State

__all__ = ["listen"]


def listen(state: State, hears: Callable[[State, str], None]) -> None:
    """Call ``hears`` for each future mark of a state, with the state at that moment, which it must not change.

    Copies of the state have no listeners.
    """
    state.log = _Log(state, hears)


class _Log(list[Record]):
    """Log with a listener, which may evaluate functions in the plain form."""

    __slots__ = ("_hears", "_state")

    def __init__(self, state: State, hears: Callable[[State, str], None]) -> None:
        super().__init__(state.log)
        self._state, self._hears = state, hears

    def append(self, record: Record) -> None:
        super().append(record)
        if record[0] == MARK:
            try:
                _, _, word, *_ = record
                self._hears(self._state, word)
            finally:
                self._state.memo.clear()  # the rest of the step may change the state without clearing the memo
