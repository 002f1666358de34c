"""Driver of a standalone module in Python, based on its manifest alone."""

from __future__ import annotations

import json
import struct
from typing import Any

from interpreter.compiler.wasm.binary import binary_of
from interpreter.play.module_export import Standalone
from tests.support import shared

__all__ = ["Alone"]


@shared
def _compiled(text: str) -> tuple[Any, Any]:
    """Return the engine and the module of a text."""
    from wasmtime import Engine, Module

    return (engine := Engine()), Module(engine, binary_of(text))


class Alone:
    """A module with its memory. Shapes and addresses are those of the manifest."""

    def __init__(self, built: Standalone) -> None:
        from wasmtime import Instance, Memory, Store

        self.manifest = manifest = json.loads(json.dumps(built.manifest))
        engine, module = _compiled(built.text)
        self.store = Store(engine)
        exports = Instance(self.store, module, []).exports(self.store)
        memory = exports["memory"]
        assert isinstance(memory, Memory)
        self._memory, self._exports = memory, exports
        self.decisions = {decision["number"]: decision for decision in manifest["decisions"]}

    def call(self, name: str, *arguments: int) -> Any:
        function: Any = self._exports[name]
        return function(self.store, *arguments)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self._memory.read(self.store, address, address + size))

    def write(self, address: int, content: bytes) -> None:
        self._memory.write(self.store, content, address)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.read(address, 4 * count))

    # --- values

    def public(self, address: int, shape: dict[str, Any]) -> Any:
        """Return the public value at an address."""
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
        """Return the option at an address, as in the public API of games."""
        decision = self.decision
        assert decision is not None
        alternative = decision["alternatives"][self.words(address, 1)[0]]
        values = {each["name"]: self.public(address + each["offset"], each["shape"]) for each in alternative["choices"]}
        return {"do": alternative["name"], **values}

    def addresses(self) -> list[int]:
        """Return the addresses of all options."""
        decision = self.decision
        assert decision is not None
        return [
            self.manifest["memory"]["options"] + number * decision["stride"] for number in range(self.call("count"))
        ]

    def view(self, seat: int) -> tuple[bytes, tuple[int, ...]]:
        """Return the view of a seat, and the mask of all cells."""
        memory = self.manifest["memory"]
        address = self.call("view", seat)
        cells = max(group["first"] + group["count"] for group in self.manifest["cells"])
        return self.read(address, memory["frames"] - memory["state"]), self.words(memory["mask"], cells)
