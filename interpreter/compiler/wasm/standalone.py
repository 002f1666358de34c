"""A module that plays without the interpreter: the module of a table with the interface of ``docs/wasm.md``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.memory import STATE
from interpreter.compiler.build.module import ModuleBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.standalone import Standalone
from interpreter.compiler.wasm.assemble import FUEL, Bots, Plan, assembled

__all__ = ["EXPORTS", "StandaloneModule", "binary_of", "standalone_module"]

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
"""What a module exports beside its ``memory``, with parameters and result, and what it is for."""
UNDO_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StandaloneModule:
    """The text of a module, and where things lie in its memory. ``undo``: how many choices can be taken back."""

    text: str
    plan: Plan
    buffer: int
    mask: int
    undo: int


def standalone_module(builder: ModuleBuilder, first: bytes, bots: Bots, streams: Sequence[int]) -> StandaloneModule:
    """The module. ``streams``: for each seat the hash of the name of the stream from which its bot draws."""
    memory = builder.memory
    faces = Standalone(builder)
    own = dict(faces.functions())
    builder.functions.update(own)
    strides = [0] * len(builder.program.stretches)
    for index in builder.decisions.asks:
        strides[index] = builder.decisions.stride(index) * WORD
    sizes = memory.words(strides)
    text, plan = assembled(builder, first, bots, own, undo_bytes=UNDO_BYTES)
    head, _, _ = text.rpartition(")")
    seated = "\n".join(
        f"  (call $seat_bot (i32.const {seat}) (i32.const 0) (local.get $seed) (i64.const {stream}))"
        for seat, stream in enumerate(streams)
    )
    face = FACE.format(
        **{"state": STATE, "asked": STATE + WORD, "top": STATE + 2 * WORD, "undone": plan.undone},
        **{"buffer": faces.buffer, "mask": faces.mask, "cells": memory.frames - STATE, "seated": seated},
        **{"masks": builder.constants.layout.size * WORD, "sizes": sizes, "fuel": FUEL},
        stretches=_number_of_stretches(text),
    )
    return StandaloneModule(f"{head}{face})", plan, faces.buffer, faces.mask, plan.slots)


def binary_of(text: str) -> bytes:
    """A module's text as a binary."""
    from wasmtime import wat2wasm

    return bytes(wat2wasm(text))


def _number_of_stretches(text: str) -> int:
    """The size of the table of stretches: the functions of one bot take as many places in the table of bots."""
    found = re.search(r"\(table \$stretches (\d+) ", text)
    assert found is not None
    return int(found[1])


FACE = """
;; Begins a game: the seed, the streams of the bots, nothing to take back.
(func (export "new_game") (param $seed i64)
  (i32.store (i32.const {undone}) (i32.const 0))
{seated}
  (call $begin (local.get $seed)))

;; The decision at hand; -1: none, the game is over.
(func (export "decision") (result i32)
  (i32.load (i32.const {asked})))

;; The seat that decides.
(func (export "actor") (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $actor_of (type $stretch) (i32.load (i32.const {state})) (i32.load (i32.const {asked}))))

;; Lists the options and counts them.
(func (export "count") (result i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (return (i32.const 0))))
  (i32.div_u (i32.sub (call $list) (global.get $options))
    (i32.load (i32.add (i32.const {sizes}) (i32.shl (i32.load (i32.const {asked})) (i32.const 2))))))

;; Keeps the state and goes on with an option.
(func (export "choose") (param $option i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (unreachable)))
  (call $keep)
  (call $choose (local.get $option)))

;; Goes back to the state before the last choice.
(func (export "undo") (result i32)
  (call $take_back))

;; The option that a policy chooses.
(func (export "bot") (param $policy i32) (result i32)
  (if (i32.lt_s (i32.load (i32.const {asked})) (i32.const 0)) (then (unreachable)))
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call_indirect $bots (type $stretch) (i32.load (i32.const {state}))
    (i32.add (i32.load (i32.const {asked})) (i32.mul (local.get $policy) (i32.const {stretches})))))

;; The cells as a seat may see them.
(func (export "view") (param $seat i32) (result i32)
  (memory.fill (i32.const {buffer}) (i32.const 0) (i32.const {cells}))
  (memory.fill (i32.const {mask}) (i32.const 0) (i32.const {masks}))
  (call $seen (local.get $seat))
  (i32.const {buffer}))

;; FNV-1a over the words of all that counts.
(func (export "digest") (result i64)
  (local $hash i64) (local $at i32) (local $end i32)
  (memory.fill (i32.const {buffer}) (i32.const 0)
    (i32.sub (i32.load (i32.const {top})) (i32.const {state})))
  (local.set $at (i32.const {buffer}))
  (local.set $end (i32.add (local.get $at) (i32.shl (call $copied) (i32.const 2))))
  (local.set $hash (i64.const 0xcbf29ce484222325))
  (block $done
    (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $hash (i64.mul (i64.xor (local.get $hash) (i64.load32_u (local.get $at))) (i64.const 0x100000001b3)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $next)))
  (local.get $hash))

(func (export "over") (result i32)
  (call $is_over))

(func (export "place") (param $seat i32) (result i32)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $place_of (local.get $seat)))

(func (export "key") (param $seat i32) (param $key i32) (result i64)
  (global.set $arena (global.get $arena_start))
  (global.set $fuel (i32.const {fuel}))
  (call $key_of (local.get $seat) (local.get $key)))
"""
