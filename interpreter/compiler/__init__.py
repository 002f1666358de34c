"""From checked trees to running code: lowering, the plain form and the WebAssembly compiler."""
