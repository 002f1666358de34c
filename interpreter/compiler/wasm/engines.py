"""Engines that run modules: wasmtime, or in a browser its own WebAssembly. Each is imported when it is used."""

from __future__ import annotations

import sys
from functools import cache

from interpreter.base.facilities import IN_BROWSER
from interpreter.compiler.wasm.instance import Instance

__all__ = ["compiled", "instance_of", "is_available"]


@cache
def is_available() -> bool:
    """Return whether there is an engine. If not, print one warning to stderr."""
    if IN_BROWSER:
        return True
    try:
        import wasmtime
    except (ImportError, OSError) as error:
        print(f"regelwerk: wasmtime cannot be imported ({error}); games run in the slower plain form", file=sys.stderr)
        return False
    return wasmtime is not None


def compiled(text: str) -> bytes:
    """Return the code of a module: what the engine loads fastest.

    Raise :class:`~interpreter.compiler.wasm.instance.Invalid` if the text is not valid.
    """
    if IN_BROWSER:
        from interpreter.compiler.wasm.binary import binary_of

        return binary_of(text)
    from interpreter.compiler.wasm.with_wasmtime import machine_code

    return machine_code(text)


def instance_of(code: bytes) -> Instance:
    """Return an instance of a module.

    Raise :class:`~interpreter.compiler.wasm.instance.Invalid` if this engine cannot load the code.
    """
    if IN_BROWSER:
        from interpreter.compiler.wasm.with_javascript import InJavaScript

        return InJavaScript(code)
    from interpreter.compiler.wasm.with_wasmtime import InWasmtime

    return InWasmtime(code)
