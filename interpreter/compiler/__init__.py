"""The compiler to WebAssembly: an intermediate form, passes over it, and the modules that games run in."""
