"""Numbers of things in messages."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, one: str, many: str = "") -> str:
    """``1 value``, ``2,000 values``; what is not made with an ``s`` is given as ``many``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
