"""Figures in words: numbers, shares and intervals as every report writes them."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["between", "fixed", "percent", "signed"]


def fixed(digits: int) -> Callable[[float], str]:
    """Return a form of numbers with so many digits after the point."""
    return lambda number: f"{number:z.{digits}f}"


def signed(number: float, digits: int = 2) -> str:
    """Write a change with its sign; one of 0 has a plus."""
    return f"{number:+z.{digits}f}".replace("inf", "∞")


def percent(share: float) -> str:
    """Write a share of 1."""
    return f"{share:.1%}"


def between(form: Callable[[float], str]) -> Callable[[tuple[float, float]], str]:
    """Return a form of intervals whose ends have a form."""
    return lambda ends: f"{form(ends[0])} to {form(ends[1])}"
