"""A table's module, ready to be played on: made, or fetched from another process."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from typing import Any, Protocol

from interpreter.compiler import lower
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported, signed
from interpreter.compiler.plain.machine import Code, Machine
from interpreter.compiler.wasm.assemble import TURN_HEAD, assembled
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.instance import (
    Instance,
    Invalid,
    Trap,
    compiled,
    is_available,
    serialised,
    text_to_binary,
)
from interpreter.compiler.wasm.turn import Keeper, Player, Turn, kept_as
from interpreter.kernel.chance import Draws
from interpreter.kernel.state import State, Value
from interpreter.language.types import Type

__all__ = ["Compiled", "Unavailable"]

FRAME, ASKED, TOP = STATE // WORD, STATE // WORD + 1, STATE // WORD + 2
"""The words of the header: the uppermost frame, the stretch that asks, the end of the frames."""
SEED = STATE // WORD + 4
MOST_RECORDS = 4_000


class Unavailable(Exception):
    """There is no module for a table: the plain form plays."""


@dataclass(frozen=True)
class Made:
    """Compiled module as stored: machine code, memory layout and texts."""

    code: bytes
    addresses: dict[str, Any]
    texts: dict[str, int]
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Decision:
    """Memory layout of the options of a decision: sizes, types, and options met so far by their bytes. ``codes`` are
    the options that were met, by their bytes."""

    stride: int
    sizes: tuple[int, ...]
    types: tuple[tuple[Type, ...], ...]
    codes: dict[bytes, Code] = field(default_factory=dict)


@dataclass(slots=True)
class Ahead:
    """A bot that is asked ahead: its number, the stream it draws from, and how many numbers were used of that."""

    player: int
    random: Draws
    used: int


class Loaded(Protocol):
    """A state that can lie in the module's memory; ``data`` is the state while it does not."""

    data: bytes | None

    def put_away(self) -> None:
        """Save the state: another one takes its place."""


