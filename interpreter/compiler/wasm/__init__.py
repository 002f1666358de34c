"""WebAssembly: the fast machine."""
