"""Modules that play without the interpreter: the module of a table with the interface of ``docs/wasm.md``."""

from __future__ import annotations

from interpreter.compiler.codegen.exports import Standalone
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.codegen.module_builder import ModuleBuilder
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.wasm.assemble import Bots, assembled
from interpreter.compiler.wasm.runtime import written

__all__ = ["EXPORTS", "standalone_module"]

EXPORTS = {
    "new_game": ("(seed: i64)", "starts a game and runs it to its first decision"),
    "decision": ("() -> i32", "returns the number of the pending decision, or -1 if the game is over"),
    "actor": ("() -> i32", "returns the seat that decides"),
    "count": ("() -> i32", "writes the list of legal options and returns their number"),
    "choose": ("(option: i32)", "applies the option at an address and runs to the next decision"),
    "undo": ("() -> i32", "undoes the last choice; returns 0 if no state is saved"),
    "bot": ("(policy: i32) -> i32", "returns the address of the option that a policy prefers"),
    "seat_bot": ("(seat: i32, policy: i32, seed: i64, stream: i64)", "assigns a policy to a seat for `play`"),
    "play": ("(decisions: i32) -> i32", "lets the bots make up to this many choices; returns their number"),
    "view": ("(seat: i32) -> i32", "copies the cells that a seat may see; returns the address of the copy"),
    "digest": ("() -> i64", "returns the FNV-1a hash of all cells and frames"),
    "forget": ("()", "drops all memoised results; needed after you write the state yourself"),
    "over": ("() -> i32", "returns 1 if the game is over"),
    "place": ("(seat: i32) -> i32", "returns the current place of a seat, or 0 if it does not count"),
    "key": ("(seat: i32, key: i32) -> i64", "returns a ranking key of a seat"),
}
"""Exports of a module besides its ``memory``: signature and purpose."""
UNDO_BYTES = 16 * 1024 * 1024


def standalone_module(builder: ModuleBuilder, first: bytes, bots: Bots) -> tuple[str, dict[str, int]]:
    """Return the text of the module, and the numbers in its hand-written parts."""
    memory = builder.memory
    faces = Standalone(builder)
    own = faces.functions()
    builder.functions.update(own)
    numbers = {
        "buffer": faces.buffer,
        "mask": faces.mask,
        "cells": memory.frames - STATE,
        "masks": builder.constants.layout.size * WORD,
    }
    face = written("standalone.wat")
    return assembled(builder, first, bots, own, face, numbers, undo_bytes=UNDO_BYTES)
