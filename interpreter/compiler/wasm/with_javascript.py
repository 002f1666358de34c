"""Modules run by JavaScript's WebAssembly, which Pyodide reaches.

The memory of a module lies outside of that of Python, so what is read is copied. A call, or a look at the memory, takes
some microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from js import BigInt64Array, Int32Array, Uint8Array, WebAssembly
from pyodide.ffi import JsBigInt, JsException, JsProxy, to_js

from interpreter.compiler.wasm.instance import Call, Instance, Invalid, Trap

__all__ = ["InJavaScript"]


class InJavaScript(Instance):
    """One instance of a module. A page itself may not make it, only a worker: a module takes too long to compile."""

    def __init__(self, code: bytes) -> None:
        try:
            self._exports = WebAssembly.Instance.new(WebAssembly.Module.new(to_js(code))).exports
        except JsException as error:
            raise Invalid(str(error)) from None
        buffer = self._exports.memory.buffer
        self._bytes = Uint8Array.new(buffer)
        views = _View(self._bytes), _View(Int32Array.new(buffer)), _Longs(BigInt64Array.new(buffer))
        super().__init__(cast(tuple[memoryview, memoryview, memoryview], views))

    def function(self, name: str, *, long: bool = False) -> Call:
        exported = getattr(self._exports, name)

        def call(*arguments: int) -> int:
            try:
                return exported(*arguments) or 0
            except JsException:
                raise Trap(name) from None

        return call

    def reader(self, start: int, end: int) -> Callable[[], bytes]:
        read: Callable[[], bytes] = self._bytes.subarray(start, end).to_bytes
        return read


class _View:
    """Array of JavaScript that is read and written like a memoryview."""

    def __init__(self, array: JsProxy) -> None:
        self._array = array

    def __getitem__(self, place: int | slice) -> int | memoryview:
        if isinstance(place, slice):
            return memoryview(self._array.subarray(place.start, place.stop).to_memoryview())
        return int(self._array[place])

    def __setitem__(self, place: int | slice, value: int | bytes) -> None:
        if isinstance(place, slice):
            self._array.subarray(place.start, place.stop).assign(value)
        else:
            self._array[place] = self._item(value)

    def _item(self, value: int | bytes) -> int | bytes:
        return value


class _Longs(_View):
    _item = JsBigInt
