"""Modules that play without the interpreter: the module of a table with the interface of ``docs/wasm.md``."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.exports import Standalone
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module_builder import ModuleBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.wasm.assemble import Bots, Plan, assembled
from interpreter.compiler.wasm.runtime import written

__all__ = ["EXPORTS", "StandaloneModule", "standalone_module"]

EXPORTS = {
    "new_game": ("(seed: i64)", "begins a game and goes to its first decision"),
    "decision": ("() -> i32", "the number of the decision at hand; -1: the game is over"),
    "actor": ("() -> i32", "the seat that decides"),
    "count": ("() -> i32", "lists the options of the decision at hand and gives how many there are"),
    "choose": ("(option: i32)", "goes on with the option at an address, to the next decision"),
    "undo": ("() -> i32", "takes the last choice back; 0: none is kept"),
    "bot": ("(policy: i32) -> i32", "the address of the option that a policy chooses for the seat that decides"),
    "seat_bot": ("(seat: i32, policy: i32, seed: i64, stream: i64)", "gives a seat a policy, for `play`"),
    "play": ("(decisions: i32) -> i32", "lets the bots of the seats make so many choices; gives how many they made"),
    "view": ("(seat: i32) -> i32", "the address of the cells as a seat sees them"),
    "digest": ("() -> i64", "the FNV-1a hash of all cells and frames"),
    "forget": ("()", "drops all answers that the module remembers; needed after the state was written from outside"),
    "over": ("() -> i32", "1 where the game is over"),
    "place": ("(seat: i32) -> i32", "the place of a seat as the game stands; 0: it does not count"),
    "key": ("(seat: i32, key: i32) -> i64", "a key of the ranking of a seat"),
}
"""Exports of a module besides its ``memory``: signature and purpose."""
UNDO_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StandaloneModule:
    """Text and memory plan of a standalone module. ``undo``: maximum number of choices that can be undone."""

    text: str
    plan: Plan
    buffer: int
    mask: int
    undo: int


def standalone_module(builder: ModuleBuilder, first: bytes, bots: Bots, streams: Sequence[int]) -> StandaloneModule:
    """Build the module. ``streams`` has for each seat the hash of the name of its bot's stream."""
    memory = builder.memory
    faces = Standalone(builder)
    own = dict(faces.functions())
    builder.functions.update(own)
    strides = [0] * len(builder.program.stretches)
    for index in builder.decisions.asks:
        strides[index] = builder.decisions.stride(index) * WORD
    rows = memory.words(strides)
    text, plan = assembled(builder, first, bots, own, undo_bytes=UNDO_BYTES)
    head, _, _ = text.rpartition(")")
    seated = "\n".join(
        f"  (call $seat_bot (i32.const {seat}) (i32.const 0) (local.get $seed) (i64.const {stream}))"
        for seat, stream in enumerate(streams)
    )
    face = written("standalone.wat").format(
        **plan.numbers,
        **{"buffer": faces.buffer, "mask": faces.mask, "cells": memory.frames - STATE, "seated": seated},
        **{"masks": builder.constants.layout.size * WORD, "strides": rows},
    )
    return StandaloneModule(f"{head}{face})", plan, faces.buffer, faces.mask, plan.slots)
