"""Whole games in a module: what is called, and what comes back of a game: numbers that were measured, facts, ranks.

The functions are written by hand in ``whole.wat``. A *record* is a number that was taken, with a key
(:mod:`interpreter.compiler.build.measures`) and its value; a *fact* is what the summary of many games counts: see
:class:`Facts`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpreter.base.frozen import dataclass as frozen
from interpreter.compiler import lower as l
from interpreter.compiler.build.measures import MEASURE, OF_BITS, ROUND, ROUND_BITS, KeyPart, key_parts
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, Unsupported, halves, signed
from interpreter.kernel.chance import Draws, name_hash
from interpreter.kernel.state import Value
from interpreter.language.model import Measure

if TYPE_CHECKING:
    from interpreter.compiler.build.module import ModuleBuilder
    from interpreter.compiler.wasm.machine import Code
    from interpreter.compiler.wasm.module import Compiled

__all__ = [
    "BIAS",
    "BOT_STREAM",
    "CURVE",
    "FINAL",
    "MET",
    "NO_VALUE",
    "TABLE",
    "VALUE_BITS",
    "Facts",
    "Finished",
    "Whole",
    "reserve",
    "template",
    "whole_text",
]

LONG = 8
RECORDS, RECORD = 32 * 1024, 16
FACTS, FACT = 16 * 1024, 8
SLOT = 24
HASH_BITS = 13
MOST_KNOWN = (1 << HASH_BITS) * 3 // 4

CURVE, FINAL, TABLE, MET = range(4)
"""The kinds of facts: what was taken last (or in all) of a thing in a round; in a game; once that it happened, or in
all in a game where it sums; and that a thing was met at all, whosever it is."""
VALUE_BITS, THING_BITS, FACT_ROUND_BITS = 22, 22, 10
KIND = 62
BIAS = 1 << VALUE_BITS - 1
NO_VALUE = (1 << VALUE_BITS) - 1
BOT_STREAM = "bot seat {}"
"""The name of a seat's stream: see :func:`interpreter.play.match.streams_for`."""


def wanted(measure: Measure) -> tuple[bool, bool, bool]:
    """Which kinds of facts the summary wants of a measure: by round, at the end, at what an event was about."""
    keys = len(measure.keys)
    final = "end of game" in measure.when and (keys == 0 or (keys == 1 and measure.seat is not None))
    return measure.recurs, final, measure.event is not None or not (measure.recurs or final)


@frozen(frozen=True, slots=True)
class Areas:
    """Addresses of what whole games need."""

    records: int
    facts: int
    ranked: int
    slots: int
    order: int
    plans: int
    hashes: int
    players: int
    """Four words: the number of bots, of free decisions, and where records and facts end."""


