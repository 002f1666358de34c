"""A module that stands alone, driven from Python by its manifest and nothing else."""

from __future__ import annotations

import json
import struct
from typing import Any

from interpreter.compiler.wasm.instance import text_to_binary
from interpreter.play.module_export import Standalone

__all__ = ["Alone"]


class Alone:
    """A module with its memory. ``shape`` and ``address`` below are those of the manifest."""

    def __init__(self, built: Standalone) -> None:
        from wasmtime import Engine, Instance, Module, Store

        self.manifest = manifest = json.loads(json.dumps(built.manifest))
        self.store = Store(Engine())
        exports = Instance(self.store, Module(self.store.engine, text_to_binary(built.text)), []).exports(self.store)
        self._memory, self._exports = exports["memory"], exports
        self.decisions = {decision["number"]: decision for decision in manifest["decisions"]}

    def call(self, name: str, *arguments: int) -> Any:
        return self._exports[name](self.store, *arguments)  # type: ignore[operator]

    def read(self, address: int, size: int) -> bytes:
        return bytes(self._memory.read(self.store, address, address + size))  # type: ignore[union-attr]

    def write(self, address: int, content: bytes) -> None:
        self._memory.write(self.store, content, address)  # type: ignore[union-attr]

    def words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.read(address, 4 * count))

    # --- values

    def public(self, address: int, shape: dict[str, Any]) -> Any:
        """The value at an address, by its public name."""
        words = self.words(address, shape["words"])
        form, name = shape["form"], shape.get("name", "")
        if form in ("list", "set", "pile"):
            size = 4 * shape["of"]["words"]
            if words[0] < 0:
                return None
            return [self.public(address + 4 + size * number, shape["of"]) for number in range(words[0])]
        if form in ("bag", "record", "room"):
            if shape.get("optional"):
                if not words[0]:
                    return None
                address, words = address + 4, words[1:]
            if form == "bag":
                members = self.manifest["names"]["kind"][name]
                return {member: number for member, number in zip(members, words, strict=True) if number}
            found = {}
            for field in shape["fields"]:
                found[field["field"]] = self.public(address, field)
                address += 4 * field["words"]
            return found
        return self._scalar(words[0], form, name)

    def _scalar(self, word: int, form: str, name: str) -> Any:
        names = self.manifest["names"]
        if word == self.manifest["none"]["number" if form == "int" else "index"]:
            return None
        if form == "bool":
            return bool(word)
        if form == "kind":
            return names["kind"][name][word]
        return names[form][word] if form in names else word

    # --- play

    @property
    def decision(self) -> dict[str, Any] | None:
        return self.decisions.get(self.call("decision"))

    def option(self, address: int) -> dict[str, Any]:
        """The option at an address, as the public face of the game has it."""
        decision = self.decision
        assert decision is not None
        alternative = decision["alternatives"][self.words(address, 1)[0]]
        values = {each["name"]: self.public(address + each["offset"], each["shape"]) for each in alternative["choices"]}
        return {"do": alternative["name"], **values}

    def addresses(self) -> list[int]:
        """The addresses of all options."""
        decision = self.decision
        assert decision is not None
        return [
            self.manifest["memory"]["options"] + number * decision["stride"] for number in range(self.call("count"))
        ]

    def view(self, seat: int) -> tuple[bytes, tuple[int, ...]]:
        """What a seat sees, and the mask of all cells."""
        memory = self.manifest["memory"]
        address = self.call("view", seat)
        cells = max(group["first"] + group["count"] for group in self.manifest["cells"])
        return self.read(address, memory["frames"] - memory["state"]), self.words(memory["mask"], cells)
