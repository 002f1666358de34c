"""A state that lives in a module: as bytes, or in the module's memory while it is played on."""

from __future__ import annotations

from contextlib import suppress

from interpreter.compiler.build.shapes import Unsupported
from interpreter.compiler.plain.machine import Code
from interpreter.compiler.wasm.instance import Trap
from interpreter.compiler.wasm.module import Compiled
from interpreter.compiler.wasm.turn import Turn
from interpreter.kernel.chance import Draws, Seeded
from interpreter.kernel.state import State, Value

__all__ = ["Resident", "begin", "enter"]

MOST_SNAPSHOTS = 600
"""So many states before choices are kept as bytes."""


class Resident:
    """The place of one state in a module.

    ``origin`` is the state from which the choices ``since`` lead here, in lists with a log, or in bytes. ``data`` is
    the state, unless it lies in the module's memory now. ``past`` has the bytes before each choice up to number
    ``loaded``; the module keeps the states before those that it made itself, as far as it has room. Where a state is
    kept nowhere, undo makes the choices before it again. ``turn`` is what is known of the decision at hand, and
    ``heeded`` whether the bot that was asked ahead for it was asked indeed.
    """

    __slots__ = (
        "_seen",
        "built",
        "chance",
        "data",
        "fetched",
        "heeded",
        "known",
        "loaded",
        "origin",
        "past",
        "since",
        "turn",
    )

    def __init__(self, built: Compiled, origin: State | bytes, data: bytes | None, chance: Seeded) -> None:
        self.built, self.origin, self.data = built, origin, data
        self.known = len(origin.log) if isinstance(origin, State) else 0
        """So many records had the log of the origin."""
        self.chance = chance
        self.turn: Turn | None = None
        self.heeded = False
        self.since: list[Code | None] = []
        self.past: list[bytes] = []
        self.loaded = 0
        self.fetched = False
        self._seen: tuple[list[Value], object, int] = ([], None, -1)

    @property
    def records(self) -> int:
        """So many records the log holds at least: those that are known, and one for each choice since."""
        return len(self.since) + self.known

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
        self.built.machine.replay(origin, self.chance, self.since)
        self.origin, self.known, self.since = origin, len(origin.log), []
        self.past.clear()
        self.loaded = 0
        self.built.forget_past(self)
        state.log = origin.log
        if not self.fetched:
            state.cells, state.frame = origin.cells, origin.frame
            self.fetched = True
            self._seen = (origin.cells[:], origin.frame, -1)
        self._seen = (*self._seen[:2], len(state.log))  # what was changed since it was fetched is still a change

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
        self.turn = None
        self.chance = chance
        return True

    def is_current_in(self, state: State) -> bool:
        """Return whether nobody has changed what was fetched. It is given back then: the module goes on."""
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
        state.forget()
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

    def take(self, code: Code) -> Turn | None:
        """Makes a choice; gives who is asked next. None where the module gives up: nobody knows where it stopped, and
        the choices so far must be made again."""
        built, turn = self.built, self.turn or self.where()
        if turn is None:
            return None
        if built.current is not self:
            built.load(self)
        if turn.code is not None and not self.heeded:
            built.silence(turn.seat)
        self.heeded = False
        try:
            built.step(built.told_at if code is turn.code else built.write(turn.index, code))
        except Unsupported:  # it has no room for a value
            built.drop(self)
            return None
        except Trap:
            if not self._without_bots(turn.index, code):
                return None
        self.turn = turn = built.turns.get(built.report.tobytes()) or built.met()
        self.since.append(code)
        return turn

    def _without_bots(self, index: int, code: Code) -> bool:
        """Makes a choice again: maybe it was a bot that gave up, asked ahead for the next one."""
        built = self.built
        try:
            if any(built.ahead) and built.take_back():
                built.step(built.write(index, code))
                return True
        except Trap:
            pass
        built.drop(self)
        return False

    def put_away(self) -> None:
        """The state leaves the module's memory."""
        built = self.built
        known = built.kept_states()
        if len(known) < len(self.since) - self.loaded:
            self.past.clear()
        self.past += known
        if len(self.past) > MOST_SNAPSHOTS:
            del self.past[: -MOST_SNAPSHOTS // 2]
        self.data, self.turn, self.loaded = built.saved(), None, len(self.since)

    def undo(self) -> bool:
        """Back to the last choice; false where that is too far back to be known here."""
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

    def where(self) -> Turn | None:
        """Return the seat and its decision; none if the module gives up."""
        if self.turn is None:
            self.built.load(self)
            with suppress(Trap):
                self.turn = self.built.tell()
        return self.turn

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
        """Return the choice of a bot that draws from a stream; none if the module gives up."""
        built, turn = self.built, self.where()
        if turn is None:
            return None
        built.load(self)
        try:
            code = built.choose(player, random, turn.seat)
        except Trap:
            return None
        self.heeded = True
        return code


def enter(module: Compiled, state: State, chance: Seeded) -> Resident | None:
    """Move a state in lists into a module; return None if it does not fit."""
    if state.frame is None or type(state.log) is not list:  # somebody listens to what is logged
        return None
    try:
        data = module.codec.encode(state, chance.seed)
    except Unsupported:
        return None
    home = Resident(module, _logged(state), data, chance)
    state.settle(home)
    return home


def begin(module: Compiled, state: State, chance: Seeded) -> bool:
    """Begin a game in a module; return False if the module traps."""
    if type(state.log) is not list or not module.begin(chance.seed):
        return False
    home = Resident(module, _logged(state), None, chance)
    home.since.append(None)
    state.settle(home)
    module.current = home
    return True


def _logged(state: State) -> State:
    """Another state with the same cells, frame and log."""
    origin = State(state.cells, state.frame)
    origin.log = state.log
    return origin
