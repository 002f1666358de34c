"""Unit tests of some folders: a program that ends with the status of pytest."""

from __future__ import annotations

import sys

import pytest

LEFT_OUT = "faulthandler", "cacheprovider", "xdist"
"""Plugins that need threads, or write files."""

if __name__ == "__main__":
    plugins = [option for name in LEFT_OUT for option in ("-p", f"no:{name}")]
    sys.exit(pytest.main([*plugins, "-W", "ignore", "-q", "-m", "not slow and not fresh", *sys.argv[1:]]))