def reserve(builder: ModuleBuilder) -> Areas:
    """Makes room in memory, and says there what becomes of each measure."""
    memory, model = builder.memory, builder.constants.model
    seats = len(builder.constants.seats)
    plans = []
    for measure in model.measures:
        curve, final, table = wanted(measure)
        mask = (1 << MEASURE + 8) - 1
        try:
            parts = key_parts(builder.shapes, measure)
        except Unsupported:  # it fails where it is taken
            parts = ()
        if parts and measure.seat is not None:
            mask &= ~(parts[measure.seat].mask << parts[measure.seat].shift)
        flags = curve | final << 1 | table << 2 | measure.sums << 3
        plans += [flags, 0, *halves(mask)]
    hashes = [half for seat in range(seats) for half in halves(name_hash(BOT_STREAM.format(seat)))]

    return Areas(
        memory.reserve_long(RECORDS * RECORD // LONG),
        memory.reserve_long(FACTS * FACT // LONG),
        memory.reserve_long(seats * len(model.ranking)),
        memory.reserve_long(SLOT // LONG << HASH_BITS),
        memory.reserve(MOST_KNOWN),
        memory.words([*plans, 0, 0]),
        memory.words([*hashes, 0, 0]),
        memory.reserve_long(2),
    )


def template() -> str:
    """The functions with names for what each module has elsewhere."""
    from importlib.resources import files

    return (files(__package__) / "whole.wat").read_text(encoding="utf-8")


def whole_text(builder: ModuleBuilder, areas: Areas, numbers: dict[str, int]) -> str:
    """The functions as WebAssembly text. ``numbers`` are those of the driver."""
    facts_room = ((1 << OF_BITS) - (1 << THING_BITS)) | ((1 << ROUND_BITS) - (1 << FACT_ROUND_BITS)) << ROUND
    kind_and_measure = (1 << 64) - (1 << MEASURE)
    return template().format(
        **numbers,
        records=areas.records,
        records_limit=areas.records + RECORDS * RECORD,
        facts=areas.facts,
        facts_limit=areas.facts + FACTS * FACT,
        ranked=areas.ranked,
        slots=areas.slots,
        order=areas.order,
        plans=areas.plans,
        hashes=areas.hashes,
        players=areas.players,
        seats=len(builder.constants.seats),
        hash_shift=64 - HASH_BITS,
        hash_mask=(1 << HASH_BITS) - 1,
        most_known=MOST_KNOWN,
        no_fact=facts_room,
        none=NO_NUMBER,
        bias=BIAS,
        most=NO_VALUE - 1,
        no_value=NO_VALUE,
        kind_and_measure=kind_and_measure,
        round=ROUND,
        rounds=(1 << FACT_ROUND_BITS) - 1,
        fact_round=VALUE_BITS + THING_BITS,
        of=(1 << THING_BITS) - 1,
        fact_of=VALUE_BITS,
        measure=MEASURE,
        no_round=(1 << 64) - 1 - ((1 << ROUND_BITS) - 1 << ROUND),
        curve=1,
        final=2,
        table=4,
        sums=8,
        kind_1=FINAL << KIND,
        kind_2=TABLE << KIND,
        kind_3=MET << KIND,
    )


# --- what comes back


@frozen(frozen=True, slots=True)
class Facts:
    """How to read records and facts. ``parts`` has for each measure what stands in its keys: where, how many bits, what
    stands for 0, and the public name of each value (none: it is its own)."""

    names: tuple[str, ...]
    parts: tuple[tuple[tuple[int, int, int, tuple[object, ...] | None], ...], ...]

    def of(self, measure: int, thing: int) -> tuple[object, ...]:
        """What a number was taken of, by public names."""
        found: list[object] = []
        for shift, mask, low, names in self.parts[measure]:
            digit = thing >> shift & mask
            if names is None:
                found.append(None if digit == 0 else digit + low)
            else:
                found.append(names[digit])
        return tuple(found)

    def records(self, data: bytes) -> list[tuple[int, int, tuple[object, ...], int | None]]:
        """Each number that was taken: the measure, the round, what of, and it."""
        words = memoryview(data).cast("q")
        of: dict[int, tuple[object, ...]] = {}
        found = []
        for at in range(0, len(words), 2):
            key, value = words[at], words[at + 1]
            measure, round_ = key >> MEASURE, key >> ROUND & (1 << ROUND_BITS) - 1
            thing = key ^ round_ << ROUND
            things = of.get(thing)
            if things is None:
                things = of[thing] = self.of(measure, thing & (1 << OF_BITS) - 1)
            found.append((measure, round_, things, None if value == NO_NUMBER else value))
        return found

    def head(self, head: int) -> tuple[int, int, int, tuple[object, ...]]:
        """A fact without its value: the kind, the measure, the round, and what it was of."""
        measure = head >> MEASURE - VALUE_BITS & 255
        return (
            head >> KIND - VALUE_BITS,
            measure,
            head >> THING_BITS & (1 << FACT_ROUND_BITS) - 1,
            self.of(measure, head & (1 << THING_BITS) - 1),
        )


@frozen(frozen=True, slots=True)
class Playout:
    """What a playout came to: what ranks the seats; none where it took too long."""

    keys: tuple[tuple[Value, ...], ...] | None


@dataclass(slots=True)
class Finished:
    """A game that was played whole; ``keys`` rank the seats one after another, ``facts`` may be missing."""

    decisions: int
    free: int
    rounds: int
    keys: tuple[tuple[Value, ...], ...]
    records: bytes
    facts: bytes | None


class Whole:
    """Plays whole games in a module, with the same bots as long as nobody seats others."""

    def __init__(self, built: Compiled) -> None:
        self.built = built
        instance, self.areas = built.instance, Areas(*built.addresses["whole"])
        self._game, self._rest = instance.function("game", long=True), instance.function("rest", long=True)
        self._playout = instance.function("playout", long=True)
        self._calm, self._seat = instance.function("calm"), instance.function("seat")
        self._words, self._bytes = instance.words, instance.bytes
        self._out = self.areas.players // WORD
        self._round = built.builder.memory.groups["round"].address // WORD
        self._asked = STATE // WORD + 1
        self._options: int = built.addresses["options"]
        model = built.builder.constants.model
        forms = [key.type for key in model.ranking]
        self._plain_ranks = all(type_.form == "int" and not type_.optional for type_ in forms)
        self._ranks = forms
        self._width = len(forms)
        seats = len(built.builder.constants.seats)
        self._ranked = instance.longs[self.areas.ranked // LONG : self.areas.ranked // LONG + seats * self._width]

    def seat(self, bots: Sequence[int]) -> None:
        """Puts bots on the first seats; no other one may decide."""
        if self.built.seated != tuple(bots):
            for seat, bot in enumerate(bots):
                self._seat(seat, bot, 0)
            self._words[self._out] = len(bots)
            self.built.seated = tuple(bots)

    def game(self, seed: int, bots: Sequence[int], limit: int) -> Finished | None:
        """A whole game; none where the module gives up."""
        from interpreter.compiler.wasm.instance import Trap

        self.built.leave()
        self.seat(bots)
        try:
            decisions = self._game(signed(seed), limit)
        except Trap:
            self._calm()
            return None
        return self._finished(decisions)

    def rest(self, data: bytes, seed: int, bots: Sequence[int], limit: int) -> Finished | None:
        """The rest of a game from a state, by bots whose streams begin with a seed; none where the module gives up."""
        from interpreter.compiler.wasm.instance import Trap

        self._lay(data, bots)
        try:
            decisions = self._rest(signed(seed), limit)
        except Trap:
            self._calm()
            return None
        return self._finished(decisions)

    def _lay(self, data: bytes, bots: Sequence[int]) -> None:
        """A state lies in memory that nobody else plays on."""
        self.built.leave()
        self.built.restore(data)
        self.seat(bots)

    def _finished(self, decisions: int) -> Finished:
        _, free, end, facts_end = self._words[self._out : self._out + 4].tolist()
        areas = self.areas
        facts = self._bytes[areas.facts : facts_end].tobytes() if facts_end else None
        records = self._bytes[areas.records : end].tobytes()
        return Finished(decisions, free, self._words[self._round], self.keys(), records, facts)

    def keys(self) -> tuple[tuple[Value, ...], ...]:
        """What ranks the seats, now that the game is over."""
        flat: list[Value] = self._ranked.tolist()
        width = self._width
        if not width:
            return tuple(() for _ in self.built.builder.constants.seats)
        if not self._plain_ranks:
            flat = [_rank(value, self._ranks[at % width].form) for at, value in enumerate(flat)]
        return tuple(zip(*[iter(flat)] * width, strict=True))

    def playout(self, data: bytes, first: Code, stream: Draws, bots: Sequence[int], limit: int) -> Playout | None:
        """A choice is made in a state, and bots that draw from one stream play on to the end of the game. None where
        the module gives up."""
        from interpreter.compiler.wasm.instance import Trap

        self._lay(data, bots)
        try:
            option = self._option(first)
            self._bytes[self._options : self._options + len(option)] = option
            decisions = self._playout(self._options, stream.signed_origin, stream.used, limit)
        except (Trap, Unsupported):
            return None
        return Playout(self.keys() if decisions < limit else None)

    def _option(self, code: Code) -> bytes:
        """An option of the decision at hand as memory holds it."""
        number, values = code
        _, end = self.built.builder.decisions.asks[self._words[self._asked]]
        assert isinstance(end, l.Asks)
        words = [number]
        for value, choice in zip(values, end.ask.options[number].choices, strict=True):
            words += self.built.codec.words(value, choice.type)
        return array("i", words).tobytes()

    def parts(self, measure: Measure) -> tuple[KeyPart, ...]:
        """What stands in the keys of a measure; nothing where none can be taken here."""
        try:
            return key_parts(self.built.builder.shapes, measure)
        except Unsupported:
            return ()

    def domain(self, part: KeyPart) -> int:
        """How many values a part of a key can have, but for none."""
        return self.built.builder.shapes.domain(part.type)


def _rank(value: int, form: str) -> int | bool | None:
    if value == NO_NUMBER:
        return None
    return bool(value) if form == "bool" else value
