"""What every other layer stands on: places in files, diagnostics, their codes."""
