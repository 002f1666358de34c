"""Listeners of a game: they learn of marks from the log, in either execution form."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.kernel.effects import MARK
from interpreter.kernel.state import Record, State

__all__ = ["listen"]


def listen(state: State, hears: Callable[[State, str], None]) -> None:
    """From now on each mark of a state is told while it happens, with the state as it is then; nothing may be changed.

    Copies of the state are not listened to.
    """
    state.log = _Log(state, hears)


class _Log(list[Record]):
    """The log of a state to which somebody listens, who may work something out in the plain form."""

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
                self._state.memo.clear()  # the rest of what is done at once may change it without a look at this
