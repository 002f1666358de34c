"""Foundation of all other packages: source positions, diagnostics and their codes."""
