"""The module of a table, instantiated: compiled now, or loaded from the cache; and the states of games in it."""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeVar

from msgspec import Struct

from interpreter.compiler.codegen.memory import STATE, TIGHT
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import WORD, TooSmall, Unsupported, signed
from interpreter.compiler.wasm.assemble import assembled
from interpreter.compiler.wasm.codec import Codec, fitted
from interpreter.compiler.wasm.driver import LONG, MOST_AHEAD, TURN_HEAD
from interpreter.compiler.wasm.engines import compiled, instance_of, is_available
from interpreter.compiler.wasm.instance import Instance, Invalid, Trap
from interpreter.compiler.wasm.turn import Order, Turn
from interpreter.kernel.chance import Draws, Seeded
from interpreter.kernel.state import State, Value
from interpreter.language.types import Type
from interpreter.lowering import constants
from interpreter.plain.machine import Code, Machine

__all__ = ["Compiled", "Resident", "Unavailable"]

T = TypeVar("T")

FRAME, ASKED, TOP = STATE // WORD, STATE // WORD + 1, STATE // WORD + 2
"""Header words of a state: the top frame, the stretch that asks, the end of the frames."""
MOST_RECORDS = 4_000
MOST_LISTS, MOST_LISTED = 500, 4_000
"""Lists of options that are remembered for a decision, and bytes of one of them."""
MOST_SNAPSHOTS = 600
"""Maximum number of snapshots that are kept as bytes."""
FIRST_WAIT, MOST_WAIT = 4, 1_024
"""Steps before the module plays ahead: at first, and at most. Each time it played ahead in vain doubles them."""


BEYOND = "a choice needs more than a module has room for: numbers of 31 bits, 8 MB of options, 500,000 steps"
"""The reason if a module traps, the plain form makes the choice, and the state fits."""


class Unavailable(Exception):
    """No module can be built for a table; the plain form plays."""


class Made(NamedTuple):
    """Compiled module as stored: machine code, the numbers of its driver
    (:func:`~interpreter.compiler.wasm.driver.driver_numbers`), texts, policies, the rooms that have grown, and the
    reasons why functions are left out."""

    code: bytes
    numbers: dict[str, int]
    texts: dict[str, int]
    players: tuple[str, ...]
    rooms: dict[str, int]
    tight: tuple[str, ...]
    left_out: tuple[str, ...]


class _Decision(Struct, frozen=True):
    """Memory layout of the options of a decision: sizes and types.

    ``codes`` caches decoded options by their bytes, ``lists`` all options of a position.
    """

    stride: int
    sizes: tuple[int, ...]
    types: tuple[tuple[Type, ...], ...]
    codes: dict[bytes, Code] = {}
    lists: dict[bytes, list[Code]] = {}


@dataclass(slots=True)
class Ahead:
    """A bot that is asked ahead, its random stream, and how many numbers it has drawn."""

    bot: object
    random: Draws
    used: int


