"""What is heard of a game in the fast form: emitted functions append to its log, and the log tells of marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from interpreter.kernel.effects import MARK, Effects
from interpreter.kernel.state import State

__all__ = ["heard"]


class _Log(list[tuple[Any, ...]]):
    """The log of a state to which somebody listens, who may work something out in the plain form."""

    __slots__ = ("_hears", "_state")

    def __init__(self, state: State, hears: Callable[[State, str], None]) -> None:
        super().__init__(state.log)
        self._state, self._hears = state, hears

    def append(self, record: tuple[Any, ...]) -> None:
        super().append(record)
        if record[0] == MARK:
            memo = self._state.memo
            remembered = dict(memo)
            memo.clear()
            try:
                self._hears(self._state, record[2])
            finally:
                memo.clear()
                memo.update(remembered)


@contextmanager
def heard(effects: Effects, state: State) -> Iterator[None]:
    """Inside, whoever listens to effects hears of each mark by the log, and nobody else need think of them."""
    log, listener = state.log, effects.listener
    assert listener is not None
    state.log, effects.listener = _Log(state, listener), None
    try:
        yield
    finally:
        log[:] = state.log
        state.log, effects.listener = log, listener
