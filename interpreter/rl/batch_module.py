"""Batches: many games in one module, stepped in one call.

Actions go in; legal actions, vectors and rewards come out, all in memory. The functions are written by hand in
``batch.wat``. Generated functions of the table write observations (:mod:`interpreter.rl.observer`).
:mod:`interpreter.rl.numbering` defines actions and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from interpreter.compiler.build.delayed_blocks import KEPT_START
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported, signed
from interpreter.compiler.wasm.assemble import Bots, assembled
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.driver import FRAMES_KEPT, LONG, Rows
from interpreter.compiler.wasm.instance import Instance, Invalid, Trap, compiled
from interpreter.compiler.wasm.runtime import written
from interpreter.kernel.state import State
from interpreter.rl.numbering import MOST_LEGAL, Actions, Block, Vector
from interpreter.rl.observer import Observer

__all__ = ["Batch", "Stuck", "batch_of"]


class Stuck(Exception):
    """The module trapped in a game; ``game`` is its number."""

    def __init__(self, game: int) -> None:
        super().__init__(game)
        self.game = game


def batch_of(builder: ModuleBuilder, first: bytes, bots: Bots, actions: Actions, vector: Vector, count: int) -> Batch:
    """Build a module for ``count`` games; raise :class:`Unsupported` if the table cannot be compiled."""
    memory, decisions, seats = builder.memory, builder.decisions, len(builder.constants.seats)
    observer = Observer(decisions, vector, actions.decisions)
    own = observer.functions()
    builder.functions.update(own)
    builder.finish()
    for name in own.keys() & builder.left_out.keys():
        raise Unsupported(builder.left_out[name])
    streams = 2 * LONG * seats
    rows = Rows.of(builder, count, streams + memory.frames - STATE + FRAMES_KEPT * WORD)
    head = rows.ranks + seats * rows.rank_bytes
    listed = min(MOST_LEGAL, max(1, actions.count))
    kept = memory.groups["kept"]
    numbers = {
        "actions": memory.reserve(count),
        "actors": memory.reserve(count),
        "counts": memory.reserve(count),
        "legal": memory.reserve(count * listed),
        "legal_bytes": listed * WORD,
        "most_legal": listed,
        "mask": memory.reserve((count * actions.count + WORD - 1) // WORD),
        "mask_bytes": actions.count,
        "vectors": memory.reserve(count * vector.size),
        "vector_bytes": vector.size * WORD,
        "rewards": memory.reserve(count * seats),
        "dones": memory.reserve((count + WORD - 1) // WORD),
        "cursor": memory.reserve(1),
        "limit": memory.reserve(1),
        "again": memory.reserve(1),
        "other": memory.reserve(vector.size),
        "strides": decisions.strides(),
        "alternatives": decisions.table(lambda index: _alternatives(builder, index, actions.of[index])),
        "head": head,
        "streams_bytes": streams,
        "held": head + streams,
        "kept": kept.address,
        "kept_start": kept.address + KEPT_START * WORD,
        "kept_limit": kept.address + kept.stride,
        "stepped": count,
    }
    face = written("batch.wat", "interpreter.rl")
    text, numbers = assembled(builder, first, bots, own, face, numbers, rows, 0)
    try:
        code = compiled(text)
    except Invalid as error:
        raise Unsupported(str(error)) from None
    return Batch(code, numbers, builder, count)


def _alternatives(builder: ModuleBuilder, index: int, blocks: Sequence[Block]) -> int:
    """Return the address of a word for each alternative of a decision: the address of the table of its actions. The
    number of alternatives precedes them."""
    ask = builder.decisions.asks[index][1].ask
    rows = []
    for option, block in zip(ask.options, blocks, strict=True):
        offsets = [offset for _, (offset, _) in builder.decisions.placed(option)]
        is_exact = block.ranks == 1 and len(block.digits) == len(block.choices)
        words = [block.size, block.first, block.ranks, len(block.digits), int(is_exact)]
        for digit in block.digits:
            kind = 0 if not digit.is_number else 2 if digit.type.optional else 1
            words += [offsets[digit.choice], digit.low, digit.size, kind]
        rows.append(builder.memory.words(words) + WORD)
    return builder.memory.words([len(rows), *rows]) + WORD


class Batch:
    """Games in one module. ``bytes`` is the whole memory, which may be read between calls.

    ``numbers`` has addresses of arrays with an entry for each game, and sizes in bytes, by the placeholders of
    ``batch.wat``.
    """

    def __init__(self, code: bytes, numbers: dict[str, int], builder: ModuleBuilder, count: int) -> None:
        self.numbers, self.count, self.instance = numbers, count, Instance(code)
        self.bytes = self.instance.bytes
        self.codec, self.seats = Codec(builder), len(builder.constants.seats)
        self._words, self._longs = self.instance.words, self.instance.longs
        function = self.instance.function
        self._step = function("batch_step", long=True)
        self._refused, self._resume = function("batch_refused"), function("batch_resume")
        self._observe = function("batch_observe")

    def play_by(self, bots: Sequence[int], limit: int, again: bool) -> None:
        """Let the bots of the module play the seat that each has, and set the maximum number of choices of a game, and
        whether finished games begin again. The other seats are played from outside."""
        self._set("limit", limit)
        self._set("again", int(again))
        for number, seat in enumerate(bots):
            self._words[self.numbers["bots"] // WORD + seat] = 1 + number * self.numbers["stretches"]

    def _set(self, name: str, word: int) -> None:
        self._words[self.numbers[name] // WORD] = word

    def begin(self, seeds: Sequence[int], start: int = 0) -> None:
        """Start games with these seeds, from game number ``start`` on; raise :class:`Stuck` if the module traps."""
        for number, seed in enumerate(seeds):
            self._longs[self._row(start + number) // LONG] = signed(seed)
        with self._stuck():
            self._step(start, start + len(seeds), 1)

    @contextmanager
    def _stuck(self, game: int | None = None) -> Iterator[None]:
        """Raise :class:`Stuck` if the module traps inside, in this game or in the one that it works on."""
        try:
            yield
        except Trap:
            raise Stuck(self._words[self.numbers["cursor"] // WORD] if game is None else game) from None

    def _row(self, game: int) -> int:
        return self.numbers["rows"] + game * self.numbers["row_bytes"]

    def seed(self, game: int) -> int:
        return int(self._longs[self._row(game) // LONG]) & (1 << 64) - 1

    def is_endless(self, game: int) -> bool:
        """Return whether a game that is stuck has had as many choices as allowed."""
        return bool(self._words[self._row(game) // WORD + 2] >= self._words[self.numbers["limit"] // WORD])

    def end(self, game: int) -> None:
        self._words[self._row(game) // WORD + 5] = 1

    def refused(self) -> int:
        """Return the first game whose action is illegal; -1 if there is none."""
        return self._refused(0, self.count)

    def step(self, start: int = 0) -> None:
        """Apply the actions of all games from ``start`` on.

        Raise :class:`Stuck` if the module traps in a game; the games before it are done.
        """
        with self._stuck():
            self._step(start, self.count, 0)

    def state(self, game: int) -> State:
        """Return a copy of the state of a game, with an empty log."""
        at = self._row(game) + self.numbers["held"]
        end = self._words[at // WORD + 2] - STATE
        return self.codec.decode(self.bytes[at : at + end].tobytes())

    def resume(self, game: int, state: State) -> None:
        """Continue a game from the state that its choice led to in the plain form; raise :class:`Stuck` if the module
        traps again."""
        data = self.codec.encode(state, self.seed(game))
        self.bytes[STATE : STATE + len(data)] = data
        with self._stuck(game):
            self._resume(game)

    def observe(self, game: int, seat: int) -> list[int]:
        at, size = self.numbers["other"], self.numbers["vector_bytes"]
        with self._stuck(game):
            self._observe(game, seat, at)
        return self._words[at // WORD : (at + size) // WORD].tolist()