class Compiled:
    """A module in memory. It holds one state at a time."""

    def __init__(self, machine: Machine, builder: ModuleBuilder, made: Made, instance: Instance) -> None:
        self.machine, self.builder = machine, builder
        self.codec = Codec(builder)
        self.players = {key: number for number, key in enumerate(made.players)}
        self._tight, self._left_out = made.tight, made.left_out
        self.numbers = numbers = made.numbers
        self.instance = instance
        self._bytes, self._words, self._longs = instance.bytes, instance.words, instance.longs
        function = instance.function
        self._start, self._step, self._take_back, self._forget = map(function, ("start", "step", "take_back", "forget"))
        self._list, self._free, self._tell, self._bot = map(function, ("list", "free", "tell", "bot"))
        self._options = numbers["options"]
        self.current: Resident | None = None
        """The state in memory."""
        turn, self._size, self._reports = (numbers[name] for name in ("turn", "turn_size", "reports"))
        self._made, self._most, self._undone, self._bots = (
            numbers[name] // WORD for name in ("made", "most", "undone", "bots")
        )
        self._report = instance.reader(turn, turn + self._size)
        self._unpack = struct.Struct(f"{self._size}s").iter_unpack
        self.ahead_at = turn + TURN_HEAD
        """Address of the option that the module chose ahead."""
        self.turns: dict[bytes, Turn] = {}
        self.ahead: list[Ahead | None] = [None] * len(machine.constants.seats)
        """Bots that are asked ahead, by seat."""
        self._decisions: dict[int, _Decision] = {}
        self._records: dict[tuple[int, Code], bytes] = {}
        """Cache of encoded options."""
        self._frames_start = builder.memory.frames
        self._most_ahead = min(MOST_AHEAD, numbers["undo_slots"])
        self.wait = self.left = FIRST_WAIT
        """Steps before the module plays ahead: after a look at a state that was played ahead, and from now on."""

    # --- building

    @classmethod
    def of(cls, order: Order) -> Compiled:
        """Build or load a module. Raises :class:`Unavailable`."""
        if not is_available():
            raise Unavailable  # which is told already
        made, instance = _kept(order), None
        if (
            made is not None
            and all(order.texts.get(text, number) == number for text, number in made.texts.items())
            and all(made.rooms.get(room, 0) >= size for room, size in order.rooms.items())
        ):
            with suppress(Invalid):  # compiled by another version of wasmtime: compile again
                instance = instance_of(made.code)
                order.rooms.update(made.rooms)
        builder, first = _fitted(order)
        if made is None or instance is None:
            made = _made(order, builder, first)
            instance = instance_of(made.code)
        order.texts.update(made.texts)
        return cls(order.machine, builder, made, instance)

    @staticmethod
    def cache(order: Order) -> None:
        """Build a module only to cache it."""
        _made(order, *_fitted(order))

    def leave(self) -> None:
        """Save the state in memory before another module replaces this one."""
        if self.current is not None:
            self.current.put_away()
            self.current = None
        self._forget_others()

    # --- states

    def begin(self, state: State, chance: Seeded) -> bool:
        """Begin a game in memory; return False if the module traps."""
        try:
            self.start(chance.seed)
        except Trap:
            return False
        self.current = home = Resident(self, _logged(state), None, chance, len(state.log), since=[None])
        state.settle(home)
        return True

    def start(self, seed: int) -> None:
        """Begin a game that belongs to no state. Raises :class:`Trap`."""
        self.leave()
        self._longs[self.numbers["rows"] // LONG] = signed(seed)
        self._start()

    def adopt(self, state: State, chance: Seeded) -> None:
        """Let a state be the one that is in memory."""
        data = self.saved()
        state.settle(Resident(self, data, data, chance))

    def enter(self, state: State, chance: Seeded) -> Resident | None:
        """Take a state over; return None if its game is over. Raise :class:`Unsupported` if it has no room."""
        if state.frame is None:
            return None
        home = Resident(self, _logged(state), self.codec.encode(state, chance.seed), chance, len(state.log))
        state.settle(home)
        return home

    def load(self, home: Resident) -> None:
        """Load a state into memory, unless it is there already."""
        current = self.current
        if current is home:
            if home.upcoming:
                self._rewind()
            return
        if current is not None:
            current.put_away()
        assert home.data is not None
        self.restore(home.data)
        home.data = None
        self.current = home

    def take_snapshots(self) -> list[bytes]:
        """Return and clear the undo states that are kept in memory."""
        self._rewind()
        undo, size, slots = (self.numbers[name] for name in ("undo", "slot", "undo_slots"))
        count, after = self._words[self._undone : self._undone + 2]
        states = []
        for number in range(after - count, after):
            at = undo + number % slots * size
            states.append(self._bytes[at : at + self._words[at // WORD + TOP - FRAME] - STATE].tobytes())
        self._words[self._undone] = 0
        return states

    def forget_past(self) -> None:
        """Clear the undo states of the state in memory."""
        self._rewind()
        self._words[self._undone] = 0

    def _forget_others(self) -> None:
        self._words[self._undone] = 0
        self._silence_all()

    def saved(self) -> bytes:
        self._rewind()
        end = self._words[TOP] if self._words[ASKED] >= 0 else self._frames_start
        return self._bytes[STATE:end].tobytes()

    def drop(self, home: Resident) -> None:
        if self.current is home:
            self.current = None

    def restore(self, data: bytes) -> None:
        self._bytes[STATE : STATE + len(data)] = data
        self._forget()
        self._forget_others()

    # --- decisions

    def _decision(self, index: int) -> _Decision:
        decision = self._decisions.get(index)
        if decision is None:
            decisions = self.builder.decisions
            options = decisions.asks[index][1].ask.options
            types = tuple(tuple(choice.type for choice in option.choices) for option in options)
            sizes = tuple(size * WORD for size in decisions.sizes(index))
            decision = self._decisions[index] = _Decision(max(sizes), sizes, types)
        return decision

    def tell(self) -> Turn:
        self._tell()
        return self.told()

    def told(self) -> Turn:
        """Return the position that the module has just reported."""
        return self._turn(self._report())

    def step(self, home: Resident, place: int, room: int) -> Turn:
        """Apply the choice at an address to the state in memory and return the next turn. Raises :class:`Trap`.

        If nobody has looked at the state for some steps, the module goes on with the choices of bots that are asked
        ahead, up to ``room`` choices, and the turns after them become ``upcoming``.
        """
        if self.left:
            self.left -= 1
            room = 0
        self._words[self._most] = min(room, self._most_ahead)
        made = self._step(place)
        if made == 1:
            report = self._report()
            return self.turns.get(report) or self._turn(report)
        data = self._bytes[self._reports : self._reports + made * self._size].tobytes()
        reports = list(chain.from_iterable(self._unpack(data)))
        try:
            turns = list(map(self.turns.__getitem__, reports))
        except KeyError:
            turns = list(map(self._turn, reports))
        turns.reverse()
        home.upcoming = turns
        return turns.pop()

    def why_trapped(self) -> Unsupported:
        """Return the reason of the last trap, as far as it is known."""
        at = TIGHT // WORD
        number, needed = self._words[at : at + 2]
        self._words[at] = 0
        if number:
            room = self._tight[number - 1]
            return TooSmall(f"{needed:,} items or words of `{room}`, where a module had less room", room, 2 * needed)
        return Unsupported(self._left_out[0] if self._left_out else BEYOND)

    def take_back_step(self) -> bool:
        """Undo all choices of a step, the last of which trapped, if the state before them is in memory."""
        if made := self._words[self._made]:
            self._take_back_all(made)
        return self.take_back()

    def _rewind(self) -> None:
        """Take back the choices that were made in memory but not in the game."""
        home = self.current
        if home is not None and home.upcoming:
            self._take_back_all(len(home.upcoming))
            home.upcoming, home.turn, home.heeded = [], self.told(), None

    def _take_back_all(self, count: int) -> None:
        self._silence_all()
        for _ in range(count):
            self._take_back()
        self.wait = self.left = min(2 * self.wait, MOST_WAIT)

    def write(self, index: int, code: Code) -> int:
        """Write an option into memory and return its address."""
        record = self._records.get((index, code)) or self.record(index, code)
        place: int = self._options
        self._bytes[place : place + len(record)] = record
        return place

    def take_back(self) -> bool:
        """Undo the last choice if the state before it is in memory; the module then reports its position."""
        self._silence_all()
        return bool(self._take_back())

    def _turn(self, report: bytes) -> Turn:
        """Decode a report. The result is cached."""
        turn = self.turns.get(report)
        if turn is None:
            index, seat, has, drawn = memoryview(report[:TURN_HEAD]).cast("i")
            code = self.code_in(report, TURN_HEAD, index) if has else None
            if len(self.turns) >= MOST_RECORDS:
                self.turns.clear()
            turn = self.turns[report] = Turn(index, seat, code, drawn)
        return turn

    def record(self, index: int, code: Code) -> bytes:
        """Encode an option. Raise :class:`Unsupported` if a value does not fit into memory."""
        data = self._records.get((index, code))
        if data is None:
            number, values = code
            words = [number, *self.codec.row(values, self._decision(index).types[number])]
            if len(self._records) >= MOST_RECORDS:
                self._records.clear()
            data = b"".join(word.to_bytes(4, "little", signed=True) for word in words)
            self._records[index, code] = data
        return data

    def codes(self) -> list[Code]:
        decision = self._decision(self._words[ASKED])
        data = self._bytes[self._options : self._list()].tobytes()
        if (listed := decision.lists.get(data)) is None:
            stride, sizes, known = decision.stride, decision.sizes, decision.codes
            numbers = memoryview(data).cast("i")[:: stride // WORD].tolist()
            records = [data[at : at + sizes[n]] for n, at in zip(numbers, range(0, len(data), stride), strict=True)]
            listed = [known.get(record) or self._code(record, decision) for record in records]
            if len(decision.lists) >= MOST_LISTS:
                decision.lists.clear()
            if len(data) <= MOST_LISTED:
                decision.lists[data] = listed
        return listed[:]

    def code_in(self, data: bytes, at: int, index: int) -> Code:
        """Decode the option at a place, of a decision of the stretch ``index``."""
        decision = self._decision(index)
        number = int.from_bytes(data[at : at + WORD], "little")
        return self._code(data[at : at + decision.sizes[number]], decision)

    def _code(self, record: bytes, decision: _Decision) -> Code:
        """Decode an option. The result is cached, so equal options are one object while the cache lasts."""
        known = decision.codes
        code = known.get(record)
        if code is None:
            number, *words = memoryview(record).cast("i").tolist()
            if len(known) >= MOST_RECORDS:
                known.clear()
            code = known[record] = number, self.codec.values(words, 0, decision.types[number])
        return code

    def is_free(self) -> bool:
        return bool(self._free())

    def accepts(self, number: int, values: tuple[Value, ...]) -> bool:
        try:
            record = self.record(self._words[ASKED], (number, values))
        except (Unsupported, TypeError, IndexError, ValueError):
            return False
        stride, size = self._decision(self._words[ASKED]).stride, len(record)
        options = self._bytes[self._options : self._list()].tobytes()
        return record in [options[at : at + size] for at in range(0, len(options), stride)]

    # --- bots

    def sit(self, seat: int, player: int | None) -> None:
        """Let a policy choose on a seat from now on, or somebody outside."""
        self._words[self._bots + seat] = 0 if player is None else 1 + player * self.numbers["stretches"]

    def begin_stream(self, seat: int, random: Draws) -> int:
        """Let the bot on a seat draw from a stream; return where the module counts the numbers it has drawn."""
        at = self.numbers["streams"] // LONG + 2 * seat
        self._longs[at], self._longs[at + 1] = random.signed_origin, random.used
        return at + 1

    def silence(self, seat: int) -> None:
        self.ahead[seat] = None
        self.sit(seat, None)

    def _silence_all(self) -> None:
        for seat, ahead in enumerate(self.ahead):
            if ahead is not None:
                self.silence(seat)

    def choose(self, player: int, bot: object, random: Draws, seat: int) -> Code:
        """Return the choice of a bot by the policy ``player``, for a seat at which it is asked ahead from now on."""
        used = self.begin_stream(seat, random)
        place = self._bot(player)
        random.used = self._longs[used]
        decision = self._decision(self._words[ASKED])
        record = self._bytes[place : place + decision.sizes[self._words[place // WORD]]].tobytes()
        self.ahead[seat] = Ahead(bot, random, random.used)
        self.sit(seat, player)
        return self._code(record, decision)


def _kept(order: Order) -> Made | None:
    data = order.keeper.kept(order.key) if order.keeper is not None else None
    if data is None:
        return None
    try:
        return Made(*marshal.loads(data))
    except (EOFError, TypeError, ValueError):  # damaged: build again
        return None


def _fitted(order: Order) -> tuple[ModuleBuilder, bytes]:
    try:
        return fitted(order.machine, order.first, order.rooms, order.texts)
    except Unsupported as error:
        raise Unavailable(error.reason) from None


def _made(order: Order, builder: ModuleBuilder, first: bytes) -> Made:
    try:
        bots = [builder.policies.choices(player.policy, player.peeks, player.key) for player in order.players]
        text, numbers = assembled(builder, first, bots)
        code = compiled(text)
    except (Unsupported, Invalid) as error:
        raise Unavailable(str(error)) from None
    made = Made(
        code=code,
        numbers=numbers,
        texts=dict(builder.shapes.texts),
        players=tuple(player.key for player in order.players),
        rooms=builder.shapes.rooms,
        tight=tuple(builder.tight),
        left_out=tuple(f"{span}: {why}" for span, why in builder.rules_left_out.items()),
    )
    if order.keeper is not None:
        order.keeper.keep(order.key, marshal.dumps(tuple(made)))
    return made


# --- states of games


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
            place = built.ahead_at if code == turn.code else built.write(turn.index, code)
            self.turn = built.step(self, place, constants.MAXIMUM_RECORDS - len(self.since) - self.known)
        except Unsupported:  # a value does not fit into memory
            built.drop(self)
            return None
        except Trap:
            self.turn = self._without_bots(turn.index, code)
        if self.turn is not None:
            self.since.append(code)
        return self.turn

    def _without_bots(self, index: int, code: Code) -> Turn | None:
        """Apply a choice again without asking bots ahead, in case one of them trapped."""
        built = self.built
        try:
            if any(built.ahead) and built.take_back_step():
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


def _logged(state: State) -> State:
    """Return another state that shares the cells, frame and log."""
    origin = State(state.cells, state.frame)
    origin.log = state.log
    return origin
