"""The WebAssembly form: modules made from checked trees, and the functions that they share."""
