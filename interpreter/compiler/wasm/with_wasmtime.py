"""Modules run by wasmtime, with calls that bypass the overhead of its Python package.

An ordinary call through the package takes about 20 µs, since it checks all types anew. Here arguments are written into
one preallocated array, and the C function that does not check them is called: their types are known. If wasmtime's C
function differs from the one known here (:func:`knows_unchecked`), ordinary calls are used.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

from wasmtime import Config, Engine, Func, Memory, Module, Store, WasmtimeError, wat2wasm
from wasmtime import Instance as Made
from wasmtime import Trap as Stopped

from interpreter.compiler.wasm.instance import Call, Instance, Invalid, Trap

__all__ = ["InWasmtime", "knows_unchecked", "machine_code"]


@contextmanager
def _valid() -> Iterator[None]:
    try:
        yield
    except WasmtimeError as error:
        raise Invalid(str(error)) from None


@cache
def _engine() -> Engine:
    atexit.register(_engine.cache_clear)  # wasmtime cannot free it once the interpreter is shutting down
    config = Config()
    config.cranelift_opt_level = "speed"
    return Engine(config)


def machine_code(text: str) -> bytes:
    """Return the machine code of a module's text for this machine; raise :class:`Invalid` if it is not valid."""
    with _valid():
        return bytes(Module(_engine(), bytes(wat2wasm(text))).serialize())


class InWasmtime(Instance):
    """One instance of a module. Its memory is viewed, not copied."""

    def __init__(self, code: bytes) -> None:
        with _valid():
            module = Module.deserialize(_engine(), code)
        self._store = Store(_engine())
        self._instance = Made(self._store, module, [])
        self._exports = self._instance.exports(self._store)
        self._kept: tuple[object, ...] = ()
        """Objects whose addresses C holds."""
        memory = self._exports["memory"]
        assert isinstance(memory, Memory)
        address = ctypes.addressof(memory.data_ptr(self._store).contents)
        self._whole = memoryview((ctypes.c_ubyte * memory.data_len(self._store)).from_address(address)).cast("B")
        super().__init__((self._whole, self._whole.cast("i"), self._whole.cast("q")))

    def reader(self, start: int, end: int) -> Callable[[], bytes]:
        return self._whole[start:end].tobytes

    def function(self, name: str, *, long: bool = False) -> Call:
        function = self._exports[name]
        assert isinstance(function, Func)
        if not knows_unchecked():
            return partial(_ordinary, name, function, self._store)
        from wasmtime import _bindings as bindings

        kind = function.type(self._store)
        size = max(1, len(kind.params), len(kind.results))
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
        places = range(0, len(kind.params) * len(words) // size, len(words) // size)

        def fails(error: int | None) -> None:
            if traps[0]:
                bindings.wasm_trap_delete(ctypes.cast(traps[0], ctypes.POINTER(bindings.wasm_trap_t)))
                traps[0] = 0
            if error is not None:
                bindings.wasmtime_error_delete(ctypes.cast(error, ctypes.POINTER(bindings.wasmtime_error_t)))
            raise Trap(name)

        def many(*arguments: int) -> int:
            for place, value in zip(places, arguments, strict=True):
                words[place] = value
            error = call(*arguments_)
            if error is not None or traps[0]:
                fails(error)
            return words[0]

        def one(argument: int = 0) -> int:
            words[0] = argument
            error = call(*arguments_)
            if error is not None or traps[0]:
                fails(error)
            return words[0]

        return many if len(kind.params) > 1 else one


def _ordinary(name: str, function: Func, store: Store, *arguments: int) -> int:
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
