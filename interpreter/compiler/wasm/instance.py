"""A compiled module and its memory: what Python calls, with as little between them as wasmtime allows.

An ordinary call through wasmtime's Python package takes some 20 µs, since it looks at all types anew. Here arguments
are written into one array that is made once, and the C function is called that does not check them: they are known.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from interpreter.compiler.wasm.assemble import PAGE

__all__ = ["Instance", "Invalid", "Trap", "compiled", "serialised", "text_to_binary"]


class Trap(Exception):
    """The module gave up: what it did must be done again in the plain form."""


class Invalid(Exception):
    """No module: it is too large, or machine code of another version or machine."""


@contextmanager
def _valid() -> Iterator[None]:
    from wasmtime import WasmtimeError

    try:
        yield
    except WasmtimeError as error:
        raise Invalid(str(error)) from None


@cache
def _engine() -> Any:
    from wasmtime import Config, Engine

    config = Config()
    config.cranelift_opt_level = "speed"
    return Engine(config)


def text_to_binary(text: str) -> bytes:
    """A module's text as bytes."""
    from wasmtime import wat2wasm

    with _valid():
        return bytes(wat2wasm(text))


def compiled(binary: bytes) -> Any:
    """A module, compiled for this machine. :class:`Invalid` where it is not valid."""
    from wasmtime import Module

    with _valid():
        return Module(_engine(), binary)


def serialised(module: Any) -> bytes:
    """The machine code of a module, to be kept between runs."""
    return bytes(module.serialize())


class Instance:
    """One instance of a module: its functions by name, and views of its memory as words and bytes."""

    def __init__(self, module: Any | bytes) -> None:
        from wasmtime import Instance as Made
        from wasmtime import Module, Store

        if isinstance(module, bytes):
            with _valid():
                module = Module.deserialize(_engine(), module)
        self._store = Store(_engine())
        self._instance = Made(self._store, module, [])
        self._exports: Any = self._instance.exports(self._store)
        memory: Any = self._exports["memory"]
        size = memory.size(self._store) * PAGE
        address = ctypes.addressof(memory.data_ptr(self._store).contents)
        whole = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self.bytes = whole
        self.words = whole.cast("i")
        self.longs = whole.cast("q")

    def function(self, name: str) -> Callable[..., int]:
        """An exported function of numbers. It raises :class:`Trap` where the module gives up."""
        from wasmtime import _bindings as c

        function = self._exports[name]
        kind = function.type(self._store)
        parameters, results = [str(each) for each in kind.params], [str(each) for each in kind.results]
        size = max(1, len(parameters), len(results))
        values = (c.wasmtime_val_raw_t * size)()
        trap = ctypes.POINTER(c.wasm_trap_t)()
        given = (self._store._context(), ctypes.byref(function._func), values, size, ctypes.byref(trap))
        call = _unchecked()
        cells = [values[number] for number in range(size)]
        first, result = cells[0], results[0] if results else ""

        def fails(error: Any) -> None:
            if trap:
                c.wasm_trap_delete(trap)
                ctypes.memset(ctypes.byref(trap), 0, ctypes.sizeof(trap))
            if error:
                c.wasmtime_error_delete(error)
            raise Trap(name)

        def many(*arguments: int) -> int:
            for cell, rep, value in zip(cells, parameters, arguments, strict=True):
                setattr(cell, rep, value)
            if (error := call(*given)) or trap:
                fails(error)
            return int(getattr(first, result)) if result else 0

        def none() -> int:
            if (error := call(*given)) or trap:
                fails(error)
            return first.i32

        def one(argument: int) -> int:
            first.i32 = argument
            if (error := call(*given)) or trap:
                fails(error)
            return first.i32

        if result == "i64" or "i64" in parameters or len(parameters) > 1:
            return many
        return one if parameters else none


@cache
def _unchecked() -> Callable[..., Any]:
    from wasmtime import _bindings as c

    call = c._wasmtime_func_call_unchecked
    call.restype = ctypes.c_void_p
    return call
