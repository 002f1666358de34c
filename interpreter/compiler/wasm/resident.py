"""A state that lives in a module: as bytes, or in the module's memory while it is played on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.compiler.build.shapes import Unsupported
from interpreter.compiler.wasm.instance import Trap
from interpreter.kernel.chance import Draws, Seeded
from interpreter.kernel.state import State, Value

if TYPE_CHECKING:
    from interpreter.compiler.wasm.machine import Code
    from interpreter.compiler.wasm.module import Compiled

__all__ = ["Resident"]

MOST_SNAPSHOTS = 600
"""So many choices can be undone at once; earlier ones by making the others again."""


class Resident:
    """The place of one state in a module.

    ``origin`` is the state from which the choices ``since`` lead here, in lists with a log, or in bytes. ``data`` is
    the state, unless it lies in the module's memory now. ``past`` has the bytes before each choice.
    """

    __slots__ = ("_seen", "built", "chance", "data", "fetched", "origin", "past", "since")

    def __init__(self, built: Compiled, origin: State | bytes, data: bytes | None, chance: Seeded) -> None:
        self.built, self.origin, self.data = built, origin, data
        self.chance = chance
        self.since: list[Code | None] = []
        self.past: list[bytes] = []
        self.fetched = False
        self._seen: tuple[list[Value], object, int] = ([], None, -1)

    @property
    def records(self) -> int:
        """So many records the log holds at least: those that are known, and one for each choice since."""
        return len(self.since) + (len(self.origin.log) if isinstance(self.origin, State) else 0)

    # --- looked at from outside

    def fetch(self, state: State, name: str) -> None:
        if name == "log":
            self._fetch_log(state)
            return
        found = self.built.codec.decode(self.bytes)
        state.cells, state.frame = found.cells, found.frame
        self.fetched = True
        self._seen = (found.cells[:], found.frame, self._seen[2])

    def _fetch_log(self, state: State) -> None:
        """The choices are made again in the plain form. What was fetched before stays the same object."""
        origin = self.origin if isinstance(self.origin, State) else self.built.codec.decode(self.origin)
        self.built.machine.play_again(origin, self.chance, self.since)
        self.origin, self.since = origin, []
        self.past.clear()
        state.log = origin.log
        if not self.fetched:
            state.cells, state.frame = origin.cells, origin.frame
            self.fetched = True
        self._seen = (list(state.cells), state.frame, len(state.log))

    def copy(self, state: State, copy: State) -> bool:
        if not self.is_current_in(state):
            return False
        data = self.bytes
        copy.home = Resident(self.built, data, data, self.chance)
        return True

    def goes_on_with(self, chance: Seeded) -> bool:
        """Other chance from now on; false where choices that were made before must be made again with theirs."""
        if self.since or not isinstance(self.origin, bytes):
            return False
        self.data = self.origin = self.built.reseeded(self.bytes, chance.seed)
        self.built.drop(self)
        self.chance = chance
        return True

    def is_current_in(self, state: State) -> bool:
        """Whether nobody has changed what was fetched. It is given back then: the module goes on."""
        if not self.fetched:
            return True
        cells, frame, length = self._seen
        if state.cells != cells or state.frame != frame:
            return False
        has_log = length >= 0
        if has_log:
            if len(state.log) != length or type(state.log) is not list:  # or somebody listens to it
                return False
            origin = self.origin
            assert isinstance(origin, State)
            if origin.cells is state.cells:
                origin.cells = cells
        self.fetched = False
        self._seen = ([], None, -1)
        del state.cells, state.frame
        if has_log:
            del state.log
        return True

    @property
    def bytes(self) -> bytes:
        """The state: a header, cells and frames."""
        if self.data is None:
            return self.built.saved()
        return self.data

    # --- played on

    def take(self, state: State, number: int, values: tuple[Value, ...]) -> int | None:
        """Makes a choice and gives the stretch that asked; none where the module gives up: the state is as before."""
        built = self.built
        built.load(self)
        before = built.saved()
        try:
            index = built.take(number, values)
        except (Trap, Unsupported):  # it gives up, or has no room for a value
            built.restore(before)
            return None
        self.since.append((number, values))
        self.past.append(before)
        if len(self.past) > MOST_SNAPSHOTS:
            self.past.clear()
        if state.memo:
            state.memo.clear()
        return index

    def undo(self, state: State) -> bool:
        """Back to the last choice; false where that is too far back to be known here."""
        if not self.past or not self.since or self.since[-1] is None:
            return False
        self.built.load(self)
        self.since.pop()
        self.built.restore(self.past.pop())
        if state.memo:
            state.memo.clear()
        return True

    def asked(self, state: State) -> tuple[int, int] | None:
        self.built.load(self)
        return self.built.asked()

    def codes(self, state: State) -> list[Code] | None:
        self.built.load(self)
        try:
            return self.built.codes()
        except Trap:
            return None

    def is_free(self, state: State) -> bool | None:
        self.built.load(self)
        try:
            return self.built.is_free()
        except Trap:
            return None

    def accepts(self, state: State, number: int, values: tuple[Value, ...]) -> bool:
        self.built.load(self)
        try:
            return self.built.accepts(number, values)
        except Trap:
            return False

    def choose(self, player: int, random: Draws) -> Code | None:
        self.built.load(self)
        try:
            return self.built.choose(player, random)
        except Trap:
            return None
