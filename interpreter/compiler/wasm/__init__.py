"""WebAssembly: a hand-written runtime, and the modules that rules are compiled to."""