class Compiled:
    """One module in memory, with the state that is played on."""

    def __init__(self, machine: Machine, builder: ModuleBuilder, made: Made, instance: Instance) -> None:
        self.machine, self.builder = machine, builder
        self.codec = Codec(builder)
        self.players = {key: number for number, key in enumerate(made.players)}
        self.addresses = made.addresses
        self.instance = instance
        self._bytes, self._words = instance.bytes, instance.words
        for name in ("start", "list", "tell", "free", "decide", "forget", "ask_ahead", "take_back"):
            setattr(self, f"_{name}", instance.function(name))
        self.step = instance.function("step")
        self._options = made.addresses["options"]
        self.current: Loaded | None = None
        """The state that lies in memory."""
        turn, size = made.addresses["turn"]
        self.report = self._bytes[turn : turn + size]
        self.told_at = turn + TURN_HEAD
        """The address of the choice that is told ahead."""
        self.turns: dict[bytes, Turn] = {}
        self.ahead: list[Ahead | None] = [None] * len(machine.constants.seats)
        """The bots that are asked ahead, by their seats."""
        self._decisions: dict[int, _Decision] = {}
        self._records: dict[tuple[int, Code], bytes] = {}
        """The words of options: the same come again and again."""
        self._longs, self._stream = instance.longs, made.addresses["stream"] // 8
        self._frames_start = builder.memory.frames

    _start: Any
    _list: Any
    step: Any
    """Makes the choice at an address."""
    _tell: Any
    _free: Any
    _decide: Any
    _forget: Any
    _ask_ahead: Any
    _take_back: Any

    # --- making

    @classmethod
    def of(
        cls, machine: Machine, first: State, texts: dict[str, int], keeper: Keeper | None, players: tuple[Player, ...]
    ) -> Compiled:
        """Return the module of a table with these policies, from the keeper or compiled now.

        ``first`` is the state that games begin with, ``texts`` are the numbers of texts in all modules of the table,
        to which those of this one are added. Raises :class:`Unavailable`.
        """
        if not is_available():
            raise Unavailable("wasmtime cannot be imported")
        builder = ModuleBuilder(machine.program, machine.constants, machine.resets)
        builder.shapes.texts = texts  # states go from one module of a table to another
        what = kept_as(player.key for player in players)
        made, instance = _kept(keeper, what), None
        if made is not None and all(texts.get(text, number) == number for text, number in made.texts.items()):
            with suppress(Invalid):  # it is of another version of wasmtime: it is made anew
                instance = Instance(made.code)
        if made is None or instance is None:
            made = _made(first, builder, players)
            if keeper is not None:
                keeper.keep(what, marshal.dumps((made.code, made.addresses, made.texts, made.players)))
            instance = Instance(made.code)
        texts.update(made.texts)
        return cls(machine, builder, made, instance)

    def leave(self) -> None:
        """Another module takes its place: the state in its memory is saved."""
        if self.current is not None:
            self.current.put_away()
            self.current = None
        self._forget_others()

    # --- states

    def begin(self, seed: int) -> bool:
        """Begin a game in memory; return False if the module traps."""
        self.leave()
        try:
            self._start(signed(seed))
        except Trap:
            return False
        return True

    def load(self, home: Loaded) -> None:
        """The state lies in memory then."""
        current = self.current
        if current is home:
            return
        if current is not None:
            current.put_away()
        assert home.data is not None
        self.restore(home.data)
        home.data = None
        self.current = home

    def kept_states(self) -> list[bytes]:
        """The states before the last choices, as far as they are kept in memory; they are not from now on."""
        undone, undo, size, slots = self.addresses["undo"]
        count, after = self._words[undone // WORD : undone // WORD + 2]
        found = []
        for number in range(after - count, after):
            at = undo + number % slots * size
            found.append(self._bytes[at : at + self._words[at // WORD + TOP - FRAME] - STATE].tobytes())
        self._words[undone // WORD] = 0
        return found

    def forget_past(self, home: Loaded) -> None:
        """A state does not go back to those before it."""
        if self.current is home:
            self._words[self.addresses["undo"][0] // WORD] = 0

    def _forget_others(self) -> None:
        """Nobody goes back to states before the one in memory, and no bot is asked ahead."""
        self._words[self.addresses["undo"][0] // WORD] = 0
        self._silence_all()

    def saved(self) -> bytes:
        """The state that lies in memory."""
        end = self._words[TOP] if self._words[ASKED] >= 0 else self._frames_start
        return self._bytes[STATE:end].tobytes()

    def reseeded(self, data: bytes, seed: int) -> bytes:
        """The state with other chance from now on."""
        at = SEED * WORD - STATE
        return data[:at] + (seed & 2**64 - 1).to_bytes(8, "little") + data[at + 8 :]

    def drop(self, home: Loaded) -> None:
        """Forget the state in memory."""
        if self.current is home:
            self.current = None

    def restore(self, data: bytes) -> None:
        self._bytes[STATE : STATE + len(data)] = data
        self._forget()
        self._forget_others()

    # --- decisions

    def _decision(self, index: int) -> _Decision:
        found = self._decisions.get(index)
        if found is None:
            _, end = self.builder.decisions.asks[index]
            assert isinstance(end, lower.Asks)
            types = tuple(tuple(choice.type for choice in option.choices) for option in end.ask.options)
            sizes = tuple(self.builder.decisions.words(option) * WORD for option in end.ask.options)
            found = self._decisions[index] = _Decision(self.builder.decisions.stride(index) * WORD, sizes, types)
        return found

    def cell(self, number: int, data: bytes | None) -> Value:
        """Return the value of a cell of a state, or of the state in memory if there are no bytes."""
        name, owner = self.machine.constants.layout.owner_of(number)
        group = self.builder.memory.groups[name]
        at = (group.address + owner * group.stride) // WORD
        words = self._words
        if data is not None:
            words, at = memoryview(data).cast("i"), at - STATE // WORD
        return self.codec.value(words[at : at + group.stride // WORD].tolist(), 0, group.type)

    def tell(self) -> Turn:
        """Return the position of the game."""
        self._tell()
        return self.told()

    def told(self) -> Turn:
        """Return the position that the module has just reported."""
        return self.turns.get(self.report.tobytes()) or self.met()

    def write(self, index: int, code: Code) -> int:
        """Return the address of an option, which is written there."""
        record = self._records.get((index, code)) or self.record(index, code)
        place: int = self._options
        self._bytes[place : place + len(record)] = record
        return place

    def take_back(self) -> bool:
        """Back to the state before the last choice, if it is kept in memory. The module tells where that stands."""
        self._silence_all()
        return bool(self._take_back())

    def met(self) -> Turn:
        """Decode a report that is seen for the first time."""
        index, seat, has, drawn, number, *_ = self.report.cast("i")
        code = None
        if has:
            decision = self._decision(index)
            code = self._code(self.report[TURN_HEAD : TURN_HEAD + decision.sizes[number]].tobytes(), decision)
        turn = Turn(index, seat, code, drawn)
        if len(self.turns) >= MOST_RECORDS:
            self.turns.clear()
        self.turns[self.report.tobytes()] = turn
        return turn

    def record(self, index: int, code: Code) -> bytes:
        """The words of an option, as bytes. Raises :class:`Unsupported` where memory has no room for a value."""
        found = self._records.get((index, code))
        if found is None:
            number, values = code
            words = [number]
            for value, type_ in zip(values, self._decision(index).types[number], strict=True):
                words += self.codec.words(value, type_)
            if len(self._records) >= MOST_RECORDS:
                self._records.clear()
            found = b"".join(word.to_bytes(4, "little", signed=True) for word in words)
            self._records[index, code] = found
        return found

    def codes(self) -> list[Code]:
        """The options of the decision at hand."""
        decision = self._decision(self._words[ASKED])
        data = self._bytes[self._options : self._list()].tobytes()
        stride, sizes, known = decision.stride, decision.sizes, decision.codes
        numbers = memoryview(data).cast("i")[:: stride // WORD].tolist()
        records = [data[at : at + sizes[n]] for n, at in zip(numbers, range(0, len(data), stride), strict=True)]
        return [known.get(record) or self._code(record, decision) for record in records]

    def _code(self, record: bytes, decision: _Decision) -> Code:
        """The option of some bytes. Equal ones are one object, as long as few are known."""
        known = decision.codes
        found = known.get(record)
        if found is None:
            number, *words = memoryview(record).cast("i").tolist()
            values, place = [], 0
            for type_ in decision.types[number]:
                values.append(self.codec.value(words, place, type_))
                place += self.builder.shapes.words(type_)
            if len(known) >= MOST_RECORDS:
                known.clear()
            found = known[record] = number, tuple(values)
        return found

    def is_free(self) -> bool:
        return bool(self._free())

    def accepts(self, number: int, values: tuple[Value, ...]) -> bool:
        """Return whether an option stands among those of the decision at hand."""
        try:
            record = self.record(self._words[ASKED], (number, values))
        except (Unsupported, TypeError, IndexError, ValueError):
            return False
        stride = self._decision(self._words[ASKED]).stride
        found = self._bytes[self._options : self._list()].tobytes()
        return any(found.startswith(record, at) for at in range(0, len(found), stride))

    def silence(self, seat: int) -> None:
        """The bot of a seat is not asked ahead any more."""
        self.ahead[seat] = None
        self._words[self.addresses["ahead"] // WORD + seat] = 0

    def _silence_all(self) -> None:
        for seat, asked in enumerate(self.ahead):
            if asked is not None:
                self.silence(seat)

    def choose(self, player: int, random: Draws, seat: int) -> Code:
        """Return the choice of a policy at the current decision of a seat, and ask it ahead from now on. From now on it
        is asked ahead there."""
        longs, at = self._longs, self._stream
        used = random.used
        longs[at] = random.signed_origin
        longs[at + 1] = used
        place = self._decide(player)
        random.go_to(longs[at + 1])
        index = self._words[ASKED]
        decision = self._decision(index)
        record = self._bytes[place : place + decision.sizes[self._words[place // WORD]]].tobytes()
        self.ahead[seat] = Ahead(player, random, random.end)
        self._ask_ahead(seat, player)
        return self._code(record, decision)


def _kept(keeper: Keeper | None, what: str) -> Made | None:
    data = keeper.kept(what) if keeper is not None else None
    if data is None:
        return None
    try:
        return Made(*marshal.loads(data))
    except (EOFError, TypeError, ValueError):  # it is damaged: it is made anew
        return None


def _made(first_state: State, builder: ModuleBuilder, players: tuple[Player, ...]) -> Made:
    try:
        first = Codec(builder).encode(first_state, 0)
        bots: list[Mapping[int, str]] = []
        for player in players:
            chosen: dict[int, str] = {}
            for index, (_, end) in builder.decisions.asks.items():
                assert isinstance(end, lower.Asks)
                if player.policy is None:
                    chosen[index] = builder.policies.random(index)
                else:
                    peeks = player.peeks(end.ask.name) if player.peeks is not None else ()
                    chosen[index] = builder.policies.choosing(player.policy, index, player.key, peeks)
            bots.append(chosen)
        text, plan = assembled(builder, first, bots)
        code = serialised(compiled(text_to_binary(text)))
    except (Unsupported, Invalid) as why:
        raise Unavailable(str(why)) from None
    whole = plan.whole
    addresses: dict[str, Any] = {
        "options": plan.options,
        "stream": plan.stream,
        "turn": (plan.turn, plan.turn_size),
        "ahead": plan.ahead,
        "undo": (plan.undone, plan.undo, plan.slot, plan.slots),
        "whole": astuple(whole),
    }
    return Made(code, addresses, dict(builder.shapes.texts), tuple(player.key for player in players))
