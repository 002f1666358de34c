"""The assembler writes what wasmtime's writes, but for names and other sections that nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from interpreter.bots.registry import policies_for
from interpreter.compiler.wasm.assemble import assembled
from interpreter.compiler.wasm.binary import binary_of
from interpreter.compiler.wasm.codec import Codec
from interpreter.compiler.wasm.instance import Invalid
from interpreter.play.module_export import standalone
from interpreter.play.table_module import module_builder
from tests.compiler.pair import fits, named, ruleset

wasmtime: Any = pytest.importorskip("wasmtime")

FURTHER = ("germany-2004+robots", "manhattan-2018", "outpost")


def parts(binary: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a binary that are run: their numbers and contents."""
    at = 8
    while at < len(binary):
        number, size, shift, more = binary[at], 0, 0, True
        while more:
            at += 1
            size |= (binary[at] & 0x7F) << shift
            shift, more = shift + 7, binary[at] > 0x7F
        if number:
            yield number, binary[at + 1 : at + 1 + size]
        at += 1 + size


def text_of(name: str, is_alone: bool) -> str:
    """The text of a ruleset's module with all its bots, for a table of its own or for the interpreter."""
    played = ruleset(name)
    people = played.composition.players.low
    played = played.for_players(people)
    settings, bots = played.settings({}), [*policies_for(played), "random"]
    if is_alone:
        return standalone(played, people, settings, bots).text
    table = played.table(people, settings)
    builder, chosen = module_builder(played, table, bots)
    first = Codec(builder).encode(table.first, 0)
    builder.finish()
    return assembled(builder, first, chosen)[0]


def same(text: str) -> None:
    binary = binary_of(text)
    assert binary[:8] == b"\0asm\x01\0\0\0"
    for own, other in zip(parts(binary), parts(bytes(wasmtime.wat2wasm(text))), strict=True):
        assert own == other
    wasmtime.Module.validate(wasmtime.Engine(), binary)


@pytest.mark.parametrize(("number", "name"), [*enumerate((*named(), *FURTHER))])
def test_the_binary_is_that_of_wasmtime(number: int, name: str) -> None:
    if not fits(name):
        pytest.skip("the overlay does not fit")
    same(text_of(name, is_alone=number % 2 == 0))


def test_batches_have_no_other_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy", reason="batches need NumPy: pip install 'regelwerk[rl]'")
    from interpreter.rl import batch_module, make

    texts: list[str] = []

    def refuses(text: str) -> bytes:
        texts.append(text)
        raise Invalid

    monkeypatch.setattr(batch_module, "compiled", refuses)
    assert not make("goofspiel", 3, 2).is_compiled
    (text,) = texts
    same(text)


def test_an_instruction_that_is_not_known_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown instruction `\(f32.sqrt`"):
        binary_of("(module (func $root (param $x f64) (drop (f32.sqrt (local.get $x)))))")
