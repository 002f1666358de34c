"""A compiled module and its memory, with calls that bypass the overhead of wasmtime's Python package.

An ordinary call through the package takes about 20 µs, since it checks all types anew. Here arguments are written into
one preallocated array, and the C function that does not check them is called: their types are known. If wasmtime's C
function differs from the one known here (:func:`knows_unchecked`), ordinary calls are used.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # imported on demand
    from wasmtime import Engine, Func, Store

__all__ = ["PAGE", "Instance", "Invalid", "Trap", "compiled", "is_available", "knows_unchecked", "text_to_binary"]

Call: TypeAlias = Callable[..., int]
"""Exported function of integers."""
PAGE = 64 * 1024
"""Bytes of a page of WebAssembly memory."""


class Trap(Exception):
    """The module trapped: the plain form must redo the choice."""


class Invalid(Exception):
    """A module cannot be loaded: it is too large, or compiled by another version or for another machine."""


@contextmanager
def _valid() -> Iterator[None]:
    from wasmtime import WasmtimeError

    try:
        yield
    except WasmtimeError as error:
        raise Invalid(str(error)) from None


@cache
def _engine() -> Engine:
    from wasmtime import Config, Engine

    atexit.register(_engine.cache_clear)  # wasmtime cannot free it once the interpreter is shutting down
    config = Config()
    config.cranelift_opt_level = "speed"
    return Engine(config)


@cache
def is_available() -> bool:
    """Return whether wasmtime can be imported. If not, print one warning to stderr."""
    try:
        import wasmtime
    except (ImportError, OSError) as error:
        print(f"regelwerk: wasmtime cannot be imported ({error}); games run in the slower plain form", file=sys.stderr)
        return False
    return wasmtime is not None


def text_to_binary(text: str) -> bytes:
    from wasmtime import wat2wasm

    with _valid():
        return bytes(wat2wasm(text))


def compiled(text: str) -> bytes:
    """Return the machine code of a module's text for this machine; raise :class:`Invalid` if it is not valid."""
    from wasmtime import Module

    binary = text_to_binary(text)
    with _valid():
        return bytes(Module(_engine(), binary).serialize())


class Instance:
    """One instance of a module: exported functions, and views of its memory as words and bytes."""

    def __init__(self, code: bytes) -> None:
        from wasmtime import Instance as Made
        from wasmtime import Memory, Module, Store

        with _valid():
            module = Module.deserialize(_engine(), code)
        self._store = Store(_engine())
        self._instance = Made(self._store, module, [])
        self._exports = self._instance.exports(self._store)
        self._kept: tuple[object, ...] = ()
        """Objects whose addresses C holds."""
        memory = self._exports["memory"]
        assert isinstance(memory, Memory)
        size = memory.size(self._store) * PAGE
        address = ctypes.addressof(memory.data_ptr(self._store).contents)
        whole = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self.bytes = whole
        self.words = whole.cast("i")
        self.longs = whole.cast("q")

    def function(self, name: str, *, long: bool = False) -> Call:
        """Return an exported function of integers. It raises :class:`Trap` if the module traps.

        Calls hold the GIL unless the function is ``long``: releasing it costs as much as a short call.
        """
        from wasmtime import Func

        function = self._exports[name]
        assert isinstance(function, Func)
        if not knows_unchecked():
            return partial(_ordinary, name, function, self._store)
        from wasmtime import _bindings as bindings

        kind = function.type(self._store)
        parameters, results = [str(type_) for type_ in kind.params], [str(type_) for type_ in kind.results]
        size = max(1, len(parameters), len(results))
        values = (bindings.wasmtime_val_raw_t * size)()
        trap = (ctypes.c_int64 * 1)()
        self._kept += (function, values, trap)
        context = ctypes.cast(self._store._context(), ctypes.c_void_p).value
        pointer = ctypes.c_void_p.from_param  # made once: other objects would be converted at each call
        func, into = pointer(ctypes.addressof(function._func)), pointer(ctypes.addressof(values))
        arguments_ = (pointer(context), func, into, ctypes.c_size_t.from_param(size), pointer(ctypes.addressof(trap)))
        call = _unchecked(long)
        traps = memoryview(trap).cast("B").cast("q")
        words = memoryview(values).cast("B").cast("i")
        longs = memoryview(values).cast("B").cast("q")
        step = ctypes.sizeof(bindings.wasmtime_val_raw_t)
        places = [
            (longs, number * step // 8) if rep == "i64" else (words, number * step // 4)
            for number, rep in enumerate(parameters)
        ]
        result = longs if results == ["i64"] else words

        def fails(error: int | None) -> None:
            if traps[0]:
                bindings.wasm_trap_delete(ctypes.cast(traps[0], ctypes.POINTER(bindings.wasm_trap_t)))
                traps[0] = 0
            if error is not None:
                bindings.wasmtime_error_delete(ctypes.cast(error, ctypes.POINTER(bindings.wasmtime_error_t)))
            raise Trap(name)

        def many(*arguments: int) -> int:
            for (view, place), value in zip(places, arguments, strict=True):
                view[place] = value
            error = call(*arguments_)
            if error is not None or traps[0]:
                fails(error)
            return result[0]

        def one(argument: int = 0) -> int:
            words[0] = argument
            error = call(*arguments_)
            if error is not None or traps[0]:
                fails(error)
            return words[0]

        return many if "i64" in (*parameters, *results) or len(parameters) > 1 else one


def _ordinary(name: str, function: Func, store: Store, *arguments: int) -> int:
    from wasmtime import Trap as Stopped
    from wasmtime import WasmtimeError

    try:
        return function(store, *arguments) or 0
    except (Stopped, WasmtimeError):
        raise Trap(name) from None


@cache
def knows_unchecked() -> bool:
    """Return whether wasmtime's unchecked C call has the expected signature; nothing guarantees it."""
    try:
        from wasmtime import _bindings as bindings

        called = bindings._wasmtime_func_call_unchecked
        known = [
            bindings.wasmtime_context_t,
            bindings.wasmtime_func_t,
            bindings.wasmtime_val_raw_t,
            None,
            ctypes.POINTER(bindings.wasm_trap_t),
        ]
        expected = [ctypes.c_size_t if type_ is None else ctypes.POINTER(type_) for type_ in known]
        return list(called.argtypes) == expected and called.restype == ctypes.POINTER(bindings.wasmtime_error_t)
    except (ImportError, AttributeError, TypeError):
        return False


@cache
def _unchecked(long: bool) -> Callable[..., int | None]:
    """Return ``wasmtime_func_call_unchecked``: (context, function, values, count, trap slot) -> error."""
    from wasmtime import _bindings as bindings

    address = ctypes.cast(bindings._wasmtime_func_call_unchecked, ctypes.c_void_p).value
    assert address is not None
    kind = ctypes.CFUNCTYPE if long else ctypes.PYFUNCTYPE
    return kind(ctypes.c_void_p)(address)
