"""States in a module: bytes, or the current contents of the module's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.wasm.instance import Trap
from interpreter.compiler.wasm.module import Compiled
from interpreter.compiler.wasm.turn import Turn
from interpreter.kernel.chance import Draws, Seeded
from interpreter.kernel.state import State, Value
from interpreter.lowering import constants
from interpreter.plain.machine import Code

__all__ = ["Resident", "begin", "enter"]

T = TypeVar("T")

MOST_SNAPSHOTS = 600
"""Maximum number of snapshots that are kept as bytes."""


@dataclass(slots=True, eq=False)
class Resident:
    """The representation of one state in a module.

    ``origin`` is an earlier state, as lists with a log or as bytes; the choices ``since`` lead from there to the
    present one. ``data`` is the present state, or None while it is in the module's memory. ``past`` has snapshots
    before each choice up to number ``loaded``; the module keeps those of later choices while they fit. Without a
    snapshot, undo replays the choices. ``turn`` is the current decision, if known. ``heeded`` is the choice that a
    bot made there, if one was asked. ``upcoming``: the module has played on by the choices of bots, to
    these turns, the next one last; whoever looks at the state makes it go back.
    """

    built: Compiled
    origin: State | bytes
    data: bytes | None
    chance: Seeded
    known: int = 0
    """Length of the log at the origin."""
    turn: Turn | None = None
    heeded: Code | None = None
    upcoming: list[Turn] = field(default_factory=list)
    since: list[Code | None] = field(default_factory=list)
    past: list[bytes] = field(default_factory=list)
    loaded: int = 0
    fetched: bool = False
    _seen: tuple[list[Value], object, int] = ([], None, -1)

    @property
    def records(self) -> int:
        """Lower bound of the length of the log: the records of the origin, and one for each choice since."""
        return len(self.since) + self.known

    # --- access from outside

    def fetch(self, state: State, name: str) -> None:
        if name == "log":
            self._fetch_log(state)
            return
        decoded = self.built.codec.decode(self.bytes)
        state.cells, state.frame = decoded.cells, decoded.frame
        self.fetched = True
        self._seen = (decoded.cells[:], decoded.frame, self._seen[2])

    def _fetch_log(self, state: State) -> None:
        """Replay the choices in the plain form to get the log. Objects that were fetched before stay the same."""
        origin = self.origin if isinstance(self.origin, State) else self.built.codec.decode(self.origin)
        self.built.machine.replay(origin, self.chance, self.since)
        self.origin, self.known, self.since = origin, len(origin.log), []
        self.past.clear()
        self.loaded = 0
        if self.built.current is self:
            self.built.forget_past()
        state.log = origin.log
        if not self.fetched:
            state.cells, state.frame = origin.cells, origin.frame
            self.fetched = True
            self._seen = (origin.cells[:], origin.frame, -1)
        self._seen = (*self._seen[:2], len(state.log))  # changes since the fetch must still be detected

    def copy(self, state: State, copy: State) -> bool:
        if not self.is_current_in(state):
            return False
        data = self.bytes
        copy.home = Resident(self.built, data, data, self.chance)
        return True

    def goes_on_with(self, chance: Seeded) -> bool:
        """Continue with another seed. Return False if earlier choices still need to be replayed with the old one."""
        if self.since or not isinstance(self.origin, bytes):
            return False
        before, at = self.bytes, 4 * WORD  # the seed in the header of a state
        self.data = self.origin = before[:at] + (chance.seed & 2**64 - 1).to_bytes(8, "little") + before[at + 8 :]
        self.built.drop(self)
        self.turn = None
        self.chance = chance
        return True

    def go_on_in(self, built: Compiled) -> None:
        """Continue in another module of the same table, which may have larger rooms."""
        if built.builder.shapes.rooms != self.built.builder.shapes.rooms:
            before = self.built.codec

            def moved(data: bytes) -> bytes:
                return built.codec.encode(before.decode(data), self.chance.seed)

            assert self.data is not None  # the other module was left
            self.data = moved(self.data)
            self.origin = moved(self.origin) if isinstance(self.origin, bytes) else self.origin
            self.past.clear()
            self.loaded = len(self.since)
        self.built, self.turn = built, None

    def is_current_in(self, state: State) -> bool:
        """Return whether the fetched state is unchanged; if so, drop it and let the module continue."""
        if not self.fetched:
            return True
        cells, frame, length = self._seen
        if state.cells != cells or state.frame != frame:
            return False
        has_log = length >= 0
        if has_log:
            if len(state.log) != length or type(state.log) is not list:  # or somebody observes it
                return False
            origin = self.origin
            assert isinstance(origin, State)
            if origin.cells is state.cells:
                origin.cells = cells
        self.fetched = False
        self._seen = ([], None, -1)
        state.forget()
        del state.cells, state.frame
        if has_log:
            del state.log
        return True

    @property
    def bytes(self) -> bytes:
        """The state as bytes: a header, cells and frames."""
        return self.built.saved() if self.data is None else self.data

    # --- playing

    def take(self, code: Code) -> Turn | None:
        """Apply a choice and return the next turn.

        Return None if the module traps: its state is then unknown, so the caller must replay the choices so far.
        """
        built = self.built
        if self.upcoming or built.current is not self:
            built.load(self)
        turn = self.turn or self.where()
        if turn is None:
            return None
        if turn.code is not None and self.heeded is None:
            built.silence(turn.seat)
        self.heeded = None
        try:
            place = built.ahead_at if code is turn.code else built.write(turn.index, code)
            self.turn = built.step(self, place, constants.MAXIMUM_RECORDS - len(self.since) - self.known)
        except Unsupported:  # a value does not fit into memory
            built.drop(self)
            return None
        except Trap:
            self.turn = built.after_trap() or self._without_bots(turn.index, code)
        if self.turn is not None:
            self.since.append(code)
        return self.turn

    def _without_bots(self, index: int, code: Code) -> Turn | None:
        """Apply a choice again without asking bots ahead, in case one of them trapped."""
        built = self.built
        try:
            if any(built.ahead) and built.take_back():
                return built.step(self, built.write(index, code), 0)
        except Trap:
            pass
        built.drop(self)
        return None

    def put_away(self) -> None:
        """Move the state out of the module's memory."""
        built = self.built
        snapshots = built.take_snapshots()
        if len(snapshots) < len(self.since) - self.loaded:
            self.past.clear()
        self.past += snapshots
        if len(self.past) > MOST_SNAPSHOTS:
            del self.past[: -MOST_SNAPSHOTS // 2]
        self.data, self.turn, self.loaded = built.saved(), None, len(self.since)

    def undo(self) -> bool:
        since, built = self.since, self.built
        if not since or since[-1] is None:
            return False
        built.load(self)
        if len(since) > self.loaded:
            if not built.take_back():
                return False
            self.turn = built.told()
        elif self.past:
            built.restore(self.past.pop())
            self.turn, self.loaded = None, self.loaded - 1
        else:
            return False
        since.pop()
        return True

    def tried(self, ask: Callable[[Compiled], T]) -> T | None:
        """Return the module's answer about the state, or None if it traps."""
        self.built.load(self)
        try:
            return ask(self.built)
        except Trap:
            return None

    def where(self) -> Turn | None:
        """Return the current decision and its seat, or None if the module traps."""
        if self.turn is None:
            self.turn = self.tried(Compiled.tell)
        return self.turn

    def choose(self, player: int, bot: object, random: Draws) -> Code | None:
        """Return the choice of a bot that draws from a stream, or None if the module traps."""
        turn = self.where()
        code = self.tried(lambda built: built.choose(player, bot, random, turn.seat)) if turn is not None else None
        self.heeded = code or self.heeded
        return code


def enter(module: Compiled, state: State, chance: Seeded) -> Resident | None:
    """Move a state into a module; return None if somebody observes it. Raise :class:`Unsupported` if it has no room."""
    if state.frame is None or type(state.log) is not list:  # somebody observes the log
        return None
    data = module.codec.encode(state, chance.seed)
    home = Resident(module, _logged(state), data, chance, len(state.log))
    state.settle(home)
    return home


def begin(module: Compiled, state: State, chance: Seeded) -> bool:
    """Begin a game in a module; return False if the module traps."""
    if type(state.log) is not list or not module.begin(chance.seed):
        return False
    home = Resident(module, _logged(state), None, chance, len(state.log), since=[None])
    state.settle(home)
    module.current = home
    return True


def _logged(state: State) -> State:
    """Return another state that shares the cells, frame and log."""
    origin = State(state.cells, state.frame)
    origin.log = state.log
    return origin
