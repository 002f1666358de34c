"""Batches: many games in one module, stepped in one call.

Actions go in; legal actions, vectors and rewards come out, all in memory. The functions are written by hand in
``batch.wat``. Generated functions of the table write observations (:mod:`interpreter.rl.observer`).
:mod:`interpreter.rl.numbering` defines actions and vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.compiler.codegen.delayed_blocks import KEPT_START
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.wasm.assemble import Bots, assembled
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.driver import FRAMES_KEPT, LONG, Rows
from interpreter.compiler.wasm.engines import compiled, instance_of
from interpreter.compiler.wasm.instance import Invalid
from interpreter.compiler.wasm.runtime import written
from interpreter.rl.numbering import MOST_LEGAL, Actions, Block, Vector
from interpreter.rl.observer import Observer

__all__ = ["Batch", "batch_of"]


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
        **{name: memory.reserve(count) for name in ("actions", "actors", "counts")},
        "legal": memory.reserve(count * listed),
        "legal_bytes": listed * WORD,
        "most_legal": listed,
        "mask": memory.reserve((count * actions.count + WORD - 1) // WORD),
        "mask_bytes": actions.count,
        "vectors": memory.reserve(count * vector.size),
        "vector_bytes": vector.size * WORD,
        "rewards": memory.reserve(count * seats),
        "dones": memory.reserve((count + WORD - 1) // WORD),
        **{name: memory.reserve(1) for name in ("cursor", "limit", "again")},
        "other": memory.reserve(vector.size),
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
    return Batch(code, numbers, builder)


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
    ``batch.wat``. Functions raise :class:`~interpreter.compiler.wasm.instance.Trap`.
    """

    def __init__(self, code: bytes, numbers: dict[str, int], builder: ModuleBuilder) -> None:
        self.numbers, self.codec = numbers, Codec(builder)
        self.instance = instance = instance_of(code)  # frees the memory when it goes
        self.bytes, self.words, self.longs = instance.bytes, instance.words, instance.longs
        self.step = instance.function("batch_step", long=True)
        self.resume, self.observe = map(instance.function, ("batch_resume", "batch_observe"))

    def word(self, name: str) -> int:
        """Return a word that belongs to no game."""
        return self.words[self.numbers[name] // WORD]

    def put(self, name: str, word: int, place: int = 0) -> None:
        self.words[self.numbers[name] // WORD + place] = word

    def row(self, game: int) -> int:
        """Return the address of the row of a game: see ``driver.wat``."""
        return self.numbers["rows"] + game * self.numbers["row_bytes"]

    def seed(self, game: int) -> int:
        return int(self.longs[self.row(game) // LONG]) & (1 << 64) - 1

    def is_endless(self, game: int) -> bool:
        """Return whether a game in which the module has trapped has had as many choices as allowed."""
        return bool(self.words[self.row(game) // WORD + 2] >= self.word("limit"))
